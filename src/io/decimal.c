#include "io/decimal.h"
#include "base/platform.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/decimal_powers.h"

enum {
    MANTISSA_BITS = 52,
    EXPONENT_BIAS = 1023,
    DIGITS_IN_WORD = 19,   /* any 19 digits fit in 64 bits */
    LONGEST_NUMBER = 1100, /* 767 digits can matter; leaves room for zeros and the exponent */
};

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* digits * 10^power correctly rounded, after D. Lemire, "Number parsing at a gigabyte per second"
 * (2021), algorithm 1. False in the few cases that need more than 128 bits, and for subnormals. */
static bool scale_to_double(uint64_t digits, int power, double *value)
{
    if (power < POWER_MIN || power > 308)
        return false;
    const uint64_t *five = powers_of_five[power - POWER_MIN];
    int shift = KILN_LEADING_ZEROS64(digits);
    digits <<= shift;
    uint64_t high, low = kiln_multiply128(digits, five[0], &high);
    if ((high & 0x1FF) == 0x1FF) {
        uint64_t more;
        kiln_multiply128(digits, five[1], &more);
        low += more;
        high += low < more;
    }
    if (low == UINT64_MAX && (power < -27 || power > 55))
        return false;
    int top = (int)(high >> 63), drop = top + 64 - MANTISSA_BITS - 3;
    uint64_t mantissa = high >> drop;
    /* floor(log2(10^power)) without a table. */
    int exponent = ((217706 * power) >> 16) + 63 + top - shift + EXPONENT_BIAS;
    if (exponent <= 0 || exponent >= 2046)
        return false;
    /* Exactly half way: possible for small powers only, and then to the even side. */
    if (low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 && mantissa << drop == high)
        mantissa &= ~(uint64_t)1;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (MANTISSA_BITS + 1)) {
        mantissa >>= 1;
        exponent++;
    }
    mantissa &= ((uint64_t)1 << MANTISSA_BITS) - 1;
    *value = from_bits((uint64_t)exponent << MANTISSA_BITS | mantissa);
    return true;
}

/* The C library, for what the fast path leaves: many digits, subnormals, overflow. */
static bool parse_slowly(const char *text, const char *end, double *value)
{
    char copy[LONGEST_NUMBER + 1];
    size_t size = (size_t)(end - text);
    if (size > LONGEST_NUMBER)
        return false;
    for (size_t i = 0; i < size; i++)
        copy[i] = text[i] == 'd' || text[i] == 'D' ? 'e' : text[i];
    copy[size] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    locale_t before = uselocale(plain);
    *value = strtod(copy, NULL);
    uselocale(before);
    freelocale(plain);
    return true;
}

static const char *match_word(const char *text, const char *end, const char *word)
{
    for (; *word; word++, text++)
        if (text == end || (*text | 0x20) != *word)
            return NULL;
    return text;
}

static const char *parse_special(const char *text, const char *end, bool negative, double *value)
{
    const char *after = match_word(text, end, "nan");
    *value = NAN;
    if (after)
        return after;
    *value = negative ? -INFINITY : INFINITY;
    after = match_word(text, end, "infinity");
    return after ? after : match_word(text, end, "inf");
}

/* "e-12" at `text`; returns `text` itself when there is no complete exponent. */
static const char *parse_exponent(const char *text, const char *end, int *exponent)
{
    *exponent = 0;
    if (text == end || ((*text | 0x20) != 'e' && (*text | 0x20) != 'd'))
        return text;
    const char *at = text + 1;
    bool negative = at != end && *at == '-';
    at += at != end && (*at == '-' || *at == '+');
    if (at == end || *at < '0' || *at > '9')
        return text;
    int found = 0;
    for (; at != end && *at >= '0' && *at <= '9'; at++)
        if (found < 100000)
            found = 10 * found + (*at - '0');
    *exponent = negative ? -found : found;
    return at;
}

/* What kiln_decimal_parse has collected of a number. */
typedef struct decimal {
    uint64_t word;   /* its digits while they fit */
    int significant; /* digits after leading zeros; the word is right up to DIGITS_IN_WORD */
    int after_point;
    bool any;
} decimal;

static const char *collect_digits(const char *at, const char *end, decimal *number)
{
    for (; at != end && (unsigned char)(*at - '0') < 10; at++) {
        number->word = 10 * number->word + (uint64_t)(*at - '0');
        number->significant += number->word != 0 || number->significant > 0;
        number->any = true;
    }
    return at;
}

const char *kiln_decimal_parse(const char *text, const char *end, double *value)
{
    const char *at = text;
    bool negative = at != end && *at == '-';
    at += at != end && (*at == '-' || *at == '+');
    decimal number = {0};
    at = collect_digits(at, end, &number);
    if (at != end && *at == '.') {
        const char *point = at + 1;
        at = collect_digits(point, end, &number);
        number.after_point = at - point < 100000 ? (int)(at - point) : 100000;
    }
    if (!number.any)
        return parse_special(text + (text != end && (*text == '-' || *text == '+')), end, negative,
                             value);
    int exponent;
    at = parse_exponent(at, end, &exponent);
    exponent -= number.after_point;
    if (number.significant == 0) {
        *value = negative ? -0.0 : 0.0;
        return at;
    }
    double size;
    if (number.significant <= DIGITS_IN_WORD && scale_to_double(number.word, exponent, &size)) {
        *value = negative ? -size : size;
        return at;
    }
    return parse_slowly(text, at, value) ? at : NULL;
}

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233"
    "34353637383940414243444546474849505152535455565758596061626364656667"
    "6869707172737475767778798081828384858687888990919293949596979899";

/* Decimal digits of `value` ending just before `end`; returns the first. */
static char *print_digits(uint64_t value, char *end)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * value, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

size_t kiln_decimal_print_i64(int64_t value, char *buffer)
{
    char digits[KILN_DECIMAL_SIZE], *end = digits + sizeof digits;
    char *first = print_digits(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, end);
    if (value < 0)
        *--first = '-';
    memcpy(buffer, first, (size_t)(end - first));
    return (size_t)(end - first);
}

/* High word of five * x, with the bits below it folded into the lowest one ("round to odd"). */
static uint64_t scale_to_odd(uint64_t high, uint64_t low, uint64_t x)
{
    uint64_t top, carry;
    uint64_t middle = kiln_multiply128(high, x, &top);
    kiln_multiply128(low, x, &carry);
    middle += carry;
    top += middle < carry;
    return top | (middle > 1);
}

/* The shortest digits within the rounding interval of a positive finite double, the closest of
 * those: value = digits * 10^power. R. Giulietti, "The Schubfach way to render doubles" (2020),
 * section 9; boundaries carry a factor of 4 as there. */
static uint64_t shortest_digits(uint64_t bits, int *power)
{
    uint64_t fraction = bits & (((uint64_t)1 << MANTISSA_BITS) - 1);
    int biased = (int)(bits >> MANTISSA_BITS & 0x7FF);
    uint64_t c = biased ? fraction | (uint64_t)1 << MANTISSA_BITS : fraction;
    int q = (biased ? biased : 1) - EXPONENT_BIAS - MANTISSA_BITS;
    if (q <= 0 && q > -(MANTISSA_BITS + 1) && (c & (((uint64_t)1 << -q) - 1)) == 0) {
        *power = 0;
        return c >> -q;
    }
    bool odd = c & 1, uneven = fraction == 0 && biased > 1;
    /* k = floor(log10(2^q)), or of 3/4 of it below a power of two. Shifts of negative numbers are
     * avoided by working on a shifted-up numerator. */
    int64_t numerator = (int64_t)q * 1262611 - (uneven ? 524031 : 0);
    int k = (int)((numerator + ((int64_t)1024 << 22)) >> 22) - 1024;
    int64_t log2_numerator = (int64_t)-k * 1741647;
    int h = q + (int)((log2_numerator + ((int64_t)4096 << 19)) >> 19) - 4096 + 1;
    const uint64_t *five = powers_of_five[-k - POWER_MIN];
    /* Here the power must be rounded up. */
    uint64_t low = five[1] + (-k > 55 || -k < -27), high = five[0] + (low < five[1]);
    uint64_t lower = scale_to_odd(high, low, (4 * c - 2 + uneven) << h) + odd;
    uint64_t exact = scale_to_odd(high, low, (4 * c) << h);
    uint64_t upper = scale_to_odd(high, low, (4 * c + 2) << h) - odd;

    uint64_t s = exact / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above) {
            *power = k + 1;
            return tens + above;
        }
    }
    *power = k;
    bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above)
        return s + above;
    uint64_t middle = 4 * s + 2;
    return s + (exact > middle || (exact == middle && (s & 1)));
}

/* digits * 10^power as 0.00123, 12.3, 12300 or 1.23e-7, whichever printf's %g would choose at 17
 * digits. */
static size_t lay_out(const char *digits, int count, int power, char *out)
{
    int point = count + power; /* digits before the point */
    char *at = out;
    if (point > 0 && point <= 17) {
        int whole = count < point ? count : point;
        memcpy(at, digits, (size_t)whole);
        at += whole;
        for (int i = whole; i < point; i++)
            *at++ = '0';
        if (count > whole) {
            *at++ = '.';
            memcpy(at, digits + whole, (size_t)(count - whole));
            at += count - whole;
        }
        return (size_t)(at - out);
    }
    if (point <= 0 && point > -4) {
        *at++ = '0';
        *at++ = '.';
        for (int i = point; i < 0; i++)
            *at++ = '0';
        memcpy(at, digits, (size_t)count);
        return (size_t)(at + count - out);
    }
    *at++ = digits[0];
    if (count > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, (size_t)(count - 1));
        at += count - 1;
    }
    *at++ = 'e';
    return (size_t)(at - out) + kiln_decimal_print_i64(point - 1, at);
}

size_t kiln_decimal_print(double value, char *buffer)
{
    size_t sign = 0;
    if (signbit(value) && !isnan(value)) {
        buffer[0] = '-';
        sign = 1;
        value = -value;
    }
    if (isnan(value) || isinf(value)) {
        memcpy(buffer + sign, isnan(value) ? "nan" : "inf", 3);
        return sign + 3;
    }
    if (value == 0.0) {
        buffer[sign] = '0';
        return sign + 1;
    }
    int power;
    uint64_t number = shortest_digits(to_bits(value), &power);
    while (number % 10 == 0) {
        number /= 10;
        power++;
    }
    char digits[KILN_DECIMAL_SIZE], *end = digits + sizeof digits;
    char *first = print_digits(number, end);
    return sign + lay_out(first, (int)(end - first), power, buffer + sign);
}

#include "io/decimal.h"
#include "support.h"

#include "io/decimal_powers.h"

#include <gmp.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void assert_same(double found, double wanted, const char *text)
{
    ck_assert_msg(memcmp(&found, &wanted, sizeof found) == 0, "'%s': %a instead of %a", text, found,
                  wanted);
}

static void assert_parses(const char *text)
{
    double found = 0.0;
    size_t size = strlen(text);
    const char *after = kiln_decimal_parse(text, text + size, &found);
    ck_assert_msg(after == text + size, "'%s' parsed in part only", text);
    assert_same(found, strtod(text, NULL), text);
}

START_TEST(powers_are_exact)
{
    mpz_t five, power, scaled;
    mpz_inits(five, power, scaled, NULL);
    for (int q = POWER_MIN; q <= POWER_MAX; q++) {
        mpz_ui_pow_ui(five, 5, (unsigned)abs(q));
        size_t bits = mpz_sizeinbase(five, 2);
        if (q >= 0 && bits <= 128) {
            mpz_mul_2exp(scaled, five, 128 - bits);
        } else if (q >= 0) {
            mpz_fdiv_q_2exp(scaled, five, bits - 128);
        } else {
            /* 2^b / 5^-q lies in [2^127, 2^128) for b = bits + 127. */
            mpz_set_ui(power, 1);
            mpz_mul_2exp(power, power, bits + 127);
            if (q >= -27)
                mpz_cdiv_q(scaled, power, five);
            else
                mpz_fdiv_q(scaled, power, five);
        }
        ck_assert_uint_eq(mpz_sizeinbase(scaled, 2), 128);
        uint64_t low = mpz_get_ui(scaled);
        mpz_fdiv_q_2exp(scaled, scaled, 64);
        ck_assert_uint_eq(powers_of_five[q - POWER_MIN][1], low);
        ck_assert_uint_eq(powers_of_five[q - POWER_MIN][0], mpz_get_ui(scaled));
    }
    mpz_clears(five, power, scaled, NULL);
}
END_TEST

START_TEST(parsing_rounds_correctly)
{
    static const char *const hard[] = {
        "0",
        "-0",
        "1",
        "-1.5",
        "+3",
        ".5",
        "5.",
        "1e22",
        "1e23",
        "8.5e-1",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.0000000000000000000000000000000000001",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e400",
        "1e-400",
        "1e99999999999999999999",
        "0e99999999999999999999",
        "0.000000000000000000000000000000000000000000000000000000000000000001e66",
        "123456789012345678901234567890",
        "6929495644600919.5",
        "7.2057594037927933e16",
        "inf",
        "-Infinity",
        "NAN",
    };
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) {
        if (strcmp(hard[i], "NAN") == 0) {
            double value;
            ck_assert_ptr_nonnull(kiln_decimal_parse("NAN", "NAN" + 3, &value));
            ck_assert(isnan(value));
        } else {
            assert_parses(hard[i]);
        }
    }
    kiln_random random = kiln_random_start(11, 0);
    char text[512];
    for (uint64_t i = 0; i < kiln_test_rounds(50000, 3000000); i++) {
        double value = from_bits(kiln_random_u64(&random));
        if (!isfinite(value))
            continue;
        int digits = (int)(kiln_random_u64(&random) % 21);
        snprintf(text, sizeof text, i % 3 ? "%.*e" : "%.*g", digits, value);
        assert_parses(text);
        double middling = (kiln_random_unit(&random) - 0.5) * pow(10, digits - 10);
        snprintf(text, sizeof text, i % 2 ? "%.17g" : "%.6f", middling);
        assert_parses(text);
        /* Half way between two doubles, and next to it. */
        uint64_t whole = (kiln_random_u64(&random) >> 10) | 1 | (uint64_t)1 << 53;
        snprintf(text, sizeof text, "%llu.%se%d", (unsigned long long)whole, i % 2 ? "0" : "1",
                 (int)(i % 5) - 2);
        assert_parses(text);
    }
}
END_TEST

START_TEST(parsing_stops_where_the_number_does)
{
    double value;
    const char *text = "12.5e+x";
    ck_assert_ptr_eq(kiln_decimal_parse(text, text + 7, &value), text + 4);
    ck_assert_double_eq(value, 12.5);
    ck_assert_ptr_eq(kiln_decimal_parse(text, text + 2, &value), text + 2);
    ck_assert_double_eq(value, 12.0);
    text = "1.5D-3";
    ck_assert_ptr_eq(kiln_decimal_parse(text, text + 6, &value), text + 6);
    ck_assert_double_eq(value, 1.5e-3);
    static const char *const none[] = {"", "-", ".", "+.", "e5", "x", "-.e1", "in", "na"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        ck_assert_ptr_null(kiln_decimal_parse(none[i], none[i] + strlen(none[i]), &value));
}
END_TEST

START_TEST(the_locale_does_not_matter)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        setlocale(LC_ALL, "");
    double value;
    const char *text = "0.1234567890123456789012345";
    ck_assert_ptr_eq(kiln_decimal_parse(text, text + strlen(text), &value), text + strlen(text));
    ck_assert_double_eq(value, 0.1234567890123456789012345);
    setlocale(LC_ALL, "C");
}
END_TEST

static void assert_prints_back(double value)
{
    char text[KILN_DECIMAL_SIZE + 1];
    size_t size = kiln_decimal_print(value, text);
    ck_assert_uint_lt(size, sizeof text);
    text[size] = 0;
    assert_same(strtod(text, NULL), value, text);
    double found;
    ck_assert_ptr_eq(kiln_decimal_parse(text, text + size, &found), text + size);
    assert_same(found, value, text);
    /* Shortest: one digit less never reads back, and no other of that length is closer. */
    size_t digits = 0;
    for (size_t i = 0; i < size && text[i] != 'e'; i++)
        digits += text[i] >= '0' && text[i] <= '9' && (digits || text[i] != '0');
    char other[64];
    if (digits > 1 && digits <= 17 && !strchr(text, 'e') && strchr(text, '.')) {
        snprintf(other, sizeof other, "%.*e", (int)digits - 2, value);
        ck_assert_msg(strtod(other, NULL) != value, "%s would do for %s", other, text);
    }
}

START_TEST(printing_reads_back)
{
    static const double hard[] = {0.0,    -0.0,        1.0,       0.1,     1e22,
                                  1e23,   123456789.0, 5e-324,    1e-5,    1e17,
                                  1e16,   0.3,         1e-4,      123e-7,  2.5,
                                  1e100,  1.5e300,     0x1p-1022, 0x1p-44, 0x1p52,
                                  0x1p53, 0x1p62,      0x1p63,    0x1p100, 9007199254740993.0,
                                  -7.0};
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++)
        assert_prints_back(hard[i]);
    assert_prints_back(0x1.fffffffffffffp1023);
    kiln_random random = kiln_random_start(12, 0);
    for (uint64_t i = 0; i < kiln_test_rounds(50000, 3000000); i++) {
        double value = from_bits(kiln_random_u64(&random));
        if (isfinite(value))
            assert_prints_back(value);
        assert_prints_back(kiln_random_unit(&random) * 10 - 5);
        assert_prints_back((double)(kiln_random_u64(&random) % 100000) / 1000.0);
    }
    char text[KILN_DECIMAL_SIZE];
    ck_assert_uint_eq(kiln_decimal_print(0.1, text), 3);
    ck_assert_int_eq(memcmp(text, "0.1", 3), 0);
    ck_assert_uint_eq(kiln_decimal_print(-1e-7, text), 5);
    ck_assert_int_eq(memcmp(text, "-1e-7", 5), 0);
}
END_TEST

START_TEST(integers_print)
{
    static const int64_t some[] = {0,    1,   -1,      9,         10,        99,      100,
                                   -101, 999, 1234567, INT64_MAX, INT64_MIN, -1000000};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        char text[KILN_DECIMAL_SIZE + 1], wanted[32];
        text[kiln_decimal_print_i64(some[i], text)] = 0;
        snprintf(wanted, sizeof wanted, "%lld", (long long)some[i]);
        ck_assert_str_eq(text, wanted);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("decimal");
    TCase *all = kiln_test_case(suite, "decimal");
    tcase_add_test(all, powers_are_exact);
    tcase_add_test(all, parsing_rounds_correctly);
    tcase_add_test(all, parsing_stops_where_the_number_does);
    tcase_add_test(all, the_locale_does_not_matter);
    tcase_add_test(all, printing_reads_back);
    tcase_add_test(all, integers_print);
    return suite;
}

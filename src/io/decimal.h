/* Doubles and decimal text, both ways exact: parsing rounds correctly, printing gives the shortest
 * digits that parse back to the same bits. Neither looks at the locale. */
#ifndef KILN_IO_DECIMAL_H
#define KILN_IO_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest that kiln_decimal_print and kiln_decimal_print_i64 produce. */
enum { KILN_DECIMAL_SIZE = 32 };

/* The longest number at `text` (before `end`): digits, a point, an exponent after e, E, d or D, and
 * nan, inf, infinity in any case. Returns the byte after it, or NULL when there is no number.
 * Overflow gives infinity. */
const char *kiln_decimal_parse(const char *text, const char *end, double *value);

/* Both return the number of bytes written; no zero terminator. Infinities and NaN print as inf,
 * -inf and nan. */
size_t kiln_decimal_print(double value, char *buffer);
size_t kiln_decimal_print_i64(int64_t value, char *buffer);

#endif

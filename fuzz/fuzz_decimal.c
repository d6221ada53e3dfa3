#include "io/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What parses as a finite number prints and parses back to the same bits. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size;
    double value, back;
    const char *after = kiln_decimal_parse(text, end, &value);
    if (!after)
        return 0;
    if (after <= text || after > end)
        abort();
    char printed[KILN_DECIMAL_SIZE];
    size_t length = kiln_decimal_print(value, printed);
    if (length > sizeof printed)
        abort();
    if (kiln_decimal_parse(printed, printed + length, &back) != printed + length)
        abort();
    if (!isnan(value) && memcmp(&value, &back, sizeof value) != 0)
        abort();
    return 0;
}

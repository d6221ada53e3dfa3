#include "base/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_within(const kiln_bounds *bounds, double value)
{
    return (bounds->low_open ? value > bounds->low : value >= bounds->low) &&
           (bounds->high_open ? value < bounds->high : value <= bounds->high);
}

static bool is_tiny(const kiln_bounds *bounds, double value)
{
    return bounds->low == 0.0 && value > 0.0 && value < KILN_SMALLEST;
}

bool kiln_bounds_hold(const kiln_bounds *bounds, double value)
{
    return is_within(bounds, value) && fabs(value) <= KILN_LARGEST && !is_tiny(bounds, value);
}

bool kiln_bounds_vanishes(const kiln_bounds *bounds, double value)
{
    return is_tiny(bounds, value) && !bounds->low_open;
}

const char *kiln_bounds_text(const kiln_bounds *b, char *buffer, size_t size)
{
    bool below = isfinite(b->low), above = isfinite(b->high);
    if (below && above && b->low_open)
        snprintf(buffer, size, "above %g and below %g", b->low, b->high);
    else if (below && above)
        snprintf(buffer, size, "from %.10g to %.10g", b->low, b->high);
    else if (below && b->low == 0.0)
        snprintf(buffer, size, b->low_open ? "positive" : "0 or more");
    else
        snprintf(buffer, size, "finite");
    return buffer;
}

const char *kiln_bounds_broken(const kiln_bounds *b, double value, char *buffer, size_t size)
{
    if (!is_within(b, value))
        return kiln_bounds_text(b, buffer, size);
    if (is_tiny(b, value))
        snprintf(buffer, size, "%sat least %g", b->low_open ? "" : "0 or ", KILN_SMALLEST);
    else
        snprintf(buffer, size, "at most %g in size", KILN_LARGEST);
    return buffer;
}

const char *kiln_signature_text(kiln_signature signature)
{
    static const char *const text[] = {"f(t)", "f(t, u)", "f(t, x)", "f(u)", "f(c)"};
    return text[signature];
}

bool kiln_is_given(const kiln_given *given, const char *key)
{
    const kiln_schema *schema = given->schema;
    for (size_t i = 0; i < schema->count; i++)
        if (schema->rows[i].key && strcmp(schema->rows[i].key, key) == 0)
            return given->rows >> i & 1;
    return false;
}

kiln_status kiln_fail_setting(kiln_error *error, const char *key, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return kiln_fail(error, KILN_ERR_INPUT, key, 0, -1, "%s", text);
}

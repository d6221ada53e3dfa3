#include "base/error.h"
#include "base/tame.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *kiln_status_text(kiln_status status)
{
    static const char *const text[] = {
#define STATUS_TEXT(name, text) text,
        KILN_STATUS_TABLE(STATUS_TEXT)
#undef STATUS_TEXT
    };
    size_t count = sizeof text / sizeof text[0];
    return (size_t)status < count ? text[status] : "unknown status";
}

kiln_status kiln_fail(kiln_error *error, kiln_status status, const char *place, long long line,
                      long long byte, const char *format, ...)
{
    if (!error)
        return status;
    memset(error, 0, sizeof *error);
    error->status = status;
    error->line = line;
    error->byte = byte;
    if (place)
        snprintf(error->place, sizeof error->place, "%s", place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

kiln_status kiln_fail_memory(kiln_error *error, size_t bytes)
{
    return kiln_fail(error, KILN_ERR_MEMORY, NULL, 0, -1, "out of memory (%zu bytes wanted)",
                     bytes);
}

kiln_status kiln_need(const void *pointer, const char *name, kiln_error *error)
{
    return pointer ? KILN_OK
                   : kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "must be given, got NULL");
}

kiln_status kiln_need_texts(const char *const *texts, size_t count, const char *name,
                            kiln_error *error)
{
    for (size_t i = 0; i < count; i++)
        KILN_TRY(kiln_need(texts ? texts[i] : NULL, name, error));
    return KILN_OK;
}

const char *kiln_error_format(const kiln_error *error, char *buffer, size_t size)
{
    if (!buffer || size == 0)
        return "";
    buffer[0] = 0;
    if (!error)
        return buffer;
    const char *place = error->place[0] ? error->place : "kiln";
    if (error->line > 0)
        snprintf(buffer, size, "%s:%lld: %s", place, error->line, error->message);
    else if (error->byte >= 0)
        snprintf(buffer, size, "%s: byte %lld: %s", place, error->byte, error->message);
    else
        snprintf(buffer, size, "%s: %s", place, error->message);
    kiln_text_tame(buffer);
    return buffer;
}

#include "io/lua_text.h"

#include "io/decimal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kiln_lua_put_text(lua_text *lua, const char *text, size_t size)
{
    if (lua->failed || kiln_array_reserve(lua->context, &lua->text, lua->text.count + size, NULL)) {
        lua->failed = true;
        return;
    }
    if (size > 0)
        memcpy(lua->text.data + lua->text.count, text, size);
    lua->text.count += size;
}

void kiln_lua_put(lua_text *lua, const char *format, ...)
{
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof buffer)
        lua->failed = true;
    else
        kiln_lua_put_text(lua, buffer, (size_t)size);
}

void kiln_lua_put_before(lua_text *lua, size_t at, const char *text)
{
    size_t size = strlen(text), tail = lua->text.count - at;
    kiln_lua_put_text(lua, text, size);
    if (lua->failed)
        return;
    memmove(lua->text.data + at + size, lua->text.data + at, tail);
    memcpy(lua->text.data + at, text, size);
}

void kiln_lua_put_number(lua_text *lua, double value)
{
    char buffer[KILN_DECIMAL_SIZE];
    size_t size = kiln_decimal_print(value, buffer);
    kiln_lua_put_text(lua, buffer, size);
    if (!memchr(buffer, '.', size) && !memchr(buffer, 'e', size))
        kiln_lua_put_text(lua, ".0", 2);
}

void kiln_lua_put_vector(lua_text *lua, const double v[3])
{
    for (int k = 0; k < 3; k++) {
        kiln_lua_put(lua, k ? ", " : "{");
        kiln_lua_put_number(lua, v[k]);
    }
    kiln_lua_put(lua, "}");
}

void kiln_lua_put_quoted(lua_text *lua, const char *text)
{
    kiln_lua_put(lua, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '"' || *c == '\\')
            kiln_lua_put(lua, "\\%c", *c);
        else if (*c < ' ' || *c == 127)
            kiln_lua_put(lua, "\\%03u", *c);
        else
            kiln_lua_put_text(lua, (const char *)c, 1);
    kiln_lua_put(lua, "\"");
}

kiln_status kiln_lua_status(const lua_text *lua, kiln_error *error)
{
    return lua->failed ? kiln_fail_memory(error, lua->text.count) : KILN_OK;
}

void kiln_lua_free(lua_text *lua)
{
    kiln_array_free(lua->context, &lua->text);
}

/* Lua source while it is written. What cannot be allocated is remembered; the text is then of no
 * use, and lua_text_status says so. */
#ifndef KILN_IO_LUA_TEXT_H
#define KILN_IO_LUA_TEXT_H

#include "base/array.h"

typedef struct lua_text {
    kiln_context *context; /* borrowed */
    KILN_ARRAY_OF(char)
    text; /* not ended by zero */
    bool failed;
} lua_text;

void kiln_lua_put(lua_text *lua, const char *format, ...) KILN_PRINTF(2, 3);
void kiln_lua_put_text(lua_text *lua, const char *text, size_t size);
/* The same before what was written from `at` on. */
void kiln_lua_put_before(lua_text *lua, size_t at, const char *text);
/* The digits that read back as the same double, never an integer of Lua's: those overflow. */
void kiln_lua_put_number(lua_text *lua, double value);
void kiln_lua_put_vector(lua_text *lua, const double v[3]); /* {x, y, z} */
void kiln_lua_put_quoted(lua_text *lua, const char *text);
kiln_status kiln_lua_status(const lua_text *lua, kiln_error *error);
void kiln_lua_free(lua_text *lua);

#endif

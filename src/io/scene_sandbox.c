#include "io/scene_sandbox.h"

#include "io/scene_library.h"

#include <lua5.4/lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HOOK_INSTRUCTIONS = 1000 };
static const double call_seconds = 60.0; /* of processor time, for S2 inside functions of C */
static const char chunk_name[] = "=scene";

scene_sandbox *kiln_scene_sandbox_of(lua_State *L)
{
    void *box;
    lua_getallocf(L, &box);
    return box;
}

/* First line of the scene on the stack from `level` on. Allocates nothing. */
static int line_from(lua_State *L, int level)
{
    lua_Debug frame;
    for (; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "l", &frame);
        if (frame.currentline > 0)
            return frame.currentline;
    }
    return 0;
}

int kiln_scene_sandbox_line(const scene_sandbox *box, int line)
{
    if (!box->lines)
        return line;
    return line > 0 && (size_t)line <= box->line_count ? box->lines[line - 1] : 0;
}

int kiln_scene_sandbox_caller_line(lua_State *L)
{
    return kiln_scene_sandbox_line(kiln_scene_sandbox_of(L), line_from(L, 1));
}

/* Without a block, old_size is what kind of object the new one is for. */
static void *allocate(void *user, void *block, size_t old_size, size_t new_size)
{
    scene_sandbox *box = user;
    bool is_string = !block && old_size == LUA_TSTRING;
    size_t had = block ? old_size : 0;
    if (new_size == 0) {
        kiln_release(box->context, block, had);
        box->used -= had;
        return NULL;
    }
    if (new_size > had && (box->used - had + new_size > box->limit ||
                           (is_string && new_size > SCENE_STRING_LIMIT + 64))) {
        box->over_limit = true;
        box->line = box->L ? line_from(box->L, 0) : 0;
        return NULL;
    }
    void *grown = kiln_resize(box->context, block, had, new_size);
    if (grown)
        box->used = box->used - had + new_size;
    else
        box->heap_empty = true;
    return grown;
}

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void count(lua_State *L, lua_Debug *frame)
{
    (void)frame;
    scene_sandbox *box = kiln_scene_sandbox_of(L);
    box->spent += HOOK_INSTRUCTIONS;
    if (box->spent > box->budget) {
        lua_pushfstring(L, "does not end: stopped after %d million instructions",
                        (int)(box->budget / 1000000));
        lua_error(L);
    }
    double now = thread_seconds();
    if (box->seconds == 0.0)
        box->seconds = now;
    if (now - box->seconds > call_seconds) {
        lua_pushfstring(L, "does not end: stopped after %d seconds", (int)call_seconds);
        lua_error(L);
    }
}

/* The handler of errors: keeps the line, and makes a text of what is none. */
static int note_error(lua_State *L)
{
    scene_sandbox *box = kiln_scene_sandbox_of(L);
    box->line = line_from(L, 0);
    if (lua_type(L, 1) != LUA_TSTRING)
        lua_pushfstring(L, "error(...) was called with a %s instead of a text",
                        luaL_typename(L, 1));
    return 1;
}

/* "scene:12: text" to 12 and "text". */
static const char *split_line(const char *message, int *line)
{
    size_t prefix = strlen(chunk_name) - 1;
    if (strncmp(message, chunk_name + 1, prefix) != 0 || message[prefix] != ':')
        return message;
    char *end;
    long found = strtol(message + prefix + 1, &end, 10);
    if (end[0] != ':' || end[1] != ' ')
        return message;
    *line = (int)found;
    return end + 2;
}

static kiln_status report(scene_sandbox *box, int result, const char *what, kiln_error *error)
{
    const char *gap = what ? ": " : "";
    const char *message = lua_type(box->L, -1) == LUA_TSTRING ? lua_tostring(box->L, -1) : NULL;
    what = what ? what : "";
    /* A stack that cannot grow for want of memory is called too deep by Lua. */
    if ((box->heap_empty || box->over_limit) && message && strstr(message, "stack overflow"))
        result = LUA_ERRMEM;
    if (result == LUA_ERRMEM && box->heap_empty)
        return kiln_fail(error, KILN_ERR_MEMORY, box->file, box->line, -1,
                         "%s%sout of memory for the scene's functions", what, gap);
    if (result == LUA_ERRMEM)
        return kiln_fail(error, KILN_ERR_INPUT, box->file, box->line, -1,
                         "%s%stakes too much memory: scenes may have %zu MiB, and texts of 1 MiB",
                         what, gap, box->limit >> 20);
    if (result == LUA_ERRERR || !message)
        message = "an error inside the handling of an error";
    int line = box->line;
    message = split_line(message, &line);
    return kiln_fail(error, KILN_ERR_INPUT, box->file, kiln_scene_sandbox_line(box, line), -1,
                     "%s%s%s", what, gap, message);
}

kiln_status kiln_scene_sandbox_call(scene_sandbox *box, int arguments, int results,
                                    uint64_t instructions, const char *what, kiln_error *error)
{
    lua_State *L = box->L;
    int handler = lua_gettop(L) - arguments;
    box->line = 0;
    box->heap_empty = box->over_limit = false;
    box->spent = 0;
    box->budget = instructions;
    box->seconds = 0.0;
    lua_pushcfunction(L, note_error); /* a light value: cannot fail */
    lua_insert(L, handler);
    int result = lua_pcall(L, arguments, results, handler);
    kiln_status status = result == LUA_OK ? KILN_OK : report(box, result, what, error);
    if (result != LUA_OK)
        lua_pop(L, 1);
    lua_remove(L, handler);
    return status;
}

typedef struct compilation {
    const char *name, *text;
    size_t size;
} compilation;

static int compile(lua_State *L)
{
    const compilation *c = lua_touserdata(L, 1);
    const char *name = chunk_name;
    if (c->name)
        name = lua_pushfstring(L, "=%s", c->name);
    if (luaL_loadbufferx(L, c->text, c->size, name, "t") != LUA_OK)
        return lua_error(L);
    return 1;
}

kiln_status kiln_scene_sandbox_compile(scene_sandbox *box, const char *name, const char *text,
                                       size_t size, kiln_error *error)
{
    if (size > 0 && text[0] == LUA_SIGNATURE[0])
        return kiln_fail(error, KILN_ERR_INPUT, box->file, 0, -1,
                         "is compiled Lua; scenes are text");
    compilation c = {name, text, size};
    lua_pushcfunction(box->L, compile);
    lua_pushlightuserdata(box->L, &c);
    return kiln_scene_sandbox_call(box, 1, 1, UINT64_MAX, NULL, error);
}

kiln_status kiln_scene_sandbox_open(scene_sandbox *box, kiln_context *context, const char *file,
                                    size_t memory, kiln_error *error)
{
    *box = (scene_sandbox){.context = context,
                           .limit = memory,
                           .is_reading = true,
                           .random = kiln_random_start(context->seed, 0x5ce9e)};
    snprintf(box->file, sizeof box->file, "%s", file);
    lua_State *L = lua_newstate(allocate, box);
    if (!L)
        return kiln_fail(error, box->heap_empty ? KILN_ERR_MEMORY : KILN_ERR_INPUT, file, 0, -1,
                         "no memory for the scene language (%zu bytes allowed)", memory);
    box->L = L;
    lua_sethook(L, count, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    lua_pushcfunction(L, kiln_scene_library_open);
    return kiln_scene_sandbox_call(box, 0, 0, UINT64_MAX, NULL, error);
}

void kiln_scene_sandbox_close(scene_sandbox *box)
{
    if (box->L)
        lua_close(box->L);
    box->L = NULL;
}

const char *kiln_scene_describe(lua_State *L, int index, char *buffer, size_t size)
{
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        if (lua_isinteger(L, index))
            snprintf(buffer, size, "%lld", (long long)lua_tointeger(L, index));
        else
            snprintf(buffer, size, "%.10g", lua_tonumber(L, index));
        break;
    case LUA_TSTRING:
        snprintf(buffer, size, "\"%.40s\"", lua_tostring(L, index));
        break;
    case LUA_TBOOLEAN:
        snprintf(buffer, size, "%s", lua_toboolean(L, index) ? "true" : "false");
        break;
    case LUA_TNIL:
    case LUA_TNONE:
        snprintf(buffer, size, "nothing");
        break;
    default:
        snprintf(buffer, size, "a %s", lua_typename(L, lua_type(L, index)));
    }
    for (char *c = buffer; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return buffer;
}

/* Lua 5.4 for scenes, fenced in. Invariants:
 *
 * S1  Nothing outside is reachable: no io, os, package, debug, load, coroutines, metatables.
 * S2  Every call ends: instructions, processor time, memory and the length of strings are limited,
 *     functions of C that take long without running instructions are left out or bounded, and
 *     nothing in a scene can catch an error.
 * S3  Same text, same results: pairs goes by sorted keys, random numbers are the context's and only
 *     while the scene is read (a resumed run could not repeat them later), addresses are not shown.
 * S4  All of Lua runs below kiln_scene_sandbox_call, so a failed allocation comes back as a status.
 */
#ifndef KILN_IO_SCENE_SANDBOX_H
#define KILN_IO_SCENE_SANDBOX_H

#include "base/context.h"
#include "base/random.h"
#include "sim/module.h"

#include <lua5.4/lua.h>

enum { SCENE_STRING_LIMIT = 1 << 20 }; /* bytes */

typedef struct scene_sandbox {
    kiln_context *context; /* borrowed */
    lua_State *L;
    char file[256]; /* for messages */
    size_t used, limit;
    uint64_t spent, budget; /* instructions of this call */
    double seconds;         /* processor time of this call, 0: not yet measured */
    bool is_reading;        /* no: functions of a scene that runs */
    kiln_random random;
    const kiln_schema
        *modules[KILN_MODULE_ROOM + 1]; /* tables of settings with words of their own */
    /* Lines of the file, where it is not the text itself: of line i + 1 the line lines[i]. */
    const int *lines; /* borrowed */
    size_t line_count;
    int line;        /* where the last error was raised, 0: unknown */
    bool heap_empty; /* the context's allocator failed */
    bool over_limit; /* the sandbox refused memory */
} scene_sandbox;

kiln_status kiln_scene_sandbox_open(scene_sandbox *box, kiln_context *context, const char *file,
                                    size_t memory, kiln_error *error);
void kiln_scene_sandbox_close(scene_sandbox *box); /* closed or never opened: allowed */

/* Compiles text (never bytecode) and leaves the function on the stack. `name` stands for the text
 * in messages; NULL: the file, with lines. */
kiln_status kiln_scene_sandbox_compile(scene_sandbox *box, const char *name, const char *text,
                                       size_t size, kiln_error *error);
/* lua_pcall within limits; an error goes to `error` with the file and line of the scene, after
 * `what` ("bodies[1].velocity"; NULL: nothing). */
kiln_status kiln_scene_sandbox_call(scene_sandbox *box, int arguments, int results,
                                    uint64_t instructions, const char *what, kiln_error *error);

/* The sandbox a function of C runs in. */
scene_sandbox *kiln_scene_sandbox_of(lua_State *L);
/* The line of the file that a line of the text is. */
int kiln_scene_sandbox_line(const scene_sandbox *box, int line);
/* The line of the scene's file that called the running function of C, 0: none. */
int kiln_scene_sandbox_caller_line(lua_State *L);

/* What a value is, for messages: `-3`, `"text"`, `a table`. Returns `buffer`. */
const char *kiln_scene_describe(lua_State *L, int index, char *buffer, size_t size);

#endif

#include "io/scene_selection.h"

#include "io/scene_reader.h"

#include <lua5.4/lauxlib.h>
#include <stdio.h>
#include <string.h>

enum { MEMORY = 64 << 20, INSTRUCTIONS = 100000000 };

typedef struct reading {
    scene_sandbox box;
    scene_reader reader;
    kiln_scene scene; /* without bodies */
    scene_params params;
    char *text; /* "return " and the selection */
    size_t text_size;
    kiln_picks *picks;
    kiln_status status;
} reading;

/* Arguments: a reading, what the text stands for. */
static int read_protected(lua_State *L)
{
    reading *all = lua_touserdata(L, 1);
    luaL_checkstack(L, 40, "selection");
    all->status = kiln_scene_read_picks(&all->reader, all->picks);
    return 0;
}

static kiln_status run(reading *all, kiln_error *error)
{
    lua_State *L = all->box.L;
    all->reader = (scene_reader){
        .box = &all->box, .L = L, .scene = &all->scene, .error = error, .folder = ""};
    kiln_module_schemas(kiln_modules, all->box.modules);
    lua_pushcfunction(L, kiln_scene_language_open);
    lua_pushlightuserdata(L, &all->params);
    KILN_TRY(kiln_scene_sandbox_call(&all->box, 1, 0, UINT64_MAX, NULL, error));
    lua_pushcfunction(L, read_protected);
    lua_pushlightuserdata(L, all);
    KILN_TRY(kiln_scene_sandbox_compile(&all->box, NULL, all->text, all->text_size, error));
    KILN_TRY(kiln_scene_sandbox_call(&all->box, 0, 1, INSTRUCTIONS, NULL, error));
    KILN_TRY(kiln_scene_sandbox_call(&all->box, 2, 0, INSTRUCTIONS, NULL, error));
    return all->status;
}

kiln_status kiln_selection_read(kiln_context *context, const char *place, const char *text,
                                kiln_picks *picks, kiln_error *error)
{
    reading *all = kiln_resize(context, NULL, 0, sizeof *all);
    if (!all)
        return kiln_fail_memory(error, sizeof *all);
    memset(all, 0, sizeof *all);
    all->picks = picks;
    all->text_size = strlen(text) + sizeof "return " - 1;
    all->text = kiln_resize(context, NULL, 0, all->text_size + 1);
    kiln_status status = all->text ? KILN_OK : kiln_fail_memory(error, all->text_size + 1);
    kiln_scene_init(&all->scene, context);
    if (status == KILN_OK)
        status = kiln_scene_sandbox_open(&all->box, context, place, MEMORY, error);
    if (status == KILN_OK) {
        snprintf(all->text, all->text_size + 1, "return %s", text);
        status = run(all, error);
        kiln_scene_reader_free(&all->reader);
    }
    kiln_scene_sandbox_close(&all->box);
    kiln_release(context, all->text, all->text ? all->text_size + 1 : 0);
    kiln_release(context, all, sizeof *all);
    if (status != KILN_OK)
        kiln_array_free(context, picks);
    return status;
}

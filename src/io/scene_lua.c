#define _XOPEN_SOURCE 700 /* realpath */
#include "io/polyfem.h"
#include "io/scene.h"
#include "io/sink.h"
#include "io/source.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The folder of a file with the slash, from the root of all; "" where there is none. */
static void find_folder(const char *path, char folder[PATH_MAX + 1])
{
    char named[PATH_MAX], whole[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int size = slash ? (int)(slash - path + 1) : 0;
    snprintf(named, sizeof named, "./");
    if (slash)
        snprintf(named, sizeof named, "%.*s", size, path);
    folder[0] = 0;
    if (realpath(named, whole))
        snprintf(folder, PATH_MAX + 1, "%s%s", whole, whole[1] ? "/" : "");
}

kiln_status kiln_scene_write_lua(kiln_context *context, const char *scene, const char *path,
                                 kiln_error *error)
{
    kiln_source source;
    kiln_sink sink;
    lua_text lua = {.context = context};
    char from[PATH_MAX + 1], to[PATH_MAX + 1];
    find_folder(scene, from);
    find_folder(path, to);
    KILN_TRY(kiln_source_open(&source, context, scene, error));
    const char *text = source.begin;
    size_t size = kiln_source_left(&source);
    kiln_status status = KILN_OK;
    if (kiln_polyfem_is_json(text, size)) {
        const char *meshes = strcmp(from, to) == 0 ? "" : from;
        status = kiln_polyfem_translate(context, scene, text, size, true, meshes, &lua, error);
        text = lua.text.data;
        size = lua.text.count;
    }
    if (status == KILN_OK)
        status = kiln_sink_open(&sink, context, path, error);
    if (status == KILN_OK) {
        kiln_sink_bytes(&sink, text, size);
        status = kiln_sink_commit(&sink, error);
    }
    kiln_lua_free(&lua);
    kiln_source_close(&source);
    return status;
}

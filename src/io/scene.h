/* Scenes in Lua 5.4: docs/scene.md is generated from the schemas that validate. Those of PolyFEM,
 * in JSON, are made into Lua first (polyfem.h).
 *
 * The sandbox has no io, os, package, debug, load of bytecode; memory and instructions are limited,
 * when the scene is read and whenever a function of it is called during the run. */
#ifndef KILN_IO_SCENE_H
#define KILN_IO_SCENE_H

#include "sim/module.h"

typedef struct kiln_scene_options {
    const char *const *sets; /* "path=value", e.g. "bodies[1].material.young=2e5" */
    size_t set_count;
    size_t memory; /* bytes the Lua state may take; 0: 256 MiB */
    uint64_t
        instructions; /* while reading; 0: 1e8, as a call of a function. Both: 60 s of the CPU */
    const char *text; /* the scene's text instead of the file's (resumed runs); NULL: the file */
    size_t text_size;
    bool goes_on; /* the run has a state that is not this scene's start (sim/scene.h) */
    /* Of a program that has modules of its own: the list the world is to be made of, ended by NULL,
     * borrowed as long as the scene; NULL: kiln_modules. */
    const kiln_module *const *modules;
} kiln_scene_options;

/* The Lua state and the scene made from it; functions of the scene are valid as long as this. */
typedef struct kiln_scene_file kiln_scene_file;

/* Errors: "file.lua:41: bodies[2].material.young: must be positive, got -3e+06". Paths of meshes
 * are relative to the scene's folder. */
kiln_status kiln_scene_file_load(kiln_context *context, const char *path,
                                 const kiln_scene_options *options, kiln_scene_file **out,
                                 kiln_error *error);
void kiln_scene_file_destroy(kiln_scene_file *file); /* NULL allowed */
const kiln_scene *kiln_scene_file_scene(const kiln_scene_file *file);
/* The text as read, for run.json and checkpoints: Lua, also of a scene in JSON. */
const char *kiln_scene_file_text(const kiln_scene_file *file, size_t *size);
/* Whether the file still gives that text; also when it is gone. */
bool kiln_scene_file_has_text(kiln_context *context, const char *path, const char *text,
                              size_t size);
/* The names the scene called param() with, each followed by a space. */
const char *kiln_scene_file_params(const kiln_scene_file *file);

/* scene_lua.c: the file of a scene as Lua, what a scene in JSON becomes. Its meshes are found from
 * where it is written, too; a scene that is Lua already is copied as it is. */
kiln_status kiln_scene_write_lua(kiln_context *context, const char *scene, const char *path,
                                 kiln_error *error);

/* docs/scene.md, from the schemas; `modules` as in the options. */
kiln_status kiln_scene_write_reference(kiln_context *context, const kiln_module *const *modules,
                                       const char *path, kiln_error *error);

#endif

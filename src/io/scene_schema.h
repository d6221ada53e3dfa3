/* What may be in a scene file: the settings that modules own (sim/scene_schema.h), and what only a
 * scene file has: bodies with their shapes, obstacles, holds, loads, selections. The rows drive
 * reading (scene_reader.h), the errors about unknown keys, wrong types and values out of range, and
 * docs/scene.md (scene_reference.c). */
#ifndef KILN_IO_SCENE_SCHEMA_H
#define KILN_IO_SCENE_SCHEMA_H

#include "io/fill.h"
#include "io/scene_language.h"
#include "sim/scene_schema.h"

/* All schemas but those of generated shapes and modules, in the order of the reference; NULL past
 * the last. */
const kiln_schema *kiln_scene_schema_at(size_t row);

extern const kiln_schema kiln_scene_file_schema; /* kiln_scene: all of it but modules */
extern const kiln_schema kiln_body_schema, kiln_region_schema, kiln_patch_schema, kiln_turn_schema,
    kiln_hold_schema, kiln_probe_schema, kiln_shape_file_schema;
extern const kiln_schema kiln_select_schemas[KILN_SELECT_COUNT], kiln_motion_schemas[],
    kiln_load_schemas[], kiln_obstacle_schemas[KILN_OBSTACLE_COUNT];

/* What must stand where a turn is asked for. */
#define SCENE_TURN_FORM "a table {axis = ..., degrees = ...}"

/* Structs of objects that become something else when they are complete. */
typedef struct scene_turn {
    kiln_vec3 axis;
    double angle, degrees; /* NaN: not given */
} scene_turn;

typedef struct scene_place {
    kiln_vec3 at, scale;
    scene_turn turn;
} scene_place;

typedef struct scene_body_draft {
    kiln_scene_body body; /* owns what it has */
    scene_place place;
} scene_body_draft;

typedef struct scene_obstacle_draft {
    kiln_scene_obstacle obstacle; /* owns what it has */
    scene_place place;
    const char *file;
} scene_obstacle_draft;

typedef struct scene_hold_draft {
    kiln_scene_hold hold; /* owns what it has */
    scene_turn turn;
} scene_hold_draft;

typedef struct scene_file_draft {
    const char *path;
    bool repair;
    int refine;
    int layers;
    double slab;
    kiln_fill_options fill;
} scene_file_draft;

#endif

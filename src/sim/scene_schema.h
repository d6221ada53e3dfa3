/* What scenes may say about everything but things: bodies, obstacles, holds and loads, which only
 * the reader of a scene file understands (io/scene_schema.h).
 *
 * A module that later joins has a settings struct and a schema in its own file, and a row in
 * kiln_module_schemas: the schema's name is then a key of scenes and a word for its table, and
 * kiln_scene_settings gives the struct. */
#ifndef KILN_SIM_SCENE_SCHEMA_H
#define KILN_SIM_SCENE_SCHEMA_H

#include "sim/scene.h"

extern const kiln_schema kiln_scene_schema, kiln_step_schema; /* kiln_scene */

/* Schemas of modules without a member in kiln_scene, ended by NULL. Of their rows, functions are
 * tried when a scene is read (kiln_scene_try). */
extern const kiln_schema *const kiln_module_schemas[];

#endif

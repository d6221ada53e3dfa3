/* What scenes may say about everything but things: bodies, obstacles, holds and loads, which only
 * the reader of a scene file understands (io/scene_schema.h).
 *
 * Other modules have a settings struct and a schema in their own file (sim/module.h): the schema's
 * name is a key of scenes and a word for its table, and kiln_scene_settings gives the struct. */
#ifndef KILN_SIM_SCENE_SCHEMA_H
#define KILN_SIM_SCENE_SCHEMA_H

#include "sim/scene.h"

extern const kiln_schema kiln_scene_schema, kiln_step_schema; /* kiln_scene */

#endif

/* The scenes of the folder scenes/, built into the program so that an installed one has them. */
#ifndef KILN_APP_BUILTIN_SCENES_H
#define KILN_APP_BUILTIN_SCENES_H

#include <stddef.h>

typedef struct kiln_builtin_scene {
    const char *name; /* first, for kiln_nearest_name */
    const unsigned char *text;
    size_t size;
} kiln_builtin_scene;

/* Written by cmake/scenes.cmake; by name. */
extern const kiln_builtin_scene kiln_builtin_scenes[];
extern const size_t kiln_builtin_scene_count;

#endif

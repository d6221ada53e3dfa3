/* Inside of the sets of a boundary: sets.c writes them into the mesh and marks them, set_lists.c
 * reads them from there. */
#ifndef KILN_SIM_SETS_H
#define KILN_SIM_SETS_H

#include "sim/boundary.h"

KILN_INLINE size_t kiln_set_count(const kiln_scene *scene)
{
    return scene->holds.count + scene->loads.count;
}

KILN_INLINE size_t kiln_set_words(const kiln_scene *scene)
{
    return (kiln_set_count(scene) + 63) / 64;
}

KILN_INLINE bool kiln_set_has(const uint64_t *words, size_t set)
{
    return words[set / 64] >> set % 64 & 1;
}

KILN_INLINE bool kiln_set_any(const uint64_t *words, size_t count)
{
    uint64_t any = words[0];
    for (size_t w = 1; w < count; w++)
        any |= words[w];
    return any != 0;
}

/* What the rows of a set are of. */
KILN_INLINE kiln_where kiln_set_where(const kiln_scene *scene, size_t set)
{
    if (set < scene->holds.count)
        return KILN_ON_VERTEX;
    return kiln_load_where(scene->loads.data[set - scene->holds.count].kind);
}

kiln_u32_array *kiln_set_list(kiln_boundary *b, size_t set);
double *kiln_set_amounts(const kiln_boundary *b, size_t load); /* of a body load, [tet] */

/* cover[vertex][word]: sets of the faces and tets that have the vertex. To be released. */
kiln_status kiln_set_cover(kiln_boundary *b, uint64_t **cover, size_t *bytes, kiln_error *error);
/* All lists from the mesh as it is; those rows only that have changed. */
kiln_status kiln_set_list_all(kiln_boundary *b, kiln_error *error);
kiln_status kiln_set_follow(kiln_boundary *b, const kiln_changes *changes, kiln_error *error);

#endif

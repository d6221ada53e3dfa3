/* The steps from a mesh to elements, shared by build and update. Each leaves what depends only on
 * the mesh as it is now. */
#ifndef KILN_FEM_ELEMENTS_LAYOUT_H
#define KILN_FEM_ELEMENTS_LAYOUT_H

#include "fem/elements_impl.h"

/* No elements, as after a failure. */
void kiln_elements_forget(kiln_elements *elements);

KILN_INLINE size_t kiln_windows_of(size_t slots)
{
    return (slots + KILN_WINDOW_TETS - 1) / KILN_WINDOW_TETS;
}
/* Batches of a window: every material may leave up to seven lanes of its last batch empty, and no
 * batch is without a tet. */
KILN_INLINE size_t kiln_window_batches(const kiln_elements *elements)
{
    size_t batches = KILN_CHUNK_BATCHES +
                     (KILN_ELEMENT_LANES - 1) * elements->materials.count / KILN_ELEMENT_LANES;
    return batches < KILN_WINDOW_TETS ? batches : KILN_WINDOW_TETS;
}

/* KILN_ERR_INPUT when a live tet has no material. */
kiln_status kiln_elements_check_material(const kiln_elements *elements, uint32_t tet,
                                         uint32_t material, kiln_error *error);
/* All that is counted in slots and batches, for that many slots. New room is not filled in. */
kiln_status kiln_elements_make_room(kiln_elements *elements, size_t slots, kiln_error *error);
/* Numbers, slots and vertices of the tets of a window, and what of it is in no chunk. `count`
 * [material] is scratch. Geometry, places and marks of the lanes in use are left alone. */
void kiln_elements_place_window(kiln_elements *elements, const kiln_mesh *mesh,
                                const uint32_t *material_of, size_t window, size_t *count);
void kiln_elements_set_vertices(kiln_elements *elements, const kiln_mesh *mesh, uint32_t tet);
/* Empty lanes of the batch take the geometry of its first; all tets of it have been formed. */
void kiln_elements_pad(kiln_elements *elements, size_t batch);

/* Rest shapes and volumes of the given slots (NULL: all). The bits do not depend on what else is
 * formed. KILN_ERR_INPUT when one has no volume. */
kiln_status kiln_elements_form(kiln_elements *elements, const kiln_mesh *mesh,
                               const uint32_t *slots, size_t count, kiln_error *error);

/* Chunks and colours; `window_touched` [window] is not 0 where the vertices are others than at the
 * last time, NULL: everywhere. */
kiln_status kiln_elements_colour(kiln_elements *elements, const uint8_t *window_touched,
                                 kiln_error *error);

#endif

/* Where theta is averaged: the nodes of the nodal pressure, their tets and the vertices of those.
 *
 * A node is a vertex within one material, so that averages do not mix materials. Every vertex has
 * one for each material that has nodal pressure and tets, whether a tet of it is there or not, so
 * that a node's number depends on nothing else. That a vertex is in the star of a node is mutual: a
 * vertex is in the stars of the nodes of the vertices in its own. Element numbers and corners are
 * those of elements_impl.h. */
#ifndef KILN_FEM_NODAL_STARS_H
#define KILN_FEM_NODAL_STARS_H

#include "fem/elements_impl.h"

typedef struct kiln_nodal_stars {
    size_t vertices, nodes;
    kiln_u32_array material; /* [rank] those with nodal pressure and tets */
    kiln_u32_array rank;     /* [material]; KILN_NONE: no nodal pressure */
    KILN_ARRAY_OF(uint64_t)
    first;              /* [nodes + 1] */
    kiln_u32_array tet; /* [entry] element number * 4 + corner, ascending in a node */
    KILN_ARRAY_OF(uint64_t)
    start;              /* [nodes + 1] */
    kiln_u32_array row; /* the vertices of a node's tets, ascending: the cliques of the Hessian */
    KILN_ARRAY_OF(uint16_t)
    place; /* [entry][4] where in its star a corner of the entry's tet is */
} kiln_nodal_stars;

/* On failure it is empty. KILN_ERR_LIMIT: a star of more than 65535 vertices. */
kiln_status kiln_nodal_stars_build(kiln_nodal_stars *stars, const kiln_elements *elements,
                                   kiln_error *error);
/* Whether nodes have the numbers they had: the materials with nodal pressure and tets are the same.
 */
bool kiln_nodal_stars_can_stay(const kiln_nodal_stars *stars, const kiln_elements *elements);
/* A build for elements that were updated, where stars can stay; `affected` [vertex]: not 0 where
 * tets at the vertex are others, or have other numbers, than at the last build or update; NULL:
 * everywhere. */
kiln_status kiln_nodal_stars_update(kiln_nodal_stars *stars, const kiln_elements *elements,
                                    const uint8_t *affected, kiln_error *error);
void kiln_nodal_stars_free(kiln_nodal_stars *stars, kiln_context *context);
size_t kiln_nodal_stars_bytes(const kiln_nodal_stars *stars); /* without the struct */

KILN_INLINE size_t kiln_nodal_node(const kiln_nodal_stars *stars, uint32_t vertex, uint32_t rank)
{
    return stars->material.count * vertex + rank;
}
KILN_INLINE uint32_t kiln_nodal_material(const kiln_nodal_stars *stars, size_t node)
{
    size_t materials = stars->material.count;
    return stars->material.data[materials == 1 ? 0 : node % materials]; /* no division for one */
}
/* Of a batch's material; KILN_NONE: no nodal pressure, or no tet. */
KILN_INLINE uint32_t kiln_nodal_batch_rank(const kiln_nodal_stars *stars,
                                           const kiln_elements *elements, size_t batch)
{
    uint32_t material = elements->material_of.data[batch];
    return material == KILN_NONE ? KILN_NONE : stars->rank.data[material];
}
/* Of an element's; KILN_NONE: no nodal pressure, or padding. */
KILN_INLINE uint32_t kiln_nodal_rank(const kiln_nodal_stars *stars, const kiln_elements *elements,
                                     size_t number)
{
    size_t batch = number / KILN_ELEMENT_LANES;
    return elements->batches.data[batch].slot[number % KILN_ELEMENT_LANES] == KILN_NONE
               ? KILN_NONE
               : kiln_nodal_batch_rank(stars, elements, batch);
}

#endif

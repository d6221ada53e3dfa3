/* Where theta is averaged: the nodes of the nodal pressure, their tets and the vertices of those.
 *
 * A node is a vertex within one material, so that averages do not mix materials; nodes are numbered
 * by material and vertex. Element numbers and corners are those of elements_impl.h. */
#ifndef KILN_FEM_NODAL_STARS_H
#define KILN_FEM_NODAL_STARS_H

#include "fem/elements_impl.h"

typedef struct kiln_nodal_stars {
    size_t nodes;
    kiln_u32_array node_of;  /* [element number][4]; KILN_NONE: no nodal pressure, or padding */
    kiln_u32_array material; /* [node] */
    KILN_ARRAY_OF(uint64_t)
    first;              /* [nodes + 1] */
    kiln_u32_array tet; /* [entry] element number * 4 + corner, ascending in a node */
    KILN_ARRAY_OF(uint64_t)
    start;              /* [nodes + 1] */
    kiln_u32_array row; /* the vertices of a node's tets, ascending: the cliques of the Hessian */
    KILN_ARRAY_OF(uint16_t)
    place; /* [entry][4] where in its star a corner of the entry's tet is */
    KILN_ARRAY_OF(uint64_t)
    inverse_first;          /* [vertices + 1] */
    kiln_u32_array inverse; /* the nodes that have a vertex in their star, ascending */
    size_t vertices;
} kiln_nodal_stars;

/* On failure it is empty. KILN_ERR_LIMIT: a star of more than 65535 vertices. */
kiln_status kiln_nodal_stars_build(kiln_nodal_stars *stars, const kiln_elements *elements,
                                   kiln_error *error);
void kiln_nodal_stars_free(kiln_nodal_stars *stars, kiln_context *context);
size_t kiln_nodal_stars_bytes(const kiln_nodal_stars *stars); /* without the struct */

#endif

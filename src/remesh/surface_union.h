/* Two closed surfaces become one: each is cut along the other and what lies inside it goes. */
#ifndef KILN_REMESH_SURFACE_UNION_H
#define KILN_REMESH_SURFACE_UNION_H

#include "mesh/soup.h"

/* Triangles look outward; every edge has two, in opposite ways. Zero-initialise. */
typedef struct kiln_shell {
    KILN_ARRAY_OF(kiln_vec3)
    points; /* best near the origin */
    KILN_ARRAY_OF(kiln_soup_triangle)
    triangles;
} kiln_shell;

/* Where something of the union comes from: numbers are those of the first shell, then those of the
 * second. A vertex that came is that part of the way from a to b; one that was there is a = b. */
typedef struct kiln_union_vertex {
    uint32_t a, b;
    double part;
} kiln_union_vertex;

/* Zero-initialise. */
typedef struct kiln_shell_union {
    kiln_shell shell;
    KILN_ARRAY_OF(kiln_union_vertex)
    vertices;                /* [point] */
    kiln_u32_array triangle; /* [triangle] of which one it is a piece */
    size_t cuts;             /* segments along which they were cut; 0: they do not meet */
} kiln_shell_union;

void kiln_shell_free(kiln_context *context, kiln_shell *shell);
void kiln_shell_union_free(kiln_context *context, kiln_shell_union *u);

/* Every edge has two triangles that run along it in opposite ways. */
kiln_status kiln_shell_is_closed(kiln_context *context, const kiln_shell *shell, bool *closed,
                                 kiln_error *error);

/* Exact signs of points that are moved at random by a 1e-10th of `size` (m, of edges) decide, so
 * that nothing lies in a plane or on an edge of another thing; `seed` is of the random numbers.
 * *done is false, and the union undefined, where rounding stands in the way or a shell crosses
 * itself there: try another seed. */
kiln_status kiln_shell_unite(kiln_context *context, const kiln_shell *first,
                             const kiln_shell *second, double size, uint64_t seed,
                             kiln_shell_union *out, bool *done, kiln_error *error);

#endif

/* Walks through the mesh: across faces, round edges, over stars. They allocate nothing of their own
 * and are valid inside a transaction. */
#ifndef KILN_MESH_WALK_H
#define KILN_MESH_WALK_H

#include "mesh/idset.h"
#include "mesh/mesh.h"

/* Scratch of a star walk, one per thread. Grows with the largest star seen. */
typedef struct kiln_walker {
    kiln_context *context;
    kiln_u32_array tets;    /* result of the last walk */
    kiln_idset seen;        /* tet -> its place in `tets` */
    kiln_idset link;        /* vertices of the star's link, while examining */
    kiln_u32_array parents; /* union-find over `tets` */
} kiln_walker;

void kiln_walker_init(kiln_walker *walker, kiln_context *context);
void kiln_walker_free(kiln_walker *walker);

/* The tets of a vertex in walker->tets: in order of discovery from the anchor, or sorted where the
 * vertex carries a list. Empty for a vertex without tets. */
kiln_status kiln_star(const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                      kiln_error *error);

/* The tets that have both vertices; several fans where the edge is not manifold. */
kiln_status kiln_edge_tets(const kiln_mesh *mesh, uint32_t a, uint32_t b, kiln_walker *walker,
                           kiln_error *error);

/* The fan of tets round the edge of two corners of a tet, in order of rotation. Closed: starts at
 * `tet`. Open: starts at one surface face and ends at the other. Entries are packed tet*4+corner,
 * where the corner is the one whose opposite face leads to the next tet. Returns the number of
 * tets, which may exceed `room`; only `room` are written. */
typedef struct kiln_ring {
    uint32_t count;
    bool closed;
} kiln_ring;
kiln_ring kiln_edge_ring(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                         uint32_t *tets, uint32_t room);
/* Whether no tet of that fan is lower: each edge belongs to one. Most answers cost a step or two.
 */
bool kiln_edge_is_own(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b);

/* The surface face beyond the edge of two vertices of a surface face, in the fan of tets between
 * the two. */
uint32_t kiln_surface_across(const kiln_mesh *mesh, uint32_t face, uint32_t a, uint32_t b);

/* Classes of a star's tets when it may be crossed only through interior faces at the vertex that do
 * not carry KILN_MARK_SPLIT_FACE (when `respect_split`). class_of[i] for walker->tets.data[i],
 * numbered from 0 in order of the lowest tet. Returns the number of classes. */
kiln_status kiln_star_classes(const kiln_mesh *mesh, uint32_t vertex, bool respect_split,
                              kiln_walker *walker, kiln_u32_array *class_of, uint32_t *classes,
                              kiln_error *error);

/* What the outermost commit demands of a vertex: the star connected through faces, every edge at it
 * in one fan, its surface faces in one cycle (M4, M5). */
typedef enum kiln_vertex_state {
    KILN_VERTEX_MANIFOLD,
    KILN_VERTEX_LOOSE,          /* no tets */
    KILN_VERTEX_STAR_SPLIT,     /* star falls into several face-connected classes */
    KILN_VERTEX_EDGE_SPLIT,     /* an edge at it has more than one fan */
    KILN_VERTEX_SURFACE_CYCLES, /* surface faces form several cycles */
} kiln_vertex_state;
/* `other` gets the far end of the offending edge for KILN_VERTEX_EDGE_SPLIT. */
kiln_status kiln_vertex_examine(const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                                kiln_vertex_state *state, uint32_t *other, kiln_error *error);

/* The tet that holds the point in material space, by walking from `start`; KILN_NONE when the walk
 * leaves the mesh (then *last is the tet where it did). `visits` counts tets looked at. */
uint32_t kiln_locate(const kiln_mesh *mesh, kiln_vec3 u, uint32_t start, uint32_t *last,
                     uint32_t *visits);

#endif

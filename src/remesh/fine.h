/* A fine surface while it is changed: triangles with their neighbours, and the three changes that
 * keep a surface what it is (closed stays closed, manifold manifold). Edges with more than two
 * triangles, or with two that are not turned alike, are left as they are.
 *
 * A side is 3 * triangle + k, the edge from its corner k to the next. */
#ifndef KILN_REMESH_FINE_H
#define KILN_REMESH_FINE_H

#include "remesh/embedded_impl.h"

#define KILN_FINE_RIM   0xFFFFFFFEu /* no triangle across */
#define KILN_FINE_STUCK 0xFFFFFFFFu /* several, or turned: not to be touched */

typedef struct kiln_fine {
    kiln_embedded *e;
    const kiln_mesh *mesh;
    kiln_begin_view view; /* of the material */
    kiln_frames frames;
    kiln_shore shore;
    KILN_ARRAY_OF(kiln_vec3)
    x;                     /* [vertex] in the world */
    kiln_u32_array mate;   /* [side] the side across, KILN_FINE_RIM or _STUCK */
    kiln_u32_array side;   /* [vertex] a side that begins at it; KILN_NONE: gone, or never used */
    kiln_u32_array degree; /* [vertex] triangles */
    kiln_u32_array ring;   /* sides that begin at a vertex, in turn: kiln_fine_ring */
    size_t removed;        /* vertices that went */
} kiln_fine;

/* Neighbours, and what hanging needs; x is the caller's. */
kiln_status kiln_fine_begin(kiln_fine *fine, kiln_error *error);
void kiln_fine_free(kiln_fine *fine);

KILN_INLINE uint32_t kiln_fine_next(uint32_t side)
{
    return side % 3 == 2 ? side - 2 : side + 1;
}
KILN_INLINE bool kiln_fine_live(const kiln_fine *f, uint32_t side)
{
    return f->e->now.triangles.data[side / 3].v[0] != KILN_NONE;
}
/* The vertex where a side begins. */
KILN_INLINE uint32_t kiln_fine_from(const kiln_fine *f, uint32_t side)
{
    return f->e->now.triangles.data[side / 3].v[side % 3];
}
KILN_INLINE uint32_t kiln_fine_to(const kiln_fine *f, uint32_t side)
{
    return kiln_fine_from(f, kiln_fine_next(side));
}
KILN_INLINE uint32_t kiln_fine_across(const kiln_fine *f, uint32_t side) /* the third corner */
{
    return kiln_fine_from(f, kiln_fine_next(kiln_fine_next(side)));
}
KILN_INLINE bool kiln_fine_is_inner(const kiln_fine *f, uint32_t side)
{
    return f->mate.data[side] < KILN_FINE_RIM;
}
KILN_INLINE int32_t kiln_fine_tag(const kiln_fine *f, uint32_t side)
{
    return f->e->now.tags.count ? f->e->now.tags.data[side / 3] : 0;
}

/* Fills `ring`; false where the vertex has a rim, or is the meeting of several fans. */
kiln_status kiln_fine_ring(kiln_fine *f, uint32_t vertex, bool *closed, kiln_error *error);

/* A new vertex at the middle of the side, hung in the mesh. The side stays the first half. Not done
 * where that is not between its ends in the world. */
kiln_status kiln_fine_split(kiln_fine *f, uint32_t side, bool *done, kiln_error *error);
/* The other diagonal; the side must be inner, and the diagonal no edge yet. */
void kiln_fine_flip(kiln_fine *f, uint32_t side);
/* The side's first vertex goes into its second; `ring` must be that of the first, closed, and the
 * two have no common neighbours but the third corners. */
void kiln_fine_collapse(kiln_fine *f, uint32_t side);

/* The vertex to where u is: hung anew. */
void kiln_fine_place(kiln_fine *f, uint32_t vertex, uint32_t hint);

/* Rows close ranks and are hung in the mesh's lists. */
kiln_status kiln_fine_finish(kiln_fine *f, kiln_error *error);

#endif

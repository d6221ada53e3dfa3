/* Necks of a part: where it is narrow both ways across and goes on on both sides (SLI 7.1;
 * liquids-algorithms 7, "Neck").
 *
 * A ball about a place in the matter is looked at. What hangs together in it and leaves it in two
 * or more places that do not meet just outside is a neck between them; a tip leaves it in one
 * place, and so does a sheet. The set of faces with the least area that keeps one of these ends
 * from the others, a minimal cut of the tets in the ball, is where it breaks: each side of it hangs
 * together, so nothing crumbles off. */
#ifndef KILN_TOPOLOGY_NECK_H
#define KILN_TOPOLOGY_NECK_H

#include "topology/ball.h"
#include "topology/layer.h"

typedef struct kiln_neck {
    kiln_u32_array faces; /* tet*4+face, seen from one side */
    kiln_vec3 centre;     /* of them, in the world */
    kiln_vec3 normal;     /* unit, out of the tets in `faces` */
    double area;          /* as seen along it, m^2 */
} kiln_neck;

typedef struct kiln_neck_search {
    kiln_ball ball;         /* of the last look; its context is to be given */
    double reach;           /* m, its radius */
    kiln_tet_predicate may; /* tets of which a neck may be made; NULL: all */
    void *user;
    kiln_neck trial;
} kiln_neck_search;

void kiln_neck_search_free(kiln_neck_search *search);
void kiln_neck_free(kiln_context *context, kiln_neck *neck);

/* How deep the matter behind a surface face is, straight in from its middle, m; `most` if that is
 * less. *tet gets the one that is reached half way to there. */
double kiln_neck_depth(const kiln_mesh *mesh, uint32_t face, double most, uint32_t *tet);

/* The neck in the ball about the middle of a tet, and then about where it was found to be the
 * narrowest. */
kiln_status kiln_neck_find(kiln_neck_search *search, const kiln_mesh *mesh, uint32_t tet,
                           kiln_neck *neck, bool *found, kiln_error *error);

/* How a neck breaks. */
typedef struct kiln_neck_break {
    double back;    /* m, that each end draws back from the plane of the cut */
    double reach;   /* m, how far from the cut matter goes along */
    double quality; /* no tet comes out worse, unless it was */
    bool refill;    /* the rest of the surface takes up the room that the ends lose */
    int32_t tag;    /* of the new surface */
    /* The part of a way that a vertex of the mesh as it is may go; NULL: all of it. */
    kiln_vec3 (*may_go)(const void *user, uint32_t vertex, kiln_vec3 way);
    const void *user;
} kiln_neck_break;

/* Opens it, and draws both ends back. Tets, and what they have, stay the same ones but for those
 * that opening divides. KILN_REFUSED_JUDGED where an end cannot draw back, or where the two sides
 * hang together otherwise in the ball. All or nothing. */
kiln_verdict kiln_neck_open(kiln_txn *txn, const kiln_neck *neck, const kiln_neck_break *how);

#endif

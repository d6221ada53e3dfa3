/* What the contractions share. A contraction replaces the tets R of the vertices that merge by N,
 * tets with KILN_PROPOSED where those vertices were. It is tried in three steps, cheapest first:
 * thresholded scores of N at a place, before anything is stored; then a *draft* of R and N; then
 * everything that can forbid it (lengths, marks, the other space, walls). */
#ifndef KILN_REMESH_CONTRACT_IMPL_H
#define KILN_REMESH_CONTRACT_IMPL_H

#include "remesh/contract.h"
#include "remesh/link_condition.h"
#include "remesh/smooth_star.h"

enum { KILN_USUAL_STAR = 128 };

/* The tets of a vertex, the worst first. */
typedef struct kiln_near_star {
    uint32_t vertex, count;
    uint32_t *tets; /* `few`, or the arena's */
    double worst;   /* score */
    bool recorded;  /* without a metric: what scores at a place need, prepared */
    kiln_star_record record;
    kiln_star_frame frame;
    uint32_t few[KILN_USUAL_STAR];
} kiln_near_star;

/* Who asks, and for what. Stars that several attempts need are walked before and shared. */
typedef struct kiln_contraction {
    const kiln_remesher *remesher;
    kiln_workspace *workspace;
    const kiln_contraction_limits *limits;
    bool several; /* attempts will use a star, so that it pays to prepare it */
    kiln_near_star *shared;
    int shared_count;
} kiln_contraction;

/* The star of a vertex of the tet: a shared one, or walked into `room`. NULL when memory ran out or
 * the star is not connected through faces. */
kiln_near_star *kiln_near_star_of(const kiln_contraction *c, uint32_t vertex, uint32_t tet,
                                  kiln_near_star *room);

/* Tets of a vertex that have these others as well vanish in a contraction. */
KILN_INLINE bool kiln_tet_has_all(const kiln_tet *tet, const uint32_t *vertex, int count)
{
    bool all = true;
    for (int i = 0; i < count; i++)
        all &= tet->v[0] == vertex[i] || tet->v[1] == vertex[i] || tet->v[2] == vertex[i] ||
               tet->v[3] == vertex[i];
    return all;
}

/* Whether the star's tets but those that have all of `apart` score above a threshold with their
 * vertex at a place. The first asks prepared stars only, to rounding, and lets others pass; it
 * needs nothing but the position p in the scored space. The second asks those. */
bool kiln_near_star_may(const kiln_contraction *c, const kiln_near_star *star,
                        const uint32_t *apart, int aparts, kiln_vec3 p, double threshold);
bool kiln_near_star_above(const kiln_contraction *c, const kiln_near_star *star,
                          const uint32_t *apart, int aparts, const kiln_place *place,
                          double threshold);

/* Single contractions, as in contract.h (contract_fan.c). */
bool kiln_contract_face(const kiln_contraction *c, uint32_t tet, uint32_t corner_a,
                        uint32_t corner_b, uint32_t corner_c, kiln_proposal *out);
bool kiln_contract_tet(const kiln_contraction *c, uint32_t tet, uint32_t corner_d,
                       kiln_proposal *out);

/* Place of an existing vertex; without side. */
kiln_place kiln_contraction_place_of(const kiln_remesher *remesher, uint32_t vertex);
/* A place inside, at p of the space in which the vertex near it is looked at. */
kiln_place kiln_contraction_place_inside(const kiln_remesher *remesher, kiln_vec3 p, uint32_t near);

/* Neither on surface, interface or feature nor required: may go anywhere, or vanish. */
KILN_INLINE bool kiln_vertex_is_free(const kiln_mesh *mesh, uint32_t vertex)
{
    return !(mesh->vertex[vertex].flags &
             (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE | KILN_VERTEX_FEATURE |
              KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED));
}
/* 0 free, 1 on a facet, 2 on a curve, 3 fixed. */
int kiln_vertex_rank(const kiln_remesher *remesher, uint32_t vertex);

/* A neighbour of a vertex along its walls (surface and interface faces) and features. */
typedef struct kiln_patch {
    int32_t below, above, tag; /* regions; tag of the surface, with above = below */
} kiln_patch;
typedef struct kiln_rim {
    uint32_t vertex;
    uint32_t walls; /* that have the edge to it */
    kiln_patch patch;
    bool mixed;             /* walls of several patches */
    bool feature, required; /* marks of the edge */
} kiln_rim;
typedef struct kiln_rims {
    kiln_rim *rim;
    uint32_t count;
    uint32_t curves; /* rims that are curves: marked, or not between two walls of one patch */
    bool required;   /* an edge or face at the vertex is required or chosen to be opened */
} kiln_rims;
bool kiln_rims_gather(const kiln_contraction *c, const kiln_near_star *star, kiln_rims *out);
const kiln_rim *kiln_rims_find(const kiln_rims *rims, uint32_t vertex); /* or NULL */
bool kiln_rim_is_curve(const kiln_rim *rim);

typedef struct kiln_draft {
    kiln_proposal proposal;
    uint32_t survivor;   /* vertex that keeps its place, or KILN_NONE: the proposal's place */
    uint32_t far_end[2]; /* feature edges to these are handed on */
    int far_ends;
    uint32_t kept; /* at the end of both lists: tets that come back as they were */
    bool walls;    /* surface, interface or features may change */
} kiln_draft;

/* Room for R and N in the arena. */
bool kiln_draft_start(const kiln_contraction *c, kiln_draft *draft, kiln_operator kind,
                      size_t old_room, size_t fresh_room);
void kiln_draft_take(kiln_draft *draft, uint32_t tet); /* goes */
void kiln_draft_move(const kiln_contraction *c, kiln_draft *draft, uint32_t tet, uint32_t vertex);
void kiln_draft_add(kiln_draft *draft, const uint32_t v[4], uint32_t parent);
/* Comes back as it was, because what lies across one of its faces changes. After all others. */
void kiln_draft_keep(const kiln_contraction *c, kiln_draft *draft, uint32_t tet);

/* Scores N and asks everything else; true when *out may be applied. draft->proposal.place is used
 * in both cases: for a survivor it is its place. */
bool kiln_draft_finish(const kiln_contraction *c, kiln_draft *draft, kiln_proposal *out);

/* Declares what becomes of surface faces and asks whether walls may change so (contract_walls.c).
 * The survivor's number stands in N already. */
bool kiln_draft_settle_walls(const kiln_contraction *c, kiln_draft *draft);

#endif

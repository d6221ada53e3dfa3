/* Films: where the matter is thin one way and goes on all round, and holes in them (SLI 7.1;
 * liquids-algorithms 7, "Film").
 *
 * A ball about a place in the matter is looked at, as for necks (topology/neck.h). The cut of least
 * area round its middle, as near to a cylinder across the film as the mesh has, is the rim of a
 * hole, and what it encloses is what a hole takes away: a ball of tets whose surface is a disk on
 * either side of the film. Of a thread it would be a ring, of an edge or a tip one disk. */
#ifndef KILN_TOPOLOGY_FILM_H
#define KILN_TOPOLOGY_FILM_H

#include "topology/ball.h"
#include "topology/layer.h"

typedef struct kiln_film {
    kiln_u32_array tets; /* that a hole takes away */
    kiln_u32_array rim;  /* vertices of its rim */
    kiln_vec3 centre;
    kiln_vec3 normal; /* unit, across */
    double depth;     /* m, mean over the hole */
    double radius;    /* m, of a disk of its area */
} kiln_film;

typedef struct kiln_film_corner {
    uint32_t low, high, face; /* an edge of a face; `high` is none for a vertex */
} kiln_film_corner;

typedef struct kiln_film_search {
    kiln_ball ball;         /* of the last look; its context is to be given */
    double radius;          /* m, that a hole should have */
    kiln_tet_predicate may; /* tets that it may take or come near to; NULL: all */
    void *user;
    kiln_u32_array faces; /* of what a hole takes away */
    kiln_u32_array root;  /* [faces] union-find */
    KILN_ARRAY_OF(kiln_film_corner)
    corners;
} kiln_film_search;

void kiln_film_search_free(kiln_film_search *search);
void kiln_film_free(kiln_context *context, kiln_film *film);

/* The film behind a surface face where the matter has that depth (kiln_neck_depth, with the tet
 * half way in). */
kiln_status kiln_film_find(kiln_film_search *search, const kiln_mesh *mesh, uint32_t face,
                           double depth, uint32_t tet, kiln_film *film, bool *found,
                           kiln_error *error);

/* How a hole opens. */
typedef struct kiln_film_hole {
    double quality; /* no tet comes out worse, unless it was */
    int32_t tag;    /* of the rim */
    /* The part of a way that a vertex may go; NULL: all of it. */
    kiln_vec3 (*may_go)(const void *user, uint32_t vertex, kiln_vec3 way);
    const void *user;
} kiln_film_hole;

/* Takes the tets away, rounds the rim, and thickens the film about it by what they had of room. In
 * a pass; transfer then gives what they had to their neighbours. All or nothing. */
kiln_verdict kiln_film_open(kiln_txn *txn, const kiln_film *film, const kiln_film_hole *how);

#endif

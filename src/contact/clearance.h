/* Do surfaces that were remeshed keep out of each other? Remeshing moves surfaces by what its
 * tolerance allows; where two are close that can be too much. */
#ifndef KILN_CONTACT_CLEARANCE_H
#define KILN_CONTACT_CLEARANCE_H

#include "contact/pair_table.h"
#include "contact/walls.h"
#include "mesh/mesh.h"

#define KILN_SINCE_EVER UINT32_MAX

typedef struct kiln_clearance {
    size_t pairs;     /* of faces that cross, by exact signs, or are nearer than the gap */
    uint32_t face[2]; /* the first of them, records of the mesh */
} kiln_clearance;

/* Boxes of such faces. */
typedef KILN_ARRAY_OF(kiln_box)
kiln_crossings;

/* What is asked for. */
typedef struct kiln_clearance_rules {
    uint32_t since; /* of faces of tets made after the mesh's clock was that (KILN_SINCE_EVER: all)
                       against all faces, */
    const uint8_t *made;          /* [tet] or of these; NULL: by the clock */
    const kiln_pair_table *table; /* of bodies that meet (NULL: all) */
    double gap;                   /* m, 0 allowed; of faces without a common vertex */
    const double *clearance; /* [body] m, beside the gap: of two bodies the mean, before a wall half
                                of it; NULL: none */
    bool between;            /* of two bodies only: a thin one is no fault */
    bool within;             /* of one body only: others are not in its way */
    bool at_begin;           /* walls are where they were at the begin of the step */
    /* Whether that was a triangle of the surface `before`; NULL: not known. Two that were are no
     * fault of what was done since, however near they are: surfaces that are pressed together come
     * nearer than any gap, and tets behind them may change. */
    bool (*stood)(const void *before, const kiln_vec3 p[3]);
    const void *before;
    kiln_crossings *where; /* gets one for each face of a pair; NULL: nobody asks */
} kiln_clearance_rules;

/* In world space. */
kiln_status kiln_contact_clearance(const kiln_mesh *mesh, const kiln_clearance_rules *rules,
                                   kiln_clearance *out, kiln_error *error);

/* The same against walls as they are at the end of a step, or at its begin; face[1] is one of
 * theirs. Walls that a body is in as a whole are not noticed. */
kiln_status kiln_wall_clearance(const kiln_mesh *mesh, const kiln_clearance_rules *rules,
                                const kiln_walls *walls, kiln_clearance *out, kiln_error *error);

#endif

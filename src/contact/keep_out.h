/* Remeshing that keeps out of what is pressed against: a new triangle of a surface comes no nearer
 * to walls and other bodies than the old ones were, or than a part of the thickness. What is flat
 * in the material may be dented in the world, and a flip or a contraction there would cut through
 * the dent. Bodies are taken as they were when the pass began, so that two that change at the same
 * place are still to be looked at afterwards (contact/clearance.h). */
#ifndef KILN_CONTACT_KEEP_OUT_H
#define KILN_CONTACT_KEEP_OUT_H

#include "contact/clearance.h"
#include "contact/pair_table.h"
#include "contact/walls.h"
#include "geom/bvh.h"
#include "mesh/mesh.h"
#include "remesh/remesher.h"

typedef struct kiln_keep_out_rules {
    const kiln_walls *walls;      /* NULL: none */
    bool at_begin;                /* where they were at the begin of the step, not at its end */
    bool bodies;                  /* and other bodies */
    bool self;                    /* and what is not next to it of its own body, as far as
                                     nothing goes through that: it may be as near as it likes */
    const kiln_pair_table *table; /* of those that meet; NULL: all */
    double gap;                   /* m, positive: what is farther away does not matter */
} kiln_keep_out_rules;

/* A triangle that is kept out of. */
typedef struct kiln_guarded {
    kiln_vec3 p[3];
    uint32_t body, obstacle; /* one of them is KILN_NONE */
} kiln_guarded;

/* Zero-initialise. */
typedef struct kiln_keep_out {
    const kiln_mesh *mesh; /* borrowed */
    kiln_keep_out_rules rules;
    KILN_ARRAY_OF(kiln_guarded)
    triangles;
    kiln_bvh tree;
    kiln_crossings shut;      /* no surface changes in these; the caller's, freed with the rest */
    kiln_surface_guard guard; /* for remeshing; valid where the guard stays */
} kiln_keep_out;

/* Of the mesh as it is now. */
kiln_status kiln_keep_out_begin(kiln_keep_out *guard, const kiln_mesh *mesh,
                                const kiln_keep_out_rules *rules, kiln_error *error);
/* Whether that was a triangle of a body's surface then (clearance.h, stood). */
bool kiln_keep_out_stood(const void *guard, const kiln_vec3 p[3]);
void kiln_keep_out_end(kiln_keep_out *guard);

#endif

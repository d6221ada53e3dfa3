/* Remeshing judged by the energy of the step itself (Ferguson, Schneider, Kaufman and Panozzo 2023,
 * "In-Timestep Remeshing", ITR).
 *
 * The step minimises an objective over places; here the mesh is one more unknown. A change of it is
 * made in a transaction, what is round it finds its new rest on a patch (patch.h), and the change
 * stays if the objective has fallen by more than a split is worth, or risen by less than a collapse
 * may cost. Tolerances are energies, J: the objective is the paper's over alpha h^2.
 *
 *   E1  Every change that stays lowers the objective by more than `split`, or is a collapse and
 *       raises it by no more than `collapse`. What is rejected leaves every bit.
 *   E2  No tet is inverted, in the material, at the begin or at the end of the step.
 *   E3  The order is that of predicted gains, ties by number; threads change nothing.
 *
 * Which edges are worth a trial is predicted for nothing (design, contact-algorithms 6): with the
 * new vertex's way off the middle y as the only unknown, the gain is g' H^-1 g / 2, where g and H
 * are made of what the tets round the edge have anyhow. */
#ifndef KILN_STEP_ENERGY_REMESH_H
#define KILN_STEP_ENERGY_REMESH_H

#include "remesh/remesher.h"
#include "step/patch.h"

typedef struct kiln_energy_options {
    double split, collapse; /* J */
    double quality;         /* no tet is made worse than this, or than what goes for it */
    double finest;          /* m, no edge is split that is shorter than twice this */
    size_t most_tets;       /* 0: any number */
    int depth;              /* splits of what splits made, in one call */
    double share; /* of the edges: so many changes of a kind are tried at most, the best first; 0:
                     any */
    double mark;  /* splits that promise less than this part of the best one made wait for the next
                     call; 0: none do */
    double tolerance;  /* m, of places */
    const char *sizes; /* vertex field, m: no edge is collapsed that is longer at either end; NULL:
                          none is */
    double *lost; /* J, [part]: gets what is stored less at the step's begin; NULL: nobody asks */
    /* After all changes the begin is set right at what they have made or moved (energy_settle.c).
     * That is no change of the mesh: what the step minimises is another by it, and gains are those
     * before. */
    bool settles;
} kiln_energy_options;

typedef struct kiln_energy_count {
    uint64_t trials, taken;
    double gained;  /* J */
    double seconds; /* of the wall clock */
} kiln_energy_count;

typedef struct kiln_energy_report {
    kiln_energy_count splits, flips, moves, collapses;
    uint64_t faces;   /* of the flips, those that removed faces */
    double predicted; /* J, of the splits that were taken */
} kiln_energy_report;

/* What has been tried in vain, rule none: splits (tet, 6 doubles, by edge), moves and collapses
 * (vertex, 2) and flips (tet, 4). Optional. */
#define KILN_FIELD_VAIN   "step_vain"
#define KILN_FIELD_STILL  "step_still"
#define KILN_FIELD_NEEDED "step_needed"
#define KILN_FIELD_FLAT   "step_flat"
/* Vertex, 3 doubles, rule none: m by which vertices that were made or moved have been set off where
 * they were on the mesh before, at the step's begin. What is remembered of earlier places is to be
 * set off alike. Optional. */
#define KILN_FIELD_SETTLED "step_settled"

/* Splits, flips, moves of vertices and collapses, once each, in a pass of the remesher. The mesh
 * has the fields of patch.h. */
kiln_status kiln_energy_remesh(kiln_remesher *remesher, kiln_local_objective *objective,
                               const kiln_energy_options *options, kiln_energy_report *report,
                               kiln_error *error);

/* What a vertex in the middle of an edge would gain, J, if only it moved. */
double kiln_energy_predict(const kiln_local_objective *objective, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b);

#endif

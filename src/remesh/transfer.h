/* Fields over to a changed mesh, each by its rule (mesh/field.h).
 *
 * At the end of a pass the archive still holds the mesh as it was. Tets that are as they were, and
 * vertices that did not move, keep their values bit for bit; the cost follows what changed. A new
 * or moved vertex takes its values from the old tet that held its place, extrapolated from the
 * closest one outside (kiln_begin_tame where that would magnify errors). A new tet gathers from the
 * removed tets it overlaps, by exact clipping, only of its own region, body and neighbourhood:
 * changed tets that hang together through vertices. A new tet in the place of an old one keeps all
 * its values.
 *
 *   interpolate  vertex: linear in the old tet; tet: the old one that holds the centroid
 *   average      mean of the sources by overlap volume (vertex: linear)
 *   conserve     E'_j = sum_i E_i V_ij / sum_k V_ik; a source without overlap gives all to the
 *                nearest target, a target without overlap takes part in the nearest source by its
 *                volume. Vertex: a vertex that went or moved gives its amount to the corners of the
 *                new tet that holds its old place, by their weights.
 *   momentum     vertex: linear, then corrected so that of each group of changed tets that hang
 *                together, and so of each part, sum m v is kept and, for three components, sum x x
 *                m v in the world, and no part has more energy (transfer_momentum.c, _motion.c; m
 *                the consistent mass); tet: mean of the sources by the mass that comes from them
 *   spd-log      exponential of the mean of logarithms
 *   project      vertex: L2 projection of the old field (transfer_project.c); tet: average
 *   inherit      bits that all sources have
 *   copy         value of the heaviest source
 *   direct, recompute, none: left as the operators made them
 *
 * Fields of other types than double are copied from the heaviest source under the first seven.
 * Fields of surface faces stay as the operators handed them on. */
#ifndef KILN_REMESH_TRANSFER_H
#define KILN_REMESH_TRANSFER_H

#include "mesh/txn.h"

/* Two bodies that became one in the pass. */
typedef struct kiln_merged_body {
    uint32_t from, into;
} kiln_merged_body;

typedef struct kiln_transfer_options {
    /* Tet field of doubles: kg of each tet (conserve), or kg/m^3. Momentum and projection weigh
     * with it. NULL or absent: density 1. `mass` goes before `density`. Its centre and inertia in
     * the world are kept with it (transfer_balance.c), by changes of up to a fifth of the masses in
     * the field `even` (conserve; NULL or absent: of what they are, and changes may add up). */
    const char *mass, *density, *even;
    /* Where the correction of the momentum field `velocity` goes: to the vertex field `impulse` of
     * three doubles (kg m/s, added to what is there), a force for the next step to apply (SLI
     * eq. 16). NULL or absent: velocities are corrected at once. */
    const char *velocity, *impulse;
    /* Vertex field of three doubles with the rule project that holds positions: no tet that
     * interpolation leaves positive is inverted by the projection. NULL: none. */
    const char *positions;
    /* J, [part], not negative: energy of another kind that the changes have taken, and the vertex
     * fields of the rule momentum, velocities of three components, that are to have it, as far as
     * parts move (transfer_motion.c). NULL: none. Borrowed. */
    const double *lost;
    const char *quickened[2];
    /* Bodies exchange nothing, even where they coincide in material space; a merge in the pass has
     * to be declared. Borrowed. */
    const kiln_merged_body *merged;
    size_t merged_count;
} kiln_transfer_options;

typedef struct kiln_region_change {
    int32_t region;
    double before, after; /* volume of the changed tets in the space of the transfer */
} kiln_region_change;

typedef struct kiln_transfer_report {
    size_t sources, targets; /* tets that went, tets that came */
    size_t vertices;         /* new or moved */
    size_t outside;          /* of them outside the old mesh */
    size_t visits;           /* tets visited to find their places */
    size_t candidates;       /* pairs of tets that were clipped */
    size_t pairs;            /* of them overlapping */
    size_t kept;             /* new tets in the place of an old one */
    size_t stray_sources;    /* gave to the nearest target */
    size_t stray_targets;    /* took part in the nearest source */
    size_t lost_sources;     /* no target: their amounts left the mesh */
    size_t unbalanced;       /* groups whose centre of mass could not be kept */
    uint32_t project_iterations;
    size_t held; /* vertices that keep interpolated positions, so that no tet is inverted */
    KILN_ARRAY_OF(kiln_region_change)
    regions; /* in order of number */
} kiln_transfer_report;

void kiln_transfer_report_free(kiln_context *context, kiln_transfer_report *report);

/* At the end of a pass: the archive is active, no transaction is open. One transaction by itself;
 * on failure nothing was changed. `options` and `report` may be NULL; the report is overwritten. */
kiln_status kiln_transfer(kiln_mesh *mesh, const kiln_transfer_options *options,
                          kiln_transfer_report *report, kiln_error *error);

/* All of one mesh to another (whole-domain remesh, merging), overlaps and places in `space`.
 * Fields that `to` does not have are added to it; those it has must be of the same shape.
 * Bodies are not compared. Where sources overlap each other, extensive amounts add up and vertices
 * take the mean of two parts. Amounts that are nowhere negative keep their density where a surface
 * has moved a little; totals are kept in each part (transfer_amounts.c). Outside, vertices take the
 * values of the nearest surface point (VPF 4.3). A surface face takes from the nearest old one:
 * amounts of conserve fields go from each old face to its nearest new one. `from` is not changed;
 * in a pass its begin counts. `to` must not be in a pass. */
kiln_status kiln_transfer_between(const kiln_mesh *from, kiln_mesh *to, kiln_space space,
                                  const kiln_transfer_options *options,
                                  kiln_transfer_report *report, kiln_error *error);

#endif

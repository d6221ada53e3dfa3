/* Size control: before improvement, edges that are too long in the metric are split and edges that
 * are too short contracted (DLR 4.6). It may lower quality, for improvement to raise again, but it
 * inverts nothing and makes no edge beyond the other bound.
 *
 * So that splits and contractions do not undo each other:
 *   S1  splits above `longest`, makes no edge below `split_floor` (the halves of sqrt 2 are 0.707);
 *       contracts below `shortest`, makes no edge above `contract_ceiling` < longest
 *   S2  a vertex made in a call is not contracted in it
 *   S3  lengths are those of the begin-of-pass metric, which does not change
 *   S4  a few sweeps, fewer when little is left
 *   S5  quality operators refuse edges outside remesh options' edge_limit unless the old were so */
#ifndef KILN_REMESH_SIZE_CONTROL_H
#define KILN_REMESH_SIZE_CONTROL_H

#include "remesh/remesher.h"

typedef struct kiln_size_options {
    double longest, shortest;             /* in the metric: sqrt 2, 1 / sqrt 2 */
    double split_floor, contract_ceiling; /* 0.70, 1.3 */
    double worst;    /* new tets at least this good, or no worse than the old: 0.05 */
    uint32_t sweeps; /* 3 */
    double enough;   /* part of the edges that may stay outside the bounds: 0.01 */
    double surface;  /* contractions on the surface: alpha - beta Q at least this (DLR 4.4): 0.15 */
    double flowed;   /* only edges whose ends have flowed by this (remesh options): 0, all */
    size_t most_tets; /* no splits beyond this many; 0: no limit */
    /* Vertex field of two uint32 (rule none): calls for which an edge that could not be contracted,
     * or split, is left alone, so that steps of a run do not try the same in vain. New vertices are
     * at 0, and an edge waits only while both its ends do. NULL: none. */
    const char *wait;
    const char *tried; /* vertex field (remesh/tried.h): what it says is left alone. NULL: none */
    /* [vertex slot of the begin] As in improve options: edges that are a little too short, and will
     * be no more than that, are not contracted yet. NULL: all are. */
    const kiln_vec3 *way;
    uint32_t ways;
} kiln_size_options;

/* Whether an edge of that length in the metric, which is less than the shortest, may wait. */
bool kiln_size_may_wait(const kiln_mesh *mesh, const kiln_size_options *options, uint32_t a,
                        uint32_t b, double length);

kiln_size_options kiln_size_default_options(void);
/* The field `wait`, or NULL; one call less to wait for every vertex that does. */
typedef enum kiln_size_change { KILN_SIZE_CONTRACT, KILN_SIZE_SPLIT } kiln_size_change;
typedef uint32_t kiln_size_wait[2]; /* [kiln_size_change] */
enum { KILN_SIZE_WAIT = 8 };        /* calls; what it is after the call that failed */
kiln_size_wait *kiln_size_waits(const kiln_mesh *mesh, const kiln_size_options *options);
void kiln_size_pass_time(kiln_mesh *mesh, const kiln_size_options *options);

/* Edges of the mesh in the metric, in classes of length. */
typedef struct kiln_edge_survey {
    size_t edges, too_long, too_short; /* against longest and shortest of the options */
    size_t fitting;                    /* within 0.6 and 1.7 */
    double least, most, mean;          /* lengths; the mean is geometric */
} kiln_edge_survey;

typedef struct kiln_size_report {
    size_t splits, contractions;
    size_t removals; /* of long edges that could not be split */
    size_t split_attempts, contract_attempts;
    uint32_t sweeps;
    double edges; /* of the mesh afterwards, by Euler's formula for a ball */
} kiln_size_report;

/* The remesher must have a sizing field. `options` NULL: the defaults; `report` may be NULL. */
kiln_status kiln_size_control(kiln_remesher *remesher, const kiln_size_options *options,
                              kiln_size_report *report, kiln_error *error);

void kiln_size_survey(const kiln_remesher *remesher, const kiln_size_options *options,
                      kiln_edge_survey *survey);

#endif

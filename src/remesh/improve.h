/* Drivers: which tets are improved, in which order, and when it is enough.
 *
 * dynamic_improve repairs: it acts on tets below a goal and changes as little as it can (DLR
 * Listing 1). improve_mesh pushes the whole mesh as high as it will go. Both only improve: the
 * sorted qualities of the mesh, worst first, are never less afterwards. */
#ifndef KILN_REMESH_IMPROVE_H
#define KILN_REMESH_IMPROVE_H

#include "remesh/remesher.h"

typedef struct kiln_improve_progress {
    const char *stage;
    uint32_t round;
    size_t tets, left; /* live tets; dynamic_improve: bad ones still to be looked at */
    double worst,
        mean; /* improve_mesh: now, the mean that of min(q, 0.7); else worst at the begin */
} kiln_improve_progress;

typedef struct kiln_improve_options {
    double goal;     /* of dynamic_improve; improve_mesh stops when all tets have it */
    double asked;    /* what the caller promised, where the goal is above it; for the report */
    uint32_t rounds; /* of one tet's repair in dynamic_improve */
    size_t spread;   /* a repair that has touched more tets gives up; 0: no limit */
    /* In the steps of a run, and of measures that do not end by themselves. Attempts of operators,
     * weighed by what they cost, after which no further tet is tried, worst tets first; 0: no
     * limit. */
    uint64_t effort;
    /* Tet field (remesh/vain.h): tets that it says are hopeless are left alone, those that stay bad
     * are noted in it. NULL: none. */
    const char *vain;
    /* Of what a tet lacks to the goal, the part that its repair makes up for at least, or it is
     * taken back; 0: any gain is kept. */
    double worth;
    /* Dynamic_improve: a repair that leaves the surface as it is comes first, for surfaces that
     * pull: every change of their shape is a push. */
    bool inside_first;
    /* [vertex slot of the begin] What each is about to go by in the world, before anything can be
     * changed again in peace: tets that stay as good as was asked for on that way need no repair
     * yet, though they are below the goal. NULL: all below the goal are repaired. */
    const kiln_vec3 *way;
    uint32_t ways;
    const char *tried; /* vertex field (remesh/tried.h): what it says is left alone. NULL: none */
    /* Called now and then; false stops the driver between two changes. May be NULL. */
    bool (*progress)(void *user, const kiln_improve_progress *progress);
    void *user;
} kiln_improve_options;

kiln_improve_options kiln_improve_default_options(void);

/* Whether a tet with that score may wait. */
bool kiln_improve_may_wait(const kiln_mesh *mesh, const kiln_improve_options *options, uint32_t tet,
                           double score);

typedef struct kiln_improve_report {
    size_t tets_before, tets_after;
    double worst_before, worst_after; /* in the remesher's measure, space and metric */
    double mean_before, mean_after;
    size_t bad_before, bad_after;     /* tets below the goal */
    size_t short_before, short_after; /* and below what was asked for */
    size_t changed;                   /* tets of the begin that are no longer there as they were */
    kiln_operator_count count[KILN_OP_COUNT];
    uint64_t effort; /* kiln_remesher_effort */
    bool stopped;    /* by progress */
    bool rests;      /* the whole mesh: nothing was to be gained, and nothing is changed */
    bool outgrown;   /* dynamic_improve: it ended because the goal asks for too many tets */
} kiln_improve_report;

/* KILN_ERR_MEMORY leaves a valid mesh, improved as far as it came. */
kiln_status kiln_dynamic_improve(kiln_remesher *remesher, const kiln_improve_options *options,
                                 kiln_improve_report *report, kiln_error *error);
kiln_status kiln_improve_mesh(kiln_remesher *remesher, const kiln_improve_options *options,
                              kiln_improve_report *report, kiln_error *error);

/* Whether improve_mesh may be spared: the tets are well shaped in the mean, and no operator by
 * itself has anything to gain. Changes the mesh; to be abandoned. */
bool kiln_improve_rests(kiln_remesher *remesher, const kiln_improve_options *options);

/* The figures of a report, for drivers. */
void kiln_improve_report_begin(const kiln_remesher *remesher, const kiln_improve_options *options,
                               kiln_improve_report *report);
kiln_status kiln_improve_report_end(const kiln_remesher *remesher,
                                    const kiln_improve_options *options,
                                    kiln_improve_report *report, kiln_error *error);

#endif

/* What must hold after every step in which bodies meet: no surface in another one, by exact signs,
 * no distance that vanishes, no energy from nothing. All pairs of triangles of what the run wrote:
 * nothing of what the step uses to find its own. */
#ifndef KILN_VALIDATION_WATCH_H
#define KILN_VALIDATION_WATCH_H

#include "validation/trial.h"

enum { KILN_WATCHED_BODIES = 8 };

/* Of a trial whose bodies are neo-Hookean and have lumped masses. In SI and plain axes. */
typedef struct kiln_watch {
    double floor;       /* nothing may be below this height, m */
    kiln_vec3 gravity;  /* m/s^2 */
    size_t steps;       /* that were made */
    double time;        /* that was reached, s */
    size_t crossings;   /* pairs of triangles that cross or touch, vertices below the floor */
    double nearest;     /* least distance of two bodies, m */
    double weight;      /* of all bodies, N */
    double start;       /* energy at the begin, J */
    double above;       /* most of it above that, J */
    double least;       /* of it, J */
    double rise;        /* most of it above what was least before, J */
    kiln_vec3 momentum; /* of all bodies at the begin, kg m/s */
    double drift;       /* most change of it, kg m/s; NAN: something acts on them from outside */
    kiln_vec3 first[KILN_WATCHED_BODIES], last[KILN_WATCHED_BODIES]; /* centres of bodies */
    kiln_vec3 velocity[KILN_WATCHED_BODIES];                         /* of them at the end */
    double height[KILN_WATCHED_BODIES];                              /* from lowest to highest */
    /* What else is to be looked at after a step, in the units of the scene; NULL: nothing. */
    void (*step)(struct kiln_watch *watch, const kiln_stats *stats);
} kiln_watch;

/* Runs the trial; `floor` and `gravity` are given. One that gives up is not an error here: `time`
 * is less than its duration. */
kiln_status kiln_watch_run(kiln_watch *watch, kiln_trial *trial, kiln_error *error);

#endif

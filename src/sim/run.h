/* A run from its state to an end: steps, and the moments at which something is written. Writing is
 * by callbacks, so this layer knows no files. */
#ifndef KILN_SIM_RUN_H
#define KILN_SIM_RUN_H

#include "sim/world.h"

typedef struct kiln_run_output {
    void *self;
    kiln_status (*frame)(void *self, kiln_world *world, kiln_error *error);
    kiln_status (*stats)(void *self, const kiln_stats *stats, kiln_error *error);
    /* Of probes.csv, beside the row of statistics. */
    kiln_status (*probes)(void *self, kiln_world *world, const kiln_stats *stats,
                          kiln_error *error);
    kiln_status (*checkpoint)(void *self, kiln_world *world, kiln_error *error);
    /* After each step's row. */
    void (*progress)(void *self, const kiln_world *world, const kiln_stats *stats);
    /* Asked between steps; true: finish with a checkpoint (Ctrl-C). */
    bool (*stop)(void *self);
    bool audit; /* mesh audit after each step */
    /* The scene is another than that of the last checkpoint: one is written before anything else.
     */
    bool changed;
} kiln_run_output;

typedef enum kiln_run_end {
    KILN_RUN_DONE,
    KILN_RUN_STOPPED, /* asked to stop; checkpoint written */
    KILN_RUN_GAVE_UP  /* dt below its minimum; checkpoint written, diagnosis filled */
} kiln_run_end;

/* From the world's state to `until`. Steps meet the times of frames (multiples of the scene's
 * interval) and of holds and loads that begin or end, not those of checkpoints; the first and the
 * last state are frames too. A static scene has one equilibrium at each of these times, each from
 * the one before; in the first, loads and the ways of holds grow from nothing in load_steps parts
 * (a scene of no duration is this one alone). Nothing is done, and nothing written, when the time
 * has been reached already. When a callback fails the run ends with its error. */
kiln_status kiln_run(kiln_world *world, double until, const kiln_run_output *output,
                     kiln_run_end *end, kiln_diagnosis *diagnosis, kiln_error *error);

#endif

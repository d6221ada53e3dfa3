/* A scene of the gallery, run step by step in memory, and what it took: the figures of the papers
 * made again. */
#ifndef KILN_MEASURE_FIGURE_H
#define KILN_MEASURE_FIGURE_H

#include "sim/world.h"

typedef struct kiln_figure {
    const char *scene;   /* one of those in the program; files it names are looked for in scenes/ */
    const char *text;    /* Lua, in place of the program's; NULL: none */
    const char *path;    /* a file in place of both; NULL: none */
    const char *sets[4]; /* "name=value", NULL past the last */
    size_t most_steps;   /* ends the run early; 0: the scene's duration does */
    /* After each step; NULL: none. */
    void (*look)(void *user, kiln_world *world, const kiln_stats *stats);
    void *user;
} kiln_figure;

typedef struct kiln_figure_report {
    double tets_begin, tets_most, tets_end;
    double worst; /* q over all steps, in the space and metric of the mesher */
    size_t steps;
    /* Mean over the steps, s: the whole, its parts. */
    double step, solve, plastic, size, remesh, transfer;
} kiln_figure_report;

/* A run that gives up is an error with its diagnosis. `finish` (NULL: none) gets the world at the
 * end. */
kiln_status kiln_figure_run(kiln_context *context, const kiln_figure *figure,
                            kiln_figure_report *report,
                            kiln_status (*finish)(void *user, kiln_world *world, kiln_error *error),
                            kiln_error *error);

#endif

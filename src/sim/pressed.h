/* Sizes where surfaces are pressed by what is finer than their cells. A linear tet cannot dent by
 * less than itself, so a pin is felt as wide as the cells it is pressed into: they become as fine
 * as the pin is round. */
#ifndef KILN_SIM_PRESSED_H
#define KILN_SIM_PRESSED_H

#include "geom/sym3.h"
#include "sim/world_impl.h"

typedef struct kiln_pressed_rules {
    const double *start; /* [vertex] m in the world: no word where that is finer */
    double part;         /* of the radius of what presses: edges across it */
    double finest;       /* m, no finer than this */
    double ratio;        /* of sizes along and across, where it is straight */
    double leap;         /* length in the metric that edges which are too long are given at first */
} kiln_pressed_rules;

/* World metrics [vertex], all zero where nothing is asked for. *any: something is. */
void kiln_pressed_metrics(const kiln_world *world, const kiln_pressed_rules *rules, double *load,
                          kiln_sym3 *metric, bool *any);

#endif

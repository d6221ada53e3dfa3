/* What the rest shape of linear matter takes when it flows. */
#ifndef KILN_FEM_FLOW_LINEAR_H
#define KILN_FEM_FLOW_LINEAR_H

#include "geom/sym3.h"

#include <stdbool.h>

/* With F = A Pi, A the map from the material to the world and Pi the symmetric offset (offset.h),
 * Pi becomes Pi' with
 *     sym(A Pi') = sym(A Pi) + change + theta I
 * and the same volume, which gives theta: a change without trace leaves a pressure of the order of
 * its square, and a deviator that is exact. `shape` is Pi Pi' over the square of `size`. False,
 * with nothing changed, where there is no such offset: A turns or crushes too far for small strains
 * to mean anything. */
bool kiln_flow_linear_shape(const kiln_mat3 *A, const kiln_mat3 *Pi, const kiln_mat3 *change,
                            double size, kiln_sym3 *shape);

#endif

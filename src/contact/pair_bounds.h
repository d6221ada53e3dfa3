/* How near pairs are to each other, and how far their sides move against each other: many at once,
 * for searches that pass over most of them. */
#ifndef KILN_CONTACT_PAIR_BOUNDS_H
#define KILN_CONTACT_PAIR_BOUNDS_H

#include "base/simd.h"
#include "contact/surface_pairs.h"

/* Squared distances at x [row], those of kiln_triangle_distance2 and kiln_edges_distance2 bit for
 * bit, less `loss` times a square of the lengths involved. */
void kiln_pair_distances2(const kiln_context *context, const kiln_surface_pair *pairs, size_t count,
                          const kiln_vec3 *x, double loss, double *distance2);
/* With this loss they are no larger than the true ones. */
#define KILN_PAIR_LOSS 1e-12
/* The largest squared difference between the ways [row] of a vertex of one side and one of the
 * other. */
void kiln_pair_ways2(const kiln_context *context, const kiln_surface_pair *pairs, size_t count,
                     const kiln_vec3 *way, double *way2);

KILN_SIMD_DECLARE(void, kiln_pair_distances2, const kiln_surface_pair *pairs, size_t count,
                  const kiln_vec3 *x, double loss, double *distance2);
KILN_SIMD_DECLARE(void, kiln_pair_ways2, const kiln_surface_pair *pairs, size_t count,
                  const kiln_vec3 *way, double *way2);

#endif

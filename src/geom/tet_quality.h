/* How good a tet (a, b, c, d) is. Every measure is a pure number, independent of scale, position
 * and order of the vertices (up to the sign of the orientation): positive for a positive tet
 * (det(b-a, c-a, d-a) > 0), negative for an inverted one, and 0, never NaN, for a flat one,
 * coincident vertices included. Signs are those of the rounded volume; ask the exact predicate
 * where they decide. Edge lengths must lie within 1e-90 and 1e90. */
#ifndef KILN_GEOM_TET_QUALITY_H
#define KILN_GEOM_TET_QUALITY_H

#include "base/simd.h"
#include "geom/sym3.h"
#include "geom/vec3.h"
#include "kiln/kiln.h"

#include <stddef.h>
#include <stdint.h>

/* q = 6 sqrt(2) V l_harm / l_rms^4 (DLR eq. 6), with the harmonic mean 6 / sum(1 / l) and the root
 * mean square of the six edge lengths; 1 for the regular tet. */
double kiln_tet_quality(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                        const kiln_vec3 *d);

/* kiln_tet_quality(...) > threshold, to the bit, but cheaper: most refusals cost no root. */
bool kiln_tet_quality_above(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                            const kiln_vec3 *d, double threshold);

/* q in the metric M, symmetric positive definite: lengths sqrt(e'Me), volume times sqrt(det M). */
double kiln_tet_quality_metric(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                               const kiln_vec3 *d, const kiln_sym3 *metric);

/* 6 sqrt(2) V / l_rms^3; 1 for the regular tet. */
double kiln_tet_volume_length(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                              const kiln_vec3 *d);

/* Smallest sine of the six dihedral angles, with the sign of the volume; sqrt(8)/3 = 0.9428 for the
 * regular tet. */
double kiln_tet_min_sine(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                         const kiln_vec3 *d);

/* Dihedral angles in radians, within [0, pi] whatever the orientation, at the edges ab, ac, ad, bc,
 * bd, cd; 0 at an edge with a face that has no area. */
void kiln_tet_dihedrals(const kiln_vec3 *a, const kiln_vec3 *b, const kiln_vec3 *c,
                        const kiln_vec3 *d, double angles[6]);

/* kiln_tet_quality, kiln_tet_min_sine or kiln_tet_volume_length. */
double kiln_tet_measure(kiln_measure measure, const kiln_vec3 *a, const kiln_vec3 *b,
                        const kiln_vec3 *c, const kiln_vec3 *d);

/* q of `count` tets into quality[]. The four vertex indices of tet t are found `stride` bytes after
 * those of tet t - 1, beginning at `vertices`; tet i is ids[i], or i when ids is NULL. Within 4e-15
 * of kiln_tet_quality relative to 1; a tet's result does not depend on its place. */
void kiln_tet_quality_batch(kiln_isa isa, size_t count, const uint32_t *ids,
                            const uint32_t *vertices, size_t stride, const kiln_vec3 *positions,
                            double *quality);

KILN_SIMD_DECLARE(void, kiln_tet_quality_batch, size_t count, const uint32_t *ids,
                  const uint32_t *vertices, size_t stride, const kiln_vec3 *positions,
                  double *quality);

#endif

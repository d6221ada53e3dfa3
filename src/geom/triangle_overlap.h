/* How two closed triangles meet, decided by exact signs.
 *
 * "Inside" is the relative interior: the triangle without its edges. A flat triangle (its points on
 * a line) has none; it can only be disjoint or touch. */
#ifndef KILN_GEOM_TRIANGLE_OVERLAP_H
#define KILN_GEOM_TRIANGLE_OVERLAP_H

#include "geom/vec3.h"

#include <stdint.h>

typedef enum kiln_overlap {
    KILN_OVERLAP_DISJOINT, /* no common point */
    KILN_OVERLAP_TOUCH,    /* common points, but none inside both */
    KILN_OVERLAP_CROSS,    /* different planes, a segment of common points inside both */
    KILN_OVERLAP_COPLANAR  /* one plane, an area in common */
} kiln_overlap;

kiln_overlap kiln_triangle_overlap(const kiln_vec3 p[3], const kiln_vec3 q[3]);

/* The same for triangles of one mesh: vertices with equal ids are shared, and common points on the
 * shared vertex or edge do not count, so neighbours in a clean surface are DISJOINT. Flat triangles
 * that share vertices always TOUCH; the same triangle twice is COPLANAR. */
kiln_overlap kiln_triangle_overlap_shared(const kiln_vec3 p[3], const uint32_t p_ids[3],
                                          const kiln_vec3 q[3], const uint32_t q_ids[3]);

#endif

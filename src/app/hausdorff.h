/* How far two meshes' surfaces are apart. */
#ifndef KILN_APP_HAUSDORFF_H
#define KILN_APP_HAUSDORFF_H

#include "mesh/soup.h"

/* The larger of the two one-sided distances, from points on a lattice of every face (corners, edge
 * points, 15 a face) to the nearest point of the other surface. Both must have tets. */
kiln_status kiln_soup_hausdorff(const kiln_soup *a, const kiln_soup *b, double *out,
                                kiln_error *error);

#endif

/* Where a point is relative to a positive tet, exactly. */
#ifndef KILN_GEOM_TET_LOCATION_H
#define KILN_GEOM_TET_LOCATION_H

#include "geom/predicates.h"

typedef enum kiln_tet_place {
    KILN_TET_INSIDE,
    KILN_TET_ON_FACE, /* inside the face */
    KILN_TET_ON_EDGE, /* inside the edge */
    KILN_TET_ON_VERTEX,
    KILN_TET_OUTSIDE
} kiln_tet_place;

/* Bit i of `beyond`: the point is strictly outside the face opposite vertex i (a walk may go that
 * way). Bit i of `level`: it is in that face's plane. On a face the one level bit names the face;
 * on an edge the two clear ones name its ends; on a vertex the clear one names it. */
typedef struct kiln_tet_location {
    kiln_tet_place place;
    unsigned beyond, level;
} kiln_tet_location;

KILN_INLINE kiln_tet_location kiln_tet_locate(const kiln_vec3 tet[4], kiln_vec3 point)
{
    const int sides[4] = {kiln_orient3d_sign(point, tet[1], tet[2], tet[3]),
                          kiln_orient3d_sign(tet[0], point, tet[2], tet[3]),
                          kiln_orient3d_sign(tet[0], tet[1], point, tet[3]),
                          kiln_orient3d_sign(tet[0], tet[1], tet[2], point)};
    kiln_tet_location where = {KILN_TET_INSIDE, 0, 0};
    int zeros = 0;
    for (unsigned i = 0; i < 4; i++) {
        where.beyond |= (unsigned)(sides[i] < 0) << i;
        where.level |= (unsigned)(sides[i] == 0) << i;
        zeros += sides[i] == 0;
    }
    where.place = where.beyond ? KILN_TET_OUTSIDE : (kiln_tet_place)(KILN_TET_INSIDE + zeros);
    return where;
}

#endif

/* Axis-aligned boxes, closed: boxes that touch overlap. */
#ifndef KILN_GEOM_BOX_H
#define KILN_GEOM_BOX_H

#include "geom/vec3.h"

#include <stdbool.h>

typedef struct kiln_box {
    kiln_vec3 low, high;
} kiln_box;

/* Contains nothing; growing it by a point gives the point. */
KILN_INLINE kiln_box kiln_box_empty(void)
{
    return (kiln_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}
KILN_INLINE kiln_vec3 kiln_v3_min(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
KILN_INLINE kiln_vec3 kiln_v3_max(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}
KILN_INLINE kiln_box kiln_box_grow(kiln_box box, kiln_vec3 p)
{
    return (kiln_box){kiln_v3_min(box.low, p), kiln_v3_max(box.high, p)};
}
KILN_INLINE kiln_box kiln_box_of(const kiln_vec3 *points, int count)
{
    kiln_box box = {points[0], points[0]};
    for (int i = 1; i < count; i++)
        box = kiln_box_grow(box, points[i]);
    return box;
}
KILN_INLINE kiln_box kiln_box_join(kiln_box a, kiln_box b)
{
    return (kiln_box){kiln_v3_min(a.low, b.low), kiln_v3_max(a.high, b.high)};
}
KILN_INLINE bool kiln_box_overlap(kiln_box a, kiln_box b)
{
    return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y &&
           b.low.y <= a.high.y && a.low.z <= b.high.z && b.low.z <= a.high.z;
}

#endif

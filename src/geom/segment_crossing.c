#include "geom/segment_crossing.h"

int kiln_orient2d_along(int axis, kiln_vec3 a, kiln_vec3 b, kiln_vec3 c)
{
    double det = axis == 0   ? kiln_orient2d(a.y, a.z, b.y, b.z, c.y, c.z)
                 : axis == 1 ? kiln_orient2d(a.z, a.x, b.z, b.x, c.z, c.x)
                             : kiln_orient2d(a.x, a.y, b.x, b.y, c.x, c.y);
    return kiln_sign(det);
}

int kiln_triangle_axis(const kiln_vec3 triangle[3], int *turn)
{
    for (int axis = 0; axis < 3; axis++) {
        *turn = kiln_orient2d_along(axis, triangle[0], triangle[1], triangle[2]);
        if (*turn != 0)
            return axis;
    }
    return -1;
}

static bool ranges_meet(double a, double b, double c, double d)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return (low <= c || low <= d) && (high >= c || high >= d);
}

static bool boxes_meet(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    return ranges_meet(a.x, b.x, c.x, d.x) && ranges_meet(a.y, b.y, c.y, d.y) &&
           ranges_meet(a.z, b.z, c.z, d.z);
}

/* Four points in a plane and not on a line have three that are not on a line, and along some axis
 * neither are their projections: that projection is one to one on the plane, and the segments meet
 * when each has its ends on both sides of, or on, the other's line. On a line boxes decide. */
bool kiln_segments_meet(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    if (!boxes_meet(a, b, c, d) || kiln_orient3d_sign(a, b, c, d) != 0)
        return false;
    for (int axis = 0; axis < 3; axis++) {
        int abc = kiln_orient2d_along(axis, a, b, c), abd = kiln_orient2d_along(axis, a, b, d);
        int cda = kiln_orient2d_along(axis, c, d, a), cdb = kiln_orient2d_along(axis, c, d, b);
        if (abc != 0 || abd != 0 || cda != 0 || cdb != 0)
            return abc * abd <= 0 && cda * cdb <= 0;
    }
    return true;
}

/* Both in one plane, or the triangle flat: they meet on the rim, or p is inside. */
static bool meet_in_plane(kiln_vec3 p, kiln_vec3 q, const kiln_vec3 t[3])
{
    if (kiln_segments_meet(p, q, t[0], t[1]) || kiln_segments_meet(p, q, t[1], t[2]) ||
        kiln_segments_meet(p, q, t[2], t[0]))
        return true;
    int turn, axis = kiln_triangle_axis(t, &turn);
    return axis >= 0 && kiln_orient2d_along(axis, t[0], t[1], p) == turn &&
           kiln_orient2d_along(axis, t[1], t[2], p) == turn &&
           kiln_orient2d_along(axis, t[2], t[0], p) == turn;
}

kiln_crossing kiln_segment_cross_triangle(kiln_vec3 p, kiln_vec3 q, const kiln_vec3 t[3])
{
    kiln_crossing crossing = {KILN_CROSSING_NONE, {0, 0}, {0, 0, 0}};
    int sp = kiln_orient3d_sign(t[0], t[1], t[2], p), sq = kiln_orient3d_sign(t[0], t[1], t[2], q);
    crossing.end[0] = (int8_t)sp;
    crossing.end[1] = (int8_t)sq;
    if (sp * sq > 0)
        return crossing;
    if (sp == 0 && sq == 0) {
        if (meet_in_plane(p, q, t))
            crossing.kind = KILN_CROSSING_COPLANAR;
        return crossing;
    }
    int upward = sq > sp ? 1 : -1, low = 1;
    for (int i = 0; i < 3; i++) {
        int side = upward * kiln_orient3d_sign(p, q, t[(i + 1) % 3], t[(i + 2) % 3]);
        crossing.edge[i] = (int8_t)side;
        low = side < low ? side : low;
    }
    if (low > 0 && sp * sq < 0)
        crossing.kind = KILN_CROSSING_PROPER;
    else if (low >= 0)
        crossing.kind = KILN_CROSSING_TOUCH;
    return crossing;
}

#include "step/tie.h"

#include <math.h>

/* Axes come from holds by orthogonalisation: those of one hold differ by rounding. */
#define AXIS_SLACK 1e-12
#define SAME_AXIS  1e-9

/* The world's axis that it is, -1: none. */
static int world_axis(kiln_vec3 direction)
{
    const double along[3] = {fabs(direction.x), fabs(direction.y), fabs(direction.z)};
    for (int c = 0; c < 3; c++)
        if (along[c] >= 1.0 - AXIS_SLACK)
            return c;
    return -1;
}

static kiln_tie along(kiln_vec3 axis)
{
    int c = world_axis(axis);
    return c < 0 ? (kiln_tie){KILN_TIE_ALONG, axis} : (kiln_tie){.bits = 1u << c};
}

static kiln_tie across(kiln_vec3 axis)
{
    int c = world_axis(axis);
    return c < 0 ? (kiln_tie){KILN_TIE_ACROSS, axis}
                 : (kiln_tie){.bits = KILN_TIE_ALL & ~(1u << c)};
}

kiln_tie kiln_tie_of(const kiln_vec3 *direction, int count)
{
    switch (count) {
    case 0:
        return (kiln_tie){.bits = 0};
    case 1:
        return along(direction[0]);
    case 2:
        return across(kiln_v3_normalize(kiln_v3_cross(direction[0], direction[1])));
    default:
        return (kiln_tie){.bits = KILN_TIE_ALL};
    }
}

/* As many directions as are held, and the axis they are along or across. */
static int dimension(kiln_tie tie, kiln_vec3 *axis)
{
    static const int count[8] = {0, 1, 1, 2, 1, 2, 2, 3};
    const kiln_vec3 world[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    *axis = tie.axis;
    if (tie.bits > KILN_TIE_ALL)
        return tie.bits == KILN_TIE_ALONG ? 1 : 2;
    uint32_t single = count[tie.bits] == 1 ? tie.bits : KILN_TIE_ALL & ~tie.bits;
    *axis = world[single == 1 ? 0 : single == 2 ? 1 : 2];
    return count[tie.bits];
}

static bool is_parallel(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3_norm(kiln_v3_cross(a, b)) <= SAME_AXIS;
}

kiln_tie kiln_tie_common(kiln_tie a, kiln_tie b)
{
    kiln_vec3 u, v;
    if (a.bits <= KILN_TIE_ALL && b.bits <= KILN_TIE_ALL)
        return (kiln_tie){.bits = a.bits & b.bits};
    int i = dimension(a, &u), j = dimension(b, &v);
    if (i == 3 || j == 3)
        return i == 3 ? b : a;
    if (i == 2 && j == 2)
        return is_parallel(u, v) ? a : along(kiln_v3_normalize(kiln_v3_cross(u, v)));
    if (i == 1 && j == 1)
        return is_parallel(u, v) ? a : (kiln_tie){.bits = 0};
    if (i == 0 || j == 0 || fabs(kiln_v3_dot(u, v)) > SAME_AXIS)
        return (kiln_tie){.bits = 0};
    return i == 1 ? a : b;
}

bool kiln_tie_is_same(kiln_tie a, kiln_tie b)
{
    return a.bits == b.bits && (a.bits <= KILN_TIE_ALL || is_parallel(a.axis, b.axis));
}

kiln_mat3 kiln_tie_free(kiln_tie tie)
{
    const double n[3] = {tie.axis.x, tie.axis.y, tie.axis.z};
    kiln_mat3 free = kiln_m3_diagonal(!(tie.bits & 1), !(tie.bits & 2), !(tie.bits & 4));
    double sign = tie.bits == KILN_TIE_ALONG ? -1.0 : 1.0;
    for (int i = 0; i < 3 && tie.bits > KILN_TIE_ALL; i++)
        for (int j = 0; j < 3; j++)
            free.m[i][j] = (sign < 0.0 && i == j ? 1.0 : 0.0) + sign * n[i] * n[j];
    return free;
}

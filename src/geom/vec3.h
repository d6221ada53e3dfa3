/* 3-vectors and 3x3 matrices. Matrices are row-major: m[row][column]. Tets (a,b,c,d) are positive
 * when det(b-a, c-a, d-a) > 0. */
#ifndef KILN_GEOM_VEC3_H
#define KILN_GEOM_VEC3_H

#include "base/platform.h"

#include <math.h>

#define KILN_PI 3.14159265358979323846

typedef struct kiln_vec3 {
    double x, y, z;
} kiln_vec3;

typedef struct kiln_mat3 {
    double m[3][3];
} kiln_mat3;

KILN_INLINE kiln_vec3 kiln_v3(double x, double y, double z)
{
    return (kiln_vec3){x, y, z};
}
KILN_INLINE kiln_vec3 kiln_v3_add(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
KILN_INLINE kiln_vec3 kiln_v3_sub(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
KILN_INLINE kiln_vec3 kiln_v3_scale(kiln_vec3 a, double s)
{
    return kiln_v3(a.x * s, a.y * s, a.z * s);
}
/* a + s b */
KILN_INLINE kiln_vec3 kiln_v3_madd(kiln_vec3 a, double s, kiln_vec3 b)
{
    return kiln_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
/* (1-t) a + t b */
KILN_INLINE kiln_vec3 kiln_v3_lerp(kiln_vec3 a, kiln_vec3 b, double t)
{
    return kiln_v3((1 - t) * a.x + t * b.x, (1 - t) * a.y + t * b.y, (1 - t) * a.z + t * b.z);
}
KILN_INLINE double kiln_v3_dot(kiln_vec3 a, kiln_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
KILN_INLINE kiln_vec3 kiln_v3_cross(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
KILN_INLINE double kiln_v3_norm2(kiln_vec3 a)
{
    return kiln_v3_dot(a, a);
}
KILN_INLINE double kiln_v3_norm(kiln_vec3 a)
{
    return sqrt(kiln_v3_norm2(a));
}
/* Zero stays zero. */
KILN_INLINE kiln_vec3 kiln_v3_normalize(kiln_vec3 a)
{
    double n = kiln_v3_norm(a);
    return n > 0.0 ? kiln_v3_scale(a, 1.0 / n) : a;
}
/* a . (b x c) */
KILN_INLINE double kiln_v3_triple(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c)
{
    return kiln_v3_dot(a, kiln_v3_cross(b, c));
}
/* Signed volume of the tet, rounded; use the exact predicate for signs. */
KILN_INLINE double kiln_tet_volume(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c, kiln_vec3 d)
{
    return kiln_v3_triple(kiln_v3_sub(b, a), kiln_v3_sub(c, a), kiln_v3_sub(d, a)) / 6.0;
}
KILN_INLINE int kiln_v3_finite(kiln_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

KILN_INLINE kiln_mat3 kiln_m3_identity(void)
{
    return (kiln_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
}
KILN_INLINE kiln_mat3 kiln_m3_diagonal(double a, double b, double c)
{
    return (kiln_mat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
}
/* Columns a, b, c. */
KILN_INLINE kiln_mat3 kiln_m3_columns(kiln_vec3 a, kiln_vec3 b, kiln_vec3 c)
{
    return (kiln_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}
KILN_INLINE kiln_mat3 kiln_m3_transpose(kiln_mat3 a)
{
    kiln_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r.m[i][j] = a.m[j][i];
    return r;
}
KILN_INLINE kiln_mat3 kiln_m3_mul(kiln_mat3 a, kiln_mat3 b)
{
    kiln_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return r;
}
KILN_INLINE kiln_mat3 kiln_m3_add(kiln_mat3 a, kiln_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] += b.m[i][j];
    return a;
}
KILN_INLINE kiln_mat3 kiln_m3_scale(kiln_mat3 a, double s)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] *= s;
    return a;
}
KILN_INLINE kiln_vec3 kiln_m3_apply(kiln_mat3 a, kiln_vec3 v)
{
    return kiln_v3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                   a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                   a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}
KILN_INLINE double kiln_m3_det(kiln_mat3 a)
{
    return a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
           a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
           a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}
/* det(a) must not be zero. */
KILN_INLINE kiln_mat3 kiln_m3_inverse(kiln_mat3 a)
{
    double s = 1.0 / kiln_m3_det(a);
    kiln_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int p = (j + 1) % 3, q = (j + 2) % 3, u = (i + 1) % 3, v = (i + 2) % 3;
            r.m[i][j] = s * (a.m[p][u] * a.m[q][v] - a.m[p][v] * a.m[q][u]);
        }
    return r;
}
/* By `angle` (rad) about `axis`, of any length but zero, by the right hand (Rodrigues). */
KILN_INLINE kiln_mat3 kiln_m3_rotation(kiln_vec3 axis, double angle)
{
    kiln_vec3 n = kiln_v3_normalize(axis);
    double c = cos(angle), s = sin(angle), d = 1.0 - c;
    return (kiln_mat3){{{c + d * n.x * n.x, d * n.x * n.y - s * n.z, d * n.x * n.z + s * n.y},
                        {d * n.y * n.x + s * n.z, c + d * n.y * n.y, d * n.y * n.z - s * n.x},
                        {d * n.z * n.x - s * n.y, d * n.z * n.y + s * n.x, c + d * n.z * n.z}}};
}
KILN_INLINE double kiln_m3_norm2(kiln_mat3 a)
{
    double s = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            s += a.m[i][j] * a.m[i][j];
    return s;
}

#endif

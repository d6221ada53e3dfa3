/* The signed SVD of a vector of 3x3 matrices, for use inside *_simd.c files: A = U diag(s) V' lane
 * by lane. Contract as kiln_svd3_decompose (svd3.h), where the method is told. No lane looks at
 * another, so the result of a matrix does not depend on its place in a batch.
 *
 * A chain of rotations is bound by latency: the state holds KILN_SVD3_BATCHES independent vectors
 * and every step is written for all of them, so that they overlap. */
#ifndef KILN_GEOM_SVD3_VD_H
#define KILN_GEOM_SVD3_VD_H

#include "base/simd.h"

enum { KILN_SVD3_BATCHES = 2, KILN_SVD3_SWEEPS = 4 };

typedef struct kiln_svd3_vd {
    kiln_vd u[3][3], v[3][3]; /* [row][column] */
    kiln_vd s[3];
} kiln_svd3_vd;

/* Unit vector (c, s) at half the angle of (x, y), |angle| < pi/2 taken from (|x|, y sign x); the
 * length of (x, y) in *length. The offset of |x| turns (0, 0) into angle 0; it is far below what
 * counts beside a matrix of norm one, and keeps every product normal (denormals are slow). */
KILN_INLINE void kiln_svd3_half(kiln_vd x, kiln_vd y, kiln_vd *c, kiln_vd *s, kiln_vd *length)
{
    kiln_vd ax = kiln_vd_abs(x) + 0x1p-490;
    kiln_vd h2 = kiln_vd_fma(ax, ax, y * y);
    kiln_vd h = h2 * kiln_vd_rsqrt(h2);
    kiln_vd a = ax + h;
    kiln_vd r = kiln_vd_rsqrt(kiln_vd_fma(a, a, y * y));
    *c = a * r;
    *s = kiln_vd_mulsign(y * r, x);
    *length = h;
}

/* Jacobi rotation of the columns p and q of V that makes S[p][q] zero. S holds its upper triangle:
 * d[3] the diagonal, o[k] the entry of the pair without k. */
KILN_INLINE void kiln_svd3_rotate(kiln_vd d[3], kiln_vd o[3], kiln_vd v[3][3], int p, int q)
{
    int k = 3 - p - q;
    kiln_vd y = o[k] + o[k];
    y = (kiln_vd)((kiln_vi)y & (kiln_vd_abs(y) > 0x1p-130));
    kiln_vd x = d[p] - d[q], c, s, h;
    kiln_svd3_half(x, y, &c, &s, &h);
    kiln_vd gain = kiln_vd_mulsign(0.5 * (h - kiln_vd_abs(x)), x);
    d[p] += gain;
    d[q] -= gain;
    o[k] = (kiln_vd){0};
    kiln_vd kp = o[q], kq = o[p];
    o[q] = kiln_vd_fma(c, kp, s * kq);
    o[p] = kiln_vd_fms(c, kq, s * kp);
    for (int i = 0; i < 3; i++) {
        kiln_vd vp = v[i][p], vq = v[i][q];
        v[i][p] = kiln_vd_fma(c, vp, s * vq);
        v[i][q] = kiln_vd_fms(c, vq, s * vp);
    }
}

KILN_INLINE kiln_vd kiln_svd3_dot(kiln_vd a0, kiln_vd b0, kiln_vd a1, kiln_vd b1, kiln_vd a2,
                                  kiln_vd b2)
{
    return kiln_vd_fma(a0, b0, kiln_vd_fma(a1, b1, a2 * b2));
}

/* A'A with d, o as in kiln_svd3_rotate; V = I. */
KILN_INLINE void kiln_svd3_start(kiln_vd a[3][3], kiln_vd d[3], kiln_vd o[3], kiln_vd v[3][3])
{
    for (int i = 0; i < 3; i++) {
        int p = i == 0 ? 1 : 0, q = i == 2 ? 1 : 2;
        d[i] = kiln_svd3_dot(a[0][i], a[0][i], a[1][i], a[1][i], a[2][i], a[2][i]);
        o[i] = kiln_svd3_dot(a[0][p], a[0][q], a[1][p], a[1][q], a[2][p], a[2][q]);
        for (int j = 0; j < 3; j++)
            v[i][j] = kiln_vd_set(i == j ? 1.0 : 0.0);
    }
}

/* Turns the columns of V round so that the one with the largest d comes first. */
KILN_INLINE void kiln_svd3_lead(const kiln_vd d[3], kiln_vd v[3][3])
{
    kiln_vi second = (d[1] > d[0]) & (d[1] >= d[2]);
    kiln_vi third = (d[2] > d[0]) & (d[2] > d[1]);
    for (int i = 0; i < 3; i++) {
        kiln_vd a = v[i][0], b = v[i][1], c = v[i][2];
        v[i][0] = kiln_vd_select(third, c, kiln_vd_select(second, b, a));
        v[i][1] = kiln_vd_select(third, a, kiln_vd_select(second, c, b));
        v[i][2] = kiln_vd_select(third, b, kiln_vd_select(second, a, c));
    }
}

/* One Newton step to the nearest rotation, V += V (I - V'V) / 2: what the rotations drifted. */
KILN_INLINE void kiln_svd3_polish(kiln_vd v[3][3])
{
    kiln_vd e[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            e[i][j] = e[j][i] =
                -0.5 * kiln_vd_fma(v[0][i], v[0][j],
                                   kiln_vd_fma(v[1][i], v[1][j],
                                               kiln_vd_fma(v[2][i], v[2][j],
                                                           kiln_vd_set(i == j ? -1.0 : 0.0))));
    for (int i = 0; i < 3; i++) {
        kiln_vd a = v[i][0], b = v[i][1], c = v[i][2];
        for (int j = 0; j < 3; j++)
            v[i][j] += kiln_svd3_dot(a, e[0][j], b, e[1][j], c, e[2][j]);
    }
}

/* Columns of u, given that the columns b[.][0..2] = A V have b0 at right angles to the others: u0
 * along b0 (largest; the x axis when it is zero), the others spanning its complement. Returns |b0|.
 */
KILN_INLINE kiln_vd kiln_svd3_frame(kiln_vd b[3][3], kiln_vd u[3][3])
{
    kiln_vd n2 = kiln_svd3_dot(b[0][0], b[0][0], b[1][0], b[1][0], b[2][0], b[2][0]);
    kiln_vi some = n2 > 0x1p-980;
    kiln_vd r = kiln_vd_rsqrt(kiln_vd_select(some, n2, kiln_vd_set(1.0)));
    kiln_vd x = kiln_vd_select(some, b[0][0] * r, kiln_vd_set(1.0));
    kiln_vd y = b[1][0] * r, z = b[2][0] * r;
    kiln_vd k = 1.0 / (1.0 + kiln_vd_abs(x)), yk = y * k, zk = z * k;
    kiln_vd m = kiln_vd_mulsign(-(y * zk), x);
    u[0][0] = x, u[1][0] = y, u[2][0] = z;
    u[0][1] = -kiln_vd_mulsign(y, x), u[1][1] = kiln_vd_fnma(y, yk, kiln_vd_set(1.0));
    u[2][1] = -(y * zk);
    u[0][2] = -z, u[1][2] = m;
    u[2][2] = kiln_vd_mulsign(kiln_vd_fnma(z, zk, kiln_vd_set(1.0)), x);
    return n2 * r;
}

/* Angle halves a of (x, y), as kiln_svd3_half but over the full circle (up to a half turn). */
KILN_INLINE void kiln_svd3_half_turn(kiln_vd x, kiln_vd y, kiln_vd *c, kiln_vd *s, kiln_vd *length)
{
    kiln_vd big, small, h;
    kiln_svd3_half(kiln_vd_abs(x), y, &big, &small, &h);
    kiln_vi front = x >= 0.0;
    *c = kiln_vd_select(front, big, small);
    *s = kiln_vd_select(front, small, big);
    *length = (kiln_vd)((kiln_vi)h & (h > 0x1p-480));
}

KILN_INLINE void kiln_svd3_turn(kiln_vd m[3][3], kiln_vd c, kiln_vd s)
{
    for (int i = 0; i < 3; i++) {
        kiln_vd a = m[i][1], b = m[i][2];
        m[i][1] = kiln_vd_fma(c, a, s * b);
        m[i][2] = kiln_vd_fms(c, b, s * a);
    }
}

/* The rest after V: U, and the second and third pair from the 2x2 matrix that is left,
 * M = R(b + a) diag(Q + R, Q - R) R(b - a), with Q, b from the turning and R, a from the symmetric
 * traceless part of M. */
KILN_INLINE void kiln_svd3_finish(kiln_vd a[3][3], kiln_vd inverse, kiln_svd3_vd *out)
{
    kiln_vd b[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[i][j] =
                kiln_svd3_dot(a[i][0], out->v[0][j], a[i][1], out->v[1][j], a[i][2], out->v[2][j]);
    kiln_vd s0 = kiln_svd3_frame(b, out->u), m[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            m[i][j] = kiln_svd3_dot(out->u[0][i + 1], b[0][j + 1], out->u[1][i + 1], b[1][j + 1],
                                    out->u[2][i + 1], b[2][j + 1]);
    kiln_vd ca, sa, cb, sb, R, Q;
    kiln_svd3_half_turn(0.5 * (m[0][0] - m[1][1]), 0.5 * (m[1][0] + m[0][1]), &ca, &sa, &R);
    kiln_svd3_half_turn(0.5 * (m[0][0] + m[1][1]), 0.5 * (m[1][0] - m[0][1]), &cb, &sb, &Q);
    kiln_svd3_turn(out->u, kiln_vd_fms(ca, cb, sa * sb), kiln_vd_fma(sa, cb, ca * sb));
    kiln_svd3_turn(out->v, kiln_vd_fma(ca, cb, sa * sb), kiln_vd_fms(sa, cb, ca * sb));
    kiln_vd s1 = kiln_vd_min(Q + R, s0);
    kiln_vd s2 = kiln_vd_max(kiln_vd_min(Q - R, s1), -s1);
    out->s[0] = s0 * inverse, out->s[1] = s1 * inverse, out->s[2] = s2 * inverse;
}

/* a is overwritten. */
KILN_INLINE void kiln_svd3_vd_decompose(kiln_vd a[KILN_SVD3_BATCHES][3][3],
                                        kiln_svd3_vd out[KILN_SVD3_BATCHES])
{
    kiln_vd d[KILN_SVD3_BATCHES][3], o[KILN_SVD3_BATCHES][3], inverse[KILN_SVD3_BATCHES];
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        kiln_vd top = kiln_vd_abs(a[b][0][0]), scale;
        for (int i = 1; i < 9; i++)
            top = kiln_vd_max(top, kiln_vd_abs(a[b][i / 3][i % 3]));
        kiln_vd_binade(top, &scale, &inverse[b]);
        for (int i = 0; i < 9; i++)
            a[b][i / 3][i % 3] *= scale;
        kiln_svd3_start(a[b], d[b], o[b], out[b].v);
    }
    for (int sweep = 0; sweep < KILN_SVD3_SWEEPS; sweep++) {
        for (int b = 0; b < KILN_SVD3_BATCHES; b++)
            kiln_svd3_rotate(d[b], o[b], out[b].v, 0, 1);
        for (int b = 0; b < KILN_SVD3_BATCHES; b++)
            kiln_svd3_rotate(d[b], o[b], out[b].v, 0, 2);
        for (int b = 0; b < KILN_SVD3_BATCHES; b++)
            kiln_svd3_rotate(d[b], o[b], out[b].v, 1, 2);
    }
    for (int b = 0; b < KILN_SVD3_BATCHES; b++) {
        kiln_svd3_lead(d[b], out[b].v);
        kiln_svd3_polish(out[b].v);
    }
    for (int b = 0; b < KILN_SVD3_BATCHES; b++)
        kiln_svd3_finish(a[b], inverse[b], &out[b]);
}

#endif

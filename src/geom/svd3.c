/* Method: V by Jacobi iteration on A'A; B = A V, its longest column first; U from a reflection that
 * takes that column to an axis; then a closed 2x2 decomposition of what is left.
 *
 * Squaring A loses the small singular vectors when they lie below sqrt(eps) of the large one, but
 * never the leading one: |b0 . bj| <= eps s0^2, so dropping row 0 of U'B costs eps s0. The 2x2 step
 * works on B itself and repairs the rest. No column is ever divided by its own small length, so
 * rank 0, 1 and 2 need no special treatment. */
#include "geom/svd3.h"

#include "geom/jacobi3.h"

static void scale_to_one(kiln_mat3 *a, double *inverse)
{
    double top = 0.0, scale;
    for (int i = 0; i < 9; i++) {
        double x = fabs(a->m[i / 3][i % 3]);
        top = x > top ? x : top;
    }
    kiln_jacobi3_binade(top, &scale, inverse);
    *a = kiln_m3_scale(*a, scale);
}

/* V with V'A'AV diagonal and its largest entry first. */
static kiln_mat3 right_vectors(const kiln_mat3 *a)
{
    kiln_jacobi3 j = {.v = kiln_m3_identity()};
    for (int i = 0; i < 3; i++) {
        int p = i == 0 ? 1 : 0, q = i == 2 ? 1 : 2;
        for (int r = 0; r < 3; r++) {
            j.d[i] += a->m[r][i] * a->m[r][i];
            j.o[i] += a->m[r][p] * a->m[r][q];
        }
    }
    kiln_jacobi3_run(&j, 0x1p-56 * (j.d[0] + j.d[1] + j.d[2]));
    int lead = j.d[1] > j.d[0] ? 1 : 0;
    lead = j.d[2] > j.d[lead] ? 2 : lead;
    kiln_mat3 v;
    for (int c = 0; c < 3; c++) {
        int from = (lead + c) % 3;
        for (int r = 0; r < 3; r++)
            v.m[r][c] = j.v.m[r][from];
    }
    kiln_jacobi3_polish(&v);
    return v;
}

/* Rotation with column 0 along column 0 of b; the others are those of the reflection that takes it
 * to the x axis, one of them turned round. Returns the length of the column. */
static double left_frame(const kiln_mat3 *b, kiln_mat3 *u)
{
    double x = b->m[0][0], y = b->m[1][0], z = b->m[2][0], n = sqrt(x * x + y * y + z * z);
    if (n == 0.0) {
        *u = kiln_m3_identity();
        return 0.0;
    }
    double r = 1.0 / n;
    x *= r, y *= r, z *= r;
    double sign = x < 0.0 ? -1.0 : 1.0, k = 1.0 / (1.0 + fabs(x)), yz = y * z * k;
    *u = (kiln_mat3){
        {{x, -sign * y, -z}, {y, 1.0 - y * y * k, -sign * yz}, {z, -yz, sign * (1.0 - z * z * k)}}};
    return n;
}

/* (c, s) at half the angle of (x, y), up to a half turn. */
static double half_turn(double x, double y, double *c, double *s)
{
    double h = 0.0, big = 1.0, small = 0.0;
    if (x * x + y * y > 0x1p-960)
        kiln_jacobi3_half(fabs(x), y, &big, &small, &h);
    *c = x < 0.0 ? small : big;
    *s = x < 0.0 ? big : small;
    return h;
}

static void turn_columns(kiln_mat3 *m, double c, double s)
{
    for (int i = 0; i < 3; i++) {
        double a = m->m[i][1], b = m->m[i][2];
        m->m[i][1] = c * a + s * b;
        m->m[i][2] = c * b - s * a;
    }
}

kiln_svd3 kiln_svd3_decompose(kiln_mat3 a)
{
    kiln_svd3 out;
    double inverse, m[2][2];
    scale_to_one(&a, &inverse);
    out.v = right_vectors(&a);
    kiln_mat3 b = kiln_m3_mul(a, out.v);
    double s0 = left_frame(&b, &out.u);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            m[i][j] = out.u.m[0][i + 1] * b.m[0][j + 1] + out.u.m[1][i + 1] * b.m[1][j + 1] +
                      out.u.m[2][i + 1] * b.m[2][j + 1];
    /* M = R(p + q) diag(Q + R, Q - R) R(p - q): p, Q from its turning part, q, R from the symmetric
     * traceless part. Half turns in p or q cancel. */
    double cp, sp, cq, sq;
    double R = half_turn(0.5 * (m[0][0] - m[1][1]), 0.5 * (m[1][0] + m[0][1]), &cq, &sq);
    double Q = half_turn(0.5 * (m[0][0] + m[1][1]), 0.5 * (m[1][0] - m[0][1]), &cp, &sp);
    turn_columns(&out.u, cp * cq - sp * sq, sp * cq + cp * sq);
    turn_columns(&out.v, cp * cq + sp * sq, cp * sq - sp * cq);
    double s1 = Q + R < s0 ? Q + R : s0, s2 = Q - R;
    s2 = s2 > s1 ? s1 : s2 < -s1 ? -s1 : s2;
    out.s[0] = s0 * inverse, out.s[1] = s1 * inverse, out.s[2] = s2 * inverse;
    return out;
}

void kiln_svd3_decompose_batch(kiln_isa isa, size_t count, size_t stride, const double *a,
                               double *u, double *s, double *v)
{
    static void (*const table[])(size_t, size_t, const double *, double *, double *, double *) =
        KILN_SIMD_TABLE(kiln_svd3_batch);
    table[isa](count, stride, a, u, s, v);
}

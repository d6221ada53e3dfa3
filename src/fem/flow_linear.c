#include "fem/flow_linear.h"

#include "fem/offset.h"

enum { PARTS = 6 }; /* of a symmetric matrix */

static const int part[PARTS][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

enum { SIDES = 2, WIDTH = PARTS + SIDES, MOST_ROUNDS = 20 };

/* Gauss and Jordan's, with pivots; the solutions are the last columns. */
static void eliminate(double M[PARTS][WIDTH])
{
    for (int c = 0; c < PARTS; c++) {
        int best = c;
        for (int r = c + 1; r < PARTS; r++)
            best = fabs(M[r][c]) > fabs(M[best][c]) ? r : best;
        for (int k = 0; k < WIDTH; k++) {
            double other = M[c][k];
            M[c][k] = M[best][k], M[best][k] = other;
        }
        for (int k = WIDTH - 1; k >= c; k--)
            M[c][k] /= M[c][c];
        for (int r = 0; r < PARTS; r++)
            for (int k = WIDTH - 1; k >= c && r != c; k--)
                M[r][k] -= M[r][c] * M[c][k];
    }
}

/* Symmetric X with A X + X A' = 2 R (Lyapunov's equation), for the two R. */
static void solve(const kiln_mat3 *A, const kiln_mat3 *R[SIDES], kiln_mat3 X[SIDES])
{
    double M[PARTS][WIDTH] = {{0}};
    for (int row = 0; row < PARTS; row++) {
        int i = part[row][0], j = part[row][1];
        for (int c = 0; c < PARTS; c++)
            for (int turn = 0; turn < (part[c][0] == part[c][1] ? 1 : 2); turn++) {
                int k = part[c][turn], l = part[c][1 - turn]; /* X_kl */
                M[row][c] += (l == j ? A->m[i][k] : 0.0) + (k == i ? A->m[j][l] : 0.0);
            }
        for (int side = 0; side < SIDES; side++)
            M[row][PARTS + side] = 2.0 * R[side]->m[i][j];
    }
    eliminate(M);
    for (int side = 0; side < SIDES; side++)
        for (int c = 0; c < PARTS; c++)
            X[side].m[part[c][0]][part[c][1]] = X[side].m[part[c][1]][part[c][0]] =
                M[c][PARTS + side];
}

/* X + theta more, with theta such that Pi + that has the volume of Pi. */
static kiln_mat3 keep_volume(const kiln_mat3 *Pi, kiln_mat3 X, const kiln_mat3 *more)
{
    double volume = kiln_m3_det(*Pi);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        kiln_mat3 next = kiln_m3_add(*Pi, X);
        kiln_mat3 slope = kiln_m3_mul(kiln_m3_inverse(next), *more);
        double trace = slope.m[0][0] + slope.m[1][1] + slope.m[2][2];
        double theta = (volume / kiln_m3_det(next) - 1.0) / trace;
        X = kiln_m3_add(X, kiln_m3_scale(*more, theta));
        if (!(fabs(theta) > 1e-16))
            break;
    }
    return X;
}

static bool is_positive(const kiln_mat3 *a)
{
    return a->m[0][0] > 0.0 && a->m[0][0] * a->m[1][1] > a->m[0][1] * a->m[1][0] &&
           kiln_m3_det(*a) > 0.0;
}

bool kiln_flow_linear_shape(const kiln_mat3 *A, const kiln_mat3 *Pi, const kiln_mat3 *change,
                            double size, kiln_sym3 *shape)
{
    const kiln_mat3 one = kiln_m3_identity(), *sides[SIDES] = {change, &one};
    kiln_mat3 both[SIDES];
    solve(A, sides, both);
    kiln_mat3 X = keep_volume(Pi, both[0], &both[1]), next = kiln_m3_add(*Pi, X);
    if (!isfinite(kiln_m3_norm2(X)) || !is_positive(&next))
        return false;
    /* next^2 - Pi^2 is the symmetric part of (next + Pi) X, so rounding is in proportion to X. */
    kiln_sym3 more = kiln_sym3_from_mat3(kiln_m3_mul(kiln_m3_add(next, *Pi), X));
    *shape = kiln_offset_unit(kiln_sym3_madd(*shape, 1.0 / (size * size), more));
    return true;
}

#include "fem/principal.h"

#include "geom/svd3.h"
#include "geom/sym3.h"

#include <string.h>

void kiln_principal_of_invariants(const kiln_invariants *f, const double s[3], kiln_principal *out)
{
    double co[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double sum2 = s[j] * s[j] + s[k] * s[k], product = s[j] * s[k];
        out->p[i] = 2.0 * f->i * s[i] + 4.0 * f->ii * s[i] * s[i] * s[i] + f->j * co[i];
        out->minus[i] = 2.0 * f->i + 4.0 * f->ii * (sum2 + product) - f->j * s[i];
        out->plus[i] = 2.0 * f->i + 4.0 * f->ii * (sum2 - product) + f->j * s[i];
        out->a[i][i] = 2.0 * f->i + 12.0 * f->ii * s[i] * s[i] + 4.0 * f->i_i * s[i] * s[i] +
                       4.0 * f->i_j * s[i] * co[i] + f->j_j * co[i] * co[i];
        out->a[j][k] = out->a[k][j] = 4.0 * f->i_i * product +
                                      2.0 * f->i_j * (s[j] * co[k] + s[k] * co[j]) +
                                      f->j_j * co[j] * co[k] + f->j * s[i];
    }
}

void kiln_principal_stress(kiln_principal_function principal, double mu, double lambda,
                           const kiln_mat3 *F, kiln_mat3 *P)
{
    kiln_svd3 d = kiln_svd3_decompose(*F);
    kiln_principal f;
    principal(mu, lambda, 0.0, d.s, &f);
    *P = kiln_m3_mul(kiln_m3_mul(d.u, kiln_m3_diagonal(f.p[0], f.p[1], f.p[2])),
                     kiln_m3_transpose(d.v));
}

static double positive(double x)
{
    return x > 0.0 ? x : 0.0;
}

static void project_principal(kiln_principal *f)
{
    kiln_mat3 a;
    memcpy(a.m, f->a, sizeof a.m);
    kiln_eigen3 e = kiln_sym3_eigen(kiln_sym3_from_mat3(a));
    for (int i = 0; i < 3; i++) {
        e.values[i] = positive(e.values[i]);
        f->minus[i] = positive(f->minus[i]);
        f->plus[i] = positive(f->plus[i]);
    }
    a = kiln_sym3_to_mat3(kiln_sym3_compose(e.values, &e.vectors));
    memcpy(f->a, a.m, sizeof a.m);
}

/* H += factor * (u_i v_j') (u_k v_l')', as 9-vectors. */
static void add_dyad(double H[9][9], const kiln_svd3 *d, double factor, const int index[4])
{
    double left[9], right[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            left[3 * r + c] = d->u.m[r][index[0]] * d->v.m[c][index[1]];
            right[3 * r + c] = d->u.m[r][index[2]] * d->v.m[c][index[3]];
        }
    for (int p = 0; p < 9; p++)
        for (int q = 0; q < 9; q++)
            H[p][q] += factor * left[p] * right[q];
}

void kiln_principal_hessian(kiln_principal_function principal, double mu, double lambda,
                            double pressure, const kiln_mat3 *F, bool project, double H[9][9])
{
    kiln_svd3 d = kiln_svd3_decompose(*F);
    kiln_principal f;
    principal(mu, lambda, pressure, d.s, &f);
    if (project)
        project_principal(&f);
    memset(H, 0, 81 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            add_dyad(H, &d, f.a[i][k], (int[4]){i, i, k, k});
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double same = 0.5 * (f.plus[i] + f.minus[i]), other = 0.5 * (f.minus[i] - f.plus[i]);
        add_dyad(H, &d, same, (int[4]){j, k, j, k});
        add_dyad(H, &d, same, (int[4]){k, j, k, j});
        add_dyad(H, &d, other, (int[4]){j, k, k, j});
        add_dyad(H, &d, other, (int[4]){k, j, j, k});
    }
}

/* With t = d / (2 + d): log(1 + d) = 2 atanh t = 2 t + 2 t^3/3 + ..., and d - 2 t = d t. */
double kiln_log_residual(double d)
{
    if (fabs(d) > 0.1)
        return d - log1p(d);
    double t = d / (2.0 + d), t2 = t * t, sum = 0.0;
    for (int k = 15; k >= 3; k -= 2)
        sum = sum * t2 + 1.0 / k;
    return d * t - 2.0 * t * t2 * sum;
}

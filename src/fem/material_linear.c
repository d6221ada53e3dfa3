/* Small strain: W = mu e:e + lambda/2 (tr e)^2, e = sym F - I. Not invariant under rotation. */
#include "fem/element_kernels.h"
#include "fem/material_models.h"

static kiln_mat3 strain(const kiln_mat3 *F)
{
    kiln_mat3 e;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            e.m[i][j] = 0.5 * (F->m[i][j] + F->m[j][i]) - (i == j ? 1.0 : 0.0);
    return e;
}

static double energy(double mu, double lambda, const kiln_mat3 *F)
{
    kiln_mat3 e = strain(F);
    double trace = e.m[0][0] + e.m[1][1] + e.m[2][2];
    return mu * kiln_m3_norm2(e) + 0.5 * lambda * trace * trace;
}

static void stress(double mu, double lambda, const kiln_mat3 *F, kiln_mat3 *P)
{
    kiln_mat3 e = strain(F);
    double trace = e.m[0][0] + e.m[1][1] + e.m[2][2];
    *P = kiln_m3_scale(e, 2.0 * mu);
    for (int i = 0; i < 3; i++)
        P->m[i][i] += lambda * trace;
}

/* Positive semidefinite as it is, for mu >= 0 and 3 lambda + 2 mu >= 0. */
static void hessian(double mu, double lambda, const kiln_mat3 *F, bool project, double H[9][9])
{
    (void)F, (void)project;
    for (int p = 0; p < 9; p++)
        for (int q = 0; q < 9; q++) {
            int i = p / 3, j = p % 3, k = q / 3, l = q % 3;
            H[p][q] = mu * ((i == k && j == l) + (i == l && j == k)) + lambda * (i == j && k == l);
        }
}

static void volumetric(double mu, double lambda, double theta, double u[3])
{
    (void)mu;
    u[0] = 0.5 * lambda * theta * theta, u[1] = lambda * theta, u[2] = lambda;
}

KILN_ELEMENT_KERNELS(linear);

const kiln_material_model kiln_material_linear = {
    .name = "linear",
    .help = "small strain, for small rotations: mu e:e + lambda/2 (tr e)^2",
    .dilation = KILN_DILATION_TRACE,
    .energy = energy,
    .stress = stress,
    .hessian = hessian,
    .volumetric = volumetric,
    .kernels = kernels};

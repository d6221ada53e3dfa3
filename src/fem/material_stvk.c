/* St. Venant-Kirchhoff: W = mu E:E + lambda/2 (tr E)^2, E = (F'F - I)/2. With I = tr F'F and
 * II = tr (F'F)^2 that is mu/4 (II - 2 I + 3) + lambda/8 (I - 3)^2. Defined for inverted tets,
 * which it does not resist. */
#include "fem/element_kernels.h"
#include "fem/material_models.h"

static void principal(double mu, double lambda, double pressure, const double s[3],
                      kiln_principal *out)
{
    double g[3]; /* s^2 - 1 */
    for (int i = 0; i < 3; i++)
        g[i] = (s[i] - 1.0) * (s[i] + 1.0);
    double mean = 0.5 * lambda * (g[0] + g[1] + g[2]) + pressure;
    kiln_invariants f = {.i = 0.5 * (mean - mu), .ii = 0.25 * mu, .i_i = 0.25 * lambda};
    kiln_principal_of_invariants(&f, s, out);
    for (int i = 0; i < 3; i++)
        out->p[i] = s[i] * (mu * g[i] + mean);
}

static kiln_mat3 green(const kiln_mat3 *F)
{
    kiln_mat3 G = *F, E; /* F = I + G; E = sym G + G'G/2 */
    for (int i = 0; i < 3; i++)
        G.m[i][i] -= 1.0;
    kiln_mat3 square = kiln_m3_mul(kiln_m3_transpose(G), G);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            E.m[i][j] = 0.5 * (G.m[i][j] + G.m[j][i] + square.m[i][j]);
    return E;
}

static double energy(double mu, double lambda, const kiln_mat3 *F)
{
    kiln_mat3 E = green(F);
    double trace = E.m[0][0] + E.m[1][1] + E.m[2][2];
    return mu * kiln_m3_norm2(E) + 0.5 * lambda * trace * trace;
}

static void stress(double mu, double lambda, const kiln_mat3 *F, kiln_mat3 *P)
{
    kiln_mat3 S = green(F);
    double trace = S.m[0][0] + S.m[1][1] + S.m[2][2];
    S = kiln_m3_scale(S, 2.0 * mu);
    for (int i = 0; i < 3; i++)
        S.m[i][i] += lambda * trace;
    *P = kiln_m3_mul(*F, S);
}

static void volumetric(double mu, double lambda, double theta, double u[3])
{
    (void)mu;
    u[0] = 0.5 * lambda * theta * theta, u[1] = lambda * theta, u[2] = lambda;
}

KILN_ELEMENT_KERNELS(stvk);

const kiln_material_model kiln_material_stvk = {
    .name = "stvk",
    .help = "St. Venant-Kirchhoff: mu E:E + lambda/2 (tr E)^2; weak in compression",
    .dilation = KILN_DILATION_GREEN,
    .energy = energy,
    .stress = stress,
    .volumetric = volumetric,
    .kernels = kernels,
    .principal = principal};

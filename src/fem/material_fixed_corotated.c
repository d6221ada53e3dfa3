/* Stomakhin et al. 2012: W = mu |F - R|^2 + lambda/2 (J - 1)^2. Defined for inverted tets too; not
 * smooth where s1 = -s2. */
#include "fem/element_kernels.h"
#include "fem/material_models.h"

#include "geom/svd3.h"

static void principal(double mu, double lambda, double pressure, const double s[3],
                      kiln_principal *out)
{
    kiln_invariants volume = {.j = lambda * kiln_principal_volume_change(s) + pressure,
                              .j_j = lambda};
    kiln_principal_of_invariants(&volume, s, out);
    for (int i = 0; i < 3; i++) {
        double sum = s[(i + 1) % 3] + s[(i + 2) % 3];
        sum = sum > KILN_PRINCIPAL_SMALLEST_SUM ? sum : KILN_PRINCIPAL_SMALLEST_SUM;
        out->p[i] += 2.0 * mu * (s[i] - 1.0);
        out->minus[i] += 2.0 * mu;
        out->plus[i] += 2.0 * mu - 4.0 * mu / sum;
        out->a[i][i] += 2.0 * mu;
    }
}

static double energy(double mu, double lambda, const kiln_mat3 *F)
{
    kiln_svd3 d = kiln_svd3_decompose(*F);
    double a = d.s[0] - 1.0, b = d.s[1] - 1.0, c = d.s[2] - 1.0;
    double change = kiln_principal_volume_change(d.s);
    return mu * (a * a + b * b + c * c) + 0.5 * lambda * change * change;
}

static void volumetric(double mu, double lambda, double theta, double u[3])
{
    (void)mu;
    double d = theta - 1.0;
    u[0] = 0.5 * lambda * d * d, u[1] = lambda * d, u[2] = lambda;
}

KILN_ELEMENT_KERNELS(fixed_corotated);

const kiln_material_model kiln_material_fixed_corotated = {
    .name = "fixed-corotated",
    .help = "mu |F - R|^2 + lambda/2 (J - 1)^2; bears inversion",
    .dilation = KILN_DILATION_VOLUME,
    .energy = energy,
    .volumetric = volumetric,
    .kernels = kernels,
    .principal = principal};

/* DLR and VPF: P^ = 2 mu (S - I) + lambda tr(S - I) I, so W = mu |S - I|^2 + lambda/2 tr(S - I)^2
 * with the signed stretches S. Defined for inverted tets too; not smooth where s1 = -s2. */
#include "fem/element_kernels.h"
#include "fem/material_models.h"

#include "geom/svd3.h"

static void principal(double mu, double lambda, double pressure, const double s[3],
                      kiln_principal *out)
{
    double mean = lambda * ((s[0] - 1.0) + (s[1] - 1.0) + (s[2] - 1.0)) + pressure;
    for (int i = 0; i < 3; i++) {
        double sum = s[(i + 1) % 3] + s[(i + 2) % 3];
        sum = sum > KILN_PRINCIPAL_SMALLEST_SUM ? sum : KILN_PRINCIPAL_SMALLEST_SUM;
        out->p[i] = 2.0 * mu * (s[i] - 1.0) + mean;
        out->minus[i] = 2.0 * mu;
        out->plus[i] = 2.0 * mu + 2.0 * (mean - 2.0 * mu) / sum;
        for (int k = 0; k < 3; k++)
            out->a[i][k] = lambda + (i == k ? 2.0 * mu : 0.0);
    }
}

static double energy(double mu, double lambda, const kiln_mat3 *F)
{
    kiln_svd3 d = kiln_svd3_decompose(*F);
    double a = d.s[0] - 1.0, b = d.s[1] - 1.0, c = d.s[2] - 1.0, trace = a + b + c;
    return mu * (a * a + b * b + c * c) + 0.5 * lambda * trace * trace;
}

static void volumetric(double mu, double lambda, double theta, double u[3])
{
    (void)mu;
    u[0] = 0.5 * lambda * theta * theta, u[1] = lambda * theta, u[2] = lambda;
}

KILN_ELEMENT_KERNELS(corotated);

const kiln_material_model kiln_material_corotated = {
    .name = "corotated",
    .help = "linear in the stretches: mu |S - I|^2 + lambda/2 tr(S - I)^2; bears inversion",
    .dilation = KILN_DILATION_STRETCH,
    .energy = energy,
    .volumetric = volumetric,
    .kernels = kernels,
    .principal = principal};

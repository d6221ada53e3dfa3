/* Isochoric and volumetric parts apart (validation.md E11; Pelteret and McBride 2016):
 *     W = mu/2 (J^-2/3 I - 3) + kappa/4 (J^2 - 1 - 2 ln J),  I = tr F'F, kappa = lambda + 2/3 mu,
 * so P = mu J^-2/3 (F - I/3 F^-T) + kappa/2 (J^2 - 1) F^-T. J > 0. */
#include "fem/element_kernels.h"
#include "fem/material_models.h"

#include "geom/svd3.h"

static void principal(double mu, double lambda, double pressure, const double s[3],
                      kiln_principal *out)
{
    double kappa = lambda + 2.0 / 3.0 * mu, J = s[0] * s[1] * s[2];
    double d = kiln_principal_volume_change(s), c = mu * exp(-2.0 / 3.0 * log1p(d)), r = 1.0 / J;
    double I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
    kiln_invariants f = {.i = 0.5 * c,
                         .i_j = -c * r / 3.0,
                         .j = -c * r * I / 3.0 + 0.5 * kappa * d * (1.0 + r) + pressure,
                         .j_j = 5.0 / 9.0 * c * r * r * I + 0.5 * kappa * (1.0 + r * r)};
    kiln_principal_of_invariants(&f, s, out);
    /* s - I/(3 s) = (2 s_i^2 - s_j^2 - s_k^2) / (3 s_i): no cancellation against p at rest. */
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double gap = (s[i] - s[j]) * (s[i] + s[j]) + (s[i] - s[k]) * (s[i] + s[k]);
        out->p[i] = c * gap / (3.0 * s[i]) + (0.5 * kappa * d * (J + 1.0) + pressure * J) / s[i];
    }
}

/* I/3 = 1 + q; J^-2/3 (1 + q) - 1 = expm1(ln(1 + q) - 2/3 ln J), whose argument is taken from
 * the residuals of both logarithms and the exact difference q - 2/3 d, all of second order. */
static double energy(double mu, double lambda, const kiln_mat3 *F)
{
    kiln_svd3 v = kiln_svd3_decompose(*F);
    if (!(v.s[2] > 0.0))
        return INFINITY;
    double a = v.s[0] - 1.0, b = v.s[1] - 1.0, c = v.s[2] - 1.0;
    double square = a * a + b * b + c * c, q = (2.0 * (a + b + c) + square) / 3.0;
    double d = kiln_principal_volume_change(v.s), residual = kiln_log_residual(d);
    double difference = square / 3.0 - 2.0 / 3.0 * (a * b + b * c + c * a + a * b * c);
    double shape = expm1(difference - kiln_log_residual(q) + 2.0 / 3.0 * residual);
    return 1.5 * mu * shape + 0.25 * (lambda + 2.0 / 3.0 * mu) * (d * d + 2.0 * residual);
}

static void volumetric(double mu, double lambda, double theta, double u[3])
{
    double kappa = lambda + 2.0 / 3.0 * mu, d = theta - 1.0;
    u[0] = theta > 0.0 ? 0.25 * kappa * (d * d + 2.0 * kiln_log_residual(d)) : INFINITY;
    u[1] = theta > 0.0 ? 0.5 * kappa * (theta - 1.0 / theta) : NAN;
    u[2] = 0.5 * kappa * (1.0 + 1.0 / (theta * theta));
}

KILN_ELEMENT_KERNELS(neo_hookean_split);

const kiln_material_model kiln_material_neo_hookean_split = {
    .name = "neo-hookean-split",
    .help = "isochoric and volumetric parts apart, as engineering codes have it; a barrier",
    .barrier = true,
    .dilation = KILN_DILATION_VOLUME,
    .shape_lambda = -2.0 / 3.0,
    .energy = energy,
    .volumetric = volumetric,
    .kernels = kernels,
    .principal = principal};

/* ITR: W = mu/2 (tr F'F - 3) - mu ln J + lambda/2 ln^2 J, J > 0. */
#include "fem/element_kernels.h"
#include "fem/material_models.h"

#include "geom/svd3.h"

static void principal(double mu, double lambda, double pressure, const double s[3],
                      kiln_principal *out)
{
    double J = s[0] * s[1] * s[2], log_J = log1p(kiln_principal_volume_change(s));
    double first = (lambda * log_J - mu) / J;
    kiln_invariants f = {
        .i = 0.5 * mu, .j = first + pressure, .j_j = (mu + lambda * (1.0 - log_J)) / (J * J)};
    kiln_principal_of_invariants(&f, s, out);
    /* mu (s - 1/s) + lambda ln J / s without the cancellation at rest. */
    for (int i = 0; i < 3; i++)
        out->p[i] =
            mu * (s[i] - 1.0) * (s[i] + 1.0) / s[i] + lambda * log_J / s[i] + pressure * J / s[i];
}

/* In e = s - 1 and d = J - 1 all terms are of second order:
 * mu/2 |e|^2 + mu (tr e - d) + mu (d - ln(1 + d)) + lambda/2 ln^2(1 + d). */
static double energy(double mu, double lambda, const kiln_mat3 *F)
{
    kiln_svd3 v = kiln_svd3_decompose(*F);
    if (!(v.s[2] > 0.0))
        return INFINITY;
    double a = v.s[0] - 1.0, b = v.s[1] - 1.0, c = v.s[2] - 1.0;
    double d = kiln_principal_volume_change(v.s), log_J = log1p(d);
    return mu * (0.5 * (a * a + b * b + c * c) - (a * b + b * c + c * a + a * b * c)) +
           mu * kiln_log_residual(d) + 0.5 * lambda * log_J * log_J;
}

static void volumetric(double mu, double lambda, double theta, double u[3])
{
    (void)mu;
    double log_theta = theta > 0.0 ? log(theta) : NAN;
    u[0] = theta > 0.0 ? 0.5 * lambda * log_theta * log_theta : INFINITY;
    u[1] = lambda * log_theta / theta;
    u[2] = lambda * (1.0 - log_theta) / (theta * theta);
}

KILN_ELEMENT_KERNELS(neo_hookean);

const kiln_material_model kiln_material_neo_hookean = {
    .name = "neo-hookean",
    .help = "mu/2 (tr F'F - 3) - mu ln J + lambda/2 ln^2 J; a barrier against inversion",
    .barrier = true,
    .dilation = KILN_DILATION_VOLUME,
    .energy = energy,
    .volumetric = volumetric,
    .kernels = kernels,
    .principal = principal};

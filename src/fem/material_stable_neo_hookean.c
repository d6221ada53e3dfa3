/* Smith, de Goes and Kim 2018, eq. 14: W = m/2 (I - 3) + l/2 (J - a)^2 - m/2 ln(I + 1) with
 * I = tr F'F and a = 1 + m/l - m/(4 l), which makes the rest state free of stress. Written without
 * a, and zero at rest:
 *     W = m/2 (I - 3) - m/2 ln((I + 1)/4) - 3/4 m (J - 1) + l/2 (J - 1)^2.
 * m = 4/3 mu, l = lambda + 5/6 mu makes it linear elasticity with mu, lambda at small strain
 * (section 3.4 there). The volumetric part is U = lambda/2 (J - 1)^2: with all of l it would leave
 * a shape part whose bulk modulus is negative. Defined for inverted tets. */
#include "fem/element_kernels.h"
#include "fem/material_models.h"

#include "geom/svd3.h"

static void principal(double mu, double lambda, double pressure, const double s[3],
                      kiln_principal *out)
{
    double m = 4.0 / 3.0 * mu, l = lambda + 5.0 / 6.0 * mu;
    double I = s[0] * s[0] + s[1] * s[1] + s[2] * s[2], k = 1.0 / (I + 1.0);
    double change = kiln_principal_volume_change(s);
    kiln_invariants f = {.i = 0.5 * m * I * k,
                         .i_i = 0.5 * m * k * k,
                         .j = -0.75 * m + l * change + pressure,
                         .j_j = l};
    kiln_principal_of_invariants(&f, s, out);
}

/* With e = s - 1, I + 1 = 4 (1 + q), q = (2 tr e + |e|^2)/4, the first order cancels exactly:
 * m/2 (4 q - ln(1 + q)) - 3/4 m d = m/2 (q - ln(1 + q)) + 3/4 m (2 q - d). */
static double energy(double mu, double lambda, const kiln_mat3 *F)
{
    kiln_svd3 v = kiln_svd3_decompose(*F);
    double m = 4.0 / 3.0 * mu, l = lambda + 5.0 / 6.0 * mu;
    double a = v.s[0] - 1.0, b = v.s[1] - 1.0, c = v.s[2] - 1.0;
    double square = a * a + b * b + c * c, q = 0.25 * (2.0 * (a + b + c) + square);
    double d = kiln_principal_volume_change(v.s);
    double rest = 0.5 * square - (a * b + b * c + c * a + a * b * c);
    return 0.5 * m * kiln_log_residual(q) + 0.75 * m * rest + 0.5 * l * d * d;
}

static void volumetric(double mu, double lambda, double theta, double u[3])
{
    (void)mu;
    double d = theta - 1.0;
    u[0] = 0.5 * lambda * d * d, u[1] = lambda * d, u[2] = lambda;
}

KILN_ELEMENT_KERNELS(stable_neo_hookean);

const kiln_material_model kiln_material_stable_neo_hookean = {
    .name = "stable-neo-hookean",
    .help = "Smith 2018: neo-Hookean without a barrier, stable at rest when "
            "poisson is 0 or more; bears inversion",
    .dilation = KILN_DILATION_VOLUME,
    .energy = energy,
    .volumetric = volumetric,
    .kernels = kernels,
    .principal = principal};

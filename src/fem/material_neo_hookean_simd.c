#include "base/simd_math.h"
#include "fem/elements_vd.h"

#define KILN_MODEL           neo_hookean
#define KILN_MODEL_IS_LINEAR 0

/* As the scalar one, in G = F - I: mu/2 |G|^2 - mu more + mu (d - ln(1 + d)) + lambda/2 ln^2. */
KILN_INLINE void energy_density(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd *W)
{
    kiln_vd trace, square, more, log, residual;
    kiln_vd_small_invariants(F, &trace, &square, &more);
    kiln_vd J = kiln_vd_determinant(F);
    kiln_vd_log(J, trace + more, &log, &residual);
    kiln_vd shape = mu * (kiln_vd_fma(kiln_vd_set(0.5), square, residual) - more);
    *W = kiln_vd_fma(0.5 * lambda * log, log, shape);
    *W = kiln_vd_select(J > 0.0, *W, kiln_vd_set(INFINITY));
}

KILN_INLINE void stress(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd P[3][3])
{
    kiln_vd C[3][3], log, residual;
    kiln_vd_cofactors(F, C);
    kiln_vd J = kiln_svd3_dot(F[0][0], C[0][0], F[0][1], C[0][1], F[0][2], C[0][2]);
    kiln_vd_log(J, J - 1.0, &log, &residual);
    kiln_vd first = kiln_vd_fms(lambda, log, mu) / J;
    first = kiln_vd_select(J > 0.0, first, kiln_vd_set(NAN));
    for (int k = 0; k < 9; k++)
        P[k / 3][k % 3] = kiln_vd_fma(mu, F[k / 3][k % 3], first * C[k / 3][k % 3]);
}

KILN_INLINE void principal(kiln_vd mu, kiln_vd lambda, kiln_vd pressure, const kiln_vd s[3],
                           kiln_principal_vd *out)
{
    kiln_vd J = s[0] * s[1] * s[2], log, residual;
    kiln_vd_log(J, J - 1.0, &log, &residual);
    kiln_vd r = 1.0 / J;
    r = kiln_vd_select(J > 0.0, r, kiln_vd_set(NAN));
    kiln_vd stiff = lambda * log;
    kiln_principal_vd_start(mu, kiln_vd_fma(stiff - mu, r, pressure), (mu + lambda - stiff) * r * r,
                            s, out);
}

#include "fem/elements_loops.h"

#include "base/simd_math.h"
#include "fem/elements_vd.h"

#define KILN_MODEL           stable_neo_hookean
#define KILN_MODEL_IS_LINEAR 0

/* m/2 (q - ln(1 + q)) + 3/4 m (|G|^2/2 - more) + l/2 d^2 with 4 q = 2 tr G + |G|^2. */
KILN_INLINE void energy_density(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd *W)
{
    kiln_vd trace, square, more, log, residual, l = lambda + 5.0 / 6.0 * mu;
    kiln_vd_small_invariants(F, &trace, &square, &more);
    kiln_vd q = 0.25 * (trace + trace + square), d = trace + more;
    kiln_vd_log(1.0 + q, q, &log, &residual);
    kiln_vd shape = kiln_vd_fma(kiln_vd_set(2.0 / 3.0), residual, 0.5 * square - more);
    *W = kiln_vd_fma(mu, shape, 0.5 * l * d * d);
}

KILN_INLINE void stress(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd P[3][3])
{
    kiln_vd C[3][3], m = 4.0 / 3.0 * mu, l = lambda + 5.0 / 6.0 * mu;
    kiln_vd_cofactors(F, C);
    kiln_vd J = kiln_svd3_dot(F[0][0], C[0][0], F[0][1], C[0][1], F[0][2], C[0][2]);
    kiln_vd I = kiln_vd_frobenius(F, F);
    kiln_vd twice_i = m * I / (I + 1.0), first = kiln_vd_fms(l, J - 1.0, mu);
    for (int k = 0; k < 9; k++)
        P[k / 3][k % 3] = kiln_vd_fma(twice_i, F[k / 3][k % 3], first * C[k / 3][k % 3]);
}

KILN_INLINE void principal(kiln_vd mu, kiln_vd lambda, kiln_vd pressure, const kiln_vd s[3],
                           kiln_principal_vd *out)
{
    kiln_vd m = 4.0 / 3.0 * mu, l = lambda + 5.0 / 6.0 * mu, J = s[0] * s[1] * s[2];
    kiln_vd I = kiln_svd3_dot(s[0], s[0], s[1], s[1], s[2], s[2]), k = 1.0 / (I + 1.0);
    kiln_principal_vd_start(m * I * k, kiln_vd_fms(l, J - 1.0, mu) + pressure, l, s, out);
    kiln_principal_vd_add_i_i((m + m) * k * k, s, out);
}

#include "fem/elements_loops.h"

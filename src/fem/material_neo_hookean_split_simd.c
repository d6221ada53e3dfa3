#include "base/simd_math.h"
#include "fem/elements_vd.h"

#define KILN_MODEL           neo_hookean_split
#define KILN_MODEL_IS_LINEAR 0

/* As the scalar one, with tr G, |G|^2 and `more` for the sums over singular values. */
KILN_INLINE void energy_density(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd *W)
{
    kiln_vd trace, square, more, log, residual, log_q, residual_q;
    kiln_vd_small_invariants(F, &trace, &square, &more);
    kiln_vd J = kiln_vd_determinant(F), d = trace + more, kappa = lambda + 2.0 / 3.0 * mu;
    kiln_vd q = (1.0 / 3.0) * (trace + trace + square);
    kiln_vd I = kiln_vd_frobenius(F, F);
    kiln_vd_log(J, d, &log, &residual);
    kiln_vd_log((1.0 / 3.0) * I, q, &log_q, &residual_q);
    kiln_vd near = (1.0 / 3.0) * (square - 2.0 * more) - residual_q + (2.0 / 3.0) * residual;
    /* Far from rest the difference of the logarithms themselves is the better one. */
    kiln_vd power = kiln_vd_select((kiln_vd_abs(d) < 0.25) & (kiln_vd_abs(q) < 0.25), near,
                                   log_q - (2.0 / 3.0) * log);
    kiln_vd bulk = kiln_vd_fma(d, d, residual + residual);
    *W = kiln_vd_fma(1.5 * mu, kiln_vd_expm1(power), 0.25 * kappa * bulk);
    *W = kiln_vd_select(J > 0.0, *W, kiln_vd_set(INFINITY));
}

/* mu J^-2/3, 1/J; NAN where J <= 0. */
KILN_INLINE void powers(kiln_vd mu, kiln_vd J, kiln_vd *c, kiln_vd *r)
{
    kiln_vd log, residual;
    kiln_vd_log(J, J - 1.0, &log, &residual);
    *r = kiln_vd_select(J > 0.0, 1.0 / J, kiln_vd_set(NAN));
    *c = kiln_vd_fma(mu, kiln_vd_expm1((-2.0 / 3.0) * log), mu);
}

KILN_INLINE void stress(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd P[3][3])
{
    kiln_vd C[3][3], c, r, kappa = lambda + 2.0 / 3.0 * mu;
    kiln_vd_cofactors(F, C);
    kiln_vd J = kiln_svd3_dot(F[0][0], C[0][0], F[0][1], C[0][1], F[0][2], C[0][2]);
    powers(mu, J, &c, &r);
    kiln_vd first =
        0.5 * kappa * (J - 1.0) * (1.0 + r) - (1.0 / 3.0) * c * r * kiln_vd_frobenius(F, F);
    for (int k = 0; k < 9; k++)
        P[k / 3][k % 3] = kiln_vd_fma(c, F[k / 3][k % 3], first * C[k / 3][k % 3]);
}

KILN_INLINE void principal(kiln_vd mu, kiln_vd lambda, kiln_vd pressure, const kiln_vd s[3],
                           kiln_principal_vd *out)
{
    kiln_vd J = s[0] * s[1] * s[2], c, r, kappa = lambda + 2.0 / 3.0 * mu;
    kiln_vd I = kiln_svd3_dot(s[0], s[0], s[1], s[1], s[2], s[2]);
    powers(mu, J, &c, &r);
    kiln_vd third = (1.0 / 3.0) * c * r; /* -f_IJ */
    kiln_principal_vd_start(
        c, 0.5 * kappa * (J - 1.0) * (1.0 + r) - third * I + pressure,
        (5.0 / 3.0) * third * r * I + 0.5 * kappa * kiln_vd_fma(r, r, kiln_vd_set(1.0)), s, out);
    /* 2 f_IJ (s_i co_j + s_j co_i), and s_i co_i = J. */
    kiln_vd cross = 2.0 * third;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out->a[i] -= 2.0 * cross * J;
        out->o[i] -= cross * s[i] * kiln_vd_fma(s[j], s[j], s[k] * s[k]);
    }
}

#include "fem/elements_loops.h"

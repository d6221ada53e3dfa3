#include "fem/elements_vd.h"
#include "fem/principal.h"

#define KILN_MODEL           fixed_corotated
#define KILN_MODEL_IS_LINEAR 0

KILN_INLINE void energy_density(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd *W)
{
    kiln_vd C[3][3], R[3][3], trace, square, more;
    kiln_vd_cofactors(F, C);
    kiln_vd_polar(F, C, R);
    kiln_vd_small_invariants(F, &trace, &square, &more);
    kiln_vd change = trace + more;
    for (int k = 0; k < 9; k++)
        R[k / 3][k % 3] = F[k / 3][k % 3] - R[k / 3][k % 3];
    *W = kiln_vd_fma(mu, kiln_vd_frobenius(R, R), 0.5 * lambda * change * change);
}

KILN_INLINE void stress(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd P[3][3])
{
    kiln_vd C[3][3], R[3][3];
    kiln_vd_cofactors(F, C);
    kiln_vd_polar(F, C, R);
    kiln_vd J = kiln_svd3_dot(F[0][0], C[0][0], F[0][1], C[0][1], F[0][2], C[0][2]);
    kiln_vd first = lambda * (J - 1.0);
    for (int k = 0; k < 9; k++)
        P[k / 3][k % 3] =
            kiln_vd_fma(mu + mu, F[k / 3][k % 3] - R[k / 3][k % 3], first * C[k / 3][k % 3]);
}

KILN_INLINE void principal(kiln_vd mu, kiln_vd lambda, kiln_vd pressure, const kiln_vd s[3],
                           kiln_principal_vd *out)
{
    kiln_vd J = s[0] * s[1] * s[2], two = mu + mu;
    kiln_principal_vd_start(two, kiln_vd_fma(lambda, J - 1.0, pressure), lambda, s, out);
    for (int i = 0; i < 3; i++) {
        kiln_vd sum =
            kiln_vd_max(s[(i + 1) % 3] + s[(i + 2) % 3], kiln_vd_set(KILN_PRINCIPAL_SMALLEST_SUM));
        out->p[i] -= two;
        out->plus[i] -= (two + two) / sum;
    }
}

#include "fem/elements_loops.h"

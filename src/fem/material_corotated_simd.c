#include "fem/elements_vd.h"
#include "fem/principal.h"

#define KILN_MODEL           corotated
#define KILN_MODEL_IS_LINEAR 0

/* F - R in D, tr(S - I) = R : (F - R). */
KILN_INLINE void difference(kiln_vd F[3][3], kiln_vd R[3][3], kiln_vd D[3][3], kiln_vd *trace)
{
    kiln_vd C[3][3];
    kiln_vd_cofactors(F, C);
    kiln_vd_polar(F, C, R);
    for (int k = 0; k < 9; k++)
        D[k / 3][k % 3] = F[k / 3][k % 3] - R[k / 3][k % 3];
    *trace = kiln_vd_frobenius(R, D);
}

KILN_INLINE void energy_density(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd *W)
{
    kiln_vd R[3][3], D[3][3], trace;
    difference(F, R, D, &trace);
    *W = kiln_vd_fma(mu, kiln_vd_frobenius(D, D), 0.5 * lambda * trace * trace);
}

KILN_INLINE void stress(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd P[3][3])
{
    kiln_vd R[3][3], D[3][3], trace;
    difference(F, R, D, &trace);
    trace *= lambda;
    for (int k = 0; k < 9; k++)
        P[k / 3][k % 3] = kiln_vd_fma(mu + mu, D[k / 3][k % 3], trace * R[k / 3][k % 3]);
}

KILN_INLINE void principal(kiln_vd mu, kiln_vd lambda, kiln_vd pressure, const kiln_vd s[3],
                           kiln_principal_vd *out)
{
    kiln_vd trace = (s[0] - 1.0) + (s[1] - 1.0) + (s[2] - 1.0), two = mu + mu;
    kiln_vd mean = kiln_vd_fma(lambda, trace, pressure);
    for (int i = 0; i < 3; i++) {
        kiln_vd sum =
            kiln_vd_max(s[(i + 1) % 3] + s[(i + 2) % 3], kiln_vd_set(KILN_PRINCIPAL_SMALLEST_SUM));
        out->p[i] = kiln_vd_fma(two, s[i] - 1.0, mean);
        out->minus[i] = two;
        out->plus[i] = two + 2.0 * (mean - two) / sum;
        out->a[i] = two + lambda;
        out->o[i] = lambda;
    }
}

#include "fem/elements_loops.h"

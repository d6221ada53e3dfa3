#include "fem/elements_vd.h"

#define KILN_MODEL           linear
#define KILN_MODEL_IS_LINEAR 1

KILN_INLINE void strain(kiln_vd F[3][3], kiln_vd e[3][3], kiln_vd *trace)
{
    for (int i = 0; i < 3; i++) {
        e[i][i] = F[i][i] - 1.0;
        for (int j = i + 1; j < 3; j++)
            e[i][j] = e[j][i] = 0.5 * (F[i][j] + F[j][i]);
    }
    *trace = e[0][0] + e[1][1] + e[2][2];
}

KILN_INLINE void energy_density(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd *W)
{
    kiln_vd e[3][3], trace;
    strain(F, e, &trace);
    *W = kiln_vd_fma(mu, kiln_vd_frobenius(e, e), 0.5 * lambda * trace * trace);
}

KILN_INLINE void stress(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd P[3][3])
{
    kiln_vd trace;
    strain(F, P, &trace);
    for (int k = 0; k < 9; k++)
        P[k / 3][k % 3] *= mu + mu;
    for (int i = 0; i < 3; i++)
        P[i][i] = kiln_vd_fma(lambda, trace, P[i][i]);
}

/* Only the Hessian is asked for: it does not depend on s. */
KILN_INLINE void principal(kiln_vd mu, kiln_vd lambda, kiln_vd pressure, const kiln_vd s[3],
                           kiln_principal_vd *out)
{
    (void)pressure, (void)s;
    for (int i = 0; i < 3; i++) {
        out->p[i] = out->plus[i] = (kiln_vd){0};
        out->minus[i] = mu + mu;
        out->a[i] = mu + mu + lambda;
        out->o[i] = lambda;
    }
}

#include "fem/elements_loops.h"

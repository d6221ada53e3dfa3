#include "fem/elements_vd.h"

#define KILN_MODEL           stvk
#define KILN_MODEL_IS_LINEAR 0

/* E = sym G + G'G/2 with G = F - I. */
KILN_INLINE void green(kiln_vd F[3][3], kiln_vd E[3][3], kiln_vd *trace)
{
    kiln_vd G[3][3];
    for (int k = 0; k < 9; k++)
        G[k / 3][k % 3] = F[k / 3][k % 3] - (k % 4 == 0 ? 1.0 : 0.0);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            E[i][j] = E[j][i] =
                0.5 * (G[i][j] + G[j][i] +
                       kiln_svd3_dot(G[0][i], G[0][j], G[1][i], G[1][j], G[2][i], G[2][j]));
    *trace = E[0][0] + E[1][1] + E[2][2];
}

KILN_INLINE void energy_density(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd *W)
{
    kiln_vd E[3][3], trace;
    green(F, E, &trace);
    *W = kiln_vd_fma(mu, kiln_vd_frobenius(E, E), 0.5 * lambda * trace * trace);
}

KILN_INLINE void stress(kiln_vd mu, kiln_vd lambda, kiln_vd F[3][3], kiln_vd P[3][3])
{
    kiln_vd S[3][3], trace;
    green(F, S, &trace);
    for (int k = 0; k < 9; k++)
        S[k / 3][k % 3] *= mu + mu;
    for (int i = 0; i < 3; i++)
        S[i][i] = kiln_vd_fma(lambda, trace, S[i][i]);
    kiln_vd_multiply(F, S, P);
}

KILN_INLINE void principal(kiln_vd mu, kiln_vd lambda, kiln_vd pressure, const kiln_vd s[3],
                           kiln_principal_vd *out)
{
    kiln_vd q[3] = {s[0] * s[0], s[1] * s[1], s[2] * s[2]};
    kiln_vd mean = kiln_vd_fma(0.5 * lambda, q[0] + q[1] + q[2] - 3.0, pressure);
    kiln_vd twice_i = mean - mu;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        kiln_vd sum = q[j] + q[k], product = s[j] * s[k];
        out->p[i] = s[i] * kiln_vd_fma(mu, q[i] - 1.0, mean);
        out->minus[i] = kiln_vd_fma(mu, sum + product, twice_i);
        out->plus[i] = kiln_vd_fma(mu, sum - product, twice_i);
        out->a[i] = kiln_vd_fma(3.0 * mu, q[i], twice_i);
        out->o[i] = (kiln_vd){0};
    }
    kiln_principal_vd_add_i_i(lambda, s, out);
}

#include "fem/elements_loops.h"

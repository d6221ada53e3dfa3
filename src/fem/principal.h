/* Isotropic energies in the signed singular values s of F = U diag(s) V'.
 *
 * With Psi(s) = W(F), P = U diag(Psi_i) V'. Seen in U'dF V the Hessian is a 3x3 block
 * a[i][k] = Psi_ik on the diagonal entries and, for each pair (i, j), two eigenvalues on the
 * symmetric and the antisymmetric combination of the entries (i, j) and (j, i):
 *     minus = (Psi_i - Psi_j) / (s_i - s_j),    plus = (Psi_i + Psi_j) / (s_i + s_j),
 * stored under the third index k. Models give both in a form without division where there is one,
 * so repeated, zero and negative singular values need no special treatment. */
#ifndef KILN_FEM_PRINCIPAL_H
#define KILN_FEM_PRINCIPAL_H

#include "fem/material.h"

typedef struct kiln_principal {
    double p[3];
    double a[3][3];
    double minus[3], plus[3]; /* [k] of the pair without k */
} kiln_principal;

typedef void (*kiln_principal_function)(double mu, double lambda, double pressure,
                                        const double s[3], kiln_principal *out);

/* An energy f(I, II, J), I = tr F'F, II = tr (F'F)^2, J = det F: its derivatives. Those of second
 * order that are missing are zero in every model there is. */
typedef struct kiln_invariants {
    double i, ii, j, i_i, i_j, j_j;
} kiln_invariants;
void kiln_principal_of_invariants(const kiln_invariants *f, const double s[3], kiln_principal *out);

/* Sums s_i + s_j below this count as this: the rotation of the polar decomposition is not unique
 * where two singular values cancel, and models that use it have no second derivative there. */
#define KILN_PRINCIPAL_SMALLEST_SUM 1e-6

void kiln_principal_stress(kiln_principal_function principal, double mu, double lambda,
                           const kiln_mat3 *F, kiln_mat3 *P);
void kiln_principal_hessian(kiln_principal_function principal, double mu, double lambda,
                            double pressure, const kiln_mat3 *F, bool project, double H[9][9]);

/* J - 1 from s - 1 without cancellation, and d - log(1 + d): what barrier energies are made of, so
 * that they keep their relative accuracy at small strain. */
KILN_INLINE double kiln_principal_volume_change(const double s[3])
{
    double a = s[0] - 1.0, b = s[1] - 1.0, c = s[2] - 1.0;
    return (a + b + c) + (a * b + b * c + c * a) + a * b * c;
}
double kiln_log_residual(double d);

#endif

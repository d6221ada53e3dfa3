/* Dampers: what resists the rate of strain of one tet, held through a step.
 *
 * The rate of Green strain at the end of a step is (dE - past) / tau with dE = E(x) - E(x_n): the
 * integrator's own formula for velocities, applied to strains (damping.h). All of it is kept in the
 * axes V of the stretches s at x_n, F_n = U diag(s) V', where the resistance falls apart as the
 * Hessian of an isotropic energy does (principal.h): a 3x3 block between the diagonal entries of
 * the rate, and a number for each of the others.
 *
 * Stiffness. The PSD Hessian in F at x_n resists rates of F; one that turns nothing is in these
 * axes symmetric, dF_ij = 2 dE_ij / (s_i + s_j). So the block is a_ik / (s_i s_k), the numbers are
 * 4 minus / (s_i + s_j)^2, and what resists rotation (`plus`, the stress) has no part in it.
 * Viscosity. 2 eta dev d with d_ij = dE_ij / (s_i s_j) in the volume J V. */
#ifndef KILN_FEM_DAMPING_IMPL_H
#define KILN_FEM_DAMPING_IMPL_H

#include "fem/elements_impl.h"

/* Stretches and their sums count as no less than this part of the largest: a tet that is flat at
 * x_n resists, but not without bound. */
#define KILN_DAMPER_FLATTEST (1.0 / 64.0)

/* Of the tets of a batch; volume and 1 / tau are in it. */
typedef struct kiln_damper {
    double B[9][KILN_ELEMENT_LANES]; /* row by row: F V = Dw B */
    double a[3][KILN_ELEMENT_LANES],
        o[3][KILN_ELEMENT_LANES];       /* the block, off diagonal [without k] */
    double c[3][KILN_ELEMENT_LANES];    /* [without k] stress over rate */
    double t[3][KILN_ELEMENT_LANES];    /* V dtheta / dE, without 1 / tau; nodal pressure only */
    double past[6][KILN_ELEMENT_LANES]; /* xx yy zz yz zx xy */
} kiln_damper;

typedef struct kiln_damper_rates {
    double stiffness, viscosity; /* s, Pa s */
    const double *stiffness_of;  /* [tet slot] beside it; NULL: none */
    const double *viscosity_of;  /* [tet slot] instead; NULL: none */
    double least_volume;         /* m^3, by which viscosity resists; 0: its own */
    double per_tau;              /* 1/s */
} kiln_damper_rates;

KILN_INLINE bool kiln_damper_is_stiff(const kiln_damper_rates *rates)
{
    return rates->stiffness > 0.0 || rates->stiffness_of;
}

/* One chunk. */
typedef struct kiln_damper_span {
    const kiln_damper *damper;       /* [batches] */
    const kiln_element_batch *batch; /* [batches] */
    const uint32_t *vertex;          /* [batch][8][4] */
    size_t batches;
    const double *x_n;
    const double *pressure; /* [batch][8] of the nodal form, Pa; NULL: none */
} kiln_damper_span;

/* past = before_weight (E(before) - E(x_n)) + rate_weight dE/dt(v); weights 0: the vector may be
 * NULL. */
typedef struct kiln_damper_past {
    const double *x_n, *before, *v;
    double before_weight, rate_weight;
} kiln_damper_past;
KILN_SIMD_DECLARE(void, kiln_damper_set_past, const kiln_damper_past *past, const uint32_t *vertex,
                  size_t batches, kiln_damper *out);
/* The potential at x minus, unless from is NULL, that at `from`. `rate` [batch][8], unless NULL:
 * V dtheta of the step, minus that at `from`; `sum`: both added. */
KILN_SIMD_DECLARE(double, kiln_damper_energy, const kiln_damper_span *span, const double *from,
                  const double *x, double *rate, double *sum);
/* Gradient and, unless H is NULL, PSD Hessian but for what nodal pressure couples: for that
 * `gradient` [batch][8][9], unless NULL, becomes the derivative of V theta in the places of
 * vertices 1 to 3. */
KILN_SIMD_DECLARE(void, kiln_damper_add, const kiln_damper_span *span, const double *x,
                  double scale, double *g, kiln_bsr *H, double *gradient);
/* What is to be added to the gradient for the stress to act at the mean of the shapes at x_n and x
 * instead of at x. */
KILN_SIMD_DECLARE(void, kiln_damper_centre, const kiln_damper_span *span, const double *x,
                  double *g);

#endif

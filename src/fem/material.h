/* Elastic materials: one row per model, in materials.c; each model is one file.
 *
 * A model is an energy density W(F) per rest volume. All but `linear` are isotropic and written in
 * the signed singular values of F (geom/svd3.h), where the Hessian falls apart into a 3x3 block and
 * three pairs of scalars, so its PSD part is analytic. */
#ifndef KILN_FEM_MATERIAL_H
#define KILN_FEM_MATERIAL_H

#include "base/error.h"
#include "geom/vec3.h"

#include <stdbool.h>

/* What the volumetric part of the energy is a function of: W = W_shape(F) + U(theta(F)). The nodal
 * pressure form (nodal_pressure.h) averages theta over the tets at a vertex. */
typedef enum kiln_dilation {
    KILN_DILATION_TRACE,   /* tr F - 3: linear */
    KILN_DILATION_STRETCH, /* tr S - 3: corotated */
    KILN_DILATION_VOLUME,  /* J: fixed-corotated and the neo-Hookeans */
    KILN_DILATION_GREEN    /* tr (F'F - I) / 2: stvk */
} kiln_dilation;

typedef struct kiln_material_model {
    const char *name, *help;
    bool barrier; /* infinite at J <= 0: steps are kept from inverting a tet */
    kiln_dilation dilation;

    /* Scalar reference, also used for output and by the tests. mu, lambda in Pa. `project` gives
     * the PSD part. H[3 i + j][3 k + l] = d P_ij / d F_kl. */
    double (*energy)(double mu, double lambda, const kiln_mat3 *F);
    void (*stress)(double mu, double lambda, const kiln_mat3 *F, kiln_mat3 *P);
    void (*hessian)(double mu, double lambda, const kiln_mat3 *F, bool project, double H[9][9]);
    /* U, U' and U'' at theta. */
    void (*volumetric)(double mu, double lambda, double theta, double u[3]);

    /* Batched kernels, one per instruction set (elements_simd.c). */
    const struct kiln_element_kernels *kernels;
} kiln_material_model;

const kiln_material_model *kiln_material_model_at(size_t row); /* NULL past the last */
/* An error names the nearest. */
kiln_status kiln_material_model_find(const char *name, const kiln_material_model **out,
                                     kiln_error *error);

typedef struct kiln_material {
    const kiln_material_model *model;
    double mu, lambda;        /* Pa */
    double density;           /* kg/m^3 */
    double damping_mass;      /* Rayleigh alpha, 1/s */
    double damping_stiffness; /* Rayleigh beta, s */
    double viscosity;         /* Pa s */
    bool nodal_pressure;      /* against locking */
} kiln_material;

KILN_INLINE void kiln_lame_from_young(double young, double poisson, double *mu, double *lambda)
{
    *mu = young / (2.0 * (1.0 + poisson));
    *lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
}

#endif

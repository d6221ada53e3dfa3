/* Elastic materials: one row per model, in materials.c; each model is one file.
 *
 * A model is an energy density W(F) per rest volume, zero at rest. All but `linear` are isotropic
 * and written in the signed singular values of F (geom/svd3.h), where the Hessian falls apart into
 * a 3x3 block and three pairs of scalars (principal.h), so its PSD part is analytic. Every model is
 * linear elasticity with the given mu and lambda in the limit of small strain. */
#ifndef KILN_FEM_MATERIAL_H
#define KILN_FEM_MATERIAL_H

#include "base/error.h"
#include "geom/vec3.h"

#include <math.h>
#include <stdbool.h>

struct kiln_principal;

/* What the volumetric part of the energy is a function of: W = W_shape(F) + U(theta(F)). The nodal
 * pressure form (nodal_pressure.h) averages theta over the tets at a vertex. */
typedef enum kiln_dilation {
    KILN_DILATION_TRACE,   /* tr F - 3: linear */
    KILN_DILATION_STRETCH, /* tr S - 3: corotated */
    KILN_DILATION_VOLUME,  /* J: fixed-corotated and the neo-Hookeans */
    KILN_DILATION_GREEN,   /* tr (F'F - I) / 2: stvk */
    KILN_DILATION_CHANGE   /* J - 1: of no model, but of matter that flows (flow_potential.h) */
} kiln_dilation;

typedef struct kiln_material_model {
    const char *name, *help;
    bool barrier; /* infinite at J <= 0: steps are kept from inverting a tet */
    kiln_dilation dilation;
    /* U is proportional to lambda - shape_lambda mu, so W_shape is W at lambda = shape_lambda mu.
     */
    double shape_lambda;

    /* Scalar reference, also used for output and by the tests. mu, lambda in Pa. Stress and Hessian
     * are NULL where they follow from `principal`: ask kiln_material_stress and _hessian. */
    double (*energy)(double mu, double lambda, const kiln_mat3 *F);
    void (*stress)(double mu, double lambda, const kiln_mat3 *F, kiln_mat3 *P);
    void (*hessian)(double mu, double lambda, const kiln_mat3 *F, bool project, double H[9][9]);
    /* U, U' and U'' at theta. */
    void (*volumetric)(double mu, double lambda, double theta, double u[3]);
    /* First and second derivatives of W + pressure * theta in the singular values s; NULL: linear,
     * whose Hessian is constant. */
    void (*principal)(double mu, double lambda, double pressure, const double s[3],
                      struct kiln_principal *out);

    /* Batched loops [kiln_isa] (element_kernels.h), from material_<model>_simd.c. */
    const struct kiln_element_kernels *const *kernels;
} kiln_material_model;

/* theta at F, and its derivative. */
double kiln_dilation_value(kiln_dilation dilation, const kiln_mat3 *F);
void kiln_dilation_gradient(kiln_dilation dilation, const kiln_mat3 *F, kiln_mat3 *gradient);
/* First Piola-Kirchhoff stress; not finite where a barrier is infinite, nor is the Hessian. */
void kiln_material_stress(const kiln_material_model *model, double mu, double lambda,
                          const kiln_mat3 *F, kiln_mat3 *P);
/* Hessian of W + pressure * theta, H[3 i + j][3 k + l] = d P_ij / d F_kl, or its PSD part. */
void kiln_material_hessian(const kiln_material_model *model, double mu, double lambda,
                           double pressure, const kiln_mat3 *F, bool project, double H[9][9]);

const kiln_material_model *kiln_material_model_at(size_t row); /* NULL past the last */
/* An error names the nearest. */
kiln_status kiln_material_model_find(const char *name, const kiln_material_model **out,
                                     kiln_error *error);

/* When matter yields and how it flows then (plasticity.h). The norm is of the principal stresses:
 * of the first Piola-Kirchhoff stress (DLR and VPF, pressure included), or of the deviator of the
 * Kirchhoff stress, which is sqrt(2/3) of the stress in a tension test. */
typedef enum kiln_yield_norm { KILN_YIELD_FROBENIUS, KILN_YIELD_MISES } kiln_yield_norm;
typedef enum kiln_hardening_law {
    KILN_HARDENING_WORK,  /* threshold += hardening * gamma * s (DLR) */
    KILN_HARDENING_STRESS /* threshold = yield + hardening * alpha, alpha' = s (VPF) */
} kiln_hardening_law;

typedef struct kiln_plastic {
    bool flows;   /* false: elastic, whatever the rest says */
    bool instant; /* gamma such that the yield surface is reached: radial return */
    kiln_yield_norm norm;
    kiln_hardening_law law;
    double yield;     /* Pa in the norm; 0: creep */
    double rate;      /* 1/s; not with `instant` */
    double hardening; /* work: no unit; stress: 1/s. Negative: softening */
} kiln_plastic;

/* What keeps the pressure of liquid, of as many unknowns as it has vertices, from alternating. */
typedef enum kiln_pressure_rule {
    KILN_PRESSURE_STABILISED, /* tets let go of what is not constant in them (ring_volume.h) */
    KILN_PRESSURE_SUBDIVIDE,  /* tets between surfaces are divided while a step is found (SLI 5) */
    KILN_PRESSURE_MINI        /* tets have an unknown more (bubble.h) */
} kiln_pressure_rule;

typedef struct kiln_material {
    const kiln_material_model *model;
    double mu, lambda;        /* Pa */
    double density;           /* kg/m^3 */
    double damping_mass;      /* Rayleigh alpha, 1/s */
    double damping_stiffness; /* Rayleigh beta, s */
    double viscosity;         /* Pa s */
    bool nodal_pressure;      /* against locking */
    bool liquid;              /* keeps its volume, and has no shape to go back to: mu, lambda 0 */
    double surface_tension;   /* of its surface with air, N/m */
    kiln_pressure_rule pressure; /* of liquid */
    bool wettable;        /* solid: liquid of the same body slides along its surface to ... */
    double contact_angle; /* degrees, in the liquid */
    kiln_plastic plastic;
} kiln_material;

KILN_INLINE void kiln_lame_from_young(double young, double poisson, double *mu, double *lambda)
{
    *mu = young / (2.0 * (1.0 + poisson));
    *lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
}

/* N/m of liquid on a solid that it wets, less that of the solid alone (Young). */
KILN_INLINE double kiln_wet_tension(const kiln_material *liquid, const kiln_material *solid)
{
    const double degree = 0.017453292519943295769;
    return -liquid->surface_tension * cos(degree * solid->contact_angle);
}

#endif

/* Plastic flow: a tet whose stress passes its threshold takes part of its strain for its rest shape
 * (DLR eq. 3, VPF eq. 8-12):
 *     Pi <- Pi V (S / det(S)^(1/3))^-gamma V',   gamma = clamp(h rate (s - threshold) / s, 0, 1)
 * with F = U S V' and s the norm of the stress. Rest volumes do not change.
 *
 * State beside the offsets (offset.h) is tet fields of the mesh under the rule average:
 * "hardening", what the law adds up (work: the growth of the threshold, Pa, never below -yield;
 * stress: Pa s), and "plastic_strain", the equivalent plastic strain, the sum of
 * sqrt(2/3) gamma |dev ln S|. */
#ifndef KILN_FEM_PLASTICITY_H
#define KILN_FEM_PLASTICITY_H

#include "fem/elements.h"
#include "fem/offset.h"

#define KILN_FIELD_HARDENING      "hardening"
#define KILN_FIELD_PLASTIC_STRAIN "plastic_strain"

/* Adds the offsets and the fields above where they are missing. */
kiln_status kiln_plastic_add_fields(kiln_mesh *mesh, kiln_error *error);

/* Matter at one place. The law is isotropic: singular values of F are all it needs. */
typedef struct kiln_matter {
    const kiln_material *material;
    double mu, lambda; /* Pa; lambda as the material has it, also with nodal pressure */
    double pressure;   /* of the nodal form, Pa; 0 without */
    double s[3];
} kiln_matter;

/* Too flat to have a reliable stress, or inverted: does not flow (VPF 5). */
KILN_INLINE bool kiln_plastic_is_degenerate(const double s[3])
{
    return !(s[2] > 1e-6 * s[0]) || !isfinite(s[0]);
}
/* Principal first Piola-Kirchhoff stresses p and their derivatives a; all of *out for models that
 * have a `principal`. */
void kiln_plastic_stress(const kiln_matter *matter, struct kiln_principal *out);
/* Element `number`, which is `i` of a decomposed group. */
struct kiln_element_group;
kiln_matter kiln_plastic_matter(const kiln_elements *elements, const kiln_material *material,
                                size_t number, const struct kiln_element_group *group, size_t i);
/* The stress norm that yield is about, Pa. */
double kiln_plastic_norm(const kiln_matter *matter);

/* The norms of all tets at x, [tet slot], of what the step that was just made has left where matter
 * has flowed inside it; rows of tets that do not flow and of dead ones are not
 * touched. */
void kiln_plastic_norms(const kiln_elements *elements, const double *x, double *norm);

/* What becomes of it in a step of h seconds. */
typedef struct kiln_flow {
    double gamma;             /* part of ln S that becomes plastic, 0 to 1 */
    double d[3];              /* of ln S, what becomes plastic; only where gamma > 0 */
    double hardening, strain; /* after the step */
} kiln_flow;
kiln_flow kiln_plastic_flow(const kiln_matter *matter, const kiln_plastic *law, double h,
                            double hardening, double strain);

typedef struct kiln_flow_report {
    size_t flowed;   /* tets whose rest shape changed */
    size_t skipped;  /* inverted or degenerate: left alone (VPF 5) */
    double greatest; /* gamma */
    double strain;   /* largest equivalent plastic strain that was added */
    double elastic;  /* largest equivalent elastic strain of those that flowed, before, */
    double kept;     /* and after */
    double off;      /* largest strain by which equilibrium may be another now */
} kiln_flow_report;

/* After an accepted step of h seconds that ended at mesh->x. `laws` [tet slot] in place of the
 * materials', where parameters are functions; NULL: the materials'. What the step has let flow
 * (yield_surfaces.h) is taken from there. `flowed` [tet slot] becomes 1
 * where a tet did; NULL: nobody asks. Elements are not
 * changed: call kiln_elements_reform; they must be as the mesh's offsets are. */
kiln_status kiln_plastic_update(const kiln_elements *elements, kiln_mesh *mesh,
                                const kiln_plastic *laws, double h, uint8_t *flowed,
                                kiln_flow_report *report, kiln_error *error);

#endif

/* Damping as terms that do not see rigid motion. An integrator's velocity at the end of the step is
 * a difference formula, v(x) = (x - origin) / tau. Stiffness (Rayleigh's beta) and viscosity resist
 * the same formula applied to Green strains, tet by tet:
 *     rate = (E(x) - E(x_n) - past) / tau,
 * and have the potential V tau / 2 rate : C : rate. C is held through the step, from the shape at
 * x_n: the tangent of the material without what resists rotation (at rest and for small strains
 * beta K exactly, K the PSD Hessian, nodal pressure included), and for viscosity such that the
 * Cauchy stress is 2 eta dev of the rate of deformation. A body that turns by any angle in a step
 * has no rate. Rayleigh's alpha resists motion itself: (x - origin)' alpha M (x - origin) / (2
 * tau).
 */
#ifndef KILN_FEM_DAMPING_H
#define KILN_FEM_DAMPING_H

#include "fem/mass.h"
#include "fem/nodal_pressure.h"

typedef struct kiln_damping kiln_damping;

kiln_status kiln_damping_create(kiln_context *context, kiln_elements *elements, kiln_damping **out,
                                kiln_error *error);
void kiln_damping_destroy(kiln_damping *damping); /* NULL allowed */
/* The nodal pressure whose Hessian belongs to K; borrowed, NULL: none. Before a build. */
void kiln_damping_set_pressure(kiln_damping *damping, kiln_nodal_pressure *pressure);
/* Viscosities [tet slot] in place of the materials', Pa s; borrowed, NULL: none. Before a build;
 * what they are may change until each begin. */
void kiln_damping_set_viscosity(kiln_damping *damping, const double *viscosity);
/* Of liquid, m^3: smaller tets resist with their viscosity as much as if they were as large. What
 * is finer than anything that was asked for (breaks and creases leave it) is not resolved, and
 * comes to rest in its surroundings. Before a begin; 0: as it is. */
void kiln_damping_set_least_volume(kiln_damping *damping, double volume);
/* After the elements, the mass and the nodal pressure were built or updated. `tet_mass` as the mass
 * got it (density may differ from tet to tet within a material); NULL: no material has
 * damping_mass. */
kiln_status kiln_damping_build(kiln_damping *damping, const kiln_mesh *mesh, kiln_mass_kind kind,
                               const double *tet_mass, kiln_error *error);
/* After a build and before a begin: beta [tet slot], s, beside the materials', of what keeps a
 * shape alone (not of nodal pressure); borrowed until the next of these calls, NULL: none. */
kiln_status kiln_damping_set_passing(kiln_damping *damping, const double *beta, kiln_error *error);
const double *kiln_damping_viscosity(const kiln_damping *damping);
bool kiln_damping_is_used(const kiln_damping *damping);

/* The integrator's formula: tau v = x - origin, and origin = x_n + before_weight (before - x_n) +
 * rate_weight v_n. Vectors [vertex slot][3], borrowed until the next begin; those of weight 0 may
 * be NULL. */
typedef struct kiln_damping_start {
    const double *x_n, *before, *v_n, *origin;
    double before_weight, rate_weight, tau;
    bool means; /* over the step, also of the shape that the forces act on */
} kiln_damping_start;
void kiln_damping_begin(kiln_damping *damping, const kiln_damping_start *start);
kiln_term *kiln_damping_term(kiln_damping *damping);
size_t kiln_damping_bytes(const kiln_damping *damping);

#endif

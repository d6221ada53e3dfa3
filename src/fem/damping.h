/* Damping as terms. An integrator's velocity at the end of the step is v(x) = (x - origin) / tau,
 * so a force -D v has the potential (x - origin)' D (x - origin) / (2 tau). D is held through the
 * step: Rayleigh D = alpha M + beta K(x_n) with alpha, beta of each tet's material (K the PSD
 * Hessian), viscosity D(x_n) such that the Cauchy stress is 2 eta dev(sym grad v). One matrix is
 * kept, none if there is only alpha and the mass is lumped. */
#ifndef KILN_FEM_DAMPING_H
#define KILN_FEM_DAMPING_H

#include "fem/mass.h"
#include "fem/nodal_pressure.h"

typedef struct kiln_damping kiln_damping;

kiln_status kiln_damping_create(kiln_context *context, kiln_elements *elements, kiln_mass *mass,
                                kiln_damping **out, kiln_error *error);
void kiln_damping_destroy(kiln_damping *damping); /* NULL allowed */
/* The nodal pressure whose Hessian belongs to K; borrowed, NULL: none. Before a build. */
void kiln_damping_set_pressure(kiln_damping *damping, kiln_nodal_pressure *pressure);
/* Viscosities [tet slot] in place of the materials', Pa s; borrowed, NULL: none. Before a build;
 * what they are may change until each begin. */
void kiln_damping_set_viscosity(kiln_damping *damping, const double *viscosity);
/* After the elements, the mass and the nodal pressure were built or updated. `tet_mass` as the mass
 * got it (density may differ from tet to tet within a material); NULL: no material has
 * damping_mass. */
kiln_status kiln_damping_build(kiln_damping *damping, const double *tet_mass, kiln_error *error);
bool kiln_damping_is_used(const kiln_damping *damping);

/* Begin of a step at x_n. `origin` is borrowed until the next begin. */
kiln_status kiln_damping_begin(kiln_damping *damping, const double *x_n, const double *origin,
                               double tau, kiln_error *error);
kiln_term *kiln_damping_term(kiln_damping *damping);
size_t kiln_damping_bytes(const kiln_damping *damping);

#endif

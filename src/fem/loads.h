/* External forces as one term: dead forces have the potential -f.x; pressure follows the surface
 * and is held through a Newton solve (the term's `lag` renews it). */
#ifndef KILN_FEM_LOADS_H
#define KILN_FEM_LOADS_H

#include "fem/mass.h"

typedef struct kiln_loads kiln_loads;

kiln_status kiln_loads_create(kiln_context *context, kiln_loads **out, kiln_error *error);
void kiln_loads_destroy(kiln_loads *loads); /* NULL allowed */

/* No loads on `mesh`, which is borrowed until the next reset. */
kiln_status kiln_loads_reset(kiln_loads *loads, const kiln_mesh *mesh, kiln_error *error);
/* Times the (lumped or consistent) mass of all vertices, m/s^2. */
void kiln_loads_add_acceleration(kiln_loads *loads, const kiln_mass *mass, kiln_vec3 a);
void kiln_loads_add_force(kiln_loads *loads, uint32_t vertex, kiln_vec3 force); /* N */
/* N/m^2 over the area the surface face has in `space`, a third to each vertex. */
void kiln_loads_add_traction(kiln_loads *loads, uint32_t face, kiln_vec3 traction,
                             kiln_space space);
/* Positive pushes inward. Needs memory for the list. */
kiln_status kiln_loads_add_pressure(kiln_loads *loads, uint32_t face, double pressure,
                                    kiln_error *error);
kiln_term *kiln_loads_term(kiln_loads *loads);
const double *kiln_loads_force(const kiln_loads *loads); /* [vertex slot][3] as last lagged, N */
size_t kiln_loads_bytes(const kiln_loads *loads);

#endif

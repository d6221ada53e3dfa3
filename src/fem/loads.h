/* External forces as one term. Dead forces have the potential -f.x. Pressure follows the surface:
 * its potential is the work p times the volume that the faces sweep on the straight way from the
 * places they had when the term was last lagged. On a closed surface under one pressure, or one
 * whose rim is held, that is p V itself and nothing is left. On any other force and the symmetric
 * part of its stiffness are right where it was lagged, so every iteration of Newton lags it anew
 * (`renew`) and solves with the rest of the stiffness, which is not symmetric (`add_rest`). `lag`
 * tells whether the force at the end is the one that follows.
 *
 * The Hessian is as it is or none, never a PSD part: what each face has of it cancels along shared
 * edges, and where parts were projected it would not. It couples the vertices of faces, which the
 * elements do, too: the term has no cliques of its own, and adds to no matrix without theirs. */
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
/* N of a tet, a quarter to each vertex. */
void kiln_loads_add_body(kiln_loads *loads, uint32_t tet, kiln_vec3 force);
/* N/m^2 over the area the surface face has in `space`, a third to each vertex. */
void kiln_loads_add_traction(kiln_loads *loads, uint32_t face, kiln_vec3 traction,
                             kiln_space space);
/* Positive pushes inward. Needs memory for the list. */
kiln_status kiln_loads_add_pressure(kiln_loads *loads, uint32_t face, double pressure,
                                    kiln_error *error);
kiln_term *kiln_loads_term(kiln_loads *loads);
/* What dead loads are made of, for who meshes the matter anew: m/s^2 of all of it; N/m^2 of the
 * material, [face slot]; N/m^3 of it, [tet slot]; and N at single vertices, [vertex slot]. Pressure
 * by [face slot], Pa. */
kiln_vec3 kiln_loads_acceleration(const kiln_loads *loads);
const kiln_vec3 *kiln_loads_pulls(const kiln_loads *loads);
const kiln_vec3 *kiln_loads_bulk(const kiln_loads *loads);
const kiln_vec3 *kiln_loads_points(const kiln_loads *loads);
const double *kiln_loads_pressures(const kiln_loads *loads);
const double *kiln_loads_force(const kiln_loads *loads); /* [vertex slot][3] where last lagged, N */
/* -f.x of the dead forces and p V of the pressure, J: V of the cones over the faces from a vertex
 * of theirs, the volume enclosed where they are closed. */
double kiln_loads_potential(kiln_loads *loads, const double *x);
size_t kiln_loads_bytes(const kiln_loads *loads);

#endif

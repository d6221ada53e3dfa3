/* Stress of matter that would expand: p theta(F) V of every tet, as one term, with
 *     p = -(3 lambda + 2 mu) alpha (T - T_0)
 * and theta the dilation that the tet's model is written in (material.h), whose derivative at rest
 * is the identity: clamped matter has the stress p I exactly, whatever its model, and one that is
 * free expands by alpha (T - T_0) (to the second order of it).
 *
 * It couples what elements couple: no cliques of its own. */
#ifndef KILN_FEM_THERMAL_STRESS_H
#define KILN_FEM_THERMAL_STRESS_H

#include "fem/material.h"
#include "mesh/mesh.h"
#include "solve/term.h"

typedef struct kiln_thermal_stress kiln_thermal_stress;

kiln_status kiln_thermal_stress_create(kiln_context *context, kiln_thermal_stress **out,
                                       kiln_error *error);
void kiln_thermal_stress_destroy(kiln_thermal_stress *stress); /* NULL allowed */
/* The tets as they are, with their rest shapes (offset.h); `material_of` [tet slot] indexes
 * materials, of which models are looked at. Pressures are 0 until they are set. */
kiln_status kiln_thermal_stress_build(kiln_thermal_stress *stress, const kiln_mesh *mesh,
                                      const kiln_material *materials, const uint32_t *material_of,
                                      kiln_error *error);
/* [tet slot] p, Pa; the caller fills it. */
double *kiln_thermal_stress_pressures(kiln_thermal_stress *stress);
kiln_term *kiln_thermal_stress_term(kiln_thermal_stress *stress);

#endif

/* Averaged nodal pressure against volumetric locking: theta (material.h) is averaged at the
 * vertices, theta_a = sum_e V_e theta_e / sum_e V_e over the tets e at a, and the volumetric energy
 * is sum_a V_a U(theta_a), V_a a quarter of the rest volumes. Averages stay inside one material.
 * Its Hessian couples all vertices of the star of each vertex (the 2-ring pattern). */
#ifndef KILN_FEM_NODAL_PRESSURE_H
#define KILN_FEM_NODAL_PRESSURE_H

#include "fem/elements.h"

typedef struct kiln_nodal_pressure kiln_nodal_pressure;

kiln_status kiln_nodal_pressure_create(kiln_context *context, kiln_elements *elements,
                                       kiln_nodal_pressure **out, kiln_error *error);
void kiln_nodal_pressure_destroy(kiln_nodal_pressure *pressure); /* NULL allowed */
/* After kiln_elements_build. */
kiln_status kiln_nodal_pressure_build(kiln_nodal_pressure *pressure, kiln_error *error);
/* After kiln_elements_update, with the same changes: the bits of a build. After a failure the term
 * is not in use. */
kiln_status kiln_nodal_pressure_update(kiln_nodal_pressure *pressure, const kiln_changes *changes,
                                       kiln_error *error);
/* After kiln_elements_reform: volumes anew, the pattern stays. */
void kiln_nodal_pressure_reform(kiln_nodal_pressure *pressure);
bool kiln_nodal_pressure_is_used(const kiln_nodal_pressure *pressure); /* some tet wants it */
kiln_term *kiln_nodal_pressure_term(kiln_nodal_pressure *pressure);
size_t kiln_nodal_pressure_bytes(const kiln_nodal_pressure *pressure);
/* Exact Hessian instead of its PSD part, for the tests: all of it is then this term's, and the
 * elements see no pressure. */
void kiln_nodal_pressure_set_exact(kiln_nodal_pressure *pressure, bool exact);

/* For damping. Nodes are numbered by the pressure; elements by the elements. */
size_t kiln_nodal_pressure_nodes(const kiln_nodal_pressure *pressure);
/* `out` [node]: U'' / (4 W_a) at x where it is positive, times scale_of[material]. */
void kiln_nodal_pressure_curvatures(kiln_nodal_pressure *pressure, const double *x,
                                    const double *scale_of, double *out);
/* Sums over the tets at each node, and over the nodes of each element. */
void kiln_nodal_pressure_gather(kiln_nodal_pressure *pressure, const double *of_element,
                                double *out);
void kiln_nodal_pressure_spread(kiln_nodal_pressure *pressure, const double *of_node, double *out);
/* H += scale sum_a factor[a] G_a G_a', G_a the sum of `gradient` [element number][9] over its tets,
 * those of an element's vertices 1 to 3. The scratch is for it. */
double *kiln_nodal_pressure_scratch(kiln_nodal_pressure *pressure);
void kiln_nodal_pressure_add_outer(kiln_nodal_pressure *pressure, const double *factor,
                                   double scale, kiln_bsr *H);

#endif

/* The yield surfaces that a step sees, one for each tet of materials that flow inside it
 * (flow_potential.h).
 *
 * In the norm frobenius, s^2 = |P|^2 with pressure in it, the surface of the deviator is
 * threshold * ratio, ratio = |dev tau| / |P| where the stress is; that is held while steps are
 * found and renewed between them and after a solve (term.h, lag), until it has settled. In a stress
 * that grows in proportion the ratio does not change.
 *
 * Its pressure is that of the neighbourhood: averaged at the vertices over the tets of the material
 * (by volume), then over the vertices of the tet. A P1 tet that flows cannot keep its volume as its
 * neighbours ask of it and has a pressure of its own, of either sign and of the size of the yield
 * stress, that means nothing: counted in the norm, with flow after the step, it left a bent bar
 * (P4 as it was, KM(4)) 1.16 of its moment of first yield, and 1.52 as it is here. */
#ifndef KILN_FEM_YIELD_SURFACES_H
#define KILN_FEM_YIELD_SURFACES_H

#include "fem/flow_potential.h"

#include <float.h>

/* Before a step: the elements take the surfaces of this moment, and are elastic again after its
 * end. They are kept for the update that follows (kiln_plastic_update). */
kiln_status kiln_yield_surfaces_begin(kiln_elements *elements, const kiln_mesh *mesh,
                                      kiln_error *error);
void kiln_yield_surfaces_end(kiln_elements *elements);

/* Laws [tet slot] in place of the materials' (NULL: those), from now on and in the step being made;
 * borrowed, until other ones are set or the tets change. Surfaces of the step before are gone. */
void kiln_yield_surfaces_set_laws(kiln_elements *elements, const kiln_plastic *laws,
                                  const kiln_mesh *mesh);

/* In the step being made: whether there are any, and whether some are lagged. */
bool kiln_yield_surfaces_are_used(const kiln_elements *elements);
bool kiln_yield_surfaces_follow(const kiln_elements *elements);

/* The `lag` of the elements: ratios as they are at x. Returns by how much they change where matter
 * flows, relatively; 0, and nothing changes, when that is too little to count. */
double kiln_yield_surfaces_lag(void *elements, const double *x);

/* Of the step that was just made, of element `number`; false when there was none since the elements
 * last changed. */
bool kiln_yield_surface_of(const kiln_elements *elements, size_t number,
                           kiln_yield_surface *surface, double *ratio);
/* Of all tets [tet slot], threshold and growth; of those that do not flow inside steps this
 * threshold, which is finite as fields of a mesh must be, and 0. */
#define KILN_NEVER_YIELDS DBL_MAX
void kiln_yield_surfaces_column(const kiln_elements *elements, double (*surface)[2]);

#endif

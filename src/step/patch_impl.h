/* The matrix of a patch, between patch.c, which fills it, and patch_factor.c, which solves. */
#ifndef KILN_STEP_PATCH_IMPL_H
#define KILN_STEP_PATCH_IMPL_H

#include "fem/element_kernels.h"
#include "step/patch.h"

/* What a row is made of. */
typedef struct kiln_patch_vertex {
    kiln_vec3 u, force;
    kiln_patch_corner corner;
    kiln_tie held;
} kiln_patch_vertex;

/* Columns of a patch or of lanes, [row][3]. */
typedef struct kiln_patch_past {
    const double *begin, *before, *rate;
} kiln_patch_past;

KILN_INLINE bool kiln_patch_has_dampers(const kiln_local_objective *o,
                                        const kiln_material *material)
{
    return o->brief.any && (o->viscosity || o->steady || material->damping_stiffness > 0.0 ||
                            material->viscosity > 0.0);
}
/* By the slots of a span's batches; NULL: the material's viscosity, and no damping beside its own.
 */
typedef struct kiln_patch_rates {
    const double *viscosity, *steady;
} kiln_patch_rates;
/* Those of a span, [batch]. */
void kiln_patch_form_dampers(const kiln_local_objective *objective, const kiln_element_span *span,
                             const kiln_patch_past *past, kiln_patch_rates of, kiln_damper *out);
/* J at x, less that at `from` unless that is NULL. */
double kiln_patch_damped(const kiln_local_objective *objective, const kiln_element_span *span,
                         const kiln_patch_past *past, const kiln_damper *dampers,
                         const double *from, const double *x);
void kiln_patch_add_dampers(const kiln_local_objective *objective, const kiln_element_span *span,
                            const kiln_patch_past *past, const kiln_damper *dampers,
                            const double *x, double *g, kiln_bsr *H);
/* Forces at the mean of two shapes are no gradient: what is to be added to it, times the weight,
 * held through an iteration (fem/damping.c). */
void kiln_patch_add_aside(const kiln_local_objective *objective, const kiln_element_span *span,
                          const kiln_patch_past *past, const kiln_damper *dampers, const double *x,
                          double *g);

/* Scalar row k of the upper triangle from its diagonal on; row 3 i + r holds the columns from 3 i
 * to the last that is free. */
KILN_INLINE double *kiln_patch_row(const kiln_patch *p, size_t k)
{
    size_t i = k / 3, r = k % 3, length = 3 * (p->free - i + 1);
    return p->blocks.data + 9 * p->start.data[i] + r * length + r;
}

/* Nodal pressure (patch_nodal.c); where there is none they do nothing. Of tets outside, with room
 * for the rest; then all that does not depend on places. */
kiln_status kiln_patch_list_nodes(kiln_patch *patch, const kiln_local_objective *objective,
                                  kiln_error *error);
void kiln_patch_fill_nodes(kiln_patch *patch, const kiln_local_objective *objective);
/* Energies at x, to `value` [node]. */
void kiln_patch_value_nodes(kiln_patch *patch, const kiln_local_objective *objective,
                            const kiln_vec3 *x, double *value);
/* Before the Hessians of the tets are asked for, which are told the pressure at x; and after: what
 * is added to gradient and Hessian. */
void kiln_patch_slope_nodes(kiln_patch *patch, const kiln_local_objective *objective);
void kiln_patch_add_nodes(kiln_patch *patch, const kiln_local_objective *objective);
void kiln_patch_free_nodes(kiln_patch *patch);
kiln_element_span kiln_patch_kernel_span(const kiln_patch *patch, const kiln_patch_span *span);

/* Holds along turned axes (patch_turned.c): a row whose gradient and matrix become those of what is
 * free of it; and steps, which are that but for rounding. */
void kiln_patch_hold_turned(kiln_patch *patch, size_t row);
void kiln_patch_free_steps(kiln_patch *patch);

/* Loads of pressure (patch_loaded.c): the faces of a tet of the mesh, with the rows of its corners;
 * where the edge of rows 1 and 2 is split one that has both is two. */
kiln_status kiln_patch_list_loaded(kiln_patch *patch, const kiln_local_objective *objective,
                                   uint32_t tet, const uint32_t row[4], kiln_error *error);
/* From x to `tried`, J. */
double kiln_patch_change_loaded(const kiln_patch *patch);
/* The force, and the symmetric part of its derivative. */
void kiln_patch_add_loaded(kiln_patch *patch, bool hessian);

kiln_status kiln_patch_reserve_factor(kiln_patch *patch, kiln_error *error);
/* Of the free part; false: not positive definite. */
bool kiln_patch_factor(kiln_patch *patch);
/* patch->step = -H^-1 g. */
void kiln_patch_solve(kiln_patch *patch);

#endif

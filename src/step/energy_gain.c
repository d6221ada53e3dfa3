/* What a change between vertices that are there gains before anything has moved. */
#include "step/energy_impl.h"

#include <math.h>

/* J by which the energy of nodes falls. */
static double gain_of_nodes(const kiln_local_objective *o, kiln_walker *walker,
                            const kiln_proposal *proposal)
{
    kiln_nodes nodes;
    if (!o->nodal)
        return 0.0;
    double before = kiln_nodes_sum(o, walker, proposal->old, proposal->old_count);
    if (!isfinite(before) ||
        !kiln_nodes_gather(&nodes, o, walker, proposal->old, proposal->old_count))
        return -INFINITY;
    kiln_nodes_clear(&nodes);
    for (uint32_t i = 0; i < proposal->fresh_count; i++) {
        const kiln_new_tet *fresh = &proposal->fresh[i];
        kiln_patch_tet tet;
        kiln_patch_corner corner[4];
        kiln_vec3 u[4];
        for (int k = 0; k < 4; k++) {
            u[k] = o->mesh->u[fresh->v[k]];
            corner[k] = kiln_objective_corner(o, fresh->v[k]);
        }
        if (!kiln_patch_form_corners(o, u, fresh->parent, &tet) ||
            !kiln_nodes_put(&nodes, o, &tet, fresh->v, corner))
            return -INFINITY;
    }
    return before - kiln_nodes_energy(&nodes, o);
}

double kiln_energy_gain(const kiln_local_objective *objective, kiln_walker *walker,
                        const kiln_proposal *proposal, double before, double least, double *drag)
{
    const kiln_local_objective *o = objective;
    *drag = 0.0;
    if (!kiln_objective_is_alike(o, proposal->old, proposal->old_count))
        return -INFINITY;
    double gain = before;
    for (uint32_t from = 0; from < proposal->fresh_count; from += KILN_ELEMENT_LANES) {
        kiln_patch_tet tet[KILN_ELEMENT_LANES];
        kiln_patch_corner corner[KILN_ELEMENT_LANES][4];
        uint32_t some = proposal->fresh_count - from;
        some = some < KILN_ELEMENT_LANES ? some : KILN_ELEMENT_LANES;
        for (uint32_t i = 0; i < some; i++) {
            const kiln_new_tet *fresh = &proposal->fresh[from + i];
            kiln_vec3 u[4];
            for (int k = 0; k < 4; k++) {
                u[k] = o->mesh->u[fresh->v[k]];
                corner[i][k] = kiln_objective_corner(o, fresh->v[k]);
            }
            if (fresh->parent == KILN_NONE ||
                !kiln_patch_form_corners(o, u, fresh->parent, &tet[i]))
                return -INFINITY;
        }
        gain -= kiln_patch_tets_value(o, tet, (const kiln_patch_corner(*)[4])corner, some);
    }
    gain += gain_of_nodes(o, walker, proposal);
    if (gain > least)
        *drag = kiln_energy_drag(o, proposal);
    return gain - *drag;
}

double kiln_energy_begin(const kiln_local_objective *objective, const kiln_new_tet *tets,
                         size_t count)
{
    const kiln_local_objective *o = objective;
    double sum = 0.0;
    for (size_t from = 0; from < count && o->scheme.scale > 0.0; from += KILN_ELEMENT_LANES) {
        kiln_patch_tet form[KILN_ELEMENT_LANES];
        kiln_patch_corner corner[KILN_ELEMENT_LANES][4];
        double energy[KILN_ELEMENT_LANES];
        size_t formed = 0;
        for (size_t i = from; i < count && i < from + KILN_ELEMENT_LANES; i++) {
            kiln_vec3 u[4];
            for (int k = 0; k < 4; k++) {
                u[k] = o->mesh->u[tets[i].v[k]];
                corner[formed][k].x = o->mesh->x[tets[i].v[k]];
            }
            formed += kiln_patch_form_corners(o, u, tets[i].parent, &form[formed]);
        }
        kiln_patch_tets_energies(o->mesh->context, form, (const kiln_patch_corner(*)[4])corner,
                                 formed, energy);
        for (size_t i = 0; i < formed; i++)
            sum += energy[i];
    }
    return sum;
}

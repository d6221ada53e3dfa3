/* What inertia has to say to a change of the mesh. Where matter was going, c, is a field of the
 * tets at the begin of the step; new ones know it at their vertices, and have it straight between
 * those. Judged by that a change would gain by what it forgets of the motion. What counts is how
 * far the matter is from where it was going before the change. */
#include "step/energy_impl.h"

#include <math.h>

/* Weights of four points that integrate squares over a tet. */
#define NEAR_CORNER 0.5854101966249685
#define OFF_CORNER  0.1381966011250105

double kiln_energy_weights(const kiln_vec3 u[4], kiln_vec3 p, double more, double weight[4])
{
    double least = INFINITY, whole = kiln_tet_volume(u[0], u[1], u[2], u[3]);
    for (int k = 0; k < 4 && least > more; k++) {
        kiln_vec3 c[4] = {u[0], u[1], u[2], u[3]};
        c[k] = p;
        weight[k] = kiln_tet_volume(c[0], c[1], c[2], c[3]) / whole;
        least = fmin(least, weight[k]);
    }
    return least;
}

static void corners_of(const kiln_mesh *mesh, const uint32_t v[4], kiln_vec3 u[4])
{
    for (int k = 0; k < 4; k++)
        u[k] = mesh->u[v[k]];
}

static double density_of(const kiln_local_objective *o, uint32_t t)
{
    return o->density ? o->density[t] : o->materials[o->material[t]].density;
}

/* Where the matter at p was going by the tets that go, and its density. */
static kiln_vec3 centre_before(const kiln_local_objective *o, const kiln_proposal *proposal,
                               kiln_vec3 p, double *density)
{
    double best = -INFINITY;
    kiln_vec3 u[4], centre = p;
    *density = 0.0;
    for (uint32_t i = 0; i < proposal->old_count; i++) {
        uint32_t t = proposal->old[i];
        const uint32_t *v = o->mesh->tet[t].v;
        double weight[4];
        corners_of(o->mesh, v, u);
        double least = kiln_energy_weights(u, p, best, weight);
        if (!(least > best))
            continue;
        best = least;
        *density = density_of(o, t);
        centre = kiln_v3(0, 0, 0);
        for (int k = 0; k < 4; k++)
            centre = kiln_v3_madd(centre, weight[k], kiln_objective_centre(o, v[k]));
    }
    return centre;
}

/* Of a tet: 4 kg m, its mass times the sum of c at its corners, off a place. */
static kiln_vec3 moment_of(const kiln_local_objective *o, const uint32_t v[4], double density,
                           kiln_vec3 from)
{
    kiln_vec3 u[4], sum = kiln_v3(0, 0, 0);
    corners_of(o->mesh, v, u);
    for (int k = 0; k < 4; k++)
        sum = kiln_v3_add(sum, kiln_v3_sub(kiln_objective_centre(o, v[k]), from));
    return kiln_v3_scale(sum, density * fabs(kiln_tet_volume(u[0], u[1], u[2], u[3])));
}

/* By which the sum of c over all of it changes, 4 kg m. */
static kiln_vec3 moment_changes(const kiln_local_objective *o, const kiln_proposal *proposal)
{
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    kiln_vec3 from = kiln_objective_centre(o, o->mesh->tet[proposal->old[0]].v[0]);
    for (uint32_t i = 0; i < proposal->fresh_count; i++) {
        const kiln_new_tet *fresh = &proposal->fresh[i];
        sum = kiln_v3_add(sum, moment_of(o, fresh->v, density_of(o, fresh->parent), from));
    }
    for (uint32_t i = 0; i < proposal->old_count; i++) {
        uint32_t t = proposal->old[i];
        sum = kiln_v3_sub(sum, moment_of(o, o->mesh->tet[t].v, density_of(o, t), from));
    }
    return sum;
}

/* |x - c|^2 less |x - c'|^2, the new tet's own, by what they differ in; `mean` is taken off x - c'.
 */
static double drag_of(const kiln_local_objective *o, const kiln_proposal *proposal,
                      const uint32_t v[4], kiln_vec3 mean)
{
    kiln_vec3 u[4];
    kiln_patch_corner corner[4];
    double sum = 0.0;
    corners_of(o->mesh, v, u);
    for (int k = 0; k < 4; k++)
        corner[k] = kiln_objective_corner(o, v[k]);
    for (int q = 0; q < 4; q++) {
        double weight[4] = {OFF_CORNER, OFF_CORNER, OFF_CORNER, OFF_CORNER}, density;
        kiln_vec3 p = kiln_v3(0, 0, 0);
        weight[q] = NEAR_CORNER;
        for (int k = 0; k < 4; k++)
            p = kiln_v3_madd(p, weight[k], u[k]);
        kiln_patch_corner own = kiln_patch_corner_mean(corner, weight, 4);
        kiln_vec3 off = kiln_v3_sub(own.centre, centre_before(o, proposal, p, &density));
        kiln_vec3 way = kiln_v3_sub(kiln_v3_sub(own.x, own.centre), mean);
        sum += density * kiln_v3_dot(off, kiln_v3_madd(off, 2.0, way));
    }
    return 0.25 * fabs(kiln_tet_volume(u[0], u[1], u[2], u[3])) * sum;
}

/* What is the same for all of it, as weight makes it, counts by exact sums: weight is judged by
 * those, and the two cancel in free fall. */
double kiln_energy_drag(const kiln_local_objective *objective, const kiln_proposal *proposal)
{
    const kiln_local_objective *o = objective;
    if (o->scheme.scale <= 0.0)
        return 0.0;
    kiln_patch_corner some = kiln_objective_corner(o, o->mesh->tet[proposal->old[0]].v[0]);
    kiln_vec3 mean = kiln_v3_sub(some.x, some.centre);
    double sum = 0.5 * kiln_v3_dot(mean, moment_changes(o, proposal));
    for (uint32_t i = 0; i < proposal->fresh_count; i++)
        sum += drag_of(o, proposal, proposal->fresh[i].v, mean);
    return fmax(0.0, sum / (2.0 * o->scheme.scale));
}

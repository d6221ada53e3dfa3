/* Shapes at the end of the step. What moves goes on from there, and tets that it has crushed make
 * steps short: no change leaves a worse one than it found, if that is worse than is asked for.
 * Where matter is pressed flat most of what gains is refused for that, so it is asked as soon as it
 * can be: before a split is tried, and before flips and moves are queued. */
#include "step/energy_impl.h"

#include <math.h>

/* A split moves its vertex before it is judged. Of the impacting ball's 3,500 that begin with less
 * than this part of the shape they need one ends with it. */
#define HOPE 0.8

bool kiln_energy_keeps_shape(const kiln_energy_pass *pass, double before, double after)
{
    return after > pass->options->quality || after >= before;
}

static double shape_of(const kiln_vec3 *x, const uint32_t v[4])
{
    return kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]);
}

double kiln_energy_end_shape(const kiln_energy_pass *pass, const uint32_t *tets, size_t count)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    double worst = 1.0;
    for (size_t i = 0; i < count; i++)
        if (kiln_tet_live(mesh, tets[i]))
            worst = fmin(worst, shape_of(pass->objective->end, mesh->tet[tets[i]].v));
    return worst;
}

bool kiln_energy_ends_well(const kiln_energy_pass *pass, double before, double after)
{
    return pass->objective->scheme.scale == 0.0 || kiln_energy_keeps_shape(pass, before, after);
}

bool kiln_energy_flip_ends_well(const kiln_energy_pass *pass, const kiln_proposal *proposal)
{
    double after = 1.0;
    if (pass->objective->scheme.scale == 0.0)
        return true;
    for (uint32_t i = 0; i < proposal->fresh_count; i++)
        after = fmin(after, shape_of(pass->objective->end, proposal->fresh[i].v));
    return after > pass->options->quality ||
           after >= kiln_energy_end_shape(pass, proposal->old, proposal->old_count);
}

/* The worse half of a tet whose edge from a to b is split at `middle`. */
static double shape_of_halves(const kiln_vec3 *x, const uint32_t v[4], uint32_t a, uint32_t b,
                              kiln_vec3 middle)
{
    double worst = 1.0;
    for (int half = 0; half < 2; half++) {
        kiln_vec3 y[4];
        for (int k = 0; k < 4; k++)
            y[k] = v[k] == (half ? a : b) ? middle : x[v[k]];
        worst = fmin(worst, kiln_tet_quality(&y[0], &y[1], &y[2], &y[3]));
    }
    return worst;
}

bool kiln_energy_split_may_end_well(const kiln_energy_pass *pass, uint32_t tet, uint32_t corner_a,
                                    uint32_t corner_b)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    const kiln_vec3 *x = pass->objective->end;
    uint32_t ring[KILN_ENERGY_RING], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    if (pass->objective->scheme.scale == 0.0)
        return true;
    uint32_t count = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, KILN_ENERGY_RING).count;
    kiln_vec3 middle = kiln_v3_scale(kiln_v3_add(x[a], x[b]), 0.5);
    double before = 1.0, after = 1.0;
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++) {
        const uint32_t *v = mesh->tet[ring[i] / 4].v;
        before = fmin(before, shape_of(x, v));
        after = fmin(after, shape_of_halves(x, v, a, b, middle));
    }
    return kiln_energy_keeps_shape(pass, before, after / HOPE);
}

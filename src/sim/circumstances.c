/* What modules ask about time and place. */
#include "sim/world_impl.h"

#include <math.h>

double kiln_world_tolerance(const kiln_world *world)
{
    return kiln_scene_moment(world->scene);
}

/* At the moment it ends, where a step of no length looks at the forces of the begin, nothing acts
 * any more. */
bool kiln_world_acts(const kiln_world *world, double from, double until, double begin, double end)
{
    double slack = kiln_world_tolerance(world);
    return from <= begin + slack && end <= until + slack && begin < until - slack;
}

kiln_status kiln_world_add_event(kiln_world *world, double time, kiln_error *error)
{
    if (!(time > 0.0) || !isfinite(time))
        return KILN_OK;
    KILN_TRY(kiln_array_push(world->context, &world->events, time, error));
    double *data = world->events.data;
    for (size_t i = world->events.count - 1; i > 0 && data[i] < data[i - 1]; i--) {
        double swap = data[i];
        data[i] = data[i - 1];
        data[i - 1] = swap;
    }
    return KILN_OK;
}

const kiln_vec3 *kiln_world_starts(const kiln_world *world)
{
    const kiln_field *start = kiln_mesh_field(world->mesh, KILN_ON_VERTEX, KILN_FIELD_START);
    return start ? (const kiln_vec3 *)(void *)start->data : world->mesh->u;
}

/* Frobenius norm of the rate of deformation sym(grad v) at the begin of the step. */
static double strain_rate(const kiln_mesh *mesh, uint32_t tet, const kiln_vec3 *velocity)
{
    const uint32_t *n = mesh->tet[tet].v;
    const kiln_vec3 *x = mesh->x, *v = velocity;
    kiln_mat3 dx = kiln_m3_columns(kiln_v3_sub(x[n[1]], x[n[0]]), kiln_v3_sub(x[n[2]], x[n[0]]),
                                   kiln_v3_sub(x[n[3]], x[n[0]]));
    kiln_mat3 dv = kiln_m3_columns(kiln_v3_sub(v[n[1]], v[n[0]]), kiln_v3_sub(v[n[2]], v[n[0]]),
                                   kiln_v3_sub(v[n[3]], v[n[0]]));
    if (kiln_m3_det(dx) == 0.0)
        return 0.0;
    kiln_mat3 gradient = kiln_m3_mul(dv, kiln_m3_inverse(dx));
    kiln_mat3 rate = kiln_m3_scale(kiln_m3_add(gradient, kiln_m3_transpose(gradient)), 0.5);
    return sqrt(kiln_m3_norm2(rate));
}

/* 0 where the scene has none. */
static double temperature_of(const kiln_world *world, uint32_t tet)
{
    const double *T = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE);
    const uint32_t *v = world->mesh->tet[tet].v;
    return T ? 0.25 * (T[v[0]] + T[v[1]] + T[v[2]] + T[v[3]]) : 0.0;
}

kiln_circumstances kiln_world_circumstances(const kiln_world *world, uint32_t t)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    return (kiln_circumstances){
        .time = world->state.clock.time,
        .material = kiln_tet_centre(mesh, t, kiln_world_starts(world)),
        .world = kiln_tet_centre(mesh, t, mesh->x),
        .temperature = temperature_of(world, t),
        .strain_rate = v ? strain_rate(mesh, t, (const kiln_vec3 *)(void *)v->data) : 0.0};
}

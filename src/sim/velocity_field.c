/* The module of a velocity field that moves every vertex, whatever the forces. */
#include "mesh/rewind.h"
#include "sim/motion.h"
#include "sim/world_impl.h"

#include <math.h>

typedef struct velocity_field {
    kiln_world *world;
} velocity_field;

static void plan(kiln_world *world)
{
    world->asks_for_place |= world->scene->velocity_field.evaluate != NULL;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    if (!scene->has_velocity_field)
        return KILN_OK;
    if (scene->holds.count > 0)
        return kiln_said_fail(scene, &scene->holds.data[0].said, error,
                              "a velocity field moves every vertex: nothing else can be held");
    if (!world->moves)
        return kiln_fail(error, KILN_ERR_INPUT, scene->file, 0, -1,
                         "a velocity field needs time steps: choose an integrator that is not "
                         "static");
    velocity_field *f = kiln_module_make(world, sizeof *f, self, error);
    if (!f)
        return KILN_ERR_MEMORY;
    f->world = world;
    return kiln_world_add_event(world, scene->velocity_until, error);
}

/* What the field leads keeps the field's own velocity, not the mean of the last step. What the
 * forces do is another matter than what the field did, so the integrator starts anew. */
static kiln_status release(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *starts = kiln_world_starts(world);
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, "v", KILN_SAVE_COPY, error));
    kiln_vec3 *velocity = (kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, "v");
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_circumstances at = {
            .time = world->state.clock.time, .material = starts[v], .world = mesh->x[v]};
        KILN_TRY(kiln_quantity_vector_at(&world->scene->velocity_field, &at, &velocity[v], error));
    }
    world->state.clock.h_before = 0.0;
    return KILN_OK;
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    kiln_world *world = ((velocity_field *)self)->world;
    double until = world->scene->velocity_until;
    bool ends = fabs(moment->begin - until) <= kiln_world_tolerance(world);
    return ends ? release(world, error) : KILN_OK;
}

/* Every vertex is carried along the field by one Runge-Kutta step of fourth order. */
static kiln_status follow(const kiln_world *world, double begin, double end, kiln_constraints *c,
                          kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *starts = kiln_world_starts(world);
    double h = end - begin;
    static const double ahead[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1, 2, 2, 1};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 sum = {0, 0, 0}, k = {0, 0, 0};
        for (int stage = 0; stage < 4; stage++) {
            kiln_circumstances at = {.time = begin + ahead[stage] * h, .material = starts[v]};
            at.world = kiln_v3_madd(mesh->x[v], ahead[stage] * h, k);
            KILN_TRY(kiln_quantity_vector_at(&world->scene->velocity_field, &at, &k, error));
            sum = kiln_v3_madd(sum, weight[stage], k);
        }
        c->held[v] = 7;
        c->target[v] = kiln_v3_madd(mesh->x[v], h / 6.0, sum);
    }
    return KILN_OK;
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    const kiln_world *world = ((velocity_field *)self)->world;
    if (!kiln_world_acts(world, 0.0, world->scene->velocity_until, drive->begin, drive->end))
        return KILN_OK;
    return follow(world, drive->begin, drive->time, kiln_solid_constraints(drive->solid), error);
}

const kiln_module kiln_module_velocity_field = {.name = "velocity_field",
                                                .plan = plan,
                                                .create = create,

                                                .before_step = before_step,
                                                .drive = drive};

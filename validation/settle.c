/* Meshes that are remeshed while nothing goes on any more. */
#include "validation/trial.h"

#include <string.h>

enum { STEPS = 120, AT_REST = 60 };

/* Of corners and material positions; another number when any of them has changed. */
static uint64_t mesh_print(const kiln_mesh *mesh)
{
    uint64_t sum = 1469598103934665603u, word;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4; k++)
            sum = (sum ^ mesh->tet[t].v[k]) * 1099511628211u;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        memcpy(&word, &mesh->u[v].x, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
        memcpy(&word, &mesh->u[v].z, sizeof word);
        sum = (sum ^ word) * 1099511628211u;
    }
    return sum;
}

typedef struct calm {
    int early, late; /* steps that changed the mesh */
} calm;

static kiln_status count_changes(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    calm *c = trial->user;
    const kiln_mesh *mesh = kiln_world_mesh(world);
    uint64_t before = mesh_print(mesh);
    for (int step = 0; step < STEPS; step++) {
        kiln_stats stats;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        uint64_t after = mesh_print(mesh);
        *(step < AT_REST ? &c->early : &c->late) += after != before;
        before = after;
    }
    return KILN_OK;
}

/* A beam that is damped to rest in half of the steps. */
static kiln_status hang_beam(kiln_trial *trial, double size, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    kiln_picks root = {0};
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, 1000, error));
    scene->materials.data[0].base.damping_mass = kiln_trial_number(trial, 10.0, 0, 0, -1);
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.2, 0.2), (int[]){10, 2, 2}, "kuhn", error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &root, error));
    KILN_TRY(kiln_trial_hold(trial, &root, 7, NULL, error));
    scene->gravity = kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -9.81), 1, 0, -2));
    double dt = kiln_trial_number(trial, 0.02, 0, 0, 1);
    scene->pace = (kiln_pace_limits){.dt = dt, .dt_min = 1e-3 * dt, .patience = 4};
    scene->duration = 2 * STEPS * dt;
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.size = kiln_trial_number(trial, size, 1, 0, 0);
    return KILN_OK;
}

kiln_status kiln_validate_mesh_rests(kiln_validation *validation, kiln_error *error)
{
    static const double sizes[] = {0.09, 0.07};
    for (size_t v = 0; kiln_view_at(v); v++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            calm c = {0};
            kiln_trial trial;
            kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(v));
            trial.user = &c;
            kiln_status status = hang_beam(&trial, sizes[i], error);
            if (status == KILN_OK)
                status = kiln_trial_build(&trial, count_changes, error);
            kiln_trial_end(&trial);
            KILN_TRY(status);
            const char *view = kiln_view_at(v)->name;
            kiln_validation_report(validation, c.early, kiln_at_least(1),
                                   "size %g, %s: steps that change the mesh on the way", sizes[i],
                                   view);
            kiln_validation_report(validation, c.late, kiln_exactly(0),
                                   "size %g, %s: steps that change it at rest", sizes[i], view);
        }
    return KILN_OK;
}

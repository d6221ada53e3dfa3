/* Ten thousand steps of matter that never stops flowing: a bar is twisted to and fro far past its
 * yield stress while its mesh is repaired in the material. What must not happen: rest volume that
 * drifts, tets that are inverted in either space, memory that grows. */
#include "fem/offset.h"
#include "validation/trial.h"

#include <stdio.h>

enum { STEPS = 10000, BRIEF_STEPS = 1000, WARM = 2000, AUDIT = 50 };

typedef struct kneading {
    int steps;
    kiln_trial_map map;
    double drift;         /* of rest volume, the worst, relative */
    double flowed;        /* tets, mean of the steps */
    double changed;       /* tets that remeshing took or reshaped, in all */
    double flowing_steps; /* in which some tet flowed */
    double broken;        /* audits that found a broken invariant (M3: an inverted tet) */
    double pages[2];      /* of memory after WARM steps and at the end */
    double tets[2];       /* likewise */
} kneading;

/* Both ends go round the axis, against each other, and to and fro along it. */
static kiln_vec3 place_kneaded(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    double side = u.z < 1.0 ? -1.0 : 1.0, angle = side * 1.1 * sin(1.6 * time);
    double x = u.x - 0.5, y = u.y - 0.5;
    return kiln_v3(0.5 + x * cos(angle) - y * sin(angle), 0.5 + x * sin(angle) + y * cos(angle),
                   u.z + side * 0.15 * sin(0.7 * time));
}

/* Of memory that this process has in use; 0 where the system does not tell. */
static double pages_in_use(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    double all = 0.0, resident = 0.0;
    if (file) {
        if (fscanf(file, "%lf %lf", &all, &resident) != 2)
            resident = 0.0;
        fclose(file);
    }
    return resident;
}

static double rest_volume(const kiln_mesh *mesh)
{
    kiln_offsets offsets = kiln_offsets_of(mesh);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += offsets.rest_volume[t];
    return sum;
}

static kiln_status look(kneading *k, kiln_world *world, double start, kiln_error *error)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_audit_report audit;
    KILN_TRY(kiln_mesh_audit(mesh, &audit, error));
    k->broken += audit.invariant != NULL;
    double drift = fabs(rest_volume(mesh) - kiln_world_volume_gained(world) - start) / start;
    k->drift = fmax(k->drift, drift);
    return KILN_OK;
}

static kiln_status knead(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kneading *k = trial->user;
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double start = rest_volume(mesh), h = trial->scene.pace.dt;
    for (int step = 1; step <= k->steps; step++) {
        kiln_stats stats;
        kiln_diagnosis diagnosis;
        bool gave_up;
        /* A step that had to be halved takes several. */
        do {
            KILN_TRY(kiln_world_step(world, step * h, &stats, &gave_up, &diagnosis, error));
            if (gave_up)
                return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "step %d: %s", step,
                                 diagnosis.text);
        } while (kiln_world_get_state(world)->clock.time < (step - 1e-6) * h);
        k->flowed += stats.flowed / k->steps;
        k->flowing_steps += stats.flowed > 0.0;
        k->changed += stats.changed;
        if (step % AUDIT == 0)
            KILN_TRY(look(k, world, start, error));
        if (step == WARM || step == k->steps) {
            k->pages[step != WARM] = pages_in_use();
            k->tets[step != WARM] = stats.tets;
        }
    }
    return KILN_OK;
}

static kiln_status prepare(kiln_trial *trial, kiln_trial_map *map, kiln_error *error)
{
    kiln_picks where;
    KILN_TRY(kiln_trial_material(trial, "corotated", 1e5, 0.3, 1000, error));
    kiln_material *material = &trial->scene.materials.data[0].base;
    material->damping_mass = kiln_trial_number(trial, 4, 0, 0, -1);
    material->plastic = (kiln_plastic){.flows = true,
                                       .yield = kiln_trial_number(trial, 5e3, -1, 1, -2),
                                       .rate = kiln_trial_number(trial, 20, 0, 0, -1)};
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 1, 2), (int[]){3, 3, 6}, "kuhn", error));
    for (int patch = 5; patch <= 6; patch++) {
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 7, map, error));
    }
    trial->scene.solid.integrator = KILN_IMPLICIT_EULER;
    trial->scene.solid.linearised = true;
    trial->scene.pace.dt = kiln_trial_number(trial, 0.01, 0, 0, 1);
    trial->scene.pace.dt_min = trial->scene.pace.dt / 1024.0;
    trial->scene.pace.patience = 4;
    trial->scene.duration = ((kneading *)trial->user)->steps * trial->scene.pace.dt;
    trial->scene.remesh.method = KILN_REMESH_LOCAL;
    trial->scene.remesh.quality = 0.25;
    trial->scene.remesh.size = kiln_trial_number(trial, 0.45, 1, 0, 0);
    return kiln_trial_build(trial, knead, error);
}

/* Of the whole process. */
static void report_growth(kiln_validation *validation, const kneading *k)
{
    double finer = k->tets[1] / k->tets[0];
    kiln_validation_report(validation, finer, kiln_between(0.5, 1.5),
                           "tets after 10,000 steps over those after 2,000");
    if (k->pages[0] > 0.0)
        kiln_validation_report(validation, k->pages[1] / k->pages[0], kiln_at_most(1.05),
                               "memory after 10,000 steps over that after 2,000");
}

static void report(kiln_validation *validation, const kneading *k)
{
    kiln_validation_report(validation, k->drift, kiln_at_most(1e-12),
                           "drift of rest volume, relative");
    kiln_validation_report(validation, k->broken, kiln_exactly(0),
                           "audits that found an inverted tet or other damage");
    kiln_validation_report(validation, k->flowing_steps / k->steps, kiln_at_least(0.9),
                           "steps in which matter flowed");
    /* Half of what was measured: kneaded less, nothing would be shown. */
    kiln_validation_report(validation, k->flowed, kiln_at_least(150), "tets that flowed, mean");
    kiln_validation_report(validation, k->changed, kiln_at_least(k->steps > WARM ? 12000 : 90),
                           "tets that remeshing took or reshaped");
    if (k->steps > WARM)
        report_growth(validation, k);
}

kiln_status kiln_validate_flow10k(kiln_validation *validation, kiln_error *error)
{
    kiln_trial trial;
    kneading k = {.steps = kiln_validation_is_brief(validation) ? BRIEF_STEPS : STEPS};
    kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(0));
    trial.user = &k;
    k.map = (kiln_trial_map){&trial, place_kneaded, NULL, 1, 0, 0};
    kiln_status status = prepare(&trial, &k.map, error);
    if (status == KILN_OK)
        report(validation, &k);
    kiln_trial_end(&trial);
    return status;
}

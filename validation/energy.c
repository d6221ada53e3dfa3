/* Remeshing inside the step, judged by its energy: the cantilever of E2 on a coarse mesh that
 * follows. The discrete answer is below the true one on every mesh and rises with every split. */
#include "validation/trial.h"

/* E2: Timoshenko's tip, and the mean tip of the uniform mesh K(4) of 1,025 vertices, m. */
static const double theory = 4.0306e-3, uniform = 3.173102e-3;
enum { UNIFORM_VERTICES = 1025 };

static kiln_status make_beam(kiln_trial *trial, double split, kiln_error *error)
{
    kiln_picks where;
    kiln_vec3 traction = kiln_trial_vector(trial, kiln_v3(0, 0, 0.1 / 0.01), -1, 1, -2);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, 1000, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 0.1, 0.1), (int[]){20, 2, 2}, "kuhn", error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &where, error));
    KILN_TRY(kiln_trial_hold(trial, &where, 7, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    KILN_TRY(
        kiln_trial_load(trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(traction), error));
    trial->scene.remesh.method = split > 0.0 ? KILN_REMESH_ENERGY : KILN_REMESH_NONE;
    trial->scene.remesh.split = kiln_trial_number(trial, split, 2, 1, -2);
    return KILN_OK;
}

static kiln_status bend(kiln_validation *validation, const kiln_view *view, double split,
                        double *tip, double *vertices, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = make_beam(&trial, split, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK) {
        *tip = kiln_trial_patch_mean(&trial, 2).z;
        *vertices = (double)trial.result.points.count;
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_energy_beam(kiln_validation *validation, kiln_error *error)
{
    static const double splits[] = {0.0, 1e-6, 1e-7, 2e-8}; /* J */
    enum { SPLITS = sizeof splits / sizeof splits[0] };
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        double before = 0.0, tip, vertices;
        for (int i = 0; i < SPLITS; i++) {
            KILN_TRY(bend(validation, view, splits[i], &tip, &vertices, error));
            kiln_validation_report(validation, tip / theory, kiln_between(before, 1.005),
                                   "%s, %.0e J: tip over Timoshenko's, not below the coarser one",
                                   view->name, splits[i]);
            before = tip / theory;
            if (splits[i] != 1e-7)
                continue;
            kiln_validation_report(validation, tip / uniform, kiln_at_least(1.0),
                                   "%s: tip over that of K(4) with %d vertices", view->name,
                                   UNIFORM_VERTICES);
            kiln_validation_report(validation, vertices, kiln_at_most(UNIFORM_VERTICES / 3.0),
                                   "%s: vertices", view->name);
        }
    }
    return KILN_OK;
}

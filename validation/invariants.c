/* C9: what remeshing inside the step (ITR) must keep in every step. The objective of the step on
 * the new mesh is no more than on the old one and what collapses may cost; every split gains more
 * than is asked of one; nothing crosses and nothing is turned inside out. From the statistics of
 * the run and from what it wrote. */
#include "validation/thrown.h"
#include "validation/watch.h"

#include <math.h>
#include <stdio.h>

/* J; some 1 J is at play in each. */
static const double split = 1e-4, collapse = 1e-6;

typedef struct invariants {
    kiln_watch watch; /* first: it is the trial's */
    const kiln_trial *trial;
    double by_a_split; /* J, the least mean of a step */
    double excess;     /* J, the most by which changes of a step cost more than collapses may */
    double splits, others, collapses;
    size_t inverted;
} invariants;

static void look_at_changes(kiln_watch *watch, const kiln_stats *stats)
{
    invariants *all = (invariants *)watch;
    const kiln_trial *trial = all->trial;
    double joule = kiln_trial_number(trial, 1.0, 2, 1, -2), volume;
    if (stats->step == 0.0) /* nothing has been made yet, and nothing is known of it */
        return;
    if (stats->splits > 0.0)
        all->by_a_split = fmin(all->by_a_split, stats->by_splits / stats->splits / joule);
    all->excess = fmax(all->excess, -stats->gained / joule - stats->collapses * collapse);
    all->splits += stats->splits;
    all->others += stats->flips + stats->moves;
    all->collapses += stats->collapses;
    for (size_t t = 0; t < trial->result.tets.count; t++)
        all->inverted += !(kiln_m3_det(kiln_trial_gradient(trial, t, &volume)) > 0.0);
}

/* A ball meets another off its centre. */
static kiln_status set_balls(kiln_trial *trial, kiln_error *error)
{
    static const char ball[] = "radius=0.06 h=0.03";
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 5e4, 0.4, 1000, error));
    KILN_TRY(kiln_trial_shape(trial, "ball", ball, kiln_v3(0, 0, 0), error));
    KILN_TRY(kiln_trial_shape(trial, "ball", ball, kiln_v3(0.03, 0.01, 0.125), error));
    trial->scene.bodies.data[1].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0.2, 0, -1.5), 1, 0, -1));
    return KILN_OK;
}

/* A block falls on the surface of another one, which is an obstacle, off its edge. */
static kiln_status set_block(kiln_trial *trial, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 2e4, 0.4, 1000, error));
    KILN_TRY(kiln_trial_shape(trial, "box", "lx=0.1 ly=0.1 lz=0.1 n=3", kiln_v3(0.08, -0.05, 0.004),
                              error));
    trial->scene.bodies.data[0].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -1.5), 1, 0, -1));
    return kiln_trial_slab(trial, "lx=0.2 ly=0.2 lz=0.1 n=1", 0.0, 0.3, error);
}

typedef struct meeting {
    const char *name;
    kiln_status (*set_up)(kiln_trial *trial, kiln_error *error);
} meeting;

static kiln_status meet(kiln_validation *validation, const kiln_view *view,
                        kiln_integrator integrator, const meeting *what, kiln_error *error)
{
    static const char *const names[] = {
        [KILN_IMPLICIT_EULER] = "implicit-euler", [KILN_BDF2] = "bdf2", [KILN_NEWMARK] = "newmark"};
    const double duration = 0.06;
    kiln_trial trial;
    invariants all = {.watch = {.floor = -INFINITY, .step = look_at_changes},
                      .trial = &trial,
                      .by_a_split = INFINITY,
                      .excess = -INFINITY};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_scene *scene = &trial.scene;
    scene->solid.integrator = integrator;
    scene->solid.newton.tolerance = 0.0; /* the preset */
    scene->pace.dt = kiln_trial_number(&trial, 2e-3, 0, 0, 1);
    scene->pace.dt_min = 1e-6 * scene->pace.dt;
    scene->duration = kiln_trial_number(&trial, duration, 0, 0, 1);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(&trial, 2e-3, 1, 0, 0);
    scene->contact.friction = 0.2;
    scene->remesh.method = KILN_REMESH_ENERGY;
    scene->remesh.split = kiln_trial_number(&trial, split, 2, 1, -2);
    scene->remesh.collapse = kiln_trial_number(&trial, collapse, 2, 1, -2);
    kiln_status status = what->set_up(&trial, error);
    if (status == KILN_OK)
        status = kiln_watch_run(&all.watch, &trial, error);
    kiln_trial_end(&trial);
    KILN_TRY(status);
    char about[96];
    snprintf(about, sizeof about, "%s, %s, %s", what->name, names[integrator], view->name);
    kiln_validation_report(validation, all.watch.time / duration, kiln_near(1.0, 1e-9),
                           "%s: part of the time that was reached", about);
    kiln_validation_report(validation, all.splits, kiln_at_least(20), "%s: splits", about);
    kiln_validation_report(validation, all.others, kiln_at_least(20), "%s: flips and moves", about);
    kiln_validation_report(validation, all.collapses, kiln_unbound(), "%s: collapses", about);
    kiln_validation_report(validation, all.by_a_split / split, kiln_at_least(1.0),
                           "%s: gained by a split, the least mean of a step, of what is asked",
                           about);
    kiln_validation_report(validation, all.excess / split, kiln_at_most(0.0),
                           "%s: cost of all changes of a step beyond that of collapses, of a split",
                           about);
    kiln_validation_report(validation, (double)all.watch.crossings, kiln_exactly(0),
                           "%s: crossings after any step, exact", about);
    kiln_validation_report(validation, (double)all.inverted, kiln_exactly(0),
                           "%s: tets inside out after any step", about);
    return KILN_OK;
}

kiln_status kiln_validate_C9(kiln_validation *validation, kiln_error *error)
{
    static const meeting meetings[] = {{"two balls", set_balls}, {"a block on an edge", set_block}};
    static const kiln_integrator others[] = {KILN_BDF2, KILN_NEWMARK};
    bool brief = kiln_validation_is_brief(validation);
    for (int i = 0; i < 2; i++) {
        for (size_t v = 0; kiln_view_at(v) && (v == 0 || !brief); v++)
            KILN_TRY(meet(validation, kiln_view_at(v), KILN_IMPLICIT_EULER, &meetings[i], error));
        for (int k = 0; k < 2 && !brief; k++)
            KILN_TRY(meet(validation, kiln_view_at(0), others[k], &meetings[i], error));
    }
    return KILN_OK;
}

/* A square bar of clay twisted by three turns, remeshed by `remesh = "local"` alone: it becomes a
 * screw, and its mesh has to follow by itself. */
#include "fem/plasticity.h"
#include "validation/trial.h"

#include <math.h>

enum { STEPS = 200, BRIEF_STEPS = 67, SLICES = 24, ANGLES = 90 };

static const double TURNS = 3.0, LENGTH = 1.0, HALF = 0.1;

static kiln_status turn(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)components, (void)error;
    const kiln_trial *trial = self;
    out[0] = KILN_PI * TURNS * at->time / kiln_trial_number(trial, 1.0, 0, 0, 1);
    return KILN_OK;
}

static kiln_status make_bar(kiln_trial *trial, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    kiln_picks left = {0}, right = {0};
    KILN_TRY(kiln_trial_material(trial, "neo-hookean-split", 1e6, 0.4, 1500, error));
    kiln_scene_material *m = &scene->materials.data[0];
    double yield = kiln_trial_number(trial, 1e4, -1, 1, -2);
    double rate = kiln_trial_number(trial, 20, 0, 0, -1);
    m->base.plastic = (kiln_plastic){.flows = true, .yield = yield, .rate = rate};
    m->yield = kiln_quantity_number(yield);
    m->rate = kiln_quantity_number(rate);
    KILN_TRY(kiln_trial_box(trial, kiln_v3(LENGTH, 2 * HALF, 2 * HALF), (int[]){15, 3, 3}, "kuhn",
                            error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &left, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &right, error));
    KILN_TRY(kiln_trial_hold(trial, &left, 7, NULL, error));
    KILN_TRY(kiln_trial_hold(trial, &right, 7, NULL, error));
    scene->holds.data[1].motion =
        (kiln_motion){.kind = KILN_MOTION_ROTATE,
                      .angle = {.evaluate = turn, .self = trial},
                      .centre = kiln_trial_vector(trial, kiln_v3(LENGTH, HALF, HALF), 1, 0, 0),
                      .axis = kiln_trial_vector(trial, kiln_v3(1, 0, 0), 0, 0, 0),
                      .obstacle = -1};
    double dt = kiln_trial_number(trial, 2.0 / STEPS, 0, 0, 1);
    scene->pace = (kiln_pace_limits){.dt = dt, .dt_min = 1e-3 * dt, .patience = 4};
    scene->duration = STEPS * dt;
    scene->solid.integrator = KILN_IMPLICIT_EULER;
    scene->solid.newton.tolerance = 1e-9;
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.follow = true;
    return KILN_OK;
}

typedef struct screw {
    double q, q_world; /* the worst of all steps */
    double volume;     /* part that is left in the end */
    double tets;
    int steps;
    double off; /* m, rms distance of the surface from a square that turns with x */
} screw;

/* Distance of a plain point from the outline of the square turned by the angle. */
static double off_square(kiln_vec3 p, double angle)
{
    double y = p.y - HALF, z = p.z - HALF, c = cos(angle), s = sin(angle);
    return fmax(fabs(c * y + s * z), fabs(c * z - s * y)) - HALF;
}

/* Sum of squares in a slice when the whole of it is turned by `more`; ends are held. */
static double slice_error(const kiln_trial *trial, const kiln_mesh *mesh, int slice, double more,
                          int *count)
{
    const screw *s = trial->user;
    double sum = 0.0, twist = 2.0 * KILN_PI * TURNS * s->steps / STEPS;
    *count = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0);
        if (!(mesh->vertex[v].flags & KILN_VERTEX_SURFACE) || floor(p.x * SLICES / LENGTH) != slice)
            continue;
        double off = off_square(p, twist * p.x / LENGTH + more);
        sum += off * off;
        ++*count;
    }
    return sum;
}

/* The twist of the slices is not quite even: each is turned to where it fits best. */
static double distance_from_screw(const kiln_trial *trial, const kiln_mesh *mesh)
{
    double sum = 0.0;
    int all = 0, count = 0;
    for (int slice = 1; slice < SLICES - 1; slice++) {
        double least = INFINITY;
        for (int i = 0; i < ANGLES; i++)
            least =
                fmin(least, slice_error(trial, mesh, slice, 0.5 * KILN_PI * i / ANGLES, &count));
        sum += least;
        all += count;
    }
    return sqrt(sum / all);
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    screw *s = trial->user;
    const kiln_mesh *mesh = kiln_world_mesh(world);
    for (int step = 0; step < s->steps; step++) {
        kiln_stats stats;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        s->q = fmin(s->q, stats.q_min);
        s->q_world = fmin(s->q_world, stats.q_world_min);
        s->volume = stats.volume / kiln_trial_number(trial, 4 * HALF * HALF * LENGTH, 3, 0, 0);
    }
    s->tets = mesh->table[KILN_ON_TET].live;
    s->off = distance_from_screw(trial, mesh);
    return KILN_OK;
}

kiln_status kiln_validate_clay_screw(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    for (size_t v = 0; kiln_view_at(v) && !(brief && v > 0); v++) {
        screw s = {.q = 1.0, .q_world = 1.0, .steps = brief ? BRIEF_STEPS : STEPS};
        kiln_trial trial;
        const char *view = kiln_view_at(v)->name;
        kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(v));
        trial.user = &s;
        kiln_status status = make_bar(&trial, error);
        if (status == KILN_OK)
            status = kiln_trial_build(&trial, watch, error);
        kiln_trial_end(&trial);
        KILN_TRY(status);
        kiln_validation_report(validation, s.q, kiln_at_least(0.15), "%s: worst q asked for", view);
        kiln_validation_report(validation, s.q_world, kiln_at_least(0.14),
                               "%s: worst q in the world", view);
        kiln_validation_report(validation, s.volume, kiln_between(0.99, 1.01), "%s: volume kept",
                               view);
        kiln_validation_report(validation, s.off / (2 * HALF), kiln_between(0, 0.035),
                               "%s: rms distance from a square screw, part of its width", view);
        kiln_validation_report(validation, s.tets / 810, kiln_between(1.5, 6.2),
                               "%s: tets, times those of the start", view);
    }
    return KILN_OK;
}

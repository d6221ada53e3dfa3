/* A bar of clay that is twisted, remeshed by `remesh = "local"` alone: it becomes a screw, and its
 * mesh has to follow by itself. */
#include "fem/plasticity.h"
#include "mesh/walk.h"
#include "validation/trial.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 200, BRIEF_STEPS = 67, SLICES = 24, ANGLES = 90 };

static const double LENGTH = 1.0;

typedef struct clay_bar {
    const char *name;
    double turns, half[2]; /* m */
    int cells[3];
    double rate, hardening;
} clay_bar;

/* The first is the screw; of the others the mesh is looked at, not the shape. */
static const clay_bar bars[] = {
    {"square, 810 tets, 3 turns", 3, {0.1, 0.1}, {15, 3, 3}, 20, 0},
    {"2 turns", 2, {0.1, 0.1}, {15, 3, 3}, 20, 0},
    {"4 turns", 4, {0.1, 0.1}, {15, 3, 3}, 20, 0},
    {"hardening", 3, {0.1, 0.1}, {15, 3, 3}, 20, 0.05},
    {"rate 5", 3, {0.1, 0.1}, {15, 3, 3}, 5, 0},
    {"648 tets", 3, {0.1, 0.1}, {12, 3, 3}, 20, 0},
    {"1920 tets", 3, {0.1, 0.1}, {20, 4, 4}, 20, 0},
    {"flat", 3, {0.06, 0.15}, {14, 2, 5}, 20, 0},
};

typedef struct screw {
    const clay_bar *bar;
    double q, q_material, q_world; /* the worst of all steps */
    double volume;                 /* part that is left in the end */
    double tets;
    int steps;
    double off; /* m, rms distance of the surface from a square that turns with x */
    double fold_mean, fold_most, fold_largest; /* degrees, see measure_folds */
} screw;

static kiln_status turn(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)components, (void)error;
    const kiln_trial *trial = self;
    const screw *s = trial->user;
    out[0] = KILN_PI * s->bar->turns * at->time / kiln_trial_number(trial, 1.0, 0, 0, 1);
    return KILN_OK;
}

static kiln_status make_bar(kiln_trial *trial, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    const clay_bar *bar = ((const screw *)trial->user)->bar;
    kiln_picks left = {0}, right = {0};
    KILN_TRY(kiln_trial_material(trial, "neo-hookean-split", 1e6, 0.4, 1500, error));
    kiln_scene_material *m = &scene->materials.data[0];
    double yield = kiln_trial_number(trial, 1e4, -1, 1, -2);
    double rate = kiln_trial_number(trial, bar->rate, 0, 0, -1);
    m->base.plastic =
        (kiln_plastic){.flows = true, .yield = yield, .rate = rate, .hardening = bar->hardening};
    m->yield = kiln_quantity_number(yield);
    m->rate = kiln_quantity_number(rate);
    m->hardening = kiln_quantity_number(bar->hardening);
    KILN_TRY(kiln_trial_box(trial, kiln_v3(LENGTH, 2 * bar->half[0], 2 * bar->half[1]), bar->cells,
                            "kuhn", error));
    KILN_TRY(kiln_trial_pick_patch(trial, 1, &left, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &right, error));
    KILN_TRY(kiln_trial_hold(trial, &left, 7, NULL, error));
    KILN_TRY(kiln_trial_hold(trial, &right, 7, NULL, error));
    scene->holds.data[1].motion = (kiln_motion){
        .kind = KILN_MOTION_ROTATE,
        .angle = {.evaluate = turn, .self = trial},
        .centre = kiln_trial_vector(trial, kiln_v3(LENGTH, bar->half[0], bar->half[1]), 1, 0, 0),
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

/* Distance of a plain point from the outline of the square turned by the angle. */
static double off_square(kiln_vec3 p, double half, double angle)
{
    double y = p.y - half, z = p.z - half, c = cos(angle), s = sin(angle);
    return fmax(fabs(c * y + s * z), fabs(c * z - s * y)) - half;
}

/* Sum of squares in a slice when the whole of it is turned by `more`; ends are held. */
static double slice_error(const kiln_trial *trial, const kiln_mesh *mesh, int slice, double more,
                          int *count)
{
    const screw *s = trial->user;
    double sum = 0.0, twist = 2.0 * KILN_PI * s->bar->turns * s->steps / STEPS;
    *count = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0);
        if (!(mesh->vertex[v].flags & KILN_VERTEX_SURFACE) || floor(p.x * SLICES / LENGTH) != slice)
            continue;
        double off = off_square(p, s->bar->half[0], twist * p.x / LENGTH + more);
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

typedef struct fold {
    double angle, length;
} fold;

static int ascending(const void *a, const void *b)
{
    const fold *p = a, *q = b;
    return (p->angle > q->angle) - (p->angle < q->angle);
}

static void face_corners(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

static kiln_vec3 face_normal(const kiln_mesh *mesh, uint32_t face)
{
    uint32_t v[3];
    face_corners(mesh, face, v);
    return kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                         kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]]));
}

/* Of the edges of the surface that are no ridges of the bar. */
static size_t list_folds(const kiln_mesh *mesh, fold *out)
{
    size_t count = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[3], t = mesh->face[f].at / 4;
        if (!kiln_face_live(mesh, f))
            continue;
        face_corners(mesh, f, v);
        for (int k = 0; k < 3; k++) {
            uint32_t a = v[k], b = v[(k + 1) % 3];
            const kiln_tet *tet = &mesh->tet[t];
            uint32_t edge = kiln_edge_of[kiln_tet_corner(tet, a)][kiln_tet_corner(tet, b)];
            if (a > b || kiln_edge_is_marked(mesh, t, edge))
                continue;
            kiln_vec3 n = face_normal(mesh, f);
            kiln_vec3 m = face_normal(mesh, kiln_surface_across(mesh, f, a, b));
            double angle = atan2(kiln_v3_norm(kiln_v3_cross(n, m)), kiln_v3_dot(n, m));
            out[count++] =
                (fold){180.0 / KILN_PI * angle, kiln_v3_norm(kiln_v3_sub(mesh->x[b], mesh->x[a]))};
        }
    }
    return count;
}

/* How smooth the surface is: by how much neighbouring faces are folded in the world, root of the
 * mean square by length, what nineteen of twenty parts of it stay below, and the largest. */
static kiln_status measure_folds(screw *s, const kiln_mesh *mesh, kiln_error *error)
{
    size_t most = 3 * (size_t)mesh->table[KILN_ON_FACE].used;
    fold *folds = malloc(most * sizeof *folds);
    if (!folds)
        return kiln_fail_memory(error, most * sizeof *folds);
    size_t count = list_folds(mesh, folds);
    double length = 0.0, squares = 0.0, up_to = 0.0;
    qsort(folds, count, sizeof *folds, ascending);
    for (size_t i = 0; i < count; i++) {
        length += folds[i].length;
        squares += folds[i].length * folds[i].angle * folds[i].angle;
    }
    for (size_t i = 0; i < count && up_to < 0.95 * length; i++) {
        up_to += folds[i].length;
        s->fold_most = folds[i].angle;
    }
    s->fold_mean = sqrt(squares / length);
    s->fold_largest = folds[count - 1].angle;
    free(folds);
    return KILN_OK;
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    screw *s = trial->user;
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double volume = 4 * s->bar->half[0] * s->bar->half[1] * LENGTH;
    for (int step = 0; step < s->steps; step++) {
        kiln_stats stats;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        s->q = fmin(s->q, stats.q_min);
        s->q_material = fmin(s->q_material, stats.q_material_min);
        s->q_world = fmin(s->q_world, stats.q_world_min);
        s->volume = stats.volume / kiln_trial_number(trial, volume, 3, 0, 0);
    }
    s->tets = mesh->table[KILN_ON_TET].live;
    s->off = distance_from_screw(trial, mesh);
    return measure_folds(s, mesh, error);
}

static kiln_status twist(kiln_validation *validation, const clay_bar *bar, const kiln_view *view,
                         screw *s, kiln_error *error)
{
    kiln_trial trial;
    *s = (screw){.bar = bar,
                 .q = 1.0,
                 .q_material = 1.0,
                 .q_world = 1.0,
                 .steps = kiln_validation_is_brief(validation) ? BRIEF_STEPS : STEPS};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = s;
    kiln_status status = make_bar(&trial, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    return status;
}

static void report_quality(kiln_validation *validation, const screw *s, const char *name)
{
    kiln_validation_report(validation, s->q, kiln_at_least(0.15), "%s: worst q asked for", name);
    kiln_validation_report(validation, s->q_material, kiln_at_least(0.15),
                           "%s: worst q in the material", name);
    kiln_validation_report(validation, s->q_world, kiln_at_least(0.15), "%s: worst q in the world",
                           name);
    kiln_validation_report(validation, s->volume, kiln_between(0.99, 1.01), "%s: volume kept",
                           name);
}

kiln_status kiln_validate_clay_screw(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    for (size_t v = 0; kiln_view_at(v) && !(brief && v > 0); v++) {
        const char *view = kiln_view_at(v)->name;
        screw s;
        KILN_TRY(twist(validation, &bars[0], kiln_view_at(v), &s, error));
        report_quality(validation, &s, view);
        kiln_validation_report(validation, s.off / (2 * s.bar->half[0]), kiln_between(0, 0.035),
                               "%s: rms distance from a square screw, part of its width", view);
        kiln_validation_report(validation, s.fold_mean, kiln_between(0, 22),
                               "%s: rms fold between faces, degrees", view);
        kiln_validation_report(validation, s.fold_most, kiln_between(0, 45),
                               "%s: fold that 95 %% of the edges stay below, degrees", view);
        kiln_validation_report(validation, s.fold_largest, kiln_between(0, 100),
                               "%s: largest fold, degrees", view);
        kiln_validation_report(validation, s.tets / 810, kiln_between(1.5, 10.0),
                               "%s: tets, times those of the start", view);
    }
    return KILN_OK;
}

kiln_status kiln_validate_clay_others(kiln_validation *validation, kiln_error *error)
{
    for (size_t i = 1; i < sizeof bars / sizeof bars[0]; i++) {
        screw s;
        KILN_TRY(twist(validation, &bars[i], kiln_view_at(0), &s, error));
        report_quality(validation, &s, bars[i].name);
    }
    return KILN_OK;
}

/* Remeshing inside the step, judged by its energy: the cantilever of E2 on a coarse mesh that
 * follows. The discrete answer is below the true one on every mesh and rises with every split. */
#include "validation/thrown.h"

#include "measure/fixture.h"

#include <math.h>
#include <stdio.h>

/* E2: Timoshenko's tip, and the mean tip of the uniform mesh K(4) of 1,025 vertices, m. */
static const double theory = 4.0306e-3, uniform = 3.173102e-3;
enum { UNIFORM_VERTICES = 1025 };

static kiln_status make_beam(kiln_trial *trial, double split, bool nodal, kiln_error *error)
{
    kiln_picks where;
    kiln_vec3 traction = kiln_trial_vector(trial, kiln_v3(0, 0, 0.1 / 0.01), -1, 1, -2);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, nodal ? 0.49 : 0.3, 1000, error));
    trial->scene.materials.data[0].base.nodal_pressure = nodal;
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
                        bool nodal, double *tip, double *vertices, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = make_beam(&trial, split, nodal, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK) {
        *tip = kiln_trial_patch_mean(&trial, 2).z;
        *vertices = (double)trial.result.points.count;
    }
    kiln_trial_end(&trial);
    return status;
}

/* Nearly incompressible, with the pressure averaged at the nodes. */
static kiln_status bend_nodal(kiln_validation *validation, kiln_error *error)
{
    static const double splits[] = {0.0, 1e-6, 1e-7}; /* J */
    double before = 0.0, tip, vertices;
    for (int i = 0; i < 3; i++) {
        KILN_TRY(bend(validation, kiln_view_at(0), splits[i], true, &tip, &vertices, error));
        kiln_validation_report(validation, tip / theory, kiln_between(before, 1.01),
                               "nodal pressure, %.0e J: tip over Timoshenko's, not below the "
                               "coarser one",
                               splits[i]);
        kiln_validation_report(validation, vertices, kiln_at_most(UNIFORM_VERTICES / 3.0),
                               "nodal pressure, %.0e J: vertices", splits[i]);
        before = tip / theory;
    }
    return KILN_OK;
}

kiln_status kiln_validate_energy_beam(kiln_validation *validation, kiln_error *error)
{
    static const double splits[] = {0.0, 1e-6, 1e-7, 2e-8}; /* J */
    enum { SPLITS = sizeof splits / sizeof splits[0] };
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        double before = 0.0, tip, vertices;
        for (int i = 0; i < SPLITS; i++) {
            KILN_TRY(bend(validation, view, splits[i], false, &tip, &vertices, error));
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
    return bend_nodal(validation, error);
}

/* Cook's membrane: 48 mm long, left side 44 mm, right side 16 mm. Twice: a body 16 mm thick whose
 * left side is clamped and whose faces are free, with the cells of uniform meshes twice as many in
 * the plane as across; and a plate of one cell, 1 mm thick, in plane strain, where uniform meshes
 * are as good as ones of the plane. */
typedef struct refined {
    double vertices, rise, energy; /* m of the upper right corner; J, with that of the load */
} refined;

typedef struct membrane {
    const char *name;
    double thickness; /* m */
    int cells, layers;
    bool plane_strain;
    double rise, energy;    /* converged: Richardson from the last three, each twice as fine */
    const refined *uniform; /* coarsest first */
    int uniforms;
} membrane;

static const refined thick_uniform[] = {{405, 13.337423e-3, -0.12407098},
                                        {1183, 13.835746e-3, -0.13077334},
                                        {2601, 14.027439e-3, -0.13349072},
                                        {8125, 14.171909e-3, -0.13562937},
                                        {60025, 14.262043e-3, -0.13706639}};
static const refined plate_uniform[] = {{50, 10.96955e-3, -0.0060300366},
                                        {162, 12.846727e-3, -0.0073833987},
                                        {578, 13.517461e-3, -0.0079203695},
                                        {2178, 13.709906e-3, -0.0080862862},
                                        {8450, 13.759133e-3, -0.0081331359}};
static const membrane thick = {"16 mm", 16e-3, 4, 2, false, 14.295e-3, -0.13767, thick_uniform, 5},
                      plate = {"plate", 1e-3, 8, 1, true, 13.776e-3, -0.0081516, plate_uniform, 5};

static kiln_status cook_body(kiln_trial *trial, const membrane *m, kiln_error *error)
{
    char settings[100];
    kiln_soup soup;
    snprintf(settings, sizeof settings, "nx=%d ny=%d nz=%d pattern=mirrored", m->cells, m->cells,
             m->layers);
    KILN_TRY(kiln_fixture_soup(trial->context, "box", settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i];
        soup.points.data[i] = kiln_v3(
            0.048 * p.x, (1 - p.y) * 0.044 * p.x + p.y * (0.044 + 0.016 * p.x), m->thickness * p.z);
    }
    return kiln_trial_body(trial, &soup, error);
}

static const double cook_pull = 1.0 / 16e-6; /* N/m^2 */

static kiln_status make_cook(kiln_trial *trial, const membrane *m, double split, kiln_error *error)
{
    const double mu = 422.5e3, nu = 0.3;
    const struct {
        int patch, components;
    } holds[] = {{1, m->plane_strain ? 3 : 7}, {5, 4}, {6, 4}};
    kiln_picks where;
    kiln_vec3 traction = kiln_trial_vector(trial, kiln_v3(0, cook_pull, 0), -1, 1, -2);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean-split", 2 * mu * (1 + nu), nu, 1000, error));
    KILN_TRY(cook_body(trial, m, error));
    for (int i = 0; i < (m->plane_strain ? 3 : 1); i++) {
        KILN_TRY(kiln_trial_pick_patch(trial, holds[i].patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, holds[i].components, NULL, error));
    }
    KILN_TRY(kiln_trial_pick_patch(trial, 2, &where, error));
    KILN_TRY(
        kiln_trial_load(trial, KILN_LOAD_TRACTION, &where, kiln_quantity_vector(traction), error));
    trial->scene.remesh.method = split > 0.0 ? KILN_REMESH_ENERGY : KILN_REMESH_NONE;
    trial->scene.remesh.split = kiln_trial_number(trial, split, 2, 1, -2);
    return KILN_OK;
}

static kiln_status note_elastic(kiln_trial *trial, const kiln_stats *stats, kiln_error *error)
{
    (void)error;
    *(double *)trial->user = stats->e_elastic; /* in the units of the scene */
    return KILN_OK;
}

static double corner_rise(const kiln_trial *trial)
{
    double rise = 0.0;
    int found = 0;
    for (size_t i = 0; i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i), x = kiln_trial_x(trial, i);
        if (fabs(u.x - 0.048) < 1e-9 && fabs(u.y - 0.060) < 1e-9) {
            rise += x.y - u.y;
            found++;
        }
    }
    return rise / found;
}

static kiln_status pull_cook(kiln_validation *validation, const kiln_view *view, const membrane *m,
                             double split, refined *out, kiln_error *error)
{
    kiln_trial trial;
    double elastic = 0.0;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &elastic;
    trial.on_step = note_elastic;
    kiln_status status = make_cook(&trial, m, split, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    if (status == KILN_OK) {
        double joule = kiln_trial_number(&trial, 1.0, 2, 1, -2);
        double work = cook_pull * 16e-3 * m->thickness * kiln_trial_patch_mean(&trial, 2).y;
        *out = (refined){(double)trial.result.points.count, corner_rise(&trial),
                         elastic / joule - work};
    }
    kiln_trial_end(&trial);
    return status;
}

/* Vertices of the uniform mesh that errs as much: a power of their number between two that are
 * known. */
static double vertices_alike(const membrane *m, double error,
                             double (*error_of)(const membrane *, const refined *))
{
    int i = 0;
    while (i + 2 < m->uniforms && error_of(m, &m->uniform[i + 1]) > error)
        i++;
    const refined *p = &m->uniform[i], *q = p + 1;
    double slope = log(q->vertices / p->vertices) / log(error_of(m, q) / error_of(m, p));
    return p->vertices * pow(error / error_of(m, p), slope);
}

static double rise_missed(const membrane *m, const refined *r)
{
    return fabs(1.0 - r->rise / m->rise);
}

static double energy_missed(const membrane *m, const refined *r)
{
    return fabs(1.0 - r->energy / m->energy);
}

static kiln_status cook_in(kiln_validation *validation, const kiln_view *view, const membrane *m,
                           double split, const kiln_bound bound[3], kiln_error *error)
{
    refined fine;
    char what[60];
    KILN_TRY(pull_cook(validation, view, m, split, &fine, error));
    snprintf(what, sizeof what, "%s, %s, %.0e J", m->name, view->name, split);
    kiln_validation_report(validation, fine.vertices, kiln_unbound(), "%s: vertices", what);
    kiln_validation_report(validation, fine.rise / m->rise, bound[0],
                           "%s: rise over the converged one", what);
    kiln_validation_report(validation,
                           fine.vertices / vertices_alike(m, rise_missed(m, &fine), rise_missed),
                           bound[1], "%s: vertices, of a uniform mesh of that rise", what);
    kiln_validation_report(
        validation, fine.vertices / vertices_alike(m, energy_missed(m, &fine), energy_missed),
        bound[2], "%s: vertices, of a uniform mesh of that energy", what);
    return KILN_OK;
}

/* The bar is 1 % with a fifth of the vertices. By energy plates do not come to that: a vertex in
 * one of their faces gains nothing without its twin in the other. */
kiln_status kiln_validate_energy_cook(kiln_validation *validation, kiln_error *error)
{
    static const double coarse[] = {1e-4, 1e-5, 2e-6}, thin[] = {1e-6, 2e-7, 1e-7}; /* J */
    const kiln_bound below = kiln_between(0.0, 1.002), near = kiln_between(0.99, 1.002),
                     fifth = kiln_at_most(0.2), any = kiln_unbound();
    for (int i = 0; i < 3; i++)
        KILN_TRY(cook_in(validation, kiln_view_at(0), &thick, coarse[i],
                         (kiln_bound[]){below, any, any}, error));
    for (size_t i = 0; kiln_view_at(i); i++)
        KILN_TRY(cook_in(validation, kiln_view_at(i), &thick, 1e-6,
                         (kiln_bound[]){near, fifth, fifth}, error));
    if (kiln_validation_is_brief(validation))
        return KILN_OK;
    for (int i = 0; i < 3; i++)
        KILN_TRY(cook_in(validation, kiln_view_at(0), &plate, thin[i],
                         (kiln_bound[]){below, any, any}, error));
    return cook_in(validation, kiln_view_at(0), &plate, 4e-8, (kiln_bound[]){near, fifth, any},
                   error);
}

/* Hertz: a quarter of an elastic block, pushed from below against a rigid ball. */
enum { BLOCK_CELLS = 4 };
typedef struct dent {
    int cells;
    double split, depth; /* J, m */
    refined found;       /* its rise is the force of the whole, N */
} dent;

static kiln_vec3 lift(const void *user, kiln_vec3 u, double time)
{
    (void)time;
    return kiln_v3(u.x, u.y, u.z + ((const dent *)user)->depth);
}

static kiln_status add_rigid_ball(kiln_trial *trial, kiln_error *error)
{
    kiln_scene_obstacle ball = {
        .shape = {.kind = KILN_OBSTACLE_SPHERE,
                  .point = kiln_trial_vector(trial, kiln_v3(0, 0, 2), 1, 0, 0),
                  .radius = kiln_trial_number(trial, 1, 1, 0, 0)},
        .motion.obstacle = -1};
    return kiln_array_push(trial->context, &trial->scene.obstacles, ball, error);
}

static kiln_status make_block(kiln_trial *trial, const dent *d, kiln_trial_map *map,
                              kiln_error *error)
{
    static const struct {
        int patch, components;
    } holds[] = {{1, 1}, {3, 2}, {5, 4}};
    kiln_picks where;
    trial->scene.contact.thickness = kiln_trial_number(trial, 1e-3, 1, 0, 0);
    trial->scene.contact.obstacles = KILN_OBSTACLES_SURFACES;
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e6, 0.3, 1000, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(1, 1, 1), (int[]){d->cells, d->cells, d->cells},
                            "mirrored", error));
    for (int i = 0; i < 3; i++) {
        KILN_TRY(kiln_trial_pick_patch(trial, holds[i].patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, holds[i].components, i == 2 ? map : NULL, error));
    }
    trial->scene.remesh.method = d->split > 0.0 ? KILN_REMESH_ENERGY : KILN_REMESH_NONE;
    trial->scene.remesh.split = kiln_trial_number(trial, d->split, 2, 1, -2);
    return add_rigid_ball(trial, error);
}

static kiln_status note_stored(kiln_trial *trial, const kiln_stats *stats, kiln_error *error)
{
    (void)error;
    *(double *)trial->user = stats->e_elastic + stats->e_contact;
    return KILN_OK;
}

static kiln_status press_block(kiln_validation *validation, const kiln_view *view, dent *d,
                               kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_map map = {.trial = &trial, .place = lift, .user = d, .l = 1};
    double stored = 0.0;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &stored;
    trial.on_step = note_stored;
    kiln_status status = make_block(&trial, d, &map, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    d->found = (refined){.vertices = (double)trial.result.points.count,
                         .energy = 4.0 * stored / kiln_trial_number(&trial, 1.0, 2, 1, -2)};
    for (size_t i = 0; status == KILN_OK && i < trial.result.points.count; i++)
        if (kiln_trial_u(&trial, i).z < 1e-9)
            d->found.rise += 4.0 * kiln_trial_field(&trial, "reaction")[i].z;
    kiln_trial_end(&trial);
    return status;
}

/* Uniform meshes of 4, 8, 16 and 32 cells: N and J, and what the last three lead to. */
static const refined dent_uniform[] = {{125, 27.1262e3, 566.704},
                                       {729, 22.1899e3, 448.852},
                                       {4913, 19.8382e3, 394.015},
                                       {35937, 19.4971e3, 379.476}};
static const membrane dented = {
    .name = "ball", .rise = 19.44e3, .energy = 374.2, .uniform = dent_uniform, .uniforms = 4};

/* A fifth of the vertices of the uniform mesh that errs as much. */
static void report_dent(kiln_validation *validation, const kiln_view *view, const dent *d,
                        kiln_bound bound)
{
    const refined *r = &d->found;
    kiln_validation_report(validation, r->vertices, kiln_unbound(), "%s, %.0e J: vertices",
                           view->name, d->split);
    kiln_validation_report(
        validation, r->vertices / vertices_alike(&dented, rise_missed(&dented, r), rise_missed),
        bound, "%s, %.0e J: vertices, of a uniform mesh of that force", view->name, d->split);
    kiln_validation_report(
        validation, r->vertices / vertices_alike(&dented, energy_missed(&dented, r), energy_missed),
        bound, "%s, %.0e J: vertices, of a uniform mesh of that energy", view->name, d->split);
}

kiln_status kiln_validate_energy_hertz(kiln_validation *validation, kiln_error *error)
{
    static const double splits[] = {0.1, 0.02, 5e-3, 1e-3}; /* J */
    bool brief = kiln_validation_is_brief(validation);
    int count = brief ? 2 : 4;
    dent even = {.cells = 2 * BLOCK_CELLS, .depth = 0.05};
    double before = INFINITY;
    KILN_TRY(press_block(validation, kiln_view_at(0), &even, error));
    kiln_validation_report(validation, even.found.energy / dent_uniform[1].energy,
                           kiln_between(1.0 - 1e-4, 1.0 + 1e-4),
                           "%.0f uniform vertices: energy over the one that is known",
                           even.found.vertices);
    for (int i = 0; i < count; i++) {
        dent d = {.cells = BLOCK_CELLS, .split = splits[i], .depth = 0.05};
        KILN_TRY(press_block(validation, kiln_view_at(0), &d, error));
        kiln_validation_report(validation, d.found.rise, kiln_between(dented.rise, before),
                               "%.0e J: force, N, not above the coarser one", splits[i]);
        before = d.found.rise;
        report_dent(validation, kiln_view_at(0), &d, i == 0 ? kiln_unbound() : kiln_at_most(0.2));
        if (splits[i] == 0.02)
            kiln_validation_report(validation, d.found.rise / even.found.rise, kiln_at_most(1.01),
                                   "%.0e J: force over that of %.0f uniform vertices", splits[i],
                                   even.found.vertices);
    }
    for (size_t i = 2; kiln_view_at(i) && !brief; i++) { /* holds of one component: not turned */
        dent d = {.cells = BLOCK_CELLS, .split = 5e-3, .depth = 0.05};
        KILN_TRY(press_block(validation, kiln_view_at(i), &d, error));
        report_dent(validation, kiln_view_at(i), &d, kiln_at_most(0.2));
    }
    return KILN_OK;
}

/* A wave of bending along a rod that is shaken at its end (scenes/wave.lua). */
typedef struct wave {
    int cells[3];
    double split, part;      /* J that a split must gain; of the energy of a step */
    double energy, vertices; /* J, of the last step; of the mean step */
    double steps;
    double place[2]; /* m: mean of the vertices at each frame but the first */
    double off;      /* m, of its shape at the end */
    int frames;
} wave;

static const double wave_length = 2.0, wave_end = 0.6; /* m, s */

static kiln_vec3 shake(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    return kiln_v3(u.x, u.y, u.z + 0.16 * (1.0 - cos(2.0 * KILN_PI * fmin(2.0 * time, 1.0))));
}

static kiln_status note_wave(kiln_trial *trial, const kiln_stats *stats, kiln_error *error)
{
    (void)error;
    wave *w = trial->user;
    w->energy = (stats->e_elastic + stats->e_kinetic) / kiln_trial_number(trial, 1.0, 2, 1, -2);
    w->vertices += stats->vertices;
    w->steps++;
    return KILN_OK;
}

static void note_place(kiln_trial *trial)
{
    wave *w = trial->user;
    double sum = 0.0;
    for (size_t i = 0; i < trial->result.points.count; i++)
        sum += kiln_trial_u(trial, i).x;
    if (w->frames > 0 && w->frames <= 2)
        w->place[w->frames - 1] = sum / (double)trial->result.points.count;
    w->frames++;
}

static kiln_status make_wave(kiln_trial *trial, const wave *w, kiln_trial_map *map,
                             kiln_error *error)
{
    kiln_picks where;
    trial->scene.solid.integrator = KILN_BDF2;
    trial->scene.duration = kiln_trial_number(trial, wave_end, 0, 0, 1);
    trial->scene.pace.dt = kiln_trial_number(trial, 0.0125, 0, 0, 1);
    trial->scene.output.frame = kiln_trial_number(trial, wave_end / 2, 0, 0, 1);
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e4, 0.45, 1340, error));
    KILN_TRY(kiln_trial_box(trial, kiln_v3(wave_length, 0.1, 0.1), w->cells, "mirrored", error));
    for (int patch = 1; patch <= 2; patch++) {
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 7, patch == 2 ? map : NULL, error));
    }
    trial->scene.remesh.method = KILN_REMESH_ENERGY;
    trial->scene.remesh.split = kiln_trial_number(trial, w->split, 2, 1, -2);
    if (w->part > 0.0) {
        trial->scene.remesh.part = w->part;
        trial->scene.remesh.collapse_part = 2.0;
        trial->scene.remesh.quality = 0.05;
    }
    return KILN_OK;
}

/* Where points of the middle line, each 0.2 m, are at the end, m: Richardson from uniform meshes of
 * 160 x 8 x 8 and 240 x 12 x 12 cells (the half of it, as it is symmetric), which differ by 0.76
 * mm. Errors fall with the square of the edge; that of the first of them is 1.4 mm. */
static const double wave_shape[][2] = {{0.20014, 0.05000}, {0.40155, 0.05000}, {0.60998, 0.05000},
                                       {0.83900, 0.04999}, {1.10596, 0.05052}, {1.38548, 0.03585},
                                       {1.55682, 0.15109}, {1.69811, 0.34463}, {1.81152, 0.11100}};
enum { WAVE_POINTS = sizeof wave_shape / sizeof wave_shape[0] };

/* Where the matter at a place is. */
static kiln_vec3 place_of(const kiln_trial *trial, kiln_vec3 at)
{
    const kiln_soup *soup = &trial->result;
    kiln_vec3 place = kiln_v3(0, 0, 0);
    double best = -INFINITY;
    for (size_t t = 0; t < soup->tets.count; t++) {
        kiln_vec3 u[4];
        double part[4], least = INFINITY;
        for (int k = 0; k < 4; k++)
            u[k] = kiln_trial_u(trial, soup->tets.data[t].v[k]);
        for (int k = 0; k < 4; k++) {
            kiln_vec3 c[4] = {u[0], u[1], u[2], u[3]};
            c[k] = at;
            part[k] =
                kiln_tet_volume(c[0], c[1], c[2], c[3]) / kiln_tet_volume(u[0], u[1], u[2], u[3]);
            least = fmin(least, part[k]);
        }
        if (!(least > best))
            continue;
        best = least;
        place = kiln_v3(0, 0, 0);
        for (int k = 0; k < 4; k++)
            place = kiln_v3_madd(place, part[k], kiln_trial_x(trial, soup->tets.data[t].v[k]));
    }
    return place;
}

static double off_shape(const kiln_trial *trial)
{
    double sum = 0.0;
    for (int i = 0; i < WAVE_POINTS; i++) {
        kiln_vec3 p = place_of(trial, kiln_v3(0.2 * (i + 1), 0.05, 0.05));
        sum += pow(p.x - wave_shape[i][0], 2) + pow(p.z - wave_shape[i][1], 2);
    }
    return sqrt(sum / WAVE_POINTS);
}

static kiln_status run_wave(kiln_validation *validation, const kiln_view *view, wave *w,
                            kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_map map = {.trial = &trial, .place = shake, .user = w, .l = 1};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = w;
    trial.on_step = note_wave;
    trial.on_frame = note_place;
    kiln_status status = make_wave(&trial, w, &map, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    w->vertices /= w->steps;
    if (status == KILN_OK)
        w->off = off_shape(&trial);
    kiln_trial_end(&trial);
    return status;
}

/* J, by the same two meshes, which have 17.018 and 16.974; 80 x 4 x 4 cells have 17.125. */
static const double wave_energy = 16.94;
/* How far uniform meshes are off the shape, m: in the place of the rise. */
static const refined wave_uniform[] = {{84, 49.74e-3, 0},  {369, 15.48e-3, 0}, {976, 9.58e-3, 0},
                                       {2025, 4.43e-3, 0}, {5929, 2.43e-3, 0}, {13041, 1.37e-3, 0}};
static const membrane shaken = {.name = "wave", .uniform = wave_uniform, .uniforms = 6};

static double shape_missed(const membrane *m, const refined *r)
{
    (void)m;
    return r->rise;
}

static kiln_status shake_rod(kiln_validation *validation, const kiln_view *view, wave *w,
                             const char *what, kiln_error *error)
{
    w->cells[0] = 20, w->cells[1] = w->cells[2] = 1;
    KILN_TRY(run_wave(validation, view, w, error));
    kiln_validation_report(validation, w->off, kiln_unbound(), "%s, 0.6 s: off its shape, m", what);
    kiln_validation_report(validation, w->vertices / vertices_alike(&shaken, w->off, shape_missed),
                           kiln_at_most(0.2),
                           "%s: mean vertices, of a uniform mesh that is as far off", what);
    return KILN_OK;
}

static void report_travel(kiln_validation *validation, const wave *w, const char *what)
{
    kiln_validation_report(validation, w->vertices, kiln_at_most(2025.0 / 2), "%s: vertices, mean",
                           what);
    kiln_validation_report(validation, w->place[0] / wave_length, kiln_between(0.6, 1.0),
                           "%s, 0.3 s: mean place of the vertices, of the length", what);
    kiln_validation_report(validation, (w->place[1] - w->place[0]) / wave_length,
                           kiln_at_most(-0.01), "%s, 0.6 s: its way with the wave, of the length",
                           what);
    kiln_validation_report(validation, w->energy / wave_energy, kiln_between(0.97, 1.03),
                           "%s, 0.6 s: energy over the converged one", what);
}

/* By joules, with the presets; and by parts of the energy of each step, which at the end are as
 * much, with collapses that keep up with a wave and more slender tets. */
kiln_status kiln_validate_energy_wave(kiln_validation *validation, kiln_error *error)
{
    static const double splits[] = {1e-3, 2e-4, 5e-5}, parts[] = {6e-5, 1.2e-5, 3e-6};
    for (int i = 0; i < 6; i++) {
        char what[40];
        wave w = {.split = i < 3 ? splits[i] : 0.0, .part = i < 3 ? 0.0 : parts[i - 3]};
        snprintf(what, sizeof what, i < 3 ? "%.0e J" : "part %.1e", i < 3 ? w.split : w.part);
        KILN_TRY(shake_rod(validation, kiln_view_at(0), &w, what, error));
        if (i % 3 == 1)
            report_travel(validation, &w, what);
    }
    for (size_t i = 1; kiln_view_at(i) && !kiln_validation_is_brief(validation); i++) {
        wave w = {.part = parts[0]};
        KILN_TRY(shake_rod(validation, kiln_view_at(i), &w, kiln_view_at(i)->name, error));
    }
    return KILN_OK;
}

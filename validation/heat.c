/* Heat against closed forms (validation.md, 6). Temperatures are the same in all views. */
#include "sim/heat.h"
#include "validation/trial.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* What a case is about, in SI. */
typedef struct heat_case {
    const char *model;
    double young, poisson, density;
    kiln_thermal thermal;
    double expansion, reference; /* NaN: of the start */
    kiln_vec3 size;
    int cells[3];
    const char *pattern;
    kiln_integrator integrator;
    kiln_heat_scheme scheme;
    double dt, start; /* s, K */
    int steps;
    bool melts; /* becomes liquid, of the same conductivity and capacity */
} heat_case;

static kiln_status add_melt(kiln_trial *trial, const heat_case *c, kiln_error *error)
{
    KILN_TRY(kiln_trial_liquid(trial, c->density, 0.0, 0.0, error));
    kiln_scene_material *rows = trial->scene.materials.data;
    rows[1].thermal = rows[0].thermal;
    rows[1].thermal.base.latent = 0.0;
    rows[0].thermal.melts = true;
    rows[0].melt = 2;
    return KILN_OK;
}

static kiln_status begin_case(kiln_trial *trial, kiln_validation *validation, const kiln_view *view,
                              const heat_case *c, kiln_heat_settings **heat, kiln_error *error)
{
    void *settings;
    kiln_trial_begin(trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(trial, c->integrator, c->dt, c->steps);
    trial->scene.solid.newton.tolerance = 1e-14;
    KILN_TRY(kiln_trial_material(trial, c->model, c->young, c->poisson, c->density, error));
    kiln_thermal_settings *thermal = &trial->scene.materials.data[0].thermal;
    *thermal = (kiln_thermal_settings){
        .conducts = true,
        .base = {.conductivity = kiln_trial_number(trial, c->thermal.conductivity, 1, 1, -3),
                 .capacity = kiln_trial_number(trial, c->thermal.capacity, 2, 0, -2),
                 .latent = kiln_trial_number(trial, c->thermal.latent, 2, 0, -2),
                 .melts = c->thermal.melts,
                 .range = c->thermal.range},
        .expansion = c->expansion,
        .reference = c->reference};
    thermal->conductivity = kiln_quantity_number(thermal->base.conductivity);
    if (c->melts)
        KILN_TRY(add_melt(trial, c, error));
    KILN_TRY(kiln_scene_add_settings(&trial->scene, &kiln_heat_schema, &settings, error));
    *heat = settings;
    (*heat)->temperature = kiln_quantity_number(c->start);
    (*heat)->scheme = (int)c->scheme;
    KILN_TRY(kiln_trial_box(trial, c->size, c->cells, c->pattern, error));
    trial->scene.bodies.data[0].temperature = kiln_quantity_number(NAN);
    return KILN_OK;
}

static kiln_status hold_all(kiln_trial *trial, kiln_error *error)
{
    kiln_picks all = {0};
    KILN_TRY(kiln_trial_pick_all(trial, &all, error));
    return kiln_trial_hold(trial, &all, 7, NULL, error);
}

static kiln_status load_patch(kiln_trial *trial, kiln_load_kind kind, int patch, double amount,
                              double outside, kiln_error *error)
{
    kiln_picks where = {0};
    KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
    KILN_TRY(kiln_trial_load(trial, kind, &where, kiln_quantity_number(amount), error));
    trial->scene.loads.data[trial->scene.loads.count - 1].outside = kiln_quantity_number(outside);
    return KILN_OK;
}

/* What is looked at in the end. */
typedef struct seen {
    double (*exact)(const heat_case *c, kiln_vec3 x, double time);
    const heat_case *c;
    double most, square, sum; /* largest error; sum of squares; vertices */
    double at[2];             /* K: at x = 0, and at the end */
    double front, level;      /* m, the farthest place along x that is at this, K */
    double liquid;            /* m, of the length, what has melted; where something does */
} seen;

static void look(seen *out, const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *T =
        (const double *)(const void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "temperature")->data;
    double time = out->c->dt * out->c->steps;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 x = kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0);
        double error = out->exact ? T[v] - out->exact(out->c, x, time) : 0.0;
        out->most = fmax(out->most, fabs(error));
        out->square += error * error;
        out->sum += 1.0;
        if (x.x < 1e-9 * out->c->size.x)
            out->at[0] = T[v];
        if (x.x > (1.0 - 1e-9) * out->c->size.x)
            out->at[1] = T[v];
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6; e++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[e][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[e][1]];
            double along = (out->level - T[a]) / (T[b] - T[a]);
            kiln_vec3 p = kiln_trial_vector_back(trial, mesh->x[a], 1, 0, 0);
            kiln_vec3 q = kiln_trial_vector_back(trial, mesh->x[b], 1, 0, 0);
            if (along >= 0.0 && along <= 1.0)
                out->front = fmax(out->front, p.x + along * (q.x - p.x));
        }
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kiln_stats stats = {.time = 0.0};
    while (stats.time < trial->scene.duration * (1 - 1e-9))
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    look(trial->user, trial, world);
    seen *out = trial->user;
    double mass = out->c->density * out->c->size.x * out->c->size.y * out->c->size.z;
    out->liquid = stats.melted / kiln_trial_number(trial, mass, 0, 1, 0) * out->c->size.x;
    return KILN_OK;
}

/* A bar whose end at x = 0 has a temperature from the start. */
static kiln_status heat_bar(kiln_validation *validation, const kiln_view *view, const heat_case *c,
                            double hot, seen *out, kiln_error *error)
{
    kiln_trial trial;
    kiln_heat_settings *heat;
    out->c = c;
    kiln_status status = begin_case(&trial, validation, view, c, &heat, error);
    trial.user = out;
    if (status == KILN_OK)
        status = hold_all(&trial, error);
    if (status == KILN_OK)
        status = load_patch(&trial, KILN_LOAD_TEMPERATURE, 1, hot, 0.0, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    return status;
}

/* H1. */

static double by_erfc(const heat_case *c, kiln_vec3 x, double time)
{
    double alpha = c->thermal.conductivity / (c->density * c->thermal.capacity);
    return c->start + erfc(x.x / (2.0 * sqrt(alpha * time)));
}

kiln_status kiln_validate_H1(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        int cells;
        double dt, bound;
        kiln_heat_scheme scheme;
        const char *name;
    } rows[] = {{40, 1.0, 1.5 * 1.9e-3, KILN_HEAT_EULER, "h 5 mm, dt 1 s"},
                {80, 0.25, 1.5 * 4.7e-4, KILN_HEAT_EULER, "h 2.5 mm, dt 0.25 s"},
                {80, 1.0, 1.5 * 4.7e-4, KILN_HEAT_SDIRK2, "h 2.5 mm, dt 1 s, sdirk2"}};
    for (size_t v = 0; kiln_view_at(v); v++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const heat_case c = {.model = "linear",
                                 .young = 1e6,
                                 .poisson = 0.3,
                                 .density = 1000,
                                 .thermal = {.conductivity = 10, .capacity = 1000, .range = 1},
                                 .reference = NAN,
                                 .size = {0.2, 0.01, 0.01},
                                 .cells = {rows[i].cells, 2, 2},
                                 .pattern = "mirrored",
                                 .scheme = rows[i].scheme,
                                 .dt = rows[i].dt,
                                 .steps = (int)(100.0 / rows[i].dt + 0.5),
                                 .start = 100};
            seen out = {.exact = by_erfc};
            KILN_TRY(heat_bar(validation, kiln_view_at(v), &c, c.start + 1.0, &out, error));
            kiln_validation_report(validation, out.most, kiln_at_most(rows[i].bound),
                                   "%s, %s: largest error, of the jump", rows[i].name,
                                   kiln_view_at(v)->name);
        }
    return KILN_OK;
}

/* H2: a wave in an insulated cube. */

static double by_cosines(const heat_case *c, kiln_vec3 x, double time)
{
    return c->start + cos(PI * x.x) * cos(PI * x.y) * cos(PI * x.z) * exp(-3.0 * PI * PI * time);
}

static kiln_status give_wave(void *self, const kiln_circumstances *at, double *out, int components,
                             kiln_error *error)
{
    (void)components, (void)error;
    const kiln_trial *trial = self;
    const seen *s = trial->user;
    *out = by_cosines(s->c, kiln_trial_vector_back(trial, at->material, 1, 0, 0), 0.0);
    return KILN_OK;
}

static kiln_status heat_cube(kiln_validation *validation, const kiln_view *view, int n, double *off,
                             kiln_error *error)
{
    const heat_case c = {.model = "linear",
                         .young = 1e6,
                         .poisson = 0.3,
                         .density = 1,
                         .thermal = {.conductivity = 1, .capacity = 1, .range = 1},
                         .reference = NAN,
                         .size = {1, 1, 1},
                         .cells = {n, n, n},
                         .pattern = "mirrored",
                         .dt = 0.16 / (n * n),
                         .steps = n * n / 8,
                         .start = 10};
    kiln_trial trial;
    kiln_heat_settings *heat;
    seen out = {.exact = by_cosines, .c = &c};
    kiln_status status = begin_case(&trial, validation, view, &c, &heat, error);
    trial.user = &out;
    if (status == KILN_OK) {
        heat->temperature = (kiln_quantity){.self = &trial, .evaluate = give_wave};
        status = hold_all(&trial, error);
    }
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    *off = sqrt(out.square / out.sum);
    return status;
}

kiln_status kiln_validate_H2(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        double off[3];
        for (int i = 0; i < 3; i++)
            KILN_TRY(heat_cube(validation, view, 4 << i, &off[i], error));
        kiln_validation_report(validation, log2(off[0] / off[1]), kiln_at_least(1.75),
                               "%s: order from 4 to 8 cells", view->name);
        kiln_validation_report(validation, log2(off[1] / off[2]), kiln_at_least(1.9),
                               "%s: order from 8 to 16 cells", view->name);
    }
    return KILN_OK;
}

/* H3: cooling in air. */

static kiln_status cool(kiln_validation *validation, const kiln_view *view, const heat_case *c,
                        double film, bool all, seen *out, kiln_error *error)
{
    kiln_trial trial;
    kiln_heat_settings *heat;
    out->c = c;
    kiln_status status = begin_case(&trial, validation, view, c, &heat, error);
    trial.user = out;
    film = kiln_trial_number(&trial, film, 0, 1, -3);
    if (status == KILN_OK)
        status = hold_all(&trial, error);
    if (status == KILN_OK && all) {
        heat->film = film;
        heat->air = kiln_quantity_number(100.0);
    }
    if (status == KILN_OK && !all)
        status = load_patch(&trial, KILN_LOAD_FILM, 2, film, 100.0, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_H3(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        const heat_case slab = {.model = "linear",
                                .young = 1e6,
                                .poisson = 0.3,
                                .density = 1,
                                .thermal = {.conductivity = 1, .capacity = 1, .range = 1},
                                .reference = NAN,
                                .size = {1, 0.1, 0.1},
                                .cells = {20, 2, 2},
                                .pattern = "mirrored",
                                .scheme = KILN_HEAT_SDIRK2,
                                .dt = 0.01,
                                .steps = 50,
                                .start = 101};
        heat_case cube = slab;
        cube.density = 1000;
        cube.thermal = (kiln_thermal){.conductivity = 100, .capacity = 1000, .range = 1};
        cube.size = kiln_v3(0.01, 0.01, 0.01);
        cube.cells[0] = cube.cells[1] = cube.cells[2] = 3;
        cube.dt = 0.5;
        cube.steps = 40;
        seen out = {0};
        KILN_TRY(cool(validation, view, &slab, 1.0, false, &out, error));
        kiln_validation_report(validation, out.at[0] - 100.0, kiln_near(0.77253, 0.0077),
                               "slab, %s: at its middle", view->name);
        kiln_validation_report(validation, out.at[1] - 100.0, kiln_near(0.50452, 0.0050),
                               "slab, %s: at its surface", view->name);
        out = (seen){0};
        KILN_TRY(cool(validation, view, &cube, 50.0, true, &out, error));
        kiln_validation_report(validation, out.at[0] - 100.0, kiln_near(0.54881, 0.0055),
                               "small cube, %s: after 20 s", view->name);
    }
    return KILN_OK;
}

/* H4: a front that melts, of matter that stays what it is and of one that becomes liquid. */

static kiln_status melt_bar(kiln_validation *validation, const kiln_view *view, const heat_case *c,
                            double hot, double right, const char *name, kiln_error *error)
{
    seen out = {.level = 273.5};
    KILN_TRY(heat_bar(validation, view, c, hot, &out, error));
    kiln_validation_report(validation, 1e3 * out.front, kiln_near(right, 1.0),
                           "%s%s, %s: front after 10 s, mm", name, c->melts ? ", melts" : "",
                           view->name);
    if (c->melts)
        kiln_validation_report(validation, 1e3 * out.liquid, kiln_near(right, 1.0),
                               "%s, melts, %s: liquid after 10 s, mm", name, view->name);
    return KILN_OK;
}

kiln_status kiln_validate_H4(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        double stefan, lambda;
        const char *name;
    } rows[] = {{0.1, 0.220016, "Stefan number 0.1"},
                {0.5, 0.464786, "Stefan number 0.5"},
                {1.0, 0.620063, "Stefan number 1"}};
    double alpha = 35.0 / 1960.0e3;
    for (size_t k = 0; kiln_view_at(k / 2); k++) {
        const kiln_view *view = kiln_view_at(k / 2);
        heat_case c = {
            .model = "linear",
            .young = 1e6,
            .poisson = 0.3,
            .density = 1000,
            .thermal = {.conductivity = 35, .capacity = 1960, .melts = 273.5, .range = 1},
            .reference = NAN,
            .size = {0.1, 0.004, 0.004},
            .cells = {100, 2, 2},
            .pattern = "mirrored",
            .dt = 0.05,
            .steps = 200,
            .start = 253.5,
            .melts = k % 2 == 1};
        KILN_TRY(melt_bar(validation, view, &c, 353.5, 24.22, "without latent heat", error));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            c.thermal.range = 0.25;
            c.thermal.latent = 1960.0 * 40.0 / rows[i].stefan;
            c.start = 273.25;
            KILN_TRY(melt_bar(validation, view, &c, 313.5,
                              2e3 * rows[i].lambda * sqrt(alpha * 10.0), rows[i].name, error));
        }
    }
    return KILN_OK;
}

/* H5: stress of what is kept from expanding. */

typedef struct clamped {
    double stress; /* Pa, mean of xx */
    double strain; /* of the size, along z */
} clamped;

static kiln_status watch_clamped(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    clamped *out = trial->user;
    kiln_stats stats = {.time = 0.0};
    KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double most = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        most = fmax(most, kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0).z);
    out->strain = most - 1.0;
    /* What the patch at +x is held by is the stress times its area, 1. */
    const kiln_vec3 *force =
        (const kiln_vec3 *)(const void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "reaction")->data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_trial_vector_back(trial, mesh->u[v], 1, 0, 0).x > 0.999)
            out->stress += kiln_trial_vector_back(trial, force[v], 1, 1, -2).x;
    return KILN_OK;
}

static kiln_status clamp(kiln_validation *validation, const kiln_view *view, const char *model,
                         int axes, clamped *out, kiln_error *error)
{
    const heat_case c = {.model = model,
                         .young = 1e9,
                         .poisson = 0.3,
                         .density = 1000,
                         .thermal = {.conductivity = 10, .capacity = 1000, .range = 1},
                         .expansion = 1e-5,
                         .reference = 300,
                         .size = {1, 1, 1},
                         .cells = {2, 2, 2},
                         .pattern = "kuhn",
                         .integrator = KILN_STATIC,
                         .dt = 1,
                         .steps = 1,
                         .start = 400};
    kiln_trial trial;
    kiln_heat_settings *heat;
    *out = (clamped){0};
    kiln_status status = begin_case(&trial, validation, view, &c, &heat, error);
    trial.user = out;
    trial.scene.output.reaction = true;
    for (int axis = 0; axis < 3 && status == KILN_OK; axis++)
        for (int end = 0; end < (axis < axes ? 2 : 1) && status == KILN_OK; end++) {
            kiln_picks where = {0};
            status = kiln_trial_pick_patch(&trial, 2 * axis + 1 + end, &where, error);
            if (status == KILN_OK)
                status = kiln_trial_hold(&trial, &where, 1 << axis, NULL, error);
        }
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_clamped, error);
    kiln_trial_end(&trial);
    return status;
}

static kiln_status watch_tip(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    double *tip = trial->user, faces = 0.0;
    kiln_stats stats = {.time = 0.0};
    KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    const kiln_mesh *mesh = kiln_world_mesh(world);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = kiln_trial_vector_back(trial, mesh->u[v], 1, 0, 0);
        if (u.x < 1.0 - 1e-9)
            continue;
        *tip += kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0).z - u.z;
        faces += 1.0;
    }
    *tip /= faces;
    return KILN_OK;
}

/* Two layers that expand unequally; the lower one is the second material. */
static kiln_status bend(kiln_validation *validation, const kiln_view *view, double *tip,
                        kiln_error *error)
{
    const heat_case c = {.model = "linear",
                         .young = 1e9,
                         .poisson = 0.3,
                         .density = 1000,
                         .thermal = {.conductivity = 10, .capacity = 1000, .range = 1},
                         .reference = 300,
                         .size = {1, 0.1, 0.1},
                         .cells = {40, 4, 4},
                         .pattern = "mirrored",
                         .integrator = KILN_STATIC,
                         .dt = 1,
                         .steps = 1,
                         .start = 400};
    kiln_trial trial;
    kiln_heat_settings *heat;
    kiln_picks root = {0};
    kiln_scene_region lower = {.tag = -1, .material = 1};
    kiln_status status = begin_case(&trial, validation, view, &c, &heat, error);
    kiln_scene *scene = &trial.scene;
    trial.user = tip;
    if (status == KILN_OK)
        status = kiln_array_push(trial.context, &scene->materials, scene->materials.data[0], error);
    if (status == KILN_OK) {
        scene->materials.data[1].thermal.expansion = 1e-5;
        status = kiln_trial_pick_below(&trial, 0.05, &lower.where, error);
    }
    if (status == KILN_OK)
        status = kiln_array_push(trial.context, &scene->bodies.data[0].regions, lower, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_patch(&trial, 1, &root, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &root, 7, NULL, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_tip, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_H5(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; kiln_view_at(v); v++) {
        double tip = 0.0; /* 0.85: what linear tets have of a beam that bends (E2, KM(4)) */
        KILN_TRY(bend(validation, kiln_view_at(v), &tip, error));
        kiln_validation_report(validation, tip / 7.5e-3, kiln_near(0.85, 0.085),
                               "two layers, %s: bend, of Timoshenko's", kiln_view_at(v)->name);
    }
    static const double stress[] = {0.0, -1e6, -1e9 * 1e-3 / 0.7, -2.5e6};
    for (size_t v = 0; kiln_view_at(v); v++)
        for (int axes = 0; axes <= 3; axes++) {
            const kiln_view *view = kiln_view_at(v);
            clamped out;
            KILN_TRY(clamp(validation, view, "linear", axes, &out, error));
            if (axes == 0)
                kiln_validation_report(validation, out.strain, kiln_near(1e-3, 1e-13),
                                       "free, %s: strain", view->name);
            else
                kiln_validation_report(validation, out.stress / stress[axes] - 1.0,
                                       kiln_near(0.0, 1e-10),
                                       "clamped along %d axes, %s: stress, "
                                       "relative error",
                                       axes, view->name);
        }
    return KILN_OK;
}

/* H6: what is compressed grows warm. In a time too short for it to give way. */

static const double SQUEEZED = 1e-12; /* s */

typedef struct squeeze {
    double rate[3]; /* 1/s, along the axes */
    double warmed;  /* K */
} squeeze;

static kiln_status watch_squeeze(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    squeeze *out = trial->user;
    kiln_stats stats = {.time = 0.0};
    for (int i = 0; i < 2; i++) /* what a step compresses warms the next */
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
    out->warmed = fabs(stats.temperature_max - 298.5) > fabs(stats.temperature_min - 298.5)
                      ? stats.temperature_max - 298.5
                      : stats.temperature_min - 298.5;
    return KILN_OK;
}

static kiln_vec3 squeeze_at(const void *user, kiln_vec3 u, double time)
{
    (void)time;
    const squeeze *s = user;
    return kiln_v3(s->rate[0] * u.x, s->rate[1] * u.y, s->rate[2] * u.z);
}

static kiln_status press(kiln_validation *validation, const kiln_view *view, squeeze *out,
                         kiln_error *error)
{
    const heat_case lead = {.model = "linear",
                            .young = 16e9,
                            .poisson = 0.44,
                            .density = 11300,
                            .thermal = {.conductivity = 0, .capacity = 130, .range = 1},
                            .expansion = 29e-6,
                            .reference = NAN,
                            .size = {0.01, 0.01, 0.01},
                            .cells = {2, 2, 2},
                            .pattern = "kuhn",
                            .integrator = KILN_IMPLICIT_EULER,
                            .dt = SQUEEZED,
                            .steps = 2,
                            .start = 298.5};
    kiln_trial trial;
    kiln_heat_settings *heat;
    kiln_trial_map map = {.trial = &trial, .place = squeeze_at, .user = out, .l = 1, .t = -1};
    kiln_status status = begin_case(&trial, validation, view, &lead, &heat, error);
    trial.user = out;
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].velocity = kiln_trial_quantity(&map);
        status = kiln_trial_build(&trial, watch_squeeze, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_H6(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        double third =
            (cbrt(0.99) - 1.0) / SQUEEZED; /* 1/s: of 1 % of the volume in the first step */
        squeeze even = {.rate = {third, third, third}};
        squeeze shear = {.rate = {0.01 / SQUEEZED, -0.01 / 1.01 / SQUEEZED, 0.0}};
        KILN_TRY(press(validation, view, &even, error));
        kiln_validation_report(validation, even.warmed, kiln_near(7.857, 7.857e-3),
                               "lead compressed by 1 %% of its volume, %s: K warmer", view->name);
        KILN_TRY(press(validation, view, &shear, error));
        kiln_validation_report(validation, shear.warmed, kiln_near(0.0, 1e-9),
                               "sheared, %s: K warmer", view->name);
    }
    return KILN_OK;
}

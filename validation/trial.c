#include "validation/trial.h"

#include "base/random.h"
#include "io/format.h"
#include "measure/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The rotation has no special angle; the units are those of nobody. */
static const kiln_view views[] = {
    {"plain", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 1, 1, 1, 0},
    {"rotated",
     {{{0.22627447083374752, -0.77889297426214832, -0.58491503527775013},
       {0.16635198251018579, -0.56076716684885186, 0.8110901321673456},
       {-0.95975355261850326, -0.28083076617310937, 0.0026830964920998568}}},
     1,
     1,
     1,
     0},
    {"renumbered", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 1, 1, 1, 7},
    {"rescaled", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, 39.37007874, 0.0685217659, 7.25, 0},
};

const kiln_view *kiln_view_at(size_t row)
{
    return row < sizeof views / sizeof views[0] ? &views[row] : NULL;
}

void kiln_trial_begin(kiln_trial *trial, kiln_context *context, const kiln_view *view)
{
    *trial = (kiln_trial){.context = context, .view = view};
    kiln_scene_init(&trial->scene, context);
    kiln_soup_init(&trial->result, context);
    snprintf(trial->scene.name, sizeof trial->scene.name, "trial");
    snprintf(trial->scene.file, sizeof trial->scene.file, "trial");
    trial->scene.solid.integrator = KILN_STATIC;
    trial->scene.solid.newton.tolerance = 1e-11;
    trial->scene.load_steps = 1;
    trial->scene.duration = trial->scene.pace.dt = kiln_trial_number(trial, 1.0, 0, 0, 1);
    trial->scene.pace.dt_min = 1e-6 * trial->scene.pace.dt;
    trial->scene.output.frame = 0.0;
    trial->scene.output.velocity = trial->scene.output.material_position = true;
    trial->scene.output.reaction = true;
}

void kiln_trial_end(kiln_trial *trial)
{
    kiln_scene_free(&trial->scene);
    kiln_soup_free(&trial->result);
}

static double power(double base, int exponent)
{
    double r = 1.0;
    for (int i = 0; i < abs(exponent); i++)
        r *= base;
    return exponent < 0 ? 1.0 / r : r;
}

double kiln_trial_number(const kiln_trial *trial, double value, int l, int m, int t)
{
    const kiln_view *v = trial->view;
    return value * power(v->length, l) * power(v->mass, m) * power(v->time, t);
}

kiln_vec3 kiln_trial_vector(const kiln_trial *trial, kiln_vec3 value, int l, int m, int t)
{
    return kiln_v3_scale(kiln_m3_apply(trial->view->rotation, value),
                         kiln_trial_number(trial, 1.0, l, m, t));
}

kiln_vec3 kiln_trial_vector_back(const kiln_trial *trial, kiln_vec3 value, int l, int m, int t)
{
    return kiln_v3_scale(kiln_m3_apply(kiln_m3_transpose(trial->view->rotation), value),
                         1.0 / kiln_trial_number(trial, 1.0, l, m, t));
}

static void say(kiln_said *said, const char *path)
{
    snprintf(said->path, sizeof said->path, "%s", path);
}

kiln_status kiln_trial_material(kiln_trial *trial, const char *model, double young, double poisson,
                                double density, kiln_error *error)
{
    kiln_scene_material material = {.base.density = kiln_trial_number(trial, density, -3, 1, 0)};
    double e = kiln_trial_number(trial, young, -1, 1, -2);
    KILN_TRY(kiln_material_model_find(model, &material.base.model, error));
    kiln_lame_from_young(e, poisson, &material.base.mu, &material.base.lambda);
    material.young = kiln_quantity_number(e);
    material.poisson = kiln_quantity_number(poisson);
    material.density = kiln_quantity_number(material.base.density);
    material.viscosity = kiln_quantity_number(0.0);
    say(&material.said, "material");
    return kiln_array_push(trial->context, &trial->scene.materials, material, error);
}

const char *const kiln_trial_pressures[3] = {"stabilised", "subdivide", "mini"};

kiln_status kiln_trial_liquid(kiln_trial *trial, double density, double viscosity,
                              double surface_tension, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "neo-hookean", 0.0, 0.0, density, error));
    kiln_scene_material *m = &trial->scene.materials.data[trial->scene.materials.count - 1];
    m->base.liquid = true;
    m->base.pressure = trial->pressure;
    m->base.viscosity = kiln_trial_number(trial, viscosity, -1, 1, -1);
    m->viscosity = kiln_quantity_number(m->base.viscosity);
    m->base.surface_tension = kiln_trial_number(trial, surface_tension, 0, 1, -2);
    return KILN_OK;
}

/* New numbers for points and tets, the same for the same seed. */
static kiln_status shuffle(kiln_soup *soup, uint64_t seed, kiln_error *error)
{
    kiln_context *context = soup->context;
    kiln_random random = kiln_random_start(seed, 0);
    size_t n = soup->points.count;
    kiln_u32_array to = {0};
    kiln_vec3 *points = kiln_resize(context, NULL, 0, n * sizeof *points);
    kiln_status status = kiln_array_reserve(context, &to, n, error);
    if (!points || status != KILN_OK) {
        kiln_release(context, points, points ? n * sizeof *points : 0);
        kiln_array_free(context, &to);
        return kiln_fail_memory(error, n * sizeof *points);
    }
    for (size_t i = 0; i < n; i++) {
        size_t k = kiln_random_below(&random, (uint32_t)i + 1);
        to.data[i] = to.data[k];
        to.data[k] = (uint32_t)i;
    }
    for (size_t i = 0; i < n; i++)
        points[to.data[i]] = soup->points.data[i];
    memcpy(soup->points.data, points, n * sizeof *points);
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int c = 0; c < 4; c++)
            soup->tets.data[t].v[c] = to.data[soup->tets.data[t].v[c]];
    for (size_t t = 0; t < soup->triangles.count; t++)
        for (int c = 0; c < 3; c++)
            soup->triangles.data[t].v[c] = to.data[soup->triangles.data[t].v[c]];
    for (size_t t = soup->tets.count; t-- > 1;) {
        size_t k = kiln_random_below(&random, (uint32_t)t + 1);
        kiln_soup_tet swap = soup->tets.data[t];
        soup->tets.data[t] = soup->tets.data[k];
        soup->tets.data[k] = swap;
    }
    kiln_release(context, points, n * sizeof *points);
    kiln_array_free(context, &to);
    return KILN_OK;
}

kiln_status kiln_trial_body(kiln_trial *trial, kiln_soup *take_mesh, kiln_error *error)
{
    kiln_scene_body body = {.mesh = *take_mesh,
                            .material = (uint32_t)trial->scene.materials.count - 1,
                            .velocity = kiln_quantity_vector(kiln_v3(0, 0, 0)),
                            .position = kiln_quantity_vector(kiln_v3(NAN, NAN, NAN))};
    kiln_soup_init(take_mesh, trial->context);
    say(&body.said, "body");
    for (size_t i = 0; i < body.mesh.points.count; i++)
        body.mesh.points.data[i] = kiln_trial_vector(trial, body.mesh.points.data[i], 1, 0, 0);
    kiln_status status = KILN_OK;
    /* Regions keep to the tags of the tets, which are all one here: their order is free. */
    if (trial->view->shuffle)
        status = shuffle(&body.mesh, trial->view->shuffle, error);
    if (status == KILN_OK)
        status = kiln_array_push(trial->context, &trial->scene.bodies, body, error);
    if (status != KILN_OK)
        kiln_soup_free(&body.mesh);
    return status;
}

kiln_status kiln_trial_box(kiln_trial *trial, kiln_vec3 size, const int cells[3],
                           const char *pattern, kiln_error *error)
{
    char settings[200];
    kiln_soup soup;
    snprintf(settings, sizeof settings, "lx=%.17g ly=%.17g lz=%.17g nx=%d ny=%d nz=%d pattern=%s",
             size.x, size.y, size.z, cells[0], cells[1], cells[2], pattern);
    KILN_TRY(kiln_fixture_soup(trial->context, "box", settings, &soup, error));
    return kiln_trial_body(trial, &soup, error);
}

static kiln_status pick(kiln_trial *trial, kiln_selector selector, kiln_picks *out,
                        kiln_error *error)
{
    *out = (kiln_picks){0};
    return kiln_array_push(trial->context, out,
                           ((kiln_pick){.kind = KILN_PICK_SELECTOR, .selector = selector}), error);
}

kiln_status kiln_trial_pick_patch(kiln_trial *trial, int patch, kiln_picks *out, kiln_error *error)
{
    return pick(trial, (kiln_selector){.kind = KILN_SELECT_PATCH, .number = patch}, out, error);
}

kiln_status kiln_trial_pick_ball(kiln_trial *trial, kiln_vec3 centre, double radius,
                                 kiln_picks *out, kiln_error *error)
{
    return pick(trial,
                (kiln_selector){.kind = KILN_SELECT_SPHERE,
                                .a = kiln_trial_vector(trial, centre, 1, 0, 0),
                                .radius = kiln_trial_number(trial, radius, 1, 0, 0)},
                out, error);
}

kiln_status kiln_trial_pick_below(kiln_trial *trial, double height, kiln_picks *out,
                                  kiln_error *error)
{
    return pick(trial,
                (kiln_selector){.kind = KILN_SELECT_HALF_SPACE,
                                .a = kiln_trial_vector(trial, kiln_v3(0, 0, height), 1, 0, 0),
                                .b = kiln_trial_vector(trial, kiln_v3(0, 0, -1), 0, 0, 0)},
                out, error);
}

kiln_status kiln_trial_pick_surface(kiln_trial *trial, kiln_picks *out, kiln_error *error)
{
    return pick(trial, (kiln_selector){.kind = KILN_SELECT_SURFACE}, out, error);
}

kiln_status kiln_trial_pick_all(kiln_trial *trial, kiln_picks *out, kiln_error *error)
{
    return pick(trial, (kiln_selector){.kind = KILN_SELECT_ALL}, out, error);
}

static kiln_status evaluate_map(void *self, const kiln_circumstances *at, double *out,
                                int components, kiln_error *error)
{
    const kiln_trial_map *map = self;
    (void)error;
    kiln_vec3 u = kiln_trial_vector_back(map->trial, at->material, 1, 0, 0);
    double time = at->time / kiln_trial_number(map->trial, 1.0, 0, 0, 1);
    kiln_vec3 r =
        kiln_trial_vector(map->trial, map->place(map->user, u, time), map->l, map->m, map->t);
    for (int i = 0; i < components; i++)
        out[i] = (&r.x)[i];
    return KILN_OK;
}

kiln_quantity kiln_trial_quantity(kiln_trial_map *map)
{
    return (kiln_quantity){.self = map, .evaluate = evaluate_map};
}

kiln_status kiln_trial_hold(kiln_trial *trial, kiln_picks *take_where, int components,
                            kiln_trial_map *map, kiln_error *error)
{
    kiln_scene_hold hold = {.body = -1,
                            .where = *take_where,
                            .components = (uint8_t)components,
                            .axes = kiln_m3_transpose(trial->view->rotation),
                            .motion.obstacle = -1,
                            .until = INFINITY};
    say(&hold.said, "hold");
    if (map) {
        hold.motion.kind = KILN_MOTION_FOLLOW;
        hold.motion.place = kiln_trial_quantity(map);
    }
    kiln_status status = kiln_array_push(trial->context, &trial->scene.holds, hold, error);
    if (status != KILN_OK)
        kiln_array_free(trial->context, take_where);
    *take_where = (kiln_picks){0};
    return status;
}

kiln_status kiln_trial_load(kiln_trial *trial, kiln_load_kind kind, kiln_picks *take_where,
                            kiln_quantity amount, kiln_error *error)
{
    kiln_scene_load load = {
        .kind = kind, .body = -1, .where = *take_where, .amount = amount, .until = INFINITY};
    say(&load.said, "load");
    kiln_status status = kiln_array_push(trial->context, &trial->scene.loads, load, error);
    if (status != KILN_OK)
        kiln_array_free(trial->context, take_where);
    *take_where = (kiln_picks){0};
    return status;
}

static void turn_back(kiln_trial *trial, kiln_vec3 *values, size_t count, int l, int m, int t)
{
    for (size_t i = 0; i < count; i++)
        values[i] = kiln_trial_vector_back(trial, values[i], l, m, t);
}

/* Vector fields the checkers look at, with their dimensions. */
static const struct {
    const char *name;
    int l, m, t;
} known_fields[] = {{"u", 1, 0, 0}, {"v", 1, 0, -1}, {"reaction", 1, 1, -2}, {"contact", 1, 1, -2}};

static kiln_status read_result(kiln_trial *trial, kiln_error *error)
{
    char path[300];
    snprintf(path, sizeof path, "%s/frame.vtu", trial->folder);
    kiln_soup_free(&trial->result);
    KILN_TRY(kiln_soup_read(trial->context, path, NULL, &trial->result, error));
    turn_back(trial, trial->result.points.data, trial->result.points.count, 1, 0, 0);
    for (size_t k = 0; k < sizeof known_fields / sizeof known_fields[0]; k++)
        for (size_t i = 0; i < trial->result.fields.count; i++) {
            kiln_soup_field *f = &trial->result.fields.data[i];
            if (f->where == KILN_ON_VERTEX && f->components == 3 &&
                strcmp(f->name, known_fields[k].name) == 0)
                turn_back(trial, (kiln_vec3 *)f->data.data, f->data.count / 3, known_fields[k].l,
                          known_fields[k].m, known_fields[k].t);
        }
    return KILN_OK;
}

static kiln_status write_state(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    char path[300];
    kiln_soup soup;
    kiln_soup_init(&soup, trial->context);
    snprintf(path, sizeof path, "%s/frame.vtu", trial->folder);
    kiln_status status = kiln_world_frame(world, &soup, error);
    if (status == KILN_OK)
        status = kiln_soup_write(trial->context, path, NULL, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

static kiln_status write_frame(void *self, kiln_world *world, kiln_error *error)
{
    kiln_trial *trial = self;
    KILN_TRY(write_state(trial, world, error));
    if (!trial->on_frame)
        return KILN_OK;
    KILN_TRY(read_result(trial, error));
    trial->on_frame(trial);
    return KILN_OK;
}

static kiln_status show_step(void *self, kiln_world *world, const kiln_stats *stats,
                             kiln_error *error)
{
    kiln_trial *trial = self;
    KILN_TRY(write_state(trial, world, error));
    KILN_TRY(read_result(trial, error));
    return trial->on_step(trial, stats, error);
}

static kiln_status no_stats(void *self, const kiln_stats *stats, kiln_error *error)
{
    (void)self, (void)stats, (void)error;
    return KILN_OK;
}

static kiln_status no_checkpoint(void *self, kiln_world *world, kiln_error *error)
{
    (void)self, (void)world, (void)error;
    return KILN_OK;
}

static kiln_status run_world(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    kiln_diagnosis diagnosis;
    kiln_run_end end;
    kiln_run_output output = {.self = trial,
                              .frame = write_frame,
                              .stats = no_stats,
                              .probes = trial->on_step ? show_step : NULL,
                              .checkpoint = no_checkpoint};
    if (trial->prepare)
        KILN_TRY(trial->prepare(trial, world, error));
    KILN_TRY(kiln_run(world, trial->scene.duration, &output, &end, &diagnosis, error));
    if (end != KILN_RUN_DONE)
        return kiln_fail(error, KILN_ERR_STATE, trial->view->name, 0, -1, "the run gave up: %s",
                         diagnosis.text);
    return read_result(trial, error);
}

kiln_status kiln_trial_build(kiln_trial *trial,
                             kiln_status (*use)(kiln_trial *trial, kiln_world *world,
                                                kiln_error *error),
                             kiln_error *error)
{
    kiln_world *world = NULL;
    kiln_status status = kiln_world_create(&trial->scene, &world, error);
    if (status == KILN_OK)
        status = use(trial, world, error);
    kiln_world_destroy(world);
    return status;
}

kiln_status kiln_trial_step(const kiln_trial *trial, kiln_world *world, kiln_stats *stats,
                            kiln_error *error)
{
    kiln_diagnosis diagnosis;
    bool gave_up = false;
    KILN_TRY(kiln_world_step(world, trial->scene.duration, stats, &gave_up, &diagnosis, error));
    return gave_up ? kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "%s", diagnosis.text) : KILN_OK;
}

kiln_status kiln_trial_run(kiln_trial *trial, kiln_error *error)
{
    const char *temporary = getenv("TMPDIR");
    char path[300];
    snprintf(trial->folder, sizeof trial->folder, "%.200s/kiln-trial-XXXXXX",
             temporary ? temporary : "/tmp");
    if (!mkdtemp(trial->folder))
        return kiln_fail(error, KILN_ERR_IO, trial->folder, 0, -1, "cannot make the folder");
    kiln_status status = kiln_trial_build(trial, run_world, error);
    snprintf(path, sizeof path, "%s/frame.vtu", trial->folder);
    remove(path);
    rmdir(trial->folder);
    return status;
}

kiln_vec3 kiln_trial_x(const kiln_trial *trial, size_t point)
{
    return trial->result.points.data[point];
}

const kiln_vec3 *kiln_trial_field(const kiln_trial *trial, const char *name)
{
    const kiln_soup_field *field = kiln_soup_find_field(&trial->result, KILN_ON_VERTEX, name);
    return field && field->components == 3 ? (const kiln_vec3 *)field->data.data : NULL;
}

kiln_vec3 kiln_trial_u(const kiln_trial *trial, size_t point)
{
    const kiln_vec3 *u = kiln_trial_field(trial, "u");
    return u ? u[point] : kiln_v3(NAN, NAN, NAN);
}

kiln_mat3 kiln_trial_gradient(const kiln_trial *trial, size_t tet, double *volume)
{
    const uint32_t *v = trial->result.tets.data[tet].v;
    kiln_vec3 u[4], x[4];
    for (int c = 0; c < 4; c++) {
        u[c] = kiln_trial_u(trial, v[c]);
        x[c] = kiln_trial_x(trial, v[c]);
    }
    kiln_mat3 dm =
        kiln_m3_columns(kiln_v3_sub(u[1], u[0]), kiln_v3_sub(u[2], u[0]), kiln_v3_sub(u[3], u[0]));
    kiln_mat3 dw =
        kiln_m3_columns(kiln_v3_sub(x[1], x[0]), kiln_v3_sub(x[2], x[0]), kiln_v3_sub(x[3], x[0]));
    if (volume)
        *volume = kiln_m3_det(dm) / 6.0;
    return kiln_m3_mul(dw, kiln_m3_inverse(dm));
}

kiln_vec3 kiln_trial_patch_mean(const kiln_trial *trial, int patch)
{
    const kiln_soup *r = &trial->result;
    kiln_vec3 sum = {0, 0, 0};
    double area = 0.0;
    for (size_t i = 0; i < r->triangles.count; i++) {
        if (i >= r->triangle_tags.count || r->triangle_tags.data[i] != patch)
            continue;
        const uint32_t *v = r->triangles.data[i].v;
        kiln_vec3 a = kiln_trial_u(trial, v[0]);
        double w = 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(kiln_trial_u(trial, v[1]), a),
                                                    kiln_v3_sub(kiln_trial_u(trial, v[2]), a)));
        for (int c = 0; c < 3; c++)
            sum = kiln_v3_madd(sum, w / 3.0,
                               kiln_v3_sub(kiln_trial_x(trial, v[c]), kiln_trial_u(trial, v[c])));
        area += w;
    }
    return kiln_v3_scale(sum, 1.0 / area);
}

void kiln_trial_set_steps(kiln_trial *trial, kiln_integrator integrator, double dt, int steps)
{
    trial->scene.solid.integrator = integrator;
    trial->scene.pace.dt = kiln_trial_number(trial, dt, 0, 0, 1);
    trial->scene.pace.dt_min = 1e-6 * trial->scene.pace.dt;
    trial->scene.duration = kiln_trial_number(trial, dt * steps, 0, 0, 1);
}

void kiln_trial_set_gravity(kiln_trial *trial, double g)
{
    trial->scene.gravity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -g), 1, 0, -2));
}

kiln_status kiln_trial_hold_walls(kiln_trial *trial, kiln_error *error)
{
    for (int patch = 1; patch <= 5; patch++) {
        kiln_picks where;
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, 1 << (patch - 1) / 2, NULL, error));
    }
    return KILN_OK;
}

/* Angular momentum of a body that nothing outside turns: R1's tumbling of a stiff body that can be
 * deformed, and E13's spin under a pressure that begins at once. */
#include "geom/sym3.h"
#include "measure/fixture.h"
#include "validation/trial.h"

#include <math.h>

/* Sums with the consistent mass over all tets, in the scene's frame. */
typedef struct motion {
    double mass;
    kiln_vec3 centre, P, L; /* L about the centre */
    kiln_mat3 turn;         /* from the material to the world, as good as a rotation does */
} motion;

/* The mean of a over a tet, and the integral of (a - mean) (b - mean)' over its mass. */
static kiln_mat3 spread(const kiln_vec3 a[4], const kiln_vec3 b[4], double mass, kiln_vec3 mean[2])
{
    kiln_mat3 sum = kiln_m3_diagonal(0, 0, 0);
    mean[0] = mean[1] = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++) {
        mean[0] = kiln_v3_madd(mean[0], 0.25, a[k]);
        mean[1] = kiln_v3_madd(mean[1], 0.25, b[k]);
    }
    for (int k = 0; k < 4; k++) {
        kiln_vec3 p = kiln_v3_sub(a[k], mean[0]), q = kiln_v3_sub(b[k], mean[1]);
        sum = kiln_m3_add(sum, kiln_m3_columns(kiln_v3_scale(p, q.x), kiln_v3_scale(p, q.y),
                                               kiln_v3_scale(p, q.z)));
    }
    return kiln_m3_scale(sum, mass / 20.0);
}

static kiln_vec3 axial(kiln_mat3 m) /* sum of a x b from that of a b' */
{
    return kiln_v3(m.m[1][2] - m.m[2][1], m.m[2][0] - m.m[0][2], m.m[0][1] - m.m[1][0]);
}

static void add_tet(motion *sum, const kiln_vec3 x[4], const kiln_vec3 u[4], const kiln_vec3 v[4],
                    double mass, kiln_vec3 about, kiln_mat3 *shape)
{
    kiln_vec3 mean[2];
    kiln_mat3 m = spread(x, v, mass, mean);
    kiln_vec3 arm = kiln_v3_sub(mean[0], about);
    sum->mass += mass;
    sum->P = kiln_v3_madd(sum->P, mass, mean[1]);
    sum->L = kiln_v3_add(sum->L, axial(m));
    sum->L = kiln_v3_madd(sum->L, mass, kiln_v3_cross(arm, mean[1]));
    sum->centre = kiln_v3_madd(sum->centre, mass, arm);
    m = spread(x, u, mass, mean);
    *shape = kiln_m3_add(*shape, m);
    *shape = kiln_m3_add(*shape, kiln_m3_scale(kiln_m3_columns(kiln_v3_scale(arm, mean[1].x),
                                                               kiln_v3_scale(arm, mean[1].y),
                                                               kiln_v3_scale(arm, mean[1].z)),
                                               mass));
}

/* Material positions must have their centre at the origin. */
static motion weigh(kiln_world *world, double density)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    const kiln_vec3 *v = (const kiln_vec3 *)(const void *)field->data;
    kiln_mat3 shape = kiln_m3_diagonal(0, 0, 0);
    motion sum = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 at[4], from[4], speed[4];
        for (int k = 0; k < 4; k++) {
            at[k] = mesh->x[mesh->tet[t].v[k]];
            from[k] = mesh->u[mesh->tet[t].v[k]];
            speed[k] = v[mesh->tet[t].v[k]];
        }
        add_tet(&sum, at, from, speed, density * kiln_mesh_tet_volume(mesh, t), mesh->x[0], &shape);
    }
    sum.centre = kiln_v3_scale(sum.centre, 1.0 / sum.mass);
    sum.L = kiln_v3_sub(sum.L, kiln_v3_cross(sum.centre, sum.P));
    sum.turn = kiln_polar3_decompose(shape).rotation;
    return sum;
}

/* A soup whose material has its centre at the origin. */
static kiln_status add_body(kiln_trial *trial, const char *shape, const char *settings,
                            kiln_vec3 shift, kiln_vec3 stretch, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_fixture_soup(trial->context, shape, settings, &soup, error));
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = kiln_v3_add(soup.points.data[i], shift);
        soup.points.data[i] = kiln_v3(p.x * stretch.x, p.y * stretch.y, p.z * stretch.z);
    }
    kiln_status status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

/* R1. A box of sides 1, 2, 3 that turns about its middle axis, nearly: it turns over. */

#define SIDE 0.1
static const kiln_vec3 inertia = {6.5, 5, 2.5}; /* of a box of sides 1, 2, 3 and mass 6 */
static const kiln_vec3 first_rate = {0.1, 2, 0};

/* Euler's equations for L in the axes of the body. */
static kiln_vec3 euler_slope(kiln_vec3 L)
{
    return kiln_v3_cross(L, kiln_v3(L.x / inertia.x, L.y / inertia.y, L.z / inertia.z));
}

static kiln_vec3 euler_step(kiln_vec3 L, double h)
{
    kiln_vec3 a = euler_slope(L), b = euler_slope(kiln_v3_madd(L, 0.5 * h, a));
    kiln_vec3 c = euler_slope(kiln_v3_madd(L, 0.5 * h, b)), d = euler_slope(kiln_v3_madd(L, h, c));
    L = kiln_v3_madd(L, h / 6, kiln_v3_add(a, d));
    return kiln_v3_madd(L, h / 3, kiln_v3_add(b, c));
}

/* Times at which a value that is known at times changes its sign. */
typedef struct crossings {
    double last, time, at[2];
    int count;
} crossings;

static void follow(crossings *c, double value, double time)
{
    if (c->count < 2 && c->time < time && c->last * value < 0.0)
        c->at[c->count++] = c->time + (time - c->time) * c->last / (c->last - value);
    c->last = value;
    c->time = time;
}

static double period(void)
{
    kiln_vec3 L = {first_rate.x * inertia.x, first_rate.y * inertia.y, 0};
    crossings c = {.last = L.y};
    for (int i = 1; c.count < 2; i++) {
        L = euler_step(L, 1e-3);
        follow(&c, L.y, 1e-3 * i);
    }
    return 2.0 * (c.at[1] - c.at[0]);
}

typedef struct tumble {
    crossings turns;
    double L_off, P_off, energy[2]; /* largest; energy: most and last, over the first */
} tumble;

static kiln_status watch_tumble(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    tumble *out = trial->user;
    double density = kiln_trial_number(trial, 1000, -3, 1, 0);
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    double energy = stats.e_kinetic + stats.e_elastic;
    motion first = weigh(world, density);
    for (stats.time = 0.0; stats.time < trial->scene.duration * (1 - 1e-9);) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        motion now = weigh(world, density);
        kiln_vec3 own = kiln_m3_apply(kiln_m3_transpose(now.turn), now.L);
        own = kiln_trial_vector_back(trial, own, 2, 1, -1);
        follow(&out->turns, own.y, stats.time / kiln_trial_number(trial, 1, 0, 0, 1));
        out->energy[1] = (stats.e_kinetic + stats.e_elastic) / energy;
        out->energy[0] = fmax(out->energy[0], out->energy[1]);
        out->L_off =
            fmax(out->L_off, kiln_v3_norm(kiln_v3_sub(now.L, first.L)) / kiln_v3_norm(first.L));
        out->P_off =
            fmax(out->P_off, kiln_v3_norm(kiln_v3_sub(now.P, first.P)) / kiln_v3_norm(first.P));
    }
    return KILN_OK;
}

static kiln_status let_tumble(kiln_validation *validation, const kiln_view *view,
                              kiln_integrator integrator, double dt, double duration, tumble *out,
                              kiln_error *error)
{
    kiln_trial trial;
    *out = (tumble){.turns = {.last = 1.0}};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = integrator;
    trial.scene.solid.mass = KILN_MASS_CONSISTENT;
    trial.scene.pace.dt = kiln_trial_number(&trial, dt, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-6 * trial.scene.pace.dt;
    trial.scene.duration = kiln_trial_number(&trial, duration, 0, 0, 1);
    trial.user = out;
    kiln_status status = kiln_trial_material(&trial, "neo-hookean", 1e7, 0.3, 1000, error);
    if (status == KILN_OK)
        status = add_body(&trial, "box", "lx=1 ly=2 lz=3 n=1", kiln_v3(-0.5, -1, -1.5),
                          kiln_v3(SIDE, SIDE, SIDE), error);
    if (status == KILN_OK) {
        kiln_scene_body *body = &trial.scene.bodies.data[0];
        body->spin = kiln_trial_vector(&trial, first_rate, 0, 0, -1);
        body->velocity =
            kiln_quantity_vector(kiln_trial_vector(&trial, kiln_v3(0.3, 0.2, -0.1), 1, 0, -1));
        status = kiln_trial_build(&trial, watch_tumble, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_tumble(kiln_validation *validation, kiln_error *error)
{
    static const double dt = 0.01;
    double should = period();
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++)
        for (int i = 0; i < 3; i++) {
            const kiln_view *view = kiln_view_at(row);
            const char *name = kiln_integrator_name((kiln_integrator)i);
            tumble t;
            KILN_TRY(let_tumble(validation, view, (kiln_integrator)i, dt, 0.9 * should, &t, error));
            kiln_validation_report(validation, t.P_off, kiln_at_most(1e-9), "%s, %s: drift of P",
                                   name, view->name);
            kiln_validation_report(validation, t.L_off, kiln_at_most(1e-6), "%s, %s: drift of L",
                                   name, view->name);
            kiln_validation_report(validation, 2.0 * (t.turns.at[1] - t.turns.at[0]),
                                   kiln_near_relative(should, 1e-3),
                                   "%s, %s: time of turning over and back, s", name, view->name);
            kiln_validation_report(validation, t.energy[0], kiln_at_most(1.001),
                                   "%s, %s: most energy over the first", name, view->name);
            kiln_validation_report(validation, t.energy[1], kiln_unbound(),
                                   "%s, %s: last energy over the first", name, view->name);
        }
    return KILN_OK;
}

/* E13. A pressure on the whole surface that is there at once. */

typedef struct squeeze {
    const char *name, *shape, *settings;
    kiln_vec3 shift, stretch;
} squeeze;

static kiln_status watch_squeeze(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    double *most = trial->user, density = kiln_trial_number(trial, 1000, -3, 1, 0);
    kiln_stats stats = {.time = 0.0};
    motion first = weigh(world, density);
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        motion now = weigh(world, density);
        *most = fmax(*most, kiln_v3_norm(kiln_v3_sub(now.L, first.L)) / kiln_v3_norm(first.L));
    }
    return KILN_OK;
}

static kiln_status press(kiln_validation *validation, const kiln_view *view,
                         kiln_integrator integrator, const squeeze *what, double dt,
                         double pressure, double *most, kiln_error *error)
{
    kiln_trial trial;
    kiln_picks where;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = integrator;
    trial.scene.solid.mass = KILN_MASS_CONSISTENT;
    trial.scene.pace.dt = kiln_trial_number(&trial, dt, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-6 * trial.scene.pace.dt;
    trial.scene.duration = kiln_trial_number(&trial, 0.25, 0, 0, 1);
    trial.user = most;
    kiln_status status = kiln_trial_material(&trial, "neo-hookean", 1e5, 0.3, 1000, error);
    if (status == KILN_OK)
        status = add_body(&trial, what->shape, what->settings, what->shift, what->stretch, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_surface(&trial, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_load(
            &trial, KILN_LOAD_PRESSURE, &where,
            kiln_quantity_number(kiln_trial_number(&trial, pressure, -1, 1, -2)), error);
    if (status == KILN_OK) {
        trial.scene.bodies.data[0].spin = kiln_trial_vector(&trial, kiln_v3(1, 6, 2), 0, 0, -1);
        status = kiln_trial_build(&trial, watch_squeeze, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_squeezed(kiln_validation *validation, kiln_error *error)
{
    static const squeeze what[] = {
        {"box", "box", "lx=0.6 ly=0.4 lz=0.2 n=2", {-0.3, -0.2, -0.1}, {1, 1, 1}},
        {"ellipsoid", "ball", "radius=0.2 h=0.1", {0, 0, 0}, {1, 1.5, 0.7}},
    };
    static const double steps[] = {0.01, 0.0025}, pressures[] = {0.3e5, 0.05e5};
    bool brief = kiln_validation_is_brief(validation);
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++)
        for (int i = 0; i < 3; i++)
            for (size_t k = 0; k < 2; k++) {
                double most = 0.0;
                const kiln_view *view = kiln_view_at(row);
                for (int way = 0; way < (row == 0 && !brief ? 4 : 1); way++)
                    KILN_TRY(press(validation, view, (kiln_integrator)i, &what[k], steps[way % 2],
                                   pressures[way / 2], &most, error));
                kiln_validation_report(validation, most, kiln_at_most(1e-6),
                                       "%s, %s under pressure at once, %s: drift of L",
                                       kiln_integrator_name((kiln_integrator)i), what[k].name,
                                       view->name);
            }
    return KILN_OK;
}

/* Two bodies that meet in flight: momentum, the distance between their surfaces in every frame,
 * and that they part again. */
#include "validation/thrown.h"

#include "geom/distance.h"
#include "mesh/shapes.h"

#include <math.h>
#include <string.h>

enum { VERTICES = 54 }; /* of both cubes */

typedef struct meeting {
    kiln_vec3 first_P, first_L; /* L about the origin */
    double P_off;               /* largest, relative */
    double L_size;              /* of the parts of L at the start */
    double L_off;               /* largest, relative */
    double nearest; /* least distance of the two surfaces over all frames, m; 0: they cross */
    double apart;   /* in the last frame */
    int frames;
} meeting;

#define DENSITY 1000.0
#define GAP     0.15 /* at the start, m */
#define SIDE    0.4
#define FRAME   0.01 /* s */

/* Momentum of every vertex. */
static void weigh(const kiln_trial *trial, const kiln_vec3 *v, kiln_vec3 p[VERTICES])
{
    memset(p, 0, VERTICES * sizeof *p);
    for (size_t t = 0; t < trial->result.tets.count; t++) {
        double volume;
        kiln_trial_gradient(trial, t, &volume);
        for (int c = 0; c < 4; c++) {
            uint32_t i = trial->result.tets.data[t].v[c];
            p[i] = kiln_v3_madd(p[i], DENSITY * volume / 4, v[i]);
        }
    }
}

/* `size` is the sum of the parts of L without regard to their direction. */
static void add_up(const kiln_trial *trial, const kiln_vec3 p[VERTICES], kiln_vec3 *P, kiln_vec3 *L,
                   double *size)
{
    *P = *L = kiln_v3(0, 0, 0);
    *size = 0.0;
    for (uint32_t i = 0; i < VERTICES; i++) {
        kiln_vec3 part = kiln_v3_cross(kiln_trial_x(trial, i), p[i]);
        *P = kiln_v3_add(*P, p[i]);
        *L = kiln_v3_add(*L, part);
        *size += kiln_v3_norm(part);
    }
}

static bool is_upper(const kiln_trial *trial, const kiln_soup_triangle *triangle)
{
    return kiln_trial_u(trial, triangle->v[0]).z > SIDE + 0.5 * GAP;
}

/* All pairs of triangles: nothing of what the step uses. */
static double distance(const kiln_trial *trial)
{
    const kiln_soup *soup = &trial->result;
    double least = INFINITY;
    for (size_t i = 0; i < soup->triangles.count; i++)
        for (size_t j = 0; j < soup->triangles.count; j++) {
            const kiln_soup_triangle *a = &soup->triangles.data[i], *b = &soup->triangles.data[j];
            if (is_upper(trial, a) || !is_upper(trial, b))
                continue;
            kiln_vec3 p[3], q[3];
            for (int k = 0; k < 3; k++) {
                p[k] = kiln_trial_x(trial, a->v[k]);
                q[k] = kiln_trial_x(trial, b->v[k]);
            }
            least = fmin(least, kiln_closest_triangles(p, q).distance2);
        }
    return sqrt(least);
}

static void look(kiln_trial *trial)
{
    meeting *m = trial->user;
    const kiln_vec3 *v = kiln_trial_field(trial, "v");
    if (!v)
        return;
    kiln_vec3 p[VERTICES], P, L;
    double size;
    weigh(trial, v, p);
    add_up(trial, p, &P, &L, &size);
    m->apart = distance(trial);
    if (m->frames++ == 0) {
        m->first_P = P;
        m->first_L = L;
        m->L_size = size;
        m->nearest = m->apart;
        return;
    }
    double scale = kiln_v3_norm(m->first_P);
    m->P_off = fmax(m->P_off, kiln_v3_norm(kiln_v3_sub(P, m->first_P)) / scale);
    m->L_off = fmax(m->L_off, kiln_v3_norm(kiln_v3_sub(L, m->first_L)) / m->L_size);
    m->nearest = fmin(m->nearest, m->apart);
}

static kiln_status add_cube(kiln_trial *trial, kiln_vec3 place, double turn, kiln_vec3 velocity,
                            kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "stable-neo-hookean", 1e5, 0.3, DENSITY, error));
    kiln_soup soup;
    kiln_soup_init(&soup, trial->context);
    const char *const settings[] = {"lx=0.4", "ly=0.4", "lz=0.4", "n=2"};
    size_t count;
    const kiln_shape *row, *const *shapes = kiln_shapes(&count);
    kiln_status status = kiln_shape_find(shapes, count, "box", &row, error);
    if (status == KILN_OK)
        status = kiln_shape_make(row, 4, settings, &soup, error);
    kiln_mat3 about = kiln_m3_rotation(kiln_v3(0, 0, 1), turn);
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = kiln_v3_add(kiln_m3_apply(about, soup.points.data[i]), place);
    if (status == KILN_OK)
        status = kiln_trial_body(trial, &soup, error);
    kiln_soup_free(&soup);
    if (status == KILN_OK)
        trial->scene.bodies.data[trial->scene.bodies.count - 1].velocity =
            kiln_quantity_vector(kiln_trial_vector(trial, velocity, 1, 0, -1));
    return status;
}

/* Two cubes for 0.4 s. */
static kiln_status set_out(kiln_trial *trial, double step, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    scene->contact.bodies = scene->contact.self = true;
    scene->pace.dt = kiln_trial_number(trial, step, 0, 0, 1);
    scene->pace.dt_min = 1e-6 * scene->pace.dt;
    scene->output.frame = kiln_trial_number(trial, FRAME, 0, 0, 1);
    scene->duration = 40 * scene->output.frame;
    KILN_TRY(add_cube(trial, kiln_v3(0, 0, 0), 0.0, kiln_v3(0.1, 0, 1.5), error));
    return add_cube(trial, kiln_v3(0.12, 0.03, SIDE + GAP), 0.3, kiln_v3(0, 0, -1), error);
}

typedef struct manner {
    const char *name;
    kiln_integrator integrator;
    bool linearised;
    double step;   /* s */
    double L_most; /* bar; 0: none */
    double apart;  /* how far they are from each other at the end, as measured, m */
} manner;

static kiln_status meet(kiln_validation *validation, const kiln_view *view, const manner *how,
                        meeting *m, kiln_error *error)
{
    kiln_trial trial;
    *m = (meeting){.frames = 0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_scene *scene = &trial.scene;
    scene->solid.integrator = how->integrator;
    scene->solid.linearised = how->linearised;
    scene->contact.thickness = kiln_trial_number(&trial, 0.02, 1, 0, 0);
    trial.on_frame = look;
    trial.user = m;
    kiln_status status = set_out(&trial, how->step, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    return status;
}

/* Forces between surfaces act along the line between two points, and both bodies keep what
 * angular momentum they have. Linearised steps do not. */
kiln_status kiln_validate_collide(kiln_validation *validation, kiln_error *error)
{
    static const manner manners[] = {
        {"implicit-euler", KILN_IMPLICIT_EULER, false, FRAME, 1e-6, 0.21},
        {"newmark", KILN_NEWMARK, false, 0.25 * FRAME, 1e-6, 0.41},
        {"linearised", KILN_IMPLICIT_EULER, true, FRAME, 0.0, 0.21},
    };
    size_t views = kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
    for (size_t row = 0; row < views && kiln_view_at(row); row++)
        for (size_t i = 0; i < sizeof manners / sizeof manners[0]; i++) {
            meeting m;
            const kiln_view *view = kiln_view_at(row);
            const manner *how = &manners[i];
            KILN_TRY(meet(validation, view, how, &m, error));
            kiln_validation_report(validation, m.P_off, kiln_at_most(1e-10), "%s, %s: drift of P",
                                   how->name, view->name);
            if (how->L_most > 0.0)
                kiln_validation_report(validation, m.L_off, kiln_at_most(how->L_most),
                                       "%s, %s: drift of L", how->name, view->name);
            kiln_validation_report(validation, m.nearest, kiln_between(0.006, 0.02),
                                   "%s, %s: least distance in any frame, m", how->name, view->name);
            kiln_validation_report(validation, m.apart, kiln_near_relative(how->apart, 0.25),
                                   "%s, %s: distance at the end, m", how->name, view->name);
        }
    return KILN_OK;
}

/* The most energy after a step, over that at the begin. */
static kiln_status watch_energy(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    double *most = trial->user, first = 0.0;
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    first = stats.e_kinetic;
    stats.time = 0.0;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        *most = fmax(*most, (stats.e_kinetic + stats.e_elastic + stats.e_contact) / first);
    }
    return KILN_OK;
}

typedef struct blow {
    kiln_integrator integrator;
    double step, thickness, stiffness, friction;
} blow;

static kiln_status strike(kiln_validation *validation, const kiln_view *view, const blow *b,
                          double *most, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = b->integrator;
    trial.scene.contact.thickness = kiln_trial_number(&trial, b->thickness, 1, 0, 0);
    trial.scene.contact.stiffness = b->stiffness;
    trial.scene.contact.friction = b->friction;
    trial.user = most;
    kiln_status status = set_out(&trial, b->step, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_energy, error);
    kiln_trial_end(&trial);
    return status;
}

/* Contact takes energy or gives back what it took, whatever the step, the layer and its stiffness.
 */
kiln_status kiln_validate_blows(kiln_validation *validation, kiln_error *error)
{
    static const char *const names[] = {"implicit-euler", "newmark", "bdf2"};
    static const double steps[] = {0.016, 0.004, 0.001}, layers[] = {0.02, 0.005};
    static const double stiffness[] = {1, 0.1, 10}, friction[] = {0, 0.3};
    bool brief = kiln_validation_is_brief(validation);
    size_t several = brief ? 1 : 2, all = brief ? 1 : 3;
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++)
        for (int i = 0; i < 3; i++) {
            double most = 0.0;
            const kiln_view *view = kiln_view_at(row);
            for (size_t k = 0; k < 2 * several * all * (brief ? 2 : 3); k++) {
                const blow b = {(kiln_integrator)i, steps[k / (2 * several * all)],
                                layers[k / 2 % several], stiffness[k / (2 * several) % all],
                                friction[k % 2]};
                KILN_TRY(strike(validation, view, &b, &most, error));
            }
            kiln_validation_report(validation, most, kiln_at_most(1.001),
                                   "%s, %s: most energy over the first, of all blows", names[i],
                                   view->name);
        }
    return KILN_OK;
}

/* C10: two balls, of radius 0.1. */

typedef struct ledger {
    double energy, P, L; /* largest: over the first; drifts, relative to the sum of their parts */
} ledger;

/* Sums over all corners of tets, in the scene's frame. `parts` are those of L without regard to
 * their direction. */
static void sum_up(kiln_world *world, double density, kiln_vec3 *P, kiln_vec3 *L, double parts[2])
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    const kiln_vec3 *v = (const kiln_vec3 *)(const void *)field->data;
    *P = *L = kiln_v3(0, 0, 0);
    parts[0] = parts[1] = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4; k++) {
            uint32_t at = mesh->tet[t].v[k];
            kiln_vec3 p = kiln_v3_scale(v[at], 0.25 * density * kiln_mesh_tet_volume(mesh, t));
            kiln_vec3 l = kiln_v3_cross(mesh->x[at], p);
            *P = kiln_v3_add(*P, p);
            *L = kiln_v3_add(*L, l);
            parts[0] += kiln_v3_norm(p);
            parts[1] += kiln_v3_norm(l);
        }
}

static kiln_status keep_ledger(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    ledger *most = trial->user;
    double density = kiln_trial_number(trial, DENSITY, -3, 1, 0), parts[2], now[2];
    kiln_vec3 P, L, first_P, first_L;
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    double energy = stats.e_kinetic;
    sum_up(world, density, &first_P, &first_L, parts);
    for (stats.time = 0.0; stats.time < trial->scene.duration * (1 - 1e-9);) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        sum_up(world, density, &P, &L, now);
        most->energy =
            fmax(most->energy, (stats.e_kinetic + stats.e_elastic + stats.e_contact) / energy);
        most->P = fmax(most->P, kiln_v3_norm(kiln_v3_sub(P, first_P)) / parts[0]);
        most->L = fmax(most->L, kiln_v3_norm(kiln_v3_sub(L, first_L)) / parts[1]);
    }
    return KILN_OK;
}

static kiln_status add_ball(kiln_trial *trial, kiln_vec3 place, double speed, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "stable-neo-hookean", 1e5, 0.3, DENSITY, error));
    KILN_TRY(kiln_trial_shape(trial, "ball", "radius=0.1 h=0.06", place, error));
    trial->scene.bodies.data[trial->scene.bodies.count - 1].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(speed, 0, 0), 1, 0, -1));
    return KILN_OK;
}

static kiln_status clash(kiln_validation *validation, const kiln_view *view, const blow *b,
                         double offset, ledger *most, kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_scene *scene = &trial.scene;
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = kiln_trial_number(&trial, b->thickness, 1, 0, 0);
    scene->contact.friction = b->friction;
    scene->solid.integrator = b->integrator;
    scene->pace.dt = kiln_trial_number(&trial, b->step, 0, 0, 1);
    scene->pace.dt_min = 1e-6 * scene->pace.dt;
    scene->duration = kiln_trial_number(&trial, 0.1, 0, 0, 1);
    trial.user = most;
    kiln_status status = add_ball(&trial, kiln_v3(-0.11, 0, 0), 1.0, error);
    if (status == KILN_OK)
        status = add_ball(&trial, kiln_v3(0.11, offset, 0), -0.5, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, keep_ledger, error);
    kiln_trial_end(&trial);
    return status;
}

/* One way to meet, over all steps and layers; in other views the longest step alone, and in brief
 * with the thinner layer. */
static kiln_status report_clash(kiln_validation *validation, const kiln_view *view, int integrator,
                                double offset, double friction, kiln_error *error)
{
    static const double steps[] = {2e-3, 0.5e-3, 0.25e-3}, layers[] = {1e-3, 5e-3};
    int ways = kiln_validation_is_brief(validation) ? 1 : view == kiln_view_at(0) ? 6 : 2;
    ledger most = {0};
    for (int k = 0; k < ways; k++) {
        blow b = {(kiln_integrator)integrator, steps[k / 2], layers[k % 2], 1.0, friction};
        KILN_TRY(clash(validation, view, &b, offset, &most, error));
    }
    const char *name = kiln_integrator_name((kiln_integrator)integrator);
    const char *how = offset == 0.0    ? "head on"
                      : friction > 0.0 ? "offset, friction 0.5"
                                       : "offset";
    kiln_validation_report(validation, most.energy, kiln_at_most(1.001),
                           "%s, %s, %s: most energy over the first", name, how, view->name);
    kiln_validation_report(validation, most.P, kiln_at_most(1e-9), "%s, %s, %s: drift of P", name,
                           how, view->name);
    kiln_validation_report(validation, most.L, kiln_at_most(1e-6), "%s, %s, %s: drift of L", name,
                           how, view->name);
    return KILN_OK;
}

kiln_status kiln_validate_C10(kiln_validation *validation, kiln_error *error)
{
    static const double offset[] = {0, 0.07, 0.07}, friction[] = {0, 0, 0.5};
    bool brief = kiln_validation_is_brief(validation);
    for (size_t row = 0; row < (brief ? 1 : SIZE_MAX) && kiln_view_at(row); row++)
        for (int i = 0; i < 3; i++)
            for (int k = brief; k < 3; k++)
                KILN_TRY(
                    report_clash(validation, kiln_view_at(row), i, offset[k], friction[k], error));
    return KILN_OK;
}

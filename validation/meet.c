/* Liquid that meets liquid: drops bounce, or become one where that is asked for
 * (docs/liquids.md). */
#include "contact/clearance.h"
#include "measure/fixture.h"
#include "validation/trial.h"

#include <math.h>

static const double TENSION = 70.38e-3, DENSITY = 997.0, VISCOSITY = 1e-3, RADIUS = 1e-3;
static const double SPEED = 0.2, DT = 1e-4;
enum { STEPS = 180 };

/* A drop before another or before a plate, and what became of it. */
typedef struct bounce {
    bool plate;
    double aside; /* m, how far the drops are off a line */

    double contact;   /* s, from the first step with contact to the last */
    double back;      /* speed away, of that towards */
    double momentum;  /* of both, off; of that of one */
    double turned;    /* angular momentum, off, of what it is; 0 without */
    double volume;    /* off, of it */
    double risen;     /* energy above the first, of that of motion */
    double unclear;   /* steps that end with surfaces in each other, or as good as */
    double worst;     /* quality */
    kiln_stats first; /* of the begin */
    double begin;     /* s, of contact; NaN: there was none */
} bounce;

static double energy(const kiln_stats *s)
{
    return s->e_kinetic + s->e_elastic + (isnan(s->e_contact) ? 0.0 : s->e_contact);
}

static void look_at(const kiln_trial *trial, bounce *b, const kiln_stats *s)
{
    double time = s->time / kiln_trial_number(trial, 1, 0, 0, 1);
    double one = kiln_trial_number(trial, DENSITY * 4.19 * pow(RADIUS, 3) * SPEED, 1, 1, -1);
    const kiln_stats *f = &b->first;
    kiln_vec3 p = kiln_v3(s->px - f->px, s->py - f->py, s->pz - f->pz);
    kiln_vec3 l = kiln_v3(s->lx - f->lx, s->ly - f->ly, s->lz - f->lz);
    kiln_vec3 l0 = kiln_v3(f->lx, f->ly, f->lz);
    bool touches = b->plate ? s->contacts > 0.0 : !isnan(s->gap_min);
    if (touches) {
        b->begin = isnan(b->begin) ? time : b->begin;
        b->contact = time - b->begin;
    }
    b->volume = fmax(b->volume, fabs(s->volume / s->rest_volume - 1.0));
    b->risen = fmax(b->risen, (energy(s) - energy(f)) / f->e_kinetic);
    b->worst = fmin(b->worst, s->q_min);
    if (b->plate)
        return;
    b->momentum = fmax(b->momentum, kiln_v3_norm(p) / one);
    if (b->aside > 0.0)
        b->turned = fmax(b->turned, kiln_v3_norm(l) / kiln_v3_norm(l0));
}

/* Plain, along x, of the first body. */
static double speed_of(const kiln_trial *trial, kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_vec3 *v =
        (const kiln_vec3 *)(const void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    double volume = 0.0, sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || mesh->parts.data[mesh->info[t].part].body != 0)
            continue;
        const uint32_t *c = mesh->tet[t].v;
        double size = kiln_tet_volume(mesh->x[c[0]], mesh->x[c[1]], mesh->x[c[2]], mesh->x[c[3]]);
        volume += size;
        for (int k = 0; k < 4; k++)
            sum += 0.25 * size * kiln_trial_vector_back(trial, v[c[k]], 1, 0, -1).x;
    }
    return sum / volume;
}

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    bounce *b = trial->user;
    kiln_stats stats = {.time = 0.0};
    kiln_world_measure(world, &b->first);
    double before = speed_of(trial, world);
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        bool clear = true;
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        if (!b->plate)
            KILN_TRY(kiln_solid_is_clear(kiln_world_solid(world), KILN_SINCE_EVER, false, &clear,
                                         NULL, error));
        b->unclear += !clear;
        look_at(trial, b, &stats);
    }
    b->back = -speed_of(trial, world) / before;
    return KILN_OK;
}

static kiln_status add_drop(kiln_trial *trial, kiln_vec3 at, double speed, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_fixture_soup(trial->context, "ball", "radius=1 h=0.35", &soup, error));
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = kiln_v3_madd(at, RADIUS, soup.points.data[i]);
    KILN_TRY(kiln_trial_body(trial, &soup, error));
    trial->scene.bodies.data[trial->scene.bodies.count - 1].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(speed, 0, 0), 1, 0, -1));
    return KILN_OK;
}

static kiln_status set_up(kiln_trial *trial, const bounce *b, kiln_error *error)
{
    const double off = 1.3 * RADIUS;
    KILN_TRY(kiln_trial_liquid(trial, DENSITY, VISCOSITY, TENSION, error));
    KILN_TRY(add_drop(trial, kiln_v3(-off, 0, 0.5 * b->aside), SPEED, error));
    kiln_scene_preset(&trial->scene);
    if (!b->plate) {
        trial->scene.contact.bodies = trial->scene.contact.self = true;
        return add_drop(trial, kiln_v3(off, 0, -0.5 * b->aside), -SPEED, error);
    }
    kiln_scene_obstacle plate = {
        .shape = {.kind = KILN_OBSTACLE_PLANE,
                  .normal = kiln_trial_vector(trial, kiln_v3(-1, 0, 0), 0, 0, 0)},
        .contact_angle = 180.0,
        .motion = {.obstacle = -1}};
    return kiln_array_push(trial->context, &trial->scene.obstacles, plate, error);
}

static kiln_status run(kiln_validation *validation, const kiln_view *view, bounce *b,
                       kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_BDF2, DT, STEPS);
    b->begin = NAN;
    b->worst = 1.0;
    trial.user = b;
    kiln_status status = set_up(&trial, b, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch, error);
    kiln_trial_end(&trial);
    return status;
}

static void report(kiln_validation *validation, const char *name, const bounce *b)
{
    kiln_validation_report(validation, b->unclear, kiln_at_most(0.0),
                           "%s: steps that end with surfaces in each other", name);
    kiln_validation_report(validation, b->momentum, kiln_at_most(1e-9),
                           "%s: momentum off, of that of one", name);
    kiln_validation_report(validation, b->volume, kiln_at_most(2e-3), "%s: volume off, of it",
                           name);
    kiln_validation_report(validation, b->risen, kiln_at_most(1e-3),
                           "%s: energy above the first, of that of motion", name);
    kiln_validation_report(validation, b->worst, kiln_at_least(0.3), "%s: worst quality", name);
}

kiln_status kiln_validate_drops_meet(kiln_validation *validation, kiln_error *error)
{
    const double unit = sqrt(DENSITY * pow(RADIUS, 3) / TENSION);
    for (size_t row = 0; kiln_view_at(row); row++) {
        const kiln_view *view = kiln_view_at(row);
        bounce two = {.plate = false}, plate = {.plate = true};
        KILN_TRY(run(validation, view, &two, error));
        KILN_TRY(run(validation, view, &plate, error));
        kiln_validation_report(
            validation, two.contact / unit, kiln_near_relative(plate.contact / unit, 0.05),
            "%s: contact of two, sqrt(density R^3 / tension); of one on a plate", view->name);
        kiln_validation_report(validation, two.back, kiln_near(plate.back, 0.03),
                               "%s: speed back, of that before; of one on a plate", view->name);
        report(validation, view->name, &two);
        if (kiln_validation_is_brief(validation))
            return KILN_OK;
    }
    bounce oblique = {.aside = 0.5e-3};
    KILN_TRY(run(validation, kiln_view_at(0), &oblique, error));
    report(validation, "oblique", &oblique);
    kiln_validation_report(validation, oblique.turned, kiln_at_most(1e-6),
                           "oblique: angular momentum off, of it");
    return KILN_OK;
}

/* --- merging --- */

static const double JOIN_VISCOSITY = 0.1, JOIN_SPEED = 0.1, JOIN_ASIDE = 0.4e-3;
enum { JOIN_STEPS = 200 };

/* Two that become one. */
typedef struct joining {
    double aside;    /* m */
    double volume;   /* off, of it, at most */
    double rest;     /* volume, off, of it */
    double momentum; /* off, of that of one */
    double turned;   /* angular momentum, off, of that of both about their middle if `aside` */
    double risen;    /* energy in a step, at most, of that at the begin */
    double worst;    /* quality */
    double parts;    /* in the end */
    double
        farthest; /* of the surface from the middle in the end, of the radius of a ball of both */
    double nearest;
    double began; /* J, energy at the begin */
    kiln_stats first, last;
} joining;

static void compare(const kiln_trial *trial, joining *j, const kiln_stats *s)
{
    double one = kiln_trial_number(trial, DENSITY * 4.19 * pow(RADIUS, 3) * JOIN_SPEED, 1, 1, -1);
    double arm = kiln_trial_number(trial, JOIN_ASIDE, 1, 0, 0);
    const kiln_stats *f = &j->first;
    kiln_vec3 p = kiln_v3(s->px - f->px, s->py - f->py, s->pz - f->pz);
    kiln_vec3 l = kiln_v3(s->lx - f->lx, s->ly - f->ly, s->lz - f->lz);
    j->volume = fmax(j->volume, fabs(s->volume / s->rest_volume - 1.0));
    j->rest = fmax(j->rest, fabs(s->rest_volume / f->rest_volume - 1.0));
    j->momentum = fmax(j->momentum, kiln_v3_norm(p) / one);
    j->turned = fmax(j->turned, kiln_v3_norm(l) / (one * arm));
    j->risen = fmax(j->risen, (energy(s) - energy(&j->last)) / j->began);
    j->worst = fmin(j->worst, s->q_min);
    j->last = *s;
}

/* Of its volume: the mean of the vertices goes to where cells are finer, by .024 of the radius. */
static kiln_vec3 middle_of(const kiln_trial *trial, const kiln_mesh *mesh)
{
    double volume = 0.0;
    kiln_vec3 sum = {0, 0, 0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *c = mesh->tet[t].v;
        if (!kiln_tet_live(mesh, t))
            continue;
        double size = kiln_tet_volume(mesh->x[c[0]], mesh->x[c[1]], mesh->x[c[2]], mesh->x[c[3]]);
        volume += size;
        for (int k = 0; k < 4; k++)
            sum = kiln_v3_madd(sum, 0.25 * size, mesh->x[c[k]]);
    }
    return kiln_trial_vector_back(trial, kiln_v3_scale(sum, 1.0 / volume), 1, 0, 0);
}

/* The vertices of a drop lie on its ball; one of both has twice the volume. */
static void find_round(const kiln_trial *trial, const kiln_mesh *mesh, joining *j)
{
    double most = 0.0, least = INFINITY, ball = RADIUS * cbrt(2.0);
    kiln_vec3 middle = middle_of(trial, mesh);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v) || !(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            continue;
        kiln_vec3 x = kiln_trial_vector_back(trial, mesh->x[v], 1, 0, 0);
        double far = kiln_v3_norm(kiln_v3_sub(x, middle));
        most = fmax(most, far);
        least = fmin(least, far);
    }
    j->farthest = most / ball;
    j->nearest = least / ball;
}

static kiln_status watch_join(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    joining *j = trial->user;
    kiln_stats stats = {.time = 0.0};
    kiln_world_measure(world, &j->first);
    j->began = energy(&j->first);
    j->last = j->first;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        compare(trial, j, &stats);
    }
    j->parts = (double)kiln_world_mesh(world)->parts.count;
    find_round(trial, kiln_world_mesh(world), j);
    return KILN_OK;
}

static kiln_status set_up_join(kiln_trial *trial, const joining *j, kiln_error *error)
{
    const double off = 1.1 * RADIUS;
    KILN_TRY(kiln_trial_liquid(trial, DENSITY, JOIN_VISCOSITY, TENSION, error));
    KILN_TRY(add_drop(trial, kiln_v3(-off, 0, 0.5 * j->aside), JOIN_SPEED, error));
    KILN_TRY(add_drop(trial, kiln_v3(off, 0, -0.5 * j->aside), -JOIN_SPEED, error));
    kiln_scene_preset(&trial->scene);
    trial->scene.remesh.merge = 0.3;
    trial->scene.contact.bodies = trial->scene.contact.self = true;
    return KILN_OK;
}

static kiln_status join(kiln_validation *validation, const kiln_view *view, joining *j,
                        kiln_error *error)
{
    kiln_trial trial;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_trial_set_steps(&trial, KILN_BDF2, DT, JOIN_STEPS);
    j->worst = 1.0;
    trial.user = j;
    kiln_status status = set_up_join(&trial, j, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, watch_join, error);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_drops_join(kiln_validation *validation, kiln_error *error)
{
    for (size_t row = 0; kiln_view_at(row); row++) {
        const char *name = kiln_view_at(row)->name;
        joining j = {.aside = JOIN_ASIDE};
        KILN_TRY(join(validation, kiln_view_at(row), &j, error));
        kiln_validation_report(validation, j.parts, kiln_near(1.0, 0.0), "%s: parts in the end",
                               name);
        kiln_validation_report(validation, j.farthest, kiln_near(1.0, 0.02),
                               "%s: farthest from the middle in the end, of a ball of both", name);
        /* Two balls of flat faces are less than two balls: .99 is the mean. */
        kiln_validation_report(validation, j.nearest, kiln_near(1.0, 0.03),
                               "%s: nearest to the middle in the end, of a ball of both", name);
        kiln_validation_report(validation, j.rest, kiln_at_most(1e-12), "%s: rest volume off",
                               name);
        kiln_validation_report(validation, j.volume, kiln_at_most(5e-3), "%s: volume off", name);
        kiln_validation_report(validation, j.momentum, kiln_at_most(1e-10),
                               "%s: momentum off, of that of one", name);
        kiln_validation_report(validation, j.turned, kiln_at_most(1e-10),
                               "%s: angular momentum off, of that of both", name);
        kiln_validation_report(validation, j.risen, kiln_at_most(1e-3),
                               "%s: energy that a step adds, of all", name);
        kiln_validation_report(validation, j.worst, kiln_at_least(0.1), "%s: worst quality", name);
        if (kiln_validation_is_brief(validation))
            return KILN_OK;
    }
    return KILN_OK;
}

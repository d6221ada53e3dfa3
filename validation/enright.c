/* The Enright test (validation.md M5, DLR figure 5): a ball is carried along by a velocity field
 * that draws it out into a thin curled sheet and, after half the time, back; on the mesh alone, and
 * in a run of scenes/enright.lua, where the ball is elastic and let go at the end.
 *
 * On the mesh alone: the material space keeps the ball; the mesh is remeshed there after every
 * step, in the metric that measures in world space, so that tets stay good there however far they
 * are drawn out; across the sheet, which becomes thinner than any affordable edge, a bound on sizes
 * in the material holds. A tet's score is its q in that metric times the part of its volume it has
 * in world space.
 *
 * The field has no divergence, so the ball keeps its volume; a mesh does as far as its chords
 * follow the sheet, and no further than what remeshing cuts off it where it puts vertices. */
#include "geom/box.h"
#include "geom/predicates.h"
#include "geom/tet_quality.h"
#include "measure/figure.h"
#include "measure/fixture.h"
#include "remesh/embedded.h"
#include "remesh/improve.h"
#include "remesh/size_control.h"
#include "remesh/sizing.h"
#include "validation/rest.h"
#include "validation/validation.h"

#include <string.h>

enum { STEPS = 300 }; /* of 0.01 s; the paper does not tell its own */

static const double period = 3.0, radius = 0.15, goal = 0.2;
/* Edges this long in world space; but none longer than the second in the material, or one tet would
 * have to reach through the whole ball where it has become a sheet thinner than an edge. */
static const double world_size = 0.054, material_size = 0.1;
static const double least_q = 0.06; /* below it the run is over */
static const kiln_vec3 centre = {0.35, 0.35, 0.35};

static kiln_vec3 velocity(kiln_vec3 p, double t)
{
    double sx = sin(KILN_PI * p.x), sy = sin(KILN_PI * p.y), sz = sin(KILN_PI * p.z);
    double dx = sin(2 * KILN_PI * p.x), dy = sin(2 * KILN_PI * p.y), dz = sin(2 * KILN_PI * p.z);
    double c = cos(KILN_PI * t / period);
    return kiln_v3(2 * sx * sx * dy * dz * c, -dx * sy * sy * dz * c, -dx * dy * sz * sz * c);
}

static kiln_vec3 advance(kiln_vec3 p, double t, double dt)
{
    kiln_vec3 a = velocity(p, t), b = velocity(kiln_v3_madd(p, dt / 2, a), t + dt / 2);
    kiln_vec3 c = velocity(kiln_v3_madd(p, dt / 2, b), t + dt / 2);
    kiln_vec3 d = velocity(kiln_v3_madd(p, dt, c), t + dt);
    p = kiln_v3_madd(p, dt / 6, kiln_v3_add(a, d));
    return kiln_v3_madd(p, dt / 3, kiln_v3_add(b, c));
}

typedef struct enright {
    kiln_mesh *mesh;
    kiln_embedded *surface; /* a finer sphere that hangs in the mesh */
    double worst;           /* score over all steps: in the metric, and for volume in world space */
    double lost;            /* or gained, the most: volume in the world over that in the material */
    uint32_t first_tets, most_tets; /* after the first step, when it has its sizes; the most */
    int steps, wanted;              /* done, to do */
    kiln_box half_way;
} enright;

/* Vertices along the field, in as many parts as keep every tet positive. */
static kiln_status carry(enright *e, double t, double dt, int depth, kiln_error *error)
{
    kiln_mesh *mesh = e->mesh;
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_vec3 *old = kiln_resize(mesh->context, NULL, 0, rows * sizeof *old);
    if (!old)
        return kiln_fail_memory(error, rows * sizeof *old);
    memcpy(old, mesh->x, rows * sizeof *old);
    for (uint32_t v = 0; v < rows; v++)
        if (kiln_vertex_live(mesh, v))
            mesh->x[v] = advance(mesh->x[v], t, dt);
    bool positive = kiln_fixture_non_positive(mesh) == 0;
    if (!positive)
        memcpy(mesh->x, old, rows * sizeof *old);
    kiln_release(mesh->context, old, rows * sizeof *old);
    if (positive)
        return KILN_OK;
    if (depth == 0)
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "a tet turns over at t = %g", t);
    KILN_TRY(carry(e, t, dt / 2, depth - 1, error));
    return carry(e, t + dt / 2, dt / 2, depth - 1, error);
}

/* Puts a vertex of the surface back on the sphere, or part of the way, unless a tet of its star
 * would come below the goal and below what it was. */
static void hold_vertex(kiln_remesher *r, uint32_t vertex)
{
    kiln_mesh *mesh = r->mesh;
    kiln_vec3 out = kiln_v3_sub(mesh->u[vertex], centre);
    double away = kiln_v3_norm(out);
    kiln_walker *walker = &r->workspace.walker;
    if (fabs(away - radius) < 1e-6 * radius || kiln_star(mesh, vertex, walker, NULL) != KILN_OK)
        return;
    double floor = kiln_remesher_worst(r, walker->tets.data, walker->tets.count);
    floor = floor < goal ? floor : goal;
    for (double part = 1.0; part > 0.2; part *= 0.5) {
        kiln_place place = {.side = r->side.data[vertex]};
        double wanted = away + part * (radius - away), worst = INFINITY;
        kiln_remesher_locate(r, kiln_v3_madd(centre, wanted / away, out), &place);
        for (size_t i = 0; i < walker->tets.count; i++) {
            uint32_t v[4];
            for (int k = 0; k < 4; k++) {
                v[k] = mesh->tet[walker->tets.data[i]].v[k];
                v[k] = v[k] == vertex ? KILN_PROPOSED : v[k];
            }
            double q = kiln_remesher_score(r, &place, v);
            worst = q < worst ? q : worst;
        }
        if (worst >= floor && kiln_remesher_move(r, vertex, &place) == KILN_ACCEPTED)
            return;
    }
}

static kiln_status run_pass(enright *e, kiln_remesher *remesher, kiln_error *error)
{
    kiln_size_options size = kiln_size_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    size.worst = 0.3;
    improve.goal = goal;
    improve.spread = 300;
    KILN_TRY(kiln_size_control(remesher, &size, NULL, error));
    KILN_TRY(kiln_dynamic_improve(remesher, &improve, &report, error));
    for (uint32_t v = 0; v < e->mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(e->mesh, v) && e->mesh->vertex[v].flags & KILN_VERTEX_SURFACE)
            hold_vertex(remesher, v);
    for (uint32_t t = 0; t < e->mesh->table[KILN_ON_TET].used; t++)
        e->worst = fmin(e->worst, remesher->quality.data[t]);
    return kiln_embedded_rehang(e->surface, e->mesh, NULL, error);
}

static kiln_status remesh(enright *e, kiln_error *error)
{
    kiln_sizing *sizing;
    kiln_remesher remesher;
    KILN_TRY(kiln_sizing_create(e->mesh, KILN_SPACE_MATERIAL, &sizing, error));
    kiln_status status = kiln_sizing_add_world(sizing, world_size, error);
    if (status == KILN_OK)
        status = kiln_sizing_finish(
            sizing, &(kiln_sizing_limits){.bounds = {.h_max = material_size}}, error);
    if (status == KILN_OK) {
        kiln_remesh_options options = kiln_remesh_default_options();
        options.sizing = sizing;
        options.volume_elsewhere = true; /* the field keeps volumes, so its tets should */
        options.bend_elsewhere = true;   /* it leads the vertices: nothing else finds their place */
        options.edge_limit[0] = 0.0;
        options.edge_limit[1] = INFINITY;
        status = kiln_remesher_begin(e->mesh, &options, &remesher, error);
    }
    if (status == KILN_OK) {
        status = run_pass(e, &remesher, error);
        kiln_remesher_end(&remesher);
    }
    kiln_sizing_destroy(sizing);
    return status;
}

static kiln_box world_box(const kiln_mesh *mesh)
{
    kiln_box box = kiln_box_empty();
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            box = kiln_box_grow(box, mesh->x[v]);
    return box;
}

static double volume_of(const kiln_mesh *mesh, const kiln_vec3 *p)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t))
            sum += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
    }
    return sum;
}

static kiln_status step(enright *e, kiln_error *error)
{
    double dt = period / STEPS;
    KILN_TRY(carry(e, e->steps * dt, dt, 6, error));
    KILN_TRY(remesh(e, error));
    uint32_t tets = e->mesh->table[KILN_ON_TET].live;
    double kept = volume_of(e->mesh, e->mesh->x) / volume_of(e->mesh, e->mesh->u);
    e->first_tets = e->steps == 0 ? tets : e->first_tets;
    e->most_tets = tets > e->most_tets ? tets : e->most_tets;
    e->lost = fmax(e->lost, fabs(kept - 1.0));
    if (++e->steps == STEPS / 2)
        e->half_way = world_box(e->mesh);
    return KILN_OK;
}

/* Root mean square of the distances by which the finer sphere is off where it began. */
static kiln_status return_error(const enright *e, double *off, kiln_error *error)
{
    size_t count = kiln_embedded_vertices(e->surface);
    kiln_context *context = e->mesh->context;
    kiln_vec3 *now = kiln_resize(context, NULL, 0, count * sizeof *now);
    if (!now)
        return kiln_fail_memory(error, count * sizeof *now);
    kiln_status status = kiln_embedded_positions(e->surface, e->mesh, KILN_SPACE_WORLD, now, error);
    double sum = 0.0;
    for (size_t i = 0; i < count && status == KILN_OK; i++)
        sum += kiln_v3_norm2(kiln_v3_sub(now[i], kiln_embedded_material(e->surface)[i]));
    kiln_release(context, now, count * sizeof *now);
    *off = sqrt(sum / (double)count);
    return status;
}

static void report_half_way(kiln_validation *validation, const kiln_box *box)
{
    static const double low[3] = {.2110, .1959, .1960}, high[3] = {.8689, .7581, .7581};
    for (int i = 0; i < 3; i++) {
        kiln_validation_report(validation, (&box->low.x)[i], kiln_near(low[i], 0.01), "T/2: low %c",
                               "xyz"[i]);
        kiln_validation_report(validation, (&box->high.x)[i], kiln_near(high[i], 0.01),
                               "T/2: high %c", "xyz"[i]);
    }
}

static void report(kiln_validation *validation, const enright *e, double off)
{
    kiln_validation_report(validation, e->steps * period / STEPS,
                           kiln_exactly(e->wanted * period / STEPS),
                           "time passed with every q in the metric at least %g, s", least_q);
    kiln_validation_report(validation, e->worst, kiln_at_least(least_q),
                           "worst q in the metric, all steps");
    kiln_validation_report(validation, e->lost, kiln_at_most(0.03),
                           "volume lost or gained, the most of all steps");
    if (e->steps < STEPS)
        return;
    kiln_validation_report(validation, e->most_tets, kiln_at_most(1.2 * 4733),
                           "most tets (DLR: 4733)");
    kiln_validation_report(validation, (double)e->mesh->table[KILN_ON_TET].live / e->first_tets,
                           kiln_between(0.5, 2),
                           "tets at the end over those after the first step (DLR: 0.72)");
    report_half_way(validation, &e->half_way);
    /* What the elastic run takes back and this one does not. */
    kiln_validation_report(validation, off / radius, kiln_at_most(0.1),
                           "return error of a finer sphere, RMS, of r");
}

static kiln_status prepare(kiln_context *context, enright *e, kiln_error *error)
{
    kiln_soup sphere;
    KILN_TRY(kiln_fixture_mesh(context, "ball", "radius=0.15 h=0.055", 0.0, &e->mesh, error));
    for (uint32_t v = 0; v < e->mesh->table[KILN_ON_VERTEX].used; v++)
        e->mesh->u[v] = e->mesh->x[v] = kiln_v3_add(e->mesh->u[v], centre);
    kiln_status status = kiln_fixture_soup(context, "ball", "radius=0.149 h=0.02", &sphere, error);
    for (size_t i = 0; i < sphere.points.count; i++)
        sphere.points.data[i] = kiln_v3_add(sphere.points.data[i], centre);
    if (status == KILN_OK)
        status = kiln_embedded_create(e->mesh, &sphere, KILN_SPACE_WORLD, KILN_NONE, &e->surface,
                                      NULL, error);
    kiln_soup_free(&sphere);
    return status;
}

kiln_status kiln_validate_M5(kiln_validation *validation, kiln_error *error)
{
    enright e = {.worst = INFINITY,
                 .wanted = kiln_validation_is_brief(validation) ? STEPS / 5 : STEPS};
    double off = 0.0;
    kiln_status status = prepare(kiln_validation_context(validation), &e, error);
    while (e.steps < e.wanted && e.worst >= least_q && status == KILN_OK)
        status = step(&e, error);
    if (status == KILN_OK && e.steps == STEPS)
        status = return_error(&e, &off, error);
    if (status == KILN_OK)
        report(validation, &e, off);
    kiln_embedded_destroy(e.surface);
    kiln_mesh_destroy(e.mesh);
    return status;
}

/* The run. */

typedef struct ball {
    kiln_box half_way; /* of the sphere that hangs in the mesh */
    bool seen;
    double round;               /* it off a sphere when the field ends, RMS, m */
    double off;                 /* of it at rest, RMS, m */
    double volume[3], farthest; /* at the begin, at T/2, at T; the most off the first, relative */
    kiln_error error;
} ball;

static void look_half_way(ball *b, const kiln_world *world)
{
    kiln_soup sphere;
    b->seen = true;
    b->volume[1] = b->volume[2];
    if (kiln_world_surface(world, 0, &sphere, &b->error) != KILN_OK)
        return;
    b->half_way = kiln_box_of(sphere.points.data, (int)sphere.points.count);
    kiln_soup_free(&sphere);
}

/* By how much its vertices are off a sphere, RMS. */
static void look_at_end(ball *b, const kiln_world *world)
{
    kiln_soup sphere;
    double sum = 0.0;
    if (kiln_world_surface(world, 0, &sphere, &b->error) != KILN_OK)
        return;
    for (size_t i = 0; i < sphere.points.count; i++) {
        double away = kiln_v3_norm(kiln_v3_sub(sphere.points.data[i], centre)) - 0.99 * radius;
        sum += away * away;
    }
    b->round = sqrt(sum / (double)sphere.points.count);
    kiln_soup_free(&sphere);
}

/* As long as the field leads the ball. */
static void look(void *user, kiln_world *world, const kiln_stats *stats)
{
    ball *b = user;
    const kiln_mesh *mesh = kiln_world_mesh(world);
    if (stats->time > period + 1e-9)
        return;
    b->volume[0] = b->volume[0] > 0.0 ? b->volume[0] : volume_of(mesh, mesh->u);
    b->volume[2] = volume_of(mesh, mesh->x);
    b->farthest = fmax(b->farthest, fabs(b->volume[2] / b->volume[0] - 1.0));
    if (!b->seen && stats->time >= 0.5 * period - 1e-9)
        look_half_way(b, world);
    if (stats->time >= period - 1e-9)
        look_at_end(b, world);
}

static kiln_status let_go(void *user, kiln_world *world, kiln_error *error)
{
    ball *b = user;
    kiln_soup sphere;
    KILN_TRY(kiln_rest_solve(world, NULL, error));
    KILN_TRY(kiln_world_surface(world, 0, &sphere, error));
    const kiln_soup_field *start = kiln_soup_find_field(&sphere, KILN_ON_VERTEX, "start");
    b->off = kiln_rigid_fit((const kiln_vec3 *)(const void *)start->data.data, sphere.points.data,
                            sphere.points.count)
                 .rms;
    kiln_soup_free(&sphere);
    return KILN_OK;
}

static void report_run(kiln_validation *validation, const ball *b, const kiln_figure_report *run)
{
    report_half_way(validation, &b->half_way);
    kiln_validation_report(validation, b->volume[1] / b->volume[0], kiln_near(1, 0.03),
                           "T/2: volume over that of the begin");
    kiln_validation_report(validation, b->volume[2] / b->volume[0], kiln_near(1, 0.03),
                           "T: volume over that of the begin");
    kiln_validation_report(validation, b->farthest, kiln_at_most(0.06),
                           "volume lost or gained, the most of all steps");
    kiln_validation_report(validation, run->worst, kiln_at_least(least_q),
                           "worst q in the metric, all steps");
    kiln_validation_report(validation, run->tets_most, kiln_at_most(1.2 * 4733),
                           "most tets of %g (DLR: 4733 of 528)", run->tets_begin);
    kiln_validation_report(validation, run->tets_end / run->tets_begin, kiln_between(0.5, 2),
                           "tets at the end over those at the begin (DLR: 379/528)");
    kiln_validation_report(validation, b->round / radius, kiln_unbound(),
                           "T: the sphere in the mesh off a sphere, RMS, of r");
    kiln_validation_report(validation, b->off / radius, kiln_at_most(1e-3),
                           "let go: the sphere in the mesh off that of the start, RMS, of r");
}

/* All of it in one run of the scene as it stands: extent, volume, tets, quality, and the ball back
 * as it was, with about as many tets as it began with. */
kiln_status kiln_validate_M5_run(kiln_validation *validation, kiln_error *error)
{
    ball b = {.half_way = kiln_box_empty()};
    kiln_figure figure = {.scene = "enright", .look = look, .user = &b};
    kiln_figure_report run;
    KILN_TRY(kiln_figure_run(kiln_validation_context(validation), &figure, &run, let_go, error));
    if (b.error.status != KILN_OK) {
        *error = b.error;
        return error->status;
    }
    report_run(validation, &b, &run);
    return KILN_OK;
}

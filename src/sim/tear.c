/* The module that lets liquid tear (the scene's `tear`): where its surface is hollow and the
 * largest principal stress there, of velocities smoothed over two rings, is more than the scene
 * says, it is divided across the pull, tet by tet, as far as that is enough (topology/tear.h). What
 * a tet lets go of goes on in part to those ahead, in the same step and in the next (the field
 * "tear_rest"). Where tension would close a slit as short as an edge, 2 tension / edge has to be
 * overcome as well. Amounts, momentum and angular momentum go over as in all remeshing
 * (remesh/transfer.h).
 *
 * Only stress_of_tet knows what pulls in liquids; elastic stress of solids would be another. */
#include "fem/smooth_gradient.h"
#include "geom/sym3.h"
#include "mesh/rewind.h"
#include "sim/boundary.h"
#include "sim/pass.h"
#include "sim/through.h"
#include "topology/concave.h"
#include "topology/tear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_STRESS "tear_stress" /* of tets, Pa: kiln_sym3, where something may tear */
#define FIELD_REST   "tear_rest"   /* likewise, what was handed on; then the step it was in */
enum { REST = 7 };

/* Of the inverse of an edge: a curvature below minus this is hollow. */
static const double HOLLOW = 0.05;
/* Of the stress that tears, what some tet must have before anything is smoothed. */
static const double WORTH_A_LOOK = 0.5;
/* Tensions over the edge. */
static const double CLOSES = 2.0;
/* Of the quality that is asked for, what tets at a tear must have: repairs come after. */
static const double LEAST_QUALITY = 0.1;
/* Of the part by which sides are to part, what is tried one after the other. */
static const double PARTED[] = {1.0, 0.5, 1.5};
enum { PARTINGS = sizeof PARTED / sizeof PARTED[0] };
/* Of the square of the mean edge of the start, the area of a tear: what is smaller no mesh shows.
 */
static const double LEAST_AREA = 1.0;
/* Tets cut in a tear, and sites tried in a part of the mesh, at most in a step. */
enum { MOST_CUT = 2000, MOST_TRIED = 8 };

typedef struct tear_settings {
    kiln_said said;
    double stress; /* Pa */
    double carry;
    double gap; /* of an edge */
} tear_settings;

static void start_settings(void *settings)
{
    *(tear_settings *)settings = (tear_settings){.carry = 0.5, .gap = 0.2};
}

static const kiln_schema_row tear_rows[] = {
    {"stress", KILN_VALUE_NUMBER, offsetof(tear_settings, stress), KILN_POSITIVE, "Pa", "",
     .meaning = "the largest principal stress of liquid, of viscosity and pressure, above which it "
                "tears where its surface is hollow"},
    {"carry", KILN_VALUE_NUMBER, offsetof(tear_settings, carry), KILN_WITHIN(0, 0.95), NULL, NULL,
     .meaning = "the part of the stress where it has torn that is added ahead of the tear: one "
                "that has begun goes on where there is 1 - carry of `stress`"},
    {"gap", KILN_VALUE_NUMBER, offsetof(tear_settings, gap), KILN_WITHIN(0.01, 1), NULL, NULL,
     .meaning = "how far the two sides part at once, of the length of an edge there"},
};
static const kiln_schema tear_schema = {
    .name = "tear",
    .about = "Liquid that tears by stress. The columns tears and torn_area of stats.csv count.",
    KILN_SCHEMA_ROWS(tear_rows),
    .size = sizeof(tear_settings),
    .start = start_settings,
    .has_said = true,
};

typedef struct site {
    uint32_t tet, part;
    double pull; /* of what tears there */
} site;

typedef struct tear {
    kiln_world *world;
    const tear_settings *settings;
    kiln_smooth_gradient smooth;
    KILN_ARRAY_OF(uint8_t)
    liquid;                /* [tet slot] */
    kiln_f64_array hollow; /* [vertex slot] least curvature times edge; NaN: not known */
    KILN_ARRAY_OF(kiln_vec3)
    normal; /* [vertex slot] of the surface, outward; 0: inside */
    KILN_ARRAY_OF(kiln_sym3)
    rate; /* [vertex slot] smoothed rate of strain; xx is NaN: not known */
    KILN_ARRAY_OF(uint8_t)
    fixed; /* [vertex slot] held, or of a tet that is not liquid: nothing is divided there */
    KILN_ARRAY_OF(site)
    sites;
    kiln_u32_array parts; /* that have torn in this step */
    bool goes_on;         /* one of these tears has a tip */
    kiln_walker walker;
    kiln_idset far;
    kiln_changes changes;
    struct {
        uint64_t tears;
        double area;   /* m^2, of one side, so far */
        double edge;   /* m, the mean one of the start */
        uint64_t rest; /* something was handed on in the step before */
    } state;
} tear;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const tear_settings *settings = kiln_scene_settings(world->scene, &tear_schema);
    if (!settings)
        return KILN_OK;
    if (!kiln_scene_has_liquid(world->scene) || world->space != KILN_SPACE_WORLD || !world->moves)
        return kiln_said_fail(
            world->scene, &settings->said, error,
            "needs liquid that moves and remesh = \"local\", which is its preset");
    tear *t = kiln_module_make(world, sizeof *t, self, error);
    if (!t)
        return KILN_ERR_MEMORY;
    t->world = world;
    t->settings = settings;
    t->state.edge = kiln_mean_edge(world->mesh);
    kiln_walker_init(&t->walker, world->context);
    KILN_TRY(kiln_mesh_add_field(world->mesh, FIELD_STRESS, KILN_ON_TET, KILN_F64, 6,
                                 KILN_RULE_DIRECT, error));
    return kiln_mesh_add_field(world->mesh, FIELD_REST, KILN_ON_TET, KILN_F64, REST,
                               KILN_RULE_DIRECT, error);
}

static void destroy(void *self)
{
    tear *t = self;
    kiln_context *context = t->world->context;
    kiln_smooth_gradient_free(&t->smooth, context);
    kiln_array_free(context, &t->liquid);
    kiln_array_free(context, &t->hollow);
    kiln_array_free(context, &t->normal);
    kiln_array_free(context, &t->rate);
    kiln_array_free(context, &t->fixed);
    kiln_array_free(context, &t->sites);
    kiln_array_free(context, &t->parts);
    kiln_array_free(context, &t->far.slots);
    if (t->walker.context)
        kiln_walker_free(&t->walker);
    kiln_changes_free(context, &t->changes);
}

static const kiln_vec3 *velocities(const tear *t)
{
    return (const kiln_vec3 *)(const void *)kiln_world_column(t->world, KILN_ON_VERTEX, "v");
}

static kiln_sym3 read_stress(const kiln_mesh *mesh, uint32_t tet)
{
    return ((const kiln_sym3 *)(const void *)kiln_mesh_field(mesh, KILN_ON_TET, FIELD_STRESS)
                ->data)[tet];
}

static const double *read_rest(const kiln_mesh *mesh, uint32_t tet)
{
    return (const double *)(const void *)kiln_mesh_field(mesh, KILN_ON_TET, FIELD_REST)->data +
           REST * (size_t)tet;
}

/* Not 0. */
static double this_step(const tear *t)
{
    return (double)t->world->state.step + 1.0;
}

/* Of the solver: the mean of the corners. */
static double pressure_of(const tear *t, uint32_t tet)
{
    const double *p = kiln_world_column(t->world, KILN_ON_VERTEX, KILN_FIELD_LIQUID_PRESSURE);
    const uint32_t *v = t->world->mesh->tet[tet].v;
    return p ? 0.25 * (p[v[0]] + p[v[1]] + p[v[2]] + p[v[3]]) : 0.0;
}

static kiln_status find_viscosity(const tear *t, uint32_t tet, double *viscosity, kiln_error *error)
{
    const kiln_world *world = t->world;
    uint32_t material = kiln_world_material_of(world->mesh)[tet];
    const kiln_quantity *asked = &world->scene->materials.data[material].viscosity;
    *viscosity = world->materials[material].viscosity;
    if (!asked->evaluate)
        return KILN_OK;
    kiln_circumstances here = kiln_world_circumstances(world, tet);
    return kiln_quantity_get(asked, &here, viscosity, 1, error);
}

static kiln_status smooth_rate(tear *t, uint32_t vertex, kiln_sym3 *rate, kiln_error *error)
{
    kiln_sym3 *known = &t->rate.data[vertex];
    if (isnan(known->xx)) {
        kiln_mat3 g;
        KILN_TRY(
            kiln_smooth_gradient_at(&t->smooth, t->world->mesh, velocities(t), vertex, &g, error));
        double third = (g.m[0][0] + g.m[1][1] + g.m[2][2]) / 3.0;
        *known = kiln_sym3_madd(kiln_sym3_from_mat3(g), -third, kiln_sym3_identity());
    }
    *rate = *known;
    return KILN_OK;
}

static kiln_sym3 dyad(kiln_vec3 n)
{
    return (kiln_sym3){n.x * n.x, n.y * n.y, n.z * n.z, n.y * n.z, n.x * n.z, n.x * n.y};
}

/* Air does not pull: at a surface, and there are fresh ones where something has just torn, nothing
 * pulls across it, though velocities that were found before it was there say so for a while. */
static kiln_sym3 without_pull(kiln_sym3 stress, kiln_vec3 normal)
{
    double pull = kiln_v3_dot(normal, kiln_sym3_apply(stress, normal));
    return pull > 0.0 ? kiln_sym3_madd(stress, -pull, dyad(normal)) : stress;
}

/* Viscous, with pressure. */
static kiln_status stress_of_tet(tear *t, uint32_t tet, bool smooth, kiln_sym3 *stress,
                                 kiln_error *error)
{
    const kiln_mesh *mesh = t->world->mesh;
    kiln_sym3 rate = kiln_sym3_from_mat3(kiln_tet_gradient(mesh, velocities(t), tet));
    double viscosity;
    KILN_TRY(find_viscosity(t, tet, &viscosity, error));
    kiln_sym3 pressed = kiln_sym3_scale(kiln_sym3_identity(), -pressure_of(t, tet));
    *stress = kiln_sym3_madd(pressed, 2.0 * viscosity, rate);
    if (!smooth)
        return KILN_OK;
    *stress = kiln_sym3_scale(pressed, 0.0);
    for (int k = 0; k < 4; k++) {
        uint32_t v = mesh->tet[tet].v[k];
        KILN_TRY(smooth_rate(t, v, &rate, error));
        kiln_sym3 one = kiln_sym3_madd(pressed, 2.0 * viscosity, rate);
        *stress = kiln_sym3_madd(*stress, 0.25, without_pull(one, t->normal.data[v]));
    }
    return KILN_OK;
}

static double mean_edge(const kiln_mesh *mesh, uint32_t tet)
{
    double sum = 0.0;
    for (int e = 0; e < 6; e++)
        sum += kiln_v3_norm(kiln_v3_sub(mesh->x[mesh->tet[tet].v[kiln_edge_ends[e][1]]],
                                        mesh->x[mesh->tet[tet].v[kiln_edge_ends[e][0]]]));
    return sum / 6.0;
}

/* Pa, what tears this tet. */
static double strength_of(const tear *t, const kiln_mesh *mesh, uint32_t tet)
{
    double tension = t->world->materials[kiln_world_material_of(mesh)[tet]].surface_tension;
    return fmax(t->settings->stress, CLOSES * tension / mean_edge(mesh, tet));
}

static kiln_sym3 with_rest(const kiln_mesh *mesh, uint32_t tet, kiln_sym3 stress)
{
    const double *r = read_rest(mesh, tet);
    return kiln_sym3_madd(stress, 1.0, (kiln_sym3){r[0], r[1], r[2], r[3], r[4], r[5]});
}

/* For topology/tear.h: parts of what tears there. */
static kiln_pull pull_at(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const tear *t = user;
    kiln_eigen3 e = kiln_sym3_eigen(with_rest(mesh, tet, read_stress(mesh, tet)));
    return (kiln_pull){e.values[0] / strength_of(t, mesh, tet),
                       kiln_v3(e.vectors.m[0][0], e.vectors.m[1][0], e.vectors.m[2][0])};
}

static double across_at(void *user, const kiln_mesh *mesh, uint32_t tet, kiln_vec3 normal)
{
    const tear *t = user;
    kiln_sym3 sum = with_rest(mesh, tet, read_stress(mesh, tet));
    return kiln_v3_dot(normal, kiln_sym3_apply(sum, normal)) / strength_of(t, mesh, tet);
}

/* The most that any tet behind hands on. */
static kiln_verdict hand_on(void *user, kiln_txn *txn, uint32_t tet, kiln_pull pull)
{
    tear *t = user;
    const double *old = read_rest(txn->mesh, tet);
    double rest[REST], stress = t->settings->carry * pull.stress * strength_of(t, txn->mesh, tet);
    if (!(stress > 0.0) ||
        (old[REST - 1] == this_step(t) && old[0] + old[1] + old[2] >= stress)) /* its trace */
        return KILN_ACCEPTED;
    const double values[3] = {stress, 0.0, 0.0};
    kiln_vec3 a = pull.along, b = fabs(a.x) < 0.6 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
    b = kiln_v3_normalize(kiln_v3_cross(a, b));
    kiln_mat3 axes = kiln_m3_columns(a, b, kiln_v3_cross(a, b));
    kiln_sym3 sum = kiln_sym3_compose(values, &axes);
    memcpy(rest, &sum, sizeof sum);
    rest[REST - 1] = this_step(t);
    return kiln_txn_write(txn, KILN_ON_TET, kiln_mesh_field(txn->mesh, KILN_ON_TET, FIELD_REST),
                          tet, rest);
}

static bool may_cut(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const tear *t = user;
    bool may = t->world->materials[kiln_world_material_of(mesh)[tet]].liquid;
    for (int k = 0; k < 4; k++)
        may &= mesh->tet[tet].v[k] >= t->fixed.count || !t->fixed.data[mesh->tet[tet].v[k]];
    return may;
}

/* Along what it touches, not off it. */
static kiln_vec3 may_go(const void *user, uint32_t vertex, kiln_vec3 way)
{
    const tear *t = user;
    kiln_solid *solid = t->world->solid;
    if (vertex < t->fixed.count && t->fixed.data[vertex])
        return kiln_v3(0, 0, 0);
    if (vertex >= kiln_solid_constraints(solid)->rows)
        return way;
    const double *f = kiln_solid_contact(solid) + 3 * (size_t)vertex;
    kiln_vec3 push = kiln_v3(f[0], f[1], f[2]);
    if (!(kiln_v3_norm2(push) > 0.0))
        return way;
    push = kiln_v3_normalize(push);
    return kiln_v3_madd(way, -kiln_v3_dot(way, push), push);
}

/* Tets that have an edge on the surface. */
static bool is_at_surface(const kiln_mesh *mesh, uint32_t tet)
{
    int on = 0;
    for (int k = 0; k < 4; k++) {
        if (kiln_link_is_surface(mesh->tet[tet].n[k]))
            return true;
        on += mesh->vertex[mesh->tet[tet].v[k]].flags & KILN_VERTEX_SURFACE ? 1 : 0;
    }
    for (int e = 0; e < 6 && on >= 2; e++)
        if (!kiln_edge_ring(mesh, tet, kiln_edge_ends[e][0], kiln_edge_ends[e][1], NULL, 0).closed)
            return true;
    return false;
}

static kiln_status is_hollow(tear *t, uint32_t tet, bool *hollow, kiln_error *error)
{
    const kiln_mesh *mesh = t->world->mesh;
    *hollow = false;
    for (int k = 0; k < 4; k++) {
        uint32_t v = mesh->tet[tet].v[k];
        if (!(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            continue;
        if (isnan(t->hollow.data[v])) {
            double curvature, edge;
            KILN_TRY(kiln_least_curvature(mesh, v, &t->walker, &t->far, &curvature, &edge, error));
            t->hollow.data[v] = curvature * edge;
        }
        *hollow |= t->hollow.data[v] < -HOLLOW;
    }
    return KILN_OK;
}

static kiln_status find_normals(tear *t, kiln_error *error)
{
    const kiln_mesh *mesh = t->world->mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(t->world->context, &t->normal, vertices + 1, error));
    kiln_vec3 *normal = t->normal.data;
    memset(normal, 0, vertices * sizeof *normal);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[4];
        if (!kiln_face_live(mesh, f))
            continue;
        kiln_boundary_corners(mesh, KILN_ON_FACE, f, v);
        kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                                       kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]]));
        for (int k = 0; k < 3; k++)
            normal[v[k]] = kiln_v3_add(normal[v[k]], area);
    }
    for (size_t v = 0; v < vertices; v++)
        if (kiln_v3_norm2(normal[v]) > 0.0)
            normal[v] = kiln_v3_normalize(normal[v]);
    return KILN_OK;
}

static kiln_status prepare(tear *t, kiln_error *error)
{
    const kiln_world *world = t->world;
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    size_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(world->context, &t->liquid, tets + 1, error));
    KILN_TRY(kiln_array_reserve(world->context, &t->hollow, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(world->context, &t->rate, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(world->context, &t->fixed, vertices + 1, error));
    KILN_TRY(find_normals(t, error));
    kiln_constraints *held = kiln_solid_constraints(world->solid);
    for (uint32_t v = 0; v < vertices; v++) {
        t->hollow.data[v] = t->rate.data[v].xx = NAN;
        t->fixed.data[v] = v < held->rows && kiln_constraints_held(held, v).count > 0;
    }
    t->fixed.count = vertices;
    for (uint32_t i = 0; i < tets; i++) {
        bool live = kiln_tet_live(mesh, i);
        t->liquid.data[i] = live && world->materials[material[i]].liquid;
        for (int k = 0; k < 4 && live && !t->liquid.data[i]; k++)
            t->fixed.data[mesh->tet[i].v[k]] = 1;
    }
    return kiln_smooth_gradient_begin(&t->smooth, mesh, t->liquid.data,
                                      kiln_world_column(world, KILN_ON_TET, KILN_FIELD_MASS),
                                      error);
}

/* Is there any stress worth to be smoothed? */
static kiln_status is_quiet(tear *t, bool *quiet, kiln_error *error)
{
    const kiln_mesh *mesh = t->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    *quiet = t->state.rest == 0;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used && *quiet; i++) {
        kiln_sym3 stress;
        if (!kiln_tet_live(mesh, i) || !t->world->materials[material[i]].liquid)
            continue;
        KILN_TRY(stress_of_tet(t, i, false, &stress, error));
        *quiet = kiln_sym3_eigen(stress).values[0] < WORTH_A_LOOK * strength_of(t, mesh, i);
    }
    return KILN_OK;
}

static int most_pulled_first(const void *a, const void *b)
{
    const site *left = a, *right = b;
    if (left->pull != right->pull)
        return left->pull > right->pull ? -1 : 1;
    return (left->tet > right->tet) - (left->tet < right->tet);
}

static kiln_status find_sites(tear *t, kiln_error *error)
{
    const kiln_mesh *mesh = t->world->mesh;
    t->sites.count = 0;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used; i++) {
        bool hollow;
        kiln_sym3 stress;
        if (!t->liquid.data[i] || !is_at_surface(mesh, i) || !may_cut(t, mesh, i))
            continue;
        KILN_TRY(is_hollow(t, i, &hollow, error));
        if (!hollow)
            continue;
        KILN_TRY(stress_of_tet(t, i, true, &stress, error));
        site one = {i, mesh->info[i].part,
                    kiln_sym3_eigen(with_rest(mesh, i, stress)).values[0] /
                        strength_of(t, mesh, i)};
        if (one.pull >= 1.0)
            KILN_TRY(kiln_array_push(t->world->context, &t->sites, one, error));
    }
    if (t->sites.count)
        qsort(t->sites.data, t->sites.count, sizeof *t->sites.data, most_pulled_first);
    return KILN_OK;
}

/* Of all liquid, for tears to look at. */
static kiln_status write_stress(tear *t, kiln_error *error)
{
    kiln_mesh *mesh = t->world->mesh;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, FIELD_STRESS, KILN_SAVE_COPY, error));
    kiln_sym3 *to = (kiln_sym3 *)(void *)kiln_world_column(t->world, KILN_ON_TET, FIELD_STRESS);
    for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].used; i++)
        if (t->liquid.data[i])
            KILN_TRY(stress_of_tet(t, i, true, &to[i], error));
    return KILN_OK;
}

/* What was handed on in an earlier step is forgotten, and where tears went through. */
static kiln_status forget(tear *t, kiln_error *error)
{
    kiln_mesh *mesh = t->world->mesh;
    bool some = false;
    if (t->state.rest) {
        KILN_TRY(kiln_rewind_save(mesh, KILN_ON_TET, FIELD_REST, KILN_SAVE_COPY, error));
        double *rest = kiln_world_column(t->world, KILN_ON_TET, FIELD_REST);
        for (size_t i = 0; i < mesh->table[KILN_ON_TET].used; i++, rest += REST) {
            if (rest[REST - 1] != this_step(t) || !t->goes_on)
                memset(rest, 0, REST * sizeof *rest);
            some |= rest[REST - 1] != 0.0;
        }
    }
    t->state.rest = some;
    return KILN_OK;
}

static int32_t tag_beside(const kiln_mesh *mesh, uint32_t tet)
{
    for (int k = 0; k < 4; k++)
        if (kiln_link_is_surface(mesh->tet[tet].n[k]))
            return mesh->face[mesh->tet[tet].n[k] - KILN_LINK_SURFACE].tag;
    return 0;
}

static kiln_verdict try_tear(tear *t, kiln_txn *txn, const site *s, double part,
                             kiln_tear_report *report)
{
    const kiln_tear_how how = {.pull = pull_at,
                               .across = across_at,
                               .hand_on = hand_on,
                               .may = may_cut,
                               .user = t,
                               .stress = 1.0,
                               .least = LEAST_AREA * t->state.edge * t->state.edge,
                               .most = MOST_CUT,
                               .quality = LEAST_QUALITY * t->world->scene->remesh.quality,
                               .part = part * t->settings->gap,
                               .tag = tag_beside(txn->mesh, s->tet),
                               .may_go = may_go,
                               .going = t};
    uint32_t since = txn->mesh->clock;
    bool clear = false;
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = kiln_tear(&inner, s->tet, &how, report);
    if (verdict == KILN_ACCEPTED &&
        (kiln_solid_is_clear(t->world->solid, since, false, &clear, NULL, NULL) != KILN_OK ||
         !clear))
        verdict = KILN_REFUSED_JUDGED;
    return kiln_txn_settle(&inner, verdict);
}

/* What has torn in a step. */
typedef struct torn {
    tear *tear;
    uint64_t count;
    double area; /* m^2, of one side */
} torn;

/* A part tears once in a step: then its stress is another. */
static kiln_verdict tear_all(void *user, kiln_txn *txn, bool *changed)
{
    torn *sum = user;
    tear *t = sum->tear;
    t->parts.count = 0;
    for (size_t i = 0, tried = 0; i < t->sites.count; i++, tried++) {
        const site *s = &t->sites.data[i];
        bool done = tried > MOST_TRIED;
        for (size_t k = 0; k < t->parts.count; k++)
            done |= t->parts.data[k] == s->part;
        kiln_verdict verdict = KILN_REFUSED_JUDGED;
        kiln_tear_report report;
        for (int k = 0; k < PARTINGS && !done && verdict != KILN_ACCEPTED; k++)
            if ((verdict = try_tear(t, txn, s, PARTED[k], &report)) == KILN_REFUSED_MEMORY)
                return verdict;
        if (verdict != KILN_ACCEPTED)
            continue;
        if (kiln_array_push(t->world->context, &t->parts, s->part, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        tried = 0;
        t->goes_on |= !report.apart;
        sum->count += 1;
        sum->area += report.area;
        *changed = true;
    }
    return KILN_ACCEPTED;
}

static kiln_status change_mesh(tear *t, kiln_error *error)
{
    kiln_world *world = t->world;
    torn sum = {.tear = t};
    bool changed;
    const kiln_pass pass = {.user = &sum, .changes = &t->changes, .change = tear_all};
    KILN_TRY(kiln_pass_make(world, &pass, &changed, error));
    if (!changed)
        return KILN_OK;
    t->state.tears += sum.count;
    t->state.area += sum.area;
    t->state.rest = 1;
    /* What bdf2 remembers is of parts that were one. */
    world->state.clock.h_before = 0.0;
    kiln_log(world->context, KILN_LOG_INFO, "liquid tears at %llu places, %.3g m^2, at %.6g s",
             (unsigned long long)sum.count, sum.area, world->state.clock.time);
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    tear *t = self;
    bool quiet;
    (void)moment;
    t->goes_on = false;
    KILN_TRY(is_quiet(t, &quiet, error));
    if (quiet)
        return KILN_OK;
    KILN_TRY(prepare(t, error));
    KILN_TRY(find_sites(t, error));
    if (t->sites.count > 0) {
        KILN_TRY(write_stress(t, error));
        KILN_TRY(change_mesh(t, error));
    }
    return forget(t, error);
}

static void *state(void *self, size_t *size)
{
    tear *t = self;
    *size = sizeof t->state;
    return &t->state;
}

static void measure(const void *self, kiln_stats *stats)
{
    const tear *t = self;
    stats->tears = (double)t->state.tears;
    stats->torn_area = t->state.area;
}

const kiln_module kiln_module_tear = {.name = "tear",
                                      .schema = &tear_schema,
                                      .create = create,
                                      .destroy = destroy,
                                      .after_step = after_step,
                                      .state = state,
                                      .measure = measure};

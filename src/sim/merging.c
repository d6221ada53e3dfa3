/* The module that makes liquid one with liquid, and with itself, where surfaces have come nearer
 * than remesh.merge says (topology/gap.h). The gap between them becomes tets without mass or rest
 * volume: nothing else changes, so mass, rest volume, momentum, angular momentum and the energy of
 * motion are what they were to the last bit, and that of the surface is less. Repairs follow in the
 * pass after it, and hand mass on. Its cost is that of finding where surfaces are near, which
 * follows the surface, and of the tets put in.
 *
 * Where that cannot be done for some steps, the bodies concerned get a new mesh (remesh_domain.c).
 */
#include "sim/merging.h"
#include "base/clock.h"
#include "fem/offset.h"
#include "geom/tet_quality.h"
#include "mesh/surface.h"
#include "mesh/walk.h"
#include "remesh/nearby.h"
#include "sim/pass.h"
#include "sim/remeshing.h"
#include "topology/assign.h"
#include "topology/gap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the gap at which surfaces become one, how wide what is filled may be: that after which the
 * worst tet is best. */
static const double WIDTH[] = {1.2, 2.0, 3.0};
enum { WIDTHS = sizeof WIDTH / sizeof WIDTH[0] };
/* Cosine between the normals of two faces with an edge in common, where there is a valley. */
static const double VALLEY = -0.5;
/* Of the surface that goes, what may come before the gap is closed. */
static const double MOST_AREA = 4.0;
/* Of the quality that is asked for, what tets must have then: repairs follow. */
static const double LEAST = 0.35;
/* Of their rest volume, what the parts that become one may have too much with it. */
static const double MOST_VOLUME = 4e-3;
/* Steps, as long as the scene would have them, that something faces something in vain before it is
 * left to a new mesh, and that it is left. */
enum { PATIENCE = 6, LEFT = 2 };
/* Tets of bodies a new mesh of which costs no more than some steps. */
enum { SMALL = 4000 };

typedef struct merging {
    kiln_world *world;
    kiln_nearby nearby;
    KILN_ARRAY_OF(uint8_t)
    candidate; /* [part] all of it is liquid */
    KILN_ARRAY_OF(uint8_t)
    near;                /* [vertex slot] faces something */
    kiln_u32_array seen; /* vertices that were looked at */
    kiln_f64_array room; /* [part] m^3 that it may have more */
    kiln_u32_array body; /* [part] the lowest of those that it has become one with */
    KILN_ARRAY_OF(kiln_merged_body)
    merged;
    kiln_remesh_work work; /* of the last step */
    bool facing;           /* across a gap, not only in a valley */
    bool crowded;          /* a gap had too much room in this step */
    kiln_changes changes;
    struct {
        uint64_t merges; /* so far */
        double waited;   /* steps in vain */
    } state;
} merging;

typedef struct tally {
    merging *merging;
    size_t merges, tets;
    double volume;
} tally;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene_remesh *remesh = &world->scene->remesh;
    if (remesh->method != KILN_REMESH_LOCAL || !(remesh->merge > 0.0) ||
        !kiln_scene_has_liquid(world->scene) || world->space != KILN_SPACE_WORLD || !world->moves)
        return KILN_OK;
    merging *m = kiln_module_make(world, sizeof *m, self, error);
    if (!m)
        return KILN_ERR_MEMORY;
    m->world = world;
    return KILN_OK;
}

static void destroy(void *self)
{
    merging *m = self;
    kiln_context *context = m->world->context;
    kiln_nearby_free(context, &m->nearby);
    kiln_array_free(context, &m->candidate);
    kiln_array_free(context, &m->near);
    kiln_array_free(context, &m->seen);
    kiln_array_free(context, &m->room);
    kiln_array_free(context, &m->body);
    kiln_array_free(context, &m->merged);
    kiln_changes_free(context, &m->changes);
}

/* A skin round water is not to become one with another, nor what is only partly molten. */
static kiln_status find_candidates(merging *m, kiln_error *error)
{
    const kiln_mesh *mesh = m->world->mesh;
    size_t parts = mesh->parts.count;
    const double *rest = kiln_world_column(m->world, KILN_ON_TET, KILN_FIELD_REST_VOLUME);
    KILN_TRY(kiln_array_reserve(m->world->context, &m->candidate, parts + 1, error));
    KILN_TRY(kiln_array_reserve(m->world->context, &m->room, parts + 1, error));
    KILN_TRY(kiln_array_reserve(m->world->context, &m->body, parts + 1, error));
    for (size_t p = 0; p < parts; p++)
        m->body.data[p] = mesh->parts.data[p].body;
    m->body.count = parts;
    memset(m->candidate.data, 1, parts);
    memset(m->room.data, 0, parts * sizeof(double));
    const uint32_t *material = kiln_world_material_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        uint32_t part = mesh->info[t].part;
        m->candidate.data[part] &= m->world->materials[material[t]].liquid;
        const uint32_t *v = mesh->tet[t].v;
        double now = kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
        m->room.data[part] += (1.0 + MOST_VOLUME) * (rest ? rest[t] : now) - now;
    }
    return KILN_OK;
}

static int nearest_first(const void *p, const void *q)
{
    const kiln_facing *a = p, *b = q;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

static uint32_t part_of(const kiln_mesh *mesh, uint32_t face)
{
    return mesh->info[mesh->face[face].at / 4].part;
}

static void corners_of(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

static kiln_vec3 normal_of(const kiln_mesh *mesh, const uint32_t v[3])
{
    const kiln_vec3 *x = mesh->x;
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]])));
}

/* A face that looks back at one with which it has an edge in common: the corner of the one and the
 * other face each other. */
static kiln_status look_at_valley(merging *m, uint32_t face, const uint32_t v[3], int k,
                                  kiln_error *error)
{
    const kiln_mesh *mesh = m->world->mesh;
    uint32_t other = kiln_surface_across(mesh, face, v[k], v[(k + 1) % 3]), w[3], apex = KILN_NONE;
    corners_of(mesh, other, w);
    kiln_vec3 normal = normal_of(mesh, v);
    for (int i = 0; i < 3; i++)
        apex = w[i] != v[k] && w[i] != v[(k + 1) % 3] ? w[i] : apex;
    if (apex == KILN_NONE || !(kiln_v3_dot(normal, normal_of(mesh, w)) < VALLEY) ||
        !(kiln_v3_dot(kiln_v3_sub(mesh->x[apex], mesh->x[v[k]]), normal) > 0.0))
        return KILN_OK;
    for (int i = 0; i < 3; i++)
        m->near.data[v[i]] = m->near.data[w[i]] = 1;
    kiln_facing facing = {apex, face, 1.0}; /* after what is nearer than an edge */
    return kiln_array_push(m->world->context, &m->nearby.sights, facing, error);
}

/* Sharp valleys are gaps as well: sides that close are one a moment later. */
static kiln_status find_valleys(merging *m, kiln_error *error)
{
    const kiln_mesh *mesh = m->world->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[3];
        if (!kiln_face_live(mesh, f) || !m->candidate.data[part_of(mesh, f)])
            continue;
        corners_of(mesh, f, v);
        for (int k = 0; k < 3; k++)
            KILN_TRY(look_at_valley(m, f, v, k, error));
    }
    return KILN_OK;
}

static kiln_status look(merging *m, kiln_error *error)
{
    const kiln_mesh *mesh = m->world->mesh;
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(find_candidates(m, error));
    KILN_TRY(kiln_nearby_find(mesh, KILN_SPACE_WORLD, m->world->scene->remesh.merge,
                              m->candidate.data, &m->nearby, error));
    KILN_TRY(kiln_array_reserve(m->world->context, &m->near, rows + 1, error));
    memset(m->near.data, 0, rows);
    for (size_t i = 0; i < m->nearby.sights.count; i++)
        m->near.data[m->nearby.sights.data[i].vertex] = 1;
    m->facing = m->nearby.sights.count > 0;
    KILN_TRY(find_valleys(m, error));
    if (m->nearby.sights.count > 1)
        qsort(m->nearby.sights.data, m->nearby.sights.count, sizeof *m->nearby.sights.data,
              nearest_first);
    return KILN_OK;
}

static uint32_t part_of_vertex(const kiln_mesh *mesh, uint32_t vertex)
{
    return mesh->info[mesh->vertex[vertex].tet].part;
}

/* Whether something holds a corner of what was put in, or an obstacle. */
static bool is_held(const merging *m, uint32_t vertex)
{
    kiln_solid *solid = m->world->solid;
    if (vertex >= kiln_solid_constraints(solid)->rows)
        return false;
    const kiln_held held = kiln_constraints_held(kiln_solid_constraints(solid), vertex);
    return held.count > 0;
}

/* m^3, of what is put in. */
static double room_for(const merging *m, const kiln_facing *facing)
{
    const kiln_mesh *mesh = m->world->mesh;
    uint32_t a = part_of_vertex(mesh, facing->vertex), b = part_of(mesh, facing->face);
    return m->room.data[a] + (a == b ? 0.0 : m->room.data[b]);
}

static bool is_small(const merging *m, const kiln_facing *facing)
{
    const kiln_mesh *mesh = m->world->mesh;
    uint32_t a = part_of_vertex(mesh, facing->vertex), b = part_of(mesh, facing->face);
    return mesh->parts.data[a].tets + (a == b ? 0 : mesh->parts.data[b].tets) <= SMALL;
}

/* Of tets that have changed since. */
static double worst_of(const kiln_mesh *mesh, uint32_t since)
{
    double worst = 1.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *x = mesh->x;
        if (kiln_tet_live(mesh, t) && mesh->info[t].changed > since)
            worst = fmin(worst, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
    }
    return worst;
}

/* Kept if no tet about it comes out worse than `least`, or only tried; the worst is told. */
static kiln_verdict try_width(merging *m, kiln_txn *txn, const kiln_facing *facing, double width,
                              bool keep, double *least, kiln_gap_report *report)
{
    const kiln_gap gap = {.vertex = facing->vertex,
                          .face = facing->face,
                          .near = m->near.data,
                          .part = width * m->world->scene->remesh.merge,
                          .most_area = MOST_AREA};
    const kiln_mesh *mesh = txn->mesh;
    double room = room_for(m, facing);
    uint32_t since = mesh->clock;
    double area = kiln_mesh_surface_area(mesh), volume = kiln_mesh_volume(mesh);
    bool clear = true, small = is_small(m, facing); /* the face may go */
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    m->seen.count = 0;
    kiln_verdict verdict = kiln_gap_fill(&inner, &gap, &m->seen, report);
    if (verdict == KILN_ACCEPTED) {
        report->volume = kiln_mesh_volume(mesh) - volume;
        m->crowded |= report->volume > room && small;
    }
    double worst = verdict == KILN_ACCEPTED ? worst_of(mesh, since) : 0.0;
    if (verdict == KILN_ACCEPTED &&
        (report->volume > room || kiln_mesh_surface_area(mesh) > area ||
         kiln_solid_is_clear(m->world->solid, since, false, &clear, NULL, NULL) != KILN_OK ||
         !clear || worst < *least))
        verdict = KILN_REFUSED_JUDGED;
    if (verdict == KILN_ACCEPTED && !keep) {
        *least = worst;
        kiln_txn_rollback(&inner);
        return KILN_ACCEPTED;
    }
    return kiln_txn_settle(&inner, verdict);
}

static void join(merging *m, uint32_t a, uint32_t b)
{
    for (size_t p = 0; p < m->body.count; p++)
        if (m->body.data[p] == a || m->body.data[p] == b)
            m->body.data[p] = a < b ? a : b;
}

static kiln_verdict try_sight(merging *m, kiln_txn *txn, const kiln_facing *facing, tally *sum)
{
    kiln_gap_report report;
    kiln_verdict verdict = KILN_REFUSED_JUDGED;
    uint32_t part = part_of(txn->mesh, facing->face); /* which may go */
    uint32_t other = part_of_vertex(txn->mesh, facing->vertex);
    double least = LEAST * m->world->scene->remesh.quality;
    int best = WIDTHS;
    for (int w = 0; w < WIDTHS; w++) {
        verdict = try_width(m, txn, facing, WIDTH[w], false, &least, &report);
        if (verdict == KILN_REFUSED_MEMORY)
            return verdict;
        best = verdict == KILN_ACCEPTED ? w : best;
    }
    if (best < WIDTHS)
        verdict = try_width(m, txn, facing, WIDTH[best], true, &least, &report);
    if (verdict == KILN_REFUSED_MEMORY)
        return verdict;
    for (size_t i = 0; i < m->seen.count; i++) /* once in a step */
        m->near.data[m->seen.data[i]] = 0;
    m->near.data[facing->vertex] = 0;
    if (verdict != KILN_ACCEPTED)
        return KILN_ACCEPTED;
    sum->merges++;
    sum->tets += report.tets;
    sum->volume += report.volume;
    m->room.data[part] -= report.volume;
    join(m, m->body.data[part], m->body.data[other]);
    return KILN_ACCEPTED;
}

/* What was put in in this step is of parts that are not settled yet. */
static bool is_as_before(const merging *m, const kiln_facing *facing)
{
    const kiln_mesh *mesh = m->world->mesh;
    return kiln_vertex_live(mesh, facing->vertex) && kiln_face_live(mesh, facing->face) &&
           part_of(mesh, facing->face) < m->body.count &&
           part_of_vertex(mesh, facing->vertex) < m->body.count;
}

/* Before parts are settled: bodies as they were, and what they are now. */
static kiln_status list_merged(merging *m, kiln_error *error)
{
    const kiln_mesh *mesh = m->world->mesh;
    m->merged.count = 0;
    for (size_t p = 0; p < m->body.count; p++) {
        kiln_merged_body merged = {mesh->parts.data[p].body, m->body.data[p]};
        if (merged.from != merged.into)
            KILN_TRY(kiln_array_push(m->world->context, &m->merged, merged, error));
    }
    return KILN_OK;
}

static kiln_verdict merge_all(void *user, kiln_txn *txn, bool *changed)
{
    tally *sum = user;
    merging *m = sum->merging;
    for (size_t i = 0; i < m->nearby.sights.count; i++) {
        const kiln_facing *facing = &m->nearby.sights.data[i];
        if (!m->near.data[facing->vertex] || !is_as_before(m, facing) || is_held(m, facing->vertex))
            continue;
        kiln_verdict verdict = try_sight(m, txn, facing, sum);
        if (verdict != KILN_ACCEPTED)
            return verdict;
    }
    *changed = sum->merges > 0;
    return list_merged(m, NULL) == KILN_OK ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
}

static kiln_verdict join_bodies(void *user, kiln_transfer_options *transfer)
{
    const merging *m = ((const tally *)user)->merging;
    kiln_mesh *mesh = m->world->mesh;
    const kiln_field *body = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_BODY);
    transfer->merged = m->merged.data;
    transfer->merged_count = m->merged.count;
    kiln_txn txn = kiln_txn_begin(mesh);
    if (!txn.depth)
        return KILN_REFUSED_MEMORY;
    return kiln_txn_settle(
        &txn, kiln_parts_join_bodies(&txn, (const uint32_t *)(const void *)body->data));
}

static kiln_status merge(merging *m, tally *sum, kiln_error *error)
{
    kiln_world *world = m->world;
    double started = kiln_wall_seconds();
    bool changed;
    const kiln_pass pass = {
        .user = sum, .changes = &m->changes, .change = merge_all, .settled = join_bodies};
    KILN_TRY(kiln_pass_make(world, &pass, &changed, error));
    if (!changed)
        return KILN_OK;
    m->state.merges += sum->merges;
    m->work.remesh_seconds = kiln_wall_seconds() - started;
    /* What bdf2 remembers is of parts that were two. */
    world->state.clock.h_before = 0.0;
    kiln_log(world->context, KILN_LOG_INFO,
             "liquid merges in %zu places at %.6g s: %zu tets between what was there, %.3g m^3, "
             "%.2g s",
             sum->merges, world->state.clock.time, sum->tets, sum->volume, m->work.remesh_seconds);
    return KILN_OK;
}

/* Steps in vain. Of what is so small that the gap is too much of it a new mesh costs little: that
 * need not wait. */
static double waited(const merging *m, const tally *sum, double steps)
{
    double before = m->state.waited;
    return sum->merges > 0 || !m->facing ? 0.0
           : before >= PATIENCE + LEFT   ? 0.0
           : m->crowded                  ? fmax(PATIENCE, before + fmin(1.0, steps))
                                         : before + fmin(1.0, steps);
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    merging *m = self;
    tally sum = {.merging = m};
    m->crowded = false;
    m->work = (kiln_remesh_work){0};
    double started = kiln_wall_seconds();
    KILN_TRY(look(m, error));
    m->work.size_seconds = kiln_wall_seconds() - started;
    if (m->nearby.sights.count == 0) {
        m->state.waited = 0.0;
        return KILN_OK;
    }
    KILN_TRY(merge(m, &sum, error));
    m->state.waited = waited(m, &sum, (moment->end - moment->begin) / m->world->scene->pace.dt);
    return KILN_OK;
}

static void measure(const void *self, kiln_stats *stats)
{
    const merging *m = self;
    if (m->world->state.step > 0)
        kiln_remesh_measure(&m->work, stats);
}

static void *state(void *self, size_t *size)
{
    merging *m = self;
    *size = sizeof m->state;
    return &m->state;
}

const kiln_module kiln_module_merging = {.name = "merging",
                                         .create = create,
                                         .destroy = destroy,
                                         .after_step = after_step,
                                         .state = state,
                                         .measure = measure};

bool kiln_merging_is_left(const kiln_world *world)
{
    const merging *m = kiln_world_module(world, &kiln_module_merging);
    return !m || m->state.waited >= PATIENCE;
}

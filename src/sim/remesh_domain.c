/* The module of whole-domain remeshing (VPF 4): when flow has made basis matrices bad, or bodies
 * that flow have come so near that they are to be one, the parts concerned get a new mesh. With
 * local remeshing, which sees to the sizes, only the latter.
 *
 * Rest shapes are all a tet knows of its past (u = x), so what does not flow keeps its basis
 * matrices for ever: parts that cannot yield are never touched, and keep their bits. In between,
 * single tets that became bad in the world are repaired by local operators. */
#include "base/clock.h"
#include "base/parallel.h"
#include "fem/offset.h"
#include "geom/tet_quality.h"
#include "mesh/divide.h"
#include "mesh/reorder.h"
#include "mesh/rewind.h"
#include "remesh/domain.h"
#include "remesh/nearby.h"
#include "remesh/transfer.h"
#include "sim/keep_energy.h"
#include "sim/remeshing.h"
#include "topology/assign.h"
#include "topology/crossing.h"
#include "topology/features.h"

#include <math.h>
#include <string.h>

#define KILN_FIELD_CONDITION "basis_condition"

/* Steps without another look after a remesh that merged, and at most after one that did not help.
 */
enum { GRAIN = 1024, MERGE_REST = 8, FAILURE_REST = 16, REFUSAL_REST = 4, LONGEST_REST = 64 };
enum { BATCH = 512 };
/* What a new mesh may have more or less of the volume: all of that is stretch. Flat sides that
 * merge across a gap have more; they are let come nearer first. */
static const double SAME_VOLUME = 2e-4;
/* Edges of bodies that flow are features no longer when they turn by less; radians. */
static const double BLUNT = 0.52;
/* A remesh is worth its price when it brings the worst condition below this part of the limit. */
static const double HELPED = 0.8;

typedef enum cause { CAUSE_NONE, CAUSE_CONDITION, CAUSE_CHANGE, CAUSE_SHAPE, CAUSE_MERGE } cause;
static const char *const cause_names[] = {"", "ill-conditioned", "changed much", "ill-shaped",
                                          "merging"};
/* Tets below this part of the quality asked for are too many or too bad to be repaired one by one.
 */
static const double ILL_SHAPED = 0.8;

typedef struct domain_state {
    uint64_t remeshes;                /* so far */
    uint64_t remesh_from, merge_from; /* steps before which none is looked for */
    uint64_t remesh_rest;             /* steps that the last one was allowed to rest */
} domain_state;

typedef struct domain {
    kiln_world *world;
    const kiln_scene_remesh *settings;
    domain_state state;
    kiln_remesh_work work; /* of the last step */
} domain;

typedef struct look {
    domain *domain;
    kiln_world *world;
    kiln_f64_array condition; /* [tet slot] now */
    KILN_ARRAY_OF(uint8_t)
    flows;                /* [part] it may be remeshed */
    kiln_u32_array group; /* [part] lowest part it hangs together with by being near */
    KILN_ARRAY_OF(uint8_t)
    due; /* [part] its group is remeshed */
    kiln_nearby nearby;
    cause why;
    double worst_condition, worst_quality;
} look;

/* Condition number of the basis matrix Dr^-1, measured against the regular tet: 1 is best. With
 * Dm = Pi Dr and J the map from the regular tet to the material one, (J' G^-1 J)^(1/2) is that from
 * the regular tet to the rest shape, but for a turn. */
static double basis_condition(const kiln_mesh *mesh, const kiln_sym3 *shape, uint32_t t)
{
    const uint32_t *v = mesh->tet[t].v;
    const kiln_vec3 *u = mesh->u;
    kiln_vec3 a = kiln_v3_sub(u[v[1]], u[v[0]]), b = kiln_v3_sub(u[v[2]], u[v[0]]);
    kiln_vec3 c = kiln_v3_sub(u[v[3]], u[v[0]]);
    kiln_vec3 second = kiln_v3_scale(kiln_v3_madd(b, -0.5, a), 2.0 / sqrt(3.0));
    kiln_vec3 third = kiln_v3_madd(kiln_v3_madd(c, -0.5, a), -1.0 / sqrt(12.0), second);
    kiln_mat3 J = kiln_m3_columns(a, second, kiln_v3_scale(third, sqrt(1.5)));
    kiln_mat3 inverse = kiln_m3_inverse(kiln_sym3_to_mat3(*shape));
    kiln_mat3 square = kiln_m3_mul(kiln_m3_transpose(J), kiln_m3_mul(inverse, J));
    kiln_eigen3 eigen = kiln_sym3_eigen(kiln_sym3_from_mat3(square));
    return eigen.values[2] > 0.0 ? sqrt(eigen.values[0] / eigen.values[2]) : INFINITY;
}

typedef struct measuring {
    const kiln_mesh *mesh;
    const kiln_sym3 *shape;
    double *condition;
} measuring;

static void condition_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const measuring *m = user;
    for (uint32_t t = (uint32_t)begin; t < end; t++)
        if (kiln_tet_live(m->mesh, t))
            m->condition[t] = basis_condition(m->mesh, &m->shape[t], t);
}

static void find_conditions(const kiln_mesh *mesh, double *condition)
{
    measuring m = {mesh, kiln_offsets_of(mesh).shape, condition};
    kiln_parallel_for(mesh->context, mesh->table[KILN_ON_TET].used, GRAIN, condition_chunk, &m);
}

static double *noted_condition(const kiln_mesh *mesh)
{
    return (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_CONDITION)->data;
}

static uint32_t *column_u32(const kiln_mesh *mesh, const char *name)
{
    return (uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, name)->data;
}

/* flows[part]: some of its matter does. */
static void find_parts_that_flow(const kiln_world *world, uint8_t *flows)
{
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = column_u32(mesh, KILN_FIELD_MATERIAL);
    memset(flows, 0, mesh->parts.count);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            flows[mesh->info[t].part] |=
                world->scene->materials.data[material[t]].base.plastic.flows;
}

/* Bodies that merge may have files with the same tags but other materials: regions are to keep
 * those apart. Repairs in the world would cost elastic matter its exact return. */
static kiln_verdict mark_matter(kiln_txn *txn, const uint8_t *flows, bool lock)
{
    kiln_verdict verdict = kiln_regions_divide(txn, column_u32(txn->mesh, KILN_FIELD_MATERIAL));
    return verdict == KILN_ACCEPTED && lock ? kiln_parts_lock(txn, flows) : verdict;
}

static bool is_global(const kiln_scene_remesh *settings)
{
    return settings->method == KILN_REMESH_GLOBAL;
}

static kiln_status prepare(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_ARRAY_OF(uint8_t)
    flows = {0};
    KILN_TRY(kiln_array_reserve(world->context, &flows, mesh->parts.count, error));
    find_parts_that_flow(world, flows.data);
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict =
        txn.depth
            ? kiln_txn_settle(&txn, mark_matter(&txn, flows.data, is_global(&world->scene->remesh)))
            : KILN_REFUSED_MEMORY;
    kiln_array_free(world->context, &flows);
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

/* Sizes that give each part as many tets as it has, at the vertices, where matter carries them
 * along: sizes taken from the present edges again and again would wander off. */
static kiln_status note_sizes(kiln_world *world, kiln_error *error)
{
    double unused;
    KILN_TRY(kiln_remesh_note_sizes(world, &unused, error));
    const kiln_mesh *mesh = world->mesh;
    double *size =
        (double *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_START_SIZE)->data;
    kiln_f64_array expected = {0};
    KILN_TRY(kiln_array_reserve(world->context, &expected, mesh->parts.count, error));
    memset(expected.data, 0, mesh->parts.count * sizeof(double));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        double mean = 0.25 * (size[v[0]] + size[v[1]] + size[v[2]] + size[v[3]]);
        expected.data[mesh->info[t].part] +=
            KILN_DOMAIN_TETS_IN_CUBE * kiln_mesh_tet_volume(mesh, t) / (mean * mean * mean);
    }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        uint32_t part = mesh->info[mesh->vertex[v].tet].part;
        size[v] *= cbrt(expected.data[part] / mesh->parts.data[part].tets);
    }
    kiln_array_free(world->context, &expected);
    return KILN_OK;
}

static kiln_status add_history(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_CONDITION, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_AVERAGE, error));
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_BODY, KILN_ON_TET, KILN_U32, 1, KILN_RULE_COPY,
                                 error));
    uint32_t *body = column_u32(mesh, KILN_FIELD_BODY);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        body[t] = mesh->parts.data[mesh->info[t].part].body;
    KILN_TRY(prepare(world, error));
    if (is_global(&world->scene->remesh)) /* else sizes are what local remeshing makes them */
        KILN_TRY(note_sizes(world, error));
    find_conditions(mesh, noted_condition(mesh));
    return KILN_OK;
}

/* Why a tet asks for a new mesh. */
static cause judge(const look *l, uint32_t t)
{
    const kiln_scene_remesh *remesh = l->domain->settings;
    double condition = l->condition.data[t];
    if (condition > remesh->condition)
        return CAUSE_CONDITION;
    if (condition > remesh->condition_change * noted_condition(l->world->mesh)[t])
        return CAUSE_CHANGE;
    const kiln_vec3 *x = l->world->mesh->x;
    const uint32_t *v = l->world->mesh->tet[t].v;
    double least = ILL_SHAPED * remesh->quality;
    return l->worst_quality < least &&
                   kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]) < least
               ? CAUSE_SHAPE
               : CAUSE_NONE;
}

static void measure_all(look *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    find_conditions(mesh, l->condition.data);
    double quality[BATCH];
    l->worst_condition = 1.0;
    l->worst_quality = 1.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t left = mesh->table[KILN_ON_TET].used - t;
        if (t % BATCH == 0)
            kiln_tet_quality_batch(mesh->context->isa, left < BATCH ? left : BATCH, NULL,
                                   mesh->tet[t].v, sizeof(kiln_tet), mesh->x, quality);
        if (!l->flows.data[mesh->info[t].part])
            continue;
        l->worst_condition = fmax(l->worst_condition, l->condition.data[t]);
        l->worst_quality = fmin(l->worst_quality, quality[t % BATCH]);
    }
}

static void find_bad_parts(look *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t part = mesh->info[t].part;
        cause why = l->flows.data[part] ? judge(l, t) : CAUSE_NONE;
        if (why == CAUSE_NONE)
            continue;
        l->due.data[part] = 1;
        if (l->why == CAUSE_NONE || why < l->why)
            l->why = why;
    }
}

static uint32_t root(const look *l, uint32_t part)
{
    while (l->group.data[part] != part)
        part = l->group.data[part];
    return part;
}

static void join(const look *l, const kiln_bvh_pair_array *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = root(l, pairs->data[i].a), b = root(l, pairs->data[i].b);
        l->group.data[a < b ? b : a] = a < b ? a : b;
    }
}

/* Parts that face each other across a gap are due; those that are merely close are remeshed along,
 * lest new surfaces come to lie across each other. */
static kiln_status find_near_parts(look *l, bool ask, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    KILN_TRY(kiln_nearby_find(mesh, KILN_SPACE_WORLD, l->domain->settings->merge, l->flows.data,
                              &l->nearby, error));
    const kiln_bvh_pair_array *facing = &l->nearby.facing;
    if (facing->count > 0 && ask && l->why == CAUSE_NONE)
        l->why = CAUSE_MERGE;
    for (size_t i = 0; i < facing->count; i++)
        l->due.data[facing->data[i].a] |= ask;
    join(l, facing);
    join(l, &l->nearby.close);
    return KILN_OK;
}

/* Every part of a group is due when one is, and knows its group. */
static void spread(look *l)
{
    size_t parts = l->world->mesh->parts.count;
    for (uint32_t p = 0; p < parts; p++)
        if (l->due.data[p])
            l->due.data[root(l, p)] = 1;
    for (uint32_t p = 0; p < parts; p++) {
        l->group.data[p] = root(l, p);
        l->due.data[p] = l->due.data[l->group.data[p]];
    }
}

/* Which parts flow, and how good their tets are. */
static kiln_status take_stock(look *l, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    kiln_context *context = l->world->context;
    size_t parts = mesh->parts.count;
    KILN_TRY(kiln_array_reserve(context, &l->condition, mesh->table[KILN_ON_TET].used, error));
    KILN_TRY(kiln_array_reserve(context, &l->flows, parts, error));
    find_parts_that_flow(l->world, l->flows.data);
    measure_all(l);
    return KILN_OK;
}

static kiln_status look_around(look *l, kiln_error *error)
{
    kiln_world *world = l->world;
    const domain_state *state = &l->domain->state;
    uint64_t step = world->state.step;
    size_t parts = world->mesh->parts.count;
    bool may_merge = l->domain->settings->merge > 0.0 && step >= state->merge_from;
    KILN_TRY(take_stock(l, error));
    KILN_TRY(kiln_array_reserve(world->context, &l->due, parts, error));
    KILN_TRY(kiln_array_reserve(world->context, &l->group, parts, error));
    memset(l->due.data, 0, parts);
    for (uint32_t p = 0; p < parts; p++)
        l->group.data[p] = p;
    if (step >= state->remesh_from && is_global(l->domain->settings))
        find_bad_parts(l);
    if (may_merge || (l->why != CAUSE_NONE && l->domain->settings->merge > 0.0))
        KILN_TRY(find_near_parts(l, may_merge, error));
    spread(l);
    return KILN_OK;
}

/* The rim of what is held or loaded, and of what has a tag of its own, stays. */
static bool same_patch(const kiln_mesh *mesh, uint32_t f, uint32_t g, void *user)
{
    (void)user;
    const kiln_field *sets = kiln_mesh_field(mesh, KILN_ON_FACE, KILN_FIELD_SETS);
    return mesh->face[f].tag == mesh->face[g].tag &&
           (!sets || memcmp(sets->data + (size_t)f * sets->stride,
                            sets->data + (size_t)g * sets->stride, sets->stride) == 0);
}

/* Of a mesh that is not the world's yet. `fresh`: a part made of several belongs to the first of
 * their bodies. */
static kiln_status find_features(kiln_mesh *mesh, bool fresh, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = txn.depth ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_features_forget(&txn, KILN_SPACE_WORLD, BLUNT, same_patch, NULL);
    if (verdict == KILN_ACCEPTED && fresh)
        verdict = kiln_parts_join_bodies(&txn, column_u32(mesh, KILN_FIELD_BODY));
    if (txn.depth)
        verdict = kiln_txn_settle(&txn, verdict);
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

/* Sums over the groups that were remeshed. */
typedef struct tally {
    size_t groups, parts, tets_before, tets_after;
    double volume_before, volume_after, transfer_seconds;
    double energy_before, energy_after; /* of the world */
    KILN_ARRAY_OF(uint8_t)
    fresh; /* [tet of the new mesh] of a part that was remeshed */
} tally;

/* NULL: its tets would be worse than what is asked for, and than the old ones. */
static kiln_status find_good_mesh(const kiln_scene_remesh *remesh, const kiln_mesh *old,
                                  kiln_mesh **out, kiln_domain_report *report, kiln_error *error)
{
    const kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS, .even = KILN_FIELD_EVEN};
    kiln_domain_options options = kiln_domain_default_options();
    if (is_global(remesh)) {
        options.size = remesh->size;
        options.size_field = KILN_FIELD_START_SIZE;
        options.size_min = remesh->size_min;
        options.size_max = remesh->size_max;
    }
    options.gap = remesh->merge;
    options.feature_angle = KILN_PI;
    options.transfer = &transfer;
    options.least = remesh->quality;
    options.most_lost = options.most_gained = SAME_VOLUME;
    return kiln_domain_remesh(old, &options, out, report, error);
}

/* The group's parts become `fresh`. */
static kiln_status take_in(kiln_mesh *fresh, const kiln_domain_report *report, kiln_mesh *whole,
                           tally *sum, kiln_error *error)
{
    KILN_TRY(find_features(fresh, true, error));
    find_conditions(fresh, noted_condition(fresh));
    sum->tets_after += fresh->table[KILN_ON_TET].live;
    sum->volume_before += report->volume_before;
    sum->volume_after += report->volume_after;
    sum->transfer_seconds += report->transfer_seconds;
    return kiln_mesh_append(whole, fresh, error);
}

/* What was to become one has not: parts that face each other are two still. */
static bool is_in_vain(const look *l, const uint8_t *take, const kiln_mesh *old,
                       const kiln_mesh *fresh)
{
    bool folds = false;
    for (size_t i = 0; i < l->nearby.facing.count; i++) {
        const kiln_bvh_pair *pair = &l->nearby.facing.data[i];
        folds |= pair->a == pair->b && take[pair->a];
    }
    return l->why == CAUSE_MERGE && !folds && fresh->parts.count >= old->parts.count;
}

static kiln_status remesh_group(const look *l, const uint8_t *take, kiln_mesh *whole, tally *sum,
                                kiln_error *error)
{
    kiln_domain_report report;
    kiln_mesh *old, *fresh = NULL;
    KILN_TRY(kiln_mesh_extract(l->world->mesh, take, &old, error));
    kiln_status status = find_features(old, false, error);
    if (status == KILN_OK)
        status = find_good_mesh(l->domain->settings, old, &fresh, &report, error);
    if (status == KILN_OK && (!fresh || is_in_vain(l, take, old, fresh)))
        status = kiln_mesh_append(whole, old, error);
    else if (status == KILN_OK) {
        sum->groups++;
        sum->parts += old->parts.count;
        sum->tets_before += old->table[KILN_ON_TET].live;
        status = take_in(fresh, &report, whole, sum, error);
    }
    kiln_mesh_destroy(old);
    kiln_mesh_destroy(fresh);
    return status;
}

/* Rows that came last. */
static kiln_status mark_fresh(const kiln_mesh *whole, bool fresh, tally *sum, kiln_error *error)
{
    size_t rows = whole->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(whole->context, &sum->fresh, rows, error));
    for (size_t t = sum->fresh.count; t < rows; t++)
        sum->fresh.data[t] = fresh;
    sum->fresh.count = rows;
    return KILN_OK;
}

/* The whole world's mesh, with new parts in place of those that are due. */
static kiln_status make_mesh(const look *l, kiln_mesh **out, tally *sum, kiln_error *error)
{
    kiln_context *context = l->world->context;
    size_t parts = l->world->mesh->parts.count;
    KILN_ARRAY_OF(uint8_t)
    take = {0};
    KILN_TRY(kiln_array_reserve(context, &take, parts, error));
    for (size_t p = 0; p < parts; p++)
        take.data[p] = !l->due.data[p];
    kiln_mesh *whole = NULL;
    kiln_status status = kiln_mesh_extract(l->world->mesh, take.data, &whole, error);
    if (status == KILN_OK)
        status = mark_fresh(whole, false, sum, error);
    for (uint32_t g = 0; g < parts && status == KILN_OK; g++) {
        if (!l->due.data[g] || l->group.data[g] != g)
            continue;
        for (size_t p = 0; p < parts; p++)
            take.data[p] = l->group.data[p] == g;
        size_t groups = sum->groups;
        status = remesh_group(l, take.data, whole, sum, error);
        if (status == KILN_OK)
            status = mark_fresh(whole, sum->groups > groups, sum, error);
    }
    kiln_array_free(context, &take);
    if (status == KILN_OK)
        *out = whole;
    else
        kiln_mesh_destroy(whole);
    return status;
}

/* Marks of tets, which have other numbers now. */
static kiln_status renumber(kiln_context *context, const kiln_renumbering *now, tally *sum,
                            kiln_error *error)
{
    KILN_ARRAY_OF(uint8_t)
    fresh = {0};
    KILN_TRY(kiln_array_reserve(context, &fresh, sum->fresh.count, error));
    for (size_t t = 0; t < sum->fresh.count; t++)
        fresh.data[now->row[KILN_ON_TET].data[t]] = sum->fresh.data[t];
    for (size_t t = 0; t < sum->fresh.count; t++)
        sum->fresh.data[t] = fresh.data[t];
    kiln_array_free(context, &fresh);
    return KILN_OK;
}

/* The new mesh takes the place of the world's. */
static kiln_status adopt(kiln_world *world, kiln_mesh *mesh, tally *sum, kiln_error *error)
{
    const kiln_changes all = {.all = true};
    kiln_renumbering now = {0};
    KILN_TRY(kiln_mesh_reorder(mesh, KILN_SPACE_WORLD, &now, error));
    kiln_status status = renumber(world->context, &now, sum, error);
    kiln_renumbering_free(world->context, &now);
    KILN_TRY(status);
    KILN_TRY(kiln_world_carry(world, mesh, error));
    KILN_TRY(kiln_mesh_exchange(world->mesh, mesh, error));
    return kiln_world_changed(world, &all, error);
}

/* Contact keeps surfaces from passing through each other, if they do not to begin with. */
static kiln_status check_crossing(const kiln_world *world, const kiln_mesh *mesh, kiln_error *error)
{
    const kiln_contact_options *contact = &world->options.contact;
    kiln_crossing crossing = {0};
    kiln_among among = kiln_world_among(world);
    if (contact->bodies || contact->self)
        KILN_TRY(
            kiln_surface_find_crossing_among(mesh, KILN_SPACE_WORLD, &among, &crossing, error));
    if (crossing.pairs > 0)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "%zu pairs of faces would pass through each other", crossing.pairs);
    return KILN_OK;
}

/* When to look again: at once after a remesh that helped, ever later after some that did not. */
static void rest(const look *before, const look *after)
{
    domain_state *state = &before->domain->state;
    uint64_t step = before->world->state.step;
    state->remeshes++;
    state->merge_from = step + MERGE_REST;
    if (before->why == CAUSE_MERGE)
        return;
    bool helped = after->worst_condition < HELPED * before->domain->settings->condition;
    state->remesh_rest = helped                                  ? 1
                         : state->remesh_rest == 0               ? 2
                         : state->remesh_rest * 2 < LONGEST_REST ? state->remesh_rest * 2
                                                                 : LONGEST_REST;
    state->remesh_from = step + state->remesh_rest;
}

static void wait(domain *d, uint64_t steps)
{
    d->state.remesh_from = d->state.merge_from = d->world->state.step + steps;
}

/* No new mesh was good enough: matter is elsewhere some steps later. */
static void refuse(domain *d)
{
    wait(d, REFUSAL_REST);
    kiln_log(
        d->world->context, KILN_LOG_INFO,
        "a whole-domain remesh at %.4g s is put off: the new mesh would be worse than the old, of "
        "another volume, or in as many parts",
        d->world->state.clock.time);
}

/* Elastic and of motion, J. */
static double energy_of(const kiln_world *world)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    double elastic = kiln_solid_elastic_energy(world->solid, &mesh->x[0].x);
    if (!v || !world->moves)
        return elastic;
    return elastic + kiln_mass_sums(kiln_solid_mass(world->solid), &mesh->x[0].x,
                                    (const double *)(const void *)v->data)
                         .kinetic;
}

static void report(const look *l, const look *after, const tally *sum, double seconds)
{
    const kiln_world *world = l->world;
    kiln_remesh_work *work = &l->domain->work;
    work->changed = sum->tets_before;
    work->worst = after->worst_quality;
    work->transfer_seconds += sum->transfer_seconds;
    work->remesh_seconds += seconds - sum->transfer_seconds;
    kiln_log(world->context, KILN_LOG_INFO,
             "whole-domain remesh %llu at %.4g s (%s): %zu parts, %zu tets become %zu, volume "
             "%+.3g %%, energy %+.3g %%, condition %.3g to %.3g, quality %.2f to %.2f, %.2f s",
             (unsigned long long)l->domain->state.remeshes, world->state.clock.time,
             cause_names[l->why], sum->parts, sum->tets_before, sum->tets_after,
             100.0 * (sum->volume_after / sum->volume_before - 1.0),
             100.0 * (sum->energy_after / sum->energy_before - 1.0), l->worst_condition,
             after->worst_condition, l->worst_quality, after->worst_quality, seconds);
}

static void free_look(look *l)
{
    kiln_context *context = l->world->context;
    kiln_array_free(context, &l->condition);
    kiln_array_free(context, &l->flows);
    kiln_array_free(context, &l->due);
    kiln_array_free(context, &l->group);
    kiln_nearby_free(context, &l->nearby);
}

/* Once the new mesh has been found to be one that can be had. */
static kiln_status take(const look *l, kiln_mesh *mesh, tally *sum, double started,
                        kiln_error *error)
{
    look after = {.domain = l->domain, .world = l->world};
    sum->energy_before = energy_of(l->world);
    kiln_status status = adopt(l->world, mesh, sum, error);
    if (status == KILN_OK)
        status = kiln_energy_keep(l->world, sum->fresh.data, sum->energy_before, energy_of, error);
    if (status == KILN_OK)
        status = take_stock(&after, error);
    if (status == KILN_OK) {
        sum->energy_after = energy_of(l->world);
        rest(l, &after);
        /* Places of the step before are not those of vertices. */
        l->world->state.clock.h_before = 0.0;
        report(l, &after, sum, kiln_wall_seconds() - started);
    }
    free_look(&after);
    return status;
}

/* A mesh that cannot be had is no reason to end the run: the old one still works. Lack of memory
 * is one: the step is to be made again, as it would have been. */
static kiln_status put_off(domain *d, kiln_status status, const kiln_error *why, kiln_error *error)
{
    if (status == KILN_ERR_MEMORY) {
        if (error)
            *error = *why;
        return status;
    }
    kiln_log(d->world->context, KILN_LOG_WARNING,
             "the whole-domain remesh at %.4g s failed (%s); the mesh stays as it is",
             d->world->state.clock.time, why->message);
    wait(d, FAILURE_REST);
    return KILN_OK;
}

static kiln_status remesh(const look *l, kiln_error *error)
{
    domain *d = l->domain;
    double started = kiln_wall_seconds();
    kiln_mesh *mesh = NULL;
    tally sum = {0};
    kiln_error why = {0};
    kiln_status status = make_mesh(l, &mesh, &sum, &why);
    if (status == KILN_OK && sum.groups > 0)
        status = check_crossing(d->world, mesh, &why);
    if (status != KILN_OK)
        status = put_off(d, status, &why, error);
    else if (sum.groups == 0)
        refuse(d);
    else
        status = take(l, mesh, &sum, started, error);
    kiln_mesh_destroy(mesh);
    kiln_array_free(d->world->context, &sum.fresh);
    if (d->work.changed == 0)
        d->work.remesh_seconds += kiln_wall_seconds() - started;
    return status;
}

static void plan(kiln_world *world)
{
    if (!kiln_remesh_joins(&world->scene->remesh))
        return;
    world->remeshes = true;
    world->space = KILN_SPACE_WORLD;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_scene_remesh *settings = &world->scene->remesh;
    if (!kiln_remesh_joins(settings))
        return KILN_OK;
    domain *d = kiln_module_make(world, sizeof *d, self, error);
    if (!d)
        return KILN_ERR_MEMORY;
    d->world = world;
    d->settings = settings;
    if (!world->flows)
        kiln_log(world->context, KILN_LOG_WARNING,
                 "remesh.method = \"global\" makes new meshes of what can yield, and nothing here "
                 "can: bodies keep their meshes and do not merge; give a material plastic, or take "
                 "\"local\"");
    return add_history(world, error);
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    domain *d = self;
    double started = kiln_wall_seconds();
    look l = {.domain = d, .world = d->world};
    d->work = (kiln_remesh_work){0};
    kiln_status status = look_around(&l, error);
    d->work.size_seconds = kiln_wall_seconds() - started;
    if (status == KILN_OK && l.why != CAUSE_NONE)
        status = remesh(&l, error);
    free_look(&l);
    return status;
}

static void *state(void *self, size_t *size)
{
    domain *d = self;
    *size = sizeof d->state;
    return &d->state;
}

static void measure(const void *self, kiln_stats *stats)
{
    const domain *d = self;
    if (d->world->state.step > 0)
        kiln_remesh_measure(&d->work, stats);
}

const kiln_module kiln_module_remesh_domain = {.name = "remesh_domain",
                                               .plan = plan,
                                               .create = create,

                                               .after_step = after_step,
                                               .state = state,
                                               .measure = measure};

uint64_t kiln_world_remeshes(const kiln_world *world)
{
    const domain *d = kiln_world_module(world, &kiln_module_remesh_domain);
    return d ? d->state.remeshes : 0;
}

/* The module of whole-domain remeshing (VPF 4): when flow has made basis matrices bad, or bodies
 * that flow (or are liquid) have come so near that they are to be one, the parts concerned get a
 * new mesh. With local remeshing, which sees to the sizes, only the latter.
 *
 * Rest shapes are all a tet knows of its past (u = x), so what does not flow keeps its basis
 * matrices for ever: parts that cannot yield are never touched, and keep their bits. In between,
 * single tets that became bad in the world are repaired by local operators. */
#include "base/clock.h"
#include "base/parallel.h"
#include "fem/offset.h"
#include "geom/tet_quality.h"
#include "mesh/reorder.h"
#include "mesh/rewind.h"
#include "sim/domain_groups.h"
#include "sim/keep_energy.h"
#include "sim/merging.h"
#include "sim/remeshing.h"
#include "topology/assign.h"

#include <math.h>
#include <string.h>

#define KILN_FIELD_CONDITION "basis_condition"

/* Steps, as long as the scene would have them, without another look after a remesh that merged, and
 * at most after one that did not help. Shorter ones are more of them: contact keeps bodies apart
 * for that long, and a new mesh costs as much as many steps. The crease round a neck of liquid
 * closes within few. */
enum {
    GRAIN = 1024,
    MERGE_REST = 8,
    LIQUID_REST = 2,
    FAILURE_REST = 16,
    REFUSAL_REST = 4,
    LONGEST_REST = 64
};
enum { BATCH = 512 };
static const double MOST_SHORTENED = 0.1;
/* Of the tets of a part, those that may have changed much: in a large one some always have, and new
 * meshes have tets as flat as they are. */
static const double CHANGED = 1e-3;
/* Of the volume: bodies that overlap by more when they become one are worth a word. */
static const double OVERLAP = 1e-3;
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
    double refused;                   /* the worst quality when none was to be had; 0: one was */
} domain_state;

typedef struct domain {
    kiln_world *world;
    const kiln_scene_remesh *settings;
    domain_state state;
    kiln_remesh_work work; /* of the last step */
    double shortened;      /* how many steps like it make one of the scene's; at least 1 */
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

/* flows[part]: some of its matter yields, or all of it is liquid: a skin round water is not to
 * become one with another. */
static void find_parts_that_flow(const kiln_world *world, uint8_t *flows)
{
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = column_u32(mesh, KILN_FIELD_MATERIAL);
    enum { YIELDS = 1, LIQUID = 2, ELASTIC = 4 };
    memset(flows, 0, mesh->parts.count);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t)) {
            const kiln_material *matter = &world->scene->materials.data[material[t]].base;
            flows[mesh->info[t].part] |= matter->plastic.flows ? YIELDS
                                         : matter->liquid      ? LIQUID
                                                               : ELASTIC;
        }
    /* Of what melts no new mesh is made before all of it has: regions do not tell its phases. */
    for (size_t p = 0; p < mesh->parts.count; p++)
        flows[p] =
            ((flows[p] & YIELDS) && !(world->melts && flows[p] & LIQUID)) || flows[p] == LIQUID;
}

/* Bodies that merge may have files with the same tags but other materials: regions are to keep
 * those apart (`kind` [tet slot]). Repairs in the world would cost elastic matter its exact return.
 */
static kiln_verdict mark_matter(kiln_txn *txn, const uint32_t *kind, const uint8_t *flows,
                                bool lock)
{
    kiln_verdict verdict = kiln_regions_divide(txn, kind);
    return verdict == KILN_ACCEPTED && lock ? kiln_parts_lock(txn, flows) : verdict;
}

/* A solid and its melt are of one kind. */
static kiln_status find_kinds(const kiln_world *world, kiln_u32_array *kind, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const uint32_t *material = column_u32(mesh, KILN_FIELD_MATERIAL);
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(world->context, kind, tets + 1, error));
    for (uint32_t t = 0; t < tets; t++) {
        uint32_t melt = kiln_tet_live(mesh, t) ? world->scene->materials.data[material[t]].melt : 0;
        kind->data[t] = melt == 0 ? material[t] : melt - 1;
    }
    return KILN_OK;
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
    kiln_u32_array kind = {0};
    kiln_status status = find_kinds(world, &kind, error);
    kiln_txn txn = status == KILN_OK ? kiln_txn_begin(mesh) : (kiln_txn){0};
    kiln_verdict verdict =
        txn.depth ? kiln_txn_settle(&txn, mark_matter(&txn, kind.data, flows.data,
                                                      is_global(&world->scene->remesh)))
                  : KILN_REFUSED_MEMORY;
    kiln_array_free(world->context, &kind);
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

static void ask_for(look *l, uint32_t part, cause why)
{
    l->due.data[part] = 1;
    if (l->why == CAUSE_NONE || why < l->why)
        l->why = why;
}

static kiln_status find_bad_parts(look *l, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    kiln_u32_array changed = {0};
    KILN_TRY(kiln_array_reserve(l->world->context, &changed, mesh->parts.count, error));
    memset(changed.data, 0, mesh->parts.count * sizeof *changed.data);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t part = mesh->info[t].part;
        cause why = l->flows.data[part] ? judge(l, t) : CAUSE_NONE;
        if (why == CAUSE_CHANGE)
            changed.data[part]++;
        else if (why != CAUSE_NONE)
            ask_for(l, part, why);
    }
    for (uint32_t p = 0; p < mesh->parts.count; p++)
        if (changed.data[p] > CHANGED * mesh->parts.data[p].tets)
            ask_for(l, p, CAUSE_CHANGE);
    kiln_array_free(l->world->context, &changed);
    return KILN_OK;
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

/* While none is looked for tets may become so much worse that another try is due all the same. */
static bool has_become_worse(const look *l)
{
    double refused = l->domain->state.refused;
    return refused > 0.0 &&
           l->worst_quality < ILL_SHAPED * fmin(refused, l->domain->settings->quality);
}

static kiln_status look_around(look *l, kiln_error *error)
{
    kiln_world *world = l->world;
    const domain_state *state = &l->domain->state;
    uint64_t step = world->state.step;
    size_t parts = world->mesh->parts.count;
    bool may_merge = l->domain->settings->merge > 0.0 && step >= state->merge_from &&
                     kiln_merging_is_left(world);
    KILN_TRY(take_stock(l, error));
    KILN_TRY(kiln_array_reserve(world->context, &l->due, parts, error));
    KILN_TRY(kiln_array_reserve(world->context, &l->group, parts, error));
    memset(l->due.data, 0, parts);
    for (uint32_t p = 0; p < parts; p++)
        l->group.data[p] = p;
    if ((step >= state->remesh_from || has_become_worse(l)) && is_global(l->domain->settings))
        KILN_TRY(find_bad_parts(l, error));
    if (may_merge || (l->why != CAUSE_NONE && l->domain->settings->merge > 0.0))
        KILN_TRY(find_near_parts(l, may_merge, error));
    spread(l);
    return KILN_OK;
}

/* Marks of tets, which have other numbers now. */
static kiln_status renumber(kiln_context *context, const kiln_renumbering *now,
                            kiln_domain_tally *sum, kiln_error *error)
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
static kiln_status adopt(kiln_world *world, kiln_mesh *mesh, kiln_domain_tally *sum,
                         kiln_error *error)
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

static uint64_t after(const domain *d, uint64_t steps)
{
    return d->world->state.step + (uint64_t)ceil((double)steps * d->shortened);
}

/* When to look again: at once after a remesh that helped, ever later after some that did not. */
static void rest(const look *before, const look *now)
{
    domain_state *state = &before->domain->state;
    uint64_t step = before->world->state.step;
    state->remeshes++;
    state->refused = 0.0;
    bool liquid = kiln_scene_has_liquid(before->world->scene);
    state->merge_from = after(before->domain, liquid ? LIQUID_REST : MERGE_REST);
    if (before->why == CAUSE_MERGE)
        return;
    bool helped = now->worst_condition < HELPED * before->domain->settings->condition;
    state->remesh_rest = helped                                  ? 1
                         : state->remesh_rest == 0               ? 2
                         : state->remesh_rest * 2 < LONGEST_REST ? state->remesh_rest * 2
                                                                 : LONGEST_REST;
    state->remesh_from = step + state->remesh_rest;
}

static void wait(const look *l, uint64_t steps)
{
    domain_state *state = &l->domain->state;
    state->remesh_from = state->merge_from = after(l->domain, steps);
    state->refused = l->worst_quality;
}

/* No new mesh was good enough: matter is elsewhere some steps later. */
static void refuse(const look *l, bool said)
{
    wait(l, REFUSAL_REST);
    if (!said)
        kiln_log(l->world->context, KILN_LOG_INFO,
                 "a whole-domain remesh at %.4g s is put off: the new mesh would be worse than the "
                 "old, of another volume, or in as many parts",
                 l->world->state.clock.time);
}

/* Of strain and motion, J. */
static double energy_of(const kiln_world *world)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    double elastic = kiln_solid_strain_energy(world->solid, &mesh->x[0].x);
    if (!v || !world->moves)
        return elastic;
    return elastic + kiln_mass_sums(kiln_solid_mass(world->solid), &mesh->x[0].x,
                                    (const double *)(const void *)v->data)
                         .kinetic;
}

static void report(const look *l, const look *after, const kiln_domain_tally *sum,
                   const double energy[2], double seconds)
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
             100.0 * (energy[1] / energy[0] - 1.0), l->worst_condition, after->worst_condition,
             l->worst_quality, after->worst_quality, seconds);
}

static void warn_of_overlap(const kiln_world *world, const kiln_domain_tally *sum)
{
    if (sum->overlap > OVERLAP * sum->volume_before)
        kiln_log(world->context, KILN_LOG_WARNING,
                 "bodies that have become one at %.4g s overlapped by %.3g %% of their volume: so "
                 "much matter is compressed, and has the energy of that; contact = true keeps "
                 "bodies apart until they are one",
                 world->state.clock.time, 100.0 * sum->overlap / sum->volume_before);
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

/* Tets that were made now are to be compared with what they are now. */
static void note_conditions(const look *after, const uint8_t *fresh)
{
    const kiln_mesh *mesh = after->world->mesh;
    double *noted = noted_condition(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (fresh[t])
            noted[t] = after->condition.data[t];
}

/* Once the new mesh has been found to be one that can be had. */
static kiln_status take(const look *l, kiln_mesh *mesh, kiln_domain_tally *sum, double started,
                        kiln_error *error)
{
    look after = {.domain = l->domain, .world = l->world};
    double energy[2] = {energy_of(l->world), 0.0};
    kiln_status status = adopt(l->world, mesh, sum, error);
    if (status == KILN_OK)
        status = kiln_energy_keep(l->world, sum->fresh.data, energy[0], energy_of, error);
    if (status == KILN_OK)
        status = take_stock(&after, error);
    if (status == KILN_OK) {
        energy[1] = energy_of(l->world);
        note_conditions(&after, sum->fresh.data);
        rest(l, &after);
        /* Places of the step before are not those of vertices. */
        l->world->state.clock.h_before = 0.0;
        report(l, &after, sum, energy, kiln_wall_seconds() - started);
        warn_of_overlap(l->world, sum);
    }
    free_look(&after);
    return status;
}

/* A mesh that cannot be had is no reason to end the run: the old one still works. Lack of memory
 * is one: the step is to be made again, as it would have been. */
static kiln_status put_off(const look *l, kiln_status status, const kiln_error *why,
                           kiln_error *error)
{
    if (status == KILN_ERR_MEMORY) {
        if (error)
            *error = *why;
        return status;
    }
    kiln_log(l->world->context, KILN_LOG_WARNING,
             "the whole-domain remesh at %.4g s failed (%s); the mesh stays as it is",
             l->world->state.clock.time, why->message);
    wait(l, FAILURE_REST);
    return KILN_OK;
}

static kiln_status remesh(const look *l, kiln_error *error)
{
    domain *d = l->domain;
    double started = kiln_wall_seconds();
    kiln_mesh *mesh = NULL;
    kiln_domain_tally sum = {0};
    kiln_error why = {0};
    const kiln_domain_wish wish = {.world = l->world,
                                   .due = l->due.data,
                                   .group = l->group.data,
                                   .nearby = &l->nearby,
                                   .merging = l->why == CAUSE_MERGE};
    kiln_status status = kiln_domain_make_mesh(&wish, &mesh, &sum, &why);
    if (status != KILN_OK)
        status = put_off(l, status, &why, error);
    else if (sum.groups == 0)
        refuse(l, sum.said);
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
    if (!world->flows && !kiln_scene_has_liquid(world->scene))
        kiln_log(world->context, KILN_LOG_WARNING,
                 "remesh.method = \"global\" makes new meshes of what can yield, and nothing here "
                 "can: bodies keep their meshes and do not merge; give a material plastic, or take "
                 "\"local\"");
    return add_history(world, error);
}

/* What is much shorter is so for a moment, to meet a frame. */
static double shortened_by(const kiln_world *world, const kiln_moment *moment)
{
    double length = moment->end - moment->begin, dt = world->scene->pace.dt;
    return length > MOST_SHORTENED * dt ? fmax(1.0, dt / length) : 1.0;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    domain *d = self;
    double started = kiln_wall_seconds();
    look l = {.domain = d, .world = d->world};
    d->work = (kiln_remesh_work){0};
    d->shortened = shortened_by(d->world, moment);
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

/* Whole-domain remeshing inside a run (VPF 4): when flow has made basis matrices bad, or bodies
 * that flow have come so near that they are to be one, the parts concerned get a new mesh.
 *
 * Rest shapes are all a tet knows of its past (u = x), so what does not flow keeps its basis
 * matrices for ever: parts that cannot yield are never touched, and keep their bits. In between,
 * single tets that became bad in the world are repaired by local operators. */
#include "base/clock.h"
#include "base/parallel.h"
#include "geom/tet_quality.h"
#include "mesh/divide.h"
#include "mesh/reorder.h"
#include "remesh/domain.h"
#include "remesh/nearby.h"
#include "remesh/transfer.h"
#include "sim/world_impl.h"

#include <math.h>
#include <string.h>

#define KILN_FIELD_CONDITION "basis_condition"
#define KILN_FIELD_BODY      "body"

/* Steps without another look after a remesh that merged, and at most after one that did not help.
 */
enum { GRAIN = 1024, MERGE_REST = 8, LONGEST_REST = 64 };
/* A remesh is worth its price when it brings the worst condition below this part of the limit. */
static const double HELPED = 0.8;

typedef enum cause { CAUSE_NONE, CAUSE_CONDITION, CAUSE_CHANGE, CAUSE_MERGE } cause;
static const char *const cause_names[] = {"", "ill-conditioned", "changed much", "merging"};

typedef struct look {
    kiln_world *world;
    kiln_f64_array condition; /* [tet slot] now */
    KILN_ARRAY_OF(uint8_t)
    flows;                /* [part] it may be remeshed */
    kiln_u32_array group; /* [part] lowest part it hangs together with by being near */
    KILN_ARRAY_OF(uint8_t)
    due; /* [part] its group is remeshed */
    kiln_bvh_pair_array pairs;
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

static void measure_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const measuring *m = user;
    for (uint32_t t = (uint32_t)begin; t < end; t++)
        if (kiln_tet_live(m->mesh, t))
            m->condition[t] = basis_condition(m->mesh, &m->shape[t], t);
}

static void measure(const kiln_mesh *mesh, double *condition)
{
    measuring m = {mesh, kiln_offsets_of(mesh).shape, condition};
    kiln_parallel_for(mesh->context, mesh->table[KILN_ON_TET].used, GRAIN, measure_chunk, &m);
}

static double *noted_condition(const kiln_mesh *mesh)
{
    return (double *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_CONDITION)->data;
}

static uint32_t *column_u32(const kiln_mesh *mesh, const char *name)
{
    return (uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, name)->data;
}

typedef struct region_of {
    int32_t was, now;
    uint32_t material;
} region_of;
typedef KILN_ARRAY_OF(region_of)
region_table;

/* The number for tets of a region that have this material: the first one keeps it. */
static kiln_status find_region(kiln_context *context, region_table *known, int32_t was,
                               uint32_t material, int32_t *highest, int32_t *now, kiln_error *error)
{
    bool taken = false;
    for (size_t i = 0; i < known->count; i++) {
        if (known->data[i].was != was)
            continue;
        taken = true;
        *now = known->data[i].now;
        if (known->data[i].material == material)
            return KILN_OK;
    }
    *now = taken ? ++*highest : was;
    region_of row = {was, *now, material};
    return kiln_array_push(context, known, row, error);
}

/* Bodies that merge may have files with the same tags but other materials: regions are to keep
 * those apart. */
static kiln_status part_regions(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    const uint32_t *material = column_u32(mesh, KILN_FIELD_MATERIAL);
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    region_table known = {0};
    int32_t highest = 0;
    for (uint32_t t = 0; t < tets; t++)
        highest = mesh->info[t].region > highest ? mesh->info[t].region : highest;
    kiln_status status = KILN_OK;
    for (uint32_t t = 0; t < tets && status == KILN_OK; t++)
        status = find_region(world->context, &known, mesh->info[t].region, material[t], &highest,
                             &mesh->info[t].region, error);
    kiln_array_free(world->context, &known);
    return status;
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

/* Repairs in the world would cost elastic matter its exact return. */
static kiln_status lock_what_does_not_flow(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_ARRAY_OF(uint8_t)
    flows = {0};
    KILN_TRY(kiln_array_reserve(world->context, &flows, mesh->parts.count, error));
    find_parts_that_flow(world, flows.data);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (!flows.data[mesh->info[t].part])
            mesh->info[t].marks |= KILN_MARK_LOCKED;
    kiln_array_free(world->context, &flows);
    return KILN_OK;
}

kiln_status kiln_world_add_domain_history(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_CONDITION, KILN_ON_TET, KILN_F64, 1,
                                 KILN_RULE_AVERAGE, error));
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_BODY, KILN_ON_TET, KILN_U32, 1, KILN_RULE_COPY,
                                 error));
    uint32_t *body = column_u32(mesh, KILN_FIELD_BODY);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        body[t] = mesh->parts.data[mesh->info[t].part].body;
    KILN_TRY(part_regions(world, error));
    KILN_TRY(lock_what_does_not_flow(world, error));
    measure(mesh, noted_condition(mesh));
    return KILN_OK;
}

/* Why a tet asks for a new mesh. */
static cause judge(const look *l, uint32_t t)
{
    const kiln_scene_remesh *remesh = &l->world->scene->remesh;
    double condition = l->condition.data[t];
    if (condition > remesh->condition)
        return CAUSE_CONDITION;
    if (condition > remesh->condition_change * noted_condition(l->world->mesh)[t])
        return CAUSE_CHANGE;
    return CAUSE_NONE;
}

static void measure_all(look *l)
{
    const kiln_mesh *mesh = l->world->mesh;
    measure(mesh, l->condition.data);
    kiln_tet_quality_batch(mesh->context->isa, mesh->table[KILN_ON_TET].used, NULL, mesh->tet[0].v,
                           sizeof(kiln_tet), mesh->x, l->world->quality.data);
    l->worst_condition = 1.0;
    l->worst_quality = 1.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!l->flows.data[mesh->info[t].part])
            continue;
        l->worst_condition = fmax(l->worst_condition, l->condition.data[t]);
        l->worst_quality = fmin(l->worst_quality, l->world->quality.data[t]);
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

/* Parts that are near hang together; so does what is due with them. */
static kiln_status find_near_parts(look *l, bool ask, kiln_error *error)
{
    const kiln_mesh *mesh = l->world->mesh;
    KILN_TRY(kiln_nearby_parts(mesh, KILN_SPACE_WORLD, l->world->scene->remesh.merge, l->flows.data,
                               &l->pairs, error));
    if (l->pairs.count > 0 && ask && l->why == CAUSE_NONE)
        l->why = CAUSE_MERGE;
    for (size_t i = 0; i < l->pairs.count; i++) {
        uint32_t a = root(l, l->pairs.data[i].a), b = root(l, l->pairs.data[i].b);
        l->group.data[a < b ? b : a] = a < b ? a : b;
        l->due.data[l->pairs.data[i].a] |= ask;
    }
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
    const kiln_world_state *state = &world->state;
    size_t parts = world->mesh->parts.count;
    bool may_merge = world->scene->remesh.merge > 0.0 && state->step >= state->merge_from;
    KILN_TRY(take_stock(l, error));
    KILN_TRY(kiln_array_reserve(world->context, &l->due, parts, error));
    KILN_TRY(kiln_array_reserve(world->context, &l->group, parts, error));
    memset(l->due.data, 0, parts);
    for (uint32_t p = 0; p < parts; p++)
        l->group.data[p] = p;
    if (state->step >= state->remesh_from)
        find_bad_parts(l);
    if (may_merge || (l->why != CAUSE_NONE && world->scene->remesh.merge > 0.0))
        KILN_TRY(find_near_parts(l, may_merge, error));
    spread(l);
    return KILN_OK;
}

/* A part made of several belongs to the first of their bodies. */
static void number_bodies(kiln_mesh *mesh)
{
    const uint32_t *body = column_u32(mesh, KILN_FIELD_BODY);
    for (size_t p = 0; p < mesh->parts.count; p++)
        mesh->parts.data[p].body = KILN_NONE;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_part *part = &mesh->parts.data[mesh->info[t].part];
        part->body = body[t] < part->body ? body[t] : part->body;
    }
}

/* Sums over the groups that were remeshed. */
typedef struct tally {
    size_t groups, parts, tets_before, tets_after;
    double volume_before, volume_after, transfer_seconds;
} tally;

static kiln_status remesh_group(const look *l, const uint8_t *take, kiln_mesh *whole, tally *sum,
                                kiln_error *error)
{
    const kiln_scene_remesh *remesh = &l->world->scene->remesh;
    const kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS};
    kiln_domain_options options = kiln_domain_default_options();
    kiln_domain_report report;
    options.size = remesh->size;
    options.size_min = remesh->size_min;
    options.size_max = remesh->size_max;
    options.gap = remesh->merge;
    options.transfer = &transfer;
    kiln_mesh *old, *fresh;
    KILN_TRY(kiln_mesh_extract(l->world->mesh, take, &old, error));
    kiln_status status = kiln_domain_remesh(old, &options, &fresh, &report, error);
    sum->groups++;
    sum->parts += old->parts.count;
    sum->tets_before += old->table[KILN_ON_TET].live;
    kiln_mesh_destroy(old);
    KILN_TRY(status);
    measure(fresh, noted_condition(fresh));
    number_bodies(fresh);
    sum->tets_after += fresh->table[KILN_ON_TET].live;
    sum->volume_before += report.volume_before;
    sum->volume_after += report.volume_after;
    sum->transfer_seconds += report.transfer_seconds;
    status = kiln_mesh_append(whole, fresh, error);
    kiln_mesh_destroy(fresh);
    return status;
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
    for (uint32_t g = 0; g < parts && status == KILN_OK; g++) {
        if (!l->due.data[g] || l->group.data[g] != g)
            continue;
        for (size_t p = 0; p < parts; p++)
            take.data[p] = l->group.data[p] == g;
        status = remesh_group(l, take.data, whole, sum, error);
    }
    kiln_array_free(context, &take);
    if (status == KILN_OK)
        *out = whole;
    else
        kiln_mesh_destroy(whole);
    return status;
}

/* The solid borrows the mesh by its address, so contents change places. */
static void swap_meshes(kiln_mesh *a, kiln_mesh *b)
{
    kiln_mesh swap = *a;
    *a = *b;
    *b = swap;
}

/* Takes the new mesh; on failure the old one is back and works, or the state is KILN_ERR_STATE. */
static kiln_status adopt(kiln_world *world, kiln_mesh *mesh, kiln_error *error)
{
    kiln_error ignored;
    KILN_TRY(kiln_mesh_reorder(mesh, KILN_SPACE_WORLD, NULL, error));
    swap_meshes(world->mesh, mesh);
    if (kiln_world_move_surfaces(world, mesh, world->mesh, error) != KILN_OK)
        return KILN_ERR_STATE;
    kiln_status status = kiln_world_mesh_changed(world, error);
    if (status == KILN_OK)
        return KILN_OK;
    swap_meshes(world->mesh, mesh);
    bool works = kiln_world_move_surfaces(world, mesh, world->mesh, &ignored) == KILN_OK &&
                 kiln_world_refresh_sets(world, &ignored) == KILN_OK &&
                 kiln_world_renew(world, &ignored) == KILN_OK;
    return works ? status : KILN_ERR_STATE;
}

/* When to look again: at once after a remesh that helped, ever later after some that did not. */
static void rest(kiln_world *world, const look *before, const look *after)
{
    kiln_world_state *state = &world->state;
    state->remeshes++;
    state->merge_from = state->step + MERGE_REST;
    if (before->why == CAUSE_MERGE)
        return;
    bool helped = after->worst_condition < HELPED * world->scene->remesh.condition;
    state->remesh_rest = helped                                  ? 1
                         : state->remesh_rest == 0               ? 2
                         : state->remesh_rest * 2 < LONGEST_REST ? state->remesh_rest * 2
                                                                 : LONGEST_REST;
    state->remesh_from = state->step + state->remesh_rest;
}

static void report(const look *l, const look *after, const tally *sum, double seconds,
                   kiln_evolution *evolution)
{
    const kiln_world *world = l->world;
    evolution->changed = sum->tets_before;
    evolution->worst = after->worst_quality;
    evolution->transfer_seconds += sum->transfer_seconds;
    evolution->remesh_seconds += seconds - sum->transfer_seconds;
    kiln_log(world->context, KILN_LOG_INFO,
             "whole-domain remesh %llu at %.4g s (%s): %zu parts, %zu tets become %zu, volume "
             "%+.3g %%, condition %.3g to %.3g, quality %.2f to %.2f, %.2f s",
             (unsigned long long)world->state.remeshes, world->state.clock.time,
             cause_names[l->why], sum->parts, sum->tets_before, sum->tets_after,
             100.0 * (sum->volume_after / sum->volume_before - 1.0), l->worst_condition,
             after->worst_condition, l->worst_quality, after->worst_quality, seconds);
}

static void free_look(look *l)
{
    kiln_context *context = l->world->context;
    kiln_array_free(context, &l->condition);
    kiln_array_free(context, &l->flows);
    kiln_array_free(context, &l->due);
    kiln_array_free(context, &l->group);
    kiln_array_free(context, &l->pairs);
}

static kiln_status remesh(const look *l, kiln_evolution *evolution, kiln_error *error)
{
    kiln_world *world = l->world;
    double started = kiln_wall_seconds();
    kiln_mesh *mesh;
    tally sum = {0};
    look after = {.world = world};
    KILN_TRY(make_mesh(l, &mesh, &sum, error));
    kiln_status status = adopt(world, mesh, error);
    kiln_mesh_destroy(mesh);
    if (status == KILN_OK)
        status = take_stock(&after, error);
    if (status == KILN_OK) {
        rest(world, l, &after);
        world->state.clock.h_before = 0.0; /* places of the step before are not those of vertices */
        report(l, &after, &sum, kiln_wall_seconds() - started, evolution);
    }
    free_look(&after);
    return status;
}

static kiln_status look_and_remesh(kiln_world *world, kiln_evolution *evolution, kiln_error *error)
{
    double started = kiln_wall_seconds();
    look l = {.world = world};
    kiln_status status = look_around(&l, error);
    evolution->size_seconds += kiln_wall_seconds() - started;
    if (status == KILN_OK && l.why != CAUSE_NONE)
        status = remesh(&l, evolution, error);
    free_look(&l);
    return status;
}

kiln_status kiln_world_remesh_domain(kiln_world *world, kiln_evolution *evolution,
                                     kiln_error *error)
{
    kiln_error why = {0};
    kiln_status status = look_and_remesh(world, evolution, &why);
    if (status == KILN_ERR_STATE) {
        if (error)
            *error = why;
        return status;
    }
    /* A mesh that cannot be had is no reason to end the run: the old one still works. */
    if (status != KILN_OK) {
        kiln_log(world->context, KILN_LOG_WARNING,
                 "the whole-domain remesh at %.4g s failed (%s); the mesh stays as it is",
                 world->state.clock.time, why.message);
        world->state.remesh_from = world->state.merge_from = world->state.step + LONGEST_REST;
    }
    return kiln_world_remesh_local(world, evolution, error);
}

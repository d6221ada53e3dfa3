#include "sim/domain_groups.h"

#include "mesh/divide.h"
#include "remesh/transfer.h"
#include "sim/domain_sets.h"
#include "sim/remeshing.h"
#include "topology/assign.h"
#include "topology/features.h"

#include <math.h>
#include <string.h>

/* What a new mesh may have more or less of the volume: all of that is stretch. Flat sides that
 * merge across a gap have more; they are let come nearer first. */
static const double SAME_VOLUME = 2e-4;
/* Edges of bodies that flow are features no longer when they turn by less; radians. */
static const double BLUNT = 0.52;

typedef struct group {
    kiln_mesh *old, *fresh; /* fresh is NULL: it keeps the old one */
    kiln_domain_report report;
    uint32_t root;  /* its lowest part in the old one */
    uint32_t first; /* row of its first tet in the new one */
    bool apart;     /* its parts are not to become one */
} group;

typedef struct groups {
    const kiln_domain_wish *wish;
    kiln_domain_tally *sum;
    kiln_context *context;
    KILN_ARRAY_OF(uint8_t)
    take; /* [part] scratch */
    KILN_ARRAY_OF(group)
    all;
} groups;

bool kiln_domain_same_patch(const kiln_mesh *mesh, uint32_t f, uint32_t g, void *user)
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
    const kiln_field *body = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_BODY);
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = txn.depth ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_features_forget(&txn, KILN_SPACE_WORLD, BLUNT, kiln_domain_same_patch, NULL);
    if (verdict == KILN_ACCEPTED && fresh)
        verdict = kiln_parts_join_bodies(&txn, (const uint32_t *)(const void *)body->data);
    if (txn.depth)
        verdict = kiln_txn_settle(&txn, verdict);
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

/* NULL: its tets would be worse than what is asked for, and than the old ones. */
static kiln_status find_good_mesh(const kiln_scene_remesh *remesh, group *g, kiln_error *error)
{
    const kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS, .even = KILN_FIELD_EVEN};
    kiln_domain_options options = kiln_domain_default_options();
    if (remesh->method == KILN_REMESH_GLOBAL) {
        options.size = remesh->size;
        options.size_field = KILN_FIELD_START_SIZE;
        options.size_min = remesh->size_min;
        options.size_max = remesh->size_max;
    }
    options.gap = g->apart ? 0.0 : remesh->merge;
    options.feature_angle = KILN_PI;
    options.transfer = &transfer;
    /* With local remeshing repairs, which ask for more than can be had at once, see to the rest. */
    options.least = remesh->method == KILN_REMESH_GLOBAL ? remesh->quality
                                                         : fmin(options.least, remesh->quality);
    options.most_lost = options.most_gained = SAME_VOLUME;
    options.most_bridged = INFINITY; /* volume decides, and what is to be one waits */
    return kiln_domain_remesh(g->old, &options, &g->fresh, &g->report, error);
}

/* What was to become one has not: parts that face each other are two still. */
static bool is_in_vain(const groups *all, const group *g)
{
    const kiln_bvh_pair_array *facing = &all->wish->nearby->facing;
    bool folds = false;
    for (size_t i = 0; i < facing->count; i++) {
        const kiln_bvh_pair *pair = &facing->data[i];
        folds |= pair->a == pair->b && all->take.data[pair->a];
    }
    return all->wish->merging && !folds && g->fresh->parts.count >= g->old->parts.count;
}

static void keep_old(group *g)
{
    kiln_mesh_destroy(g->fresh);
    g->fresh = NULL;
}

/* What is held or loaded must not end inside a body. */
static kiln_status keep_sets(const groups *all, group *g, kiln_error *error)
{
    const kiln_world *world = all->wish->world;
    const kiln_scene *scene = world->scene;
    size_t lost;
    if (g->report.joined)
        KILN_TRY(kiln_domain_keep_sets(scene, g->old, g->fresh, error));
    KILN_TRY(kiln_domain_lost_set(scene, g->old, g->fresh, &lost, error));
    if (lost == KILN_NONE)
        return KILN_OK;
    bool held = lost < scene->holds.count;
    kiln_log(world->context, KILN_LOG_INFO,
             "a whole-domain remesh at %.4g s is put off: nothing would be left of what %s %zu is "
             "on",
             world->state.clock.time, held ? "hold" : "load",
             held ? lost + 1 : lost - scene->holds.count + 1);
    all->sum->said = true;
    keep_old(g);
    return KILN_OK;
}

/* What cannot become one, or would touch others, can have new tets all the same, within the
 * surfaces that its bodies have. Merging may wait, bad tets should not. */
static bool may_stay_apart(const groups *all, group *g)
{
    bool other = g->report.joined && !g->apart && !all->wish->merging;
    g->apart |= other;
    return other;
}

static kiln_status remesh_group(const groups *all, group *g, kiln_error *error)
{
    const kiln_domain_wish *wish = all->wish;
    const kiln_world *world = wish->world;
    for (size_t p = 0; p < world->mesh->parts.count; p++)
        all->take.data[p] = wish->due[p] && wish->group[p] == g->root;
    if (!g->old) {
        KILN_TRY(kiln_mesh_extract(world->mesh, all->take.data, &g->old, error));
        KILN_TRY(find_features(g->old, false, error));
    }
    KILN_TRY(find_good_mesh(&world->scene->remesh, g, error));
    if (!g->fresh && may_stay_apart(all, g))
        KILN_TRY(find_good_mesh(&world->scene->remesh, g, error));
    if (g->fresh && is_in_vain(all, g))
        keep_old(g);
    if (g->fresh)
        KILN_TRY(keep_sets(all, g, error));
    return g->fresh ? find_features(g->fresh, true, error) : KILN_OK;
}

static kiln_status remesh_all(groups *all, kiln_error *error)
{
    const kiln_domain_wish *wish = all->wish;
    size_t parts = wish->world->mesh->parts.count;
    for (uint32_t first = 0; first < parts; first++) {
        if (!wish->due[first] || wish->group[first] != first)
            continue;
        KILN_TRY(kiln_array_push(all->context, &all->all, ((group){.root = first}), error));
        KILN_TRY(remesh_group(all, &all->all.data[all->all.count - 1], error));
    }
    return KILN_OK;
}

/* Rows that came last. */
static kiln_status mark(const kiln_mesh *whole, bool fresh, kiln_domain_tally *sum,
                        kiln_error *error)
{
    size_t rows = whole->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(whole->context, &sum->fresh, rows, error));
    for (size_t t = sum->fresh.count; t < rows; t++)
        sum->fresh.data[t] = fresh;
    sum->fresh.count = rows;
    return KILN_OK;
}

static kiln_status append(groups *all, kiln_mesh *whole, kiln_error *error)
{
    kiln_domain_tally *sum = all->sum;
    KILN_TRY(mark(whole, false, sum, error));
    for (size_t i = 0; i < all->all.count; i++) {
        group *g = &all->all.data[i];
        g->first = whole->table[KILN_ON_TET].used;
        KILN_TRY(kiln_mesh_append(whole, g->fresh ? g->fresh : g->old, error));
        KILN_TRY(mark(whole, g->fresh, sum, error));
    }
    return KILN_OK;
}

static kiln_status assemble(groups *all, kiln_mesh **out, kiln_error *error)
{
    const kiln_domain_wish *wish = all->wish;
    kiln_mesh *whole = NULL;
    all->sum->fresh.count = 0;
    for (size_t p = 0; p < wish->world->mesh->parts.count; p++)
        all->take.data[p] = !wish->due[p];
    KILN_TRY(kiln_mesh_extract(wish->world->mesh, all->take.data, &whole, error));
    kiln_status status = append(all, whole, error);
    if (status == KILN_OK)
        *out = whole;
    else
        kiln_mesh_destroy(whole);
    return status;
}

/* The group that a face of the new mesh is of, if that is new. */
static group *fresh_at(const groups *all, const kiln_mesh *whole, uint32_t face)
{
    uint32_t tet = whole->face[face].at / 4;
    group *at = NULL;
    for (size_t i = 0; i < all->all.count && all->all.data[i].first <= tet; i++)
        at = &all->all.data[i];
    return at && at->fresh ? at : NULL;
}

/* Contact keeps surfaces from passing through each other, if they do not to begin with: a group
 * that is not clear stays as it is. */
static kiln_status put_off_touching(groups *all, const kiln_mesh *whole, bool *clear,
                                    kiln_error *error)
{
    const kiln_world *world = all->wish->world;
    kiln_clearance found;
    KILN_TRY(kiln_solid_find_near(world->solid, whole, all->sum->fresh.data, &found, error));
    *clear = found.pairs == 0;
    if (*clear)
        return KILN_OK;
    kiln_log(world->context, KILN_LOG_INFO,
             "a whole-domain remesh at %.4g s is not taken: %zu pairs of faces would touch or pass "
             "through each other",
             world->state.clock.time, found.pairs);
    all->sum->said = true;
    group *at[2] = {fresh_at(all, whole, found.face[0]), fresh_at(all, whole, found.face[1])};
    for (int k = 0; k < 2; k++) {
        if (!at[k] || (k == 1 && at[1] == at[0]))
            continue;
        keep_old(at[k]);
        if (may_stay_apart(all, at[k]))
            KILN_TRY(remesh_group(all, at[k], error));
    }
    return KILN_OK;
}

static kiln_status find_clear(groups *all, kiln_mesh **out, kiln_error *error)
{
    for (bool clear = false; !clear;) {
        KILN_TRY(assemble(all, out, error));
        kiln_status status = put_off_touching(all, *out, &clear, error);
        if (status == KILN_OK && clear)
            break;
        kiln_mesh_destroy(*out);
        *out = NULL;
        KILN_TRY(status);
    }
    return KILN_OK;
}

static void add_up(const groups *all)
{
    kiln_domain_tally *sum = all->sum;
    for (size_t i = 0; i < all->all.count; i++) {
        const group *g = &all->all.data[i];
        if (!g->fresh)
            continue;
        sum->groups++;
        sum->parts += g->old->parts.count;
        sum->tets_before += g->old->table[KILN_ON_TET].live;
        sum->tets_after += g->fresh->table[KILN_ON_TET].live;
        sum->volume_before += g->report.volume_before;
        sum->volume_after += g->report.volume_after;
        sum->overlap += kiln_mesh_volume(g->old) - g->report.volume_before;
        sum->transfer_seconds += g->report.transfer_seconds;
    }
}

static void free_groups(groups *all)
{
    for (size_t i = 0; i < all->all.count; i++) {
        kiln_mesh_destroy(all->all.data[i].old);
        kiln_mesh_destroy(all->all.data[i].fresh);
    }
    kiln_array_free(all->context, &all->all);
    kiln_array_free(all->context, &all->take);
}

kiln_status kiln_domain_make_mesh(const kiln_domain_wish *wish, kiln_mesh **out,
                                  kiln_domain_tally *sum, kiln_error *error)
{
    groups all = {.wish = wish, .sum = sum, .context = wish->world->context};
    *out = NULL;
    KILN_TRY(kiln_array_reserve(all.context, &all.take, wish->world->mesh->parts.count, error));
    kiln_status status = remesh_all(&all, error);
    if (status == KILN_OK)
        status = find_clear(&all, out, error);
    if (status == KILN_OK)
        add_up(&all);
    free_groups(&all);
    return status;
}

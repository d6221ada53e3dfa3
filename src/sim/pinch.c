/* The module that lets necks of liquid break (remesh.pinch). One that has become narrower than the
 * scene says, and becomes narrower still, opens where it is narrowest (topology/neck.h), and both
 * ends draw back far enough for the surface to be less than it was. Amounts, momentum and angular
 * momentum go over as in all remeshing (remesh/transfer.h). Droplets that are smaller than what
 * breaks may be taken away (remesh.droplets), and are counted. */
#include "mesh/walk.h"
#include "remesh/transfer.h"
#include "sim/through.h"
#include "topology/neck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the widest neck that breaks, how far about it is looked. */
static const double REACH = 1.5;
/* Of its width, how far each end draws back: the first that does, if possible with its room taken
 * up elsewhere at once; otherwise the recovery of volume does that. */
static const double BACK[] = {0.25, 0.35, 0.5, 0.15};
enum { BACKS = sizeof BACK / sizeof BACK[0] };
/* Of the quality that is asked for, what tets at an end must have: repairs come after. */
static const double LEAST_QUALITY = 0.15;
/* Of the cube of the widest neck that breaks: droplets that may be taken away have less. */
static const double DROPLET = 0.5;

typedef KILN_ARRAY_OF(kiln_neck)
neck_array;

typedef struct pinch {
    kiln_world *world;
    kiln_neck_search search;
    kiln_u32_array looked; /* [tet slot] not 0: no need to look there */
    kiln_u32_array small;  /* [part] not 0: a droplet */
    neck_array necks;      /* of this step; `count` are to break, all have memory */
    size_t made;
    kiln_changes changes;
    struct {
        double edge;      /* m, the mean one at the start */
        uint64_t breaks;  /* so far */
        kiln_passed gone; /* with droplets */
    } state;
} pinch;

static bool is_liquid(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const pinch *p = user;
    return p->world->materials[kiln_world_material_of(mesh)[tet]].liquid;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!(world->scene->remesh.pinch > 0.0) || !kiln_scene_has_liquid(world->scene) ||
        world->space != KILN_SPACE_WORLD || !world->moves)
        return KILN_OK;
    pinch *p = kiln_module_make(world, sizeof *p, self, error);
    if (!p)
        return KILN_ERR_MEMORY;
    p->world = world;
    p->search.context = world->context;
    p->search.may = is_liquid;
    p->search.user = p;
    p->state.edge = kiln_mean_edge(world->mesh);
    return KILN_OK;
}

static void destroy(void *self)
{
    pinch *p = self;
    kiln_context *context = p->world->context;
    kiln_neck_search_free(&p->search);
    for (size_t i = 0; i < p->made; i++)
        kiln_neck_free(context, &p->necks.data[i]);
    kiln_array_free(context, &p->necks);
    kiln_array_free(context, &p->looked);
    kiln_array_free(context, &p->small);
    kiln_changes_free(context, &p->changes);
}

/* m, the width below which necks break. */
static double widest(const pinch *p)
{
    return p->world->scene->remesh.pinch * p->state.edge;
}

/* That of a disk of the same area. */
static double width_of(const kiln_neck *neck)
{
    return 2.0 * sqrt(neck->area / KILN_PI);
}

static kiln_vec3 velocity_of(const pinch *p, uint32_t vertex)
{
    return (
        (const kiln_vec3 *)(const void *)kiln_world_column(p->world, KILN_ON_VERTEX, "v"))[vertex];
}

/* How fast what lies in the ball of the last look is drawn out along the neck, times its volume:
 * the mean of the tets, by volume. */
static double drawn_out(const pinch *p, kiln_vec3 along)
{
    const kiln_mesh *mesh = p->world->mesh;
    double sum = 0.0;
    for (size_t i = 0; i < p->search.inside; i++) {
        const uint32_t *v = mesh->tet[p->search.tets.data[i]].v;
        for (uint32_t k = 0; k < 4; k++) { /* 3 V grad = the area of the face across, inwards */
            const uint8_t *c = kiln_face_corner[k];
            kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(mesh->x[v[c[1]]], mesh->x[v[c[0]]]),
                                           kiln_v3_sub(mesh->x[v[c[2]]], mesh->x[v[c[0]]]));
            sum -= kiln_v3_dot(velocity_of(p, v[k]), along) * kiln_v3_dot(area, along) / 6.0;
        }
    }
    return sum;
}

/* What holds and obstacles leave of a way. */
static kiln_vec3 may_go(const void *user, uint32_t vertex, kiln_vec3 way)
{
    const kiln_world *world = ((const pinch *)user)->world;
    if (vertex >= kiln_solid_constraints(world->solid)->rows)
        return way;
    const double *contact = kiln_solid_contact(world->solid) + 3 * (size_t)vertex;
    if (contact[0] != 0.0 || contact[1] != 0.0 || contact[2] != 0.0)
        return kiln_v3(0, 0, 0);
    const kiln_held held = kiln_constraints_held(kiln_solid_constraints(world->solid), vertex);
    return kiln_held_free_part(&held, way);
}

/* Whether its ends can go back at all. */
static bool is_free(const pinch *p, const kiln_neck *neck)
{
    const kiln_mesh *mesh = p->world->mesh;
    for (size_t i = 0; i < 3 * neck->faces.count; i++) {
        uint32_t at = neck->faces.data[i / 3];
        kiln_vec3 way =
            may_go(p, mesh->tet[at / 4].v[kiln_face_corner[at % 4][i % 3]], neck->normal);
        if (kiln_v3_norm2(kiln_v3_sub(way, neck->normal)) > 1e-12)
            return false;
    }
    return true;
}

static void note_looked(const pinch *p, double within, kiln_vec3 centre)
{
    const kiln_mesh *mesh = p->world->mesh;
    for (size_t i = 0; i < p->search.inside; i++)
        if (kiln_v3_norm(kiln_v3_sub(kiln_tet_centre(mesh, p->search.tets.data[i], mesh->x),
                                     centre)) <= within)
            p->looked.data[p->search.tets.data[i]] = 1;
}

static kiln_status look_at(pinch *p, uint32_t tet, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    bool found;
    if (p->necks.count == p->made) {
        KILN_TRY(kiln_array_push(p->world->context, &p->necks, (kiln_neck){0}, error));
        p->necks.count--;
        p->made++;
    }
    kiln_neck *neck = &p->necks.data[p->necks.count];
    KILN_TRY(kiln_neck_find(&p->search, mesh, tet, neck, &found, error));
    p->looked.data[tet] = 1;
    if (!found || !(width_of(neck) < widest(p))) {
        note_looked(p, 0.25 * p->search.reach, kiln_tet_centre(mesh, tet, mesh->x));
        return KILN_OK;
    }
    note_looked(p, p->search.reach, neck->centre);
    p->necks.count += drawn_out(p, neck->normal) > 0.0 && is_free(p, neck);
    return KILN_OK;
}

static int narrowest_first(const void *a, const void *b)
{
    const kiln_neck *left = a, *right = b;
    if (left->area != right->area)
        return left->area < right->area ? -1 : 1;
    uint32_t l = left->faces.data[0], r = right->faces.data[0];
    return (l > r) - (l < r);
}

/* What breaks near another waits for the next step. */
static void take_apart(pinch *p)
{
    size_t kept = 0;
    if (p->necks.count)
        qsort(p->necks.data, p->necks.count, sizeof *p->necks.data, narrowest_first);
    for (size_t i = 0; i < p->necks.count; i++) {
        bool alone = true;
        for (size_t j = 0; j < kept; j++)
            alone &= kiln_v3_norm(kiln_v3_sub(p->necks.data[i].centre, p->necks.data[j].centre)) >
                     4.0 * p->search.reach;
        if (!alone)
            continue;
        kiln_neck other = p->necks.data[kept];
        p->necks.data[kept++] = p->necks.data[i];
        p->necks.data[i] = other;
    }
    p->necks.count = kept;
}

static kiln_status find_necks(pinch *p, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    p->necks.count = 0;
    p->search.reach = REACH * widest(p);
    KILN_TRY(kiln_array_reserve(p->world->context, &p->looked, tets + 1, error));
    memset(p->looked.data, 0, tets * sizeof *p->looked.data);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t tet;
        if (!kiln_face_live(mesh, f) || !is_liquid(p, mesh, mesh->face[f].at / 4) ||
            !(kiln_neck_depth(mesh, f, widest(p), &tet) < widest(p)) || p->looked.data[tet])
            continue;
        KILN_TRY(look_at(p, tet, error));
    }
    take_apart(p);
    return KILN_OK;
}

/* The patch that the neck's surface belongs to. */
static int32_t tag_beside(const kiln_mesh *mesh, const kiln_neck *neck)
{
    for (size_t i = 0; i < neck->faces.count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_link link = mesh->tet[neck->faces.data[i] / 4].n[k];
            if (kiln_link_is_surface(link))
                return mesh->face[link - KILN_LINK_SURFACE].tag;
        }
    return 0;
}

/* Of all surfaces. */
static double area_of(const kiln_mesh *mesh)
{
    double area = 0.0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        kiln_vec3 corner[3];
        for (int k = 0; k < 3; k++)
            corner[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
        area += 0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(corner[1], corner[0]),
                                                 kiln_v3_sub(corner[2], corner[0])));
    }
    return area;
}

/* Undone where the surface would be more than it was: an end that cannot draw back will another
 * time. */
static kiln_verdict try_break(pinch *p, kiln_txn *txn, const kiln_neck *neck, double back,
                              bool refill)
{
    const kiln_neck_break how = {.back = back * width_of(neck),
                                 .reach = p->search.reach,
                                 .quality = LEAST_QUALITY * p->world->scene->remesh.quality,
                                 .refill = refill,
                                 .tag = tag_beside(txn->mesh, neck),
                                 .may_go = may_go,
                                 .user = p};
    double before = area_of(txn->mesh);
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = kiln_neck_open(&inner, neck, &how);
    if (verdict == KILN_ACCEPTED && area_of(txn->mesh) > before)
        verdict = KILN_REFUSED_JUDGED;
    return kiln_txn_settle(&inner, verdict);
}

static kiln_verdict break_all(pinch *p, kiln_txn *txn, size_t *broken)
{
    for (size_t i = 0; i < p->necks.count; i++) {
        kiln_verdict verdict = KILN_REFUSED_JUDGED;
        for (int b = 0; b < 2 * BACKS && verdict != KILN_ACCEPTED; b++) {
            verdict = try_break(p, txn, &p->necks.data[i], BACK[b % BACKS], b < BACKS);
            if (verdict == KILN_REFUSED_MEMORY)
                return verdict;
        }
        *broken += verdict == KILN_ACCEPTED;
    }
    return KILN_ACCEPTED;
}

static kiln_status break_in_pass(pinch *p, size_t *broken, kiln_error *error)
{
    kiln_world *world = p->world;
    kiln_txn txn = kiln_txn_begin(world->mesh);
    kiln_verdict verdict = txn.depth ? break_all(p, &txn, broken) : KILN_REFUSED_MEMORY;
    if (txn.depth)
        verdict = kiln_txn_settle(&txn, verdict);
    if (verdict != KILN_ACCEPTED)
        return kiln_txn_fail(verdict, error);
    const kiln_transfer_options transfer = {.mass = KILN_FIELD_MASS, .even = KILN_FIELD_EVEN};
    KILN_TRY(kiln_transfer(world->mesh, &transfer, NULL, error));
    KILN_TRY(kiln_world_carry(world, NULL, error));
    return kiln_changes_note_pass(&p->changes, world->mesh, error);
}

static kiln_status change_mesh(pinch *p, kiln_error *error)
{
    kiln_world *world = p->world;
    size_t broken = 0;
    kiln_changes_start(&p->changes, world->mesh);
    KILN_TRY(kiln_archive_begin(world->mesh, error));
    kiln_status status = break_in_pass(p, &broken, error);
    if (status != KILN_OK || broken == 0) {
        kiln_archive_rollback(world->mesh);
        return status;
    }
    kiln_archive_end(world->mesh);
    KILN_TRY(kiln_changes_close(&p->changes, world->mesh, error));
    KILN_TRY(kiln_world_changed(world, &p->changes, error));
    p->state.breaks += broken;
    /* What bdf2 remembers is of parts that were one. */
    world->state.clock.h_before = 0.0;
    kiln_log(world->context, KILN_LOG_INFO,
             "%zu necks of liquid break at %.6g s, the narrowest of %.3g m", broken,
             world->state.clock.time, width_of(&p->necks.data[0]));
    return KILN_OK;
}

static bool is_droplet(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const pinch *p = user;
    return p->small.data[mesh->info[tet].part] != 0;
}

/* Parts of liquid and nothing else that have less volume than the scene keeps, if they are not all
 * there is. */
static kiln_status find_droplets(pinch *p, bool *some, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    double least = DROPLET * widest(p) * widest(p) * widest(p);
    bool all = true;
    *some = false;
    KILN_TRY(kiln_array_reserve(p->world->context, &p->small, mesh->parts.count, error));
    for (size_t i = 0; i < mesh->parts.count; i++)
        p->small.data[i] = mesh->parts.data[i].volume < least;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && !is_liquid(p, mesh, t))
            p->small.data[mesh->info[t].part] = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t)) {
            *some |= is_droplet(p, mesh, t);
            all &= is_droplet(p, mesh, t);
        }
    *some &= !all;
    return KILN_OK;
}

static kiln_status remove_in_pass(pinch *p, kiln_error *error)
{
    kiln_world *world = p->world;
    for (uint32_t t = 0; t < world->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(world->mesh, t) && is_droplet(p, world->mesh, t))
            kiln_passed_add(&p->state.gone, world, t);
    kiln_txn txn = kiln_txn_begin(world->mesh);
    kiln_verdict verdict =
        txn.depth ? kiln_txn_settle(&txn, kiln_tets_remove(&txn, is_droplet, p, 0, NULL))
                  : KILN_REFUSED_MEMORY;
    if (verdict != KILN_ACCEPTED)
        return kiln_txn_fail(verdict, error);
    KILN_TRY(kiln_world_carry(world, NULL, error));
    return kiln_changes_note_pass(&p->changes, world->mesh, error);
}

static kiln_status remove_droplets(pinch *p, kiln_error *error)
{
    kiln_world *world = p->world;
    kiln_changes_start(&p->changes, world->mesh);
    KILN_TRY(kiln_archive_begin(world->mesh, error));
    kiln_status status = remove_in_pass(p, error);
    if (status != KILN_OK) {
        kiln_archive_rollback(world->mesh);
        return status;
    }
    kiln_archive_end(world->mesh);
    KILN_TRY(kiln_changes_close(&p->changes, world->mesh, error));
    kiln_log(world->context, KILN_LOG_INFO, "droplets of %.3g m^3 so far are gone at %.6g s",
             p->state.gone.volume, world->state.clock.time);
    return kiln_world_changed(world, &p->changes, error);
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    pinch *p = self;
    bool some = false;
    (void)moment;
    if (p->world->scene->remesh.droplets == KILN_DROPLETS_REMOVE)
        KILN_TRY(find_droplets(p, &some, error));
    if (some)
        KILN_TRY(remove_droplets(p, error));
    KILN_TRY(find_necks(p, error));
    return p->necks.count > 0 ? change_mesh(p, error) : KILN_OK;
}

static void *state(void *self, size_t *size)
{
    pinch *p = self;
    *size = sizeof p->state;
    return &p->state;
}

static void measure(const void *self, kiln_stats *stats)
{
    const pinch *p = self;
    stats->breaks = (double)p->state.breaks;
    stats->gone_volume = p->state.gone.volume;
    stats->gone_mass = p->state.gone.mass;
}

const kiln_module kiln_module_pinch = {.name = "pinch",
                                       .create = create,
                                       .destroy = destroy,
                                       .after_step = after_step,
                                       .state = state,
                                       .measure = measure};

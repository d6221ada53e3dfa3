/* The module that lets necks and films of liquid break (remesh.pinch). A neck that has become
 * narrower than the scene says, and becomes narrower still, opens where it is narrowest
 * (topology/neck.h), and both ends draw back far enough for the surface to be less than it was. In
 * a film that has become thinner, and becomes thinner still, a hole opens (topology/film.h), wide
 * enough for the surface to be less, so that tension draws it wider. Amounts, momentum and angular
 * momentum go over as in all remeshing (remesh/transfer.h). Droplets that are smaller than what
 * breaks may be taken away (remesh.droplets), and are counted. */
#include "mesh/surface.h"
#include "mesh/walk.h"
#include "sim/droplets.h"
#include "sim/pass.h"
#include "sim/through.h"
#include "topology/film.h"
#include "topology/neck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the widest neck that breaks, how far about it is looked; and where matter is less deep than
 * such a part of it, that part as far: what hangs on a thin neck may be small, and would lie in the
 * ball as a tip does. */
static const double REACH = 1.5, NEARER[] = {1.0, 0.5, 0.25};
enum { REACHES = sizeof NEARER / sizeof NEARER[0] };
/* Of its width, how far each end draws back: the first that does, if possible with its room taken
 * up elsewhere at once; otherwise the recovery of volume does that. */
static const double BACK[] = {0.25, 0.35, 0.5, 0.15};
enum { BACKS = sizeof BACK / sizeof BACK[0] };
/* Of the thickest film that breaks, the radius of a hole. */
static const double HOLE = 1.0;
/* Of the quality that is asked for, what tets at an end must have, and at the rim of a hole, which
 * need not be round: repairs come after. */
static const double LEAST_QUALITY = 0.15, LEAST_AT_RIM = 0.5;
/* Of the cube of the widest neck that breaks: droplets that may be taken away have less. */
static const double DROPLET = 0.5;

/* Where liquid is to break. */
typedef struct site {
    bool in_film;
    double reach;   /* m, of the ball in which the neck was found */
    kiln_neck neck; /* one of these */
    kiln_film film;
} site;

typedef KILN_ARRAY_OF(site)
site_array;

typedef struct pinch {
    kiln_world *world;
    kiln_neck_search search;
    kiln_film_search films;
    kiln_u32_array looked; /* [tet slot] not 0: no need to look there */
    kiln_u32_array solid;  /* [vertex slot] not 0: of a tet that is none of liquid */
    kiln_u32_array small;  /* [part] not 0: a droplet */
    site_array sites;      /* of this step; `count` are to break, all have memory */
    size_t made;
    kiln_changes changes;
    struct {
        double edge;       /* m, the mean one at the start */
        uint64_t breaks;   /* of necks so far */
        uint64_t holes;    /* in films */
        kiln_passed gone;  /* with droplets */
        kiln_passed given; /* by droplets to others */
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
    p->search.ball.context = p->films.ball.context = world->context;
    p->search.may = p->films.may = is_liquid;
    p->search.user = p->films.user = p;
    p->state.edge = kiln_mean_edge(world->mesh);
    return KILN_OK;
}

static void destroy(void *self)
{
    pinch *p = self;
    kiln_context *context = p->world->context;
    kiln_neck_search_free(&p->search);
    kiln_film_search_free(&p->films);
    for (size_t i = 0; i < p->made; i++) {
        kiln_neck_free(context, &p->sites.data[i].neck);
        kiln_film_free(context, &p->sites.data[i].film);
    }
    kiln_array_free(context, &p->sites);
    kiln_array_free(context, &p->looked);
    kiln_array_free(context, &p->solid);
    kiln_array_free(context, &p->small);
    kiln_changes_free(context, &p->changes);
}

/* m, the width below which necks and films break. */
static double widest(const pinch *p)
{
    return p->world->scene->remesh.pinch * p->state.edge;
}

/* That of a disk of the same area; of a film its depth. */
static double width_of(const site *s)
{
    return s->in_film ? s->film.depth : 2.0 * sqrt(s->neck.area / KILN_PI);
}

static kiln_vec3 centre_of(const site *s)
{
    return s->in_film ? s->film.centre : s->neck.centre;
}

static kiln_vec3 velocity_of(const pinch *p, uint32_t vertex)
{
    return (
        (const kiln_vec3 *)(const void *)kiln_world_column(p->world, KILN_ON_VERTEX, "v"))[vertex];
}

/* How fast what lies in a ball is drawn out along a direction, times its volume: the mean of the
 * tets, by volume. */
static double drawn_out(const pinch *p, const kiln_ball *ball, kiln_vec3 along)
{
    const kiln_mesh *mesh = p->world->mesh;
    double sum = 0.0;
    for (size_t i = 0; i < ball->inside; i++) {
        const uint32_t *v = mesh->tet[ball->tets.data[i]].v;
        for (uint32_t k = 0; k < 4; k++) { /* 3 V grad = the area of the face across, inwards */
            const uint8_t *c = kiln_face_corner[k];
            kiln_vec3 area = kiln_v3_cross(kiln_v3_sub(mesh->x[v[c[1]]], mesh->x[v[c[0]]]),
                                           kiln_v3_sub(mesh->x[v[c[2]]], mesh->x[v[c[0]]]));
            sum -= kiln_v3_dot(velocity_of(p, v[k]), along) * kiln_v3_dot(area, along) / 6.0;
        }
    }
    return sum;
}

/* What holds, obstacles and solid matter leave of a way. */
static kiln_vec3 may_go(const void *user, uint32_t vertex, kiln_vec3 way)
{
    const pinch *p = user;
    const kiln_world *world = p->world;
    if (vertex < p->solid.count && p->solid.data[vertex])
        return kiln_v3(0, 0, 0);
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

/* Whether nothing holds it where a hole would be. */
static bool is_loose(const pinch *p, const kiln_film *film)
{
    const kiln_mesh *mesh = p->world->mesh;
    for (size_t i = 0; i < 4 * film->tets.count; i++)
        for (int k = 0; k < 3; k++) {
            kiln_vec3 one = kiln_v3(k == 0, k == 1, k == 2);
            kiln_vec3 way = may_go(p, mesh->tet[film->tets.data[i / 4]].v[i % 4], one);
            if (kiln_v3_norm2(kiln_v3_sub(way, one)) > 1e-12)
                return false;
        }
    return true;
}

static void note_looked(const pinch *p, double within, kiln_vec3 centre)
{
    const kiln_mesh *mesh = p->world->mesh;
    for (size_t i = 0; i < p->search.ball.inside; i++)
        if (kiln_v3_norm(kiln_v3_sub(kiln_tet_centre(mesh, p->search.ball.tets.data[i], mesh->x),
                                     centre)) <= within)
            p->looked.data[p->search.ball.tets.data[i]] = 1;
}

/* The next of the list, to be filled. */
static kiln_status next_site(pinch *p, site **next, kiln_error *error)
{
    if (p->sites.count == p->made) {
        KILN_TRY(kiln_array_push(p->world->context, &p->sites, (site){0}, error));
        p->sites.count--;
        p->made++;
    }
    *next = &p->sites.data[p->sites.count];
    return KILN_OK;
}

/* The ball of the search is that of the last look. */
static kiln_status find_neck(pinch *p, uint32_t tet, double depth, site *s, bool *found,
                             kiln_error *error)
{
    *found = false;
    s->in_film = false;
    for (int i = 0; i < REACHES && depth < NEARER[i] * widest(p) && !*found; i++) {
        s->reach = p->search.reach = REACH * NEARER[i] * widest(p);
        KILN_TRY(kiln_neck_find(&p->search, p->world->mesh, tet, &s->neck, found, error));
        *found = *found && width_of(s) < NEARER[i] * widest(p);
    }
    return KILN_OK;
}

static kiln_status look_at(pinch *p, uint32_t face, double depth, uint32_t tet, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    site *s;
    bool found;
    KILN_TRY(next_site(p, &s, error));
    KILN_TRY(find_neck(p, tet, depth, s, &found, error));
    p->looked.data[tet] = 1;
    if (found) {
        note_looked(p, s->reach, s->neck.centre);
        p->sites.count +=
            drawn_out(p, &p->search.ball, s->neck.normal) > 0.0 && is_free(p, &s->neck);
        return KILN_OK;
    }
    note_looked(p, 0.25 * REACH * widest(p), kiln_tet_centre(mesh, tet, mesh->x));
    KILN_TRY(kiln_film_find(&p->films, mesh, face, depth, tet, &s->film, &found, error));
    s->in_film = true;
    p->sites.count += found && width_of(s) < widest(p) &&
                      drawn_out(p, &p->films.ball, s->film.normal) < 0.0 && is_loose(p, &s->film);
    return KILN_OK;
}

/* Necks before films. */
static int narrowest_first(const void *a, const void *b)
{
    const site *left = a, *right = b;
    if (left->in_film != right->in_film)
        return left->in_film ? 1 : -1;
    if (width_of(left) != width_of(right))
        return width_of(left) < width_of(right) ? -1 : 1;
    uint32_t l = left->in_film ? left->film.tets.data[0] : left->neck.faces.data[0];
    uint32_t r = right->in_film ? right->film.tets.data[0] : right->neck.faces.data[0];
    return (l > r) - (l < r);
}

/* What breaks near another waits for the next step. */
static void take_apart(pinch *p)
{
    size_t kept = 0;
    if (p->sites.count)
        qsort(p->sites.data, p->sites.count, sizeof *p->sites.data, narrowest_first);
    for (size_t i = 0; i < p->sites.count; i++) {
        bool alone = true;
        for (size_t j = 0; j < kept; j++)
            alone &=
                kiln_v3_norm(kiln_v3_sub(centre_of(&p->sites.data[i]),
                                         centre_of(&p->sites.data[j]))) > 4.0 * REACH * widest(p);
        if (!alone)
            continue;
        site other = p->sites.data[kept];
        p->sites.data[kept++] = p->sites.data[i];
        p->sites.data[i] = other;
    }
    p->sites.count = kept;
}

static kiln_status note_solid(pinch *p, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(p->world->context, &p->solid, vertices + 1, error));
    memset(p->solid.data, 0, vertices * sizeof *p->solid.data);
    p->solid.count = vertices;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t) && !is_liquid(p, mesh, t); k++)
            p->solid.data[mesh->tet[t].v[k]] = 1;
    return KILN_OK;
}

static kiln_status find_sites(pinch *p, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    p->sites.count = 0;
    KILN_TRY(note_solid(p, error));
    p->films.radius = HOLE * widest(p);
    KILN_TRY(kiln_array_reserve(p->world->context, &p->looked, tets + 1, error));
    memset(p->looked.data, 0, tets * sizeof *p->looked.data);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t tet;
        if (!kiln_face_live(mesh, f) || !is_liquid(p, mesh, mesh->face[f].at / 4))
            continue;
        double depth = kiln_neck_depth(mesh, f, widest(p), &tet);
        if (depth < widest(p) && !p->looked.data[tet])
            KILN_TRY(look_at(p, f, depth, tet, error));
    }
    take_apart(p);
    return KILN_OK;
}

/* The patch that its surface belongs to. */
static int32_t tag_beside(const kiln_mesh *mesh, const site *s)
{
    size_t count = s->in_film ? s->film.tets.count : s->neck.faces.count;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t tet = s->in_film ? s->film.tets.data[i] : s->neck.faces.data[i] / 4;
            kiln_link link = mesh->tet[tet].n[k];
            if (kiln_link_is_surface(link))
                return mesh->face[link - KILN_LINK_SURFACE].tag;
        }
    return 0;
}

static kiln_verdict try_neck(pinch *p, kiln_txn *txn, const site *s, double back, bool refill)
{
    const kiln_neck_break how = {.back = back * width_of(s),
                                 .reach = s->reach,
                                 .quality = LEAST_QUALITY * p->world->scene->remesh.quality,
                                 .refill = refill,
                                 .tag = tag_beside(txn->mesh, s),
                                 .may_go = may_go,
                                 .user = p};
    return kiln_neck_open(txn, &s->neck, &how);
}

static kiln_verdict try_film(pinch *p, kiln_txn *txn, const site *s)
{
    const kiln_film_hole how = {.quality = LEAST_AT_RIM * p->world->scene->remesh.quality,
                                .tag = tag_beside(txn->mesh, s),
                                .may_go = may_go,
                                .user = p};
    return kiln_film_open(txn, &s->film, &how);
}

/* Whether the surface is less than it was, and nothing has come into other surfaces. */
static bool is_better(const pinch *p, double before, uint32_t since)
{
    bool clear;
    return kiln_mesh_surface_area(p->world->mesh) <= before &&
           kiln_solid_is_clear(p->world->solid, since, false, &clear, NULL, NULL) == KILN_OK &&
           clear;
}

/* The way of that number. Undone where it is no better: an end that cannot draw back will another
 * time, and a film becomes thinner. */
static kiln_verdict try_break(pinch *p, kiln_txn *txn, const site *s, int way)
{
    double before = kiln_mesh_surface_area(txn->mesh);
    uint32_t since = txn->mesh->clock;
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = s->in_film ? try_film(p, &inner, s)
                                      : try_neck(p, &inner, s, BACK[way % BACKS], way < BACKS);
    if (verdict == KILN_ACCEPTED && !is_better(p, before, since))
        verdict = KILN_REFUSED_JUDGED;
    return kiln_txn_settle(&inner, verdict);
}

/* What has broken in a step. */
typedef struct broken {
    pinch *pinch;
    size_t necks, films;
} broken;

static kiln_verdict break_all(void *user, kiln_txn *txn, bool *changed)
{
    broken *sum = user;
    pinch *p = sum->pinch;
    for (size_t i = 0; i < p->sites.count; i++) {
        const site *s = &p->sites.data[i];
        kiln_verdict verdict = KILN_REFUSED_JUDGED;
        for (int way = 0; way < (s->in_film ? 1 : 2 * BACKS) && verdict != KILN_ACCEPTED; way++) {
            verdict = try_break(p, txn, s, way);
            if (verdict == KILN_REFUSED_MEMORY)
                return verdict;
        }
        *changed |= verdict == KILN_ACCEPTED;
        sum->necks += verdict == KILN_ACCEPTED && !s->in_film;
        sum->films += verdict == KILN_ACCEPTED && s->in_film;
    }
    return KILN_ACCEPTED;
}

static kiln_status change_mesh(pinch *p, kiln_error *error)
{
    kiln_world *world = p->world;
    broken sum = {.pinch = p};
    bool changed;
    const kiln_pass pass = {.user = &sum, .changes = &p->changes, .change = break_all};
    KILN_TRY(kiln_pass_make(world, &pass, &changed, error));
    if (!changed)
        return KILN_OK;
    p->state.breaks += sum.necks;
    p->state.holes += sum.films;
    /* What bdf2 remembers is of parts that were one. */
    world->state.clock.h_before = 0.0;
    kiln_log(world->context, KILN_LOG_INFO,
             "%zu necks of liquid break and %zu holes open in films at %.6g s", sum.necks,
             sum.films, world->state.clock.time);
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

static kiln_verdict take_droplets(void *user, kiln_txn *txn, bool *changed)
{
    pinch *p = user;
    kiln_world *world = p->world;
    bool gives = world->scene->remesh.droplets == KILN_DROPLETS_MERGE;
    for (uint32_t t = 0; t < world->mesh->table[KILN_ON_TET].used && !gives; t++)
        if (kiln_tet_live(world->mesh, t) && is_droplet(p, world->mesh, t))
            kiln_passed_add(&p->state.gone, world, t);
    kiln_verdict verdict =
        gives ? kiln_droplets_give(world, txn, p->small.data, &p->state.given) : KILN_ACCEPTED;
    *changed = true;
    return verdict == KILN_ACCEPTED ? kiln_tets_remove(txn, is_droplet, p, 0, NULL) : verdict;
}

static kiln_status remove_droplets(pinch *p, kiln_error *error)
{
    kiln_world *world = p->world;
    bool changed;
    const kiln_pass pass = {
        .user = p, .changes = &p->changes, .change = take_droplets, .lets_go = true};
    KILN_TRY(kiln_pass_make(world, &pass, &changed, error));
    kiln_log(world->context, KILN_LOG_INFO,
             "droplets of %.3g m^3 so far are gone, of %.3g m^3 went to others, at %.6g s",
             p->state.gone.volume, p->state.given.volume, world->state.clock.time);
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    pinch *p = self;
    bool some = false;
    (void)moment;
    if (p->world->scene->remesh.droplets != KILN_DROPLETS_KEEP)
        KILN_TRY(find_droplets(p, &some, error));
    if (some)
        KILN_TRY(remove_droplets(p, error));
    KILN_TRY(find_sites(p, error));
    return p->sites.count > 0 ? change_mesh(p, error) : KILN_OK;
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
    stats->holes = (double)p->state.holes;
    stats->gone_volume = p->state.gone.volume;
    stats->gone_mass = p->state.gone.mass;
    stats->joined_volume = p->state.given.volume;
    stats->joined_mass = p->state.given.mass;
}

const kiln_module kiln_module_pinch = {.name = "pinch",
                                       .create = create,
                                       .destroy = destroy,
                                       .after_step = after_step,
                                       .state = state,
                                       .measure = measure};

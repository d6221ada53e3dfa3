#include "topology/damage.h"
#include "base/random.h"
#include "geom/tet_quality.h"
#include "mesh/walk.h"
#include "topology/split.h"

#include <stdlib.h>
#include <string.h>

enum { CLUSTER = 20, CLUSTER_STEPS = 6, TRIES = 400 };

typedef struct damager {
    kiln_mesh *mesh;
    const kiln_damage_options *options;
    kiln_damage_report *report;
    kiln_random random;
    kiln_walker walker;
    KILN_ARRAY_OF(uint8_t)
    taken;                  /* [tet] damaged, or changed with one that is */
    uint32_t centre, share; /* of the present cluster, and how many tets it has */
    uint32_t made[2];       /* vertices made by the present attempt */
    int made_count;
} damager;

const char *kiln_damage_name(kiln_damage_kind kind)
{
    static const char *const names[KILN_DAMAGE_KINDS] = {
#define DAMAGE_NAME(name, text, shape) text,
        KILN_DAMAGE_TABLE(DAMAGE_NAME)
#undef DAMAGE_NAME
    };
    return names[kind];
}

kiln_damage_options kiln_damage_default_options(void)
{
    return (kiln_damage_options){.fraction = 0.01,
                                 .kinds = (1u << KILN_DAMAGE_KINDS) - 1,
                                 .where = (1u << KILN_DAMAGE_WHERES) - 1,
                                 .worst = 1e-3,
                                 .best = 0.1,
                                 .good = 0.15};
}

void kiln_damage_report_free(kiln_context *context, kiln_damage_report *report)
{
    kiln_array_free(context, &report->tets);
}

/* A bit of `mask`: mostly the one of which there is least so far, since some are hard to come by;
 * KILN_NONE where the mask is empty. */
static uint32_t choose_bit(kiln_random *random, uint32_t mask, const size_t *have, uint32_t count)
{
    uint32_t least = KILN_NONE, drawn = kiln_random_below(random, count);
    bool any = kiln_random_below(random, 4) == 0;
    for (uint32_t i = 0; i < count; i++)
        if (mask >> i & 1 && (least == KILN_NONE || have[i] < have[least]))
            least = i;
    return any && mask >> drawn & 1 ? drawn : least;
}

/* A tet of that kind of place: face of it that is a wall there, or any face inside; KILN_NONE
 * where it is elsewhere. */
static uint32_t wall_of(const kiln_mesh *mesh, uint32_t tet, kiln_damage_where where,
                        kiln_random *random)
{
    uint32_t surface = KILN_NONE, interface = KILN_NONE;
    for (uint32_t f = 0; f < 4; f++) {
        kiln_link link = mesh->tet[tet].n[f];
        if (kiln_link_is_surface(link))
            surface = f;
        else if (kiln_link_is_interface(mesh, tet, link))
            interface = f;
    }
    switch (where) {
    case KILN_DAMAGE_SURFACE:
        return surface;
    case KILN_DAMAGE_INTERFACE:
        return surface == KILN_NONE ? interface : KILN_NONE;
    default:
        return surface == KILN_NONE && interface == KILN_NONE ? kiln_random_below(random, 4)
                                                              : KILN_NONE;
    }
}

static uint32_t random_tet(damager *d)
{
    const kiln_mesh *mesh = d->mesh;
    uint32_t tet;
    do
        tet = kiln_random_below(&d->random, mesh->table[KILN_ON_TET].used);
    while (!kiln_tet_live(mesh, tet));
    return tet;
}

/* Anywhere, or some steps from the centre of the cluster. */
static uint32_t next_tet(damager *d)
{
    const kiln_mesh *mesh = d->mesh;
    if (!d->options->clustered)
        return random_tet(d);
    if (d->share >= CLUSTER || d->centre == KILN_NONE || !kiln_tet_live(mesh, d->centre)) {
        d->centre = random_tet(d);
        d->share = 0;
    }
    uint32_t tet = d->centre, steps = kiln_random_below(&d->random, CLUSTER_STEPS);
    for (uint32_t i = 0; i < steps; i++) {
        kiln_link link = mesh->tet[tet].n[kiln_random_below(&d->random, 4)];
        tet = kiln_link_is_surface(link) ? tet : link / 4;
    }
    return tet;
}

/* A small number, all orders of magnitude alike. */
static double small(kiln_random *random)
{
    return 0.3 * pow(10.0, -2.5 * kiln_random_unit(random));
}

static bool may_move(const kiln_mesh *mesh, uint32_t vertex)
{
    return !(mesh->vertex[vertex].flags &
             (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE | KILN_VERTEX_FEATURE |
              KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED));
}

static double volume_of(const kiln_vec3 q[4])
{
    return kiln_tet_volume(q[0], q[1], q[2], q[3]);
}

/* The world position of a material point in the star in d->walker. */
static bool world_of(const damager *d, kiln_vec3 u, kiln_vec3 *x)
{
    const kiln_mesh *mesh = d->mesh;
    for (size_t i = 0; i < d->walker.tets.count; i++) {
        const uint32_t *v = mesh->tet[d->walker.tets.data[i]].v;
        kiln_vec3 q[4];
        double weight[4], all;
        bool inside = true, same = true;
        for (int k = 0; k < 4; k++) {
            q[k] = mesh->u[v[k]];
            same &= memcmp(&mesh->u[v[k]], &mesh->x[v[k]], sizeof u) == 0;
        }
        all = volume_of(q);
        *x = kiln_v3(0, 0, 0);
        for (int k = 0; k < 4; k++) {
            kiln_vec3 with[4] = {q[0], q[1], q[2], q[3]};
            with[k] = u;
            weight[k] = volume_of(with) / all;
            inside &= weight[k] >= 0.0;
            *x = kiln_v3_madd(*x, weight[k], mesh->x[v[k]]);
        }
        if (!inside)
            continue;
        if (same)
            *x = u;
        return true;
    }
    return false;
}

/* The corner opposite face f goes to within `near` of a point in the plane of the face: above it
 * for a cap, beyond one of its edges for a sliver. */
static kiln_verdict flatten(damager *d, kiln_txn *txn, uint32_t tet, uint32_t f, bool sliver,
                            double near)
{
    const kiln_mesh *mesh = d->mesh;
    const uint32_t *v = mesh->tet[tet].v;
    uint32_t vertex = v[f], turn = kiln_random_below(&d->random, 3);
    if (!may_move(mesh, vertex))
        return KILN_REFUSED_REQUIRED;
    kiln_vec3 a = mesh->u[v[kiln_face_corner[f][turn]]];
    kiln_vec3 b = mesh->u[v[kiln_face_corner[f][(turn + 1) % 3]]];
    kiln_vec3 c = mesh->u[v[kiln_face_corner[f][(turn + 2) % 3]]];
    double along = kiln_random_range(&d->random, 0.35, 0.65);
    double beyond = sliver ? kiln_random_range(&d->random, -0.6, -0.2)
                           : kiln_random_range(&d->random, 0.2, 0.5);
    kiln_vec3 foot = kiln_v3_lerp(kiln_v3_lerp(a, b, along), c, beyond), x;
    kiln_vec3 u = kiln_v3_lerp(foot, mesh->u[vertex], near);
    if (!world_of(d, u, &x))
        return KILN_REFUSED_INVERTED;
    return kiln_txn_move_vertex(txn, vertex, u, x);
}

static kiln_verdict split(damager *d, kiln_txn *txn, uint32_t tet, const uint32_t *corners,
                          int count, const double *weight, kiln_split *out)
{
    kiln_verdict verdict = kiln_split_at(txn, tet, corners, count, weight, out);
    if (verdict == KILN_ACCEPTED)
        d->made[d->made_count++] = out->vertex;
    return verdict;
}

/* A vertex close to a face, inside the tet. */
static kiln_verdict insert_cap(damager *d, kiln_txn *txn, uint32_t tet, uint32_t f, double near)
{
    const uint32_t corners[4] = {0, 1, 2, 3};
    double weight[4], sum = 0.0;
    for (uint32_t k = 0; k < 4; k++)
        sum += weight[k] = k == f ? 0.0 : kiln_random_range(&d->random, 0.7, 1.3);
    for (uint32_t k = 0; k < 4; k++)
        weight[k] = k == f ? near : (1.0 - near) * weight[k] / sum;
    kiln_split made;
    return split(d, txn, tet, corners, 4, weight, &made);
}

/* An edge of the face is split close to one end: wedges all round it. */
static kiln_verdict insert_wedge(damager *d, kiln_txn *txn, uint32_t tet, uint32_t f, double near,
                                 kiln_split *out)
{
    uint32_t turn = kiln_random_below(&d->random, 3);
    const uint32_t corners[2] = {kiln_face_corner[f][turn], kiln_face_corner[f][(turn + 1) % 3]};
    const double weight[2] = {1.0 - near, near};
    return split(d, txn, tet, corners, 2, weight, out);
}

/* An edge is split close to its end a, and the face of a, the new vertex and a third close to the
 * two: a, p, q are close together. */
static kiln_verdict insert_needle(damager *d, kiln_txn *txn, uint32_t tet, uint32_t f, double near)
{
    kiln_split first, second;
    kiln_verdict verdict = insert_wedge(d, txn, tet, f, near, &first);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    const kiln_mesh *mesh = d->mesh;
    if (kiln_edge_tets(mesh, first.vertex, first.parent[0], &d->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    uint32_t count = (uint32_t)d->walker.tets.count;
    uint32_t at = d->walker.tets.data[kiln_random_below(&d->random, count)];
    uint32_t corners[3] = {kiln_tet_corner(&mesh->tet[at], first.parent[0]),
                           kiln_tet_corner(&mesh->tet[at], first.vertex), 0};
    while (corners[2] == corners[0] || corners[2] == corners[1])
        corners[2]++;
    const double weight[3] = {0.5 * (1.0 - near), 0.5 * (1.0 - near), near};
    return split(d, txn, at, corners, 3, weight, &second);
}

static kiln_verdict apply(damager *d, kiln_txn *txn, kiln_damage_kind kind, uint32_t tet,
                          uint32_t f)
{
    double near = small(&d->random);
    bool insert = kiln_random_below(&d->random, 2) == 0;
    kiln_split made;
    d->made_count = 0;
    if (kiln_star(d->mesh, d->mesh->tet[tet].v[f], &d->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    switch (kind) {
    case KILN_SLIVERS:
        return flatten(d, txn, tet, f, true, near);
    case KILN_CAPS:
        return insert ? insert_cap(d, txn, tet, f, near) : flatten(d, txn, tet, f, false, near);
    case KILN_NEEDLES:
        return insert_needle(d, txn, tet, f, near);
    default:
        return insert_wedge(d, txn, tet, f, near, &made);
    }
}

static double quality_of(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_quality(&mesh->u[v[0]], &mesh->u[v[1]], &mesh->u[v[2]], &mesh->u[v[3]]);
}

/* Room for the tets there may be after a change, new ones not taken. */
static kiln_status follow_tets(damager *d, kiln_error *error)
{
    size_t used = d->mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_array_reserve(d->mesh->context, &d->taken, used, error));
    while (d->taken.count < used)
        d->taken.data[d->taken.count++] = 0;
    return KILN_OK;
}

/* How many of the tets that changed are as bad as wanted; none where one was damaged before or is
 * neither good nor as bad as wanted. */
static uint32_t count_bad(const damager *d, const kiln_u32_array *changed)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < changed->count; i++) {
        double q = quality_of(d->mesh, changed->data[i]);
        bool is_bad = q >= d->options->worst && q <= d->options->best;
        if (d->taken.data[changed->data[i]] || (!is_bad && q < d->options->good))
            return 0;
        bad += is_bad;
    }
    return bad;
}

/* Tets that changed after `clock`: all have a corner of the tet chosen, or a vertex made. */
static kiln_status find_changed(damager *d, const uint32_t corner[4], uint32_t clock,
                                kiln_u32_array *changed, kiln_error *error)
{
    const kiln_mesh *mesh = d->mesh;
    changed->count = 0;
    for (int k = 0; k < 4 + d->made_count; k++) {
        KILN_TRY(kiln_star(mesh, k < 4 ? corner[k] : d->made[k - 4], &d->walker, error));
        for (size_t i = 0; i < d->walker.tets.count; i++) {
            uint32_t tet = d->walker.tets.data[i];
            bool known = mesh->info[tet].changed <= clock;
            for (size_t j = 0; j < changed->count && !known; j++)
                known = changed->data[j] == tet;
            if (!known)
                KILN_TRY(kiln_array_push(mesh->context, changed, tet, error));
        }
    }
    return KILN_OK;
}

static kiln_status record(damager *d, const kiln_u32_array *changed, kiln_damage_kind kind,
                          kiln_damage_where where, kiln_error *error)
{
    for (size_t i = 0; i < changed->count; i++) {
        d->taken.data[changed->data[i]] = 1;
        if (quality_of(d->mesh, changed->data[i]) > d->options->best)
            continue;
        KILN_TRY(kiln_array_push(d->mesh->context, &d->report->tets, changed->data[i], error));
        d->report->kind[kind]++;
        d->report->where[where]++;
        d->share++;
    }
    return KILN_OK;
}

/* One attempt; *done where it was kept. */
static kiln_status attempt(damager *d, kiln_u32_array *changed, bool *done, kiln_error *error)
{
    kiln_mesh *mesh = d->mesh;
    uint32_t kind = choose_bit(&d->random, d->options->kinds, d->report->kind, KILN_DAMAGE_KINDS);
    uint32_t where =
        choose_bit(&d->random, d->options->where, d->report->where, KILN_DAMAGE_WHERES);
    *done = false;
    if (kind == KILN_NONE || where == KILN_NONE)
        return KILN_OK;
    uint32_t tet = next_tet(d), f = wall_of(mesh, tet, where, &d->random), corner[4], clock;
    if (f == KILN_NONE || d->taken.data[tet])
        return KILN_OK;
    memcpy(corner, mesh->tet[tet].v, sizeof corner);
    clock = mesh->clock;
    kiln_txn txn = kiln_txn_begin(mesh);
    if (txn.depth == 0)
        return kiln_fail_memory(error, 0);
    kiln_verdict verdict = apply(d, &txn, kind, tet, f);
    uint32_t bad = 0;
    kiln_status status = verdict == KILN_REFUSED_MEMORY ? kiln_fail_memory(error, 0) : KILN_OK;
    if (verdict == KILN_ACCEPTED) {
        status = follow_tets(d, error);
        if (status == KILN_OK)
            status = find_changed(d, corner, clock, changed, error);
        if (status == KILN_OK)
            bad = count_bad(d, changed);
    }
    if (bad == 0) {
        kiln_txn_rollback(&txn);
        return status;
    }
    *done = kiln_txn_settle(&txn, verdict) == KILN_ACCEPTED;
    return *done ? record(d, changed, kind, where, error) : KILN_OK;
}

static int compare_tets(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static kiln_status damage(damager *d, kiln_u32_array *changed, kiln_error *error)
{
    size_t wanted = (size_t)ceil(d->options->fraction * d->mesh->table[KILN_ON_TET].live);
    uint32_t failed = 0;
    while (d->report->tets.count < wanted && failed < TRIES * 100) {
        bool done;
        KILN_TRY(follow_tets(d, error));
        KILN_TRY(attempt(d, changed, &done, error));
        failed = done ? 0 : failed + 1;
        if (failed % TRIES == TRIES - 1)
            d->share = CLUSTER; /* this cluster is full */
    }
    qsort(d->report->tets.data, d->report->tets.count, sizeof(uint32_t), compare_tets);
    return KILN_OK;
}

kiln_status kiln_mesh_damage(kiln_mesh *mesh, const kiln_damage_options *options,
                             kiln_damage_report *report, kiln_error *error)
{
    damager d = {.mesh = mesh,
                 .options = options,
                 .report = report,
                 .random = kiln_random_start(options->seed, 77),
                 .centre = KILN_NONE};
    kiln_u32_array changed = {0};
    *report = (kiln_damage_report){0};
    kiln_walker_init(&d.walker, mesh->context);
    kiln_status status = damage(&d, &changed, error);
    kiln_walker_free(&d.walker);
    kiln_array_free(mesh->context, &changed);
    kiln_array_free(mesh->context, &d.taken);
    if (status != KILN_OK)
        kiln_damage_report_free(mesh->context, report);
    return status;
}

#include "sim/droplets.h"

#include "fem/offset.h"
#include "sim/through.h"

#include <math.h>

typedef struct part_sums {
    double mass;
    kiln_vec3 centre, momentum, spin; /* about a point */
    kiln_mat3 inertia;                /* likewise: spin of a rotation by 1 rad/s */
} part_sums;

typedef struct giving {
    kiln_world *world;
    kiln_txn *txn;
    uint32_t *small;
} giving;

static const double *column(const giving *g, const char *name)
{
    return (const double *)(const void *)kiln_mesh_field(g->txn->mesh, KILN_ON_TET, name)->data;
}

static const kiln_vec3 *velocities(const giving *g)
{
    return (const kiln_vec3 *)(const void *)kiln_mesh_field(g->txn->mesh, KILN_ON_VERTEX, "v")
        ->data;
}

/* With the consistent mass of linear tets. */
static void add_tet(const giving *g, uint32_t tet, kiln_vec3 about, part_sums *s)
{
    const kiln_mesh *mesh = g->txn->mesh;
    const kiln_vec3 *velocity = velocities(g);
    const uint32_t *v = mesh->tet[tet].v;
    double m = column(g, KILN_FIELD_MASS)[tet];
    s->mass += m;
    for (int i = 0; i < 4; i++) {
        kiln_vec3 r = kiln_v3_sub(mesh->x[v[i]], about);
        s->centre = kiln_v3_madd(s->centre, 0.25 * m, r);
        s->momentum = kiln_v3_madd(s->momentum, 0.25 * m, velocity[v[i]]);
        for (int k = 0; k < 4; k++) {
            double w = m * (i == k ? 0.1 : 0.05);
            kiln_vec3 q = kiln_v3_sub(mesh->x[v[k]], about);
            const double a[3] = {q.x, q.y, q.z}, b[3] = {r.x, r.y, r.z};
            s->spin = kiln_v3_madd(s->spin, w, kiln_v3_cross(r, velocity[v[k]]));
            for (int n = 0; n < 9; n++)
                s->inertia.m[n / 3][n % 3] +=
                    w * ((n / 3 == n % 3 ? kiln_v3_dot(r, q) : 0.0) - a[n / 3] * b[n % 3]);
        }
    }
}

static part_sums sum_part(const giving *g, uint32_t part, kiln_vec3 about)
{
    part_sums s = {.mass = 0.0};
    const kiln_mesh *mesh = g->txn->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && mesh->info[t].part == part)
            add_tet(g, t, about, &s);
    if (s.mass > 0.0)
        s.centre = kiln_v3_madd(about, 1.0 / s.mass, s.centre);
    return s;
}

static bool may_take(const giving *g, uint32_t tet, uint32_t material)
{
    const kiln_mesh *mesh = g->txn->mesh;
    return kiln_tet_live(mesh, tet) && !g->small[mesh->info[tet].part] &&
           kiln_world_material_of(mesh)[tet] == material;
}

/* The part of the nearest tet that may take it, by their middles. */
static uint32_t nearest_part(const giving *g, kiln_vec3 at, uint32_t material)
{
    const kiln_mesh *mesh = g->txn->mesh;
    uint32_t best = KILN_NONE;
    double least = INFINITY;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double off = may_take(g, t, material)
                         ? kiln_v3_norm2(kiln_v3_sub(kiln_tet_centre(mesh, t, mesh->x), at))
                         : INFINITY;
        if (off < least) {
            least = off;
            best = mesh->info[t].part;
        }
    }
    return best;
}

/* A share of what the droplet has in all of the field, by mass. */
static kiln_verdict share_out(const giving *g, const char *name, uint32_t from, uint32_t to,
                              uint32_t material)
{
    const kiln_mesh *mesh = g->txn->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, name);
    const double *value = column(g, name);
    double given = 0.0, all = 0.0;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        given += kiln_tet_live(mesh, t) && mesh->info[t].part == from ? value[t] : 0.0;
        all += may_take(g, t, material) && mesh->info[t].part == to ? value[t] : 0.0;
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && verdict == KILN_ACCEPTED; t++) {
        double more = value[t] * (1.0 + given / all);
        if (may_take(g, t, material) && mesh->info[t].part == to)
            verdict = kiln_txn_write(g->txn, KILN_ON_TET, field, t, &more);
    }
    return verdict;
}

/* What the part lacks of both sums' momenta, about `about`, as a rigid motion of its vertices. */
static kiln_verdict move_part(const giving *g, uint32_t part, const part_sums *both)
{
    const kiln_mesh *mesh = g->txn->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    part_sums now = sum_part(g, part, both->centre);
    kiln_vec3 off = kiln_v3_sub(now.centre, both->centre);
    /* about its own centre both momenta come apart */
    part_sums own = sum_part(g, part, now.centre);
    kiln_vec3 dp = kiln_v3_sub(both->momentum, own.momentum);
    kiln_vec3 dl =
        kiln_v3_sub(kiln_v3_sub(both->spin, kiln_v3_cross(off, both->momentum)), own.spin);
    kiln_vec3 shift = kiln_v3_scale(dp, 1.0 / own.mass);
    kiln_vec3 turn = kiln_m3_apply(kiln_m3_inverse(own.inertia), dl);
    KILN_ARRAY_OF(uint8_t)
    done = {0};
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    if (kiln_array_reserve(mesh->context, &done, rows + 1, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t v = 0; v < rows; v++)
        done.data[v] = 0;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < 4 * (size_t)mesh->table[KILN_ON_TET].used; i++) {
        uint32_t tet = (uint32_t)(i / 4);
        if (!kiln_tet_live(mesh, tet) || mesh->info[tet].part != part)
            continue;
        uint32_t v = mesh->tet[tet].v[i % 4];
        if (done.data[v] || verdict != KILN_ACCEPTED)
            continue;
        done.data[v] = 1;
        kiln_vec3 more =
            kiln_v3_add(shift, kiln_v3_cross(turn, kiln_v3_sub(mesh->x[v], now.centre)));
        more = kiln_v3_add(velocities(g)[v], more);
        verdict = kiln_txn_write(g->txn, KILN_ON_VERTEX, field, v, &more);
    }
    kiln_array_free(mesh->context, &done);
    return verdict;
}

static uint32_t first_tet(const kiln_mesh *mesh, uint32_t part)
{
    uint32_t t = 0;
    while (!kiln_tet_live(mesh, t) || mesh->info[t].part != part)
        t++;
    return t;
}

static kiln_verdict give(giving *g, uint32_t part, kiln_passed *given)
{
    static const char *const amounts[] = {KILN_FIELD_MASS, KILN_FIELD_EVEN, KILN_FIELD_REST_VOLUME};
    const kiln_mesh *mesh = g->txn->mesh;
    uint32_t first = first_tet(mesh, part), material = kiln_world_material_of(mesh)[first];
    kiln_vec3 at = sum_part(g, part, mesh->x[mesh->tet[first].v[0]]).centre;
    uint32_t to = nearest_part(g, at, material);
    if (to == KILN_NONE) {
        g->small[part] = 0;
        return KILN_ACCEPTED;
    }
    part_sums both = sum_part(g, to, at), drop = sum_part(g, part, at);
    both.momentum = kiln_v3_add(both.momentum, drop.momentum);
    both.spin = kiln_v3_add(both.spin, drop.spin);
    both.centre = at;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && mesh->info[t].part == part)
            kiln_passed_add(given, g->world, t);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int i = 0; i < 3 && verdict == KILN_ACCEPTED; i++)
        if (kiln_mesh_field(mesh, KILN_ON_TET, amounts[i]))
            verdict = share_out(g, amounts[i], part, to, material);
    return verdict == KILN_ACCEPTED ? move_part(g, to, &both) : verdict;
}

kiln_verdict kiln_droplets_give(kiln_world *world, kiln_txn *txn, uint32_t *small,
                                kiln_passed *given)
{
    giving g = {world, txn, small};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t part = 0; part < txn->mesh->parts.count && verdict == KILN_ACCEPTED; part++)
        if (small[part] && txn->mesh->parts.data[part].tets > 0)
            verdict = give(&g, part, given);
    return verdict;
}

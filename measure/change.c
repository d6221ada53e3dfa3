#include "measure/change.h"

#include "mesh/txn.h"
#include "mesh/walk.h"
#include "remesh/flip.h"
#include "topology/split.h"

static bool within(const kiln_mesh *mesh, uint32_t tet, const kiln_change_limits *limits)
{
    for (int i = 0; limits->reach > 0.0 && i < 4; i++) {
        kiln_vec3 away = kiln_v3_sub(mesh->u[mesh->tet[tet].v[i]], limits->centre);
        if (kiln_v3_norm(away) > limits->reach)
            return false;
    }
    return true;
}

/* Nothing flat, nothing outside: what was made must lie within too. */
static kiln_verdict judge(const kiln_mesh *mesh, kiln_verdict verdict, const uint32_t *made,
                          int count, const kiln_change_limits *limits)
{
    for (int i = 0; verdict == KILN_ACCEPTED && i < count; i++)
        if (kiln_mesh_tet_volume(mesh, made[i]) < limits->flattest ||
            !within(mesh, made[i], limits))
            verdict = KILN_REFUSED_INVERTED;
    return verdict;
}

/* The tets of an edge, face or vertex must all lie within. */
static bool star_within(const kiln_mesh *mesh, uint32_t tet, uint32_t corner,
                        const kiln_change_limits *limits)
{
    if (limits->reach == 0.0)
        return true;
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    bool all = kiln_star(mesh, mesh->tet[tet].v[corner], &walker, NULL) == KILN_OK;
    for (size_t i = 0; all && i < walker.tets.count; i++)
        all = within(mesh, walker.tets.data[i], limits);
    kiln_walker_free(&walker);
    return all;
}

static kiln_verdict move(kiln_txn *txn, kiln_random *random, uint32_t vertex, double size)
{
    const kiln_mesh *mesh = txn->mesh;
    double x = kiln_random_range(random, -size, size), y = kiln_random_range(random, -size, size);
    kiln_vec3 step = {x, y, kiln_random_range(random, -size, size)};
    if (mesh->vertex[vertex].flags & (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE))
        return KILN_REFUSED_REQUIRED;
    return kiln_txn_move_vertex(txn, vertex, kiln_v3_add(mesh->u[vertex], step),
                                kiln_v3_add(mesh->x[vertex], step));
}

static bool change_once(kiln_mesh *mesh, kiln_random *random, const kiln_change_limits *limits)
{
    uint32_t used = mesh->table[KILN_ON_TET].used, made[3];
    uint32_t t = limits->first + kiln_random_below(random, limits->count ? limits->count : used);
    uint32_t a = kiln_random_below(random, 4), b = (a + 1 + kiln_random_below(random, 3)) % 4;
    uint32_t kind = kiln_random_below(random, 8), corners[4] = {a, b, 4, 4};
    for (uint32_t k = 0; k < 4; k++)
        if (k != a && k != b)
            corners[corners[2] == 4 ? 2 : 3] = k;
    if (t >= used || !kiln_tet_live(mesh, t) || !within(mesh, t, limits))
        return false;
    if (kind >= 3 && !star_within(mesh, t, a, limits))
        return false;
    kiln_split split;
    kiln_txn txn = kiln_txn_begin(mesh);
    if (txn.depth == 0)
        return false;
    kiln_verdict verdict =
        kind < 3   ? judge(mesh, kiln_flip_23(&txn, t, a, made), made, 3, limits)
        : kind < 5 ? judge(mesh, kiln_flip_32(&txn, t, a, b, made), made, 2, limits)
        : kind < 7
            ? move(&txn, random, mesh->tet[t].v[a], limits->move)
            : kiln_split_middle(&txn, t, corners, 2 + (int)kiln_random_below(random, 3), &split);
    return kiln_txn_settle(&txn, verdict) == KILN_ACCEPTED;
}

int kiln_fixture_change(kiln_mesh *mesh, kiln_random *random, int attempts,
                        const kiln_change_limits *limits)
{
    int kept = 0;
    for (int i = 0; i < attempts; i++)
        kept += change_once(mesh, random, limits);
    return kept;
}

/* Fixtures and checks of the insertion tests. */
#ifndef KILN_TESTS_REMESH_INSERTION_H
#define KILN_TESTS_REMESH_INSERTION_H

#include "fixtures.h"
#include "remesh/insert.h"
#include "remesh/sizing.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

KILN_UNUSED static kiln_remesher begin(kiln_mesh *mesh, const kiln_remesh_options *options)
{
    kiln_remesher remesher;
    kiln_error error = {0};
    kiln_status status = kiln_remesher_begin(mesh, options, &remesher, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    return remesher;
}

KILN_UNUSED static kiln_remesher begin_usual(kiln_mesh *mesh)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    return begin(mesh, &options);
}

KILN_UNUSED static double worst_of(const kiln_remesher *remesher)
{
    double worst = INFINITY;
    for (uint32_t t = 0; t < remesher->mesh->table[KILN_ON_TET].used; t++)
        worst = fmin(worst, remesher->quality.data[t]);
    return worst;
}

/* Columns beside the mesh agree with it (R1). */
KILN_UNUSED static void check_columns(const kiln_remesher *remesher)
{
    const kiln_mesh *mesh = remesher->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double expected =
            kiln_tet_live(mesh, t) ? kiln_remesher_score(remesher, NULL, mesh->tet[t].v) : INFINITY;
        ck_assert_msg(remesher->quality.data[t] == expected, "tet %u: %.17g, %.17g", t,
                      remesher->quality.data[t], expected);
    }
}

KILN_UNUSED static int ascending(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* Quality, side and metric columns in use, for comparison after undo. */
KILN_UNUSED static uint64_t columns_hash(const kiln_remesher *remesher)
{
    const kiln_table *table = remesher->mesh->table;
    uint64_t hash = 1;
    for (uint32_t t = 0; t < table[KILN_ON_TET].used; t++) {
        uint64_t bits;
        memcpy(&bits, &remesher->quality.data[t], sizeof bits);
        hash = kiln_hash_add(hash, bits);
    }
    for (uint32_t v = 0; v < table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(remesher->mesh, v))
            continue;
        const kiln_vertex_side *side = &remesher->side.data[v];
        uint64_t words[4];
        memcpy(words, &side->begin, 3 * sizeof *words);
        words[3] = (uint64_t)side->hint << 32 | side->freedom;
        for (int i = 0; i < 4; i++)
            hash = kiln_hash_add(hash, words[i]);
    }
    return hash;
}

KILN_UNUSED static void check_changed(const kiln_remesher *remesher, kiln_walker *walker)
{
    kiln_audit_report report = {0};
    for (size_t i = 0; i < remesher->changed.count; i++) {
        uint32_t tet = remesher->changed.data[i];
        ck_assert_int_eq(kiln_mesh_audit_tet(remesher->mesh, tet, walker, &report, NULL), KILN_OK);
        ck_assert_msg(!report.invariant, "%s", report.invariant);
        ck_assert(remesher->quality.data[tet] ==
                  kiln_remesher_score(remesher, NULL, remesher->mesh->tet[tet].v));
    }
}

KILN_UNUSED static double region_volume(const kiln_mesh *mesh, int32_t region)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && mesh->info[t].region == region)
            sum += kiln_mesh_tet_volume(mesh, t);
    return sum;
}

KILN_UNUSED static double feature_length(const kiln_mesh *mesh)
{
    double sum = 0.0;
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6 && kiln_tet_live(mesh, t); e++) {
            if (!(mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + e) & 1))
                continue;
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[e][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[e][1]];
            ck_assert_int_eq(kiln_edge_tets(mesh, a, b, &walker, NULL), KILN_OK);
            sum += kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b])) / (double)walker.tets.count;
        }
    kiln_walker_free(&walker);
    return sum;
}

/* Moves vertices at random where that leaves surface and interfaces as they are. */
KILN_UNUSED static void jitter_inside(kiln_mesh *mesh, double size, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 0);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        double x = kiln_random_range(&random, -size, size);
        double y = kiln_random_range(&random, -size, size);
        kiln_vec3 step = kiln_v3(x, y, kiln_random_range(&random, -size, size));
        if (mesh->vertex[v].flags & (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE))
            continue;
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_txn_settle(&txn, kiln_txn_move_vertex(&txn, v, kiln_v3_add(mesh->u[v], step),
                                                   kiln_v3_add(mesh->x[v], step)));
    }
}

/* Two regions, their edges features; all walls flat. */
KILN_UNUSED static kiln_mesh *two_regions(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double x = 0.0;
        for (int k = 0; k < 4; k++)
            x += mesh->u[mesh->tet[t].v[k]].x / 4;
        ck_assert_int_eq(kiln_txn_set_region(&txn, t, x < 0.5 ? 1 : 2), KILN_ACCEPTED);
        for (uint32_t e = 0; e < 6; e++) {
            kiln_vec3 a = mesh->u[mesh->tet[t].v[kiln_edge_ends[e][0]]];
            kiln_vec3 b = mesh->u[mesh->tet[t].v[kiln_edge_ends[e][1]]];
            int sides = (a.x == b.x && (a.x == 0 || a.x == 1 || a.x == 0.5)) +
                        (a.y == b.y && (a.y == 0 || a.y == 1)) +
                        (a.z == b.z && (a.z == 0 || a.z == 1));
            if (sides == 2)
                ck_assert_int_eq(kiln_txn_mark_edge(&txn, t, e, KILN_MARK_FEATURE_EDGE, true),
                                 KILN_ACCEPTED);
        }
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    jitter_inside(mesh, 0.05, 3);
    return mesh;
}

KILN_UNUSED static kiln_sym3 stretched(void *user, kiln_vec3 p)
{
    (void)user;
    return (kiln_sym3){4 + 8 * p.x, 16, 64, 0, 0, 0};
}

/* Finished, of the function above. */
KILN_UNUSED static kiln_sizing *stretched_sizing(const kiln_mesh *mesh)
{
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_function(sizing, stretched, NULL, false, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){.ratio = 0}, NULL), KILN_OK);
    return sizing;
}

/* World positions bent so much that what is legal in one space is often not in the other. */
KILN_UNUSED static void bend(kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] = kiln_v3(u.x * (1 + u.y), u.y + 0.4 * u.x * u.x, 3 * u.z - u.x * u.y);
    }
}

#endif

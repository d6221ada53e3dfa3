/* Marks, regions, locks and bodies that follow from shape and matter, and that all of it rolls
 * back. */
#include "fixtures.h"
#include "support.h"
#include "topology/assign.h"
#include "topology/features.h"

static bool always(const kiln_mesh *mesh, uint32_t face, uint32_t other, void *user)
{
    (void)mesh, (void)face, (void)other, (void)user;
    return true;
}

static bool same_tag(const kiln_mesh *mesh, uint32_t face, uint32_t other, void *user)
{
    (void)user;
    return mesh->face[face].tag == mesh->face[other].tag;
}

/* A box whose sides are one patch: 12 sharp edges, 8 corners. */
static kiln_mesh *plain_box(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        ck_assert_int_eq(kiln_txn_set_face_tag(&txn, f, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    return mesh;
}

static uint32_t with_flag(const kiln_mesh *mesh, uint32_t flag)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        count += (mesh->vertex[v].flags & flag) != 0;
    return count;
}

static uint32_t marked_edges(const kiln_mesh *mesh)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6; e++)
            count += mesh->info[t].marks >> (KILN_MARK_FEATURE_EDGE + e) & 1;
    return count;
}

START_TEST(sharp_edges_stay_and_blunt_ones_go)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = plain_box(context);
    uint32_t edges = marked_edges(mesh), on_feature = with_flag(mesh, KILN_VERTEX_FEATURE);
    ck_assert_uint_eq(on_feature, 12 * 3 + 8);
    ck_assert_uint_eq(with_flag(mesh, KILN_VERTEX_CORNER), 8);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_features_forget(&txn, KILN_SPACE_WORLD, 1.5, always, NULL),
                     KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_uint_eq(marked_edges(mesh), edges);
    ck_assert_uint_eq(with_flag(mesh, KILN_VERTEX_FEATURE), on_feature);
    ck_assert_uint_eq(with_flag(mesh, KILN_VERTEX_CORNER), 8);
    kiln_test_audit(mesh);

    uint64_t hash = kiln_mesh_hash(mesh);
    for (int keep = 0; keep < 2; keep++) {
        txn = kiln_txn_begin(mesh);
        ck_assert_int_eq(kiln_features_forget(&txn, KILN_SPACE_WORLD, 1.6, always, NULL),
                         KILN_ACCEPTED);
        ck_assert_uint_eq(marked_edges(mesh), 0);
        ck_assert_uint_eq(with_flag(mesh, KILN_VERTEX_FEATURE | KILN_VERTEX_CORNER), 0);
        if (keep) {
            ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
            break;
        }
        kiln_txn_rollback(&txn);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    }
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* An edge of a surface face with no end on a feature, as face*3+side. */
static uint32_t lonely_edge(const kiln_mesh *mesh)
{
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (uint32_t side = 0; side < 3; side++) {
            uint32_t at = mesh->face[f].at;
            const uint8_t *c = kiln_face_corner[at % 4];
            const uint32_t *v = mesh->tet[at / 4].v;
            if (!((mesh->vertex[v[c[side]]].flags | mesh->vertex[v[c[(side + 1) % 3]]].flags) &
                  KILN_VERTEX_FEATURE))
                return 3 * f + side;
        }
    ck_abort_msg("no such edge");
    return 0;
}

START_TEST(ends_amid_a_surface_go_unless_they_must_stay)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = plain_box(context);
    uint32_t edges = marked_edges(mesh), lonely = lonely_edge(mesh);
    uint32_t at = mesh->face[lonely / 3].at, side = lonely % 3;
    uint32_t edge =
        kiln_edge_of[kiln_face_corner[at % 4][side]][kiln_face_corner[at % 4][(side + 1) % 3]];
    for (int required = 0; required < 2; required++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        ck_assert_int_eq(kiln_txn_mark_edge(&txn, at / 4, edge, KILN_MARK_FEATURE_EDGE, true),
                         KILN_ACCEPTED);
        if (required)
            ck_assert_int_eq(kiln_txn_mark_edge(&txn, at / 4, edge, KILN_MARK_REQUIRED_EDGE, true),
                             KILN_ACCEPTED);
        ck_assert_int_eq(kiln_features_forget(&txn, KILN_SPACE_MATERIAL, 0.0, same_tag, NULL),
                         KILN_ACCEPTED);
        if (required)
            ck_assert_uint_gt(marked_edges(mesh), edges);
        else
            ck_assert_uint_eq(marked_edges(mesh), edges);
        kiln_txn_rollback(&txn);
        kiln_test_audit(mesh);
    }
    /* The rim of a patch stays, blunt or not. */
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_set_face_tag(&txn, lonely / 3, 9), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_mark_edge(&txn, at / 4, edge, KILN_MARK_FEATURE_EDGE, true),
                     KILN_ACCEPTED);
    ck_assert_int_eq(kiln_features_forget(&txn, KILN_SPACE_MATERIAL, 3.0, same_tag, NULL),
                     KILN_ACCEPTED);
    ck_assert_uint_eq(mesh->info[at / 4].marks >> (KILN_MARK_FEATURE_EDGE + edge) & 1, 1);
    kiln_txn_rollback(&txn);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(nothing_is_half_done_without_memory)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = plain_box(context);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_verdict verdict = KILN_REFUSED_MEMORY;
    int failures = 0;
    for (uint64_t k = 1; verdict != KILN_ACCEPTED; k++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        heap.calls = 0;
        heap.fail_at = k;
        verdict = kiln_features_forget(&txn, KILN_SPACE_WORLD, 1.6, always, NULL);
        heap.fail_at = 0;
        failures += verdict == KILN_REFUSED_MEMORY;
        kiln_txn_rollback(&txn);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    }
    ck_assert_int_gt(failures, 2);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

START_TEST(matter_tells_regions_locks_and_bodies)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=3 nz=3");
    uint32_t tets = mesh->table[KILN_ON_TET].used, kind[512];
    uint8_t flows[1] = {0};
    ck_assert_uint_le(tets, 512);
    int32_t region = mesh->info[0].region;
    for (uint32_t t = 0; t < tets; t++)
        kind[t] = mesh->u[mesh->tet[t].v[0]].x < 0.5 ? 8 : 5;
    uint64_t hash = kiln_mesh_hash(mesh);
    for (int keep = 0; keep < 2; keep++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        ck_assert_int_eq(kiln_regions_divide(&txn, kind), KILN_ACCEPTED);
        ck_assert_int_eq(kiln_parts_lock(&txn, flows), KILN_ACCEPTED);
        ck_assert_int_eq(kiln_parts_join_bodies(&txn, kind), KILN_ACCEPTED);
        for (uint32_t t = 0; t < tets; t++) {
            ck_assert_int_eq(mesh->info[t].region,
                             kind[t] == kind[0] ? region : (region > 0 ? region : 0) + 1);
            ck_assert_uint_ne(mesh->info[t].marks & KILN_MARK_LOCKED, 0);
        }
        ck_assert_uint_eq(mesh->parts.data[0].body, 5);
        if (keep) {
            ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
            break;
        }
        kiln_txn_rollback(&txn);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    }
    kiln_test_audit(mesh);
    ck_assert_uint_gt(with_flag(mesh, KILN_VERTEX_INTERFACE), 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("features");
    TCase *all = kiln_test_case(suite, "features");
    tcase_add_test(all, sharp_edges_stay_and_blunt_ones_go);
    tcase_add_test(all, ends_amid_a_surface_go_unless_they_must_stay);
    tcase_add_test(all, nothing_is_half_done_without_memory);
    tcase_add_test(all, matter_tells_regions_locks_and_bodies);
    return suite;
}

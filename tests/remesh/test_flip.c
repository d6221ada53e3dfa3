#include "fixtures.h"
#include "mesh/walk.h"
#include "remesh/flip.h"
#include "support.h"

START_TEST(flips_and_back)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.3, .3, 1}, {.3, .3, -1}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 5, p, 2, t, NULL, KILN_BUILD_STRICT);
    kiln_test_audit(mesh);
    double volume = kiln_mesh_volume(mesh);
    uint64_t before = kiln_mesh_hash(mesh);
    kiln_txn txn = kiln_txn_begin(mesh);
    uint32_t made[3];
    ck_assert_int_eq(kiln_flip_23(&txn, 0, 3, made), KILN_ACCEPTED);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 3);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-15);
    const kiln_tet *tet = &mesh->tet[made[0]];
    uint32_t a = kiln_tet_corner(tet, 3), b = kiln_tet_corner(tet, 4);
    ck_assert_int_eq(kiln_flip_32(&txn, made[0], a, b, made), KILN_ACCEPTED);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 2);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_flip_23(&txn, 0, 3, made), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Random flips of all kinds in nested transactions, some rolled back. */
START_TEST(random_flips_keep_the_mesh)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(mesh, 0.05, 1);
    kiln_test_audit(mesh);
    double volume = kiln_mesh_volume(mesh);
    kiln_random random = kiln_random_start(7, 0);
    uint32_t made[3];
    int done[3] = {0}, inner_rollbacks = 0;
    for (int round = 0; round < 3000; round++) {
        uint64_t before = kiln_mesh_hash(mesh);
        kiln_txn txn = kiln_txn_begin(mesh);
        for (int i = 0; i < 8; i++) {
            uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
            if (!kiln_tet_live(mesh, t))
                continue;
            uint64_t inner_hash = i == 4 ? kiln_mesh_hash(mesh) : 0;
            kiln_txn inner = kiln_txn_begin(mesh);
            int kind = (int)kiln_random_below(&random, 3);
            uint32_t a = kiln_random_below(&random, 4),
                     b = (a + 1 + kiln_random_below(&random, 3)) % 4;
            kiln_verdict verdict = kind == 0   ? kiln_flip_23(&inner, t, a, made)
                                   : kind == 1 ? kiln_flip_32(&inner, t, a, b, made)
                                               : kiln_flip_22(&inner, t, a, b, made);
            done[kind] += verdict == KILN_ACCEPTED;
            if (i == 4) {
                kiln_txn_rollback(&inner);
                inner_rollbacks++;
                ck_assert_uint_eq(kiln_mesh_hash(mesh), inner_hash);
            } else {
                ck_assert_int_eq(kiln_txn_commit(&inner), KILN_ACCEPTED);
            }
        }
        if (round % 3 == 0 || kiln_txn_commit(&txn) != KILN_ACCEPTED) {
            kiln_txn_rollback(&txn);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
        }
        if (round % 100 == 0)
            kiln_test_audit(mesh);
    }
    kiln_test_audit(mesh);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12);
    for (int kind = 0; kind < 3; kind++)
        ck_assert_msg(done[kind] > 10, "kind %d: %d", kind, done[kind]);
    ck_assert_int_gt(inner_rollbacks, 100);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("flip");
    TCase *all = kiln_test_case(suite, "flip");
    tcase_add_test(all, flips_and_back);
    tcase_add_test(all, random_flips_keep_the_mesh);
    return suite;
}

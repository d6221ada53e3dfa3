#include "fixtures.h"
#include "mesh/parts.h"
#include "support.h"

#include <string.h>

enum { DEPTH = 100 };

static kiln_mesh *box_with_fields(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_int_eq(
            kiln_mesh_add_field(mesh, "a", (kiln_where)where, KILN_F64, 2,
                                where == KILN_ON_TET ? KILN_RULE_CONSERVE : KILN_RULE_COPY, NULL),
            KILN_OK);
        double *value = (double *)kiln_mesh_field(mesh, (kiln_where)where, "a")->data;
        for (uint32_t i = 0; i < 2 * mesh->table[where].used; i++)
            value[i] = 1.0 + 0.25 * i;
    }
    kiln_test_jitter(mesh, 0.03, 2);
    return mesh;
}

/* Some changes of every kind: topology, places, marks, regions, flags, fields. */
static int change(kiln_txn *txn, kiln_random *random)
{
    kiln_mesh *mesh = txn->mesh;
    int done = 0;
    for (int i = 0; i < 12; i++)
        done += kiln_test_change(txn, random, 0.02, true) == KILN_ACCEPTED;
    uint32_t t = 0;
    while (!kiln_tet_live(mesh, t) || kiln_random_below(random, 20) > 0)
        t = (t + 1) % mesh->table[KILN_ON_TET].used;
    uint32_t pick = kiln_random_below(random, 4);
    ck_assert_int_eq(kiln_txn_mark_face(txn, t, pick, KILN_MARK_SPLIT_FACE, pick & 1),
                     KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_set_region(txn, t, (int32_t)pick), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_mark_tet(txn, t, KILN_MARK_WORLD, 0), KILN_ACCEPTED);
    for (uint32_t f = 0; f < 4; f++)
        if (kiln_link_is_surface(mesh->tet[t].n[f]))
            ck_assert_int_eq(
                kiln_txn_set_face_tag(txn, mesh->tet[t].n[f] - KILN_LINK_SURFACE, 70 + (int)pick),
                KILN_ACCEPTED);
    const double value[2] = {0.5 * pick, 3.0};
    ck_assert_int_eq(
        kiln_txn_write(txn, KILN_ON_TET, kiln_mesh_field(mesh, KILN_ON_TET, "a"), t, value),
        KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_write(txn, KILN_ON_VERTEX, kiln_mesh_field(mesh, KILN_ON_VERTEX, "a"),
                                    mesh->tet[t].v[pick], value),
                     KILN_ACCEPTED);
    return done;
}

START_TEST(a_hundred_levels_back_one_by_one)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    for (uint64_t round = 0; round < kiln_test_rounds(2, 50); round++) {
        kiln_random random = kiln_random_start(round, 7);
        kiln_txn level[DEPTH];
        uint64_t hash[DEPTH];
        int done = 0;
        for (int i = 0; i < DEPTH; i++) {
            hash[i] = kiln_mesh_hash(mesh);
            level[i] = kiln_txn_begin(mesh);
            ck_assert_uint_eq(level[i].depth, (uint32_t)i + 1);
            done += change(&level[i], &random);
        }
        ck_assert_int_gt(done, DEPTH);
        for (int i = DEPTH - 1; i >= 0; i--) {
            kiln_txn_rollback(&level[i]);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash[i]);
        }
        kiln_test_audit(mesh);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Random walk over depths: commits hand their changes to the level outside. */
START_TEST(levels_committed_and_rolled_back_at_random)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    kiln_random random = kiln_random_start(3, 1);
    kiln_txn level[DEPTH];
    uint64_t hash[DEPTH];
    int depth = 0, deepest = 0, refused = 0, kept = 0;
    for (uint64_t step = 0; step < kiln_test_rounds(1500, 100000); step++) {
        uint32_t choice = kiln_random_below(&random, 10);
        if (depth == 0 || (choice < 4 && depth < DEPTH)) {
            hash[depth] = kiln_mesh_hash(mesh);
            level[depth++] = kiln_txn_begin(mesh);
            deepest = depth > deepest ? depth : deepest;
            change(&level[depth - 1], &random);
        } else if (choice < 7) {
            kiln_verdict verdict = kiln_txn_commit(&level[depth - 1]);
            if (depth == 1) {
                refused += verdict != KILN_ACCEPTED;
                kept += verdict == KILN_ACCEPTED;
            } else {
                ck_assert_int_eq(verdict, KILN_ACCEPTED);
            }
            if (verdict != KILN_ACCEPTED) {
                kiln_txn_rollback(&level[0]);
                ck_assert_uint_eq(kiln_mesh_hash(mesh), hash[0]);
            }
            if (--depth == 0)
                kiln_test_audit(mesh);
        } else {
            kiln_txn_rollback(&level[--depth]);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash[depth]);
        }
    }
    while (depth > 0)
        kiln_txn_rollback(&level[--depth]);
    kiln_test_audit(mesh);
    ck_assert_int_gt(deepest, 8);
    ck_assert_int_gt(refused, 3);
    ck_assert_int_gt(kept, 3);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Removal that cuts the box in two, taken back and done again. */
START_TEST(parts_follow)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=1 nz=1");
    uint64_t hash = kiln_mesh_hash(mesh);
    for (int round = 0; round < 2; round++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            if (!kiln_tet_live(mesh, t))
                continue;
            double x = 0.0;
            for (int k = 0; k < 4; k++)
                x += 0.25 * mesh->u[mesh->tet[t].v[k]].x;
            if (x > 0.4 && x < 0.6)
                ck_assert_int_eq(kiln_test_remove_tet(&txn, t), KILN_ACCEPTED);
        }
        if (round == 0) {
            kiln_txn_rollback(&txn);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
            continue;
        }
        ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    }
    kiln_test_audit(mesh);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    double volume = 0.0;
    for (size_t p = 0; p < mesh->parts.count; p++) {
        ck_assert_uint_eq(mesh->parts.data[p].body, 0);
        ck_assert_double_eq_tol(mesh->parts.data[p].volume, 0.4, 1e-14);
        volume += mesh->parts.data[p].volume;
    }
    ck_assert_double_eq_tol(volume, 0.8, 1e-14);
    ck_assert_double_eq_tol(mesh->ledger.volume_lost, 0.2, 1e-14);
    ck_assert_uint_eq(mesh->ledger.tets_removed, 6);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Tets put in from nothing: one new part for those that hang together, none lost to another. */
START_TEST(injected_tets_form_parts)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    for (int with_parent = 0; with_parent < 2; with_parent++) {
        uint64_t hash = kiln_mesh_hash(mesh);
        kiln_txn txn = kiln_txn_begin(mesh);
        const kiln_vec3 p[5] = {{5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5.3, .3, 1}, {5.3, .3, -1}};
        uint32_t v[5], made[2], parent = with_parent ? 0 : KILN_NONE;
        for (int i = 0; i < 5; i++)
            v[i] = kiln_txn_add_vertex(&txn, p[i], p[i], NULL, NULL, 0);
        const kiln_new_tet fresh[2] = {
            {.v = {v[0], v[1], v[2], v[3]}, .parent = parent, .slot = KILN_NONE},
            {.v = {v[0], v[2], v[1], v[4]}, .parent = parent, .slot = KILN_NONE}};
        kiln_new_face surface[6];
        for (uint32_t i = 0; i < 6; i++)
            surface[i] = (kiln_new_face){.tet = i / 3, .face = i % 3, .parent = KILN_NONE};
        kiln_cavity cavity = {
            .fresh = fresh, .fresh_count = 2, .surface = surface, .surface_count = 6};
        ck_assert_int_eq(kiln_replace(&txn, &cavity, made), KILN_ACCEPTED);
        ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
        ck_assert_uint_ne(kiln_mesh_hash(mesh), hash);
        kiln_test_audit(mesh);
        ck_assert_uint_eq(kiln_part_count(mesh), 2 + (uint32_t)with_parent);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A tet glued on a face with a feature edge takes the edge's mark over. */
START_TEST(glued_tets_take_marks_over)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const kiln_soup_tet t = {{0, 1, 2, 3}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 4, p, 1, &t, NULL, KILN_BUILD_STRICT);
    kiln_txn txn = kiln_txn_begin(mesh);
    uint32_t apex = kiln_txn_add_vertex(&txn, kiln_v3(1, 1, 1), kiln_v3(1, 1, 1), NULL, NULL, 0);
    const kiln_new_tet fresh = {.v = {1, 2, 3, apex}, .parent = 0, .slot = KILN_NONE};
    kiln_new_face surface[3];
    for (uint32_t i = 0; i < 3; i++)
        surface[i] = (kiln_new_face){.tet = 0, .face = i, .parent = KILN_NONE};
    const kiln_glue_face glued = {.tet = 0, .face = 3, .outside = 0};
    kiln_cavity cavity = {.fresh = &fresh,
                          .fresh_count = 1,
                          .surface = surface,
                          .surface_count = 3,
                          .glued = &glued,
                          .glued_count = 1};
    ck_assert_int_eq(kiln_replace(&txn, &cavity, NULL), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(kiln_part_count(mesh), 1);
    ck_assert_double_eq_tol(mesh->ledger.volume_gained, kiln_mesh_volume(mesh) - 1.0 / 6, 1e-15);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A refused change leaves the mesh as it was, inside the transaction too. */
START_TEST(refusal_changes_nothing)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v += 3)
        mesh->vertex[v].flags |= KILN_VERTEX_REQUIRED;
    kiln_random random = kiln_random_start(1, 1);
    int refused[KILN_VERDICT_COUNT] = {0};
    for (uint64_t round = 0; round < kiln_test_rounds(400, 20000); round++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        for (int i = 0; i < 6; i++) {
            uint64_t hash = kiln_mesh_hash(mesh);
            kiln_verdict verdict = kiln_test_change(&txn, &random, 0.02, true);
            refused[verdict]++;
            if (verdict != KILN_ACCEPTED)
                ck_assert_msg(kiln_mesh_hash(mesh) == hash, "%s", kiln_verdict_reason(verdict));
        }
        kiln_txn_rollback(&txn);
    }
    ck_assert_int_gt(refused[KILN_REFUSED_REQUIRED], 20);
    ck_assert_int_gt(refused[KILN_REFUSED_INVERTED], 20);

    /* The tip of a surface tet is required and would vanish with it. */
    const kiln_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.3, .3, 1}, {.3, .3, -1}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};
    kiln_mesh *pair = kiln_test_mesh_of(context, 5, p, 2, t, NULL, KILN_BUILD_STRICT);
    kiln_txn txn = kiln_txn_begin(pair);
    ck_assert_int_eq(kiln_txn_set_vertex(&txn, 3, KILN_VERTEX_REQUIRED, 0), KILN_ACCEPTED);
    uint64_t hash = kiln_mesh_hash(pair);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, 0), KILN_REFUSED_REQUIRED);
    ck_assert_uint_eq(kiln_mesh_hash(pair), hash);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, 1), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(pair);
    kiln_mesh_destroy(pair);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* With every allocation failing from the k-th on: refused, and bitwise as before after rollback. */
START_TEST(changes_without_memory_are_refused)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    int refused = 0;
    for (uint64_t k = 1; k < 60; k++) {
        kiln_mesh *mesh = box_with_fields(context);
        uint64_t hash = kiln_mesh_hash(mesh);
        kiln_random random = kiln_random_start(k, 2);
        kiln_txn txn = kiln_txn_begin(mesh);
        ck_assert_uint_eq(txn.depth, 1);
        heap.calls = 0;
        heap.fail_at = k;
        for (int i = 0; i < 40; i++)
            refused += kiln_test_change(&txn, &random, 0.02, true) == KILN_REFUSED_MEMORY;
        if (k % 2 == 0 || kiln_txn_commit(&txn) != KILN_ACCEPTED) {
            kiln_txn_rollback(&txn);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        }
        heap.fail_at = 0;
        kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
    }
    ck_assert_int_gt(refused, 100);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("txn");
    TCase *all = kiln_test_case(suite, "txn");
    tcase_add_test(all, a_hundred_levels_back_one_by_one);
    tcase_add_test(all, levels_committed_and_rolled_back_at_random);
    tcase_add_test(all, parts_follow);
    tcase_add_test(all, injected_tets_form_parts);
    tcase_add_test(all, glued_tets_take_marks_over);
    tcase_add_test(all, refusal_changes_nothing);
    tcase_add_test(all, changes_without_memory_are_refused);
    return suite;
}

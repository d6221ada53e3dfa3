/* The lists that a pass leaves name every row that a comparison finds to be another. */
#include "mesh/changes.h"
#include "mesh/journal.h"
#include "mesh_diff.h"

static bool listed(const kiln_u32_array *rows, uint32_t row)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->data[i] == row)
            return true;
    return false;
}

static void expect_all(const kiln_u32_array *rows, const kiln_u32_array *wanted, const char *what)
{
    for (size_t i = 0; i < wanted->count; i++)
        ck_assert_msg(listed(rows, wanted->data[i]), "%s %u is not listed", what, wanted->data[i]);
    for (size_t i = 1; i < rows->count; i++)
        ck_assert_uint_lt(rows->data[i - 1], rows->data[i]);
}

/* Exactly the tets at vertices that are listed. */
static void expect_around(const kiln_mesh *mesh, const kiln_u32_array *vertices,
                          const kiln_u32_array *around)
{
    size_t next = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        bool near = false;
        for (int k = 0; k < 4; k++)
            near = near || listed(vertices, mesh->tet[t].v[k]);
        if (near)
            ck_assert_uint_eq(around->data[next++], t);
    }
    ck_assert_uint_eq(around->count, next);
}

static void pass(kiln_mesh *mesh, kiln_random *random, kiln_changes *changes, bool holes)
{
    kiln_changes_start(changes, mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    for (int i = 0; i < 12; i++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_txn_settle(&txn, kiln_test_change(&txn, random, 0.03, holes));
    }
    ck_assert_int_eq(kiln_changes_note_pass(changes, mesh, NULL), KILN_OK);
    kiln_archive_end(mesh);
    ck_assert_int_eq(kiln_changes_close(changes, mesh, NULL), KILN_OK);
}

START_TEST(test_passes)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=4 nz=4");
    kiln_random random = kiln_random_start(4, 0);
    kiln_changes changes = {0}, found = {0};
    kiln_test_jitter(mesh, 0.02, 3);
    for (uint64_t round = 0; round < kiln_test_rounds(60, 2000); round++) {
        mesh_note before = mesh_note_take(mesh);
        pass(mesh, &random, &changes, round % 3 == 0);
        mesh_diff(&before, mesh, &random, 0, &found);
        for (int where = 0; where < KILN_WHERE_COUNT; where++) {
            ck_assert_uint_eq(changes.before[where], found.before[where]);
            for (size_t i = 0; i < found.rows[where].count; i++)
                ck_assert_msg(listed(&changes.rows[where], found.rows[where].data[i]),
                              "table %d: row %u is not listed", where, found.rows[where].data[i]);
            for (size_t i = 1; i < changes.rows[where].count; i++)
                ck_assert_uint_lt(changes.rows[where].data[i - 1], changes.rows[where].data[i]);
        }
        expect_all(&changes.retied_tets, &found.retied_tets, "retied tet");
        expect_all(&changes.retied_vertices, &found.retied_vertices, "retied vertex");
        expect_around(mesh, &changes.rows[KILN_ON_VERTEX], &changes.around);
        expect_around(mesh, &changes.retied_vertices, &changes.around_retied);
        kiln_test_audit(mesh);
        mesh_note_free(&before);
    }
    kiln_changes_free(context, &changes);
    kiln_changes_free(context, &found);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Local: far from what a pass touched nothing is listed. */
START_TEST(test_locality)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=12");
    kiln_random random = kiln_random_start(4, 0);
    kiln_changes changes = {0};
    pass(mesh, &random, &changes, false);
    ck_assert_uint_gt(changes.rows[KILN_ON_TET].count, 0);
    ck_assert_uint_lt(changes.rows[KILN_ON_TET].count, mesh->table[KILN_ON_TET].used / 10);
    kiln_changes_free(context, &changes);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A vertex that moves reshapes its tets and ties nothing anew. */
START_TEST(test_moves_tie_nothing)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=4");
    kiln_changes changes = {0};
    kiln_changes_start(&changes, mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    uint32_t vertex = 0;
    while (mesh->vertex[vertex].flags & KILN_VERTEX_SURFACE)
        vertex++;
    kiln_vec3 step = {0.01, 0.01, 0.01};
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(
        kiln_txn_settle(&txn, kiln_txn_move_vertex(&txn, vertex, kiln_v3_add(mesh->u[vertex], step),
                                                   kiln_v3_add(mesh->x[vertex], step))),
        KILN_ACCEPTED);
    ck_assert_int_eq(kiln_changes_note_pass(&changes, mesh, NULL), KILN_OK);
    kiln_archive_end(mesh);
    ck_assert_int_eq(kiln_changes_close(&changes, mesh, NULL), KILN_OK);
    ck_assert_uint_eq(changes.retied_tets.count, 0);
    ck_assert_uint_eq(changes.retied_vertices.count, 0);
    kiln_changes_free(context, &changes);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* In a pass, in one column of some tets. */
static void write_value(kiln_mesh *mesh, const char *name, const uint32_t *tets, size_t count)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_journal_reserve(mesh, 0, count, 0, 0, NULL), KILN_OK);
    for (size_t i = 0; i < count; i++) {
        kiln_journal_row(mesh, KILN_ON_TET, tets[i]);
        double *column = (void *)kiln_mesh_field(mesh, KILN_ON_TET, name)->data;
        column[tets[i]] += 1.0;
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
}

/* Tets that only weigh another amount stand apart, with all that lies around them. */
START_TEST(test_weight_stands_apart)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=4");
    kiln_changes changes = {.weight = "mass"};
    kiln_u32_array corners = {0};
    const uint32_t heavier[] = {7, 120, 121}, hotter[] = {121, 300}, any[] = {7, 120, 121, 300};
    const char *const names[] = {"mass", "heat"};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            kiln_mesh_add_field(mesh, names[i], KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, NULL),
            KILN_OK);
    kiln_changes_start(&changes, mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    write_value(mesh, "mass", heavier, 3);
    write_value(mesh, "heat", hotter, 2);
    ck_assert_int_eq(kiln_changes_note_pass(&changes, mesh, NULL), KILN_OK);
    kiln_archive_end(mesh);
    ck_assert_int_eq(kiln_changes_close(&changes, mesh, NULL), KILN_OK);
    ck_assert_uint_eq(changes.reweighed.count, 2);
    ck_assert_mem_eq(changes.reweighed.data, heavier, 2 * sizeof *heavier);
    ck_assert_uint_eq(changes.rows[KILN_ON_TET].count, 2);
    ck_assert_mem_eq(changes.rows[KILN_ON_TET].data, hotter, sizeof hotter);
    for (size_t i = 0; i < 16; i++)
        ck_assert_int_eq(kiln_array_push(context, &corners, mesh->tet[any[i / 4]].v[i % 4], NULL),
                         KILN_OK);
    expect_around(mesh, &corners, &changes.around);
    kiln_array_free(context, &corners);
    kiln_changes_free(context, &changes);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("changes");
    TCase *tests = kiln_test_case(suite, "of a pass");
    tcase_add_test(tests, test_passes);
    tcase_add_test(tests, test_locality);
    tcase_add_test(tests, test_moves_tie_nothing);
    tcase_add_test(tests, test_weight_stands_apart);
    return suite;
}

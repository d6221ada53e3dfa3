#include "fixtures.h"
#include "mesh/close_ranks.h"
#include "mesh/journal.h"
#include "support.h"
#include "topology/split.h"

#include <string.h>

static const char *const id_name[KILN_WHERE_COUNT] = {"vertex id", "tet id", "face id"};

static uint64_t *ids(const kiln_mesh *mesh, kiln_where where)
{
    return (uint64_t *)kiln_mesh_field(mesh, where, id_name[where])->data;
}

static kiln_mesh *mesh_with_ids(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=4 nz=4");
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_int_eq(kiln_mesh_add_field(mesh, id_name[where], (kiln_where)where, KILN_U64, 2,
                                             KILN_RULE_COPY, NULL),
                         KILN_OK);
    kiln_test_jitter(mesh, 0.02, 3);
    return mesh;
}

static kiln_verdict split_some_edge(kiln_txn *txn, kiln_random *random, kiln_split *split)
{
    const kiln_mesh *mesh = txn->mesh;
    uint32_t t = kiln_random_below(random, mesh->table[KILN_ON_TET].used);
    uint32_t a = kiln_random_below(random, 4), b = (a + 1 + kiln_random_below(random, 3)) % 4;
    const uint32_t corners[2] = {a, b};
    if (!kiln_tet_live(mesh, t))
        return KILN_REFUSED_DEAD;
    return kiln_split_middle(txn, t, corners, 2, split);
}

/* Random changes, each in a transaction of its own, then splits of which half are taken back: holes
 * in all tables, and rows behind them. */
static void wear(kiln_mesh *mesh, kiln_random *random, int rounds)
{
    kiln_split split[20] = {0};
    for (int round = 0; round < rounds + 40; round++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        int s = round - rounds;
        kiln_verdict verdict = s < 0    ? kiln_test_change(&txn, random, 0.02, true)
                               : s < 20 ? split_some_edge(&txn, random, &split[s])
                               : split[s - 20].count > 0 && s % 2
                                   ? kiln_unsplit(&txn, &split[s - 20])
                                   : KILN_REFUSED_DEAD;
        kiln_txn_settle(&txn, verdict);
    }
}

/* Every row gets a name of its own, by which it is known whatever its number. */
static void name_rows(kiln_mesh *mesh)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (uint32_t i = 0; i < 2 * mesh->table[where].used; i++)
            ids(mesh, (kiln_where)where)[i] = 1000 * (uint64_t)(where + 1) * (i + 7);
}

static uint64_t link_name(const kiln_mesh *mesh, kiln_link link)
{
    return kiln_link_is_surface(link) ? ids(mesh, KILN_ON_FACE)[2 * (link - KILN_LINK_SURFACE)]
                                      : 4 * ids(mesh, KILN_ON_TET)[2 * (link / 4)] + link % 4 + 1;
}

static uint64_t row_hash(const kiln_mesh *mesh, kiln_where where, uint32_t row)
{
    const uint64_t *id = ids(mesh, where) + 2 * (size_t)row;
    uint64_t hash = kiln_hash_bytes(where, id, 2 * sizeof *id);
    if (where == KILN_ON_VERTEX) {
        kiln_vertex_info info = mesh->vertex[row];
        hash = kiln_hash_add(hash, ids(mesh, KILN_ON_TET)[2 * info.tet]);
        info.tet = 0;
        hash = kiln_hash_bytes(hash, &info, sizeof info);
        hash = kiln_hash_bytes(hash, &mesh->u[row], sizeof *mesh->u);
        return kiln_hash_bytes(hash, &mesh->x[row], sizeof *mesh->x);
    }
    if (where == KILN_ON_FACE) {
        kiln_face face = mesh->face[row];
        hash = kiln_hash_add(hash, link_name(mesh, face.at));
        face.at = 0;
        return kiln_hash_bytes(hash, &face, sizeof face);
    }
    for (int k = 0; k < 4; k++) {
        hash = kiln_hash_add(hash, ids(mesh, KILN_ON_VERTEX)[2 * mesh->tet[row].v[k]]);
        hash = kiln_hash_add(hash, link_name(mesh, mesh->tet[row].n[k]));
    }
    return kiln_hash_bytes(hash, &mesh->info[row], sizeof *mesh->info);
}

/* The mesh and its fields by the names of rows: the same for any numbering. */
static uint64_t contents(const kiln_mesh *mesh)
{
    uint64_t sum = 0;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (uint32_t row = 0; row < mesh->table[where].used; row++)
            if (kiln_row_live(mesh, (kiln_where)where, row))
                sum += row_hash(mesh, (kiln_where)where, row);
    return sum;
}

static void check_compact(const kiln_mesh *mesh)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_uint_eq(mesh->table[where].used, mesh->table[where].live);
        ck_assert_uint_eq(mesh->table[where].free, KILN_NONE);
    }
}

/* k-th hole, k-th row past the end, and the row is the one that was there. */
static void check_moves(const kiln_mesh *mesh, const kiln_row_moves *moved)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (size_t i = 0; i < moved[where].count; i++) {
            kiln_row_move move = moved[where].data[i];
            ck_assert_uint_lt(move.to, mesh->table[where].used);
            ck_assert_uint_ge(move.from, mesh->table[where].used);
            if (i > 0) {
                ck_assert_uint_lt(moved[where].data[i - 1].to, move.to);
                ck_assert_uint_lt(moved[where].data[i - 1].from, move.from);
            }
            ck_assert_uint_eq(ids(mesh, (kiln_where)where)[2 * move.to],
                              1000 * (uint64_t)(where + 1) * (2 * (uint64_t)move.from + 7));
        }
}

START_TEST(rows_close_ranks_and_come_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = mesh_with_ids(context);
    kiln_random random = kiln_random_start(11, 0);
    kiln_changes changes = {0};
    size_t moves[KILN_WHERE_COUNT] = {0};
    for (uint64_t round = 0; round < kiln_test_rounds(20, 2000); round++) {
        wear(mesh, &random, 60);
        name_rows(mesh);
        uint64_t hash = kiln_mesh_hash(mesh), content = contents(mesh), revision = mesh->revision;
        uint32_t clock = mesh->clock;
        kiln_changes_start(&changes, mesh);
        for (int keep = 0; keep < 2; keep++) {
            kiln_txn txn = kiln_txn_begin(mesh);
            ck_assert_int_eq(kiln_txn_close_ranks(&txn, changes.moved), KILN_ACCEPTED);
            check_compact(mesh);
            check_moves(mesh, changes.moved);
            ck_assert_uint_eq(contents(mesh), content);
            if (keep) {
                ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
                break;
            }
            /* What is made past the new end, where rows were, goes too. */
            for (int i = 0; i < 40; i++)
                kiln_test_change(&txn, &random, 0.02, true);
            kiln_txn_rollback(&txn);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        }
        kiln_test_audit(mesh);
        ck_assert_uint_eq(contents(mesh), content);
        ck_assert_uint_le(clock, mesh->clock);
        ck_assert_uint_eq(mesh->revision, revision + (kiln_mesh_hash(mesh) != hash));
        for (int where = 0; where < KILN_WHERE_COUNT; where++)
            moves[where] += changes.moved[where].count;
    }
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_uint_gt(moves[where], 20);
    kiln_changes_free(context, &changes);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Everything that names the begin-of-pass mesh, by rows. */
static uint64_t begin_hash(const kiln_mesh *mesh)
{
    uint64_t hash = 0;
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &mesh->table[where];
        for (uint32_t row = 0; row < kiln_archive_rows(mesh, (kiln_where)where); row++)
            for (size_t k = 0; k < table->fields.count; k++) {
                char value[256];
                kiln_archive_value(mesh, (kiln_where)where, &table->fields.data[k], row, value);
                hash = kiln_hash_bytes(hash, value, table->fields.data[k].stride);
            }
    }
    return hash;
}

START_TEST(a_pass_sees_its_begin_and_comes_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = mesh_with_ids(context);
    kiln_random random = kiln_random_start(5, 0);
    kiln_changes changes = {0};
    for (uint64_t round = 0; round < kiln_test_rounds(10, 500); round++) {
        wear(mesh, &random, 30);
        name_rows(mesh);
        uint64_t hash = kiln_mesh_hash(mesh);
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        uint64_t begin = begin_hash(mesh);
        for (int pass = 0; pass < 3; pass++) {
            kiln_txn txn = kiln_txn_begin(mesh);
            ck_assert_int_eq(kiln_txn_close_ranks(&txn, changes.moved), KILN_ACCEPTED);
            ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
            ck_assert_uint_eq(begin_hash(mesh), begin);
            wear(mesh, &random, 60);
            ck_assert_uint_eq(begin_hash(mesh), begin);
        }
        kiln_test_audit(mesh);
        if (round % 2) {
            kiln_archive_end(mesh);
            continue;
        }
        kiln_archive_rollback(mesh);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    }
    kiln_changes_free(context, &changes);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(parts_with_new_numbers_are_stamped)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[12] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},  {5, 0, 0}, {6, 0, 0},
                             {5, 1, 0}, {5, 0, 1}, {9, 0, 0}, {10, 0, 0}, {9, 1, 0}, {9, 0, 1}};
    const kiln_soup_tet t[3] = {{{0, 1, 2, 3}}, {{4, 5, 6, 7}}, {{8, 9, 10, 11}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 12, p, 3, t, NULL, KILN_BUILD_STRICT);
    kiln_changes changes = {0};
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_close_ranks(&txn, changes.moved), KILN_REFUSED_NON_MANIFOLD);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    uint64_t stamp = mesh->parts.data[1].stamp;
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_close_ranks(&txn, changes.moved), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(changes.moved[KILN_ON_TET].count, 1);
    ck_assert_uint_eq(changes.moved[KILN_ON_TET].data[0].from, 2);
    ck_assert_uint_eq(changes.moved[KILN_ON_TET].data[0].to, 0);
    ck_assert_uint_eq(mesh->info[0].part, 2);
    ck_assert_uint_eq(mesh->parts.data[1].stamp, stamp);
    ck_assert_uint_eq(mesh->parts.data[2].stamp, mesh->revision);

    /* Compact already: nothing is logged, the revision stays. */
    uint64_t hash = kiln_mesh_hash(mesh), revision = mesh->revision;
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_close_ranks(&txn, changes.moved), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_uint_eq(changes.moved[KILN_ON_TET].count, 0);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    ck_assert_uint_eq(mesh->revision, revision);

    /* A vertex without tets has a number that somebody holds. */
    txn = kiln_txn_begin(mesh);
    ck_assert_uint_ne(kiln_txn_add_vertex(&txn, p[0], p[0], NULL, NULL, 0), KILN_NONE);
    ck_assert_int_eq(kiln_txn_close_ranks(&txn, changes.moved), KILN_REFUSED_NON_MANIFOLD);
    kiln_txn_rollback(&txn);
    kiln_changes_free(context, &changes);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(all_or_nothing_without_memory)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = mesh_with_ids(context);
    kiln_random random = kiln_random_start(2, 0);
    wear(mesh, &random, 300);
    name_rows(mesh);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_verdict verdict = KILN_REFUSED_MEMORY;
    int failures = 0;
    for (uint64_t k = 1; verdict != KILN_ACCEPTED; k++) {
        kiln_changes changes = {0};
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        kiln_txn txn = kiln_txn_begin(mesh);
        heap.calls = 0;
        heap.fail_at = k;
        verdict = kiln_txn_close_ranks(&txn, changes.moved);
        heap.fail_at = 0;
        if (verdict != KILN_ACCEPTED) {
            failures++;
            ck_assert_int_eq(verdict, KILN_REFUSED_MEMORY);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
            ck_assert_uint_eq(changes.moved[KILN_ON_TET].count, 0);
        }
        ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
        kiln_archive_end(mesh);
        kiln_changes_free(context, &changes);
    }
    ck_assert_int_gt(failures, 5);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

/* The log grows with the holes, not with the mesh. */
START_TEST(the_price_is_that_of_the_holes)
{
    kiln_context *context = kiln_test_context(1);
    size_t logged[2];
    for (int large = 0; large < 2; large++) {
        kiln_mesh *mesh =
            kiln_test_mesh(context, "box", large ? "nx=16 ny=16 nz=16" : "nx=6 ny=6 nz=6");
        kiln_changes changes = {0};
        kiln_txn txn = kiln_txn_begin(mesh);
        ck_assert_int_eq(kiln_test_remove_tet(&txn, 1), KILN_ACCEPTED);
        kiln_txn_settle(&txn, KILN_ACCEPTED);
        txn = kiln_txn_begin(mesh);
        ck_assert_int_eq(kiln_txn_close_ranks(&txn, changes.moved), KILN_ACCEPTED);
        logged[large] = kiln_journal_position(mesh);
        ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
        kiln_changes_free(context, &changes);
        kiln_mesh_destroy(mesh);
    }
    ck_assert_uint_gt(logged[0], 0);
    ck_assert_uint_lt(logged[1], 2 * logged[0]);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("close_ranks");
    TCase *all = kiln_test_case(suite, "close_ranks");
    tcase_add_test(all, rows_close_ranks_and_come_back);
    tcase_add_test(all, a_pass_sees_its_begin_and_comes_back);
    tcase_add_test(all, parts_with_new_numbers_are_stamped);
    tcase_add_test(all, all_or_nothing_without_memory);
    tcase_add_test(all, the_price_is_that_of_the_holes);
    return suite;
}

#include "fixtures.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* All columns of a table as they were, row by row. */
typedef struct reference {
    char *column[KILN_WHERE_COUNT][8];
    uint8_t *live[KILN_WHERE_COUNT];
    uint32_t used[KILN_WHERE_COUNT];
} reference;

static reference copy_mesh(const kiln_mesh *mesh)
{
    reference r = {0};
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *table = &mesh->table[where];
        r.used[where] = table->used;
        r.live[where] = malloc(table->used + 1);
        for (uint32_t row = 0; row < table->used; row++)
            r.live[where][row] = kiln_row_live(mesh, (kiln_where)where, row);
        ck_assert_uint_le(table->fields.count, 8);
        for (size_t i = 0; i < table->fields.count; i++) {
            size_t size = (size_t)table->used * table->fields.data[i].stride;
            r.column[where][i] = malloc(size + 1);
            memcpy(r.column[where][i], table->fields.data[i].data, size);
        }
    }
    return r;
}

static void free_reference(reference *r)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        free(r->live[where]);
        for (int i = 0; i < 8; i++)
            free(r->column[where][i]);
    }
}

static void compare(const kiln_mesh *mesh, const reference *r)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_uint_eq(kiln_archive_rows(mesh, (kiln_where)where), r->used[where]);
        for (size_t i = 0; i < mesh->table[where].fields.count; i++) {
            const kiln_field *field = &mesh->table[where].fields.data[i];
            char value[256];
            ck_assert_uint_le(field->stride, sizeof value);
            for (uint32_t row = 0; row < r->used[where]; row++) {
                if (!r->live[where][row])
                    continue;
                kiln_archive_value(mesh, (kiln_where)where, field, row, value);
                const char *expected = r->column[where][i] + (size_t)row * field->stride;
                ck_assert_msg(memcmp(value, expected, field->stride) == 0,
                              "table %d row %u field %s", where, row, field->name);
                if (kiln_txn_depth(mesh) == 0 &&
                    !kiln_archive_touched(mesh, (kiln_where)where, row))
                    ck_assert_mem_eq(field->data + (size_t)row * field->stride, expected,
                                     field->stride);
            }
        }
    }
    const kiln_tet *tets = (const kiln_tet *)r->column[KILN_ON_TET][0];
    const kiln_vec3 *u = (const kiln_vec3 *)r->column[KILN_ON_VERTEX][0];
    const kiln_vec3 *x = (const kiln_vec3 *)r->column[KILN_ON_VERTEX][1];
    for (uint32_t t = 0; t < r->used[KILN_ON_TET]; t++)
        if (r->live[KILN_ON_TET][t])
            ck_assert_mem_eq(kiln_archive_tet(mesh, t), &tets[t], sizeof(kiln_tet));
    for (uint32_t v = 0; v < r->used[KILN_ON_VERTEX]; v++) {
        if (!r->live[KILN_ON_VERTEX][v])
            continue;
        kiln_vec3 old_u = kiln_archive_u(mesh, v), old_x = kiln_archive_x(mesh, v);
        ck_assert_mem_eq(&old_u, &u[v], sizeof old_u);
        ck_assert_mem_eq(&old_x, &x[v], sizeof old_x);
    }
}

static kiln_mesh *box_with_fields(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_int_eq(
            kiln_mesh_add_field(mesh, "heat", (kiln_where)where, KILN_F64, 1, KILN_RULE_COPY, NULL),
            KILN_OK);
        ck_assert_int_eq(
            kiln_mesh_add_field(mesh, "word", (kiln_where)where, KILN_U64, 1, KILN_RULE_NONE, NULL),
            KILN_OK);
        double *heat = (double *)kiln_mesh_field(mesh, (kiln_where)where, "heat")->data;
        for (uint32_t i = 0; i < mesh->table[where].used; i++)
            heat[i] = 1.0 + 0.25 * i;
    }
    kiln_test_jitter(mesh, 0.03, 2);
    return mesh;
}

/* Transactions of a pass, nested ones among them, a third rolled back. */
static int run_pass(kiln_mesh *mesh, kiln_random *random, int rounds, bool holes)
{
    int done = 0;
    for (int round = 0; round < rounds; round++) {
        kiln_txn outer = kiln_txn_begin(mesh);
        uint64_t before = round % 50 == 0 ? kiln_mesh_hash(mesh) : 0;
        for (int k = 0; k < 4; k++) {
            kiln_txn inner = kiln_txn_begin(mesh);
            for (int i = 0; i < 3; i++)
                done += kiln_test_change(&inner, random, 0.02, holes) == KILN_ACCEPTED;
            double heat = kiln_random_unit(random);
            uint32_t v = kiln_random_below(random, mesh->table[KILN_ON_VERTEX].used);
            ck_assert_int_eq(kiln_txn_write(&inner, KILN_ON_VERTEX,
                                            kiln_mesh_field(mesh, KILN_ON_VERTEX, "heat"), v,
                                            &heat),
                             KILN_ACCEPTED);
            if (kiln_random_below(random, 3) == 0)
                kiln_txn_rollback(&inner);
            else
                ck_assert_int_eq(kiln_txn_commit(&inner), KILN_ACCEPTED);
        }
        bool back = round % 50 == 0 || kiln_random_below(random, 3) == 0;
        if (back || kiln_txn_commit(&outer) != KILN_ACCEPTED)
            kiln_txn_rollback(&outer);
        if (round % 50 == 0)
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    }
    return done;
}

START_TEST(the_mesh_at_begin_stays)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    kiln_random random = kiln_random_start(9, 1);
    for (int pass = 0; pass < 5; pass++) {
        uint64_t hash = kiln_mesh_hash(mesh);
        reference r = copy_mesh(mesh);
        ck_assert(!kiln_archive_active(mesh));
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_ERR_STATE);
        ck_assert(kiln_archive_active(mesh));
        compare(mesh, &r);
        int rounds = (int)kiln_test_rounds(400, 5000);
        int done = run_pass(mesh, &random, rounds, pass % 2 == 1);
        ck_assert_int_gt(done, 3 * rounds);
        compare(mesh, &r);
        kiln_test_audit(mesh);
        uint32_t touched = 0;
        for (uint32_t t = 0; t < r.used[KILN_ON_TET]; t++)
            touched += kiln_archive_touched(mesh, KILN_ON_TET, t);
        ck_assert_uint_gt(touched, r.used[KILN_ON_TET] / 4);
        /* Passes 0 to 2 are taken back, 3 and 4 kept: the last starts from a mesh with free rows.
         */
        if (pass < 3) {
            kiln_archive_rollback(mesh);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        } else {
            uint64_t after = kiln_mesh_hash(mesh);
            kiln_archive_end(mesh);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), after);
        }
        ck_assert(!kiln_archive_active(mesh));
        kiln_test_audit(mesh);
        free_reference(&r);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* While a transaction is open, and after it was rolled back, images are there and no more. */
START_TEST(images_come_and_go_with_transactions)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    reference r = copy_mesh(mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    kiln_random random = kiln_random_start(4, 4);
    kiln_txn level[40];
    for (int i = 0; i < 40; i++) {
        level[i] = kiln_txn_begin(mesh);
        for (int k = 0; k < 5; k++)
            kiln_test_change(&level[i], &random, 0.02, true);
        if (i % 10 == 9)
            compare(mesh, &r);
    }
    for (int i = 39; i >= 0; i--)
        kiln_txn_rollback(&level[i]);
    compare(mesh, &r);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        for (uint32_t row = 0; row < r.used[where]; row++)
            ck_assert(!kiln_archive_touched(mesh, (kiln_where)where, row));
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_ERR_STATE);
    kiln_txn_rollback(&txn);
    kiln_archive_rollback(mesh);
    free_reference(&r);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_pass_over_nothing)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_mesh_create(context, &mesh, NULL), KILN_OK);
    uint64_t hash = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    kiln_archive_rollback(mesh);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A field added while a pass is open would change the layout of the images. */
START_TEST(no_new_fields_in_a_pass)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    uint64_t hash = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    kiln_random random = kiln_random_start(4, 4);
    run_pass(mesh, &random, 5, false);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "late", KILN_ON_TET, KILN_F64, 3, KILN_RULE_COPY, NULL),
        KILN_ERR_STATE);
    kiln_archive_rollback(mesh);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("archive");
    TCase *all = kiln_test_case(suite, "archive");
    tcase_add_test(all, the_mesh_at_begin_stays);
    tcase_add_test(all, images_come_and_go_with_transactions);
    tcase_add_test(all, a_pass_over_nothing);
    tcase_add_test(all, no_new_fields_in_a_pass);
    return suite;
}

/* Whatever happens between the begin and the end of a step can be taken back bit by bit. */
#include "fixtures.h"
#include "mesh/classify.h"
#include "mesh/reorder.h"
#include "mesh/rewind.h"
#include "mesh/txn.h"
#include "support.h"

#include <stdlib.h>

static kiln_mesh *box_with_fields(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(mesh, 0.02, 3);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "heat", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, NULL),
        KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "age", KILN_ON_TET, KILN_F64, 2, KILN_RULE_AVERAGE, NULL),
        KILN_OK);
    double *heat = (double *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "heat")->data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        heat[v] = v;
    return mesh;
}

static kiln_status fill(kiln_mesh *mesh, kiln_where where, const char *name, kiln_save how,
                        double value)
{
    KILN_TRY(kiln_rewind_save(mesh, where, name, how, NULL));
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    double *data = (double *)(void *)field->data;
    for (size_t i = 0; i < (size_t)mesh->table[where].used * field->components; i++)
        data[i] = value;
    return KILN_OK;
}

static void change(kiln_mesh *mesh, kiln_random *random, int count)
{
    for (int i = 0; i < count; i++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        if (txn.depth)
            kiln_txn_settle(&txn, kiln_test_change(&txn, random, 0.03, true));
    }
}

static kiln_status pass(kiln_mesh *mesh, kiln_random *random, bool keep)
{
    KILN_TRY(kiln_archive_begin(mesh, NULL));
    change(mesh, random, 20);
    if (keep)
        kiln_archive_end(mesh);
    else
        kiln_archive_rollback(mesh);
    return KILN_OK;
}

static kiln_status move_all(kiln_mesh *mesh)
{
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used;
    kiln_vec3 *u = malloc((vertices + 1) * sizeof *u);
    kiln_status status = kiln_rewind_save(mesh, KILN_ON_VERTEX, ".x", KILN_SAVE_COPY, NULL);
    for (uint32_t v = 0; v < vertices && status == KILN_OK; v++) {
        mesh->x[v].z += 1.0;
        u[v] = kiln_v3_scale(mesh->u[v], 2.0);
    }
    if (status == KILN_OK)
        status = kiln_mesh_place(mesh, u, NULL);
    free(u);
    return status;
}

static kiln_status exchange(kiln_mesh *mesh)
{
    kiln_mesh *other = box_with_fields(mesh->context);
    kiln_status status = kiln_mesh_exchange(mesh, other, NULL);
    kiln_mesh_destroy(other);
    return status;
}

/* One of the things that happen in a step. */
static kiln_status happen(kiln_mesh *mesh, kiln_random *random, uint64_t what)
{
    switch (what) {
    case 0:
        return fill(mesh, KILN_ON_VERTEX, "heat", KILN_SAVE_ALL, 7.0);
    case 1:
        return fill(mesh, KILN_ON_TET, "age", KILN_SAVE_COPY, 9.0);
    case 2:
        change(mesh, random, 10);
        return KILN_OK;
    case 3:
        return pass(mesh, random, true);
    case 4:
        return pass(mesh, random, false);
    case 5:
        return kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, NULL);
    case 6:
        return kiln_mesh_classify(mesh, 0.1, NULL);
    default:
        return move_all(mesh);
    }
}

/* Steps of random events; every second one is taken back. */
START_TEST(test_random_steps)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    kiln_random random = kiln_random_start(11, 0);
    for (uint64_t step = 0; step < kiln_test_rounds(60, 3000); step++) {
        uint64_t before = kiln_mesh_hash(mesh), revision = mesh->revision;
        uint32_t clock = mesh->clock;
        ck_assert_int_eq(kiln_rewind_begin(mesh, NULL), KILN_OK);
        ck_assert(kiln_rewind_active(mesh));
        for (uint64_t i = kiln_random_below(&random, 9); i > 0; i--)
            ck_assert_int_eq(happen(mesh, &random, kiln_random_below(&random, 8)), KILN_OK);
        if (step % 2) {
            kiln_rewind_back(mesh);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
            ck_assert_uint_eq(mesh->revision, revision);
            ck_assert_uint_eq(mesh->clock, clock);
        } else {
            kiln_rewind_end(mesh);
        }
        ck_assert(!kiln_rewind_active(mesh));
        kiln_test_audit(mesh);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Another mesh in its place, with things that happen before and after. */
START_TEST(test_exchange)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    kiln_random random = kiln_random_start(5, 0);
    change(mesh, &random, 30);
    uint64_t before = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_rewind_begin(mesh, NULL), KILN_OK);
    for (uint64_t i = 0; i < 8; i++)
        ck_assert_int_eq(happen(mesh, &random, i), KILN_OK);
    ck_assert_int_eq(exchange(mesh), KILN_OK);
    for (uint64_t i = 0; i < 8; i++)
        ck_assert_int_eq(happen(mesh, &random, i), KILN_OK);
    ck_assert_int_eq(exchange(mesh), KILN_OK);
    change(mesh, &random, 5);
    kiln_rewind_back(mesh);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Taken back while a pass and transactions are open. */
START_TEST(test_open_ones)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box_with_fields(context);
    kiln_random random = kiln_random_start(6, 0);
    uint64_t before = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_rewind_begin(mesh, NULL), KILN_OK);
    ck_assert_int_eq(kiln_rewind_begin(mesh, NULL), KILN_ERR_STATE);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "late", KILN_ON_TET, KILN_F64, 1, KILN_RULE_AVERAGE, NULL),
        KILN_ERR_STATE);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    change(mesh, &random, 20);
    kiln_txn outer = kiln_txn_begin(mesh), inner = kiln_txn_begin(mesh);
    for (int i = 0; i < 10; i++)
        kiln_test_change(&inner, &random, 0.03, true);
    ck_assert_uint_eq(outer.depth, 1);
    kiln_rewind_back(mesh);
    ck_assert_uint_eq(kiln_txn_depth(mesh), 0);
    ck_assert(!kiln_archive_active(mesh));
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Every allocation of a step fails once: the step fails or not, and can be taken back. */
START_TEST(test_memory)
{
    for (uint64_t k = 1, failed = 1; failed; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = box_with_fields(context);
        kiln_random random = kiln_random_start(8, 0);
        uint64_t before = kiln_mesh_hash(mesh);
        heap.calls = 0;
        heap.fail_at = k;
        kiln_status status = kiln_rewind_begin(mesh, NULL);
        bool began = status == KILN_OK;
        static const uint64_t events[] = {0, 3, 1, 6, 2, 7, 5};
        for (size_t i = 0; i < sizeof events / sizeof events[0] && status == KILN_OK; i++)
            status = happen(mesh, &random, events[i]);
        failed = heap.calls >= k;
        if (began)
            kiln_rewind_back(mesh);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
        heap.fail_at = 0;
        kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("rewind");
    TCase *tests = kiln_test_case(suite, "rewind");
    tcase_add_test(tests, test_random_steps);
    tcase_add_test(tests, test_exchange);
    tcase_add_test(tests, test_open_ones);
    tcase_add_test(tests, test_memory);
    return suite;
}

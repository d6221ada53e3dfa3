#include "mesh/divide.h"

#include "fixtures.h"
#include "mesh/reorder.h"
#include "support.h"

#include <string.h>

/* Two boxes and a ball, with a field on each table; body numbers that are not part numbers. */
static kiln_mesh *three_parts(kiln_context *context)
{
    kiln_soup all = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2");
    for (int i = 1; i < 3; i++) {
        kiln_soup more = i == 1 ? kiln_test_soup(context, "box", "nx=3 ny=1 nz=1")
                                : kiln_test_soup(context, "ball", "h=0.5");
        for (size_t p = 0; p < more.points.count; p++)
            more.points.data[p].x += 3.0 * i;
        ck_assert_int_eq(kiln_soup_append(&all, &more, 0, NULL), KILN_OK);
        kiln_soup_free(&more);
    }
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_mesh_build(context, &all, NULL, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&all);
    static const char *const names[] = {"heat", "word", "name"};
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_int_eq(kiln_mesh_add_field(mesh, names[where], (kiln_where)where, KILN_U32, 1,
                                             KILN_RULE_COPY, NULL),
                         KILN_OK);
        kiln_field *field = kiln_mesh_field(mesh, (kiln_where)where, names[where]);
        for (uint32_t row = 0; row < mesh->table[where].used; row++)
            ((uint32_t *)(void *)field->data)[row] = 7 * row + 1;
    }
    for (uint32_t p = 0; p < 3; p++)
        mesh->parts.data[p].body = 10 + p;
    return mesh;
}

/* Apart and together again it is the same mesh, but for the order of rows. */
START_TEST(parts_come_out_and_go_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = three_parts(context), *one, *rest;
    const uint8_t take[3] = {0, 1, 0}, leave[3] = {1, 0, 1};
    ck_assert_int_eq(kiln_mesh_extract(mesh, take, &one, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_extract(mesh, leave, &rest, NULL), KILN_OK);
    kiln_test_audit(one);
    kiln_test_audit(rest);
    ck_assert_uint_eq(one->parts.count, 1);
    ck_assert_uint_eq(one->parts.data[0].body, 11);
    ck_assert_uint_eq(rest->parts.count, 2);
    ck_assert_int_eq(kiln_mesh_append(rest, one, NULL), KILN_OK);
    kiln_test_audit(rest);
    ck_assert_uint_eq(rest->parts.data[2].body, 11);
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_reorder(rest, KILN_SPACE_MATERIAL, NULL, NULL), KILN_OK);
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        ck_assert_uint_eq(mesh->table[where].used, rest->table[where].used);
        for (size_t i = 0; i < mesh->table[where].fields.count; i++) {
            const kiln_field *a = &mesh->table[where].fields.data[i];
            const kiln_field *b = &rest->table[where].fields.data[i];
            ck_assert_str_eq(a->name, b->name);
            if (strcmp(a->name, ".info") != 0) /* parts have other numbers */
                ck_assert_mem_eq(a->data, b->data, (size_t)mesh->table[where].used * a->stride);
        }
    }
    kiln_mesh_destroy(one);
    kiln_mesh_destroy(rest);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(nothing_is_a_mesh_too_and_other_fields_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = three_parts(context), *none, *plain;
    const uint8_t take[3] = {0, 0, 0};
    uint64_t hash = kiln_mesh_hash(mesh);
    ck_assert_int_eq(kiln_mesh_extract(mesh, take, &none, NULL), KILN_OK);
    ck_assert_uint_eq(none->table[KILN_ON_TET].used, 0);
    ck_assert_int_eq(kiln_mesh_append(none, mesh, NULL), KILN_OK);
    kiln_test_audit(none);
    ck_assert_double_eq(kiln_mesh_volume(none), kiln_mesh_volume(mesh));
    plain = kiln_test_mesh(context, "box", "");
    ck_assert_int_eq(kiln_mesh_append(mesh, plain, NULL), KILN_ERR_INPUT);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_mesh_destroy(plain);
    kiln_mesh_destroy(none);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = three_parts(context);
    const uint8_t take[3] = {1, 0, 1};
    int64_t blocks = heap.live_blocks;
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t n = 1; status != KILN_OK && n < 200; n++) {
        kiln_mesh *some = NULL;
        heap.fail_at = heap.calls + n;
        status = kiln_mesh_extract(mesh, take, &some, NULL);
        if (status == KILN_OK)
            status = kiln_mesh_append(some, mesh, NULL);
        heap.fail_at = 0;
        kiln_mesh_destroy(some);
        ck_assert_int_eq(heap.live_blocks, blocks);
    }
    ck_assert_int_eq(status, KILN_OK);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("divide");
    TCase *cases = kiln_test_case(suite, "divide");
    tcase_add_test(cases, parts_come_out_and_go_back);
    tcase_add_test(cases, nothing_is_a_mesh_too_and_other_fields_are_refused);
    tcase_add_test(cases, without_memory_nothing_changes);
    return suite;
}

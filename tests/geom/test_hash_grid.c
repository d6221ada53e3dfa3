#include "geom/hash_grid.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 2000 };

typedef struct found {
    uint32_t items[COUNT];
    size_t count, limit;
} found;

static bool take(void *user, uint32_t item)
{
    found *f = user;
    if (f->count >= COUNT)
        return false;
    f->items[f->count++] = item;
    return f->count < f->limit;
}

/* 20 bits, so that a shift by 2^20 is exact. */
static kiln_vec3 random_point(kiln_random *random, double size)
{
    uint64_t u = kiln_random_u64(random);
    kiln_vec3 p = {(double)(u & 0xFFFFF), (double)(u >> 20 & 0xFFFFF), (double)(u >> 40 & 0xFFFFF)};
    p = kiln_v3_scale(p, size);
    return kiln_v3_scale(kiln_v3(floor(p.x), floor(p.y), floor(p.z)), 0x1p-20);
}

static bool near(kiln_vec3 a, kiln_vec3 b, double r)
{
    return kiln_v3_norm2(kiln_v3_sub(a, b)) <= r * r;
}

/* Each expected item once and nothing else. */
static void check_found(const found *f, const unsigned char *expected)
{
    unsigned char seen[COUNT] = {0};
    size_t wrong = 0;
    for (size_t i = 0; i < f->count; i++)
        wrong += seen[f->items[i]]++ != 0;
    for (size_t i = 0; i < COUNT; i++)
        wrong += seen[i] != expected[i];
    ck_assert_uint_eq(wrong, 0);
}

START_TEST(radius_queries_match_brute_force)
{
    static kiln_vec3 points[COUNT], far[COUNT], big[COUNT];
    kiln_context *context = kiln_test_context(1);
    const double sizes[] = {1e-5, 0.01, 0.1, 0.35, 10.0};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        kiln_random random = kiln_random_start(31, k);
        for (int i = 0; i < COUNT; i++) {
            points[i] = random_point(&random, 1.0);
            if (i % 10 == 0)
                points[i] = kiln_v3(0.5, 0.5, 0.5); /* many in one place */
            far[i] = kiln_v3_add(points[i], kiln_v3(0x1p20, -0x1p20, 0x1p20));
            big[i] = kiln_v3_scale(points[i], 0x1p20);
        }
        kiln_hash_grid grid = {0}, moved = {0}, scaled = {0};
        ck_assert_int_eq(kiln_hash_grid_build_points(&grid, context, points, COUNT, sizes[k], NULL),
                         KILN_OK);
        ck_assert_int_eq(kiln_hash_grid_build_points(&moved, context, far, COUNT, sizes[k], NULL),
                         KILN_OK);
        ck_assert_int_eq(
            kiln_hash_grid_build_points(&scaled, context, big, COUNT, sizes[k] * 0x1p20, NULL),
            KILN_OK);
        for (int round = 0; round < 60; round++) {
            kiln_vec3 c = random_point(&random, 1.5);
            double r = round % 3 ? 0.125 : round % 2 ? 0.0 : 0.75;
            if (round % 5 == 0)
                c = points[round];
            unsigned char expected[COUNT];
            for (int i = 0; i < COUNT; i++)
                expected[i] = near(points[i], c, r);
            static found a, b, d;
            a.count = b.count = d.count = 0;
            a.limit = b.limit = d.limit = SIZE_MAX;
            kiln_hash_grid_query_radius(&grid, c, r, take, &a);
            check_found(&a, expected);
            kiln_vec3 c_far = kiln_v3_add(c, kiln_v3(0x1p20, -0x1p20, 0x1p20));
            kiln_hash_grid_query_radius(&moved, c_far, r, take, &b);
            check_found(&b, expected);
            kiln_hash_grid_query_radius(&scaled, kiln_v3_scale(c, 0x1p20), r * 0x1p20, take, &d);
            ck_assert_uint_eq(a.count, d.count);
            ck_assert_int_eq(memcmp(a.items, d.items, a.count * sizeof *a.items), 0);
            if (a.count > 2) {
                b.count = 0;
                b.limit = 2;
                kiln_hash_grid_query_radius(&grid, c, r, take, &b);
                ck_assert_uint_eq(b.count, 2);
                ck_assert_int_eq(memcmp(a.items, b.items, 2 * sizeof *a.items), 0);
            }
        }
        kiln_hash_grid_destroy(&grid);
        kiln_hash_grid_destroy(&moved);
        kiln_hash_grid_destroy(&scaled);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(box_queries_match_brute_force)
{
    static kiln_box boxes[COUNT];
    kiln_context *context = kiln_test_context(1);
    for (int kind = 0; kind < 4; kind++) {
        kiln_random random = kiln_random_start(32, (uint64_t)kind);
        for (int i = 0; i < COUNT; i++) {
            boxes[i].low = random_point(&random, 1.0);
            double size = kind == 0 ? 0.1 : kind == 1 ? 0.0 : i % 100 ? 0.02 : 0.9;
            boxes[i].high = kiln_v3_add(boxes[i].low, random_point(&random, size));
            if (kind == 3)
                boxes[i] = (kiln_box){{0, 0, 0}, {0.25, 0.25, 0.25}};
        }
        kiln_hash_grid grid = {0};
        ck_assert_int_eq(kiln_hash_grid_build_boxes(&grid, context, boxes, COUNT, 0.0625, NULL),
                         KILN_OK);
        for (int round = 0; round < 100; round++) {
            kiln_vec3 p = kiln_v3_sub(random_point(&random, 1.5), kiln_v3(0.25, 0.25, 0.25));
            kiln_box q = {p, kiln_v3_add(p, random_point(&random, round % 3 ? 0.2 : 1.5))};
            if (round % 7 == 0)
                q.high = p;
            unsigned char expected[COUNT];
            for (int i = 0; i < COUNT; i++)
                expected[i] = kiln_box_overlap(boxes[i], q);
            static found f;
            f.count = 0;
            f.limit = SIZE_MAX;
            kiln_hash_grid_query_box(&grid, q, take, &f);
            check_found(&f, expected);
        }
        kiln_hash_grid_destroy(&grid);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(results_are_in_cell_order)
{
    const kiln_vec3 points[6] = {{0.9, 0, 0},   {0.1, 0, 0}, {0.1, 0.9, 0},
                                 {0.1, 0, 0.9}, {0.2, 0, 0}, {0.95, 0, 0}};
    const uint32_t expected[6] = {1, 4, 0, 5, 2, 3};
    kiln_context *context = kiln_test_context(1);
    kiln_hash_grid grid = {0};
    ck_assert_int_eq(kiln_hash_grid_build_points(&grid, context, points, 6, 0.7, NULL), KILN_OK);
    static found f;
    f.limit = SIZE_MAX;
    kiln_hash_grid_query_box(&grid, (kiln_box){{0, 0, 0}, {1, 1, 0.5}}, take, &f);
    ck_assert_uint_eq(f.count, 5);
    ck_assert_int_eq(memcmp(f.items, expected, 5 * sizeof *expected), 0);
    kiln_hash_grid_destroy(&grid);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bad_and_empty_input)
{
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 points[2] = {{0, 0, 0}, {1, 1, 1}};
    kiln_box boxes[2] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 2, 0}, {1, 1, 1}}};
    kiln_hash_grid grid = {0};
    kiln_error error;
    static found f;
    f.limit = SIZE_MAX;
    ck_assert_int_eq(kiln_hash_grid_build_points(&grid, context, NULL, 0, 1.0, NULL), KILN_OK);
    kiln_hash_grid_query_radius(&grid, points[0], 9, take, &f);
    ck_assert_uint_eq(f.count, 0);
    ck_assert_int_eq(kiln_hash_grid_build_points(&grid, context, points, 2, 0.0, &error),
                     KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_hash_grid_build_points(&grid, context, points, 2, NAN, &error),
                     KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_hash_grid_build_points(&grid, context, points, 2, 1e-12, &error),
                     KILN_ERR_LIMIT);
    ck_assert_int_eq(kiln_hash_grid_build_boxes(&grid, context, boxes, 1, 1e-4, &error),
                     KILN_ERR_LIMIT);
    ck_assert_int_eq(kiln_hash_grid_build_boxes(&grid, context, boxes, 2, 1.0, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "item 1 "));
    points[1].z = INFINITY;
    ck_assert_int_eq(kiln_hash_grid_build_points(&grid, context, points, 2, 1.0, &error),
                     KILN_ERR_INPUT);
    ck_assert_uint_eq(grid.items, 0);
    kiln_hash_grid_query_radius(&grid, points[0], 9, take, &f);
    ck_assert_uint_eq(f.count, 0);
    kiln_context_destroy(context);

    points[1].z = 1;
    bool done = false;
    for (uint64_t k = 1; !done; k++) {
        kiln_test_heap heap = {0};
        context = kiln_test_context_on(&heap, 1);
        heap.fail_at = heap.calls + k;
        kiln_status status = kiln_hash_grid_build_points(&grid, context, points, 2, 0.5, &error);
        done = status == KILN_OK;
        ck_assert(done || status == KILN_ERR_MEMORY);
        kiln_hash_grid_destroy(&grid);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        ck_assert_int_eq(heap.live_blocks, 0);
        ck_assert_uint_lt(k, 10);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("hash_grid");
    TCase *all = kiln_test_case(suite, "hash_grid");
    tcase_add_test(all, radius_queries_match_brute_force);
    tcase_add_test(all, box_queries_match_brute_force);
    tcase_add_test(all, results_are_in_cell_order);
    tcase_add_test(all, bad_and_empty_input);
    return suite;
}

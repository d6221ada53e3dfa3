#include "geom/curve_order.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

START_TEST(the_curve_visits_neighbours)
{
    kiln_curve curve;
    kiln_curve_init(&curve);
    for (int bits = 1; bits <= 5; bits++) {
        uint32_t side = 1u << bits, cells = side * side * side;
        uint32_t *at = malloc(cells * sizeof *at);
        memset(at, 0xFF, cells * sizeof *at);
        for (uint32_t c = 0; c < cells; c++) {
            uint32_t x = c % side, y = c / side % side, z = c / side / side;
            uint64_t key = kiln_curve_key(&curve, x, y, z, bits);
            ck_assert_uint_lt(key, cells);
            ck_assert_uint_eq(at[key], UINT32_MAX);
            at[key] = c;
            if (bits > 1)
                ck_assert_uint_eq(key >> 3,
                                  kiln_curve_key(&curve, x >> 1, y >> 1, z >> 1, bits - 1));
        }
        for (uint32_t k = 1; k < cells; k++) {
            int dx = (int)(at[k] % side) - (int)(at[k - 1] % side);
            int dy = (int)(at[k] / side % side) - (int)(at[k - 1] / side % side);
            int dz = (int)(at[k] / side / side) - (int)(at[k - 1] / side / side);
            ck_assert_int_eq(abs(dx) + abs(dy) + abs(dz), 1);
        }
        free(at);
    }
    uint32_t top = (1u << 21) - 1;
    ck_assert_uint_lt(kiln_curve_key(&curve, top, top, top, 21), (uint64_t)1 << 63);
}
END_TEST

typedef struct tagged {
    uint64_t value;
    size_t rank;
} tagged;

static uint64_t compare_mask;
static int compare_tagged(const void *a, const void *b)
{
    const tagged *p = a, *q = b;
    uint64_t u = p->value & compare_mask, v = q->value & compare_mask;
    return u != v ? (u < v ? -1 : 1) : p->rank < q->rank ? -1 : p->rank > q->rank;
}

static void check_sort(size_t count, int low, int high, uint64_t keep, uint64_t seed, int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_random random = kiln_random_start(seed, count);
    uint64_t *values = malloc((count + 1) * sizeof *values);
    uint64_t *scratch = malloc((count + 1) * sizeof *scratch);
    tagged *expected = malloc((count + 1) * sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        values[i] = kiln_random_u64(&random) & keep;
        expected[i] = (tagged){values[i], i};
    }
    compare_mask = (high - low == 64 ? ~(uint64_t)0 : ((uint64_t)1 << (high - low)) - 1) << low;
    qsort(expected, count, sizeof *expected, compare_tagged);
    kiln_radix_sort(context, values, scratch, count, low, high);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += values[i] != expected[i].value;
    ck_assert_uint_eq(wrong, 0);
    free(values);
    free(scratch);
    free(expected);
    kiln_context_destroy(context);
}

START_TEST(radix_sort_is_stable)
{
    const size_t counts[] = {0, 1, 2, 31, 32, 100, 1000, 5000, 70000, 300000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            check_sort(counts[i], 0, 64, ~(uint64_t)0, 1, threads);
            check_sort(counts[i], 20, 50, ~(uint64_t)0, 2, threads);
            check_sort(counts[i], 20, 50, ~(uint64_t)0xFFFF000000, 3, threads); /* many equal */
            check_sort(counts[i], 5, 9, ~(uint64_t)0, 4, threads);
            check_sort(counts[i], 20, 50, 0xFFFFF, 5, threads); /* all equal */
        }
}
END_TEST

static uint32_t *ordered(const kiln_vec3 *points, size_t count, int threads)
{
    kiln_context *context = kiln_test_context(threads);
    uint32_t *order = malloc((count + 1) * sizeof *order);
    ck_assert_int_eq(kiln_curve_order(context, points, count, 21, order, NULL), KILN_OK);
    kiln_context_destroy(context);
    return order;
}

static kiln_vec3 *random_points(size_t count, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 0);
    kiln_vec3 *points = malloc(count * sizeof *points);
    for (size_t i = 0; i < count; i++) { /* 20 bits, so that a shift by 2^20 is exact */
        uint64_t u = kiln_random_u64(&random);
        points[i] = kiln_v3((double)(u & 0xFFFFF) * 0x1p-20, (double)(u >> 20 & 0xFFFFF) * 0x1p-20,
                            (double)(u >> 40 & 0xFFFFF) * 0x1p-20);
    }
    return points;
}

START_TEST(order_is_local_and_reproducible)
{
    size_t count = 400000;
    kiln_vec3 *points = random_points(count, 3);
    uint32_t *order = ordered(points, count, 1);
    unsigned char *seen = calloc(count, 1);
    double length = 0;
    for (size_t i = 0; i < count; i++) {
        if (order[i] >= count || seen[order[i]]++)
            ck_abort_msg("not a permutation at %zu", i);
        if (i)
            length += kiln_v3_norm(kiln_v3_sub(points[order[i]], points[order[i - 1]]));
    }
    /* Mean step about the mean spacing (random order: 0.66). */
    ck_assert_double_lt(length / (double)count, 1.2 * cbrt(1.0 / (double)count));
    for (int variant = 0; variant < 5; variant++) {
        for (size_t i = 0; i < count; i++) {
            if (variant == 2)
                points[i] = kiln_v3_add(points[i], kiln_v3(0x1p20, 0x1p20, -0x1p20));
            if (variant == 3 || variant == 4)
                points[i] = kiln_v3_scale(points[i], variant == 3 ? 0x1p20 : 0x1p-40);
        }
        uint32_t *again = ordered(points, count, variant ? 1 + variant : 3);
        ck_assert_int_eq(memcmp(again, order, count * sizeof *order), 0);
        free(again);
    }
    free(points);
    free(order);
    free(seen);
}
END_TEST

START_TEST(odd_sets_are_ordered)
{
    kiln_vec3 same[100];
    for (int i = 0; i < 100; i++)
        same[i] = kiln_v3(3, 4, 5);
    uint32_t *order = ordered(same, 100, 2);
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_uint_eq(order[i], i);
    free(order);
    free(ordered(NULL, 0, 1));
    order = ordered(same, 1, 1);
    ck_assert_uint_eq(order[0], 0);
    free(order);
    kiln_context *context = kiln_test_context(1);
    uint32_t room[100];
    kiln_error error;
    same[77].y = NAN;
    ck_assert_int_eq(kiln_curve_order(context, same, 100, 21, room, &error), KILN_ERR_INPUT);
    same[77].y = -INFINITY;
    ck_assert_int_eq(kiln_curve_order(context, same, 100, 21, room, &error), KILN_ERR_INPUT);
    same[77].y = 1.7e308;
    same[78].y = -1.7e308;
    ck_assert_int_eq(kiln_curve_order(context, same, 100, 21, room, &error), KILN_ERR_INPUT);
    kiln_context_destroy(context);
    kiln_test_heap heap = {0};
    context = kiln_test_context_on(&heap, 1);
    heap.fail_at = heap.calls + 1;
    ck_assert_int_eq(kiln_curve_order(context, same, 50, 21, room, &error), KILN_ERR_MEMORY);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("curve_order");
    TCase *all = kiln_test_case(suite, "curve_order");
    tcase_add_test(all, the_curve_visits_neighbours);
    tcase_add_test(all, radix_sort_is_stable);
    tcase_add_test(all, order_is_local_and_reproducible);
    tcase_add_test(all, odd_sets_are_ordered);
    return suite;
}

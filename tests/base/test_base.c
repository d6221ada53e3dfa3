#include "base/arena.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

START_TEST(errors_name_the_place)
{
    kiln_error error;
    char text[256];
    ck_assert_int_eq(kiln_fail(&error, KILN_ERR_INPUT, "a.mesh", 7, -1, "found %d", 3),
                     KILN_ERR_INPUT);
    ck_assert_str_eq(kiln_error_format(&error, text, sizeof text), "a.mesh:7: found 3");
    kiln_fail(&error, KILN_ERR_INPUT, "a.msh", 0, 96, "short");
    ck_assert_str_eq(kiln_error_format(&error, text, sizeof text), "a.msh: byte 96: short");
    ck_assert_str_eq(kiln_status_text(KILN_ERR_MEMORY), "out of memory");
}
END_TEST

START_TEST(arena_marks_nest_and_reuse)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_arena arena;
    kiln_arena_init(&arena, context);
    kiln_arena_mark outer = kiln_arena_set_mark(&arena);
    char *first = kiln_arena_alloc(&arena, 100);
    ck_assert_int_eq((uintptr_t)first % 64, 0);
    memset(first, 1, 100);
    kiln_arena_mark inner = kiln_arena_set_mark(&arena);
    for (int i = 0; i < 1000; i++)
        memset(kiln_arena_alloc(&arena, 1000), 2, 1000);
    int64_t grown = heap.live_bytes;
    kiln_arena_release(&arena, inner);
    ck_assert_int_eq(first[99], 1);
    for (int i = 0; i < 1000; i++)
        memset(kiln_arena_alloc(&arena, 1000), 3, 1000);
    ck_assert_int_eq(heap.live_bytes, grown);
    ck_assert_int_eq(first[99], 1);
    kiln_arena_release(&arena, outer);
    ck_assert_ptr_eq(kiln_arena_alloc(&arena, 100), first);
    kiln_arena_destroy(&arena);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
    ck_assert_int_eq(heap.live_bytes, 0);
}
END_TEST

START_TEST(array_grows_and_survives_failure)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_u32_array ids = {0};
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_int_eq(kiln_array_push(context, &ids, i, NULL), KILN_OK);
    heap.fail_at = heap.calls + 1;
    kiln_error error;
    ck_assert_int_eq(kiln_array_reserve(context, &ids, 1000000, &error), KILN_ERR_MEMORY);
    ck_assert_uint_eq(ids.count, 1000);
    ck_assert_uint_eq(ids.data[999], 999);
    kiln_array_free(context, &ids);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

static double harmonic(void *user, size_t i)
{
    (void)user;
    return 1.0 / (double)(i + 1);
}

START_TEST(sums_do_not_depend_on_threads)
{
    double reference = 0.0;
    for (int threads = 1; threads <= 4; threads++) {
        kiln_context *context = kiln_test_context(threads);
        double sum;
        ck_assert_int_eq(kiln_parallel_sum(context, 1000003, harmonic, NULL, &sum, NULL), KILN_OK);
        if (threads == 1)
            reference = sum;
        ck_assert_int_eq(memcmp(&sum, &reference, sizeof sum), 0);
        kiln_context_destroy(context);
    }
    ck_assert_double_eq_tol(reference, 14.392729722864989, 1e-9);
}
END_TEST

static void count_items(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    unsigned char *seen = user;
    for (size_t i = begin; i < end; i++)
        seen[i]++;
}

START_TEST(loop_visits_each_item_once)
{
    static unsigned char seen[100000];
    kiln_context *context = kiln_test_context(3);
    for (int round = 0; round < 100; round++)
        kiln_parallel_for(context, sizeof seen, 777, count_items, seen);
    for (size_t i = 0; i < sizeof seen; i++)
        ck_assert_int_eq(seen[i], 100);
    kiln_parallel_for(context, 0, 777, count_items, seen);
    kiln_context_destroy(context);
}
END_TEST

/* Workers that look, sleep, come late or miss the loop altogether, see none of another one. */
static void check_short_loops(int threads)
{
    enum { LONGEST = 64, ROUNDS = 3000 };
    static unsigned char seen[ROUNDS][LONGEST];
    kiln_context *context = kiln_test_context(threads);
    memset(seen, 0, sizeof seen);
    for (int round = 0; round < ROUNDS; round++) {
        size_t items = 2 + (size_t)round % (LONGEST - 1);
        for (int wait = round % 100 ? round % 7 : 20000; wait > 0; wait--)
            kiln_pause();
        kiln_parallel_for(context, items, 1 + (size_t)round % 3, count_items, seen[round]);
        for (size_t i = 0; i < LONGEST; i++)
            ck_assert_int_eq(seen[round][i], i < items);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < LONGEST; i++)
            ck_assert_int_eq(seen[round][i], i < 2 + (size_t)round % (LONGEST - 1));
    kiln_context_destroy(context);
}

START_TEST(short_loops_in_a_row_are_whole)
{
    static const int threads[] = {2, 3, 8};
    for (int i = 0; i < 3; i++)
        check_short_loops(threads[i]);
}
END_TEST

enum { OUTER = 64, INNER = 1000, INNER_GRAIN = 7 };

/* What a nest of loops saw: the inner ones sum into scratch told apart by worker. */
typedef struct nest {
    kiln_context *context, *other; /* `other`, if any, is looped over between the two */
    int outer_worker[OUTER];
    double sum[OUTER];
    bool inline_everywhere[OUTER];
    size_t item; /* of the outer loop, for the inner bodies */
    struct nest *whole;
} nest;

static void add_reciprocals(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    nest *inner = user, *whole = inner->whole;
    size_t item = inner->item;
    if (worker != whole->outer_worker[item] || begin != chunk * INNER_GRAIN)
        whole->inline_everywhere[item] = false;
    for (size_t i = begin; i < end; i++)
        whole->sum[item] += 1.0 / (double)(i + item + 1);
}

static void loop_again(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)begin, (void)end, (void)worker;
    nest *inner = user;
    kiln_parallel_for(inner->context, INNER, INNER_GRAIN, add_reciprocals, inner);
}

static void start_inner_loops(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    nest *whole = user;
    for (size_t i = begin; i < end; i++) {
        nest inner = {.context = whole->context, .item = i, .whole = whole};
        whole->outer_worker[i] = worker;
        whole->inline_everywhere[i] = true;
        /* One chunk, so the body runs on this thread: the loop in it must find its way back. */
        if (whole->other)
            kiln_parallel_for(whole->other, 1, 1, loop_again, &inner);
        else
            loop_again(&inner, 0, 0, 1, worker);
    }
}

static void check_nest(int threads, size_t grain, bool with_other, double reference[OUTER])
{
    nest n = {.context = kiln_test_context(threads)};
    n.other = with_other ? kiln_test_context(2) : NULL;
    kiln_parallel_for(n.context, OUTER, grain, start_inner_loops, &n);
    if (threads == 1 && !with_other)
        memcpy(reference, n.sum, sizeof n.sum);
    for (int i = 0; i < OUTER; i++)
        ck_assert_msg(n.inline_everywhere[i], "item %d on %d threads", i, threads);
    ck_assert_int_eq(memcmp(n.sum, reference, sizeof n.sum), 0);
    /* And the context is as good as before. */
    static unsigned char seen[10000];
    memset(seen, 0, sizeof seen);
    kiln_parallel_for(n.context, sizeof seen, 7, count_items, seen);
    for (size_t i = 0; i < sizeof seen; i++)
        ck_assert_int_eq(seen[i], 1);
    kiln_context_destroy(n.other);
    kiln_context_destroy(n.context);
}

START_TEST(loops_inside_loops_run_inline)
{
    double reference[OUTER];
    for (int threads = 1; threads <= 4; threads++)
        for (size_t grain = 1; grain <= OUTER; grain *= 8)
            check_nest(threads, grain, false, reference);
    /* A whole loop in one chunk is a loop as well; another context in between changes nothing. */
    for (int threads = 1; threads <= 3; threads++)
        check_nest(threads, 3, true, reference);
}
END_TEST

typedef struct handover {
    kiln_context *inner;
    unsigned char *seen;
    size_t count;
    atomic_flag busy;
} handover;

/* One body of context A at a time uses context B: that loop is B's own. */
static void loop_elsewhere(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)begin, (void)end, (void)worker;
    handover *h = user;
    while (atomic_flag_test_and_set(&h->busy))
        kiln_pause();
    kiln_parallel_for(h->inner, h->count, 13, count_items, h->seen);
    atomic_flag_clear(&h->busy);
}

START_TEST(a_body_may_loop_in_another_context)
{
    static unsigned char seen[5000];
    kiln_context *outer = kiln_test_context(3);
    handover h = {.inner = kiln_test_context(3), .seen = seen, .count = sizeof seen};
    atomic_flag_clear(&h.busy);
    kiln_parallel_for(outer, 50, 1, loop_elsewhere, &h);
    for (size_t i = 0; i < sizeof seen; i++)
        ck_assert_int_eq(seen[i], 50);
    kiln_context_destroy(h.inner);
    kiln_context_destroy(outer);
}
END_TEST

START_TEST(random_numbers_are_uniform_and_repeatable)
{
    kiln_random a = kiln_random_start(1, 0), b = kiln_random_start(1, 1);
    double mean = 0.0, square = 0.0, product = 0.0;
    int bins[16] = {0};
    enum { N = 1 << 20 };
    for (int i = 0; i < N; i++) {
        double x = kiln_random_unit(&a), y = kiln_random_unit(&b);
        ck_assert(x >= 0.0 && x < 1.0);
        bins[(int)(16 * x)]++;
        mean += x / N;
        square += x * x / N;
        product += (x - 0.5) * (y - 0.5) / N;
    }
    ck_assert_double_eq_tol(mean, 0.5, 2e-3);
    ck_assert_double_eq_tol(square, 1.0 / 3, 2e-3);
    ck_assert_double_eq_tol(product, 0.0, 5e-4);
    for (int i = 0; i < 16; i++)
        ck_assert_int_lt(abs(bins[i] - N / 16), 5 * 256);
    kiln_random again = kiln_random_start(1, 0);
    again.counter = N;
    ck_assert_uint_eq(kiln_random_u64(&again), kiln_random_u64(&a));
}
END_TEST

START_TEST(bad_options_are_refused)
{
    kiln_context_options options = kiln_context_default_options();
    kiln_context *context = NULL;
    kiln_error error;
    options.threads = -1;
    ck_assert_int_eq(kiln_context_create(&options, &context, &error), KILN_ERR_INPUT);
    options.threads = 1;
    options.isa = "mmx";
    ck_assert_int_eq(kiln_context_create(&options, &context, &error), KILN_ERR_INPUT);
    ck_assert_ptr_null(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("base");
    TCase *all = kiln_test_case(suite, "base");
    tcase_add_test(all, errors_name_the_place);
    tcase_add_test(all, arena_marks_nest_and_reuse);
    tcase_add_test(all, array_grows_and_survives_failure);
    tcase_add_test(all, sums_do_not_depend_on_threads);
    tcase_add_test(all, loop_visits_each_item_once);
    tcase_add_test(all, short_loops_in_a_row_are_whole);
    tcase_add_test(all, loops_inside_loops_run_inline);
    tcase_add_test(all, a_body_may_loop_in_another_context);
    tcase_add_test(all, random_numbers_are_uniform_and_repeatable);
    tcase_add_test(all, bad_options_are_refused);
    return suite;
}

#include "geom/bvh.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

typedef struct scene {
    size_t count;
    kiln_box *boxes;
    uint32_t (*vertices)[3];
} scene;

typedef enum shape { SOUP, SURFACE, FLAT, POINTS, SAME, NESTED, SHAPES } shape;

/* Coordinates have at most 20 bits below one, so that a shift by 2^20 is exact. */
static double bits20(double x)
{
    return floor(x * 0x1p20) * 0x1p-20;
}

static kiln_vec3 random_point(kiln_random *random, double size)
{
    double x = bits20(size * kiln_random_unit(random)), y = bits20(size * kiln_random_unit(random));
    return kiln_v3(x, y, bits20(size * kiln_random_unit(random)));
}

static kiln_box random_box(kiln_random *random, shape kind, size_t i, size_t count)
{
    if (kind == SAME)
        return (kiln_box){{0.25, 0.25, 0.25}, {0.5, 0.5, 0.5}};
    if (kind == NESTED) {
        double s = bits20((double)(i + 1) / (double)count);
        return (kiln_box){{-s, -s, -s}, {s, s, s}};
    }
    kiln_vec3 p = random_point(random, 1.0);
    double size = kind == POINTS ? 0.0 : 2.0 * cbrt(1.0 / (double)count);
    kiln_vec3 q = kiln_v3_add(p, random_point(random, size));
    if (kind == FLAT)
        p.z = q.z = 0.5;
    return (kiln_box){p, q};
}

static scene make_scene(shape kind, size_t count, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, (uint64_t)kind);
    scene s = {count, malloc((count + 1) * sizeof *s.boxes),
               malloc((count + 1) * sizeof *s.vertices)};
    size_t side = 1;
    while (2 * side * side < count)
        side++;
    for (size_t i = 0; i < count; i++) {
        size_t u = i / 2 % side, v = i / 2 / side, row = side + 1;
        uint32_t a = (uint32_t)(v * row + u), b = a + 1, c = a + (uint32_t)row, d = c + 1;
        s.vertices[i][0] = i % 2 ? d : a;
        s.vertices[i][1] = b;
        s.vertices[i][2] = c;
        s.boxes[i] = random_box(&random, kind, i, count);
        if (kind == SURFACE) {
            s.boxes[i] = kiln_box_empty();
            for (int k = 0; k < 3; k++) {
                uint32_t w = s.vertices[i][k];
                kiln_random at = kiln_random_start(seed, w);
                kiln_vec3 p =
                    kiln_v3((double)(w % row) / (double)side, (double)(w / row) / (double)side, 0);
                p = kiln_v3_madd(p, 2.0 / (double)side, random_point(&at, 1.0));
                s.boxes[i] =
                    kiln_box_grow(s.boxes[i], kiln_v3(bits20(p.x), bits20(p.y), bits20(p.z)));
            }
        }
    }
    return s;
}

static void free_scene(scene *s)
{
    free(s->boxes);
    free(s->vertices);
}

static bool share(const uint32_t *a, const uint32_t *b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

static int by_pair(const void *a, const void *b)
{
    const kiln_bvh_pair *p = a, *q = b;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

/* Every true pair is there, once; every reported one is a pair of boxes widened by `loose`. */
static void check_pairs(const scene *s, const scene *t, kiln_bvh_pair_array *pairs, bool filter,
                        double loose)
{
    if (pairs->count > 0)
        qsort(pairs->data, pairs->count, sizeof *pairs->data, by_pair);
    size_t at = 0, wrong = 0;
    kiln_vec3 margin = {loose, loose, loose};
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = s == t ? i + 1 : 0; j < t->count; j++) {
            kiln_box wide = {kiln_v3_sub(t->boxes[j].low, margin),
                             kiln_v3_add(t->boxes[j].high, margin)};
            bool found = at < pairs->count && pairs->data[at].a == i && pairs->data[at].b == j;
            bool kept = !filter || !share(s->vertices[i], t->vertices[j]);
            wrong += kept && kiln_box_overlap(s->boxes[i], t->boxes[j]) && !found;
            wrong += found && !(kept && kiln_box_overlap(s->boxes[i], wide));
            at += found;
        }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(at, pairs->count);
}

static kiln_context *context_with(int threads, const char *isa)
{
    kiln_context_options options = kiln_context_default_options();
    options.threads = threads;
    options.isa = isa;
    kiln_context *context = NULL;
    if (kiln_context_create(&options, &context, NULL) != KILN_OK)
        return NULL; /* the machine lacks the instruction set */
    return context;
}

START_TEST(self_overlap_matches_brute_force)
{
    const size_t counts[] = {1, 2, 8, 9, 63, 64, 65, 513, 1500};
    for (shape kind = 0; kind < SHAPES; kind++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            scene s = make_scene(kind, counts[c], 5);
            kiln_context *context = kiln_test_context(2);
            kiln_bvh bvh = {0};
            kiln_bvh_pair_array pairs = {0};
            ck_assert_int_eq(kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL), KILN_OK);
            ck_assert_int_eq(kiln_bvh_self_overlap(&bvh, &pairs, NULL), KILN_OK);
            check_pairs(&s, &s, &pairs, false, 1e-6);
            pairs.count = 0;
            ck_assert_int_eq(kiln_bvh_set_vertices(&bvh, &s.vertices[0][0], 3, NULL), KILN_OK);
            ck_assert_int_eq(kiln_bvh_self_overlap(&bvh, &pairs, NULL), KILN_OK);
            check_pairs(&s, &s, &pairs, true, 1e-6);
            kiln_array_free(context, &pairs);
            kiln_bvh_destroy(&bvh);
            kiln_context_destroy(context);
            free_scene(&s);
        }
}
END_TEST

START_TEST(pair_overlap_matches_brute_force)
{
    for (shape kind = 0; kind < SHAPES; kind++)
        for (int filter = 0; filter < 2; filter++) {
            scene s = make_scene(kind, 700, 6), t = make_scene(SOUP, 900, 7);
            for (size_t i = 0; i < t.count; i++) { /* another frame */
                t.boxes[i].low = kiln_v3_sub(t.boxes[i].low, kiln_v3(0.3, 0, 0.2));
            }
            kiln_context *context = kiln_test_context(2);
            kiln_bvh a = {0}, b = {0};
            kiln_bvh_pair_array pairs = {0};
            ck_assert_int_eq(kiln_bvh_build(&a, context, s.boxes, s.count, NULL), KILN_OK);
            ck_assert_int_eq(kiln_bvh_build(&b, context, t.boxes, t.count, NULL), KILN_OK);
            ck_assert_int_eq(kiln_bvh_set_vertices(&a, &s.vertices[0][0], 3, NULL), KILN_OK);
            if (filter)
                ck_assert_int_eq(kiln_bvh_set_vertices(&b, &t.vertices[0][0], 3, NULL), KILN_OK);
            ck_assert_int_eq(kiln_bvh_pair_overlap(&a, &b, &pairs, NULL), KILN_OK);
            ck_assert_uint_gt(pairs.count, 0);
            check_pairs(&s, &t, &pairs, filter, 4e-6);
            kiln_array_free(context, &pairs);
            kiln_bvh_destroy(&a);
            kiln_bvh_destroy(&b);
            kiln_context_destroy(context);
            free_scene(&s);
            free_scene(&t);
        }
}
END_TEST

/* One vertex of each item against three is as that vertex three times against them. */
START_TEST(arities_may_differ)
{
    enum { COUNT = 700 };
    scene s = make_scene(SURFACE, COUNT, 6), t = make_scene(SURFACE, 900, 6);
    uint32_t one[COUNT], three[COUNT][3];
    for (size_t i = 0; i < COUNT; i++)
        one[i] = three[i][0] = three[i][1] = three[i][2] = s.vertices[i][0];
    kiln_context *context = kiln_test_context(2);
    kiln_bvh a = {0}, b = {0};
    kiln_bvh_pair_array pairs[3] = {{0}, {0}, {0}};
    ck_assert_int_eq(kiln_bvh_build(&a, context, s.boxes, s.count, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_build(&b, context, t.boxes, t.count, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_set_vertices(&b, &t.vertices[0][0], 3, NULL), KILN_OK);
    for (int k = 0; k < 3; k++) {
        if (k == 1)
            ck_assert_int_eq(kiln_bvh_set_vertices(&a, &three[0][0], 3, NULL), KILN_OK);
        if (k == 2)
            ck_assert_int_eq(kiln_bvh_set_vertices(&a, one, 1, NULL), KILN_OK);
        ck_assert_int_eq(kiln_bvh_pair_overlap(&a, &b, &pairs[k], NULL), KILN_OK);
    }
    ck_assert_uint_lt(pairs[1].count, pairs[0].count);
    ck_assert_uint_eq(pairs[1].count, pairs[2].count);
    ck_assert_mem_eq(pairs[1].data, pairs[2].data, pairs[1].count * sizeof *pairs[1].data);
    for (int k = 0; k < 3; k++)
        kiln_array_free(context, &pairs[k]);
    kiln_bvh_destroy(&a);
    kiln_bvh_destroy(&b);
    kiln_context_destroy(context);
    free_scene(&s);
    free_scene(&t);
}
END_TEST

/* Same pairs in the same order for all threads and instruction sets, and after exact shifts and
 * scalings. */
START_TEST(results_do_not_depend_on_the_machine)
{
    scene s = make_scene(SURFACE, 30000, 8);
    kiln_bvh_pair *expected = NULL;
    size_t count = 0;
    static const char *const ISA[] = {NULL, "scalar", "avx2", "avx512", NULL, NULL, NULL, NULL};
    static const int THREADS[] = {1, 1, 2, 3, 4, 1, 2, 1};
    for (int variant = 0; variant < 8; variant++) {
        kiln_context *context = context_with(THREADS[variant], ISA[variant]);
        if (!context)
            continue;
        for (size_t i = 0; i < s.count && variant >= 5; i++) {
            kiln_vec3 shift = {0x1p20, -0x1p20, 0x1p20};
            double scale = variant == 6 ? 0x1p20 : 0x1p-40;
            kiln_box *b = &s.boxes[i];
            if (variant == 5)
                *b = (kiln_box){kiln_v3_add(b->low, shift), kiln_v3_add(b->high, shift)};
            else
                *b = (kiln_box){kiln_v3_scale(b->low, scale), kiln_v3_scale(b->high, scale)};
        }
        kiln_bvh bvh = {0};
        kiln_bvh_pair_array pairs = {0};
        ck_assert_int_eq(kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL), KILN_OK);
        ck_assert_int_eq(kiln_bvh_set_vertices(&bvh, &s.vertices[0][0], 3, NULL), KILN_OK);
        ck_assert_int_eq(kiln_bvh_self_overlap(&bvh, &pairs, NULL), KILN_OK);
        if (variant == 0) {
            count = pairs.count;
            expected = malloc(count * sizeof *expected);
            memcpy(expected, pairs.data, count * sizeof *expected);
            ck_assert_uint_gt(count, 1000);
        }
        ck_assert_uint_eq(pairs.count, count);
        ck_assert_int_eq(memcmp(expected, pairs.data, count * sizeof *expected), 0);
        kiln_array_free(context, &pairs);
        kiln_bvh_destroy(&bvh);
        kiln_context_destroy(context);
    }
    free(expected);
    free_scene(&s);
}
END_TEST

typedef struct stop_after {
    size_t batches, pairs;
} stop_after;

static bool count_pairs(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    stop_after *stop = user;
    for (size_t i = 0; i < count; i++)
        stop->pairs += pairs[i].a < pairs[i].b;
    return --stop->batches > 0;
}

START_TEST(sinks_see_all_pairs_and_may_stop)
{
    scene s = make_scene(SAME, 500, 0);
    kiln_context *context = kiln_test_context(1);
    kiln_bvh bvh = {0};
    ck_assert_int_eq(kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL), KILN_OK);
    stop_after stop = {100000, 0};
    kiln_bvh_visit_self_overlap(&bvh, count_pairs, &stop);
    ck_assert_uint_eq(stop.pairs, 500 * 499 / 2);
    stop = (stop_after){1, 0};
    kiln_bvh_visit_self_overlap(&bvh, count_pairs, &stop);
    ck_assert_uint_gt(stop.pairs, 0);
    ck_assert_uint_lt(stop.pairs, 5000);
    kiln_bvh_destroy(&bvh);
    kiln_context_destroy(context);
    free_scene(&s);
}
END_TEST

typedef struct marks {
    unsigned char *seen;
    size_t count, limit;
} marks;

static bool mark(void *user, uint32_t item)
{
    marks *m = user;
    m->seen[item]++;
    return ++m->count < m->limit;
}

START_TEST(box_queries_match_brute_force)
{
    for (shape kind = 0; kind < SHAPES; kind++) {
        scene s = make_scene(kind, 1000, 9);
        kiln_context *context = kiln_test_context(1);
        kiln_bvh bvh = {0};
        ck_assert_int_eq(kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL), KILN_OK);
        kiln_random random = kiln_random_start(10, 0);
        unsigned char *seen = malloc(s.count);
        for (int round = 0; round < 100; round++) {
            kiln_vec3 p = random_point(&random, 1.2);
            kiln_box q = {p, kiln_v3_add(p, random_point(&random, round % 2 ? 0.0 : 0.3))};
            marks m = {memset(seen, 0, s.count), 0, SIZE_MAX};
            kiln_bvh_query_box(&bvh, q, mark, &m);
            size_t wrong = 0;
            kiln_vec3 e = {1e-6, 1e-6, 1e-6};
            kiln_box wide = {kiln_v3_sub(q.low, e), kiln_v3_add(q.high, e)};
            for (size_t i = 0; i < s.count; i++) {
                wrong += seen[i] > 1 || (!seen[i] && kiln_box_overlap(s.boxes[i], q));
                wrong += seen[i] && !kiln_box_overlap(s.boxes[i], wide);
            }
            ck_assert_uint_eq(wrong, 0);
            if (m.count > 3) {
                m.count = 0;
                m.limit = 3;
                kiln_bvh_query_box(&bvh, q, mark, &m);
                ck_assert_uint_eq(m.count, 3);
            }
        }
        free(seen);
        kiln_bvh_destroy(&bvh);
        kiln_context_destroy(context);
        free_scene(&s);
    }
}
END_TEST

typedef struct probe {
    const kiln_box *boxes;
    size_t calls;
} probe;

static double box_distance2(void *user, uint32_t item, kiln_vec3 p)
{
    probe *q = user;
    q->calls++;
    kiln_vec3 c = kiln_v3_max(q->boxes[item].low, kiln_v3_min(p, q->boxes[item].high));
    return kiln_v3_norm2(kiln_v3_sub(p, c));
}

START_TEST(closest_matches_brute_force)
{
    for (shape kind = 0; kind < SHAPES; kind++) {
        scene s = make_scene(kind, 2000, 11);
        kiln_context *context = kiln_test_context(1);
        kiln_bvh bvh = {0};
        ck_assert_int_eq(kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL), KILN_OK);
        kiln_random random = kiln_random_start(12, 0);
        size_t calls = 0;
        for (int round = 0; round < 200; round++) {
            kiln_vec3 p = random_point(&random, 1.5);
            if (round % 5 == 0) /* far away */
                p = kiln_v3_scale(p, 1e6);
            probe q = {s.boxes, 0};
            uint32_t near = KILN_BVH_NONE;
            double best = INFINITY;
            for (uint32_t i = 0; i < s.count; i++) {
                double d2 = box_distance2(&q, i, p);
                if (d2 < best)
                    best = d2, near = i;
            }
            double found = -1;
            q.calls = 0;
            ck_assert_uint_eq(kiln_bvh_closest(&bvh, p, INFINITY, box_distance2, &q, &found), near);
            ck_assert(found == best);
            if (best > 0)
                ck_assert_uint_eq(kiln_bvh_closest(&bvh, p, 0.9 * best, box_distance2, &q, NULL),
                                  KILN_BVH_NONE);
            calls += q.calls;
        }
        if (kind == SOUP)
            ck_assert_uint_lt(calls, 200 * 200);
        kiln_bvh_destroy(&bvh);
        kiln_context_destroy(context);
        free_scene(&s);
    }
}
END_TEST

static double unreachable(void *user, uint32_t item, kiln_vec3 p)
{
    (void)p;
    ck_assert_uint_lt(item, 70);
    ++*(size_t *)user;
    return INFINITY;
}

/* Unused lanes are never entered, even when nothing limits the search. */
START_TEST(searches_without_success_end)
{
    scene s = make_scene(SOUP, 70, 16);
    kiln_context *context = kiln_test_context(1);
    kiln_bvh bvh = {0};
    size_t calls = 0;
    ck_assert_int_eq(kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL), KILN_OK);
    uint32_t item = kiln_bvh_closest(&bvh, kiln_v3(2, 2, 2), INFINITY, unreachable, &calls, NULL);
    ck_assert_uint_eq(calls, 70);
    ck_assert_uint_eq(item, KILN_BVH_NONE);
    const double nowhere[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        kiln_vec3 p = kiln_v3(nowhere[i], nowhere[i], nowhere[i]);
        item = kiln_bvh_closest(&bvh, p, INFINITY, unreachable, &calls, NULL);
        ck_assert_uint_eq(item, KILN_BVH_NONE);
    }
    ck_assert_uint_eq(calls, 70);
    kiln_bvh_destroy(&bvh);
    kiln_context_destroy(context);
    free_scene(&s);
}
END_TEST

/* Sizes no float can hold: 70 boxes leave unused lanes on both levels, which must not count as
 * items on any instruction set; no true pair is missed, no query enters what is not there. */
static bool count_item(void *user, uint32_t item)
{
    ck_assert_uint_lt(item, 70);
    ++*(size_t *)user;
    return true;
}

static void search_huge(kiln_context *context, const scene *s, double shift)
{
    kiln_bvh bvh = {0}, far = {0};
    kiln_bvh_pair_array pairs = {0};
    kiln_box moved[70];
    for (size_t i = 0; i < s->count; i++) {
        kiln_vec3 by = {shift, 0, 0};
        moved[i] = (kiln_box){kiln_v3_add(s->boxes[i].low, by), kiln_v3_add(s->boxes[i].high, by)};
    }
    ck_assert_int_eq(kiln_bvh_build(&bvh, context, s->boxes, s->count, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_build(&far, context, moved, s->count, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_self_overlap(&bvh, &pairs, NULL), KILN_OK);
    check_pairs(s, s, &pairs, false, 1e307);
    pairs.count = 0;
    scene other = {s->count, moved, s->vertices};
    ck_assert_int_eq(kiln_bvh_pair_overlap(&bvh, &far, &pairs, NULL), KILN_OK);
    check_pairs(s, &other, &pairs, false, INFINITY);
    size_t items = 0, near = 0;
    kiln_box all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    kiln_bvh_query_box(&bvh, all, count_item, &items);
    ck_assert_uint_eq(items, 70);
    kiln_bvh_closest(&bvh, s->boxes[5].low, INFINITY, unreachable, &near, NULL);
    ck_assert_uint_eq(near, 70);
    kiln_array_free(context, &pairs);
    kiln_bvh_destroy(&bvh);
    kiln_bvh_destroy(&far);
}

START_TEST(boxes_beyond_float_are_searched)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    const double sizes[] = {1e38, 1e39, 1e60, 1e150};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            kiln_context *context = context_with(2, isas[i]);
            if (!context)
                continue;
            scene s = make_scene(SOUP, 70, 17);
            for (size_t b = 0; b < s.count; b += 1 + b % 3) {
                s.boxes[b].low = kiln_v3_scale(s.boxes[b].low, -sizes[k]);
                s.boxes[b].high = kiln_v3_scale(s.boxes[b].high, sizes[k]);
            }
            search_huge(context, &s, sizes[k]);
            search_huge(context, &s, 1e300);
            free_scene(&s);
            kiln_context_destroy(context);
        }
}
END_TEST

START_TEST(refit_follows_the_items)
{
    scene s = make_scene(SURFACE, 1000, 13), t = make_scene(SURFACE, 1000, 14);
    kiln_context *context = kiln_test_context(2);
    kiln_bvh bvh = {0};
    kiln_bvh_pair_array pairs = {0};
    ck_assert_int_eq(kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_set_vertices(&bvh, &s.vertices[0][0], 3, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_refit(&bvh, t.boxes, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_self_overlap(&bvh, &pairs, NULL), KILN_OK);
    check_pairs(&t, &t, &pairs, true, 1e-6);
    pairs.count = 0; /* and a rebuild of the same size forgets the vertices */
    ck_assert_int_eq(kiln_bvh_build(&bvh, context, t.boxes, t.count, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_self_overlap(&bvh, &pairs, NULL), KILN_OK);
    check_pairs(&t, &t, &pairs, false, 1e-6);
    kiln_array_free(context, &pairs);
    kiln_bvh_destroy(&bvh);
    kiln_context_destroy(context);
    free_scene(&s);
    free_scene(&t);
}
END_TEST

START_TEST(bad_and_empty_input)
{
    kiln_context *context = kiln_test_context(1);
    kiln_bvh bvh = {0}, none = {0};
    kiln_bvh_pair_array pairs = {0};
    kiln_error error;
    marks m = {NULL, 0, 1};
    probe q = {0};
    ck_assert_int_eq(kiln_bvh_build(&none, context, NULL, 0, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_self_overlap(&none, &pairs, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_refit(&none, NULL, NULL), KILN_OK);
    kiln_bvh_query_box(&none, (kiln_box){{-1, -1, -1}, {1, 1, 1}}, mark, &m);
    ck_assert_uint_eq(kiln_bvh_closest(&none, kiln_v3(0, 0, 0), 9, box_distance2, &q, NULL),
                      KILN_BVH_NONE);
    kiln_box boxes[3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}};
    ck_assert_int_eq(kiln_bvh_build(&bvh, context, boxes, 3, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_pair_overlap(&bvh, &none, &pairs, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bvh_pair_overlap(&none, &bvh, &pairs, NULL), KILN_OK);
    ck_assert_uint_eq(pairs.count, 0);
    const double bad[] = {NAN, INFINITY, 2.0};
    for (int i = 0; i < 3; i++) {
        boxes[1].low.y = bad[i];
        ck_assert_int_eq(kiln_bvh_refit(&bvh, boxes, &error), KILN_ERR_INPUT);
        ck_assert_int_eq(kiln_bvh_build(&bvh, context, boxes, 3, &error), KILN_ERR_INPUT);
        ck_assert_ptr_nonnull(strstr(error.message, "box 1 "));
        ck_assert_uint_eq(bvh.count, 0);
        boxes[1].low.y = 0;
        ck_assert_int_eq(kiln_bvh_build(&bvh, context, boxes, 3, NULL), KILN_OK);
    }
    kiln_bvh_destroy(&bvh);
    kiln_bvh_destroy(&none);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(failing_allocations_leave_nothing)
{
    scene s = make_scene(SOUP, 3000, 15);
    bool done = false;
    for (uint64_t k = 1; !done; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        heap.fail_at = heap.calls + k;
        kiln_bvh bvh = {0};
        kiln_bvh_pair_array pairs = {0};
        kiln_status status = kiln_bvh_build(&bvh, context, s.boxes, s.count, NULL);
        if (status == KILN_OK)
            status = kiln_bvh_set_vertices(&bvh, &s.vertices[0][0], 3, NULL);
        if (status == KILN_OK)
            status = kiln_bvh_self_overlap(&bvh, &pairs, NULL);
        done = status == KILN_OK;
        ck_assert(done || status == KILN_ERR_MEMORY);
        kiln_array_free(context, &pairs);
        kiln_bvh_destroy(&bvh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        ck_assert_int_eq(heap.live_bytes, 0);
        ck_assert_uint_lt(k, 100);
    }
    free_scene(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("bvh");
    TCase *all = kiln_test_case(suite, "bvh");
    tcase_add_test(all, self_overlap_matches_brute_force);
    tcase_add_test(all, pair_overlap_matches_brute_force);
    tcase_add_test(all, arities_may_differ);
    tcase_add_test(all, results_do_not_depend_on_the_machine);
    tcase_add_test(all, sinks_see_all_pairs_and_may_stop);
    tcase_add_test(all, box_queries_match_brute_force);
    tcase_add_test(all, closest_matches_brute_force);
    tcase_add_test(all, searches_without_success_end);
    tcase_add_test(all, boxes_beyond_float_are_searched);
    tcase_add_test(all, refit_follows_the_items);
    tcase_add_test(all, bad_and_empty_input);
    tcase_add_test(all, failing_allocations_leave_nothing);
    return suite;
}

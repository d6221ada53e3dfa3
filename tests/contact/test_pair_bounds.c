/* Distances of many pairs at once against one by one. */
#include "contact/pair_bounds.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 101, POINTS = 4 * PAIRS };

static kiln_vec3 random_point(kiln_random *random)
{
    return kiln_v3(kiln_random_range(random, -1, 1), kiln_random_range(random, -1, 1),
                   kiln_random_range(random, -1, 1));
}

/* Vertices and faces, and edges, mixed; many almost without length, on a line, parallel or in
 * contact. */
static void make_pairs(kiln_random *random, kiln_surface_pair *pair, kiln_vec3 *x)
{
    for (uint32_t i = 0; i < PAIRS; i++) {
        kiln_vec3 *p = x + 4 * i;
        uint32_t kind = kiln_random_below(random, 6);
        double e = ldexp(1.0, -(int)kiln_random_below(random, 40));
        pair[i] = (kiln_surface_pair){.split = 1 + kiln_random_below(random, 2),
                                      .v = {4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3}};
        for (int k = 0; k < 4; k++)
            p[k] = random_point(random);
        if (kind == 0)
            p[3] = kiln_v3_madd(p[2], e, p[3]);
        if (kind == 1)
            p[3] = kiln_v3_madd(kiln_v3_lerp(p[1], p[2], 0.4), e, p[3]);
        if (kind == 2)
            p[3] = kiln_v3_madd(kiln_v3_add(p[2], kiln_v3_sub(p[1], p[0])), e, p[3]);
        if (kind == 3)
            p[0] = kiln_v3_madd(kiln_v3_lerp(p[2], kiln_v3_lerp(p[1], p[3], 0.3), 0.4), e, p[0]);
        if (kind == 4)
            for (int k = 0; k < 4; k++)
                p[k] = kiln_v3(round(p[k].x), round(p[k].y), round(p[k].z));
    }
}

static double quick(const kiln_surface_pair *pair, const kiln_vec3 *x)
{
    const kiln_vec3 *p = x + pair->v[0];
    return pair->split == 1 ? kiln_triangle_distance2(p[0], p + 1) : kiln_edges_distance2(p, p + 2);
}

START_TEST(distances_have_the_bits_of_single_ones)
{
    kiln_context *context = kiln_test_context(1);
    kiln_isa best = context->isa;
    kiln_random random = kiln_random_start(5, 0);
    for (uint64_t round = 0; round < kiln_test_rounds(200, 20000); round++) {
        kiln_surface_pair pair[PAIRS];
        kiln_vec3 x[POINTS];
        double d2[PAIRS], near2[PAIRS];
        make_pairs(&random, pair, x);
        size_t count = kiln_random_below(&random, PAIRS + 1);
        for (int isa = 0; isa <= (int)best; isa++) {
            context->isa = (kiln_isa)isa;
            kiln_pair_distances2(context, pair, count, x, 0.0, d2);
            kiln_pair_distances2(context, pair, count, x, KILN_PAIR_LOSS, near2);
            for (size_t i = 0; i < count; i++) {
                double d = kiln_surface_pair_distance(&pair[i], x).d;
                ck_assert_double_eq(d2[i], quick(&pair[i], x));
                ck_assert_double_le(near2[i], d * d);
                ck_assert_double_ge(near2[i], d * d - 50.0 * KILN_PAIR_LOSS);
            }
        }
    }
    context->isa = best;
    kiln_context_destroy(context);
}
END_TEST

START_TEST(ways_are_the_largest_between_the_sides)
{
    kiln_context *context = kiln_test_context(1);
    kiln_isa best = context->isa;
    kiln_random random = kiln_random_start(6, 0);
    kiln_surface_pair pair[PAIRS];
    kiln_vec3 way[POINTS];
    double way2[PAIRS];
    make_pairs(&random, pair, way);
    for (int isa = 0; isa <= (int)best; isa++) {
        context->isa = (kiln_isa)isa;
        kiln_pair_ways2(context, pair, PAIRS, way, way2);
        for (size_t i = 0; i < PAIRS; i++) {
            double most = 0.0;
            for (uint32_t a = 0; a < pair[i].split; a++)
                for (uint32_t b = pair[i].split; b < 4; b++)
                    most = fmax(most, kiln_distance2_points(way[pair[i].v[a]], way[pair[i].v[b]]));
            ck_assert_double_eq(way2[i], most);
        }
    }
    context->isa = best;
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("pair bounds");
    TCase *tc = kiln_test_case(suite, "pair bounds");
    tcase_add_test(tc, distances_have_the_bits_of_single_ones);
    tcase_add_test(tc, ways_are_the_largest_between_the_sides);
    suite_add_tcase(suite, tc);
    return suite;
}

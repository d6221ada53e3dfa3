#include "step/pace.h"
#include "support.h"

#include <math.h>

static const kiln_pace_limits limits = {.dt = 0.01, .dt_min = 1e-4, .patience = 3};

START_TEST(halves_and_doubles)
{
    kiln_pace pace;
    kiln_pace_init(&pace, &limits);
    ck_assert_double_eq(pace.dt, 0.01);
    ck_assert(kiln_pace_reject(&pace, &limits, 0.01, 0.0));
    ck_assert_double_eq(pace.dt, 0.005);
    ck_assert(kiln_pace_reject(&pace, &limits, 0.005, 0.0));
    ck_assert_double_eq(pace.dt, 0.0025);
    kiln_pace_accept(&pace, &limits, pace.dt, 0.0);
    kiln_pace_accept(&pace, &limits, pace.dt, 0.0);
    ck_assert_double_eq(pace.dt, 0.0025);
    kiln_pace_accept(&pace, &limits, pace.dt, 0.0);
    ck_assert_double_eq(pace.dt, 0.005);
    /* A rejection starts the count of good steps anew. */
    kiln_pace_accept(&pace, &limits, pace.dt, 0.0);
    kiln_pace_accept(&pace, &limits, pace.dt, 0.0);
    ck_assert(kiln_pace_reject(&pace, &limits, 0.005, 0.0));
    for (int i = 0; i < 20; i++)
        kiln_pace_accept(&pace, &limits, pace.dt, 0.0);
    ck_assert_double_eq(pace.dt, 0.01);
}
END_TEST

/* The first doubling waits for the patience, those after it for a quarter; a rejection ends that.
 */
START_TEST(comes_back_faster_than_it_went)
{
    const kiln_pace_limits eight = {.dt = 1.0, .dt_min = 1e-4, .patience = 8};
    kiln_pace pace;
    kiln_pace_init(&pace, &eight);
    for (int i = 0; i < 10; i++)
        ck_assert(kiln_pace_reject(&pace, &eight, pace.dt, 0.0));
    int steps = 0;
    for (; pace.dt < 1.0 && steps < 100; steps++)
        kiln_pace_accept(&pace, &eight, pace.dt, 0.0);
    ck_assert_int_eq(steps, 8 + 9 * 2);
    ck_assert(kiln_pace_reject(&pace, &eight, 1.0, 0.0));
    for (int i = 0; i < 7; i++)
        kiln_pace_accept(&pace, &eight, pace.dt, 0.0);
    ck_assert_double_eq(pace.dt, 0.5);
}
END_TEST

/* A step cut to meet a frame failed: half of what was tried, not of what was wanted. */
START_TEST(halves_what_was_tried)
{
    kiln_pace pace;
    kiln_pace_init(&pace, &limits);
    ck_assert(kiln_pace_reject(&pace, &limits, 0.002, 0.0));
    ck_assert_double_eq(pace.dt, 0.001);
}
END_TEST

START_TEST(ends_at_the_minimum)
{
    kiln_pace pace;
    kiln_pace_init(&pace, &limits);
    int rejected = 0;
    while (kiln_pace_reject(&pace, &limits, pace.dt, 0.0))
        rejected++;
    ck_assert_int_eq(rejected, 7); /* 0.01 -> 1e-4, the last one cut to the minimum */
    ck_assert_double_eq(pace.dt, 1e-4);
}
END_TEST

/* Where it is known what part of their limits steps use, they are cut to what these bear, and grow
 * after a quarter of the patience as far as they bear it, not before and not farther. */
START_TEST(goes_by_what_is_strained)
{
    const kiln_pace_limits eight = {.dt = 0.01, .dt_min = 1e-4, .patience = 8};
    kiln_pace pace;
    kiln_pace_init(&pace, &eight);
    ck_assert(kiln_pace_reject(&pace, &eight, 0.01, 1.1));
    ck_assert_double_eq_tol(pace.dt, 0.006 / 1.1, 1e-12);
    ck_assert(kiln_pace_reject(&pace, &eight, 0.008, 5.0)); /* no more than halved */
    ck_assert_double_eq(pace.dt, 0.004);
    kiln_pace_accept(&pace, &eight, 0.004, 0.1);
    ck_assert_double_eq(pace.dt, 0.004);
    for (int i = 0; i < 20; i++) /* the limits are nearly used up */
        kiln_pace_accept(&pace, &eight, 0.004, 0.56);
    ck_assert_double_eq(pace.dt, 0.004);
    kiln_pace_accept(&pace, &eight, 0.004, 0.48);
    ck_assert_double_eq_tol(pace.dt, 0.005, 1e-12);
    kiln_pace_accept(&pace, &eight, 0.0025, 0.25); /* one that was cut to meet a frame */
    kiln_pace_accept(&pace, &eight, 0.0025, 0.25);
    ck_assert_double_eq_tol(pace.dt, 0.006, 1e-12);
    kiln_pace_accept(&pace, &eight, 0.006, 0.1);
    kiln_pace_accept(&pace, &eight, 0.006, 0.1);
    ck_assert_double_eq(pace.dt, 0.01);
}
END_TEST

/* From every start and with every stop: no slivers, nothing longer than dt, arrival in the same
 * bits. */
START_TEST(meets_the_stop)
{
    kiln_random random = kiln_random_start(5, 1);
    for (int round = 0; round < 2000; round++) {
        double time = 10.0 * kiln_random_unit(&random), stop = time + kiln_random_unit(&random);
        kiln_pace pace = {.dt = 0.01 + 0.1 * kiln_random_unit(&random)};
        double shortest = INFINITY, longest = 0.0, way = stop - time;
        int steps = 0;
        while (time != stop) {
            double h = kiln_pace_length(&pace, time, stop);
            ck_assert_double_gt(h, 0.0);
            shortest = fmin(shortest, h);
            longest = fmax(longest, h);
            time += h;
            ck_assert_double_le(time, stop);
            ck_assert_int_lt(++steps, 1000);
        }
        ck_assert_double_le(longest, pace.dt * (1.0 + 1e-8));
        if (way > pace.dt)
            ck_assert_double_ge(shortest, 0.49 * pace.dt);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("pace");
    TCase *tests = kiln_test_case(suite, "pace");
    tcase_add_test(tests, halves_and_doubles);
    tcase_add_test(tests, comes_back_faster_than_it_went);
    tcase_add_test(tests, halves_what_was_tried);
    tcase_add_test(tests, ends_at_the_minimum);
    tcase_add_test(tests, goes_by_what_is_strained);
    tcase_add_test(tests, meets_the_stop);
    return suite;
}

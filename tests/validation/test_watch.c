/* The rows of the validation that watch surfaces can fail: two cubes that do not see each other. */
#include "validation/watch.h"
#include "support.h"
#include "validation/thrown.h"

#include <math.h>

static kiln_status set_out(kiln_trial *trial, bool contact, double speed, kiln_error *error)
{
    kiln_scene *scene = &trial->scene;
    scene->solid.integrator = KILN_IMPLICIT_EULER;
    scene->solid.newton.tolerance = 0.0; /* the preset */
    scene->pace.dt = kiln_trial_number(trial, 0.01, 0, 0, 1);
    scene->duration = kiln_trial_number(trial, 0.1, 0, 0, 1);
    scene->contact.bodies = contact;
    scene->contact.thickness = kiln_trial_number(trial, 0.02, 1, 0, 0);
    for (int i = 0; i < 2; i++) {
        KILN_TRY(kiln_trial_material(trial, "neo-hookean", 1e5, 0.3, 1000, error));
        KILN_TRY(kiln_trial_shape(trial, "box", "lx=0.2 ly=0.2 lz=0.2 n=2",
                                  kiln_v3(0.01 * i, 0.02 * i, 0.25 * i), error));
    }
    scene->bodies.data[1].velocity =
        kiln_quantity_vector(kiln_trial_vector(trial, kiln_v3(0, 0, -speed), 1, 0, -1));
    return KILN_OK;
}

static kiln_watch watch_cubes(size_t view, bool contact, double speed, kiln_watch given)
{
    kiln_error error = {0};
    kiln_context *context = kiln_test_context(1);
    kiln_trial trial;
    kiln_trial_begin(&trial, context, kiln_view_at(view));
    kiln_status status = set_out(&trial, contact, speed, &error);
    if (status == KILN_OK)
        status = kiln_watch_run(&given, &trial, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    kiln_trial_end(&trial);
    kiln_context_destroy(context);
    return given;
}

static const kiln_watch weightless = {.floor = -INFINITY};

START_TEST(what_passes_through_is_seen)
{
    for (size_t view = 0; kiln_view_at(view); view++) {
        kiln_watch apart = watch_cubes(view, true, 1.0, weightless);
        ck_assert_uint_eq(apart.crossings, 0);
        ck_assert_double_gt(apart.nearest, 0.0);
        ck_assert_double_lt(apart.nearest, 0.02);
        ck_assert_uint_eq(apart.steps, 10);
        ck_assert_double_eq_tol(apart.time, 0.1, 1e-12);
        kiln_watch through = watch_cubes(view, false, 1.0, weightless);
        ck_assert_uint_gt(through.crossings, 0);
        ck_assert_double_eq(through.nearest, 0.0);
        ck_assert_double_eq_tol(through.last[1].z, 0.25, 1e-9);
        ck_assert_double_eq_tol(through.velocity[1].z, -1.0, 1e-9);
        ck_assert_double_eq_tol(through.height[1], 0.2, 1e-9);
    }
}
END_TEST

START_TEST(what_is_below_the_floor_counts)
{
    ck_assert_uint_eq(watch_cubes(0, true, 0.0, (kiln_watch){.floor = -1e-9}).crossings, 0);
    ck_assert_uint_eq(watch_cubes(0, true, 0.0, (kiln_watch){.floor = 1e-9}).crossings, 11 * 9);
}
END_TEST

/* Moving against a weight that is not there looks like energy from nothing. */
START_TEST(a_gain_of_energy_is_seen)
{
    kiln_watch none = watch_cubes(0, true, 1.0, weightless);
    ck_assert_double_lt(none.rise, 1e-9);
    ck_assert_double_lt(none.above, 1e-9);
    kiln_watch some = watch_cubes(0, false, 1.0, (kiln_watch){.floor = -1, .gravity = {0, 0, 10}});
    ck_assert_double_eq_tol(some.rise, 8.0 * 10 * 0.1, 1e-6);
    ck_assert_double_eq_tol(some.above, some.rise, 1e-9);
    ck_assert_double_eq_tol(some.weight, 160.0, 1e-9);
}
END_TEST

START_TEST(giving_up_is_no_error)
{
    kiln_error error = {0};
    kiln_context *context = kiln_test_context(1);
    kiln_trial trial;
    kiln_watch watch = weightless;
    kiln_trial_begin(&trial, context, kiln_view_at(3));
    ck_assert_int_eq(set_out(&trial, true, 1.0, &error), KILN_OK);
    trial.scene.solid.newton.max_iterations = 1;
    trial.scene.pace.dt_min = trial.scene.pace.dt;
    ck_assert_int_eq(kiln_watch_run(&watch, &trial, &error), KILN_OK);
    ck_assert_double_lt(watch.time, 0.1);
    kiln_trial_end(&trial);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("watch");
    TCase *all = kiln_test_case(suite, "watch");
    tcase_add_test(all, what_passes_through_is_seen);
    tcase_add_test(all, what_is_below_the_floor_counts);
    tcase_add_test(all, a_gain_of_energy_is_seen);
    tcase_add_test(all, giving_up_is_no_error);
    return suite;
}

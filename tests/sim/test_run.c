#include "scenes.h"
#include "sim/world_impl.h"

#include <math.h>

/* What a run wrote, as a list of moments and a hash over all frames. */
typedef struct diary {
    uint64_t frames, rows, checkpoints, hash;
    double frame_time[64], row_time[512];
    uint64_t stop_after; /* rows; 0: never */
    uint64_t fail_frame; /* number of the frame that fails; 0: none */
} diary;

static kiln_status on_frame(void *self, kiln_world *world, kiln_error *error)
{
    diary *d = self;
    if (d->fail_frame && d->frames == d->fail_frame)
        return kiln_fail(error, KILN_ERR_IO, "disk", 0, -1, "full");
    kiln_soup soup;
    KILN_TRY(kiln_world_frame(world, &soup, error));
    d->hash = kiln_hash_bytes(d->hash, soup.points.data, soup.points.count * sizeof(kiln_vec3));
    for (size_t i = 0; i < soup.fields.count; i++)
        d->hash = kiln_hash_bytes(d->hash, soup.fields.data[i].data.data,
                                  soup.fields.data[i].data.count * sizeof(double));
    kiln_soup_free(&soup);
    ck_assert_uint_eq(kiln_world_get_state(world)->frame, d->frames);
    d->frame_time[d->frames++] = kiln_world_get_state(world)->clock.time;
    return KILN_OK;
}

static kiln_status on_stats(void *self, const kiln_stats *stats, kiln_error *error)
{
    (void)error;
    diary *d = self;
    ck_assert_double_eq(stats->step, (double)d->rows);
    d->row_time[d->rows++] = stats->time;
    return KILN_OK;
}

static kiln_status on_checkpoint(void *self, kiln_world *world, kiln_error *error)
{
    (void)error;
    diary *d = self;
    ck_assert_uint_eq(kiln_world_get_state(world)->checkpoint, ++d->checkpoints);
    return KILN_OK;
}

static bool on_stop(void *self)
{
    const diary *d = self;
    return d->stop_after && d->rows >= d->stop_after;
}

static kiln_run_output output_to(diary *d)
{
    return (kiln_run_output){.self = d,
                             .frame = on_frame,
                             .stats = on_stats,
                             .checkpoint = on_checkpoint,
                             .stop = on_stop,
                             .audit = true};
}

static kiln_run_end go(kiln_world *world, double until, diary *d)
{
    kiln_run_output output = output_to(d);
    kiln_run_end end;
    kiln_diagnosis diagnosis = {{0}};
    kiln_error error = {0};
    kiln_status status = kiln_run(world, until, &output, &end, &diagnosis, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", error.place, error.message);
    return end;
}

START_TEST(frames_come_at_their_times_and_at_the_end)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene scene;
    scene_cantilever(&scene, context);
    scene.duration = 0.18;
    kiln_world *world = scene_world(&scene);
    diary d = {0};
    ck_assert_int_eq(go(world, scene.duration, &d), KILN_RUN_DONE);
    static const double wanted[] = {0, 0.05, 0.1, 0.15, 0.18};
    ck_assert_uint_eq(d.frames, 5);
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(d.frame_time[i], wanted[i], 1e-15);
    ck_assert_uint_eq(d.rows, 19);
    ck_assert_uint_eq(d.checkpoints, 6); /* 0.03 to 0.15 and the end */
    /* Nothing left to do: nothing is written. */
    diary again = d;
    ck_assert_int_eq(go(world, scene.duration, &again), KILN_RUN_DONE);
    ck_assert_int_eq(memcmp(&again, &d, sizeof d), 0);
    /* And on, further. */
    ck_assert_int_eq(go(world, 0.22, &d), KILN_RUN_DONE);
    ck_assert_uint_eq(d.frames, 7);
    ck_assert_double_eq_tol(d.frame_time[5], 0.2, 1e-15);
    ck_assert_double_eq_tol(d.frame_time[6], 0.22, 1e-15);
    kiln_world_destroy(world);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_stopped_run_goes_on_as_if_nothing_had_been)
{
    diary whole = {0}, parts = {0};
    for (int pass = 0; pass < 2; pass++) {
        kiln_context *context = kiln_test_context(1 + pass);
        kiln_scene scene;
        scene_cantilever(&scene, context);
        if (pass)
            scene.output.checkpoint = 0.0; /* checkpoints change nothing */
        kiln_world *world = scene_world(&scene);
        diary *d = pass ? &parts : &whole;
        for (d->stop_after = pass ? 3 : 0; go(world, 0.2, d) == KILN_RUN_STOPPED;)
            d->stop_after = d->stop_after < 19 ? d->stop_after + 4 : 0;
        kiln_world_destroy(world);
        kiln_scene_free(&scene);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(whole.frames, 5);
    ck_assert_uint_eq(parts.frames, 5);
    ck_assert_uint_eq(whole.rows, parts.rows);
    ck_assert_uint_eq(whole.hash, parts.hash);
}
END_TEST

START_TEST(a_failing_output_ends_the_run)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene scene;
    scene_cantilever(&scene, context);
    kiln_world *world = scene_world(&scene);
    diary d = {.fail_frame = 2};
    kiln_run_output output = output_to(&d);
    kiln_run_end end;
    kiln_diagnosis diagnosis;
    kiln_error error;
    ck_assert_int_eq(kiln_run(world, 0.2, &output, &end, &diagnosis, &error), KILN_ERR_IO);
    ck_assert_str_eq(error.message, "full");
    kiln_world_destroy(world);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(giving_up_leaves_a_frame_and_a_checkpoint)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene scene;
    scene_cantilever(&scene, context);
    scene.pace = (kiln_pace_limits){.dt = 0.02, .dt_min = 0.01, .patience = 2};
    scene.solid.max_acceleration = 5.0; /* less than gravity, so the first step fails */
    kiln_world *world = scene_world(&scene);
    diary d = {0};
    kiln_run_output output = output_to(&d);
    kiln_run_end end;
    kiln_diagnosis diagnosis = {{0}};
    ck_assert_int_eq(kiln_run(world, 0.2, &output, &end, &diagnosis, NULL), KILN_OK);
    ck_assert_int_eq(end, KILN_RUN_GAVE_UP);
    ck_assert_msg(strstr(diagnosis.text, "vertex") && strstr(diagnosis.text, "max_acceleration"),
                  "%s", diagnosis.text);
    ck_assert_uint_eq(d.checkpoints, 1);
    ck_assert_uint_eq(d.frames, 1);
    kiln_world_destroy(world);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(static_runs_solve_at_each_frame)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene scene;
    scene_cantilever(&scene, context);
    scene.solid.integrator = KILN_STATIC;
    scene.load_steps = 2;
    kiln_world *world = scene_world(&scene);
    diary d = {0};
    ck_assert_int_eq(go(world, 0.2, &d), KILN_RUN_DONE);
    ck_assert_uint_eq(d.frames, 5);
    ck_assert_uint_eq(d.rows, 5);
    kiln_world_destroy(world);
    scene.duration = 0.0;
    world = scene_world(&scene);
    d = (diary){0};
    ck_assert_int_eq(go(world, 0.0, &d), KILN_RUN_DONE);
    ck_assert_uint_eq(d.rows, 2);
    kiln_world_destroy(world);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
}
END_TEST

/* What a module cannot compute of a step longer than it bears. */
static double bears;
static kiln_status what_it_is;

static kiln_status create_brittle(kiln_world *world, void **self, kiln_error *error)
{
    return kiln_module_make(world, sizeof(char), self, error) ? KILN_OK : KILN_ERR_MEMORY;
}

static kiln_status fail_if_long(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)self;
    return moment->end - moment->begin <= bears
               ? KILN_OK
               : kiln_fail(error, what_it_is, NULL, 0, -1, "it broke inside");
}

static const kiln_module brittle = {
    .name = "brittle", .create = create_brittle, .after_step = fail_if_long};

/* Deep inside a step a numerical failure is found: the step is taken back and tried shorter, to the
 * shortest, which is diagnosed. Any other failure is an error at once. */
START_TEST(what_cannot_be_computed_is_tried_shorter)
{
    kiln_context *context = kiln_test_context(2);
    kiln_scene scene_here, *scene = &scene_here;
    scene_cantilever(scene, context);
    const kiln_module *modules[KILN_MODULE_ROOM + 1] = {NULL};
    size_t count = 0;
    for (; kiln_modules[count]; count++)
        modules[count] = kiln_modules[count];
    modules[count] = &brittle;
    scene->modules = modules;
    scene->pace.dt = 0.01;
    scene->pace.dt_min = 0.001;
    kiln_world *world = scene_world(scene);
    kiln_stats stats;
    kiln_diagnosis diagnosis;
    bool gave_up;
    kiln_error error = {0};
    bears = 0.003, what_it_is = KILN_ERR_NUMERIC;
    ck_assert_int_eq(kiln_world_step(world, 1.0, &stats, &gave_up, &diagnosis, NULL), KILN_OK);
    ck_assert(!gave_up);
    ck_assert_double_eq(stats.rejected, 2);
    ck_assert_double_eq_tol(stats.dt, 0.0025, 1e-12);
    uint64_t before = kiln_mesh_hash(kiln_world_mesh(world));
    bears = 0.0;
    ck_assert_int_eq(kiln_world_step(world, 1.0, &stats, &gave_up, &diagnosis, &error), KILN_OK);
    ck_assert(gave_up);
    ck_assert_msg(strstr(diagnosis.text, "gave up at 0.0025 s") &&
                      strstr(diagnosis.text, "it broke inside"),
                  "%s", diagnosis.text);
    what_it_is = KILN_ERR_INPUT;
    ck_assert_int_eq(kiln_world_step(world, 1.0, &stats, &gave_up, &diagnosis, &error),
                     KILN_ERR_INPUT);
    ck_assert_str_eq(error.message, "it broke inside");
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), before);
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(memory_does_not_grow)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_scene scene;
    scene_cantilever(&scene, context);
    kiln_world *world = scene_world(&scene);
    diary d = {0};
    go(world, 0.1, &d);
    int64_t bytes = heap.live_bytes, blocks = heap.live_blocks;
    go(world, 0.5, &d);
    ck_assert_int_le(heap.live_bytes, bytes);
    ck_assert_int_le(heap.live_blocks, blocks);
    kiln_world_destroy(world);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *all = kiln_test_case(suite, "run");
    tcase_add_test(all, frames_come_at_their_times_and_at_the_end);
    tcase_add_test(all, a_stopped_run_goes_on_as_if_nothing_had_been);
    tcase_add_test(all, a_failing_output_ends_the_run);
    tcase_add_test(all, giving_up_leaves_a_frame_and_a_checkpoint);
    tcase_add_test(all, what_cannot_be_computed_is_tried_shorter);
    tcase_add_test(all, static_runs_solve_at_each_frame);
    tcase_add_test(all, memory_does_not_grow);
    return suite;
}

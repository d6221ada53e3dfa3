/* A checkpoint read into a world of a changed scene. */
#include "io/checkpoint.h"
#include "scene_texts.h"

static const char text[] =
    "return scene { duration = 1, gravity = {0, 0, -9.81}, step = { dt = 0.01 },\n"
    "  bodies = { body { shape = shape.box { n = 2 }, material = material { young = 1e5 } } },\n"
    "  holds = { hold { where = select.half_space { point = {0, 0, 1}, normal = {0, 0, 1} } } },\n"
    "  obstacles = { obstacle.plane { point = {0, 0, -1}, normal = {0, 0, 1} } } }\n";

static kiln_test_heap heap;
static kiln_context *context;
static folder dir;
static char path[160];
static kiln_checkpoint_scene kept;
static kiln_f64_array places; /* x of the run when it was written */

/* Three steps, then a checkpoint. */
static void begin_with(const char *scene)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, 1);
    dir = make_folder();
    in_folder(&dir, "checkpoint.h5", path);
    kiln_scene_file *file = load(context, scene, NULL, 0);
    kiln_world *world;
    ck_assert_int_eq(kiln_world_create(kiln_scene_file_scene(file), &world, NULL), KILN_OK);
    for (int i = 0; i < 3; i++) {
        kiln_stats stats;
        kiln_diagnosis diagnosis;
        bool gave_up;
        ck_assert_int_eq(kiln_world_step(world, 1.0, &stats, &gave_up, &diagnosis, NULL), KILN_OK);
        ck_assert(!gave_up);
    }
    ck_assert_int_eq(kiln_checkpoint_scene_keep(context, file, NULL, 0, &kept, NULL), KILN_OK);
    ck_assert_int_eq(kiln_checkpoint_write(world, &kept, path, NULL), KILN_OK);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    size_t count = 3 * (size_t)mesh->table[KILN_ON_VERTEX].used;
    ck_assert_int_eq(kiln_array_reserve(context, &places, count, NULL), KILN_OK);
    memcpy(places.data, mesh->x, count * sizeof(double));
    places.count = count;
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
}

static void begin(void)
{
    begin_with(text);
}

static void end(void)
{
    kiln_array_free(context, &places);
    kiln_checkpoint_scene_free(context, &kept);
    kiln_context_destroy(context);
    remove_folder(&dir);
    ck_assert_int_eq(heap.live_blocks, 0);
}

typedef struct changed {
    kiln_scene_file *file;
    kiln_checkpoint_scene scene;
    kiln_world *world;
} changed;

static kiln_status change(const char *const *sets, size_t count, changed *c, kiln_error *error)
{
    *c = (changed){0};
    KILN_TRY(kiln_checkpoint_scene_change(context, "dir/good.lua", &kept, false, sets, count,
                                          &c->file, &c->scene, error));
    KILN_TRY(kiln_world_create(kiln_scene_file_scene(c->file), &c->world, error));
    return kiln_checkpoint_read_changed(path, &kept, "dir/good.lua", c->world, error);
}

static void forget(changed *c)
{
    kiln_world_destroy(c->world);
    kiln_checkpoint_scene_free(context, &c->scene);
    kiln_scene_file_destroy(c->file);
}

/* Bodies that are in each other since they do not see each other cannot begin to. */
START_TEST(bodies_that_meet_must_be_apart)
{
    static const char *const sets[] = {"contact.pairs[1].off=false", "contact.friction=0.5"};
    changed c;
    kiln_error error = {0};
    begin_with("return scene { duration = 1, step = { dt = 0.01 }, contact = { pairs = {\n"
               "  pair { a = 'one', b = 'two', off = true } } }, bodies = {\n"
               "  body { name = 'one', shape = shape.box { n = 1 }, velocity = {0, 0, 20},\n"
               "    material = material { young = 1e5 } },\n"
               "  body { name = 'two', shape = shape.box { n = 1 }, at = {0.1, 0.2, 1.2},\n"
               "    material = material { young = 1e5 } } } }\n");
    ck_assert_int_eq(change(sets, 1, &c, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "pass through each other at this moment") != NULL, "%s",
                  error.message);
    forget(&c);
    ck_assert_int_eq(change(sets + 1, 1, &c, &error), KILN_OK);
    forget(&c);
    end();
}
END_TEST

/* Nor does it matter where they were: a run whose bodies began in each other goes on when they have
 * left, and again. */
START_TEST(bodies_that_have_left_each_other_may_meet)
{
    static const char *const sets[] = {"contact.pairs[1].off=false"};
    changed c;
    kiln_error error = {0};
    begin_with("return scene { duration = 1, step = { dt = 0.01 }, contact = { pairs = {\n"
               "  pair { a = 'one', b = 'two', off = true } } }, bodies = {\n"
               "  body { name = 'one', shape = shape.box { n = 1 }, velocity = {0, 0, -60},\n"
               "    material = material { young = 1e5 } },\n"
               "  body { name = 'two', shape = shape.box { n = 1 }, at = {0.1, 0.2, 0.3},\n"
               "    material = material { young = 1e5 } } } }\n");
    kiln_status status = change(sets, 1, &c, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", error.place, error.message);
    ck_assert_uint_eq(kiln_world_get_state(c.world)->step, 4);
    forget(&c);
    end();
}
END_TEST

START_TEST(the_state_is_that_of_the_run)
{
    static const char *const sets[] = {"step.dt=0.002", "step.integrator=newmark", "remesh=true",
                                       "bodies[1].material.plastic={yield=1e9,rate=1}"};
    begin();
    for (size_t count = 0; count <= 4; count++) {
        changed c;
        kiln_error error = {0};
        kiln_status status = change(sets, count, &c, &error);
        ck_assert_msg(status == KILN_OK, "%s: %s", error.place, error.message);
        const kiln_world_state *state = kiln_world_get_state(c.world);
        ck_assert_uint_eq(state->step, 4);
        ck_assert_double_eq_tol(state->clock.time, 0.03, 1e-15);
        ck_assert_double_eq(state->pace.dt, count > 0 ? 0.002 : 0.01);
        ck_assert_double_eq_tol(state->clock.h_before, count > 1 ? 0.0 : 0.01, 1e-15);
        const kiln_mesh *mesh = kiln_world_mesh(c.world);
        ck_assert_uint_eq(3 * (size_t)mesh->table[KILN_ON_VERTEX].used, places.count);
        ck_assert_mem_eq(mesh->x, places.data, places.count * sizeof(double));
        kiln_stats stats;
        kiln_diagnosis diagnosis;
        bool gave_up;
        ck_assert_int_eq(kiln_world_step(c.world, 1.0, &stats, &gave_up, &diagnosis, NULL),
                         KILN_OK);
        ck_assert(!gave_up);
        ck_assert_double_eq_tol(stats.dt, count > 0 ? 0.002 : 0.01, 1e-12);
        forget(&c);
    }
    end();
}
END_TEST

START_TEST(allocations_may_fail)
{
    static const char *const sets[] = {"step.integrator=bdf2", "gravity={0,0,-1}"};
    begin();
    int64_t blocks = heap.live_blocks;
    uint64_t step = kiln_test_rounds(17, 1);
    for (uint64_t k = 1;; k += step) {
        changed c;
        kiln_error error = {0};
        heap.fail_at = heap.calls + k;
        kiln_status status = change(sets, 2, &c, &error);
        bool over = heap.calls < heap.fail_at;
        heap.fail_at = 0;
        forget(&c);
        ck_assert_int_eq(heap.live_blocks, blocks);
        ck_assert_msg(over ? status == KILN_OK : status == KILN_ERR_MEMORY || status == KILN_OK,
                      "%s: %s", error.place, error.message);
        if (over)
            break;
    }
    end();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("changed scenes");
    TCase *all = kiln_test_case(suite, "changed scenes");
    tcase_add_test(all, the_state_is_that_of_the_run);
    tcase_add_test(all, bodies_that_meet_must_be_apart);
    tcase_add_test(all, bodies_that_have_left_each_other_may_meet);
    tcase_add_test(all, allocations_may_fail);
    return suite;
}

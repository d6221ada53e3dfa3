/* A module from outside: one file, one schema, one row (docs/modules.md). */
#include "io/checkpoint.h"
#include "scenes.h"
#include "wind_module.c"

#include <stdlib.h>
#include <unistd.h>

/* Its row, before those that keep forces and remesh. */
static const kiln_module *const with_wind[] = {
    &kiln_module_obstacles, &kiln_module_materials,    &kiln_module_boundary,
    &wind_module,           &kiln_module_flow,         &kiln_module_forces,
    &kiln_module_surfaces,  &kiln_module_remesh_local, NULL};

#define WINDY(keys)                                                                                \
    "return scene { duration = 1, step = { dt = 0.01 },\n"                                         \
    "bodies = { body { shape = shape.box { lx = 0.5, ly = 0.5, lz = 0.5, n = 2 },\n"               \
    "material = material { young = 1e6, density = 100 } } },\n" keys "}\n"

static kiln_context *context;
static kiln_scene_file *file;

static kiln_status load(const char *text, kiln_error *error)
{
    kiln_scene_options options = {.text = text, .text_size = strlen(text), .modules = with_wind};
    return kiln_scene_file_load(context, "windy.lua", &options, &file, error);
}

static kiln_world *begin(const char *text)
{
    kiln_error error = {0};
    context = kiln_test_context(1);
    ck_assert_msg(load(text, &error) == KILN_OK, "%s", error.message);
    return scene_world(kiln_scene_file_scene(file));
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}

static const wind *wind_of(const kiln_world *world)
{
    return kiln_world_module(world, &wind_module);
}

/* The body takes up what the wind gives: half rho U^2 A for a body that hardly moves yet. */
START_TEST(test_push)
{
    kiln_world *world =
        begin(WINDY("wind = wind { velocity = { 10, 0, 0 }, drag = 2 }, remesh = 'local'"));
    kiln_stats stats = scene_step(world, 1.0);
    double force = 0.5 * 1.2 * 2.0 * 100.0 * 0.25;
    ck_assert_double_eq_tol(stats.px, 0.01 * force, 1e-9 * force);
    ck_assert_double_eq_tol(wind_of(world)->impulse.x, stats.px, 1e-12 * force);
    for (int i = 0; i < 20; i++)
        stats = scene_step(world, 1.0);
    ck_assert_double_eq_tol(wind_of(world)->impulse.x, stats.px, 1e-9 * force);
    end(world);
}
END_TEST

START_TEST(test_calm)
{
    kiln_world *world = begin(WINDY("remesh = 'local'"));
    ck_assert_ptr_null(wind_of(world));
    ck_assert_double_eq(scene_step(world, 1.0).px, 0.0);
    end(world);
}
END_TEST

/* A function that fails takes the step back; the impulse is that of the last good one. */
START_TEST(test_failure)
{
    kiln_world *world = begin(WINDY("wind = wind { velocity = function(t, x)\n"
                                    "if t > 0.025 then error('gone') end return 5, 0, 0 end }"));
    scene_step(world, 1.0);
    scene_step(world, 1.0);
    double given = wind_of(world)->impulse.x;
    uint64_t hash = kiln_mesh_hash(kiln_world_mesh(world));
    kiln_stats stats;
    bool gave_up;
    kiln_diagnosis diagnosis;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_world_step(world, 1.0, &stats, &gave_up, &diagnosis, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "gone"));
    ck_assert_double_eq(wind_of(world)->impulse.x, given);
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), hash);
    end(world);
}
END_TEST

/* What it keeps is in checkpoints. */
START_TEST(test_checkpoint)
{
    static char text[] = WINDY("wind = wind { velocity = { 7, 1, 0 } }"), sets[] = "";
    const kiln_checkpoint_scene about = {text, sizeof text - 1, sets, 0};
    char path[] = "/tmp/kiln-wind-XXXXXX";
    close(mkstemp(path));
    kiln_world *world = begin(text);
    for (int i = 0; i < 3; i++)
        scene_step(world, 1.0);
    kiln_vec3 impulse = wind_of(world)->impulse;
    ck_assert_int_eq(kiln_checkpoint_write(world, &about, path, NULL), KILN_OK);
    kiln_world *again = scene_world(kiln_scene_file_scene(file));
    ck_assert_int_eq(kiln_checkpoint_read(path, again, NULL), KILN_OK);
    ck_assert_mem_eq(&wind_of(again)->impulse, &impulse, sizeof impulse);
    unlink(path);
    kiln_world_destroy(again);
    end(world);
}
END_TEST

START_TEST(test_messages)
{
    kiln_error error = {0};
    context = kiln_test_context(1);
    ck_assert_int_eq(load(WINDY("wind = { velocity = { 1, 0, 0 }, drag = -1 }"), &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "wind.drag"));
    kiln_context_destroy(context);
}
END_TEST

/* A term of a module's own: a constant pull at every vertex, N. */
static double pull_value(void *self, const double *x)
{
    const kiln_world *world = self;
    double sum = 0.0;
    for (uint32_t v = 0; v < world->mesh->table[KILN_ON_VERTEX].used; v++)
        sum -= 2.0 * x[3 * v + 1];
    return sum;
}
static void pull_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    (void)x, (void)H;
    const kiln_world *world = self;
    for (uint32_t v = 0; v < world->mesh->table[KILN_ON_VERTEX].used; v++)
        g[3 * v + 1] -= 2.0 * scale;
}

/* And a kind of matter that bears only short steps. */
static int asked;
static kiln_status hurry(void *self, const kiln_interval *interval, kiln_step_report *report,
                         kiln_error *error)
{
    (void)self, (void)error;
    asked++;
    report->outcome = interval->end - interval->begin > 0.003 ? KILN_STEP_NEWTON : KILN_STEP_DONE;
    return KILN_OK;
}

typedef struct guest {
    kiln_world *world;
    kiln_term pull;
} guest;

static kiln_status guest_create(kiln_world *world, void **self, kiln_error *error)
{
    guest *g = kiln_module_make(world, sizeof *g, self, error);
    if (!g)
        return KILN_ERR_MEMORY;
    g->world = world;
    g->pull = (kiln_term){
        .name = "pull", .self = world, .weight = 1.0, .value = pull_value, .add = pull_add};
    return KILN_OK;
}
static kiln_status guest_start(void *self, kiln_error *error)
{
    guest *g = self;
    const kiln_stepper stepper = {.self = g, .advance = hurry};
    KILN_TRY(kiln_solid_add_term(g->world->solid, &g->pull, error));
    return kiln_world_add_stepper(g->world, &stepper, error);
}
static const kiln_module guest_module = {
    .name = "guest", .create = guest_create, .start = guest_start};

START_TEST(test_guest)
{
    static const kiln_module *const list[] = {&kiln_module_materials, &guest_module,
                                              &kiln_module_forces, NULL};
    const char *text = WINDY("");
    kiln_error error = {0};
    kiln_scene_options options = {.text = text, .text_size = strlen(text), .modules = list};
    context = kiln_test_context(1);
    ck_assert_msg(kiln_scene_file_load(context, "guest.lua", &options, &file, &error) == KILN_OK,
                  "%s", error.message);
    kiln_world *world = scene_world(kiln_scene_file_scene(file));
    asked = 0;
    kiln_stats stats = scene_step(world, 1.0);
    ck_assert_double_eq(stats.dt, 0.0025); /* halved twice, for all */
    ck_assert_double_eq(stats.rejected, 2.0);
    ck_assert_int_eq(asked, 3);
    ck_assert_double_eq_tol(stats.py, 2.0 * 27 * 0.0025, 1e-9);
    end(world);
}
END_TEST

START_TEST(test_too_many)
{
    const kiln_module *list[KILN_MODULE_ROOM + 2] = {0};
    for (int i = 0; i <= KILN_MODULE_ROOM; i++)
        list[i] = &wind_module;
    const char *text = WINDY("");
    kiln_scene_options options = {.text = text, .text_size = strlen(text), .modules = list};
    context = kiln_test_context(1);
    ck_assert_int_eq(kiln_scene_file_load(context, "many.lua", &options, &file, NULL),
                     KILN_ERR_INPUT);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("a module from outside");
    TCase *tests = kiln_test_case(suite, "wind");
    tcase_add_test(tests, test_push);
    tcase_add_test(tests, test_calm);
    tcase_add_test(tests, test_failure);
    tcase_add_test(tests, test_checkpoint);
    tcase_add_test(tests, test_messages);
    tcase_add_test(tests, test_guest);
    tcase_add_test(tests, test_too_many);
    return suite;
}

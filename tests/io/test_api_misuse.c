/* The C API in the hands of someone in a hurry: NULL for every pointer, numbers that are none, and
 * whether the log says what the program would print. */
#include "fixture.h"

#include "kiln/kiln.h"
#include <math.h>
#include <string.h>

static const char scene_text[] =
    "print('hello from the scene')\n"
    "return scene { duration = 0.2, gravity = {0, 0, -9.81}, step = { dt = 0.01 },\n"
    "  bodies = { body { shape = shape.box { n = 1 }, material = material { young = 1e5 } } } }\n";

static char scene_path[200], scratch_path[200];
static kiln_context *context;
static kiln_mesh *mesh;
static kiln_simulation *simulation;
static folder where;

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void set_up(void)
{
    where = make_folder();
    in_folder(&where, "a.lua", scene_path);
    in_folder(&where, "out.vtu", scratch_path);
    write_text(scene_path, scene_text);
    context = kiln_test_context(1);
    ck_assert_int_eq(kiln_mesh_generate(context, "box", 0, NULL, &mesh, NULL), KILN_OK);
    ck_assert_int_eq(kiln_simulation_load(context, scene_path, NULL, &simulation, NULL), KILN_OK);
}

static void tear_down(void)
{
    kiln_simulation_destroy(simulation);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    remove_folder(&where);
}

/* The call fails, and says which pointer was missing. */
#define REFUSED(name, call)                                                                        \
    do {                                                                                           \
        kiln_error error = {0};                                                                    \
        ck_assert_int_eq((call), KILN_ERR_INPUT);                                                  \
        ck_assert_str_eq(error.place, name);                                                       \
        ck_assert_ptr_nonnull(strstr(error.message, "NULL"));                                      \
    } while (0)

START_TEST(null_is_refused_by_name)
{
    kiln_mesh *m = NULL;
    kiln_simulation *s = NULL;
    kiln_audit_report audit;
    const char *const nothing[] = {NULL};
    double x[300];
    uint32_t index[300];
    const double point[3] = {0, 0, 0};
    kiln_mesh_arrays no_points = {.point_count = 1},
                     no_tets = {.point_count = 1, .points = point, .tet_count = 1},
                     no_triangles = {.point_count = 1, .points = point, .triangle_count = 1};
    kiln_simulation_options no_sets = {1, NULL}, no_set = {1, nothing};
    REFUSED("out", kiln_context_create(NULL, NULL, &error));
    REFUSED("context", kiln_mesh_load(NULL, "a.mesh", NULL, &m, NULL, &error));
    REFUSED("path", kiln_mesh_load(context, NULL, NULL, &m, NULL, &error));
    REFUSED("out", kiln_mesh_load(context, "a.mesh", NULL, NULL, NULL, &error));
    REFUSED("context", kiln_mesh_from_arrays(NULL, &no_tets, NULL, &m, NULL, &error));
    REFUSED("arrays", kiln_mesh_from_arrays(context, NULL, NULL, &m, NULL, &error));
    REFUSED("out", kiln_mesh_from_arrays(context, &no_tets, NULL, NULL, NULL, &error));
    REFUSED("points", kiln_mesh_from_arrays(context, &no_points, NULL, &m, NULL, &error));
    REFUSED("tets", kiln_mesh_from_arrays(context, &no_tets, NULL, &m, NULL, &error));
    REFUSED("triangles", kiln_mesh_from_arrays(context, &no_triangles, NULL, &m, NULL, &error));
    REFUSED("context", kiln_mesh_generate(NULL, "box", 0, NULL, &m, &error));
    REFUSED("shape", kiln_mesh_generate(context, NULL, 0, NULL, &m, &error));
    REFUSED("settings", kiln_mesh_generate(context, "box", 1, NULL, &m, &error));
    REFUSED("settings", kiln_mesh_generate(context, "box", 1, nothing, &m, &error));
    REFUSED("out", kiln_mesh_generate(context, "box", 0, NULL, NULL, &error));
    REFUSED("mesh", kiln_mesh_save(NULL, scratch_path, NULL, &error));
    REFUSED("path", kiln_mesh_save(mesh, NULL, NULL, &error));
    REFUSED("mesh", kiln_mesh_copy_tets(NULL, index, &error));
    REFUSED("tets", kiln_mesh_copy_tets(mesh, NULL, &error));
    REFUSED("mesh", kiln_mesh_copy_triangles(NULL, index, &error));
    REFUSED("triangles", kiln_mesh_copy_triangles(mesh, NULL, &error));
    REFUSED("mesh", kiln_mesh_get_field(NULL, KILN_ON_VERTEX, "v", x, &error));
    REFUSED("name", kiln_mesh_get_field(mesh, KILN_ON_VERTEX, NULL, x, &error));
    REFUSED("values", kiln_mesh_get_field(mesh, KILN_ON_VERTEX, "v", NULL, &error));
    REFUSED("mesh", kiln_mesh_set_field(NULL, KILN_ON_VERTEX, "v", 1, x, &error));
    REFUSED("name", kiln_mesh_set_field(mesh, KILN_ON_VERTEX, NULL, 1, x, &error));
    REFUSED("values", kiln_mesh_set_field(mesh, KILN_ON_VERTEX, "v", 1, NULL, &error));
    REFUSED("mesh", kiln_mesh_audit(NULL, &audit, &error));
    REFUSED("report", kiln_mesh_audit(mesh, NULL, &error));
    REFUSED("mesh", kiln_mesh_improve(NULL, NULL, NULL, &error));
    REFUSED("context", kiln_simulation_load(NULL, scene_path, NULL, &s, &error));
    REFUSED("scene", kiln_simulation_load(context, NULL, NULL, &s, &error));
    REFUSED("out", kiln_simulation_load(context, scene_path, NULL, NULL, &error));
    REFUSED("sets", kiln_simulation_load(context, scene_path, &no_sets, &s, &error));
    REFUSED("sets", kiln_simulation_load(context, scene_path, &no_set, &s, &error));
    REFUSED("context", kiln_simulation_resume(NULL, scene_path, "c", &s, &error));
    REFUSED("scene", kiln_simulation_resume(context, NULL, "c", &s, &error));
    REFUSED("checkpoint", kiln_simulation_resume(context, scene_path, NULL, &s, &error));
    REFUSED("out", kiln_simulation_resume(context, scene_path, "c", NULL, &error));
    REFUSED("simulation", kiln_simulation_step(NULL, 1.0, &error));
    REFUSED("simulation", kiln_simulation_save_frame(NULL, scratch_path, &error));
    REFUSED("path", kiln_simulation_save_frame(simulation, NULL, &error));
    REFUSED("simulation", kiln_simulation_save_checkpoint(NULL, scratch_path, &error));
    REFUSED("path", kiln_simulation_save_checkpoint(simulation, NULL, &error));
    ck_assert_ptr_null(m);
    ck_assert_ptr_null(s);
    /* Without an error to fill. */
    ck_assert_int_eq(kiln_mesh_load(context, NULL, NULL, &m, NULL, NULL), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_simulation_step(NULL, 1.0, NULL), KILN_ERR_INPUT);
}
END_TEST

START_TEST(what_returns_no_status_does_nothing)
{
    const kiln_where beyond = (kiln_where)7;
    double x[3] = {5, 5, 5}, a = 5, b = 5;
    int32_t tags[3] = {5, 5, 5};
    char buffer[4] = "abc";
    kiln_context_destroy(NULL);
    kiln_mesh_destroy(NULL);
    kiln_simulation_destroy(NULL);
    ck_assert_str_eq(kiln_error_format(NULL, buffer, sizeof buffer), "");
    ck_assert_str_eq(kiln_error_format(&(kiln_error){.message = "x"}, NULL, 0), "");
    ck_assert_str_eq(kiln_status_text((kiln_status)99), "unknown status");
    ck_assert_uint_eq(kiln_mesh_count(NULL, KILN_ON_TET), 0);
    ck_assert_uint_eq(kiln_mesh_count(mesh, beyond), 0);
    ck_assert_uint_eq(kiln_part_count(NULL), 0);
    kiln_mesh_copy_positions(NULL, KILN_SPACE_WORLD, x);
    kiln_mesh_copy_positions(mesh, KILN_SPACE_WORLD, NULL);
    kiln_mesh_copy_tags(NULL, KILN_ON_TET, tags);
    kiln_mesh_copy_tags(mesh, KILN_ON_TET, NULL);
    kiln_mesh_copy_tags(mesh, beyond, tags);
    kiln_mesh_copy_quality(NULL, KILN_SPACE_WORLD, x);
    kiln_mesh_copy_quality(mesh, KILN_SPACE_WORLD, NULL);
    kiln_mesh_quality(NULL, KILN_SPACE_WORLD, &a, &b);
    kiln_mesh_quality(mesh, KILN_SPACE_WORLD, NULL, NULL);
    ck_assert(x[0] == 5 && a == 5 && b == 5 && tags[0] == 5);
    ck_assert(kiln_mesh_volume(NULL) == 0 && kiln_mesh_hash(NULL) == 0);
    ck_assert_ptr_null(kiln_mesh_field_name(NULL, KILN_ON_VERTEX, 0));
    ck_assert_ptr_null(kiln_mesh_field_name(mesh, beyond, 0));
    ck_assert_uint_eq(kiln_mesh_field_components(NULL, KILN_ON_VERTEX, "v"), 0);
    ck_assert_uint_eq(kiln_mesh_field_components(mesh, KILN_ON_VERTEX, NULL), 0);
    ck_assert_uint_eq(kiln_mesh_field_components(mesh, beyond, "v"), 0);
    ck_assert_int_eq(kiln_mesh_get_field(mesh, beyond, "v", x, NULL), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_mesh_set_field(mesh, beyond, "v", 1, x, NULL), KILN_ERR_INPUT);
    ck_assert(kiln_simulation_time(NULL) == 0 && kiln_simulation_duration(NULL) == 0);
    ck_assert_ptr_null(kiln_simulation_mesh(NULL));
}
END_TEST

/* A time that is none, or that is past, changes nothing; the time reached is no step. */
START_TEST(steps_end_at_a_time)
{
    const double none[] = {NAN, INFINITY, -INFINITY, -1.0, 1e300, 0.005};
    kiln_error error = {0};
    ck_assert_int_eq(kiln_simulation_step(simulation, 0.0, &error), KILN_OK);
    ck_assert(kiln_simulation_time(simulation) == 0.0);
    ck_assert_int_eq(kiln_simulation_step(simulation, 1.0, &error), KILN_OK);
    ck_assert_double_eq_tol(kiln_simulation_time(simulation), 0.01, 1e-12);
    uint64_t hash = kiln_mesh_hash(kiln_simulation_mesh(simulation));
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        ck_assert_int_eq(kiln_simulation_step(simulation, none[i], &error), KILN_ERR_INPUT);
        ck_assert_str_eq(error.place, "until");
        ck_assert_uint_eq(kiln_mesh_hash(kiln_simulation_mesh(simulation)), hash);
    }
    ck_assert_int_eq(kiln_simulation_step(simulation, 0.01, &error), KILN_OK);
    ck_assert_uint_eq(kiln_mesh_hash(kiln_simulation_mesh(simulation)), hash);
    ck_assert_int_eq(kiln_simulation_step(simulation, 1e30, &error), KILN_OK);
    ck_assert_double_eq_tol(kiln_simulation_time(simulation), 0.02, 1e-12);
}
END_TEST

/* Whoever steps until the clock is there arrives, however close it is; what is too close for a step
 * moves nothing. */
START_TEST(steps_arrive)
{
    const double gaps[] = {1e-18, 1e-13, 1e-12, 9e-12, 1.1e-11, 1e-9};
    kiln_simulation_destroy(simulation);
    ck_assert_int_eq(kiln_simulation_load(context, scene_path, NULL, &simulation, NULL), KILN_OK);
    for (int later = 0; later < 2; later++) {
        for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
            double until = kiln_simulation_time(simulation) + gaps[i];
            int steps = 0;
            for (; kiln_simulation_time(simulation) < until; steps++) {
                ck_assert_int_lt(steps, 3);
                ck_assert_int_eq(kiln_simulation_step(simulation, until, NULL), KILN_OK);
            }
            ck_assert(kiln_simulation_time(simulation) == until);
        }
        while (kiln_simulation_time(simulation) < 1.0 / 6.0)
            ck_assert_int_eq(kiln_simulation_step(simulation, 1.0 / 6.0, NULL), KILN_OK);
    }
}
END_TEST

typedef struct heard {
    int count[3];
    char all[4000];
} heard;

static void hear(void *user, kiln_log_level level, const char *message)
{
    heard *h = user;
    size_t used = strlen(h->all);
    h->count[level]++;
    snprintf(h->all + used, sizeof h->all - used, "%s\n", message);
}

static void check_heard(heard *h, kiln_log_level level, const char *text)
{
    ck_assert_msg(strstr(h->all, text) != NULL, "no '%s' in:\n%s", text, h->all);
    ck_assert_int_gt(h->count[level], 0);
    *h = (heard){0};
}

START_TEST(the_log_is_told)
{
    heard h = {0};
    kiln_context_options options = kiln_context_default_options();
    options.log = hear;
    options.log_user = &h;
    kiln_context *loud;
    kiln_simulation *s;
    kiln_mesh *m;
    ck_assert_int_eq(kiln_context_create(&options, &loud, NULL), KILN_OK);
    ck_assert_int_eq(kiln_simulation_load(loud, scene_path, NULL, &s, NULL), KILN_OK);
    ck_assert_ptr_nonnull(strstr(h.all, "hello from the scene"));
    check_heard(&h, KILN_LOG_INFO, " tets, ");
    kiln_simulation_destroy(s);
    /* A step that cannot be made: half of the tries, then the diagnosis. */
    const char *sets[] = {"step.newton.iterations=1", "bodies[1].velocity=function(u) return "
                                                      "{300*u[1],300*u[2],-900*u[3]} end"};
    const kiln_simulation_options hopeless = {2, sets};
    ck_assert_int_eq(kiln_simulation_load(loud, scene_path, &hopeless, &s, NULL), KILN_OK);
    kiln_status status = KILN_OK;
    for (int i = 0; i < 20 && status == KILN_OK; i++)
        status = kiln_simulation_step(s, 1.0, NULL);
    ck_assert_int_eq(status, KILN_ERR_STATE);
    check_heard(&h, KILN_LOG_WARNING, "gave up at");
    kiln_simulation_destroy(s);
    /* A mesh with a point of no tet and an edge where two tets meet. */
    const double points[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},  {0, 0, 1},
                                {9, 9, 9}, {0, 0, 2}, {0, -1, 0}, {0, -1, 1}};
    const uint32_t tets[][4] = {{0, 1, 2, 3}};
    kiln_mesh_arrays arrays = {
        .point_count = 8, .points = points[0], .tet_count = 1, .tets = tets[0]};
    ck_assert_int_eq(kiln_mesh_from_arrays(loud, &arrays, NULL, &m, NULL, NULL), KILN_OK);
    check_heard(&h, KILN_LOG_WARNING, "4 points in no tet left out");
    kiln_mesh_destroy(m);
    kiln_context_destroy(loud);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("api misuse");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, null_is_refused_by_name);
    tcase_add_test(all, what_returns_no_status_does_nothing);
    tcase_add_test(all, steps_end_at_a_time);
    tcase_add_test(all, steps_arrive);
    tcase_add_test(all, the_log_is_told);
    return suite;
}

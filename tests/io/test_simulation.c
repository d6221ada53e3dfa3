/* The public face of simulations: load, step, look, stop, go on. */
#include "base/hash.h"
#include "support.h"

#include "kiln/kiln.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], scene[128];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/kiln-simulation-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(scene, sizeof scene, "%s/fall.lua", folder);
    FILE *file = fopen(scene, "w");
    fputs("return scene {\n"
          "  duration = 0.2, gravity = {0, 0, -9.81},\n"
          "  bodies = { body { shape = shape.box { n = 2 }, at = {0, 0, 0.1},\n"
          "    material = material { model = 'neo-hookean', young = 1e5, poisson = 0.3,\n"
          "                          density = 1000 } } },\n"
          "  obstacles = { obstacle.plane { point = {0, 0, 0}, normal = {0, 0, 1} } },\n"
          "  step = { dt = 0.01 } }\n",
          file);
    fclose(file);
}

static void tear_down(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static uint64_t state_of(const kiln_simulation *simulation)
{
    const kiln_mesh *mesh = kiln_simulation_mesh(simulation);
    size_t bytes = kiln_mesh_count(mesh, KILN_ON_VERTEX) * 3 * sizeof(double);
    double *values = malloc(bytes), time = kiln_simulation_time(simulation);
    uint64_t hash = kiln_hash_bytes(1, &time, sizeof time);
    kiln_mesh_copy_positions(mesh, KILN_SPACE_WORLD, values);
    hash = kiln_hash_bytes(hash, values, bytes);
    ck_assert_int_eq(kiln_mesh_get_field(mesh, KILN_ON_VERTEX, "v", values, NULL), KILN_OK);
    hash = kiln_hash_bytes(hash, values, bytes);
    free(values);
    return hash;
}

static void run_to_end(kiln_simulation *simulation)
{
    kiln_error error;
    double end = kiln_simulation_duration(simulation);
    while (kiln_simulation_time(simulation) < end)
        ck_assert_int_eq(kiln_simulation_step(simulation, end, &error), KILN_OK);
}

START_TEST(test_a_resumed_simulation_goes_on_to_the_same_bits)
{
    kiln_context *context = kiln_test_context(2);
    kiln_simulation *first, *second;
    kiln_error error;
    const char *sets[] = {"bodies[1].material.young=2e5"};
    kiln_simulation_options options = {1, sets};
    ck_assert_int_eq(kiln_simulation_load(context, scene, &options, &first, &error), KILN_OK);
    for (int i = 0; i < 12; i++)
        ck_assert_int_eq(kiln_simulation_step(first, 1.0, &error), KILN_OK);
    ck_assert_double_eq_tol(kiln_simulation_time(first), 0.12, 1e-12);
    ck_assert_int_eq(kiln_simulation_save_checkpoint(first, path_of("c.h5"), &error), KILN_OK);
    run_to_end(first);
    ck_assert_int_eq(kiln_simulation_resume(context, scene, path_of("c.h5"), &second, &error),
                     KILN_OK);
    ck_assert_double_eq_tol(kiln_simulation_time(second), 0.12, 1e-12);
    run_to_end(second);
    ck_assert_uint_eq(state_of(first), state_of(second));
    ck_assert_int_eq(kiln_simulation_save_frame(second, path_of("end.vtu"), &error), KILN_OK);
    ck_assert_int_eq(access(path_of("end.vtu"), R_OK), 0);
    kiln_simulation_destroy(first);
    kiln_simulation_destroy(second);
    kiln_context_destroy(context);
}
END_TEST

/* Dough on dough on a moving rod: nothing that contact, obstacles or flow remember from step to
 * step may be missing in the checkpoint, whichever step it is written after; on however many
 * threads it goes on. Stiffness is fixed, or has grown since the start. */
START_TEST(test_what_flows_and_touches_is_resumed_to_the_same_bits)
{
    FILE *file = fopen(path_of("dough.lua"), "w");
    fprintf(file, "local given = { friction = 0.3, %s }\n",
            _i ? "stiffness = 1e-6, adaptive = true" : "");
    fputs("local dough = material { young = 2e4, plastic = plastic { yield = 50, rate = 60 } }\n"
          "return scene {\n"
          "  duration = 0.3, gravity = {0, 0, -9.81}, contact = contact(given),\n"
          "  bodies = {\n"
          "    body { shape = shape.box { lx = 0.2, ly = 0.2, lz = 0.1, n = 1 }, material = dough "
          "},\n"
          "    body { shape = shape.ball { radius = 0.06, h = 0.06 }, at = {0.09, 0.1, 0.17},\n"
          "           velocity = {0, 0, -1}, material = dough } },\n"
          "  obstacles = { obstacle.capsule { from = {0.1, -1, -0.05}, to = {0.1, 1, -0.05},\n"
          "    radius = 0.04, friction = 0.4, motion = motion.translate {\n"
          "      shift = function(t) return 0, 0, 0.1 * math.sin(12 * t)^2 end } } },\n"
          "  step = { dt = 0.01 } }\n",
          file);
    fclose(file);
    char dough[160];
    snprintf(dough, sizeof dough, "%s", path_of("dough.lua"));
    kiln_context *context = kiln_test_context(1), *other = kiln_test_context(3);
    kiln_simulation *whole, *broken;
    kiln_error error;
    ck_assert_int_eq(kiln_simulation_load(context, dough, NULL, &whole, &error), KILN_OK);
    ck_assert_int_eq(kiln_simulation_load(other, dough, NULL, &broken, &error), KILN_OK);
    run_to_end(whole);
    for (double end = kiln_simulation_duration(broken); kiln_simulation_time(broken) < end;) {
        ck_assert_int_eq(kiln_simulation_save_checkpoint(broken, path_of("c.h5"), &error), KILN_OK);
        kiln_simulation_destroy(broken);
        ck_assert_int_eq(kiln_simulation_resume(other, dough, path_of("c.h5"), &broken, &error),
                         KILN_OK);
        ck_assert_int_eq(kiln_simulation_step(broken, end, &error), KILN_OK);
    }
    ck_assert_uint_eq(state_of(whole), state_of(broken));
    kiln_simulation_destroy(whole);
    kiln_simulation_destroy(broken);
    kiln_context_destroy(context);
    kiln_context_destroy(other);
}
END_TEST

/* Of what remeshing remembers of each place, and of the mesh. `most` is the largest of each. */
static uint64_t memory_of(const kiln_simulation *simulation, double most[2])
{
    const kiln_mesh *mesh = kiln_simulation_mesh(simulation);
    size_t vertices = kiln_mesh_count(mesh, KILN_ON_VERTEX);
    double *tried = malloc(2 * vertices * sizeof *tried);
    ck_assert_int_eq(kiln_mesh_get_field(mesh, KILN_ON_VERTEX, "tried", tried, NULL), KILN_OK);
    for (size_t i = 0; i < 2 * vertices; i++)
        most[i % 2] = fmax(most[i % 2], tried[i]);
    uint64_t hash = kiln_hash_bytes(state_of(simulation), tried, 2 * vertices * sizeof *tried);
    free(tried);
    return hash;
}

/* A column falls over while its mesh is changed: how often that was tried at each place is in the
 * checkpoint, whichever step it is written after, and the same on any number of threads. */
START_TEST(test_what_was_tried_is_resumed_to_the_same_bits)
{
    char column[160];
    snprintf(column, sizeof column, "%s", path_of("column.lua"));
    FILE *file = fopen(column, "w");
    fputs("return scene {\n"
          "  duration = 1, gravity = {0.5, 0, -9.81},\n"
          "  bodies = { body { shape = shape.box { lx = 0.3, ly = 0.3, lz = 1.2, nx = 2, ny = 2,\n"
          "    nz = 8 }, material = material { model = 'neo-hookean', young = 2e4, poisson = 0.3,\n"
          "    density = 1000, damping_mass = 4 } } },\n"
          "  holds = { hold { where = select.half_space { point = {0, 0, 1e-6},\n"
          "    normal = {0, 0, -1} } } },\n"
          "  remesh = { size = 0.13, quality = 0.5 }, step = { dt = 0.02 } }\n",
          file);
    fclose(file);
    kiln_context *context = kiln_test_context(1), *other = kiln_test_context(2);
    kiln_simulation *whole, *broken;
    kiln_error error;
    double most[2] = {0.0, 0.0};
    ck_assert_msg(kiln_simulation_load(context, column, NULL, &whole, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_int_eq(kiln_simulation_load(other, column, NULL, &broken, &error), KILN_OK);
    for (double end = kiln_simulation_duration(whole); kiln_simulation_time(broken) < end;) {
        ck_assert_int_eq(kiln_simulation_save_checkpoint(broken, path_of("c.h5"), &error), KILN_OK);
        kiln_simulation_destroy(broken);
        ck_assert_int_eq(kiln_simulation_resume(other, column, path_of("c.h5"), &broken, &error),
                         KILN_OK);
        ck_assert_int_eq(kiln_simulation_step(broken, end, &error), KILN_OK);
        ck_assert_int_eq(kiln_simulation_step(whole, end, &error), KILN_OK);
        ck_assert_uint_eq(memory_of(whole, most), memory_of(broken, most));
    }
    ck_assert_double_ge(most[0], 1.0);
    ck_assert_double_ge(most[1], 1.0);
    kiln_simulation_destroy(whole);
    kiln_simulation_destroy(broken);
    kiln_context_destroy(context);
    kiln_context_destroy(other);
}
END_TEST

static uint64_t vain_of(const kiln_simulation *simulation, double *most)
{
    const kiln_mesh *mesh = kiln_simulation_mesh(simulation);
    size_t tets = kiln_mesh_count(mesh, KILN_ON_TET);
    double *vain = malloc(6 * tets * sizeof *vain);
    ck_assert_int_eq(kiln_mesh_get_field(mesh, KILN_ON_TET, "step_vain", vain, NULL), KILN_OK);
    for (size_t i = 0; i < 6 * tets; i++)
        *most = fmax(*most, vain[i]);
    uint64_t hash = kiln_hash_bytes(state_of(simulation), vain, 6 * tets * sizeof *vain);
    free(vain);
    return hash;
}

/* What was tried in vain is in the checkpoint, whichever step it is written after, and the same on
 * any number of threads. How many steps there were. */
static int resume_each_step(const char *text, size_t more)
{
    char judged[160];
    snprintf(judged, sizeof judged, "%s", path_of("judged.lua"));
    FILE *file = fopen(judged, "w");
    fputs(text, file);
    fclose(file);
    kiln_context *context = kiln_test_context(1), *other = kiln_test_context(2);
    kiln_simulation *whole, *broken;
    kiln_error error;
    double most = 0.0;
    int steps = 0;
    ck_assert_msg(kiln_simulation_load(context, judged, NULL, &whole, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_int_eq(kiln_simulation_load(other, judged, NULL, &broken, &error), KILN_OK);
    size_t start = kiln_mesh_count(kiln_simulation_mesh(whole), KILN_ON_VERTEX), largest = start;
    for (double end = kiln_simulation_duration(whole); kiln_simulation_time(broken) < end;
         steps++) {
        ck_assert_int_eq(kiln_simulation_save_checkpoint(broken, path_of("c.h5"), &error), KILN_OK);
        kiln_simulation_destroy(broken);
        ck_assert_int_eq(kiln_simulation_resume(other, judged, path_of("c.h5"), &broken, &error),
                         KILN_OK);
        ck_assert_int_eq(kiln_simulation_step(broken, end, &error), KILN_OK);
        ck_assert_int_eq(kiln_simulation_step(whole, end, &error), KILN_OK);
        ck_assert_uint_eq(vain_of(whole, &most), vain_of(broken, &most));
        size_t now = kiln_mesh_count(kiln_simulation_mesh(whole), KILN_ON_VERTEX);
        largest = now > largest ? now : largest;
    }
    ck_assert_double_gt(most, 0.0);
    ck_assert_uint_gt(largest, start + more); /* some go again once bodies have parted */
    kiln_simulation_destroy(whole);
    kiln_simulation_destroy(broken);
    kiln_context_destroy(context);
    kiln_context_destroy(other);
    return steps;
}

/* A bar is twisted while its mesh is judged by energy. */
START_TEST(test_a_mesh_judged_by_energy_is_resumed_to_the_same_bits)
{
    static const char *const kinds[] = {
        "",
        ", nodal_pressure = 'off', plastic = { yield_stress = 3e3, "
        "norm = 'mises', flow = 'instant' }",
        ", plastic = { yield = 3e3, rate = 20 }, viscosity = 30",
        ", damping_stiffness = 0.01, damping_mass = 2, viscosity = 30",
        "",
        ", plastic = { yield_stress = 3e3, norm = 'mises', flow = 'instant' }",
        ", young = function(c) return 1e5 * (1 + c.u.x) + c.stress end, viscosity = "
        "function(c) return 20 + 50 * c.u.x end",
        ", nodal_pressure = 'on'",
        ""};
    static const char *const loads[] = {
        [4] = "load.body { amount = {0, 0, 3e4} }",
        [7] = "load.pressure { amount = 2e3, where = select.half_space { point = {0, 0, 0.1 - "
              "1e-6}, normal = {0, 0, 1} } }",
        [8] = ""};
    /* By when something was tried in vain. */
    static const double durations[] = {0.1, 0.07, 0.09, 0.09, 0.07, 0.07, 0.09, 0.07, 0.07};
    const char *turned = "hold { where = select.box { from = {0.15, 0.0999, -1}, to = {0.35, 1, 1} "
                         "}, components = 'y', turn = { axis = {1, 0, 0}, degrees = 40 } }";
    char text[2560];
    snprintf(
        text, sizeof text,
        "local function turn(t, u)\n"
        "  local c, s = math.cos(20 * t), math.sin(20 * t)\n"
        "  return u.x, c * u.y - s * u.z, s * u.y + c * u.z\n"
        "end\n"
        "return scene {\n"
        "  duration = %g, gravity = {0, 0, 0},\n"
        "  bodies = { body { shape = shape.box { lx = 0.6, ly = 0.2, lz = 0.2, nx = 6, ny = 2,\n"
        "    nz = 2 }, at = {0, -0.1, -0.1}, material = material { model = 'neo-hookean',\n"
        "    %s poisson = 0.3, density = 1000%s } } },\n"
        "  holds = { hold { where = select.half_space { point = {1e-6, 0, 0},\n"
        "                     normal = {-1, 0, 0} } },\n"
        "    hold { where = select.half_space { point = {0.6 - 1e-6, 0, 0}, normal = {1, 0, 0} },\n"
        "           motion = motion.follow { place = turn } }, %s },\n"
        "  loads = { %s },\n"
        "  remesh = remesh { method = 'energy', split = 2e-3 }, step = { dt = 0.01 } }\n",
        durations[_i], _i == 6 ? "" : "young = 1e5,", kinds[_i], _i == 8 ? turned : "",
        loads[_i] ? loads[_i] : "");
    resume_each_step(text, _i ? 5 : 20);
}
END_TEST

/* A block is pushed on another one that lies on the edge of a box, with friction; also with so few
 * iterations that steps are taken back after their mesh has changed: what is derived from it then
 * is of the mesh that is there. */
START_TEST(test_touching_meshes_judged_by_energy_are_resumed_to_the_same_bits)
{
    char text[1536];
    snprintf(text, sizeof text,
             "local soft = material { model = 'neo-hookean', young = 2e4, poisson = 0.3,\n"
             "  density = 1000 }\n"
             "local function block(z, n)\n"
             "  return body { shape = shape.box { lx = 0.4, ly = 0.4, lz = 0.2, nx = n, ny = n,\n"
             "    nz = 2 }, at = {0, 0, z}, turn = { degrees = 20 * n }, material = soft,\n"
             "    velocity = {0.2, 0, -1.5} }\n"
             "end\n"
             "return scene {\n"
             "  duration = %g, gravity = {0, 0, -9.81},\n"
             "  bodies = { block(0.01, 3), block(0.23, 2) },\n"
             "  obstacles = { obstacle.box { from = {-1, -1, -1}, to = {0.1, 1, 0},\n"
             "    friction = 0.3 } },\n"
             "  contact = contact { thickness = 0.01, friction = 0.2 },\n"
             "  remesh = remesh { method = 'energy', split = 5e-4 },\n"
             "  step = { dt = 0.02, newton = { iterations = %d } } }\n",
             _i ? 0.052 : 0.1, _i ? 5 : 100);
    int steps = resume_each_step(text, _i ? 0 : 5);
    ck_assert_int_eq(steps > 5, _i > 0);
}
END_TEST

/* Planes of symmetry, of which some vertices are in two, and a pull: a mesh gains nothing
 * where strain is the same everywhere. */
START_TEST(test_vertices_of_two_holds_are_held_by_both)
{
    char block[160];
    snprintf(block, sizeof block, "%s", path_of("block.lua"));
    FILE *file = fopen(block, "w");
    fputs(
        "local function plane(axis, normal)\n"
        "  return hold { where = select.half_space { point = {1e-6, 1e-6, 1e-6},\n"
        "    normal = normal }, components = axis }\n"
        "end\n"
        "return scene { duration = 0.1, gravity = {0, 0, 0},\n"
        "  bodies = { body { shape = shape.box { lx = 0.4, ly = 0.2, lz = 0.2, nx = 4, ny = 2,\n"
        "    nz = 2 }, material = material { model = 'neo-hookean', young = 1e5,\n"
        "    poisson = 0.3, density = 1000 } } },\n"
        "  holds = { plane('x', {-1, 0, 0}), plane('y', {0, -1, 0}), plane('z', {0, 0, -1}),\n"
        "    hold { where = select.half_space { point = {0, 0, 0.2 - 1e-6}, normal = {0, 0, 1} },\n"
        "      components = 'z' } },\n"
        "  loads = { load.traction { amount = {2e4, 0, 0}, where = select.half_space {\n"
        "    point = {0.4 - 1e-6, 0, 0}, normal = {1, 0, 0} } } },\n"
        "  remesh = remesh { method = 'energy', split = 1e-7 },\n"
        "  step = { dt = 0.1, integrator = 'static' } }\n",
        file);
    fclose(file);
    kiln_context *context = kiln_test_context(1);
    kiln_simulation *simulation;
    kiln_error error;
    ck_assert_msg(kiln_simulation_load(context, block, NULL, &simulation, &error) == KILN_OK, "%s",
                  error.message);
    size_t start = kiln_mesh_count(kiln_simulation_mesh(simulation), KILN_ON_VERTEX);
    ck_assert_msg(kiln_simulation_step(simulation, 0.1, &error) == KILN_OK, "%s", error.message);
    ck_assert_uint_eq(kiln_mesh_count(kiln_simulation_mesh(simulation), KILN_ON_VERTEX), start);
    kiln_simulation_destroy(simulation);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(test_a_free_body_falls_by_the_formula_of_the_integrator)
{
    kiln_context *context = kiln_test_context(1);
    kiln_simulation *simulation;
    kiln_error error;
    double velocity[81];
    ck_assert_int_eq(kiln_simulation_load(context, scene, NULL, &simulation, &error), KILN_OK);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(kiln_simulation_step(simulation, 1.0, &error), KILN_OK);
    const kiln_mesh *mesh = kiln_simulation_mesh(simulation);
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_VERTEX), 27);
    ck_assert_int_eq(kiln_mesh_get_field(mesh, KILN_ON_VERTEX, "v", velocity, &error), KILN_OK);
    for (int i = 0; i < 27; i++)
        ck_assert_double_eq_tol(velocity[3 * i + 2], -0.981, 1e-10);
    kiln_simulation_destroy(simulation);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(test_bad_scenes_and_checkpoints_are_explained)
{
    kiln_context *context = kiln_test_context(1);
    kiln_simulation *simulation = NULL;
    kiln_error error;
    const char *sets[] = {"bodies[1].material.young=-1"};
    kiln_simulation_options options = {1, sets};
    char text[800];
    ck_assert_int_eq(kiln_simulation_load(context, scene, &options, &simulation, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(
        strstr(kiln_error_format(&error, text, sizeof text), "bodies[1].material.young"));
    ck_assert_int_ne(kiln_simulation_resume(context, scene, scene, &simulation, &error), KILN_OK);
    ck_assert_ptr_null(simulation);
    kiln_simulation_destroy(NULL);
    kiln_context_destroy(context);
}
END_TEST

/* A block far too soft for its mesh is squashed flat by its own fall. */
START_TEST(test_inverted_tets_end_a_run_unless_they_are_tolerated)
{
    kiln_context *context = kiln_test_context(1);
    const char *sets[] = {"bodies[1].material={model='stable-neo-hookean',young=500}", "duration=1",
                          "step.dt=0.05", "bodies[1].tolerate_inverted=true"};
    for (size_t set_count = 3; set_count <= 4; set_count++) {
        kiln_simulation_options options = {set_count, sets};
        kiln_simulation *simulation;
        kiln_error error;
        kiln_status status = kiln_simulation_load(context, scene, &options, &simulation, &error);
        ck_assert_int_eq(status, KILN_OK);
        while (status == KILN_OK && kiln_simulation_time(simulation) < 1)
            status = kiln_simulation_step(simulation, 1, &error);
        ck_assert_int_eq(status, set_count == 3 ? KILN_ERR_STATE : KILN_OK);
        if (set_count == 3)
            ck_assert_ptr_nonnull(strstr(error.message, "a tet is inverted"));
        kiln_simulation_destroy(simulation);
    }
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("simulation");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, test_a_resumed_simulation_goes_on_to_the_same_bits);
    tcase_add_loop_test(all, test_what_flows_and_touches_is_resumed_to_the_same_bits, 0, 2);
    tcase_add_test(all, test_what_was_tried_is_resumed_to_the_same_bits);
    tcase_add_loop_test(all, test_a_mesh_judged_by_energy_is_resumed_to_the_same_bits, 0, 9);
    tcase_add_test(all, test_vertices_of_two_holds_are_held_by_both);
    tcase_add_loop_test(all, test_touching_meshes_judged_by_energy_are_resumed_to_the_same_bits, 0,
                        2);
    tcase_add_test(all, test_a_free_body_falls_by_the_formula_of_the_integrator);
    tcase_add_test(all, test_inverted_tets_end_a_run_unless_they_are_tolerated);
    tcase_add_test(all, test_bad_scenes_and_checkpoints_are_explained);
    suite_add_tcase(suite, all);
    return suite;
}

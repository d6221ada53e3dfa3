/* Contact in whole scenes, as the program tells it: what is crushed, what lies far away. */
#include "program.h"
#include "rows.h"

#include <math.h>

/* Two cubes of 12 m/s crush a soft bar between them until a tet of it turns inside out. */
static const char crush[] =
    "local hard = material { young = 1e6, density = 1000 }\n"
    "local soft = material { young = 5.59e3, density = 1000 }\n"
    "local cube = shape.box { lx = 0.2, ly = 0.2, lz = 0.2, n = 1 }\n"
    "local bar = shape.box { lx = 0.06, ly = 0.06, lz = 0.3, n = 1 }\n"
    "return scene { duration = 0.02,\n"
    " bodies = { body { shape = cube, material = hard, at = {-0.33, 0.04, 0.03},\n"
    "                   velocity = {12, 0, 0} },\n"
    "            body { shape = bar, material = soft, at = {-0.03, 0.05, -0.05} },\n"
    "            body { shape = cube, material = hard, at = {0.13, 0, -0.06},\n"
    "                   velocity = {-12, 0, 0} } },\n"
    " contact = { bodies = true, thickness = param('thickness', 0.02) },\n"
    " step = { integrator = param('by', 'newmark'), dt = 0.001 }, output = { frame = 0.02 } }\n";

static const char *const integrators[] = {"newmark", "bdf2", "implicit-euler"};

/* Surfaces are in contact at last. Contact that becomes harder for it must not drive them apart
 * with more than they came with. */
START_TEST(nothing_is_gained)
{
    static row rows[MOST];
    open_folder();
    write_file("crush.lua", crush);
    for (int thickness = 15; thickness <= 25; thickness += 5) {
        char command[200];
        snprintf(command, sizeof command,
                 "run crush.lua -q --force --threads 1 --set by=%s --set thickness=%g",
                 integrators[_i], 1e-3 * thickness);
        ck_assert_int_le(run_program(command), 1);
        int count = read_rows("crush.run", rows);
        ck_assert_int_gt(count, 10);
        for (int i = 1; i < count; i++)
            ck_assert_msg(rows[i].energy <= 1.001 * rows[0].energy, "%s, %d mm, row %d: %g J of %g",
                          integrators[_i], thickness, i, rows[i].energy, rows[0].energy);
    }
    leave_folder();
}
END_TEST

/* Blocks on a slope on which they stick; a second one is far away. */
static const char slope[] =
    "local m = material { model = 'neo-hookean', young = 1e6, density = 1000 }\n"
    "local a = math.rad(20)\n"
    "local function block(x) return body { shape = shape.box { lx = 0.2, ly = 0.2, lz = 0.1, n = 2 "
    "},\n"
    "  material = m, at = {x, 0, 0.002} } end\n"
    "return scene { duration = 0.3, gravity = { 9.81 * math.sin(a), 0, -9.81 * math.cos(a) },\n"
    " bodies = { block(0), block(param('far', 1)) }, obstacles = { obstacle.sphere { radius = "
    "0.1,\n"
    "   centre = {0, 5, 0} }, obstacle.plane { friction = 0.6 }, obstacle.box {\n"
    "   from = {0, 7, 0}, to = {1, 8, 1} } },\n"
    " contact = { bodies = true }, step = { integrator = 'bdf2', dt = 0.01 },\n"
    " output = { frame = 0.3, obstacles = true } }\n";

/* What counts as sticking is told by the size of the bodies, not by their distance. */
START_TEST(far_bodies_change_nothing)
{
    static row rows[MOST];
    double p[2];
    open_folder();
    write_file("slope.lua", slope);
    for (int far = 0; far < 2; far++) {
        ck_assert_int_eq(run_program(far ? "run slope.lua -q --force --threads 1 --set far=1000"
                                         : "run slope.lua -q --force --threads 1"),
                         0);
        int count = read_rows("slope.run", rows);
        p[far] = rows[count - 1].p[0];
    }
    ck_assert_double_lt(fabs(p[1]), 1.01 * fabs(p[0]) + 1e-9);
    leave_folder();
}
END_TEST

/* Two cards that lean on each other, at rest but for what Newmark keeps of their first moment. */
static const char cards[] =
    "local m = material { young = 1e8, poisson = 0.3, density = 700 }\n"
    "local l, t, a = 0.09, 0.001, math.rad(65)\n"
    "local function card(degrees, x, z) return body { material = m,\n"
    "  shape = shape.box { lx = l, ly = 0.06, lz = t, nx = 3, ny = 2, nz = 1 },\n"
    "  turn = { axis = {0, 1, 0}, degrees = degrees }, at = {x, -0.03, z} } end\n"
    "return scene { duration = 0.2, gravity = {0, 0, -9.81}, obstacles = {\n"
    "  obstacle.plane { friction = 0.5 } }, contact = { thickness = 3e-4, friction = 0.5 },\n"
    " bodies = { card(-65, -l * math.cos(a) - 3e-4, 2e-4),\n"
    "   card(-115, l * math.cos(a) + t * math.sin(a) + 4e-4, 2e-4 + t * math.cos(a)) },\n"
    " step = { dt = 2e-3, integrator = 'newmark' }, output = { frame = 0.2 } }\n";

/* Velocities across then change their sign in each step, and where they lead to is no place to
 * begin a solve: 8 to 10 matrices a step (now 2.2 to 2.5). */
START_TEST(what_lies_there_is_soon_found_under_newmark)
{
    static row rows[MOST];
    open_folder();
    write_file("cards.lua", cards);
    ck_assert_int_eq(run_program("run cards.lua -q --threads 1"), 0);
    int count = read_rows("cards.run", rows);
    ck_assert_int_eq(count, 101);
    double iterations = 0.0;
    for (int i = 51; i < count; i++)
        iterations += rows[i].newton;
    ck_assert_double_le(iterations, 4.0 * 50);
    leave_folder();
}
END_TEST

START_TEST(obstacles_have_numbers)
{
    char text[4000];
    open_folder();
    write_file("slope.lua", slope);
    ck_assert_int_eq(run_program("run slope.lua -q --threads 1 --until 0.01"), 0);
    ck_assert_int_eq(
        run_shell("'" KILN_PROGRAM "' mesh info slope.run/surface/obstacles-000000.vtu >.info"), 0);
    read_file(".info", text, sizeof text);
    for (int number = 1; number <= 3; number++) {
        char row_begin[24];
        snprintf(row_begin, sizeof row_begin, "\n    %d ", number);
        ck_assert_msg(strstr(text, row_begin) != NULL, "no obstacle %d in: %s", number, text);
    }
    leave_folder();
}
END_TEST

/* Surfaces do not meet where a body has an obstacle wholly inside, and no vertex is in it. What is
 * beside a body, or in a hole of it, is outside. */
START_TEST(no_body_begins_round_an_obstacle)
{
    static const char *const obstacles[] = {
        "obstacle.box { from = {0.05, 0.05, 0.05}, to = {0.07, 0.08, 0.07} }",
        "obstacle.sphere { radius = 0.01, centre = {0.06, 0.07, 0.06} }",
        "obstacle.mesh { shape = shape.box { lx = 0.02, ly = 0.02, lz = 0.02, n = 1 },\n"
        "  at = {0.05, 0.06, 0.05} }",
        "obstacle.box { from = {0.25, 0.05, 0.05}, to = {0.27, 0.08, 0.07} }"};
    char scene[800];
    snprintf(scene, sizeof scene,
             "local m = material { young = 1e6, density = 1000 }\n"
             "return scene { duration = 0.01, contact = contact { obstacles = 'surfaces' },\n"
             "  bodies = { body { shape = shape.box { lx = 0.2, ly = 0.2, lz = 0.2, n = 2 },\n"
             "    material = m } }, obstacles = { %s }, step = { dt = 0.005 } }\n",
             obstacles[_i]);
    open_folder();
    write_file("round.lua", scene);
    ck_assert_int_eq(run_program("run round.lua -q --threads 1"), _i < 3 ? 2 : 0);
    static char said[2000];
    read_file(".err", said, sizeof said);
    ck_assert_int_eq(strstr(said, "is in a body at the start") != NULL, _i < 3);
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("contact_scenes");
    TCase *all = kiln_test_case(suite, "contact_scenes");
    tcase_add_loop_test(all, nothing_is_gained, 0, 3);
    tcase_add_test(all, far_bodies_change_nothing);
    tcase_add_test(all, what_lies_there_is_soon_found_under_newmark);
    tcase_add_test(all, obstacles_have_numbers);
    tcase_add_loop_test(all, no_body_begins_round_an_obstacle, 0, 4);
    return suite;
}

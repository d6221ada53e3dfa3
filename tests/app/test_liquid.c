/* Liquid in scenes: what is refused, a drop that swings while its mesh changes, and its bits. */
#include "program.h"

#include <math.h>

enum { TEXT = 1 << 18 };

static const char scene[] =
    "local water = material { density = 997, viscosity = 0,\n"
    "                         liquid = liquid { surface_tension = 70.38e-3 } }\n"
    "return scene { duration = 4e-3, gravity = { 0, 0, 0 }, output = { checkpoint = 1e-3 },\n"
    "  bodies = { body { shape = shape.ball { radius = 2e-3, h = 0.9e-3 }, scale = { 2, 1, 1 },\n"
    "             velocity = { 0.3, 0.1, 0 }, spin = { 0, 20, 0 }, material = water } },\n"
    "  step = { integrator = param('by', 'bdf2'), dt = 2.5e-4 },\n"
    "  remesh = remesh { method = param('method', 'local'), space = 'world', quality = 0.35 },\n"
    "  contact = param('touch', 'no') == 'yes' and contact { bodies = true } or nil }\n";

static void expect_refused(const char *arguments, const char *words)
{
    char command[512], text[TEXT];
    snprintf(command, sizeof command, "check drop.lua %s", arguments);
    ck_assert_int_eq(run_program(command), 2);
    read_file(".err", text, sizeof text);
    ck_assert_msg(strstr(text, words) != NULL, "'%s' lacks '%s'", text, words);
}

START_TEST(what_liquid_cannot_be_with_is_refused)
{
    write_file("drop.lua", scene);
    ck_assert_int_eq(run_program("check drop.lua"), 0);
    expect_refused("--set by=newmark", "step.integrator: liquid flows by");
    expect_refused("--set touch=yes", "surfaces of liquid");
    expect_refused("--set method=global", "remesh.method");
    write_file("drop.lua", "return scene { duration = 1, bodies = { body { shape = shape.ball { },"
                           "material = material { young = 1, liquid = liquid {} } } } }");
    expect_refused("", "young: is of solids");
    write_file("drop.lua",
               "return scene { duration = 1, bodies = { body { shape = shape.ball { },"
               "material = material { damping_stiffness = 1, liquid = liquid {} } } } }");
    expect_refused("", "damping_stiffness: is of solids");
    write_file("drop.lua", "return scene { duration = 1, bodies = { body { shape = shape.ball { },"
                           "material = material { viscosity = function(c) return 1 end, liquid = "
                           "liquid {} } } } }");
    expect_refused("", "viscosity: must be a number");
    write_file("drop.lua", "return scene { duration = 1, bodies = { body { shape = shape.ball { },"
                           "material = material { } } } }");
    expect_refused("", "young: must be given");
}
END_TEST

/* The column of that number in the row of that number, from 0. */
static double figure(const char *folder_of_run, int row, int column)
{
    char path[100], text[TEXT], *at = text;
    snprintf(path, sizeof path, "%s/stats.csv", folder_of_run);
    read_file(path, text, sizeof text);
    for (int i = 0; i <= row; i++)
        at = strchr(at, '\n') + 1;
    for (int i = 0; i < column; i++)
        at = strchr(at, ',') + 1;
    return strtod(at, NULL);
}

/* Columns of stats.csv. */
enum { VOLUME = 6, REST_VOLUME, PX, PY, LY = 12, KINETIC = 14, ELASTIC, CHANGED = 42 };

START_TEST(a_drop_keeps_what_it_has)
{
    write_file("drop.lua", scene);
    ck_assert_int_eq(run_program("run drop.lua -o a --threads 1 --quiet"), 0);
    double changed = 0.0;
    for (int row = 1; row <= 16; row++)
        changed += figure("a", row, CHANGED);
    ck_assert_msg(changed > 0.0, "the mesh has not changed");
    ck_assert_double_eq_tol(figure("a", 16, REST_VOLUME) / figure("a", 0, REST_VOLUME), 1.0, 1e-12);
    ck_assert_double_eq_tol(figure("a", 16, VOLUME) / figure("a", 0, VOLUME), 1.0, 2e-3);
    double P = hypot(figure("a", 0, PX), figure("a", 0, PY));
    ck_assert_double_eq_tol(figure("a", 16, PX), figure("a", 0, PX), 1e-9 * P);
    ck_assert_double_eq_tol(figure("a", 16, PY), figure("a", 0, PY), 1e-9 * P);
    ck_assert_double_eq_tol(figure("a", 16, LY) / figure("a", 0, LY), 1.0, 1e-6);
    double first = figure("a", 0, KINETIC) + figure("a", 0, ELASTIC);
    double last = figure("a", 16, KINETIC) + figure("a", 16, ELASTIC);
    ck_assert_double_gt(figure("a", 16, KINETIC), 1.01 * figure("a", 0, KINETIC));
    ck_assert_double_le(last, first);
    ck_assert_double_ge(last, 0.99 * first);
    /* Two threads, stopped and resumed. */
    ck_assert_int_eq(run_program("run drop.lua -o b --threads 2 --until 2e-3 --quiet"), 0);
    ck_assert_int_eq(run_program("run drop.lua -o b --threads 2 --resume --quiet"), 0);
    ck_assert_int_eq(run_shell("for r in a b; do cut -d, -f1-19 $r/stats.csv | tail -1 >$r.row; "
                               "done; cmp a.row b.row"),
                     0);
}
END_TEST

/* Level water between walls along which it slides, with gravity and surface tension: the walls have
 * none, and its weight is that of the space it fills, so nothing moves for as long as one likes. */
START_TEST(water_at_rest_stays_at_rest)
{
    write_file(
        "tank.lua",
        "local function wall(p, n, c) return hold { where = select.half_space { point = p,\n"
        "  normal = n }, components = c } end\n"
        "return scene { duration = 20, gravity = { 0, 0, -9.81 },\n"
        "  bodies = { body { shape = shape.box { n = 3 }, material = material {\n"
        "    density = 1000, viscosity = 1e-3, liquid = liquid { surface_tension = 0.07 } } } "
        "},\n"
        "  holds = { wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, 'x'), wall({ 1 - 1e-6, 0, 0 },\n"
        "    { 1, 0, 0 }, 'x'), wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, 'y'),\n"
        "    wall({ 0, 1 - 1e-6, 0 }, { 0, 1, 0 }, 'y'), wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, "
        "'z') },\n"
        "  step = { integrator = 'bdf2', dt = 0.1 } }\n");
    ck_assert_int_eq(run_program("run tank.lua -o tank --threads 1 --quiet"), 0);
    ck_assert_double_le(figure("tank", 200, KINETIC), 1e-15);
}
END_TEST

/* A duct with particles: the same bits with two threads and after a resume, particles too; shown,
 * and refused where there are none. */
START_TEST(what_flows_through_can_be_seen)
{
    write_file(
        "duct.lua",
        "local function wall(p, n, c) return hold { where = select.half_space { point = p,\n"
        "  normal = n }, components = c } end\n"
        "local V = { 0.1, 0, 0 }\n"
        "return scene { duration = 2, step = { integrator = 'bdf2', dt = 0.1 },\n"
        "  output = { frame = 0.5, checkpoint = 0.5 }, remesh = remesh { space = 'world' },\n"
        "  bodies = { body { shape = shape.box { lx = 0.3, ly = 0.1, lz = 0.1, n = 2 },\n"
        "    velocity = V, material = material { density = 1000, liquid = liquid {} } } },\n"
        "  holds = { wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, 'y'), wall({ 0, 0.1 - 1e-6, 0 },\n"
        "    { 0, 1, 0 }, 'y'), wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, 'z'),\n"
        "    wall({ 0, 0, 0.1 - 1e-6 }, { 0, 0, 1 }, 'z') },\n"
        "  tracers = param('seen', 'yes') == 'yes' and tracers { count = 50, rate = 20 } or nil,\n"
        "  through = through { inlets = { { where = select.patch { tag = 1 }, velocity = V } },\n"
        "    outlets = { { point = { 0.3, 0, 0 }, normal = { 1, 0, 0 } } } } }\n");
    ck_assert_int_eq(run_program("run duct.lua -o a --threads 1 --quiet"), 0);
    ck_assert_int_eq(run_program("run duct.lua -o b --threads 2 --until 1 --quiet"), 0);
    ck_assert_int_eq(run_program("run duct.lua -o b --threads 2 --resume --quiet"), 0);
    ck_assert_int_eq(run_shell("cmp a/surface/tracers-000004.vtp b/surface/tracers-000004.vtp"), 0);
    ck_assert_int_eq(
        run_program("render a --tracers --field speed -o a.png --frame last --size 160x90"), 0);
    ck_assert_int_eq(run_program("run duct.lua --set seen=no -o c --threads 1 --quiet"), 0);
    ck_assert_int_eq(run_program("render c --tracers -o c.png --frame last --size 160x90"), 2);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("liquid");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_test(c, what_liquid_cannot_be_with_is_refused);
    tcase_add_test(c, a_drop_keeps_what_it_has);
    tcase_add_test(c, water_at_rest_stays_at_rest);
    tcase_add_test(c, what_flows_through_can_be_seen);
    return suite;
}

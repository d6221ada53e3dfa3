/* Liquid that becomes one with liquid: drops aside of each other, and what is kept by it. */
#include "stats.h"

#include <math.h>

enum { TEXT = 1 << 18 };

static const char scene[] =
    "local water = material { density = 1000, viscosity = 5e-3,\n"
    "                         liquid = liquid { surface_tension = 0.07 } }\n"
    "local function drop(side)\n"
    "  return body { shape = shape.ball { radius = 1e-3, h = 0.5e-3 }, material = water,\n"
    "                at = { side * 1.1e-3, side * 0.3e-3, 0 }, velocity = { -side * 0.2, 0, 0 } }\n"
    "end\n"
    "return scene { duration = param('T', 2e-3), output = { checkpoint = 1e-3, frame = 1e-3 },\n"
    "  bodies = { drop(-1), drop(1) }, contact = contact { thickness = 5e-5, self = true },\n"
    "  step = { integrator = param('by', 'implicit-euler'), dt = param('dt', 1e-4) },\n"
    "  remesh = remesh { merge = param('merge', 0.3) } }\n";

/* A drop falls into a pool that is much more than it: nothing is to change but where they meet. */
static const char pool[] =
    "local size = 0.55e-3\n"
    "local water = material { density = 1000, viscosity = 5e-3,\n"
    "                         liquid = liquid { surface_tension = 0.07 } }\n"
    "local function wall(point, normal, along)\n"
    "  return hold { body = 'pool', components = along,\n"
    "                where = select.half_space { point = point, normal = normal } }\n"
    "end\n"
    "return scene { duration = param('T', 1e-3), gravity = { 0, 0, -9.81 },\n"
    "  output = { checkpoint = 5e-4, frame = 5e-4 },\n"
    "  contact = contact { thickness = 0.08 * size, self = true },\n"
    "  step = { integrator = 'bdf2', dt = 1e-4 }, remesh = { merge = 0.3 },\n"
    "  bodies = {\n"
    "    body { name = 'pool', at = { -3e-3, -3e-3, 0 }, material = water,\n"
    "           shape = shape.box { lx = 6e-3, ly = 6e-3, lz = 3.3e-3, nx = 11, ny = 11, nz = 6,\n"
    "                               pattern = 'mirrored' } },\n"
    "    body { name = 'drop', shape = shape.ball { radius = 1e-3, h = 0.8 * size },\n"
    "           at = { 1e-4, 5e-5, 4.5e-3 }, velocity = { 0, 0, -0.4 }, material = water } },\n"
    "  holds = { wall({ -2.999999e-3, 0, 0 }, { -1, 0, 0 }, 'x'),\n"
    "            wall({ 2.999999e-3, 0, 0 }, { 1, 0, 0 }, 'x'),\n"
    "            wall({ 0, -2.999999e-3, 0 }, { 0, -1, 0 }, 'y'),\n"
    "            wall({ 0, 2.999999e-3, 0 }, { 0, 1, 0 }, 'y'),\n"
    "            wall({ 0, 0, 1e-9 }, { 0, 0, -1 }, 'z') } }\n";

typedef struct row {
    double quality, volume, rest_volume, p[3], l[3], energy;
} row;

/* Row by row from the second line on; how many there are. */
static int read_rows(const char *path, row *rows, int most)
{
    static char text[TEXT];
    int count = 0;
    read_file(path, text, sizeof text);
    for (char *at = strchr(text, '\n') + 1; *at && count < most; at = strchr(at, '\n') + 1) {
        double v[17];
        char *next = at;
        for (int i = 0; i < 17; i++, next++)
            v[i] = strtod(next, &next);
        rows[count++] = (row){.quality = v[5],
                              .volume = v[6],
                              .rest_volume = v[7],
                              .p = {v[8], v[9], v[10]},
                              .l = {v[11], v[12], v[13]},
                              .energy = v[14] + v[15] + v[16]};
    }
    return count;
}

static void expect_kept(const row *first, const row *now)
{
    double one = 1000 * 4.0 / 3.0 * 3.14159 * 1e-9 * 0.2; /* kg m/s, of a drop */
    for (int k = 0; k < 3; k++) {
        ck_assert_double_le(fabs(now->p[k] - first->p[k]), 1e-10 * one);
        ck_assert_double_le(fabs(now->l[k] - first->l[k]), 1e-10 * fabs(first->l[2]));
    }
    ck_assert_double_eq_tol(now->rest_volume / first->rest_volume, 1.0, 1e-12);
    ck_assert_double_eq_tol(now->volume / first->volume, 1.0, 5e-3);
    ck_assert_double_ge(now->quality, 0.1);
}

static const char *const ways[] = {"", "--set by=bdf2", "--set dt=5e-5", "--set dt=2e-4"};

START_TEST(drops_become_one)
{
    char command[200], text[TEXT];
    row rows[200];
    write_file("join.lua", scene);
    snprintf(command, sizeof command, "run join.lua -o a --threads 1 --audit --quiet %s", ways[_i]);
    ck_assert_int_eq(run_program(command), 0);
    int count = read_rows("a/stats.csv", rows, 200);
    ck_assert_int_gt(count, 8);
    for (int i = 1; i < count; i++) {
        expect_kept(&rows[0], &rows[i]);
        ck_assert_double_le(rows[i].energy, rows[i - 1].energy * (1 + 1e-12));
    }
    ck_assert_int_eq(run_program("mesh info --json a/frames/frame-000002.vtu"), 0);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "\"parts\": 1") != NULL, "%s", text);
}
END_TEST

START_TEST(drops_that_are_not_asked_to_stay_two)
{
    char text[TEXT];
    write_file("join.lua", scene);
    ck_assert_int_eq(run_program("run join.lua -o a --threads 1 --quiet --set merge=0"), 0);
    ck_assert_int_eq(run_program("mesh info --json a/frames/frame-000002.vtu"), 0);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "\"parts\": 2") != NULL, "%s", text);
}
END_TEST

/* Nor does elastic matter that has water in it. */
START_TEST(skins_round_water_stay_two)
{
    char text[TEXT];
    write_file("skins.lua",
               "local skin = material { density = 1000, young = 5e4, poisson = 0.45 }\n"
               "local water = material { density = 1000, viscosity = 1e-2, liquid = liquid {} }\n"
               "local function ball(side)\n"
               "  local at = { side * 0.0505, 0, 0 }\n"
               "  return body { shape = shape.ball { radius = 0.05, h = 0.018 }, at = at,\n"
               "    velocity = { -side * 0.2, 0, 0 }, material = skin, regions = { region {\n"
               "    where = select.sphere { centre = at, radius = 0.034 }, material = water } } }\n"
               "end\n"
               "return scene { duration = 0.02, bodies = { ball(-1), ball(1) },\n"
               "  output = { frame = 0.02 }, step = { dt = 2e-3 },\n"
               "  contact = contact { thickness = 1e-3, self = true },\n"
               "  remesh = remesh { merge = 0.3 } }\n");
    ck_assert_int_eq(run_program("run skins.lua -o a --threads 1 --quiet"), 0);
    ck_assert_int_eq(run_program("mesh info --json a/frames/frame-000001.vtu"), 0);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "\"parts\": 2") != NULL, "%s", text);
}
END_TEST

START_TEST(a_merge_has_its_bits)
{
    write_file("join.lua", scene);
    ck_assert_int_eq(run_program("run join.lua -o a --threads 1 --quiet"), 0);
    ck_assert_int_eq(run_program("run join.lua -o b --threads 2 --until 1e-3 --quiet"), 0);
    ck_assert_int_eq(run_program("run join.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS);
}
END_TEST

/* Not by a new mesh of both; and a run that ends in the middle of it and goes on is the same. */
START_TEST(a_drop_joins_a_pool_where_it_falls)
{
    char text[TEXT];
    row rows[200];
    write_file("pool.lua", pool);
    ck_assert_int_eq(run_program("run pool.lua -o a --threads 1 --audit --quiet"), 0);
    read_file("a/log.txt", text, sizeof text);
    ck_assert_msg(strstr(text, "liquid merges") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "whole-domain remesh") == NULL, "%s", text);
    int count = read_rows("a/stats.csv", rows, 200);
    for (int i = 1; i < count; i++) {
        ck_assert_double_eq_tol(rows[i].rest_volume / rows[0].rest_volume, 1.0, 1e-12);
        ck_assert_double_eq_tol(rows[i].volume / rows[0].volume, 1.0, 5e-3);
        ck_assert_double_ge(rows[i].quality, 0.1);
    }
    ck_assert_int_eq(run_program("mesh info --json a/frames/frame-000002.vtu"), 0);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "\"parts\": 1") != NULL, "%s", text);
    ck_assert_int_eq(run_program("run pool.lua -o b --threads 2 --until 5e-4 --quiet"), 0);
    ck_assert_int_eq(run_program("run pool.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("join");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_loop_test(c, drops_become_one, 0, sizeof ways / sizeof ways[0]);
    tcase_add_test(c, drops_that_are_not_asked_to_stay_two);
    tcase_add_test(c, skins_round_water_stay_two);
    tcase_add_test(c, a_merge_has_its_bits);
    tcase_add_test(c, a_drop_joins_a_pool_where_it_falls);
    return suite;
}

/* Liquid that breaks: a bar whose halves part becomes two drops with a small one between, and what
 * is kept by it. */
#include "rows.h"

#include <math.h>

static const char scene[] =
    "local water = material { density = 1000, viscosity = 5e-3,\n"
    "                         liquid = liquid { surface_tension = 0.07 } }\n"
    "local L, w, a, far = 4.8e-3, 1.2e-3, param('turn', 0), param('far', 0)\n"
    "local ex, ey = { math.cos(a), math.sin(a) }, { -math.sin(a), math.cos(a) }\n"
    "local function out(u)\n"
    "  local along = ((u[1] - far) * ex[1] + (u[2] + far) * ex[2]) / 0.9e-3\n"
    "  local v = 0.7 * math.max(-1, math.min(1, along))\n"
    "  return { v * ex[1] + 0.1, v * ex[2] + 0.05, 30 * (u[1] - far) }\n"
    "end\n"
    "return scene { duration = param('T', 5e-3), output = { checkpoint = 0.001953125, frame = 5e-3 "
    "},\n"
    "  bodies = { body { shape = shape.box { lx = L, ly = w, lz = w, nx = 12, ny = 3, nz = 3,\n"
    "      pattern = 'mirrored' }, turn = { axis = { 0, 0, 1 }, angle = a }, material = water,\n"
    "    velocity = out, at = { far - (L * ex[1] + w * ey[1]) / 2,\n"
    "                           -far - (L * ex[2] + w * ey[2]) / 2, -w / 2 } } },\n"
    "  step = { integrator = param('by', 'implicit-euler'), dt = param('dt', 1e-4) },\n"
    "  contact = contact { thickness = 3e-5, self = true },\n"
    "  remesh = remesh { pinch = param('pinch', 1.2), droplets = param('droplets', 'keep'),\n"
    "                    size_min = 3e-4 } }\n";

static void expect_parts(const char *frame, const char *parts)
{
    char command[100], text[STATS_TEXT];
    snprintf(command, sizeof command, "mesh info --json a/frames/%s", frame);
    ck_assert_int_eq(run_program(command), 0);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, parts) != NULL, "%s", text);
}

static void expect_kept(const row *first, const row *now)
{
    double one = 6.912e-6 * 0.7, size = 4.8e-3; /* kg m/s */
    for (int k = 0; k < 3; k++) {
        ck_assert_double_le(fabs(now->p[k] - first->p[k]), 1e-10 * one);
        ck_assert_double_le(fabs(now->l[k] - first->l[k]), 1e-10 * one * size);
    }
    ck_assert_double_eq_tol(now->rest_volume / first->rest_volume, 1.0, 1e-12);
    ck_assert_double_eq_tol(now->volume / first->volume, 1.0, 0.04); /* edges of half a radius */
    ck_assert_double_ge(now->quality, 0.1);
}

static const char *const ways[] = {"", "--set by=bdf2", "--set dt=5e-5", "--set dt=2e-4"};

START_TEST(a_neck_breaks)
{
    char command[200];
    static row rows[MOST];
    write_file("split.lua", scene);
    snprintf(command, sizeof command, "run split.lua -o a --threads 1 --audit --quiet %s",
             ways[_i]);
    ck_assert_int_eq(run_program(command), 0);
    int count = read_rows("a", rows);
    ck_assert_int_lt(count, 150); /* steps do not become short */
    for (int i = 1; i < count; i++) {
        expect_kept(&rows[0], &rows[i]);
        if (rows[i].breaks > rows[i - 1].breaks)
            ck_assert_double_le(rows[i].energy, rows[i - 1].energy);
    }
    ck_assert_double_eq(rows[count - 1].breaks, 2.0);
    expect_parts("frame-000001.vtu", "\"parts\": 3");
}
END_TEST

/* A lump on a thin neck, smaller than what is looked at about a neck of the widest kind that
 * breaks: it is no tip. */
static const char lump[] =
    "local water = material { density = 1000, viscosity = 5e-3,\n"
    "                         liquid = liquid { surface_tension = 0.07 } }\n"
    "local points = '-1.2e-3,-0.6e-3 0,-0.6e-3 0,-0.04e-3 0.1e-3,-0.04e-3 0.1e-3,-0.17e-3 ' ..\n"
    "  '0.44e-3,-0.17e-3 0.44e-3,0.17e-3 0.1e-3,0.17e-3 0.1e-3,0.04e-3 0,0.04e-3 0,0.6e-3 ' ..\n"
    "  '-1.2e-3,0.6e-3'\n"
    "local function out(u) return { 0.6 * math.max(0, math.min(1, u[1] / 1e-4)), 0, 0 } end\n"
    "return scene { duration = 4e-4, output = { frame = 4e-4 },\n"
    "  bodies = { body { shape = shape.polygon { points = points, depth = 0.25e-3, h = 0.25e-3 },\n"
    "                    material = water, velocity = out } },\n"
    "  step = { dt = 2e-5 }, remesh = remesh { pinch = 1.6, size_min = 1e-4 } }\n";

START_TEST(a_small_lump_comes_off)
{
    static row rows[MOST];
    write_file("lump.lua", lump);
    ck_assert_int_eq(run_program("run lump.lua -o a --threads 1 --audit --quiet"), 0);
    int count = read_rows("a", rows);
    ck_assert_double_eq(rows[count - 1].breaks, 1.0);
    ck_assert_double_eq_tol(rows[count - 1].rest_volume / rows[0].rest_volume, 1.0, 1e-12);
    expect_parts("frame-000001.vtu", "\"parts\": 2");
}
END_TEST

/* A million sizes away, another way round. */
START_TEST(a_neck_breaks_anywhere)
{
    static row rows[MOST];
    write_file("split.lua", scene);
    ck_assert_int_eq(run_program("run split.lua -o a --threads 1 --audit --quiet --set turn=0.7 "
                                 "--set far=5000"),
                     0);
    int count = read_rows("a", rows);
    ck_assert_double_ge(rows[count - 1].breaks, 1.0);
    for (int i = 1; i < count; i++)
        ck_assert_double_eq_tol(rows[i].rest_volume / rows[0].rest_volume, 1.0, 1e-12);
}
END_TEST

START_TEST(what_is_not_asked_to_break_stays_one)
{
    static row rows[MOST];
    write_file("split.lua", scene);
    ck_assert_int_eq(run_program("run split.lua -o a --threads 1 --quiet --set pinch=0"), 0);
    ck_assert_int_gt(read_rows("a", rows), 40);
    expect_parts("frame-000001.vtu", "\"parts\": 1");
}
END_TEST

static const char droplets[] =
    "local water = material { density = 1000, viscosity = 5e-3,\n"
    "                         liquid = liquid { surface_tension = 0.07 } }\n"
    "local function drop(radius, x)\n"
    "  return body { shape = shape.ball { radius = radius, h = radius / 2 }, material = water,\n"
    "                at = { x, 0, 0 }, velocity = { 0, x > 0 and 0.5 or 0, 0.1 } }\n"
    "end\n"
    "return scene { duration = 3e-4, bodies = { drop(1e-3, 0), drop(2e-4, 2e-3) },\n"
    "  step = { dt = 1e-4 }, output = { frame = 3e-4 },\n"
    "  remesh = remesh { pinch = 1.5, droplets = param('droplets', 'keep') } }\n";

START_TEST(droplets_are_kept_or_counted)
{
    static row rows[MOST];
    write_file("droplets.lua", droplets);
    ck_assert_int_eq(run_program("run droplets.lua -o a --threads 1 --audit --quiet"), 0);
    int count = read_rows("a", rows);
    ck_assert_double_eq(rows[count - 1].gone, 0.0);
    expect_parts("frame-000001.vtu", "\"parts\": 2");
    ck_assert_int_eq(run_program("run droplets.lua -o a --force --threads 1 --audit --quiet --set "
                                 "droplets=remove"),
                     0);
    count = read_rows("a", rows);
    const row *last = &rows[count - 1];
    ck_assert_double_gt(last->gone, 1e-12);
    ck_assert_double_eq_tol((last->rest_volume + last->gone) / rows[0].rest_volume, 1.0, 1e-12);
    expect_parts("frame-000001.vtu", "\"parts\": 1");
    ck_assert_int_ne(run_program("run droplets.lua -o a --force --quiet --set droplets=remove "
                                 "--set remesh.pinch=0"),
                     0);
}
END_TEST

/* What they had is with the nearest: nothing is lost. */
START_TEST(droplets_are_merged)
{
    static row rows[MOST];
    write_file("droplets.lua", droplets);
    ck_assert_int_eq(
        run_program("run droplets.lua -o a --threads 1 --audit --quiet --set droplets=merge"), 0);
    int count = read_rows("a", rows);
    const row *first = &rows[0], *last = &rows[count - 1];
    double one = 4.2e-6 * 0.5, size = 2e-3;
    ck_assert_double_gt(last->joined, 1e-12);
    ck_assert_double_eq(last->gone, 0.0);
    ck_assert_double_eq_tol(last->rest_volume / first->rest_volume, 1.0, 1e-12);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_le(fabs(last->p[k] - first->p[k]), 1e-10 * one);
        ck_assert_double_le(fabs(last->l[k] - first->l[k]), 1e-10 * one * size);
    }
    ck_assert_double_gt(fabs(first->p[1]), 1e-9); /* there is something to keep */
    expect_parts("frame-000001.vtu", "\"parts\": 1");
}
END_TEST

/* Steps of 1/8192 s, so that times have no rounding; the run is resumed after the first break. */
START_TEST(a_break_has_its_bits)
{
    static row rows[MOST];
    write_file("split.lua", scene);
    /* frames at the time of the stop: both runs end a step there */
    ck_assert_int_eq(run_program("run split.lua -o a --threads 1 --quiet --set dt=1.220703125e-4 "
                                 "--set output.frame=0.001953125"),
                     0);
    ck_assert_int_eq(run_program("run split.lua -o b --threads 2 --until 0.00390625 --quiet --set "
                                 "dt=1.220703125e-4 --set output.frame=0.001953125"),
                     0);
    ck_assert_double_ge(rows[read_rows("b", rows) - 1].breaks, 1.0);
    ck_assert_int_eq(run_program("run split.lua -o b --threads 2 --resume --quiet"), 0);
    ck_assert_double_ge(rows[read_rows("b", rows) - 1].breaks, 2.0);
    expect_same_ends(STATE_COLUMNS);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("split");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_loop_test(c, a_neck_breaks, 0, sizeof ways / sizeof ways[0]);
    tcase_add_test(c, a_small_lump_comes_off);
    tcase_add_test(c, a_neck_breaks_anywhere);
    tcase_add_test(c, what_is_not_asked_to_break_stays_one);
    tcase_add_test(c, droplets_are_kept_or_counted);
    tcase_add_test(c, droplets_are_merged);
    tcase_add_test(c, a_break_has_its_bits);
    return suite;
}

/* Liquid that tears by stress: a thick thread whose halves part, and what is kept by it. */
#include "rows.h"

#include <math.h>

/* `size` leaves velocities and stress as they are. */
static const char scene[] =
    "local s = param('size', 1)\n"
    "local dough = material { density = 1000, viscosity = function(c) return 0.5 * s end,\n"
    "                         liquid = liquid { surface_tension = 0.07 * s } }\n"
    "local L, w, a, far = 4.8e-3 * s, 1.2e-3 * s, param('turn', 0), param('far', 0)\n"
    "local ex, ey = { math.cos(a), math.sin(a) }, { -math.sin(a), math.cos(a) }\n"
    "local function out(u)\n"
    "  local along = ((u[1] - far) * ex[1] + (u[2] + far) * ex[2]) / (0.9e-3 * s)\n"
    "  local v = math.max(-1, math.min(1, along))\n"
    "  return { v * ex[1] + 0.1, v * ex[2] + 0.05, 30 * (u[1] - far) / s }\n"
    "end\n"
    "return scene { duration = param('T', 1e-3) * s,\n"
    "  output = { checkpoint = 0.000244140625, frame = 1e-3 * s },\n"
    "  bodies = { body { shape = shape.box { lx = L, ly = w, lz = w, nx = 12, ny = 3, nz = 3,\n"
    "      pattern = 'mirrored' }, turn = { axis = { 0, 0, 1 }, angle = a }, material = dough,\n"
    "    velocity = out, at = { far - (L * ex[1] + w * ey[1]) / 2,\n"
    "                           -far - (L * ex[2] + w * ey[2]) / 2, -w / 2 } } },\n"
    "  step = { integrator = param('by', 'implicit-euler'), dt = param('dt', 5e-5) * s },\n"
    "  tear = tear { stress = param('stress', 900) } }\n";

static void expect_kept(const row *first, const row *now)
{
    double one = 6.912e-6, size = 4.8e-3; /* kg m/s */
    for (int k = 0; k < 3; k++) {
        ck_assert_double_le(fabs(now->p[k] - first->p[k]), 1e-10 * one);
        ck_assert_double_le(fabs(now->l[k] - first->l[k]), 1e-10 * one * size);
    }
    ck_assert_double_eq_tol(now->rest_volume / first->rest_volume, 1.0, 1e-12);
    ck_assert_double_eq_tol(now->volume / first->volume, 1.0, 0.02);
}

static int run_torn(const char *settings, row *rows)
{
    char command[200];
    snprintf(command, sizeof command, "run tear.lua -o a --threads 1 --audit --quiet %s", settings);
    write_file("tear.lua", scene);
    ck_assert_int_eq(run_program(command), 0);
    return read_rows("a", rows);
}

static const char *const ways[] = {"", "--set by=bdf2", "--set dt=2.5e-5", "--set dt=1e-4"};

START_TEST(a_thread_tears)
{
    static row rows[MOST];
    int count = run_torn(ways[_i], rows);
    ck_assert_int_lt(count, 150); /* steps do not become short */
    for (int i = 1; i < count; i++)
        expect_kept(&rows[0], &rows[i]);
    ck_assert_double_ge(rows[count - 1].tears, 1.0);
    /* no more than a few sections: it does not crumble */
    ck_assert_double_le(rows[count - 1].torn_area, 3 * 1.2e-3 * 1.2e-3);
}
END_TEST

static const char *const views[] = {"--set turn=0.7 --set far=5000", "--set turn=2",
                                    "--set size=1e6", "--set size=1e-3"};

/* A million sizes away, another way round, in km and um. */
START_TEST(a_thread_tears_anywhere)
{
    static row rows[MOST];
    int count = run_torn(views[_i], rows);
    ck_assert_double_ge(rows[count - 1].tears, 1.0);
    for (int i = 1; i < count; i++)
        ck_assert_double_eq_tol(rows[i].rest_volume / rows[0].rest_volume, 1.0, 1e-12);
}
END_TEST

/* Led by its ends, so that nothing but viscosity pulls: it thins, and is torn in two. */
START_TEST(a_strip_is_drawn_out_and_tears)
{
    static row rows[MOST];
    char text[STATS_TEXT];
    ck_assert_int_eq(run_program("run " KILN_SOURCE_DIR "/scenes/tear.lua -o a --threads 1 --audit "
                                 "--quiet --set h=2.4e-3 --set duration=0.12"),
                     0);
    int count = read_rows("a", rows), first = 1;
    while (first < count && rows[first].tears == 0.0)
        first++;
    ck_assert_int_gt(first, 10);
    ck_assert_int_lt(count, 80);
    for (int i = 1; i < count; i++) {
        ck_assert_double_eq_tol(rows[i].rest_volume / rows[0].rest_volume, 1.0, 1e-12);
        ck_assert_double_eq_tol(rows[i].volume / rows[0].volume, 1.0, 0.01);
    }
    ck_assert_int_eq(run_program("mesh info --json a/frames/frame-000012.vtu"), 0);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "\"parts\": 2") != NULL, "%s", text);
}
END_TEST

START_TEST(what_is_pulled_less_stays_whole)
{
    static row rows[MOST];
    int count = run_torn("--set stress=1e5", rows);
    ck_assert_double_eq(rows[count - 1].tears, 0.0);
    ck_assert_int_ne(run_program("run tear.lua -o a --force --quiet --set stress=0"), 0);
    ck_assert_int_ne(run_program("run tear.lua -o a --force --quiet --set remesh.method=none"), 0);
}
END_TEST

/* Steps of a power of two, so that times have no rounding; resumed after the tear. */
START_TEST(a_tear_has_its_bits)
{
    static row rows[MOST];
    run_torn("--set dt=6.103515625e-5 --set output.frame=0.000244140625", rows);
    ck_assert_int_eq(run_program("run tear.lua -o b --threads 2 --until 0.0009765625 --quiet --set "
                                 "dt=6.103515625e-5 --set output.frame=0.000244140625"),
                     0);
    ck_assert_double_ge(rows[read_rows("b", rows) - 1].tears, 1.0);
    ck_assert_int_eq(run_program("run tear.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("tear");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_loop_test(c, a_thread_tears, 0, sizeof ways / sizeof ways[0]);
    tcase_add_loop_test(c, a_thread_tears_anywhere, 0, sizeof views / sizeof views[0]);
    tcase_add_test(c, a_strip_is_drawn_out_and_tears);
    tcase_add_test(c, what_is_pulled_less_stays_whole);
    tcase_add_test(c, a_tear_has_its_bits);
    return suite;
}

/* Dough that hits dough: what it keeps, and how good its tets are at the end of every step. */
#include "stats.h"

/* Two stars of 26 cm that meet at 12 m/s and become one. */
static const char scene[] =
    "local points = {}\n"
    "for i = 0, 9 do\n"
    "  local r, a = i % 2 == 0 and 0.13 or 0.062, math.pi * i / 5\n"
    "  points[#points + 1] = string.format('%.6f,%.6f', r * math.cos(a), r * math.sin(a))\n"
    "end\n"
    "local dough = material { young = 3e4, poisson = 0.4, density = 1000,\n"
    "  damping_stiffness = 0.002, plastic = plastic { norm = 'mises', yield = 800, rate = 40 } }\n"
    "local function star(side, angle)\n"
    "  local corners = table.concat(points, ' ')\n"
    "  return body { shape = shape.polygon { points = corners, depth = 0.07, h = 0.05 },\n"
    "    patches = { patch { tag = 1 } }, material = dough,\n"
    "    turn = { axis = { 0.7 + 0.3 * side, 0.3, 0.2 }, angle = angle },\n"
    "    at = { 0.02 * side, 0, 0.115 * side }, velocity = { 0, 0, -6 * side } }\n"
    "end\n"
    "return scene { duration = 0.08, bodies = { star(1, 100), star(-1, 230) }, contact = true,\n"
    "  remesh = remesh { method = 'global', quality = 0.2 }, output = { frame = 0.04 },\n"
    "  step = { dt = 0.004, newton = { tolerance = 1e-4 },\n"
    "    solver = { backend = 'pcg-jacobi', tolerance = 1e-3 } } }\n";

enum { Q_MIN = 5, REST_VOLUME = 7 };

static size_t count(const char *text, const char *what)
{
    size_t times = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        times++;
    return times;
}

/* What is crushed is mended where it is: no new mesh of all is made for it. */
START_TEST(crushed_tets_are_mended)
{
    char text[STATS_TEXT];
    write_file("dough.lua", scene);
    ck_assert_int_eq(run_program("run dough.lua -o a --threads 1 --audit --quiet"), 0);
    int rows = rows_of("a");
    for (int i = 1; i < rows; i++) {
        ck_assert_double_ge(figure("a", i, Q_MIN), 0.15);
        ck_assert_double_eq_tol(figure("a", i, REST_VOLUME) / figure("a", 0, REST_VOLUME), 1.0,
                                1e-12);
    }
    read_file("a/log.txt", text, sizeof text);
    ck_assert_uint_gt(count(text, "(merging)"), 0);
    ck_assert_uint_eq(count(text, "(ill-shaped)"), 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("dough");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_test(c, crushed_tets_are_mended);
    return suite;
}

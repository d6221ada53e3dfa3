/* Films of liquid that break: a sheet whose middle is drawn out gets holes that grow, and what is
 * kept by it. */
#include "rows.h"

#include <math.h>

static const char scene[] =
    "local water = material { density = 1000, viscosity = 5e-3,\n"
    "                         liquid = liquid { surface_tension = 0.07 } }\n"
    "local L, w, a, far = 3.6e-3, 0.6e-3, param('turn', 0), param('far', 0)\n"
    "local ex, ez = { math.cos(a), math.sin(a) }, { -math.sin(a), math.cos(a) }\n"
    "local function out(u)\n"
    "  local x = (u[1] - far) * ex[1] + (u[3] + far) * ex[2]\n"
    "  local r = math.sqrt(x ^ 2 + u[2] ^ 2) + 1e-12\n"
    "  local v = 1.2 * math.min(1, r / 1e-3) / r\n"
    "  return { v * x * ex[1] + 0.1, v * u[2] + 0.05, v * x * ex[2] }\n"
    "end\n"
    "return scene { duration = param('T', 9e-4), output = { frame = 9e-4,\n"
    "    checkpoint = 0.000244140625 },\n"
    "  bodies = { body { shape = shape.box { lx = L, ly = L, lz = w, nx = 12, ny = 12, nz = 2,\n"
    "      pattern = 'mirrored' }, turn = { axis = { 0, -1, 0 }, angle = a }, material = water,\n"
    "    velocity = out, at = { far - (L * ex[1] + w * ez[1]) / 2, -L / 2,\n"
    "                           -far - (L * ex[2] + w * ez[2]) / 2 } } },\n"
    "  step = { integrator = param('by', 'implicit-euler'), dt = param('dt', 5e-5) },\n"
    "  contact = contact { thickness = 3e-5, self = true },\n"
    "  remesh = remesh { pinch = param('pinch', 1), size_min = 2.5e-4 } }\n";

static void expect_kept(const row *first, const row *now)
{
    double one = 7.776e-6 * 1.2, size = 3.6e-3; /* kg m/s */
    for (int k = 0; k < 3; k++) {
        ck_assert_double_le(fabs(now->p[k] - first->p[k]), 1e-10 * one);
        ck_assert_double_le(fabs(now->l[k] - first->l[k]), 1e-10 * one * size);
    }
    ck_assert_double_eq_tol(now->rest_volume / first->rest_volume, 1.0, 1e-12);
    ck_assert_double_eq_tol(now->volume / first->volume, 1.0, 5e-3);
    ck_assert_double_ge(now->quality, 0.1);
}

static const char *const ways[] = {"", "--set by=bdf2", "--set dt=2.5e-5", "--set dt=1e-4"};

START_TEST(a_film_breaks)
{
    char command[200];
    static row rows[MOST];
    write_file("holes.lua", scene);
    snprintf(command, sizeof command, "run holes.lua -o a --threads 1 --audit --quiet %s",
             ways[_i]);
    ck_assert_int_eq(run_program(command), 0);
    int count = read_rows("a", rows);
    ck_assert_int_lt(count, 100); /* steps do not become short */
    for (int i = 1; i < count; i++) {
        expect_kept(&rows[0], &rows[i]);
        if (rows[i].holes > rows[i - 1].holes)
            ck_assert_double_le(rows[i].energy, rows[i - 1].energy);
    }
    ck_assert_double_ge(rows[count - 1].holes, 1.0);
}
END_TEST

/* A million sizes away, another way round. */
START_TEST(a_film_breaks_anywhere)
{
    static row rows[MOST];
    write_file("holes.lua", scene);
    ck_assert_int_eq(run_program("run holes.lua -o a --threads 1 --audit --quiet --set turn=0.7 "
                                 "--set far=3000"),
                     0);
    int count = read_rows("a", rows);
    ck_assert_double_ge(rows[count - 1].holes, 1.0);
    for (int i = 1; i < count; i++)
        ck_assert_double_eq_tol(rows[i].rest_volume / rows[0].rest_volume, 1.0, 1e-12);
}
END_TEST

/* Steps of 1/16384 s, so that times have no rounding; the run is resumed after the first hole. */
START_TEST(a_hole_has_its_bits)
{
    static row rows[MOST];
    write_file("holes.lua", scene);
    ck_assert_int_eq(run_program("run holes.lua -o a --threads 1 --quiet --set dt=6.103515625e-5"),
                     0);
    ck_assert_int_eq(
        run_program("run holes.lua -o b --threads 2 --until 0.000732421875 --quiet --set "
                    "dt=6.103515625e-5"),
        0);
    ck_assert_double_ge(rows[read_rows("b", rows) - 1].holes, 1.0);
    ck_assert_int_eq(run_program("run holes.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("holes");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_loop_test(c, a_film_breaks, 0, sizeof ways / sizeof ways[0]);
    tcase_add_test(c, a_film_breaks_anywhere);
    tcase_add_test(c, a_hole_has_its_bits);
    return suite;
}

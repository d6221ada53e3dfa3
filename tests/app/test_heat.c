/* Heat in scenes: what is refused, plates, bodies that touch, flow that warms, remeshing, bits. */
#include "stats.h"

#include <math.h>

enum { TEXT = 1 << 18 };
enum {
    VERTICES = 3,
    VOLUME = 6,
    KINETIC = 14,
    ELASTIC = 15,
    CHANGED = 42,
    COLDEST = 61,
    HOTTEST,
    HEAT,
    HEAT_IN
}; /* of stats.csv */

#define METAL                                                                                      \
    "local metal = material { young = 1e9, poisson = 0.3, density = 8000,\n"                       \
    "  thermal = thermal { conductivity = 50, capacity = 500, expansion = 1e-5 } }\n"

static void expect_refused(const char *text, const char *words)
{
    char said[TEXT];
    write_file("bad.lua", text);
    ck_assert_int_eq(run_program("check bad.lua"), 2);
    read_file(".err", said, sizeof said);
    ck_assert_msg(strstr(said, words) != NULL, "'%s' lacks '%s'", said, words);
}

START_TEST(what_makes_no_sense_is_refused)
{
    expect_refused("return scene { duration = 1, heat = heat {}, bodies = { body { shape = "
                   "shape.ball {}, material = material { young = 1 } } } }",
                   "must say what heat does in it");
    expect_refused(METAL "return scene { duration = 1, bodies = { body { shape = shape.ball {}, "
                         "material = metal } } }",
                   "thermal is of heat, which the scene does not have");
    expect_refused("return scene { duration = 1, bodies = { body { shape = shape.ball {}, material "
                   "= material { young = 1 } } }, loads = { load.heat { amount = 1 } } }",
                   "is of heat, which the scene does not have");
    expect_refused("return scene { duration = 1, bodies = { body { shape = shape.ball {}, material "
                   "= material { young = 1, thermal = thermal { conductivity = 1, capacity = 1, "
                   "latent = 5 } } } } }",
                   "must be given with latent heat");
    expect_refused(METAL "return scene { duration = 1, heat = heat {}, bodies = { body { shape = "
                         "shape.ball {}, material = metal, temperature = -3 } } }",
                   "temperature");
}
END_TEST

/* A block on a hot plate, with remeshing: what has come in is what is stored; two threads, stopped
 * and resumed, have the same bits. */
START_TEST(a_block_on_a_hot_plate)
{
    write_file("plate.lua",
               METAL "return scene { duration = 0.4, gravity = { 0, 0, -9.81 },\n"
                     "  heat = heat { integrator = 'sdirk2', temperature = 300, film = 20, air = "
                     "290 },\n"
                     "  bodies = { body { shape = shape.box { lx = 0.1, ly = 0.1, lz = 0.05, n = 3 "
                     "}, at = { 0, 0, 1e-4 }, material = metal } },\n"
                     "  obstacles = { obstacle.plane { temperature = function(t) return 500 + 100 "
                     "* t end, conductance = 2000 } },\n"
                     "  contact = contact { thickness = 1e-3 }, output = { checkpoint = 0.1 },\n"
                     "  remesh = remesh { method = 'local', size = 0.02 },\n"
                     "  step = { integrator = 'bdf2', dt = 0.02 } }\n");
    ck_assert_int_eq(run_program("run plate.lua -o a --threads 1 --quiet"), 0);
    double in = 0.0, changed = 0.0;
    for (int row = 1; row <= 20; row++) {
        in += figure("a", row, HEAT_IN);
        changed += figure("a", row, CHANGED);
        ck_assert_double_lt(figure("a", row, HOTTEST), 540.0);
        ck_assert_double_gt(figure("a", row, COLDEST), 299.0);
    }
    ck_assert_double_gt(changed, 0.0);
    double mass = 8000 * 0.1 * 0.1 * 0.05, start = mass * 500 * 300;
    ck_assert_double_eq_tol(figure("a", 0, HEAT) / start, 1.0, 1e-12);
    ck_assert_double_eq_tol((figure("a", 20, HEAT) - start) / in, 1.0, 1e-6);
    ck_assert_double_gt(in, 0.5 * 2000 * 0.01 * 200 * 0.4);
    ck_assert_int_eq(run_program("run plate.lua -o b --threads 2 --until 0.2 --quiet"), 0);
    ck_assert_int_eq(run_program("run plate.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS ",62-65");
}
END_TEST

/* Remeshing that takes the place of the solid's own step leaves that of heat alone. */
START_TEST(remeshing_within_the_step_keeps_the_heat)
{
    static const char *const ways[] = {"remesh {}", "remesh { method = 'energy', split = 1e-5 }"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[1024], out[2] = {(char)('a' + i)};
        snprintf(
            text, sizeof text,
            "return scene { duration = 0.2, gravity = { 0, 0, -9.81 },\n"
            "  heat = heat { temperature = 300 },\n"
            "  bodies = { body { shape = shape.box { lx = 0.2, ly = 0.2, lz = 0.1, h = 0.05 },"
            " at = { -0.1, -0.1, 0.051 }, velocity = { 0, 0, -1 }, material = material { young "
            "= 2e4, thermal = thermal { conductivity = 10, capacity = 1000 } } } },\n"
            "  obstacles = { obstacle.sphere { radius = 0.05, temperature = 400, conductance "
            "= 2000 } },\n"
            "  contact = contact { thickness = 2e-3 }, remesh = %s,\n"
            "  step = { integrator = 'implicit-euler', dt = 0.01 } }\n",
            ways[i]);
        write_file("pin.lua", text);
        snprintf(text, sizeof text, "run pin.lua -o %s --threads 1 --quiet", out);
        ck_assert_int_eq(run_program(text), 0);
        double in = 0.0, tets = figure(out, 20, 5), start = 1000 * 0.2 * 0.2 * 0.1 * 1000 * 300;
        for (int row = 1; row <= 20; row++)
            in += figure(out, row, HEAT_IN);
        ck_assert_double_ne(tets, figure(out, 0, 5));
        ck_assert_double_gt(in, 10.0);
        ck_assert_double_eq_tol((figure(out, 20, HEAT) - start) / in, 1.0, 1e-3);
    }
}
END_TEST

/* Two blocks, one hot, pressed together: what one loses the other gets. */
START_TEST(bodies_that_touch_share_their_heat)
{
    write_file("two.lua", METAL
               "return scene { duration = 0.5, heat = heat { contact = 5000 },\n"
               "  bodies = { body { name = 'hot', shape = shape.box { n = 3 }, scale = 0.05, "
               "material = metal, temperature = 600 },\n"
               "    body { name = 'cold', shape = shape.box { n = 2 }, scale = 0.05, at = { 0, "
               "0, 0.0505 }, material = metal, temperature = 300 } },\n"
               "  contact = contact { thickness = 1e-3 }, holds = { hold {} },\n"
               "  step = { integrator = 'implicit-euler', dt = 0.05 } }\n");
    ck_assert_int_eq(run_program("run two.lua -o a --threads 1 --quiet"), 0);
    double stored = 8000 * 0.05 * 0.05 * 0.05 * 500 * 900;
    for (int row = 1; row <= 10; row++)
        ck_assert_double_eq_tol(figure("a", row, HEAT) / stored, 1.0, 1e-12);
    ck_assert_double_lt(figure("a", 10, HOTTEST), 600.0 + 1e-9);
    /* At first 5000 W/m^2/K across 300 K and 25 cm^2 warm a layer of 24 mm (sqrt of 12.5e-6 0.5 4
     * pi) by some tens of kelvins: the face of the cold one is at about 350 K. */
    ck_assert_int_eq(run_program("run two.lua -o b --set heat.contact=0 --threads 1 --quiet"), 0);
    ck_assert_double_eq_tol(figure("b", 10, COLDEST), 300.0, 1e-9);
    ck_assert_double_gt(figure("a", 10, COLDEST), 300.0 - 1e-9);
    ck_assert_double_ne(figure("a", 10, COLDEST), figure("b", 10, COLDEST));
}
END_TEST

/* A bar drawn beyond its yield stress warms by the work that is done on it. */
START_TEST(what_flows_grows_warm)
{
    write_file(
        "bar.lua",
        "local lead = material { young = 1e8, poisson = 0.3, density = 1000, nodal_pressure = "
        "'off',\n"
        "  thermal = thermal { conductivity = 0, capacity = 100 },\n"
        "  plastic = plastic { norm = 'mises', flow = 'instant', yield_stress = 1e6 } }\n"
        "local function all(u, t) return { u[1] * (1 + t), u[2] / math.sqrt(1 + t), u[3] / "
        "math.sqrt(1 + t) } end\n"
        "return scene { duration = 0.2, heat = heat { plastic_work = 0.9 },\n"
        "  bodies = { body { shape = shape.box { n = 1 }, material = lead } },\n"
        "  holds = { hold { motion = motion.follow { place = function(t, u) return all(u, t) end } "
        "} },\n"
        "  step = { integrator = 'implicit-euler', dt = 0.005 } }\n");
    ck_assert_int_eq(run_program("run bar.lua -o a --threads 1 --quiet"), 0);
    /* Yield stress times plastic strain, ln 1.2 less 1e6 / E; the last step's comes later. */
    double strain = log(1.195) - 1e6 / 1e8;
    ck_assert_double_eq_tol((figure("a", 40, HOTTEST) - 293.15) / (0.9 * 1e6 * strain / 1e5), 1.0,
                            0.03);
}
END_TEST

/* A block that hits a wall has the heat of what it was compressed by, not of what it would have
 * been had it gone on: (3 lambda + 2 mu) alpha T times its volume less, a step later. */
START_TEST(what_is_compressed_grows_warm_by_as_much)
{
    write_file("hit.lua",
               "local metal = material { young = 1e9, poisson = 0.3, density = 8000,\n"
               "  thermal = thermal { conductivity = 0, capacity = 500, expansion = 1e-5 } }\n"
               "return scene { duration = 1e-3, heat = heat { temperature = 300 },\n"
               "  contact = contact { thickness = 1e-3 }, obstacles = { obstacle.plane {} },\n"
               "  bodies = { body { shape = shape.box { lx = 0.1, ly = 0.1, lz = 0.1, n = 4 },\n"
               "    at = { 0, 0, 2e-3 }, velocity = { 0, 0, -60 }, material = metal } },\n"
               "  step = { integrator = 'bdf2', dt = 5e-5 } }\n");
    ck_assert_int_eq(run_program("run hit.lua -o a --threads 1 --quiet"), 0);
    double coupling = 1e9 / (1.0 - 2.0 * 0.3) * 1e-5, most = 0.0;
    for (int row = 1; row <= 20; row++) {
        double warmed = figure("a", row, HEAT) - figure("a", 0, HEAT);
        double less = figure("a", 0, VOLUME) - figure("a", row - 1, VOLUME);
        most = fmax(most, warmed);
        ck_assert_double_eq_tol(warmed, coupling * 300.0 * less, 0.5);
    }
    ck_assert_double_gt(most, 400.0);
}
END_TEST

/* A slug of lead on a wall, its mesh repaired in every step: what repairs give back of its volume
 * and steps compress again makes no heat. */
START_TEST(repairs_do_not_make_heat_of_compression)
{
    write_file(
        "slug.lua",
        "local lead = material { model = 'neo-hookean-split', young = 16e9, poisson = 0.44,\n"
        "  density = 11300, thermal = thermal { conductivity = 35, capacity = 130,\n"
        "  expansion = 29e-6 }, plastic = plastic { norm = 'mises', flow = 'instant',\n"
        "  yield_stress = 20e6 } }\n"
        "return scene { duration = 2.4e-5, obstacles = { obstacle.plane {} },\n"
        "  heat = heat { temperature = 298.5, plastic_work = 0 },\n"
        "  contact = contact { thickness = 1.5e-4 },\n"
        "  remesh = remesh { method = 'local', space = 'world' },\n"
        "  bodies = { body { shape = shape.cylinder { radius = 4.5e-3, height = 9e-3,\n"
        "    h = 3e-3 }, at = { 0, 0, 2e-4 }, velocity = { 0, 0, -200 }, material = lead } },\n"
        "  step = { integrator = 'implicit-euler', dt = 5e-7 } }\n");
    ck_assert_int_eq(run_program("run slug.lua -o a --threads 1 --quiet"), 0);
    int last = rows_of("a") - 1;
    const int parts[] = {KINETIC, ELASTIC, HEAT};
    double changed = 0.0, energy[2] = {0.0, 0.0}; /* J after two thirds, and in the end */
    for (int row = 1; row <= last; row++)
        changed += figure("a", row, CHANGED);
    ck_assert_double_gt(changed, 1000.0);
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++)
            energy[i] += figure("a", i ? last : 2 * last / 3, parts[c]);
    ck_assert_double_lt(energy[1], energy[0]);
}
END_TEST

/* Functions of a material see its temperature. */
START_TEST(functions_see_the_temperature)
{
    write_file(
        "soft.lua",
        "return scene { duration = 1, heat = heat { temperature = param('T', 300) },\n"
        "  bodies = { body { shape = shape.box { n = 1 }, material = material { model = 'linear',\n"
        "    young = function(c) return c.temperature > 400 and 1e5 or 1e6 end, poisson = 0,\n"
        "    thermal = thermal { conductivity = 1, capacity = 1 } } } },\n"
        "  holds = { hold { where = select.half_space { point = { 0, 0, 1e-6 }, normal = { 0, 0, "
        "-1 } } } },\n"
        "  loads = { load.traction { where = select.half_space { point = { 0, 0, 1 - 1e-6 }, "
        "normal = { 0, 0, 1 } }, amount = { 0, 0, 100 } } },\n"
        "  step = { integrator = 'static' } }\n");
    ck_assert_int_eq(run_program("run soft.lua -o a --threads 1 --quiet"), 0);
    ck_assert_int_eq(run_program("run soft.lua -o b --set T=500 --threads 1 --quiet"), 0);
    ck_assert_double_eq_tol(figure("b", 1, 15) / figure("a", 1, 15), 10.0, 1e-6);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("heat");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_test(c, what_makes_no_sense_is_refused);
    tcase_add_test(c, a_block_on_a_hot_plate);
    tcase_add_test(c, remeshing_within_the_step_keeps_the_heat);
    tcase_add_test(c, bodies_that_touch_share_their_heat);
    tcase_add_test(c, what_flows_grows_warm);
    tcase_add_test(c, what_is_compressed_grows_warm_by_as_much);
    tcase_add_test(c, repairs_do_not_make_heat_of_compression);
    tcase_add_test(c, functions_see_the_temperature);
    return suite;
}

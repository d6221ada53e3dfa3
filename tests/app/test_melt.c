/* Matter that melts and freezes: what is refused, what is kept, what is forgotten, bits. */
#include "stats.h"

#include <math.h>

enum { TEXT = 1 << 18 };
enum { /* of stats.csv */
       DT = 2,
       TETS = 4,
       QUALITY = 5,
       VOLUME = 6,
       REST_VOLUME = 7,
       MOMENTUM = 8,
       PZ = 10,
       ELASTIC = 15,
       REJECTED = 31,
       FZ = 38,
       CHANGED = 42,
       HEAT = 63,
       HEAT_IN = 64,
       MELTED = 65,
       TURNED = 66
};

static void expect_refused(const char *text, const char *words)
{
    char said[TEXT];
    write_file("bad.lua", text);
    ck_assert_int_eq(run_program("check bad.lua"), 2);
    read_file(".err", said, sizeof said);
    ck_assert_msg(strstr(said, words) != NULL, "'%s' lacks '%s'", said, words);
}

#define MELT                                                                                       \
    "local melt = material { density = 1000, viscosity = 5, liquid = liquid { surface_tension = "  \
    "1 },\n"                                                                                       \
    "  thermal = thermal { conductivity = 200, capacity = 2500 } }\n"
#define WAX(more)                                                                                  \
    "local wax = material { density = 1000, young = 1e5, " more ", thermal = thermal {\n"          \
    "  conductivity = 300, capacity = 2000, latent = 2e4, melting = 330, range = 4 } }\n"
#define BALL(what)                                                                                 \
    "return scene { duration = 1, " what ", bodies = { body { shape = shape.ball {}, material = "  \
    "wax } } }\n"

START_TEST(what_makes_no_sense_is_refused)
{
    expect_refused(MELT WAX("melt = melt") BALL("gravity = { 0, 0, 0 }"), "is of heat");
    expect_refused(WAX("melt = material { young = 1, thermal = thermal { conductivity = 1, "
                       "capacity = 1 } }") BALL("heat = heat {}"),
                   "melt must be a liquid");
    expect_refused(MELT "local wax = material { young = 1, melt = melt, thermal = thermal { "
                        "conductivity = 1, capacity = 1 } }\n" BALL("heat = heat {}"),
                   "melt needs to know when");
    expect_refused(MELT WAX("melt = melt") "melt.melt = wax\n" BALL("heat = heat {}"),
                   "must not lead back to itself");
    expect_refused(
        MELT WAX("melt = melt") "melt.melt = material { young = 1 }\n" BALL("heat = heat {}"),
        "is of solids");
    expect_refused(MELT WAX("melt = melt") "melt.thermal.melting = 300\n" BALL("heat = heat {}"),
                   "those of the solid that melts to it");
}
END_TEST

/* A bar of wax in flight, turning, warmed from outside until all of it is liquid, then cooled until
 * all is solid again. */
static const char flight[] =
    "local melt = material { density = param('melt', 1000), viscosity = 5,\n"
    "  liquid = liquid { surface_tension = 1 },\n"
    "  thermal = thermal { conductivity = 200, capacity = 2500 } }\n"
    "local wax = material { density = 1000, young = 1e5, poisson = 0.3, melt = melt,\n"
    "  thermal = thermal { conductivity = 300, capacity = 2000, latent = 2e4, melting = 330,\n"
    "                      range = 4 } }\n"
    "local hot = param('hot', 0.4)\n"
    "return scene { duration = param('T', 0.9375),\n"
    "  heat = heat { temperature = 320, film = 2500,\n"
    "    integrator = param('scheme', 'implicit-euler'),\n"
    "    air = function(t) return t < hot and 500 or 200 end },\n"
    "  bodies = { body { shape = shape.box { lx = 0.03, ly = 0.01, lz = 0.01, n = 3 },\n"
    "    material = wax, velocity = { 0.1, 0.2, 0.3 }, spin = { 0, 0, 3 } } },\n"
    "  output = { checkpoint = 0.25, frame = 0.25 },\n"
    "  step = { integrator = param('by', 'implicit-euler'), dt = param('dt', 0.0078125) } }\n";

static const char *const ways[] = {"", "--set by=bdf2", "--set dt=0.00390625 --set scheme=sdirk2",
                                   "--set dt=0.015625"};

START_TEST(a_bar_melts_and_freezes)
{
    char command[200];
    write_file("flight.lua", flight);
    snprintf(command, sizeof command, "run flight.lua -o a --threads 1 --audit --quiet %s",
             ways[_i]);
    ck_assert_int_eq(run_program(command), 0);
    int rows = rows_of("a");
    double mass = 1000 * figure("a", 0, REST_VOLUME), in = 0.0, most = 0.0, changed = 0.0;
    double start = mass * 2000 * 320;
    for (int row = 1; row < rows; row++) {
        in += figure("a", row, HEAT_IN);
        most = fmax(most, figure("a", row, MELTED));
        changed += figure("a", row, CHANGED);
        ck_assert_double_eq_tol((figure("a", row, HEAT) - start) / in, 1.0, 1e-9);
        ck_assert_double_eq_tol(figure("a", row, REST_VOLUME) / figure("a", 0, REST_VOLUME), 1.0,
                                1e-12);
        ck_assert_double_eq_tol(figure("a", row, VOLUME) / figure("a", 0, VOLUME), 1.0, 1e-2);
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(figure("a", row, MOMENTUM + k), figure("a", 0, MOMENTUM + k),
                                    1e-10 * mass);
        ck_assert_double_eq(figure("a", row, REJECTED), 0.0);
        ck_assert_double_ge(figure("a", row, QUALITY), 0.1);
    }
    ck_assert_double_eq_tol(most / mass, 1.0, 1e-12);
    ck_assert_double_eq(figure("a", rows - 1, MELTED), 0.0);
    ck_assert_double_gt(changed, 100.0); /* tets meshed anew */
}
END_TEST

START_TEST(melting_has_its_bits)
{
    write_file("flight.lua", flight);
    ck_assert_int_eq(run_program("run flight.lua -o a --threads 1 --quiet"), 0);
    ck_assert_int_eq(run_program("run flight.lua -o b --threads 2 --until 0.25 --quiet"), 0);
    ck_assert_int_eq(run_program("run flight.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS ",62-67");
}
END_TEST

/* A bar that is kept sheared has the stress of that. Once molten it has none, and frozen again none
 * of what was; what its strain was worth has become heat. */
START_TEST(the_past_is_forgotten)
{
    write_file("bar.lua",
               "local melt = material { density = 1000, viscosity = 50, liquid = liquid {},\n"
               "  thermal = thermal { conductivity = 500, capacity = 2000 } }\n"
               "local wax = material { density = 1000, young = 1e5, poisson = 0.3, melt = melt,\n"
               "  thermal = thermal { conductivity = 500, capacity = 2000, melting = 330,\n"
               "                      range = 4 } }\n"
               "local hot = param('hot', 0)\n"
               "return scene { duration = 0.4, remesh = remesh { method = 'none' },\n"
               "  heat = heat { temperature = 320, film = 20000,\n"
               "    air = function(t) return t < hot and 400 or 200 end },\n"
               "  bodies = { body { shape = shape.box { lx = 0.02, ly = 0.01, lz = 0.01, n = 2 },\n"
               "    material = wax,\n"
               "    position = function(u) return { u[1] + 0.05 * u[2], u[2], u[3] } end } },\n"
               "  holds = { hold {} }, step = { integrator = 'implicit-euler', dt = 0.01 } }\n");
    ck_assert_int_eq(run_program("run bar.lua -o a --threads 1 --quiet"), 0);
    ck_assert_int_eq(run_program("run bar.lua -o b --set hot=0.2 --threads 1 --quiet"), 0);
    double kept = figure("a", 40, ELASTIC), melted = 0.0, in = 0.0;
    ck_assert_double_gt(kept, 1e-5);
    ck_assert_double_eq(figure("a", 40, MELTED), 0.0);
    for (int row = 1; row <= 40; row++) {
        melted = fmax(melted, figure("b", row, MELTED));
        in += figure("b", row, HEAT_IN);
    }
    ck_assert_double_eq_tol(melted / (1000 * 0.02 * 0.01 * 0.01), 1.0, 1e-12);
    ck_assert_double_eq(figure("b", 40, MELTED), 0.0);
    ck_assert_double_lt(figure("b", 40, ELASTIC), 1e-12 * kept);
    ck_assert_double_eq_tol((figure("b", 40, HEAT) - 2e-3 * 2000 * 320) / in, 1.0, 1e-9);
}
END_TEST

/* Of what is denser as a liquid the rest volume goes by the densities; mass stays. */
START_TEST(volume_goes_by_density)
{
    write_file("flight.lua", flight);
    ck_assert_int_eq(
        run_program("run flight.lua -o a --set melt=1050 --set T=0.375 --threads 1 --quiet"), 0);
    int rows = rows_of("a"), all = 0;
    double mass = 1000 * figure("a", 0, REST_VOLUME);
    for (int row = 1; row < rows; row++) {
        double melted = figure("a", row, MELTED);
        ck_assert_double_eq_tol(
            figure("a", row, REST_VOLUME) / ((mass - melted) / 1000 + melted / 1050), 1.0, 5e-3);
        if (melted > 0.999999 * mass)
            all = row;
    }
    ck_assert_int_gt(all, 0);
    ck_assert_double_eq_tol(figure("a", all, REST_VOLUME) / (mass / 1050), 1.0, 5e-3);
}
END_TEST

/* A block on a hot plate melts from below, wets the plate and sinks; the mesh follows within steps
 * too, beside heat. */
START_TEST(a_block_sinks_on_a_hot_plate)
{
    write_file(
        "plate.lua",
        "local melt = material { density = 900, viscosity = 10, thermal = thermal {\n"
        "  conductivity = 300, capacity = 2000 }, liquid = liquid { surface_tension = 0.03 "
        "} }\n"
        "local wax = material { density = 900, young = 1e6, melt = melt, thermal = thermal "
        "{\n"
        "  conductivity = 300, capacity = 2000, latent = 2e4, melting = 330, range = 4 } }\n"
        "return scene { duration = 0.5, gravity = { 0, 0, -9.81 },\n"
        "  heat = heat { temperature = 320 }, output = { checkpoint = 0.25, frame = 0.25 },\n"
        "  bodies = { body { shape = shape.box { lx = 0.03, ly = 0.03, lz = 0.03, n = 3 },\n"
        "    material = wax, at = { 0, 0, 1e-6 } } },\n"
        "  obstacles = { obstacle.plane { temperature = 400, conductance = 2e4,\n"
        "    contact_angle = 70 } },\n"
        "  step = { integrator = 'implicit-euler', dt = 0.01 } }\n");
    ck_assert_int_eq(run_program("run plate.lua -o a --threads 1 --audit --quiet"), 0);
    int last = rows_of("a") - 1;
    ck_assert_double_gt(figure("a", last, MELTED), 0.1 * 900 * 2.7e-5);
    ck_assert_double_lt(figure("a", last, MELTED), 0.9 * 900 * 2.7e-5);
    ck_assert_double_eq_tol(figure("a", last, REST_VOLUME) / 2.7e-5, 1.0, 1e-12);
    ck_assert_double_eq_tol(figure("a", last, VOLUME) / 2.7e-5, 1.0, 5e-3);
    ck_assert_double_ge(figure("a", last, QUALITY), 0.2);
    /* Also where tets turn: what the plate does is what momentum becomes, less the weight. */
    double weight = 900 * 2.7e-5 * 9.81, turned = 0.0;
    for (int row = 1; row <= last; row++) {
        double gained = figure("a", row, PZ) - figure("a", row - 1, PZ);
        ck_assert_double_eq_tol(figure("a", row, FZ), gained / figure("a", row, DT) + weight,
                                1e-3 * weight);
        turned += figure("a", row, TURNED);
    }
    ck_assert_double_gt(turned, 0.0);
}
END_TEST

/* Tets that are divided while a step is found: on a plate that is wetted, and with heat before the
 * first step. */
START_TEST(divided_liquid_keeps_contact_and_heat)
{
    write_file("divided.lua",
               "local melt = material { density = 900, viscosity = 20,\n"
               "  liquid = liquid { pressure = 'subdivide', surface_tension = 0.03 },\n"
               "  thermal = thermal { conductivity = 300, capacity = 2000 } }\n"
               "local wax = material { density = 900, young = 1e5, melt = melt,\n"
               "  thermal = thermal { conductivity = 300, capacity = 2000, melting = 330 } }\n"
               "return scene { duration = 0.03, gravity = { 0, 0, -9.81 },\n"
               "  heat = heat { temperature = param('T', 350) }, step = { dt = 0.01 },\n"
               "  bodies = { body { shape = shape.box { lx = 0.02, ly = 0.02, lz = 0.02, n = 2 },\n"
               "    at = { 0, 0, 1e-6 }, material = wax } },\n"
               "  obstacles = { obstacle.plane { contact_angle = 70 } } }\n");
    ck_assert_int_eq(run_program("run divided.lua -o a --threads 1 --quiet"), 0);
    for (int row = 0; row <= 3; row++)
        ck_assert_double_eq_tol(figure("a", row, HEAT) / (900 * 8e-6 * 2000 * 350), 1.0, 1e-9);
}
END_TEST

/* Liquid of a part that is half solid is no droplet. */
START_TEST(half_molten_crumbs_stay)
{
    write_file(
        "crumb.lua",
        "local melt = material { density = 900, viscosity = 50,\n"
        "  liquid = liquid { surface_tension = 0.03 },\n"
        "  thermal = thermal { conductivity = 0.3, capacity = 2200 } }\n"
        "local wax = material { density = 900, young = 1e6, melt = melt,\n"
        "  thermal = thermal { conductivity = 0.3, capacity = 2000, melting = 330 } }\n"
        "return scene { duration = 0.02, step = { dt = 0.01 },\n"
        "  heat = heat { temperature = 300 },\n"
        "  remesh = remesh { pinch = 0.9, droplets = 'remove' },\n"
        "  bodies = { body { shape = shape.box { lx = 0.02, ly = 0.02, lz = 0.02, n = 3 },\n"
        "      material = wax },\n"
        "    body { shape = shape.box { lx = 0.003, ly = 0.006, lz = 0.003, nx = 1, ny = 2,\n"
        "        nz = 1 }, at = { 0.05, 0, 0 }, material = wax,\n"
        "      temperature = function(u) return u[2] < 0.0045 and 360 or 300 end } } }\n");
    ck_assert_int_eq(run_program("run crumb.lua -o a --threads 1 --quiet"), 0);
    ck_assert_double_gt(figure("a", 1, MELTED), 0.0);
    ck_assert_double_eq_tol(figure("a", 2, REST_VOLUME) / (8e-6 + 5.4e-8), 1.0, 1e-9);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("melt");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(c, open_folder, leave_folder);
    tcase_add_test(c, what_makes_no_sense_is_refused);
    tcase_add_test(c, divided_liquid_keeps_contact_and_heat);
    tcase_add_test(c, half_molten_crumbs_stay);
    tcase_add_loop_test(c, a_bar_melts_and_freezes, 0, sizeof ways / sizeof ways[0]);
    tcase_add_test(c, melting_has_its_bits);
    tcase_add_test(c, the_past_is_forgotten);
    tcase_add_test(c, volume_goes_by_density);
    tcase_add_test(c, a_block_sinks_on_a_hot_plate);
    return suite;
}

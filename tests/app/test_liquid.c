/* Liquid in scenes: what is refused, a drop that swings while its mesh changes, and its bits. */
#include "stats.h"

#include <math.h>

enum { TEXT = 1 << 18 };

static const char scene[] =
    "local water = material { density = 997, viscosity = 0,\n"
    "                         liquid = liquid { surface_tension = 70.38e-3 } }\n"
    "return scene { duration = 4e-3, gravity = { 0, 0, 0 }, output = { checkpoint = 1e-3 },\n"
    "  bodies = { body { shape = shape.ball { radius = 2e-3, h = 0.9e-3 }, scale = { 2, 1, 1 },\n"
    "             velocity = { 0.3, 0.1, 0 }, spin = { 0, 20, 0 }, material = water } },\n"
    "  step = { integrator = param('by', 'bdf2'), dt = 2.5e-4 },\n"
    "  remesh = remesh { method = param('method', 'local'), space = 'world', quality = 0.35 } }\n";

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
    expect_refused("--set method=global", "remesh.method");
    write_file("drop.lua", "return scene { duration = 1, bodies = { body { shape = shape.ball { },"
                           "material = material { young = 1, liquid = liquid {} } } } }");
    expect_refused("", "young: is of solids");
    write_file("drop.lua",
               "return scene { duration = 1, bodies = { body { shape = shape.ball { },"
               "material = material { damping_stiffness = 1, liquid = liquid {} } } } }");
    expect_refused("", "damping_stiffness: is of solids");
    write_file("drop.lua", "return scene { duration = 1, bodies = { body { shape = shape.ball { },"
                           "material = material { } } } }");
    expect_refused("", "young: must be given");
}
END_TEST

/* Columns of stats.csv. */
enum {
    TETS = 4,
    QUALITY,
    VOLUME,
    REST_VOLUME,
    PX,
    PY,
    PZ,
    LY = 12,
    KINETIC = 14,
    ELASTIC,
    CONTACTS = 32,
    CHANGED = 42,
    GAP = 44
};

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
    expect_same_ends(STATE_COLUMNS);
}
END_TEST

/* Water in an elastic skin, one mesh, thrown on a floor: it is remeshed and bounces, with the same
 * bits on two threads and after a resume, and the skin pulls it round again. */
START_TEST(water_in_a_skin_bounces)
{
    write_file(
        "balloon.lua",
        "local r, n = 0.05, 4\n"
        "return scene { duration = 0.06, gravity = { 0, 0, -9.81 },\n"
        "  step = { integrator = param('by', 'bdf2'), dt = 2e-3 },\n"
        "  output = { frame = 0.03, checkpoint = 0.03 }, obstacles = { obstacle.plane {} },\n"
        "  bodies = { body { shape = shape.ball { radius = r, h = 1.08 * r / n },\n"
        "    at = { 0, 0, 1.01 * r }, velocity = { 0, 0, -1 },\n"
        "    material = material { density = 1100, young = 5e4, poisson = 0.45 },\n"
        "    regions = { region { where = select.sphere { centre = { 0, 0, 1.01 * r },\n"
        "      radius = r * (n - 1) / n }, material = material { density = 1000,\n"
        "      viscosity = 1e-3, liquid = liquid {} } } } } } }\n");
    ck_assert_int_eq(run_program("run balloon.lua -o a --threads 1 --audit --quiet"), 0);
    ck_assert_int_eq(run_program("run balloon.lua -o b --threads 2 --until 0.03 --quiet"), 0);
    ck_assert_int_eq(run_program("run balloon.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS);
    int last = rows_of("a") - 1;
    double changed = 0.0;
    for (int row = 1; row <= last; row++)
        changed += figure("a", row, CHANGED);
    ck_assert_msg(changed > 0.0, "the mesh has not changed");
    ck_assert_double_eq_tol(figure("a", last, REST_VOLUME) / figure("a", 0, REST_VOLUME), 1.0,
                            1e-12);
    ck_assert_double_gt(figure("a", last, PZ), 0.3 * fabs(figure("a", 0, PZ)));
    ck_assert_int_eq(
        run_program("run balloon.lua --set by=implicit-euler -o c --until 0.03 --quiet"), 0);
}
END_TEST

/* The arms of a C come together: liquid keeps off itself, with the same bits after a resume. */
START_TEST(liquid_keeps_off_itself)
{
    write_file("arms.lua",
               "return scene { duration = 0.5, gravity = { 0, 0, 0 },\n"
               "  step = { integrator = 'bdf2', dt = 0.02 }, output = { checkpoint = 0.2 },\n"
               "  contact = contact { bodies = false, self = true, thickness = 0.05 },\n"
               "  bodies = { body { shape = shape.polygon { depth = 0.5, h = 0.4,\n"
               "      points = '0,0 2,0 2,0.5 0.5,0.5 0.5,1 2,1 2,1.5 0,1.5' },\n"
               "    velocity = function(u) return { 0, u[1] * (0.75 - u[2]), 0 } end,\n"
               "    material = material { density = 1000, viscosity = 20, liquid = liquid {} } } "
               "} }\n");
    ck_assert_int_eq(run_program("run arms.lua -o a --threads 1 --audit --quiet"), 0);
    int last = rows_of("a") - 1;
    double least = INFINITY;
    for (int row = 0; row <= last; row++)
        if (figure("a", row, GAP) != 0.0) /* of pairs that are near, where there are */
            least = fmin(least, figure("a", row, GAP));
    ck_assert_double_gt(least, 0.0);
    ck_assert_double_lt(least, 0.05); /* they have met */
    ck_assert_int_eq(run_program("run arms.lua -o b --threads 2 --until 0.2 --quiet"), 0);
    ck_assert_int_eq(run_program("run arms.lua -o b --threads 2 --resume --quiet"), 0);
    expect_same_ends(STATE_COLUMNS);
}
END_TEST

/* Cells of 1 mm, each of six tets: a slab of 8 by 1 by 2, tag 1, and liquid of 2 by 1 by 2 on it.
 */
static void write_ridge(void)
{
    enum { NX = 8, NZ = 4, ROW = NX + 1, LAYER = 2 * ROW };
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                    {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    static const int step[3] = {1, ROW, LAYER};
    static char text[TEXT];
    int number[(NZ + 1) * LAYER] = {0}, points = 0, tets = 0;
    for (int pass = 0; pass < 2; pass++) {
        char *at = text;
        at += sprintf(at, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", points);
        for (int i = 0; i < (NZ + 1) * LAYER && pass; i++)
            if (number[i])
                at += sprintf(at, "%g %g %g 0\n", 1e-3 * (i % ROW), 1e-3 * (i / ROW % 2),
                              1e-3 * (i / LAYER));
        at += sprintf(at, "Tetrahedra\n%d\n", tets);
        for (int cell = 0; cell < NX * NZ; cell++) {
            int x = cell % NX, z = cell / NX, corner = x + LAYER * z;
            for (int o = 0; o < 6 && (z < 2 || x == 3 || x == 4); o++) {
                int v[4] = {corner};
                for (int k = 0; k < 3; k++)
                    v[k + 1] = v[k] + step[order[o][k]];
                for (int k = 0; k < 4 && !pass; k++)
                    if (!number[v[k]])
                        number[v[k]] = 1, points++;
                tets += !pass;
                if (pass) /* the last three orders are odd */
                    at += sprintf(at, "%d %d %d %d %d\n", number[v[0]], number[v[o < 3 ? 1 : 2]],
                                  number[v[o < 3 ? 2 : 1]], number[v[3]], z < 2 ? 1 : 2);
            }
        }
        for (int i = 0, n = 0; i < (NZ + 1) * LAYER && !pass; i++)
            number[i] = number[i] ? ++n : 0;
    }
    strcat(text, "End\n");
    write_file("ridge.mesh", text);
}

static double highest(const char *file)
{
    char command[200], text[TEXT];
    double at[3];
    snprintf(command, sizeof command, "mesh info %s", file);
    ck_assert_int_eq(run_program(command), 0);
    read_file(".out", text, sizeof text);
    ck_assert_int_eq(sscanf(strstr(text, "highest corner"), "highest corner %lf %lf %lf", &at[0],
                            &at[1], &at[2]),
                     3);
    return at[2];
}

/* Liquid on a slab of the same mesh: where the slab says at which angle it meets it, its line
 * slides and it spreads; where not, the line stays. */
START_TEST(liquid_wets_a_solid_of_its_mesh)
{
    write_ridge();
    write_file(
        "ridge.lua",
        "local n, angle = 1e-9, param('angle', 60)\n"
        "return scene { duration = 0.06, gravity = { 0, 0, 0 }, output = { frame = 0.06 },\n"
        "  step = { integrator = 'implicit-euler', dt = 2e-3 },\n"
        "  bodies = { body { shape = shape.file { path = 'ridge.mesh' },\n"
        "    material = material { density = 1000, young = 1e5,\n"
        "      contact_angle = angle > 0 and angle or nil },\n"
        "    regions = { region { tag = 2, material = material { density = 1000,\n"
        "      viscosity = 0.05, liquid = liquid { surface_tension = 0.07 } } } } } },\n"
        "  holds = { hold { where = select.half_space { point = { 0, n, 0 }, normal = { 0, -1, 0 } "
        "},\n"
        "      components = 'y' }, hold { where = select.half_space { point = { 0, 1e-3 - n, 0 },\n"
        "      normal = { 0, 1, 0 } }, components = 'y' },\n"
        "    hold { where = select.half_space { point = { 0, 0, n }, normal = { 0, 0, -1 } } } } "
        "}\n");
    ck_assert_int_eq(run_program("run ridge.lua -o wet --threads 1 --audit --quiet"), 0);
    ck_assert_int_eq(run_program("run ridge.lua --set angle=0 -o pinned --quiet"), 0);
    double wet = highest("wet/frames/frame-000001.vtu") - 2e-3;
    double pinned = highest("pinned/frames/frame-000001.vtu") - 2e-3;
    ck_assert_double_lt(wet, 0.85 * pinned);
    ck_assert_double_eq_tol(figure("wet", 30, REST_VOLUME) / figure("wet", 0, REST_VOLUME), 1.0,
                            1e-12);
    ck_assert_int_eq(run_program("run ridge.lua -o two --threads 2 --quiet"), 0);
    ck_assert_int_eq(run_shell("for r in wet two; do cut -d, -f1-19 $r/stats.csv | tail -1 "
                               ">$r.row; done; cmp wet.row two.row"),
                     0);
}
END_TEST

/* With each rule of pressure a wave in a tank one cell wide, where all vertices are on the
 * surface, keeps volume and energy while its mesh changes, and a drop its momentum; tets that
 * were divided are whole again. The same bits on two threads and resumed. */
START_TEST(rules_of_pressure)
{
    static const char *const rules[] = {"subdivide", "mini"};
    write_file(
        "tank.lua",
        "local function wall(point, normal, along) return hold { where = select.half_space {\n"
        "  point = point, normal = normal }, components = along } end\n"
        "return scene { duration = 0.2, gravity = { 0, 0, -9.81 }, output = { frame = 0.1,\n"
        "  checkpoint = 0.1 },\n"
        "  bodies = { body { shape = shape.box { lx = 1, ly = 0.25, lz = 0.5, nx = 4, ny = 1,\n"
        "    nz = 2 }, velocity = function(u) return { -math.sin(math.pi * u[1]), 0, 0 } end,\n"
        "    material = material { density = 1000, viscosity = 1e-3,\n"
        "    liquid = liquid { pressure = param('rule', 'stabilised') } } } },\n"
        "  holds = { wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, 'x'),\n"
        "    wall({ 1 - 1e-6, 0, 0 }, { 1, 0, 0 }, 'x'), wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, "
        "'y'),\n"
        "    wall({ 0, 0.25 - 1e-6, 0 }, { 0, 1, 0 }, 'y'),\n"
        "    wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, 'z') },\n"
        "  step = { integrator = 'bdf2', dt = 0.01 } }\n");
    write_file("drop.lua", scene);
    ck_assert_int_eq(
        run_shell("sed -i \"s/70.38e-3 }/70.38e-3, pressure = param('rule', 'mini') }/\" "
                  "drop.lua"),
        0);
    for (int i = 0; i < 2; i++) {
        char command[200];
        snprintf(command, sizeof command,
                 "run tank.lua -o a --set rule=%s --threads 1 --quiet --force", rules[i]);
        ck_assert_int_eq(run_program(command), 0);
        int last = rows_of("a") - 1;
        ck_assert_double_eq_tol(figure("a", last, VOLUME) / 0.125, 1.0, 2e-3);
        ck_assert_double_eq_tol(figure("a", last, REST_VOLUME), 0.125, 1e-13);
        ck_assert_double_eq(figure("a", 1, TETS), 48.0);
        snprintf(command, sizeof command,
                 "run tank.lua -o b --set rule=%s --threads 2 --until 0.1 --quiet --force",
                 rules[i]);
        ck_assert_int_eq(run_program(command), 0);
        ck_assert_int_eq(run_program("run tank.lua -o b --threads 2 --resume --quiet"), 0);
        expect_same_ends(STATE_COLUMNS);
        snprintf(command, sizeof command,
                 "run drop.lua -o c --set rule=%s --threads 1 --quiet --force", rules[i]);
        ck_assert_int_eq(run_program(command), 0);
        last = rows_of("c") - 1;
        double P = hypot(figure("c", 0, PX), figure("c", 0, PY));
        ck_assert_double_eq_tol(figure("c", last, PX), figure("c", 0, PX), 1e-9 * P);
        ck_assert_double_eq_tol(figure("c", last, PY), figure("c", 0, PY), 1e-9 * P);
        /* Where bubbles went is forgotten, and with it the moment of what they carried. */
        double least = i == 0 ? 1e-6 : 1e-3;
        ck_assert_double_eq_tol(figure("c", last, LY) / figure("c", 0, LY), 1.0, least);
    }
}
END_TEST

/* Level water between walls along which it slides, with gravity and surface tension: the walls
 * have none, and its weight is that of the space it fills, so nothing moves for as long as one
 * likes. */
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

/* A whirl in a closed tank that viscosity stops, remeshed on its way: tets that came out of it
 * with more or less mass than their room has do not sink or rise among the others. */
START_TEST(what_was_stirred_comes_to_rest)
{
    write_file(
        "whirl.lua",
        "local function wall(p, n, c) return hold { where = select.half_space { point = p,\n"
        "  normal = n }, components = c } end\n"
        "return scene { duration = 4, gravity = { 0, 0, -9.81 },\n"
        "  bodies = { body { shape = shape.box { ly = 0.25, nx = 4, ny = 1, nz = 4,\n"
        "    pattern = 'mirrored' }, material = material { density = 1000, viscosity = 100,\n"
        "    liquid = liquid {} }, velocity = function(u) local x, z = math.pi * u[1], math.pi "
        "* "
        "u[3]\n"
        "    return { 3 * math.sin(x) * math.cos(z), 0, -3 * math.cos(x) * math.sin(z) } end } "
        "},\n"
        "  holds = { wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, 'x'), wall({ 1 - 1e-6, 0, 0 },\n"
        "    { 1, 0, 0 }, 'x'), wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, 'y'),\n"
        "    wall({ 0, 0.25 - 1e-6, 0 }, { 0, 1, 0 }, 'y'), wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, "
        "'z'),\n"
        "    wall({ 0, 0, 1 - 1e-6 }, { 0, 0, 1 }, 'z') },\n"
        "  step = { integrator = 'bdf2', dt = 0.02 } }\n");
    ck_assert_int_eq(run_program("run whirl.lua -o whirl --threads 1 --quiet"), 0);
    ck_assert_double_gt(figure("whirl", 0, KINETIC), 400);
    ck_assert_double_le(figure("whirl", rows_of("whirl") - 1, KINETIC), 1e-5);
}
END_TEST

/* A short cylinder of liquid on a plate becomes the cap of a ball whose energy is 3 tension V /
 * R; from a plate that it does not wet it lifts off. Turned by some angle, so that no axis is
 * special; the same bits on two threads and resumed. */
START_TEST(a_drop_meets_a_plate_at_its_angle)
{
    static const double angles[] = {60, 120};
    write_file(
        "cap.lua",
        "local n = { 0.48, -0.6, 0.64 }\n"
        "return scene { duration = 0.06, output = { checkpoint = 0.02 },\n"
        "  bodies = { body { shape = shape.cylinder { radius = 1e-3, height = 1e-3,\n"
        "    h = 0.34e-3 }, turn = { axis = { 0.6, 0.48, 0 },\n"
        "    degrees = math.deg(math.acos(0.64)) }, material = material {\n"
        "    density = 997, viscosity = 0.05, liquid = liquid { surface_tension = 0.07 } } } "
        "},\n"
        "  obstacles = { obstacle.plane { normal = n, contact_angle = param('angle', 90) } },\n"
        "  step = { integrator = 'bdf2', dt = 5e-4 },\n"
        "  remesh = remesh { method = 'local', space = 'world' } }\n");
    for (int i = 0; i < 2; i++) {
        char command[200];
        snprintf(command, sizeof command, "run cap.lua -o cap%d --set angle=%g --threads 1 --quiet",
                 i, angles[i]);
        ck_assert_int_eq(run_program(command), 0);
        char run[32];
        snprintf(run, sizeof run, "cap%d", i);
        int last = rows_of(run) - 1;
        double c = cos(angles[i] * 3.14159265358979 / 180), V = figure(run, last, VOLUME);
        double R = cbrt(3 * V / (3.14159265358979 * (1 - c) * (1 - c) * (2 + c)));
        double energy = figure(run, last, ELASTIC) / (3 * 0.07 * V / R);
        ck_assert_msg(energy > 0.995 && energy < 1.02, "%g degrees: %g of the cap's energy",
                      angles[i], energy);
        ck_assert_double_gt(figure(run, last, CONTACTS), 20);
    }
    ck_assert_int_eq(run_program("run cap.lua -o off --set angle=180 --threads 1 --quiet"), 0);
    ck_assert_double_eq(figure("off", rows_of("off") - 1, CONTACTS), 0.0);
    ck_assert_int_eq(
        run_program("run cap.lua -o two --set angle=60 --threads 2 --until 0.04 --quiet"), 0);
    ck_assert_int_eq(run_program("run cap.lua -o two --set angle=60 --threads 2 --resume --quiet"),
                     0);
    ck_assert_int_eq(run_shell("for r in cap0 two; do cut -d, -f1-19 $r/stats.csv | tail -1 "
                               ">$r.row; done; cmp cap0.row two.row"),
                     0);
}
END_TEST

/* A ball comes down on a plate, spreads, and is at rest: nothing but what lies on the plate is
 * drawn to it, whatever remeshing makes beside its line. */
START_TEST(a_drop_that_falls_spreads)
{
    write_file("ball.lua",
               "return scene { duration = 0.03, gravity = { 0, 0, -9.81 },\n"
               "  bodies = { body { shape = shape.ball { radius = 1e-3, h = 0.5e-3 },\n"
               "    at = { 0, 0, 1.01e-3 }, material = material { density = 997, viscosity = "
               "0.05,\n"
               "    liquid = liquid { surface_tension = 0.07 } } } },\n"
               "  obstacles = { obstacle.plane { contact_angle = 60 } },\n"
               "  step = { integrator = 'bdf2', dt = 4e-4 } }\n");
    ck_assert_int_eq(run_program("run ball.lua -o ball --threads 1 --quiet"), 0);
    int last = rows_of("ball") - 1;
    double V = figure("ball", last, VOLUME), R = cbrt(3 * V / (3.14159265358979 * 0.25 * 2.5));
    double energy = figure("ball", last, ELASTIC) / (3 * 0.07 * V / R);
    ck_assert_msg(energy > 0.99 && energy < 1.05, "%g of the cap's energy", energy);
    ck_assert_double_lt(figure("ball", last, KINETIC), 1e-9);
}
END_TEST

/* A drop whose upper half has half the density begins to wet a plate. Velocities at the begin
 * of a step do not know how far tension will pull it: in steps that went by that alone cells at
 * the plate were crushed, and Newton failed after 0.85 ms. Nothing within what is wet comes
 * off, so that surface energy does not rise by its faces. */
START_TEST(two_densities_wet_a_plate)
{
    write_file("two.lua",
               "local r = 1.2e-3\n"
               "return scene { duration = 1.2e-3, gravity = { 0, 0, -9.81 },\n"
               "  bodies = { body { shape = shape.ball { radius = r, h = 0.35e-3 }, at = { 0, 0, r "
               "},\n"
               "    material = material { viscosity = 0.002, density = function(c)\n"
               "      return (c.u and c.u[3] or c.x[3]) > r and 498.5 or 997 end,\n"
               "      liquid = liquid { surface_tension = 70.38e-3 } } } },\n"
               "  obstacles = { obstacle.plane { contact_angle = 49 } },\n"
               "  step = { integrator = 'bdf2', dt = 2e-4 } }\n");
    ck_assert_int_eq(run_program("run two.lua -o two --threads 1 --quiet"), 0);
    double most = 0.0;
    for (int row = 2; row < rows_of("two"); row++) {
        ck_assert_double_gt(figure("two", row, QUALITY), 0.15);
        double rise = figure("two", row, ELASTIC) - figure("two", row - 1, ELASTIC);
        most = fmax(most, rise / figure("two", 1, ELASTIC));
    }
    ck_assert_msg(most < 5e-3, "surface energy rises by %g of it in a step", most);
    int last = rows_of("two") - 1; /* as far as it is wet; vertices there are 40 to 51 */
    ck_assert_double_lt(figure("two", last, ELASTIC), 0.89 * figure("two", 1, ELASTIC));
    ck_assert_double_gt(figure("two", last, CONTACTS), 30);
}
END_TEST

/* A soft block falls into a tank: surfaces push each other and never cross, by exact signs.
 * Without that its momentum would be that of its weight. */
START_TEST(liquid_bears_a_block)
{
    write_file(
        "float.lua",
        "local function wall(p, n, c) return hold { where = select.half_space { point = p,\n"
        "  normal = n }, components = c, body = 'pool' } end\n"
        "return scene { duration = 0.3, gravity = { 0, 0, -9.81 },\n"
        "  contact = contact { bodies = true, self = false, thickness = 0.01 },\n"
        "  bodies = { body { name = 'pool', shape = shape.box { lz = 0.5, nx = 6, ny = 6, nz = "
        "3,\n"
        "      pattern = 'mirrored' }, material = material { density = 1000, viscosity = 5,\n"
        "      liquid = liquid {} } },\n"
        "    body { shape = shape.box { lx = 0.4, ly = 0.4, lz = 0.3, n = 2 }, at = { 0.3, "
        "0.3, "
        "0.52 },\n"
        "      material = material { density = 500, young = 1e5, poisson = 0.3 } } },\n"
        "  holds = { wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, 'x'), wall({ 1 - 1e-6, 0, 0 },\n"
        "    { 1, 0, 0 }, 'x'), wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, 'y'),\n"
        "    wall({ 0, 1 - 1e-6, 0 }, { 0, 1, 0 }, 'y'), wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, "
        "'z') },\n"
        "  step = { integrator = 'bdf2', dt = 0.01 } }\n");
    ck_assert_int_eq(run_program("run float.lua -o float --threads 1 --audit --quiet"), 0);
    int last = rows_of("float") - 1;
    ck_assert_double_eq_tol(figure("float", last, VOLUME) / figure("float", 0, VOLUME), 1.0, 2e-3);
    ck_assert_double_lt(fabs(figure("float", last, PY + 1)), 0.5 * 500 * 0.048 * 9.81 * 0.3);
    ck_assert_int_eq(run_program("run float.lua -o two --threads 2 --until 0.2 --quiet"), 0);
    ck_assert_int_eq(run_shell("for r in float two; do cut -d, -f1-19 $r/stats.csv | sed -n 20p "
                               ">$r.row; done; cmp float.row two.row"),
                     0);
}
END_TEST

/* Two drops meet aside and bounce: what one loses the other has, and they turn as they did.
 * Surfaces never cross, by exact signs; the same bits on two threads and resumed. */
START_TEST(drops_that_meet_bounce)
{
    write_file("meet.lua",
               "local water = material { density = 997, viscosity = 1e-3,\n"
               "  liquid = liquid { surface_tension = 0.07 } }\n"
               "local function drop(x, z, v) return body { shape = shape.ball { radius = 1e-3,\n"
               "  h = 0.5e-3 }, at = { x, 0, z }, velocity = { v, 0, 0 }, material = water } end\n"
               "return scene { duration = 0.012, output = { frame = 4e-3, checkpoint = 4e-3 },\n"
               "  contact = contact {}, bodies = { drop(-1.1e-3, 0.2e-3, 0.2),\n"
               "    drop(1.1e-3, -0.2e-3, -0.2) }, step = { integrator = 'bdf2', dt = 2e-4 } }\n");
    ck_assert_int_eq(run_program("run meet.lua -o meet --threads 1 --audit --quiet"), 0);
    int last = rows_of("meet") - 1;
    double one = 997 * 4.19e-9 * 0.2, least = INFINITY;
    ck_assert_double_lt(fabs(figure("meet", last, PX)), 1e-9 * one);
    ck_assert_double_eq_tol(figure("meet", last, LY) / figure("meet", 0, LY), 1.0, 1e-6);
    ck_assert_double_eq_tol(figure("meet", last, VOLUME) / figure("meet", 0, VOLUME), 1.0, 2e-3);
    for (int row = 0; row <= last; row++)
        least = fmin(least, figure("meet", row, KINETIC));
    ck_assert_double_lt(least, 0.5 * figure("meet", 0, KINETIC)); /* they stop, and fly apart: */
    ck_assert_int_eq(run_shell("awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ "
                               "/centre.x$/ && !c) c = i } NR > 1 { if (NR == 2 || $c > m) m = $c; "
                               "x = $c } END { exit !(x < m - 2e-4) }' meet/probes.csv"),
                     0);
    ck_assert_int_eq(run_program("run meet.lua -o two --threads 2 --until 8e-3 --quiet"), 0);
    ck_assert_int_eq(run_program("run meet.lua -o two --threads 2 --resume --quiet"), 0);
    ck_assert_int_eq(run_shell("for r in meet two; do cut -d, -f1-19 $r/stats.csv | tail -1 "
                               ">$r.row; done; cmp meet.row two.row"),
                     0);
}
END_TEST

/* A stiff slab of honey under gravity at a slant: what drag lets it go at, and what sticks. */
START_TEST(plates_drag_and_hold)
{
    write_file("slab.lua",
               "return scene { duration = 2e-3, gravity = { 1, 0, -10 },\n"
               "  bodies = { body { shape = shape.box { lx = 16e-3, ly = 16e-3, lz = 1e-3, nx = "
               "param('n', 8), ny = param('n', 8),\n"
               "    nz = 2 }, material = material { density = 1000, viscosity = param('viscosity', "
               "1000),\n"
               "    liquid = liquid {} } } },\n"
               "  obstacles = { obstacle.plane { contact_angle = 90, drag = param('drag', 0),\n"
               "    no_slip = param('stick', 0) == 1 } },\n"
               "  remesh = \"none\",\n"
               "  step = { integrator = 'implicit-euler', dt = 1e-4 } }\n");
    double mass = 1000 * 16e-3 * 16e-3 * 1e-3;
    ck_assert_int_eq(run_program("run slab.lua -o free --threads 1 --quiet"), 0);
    ck_assert_double_eq_tol(figure("free", 20, PX) / (mass * 2e-3), 1.0, 1e-6);
    ck_assert_int_eq(run_program("run slab.lua -o drag --set drag=1e4 --threads 1 --quiet"), 0);
    ck_assert_double_eq_tol(figure("drag", 20, PX) / (mass * 1e-4), 1.0, 0.01);
    ck_assert_int_eq(run_program("run slab.lua -o stick --set stick=1 --set n=16 --set "
                                 "viscosity=10 --threads 1 --quiet"),
                     0);
    double film = mass * 1000 * 1.0 * 1e-6 / (3 * 10); /* density g H^2 / 3 viscosity */
    ck_assert_msg(figure("stick", 20, PX) < 1.3 * film && figure("stick", 20, PX) > 0.9 * film,
                  "%g of a film's", figure("stick", 20, PX) / film);
}
END_TEST

/* A wave that is high for its tank, of a scene that says nothing about remeshing: it is
 * remeshed, and what is at a wall stays there to the bit. */
START_TEST(walls_stay_flat_while_the_mesh_changes)
{
    char text[TEXT];
    write_file(
        "wave.lua",
        "local function wall(p, n, c) return hold { where = select.half_space { point = p,\n"
        "  normal = n }, components = c } end\n"
        "return scene { duration = 0.7, gravity = { 0, 0, -9.81 }, output = { frame = 0.7 },\n"
        "  bodies = { body { shape = shape.box { lx = 1, ly = 0.5, lz = 0.5, nx = 6, ny = 3,\n"
        "    nz = 3, pattern = 'mirrored' }, material = material { density = 1000,\n"
        "    viscosity = 0, liquid = liquid {} }, velocity = function(u) return {\n"
        "    -0.3 * math.sin(3.1416 * u[1]) * math.exp(2 * u[3]), 0,\n"
        "    0.3 * math.cos(3.1416 * u[1]) * math.exp(2 * u[3]) } end } },\n"
        "  holds = { wall({ 1e-6, 0, 0 }, { -1, 0, 0 }, 'x'), wall({ 1 - 1e-6, 0, 0 },\n"
        "    { 1, 0, 0 }, 'x'), wall({ 0, 1e-6, 0 }, { 0, -1, 0 }, 'y'),\n"
        "    wall({ 0, 0.5 - 1e-6, 0 }, { 0, 1, 0 }, 'y'), wall({ 0, 0, 1e-6 }, { 0, 0, -1 }, "
        "'z') },\n"
        "  step = { integrator = 'bdf2', dt = 0.01 } }\n");
    ck_assert_int_eq(run_program("run wave.lua -o wave --threads 1 --quiet"), 0);
    double changed = 0.0;
    for (int row = 1; row <= 70; row++)
        changed += figure("wave", row, CHANGED);
    ck_assert_msg(changed > 0.0, "the mesh has not changed");
    ck_assert_double_eq_tol(figure("wave", 70, VOLUME), 0.25, 5e-4);
    ck_assert_int_eq(run_program("mesh info wave/frames/frame-000001.vtu"), 0);
    read_file(".out", text, sizeof text);
    double low[3], high[2];
    const char *at = strstr(text, "lowest corner");
    ck_assert_int_eq(sscanf(at, "lowest corner %lf %lf %lf", &low[0], &low[1], &low[2]), 3);
    at = strstr(text, "highest corner");
    ck_assert_int_eq(sscanf(at, "highest corner %lf %lf", &high[0], &high[1]), 2);
    ck_assert(low[0] == 0.0 && low[1] == 0.0 && low[2] == 0.0 && high[0] == 1.0 && high[1] == 0.5);
}
END_TEST

/* A duct with particles: the same bits with two threads and after a resume, particles too;
 * shown, and refused where there are none. */
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
        "  tracers = param('seen', 'yes') == 'yes' and tracers { count = 50, rate = 20 } or "
        "nil,\n"
        "  through = through { inlets = { { where = select.patch { tag = 1 }, velocity = V } "
        "},\n"
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
    tcase_add_test(c, water_in_a_skin_bounces);
    tcase_add_test(c, liquid_keeps_off_itself);
    tcase_add_test(c, liquid_wets_a_solid_of_its_mesh);
    tcase_add_test(c, rules_of_pressure);
    tcase_add_test(c, two_densities_wet_a_plate);
    tcase_add_test(c, water_at_rest_stays_at_rest);
    tcase_add_test(c, a_drop_meets_a_plate_at_its_angle);
    tcase_add_test(c, what_was_stirred_comes_to_rest);
    tcase_add_test(c, a_drop_that_falls_spreads);
    tcase_add_test(c, drops_that_meet_bounce);
    tcase_add_test(c, plates_drag_and_hold);
    tcase_add_test(c, liquid_bears_a_block);
    tcase_add_test(c, walls_stay_flat_while_the_mesh_changes);
    tcase_add_test(c, what_flows_through_can_be_seen);
    return suite;
}

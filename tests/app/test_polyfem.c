/* kiln run scene.json: the scenes of the ITR paper, the same bits as scenes in Lua, and resuming.
 */
#include "program.h"

static char out[1 << 16], err[1 << 16];

/* Exit code of a shell command in which $K is the program and $D the data. */
static int shell(const char *command)
{
    char line[4096];
    snprintf(line, sizeof line, "K='%s'; D='%s/itr'; { %s ; } >.out 2>.err", KILN_PROGRAM,
             KILN_SHARED_DATA, command);
    int code = run_shell(line);
    read_file(".out", out, sizeof out);
    read_file(".err", err, sizeof err);
    ck_assert_msg(!strstr(err, "Sanitizer"), "%s: %s", command, err);
    return code;
}

static void expect(int code, const char *command, const char *words)
{
    int found = shell(command);
    ck_assert_msg(found == code, "%s: exit %d, not %d: %s%s", command, found, code, out, err);
    ck_assert_msg(strstr(out, words) || strstr(err, words), "%s: '%s%s' lacks '%s'", command, out,
                  err, words);
}

static bool has_data(void)
{
    char path[4096];
    return kiln_test_data("itr/scenes/common.json", path, sizeof path) != NULL;
}

static const struct {
    const char *scene, *until, *words;
} scenes[] = {
    {"twisting-beam_twisting-beam", "0.02", "18 vertices of all bodies, xyz, follow"},
    {"ball-wall_3D", "4e-5", "obstacle1        plane"},
    {"masticator_3D", "0.1", "obstacle7        mesh, friction 0.1, translate"},
    {"rollers_monkey-soft-hard", "0.01", "176 vertices of all bodies, xyz, follow"},
    {"spikes3d_drop-ball", "0.01", "900 vertices of all bodies, xyz, still"},
};

START_TEST(scenes_of_the_paper_run)
{
    char command[400];
    if (!has_data())
        return;
    snprintf(command, sizeof command, "$K check $D/scenes/%s.json", scenes[_i].scene);
    expect(0, command, scenes[_i].words);
    expect(0, command, "energy in material space");
    snprintf(command, sizeof command, "$K run $D/scenes/%s.json -o r --until %s%s",
             scenes[_i].scene, scenes[_i].until, _i == 2 ? "" : " --set remesh.method=none");
    expect(0, command, "done at");
}
END_TEST

/* Those that are parts of others, or whose meshes are not there, say what is missing. */
static const struct {
    const char *scene, *words;
} parts[] = {
    {"common", "common.json:1: column 1: materials must be given"},
    {"ball-wall_common", "geometry must have a mesh that is no obstacle"},
    {"rollers_common", "geometry/0/mesh: there is no file PATH_OBJ"},
    {"cantilever_cantilever", "geometry/0/mesh: there is no file ../../meshes/cantilever.obj"},
    {"shake-rod_shake-rod-y", "geometry/0/mesh: there is no file"},
};

START_TEST(parts_of_scenes_say_what_is_missing)
{
    char command[400];
    if (!has_data())
        return;
    snprintf(command, sizeof command, "$K run $D/scenes/%s.json -o r", parts[_i].scene);
    expect(2, command, parts[_i].words);
}
END_TEST

/* Written by hand, not by the translation. */
static const char bar[] =
    "local function side(id, x, y, z)\n"
    "    local n = {x, y, z}\n"
    "    return patch { tag = id, where = select.half_space { normal = n,\n"
    "        point = {0.499 * x, 2.999 * y, 0.499 * z} } }\n"
    "end\n"
    "local function turn(t, u)\n"
    "    local a = -2 * math.pi * t\n"
    "    return u.x + (u.x * math.cos(a) - u.x + u.z * math.sin(a)), u.y,\n"
    "           u.z + (-u.x * math.sin(a) + u.z * math.cos(a) - u.z)\n"
    "end\n"
    "return scene { name = 'bar', duration = 3, step = { dt = 0.01, mass = 'consistent',\n"
    "        newton = { tolerance = 1e-5, length = 1 } },\n"
    "    contact = contact { thickness = 1e-3, stiffness = 0.8 },\n"
    "    output = { frame = 0.01 },\n"
    "    bodies = { body { shape = shape.file { path = 'beam.msh' }, material = material {\n"
    "        model = 'neo-hookean', young = 1e7, poisson = 0.4, density = 1000,\n"
    "        nodal_pressure = 'off' },\n"
    "        patches = { patch { tag = 2147483647 }, side(6, 0, 0, 1), side(5, 0, 0, -1),\n"
    "            side(4, 0, 1, 0), side(3, 1, 0, 0), side(2, 0, -1, 0), side(1, -1, 0, 0) } } },\n"
    "    holds = { hold { where = select.patch { tag = 4 }, motion = motion.follow {\n"
    "        place = turn } }, hold { where = select.patch { tag = 2 } } } }\n";
static const char ball[] =
    "return scene { name = 'ball', duration = 0.012, step = { dt = 2e-5, mass = 'consistent',\n"
    "        newton = { tolerance = 1e-3 * 2e-5, length = 1 } },\n"
    "    contact = contact { thickness = 6.92820323e-5, stiffness = 0.8 },\n"
    "    output = { frame = 2e-5 },\n"
    "    bodies = { body { shape = shape.file { path = 'sphere1K.msh' }, scale = 0.04,\n"
    "        velocity = {67, 0, 0}, material = material { model = 'neo-hookean', young = 1e6,\n"
    "            poisson = 0.45, density = 1150, nodal_pressure = 'off' } } },\n"
    "    obstacles = { obstacle.plane { point = {0.105, 0, 0}, normal = {-1, 0, 0} } } }\n";

/* Frames hold all of the state that the scenes ask for. */
static void compare_frames(void)
{
    expect(0,
           "n=0; for f in lua.run/frames/*.vtu; do cmp $f json.run/frames/${f##*/} && n=$((n+1)) "
           "|| exit 1; done; test $n -gt 3 && echo the same",
           "the same");
}

START_TEST(a_bar_has_the_bits_of_its_lua)
{
    if (!has_data())
        return;
    write_file("bar.lua", bar);
    expect(0, "cp $D/beam.msh . && $K run bar.lua -o lua.run --until 0.06", "done at");
    expect(0,
           "$K run $D/scenes/twisting-beam_twisting-beam.json -o json.run --until 0.06 "
           "--set name=bar --set remesh.method=none",
           "done at");
    compare_frames();
}
END_TEST

/* It is at the wall from 1.27 ms on. */
START_TEST(a_ball_has_the_bits_of_its_lua)
{
    if (!has_data())
        return;
    write_file("ball.lua", ball);
    expect(0,
           "cp $D/sphere1K.msh . && $K run ball.lua -o lua.run --until 1.4e-3 --set "
           "output.frame=2e-4 --set step.dt=5e-5",
           "done at");
    expect(0,
           "$K run $D/scenes/ball-wall_3D.json -o json.run --until 1.4e-3 --set name=ball "
           "--set output.frame=2e-4 --set step.dt=5e-5 --set remesh.method=none",
           "done at");
    compare_frames();
}
END_TEST

/* What is written for the user is the scene that runs. */
START_TEST(the_lua_that_is_written_has_the_same_bits)
{
    if (!has_data())
        return;
    expect(0,
           "mkdir a && cp $D/beam.msh $D/cube.msh . && cp $D/scenes/*.json a && cd a && "
           "$K check masticator_3D.json --lua m.lua",
           "without faults");
    expect(0, "cd a && $K run m.lua -o ../lua.run --until 0.2 --set name=m", "done at");
    expect(0, "cd a && $K run masticator_3D.json -o ../json.run --until 0.2 --set name=m",
           "done at");
    compare_frames();
}
END_TEST

static const char cube[] =
    "MeshVersionFormatted 2\nDimension 3\nVertices 8\n"
    "0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 0\n0 0 1 0\n1 0 1 0\n0 1 1 0\n1 1 1 0\n"
    "Tetrahedra 6\n1 2 4 8 1\n1 4 3 8 1\n1 3 7 8 1\n1 7 5 8 2\n1 5 6 8 2\n1 6 2 8 2\nEnd\n";
static const char whole[] =
    "{\"common\": \"base.json\", \"boundary_conditions\": {\"rhs\": [0, \"9.81*cos(t)\", 0], "
    "\"dirichlet_boundary\": {\"id\": 2, \"value\": [\"0.1*x*t\", 0, 0]}}}";
static const char base[] =
    "{\"geometry\": {\"mesh\": \"cube.mesh\", \"n_refs\": 1, \"surface_selection\": "
    "{\"threshold\": 0.01}}, \"materials\": {\"type\": \"NeoHookean\", \"E\": 1e4, \"nu\": 0.3, "
    "\"rho\": 1000}, \"time\": {\"tend\": 0.2, \"dt\": 0.02}}";

static void write_scene(void)
{
    write_file("cube.mesh", cube);
    write_file("base.json", base);
    write_file("s.json", whole);
}

/* To the same bits, without the files it includes, and without a word about changes. */
START_TEST(runs_go_on)
{
    write_scene();
    expect(0, "$K run s.json -o json.run --set output.checkpoint=0.02", "done at 0.2 s");
    expect(0, "$K run s.json -o lua.run --until 0.1 --set output.checkpoint=0.02", "done at 0.1 s");
    expect(0, "$K run s.json -o lua.run --resume", "done at 0.2 s");
    ck_assert_msg(!strstr(err, "changed"), "%s", err);
    compare_frames();
    expect(0, "$K run s.json -o b.run --until 0.1", "done at 0.1 s");
    write_file("base.json", "{}");
    expect(0, "$K run s.json -o b.run --resume", "the scene's file has changed since");
    expect(2, "$K run s.json -o b.run --resume --changed --until 0.3", "materials must be given");
}
END_TEST

START_TEST(a_run_takes_changes)
{
    write_scene();
    expect(0, "$K run s.json -o a.run --until 0.1", "done at 0.1 s");
    write_file("s.json", "{\"common\": \"base.json\", \"time\": {\"tend\": 0.3}, "
                         "\"boundary_conditions\": {\"rhs\": [0, 5, 0], \"dirichlet_boundary\": "
                         "{\"id\": 2, \"value\": [\"0.1*x*t\", 0, 0]}}}");
    expect(0, "$K run s.json -o a.run --resume --changed", "done at 0.3 s");
    write_file("s.json", "{\"common\": \"base.json\", \"boundary_conditions\": "
                         "{\"dirichlet_boundary\": {\"id\": 3, \"value\": [0, 0, 0]}}}");
    expect(0, "$K run s.json -o b.run --until 0.1", "done at 0.1 s");
    write_file("base.json",
               "{\"geometry\": {\"mesh\": \"cube.mesh\", \"n_refs\": 1, \"surface_selection\": "
               "{\"threshold\": 0.01, \"id_offset\": 2}}, \"materials\": {\"type\": "
               "\"NeoHookean\", \"E\": 1e4, \"nu\": 0.3, \"rho\": 1000}, \"time\": {\"tend\": 0.2, "
               "\"dt\": 0.02}}");
    expect(2, "$K run s.json -o b.run --resume --changed", "its patches have changed places");
}
END_TEST

START_TEST(wrong_files_are_wrong_usage)
{
    write_file("a.json", "{\"a\": }");
    expect(2, "$K run a.json", "a.json:1: column 7: a value must stand here, got '}'");
    write_file("a.json", "return scene {}");
    expect(2, "$K run a.json", "a.json:1: column 1: a value must stand here, got 'r'");
    write_file("a.json", "");
    expect(2, "$K check a.json", "a value must stand here, got the end of the file");
    expect(2, "$K check none.json", "none.json");
}
END_TEST

/* Written elsewhere, by whatever path, it finds the meshes all the same; beside it short paths
 * stay. */
START_TEST(the_lua_that_is_written_elsewhere_finds_its_meshes)
{
    write_scene();
    expect(0, "mkdir far && cd far && $K check ../s.json --lua s.lua", "without faults");
    expect(0, "cd far && $K check s.lua", "without faults");
    expect(0, "mv far farther && $K check farther/s.lua", "without faults");
    expect(0, "$K check s.json --lua ./beside.lua && grep cube.mesh beside.lua", "\"cube.mesh\"");
    expect(0, "$K run farther/s.lua -o lua.run --until 0.1 --set name=s", "done at");
    expect(0, "$K run s.json -o json.run --until 0.1 --set name=s", "done at");
    compare_frames();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("polyfem program");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(all, open_folder, leave_folder);
    tcase_add_loop_test(all, scenes_of_the_paper_run, 0, (int)(sizeof scenes / sizeof scenes[0]));
    tcase_add_loop_test(all, parts_of_scenes_say_what_is_missing, 0,
                        (int)(sizeof parts / sizeof parts[0]));
    tcase_add_test(all, a_bar_has_the_bits_of_its_lua);
    tcase_add_test(all, a_ball_has_the_bits_of_its_lua);
    tcase_add_test(all, the_lua_that_is_written_has_the_same_bits);
    tcase_add_test(all, the_lua_that_is_written_elsewhere_finds_its_meshes);
    tcase_add_test(all, runs_go_on);
    tcase_add_test(all, a_run_takes_changes);
    tcase_add_test(all, wrong_files_are_wrong_usage);
    return suite;
}

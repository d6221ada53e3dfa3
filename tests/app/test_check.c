/* kiln check as a script sees it: what it lists, what it refuses, and its exit codes. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 1 << 17 };

static char out[TEXT], err[TEXT];

static void enter_folder(void)
{
    open_folder();
    write_file("bar.lua",
               "print('reading', 5)\n"
               "local m = material { name = 'steel', young = param('young', 1e5) }\n"
               "return scene { duration = 1, bodies = { body { name = 'bar', material = m,\n"
               "    shape = shape.box { lx = 2, n = 2 } } },\n"
               "  holds = { hold { where = select.patch { tag = 1 }, till = 0.5 } },\n"
               "  loads = { load.pressure { where = select.patch { tag = 2 },\n"
               "    amount = function(t) return t end } },\n"
               "  obstacles = { obstacle.plane { name = 'floor', point = {0, 0, -1} } } }\n");
}

static void slurp(const char *path, char *text)
{
    read_file(path, text, TEXT);
    unlink(path);
}

static int kiln(const char *arguments)
{
    int code = run_program(arguments);
    slurp(".out", out);
    slurp(".err", err);
    return code;
}

static void expect(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "no '%s' in:\n%s", words, text);
}

START_TEST(lists_what_would_run)
{
    ck_assert_msg(kiln("check bar.lua") == 0, "%s", err);
    expect(err, "bar.lua:1: reading 5");
    expect(out, "bar: a scene without faults");
    expect(out, "bar              45 vertices, 96 tets, 1 region: steel");
    expect(out, "floor            plane, friction 0, still");
    expect(out, "holds[1]         9 vertices of all bodies, xyz, still, till 0.5 s");
    expect(out, "loads[1]         pressure on 8 faces of all bodies, a function");
    expect(out, "params for --set\n  young=");
    expect(out, "1 s in about 100 steps, 26 frames");
}
END_TEST

START_TEST(speaks_json)
{
    ck_assert_msg(kiln("check bar.lua --json --set output.frame=0.5 --set step.dt=0.1") == 0, "%s",
                  err);
    expect(out, "\"steps\": 10");
    expect(out, "\"frames\": 3");
    expect(out,
           "{\"name\": \"bar\", \"vertices\": 45, \"tets\": 96, \"regions\": 1, \"surface\": 0, "
           "\"materials\": [\"steel\"]}");
    expect(out, "\"vertices\": 9, \"components\": \"xyz\"");
    expect(out, "\"kind\": \"pressure\", \"body\": \"all bodies\", \"faces\": 8");
}
END_TEST

START_TEST(lists_what_flows_and_is_remeshed)
{
    static const char *const sets =
        "check bar.lua --set 'bodies[1].material.plastic={norm=\"mises\",yield=5,rate=2,"
        "hardening=-1}' --set remesh=local --set contact={self=false,friction=0.5} --set "
        "'bodies[1].surface=shape.box{n=1}'";
    char json[600];
    ck_assert_msg(kiln(sets) == 0, "%s", err);
    expect(out, "carries a surface of 12 triangles");
    expect(out,
           "plastic\n  steel            mises norm, yields at 5 Pa, flows at 2 1/s, softens by "
           "work\n");
    expect(out, "remesh\n  local in material space, quality 0.15, every 1 step\n");
    expect(out, "contact\n  between bodies, friction 0.5\n");
    snprintf(json, sizeof json, "%s --json", sets);
    ck_assert_msg(kiln(json) == 0, "%s", err);
    expect(out, "\"remesh\": \"local\"");
    expect(out, "\"plastic\": [\"steel\"]");
    expect(out, "\"surface\": 12");
}
END_TEST

START_TEST(refuses_with_code_2)
{
    static const char *const rows[][2] = {
        {"check", "the scene is missing"},
        {"check absent.lua", "kiln: absent.lua: "},
        {"check bar.lua --set young=-1", "kiln: bar.lua:2: bodies[1].material.young: must be "
                                         "positive, got -1"},
        {"check bar.lua --set yuong=1", "did you mean 'young'?"},
        {"check bar.lua --set 'holds[1].where=select.patch{tag=9}'", "holds[1]: selects no vertex"},
        {"check bar.lua --set 'loads[1].amount=function(t) return t.x end'", "loads[1].amount"},
        {"check bar.lua --set 'duration=os.exit(0)'", "'os' is not there"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(kiln(rows[i][0]) == 2, "kiln %s: %s", rows[i][0], err);
        expect(err, rows[i][1]);
        ck_assert_str_eq(out, "");
    }
}
END_TEST

/* What is not wrong, but hardly meant; and what a mesh file says of itself. */
START_TEST(tells_what_was_hardly_meant)
{
    ck_assert_msg(kiln("check bar.lua --set step.dt=10") == 0, "%s", err);
    expect(err, "step.dt = 10 s is longer than the duration, 1 s");
    ck_assert_int_eq(run_shell("printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                               "v .2 .2 .2\nv 1.2 .2 .2\nv .2 1.2 .2\nv .2 .2 1.2\n"
                               "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
                               "f 5 7 6\nf 5 6 8\nf 6 7 8\nf 7 5 8\n' >two.obj"),
                     0);
    ck_assert_msg(kiln("mesh info two.obj") == 0, "%s", err);
    expect(out, "defects\n  the surface crosses or touches itself: triangles ");
    ck_assert_int_eq(
        run_shell("printf 'MeshVersionFormatted 2\nDimension 3\nVertices 4\n0 0 0 0\n"
                  "1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra 2\n1 2 3 4 1\n1 2 3 4 1\nEnd\n' "
                  ">in.mesh"),
        0);
    ck_assert_int_eq(
        run_shell("printf 'return scene { duration = 1, bodies = { body { shape = shape.file "
                  "{ path = \"in.mesh\" }, material = material { young = 1 } } } }' >in.lua"),
        0);
    ck_assert_int_eq(kiln("check in.lua"), 2);
    expect(err, "repair = true of shape.file");
}
END_TEST

START_TEST(writes_the_reference)
{
    ck_assert_msg(kiln("check --reference scene.md") == 0, "%s", err);
    static char text[TEXT];
    slurp("scene.md", text);
    expect(text, "### select.half_space");
    expect(text, "| `young` | number or f(c), positive | Pa |");
    ck_assert_int_eq(kiln("check --reference /nowhere/scene.md"), 2);
}
END_TEST

/* A slab of huge cells, and a pebble that is smaller than one of them: what is preset for both is
 * right for the pebble, too, and what is not is said. Turning it changes nothing. */
START_TEST(small_bodies_beside_huge_cells)
{
    write_file(
        "pebble.lua",
        "local m = material { young = 1e5 }\n"
        "return scene { duration = 1, contact = contact { friction = 0.3,\n"
        "    thickness = param('thickness', 0) }, bodies = {\n"
        "  body { name = 'slab', shape = shape.box { lx = 40, ly = 40, lz = 10, n = 1 },\n"
        "    material = m },\n"
        "  body { name = 'pebble', shape = shape.box { lx = 0.1, ly = 0.1, lz = 0.1, n = 1 },\n"
        "    material = m, at = {20, 20, param('z', 11)},\n"
        "    turn = { axis = {1, 2, 3}, degrees = param('degrees', 0) } } },\n"
        "  step = { friction_speed = param('slow', 0) } }\n");
    ck_assert_msg(kiln("check pebble.lua") == 0, "%s", err);
    expect(out, "thickness 0.01732 m (preset)");
    expect(out, "stiffness 1 of Young's moduli, 1e+05 to 1e+05 Pa");
    expect(out, "friction sticks below 0.05762 m/s (preset)");
    expect(err, "step.friction_speed, 0.0576 m/s, below which what sticks may creep, is large for "
                "body 'pebble', which is 0.173 m in size; for a hundredth of it in a second write "
                "step = { friction_speed = 0.0017 }");
    ck_assert_ptr_null(strstr(err, "contact.thickness"));
    ck_assert_msg(kiln("check pebble.lua --set degrees=50 --set slow=1e-3") == 0, "%s", err);
    expect(out, "thickness 0.01732 m (preset)");
    expect(out, "friction sticks below 0.001 m/s\n");
    ck_assert_str_eq(err, "");
    ck_assert_msg(kiln("check pebble.lua --set slow=1e-3 --set thickness=0.05") == 0, "%s", err);
    expect(out, "thickness 0.05 m\n");
    expect(err, "contact.thickness, 0.05 m, is large for body 'pebble', which is 0.173 m in size");
    expect(err, "write contact = { thickness = 0.017 }");
    /* one cell of its own: bodies of like size have a tenth of their mean edge, as they always had
     */
    ck_assert_msg(kiln("check pebble.lua --set slow=1e-3 --set bodies[1].shape.lx=0.1 "
                       "--set bodies[1].shape.ly=0.1 --set bodies[1].shape.lz=0.1 --json") == 0,
                  "%s", err);
    expect(out, "\"thickness\": 0.0126");
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("check");
    TCase *test_case = kiln_test_case(suite, "check");
    tcase_add_checked_fixture(test_case, enter_folder, leave_folder);
    tcase_add_test(test_case, lists_what_would_run);
    tcase_add_test(test_case, speaks_json);
    tcase_add_test(test_case, lists_what_flows_and_is_remeshed);
    tcase_add_test(test_case, refuses_with_code_2);
    tcase_add_test(test_case, tells_what_was_hardly_meant);
    tcase_add_test(test_case, writes_the_reference);
    tcase_add_test(test_case, small_bodies_beside_huge_cells);
    return suite;
}

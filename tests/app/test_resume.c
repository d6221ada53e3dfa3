/* Runs that go on with another scene than they were begun with, and advice that works when it is
 * followed. */
#include "program.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

enum { TEXT = 1 << 18 };

static char out[TEXT], err[TEXT];

/* A clamped bar above a plane, pulled and pushed; what a scene may have of each kind. */
static const char head[] = "return scene {\n"
                           "  name = 'bar', duration = 0.1,\n";
static const char tail[] =
    "  step = { dt = 0.005 },\n"
    "  output = { frame = 0.02, checkpoint = 0.01 },\n"
    "  bodies = { body { shape = shape.box { lx = 1, ly = 0.25, lz = 0.25, nx = 4, ny = 1, nz = 1 "
    "},\n"
    "                    material = material { young = 1e5, poisson = 0.3 } } },\n"
    "  holds = { hold { where = select.box { from = {-0.01, -1, -1}, to = {0.01, 1, 1} } },\n"
    "            hold { where = select.box { from = {0.99, -1, -1}, to = {1.01, 1, 1} },\n"
    "                   components = 'x', from = 0.06, till = 0.08 } },\n"
    "  loads = { load.pressure { where = select.box { from = {-2, -2, 0.24}, to = {2, 2, 0.26} },\n"
    "                            amount = 50, till = 0.05 } },\n"
    "  obstacles = { obstacle.plane { point = {0, 0, -0.05}, normal = {0, 0, 1} } },\n"
    "}\n";
/* Fails in the fourth step. */
static const char broken[] = "  gravity = function(t) if t > 0.016 then error('out of gravity') "
                             "end return 0, 0, -9.81 end,\n";
static const char mended[] = "  gravity = function(t) return 0, 0, -9.81 end,\n";

static void write_scene(const char *path, const char *middle)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", head, middle, tail);
    write_file(path, text);
}

/* Exit code of a shell command in which $K is the program. */
static int shell(const char *command)
{
    char line[4096];
    snprintf(line, sizeof line, "K='%s'; { %s ; } >.out 2>.err", KILN_PROGRAM, command);
    int code = run_shell(line);
    read_file(".out", out, TEXT);
    read_file(".err", err, TEXT);
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

/* The command that was printed last behind these words, run as it is. */
static void follow(int code, const char *words)
{
    char command[4096];
    const char *at = strstr(err, words) ? strstr(err, words) : strstr(out, words);
    ck_assert_msg(at != NULL, "'%s%s' lacks '%s'", out, err, words);
    at += strlen(words);
    const char *end = strstr(at, "--changed\n");
    end = end ? strchr(end, '\n') : strchr(at, '\n'); /* paths may have ends of lines */
    snprintf(command, sizeof command, "%.*s", (int)(end - at), at);
    int found = shell(command);
    ck_assert_msg(found == code, "%s: exit %d, not %d: %s%s", command, found, code, out, err);
}

/* Columns of stats.csv that do not depend on the clock on the wall. */
#define ROWS "cut -d, -f1-19,30-44"

static void assert_same(const char *a, const char *b)
{
    char command[1024];
    snprintf(command, sizeof command,
             "diff -r %s/frames %s/frames && cmp %s/run.pvd %s/run.pvd && " ROWS
             " %s/stats.csv >.a && " ROWS " %s/stats.csv >.b && cmp .a .b",
             a, b, a, b, a, b);
    ck_assert_msg(shell(command) == 0, "%s%s", out, err);
}

START_TEST(a_mended_function_goes_on_from_where_it_failed)
{
    open_folder();
    write_scene("whole.lua", mended);
    write_scene("bar.lua", broken);
    expect(0, "$K run whole.lua -o whole -q", "");
    expect(1, "$K run bar.lua -o part", "out of gravity");
    expect(0, "grep -c '\"status\": \"failed\"' part/run.json", "1");
    /* As it was: it fails again, and says the same. */
    expect(1, "$K run bar.lua -o part --resume", "out of gravity");
    ck_assert_msg(strstr(err, "mend the scene") != NULL, "%s", err);
    write_scene("bar.lua", mended);
    follow(0, "last good step: ");
    ck_assert_msg(strstr(err, "after step 3") != NULL, "%s", err);
    assert_same("whole", "part");
    /* What it was until then is kept, and the log says so. */
    write_scene("old.lua", broken);
    expect(0, "cmp old.lua part/scene-1.lua && grep 'after step 3.*scene-1.lua' part/log.txt", "");
    expect(0, "$K run bar.lua -o part --force -q && ls part", "stats.csv");
    ck_assert_msg(strstr(out, "scene-1.lua") == NULL, "%s", out);
    leave_folder();
}
END_TEST

/* Killed at once after the change, it goes on with the changed scene all the same. */
START_TEST(a_change_is_kept_from_its_first_moment)
{
    open_folder();
    write_scene("whole.lua", mended);
    write_scene("bar.lua", broken);
    expect(0, "$K run whole.lua -o whole -q", "");
    expect(1, "$K run bar.lua -o part", "out of gravity");
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o part --resume --changed --until 0.015", "changed at 0.015 s");
    write_file("bar.lua", "return nonsense");
    expect(0, "$K run bar.lua -o part --resume", "has changed since");
    assert_same("whole", "part");
    /* The same scene again is no change. */
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o part --resume --changed", "done");
    ck_assert_msg(strstr(err, "changed at") == NULL, "%s", err);
    assert_same("whole", "part");
    leave_folder();
}
END_TEST

START_TEST(what_may_change)
{
    static const char *const sets[] = {
        "duration=0.07",
        "output={frame=0.005,fields={\"stress\"}}",
        "step.dt=0.002",
        "step.integrator=newmark",
        "step.integrator=bdf2",
        "step.solver.backend=pcg-ic",
        "gravity={0,0,-1}",
        "bodies[1].material.young=function(c) return 1e5 + 1e3*c.t end",
        "bodies[1].material.model=neo-hookean",
        "bodies[1].material.plastic={yield=300,rate=5}",
        "bodies[1].tolerate_inverted=true",
        "holds[1].motion=motion.translate{shift=function(t) return {0.01*(t-0.03),0,0} end}",
        "holds[2].from=0.05",
        "loads[1].till=0.045",
        "obstacles[1].friction=0.5",
        "obstacles[1].motion=motion.translate{shift=function(t) return {0,0,-0.1*t} end}",
        "contact=true",
        "remesh={size=0.2}"};
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o first --until 0.03 -q", "");
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        char command[1024];
        /* Stopped on the way and resumed without a word: the same bits. */
        snprintf(command, sizeof command,
                 "rm -rf part again; cp -r first again; $K run bar.lua -o again --resume --until "
                 "0.04 -q --audit --set '%s'",
                 sets[i]);
        expect(0, command, "changed at 0.03 s");
        expect(0,
               "cp -r again part && $K run bar.lua -o part --resume --until 0.07 -q --threads 1 && "
               "$K run bar.lua -o again --resume --until 0.07 -q --threads 2 && tail -1 "
               "part/stats.csv | cut -d, -f2",
               "0.07");
        assert_same("part", "again");
    }
    leave_folder();
}
END_TEST

START_TEST(what_may_not_change)
{
    static const struct {
        const char *set, *place, *words;
    } rows[] = {
        {"bodies[1].shape.nx=5", "bodies[1]", "its shape or its place"},
        {"bodies[1].at={0,0,0.001}", "bodies[1]", "its shape or its place"},
        {"bodies[1].name=other", "bodies[1]", "was called 'body1'"},
        {"bodies[1].velocity={1,0,0}", "bodies[1]", "another velocity"},
        {"bodies[1].velocity=function(u) return {u[1],0,0} end", "bodies[1]", "another velocity"},
        {"bodies[1].position=function(u) return {1.1*u[1],u[2],u[3]} end", "bodies[1]", "position"},
        {"bodies[1].material.density=500", "bodies[1].material", "density was 1000 and is 500"},
        {"bodies[1].material.density=function(c) return 999 end", "bodies[1].material", "is 999"},
        {"bodies[1].regions={region{where=select.box{from={0.5,-1,-1},to={2,2,2}},"
         "material=material{young=1}}}",
         "bodies[1]", "regions"},
        {"holds[1].where=select.box{from={-0.01,-1,-1},to={0.3,1,1}}", "holds[1]", "selects other"},
        {"holds[1].from=0.04", "holds[1]", "began at 0 s"},
        {"holds[1].till=0.02", "holds[1]", "cannot have ended at 0.02 s: the run is at 0.03 s"},
        {"holds[2].from=0.01", "holds[2]", "cannot have begun at 0.01 s"},
        {"holds[2].name=other", "holds[2]", "was called"},
        {"loads={}", "loads", "there were 1, now there are 0"},
        {"loads[1].till=0.01", "loads[1]", "cannot have ended"},
        {"loads[1]=load.traction{amount={0,0,1}}", "loads[1]", "another kind"},
        {"obstacles[1].point={0,0,-0.06}", "obstacles[1]", "its shape is another"},
        {"obstacles={}", "obstacles", "there were 1"}};
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o part --until 0.03 -q", "");
    ck_assert_int_eq(shell("cp -a part before"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char command[1024];
        snprintf(command, sizeof command, "$K run bar.lua -o part --resume --set '%s'",
                 rows[i].set);
        expect(2, command, rows[i].words);
        ck_assert_msg(strstr(err, rows[i].place) != NULL, "%s: %s", rows[i].set, err);
        ck_assert_msg(strstr(err, "bar.lua") != NULL, "%s: %s", rows[i].set, err);
        expect(0, "diff -r before part", "");
    }
    expect(2, "$K run bar.lua --changed", "with --resume");
    leave_folder();
}
END_TEST

/* From rest under load into motion, and from motion to rest. */
START_TEST(rest_and_motion_take_turns)
{
    static const char *const from[] = {"static", "newmark", "bdf2"}, *const to[] = {"bdf2",
                                                                                    "static",
                                                                                    "newmark"};
    open_folder();
    write_scene("bar.lua", mended);
    for (int i = 0; i < 3; i++) {
        char command[300];
        snprintf(
            command, sizeof command,
            "rm -rf part; $K run bar.lua -o part --until 0.03 -q --set step.integrator=%s --set "
            "'obstacles={}' && $K run bar.lua -o part --resume --until 0.06 -q --set "
            "step.integrator=%s",
            from[i], to[i]);
        expect(0, command, "changed at 0.03 s");
        expect(0, "tail -1 part/stats.csv | cut -d, -f2", "0.06");
    }
    leave_folder();
}
END_TEST

/* Shorter steps do not help against a jump, so it is told. */
START_TEST(an_obstacle_that_jumps_is_told)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o first --until 0.03 -q", "");
    expect(0,
           "rm -rf part; cp -r first part; $K run bar.lua -o part --resume --until 0.04 --set "
           "'obstacles[1].motion=motion.translate{shift=function(t) return {0,0,-0.1*t} end}'",
           "has it 0.003 m from where it was at 0.03 s");
    expect(0,
           "rm -rf part; cp -r first part; $K run bar.lua -o part --resume --until 0.04 --set "
           "'obstacles[1].motion=motion.translate{shift=function(t) return {0,0,0.03-t} end}'",
           "changed at");
    ck_assert_msg(!strstr(err, "from where it was"), "%s", err);
    leave_folder();
}
END_TEST

/* Where matter has flowed, and the mesh has changed. */
START_TEST(what_flows_and_remeshes_stays_so)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(0,
           "$K run bar.lua -o part --until 0.04 -q --set 'bodies[1].material.plastic={yield=100,"
           "rate=20}' --set 'remesh={size=0.2}'",
           "");
    expect(2, "$K run bar.lua -o part --resume --set bodies[1].material.plastic=false",
           "would be lost");
    expect(2, "$K run bar.lua -o part --resume --set remesh=false", "method and space");
    expect(2, "$K run bar.lua -o part --resume --set remesh=global", "method and space");
    /* Places of the start are not known any more. */
    expect(2,
           "$K run bar.lua -o part --resume --set 'bodies[1].material.young=function(c) return "
           "1e5*(1+c.u[1]) end'",
           "must be there from the start");
    ck_assert_int_eq(shell("cp -r part again"), 0);
    static const char *const sets[] = {"remesh.size=0.15", "step.integrator=newmark",
                                       "bodies[1].material.plastic.rate=10"};
    for (int i = 0; i < 3; i++) {
        char command[256];
        snprintf(command, sizeof command,
                 "rm -rf part; cp -r again part; $K run bar.lua -o part --resume --until 0.06 -q "
                 "--audit --set '%s'",
                 sets[i]);
        expect(0, command, "changed at");
    }
    leave_folder();
}
END_TEST

/* Settings of before stay, later ones win, and an empty one takes one away. */
START_TEST(settings_add_up)
{
    open_folder();
    write_scene("bar.lua", "  gravity = {0, 0, param('g', -9)},\n");
    expect(0, "$K run bar.lua -o part --until 0.02 -q --set g=-5 --set step.dt=0.01", "");
    expect(0, "$K run bar.lua -o part --resume --until 0.03 -q --set g=-4 --set duration=0.2", "");
    expect(0, "tr -d '\\n' <part/run.json", "step.dt=0.01");
    ck_assert_msg(strstr(out, "g=-4") && strstr(out, "duration=0.2") && !strstr(out, "g=-5"), "%s",
                  out);
    expect(0, "grep -c 'until then with --set g=-5' part/log.txt", "1");
    write_scene("bar.lua", "  gravity = {0, 0, -3},\n");
    expect(2, "$K run bar.lua -o part --resume --changed", "no such key or param");
    expect(0, "$K run bar.lua -o part --resume --changed --until 0.04 -q --set g=", "");
    expect(0, "tr -d '\\n' <part/run.json", "step.dt=0.01");
    ck_assert_msg(!strstr(out, "g=-4"), "%s", out);
    leave_folder();
}
END_TEST

static const char *const odd_names[] = {"it's a \"test\" $HOME `x` \\", "two\nlines", "-dash",
                                        "a b"};

START_TEST(commands_can_be_copied)
{
    open_folder();
    write_scene(".mended", mended);
    write_scene(".broken", broken);
    for (size_t i = 0; i < sizeof odd_names / sizeof odd_names[0]; i++) {
        char path[200];
        ck_assert_int_eq(mkdir(odd_names[i], 0777), 0);
        ck_assert_int_eq(chdir(odd_names[i]), 0);
        write_scene("bar.lua", broken);
        ck_assert_int_eq(chdir(".."), 0);
        setenv("FOLDER", odd_names[i], 1);
        expect(1, "$K run -o \"$FOLDER/out\" --until 0.08 --isa scalar -- \"$FOLDER/bar.lua\"",
               "out of gravity");
        snprintf(path, sizeof path, "%s/bar.lua", odd_names[i]);
        write_scene(path, mended);
        char command[4096];
        const char *at = strstr(err, "good step: ") + strlen("good step: ");
        snprintf(command, sizeof command, "%.*s", (int)(strlen(at) - 1), at);
        ck_assert_msg(strstr(command, " --until 0.08 --isa scalar") != NULL, "%s", command);
        expect(0, command, "done at 0.08 s");
        /* What is said of the results: a plot, the folder given as it is printed. */
        at = strstr(out, " plot ");
        snprintf(command, sizeof command, "$K%.*s && test -s \"./$FOLDER/out/plot.svg\"",
                 (int)(strstr(at, "\n  paraview") - at), at);
        expect(0, command, "plot.svg");
    }
    leave_folder();
}
END_TEST

START_TEST(a_run_that_gave_up_can_be_helped)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(1, "$K run bar.lua -o part --set step.max_acceleration=1 --set step.dt_min=0.004",
           "gave up at 0 s");
    ck_assert_msg(strstr(out, "mend the scene") != NULL, "%s", out);
    follow(1, "last good step: "); /* nothing was mended */
    expect(0, "$K run bar.lua -o part --resume --set step.max_acceleration=1e9", "done at 0.1 s");
    leave_folder();
}
END_TEST

/* Bodies that overlap when contact begins cannot be kept apart. */
START_TEST(contact_begins_with_a_gap)
{
    open_folder();
    write_file("two.lua",
               "return scene { duration = 1, step = { dt = 0.02 }, output = { frame = 0.1 },\n"
               "bodies = { body { shape = shape.box { n = 1 }, material = material { young = 1e5 } "
               "},\n  body { shape = shape.box { n = 1 }, at = {0, 0.01, 1.2}, velocity = {0, 0, "
               "-1},\n    material = material { young = 1e5 } } } }\n");
    expect(0, "$K run two.lua -o part -q --until 0.1 && cp -r part apart", "");
    expect(0, "$K run two.lua -o part -q --resume --until 0.4", "");
    expect(2, "$K run two.lua -o part --resume --set contact=true",
           "contact: surfaces pass through each other at this moment");
    expect(0, "$K run two.lua -o apart --resume --set contact=true --until 0.4 -q", "changed at");
    leave_folder();
}
END_TEST

START_TEST(a_full_disk_needs_no_change)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o whole -q", "");
    expect(0, "$K run bar.lua -o part --until 0.06 -q", "");
    expect(1, "ulimit -f 16; ASAN_OPTIONS=detect_leaks=0 $K run bar.lua -o part --resume",
           "too large");
    follow(0, "to go on: ");
    expect(0, ROWS " whole/stats.csv >.a && " ROWS " part/stats.csv >.b && cmp .a .b", "");
    leave_folder();
}
END_TEST

START_TEST(without_a_checkpoint_the_way_out_is_named)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o part --until 0.06 -q", "");
    ck_assert_int_eq(shell("truncate -s 9000 part/checkpoint-*.h5"), 0);
    expect(2, "$K run bar.lua -o part --resume", "is not whole");
    ck_assert_msg(strstr(err, "its 4 frames, stats.csv and log.txt are still there") != NULL, "%s",
                  err);
    write_file(".said", err);
    expect(0, "$K plot part && cat .said", "plot.svg");
    follow(0, "run.json lists: ");
    ck_assert_msg(strstr(out, "done at 0.1 s") != NULL, "%s", out);
    leave_folder();
}
END_TEST

START_TEST(nothing_goes_back)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o part -q", "");
    expect(2, "$K run bar.lua -o part --resume --until 0.02",
           "the run is at 0.1 s, past the end that is asked for, 0.02 s (--until)");
    expect(2, "$K run bar.lua -o part --resume --set duration=0.09",
           "the run is at 0.1 s, past the end that is asked for, 0.09 s (duration)");
    expect(0, "$K run bar.lua -o part --resume", "done at 0.1 s");
    leave_folder();
}
END_TEST

/* Tables that are gone or cut, and the list of frames: the run goes on, or says how it can. */
START_TEST(lost_tables_do_not_end_a_run)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o part --until 0.06 -q && cp -r part spare", "");
    expect(0, "rm part/stats.csv && $K run bar.lua -o part --resume --until 0.08 -q", "");
    expect(0, "head -1 part/stats.csv | cut -d, -f1,2 && sed -n 2p part/stats.csv | cut -d, -f2",
           "step,time\n0.065");
    expect(0, "$K run bar.lua -o part --resume -q && tail -1 part/stats.csv | cut -d, -f2", "0.1");
    expect(0, "rm -r part && cp -r spare part && sed -i 5d part/stats.csv", "");
    expect(2, "$K run bar.lua -o part --resume", "without it the run goes on, and writes it");
    expect(0, ": >part/stats.csv && $K run bar.lua -o part --resume -q", "");
    expect(0, "rm -r part && cp -r spare part && rm part/run.pvd", "");
    expect(2, "$K run bar.lua -o part --resume", "without such frames the run goes on");
    expect(0, "rm part/frames/* && $K run bar.lua -o part --resume -q && cat part/run.pvd",
           "frame-000004.vtu");
    leave_folder();
}
END_TEST

/* What a killed run left goes with the next checkpoint. */
START_TEST(two_checkpoints_are_kept)
{
    open_folder();
    write_scene("bar.lua", mended);
    expect(0, "$K run bar.lua -o part --until 0.06 -q --set output.checkpoint=0.01", "");
    expect(0, "cp part/checkpoint-000005.h5 part/checkpoint-000001.h5", "");
    expect(0, "$K run bar.lua -o part --resume -q && ls part/*.h5 | wc -l", "2\n");
    leave_folder();
}
END_TEST

START_TEST(what_is_no_run_is_said)
{
    static const char *const commands[] = {"render", "plot"};
    open_folder();
    write_scene("bar.lua", mended);
    for (int i = 0; i < 2; i++) {
        char command[100];
        snprintf(command, sizeof command, "$K %s nofolder", commands[i]);
        expect(2, command, "nofolder: there is no such file or folder; give the folder that 'kiln");
        snprintf(command, sizeof command, "$K %s bar.lua", commands[i]);
        expect(2, command, "is a scene, not a run");
    }
    expect(0, "$K run bar.lua --until 0.005 -q", "");
    expect(2, "$K render bar", "did you mean 'bar.run'");
    expect(2, "$K plot bar.lua", "did you mean 'bar.run'");
    leave_folder();
}
END_TEST

/* Obstacles that were met as surfaces may be met by points from now on, because a field leads the
 * bodies, or one of them is inside an obstacle that has moved: also where matter flows and the mesh
 * changes. */
START_TEST(obstacles_are_met_by_points_from_now_on)
{
    static const char *const sets[] = {
        "velocity_field={0,0,0.1}",
        "obstacles[1].motion=motion.translate{shift={0,0,0.3}}",
    };
    open_folder();
    write_file("soft.lua",
               "return scene { duration = 0.2, gravity = {0, 0, -9.81}, step = { dt = 0.01 },\n"
               " output = { frame = 0.1 }, remesh = 'local', contact = true,\n"
               " obstacles = { obstacle.plane {} },\n"
               " bodies = { body { shape = shape.box { n = 2 }, at = {0, 0, 0.05},\n"
               "  material = material { young = 1e5, plastic = plastic { yield = 300, rate = 20 } "
               "} } } }\n");
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        char command[200];
        expect(0, "$K run soft.lua --force -q --until 0.15", "");
        snprintf(command, sizeof command, "$K run soft.lua --resume --set '%s'", sets[i]);
        expect(0, command, "changed at 0.15 s");
    }
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("kiln run --resume");
    TCase *all = kiln_test_case(suite, "kiln run --resume");
    tcase_add_test(all, a_mended_function_goes_on_from_where_it_failed);
    tcase_add_test(all, a_change_is_kept_from_its_first_moment);
    tcase_add_test(all, what_may_change);
    tcase_add_test(all, an_obstacle_that_jumps_is_told);
    tcase_add_test(all, what_may_not_change);
    tcase_add_test(all, rest_and_motion_take_turns);
    tcase_add_test(all, what_flows_and_remeshes_stays_so);
    tcase_add_test(all, settings_add_up);
    tcase_add_test(all, commands_can_be_copied);
    tcase_add_test(all, a_run_that_gave_up_can_be_helped);
    tcase_add_test(all, contact_begins_with_a_gap);
    tcase_add_test(all, a_full_disk_needs_no_change);
    tcase_add_test(all, without_a_checkpoint_the_way_out_is_named);
    tcase_add_test(all, nothing_goes_back);
    tcase_add_test(all, lost_tables_do_not_end_a_run);
    tcase_add_test(all, two_checkpoints_are_kept);
    tcase_add_test(all, what_is_no_run_is_said);
    tcase_add_test(all, obstacles_are_met_by_points_from_now_on);
    return suite;
}

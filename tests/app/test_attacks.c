/* The program against scenes and files that are meant to crash it, hang it or eat the machine: each
 * must end in time, with a message. */
#define _XOPEN_SOURCE 700 /* mkfifo */
#include "base/context.h"
#include "program.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* Two boxes, one above the other, with contact, a hold and an obstacle. */
static const char two[] =
    "local m = material { young = 1e5 }\n"
    "return scene { duration = 0.02, step = { dt = 0.01 }, contact = { thickness = 0.02 },\n"
    " gravity = {0, 0, -9.81}, output = { frame = 0.01 },\n"
    " bodies = { body { name = 'low', shape = shape.box { n = 2 }, material = m },\n"
    "            body { name = 'high', shape = shape.box { n = 2 }, material = m,\n"
    "                   at = {0, 0, 1.5} } },\n"
    " holds = { hold { body = 'low', where = select.half_space { point = {0, 0, 0.01},\n"
    "   normal = {0, 0, -1} }, motion = motion.translate { shift = {0, 0, 0} } } } }\n";

enum { SECONDS = 60, KILLED = 137 };

/* Exit code of the program when it ends in time; its words are in .out and .err. */
static int run_limited(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "timeout -s KILL %d '%s' %s >.out 2>.err", SECONDS,
             KILN_PROGRAM, arguments);
    int code = run_shell(command);
    ck_assert_msg(code != KILLED && code != 124, "kiln %s did not end", arguments);
    ck_assert_msg(code >= 0 && code <= 2, "kiln %s: exit %d", arguments, code);
    ck_assert_msg(run_shell("grep -q Sanitizer .err") != 0, "kiln %s", arguments);
    return code;
}

static void check_said(const char *text)
{
    char said[4000];
    read_file(".err", said, sizeof said);
    ck_assert_msg(strstr(said, text) != NULL, "no '%s' in: %s", text, said);
}

static void try_row(const char *command, const char *set, int code, const char *message)
{
    char arguments[600];
    snprintf(arguments, sizeof arguments, "%s two.lua %s --set '%s'", command,
             strcmp(command, "run") == 0 ? "-q --force --threads 1" : "", set);
    int got = run_limited(arguments);
    ck_assert_msg(got == code, "kiln %s: exit %d", arguments, got);
    if (message)
        check_said(message);
}

/* Numbers no float can hold, and those that one can. */
START_TEST(huge_numbers_are_refused_or_fail)
{
    open_folder();
    write_file("two.lua", two);
    try_row("run", "contact.thickness=1e39", 2, "contact.thickness: must be at most 1e+30");
    try_row("run", "bodies[1].velocity={0,0,1e42}", 2, "bodies[1].velocity[3]: must be at most");
    try_row("run", "holds[1].motion.shift={0,0,1e50}", 2, "holds[1].motion.shift[3]: must be at");
    try_row("run", "bodies[2].velocity={0,0,1e29}", 2, "bodies[2].velocity: body");
    try_row("run", "holds[1].motion.shift={0,0,1e29}", 1, "gave up");
    try_row("run", "bodies[2].at={0,0,1e31}", 2, "bodies[2].at[3]: must be at most");
    try_row("run", "bodies[2].scale=1e-300", 2, "bodies[2].scale: must be at least 1e-30");
    try_row("check", "bodies[2].at={0,1e12,0}", 2, "bodies[2].at: body 'high' is 1e+12 m from");
    try_row("check", "bodies[2].at={0,1e9,0}", 0, NULL);
    try_row("check", "obstacles={obstacle.plane { point = {1e20, 0, 0} }}", 2,
            "obstacles[1]: obstacle 'obstacle1' has places or sizes of 1e+20 m");
    try_row("check", "obstacles={obstacle.sphere { centre = {0, 0, -1e20}, radius = 1e20 }}", 2,
            "numbers have no digits left for its surface");
    try_row("run", "gravity={0,0,-1e24}", 1, "look for numbers that are far too large");
    leave_folder();
}
END_TEST

/* A thickness beyond a body is named, and with the body; two bodies far apart are no larger. */
START_TEST(a_thickness_is_within_the_bodies)
{
    open_folder();
    write_file("two.lua", two);
    try_row("check", "contact.thickness=100", 2,
            "contact.thickness: must not be above the size of body 'low', 1.73205 m, got 100");
    write_file("far.lua", "local m = material { young = 1e5 }\n"
                          "return scene { duration = 1, contact = { thickness = 50 }, bodies = {\n"
                          " body { shape = shape.box { n = 1 }, material = m },\n"
                          " body { shape = shape.box { n = 1 }, material = m,\n"
                          "        at = {1000, 0, 0} } } }\n");
    ck_assert_int_eq(run_limited("run far.lua -q"), 2);
    check_said("contact.thickness: must not be above the size of body 'body1'");
    try_row("check", "contact.thickness=1e-10", 2,
            "contact.thickness: must not be below a thousand millionth of the size");
    try_row("run", "contact.thickness=2e-9", 0, NULL);
    leave_folder();
}
END_TEST

/* Times that cannot be counted, and increments that vanish. */
START_TEST(times_end)
{
    open_folder();
    write_file("two.lua", two);
    static const char *const fine[] = {"output.checkpoint=1e-18",
                                       "output.checkpoint=1e-30",
                                       "output.checkpoint=1e30",
                                       "step.dt=1e20",
                                       "step.dt=1e30",
                                       "step.patience=1"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++)
        try_row("run", fine[i], 0, NULL);
    try_row("run", "step.dt=1e300", 2, "step.dt: must be at most 1e+30");
    try_row("run", "step.dt=1e-300", 2, "step.dt: must be at least 1e-30");
    try_row("run", "step.dt=1e-20", 2, "step.dt: must be at least 1e-11 of the duration");
    try_row("run", "step.dt_min=1e-29", 2, "step.dt_min: must be at least 1e-15 of the duration");
    try_row("run", "duration=1e300", 2, "duration: must be at most 1e+30");
    try_row("run", "duration=1e20", 2, "step.dt: must be at least 1e-11 of the duration, 1e+20 s");
    try_row("run", "output.frame=1e-18", 2, "output.frame: must be 0 or at least a millionth");
    try_row("run", "output.frame=1e20", 2, "output.frame: must not be longer than the duration");
    ck_assert_int_eq(run_limited("run two.lua -q --force --until 1e300"), 2);
    check_said("--until: must be at most 1e+30");
    ck_assert_int_eq(run_limited("run two.lua -q --force --until nan"), 2);
    leave_folder();
}
END_TEST

/* What a run that has begun to write says to SIGTERM. */
static void expect_end_by_signal(const char *arguments)
{
    char command[700];
    snprintf(command, sizeof command,
             "'%s' run %s 2>.err & pid=$!; "
             "for i in $(seq 100); do test -e two.run/stats.csv && break; sleep 0.1; done; "
             "kill -TERM $pid; (sleep %d; kill -KILL $pid) 2>/dev/null & guard=$!; "
             "wait $pid; code=$?; kill $guard; exit $code",
             KILN_PROGRAM, arguments, SECONDS);
    ck_assert_int_eq(run_shell(command), 1);
    ck_assert_int_eq(run_shell("rm -r two.run"), 0);
}

/* SIGTERM ends a run between two steps, whatever its times are, and in a step that is long: here a
 * pressure that no equilibrium bears, which takes minutes to find out. */
START_TEST(signals_are_heard)
{
    open_folder();
    write_file("two.lua", two);
    expect_end_by_signal("two.lua -q --force --until 1e6 --set output.checkpoint=1e-18");
    expect_end_by_signal("two.lua -q --force --until 1e6 --set step.dt=1e-8");
    write_file("two.lua",
               "return scene { bodies = { body { shape = shape.torus { major = 0.5, minor = 0.2,\n"
               "h = 0.12 }, material = material { model = 'neo-hookean', young = 1e5 } } },\n"
               "loads = { load.pressure { amount = -4e4 } }, step = { integrator = 'static' } }\n");
    expect_end_by_signal("two.lua -q --force");
    leave_folder();
}
END_TEST

/* Nor is a run deaf while its bodies are made, when it has nothing to keep. */
START_TEST(signals_are_heard_before_the_first_step)
{
    open_folder();
    write_file("large.lua", "return scene { duration = 1, bodies = { body {\n"
                            " shape = shape.ball { h = 0.014 }, material = material { young = 1e5 "
                            "} } } }\n");
    char command[600];
    snprintf(command, sizeof command,
             "'%s' run large.lua -q 2>.err & pid=$!; sleep 0.5; kill -TERM $pid; "
             "(sleep 4; kill -KILL $pid) 2>/dev/null & guard=$!; "
             "wait $pid; code=$?; kill $guard; exit $code",
             KILN_PROGRAM);
    ck_assert_int_eq(run_shell(command), 128 + 15);
    leave_folder();
}
END_TEST

/* A pipe without a reader would be waited for, for ever. */
START_TEST(pipes_nobody_reads_are_not_written)
{
    open_folder();
    ck_assert_int_eq(mkfifo("pipe.mesh", 0600), 0);
    ck_assert_int_eq(run_limited("mesh generate ball -o pipe.mesh"), 2);
    check_said("pipe.mesh: cannot write: is a pipe that nobody reads");
    ck_assert_int_eq(run_limited("mesh generate ball -o /dev/null --format medit"), 0);
    leave_folder();
}
END_TEST

/* Nor are those that lie where a run has its tables, whose opening would wait deaf to signals. */
START_TEST(pipes_in_a_run_are_refused)
{
    static const char *const names[] = {"log.txt", "stats.csv", "probes.csv"};
    open_folder();
    write_file("two.lua", two);
    char path[100];
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(run_limited("run two.lua -q --force -o r --until 0.01"), 0);
        snprintf(path, sizeof path, "r/%s", names[i]);
        ck_assert_int_eq(remove(path), 0);
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        ck_assert_int_eq(run_limited("run two.lua -q -o r --resume --until 0.02"), 2);
        check_said("not a file");
        ck_assert_int_eq(remove(path), 0);
    }
    leave_folder();
}
END_TEST

START_TEST(what_is_no_file_is_not_read)
{
    open_folder();
    ck_assert_int_eq(mkfifo("pipe.mesh", 0600), 0);
    ck_assert_int_eq(mkdir("folder.mesh", 0700), 0);
    ck_assert_int_eq(symlink("/dev/zero", "zero.mesh"), 0);
    ck_assert_int_eq(symlink("/dev/urandom", "random.stl"), 0);
    ck_assert_int_eq(symlink("loop.mesh", "loop.mesh"), 0);
    static const char *const names[] = {"pipe.mesh", "folder.mesh", "zero.mesh", "random.stl",
                                        "loop.mesh"};
    static const char *const said[] = {"is a pipe, not a file", "is a folder, not a file",
                                       "is a device, not a file", "is a device, not a file",
                                       "cannot open"};
    char text[400];
    for (size_t i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "mesh info %s", names[i]);
        ck_assert_int_eq(run_limited(text), 2);
        check_said(said[i]);
        snprintf(text, sizeof text, "run %s", names[i]);
        ck_assert_int_eq(run_limited(text), 2);
        snprintf(text, sizeof text,
                 "return scene { duration = 1, bodies = { body { shape = shape.file { path = "
                 "'%s' }, material = material { young = 1 } } } }",
                 names[i]);
        write_file("a.lua", text);
        ck_assert_int_eq(run_limited("check a.lua"), 2);
        check_said(said[i]);
    }
    leave_folder();
}
END_TEST

/* Where memory ends the program does too; OpenBLAS would ask for ever. Sanitizers need room of
 * their own, so this is for the plain build. */
START_TEST(no_memory_is_an_end)
{
    const char *program = KILN_SOURCE_DIR "/build/kiln";
    if (access(program, X_OK) != 0) {
        printf("SKIP no_memory_is_an_end: there is no build/kiln\n");
        return;
    }
    open_folder();
    write_file("two.lua", two);
    static const int kilobytes[] = {150000, 200000, 250000};
    static const char *const commands[] = {"run two.lua -q --force", "check two.lua", "--version"};
    for (int i = 0; i < 9; i++) {
        char command[600];
        snprintf(command, sizeof command, "ulimit -v %d; timeout -s KILL 20 '%s' %s >.out 2>.err",
                 kilobytes[i / 3], program, commands[i % 3]);
        int code = run_shell(command);
        ck_assert_msg(code <= 2, "%s: exit %d", command, code);
        if (i % 3 == 0 && code == 1)
            check_said("out of memory");
    }
    /* What failed for lack of it wants it again. */
    write_file(
        "greedy.lua",
        "return scene { duration = 0.1, step = { dt = 0.01 }, output = { checkpoint = 0.01 },\n"
        " bodies = { body { shape = shape.box { n = 1 }, material = material { young = 1e5 } } "
        "},\n gravity = function(t) local s = {}\n"
        "  if t > 0.02 and t < 0.04 then for i = 1, 200 do s[i] = ('x'):rep(1000000) .. i end "
        "end\n  return 0, 0, 0 end }\n");
    char command[600];
    snprintf(command, sizeof command,
             "ulimit -v 300000; timeout -s KILL 20 '%s' run greedy.lua --threads 1 >.out 2>.err",
             program);
    ck_assert_int_eq(run_shell(command), 1);
    check_said("out of memory");
    check_said("it will want that memory again");
    leave_folder();
}
END_TEST

/* Processor time of all that was run so far: the wall's depends on who else is there. */
static double seconds_used(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

/* A body that an obstacle crushes is not held by the scene, and what --set gave is not mended
 * in the file. */
START_TEST(advice_fits)
{
    char text[4000];
    open_folder();
    write_file(
        "two.lua",
        "local m = material { young = 1e5 }\n"
        "return scene { duration = 0.2, gravity = {0, 0, -9.81}, step = { dt = 0.01 },\n"
        " contact = { obstacles = 'points' }, obstacles = { obstacle.plane {} }, bodies = {\n"
        "  body { shape = shape.box { lx = 0.3, ly = 0.3, lz = 0.3, n = 2 },\n"
        "         at = {0, 0, 0.05}, material = m },\n"
        "  body { shape = shape.box { lx = 0.3, ly = 0.3, lz = 0.3, n = 2 },\n"
        "         at = {0, 0, 0.5}, material = m } } }\n");
    ck_assert_int_eq(run_limited("run two.lua --set bodies[1].material.young=1e-30"), 1);
    check_said("vertices that an obstacle holds cannot stay on it");
    check_said("try a stiffer or lighter material");
    read_file(".err", text, sizeof text);
    ck_assert_msg(!strstr(text, "other holds"), "%s", text);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "to change it add --set bodies[1].material.young=...); then, to go "
                               "on from the last good step: ") != NULL,
                  "%s", text);
    ck_assert_int_eq(run_limited("render two.run -o a.png --field nope"), 2);
    check_said("--color or --field: 'nope' is none of: quality, ");
    read_file(".err", text, sizeof text);
    const char *first = strstr(text, "mises");
    ck_assert_msg(first && !strstr(first + 1, "mises"), "%s", text);
    leave_folder();
}
END_TEST

/* Ten halvings below the first step, which frames may have cut. */
START_TEST(the_shortest_step_is_of_those_made)
{
    open_folder();
    write_file("two.lua", two);
    static const char *const rows[][2] = {{"step.dt=1e20", "\"dt_min\":9.765625e-6"},
                                          {"step.dt=0.001", "\"dt_min\":9.765625e-7"},
                                          {"step.dt_min=0.001", "\"dt_min\":0.001"}};
    for (size_t i = 0; i < 3; i++) {
        char arguments[200], text[8000], *to = text;
        snprintf(arguments, sizeof arguments, "check two.lua --json --set %s", rows[i][0]);
        ck_assert_int_eq(run_limited(arguments), 0);
        read_file(".out", text, sizeof text);
        for (const char *at = text; *at; at++)
            if (*at != ' ')
                *to++ = *at;
        *to = 0;
        ck_assert_msg(strstr(text, rows[i][1]) != NULL, "%s: %s", rows[i][0], text);
    }
    leave_folder();
}
END_TEST

/* Colours, titles and cleared screens of others do not reach the terminal. */
START_TEST(messages_are_plain)
{
    char text[4000];
    open_folder();
    write_file("a.lua", "print('\\27]0;title\\7')\nerror('\\27[2Jred\\u{9b}1m')\n");
    ck_assert_int_eq(run_limited("check a.lua"), 2);
    check_said("a.lua:2: ?[2Jred??1m");
    write_file("a.mesh", "MeshVersionFormatted 2\nDimension 3\n\033[31mVertices\n");
    ck_assert_int_eq(run_limited("mesh info a.mesh"), 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(run_limited(i ? "run a.lua" : "mesh info a.mesh"), 2);
        read_file(".err", text, sizeof text);
        ck_assert_msg(!strpbrk(text, "\033\a"), "%s", text);
    }
    leave_folder();
}
END_TEST

/* Long lists cost what their length says, and letters are counted before they are made. */
START_TEST(much_is_bounded)
{
    open_folder();
    write_file("text.lua", "return scene { duration = 1, bodies = { body { shape = shape.text {\n"
                           "  text = ('K'):rep(1e5) }, material = material { young = 1 } } } }\n");
    ck_assert_int_eq(run_limited("check text.lua"), 2);
    check_said("bodies[1].shape: text: has 100000 letters, at most 1000 are made");
    write_file("limbs.lua",
               "return scene { duration = 1, bodies = { body { shape = shape.figure {\n"
               "  limbs = ('0,0,0,1;'):rep(1e5) }, material = material { young = 1 } } "
               "} }\n");
    ck_assert_int_eq(run_limited("check limbs.lua"), 2);
    check_said("bodies[1].shape: limbs: has more than 1000 balls, the most that are made");
    write_file("endless.lua", "local n = 0\nwhile true do n = n + 1 end\n");
    ck_assert_int_eq(run_limited("check endless.lua"), 2);
    check_said("endless.lua:2: does not end: stopped after 100 million instructions");
    double took[2];
    for (int i = 0; i < 2; i++) {
        char text[700];
        snprintf(text, sizeof text,
                 "local list = {}\n"
                 "for i = 1, %d do list[i] = body { shape = shape.box { n = 1 }, at = {2 * i, 0, "
                 "0},\n  material = material { young = 1 } } end\n"
                 "return scene { duration = 1, bodies = list }\n",
                 i ? 6000 : 1500);
        write_file("many.lua", text);
        double begin = seconds_used();
        ck_assert_int_eq(run_limited("check many.lua"), 0);
        took[i] = seconds_used() - begin;
    }
    ck_assert_msg(took[1] < 8.0 * took[0] + 0.5, "1500 bodies %.2f s, 6000 %.2f s", took[0],
                  took[1]);
    leave_folder();
}
END_TEST

/* A thousand bodies in one place have six million pairs of faces. */
START_TEST(bodies_in_one_place_are_told_soon)
{
    open_folder();
    write_file("stack.lua",
               "local m, b = material { young = 1e5 }, {}\n"
               "for i = 1, 1000 do b[i] = body { shape = shape.box { n = 1 }, material = m } end\n"
               "return scene { duration = 1, contact = true, bodies = b }\n");
    double begin = seconds_used();
    ck_assert_int_eq(run_limited("check stack.lua"), 2);
    check_said("more than 100");
    ck_assert_double_le(seconds_used() - begin, 15.0);
    leave_folder();
}
END_TEST

/* Meshes and sizes that no machine holds are refused before they are begun. */
START_TEST(meshes_fit_into_memory)
{
    open_folder();
    write_file("ball.lua", "return scene { duration = 1, bodies = { body {\n"
                           " shape = shape.ball { h = 0.003 }, material = material { young = 1e5 } "
                           "} } }\n");
    if (kiln_machine_memory() < 200e9) {
        ck_assert_int_eq(run_limited("check ball.lua"), 2);
        check_said("bodies[1].shape: this would make about 9.");
        check_said("GB or more, and there are");
    }
    write_file(
        "fine.lua",
        "return scene { duration = 0.02, remesh = { deformation = 1e-4, size_min = 1e-4 },\n"
        " bodies = { body { shape = shape.box { n = 2 }, material = material { young = 1e5 },\n"
        "   position = function(u) return 2 * u.x, u.y, u.z end } } }\n");
    ck_assert_int_eq(run_limited("run fine.lua -q"), 1);
    check_said("remesh: at 0.01 s the sizes that are asked for need about");
    leave_folder();
}
END_TEST

/* A body in another, in its hole, on its grid, at its side, and in one piece of it. */
START_TEST(bodies_begin_apart)
{
    open_folder();
    write_file("two.lua",
               "local m = material { young = 1e5 }\n"
               "return scene { duration = 0.01, step = { dt = 0.01 }, contact = {}, bodies = {\n"
               " body { name = 'outer', shape = shape.box { n = 2 }, material = m },\n"
               " body { name = 'inner', shape = shape.box { n = 2 }, material = m,\n"
               "        at = {0.3, 0.3, 0.3}, scale = 0.2 } } }\n");
    static const struct {
        const char *set;
        int code;
        const char *message;
    } rows[] = {
        {"bodies[2].name=\"inner\"", 2, "body 'inner' is inside body 'outer'"},
        {"bodies[2].turn={axis={1,2,3},degrees=30}", 2, "body 'inner' is inside body 'outer'"},
        {"bodies[1].at={1e4,0,0}", 0, NULL},
        {"bodies[2].scale=1", 2, "surfaces pass through each other"},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={0.5,0.5,0.5}}",
         2, "is inside body"},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={0.5,0.5,0}}",
         2, "bodies 'outer' and 'inner'"},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={0.5,0,0}}",
         2, "bodies 'outer' and 'inner'"},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={1,0,0}}",
         2, "surfaces touch each other"},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={1,0,0}}",
         2, "near (1, "},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=3},"
         "at={0.2,0.1,1}}",
         2, ", 1); leave a gap"},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={1,1,1}}",
         2, "surfaces touch each other"},
        {"bodies[2].at={1.1,0,0}", 0, NULL},
        /* So near that no step is safe. */
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={1+1e-9,0,0}}",
         2, "bodies 'outer' and 'inner' begin too near to each other, at (1, "},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={1+1e-15,0.1,0}}",
         2, "leave a gap of at least"},
        {"bodies[2]=body{name=\"inner\",material=material{young=1},shape=shape.box{n=2},"
         "at={1+1e-5,0.1,0}}",
         0, NULL},
        /* In the hole of a frame, and in its bar. */
        {"bodies[1].shape=shape.polygon{points=\"0,0 1,0 1,1 0,1; 0.2,0.2 0.8,0.2 0.8,0.8 "
         "0.2,0.8\","
         "depth=1}",
         0, NULL},
        {"bodies[1].shape=shape.polygon{points=\"0,0 1,0 1,1 0,1; 0.6,0.6 0.8,0.6 0.8,0.8 "
         "0.6,0.8\","
         "depth=1}",
         2, "body 'inner' is inside body 'outer'"},
        {"contact={bodies=false}", 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        try_row("check", rows[i].set, rows[i].code, rows[i].message);
        try_row("run", rows[i].set, rows[i].code, rows[i].message);
    }
    leave_folder();
}
END_TEST

/* Frames that someone has removed are listed no more when the run goes on, and the run after it
 * goes on too. */
START_TEST(removed_frames_are_not_listed)
{
    open_folder();
    write_file("two.lua", two);
    ck_assert_int_eq(run_limited("run two.lua -q --set duration=0.06 --until 0.03"), 0);
    ck_assert_int_eq(run_shell("rm two.run/frames/frame-000001.vtu"), 0);
    ck_assert_int_eq(run_limited("run two.lua -q --resume --until 0.04"), 0);
    ck_assert_int_eq(run_limited("run two.lua -q --resume --until 0.06"), 0);
    char list[4000];
    read_file("two.run/run.pvd", list, sizeof list);
    ck_assert_ptr_null(strstr(list, "frame-000001.vtu"));
    for (int i = 0; i <= 6; i++) {
        char name[40];
        snprintf(name, sizeof name, "frame-%06d.vtu", i);
        ck_assert_msg((strstr(list, name) != NULL) == (i != 1), "%s in %s", name, list);
    }
    /* A list that lost a frame which is there is still refused. */
    ck_assert_int_eq(run_shell("sed -i /frame-000002/d two.run/run.pvd"), 0);
    ck_assert_int_eq(run_limited("run two.lua -q --resume --until 0.07"), 2);
    check_said("does not name frames/frame-000002.vtu");
    leave_folder();
}
END_TEST

/* However far the size is from what the mesh has. */
START_TEST(a_surface_stays_in_its_band)
{
    static const char *const shapes[] = {"ball h=0.3", "bowl h=0.2", "cone h=0.2"};
    open_folder();
    for (int i = 0; i < 3; i++) {
        char command[80];
        snprintf(command, sizeof command, "mesh generate %s -o a.mesh", shapes[i]);
        ck_assert_int_eq(run_limited(command), 0);
        ck_assert_int_eq(run_limited("mesh improve a.mesh -o b.mesh --size 0.6"), 0);
        ck_assert_int_eq(run_limited("mesh improve a.mesh -o b.mesh --size 2"), 0);
    }
    leave_folder();
}
END_TEST

/* What comes out otherwise than the scene looks is said before it is run. */
START_TEST(what_is_not_as_it_looks_is_said)
{
    static const char globe[] =
        "return scene { duration = 0.1, bodies = { body { shape = shape.ball { h = 0.5 },\n"
        "  material = material { young = 1e5 }, at = {0, 0, 1.2} } },\n"
        "  obstacles = { obstacle.sphere { name = 'globe', centre = {0, 0, -param('r', 1e4)},\n"
        "    radius = param('r', 1e4) } }, remesh = param('remesh', 'none') }\n";
    open_folder();
    write_file("globe.lua", globe);
    ck_assert_int_eq(run_limited("check globe.lua"), 0);
    check_said("obstacle 'globe' is so large that its flat faces are up to 0.753 m off");
    ck_assert_int_eq(run_limited("check globe.lua --set r=100 --set remesh=global"), 0);
    check_said("nothing here can: bodies keep their meshes and do not merge");
    ck_assert_int_eq(run_limited("check globe.lua --set r=100 --set remesh=local"), 0);
    ck_assert_int_ne(run_shell("grep -q . .err"), 0);
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("attacks");
    TCase *all = kiln_test_case(suite, "all");
    tcase_set_timeout(all, 900);
    tcase_add_test(all, huge_numbers_are_refused_or_fail);
    tcase_add_test(all, a_thickness_is_within_the_bodies);
    tcase_add_test(all, times_end);
    tcase_add_test(all, signals_are_heard);
    tcase_add_test(all, signals_are_heard_before_the_first_step);
    tcase_add_test(all, what_is_no_file_is_not_read);
    tcase_add_test(all, pipes_nobody_reads_are_not_written);
    tcase_add_test(all, pipes_in_a_run_are_refused);
    tcase_add_test(all, no_memory_is_an_end);
    tcase_add_test(all, much_is_bounded);
    tcase_add_test(all, advice_fits);
    tcase_add_test(all, the_shortest_step_is_of_those_made);
    tcase_add_test(all, messages_are_plain);
    tcase_add_test(all, bodies_in_one_place_are_told_soon);
    tcase_add_test(all, meshes_fit_into_memory);
    tcase_add_test(all, bodies_begin_apart);
    tcase_add_test(all, removed_frames_are_not_listed);
    tcase_add_test(all, a_surface_stays_in_its_band);
    tcase_add_test(all, what_is_not_as_it_looks_is_said);
    return suite;
}

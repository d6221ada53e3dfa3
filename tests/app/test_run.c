/* `kiln run` as a script sees it: what it leaves in its folder, how it is stopped, killed, resumed
 * and refused. */
#include "io/format.h"
#include "program.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 1 << 18 };

static char out[TEXT], err[TEXT];

/* A clamped bar that falls on a plane. Settings by --set. */
static const char bar[] =
    "return scene {\n"
    "  name = 'bar', duration = 0.2, gravity = {0, 0, -9.81},\n"
    "  step = { dt = 0.005 },\n"
    "  output = { frame = 0.02, checkpoint = 0.01,\n"
    "             fields = {'mises', 'velocity', 'material', 'reaction', 'contact'} },\n"
    "  bodies = { body { shape = shape.box { lx = 1, ly = 0.25, lz = 0.25, nx = 4, ny = 1, nz = 1 "
    "},\n"
    "                    material = material { young = 1e5, poisson = 0.3 } } },\n"
    "  holds = { hold { where = select.box { from = {-0.01, -1, -1}, to = {0.01, 1, 1} } } },\n"
    "  obstacles = { obstacle.plane { point = {0, 0, -0.05}, normal = {0, 0, 1} } },\n"
    "}\n";

static void enter_folder(void)
{
    open_folder();
    ck_assert_int_eq(chmod(folder, 0755), 0);
    write_file("bar.lua", bar);
}

static void slurp(const char *path, char *text)
{
    read_file(path, text, TEXT);
}

/* Exit code of a shell command in which $K is the program. */
static int shell(const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "K='%s'; { %s ; } >.out 2>.err", KILN_PROGRAM, command);
    int status = system(line);
    slurp(".out", out);
    slurp(".err", err);
    ck_assert_msg(WIFEXITED(status), "%s died: %s", command, err);
    ck_assert_msg(!strstr(err, "Sanitizer"), "%s: %s", command, err);
    return WEXITSTATUS(status);
}

static void expect(int code, const char *command, const char *words)
{
    int found = shell(command);
    ck_assert_msg(found == code, "%s: exit %d, not %d: %s%s", command, found, code, out, err);
    ck_assert_msg(strstr(out, words) || strstr(err, words), "%s: '%s%s' lacks '%s'", command, out,
                  err, words);
}

static int files_in(const char *path, const char *suffix)
{
    DIR *here = opendir(path);
    int count = 0;
    for (struct dirent *entry; here && (entry = readdir(here));) {
        size_t n = strlen(entry->d_name), m = strlen(suffix);
        count += n > m && strcmp(entry->d_name + n - m, suffix) == 0;
    }
    if (here)
        closedir(here);
    return count;
}

/* Blanks the cells of columns named t_*, which differ from run to run. */
static void blank_times(char *text)
{
    bool timed[128] = {false};
    char *to = text;
    int column = 0;
    bool header = true, cell_start = true;
    for (char *at = text; *at; at++) {
        if (cell_start && header)
            timed[column] = at[0] == 't' && at[1] == '_';
        cell_start = *at == ',' || *at == '\n';
        if (cell_start || header || !timed[column])
            *to++ = *at;
        if (*at == ',')
            column++;
        if (*at == '\n') {
            column = 0;
            header = false;
        }
    }
    *to = 0;
}

static void assert_same_stats(const char *a, const char *b)
{
    static char left[TEXT], right[TEXT];
    char path[128];
    snprintf(path, sizeof path, "%s/stats.csv", a);
    slurp(path, left);
    snprintf(path, sizeof path, "%s/stats.csv", b);
    slurp(path, right);
    blank_times(left);
    blank_times(right);
    /* The strings are too long for Check to print. */
    ck_assert_msg(strcmp(left, right) == 0, "the rows of %s and %s differ", a, b);
}

/* Frames, surfaces, run.pvd and probes byte by byte, rows but for times. */
static void assert_same_results(const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command,
             "diff -r %s/frames %s/frames && diff -r %s/surface %s/surface && "
             "cmp %s/run.pvd %s/run.pvd && cmp %s/probes.csv %s/probes.csv",
             a, b, a, b, a, b, a, b);
    ck_assert_msg(shell(command) == 0, "%s%s", out, err);
    assert_same_stats(a, b);
}

static void assert_same_checkpoint(const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command,
             "cmp $(ls %s/checkpoint-*.h5 | tail -1) $(ls %s/checkpoint-*.h5 | tail -1)", a, b);
    ck_assert_msg(shell(command) == 0, "%s%s", out, err);
}

static void nap(double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&pause, NULL);
}

static pid_t start(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "exec '%s' run %s >.out2 2>.err2", KILN_PROGRAM, arguments);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGHUP, SIG_DFL); /* ignored where the tests run under nohup */
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    ck_assert_int_gt(child, 0);
    return child;
}

static int wait_for(pid_t child)
{
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void wait_for_file(const char *path)
{
    for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++)
        nap(0.01);
    ck_assert_msg(access(path, F_OK) == 0, "%s never came", path);
}

/* Of a column of stats.csv. */
static double largest_cell(const char *text, const char *name)
{
    int wanted = 0, column = 0;
    double most = -1e300;
    const char *at = text, *found = strstr(text, name);
    ck_assert_ptr_nonnull(found);
    for (; at < found; at++)
        wanted += *at == ',';
    for (at = strchr(text, '\n') + 1; *at; at++) {
        bool starts = at[-1] == ',' || at[-1] == '\n';
        column = at[-1] == '\n' ? 0 : column + (at[-1] == ',');
        if (starts && column == wanted && *at != ',' && *at != '\n' && strtod(at, NULL) > most)
            most = strtod(at, NULL);
    }
    return most;
}

START_TEST(a_run_leaves_what_it_promises)
{
    enter_folder();
    expect(0, "$K run bar.lua --audit", "kiln render");
    ck_assert_msg(strstr(out, "bar.run/run.pvd") != NULL, "%s", out);
    ck_assert_int_eq(files_in("bar.run/frames", ".vtu"), 11);
    ck_assert_int_eq(files_in("bar.run/surface", ".vtu"), 11);
    ck_assert_int_eq(files_in("bar.run", ".h5"), 2);
    static char text[TEXT];
    slurp("bar.run/run.pvd", text);
    ck_assert_ptr_nonnull(strstr(text, "frames/frame-000010.vtu"));
    slurp("bar.run/run.json", text);
    ck_assert_ptr_nonnull(strstr(text, "\"status\": \"done\""));
#ifdef KILN_SOLVER_MUMPS
    ck_assert_ptr_nonnull(strstr(text, "\"solver_used\": \"mumps\""));
#else
    ck_assert_ptr_nonnull(strstr(text, "\"solver_used\": \"multifrontal\""));
#endif
    slurp("bar.run/log.txt", text);
    ck_assert_ptr_nonnull(strstr(text, "done at 0.2 s"));
    slurp("bar.run/stats.csv", text);
    ck_assert_double_gt(largest_cell(text, "contacts"), 0.5); /* it has met the plane */
    ck_assert_double_gt(largest_cell(text, "fz"), 1.0);
    ck_assert_int_eq(strncmp(text, "step,time,dt,vertices,tets,q_min,volume,", 40), 0);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inf"));

    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    kiln_error error = {0};
    ck_assert_msg(kiln_soup_read(context, "bar.run/frames/frame-000010.vtu", NULL, &soup, &error) ==
                      KILN_OK,
                  "%s", error.message);
    ck_assert_uint_eq(soup.tets.count, 24);
    static const char *const names[] = {"u", "v", "reaction", "contact"};
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_nonnull(kiln_soup_find_field(&soup, KILN_ON_VERTEX, names[i]));
    ck_assert_ptr_nonnull(kiln_soup_find_field(&soup, KILN_ON_TET, "mises"));
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    leave_folder();
}
END_TEST

/* What is led is led through: the run says so only when asked to look. */
START_TEST(an_audit_looks_for_surfaces_that_cross)
{
    open_folder();
    write_file(
        "held.lua",
        "local m = material { young = 1e5, poisson = 0.3, density = 1000 }\n"
        "local box = shape.box { lx = 0.2, ly = 0.2, lz = 0.2, n = 1 }\n"
        "return scene { duration = 0.2, contact = {}, step = { dt = 0.02 },\n"
        "bodies = { body { name = 'a', shape = box, material = m },\n"
        "           body { name = 'b', shape = box, at = { 0.4, 0.05, 0.03 }, material = m } },\n"
        "holds = { hold { body = 'a' }, hold { body = 'b', motion = motion.translate {\n"
        "          shift = function(t) return -2 * t, 0, 0 end } } } }\n");
    expect(0, "$K run held.lua -q", "");
    expect(1, "$K run held.lua -q --force --audit", "surfaces pass through each other");
    leave_folder();
}
END_TEST

/* Large enough that every loop over vertices or tets has several chunks (the largest are of 4096
 * vertices), with all that adds to energy: two materials with damping, one with nodal pressure,
 * pressure on faces, holds, contact. */
static const char crowd[] =
    "local function block(at, matter)\n"
    "  return body { shape = shape.box { lx = 1, ly = 0.3, lz = 0.3, nx = 24, ny = 9, nz = 9 },\n"
    "                at = at, material = matter }\n"
    "end\n"
    "return scene {\n"
    "  name = 'crowd', duration = 0.01, gravity = {0, 0, -9.81},\n"
    "  step = { dt = 0.01 },\n"
    "  output = { frame = 0.01, checkpoint = 0.01,\n"
    "             fields = {'mises', 'velocity', 'material', 'reaction', 'contact'} },\n"
    "  bodies = {\n"
    "    block({0, 0, 0}, material { young = 1e5, poisson = 0.3, damping_stiffness = 0.01 }),\n"
    "    block({0, 1, 0}, material { young = 5e4, poisson = 0.48, nodal_pressure = 'on' }),\n"
    "    body { shape = shape.ball { radius = 0.2, h = 0.08 }, at = {0.5, 2, 0.3},\n"
    "           material = material { model = 'corotated', young = 2e5, viscosity = 10 } } },\n"
    "  holds = { hold { where = select.box { from = {-0.01, -1, -1}, to = {0.01, 3, 1} } } },\n"
    "  loads = { load.pressure { where = select.box { from = {0.99, -1, -1}, to = {1.01, 3, 1} },\n"
    "                            amount = 500 } },\n"
    "  obstacles = { obstacle.plane { point = {0, 0, -0.0005}, normal = {0, 0, 1} } },\n"
    "}\n";

START_TEST(threads_do_not_matter)
{
    enter_folder();
    write_file("crowd.lua", crowd);
    expect(0, "$K run crowd.lua -o one --threads 1 --quiet", "");
    ck_assert_str_eq(out, "");
    expect(0, "$K run crowd.lua -o two --threads 2 --quiet", "");
    assert_same_results("one", "two");
    assert_same_checkpoint("one", "two");
    static char text[TEXT];
    slurp("two/stats.csv", text);
    ck_assert_double_gt(largest_cell(text, "vertices"), 4096);
    ck_assert_double_gt(largest_cell(text, "contacts"), 0.5);
    /* The iterative solver has sums of its own. */
    for (uint64_t round = kiln_test_rounds(0, 1); round > 0; round--) {
        expect(0, "$K run crowd.lua -o 3 --threads 1 --quiet --set step.solver.backend=pcg-ic", "");
        expect(0, "$K run crowd.lua -o 4 --threads 2 --quiet --set step.solver.backend=pcg-ic", "");
        assert_same_results("3", "4");
    }
    leave_folder();
}
END_TEST

START_TEST(killed_at_any_moment_it_resumes_to_the_same_bits)
{
    enter_folder();
    expect(0, "$K run bar.lua -o whole --quiet", "");
    kiln_random random = kiln_random_start(3, (uint64_t)getpid());
    uint64_t kills = kiln_test_rounds(20, 200), killed = 0;
    for (int round = 0; killed < kills; round++) {
        ck_assert_int_eq(shell("rm -rf broken"), 0);
        char arguments[80] = "bar.lua -o broken --quiet";
        for (;;) {
            pid_t child = start(arguments);
            nap(kiln_random_range(&random, 0.02, 0.35));
            if (killed < kills)
                kill(child, SIGKILL);
            int status = wait_for(child);
            slurp(".err2", err);
            if (WIFEXITED(status)) {
                ck_assert_msg(WEXITSTATUS(status) == 0, "%s", err);
                break;
            }
            killed++;
            bool begun = access("broken", F_OK) == 0;
            snprintf(arguments, sizeof arguments, "bar.lua -o broken --quiet%s",
                     begun ? " --resume" : "");
        }
        assert_same_results("whole", "broken");
        assert_same_checkpoint("whole", "broken");
        ck_assert_int_eq(shell("test -z \"$(find broken -name '*.kiln-*')\""), 0);
    }
    leave_folder();
}
END_TEST

#define PRESS                                                                                      \
    " --set 'obstacles[1].name=\"punch\"' --set 'holds[1].name=\"clamp\"'"                         \
    " --set 'probes={probe{point={1,0,0},name=\"tip\"},probe{body=\"body1\"}}'"

/* A row a step, whatever is stopped and resumed; other columns after a change begin another file.
 */
START_TEST(probes_are_written_beside_the_statistics)
{
    enter_folder();
    expect(0, "$K run bar.lua -o whole --quiet" PRESS, "");
    expect(0, "head -1 whole/probes.csv",
           "step,time,punch.place.x,punch.place.y,punch.place.z,punch.force.x,punch.force.y,"
           "punch.force.z,punch.torque.x,punch.torque.y,punch.torque.z,clamp.place.x,");
    expect(0, "head -1 whole/probes.csv", ",body1.e_elastic,tip.place.x,");
    expect(0,
           "test $(wc -l <whole/probes.csv) = $(wc -l <whole/stats.csv) && cut -d, -f1,2 "
           "whole/stats.csv >a && cut -d, -f1,2 whole/probes.csv | cmp - a && echo same",
           "same");
    expect(0, "$K run bar.lua -o broken --quiet --until 0.1" PRESS, "");
    expect(0, "echo 99,0.5,half >>broken/probes.csv; $K run bar.lua -o broken --resume --quiet",
           "");
    expect(0, "cmp whole/probes.csv broken/probes.csv && echo same", "same");

    /* A run of a version that did not write it goes on. */
    expect(0,
           "$K run bar.lua -o old --quiet --until 0.1" PRESS " && rm old/probes.csv && "
           "$K run bar.lua -o old --resume --quiet --until 0.16 && "
           "$K run bar.lua -o old --resume --quiet",
           "");
    expect(0, "tail -20 whole/probes.csv >a; tail -20 old/probes.csv | cmp - a && echo same",
           "same");
    /* Other columns than those of the file begin another. */
    expect(0,
           "$K run bar.lua -o other --quiet --until 0.1" PRESS " && sed -i '1s/punch/plane/g' "
           "other/probes.csv && $K run bar.lua -o other --resume --quiet",
           "");
    expect(0, "wc -l <other/probes-1.csv", "22");
    expect(0,
           "head -1 whole/probes.csv >a; tail -20 whole/probes.csv >>a; cmp a other/probes.csv "
           "&& echo same",
           "same");
    expect(0,
           "$K run bar.lua -o other --force --quiet --until 0.01; test ! -e other/probes-1.csv "
           "&& echo gone",
           "gone");
    /* One that lacks rows does not. */
    expect(0,
           "$K run bar.lua -o cut --quiet --until 0.1" PRESS
           " && head -5 cut/probes.csv >a && mv a cut/probes.csv && echo cut",
           "cut");
    expect(2, "$K run bar.lua -o cut --resume --quiet", "probes.csv: ends with step 3");
    leave_folder();
}
END_TEST

/* What stands is written once; what moves with each frame; both are listed at every time. */
START_TEST(obstacles_are_in_the_collection)
{
    enter_folder();
    expect(0,
           "$K run bar.lua -o still --quiet --set "
           "'obstacles[1]=obstacle.sphere{radius=0.1,centre={1,0,-0.3}}'",
           "");
    ck_assert_int_eq(files_in("still/surface", ".vtu"), 1);
    expect(0,
           "grep -c 'part=\"1\" name=\"obstacles\" file=\"surface/obstacles-000000.vtu\"' "
           "still/run.pvd",
           "11");
    expect(0,
           "$K run bar.lua -o moving --quiet --until 0.1 --set "
           "'obstacles[1]=obstacle.sphere{radius=0.1,centre={1,0,-0.3},motion=motion.translate{"
           "shift=function(t) return {0,0,-t} end}}'",
           "");
    ck_assert_int_eq(files_in("moving/surface", ".vtu"), 6);
    expect(0, "$K run bar.lua -o moving --resume --quiet", "");
    expect(0, "grep -c 'part=\"0\" name=\"bodies\" file=\"frames/' moving/run.pvd", "11");
    expect(0, "grep -c obstacles-000010.vtu moving/run.pvd", "1");
    expect(0, "grep -A1 bodies still/run.json", "body1");
    expect(0, "$K render moving -o film/ --size 32x24 --samples 1 && ls film | wc -l", "11");
    leave_folder();
}
END_TEST

#define WITH_SURFACE                                                                               \
    " --set 'bodies[1].surface=shape.box{lx=1,ly=0.25,lz=0.25,n=3}' --set 'bodies[1].name=\"a "    \
    "bar\"'"

START_TEST(surfaces_are_written_beside_the_frames)
{
    enter_folder();
    expect(0, "$K run bar.lua -o whole --quiet" WITH_SURFACE, "");
    ck_assert_int_eq(files_in("whole/surface", ".ply"), 11);
    ck_assert_int_eq(files_in("whole/surface", ".vtu"), 11); /* of the plane, cut out anew */
    expect(0, "ls whole/surface", "body.1-000010.ply");
    expect(0,
           "$K run bar.lua -o named --quiet --until 0.02 --set bodies[1].name=bar --set "
           "'bodies[1].surface=shape.box{n=1}'",
           "");
    expect(0, "ls named/surface", "bar-000001.ply");
    expect(0, "$K run bar.lua -o named --force --quiet --until 0.005", "");
    ck_assert_int_eq(files_in("named/surface", ".ply"), 0);
    ck_assert_int_eq(files_in("named/surface", ".vtu"), 2); /* of the obstacles */

    /* Stopped between frames, with surfaces of an ending that never was. */
    expect(0, "$K run bar.lua -o broken --quiet --until 0.1" WITH_SURFACE, "");
    write_file("broken/surface/body.1-000009.ply", "old");
    expect(0, "$K run bar.lua -o broken --resume --quiet", "");
    assert_same_results("whole", "broken");
    assert_same_checkpoint("whole", "broken");

    /* The fine corner of the bar is where the coarse one is. */
    kiln_context *context = kiln_test_context(1);
    kiln_soup fine, frame;
    kiln_soup_init(&fine, context);
    kiln_soup_init(&frame, context);
    ck_assert_int_eq(kiln_soup_read(context, "whole/surface/body.1-000010.ply", NULL, &fine, NULL),
                     KILN_OK);
    ck_assert_int_eq(kiln_soup_read(context, "whole/frames/frame-000010.vtu", NULL, &frame, NULL),
                     KILN_OK);
    const double *u = kiln_soup_find_field(&fine, KILN_ON_VERTEX, "u")->data.data;
    const double *w = kiln_soup_find_field(&frame, KILN_ON_VERTEX, "u")->data.data;
    double moved = 0.0, off = 1.0;
    for (size_t i = 0; i < fine.points.count; i++)
        for (size_t k = 0; k < frame.points.count; k++)
            if (memcmp(u + 3 * i, w + 3 * k, 3 * sizeof(double)) == 0 && u[3 * i] == 1.0) {
                off = kiln_v3_norm(kiln_v3_sub(fine.points.data[i], frame.points.data[k]));
                moved = fabs(fine.points.data[i].z - u[3 * i + 2]);
                ck_assert_double_le(off, 1e-14);
            }
    ck_assert_double_le(off, 1e-14);
    ck_assert_double_gt(moved, 0.01);
    kiln_soup_free(&fine);
    kiln_soup_free(&frame);
    kiln_context_destroy(context);
    leave_folder();
}
END_TEST

/* Slow enough to be caught in the middle. */
static void write_slow(void)
{
    char text[2000];
    snprintf(text, sizeof text,
             "%.*s  gravity = function(t) local s = 0 for i = 1, 3e5 do s = s + i end "
             "return 0, 0, -9.81 end,\n%s",
             (int)(strstr(bar, "  name") - bar), bar,
             strstr(bar, "  name = 'bar', duration = 0.2,"));
    char *old = strstr(text, " gravity = {0, 0, -9.81},");
    memset(old, ' ', strlen(" gravity = {0, 0, -9.81},"));
    write_file("slow.lua", text);
}

START_TEST(signals_finish_the_step_and_say_how_to_go_on)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    enter_folder();
    write_slow();
    expect(0, "$K run slow.lua -o whole --quiet", "");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(shell("rm -rf part"), 0);
        pid_t child = start("slow.lua -o part");
        wait_for_file("part/checkpoint-000000.h5");
        kill(child, signals[i]);
        int status = wait_for(child);
        slurp(".out2", out);
        slurp(".err2", err);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %x: %s%s", status, out,
                      err);
        ck_assert_msg(strstr(out, "kiln run slow.lua -o part --resume") != NULL, "%s", out);
        char command[300]; /* as it is printed */
        snprintf(command, sizeof command, "%.*s",
                 (int)strcspn(strstr(out, "to go on: ") + 10, "\n"),
                 strstr(out, "to go on: ") + 10);
        expect(0, command, "resumed at");
        assert_same_results("whole", "part");
    }
    leave_folder();
}
END_TEST

START_TEST(a_second_signal_ends_at_once)
{
    enter_folder();
    write_slow();
    ck_assert_int_eq(shell("sed -i 's/3e5/5e7/' slow.lua"), 0);
    pid_t child = start("slow.lua -o part");
    wait_for_file("part/frames/frame-000000.vtu");
    nap(0.2);
    kill(child, SIGINT);
    nap(0.1);
    kill(child, SIGINT);
    int status = wait_for(child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    ck_assert_int_eq(files_in("part", ".h5"), 0);
    ck_assert_int_eq(shell("sed -i 's/5e7/5/' slow.lua"), 0);
    expect(0, "$K run slow.lua -o part --resume --until 0.01", "the --set of this command");
    leave_folder();
}
END_TEST

START_TEST(a_full_disk_leaves_the_last_checkpoint)
{
    enter_folder();
    expect(0, "$K run bar.lua -o whole --quiet", "");
    expect(0, "$K run bar.lua -o full --until 0.06 --quiet", "");
    ck_assert_int_eq(shell("rm -rf keep; cp -r full keep"), 0);
    /* Blocks of 512 bytes: the rows do not fit any more, or the checkpoint does not. */
    static const int limits[] = {16, 37};
    for (int i = 0; i < 2; i++) {
        char command[200];
        ck_assert_int_eq(shell("rm -rf full; cp -r keep full"), 0);
        snprintf(command, sizeof command,
                 "ulimit -f %d; ASAN_OPTIONS=detect_leaks=0 $K run bar.lua -o full --resume",
                 limits[i]);
        expect(1, command, "too large");
        ck_assert_msg(strstr(err, "to go on: ") != NULL, "%s", err);
        ck_assert_int_eq(shell("test -z \"$(find full -name '*.kiln-*')\""), 0);
        expect(0, "$K run bar.lua -o full --resume --quiet", "");
        assert_same_stats("whole", "full");
    }
    leave_folder();
}
END_TEST

START_TEST(folders_are_not_overwritten_by_mistake)
{
    enter_folder();
    expect(0, "$K run bar.lua --until 0.02 --quiet", "");
    expect(2, "$K run bar.lua", "holds a run already");
    ck_assert_ptr_nonnull(strstr(err, "--resume"));
    ck_assert_ptr_nonnull(strstr(err, "--force"));
    write_file("bar.run/mine.txt", "mine");
    expect(0, "$K run bar.lua --force --until 0.01", "done");
    ck_assert_int_eq(access("bar.run/mine.txt", F_OK), 0);
    ck_assert_int_eq(files_in("bar.run/frames", ".vtu"), 2);
    expect(2, "$K run bar.lua -o none --resume", "there is no run to resume");
    expect(2, "$K run bar.lua --resume --force", "exclude");
    expect(2, "$K run bar.lua --json --quiet", "exclude");
    expect(2, "$K run nothing.lua", "nothing.lua");
    expect(2, "$K run bar.lua -o bar.lua --force", "bar.lua");
    expect(2, "$K run bar.lua -o /proc/kiln", "/proc/kiln");
    expect(2, "$K run bar.lua --until -1", "must not be negative");
    /* A scene that is refused leaves no folder. */
    expect(2, "$K run bar.lua -o new --set step.dt=-1", "step.dt");
    ck_assert_int_ne(access("new", F_OK), 0);
    leave_folder();
}
END_TEST

START_TEST(an_unwritable_folder_is_an_error)
{
    enter_folder();
    ck_assert_int_eq(mkdir("closed", 0555), 0);
    const char *command = geteuid() == 0
                              ? "setpriv --reuid=65534 --clear-groups $K run bar.lua -o closed/a"
                              : "$K run bar.lua -o closed/a";
    expect(2, command, "cannot make the folder: Permission denied");
    leave_folder();
}
END_TEST

START_TEST(a_resumed_run_keeps_its_scene)
{
    enter_folder();
    expect(0, "$K run bar.lua -o whole --quiet --set gravity={0,0,-5} --set step.dt=0.01", "");
    expect(0,
           "$K run bar.lua -o part --quiet --set gravity={0,0,-5} --set step.dt=0.01 --until 0.06",
           "");
    write_file("bar.lua", "return nonsense");
    expect(0, "$K run bar.lua -o part --resume", "has changed since");
    assert_same_results("whole", "part");
    /* Done already: nothing happens. */
    expect(0, "$K run bar.lua -o part --resume", "done at 0.2 s");
    assert_same_results("whole", "part");
    leave_folder();
}
END_TEST

START_TEST(a_damaged_checkpoint_is_passed_over)
{
    enter_folder();
    expect(0, "$K run bar.lua -o whole --quiet", "");
    expect(0, "$K run bar.lua -o part --until 0.1 --quiet", "");
    ck_assert_int_eq(shell("truncate -s 9000 $(ls part/checkpoint-*.h5 | tail -1)"), 0);
    expect(0, "$K run bar.lua -o part --resume", "from the one before");
    assert_same_stats("whole", "part");
    ck_assert_int_eq(shell("truncate -s 9000 part/checkpoint-*.h5"), 0);
    expect(2, "$K run bar.lua -o part --resume", "not whole");
    ck_assert_msg(strstr(err, "to begin anew") != NULL, "%s", err);
    leave_folder();
}
END_TEST

/* A tonne of a cube that stands on z = 0, before anything has moved. */
START_TEST(the_first_row_has_the_potential_of_the_loads)
{
    open_folder();
    write_file("cube.lua",
               "return scene { duration = 0.01, gravity = {0, 0, -9.81}, bodies = { body {\n"
               "  shape = shape.box { n = 1 }, material = material { young = 1e6 } } } }\n");
    expect(0,
           "$K run cube.lua -q && awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "
           "\"e_load\") c = i } NR == 2 { printf \"%.6g J\\n\", $c }' cube.run/stats.csv",
           "4905 J");
    leave_folder();
}
END_TEST

START_TEST(hard_runs_recover_or_say_why)
{
    enter_folder();
    /* Stiff and fast, with a dt far too large: must get through. */
    write_file("hard.lua",
               "return scene { duration = 0.1, gravity = {0, 0, -9.81},\n"
               "step = { dt = 1, dt_min = 1e-9, max_stretch = 0.5 }, output = { frame = 0.05 },\n"
               "bodies = { body { shape = shape.ball { radius = 0.1, h = 0.06 },\n"
               "  velocity = {0, 0, -3}, material = material { young = 1e5, poisson = 0.4 } } },\n"
               "obstacles = { obstacle.plane { point = {0, 0, -0.2}, normal = {0, 0, 1} } } }\n");
    expect(0, "$K run hard.lua", "done at 0.1 s");
    /* Impossible: must stop with a diagnosis and something to go on from. */
    expect(1, "$K run hard.lua -o stuck --set step.max_acceleration=1 --set step.dt_min=0.01",
           "max_acceleration");
    ck_assert_msg(strstr(err, "gave up at 0 s") != NULL, "%s", err);
    ck_assert_int_eq(files_in("stuck", ".h5"), 1);
    static char text[TEXT];
    slurp("stuck/run.json", text);
    ck_assert_ptr_nonnull(strstr(text, "\"status\": \"gave up\""));
    slurp("stuck/log.txt", text); /* each try, and why it was none */
    ck_assert_msg(
        strstr(text, "after 0 s: a step of 0.05 s is taken back: a vertex is accelerated"), "%s",
        text);
    /* The advice is not what the scene has already. */
    expect(1,
           "$K run hard.lua -o flat --set bodies[1].velocity={0,0,-3000} --set step.dt_min=1e-6 "
           "--set step.max_stretch=0 --set contact.obstacles=points --set contact.bodies=false",
           "a material that cannot be inverted (neo-hookean)");
    write_file("adrift.lua",
               "return scene { gravity = {0, 0, -9.81}, step = {integrator = 'static'},\n"
               "bodies = { body { shape = shape.box { lx = 1, ly = 0.2, lz = 0.2, n = 2 },\n"
               "  material = material { young = 1e5 } } } }\n");
    expect(1, "$K run adrift.lua", "nothing holds it against moving along (0, 0, -1)");
    ck_assert_msg(strstr(err, "is every body held") != NULL, "%s", err);
    /* A start that is rarely meant is said. */
    expect(0, "$K run hard.lua -o within --set 'obstacles[1].point={0,0,-0.05}' --until 0", "done");
    ck_assert_msg(strstr(err, "0.05 m inside obstacle 'obstacle1'") != NULL, "%s", err);
    expect(0, "$K run hard.lua -o above --until 0", "done");
    ck_assert_msg(strstr(err, "inside") == NULL, "%s", err);
    leave_folder();
}
END_TEST

START_TEST(scripts_get_a_line_per_step)
{
    enter_folder();
    expect(0, "$K run bar.lua --json --until 0.02", "\"event\": \"end\", \"status\": \"done\"");
    int steps = 0, frames = 0;
    for (const char *at = out; (at = strchr(at, '\n')); at++)
        steps += strncmp(at + 1, "{\"event\": \"step\", \"step\": ", 26) == 0;
    for (const char *at = out; (at = strstr(at, "\"event\": \"frame\"")); at++)
        frames++;
    ck_assert_int_eq(steps, 5);
    ck_assert_int_eq(frames, 2);
    ck_assert_ptr_null(strstr(out, "nan"));
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("kiln run");
    TCase *all = kiln_test_case(suite, "kiln run");
    tcase_add_test(all, a_run_leaves_what_it_promises);
    tcase_add_test(all, an_audit_looks_for_surfaces_that_cross);
    tcase_add_test(all, threads_do_not_matter);
    tcase_add_test(all, killed_at_any_moment_it_resumes_to_the_same_bits);
    tcase_add_test(all, probes_are_written_beside_the_statistics);
    tcase_add_test(all, obstacles_are_in_the_collection);
    tcase_add_test(all, surfaces_are_written_beside_the_frames);
    tcase_add_test(all, signals_finish_the_step_and_say_how_to_go_on);
    tcase_add_test(all, a_second_signal_ends_at_once);
    tcase_add_test(all, a_full_disk_leaves_the_last_checkpoint);
    tcase_add_test(all, folders_are_not_overwritten_by_mistake);
    tcase_add_test(all, an_unwritable_folder_is_an_error);
    tcase_add_test(all, a_resumed_run_keeps_its_scene);
    tcase_add_test(all, a_damaged_checkpoint_is_passed_over);
    tcase_add_test(all, the_first_row_has_the_potential_of_the_loads);
    tcase_add_test(all, hard_runs_recover_or_say_why);
    tcase_add_test(all, scripts_get_a_line_per_step);
    return suite;
}

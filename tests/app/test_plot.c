/* Plots of statistics, made by the built program. */
#include "program.h"
#include "synthetic_run.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void enter_folder(void)
{
    open_folder();
    ck_assert_int_eq(mkdir("run", 0777), 0);
    synthetic_run run = {.folder = "run", .frames = 24};
    synthetic_stats(&run);
}

START_TEST(the_usual_diagrams_are_there)
{
    ck_assert_int_eq(run_program("plot run"), 0);
    ck_assert_int_eq(
        run_shell("python3 -c 'import xml.dom.minidom as m; m.parse(\"run/plot.svg\")'"), 0);
    const char *texts[] = {"Energy (",  "Momentum (",    "Volume / rest volume",
                           "Mesh",      "Quality",       "Newton",
                           "Time step", "Time per step", "Angular momentum",
                           ">kinetic<", ">elastic<",     ">potential<",
                           ">total<",   ">worst<",       ">factor<",
                           "time (s)"};
    char command[200];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        snprintf(command, sizeof command, "grep -q -F -e '%s' run/plot.svg", texts[i]);
        ck_assert_msg(run_shell(command) == 0, "no '%s'", texts[i]);
    }
    /* Columns without a value anywhere are left out, as are diagrams of nothing but zeros. */
    ck_assert_int_ne(run_shell("grep -q -F -e '>plastic<' -e '>remesh<' -e Contacts run/plot.svg"),
                     0);
}
END_TEST

/* Columns of both files, each row with the step it belongs to; a vector by its name. */
START_TEST(columns_of_probes_are_found)
{
    write_file("run/stats.csv", "step,time,dt\n0,0,\n1,0.5,0.5\n2,1,0.5\n3,1.5,0.5\n");
    write_file("run/probes.csv", "step,time,punch.force.x,punch.force.y,punch.force.z,tip.place.z\n"
                                 "1,0.5,0,0,10,1\n2,1,0,0,20,2\n");
    ck_assert_int_eq(run_program("plot run punch.force dt+tip.place.z -o p.svg"), 0);
    ck_assert_int_eq(run_shell("grep -q -F 'punch.force.z' p.svg && grep -q -F '>N<' p.svg"), 0);
    ck_assert_int_eq(run_shell("grep -q -F 'tip.place.z' p.svg"), 0);
    ck_assert_int_eq(run_program("plot run -o q.svg --columns tip.place.z"), 0);
    ck_assert_int_eq(run_shell("grep -q -F '(m)' q.svg"), 0);
    ck_assert_int_eq(run_shell("\"" KILN_PROGRAM "\" plot run --list >list && test "
                               "$(wc -l <list) = 7 && grep -q '^punch.force.y  N$' list"),
                     0);
    ck_assert_int_ne(run_program("plot run punch.forc"), 0);
    /* Of 2 points at steps 1 and 2 a curve of two points: rows without a value are no zeros. */
    ck_assert_int_eq(run_shell("test $(grep 'stroke-width=\"1.6\"' q.svg | head -1 | grep -o , | "
                               "wc -l) = 2"),
                     0);
}
END_TEST

/* The curve of y = 2 x on its own axes must pass through the places of the ticks. */
START_TEST(curves_meet_their_axes)
{
    write_file("a.csv", "time,twice\n0,0\n1,2\n2,4\n4,8\n");
    ck_assert_int_eq(run_program("plot a.csv -o a.svg --columns twice"), 0);
    double x[4], y[4], tick;
    FILE *file = fopen("a.svg", "r");
    ck_assert_ptr_nonnull(file);
    char line[4096];
    bool found = false;
    double labels[10][2];
    int count = 0;
    while (fgets(line, sizeof line, file)) {
        if (strstr(line, "stroke-width=\"1.6\""))
            found = sscanf(line, "<polyline points=\"%lf,%lf %lf,%lf %lf,%lf %lf,%lf", &x[0], &y[0],
                           &x[1], &y[1], &x[2], &y[2], &x[3], &y[3]) == 8;
        double at;
        char *text = strstr(line, "text-anchor=\"end\"");
        if (text && sscanf(line, "<text x=\"%*f\" y=\"%lf\"", &at) == 1 &&
            sscanf(strchr(text, '>') + 1, "%lf", &tick) == 1 && count < 10) {
            labels[count][0] = tick;
            labels[count++][1] = at;
        }
    }
    fclose(file);
    ck_assert(found);
    ck_assert_int_ge(count, 3);
    ck_assert_double_eq_tol((x[1] - x[0]) / (x[3] - x[0]), 0.25, 1e-3);
    for (int i = 1; i < count; i++) {
        double share = (labels[i][0] - labels[0][0]) / 8.0;
        double place = labels[0][1] - share * (y[0] - y[3]);
        ck_assert_double_eq_tol(labels[i][1], place, 0.1);
    }
}
END_TEST

/* Decades are as far apart as decades, a dot for each row, and none for what has no logarithm. */
START_TEST(powers_on_logarithmic_axes)
{
    write_file("a.csv", "n,error\n10,1\n100,0.1\n300,0\n1000,0.001\n");
    ck_assert_int_eq(run_program("plot a.csv -o a.svg error --x n --log --points"), 0);
    ck_assert_int_ne(run_shell("grep -q 'stroke-width=\"1.6\"' a.svg"), 0);
    FILE *file = fopen("a.svg", "r");
    ck_assert_ptr_nonnull(file);
    char line[4096];
    double x[4], y[4], width, height;
    int dots = 0;
    while (fgets(line, sizeof line, file)) {
        double at[2];
        if (sscanf(line, "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &at[0], &at[1],
                   &width, &height) == 4 &&
            width == 3.0 && height == 3.0) {
            ck_assert_int_lt(dots, 4);
            x[dots] = at[0];
            y[dots++] = at[1];
        }
    }
    fclose(file);
    ck_assert_int_eq(dots, 3);
    ck_assert_double_gt(x[1] - x[0], 50.0);
    ck_assert_double_eq_tol(x[2] - x[1], x[1] - x[0], 0.2);
    ck_assert_double_eq_tol(y[2] - y[1], 2 * (y[1] - y[0]), 0.3);
    ck_assert_int_eq(run_shell("grep -q '>1000<' a.svg && grep -q '>0.001<' a.svg"), 0);
}
END_TEST

/* Of a run whose mesh is judged by energy. */
START_TEST(energy_against_vertices)
{
    write_file("run/stats.csv", "step,time,vertices,e_elastic,gained\n0,0,10,5,0\n1,1,20,4,1\n");
    ck_assert_int_eq(run_program("plot run"), 0);
    ck_assert_int_eq(run_shell("grep -q 'Energy against vertices' run/plot.svg"), 0);
    write_file("run/stats.csv", "step,time,vertices,e_elastic,gained\n0,0,10,5,0\n1,1,20,4,0\n");
    ck_assert_int_eq(run_program("plot run"), 0);
    ck_assert_int_ne(run_shell("grep -q 'Energy against vertices' run/plot.svg"), 0);
}
END_TEST

/* There and back again: every row is on the curve, in order, and the axis spans them all. */
START_TEST(curves_over_any_column)
{
    write_file("a.csv", "time,way,force\n0,0,0\n1,4,2\n2,2,4\n3,,4\n4,-4,1\n5,0,0\n");
    ck_assert_int_eq(run_program("plot a.csv -o a.svg --columns force --x way"), 0);
    double x[3], y[3], rest[2][2];
    FILE *file = fopen("a.svg", "r");
    ck_assert_ptr_nonnull(file);
    char line[4096];
    int curves = 0;
    while (fgets(line, sizeof line, file)) {
        if (!strstr(line, "stroke-width=\"1.6\""))
            continue;
        if (curves++ == 0)
            ck_assert_int_eq(sscanf(line, "<polyline points=\"%lf,%lf %lf,%lf %lf,%lf\"", &x[0],
                                    &y[0], &x[1], &y[1], &x[2], &y[2]),
                             6);
        else
            ck_assert_int_eq(sscanf(line, "<polyline points=\"%lf,%lf %lf,%lf\"", &rest[0][0],
                                    &rest[0][1], &rest[1][0], &rest[1][1]),
                             4);
    }
    fclose(file);
    ck_assert_int_eq(curves, 2); /* the empty cell is a gap */
    double unit = (x[1] - x[0]) / 4.0;
    ck_assert_double_gt(unit, 10.0);
    ck_assert_double_eq_tol(x[2], x[0] + 2 * unit, 0.1);
    ck_assert_double_eq_tol(rest[0][0], x[0] - 4 * unit, 0.1);
    ck_assert_double_eq_tol(y[0] - y[2], 2 * (y[0] - y[1]), 0.1);
    /* What is stacked over time is curves over another column. */
    ck_assert_int_eq(run_program("plot run -o b.svg --x e_kinetic"), 0);
    write_file("b.csv", "time,way\n0,\n1,\n");
    ck_assert_int_eq(run_program("plot b.csv -o b.svg --columns time --x way"), 2);
    ck_assert_int_eq(run_shell("grep -q \"'way' is empty\" .err"), 0);
}
END_TEST

START_TEST(a_png_is_drawn)
{
    ck_assert_int_eq(run_program("plot run -o a.png"), 0);
    ck_assert_int_eq(run_program("plot run -o b.png --columns e_kinetic+e_elastic,dt --x step"), 0);
    ck_assert_int_eq(run_program("plot run -o c.png --columns e_kinetic+e_elastic,dt"), 0);
    ck_assert_int_ne(run_shell("cmp -s b.png c.png"), 0);
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert(png_image_begin_read_from_file(&image, "a.png"));
    image.format = PNG_FORMAT_RGB;
    uint8_t *rgb = malloc(PNG_IMAGE_SIZE(image));
    ck_assert(png_image_finish_read(&image, NULL, rgb, 0, NULL));
    size_t clay = 0, white = 0, all = (size_t)image.width * image.height;
    for (size_t i = 0; i < all; i++) {
        const uint8_t *c = rgb + 3 * i;
        clay += c[0] == 0xc2 && c[1] == 0x57 && c[2] == 0x3a;
        white += c[0] == 255 && c[1] == 255 && c[2] == 255;
    }
    ck_assert_msg(clay > 5000 && white > all / 2, "clay %zu, white %zu of %zu", clay, white, all);
    free(rgb);
}
END_TEST

START_TEST(long_runs_stay_small_files)
{
    FILE *file = fopen("long.csv", "w");
    fputs("time,a\n", file);
    for (int i = 0; i < 200000; i++)
        fprintf(file, "%d,%d\n", i, i == 123456 ? 1000 : i % 7);
    fclose(file);
    ck_assert_int_eq(run_program("plot long.csv -o a.svg --columns a"), 0);
    ck_assert_int_eq(run_shell("test $(wc -c < a.svg) -lt 100000"), 0);
    /* The one high value is not lost: it decides the axis and is drawn at its upper end. */
    ck_assert_int_eq(run_shell("grep -q '>1000<' a.svg && grep -q ',48.00' a.svg"), 0);
}
END_TEST

START_TEST(hard_values_are_drawn)
{
    const char *tables[] = {"time,a\n0,\n",
                            "time,a\n0,5\n",
                            "time,a\n1,1e300\n2,-1e300\n",
                            "time,a\n0,1e-300\n0,2e-300\n",
                            "time,a\n0,1e-320\n1,3e-320\n",
                            "time,a\n0,1e305\n1,-1e305\n",
                            "time,a\n5,0\n5,0\n",
                            "time,a\n0,1\n1,\n2,3\n3,4\n",
                            "step,a<b>&\n0,1\n1,2\n",
                            "time,a\r\n0,1\r\n1,2\r\n"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        write_file("a.csv", tables[i]);
        const char *name = i == 8 ? "'a<b>&'" : "a";
        char arguments[100];
        snprintf(arguments, sizeof arguments, "plot a.csv -o a.svg --columns %s", name);
        ck_assert_msg(run_program(arguments) == 0, "table %zu", i);
        ck_assert_msg(run_shell("grep -q -i -e nan -e inf a.svg") != 0, "table %zu", i);
        ck_assert_int_eq(run_shell("python3 -c 'import xml.dom.minidom as m; m.parse(\"a.svg\")'"),
                         0);
        snprintf(arguments, sizeof arguments, "plot a.csv -o a.png --columns %s", name);
        ck_assert_msg(run_program(arguments) == 0, "table %zu", i);
    }
}
END_TEST

/* A row that is being written is left out; the same in the middle is an error. */
START_TEST(a_row_being_written_is_left_out)
{
    write_file("run/stats.csv", "time,dt,newton\n0,0.1,3\n0.1,0.1,4\n0.2,0.1");
    ck_assert_int_eq(run_program("plot run --columns dt"), 0);
    ck_assert_int_eq(run_shell("grep -q ': 2 steps' .out"), 0);
    write_file("run/stats.csv", "time,dt,newton\n0,0.1,3\n0.1,0.1,4\n0.2,0.1,5");
    ck_assert_int_eq(run_program("plot run --columns dt"), 0);
    ck_assert_int_eq(run_shell("grep -q ': 3 steps' .out"), 0);
}
END_TEST

static void expect_refusal(const char *table, const char *arguments, const char *words)
{
    if (table)
        write_file("run/stats.csv", table);
    char command[300];
    ck_assert_msg(run_program(arguments) == 2, "%s", arguments);
    snprintf(command, sizeof command, "grep -q -e '%s' .err || { cat .err; false; }", words);
    ck_assert_msg(run_shell(command) == 0, "%s: no '%s'", arguments, words);
    ck_assert_msg(run_shell("ls . run | grep -e svg -e png -e kiln-") != 0, "%s left a file",
                  arguments);
}

START_TEST(bad_input_is_refused_with_its_line)
{
    expect_refusal(NULL, "plot run --columns e_kinetik", "did you mean .e_kinetic");
    expect_refusal(NULL, "plot run --columns dt,", "no column");
    expect_refusal(NULL, "plot run --x nothing_like_it", "nothing_like_it");
    expect_refusal(NULL, "plot run -o a.jpg", "svg or .png");
    expect_refusal(NULL, "plot run -o nowhere/a.svg", "nowhere");
    expect_refusal(NULL, "plot absent -o a.svg", "absent");
    expect_refusal("", "plot run", "stats.csv");
    expect_refusal("time,dt\n", "plot run", "no steps");
    expect_refusal("time,,dt\n0,1,2\n", "plot run", "stats.csv:1: ");
    expect_refusal("0,1,2\n1,2,3\n", "plot run", "stats.csv:1: .*names");
    expect_refusal("time,dt\n0,1\n1,1,1\n2,1\n", "plot run", "stats.csv:3: .*3 cells");
    expect_refusal("time,dt\n0,1\n1,fast\n2,1\n", "plot run", "stats.csv:3: dt: .*fast");
    expect_refusal("time,dt\n0,1\n1,nan\n2,1\n", "plot run", "stats.csv:3: dt: .*finite");
    expect_refusal("time,dt\n0,1e308\n1,-1e308\n", "plot run", "stats.csv:2: dt: .*too large");
    expect_refusal("time,dt\n0,1\n1,1\n0.5,1\n", "plot run", "does not rise");
    expect_refusal("time,zz\n0,1\n", "plot run", "usual columns");
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("plot");
    TCase *all = kiln_test_case(suite, "plot");
    tcase_add_checked_fixture(all, enter_folder, leave_folder);
    tcase_add_test(all, the_usual_diagrams_are_there);
    tcase_add_test(all, columns_of_probes_are_found);
    tcase_add_test(all, curves_meet_their_axes);
    tcase_add_test(all, curves_over_any_column);
    tcase_add_test(all, powers_on_logarithmic_axes);
    tcase_add_test(all, energy_against_vertices);
    tcase_add_test(all, a_png_is_drawn);
    tcase_add_test(all, long_runs_stay_small_files);
    tcase_add_test(all, hard_values_are_drawn);
    tcase_add_test(all, a_row_being_written_is_left_out);
    tcase_add_test(all, bad_input_is_refused_with_its_line);
    return suite;
}

/* The scenes of matter that flows, coarse and short: each begins just before what it is about. */
#include "program.h"

#include <math.h>

enum { TEXT = 1 << 18 };

/* Number of a column of stats.csv. */
static int column_of(const char *header, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0;; i++) {
        size_t cell = strcspn(header, ",\n");
        if (cell == length && strncmp(header, name, length) == 0)
            return i;
        ck_assert_msg(header[cell] == ',', "no column %s", name);
        header += cell + 1;
    }
}

static double cell_of(const char *row, int column)
{
    for (int i = 0; i < column; i++)
        row += strcspn(row, ",") + 1;
    return strtod(row, NULL);
}

typedef struct course {
    int steps;
    double worst, flowed; /* worst quality; flows of tets, all steps together */
} course;

static course run_scene(const char *name, const char *settings)
{
    static char text[TEXT];
    char arguments[1024];
    snprintf(arguments, sizeof arguments, "run '%s/scenes/%s.lua' -o '%s' --force --quiet %s",
             KILN_SOURCE_DIR, name, name, settings);
    int code = run_program(arguments);
    read_file(".err", text, TEXT);
    ck_assert_msg(code == 0, "%s: %s", name, text);
    snprintf(arguments, sizeof arguments, "%s/stats.csv", name);
    read_file(arguments, text, TEXT);
    int quality = column_of(text, "q_min"), flowed = column_of(text, "flowed");
    course found = {0, 1.0, 0.0};
    for (char *row = strchr(text, '\n') + 1; *row; row = strchr(row, '\n') + 1, found.steps++) {
        found.worst = fmin(found.worst, cell_of(row, quality));
        found.flowed += cell_of(row, flowed);
    }
    return found;
}

/* What remeshing by energy tries, makes and gains is in the statistics: every split gains more than
 * it is asked for. */
START_TEST(changes_by_energy_are_counted)
{
    static char text[TEXT];
    int code = run_program("run '" KILN_SOURCE_DIR "/scenes/bar-twist-energy.lua' -o bar --force "
                           "--quiet --until 0.02 --set remesh.split=1");
    read_file(".err", text, TEXT);
    ck_assert_msg(code == 0, "%s", text);
    read_file("bar/stats.csv", text, TEXT);
    int splits = column_of(text, "splits"), trials = column_of(text, "trials");
    int gained = column_of(text, "gained"), vertices = column_of(text, "vertices");
    int seconds = column_of(text, "t_splits"), collapses = column_of(text, "collapses");
    double before = 272.0;
    char *row = strchr(strchr(text, '\n') + 1, '\n') + 1; /* the first step */
    for (; *row; row = strchr(row, '\n') + 1) {
        double made = cell_of(row, splits), gone = cell_of(row, collapses);
        ck_assert_double_gt(made, 0.0);
        ck_assert_double_ge(cell_of(row, trials), made + gone);
        ck_assert_double_gt(cell_of(row, gained), made);
        ck_assert_double_gt(cell_of(row, seconds), 0.0);
        ck_assert_double_eq(cell_of(row, vertices), before + made - gone);
        before = cell_of(row, vertices);
    }
}
END_TEST

static const struct {
    const char *name, *settings;
} struck[] = {
    {"dough", "--set h=0.03 --set 'bodies[1].at={0,0,0.09}' --until 0.06"},
    {"cornstarch", "--set h=0.03 --set 'bodies[1].at={0,0,0.051}' --until 0.1"},
    {"hardening", "--set h=0.04 --set 'bodies[1].at={0,0,0.23}' "
                  "--set 'bodies[1].velocity={0,0,-1}' --until 0.06"},
    {"stairs", "--set h=0.04 --set 'bodies[1].at={0,0,0.49}' --set 'bodies[1].velocity={0,0,-3}' "
               "--until 0.04"},
};

START_TEST(bodies_flow_where_they_are_struck)
{
    course found = run_scene(struck[_i].name, struck[_i].settings);
    ck_assert_int_gt(found.steps, 8);
    ck_assert_msg(found.flowed > 0.0, "%s: nothing flows", struck[_i].name);
    ck_assert_msg(found.worst > 0.15, "%s: q = %g", struck[_i].name, found.worst);
}
END_TEST

START_TEST(the_character_flows_from_when_it_melts)
{
    ck_assert_double_eq(run_scene("character", "--set h=0.14 --until 0.05").flowed, 0.0);
    course found = run_scene("character", "--set h=0.14 --set melts=-1 --until 0.05");
    ck_assert_double_gt(found.flowed, 0.0);
    ck_assert_double_gt(found.worst, 0.15);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("scenes");
    TCase *all = kiln_test_case(suite, "scenes");
    tcase_add_checked_fixture(all, open_folder, leave_folder);
    tcase_add_loop_test(all, bodies_flow_where_they_are_struck, 0,
                        sizeof struck / sizeof struck[0]);
    tcase_add_test(all, the_character_flows_from_when_it_melts);
    tcase_add_test(all, changes_by_energy_are_counted);
    return suite;
}

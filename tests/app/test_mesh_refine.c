/* kiln mesh refine and kiln mesh coarsen, from file to file. */
#include "program.h"

enum { TEXT = 1 << 17 };

static char out[TEXT], err[TEXT];

static int kiln(const char *arguments)
{
    int code = run_program(arguments);
    read_file(".out", out, TEXT);
    read_file(".err", err, TEXT);
    return code;
}

static void expect(const char *text, const char *words)
{
    ck_assert_msg(strstr(text, words) != NULL, "no '%s' in:\n%s", words, text);
}

static void fine(const char *arguments)
{
    ck_assert_msg(kiln(arguments) == 0, "kiln %s: %s", arguments, err);
}

static void same_files(const char *a, const char *b)
{
    char command[200];
    snprintf(command, sizeof command, "cmp %s %s", a, b);
    ck_assert_msg(run_shell(command) == 0, "%s differs from %s", a, b);
}

/* The initial mesh as these commands write it: no edge is longer than 100. */
static void make_inputs(void)
{
    fine("mesh generate box n=2 -o plain.mesh");
    fine("mesh refine plain.mesh --size 100 -o initial.mesh");
}

START_TEST(every_format_with_fields_brings_it_back)
{
    static const char *const files[] = {"fine.vtu --ascii", "fine.vtu --binary", "fine.msh --ascii",
                                        "fine.msh --binary", "fine.msh2 --ascii"};
    char line[300];
    open_folder();
    make_inputs();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(line, sizeof line, "mesh refine plain.mesh -o %s", files[i]);
        fine(line);
        expect(out, "1,104");
        ck_assert_str_eq(err, "");
        snprintf(line, sizeof line, "mesh coarsen %.*s -o back.mesh", (int)strcspn(files[i], " "),
                 files[i]);
        fine(line);
        same_files("initial.mesh", "back.mesh");
    }
    leave_folder();
}
END_TEST

START_TEST(selections_sizes_and_parts)
{
    open_folder();
    make_inputs();
    fine("mesh refine plain.mesh -o a.vtu --json --cycles 2 --where "
         "'select.sphere { centre = {0, 0, 0}, radius = 0.4 } | select.patch { tag = 2 }'");
    expect(out, "\"reversible\": true");
    expect(out, "\"blocked\": 0");
    fine("mesh refine a.vtu -o b.vtu --size 0.2 --where 'select.region { tag = 0 }'");
    fine("mesh coarsen b.vtu -o c.vtu --where 'select.half_space { normal = {1, 0, 0}, point = "
         "{0.5, 0, 0} }'");
    ck_assert_msg(!strstr(out, "tets that are refined                 0"), "%s", out);
    fine("mesh coarsen c.vtu -o d.vtu --cycles 1");
    fine("mesh coarsen d.vtu -o back.mesh");
    expect(out, "tets that are refined                 0");
    same_files("initial.mesh", "back.mesh");
    leave_folder();
}
END_TEST

START_TEST(says_what_is_wrong)
{
    open_folder();
    make_inputs();
    fine("mesh refine plain.mesh -o fine.mesh");
    expect(err, "holds no fields, so kiln mesh coarsen cannot take the refinement back");
    ck_assert_int_eq(kiln("mesh coarsen fine.mesh -o back.mesh"), 2);
    expect(err, "fine.mesh: has no field 'refine_word'");
    ck_assert_int_eq(kiln("mesh refine plain.mesh"), 2);
    expect(err, "where to?");
    ck_assert_int_eq(kiln("mesh refine plain.mesh -o x.vtu --cycles 9"), 2);
    expect(err, "--cycles");
    ck_assert_int_eq(kiln("mesh refine plain.mesh -o x.vtu --cycles 1 --size 1"), 2);
    expect(err, "exclude each other");
    ck_assert_int_eq(kiln("mesh refine plain.mesh -o x.vtu --size 0"), 2);
    expect(err, "must be positive");
    ck_assert_int_eq(kiln("mesh refine plain.mesh -o x.vtu --where 'select.bx {}'"), 2);
    expect(err, "did you mean select.box");
    ck_assert_int_eq(access("x.vtu", F_OK), -1);
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("mesh_refine");
    TCase *all = kiln_test_case(suite, "mesh_refine");
    tcase_add_test(all, every_format_with_fields_brings_it_back);
    tcase_add_test(all, selections_sizes_and_parts);
    tcase_add_test(all, says_what_is_wrong);
    return suite;
}

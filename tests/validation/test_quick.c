/* The quick part of the validation, as the program lists and chooses it. That it passes is for the
 * optimised program (tools/run_tests). */
#include "tests/app/program.h"

enum { TEXT = 1 << 18 };
static char out[TEXT], err[TEXT];

static int kiln(const char *arguments)
{
    int code = run_program(arguments);
    read_file(".out", out, sizeof out);
    read_file(".err", err, sizeof err);
    return code;
}

START_TEST(every_area_has_something_quick)
{
    open_folder();
    ck_assert_int_eq(kiln("validate --list"), 0);
    int areas = 0, slow = 0;
    for (char *area = strstr(out, "Area "); area;) {
        char *next = strstr(area + 1, "Area "), *line = strchr(area, '\n');
        int quick = 0;
        for (; line && line[1] == ' '; line = strchr(line + 1, '\n')) {
            char name[64], part[64];
            ck_assert_int_eq(sscanf(line + 1, "%63s %63s", name, part), 2);
            bool chosen = strcmp(part, "quick") == 0 || strcmp(part, "brief") == 0;
            quick += chosen;
            slow += !chosen;
        }
        ck_assert_msg(quick > 0, "nothing quick in %.40s", area);
        areas++;
        area = next;
    }
    ck_assert_int_ge(areas, 15);
    ck_assert_int_ge(slow, 1);
    leave_folder();
}
END_TEST

START_TEST(quick_leaves_out_what_is_slow)
{
    open_folder();
    ck_assert_int_eq(kiln("validate boxes domain_again --quick --json"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"case\": \"boxes\""));
    ck_assert_ptr_null(strstr(out, "domain_again"));
    ck_assert_int_eq(kiln("validate domain_again --quick"), 2);
    ck_assert_msg(strstr(err, "none of these cases is quick") != NULL, "%s", err);
    leave_folder();
}
END_TEST

START_TEST(the_summary_counts_the_rows)
{
    size_t figures, fine;
    open_folder();
    ck_assert_int_eq(kiln("validate boxes --quick --write page.md"), 0);
    const char *line = strstr(out, " figures: ");
    ck_assert_ptr_nonnull(line);
    while (line > out && line[-1] != '\n')
        line--;
    ck_assert_int_eq(sscanf(line, "%zu figures: %zu ok, 0 out of tolerance, 0 without a verdict",
                            &figures, &fine),
                     2);
    ck_assert_uint_eq(figures, fine);
    ck_assert_uint_ge(figures, 40);
    read_file("page.md", out, sizeof out);
    ck_assert_ptr_nonnull(strstr(out, "`kiln validate boxes --quick --write page.md`"));
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("quick");
    TCase *all = kiln_test_case(suite, "quick");
    tcase_add_test(all, every_area_has_something_quick);
    tcase_add_test(all, quick_leaves_out_what_is_slow);
    tcase_add_test(all, the_summary_counts_the_rows);
    return suite;
}

/* kiln mesh remesh, from file to file. */
#include "program.h"

enum { TEXT = 1 << 16 };

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

START_TEST(a_table_and_an_object)
{
    open_folder();
    ck_assert_int_eq(kiln("mesh generate box n=3 -o old.mesh"), 0);
    ck_assert_int_eq(kiln("mesh remesh old.mesh -o new.mesh --size 0.25"), 0);
    expect(out, "worst quality");
    expect(out, "surface moved by at most");
    expect(out, "corners                                             8");
    ck_assert_str_eq(err, "");
    ck_assert_int_eq(kiln("mesh remesh new.mesh -o newer.vtu --json --goal 0 --rounds 2"), 0);
    expect(out, "\"corner_sites\": 8");
    expect(out, "\"material_reset\": false");
    ck_assert_int_eq(kiln("mesh info newer.vtu"), 0);
    leave_folder();
}
END_TEST

static void expect_refusal(const char *arguments, const char *words)
{
    ck_assert_msg(kiln(arguments) != 0, "kiln %s was not refused", arguments);
    expect(err, words);
    ck_assert_int_ne(access("new.mesh", F_OK), 0);
}

START_TEST(what_cannot_be_done_is_refused)
{
    open_folder();
    ck_assert_int_eq(kiln("mesh generate box n=2 -o old.mesh"), 0);
    expect_refusal("mesh remesh old.mesh", "where to?");
    expect_refusal("mesh remesh old.mesh -o new.mesh --size 0", "must be positive");
    expect_refusal("mesh remesh old.mesh -o new.mesh --size tiny", "--size");
    expect_refusal("mesh remesh old.mesh -o new.mesh --size 1e-9", "too small");
    expect_refusal("mesh remesh old.mesh -o new.mesh --goal 1", "below 1");
    expect_refusal("mesh remesh none.mesh -o new.mesh", "none.mesh");
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("mesh_remesh");
    TCase *tcase = kiln_test_case(suite, "mesh_remesh");
    tcase_add_test(tcase, a_table_and_an_object);
    tcase_add_test(tcase, what_cannot_be_done_is_refused);
    return suite;
}

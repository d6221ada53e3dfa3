/* Comparing with another program: its rows read back, noise and ratio, and the whole with a script
 * in the place of the other. */
#include "bench/against.h"
#include "tests/app/program.h"

/* As a program of before printed it, with a word of its stderr behind. */
static const char old_rows[] =
    "[\n"
    "  {\"name\": \"a \\\"b\\\" c\", \"value\": 2.5, \"unit\": \"ns\", \"baseline\": 6.1, "
    "\"suite\": \"fem\", \"bar\": null, \"higher_is_better\": false, \"pass\": true, "
    "\"accuracy\": \"[] {}\", \"ratio\": 0.4},\n"
    "  {\"name\": \"rate\", \"value\": 4e3, \"unit\": \"M tets/s\", \"suite\": \"fem\", "
    "\"higher_is_better\": true},\n"
    "  {\"name\": \"lost\", \"value\": null, \"unit\": \"\", \"suite\": \"fem\"}\n"
    "]\n"
    "kiln: bench: 1 of 3 figures missed their bar\n";

START_TEST(rows_are_read_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_bench_rows rows = {0};
    kiln_error error;
    ck_assert_int_eq(kiln_bench_rows_read(context, old_rows, &rows, &error), KILN_OK);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_str_eq(rows.data[0].name, "a \"b\" c");
    ck_assert_str_eq(rows.data[0].suite, "fem");
    ck_assert_str_eq(rows.data[0].unit, "ns");
    ck_assert_double_eq(kiln_bench_row_cost(&rows.data[0]), 2.5);
    ck_assert(rows.data[1].higher_is_better);
    ck_assert_double_eq(kiln_bench_row_cost(&rows.data[1]), 1.0 / 4e3);
    ck_assert(isnan(rows.data[2].value));
    kiln_array_free(context, &rows);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(half_a_list_is_an_error)
{
    kiln_context *context = kiln_test_context(1);
    size_t whole = strlen(old_rows) - strlen(strstr(old_rows, "]\nkiln")) + 1;
    char part[sizeof old_rows];
    for (size_t size = 0; size < whole; size++) {
        kiln_bench_rows rows = {0};
        kiln_error error;
        memcpy(part, old_rows, size);
        part[size] = 0;
        ck_assert_msg(kiln_bench_rows_read(context, part, &rows, &error) != KILN_OK, "%zu of %zu",
                      size, whole);
        kiln_array_free(context, &rows);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(speeds_are_known_by_their_units)
{
    static const char *const speeds[] = {"ns", "us", "ms", "s", "us/tet", "M tets/s", "k/s", "x"};
    static const char *const others[] = {"", "q", "tets", "bytes/tet", "GiB", "%", "of begin"};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        kiln_bench_row row = {.value = 1};
        snprintf(row.unit, sizeof row.unit, "%s", speeds[i]);
        ck_assert_msg(kiln_bench_row_is_speed(&row), "%s", speeds[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        kiln_bench_row row = {.value = 1};
        snprintf(row.unit, sizeof row.unit, "%s", others[i]);
        ck_assert_msg(!kiln_bench_row_is_speed(&row), "'%s'", others[i]);
    }
}
END_TEST

START_TEST(noise_is_how_far_repeats_are_apart)
{
    double noise;
    kiln_repeats quiet = {{100, 100.5, 101}, 3}, wild = {{50, 60, 55, 900}, 4};
    ck_assert_double_eq_tol(kiln_against_ratio(&quiet, &quiet, &noise), 1.0, 1e-15);
    ck_assert_double_eq_tol(noise, 0.02, 1e-15);
    /* The least of each counts, and one bad repeat does not. */
    ck_assert_double_eq_tol(kiln_against_ratio(&quiet, &wild, &noise), 2.0, 1e-15);
    ck_assert_double_eq_tol(noise, 0.2, 1e-12);
    kiln_against_ratio(&wild, &quiet, &noise);
    ck_assert_double_eq_tol(noise, 0.2, 1e-12);
    kiln_repeats pair = {{10, 13}, 2};
    kiln_against_ratio(&pair, &pair, &noise);
    ck_assert_double_eq_tol(noise, 0.3, 1e-12);
}
END_TEST

/* Another "kiln" that prints the rows of this one after an edit by sed. */
static void make_other(const char *edit)
{
    char text[512];
    snprintf(text, sizeof text, "#!/bin/sh\nsed -e '%s' '%s/rows.json'\n", edit, folder);
    write_file("other", text);
    ck_assert_int_eq(run_shell("chmod +x other"), 0);
}

START_TEST(a_slower_row_is_an_error)
{
    char text[1 << 16];
    open_folder();
    ck_assert_int_le(run_program("bench linalg --json"), 1);
    ck_assert_int_eq(run_shell("mv .out rows.json"), 0);
    make_other("s/\"value\": [0-9.e+-]*/\"value\": 1e-9/; s/\"higher_is_better\": true/"
               "\"higher_is_better\": false/");
    ck_assert_int_eq(run_program("bench linalg --against ./other --rounds 1"), 1);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "SLOWER") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "2 repeats") != NULL, "not looked at again: %s", text);
    make_other("s/\"value\": [0-9.e+-]*/\"value\": 1e9/; s/\"higher_is_better\": true/"
               "\"higher_is_better\": false/");
    ck_assert_int_eq(run_program("bench linalg --against ./other --rounds 1"), 0);
    read_file(".out", text, sizeof text);
    ck_assert_msg(strstr(text, "; faster") != NULL, "%s", text);
    leave_folder();
}
END_TEST

START_TEST(others_that_do_not_do_are_told)
{
    char text[4096];
    open_folder();
    ck_assert_int_eq(run_program("bench linalg --against ./nothing"), 2);
    write_file("other", "#!/bin/sh\necho \"kiln: bench: unknown suite 'linalg'\" >&2; exit 2\n");
    ck_assert_int_eq(run_shell("chmod +x other"), 0);
    ck_assert_int_eq(run_program("bench linalg --against ./other --rounds 1"), 2);
    read_file(".err", text, sizeof text);
    ck_assert_msg(strstr(text, "has no such suite") != NULL, "%s", text);
    write_file("other", "#!/bin/sh\necho '['; kill -SEGV $$\n");
    ck_assert_int_ne(run_program("bench linalg --against ./other --rounds 1"), 0);
    ck_assert_int_eq(run_program("bench linalg --rounds 3"), 2);
    ck_assert_int_eq(run_program("bench linalg --against ./other --rounds 0"), 2);
    leave_folder();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("against");
    TCase *all = kiln_test_case(suite, "against");
    tcase_add_test(all, rows_are_read_back);
    tcase_add_test(all, half_a_list_is_an_error);
    tcase_add_test(all, speeds_are_known_by_their_units);
    tcase_add_test(all, noise_is_how_far_repeats_are_apart);
    tcase_add_test(all, a_slower_row_is_an_error);
    tcase_add_test(all, others_that_do_not_do_are_told);
    return suite;
}

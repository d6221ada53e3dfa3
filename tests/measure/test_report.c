/* Verdicts: what keeps to a bound, what has none, and how both are counted and shown. */
#include "measure/report.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const kiln_report_words words = {.command = "validate",
                                        .title = "Validation",
                                        .note = "",
                                        .group = "case",
                                        .name = "quantity",
                                        .value = "measured",
                                        .remark = "remark",
                                        .red = "FAILED",
                                        .missed = "out of tolerance"};

static void expect_bound(kiln_bound bound, double value, bool holds)
{
    char text[KILN_BOUND_TEXT];
    kiln_bound_print(&bound, text);
    ck_assert_msg(kiln_bound_holds(&bound, value) == holds, "%g and '%s'", value, text);
}

START_TEST(bounds_are_as_sided_as_they_say)
{
    expect_bound(kiln_at_most(2), 2, true);
    expect_bound(kiln_at_most(2), -1e300, true);
    expect_bound(kiln_at_most(2), nextafter(2, 3), false);
    expect_bound(kiln_at_least(2), 2, true);
    expect_bound(kiln_at_least(2), 1e300, true);
    expect_bound(kiln_at_least(2), nextafter(2, 1), false);
    expect_bound(kiln_between(1, 2), 1, true);
    expect_bound(kiln_between(1, 2), 2, true);
    expect_bound(kiln_between(1, 2), 0.999, false);
    expect_bound(kiln_between(1, 2), 2.001, false);
    expect_bound(kiln_near(10, 0.5), 9.5, true);
    expect_bound(kiln_near(10, 0.5), 10.6, false);
    expect_bound(kiln_near_relative(-10, 0.05), -9.6, true);
    expect_bound(kiln_near_relative(-10, 0.05), -9.4, false);
    expect_bound(kiln_exactly(6), 6, true);
    expect_bound(kiln_exactly(6), nextafter(6, 7), false);
    expect_bound(kiln_unbound(), -5, true);
}
END_TEST

START_TEST(what_was_not_measured_keeps_to_nothing)
{
    const kiln_bound bounds[] = {kiln_unbound(), kiln_at_most(1), kiln_at_least(1),
                                 kiln_between(0, 1), kiln_near(1, INFINITY)};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        expect_bound(bounds[i], NAN, false);
        expect_bound(bounds[i], INFINITY, false);
        expect_bound(bounds[i], -INFINITY, false);
    }
}
END_TEST

static void expect_text(kiln_bound bound, const char *wanted)
{
    char text[KILN_BOUND_TEXT];
    kiln_bound_print(&bound, text);
    ck_assert_str_eq(text, wanted);
}

START_TEST(bounds_have_words)
{
    expect_text(kiln_unbound(), "");
    expect_text(kiln_at_most(8), "<= 8");
    expect_text(kiln_at_least(0.15), ">= 0.15");
    expect_text(kiln_between(0.97, 1.005), "0.97 .. 1.005");
    expect_text(kiln_near(1.9, 1e-9), "1.9 +- 1e-09");
    expect_text(kiln_exactly(6), "= 6");
}
END_TEST

static void add(kiln_report *report, const char *name, double value, kiln_bound bound,
                kiln_row_check check)
{
    kiln_report_row row = {
        .group = "M1", .about = "what it is", .value = value, .bound = bound, .check = check};
    snprintf(row.name, sizeof row.name, "%s", name);
    kiln_report_add(report, &row);
}

/* Two that pass, three that fail, two without a verdict. */
static void fill(kiln_report *report, kiln_context *context)
{
    kiln_report_begin(report, context, &words);
    report->progress = NULL;
    add(report, "small", 1, kiln_at_most(2), KILN_CHECK_NONE);
    add(report, "large", 3, kiln_at_most(2), KILN_CHECK_NONE);
    add(report, "|free|", 3, kiln_unbound(), KILN_CHECK_NONE);
    add(report, "free as well", 4, kiln_unbound(), KILN_CHECK_NONE);
    add(report, "accurate", 3, kiln_unbound(), KILN_CHECK_HELD);
    add(report, "fast and wrong", 1, kiln_at_most(2), KILN_CHECK_BROKEN);
    add(report, "not measured", NAN, kiln_unbound(), KILN_CHECK_NONE);
}

START_TEST(no_verdict_is_not_passed)
{
    kiln_context *context = kiln_test_context(1);
    kiln_report report;
    char text[160];
    fill(&report, context);
    kiln_report_counts counts = kiln_report_count(&report);
    ck_assert_uint_eq(counts.rows, 7);
    ck_assert_uint_eq(counts.ok, 2);
    ck_assert_uint_eq(counts.red, 3);
    ck_assert_uint_eq(counts.open, 2);
    kiln_report_sum_up(&report, text, sizeof text);
    ck_assert_str_eq(text, "7 figures: 2 ok, 3 out of tolerance, 2 without a verdict");
    kiln_report_end(&report);
    kiln_context_destroy(context);
}
END_TEST

static int occurrences(const char *text, const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        count++;
    return count;
}

static char *printed(const kiln_report *report, void (*print)(const kiln_report *report, FILE *out))
{
    static char *text; /* which the stream, closed or not, points at */
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(report, out);
    fclose(out);
    return text;
}

START_TEST(every_shape_shows_the_verdicts)
{
    kiln_context *context = kiln_test_context(1);
    kiln_report report;
    fill(&report, context);
    char *json = printed(&report, kiln_report_print_json);
    ck_assert_int_eq(occurrences(json, "\"pass\": true"), 2);
    ck_assert_int_eq(occurrences(json, "\"pass\": false"), 3);
    ck_assert_int_eq(occurrences(json, "\"pass\": null"), 2);
    ck_assert_int_eq(occurrences(json, "\"at_most\": 2,"), 3);
    ck_assert_int_eq(occurrences(json, "\"at_least\": null"), 7);
    ck_assert_int_eq(occurrences(json, "\"reference\": null"), 7);
    char *table = printed(&report, kiln_report_print_table);
    ck_assert_int_eq(occurrences(table, "FAILED"), 3);
    ck_assert_int_eq(occurrences(table, "  ok\n"), 2);
    ck_assert_int_eq(occurrences(table, "  none\n"), 2);
    ck_assert_ptr_null(strstr(table, "unit")); /* no row has one */
    free(json);
    free(table);
    kiln_report_end(&report);
    kiln_context_destroy(context);
}
END_TEST

/* Bits differ between instruction sets: no figure without the name of its own. */
START_TEST(every_shape_names_the_instructions)
{
    kiln_context *context = kiln_test_context(3);
    for (kiln_isa isa = KILN_ISA_SCALAR; isa <= kiln_isa_best(); isa++) {
        kiln_report report;
        kiln_error error;
        char path[] = "/tmp/kiln-test-page-XXXXXX", page[4096], wanted[64], key[64];
        context->isa = isa;
        snprintf(wanted, sizeof wanted, ", %s instructions, 3 threads\n", kiln_isa_name(isa));
        snprintf(key, sizeof key, "\"instructions\": \"%s\"", kiln_isa_name(isa));
        fill(&report, context);
        char *json = printed(&report, kiln_report_print_json);
        char *table = printed(&report, kiln_report_print_table);
        ck_assert_int_eq(occurrences(json, key), 7);
        ck_assert_int_eq(occurrences(json, "\"threads\": 3"), 7);
        ck_assert_int_eq(occurrences(table, wanted), 1);
        close(mkstemp(path));
        ck_assert_int_eq(kiln_report_write_page(&report, "kiln validate", path, &error), KILN_OK);
        FILE *file = fopen(path, "r");
        page[fread(page, 1, sizeof page - 1, file)] = 0;
        fclose(file);
        unlink(path);
        ck_assert_int_eq(occurrences(page, wanted), 1);
        free(json);
        free(table);
        kiln_report_end(&report);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_page_is_a_table_whatever_the_names)
{
    kiln_context *context = kiln_test_context(1);
    kiln_report report;
    kiln_error error;
    char path[] = "/tmp/kiln-test-page-XXXXXX", text[4096];
    close(mkstemp(path));
    fill(&report, context);
    ck_assert_int_eq(kiln_report_write_page(&report, "kiln validate M1", path, &error), KILN_OK);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    unlink(path);
    ck_assert_ptr_nonnull(strstr(text, "Written by `kiln validate M1`"));
    ck_assert_ptr_nonnull(strstr(text, "| quantity | measured | bound | verdict |\n"
                                       "|---|--:|--:|---|\n"));
    ck_assert_ptr_nonnull(strstr(text, "| \\|free\\| | 3 |  | none |\n"));
    ck_assert_ptr_nonnull(strstr(text, "| large | 3 | <= 2 | FAILED |\n"));
    kiln_report_end(&report);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("report");
    TCase *all = kiln_test_case(suite, "report");
    tcase_add_test(all, bounds_are_as_sided_as_they_say);
    tcase_add_test(all, what_was_not_measured_keeps_to_nothing);
    tcase_add_test(all, bounds_have_words);
    tcase_add_test(all, no_verdict_is_not_passed);
    tcase_add_test(all, every_shape_shows_the_verdicts);
    tcase_add_test(all, every_shape_names_the_instructions);
    tcase_add_test(all, a_page_is_a_table_whatever_the_names);
    return suite;
}

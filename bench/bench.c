#include "bench/bench.h"

#include "app/command.h"
#include "base/random.h"
#include "bench/against.h"
#include "geom/predicates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct suite_row {
    const char *name, *what;
    kiln_bench_suite run;
} suite_row;

static const suite_row suites[] = {
#define KILN_BENCH_SUITE(name, what) {#name, what, kiln_bench_##name},
#include "bench/suites.h"
#undef KILN_BENCH_SUITE
    {NULL, NULL, NULL}};
enum { SUITES = sizeof suites / sizeof suites[0] - 1 };

static const kiln_report_words words = {
    .command = "bench",
    .title = "Performance",
    .note = "CPU time of one thread, minimum of many repeats. *ratio*: time of one item in units "
            "of the reference loop\n(the scalar orient3d filter) timed beside it. A row without a "
            "bound has no verdict.",
    .group = "suite",
    .name = "name",
    .value = "value",
    .remark = "accuracy",
    .red = "MISSED",
    .missed = "missed their bar",
    .timed = true};

enum { REFERENCE_POINTS = 1024, REFERENCE_CALLS = 4096 };

struct kiln_bench {
    kiln_context *context;
    const suite_row *suite;
    kiln_report report;
    kiln_vec3 points[REFERENCE_POINTS]; /* of the reference loop */
    double reference;                   /* ns an item, measured beside the last timing */
};

kiln_context *kiln_bench_context(kiln_bench *bench)
{
    return bench->context;
}

void kiln_bench_reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

double kiln_bench_peak_gigabytes(void)
{
    char line[256];
    double kilobytes = NAN;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kilobytes = strtod(line + 6, NULL);
    if (file)
        fclose(file);
    return kilobytes / 1048576.0;
}

void kiln_bench_keep(double value)
{
    static volatile double sink;
    sink = value;
    (void)sink;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The scalar orient3d filter on random points, which the filter always decides. */
static void reference_loop(void *user)
{
    const kiln_bench *bench = user;
    double sum = 0.0;
    for (uint32_t i = 0; i < REFERENCE_CALLS; i++) {
        const kiln_vec3 *p = bench->points;
        sum += kiln_orient3d(p[i % REFERENCE_POINTS], p[(i + 97) % REFERENCE_POINTS],
                             p[(i + 331) % REFERENCE_POINTS], p[(i + 613) % REFERENCE_POINTS]);
    }
    kiln_bench_keep(sum);
}

static double fastest(void (*body)(void *user), void *user, int least_calls, double least_seconds)
{
    double best = 1e300, spent = 0.0;
    for (int call = 0; call < least_calls || spent < least_seconds; call++) {
        double start = cpu_seconds();
        body(user);
        double took = cpu_seconds() - start;
        spent += took;
        best = took < best ? took : best;
    }
    return best;
}

static double reference_time(kiln_bench *bench)
{
    return 1e9 / REFERENCE_CALLS * fastest(reference_loop, bench, 50, 0.005);
}

double kiln_bench_time(kiln_bench *bench, void (*body)(void *user), void *user)
{
    body(user); /* pages, caches and branch predictors settle */
    double before = reference_time(bench);
    double best = fastest(body, user, 9, 0.3);
    double after = reference_time(bench);
    bench->reference = before < after ? before : after;
    return best;
}

void kiln_bench_calibrate(kiln_bench *bench)
{
    bench->reference = reference_time(bench);
}

/* Nanoseconds an item for a time ("ns", "us", ...) or a rate ("M tets/s", "k/s"); 0: neither. */
static double nanoseconds_of(double value, const char *unit)
{
    static const struct {
        const char *unit;
        double ns;
    } times[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (strcmp(unit, times[i].unit) == 0)
            return value * times[i].ns;
    size_t length = strlen(unit);
    if (length < 2 || strcmp(unit + length - 2, "/s") != 0 || !(value > 0.0))
        return 0.0;
    double factor = unit[0] == 'G' ? 1e9 : unit[0] == 'M' ? 1e6 : unit[0] == 'k' ? 1e3 : 1.0;
    return 1e9 / (value * factor);
}

static void report(kiln_bench *bench, const char *name, double value, const char *unit, double bar,
                   int higher_is_better, const char *accuracy, kiln_row_check check)
{
    kiln_report_row row = {.group = bench->suite->name,
                           .about = bench->suite->what,
                           .value = value,
                           .check = check,
                           .higher_is_better = higher_is_better,
                           .baseline = bench->reference};
    if (bar != 0.0)
        row.bound = higher_is_better ? kiln_at_least(bar) : kiln_at_most(bar);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.unit, sizeof row.unit, "%s", unit);
    snprintf(row.remark, sizeof row.remark, "%s", accuracy);
    double ns = nanoseconds_of(value, unit);
    row.ratio = bench->reference > 0.0 ? ns / bench->reference : 0.0;
    kiln_report_add(&bench->report, &row);
}

void kiln_bench_report(kiln_bench *bench, const char *name, double value, const char *unit,
                       double bar, int higher_is_better, const char *accuracy)
{
    report(bench, name, value, unit, bar, higher_is_better, accuracy, KILN_CHECK_NONE);
}

void kiln_bench_report_checked(kiln_bench *bench, const char *name, double value, const char *unit,
                               double bar, int higher_is_better, const char *what, double error,
                               double most_error)
{
    char text[160];
    snprintf(text, sizeof text, "%s %.1e (bar %.0e)", what, error, most_error);
    report(bench, name, value, unit, bar, higher_is_better, text,
           error <= most_error ? KILN_CHECK_HELD : KILN_CHECK_BROKEN);
}

void kiln_bench_report_failure(kiln_bench *bench, const char *name, const char *why)
{
    report(bench, name, NAN, "", 0.0, 0, why, KILN_CHECK_BROKEN);
}

static kiln_status choose_suites(const kiln_arguments *arguments, bool *chosen, kiln_error *error)
{
    for (int i = 0; i < SUITES; i++)
        chosen[i] = arguments->operand_count == 0;
    for (int k = 0; k < arguments->operand_count; k++) {
        const char *name = arguments->operands[k];
        int found = -1;
        for (int i = 0; i < SUITES; i++)
            if (strcmp(suites[i].name, name) == 0)
                found = i;
        if (found < 0) {
            const char *nearest = kiln_nearest_name(name, suites, SUITES, sizeof suites[0]);
            return kiln_fail(error, KILN_ERR_INPUT, "bench", 0, -1,
                             nearest ? "unknown suite '%s'; did you mean '%s'?"
                                     : "unknown suite '%s'; 'kiln bench --help' lists them%s",
                             name, nearest ? nearest : "");
        }
        chosen[found] = true;
    }
    return KILN_OK;
}

static kiln_status run_suites(kiln_context *context, const bool *chosen,
                              const kiln_arguments *arguments, kiln_error *error)
{
    kiln_bench *bench = kiln_resize(context, NULL, 0, sizeof *bench);
    if (!bench)
        return kiln_fail_memory(error, sizeof *bench);
    memset(bench, 0, sizeof *bench);
    bench->context = context;
    kiln_report_begin(&bench->report, context, &words);
    kiln_random random = kiln_random_start(1, 0);
    for (int i = 0; i < REFERENCE_POINTS; i++)
        bench->points[i] = kiln_v3(kiln_random_unit(&random), kiln_random_unit(&random),
                                   kiln_random_unit(&random));
    for (int i = 0; i < SUITES; i++)
        if (chosen[i]) {
            bench->suite = &suites[i];
            suites[i].run(bench);
        }
    kiln_status status = kiln_report_publish(&bench->report, arguments, error);
    kiln_report_end(&bench->report);
    kiln_release(context, bench, sizeof *bench);
    return status;
}

static kiln_status run_against(kiln_context *context, const bool *chosen,
                               const kiln_arguments *arguments, kiln_error *error)
{
    kiln_report report;
    kiln_against against = {.other = kiln_arguments_get(arguments, "against"),
                            .isa = kiln_arguments_get(arguments, "isa"),
                            .threads = kiln_arguments_get(arguments, "threads"),
                            .rounds = 5};
    KILN_TRY(
        kiln_arguments_integer(arguments, "rounds", 1, KILN_MOST_ROUNDS, &against.rounds, error));
    if (access(against.other, X_OK) != 0)
        return kiln_fail(error, KILN_ERR_INPUT, against.other, 0, -1, "is no program to run");
    kiln_report_begin(&report, context, &kiln_against_words);
    kiln_status status = KILN_OK;
    for (int i = 0; i < SUITES && status == KILN_OK; i++)
        if (chosen[i])
            status = kiln_against_suite(&against, suites[i].name, suites[i].what, &report, error);
    if (status == KILN_OK && report.rows.count == 0)
        status = kiln_fail(error, KILN_ERR_INPUT, against.other, 0, -1, "has none of these rows");
    if (status == KILN_OK)
        status = kiln_report_publish(&report, arguments, error);
    kiln_report_end(&report);
    return status;
}

/* One thread whatever was asked for: only the calling thread's clock is read, so work done by
 * others would look free. */
static kiln_status run_bench(kiln_context *context, const kiln_arguments *arguments,
                             kiln_error *error)
{
    bool chosen[SUITES + 1];
    KILN_TRY(choose_suites(arguments, chosen, error));
    if (kiln_arguments_has(arguments, "against"))
        return run_against(context, chosen, arguments, error);
    if (kiln_arguments_has(arguments, "rounds"))
        return kiln_fail(error, KILN_ERR_INPUT, "--rounds", 0, -1, "is for --against");
    kiln_context_options options = kiln_context_default_options();
    options.threads = 1;
    options.isa = kiln_isa_name(context->isa);
    kiln_context *single;
    KILN_TRY(kiln_context_create(&options, &single, error));
    kiln_status status = run_suites(single, chosen, arguments, error);
    kiln_context_destroy(single);
    return status;
}

static void list_suites(FILE *out)
{
    fputs("Suites:\n", out);
    for (int i = 0; i < SUITES; i++)
        fprintf(out, "  %-12s %s\n", suites[i].name, suites[i].what);
    fputs("\nTimes are CPU time of one thread, the minimum of many repeats. 'ratio' is the time of"
          "\none item in units of the reference loop (the scalar orient3d filter), timed beside"
          "\nit: it travels between machines better than the time does. The exit code is 1 when a"
          "\nrow misses its bar; rows without a bar have no verdict.\n"
          "\nWith --against both programs run each suite in turns, N times each and N times more"
          "\nwhen a row looks slower. A row says how long an item takes here over how long it"
          "\ntakes there (least of the repeats, rates turned into times); it is slower when that"
          "\nis above 1 by more than the noise, which is how far the repeats of one program are"
          "\napart (without the worst), at least 2 %. The exit code is 1 when a row is slower.\n",
          out);
}

int kiln_command_bench(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"json", 0, NULL, "print a list of objects instead of the table"},
        {"write", 0, "FILE", "also write the table as a Markdown page"},
        {"against", 0, "PROGRAM", "compare with another kiln, both run in turns"},
        {"rounds", 0, "N", "runs of each with --against (5)"}};
    static const kiln_usage usage = {.command = "bench",
                                     .synopsis = "[SUITE...] [--against PROGRAM] [--json] "
                                                 "[--write FILE]",
                                     .what = "Times the kernels against the bars they must reach.",
                                     .example = "  kiln bench\n"
                                                "  kiln bench fem solve --against /tmp/old/kiln\n"
                                                "  kiln bench --write docs/performance.md\n",
                                     .own = options,
                                     .own_count = sizeof options / sizeof options[0],
                                     .most_operands = KILN_MAX_OPERANDS,
                                     .details = list_suites};
    return kiln_command_frame(&usage, argc, argv, run_bench);
}

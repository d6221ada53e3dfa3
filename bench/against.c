#include "bench/against.h"

#include "io/process.h"

#include <stdlib.h>
#include <string.h>

const kiln_report_words kiln_against_words = {
    .command = "bench",
    .title = "This program against another",
    .note = "*new/old*: time of an item here over that of the other program, the least of several "
            "runs of each in turns; rates count as\ntimes. A row is slower when that is above 1 by "
            "more than the noise: how far the runs of one program are apart, at least 2 %.",
    .group = "suite",
    .name = "name",
    .value = "new/old",
    .remark = "remark",
    .red = "SLOWER",
    .missed = "slower by more than the noise",
    .timed = true};

static const double least_noise = 0.02;

enum { HERE, THERE, SIDES };

typedef struct compared_row {
    kiln_bench_row row; /* as this program has it */
    kiln_repeats repeats[SIDES];
} compared_row;
typedef KILN_ARRAY_OF(compared_row)
compared_rows;

typedef KILN_ARRAY_OF(char)
text_array;

typedef struct contest {
    const kiln_against *against;
    const char *suite;
    kiln_context *context;
    kiln_scratch scratch;
    compared_rows rows;
    bool missing; /* the other has no such suite */
} contest;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double spread(const kiln_repeats *repeats, double *least)
{
    kiln_repeats sorted = *repeats;
    qsort(sorted.cost, (size_t)sorted.count, sizeof sorted.cost[0], by_size);
    *least = sorted.cost[0];
    int last = sorted.count >= 3 ? sorted.count - 2 : sorted.count - 1;
    return sorted.cost[last] / sorted.cost[0] - 1.0;
}

double kiln_against_ratio(const kiln_repeats *here, const kiln_repeats *there, double *noise)
{
    double least[SIDES];
    *noise = fmax(spread(here, &least[HERE]), spread(there, &least[THERE]));
    *noise = fmax(*noise, least_noise);
    return least[HERE] / least[THERE];
}

static compared_row *find(contest *c, const kiln_bench_row *row)
{
    for (size_t i = 0; i < c->rows.count; i++)
        if (strcmp(c->rows.data[i].row.suite, row->suite) == 0 &&
            strcmp(c->rows.data[i].row.name, row->name) == 0)
            return &c->rows.data[i];
    return NULL;
}

static kiln_status store(contest *c, int side, const kiln_bench_row *row, kiln_error *error)
{
    compared_row *found = find(c, row);
    if (!found) {
        compared_row fresh = {.row = *row};
        KILN_TRY(kiln_array_push(c->context, &c->rows, fresh, error));
        found = &c->rows.data[c->rows.count - 1];
    }
    if (side == HERE)
        found->row = *row;
    kiln_repeats *repeats = &found->repeats[side];
    double cost = kiln_bench_row_cost(row);
    if (isfinite(cost) && repeats->count < 2 * KILN_MOST_ROUNDS)
        repeats->cost[repeats->count++] = cost;
    return KILN_OK;
}

static kiln_status read_text(const char *path, kiln_context *context, text_array *text,
                             kiln_error *error)
{
    FILE *file = fopen(path, "rb");
    kiln_status status = KILN_OK;
    for (int c; status == KILN_OK && file && (c = fgetc(file)) != EOF;)
        status = kiln_array_push(context, text, (char)c, error);
    if (status == KILN_OK)
        status = kiln_array_push(context, text, (char)0, error);
    if (file)
        fclose(file);
    return status;
}

/* A program that reports red rows exits with 1 and has still measured; one that was killed or
 * crashed has printed no list. */
static kiln_status take_rows(contest *c, int side, const char *text, kiln_status ran,
                             kiln_error *error)
{
    kiln_bench_rows rows = {0};
    kiln_error why = *error;
    kiln_status status = kiln_bench_rows_read(c->context, text, &rows, error);
    if (status != KILN_OK && ran != KILN_OK)
        *error = why;
    c->missing |= status != KILN_OK && side == THERE && strstr(text, "unknown suite");
    for (size_t i = 0; status == KILN_OK && i < rows.count; i++)
        status = store(c, side, &rows.data[i], error);
    kiln_array_free(c->context, &rows);
    return c->missing ? KILN_OK : status;
}

static kiln_status measure_once(contest *c, int side, kiln_error *error)
{
    char log[KILN_SCRATCH_PATH];
    const char *program = side == HERE ? "/proc/self/exe" : c->against->other;
    const char *arguments[9] = {program, "bench", c->suite, "--json"};
    size_t count = 4;
    if (c->against->isa)
        arguments[count++] = "--isa", arguments[count++] = c->against->isa;
    if (c->against->threads)
        arguments[count++] = "--threads", arguments[count++] = c->against->threads;
    text_array text = {0};
    kiln_scratch_file(&c->scratch, "rows.json", log);
    kiln_status ran = kiln_process_run(c->context, arguments, log, 0.0, "kiln", error);
    kiln_status status = read_text(log, c->context, &text, error);
    if (status == KILN_OK)
        status = take_rows(c, side, text.data, ran, error);
    kiln_array_free(c->context, &text);
    return status;
}

static bool compares(const compared_row *row)
{
    return row->repeats[HERE].count > 0 && row->repeats[THERE].count > 0;
}

static bool is_slower(const compared_row *row)
{
    double noise;
    return compares(row) && kiln_bench_row_is_speed(&row->row) &&
           kiln_against_ratio(&row->repeats[HERE], &row->repeats[THERE], &noise) > 1.0 + noise;
}

/* Who goes first changes with every round; the other begins, as it may have no such suite. */
static kiln_status run_rounds(contest *c, kiln_error *error)
{
    for (int turn = 0; turn < SIDES * c->against->rounds && !c->missing; turn++) {
        bool odd_round = turn / SIDES % 2;
        KILN_TRY(measure_once(c, turn % SIDES == odd_round ? THERE : HERE, error));
    }
    return KILN_OK;
}

/* What looks slow is looked at again: among hundreds of rows a few always have bad luck. */
static kiln_status run_contest(contest *c, kiln_error *error)
{
    KILN_TRY(run_rounds(c, error));
    for (size_t i = 0; i < c->rows.count && !c->missing; i++)
        if (is_slower(&c->rows.data[i]))
            return run_rounds(c, error);
    return KILN_OK;
}

static void report_row(const contest *c, const char *about, const compared_row *compared,
                       kiln_report *report)
{
    double noise,
        ratio = kiln_against_ratio(&compared->repeats[HERE], &compared->repeats[THERE], &noise);
    kiln_report_row row = {.group = c->suite, .about = about, .value = ratio, .unit = "x"};
    double least[SIDES], value[SIDES];
    for (int side = 0; side < SIDES; side++) {
        spread(&compared->repeats[side], &least[side]);
        value[side] = compared->row.higher_is_better ? 1.0 / least[side] : least[side];
    }
    row.bound =
        kiln_bench_row_is_speed(&compared->row) ? kiln_at_most(1.0 + noise) : kiln_unbound();
    snprintf(row.name, sizeof row.name, "%s", compared->row.name);
    snprintf(row.remark, sizeof row.remark, "%.4g to %.4g %s, noise %.1f %%, %d repeats%s",
             value[THERE], value[HERE], compared->row.unit, 100.0 * noise,
             compared->repeats[HERE].count,
             row.bound.kind == KILN_BOUND_NONE ? "; not a speed"
             : ratio < 1.0 - noise             ? "; faster"
                                               : "");
    kiln_report_add(report, &row);
}

static void report_contest(const contest *c, const char *about, kiln_report *report)
{
    if (c->missing) {
        fprintf(stderr, "%s: %s has no such suite\n", c->suite, c->against->other);
        return;
    }
    for (size_t i = 0; i < c->rows.count; i++) {
        const compared_row *row = &c->rows.data[i];
        if (compares(row))
            report_row(c, about, row, report);
        else
            fprintf(stderr, "%s: '%s' is measured by %s\n", c->suite, row->row.name,
                    row->repeats[HERE].count    ? "this program only"
                    : row->repeats[THERE].count ? "the other program only"
                                                : "neither program");
    }
}

kiln_status kiln_against_suite(const kiln_against *against, const char *suite, const char *about,
                               kiln_report *report, kiln_error *error)
{
    contest c = {.against = against, .suite = suite, .context = report->context};
    KILN_TRY(kiln_scratch_make(&c.scratch, c.context, error));
    kiln_status status = run_contest(&c, error);
    if (status == KILN_OK)
        report_contest(&c, about, report);
    kiln_array_free(c.context, &c.rows);
    kiln_scratch_remove(&c.scratch);
    return status;
}

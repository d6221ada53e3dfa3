#include "app/command.h"
#include "app/mesh_command.h"
#include "app/mesh_mend.h"
#include "app/mesh_overlap.h"
#include "app/mesh_table.h"
#include "app/mesh_thin.h"
#include "base/clock.h"
#include "io/format.h"
#include "mesh/reorder.h"
#include "remesh/improve_sized.h"
#include "remesh/shape_change.h"
#include "remesh/surface.h"

#include <string.h>

typedef struct improvement {
    kiln_remesh_options remesh;
    kiln_improve_options improve;
    bool aggressive;
    double ridge; /* radians; 0: the usual */
    double size;  /* m; 0: none asked for */
    kiln_thin_request thin;
    const char *metric;         /* file of sizes or metrics; NULL: none */
    bool move_again;            /* a band is asked for */
    const char *within;         /* mesh whose surface's band is not left; NULL: the input's */
    char field[KILN_NAME_SIZE]; /* what it holds, as a field of the mesh */
} improvement;

/* What counts as sharp, and how far what is curved may move. */
static kiln_status read_surface(const kiln_arguments *arguments, improvement *out,
                                kiln_error *error)
{
    const char *ridge = kiln_arguments_get(arguments, "ridge-angle");
    const char *band = kiln_arguments_get(arguments, "band");
    double degrees = 0.0;
    if (ridge)
        KILN_TRY(kiln_numbers_parse(ridge, 1, &degrees, "--ridge-angle", error));
    if (ridge && !(degrees > 0.0 && degrees <= 180.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--ridge-angle", 0, -1,
                         "must be above 0 and at most 180 degrees, got %s", ridge);
    if (band)
        KILN_TRY(kiln_numbers_parse(band, 1, &out->remesh.band, "--band", error));
    if (!(out->remesh.band > 0.0 && out->remesh.band <= 100.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--band", 0, -1,
                         "must be above 0 and at most 100 times the usual, got %s", band);
    out->move_again = band != NULL;
    out->ridge = degrees * KILN_PI / 180.0;
    return KILN_OK;
}

static kiln_status read_options(const kiln_arguments *arguments, improvement *out,
                                kiln_error *error)
{
    static const char *const measures[] = {"q", "sine", "vl"};
    static const char *const surfaces[] = {"keep", "quadric", "smooth"};
    int measure = KILN_MEASURE_QUALITY, surface = KILN_SURFACE_QUADRIC;
    *out = (improvement){.remesh = kiln_remesh_default_options(),
                         .improve = kiln_improve_default_options(),
                         .aggressive = kiln_arguments_has(arguments, "aggressive")};
    KILN_TRY(kiln_arguments_choice(arguments, "measure", measures, 3, &measure, error));
    KILN_TRY(kiln_arguments_choice(arguments, "surface", surfaces, 3, &surface, error));
    out->remesh.measure = (kiln_measure)measure;
    out->remesh.surface = (kiln_surface_mode)surface;
    KILN_TRY(read_surface(arguments, out, error));
    const char *size = kiln_arguments_get(arguments, "size");
    out->metric = kiln_arguments_get(arguments, "metric");
    out->within = kiln_arguments_get(arguments, "within");
    if (size && out->metric)
        return kiln_fail(error, KILN_ERR_INPUT, "--size", 0, -1,
                         "--size and --metric exclude each other");
    if (size)
        KILN_TRY(kiln_numbers_parse(size, 1, &out->size, "--size", error));
    if (size && !(out->size > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--size", 0, -1, "must be positive, got %s", size);
    KILN_TRY(kiln_thin_options(arguments, &out->thin.mode, &out->thin.sizes.layers, error));
    out->thin.sizes.size = out->size;
    const char *goal = kiln_arguments_get(arguments, "goal");
    if (goal && out->aggressive)
        return kiln_fail(error, KILN_ERR_INPUT, "--goal", 0, -1,
                         "--goal and --aggressive exclude each other");
    if (out->aggressive)
        out->improve.goal = INFINITY;
    if (goal)
        KILN_TRY(kiln_numbers_parse(goal, 1, &out->improve.goal, "--goal", error));
    if (!(out->improve.goal > 0.0) || (goal && out->improve.goal >= 1.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--goal", 0, -1,
                         "must be above 0 and below 1, which the regular tet has, got %s", goal);
    return KILN_OK;
}

typedef struct progress_line {
    kiln_asked *asked;
    double shown;
    bool terminal;
} progress_line;

static bool show_progress(void *user, const kiln_improve_progress *p)
{
    progress_line *line = user;
    double now = kiln_wall_seconds();
    if (line->terminal && now - line->shown > 0.1) {
        fprintf(stderr, "\r\033[K%s  round %u  %zu tets  %zu left  worst %.4f", p->stage, p->round,
                p->tets, p->left, p->worst);
        fflush(stderr);
        line->shown = now;
    }
    return !kiln_is_asked(line->asked);
}

/* The metric file's values as a sizing field: one number a vertex, or six (Medit's order is asked
 * for, soups have VTK's). */
static kiln_status add_file(kiln_mesh *mesh, const char *name, kiln_sizing *sizing,
                            kiln_error *error)
{
    static const uint32_t medit[6] = {0, 3, 1, 5, 4, 2};
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, name);
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used, n = field->components;
    kiln_f64_array values = {0};
    KILN_TRY(kiln_array_reserve(mesh->context, &values, (size_t)rows * n, error));
    for (uint32_t v = 0; v < rows; v++)
        for (uint32_t k = 0; k < n; k++)
            values.data[v * n + k] = kiln_field_value(field, v, n == 6 ? medit[k] : k);
    kiln_status status = kiln_sizing_add_values(sizing, values.data, rows, (int)n, error);
    kiln_array_free(mesh->context, &values);
    return status;
}

static kiln_status make_sizing(kiln_mesh *mesh, const improvement *how, kiln_sizing **out,
                               kiln_error *error)
{
    kiln_sizing *sizing;
    KILN_TRY(kiln_sizing_create(mesh, how->remesh.space, &sizing, error));
    kiln_status status = how->metric ? add_file(mesh, how->field, sizing, error)
                                     : kiln_sizing_add_size(sizing, how->size, error);
    if (status == KILN_OK)
        status = how->metric ? kiln_sizing_finish(sizing, &(kiln_sizing_limits){0}, error)
                             : kiln_improve_finish_sizing(mesh, how->remesh.space, sizing,
                                                          KILN_IMPROVE_RATIO, error);
    if (status == KILN_OK)
        *out = sizing;
    else
        kiln_sizing_destroy(sizing);
    return status;
}

/* The field that tets are judged by; NULL: none, they are as good as they look. */
static kiln_status find_field(kiln_mesh *mesh, const improvement *how,
                              kiln_mesh_comparison *comparison, kiln_sizing **out,
                              kiln_error *error)
{
    kiln_thin_report report;
    if (!how->metric)
        KILN_TRY(kiln_thin_field(mesh, how->remesh.space, &how->thin, out, &report, error));
    comparison->stretched = *out;
    comparison->thickness = *out ? report.thickness : 0.0;
    return *out || !(how->size > 0.0 || how->metric) ? KILN_OK : make_sizing(mesh, how, out, error);
}

static kiln_status judge(const kiln_mesh *mesh, const improvement *how, const kiln_sizing *field,
                         const kiln_mesh_comparison *comparison, kiln_metric_quality *quality,
                         kiln_error *error)
{
    return comparison->stretched
               ? kiln_metric_quality_of(mesh, how->remesh.space, field, quality, error)
               : KILN_OK;
}

static kiln_status improve(kiln_mesh *mesh, const improvement *how, kiln_improve_report *report,
                           kiln_adapt_report *adapted, kiln_mesh_comparison *comparison,
                           kiln_error *error)
{
    kiln_improve_request request = {.remesh = how->remesh,
                                    .improve = how->improve,
                                    .ridge_angle = how->ridge,
                                    .move_again = how->move_again,
                                    .whole = how->aggressive};
    kiln_sizing *field = NULL;
    KILN_TRY(find_field(mesh, how, comparison, &field, error));
    request.stretched = comparison->stretched;
    request.keep_sizes = comparison->stretched && !(how->size > 0.0);
    kiln_status status = judge(mesh, how, field, comparison, &comparison->metric_before, error);
    if (status == KILN_OK)
        status = kiln_improve_sized(mesh, &request, field, report, adapted, error);
    if (status == KILN_OK)
        status = kiln_mesh_compact(mesh, NULL, error);
    if (status == KILN_OK)
        status = judge(mesh, how, field, comparison, &comparison->metric_after, error);
    kiln_sizing_destroy(field);
    return status;
}

static void print_operators(const kiln_improve_report *report, FILE *out)
{
    fprintf(out, "\n%-26s %14s %14s\n", "operator", "attempts", "successes");
    for (int k = 0; k < KILN_OP_COUNT; k++) {
        char a[32], b[32];
        if (report->count[k].attempts)
            fprintf(out, "  %-24s %14s %14s\n", kiln_operator_name((kiln_operator)k),
                    kiln_grouped(report->count[k].attempts, a),
                    kiln_grouped(report->count[k].successes, b));
    }
}

static double fitting(const kiln_edge_survey *edges)
{
    return edges->edges ? (double)edges->fitting / (double)edges->edges : 0.0;
}

typedef struct work {
    kiln_soup input, output;
    kiln_survey before, after;
    kiln_input_repairs repairs;
    kiln_improve_report report;
    kiln_adapt_report adapted;
    kiln_mesh_shape shape_before, shape_after;
    struct kiln_surface *held;
    kiln_mesh *mesh;
} work;

static void print_report(const kiln_arguments *arguments, const kiln_mesh_comparison *comparison,
                         const work *w, kiln_thin_tets thin)
{
    const kiln_improve_report *report = &w->report;
    const kiln_adapt_report *adapted = &w->adapted;
    const kiln_input_repairs *repairs = &w->repairs;
    bool sized = adapted->edges.edges > 0;
    if (kiln_arguments_has(arguments, "json")) {
        kiln_json json = kiln_json_to_stream(stdout);
        kiln_json_object(&json, NULL);
        kiln_input_repairs_json(repairs, &json);
        kiln_mesh_table_json(comparison, &json);
        kiln_json_bool(&json, "stopped", report->stopped);
        kiln_json_bool(&json, "rests", report->rests);
        kiln_json_count(&json, "below_goal", report->bad_after);
        kiln_json_number(&json, "q_min_measured", report->worst_after);
        if (sized) {
            kiln_json_number(&json, "edges_fitting", fitting(&adapted->edges));
            kiln_json_count(&json, "splits", adapted->splits);
            kiln_json_count(&json, "contractions", adapted->contractions);
        }
        if (!comparison->stretched)
            kiln_thin_tets_json(&thin, &json);
        kiln_json_object(&json, "operators");
        for (int k = 0; k < KILN_OP_COUNT; k++) {
            kiln_json_object(&json, kiln_operator_name((kiln_operator)k));
            kiln_json_count(&json, "attempts", report->count[k].attempts);
            kiln_json_count(&json, "successes", report->count[k].successes);
            kiln_json_end(&json);
        }
        kiln_json_end(&json);
        kiln_json_end(&json);
        return;
    }
    kiln_input_repairs_print(repairs, stdout);
    kiln_mesh_table_print(comparison, stdout);
    print_operators(report, stdout);
    if (sized)
        printf("\nsizes: %.1f %% of the edges within 0.6 and 1.7 of what was asked for and the "
               "surface's band allows;\n  %zu splits, %zu contractions; worst quality in that "
               "metric %.4f\n",
               100.0 * fitting(&adapted->edges), adapted->splits, adapted->contractions,
               report->worst_after);
    if (report->bad_after && !report->stopped && !kiln_arguments_has(arguments, "aggressive"))
        printf("\n%zu tets are still below the goal%s\n", report->bad_after,
               report->outgrown ? ": it would take more than 3.5 times the tets" : "");
    if (report->rests)
        puts("\nas good as it gets with the surface as it is, and left alone; --band 1 lets that "
             "move once more");
    if (report->stopped)
        puts("\nstopped early: the mesh is valid and as good as it had become");
    if (!comparison->stretched)
        kiln_thin_tets_print(&thin, stdout);
}

static void free_work(kiln_context *context, work *w)
{
    kiln_mesh_shape_free(context, &w->shape_before);
    kiln_mesh_shape_free(context, &w->shape_after);
    kiln_surface_release(context, w->held);
    kiln_soup_free(&w->input);
    kiln_soup_free(&w->output);
    kiln_survey_free(&w->before);
    kiln_survey_free(&w->after);
    kiln_mesh_destroy(w->mesh);
}

/* The first field of the metric file that can be one. */
static kiln_status read_metric(kiln_context *context, improvement *how, kiln_soup *soup,
                               kiln_error *error)
{
    size_t first = soup->fields.count;
    KILN_TRY(kiln_soup_read_fields(context, how->metric, NULL, soup, error));
    for (size_t i = first; i < soup->fields.count; i++) {
        const kiln_soup_field *field = &soup->fields.data[i];
        if (field->where == KILN_ON_VERTEX && (field->components == 1 || field->components == 6)) {
            snprintf(how->field, sizeof how->field, "%s", field->name);
            return KILN_OK;
        }
    }
    return kiln_fail(error, KILN_ERR_INPUT, how->metric, 0, -1,
                     "has neither sizes (1 number) nor metrics (6) at the vertices");
}

static kiln_status read_mesh(kiln_context *context, const char *path, improvement *how, work *w,
                             kiln_error *error)
{
    KILN_TRY(kiln_soup_read(context, path, NULL, &w->input, error));
    KILN_TRY(kiln_survey_take(&w->input, &w->before, error));
    if (how->metric)
        KILN_TRY(read_metric(context, how, &w->input, error));
    return kiln_mesh_mend(&w->input, path, how->ridge, &w->mesh, &w->repairs, error);
}

/* A guard: what changes the surface keeps to its band by samples, and so does this, by others. */
static bool stays_in_band(const kiln_mesh_comparison *comparison)
{
    if (comparison->of_band <= 1.0)
        return true;
    fflush(stdout);
    fprintf(
        stderr,
        "kiln: the surface moved by %.3g times its band, %.3g m; a smaller --band, sizes nearer "
        "to the old or --surface keep hold it\n",
        comparison->of_band, comparison->hausdorff);
    return false;
}

/* What one run after the other makes of a surface stays within its band, up to what samples miss.
 */
static const double MOST_BANDS = 3.0;

/* Whether the mesh can have been made of that one. */
static kiln_status refuse_another_body(const kiln_mesh *first, const work *w,
                                       const improvement *how, kiln_error *error)
{
    kiln_context *context = first->context;
    kiln_mesh_shape before = {0}, after = {0};
    kiln_shape_change change;
    kiln_status status = kiln_mesh_shape_take(first, how->remesh.space, &before, error);
    if (status == KILN_OK)
        status = kiln_mesh_shape_take(w->mesh, how->remesh.space, &after, error);
    if (status == KILN_OK)
        status = kiln_shape_compare(context, &before, &after, &change, error);
    kiln_mesh_shape_free(context, &before);
    kiln_mesh_shape_free(context, &after);
    KILN_TRY(status);
    double bands = change.of_band / how->remesh.band;
    if (bands <= MOST_BANDS)
        return KILN_OK;
    return kiln_fail(
        error, KILN_ERR_INPUT, how->within, 0, -1,
        "is not what the mesh was made of: their surfaces are up to %.3g m apart, %.3g "
        "times the band",
        change.hausdorff, bands);
}

/* The surface of another mesh, of which this is a later state. */
static kiln_status hold_within(kiln_context *context, improvement *how, const work *w,
                               struct kiln_surface **held, kiln_error *error)
{
    kiln_soup soup;
    kiln_mesh *mesh = NULL;
    kiln_input_repairs repairs;
    if (!how->within)
        return KILN_OK;
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_soup_read(context, how->within, NULL, &soup, error);
    if (status == KILN_OK)
        status = kiln_mesh_mend(&soup, how->within, how->ridge, &mesh, &repairs, error);
    if (status == KILN_OK)
        status = refuse_another_body(mesh, w, how, error);
    if (status == KILN_OK)
        status = kiln_surface_freeze(mesh, &how->remesh, held, error);
    how->remesh.held = *held;
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    return status;
}

static kiln_status improve_and_write(kiln_context *context, const kiln_arguments *arguments,
                                     improvement *how, work *w, int *code, kiln_error *error)
{
    const double began = kiln_wall_seconds();
    kiln_format_options encoding;
    KILN_TRY(kiln_encoding_options(arguments, &encoding, error));
    KILN_TRY(read_mesh(context, arguments->operands[0], how, w, error));
    KILN_TRY(hold_within(context, how, w, &w->held, error));
    kiln_crossing crossing;
    KILN_TRY(kiln_surface_find_crossing(w->mesh, how->remesh.space, &crossing, error));
    if (!kiln_arguments_has(arguments, "allow-overlap"))
        KILN_TRY(kiln_refuse_overlap(w->mesh, how->remesh.space, &crossing, arguments->operands[0],
                                     error));
    KILN_TRY(kiln_mesh_shape_take(w->mesh, how->remesh.space, &w->shape_before, error));
    kiln_mesh_comparison comparison = {.before = &w->before,
                                       .after = &w->after,
                                       .seconds = kiln_wall_seconds(),
                                       .cpu = kiln_processor_seconds()};
    /* Mending the input may have cost quality; the result is not to be worse than the input. */
    how->improve.goal = fmax(how->improve.goal, fmin(w->before.q_min, 1.0));
    KILN_TRY(improve(w->mesh, how, &w->report, &w->adapted, &comparison, error));
    comparison.seconds = kiln_wall_seconds() - comparison.seconds;
    comparison.cpu = kiln_processor_seconds() - comparison.cpu;
    KILN_TRY(kiln_mesh_shape_take(w->mesh, how->remesh.space, &w->shape_after, error));
    kiln_shape_change shape;
    KILN_TRY(kiln_shape_compare(context, &w->shape_before, &w->shape_after, &shape, error));
    comparison.hausdorff = shape.hausdorff;
    comparison.of_band = shape.of_band / how->remesh.band;
    comparison.volume_change = shape.volume * w->before.volume;
    KILN_TRY(kiln_refuse_new_overlap(w->mesh, how->remesh.space, crossing.pairs,
                                     arguments->operands[0], error));
    KILN_TRY(kiln_mesh_to_soup(w->mesh, &w->output, error));
    KILN_TRY(kiln_soup_write(context, kiln_arguments_get(arguments, "output"), &encoding,
                             &w->output, error));
    KILN_TRY(kiln_survey_take(&w->output, &w->after, error));
    KILN_TRY(kiln_changed_tets(&w->input, &w->output, &comparison.changed, error));
    comparison.whole = kiln_wall_seconds() - began;
    comparison.whole_cpu = kiln_processor_seconds();
    print_report(arguments, &comparison, w, kiln_thin_tets_find(w->mesh, how->remesh.space));
    bool kept = stays_in_band(&comparison);
    *code = w->report.stopped || !kept ? KILN_EXIT_FAILED : KILN_EXIT_FINE;
    return KILN_OK;
}

static kiln_status run_improve(kiln_context *context, const kiln_arguments *arguments,
                               kiln_asked *asked, int *code, kiln_error *error)
{
    improvement how;
    progress_line line = {.asked = asked, .terminal = kiln_stream_is_terminal(stderr)};
    if (!kiln_arguments_get(arguments, "output"))
        return kiln_fail(error, KILN_ERR_INPUT, "mesh improve", 0, -1,
                         "where to? Say -o better.mesh");
    KILN_TRY(read_options(arguments, &how, error));
    how.improve.progress = show_progress;
    how.improve.user = &line;
    work w = {.before = {.context = context}, .after = {.context = context}};
    kiln_soup_init(&w.input, context);
    kiln_soup_init(&w.output, context);
    kiln_status status = improve_and_write(context, arguments, &how, &w, code, error);
    if (line.shown > 0.0)
        fputs("\r\033[K", stderr);
    free_work(context, &w);
    return status;
}

int kiln_command_mesh_improve(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"goal", 0, "Q", "repair tets below this quality and leave the rest (default: 0.15)"},
        {"aggressive", 0, NULL, "push the whole mesh as high as it will go"},
        {"size", 0, "LENGTH", "edges of about this length everywhere"},
        {"metric", 0, "FILE", "sizes or metrics at the vertices (.sol), isotropic or not"},
        KILN_THIN_OPTIONS,
        {"measure", 0, "NAME",
         "what to improve: q (default), sine (smallest dihedral sine), vl (V/l^3)"},
        {"surface", 0, "MODE",
         "keep: curved parts stay; quadric (default): they may be remeshed; smooth"},
        {"ridge-angle", 0, "DEGREES",
         "edges that turn by more stay, and creases between flat faces (default: 45)"},
        {"band", 0, "TIMES", "curved surfaces may move by this many times the usual (default: 1)"},
        {"within", 0, "FILE",
         "stay in the band of this mesh's surface, too (IN was made of it before)"},
        {"allow-overlap", 0, NULL, "take a mesh whose surface passes through itself"},
        {"json", 0, NULL, "print one object, for scripts"},
        {"ascii", 0, NULL, "write text"},
        {"binary", 0, NULL, "write binary"},
        {"format", 0, "NAME", "write this format whatever the file's name says"},
        {"output", 'o', "FILE", "the mesh file to write (needed)"}};
    static const kiln_usage usage = {
        .command = "mesh improve",
        .synopsis = "IN -o OUT [--goal Q | --aggressive] [options]",
        .what = "Repairs bad tets, or makes all of them better, and says what changed.",
        .example = "  kiln mesh improve bad.mesh -o good.mesh\n"
                   "  kiln mesh improve bad.mesh -o best.mesh --aggressive\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 1,
        .most_operands = 1,
        .details = kiln_list_formats};
    return kiln_command_frame_patient(&usage, argc, argv, run_improve);
}

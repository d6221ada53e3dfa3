#include "app/hausdorff.h"
#include "app/mesh_command.h"
#include "app/mesh_mend.h"
#include "app/mesh_overlap.h"
#include "app/mesh_table.h"
#include "app/mesh_thin.h"
#include "base/clock.h"
#include "io/format.h"
#include "remesh/domain.h"
#include "remesh/shape_change.h"

static kiln_status read_options(const kiln_arguments *arguments, kiln_domain_options *out,
                                kiln_error *error)
{
    *out = kiln_domain_default_options();
    const char *size = kiln_arguments_get(arguments, "size");
    if (size)
        KILN_TRY(kiln_numbers_parse(size, 1, &out->size, "--size", error));
    if (size && !(out->size > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--size", 0, -1, "must be positive, got %s", size);
    const char *gap = kiln_arguments_get(arguments, "gap");
    if (gap)
        KILN_TRY(kiln_numbers_parse(gap, 1, &out->gap, "--gap", error));
    if (!(out->gap >= 0.0 && out->gap <= 1.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--gap", 0, -1, "must be from 0 to 1, got %s", gap);
    const char *goal = kiln_arguments_get(arguments, "goal");
    if (goal)
        KILN_TRY(kiln_numbers_parse(goal, 1, &out->goal, "--goal", error));
    if (!(out->goal >= 0.0 && out->goal < 1.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--goal", 0, -1,
                         "must be at least 0 and below 1, which the regular tet has, got %s", goal);
    out->least = fmin(out->least, out->goal);
    KILN_TRY(kiln_thin_options(arguments, &out->thin, &out->layers, error));
    return kiln_arguments_integer(arguments, "rounds", 0, 1000, &out->rounds, error);
}

static void show_progress(void *user, const char *stage, double done)
{
    if (!*(const bool *)user)
        return;
    fprintf(stderr, "\r\033[K%s", stage);
    if (done > 0.0)
        fprintf(stderr, "  %.0f %%", 100.0 * done);
    fflush(stderr);
}

static void print_report(const kiln_arguments *arguments, const kiln_mesh_comparison *comparison,
                         const kiln_domain_report *report, const kiln_input_repairs *repairs,
                         kiln_thin_tets thin)
{
    const struct {
        const char *key, *what;
        size_t count;
    } rows[] = {{"splits", "edges split", report->splits},
                {"contractions", "edges contracted", report->contractions},
                {"corner_sites", "corners", report->corner_sites},
                {"curve_sites", "sites on feature curves", report->curve_sites},
                {"surface_sites", "sites on surfaces", report->surface_sites},
                {"kept_vertices", "of them old vertices", report->kept_vertices},
                {"promoted_sites", "of them from inside", report->promoted_sites},
                {"inside_sites", "sites inside", report->inside_sites},
                {"poor_removed", "poor tets taken off the surface", report->poor_removed},
                {"filled", "tets put in for a manifold surface", report->filled},
                {"dug", "tets taken out for a manifold surface", report->dug},
                {"cuts", "cuts for a manifold surface", report->cuts},
                {"below_goal", "tets below the goal, repaired", report->below_goal},
                {"left_below_goal", "tets below the goal, left", report->left_below_goal}};
    size_t count = sizeof rows / sizeof rows[0];
    if (kiln_arguments_has(arguments, "json")) {
        kiln_json json = kiln_json_to_stream(stdout);
        kiln_json_object(&json, NULL);
        kiln_input_repairs_json(repairs, &json);
        kiln_mesh_table_json(comparison, &json);
        for (size_t i = 0; i < count; i++)
            kiln_json_count(&json, rows[i].key, rows[i].count);
        kiln_json_bool(&json, "joined", report->joined);
        kiln_json_bool(&json, "material_reset", report->material_reset);
        if (!comparison->stretched)
            kiln_thin_tets_json(&thin, &json);
        kiln_json_end(&json);
        return;
    }
    kiln_input_repairs_print(repairs, stdout);
    kiln_mesh_table_print(comparison, stdout);
    putchar('\n');
    puts(!report->joined     ? "nothing became one: the old mesh was adapted"
         : report->cuts == 0 ? "what overlaps or touches is one now"
                             : "what overlaps or touches is one now, but where it is cut: it meets "
                               "in an edge or a point there");
    for (size_t i = 0; i < count; i++) {
        char text[32];
        if (rows[i].count == 0)
            continue;
        printf("  %-40s %12s\n", rows[i].what, kiln_grouped(rows[i].count, text));
    }
    if (report->material_reset)
        puts("\nmaterial positions could not be carried over: they are the world positions now");
    if (!comparison->stretched)
        kiln_thin_tets_print(&thin, stdout);
}

typedef struct work {
    kiln_soup input, output;
    kiln_survey before, after;
    kiln_input_repairs repairs;
    kiln_mesh_comparison comparison;
    kiln_domain_report report;
    kiln_mesh *mesh, *made;
} work;

static void free_work(work *w)
{
    kiln_soup_free(&w->input);
    kiln_soup_free(&w->output);
    kiln_survey_free(&w->before);
    kiln_survey_free(&w->after);
    kiln_mesh_destroy(w->mesh);
    kiln_mesh_destroy(w->made);
}

static kiln_status remesh(const kiln_arguments *arguments, work *w, kiln_error *error)
{
    bool terminal = kiln_stream_is_terminal(stderr);
    kiln_domain_options how;
    KILN_TRY(read_options(arguments, &how, error));
    how.progress = show_progress;
    how.progress_user = &terminal;
    double wall = kiln_wall_seconds(), cpu = kiln_processor_seconds();
    kiln_status status = kiln_domain_remesh(w->mesh, &how, &w->made, &w->report, error);
    w->comparison.seconds = kiln_wall_seconds() - wall;
    w->comparison.cpu = kiln_processor_seconds() - cpu;
    if (terminal)
        fputs("\r\033[K", stderr);
    if (status == KILN_OK && !w->made)
        return kiln_fail(error, KILN_ERR_INPUT, arguments->operands[0], 0, -1,
                         "the new mesh would be worse than the old: quality %.2g, and it was %.2g; "
                         "volume %.6g, and it was %.6g; nothing is written",
                         w->report.worst_after, w->report.worst_before, w->report.volume_after,
                         w->report.volume_before);
    return status;
}

/* With the faces between regions, and a slit that has closed counts, where each surface has its
 * like in the new mesh. */
static kiln_status compare_surfaces(work *w, kiln_error *error)
{
    kiln_context *context = w->mesh->context;
    kiln_mesh_shape before = {0}, after = {0};
    kiln_shape_change change = {0};
    if (w->report.joined)
        return kiln_soup_hausdorff(&w->input, &w->output, &w->comparison.hausdorff, error);
    kiln_status status = kiln_mesh_shape_take(w->mesh, KILN_SPACE_WORLD, &before, error);
    if (status == KILN_OK)
        status = kiln_mesh_shape_take(w->made, KILN_SPACE_WORLD, &after, error);
    if (status == KILN_OK)
        status = kiln_shape_compare(context, &before, &after, &change, error);
    w->comparison.hausdorff = change.hausdorff;
    kiln_mesh_shape_free(context, &before);
    kiln_mesh_shape_free(context, &after);
    return status;
}

static void note_stretch(const kiln_domain_report *report, kiln_mesh_comparison *comparison)
{
    comparison->stretched = report->stretched;
    comparison->thickness = report->thickness;
    comparison->metric_before = (kiln_metric_quality){report->worst_before, report->mean_before};
    comparison->metric_after = (kiln_metric_quality){report->worst_after, report->mean_after};
}

static kiln_status remesh_and_write(kiln_context *context, const kiln_arguments *arguments,
                                    const char *path, work *w, kiln_error *error)
{
    kiln_format_options encoding;
    KILN_TRY(kiln_encoding_options(arguments, &encoding, error));
    KILN_TRY(kiln_soup_read(context, arguments->operands[0], NULL, &w->input, error));
    KILN_TRY(kiln_survey_take(&w->input, &w->before, error));
    KILN_TRY(kiln_mesh_mend(&w->input, arguments->operands[0], 0.0, &w->mesh, &w->repairs, error));
    KILN_TRY(remesh(arguments, w, error));
    KILN_TRY(kiln_refuse_new_overlap(w->made, KILN_SPACE_WORLD, 0, arguments->operands[0], error));
    KILN_TRY(kiln_mesh_to_soup(w->made, &w->output, error));
    KILN_TRY(kiln_soup_write(context, path, &encoding, &w->output, error));
    kiln_mesh_comparison *comparison = &w->comparison;
    KILN_TRY(compare_surfaces(w, error));
    KILN_TRY(kiln_changed_tets(&w->input, &w->output, &comparison->changed, error));
    KILN_TRY(kiln_survey_take(&w->output, &w->after, error));
    comparison->before = &w->before;
    comparison->after = &w->after;
    comparison->volume_change = w->after.volume - w->before.volume;
    note_stretch(&w->report, comparison);
    print_report(arguments, comparison, &w->report, &w->repairs,
                 kiln_thin_tets_find(w->made, KILN_SPACE_WORLD));
    return KILN_OK;
}

static kiln_status run_remesh(kiln_context *context, const kiln_arguments *arguments,
                              kiln_error *error)
{
    const char *path = kiln_arguments_get(arguments, "output");
    if (!path)
        return kiln_fail(error, KILN_ERR_INPUT, "mesh remesh", 0, -1, "where to? Say -o new.mesh");
    work w = {.before = {.context = context}, .after = {.context = context}};
    kiln_soup_init(&w.input, context);
    kiln_soup_init(&w.output, context);
    kiln_status status = remesh_and_write(context, arguments, path, &w, error);
    free_work(&w);
    return status;
}

int kiln_command_mesh_remesh(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"size", 0, "LENGTH", "edges this long everywhere (default: as the old ones there)"},
        {"goal", 0, "Q", "repair tets below this quality at the end (default: 0.3; 0: none)"},
        {"gap", 0, "PART",
         "join surfaces that face each other closer than this part of the size (default: 0)"},
        {"rounds", 0, "N", "of site optimisation (default: 8)"},
        KILN_THIN_OPTIONS,
        {"json", 0, NULL, "print one object, for scripts"},
        {"ascii", 0, NULL, "write text"},
        {"binary", 0, NULL, "write binary"},
        {"format", 0, "NAME", "write this format whatever the file's name says"},
        {"output", 'o', "FILE", "the mesh file to write (needed)"}};
    static const kiln_usage usage = {
        .command = "mesh remesh",
        .synopsis = "IN -o OUT [--size LENGTH] [options]",
        .what = "Makes a new mesh of the space that an old one fills; what overlaps becomes one.",
        .example = "  kiln mesh remesh old.mesh -o new.mesh\n"
                   "  kiln mesh remesh old.mesh -o fine.mesh --size 0.02\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 1,
        .most_operands = 1,
        .details = kiln_list_formats};
    return kiln_command_frame(&usage, argc, argv, run_remesh);
}

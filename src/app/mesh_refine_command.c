/* kiln mesh refine, kiln mesh coarsen. */
#include "app/mesh_command.h"
#include "app/mesh_table.h"
#include "base/clock.h"
#include "io/format.h"
#include "io/scene_selection.h"
#include "mesh/build.h"
#include "remesh/refine_file.h"
#include "sim/pick.h"

#include <math.h>
#include <string.h>

/* What both commands work on, from file to file. */
typedef struct job {
    kiln_context *context;
    const kiln_arguments *arguments;
    const char *input, *output;
    kiln_format_options format;
    kiln_soup before, after;
    kiln_mesh *mesh;
    kiln_refiner *refiner;
    bool was_refined; /* the input had words */
    kiln_picks where;
    kiln_u32_array chosen; /* tets */
    kiln_refine_report report;
    double seconds, cpu;
} job;

static kiln_status start(job *j, kiln_error *error)
{
    const kiln_arguments *arguments = j->arguments;
    const char *where = kiln_arguments_get(arguments, "where");
    j->input = arguments->operands[0];
    j->output = kiln_arguments_get(arguments, "output");
    kiln_soup_init(&j->before, j->context);
    kiln_soup_init(&j->after, j->context);
    if (!j->output)
        return kiln_fail(error, KILN_ERR_INPUT, arguments->usage->command, 0, -1,
                         "where to? Say -o mesh.vtu");
    KILN_TRY(kiln_encoding_options(arguments, &j->format, error));
    if (where)
        KILN_TRY(kiln_selection_read(j->context, "--where", where, &j->where, error));
    KILN_TRY(kiln_soup_read(j->context, j->input, NULL, &j->before, error));
    kiln_refine_words words = {0};
    kiln_status status = kiln_refine_words_from_soup(&j->before, j->input, &words, error);
    j->was_refined = words.count > 0;
    kiln_build_options build = kiln_build_default_options();
    build.policy = KILN_BUILD_STRICT;
    build.place = j->input;
    if (status == KILN_OK)
        status = kiln_mesh_build(j->context, &j->before, &build, &j->mesh, NULL, error);
    if (status == KILN_OK)
        status = kiln_refiner_create(j->mesh, &j->refiner, error);
    if (status == KILN_OK && j->was_refined)
        status = kiln_refiner_set_words(j->refiner, &words, error);
    kiln_array_free(j->context, &words);
    return status;
}

static void end(job *j)
{
    kiln_refiner_destroy(j->refiner);
    if (j->mesh)
        kiln_mesh_destroy(j->mesh);
    kiln_soup_free(&j->before);
    kiln_soup_free(&j->after);
    kiln_array_free(j->context, &j->where);
    kiln_array_free(j->context, &j->chosen);
}

static void add_report(kiln_refine_report *sum, const kiln_refine_report *more)
{
    sum->steps += more->steps;
    sum->blocked += more->blocked;
    if (sum->first_refusal == KILN_ACCEPTED) {
        sum->first_refusal = more->first_refusal;
        sum->first_blocked = more->first_blocked;
    }
}

/* The tets of the selection that have cycles to go and, with a size, are larger than it. */
static kiln_status choose(job *j, uint32_t goal, double size, kiln_error *error)
{
    KILN_TRY(kiln_picks_select(j->mesh, KILN_ON_TET, &j->where, &j->chosen, error));
    size_t kept = 0;
    for (size_t i = 0; i < j->chosen.count; i++) {
        uint32_t t = j->chosen.data[i];
        if (kiln_refine_generation(j->refiner, t) < goal &&
            kiln_tet_longest_edge(j->mesh, t) > size)
            j->chosen.data[kept++] = t;
    }
    j->chosen.count = kept;
    return KILN_OK;
}

static kiln_status refine(job *j, kiln_error *error)
{
    const char *text = kiln_arguments_get(j->arguments, "size");
    int cycles = text ? KILN_REFINE_CYCLES : 1;
    double size = 0.0;
    if (text && kiln_arguments_has(j->arguments, "cycles"))
        return kiln_fail(error, KILN_ERR_INPUT, j->arguments->usage->command, 0, -1,
                         "--cycles and --size exclude each other");
    KILN_TRY(kiln_arguments_integer(j->arguments, "cycles", 1, KILN_REFINE_CYCLES, &cycles, error));
    if (text)
        KILN_TRY(kiln_numbers_parse(text, 1, &size, "--size", error));
    if (text && !(size > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, "--size", 0, -1, "must be positive, got %g", size);
    for (int cycle = 1; cycle <= cycles; cycle++) {
        kiln_refine_report report;
        KILN_TRY(choose(j, 5 * (uint32_t)cycle, size, error));
        if (j->chosen.count > KILN_MAX_TETS / 20)
            return kiln_fail(error, KILN_ERR_LIMIT, j->input, 0, -1,
                             "cycle %d would make more than %u tets of %zu", cycle, KILN_MAX_TETS,
                             j->chosen.count);
        KILN_TRY(kiln_refine_tets(j->refiner, j->chosen.data, j->chosen.count, 5 * (uint32_t)cycle,
                                  &report, error));
        add_report(&j->report, &report);
    }
    return KILN_OK;
}

/* [tet] whether the selection has it; tets with higher numbers are younger than that. */
typedef struct membership {
    uint8_t *inside;
    size_t count;
} membership;

static bool is_inside(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    const membership *m = user;
    (void)mesh;
    return tet < m->count && m->inside[tet];
}

/* Generation by generation, so that the selection sees the mesh as it has become. */
static kiln_status coarsen_selected(job *j, uint32_t least, kiln_error *error)
{
    for (uint32_t generation = kiln_refine_highest(j->refiner); generation > least; generation--) {
        kiln_refine_report report;
        KILN_TRY(kiln_picks_select(j->mesh, KILN_ON_TET, &j->where, &j->chosen, error));
        membership m = {.count = j->mesh->table[KILN_ON_TET].used};
        m.inside = kiln_resize(j->context, NULL, 0, m.count);
        if (!m.inside)
            return kiln_fail_memory(error, m.count);
        memset(m.inside, 0, m.count);
        for (size_t i = 0; i < j->chosen.count; i++)
            m.inside[j->chosen.data[i]] = 1;
        kiln_refine_choice choice = {is_inside, &m};
        kiln_status status = kiln_coarsen_where(j->refiner, choice, generation - 1, &report, error);
        kiln_release(j->context, m.inside, m.count);
        KILN_TRY(status);
        add_report(&j->report, &report);
    }
    return KILN_OK;
}

static kiln_status coarsen(job *j, kiln_error *error)
{
    int cycles = 0;
    KILN_TRY(kiln_arguments_integer(j->arguments, "cycles", 0, KILN_REFINE_CYCLES, &cycles, error));
    if (!j->was_refined)
        return kiln_fail(error, KILN_ERR_INPUT, j->input, 0, -1,
                         "has no field '%s': it was not written by kiln mesh refine, or in a "
                         "format without fields",
                         KILN_REFINE_FIELD);
    if (j->where.count > 0)
        return coarsen_selected(j, 5 * (uint32_t)cycles, error);
    kiln_refine_choice everything = {0};
    return kiln_coarsen_where(j->refiner, everything, 5 * (uint32_t)cycles, &j->report, error);
}

static size_t count_refined(const job *j)
{
    size_t count = 0;
    for (uint32_t t = 0; t < j->mesh->table[KILN_ON_TET].used; t++)
        count += kiln_tet_live(j->mesh, t) && kiln_refine_generation(j->refiner, t) != 0;
    return count;
}

static bool holds_fields(const job *j)
{
    const kiln_format *format =
        j->format.format ? kiln_format_by_name(j->format.format) : kiln_format_by_path(j->output);
    return format && format->flags & KILN_FORMAT_FIELDS;
}

static kiln_status print(const job *j, kiln_error *error)
{
    kiln_survey before, after;
    size_t refined = count_refined(j);
    KILN_TRY(kiln_survey_take(&j->before, &before, error));
    kiln_status status = kiln_survey_take(&j->after, &after, error);
    kiln_mesh_comparison figures = {
        .before = &before, .after = &after, .hausdorff = NAN, .seconds = j->seconds, .cpu = j->cpu};
    if (status == KILN_OK)
        status = kiln_changed_tets(&j->before, &j->after, &figures.changed, error);
    if (status == KILN_OK)
        figures.volume_change = after.volume - before.volume;
    if (status == KILN_OK && kiln_arguments_has(j->arguments, "json")) {
        kiln_json json = kiln_json_to_stream(stdout);
        kiln_json_object(&json, NULL);
        kiln_json_text(&json, "input", j->input);
        kiln_json_text(&json, "output", j->output);
        kiln_mesh_table_json(&figures, &json);
        kiln_json_count(&json, "steps", j->report.steps);
        kiln_json_count(&json, "blocked", j->report.blocked);
        kiln_json_count(&json, "refined_tets", refined);
        kiln_json_bool(&json, "reversible", refined == 0 || holds_fields(j));
        kiln_json_end(&json);
        fputc('\n', stdout);
    } else if (status == KILN_OK) {
        kiln_mesh_table_print(&figures, stdout);
        fprintf(stdout, "  steps                    %14llu\n", (unsigned long long)j->report.steps);
        fprintf(stdout, "  tets that are refined    %14zu\n", refined);
    }
    kiln_survey_free(&before);
    kiln_survey_free(&after);
    return status;
}

static void warn(const job *j, bool refining)
{
    if (refining && j->report.blocked > 0)
        fprintf(stderr, "kiln: %s: %llu tets could not be refined: %s\n", j->input,
                (unsigned long long)j->report.blocked,
                kiln_verdict_reason(j->report.first_refusal));
    if (count_refined(j) > 0 && !holds_fields(j))
        fprintf(stderr,
                "kiln: %s: this format holds no fields, so kiln mesh coarsen cannot take the "
                "refinement back; .vtu and .msh can\n",
                j->output);
}

static kiln_status run(kiln_context *context, const kiln_arguments *arguments,
                       kiln_status (*work)(job *, kiln_error *), bool refining, kiln_error *error)
{
    job j = {.context = context, .arguments = arguments};
    kiln_status status = start(&j, error);
    if (status == KILN_OK) {
        double wall = kiln_wall_seconds(), cpu = kiln_processor_seconds();
        status = work(&j, error);
        j.seconds = kiln_wall_seconds() - wall;
        j.cpu = kiln_processor_seconds() - cpu;
    }
    if (status == KILN_OK)
        status = kiln_refine_to_soup(j.refiner, &j.after, error);
    if (status == KILN_OK)
        status = kiln_soup_write(context, j.output, &j.format, &j.after, error);
    if (status == KILN_OK) {
        warn(&j, refining);
        status = print(&j, error);
    }
    end(&j);
    return status;
}

static kiln_status run_refine(kiln_context *context, const kiln_arguments *arguments,
                              kiln_error *error)
{
    return run(context, arguments, refine, true, error);
}

static kiln_status run_coarsen(kiln_context *context, const kiln_arguments *arguments,
                               kiln_error *error)
{
    return run(context, arguments, coarsen, false, error);
}

static void list_selections(FILE *out)
{
    fputs("Selections are written as in scenes (docs/scene.md), and combined by & | - and ~:\n"
          "  select.box { from = {0, 0, 0}, to = {1, 1, 1} }     select.region { tag = 2 }\n"
          "  select.sphere { centre = {0, 0, 0}, radius = 0.5 }  select.patch { tag = 1 }\n\n",
          out);
    kiln_list_formats(out);
}

#define OUTPUT_OPTIONS                                                                             \
    {"json", 0, NULL, "print one object, for scripts"}, {"ascii", 0, NULL, "write text"},          \
        {"binary", 0, NULL, "write binary"},                                                       \
        {"format", 0, "NAME", "write this format whatever the file's name says"},                  \
    {                                                                                              \
        "output", 'o', "FILE", "the mesh file to write (needed)"                                   \
    }

int kiln_command_mesh_refine(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"cycles", 0, "N", "until the tets have been through N cycles, 1 to 8 (default: 1)"},
        {"size", 0, "LENGTH", "cycles until no edge is longer"},
        {"where", 0, "SELECTION", "only these tets, looked at anew before every cycle"},
        OUTPUT_OPTIONS};
    static const kiln_usage usage = {
        .command = "mesh refine",
        .synopsis = "IN -o OUT [--cycles N | --size LENGTH] [--where SELECTION]",
        .what = "Refines tets so that kiln mesh coarsen gives the mesh back bit for bit.",
        .example = "  kiln mesh refine block.mesh -o fine.vtu --cycles 2 \\\n"
                   "      --where 'select.sphere { centre = {0, 0, 0}, radius = 0.3 }'\n",
        .own = options,
        .own_count = sizeof options / sizeof options[0],
        .least_operands = 1,
        .most_operands = 1,
        .details = list_selections};
    return kiln_command_frame(&usage, argc, argv, run_refine);
}

int kiln_command_mesh_coarsen(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"cycles", 0, "N", "leave N cycles (default: 0, the initial mesh)"},
        {"where", 0, "SELECTION", "only these tets"},
        OUTPUT_OPTIONS};
    static const kiln_usage usage = {.command = "mesh coarsen",
                                     .synopsis = "IN -o OUT [--cycles N] [--where SELECTION]",
                                     .what = "Takes the refinement of kiln mesh refine back.",
                                     .example = "  kiln mesh coarsen fine.vtu -o block.mesh\n",
                                     .own = options,
                                     .own_count = sizeof options / sizeof options[0],
                                     .least_operands = 1,
                                     .most_operands = 1,
                                     .details = list_selections};
    return kiln_command_frame(&usage, argc, argv, run_coarsen);
}

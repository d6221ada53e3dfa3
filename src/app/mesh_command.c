#include "app/mesh_command.h"
#include "app/survey.h"
#include "io/fill.h"
#include "io/format.h"

static kiln_status run_info(kiln_context *context, const kiln_arguments *arguments,
                            kiln_error *error)
{
    const char *path = arguments->operands[0];
    kiln_soup soup;
    kiln_survey survey;
    kiln_soup_init(&soup, context);
    KILN_TRY(kiln_soup_read(context, path, NULL, &soup, error));
    kiln_status status = kiln_survey_take(&soup, &survey, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    if (kiln_arguments_has(arguments, "json"))
        kiln_survey_print_json(&survey, path, stdout);
    else
        kiln_survey_print(&survey, path, stdout);
    kiln_survey_free(&survey);
    return KILN_OK;
}

void kiln_list_formats(FILE *out)
{
    fputs("Formats (by the end of the file's name), with their names:\n", out);
    const kiln_format *format;
    for (size_t row = 0; (format = kiln_format_at(row)); row++)
        fprintf(out, "  %-22s %-7s %-5s %-6s %s\n", format->extensions, format->name,
                format->read ? "reads" : "", format->write ? "writes" : "", format->about);
}

static int command_info(int argc, char **argv)
{
    static const kiln_option options[] = {{"json", 0, NULL, "print one object, for scripts"}};
    static const kiln_usage usage = {
        .command = "mesh info",
        .synopsis = "FILE [--json]",
        .what = "Counts, sizes, quality and defects of a mesh file, however broken it is.",
        .example = "  kiln mesh info ball.mesh\n  kiln mesh info --json ball.mesh\n",
        .own = options,
        .own_count = 1,
        .least_operands = 1,
        .most_operands = 1,
        .details = kiln_list_formats};
    return kiln_command_frame(&usage, argc, argv, run_info);
}

kiln_status kiln_encoding_options(const kiln_arguments *arguments, kiln_format_options *out,
                                  kiln_error *error)
{
    bool ascii = kiln_arguments_has(arguments, "ascii");
    bool binary = kiln_arguments_has(arguments, "binary");
    if (ascii && binary)
        return kiln_fail(error, KILN_ERR_INPUT, arguments->usage->command, 0, -1,
                         "--ascii and --binary exclude each other");
    *out = (kiln_format_options){.format = kiln_arguments_get(arguments, "format"),
                                 .encoding = ascii    ? KILN_ENCODING_ASCII
                                             : binary ? KILN_ENCODING_BINARY
                                                      : KILN_ENCODING_ANY};
    return KILN_OK;
}

static const kiln_option format_options[] = {
    {"ascii", 0, NULL, "write text"},
    {"binary", 0, NULL, "write binary"},
    {"format", 0, "NAME", "write this format whatever the file's name says"},
    {"output", 'o', "FILE", "the mesh file to write (needed)"}};

static kiln_status run_convert(kiln_context *context, const kiln_arguments *arguments,
                               kiln_error *error)
{
    kiln_format_options options;
    KILN_TRY(kiln_encoding_options(arguments, &options, error));
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    KILN_TRY(kiln_soup_read(context, arguments->operands[0], NULL, &soup, error));
    kiln_status status = kiln_soup_write(context, arguments->operands[1], &options, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

static int command_convert(int argc, char **argv)
{
    static const kiln_usage usage = {.command = "mesh convert",
                                     .synopsis = "IN OUT [--ascii | --binary] [--format NAME]",
                                     .what = "Reads a mesh file and writes it in another format.",
                                     .example = "  kiln mesh convert ball.mesh ball.vtu\n"
                                                "  kiln mesh convert in.msh out.msh --ascii\n",
                                     .own = format_options,
                                     .own_count = 3,
                                     .least_operands = 2,
                                     .most_operands = 2,
                                     .details = kiln_list_formats};
    return kiln_command_frame(&usage, argc, argv, run_convert);
}

static void print_param(const kiln_shape_param *param, FILE *out)
{
    int width = fprintf(out, "    %s=", param->name);
    if (param->kind == KILN_PARAM_TEXT || param->kind == KILN_PARAM_CHOICE)
        width += fprintf(out, "%s", param->text);
    else
        width += fprintf(out, "%g", param->preset);
    fprintf(out, "%*s%s\n", width < 31 ? 31 - width : 2, "", param->help);
}

static void list_shapes(FILE *out)
{
    const kiln_shape *shape;
    fputs("Shapes, with what can be set and its preset (lengths in metres):\n", out);
    for (size_t row = 0; (shape = kiln_generator_at(row)); row++) {
        fprintf(out, "  %-10s %s\n%13spatches: %s\n", shape->name, shape->help, "", shape->patches);
        for (size_t k = 0; k < shape->param_count; k++)
            print_param(&shape->params[k], out);
    }
    fputc('\n', out);
    kiln_list_formats(out);
}

static kiln_status run_generate(kiln_context *context, const kiln_arguments *arguments,
                                kiln_error *error)
{
    const char *path = kiln_arguments_get(arguments, "output");
    if (!path)
        return kiln_fail(error, KILN_ERR_INPUT, "mesh generate", 0, -1,
                         "where to? Say -o mesh.mesh");
    kiln_format_options options;
    KILN_TRY(kiln_encoding_options(arguments, &options, error));
    const kiln_shape *shape;
    KILN_TRY(kiln_generator_find(arguments->operands[0], &shape, error));
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    KILN_TRY(kiln_shape_make(shape, (size_t)arguments->operand_count - 1, arguments->operands + 1,
                             &soup, error));
    kiln_status status = kiln_soup_write(context, path, &options, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

static int command_generate(int argc, char **argv)
{
    static const kiln_usage usage = {.command = "mesh generate",
                                     .synopsis = "SHAPE [name=value...] -o FILE",
                                     .what = "Makes a mesh of a simple shape.",
                                     .example = "  kiln mesh generate ball radius=1 -o ball.mesh\n",
                                     .own = format_options,
                                     .own_count = 4,
                                     .least_operands = 1,
                                     .most_operands = KILN_MAX_OPERANDS,
                                     .details = list_shapes};
    return kiln_command_frame(&usage, argc, argv, run_generate);
}

int kiln_command_mesh(int argc, char **argv)
{
    static const kiln_command rows[] = {
        {"info", "counts, sizes, quality and defects of a mesh file", command_info},
        {"generate", "make a mesh of a simple shape", command_generate},
        {"fill", "fill a surface with tets", kiln_command_mesh_fill},
        {"improve", "repair bad tets, or make all of them better", kiln_command_mesh_improve},
        {"remesh", "a new mesh for the space an old one fills", kiln_command_mesh_remesh},
        {"refine", "refine tets, reversibly", kiln_command_mesh_refine},
        {"coarsen", "take a refinement back", kiln_command_mesh_coarsen},
        {"convert", "write a mesh file in another format", command_convert}};
    return kiln_command_dispatch("mesh", rows, sizeof rows / sizeof rows[0], argc, argv);
}

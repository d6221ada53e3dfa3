#include "app/command.h"

#include "app/interrupt.h"

#include <string.h>
#include <unistd.h>

int kiln_complain(const kiln_error *error)
{
    char text[1024];
    kiln_error_format(error, text, sizeof text);
    bool placed = error->place[0] != 0;
    /* Without a place the format already begins with the program's name. */
    fflush(stdout); /* not into the middle of it where both go to one file */
    fprintf(stderr, "%s%s\n", placed ? "kiln: " : "", text);
    bool ours = error->status == KILN_ERR_MEMORY || error->status == KILN_ERR_STATE;
    return ours ? KILN_EXIT_FAILED : KILN_EXIT_USAGE;
}

/* Either body may be NULL. */
static int run_frame(const kiln_usage *usage, int argc, char **argv, kiln_command_body body,
                     kiln_patient_body patient)
{
    kiln_error error = {0};
    kiln_arguments arguments;
    if (kiln_arguments_parse(usage, argc, argv, &arguments, &error) != KILN_OK)
        return kiln_complain(&error);
    if (kiln_arguments_has(&arguments, "help")) {
        kiln_usage_print(usage, stdout);
        return KILN_EXIT_FINE;
    }
    kiln_context *context;
    if (kiln_arguments_context(&arguments, &context, &error) != KILN_OK)
        return kiln_complain(&error);
    kiln_asked asked = {false, false};
    kiln_interrupt interrupt = {.patience = patient ? &asked : NULL};
    kiln_interrupt_begin(&interrupt, context);
    int code = KILN_EXIT_FINE;
    kiln_status status = patient ? patient(context, &arguments, &asked, &code, &error)
                                 : body(context, &arguments, &error);
    kiln_interrupt_end(&interrupt);
    kiln_context_destroy(context);
    int complaint = status == KILN_OK ? KILN_EXIT_FINE : kiln_complain(&error);
    return code ? code : complaint;
}

int kiln_command_frame(const kiln_usage *usage, int argc, char **argv, kiln_command_body body)
{
    return run_frame(usage, argc, argv, body, NULL);
}

int kiln_command_frame_patient(const kiln_usage *usage, int argc, char **argv,
                               kiln_patient_body body)
{
    return run_frame(usage, argc, argv, NULL, body);
}

static void print_commands(const char *parent, const kiln_command *rows, size_t count, FILE *out)
{
    const char *gap = parent[0] ? " " : "";
    if (!parent[0])
        fprintf(out, "Kiln %s: simulation of bodies on tetrahedral meshes.\n\n", kiln_version());
    fprintf(out, "Usage: kiln%s%s COMMAND ...\n\nCommands:\n", gap, parent);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-10s %s\n", rows[i].name, rows[i].help);
    fprintf(out, "\n'kiln%s%s COMMAND --help' explains one, with an example.\n", gap, parent);
}

int kiln_command_dispatch(const char *parent, const kiln_command *rows, size_t count, int argc,
                          char **argv)
{
    const char *gap = parent[0] ? " " : "";
    if (argc < 1) {
        print_commands(parent, rows, count, stderr);
        return KILN_EXIT_USAGE;
    }
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0 ||
        strcmp(argv[0], "help") == 0) {
        print_commands(parent, rows, count, stdout);
        return KILN_EXIT_FINE;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(argv[0], rows[i].name) == 0)
            return rows[i].run(argc - 1, argv + 1);
    const char *nearest = kiln_nearest_name(argv[0], rows, count, sizeof *rows);
    if (nearest)
        fprintf(stderr, "kiln: unknown command '%s%s%s'; did you mean '%s%s%s'?\n", parent, gap,
                argv[0], parent, gap, nearest);
    else
        fprintf(stderr, "kiln: unknown command '%s%s%s'; 'kiln%s%s --help' lists them\n", parent,
                gap, argv[0], gap, parent);
    return KILN_EXIT_USAGE;
}

bool kiln_stream_is_terminal(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "app/command.h"
#include "app/shell_words.h"
#include "solve/solver.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const kiln_command commands[] = {
    {"demo", "run a built-in scene, make pictures and a film of it", kiln_command_demo},
    {"run", "run a scene; stop it, resume it", kiln_command_run},
    {"check", "validate a scene, list what it would run", kiln_command_check},
    {"mesh", "work on mesh files: info, generate, fill, improve, remesh, refine, convert",
     kiln_command_mesh},
    {"render", "pictures of a mesh file, films of a run, without a display", kiln_command_render},
    {"plot", "the statistics of a run as SVG or PNG", kiln_command_plot},
    {"validate", "measure what has a known answer against it", kiln_command_validate},
    {"bench", "time the kernels against their bars", kiln_command_bench},
};

static kiln_status print_details(kiln_context *context, const kiln_arguments *arguments,
                                 kiln_error *error)
{
    (void)error;
    printf("kiln %s\n", kiln_version());
    if (!kiln_arguments_has(arguments, "verbose"))
        return KILN_OK;
    printf("instructions  %s (best here: %s)\n", kiln_isa_name(context->isa),
           kiln_isa_name(kiln_isa_best()));
    printf("threads       %d\n", context->threads);
    printf("compiler      %s\n", KILN_COMPILER);
    char solvers[1024];
    kiln_solver_describe(solvers, sizeof solvers);
    fputs(solvers, stdout);
    return KILN_OK;
}

static int print_version(int argc, char **argv)
{
    static const kiln_option options[] = {
        {"verbose", 'v', NULL, "also the instruction set, threads, compiler, solvers and BLAS"}};
    static const kiln_usage usage = {.command = "--version",
                                     .synopsis = "[--verbose]",
                                     .what = "Prints the version.",
                                     .example = "  kiln --version --verbose\n",
                                     .own = options,
                                     .own_count = 1};
    return kiln_command_frame(&usage, argc, argv, print_details);
}

/* Without what libraries do at the end: OpenBLAS waits for its workers then, and one that cannot
 * have its memory never comes. The search for leaks is done then too, so sanitized builds wait. */
static int end(int code)
{
#ifndef KILN_SANITIZED
    fflush(NULL);
    _exit(code);
#endif
    return code;
}

int main(int argc, char **argv)
{
    int code;
    /* A limit on file sizes is an error to report, not a reason to die with a file half written. */
    signal(SIGXFSZ, SIG_IGN);
    kiln_shell_set_program(argv[0]);
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        code = print_version(argc - 2, argv + 2);
    else
        code = kiln_command_dispatch("", commands, sizeof commands / sizeof commands[0], argc - 1,
                                     argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "kiln: standard output: cannot be written\n");
        return end(code == KILN_EXIT_FINE ? KILN_EXIT_FAILED : code);
    }
    return end(code);
}

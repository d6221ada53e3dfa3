/* What the commands of the program share: the exit codes, the way errors are shown. */
#ifndef KILN_APP_COMMAND_H
#define KILN_APP_COMMAND_H

#include "app/arguments.h"

#include <stdatomic.h>

enum { KILN_EXIT_FINE = 0, KILN_EXIT_FAILED = 1, KILN_EXIT_USAGE = 2 };

/* One command or subcommand. `argc`/`argv` start after its name. Returns the exit code. */
typedef struct kiln_command {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} kiln_command;

int kiln_command_run(int argc, char **argv);
int kiln_command_check(int argc, char **argv);
int kiln_command_mesh(int argc, char **argv);
int kiln_command_render(int argc, char **argv);
int kiln_command_plot(int argc, char **argv);
int kiln_command_validate(int argc, char **argv);
int kiln_command_bench(int argc, char **argv);
int kiln_command_demo(int argc, char **argv);

/* Runs the row named by argv[0]; help, no name, or an unknown one (the nearest is offered) are
 * dealt with here. `parent` is "" or "mesh". */
int kiln_command_dispatch(const char *parent, const kiln_command *rows, size_t count, int argc,
                          char **argv);

/* Prints an error, after all that was printed before it; the exit code it stands for. */
int kiln_complain(const kiln_error *error);

/* Whether a person is likely to be looking. */
bool kiln_stream_is_terminal(FILE *stream);

/* The common frame: parses by `usage`, prints the help if asked, makes the context, calls `body`,
 * prints its error, and maps the status to an exit code. */
typedef kiln_status (*kiln_command_body)(kiln_context *context, const kiln_arguments *arguments,
                                         kiln_error *error);
int kiln_command_frame(const kiln_usage *usage, int argc, char **argv, kiln_command_body body);

/* The same for a command that answers the first signal itself: from its first look on it is told
 * so, and only the second signal ends the program. An exit code the body sets counts before the
 * status. */
typedef struct kiln_asked {
    atomic_bool asked, looked;
} kiln_asked;
KILN_INLINE bool kiln_is_asked(kiln_asked *asked)
{
    atomic_store(&asked->looked, true);
    return atomic_load(&asked->asked);
}
typedef kiln_status (*kiln_patient_body)(kiln_context *context, const kiln_arguments *arguments,
                                         kiln_asked *asked, int *code, kiln_error *error);
int kiln_command_frame_patient(const kiln_usage *usage, int argc, char **argv,
                               kiln_patient_body body);

#endif

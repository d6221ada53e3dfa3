/* Commands that are printed for people to copy: they mean in a shell what they say. */
#ifndef KILN_APP_SHELL_WORDS_H
#define KILN_APP_SHELL_WORDS_H

#include "app/arguments.h"

/* How the program was called, for commands to begin with; borrowed. Before that it is "kiln". */
void kiln_shell_set_program(const char *name);

/* One word of a POSIX shell: as it is where that is safe, else in quotes. */
void kiln_shell_word(FILE *out, const char *word);
/* The same of a file, which must not look like an option. */
void kiln_shell_path(FILE *out, const char *path);
/* The program and a command, without an end of the line. */
void kiln_shell_command(FILE *out, const char *command);

/* `lead`, then "kiln run SCENE -o FOLDER <way>" with those options of `arguments` that a run is to
 * be given again. To be freed; NULL: no memory. */
char *kiln_shell_run(const kiln_arguments *arguments, const char *folder, const char *lead,
                     const char *way);
/* What to do with the results of a run, a command a line. Likewise. */
char *kiln_shell_results(const char *folder);

#endif

#include "app/shell_words.h"

#include <stdlib.h>
#include <string.h>

static const char *program = "kiln";

void kiln_shell_set_program(const char *name)
{
    if (name && name[0])
        program = name;
}

void kiln_shell_word(FILE *out, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./:@%+,=";
    if (word[0] && !word[strspn(word, safe)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out); /* ends the quotes, one of its own, quotes again */
        else
            fputc(*word, out);
    fputc('\'', out);
}

void kiln_shell_path(FILE *out, const char *path)
{
    if (path[0] == '-')
        fputs("./", out);
    kiln_shell_word(out, path);
}

void kiln_shell_command(FILE *out, const char *command)
{
    kiln_shell_word(out, program);
    fprintf(out, " %s", command);
}

char *kiln_shell_run(const kiln_arguments *arguments, const char *folder, const char *lead,
                     const char *way)
{
    static const char *const again[] = {"until", "threads", "isa", "blas-threads"};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs(lead, out);
    kiln_shell_command(out, "run ");
    kiln_shell_path(out, arguments->operands[0]);
    fputs(" -o ", out);
    kiln_shell_path(out, folder);
    fprintf(out, " %s", way);
    for (size_t i = 0; i < sizeof again / sizeof again[0]; i++) {
        const char *value = kiln_arguments_get(arguments, again[i]);
        if (value) {
            fprintf(out, " --%s ", again[i]);
            kiln_shell_word(out, value);
        }
    }
    return fclose(out) == 0 ? text : (free(text), NULL);
}

char *kiln_shell_results(const char *folder)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "results in %s\n  ", folder);
    kiln_shell_command(out, "render ");
    kiln_shell_path(out, folder);
    fputs("\n  ", out);
    kiln_shell_command(out, "plot ");
    kiln_shell_path(out, folder);
    fputs("\n  paraview ", out);
    kiln_shell_path(out, folder);
    fputs("/run.pvd", out); /* a shell joins it to the word before */
    return fclose(out) == 0 ? text : (free(text), NULL);
}

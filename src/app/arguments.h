/* Command line arguments: options in any place, `--name value`, `--name=value`, `-n value`, `--` to
 * end them. One table of rows describes a command; parsing, --help and the offer of the nearest
 * name for a misspelt one all come from it. */
#ifndef KILN_APP_ARGUMENTS_H
#define KILN_APP_ARGUMENTS_H

#include "base/context.h"
#include "base/nearest_name.h"

#include <stdbool.h>
#include <stdio.h>

enum { KILN_MAX_OPTIONS = 32, KILN_MAX_OPERANDS = 256, KILN_MAX_GIVEN = 256 };

typedef struct kiln_option {
    const char *name;  /* without dashes */
    char letter;       /* 0: none */
    const char *value; /* what to call the value in the help; NULL: a flag */
    const char *help;
} kiln_option;

typedef struct kiln_usage {
    const char *command;    /* "mesh info" */
    const char *synopsis;   /* "FILE [--json]" */
    const char *what;       /* one line */
    const char *example;    /* lines to show under "Example:" */
    const kiln_option *own; /* options besides those every command has */
    int own_count;
    int least_operands, most_operands;
    void (*details)(FILE *out); /* more text for --help, may be NULL */
} kiln_usage;

typedef struct kiln_arguments {
    const kiln_usage *usage;
    const char *values[KILN_MAX_OPTIONS]; /* by row, common options first; "" for a given flag */
    const char *operands[KILN_MAX_OPERANDS];
    int operand_count;
    struct {
        int row;
        const char *value;
    } given[KILN_MAX_GIVEN]; /* options with values, in their order */
    int given_count;
} kiln_arguments;

/* `argv` without program and command names. Borrows the strings. */
kiln_status kiln_arguments_parse(const kiln_usage *usage, int argc, char *const *argv,
                                 kiln_arguments *out, kiln_error *error);

/* The value, "" for a given flag, NULL when absent. The option must be in the table. */
const char *kiln_arguments_get(const kiln_arguments *arguments, const char *name);
/* All values of an option that may be given several times, in order, at most KILN_MAX_GIVEN;
 * returns how many. kiln_arguments_get has the last. */
size_t kiln_arguments_all(const kiln_arguments *arguments, const char *name, const char **out);
bool kiln_arguments_has(const kiln_arguments *arguments, const char *name);

/* A whole number in [least, most]; `value` keeps its contents when the option is absent. */
kiln_status kiln_arguments_integer(const kiln_arguments *arguments, const char *name, int least,
                                   int most, int *value, kiln_error *error);

/* One of several words, which the message names; `chosen` keeps its contents when the option is
 * absent. */
kiln_status kiln_arguments_choice(const kiln_arguments *arguments, const char *name,
                                  const char *const *words, int count, int *chosen,
                                  kiln_error *error);

/* `count` finite numbers separated by commas. `place` names what is being read. */
kiln_status kiln_numbers_parse(const char *text, int count, double *values, const char *place,
                               kiln_error *error);

void kiln_usage_print(const kiln_usage *usage, FILE *out);

/* Options of every command: threads, isa, help. */
kiln_status kiln_arguments_context(const kiln_arguments *arguments, kiln_context **out,
                                   kiln_error *error);

#endif

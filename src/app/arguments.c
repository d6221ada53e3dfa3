#include "app/arguments.h"

#include "base/parallel.h"
#include "base/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const kiln_option common_options[] = {
    {"threads", 0, "N", "threads to use (default: one per core); results do not depend on it"},
    {"isa", 0, "NAME",
     "instruction set: scalar, avx2 or avx512 (default: the best there is); bits differ"},
    {"help", 'h', NULL, "this text"},
};
enum { COMMON_COUNT = sizeof common_options / sizeof common_options[0] };

static int option_count(const kiln_usage *usage)
{
    return COMMON_COUNT + usage->own_count;
}

static const kiln_option *option_row(const kiln_usage *usage, int row)
{
    return row < COMMON_COUNT ? &common_options[row] : &usage->own[row - COMMON_COUNT];
}

enum { NAME_LIMIT = 40 };

static kiln_status unknown_option(const kiln_usage *usage, const char *name, kiln_error *error)
{
    const char *names[KILN_MAX_OPTIONS];
    for (int row = 0; row < option_count(usage); row++)
        names[row] = option_row(usage, row)->name;
    const char *nearest =
        kiln_nearest_name(name, names, (size_t)option_count(usage), sizeof names[0]);
    if (nearest)
        return kiln_fail(error, KILN_ERR_INPUT, usage->command, 0, -1,
                         "unknown option '--%s'; did you mean '--%s'?", name, nearest);
    return kiln_fail(error, KILN_ERR_INPUT, usage->command, 0, -1,
                     "unknown option '--%s'; 'kiln %s --help' lists them", name, usage->command);
}

static int find_option(const kiln_usage *usage, const char *name, size_t length, char letter)
{
    for (int row = 0; row < option_count(usage); row++) {
        const kiln_option *option = option_row(usage, row);
        if (letter ? option->letter == letter
                   : strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return row;
    }
    return -1;
}

/* Reads the option at argv[*at] and leaves *at on its last argument. */
static kiln_status parse_option(const kiln_usage *usage, int argc, char *const *argv, int *at,
                                kiln_arguments *out, kiln_error *error)
{
    const char *text = argv[*at], *inline_value = NULL;
    int row;
    if (text[1] == '-') {
        size_t length = strcspn(text + 2, "=");
        row = find_option(usage, text + 2, length, 0);
        if (row < 0) {
            char name[NAME_LIMIT + 1];
            snprintf(name, sizeof name, "%.*s", (int)(length < NAME_LIMIT ? length : NAME_LIMIT),
                     text + 2);
            return unknown_option(usage, name, error);
        }
        if (text[2 + length] == '=')
            inline_value = text + 3 + length;
    } else {
        row = find_option(usage, NULL, 0, text[1]);
        if (row < 0)
            return kiln_fail(error, KILN_ERR_INPUT, usage->command, 0, -1,
                             "unknown option '%s'; 'kiln %s --help' lists them", text,
                             usage->command);
        if (text[2])
            inline_value = text + 2;
    }
    const kiln_option *option = option_row(usage, row);
    if (!option->value) {
        if (inline_value)
            return kiln_fail(error, KILN_ERR_INPUT, usage->command, 0, -1,
                             "--%s takes no value, got '%s'", option->name, inline_value);
        out->values[row] = "";
        return KILN_OK;
    }
    if (!inline_value && *at + 1 >= argc)
        return kiln_fail(error, KILN_ERR_INPUT, usage->command, 0, -1, "--%s needs a value (%s)",
                         option->name, option->value);
    out->values[row] = inline_value ? inline_value : argv[++*at];
    if (out->given_count == KILN_MAX_GIVEN)
        return kiln_fail(error, KILN_ERR_INPUT, usage->command, 0, -1, "more than %d options",
                         KILN_MAX_GIVEN);
    out->given[out->given_count].row = row;
    out->given[out->given_count++].value = out->values[row];
    return KILN_OK;
}

static kiln_status check_operands(const kiln_usage *usage, const kiln_arguments *arguments,
                                  kiln_error *error)
{
    if (arguments->operand_count < usage->least_operands)
        return kiln_fail(error, KILN_ERR_INPUT, usage->command, 0, -1,
                         "something is missing; usage: kiln %s %s", usage->command,
                         usage->synopsis);
    if (arguments->operand_count > usage->most_operands)
        return kiln_fail(
            error, KILN_ERR_INPUT, usage->command, 0, -1, "unexpected '%s'; usage: kiln %s %s",
            arguments->operands[usage->most_operands], usage->command, usage->synopsis);
    return KILN_OK;
}

kiln_status kiln_arguments_parse(const kiln_usage *usage, int argc, char *const *argv,
                                 kiln_arguments *out, kiln_error *error)
{
    memset(out, 0, sizeof *out);
    out->usage = usage;
    bool options_over = false;
    for (int at = 0; at < argc; at++) {
        const char *text = argv[at];
        if (!options_over && strcmp(text, "--") == 0) {
            options_over = true;
        } else if (!options_over && text[0] == '-' && text[1]) {
            KILN_TRY(parse_option(usage, argc, argv, &at, out, error));
        } else if (out->operand_count == KILN_MAX_OPERANDS) {
            return kiln_fail(error, KILN_ERR_LIMIT, usage->command, 0, -1, "more than %d arguments",
                             (int)KILN_MAX_OPERANDS);
        } else {
            out->operands[out->operand_count++] = text;
        }
    }
    return kiln_arguments_has(out, "help") ? KILN_OK : check_operands(usage, out, error);
}

const char *kiln_arguments_get(const kiln_arguments *arguments, const char *name)
{
    int row = find_option(arguments->usage, name, strlen(name), 0);
    return row < 0 ? NULL : arguments->values[row];
}

size_t kiln_arguments_all(const kiln_arguments *arguments, const char *name, const char **out)
{
    int row = find_option(arguments->usage, name, strlen(name), 0);
    size_t count = 0;
    for (int i = 0; i < arguments->given_count; i++)
        if (arguments->given[i].row == row)
            out[count++] = arguments->given[i].value;
    return count;
}

bool kiln_arguments_has(const kiln_arguments *arguments, const char *name)
{
    return kiln_arguments_get(arguments, name) != NULL;
}

kiln_status kiln_arguments_choice(const kiln_arguments *arguments, const char *name,
                                  const char *const *words, int count, int *chosen,
                                  kiln_error *error)
{
    const char *text = kiln_arguments_get(arguments, name);
    char place[32], list[128] = "";
    for (int i = 0; text && i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *chosen = i;
            return KILN_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    snprintf(place, sizeof place, "--%s", name);
    return text ? kiln_fail(error, KILN_ERR_INPUT, place, 0, -1, "must be one of %s, got '%s'",
                            list, text)
                : KILN_OK;
}

kiln_status kiln_numbers_parse(const char *text, int count, double *values, const char *place,
                               kiln_error *error)
{
    const char *at = text;
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = strtod(at, &end);
        bool last = i + 1 == count;
        if (end == at || !isfinite(values[i]) || *end != (last ? 0 : ','))
            return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                             count == 1 ? "expected %d number, got '%s'"
                                        : "expected %d numbers separated by commas, got '%s'",
                             count, text);
        if (fabs(values[i]) > KILN_LARGEST)
            return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                             "must be at most %g in size, got '%s'", KILN_LARGEST, text);
        at = end + 1;
    }
    return KILN_OK;
}

kiln_status kiln_arguments_integer(const kiln_arguments *arguments, const char *name, int least,
                                   int most, int *value, kiln_error *error)
{
    const char *text = kiln_arguments_get(arguments, name);
    if (!text)
        return KILN_OK;
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || *end || number < least || number > most)
        return kiln_fail(error, KILN_ERR_INPUT, arguments->usage->command, 0, -1,
                         "--%s must be a whole number from %d to %d, got '%s'", name, least, most,
                         text);
    *value = (int)number;
    return KILN_OK;
}

kiln_status kiln_arguments_context(const kiln_arguments *arguments, kiln_context **out,
                                   kiln_error *error)
{
    kiln_context_options options = kiln_context_default_options();
    KILN_TRY(
        kiln_arguments_integer(arguments, "threads", 1, KILN_MAX_THREADS, &options.threads, error));
    options.isa = kiln_arguments_get(arguments, "isa");
    return kiln_context_create(&options, out, error);
}

void kiln_usage_print(const kiln_usage *usage, FILE *out)
{
    fprintf(out, "%s\n\nUsage: kiln %s %s\n\nOptions:\n", usage->what, usage->command,
            usage->synopsis);
    for (int pass = 0; pass < 2; pass++)
        for (int row = 0; row < option_count(usage); row++) {
            if ((row < COMMON_COUNT) == (pass == 0))
                continue;
            const kiln_option *option = option_row(usage, row);
            char left[64], letter[8] = "    ";
            if (option->letter)
                snprintf(letter, sizeof letter, "-%c, ", option->letter);
            snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name,
                     option->value ? " " : "", option->value ? option->value : "");
            fprintf(out, "  %-28s %s\n", left, option->help);
        }
    if (usage->details) {
        fputc('\n', out);
        usage->details(out);
    }
    fprintf(out, "\nExample:\n%s", usage->example);
}

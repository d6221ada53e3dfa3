/* The built program from a folder of its own, for the tests that look at it from outside. */
#ifndef KILN_TESTS_PROGRAM_H
#define KILN_TESTS_PROGRAM_H

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

/* A new folder to work in, and away from it again. */
static inline void open_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/kiln-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static inline void leave_folder(void)
{
    char command[100];
    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static inline void read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "no %s", path);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

/* Exit code of a command. */
static inline int run_shell(const char *command)
{
    int status = system(command);
    ck_assert_msg(WIFEXITED(status), "%s died", command);
    return WEXITSTATUS(status);
}

/* Exit code of the program; its words are in .out and .err. */
static inline int run_program(const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "'%s' %s >.out 2>.err", KILN_PROGRAM, arguments);
    int code = run_shell(command);
    ck_assert_msg(run_shell("grep -q Sanitizer .err") != 0, "kiln %s", arguments);
    return code;
}

#endif

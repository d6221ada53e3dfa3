#include "io/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

kiln_status kiln_scratch_make(kiln_scratch *scratch, kiln_context *context, kiln_error *error)
{
    *scratch = (kiln_scratch){.context = context};
    const char *base = getenv("TMPDIR");
    if (!base || !*base)
        base = "/tmp";
    int size = snprintf(scratch->path, sizeof scratch->path, "%s/kiln-XXXXXX", base);
    if (size < 0 || (size_t)size + 64 > sizeof scratch->path) {
        scratch->path[0] = '\0';
        return kiln_fail(error, KILN_ERR_IO, base, 0, -1, "TMPDIR is too long");
    }
    if (!kiln_guard_begin(context)) {
        scratch->path[0] = '\0';
        return kiln_fail(error, KILN_ERR_IO, base, 0, -1, "interrupted");
    }
    if (!mkdtemp(scratch->path)) {
        scratch->path[0] = '\0';
        kiln_guard_end(context);
        return kiln_fail(error, KILN_ERR_IO, base, 0, -1, "cannot make a folder: %s",
                         strerror(errno));
    }
    return KILN_OK;
}

const char *kiln_scratch_file(const kiln_scratch *scratch, const char *name,
                              char buffer[KILN_SCRATCH_PATH])
{
    snprintf(buffer, KILN_SCRATCH_PATH, "%.440s/%.60s", scratch->path, name);
    return buffer;
}

void kiln_scratch_remove(kiln_scratch *scratch)
{
    if (!scratch->path[0])
        return;
    int folder = open(scratch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = folder >= 0 ? fdopendir(folder) : NULL;
    for (struct dirent *one; all && (one = readdir(all));)
        unlinkat(folder, one->d_name, 0); /* fails for . and .., as it should */
    if (all)
        closedir(all);
    else if (folder >= 0)
        close(folder);
    rmdir(scratch->path);
    scratch->path[0] = '\0';
    kiln_guard_end(scratch->context);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The end of what the program said, on one line, for messages. */
static void last_words(const char *log, char *buffer, size_t size)
{
    buffer[0] = '\0';
    FILE *file = fopen(log, "r");
    if (!file)
        return;
    if (fseek(file, -(long)(size - 1), SEEK_END) != 0)
        rewind(file);
    size_t used = fread(buffer, 1, size - 1, file);
    fclose(file);
    while (used > 0 && (unsigned char)buffer[used - 1] <= ' ')
        used--;
    buffer[used] = '\0';
    for (size_t i = 0; i < used; i++)
        if ((unsigned char)buffer[i] < ' ')
            buffer[i] = ' ';
}

typedef enum waited { WAIT_DONE, WAIT_LATE, WAIT_INTERRUPTED } waited;

/* WAIT_DONE with the exit state; otherwise the program was killed. */
static waited wait_for(const kiln_context *context, pid_t pid, double seconds, int *state)
{
    double end = seconds > 0.0 ? now() + seconds : HUGE_VAL;
    long pause = 200000; /* ns, growing to 10 ms */
    for (;;) {
        pid_t done = waitpid(pid, state, WNOHANG);
        if (done == pid)
            return WAIT_DONE;
        if (done < 0 && errno != EINTR) {
            *state = 0x7f00; /* somebody else reaped it: as if it had failed */
            return WAIT_DONE;
        }
        bool interrupted = kiln_context_is_stopping(context);
        if (interrupted || now() > end) {
            kill(pid, SIGKILL);
            while (waitpid(pid, state, 0) < 0 && errno == EINTR)
                ;
            return interrupted ? WAIT_INTERRUPTED : WAIT_LATE;
        }
        struct timespec t = {0, pause};
        nanosleep(&t, NULL);
        pause = pause < 5000000 ? 2 * pause : 10000000;
    }
}

static int start(const char *const *arguments, const char *log, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure)
        return failure;
    failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failure)
        failure =
            posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (!failure)
        failure = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_t attributes;
    if (!failure)
        failure = posix_spawnattr_init(&attributes);
    if (!failure) {
        /* A caller that waits for signals in a thread of its own has blocked them; not so this. */
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        /* The program does not change its arguments; the prototype predates const. */
        failure = posix_spawnp(pid, arguments[0], &actions, &attributes, (char *const *)arguments,
                               environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

kiln_status kiln_process_run(kiln_context *context, const char *const *arguments, const char *log,
                             double seconds, const char *package, kiln_error *error)
{
    pid_t pid;
    int state, failure = start(arguments, log, &pid);
    if (failure == ENOENT)
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, arguments[0], 0, -1,
                         "the program is not installed; try: apt-get install %s", package);
    if (failure)
        return kiln_fail(error, KILN_ERR_IO, arguments[0], 0, -1, "cannot start: %s",
                         strerror(failure));
    waited end = wait_for(context, pid, seconds, &state);
    if (end == WAIT_INTERRUPTED)
        return kiln_fail(error, KILN_ERR_IO, arguments[0], 0, -1, "interrupted");
    if (end == WAIT_LATE)
        return kiln_fail(error, KILN_ERR_LIMIT, arguments[0], 0, -1,
                         "took longer than %g seconds and was stopped", seconds);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return KILN_OK;
    char words[200];
    last_words(log, words, sizeof words);
    if (WIFSIGNALED(state))
        return kiln_fail(error, KILN_ERR_IO, arguments[0], 0, -1, "stopped by signal %d: %s",
                         WTERMSIG(state), words);
    return kiln_fail(error, KILN_ERR_IO, arguments[0], 0, -1, "failed with exit code %d: %s",
                     WEXITSTATUS(state), words);
}

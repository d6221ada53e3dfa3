#include "io/process.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
    double end = seconds > 0.0 ? kiln_wall_seconds() + seconds : HUGE_VAL;
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
        if (interrupted || kiln_wall_seconds() > end) {
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

/* `input` becomes its standard input; -1: /dev/null. */
static int start(const char *const *arguments, const char *log, int input, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure)
        return failure;
    if (input < 0)
        failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    else
        failure = posix_spawn_file_actions_adddup2(&actions, input, 0);
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

static kiln_status start_failed(const char *program, int failure, const char *package,
                                kiln_error *error)
{
    if (failure == ENOENT)
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, program, 0, -1,
                         "the program is not installed; try: apt-get install %s", package);
    return kiln_fail(error, KILN_ERR_IO, program, 0, -1, "cannot start: %s", strerror(failure));
}

/* Waits, and says what is wrong with the way the program ended. */
static kiln_status conclude(kiln_context *context, const char *program, const char *log, pid_t pid,
                            double seconds, kiln_error *error)
{
    int state;
    waited end = wait_for(context, pid, seconds, &state);
    if (end == WAIT_INTERRUPTED)
        return kiln_fail(error, KILN_ERR_IO, program, 0, -1, "interrupted");
    if (end == WAIT_LATE)
        return kiln_fail(error, KILN_ERR_LIMIT, program, 0, -1,
                         "took longer than %g seconds and was stopped", seconds);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return KILN_OK;
    char words[200];
    last_words(log, words, sizeof words);
    if (WIFSIGNALED(state))
        return kiln_fail(error, KILN_ERR_IO, program, 0, -1, "stopped by signal %d: %s",
                         WTERMSIG(state), words);
    return kiln_fail(error, KILN_ERR_IO, program, 0, -1, "failed with exit code %d: %s",
                     WEXITSTATUS(state), words);
}

kiln_status kiln_process_run(kiln_context *context, const char *const *arguments, const char *log,
                             double seconds, const char *package, kiln_error *error)
{
    pid_t pid;
    int failure = start(arguments, log, -1, &pid);
    if (failure)
        return start_failed(arguments[0], failure, package, error);
    return conclude(context, arguments[0], log, pid, seconds, error);
}

kiln_status kiln_feed_start(kiln_feed *feed, kiln_context *context, const char *const *arguments,
                            const char *log, const char *package, kiln_error *error)
{
    *feed = (kiln_feed){.context = context, .program = arguments[0], .log = log, .channel = -1};
    /* Sockets rather than a pipe: writing to one whose reader is gone need not raise a signal. */
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return kiln_fail(error, KILN_ERR_IO, arguments[0], 0, -1, "cannot be fed: %s",
                         strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid_t pid;
    int failure = start(arguments, log, ends[1], &pid);
    close(ends[1]);
    if (failure) {
        close(ends[0]);
        return start_failed(arguments[0], failure, package, error);
    }
    feed->pid = pid;
    feed->channel = ends[0];
    return KILN_OK;
}

kiln_status kiln_feed_write(kiln_feed *feed, const void *bytes, size_t size, kiln_error *error)
{
    const char *at = bytes;
    while (size > 0) {
        if (kiln_context_is_stopping(feed->context))
            return kiln_fail(error, KILN_ERR_IO, feed->program, 0, -1, "interrupted");
        struct pollfd wait = {feed->channel, POLLOUT, 0};
        if (poll(&wait, 1, 50) == 0)
            continue;
        ssize_t sent = send(feed->channel, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            continue;
        if (sent < 0) {
            kiln_status status = kiln_feed_finish(feed, 5.0, error);
            return status != KILN_OK ? status
                                     : kiln_fail(error, KILN_ERR_IO, feed->program, 0, -1,
                                                 "ended before its input did");
        }
        at += sent;
        size -= (size_t)sent;
    }
    return KILN_OK;
}

kiln_status kiln_feed_finish(kiln_feed *feed, double seconds, kiln_error *error)
{
    close(feed->channel);
    pid_t pid = (pid_t)feed->pid;
    feed->pid = 0;
    feed->channel = -1;
    return conclude(feed->context, feed->program, feed->log, pid, seconds, error);
}

void kiln_feed_abort(kiln_feed *feed)
{
    if (feed->pid == 0)
        return;
    close(feed->channel);
    kill((pid_t)feed->pid, SIGKILL);
    int state;
    while (waitpid((pid_t)feed->pid, &state, 0) < 0 && errno == EINTR)
        ;
    feed->pid = 0;
    feed->channel = -1;
}

#define _XOPEN_SOURCE 700 /* realpath */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 18,
    ROOM = 4096,
    ASIDE_EXTRA = 48,
    ASIDE_TRIES = 1000,
    ASIDE_NAME = 200,
    PIPE_TRIES = 100
};

static kiln_status fail(const kiln_sink *sink, const char *what, int code, kiln_error *error)
{
    return kiln_fail(error, KILN_ERR_IO, sink->path, 0, -1, "%s: %s", what, strerror(code));
}

static void release(kiln_sink *sink)
{
    kiln_release(sink->context, sink->block, sink->block_size);
    kiln_guard_end(sink->context);
    *sink = (kiln_sink){.context = sink->context, .file = -1};
}

/* A file of our own beside the target; the name says whose it is if a crash leaves it behind. Names
 * that leave no room for that (NAME_MAX is 255) are cut. */
static int open_aside(kiln_sink *sink, mode_t mode)
{
    const char *slash = strrchr(sink->path, '/'), *name = slash ? slash + 1 : sink->path;
    size_t shown = strlen(name) < ASIDE_NAME ? strlen(name) : ASIDE_NAME;
    int prefix = (int)((size_t)(name - sink->path) + shown);
    for (int i = 0; i < ASIDE_TRIES; i++) {
        snprintf(sink->aside, strlen(sink->path) + ASIDE_EXTRA, "%.*s.kiln-%ld-%d", prefix,
                 sink->path, (long)getpid(), i);
        sink->file = open(sink->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (sink->file >= 0 || errno != EEXIST)
            break;
    }
    if (sink->file < 0)
        sink->aside[0] = 0;
    return sink->file >= 0 ? 0 : errno;
}

kiln_status kiln_append_open(const char *path, int flags, int *file, kiln_error *error)
{
    struct stat info;
    *file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    if (*file < 0 && errno != ENXIO)
        return kiln_fail(error, KILN_ERR_IO, path, 0, -1, "cannot write: %s", strerror(errno));
    if (*file >= 0 && fstat(*file, &info) == 0 && S_ISREG(info.st_mode))
        return KILN_OK;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return kiln_fail(error, KILN_ERR_IO, path, 0, -1,
                     "cannot write: is a pipe or a device, not a file");
}

/* Pipes and devices are written as they are. To open a pipe waits for a reader, who may never come:
 * one that is just being started has a second. */
static kiln_status open_direct(kiln_sink *sink, kiln_error *error)
{
    const struct timespec while_ = {.tv_nsec = 10000000};
    for (int i = 0; i < PIPE_TRIES && !kiln_context_is_stopping(sink->context); i++) {
        sink->file = open(sink->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (sink->file >= 0 || errno != ENXIO)
            break;
        nanosleep(&while_, NULL);
    }
    if (sink->file < 0 && errno == ENXIO)
        return kiln_fail(error, KILN_ERR_IO, sink->path, 0, -1,
                         "cannot write: is a pipe that nobody reads");
    if (sink->file < 0 || fcntl(sink->file, F_SETFL, 0) != 0)
        return fail(sink, "cannot write", errno, error);
    return KILN_OK;
}

static kiln_status open_target(kiln_sink *sink, kiln_error *error)
{
    struct stat info;
    bool exists = stat(sink->path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return fail(sink, "cannot write", EISDIR, error);
    if (exists && !S_ISREG(info.st_mode))
        return open_direct(sink, error);
    /* Renaming over a read-only file would succeed; it was made read-only for a reason. */
    if (exists && access(sink->path, W_OK) != 0)
        return fail(sink, "cannot write", errno, error);
    int code = open_aside(sink, 0666);
    if (code)
        return fail(sink, "cannot create a file here", code, error);
    if (exists && fchmod(sink->file, info.st_mode & 07777) != 0)
        sink->failure = errno;
    return KILN_OK;
}

kiln_status kiln_sink_open(kiln_sink *sink, kiln_context *context, const char *path,
                           kiln_error *error)
{
    *sink = (kiln_sink){.context = context, .file = -1};
    char resolved[PATH_MAX];
    const char *target = realpath(path, resolved) ? resolved : path;
    size_t length = strlen(target) + 1;
    size_t block_size = BUFFER_SIZE + 2 * length + ASIDE_EXTRA;
    if (!kiln_guard_begin(context))
        return kiln_fail(error, KILN_ERR_IO, path, 0, -1, "interrupted");
    char *block = kiln_resize(context, NULL, 0, block_size);
    if (!block) {
        kiln_guard_end(context);
        return kiln_fail_memory(error, block_size);
    }
    sink->block = block;
    sink->block_size = block_size;
    sink->buffer = block;
    sink->buffer_size = BUFFER_SIZE;
    sink->path = block + BUFFER_SIZE;
    sink->aside = sink->path + length;
    memcpy(sink->path, target, length);
    sink->aside[0] = 0;
    kiln_status status = open_target(sink, error);
    if (status != KILN_OK)
        release(sink);
    return status;
}

static void write_all(kiln_sink *sink, const char *bytes, size_t size)
{
    sink->flushed += size;
    while (size && !sink->failure) {
        if (kiln_context_is_stopping(sink->context)) {
            sink->failure = ECANCELED;
            return;
        }
        ssize_t done = write(sink->file, bytes, size);
        if (done < 0 && errno != EINTR)
            sink->failure = errno;
        if (done > 0) {
            bytes += done;
            size -= (size_t)done;
        }
    }
}

static void flush(kiln_sink *sink)
{
    write_all(sink, sink->buffer, sink->used);
    sink->used = 0;
}

void kiln_sink_make_room(kiln_sink *sink, size_t size)
{
    if (KILN_UNLIKELY(sink->buffer_size - sink->used < size))
        flush(sink);
}

void kiln_sink_bytes(kiln_sink *sink, const void *bytes, size_t size)
{
    if (sink->buffer_size - sink->used < size)
        flush(sink);
    if (size >= sink->buffer_size) {
        write_all(sink, bytes, size);
    } else if (size) {
        memcpy(sink->buffer + sink->used, bytes, size);
        sink->used += size;
    }
}

void kiln_sink_format(kiln_sink *sink, const char *format, ...)
{
    kiln_sink_make_room(sink, ROOM);
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(sink->buffer + sink->used, ROOM, format, arguments);
    va_end(arguments);
    if (size < 0 || size >= ROOM)
        sink->failure = sink->failure ? sink->failure : EOVERFLOW;
    else
        sink->used += (size_t)size;
}

void kiln_sink_discard(kiln_sink *sink)
{
    if (!sink->block)
        return;
    if (sink->file >= 0)
        close(sink->file);
    if (sink->aside[0])
        unlink(sink->aside);
    release(sink);
}

kiln_status kiln_sink_finish(kiln_sink *sink, kiln_error *error)
{
    flush(sink);
    if (!sink->failure && sink->aside[0] && fsync(sink->file) != 0)
        sink->failure = errno;
    if (close(sink->file) != 0 && !sink->failure)
        sink->failure = errno;
    sink->file = -1;
    if (!sink->failure)
        return KILN_OK;
    kiln_status status = fail(sink, "cannot write", sink->failure, error);
    kiln_sink_discard(sink);
    return status;
}

/* So that the new name survives a power cut. Some file systems refuse; the data is safe anyway. */
static void sync_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = 0;
    int folder = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    fsync(folder);
    close(folder);
}

kiln_status kiln_sink_publish(kiln_sink *sink, kiln_error *error)
{
    kiln_status status = KILN_OK;
    if (sink->aside[0]) {
        if (rename(sink->aside, sink->path) != 0) {
            status = fail(sink, "cannot give the file its name", errno, error);
            kiln_sink_discard(sink);
            return status;
        }
        sync_folder(sink->path);
    }
    release(sink);
    return status;
}

kiln_status kiln_sink_commit(kiln_sink *sink, kiln_error *error)
{
    KILN_TRY(kiln_sink_finish(sink, error));
    return kiln_sink_publish(sink, error);
}

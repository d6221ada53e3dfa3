/* An output file that appears whole or not at all: written under another name in the same folder,
 * synced, then renamed. Until then whatever had the name stays as it was; on failure the aside file
 * is removed. A target that exists and is not a regular file (a pipe, /dev/stdout) is written
 * directly, a pipe only if somebody reads it within a second; a link is followed.
 *
 * The put calls remember the first failure and do nothing after it, so writers check once, at
 * kiln_sink_commit. */
#ifndef KILN_IO_SINK_H
#define KILN_IO_SINK_H

#include "base/context.h"
#include "geom/vec3.h"
#include "io/decimal.h"

#include <stdbool.h>
#include <string.h>

typedef struct kiln_sink {
    kiln_context *context; /* borrowed */
    char *block;           /* one allocation: path, aside name, buffer */
    size_t block_size;
    char *path, *aside; /* aside is empty for a direct target */
    char *buffer;
    size_t used, buffer_size;
    uint64_t flushed; /* bytes before the buffer */
    int file;         /* -1: closed */
    int failure;      /* errno of the first failure, 0: none */
} kiln_sink;

kiln_status kiln_sink_open(kiln_sink *sink, kiln_context *context, const char *path,
                           kiln_error *error);

/* A file to append to, made if there is none, with more O_ `flags`; -1 in *file on failure. What is
 * no file is refused: a pipe would wait for its reader. */
kiln_status kiln_append_open(const char *path, int flags, int *file, kiln_error *error);

/* kiln_sink_finish then kiln_sink_publish; the sink is gone afterwards, whatever happened. */
kiln_status kiln_sink_commit(kiln_sink *sink, kiln_error *error);
/* Removes what was written. A sink that was published, discarded or zeroed may be discarded. */
void kiln_sink_discard(kiln_sink *sink);

/* For sets of files that belong together: finish each (everything that can fill a disk), then
 * publish each (renames). A failure of either discards that sink. */
kiln_status kiln_sink_finish(kiln_sink *sink, kiln_error *error);
kiln_status kiln_sink_publish(kiln_sink *sink, kiln_error *error);

/* At least `size` (at most 4096) free bytes at buffer + used. */
void kiln_sink_make_room(kiln_sink *sink, size_t size);
void kiln_sink_bytes(kiln_sink *sink, const void *bytes, size_t size);
void kiln_sink_format(kiln_sink *sink, const char *format, ...) KILN_PRINTF(2, 3);

KILN_INLINE uint64_t kiln_sink_position(const kiln_sink *sink)
{
    return sink->flushed + sink->used;
}

KILN_INLINE void kiln_sink_text(kiln_sink *sink, const char *text)
{
    kiln_sink_bytes(sink, text, strlen(text));
}

KILN_INLINE void kiln_sink_char(kiln_sink *sink, char byte)
{
    kiln_sink_make_room(sink, 1);
    sink->buffer[sink->used++] = byte;
}

/* The shortest digits that read back as the same double. */
KILN_INLINE void kiln_sink_double(kiln_sink *sink, double value)
{
    kiln_sink_make_room(sink, KILN_DECIMAL_SIZE);
    sink->used += kiln_decimal_print(value, sink->buffer + sink->used);
}

KILN_INLINE void kiln_sink_integer(kiln_sink *sink, int64_t value)
{
    kiln_sink_make_room(sink, KILN_DECIMAL_SIZE);
    sink->used += kiln_decimal_print_i64(value, sink->buffer + sink->used);
}

/* "x y z" */
KILN_INLINE void kiln_sink_point(kiln_sink *sink, kiln_vec3 p)
{
    kiln_sink_double(sink, p.x);
    kiln_sink_char(sink, ' ');
    kiln_sink_double(sink, p.y);
    kiln_sink_char(sink, ' ');
    kiln_sink_double(sink, p.z);
}

/* Binary, in this machine's byte order. */
KILN_INLINE void kiln_sink_u32(kiln_sink *sink, uint32_t value)
{
    kiln_sink_make_room(sink, sizeof value);
    memcpy(sink->buffer + sink->used, &value, sizeof value);
    sink->used += sizeof value;
}

KILN_INLINE void kiln_sink_u64(kiln_sink *sink, uint64_t value)
{
    kiln_sink_make_room(sink, sizeof value);
    memcpy(sink->buffer + sink->used, &value, sizeof value);
    sink->used += sizeof value;
}

KILN_INLINE void kiln_sink_f64(kiln_sink *sink, double value)
{
    kiln_sink_make_room(sink, sizeof value);
    memcpy(sink->buffer + sink->used, &value, sizeof value);
    sink->used += sizeof value;
}

#endif

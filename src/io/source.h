/* An input file as one block of bytes, with a text scanner and a binary cursor over it. Every error
 * names the file and the line (text) or byte (binary) where reading stood.
 *
 * Regular files are mapped, so the file must not shrink while it is read; pipes and devices are
 * copied. Nothing is zero terminated: `end` is the only limit. */
#ifndef KILN_IO_SOURCE_H
#define KILN_IO_SOURCE_H

#include "base/context.h"
#include "geom/vec3.h"

#include <stdbool.h>
#include <string.h>

typedef struct kiln_text {
    const char *data;
    size_t size;
} kiln_text;

typedef struct kiln_source {
    kiln_context *context; /* borrowed */
    const char *name;      /* borrowed; the path, or a name for memory */
    const char *begin, *at, *end;
    char comment; /* from here to the end of a line is space; 0: none */
    bool binary;  /* errors give bytes, not lines */
    bool swap;    /* binary numbers have the other byte order */
    bool in_file; /* `name` is a path, siblings can be looked for */
    void *block;  /* mapped or allocated */
    size_t mapped_size, allocated_size;
} kiln_source;

kiln_status kiln_source_open(kiln_source *source, kiln_context *context, const char *path,
                             kiln_error *error);
/* `data` is borrowed and must outlive the source. */
void kiln_source_from_memory(kiln_source *source, kiln_context *context, const char *name,
                             const void *data, size_t size);
void kiln_source_close(kiln_source *source);

KILN_INLINE size_t kiln_source_left(const kiln_source *source)
{
    return (size_t)(source->end - source->at);
}

/* An error where reading stands. */
kiln_status kiln_source_fail(const kiln_source *source, kiln_error *error, const char *format, ...)
    KILN_PRINTF(3, 4);
/* The same at another place of the same source. */
kiln_status kiln_source_fail_at(const kiln_source *source, const char *place, kiln_error *error,
                                const char *format, ...) KILN_PRINTF(4, 5);

/* Refuses a count that the rest of the file cannot hold at `bytes_each` or more (at least 1) per
 * item, and more than 2^32 - 2 items. Call it before allocating for the items. */
kiln_status kiln_source_claim(const kiln_source *source, uint64_t count, size_t bytes_each,
                              const char *what, kiln_error *error);

/* Text. Space is blank, tab, end of line (LF, CR, CRLF), other control characters, and comments. */

/* To the next byte that is not space; false at the end of the file. */
bool kiln_source_skip_space(kiln_source *source);
/* The same within the line; false at its end. */
bool kiln_source_skip_blank(kiln_source *source);
/* The next run of bytes that are not space; false at the end of the file. */
bool kiln_source_word(kiln_source *source, kiln_text *word);
/* The rest of this line without its end; false at the end of the file. */
bool kiln_source_line(kiln_source *source, kiln_text *line);
/* The next number, after any space. `what` names it in errors. Doubles must be finite. */
kiln_status kiln_source_integer(kiln_source *source, int64_t low, int64_t high, const char *what,
                                int64_t *value, kiln_error *error);
kiln_status kiln_source_double(kiln_source *source, const char *what, double *value,
                               kiln_error *error);
/* The three coordinates of a vertex. */
kiln_status kiln_source_point(kiln_source *source, kiln_vec3 *point, kiln_error *error);

KILN_INLINE bool kiln_text_is(kiln_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.data, word, text.size) == 0;
}
/* Without regard to case; for ASCII. */
bool kiln_text_is_nocase(kiln_text text, const char *word);

/* A text as the two arguments of "%.*s", no longer than a message bears. */
#define KILN_SHOWN(text) (int)((text).size < 40 ? (text).size : 40), (text).data

/* Binary. */

KILN_INLINE bool kiln_is_little_endian(void)
{
    const uint16_t probe = 1;
    return *(const unsigned char *)&probe == 1;
}

/* The next `size` bytes, in place. */
kiln_status kiln_source_bytes(kiln_source *source, uint64_t size, const char *what,
                              const char **bytes, kiln_error *error);
kiln_status kiln_source_u32(kiln_source *source, const char *what, uint32_t *value,
                            kiln_error *error);
kiln_status kiln_source_u64(kiln_source *source, const char *what, uint64_t *value,
                            kiln_error *error);

/* Numbers at any address, swapped on demand. */
KILN_INLINE uint32_t kiln_load_u32(const char *bytes, bool swap)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return swap ? KILN_BSWAP32(value) : value;
}

KILN_INLINE uint64_t kiln_load_u64(const char *bytes, bool swap)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return swap ? KILN_BSWAP64(value) : value;
}

KILN_INLINE float kiln_load_f32(const char *bytes, bool swap)
{
    uint32_t bits = kiln_load_u32(bytes, swap);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

KILN_INLINE double kiln_load_f64(const char *bytes, bool swap)
{
    uint64_t bits = kiln_load_u64(bytes, swap);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif

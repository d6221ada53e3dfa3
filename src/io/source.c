#include "io/source.h"
#include "base/array.h"
#include "io/decimal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void kiln_source_from_memory(kiln_source *source, kiln_context *context, const char *name,
                             const void *data, size_t size)
{
    static const char nothing[1];
    const char *begin = data ? data : nothing;
    *source = (kiln_source){
        .context = context, .name = name, .begin = begin, .at = begin, .end = begin + size};
}

/* Files without a size (/proc) are made up as they are read, and need not end. */
enum { MOST_WITHOUT_SIZE = 1 << 28 };

/* Everything a descriptor gives until its end, if that comes before `most` bytes. */
static kiln_status copy_stream(kiln_source *source, int file, size_t most, kiln_error *error)
{
    KILN_ARRAY_OF(char)
    bytes = {0};
    kiln_context *context = source->context;
    for (;;) {
        kiln_status status = bytes.count <= most
                                 ? kiln_array_reserve(context, &bytes, bytes.count + 65536, error)
                                 : kiln_fail(error, KILN_ERR_LIMIT, source->name, 0, -1,
                                             "gives more than the %zu bytes it may have", most);
        ssize_t got = status == KILN_OK
                          ? read(file, bytes.data + bytes.count, bytes.capacity - bytes.count)
                          : -1;
        if (got < 0 && status == KILN_OK && errno == EINTR)
            continue;
        if (got < 0) {
            if (status == KILN_OK)
                status = kiln_fail(error, KILN_ERR_IO, source->name, 0, -1, "cannot read: %s",
                                   strerror(errno));
            kiln_array_free(context, &bytes);
            return status;
        }
        if (got == 0)
            break;
        bytes.count += (size_t)got;
    }
    source->block = bytes.data;
    source->allocated_size = bytes.capacity;
    source->begin = source->at = bytes.data;
    source->end = bytes.data + bytes.count;
    return KILN_OK;
}

static kiln_status map_or_copy(kiln_source *source, int file, kiln_error *error)
{
    struct stat info;
    if (fstat(file, &info) != 0)
        return kiln_fail(error, KILN_ERR_IO, source->name, 0, -1, "cannot read: %s",
                         strerror(errno));
    if (S_ISDIR(info.st_mode))
        return kiln_fail(error, KILN_ERR_IO, source->name, 0, -1, "is a folder, not a file");
    /* /dev/zero never ends, a pipe may never begin. */
    if (!S_ISREG(info.st_mode))
        return kiln_fail(error, KILN_ERR_IO, source->name, 0, -1, "is a %s, not a file",
                         S_ISFIFO(info.st_mode)   ? "pipe"
                         : S_ISSOCK(info.st_mode) ? "socket"
                                                  : "device");
    if (info.st_size == 0)
        return copy_stream(source, file, MOST_WITHOUT_SIZE, error);
    size_t size = (size_t)info.st_size;
    void *block = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (block == MAP_FAILED)
        return copy_stream(source, file, size, error);
    posix_madvise(block, size, POSIX_MADV_SEQUENTIAL);
    source->block = block;
    source->mapped_size = size;
    source->begin = source->at = block;
    source->end = source->begin + size;
    return KILN_OK;
}

kiln_status kiln_source_open(kiln_source *source, kiln_context *context, const char *path,
                             kiln_error *error)
{
    kiln_source_from_memory(source, context, path, NULL, 0);
    source->in_file = true;
    /* Opening a pipe would wait for its writer. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return kiln_fail(error, KILN_ERR_IO, path, 0, -1, "cannot open: %s", strerror(errno));
    kiln_status status = map_or_copy(source, file, error);
    close(file);
    return status;
}

void kiln_source_close(kiln_source *source)
{
    if (source->mapped_size)
        munmap(source->block, source->mapped_size);
    else
        kiln_release(source->context, source->block, source->allocated_size);
    kiln_source_from_memory(source, source->context, source->name, NULL, 0);
}

static long long line_of(const kiln_source *source, const char *place)
{
    long long line = 1;
    for (const char *at = source->begin; at != place; at++)
        line += *at == '\n' || (*at == '\r' && (at + 1 == source->end || at[1] != '\n'));
    return line;
}

static kiln_status fail_at(const kiln_source *source, const char *place, kiln_error *error,
                           const char *format, va_list arguments)
{
    if (!error)
        return KILN_ERR_INPUT;
    char message[sizeof error->message];
    vsnprintf(message, sizeof message, format, arguments);
    return kiln_fail(error, KILN_ERR_INPUT, source->name,
                     source->binary ? 0 : line_of(source, place),
                     source->binary ? (long long)(place - source->begin) : -1, "%s", message);
}

kiln_status kiln_source_fail(const kiln_source *source, kiln_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    kiln_status status = fail_at(source, source->at, error, format, arguments);
    va_end(arguments);
    return status;
}

kiln_status kiln_source_fail_at(const kiln_source *source, const char *place, kiln_error *error,
                                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    kiln_status status = fail_at(source, place, error, format, arguments);
    va_end(arguments);
    return status;
}

kiln_status kiln_source_claim(const kiln_source *source, uint64_t count, size_t bytes_each,
                              const char *what, kiln_error *error)
{
    uint64_t left = kiln_source_left(source);
    if (count > UINT32_MAX - 1)
        return kiln_source_fail(source, error, "%llu %s are more than can be numbered",
                                (unsigned long long)count, what);
    /* Text may lack the space after the last item. */
    if (count > (left + 1) / bytes_each)
        return kiln_source_fail(source, error,
                                "%llu %s announced, but only %llu bytes are left in the file",
                                (unsigned long long)count, what, (unsigned long long)left);
    return KILN_OK;
}

static bool is_space(char byte)
{
    return (unsigned char)byte <= ' ';
}

static void skip_comment(kiln_source *source)
{
    while (source->at != source->end && *source->at != '\n' && *source->at != '\r')
        source->at++;
}

bool kiln_source_skip_space(kiln_source *source)
{
    const char *end = source->end;
    while (source->at != end) {
        if (is_space(*source->at))
            source->at++;
        else if (source->comment && *source->at == source->comment)
            skip_comment(source);
        else
            return true;
    }
    return false;
}

bool kiln_source_skip_blank(kiln_source *source)
{
    while (source->at != source->end && is_space(*source->at) && *source->at != '\n' &&
           *source->at != '\r')
        source->at++;
    if (source->at != source->end && source->comment && *source->at == source->comment)
        skip_comment(source);
    return source->at != source->end && *source->at != '\n' && *source->at != '\r';
}

bool kiln_source_word(kiln_source *source, kiln_text *word)
{
    if (!kiln_source_skip_space(source))
        return false;
    const char *at = source->at;
    while (at != source->end && !is_space(*at) && (!source->comment || *at != source->comment))
        at++;
    *word = (kiln_text){source->at, (size_t)(at - source->at)};
    source->at = at;
    return true;
}

bool kiln_source_line(kiln_source *source, kiln_text *line)
{
    if (source->at == source->end)
        return false;
    const char *at = source->at;
    while (at != source->end && *at != '\n' && *at != '\r')
        at++;
    *line = (kiln_text){source->at, (size_t)(at - source->at)};
    if (at != source->end && *at++ == '\r' && at != source->end && *at == '\n')
        at++;
    source->at = at;
    return true;
}

static char lower_case(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
}

bool kiln_text_is_nocase(kiln_text text, const char *word)
{
    if (text.size != strlen(word))
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (lower_case(text.data[i]) != lower_case(word[i]))
            return false;
    return true;
}

/* The bytes that would continue a number or word, so "12x" and "3.5" are no integers. */
static bool continues(const kiln_source *source, const char *at)
{
    if (at == source->end)
        return false;
    char byte = lower_case(*at);
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || byte == '_' ||
           byte == '.' || byte == '+' || byte == '-' || (unsigned char)byte >= 0x80;
}

/* What stands at `at` in words fit for a message. */
static kiln_status fail_expected(kiln_source *source, const char *what, const char *wanted,
                                 kiln_error *error)
{
    if (!kiln_source_skip_space(source))
        return kiln_source_fail(source, error, "the file ends where %s was expected", what);
    char shown[24];
    size_t size = 0;
    for (const char *at = source->at;
         at != source->end && !is_space(*at) && size + 1 < sizeof shown; at++)
        shown[size++] = (unsigned char)*at < 0x7F ? *at : '?';
    shown[size] = 0;
    return kiln_source_fail(source, error, "%s: expected %s, found '%s'", what, wanted, shown);
}

kiln_status kiln_source_integer(kiln_source *source, int64_t low, int64_t high, const char *what,
                                int64_t *value, kiln_error *error)
{
    if (!kiln_source_skip_space(source))
        return fail_expected(source, what, "an integer", error);
    const char *at = source->at;
    bool negative = *at == '-', too_large = false;
    at += *at == '-' || *at == '+';
    const char *first = at;
    uint64_t size = 0;
    for (; at != source->end && (unsigned char)(*at - '0') < 10; at++) {
        too_large |= size > (uint64_t)INT64_MAX / 10 - 1;
        size = 10 * size + (uint64_t)(*at - '0');
    }
    if (at == first || continues(source, at))
        return fail_expected(source, what, "an integer", error);
    int64_t found = negative ? -(int64_t)(size & INT64_MAX) : (int64_t)(size & INT64_MAX);
    if (found < low && high == INT64_MAX)
        return kiln_source_fail(source, error, "%s is %lld, must be at least %lld", what,
                                (long long)found, (long long)low);
    if (too_large || found < low || found > high)
        return kiln_source_fail(source, error, "%s is %.*s, must be %lld to %lld", what,
                                at - source->at < 30 ? (int)(at - source->at) : 30, source->at,
                                (long long)low, (long long)high);
    source->at = at;
    *value = found;
    return KILN_OK;
}

kiln_status kiln_source_double(kiln_source *source, const char *what, double *value,
                               kiln_error *error)
{
    if (!kiln_source_skip_space(source))
        return fail_expected(source, what, "a number", error);
    const char *after = kiln_decimal_parse(source->at, source->end, value);
    if (!after || continues(source, after))
        return fail_expected(source, what, "a number", error);
    if (!isfinite(*value))
        return fail_expected(source, what, "a finite number", error);
    source->at = after;
    return KILN_OK;
}

kiln_status kiln_source_point(kiln_source *source, kiln_vec3 *point, kiln_error *error)
{
    KILN_TRY(kiln_source_double(source, "x of a vertex", &point->x, error));
    KILN_TRY(kiln_source_double(source, "y of a vertex", &point->y, error));
    return kiln_source_double(source, "z of a vertex", &point->z, error);
}

kiln_status kiln_source_bytes(kiln_source *source, uint64_t size, const char *what,
                              const char **bytes, kiln_error *error)
{
    *bytes = source->at;
    if (size > kiln_source_left(source))
        return kiln_source_fail(source, error,
                                "the file ends inside %s (%llu bytes wanted, %zu left)", what,
                                (unsigned long long)size, kiln_source_left(source));
    source->at += size;
    return KILN_OK;
}

kiln_status kiln_source_u32(kiln_source *source, const char *what, uint32_t *value,
                            kiln_error *error)
{
    const char *bytes;
    KILN_TRY(kiln_source_bytes(source, sizeof *value, what, &bytes, error));
    *value = kiln_load_u32(bytes, source->swap);
    return KILN_OK;
}

kiln_status kiln_source_u64(kiln_source *source, const char *what, uint64_t *value,
                            kiln_error *error)
{
    const char *bytes;
    KILN_TRY(kiln_source_bytes(source, sizeof *value, what, &bytes, error));
    *value = kiln_load_u64(bytes, source->swap);
    return KILN_OK;
}

/* Kiln: matter that bends, flows, melts, tears and shatters on one self-repairing tetrahedral mesh.
 *
 * The whole public C API. Handles are opaque, nothing is global, the library never prints, exits
 * or touches signals. Lengths, times and masses are SI. Every fallible call returns a kiln_status;
 * the optional kiln_error says what went wrong and where. */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

/* One row per status: enum name, text. */
#define KILN_STATUS_TABLE(X)                                                                       \
    X(KILN_OK, "ok")                                                                               \
    X(KILN_ERR_MEMORY, "out of memory")                                                            \
    X(KILN_ERR_INPUT, "bad input")                                                                 \
    X(KILN_ERR_IO, "cannot read or write")                                                         \
    X(KILN_ERR_LIMIT, "too large")                                                                 \
    X(KILN_ERR_UNSUPPORTED, "not supported")                                                       \
    X(KILN_ERR_STATE, "call not allowed in this state")

typedef enum kiln_status {
#define KILN_STATUS_ENUM(name, text) name,
    KILN_STATUS_TABLE(KILN_STATUS_ENUM)
#undef KILN_STATUS_ENUM
} kiln_status;

KILN_API const char *kiln_status_text(kiln_status status);

/* Filled on failure, untouched on success. `line` is 1-based, 0 when unknown; `byte` is the offset
 * in a binary file, -1 when unknown. */
typedef struct kiln_error {
    kiln_status status;
    char place[256]; /* file, key path or element; may be empty */
    long long line;
    long long byte;
    char message[512];
} kiln_error;

/* "place:line: message" or "place: byte N: message" in at most `size` bytes; returns `buffer`. */
KILN_API const char *kiln_error_format(const kiln_error *error, char *buffer, size_t size);

/* realloc semantics with the old size given: new_size 0 frees and returns NULL; failure returns
 * NULL and keeps the old block. Called from several threads only inside parallel loops. */
typedef struct kiln_allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
} kiln_allocator;

typedef enum kiln_log_level { KILN_LOG_DEBUG, KILN_LOG_INFO, KILN_LOG_WARNING } kiln_log_level;
typedef void (*kiln_log_callback)(void *user, kiln_log_level level, const char *message);

typedef struct kiln_context kiln_context;

typedef struct kiln_context_options {
    kiln_allocator allocator; /* resize NULL: malloc */
    kiln_log_callback log;    /* NULL: silent */
    void *log_user;
    int threads;     /* 0: one per core */
    const char *isa; /* "scalar", "avx2", "avx512"; NULL: the best this machine has */
    uint64_t seed;
} kiln_context_options;

KILN_API kiln_context_options kiln_context_default_options(void);
KILN_API kiln_status kiln_context_create(const kiln_context_options *options, kiln_context **out,
                                         kiln_error *error);
KILN_API void kiln_context_destroy(kiln_context *context);

KILN_API const char *kiln_version(void);

#ifdef __cplusplus
}
#endif
#endif

/* The context owns memory, threads, log and seed. Everything else hangs off one. */
#ifndef KILN_BASE_CONTEXT_H
#define KILN_BASE_CONTEXT_H

#include "base/error.h"
#include "base/simd.h"

struct kiln_context {
    kiln_allocator allocator;
    kiln_log_callback log;
    void *log_user;
    int threads;
    kiln_isa isa; /* instruction set of the batched kernels */
    uint64_t seed;
    struct kiln_thread_pool *pool; /* created by the first parallel loop that needs it */
};

/* realloc through the context's allocator. Returns NULL on failure, the old block stays. */
void *kiln_resize(kiln_context *context, void *block, size_t old_size, size_t new_size);
void kiln_release(kiln_context *context, void *block, size_t size);

void kiln_log(kiln_context *context, kiln_log_level level, const char *format, ...)
    KILN_PRINTF(3, 4);

#endif

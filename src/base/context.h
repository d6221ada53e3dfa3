/* The context owns memory, threads, log and seed. Everything else hangs off one. */
#ifndef KILN_BASE_CONTEXT_H
#define KILN_BASE_CONTEXT_H

#include "base/error.h"
#include "base/simd.h"

#include <stdatomic.h>
#include <stdbool.h>

struct kiln_context {
    kiln_allocator allocator;
    kiln_log_callback log;
    void *log_user;
    int threads;
    kiln_isa isa; /* instruction set of the batched kernels */
    uint64_t seed;
    struct kiln_thread_pool *pool; /* created by the first parallel loop that needs it */
    atomic_bool stopping, abandoned;
    atomic_int guards;
};

/* A program that has to end early (a signal) asks the context to stop, from any thread, and waits
 * until nothing is guarded. Guarded is what must not be left behind: a file written aside, another
 * program and its folder. Those who guard look at kiln_context_is_stopping between their steps,
 * clean up and fail. Computations are not guarded: the program may end in the middle of one. */
void kiln_context_stop(kiln_context *context);
bool kiln_context_is_stopping(const kiln_context *context);
/* False, and nothing is guarded, once the context is stopping. */
bool kiln_guard_begin(kiln_context *context);
void kiln_guard_end(kiln_context *context);
bool kiln_is_guarded(const kiln_context *context);

/* What is being computed need not be finished: from any thread. Loops that can be long ask
 * kiln_may_go_on, and KILN_ERR_STATE leads out of them; a step is then taken back. */
void kiln_context_abandon(kiln_context *context);
bool kiln_context_is_abandoned(const kiln_context *context);
kiln_status kiln_may_go_on(const kiln_context *context, kiln_error *error);

/* realloc through the context's allocator. Returns NULL on failure, the old block stays. */
void *kiln_resize(kiln_context *context, void *block, size_t old_size, size_t new_size);
void kiln_release(kiln_context *context, void *block, size_t size);

void kiln_log(kiln_context *context, kiln_log_level level, const char *format, ...)
    KILN_PRINTF(3, 4);

/* Bytes of the machine, or what the control group leaves of them. */
double kiln_machine_memory(void);

#endif

#include "base/context.h"
#include "base/parallel.h"
#include "base/tame.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *kiln_version(void)
{
    return KILN_VERSION;
}

static void *resize_with_malloc(void *user, void *block, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

kiln_context_options kiln_context_default_options(void)
{
    return (kiln_context_options){.allocator = {resize_with_malloc, NULL}};
}

static int core_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > KILN_MAX_THREADS ? KILN_MAX_THREADS : (int)cores;
}

kiln_status kiln_context_create(const kiln_context_options *options, kiln_context **out,
                                kiln_error *error)
{
    KILN_TRY(kiln_need(out, "out", error));
    kiln_context_options used = options ? *options : kiln_context_default_options();
    if (!used.allocator.resize)
        used.allocator = (kiln_allocator){resize_with_malloc, NULL};
    if (used.threads < 0 || used.threads > KILN_MAX_THREADS)
        return kiln_fail(error, KILN_ERR_INPUT, "threads", 0, -1, "must be 0 to %d, got %d",
                         KILN_MAX_THREADS, used.threads);
    kiln_isa isa = kiln_isa_best();
    if (used.isa && !kiln_isa_parse(used.isa, &isa))
        return kiln_fail(error, KILN_ERR_INPUT, "isa", 0, -1,
                         "'%s' is none of scalar, avx2, avx512, or this machine lacks it",
                         used.isa);

    kiln_context *context = used.allocator.resize(used.allocator.user, NULL, 0, sizeof *context);
    if (!context)
        return kiln_fail_memory(error, sizeof *context);
    *context = (kiln_context){.allocator = used.allocator,
                              .log = used.log,
                              .log_user = used.log_user,
                              .threads = used.threads ? used.threads : core_count(),
                              .isa = isa,
                              .seed = used.seed};
    *out = context;
    return KILN_OK;
}

void kiln_context_destroy(kiln_context *context)
{
    if (!context)
        return;
    kiln_parallel_shutdown(context);
    kiln_release(context, context, sizeof *context);
}

void kiln_context_stop(kiln_context *context)
{
    atomic_store(&context->stopping, true);
}

bool kiln_context_is_stopping(const kiln_context *context)
{
    return atomic_load(&context->stopping);
}

void kiln_context_abandon(kiln_context *context)
{
    atomic_store(&context->abandoned, true);
}

bool kiln_context_is_abandoned(const kiln_context *context)
{
    return atomic_load_explicit(&context->abandoned, memory_order_relaxed);
}

kiln_status kiln_may_go_on(const kiln_context *context, kiln_error *error)
{
    if (!kiln_context_is_abandoned(context))
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "abandoned before its end");
}

bool kiln_guard_begin(kiln_context *context)
{
    /* Counted first: either the one who stops sees the guard, or the guard sees the stop. */
    atomic_fetch_add(&context->guards, 1);
    if (!kiln_context_is_stopping(context))
        return true;
    kiln_guard_end(context);
    return false;
}

void kiln_guard_end(kiln_context *context)
{
    atomic_fetch_sub(&context->guards, 1);
}

bool kiln_is_guarded(const kiln_context *context)
{
    return atomic_load(&context->guards) > 0;
}

void *kiln_resize(kiln_context *context, void *block, size_t old_size, size_t new_size)
{
    return context->allocator.resize(context->allocator.user, block, old_size, new_size);
}

void kiln_release(kiln_context *context, void *block, size_t size)
{
    if (block)
        context->allocator.resize(context->allocator.user, block, size, 0);
}

void kiln_log(kiln_context *context, kiln_log_level level, const char *format, ...)
{
    if (!context->log)
        return;
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    kiln_text_tame(message);
    context->log(context->log_user, level, message);
}

double kiln_machine_memory(void)
{
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE), limit;
    FILE *group = fopen("/sys/fs/cgroup/memory.max", "r");
    if (group) {
        if (fscanf(group, "%lf", &limit) == 1 && limit > 0.0 && limit < bytes)
            bytes = limit;
        fclose(group);
    }
    return bytes > 0.0 ? bytes : 4e9;
}

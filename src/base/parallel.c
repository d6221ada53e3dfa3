#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* A loop bumps `generation`, everyone (the caller too) draws chunks from an atomic counter, and the
 * last worker to finish ends it. Which thread draws which chunk varies; what a chunk computes does
 * not. Who has to wait looks a short while before sleeping on `wake` or `done`: loops come in rows
 * (one per colour of the elements), and waking a thread takes as long as a small one of them. */
enum { LOOKS = 1000 };

/* Loops whose bodies the thread is inside of, innermost first; they live on its stack. A thread can
 * be inside loops of several contexts, so it is looked for by context. */
typedef struct loop_frame {
    const kiln_context *context;
    int worker;
    const struct loop_frame *outer;
} loop_frame;

static _Thread_local const loop_frame *innermost;

/* NULL: the thread is in no body of a loop of that context. */
static const loop_frame *find_frame(const kiln_context *context)
{
    const loop_frame *frame = innermost;
    while (frame && frame->context != context)
        frame = frame->outer;
    return frame;
}

struct kiln_thread_pool {
    const kiln_context *context;
    pthread_t threads[KILN_MAX_THREADS];
    int count; /* workers, without the caller */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    atomic_uint generation;
    atomic_int running, quit;
    kiln_chunk_body body;
    void *user;
    size_t items, grain, chunks;
    atomic_size_t next;
    atomic_int next_worker;
};

size_t kiln_chunk_count(size_t count, size_t grain)
{
    return grain ? (count + grain - 1) / grain : 0;
}

static void draw_chunks(struct kiln_thread_pool *pool, int worker)
{
    const loop_frame frame = {pool->context, worker, innermost};
    innermost = &frame;
    for (;;) {
        size_t chunk = atomic_fetch_add(&pool->next, 1);
        if (chunk >= pool->chunks)
            break;
        size_t begin = chunk * pool->grain;
        size_t end = begin + pool->grain < pool->items ? begin + pool->grain : pool->items;
        pool->body(pool->user, chunk, begin, end, worker);
    }
    innermost = frame.outer;
}

static void run_inline(const kiln_context *context, size_t count, size_t grain,
                       kiln_chunk_body body, void *user, int worker)
{
    const loop_frame frame = {context, worker, innermost};
    innermost = &frame;
    for (size_t chunk = 0, begin = 0; begin < count; chunk++, begin += grain)
        body(user, chunk, begin, count - begin > grain ? begin + grain : count, worker);
    innermost = frame.outer;
}

static bool has_news(struct kiln_thread_pool *pool, unsigned seen)
{
    return atomic_load(&pool->generation) != seen || atomic_load(&pool->quit);
}

static void await_loop(struct kiln_thread_pool *pool, unsigned seen)
{
    for (int i = 0; i < LOOKS; i++) {
        if (has_news(pool, seen))
            return;
        kiln_pause();
    }
    pthread_mutex_lock(&pool->lock);
    while (!has_news(pool, seen))
        pthread_cond_wait(&pool->wake, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void await_workers(struct kiln_thread_pool *pool)
{
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load(&pool->running) == 0)
            return;
        kiln_pause();
    }
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->running) > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument)
{
    struct kiln_thread_pool *pool = argument;
    int worker = 1 + atomic_fetch_add(&pool->next_worker, 1);
    for (unsigned seen = 0;; seen++) {
        await_loop(pool, seen);
        if (atomic_load(&pool->quit))
            return NULL;
        draw_chunks(pool, worker);
        if (atomic_fetch_sub(&pool->running, 1) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

static struct kiln_thread_pool *start_pool(kiln_context *context)
{
    struct kiln_thread_pool *pool = kiln_resize(context, NULL, 0, sizeof *pool);
    if (!pool)
        return NULL;
    memset(pool, 0, sizeof *pool);
    pool->context = context;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (int i = 0; i + 1 < context->threads; i++) {
        if (pthread_create(&pool->threads[i], NULL, work, pool) != 0)
            break;
        pool->count++;
    }
    return pool;
}

void kiln_parallel_for(kiln_context *context, size_t count, size_t grain, kiln_chunk_body body,
                       void *user)
{
    size_t chunks = kiln_chunk_count(count, grain);
    const loop_frame *frame = find_frame(context);
    if (chunks == 0)
        return;
    if (frame || chunks == 1) {
        run_inline(context, count, grain, body, user, frame ? frame->worker : 0);
        return;
    }
    if (context->threads > 1 && !context->pool)
        context->pool = start_pool(context);
    struct kiln_thread_pool *pool = context->pool;
    if (!pool || pool->count == 0) {
        run_inline(context, count, grain, body, user, 0);
        return;
    }

    pthread_mutex_lock(&pool->lock);
    pool->body = body;
    pool->user = user;
    pool->items = count;
    pool->grain = grain;
    pool->chunks = chunks;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->running, pool->count);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);

    draw_chunks(pool, 0);
    await_workers(pool);
}

enum { SUM_GRAIN = 4096 };

typedef struct sum_job {
    kiln_item_value item;
    void *user;
    double *partial;
} sum_job;

static void sum_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    sum_job *job = user;
    double sum = 0.0;
    for (size_t i = begin; i < end; i++)
        sum += job->item(job->user, i);
    job->partial[chunk] = sum;
}

kiln_status kiln_parallel_sum(kiln_context *context, size_t count, kiln_item_value item, void *user,
                              double *sum, kiln_error *error)
{
    *sum = 0.0;
    size_t chunks = kiln_chunk_count(count, SUM_GRAIN);
    if (chunks == 0)
        return KILN_OK;
    sum_job job = {item, user, kiln_resize(context, NULL, 0, chunks * sizeof(double))};
    if (!job.partial)
        return kiln_fail_memory(error, chunks * sizeof(double));
    kiln_parallel_for(context, count, SUM_GRAIN, sum_chunk, &job);
    for (size_t chunk = 0; chunk < chunks; chunk++)
        *sum += job.partial[chunk];
    kiln_release(context, job.partial, chunks * sizeof(double));
    return KILN_OK;
}

void kiln_parallel_shutdown(kiln_context *context)
{
    struct kiln_thread_pool *pool = context->pool;
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->quit, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    kiln_release(context, pool, sizeof *pool);
    context->pool = NULL;
}

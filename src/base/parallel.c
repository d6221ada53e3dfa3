#include "base/parallel.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Everyone (the caller too) draws the chunks of a share of its own from an atomic counter, then
 * what others have left of theirs. Which thread draws which chunk varies; what a chunk computes
 * does not.
 *
 * L1 `gate` says which loop there is, whether it can be entered, and how many workers are inside. A
 *    worker enters by counting itself in while the gate is open; the caller shuts it when no chunk
 *    is left, and waits for those inside.
 *
 * L2 Nobody waits for a worker that has not entered: who sleeps through a loop has missed it. A
 *    loop shorter than a wake-up costs no more than on one thread.
 *
 * L3 A loop's description is written while the gate is shut and nobody is inside, read inside.
 *
 * L4 Who has to wait looks a while before sleeping on `wake` or `done`: loops come in rows, and
 *    what lies between two of them mostly takes less than a wake-up. The while is short unless
 *    looking has paid before. It ends at once when the thread was put off its core, which others
 *    want then; where there are more threads than cores nobody looks.
 *
 * L5 Waking takes the caller longer than most loops take. Sleepers are woken when this loop and
 *    those since they fell asleep together would be worth it, as far as is known from the last
 *    time.
 *
 * L6 The shares are runs of chunks, the same in each loop of as many: what a thread has read or
 *    written in one loop is in its own cache in the next. */
static const double SHORT_LOOK = 2e-5, LONG_LOOK = 4e-4; /* s */
static const double OFF_CORE = 5e-5; /* s between two looks at the clock that nobody takes alone */
enum { LOOKS = 32 };                 /* between two looks at the clock */
static const double WORTH_WAKING = 1e-4; /* s of one thread */
enum { LINE = 64 };                      /* bytes of a cache line */
enum { KINDS = 64 }; /* of loops, told apart by their bodies as far as it goes */

typedef uint64_t gate_word;
#define INSIDE ((gate_word)0xFFFF) /* how many */
#define OPEN   ((gate_word)0x10000)
#define LOOP   ((gate_word)0x20000) /* their number counts in steps of this */

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

/* L6: chunks up to `end`; each in a line of its own. */
typedef struct chunk_share {
    char apart[LINE];
    atomic_size_t next;
    size_t end;
} chunk_share;

struct kiln_thread_pool {
    const kiln_context *context;
    pthread_t threads[KILN_MAX_THREADS];
    int count;    /* workers, without the caller */
    bool patient; /* there is a core for each */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    atomic_int sleeping; /* workers that need `wake`, changed under the lock */
    atomic_bool waiting; /* the caller needs `done`, likewise */
    atomic_bool quit;
    kiln_chunk_body body; /* L3, and the next three */
    void *user;
    size_t items, grain, chunks;
    atomic_int next_worker;
    double alone;       /* L5: s of loops since somebody sleeps */
    double cost[KINDS]; /* s of an item the last time; 0: not known */
    char apart[LINE];   /* what all look at, in a line of its own */
    _Atomic gate_word gate;
    chunk_share shares[KILN_MAX_THREADS]; /* [worker] */
};

size_t kiln_chunk_count(size_t count, size_t grain)
{
    return grain ? (count + grain - 1) / grain : 0;
}

/* L6 */
static void deal_chunks(struct kiln_thread_pool *pool)
{
    size_t count = (size_t)pool->count + 1;
    for (size_t i = 0; i < count; i++) {
        atomic_store_explicit(&pool->shares[i].next, pool->chunks * i / count,
                              memory_order_relaxed);
        pool->shares[i].end = pool->chunks * (i + 1) / count;
    }
}

/* Returns how many there were. */
static size_t draw_share(struct kiln_thread_pool *pool, chunk_share *share, int worker)
{
    size_t drawn = 0;
    for (; atomic_load(&share->next) < share->end; drawn++) {
        size_t chunk = atomic_fetch_add(&share->next, 1);
        if (chunk >= share->end)
            break;
        size_t begin = chunk * pool->grain;
        size_t end = begin + pool->grain < pool->items ? begin + pool->grain : pool->items;
        pool->body(pool->user, chunk, begin, end, worker);
    }
    return drawn;
}

static size_t draw_chunks(struct kiln_thread_pool *pool, int worker)
{
    const loop_frame frame = {pool->context, worker, innermost};
    int count = pool->count + 1;
    size_t drawn = 0;
    innermost = &frame;
    for (int i = 0; i < count; i++)
        drawn += draw_share(pool, &pool->shares[(worker + i) % count], worker);
    innermost = frame.outer;
    return drawn;
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

/* Whether what a thread waits for is there. `seen`: the gate when it began to wait. */
typedef bool (*arrival)(struct kiln_thread_pool *pool, gate_word seen);

static bool is_next_loop(struct kiln_thread_pool *pool, gate_word seen)
{
    return atomic_load(&pool->gate) / LOOP != seen / LOOP || atomic_load(&pool->quit);
}

static bool is_empty(struct kiln_thread_pool *pool, gate_word seen)
{
    (void)seen;
    return (atomic_load(&pool->gate) & INSIDE) == 0;
}

/* L4 */
static bool look_for(struct kiln_thread_pool *pool, arrival arrived, gate_word seen,
                     double *patience)
{
    double begin = kiln_wall_seconds(), now = begin;
    for (;;) {
        for (int i = 0; i < LOOKS; i++) {
            if (arrived(pool, seen)) {
                *patience = 2.0 * *patience < LONG_LOOK ? 2.0 * *patience : LONG_LOOK;
                return true;
            }
            kiln_pause();
        }
        double before = now;
        now = kiln_wall_seconds();
        if (!pool->patient || now - begin > *patience || now - before > OFF_CORE)
            break;
    }
    *patience = 0.5 * *patience > SHORT_LOOK ? 0.5 * *patience : SHORT_LOOK;
    return false;
}

static void await_loop(struct kiln_thread_pool *pool, gate_word seen, double *patience)
{
    if (look_for(pool, is_next_loop, seen, patience))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!is_next_loop(pool, seen))
        pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void await_workers(struct kiln_thread_pool *pool)
{
    double patience = LONG_LOOK;
    if (look_for(pool, is_empty, 0, &patience))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (!is_empty(pool, 0))
        pthread_cond_wait(&pool->done, &pool->lock);
    atomic_store(&pool->waiting, false);
    pthread_mutex_unlock(&pool->lock);
}

/* L1; false: too late. */
static bool enter(struct kiln_thread_pool *pool, gate_word *seen)
{
    *seen = atomic_load(&pool->gate);
    while (*seen & OPEN)
        if (atomic_compare_exchange_weak(&pool->gate, seen, *seen + 1))
            return true;
    return false;
}

static void leave(struct kiln_thread_pool *pool)
{
    gate_word before = atomic_fetch_sub(&pool->gate, 1);
    if ((before & INSIDE) > 1 || !atomic_load(&pool->waiting))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument)
{
    struct kiln_thread_pool *pool = argument;
    int worker = 1 + atomic_fetch_add(&pool->next_worker, 1);
    double patience = SHORT_LOOK;
    for (gate_word seen = 0;;) {
        await_loop(pool, seen, &patience);
        if (atomic_load(&pool->quit))
            return NULL;
        if (!enter(pool, &seen))
            continue;
        draw_chunks(pool, worker);
        leave(pool);
    }
}

static double *cost_of(struct kiln_thread_pool *pool)
{
    return &pool->cost[(uintptr_t)pool->body / 16 % KINDS];
}

/* L5 */
static void wake_sleepers(struct kiln_thread_pool *pool)
{
    double cost = *cost_of(pool);
    if (atomic_load(&pool->sleeping) == 0 ||
        (cost > 0.0 && pool->alone + cost * (double)pool->items < WORTH_WAKING))
        return;
    pool->alone = 0.0;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void run_loop(struct kiln_thread_pool *pool)
{
    deal_chunks(pool);
    atomic_fetch_add(&pool->gate, LOOP + OPEN);
    wake_sleepers(pool);
    double begin = kiln_wall_seconds();
    size_t own = draw_chunks(pool, 0);
    double seconds = kiln_wall_seconds() - begin;
    atomic_fetch_sub(&pool->gate, OPEN);
    await_workers(pool);
    if (own > 0)
        *cost_of(pool) = seconds * (double)pool->chunks / (double)(own * pool->items);
    pool->alone = atomic_load(&pool->sleeping) > 0 ? pool->alone + seconds : 0.0;
}

static struct kiln_thread_pool *start_pool(kiln_context *context)
{
    struct kiln_thread_pool *pool = kiln_resize(context, NULL, 0, sizeof *pool);
    if (!pool)
        return NULL;
    memset(pool, 0, sizeof *pool);
    pool->context = context;
    pool->patient = sysconf(_SC_NPROCESSORS_ONLN) >= context->threads;
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

    pool->body = body;
    pool->user = user;
    pool->items = count;
    pool->grain = grain;
    pool->chunks = chunks;
    run_loop(pool);
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
    atomic_store(&pool->quit, true);
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

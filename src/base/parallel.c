#include "base/parallel.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Everyone (the caller too) claims the chunks of a share of its own, then what others have left of
 * theirs. Which thread claims which chunk varies; what a chunk computes does not.
 *
 * What a short loop costs is the way of cache lines from core to core, some 0.2 us each: there are
 * few of them one after the other, and each line below has one thread that writes it most.
 *
 * L1 `posted` is the loop, written by the caller alone and read by workers while it may change: its
 *    number is 0 while it is written, and what was read counts if the number before and after is
 *    the same.
 *
 * L2 A claim is a number of a loop and how many chunks of the share are taken. One of an older loop
 *    means none; of a newer one, that the thread comes too late. A loop is not over before all its
 *    chunks are claimed, so who comes late finds nothing, and nobody has to deal the shares.
 *
 * L3 Each worker tells how many chunks it has done; the loop is over when that is all of them.
 * Nobody waits for a worker that has claimed none: who sleeps through a loop has missed it. A loop
 *    shorter than a wake-up costs no more than on one thread.
 *
 * L4 Who has to wait looks a while before sleeping on `wake` or `over`: loops come in rows, and
 *    what lies between two of them mostly takes less than a wake-up. The while is short unless
 *    looking has paid before. It ends at once when the thread was put off its core, which others
 *    want then; where there are more threads than cores nobody looks.
 *
 * L5 Waking takes the caller longer than most loops take. Sleepers are woken when this loop and
 *    those since they fell asleep together would be worth it, as far as is known from the last
 *    time.
 *
 * L6 The shares are runs of chunks, the same in each loop of as many: what a thread has read or
 *    written in one loop is in its own cache in the next. The first chunk is the caller's without a
 *    claim, which would wait until the workers' looks have let go of `posted`. */
static const double SHORT_LOOK = 2e-5, LONG_LOOK = 4e-4; /* s */
static const double OFF_CORE = 5e-5; /* s between two looks at the clock that nobody takes alone */
enum { LOOKS = 32 };                 /* between two looks at the clock */
static const double WORTH_WAKING = 1e-4; /* s of one thread */
enum { LINE = 64 };                      /* bytes of a cache line */
enum { KINDS = 64 }; /* of loops, told apart by their bodies as far as it goes */

/* L2, L3: a word is number * COUNTS + count; the numbers do for years. */
#define COUNTS ((uint64_t)1 << 20)
static const size_t MOST_CHUNKS = COUNTS - 1; /* of a loop; longer ones are several */

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

/* L1. `first`: of the chunks, for the later parts of a long loop. */
typedef struct loop {
    uint64_t number;
    kiln_chunk_body body;
    void *user;
    size_t items, grain, first, chunks;
} loop;

typedef struct posted_loop {
    _Atomic uint64_t number;
    _Atomic kiln_chunk_body body;
    _Atomic(void *) user;
    atomic_size_t items, grain, first, chunks;
} posted_loop;

/* Words in lines of their own: of a share, and of who owns it. */
typedef struct seat {
    char apart[LINE];
    _Atomic uint64_t claimed;
    char more[LINE];
    _Atomic uint64_t done;
} seat;

struct kiln_thread_pool {
    const kiln_context *context;
    pthread_t threads[KILN_MAX_THREADS];
    int count;    /* workers, without the caller */
    bool patient; /* there is a core for each */
    pthread_mutex_t lock;
    pthread_cond_t wake, over;
    atomic_int sleeping; /* workers that need `wake`, changed under the lock */
    atomic_bool waiting; /* the caller needs `over`, likewise */
    atomic_bool quit;
    atomic_int next_worker;
    posted_loop *posted; /* in `room`, in one line */
    char room[3 * LINE];
    seat seats[KILN_MAX_THREADS]; /* [worker] */
    char apart[LINE];             /* from what the caller alone needs */
    loop at_hand;
    double alone;       /* L5: s of loops since somebody sleeps */
    double cost[KINDS]; /* s of an item the last time; 0: not known */
};

size_t kiln_chunk_count(size_t count, size_t grain)
{
    return grain ? (count + grain - 1) / grain : 0;
}

/* L1: whoever sees a part of what is written here sees that the number was taken off before. */
static void post_loop(posted_loop *posted, const loop *l)
{
    atomic_store_explicit(&posted->number, 0, memory_order_relaxed);
    atomic_store_explicit(&posted->body, l->body, memory_order_release);
    atomic_store_explicit(&posted->user, l->user, memory_order_release);
    atomic_store_explicit(&posted->items, l->items, memory_order_release);
    atomic_store_explicit(&posted->grain, l->grain, memory_order_release);
    atomic_store_explicit(&posted->first, l->first, memory_order_release);
    atomic_store_explicit(&posted->chunks, l->chunks, memory_order_release);
    atomic_store_explicit(&posted->number, l->number, memory_order_release);
}

/* False: it is being written. */
static bool read_loop(posted_loop *posted, loop *l)
{
    l->number = atomic_load_explicit(&posted->number, memory_order_acquire);
    l->body = atomic_load_explicit(&posted->body, memory_order_acquire);
    l->user = atomic_load_explicit(&posted->user, memory_order_acquire);
    l->items = atomic_load_explicit(&posted->items, memory_order_acquire);
    l->grain = atomic_load_explicit(&posted->grain, memory_order_acquire);
    l->first = atomic_load_explicit(&posted->first, memory_order_acquire);
    l->chunks = atomic_load_explicit(&posted->chunks, memory_order_acquire);
    return l->number && l->number == atomic_load_explicit(&posted->number, memory_order_relaxed);
}

/* L2: takes the next of `size` chunks of a share. */
static bool claim(seat *share, const loop *l, size_t size, size_t *taken)
{
    uint64_t word = atomic_load_explicit(&share->claimed, memory_order_relaxed);
    do {
        uint64_t number = word / COUNTS;
        *taken = number == l->number ? (size_t)(word % COUNTS) : 0;
        if (number > l->number || *taken >= size)
            return false;
    } while (
        !atomic_compare_exchange_weak(&share->claimed, &word, l->number * COUNTS + *taken + 1));
    return true;
}

static void run_chunk(const loop *l, size_t chunk, int worker)
{
    size_t begin = (l->first + chunk) * l->grain, end = begin + l->grain;
    l->body(l->user, l->first + chunk, begin, end < l->items ? end : l->items, worker);
}

/* L6. Returns how many there were. */
static size_t draw_share(struct kiln_thread_pool *pool, const loop *l, int owner, int worker)
{
    size_t count = (size_t)pool->count + 1, i = (size_t)owner;
    size_t begin = l->chunks * i / count, end = l->chunks * (i + 1) / count, drawn = 0, taken;
    begin = begin > 0 ? begin : 1;
    for (; end > begin && claim(&pool->seats[owner], l, end - begin, &taken); drawn++)
        run_chunk(l, begin + taken, worker);
    return drawn;
}

static size_t draw_others(struct kiln_thread_pool *pool, const loop *l, int worker)
{
    int count = pool->count + 1;
    size_t drawn = 0;
    for (int i = 1; i < count; i++)
        drawn += draw_share(pool, l, (worker + i) % count, worker);
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

/* Whether what a thread waits for is there; `seen`: the number of the last loop it knows of. */
typedef bool (*arrival)(struct kiln_thread_pool *pool, uint64_t seen);

static bool is_next_loop(struct kiln_thread_pool *pool, uint64_t seen)
{
    uint64_t number = atomic_load(&pool->posted->number);
    return (number && number != seen) || atomic_load(&pool->quit);
}

/* L3: `missing` chunks of the loop at hand are done. */
static bool is_over(struct kiln_thread_pool *pool, uint64_t missing)
{
    for (int i = 1; i <= pool->count; i++) {
        uint64_t word = atomic_load(&pool->seats[i].done);
        missing -= word / COUNTS == pool->at_hand.number ? word % COUNTS : 0;
    }
    return missing == 0;
}

/* L4 */
static bool look_for(struct kiln_thread_pool *pool, arrival arrived, uint64_t seen,
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

static void await_loop(struct kiln_thread_pool *pool, uint64_t seen, double *patience)
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

static void await_workers(struct kiln_thread_pool *pool, uint64_t missing)
{
    double patience = LONG_LOOK;
    if (look_for(pool, is_over, missing, &patience))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (!is_over(pool, missing))
        pthread_cond_wait(&pool->over, &pool->lock);
    atomic_store(&pool->waiting, false);
    pthread_mutex_unlock(&pool->lock);
}

/* L3 */
static void tell_done(struct kiln_thread_pool *pool, const loop *l, int worker, size_t chunks)
{
    atomic_store(&pool->seats[worker].done, l->number * COUNTS + chunks);
    if (!atomic_load(&pool->waiting))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->over);
    pthread_mutex_unlock(&pool->lock);
}

/* What is done of the own share is told before looking for more, which mostly is not there. */
static void take_part(struct kiln_thread_pool *pool, const loop *l, int worker)
{
    const loop_frame frame = {pool->context, worker, innermost};
    innermost = &frame;
    size_t own = draw_share(pool, l, worker, worker);
    if (own)
        tell_done(pool, l, worker, own);
    size_t others = draw_others(pool, l, worker);
    if (others)
        tell_done(pool, l, worker, own + others);
    innermost = frame.outer;
}

static void *work(void *argument)
{
    struct kiln_thread_pool *pool = argument;
    int worker = 1 + atomic_fetch_add(&pool->next_worker, 1);
    double patience = SHORT_LOOK;
    for (uint64_t seen = 0;;) {
        await_loop(pool, seen, &patience);
        if (atomic_load(&pool->quit))
            return NULL;
        loop l;
        if (!read_loop(pool->posted, &l))
            continue;
        seen = l.number;
        take_part(pool, &l, worker);
    }
}

static double *cost_of(struct kiln_thread_pool *pool)
{
    return &pool->cost[(uintptr_t)pool->at_hand.body / 16 % KINDS];
}

/* L5. Who falls asleep at this moment is not seen, and misses the loop. */
static void wake_sleepers(struct kiln_thread_pool *pool)
{
    double cost = *cost_of(pool);
    if (atomic_load(&pool->sleeping) == 0 ||
        (cost > 0.0 && pool->alone + cost * (double)pool->at_hand.items < WORTH_WAKING))
        return;
    pool->alone = 0.0;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void run_loop(struct kiln_thread_pool *pool)
{
    const loop_frame frame = {pool->context, 0, innermost};
    const loop *l = &pool->at_hand;
    post_loop(pool->posted, l);
    wake_sleepers(pool);
    double begin = kiln_wall_seconds();
    innermost = &frame;
    run_chunk(l, 0, 0);
    size_t own = 1 + draw_share(pool, l, 0, 0) + draw_others(pool, l, 0);
    innermost = frame.outer;
    double seconds = kiln_wall_seconds() - begin;
    await_workers(pool, l->chunks - own);
    *cost_of(pool) = seconds * (double)l->chunks / (double)(own * l->items);
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
    pthread_cond_init(&pool->over, NULL);
    pool->posted = (posted_loop *)(void *)(((uintptr_t)pool->room + LINE - 1) / LINE * LINE);
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

    for (size_t first = 0; first < chunks; first += MOST_CHUNKS) {
        size_t left = chunks - first;
        pool->at_hand = (loop){pool->at_hand.number + 1,
                               body,
                               user,
                               count,
                               grain,
                               first,
                               left < MOST_CHUNKS ? left : MOST_CHUNKS};
        run_loop(pool);
    }
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
    pthread_cond_destroy(&pool->over);
    pthread_mutex_destroy(&pool->lock);
    kiln_release(context, pool, sizeof *pool);
    context->pool = NULL;
}

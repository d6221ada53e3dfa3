/* Multifrontal Cholesky factorisation with the same bits for any number of threads.
 *
 * F1 Where everything lies is settled by the analysis: L of all nodes one behind the other, U in a
 *    heap whose allocations are played through in advance. Factoring allocates nothing.
 *
 * F2 The tree is cut by work, for solves by size: subtrees below a part of it (`task`, some
 *    together) are done each by one thread, on a heap of its own. What is above them is done level
 *    by level: the nodes of a level at the same time, but large fronts one after the other, by all
 *    threads.
 *
 * F3 A front is the matrix's blocks, then its children's U in order: whoever adds them.
 *
 * F4 In a solve what a child has for its parent's rows is carried to the parent, not added to a
 *    vector that others write.
 *
 * F5 An order that had to be found anew is what the orders of later patterns are repaired from,
 *    until the solver is reconsidered: patterns of one minimisation differ little. */
#include "base/parallel.h"
#include "solve/dissect.h"
#include "solve/front.h"
#include "solve/front_heap.h"
#include "solve/solver_backend.h"
#include "solve/tree_cut.h"

#include <string.h>

#define NONE KILN_NO_PLACE

enum { FACTOR_TASKS = 8, SOLVE_TASKS = 3 }; /* for each thread, at least */
enum { ROOM = 1 + KILN_STRIP };             /* for a solve: a front's values, and sums */
static const double PARALLEL = 1e6;         /* operations of a front that all threads share */
enum { STRIP_GRAIN = 6, ADD_GRAIN = 8 } /* strips */;

/* Where the numbers of a node are. */
typedef struct home {
    uint64_t L;     /* in self.L */
    uint64_t U;     /* in the heap of the top, or of whoever does the task */
    uint64_t size;  /* of U */
    uint64_t carry; /* in self.carry */
    bool shared;    /* U is in the heap of the top */
} home;

typedef struct multifrontal {
    kiln_context *context;
    kiln_symbolic symbolic;
    uint32_t block;
    home *home;                     /* [node] */
    kiln_tree_cut by_work, by_size; /* for the factor and for solves */
    kiln_f64_array L, shared, own, carry, vector;
    kiln_u32_array scalar; /* [worker] targets of a child's rows; scratch */
    size_t own_size;       /* of the heap of one worker */
    size_t widest;         /* rows of a front at most */
    double flops, entries;

    const kiln_solver_ground *ground;    /* of the next analysis; NULL: none. Borrowed */
    uint64_t ground_key, ground_pattern; /* of the last one, if it is known */
    bool ground_known;
    kiln_dissection base; /* the order of what lasts, */
    uint64_t base_pattern;
    bool based;             /* if there is one */
    kiln_dissection recent; /* F5: the last order found anew for more, */
    bool recently;          /* if there is one */
    bool begun;             /* there was a factor since reconsidering */
    bool pure;              /* the analysis depends on ground and pattern alone */

    const kiln_bsr *matrix; /* while it factors */
    bool *failed;           /* [task, or node of a level] not positive definite */
    const uint32_t *level;  /* nodes that are factored at the same time */
    double *x;              /* while it solves, [place]; from: */
    const double *right;    /* [row], which may be the same as */
    double *result;         /* [row] */
} multifrontal;

static const kiln_supernode *node_at(const multifrontal *m, uint32_t i)
{
    return &m->symbolic.node[i];
}

static size_t columns_of(const multifrontal *m, uint32_t i)
{
    return KILN_STRIP * kiln_strips_of((size_t)m->block * node_at(m, i)->width);
}

static size_t below_of(const multifrontal *m, uint32_t i)
{
    return kiln_strips_of((size_t)m->block * node_at(m, i)->rows);
}

/* The first scalar row (and column) of a block row of the front. */
KILN_INLINE size_t scalar_row(const multifrontal *m, const kiln_supernode *node, size_t columns,
                              uint32_t row)
{
    return row < node->width ? (size_t)m->block * row
                             : columns + (size_t)m->block * (row - node->width);
}

static double cube_sum(double n)
{
    return n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
}

static double work_of(const multifrontal *m, uint32_t i)
{
    double rows = (double)m->block * node_at(m, i)->rows;
    return cube_sum(rows + (double)m->block * node_at(m, i)->width) - cube_sum(rows);
}

static double *own_heap(const multifrontal *m, int worker)
{
    return m->own.data + (size_t)worker * m->own_size;
}

static kiln_front front_of(const multifrontal *m, uint32_t i, int worker)
{
    const home *h = &m->home[i];
    size_t columns = columns_of(m, i);
    return (kiln_front){.L = m->L.data + h->L,
                        .U = (h->shared ? m->shared.data : own_heap(m, worker)) + h->U,
                        .columns = columns,
                        .strips = columns / KILN_STRIP + below_of(m, i)};
}

/* --- analysis --- */

/* The U of nodes that are done at the same time while their children's are still there, which then
 * go. */
static kiln_status play(multifrontal *m, kiln_front_heap *heap, const uint32_t *node, size_t count,
                        bool shared, kiln_error *error)
{
    for (size_t k = 0; k < count; k++) {
        home *h = &m->home[node[k]];
        if (h->shared == shared)
            KILN_TRY(kiln_front_heap_claim(heap, h->size, &h->U, error));
    }
    for (size_t k = 0; k < count; k++)
        for (uint32_t c = node_at(m, node[k])->child; c != NONE; c = node_at(m, c)->sibling)
            if (m->home[c].shared == shared)
                KILN_TRY(kiln_front_heap_give_back(heap, m->home[c].U, m->home[c].size, error));
    return KILN_OK;
}

/* F1 */
static kiln_status plan_heaps(multifrontal *m, kiln_front_heap *heap, kiln_error *error)
{
    const kiln_tree_cut *cut = &m->by_work;
    uint64_t most = 0;
    for (size_t t = 0; t < cut->root.count; t++) {
        kiln_front_heap_restart(heap);
        for (uint32_t i = cut->begin.data[t]; i <= cut->root.data[t]; i++)
            KILN_TRY(play(m, heap, &i, 1, false, error));
        most = heap->end > most ? heap->end : most;
    }
    m->own_size = (size_t)(most + 63) / 64 * 64;
    kiln_front_heap_restart(heap);
    for (size_t t = 0; t < cut->root.count; t++) {
        home *h = &m->home[cut->root.data[t]];
        KILN_TRY(kiln_front_heap_claim(heap, h->size, &h->U, error));
    }
    for (size_t l = 0; l + 1 < cut->level.count; l++) {
        uint32_t first = cut->level.data[l], count = cut->level.data[l + 1] - first;
        KILN_TRY(play(m, heap, cut->top.data + first, count, true, error));
    }
    KILN_TRY(kiln_array_reserve(m->context, &m->own, m->own_size * (size_t)m->context->threads + 64,
                                error));
    return kiln_array_reserve(m->context, &m->shared, (size_t)heap->end + 64, error);
}

/* Sizes of what belongs to each node. */
static void measure(multifrontal *m)
{
    uint64_t L = 0, carry = 0;
    m->flops = m->entries = 0.0;
    m->widest = 0;
    for (uint32_t i = 0; i < m->symbolic.count; i++) {
        const kiln_supernode *node = node_at(m, i);
        size_t columns = columns_of(m, i), under = below_of(m, i), rows;
        rows = columns + KILN_STRIP * under;
        m->home[i] = (home){.L = L, .size = kiln_front_triangle(under), .carry = carry};
        L += columns * rows;
        carry += KILN_STRIP * under;
        m->widest = rows > m->widest ? rows : m->widest;
        double own = (double)m->block * node->width;
        m->entries += own * (0.5 * (own + 1.0) + (double)m->block * node->rows);
        m->flops += work_of(m, i);
    }
    m->L.count = (size_t)L;
    m->carry.count = (size_t)carry;
}

static double size_of(const multifrontal *m, uint32_t i)
{
    return (double)columns_of(m, i) * (double)(columns_of(m, i) + KILN_STRIP * below_of(m, i));
}

/* Into as many subtrees as `tasks` for each thread, or more, of about the same cost. */
static kiln_status cut_by(const multifrontal *m, double (*cost)(const multifrontal *, uint32_t),
                          double least, int tasks, double *below, kiln_tree_cut *to,
                          kiln_error *error)
{
    double all = 0.0;
    memset(below, 0, m->symbolic.count * sizeof *below);
    for (uint32_t i = 0; i < m->symbolic.count; i++) {
        uint32_t parent = node_at(m, i)->parent;
        below[i] += cost(m, i) + least;
        all += cost(m, i) + least;
        if (parent != NONE)
            below[parent] += below[i];
    }
    return kiln_tree_cut_make(to, &m->symbolic, below, all / (double)(tasks * m->context->threads),
                              error);
}

/* Nodes whose U outlives their task. */
static void share(multifrontal *m)
{
    for (size_t t = 0; t < m->by_work.root.count; t++)
        m->home[m->by_work.root.data[t]].shared = true;
    for (size_t k = 0; k < m->by_work.top.count; k++)
        m->home[m->by_work.top.data[k]].shared = true;
}

static kiln_status reserve_numbers(multifrontal *m, kiln_error *error)
{
    size_t workers = (size_t)m->context->threads;
    KILN_TRY(kiln_array_reserve(m->context, &m->L, m->L.count + 64, error));
    KILN_TRY(kiln_array_reserve(m->context, &m->carry, m->carry.count + 64, error));
    KILN_TRY(kiln_array_reserve(m->context, &m->vector,
                                m->block * m->symbolic.rows + workers * ROOM * m->widest + 64,
                                error));
    return kiln_array_reserve(m->context, &m->scalar, workers * m->widest + 64, error);
}

static kiln_status plan(multifrontal *m, kiln_error *error)
{
    size_t count = m->symbolic.count, bytes = (count + 1) * sizeof(double);
    kiln_front_heap heap = {.context = m->context};
    m->home = kiln_resize(m->context, NULL, 0, (count + 1) * sizeof *m->home);
    double *below = kiln_resize(m->context, NULL, 0, bytes);
    kiln_status status = KILN_OK;
    if (!m->home || !below)
        status = kiln_fail_memory(error, bytes);
    if (status == KILN_OK) {
        measure(m);
        status = cut_by(m, work_of, 1e3, FACTOR_TASKS, below, &m->by_work, error);
        share(m);
    }
    if (status == KILN_OK)
        status = cut_by(m, size_of, 100.0, SOLVE_TASKS, below, &m->by_size, error);
    if (status == KILN_OK)
        status = plan_heaps(m, &heap, error);
    if (status == KILN_OK)
        status = reserve_numbers(m, error);
    kiln_front_heap_free(&heap);
    kiln_release(m->context, below, bytes);
    return status;
}

static void forget_tree(multifrontal *m)
{
    kiln_release(m->context, m->home, (m->symbolic.count + 1) * sizeof *m->home);
    m->home = NULL;
    kiln_symbolic_free(&m->symbolic);
}

static void forget(void *self)
{
    multifrontal *m = self;
    forget_tree(m);
    kiln_dissection_free(m->context, &m->base);
    kiln_dissection_free(m->context, &m->recent);
    m->based = m->ground_known = m->recently = m->begun = false;
    kiln_tree_cut_free(m->context, &m->by_work);
    kiln_tree_cut_free(m->context, &m->by_size);
    kiln_array_free(m->context, &m->L);
    kiln_array_free(m->context, &m->shared);
    kiln_array_free(m->context, &m->own);
    kiln_array_free(m->context, &m->carry);
    kiln_array_free(m->context, &m->vector);
    kiln_array_free(m->context, &m->scalar);
}

static kiln_status create(kiln_context *context, const kiln_solver_options *options, void **self,
                          kiln_error *error)
{
    (void)options;
    multifrontal *m = kiln_resize(context, NULL, 0, sizeof *m);
    if (!m)
        return kiln_fail_memory(error, sizeof *m);
    *m = (multifrontal){.context = context};
    *self = m;
    return KILN_OK;
}

static void destroy(void *self)
{
    multifrontal *m = self;
    forget(m);
    kiln_release(m->context, m, sizeof *m);
}

static void drop_recent(multifrontal *m)
{
    kiln_dissection_free(m->context, &m->recent);
    m->recently = false;
}

static kiln_status dissect(multifrontal *m, const kiln_row_graph *graph, uint64_t pattern,
                           kiln_error *error)
{
    drop_recent(m);
    kiln_dissection_free(m->context, &m->base);
    kiln_status status = kiln_dissect(m->context, graph, &m->base, error);
    m->based = status == KILN_OK;
    m->base_pattern = pattern;
    return status;
}

static kiln_status find_ground(multifrontal *m, kiln_error *error)
{
    const kiln_solver_ground *ground = m->ground;
    if (m->ground_known && m->ground_key == ground->key && m->based &&
        m->base_pattern == m->ground_pattern)
        return KILN_OK;
    kiln_bsr pattern;
    kiln_bsr_init_blocks(&pattern, m->context, m->block);
    kiln_status status = ground->find(ground->user, &pattern, error);
    if (status == KILN_OK && (!m->based || m->base_pattern != pattern.pattern)) {
        kiln_row_graph graph = {0};
        status = kiln_row_graph_make(&pattern, &graph, error);
        if (status == KILN_OK)
            status = dissect(m, &graph, pattern.pattern, error);
        kiln_row_graph_free(m->context, &graph);
    }
    m->ground_known = status == KILN_OK;
    m->ground_key = ground->key;
    m->ground_pattern = pattern.pattern;
    kiln_bsr_free(&pattern);
    return status;
}

/* The tree of fronts for a matrix that has the couplings that last, and perhaps others. F5 */
static kiln_status find_tree(multifrontal *m, const kiln_bsr *matrix, const kiln_row_graph *graph,
                             kiln_error *error)
{
    if (m->ground)
        KILN_TRY(find_ground(m, error));
    else if (!m->based || m->base_pattern != matrix->pattern)
        KILN_TRY(dissect(m, graph, matrix->pattern, error));
    if (!m->begun || m->base_pattern == matrix->pattern)
        drop_recent(m);
    m->pure = !m->recently;
    if (m->base_pattern == matrix->pattern)
        return kiln_symbolic_build(&m->symbolic, m->context, matrix, graph, m->base.order, error);
    kiln_dissection mended = {0};
    KILN_TRY(kiln_dissection_repair(m->context, m->recently ? &m->recent : &m->base, graph, &mended,
                                    error));
    kiln_status status =
        kiln_symbolic_build(&m->symbolic, m->context, matrix, graph, mended.order, error);
    if (mended.repaired) {
        kiln_dissection_free(m->context, &mended);
    } else {
        drop_recent(m);
        m->recent = mended;
        m->recently = true;
    }
    return status;
}

static bool reconsider(void *self)
{
    multifrontal *m = self;
    m->begun = false;
    return m->pure;
}

static void set_ground(void *self, const kiln_solver_ground *ground)
{
    multifrontal *m = self;
    m->ground = ground;
}

/* Room for numbers stays: patterns that change with contact have factors of much the same size. */
static kiln_status analyse(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                           kiln_error *error)
{
    multifrontal *m = self;
    forget_tree(m);
    m->block = matrix->block;
    kiln_row_graph graph = {0};
    kiln_status status = kiln_row_graph_make(matrix, &graph, error);
    if (status == KILN_OK)
        status = find_tree(m, matrix, &graph, error);
    kiln_row_graph_free(m->context, &graph);
    KILN_TRY(status);
    m->begun = true;
    KILN_TRY(plan(m, error));
    report->factor_entries = m->entries;
    report->factor_flops = m->flops;
    report->bytes = (m->L.count + m->shared.capacity + m->own.capacity + m->carry.count) * 8 +
                    kiln_symbolic_bytes(&m->symbolic);
    return KILN_OK;
}

/* --- factor --- */

/* One block of the matrix; of one on the diagonal the lower triangle. */
static void add_entry(const multifrontal *m, const kiln_supernode *node, const kiln_front *f,
                      const kiln_front_entry *e)
{
    size_t n = m->block, stride;
    const double *value = kiln_bsr_place(m->matrix, m->block, e->matrix_row, e->block, &stride);
    size_t row = scalar_row(m, node, f->columns, e->row), column = n * e->column;
    for (size_t r = 0; r < n; r++) {
        size_t at = row + r;
        double *to = f->L + (at / KILN_STRIP * f->columns + column) * KILN_STRIP + at % KILN_STRIP;
        size_t end = e->row == e->column ? r + 1 : n;
        for (size_t c = 0; c < end; c++)
            to[KILN_STRIP * c] += e->turned ? value[c * stride + r] : value[r * stride + c];
    }
}

/* Where the scalar rows of a node's U go in the front of its parent. */
static size_t find_targets(const multifrontal *m, uint32_t child, uint32_t *target)
{
    const kiln_supernode *c = node_at(m, child), *parent = node_at(m, c->parent);
    const uint32_t *relative = m->symbolic.relative + c->row;
    size_t columns = columns_of(m, c->parent), n = m->block;
    for (uint32_t k = 0; k < c->rows; k++) {
        size_t row = scalar_row(m, parent, columns, relative[k]);
        for (size_t r = 0; r < n; r++)
            target[n * k + r] = (uint32_t)(row + r);
    }
    return n * c->rows;
}

typedef struct addition {
    const kiln_front *to;
    const double *U;
    const uint32_t *target;
    size_t rows; /* scalar rows of U */
} addition;

/* Columns `begin` to `end` - 1 of a strip, to the places of its rows in column 0; all its rows have
 * them. */
static void add_columns(const double *from, const uint32_t *target, size_t begin, size_t end,
                        size_t shift, double *const to[KILN_STRIP], size_t rows)
{
    if (rows < KILN_STRIP) {
        for (size_t j = begin; j < end; j++)
            for (size_t r = 0; r < rows; r++)
                to[r][KILN_STRIP * (target[j] - shift)] += from[KILN_STRIP * j + r];
    } else if (to[7] == to[0] + 7) {
        for (size_t j = begin; j < end; j++) {
            double *at = to[0] + KILN_STRIP * (target[j] - shift);
            for (size_t r = 0; r < KILN_STRIP; r++)
                at[r] += from[KILN_STRIP * j + r];
        }
    } else {
        for (size_t j = begin; j < end; j++) {
            size_t at = KILN_STRIP * (target[j] - shift);
            for (size_t r = 0; r < KILN_STRIP; r++)
                to[r][at] += from[KILN_STRIP * j + r];
        }
    }
}

/* Different rows of U are different rows of the parent, so strips can be added at the same time. */
static void add_strips(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const addition *a = user;
    const kiln_front *f = a->to;
    size_t inside = 0; /* columns that the parent owns */
    while (inside < a->rows && a->target[inside] < f->columns)
        inside++;
    for (size_t t = begin; t < end; t++) {
        const double *from = a->U + kiln_front_triangle(t);
        const uint32_t *target = a->target + KILN_STRIP * t;
        size_t first = KILN_STRIP * t, rows = a->rows - first;
        double *L[KILN_STRIP] = {NULL}, *U[KILN_STRIP] = {NULL};
        rows = rows < KILN_STRIP ? rows : KILN_STRIP;
        for (size_t r = 0; r < rows; r++) {
            size_t at = target[r];
            L[r] = f->L + at / KILN_STRIP * f->columns * KILN_STRIP + at % KILN_STRIP;
            at -= at < f->columns ? at : f->columns;
            U[r] = f->U + kiln_front_triangle(at / KILN_STRIP) + at % KILN_STRIP;
        }
        size_t split = inside < first ? inside : first;
        add_columns(from, a->target, 0, split, 0, L, rows);
        add_columns(from, a->target, split, first, f->columns, U, rows);
        for (size_t r = 0; r < rows; r++) /* the triangle on the diagonal */
            for (size_t j = first; j <= first + r; j++) {
                double value = from[KILN_STRIP * j + r];
                if (j < inside)
                    L[r][KILN_STRIP * a->target[j]] += value;
                else
                    U[r][KILN_STRIP * (a->target[j] - f->columns)] += value;
            }
    }
}

static void clear_front(const multifrontal *m, uint32_t i, const kiln_front *f)
{
    size_t under = f->strips - f->columns / KILN_STRIP;
    memset(f->L, 0, f->columns * f->strips * KILN_STRIP * sizeof(double));
    memset(f->U, 0, kiln_front_triangle(under) * sizeof(double));
    for (size_t j = (size_t)m->block * node_at(m, i)->width; j < f->columns; j++)
        f->L[(j / KILN_STRIP * f->columns + j) * KILN_STRIP + j % KILN_STRIP] = 1.0;
}

/* F3 */
static void assemble(const multifrontal *m, uint32_t i, const kiln_front *f, int worker)
{
    const kiln_supernode *node = node_at(m, i);
    uint32_t *target = m->scalar.data + (size_t)worker * m->widest;
    clear_front(m, i, f);
    for (uint64_t e = node->entry; e < node->entry + node->entries; e++)
        add_entry(m, node, f, &m->symbolic.entry[e]);
    for (uint32_t c = node->child; c != NONE; c = node_at(m, c)->sibling) {
        kiln_front child = front_of(m, c, worker);
        addition a = {f, child.U, target, find_targets(m, c, target)};
        kiln_parallel_for(m->context, below_of(m, c), ADD_GRAIN, add_strips, &a);
    }
}

typedef struct elimination {
    const kiln_front *front;
    kiln_isa isa;
    size_t p0, p1;
} elimination;

static void solve_strips(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    static void (*const solve[])(const kiln_front *, size_t, size_t, size_t, size_t) =
        KILN_SIMD_TABLE(kiln_front_solve);
    const elimination *e = user;
    (void)chunk;
    (void)worker;
    solve[e->isa](e->front, e->p0, e->p1, e->p1 + begin, e->p1 + end);
}

static void update_strips(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    static void (*const update[])(const kiln_front *, size_t, size_t, size_t, size_t) =
        KILN_SIMD_TABLE(kiln_front_update);
    const elimination *e = user;
    (void)chunk;
    (void)worker;
    update[e->isa](e->front, e->p0, e->p1, e->p1 + begin, e->p1 + end);
}

static bool eliminate(const multifrontal *m, const kiln_front *f, bool together)
{
    static bool (*const factor[])(const kiln_front *, size_t, size_t) =
        KILN_SIMD_TABLE(kiln_front_factor);
    kiln_context *context = m->context;
    size_t own = f->columns / KILN_STRIP;
    for (size_t p = 0; p < own; p += KILN_PANEL) {
        elimination e = {f, context->isa, p, p + KILN_PANEL < own ? p + KILN_PANEL : own};
        size_t rest = f->strips - e.p1, grain = together ? STRIP_GRAIN : rest;
        if (!factor[e.isa](f, e.p0, e.p1))
            return false;
        kiln_parallel_for(context, rest, grain, solve_strips, &e);
        kiln_parallel_for(context, rest, grain, update_strips, &e);
    }
    return true;
}

static bool factor_node(const multifrontal *m, uint32_t i, bool together, int worker)
{
    kiln_front f = front_of(m, i, worker);
    assemble(m, i, &f, worker);
    return eliminate(m, &f, together);
}

static void factor_tasks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const multifrontal *m = user;
    const kiln_tree_cut *cut = &m->by_work;
    (void)chunk;
    for (size_t at = begin; at < end; at++) {
        uint32_t t = cut->turn.data[at];
        m->failed[t] = false;
        for (uint32_t k = cut->task.data[t]; k < cut->task.data[t + 1]; k++)
            for (uint32_t i = cut->begin.data[k]; i <= cut->root.data[k] && !m->failed[t]; i++)
                m->failed[t] = !factor_node(m, i, false, worker);
    }
}

/* Nodes of a level are in m->level. */
static void factor_side_by_side(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const multifrontal *m = user;
    (void)chunk;
    for (size_t k = begin; k < end; k++)
        m->failed[k] =
            work_of(m, m->level[k]) <= PARALLEL && !factor_node(m, m->level[k], false, worker);
}

static bool all_good(const multifrontal *m, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (m->failed[i])
            return false;
    return true;
}

static bool factor_level(multifrontal *m, const uint32_t *node, size_t count)
{
    m->level = node;
    kiln_parallel_for(m->context, count, 1, factor_side_by_side, m);
    bool good = all_good(m, count);
    for (size_t k = 0; k < count && good; k++)
        good = work_of(m, node[k]) <= PARALLEL || factor_node(m, node[k], true, 0);
    return good;
}

static kiln_status factor(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                          kiln_solve_outcome *outcome, kiln_error *error)
{
    multifrontal *m = self;
    const kiln_tree_cut *cut = &m->by_work;
    size_t tasks = cut->task.count - 1, bytes = tasks + cut->top.count + 1;
    (void)report;
    m->begun = true;
    m->matrix = matrix;
    m->failed = kiln_resize(m->context, NULL, 0, bytes);
    if (!m->failed)
        return kiln_fail_memory(error, bytes);
    kiln_parallel_for(m->context, tasks, 1, factor_tasks, m);
    bool good = all_good(m, tasks);
    for (size_t l = 0; l + 1 < cut->level.count && good; l++) {
        uint32_t first = cut->level.data[l];
        good = factor_level(m, cut->top.data + first, cut->level.data[l + 1] - first);
    }
    kiln_release(m->context, m->failed, bytes);
    *outcome = good ? KILN_SOLVE_OK : KILN_SOLVE_NOT_POSITIVE;
    return KILN_OK;
}

/* --- solve --- */

static double *room_of(const multifrontal *m, int worker)
{
    return m->vector.data + m->block * m->symbolic.rows + (size_t)worker * ROOM * m->widest;
}

/* The numbers of some rows, or places. */
static void fetch(const multifrontal *m, const double *from, const uint32_t *row, size_t count,
                  double *to)
{
    size_t n = m->block;
    if (n == 3)
        for (size_t k = 0; k < count; k++)
            for (size_t r = 0; r < 3; r++)
                to[3 * k + r] = from[3 * (size_t)row[k] + r];
    else
        for (size_t k = 0; k < count; k++)
            for (size_t r = 0; r < n; r++)
                to[n * k + r] = from[n * row[k] + r];
}

/* F4 */
static void go_forward(const multifrontal *m, uint32_t i, int worker)
{
    static void (*const forward[])(const kiln_front *, double *) =
        KILN_SIMD_TABLE(kiln_front_forward);
    const kiln_supernode *node = node_at(m, i);
    kiln_front f = front_of(m, i, worker);
    size_t n = m->block, own = n * node->width;
    double *v = room_of(m, worker), *x = m->x + n * node->first;
    uint32_t *target = m->scalar.data + (size_t)worker * m->widest;
    fetch(m, m->right, m->symbolic.order + node->first, node->width, v);
    memset(v + own, 0, (KILN_STRIP * f.strips - own) * sizeof *v);
    for (uint32_t c = node->child; c != NONE; c = node_at(m, c)->sibling) {
        const double *carry = m->carry.data + m->home[c].carry;
        size_t rows = find_targets(m, c, target);
        for (size_t k = 0; k < rows; k++)
            v[target[k]] += carry[k];
    }
    forward[m->context->isa](&f, v);
    memcpy(x, v, own * sizeof *v);
    memcpy(m->carry.data + m->home[i].carry, v + f.columns, n * node->rows * sizeof *v);
}

static void go_backward(const multifrontal *m, uint32_t i, int worker)
{
    static void (*const backward[])(const kiln_front *, double *, double *) =
        KILN_SIMD_TABLE(kiln_front_backward);
    const kiln_supernode *node = node_at(m, i);
    const uint32_t *row = m->symbolic.order + node->first;
    kiln_front f = front_of(m, i, worker);
    size_t n = m->block, own = n * node->width;
    double *v = room_of(m, worker), *x = m->x + n * node->first;
    memcpy(v, x, own * sizeof *v);
    memset(v + own, 0, (KILN_STRIP * f.strips - own) * sizeof *v);
    fetch(m, m->x, m->symbolic.row + node->row, node->rows, v + f.columns);
    backward[m->context->isa](&f, v, v + m->widest);
    memcpy(x, v, own * sizeof *v);
    for (uint32_t k = 0; k < node->width; k++)
        for (size_t r = 0; r < n; r++)
            m->result[n * row[k] + r] = v[n * k + r];
}

static void forward_tasks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const multifrontal *m = user;
    const kiln_tree_cut *cut = &m->by_size;
    (void)chunk;
    for (size_t at = begin; at < end; at++) {
        uint32_t t = cut->turn.data[at];
        for (uint32_t k = cut->task.data[t]; k < cut->task.data[t + 1]; k++)
            for (uint32_t i = cut->begin.data[k]; i <= cut->root.data[k]; i++)
                go_forward(m, i, worker);
    }
}

static void backward_tasks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const multifrontal *m = user;
    const kiln_tree_cut *cut = &m->by_size;
    (void)chunk;
    for (size_t at = begin; at < end; at++) {
        uint32_t t = cut->turn.data[at];
        for (uint32_t k = cut->task.data[t]; k < cut->task.data[t + 1]; k++)
            for (uint32_t i = cut->root.data[k] + 1; i-- > cut->begin.data[k];)
                go_backward(m, i, worker);
    }
}

static kiln_status solve(void *self, const kiln_bsr *matrix, const double *b, double *x,
                         kiln_solver_report *report, kiln_solve_outcome *outcome, kiln_error *error)
{
    multifrontal *m = self;
    size_t tasks = m->by_size.task.count - 1;
    const kiln_u32_array *top = &m->by_size.top;
    (void)matrix;
    (void)report;
    (void)error;
    m->x = m->vector.data;
    m->right = b;
    m->result = x;
    kiln_parallel_for(m->context, tasks, 1, forward_tasks, m);
    for (size_t k = 0; k < top->count; k++)
        go_forward(m, top->data[k], 0);
    for (size_t k = top->count; k-- > 0;)
        go_backward(m, top->data[k], 0);
    kiln_parallel_for(m->context, tasks, 1, backward_tasks, m);
    *outcome = KILN_SOLVE_OK;
    return KILN_OK;
}

const kiln_solver_backend kiln_solver_multifrontal = {
    .name = "multifrontal",
    .help = "Cholesky factor by fronts, the same bits for any number of threads",
    .direct = true,
    .create = create,
    .destroy = destroy,
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .forget = forget,
    .set_ground = set_ground,
    .reconsider = reconsider};

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
 *    until the solver is reconsidered: patterns of one minimisation differ little.
 *
 * F6 Where it may, the factor is one of floats, of the matrix scaled to a diagonal of about one.
 *    Where a pivot fails then, or the first solve leaves too much of its right side, there is a
 *    factor of doubles after all, and no other kind until the solver is reconsidered.
 *
 * F7 Of quasidefinite matrices (solver.h) the pivots of every fourth column are negative, whatever
 *    the order (Vanderbei 1995): L Z L' with Z known beforehand, by kernels of their own. */
#include "base/parallel.h"
#include "solve/front_heap.h"
#include "solve/multifrontal.h"
#include "solve/vectors.h"

#include <string.h>

#define NONE KILN_NO_PLACE

enum { FACTOR_TASKS = 8, SOLVE_TASKS = 3 }; /* for each thread, at least */
static const double ROUGH = 1e-3;           /* F6: of the right side */

/* --- analysis --- */

/* The U of nodes that are done at the same time while their children's are still there, which then
 * go. */
static kiln_status play(kiln_multifrontal *m, kiln_front_heap *heap, const uint32_t *node,
                        size_t count, bool shared, kiln_error *error)
{
    for (size_t k = 0; k < count; k++) {
        kiln_front_home *h = &m->home[node[k]];
        if (h->shared == shared)
            KILN_TRY(kiln_front_heap_claim(heap, h->size, &h->U, error));
    }
    for (size_t k = 0; k < count; k++)
        for (uint32_t c = kiln_node_at(m, node[k])->child; c != NONE;
             c = kiln_node_at(m, c)->sibling)
            if (m->home[c].shared == shared)
                KILN_TRY(kiln_front_heap_give_back(heap, m->home[c].U, m->home[c].size, error));
    return KILN_OK;
}

/* F1 */
static kiln_status plan_heaps(kiln_multifrontal *m, kiln_front_heap *heap, kiln_error *error)
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
        kiln_front_home *h = &m->home[cut->root.data[t]];
        KILN_TRY(kiln_front_heap_claim(heap, h->size, &h->U, error));
    }
    for (size_t l = 0; l + 1 < cut->level.count; l++) {
        uint32_t first = cut->level.data[l], count = cut->level.data[l + 1] - first;
        KILN_TRY(play(m, heap, cut->top.data + first, count, true, error));
    }
    m->shared_size = (size_t)heap->end;
    return KILN_OK;
}

/* Sizes of what belongs to each node. */
static void measure(kiln_multifrontal *m)
{
    uint64_t L = 0, carry = 0;
    m->flops = m->entries = 0.0;
    m->widest = 0;
    for (uint32_t i = 0; i < m->symbolic.count; i++) {
        const kiln_supernode *node = kiln_node_at(m, i);
        size_t columns = kiln_node_columns(m, i), under = kiln_node_strips_below(m, i), rows;
        rows = columns + KILN_STRIP * under;
        m->home[i] = (kiln_front_home){.L = L, .size = kiln_front_triangle(under), .carry = carry};
        L += columns * rows;
        carry += KILN_STRIP * under;
        m->widest = rows > m->widest ? rows : m->widest;
        double own = (double)m->block * node->width;
        m->entries += own * (0.5 * (own + 1.0) + (double)m->block * node->rows);
        m->flops += kiln_node_work(m, i);
    }
    m->L_size = (size_t)L;
    m->carry.count = (size_t)carry;
}

static double size_of(const kiln_multifrontal *m, uint32_t i)
{
    return (double)kiln_node_columns(m, i) *
           (double)(kiln_node_columns(m, i) + KILN_STRIP * kiln_node_strips_below(m, i));
}

/* Into as many subtrees as `tasks` for each thread, or more, of about the same cost. */
static kiln_status cut_by(const kiln_multifrontal *m,
                          double (*cost)(const kiln_multifrontal *, uint32_t), double least,
                          int tasks, double *below, kiln_tree_cut *to, kiln_error *error)
{
    double all = 0.0;
    memset(below, 0, m->symbolic.count * sizeof *below);
    for (uint32_t i = 0; i < m->symbolic.count; i++) {
        uint32_t parent = kiln_node_at(m, i)->parent;
        below[i] += cost(m, i) + least;
        all += cost(m, i) + least;
        if (parent != NONE)
            below[parent] += below[i];
    }
    return kiln_tree_cut_make(to, &m->symbolic, below, all / (double)(tasks * m->context->threads),
                              error);
}

/* Nodes whose U outlives their task. */
static void share(kiln_multifrontal *m)
{
    for (size_t t = 0; t < m->by_work.root.count; t++)
        m->home[m->by_work.root.data[t]].shared = true;
    for (size_t k = 0; k < m->by_work.top.count; k++)
        m->home[m->by_work.top.data[k]].shared = true;
}

static kiln_status reserve(const kiln_multifrontal *m, kiln_f64_array *array, size_t numbers,
                           kiln_error *error)
{
    return kiln_array_reserve(m->context, array, numbers * m->kernels->bytes / sizeof(double) + 64,
                              error);
}

static kiln_status reserve_fronts(kiln_multifrontal *m, kiln_error *error)
{
    KILN_TRY(reserve(m, &m->L, m->L_size, error));
    KILN_TRY(reserve(m, &m->own, m->own_size * (size_t)m->context->threads, error));
    return reserve(m, &m->shared, m->shared_size, error);
}

static kiln_status reserve_vectors(kiln_multifrontal *m, kiln_error *error)
{
    size_t workers = (size_t)m->context->threads;
    KILN_TRY(kiln_array_reserve(m->context, &m->carry, m->carry.count + 64, error));
    KILN_TRY(kiln_array_reserve(
        m->context, &m->vector,
        m->block * m->symbolic.rows + workers * KILN_FRONT_ROOM * m->widest + 64, error));
    return kiln_array_reserve(m->context, &m->scalar, workers * m->widest + 64, error);
}

/* Also what the factor needs, so that an analysis finds out whether there is memory for it. */
static kiln_status choose_precision(kiln_multifrontal *m, bool single, kiln_error *error)
{
    static const kiln_front_kernels *const kernels[2][2][KILN_ISA_COUNT] = {
        {{&kiln_front_double_scalar, &kiln_front_double_avx2, &kiln_front_double_avx512},
         {&kiln_front_single_scalar, &kiln_front_single_avx2, &kiln_front_single_avx512}},
        {{&kiln_front_signed_double_scalar, &kiln_front_signed_double_avx2,
          &kiln_front_signed_double_avx512},
         {&kiln_front_signed_single_scalar, &kiln_front_signed_single_avx2,
          &kiln_front_signed_single_avx512}}};
    m->kernels = kernels[m->quasidefinite][single][m->context->isa];
    m->single = single;
    m->checked = false;
    size_t count = m->block * m->symbolic.rows;
    if (single) {
        KILN_TRY(kiln_array_reserve(m->context, &m->scale, count + 1, error));
        KILN_TRY(kiln_array_reserve(m->context, &m->scratch, 3 * count + 1, error));
    }
    return reserve_fronts(m, error);
}

static kiln_status plan(kiln_multifrontal *m, kiln_error *error)
{
    size_t count = m->symbolic.count, bytes = (count + 1) * sizeof(double);
    kiln_front_heap heap = {.context = m->context};
    m->home = kiln_resize(m->context, NULL, 0, (count + 1) * sizeof *m->home);
    m->empty = kiln_resize(m->context, NULL, 0, count + 1);
    double *below = kiln_resize(m->context, NULL, 0, bytes);
    kiln_status status = KILN_OK;
    if (!m->home || !m->empty || !below)
        status = kiln_fail_memory(error, bytes);
    if (status == KILN_OK) {
        measure(m);
        status = cut_by(m, kiln_node_work, 1e3, FACTOR_TASKS, below, &m->by_work, error);
        share(m);
    }
    if (status == KILN_OK)
        status = cut_by(m, size_of, 100.0, SOLVE_TASKS, below, &m->by_size, error);
    if (status == KILN_OK)
        status = plan_heaps(m, &heap, error);
    if (status == KILN_OK)
        status = reserve_vectors(m, error);
    if (status == KILN_OK)
        status = choose_precision(m, m->may_be_single && !m->wary, error);
    kiln_front_heap_free(&heap);
    kiln_release(m->context, below, bytes);
    return status;
}

static void forget_tree(kiln_multifrontal *m)
{
    kiln_release(m->context, m->home, (m->symbolic.count + 1) * sizeof *m->home);
    kiln_release(m->context, m->empty, m->symbolic.count + 1);
    m->home = NULL;
    m->empty = NULL;
    kiln_symbolic_free(&m->symbolic);
}

static void forget(void *self)
{
    kiln_multifrontal *m = self;
    forget_tree(m);
    kiln_dissection_free(m->context, &m->base);
    kiln_dissection_free(m->context, &m->recent);
    m->based = m->recently = m->begun = false;
    kiln_tree_cut_free(m->context, &m->by_work);
    kiln_tree_cut_free(m->context, &m->by_size);
    kiln_array_free(m->context, &m->L);
    kiln_array_free(m->context, &m->shared);
    kiln_array_free(m->context, &m->own);
    kiln_array_free(m->context, &m->carry);
    kiln_array_free(m->context, &m->vector);
    kiln_array_free(m->context, &m->scalar);
    kiln_array_free(m->context, &m->scale);
    kiln_array_free(m->context, &m->scratch);
}

static kiln_status create(kiln_context *context, const kiln_solver_options *options, void **self,
                          kiln_error *error)
{
    kiln_multifrontal *m = kiln_resize(context, NULL, 0, sizeof *m);
    if (!m)
        return kiln_fail_memory(error, sizeof *m);
    *m = (kiln_multifrontal){.context = context, .quasidefinite = options->quasidefinite};
    *self = m;
    return KILN_OK;
}

static void destroy(void *self)
{
    kiln_multifrontal *m = self;
    forget(m);
    kiln_release(m->context, m, sizeof *m);
}

static void drop_recent(kiln_multifrontal *m)
{
    kiln_dissection_free(m->context, &m->recent);
    m->recently = false;
}

static kiln_status dissect(kiln_multifrontal *m, const kiln_row_graph *graph, uint64_t pattern,
                           kiln_error *error)
{
    drop_recent(m);
    kiln_dissection_free(m->context, &m->base);
    kiln_status status = kiln_dissect(m->context, graph, &m->base, error);
    m->based = status == KILN_OK;
    m->base_pattern = pattern;
    return status;
}

static kiln_status find_ground(kiln_multifrontal *m, kiln_error *error)
{
    const kiln_bsr *pattern;
    kiln_row_graph graph = {0};
    KILN_TRY(m->ground->find(m->ground->user, &pattern, error));
    if (m->based && m->base_pattern == pattern->pattern)
        return KILN_OK;
    kiln_status status = kiln_row_graph_make(pattern, &graph, error);
    if (status == KILN_OK)
        status = dissect(m, &graph, pattern->pattern, error);
    kiln_row_graph_free(m->context, &graph);
    return status;
}

static kiln_status build_tree(kiln_multifrontal *m, const kiln_bsr *matrix,
                              const kiln_row_graph *graph, const uint32_t *order, kiln_error *error)
{
    return kiln_symbolic_build(&m->symbolic, m->context, matrix, graph, order, m->aside, error);
}

/* The tree of fronts for a matrix that has the couplings that last, and perhaps others. F5 */
static kiln_status find_tree(kiln_multifrontal *m, const kiln_bsr *matrix,
                             const kiln_row_graph *graph, kiln_error *error)
{
    if (m->ground)
        KILN_TRY(find_ground(m, error));
    else if (!m->based || m->base_pattern != matrix->pattern)
        KILN_TRY(dissect(m, graph, matrix->pattern, error));
    if (!m->begun || m->base_pattern == matrix->pattern)
        drop_recent(m);
    m->pure = !m->recently;
    if (m->base_pattern == matrix->pattern)
        return build_tree(m, matrix, graph, m->base.order, error);
    kiln_dissection mended = {0};
    KILN_TRY(kiln_dissection_repair(m->context, m->recently ? &m->recent : &m->base, graph, &mended,
                                    error));
    kiln_status status = build_tree(m, matrix, graph, mended.order, error);
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
    kiln_multifrontal *m = self;
    m->begun = m->wary = false;
    return m->pure;
}

static void set_single(void *self, bool single)
{
    kiln_multifrontal *m = self;
    m->may_be_single = single;
}

static void set_ground(void *self, const kiln_solver_ground *ground)
{
    kiln_multifrontal *m = self;
    m->ground = ground;
}

static void set_aside(void *self, kiln_solver_aside *aside)
{
    kiln_multifrontal *m = self;
    m->aside = aside;
}

/* Room for numbers stays: patterns that change with contact have factors of much the same size. */
static kiln_status analyse(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                           kiln_error *error)
{
    kiln_multifrontal *m = self;
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
    size_t own = m->own_size * (size_t)m->context->threads;
    report->bytes = (m->L_size + m->shared_size + own + m->carry.count) * sizeof(double) +
                    kiln_symbolic_bytes(&m->symbolic); /* of doubles: it may have to be that */
    return KILN_OK;
}

/* --- numbers --- */

static kiln_status factor(void *self, const kiln_bsr *matrix, kiln_solver_report *report,
                          kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_multifrontal *m = self;
    bool good;
    m->begun = true;
    KILN_TRY(choose_precision(m, m->may_be_single && !m->wary, error));
    KILN_TRY(kiln_multifrontal_factor(m, matrix, &good, error));
    if (!good && m->single) {
        m->wary = true;
        KILN_TRY(choose_precision(m, false, error));
        KILN_TRY(kiln_multifrontal_factor(m, matrix, &good, error));
    }
    report->single = m->single;
    *outcome = good ? KILN_SOLVE_OK : KILN_SOLVE_NOT_POSITIVE;
    return KILN_OK;
}

/* Whether what x leaves of b is little, both scaled as the matrix is. */
static kiln_status check(kiln_multifrontal *m, const kiln_bsr *matrix, const double *b,
                         const double *x, bool *good, kiln_error *error)
{
    size_t count = m->block * m->symbolic.rows;
    double *r = m->scratch.data, *scaled = r + count, rest, all;
    KILN_TRY(kiln_bsr_multiply(matrix, x, r, error));
    for (size_t i = 0; i < count; i++) {
        r[i] = m->scale.data[i] * (b[i] - r[i]);
        scaled[i] = m->scale.data[i] * b[i];
    }
    rest = kiln_vector_dot(m->context, r, r, count);
    all = kiln_vector_dot(m->context, scaled, scaled, count);
    *good = rest <= ROUGH * ROUGH * all;
    m->checked = all > 0.0;
    return KILN_OK;
}

/* F6 */
static kiln_status turn_double(kiln_multifrontal *m, const kiln_bsr *matrix, const double *b,
                               double *x, kiln_solve_outcome *outcome, kiln_error *error)
{
    bool good;
    m->wary = true;
    KILN_TRY(choose_precision(m, false, error));
    KILN_TRY(kiln_multifrontal_factor(m, matrix, &good, error));
    *outcome = good ? KILN_SOLVE_OK : KILN_SOLVE_NOT_POSITIVE;
    if (good)
        kiln_multifrontal_solve(m, b, x);
    return KILN_OK;
}

static kiln_status solve_single(kiln_multifrontal *m, const kiln_bsr *matrix, const double *b,
                                double *x, kiln_solve_outcome *outcome, kiln_error *error)
{
    size_t count = m->block * m->symbolic.rows;
    double *kept = m->scratch.data + 2 * count; /* x may be b */
    bool good;
    if (m->checked) {
        kiln_multifrontal_solve(m, b, x);
        return KILN_OK;
    }
    memcpy(kept, b, count * sizeof *b);
    kiln_multifrontal_solve(m, kept, x);
    KILN_TRY(check(m, matrix, kept, x, &good, error));
    return good ? KILN_OK : turn_double(m, matrix, kept, x, outcome, error);
}

static kiln_status solve(void *self, const kiln_bsr *matrix, const double *b, double *x,
                         kiln_solver_report *report, kiln_solve_outcome *outcome, kiln_error *error)
{
    kiln_multifrontal *m = self;
    *outcome = KILN_SOLVE_OK;
    if (m->single)
        KILN_TRY(solve_single(m, matrix, b, x, outcome, error));
    else
        kiln_multifrontal_solve(m, b, x);
    report->single = m->single;
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
    .set_aside = set_aside,
    .set_single = set_single,
    .reconsider = reconsider};

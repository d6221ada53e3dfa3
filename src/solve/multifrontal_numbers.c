/* Numbers of the multifrontal solver: F2, F3, F4 and F6 of solver_multifrontal.c. */
#include "base/parallel.h"
#include "solve/multifrontal.h"
#include "solve/vectors.h"

#include <math.h>
#include <string.h>

#define NONE KILN_NO_PLACE

static const double PARALLEL = 1e6; /* operations of a front that all threads share */
enum { STRIP_GRAIN = 6, ADD_GRAIN = 8 } /* strips */;
enum { SCALE_GRAIN = 256 }; /* rows */

/* The first scalar row (and column) of a block row of the front. */
KILN_INLINE size_t scalar_row(const kiln_multifrontal *m, const kiln_supernode *node,
                              size_t columns, uint32_t row)
{
    return row < node->width ? (size_t)m->block * row
                             : columns + (size_t)m->block * (row - node->width);
}

static void *number_at(const kiln_multifrontal *m, const kiln_f64_array *array, uint64_t at)
{
    return (char *)array->data + at * m->kernels->bytes;
}

static void *U_of(const kiln_multifrontal *m, uint32_t i, int worker)
{
    const kiln_front_home *h = &m->home[i];
    return h->shared ? number_at(m, &m->shared, h->U)
                     : number_at(m, &m->own, (size_t)worker * m->own_size + h->U);
}

static kiln_front front_of(const kiln_multifrontal *m, uint32_t i, int worker)
{
    size_t columns = kiln_node_columns(m, i);
    return (kiln_front){.L = number_at(m, &m->L, m->home[i].L),
                        .U = U_of(m, i, worker),
                        .columns = columns,
                        .strips = columns / KILN_STRIP + kiln_node_strips_below(m, i)};
}

/* --- factor --- */

static void add_entry(const kiln_multifrontal *m, const kiln_supernode *node, const kiln_front *f,
                      const kiln_front_entry *e)
{
    size_t n = m->block, stride;
    const double *value = kiln_bsr_place(m->matrix, m->block, e->matrix_row, e->block, &stride);
    size_t row = scalar_row(m, node, f->columns, e->row), column = n * e->column;
    double block[KILN_BSR_MOST * KILN_BSR_MOST];
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            block[n * r + c] = e->turned ? value[c * stride + r] : value[r * stride + c];
    if (m->single) {
        uint32_t other = m->matrix->column[e->block];
        const double *left = m->scale.data + n * (e->turned ? other : e->matrix_row);
        const double *right = m->scale.data + n * (e->turned ? e->matrix_row : other);
        for (size_t r = 0; r < n; r++)
            for (size_t c = 0; c < n; c++)
                block[n * r + c] *= left[r] * right[c];
    }
    m->kernels->add_block(f, row, column, block, n, e->row == e->column);
}

/* Where the scalar rows of a node's U go in the front of its parent. */
static size_t find_targets(const kiln_multifrontal *m, uint32_t child, uint32_t *target)
{
    const kiln_supernode *c = kiln_node_at(m, child), *parent = kiln_node_at(m, c->parent);
    const uint32_t *relative = m->symbolic.relative + c->row;
    size_t columns = kiln_node_columns(m, c->parent), n = m->block;
    for (uint32_t k = 0; k < c->rows; k++) {
        size_t row = scalar_row(m, parent, columns, relative[k]);
        for (size_t r = 0; r < n; r++)
            target[n * k + r] = (uint32_t)(row + r);
    }
    return n * c->rows;
}

typedef struct addition {
    const kiln_front_kernels *kernels;
    const kiln_front *to;
    const void *U;
    const uint32_t *target;
    size_t rows; /* scalar rows of U */
} addition;

static void add_strips(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const addition *a = user;
    a->kernels->add_strips(a->to, a->U, a->target, a->rows, begin, end);
}

/* F3 */
static void assemble(const kiln_multifrontal *m, uint32_t i, const kiln_front *f, int worker)
{
    const kiln_supernode *node = kiln_node_at(m, i);
    uint32_t *target = m->scalar.data + (size_t)worker * m->widest;
    m->kernels->clear(f, (size_t)m->block * node->width);
    for (uint64_t e = node->entry; e < node->entry + node->entries; e++)
        add_entry(m, node, f, &m->symbolic.entry[e]);
    for (uint32_t c = node->child; c != NONE; c = kiln_node_at(m, c)->sibling) {
        addition a = {m->kernels, f, U_of(m, c, worker), target, find_targets(m, c, target)};
        kiln_parallel_for(m->context, kiln_node_strips_below(m, c), ADD_GRAIN, add_strips, &a);
    }
}

typedef struct elimination {
    const kiln_front *front;
    const kiln_front_kernels *kernels;
    size_t p0, p1;
} elimination;

static void solve_strips(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const elimination *e = user;
    (void)chunk;
    (void)worker;
    e->kernels->solve(e->front, e->p0, e->p1, e->p1 + begin, e->p1 + end);
}

static void update_strips(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const elimination *e = user;
    (void)chunk;
    (void)worker;
    e->kernels->update(e->front, e->p0, e->p1, e->p1 + begin, e->p1 + end);
}

static bool eliminate(const kiln_multifrontal *m, const kiln_front *f, bool together)
{
    kiln_context *context = m->context;
    size_t own = f->columns / KILN_STRIP;
    for (size_t p = 0; p < own; p += KILN_PANEL) {
        elimination e = {f, m->kernels, p, p + KILN_PANEL < own ? p + KILN_PANEL : own};
        size_t rest = f->strips - e.p1, grain = together ? STRIP_GRAIN : rest;
        if (!m->kernels->factor(f, e.p0, e.p1))
            return false;
        kiln_parallel_for(context, rest, grain, solve_strips, &e);
        kiln_parallel_for(context, rest, grain, update_strips, &e);
    }
    return true;
}

static bool factor_node(const kiln_multifrontal *m, uint32_t i, bool together, int worker)
{
    kiln_front f = front_of(m, i, worker);
    assemble(m, i, &f, worker);
    return eliminate(m, &f, together);
}

static void factor_tasks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const kiln_multifrontal *m = user;
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
    const kiln_multifrontal *m = user;
    (void)chunk;
    for (size_t k = begin; k < end; k++)
        m->failed[k] = kiln_node_work(m, m->level[k]) <= PARALLEL &&
                       !factor_node(m, m->level[k], false, worker);
}

static bool all_good(const kiln_multifrontal *m, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (m->failed[i])
            return false;
    return true;
}

static bool factor_level(kiln_multifrontal *m, const uint32_t *node, size_t count)
{
    m->level = node;
    kiln_parallel_for(m->context, count, 1, factor_side_by_side, m);
    bool good = all_good(m, count);
    for (size_t k = 0; k < count && good; k++)
        good = kiln_node_work(m, node[k]) <= PARALLEL || factor_node(m, node[k], true, 0);
    return good;
}

/* F6: infinite where the diagonal is not of its sign. */
static void scale_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    kiln_multifrontal *m = user;
    const kiln_bsr *matrix = m->matrix;
    size_t n = m->block, stride;
    for (size_t row = begin; row < end; row++) {
        const double *at =
            kiln_bsr_place(matrix, matrix->block, (uint32_t)row, matrix->start[row], &stride);
        for (size_t r = 0; r < n; r++) {
            int exponent;
            double d = m->quasidefinite && r == 3 ? -at[(stride + 1) * r] : at[(stride + 1) * r];
            frexp(d, &exponent);
            m->scale.data[n * row + r] = d > 0.0 ? ldexp(1.0, -(exponent / 2)) : INFINITY;
        }
    }
}

static bool find_scale(kiln_multifrontal *m)
{
    size_t rows = m->matrix->rows;
    kiln_parallel_for(m->context, rows, SCALE_GRAIN, scale_chunk, m);
    m->largest_scale = kiln_vector_largest(m->context, m->scale.data, m->block * rows);
    return isfinite(m->largest_scale);
}

kiln_status kiln_multifrontal_factor(kiln_multifrontal *m, const kiln_bsr *matrix, bool *good,
                                     kiln_error *error)
{
    const kiln_tree_cut *cut = &m->by_work;
    size_t tasks = cut->task.count - 1, bytes = tasks + cut->top.count + 1;
    m->matrix = matrix;
    *good = !m->single || find_scale(m);
    if (!*good)
        return KILN_OK;
    m->failed = kiln_resize(m->context, NULL, 0, bytes);
    if (!m->failed)
        return kiln_fail_memory(error, bytes);
    kiln_parallel_for(m->context, tasks, 1, factor_tasks, m);
    *good = all_good(m, tasks);
    for (size_t l = 0; l + 1 < cut->level.count && *good; l++) {
        uint32_t first = cut->level.data[l];
        *good = factor_level(m, cut->top.data + first, cut->level.data[l + 1] - first);
    }
    kiln_release(m->context, m->failed, bytes);
    return KILN_OK;
}

/* --- solve --- */

static double *room_of(const kiln_multifrontal *m, int worker)
{
    size_t room = (size_t)KILN_FRONT_ROOM * m->widest;
    return m->vector.data + m->block * m->symbolic.rows + (size_t)worker * room;
}

/* The numbers of some rows, or places. */
static void fetch(const kiln_multifrontal *m, const double *from, const uint32_t *row, size_t count,
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

/* F6 */
static void scale_rows(const kiln_multifrontal *m, const uint32_t *row, size_t count, double unit,
                       double *v)
{
    size_t n = m->block;
    for (size_t k = 0; k < count; k++)
        for (size_t r = 0; r < n; r++)
            v[n * k + r] *= unit * m->scale.data[n * row[k] + r];
}

static bool is_zero(const double *v, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (v[i] != 0.0)
            return false;
    return true;
}

/* F4. Right sides may be zero but for few rows (amend.h); what stays zero is not worth reading L.
 */
static void go_forward(const kiln_multifrontal *m, uint32_t i, int worker)
{
    const kiln_supernode *node = kiln_node_at(m, i);
    kiln_front f = front_of(m, i, worker);
    size_t n = m->block, own = n * node->width;
    double *v = room_of(m, worker), *x = m->x + n * node->first;
    uint32_t *target = m->scalar.data + (size_t)worker * m->widest;
    fetch(m, m->right, m->symbolic.order + node->first, node->width, v);
    memset(v + own, 0, (KILN_STRIP * f.strips - own) * sizeof *v);
    if (m->single)
        scale_rows(m, m->symbolic.order + node->first, node->width, m->unit, v);
    m->empty[i] = is_zero(v, own);
    for (uint32_t c = node->child; c != NONE; c = kiln_node_at(m, c)->sibling) {
        if (m->empty[c])
            continue;
        m->empty[i] = false;
        const double *carry = m->carry.data + m->home[c].carry;
        size_t rows = find_targets(m, c, target);
        for (size_t k = 0; k < rows; k++)
            v[target[k]] += carry[k];
    }
    if (!m->empty[i])
        m->kernels->forward(&f, v, v + m->widest);
    memcpy(x, v, own * sizeof *v);
    if (m->empty[i])
        return;
    memcpy(m->carry.data + m->home[i].carry, v + f.columns, n * node->rows * sizeof *v);
}

static void go_backward(const kiln_multifrontal *m, uint32_t i, int worker)
{
    const kiln_supernode *node = kiln_node_at(m, i);
    const uint32_t *row = m->symbolic.order + node->first;
    kiln_front f = front_of(m, i, worker);
    size_t n = m->block, own = n * node->width;
    double *v = room_of(m, worker), *x = m->x + n * node->first;
    memcpy(v, x, own * sizeof *v);
    memset(v + own, 0, (KILN_STRIP * f.strips - own) * sizeof *v);
    fetch(m, m->x, m->symbolic.row + node->row, node->rows, v + f.columns);
    m->kernels->backward(&f, v, v + m->widest);
    memcpy(x, v, own * sizeof *v);
    if (m->single)
        scale_rows(m, row, node->width, 1.0 / m->unit, v);
    for (uint32_t k = 0; k < node->width; k++)
        for (size_t r = 0; r < n; r++)
            m->result[n * row[k] + r] = v[n * k + r];
}

static void forward_tasks(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const kiln_multifrontal *m = user;
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
    const kiln_multifrontal *m = user;
    const kiln_tree_cut *cut = &m->by_size;
    (void)chunk;
    for (size_t at = begin; at < end; at++) {
        uint32_t t = cut->turn.data[at];
        for (uint32_t k = cut->task.data[t]; k < cut->task.data[t + 1]; k++)
            for (uint32_t i = cut->root.data[k] + 1; i-- > cut->begin.data[k];)
                go_backward(m, i, worker);
    }
}

void kiln_multifrontal_solve(kiln_multifrontal *m, const double *b, double *x)
{
    size_t tasks = m->by_size.task.count - 1;
    const kiln_u32_array *top = &m->by_size.top;
    m->x = m->vector.data;
    m->right = b;
    m->result = x;
    if (m->single) { /* numbers of at most about one go in */
        int exponent;
        double most = kiln_vector_largest(m->context, b, m->block * m->symbolic.rows);
        frexp(most * m->largest_scale, &exponent);
        m->unit = ldexp(1.0, -exponent);
    }
    kiln_parallel_for(m->context, tasks, 1, forward_tasks, m);
    for (size_t k = 0; k < top->count; k++)
        go_forward(m, top->data[k], 0);
    for (size_t k = top->count; k-- > 0;)
        go_backward(m, top->data[k], 0);
    kiln_parallel_for(m->context, tasks, 1, backward_tasks, m);
}

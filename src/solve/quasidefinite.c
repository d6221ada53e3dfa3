#include "solve/quasidefinite.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 512 };

void kiln_quasidefinite_init(kiln_quasidefinite *q, kiln_context *context,
                             const kiln_solver_options *options)
{
    *q = (kiln_quasidefinite){.context = context, .options = *options};
    q->options.quasidefinite = true;
    kiln_bsr_init_blocks(&q->matrix, context, 4);
}

void kiln_quasidefinite_forget(kiln_quasidefinite *q)
{
    if (q->solver)
        kiln_solver_forget(q->solver);
    kiln_bsr_free(&q->matrix);
    kiln_array_free(q->context, &q->packed);
    q->pattern[0] = q->pattern[1] = 0;
}

void kiln_quasidefinite_free(kiln_quasidefinite *q)
{
    kiln_quasidefinite_forget(q);
    kiln_solver_destroy(q->solver);
    q->solver = NULL;
}

/* Rows of A's upper triangle, and rings: each with its first row as a star of pairs. */
static size_t list_pairs(const kiln_bsr *A, const kiln_equations *e, uint32_t *pair)
{
    size_t count = 0;
    for (uint32_t i = 0; i < A->rows; i++) {
        for (uint64_t b = A->start[i]; b < A->start[i + 1]; b++, count++) {
            pair[2 * count] = i;
            pair[2 * count + 1] = A->column[b];
        }
        for (uint64_t b = e->give.start[i]; b < e->give.start[i + 1]; b++, count++) {
            pair[2 * count] = i;
            pair[2 * count + 1] = e->give.column[b];
        }
    }
    return count;
}

static kiln_status set_pattern(kiln_quasidefinite *q, const kiln_bsr *A, const kiln_equations *e,
                               kiln_error *error)
{
    if (q->pattern[0] == A->pattern && q->pattern[1] == e->give.pattern &&
        q->matrix.rows == A->rows)
        return KILN_OK;
    q->pattern[0] = q->pattern[1] = 0;
    size_t bytes = 2 * (size_t)(A->start[A->rows] + e->give.start[A->rows] + 1) * sizeof(uint32_t);
    uint32_t *pair = kiln_resize(q->context, NULL, 0, bytes);
    if (!pair)
        return kiln_fail_memory(error, bytes);
    const kiln_cliques pairs = {.count = list_pairs(A, e, pair), .size = 2, .row = pair};
    kiln_status status = kiln_bsr_set_pattern(&q->matrix, A->rows, &pairs, 1, error);
    kiln_release(q->context, pair, bytes);
    KILN_TRY(status);
    q->pattern[0] = A->pattern;
    q->pattern[1] = e->give.pattern;
    return KILN_OK;
}

typedef struct filling {
    const kiln_bsr *A;
    const kiln_equations *e;
    const double *more;
    kiln_bsr *to;
} filling;

/* Of the ring of i, the entries from column i on are those of C, in the same order. */
static void fill_row(const filling *m, uint32_t i)
{
    const kiln_bsr *A = m->A, *C = &m->e->give;
    const kiln_equations *e = m->e;
    uint64_t a = A->start[i], c = C->start[i];
    uint64_t ring = e->start.data[i + 1] - (C->start[i + 1] - C->start[i]);
    for (uint64_t b = m->to->start[i]; b < m->to->start[i + 1]; b++) {
        size_t stride, width;
        uint32_t j = m->to->column[b];
        double *to = kiln_bsr_place(m->to, 4, i, b, &stride);
        if (a < A->start[i + 1] && A->column[a] == j) {
            const double *from = kiln_bsr_at(A, i, a++, &width);
            for (size_t r = 0; r < 3; r++)
                memcpy(to + r * stride, from + r * width, 3 * sizeof *to);
        }
        if (c == C->start[i + 1] || C->column[c] != j)
            continue;
        const double *own = e->value.data + 3 * ring;
        const double *other = e->value.data + 3 * (e->start.data[j] + e->mirror.data[ring]);
        for (size_t r = 0; r < 3; r++) {
            to[3 * stride + r] = own[r];
            to[r * stride + 3] = other[r];
        }
        to[3 * stride + 3] = -(C->value[c] + (i == j ? m->more[i] : 0.0));
        c++;
        ring++;
    }
}

static void fill_rows(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        fill_row(user, (uint32_t)i);
}

kiln_status kiln_quasidefinite_factor(kiln_quasidefinite *q, const kiln_bsr *A,
                                      const kiln_equations *equations, const double *more,
                                      kiln_solve_outcome *outcome, kiln_error *error)
{
    if (!q->solver)
        KILN_TRY(kiln_solver_create(q->context, &q->options, &q->solver, error));
    KILN_TRY(kiln_array_reserve(q->context, &q->packed, 4 * A->rows + 1, error));
    KILN_TRY(set_pattern(q, A, equations, error));
    kiln_bsr_clear(&q->matrix);
    filling m = {A, equations, more, &q->matrix};
    kiln_parallel_for(q->context, A->rows, GRAIN, fill_rows, &m);
    kiln_solver_set_single(q->solver, true);
    return kiln_solver_factor(q->solver, &q->matrix, outcome, error);
}

kiln_status kiln_quasidefinite_solve(kiln_quasidefinite *q, const double *v, double *z,
                                     kiln_solve_outcome *outcome, kiln_error *error)
{
    size_t rows = q->matrix.rows;
    double *packed = q->packed.data;
    for (size_t i = 0; i < rows; i++) {
        memcpy(packed + 4 * i, v + 3 * i, 3 * sizeof *v);
        packed[4 * i + 3] = v[3 * rows + i];
    }
    KILN_TRY(kiln_solver_solve(q->solver, packed, packed, outcome, error));
    for (size_t i = 0; i < rows; i++) {
        memcpy(z + 3 * i, packed + 4 * i, 3 * sizeof *z);
        z[3 * rows + i] = packed[4 * i + 3];
    }
    return KILN_OK;
}

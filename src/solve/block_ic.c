#include "solve/block_ic.h"

#include "base/parallel.h"
#include "solve/row_order.h"

#include <math.h>
#include <string.h>

enum { TRANSPOSED = 1u << 31, LEAST_ROWS = 4096, MOST_SHIFTS = 24 };

void kiln_block_ic_init(kiln_block_ic *ic, kiln_context *context)
{
    *ic = (kiln_block_ic){.context = context};
}

static size_t separator_count(const kiln_block_ic *ic)
{
    return ic->rows - ic->separators_begin;
}

void kiln_block_ic_free(kiln_block_ic *ic)
{
    kiln_context *context = ic->context;
    kiln_release(context, ic->order, ic->rows * sizeof(uint32_t));
    kiln_release(context, ic->start, (ic->rows + 1) * sizeof(uint64_t));
    kiln_release(context, ic->column, ic->blocks * sizeof(uint32_t));
    kiln_release(context, ic->source, ic->blocks * sizeof(uint32_t));
    kiln_release(context, ic->value, (ic->n * ic->n * ic->blocks + 1) * sizeof(float));
    kiln_release(context, ic->inverse, ic->rows * ic->n * ic->n * sizeof(double));
    kiln_release(context, ic->work, ic->rows * ic->n * sizeof(double));
    kiln_release(context, ic->spilled,
                 KILN_IC_PARTS * separator_count(ic) * ic->n * sizeof(double));
    kiln_block_ic_init(ic, context);
}

size_t kiln_block_ic_bytes(const kiln_block_ic *ic)
{
    size_t n = ic->n;
    return ic->rows * (sizeof(uint32_t) + sizeof(uint64_t) + n * (n + 1) * sizeof(double)) +
           ic->blocks * (2 * sizeof(uint32_t) + n * n * sizeof(float)) +
           KILN_IC_PARTS * separator_count(ic) * n * sizeof(double);
}

/* Moves the separators behind the parts. `place` is scratch and on return the inverse of order. */
static void cut_into_parts(kiln_block_ic *ic, const kiln_row_graph *graph, uint32_t *place,
                           uint32_t *scratch)
{
    size_t rows = ic->rows, parts = rows < LEAST_ROWS ? 1 : KILN_IC_PARTS;
    size_t length = (rows + parts - 1) / parts, inside = 0, apart = 0;
    for (size_t i = 0; i < rows; i++)
        place[ic->order[i]] = (uint32_t)i;
    for (size_t p = 0; p <= KILN_IC_PARTS; p++)
        ic->part_begin[p] = rows;
    for (size_t i = 0; i < rows; i++) {
        uint32_t row = ic->order[i];
        size_t part = i / length;
        bool separator = false;
        if (i % length == 0)
            ic->part_begin[part] = inside;
        for (uint64_t k = graph->start[row]; k < graph->start[row + 1]; k++)
            separator |= place[graph->neighbour[k]] / length > part;
        if (separator)
            scratch[apart++] = row;
        else
            ic->order[inside++] = row;
    }
    for (size_t p = 0; p <= KILN_IC_PARTS; p++)
        ic->part_begin[p] = ic->part_begin[p] < inside ? ic->part_begin[p] : inside;
    memcpy(ic->order + inside, scratch, apart * sizeof *scratch);
    ic->separators_begin = inside;
    for (size_t i = 0; i < rows; i++)
        place[ic->order[i]] = (uint32_t)i;
}

/* The rows of U: blocks of the matrix between places, each in the row of the earlier one. */
static void fill_pattern(kiln_block_ic *ic, const kiln_bsr *matrix, const uint32_t *place)
{
    memset(ic->start, 0, (ic->rows + 1) * sizeof(uint64_t));
    for (uint32_t i = 0; i < ic->rows; i++)
        for (uint64_t b = matrix->start[i] + 1; b < matrix->start[i + 1]; b++) {
            uint32_t p = place[i], q = place[matrix->column[b]];
            ic->start[p < q ? p : q]++;
        }
    uint64_t sum = 0;
    for (size_t k = 0; k <= ic->rows; k++) {
        uint64_t here = ic->start[k];
        ic->start[k] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < ic->rows; i++)
        for (uint64_t b = matrix->start[i] + 1; b < matrix->start[i + 1]; b++) {
            uint32_t p = place[i], q = place[matrix->column[b]];
            uint64_t at = ic->start[p < q ? p : q]++;
            ic->column[at] = p < q ? q : p;
            ic->source[at] = (uint32_t)b | (p < q ? 0 : TRANSPOSED);
        }
    memmove(ic->start + 1, ic->start, ic->rows * sizeof(uint64_t));
    ic->start[0] = 0;
    for (size_t k = 0; k < ic->rows; k++)
        for (uint64_t b = ic->start[k] + 1; b < ic->start[k + 1]; b++) {
            uint32_t column = ic->column[b], source = ic->source[b];
            uint64_t at = b;
            for (; at > ic->start[k] && ic->column[at - 1] > column; at--) {
                ic->column[at] = ic->column[at - 1];
                ic->source[at] = ic->source[at - 1];
            }
            ic->column[at] = column;
            ic->source[at] = source;
        }
}

static kiln_status allocate(kiln_block_ic *ic, kiln_error *error)
{
    kiln_context *context = ic->context;
    size_t separators = separator_count(ic), n = ic->n;
    ic->start = kiln_resize(context, NULL, 0, (ic->rows + 1) * sizeof(uint64_t));
    ic->value = kiln_resize(context, NULL, 0, (n * n * ic->blocks + 1) * sizeof(float));
    ic->inverse = kiln_resize(context, NULL, 0, ic->rows * n * n * sizeof(double));
    ic->work = kiln_resize(context, NULL, 0, ic->rows * n * sizeof(double));
    bool good = ic->start && ic->value && ic->inverse && ic->work;
    if (ic->blocks) {
        ic->column = kiln_resize(context, NULL, 0, ic->blocks * sizeof(uint32_t));
        ic->source = kiln_resize(context, NULL, 0, ic->blocks * sizeof(uint32_t));
        good = good && ic->column && ic->source;
    }
    if (separators) {
        size_t bytes = KILN_IC_PARTS * separators * n * sizeof(double);
        ic->spilled = kiln_resize(context, NULL, 0, bytes);
        good = good && ic->spilled;
    }
    return good ? KILN_OK : kiln_fail_memory(error, kiln_block_ic_bytes(ic));
}

static kiln_status analyse(kiln_block_ic *ic, const kiln_bsr *matrix, kiln_row_graph *graph,
                           uint32_t *scratch, kiln_error *error)
{
    uint32_t *place = scratch + ic->rows;
    KILN_TRY(kiln_row_graph_make(matrix, graph, error));
    kiln_row_order(graph, ic->order, scratch);
    cut_into_parts(ic, graph, place, scratch);
    KILN_TRY(allocate(ic, error));
    fill_pattern(ic, matrix, place);
    return KILN_OK;
}

kiln_status kiln_block_ic_analyse(kiln_block_ic *ic, const kiln_bsr *matrix, kiln_error *error)
{
    kiln_context *context = ic->context;
    kiln_block_ic_free(ic);
    size_t rows = matrix->rows, blocks = (size_t)matrix->start[rows] - rows;
    if (matrix->start[rows] >= TRANSPOSED)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "more than 2^31 blocks in a matrix");
    if (rows == 0)
        return KILN_OK;
    size_t scratch_bytes = 2 * rows * sizeof(uint32_t);
    uint32_t *scratch = kiln_resize(context, NULL, 0, scratch_bytes);
    ic->order = kiln_resize(context, NULL, 0, rows * sizeof(uint32_t));
    ic->n = matrix->block;
    ic->rows = ic->separators_begin = rows;
    ic->blocks = blocks;
    kiln_row_graph graph = {0};
    kiln_status status = scratch && ic->order ? analyse(ic, matrix, &graph, scratch, error)
                                              : kiln_fail_memory(error, scratch_bytes);
    kiln_row_graph_free(context, &graph);
    kiln_release(context, scratch, scratch_bytes);
    if (status != KILN_OK)
        kiln_block_ic_free(ic);
    return status;
}

static bool invert_three(const double *a, double least, double *inverse)
{
    double d0 = a[0], l1 = a[3] / d0, l2 = a[6] / d0;
    double d1 = a[4] - l1 * a[3], m = a[7] - l2 * a[3], l3 = m / d1;
    double d2 = a[8] - l2 * a[6] - l3 * m;
    if (!(d0 > 0.0 && d1 > least * a[4] && d2 > least * a[8] && a[4] > 0.0 && a[8] > 0.0))
        return false;
    /* (L D L')^-1 with L^-1 = [1; -l1 1; l1 l3 - l2, -l3, 1]. */
    double e0 = 1.0 / d0, e1 = 1.0 / d1, e2 = 1.0 / d2, k = l1 * l3 - l2;
    inverse[0] = e0 + l1 * l1 * e1 + k * k * e2;
    inverse[1] = inverse[3] = -l1 * e1 - k * l3 * e2;
    inverse[2] = inverse[6] = k * e2;
    inverse[4] = e1 + l3 * l3 * e2;
    inverse[5] = inverse[7] = -l3 * e2;
    inverse[8] = e2;
    return true;
}

/* By the Cholesky factor L: the inverse is L^-T L^-1. */
static bool invert_any(size_t n, const double *a, double least, double *inverse)
{
    enum { MOST = KILN_BSR_MOST };
    double l[MOST][MOST] = {{0.0}}, m[MOST][MOST] = {{0.0}};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[n * i + j];
            for (size_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > least * a[n * i + i] && a[n * i + i] > 0.0))
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t k = j; k < i; k++)
                sum -= l[i][k] * m[k][j];
            m[i][j] = sum / l[i][i];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            inverse[n * i + j] = 0.0;
            for (size_t k = i > j ? i : j; k < n; k++)
                inverse[n * i + j] += m[k][i] * m[k][j];
        }
    return true;
}

bool kiln_invert_positive(size_t n, const double *a, double least, double *inverse)
{
    return n == 3 ? invert_three(a, least, inverse) : invert_any(n, a, least, inverse);
}

/* In the functions to `try_blocks` the size n of the blocks is a constant where they are inlined.
 * Blocks in the order of the factor, with the diagonal apart. */
KILN_INLINE void load_blocks(const kiln_block_ic *ic, const kiln_bsr *matrix, size_t n,
                             double shift, double *diagonal, double *block)
{
    for (size_t k = 0; k < ic->rows; k++) {
        uint32_t row = ic->order[k];
        size_t stride;
        const double *at = kiln_bsr_place(matrix, (uint32_t)n, row, matrix->start[row], &stride);
        for (size_t r = 0; r < n; r++)
            for (size_t c = 0; c < n; c++)
                diagonal[n * (n * k + r) + c] = at[r * stride + c] * (r == c ? 1.0 + shift : 1.0);
        for (uint64_t b = ic->start[k]; b < ic->start[k + 1]; b++) {
            bool turned = ic->source[b] & TRANSPOSED;
            uint32_t from = turned ? ic->order[ic->column[b]] : row;
            at = kiln_bsr_place(matrix, (uint32_t)n, from, ic->source[b] & ~TRANSPOSED, &stride);
            for (size_t r = 0; r < n; r++)
                for (size_t c = 0; c < n; c++)
                    block[n * (n * b + r) + c] = at[turned ? c * stride + r : r * stride + c];
        }
    }
}

/* out -= a' b */
KILN_INLINE void take_product(size_t n, double *out, const double *a, const double *b)
{
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++) {
            double sum = a[r] * b[c];
            for (size_t k = 1; k < n; k++)
                sum += a[n * k + r] * b[n * k + c];
            out[n * r + c] -= sum;
        }
}

/* A_ij -= U_ki' A_kj for the blocks i <= j of row k that the pattern has. */
KILN_INLINE void eliminate(const kiln_block_ic *ic, size_t n, size_t k, double *diagonal,
                           double *block)
{
    uint64_t end = ic->start[k + 1];
    for (uint64_t p = ic->start[k]; p < end; p++) {
        size_t i = ic->column[p];
        double u[KILN_BSR_MOST * KILN_BSR_MOST];
        const double *inverse = ic->inverse + n * n * k, *a = block + n * n * p;
        for (size_t r = 0; r < n; r++)
            for (size_t c = 0; c < n; c++) {
                double sum = inverse[n * r] * a[c];
                for (size_t m = 1; m < n; m++)
                    sum += inverse[n * r + m] * a[n * m + c];
                u[n * r + c] = sum;
            }
        for (size_t e = 0; e < n * n; e++)
            ic->value[n * n * p + e] = (float)u[e];
        take_product(n, diagonal + n * n * i, u, a);
        uint64_t at = ic->start[i], last = ic->start[i + 1];
        for (uint64_t q = p + 1; q < end && at < last; q++) {
            while (at < last && ic->column[at] < ic->column[q])
                at++;
            if (at < last && ic->column[at] == ic->column[q])
                take_product(n, block + n * n * at, u, block + n * n * q);
        }
    }
}

/* A pivot that has lost nearly all of its diagonal would make the rest of the factor blow up. */
KILN_INLINE bool pivot_is_sound(const kiln_bsr *matrix, size_t n, uint32_t row, const double *pivot)
{
    size_t stride;
    const double *at = kiln_bsr_place(matrix, (uint32_t)n, row, matrix->start[row], &stride);
    for (size_t c = 0; c < n; c++)
        if (!(pivot[(n + 1) * c] > 1e-4 * at[c * stride + c]))
            return false;
    return true;
}

KILN_INLINE bool try_blocks(kiln_block_ic *ic, const kiln_bsr *matrix, size_t n, double *diagonal,
                            double *block)
{
    load_blocks(ic, matrix, n, ic->shift, diagonal, block);
    for (size_t k = 0; k < ic->rows; k++) {
        const double *pivot = diagonal + n * n * k;
        if (!pivot_is_sound(matrix, n, ic->order[k], pivot) ||
            !kiln_invert_positive(n, pivot, 1e-10, ic->inverse + n * n * k))
            return false;
        eliminate(ic, n, k, diagonal, block);
    }
    return true;
}

static bool try_factor(kiln_block_ic *ic, const kiln_bsr *matrix, double *diagonal)
{
    double *block = diagonal + ic->n * ic->n * ic->rows;
    switch (ic->n) {
    case 1:
        return try_blocks(ic, matrix, 1, diagonal, block);
    case 3:
        return try_blocks(ic, matrix, 3, diagonal, block);
    default:
        return try_blocks(ic, matrix, 4, diagonal, block);
    }
}

static bool has_positive_diagonal(const kiln_bsr *matrix)
{
    for (uint32_t row = 0; row < matrix->rows; row++) {
        double a[KILN_BSR_MOST * KILN_BSR_MOST], inverse[KILN_BSR_MOST * KILN_BSR_MOST];
        kiln_bsr_diagonal(matrix, row, a);
        if (!kiln_invert_positive(matrix->block, a, 0.0, inverse))
            return false;
    }
    return true;
}

kiln_status kiln_block_ic_factor(kiln_block_ic *ic, const kiln_bsr *matrix, bool *positive,
                                 kiln_error *error)
{
    *positive = has_positive_diagonal(matrix);
    if (!*positive || ic->rows == 0)
        return KILN_OK;
    size_t bytes = ic->n * ic->n * (ic->rows + ic->blocks) * sizeof(double);
    double *diagonal = kiln_resize(ic->context, NULL, 0, bytes);
    if (!diagonal)
        return kiln_fail_memory(error, bytes);
    ic->shift = 0.0;
    bool done = try_factor(ic, matrix, diagonal);
    for (int i = 0; i < MOST_SHIFTS && !done; i++) {
        ic->shift = ic->shift > 0.0 ? 2.0 * ic->shift : 1e-3;
        done = try_factor(ic, matrix, diagonal);
    }
    *positive = done;
    kiln_release(ic->context, diagonal, bytes);
    return KILN_OK;
}

typedef struct sweep_job {
    kiln_block_ic *ic;
    const double *r;
    double *z;
} sweep_job;

/* As n is known to be small this is no call. */
KILN_INLINE void copy_block(size_t n, double *to, const double *from)
{
    for (size_t c = 0; c < n; c++)
        to[c] = from[c];
}

typedef void (*sweep_kernel)(const kiln_block_ic *, const kiln_ic_range[2], double *);
static const sweep_kernel forward_kernels[] = KILN_SIMD_TABLE(kiln_block_ic_forward);
static const sweep_kernel backward_kernels[] = KILN_SIMD_TABLE(kiln_block_ic_backward);

/* A chunk is two parts. */
static void ranges_of(const kiln_block_ic *ic, size_t begin, size_t end, kiln_ic_range pair[2])
{
    size_t separators = separator_count(ic);
    pair[0] = pair[1] = (kiln_ic_range){0};
    for (size_t part = begin; part < end; part++)
        pair[part - begin] =
            (kiln_ic_range){ic->part_begin[part], ic->part_begin[part + 1],
                            separators ? ic->spilled + ic->n * part * separators : NULL};
}

static void forward_parts(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    sweep_job *job = user;
    kiln_block_ic *ic = job->ic;
    size_t n = ic->n;
    kiln_ic_range pair[2];
    ranges_of(ic, begin, end, pair);
    for (int i = 0; i < 2; i++) {
        if (pair[i].spilled)
            memset(pair[i].spilled, 0, n * separator_count(ic) * sizeof(double));
        for (size_t k = pair[i].begin; k < pair[i].end; k++)
            copy_block(n, ic->work + n * k, job->r + n * ic->order[k]);
    }
    forward_kernels[ic->context->isa](ic, pair, ic->work);
}

static void sweep_separators(sweep_job *job)
{
    kiln_block_ic *ic = job->ic;
    size_t separators = separator_count(ic), n = ic->n;
    for (size_t s = 0; s < separators; s++) {
        size_t k = ic->separators_begin + s;
        for (size_t c = 0; c < n; c++) {
            double sum = job->r[n * ic->order[k] + c];
            for (size_t part = 0; part < KILN_IC_PARTS; part++)
                sum += ic->spilled[n * (part * separators + s) + c];
            ic->work[n * k + c] = sum;
        }
    }
    const kiln_ic_range pair[2] = {{ic->separators_begin, ic->rows, NULL}, {0, 0, NULL}};
    forward_kernels[ic->context->isa](ic, pair, ic->work);
    backward_kernels[ic->context->isa](ic, pair, ic->work);
    for (size_t k = ic->separators_begin; k < ic->rows; k++)
        copy_block(n, job->z + n * ic->order[k], ic->work + n * k);
}

static void backward_parts(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    sweep_job *job = user;
    kiln_block_ic *ic = job->ic;
    size_t n = ic->n;
    kiln_ic_range pair[2];
    ranges_of(ic, begin, end, pair);
    backward_kernels[ic->context->isa](ic, pair, ic->work);
    for (int i = 0; i < 2; i++)
        for (size_t k = pair[i].begin; k < pair[i].end; k++)
            copy_block(n, job->z + n * ic->order[k], ic->work + n * k);
}

void kiln_block_ic_apply(kiln_block_ic *ic, const double *r, double *z)
{
    sweep_job job = {ic, r, z};
    size_t parts = ic->rows < LEAST_ROWS ? 1 : KILN_IC_PARTS;
    kiln_parallel_for(ic->context, parts, 2, forward_parts, &job);
    sweep_separators(&job);
    kiln_parallel_for(ic->context, parts, 2, backward_parts, &job);
}

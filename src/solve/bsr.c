#include "solve/bsr.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "solve/bsr_spill.h"

#include <string.h>

void kiln_bsr_init(kiln_bsr *matrix, kiln_context *context)
{
    *matrix = (kiln_bsr){.context = context};
}

static size_t block_count(const kiln_bsr *matrix)
{
    return matrix->start ? (size_t)matrix->start[matrix->rows] : 0;
}

void kiln_bsr_free(kiln_bsr *matrix)
{
    size_t blocks = block_count(matrix);
    kiln_bsr_spill_free(matrix->context, matrix->spill);
    kiln_release(matrix->context, matrix->value, blocks * 9 * sizeof(double));
    kiln_release(matrix->context, matrix->column, blocks * sizeof(uint32_t));
    if (matrix->start)
        kiln_release(matrix->context, matrix->start, (matrix->rows + 1) * sizeof(uint64_t));
    kiln_bsr_init(matrix, matrix->context);
}

/* Cliques of all sets numbered in one sequence, and for each row the cliques it is in: `place` has
 * for each membership where the clique's rows begin and end. */
typedef struct membership {
    const uint32_t *begin, *end;
} membership;

typedef struct pattern_job {
    kiln_context *context;
    size_t rows;
    uint64_t *first; /* [rows + 1] memberships of a row */
    membership *member;
    uint32_t *mark;  /* [worker][row] the last row that has seen this one */
    uint64_t *start; /* [rows + 1] */
    uint32_t *column;
} pattern_job;

static membership clique_rows(const kiln_cliques *set, size_t clique)
{
    if (set->start)
        return (membership){set->row + set->start[clique], set->row + set->start[clique + 1]};
    return (membership){set->row + clique * set->size, set->row + (clique + 1) * set->size};
}

/* A row named twice in one clique is harmless. */
static kiln_status find_members(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                                kiln_error *error)
{
    job->first = kiln_resize(job->context, NULL, 0, (job->rows + 1) * sizeof(uint64_t));
    if (!job->first)
        return kiln_fail_memory(error, (job->rows + 1) * sizeof(uint64_t));
    memset(job->first, 0, (job->rows + 1) * sizeof(uint64_t));
    for (size_t s = 0; s < set_count; s++)
        for (size_t c = 0; c < sets[s].count; c++) {
            membership rows = clique_rows(&sets[s], c);
            for (const uint32_t *row = rows.begin; row < rows.end; row++)
                if (*row != KILN_BSR_NO_ROW) {
                    KILN_ASSERT_OP(*row, <, job->rows);
                    job->first[*row]++;
                }
        }
    uint64_t sum = 0;
    for (size_t row = 0; row <= job->rows; row++) {
        uint64_t here = row < job->rows ? job->first[row] : 0;
        job->first[row] = sum;
        sum += here;
    }
    if (sum == 0)
        return KILN_OK;
    job->member = kiln_resize(job->context, NULL, 0, sum * sizeof(membership));
    if (!job->member)
        return kiln_fail_memory(error, sum * sizeof(membership));
    /* Filling moves each row's begin to its end, which is the next row's begin. */
    for (size_t s = 0; s < set_count; s++)
        for (size_t c = 0; c < sets[s].count; c++) {
            membership rows = clique_rows(&sets[s], c);
            for (const uint32_t *row = rows.begin; row < rows.end; row++)
                if (*row != KILN_BSR_NO_ROW)
                    job->member[job->first[*row]++] = rows;
        }
    memmove(job->first + 1, job->first, job->rows * sizeof(uint64_t));
    job->first[0] = 0;
    return KILN_OK;
}

/* Columns above `row` it is coupled with, each once, in the order they are met. NULL: counts. */
static size_t gather_columns(const pattern_job *job, uint32_t row, uint32_t *mark, uint32_t *out)
{
    size_t count = 0;
    for (uint64_t m = job->first[row]; m < job->first[row + 1]; m++)
        for (const uint32_t *at = job->member[m].begin; at < job->member[m].end; at++) {
            uint32_t other = *at;
            if (other <= row || other == KILN_BSR_NO_ROW || mark[other] == row)
                continue;
            mark[other] = row;
            if (out)
                out[count] = other;
            count++;
        }
    return count;
}

static void sift_down(uint32_t *a, size_t root, size_t count)
{
    uint32_t value = a[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && a[child + 1] > a[child])
            child++;
        if (a[child] <= value)
            break;
        a[root] = a[child];
    }
    a[root] = value;
}

/* Rows of meshes are short; a row of a large clique must not cost its square. */
void kiln_bsr_sort_columns(uint32_t *a, size_t count)
{
    if (count <= 48) {
        for (size_t i = 1; i < count; i++) {
            uint32_t value = a[i];
            size_t j = i;
            for (; j > 0 && a[j - 1] > value; j--)
                a[j] = a[j - 1];
            a[j] = value;
        }
        return;
    }
    for (size_t i = count / 2; i-- > 0;)
        sift_down(a, i, count);
    for (size_t end = count; end-- > 1;) {
        uint32_t largest = a[0];
        a[0] = a[end];
        a[end] = largest;
        sift_down(a, 0, end);
    }
}

enum { PATTERN_GRAIN = 2048 };

static void count_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    pattern_job *job = user;
    uint32_t *mark = job->mark + (size_t)worker * job->rows;
    for (size_t row = begin; row < end; row++)
        job->start[row] = 1 + gather_columns(job, (uint32_t)row, mark, NULL);
}

static void fill_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    pattern_job *job = user;
    uint32_t *mark = job->mark + (size_t)worker * job->rows;
    for (size_t row = begin; row < end; row++) {
        uint32_t *out = job->column + job->start[row];
        *out = (uint32_t)row;
        kiln_bsr_sort_columns(out + 1, gather_columns(job, (uint32_t)row, mark, out + 1));
    }
}

static kiln_status build_pattern(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                                 kiln_error *error)
{
    KILN_TRY(find_members(job, sets, set_count, error));
    size_t mark_bytes = (size_t)job->context->threads * job->rows * sizeof(uint32_t);
    size_t start_bytes = (job->rows + 1) * sizeof(uint64_t);
    job->mark = mark_bytes ? kiln_resize(job->context, NULL, 0, mark_bytes) : NULL;
    job->start = kiln_resize(job->context, NULL, 0, start_bytes);
    if ((mark_bytes && !job->mark) || !job->start)
        return kiln_fail_memory(error, mark_bytes + start_bytes);
    if (mark_bytes)
        memset(job->mark, 0xFF, mark_bytes);
    kiln_parallel_for(job->context, job->rows, PATTERN_GRAIN, count_chunk, job);
    uint64_t sum = 0;
    for (size_t row = 0; row <= job->rows; row++) {
        uint64_t here = row < job->rows ? job->start[row] : 0;
        job->start[row] = sum;
        sum += here;
    }
    if (sum == 0)
        return KILN_OK;
    job->column = kiln_resize(job->context, NULL, 0, sum * sizeof(uint32_t));
    if (!job->column)
        return kiln_fail_memory(error, sum * sizeof(uint32_t));
    memset(job->mark, 0xFF, mark_bytes);
    kiln_parallel_for(job->context, job->rows, PATTERN_GRAIN, fill_chunk, job);
    return KILN_OK;
}

static void drop_scratch(pattern_job *job)
{
    if (job->first) {
        uint64_t members = job->member ? job->first[job->rows] : 0;
        kiln_release(job->context, job->member, members * sizeof(membership));
        kiln_release(job->context, job->first, (job->rows + 1) * sizeof(uint64_t));
    }
    kiln_release(job->context, job->mark,
                 (size_t)job->context->threads * job->rows * sizeof(uint32_t));
    job->first = NULL;
    job->member = NULL;
    job->mark = NULL;
}

static bool same_pattern(const kiln_bsr *a, const kiln_bsr *b)
{
    return a->start && a->rows == b->rows && a->pattern == b->pattern &&
           memcmp(a->start, b->start, (a->rows + 1) * sizeof *a->start) == 0 &&
           (block_count(a) == 0 ||
            memcmp(a->column, b->column, block_count(a) * sizeof *a->column) == 0);
}

static kiln_status finish_pattern(kiln_bsr *matrix, kiln_bsr *fresh, kiln_error *error)
{
    size_t blocks = block_count(fresh);
    fresh->pattern = kiln_hash_bytes(fresh->rows, fresh->start, (fresh->rows + 1) * 8);
    if (blocks)
        fresh->pattern = kiln_hash_bytes(fresh->pattern, fresh->column, blocks * 4);
    if (same_pattern(matrix, fresh)) {
        kiln_bsr_free(fresh);
        kiln_bsr_clear(matrix);
        return KILN_OK;
    }
    KILN_TRY(kiln_bsr_spill_create(fresh, &fresh->spill, error));
    if (blocks) {
        fresh->value = kiln_resize(fresh->context, NULL, 0, blocks * 9 * sizeof(double));
        if (!fresh->value)
            return kiln_fail_memory(error, blocks * 9 * sizeof(double));
    }
    kiln_bsr_clear(fresh);
    kiln_bsr_free(matrix);
    *matrix = *fresh;
    return KILN_OK;
}

kiln_status kiln_bsr_set_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                 size_t clique_sets, kiln_error *error)
{
    pattern_job job = {.context = matrix->context, .rows = rows};
    kiln_status status = build_pattern(&job, cliques, clique_sets, error);
    drop_scratch(&job);
    if (status != KILN_OK) {
        if (job.start)
            kiln_release(job.context, job.start, (rows + 1) * sizeof(uint64_t));
        return status;
    }
    kiln_bsr fresh = {.context = matrix->context, .rows = rows, .start = job.start};
    fresh.column = job.column;
    status = finish_pattern(matrix, &fresh, error);
    if (status != KILN_OK)
        kiln_bsr_free(&fresh);
    return status;
}

void kiln_bsr_clear(kiln_bsr *matrix)
{
    if (matrix->value)
        memset(matrix->value, 0, block_count(matrix) * 9 * sizeof(double));
}

uint64_t kiln_bsr_find(const kiln_bsr *matrix, uint32_t i, uint32_t j)
{
    uint64_t low = matrix->start[i], high = matrix->start[i + 1];
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (matrix->column[middle] <= j)
            low = middle;
        else
            high = middle;
    }
    KILN_ASSERT_OP(matrix->column[low], ==, j);
    return low;
}

void kiln_bsr_add(kiln_bsr *matrix, uint32_t i, uint32_t j, const double b[3][3])
{
    size_t stride;
    bool turned = i > j;
    uint32_t row = turned ? j : i;
    double *at = kiln_bsr_at(matrix, row, kiln_bsr_find(matrix, row, turned ? i : j), &stride);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            at[r * stride + c] += turned ? b[c][r] : b[r][c];
}

size_t kiln_bsr_bytes(const kiln_bsr *matrix)
{
    if (!matrix->start)
        return 0;
    return (matrix->rows + 1) * sizeof(uint64_t) +
           block_count(matrix) * (sizeof(uint32_t) + 9 * sizeof(double)) +
           kiln_bsr_spill_bytes(matrix->spill);
}

#include "base/parallel.h"
#include "solve/bsr_spill.h"

#include <string.h>

/* Scratch while a spill is made: slot of a row, and the last chunk that has met it. */
typedef struct spill_maker {
    kiln_bsr_spill *spill;
    const kiln_bsr *matrix;
    uint32_t *met, *slot_of; /* [rows] */
    kiln_u32_array rows;
    KILN_ARRAY_OF(kiln_spill_range)
    ranges; /* by the chunk they come from */
} spill_maker;

static kiln_status collect_chunk(spill_maker *maker, uint32_t chunk, kiln_error *error)
{
    const kiln_bsr *matrix = maker->matrix;
    size_t begin = (size_t)chunk * KILN_BSR_GRAIN, end = begin + KILN_BSR_GRAIN;
    end = end < matrix->rows ? end : matrix->rows;
    size_t first = maker->rows.count;
    for (uint64_t b = matrix->start[begin]; b < matrix->start[end]; b++) {
        uint32_t column = matrix->column[b];
        if (column < end || maker->met[column] == chunk)
            continue;
        maker->met[column] = chunk;
        KILN_TRY(kiln_array_push(matrix->context, &maker->rows, column, error));
    }
    uint32_t *row = maker->rows.data + first;
    size_t count = maker->rows.count - first;
    if (count)
        kiln_bsr_sort_columns(row, count);
    for (size_t s = 0; s < count; s++)
        maker->slot_of[row[s]] = (uint32_t)(KILN_BSR_GRAIN + s);
    for (uint64_t b = matrix->start[begin]; b < matrix->start[end]; b++) {
        uint32_t column = matrix->column[b];
        maker->spill->slot[b] = column < end ? column - (uint32_t)begin : maker->slot_of[column];
    }
    for (size_t s = 0, next; s < count; s = next) {
        uint32_t target = row[s] / KILN_BSR_GRAIN;
        for (next = s + 1; next < count && row[next] / KILN_BSR_GRAIN == target;)
            next++;
        kiln_spill_range range = {chunk, first + s, first + next};
        KILN_TRY(kiln_array_push(matrix->context, &maker->ranges, range, error));
        maker->spill->incoming_first[target + 1]++;
    }
    maker->spill->first[chunk + 1] = first + count;
    return KILN_OK;
}

/* Ranges by the chunk they go to; those for one chunk stay in the order of where they come from. */
static void sort_ranges(spill_maker *maker)
{
    kiln_bsr_spill *spill = maker->spill;
    uint64_t *first = spill->incoming_first;
    for (size_t c = 0; c < spill->chunks; c++)
        first[c + 1] += first[c];
    for (size_t r = 0; r < maker->ranges.count; r++) {
        kiln_spill_range range = maker->ranges.data[r];
        spill->incoming[first[maker->rows.data[range.begin] / KILN_BSR_GRAIN]++] = range;
    }
    memmove(first + 1, first, spill->chunks * sizeof *first);
    first[0] = 0;
}

static kiln_status make_spill(spill_maker *maker, kiln_error *error)
{
    kiln_bsr_spill *spill = maker->spill;
    kiln_context *context = maker->matrix->context;
    size_t rows = maker->matrix->rows;
    spill->chunks = kiln_chunk_count(rows, KILN_BSR_GRAIN);
    spill->blocks = (size_t)maker->matrix->start[rows];
    spill->first = kiln_resize(context, NULL, 0, (spill->chunks + 1) * sizeof(uint64_t));
    spill->incoming_first = kiln_resize(context, NULL, 0, (spill->chunks + 1) * sizeof(uint64_t));
    if (!spill->first || !spill->incoming_first)
        return kiln_fail_memory(error, (spill->chunks + 1) * sizeof(uint64_t));
    memset(spill->incoming_first, 0, (spill->chunks + 1) * sizeof(uint64_t));
    spill->first[0] = 0;
    if (rows == 0)
        return KILN_OK;
    maker->met = kiln_resize(context, NULL, 0, rows * sizeof(uint32_t));
    maker->slot_of = kiln_resize(context, NULL, 0, rows * sizeof(uint32_t));
    spill->slot = kiln_resize(context, NULL, 0, spill->blocks * sizeof(uint32_t));
    if (!maker->met || !maker->slot_of || !spill->slot)
        return kiln_fail_memory(error, spill->blocks * sizeof(uint32_t));
    memset(maker->met, 0xFF, rows * sizeof(uint32_t));
    for (size_t chunk = 0; chunk < spill->chunks; chunk++)
        KILN_TRY(collect_chunk(maker, (uint32_t)chunk, error));
    spill->slots = maker->rows.count;
    spill->ranges = maker->ranges.count;
    if (spill->slots == 0)
        return KILN_OK;
    spill->row = kiln_resize(context, NULL, 0, spill->slots * sizeof(uint32_t));
    spill->incoming = kiln_resize(context, NULL, 0, spill->ranges * sizeof(kiln_spill_range));
    if (!spill->row || !spill->incoming)
        return kiln_fail_memory(error, spill->ranges * sizeof(kiln_spill_range));
    memcpy(spill->row, maker->rows.data, spill->slots * sizeof(uint32_t));
    sort_ranges(maker);
    return KILN_OK;
}

static void empty_spill(kiln_context *context, kiln_bsr_spill *spill)
{
    kiln_release(context, spill->first, (spill->chunks + 1) * sizeof(uint64_t));
    kiln_release(context, spill->incoming_first, (spill->chunks + 1) * sizeof(uint64_t));
    kiln_release(context, spill->slot, spill->blocks * sizeof(uint32_t));
    kiln_release(context, spill->row, spill->slots * sizeof(uint32_t));
    kiln_release(context, spill->incoming, spill->ranges * sizeof(kiln_spill_range));
    *spill = (kiln_bsr_spill){0};
}

kiln_status kiln_bsr_spill_make(const kiln_bsr *matrix, kiln_error *error)
{
    kiln_context *context = matrix->context;
    if (!matrix->spill || matrix->spill->first)
        return KILN_OK;
    spill_maker maker = {.matrix = matrix, .spill = matrix->spill};
    kiln_status status = make_spill(&maker, error);
    kiln_release(context, maker.met, matrix->rows * sizeof(uint32_t));
    kiln_release(context, maker.slot_of, matrix->rows * sizeof(uint32_t));
    kiln_array_free(context, &maker.rows);
    kiln_array_free(context, &maker.ranges);
    if (status != KILN_OK)
        empty_spill(context, matrix->spill);
    return status;
}

void kiln_bsr_spill_free(kiln_context *context, kiln_bsr_spill *spill)
{
    if (!spill)
        return;
    if (spill->first)
        empty_spill(context, spill);
    kiln_release(context, spill, sizeof *spill);
}

size_t kiln_bsr_spill_bytes(const kiln_bsr_spill *spill)
{
    return sizeof *spill + 2 * (spill->chunks + 1) * sizeof(uint64_t) +
           spill->blocks * sizeof(uint32_t) + spill->slots * sizeof(uint32_t) +
           spill->ranges * sizeof(kiln_spill_range);
}

typedef struct multiply_job {
    const kiln_bsr *matrix;
    const double *x;
    double *y, *spilled;
} multiply_job;

static void multiply_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    static void (*const kernels[])(const kiln_bsr *, size_t, size_t, const double *, double *,
                                   double *) = KILN_SIMD_TABLE(kiln_bsr_multiply_chunk);
    multiply_job *job = user;
    kiln_bsr_spill *spill = job->matrix->spill;
    size_t n = job->matrix->block;
    double *spilled = NULL;
    if (spill->slots) {
        spilled = job->spilled + n * spill->first[chunk];
        memset(spilled, 0, n * (spill->first[chunk + 1] - spill->first[chunk]) * sizeof(double));
    }
    kernels[job->matrix->context->isa](job->matrix, begin, end, job->x, job->y, spilled);
}

KILN_INLINE void collect_blocks(const multiply_job *job, size_t n, size_t chunk)
{
    const kiln_bsr_spill *spill = job->matrix->spill;
    for (uint64_t r = spill->incoming_first[chunk]; r < spill->incoming_first[chunk + 1]; r++)
        for (uint64_t s = spill->incoming[r].begin; s < spill->incoming[r].end; s++)
            for (size_t c = 0; c < n; c++)
                job->y[n * spill->row[s] + c] += job->spilled[n * s + c];
}

static void collect_spilled(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const multiply_job *job = user;
    if (job->matrix->block == 3)
        collect_blocks(job, 3, chunk);
    else
        collect_blocks(job, job->matrix->block, chunk);
}

void kiln_bsr_multiply_with(const kiln_bsr *matrix, const double *x, double *y, double *spilled)
{
    multiply_job job = {matrix, x, y, spilled};
    kiln_context *context = matrix->context;
    kiln_parallel_for(context, matrix->rows, KILN_BSR_GRAIN, multiply_chunk, &job);
    if (matrix->spill && matrix->spill->slots)
        kiln_parallel_for(context, matrix->rows, KILN_BSR_GRAIN, collect_spilled, &job);
}

kiln_status kiln_bsr_multiply(const kiln_bsr *matrix, const double *x, double *y, kiln_error *error)
{
    KILN_TRY(kiln_bsr_spill_make(matrix, error));
    size_t bytes = matrix->spill ? matrix->spill->slots * matrix->block * sizeof(double) : 0;
    double *spilled = bytes ? kiln_resize(matrix->context, NULL, 0, bytes) : NULL;
    if (bytes && !spilled)
        return kiln_fail_memory(error, bytes);
    kiln_bsr_multiply_with(matrix, x, y, spilled);
    kiln_release(matrix->context, spilled, bytes);
    return KILN_OK;
}

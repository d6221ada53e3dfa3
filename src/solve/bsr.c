#include "solve/bsr.h"

#include "base/assert.h"
#include "base/parallel.h"
#include "solve/bsr_pattern.h"
#include "solve/bsr_spill.h"

#include <math.h>
#include <string.h>

void kiln_bsr_init_blocks(kiln_bsr *matrix, kiln_context *context, uint32_t block)
{
    KILN_ASSERT_OP(block, <=, KILN_BSR_MOST);
    *matrix = (kiln_bsr){.context = context, .block = block};
}

void kiln_bsr_init(kiln_bsr *matrix, kiln_context *context)
{
    kiln_bsr_init_blocks(matrix, context, 3);
}

void kiln_bsr_init_pattern(kiln_bsr *matrix, kiln_context *context, uint32_t block)
{
    kiln_bsr_init_blocks(matrix, context, block);
    matrix->bare = true;
}

static size_t value_bytes(const kiln_bsr *matrix, size_t blocks)
{
    return blocks * matrix->block * matrix->block * sizeof(double);
}

void kiln_bsr_free_pattern(kiln_bsr *matrix)
{
    kiln_bsr_spill_free(matrix->context, matrix->spill);
    kiln_release(matrix->context, matrix->column, kiln_bsr_blocks(matrix) * sizeof(uint32_t));
    kiln_array_free(matrix->context, &matrix->renewed);
    if (matrix->start)
        kiln_release(matrix->context, matrix->start, (matrix->rows + 1) * sizeof(uint64_t));
}

void kiln_bsr_free(kiln_bsr *matrix)
{
    kiln_bsr_free_pattern(matrix);
    kiln_release(matrix->context, matrix->value, value_bytes(matrix, matrix->room));
    *matrix = (kiln_bsr){.context = matrix->context, .block = matrix->block, .bare = matrix->bare};
}

/* Room for the values, with some to spare when there was too little, so that a pattern that changes
 * a bit now and then does not move them each time. */
static kiln_status make_room(kiln_bsr *matrix, size_t blocks, kiln_error *error)
{
    if (matrix->bare || (blocks <= matrix->room && blocks >= matrix->room / 2))
        return KILN_OK;
    size_t room = matrix->room ? blocks + blocks / 16 : blocks;
    double *value = room ? kiln_resize(matrix->context, NULL, 0, value_bytes(matrix, room)) : NULL;
    if (room && !value)
        return kiln_fail_memory(error, value_bytes(matrix, room));
    kiln_release(matrix->context, matrix->value, value_bytes(matrix, matrix->room));
    matrix->value = value;
    matrix->room = room;
    return KILN_OK;
}

kiln_status kiln_bsr_take_pattern(kiln_bsr *matrix, kiln_bsr *fresh, kiln_error *error)
{
    fresh->spill = kiln_resize(fresh->context, NULL, 0, sizeof *fresh->spill);
    kiln_status status = KILN_OK;
    if (fresh->spill) {
        *fresh->spill = (kiln_bsr_spill){0};
        status = make_room(matrix, kiln_bsr_blocks(fresh), error);
    } else {
        status = kiln_fail_memory(error, sizeof *fresh->spill);
    }
    if (status != KILN_OK) {
        kiln_bsr_free_pattern(fresh);
        return status;
    }
    fresh->value = matrix->value;
    fresh->room = matrix->room;
    fresh->bare = matrix->bare;
    kiln_bsr_free_pattern(matrix);
    *matrix = *fresh;
    return KILN_OK;
}

static void clear_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    kiln_bsr *matrix = user;
    memset(matrix->value + begin, 0, (end - begin) * sizeof(double));
}

void kiln_bsr_clear(kiln_bsr *matrix)
{
    enum { GRAIN = 1 << 13 };
    size_t count = matrix->bare ? 0 : kiln_bsr_blocks(matrix) * matrix->block * matrix->block;
    kiln_parallel_for(matrix->context, count, GRAIN, clear_chunk, matrix);
}

uint64_t kiln_bsr_find(const kiln_bsr *matrix, uint32_t i, uint32_t j)
{
    uint64_t low = matrix->start[i], high = i == j ? low + 1 : matrix->start[i + 1];
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

KILN_INLINE void add_block(kiln_bsr *matrix, uint32_t n, uint32_t i, uint32_t j, const double *b)
{
    size_t stride;
    bool turned = i > j;
    uint32_t row = turned ? j : i;
    double *at =
        kiln_bsr_place(matrix, n, row, kiln_bsr_find(matrix, row, turned ? i : j), &stride);
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            at[r * stride + c] += turned ? b[n * c + r] : b[n * r + c];
}

void kiln_bsr_add(kiln_bsr *matrix, uint32_t i, uint32_t j, const double b[3][3])
{
    add_block(matrix, 3, i, j, b[0]);
}

void kiln_bsr_add_block(kiln_bsr *matrix, uint32_t i, uint32_t j, const double *b)
{
    add_block(matrix, matrix->block, i, j, b);
}

void kiln_bsr_diagonal(const kiln_bsr *matrix, uint32_t row, double *out)
{
    size_t stride, n = matrix->block;
    const double *at = kiln_bsr_place(matrix, matrix->block, row, matrix->start[row], &stride);
    for (size_t r = 0; r < n; r++)
        memcpy(out + n * r, at + r * stride, n * sizeof *out);
}

void kiln_bsr_row_sums(const kiln_bsr *matrix, double *sum)
{
    size_t n = matrix->block;
    memset(sum, 0, n * matrix->rows * sizeof *sum);
    for (uint32_t i = 0; i < matrix->rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            size_t stride, j = matrix->column[b];
            const double *at = kiln_bsr_place(matrix, matrix->block, i, b, &stride);
            for (size_t r = 0; r < n; r++)
                for (size_t c = 0; c < n; c++) {
                    double size = fabs(at[r * stride + c]);
                    sum[n * i + r] += size;
                    if (i != j)
                        sum[n * j + c] += size;
                }
        }
}

size_t kiln_bsr_bytes(const kiln_bsr *matrix)
{
    if (!matrix->start)
        return 0;
    return (matrix->rows + 1) * sizeof(uint64_t) +
           (kiln_bsr_blocks(matrix) + matrix->renewed.capacity) * sizeof(uint32_t) +
           value_bytes(matrix, matrix->room) + kiln_bsr_spill_bytes(matrix->spill);
}

static uint32_t root_of(uint32_t *part, uint32_t row)
{
    while (part[row] != row)
        row = part[row] = part[part[row]];
    return row;
}

static bool is_zero(const double *at, size_t stride, size_t n)
{
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++)
            if (at[r * stride + c] != 0.0)
                return false;
    return true;
}

size_t kiln_bsr_number_parts(const kiln_bsr *matrix, const uint8_t *held, uint32_t *part)
{
    const uint8_t whole = (uint8_t)((1u << matrix->block) - 1u);
    size_t stride, count = held ? 1 : 0;
    for (uint32_t i = 0; i < matrix->rows; i++)
        part[i] = i;
    for (uint32_t i = 0; i < matrix->rows; i++)
        for (uint64_t b = matrix->start[i]; b < matrix->start[i + 1]; b++) {
            uint32_t j = matrix->column[b];
            if (part[i] == part[j])
                continue;
            uint32_t p = root_of(part, i), q = root_of(part, j);
            const double *at = kiln_bsr_place(matrix, matrix->block, i, b, &stride);
            if (p != q && !is_zero(at, stride, matrix->block))
                part[p > q ? p : q] = p > q ? q : p;
        }
    for (uint32_t i = 0; i < matrix->rows; i++)
        part[i] = root_of(part, i);
    /* Roots are the first rows of their parts, and have their numbers before others ask. */
    for (uint32_t i = 0; i < matrix->rows; i++)
        if (held && held[i] == whole)
            part[i] = 0;
        else
            part[i] = part[i] == i ? (uint32_t)count++ : part[part[i]];
    return count;
}

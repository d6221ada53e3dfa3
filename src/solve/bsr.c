#include "solve/bsr.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/parallel.h"
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

static size_t block_count(const kiln_bsr *matrix)
{
    return matrix->start ? (size_t)matrix->start[matrix->rows] : 0;
}

static size_t value_bytes(const kiln_bsr *matrix, size_t blocks)
{
    return blocks * matrix->block * matrix->block * sizeof(double);
}

static void free_pattern(kiln_bsr *matrix)
{
    kiln_bsr_spill_free(matrix->context, matrix->spill);
    kiln_release(matrix->context, matrix->column, block_count(matrix) * sizeof(uint32_t));
    kiln_array_free(matrix->context, &matrix->renewed);
    if (matrix->start)
        kiln_release(matrix->context, matrix->start, (matrix->rows + 1) * sizeof(uint64_t));
}

void kiln_bsr_free(kiln_bsr *matrix)
{
    free_pattern(matrix);
    kiln_release(matrix->context, matrix->value, value_bytes(matrix, matrix->room));
    kiln_bsr_init_blocks(matrix, matrix->context, matrix->block);
}

/* For each row the cliques it is in: where their rows begin and end. */
typedef struct membership {
    const uint32_t *begin, *end;
} membership;

typedef struct pattern_job {
    kiln_context *context;
    size_t rows;
    uint64_t *first; /* [rows + 1] memberships of a row */
    membership *member;
    uint32_t *mark;        /* [worker][row] the last row that has seen this one, see `stamp` */
    const kiln_bsr *old;   /* rows that are not wanted have its columns; NULL: all are wanted */
    uint8_t *wanted;       /* [row] */
    kiln_u32_array chosen; /* [clique][4] those with a row that is wanted */
    uint64_t *start;       /* [rows + 1] */
    uint32_t *column;
} pattern_job;

static bool is_wanted(const pattern_job *job, size_t row)
{
    return !job->old || job->wanted[row];
}

static membership clique_rows(const kiln_cliques *set, size_t clique)
{
    if (set->start)
        return (membership){set->row + set->start[clique], set->row + set->start[clique + 1]};
    return (membership){set->row + clique * set->size, set->row + (clique + 1) * set->size};
}

/* Calls `note` for each row that is wanted and each clique it is in. A row named twice in one
 * clique is harmless. */
static void visit_members(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                          void (*note)(pattern_job *job, uint32_t row, membership rows))
{
    for (size_t s = 0; s < set_count; s++)
        for (size_t c = 0; c < sets[s].count; c++) {
            membership rows = clique_rows(&sets[s], c);
            for (const uint32_t *row = rows.begin; row < rows.end; row++)
                if (*row != KILN_BSR_NO_ROW && is_wanted(job, *row)) {
                    KILN_ASSERT_OP(*row, <, job->rows);
                    note(job, *row, rows);
                }
        }
}

static void count_member(pattern_job *job, uint32_t row, membership rows)
{
    (void)rows;
    job->first[row]++;
}

/* Filling moves each row's begin to its end, which is the next row's begin. */
static void fill_member(pattern_job *job, uint32_t row, membership rows)
{
    job->member[job->first[row]++] = rows;
}

static uint64_t sum_up(uint64_t *count, size_t rows)
{
    uint64_t sum = 0;
    for (size_t row = 0; row <= rows; row++) {
        uint64_t here = row < rows ? count[row] : 0;
        count[row] = sum;
        sum += here;
    }
    return sum;
}

/* Cliques of four, most of which have no row that is wanted: those that have, as cliques of their
 * own, so that the mesh is looked through once. */
static kiln_status choose_cliques(pattern_job *job, kiln_cliques *set, kiln_error *error)
{
    for (size_t c = 0; c < set->count; c++) {
        const uint32_t *v = set->row + 4 * c;
        bool wanted = false;
        for (int k = 0; k < 4; k++)
            wanted |= v[k] < job->rows && job->wanted[v[k]]; /* padding is beyond */
        if (!wanted)
            continue;
        KILN_TRY(kiln_array_reserve(job->context, &job->chosen, job->chosen.count + 4, error));
        memcpy(job->chosen.data + job->chosen.count, v, 4 * sizeof *v);
        job->chosen.count += 4;
    }
    set->count = job->chosen.count / 4;
    set->row = job->chosen.data;
    return KILN_OK;
}

static kiln_status find_members(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                                kiln_error *error)
{
    kiln_cliques few;
    if (job->old && set_count == 1 && !sets->start && sets->size == 4) {
        few = *sets;
        KILN_TRY(choose_cliques(job, &few, error));
        sets = &few;
    }
    job->first = kiln_resize(job->context, NULL, 0, (job->rows + 1) * sizeof(uint64_t));
    if (!job->first)
        return kiln_fail_memory(error, (job->rows + 1) * sizeof(uint64_t));
    memset(job->first, 0, (job->rows + 1) * sizeof(uint64_t));
    visit_members(job, sets, set_count, count_member);
    uint64_t sum = sum_up(job->first, job->rows);
    if (sum == 0)
        return KILN_OK;
    job->member = kiln_resize(job->context, NULL, 0, sum * sizeof(membership));
    if (!job->member)
        return kiln_fail_memory(error, sum * sizeof(membership));
    visit_members(job, sets, set_count, fill_member);
    memmove(job->first + 1, job->first, job->rows * sizeof(uint64_t));
    job->first[0] = 0;
    return KILN_OK;
}

/* Columns above `row` it is coupled with, each once, in the order they are met. NULL: counts. Both
 * passes use the same marks, told apart by the stamp. */
static size_t gather_columns(const pattern_job *job, uint32_t row, uint32_t *mark, uint32_t *out)
{
    size_t count = 0;
    uint32_t stamp = 2 * row + (out ? 1 : 0);
    for (uint64_t m = job->first[row]; m < job->first[row + 1]; m++)
        for (const uint32_t *at = job->member[m].begin; at < job->member[m].end; at++) {
            uint32_t other = *at;
            if (other <= row || other == KILN_BSR_NO_ROW || mark[other] == stamp)
                continue;
            mark[other] = stamp;
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
        job->start[row] = is_wanted(job, row) ? 1 + gather_columns(job, (uint32_t)row, mark, NULL)
                                              : job->old->start[row + 1] - job->old->start[row];
}

/* Rows that keep their columns, copied in runs. Returns the row after them. */
static size_t copy_rows(const pattern_job *job, size_t begin, size_t end)
{
    size_t after = begin;
    while (after < end && !is_wanted(job, after))
        after++;
    memcpy(job->column + job->start[begin], job->old->column + job->old->start[begin],
           (job->start[after] - job->start[begin]) * sizeof *job->column);
    return after;
}

static void fill_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    pattern_job *job = user;
    uint32_t *mark = job->mark + (size_t)worker * job->rows;
    for (size_t row = begin; row < end;) {
        if (!is_wanted(job, row)) {
            row = copy_rows(job, row, end);
            continue;
        }
        uint32_t *out = job->column + job->start[row];
        *out = (uint32_t)row;
        kiln_bsr_sort_columns(out + 1, gather_columns(job, (uint32_t)row, mark, out + 1));
        row++;
    }
}

static kiln_status build_pattern(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                                 kiln_error *error)
{
    KILN_ASSERT_OP(job->rows, <, (size_t)1 << 31); /* for the stamps */
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
    uint64_t sum = sum_up(job->start, job->rows);
    if (sum == 0)
        return KILN_OK;
    job->column = kiln_resize(job->context, NULL, 0, sum * sizeof(uint32_t));
    if (!job->column)
        return kiln_fail_memory(error, sum * sizeof(uint32_t));
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
    kiln_array_free(job->context, &job->chosen);
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

static bool same_row(const kiln_bsr *a, const kiln_bsr *b, size_t row)
{
    uint64_t length = a->start[row + 1] - a->start[row];
    return b->start[row + 1] - b->start[row] == length &&
           memcmp(a->column + a->start[row], b->column + b->start[row],
                  length * sizeof *a->column) == 0;
}

/* Without memory nobody knows, and places are looked up anew. */
static void list_renewed(const kiln_bsr *before, const uint8_t *wanted, kiln_bsr *fresh)
{
    size_t both = before->rows < fresh->rows ? before->rows : fresh->rows;
    kiln_u32_array rows = {0};
    if (!before->start)
        return;
    for (size_t row = 0; row < fresh->rows; row++) {
        if (row < both && ((wanted && !wanted[row]) || same_row(before, fresh, row)))
            continue;
        if (kiln_array_push(fresh->context, &rows, (uint32_t)row, NULL) != KILN_OK) {
            kiln_array_free(fresh->context, &rows);
            return;
        }
    }
    fresh->renewed = rows;
    fresh->renewed_from = before->pattern;
}

/* Room for the values, with some to spare when there was too little, so that a pattern that changes
 * a bit now and then does not move them each time. */
static kiln_status make_room(kiln_bsr *matrix, size_t blocks, kiln_error *error)
{
    if (blocks <= matrix->room && blocks >= matrix->room / 2)
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

/* Takes over the pattern of `fresh`, which is empty then or, on failure, freed. */
static kiln_status finish_pattern(kiln_bsr *matrix, kiln_bsr *fresh, const uint8_t *wanted,
                                  kiln_error *error)
{
    size_t blocks = block_count(fresh);
    uint64_t seed = kiln_hash_add(fresh->block, fresh->rows);
    fresh->pattern = kiln_hash_bytes(seed, fresh->start, (fresh->rows + 1) * 8);
    if (blocks)
        fresh->pattern = kiln_hash_bytes(fresh->pattern, fresh->column, blocks * 4);
    kiln_status status = KILN_OK;
    if (same_pattern(matrix, fresh)) {
        free_pattern(fresh);
        return KILN_OK;
    }
    fresh->spill = kiln_resize(fresh->context, NULL, 0, sizeof *fresh->spill);
    if (fresh->spill) {
        *fresh->spill = (kiln_bsr_spill){0};
        status = make_room(matrix, blocks, error);
    } else {
        status = kiln_fail_memory(error, sizeof *fresh->spill);
    }
    if (status != KILN_OK) {
        free_pattern(fresh);
        return status;
    }
    list_renewed(matrix, wanted, fresh);
    fresh->value = matrix->value;
    fresh->room = matrix->room;
    free_pattern(matrix);
    *matrix = *fresh;
    return KILN_OK;
}

static kiln_status form_pattern(kiln_bsr *matrix, pattern_job *job, const kiln_cliques *cliques,
                                size_t clique_sets, kiln_error *error)
{
    kiln_status status = build_pattern(job, cliques, clique_sets, error);
    drop_scratch(job);
    kiln_bsr fresh = {.context = matrix->context,
                      .block = matrix->block,
                      .rows = job->rows,
                      .start = job->start,
                      .column = job->column};
    if (status == KILN_OK)
        status = finish_pattern(matrix, &fresh, job->old ? job->wanted : NULL, error);
    else if (job->start)
        kiln_release(job->context, job->start, (job->rows + 1) * sizeof(uint64_t));
    kiln_release(job->context, job->wanted, job->wanted ? job->rows : 0);
    return status;
}

kiln_status kiln_bsr_set_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                 size_t clique_sets, kiln_error *error)
{
    pattern_job job = {.context = matrix->context, .rows = rows};
    KILN_TRY(form_pattern(matrix, &job, cliques, clique_sets, error));
    kiln_bsr_clear(matrix);
    return KILN_OK;
}

kiln_status kiln_bsr_renew_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                   size_t clique_sets, const uint32_t *changed,
                                   size_t changed_count, kiln_error *error)
{
    pattern_job job = {.context = matrix->context, .rows = rows};
    size_t kept = rows < matrix->rows ? rows : matrix->rows;
    if (matrix->start && kept) {
        job.wanted = kiln_resize(job.context, NULL, 0, rows);
        if (!job.wanted)
            return kiln_fail_memory(error, rows);
        job.old = matrix;
        memset(job.wanted, 0, kept);
        memset(job.wanted + kept, 1, rows - kept);
        for (size_t i = 0; i < changed_count; i++)
            job.wanted[changed[i]] = 1;
    }
    return form_pattern(matrix, &job, cliques, clique_sets, error);
}

static void clear_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    kiln_bsr *matrix = user;
    memset(matrix->value + begin, 0, (end - begin) * sizeof(double));
}

void kiln_bsr_clear(kiln_bsr *matrix)
{
    enum { GRAIN = 1 << 16 };
    size_t count = block_count(matrix) * matrix->block * matrix->block;
    kiln_parallel_for(matrix->context, count, GRAIN, clear_chunk, matrix);
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
           (block_count(matrix) + matrix->renewed.capacity) * sizeof(uint32_t) +
           value_bytes(matrix, matrix->room) + kiln_bsr_spill_bytes(matrix->spill);
}

/* A pattern from all of its cliques, or from another and what comes to it. */
#include "solve/bsr_pattern.h"

#include "base/assert.h"
#include "base/parallel.h"
#include "solve/bsr_spill.h"

#include <string.h>

typedef struct pattern_job {
    kiln_context *context;
    size_t rows;
    const kiln_bsr *under; /* NULL: nothing */
    uint64_t *first;       /* [rows + 1] cliques of a row */
    kiln_clique *member;   /* row by row */
    uint32_t *mark;        /* [worker][row] the last row that has seen this one, see `stamp` */
    uint64_t *start;       /* [rows + 1] */
    uint32_t *column;
    uint64_t *hash; /* [chunk] */
} pattern_job;

/* Calls `note` for each row and each clique it is in. A row named twice in one clique is harmless.
 */
static void visit_members(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                          void (*note)(pattern_job *job, uint32_t row, kiln_clique rows))
{
    for (size_t s = 0; s < set_count; s++)
        for (size_t c = 0; c < sets[s].count; c++) {
            kiln_clique rows = kiln_clique_at(&sets[s], c);
            for (const uint32_t *row = rows.begin; row < rows.end; row++)
                if (*row != KILN_BSR_NO_ROW) {
                    KILN_ASSERT_OP(*row, <, job->rows);
                    note(job, *row, rows);
                }
        }
}

static void count_member(pattern_job *job, uint32_t row, kiln_clique rows)
{
    (void)rows;
    job->first[row]++;
}

/* Filling moves each row's begin to its end, which is the next row's begin. */
static void fill_member(pattern_job *job, uint32_t row, kiln_clique rows)
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

static kiln_status find_members(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                                kiln_error *error)
{
    job->first = kiln_resize(job->context, NULL, 0, (job->rows + 1) * sizeof(uint64_t));
    if (!job->first)
        return kiln_fail_memory(error, (job->rows + 1) * sizeof(uint64_t));
    memset(job->first, 0, (job->rows + 1) * sizeof(uint64_t));
    visit_members(job, sets, set_count, count_member);
    uint64_t sum = sum_up(job->first, job->rows);
    if (sum == 0)
        return KILN_OK;
    job->member = kiln_resize(job->context, NULL, 0, sum * sizeof(kiln_clique));
    if (!job->member)
        return kiln_fail_memory(error, sum * sizeof(kiln_clique));
    visit_members(job, sets, set_count, fill_member);
    memmove(job->first + 1, job->first, job->rows * sizeof(uint64_t));
    job->first[0] = 0;
    return KILN_OK;
}

/* Those of the pattern under it. mark NULL: nothing comes to them. */
static size_t gather_under(const pattern_job *job, uint32_t row, uint32_t *mark, uint32_t stamp,
                           uint32_t *out)
{
    const kiln_bsr *under = job->under;
    const uint32_t *column = under->column + under->start[row] + 1;
    size_t count = (size_t)(under->start[row + 1] - under->start[row]) - 1;
    for (size_t k = 0; k < count && mark; k++)
        mark[column[k]] = stamp;
    if (out && count)
        memcpy(out, column, count * sizeof *out);
    return count;
}

/* Columns above `row` it is coupled with, each once, in the order they are met. NULL: counts. Both
 * passes use the same marks, told apart by the stamp. */
static size_t gather_columns(const pattern_job *job, uint32_t row, uint32_t *mark, uint32_t *out)
{
    size_t count = 0;
    uint32_t stamp = 2 * row + (out ? 1 : 0);
    if (job->under)
        count =
            gather_under(job, row, job->first[row] < job->first[row + 1] ? mark : NULL, stamp, out);
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

enum { PATTERN_GRAIN = 128 };

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
    pattern_job *job = user;
    uint32_t *mark = job->mark + (size_t)worker * job->rows;
    uint64_t sum = 0;
    for (size_t row = begin; row < end; row++) {
        uint32_t *out = job->column + job->start[row];
        size_t count = gather_columns(job, (uint32_t)row, mark, out + 1);
        *out = (uint32_t)row;
        kiln_bsr_sort_columns(out + 1, count);
        sum += kiln_bsr_hash_row(row, out, count + 1);
    }
    job->hash[chunk] = sum;
}

static kiln_status build_pattern(pattern_job *job, const kiln_cliques *sets, size_t set_count,
                                 kiln_error *error)
{
    KILN_ASSERT_OP(job->rows, <, (size_t)1 << 31); /* for the stamps */
    KILN_TRY(find_members(job, sets, set_count, error));
    size_t mark_bytes = (size_t)job->context->threads * job->rows * sizeof(uint32_t);
    size_t start_bytes = (job->rows + 1) * sizeof(uint64_t);
    size_t hash_bytes = kiln_chunk_count(job->rows, PATTERN_GRAIN) * sizeof(uint64_t);
    job->start = kiln_resize(job->context, NULL, 0, start_bytes);
    if (job->rows > 0) {
        job->mark = kiln_resize(job->context, NULL, 0, mark_bytes);
        job->hash = kiln_resize(job->context, NULL, 0, hash_bytes);
    }
    if (!job->start || (job->rows > 0 && (!job->mark || !job->hash)))
        return kiln_fail_memory(error, mark_bytes + start_bytes);
    if (job->rows > 0)
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

static uint64_t hash_of(const pattern_job *job, uint32_t block)
{
    uint64_t sum = kiln_bsr_hash_size(block, job->rows);
    for (size_t chunk = 0; chunk < kiln_chunk_count(job->rows, PATTERN_GRAIN); chunk++)
        sum += job->hash[chunk];
    return sum;
}

static void drop_scratch(pattern_job *job)
{
    if (job->first) {
        uint64_t members = job->member ? job->first[job->rows] : 0;
        kiln_release(job->context, job->member, members * sizeof(kiln_clique));
        kiln_release(job->context, job->first, (job->rows + 1) * sizeof(uint64_t));
    }
    kiln_release(job->context, job->mark,
                 (size_t)job->context->threads * job->rows * sizeof(uint32_t));
    kiln_release(job->context, job->hash,
                 kiln_chunk_count(job->rows, PATTERN_GRAIN) * sizeof(uint64_t));
}

static bool same_pattern(const kiln_bsr *a, const kiln_bsr *b)
{
    return a->start && a->rows == b->rows && a->pattern == b->pattern &&
           memcmp(a->start, b->start, (a->rows + 1) * sizeof *a->start) == 0 &&
           (kiln_bsr_blocks(a) == 0 ||
            memcmp(a->column, b->column, kiln_bsr_blocks(a) * sizeof *a->column) == 0);
}

static bool same_row(const kiln_bsr *a, const kiln_bsr *b, size_t row)
{
    uint64_t length = a->start[row + 1] - a->start[row];
    return b->start[row + 1] - b->start[row] == length &&
           memcmp(a->column + a->start[row], b->column + b->start[row],
                  length * sizeof *a->column) == 0;
}

/* Without memory nobody knows, and places are looked up anew. */
static void list_renewed(const kiln_bsr *before, kiln_bsr *fresh)
{
    size_t both = before->rows < fresh->rows ? before->rows : fresh->rows;
    kiln_u32_array rows = {0};
    if (!before->start)
        return;
    for (size_t row = 0; row < fresh->rows; row++) {
        if (row < both && same_row(before, fresh, row))
            continue;
        if (kiln_array_push(fresh->context, &rows, (uint32_t)row, NULL) != KILN_OK) {
            kiln_array_free(fresh->context, &rows);
            return;
        }
    }
    fresh->renewed = rows;
    fresh->renewed_from = before->pattern;
}

static kiln_status set_pattern(kiln_bsr *matrix, size_t rows, const kiln_bsr *under,
                               const kiln_cliques *cliques, size_t clique_sets, kiln_error *error)
{
    pattern_job job = {.context = matrix->context, .rows = rows, .under = under};
    kiln_status status = build_pattern(&job, cliques, clique_sets, error);
    kiln_bsr fresh = {.context = matrix->context,
                      .block = matrix->block,
                      .rows = rows,
                      .start = job.start,
                      .column = job.column};
    if (status == KILN_OK)
        fresh.pattern = hash_of(&job, matrix->block);
    drop_scratch(&job);
    if (status != KILN_OK) {
        if (job.start)
            kiln_release(job.context, job.start, (rows + 1) * sizeof(uint64_t));
        return status;
    }
    if (same_pattern(matrix, &fresh)) {
        kiln_bsr_free_pattern(&fresh);
    } else {
        list_renewed(matrix, &fresh);
        KILN_TRY(kiln_bsr_take_pattern(matrix, &fresh, error));
    }
    kiln_bsr_clear(matrix);
    return KILN_OK;
}

kiln_status kiln_bsr_set_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                 size_t clique_sets, kiln_error *error)
{
    return set_pattern(matrix, rows, NULL, cliques, clique_sets, error);
}

kiln_status kiln_bsr_set_pattern_over(kiln_bsr *matrix, const kiln_bsr *under,
                                      const kiln_cliques *cliques, size_t clique_sets,
                                      kiln_error *error)
{
    return set_pattern(matrix, under->rows, under, cliques, clique_sets, error);
}

/* A pattern that has changed in some of its rows: only these are gathered again, and the others
 * copied in runs. */
#include "solve/bsr_pattern.h"

#include "base/assert.h"
#include "solve/bsr_spill.h"

#include <string.h>

typedef struct membership {
    uint32_t number; /* of a wanted row, + 1 */
    kiln_clique rows;
} membership;

typedef struct renewal {
    kiln_context *context;
    const kiln_bsr *old;
    size_t rows, kept;  /* now; of them with a number that there was before */
    uint32_t *number;   /* [row] 1 + its number among the wanted ones, 0: it stays as it is */
    uint32_t *mark;     /* [row] the last wanted row, by its number + 1, that has seen this one */
    kiln_u32_array row; /* the wanted ones */
    KILN_ARRAY_OF(uint32_t)
    first; /* [wanted + 2] cliques of a wanted row */
    KILN_ARRAY_OF(membership)
    met;
    KILN_ARRAY_OF(kiln_clique)
    member;
    kiln_u32_array column, end; /* of the wanted rows, one after the other; [wanted] */
    uint64_t hash;
} renewal;

static void free_renewal(renewal *r)
{
    kiln_release(r->context, r->number, 2 * r->rows * sizeof *r->number);
    kiln_array_free(r->context, &r->row);
    kiln_array_free(r->context, &r->first);
    kiln_array_free(r->context, &r->met);
    kiln_array_free(r->context, &r->member);
    kiln_array_free(r->context, &r->column);
    kiln_array_free(r->context, &r->end);
}

static void want(renewal *r, uint32_t row)
{
    r->row.data[r->row.count++] = row;
    r->number[row] = (uint32_t)r->row.count;
}

/* Those that have changed, and all that were not there. */
static kiln_status choose_rows(renewal *r, const uint32_t *changed, size_t count, kiln_error *error)
{
    size_t bytes = 2 * r->rows * sizeof *r->number;
    r->number = bytes ? kiln_resize(r->context, NULL, 0, bytes) : NULL;
    if (bytes && !r->number)
        return kiln_fail_memory(error, bytes);
    if (bytes)
        memset(r->number, 0, bytes);
    r->mark = r->number + r->rows;
    KILN_TRY(kiln_array_reserve(r->context, &r->row, count + r->rows - r->kept, error));
    for (size_t i = 0; i < count && changed[i] < r->kept; i++)
        want(r, changed[i]);
    for (size_t row = r->kept; row < r->rows; row++)
        want(r, (uint32_t)row);
    return KILN_OK;
}

/* Which wanted row is in which clique, as they are met; and, two places ahead, how many each has:
 * after they are put in order, one place ahead is where the next row begins. */
static kiln_status meet_members(renewal *r, const kiln_cliques *set, kiln_error *error)
{
    for (size_t c = 0; c < set->count; c++) {
        kiln_clique rows = kiln_clique_at(set, c);
        KILN_TRY(kiln_array_reserve(r->context, &r->met,
                                    r->met.count + (size_t)(rows.end - rows.begin), error));
        for (const uint32_t *row = rows.begin; row < rows.end; row++) {
            uint32_t number = *row == KILN_BSR_NO_ROW ? 0 : r->number[*row];
            r->met.data[r->met.count] = (membership){number, rows};
            r->met.count += number != 0;
            r->first.data[number + 1]++;
        }
    }
    return KILN_OK;
}

static kiln_status find_members(renewal *r, const kiln_cliques *sets, size_t set_count,
                                kiln_error *error)
{
    size_t wanted = r->row.count;
    KILN_TRY(kiln_array_reserve(r->context, &r->first, wanted + 2, error));
    memset(r->first.data, 0, (wanted + 2) * sizeof *r->first.data);
    for (size_t s = 0; s < set_count; s++)
        KILN_TRY(meet_members(r, &sets[s], error));
    r->first.data[1] = 0; /* rows that are not wanted */
    for (size_t i = 2; i < wanted + 2; i++)
        r->first.data[i] += r->first.data[i - 1];
    KILN_TRY(kiln_array_reserve(r->context, &r->member, r->met.count, error));
    for (size_t i = 0; i < r->met.count; i++)
        r->member.data[r->first.data[r->met.data[i].number]++] = r->met.data[i].rows;
    return KILN_OK;
}

/* Diagonal and columns above it, each once. */
static kiln_status gather_row(renewal *r, size_t i, kiln_error *error)
{
    uint32_t row = r->row.data[i], stamp = (uint32_t)i + 1;
    size_t most = 1, begin = r->column.count;
    for (uint32_t m = r->first.data[i]; m < r->first.data[i + 1]; m++)
        most += (size_t)(r->member.data[m].end - r->member.data[m].begin);
    KILN_TRY(kiln_array_reserve(r->context, &r->column, begin + most, error));
    uint32_t *out = r->column.data + begin;
    size_t count = 0;
    out[count++] = row;
    for (uint32_t m = r->first.data[i]; m < r->first.data[i + 1]; m++)
        for (const uint32_t *at = r->member.data[m].begin; at < r->member.data[m].end; at++) {
            if (*at <= row || *at == KILN_BSR_NO_ROW || r->mark[*at] == stamp)
                continue;
            r->mark[*at] = stamp;
            out[count++] = *at;
        }
    kiln_bsr_sort_columns(out + 1, count - 1);
    r->column.count += count;
    r->end.data[r->end.count++] = (uint32_t)r->column.count;
    return KILN_OK;
}

static uint64_t hash_old(const kiln_bsr *old, size_t row)
{
    return kiln_bsr_hash_row(row, old->column + old->start[row],
                             (size_t)(old->start[row + 1] - old->start[row]));
}

/* Row i of the wanted ones against what it was. */
static kiln_status compare_row(renewal *r, size_t i, kiln_u32_array *renewed, kiln_error *error)
{
    const kiln_bsr *old = r->old;
    uint32_t row = r->row.data[i], begin = i ? r->end.data[i - 1] : 0;
    const uint32_t *column = r->column.data + begin;
    size_t count = r->end.data[i] - begin;
    if (row < r->kept) {
        const uint32_t *was = old->column + old->start[row];
        if (old->start[row + 1] - old->start[row] == count &&
            memcmp(was, column, count * sizeof *was) == 0)
            return KILN_OK;
        r->hash -= hash_old(old, row);
    }
    r->hash += kiln_bsr_hash_row(row, column, count);
    return kiln_array_push(r->context, renewed, row, error);
}

static kiln_status gather_rows(renewal *r, const kiln_cliques *sets, size_t set_count,
                               kiln_u32_array *renewed, kiln_error *error)
{
    KILN_TRY(find_members(r, sets, set_count, error));
    KILN_TRY(kiln_array_reserve(r->context, &r->end, r->row.count, error));
    for (size_t i = 0; i < r->row.count; i++)
        KILN_TRY(gather_row(r, i, error));
    r->hash = r->old->pattern - kiln_bsr_hash_size(r->old->block, r->old->rows) +
              kiln_bsr_hash_size(r->old->block, r->rows);
    for (size_t row = r->kept; row < r->old->rows; row++)
        r->hash -= hash_old(r->old, row);
    for (size_t i = 0; i < r->row.count; i++)
        KILN_TRY(compare_row(r, i, renewed, error));
    return KILN_OK;
}

/* Rows `begin` to `end` as they were. */
static void copy_rows(const renewal *r, kiln_bsr *fresh, size_t begin, size_t end, uint64_t *at)
{
    const kiln_bsr *old = r->old;
    if (begin == end)
        return;
    uint64_t first = old->start[begin], count = old->start[end] - first;
    memcpy(fresh->column + *at, old->column + first, count * sizeof *fresh->column);
    for (size_t row = begin; row < end; row++)
        fresh->start[row] = old->start[row] - first + *at;
    *at += count;
}

static void join_rows(const renewal *r, kiln_bsr *fresh)
{
    uint64_t at = 0;
    size_t row = 0, taken = 0;
    for (size_t i = 0; i < r->row.count; i++) {
        size_t count = r->end.data[i] - taken;
        copy_rows(r, fresh, row, r->row.data[i], &at);
        row = r->row.data[i];
        fresh->start[row++] = at;
        memcpy(fresh->column + at, r->column.data + taken, count * sizeof *fresh->column);
        at += count;
        taken += count;
    }
    copy_rows(r, fresh, row, r->rows, &at);
    fresh->start[r->rows] = at;
}

static uint64_t count_blocks(const renewal *r)
{
    const uint64_t *start = r->old->start;
    uint64_t sum = start[r->kept] + r->column.count;
    for (size_t i = 0; i < r->row.count && r->row.data[i] < r->kept; i++)
        sum -= start[r->row.data[i] + 1] - start[r->row.data[i]];
    return sum;
}

static kiln_status exchange(renewal *r, kiln_bsr *matrix, kiln_u32_array *renewed,
                            kiln_error *error)
{
    size_t blocks = count_blocks(r), start_bytes = (r->rows + 1) * sizeof(uint64_t);
    kiln_bsr fresh = {.context = r->context,
                      .block = matrix->block,
                      .rows = r->rows,
                      .pattern = r->hash,
                      .renewed_from = matrix->pattern};
    fresh.start = kiln_resize(r->context, NULL, 0, start_bytes);
    fresh.column = kiln_resize(r->context, NULL, 0, blocks * sizeof(uint32_t));
    if (!fresh.start || !fresh.column) {
        kiln_release(r->context, fresh.start, fresh.start ? start_bytes : 0);
        kiln_release(r->context, fresh.column, fresh.column ? blocks * sizeof(uint32_t) : 0);
        return kiln_fail_memory(error, blocks * sizeof(uint32_t));
    }
    join_rows(r, &fresh);
    fresh.renewed = *renewed;
    *renewed = (kiln_u32_array){0};
    return kiln_bsr_take_pattern(matrix, &fresh, error);
}

kiln_status kiln_bsr_renew_pattern(kiln_bsr *matrix, size_t rows, const kiln_cliques *cliques,
                                   size_t clique_sets, const uint32_t *changed,
                                   size_t changed_count, kiln_error *error)
{
    KILN_ASSERT_OP(rows, <, (size_t)1 << 31);
    if (!matrix->start || rows == 0)
        return kiln_bsr_set_pattern(matrix, rows, cliques, clique_sets, error);
    renewal r = {.context = matrix->context,
                 .old = matrix,
                 .rows = rows,
                 .kept = rows < matrix->rows ? rows : matrix->rows};
    kiln_u32_array renewed = {0};
    kiln_status status = choose_rows(&r, changed, changed_count, error);
    if (status == KILN_OK)
        status = gather_rows(&r, cliques, clique_sets, &renewed, error);
    if (status == KILN_OK && (renewed.count > 0 || rows != matrix->rows))
        status = exchange(&r, matrix, &renewed, error);
    free_renewal(&r);
    kiln_array_free(matrix->context, &renewed);
    return status;
}

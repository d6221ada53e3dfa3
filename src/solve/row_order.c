#include "solve/row_order.h"

#include "base/parallel.h"

#include <string.h>

/* Each thread sees to the lists of its own rows: those of the blocks of a row itself, and of the
 * columns among its rows in the rows above. Lists are filled by moving their begins, which are the
 * ends of those before when it is done. */
typedef struct listing {
    const kiln_bsr *matrix;
    kiln_row_graph *graph;
    size_t parts;
} listing;

static uint64_t first_from(const kiln_bsr *matrix, size_t row, size_t column)
{
    uint64_t low = matrix->start[row] + 1, high = matrix->start[row + 1];
    while (column > 0 && low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (matrix->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void count_part(void *user, size_t part, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const listing *l = user;
    const kiln_bsr *m = l->matrix;
    size_t first = l->graph->rows * part / l->parts, last = l->graph->rows * (part + 1) / l->parts;
    for (size_t i = 0; i < last; i++) {
        uint64_t stop = m->start[i + 1];
        for (uint64_t b = first_from(m, i, first); b < stop && m->column[b] < last; b++)
            l->graph->start[m->column[b]]++;
        if (i >= first)
            l->graph->start[i] += stop - m->start[i] - 1;
    }
}

static void fill_part(void *user, size_t part, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const listing *l = user;
    const kiln_bsr *m = l->matrix;
    uint64_t *at = l->graph->start;
    size_t first = l->graph->rows * part / l->parts, last = l->graph->rows * (part + 1) / l->parts;
    for (size_t i = 0; i < last; i++) {
        uint64_t stop = m->start[i + 1];
        for (uint64_t b = first_from(m, i, first); b < stop && m->column[b] < last; b++)
            l->graph->neighbour[at[m->column[b]]++] = (uint32_t)i;
    }
    for (size_t i = first; i < last; i++)
        for (uint64_t b = m->start[i] + 1; b < m->start[i + 1]; b++)
            l->graph->neighbour[at[i]++] = m->column[b];
}

kiln_status kiln_row_graph_make(const kiln_bsr *matrix, kiln_row_graph *out, kiln_error *error)
{
    kiln_context *context = matrix->context;
    size_t rows = matrix->rows, edges = 2 * ((size_t)matrix->start[rows] - rows);
    *out = (kiln_row_graph){.rows = rows, .edges = edges};
    out->start = kiln_resize(context, NULL, 0, (rows + 1) * sizeof(uint64_t));
    out->neighbour = edges ? kiln_resize(context, NULL, 0, edges * sizeof(uint32_t)) : NULL;
    if (!out->start || (edges && !out->neighbour)) {
        kiln_row_graph_free(context, out);
        return kiln_fail_memory(error, rows * sizeof(uint64_t) + edges * sizeof(uint32_t));
    }
    memset(out->start, 0, (rows + 1) * sizeof(uint64_t));
    listing job = {matrix, out, (size_t)context->threads};
    kiln_parallel_for(context, job.parts, 1, count_part, &job);
    uint64_t sum = 0;
    for (size_t i = 0; i <= rows; i++) {
        uint64_t here = out->start[i];
        out->start[i] = sum;
        sum += here;
    }
    kiln_parallel_for(context, job.parts, 1, fill_part, &job);
    memmove(out->start + 1, out->start, rows * sizeof *out->start);
    out->start[0] = 0;
    return KILN_OK;
}

void kiln_row_graph_free(kiln_context *context, kiln_row_graph *graph)
{
    kiln_release(context, graph->neighbour, graph->edges * sizeof(uint32_t));
    kiln_release(context, graph->start, (graph->rows + 1) * sizeof(uint64_t));
    *graph = (kiln_row_graph){0};
}

static uint64_t degree(const kiln_row_graph *graph, uint32_t row)
{
    return graph->start[row + 1] - graph->start[row];
}

/* Breadth first from `root`, neighbours by degree; marks rows with `stamp`, passes over those that
 * have it. Returns how many rows were reached; order[0] is the root. */
static size_t spread(const kiln_row_graph *graph, uint32_t root, uint32_t stamp, uint32_t *order,
                     uint32_t *mark)
{
    size_t count = 1;
    order[0] = root;
    mark[root] = stamp;
    for (size_t at = 0; at < count; at++) {
        size_t first = count;
        for (uint64_t k = graph->start[order[at]]; k < graph->start[order[at] + 1]; k++) {
            uint32_t row = graph->neighbour[k];
            if (mark[row] == stamp)
                continue;
            mark[row] = stamp;
            uint64_t own = degree(graph, row);
            size_t place = count++;
            for (; place > first && degree(graph, order[place - 1]) > own; place--)
                order[place] = order[place - 1];
            order[place] = row;
        }
    }
    return count;
}

/* Each connected part is begun at an end of it: the row reached last from the row reached last.
 * Stamps: 0 not seen, then 1 and 2 for the two trials, 3 for good. */
void kiln_row_order(const kiln_row_graph *graph, uint32_t *order, uint32_t *mark)
{
    memset(mark, 0, graph->rows * sizeof *mark);
    size_t done = 0;
    for (uint32_t row = 0; row < graph->rows; row++) {
        if (mark[row] == 3)
            continue;
        uint32_t root = row;
        for (uint32_t trial = 1; trial <= 2; trial++)
            root = order[done + spread(graph, root, trial, order + done, mark) - 1];
        done += spread(graph, root, 3, order + done, mark);
    }
    for (size_t i = 0; i < done / 2; i++) {
        uint32_t t = order[i];
        order[i] = order[done - 1 - i];
        order[done - 1 - i] = t;
    }
}

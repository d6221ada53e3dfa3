#include "solve/row_order.h"

#include <string.h>

/* Lists are filled by moving their begins, which are the ends of those before when it is done. */
static void fill_lists(const kiln_bsr *matrix, kiln_row_graph *graph)
{
    uint64_t *at = graph->start;
    for (size_t i = 0; i < graph->rows; i++)
        for (uint64_t b = matrix->start[i] + 1; b < matrix->start[i + 1]; b++)
            graph->neighbour[at[matrix->column[b]]++] = (uint32_t)i;
    for (size_t i = 0; i < graph->rows; i++)
        for (uint64_t b = matrix->start[i] + 1; b < matrix->start[i + 1]; b++)
            graph->neighbour[at[i]++] = matrix->column[b];
    memmove(at + 1, at, graph->rows * sizeof *at);
    at[0] = 0;
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
    for (size_t i = 0; i < rows; i++)
        for (uint64_t b = matrix->start[i] + 1; b < matrix->start[i + 1]; b++) {
            out->start[i]++;
            out->start[matrix->column[b]]++;
        }
    uint64_t sum = 0;
    for (size_t i = 0; i <= rows; i++) {
        uint64_t here = out->start[i];
        out->start[i] = sum;
        sum += here;
    }
    fill_lists(matrix, out);
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

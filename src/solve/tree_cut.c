#include "solve/tree_cut.h"

#include <string.h>

#define NONE KILN_NO_PLACE

/* The top by level, in a level by number. */
static kiln_status sort_levels(const kiln_symbolic *tree, kiln_tree_cut *cut, kiln_error *error)
{
    kiln_u32_array level = {0}; /* [node] */
    size_t count = tree->count, top = cut->top.count;
    uint32_t levels = 0;
    KILN_TRY(kiln_array_reserve(tree->context, &level, count + top + 1, error));
    uint32_t *sorted = level.data + count;
    memset(level.data, 0, count * sizeof *level.data);
    for (size_t k = 0; k < top; k++) {
        uint32_t i = cut->top.data[k], parent = tree->node[i].parent, above = level.data[i] + 1;
        if (parent != NONE && level.data[parent] < above)
            level.data[parent] = above;
        levels = above > levels ? above : levels;
    }
    cut->level.count = 0;
    kiln_status status = kiln_array_reserve(tree->context, &cut->level, levels + 1, error);
    if (status == KILN_OK) {
        uint32_t *first = cut->level.data;
        cut->level.count = levels + 1;
        memset(first, 0, (levels + 1) * sizeof *first);
        for (size_t k = 0; k < top; k++)
            first[level.data[cut->top.data[k]] + 1]++;
        for (uint32_t l = 0; l < levels; l++)
            first[l + 1] += first[l];
        for (size_t k = 0; k < top; k++)
            sorted[first[level.data[cut->top.data[k]]]++] = cut->top.data[k];
        memmove(first + 1, first, levels * sizeof *first);
        first[0] = 0;
        if (top)
            memcpy(cut->top.data, sorted, top * sizeof *sorted);
    }
    kiln_array_free(tree->context, &level);
    return status;
}

static double cost_of_task(const kiln_tree_cut *cut, const double *below, uint32_t t)
{
    double sum = 0.0;
    for (uint32_t k = cut->task.data[t]; k < cut->task.data[t + 1]; k++)
        sum += below[cut->root.data[k]];
    return sum;
}

/* The threads' shares of a loop are runs of its chunks (parallel.c, L6): each gets of the longest
 * in turn, so that all come to their short ones together. */
static void deal(const uint32_t *longest, uint32_t tasks, size_t threads, uint32_t *turn)
{
    size_t dealt = 0;
    for (size_t round = 0; dealt < tasks; round++)
        for (size_t t = 0; t < threads; t++) {
            size_t place = tasks * t / threads + round;
            if (place < tasks * (t + 1) / threads)
                turn[place] = longest[dealt++];
        }
}

static kiln_status order_tasks(const kiln_symbolic *tree, const double *below, kiln_tree_cut *cut,
                               kiln_error *error)
{
    uint32_t tasks = (uint32_t)cut->task.count - 1;
    KILN_TRY(kiln_array_reserve(tree->context, &cut->turn, 2 * tasks + 1, error));
    uint32_t *longest = cut->turn.data + tasks;
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t at = t;
        double cost = cost_of_task(cut, below, t);
        for (; at > 0 && cost_of_task(cut, below, longest[at - 1]) < cost; at--)
            longest[at] = longest[at - 1];
        longest[at] = t;
    }
    deal(longest, tasks, (size_t)tree->context->threads, cut->turn.data);
    return KILN_OK;
}

/* The largest subtrees that are small enough; those side by side that are smaller still share a
 * task. */
kiln_status kiln_tree_cut_make(kiln_tree_cut *to, const kiln_symbolic *tree, const double *below,
                               double limit, kiln_error *error)
{
    double sum = 0.0;
    uint32_t begin = 0; /* of the subtree that ends with i: subtrees are contiguous */
    to->task.count = to->root.count = to->begin.count = to->top.count = 0;
    KILN_TRY(kiln_array_push(tree->context, &to->task, 0, error));
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t parent = tree->node[i].parent;
        if (below[i] > limit) {
            KILN_TRY(kiln_array_push(tree->context, &to->top, i, error));
            begin = i + 1;
        } else if (parent == NONE || below[parent] > limit) {
            KILN_TRY(kiln_array_push(tree->context, &to->root, i, error));
            KILN_TRY(kiln_array_push(tree->context, &to->begin, begin, error));
            begin = i + 1;
            sum += below[i];
            if (sum >= 0.25 * limit) {
                KILN_TRY(
                    kiln_array_push(tree->context, &to->task, (uint32_t)to->root.count, error));
                sum = 0.0;
            }
        }
    }
    if (to->task.data[to->task.count - 1] < to->root.count)
        KILN_TRY(kiln_array_push(tree->context, &to->task, (uint32_t)to->root.count, error));
    KILN_TRY(order_tasks(tree, below, to, error));
    return sort_levels(tree, to, error);
}

void kiln_tree_cut_free(kiln_context *context, kiln_tree_cut *c)
{
    kiln_array_free(context, &c->turn);
    kiln_array_free(context, &c->task);
    kiln_array_free(context, &c->root);
    kiln_array_free(context, &c->begin);
    kiln_array_free(context, &c->top);
    kiln_array_free(context, &c->level);
}

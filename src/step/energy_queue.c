/* The queue of candidates: largest gain first, ties by number. */
#include "step/energy_impl.h"

static bool comes_before(const kiln_energy_candidate *p, const kiln_energy_candidate *q)
{
    if (p->gain != q->gain)
        return p->gain > q->gain;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

void kiln_energy_push(kiln_energy_pass *w, kiln_energy_candidate c)
{
    kiln_status status = kiln_array_push(w->remesher->context, &w->heap, c, w->error);
    if (status != KILN_OK) {
        w->status = status;
        return;
    }
    kiln_energy_candidate *heap = w->heap.data;
    size_t i = w->heap.count - 1;
    for (; i > 0 && comes_before(&c, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = c;
}

kiln_energy_candidate kiln_energy_pop(kiln_energy_pass *w)
{
    kiln_energy_candidate *heap = w->heap.data, top = heap[0], last = heap[--w->heap.count];
    size_t count = w->heap.count, i = 0;
    while (2 * i + 1 < count) {
        size_t child = 2 * i + 1;
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (comes_before(&last, &heap[child]))
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (count > 0)
        heap[i] = last;
    return top;
}

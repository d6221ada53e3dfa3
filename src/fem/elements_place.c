/* Which lane a tet has. */
#include "fem/elements_layout.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };

kiln_status kiln_elements_check_material(const kiln_elements *elements, uint32_t tet,
                                         uint32_t material, kiln_error *error)
{
    if (material < elements->materials.count)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, "elements", 0, -1,
                     "tet %u has material %u, there are %zu", (unsigned)tet, (unsigned)material,
                     elements->materials.count);
}

kiln_status kiln_elements_make_room(kiln_elements *elements, size_t slots, kiln_error *error)
{
    kiln_elements *e = elements;
    kiln_context *context = e->context;
    size_t windows = kiln_windows_of(slots), batches = windows * kiln_window_batches(e);
    bool pressure = false;
    for (size_t m = 0; m < e->materials.count; m++)
        pressure |= e->materials.data[m].nodal_pressure;
    KILN_TRY(kiln_array_reserve(context, &e->batches, batches, error));
    KILN_TRY(kiln_array_reserve(context, &e->vertex, 4 * LANES * batches, error));
    KILN_TRY(kiln_array_reserve(context, &e->material_of, batches, error));
    KILN_TRY(kiln_array_reserve(context, &e->mention, batches, error));
    KILN_TRY(kiln_array_reserve(context, &e->stale, batches, error));
    KILN_TRY(kiln_array_reserve(context, &e->number_of, slots, error));
    KILN_TRY(kiln_array_reserve(context, &e->partial, windows, error));
    if (pressure)
        KILN_TRY(kiln_array_reserve(context, &e->pressure, LANES * batches, error));
    e->batches.count = e->material_of.count = e->mention.count = e->stale.count = batches;
    e->vertex.count = 4 * LANES * batches;
    e->number_of.count = slots;
    e->pressure.count = pressure ? LANES * batches : 0;
    return KILN_OK;
}

KILN_INLINE void order(uint32_t *a, uint32_t *b)
{
    uint32_t low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;
    *a = low, *b = high;
}

/* As a network: corners come in any order, so branches would not be foreseen. */
KILN_INLINE void sort4(uint32_t v[4])
{
    order(&v[0], &v[1]), order(&v[2], &v[3]);
    order(&v[0], &v[2]), order(&v[1], &v[3]);
    order(&v[1], &v[2]);
}

void kiln_elements_set_vertices(kiln_elements *elements, const kiln_mesh *mesh, uint32_t tet)
{
    uint32_t *v = elements->vertex.data + 4 * (size_t)elements->number_of.data[tet];
    uint32_t sorted[4];
    memcpy(sorted, mesh->tet[tet].v, sizeof sorted);
    sort4(sorted);
    memcpy(v, sorted, sizeof sorted);
}

/* Turns counts of tets into the number of the first of each material. Returns the batch after the
 * last. */
static size_t begin_materials(kiln_elements *e, size_t batch, size_t *count)
{
    for (size_t m = 0; m < e->materials.count; m++) {
        size_t tets = count[m], end = batch + (tets + LANES - 1) / LANES;
        count[m] = LANES * batch;
        for (; batch < end; batch++)
            e->material_of.data[batch] = (uint32_t)m;
    }
    return batch;
}

static void leave_out(kiln_elements *e, size_t batch)
{
    e->batches.data[batch] = (kiln_element_batch){.volume = {0}};
    memset(e->batches.data[batch].slot, 0xFF, sizeof e->batches.data[batch].slot);
    memset(e->vertex.data + 4 * LANES * batch, 0xFF, 4 * LANES * sizeof(uint32_t));
    e->material_of.data[batch] = KILN_NONE;
    e->mention.data[batch] = e->stale.data[batch] = 0;
}

void kiln_elements_place_window(kiln_elements *elements, const kiln_mesh *mesh,
                                const uint32_t *material_of, size_t window, size_t *count)
{
    kiln_elements *e = elements;
    size_t slots = e->number_of.count, first = window * KILN_WINDOW_TETS;
    size_t last = first + KILN_WINDOW_TETS < slots ? first + KILN_WINDOW_TETS : slots;
    size_t batch = window * kiln_window_batches(e), end = batch + kiln_window_batches(e);
    memset(count, 0, e->materials.count * sizeof *count);
    for (size_t t = first; t < last; t++)
        if (kiln_tet_live(mesh, (uint32_t)t))
            count[material_of[t]]++;
    size_t used = begin_materials(e, batch, count);
    for (size_t b = batch; b < used; b++)
        memset(e->batches.data[b].slot, 0xFF, sizeof e->batches.data[b].slot);
    for (; used < end; used++)
        leave_out(e, used);
    for (size_t t = first; t < last; t++) {
        e->number_of.data[t] = KILN_NONE;
        if (!kiln_tet_live(mesh, (uint32_t)t))
            continue;
        size_t number = count[material_of[t]]++;
        e->number_of.data[t] = (uint32_t)number;
        e->batches.data[number / LANES].slot[number % LANES] = (uint32_t)t;
        kiln_elements_set_vertices(e, mesh, (uint32_t)t);
    }
}

void kiln_elements_pad(kiln_elements *elements, size_t batch)
{
    kiln_element_batch *b = &elements->batches.data[batch];
    uint32_t *vertex = elements->vertex.data + 4 * LANES * batch;
    for (size_t lane = LANES; lane-- > 1 && b->slot[lane] == KILN_NONE;) {
        if (b->slot[0] == KILN_NONE)
            return;
        b->volume[lane] = 0.0;
        for (int k = 0; k < 9; k++)
            b->gradient[k][lane] = b->gradient[k][0];
        memcpy(vertex + 4 * lane, vertex, 4 * sizeof *vertex);
    }
}

/* From a mesh to elements: all of it anew. */
#include "base/parallel.h"
#include "fem/elements_layout.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, LAME_GRAIN = 512 };

static kiln_status count_tets(kiln_elements *e, const kiln_mesh *mesh, const uint32_t *material_of,
                              kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(e->context, &e->tets_of, e->materials.count, error));
    e->tets_of.count = e->materials.count;
    if (e->materials.count > 0)
        memset(e->tets_of.data, 0, e->tets_of.count * sizeof(size_t));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        KILN_TRY(kiln_elements_check_material(e, t, material_of[t], error));
        e->tets_of.data[material_of[t]]++;
        e->count++;
    }
    return KILN_OK;
}

static kiln_status place_all(kiln_elements *e, const kiln_mesh *mesh, const uint32_t *material_of,
                             kiln_error *error)
{
    size_t slots = mesh->table[KILN_ON_TET].used, bytes = (e->materials.count + 1) * sizeof(size_t);
    KILN_TRY(kiln_elements_make_room(e, slots, error));
    size_t *count = kiln_resize(e->context, NULL, 0, bytes);
    if (!count)
        return kiln_fail_memory(error, bytes);
    for (size_t w = 0; w < kiln_windows_of(slots); w++)
        kiln_elements_place_window(e, mesh, material_of, w, count);
    kiln_release(e->context, count, bytes);
    return KILN_OK;
}

static kiln_status form_all(kiln_elements *e, const kiln_mesh *mesh, kiln_error *error)
{
    KILN_TRY(kiln_elements_form(e, mesh, NULL, e->number_of.count, error));
    for (size_t b = 0; b < e->batches.count; b++)
        kiln_elements_pad(e, b);
    return KILN_OK;
}

static kiln_status build(kiln_elements *e, const kiln_mesh *mesh, const uint32_t *material_of,
                         kiln_error *error)
{
    KILN_TRY(count_tets(e, mesh, material_of, error));
    KILN_TRY(place_all(e, mesh, material_of, error));
    if (e->batches.count > 0)
        memset(e->stale.data, 0, e->stale.count);
    KILN_TRY(form_all(e, mesh, error));
    return kiln_elements_colour(e, NULL, error);
}

void kiln_elements_forget(kiln_elements *elements)
{
    kiln_elements *e = elements;
    e->count = 0;
    e->batches.count = e->vertex.count = e->chunks.count = e->colours.count = 0;
    e->named.count = e->named_first.count = 0;
    e->material_of.count = e->mention.count = e->stale.count = e->number_of.count = 0;
    e->materials.count = e->tets_of.count = e->partial.count = e->pressure.count = 0;
    e->touched.count = 0;
    kiln_array_free(e->context, &e->lame);
    e->yield.count = e->ratio.count = 0;
    e->pattern = 0;
    e->any_stale = e->waiting_known = false;
    e->waiting.count = e->retied.count = e->around.count = 0;
    e->state++;
    e->term.revision++;
}

kiln_status kiln_elements_build(kiln_elements *elements, const kiln_mesh *mesh,
                                const kiln_material *materials, size_t material_count,
                                const uint32_t *material_of, kiln_error *error)
{
    kiln_elements_forget(elements);
    elements->vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(elements->context, &elements->materials, material_count, error));
    if (material_count > 0) /* an update gives the elements' own */
        memmove(elements->materials.data, materials, material_count * sizeof *materials);
    elements->materials.count = material_count;
    kiln_status status = build(elements, mesh, material_of, error);
    if (status != KILN_OK)
        kiln_elements_forget(elements);
    return status;
}

kiln_status kiln_elements_reform(kiln_elements *elements, const kiln_mesh *mesh, kiln_error *error)
{
    elements->state++;
    kiln_status status = kiln_elements_form(elements, mesh, NULL, elements->number_of.count, error);
    for (size_t c = 0; c < elements->chunks.count && status == KILN_OK; c++) {
        const kiln_element_chunk *chunk = &elements->chunks.data[c];
        kiln_elements_pad(elements, chunk->batch + chunk->batches - 1);
    }
    if (status != KILN_OK)
        kiln_elements_forget(elements);
    return status;
}

typedef struct lame_job {
    kiln_elements *e;
    const double *mu, *lambda;
} lame_job;

static void lame_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const lame_job *job = user;
    for (size_t b = begin; b < end; b++)
        for (size_t lane = 0; lane < LANES; lane++) {
            const uint32_t *slots = job->e->batches.data[b].slot;
            uint32_t slot = slots[lane] == KILN_NONE ? slots[0] : slots[lane];
            double *at = job->e->lame.data + 2 * LANES * b + lane;
            at[0] = slot == KILN_NONE ? 0.0 : job->mu[slot];
            at[LANES] = slot == KILN_NONE ? 0.0 : job->lambda[slot];
        }
}

kiln_status kiln_elements_set_lame(kiln_elements *elements, const double *mu, const double *lambda,
                                   kiln_error *error)
{
    size_t batches = elements->batches.count, numbers = 2 * LANES * batches;
    lame_job job = {elements, mu, lambda};
    elements->state++;
    KILN_TRY(kiln_array_reserve(elements->context, &elements->lame, numbers, error));
    elements->lame.count = numbers;
    kiln_parallel_for(elements->context, batches, LAME_GRAIN, lame_chunk, &job);
    return KILN_OK;
}

void kiln_elements_destroy(kiln_elements *elements)
{
    if (!elements)
        return;
    kiln_context *context = elements->context;
    kiln_array_free(context, &elements->batches);
    kiln_array_free(context, &elements->vertex);
    kiln_array_free(context, &elements->chunks);
    kiln_array_free(context, &elements->colours);
    kiln_array_free(context, &elements->materials);
    kiln_array_free(context, &elements->tets_of);
    kiln_array_free(context, &elements->material_of);
    kiln_array_free(context, &elements->number_of);
    kiln_array_free(context, &elements->mention);
    kiln_array_free(context, &elements->named);
    kiln_array_free(context, &elements->named_first);
    kiln_array_free(context, &elements->stale);
    kiln_array_free(context, &elements->touched);
    kiln_array_free(context, &elements->waiting);
    kiln_array_free(context, &elements->retied);
    kiln_array_free(context, &elements->around);
    kiln_array_free(context, &elements->partial);
    kiln_array_free(context, &elements->lame);
    kiln_array_free(context, &elements->pressure);
    kiln_array_free(context, &elements->yield);
    kiln_array_free(context, &elements->ratio);
    kiln_array_free(context, &elements->ratio_scratch);
    kiln_kept_values_free(&elements->kept, context);
    kiln_release(context, elements, sizeof *elements);
}

size_t kiln_elements_count(const kiln_elements *elements)
{
    return elements->count;
}

size_t kiln_elements_bytes(const kiln_elements *elements)
{
    const kiln_elements *e = elements;
    return sizeof *e + kiln_kept_values_bytes(&e->kept) +
           e->batches.capacity * sizeof *e->batches.data +
           (e->vertex.capacity + e->material_of.capacity + e->number_of.capacity +
            e->mention.capacity + e->touched.capacity + e->waiting.capacity + e->retied.capacity +
            e->around.capacity + e->named.capacity + e->named_first.capacity) *
               sizeof(uint32_t) +
           e->stale.capacity + e->chunks.capacity * sizeof *e->chunks.data +
           (e->colours.capacity + e->tets_of.capacity) * sizeof(size_t) +
           e->materials.capacity * sizeof *e->materials.data +
           (e->partial.capacity + e->lame.capacity + e->pressure.capacity + e->yield.capacity +
            e->ratio.capacity + e->ratio_scratch.capacity) *
               sizeof(double);
}

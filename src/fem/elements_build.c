/* From a mesh to batches, chunks and colours. */
#include "fem/elements_impl.h"

#include "base/assert.h"
#include "base/parallel.h"
#include "fem/offset.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, MASK_COLOURS = 64 };

/* Element numbers are the tets counted by material, each material rounded up to whole batches. */
typedef struct build_job {
    kiln_elements *e;
    const kiln_mesh *mesh;
    const uint32_t *material_of;
    kiln_offsets offsets;
    size_t *next; /* [material] element number of the next tet */
} build_job;

static kiln_status count_tets(build_job *job, size_t *tets, kiln_error *error)
{
    const kiln_mesh *mesh = job->mesh;
    size_t materials = job->e->materials.count;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        if (job->material_of[t] >= materials)
            return kiln_fail(error, KILN_ERR_INPUT, "elements", 0, -1,
                             "tet %u has material %u, there are %zu", (unsigned)t,
                             (unsigned)job->material_of[t], materials);
        tets[job->material_of[t]]++;
    }
    return KILN_OK;
}

static size_t batches_of(size_t tets)
{
    return (tets + LANES - 1) / LANES;
}

static kiln_status make_room(build_job *job, const size_t *tets, kiln_error *error)
{
    kiln_elements *e = job->e;
    kiln_context *context = e->context;
    size_t batches = 0, chunks = 0;
    e->count = 0;
    KILN_TRY(kiln_array_reserve(context, &e->first, e->materials.count + 1, error));
    e->first.count = e->materials.count + 1;
    for (size_t m = 0; m < e->materials.count; m++) {
        e->first.data[m] = batches;
        job->next[m] = batches * LANES;
        e->count += tets[m];
        batches += batches_of(tets[m]);
        chunks += kiln_chunk_count(batches_of(tets[m]), KILN_CHUNK_BATCHES);
    }
    e->first.data[e->materials.count] = batches;
    bool pressure = false;
    for (size_t m = 0; m < e->materials.count; m++)
        pressure |= e->materials.data[m].nodal_pressure;
    KILN_TRY(kiln_array_reserve(context, &e->batches, batches, error));
    KILN_TRY(kiln_array_reserve(context, &e->vertex, 4 * LANES * batches, error));
    KILN_TRY(kiln_array_reserve(context, &e->chunks, chunks, error));
    KILN_TRY(kiln_array_reserve(context, &e->partial, chunks, error));
    KILN_TRY(kiln_array_reserve(context, &e->colours, chunks + 1, error));
    if (pressure)
        KILN_TRY(kiln_array_reserve(context, &e->pressure, LANES * batches, error));
    e->batches.count = batches;
    e->vertex.count = 4 * LANES * batches;
    e->partial.count = chunks;
    e->pressure.count = pressure ? LANES * batches : 0;
    return KILN_OK;
}

static void sort4(uint32_t v[4])
{
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && v[j] < v[j - 1]; j--) {
            uint32_t swap = v[j];
            v[j] = v[j - 1];
            v[j - 1] = swap;
        }
}

/* Rest shape and volume of an element whose slot and vertices are known. The order of the vertices
 * does not matter: Dm and Dw have the same one, F neither knows it. */
static bool form(const kiln_mesh *mesh, const kiln_offsets *offsets, kiln_element_batch *batch,
                 size_t lane, const uint32_t v[4])
{
    const kiln_vec3 *u = mesh->u;
    uint32_t tet = batch->slot[lane];
    kiln_mat3 Dm = kiln_m3_columns(kiln_v3_sub(u[v[1]], u[v[0]]), kiln_v3_sub(u[v[2]], u[v[0]]),
                                   kiln_v3_sub(u[v[3]], u[v[0]]));
    kiln_mat3 B = kiln_m3_inverse(Dm);
    double volume = fabs(kiln_m3_det(Dm)) / 6.0;
    if (offsets->shape) {
        kiln_mat3 Pi = kiln_offset_map(&offsets->shape[tet], volume, offsets->rest_volume[tet]);
        B = kiln_m3_mul(B, Pi);
        volume = offsets->rest_volume[tet];
    }
    for (int k = 0; k < 9; k++)
        batch->gradient[k][lane] = B.m[k / 3][k % 3];
    batch->volume[lane] = volume;
    return volume > 0.0 && isfinite(volume) && isfinite(kiln_m3_norm2(B));
}

static kiln_status no_volume(uint32_t tet, double volume, kiln_error *error)
{
    return kiln_fail(error, KILN_ERR_INPUT, "elements", 0, -1,
                     "tet %u has the rest volume %g m^3; it must be positive and not so small that "
                     "its shape is lost",
                     (unsigned)tet, volume);
}

static kiln_status place_tet(build_job *job, uint32_t tet, kiln_error *error)
{
    size_t number = job->next[job->material_of[tet]]++, lane = number % LANES;
    kiln_element_batch *batch = &job->e->batches.data[number / LANES];
    uint32_t *v = job->e->vertex.data + 4 * number;
    memcpy(v, job->mesh->tet[tet].v, 4 * sizeof *v);
    sort4(v);
    batch->slot[lane] = tet;
    if (!form(job->mesh, &job->offsets, batch, lane, v))
        return no_volume(tet, batch->volume[lane], error);
    return KILN_OK;
}

static void pad_batch(kiln_elements *e, size_t number)
{
    kiln_element_batch *batch = &e->batches.data[number / LANES];
    for (; number % LANES != 0; number++) {
        size_t lane = number % LANES;
        for (int k = 0; k < 9; k++)
            batch->gradient[k][lane] = batch->gradient[k][0];
        batch->volume[lane] = 0.0;
        batch->slot[lane] = KILN_NONE;
        memcpy(e->vertex.data + 4 * number, e->vertex.data + 4 * (number - lane),
               4 * sizeof(uint32_t));
    }
}

static void make_chunks(kiln_elements *e, const size_t *tets)
{
    size_t batch = 0;
    e->chunks.count = 0;
    for (size_t m = 0; m < e->materials.count; m++)
        for (size_t end = batch + batches_of(tets[m]); batch < end;) {
            size_t take = end - batch < KILN_CHUNK_BATCHES ? end - batch : KILN_CHUNK_BATCHES;
            e->chunks.data[e->chunks.count++] =
                (kiln_element_chunk){(uint32_t)batch, (uint32_t)take, (uint32_t)m};
            batch += take;
        }
}

/* Greedy: the colour with the fewest chunks among those that no vertex of the chunk has seen. A
 * chunk that finds none of the 64 free gets a colour of its own. */
static size_t choose_colour(uint64_t seen, const size_t used[MASK_COLOURS], size_t *colours)
{
    size_t best = MASK_COLOURS;
    for (size_t c = 0; c < *colours && c < MASK_COLOURS; c++)
        if (!(seen >> c & 1) && (best == MASK_COLOURS || used[c] < used[best]))
            best = c;
    return best < MASK_COLOURS ? best : (*colours)++;
}

static void colour_chunks(kiln_elements *e, uint64_t *seen_by, uint32_t *colour_of, size_t *colours)
{
    size_t used[MASK_COLOURS] = {0};
    memset(seen_by, 0, e->vertices * sizeof *seen_by);
    *colours = 0;
    for (size_t c = 0; c < e->chunks.count; c++) {
        const kiln_element_chunk *chunk = &e->chunks.data[c];
        const uint32_t *v = e->vertex.data + 4 * LANES * (size_t)chunk->batch;
        size_t corners = 4 * LANES * (size_t)chunk->batches;
        uint64_t seen = 0;
        for (size_t i = 0; i < corners; i++)
            seen |= seen_by[v[i]];
        size_t colour = choose_colour(seen, used, colours);
        colour_of[c] = (uint32_t)colour;
        if (colour >= MASK_COLOURS)
            continue;
        used[colour]++;
        for (size_t i = 0; i < corners; i++)
            seen_by[v[i]] |= UINT64_C(1) << colour;
    }
}

static void sort_chunks(kiln_elements *e, const uint32_t *colour_of, size_t colours,
                        kiln_element_chunk *sorted)
{
    size_t *start = e->colours.data, at = 0;
    e->colours.count = colours + 1;
    for (size_t colour = 0; colour < colours; colour++) {
        start[colour] = at;
        for (size_t c = 0; c < e->chunks.count; c++)
            if (colour_of[c] == colour)
                sorted[at++] = e->chunks.data[c];
    }
    start[colours] = at;
    memcpy(e->chunks.data, sorted, at * sizeof *sorted);
}

static kiln_status make_colours(kiln_elements *e, kiln_error *error)
{
    size_t chunks = e->chunks.count, colours;
    size_t bytes = e->vertices * sizeof(uint64_t) + chunks * sizeof(kiln_element_chunk) +
                   chunks * sizeof(uint32_t);
    char *scratch = kiln_resize(e->context, NULL, 0, bytes + 1);
    if (!scratch)
        return kiln_fail_memory(error, bytes);
    uint64_t *seen_by = (uint64_t *)(void *)scratch;
    kiln_element_chunk *sorted = (kiln_element_chunk *)(void *)(seen_by + e->vertices);
    uint32_t *colour_of = (uint32_t *)(void *)(sorted + chunks);
    colour_chunks(e, seen_by, colour_of, &colours);
    sort_chunks(e, colour_of, colours, sorted);
    kiln_release(e->context, scratch, bytes + 1);
    return KILN_OK;
}

static kiln_status fill_elements(build_job *job, size_t *tets, kiln_error *error)
{
    const kiln_mesh *mesh = job->mesh;
    KILN_TRY(count_tets(job, tets, error));
    KILN_TRY(make_room(job, tets, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            KILN_TRY(place_tet(job, t, error));
    for (size_t m = 0; m < job->e->materials.count; m++)
        pad_batch(job->e, job->next[m]);
    make_chunks(job->e, tets);
    return make_colours(job->e, error);
}

static void forget(kiln_elements *e)
{
    e->count = 0;
    e->batches.count = e->vertex.count = e->chunks.count = e->colours.count = 0;
    e->materials.count = e->first.count = e->partial.count = e->pressure.count = 0;
    kiln_array_free(e->context, &e->lame);
    e->pattern = 0;
    e->term.revision++;
}

kiln_status kiln_elements_build(kiln_elements *elements, const kiln_mesh *mesh,
                                const kiln_material *materials, size_t material_count,
                                const uint32_t *material_of, kiln_error *error)
{
    kiln_context *context = elements->context;
    forget(elements);
    elements->vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(context, &elements->materials, material_count, error));
    memcpy(elements->materials.data, materials, material_count * sizeof *materials);
    elements->materials.count = material_count;
    size_t bytes = 2 * (material_count + 1) * sizeof(size_t);
    size_t *counts = kiln_resize(context, NULL, 0, bytes);
    if (!counts)
        return kiln_fail_memory(error, bytes);
    memset(counts, 0, bytes);
    build_job job = {elements, mesh, material_of, kiln_offsets_of(mesh),
                     counts + material_count + 1};
    kiln_status status = fill_elements(&job, counts, error);
    kiln_release(context, counts, bytes);
    if (status != KILN_OK)
        forget(elements);
    return status;
}

typedef struct reform_job {
    kiln_elements *e;
    const kiln_mesh *mesh;
    kiln_offsets offsets;
} reform_job;

/* The first slot without volume goes to partial[chunk], or -1. */
static void reform_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const reform_job *job = user;
    const kiln_element_chunk *chunk = &job->e->chunks.data[index];
    double *failed = &job->e->partial.data[index];
    *failed = -1.0;
    for (size_t b = chunk->batch; b < (size_t)chunk->batch + chunk->batches; b++) {
        kiln_element_batch *batch = &job->e->batches.data[b];
        for (size_t lane = 0; lane < LANES; lane++) {
            if (batch->slot[lane] == KILN_NONE) {
                for (int k = 0; k < 9; k++)
                    batch->gradient[k][lane] = batch->gradient[k][0];
            } else if (!form(job->mesh, &job->offsets, batch, lane,
                             job->e->vertex.data + 4 * (LANES * b + lane)) &&
                       *failed < 0.0) {
                *failed = batch->slot[lane];
            }
        }
    }
}

kiln_status kiln_elements_reform(kiln_elements *elements, const kiln_mesh *mesh, kiln_error *error)
{
    reform_job job = {elements, mesh, kiln_offsets_of(mesh)};
    kiln_parallel_for(elements->context, elements->chunks.count, 1, reform_chunk, &job);
    for (size_t c = 0; c < elements->chunks.count; c++)
        if (elements->partial.data[c] >= 0.0) {
            uint32_t tet = (uint32_t)elements->partial.data[c];
            double volume =
                job.offsets.shape ? job.offsets.rest_volume[tet] : kiln_mesh_tet_volume(mesh, tet);
            forget(elements);
            return no_volume(tet, volume, error);
        }
    return KILN_OK;
}

kiln_status kiln_elements_set_lame(kiln_elements *elements, const double *mu, const double *lambda,
                                   kiln_error *error)
{
    size_t batches = elements->batches.count, numbers = 2 * LANES * batches;
    KILN_TRY(kiln_array_reserve(elements->context, &elements->lame, numbers, error));
    elements->lame.count = numbers;
    for (size_t b = 0; b < batches; b++)
        for (size_t lane = 0; lane < LANES; lane++) {
            uint32_t slot = elements->batches.data[b].slot[lane];
            slot = slot == KILN_NONE ? elements->batches.data[b].slot[0] : slot;
            double *at = elements->lame.data + 2 * LANES * b + lane;
            at[0] = mu[slot], at[LANES] = lambda[slot];
        }
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
    kiln_array_free(context, &elements->first);
    kiln_array_free(context, &elements->materials);
    kiln_array_free(context, &elements->partial);
    kiln_array_free(context, &elements->lame);
    kiln_array_free(context, &elements->pressure);
    kiln_release(context, elements, sizeof *elements);
}

size_t kiln_elements_count(const kiln_elements *elements)
{
    return elements->count;
}

size_t kiln_elements_bytes(const kiln_elements *elements)
{
    const kiln_elements *e = elements;
    return sizeof *e + e->batches.capacity * sizeof *e->batches.data +
           e->vertex.capacity * sizeof *e->vertex.data +
           e->chunks.capacity * sizeof *e->chunks.data +
           (e->colours.capacity + e->first.capacity) * sizeof(size_t) +
           e->materials.capacity * sizeof *e->materials.data +
           (e->partial.capacity + e->lame.capacity + e->pressure.capacity) * sizeof(double);
}

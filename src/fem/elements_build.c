/* From a mesh to batches, chunks and colours. */
#include "base/parallel.h"
#include "fem/elements_group.h"
#include "fem/offset.h"
#include "geom/svd3.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, MASK_COLOURS = 64 };

/* Element numbers are the tets counted by material, each material rounded up to whole batches. */
typedef struct build_job {
    kiln_elements *e;
    const kiln_mesh *mesh;
    const uint32_t *material_of;
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

static kiln_status no_volume(uint32_t tet, double volume, kiln_error *error)
{
    return kiln_fail(error, KILN_ERR_INPUT, "elements", 0, -1,
                     "tet %u has the rest volume %g m^3; it must be positive and not so small that "
                     "its shape is lost",
                     (unsigned)tet, volume);
}

static void place_tet(build_job *job, uint32_t tet)
{
    size_t number = job->next[job->material_of[tet]]++, lane = number % LANES;
    kiln_element_batch *batch = &job->e->batches.data[number / LANES];
    uint32_t *v = job->e->vertex.data + 4 * number;
    memcpy(v, job->mesh->tet[tet].v, 4 * sizeof *v);
    sort4(v);
    batch->slot[lane] = tet;
}

static void pad_batch(kiln_elements *e, size_t number)
{
    kiln_element_batch *batch = &e->batches.data[number / LANES];
    for (; number % LANES != 0; number++) {
        size_t lane = number % LANES;
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

typedef struct form_job {
    kiln_elements *e;
    const kiln_mesh *mesh;
    kiln_offsets offsets;
} form_job;

/* Eigenvalues and vectors of the shapes of a group, [component][element]: a positive matrix is its
 * own singular value decomposition. */
typedef struct shape_group {
    double G[9][KILN_GROUP_SIZE], u[9][KILN_GROUP_SIZE], s[3][KILN_GROUP_SIZE],
        v[9][KILN_GROUP_SIZE];
    bool turned[KILN_GROUP_SIZE]; /* the shape is not I */
} shape_group;

/* Padding and tets with the shape I take I, which costs nothing: most of a body is often elastic.
 */
static void decompose_shapes(const form_job *job, size_t first, size_t batches, shape_group *g)
{
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    size_t count = LANES * batches;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = job->e->batches.data[first + i / LANES].slot[i % LANES];
        g->turned[i] = slot != KILN_NONE && !kiln_offset_is_identity(&job->offsets.shape[slot]);
        kiln_mat3 G;
        if (g->turned[i])
            G = kiln_sym3_to_mat3(job->offsets.shape[slot]);
        for (int k = 0; k < 9; k++)
            g->G[k][i] = g->turned[i] ? G.m[k / 3][k % 3] : unit[k];
        any |= g->turned[i];
    }
    if (any)
        kiln_svd3_decompose_batch(job->e->context->isa, count, KILN_GROUP_SIZE, g->G[0], g->u[0],
                                  g->s[0], g->v[0]);
}

/* Pi as kiln_offset_map gives it, to rounding: the roots of the eigenvalues, scaled so that their
 * product is the ratio of the volumes. */
static kiln_mat3 offset_of(const shape_group *g, size_t i, double volume, double rest_volume)
{
    double size = volume == rest_volume ? 1.0 : cbrt(volume / rest_volume), pi[3];
    if (!g->turned[i])
        return kiln_m3_scale(kiln_m3_identity(), size);
    for (int k = 0; k < 3; k++)
        pi[k] = sqrt(g->s[k][i]);
    size /= cbrt(pi[0] * pi[1] * pi[2]);
    kiln_mat3 Pi;
    for (int r = 0; r < 3; r++)
        for (int c = r; c < 3; c++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++)
                sum += g->u[3 * r + k][i] * pi[k] * g->u[3 * c + k][i];
            Pi.m[r][c] = Pi.m[c][r] = size * sum;
        }
    return Pi;
}

/* Rest shape and volume of an element whose slot and vertices are known. The order of the vertices
 * does not matter: Dm and Dw have the same one, F neither knows it. */
static bool form(const form_job *job, const shape_group *g, size_t i, size_t number)
{
    const kiln_vec3 *u = job->mesh->u;
    const uint32_t *v = job->e->vertex.data + 4 * number;
    kiln_element_batch *batch = &job->e->batches.data[number / LANES];
    size_t lane = number % LANES;
    uint32_t tet = batch->slot[lane];
    kiln_mat3 B = kiln_m3_inverse(kiln_m3_columns(kiln_v3_sub(u[v[1]], u[v[0]]),
                                                  kiln_v3_sub(u[v[2]], u[v[0]]),
                                                  kiln_v3_sub(u[v[3]], u[v[0]])));
    double volume = kiln_mesh_tet_volume(job->mesh, tet);
    if (job->offsets.shape) {
        double rest_volume = job->offsets.rest_volume[tet];
        if (g->turned[i] || volume != rest_volume)
            B = kiln_m3_mul(B, offset_of(g, i, volume, rest_volume));
        volume = rest_volume;
    }
    for (int k = 0; k < 9; k++)
        batch->gradient[k][lane] = B.m[k / 3][k % 3];
    batch->volume[lane] = volume;
    return volume > 0.0 && isfinite(volume) && isfinite(kiln_m3_norm2(B));
}

/* The first slot without volume goes to *failed. */
static void form_group(const form_job *job, size_t first, size_t batches, double *failed)
{
    shape_group g;
    if (job->offsets.shape)
        decompose_shapes(job, first, batches, &g);
    for (size_t i = 0; i < LANES * batches; i++) {
        kiln_element_batch *batch = &job->e->batches.data[first + i / LANES];
        size_t lane = i % LANES;
        if (batch->slot[lane] == KILN_NONE)
            for (int k = 0; k < 9; k++)
                batch->gradient[k][lane] = batch->gradient[k][0];
        else if (!form(job, &g, i, LANES * first + i) && *failed < 0.0)
            *failed = batch->slot[lane];
    }
}

static void form_chunk(void *user, size_t index, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const form_job *job = user;
    const kiln_element_chunk *chunk = &job->e->chunks.data[index];
    double *failed = &job->e->partial.data[index];
    size_t last = (size_t)chunk->batch + chunk->batches;
    *failed = -1.0;
    for (size_t b = chunk->batch; b < last; b += KILN_GROUP_BATCHES)
        form_group(job, b, last - b < KILN_GROUP_BATCHES ? last - b : KILN_GROUP_BATCHES, failed);
}

static kiln_status form_all(kiln_elements *e, const kiln_mesh *mesh, kiln_error *error)
{
    form_job job = {e, mesh, kiln_offsets_of(mesh)};
    kiln_parallel_for(e->context, e->chunks.count, 1, form_chunk, &job);
    uint32_t tet = KILN_NONE;
    for (size_t c = 0; c < e->chunks.count; c++)
        if (e->partial.data[c] >= 0.0 && (uint32_t)e->partial.data[c] < tet)
            tet = (uint32_t)e->partial.data[c];
    if (tet == KILN_NONE)
        return KILN_OK;
    double volume =
        job.offsets.shape ? job.offsets.rest_volume[tet] : kiln_mesh_tet_volume(mesh, tet);
    return no_volume(tet, volume, error);
}

static kiln_status fill_elements(build_job *job, size_t *tets, kiln_error *error)
{
    const kiln_mesh *mesh = job->mesh;
    KILN_TRY(count_tets(job, tets, error));
    KILN_TRY(make_room(job, tets, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            place_tet(job, t);
    for (size_t m = 0; m < job->e->materials.count; m++)
        pad_batch(job->e, job->next[m]);
    make_chunks(job->e, tets);
    KILN_TRY(form_all(job->e, mesh, error));
    return make_colours(job->e, error);
}

static void forget(kiln_elements *e)
{
    e->count = 0;
    e->batches.count = e->vertex.count = e->chunks.count = e->colours.count = 0;
    e->materials.count = e->first.count = e->partial.count = e->pressure.count = 0;
    kiln_array_free(e->context, &e->lame);
    e->yield.count = 0;
    e->pattern = 0;
    e->state++;
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
    build_job job = {elements, mesh, material_of, counts + material_count + 1};
    kiln_status status = fill_elements(&job, counts, error);
    kiln_release(context, counts, bytes);
    if (status != KILN_OK)
        forget(elements);
    return status;
}

kiln_status kiln_elements_reform(kiln_elements *elements, const kiln_mesh *mesh, kiln_error *error)
{
    elements->state++;
    kiln_status status = form_all(elements, mesh, error);
    if (status != KILN_OK)
        forget(elements);
    return status;
}

kiln_status kiln_elements_set_lame(kiln_elements *elements, const double *mu, const double *lambda,
                                   kiln_error *error)
{
    size_t batches = elements->batches.count, numbers = 2 * LANES * batches;
    elements->state++;
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
    kiln_array_free(context, &elements->yield);
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
           e->vertex.capacity * sizeof *e->vertex.data +
           e->chunks.capacity * sizeof *e->chunks.data +
           (e->colours.capacity + e->first.capacity) * sizeof(size_t) +
           e->materials.capacity * sizeof *e->materials.data +
           (e->partial.capacity + e->lame.capacity + e->pressure.capacity + e->yield.capacity) *
               sizeof(double);
}

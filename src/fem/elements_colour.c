/* Chunks and their colours. Which vertices a chunk has is kept as marks (`mention`), so that the
 * greedy choice, which goes over all chunks, looks at each vertex of a chunk once and not at each
 * corner: a fifth of the work, and the marks are renewed only where vertices have changed. */
#include "base/parallel.h"
#include "fem/elements_layout.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, MASK_COLOURS = 64 };

/* A chunk is a run of batches with one material in a window. Returns the batch after it. */
static size_t chunk_end(const kiln_elements *e, size_t batch, size_t window_end)
{
    uint32_t material = e->material_of.data[batch];
    while (batch < window_end && e->material_of.data[batch] == material)
        batch++;
    return batch;
}

typedef struct mention_job {
    kiln_elements *e;
    const uint8_t *touched; /* [window], NULL: all */
    uint32_t *seen;         /* [worker][vertex] chunk that named it last, by its first batch + 1 */
} mention_job;

static void mention_chunk(kiln_elements *e, size_t batch, size_t end, uint32_t *seen)
{
    uint32_t stamp = (uint32_t)batch + 1;
    for (; batch < end; batch++) {
        const uint32_t *v = e->vertex.data + 4 * LANES * batch;
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 4 * LANES; i++) {
            bits |= (uint32_t)(seen[v[i]] != stamp) << i;
            seen[v[i]] = stamp;
        }
        e->mention.data[batch] = bits;
    }
}

static void mention_window(void *user, size_t window, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end;
    const mention_job *job = user;
    kiln_elements *e = job->e;
    if (job->touched && !job->touched[window])
        return;
    size_t room = kiln_window_batches(e), batch = window * room, last = batch + room;
    while (batch < last && e->material_of.data[batch] != KILN_NONE) {
        size_t stop = chunk_end(e, batch, last);
        mention_chunk(e, batch, stop, job->seen + (size_t)worker * e->vertices);
        batch = stop;
    }
}

static kiln_status make_chunks(kiln_elements *e, kiln_error *error)
{
    size_t room = kiln_window_batches(e);
    e->chunks.count = 0;
    for (size_t window = 0; window < e->batches.count; window += room)
        for (size_t batch = window; batch < window + room;) {
            if (e->material_of.data[batch] == KILN_NONE)
                break;
            size_t end = chunk_end(e, batch, window + room);
            kiln_element_chunk chunk = {(uint32_t)batch, (uint32_t)(end - batch),
                                        e->material_of.data[batch]};
            KILN_TRY(kiln_array_push(e->context, &e->chunks, chunk, error));
            batch = end;
        }
    KILN_TRY(kiln_array_reserve(e->context, &e->partial, 2 * e->chunks.count, error));
    e->partial.count = 2 * e->chunks.count;
    return kiln_array_reserve(e->context, &e->colours, e->chunks.count + 1, error);
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

/* The vertices of a chunk, each once. */
static size_t list_vertices(const kiln_elements *e, const kiln_element_chunk *chunk,
                            uint32_t out[4 * KILN_WINDOW_TETS])
{
    size_t count = 0;
    for (size_t b = chunk->batch; b < (size_t)chunk->batch + chunk->batches; b++) {
        const uint32_t *v = e->vertex.data + 4 * LANES * b;
        for (uint32_t bits = e->mention.data[b]; bits; bits &= bits - 1)
            out[count++] = v[KILN_TRAILING_ZEROS(bits)];
    }
    return count;
}

static void choose_colours(const kiln_elements *e, uint64_t *seen_by, uint32_t *colour_of,
                           size_t *colours)
{
    size_t used[MASK_COLOURS] = {0};
    *colours = 0;
    for (size_t c = 0; c < e->chunks.count; c++) {
        uint32_t vertex[4 * KILN_WINDOW_TETS];
        size_t count = list_vertices(e, &e->chunks.data[c], vertex);
        uint64_t seen = 0;
        for (size_t i = 0; i < count; i++)
            seen |= seen_by[vertex[i]];
        size_t colour = choose_colour(seen, used, colours);
        colour_of[c] = (uint32_t)colour;
        if (colour >= MASK_COLOURS)
            continue;
        used[colour]++;
        for (size_t i = 0; i < count; i++)
            seen_by[vertex[i]] |= UINT64_C(1) << colour;
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

/* `scratch` is zero: [vertices] seen_by, or seen of the workers. */
static void colour_with(kiln_elements *e, const uint8_t *touched, char *scratch, size_t bytes)
{
    size_t chunks = e->chunks.count, colours;
    mention_job job = {e, touched, (uint32_t *)(void *)scratch};
    kiln_parallel_for(e->context, e->batches.count / kiln_window_batches(e), 1, mention_window,
                      &job);
    memset(scratch, 0, bytes);
    uint64_t *seen_by = (uint64_t *)(void *)scratch;
    kiln_element_chunk *sorted = (kiln_element_chunk *)(void *)(seen_by + e->vertices);
    uint32_t *colour_of = (uint32_t *)(void *)(sorted + chunks);
    choose_colours(e, seen_by, colour_of, &colours);
    sort_chunks(e, colour_of, colours, sorted);
}

kiln_status kiln_elements_colour(kiln_elements *elements, const uint8_t *window_touched,
                                 kiln_error *error)
{
    kiln_elements *e = elements;
    KILN_TRY(make_chunks(e, error));
    size_t bytes = e->vertices * sizeof(uint64_t) +
                   e->chunks.count * (sizeof(kiln_element_chunk) + sizeof(uint32_t));
    size_t seen = (size_t)e->context->threads * e->vertices * sizeof(uint32_t);
    bytes = (bytes > seen ? bytes : seen) + 1;
    char *scratch = kiln_resize(e->context, NULL, 0, bytes);
    if (!scratch)
        return kiln_fail_memory(error, bytes);
    memset(scratch, 0, bytes);
    colour_with(e, window_touched, scratch, bytes);
    kiln_release(e->context, scratch, bytes);
    return KILN_OK;
}

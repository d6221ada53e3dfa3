/* Chunks and their colours. Which vertices a chunk has is kept (`mention`, `named`), so that the
 * greedy choice, which goes over all chunks, looks at each vertex of a chunk once and not at each
 * corner: a fifth of the work, and the lists are renewed only where vertices have changed. */
#include "base/parallel.h"
#include "fem/elements_layout.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, MASK_COLOURS = 64, FEW_CHUNKS = 256 };

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

static uint32_t count_named(const kiln_elements *e, size_t begin, size_t end)
{
    uint32_t count = 0;
    for (size_t b = begin; b < end; b++)
        for (uint32_t bits = e->mention.data[b]; bits; bits &= bits - 1)
            count++;
    return count;
}

static void list_window(const kiln_elements *e, size_t window, uint32_t *out)
{
    size_t room = kiln_window_batches(e);
    for (size_t b = window * room; b < (window + 1) * room; b++)
        for (uint32_t bits = e->mention.data[b]; bits; bits &= bits - 1)
            *out++ = e->vertex.data[4 * LANES * b + KILN_TRAILING_ZEROS(bits)];
}

/* Lists of the windows that were not touched as they are. */
static kiln_status list_named(kiln_elements *e, const uint8_t *touched, kiln_error *error)
{
    size_t room = kiln_window_batches(e), windows = e->batches.count / room;
    kiln_u32_array named = {0}, first = {0};
    KILN_TRY(kiln_array_reserve(e->context, &first, windows + 1, error));
    first.data[0] = 0;
    for (size_t w = 0; w < windows; w++)
        first.data[w + 1] =
            first.data[w] + (touched && !touched[w]
                                 ? e->named_first.data[w + 1] - e->named_first.data[w]
                                 : count_named(e, w * room, (w + 1) * room));
    first.count = windows + 1;
    named.count = first.data[windows];
    kiln_status status = kiln_array_reserve(e->context, &named, named.count, error);
    if (status != KILN_OK) {
        kiln_array_free(e->context, &first);
        return status;
    }
    for (size_t w = 0; w < windows; w++) {
        uint32_t *out = named.data + first.data[w];
        if (!touched || touched[w])
            list_window(e, w, out);
        else if (first.data[w + 1] > first.data[w])
            memcpy(out, e->named.data + e->named_first.data[w],
                   (first.data[w + 1] - first.data[w]) * sizeof *out);
    }
    kiln_array_free(e->context, &e->named);
    kiln_array_free(e->context, &e->named_first);
    e->named = named;
    e->named_first = first;
    return KILN_OK;
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

/* How many vertices a chunk has: those of its window, mostly. */
static size_t named_by(const kiln_elements *e, const kiln_element_chunk *chunk)
{
    size_t room = kiln_window_batches(e), window = chunk->batch / room;
    size_t begin = chunk->batch, end = begin + chunk->batches;
    if (begin == window * room && (end == begin + room || e->material_of.data[end] == KILN_NONE))
        return e->named_first.data[window + 1] - e->named_first.data[window];
    return count_named(e, begin, end);
}

/* The colours that some vertex of the chunk has seen. */
static uint64_t seen_around(const uint64_t *seen_by, const uint32_t *vertex, size_t count)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < count; i++)
        seen |= seen_by[vertex[i]];
    return seen;
}

/* Chunks come in the order of their batches. */
static void choose_colours(const kiln_elements *e, uint64_t *seen_by, uint32_t *colour_of,
                           size_t used[MASK_COLOURS], size_t *colours)
{
    const uint32_t *vertex = e->named.data;
    *colours = 0;
    for (size_t c = 0; c < e->chunks.count; c++) {
        size_t count = named_by(e, &e->chunks.data[c]);
        size_t colour = choose_colour(seen_around(seen_by, vertex, count), used, colours);
        colour_of[c] = (uint32_t)colour;
        if (colour < MASK_COLOURS) {
            used[colour]++;
            for (size_t i = 0; i < count; i++)
                seen_by[vertex[i]] |= UINT64_C(1) << colour;
        }
        vertex += count;
    }
}

/* Two threads share a colour's chunks: of three one has two. So a chunk of a colour with an odd
 * number goes to another such colour where it may. It matters where chunks are few. */
static void even_out(const kiln_elements *e, uint64_t *seen_by, uint32_t *colour_of,
                     size_t used[MASK_COLOURS])
{
    const uint32_t *vertex = e->named.data;
    size_t few = e->chunks.count < FEW_CHUNKS ? e->chunks.count : FEW_CHUNKS;
    uint64_t odd = 0;
    for (size_t c = 0; c < MASK_COLOURS; c++)
        odd |= (uint64_t)(used[c] & 1) << c;
    for (size_t c = 0; c < few && (odd & (odd - 1)); c++) {
        size_t count = named_by(e, &e->chunks.data[c]), old = colour_of[c];
        uint64_t free = 0;
        if (old < MASK_COLOURS && odd >> old & 1)
            free = odd & ~seen_around(seen_by, vertex, count);
        if (free) {
            colour_of[c] = KILN_TRAILING_ZEROS64(free);
            uint64_t flip = UINT64_C(1) << old | UINT64_C(1) << colour_of[c];
            for (size_t i = 0; i < count; i++)
                seen_by[vertex[i]] ^= flip;
            odd &= ~flip;
        }
        vertex += count;
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
static kiln_status colour_with(kiln_elements *e, const uint8_t *touched, char *scratch,
                               size_t bytes, kiln_error *error)
{
    size_t chunks = e->chunks.count, colours, used[MASK_COLOURS] = {0};
    mention_job job = {e, touched, (uint32_t *)(void *)scratch};
    kiln_parallel_for(e->context, e->batches.count / kiln_window_batches(e), 1, mention_window,
                      &job);
    KILN_TRY(list_named(e, touched, error));
    memset(scratch, 0, bytes);
    uint64_t *seen_by = (uint64_t *)(void *)scratch;
    kiln_element_chunk *sorted = (kiln_element_chunk *)(void *)(seen_by + e->vertices);
    uint32_t *colour_of = (uint32_t *)(void *)(sorted + chunks);
    choose_colours(e, seen_by, colour_of, used, &colours);
    even_out(e, seen_by, colour_of, used);
    sort_chunks(e, colour_of, colours, sorted);
    return KILN_OK;
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
    kiln_status status = colour_with(e, window_touched, scratch, bytes, error);
    kiln_release(e->context, scratch, bytes);
    return status;
}

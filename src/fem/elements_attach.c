/* Where the blocks of an element are in the rows of a matrix. */
#include "base/assert.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "fem/elements_impl.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES, LONG_ROW = 96, WAITING_GRAIN = 64 };

typedef struct attach_job {
    kiln_elements *e;
    const kiln_bsr *H;
    bool all;
    const uint8_t *renewed; /* [row], NULL: none */
} attach_job;

/* Places of columns in a row that has them, eight at a time: a search by halves costs more in the
 * short rows of meshes. Past the end of the row there are other rows, if not of the matrix. */
KILN_INLINE void find_places(const kiln_bsr *H, uint32_t row, const uint32_t *wanted, int count,
                             uint32_t *place)
{
    const uint32_t *column = H->column + H->start[row];
    uint64_t length = H->start[row + 1] - H->start[row];
    bool short_row = length <= LONG_ROW && H->start[row + 1] + 8 <= H->start[H->rows];
    for (int k = 0; k < count; k++) {
        uint32_t at = 0, found;
        if (KILN_UNLIKELY(!short_row)) {
            place[k] = (uint32_t)(kiln_bsr_find(H, row, wanted[k]) - H->start[row]);
            continue;
        }
        while (!(found = kiln_find8(column + at, wanted[k])))
            at += 8;
        place[k] = at + (uint32_t)KILN_TRAILING_ZEROS(found);
        KILN_ASSERT_OP(place[k], <, length);
    }
}

/* Places in the rows of vertices 0, 1 and 2, as far as their bit is set. */
static void attach_lane(const attach_job *job, size_t batch, size_t lane, unsigned rows)
{
    const uint32_t *v = job->e->vertex.data + 4 * (LANES * batch + lane);
    kiln_element_batch *b = &job->e->batches.data[batch];
    uint32_t place[6];
    if (rows & 1) {
        find_places(job->H, v[0], v + 1, 3, place);
        for (int k = 0; k < 3; k++)
            b->place[k][lane] = place[k];
    }
    if (rows & 2) {
        find_places(job->H, v[1], v + 2, 2, place);
        for (int k = 0; k < 2; k++)
            b->place[3 + k][lane] = place[k];
    }
    if (rows & 4) {
        find_places(job->H, v[2], v + 3, 1, place);
        b->place[5][lane] = place[0];
    }
}

/* Which rows of the eight lanes are to be looked up. Without branches: most batches have none. */
static uint64_t rows_of(const attach_job *job, size_t batch, uint8_t rows[LANES])
{
    const uint32_t *v = job->e->vertex.data + 4 * LANES * batch;
    const uint8_t *renewed = job->renewed;
    unsigned stale = job->all ? 0xFF : job->e->stale.data[batch];
    uint64_t word = 0;
    memset(rows, 0, LANES);
    for (size_t lane = 0; renewed && lane < LANES; lane++)
        rows[lane] = (uint8_t)(renewed[v[4 * lane]] | renewed[v[4 * lane + 1]] << 1 |
                               renewed[v[4 * lane + 2]] << 2);
    for (size_t lane = 0; stale && lane < LANES; lane++)
        rows[lane] = stale >> lane & 1 ? 7 : rows[lane];
    memcpy(&word, rows, sizeof word);
    return word;
}

/* Whether there is anything to do in a chunk: it has far fewer vertices than corners. */
static bool has_any(const attach_job *job, const kiln_element_chunk *chunk)
{
    const kiln_elements *e = job->e;
    unsigned any = 0;
    for (size_t b = chunk->batch; b < (size_t)chunk->batch + chunk->batches && !any; b++) {
        any = e->stale.data[b];
        for (uint32_t bits = job->renewed ? e->mention.data[b] : 0; bits; bits &= bits - 1)
            any |= job->renewed[e->vertex.data[4 * LANES * b + KILN_TRAILING_ZEROS(bits)]];
    }
    return any;
}

static void attach_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    const attach_job *job = user;
    const kiln_element_chunk *c = &job->e->chunks.data[chunk];
    if (!job->all && !has_any(job, c))
        return;
    for (size_t b = c->batch; b < (size_t)c->batch + c->batches; b++) {
        uint8_t rows[LANES];
        if (!rows_of(job, b, rows))
            continue;
        for (size_t lane = 0; lane < LANES; lane++)
            if (rows[lane])
                attach_lane(job, b, lane, rows[lane]);
        job->e->stale.data[b] = 0;
    }
}

/* Only what the last update has left. */
static void attach_waiting(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const attach_job *job = user;
    kiln_elements *e = job->e;
    for (size_t i = begin; i < end; i++) {
        size_t batch = e->waiting.data[i];
        for (size_t lane = 0; lane < LANES; lane++)
            if (e->stale.data[batch] >> lane & 1)
                attach_lane(job, batch, lane, 7);
        e->stale.data[batch] = 0;
    }
}

/* Every row that is another has only elements that are stale. Both lists ascend. */
static bool covers(const kiln_elements *e, const kiln_bsr *H)
{
    size_t next = 0;
    for (size_t i = 0; i < H->renewed.count; i++) {
        while (next < e->retied.count && e->retied.data[next] < H->renewed.data[i])
            next++;
        if (next == e->retied.count || e->retied.data[next] != H->renewed.data[i])
            return false;
    }
    return true;
}

/* Without memory for the marks everything is looked up, with the same result. */
static uint8_t *mark_renewed(const kiln_bsr *H, kiln_context *context)
{
    uint8_t *renewed = kiln_resize(context, NULL, 0, H->rows);
    if (renewed)
        memset(renewed, 0, H->rows);
    for (size_t i = 0; renewed && i < H->renewed.count; i++)
        renewed[H->renewed.data[i]] = 1;
    return renewed;
}

kiln_status kiln_elements_attach(void *self, const kiln_bsr *H, kiln_error *error)
{
    (void)error;
    kiln_elements *e = self;
    attach_job job = {.e = e, .H = H};
    uint8_t *renewed = NULL;
    if (e->pattern == H->pattern && !e->any_stale)
        return KILN_OK;
    bool same = e->pattern == H->pattern, next = e->pattern != 0 && e->pattern == H->renewed_from;
    if (e->waiting_known && (same || (next && covers(e, H)))) {
        kiln_parallel_for(e->context, e->waiting.count, WAITING_GRAIN, attach_waiting, &job);
    } else {
        if (!same && next)
            renewed = mark_renewed(H, e->context);
        job.renewed = renewed;
        job.all = !same && !renewed;
        kiln_parallel_for(e->context, e->chunks.count, 1, attach_chunk, &job);
    }
    kiln_release(e->context, renewed, H->rows);
    e->pattern = H->pattern;
    e->any_stale = e->waiting_known = false;
    return KILN_OK;
}

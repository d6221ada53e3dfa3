/* Elements of a mesh that has changed a little.
 *
 * A tet that takes a row from one of the same material takes its lane, too: then only that lane is
 * formed. Where the materials of a window's rows are others than before, the window is placed anew
 * and tets that have not changed carry over what was formed. Marks are renewed in the windows that
 * have changed; the greedy colours are chosen anew from them. */
#include "base/assert.h"
#include "fem/elements_layout.h"

#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };
enum { WINDOW_TOUCHED = 1, WINDOW_SHUFFLED = 2 };

typedef struct update_job {
    kiln_elements *e;
    const kiln_mesh *mesh;
    const uint32_t *material_of;
    const uint32_t *rows; /* the changed tets */
    size_t count;
    const kiln_changes *changes;
    size_t before;             /* slots then */
    uint8_t *window;           /* [windows now] */
    size_t *tets;              /* [material] scratch */
    kiln_element_batch *aside; /* [batches of a window] as they were */
} update_job;

static uint32_t material_before(const update_job *job, uint32_t tet)
{
    const kiln_elements *e = job->e;
    if (tet >= job->before || e->number_of.data[tet] == KILN_NONE)
        return KILN_NONE;
    return e->material_of.data[e->number_of.data[tet] / LANES];
}

static void count_out(update_job *job, uint32_t material)
{
    if (material == KILN_NONE)
        return;
    job->e->tets_of.data[material]--;
    job->e->count--;
}

/* Which windows change, and how; the numbers of tets. */
static kiln_status survey(update_job *job, kiln_error *error)
{
    kiln_elements *e = job->e;
    size_t used = job->mesh->table[KILN_ON_TET].used;
    const kiln_u32_array *retied = &job->changes->retied_tets;
    for (size_t i = 0; i < retied->count; i++)
        job->window[retied->data[i] / KILN_WINDOW_TETS] |= WINDOW_TOUCHED;
    for (size_t i = 0; i < job->count; i++) {
        uint32_t t = job->rows[i], then = material_before(job, t), now = KILN_NONE;
        KILN_ASSERT_OP(t, <, used);
        if (kiln_tet_live(job->mesh, t)) {
            now = job->material_of[t];
            KILN_TRY(kiln_elements_check_material(e, t, now, error));
            e->tets_of.data[now]++;
            e->count++;
        }
        count_out(job, then);
        job->window[t / KILN_WINDOW_TETS] |= then == now ? 0 : WINDOW_SHUFFLED;
    }
    for (size_t t = used; t < job->before; t++)
        count_out(job, material_before(job, (uint32_t)t));
    if (used < job->before && used % KILN_WINDOW_TETS != 0)
        job->window[used / KILN_WINDOW_TETS] |= WINDOW_SHUFFLED;
    return KILN_OK;
}

/* Empty lanes go with the first. */
static kiln_status mark_stale(update_job *job, uint32_t number, kiln_error *error)
{
    kiln_elements *e = job->e;
    const kiln_element_batch *batch = &e->batches.data[number / LANES];
    uint8_t *stale = &e->stale.data[number / LANES];
    if (*stale == 0)
        KILN_TRY(kiln_array_push(e->context, &e->waiting, number / LANES, error));
    *stale |= (uint8_t)(1u << number % LANES);
    for (size_t lane = LANES; number % LANES == 0 && lane-- > 1 && batch->slot[lane] == KILN_NONE;)
        *stale |= (uint8_t)(1u << lane);
    return KILN_OK;
}

static void carry_over(update_job *job, size_t window, uint32_t from, uint32_t to)
{
    kiln_elements *e = job->e;
    size_t batch = from / LANES - window * kiln_window_batches(e), lane = from % LANES;
    const kiln_element_batch *a = &job->aside[batch];
    kiln_element_batch *b = &e->batches.data[to / LANES];
    for (int k = 0; k < 9; k++)
        b->gradient[k][to % LANES] = a->gradient[k][lane];
    b->volume[to % LANES] = a->volume[lane];
}

/* A window anew. `row`: its first changed tet, `end`: that of the next windows. */
static kiln_status shuffle(update_job *job, size_t window, const uint32_t *row, const uint32_t *end,
                           kiln_error *error)
{
    kiln_elements *e = job->e;
    size_t room = kiln_window_batches(e), first = window * KILN_WINDOW_TETS;
    size_t last = first + KILN_WINDOW_TETS < e->number_of.count ? first + KILN_WINDOW_TETS
                                                                : e->number_of.count;
    uint32_t then[KILN_WINDOW_TETS];
    for (size_t t = first; t < last; t++)
        then[t - first] = t < job->before ? e->number_of.data[t] : KILN_NONE;
    if (first < job->before) /* else there is nothing to keep */
        memcpy(job->aside, e->batches.data + window * room, room * sizeof *job->aside);
    kiln_elements_place_window(e, job->mesh, job->material_of, window, job->tets);
    memset(e->stale.data + window * room, 0, room);
    for (size_t t = first; t < last; t++)
        if (e->number_of.data[t] != KILN_NONE)
            KILN_TRY(mark_stale(job, e->number_of.data[t], error));
    for (size_t t = first; t < last; t++) {
        uint32_t now = e->number_of.data[t];
        if (row < end && *row == t) {
            row++;
            continue;
        }
        KILN_ASSERT((now == KILN_NONE) == (then[t - first] == KILN_NONE));
        if (now == then[t - first])
            continue;
        carry_over(job, window, then[t - first], now);
        KILN_TRY(kiln_array_push(e->context, &e->touched, now, error));
    }
    return KILN_OK;
}

static kiln_status place(update_job *job, kiln_error *error)
{
    kiln_elements *e = job->e;
    size_t windows = kiln_windows_of(e->number_of.count);
    const uint32_t *row = job->rows, *stop = job->rows + job->count;
    for (size_t w = 0; w < windows; w++) {
        const uint32_t *begin = row;
        while (row < stop && *row / KILN_WINDOW_TETS == w)
            row++;
        if (job->window[w] & WINDOW_SHUFFLED)
            KILN_TRY(shuffle(job, w, begin, row, error));
    }
    KILN_TRY(kiln_array_reserve(e->context, &e->touched, e->touched.count + job->count, error));
    for (size_t i = 0; i < job->count; i++) {
        uint32_t number = e->number_of.data[job->rows[i]];
        if (number != KILN_NONE)
            e->touched.data[e->touched.count++] = number;
    }
    const kiln_u32_array *retied = &job->changes->retied_tets;
    for (size_t i = 0; i < retied->count; i++)
        if (e->number_of.data[retied->data[i]] != KILN_NONE)
            kiln_elements_set_vertices(e, job->mesh, retied->data[i]);
    return KILN_OK;
}

/* Where a vertex is tied anew, its row of a matrix is another, and places in it are. */
static kiln_status mark_retied(update_job *job, kiln_error *error)
{
    kiln_elements *e = job->e;
    const kiln_u32_array *retied = &job->changes->retied_vertices;
    const kiln_u32_array *around = &job->changes->around_retied;
    KILN_TRY(kiln_array_reserve(e->context, &e->retied, retied->count, error));
    KILN_TRY(kiln_array_reserve(e->context, &e->around, 4 * around->count, error));
    if (retied->count)
        memcpy(e->retied.data, retied->data, retied->count * sizeof *retied->data);
    e->retied.count = retied->count;
    e->around.count = 4 * around->count;
    for (size_t i = 0; i < around->count; i++) {
        uint32_t number = e->number_of.data[around->data[i]];
        memcpy(e->around.data + 4 * i, e->vertex.data + 4 * (size_t)number, 4 * sizeof(uint32_t));
        KILN_TRY(mark_stale(job, number, error));
    }
    return KILN_OK;
}

static void pad(update_job *job)
{
    kiln_elements *e = job->e;
    size_t room = kiln_window_batches(e), windows = kiln_windows_of(e->number_of.count);
    for (size_t i = 0; i < e->touched.count; i++)
        kiln_elements_pad(e, e->touched.data[i] / LANES);
    for (size_t w = 0; w < windows; w++)
        for (size_t b = w * room; b < (w + 1) * room; b++)
            if (job->window[w] & WINDOW_SHUFFLED)
                kiln_elements_pad(e, b);
}

static kiln_status update(update_job *job, kiln_error *error)
{
    kiln_elements *e = job->e;
    e->vertices = job->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(survey(job, error));
    KILN_TRY(kiln_elements_make_room(e, job->mesh->table[KILN_ON_TET].used, error));
    KILN_TRY(place(job, error));
    KILN_TRY(mark_retied(job, error));
    KILN_TRY(kiln_elements_form(e, job->mesh, job->rows, job->count, error));
    pad(job);
    return kiln_elements_colour(e, job->window, error);
}

/* All scratch in one piece. */
static kiln_status update_with_scratch(update_job *job, kiln_error *error)
{
    kiln_elements *e = job->e;
    size_t room = kiln_window_batches(e);
    size_t windows = kiln_windows_of(job->mesh->table[KILN_ON_TET].used);
    size_t bytes =
        room * sizeof *job->aside + (e->materials.count + 1) * sizeof *job->tets + windows;
    job->aside = kiln_resize(e->context, NULL, 0, bytes);
    if (!job->aside)
        return kiln_fail_memory(error, bytes);
    job->tets = (size_t *)(void *)(job->aside + room);
    job->window = (uint8_t *)(job->tets + e->materials.count + 1);
    memset(job->window, 0, windows);
    kiln_status status = update(job, error);
    kiln_release(e->context, job->aside, bytes);
    return status;
}

kiln_status kiln_elements_update(kiln_elements *elements, const kiln_mesh *mesh,
                                 const uint32_t *material_of, const kiln_changes *changes,
                                 kiln_error *error)
{
    kiln_elements *e = elements;
    if (changes->all)
        return kiln_elements_build(e, mesh, e->materials.data, e->materials.count, material_of,
                                   error);
    const kiln_u32_array *rows = &changes->rows[KILN_ON_TET];
    update_job job = {.e = e,
                      .mesh = mesh,
                      .material_of = material_of,
                      .rows = rows->data,
                      .count = rows->count,
                      .changes = changes,
                      .before = changes->before[KILN_ON_TET]};
    KILN_ASSERT_OP(job.before, ==, e->number_of.count);
    e->touched.count = e->lame.count = e->yield.count = e->ratio.count = 0;
    e->waiting_known = !e->any_stale;
    e->waiting.count = 0;
    e->any_stale = true;
    e->state++;
    e->term.revision++;
    kiln_status status = update_with_scratch(&job, error);
    if (status != KILN_OK)
        kiln_elements_forget(e);
    return status;
}

kiln_cliques kiln_elements_cliques_around(const kiln_elements *elements)
{
    const kiln_u32_array *around = &elements->around;
    return (kiln_cliques){.count = around->count / 4, .size = 4, .row = around->data};
}

void kiln_elements_mark_affected(const kiln_elements *elements, const kiln_changes *changes,
                                 uint8_t *affected)
{
    const kiln_u32_array *rows = &changes->rows[KILN_ON_VERTEX];
    memset(affected, 0, elements->vertices);
    for (size_t v = changes->before[KILN_ON_VERTEX]; v < elements->vertices; v++)
        affected[v] = 1;
    for (size_t i = 0; i < rows->count; i++)
        affected[rows->data[i]] = 1;
    for (size_t i = 0; i < elements->touched.count; i++)
        for (size_t k = 0; k < 4; k++)
            affected[elements->vertex.data[4 * (size_t)elements->touched.data[i] + k]] = 1;
}

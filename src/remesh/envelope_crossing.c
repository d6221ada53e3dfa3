/* Where the boundary of what is inside cuts the edges of the lattice. */
#include "base/hash.h"
#include "base/parallel.h"
#include "remesh/envelope_impl.h"

#include <string.h>

/* Cuts keep this part of the edge from its ends, so that all tets are positive. */
#define FROM_ENDS 0.02

enum { HITS = 32, HALVINGS = 12, GRAIN = 32 };

static bool is_inside(const kiln_envelope *e, kiln_vec3 p)
{
    return kiln_triangle_tree_winding(&e->surface, p) > 0.5;
}

/* The surface nearest to the inner end at which it ends, or (in a hole) where the winding number is
 * 1/2. */
static double cross_from(const kiln_envelope *e, kiln_vec3 a, kiln_vec3 b)
{
    double part[HITS];
    size_t hits = kiln_triangle_tree_meets(&e->surface, a, b, HITS, part);
    if (hits == 1)
        return part[0];
    for (size_t i = 0; i < hits && hits <= HITS; i++) {
        double next = i + 1 < hits ? part[i + 1] : 1.0;
        if (!is_inside(e, kiln_v3_lerp(a, b, 0.5 * (part[i] + next))))
            return part[i];
    }
    double low = 0.0, high = 1.0;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = 0.5 * (low + high);
        if (is_inside(e, kiln_v3_lerp(a, b, middle)))
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static uint64_t edge_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static size_t find_slot(const kiln_envelope_crossings *c, uint64_t key)
{
    size_t at = kiln_hash_mix(key) & (c->size - 1);
    while (c->keys[at] && c->keys[at] != key)
        at = (at + 1) & (c->size - 1);
    return at;
}

static void release(kiln_context *context, kiln_envelope_crossings *c)
{
    kiln_release(context, c->keys, c->size * sizeof *c->keys);
    kiln_release(context, c->parts, c->size * sizeof *c->parts);
}

static kiln_status grow(kiln_context *context, kiln_envelope_crossings *c, kiln_error *error)
{
    kiln_envelope_crossings wider = *c;
    wider.size = c->size ? 2 * c->size : 1024;
    wider.keys = kiln_resize(context, NULL, 0, wider.size * sizeof *wider.keys);
    wider.parts = kiln_resize(context, NULL, 0, wider.size * sizeof *wider.parts);
    if (!wider.keys || !wider.parts) {
        release(context, &wider);
        return kiln_fail_memory(error, wider.size * sizeof *wider.keys);
    }
    memset(wider.keys, 0, wider.size * sizeof *wider.keys);
    for (size_t i = 0; i < c->size; i++)
        if (c->keys[i]) {
            size_t at = find_slot(&wider, c->keys[i]);
            wider.keys[at] = c->keys[i];
            wider.parts[at] = c->parts[i];
        }
    release(context, c);
    *c = wider;
    return KILN_OK;
}

double kiln_envelope_crossing(const kiln_envelope *e, uint32_t a, uint32_t b)
{
    double part = e->crossings.parts[find_slot(&e->crossings, edge_key(a, b))];
    return a < b ? part : 1.0 - part;
}

/* From the end that is inside. */
static double find_crossing(const kiln_envelope *e, uint32_t a, uint32_t b)
{
    const kiln_envelope_node *n = e->nodes.data;
    double part =
        n[a].inside > 0.0 ? cross_from(e, n[a].at, n[b].at) : 1.0 - cross_from(e, n[b].at, n[a].at);
    return fmin(fmax(part, FROM_ENDS), 1.0 - FROM_ENDS);
}

typedef struct finding {
    const kiln_envelope *e;
    const uint64_t *keys;
    double *parts;
} finding;

static void find_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const finding *f = user;
    (void)chunk;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        f->parts[i] = find_crossing(f->e, (uint32_t)(f->keys[i] >> 32), (uint32_t)f->keys[i]);
}

typedef KILN_ARRAY_OF(uint64_t)
key_array;

/* Edges between inside and outside that have no place yet get one, and are listed. */
static kiln_status list_new(kiln_envelope *e, key_array *fresh, kiln_error *error)
{
    kiln_envelope_crossings *c = &e->crossings;
    for (size_t i = 0; i < 6 * e->tets.count; i++) {
        const uint32_t *v = e->tets.data[i / 6].v;
        uint32_t a = v[kiln_envelope_edges[i % 6][0]], b = v[kiln_envelope_edges[i % 6][1]];
        if ((e->nodes.data[a].inside > 0.0) == (e->nodes.data[b].inside > 0.0))
            continue;
        if (2 * (c->count + 1) > c->size)
            KILN_TRY(grow(e->context, c, error));
        size_t at = find_slot(c, edge_key(a, b));
        if (c->keys[at])
            continue;
        c->keys[at] = edge_key(a, b);
        c->count++;
        KILN_TRY(kiln_array_push(e->context, fresh, c->keys[at], error));
    }
    return KILN_OK;
}

static kiln_status find_new(kiln_envelope *e, const key_array *fresh, kiln_error *error)
{
    double *parts = kiln_resize(e->context, NULL, 0, (fresh->count + 1) * sizeof *parts);
    if (!parts)
        return kiln_fail_memory(error, fresh->count * sizeof *parts);
    finding f = {e, fresh->data, parts};
    kiln_parallel_for(e->context, fresh->count, GRAIN, find_chunk, &f);
    for (size_t i = 0; i < fresh->count; i++)
        e->crossings.parts[find_slot(&e->crossings, fresh->data[i])] = parts[i];
    kiln_release(e->context, parts, (fresh->count + 1) * sizeof *parts);
    return KILN_OK;
}

kiln_status kiln_envelope_cross(kiln_envelope *e, kiln_error *error)
{
    key_array fresh = {0};
    kiln_status status = list_new(e, &fresh, error);
    if (status == KILN_OK)
        status = find_new(e, &fresh, error);
    kiln_array_free(e->context, &fresh);
    return status;
}

void kiln_envelope_forget_crossings(kiln_envelope *e)
{
    release(e->context, &e->crossings);
    e->crossings = (kiln_envelope_crossings){0};
}

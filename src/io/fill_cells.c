/* The spaces that a surface divides a mesh of tets into. */
#include "base/hash.h"
#include "io/fill_impl.h"

#include <string.h>

#define NONE UINT32_MAX

/* A face of tets: v rising; `side` 4 * tet + face of the tets it has; `triangle` that lies on it.
 */
typedef struct face_slot {
    uint32_t v[3], side[2], triangle;
} face_slot;

typedef struct cells {
    kiln_context *context;
    kiln_soup *s;
    const char *place;
    face_slot *slots;
    size_t size;
    kiln_u32_array cell;  /* [tet] */
    kiln_u32_array queue; /* tets or cells to go on from */
    kiln_u32_array depth; /* [cell] triangles between it and the outside, NONE: not known yet */
    kiln_u32_array tag;   /* [cell] 0: it goes */
    kiln_u32_array first; /* [cell] the lowest triangle at it */
    size_t count;
} cells;

static const uint8_t face_of_tet[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static void face_corners(const kiln_soup *s, uint32_t side, uint32_t v[3])
{
    for (int k = 0; k < 3; k++)
        v[k] = s->tets.data[side / 4].v[face_of_tet[side % 4][k]];
}

static face_slot *find_face(const cells *c, const uint32_t v[3])
{
    uint32_t low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
    uint32_t s[3] = {low < v[2] ? low : v[2], 0, high > v[2] ? high : v[2]};
    s[1] = v[0] ^ v[1] ^ v[2] ^ s[0] ^ s[2];
    size_t mask = c->size - 1, at = kiln_hash_add((uint64_t)s[0] << 32 | s[1], s[2]) & mask;
    while (c->slots[at].v[0] != NONE && memcmp(c->slots[at].v, s, sizeof s) != 0)
        at = (at + 1) & mask;
    memcpy(c->slots[at].v, s, sizeof s);
    return &c->slots[at];
}

static kiln_status list_faces(cells *c, kiln_error *error)
{
    c->size = 64;
    while (c->size < 2 * (2 * c->s->tets.count + 2 * c->s->triangles.count))
        c->size *= 2;
    c->slots = kiln_resize(c->context, NULL, 0, c->size * sizeof *c->slots);
    if (!c->slots)
        return kiln_fail_memory(error, c->size * sizeof *c->slots);
    memset(c->slots, 0xff, c->size * sizeof *c->slots);
    for (size_t i = 0; i < c->s->triangles.count; i++)
        find_face(c, c->s->triangles.data[i].v)->triangle = (uint32_t)i;
    for (uint32_t side = 0; side < 4 * c->s->tets.count; side++) {
        uint32_t v[3];
        face_corners(c->s, side, v);
        face_slot *slot = find_face(c, v);
        if (slot->side[1] != NONE)
            return kiln_fail(error, KILN_ERR_INPUT, c->place, 0, -1,
                             "three tets share a face: does the surface cross itself?");
        slot->side[slot->side[0] != NONE] = side;
    }
    return KILN_OK;
}

/* The tet on the other side of a face, NONE outside. */
static uint32_t other_tet(const face_slot *slot, uint32_t side)
{
    uint32_t other = slot->side[0] == side ? slot->side[1] : slot->side[0];
    return other == NONE ? NONE : other / 4;
}

static face_slot *face_at(const cells *c, uint32_t side)
{
    uint32_t v[3];
    face_corners(c->s, side, v);
    return find_face(c, v);
}

/* Tets that hang together without a triangle between them. */
static kiln_status flood(cells *c, kiln_error *error)
{
    size_t tets = c->s->tets.count;
    KILN_TRY(kiln_array_reserve(c->context, &c->cell, tets, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->queue, tets, error));
    memset(c->cell.data, 0xff, tets * sizeof(uint32_t));
    for (uint32_t seed = 0; seed < tets; seed++) {
        if (c->cell.data[seed] != NONE)
            continue;
        size_t end = 0;
        c->queue.data[end++] = seed;
        c->cell.data[seed] = (uint32_t)c->count;
        for (size_t at = 0; at < end; at++)
            for (uint32_t k = 0; k < 4; k++) {
                uint32_t side = 4 * c->queue.data[at] + k;
                const face_slot *slot = face_at(c, side);
                uint32_t next = other_tet(slot, side);
                if (slot->triangle != NONE || next == NONE || c->cell.data[next] != NONE)
                    continue;
                c->cell.data[next] = (uint32_t)c->count;
                c->queue.data[end++] = next;
            }
        c->count++;
    }
    return KILN_OK;
}

/* Cells at the outside have one triangle before them, those behind another one more. */
static kiln_status find_depths(cells *c, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(c->context, &c->depth, c->count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->first, c->count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->tag, c->count, error));
    memset(c->depth.data, 0xff, c->count * sizeof(uint32_t));
    memset(c->first.data, 0xff, c->count * sizeof(uint32_t));
    for (uint32_t side = 0; side < 4 * c->s->tets.count; side++) {
        const face_slot *slot = face_at(c, side);
        uint32_t cell = c->cell.data[side / 4];
        if (slot->triangle == NONE)
            continue;
        uint32_t number = (uint32_t)c->s->triangle_tags.data[slot->triangle];
        if (number < c->first.data[cell])
            c->first.data[cell] = number;
        if (other_tet(slot, side) == NONE)
            c->depth.data[cell] = 1;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < c->size; i++) {
            const face_slot *slot = &c->slots[i];
            if (slot->v[0] == NONE || slot->triangle == NONE || slot->side[1] == NONE)
                continue;
            for (int k = 0; k < 2; k++) {
                uint32_t a = c->cell.data[slot->side[k] / 4];
                uint32_t b = c->cell.data[slot->side[1 - k] / 4];
                if (c->depth.data[a] == NONE || c->depth.data[a] + 1 >= c->depth.data[b])
                    continue;
                c->depth.data[b] = c->depth.data[a] + 1;
                changed = true;
            }
        }
    }
    return KILN_OK;
}

/* Regions are numbered as the first of their triangles are. */
static void tag_cells(cells *c, bool regions, kiln_fill_cells *out)
{
    for (size_t i = 0; i < c->count; i++) {
        bool inside = regions || c->depth.data[i] % 2 == 1;
        uint32_t rank = 1;
        for (size_t j = 0; j < c->count && regions; j++)
            rank += c->first.data[j] < c->first.data[i] ||
                    (c->first.data[j] == c->first.data[i] && j < i);
        c->tag.data[i] = inside ? rank : 0;
        out->cavities += !inside;
    }
    out->regions = regions ? c->count : 1;
}

/* Middle of the largest tet of each cavity: far from its walls. */
static kiln_status find_holes(const cells *c, kiln_vec3_array *holes, kiln_error *error)
{
    for (uint32_t cell = 0; cell < c->count; cell++) {
        double largest = 0.0;
        kiln_vec3 middle = {0, 0, 0};
        for (size_t t = 0; t < c->s->tets.count && c->tag.data[cell] == 0; t++) {
            const uint32_t *v = c->s->tets.data[t].v;
            const kiln_vec3 *p = c->s->points.data;
            if (c->cell.data[t] != cell)
                continue;
            double volume = kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
            if (volume <= largest)
                continue;
            largest = volume;
            middle = kiln_v3_add(kiln_v3_add(p[v[0]], p[v[1]]), kiln_v3_add(p[v[2]], p[v[3]]));
        }
        if (largest > 0.0)
            KILN_TRY(kiln_array_push(c->context, holes, kiln_v3_scale(middle, 0.25), error));
    }
    return KILN_OK;
}

static uint32_t tag_of_side(const cells *c, uint32_t side)
{
    return side == NONE ? 0 : c->tag.data[c->cell.data[side / 4]];
}

/* Triangles with something on one side only, as seen from there. */
static void keep_triangles(cells *c)
{
    kiln_soup *s = c->s;
    size_t kept = 0;
    for (size_t i = 0; i < s->triangles.count; i++) {
        const face_slot *slot = find_face(c, s->triangles.data[i].v);
        uint32_t a = tag_of_side(c, slot->side[0]), b = tag_of_side(c, slot->side[1]);
        if ((a == 0) == (b == 0) || slot->triangle != i)
            continue;
        uint32_t v[3];
        face_corners(s, slot->side[a == 0], v);
        memcpy(s->triangles.data[kept].v, v, sizeof v);
        s->triangle_tags.data[kept++] = s->triangle_tags.data[i];
    }
    s->triangles.count = s->triangle_tags.count = kept;
}

/* Points that only a cavity has stay at the end of none: they go, in order. */
static kiln_status keep_tets(cells *c, kiln_error *error)
{
    kiln_soup *s = c->s;
    size_t kept = 0, points = 0;
    for (size_t t = 0; t < s->tets.count; t++) {
        uint32_t tag = c->tag.data[c->cell.data[t]];
        if (tag == 0)
            continue;
        s->tets.data[kept] = s->tets.data[t];
        s->tet_tags.data[kept++] = (int32_t)tag;
    }
    s->tets.count = s->tet_tags.count = kept;
    KILN_TRY(kiln_array_reserve(c->context, &c->queue, s->points.count, error));
    memset(c->queue.data, 0xff, s->points.count * sizeof(uint32_t));
    for (size_t i = 0; i < 4 * kept; i++)
        c->queue.data[s->tets.data[i / 4].v[i % 4]] = 0;
    for (size_t i = 0; i < s->points.count; i++)
        if (c->queue.data[i] != NONE) {
            c->queue.data[i] = (uint32_t)points;
            s->points.data[points++] = s->points.data[i];
        }
    s->points.count = points;
    for (size_t i = 0; i < 4 * kept; i++)
        s->tets.data[i / 4].v[i % 4] = c->queue.data[s->tets.data[i / 4].v[i % 4]];
    for (size_t i = 0; i < 3 * s->triangles.count; i++)
        s->triangles.data[i / 3].v[i % 3] = c->queue.data[s->triangles.data[i / 3].v[i % 3]];
    return KILN_OK;
}

static kiln_status sort(cells *c, bool regions, kiln_vec3_array *holes, kiln_fill_cells *out,
                        kiln_error *error)
{
    KILN_TRY(list_faces(c, error));
    KILN_TRY(flood(c, error));
    KILN_TRY(find_depths(c, error));
    tag_cells(c, regions, out);
    if (holes)
        return find_holes(c, holes, error);
    keep_triangles(c);
    return keep_tets(c, error);
}

kiln_status kiln_fill_sort_cells(kiln_soup *filled, bool regions, const char *place,
                                 kiln_vec3_array *holes, kiln_fill_cells *out, kiln_error *error)
{
    cells c = {.context = filled->context, .s = filled, .place = place};
    *out = (kiln_fill_cells){0};
    kiln_status status = sort(&c, regions, holes, out, error);
    kiln_release(c.context, c.slots, c.size * sizeof *c.slots);
    kiln_array_free(c.context, &c.cell);
    kiln_array_free(c.context, &c.queue);
    kiln_array_free(c.context, &c.depth);
    kiln_array_free(c.context, &c.tag);
    kiln_array_free(c.context, &c.first);
    return status;
}

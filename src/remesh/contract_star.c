/* The star of a vertex that may go: walked fast, its worst score, and scores with the vertex at
 * another place. */
#include "remesh/contract_impl.h"
#include "mesh/journal.h"

#include <string.h>

enum { SLOTS = 512, HASH_SHIFT = 23 };

/* The slot of a tet that is not where it should be. */
static uint32_t probe(const uint32_t table[SLOTS], uint32_t at, uint32_t key)
{
    while (table[at] != 0 && table[at] != key)
        at = (at + 1) % SLOTS;
    return at;
}

/* Slots hold tet + 1. Returns 1 where the tet is new, without a branch on that, which would be
 * anybody's guess; only the rare collision is one. */
KILN_INLINE uint32_t enter(uint32_t table[SLOTS], uint32_t tet)
{
    uint32_t key = tet + 1, at = tet * 0x9e3779b1u >> HASH_SHIFT, found = table[at];
    uint32_t other = (0u - (uint32_t)(found != 0)) & (found ^ key);
    if (KILN_UNLIKELY(other != 0)) {
        at = probe(table, at, key);
        found = table[at];
    }
    table[at] = key;
    return found == 0;
}

/* The star where it has at most KILN_USUAL_STAR tets. */
static bool gather_few(const kiln_mesh *mesh, kiln_near_star *star)
{
    static const uint8_t others[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    const uint32_t vertex = star->vertex;
    const kiln_tet *all = mesh->tet;
    uint32_t table[SLOTS], count = 1, *tets = star->tets;
    memset(table, 0, sizeof table);
    enter(table, tets[0]);
    for (uint32_t next = 0; next < count; next++) {
        const kiln_tet *tet = &all[tets[next]];
        uint32_t corner = ((uint32_t)(tet->v[1] == vertex)) | (uint32_t)(tet->v[2] == vertex) << 1 |
                          (0u - (uint32_t)(tet->v[3] == vertex)) % 4;
        if (KILN_UNLIKELY(count + 3 > KILN_USUAL_STAR))
            return false;
        for (int i = 0; i < 3; i++) {
            kiln_link link = tet->n[others[corner][i]];
            tets[count] = link / 4;
            if (KILN_UNLIKELY(kiln_link_is_surface(link)))
                continue;
            KILN_PREFETCH(&all[link / 4]);
            count += enter(table, link / 4);
        }
    }
    star->count = count;
    return true;
}

static bool gather_many(const kiln_contraction *c, kiln_near_star *star)
{
    kiln_walker *walker = &c->workspace->walker;
    bool done = kiln_star(c->remesher->mesh, star->vertex, walker, NULL) == KILN_OK;
    size_t count = walker->tets.count;
    star->tets = done ? kiln_arena_array(&c->workspace->arena, uint32_t, count) : NULL;
    if (!star->tets)
        return kiln_workspace_fail(c->workspace);
    memcpy(star->tets, walker->tets.data, count * sizeof *star->tets);
    star->count = (uint32_t)count;
    return true;
}

/* The worst tet comes first, for it is the first to ask: it must have become better. */
static void find_worst(const kiln_remesher *remesher, kiln_near_star *star)
{
    const double *quality = remesher->quality.data;
    uint32_t at = 0, *tets = star->tets;
    star->worst = quality[tets[0]];
    for (uint32_t i = 1; i < star->count; i++)
        if (quality[tets[i]] < star->worst) {
            star->worst = quality[tets[i]];
            at = i;
        }
    uint32_t swap = tets[0];
    tets[0] = tets[at];
    tets[at] = swap;
}

/* Prepares the star for scores at many places. Coordinates are relative to the vertex, in units of
 * one of its edges. */
static void record_star(const kiln_contraction *c, kiln_near_star *star)
{
    const kiln_remesher *remesher = c->remesher;
    const kiln_mesh *mesh = remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    const kiln_vec3 *corner[3 * (KILN_USUAL_STAR + KILN_STAR_LANES)];
    kiln_measure measure = remesher->options.measure;
    star->recorded = false;
    if (!c->several || remesher->mixed || remesher->options.sizing ||
        measure == KILN_MEASURE_MIN_SINE || star->count > KILN_USUAL_STAR)
        return;
    void *memory =
        kiln_arena_alloc(&c->workspace->arena, kiln_star_record_bytes(measure, star->count));
    if (!memory)
        return; /* scores one by one do as well */
    for (uint32_t i = 0; i < star->count; i++) {
        const kiln_tet *tet = &mesh->tet[star->tets[i]];
        const uint8_t *face = kiln_face_corner[kiln_tet_corner(tet, star->vertex)];
        for (int k = 0; k < 3; k++)
            corner[3 * i + k] = &points[tet->v[face[k]]];
    }
    kiln_vec3 origin = points[star->vertex];
    star->record = kiln_star_record_in(memory, remesher->context->isa, measure, star->count);
    star->frame = (kiln_star_frame){origin, kiln_v3_norm(kiln_v3_sub(*corner[0], origin)), NULL};
    kiln_star_record_fill(&star->record, &star->frame, corner);
    star->recorded = true;
}

kiln_near_star *kiln_near_star_of(const kiln_contraction *c, uint32_t vertex, uint32_t tet,
                                  kiln_near_star *room)
{
    const kiln_mesh *mesh = c->remesher->mesh;
    for (int i = 0; i < c->shared_count; i++)
        if (c->shared[i].vertex == vertex)
            return &c->shared[i];
    room->vertex = vertex;
    room->tets = room->few;
    room->tets[0] = tet;
    if (!gather_few(mesh, room) && !gather_many(c, room))
        return NULL;
    if (kiln_star_listed(mesh, vertex) && kiln_star_list(mesh, vertex)->count != room->count)
        return NULL;
    find_worst(c->remesher, room);
    record_star(c, room);
    return room;
}

/* Whether those of the first tets of a prepared star that do not vanish score above a threshold. */
static bool first_above(const kiln_contraction *c, const kiln_near_star *star, size_t tets,
                        const uint32_t *apart, int aparts, kiln_vec3 x, double threshold)
{
    const kiln_mesh *mesh = c->remesher->mesh;
    uint32_t below[KILN_LONGEST_RING];
    kiln_star_record record = star->record;
    record.tets = record.functions = tets;
    kiln_star_values(&record, x);
    size_t count = kiln_star_below(&record, threshold, below, KILN_LONGEST_RING);
    if (count > KILN_LONGEST_RING)
        return false; /* more than can vanish */
    for (size_t i = 0; i < count; i++)
        if (!kiln_tet_has_all(&mesh->tet[star->tets[below[i]]], apart, aparts))
            return false;
    return true;
}

bool kiln_near_star_may(const kiln_contraction *c, const kiln_near_star *star,
                        const uint32_t *apart, int aparts, kiln_vec3 p, double threshold)
{
    if (!star->recorded)
        return true;
    kiln_vec3 x = kiln_v3_scale(kiln_v3_sub(p, star->frame.origin), 1.0 / star->frame.unit);
    threshold -= 1e-10; /* rounding */
    return (star->count <= KILN_STAR_LANES ||
            first_above(c, star, KILN_STAR_LANES, apart, aparts, x, threshold)) &&
           first_above(c, star, star->count, apart, aparts, x, threshold);
}

bool kiln_near_star_above(const kiln_contraction *c, const kiln_near_star *star,
                          const uint32_t *apart, int aparts, const kiln_place *place,
                          double threshold)
{
    if (star->recorded)
        return true;
    for (uint32_t i = 0; i < star->count; i++) {
        const kiln_tet *tet = &c->remesher->mesh->tet[star->tets[i]];
        uint32_t moved[4];
        if (kiln_tet_has_all(tet, apart, aparts))
            continue;
        for (int k = 0; k < 4; k++)
            moved[k] = tet->v[k] == star->vertex ? KILN_PROPOSED : tet->v[k];
        if (!kiln_remesher_score_above(c->remesher, kiln_remesher_space(c->remesher, star->tets[i]),
                                       place, moved, threshold))
            return false;
    }
    return true;
}

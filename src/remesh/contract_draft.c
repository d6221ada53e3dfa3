#include "remesh/contract_impl.h"
#include "mesh/journal.h"
#include "remesh/metric.h"

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
    if (!star->tets) {
        c->workspace->failed = true;
        return false;
    }
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
    if (!c->several || remesher->options.sizing || measure == KILN_MEASURE_MIN_SINE ||
        star->count > KILN_USUAL_STAR)
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
        if (!kiln_remesher_score_above(c->remesher, place, moved, threshold))
            return false;
    }
    return true;
}

double kiln_contraction_threshold(const kiln_contraction *c, double before)
{
    double gain = before + KILN_LEAST_GAIN;
    return c->limits->must_gain && gain > c->limits->worst ? gain : c->limits->worst;
}

kiln_place kiln_contraction_place_of(const kiln_remesher *remesher, uint32_t vertex)
{
    kiln_place place = {.u = remesher->mesh->u[vertex], .x = remesher->mesh->x[vertex]};
    if (remesher->options.sizing)
        place.metric = remesher->metric.data[vertex];
    return place;
}

kiln_place kiln_contraction_place_inside(const kiln_remesher *remesher, kiln_vec3 p, uint32_t near)
{
    kiln_place place = {.side = {.begin = p, .hint = remesher->side.data[near].hint}};
    kiln_remesher_locate(remesher, p, &place);
    return place;
}

int kiln_vertex_rank(const kiln_remesher *remesher, uint32_t vertex)
{
    if (kiln_vertex_is_free(remesher->mesh, vertex))
        return 0;
    if (remesher->mesh->vertex[vertex].flags & (KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED))
        return 3;
    switch ((kiln_freedom)remesher->side.data[vertex].freedom) {
    case KILN_ON_PLANE:
    case KILN_ON_SURFACE:
        return 1;
    case KILN_ON_LINE:
    case KILN_ON_CURVE:
        return 2;
    case KILN_FREE:
    case KILN_FIXED:
        break;
    }
    return 3;
}

bool kiln_draft_start(const kiln_contraction *c, kiln_draft *draft, kiln_operator kind,
                      size_t old_room, size_t fresh_room)
{
    kiln_arena *arena = &c->workspace->arena;
    *draft = (kiln_draft){.proposal = {.kind = kind,
                                       .old = kiln_arena_array(arena, uint32_t, old_room),
                                       .fresh = kiln_arena_array(arena, kiln_new_tet, fresh_room),
                                       .quality = kiln_arena_array(arena, double, fresh_room),
                                       .before = INFINITY,
                                       .after = INFINITY,
                                       .stamp = c->remesher->mesh->clock},
                          .survivor = KILN_NONE};
    if (draft->proposal.old && draft->proposal.fresh && draft->proposal.quality)
        return true;
    c->workspace->failed = true;
    return false;
}

void kiln_draft_take(kiln_draft *draft, uint32_t tet)
{
    draft->proposal.old[draft->proposal.old_count++] = tet;
}

static kiln_new_tet *same_tet(const kiln_contraction *c, kiln_draft *draft, uint32_t tet)
{
    kiln_new_tet *fresh = &draft->proposal.fresh[draft->proposal.fresh_count++];
    kiln_draft_take(draft, tet);
    *fresh = (kiln_new_tet){.parent = tet, .slot = tet};
    memcpy(fresh->v, c->remesher->mesh->tet[tet].v, sizeof fresh->v);
    return fresh;
}

void kiln_draft_keep(const kiln_contraction *c, kiln_draft *draft, uint32_t tet)
{
    for (uint32_t i = 0; i < draft->proposal.old_count; i++)
        if (draft->proposal.old[i] == tet)
            return;
    same_tet(c, draft, tet);
    draft->kept++;
}

void kiln_draft_move(const kiln_contraction *c, kiln_draft *draft, uint32_t tet, uint32_t vertex)
{
    kiln_new_tet *fresh = same_tet(c, draft, tet);
    for (int k = 0; k < 4; k++)
        fresh->v[k] = fresh->v[k] == vertex ? KILN_PROPOSED : fresh->v[k];
}

void kiln_draft_add(kiln_draft *draft, const uint32_t v[4], uint32_t parent)
{
    kiln_new_tet *fresh = &draft->proposal.fresh[draft->proposal.fresh_count++];
    *fresh = (kiln_new_tet){.parent = parent, .slot = KILN_NONE};
    memcpy(fresh->v, v, sizeof fresh->v);
}

static uint32_t proposed_corner(const kiln_new_tet *fresh)
{
    uint32_t corner = 0;
    while (corner < 4 && fresh->v[corner] != KILN_PROPOSED)
        corner++;
    return corner;
}

/* The survivor's number where KILN_PROPOSED stood. */
static void name_survivor(kiln_draft *draft)
{
    kiln_proposal *p = &draft->proposal;
    p->has_place = draft->survivor == KILN_NONE;
    if (!p->has_place)
        p->vertex_flags = 0; /* those of the new vertex; the survivor has its own */
    for (uint32_t i = 0; i < p->fresh_count && !p->has_place; i++)
        for (int k = 0; k < 4; k++)
            p->fresh[i].v[k] =
                p->fresh[i].v[k] == KILN_PROPOSED ? draft->survivor : p->fresh[i].v[k];
}

static bool score_all(const kiln_contraction *c, kiln_draft *draft)
{
    kiln_proposal *p = &draft->proposal;
    p->before = kiln_remesher_worst(c->remesher, p->old, p->old_count - draft->kept);
    for (uint32_t i = 0; i < p->fresh_count; i++) {
        p->quality[i] = kiln_remesher_score(c->remesher, &p->place, p->fresh[i].v);
        if (i < p->fresh_count - draft->kept)
            p->after = p->quality[i] < p->after ? p->quality[i] : p->after;
        if (!kiln_remesher_valid_elsewhere(c->remesher, &p->place, p->fresh[i].v))
            return false;
    }
    double threshold = kiln_contraction_threshold(c, p->before);
    return p->after > threshold || (!c->limits->must_gain && p->after >= threshold);
}

static double length_between(const kiln_remesher *remesher, const kiln_place *place, uint32_t a,
                             uint32_t b)
{
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    bool world = remesher->options.space == KILN_SPACE_WORLD;
    kiln_vec3 p = a != KILN_PROPOSED ? points[a] : world ? place->x : place->u;
    kiln_vec3 edge = kiln_v3_sub(points[b], p);
    if (!remesher->options.sizing)
        return kiln_v3_norm(edge);
    const kiln_sym3 *at_a = a == KILN_PROPOSED ? &place->metric : &remesher->metric.data[a];
    return kiln_metric_edge_length(at_a, &remesher->metric.data[b], edge);
}

/* Do two vertices have one of the old tets in common? */
static bool had_edge(const kiln_mesh *mesh, const kiln_proposal *p, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < p->old_count; i++)
        if (kiln_tet_corner(&mesh->tet[p->old[i]], a) < 4 &&
            kiln_tet_corner(&mesh->tet[p->old[i]], b) < 4)
            return true;
    return false;
}

/* No edge of the merged vertex beyond the limits, unless an edge of a vertex that goes was as far
 * beyond. */
static bool lengths_fit(const kiln_contraction *c, const kiln_draft *draft)
{
    const kiln_remesher *remesher = c->remesher;
    const kiln_proposal *p = &draft->proposal;
    double shortest = 0.0, longest = c->limits->longest;
    if (remesher->options.sizing && c->limits->must_gain) {
        const double *limit = remesher->options.edge_limit;
        shortest = limit[0];
        longest = limit[1] < longest ? limit[1] : longest;
    }
    if (shortest == 0.0 && longest == INFINITY)
        return true;
    for (uint32_t i = 0; i < p->fresh_count; i++) {
        uint32_t corner = proposed_corner(&p->fresh[i]);
        for (uint32_t k = 0; k < 4 && corner < 4; k++) {
            if (k == corner)
                continue;
            double length = length_between(remesher, &p->place, KILN_PROPOSED, p->fresh[i].v[k]);
            if (length >= shortest && length <= longest)
                continue;
            bool was = false;
            for (int g = 0; g < draft->gone_count && !was; g++) {
                if (!had_edge(remesher->mesh, p, draft->gone[g], p->fresh[i].v[k]))
                    continue;
                double old = length_between(remesher, &p->place, draft->gone[g], p->fresh[i].v[k]);
                was = length > longest ? old >= length : old <= length;
            }
            if (!was)
                return false;
        }
    }
    return true;
}

/* Locked tets stay, and so do required edges and faces of vertices that go. Their feature edges may
 * go only where the draft hands them on. */
static bool marks_fit(const kiln_contraction *c, const kiln_draft *draft)
{
    const kiln_mesh *mesh = c->remesher->mesh;
    uint32_t any = 0;
    for (uint32_t i = 0; i < draft->proposal.old_count; i++)
        any |= mesh->info[draft->proposal.old[i]].marks;
    if (any & KILN_MARK_LOCKED)
        return false;
    if (!(any & (KILN_MARKS_ON_EDGE | KILN_MARKS_ON_FACE)))
        return true;
    for (uint32_t i = 0; i < draft->proposal.old_count; i++) {
        uint32_t tet = draft->proposal.old[i], marks = mesh->info[tet].marks;
        for (int g = 0; g < draft->gone_count; g++) {
            uint32_t corner = kiln_tet_corner(&mesh->tet[tet], draft->gone[g]);
            for (uint32_t k = 0; k < 4 && corner < 4; k++) {
                if (k == corner)
                    continue;
                if (marks >> (KILN_MARK_REQUIRED_EDGE + kiln_edge_of[corner][k]) & 1 ||
                    marks >> (KILN_MARK_REQUIRED_FACE + k) & 1 ||
                    marks >> (KILN_MARK_SPLIT_FACE + k) & 1)
                    return false;
                if (marks >> kiln_edge_of[corner][k] & 1 &&
                    !(draft->proposal.flags & KILN_CAVITY_FEATURES))
                    return false;
            }
        }
    }
    return true;
}

static void hand_on_features(kiln_draft *draft)
{
    for (uint32_t i = 0; i < draft->proposal.fresh_count && draft->far_ends > 0; i++) {
        kiln_new_tet *fresh = &draft->proposal.fresh[i];
        uint32_t corner = proposed_corner(fresh);
        for (uint32_t k = 0; k < 4 && corner < 4; k++)
            for (int e = 0; e < draft->far_ends; e++)
                if (k != corner && fresh->v[k] == draft->far_end[e])
                    fresh->marks |= 1u << (KILN_MARK_FEATURE_EDGE + kiln_edge_of[corner][k]);
    }
}

bool kiln_draft_finish(const kiln_contraction *c, kiln_draft *draft, kiln_proposal *out)
{
    if (!score_all(c, draft) || !lengths_fit(c, draft) || !marks_fit(c, draft))
        return false;
    hand_on_features(draft);
    name_survivor(draft);
    if (draft->walls && !kiln_draft_settle_walls(c, draft))
        return false;
    *out = draft->proposal;
    return true;
}

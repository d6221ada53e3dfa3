#include "remesh/cavity.h"
#include "geom/predicates.h"

#include <string.h>

/* Whether the point sees the face of a tet opposite corner k from inside, beyond doubt. */
static bool sees(const kiln_remesher *remesher, const kiln_place *place, kiln_vec3 point,
                 const uint32_t v[4], int k)
{
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    kiln_vec3 p[4] = {points[v[0]], points[v[1]], points[v[2]], points[v[3]]};
    double det;
    p[k] = point;
    /* Where rounding leaves the sign open the tet would be as good as flat: no use asking more. */
    if (!kiln_orient3d_filter(p[0], p[1], p[2], p[3], &det) || det <= 0.0)
        return false;
    if (remesher->one_space)
        return true;
    uint32_t fresh[4] = {v[0], v[1], v[2], v[3]};
    fresh[k] = KILN_PROPOSED;
    return kiln_remesher_valid_elsewhere(remesher, place, fresh);
}

static kiln_vec3 point_of(const kiln_remesher *remesher, const kiln_place *place)
{
    return remesher->options.space == KILN_SPACE_WORLD ? place->x : place->u;
}

bool kiln_dig_open(const kiln_remesher *remesher, const kiln_place *place, kiln_dig *dig)
{
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    for (uint32_t i = 0; i < dig->seeds; i++) {
        kiln_dig_node *node = &dig->node[i];
        node->depth = node->parents = 0;
        node->seen = (uint8_t)(~node->split & 15);
        node->own = remesher->quality.data[node->tet];
        for (int k = 0; k < 4; k++) {
            if (node->split >> k & 1)
                continue;
            uint32_t v[4];
            kiln_vec3 p[4];
            memcpy(v, remesher->mesh->tet[node->tet].v, sizeof v);
            for (int c = 0; c < 4; c++)
                p[c] = c == k ? point_of(remesher, place) : points[v[c]];
            v[k] = KILN_PROPOSED;
            if (kiln_orient3d_sign(p[0], p[1], p[2], p[3]) <= 0 ||
                !kiln_remesher_valid_elsewhere(remesher, place, v))
                return false;
        }
    }
    return true;
}

/* A tet that was reached, and through which faces; it joins when all it turns away are reached. */
typedef struct waiting_tet {
    uint32_t tet;
    uint8_t turned, met, depth;
} waiting_tet;

enum { WAITING_ROOM = 2 * KILN_DIG_ROOM, NEVER = 0xFF };

typedef struct growth {
    const kiln_remesher *remesher;
    const kiln_place *place;
    kiln_vec3 point;
    kiln_idset *known; /* tet -> index into `waiting` */
    kiln_dig *dig;
    uint32_t depth;
    bool may_swallow;
    uint32_t waiting_count;
    waiting_tet waiting[WAITING_ROOM];
} growth;

/* Edges and the vertex that only faces of `turned` have vanish with the tet (C4). */
static bool may_vanish(const growth *g, uint32_t tet, uint32_t turned)
{
    const kiln_mesh *mesh = g->remesher->mesh;
    const uint32_t edges = mesh->info[tet].marks & KILN_MARKS_ON_EDGE;
    for (uint32_t e = 0; e < 6 && edges; e++) {
        uint32_t ends = 1u << kiln_edge_ends[e][0] | 1u << kiln_edge_ends[e][1];
        bool marked = edges >> e & (1u << KILN_MARK_FEATURE_EDGE | 1u << KILN_MARK_REQUIRED_EDGE);
        if (marked && (~turned & ~ends & 15) == 0)
            return false;
    }
    for (int k = 0; k < 4; k++) {
        if (turned != (15u & ~(1u << k)))
            continue;
        uint32_t vertex = mesh->tet[tet].v[k];
        return g->may_swallow && g->remesher->side.data[vertex].freedom == KILN_FREE &&
               !(mesh->vertex[vertex].flags & (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE |
                                               KILN_VERTEX_FEATURE | KILN_VERTEX_REQUIRED));
    }
    return turned != 15;
}

static void join(growth *g, uint32_t tet, uint32_t turned, uint32_t depth)
{
    if (g->dig->count == KILN_DIG_ROOM)
        return;
    g->dig->node[g->dig->count++] = (kiln_dig_node){.tet = tet,
                                                    .depth = (uint8_t)depth,
                                                    .seen = (uint8_t)(~turned & 15),
                                                    .own = g->remesher->quality.data[tet]};
}

static uint32_t turned_away(const growth *g, uint32_t tet, uint32_t entry)
{
    const uint32_t *v = g->remesher->mesh->tet[tet].v;
    uint32_t turned = 1u << entry;
    for (uint32_t k = 0; k < 4; k++)
        if (k != entry && !sees(g->remesher, g->place, g->point, v, (int)k))
            turned |= 1u << k;
    return turned;
}

/* A tet is reached for the first time, through its face `entry`. */
static void discover(growth *g, kiln_idset_slot *slot, uint32_t tet, uint32_t entry, uint32_t depth)
{
    uint32_t turned = turned_away(g, tet, entry);
    if (turned == 1u << entry) {
        kiln_idset_add(g->known, slot, tet, KILN_NONE);
        join(g, tet, turned, depth);
        return;
    }
    if (g->waiting_count == WAITING_ROOM)
        return;
    bool may = may_vanish(g, tet, turned);
    kiln_idset_add(g->known, slot, tet, g->waiting_count);
    g->waiting[g->waiting_count++] =
        (waiting_tet){tet, (uint8_t)(may ? turned : NEVER), (uint8_t)(1u << entry), (uint8_t)depth};
}

static void reach(growth *g, uint32_t from, uint32_t face)
{
    const kiln_mesh *mesh = g->remesher->mesh;
    uint32_t here = g->dig->node[from].tet, depth = g->dig->node[from].depth + 1u;
    kiln_link link = mesh->tet[here].n[face];
    if (kiln_link_is_surface(link) || kiln_link_is_interface(mesh, here, link))
        return;
    uint32_t tet = link / 4, entry = link % 4, marks = mesh->info[tet].marks;
    const uint32_t one_face = 1u << KILN_MARK_REQUIRED_FACE | 1u << KILN_MARK_SPLIT_FACE;
    if (marks & KILN_MARK_LOCKED || marks >> entry & one_face)
        return;
    kiln_idset_slot *slot = kiln_idset_at(g->known, tet);
    if (slot->epoch != g->known->epoch) {
        discover(g, slot, tet, entry, depth);
        return;
    }
    if (slot->value == KILN_NONE)
        return;
    waiting_tet *waiting = &g->waiting[slot->value];
    waiting->met |= (uint8_t)(1u << entry);
    if (waiting->met == waiting->turned)
        join(g, tet, waiting->turned, waiting->depth);
}

/* Arcs of the finished graph (C1). */
static void connect(growth *g)
{
    kiln_dig *dig = g->dig;
    const kiln_mesh *mesh = g->remesher->mesh;
    kiln_idset *place_of = g->known;
    for (uint32_t i = 0; i < dig->count; i++) {
        kiln_idset_slot *slot = kiln_idset_at(place_of, dig->node[i].tet);
        kiln_idset_add(place_of, slot, dig->node[i].tet, i);
    }
    for (uint32_t i = 0; i < dig->count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_dig_node *node = &dig->node[i];
            kiln_link link = mesh->tet[node->tet].n[k];
            node->child[k] = KILN_DIG_OUTSIDE;
            if (!(node->seen >> k & 1) || kiln_link_is_surface(link))
                continue;
            kiln_idset_slot *slot = kiln_idset_at(place_of, link / 4);
            if (slot->epoch != place_of->epoch || slot->value < dig->seeds)
                continue;
            node->child[k] = (uint16_t)slot->value;
            kiln_dig_node *child = &dig->node[slot->value];
            child->parent[child->parents++] = (uint16_t)i;
        }
}

bool kiln_dig_grow(const kiln_remesher *remesher, kiln_workspace *workspace,
                   const kiln_place *place, uint32_t depth, bool may_swallow, kiln_dig *dig)
{
    growth g = {.remesher = remesher,
                .place = place,
                .point = point_of(remesher, place),
                .known = &workspace->walker.seen,
                .dig = dig,
                .depth = depth,
                .may_swallow = may_swallow};
    kiln_context *context = remesher->context;
    const size_t most = KILN_DIG_ROOM + WAITING_ROOM;
    dig->count = dig->seeds;
    if (kiln_idset_clear(context, g.known, most, NULL) != KILN_OK)
        return false;
    for (uint32_t i = 0; i < dig->seeds; i++) {
        kiln_idset_slot *slot = kiln_idset_at(g.known, dig->node[i].tet);
        kiln_idset_add(g.known, slot, dig->node[i].tet, KILN_NONE);
    }
    for (uint32_t i = 0; i < dig->count; i++)
        for (uint32_t k = 0; k < 4 && dig->node[i].depth < depth; k++)
            if (dig->node[i].seen >> k & 1)
                reach(&g, i, k);
    if (kiln_idset_clear(context, g.known, most, NULL) != KILN_OK)
        return false;
    connect(&g);
    return true;
}

void kiln_dig_score(const kiln_remesher *remesher, const kiln_place *place, kiln_dig *dig)
{
    for (uint32_t i = 0; i < dig->count; i++) {
        kiln_dig_node *node = &dig->node[i];
        for (int k = 0; k < 4; k++) {
            uint32_t v[4];
            if (!(node->seen >> k & 1))
                continue;
            memcpy(v, remesher->mesh->tet[node->tet].v, sizeof v);
            v[k] = KILN_PROPOSED;
            node->weight[k] = kiln_remesher_score(remesher, place, v);
        }
    }
}

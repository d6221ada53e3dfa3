#include "remesh/cavity.h"
#include "geom/predicates.h"

#include <string.h>

bool kiln_dig_open(const kiln_remesher *remesher, const kiln_place *place, kiln_dig *dig)
{
    const kiln_vec3 *points = kiln_remesher_points(remesher);
    for (uint32_t i = 0; i < dig->seeds; i++) {
        kiln_dig_node *node = &dig->node[i];
        node->depth = node->parents = 0;
        node->seen = (uint8_t)(~node->split & 15);
        node->own = remesher->quality.data[node->tet];
        for (int k = 0; k < 4; k++) {
            node->child[k] = KILN_DIG_OUTSIDE;
            if (node->split >> k & 1)
                continue;
            uint32_t v[4];
            kiln_vec3 p[4];
            memcpy(v, remesher->mesh->tet[node->tet].v, sizeof v);
            for (int c = 0; c < 4; c++)
                p[c] = c == k ? kiln_place_point(remesher, place) : points[v[c]];
            v[k] = KILN_PROPOSED;
            if (kiln_orient3d_sign(p[0], p[1], p[2], p[3]) <= 0 ||
                !kiln_remesher_valid_elsewhere(remesher, remesher->options.space, place, v))
                return false;
        }
    }
    return true;
}

/* A tet that was reached, and through which faces; it joins when all it turns away are reached. */
typedef struct waiting_tet {
    uint32_t tet;
    uint8_t turned, split, met, depth;
} waiting_tet;

enum { WAITING_ROOM = 2 * KILN_DIG_ROOM, NEVER = 0xFF, WAITING = 0x10000 };

typedef struct flat_facet {
    kiln_vec3 normal; /* outward, of length 1 */
    int32_t tag;
} flat_facet;

typedef struct growth {
    const kiln_remesher *remesher;
    const kiln_place *place;
    kiln_vec3 point;
    kiln_idset *known; /* tet -> its node, or WAITING + index into `waiting` */
    kiln_dig *dig;
    const kiln_dig_limits *limits;
    flat_facet facet[2];
    int facets;
    uint32_t waiting_count;
    waiting_tet waiting[WAITING_ROOM];
} growth;

/* Whether the vertex may go: inside or, with the facet's faces, on it. */
static bool may_swallow(const growth *g, uint32_t vertex, bool on_facet)
{
    const uint32_t kept = KILN_VERTEX_INTERFACE | KILN_VERTEX_FEATURE | KILN_VERTEX_CORNER |
                          KILN_VERTEX_REQUIRED | (on_facet ? 0 : KILN_VERTEX_SURFACE);
    const kiln_freedom wanted = !on_facet           ? KILN_FREE
                                : g->limits->curved ? KILN_ON_SURFACE
                                                    : KILN_ON_PLANE;
    return g->limits->may_swallow && !(g->remesher->mesh->vertex[vertex].flags & kept) &&
           g->remesher->side.data[vertex].freedom == wanted;
}

/* Edges and the vertex that only faces turned away or dissolved have vanish with the tet (C4). */
static bool may_vanish(const growth *g, uint32_t tet, uint32_t turned, uint32_t split)
{
    const kiln_mesh *mesh = g->remesher->mesh;
    const uint32_t gone = turned | split;
    for (uint32_t e = 0; e < 6 && mesh->info[tet].marks & KILN_MARKS_ON_EDGE; e++) {
        uint32_t ends = 1u << kiln_edge_ends[e][0] | 1u << kiln_edge_ends[e][1];
        if (kiln_edge_is_marked(mesh, tet, e) && (~gone & ~ends & 15) == 0)
            return false;
    }
    for (int k = 0; k < 4; k++)
        if (gone == (15u & ~(1u << k)))
            return may_swallow(g, mesh->tet[tet].v[k], split != 0);
    return gone != 15;
}

/* The tet becomes a node, the child of all nodes across the faces it turns away. */
static void join(growth *g, kiln_idset_slot *slot, uint32_t turned, uint32_t split, uint32_t depth)
{
    kiln_dig *dig = g->dig;
    const kiln_tet *tet = &g->remesher->mesh->tet[slot->id];
    if (dig->count == KILN_DIG_ROOM)
        return;
    kiln_dig_node *node = &dig->node[dig->count];
    node->tet = slot->id;
    node->depth = (uint8_t)depth;
    node->seen = (uint8_t)(~(turned | split) & 15);
    node->split = (uint8_t)split;
    node->parents = 0;
    node->own = g->remesher->quality.data[slot->id];
    slot->value = dig->count;
    for (uint32_t k = 0; k < 4; k++) {
        node->child[k] = KILN_DIG_OUTSIDE;
        if (!(turned >> k & 1))
            continue;
        uint32_t parent = kiln_idset_at(g->known, tet->n[k] / 4)->value;
        node->parent[node->parents++] = (uint16_t)parent;
        dig->node[parent].child[tet->n[k] % 4] = (uint16_t)dig->count;
    }
    dig->count++;
}

/* Whether a face, its corners relative to the point, is in the plane (rounding lifts points off it
 * by much less) and looks the same way; curved: looks the same way within 25 degrees. */
static bool in_plane(const kiln_vec3 r[4], const double size[4], const uint8_t *corner,
                     kiln_vec3 normal, bool curved)
{
    for (int k = 0; k < 3 && !curved; k++)
        if (fabs(kiln_v3_dot(r[corner[k]], normal)) > 1e-10 * size[corner[k]])
            return false;
    kiln_vec3 a = r[corner[0]], b = r[corner[1]], c = r[corner[2]];
    kiln_vec3 outward = kiln_v3_cross(kiln_v3_sub(b, a), kiln_v3_sub(c, a));
    double along = kiln_v3_dot(outward, normal);
    return along > 0.0 && (!curved || along > 0.9 * kiln_v3_norm(outward));
}

/* Whether face f of a tet may be dissolved (C5). */
static bool lies_in_facet(const growth *g, uint32_t tet, uint32_t f, const kiln_vec3 r[4],
                          const double size[4])
{
    const kiln_mesh *mesh = g->remesher->mesh;
    kiln_link link = mesh->tet[tet].n[f];
    if (g->facets == 0 || !kiln_link_is_surface(link) || kiln_face_is_marked(mesh, tet, f))
        return false;
    /* Faces with a twin are one side of a crack; the other side would have to change alike. */
    const kiln_face *face = &mesh->face[link - KILN_LINK_SURFACE];
    for (int i = 0; i < g->facets && face->twin == 0; i++)
        if (face->tag == g->facet[i].tag &&
            in_plane(r, size, kiln_face_corner[f], g->facet[i].normal, g->limits->curved))
            return true;
    return false;
}

/* Bits of the faces that the point does not see from inside beyond doubt; where rounding leaves the
 * sign open the new tet would be as good as flat. Those that are dissolved go to *split. */
static uint32_t turned_away(const growth *g, uint32_t tet, uint32_t entry, uint32_t *split)
{
    const uint32_t *v = g->remesher->mesh->tet[tet].v;
    const kiln_vec3 *points = kiln_remesher_points(g->remesher);
    kiln_vec3 r[4];
    double size[4];
    uint32_t turned = 1u << entry;
    *split = 0;
    for (int k = 0; k < 4; k++) {
        r[k] = kiln_v3_sub(points[v[k]], g->point);
        size[k] = fabs(r[k].x) + fabs(r[k].y) + fabs(r[k].z);
    }
    for (uint32_t k = 0; k < 4; k++) {
        const uint8_t *c = kiln_face_corner[k];
        uint32_t fresh[4] = {v[0], v[1], v[2], v[3]};
        fresh[k] = KILN_PROPOSED;
        if (k == entry)
            continue;
        /* Corners in outward order: positive inside. The bound holds because the terms of the
         * product add up to no more than that of the sizes. */
        double product = kiln_v3_triple(r[c[0]], r[c[1]], r[c[2]]);
        if (lies_in_facet(g, tet, k, r, size))
            *split |= 1u << k;
        else if (!(product > 0x1p-49 * (size[c[0]] * size[c[1]] * size[c[2]])) ||
                 !kiln_remesher_valid_elsewhere(g->remesher, g->remesher->options.space, g->place,
                                                fresh))
            turned |= 1u << k;
    }
    return turned;
}

/* A tet is reached for the first time, through its face `entry`. */
static void discover(growth *g, kiln_idset_slot *slot, uint32_t tet, uint32_t entry, uint32_t depth)
{
    uint32_t split, turned = turned_away(g, tet, entry, &split);
    if (g->waiting_count == WAITING_ROOM || g->dig->count == KILN_DIG_ROOM)
        return;
    kiln_idset_add(g->known, slot, tet, WAITING + g->waiting_count);
    bool may = may_vanish(g, tet, turned, split);
    if (may && turned == 1u << entry)
        join(g, slot, turned, split, depth);
    else
        g->waiting[g->waiting_count++] =
            (waiting_tet){tet, (uint8_t)(may ? turned : NEVER), (uint8_t)split,
                          (uint8_t)(1u << entry), (uint8_t)depth};
}

static void reach(growth *g, uint32_t from, uint32_t face)
{
    const kiln_mesh *mesh = g->remesher->mesh;
    uint32_t here = g->dig->node[from].tet, depth = g->dig->node[from].depth + 1u;
    kiln_link link = mesh->tet[here].n[face];
    if (kiln_link_is_wall(mesh, here, link))
        return;
    uint32_t tet = link / 4, entry = link % 4;
    if (mesh->info[tet].marks & KILN_MARK_LOCKED || kiln_face_is_marked(mesh, tet, entry))
        return;
    kiln_idset_slot *slot = kiln_idset_at(g->known, tet);
    if (slot->epoch != g->known->epoch) {
        discover(g, slot, tet, entry, depth);
        return;
    }
    if (slot->value < WAITING)
        return;
    waiting_tet *waiting = &g->waiting[slot->value - WAITING];
    waiting->met |= (uint8_t)(1u << entry);
    if (waiting->met == waiting->turned)
        join(g, slot, waiting->turned, waiting->split, waiting->depth);
}

static void look_at_facets(growth *g)
{
    const kiln_mesh *mesh = g->remesher->mesh;
    const kiln_vec3 *points = kiln_remesher_points(g->remesher);
    g->facets = 0;
    for (int i = 0; i < g->limits->facets; i++) {
        const kiln_face *face = &mesh->face[g->limits->facet[i]];
        const uint32_t *v = mesh->tet[face->at / 4].v;
        const uint8_t *corner = kiln_face_corner[face->at % 4];
        kiln_vec3 a = points[v[corner[0]]], b = points[v[corner[1]]], c = points[v[corner[2]]];
        kiln_vec3 normal = kiln_v3_cross(kiln_v3_sub(b, a), kiln_v3_sub(c, a));
        double length = kiln_v3_norm(normal);
        if (length > 0.0)
            g->facet[g->facets++] = (flat_facet){kiln_v3_scale(normal, 1.0 / length), face->tag};
    }
}

bool kiln_dig_grow(const kiln_remesher *remesher, kiln_workspace *workspace,
                   const kiln_place *place, const kiln_dig_limits *limits, kiln_dig *dig)
{
    growth g;
    g.remesher = remesher;
    g.place = place;
    g.point = kiln_place_point(remesher, place);
    g.known = &workspace->walker.seen;
    g.dig = dig;
    g.limits = limits;
    g.waiting_count = 0;
    look_at_facets(&g);
    dig->count = dig->seeds;
    if (kiln_idset_clear(remesher->context, g.known, KILN_DIG_ROOM + WAITING_ROOM, NULL) != KILN_OK)
        return false;
    for (uint32_t i = 0; i < dig->seeds; i++) {
        kiln_idset_slot *slot = kiln_idset_at(g.known, dig->node[i].tet);
        kiln_idset_add(g.known, slot, dig->node[i].tet, i);
    }
    for (uint32_t i = 0; i < dig->count; i++)
        for (uint32_t k = 0; k < 4 && dig->node[i].depth < limits->depth; k++)
            if (dig->node[i].seen >> k & 1)
                reach(&g, i, k);
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
            node->weight[k] = kiln_remesher_score_in(
                remesher, kiln_remesher_space(remesher, node->tet), place, v);
        }
    }
}

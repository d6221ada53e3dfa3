/* What is near: the pairs of some vertices of a surface that changes. */
#include "step/vicinity.h"

#include "contact/contact_surface_impl.h"
#include "contact/repulsion.h"
#include "geom/triangle_overlap.h"
#include "step/collide_impl.h"
#include "step/patch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void kiln_vicinity_init(kiln_vicinity *near, kiln_context *context)
{
    *near = (kiln_vicinity){.context = context};
    kiln_walker_init(&near->walker, context);
}

void kiln_vicinity_free(kiln_vicinity *n)
{
    kiln_walker_free(&n->walker);
    kiln_array_free(n->context, &n->rows.slots);
    kiln_array_free(n->context, &n->faces.slots);
    kiln_array_free(n->context, &n->vertex);
    kiln_array_free(n->context, &n->x);
    kiln_array_free(n->context, &n->place);
    kiln_array_free(n->context, &n->facing);
    kiln_array_free(n->context, &n->area);
    kiln_array_free(n->context, &n->modulus);
    kiln_array_free(n->context, &n->points);
    kiln_array_free(n->context, &n->edges);
    kiln_array_free(n->context, &n->triangles);
    kiln_array_free(n->context, &n->pairs);
    kiln_array_free(n->context, &n->scale);
    kiln_array_free(n->context, &n->before);
    kiln_array_free(n->context, &n->apart);
    kiln_array_free(n->context, &n->rubs);
    kiln_array_free(n->context, &n->spans);
}

double kiln_vicinity_modulus(const kiln_local_objective *o, uint32_t tet)
{
    const kiln_material *m = &o->materials[o->material[tet]];
    return m->mu * (3.0 * m->lambda + 2.0 * m->mu) / (m->lambda + m->mu);
}

static kiln_box pad(kiln_box box, double by)
{
    return (kiln_box){kiln_v3_sub(box.low, kiln_v3(by, by, by)),
                      kiln_v3_add(box.high, kiln_v3(by, by, by))};
}

/* Gathering. */

typedef struct gathering {
    kiln_vicinity *near;
    const kiln_vicinity_surface *surface;
    const kiln_local_objective *o;
    const kiln_vec3 *to; /* [free row] where they go, straight; NULL: anywhere in their room */
    kiln_box about;      /* of what may move, with room and reach */
    kiln_status status;
    kiln_error *error;
} gathering;

static bool is_wall(const gathering *g, uint32_t row)
{
    return g->near->vertex.data[row] >= KILN_LINK_SURFACE;
}

/* Points of walls are numbered from here on in the set of rows: no vertex is. */
static uint32_t wall_id(uint32_t point)
{
    return KILN_LINK_SURFACE + point;
}

/* A row for a vertex or a point of a wall; KILN_NONE: no memory. */
static uint32_t row_of(gathering *g, uint32_t id, kiln_vec3 x)
{
    kiln_vicinity *n = g->near;
    if (2 * (n->rows.members + 1) > n->rows.slots.count)
        g->status = kiln_idset_grow(n->context, &n->rows, g->error);
    if (g->status != KILN_OK)
        return KILN_NONE;
    kiln_idset_slot *slot = kiln_idset_at(&n->rows, id);
    if (slot->epoch == n->rows.epoch)
        return slot->value;
    uint32_t row = (uint32_t)n->vertex.count;
    bool wall = id >= KILN_LINK_SURFACE, told = id < g->surface->area.count; /* or just made */
    double area = told ? g->surface->area.data[id] : 0.0;
    double modulus = wall ? INFINITY : told ? g->surface->modulus.data[id] : 0.0;
    kiln_idset_add(&n->rows, slot, id, row);
    g->status = kiln_array_push(n->context, &n->vertex, id, g->error);
    if (g->status == KILN_OK)
        g->status = kiln_array_push(n->context, &n->x, x, g->error);
    if (g->status == KILN_OK)
        g->status = kiln_array_push(n->context, &n->area, area, g->error);
    if (g->status == KILN_OK)
        g->status = kiln_array_push(n->context, &n->modulus, modulus, g->error);
    return row;
}

static uint32_t row_of_vertex(gathering *g, uint32_t v)
{
    return row_of(g, v, g->o->end[v]);
}

static bool is_listed(const kiln_vicinity *n, uint32_t face)
{
    return kiln_idset_has(&n->faces, face);
}

static void list_face(gathering *g, uint32_t face)
{
    kiln_vicinity *n = g->near;
    if (2 * (n->faces.members + 1) > n->faces.slots.count)
        g->status = kiln_idset_grow(n->context, &n->faces, g->error);
    if (g->status == KILN_OK)
        kiln_idset_add(&n->faces, kiln_idset_at(&n->faces, face), face, 0);
}

static kiln_box box_of_rows(const gathering *g, const kiln_vicinity_item *item, int count)
{
    const kiln_vicinity *n = g->near;
    kiln_box box = kiln_box_empty();
    for (int k = 0; k < count; k++) {
        box = kiln_box_grow(box, n->x.data[item->row[k]]);
        if (g->to && item->row[k] < n->free)
            box = kiln_box_grow(box, g->to[item->row[k]]);
    }
    double half = 0.5 * (g->surface->collide->options.thickness + g->surface->most);
    return pad(box, half + (item->own && !g->to ? n->room : 0.0));
}

static void add_item(gathering *g, kiln_vicinity_items *list, kiln_vicinity_item item, int rows)
{
    for (int k = 0; k < rows && g->status == KILN_OK; k++)
        item.own |= item.row[k] < g->near->free;
    if (g->status != KILN_OK)
        return;
    item.box = box_of_rows(g, &item, rows);
    if (item.own || kiln_box_overlap(item.box, g->about))
        g->status = kiln_array_push(g->near->context, list, item, g->error);
}

static void add_face(gathering *g, uint32_t f)
{
    uint32_t v[3];
    kiln_vicinity_item item = {.number = f};
    size_t before = g->near->triangles.count;
    if (is_listed(g->near, f))
        return;
    kiln_contact_surface_corners(g->o->mesh, f, v);
    for (int k = 0; k < 3; k++)
        item.row[k] = row_of_vertex(g, v[k]);
    if (g->status == KILN_OK)
        add_item(g, &g->near->triangles, item, 3);
    if (g->near->triangles.count > before)
        list_face(g, f);
}

/* What the face gives to those of its vertices that may move: they have all of theirs. */
static void share_face(gathering *g, const kiln_vicinity_item *face)
{
    kiln_vicinity *n = g->near;
    const uint32_t v[3] = {n->vertex.data[face->row[0]], n->vertex.data[face->row[1]],
                           n->vertex.data[face->row[2]]};
    const kiln_vec3 p[3] = {n->x.data[face->row[0]], n->x.data[face->row[1]],
                            n->x.data[face->row[2]]};
    double share = kiln_contact_surface_share(g->o->mesh, v);
    kiln_vec3 normal = kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]));
    for (int k = 0; k < 3; k++)
        if (face->row[k] < n->free) {
            n->area.data[face->row[k]] += share;
            n->facing.data[face->row[k]] = kiln_v3_add(n->facing.data[face->row[k]], normal);
        }
}

/* The faces at a vertex that may move, and what it is made of. */
static void add_star(gathering *g, uint32_t row)
{
    kiln_vicinity *n = g->near;
    const kiln_mesh *mesh = g->o->mesh;
    uint32_t vertex = n->vertex.data[row];
    double modulus = 0.0;
    if (!(mesh->vertex[vertex].flags & KILN_VERTEX_SURFACE))
        return;
    g->status = kiln_star(mesh, vertex, &n->walker, g->error);
    for (size_t i = 0; i < n->walker.tets.count && g->status == KILN_OK; i++) {
        uint32_t t = n->walker.tets.data[i];
        modulus += kiln_vicinity_modulus(g->o, t);
        for (uint32_t k = 0; k < 4; k++)
            if (kiln_link_is_surface(mesh->tet[t].n[k]) && mesh->tet[t].v[k] != vertex)
                add_face(g, mesh->tet[t].n[k] - KILN_LINK_SURFACE);
    }
    n->modulus.data[row] = modulus / (double)n->walker.tets.count;
}

static bool see_face(void *user, uint32_t item)
{
    gathering *g = user;
    uint32_t f = g->surface->grown.data[item];
    if (f < g->o->mesh->table[KILN_ON_FACE].used && kiln_face_live(g->o->mesh, f))
        add_face(g, f);
    return g->status == KILN_OK;
}

static void add_fresh(gathering *g)
{
    const kiln_vicinity_surface *s = g->surface;
    for (size_t i = 0; i < s->fresh.count && g->status == KILN_OK; i++)
        if (kiln_box_overlap(s->fresh_boxes.data[i], g->about) &&
            s->fresh.data[i] < g->o->mesh->table[KILN_ON_FACE].used &&
            kiln_face_live(g->o->mesh, s->fresh.data[i]))
            add_face(g, s->fresh.data[i]);
}

/* Walls. */

static kiln_vicinity_item wall_item(gathering *g, const kiln_u32_array *points, uint32_t item,
                                    uint32_t arity)
{
    kiln_vicinity_item out = {.number = item, .wall = true};
    for (uint32_t k = 0; k < arity; k++) {
        uint32_t point = points->data[arity * item + k];
        out.row[k] = row_of(g, wall_id(point), g->surface->walls[point]);
    }
    return out;
}

static bool see_wall_point(void *user, uint32_t item)
{
    gathering *g = user;
    const kiln_walls *walls = &g->surface->collide->walls;
    kiln_vicinity_item point = wall_item(g, &walls->vertices, item, 1);
    point.area = walls->area.data[walls->vertices.data[item]];
    add_item(g, &g->near->points, point, 1);
    return g->status == KILN_OK;
}

static bool see_wall_edge(void *user, uint32_t item)
{
    gathering *g = user;
    const kiln_walls *walls = &g->surface->collide->walls;
    kiln_vicinity_item edge = wall_item(g, &walls->edges, item, 2);
    edge.area = fmin(walls->edge_area.data[item], g->surface->typical);
    add_item(g, &g->near->edges, edge, 2);
    return g->status == KILN_OK;
}

static bool see_wall_face(void *user, uint32_t item)
{
    gathering *g = user;
    add_item(g, &g->near->triangles, wall_item(g, &g->surface->collide->walls.faces, item, 3), 3);
    return g->status == KILN_OK;
}

/* Vertices and edges of the faces, each once. */
static void list_parts(gathering *g)
{
    kiln_vicinity *n = g->near;
    const kiln_mesh *mesh = g->o->mesh;
    size_t faces = n->triangles.count;
    for (uint32_t r = 0; r < n->vertex.count && g->status == KILN_OK; r++)
        if (r >= n->free || mesh->vertex[n->vertex.data[r]].flags & KILN_VERTEX_SURFACE)
            add_item(g, &n->points, (kiln_vicinity_item){.row = {r}, .area = n->area.data[r]}, 1);
    for (size_t i = 0; i < faces && g->status == KILN_OK; i++) {
        const kiln_vicinity_item *face = &n->triangles.data[i];
        uint32_t v[3], w[3];
        kiln_contact_surface_corners(mesh, face->number, v);
        double share = kiln_contact_surface_share(mesh, v);
        for (int k = 0; k < 3; k++) {
            uint32_t beyond = kiln_surface_across(mesh, face->number, v[k], v[(k + 1) % 3]);
            if (beyond < face->number && is_listed(n, beyond))
                continue;
            kiln_contact_surface_corners(mesh, beyond, w);
            add_item(g, &n->edges,
                     (kiln_vicinity_item){.row = {face->row[k], face->row[(k + 1) % 3]},
                                          .area = share + kiln_contact_surface_share(mesh, w)},
                     2);
        }
    }
}

/* Pairs. */

static uint32_t part_of(const gathering *g, uint32_t row)
{
    return g->o->mesh->info[g->o->mesh->vertex[g->near->vertex.data[row]].tet].part;
}

static uint32_t body_of(const gathering *g, uint32_t row)
{
    return g->o->mesh->parts.data[part_of(g, row)].body;
}

static uint32_t obstacle_of(const gathering *g, uint32_t row)
{
    return g->surface->collide->walls.obstacle.data[g->near->vertex.data[row] - KILN_LINK_SURFACE];
}

/* Of two sides, by a row of each. */
static kiln_pair_kind kind_of(const gathering *g, uint32_t a, uint32_t b)
{
    if (is_wall(g, a))
        return (kiln_pair_kind){.body = body_of(g, b), .other = obstacle_of(g, a), .wall = true};
    if (is_wall(g, b))
        return (kiln_pair_kind){.body = body_of(g, a), .other = obstacle_of(g, b), .wall = true};
    return (kiln_pair_kind){
        .body = body_of(g, a), .other = body_of(g, b), .one_part = part_of(g, a) == part_of(g, b)};
}

/* Where a side's vertices are in the material. */
static kiln_vec3 material_place(const gathering *g, uint32_t row)
{
    return g->o->mesh->u[g->near->vertex.data[row]];
}

static double distance_of(const kiln_vec3 p[4], uint32_t split)
{
    return sqrt(split == 1 ? kiln_triangle_distance2(p[0], p + 1) : kiln_edges_distance2(p, p + 2));
}

/* Its reach, and how far apart they are beyond their clearance; false: it does not matter. */
static bool judge(const gathering *g, kiln_surface_pair *pair, double slack, double *apart)
{
    const kiln_vicinity *n = g->near;
    const kiln_pair_rules rules = kiln_collide_rules(g->surface->collide);
    kiln_pair_kind kind = kind_of(g, pair->v[0], pair->v[3]);
    kiln_vec3 p[4];
    if (!kiln_pair_meets(&rules, &kind))
        return false;
    for (int k = 0; k < 4; k++)
        p[k] = n->x.data[pair->v[k]];
    pair->clearance = kiln_pair_clearance(&rules, &kind);
    pair->reach = rules.thickness;
    double far = distance_of(p, pair->split), near = far - slack;
    *apart = far - pair->clearance;
    if (near > pair->reach + pair->clearance)
        return false;
    if (!kind.one_part)
        return true;
    for (int k = 0; k < 4; k++)
        p[k] = material_place(g, pair->v[k]);
    double reach = kiln_pair_reach(&rules, pair->clearance, distance_of(p, pair->split));
    pair->clearance *= reach / pair->reach;
    pair->reach = reach;
    *apart = far - pair->clearance;
    return near <= pair->reach + pair->clearance;
}

static double side_modulus(const kiln_vicinity *n, const uint32_t *row, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < count; k++)
        sum += n->modulus.data[row[k]];
    return sum / count;
}

static double scale_of(const gathering *g, const kiln_surface_pair *pair)
{
    const kiln_vicinity *n = g->near;
    const kiln_collide *c = g->surface->collide;
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = n->x.data[pair->v[k]];
    double modulus = fmin(side_modulus(n, pair->v, pair->split),
                          side_modulus(n, pair->v + pair->split, 4 - pair->split));
    return g->surface->weight * c->hardness * c->options.stiffness * modulus * pair->area *
           kiln_collide_skewness(pair->split, p);
}

/* Its distance where the step began. */
static double begin_distance(const gathering *g, const kiln_surface_pair *pair)
{
    const kiln_vicinity *n = g->near;
    kiln_surface_pair here = *pair;
    kiln_vec3 p[4];
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t id = n->vertex.data[pair->v[k]];
        p[k] = is_wall(g, pair->v[k]) ? g->surface->wall_begin[id - KILN_LINK_SURFACE]
                                      : g->o->mesh->x[id];
        here.v[k] = k;
    }
    return kiln_surface_pair_distance(&here, p).d;
}

static void add_pair(gathering *g, const kiln_vicinity_item *a, const kiln_vicinity_item *b,
                     bool edges)
{
    kiln_vicinity *n = g->near;
    kiln_surface_pair pair = {.split = edges ? 2 : 1, .face = b->number};
    if (edges)
        pair.v[0] = a->row[0], pair.v[1] = a->row[1], pair.v[2] = b->row[0], pair.v[3] = b->row[1];
    else
        pair.v[0] = a->row[0], pair.v[1] = b->row[0], pair.v[2] = b->row[1], pair.v[3] = b->row[2];
    double apart;
    if (!judge(g, &pair, n->room * (a->own + b->own), &apart))
        return;
    if (edges)
        pair.area = 0.25 * (a->area + b->area);
    else if (b->wall)
        pair.area = a->area;
    else
        pair.area = 0.25 * (a->wall ? fmin(a->area, g->surface->typical) : a->area);
    double before = g->surface->over ? begin_distance(g, &pair) : 0.0;
    g->status = kiln_array_push(n->context, &n->scale, scale_of(g, &pair), g->error);
    if (g->status == KILN_OK)
        g->status = kiln_array_push(n->context, &n->before, before, g->error);
    if (g->status == KILN_OK)
        g->status = kiln_array_push(n->context, &n->apart, apart, g->error);
    if (g->status == KILN_OK)
        g->status = kiln_array_push(n->context, &n->pairs, pair, g->error);
}

static bool share_a_row(const kiln_vicinity_item *a, int rows_a, const kiln_vicinity_item *b,
                        int rows_b)
{
    for (int i = 0; i < rows_a; i++)
        for (int k = 0; k < rows_b; k++)
            if (a->row[i] == b->row[k])
                return true;
    return false;
}

static double coordinate(kiln_vec3 p, int axis)
{
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static int by_low(const void *left, const void *right)
{
    const kiln_vicinity_span *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->item > b->item) - (a->item < b->item);
}

/* Along the axis on which they are farthest apart, ascending; the second list after the first. */
static void order_items(gathering *g, const kiln_vicinity_items *first,
                        const kiln_vicinity_items *second)
{
    kiln_vicinity *n = g->near;
    size_t count = first->count + (second ? second->count : 0);
    kiln_vec3 size = kiln_v3_sub(g->about.high, g->about.low);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    n->spans.count = 0;
    g->status = kiln_array_reserve(n->context, &n->spans, count, g->error);
    for (size_t i = 0; i < count && g->status == KILN_OK; i++) {
        const kiln_vicinity_item *item =
            i < first->count ? &first->data[i] : &second->data[i - first->count];
        n->spans.data[n->spans.count++] =
            (kiln_vicinity_span){coordinate(item->box.low, axis), coordinate(item->box.high, axis),
                                 (uint32_t)i, item->own, second && i < first->count};
    }
    if (n->spans.count > 1)
        qsort(n->spans.data, n->spans.count, sizeof *n->spans.data, by_low);
}

static void pair_points(gathering *g)
{
    kiln_vicinity *n = g->near;
    uint32_t points = (uint32_t)n->points.count;
    order_items(g, &n->points, &n->triangles);
    for (size_t i = 0; i < n->spans.count && g->status == KILN_OK; i++) {
        const kiln_vicinity_span *at = &n->spans.data[i];
        for (size_t k = i + 1; k < n->spans.count && n->spans.data[k].low <= at->high; k++) {
            const kiln_vicinity_span *other = &n->spans.data[k];
            if (at->first == other->first || !(at->own || other->own))
                continue;
            const kiln_vicinity_span *p = at->first ? at : other, *t = at->first ? other : at;
            const kiln_vicinity_item *a = &n->points.data[p->item];
            const kiln_vicinity_item *b = &n->triangles.data[t->item - points];
            if (kiln_box_overlap(a->box, b->box) && !share_a_row(a, 1, b, 3))
                add_pair(g, a, b, false);
        }
    }
}

/* Of a body and a wall that of the body comes first, as in the list; of two bodies likewise. */
static void pair_edges(gathering *g)
{
    kiln_vicinity *n = g->near;
    order_items(g, &n->edges, NULL);
    for (size_t i = 0; i < n->spans.count && g->status == KILN_OK; i++) {
        const kiln_vicinity_span *at = &n->spans.data[i];
        for (size_t k = i + 1; k < n->spans.count && n->spans.data[k].low <= at->high; k++) {
            const kiln_vicinity_span *other = &n->spans.data[k];
            if (!(at->own || other->own))
                continue;
            bool swap = at->item > other->item;
            const kiln_vicinity_item *a = &n->edges.data[swap ? other->item : at->item];
            const kiln_vicinity_item *b = &n->edges.data[swap ? at->item : other->item];
            if (kiln_box_overlap(a->box, b->box) && !share_a_row(a, 2, b, 2))
                add_pair(g, a, b, true);
        }
    }
}

/* Coefficient. */
static double friction_of(const gathering *g, const kiln_surface_pair *pair)
{
    kiln_pair_kind kind = kind_of(g, pair->v[0], pair->v[3]);
    return kiln_collide_friction_of_kind(g->surface->collide, &kind);
}

/* Of what presses at the end of the step, wherever the rows are gathered: forces where a patch has
 * come to on its way are not those that rub, and may be a million times as large. */
static void list_rubs(gathering *g)
{
    kiln_vicinity *n = g->near;
    for (size_t i = 0; i < n->free; i++)
        n->x.data[i] = g->o->end[n->vertex.data[i]];
    for (size_t i = 0; i < n->pairs.count && g->status == KILN_OK; i++) {
        const kiln_surface_pair *pair = &n->pairs.data[i];
        kiln_vicinity_rub rub = {.pair = (uint32_t)i, .load = friction_of(g, pair)};
        if (rub.load == 0.0 || kiln_vicinity_least_apart(n, i) > KILN_VICINITY_SURELY * pair->reach)
            continue;
        kiln_pair_distance at = kiln_surface_pair_distance(pair, n->x.data);
        if (at.d >= pair->reach)
            continue;
        rub.load *= kiln_vicinity_load(n, g->surface, g->o, i, &at);
        memcpy(rub.weight, at.weight, sizeof rub.weight);
        kiln_vec3 axis = fabs(at.normal.x) < 0.6 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
        rub.along[0] = kiln_v3_normalize(kiln_v3_cross(at.normal, axis));
        rub.along[1] = kiln_v3_cross(at.normal, rub.along[0]);
        g->status = kiln_array_push(n->context, &n->rubs, rub, g->error);
    }
    for (size_t i = 0; i < n->free; i++)
        n->x.data[i] = n->place.data[i];
}

static bool moves_on_both_sides(const kiln_vicinity *n, const kiln_surface_pair *pair)
{
    bool moves[2] = {false, false};
    for (uint32_t k = 0; k < 4; k++)
        moves[k >= pair->split] |= pair->v[k] < n->free;
    return moves[0] && moves[1];
}

void kiln_vicinity_clear(kiln_vicinity *n)
{
    n->vertex.count = n->x.count = n->area.count = n->modulus.count = 0;
    n->points.count = n->edges.count = n->triangles.count = 0;
    n->pairs.count = n->scale.count = n->before.count = n->apart.count = n->rubs.count = 0;
}

/* Rows of what may move, and the faces there. */
static void gather_own(gathering *g, const uint32_t *vertices, const kiln_vec3 *x)
{
    kiln_vicinity *n = g->near;
    for (size_t i = 0; i < n->free && g->status == KILN_OK; i++)
        (void)row_of(g, vertices[i], x ? x[i] : g->o->end[vertices[i]]);
    for (size_t i = 0; i < n->free && g->status == KILN_OK; i++)
        n->area.data[i] = 0.0;
    for (uint32_t i = 0; i < n->free && g->status == KILN_OK; i++)
        add_star(g, i);
    for (size_t i = 0; i < n->triangles.count && g->status == KILN_OK; i++) {
        share_face(g, &n->triangles.data[i]);
        g->about = kiln_box_join(g->about, n->triangles.data[i].box);
    }
}

static kiln_status gather(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                          const kiln_local_objective *objective, const uint32_t *vertices,
                          size_t count, const kiln_vec3 *x, const kiln_vec3 *to, double room,
                          kiln_error *error)
{
    gathering g = {.near = n,
                   .surface = surface,
                   .o = objective,
                   .to = to,
                   .about = kiln_box_empty(),
                   .error = error};
    kiln_vicinity_clear(n);
    n->free = count;
    n->room = room;
    KILN_TRY(kiln_idset_clear(n->context, &n->rows, 4 * count, error));
    KILN_TRY(kiln_idset_clear(n->context, &n->faces, 4 * count, error));
    KILN_TRY(kiln_array_reserve(n->context, &n->facing, count, error));
    memset(n->facing.data, 0, count * sizeof *n->facing.data);
    gather_own(&g, vertices, x);
    if (g.status == KILN_OK && n->triangles.count > 0) {
        /* Boxes in the tree are bare. */
        kiln_box wide = pad(g.about, surface->collide->options.thickness + surface->most);
        const kiln_collide *c = surface->collide;
        if (c->options.bodies || c->options.self) {
            kiln_bvh_query_box(&surface->tree, wide, see_face, &g);
            add_fresh(&g);
        }
        if (g.status == KILN_OK)
            list_parts(&g);
        if (g.status == KILN_OK && c->options.walls) {
            kiln_bvh_query_box(&surface->wall_points, wide, see_wall_point, &g);
            kiln_bvh_query_box(&surface->wall_edges, wide, see_wall_edge, &g);
            kiln_bvh_query_box(&surface->wall_faces, wide, see_wall_face, &g);
        }
        pair_points(&g);
        pair_edges(&g);
    }
    KILN_TRY(g.status);
    KILN_TRY(kiln_array_reserve(n->context, &n->place, count, error));
    memcpy(n->place.data, n->x.data, count * sizeof *n->place.data);
    list_rubs(&g);
    return g.status;
}

kiln_status kiln_vicinity_gather(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                                 const kiln_local_objective *objective, const uint32_t *vertices,
                                 size_t count, const kiln_vec3 *x, double room, kiln_error *error)
{
    return gather(n, surface, objective, vertices, count, x, NULL, room, error);
}

bool kiln_vicinity_sweep(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                         const kiln_local_objective *o, const uint32_t *vertices, size_t count,
                         kiln_vec3 to, kiln_error *error)
{
    kiln_vec3 step[2], ends[2];
    double most = 0.0;
    bool in_room;
    for (size_t i = 0; i < count; i++) {
        ends[i] = to;
        step[i] = kiln_v3_sub(to, o->end[vertices[i]]);
        most = fmax(most, kiln_v3_norm(step[i]));
    }
    if (gather(n, surface, o, vertices, count, NULL, ends, KILN_VICINITY_SURELY * most, error) !=
        KILN_OK)
        return false;
    size_t kept = 0;
    for (size_t i = 0; i < n->pairs.count; i++)
        if (!moves_on_both_sides(n, &n->pairs.data[i])) {
            n->apart.data[kept] = n->apart.data[i];
            n->pairs.data[kept++] = n->pairs.data[i];
        }
    n->pairs.count = kept;
    n->rubs.count = 0;
    return kiln_vicinity_way(n, n->place.data, step, &in_room) == 1.0 && in_room;
}

static bool crosses(const gathering *g, const kiln_vicinity_item *a, const kiln_vicinity_item *b)
{
    const kiln_pair_rules rules = kiln_collide_rules(g->surface->collide);
    kiln_pair_kind kind = kind_of(g, a->row[0], b->row[0]);
    kiln_vec3 p[3], q[3];
    if (!kiln_box_overlap(a->box, b->box) || !kiln_pair_meets(&rules, &kind))
        return false;
    for (int k = 0; k < 3; k++) {
        p[k] = g->near->x.data[a->row[k]];
        q[k] = g->near->x.data[b->row[k]];
    }
    return kiln_triangle_overlap_shared(p, a->row, q, b->row) >= KILN_OVERLAP_CROSS;
}

bool kiln_vicinity_is_clear(kiln_vicinity *n, const kiln_vicinity_surface *surface,
                            const kiln_local_objective *o)
{
    const gathering g = {.near = n, .surface = surface, .o = o};
    const kiln_vicinity_items *faces = &n->triangles;
    for (size_t i = 0; i < faces->count && faces->data[i].own; i++)
        for (size_t k = i + 1; k < faces->count; k++)
            if (crosses(&g, &faces->data[i], &faces->data[k]))
                return false;
    return true;
}

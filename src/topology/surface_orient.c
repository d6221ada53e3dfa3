#include "topology/surface_orient.h"

#include "geom/triangle_tree.h"
#include "topology/edge_table.h"
#include "topology/surface_mend.h"

#include <string.h>

/* A piece that is open has an inside when its volume is this part of its area to 3/2 (a ball's is
 * 0.094, half of one 0.06 or more by its own centre). */
#define HAS_INSIDE 0.01
/* Points of a piece that are asked about, at most. */
enum { ASKED = 24, ROUNDS = 3 };
/* Difference of winding numbers, on average, that says something. */
#define TELLING 0.05

typedef struct piece {
    uint32_t first, count; /* in the list of triangles by piece */
    kiln_box box;
    double area, volume; /* about its centre */
    bool open, decided;
    uint32_t depth;
} piece;

typedef struct orienting {
    kiln_context *context;
    kiln_soup *s;
    kiln_edge_table edges; /* of the united triangles */
    KILN_ARRAY_OF(kiln_soup_triangle)
    united;
    kiln_u32_array parent; /* [triangle] union-find forest with parities */
    kiln_u32_array odd;    /* [triangle] turned against its parent */
    kiln_u32_array order;  /* triangles by piece */
    kiln_u32_array second; /* [triangle] its second corner in the input */
    KILN_ARRAY_OF(piece)
    pieces;
    KILN_ARRAY_OF(kiln_triangle)
    corners;
    kiln_triangle_tree all;
} orienting;

static kiln_triangle corners_of(const kiln_soup *s, uint32_t triangle)
{
    const uint32_t *v = s->triangles.data[triangle].v;
    return (kiln_triangle){{s->points.data[v[0]], s->points.data[v[1]], s->points.data[v[2]]}};
}

static kiln_vec3 middle_of(const kiln_triangle *t)
{
    return kiln_v3_scale(kiln_v3_add(t->p[0], kiln_v3_add(t->p[1], t->p[2])), 1.0 / 3.0);
}

/* Twice the area long. */
static kiln_vec3 normal_of(const kiln_triangle *t)
{
    return kiln_v3_cross(kiln_v3_sub(t->p[1], t->p[0]), kiln_v3_sub(t->p[2], t->p[0]));
}

static void turn(kiln_soup *s, uint32_t triangle)
{
    uint32_t *v = s->triangles.data[triangle].v, keep = v[1];
    v[1] = v[2];
    v[2] = keep;
}

/* Root of the triangle's piece, and whether it is turned against it. */
static uint32_t root_of(orienting *o, uint32_t i, uint32_t *odd)
{
    uint32_t root = i, parity = 0;
    while (o->parent.data[root] != root) {
        parity ^= o->odd.data[root];
        root = o->parent.data[root];
    }
    *odd = parity;
    while (o->parent.data[i] != root) {
        uint32_t next = o->parent.data[i], own = o->odd.data[i];
        o->parent.data[i] = root;
        o->odd.data[i] = parity;
        parity ^= own;
        i = next;
    }
    return root;
}

static kiln_status unite(orienting *o, double tolerance, kiln_error *error)
{
    size_t count = o->s->triangles.count, points = o->s->points.count;
    KILN_TRY(kiln_array_reserve(o->context, &o->united, count, error));
    KILN_TRY(kiln_array_reserve(o->context, &o->parent, count, error));
    KILN_TRY(kiln_array_reserve(o->context, &o->odd, count, error));
    KILN_TRY(kiln_array_reserve(o->context, &o->order, count > points ? count : points, error));
    KILN_TRY(kiln_surface_unite(o->s, tolerance, o->order.data, error));
    KILN_TRY(kiln_array_reserve(o->context, &o->second, count, error));
    for (size_t i = 0; i < count; i++)
        o->second.data[i] = o->s->triangles.data[i].v[1];
    for (size_t i = 0; i < 3 * count; i++)
        o->united.data[i / 3].v[i % 3] = o->order.data[o->s->triangles.data[i / 3].v[i % 3]];
    return kiln_edge_table_build(&o->edges, o->context, o->united.data, count, error);
}

static void join(orienting *o)
{
    for (uint32_t i = 0; i < o->s->triangles.count; i++) {
        o->parent.data[i] = i;
        o->odd.data[i] = 0;
    }
    for (size_t i = 0; i < o->edges.size; i++) {
        const kiln_edge_slot *edge = &o->edges.slots[i];
        if (edge->count != 2)
            continue;
        uint32_t odd_a, odd_b;
        uint32_t a = root_of(o, edge->side[0] / 3, &odd_a);
        uint32_t b = root_of(o, edge->side[1] / 3, &odd_b);
        if (a == b)
            continue;
        uint32_t turned = kiln_edge_is_turned(edge, o->united.data);
        uint32_t high = a < b ? b : a, low = a < b ? a : b;
        o->parent.data[high] = low;
        o->odd.data[high] = odd_a ^ odd_b ^ turned;
    }
}

/* Lists the pieces in the order of their first triangles, with all triangles in agreement. */
static kiln_status list_pieces(orienting *o, kiln_error *error)
{
    uint32_t count = (uint32_t)o->s->triangles.count, odd;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t root = root_of(o, i, &odd);
        if (odd)
            turn(o->s, i);
        if (root == i) /* from here on odd[root] is the number of its piece */
            KILN_TRY(
                kiln_array_push(o->context, &o->pieces, (piece){.box = kiln_box_empty()}, error));
        if (root == i)
            o->odd.data[i] = (uint32_t)o->pieces.count - 1;
        o->pieces.data[o->odd.data[root]].count++;
    }
    uint32_t first = 0;
    for (size_t k = 0; k < o->pieces.count; k++) {
        o->pieces.data[k].first = first;
        first += o->pieces.data[k].count;
        o->pieces.data[k].count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        piece *p = &o->pieces.data[o->odd.data[o->parent.data[i]]];
        o->order.data[p->first + p->count++] = i;
    }
    return KILN_OK;
}

static void measure(orienting *o, piece *p)
{
    kiln_vec3 centre = {0, 0, 0};
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        kiln_triangle t = corners_of(o->s, o->order.data[i]);
        double area = 0.5 * kiln_v3_norm(normal_of(&t));
        p->area += area;
        centre = kiln_v3_madd(centre, area, middle_of(&t));
        p->box = kiln_box_join(p->box, kiln_box_of(t.p, 3));
        const uint32_t *v = o->united.data[o->order.data[i]].v;
        for (int k = 0; k < 3; k++)
            p->open = p->open || kiln_edge_table_find(&o->edges, v[k], v[(k + 1) % 3])->count < 2;
    }
    centre = p->area > 0.0 ? kiln_v3_scale(centre, 1.0 / p->area) : p->box.low;
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        kiln_triangle t = corners_of(o->s, o->order.data[i]);
        p->volume += kiln_v3_dot(kiln_v3_sub(t.p[0], centre), normal_of(&t)) / 6.0;
    }
    p->decided =
        p->volume != 0.0 && (!p->open || fabs(p->volume) > HAS_INSIDE * p->area * sqrt(p->area));
}

static void turn_piece(orienting *o, piece *p)
{
    for (uint32_t i = p->first; i < p->first + p->count; i++)
        turn(o->s, o->order.data[i]);
    p->volume = -p->volume;
}

static kiln_status tree_of(orienting *o, uint32_t first, uint32_t count, kiln_triangle_tree *tree,
                           kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(o->context, &o->corners, count, error));
    for (uint32_t i = 0; i < count; i++)
        o->corners.data[i] = corners_of(o->s, o->order.data[first + i]);
    return kiln_triangle_tree_build(tree, o->context, o->corners.data, count, error);
}

static bool lies_in(const orienting *o, const piece *inner, const kiln_triangle_tree *outer)
{
    uint32_t asked = inner->count < ASKED ? inner->count : ASKED, inside = 0;
    for (uint32_t i = 0; i < asked; i++) {
        uint32_t at = inner->first + (uint32_t)((uint64_t)i * inner->count / asked);
        kiln_triangle t = corners_of(o->s, o->order.data[at]);
        inside += kiln_triangle_tree_winding(outer, middle_of(&t)) > 0.5;
    }
    return 10 * inside >= 9 * asked;
}

static bool box_in(kiln_box a, kiln_box b)
{
    kiln_box both = kiln_box_join(a, b);
    return memcmp(&both, &b, sizeof b) == 0;
}

/* All that has an inside looks outward, then what lies in an odd number of others inward. */
static kiln_status nest(orienting *o, size_t *cavities, kiln_error *error)
{
    for (size_t k = 0; k < o->pieces.count; k++)
        if (o->pieces.data[k].decided && o->pieces.data[k].volume < 0.0)
            turn_piece(o, &o->pieces.data[k]);
    for (size_t k = 0; k < o->pieces.count; k++) {
        const piece *outer = &o->pieces.data[k];
        kiln_triangle_tree tree = {0};
        for (size_t j = 0; j < o->pieces.count && outer->decided; j++) {
            piece *inner = &o->pieces.data[j];
            if (j == k || !inner->decided || !box_in(inner->box, outer->box))
                continue;
            kiln_status status =
                tree.context ? KILN_OK : tree_of(o, outer->first, outer->count, &tree, error);
            KILN_TRY(status);
            inner->depth += lies_in(o, inner, &tree);
        }
        kiln_triangle_tree_destroy(&tree);
    }
    for (size_t k = 0; k < o->pieces.count; k++)
        if (o->pieces.data[k].depth % 2) {
            turn_piece(o, &o->pieces.data[k]);
            (*cavities)++;
        }
    return KILN_OK;
}

/* How much more the others wind round points behind the piece than round points before it. */
static double vote(const orienting *o, const piece *p)
{
    uint32_t asked = p->count < ASKED ? p->count : ASKED;
    double sum = 0.0, weight = 0.0;
    for (uint32_t i = 0; i < asked; i++) {
        uint32_t at = p->first + (uint32_t)((uint64_t)i * p->count / asked);
        kiln_triangle t = corners_of(o->s, o->order.data[at]);
        kiln_vec3 normal = normal_of(&t), middle = middle_of(&t);
        double area = 0.5 * kiln_v3_norm(normal), reach = 0.5 * sqrt(p->area);
        kiln_vec3 away = kiln_v3_scale(kiln_v3_normalize(normal), reach);
        kiln_vec3 place[2] = {kiln_v3_sub(middle, away), kiln_v3_add(middle, away)};
        double winding[2];
        for (int side = 0; side < 2; side++) {
            winding[side] = kiln_triangle_tree_winding(&o->all, place[side]);
            for (uint32_t k = p->first; k < p->first + p->count; k++) {
                kiln_triangle own = corners_of(o->s, o->order.data[k]);
                winding[side] -= kiln_triangle_winding(&own, place[side]);
            }
        }
        sum += area * (winding[0] - winding[1]);
        weight += area;
    }
    return weight > 0.0 ? sum / weight : 0.0;
}

static kiln_status follow_others(orienting *o, kiln_error *error)
{
    for (int round = 0; round < ROUNDS; round++) {
        bool changed = false;
        KILN_TRY(tree_of(o, 0, (uint32_t)o->s->triangles.count, &o->all, error));
        for (size_t k = 0; k < o->pieces.count; k++) {
            piece *p = &o->pieces.data[k];
            if (p->decided || vote(o, p) > -TELLING)
                continue;
            turn_piece(o, p);
            changed = true;
        }
        kiln_triangle_tree_destroy(&o->all);
        if (!changed)
            break;
    }
    return KILN_OK;
}

static kiln_status orient(orienting *o, double tolerance, kiln_orient_report *report,
                          kiln_error *error)
{
    size_t count = o->s->triangles.count;
    KILN_TRY(unite(o, tolerance, error));
    join(o);
    KILN_TRY(list_pieces(o, error));
    for (size_t k = 0; k < o->pieces.count; k++)
        measure(o, &o->pieces.data[k]);
    KILN_TRY(nest(o, &report->cavities, error));
    KILN_TRY(follow_others(o, error));
    report->pieces = o->pieces.count;
    for (size_t i = 0; i < count; i++)
        report->turned += o->s->triangles.data[i].v[1] != o->second.data[i];
    for (size_t i = 0; i < o->edges.size; i++)
        report->open_edges += o->edges.slots[i].count == 1;
    return KILN_OK;
}

kiln_status kiln_surface_orient(kiln_soup *surface, double tolerance, kiln_orient_report *report,
                                kiln_error *error)
{
    orienting o = {.context = surface->context, .s = surface};
    *report = (kiln_orient_report){0};
    kiln_status status = orient(&o, tolerance, report, error);
    kiln_triangle_tree_destroy(&o.all);
    kiln_edge_table_free(&o.edges);
    kiln_array_free(o.context, &o.united);
    kiln_array_free(o.context, &o.parent);
    kiln_array_free(o.context, &o.odd);
    kiln_array_free(o.context, &o.order);
    kiln_array_free(o.context, &o.second);
    kiln_array_free(o.context, &o.pieces);
    kiln_array_free(o.context, &o.corners);
    return status;
}

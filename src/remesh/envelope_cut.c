/* From the lattice of an envelope to the tets inside it. */
#include "base/hash.h"
#include "base/parallel.h"
#include "geom/tet_quality.h"
#include "mesh/shape_build.h"
#include "remesh/envelope_impl.h"

#include <string.h>

/* Nodes closer than this part of an edge to where it is cut are put there (between the two figures
 * of Labelle and Shewchuk, table 1, for short and long edges). */
#define SNAP 0.33
/* No tet round a node that is put on the surface becomes worse than this. */
#define SNAP_QUALITY 0.1
int kiln_envelope_cut_triangles(const kiln_envelope *e, const kiln_envelope_tet *tet,
                                kiln_triangle out[2])
{
    uint32_t in[4], off[4];
    int inner = 0, outer = 0;
    for (int i = 0; i < 4; i++)
        if (e->nodes.data[tet->v[i]].inside > 0.0)
            in[inner++] = tet->v[i];
        else
            off[outer++] = tet->v[i];
    if (inner == 0 || outer == 0)
        return 0;
    kiln_vec3 p[4] = {{0, 0, 0}};
    int count = 0;
    for (int i = 0; i < inner; i++)
        for (int o = 0; o < outer; o++) {
            int flip = i == 1 && inner == 2 ? 1 - o : o; /* round the quadrilateral */
            uint32_t a = in[i], b = off[flip];
            p[count++] = kiln_v3_lerp(e->nodes.data[a].at, e->nodes.data[b].at,
                                      kiln_envelope_crossing(e, a, b));
        }
    out[0] = (kiln_triangle){{p[0], p[1], p[2]}};
    if (count == 3)
        return 1;
    out[1] = (kiln_triangle){{p[0], p[2], p[3]}};
    return 2;
}

typedef struct outlining {
    const kiln_envelope *e;
    kiln_triangle (*cut)[2]; /* [tet] */
    uint8_t *count;
} outlining;

static void outline_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const outlining *o = user;
    (void)chunk;
    (void)worker;
    for (size_t t = begin; t < end; t++)
        o->count[t] = (uint8_t)kiln_envelope_cut_triangles(o->e, &o->e->tets.data[t], o->cut[t]);
}

kiln_status kiln_envelope_outline(const kiln_envelope *e, kiln_triangle_array *out,
                                  kiln_error *error)
{
    size_t tets = e->tets.count, count = 0;
    outlining o = {.e = e};
    o.cut = kiln_resize(e->context, NULL, 0, tets * sizeof *o.cut);
    o.count = kiln_resize(e->context, NULL, 0, tets);
    kiln_status status = o.cut && o.count ? KILN_OK : kiln_fail_memory(error, tets * sizeof *o.cut);
    if (status == KILN_OK) {
        kiln_parallel_for(e->context, tets, 256, outline_chunk, &o);
        for (size_t t = 0; t < tets; t++)
            count += o.count[t];
        status = kiln_array_reserve(e->context, out, count, error);
    }
    for (size_t t = 0; t < tets && status == KILN_OK; t++)
        for (int i = 0; i < o.count[t]; i++)
            out->data[out->count++] = o.cut[t][i];
    kiln_release(e->context, o.cut, tets * sizeof *o.cut);
    kiln_release(e->context, o.count, tets);
    return status;
}

/* Edges of the lattice that the boundary cuts. */
typedef struct cut_edge {
    uint32_t a, b, point; /* a < b; point of the soup, UINT32_MAX: none yet */
    double part;          /* of the way from a to b */
} cut_edge;

typedef struct cutting {
    kiln_envelope *e;
    kiln_soup *out;
    KILN_ARRAY_OF(cut_edge)
    edges;
    kiln_u32_array slots; /* hash table of them */
    kiln_u32_array first; /* [node + 1] where its tets begin in `around` */
    kiln_u32_array around;
    kiln_u32_array point; /* [node] of the soup */
} cutting;

static uint32_t *find_slot(const cutting *c, uint32_t a, uint32_t b)
{
    size_t mask = c->slots.count - 1, at = kiln_hash_mix((uint64_t)a << 32 | b) & mask;
    while (c->slots.data[at] != UINT32_MAX &&
           (c->edges.data[c->slots.data[at]].a != a || c->edges.data[c->slots.data[at]].b != b))
        at = (at + 1) & mask;
    return &c->slots.data[at];
}

static bool is_cut(const kiln_envelope *e, uint32_t a, uint32_t b)
{
    const kiln_envelope_node *n = e->nodes.data;
    return !n[a].on && !n[b].on && (n[a].inside > 0.0) != (n[b].inside > 0.0);
}

static kiln_status list_edges(cutting *c, kiln_error *error)
{
    const kiln_envelope *e = c->e;
    size_t many = 0, size = 64;
    for (size_t i = 0; i < 6 * e->tets.count; i++)
        many += is_cut(e, e->tets.data[i / 6].v[kiln_envelope_edges[i % 6][0]],
                       e->tets.data[i / 6].v[kiln_envelope_edges[i % 6][1]]);
    while (size < 2 * many)
        size *= 2;
    KILN_TRY(kiln_array_reserve(e->context, &c->slots, size, error));
    memset(c->slots.data, 0xff, size * sizeof(uint32_t));
    c->slots.count = size;
    for (size_t i = 0; i < 6 * e->tets.count; i++) {
        uint32_t a = e->tets.data[i / 6].v[kiln_envelope_edges[i % 6][0]];
        uint32_t b = e->tets.data[i / 6].v[kiln_envelope_edges[i % 6][1]];
        if (!is_cut(e, a, b))
            continue;
        cut_edge edge = {a < b ? a : b, a < b ? b : a, UINT32_MAX, 0.0};
        uint32_t *slot = find_slot(c, edge.a, edge.b);
        if (*slot != UINT32_MAX)
            continue;
        edge.part = kiln_envelope_crossing(e, edge.a, edge.b);
        KILN_TRY(kiln_array_push(e->context, &c->edges, edge, error));
        *slot = (uint32_t)c->edges.count - 1;
    }
    return KILN_OK;
}

static kiln_status list_stars(cutting *c, kiln_error *error)
{
    const kiln_envelope *e = c->e;
    size_t nodes = e->nodes.count, tets = e->tets.count;
    KILN_TRY(kiln_array_reserve(e->context, &c->first, nodes + 2, error));
    KILN_TRY(kiln_array_reserve(e->context, &c->around, 4 * tets, error));
    memset(c->first.data, 0, (nodes + 2) * sizeof(uint32_t));
    for (size_t i = 0; i < 4 * tets; i++)
        c->first.data[e->tets.data[i / 4].v[i % 4] + 2]++;
    for (size_t v = 0; v <= nodes; v++)
        c->first.data[v + 1] += c->first.data[v];
    for (size_t i = 0; i < 4 * tets; i++)
        c->around.data[c->first.data[e->tets.data[i / 4].v[i % 4] + 1]++] = (uint32_t)(i / 4);
    return KILN_OK;
}

/* Puts the node there unless a tet round it would suffer. */
static void try_snap(cutting *c, uint32_t node, kiln_vec3 to)
{
    kiln_envelope_node *n = c->e->nodes.data;
    kiln_vec3 keep = n[node].at;
    n[node].at = to;
    n[node].on = true;
    for (uint32_t i = c->first.data[node]; i < c->first.data[node + 1] && n[node].on; i++) {
        const uint32_t *v = c->e->tets.data[c->around.data[i]].v;
        n[node].on =
            kiln_tet_quality(&n[v[0]].at, &n[v[1]].at, &n[v[2]].at, &n[v[3]].at) > SNAP_QUALITY;
    }
    if (!n[node].on)
        n[node].at = keep;
}

typedef struct nearest_cut {
    double distance;
    kiln_vec3 at;
} nearest_cut;

static kiln_status snap_nodes(cutting *c, kiln_error *error)
{
    kiln_envelope *e = c->e;
    size_t nodes = e->nodes.count;
    nearest_cut *best = kiln_resize(e->context, NULL, 0, nodes * sizeof *best);
    if (!best)
        return kiln_fail_memory(error, nodes * sizeof *best);
    for (size_t i = 0; i < nodes; i++)
        best[i].distance = INFINITY;
    for (size_t i = 0; i < c->edges.count; i++) {
        const cut_edge *edge = &c->edges.data[i];
        kiln_vec3 a = e->nodes.data[edge->a].at, b = e->nodes.data[edge->b].at;
        double near = fmin(edge->part, 1.0 - edge->part);
        uint32_t node = edge->part < 0.5 ? edge->a : edge->b;
        double distance = near * kiln_v3_norm(kiln_v3_sub(b, a));
        if (near < SNAP && distance < best[node].distance)
            best[node] = (nearest_cut){distance, kiln_v3_lerp(a, b, edge->part)};
    }
    /* The other end of an edge need not follow once one is there. */
    for (uint32_t v = 0; v < nodes; v++)
        if (best[v].distance < INFINITY)
            try_snap(c, v, best[v].at);
    kiln_release(e->context, best, nodes * sizeof *best);
    return KILN_OK;
}

static kiln_status node_point(cutting *c, uint32_t node, uint32_t *point, kiln_error *error)
{
    if (c->point.data[node] == UINT32_MAX)
        KILN_TRY(kiln_shape_point(c->out, c->e->nodes.data[node].at, &c->point.data[node], error));
    *point = c->point.data[node];
    return KILN_OK;
}

static kiln_status cut_point(cutting *c, uint32_t in, uint32_t off, uint32_t *point,
                             kiln_error *error)
{
    cut_edge *edge = &c->edges.data[*find_slot(c, in < off ? in : off, in < off ? off : in)];
    if (edge->point == UINT32_MAX) {
        kiln_vec3 at =
            kiln_v3_lerp(c->e->nodes.data[edge->a].at, c->e->nodes.data[edge->b].at, edge->part);
        KILN_TRY(kiln_shape_point(c->out, at, &edge->point, error));
    }
    *point = edge->point;
    return KILN_OK;
}

static bool has_inside(const kiln_envelope *e, const uint32_t v[4])
{
    const kiln_envelope_node *n = e->nodes.data;
    kiln_vec3 sum =
        kiln_v3_add(kiln_v3_add(n[v[0]].at, n[v[1]].at), kiln_v3_add(n[v[2]].at, n[v[3]].at));
    return kiln_triangle_tree_winding(&e->surface, kiln_v3_scale(sum, 0.25)) > 0.5;
}

static kiln_status cut_tet(cutting *c, const uint32_t v[4], kiln_error *error)
{
    const kiln_envelope_node *n = c->e->nodes.data;
    uint32_t in[4], on[4], off[4], p[4], cut[4][4];
    int inner = 0, level = 0, outer = 0;
    for (int i = 0; i < 4; i++)
        if (n[v[i]].on)
            on[level++] = v[i];
        else if (n[v[i]].inside > 0.0)
            in[inner++] = v[i];
        else
            off[outer++] = v[i];
    /* All corners on the surface: it may be a dent or a bump of it. */
    if (inner == 0 && !(level == 4 && has_inside(c->e, v)))
        return KILN_OK;
    for (int i = 0; i < inner; i++) {
        KILN_TRY(node_point(c, in[i], &p[i], error));
        for (int o = 0; o < outer; o++)
            KILN_TRY(cut_point(c, in[i], off[o], &cut[i][o], error));
    }
    for (int k = 0; k < level; k++)
        KILN_TRY(node_point(c, on[k], &p[inner + k], error));
    if (outer > 0)
        return kiln_shape_cut(c->out, p, inner, outer, cut, error);
    return kiln_shape_tet(c->out, p[0], p[1], p[2], p[3], error);
}

static kiln_status cut_all(cutting *c, bool snap, kiln_error *error)
{
    kiln_envelope *e = c->e;
    size_t nodes = e->nodes.count;
    KILN_TRY(kiln_envelope_cross(e, error));
    KILN_TRY(list_edges(c, error));
    if (snap) {
        KILN_TRY(list_stars(c, error));
        KILN_TRY(snap_nodes(c, error));
    }
    KILN_TRY(kiln_array_reserve(e->context, &c->point, nodes, error));
    memset(c->point.data, 0xff, nodes * sizeof(uint32_t));
    for (size_t t = 0; t < e->tets.count; t++)
        KILN_TRY(cut_tet(c, e->tets.data[t].v, error));
    return kiln_shape_surface(c->out, kiln_shape_one_patch, NULL, error);
}

kiln_status kiln_envelope_cut(kiln_envelope *e, bool snap, kiln_soup *out, kiln_error *error)
{
    cutting c = {.e = e, .out = out};
    kiln_status status = cut_all(&c, snap, error);
    for (size_t i = 0; i < e->nodes.count; i++) { /* back to the lattice */
        kiln_envelope_node *n = &e->nodes.data[i];
        n->on = false;
        n->at = kiln_v3_madd(e->low, e->unit,
                             kiln_v3((double)n->c[0], (double)n->c[1], (double)n->c[2]));
    }
    kiln_array_free(e->context, &c.edges);
    kiln_array_free(e->context, &c.slots);
    kiln_array_free(e->context, &c.first);
    kiln_array_free(e->context, &c.around);
    kiln_array_free(e->context, &c.point);
    return status;
}

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void turn_small(kiln_envelope *e, uint32_t *parent, kiln_box *box, size_t *specks)
{
    size_t nodes = e->nodes.count;
    for (uint32_t i = 0; i < nodes; i++) {
        parent[i] = i;
        box[i] = kiln_box_empty();
    }
    for (size_t i = 0; i < 6 * e->tets.count; i++) {
        uint32_t a = e->tets.data[i / 6].v[kiln_envelope_edges[i % 6][0]];
        uint32_t b = e->tets.data[i / 6].v[kiln_envelope_edges[i % 6][1]];
        box[a] = kiln_box_grow(box[a], e->nodes.data[a].at); /* empty stay those of no tet */
        box[b] = kiln_box_grow(box[b], e->nodes.data[b].at);
        if ((e->nodes.data[a].inside > 0.0) != (e->nodes.data[b].inside > 0.0))
            continue;
        a = root_of(parent, a);
        b = root_of(parent, b);
        parent[a < b ? b : a] = a < b ? a : b;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t root = root_of(parent, i);
        box[root] = kiln_box_join(box[root], box[i]);
    }
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t root = root_of(parent, i);
        double across = kiln_v3_norm(kiln_v3_sub(box[root].high, box[root].low));
        if (across >= e->distance) /* infinite where there is no tet */
            continue;
        *specks += root == i;
        double inside = e->nodes.data[i].inside;
        e->nodes.data[i].inside = inside > 0.0 ? -inside : fmax(-inside, 1e-3);
    }
}

kiln_status kiln_envelope_clean(kiln_envelope *e, size_t *specks, kiln_error *error)
{
    size_t nodes = e->nodes.count;
    uint32_t *parent = kiln_resize(e->context, NULL, 0, nodes * sizeof *parent);
    kiln_box *box = kiln_resize(e->context, NULL, 0, nodes * sizeof *box);
    *specks = 0;
    bool room = parent && box;
    if (room)
        turn_small(e, parent, box, specks);
    if (*specks > 0)
        kiln_envelope_forget_crossings(e);
    kiln_release(e->context, parent, nodes * sizeof *parent);
    kiln_release(e->context, box, nodes * sizeof *box);
    return room ? KILN_OK : kiln_fail_memory(error, nodes * sizeof *box);
}

size_t kiln_envelope_count_parts(const kiln_soup *tets)
{
    size_t points = tets->points.count, parts = 0;
    uint32_t *parent = kiln_resize(tets->context, NULL, 0, points * sizeof *parent);
    if (!parent)
        return 0;
    for (uint32_t i = 0; i < points; i++)
        parent[i] = i;
    for (size_t i = 0; i < 3 * tets->tets.count; i++) {
        const uint32_t *v = tets->tets.data[i / 3].v;
        uint32_t a = root_of(parent, v[0]), b = root_of(parent, v[1 + i % 3]);
        parts -= a != b;
        parent[a < b ? b : a] = a < b ? a : b;
    }
    kiln_release(tets->context, parent, points * sizeof *parent);
    return parts + points;
}

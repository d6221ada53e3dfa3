/* Sites on corners and along feature curves.
 *
 * A curve is a chain of feature edges between corners, or a closed one. It is divided evenly in the
 * size asked for; a division moves to an old vertex near it where the curve bends there, because
 * a new chord across a bend would cut the shape off, a little more at each remesh. */
#include "mesh/walk.h"
#include "remesh/domain_impl.h"

#include <stdlib.h>

static const double SNAP = 0.35;        /* of the spacing */
static const double STRAIGHT = 0.99985; /* cosine of one degree */
static const double ROUNDING = 0.1;     /* spacings up to 1.1 of the size are left whole */
static const double OFF_OUTLINE = 0.1;  /* of the size: covered by another body */
static const double SHORT = 0.4;        /* sizes: a curve between corners that are merged */
static const double WEAK = 0.34;        /* cosine of 70 degrees */
enum { MOST_RING = 64, LEAST_IN_LOOP = 3, MOST_DIVISIONS = 1000000 };

typedef struct feature_edge {
    uint32_t v[2];
    uint32_t tet; /* one that has it */
} feature_edge;

typedef struct tracer {
    kiln_domain *domain;
    KILN_ARRAY_OF(feature_edge)
    edges;                /* both ways, sorted: those of a vertex are together */
    kiln_u32_array start; /* [vertex + 1] into edges */
    kiln_u32_array used;  /* [edge] 1: walked */
    kiln_u32_array chain; /* vertices of the present one */
    kiln_f64_array at;    /* [chain] length from its begin, in sizes */
    kiln_u32_array place; /* [vertex] candidate of a corner, or KILN_NONE */
    kiln_u32_array stand; /* [vertex] the corner that stands for this one */
    kiln_site_array *out;
} tracer;

static int compare_edges(const void *a, const void *b)
{
    const feature_edge *p = a, *q = b;
    if (p->v[0] != q->v[0])
        return p->v[0] < q->v[0] ? -1 : 1;
    return p->v[1] < q->v[1] ? -1 : p->v[1] > q->v[1];
}

static kiln_status collect_edges(tracer *t, kiln_error *error)
{
    const kiln_mesh *mesh = t->domain->mesh;
    for (size_t i = 0; i < t->domain->live.count; i++) {
        uint32_t tet = t->domain->live.data[i], marks = mesh->info[tet].marks;
        uint32_t either = (marks >> KILN_MARK_FEATURE_EDGE) | (marks >> KILN_MARK_REQUIRED_EDGE);
        for (uint32_t e = 0; e < 6; e++) {
            if (!(either >> e & 1))
                continue;
            uint32_t a = mesh->tet[tet].v[kiln_edge_ends[e][0]];
            uint32_t b = mesh->tet[tet].v[kiln_edge_ends[e][1]];
            KILN_TRY(kiln_array_push(t->domain->context, &t->edges, ((feature_edge){{a, b}, tet}),
                                     error));
            KILN_TRY(kiln_array_push(t->domain->context, &t->edges, ((feature_edge){{b, a}, tet}),
                                     error));
        }
    }
    if (t->edges.count)
        qsort(t->edges.data, t->edges.count, sizeof *t->edges.data, compare_edges);
    size_t distinct = 0;
    for (size_t i = 0; i < t->edges.count; i++)
        if (i == 0 || compare_edges(&t->edges.data[i], &t->edges.data[distinct - 1]) != 0)
            t->edges.data[distinct++] = t->edges.data[i];
    t->edges.count = distinct;
    return KILN_OK;
}

static kiln_status index_edges(tracer *t, kiln_error *error)
{
    kiln_context *context = t->domain->context;
    size_t vertices = t->domain->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(context, &t->start, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(context, &t->used, t->edges.count + 1, error));
    size_t at = 0;
    for (uint32_t v = 0; v <= vertices; v++) {
        while (at < t->edges.count && t->edges.data[at].v[0] < v)
            at++;
        t->start.data[v] = (uint32_t)at;
    }
    for (size_t i = 0; i < t->edges.count; i++)
        t->used.data[i] = 0;
    return KILN_OK;
}

static bool is_corner(const tracer *t, uint32_t v)
{
    const uint32_t fixed = KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED;
    uint32_t degree = t->start.data[v + 1] - t->start.data[v];
    return (t->domain->mesh->vertex[v].flags & fixed) || (degree > 0 && degree != 2);
}

/* The candidate's number, KILN_NONE where another body covers the place. */
static kiln_status add_site(tracer *t, kiln_vec3 x, kiln_site_kind kind, uint32_t vertex,
                            uint32_t part, uint32_t *number, kiln_error *error)
{
    *number = KILN_NONE;
    kiln_site site = {.x = x, .kind = kind, .vertex = vertex, .part = part, .pinned = true};
    KILN_TRY(kiln_domain_size(t->domain, x, &site.size, error));
    kiln_vec3 nearest;
    if ((t->domain->several_parts || t->domain->skin.count > 0) &&
        kiln_domain_closest(t->domain, x, OFF_OUTLINE * site.size, &nearest) == KILN_BVH_NONE)
        return KILN_OK;
    *number = (uint32_t)t->out->count;
    return kiln_array_push(t->domain->context, t->out, site, error);
}

static kiln_status follow(tracer *t, uint32_t edge, kiln_error *error)
{
    t->chain.count = 0;
    KILN_TRY(kiln_array_push(t->domain->context, &t->chain, t->edges.data[edge].v[0], error));
    for (;;) {
        uint32_t from = t->edges.data[edge].v[0], to = t->edges.data[edge].v[1];
        const feature_edge back = {{to, from}, 0};
        const feature_edge *twin =
            bsearch(&back, t->edges.data, t->edges.count, sizeof *t->edges.data, compare_edges);
        t->used.data[edge] = t->used.data[twin - t->edges.data] = 1;
        KILN_TRY(kiln_array_push(t->domain->context, &t->chain, to, error));
        if (to == t->chain.data[0] || is_corner(t, to))
            return KILN_OK;
        edge = t->start.data[to];
        edge += t->used.data[edge];
    }
}

static bool bends_at(const tracer *t, size_t i)
{
    const kiln_vec3 *x = t->domain->x;
    const uint32_t *c = t->chain.data;
    kiln_vec3 in = kiln_v3_normalize(kiln_v3_sub(x[c[i]], x[c[i - 1]]));
    kiln_vec3 out = kiln_v3_normalize(kiln_v3_sub(x[c[i + 1]], x[c[i]]));
    return kiln_v3_dot(in, out) < STRAIGHT;
}

/* One division at length `s`; `taken` is the last chain vertex a division went to. */
static kiln_status divide_at(tracer *t, double s, double spacing, size_t *taken, uint32_t part,
                             uint32_t *number, kiln_error *error)
{
    const double *at = t->at.data;
    size_t i = 1;
    while (i + 1 < t->chain.count && at[i] < s)
        i++;
    size_t near = at[i] - s < s - at[i - 1] ? i : i - 1;
    bool inner = near > 0 && near + 1 < t->chain.count && near > *taken;
    if (inner && fabs(at[near] - s) < SNAP * spacing && bends_at(t, near)) {
        *taken = near;
        uint32_t v = t->chain.data[near];
        return add_site(t, t->domain->x[v], KILN_SITE_CURVE, v, part, number, error);
    }
    double span = at[i] - at[i - 1], f = span > 0.0 ? (s - at[i - 1]) / span : 0.0;
    const kiln_vec3 *x = t->domain->x;
    return add_site(t, kiln_v3_lerp(x[t->chain.data[i - 1]], x[t->chain.data[i]], f),
                    KILN_SITE_CURVE, KILN_NONE, part, number, error);
}

/* Lengths along the chain in sizes; the last is the whole. */
static kiln_status measure(tracer *t, kiln_error *error)
{
    const kiln_vec3 *x = t->domain->x;
    const uint32_t *c = t->chain.data;
    KILN_TRY(kiln_array_reserve(t->domain->context, &t->at, t->chain.count, error));
    t->at.data[0] = 0.0;
    for (size_t i = 1; i < t->chain.count; i++) {
        double size;
        KILN_TRY(
            kiln_domain_size(t->domain, kiln_v3_lerp(x[c[i - 1]], x[c[i]], 0.5), &size, error));
        t->at.data[i] = t->at.data[i - 1] + kiln_v3_norm(kiln_v3_sub(x[c[i]], x[c[i - 1]])) / size;
    }
    return KILN_OK;
}

static kiln_status link(tracer *t, uint32_t a, uint32_t b, kiln_error *error)
{
    if (a == KILN_NONE || b == KILN_NONE || a == b)
        return KILN_OK;
    return kiln_array_push(t->domain->context, &t->domain->segments, ((kiln_soup_edge){{a, b}}),
                           error);
}

static kiln_status divide(tracer *t, kiln_error *error)
{
    const kiln_mesh *mesh = t->domain->mesh;
    const uint32_t *c = t->chain.data;
    KILN_TRY(measure(t, error));
    double total = t->at.data[t->chain.count - 1];
    bool loop = c[0] == c[t->chain.count - 1];
    double divisions = ceil(total - ROUNDING), least = loop ? LEAST_IN_LOOP : 1.0;
    divisions = divisions < least ? least : divisions;
    if (divisions > MOST_DIVISIONS)
        return kiln_fail(error, KILN_ERR_LIMIT, "size", 0, -1,
                         "too small: a feature curve would be divided in %.0f", divisions);
    uint32_t part = mesh->info[mesh->vertex[c[0]].tet].part;
    uint32_t *first = &t->place.data[c[0]], last, next;
    if (loop && !is_corner(t, c[0]))
        KILN_TRY(add_site(t, t->domain->x[c[0]], KILN_SITE_CURVE, c[0], part, first, error));
    last = *first;
    size_t taken = 0;
    for (double k = 1.0; k < divisions; k += 1.0) {
        KILN_TRY(
            divide_at(t, total * k / divisions, total / divisions, &taken, part, &next, error));
        KILN_TRY(link(t, last, next, error));
        last = next;
    }
    return link(t, last, t->place.data[c[t->chain.count - 1]], error);
}

static uint32_t stand_in(const tracer *t, uint32_t v)
{
    while (t->stand.data[v] != v)
        v = t->stand.data[v];
    return v;
}

static kiln_vec3 outward(const tracer *t, uint32_t tet, uint32_t face)
{
    kiln_piece piece = {.at = kiln_link_to(tet, face)};
    for (int k = 0; k < 3; k++)
        piece.p[k] = t->domain->x[t->domain->mesh->tet[tet].v[kiln_face_corner[face][k]]];
    return kiln_piece_normal(&piece);
}

/* Whether the surface turns at the edge by so little that it may be there by chance: a coarse
 * round tip. False for edges of interfaces and inside. */
static bool is_weak(const tracer *t, uint32_t va, uint32_t vb)
{
    const kiln_mesh *mesh = t->domain->mesh;
    const feature_edge key = {{va, vb}, 0};
    const feature_edge *edge =
        bsearch(&key, t->edges.data, t->edges.count, sizeof key, compare_edges);
    const kiln_tet *tet = &mesh->tet[edge->tet];
    uint32_t ring[MOST_RING];
    kiln_ring shape = kiln_edge_ring(mesh, edge->tet, kiln_tet_corner(tet, va),
                                     kiln_tet_corner(tet, vb), ring, MOST_RING);
    if (shape.closed || shape.count > MOST_RING)
        return false;
    /* The first tet's face by which the fan begins has the edge and is not its exit. */
    uint32_t entry = 0, first = ring[0] / 4, last = ring[shape.count - 1];
    const uint32_t *v = mesh->tet[first].v;
    while (entry == ring[0] % 4 || v[entry] == va || v[entry] == vb)
        entry++;
    return kiln_v3_dot(outward(t, first, entry), outward(t, last / 4, last % 4)) > WEAK;
}

static bool chain_is_weak(const tracer *t)
{
    for (size_t i = 1; i < t->chain.count; i++)
        if (!is_weak(t, t->chain.data[i - 1], t->chain.data[i]))
            return false;
    return true;
}

/* Required ones first, then those where more features meet. */
static uint32_t importance(const tracer *t, uint32_t v)
{
    bool required = t->domain->mesh->vertex[v].flags & KILN_VERTEX_REQUIRED;
    return required ? KILN_NONE : t->start.data[v + 1] - t->start.data[v];
}

/* Two corners that a weak curve much shorter than the size joins become one: at this size their
 * edge would only make bad tets. */
static kiln_status merge_ends(tracer *t, kiln_error *error)
{
    KILN_TRY(measure(t, error));
    uint32_t a = stand_in(t, t->chain.data[0]);
    uint32_t b = stand_in(t, t->chain.data[t->chain.count - 1]);
    if (a == b || t->at.data[t->chain.count - 1] > SHORT || !chain_is_weak(t))
        return KILN_OK;
    double size, apart = kiln_v3_norm(kiln_v3_sub(t->domain->x[a], t->domain->x[b]));
    KILN_TRY(kiln_domain_size(t->domain, t->domain->x[a], &size, error));
    uint32_t of_a = importance(t, a), of_b = importance(t, b);
    if (apart > SHORT * size || (of_a == KILN_NONE && of_b == KILN_NONE))
        return KILN_OK;
    bool keep_a = of_a != of_b ? of_a > of_b : a < b;
    t->stand.data[keep_a ? b : a] = keep_a ? a : b;
    return KILN_OK;
}

static kiln_status merge_corners(tracer *t, kiln_error *error)
{
    uint32_t vertices = t->domain->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(t->domain->context, &t->stand, vertices, error));
    for (uint32_t v = 0; v < vertices; v++)
        t->stand.data[v] = v;
    for (uint32_t e = 0; e < t->edges.count; e++)
        if (!t->used.data[e] && is_corner(t, t->edges.data[e].v[0])) {
            KILN_TRY(follow(t, e, error));
            KILN_TRY(merge_ends(t, error));
        }
    for (size_t e = 0; e < t->edges.count; e++)
        t->used.data[e] = 0;
    return KILN_OK;
}

static kiln_status add_corners(tracer *t, kiln_error *error)
{
    const kiln_mesh *mesh = t->domain->mesh;
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(t->domain->context, &t->place, vertices, error));
    for (uint32_t v = 0; v < vertices; v++) {
        t->place.data[v] = KILN_NONE;
        if (kiln_vertex_live(mesh, v) && is_corner(t, v) && t->stand.data[v] == v)
            KILN_TRY(add_site(t, t->domain->x[v], KILN_SITE_CORNER, v,
                              mesh->info[mesh->vertex[v].tet].part, &t->place.data[v], error));
    }
    for (uint32_t v = 0; v < vertices; v++)
        t->place.data[v] = t->place.data[stand_in(t, v)];
    return KILN_OK;
}

/* Corners first, then the chains that begin at them, then the loops. */
static kiln_status trace(tracer *t, kiln_error *error)
{
    KILN_TRY(collect_edges(t, error));
    KILN_TRY(index_edges(t, error));
    KILN_TRY(merge_corners(t, error));
    KILN_TRY(add_corners(t, error));
    for (int loops = 0; loops < 2; loops++)
        for (uint32_t e = 0; e < t->edges.count; e++) {
            if (t->used.data[e] || (!loops && !is_corner(t, t->edges.data[e].v[0])))
                continue;
            KILN_TRY(follow(t, e, error));
            KILN_TRY(divide(t, error));
        }
    return KILN_OK;
}

kiln_status kiln_domain_trace_curves(kiln_domain *domain, kiln_site_array *out, kiln_error *error)
{
    tracer t = {.domain = domain, .out = out};
    kiln_status status = trace(&t, error);
    kiln_array_free(domain->context, &t.edges);
    kiln_array_free(domain->context, &t.start);
    kiln_array_free(domain->context, &t.used);
    kiln_array_free(domain->context, &t.chain);
    kiln_array_free(domain->context, &t.at);
    kiln_array_free(domain->context, &t.place);
    kiln_array_free(domain->context, &t.stand);
    return status;
}

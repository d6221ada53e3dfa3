/* The lattice of an envelope: coarse tets of a body-centred cubic grid, bisected where they must
 * be.
 *
 *   L1  tets are positive and fill the box; those that share an edge share its middle
 *   L2  a tet is bisected at its longest edge before any other (ties by the numbers of its ends),
 * so all tets are of few shapes L3  looked != 0: neither size nor distance asks for more of this
 * tet */
#include "base/hash.h"
#include "base/parallel.h"
#include "remesh/envelope_impl.h"

#include <string.h>

const uint8_t kiln_envelope_edges[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* Half the side of a cube of the coarse grid in units: so often its edges can be halved. */
enum { HALF = 1 << 13, COARSE = 12, NODE_GRAIN = 256, TET_GRAIN = 256 };
/* Squared length in units below which no tet is bisected: middles must stay whole numbers. */
enum { SMALLEST = 64 };

kiln_status kiln_envelope_too_many(const kiln_envelope *e, double tets, kiln_error *error)
{
    return kiln_fail(
        error, KILN_ERR_LIMIT, e->place, 0, -1,
        "an envelope of %g with edges of %g asks for more than %.3g tets, the most are "
        "%zu: make one of them larger",
        e->distance / KILN_ENVELOPE_MARGIN, e->size, tets, e->most_tets);
}

int64_t kiln_envelope_longest2(const kiln_envelope *e, const kiln_envelope_tet *tet, int *edge)
{
    int64_t longest = -1;
    uint64_t best = 0;
    for (int k = 0; k < 6; k++) {
        uint32_t a = tet->v[kiln_envelope_edges[k][0]], b = tet->v[kiln_envelope_edges[k][1]];
        int64_t length2 = 0;
        for (int i = 0; i < 3; i++) {
            int64_t d = (int64_t)e->nodes.data[a].c[i] - e->nodes.data[b].c[i];
            length2 += d * d;
        }
        uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
        if (length2 > longest || (length2 == longest && key < best)) {
            longest = length2;
            best = key;
            *edge = k;
        }
    }
    return longest;
}

static void wind_nodes(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    kiln_envelope *e = user;
    (void)chunk;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (isnan(e->nodes.data[i].inside))
            e->nodes.data[i].inside =
                kiln_triangle_tree_winding(&e->surface, e->nodes.data[i].at) - 0.5;
}

static kiln_status add_node(kiln_envelope *e, const int32_t c[3], kiln_error *error)
{
    kiln_envelope_node node = {.c = {c[0], c[1], c[2]}, .inside = NAN};
    node.at = kiln_v3_madd(e->low, e->unit, kiln_v3((double)c[0], (double)c[1], (double)c[2]));
    return kiln_array_push(e->context, &e->nodes, node, error);
}

/* Nodes at the corners of n[] cubes, then at their centres. */
static uint32_t node_at(const int32_t n[3], int32_t x, int32_t y, int32_t z, bool centre)
{
    uint32_t side = centre ? 0 : 1, first = 0;
    if (centre)
        first = (uint32_t)((n[0] + 1) * (n[1] + 1) * (n[2] + 1));
    return first + ((uint32_t)z * ((uint32_t)n[1] + side) + (uint32_t)y) * ((uint32_t)n[0] + side) +
           (uint32_t)x;
}

static kiln_status add_tet(kiln_envelope *e, const uint32_t v[4], kiln_error *error)
{
    kiln_envelope_tet tet = {{v[0], v[1], v[2], v[3]}, 0};
    const kiln_envelope_node *n = e->nodes.data;
    if (kiln_tet_volume(n[v[0]].at, n[v[1]].at, n[v[2]].at, n[v[3]].at) < 0.0) {
        tet.v[2] = v[3];
        tet.v[3] = v[2];
    }
    return kiln_array_push(e->context, &e->tets, tet, error);
}

/* Four tets round each edge between the centres of cubes that share a face. */
static kiln_status add_column(kiln_envelope *e, const int32_t n[3], const int32_t cube[3], int axis,
                              kiln_error *error)
{
    static const int8_t ring[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    int32_t next[3] = {cube[0], cube[1], cube[2]};
    next[axis]++;
    for (int k = 0; k < 4; k++) {
        uint32_t v[4] = {node_at(n, cube[0], cube[1], cube[2], true),
                         node_at(n, next[0], next[1], next[2], true)};
        for (int end = 0; end < 2; end++) {
            int32_t corner[3] = {next[0], next[1], next[2]};
            corner[(axis + 1) % 3] += ring[(k + end) % 4][0];
            corner[(axis + 2) % 3] += ring[(k + end) % 4][1];
            v[2 + end] = node_at(n, corner[0], corner[1], corner[2], false);
        }
        KILN_TRY(add_tet(e, v, error));
    }
    return KILN_OK;
}

/* The surface and one cube all round; the outermost half cubes stay empty. */
static kiln_status lay_coarse(kiln_envelope *e, kiln_box box, kiln_error *error)
{
    kiln_vec3 span = kiln_v3_sub(box.high, box.low);
    const double side[3] = {span.x, span.y, span.z};
    double diagonal = kiln_v3_norm(span), coarse = e->size;
    int32_t n[3], c[3];
    while (coarse * COARSE < diagonal)
        coarse *= 2.0;
    e->unit = coarse / (2 * HALF);
    e->low = box.low;
    double *low[3] = {&e->low.x, &e->low.y, &e->low.z};
    for (int i = 0; i < 3; i++) {
        n[i] = (int32_t)ceil(side[i] / coarse) + 3;
        *low[i] -= 0.5 * (n[i] * coarse - side[i]);
    }
    for (int centre = 0; centre < 2; centre++)
        for (c[2] = 0; c[2] < n[2] + 1 - centre; c[2]++)
            for (c[1] = 0; c[1] < n[1] + 1 - centre; c[1]++)
                for (c[0] = 0; c[0] < n[0] + 1 - centre; c[0]++) {
                    int32_t place[3];
                    for (int i = 0; i < 3; i++)
                        place[i] = (2 * c[i] + centre) * HALF;
                    KILN_TRY(add_node(e, place, error));
                }
    for (c[2] = 0; c[2] < n[2]; c[2]++)
        for (c[1] = 0; c[1] < n[1]; c[1]++)
            for (c[0] = 0; c[0] < n[0]; c[0]++)
                for (int axis = 0; axis < 3; axis++)
                    if (c[axis] + 1 < n[axis])
                        KILN_TRY(add_column(e, n, c, axis, error));
    return KILN_OK;
}

/* Edges that are to be halved, and their middles. */
typedef struct middles {
    kiln_context *context;
    uint64_t *keys; /* 0: free; node 0 is no end of an edge to itself */
    uint32_t *nodes;
    size_t size, count;
} middles;

static size_t find_edge(const middles *m, uint64_t key)
{
    size_t at = kiln_hash_mix(key) & (m->size - 1);
    while (m->keys[at] && m->keys[at] != key)
        at = (at + 1) & (m->size - 1);
    return at;
}

static void free_middles(middles *m)
{
    kiln_release(m->context, m->keys, m->size * sizeof *m->keys);
    kiln_release(m->context, m->nodes, m->size * sizeof *m->nodes);
    *m = (middles){.context = m->context};
}

static kiln_status grow_middles(middles *m, kiln_error *error)
{
    middles wider = {.context = m->context, .size = m->size ? 2 * m->size : 1024};
    wider.keys = kiln_resize(m->context, NULL, 0, wider.size * sizeof *wider.keys);
    wider.nodes = kiln_resize(m->context, NULL, 0, wider.size * sizeof *wider.nodes);
    if (!wider.keys || !wider.nodes) {
        free_middles(&wider);
        return kiln_fail_memory(error, wider.size * sizeof *wider.keys);
    }
    memset(wider.keys, 0, wider.size * sizeof *wider.keys);
    wider.count = m->count;
    for (size_t i = 0; i < m->size; i++)
        if (m->keys[i]) {
            size_t at = find_edge(&wider, m->keys[i]);
            wider.keys[at] = m->keys[i];
            wider.nodes[at] = m->nodes[i];
        }
    free_middles(m);
    *m = wider;
    return KILN_OK;
}

static uint64_t edge_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* UINT32_MAX: the edge is not to be halved. */
static uint32_t middle_of(const middles *m, uint32_t a, uint32_t b)
{
    size_t at = find_edge(m, edge_key(a, b));
    return m->keys[at] ? m->nodes[at] : UINT32_MAX;
}

static kiln_status add_middle(kiln_envelope *e, middles *m, uint32_t a, uint32_t b,
                              kiln_error *error)
{
    int32_t c[3];
    if (2 * (m->count + 1) > m->size)
        KILN_TRY(grow_middles(m, error));
    size_t at = find_edge(m, edge_key(a, b));
    if (m->keys[at])
        return KILN_OK;
    for (int i = 0; i < 3; i++)
        c[i] = (e->nodes.data[a].c[i] + e->nodes.data[b].c[i]) / 2;
    m->keys[at] = edge_key(a, b);
    m->nodes[at] = (uint32_t)e->nodes.count;
    m->count++;
    return add_node(e, c, error);
}

/* The longest edges of marked tets, then of all tets with an edge that is to be halved (L2). */
static kiln_status choose_edges(kiln_envelope *e, const uint8_t *mark, middles *m,
                                kiln_error *error)
{
    int k;
    KILN_TRY(grow_middles(m, error));
    for (size_t t = 0; t < e->tets.count; t++) {
        const kiln_envelope_tet *tet = &e->tets.data[t];
        if (!mark[t])
            continue;
        kiln_envelope_longest2(e, tet, &k);
        KILN_TRY(add_middle(e, m, tet->v[kiln_envelope_edges[k][0]],
                            tet->v[kiln_envelope_edges[k][1]], error));
    }
    for (size_t before = 0; before != m->count;) {
        before = m->count;
        for (size_t t = 0; t < e->tets.count; t++) {
            const kiln_envelope_tet *tet = &e->tets.data[t];
            bool some = false;
            for (k = 0; k < 6 && !some; k++)
                some = middle_of(m, tet->v[kiln_envelope_edges[k][0]],
                                 tet->v[kiln_envelope_edges[k][1]]) != UINT32_MAX;
            if (!some)
                continue;
            kiln_envelope_longest2(e, tet, &k);
            KILN_TRY(add_middle(e, m, tet->v[kiln_envelope_edges[k][0]],
                                tet->v[kiln_envelope_edges[k][1]], error));
        }
    }
    return KILN_OK;
}

/* Halves a tet at its chosen edges, the longest first: what a face becomes so depends on its own
 * edges alone, and neighbours agree. The first piece takes the tet's place. */
static kiln_status split(kiln_envelope *e, const middles *m, size_t t, kiln_error *error)
{
    for (;;) {
        kiln_envelope_tet tet = e->tets.data[t], left;
        int best = -1;
        int64_t longest = -1;
        for (int k = 0; k < 6; k++) {
            uint32_t a = tet.v[kiln_envelope_edges[k][0]], b = tet.v[kiln_envelope_edges[k][1]];
            if (middle_of(m, a, b) == UINT32_MAX)
                continue;
            int64_t length2 = 0;
            for (int i = 0; i < 3; i++) {
                int64_t d = (int64_t)e->nodes.data[a].c[i] - e->nodes.data[b].c[i];
                length2 += d * d;
            }
            uint64_t key = edge_key(a, b);
            bool first = best < 0 || length2 > longest;
            if (!first && length2 == longest)
                first = key < edge_key(tet.v[kiln_envelope_edges[best][0]],
                                       tet.v[kiln_envelope_edges[best][1]]);
            if (first) {
                best = k;
                longest = length2;
            }
        }
        if (best < 0)
            return KILN_OK;
        int a = kiln_envelope_edges[best][0], b = kiln_envelope_edges[best][1];
        uint32_t middle = middle_of(m, tet.v[a], tet.v[b]);
        tet.looked = 0;
        left = tet;
        left.v[a] = middle;
        tet.v[b] = middle;
        e->tets.data[t] = tet;
        KILN_TRY(kiln_array_push(e->context, &e->tets, left, error));
        KILN_TRY(split(e, m, e->tets.count - 1, error));
    }
}

kiln_status kiln_envelope_bisect(kiln_envelope *e, const uint8_t *mark, kiln_error *error)
{
    middles m = {.context = e->context};
    kiln_status status = choose_edges(e, mark, &m, error);
    size_t count = e->tets.count;
    for (size_t t = 0; t < count && status == KILN_OK; t++)
        status = split(e, &m, t, error);
    free_middles(&m);
    KILN_TRY(status);
    if (e->tets.count > e->most_tets)
        return kiln_envelope_too_many(e, (double)e->tets.count, error);
    kiln_parallel_for(e->context, e->nodes.count, NODE_GRAIN, wind_nodes, e);
    return kiln_may_go_on(e->context, error);
}

/* Does the cut of this tet stray from the surface by more than the lattice is to keep to? */
static bool strays(const kiln_envelope *e, const kiln_envelope_tet *tet)
{
    static const double weight[4][3] = {
        {1.0 / 3, 1.0 / 3, 1.0 / 3}, {0.5, 0.5, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}};
    kiln_triangle cut[2];
    int count = kiln_envelope_cut_triangles(e, tet, cut);
    for (int i = 0; i < count; i++) {
        const kiln_vec3 *p = cut[i].p;
        kiln_vec3 normal =
            kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
        for (int k = 0; k < 4; k++) {
            kiln_vec3 at = kiln_v3_scale(p[0], weight[k][0]);
            at = kiln_v3_madd(kiln_v3_madd(at, weight[k][1], p[1]), weight[k][2], p[2]);
            double off;
            if (!kiln_envelope_is_near(e, at, normal, KILN_ENVELOPE_TARGET * e->distance, &off))
                return true;
        }
    }
    return false;
}

typedef struct looking {
    kiln_envelope *e;
    uint8_t *mark;
} looking;

static bool touch(void *user, uint32_t item)
{
    (void)item;
    *(bool *)user = true;
    return false;
}

static void look_at_tets(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const looking *l = user;
    kiln_envelope *e = l->e;
    (void)chunk;
    (void)worker;
    for (size_t t = begin; t < end; t++) {
        kiln_envelope_tet *tet = &e->tets.data[t];
        l->mark[t] = 0;
        if (tet->looked)
            continue;
        int k, inside = 0;
        int64_t length2 = kiln_envelope_longest2(e, tet, &k);
        double length = sqrt((double)length2) * e->unit;
        kiln_vec3 p[4];
        if (length2 < SMALLEST) {
            tet->looked = 1;
            continue;
        }
        for (int i = 0; i < 4; i++) {
            p[i] = e->nodes.data[tet->v[i]].at;
            inside += e->nodes.data[tet->v[i]].inside > 0.0;
        }
        /* The longest edges of a lattice are 1.1 times its mean ones, once bisected up to 1.4. */
        if (length > 1.25 * e->size) {
            bool touched = inside > 0;
            if (!touched)
                kiln_bvh_query_box(&e->surface.bvh, kiln_box_of(p, 4), touch, &touched);
            l->mark[t] = touched;
        }
        if (!l->mark[t] && inside > 0 && inside < 4 && length > 0.5 * e->distance)
            l->mark[t] = strays(e, tet);
        tet->looked = !l->mark[t];
    }
}

typedef struct missing {
    kiln_envelope *e;
    const kiln_bvh *far;
    bool cut_only;
    uint8_t *mark;
} missing;

static bool is_cut(const kiln_envelope *e, const kiln_envelope_tet *tet)
{
    int inside = 0;
    for (int i = 0; i < 4; i++)
        inside += e->nodes.data[tet->v[i]].inside > 0.0;
    return inside > 0 && inside < 4;
}

/* Tets that touch a box: those where the boundary misses a sample, or strays. */
static void mark_missing(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    const missing *m = user;
    (void)chunk;
    (void)worker;
    for (size_t t = begin; t < end; t++) {
        const kiln_envelope_tet *tet = &m->e->tets.data[t];
        kiln_vec3 p[4];
        bool touched = false;
        int k;
        if (m->mark[t] || (m->cut_only && !is_cut(m->e, tet)))
            continue;
        int64_t length2 = kiln_envelope_longest2(m->e, tet, &k);
        double length = sqrt((double)length2) * m->e->unit;
        for (int i = 0; i < 4; i++)
            p[i] = m->e->nodes.data[tet->v[i]].at;
        if (length > 0.5 * m->e->distance && length2 >= SMALLEST)
            kiln_bvh_query_box(m->far, kiln_box_of(p, 4), touch, &touched);
        m->mark[t] = touched;
    }
}

/* Adds to the marks. */
static kiln_status mark_at(kiln_envelope *e, const kiln_box *boxes, size_t count, bool cut_only,
                           uint8_t *mark, kiln_error *error)
{
    kiln_bvh bvh = {0};
    KILN_TRY(kiln_bvh_build(&bvh, e->context, boxes, count, error));
    missing m = {e, &bvh, cut_only, mark};
    kiln_parallel_for(e->context, e->tets.count, TET_GRAIN, mark_missing, &m);
    kiln_bvh_destroy(&bvh);
    return KILN_OK;
}

/* Marks tets where the surface is and the boundary is not. */
static kiln_status mark_far(kiln_envelope *e, const uint8_t *far, uint8_t *mark, kiln_error *error)
{
    size_t count = 0;
    kiln_box *boxes = kiln_resize(e->context, NULL, 0, (e->samples.count + 1) * sizeof *boxes);
    if (!boxes)
        return kiln_fail_memory(error, e->samples.count * sizeof *boxes);
    for (size_t i = 0; i < e->samples.count; i++)
        if (far[i])
            boxes[count++] = kiln_box_of(&e->samples.data[i].at, 1);
    kiln_status status = mark_at(e, boxes, count, false, mark, error);
    kiln_release(e->context, boxes, (e->samples.count + 1) * sizeof *boxes);
    return status;
}

static kiln_status find_missing(kiln_envelope *e, uint8_t *mark, kiln_error *error)
{
    kiln_triangle_array outline = {0};
    double farthest;
    uint8_t *far = kiln_resize(e->context, NULL, 0, e->samples.count + 1);
    if (!far)
        return kiln_fail_memory(error, e->samples.count);
    kiln_status status = kiln_envelope_outline(e, &outline, error);
    if (status == KILN_OK)
        status =
            kiln_envelope_far_samples(e, outline.data, outline.count,
                                      KILN_ENVELOPE_TARGET * e->distance, far, &farthest, error);
    if (status == KILN_OK)
        status = mark_far(e, far, mark, error);
    kiln_array_free(e->context, &outline);
    kiln_release(e->context, far, e->samples.count + 1);
    return status;
}

static bool any(const uint8_t *mark, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mark[i])
            return true;
    return false;
}

/* What the lattice has is right, then (if asked for) what it lacks. A tet that is as small as half
 * the distance is fine as it is, so this ends. */
static kiln_status refine(kiln_envelope *e, bool missing_too, kiln_error *error)
{
    for (;;) {
        size_t count = e->tets.count;
        uint8_t *mark = kiln_resize(e->context, NULL, 0, count);
        if (!mark)
            return kiln_fail_memory(error, count);
        looking l = {e, mark};
        kiln_status status = kiln_envelope_cross(e, error);
        if (status == KILN_OK)
            kiln_parallel_for(e->context, count, TET_GRAIN, look_at_tets, &l);
        if (status == KILN_OK && missing_too && !any(mark, count))
            status = find_missing(e, mark, error);
        bool more = status == KILN_OK && any(mark, count);
        if (more)
            status = kiln_envelope_bisect(e, mark, error);
        kiln_release(e->context, mark, count);
        if (status != KILN_OK || !more)
            return status;
    }
}

static kiln_status bisect_at(kiln_envelope *e, const kiln_envelope_places *places, bool *refined,
                             kiln_error *error)
{
    size_t count = e->tets.count;
    uint8_t *mark = kiln_resize(e->context, NULL, 0, count);
    if (!mark)
        return kiln_fail_memory(error, count);
    memset(mark, 0, count);
    kiln_status status =
        mark_at(e, places->samples.data, places->samples.count, false, mark, error);
    if (status == KILN_OK)
        status = mark_at(e, places->triangles.data, places->triangles.count, true, mark, error);
    if (status == KILN_OK && any(mark, count)) {
        status = kiln_envelope_bisect(e, mark, error);
        *refined = true;
    }
    kiln_release(e->context, mark, count);
    return status;
}

kiln_status kiln_envelope_refine_at(kiln_envelope *e, const kiln_envelope_places *places,
                                    bool *refined, kiln_error *error)
{
    *refined = false;
    if (places->samples.count + places->triangles.count == 0)
        return KILN_OK;
    /* Three bisections halve all edges: a look at the whole boundary costs more than one. */
    for (int k = 0; k < 3; k++)
        KILN_TRY(bisect_at(e, places, refined, error));
    return *refined ? refine(e, false, error) : KILN_OK;
}

kiln_status kiln_envelope_lay(kiln_envelope *e, kiln_error *error)
{
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < e->surface.count; i++)
        box = kiln_box_join(box, kiln_box_of(e->surface.triangle[i].p, 3));
    KILN_TRY(lay_coarse(e, box, error));
    kiln_parallel_for(e->context, e->nodes.count, NODE_GRAIN, wind_nodes, e);
    return refine(e, true, error);
}

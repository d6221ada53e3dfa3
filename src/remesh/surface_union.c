/* Where an edge of one surface goes through a triangle of the other there is a point; two triangles
 * that meet have two of them and the segment between. Every point is found once, by the edge and
 * the triangle it is of, so both surfaces have the same points and segments however these were
 * rounded, and what is sewn together along them fits.
 *
 * Which side of a segment is inside follows from the signs of the edges at its ends, not from
 * places: d = n x m, n and m being the normals of the triangle of the first and of the second, has
 * the second's inside on its left in the first, and the first's on its right in the second. */
#include "remesh/surface_union.h"

#include "base/random.h"
#include "geom/bvh.h"
#include "geom/segment_crossing.h"
#include "geom/triangle_cut.h"
#include "geom/triangle_tree.h"
#include "topology/edge_table.h"

#include <stdlib.h>

static const double JITTER = 1e-10;

/* Where the edge (low, high) goes through a triangle. */
typedef struct piercing {
    uint32_t low, high, triangle;
    uint32_t end; /* 2 * segment + (0: it begins there, 1: it ends) */
} piercing;

typedef struct segment {
    uint32_t triangle[2]; /* of the first, of the second */
    uint32_t point[2];    /* in the direction d */
} segment;

typedef struct use {
    uint32_t triangle, segment;
} use;

typedef struct seam {
    uint32_t low, high;
    bool along; /* d goes from low to high */
} seam;

typedef struct uniting {
    kiln_context *context;
    kiln_shell_union *out;
    size_t split[2]; /* points and triangles of the first */
    KILN_ARRAY_OF(kiln_vec3)
    points; /* moved at random, then those that came */
    KILN_ARRAY_OF(kiln_soup_triangle)
    triangles;  /* of both */
    size_t old; /* points */
    kiln_bvh_pair_array pairs;
    KILN_ARRAY_OF(piercing)
    piercings;
    KILN_ARRAY_OF(piercing)
    marks; /* [point - old] one of them */
    KILN_ARRAY_OF(segment)
    segments;
    KILN_ARRAY_OF(use)
    uses;
    KILN_ARRAY_OF(seam)
    seams;
    kiln_triangle_cut cut;
    kiln_u32_array global; /* [point of the cut] */
    KILN_ARRAY_OF(int32_t)
    votes;               /* [triangle that came] at the root of its region: outside less inside */
    kiln_u32_array root; /* [triangle that came] */
    kiln_edge_table edges;
} uniting;

void kiln_shell_free(kiln_context *context, kiln_shell *shell)
{
    kiln_array_free(context, &shell->points);
    kiln_array_free(context, &shell->triangles);
}

void kiln_shell_union_free(kiln_context *context, kiln_shell_union *u)
{
    kiln_shell_free(context, &u->shell);
    kiln_array_free(context, &u->vertices);
    kiln_array_free(context, &u->triangle);
}

static void free_work(uniting *w)
{
    kiln_array_free(w->context, &w->points);
    kiln_array_free(w->context, &w->triangles);
    kiln_array_free(w->context, &w->pairs);
    kiln_array_free(w->context, &w->piercings);
    kiln_array_free(w->context, &w->marks);
    kiln_array_free(w->context, &w->segments);
    kiln_array_free(w->context, &w->uses);
    kiln_array_free(w->context, &w->seams);
    kiln_array_free(w->context, &w->global);
    kiln_array_free(w->context, &w->votes);
    kiln_array_free(w->context, &w->root);
    kiln_triangle_cut_free(w->context, &w->cut);
    kiln_edge_table_free(&w->edges);
}

kiln_status kiln_shell_is_closed(kiln_context *context, const kiln_shell *shell, bool *closed,
                                 kiln_error *error)
{
    kiln_edge_table edges = {0};
    KILN_TRY(kiln_edge_table_build(&edges, context, shell->triangles.data, shell->triangles.count,
                                   error));
    *closed = true;
    for (size_t s = 0; s < 3 * shell->triangles.count && *closed; s++) {
        const uint32_t *v = shell->triangles.data[s / 3].v;
        const kiln_edge_slot *edge = kiln_edge_table_find(&edges, v[s % 3], v[(s + 1) % 3]);
        *closed = v[s % 3] != v[(s + 1) % 3] && edge->count == 2 &&
                  !kiln_edge_is_turned(edge, shell->triangles.data);
    }
    kiln_edge_table_free(&edges);
    return KILN_OK;
}

static kiln_status gather(uniting *w, const kiln_shell *shell[2], double move, uint64_t seed,
                          kiln_error *error)
{
    kiln_random random = kiln_random_start(seed, 0);
    for (int s = 0; s < 2; s++) {
        uint32_t offset = (uint32_t)w->points.count;
        KILN_TRY(
            kiln_array_reserve(w->context, &w->points, offset + shell[s]->points.count, error));
        KILN_TRY(kiln_array_reserve(w->context, &w->triangles,
                                    w->triangles.count + shell[s]->triangles.count, error));
        for (size_t i = 0; i < shell[s]->points.count; i++) {
            kiln_vec3 off = {0, 0, 0};
            off.x = kiln_random_range(&random, -move, move);
            off.y = kiln_random_range(&random, -move, move);
            off.z = kiln_random_range(&random, -move, move);
            w->points.data[w->points.count++] = kiln_v3_add(shell[s]->points.data[i], off);
        }
        for (size_t t = 0; t < shell[s]->triangles.count; t++) {
            const uint32_t *v = shell[s]->triangles.data[t].v;
            w->triangles.data[w->triangles.count++] =
                (kiln_soup_triangle){{v[0] + offset, v[1] + offset, v[2] + offset}};
        }
    }
    w->split[0] = shell[0]->points.count;
    w->split[1] = shell[0]->triangles.count;
    w->old = w->points.count;
    return KILN_OK;
}

static void corners_of(const uniting *w, size_t t, kiln_vec3 corner[3])
{
    for (int k = 0; k < 3; k++)
        corner[k] = w->points.data[w->triangles.data[t].v[k]];
}

static kiln_status plant(const uniting *w, size_t begin, size_t end, kiln_bvh *tree,
                         kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    kiln_status status = kiln_array_reserve(w->context, &boxes, end - begin, error);
    for (size_t t = begin; t < end && status == KILN_OK; t++) {
        kiln_vec3 corner[3];
        corners_of(w, t, corner);
        boxes.data[boxes.count++] = kiln_box_of(corner, 3);
    }
    if (status == KILN_OK)
        status = kiln_bvh_build(tree, w->context, boxes.data, boxes.count, error);
    kiln_array_free(w->context, &boxes);
    return status;
}

static kiln_status find_pairs(uniting *w, kiln_error *error)
{
    kiln_bvh first = {0}, second = {0};
    kiln_status status = plant(w, 0, w->split[1], &first, error);
    if (status == KILN_OK)
        status = plant(w, w->split[1], w->triangles.count, &second, error);
    if (status == KILN_OK)
        status = kiln_bvh_pair_overlap(&first, &second, &w->pairs, error);
    kiln_bvh_destroy(&first);
    kiln_bvh_destroy(&second);
    return status;
}

/* The edges of triangle t that go through u. `first`: t is of the first. */
static kiln_status pierce(uniting *w, uint32_t t, uint32_t u, bool first, int found[2], bool *done,
                          kiln_error *error)
{
    kiln_vec3 a[3], b[3];
    corners_of(w, t, a);
    corners_of(w, u, b);
    for (int k = 0; k < 3; k++) {
        kiln_crossing crossing = kiln_segment_cross_triangle(a[k], a[(k + 1) % 3], b);
        if (crossing.kind == KILN_CROSSING_NONE)
            continue;
        if (crossing.kind != KILN_CROSSING_PROPER) {
            *done = false;
            return KILN_OK;
        }
        bool inward = crossing.end[0] > 0; /* along the edge, with t on the left */
        int end = inward == first;
        uint32_t v = w->triangles.data[t].v[k], next = w->triangles.data[t].v[(k + 1) % 3];
        piercing p = {v < next ? v : next, v < next ? next : v, u,
                      2 * (uint32_t)w->segments.count + (uint32_t)end};
        found[end]++;
        KILN_TRY(kiln_array_push(w->context, &w->piercings, p, error));
    }
    return KILN_OK;
}

static kiln_status find_segments(uniting *w, bool *done, kiln_error *error)
{
    for (size_t i = 0; i < w->pairs.count && *done; i++) {
        uint32_t t = w->pairs.data[i].a, u = w->pairs.data[i].b + (uint32_t)w->split[1];
        int found[2] = {0, 0};
        KILN_TRY(pierce(w, t, u, true, found, done, error));
        if (*done)
            KILN_TRY(pierce(w, u, t, false, found, done, error));
        if (found[0] + found[1] == 0 || !*done)
            continue;
        *done = found[0] == 1 && found[1] == 1;
        KILN_TRY(kiln_array_push(w->context, &w->segments,
                                 ((segment){{t, u}, {UINT32_MAX, UINT32_MAX}}), error));
    }
    return KILN_OK;
}

static int by_place(const void *a, const void *b)
{
    const piercing *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    if (p->triangle != q->triangle)
        return p->triangle < q->triangle ? -1 : 1;
    return (p->end > q->end) - (p->end < q->end);
}

static double part_of(const uniting *w, const piercing *p)
{
    kiln_vec3 c[3];
    corners_of(w, p->triangle, c);
    double low = kiln_orient3d(c[0], c[1], c[2], w->points.data[p->low]);
    double high = kiln_orient3d(c[0], c[1], c[2], w->points.data[p->high]);
    return low / (low - high);
}

/* Each point once. */
static kiln_status place_points(uniting *w, kiln_error *error)
{
    size_t count = w->piercings.count;
    if (count > 0)
        qsort(w->piercings.data, count, sizeof *w->piercings.data, by_place);
    for (size_t i = 0; i < count; i++) {
        const piercing *p = &w->piercings.data[i], *before = p - 1;
        bool known = i > 0 && before->low == p->low && before->high == p->high &&
                     before->triangle == p->triangle;
        if (!known) {
            double part = part_of(w, p);
            kiln_vec3 place = kiln_v3_lerp(w->points.data[p->low], w->points.data[p->high], part);
            KILN_TRY(kiln_array_push(w->context, &w->points, place, error));
            KILN_TRY(kiln_array_push(w->context, &w->marks, *p, error));
            KILN_TRY(kiln_array_push(w->context, &w->out->vertices,
                                     ((kiln_union_vertex){p->low, p->high, part}), error));
        }
        w->segments.data[p->end / 2].point[p->end % 2] = (uint32_t)w->points.count - 1;
    }
    return KILN_OK;
}

static int by_triangle(const void *a, const void *b)
{
    const use *p = a, *q = b;
    if (p->triangle != q->triangle)
        return p->triangle < q->triangle ? -1 : 1;
    return (p->segment > q->segment) - (p->segment < q->segment);
}

static int by_ends(const void *a, const void *b)
{
    const seam *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

static kiln_status list_segments(uniting *w, kiln_error *error)
{
    for (uint32_t i = 0; i < w->segments.count; i++) {
        const segment *s = &w->segments.data[i];
        uint32_t a = s->point[0], b = s->point[1];
        KILN_TRY(kiln_array_push(w->context, &w->seams,
                                 ((seam){a < b ? a : b, a < b ? b : a, a < b}), error));
        for (int k = 0; k < 2; k++)
            KILN_TRY(kiln_array_push(w->context, &w->uses, ((use){s->triangle[k], i}), error));
    }
    if (w->segments.count > 0) {
        qsort(w->uses.data, w->uses.count, sizeof *w->uses.data, by_triangle);
        qsort(w->seams.data, w->seams.count, sizeof *w->seams.data, by_ends);
    }
    return KILN_OK;
}

/* The side of the triangle that a point is on; 3: it is inside. */
static int side_of(const uniting *w, uint32_t triangle, uint32_t point)
{
    const piercing *mark = &w->marks.data[point - w->old];
    const uint32_t *v = w->triangles.data[triangle].v;
    if (mark->triangle == triangle)
        return 3;
    for (int k = 0; k < 3; k++) {
        uint32_t a = v[k], b = v[(k + 1) % 3];
        if ((a == mark->low && b == mark->high) || (a == mark->high && b == mark->low))
            return k;
    }
    return 3;
}

/* How far along the side it is. */
static double along(const uniting *w, uint32_t triangle, int side, uint32_t point)
{
    double part = w->out->vertices.data[point - w->old].part;
    bool forward = w->triangles.data[triangle].v[side] == w->marks.data[point - w->old].low;
    return forward ? part : 1.0 - part;
}

static bool is_listed(const uniting *w, uint32_t point)
{
    for (size_t i = 3; i < w->global.count; i++)
        if (w->global.data[i] == point)
            return true;
    return false;
}

/* Points of one side, or those inside, into the list; on a side in order. */
static kiln_status list_points(uniting *w, const use *uses, size_t count, int side, bool *done,
                               kiln_error *error)
{
    uint32_t triangle = uses->triangle;
    size_t first = w->global.count;
    for (size_t i = 0; i < 2 * count; i++) {
        uint32_t point = w->segments.data[uses[i / 2].segment].point[i % 2];
        if (side_of(w, triangle, point) == side && !is_listed(w, point))
            KILN_TRY(kiln_array_push(w->context, &w->global, point, error));
    }
    for (size_t i = first + 1; i < w->global.count && side < 3; i++)
        for (size_t k = i; k > first; k--) {
            uint32_t *g = &w->global.data[k];
            double here = along(w, triangle, side, g[0]), before = along(w, triangle, side, g[-1]);
            *done = *done && here != before;
            if (here >= before)
                break;
            uint32_t swap = g[0];
            g[0] = g[-1], g[-1] = swap;
        }
    if (side < 3)
        w->cut.on_side[side] = w->global.count - first;
    return KILN_OK;
}

static uint32_t local_of(const uniting *w, uint32_t point)
{
    size_t i = 3;
    while (w->global.data[i] != point)
        i++;
    return (uint32_t)i;
}

static kiln_status emit(uniting *w, kiln_soup_triangle triangle, uint32_t from, kiln_error *error)
{
    KILN_TRY(kiln_array_push(w->context, &w->out->shell.triangles, triangle, error));
    return kiln_array_push(w->context, &w->out->triangle, from, error);
}

static kiln_status cut_triangle(uniting *w, const use *uses, size_t count, bool *done,
                                kiln_error *error)
{
    uint32_t triangle = uses->triangle;
    kiln_triangle_cut *cut = &w->cut;
    w->global.count = cut->points.count = cut->segments.count = 0;
    for (int k = 0; k < 3; k++)
        KILN_TRY(kiln_array_push(w->context, &w->global, w->triangles.data[triangle].v[k], error));
    for (int side = 0; side < 4; side++)
        KILN_TRY(list_points(w, uses, count, side, done, error));
    for (size_t i = 0; i < w->global.count; i++)
        KILN_TRY(
            kiln_array_push(w->context, &cut->points, w->points.data[w->global.data[i]], error));
    for (size_t i = 0; i < count; i++) {
        const uint32_t *p = w->segments.data[uses[i].segment].point;
        KILN_TRY(kiln_array_push(w->context, &cut->segments,
                                 ((kiln_cut_segment){{local_of(w, p[0]), local_of(w, p[1])}}),
                                 error));
    }
    if (*done)
        KILN_TRY(kiln_triangle_cut_make(w->context, cut, done, error));
    for (size_t t = 0; t < cut->triangles.count && *done; t++) {
        const uint32_t *v = cut->triangles.data[t].v, *g = w->global.data;
        KILN_TRY(emit(w, (kiln_soup_triangle){{g[v[0]], g[v[1]], g[v[2]]}}, triangle, error));
    }
    return KILN_OK;
}

static kiln_status cut_all(uniting *w, bool *done, kiln_error *error)
{
    size_t next = 0;
    for (uint32_t t = 0; t < w->triangles.count && *done; t++) {
        size_t first = next;
        while (next < w->uses.count && w->uses.data[next].triangle == t)
            next++;
        KILN_TRY(next > first ? cut_triangle(w, &w->uses.data[first], next - first, done, error)
                              : emit(w, w->triangles.data[t], t, error));
    }
    return KILN_OK;
}

static const seam *find_seam(const uniting *w, uint32_t a, uint32_t b)
{
    seam wanted = {a < b ? a : b, a < b ? b : a, false};
    if (a < w->old || b < w->old || w->seams.count == 0)
        return NULL;
    return bsearch(&wanted, w->seams.data, w->seams.count, sizeof wanted, by_ends);
}

static uint32_t root_of(uniting *w, uint32_t t)
{
    uint32_t *root = w->root.data;
    while (root[t] != t)
        t = root[t] = root[root[t]];
    return t;
}

/* Regions between the seams. */
static kiln_status find_regions(uniting *w, bool *done, kiln_error *error)
{
    const kiln_shell *shell = &w->out->shell;
    size_t count = shell->triangles.count;
    KILN_TRY(kiln_edge_table_build(&w->edges, w->context, shell->triangles.data, count, error));
    KILN_TRY(kiln_array_reserve(w->context, &w->root, count + 1, error));
    KILN_TRY(kiln_array_reserve(w->context, &w->votes, count + 1, error));
    for (uint32_t t = 0; t < count; t++) {
        w->root.data[t] = t;
        w->votes.data[t] = 0;
    }
    for (uint32_t s = 0; s < 3 * count && *done; s++) {
        uint32_t a = shell->triangles.data[s / 3].v[s % 3];
        uint32_t b = shell->triangles.data[s / 3].v[s % 3 == 2 ? 0 : s % 3 + 1];
        if (find_seam(w, a, b))
            continue;
        const kiln_edge_slot *edge = kiln_edge_table_find(&w->edges, a, b);
        *done = edge->count == 2;
        if (!*done)
            break;
        uint32_t p = root_of(w, edge->side[0] / 3), q = root_of(w, edge->side[1] / 3);
        w->root.data[p > q ? p : q] = p > q ? q : p;
    }
    return KILN_OK;
}

/* What the signs at seams say of the regions beside them. */
static void vote(uniting *w, bool *done)
{
    const kiln_shell *shell = &w->out->shell;
    for (uint32_t s = 0; s < 3 * shell->triangles.count && *done; s++) {
        uint32_t a = shell->triangles.data[s / 3].v[s % 3];
        uint32_t b = shell->triangles.data[s / 3].v[s % 3 == 2 ? 0 : s % 3 + 1];
        const seam *here = find_seam(w, a, b);
        if (!here)
            continue;
        bool with = (a < b) == here->along, first = w->out->triangle.data[s / 3] < w->split[1];
        int32_t *votes = &w->votes.data[root_of(w, s / 3)], own = with == first ? -1 : 1;
        *done = *votes * own >= 0;
        *votes += own;
    }
}

static kiln_status plant_triangles(const uniting *w, bool second, kiln_triangle_tree *tree,
                                   kiln_error *error)
{
    size_t begin = second ? w->split[1] : 0, end = second ? w->triangles.count : w->split[1];
    KILN_ARRAY_OF(kiln_triangle)
    list = {0};
    kiln_status status = kiln_array_reserve(w->context, &list, end - begin + 1, error);
    for (size_t t = begin; t < end && status == KILN_OK; t++)
        corners_of(w, t, list.data[list.count++].p);
    if (status == KILN_OK)
        status = kiln_triangle_tree_build(tree, w->context, list.data, list.count, error);
    kiln_array_free(w->context, &list);
    return status;
}

/* Regions without seams are all inside the other surface, or all outside. */
static kiln_status ask_the_others(uniting *w, kiln_error *error)
{
    const kiln_shell *shell = &w->out->shell;
    kiln_triangle_tree tree[2] = {{0}, {0}}; /* [of the second] */
    kiln_status status = KILN_OK;
    for (uint32_t t = 0; t < shell->triangles.count && status == KILN_OK; t++) {
        if (w->root.data[t] != t || w->votes.data[t] != 0)
            continue;
        bool other = w->out->triangle.data[t] < w->split[1];
        if (tree[other].count == 0)
            status = plant_triangles(w, other, &tree[other], error);
        kiln_vec3 p = w->points.data[shell->triangles.data[t].v[0]];
        if (status == KILN_OK)
            w->votes.data[t] = kiln_triangle_tree_winding(&tree[other], p) > 0.5 ? -1 : 1;
    }
    kiln_triangle_tree_destroy(&tree[0]);
    kiln_triangle_tree_destroy(&tree[1]);
    return status;
}

/* Only what is outside stays, with its points. */
static kiln_status keep_outside(uniting *w, const kiln_shell *shell[2], kiln_error *error)
{
    kiln_shell *out = &w->out->shell;
    size_t kept = 0, count = w->points.count;
    KILN_ARRAY_OF(kiln_union_vertex)
    came = {0};
    for (uint32_t t = 0; t < out->triangles.count; t++) {
        if (w->votes.data[root_of(w, t)] < 0)
            continue;
        out->triangles.data[kept] = out->triangles.data[t];
        w->out->triangle.data[kept++] = w->out->triangle.data[t];
    }
    out->triangles.count = w->out->triangle.count = kept;
    KILN_TRY(kiln_array_reserve(w->context, &w->global, count + 1, error));
    for (size_t i = 0; i < count; i++)
        w->global.data[i] = UINT32_MAX;
    kiln_status status = KILN_OK;
    out->points.count = 0;
    for (size_t s = 0; s < 3 * kept && status == KILN_OK; s++) {
        uint32_t *v = &out->triangles.data[s / 3].v[s % 3], old = *v;
        if (w->global.data[old] == UINT32_MAX) {
            kiln_union_vertex from = {old, old, 0.0};
            kiln_vec3 place = w->points.data[old];
            if (old >= w->old)
                from = w->out->vertices.data[old - w->old];
            else
                place = old < w->split[0] ? shell[0]->points.data[old]
                                          : shell[1]->points.data[old - w->split[0]];
            w->global.data[old] = (uint32_t)out->points.count;
            status = kiln_array_push(w->context, &out->points, place, error);
            if (status == KILN_OK)
                status = kiln_array_push(w->context, &came, from, error);
        }
        *v = w->global.data[old];
    }
    kiln_array_free(w->context, &w->out->vertices);
    w->out->vertices.data = came.data;
    w->out->vertices.count = came.count;
    w->out->vertices.capacity = came.capacity;
    return status;
}

static kiln_status unite(uniting *w, const kiln_shell *shell[2], double move, uint64_t seed,
                         bool *done, kiln_error *error)
{
    KILN_TRY(gather(w, shell, move, seed, error));
    KILN_TRY(find_pairs(w, error));
    KILN_TRY(find_segments(w, done, error));
    if (*done)
        KILN_TRY(place_points(w, error));
    if (*done)
        KILN_TRY(list_segments(w, error));
    w->out->cuts = w->segments.count;
    KILN_TRY(cut_all(w, done, error));
    if (*done)
        KILN_TRY(find_regions(w, done, error));
    if (*done)
        vote(w, done);
    if (!*done)
        return KILN_OK;
    KILN_TRY(ask_the_others(w, error));
    KILN_TRY(keep_outside(w, shell, error));
    return kiln_shell_is_closed(w->context, &w->out->shell, done, error);
}

kiln_status kiln_shell_unite(kiln_context *context, const kiln_shell *first,
                             const kiln_shell *second, double size, uint64_t seed,
                             kiln_shell_union *out, bool *done, kiln_error *error)
{
    const kiln_shell *shell[2] = {first, second};
    uniting w = {.context = context, .out = out};
    *done = true;
    out->shell.triangles.count = out->vertices.count = out->triangle.count = 0;
    kiln_status status = unite(&w, shell, JITTER * size, seed, done, error);
    free_work(&w);
    return status;
}

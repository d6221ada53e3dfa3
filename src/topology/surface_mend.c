#include "topology/surface_mend.h"

#include "base/hash.h"
#include "geom/box.h"
#include "topology/edge_table.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* Points are one where they are closer than this part of the shortest edge they have. */
#define OF_EDGE 0.1
/* A triangle is flat when its height is this part of its longest edge: rounding, not shape. */
#define FLAT 0x1p-40
/* Two diagonals are in one plane where they pass each other by no more than this part of them. */
#define OF_DIAGONAL 1e-3

typedef struct mending {
    kiln_context *context;
    kiln_soup *s;         /* the surface as far as it is mended */
    kiln_u32_array *from; /* [triangle] */
    kiln_mend_report *report;
    bool walls;
    kiln_vec3 low; /* corner of the box: cells are counted from there */
    kiln_edge_table edges;
    kiln_u32_array one;    /* [point] the point it has become */
    kiln_f64_array within; /* [point] how far it may be welded */
    kiln_u32_array slots;  /* hash table of points by cell */
} mending;

double kiln_surface_diagonal(const kiln_soup *surface)
{
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < 3 * surface->triangles.count; i++)
        box = kiln_box_grow(box, surface->points.data[surface->triangles.data[i / 3].v[i % 3]]);
    return surface->triangles.count ? kiln_v3_norm(kiln_v3_sub(box.high, box.low)) : 0.0;
}

static kiln_status copy_surface(const kiln_soup *in, mending *m, kiln_error *error)
{
    kiln_soup *s = m->s;
    size_t points = in->points.count, triangles = in->triangles.count;
    KILN_TRY(kiln_array_reserve(m->context, &s->points, points, error));
    KILN_TRY(kiln_array_reserve(m->context, &s->triangles, triangles, error));
    KILN_TRY(kiln_array_reserve(m->context, &s->triangle_tags, triangles, error));
    KILN_TRY(kiln_array_reserve(m->context, m->from, triangles, error));
    KILN_TRY(kiln_array_reserve(m->context, &m->one, points, error));
    KILN_TRY(kiln_array_reserve(m->context, &m->within, points, error));
    for (size_t i = 0; i < points; i++) /* -0 becomes 0 */
        s->points.data[i] = kiln_v3_add(in->points.data[i], kiln_v3(0, 0, 0));
    for (size_t i = 0; i < triangles; i++) {
        s->triangles.data[i] = in->triangles.data[i];
        s->triangle_tags.data[i] = in->triangle_tags.count ? in->triangle_tags.data[i] : 0;
        m->from->data[i] = (uint32_t)i;
    }
    s->points.count = points;
    s->triangles.count = s->triangle_tags.count = m->from->count = triangles;
    return KILN_OK;
}

/* Keeps triangle `i` as number `kept`. */
static void keep_triangle(mending *m, size_t i, size_t kept)
{
    m->s->triangles.data[kept] = m->s->triangles.data[i];
    m->s->triangle_tags.data[kept] = m->s->triangle_tags.data[i];
    m->from->data[kept] = m->from->data[i];
}

static void set_triangle_count(mending *m, size_t count)
{
    m->s->triangles.count = m->s->triangle_tags.count = m->from->count = count;
}

static void rename_corners(mending *m)
{
    for (size_t i = 0; i < 3 * m->s->triangles.count; i++) {
        uint32_t *v = &m->s->triangles.data[i / 3].v[i % 3];
        *v = m->one.data[*v];
    }
}

static kiln_status clear_slots(mending *m, kiln_error *error)
{
    size_t size = 64;
    while (size < 2 * m->s->points.count)
        size *= 2;
    KILN_TRY(kiln_array_reserve(m->context, &m->slots, size, error));
    memset(m->slots.data, 0xff, size * sizeof(uint32_t));
    m->slots.count = size;
    for (size_t i = 0; i < m->s->points.count; i++)
        m->one.data[i] = (uint32_t)i;
    return KILN_OK;
}

/* Points with the same coordinates become the first of them. */
static kiln_status unite_equal(mending *m, kiln_error *error)
{
    const kiln_vec3 *p = m->s->points.data;
    KILN_TRY(clear_slots(m, error));
    for (size_t i = 0; i < m->s->points.count; i++) {
        size_t mask = m->slots.count - 1, at = kiln_hash_bytes(0, &p[i], sizeof p[i]) & mask;
        while (m->slots.data[at] != UINT32_MAX &&
               memcmp(&p[m->slots.data[at]], &p[i], sizeof p[i]) != 0)
            at = (at + 1) & mask;
        if (m->slots.data[at] == UINT32_MAX)
            m->slots.data[at] = (uint32_t)i;
        m->one.data[i] = m->slots.data[at];
    }
    rename_corners(m);
    return KILN_OK;
}

/* Corners in rising order, and whether their order is turned by that. */
static bool sort_corners(const uint32_t v[3], uint32_t sorted[3])
{
    bool turned = false;
    memcpy(sorted, v, 3 * sizeof *v);
    for (int k = 0; k < 3; k++) {
        int i = k == 1 ? 1 : 0;
        if (sorted[i] > sorted[i + 1]) {
            uint32_t keep = sorted[i];
            sorted[i] = sorted[i + 1];
            sorted[i + 1] = keep;
            turned = !turned;
        }
    }
    return turned;
}

/* The triangles with the same corners as triangle i, the first of them. */
static uint32_t first_like(mending *m, size_t i)
{
    uint32_t v[3], w[3];
    sort_corners(m->s->triangles.data[i].v, v);
    size_t mask = m->slots.count - 1;
    size_t at = kiln_hash_add((uint64_t)v[0] << 32 | v[1], v[2]) & mask;
    for (; m->slots.data[at] != UINT32_MAX; at = (at + 1) & mask) {
        sort_corners(m->s->triangles.data[m->slots.data[at]].v, w);
        if (memcmp(v, w, sizeof v) == 0)
            return m->slots.data[at];
    }
    m->slots.data[at] = (uint32_t)i;
    return (uint32_t)i;
}

static kiln_status clear_triangle_slots(mending *m, kiln_error *error)
{
    size_t size = 64;
    while (size < 2 * m->s->triangles.count)
        size *= 2;
    KILN_TRY(kiln_array_reserve(m->context, &m->slots, size, error));
    memset(m->slots.data, 0xff, size * sizeof(uint32_t));
    m->slots.count = size;
    return KILN_OK;
}

/* The edges with each triangle counted once, however often it is given. */
static kiln_status list_edges(mending *m, kiln_error *error)
{
    size_t count = m->s->triangles.count, kept = 0;
    KILN_TRY(clear_triangle_slots(m, error));
    kiln_soup_triangle *once = kiln_resize(m->context, NULL, 0, (count + 1) * sizeof *once);
    if (!once)
        return kiln_fail_memory(error, count * sizeof *once);
    for (size_t i = 0; i < count; i++)
        if (first_like(m, i) == i)
            once[kept++] = m->s->triangles.data[i];
    kiln_status status = kiln_edge_table_build(&m->edges, m->context, once, kept, error);
    kiln_release(m->context, once, (count + 1) * sizeof *once);
    return status;
}

/* How far each point may be welded: `weld` for all of them, or for points of open edges what the
 * preset says. */
static kiln_status weld_distances(mending *m, double weld, bool all, kiln_error *error)
{
    const kiln_vec3 *p = m->s->points.data;
    KILN_TRY(list_edges(m, error));
    for (size_t i = 0; i < m->s->points.count; i++)
        m->within.data[i] = all ? weld : 0.0;
    for (size_t i = 0; i < m->edges.size && !all; i++) {
        const kiln_edge_slot *edge = &m->edges.slots[i];
        if (edge->count % 2)
            m->within.data[edge->low] = m->within.data[edge->high] = weld;
    }
    for (size_t i = 0; i < m->edges.size && !all; i++) {
        const kiln_edge_slot *edge = &m->edges.slots[i];
        if (edge->count == 0)
            continue;
        double most = OF_EDGE * kiln_v3_norm(kiln_v3_sub(p[edge->low], p[edge->high]));
        m->within.data[edge->low] = fmin(m->within.data[edge->low], most);
        m->within.data[edge->high] = fmin(m->within.data[edge->high], most);
    }
    return KILN_OK;
}

typedef struct cell {
    int64_t c[3];
} cell;

static cell cell_of(const mending *m, uint32_t point, double size)
{
    kiln_vec3 p = kiln_v3_sub(m->s->points.data[point], m->low);
    return (cell){{(int64_t)(p.x / size), (int64_t)(p.y / size), (int64_t)(p.z / size)}};
}

static size_t cell_slot(const mending *m, cell c)
{
    uint64_t hash =
        kiln_hash_add(kiln_hash_add((uint64_t)c.c[0], (uint64_t)c.c[1]), (uint64_t)c.c[2]);
    return hash & (m->slots.count - 1);
}

/* The point to be one with: the nearest of those before it that is near enough for both. */
static uint32_t find_mate(const mending *m, uint32_t i, double size)
{
    const kiln_vec3 *p = m->s->points.data;
    cell home = cell_of(m, i, size);
    uint32_t best = i;
    double nearest = INFINITY;
    for (int k = 0; k < 27; k++) {
        cell near = {{home.c[0] + k % 3 - 1, home.c[1] + k / 3 % 3 - 1, home.c[2] + k / 9 - 1}};
        size_t at = cell_slot(m, near);
        for (; m->slots.data[at] != UINT32_MAX; at = (at + 1) & (m->slots.count - 1)) {
            uint32_t j = m->slots.data[at];
            double d = kiln_v3_norm(kiln_v3_sub(p[i], p[j]));
            bool close = d <= m->within.data[i] && d <= m->within.data[j];
            if (close && (d < nearest || (d == nearest && j < best))) {
                nearest = d;
                best = j;
            }
        }
    }
    return best;
}

static kiln_status weld_points(mending *m, double weld, bool all, kiln_error *error)
{
    kiln_soup *s = m->s;
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < 3 * s->triangles.count; i++)
        box = kiln_box_grow(box, s->points.data[s->triangles.data[i / 3].v[i % 3]]);
    m->low = box.low;
    KILN_TRY(weld_distances(m, weld, all, error));
    KILN_TRY(clear_slots(m, error));
    for (size_t i = 0; i < s->points.count; i++) {
        if (m->within.data[i] == 0.0)
            continue;
        uint32_t mate = find_mate(m, (uint32_t)i, weld);
        m->one.data[i] = mate;
        if (mate != i) {
            double d = kiln_v3_norm(kiln_v3_sub(s->points.data[i], s->points.data[mate]));
            m->report->points_welded++;
            m->report->weld_farthest = fmax(m->report->weld_farthest, d);
            continue;
        }
        size_t at = cell_slot(m, cell_of(m, (uint32_t)i, weld));
        while (m->slots.data[at] != UINT32_MAX)
            at = (at + 1) & (m->slots.count - 1);
        m->slots.data[at] = (uint32_t)i;
    }
    rename_corners(m);
    return KILN_OK;
}

static bool is_flat(const kiln_soup *s, const uint32_t v[3])
{
    const kiln_vec3 *p = s->points.data;
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
        return true;
    kiln_vec3 u = kiln_v3_sub(p[v[1]], p[v[0]]), w = kiln_v3_sub(p[v[2]], p[v[0]]);
    double longest2 = fmax(fmax(kiln_v3_norm2(u), kiln_v3_norm2(w)),
                           kiln_v3_norm2(kiln_v3_sub(p[v[2]], p[v[1]])));
    return kiln_v3_norm(kiln_v3_cross(u, w)) <= FLAT * longest2;
}

static void drop_flat(mending *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->s->triangles.count; i++)
        if (is_flat(m->s, m->s->triangles.data[i].v))
            m->report->flat_dropped++;
        else
            keep_triangle(m, i, kept++);
    set_triangle_count(m, kept);
}

typedef struct likeness {
    uint32_t first;  /* triangle with the same corners */
    uint32_t copies; /* of the first: all of them */
    int32_t facing;  /* of the first: those that face one way minus the others */
    bool gone;
} likeness;

/* Where pairs of opposite triangles went and their three edges are open now, one comes back: it was
 * the same triangle given twice, once turned. */
static kiln_status drop_again(mending *m, likeness *like, size_t count, kiln_error *error)
{
    kiln_soup_triangle *left = kiln_resize(m->context, NULL, 0, (count + 1) * sizeof *left);
    if (!left)
        return kiln_fail_memory(error, count * sizeof *left);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!like[i].gone)
            left[kept++] = m->s->triangles.data[i];
    kiln_status status = kiln_edge_table_build(&m->edges, m->context, left, kept, error);
    kiln_release(m->context, left, (count + 1) * sizeof *left);
    for (size_t i = 0; i < count && status == KILN_OK; i++) {
        const uint32_t *v = m->s->triangles.data[i].v;
        int open = 0;
        if (!like[i].gone || like[i].first != i || like[i].facing != 0)
            continue;
        for (int k = 0; k < 3; k++)
            open += kiln_edge_table_find(&m->edges, v[k], v[(k + 1) % 3])->count % 2 == 1;
        like[i].gone = open < 3;
    }
    return status;
}

static kiln_status mark_doubles(mending *m, likeness *like, size_t count, kiln_error *error)
{
    uint32_t sorted[3];
    for (size_t i = 0; i < count; i++) {
        like[i] = (likeness){.first = first_like(m, i)};
        likeness *first = &like[like[i].first];
        first->copies++;
        first->facing += sort_corners(m->s->triangles.data[i].v, sorted) ? -1 : 1;
    }
    bool some = false;
    for (size_t i = 0; i < count; i++) {
        const likeness *first = &like[like[i].first];
        bool cancels = first->facing == 0 && !m->walls;
        like[i].gone = first->copies > 1 && (cancels || like[i].first != i);
        some = some || (like[i].gone && cancels);
    }
    return some ? drop_again(m, like, count, error) : KILN_OK;
}

static kiln_status drop_doubles(mending *m, kiln_error *error)
{
    size_t count = m->s->triangles.count, kept = 0;
    KILN_TRY(clear_triangle_slots(m, error));
    likeness *like = kiln_resize(m->context, NULL, 0, (count + 1) * sizeof *like);
    if (!like)
        return kiln_fail_memory(error, count * sizeof *like);
    kiln_status status = mark_doubles(m, like, count, error);
    for (size_t i = 0; i < count && status == KILN_OK; i++)
        if (!like[i].gone)
            keep_triangle(m, i, kept++);
        else if (like[like[i].first].gone)
            m->report->walls_dropped++;
        else
            m->report->double_dropped++;
    kiln_release(m->context, like, (count + 1) * sizeof *like);
    if (status == KILN_OK)
        set_triangle_count(m, kept);
    return status;
}

/* The point of an open edge that lies on the open edge from a to b nearest to a; `rim` are the
 * points to choose from. UINT32_MAX: none. */
typedef struct rim_point {
    double x;
    uint32_t point;
} rim_point;

static uint32_t first_on_edge(const mending *m, const rim_point *rim, size_t rims, uint32_t a,
                              uint32_t b)
{
    const kiln_vec3 *p = m->s->points.data;
    kiln_vec3 along = kiln_v3_sub(p[b], p[a]);
    double length = kiln_v3_norm(along), weld = fmin(m->report->weld, OF_EDGE * length);
    double low = fmin(p[a].x, p[b].x) - weld, high = fmax(p[a].x, p[b].x) + weld, best = INFINITY;
    uint32_t found = UINT32_MAX;
    size_t from = 0, to = rims;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (rim[middle].x < low)
            from = middle + 1;
        else
            to = middle;
    }
    for (size_t i = from; i < rims && rim[i].x <= high; i++) {
        uint32_t v = rim[i].point;
        kiln_vec3 off = kiln_v3_sub(p[v], p[a]);
        double s = kiln_v3_dot(off, along) / (length * length);
        bool between = s * length > weld && (1.0 - s) * length > weld && s > 0.0 && s < 1.0;
        if (v == a || v == b || !between || kiln_v3_norm(kiln_v3_madd(off, -s, along)) > weld ||
            s >= best)
            continue;
        best = s;
        found = v;
    }
    return found;
}

static int by_x(const void *a, const void *b)
{
    const rim_point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

/* Cuts off the first piece of each open edge that has a point on it: at most one a triangle, the
 * rest in the next round. */
static kiln_status cut_edges(mending *m, const rim_point *rim, size_t rims, size_t *cuts,
                             kiln_error *error)
{
    size_t count = m->s->triangles.count;
    for (size_t t = 0; t < count; t++)
        for (int k = 0; k < 3; k++) {
            const uint32_t *v = m->s->triangles.data[t].v;
            uint32_t a = v[k], b = v[(k + 1) % 3], c = v[(k + 2) % 3];
            if (kiln_edge_table_find(&m->edges, a, b)->count % 2 == 0)
                continue;
            uint32_t middle = first_on_edge(m, rim, rims, a, b);
            if (middle == UINT32_MAX || middle == c)
                continue;
            kiln_soup_triangle rest = {{middle, b, c}};
            KILN_TRY(kiln_array_push(m->context, &m->s->triangles, rest, error));
            KILN_TRY(kiln_array_push(m->context, &m->s->triangle_tags, m->s->triangle_tags.data[t],
                                     error));
            KILN_TRY(kiln_array_push(m->context, m->from, m->from->data[t], error));
            m->s->triangles.data[t] = (kiln_soup_triangle){{a, middle, c}};
            (*cuts)++;
            break;
        }
    return KILN_OK;
}

static kiln_status cut_round(mending *m, size_t *cuts, kiln_error *error)
{
    size_t rims = 0, room = 0;
    KILN_TRY(kiln_edge_table_build(&m->edges, m->context, m->s->triangles.data,
                                   m->s->triangles.count, error));
    for (size_t i = 0; i < m->edges.size; i++)
        room += 2 * (m->edges.slots[i].count % 2);
    *cuts = 0;
    if (room == 0)
        return KILN_OK;
    rim_point *rim = kiln_resize(m->context, NULL, 0, room * sizeof *rim);
    if (!rim)
        return kiln_fail_memory(error, room * sizeof *rim);
    for (size_t i = 0; i < m->edges.size; i++)
        if (m->edges.slots[i].count % 2) {
            uint32_t low = m->edges.slots[i].low, high = m->edges.slots[i].high;
            rim[rims++] = (rim_point){m->s->points.data[low].x, low};
            rim[rims++] = (rim_point){m->s->points.data[high].x, high};
        }
    qsort(rim, rims, sizeof *rim, by_x);
    kiln_status status = cut_edges(m, rim, rims, cuts, error);
    kiln_release(m->context, rim, room * sizeof *rim);
    return status;
}

/* Every cut uses up a point on an edge, so this ends; the bound is against rounding that would see
 * it otherwise. */
static kiln_status cut_junctions(mending *m, kiln_error *error)
{
    for (int round = 0; round < 1000; round++) {
        size_t cuts;
        KILN_TRY(cut_round(m, &cuts, error));
        if (cuts == 0)
            return KILN_OK;
        m->report->edges_cut += cuts;
        KILN_TRY(drop_doubles(m, error));
    }
    return KILN_OK;
}

/* Points that no triangle has go. */
static void drop_points(mending *m)
{
    kiln_soup *s = m->s;
    size_t kept = 0;
    memset(m->one.data, 0, s->points.count * sizeof(uint32_t));
    for (size_t i = 0; i < 3 * s->triangles.count; i++)
        m->one.data[s->triangles.data[i / 3].v[i % 3]] = 1;
    for (size_t i = 0; i < s->points.count; i++)
        if (m->one.data[i]) {
            m->one.data[i] = (uint32_t)kept;
            s->points.data[kept++] = s->points.data[i];
        }
    s->points.count = kept;
    rename_corners(m);
}

static size_t count_unused(mending *m)
{
    size_t unused = 0;
    memset(m->one.data, 0, m->s->points.count * sizeof(uint32_t));
    for (size_t i = 0; i < 3 * m->s->triangles.count; i++)
        m->one.data[m->s->triangles.data[i / 3].v[i % 3]] = 1;
    for (size_t i = 0; i < m->s->points.count; i++)
        unused += m->one.data[i] == 0;
    return unused;
}

/* The corner of a triangle that is not on this side of it. */
static uint32_t opposite(const mending *m, uint32_t side)
{
    return m->s->triangles.data[side / 3].v[(side + 2) % 3];
}

/* Whether two diagonals meet, up to what may be welded and what rounding may do. */
static bool do_meet(const mending *m, const kiln_edge_slot *one, const kiln_edge_slot *other)
{
    const kiln_vec3 *p = m->s->points.data;
    kiln_vec3 a = kiln_v3_sub(p[one->high], p[one->low]);
    kiln_vec3 b = kiln_v3_sub(p[other->high], p[other->low]);
    kiln_vec3 n = kiln_v3_cross(a, b);
    double off = fabs(kiln_v3_dot(n, kiln_v3_sub(p[other->low], p[one->low])));
    double shorter = sqrt(fmin(kiln_v3_norm2(a), kiln_v3_norm2(b)));
    double rounding = DBL_EPSILON * (kiln_v3_norm(p[one->low]) + shorter);
    return off <= (fmin(m->report->weld, OF_DIAGONAL * shorter) + 8.0 * rounding) * kiln_v3_norm(n);
}

/* Two triangles that share an edge and look the same way. */
static bool is_quad(const mending *m, const kiln_edge_slot *edge)
{
    const kiln_soup_triangle *triangles = m->s->triangles.data;
    for (int i = 0; i < 2 && edge->count == 2; i++) { /* as they were when the edges were listed */
        const uint32_t *v = triangles[edge->side[i] / 3].v, k = edge->side[i] % 3;
        uint32_t a = v[k], b = v[(k + 1) % 3];
        if (!((a == edge->low && b == edge->high) || (a == edge->high && b == edge->low)))
            return false;
    }
    return edge->count == 2 && !kiln_edge_is_turned(edge, triangles);
}

static void flip(mending *m, const kiln_edge_slot *edge)
{
    kiln_soup_triangle *t[2];
    uint32_t end[2], corner[2];
    for (int i = 0; i < 2; i++) {
        t[i] = &m->s->triangles.data[edge->side[i] / 3];
        end[i] = t[i]->v[edge->side[i] % 3];
        corner[i] = opposite(m, edge->side[i]);
    }
    for (int i = 0; i < 2; i++) {
        t[i]->v[0] = corner[i];
        t[i]->v[1] = end[i];
        t[i]->v[2] = corner[!i];
    }
}

/* Where two bodies touch in a quadrilateral one may have it cut by the one diagonal and the other
 * by the other: the second is flipped, and they have the same triangles there. */
static kiln_status match_diagonals(mending *m, kiln_error *error)
{
    KILN_TRY(kiln_edge_table_build(&m->edges, m->context, m->s->triangles.data,
                                   m->s->triangles.count, error));
    for (size_t i = 0; i < m->edges.size; i++) {
        const kiln_edge_slot *edge = &m->edges.slots[i];
        if (!is_quad(m, edge))
            continue;
        uint32_t c = opposite(m, edge->side[0]), d = opposite(m, edge->side[1]);
        if (c == d)
            continue;
        const kiln_edge_slot *other = kiln_edge_table_find(&m->edges, c, d);
        if (!is_quad(m, other))
            continue;
        uint32_t a = opposite(m, other->side[0]), b = opposite(m, other->side[1]);
        bool same = (a == edge->low && b == edge->high) || (a == edge->high && b == edge->low);
        if (same && do_meet(m, edge, other))
            flip(m, other);
    }
    return KILN_OK;
}

static kiln_status mend(const kiln_soup *in, const kiln_mend_options *options, mending *m,
                        kiln_error *error)
{
    bool all = options->weld >= 0.0;
    KILN_TRY(copy_surface(in, m, error));
    m->report->points_unused = count_unused(m);
    double diagonal = kiln_surface_diagonal(in);
    m->report->weld = all ? options->weld : KILN_WELD_OF_SIZE * diagonal;
    KILN_TRY(unite_equal(m, error));
    /* Below what coordinates resolve there is nothing to weld, and cells would be too many. */
    if (m->report->weld > DBL_EPSILON * diagonal)
        KILN_TRY(weld_points(m, m->report->weld, all, error));
    drop_flat(m);
    KILN_TRY(match_diagonals(m, error));
    KILN_TRY(drop_doubles(m, error));
    KILN_TRY(cut_junctions(m, error));
    drop_points(m);
    if (in->triangle_tags.count == 0)
        m->s->triangle_tags.count = 0;
    return KILN_OK;
}

static void free_mending(mending *m)
{
    kiln_edge_table_free(&m->edges);
    kiln_array_free(m->context, &m->one);
    kiln_array_free(m->context, &m->within);
    kiln_array_free(m->context, &m->slots);
}

kiln_status kiln_surface_mend(const kiln_soup *surface, const kiln_mend_options *options,
                              kiln_soup *out, kiln_u32_array *from, kiln_mend_report *report,
                              kiln_error *error)
{
    *report = (kiln_mend_report){0};
    mending m = {.context = surface->context,
                 .s = out,
                 .from = from,
                 .report = report,
                 .walls = options->walls};
    kiln_status status = mend(surface, options, &m, error);
    free_mending(&m);
    return status;
}

kiln_status kiln_surface_unite(const kiln_soup *surface, double weld, uint32_t *one,
                               kiln_error *error)
{
    kiln_soup copy;
    kiln_u32_array from = {0};
    kiln_mend_report report = {0};
    kiln_soup_init(&copy, surface->context);
    mending m = {.context = surface->context, .s = &copy, .from = &from, .report = &report};
    kiln_status status = copy_surface(surface, &m, error);
    if (status == KILN_OK)
        status = weld_points(&m, weld, false, error);
    for (size_t i = 0; i < surface->points.count && status == KILN_OK; i++)
        one[i] = m.one.data[i];
    kiln_soup_free(&copy);
    kiln_array_free(m.context, &from);
    free_mending(&m);
    return status;
}

static kiln_status fail_edge(const kiln_soup *s, const kiln_edge_slot *edge, size_t open,
                             const char *place, kiln_error *error)
{
    kiln_vec3 a = s->points.data[edge->low], b = s->points.data[edge->high];
    return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                     "the surface is not closed: the edge from (%g, %g, %g) to (%g, %g, %g) "
                     "belongs to %u triangle%s (%zu such edge%s)",
                     a.x, a.y, a.z, b.x, b.y, b.z, edge->count, edge->count == 1 ? "" : "s", open,
                     open == 1 ? "" : "s");
}

static bool is_open(const kiln_edge_slot *edge, bool walls)
{
    return walls ? edge->count == 1 : edge->count % 2 == 1;
}

static kiln_status check_edges(const kiln_soup *s, const kiln_edge_table *edges, bool walls,
                               const char *place, kiln_error *error)
{
    size_t open = 0;
    for (size_t i = 0; i < edges->size; i++)
        open += is_open(&edges->slots[i], walls);
    for (size_t i = 0; i < 3 * s->triangles.count && open > 0; i++) {
        const uint32_t *v = s->triangles.data[i / 3].v;
        const kiln_edge_slot *edge = kiln_edge_table_find(edges, v[i % 3], v[(i + 1) % 3]);
        if (is_open(edge, walls))
            return fail_edge(s, edge, open, place, error);
    }
    return KILN_OK;
}

kiln_status kiln_surface_is_closed(const kiln_soup *surface, bool walls, const char *place,
                                   kiln_error *error)
{
    if (surface->triangles.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1, "there are no triangles");
    for (size_t i = 0; i < surface->triangles.count; i++) {
        const uint32_t *v = surface->triangles.data[i].v;
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0])
            return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                             "triangle %zu has two equal corners", i + 1);
    }
    kiln_edge_table edges = {0};
    KILN_TRY(kiln_edge_table_build(&edges, surface->context, surface->triangles.data,
                                   surface->triangles.count, error));
    kiln_status status = check_edges(surface, &edges, walls, place, error);
    kiln_edge_table_free(&edges);
    return status;
}

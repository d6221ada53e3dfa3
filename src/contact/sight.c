#include "contact/sight.h"

#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

/* Of a distance: nearer to each other, two are the same. */
#define SAME 1e-9

kiln_status kiln_fans_build(kiln_fans *fans, kiln_context *context, const kiln_u32_array *faces,
                            size_t points, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &fans->start, points + 2, error));
    KILN_TRY(kiln_array_reserve(context, &fans->face, faces->count + 1, error));
    uint32_t *start = fans->start.data;
    memset(start, 0, (points + 2) * sizeof *start);
    for (size_t i = 0; i < faces->count; i++)
        start[faces->data[i] + 2]++;
    for (size_t p = 2; p < points + 2; p++)
        start[p] += start[p - 1];
    for (size_t i = 0; i < faces->count; i++) /* start[p + 1] goes from the begin of p to its end */
        fans->face.data[start[faces->data[i] + 1]++] = (uint32_t)(i / 3);
    fans->start.count = points + 1;
    fans->face.count = faces->count;
    return KILN_OK;
}

void kiln_fans_free(kiln_fans *fans, kiln_context *context)
{
    kiln_array_free(context, &fans->start);
    kiln_array_free(context, &fans->face);
}

size_t kiln_fans_bytes(const kiln_fans *fans)
{
    return (fans->start.capacity + fans->face.capacity) * sizeof(uint32_t);
}

/* Faces at a row, in a loop over i from fan_begin to fan_end. */
static size_t fan_begin(const kiln_fan_surface *s, uint32_t row)
{
    return s->fans->start.data[row];
}
static size_t fan_end(const kiln_fan_surface *s, uint32_t row)
{
    return s->fans->start.data[row + 1];
}

static void rows_of(const kiln_fan_surface *s, uint32_t face, uint32_t row[3])
{
    for (size_t k = 0; k < 3; k++)
        row[k] = s->faces[3 * (size_t)face + k];
}

static bool has_row(const uint32_t row[3], uint32_t r)
{
    return row[0] == r || row[1] == r || row[2] == r;
}

/* Where a nearest place is: at a row (the other is NOWHERE), between two in ascending order,
 * or inside a face. */
#define NOWHERE UINT32_MAX
typedef struct feature {
    uint32_t a, b;
} feature;

static feature feature_of(const uint32_t *row, unsigned mask)
{
    feature f = {NOWHERE, NOWHERE};
    if (mask == 7)
        return f;
    for (int k = 0; k < 3; k++)
        if (mask >> k & 1) {
            f.b = f.a;
            f.a = row[k];
        }
    return f.b != NOWHERE && f.b < f.a ? (feature){f.b, f.a} : f;
}

static bool is_at(feature f, uint32_t a, uint32_t b)
{
    return f.a == a && f.b == b;
}

/* The nearest place on a triangle, an edge or at a point. */
typedef struct place {
    feature at;
    double d,
        before; /* distance, and where the step began that of the same triangle, edge, point */
    double weight[2]; /* of an edge's ends */
    kiln_vec3 offset;
} place;

static place on_face(const kiln_sight *s, uint32_t face)
{
    uint32_t row[3];
    rows_of(&s->surface, face, row);
    const kiln_vec3 corner[3] = {s->x[row[0]], s->x[row[1]], s->x[row[2]]};
    kiln_closest_point at = kiln_closest_on_triangle(s->p, corner);
    place out = {.at = feature_of(row, at.feature), .d = sqrt(at.distance2)};
    if (s->from) {
        const kiln_vec3 was[3] = {s->from[row[0]], s->from[row[1]], s->from[row[2]]};
        out.before = sqrt(kiln_closest_on_triangle(s->began, was).distance2);
    }
    return out;
}

static place on_edge(const kiln_sight *s, uint32_t a, uint32_t b)
{
    const uint32_t row[2] = {a < b ? a : b, a < b ? b : a};
    const kiln_vec3 end[2] = {s->x[row[0]], s->x[row[1]]};
    kiln_closest_point at = kiln_closest_on_edge(s->p, end);
    place out = {.d = sqrt(at.distance2), .offset = at.offset};
    out.at.a = at.feature == 2 ? row[1] : row[0];
    out.at.b = at.feature == 3 ? row[1] : NOWHERE;
    for (int k = 0; k < 2; k++)
        out.weight[k] = at.weight[a < b ? k : 1 - k];
    if (s->from) {
        const kiln_vec3 was[2] = {s->from[row[0]], s->from[row[1]]};
        out.before = sqrt(kiln_closest_on_edge(s->began, was).distance2);
    }
    return out;
}

static place at_point(const kiln_sight *s, uint32_t row)
{
    kiln_vec3 offset = kiln_v3_sub(s->p, s->x[row]);
    place out = {.at = {row, NOWHERE}, .d = kiln_v3_norm(offset), .offset = offset};
    if (s->from)
        out.before = kiln_v3_norm(kiln_v3_sub(s->began, s->from[row]));
    return out;
}

static double edge_distance2(const kiln_vec3 *x, kiln_vec3 p, uint32_t a, uint32_t b)
{
    kiln_vec3 from = kiln_v3_sub(p, x[a]), e = kiln_v3_sub(x[b], x[a]);
    double length2 = kiln_v3_norm2(e), along = kiln_v3_dot(from, e);
    double t = length2 > 0.0 ? fmin(fmax(along / length2, 0.0), 1.0) : 0.0;
    return kiln_v3_norm2(kiln_v3_madd(from, -t, e));
}

/* Whether the edge, or the point where a is b, counts at all. */
static bool is_near(const kiln_sight *s, uint32_t a, uint32_t b)
{
    double within2 = s->within * s->within;
    return edge_distance2(s->x, s->p, a, b) < within2 ||
           (s->from && edge_distance2(s->from, s->began, a, b) < within2);
}

static bool began_alike(const kiln_sight *s, const place *p, const place *q)
{
    return !s->from || fabs(p->before - q->before) <= SAME * q->before;
}

/* The terms that are at one feature. */
typedef struct pile {
    double net;
    int owners, around; /* faces that have their nearest place there, and all seen */
    double least;       /* share of the faces around, */
    int faces;          /* seen or not */
    bool cut;           /* it is an edge at which the surface ends */
    bool one;           /* they can be taken as one */
} pile;

/* A face, whose nearest place is known. */
typedef struct face_known {
    uint32_t face;
    feature nearest;
} face_known;

/* The surface ends at this edge of the face, though there be another. */
static bool is_cut(const kiln_fan_surface *s, uint32_t face, const uint32_t row[3], uint32_t a,
                   uint32_t b)
{
    size_t k = row[0] != a && row[0] != b ? 1 : row[1] != a && row[1] != b ? 2 : 0;
    return s->beyond && s->beyond[3 * (size_t)face + k] == KILN_NONE;
}

/* g of an edge, and how many faces at it are seen. */
static double edge_term(const kiln_sight *s, uint32_t vertex, uint32_t a, uint32_t b, int *around)
{
    double least = INFINITY;
    uint32_t row[3];
    int count = 0;
    bool cut = false;
    *around = 0;
    for (size_t i = fan_begin(&s->surface, a); i < fan_end(&s->surface, a); i++) {
        uint32_t face = s->surface.fans->face.data[i];
        rows_of(&s->surface, face, row);
        if (!has_row(row, b))
            continue;
        double f = s->share(s->user, vertex, face);
        least = fmin(least, f);
        *around += f > 0.0;
        cut = is_cut(&s->surface, face, row, a, b);
        count++;
    }
    return count == 2 && !cut ? least : 0.0;
}

static pile pile_of_faces(const kiln_sight *s, uint32_t vertex, const place *at,
                          const face_known *known)
{
    pile out = {.least = INFINITY, .one = true};
    uint32_t row[3];
    for (size_t i = fan_begin(&s->surface, at->at.a); i < fan_end(&s->surface, at->at.a); i++) {
        uint32_t face = s->surface.fans->face.data[i];
        rows_of(&s->surface, face, row);
        if (at->at.b != NOWHERE && !has_row(row, at->at.b))
            continue;
        out.cut = at->at.b != NOWHERE && is_cut(&s->surface, face, row, at->at.a, at->at.b);
        double f = s->share(s->user, vertex, face);
        out.least = fmin(out.least, f);
        out.faces++;
        if (f == 0.0)
            continue;
        out.around++;
        place on = {.at = known->nearest};
        if (face != known->face || s->from)
            on = on_face(s, face);
        if (!is_at(on.at, at->at.a, at->at.b))
            continue;
        out.net += f;
        out.owners++;
        out.one = out.one && began_alike(s, &on, at);
    }
    return out;
}

/* Whether a face before number i of the fan has the row too. */
static bool came_before(const kiln_fan_surface *s, uint32_t centre, size_t i, uint32_t r)
{
    uint32_t row[3];
    for (size_t j = fan_begin(s, centre); j < i; j++) {
        rows_of(s, s->fans->face.data[j], row);
        if (has_row(row, r))
            return true;
    }
    return false;
}

/* h of a point, and the edges that end nearest there. */
static double add_edges(const kiln_sight *s, uint32_t vertex, const place *at, pile *out)
{
    const kiln_fan_surface *surface = &s->surface;
    uint32_t row[3], q = at->at.a;
    double least = INFINITY; /* of g around, which is that of f where none is at a border */
    for (size_t i = fan_begin(surface, q); i < fan_end(surface, q); i++) {
        uint32_t face = surface->fans->face.data[i];
        rows_of(surface, face, row);
        for (int k = 0; k < 3; k++) {
            int around;
            if (row[k] == q || came_before(surface, q, i, row[k]))
                continue;
            double g = edge_term(s, vertex, q, row[k], &around);
            place on = on_edge(s, q, row[k]);
            least = fmin(least, g);
            if (g == 0.0 || !is_at(on.at, q, NOWHERE))
                continue;
            out->net -= g;
            out->one = out->one && began_alike(s, &on, at);
        }
    }
    return least;
}

static void add_part(const place *at, double count, int from, int to, kiln_counts *out)
{
    if (count == 0.0)
        return;
    int n = out->parts++;
    out->part[n].count = count;
    out->part[n].distance = at->d;
    out->part[n].before = at->before;
    out->part[n].offset = at->offset;
    memset(out->part[n].weight, 0, sizeof out->part[n].weight);
    out->part[n].weight[from] = to < 0 ? 1.0 : at->weight[0];
    if (to >= 0)
        out->part[n].weight[to] = at->weight[1];
}

/* Of one feature of a face, whose nearest place is `nearest`. */
static void count_pile(const pile *p, const place *at, feature nearest, int from, int to,
                       kiln_counts *out)
{
    if (is_at(nearest, at->at.a, at->at.b))
        out->own = p->net / p->owners;
    else if (p->owners == 0)
        add_part(at, p->net / p->around, from, to, out);
}

static void count_edge(const kiln_sight *s, uint32_t vertex, const uint32_t row[3], int from,
                       const face_known *known, kiln_counts *out)
{
    int to = (from + 1) % 3;
    place at = on_edge(s, row[from], row[to]);
    if (at.at.b == NOWHERE)
        return; /* a term of the corner there */
    pile p = pile_of_faces(s, vertex, &at, known);
    double g = p.faces == 2 && !p.cut ? p.least : 0.0;
    p.net -= g;
    if (p.one)
        count_pile(&p, &at, known->nearest, from, to, out);
    else
        add_part(&at, -g / p.around, from, to, out);
}

static void count_corner(const kiln_sight *s, uint32_t vertex, const uint32_t row[3], int k,
                         const face_known *known, kiln_counts *out)
{
    place at = at_point(s, row[k]);
    pile p = pile_of_faces(s, vertex, &at, known);
    double h = add_edges(s, vertex, &at, &p);
    p.net += h;
    if (p.one) {
        count_pile(&p, &at, known->nearest, k, -1, out);
        return;
    }
    add_part(&at, h / p.around, k, -1, out);
    for (int e = 0; e < 3; e++) {
        int around;
        place end = on_edge(s, row[e], row[(e + 1) % 3]);
        if (!is_at(end.at, row[k], NOWHERE))
            continue;
        double g = edge_term(s, vertex, row[e], row[(e + 1) % 3], &around);
        add_part(&end, -g / around, k, -1, out);
    }
}

void kiln_sight_count(const kiln_sight *s, uint32_t vertex, uint32_t face, kiln_counts *out)
{
    uint32_t row[3];
    rows_of(&s->surface, face, row);
    const face_known known = {face, on_face(s, face).at};
    out->own = s->share(s->user, vertex, face);
    out->parts = 0;
    bool near[3];
    for (int k = 0; k < 3; k++) {
        near[k] = is_near(s, row[k], row[(k + 1) % 3]);
        if (near[k])
            count_edge(s, vertex, row, k, &known, out);
    }
    for (int k = 0; k < 3; k++) { /* edges that began near may end at a corner that never was */
        bool ends = near[k] || near[(k + 2) % 3];
        if (ends && (s->from || is_near(s, row[k], row[k])))
            count_corner(s, vertex, row, k, &known, out);
    }
}

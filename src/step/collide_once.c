/* Bodies whose places count once (kiln_contact_options.once).
 *
 * The energy of two surfaces is a mean of the integrals of b over each, by their vertices: that of
 * a vertex is its area times the Euler sum of contact/sight.h, which is b of the nearest place
 * before what is flat or round. Sums over vertices see nothing of edges that cross between them. So
 * two edges count, but only for what their four ends do not show of it: with N the nearness of both
 * and S twice the sum of that of the ends to the other's body, each times the part it answers for,
 * by (1 - S / N)^2 where N > S. That is nothing before what is flat, along ridges and at ends
 * themselves, and all where edges cross far from their ends.
 *
 * Such weights are those of the begin of the solve, as areas and angles are. (As a function of the
 * iterate they make vertices attract what covers a crossing, and a ball that is squeezed over a rim
 * took 2678 matrices for 84.) What is flat then may bend in the solve, and edges press each other
 * that count for nothing: then weights are taken again. */
#include "base/parallel.h"
#include "step/collide_impl.h"

#include <string.h>

/* A vertex counts with this part of its area, though it be on an edge. */
#define LEAST_FACING 0.1
/* Nor does one of two bodies answer alone. */
#define LEAST_PART 0.05

/* Ends that show half of a crossing show enough. */
#define ENDS 2.0
/* The least that edges count, so that they bar the way: at the begin of a solve, and each time that
 * weights are taken again, so that what is pressed here now and there then comes to an end. */
static const double least_edges[] = {1e-5, 1e-3, 0.1, 1.0};
enum { AGAIN = 3 };
/* That is where edges nearer than this part of the reach would count so many times more, and no
 * less than that. */
#define PRESSED   0.5
#define MUCH_MORE 4.0
#define SOME      0.1

static kiln_lag *lag_of(kiln_collide *c)
{
    return &c->once.lag[c->once.now];
}
static const kiln_lag *lag_in(const kiln_collide *c)
{
    return &c->once.lag[c->once.now];
}

static bool is_crossing(const kiln_collide *c, const kiln_surface_pair *pair)
{
    return pair->split == 2 && !kiln_collide_is_wall(c, pair->v[3]);
}

bool kiln_collide_is_seen(const kiln_collide *c, const kiln_surface_pair *pair)
{
    return pair->split == 1 && !kiln_collide_is_wall(c, pair->v[0]) &&
           !kiln_collide_is_wall(c, pair->v[1]);
}

/* The part of a vertex's faces that looks at a face presses it: the sides of a block do not. */
static double facing(const kiln_collide *c, uint32_t vertex, const uint32_t v[3])
{
    const kiln_vec3 *x = kiln_collide_points(c->begin.data);
    kiln_vec3 a = kiln_v3_sub(x[v[1]], x[v[0]]), b = kiln_v3_sub(x[v[2]], x[v[0]]);
    kiln_vec3 normal = kiln_v3_normalize(kiln_v3_cross(a, b));
    return fmax(-kiln_v3_dot(c->facing.data[vertex], normal), LEAST_FACING);
}

static double cell_of(const kiln_collide *c, uint32_t vertex)
{
    return c->once.cell.data[c->surface.body.data[vertex]];
}

/* Whether a vertex was as near to something where the solve began as another, 0 to 1. */
static double feels_like(const kiln_collide *c, uint32_t vertex, uint32_t other)
{
    double own = lag_in(c)->felt.data[vertex], as = lag_in(c)->felt.data[other];
    return own >= as ? (own > 0.0 ? 1.0 : 0.0) : own / as;
}

/* Whether the place of a face next to a vertex is at a rim, where the solve began: 1, and less up
 * to a cell of the vertex's own mesh from there, 0. Not at one whose ends feel nothing: they could
 * not answer for it. */
static double rim_before(const kiln_collide *c, uint32_t vertex, uint32_t face)
{
    const kiln_vec3 *x = kiln_collide_points(c->begin.data);
    const uint32_t *v = &c->surface.faces.data[3 * (size_t)face];
    const double *edge = &c->once.edge_rim.data[3 * (size_t)face], *rim = c->once.rim.data;
    if (rim[v[0]] == 0.0 && rim[v[1]] == 0.0 && rim[v[2]] == 0.0)
        return 0.0;
    const kiln_vec3 corner[3] = {x[v[0]], x[v[1]], x[v[2]]};
    kiln_vec3 at = kiln_v3_sub(x[vertex], kiln_closest_on_triangle(x[vertex], corner).offset);
    double most = 0.0, cell = cell_of(c, vertex), feels[3];
    for (int k = 0; k < 3; k++)
        feels[k] = feels_like(c, v[k], vertex);
    for (int k = 0; k < 3; k++) {
        const kiln_vec3 end[2] = {corner[k], corner[(k + 1) % 3]};
        double from_edge = sqrt(kiln_closest_on_edge(at, end).distance2);
        double from_corner = kiln_v3_norm(kiln_v3_sub(at, end[0]));
        double both = fmin(feels[k], feels[(k + 1) % 3]);
        most = fmax(most, edge[k] * both * (1.0 - from_edge / cell));
        most = fmax(most, rim[v[k]] * feels[k] * (1.0 - from_corner / cell));
    }
    return most;
}

/* The vertices of both bodies feel each other, and share what there is: at every place both have 1
 * in sum. At the rim of one, up to a cell of the other's, its own vertices answer, since how many
 * of the other are inside depends on where it lies; elsewhere the finer mesh answers for more. */
static double part_of_two(const kiln_collide *c, uint32_t vertex, uint32_t face)
{
    uint32_t before = c->surface.faces.data[3 * (size_t)face];
    double ratio = cell_of(c, before) / cell_of(c, vertex), power = ratio * ratio;
    double finer = power * power / (1.0 + power * power);
    double s = c->once.rim.data[vertex], t = rim_before(c, vertex, face);
    double gain = fmin(ratio, 1.0) * s * (1.0 - t), loss = t * (1.0 - s);
    double part = finer * (1.0 - gain - loss) + gain;
    return fmin(fmax(part, LEAST_PART), 1.0 - LEAST_PART);
}

/* Pa, of the softer. */
static double modulus_of(const kiln_collide *c, uint32_t vertex, const uint32_t v[3])
{
    const double *modulus = c->modulus.data;
    return kiln_collide_softer(c, modulus[vertex],
                               (modulus[v[0]] + modulus[v[1]] + modulus[v[2]]) / 3.0);
}

/* N at stiffness 1, with all that a vertex and a face count by. */
static double weight_of(const kiln_collide *c, uint32_t vertex, uint32_t face)
{
    const uint32_t *v = &c->surface.faces.data[3 * (size_t)face];
    return part_of_two(c, vertex, face) * facing(c, vertex, v) * modulus_of(c, vertex, v) *
           c->surface.area.data[vertex];
}

/* A vertex and a face of which the search makes a pair (contact/surface_pairs.c, is_wanted): faces
 * next to one that it does. */
static bool is_pair(const kiln_collide *c, uint32_t vertex, const uint32_t v[3])
{
    const uint8_t *held = c->given->held;
    if (v[0] == vertex || v[1] == vertex || v[2] == vertex)
        return false;
    return !held || held[vertex] != 7 || held[v[0]] != 7 || held[v[1]] != 7 || held[v[2]] != 7;
}

typedef struct looker {
    const kiln_collide *collide;
    const kiln_pair_rules *rules;
} looker;

/* To 40 bits, so that sums of a few are exact. */
static double rounded(double x)
{
    double wide = 8193.0 * x;
    return wide - (wide - x);
}

/* What faces share is taken away where they meet; so those that repel at another distance than the
 * rest are not of the surface that is seen, and count by themselves. */
static double share_of(const void *user, uint32_t vertex, uint32_t face)
{
    const looker *l = user;
    const kiln_collide *c = l->collide;
    const uint32_t *v = &c->surface.faces.data[3 * (size_t)face];
    if (!is_pair(c, vertex, v) ||
        !kiln_surface_pair_is_whole(&c->surface, l->rules, c->mesh->u, vertex, v))
        return 0.0;
    return rounded(weight_of(c, vertex, face));
}

void kiln_collide_count_seen(const kiln_collide *c, const kiln_pair_rules *rules,
                             const kiln_vec3 *x, const kiln_vec3 *from, size_t i, kiln_counts *out)
{
    const looker l = {c, rules};
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    if (share_of(&l, pair->v[0], pair->face) == 0.0) {
        *out = (kiln_counts){.own = weight_of(c, pair->v[0], pair->face)};
        return;
    }
    const kiln_sight view = {.surface = {&c->once.fans, c->surface.faces.data, NULL},
                             .x = x,
                             .from = from,
                             .p = x[pair->v[0]],
                             .began = from ? from[pair->v[0]] : kiln_v3(0, 0, 0),
                             .within = pair->reach + pair->clearance,
                             .share = share_of,
                             .user = &l};
    kiln_sight_count(&view, pair->v[0], pair->face, out);
}

/* As b where little presses. Of two small distances the nearer has as many times more as it is
 * nearer, where b knows their logarithms only. */
static double nearness(double s)
{
    double y = 1.0 - s;
    return s >= 1.0 ? 0.0 : s > 0.0 ? y * y * y / s : INFINITY;
}

/* What an end of two edges shows of the other's body. */
static double shown_at(const kiln_lag *lag, uint32_t vertex, uint32_t body)
{
    uint32_t k = lag->head.data[vertex];
    while (k != KILN_NONE && lag->seen.data[k].body != body)
        k = lag->seen.data[k].next;
    return k == KILN_NONE ? 0.0 : lag->seen.data[k].shown;
}

/* By how much two edges count. Those that are near in the material, and repel at less than the
 * thickness, have nothing in common with what their ends see. */
static double crossing_of(const kiln_collide *c, const kiln_surface_pair *pair)
{
    const uint32_t *body = c->surface.body.data, *v = pair->v;
    const kiln_lag *lag = lag_in(c);
    if (pair->reach < c->options.thickness)
        return 1.0;
    double shown = ENDS * (shown_at(lag, v[0], body[v[2]]) + shown_at(lag, v[1], body[v[2]]) +
                           shown_at(lag, v[2], body[v[0]]) + shown_at(lag, v[3], body[v[0]]));
    if (!(shown > 0.0))
        return 1.0;
    double d = kiln_surface_pair_distance(pair, kiln_collide_points(lag->x.data)).d;
    double all = nearness(d / pair->reach), left = all > shown ? 1.0 - shown / all : 0.0;
    return fmax(left * left, least_edges[c->once.again]);
}

static void cross_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    kiln_collide *c = user;
    for (size_t a = begin; a < end; a++) {
        size_t i = c->acting.data[a];
        if (!is_crossing(c, kiln_collide_pair(c, i)))
            continue;
        c->once.crossing.data[i] = crossing_of(c, kiln_collide_pair(c, i));
        c->scale.data[i] *= c->once.crossing.data[i];
    }
}

/* How far vertices are within reach of something. Until it is known nothing is at a rim. */
void kiln_collide_find_felt(kiln_collide *c)
{
    double *felt = lag_of(c)->felt.data;
    if (c->once.is_weighed)
        return;
    for (size_t i = 0; i < c->surface.vertices.count; i++)
        felt[c->surface.vertices.data[i]] = 0.0;
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        double s = c->distance.data[i].d / pair->reach;
        if (kiln_collide_is_seen(c, pair))
            felt[pair->v[0]] = fmax(felt[pair->v[0]], 1.0 - s);
    }
}

/* Where there was none: an entry for a body among those a vertex sees. */
static kiln_status find_seen(kiln_collide *c, uint32_t vertex, uint32_t body, uint32_t *out,
                             kiln_error *error)
{
    kiln_lag *lag = lag_of(c);
    uint32_t first = lag->head.data[vertex];
    for (*out = first; *out != KILN_NONE; *out = lag->seen.data[*out].next)
        if (lag->seen.data[*out].body == body)
            return KILN_OK;
    const kiln_seen_body seen = {body, first, 0.0};
    *out = lag->head.data[vertex] = (uint32_t)lag->seen.count;
    return kiln_array_push(c->context, &lag->seen, seen, error);
}

/* What vertices show of other bodies at x, where they have been counted. */
static kiln_status see_all(kiln_collide *c, const double *x, kiln_error *error)
{
    kiln_lag *lag = lag_of(c);
    memcpy(lag->x.data, x, 3 * c->given->rows * sizeof *x);
    for (size_t i = 0; i < c->surface.vertices.count; i++)
        lag->head.data[c->surface.vertices.data[i]] = KILN_NONE;
    lag->seen.count = 0;
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        uint32_t v = pair->v[0], entry;
        if (!kiln_collide_is_seen(c, pair) || pair->reach < c->options.thickness)
            continue;
        double all =
            c->surface.area.data[v] * modulus_of(c, v, pair->v + 1) * facing(c, v, pair->v + 1);
        double near = nearness(c->distance.data[i].d / pair->reach);
        KILN_TRY(find_seen(c, v, c->surface.body.data[pair->v[1]], &entry, error));
        lag->seen.data[entry].shown += c->counted.data[i] / all * near;
    }
    return KILN_OK;
}

void kiln_collide_cross(kiln_collide *c, const double *x)
{
    if (!c->once.is_weighed && c->failure == KILN_OK)
        c->failure = see_all(c, x, &c->trouble);
    c->once.is_weighed = true;
    kiln_parallel_for(c->context, c->acting.count - c->part_of.count, KILN_COLLIDE_GRAIN,
                      cross_chunk, c);
}

/* Whether some that are pressed count much more by what is seen now. */
static bool is_much_more(const kiln_collide *c)
{
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        if (is_crossing(c, pair) && c->distance.data[i].d < PRESSED * pair->reach &&
            crossing_of(c, pair) > fmax(MUCH_MORE * c->once.crossing.data[i], SOME))
            return true;
    }
    return false;
}

void kiln_collide_weigh_again(kiln_collide *c, const double *x)
{
    if (c->once.again >= AGAIN || c->failure != KILN_OK)
        return;
    const double *felt = lag_in(c)->felt.data;
    c->once.now = !c->once.now;
    memcpy(lag_of(c)->felt.data, felt, c->first_wall * sizeof *felt);
    c->failure = see_all(c, x, &c->trouble);
    if (c->failure != KILN_OK || !is_much_more(c)) {
        c->once.now = !c->once.now;
        return;
    }
    c->once.again++;
    c->state++;
    c->solve++;
    kiln_collide_measure(c, x);
}

/* How far an edge sticks out that a face has from corner `from` on: 1 - the cosine of the angle
 * between its faces' normals, at most 1. */
static double edge_rim(const kiln_collide *c, const kiln_vec3 *x, size_t face, size_t from)
{
    const uint32_t *v = &c->surface.faces.data[3 * face];
    const kiln_fans *fans = &c->once.fans;
    uint32_t a = v[from], b = v[(from + 1) % 3];
    kiln_vec3 normal = c->once.normal.data[face];
    double out = 1.0;
    int others = 0;
    for (size_t i = fans->start.data[a]; i < fans->start.data[a + 1]; i++) {
        size_t f = fans->face.data[i];
        const uint32_t *w = &c->surface.faces.data[3 * f];
        if (f == face || (w[0] != b && w[1] != b && w[2] != b))
            continue;
        uint32_t apex = w[0] != a && w[0] != b ? w[0] : w[1] != a && w[1] != b ? w[1] : w[2];
        bool hollow = kiln_v3_dot(normal, kiln_v3_sub(x[apex], x[a])) > 0.0;
        out = hollow ? 0.0 : fmin(1.0 - kiln_v3_dot(normal, c->once.normal.data[f]), 1.0);
        others++;
    }
    return others == 1 ? fmax(out, 0.0) : 1.0;
}

void kiln_collide_find_rims(kiln_collide *c)
{
    const kiln_contact_surface *s = &c->surface;
    const kiln_vec3 *x = kiln_collide_points(c->begin.data);
    double *rim = c->once.rim.data;
    for (size_t i = 0; i < s->vertices.count; i++)
        rim[s->vertices.data[i]] = 0.0;
    for (size_t f = 0; f < s->faces.count / 3; f++) {
        const uint32_t *v = &s->faces.data[3 * f];
        c->once.normal.data[f] = kiln_v3_normalize(
            kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]])));
    }
    for (size_t f = 0; f < s->faces.count / 3; f++)
        for (size_t k = 0; k < 3; k++) {
            const uint32_t *v = &s->faces.data[3 * f];
            double out = edge_rim(c, x, f, k);
            c->once.edge_rim.data[3 * f + k] = out;
            rim[v[k]] = fmax(rim[v[k]], out);
            rim[v[(k + 1) % 3]] = fmax(rim[v[(k + 1) % 3]], out);
        }
}

kiln_status kiln_collide_once_room(kiln_collide *c, size_t count, kiln_error *error)
{
    return kiln_array_reserve(c->context, &c->once.crossing, count, error);
}

static size_t body_count(const kiln_contact_surface *s)
{
    size_t count = 1;
    for (size_t i = 0; i < s->vertices.count; i++) {
        uint32_t body = s->body.data[s->vertices.data[i]];
        count = body >= count ? (size_t)body + 1 : count;
    }
    return count;
}

void kiln_collide_once_measure(kiln_collide *c)
{
    const kiln_contact_surface *s = &c->surface;
    size_t bodies = body_count(s);
    double *area = c->once.cell.data, *faces = area + bodies;
    memset(area, 0, 2 * bodies * sizeof *area);
    for (size_t i = 0; i < s->vertices.count; i++)
        area[s->body.data[s->vertices.data[i]]] += s->area.data[s->vertices.data[i]];
    for (size_t f = 0; f < s->faces.count; f += 3)
        faces[s->body.data[s->faces.data[f]]] += 1.0;
    for (size_t b = 0; b < bodies; b++)
        area[b] = sqrt(2.0 * area[b] / fmax(faces[b], 1.0));
}

static kiln_status make_lag(kiln_collide *c, kiln_lag *lag, size_t slots, kiln_error *error)
{
    size_t rows = kiln_collide_rows(c, slots);
    KILN_TRY(kiln_array_reserve(c->context, &lag->x, 3 * rows + 1, error));
    KILN_TRY(kiln_array_reserve(c->context, &lag->felt, slots + 1, error));
    return kiln_array_reserve(c->context, &lag->head, slots + 1, error);
}

kiln_status kiln_collide_once_build(kiln_collide *c, kiln_error *error)
{
    size_t slots = c->mesh->table[KILN_ON_VERTEX].used, faces = c->surface.faces.count;
    kiln_collide_once *o = &c->once;
    if (!c->options.once)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(c->context, &o->cell, 2 * body_count(&c->surface), error));
    kiln_collide_once_measure(c);
    KILN_TRY(kiln_array_reserve(c->context, &o->rim, slots + 1, error));
    KILN_TRY(kiln_array_reserve(c->context, &o->edge_rim, faces + 1, error));
    KILN_TRY(kiln_array_reserve(c->context, &o->normal, faces / 3 + 1, error));
    for (int k = 0; k < 2; k++)
        KILN_TRY(make_lag(c, &o->lag[k], slots, error));
    return kiln_fans_build(&o->fans, c->context, &c->surface.faces, slots, error);
}

void kiln_collide_once_free(kiln_collide *c)
{
    kiln_collide_once *o = &c->once;
    kiln_fans_free(&o->fans, c->context);
    kiln_array_free(c->context, &o->cell);
    kiln_array_free(c->context, &o->rim);
    kiln_array_free(c->context, &o->edge_rim);
    kiln_array_free(c->context, &o->normal);
    kiln_array_free(c->context, &o->crossing);
    for (int k = 0; k < 2; k++) {
        kiln_array_free(c->context, &o->lag[k].x);
        kiln_array_free(c->context, &o->lag[k].felt);
        kiln_array_free(c->context, &o->lag[k].head);
        kiln_array_free(c->context, &o->lag[k].seen);
    }
}

size_t kiln_collide_once_bytes(const kiln_collide *c)
{
    const kiln_collide_once *o = &c->once;
    size_t lags = 0;
    for (int k = 0; k < 2; k++)
        lags += (o->lag[k].x.capacity + o->lag[k].felt.capacity) * sizeof(double) +
                o->lag[k].head.capacity * sizeof(uint32_t) +
                o->lag[k].seen.capacity * sizeof(kiln_seen_body);
    return kiln_fans_bytes(&o->fans) + lags +
           (o->cell.capacity + o->rim.capacity + o->edge_rim.capacity + 3 * o->normal.capacity +
            o->crossing.capacity) *
               sizeof(double);
}

/* Bodies whose places count once (kiln_contact_options.once).
 *
 * The energy of two surfaces is the mean of the integral of b over each, by the vertices: that of a
 * vertex is its area times the Euler sum of contact/sight.h, which is b of the nearest place before
 * what is flat or round. Sums of vertices see nothing of edges that cross between them. A crossing
 * of two edges has
 *     area * (B - S)^2 / B  where B > S, else nothing,
 * with B = b of their distance, and S the sum of b over the four ends before the other's body. So
 * it counts for what ends do not show: nothing before what is flat, along ridges and at ends
 * themselves, where one of them has B or more, and B - 2 S as B becomes infinite. The function is
 * convex in (B, S), and has a continuous gradient. Its part along S makes the ends count less: that
 * is `taken`. */
#include "contact/repulsion.h"
#include "base/parallel.h"
#include "step/collide_impl.h"

#include <string.h>

/* A vertex counts with this part of its area, though it be on an edge. */
#define LEAST_FACING 0.1
/* Nor does one of two bodies answer alone. */
#define LEAST_PART 0.05

/* One over the part of a crossing that its ends must show for it not to count. */
#define HALF_SHOWN 2.0

static bool is_crossing(const kiln_collide *c, const kiln_surface_pair *pair)
{
    return pair->split == 2 && !kiln_collide_is_wall(c, pair->v[3]);
}

static bool is_seen(const kiln_collide *c, const kiln_surface_pair *pair)
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
    double own = c->once.felt.data[vertex], as = c->once.felt.data[other];
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

/* Of the whole of both that a vertex answers for before a face: N at stiffness 1, and how much. */
static kiln_shares weight_of(const kiln_collide *c, uint32_t vertex, uint32_t face)
{
    const uint32_t *v = &c->surface.faces.data[3 * (size_t)face];
    const double *modulus = c->modulus.data;
    double other = (modulus[v[0]] + modulus[v[1]] + modulus[v[2]]) / 3.0;
    double part = part_of_two(c, vertex, face), area = c->surface.area.data[vertex];
    return (kiln_shares){{part * facing(c, vertex, v) * fmin(modulus[vertex], other) * area, part}};
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
    kiln_collide *collide;
    kiln_pair_rules rules;
    const kiln_vec3 *x;
} looker;

/* To 40 bits, so that sums of a few are exact. */
static double rounded(double x)
{
    double wide = 8193.0 * x;
    return wide - (wide - x);
}

/* What faces share is taken away where they meet; so those that repel at another distance than the
 * rest are not of the surface that is seen, and count by themselves. */
static kiln_shares share_of(const void *user, uint32_t vertex, uint32_t face)
{
    const looker *l = user;
    const kiln_collide *c = l->collide;
    const uint32_t *v = &c->surface.faces.data[3 * (size_t)face];
    if (!is_pair(c, vertex, v) ||
        !kiln_surface_pair_is_whole(&c->surface, &l->rules, c->mesh->u, vertex, v))
        return (kiln_shares){{0.0, 0.0}};
    kiln_shares share = weight_of(c, vertex, face);
    return (kiln_shares){{rounded(share.f[0]), rounded(share.f[1])}};
}

static void count_pair(const looker *l, size_t i, kiln_counts *out)
{
    const kiln_collide *c = l->collide;
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    if (share_of(l, pair->v[0], pair->face).f[0] == 0.0) {
        *out = (kiln_counts){.own = {weight_of(c, pair->v[0], pair->face).f[0]}};
        return;
    }
    const kiln_vec3 *from = c->from ? kiln_collide_points(c->from) : NULL;
    const kiln_sight view = {.surface = {&c->once.fans, c->surface.faces.data, 0},
                             .x = l->x,
                             .from = c->rub.data[i] > 0.0 ? NULL : from,
                             .within = pair->reach + pair->clearance,
                             .share = share_of,
                             .user = l};
    kiln_sight_count(&view, pair->v[0], pair->face, out);
}

static double repulsion_at(const kiln_collide *c, size_t i)
{
    return kiln_repulsion_at(c->distance.data[i].d / kiln_collide_pair(c, i)->reach).value;
}

/* `counted` says whether the pair acts; where only what it shows does it is that. */
static void set_count(kiln_collide *c, size_t i, const double count[2])
{
    c->counted.data[i] = count[0] != 0.0 ? count[0] : count[1];
    c->scale.data[i] = c->hardness * c->options.stiffness * count[0];
    c->once.shown.data[i] = count[1];
}

static void count_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const looker *l = user;
    kiln_collide *c = l->collide;
    for (size_t a = begin; a < end; a++) {
        size_t i = c->acting.data[a];
        kiln_counts counts = {0};
        c->once.taken.data[i] = 0.0;
        c->once.shown.data[i] = 0.0;
        if (is_seen(c, kiln_collide_pair(c, i))) {
            count_pair(l, i, &counts);
            set_count(c, i, counts.own);
        }
        c->once.parts.data[i] = (uint8_t)counts.parts;
        c->once.b.data[i] = repulsion_at(c, i);
    }
}

/* Behind the pairs, in their order. Few pairs have any. */
static void add_parts(const looker *l, kiln_collide *c, size_t i)
{
    kiln_counts counts;
    count_pair(l, i, &counts);
    for (int k = 0; k < counts.parts; k++) {
        size_t at = c->found.pairs.count + c->once.part_of.count;
        const double *w = counts.part[k].weight, d = counts.part[k].distance;
        const kiln_surface_pair pair = *kiln_collide_pair(c, i);
        c->once.part_of.data[c->once.part_of.count++] = (uint32_t)i;
        c->found.pairs.data[at] = pair;
        c->distance.data[at] = (kiln_pair_distance){
            .d = d - pair.clearance,
            .normal = d > 0.0 ? kiln_v3_scale(counts.part[k].offset, 1.0 / d) : kiln_v3(0, 0, 0),
            .weight = {1.0, -w[0], -w[1], -w[2]}};
        c->before.data[at] = counts.part[k].before - pair.clearance;
        c->calm.data[at] = 0.0;
        c->rub.data[at] = c->rub.data[i];
        set_count(c, at, counts.part[k].count);
        c->once.taken.data[at] = 0.0;
        c->once.b.data[at] = repulsion_at(c, at);
    }
}

static kiln_status list_parts(const looker *l, kiln_collide *c, kiln_error *error)
{
    size_t count = 0, whole = c->acting.count;
    for (size_t a = 0; a < whole; a++)
        count += c->once.parts.data[c->acting.data[a]];
    if (count == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(c->context, &c->once.part_of, count, error));
    KILN_TRY(kiln_collide_make_room(c, c->found.pairs.count + count, error));
    for (size_t a = 0; a < whole; a++)
        if (c->once.parts.data[c->acting.data[a]])
            add_parts(l, c, c->acting.data[a]);
    for (size_t k = 0; k < count; k++)
        c->acting.data[c->acting.count++] = (uint32_t)(c->found.pairs.count + k);
    return KILN_OK;
}

/* All that a vertex sees and feels, in lists. */
static void link_all(kiln_collide *c)
{
    for (size_t a = c->acting.count; a-- > 0;) {
        uint32_t i = c->acting.data[a], v = kiln_collide_pair(c, i)->v[0];
        if (c->once.shown.data[i] == 0.0 || c->once.b.data[i] == 0.0)
            continue;
        c->once.next.data[i] = c->once.head.data[v];
        c->once.head.data[v] = i;
    }
}

static void unlink_all(kiln_collide *c)
{
    for (size_t a = 0; a < c->acting.count; a++)
        if (c->once.shown.data[c->acting.data[a]] != 0.0)
            c->once.head.data[kiln_collide_pair(c, c->acting.data[a])->v[0]] = KILN_NONE;
}

/* Ends of edges that cross: the rows of one side, and of what body they see. */
static uint32_t body_before(const kiln_collide *c, const kiln_surface_pair *pair, int end)
{
    return c->surface.body.data[pair->v[end < 2 ? 2 : 0]];
}

/* The next of what an end sees from i on. */
static uint32_t next_before(const kiln_collide *c, uint32_t i, uint32_t body)
{
    while (i != KILN_NONE && c->surface.body.data[kiln_collide_pair(c, i)->v[3]] != body)
        i = c->once.next.data[i];
    return i;
}

/* S / B. Edges that are near in the material, and repel at less than the thickness, have nothing in
 * common with what their ends see. */
static void cover_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    kiln_collide *c = user;
    for (size_t a = begin; a < end; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        double sum = 0.0, b = c->once.b.data[i];
        if (!is_crossing(c, pair))
            continue;
        for (int k = 0; k < 4 && pair->reach == c->options.thickness; k++) {
            uint32_t body = body_before(c, pair, k);
            for (uint32_t j = c->once.head.data[pair->v[k]];
                 (j = next_before(c, j, body)) != KILN_NONE; j = c->once.next.data[j])
                sum += c->once.shown.data[j] * c->once.b.data[j];
        }
        c->once.covered.data[i] = b > 0.0 ? HALF_SHOWN * sum / b : 1.0;
    }
}

static void take_from_ends(kiln_collide *c, size_t i)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    double take = -2.0 * HALF_SHOWN * c->scale.data[i] * (1.0 - c->once.covered.data[i]);
    for (int k = 0; k < 4 && c->once.covered.data[i] != 0.0; k++) {
        uint32_t body = body_before(c, pair, k);
        for (uint32_t j = c->once.head.data[pair->v[k]]; (j = next_before(c, j, body)) != KILN_NONE;
             j = c->once.next.data[j])
            c->once.taken.data[j] += take * c->once.shown.data[j];
    }
}

static bool still_acts(const kiln_collide *c, size_t i)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    return is_crossing(c, pair) ? c->once.covered.data[i] < 1.0 : kiln_collide_acts(c, i);
}

/* Of what acts, what counts. */
static void sift(kiln_collide *c)
{
    size_t count = 0;
    for (size_t a = 0; a < c->acting.count; a++) {
        uint32_t i = c->acting.data[a];
        if (still_acts(c, i))
            c->acting.data[count++] = i;
        else
            c->counted.data[i] = 0.0;
    }
    c->acting.count = count;
}

/* How far vertices are within reach of something. Until it is known nothing is at a rim. */
static void find_felt(kiln_collide *c)
{
    double *felt = c->once.felt.data;
    for (size_t i = 0; i < c->surface.vertices.count; i++)
        felt[c->surface.vertices.data[i]] = 0.0;
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        double s = c->distance.data[i].d / pair->reach;
        if (is_seen(c, pair))
            felt[pair->v[0]] = fmax(felt[pair->v[0]], 1.0 - s);
    }
    c->once.felt_known = true;
}

void kiln_collide_count_once(kiln_collide *c, const double *x)
{
    if (!c->once.felt_known)
        find_felt(c);
    looker l = {c, kiln_collide_rules(c), kiln_collide_points(x)};
    c->once.part_of.count = 0;
    kiln_parallel_for(c->context, c->acting.count, KILN_COLLIDE_GRAIN, count_chunk, &l);
    if (c->failure == KILN_OK)
        c->failure = list_parts(&l, c, &c->trouble);
    link_all(c);
    kiln_parallel_for(c->context, c->acting.count, KILN_COLLIDE_GRAIN, cover_chunk, c);
    for (size_t a = 0; a < c->acting.count; a++)
        if (is_crossing(c, kiln_collide_pair(c, c->acting.data[a])) &&
            c->once.covered.data[c->acting.data[a]] < 1.0)
            take_from_ends(c, c->acting.data[a]);
    unlink_all(c);
    sift(c);
}

bool kiln_collide_crosses(const kiln_collide *c, size_t i)
{
    return is_crossing(c, kiln_collide_pair(c, i));
}

kiln_repulsion kiln_collide_crossing(const kiln_collide *c, size_t i)
{
    kiln_repulsion b = kiln_repulsion_at(c->distance.data[i].d / kiln_collide_pair(c, i)->reach);
    double r = c->once.covered.data[i], left = 1.0 - r;
    return (kiln_repulsion){b.value * left * left, b.slope * left * (1.0 + r),
                            b.curvature * left * (1.0 + r)};
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
    c->once.felt_known = false; /* the next measure is there */
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
    kiln_collide_once *o = &c->once;
    KILN_TRY(kiln_array_reserve(c->context, &c->found.pairs, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &o->shown, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &o->taken, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &o->covered, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &o->b, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &o->parts, count, error));
    return kiln_array_reserve(c->context, &o->next, count, error);
}

/* The edge of a square of two faces, in the mean over each body. */
static kiln_status measure_cells(kiln_collide *c, kiln_error *error)
{
    const kiln_contact_surface *s = &c->surface;
    uint32_t most = 0;
    for (size_t i = 0; i < s->vertices.count; i++)
        most = s->body.data[s->vertices.data[i]] > most ? s->body.data[s->vertices.data[i]] : most;
    KILN_TRY(kiln_array_reserve(c->context, &c->once.cell, 2 * (size_t)most + 2, error));
    double *area = c->once.cell.data, *faces = area + most + 1;
    memset(area, 0, (2 * (size_t)most + 2) * sizeof *area);
    for (size_t i = 0; i < s->vertices.count; i++)
        area[s->body.data[s->vertices.data[i]]] += s->area.data[s->vertices.data[i]];
    for (size_t f = 0; f < s->faces.count; f += 3)
        faces[s->body.data[s->faces.data[f]]] += 1.0;
    for (size_t b = 0; b <= most; b++)
        area[b] = sqrt(2.0 * area[b] / fmax(faces[b], 1.0));
    return KILN_OK;
}

kiln_status kiln_collide_once_build(kiln_collide *c, kiln_error *error)
{
    size_t slots = c->mesh->table[KILN_ON_VERTEX].used;
    if (!c->options.once)
        return KILN_OK;
    KILN_TRY(measure_cells(c, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->once.rim, slots + 1, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->once.felt, 2 * slots + 1, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->once.edge_rim, c->surface.faces.count + 1, error));
    KILN_TRY(
        kiln_array_reserve(c->context, &c->once.normal, c->surface.faces.count / 3 + 1, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->once.head, slots + 1, error));
    for (size_t v = 0; v < slots; v++)
        c->once.head.data[v] = KILN_NONE;
    return kiln_fans_build(&c->once.fans, c->context, &c->surface.faces, slots, error);
}

void kiln_collide_once_free(kiln_collide *c)
{
    kiln_collide_once *o = &c->once;
    kiln_fans_free(&o->fans, c->context);
    kiln_array_free(c->context, &o->cell);
    kiln_array_free(c->context, &o->rim);
    kiln_array_free(c->context, &o->edge_rim);
    kiln_array_free(c->context, &o->felt);
    kiln_array_free(c->context, &o->normal);
    kiln_array_free(c->context, &o->shown);
    kiln_array_free(c->context, &o->taken);
    kiln_array_free(c->context, &o->covered);
    kiln_array_free(c->context, &o->b);
    kiln_array_free(c->context, &o->parts);
    kiln_array_free(c->context, &o->part_of);
    kiln_array_free(c->context, &o->head);
    kiln_array_free(c->context, &o->next);
}

size_t kiln_collide_once_bytes(const kiln_collide *c)
{
    const kiln_collide_once *o = &c->once;
    return kiln_fans_bytes(&o->fans) + o->parts.capacity +
           (o->cell.capacity + o->rim.capacity + o->edge_rim.capacity + o->felt.capacity +
            3 * o->normal.capacity + o->shown.capacity + o->taken.capacity + o->covered.capacity +
            o->b.capacity) *
               sizeof(double) +
           (o->part_of.capacity + o->head.capacity + o->next.capacity) * sizeof(uint32_t);
}

#include "step/collide.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "contact/ccd.h"
#include "contact/repulsion.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 512 };
/* Of the distance at the begin of a Newton step, kept all along it. */
#define KEPT 0.1
/* Of its reach: nearer is contact. */
#define TOUCHING 1e-6
/* Of their reach: pairs nearer than this are expected to act in the solve that comes. */
#define EXPECTED 1.5
/* Room of a vertex: thickness, and this part of its way. */
#define ROOM 0.5
/* Width of what is watched, in terms of the room of the vertex that has most. */
#define WATCH 0.3
/* Squared sine below which edges count less, down to LEAST_PARALLEL: where they are parallel their
 * distance has a kink. Vertices against faces repel there too. */
#define PARALLEL       0.03
#define LEAST_PARALLEL 1e-3
#define THICKNESS      0.1 /* of the mean edge */

static const kiln_vec3 *points(const double *x)
{
    return (const kiln_vec3 *)(const void *)x;
}

static void add_at(double *g, uint32_t v, double s, kiln_vec3 d)
{
    g[3 * (size_t)v] += s * d.x;
    g[3 * (size_t)v + 1] += s * d.y;
    g[3 * (size_t)v + 2] += s * d.z;
}

static const kiln_surface_pair *pair_at(const kiln_collide *c, size_t i)
{
    return &c->found.pairs.data[i];
}

/* Distances at x. */

typedef struct evaluation {
    kiln_collide *collide;
    const kiln_vec3 *x, *dx;
    double kept;           /* of the distance at x, all along the way */
    const uint32_t *items; /* pairs, NULL: all */
} evaluation;

static size_t item_of(const evaluation *e, size_t i)
{
    return e->items ? e->items[i] : i;
}

static bool boxes_apart(const kiln_surface_pair *pair, const kiln_vec3 *x, double by)
{
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = x[pair->v[k]];
    kiln_box a = kiln_box_of(p, (int)pair->split);
    kiln_box b = kiln_box_of(p + pair->split, 4 - (int)pair->split);
    return a.low.x - b.high.x >= by || b.low.x - a.high.x >= by || a.low.y - b.high.y >= by ||
           b.low.y - a.high.y >= by || a.low.z - b.high.z >= by || b.low.z - a.high.z >= by;
}

static void distance_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const evaluation *e = user;
    for (size_t i = begin; i < end; i++) {
        size_t item = item_of(e, i);
        const kiln_surface_pair *pair = pair_at(e->collide, item);
        double watched = EXPECTED * pair->reach + e->collide->watch;
        kiln_pair_distance *out = &e->collide->distance.data[item];
        if (boxes_apart(pair, e->x, watched))
            out->d = INFINITY;
        else
            *out = kiln_surface_pair_distance(pair, e->x);
    }
}

/* The farthest that a vertex of the surface is from where it was when all were measured. */
static double drift(const kiln_collide *c, const double *x, const double *dx)
{
    double most = 0.0;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        kiln_vec3 way = kiln_v3_sub(points(x)[v], points(c->measured.data)[v]);
        most = fmax(most, kiln_v3_norm2(dx ? kiln_v3_add(way, points(dx)[v]) : way));
    }
    return sqrt(most);
}

static void measure_all(kiln_collide *c, const double *x)
{
    evaluation e = {.collide = c, .x = points(x)};
    kiln_parallel_for(c->context, c->found.pairs.count, GRAIN, distance_chunk, &e);
    c->watched.count = 0;
    for (size_t i = 0; i < c->found.pairs.count; i++)
        if (c->distance.data[i].d < EXPECTED * pair_at(c, i)->reach + c->watch)
            c->watched.data[c->watched.count++] = (uint32_t)i;
        else
            c->distance.data[i].d = INFINITY;
    memcpy(c->measured.data, x, 3 * c->given->rows * sizeof(double));
}

/* Distances of the pairs that are watched; all others are farther than EXPECTED of their reach, as
 * long as no vertex has drifted by half the width of the watch. */
static void measure(kiln_collide *c, const double *x)
{
    double began = kiln_wall_seconds();
    if (2.0 * drift(c, x, NULL) > c->watch) {
        measure_all(c, x);
    } else {
        evaluation e = {.collide = c, .x = points(x), .items = c->watched.data};
        kiln_parallel_for(c->context, c->watched.count, GRAIN, distance_chunk, &e);
    }
    c->seconds += kiln_wall_seconds() - began;
}

static bool acts(const kiln_collide *c, size_t i)
{
    return c->distance.data[i].d < pair_at(c, i)->reach;
}

/* Of pair i; multiplied by its reach, scale and 1 / reach these are J, N and N/m. */
static kiln_repulsion repulsion_of(const kiln_collide *c, size_t i)
{
    return kiln_repulsion_at(c->distance.data[i].d / pair_at(c, i)->reach);
}

/* N */
static double load_of(const kiln_collide *c, size_t i)
{
    return acts(c, i) ? -c->scale.data[i] * repulsion_of(c, i).slope : 0.0;
}

/* The term. */

static double repulsion_value(void *self, const double *x)
{
    kiln_collide *c = self;
    double sum = 0.0;
    measure(c, x);
    for (size_t k = 0; k < c->watched.count; k++) {
        size_t i = c->watched.data[k];
        if (acts(c, i))
            sum += c->scale.data[i] * pair_at(c, i)->reach * repulsion_of(c, i).value;
    }
    return sum;
}

/* H += m (x) w w', m 3x3 by its upper half, over the pairs of four vertices. Without blocks for
 * those the diagonal 4 w_k^2 m, which is no smaller. */
static void add_blocks(kiln_bsr *H, const uint32_t v[4], const double w[4], const double m[3][3],
                       bool coupled)
{
    double block[3][3];
    for (int k = 0; k < 4; k++)
        for (int l = k; l < 4; l++) {
            double factor = coupled ? w[k] * w[l] : k == l ? 4.0 * w[k] * w[k] : 0.0;
            if (factor == 0.0)
                continue;
            for (int r = 0; r < 3; r++)
                for (int s = 0; s < 3; s++)
                    block[r][s] = factor * m[r][s];
            kiln_bsr_add(H, v[k], v[l], (const double(*)[3])block);
        }
}

/* Of the Hessian only the part along the normal: what the turning of the normal adds is negative
 * where the pair repels. */
static void repulsion_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_collide *c = self;
    measure(c, x);
    for (size_t w = 0; w < c->watched.count; w++) {
        size_t i = c->watched.data[w];
        if (!acts(c, i))
            continue;
        const kiln_surface_pair *pair = pair_at(c, i);
        const kiln_pair_distance *at = &c->distance.data[i];
        kiln_repulsion b = repulsion_of(c, i);
        double slope = scale * c->scale.data[i] * b.slope;
        for (int k = 0; k < 4; k++)
            add_at(g, pair->v[k], slope * at->weight[k], at->normal);
        if (!H)
            continue;
        const double n[3] = {at->normal.x, at->normal.y, at->normal.z};
        double curvature = scale * c->scale.data[i] * b.curvature / pair->reach, m[3][3];
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
                m[r][s] = curvature * n[r] * n[s];
        add_blocks(H, pair->v, at->weight, (const double(*)[3])m, c->coupled.data[i]);
    }
}

static kiln_cliques repulsion_cliques(void *self)
{
    const kiln_collide *c = self;
    return (kiln_cliques){.count = c->cliques.count / 4, .size = 4, .row = c->cliques.data};
}

/* Detection. */

static double way_of(const evaluation *e, const kiln_surface_pair *pair, double best)
{
    kiln_vec3 begin[4], end[4];
    for (int k = 0; k < 4; k++) {
        begin[k] = e->x[pair->v[k]];
        end[k] = kiln_v3_madd(begin[k], best, e->dx[pair->v[k]]);
    }
    kiln_box a =
        kiln_box_join(kiln_box_of(begin, (int)pair->split), kiln_box_of(end, (int)pair->split));
    kiln_box b = kiln_box_join(kiln_box_of(begin + pair->split, 4 - (int)pair->split),
                               kiln_box_of(end + pair->split, 4 - (int)pair->split));
    double margin = e->kept * pair->reach;
    a.low = kiln_v3_sub(a.low, kiln_v3(margin, margin, margin));
    a.high = kiln_v3_add(a.high, kiln_v3(margin, margin, margin));
    if (!kiln_box_overlap(a, b))
        return best;
    double gap = e->kept * fmin(kiln_surface_pair_distance(pair, e->x).d, pair->reach);
    double t = pair->split == 1 ? kiln_ccd_vertex_face(begin, end, gap)
                                : kiln_ccd_edge_edge(begin, end, gap);
    return isinf(t) ? best : t * best;
}

static void way_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const evaluation *e = user;
    double best = 1.0;
    for (size_t i = begin; i < end && best > 0.0; i++)
        best = way_of(e, pair_at(e->collide, item_of(e, i)), best);
    e->collide->least.data[chunk] = best;
}

static double detect(kiln_collide *c, const double *x, const double *dx, double kept)
{
    evaluation e = {.collide = c, .x = points(x), .dx = points(dx), .kept = kept};
    double began = kiln_wall_seconds();
    bool few = 2.0 * fmax(drift(c, x, NULL), drift(c, x, dx)) <= c->watch;
    size_t count = few ? c->watched.count : c->found.pairs.count;
    e.items = few ? c->watched.data : NULL;
    kiln_parallel_for(c->context, count, GRAIN, way_chunk, &e);
    size_t chunks = kiln_chunk_count(count, GRAIN);
    double least = 1.0;
    for (size_t i = 0; i < chunks; i++)
        least = fmin(least, c->least.data[i]);
    c->seconds += kiln_wall_seconds() - began;
    return least;
}

/* Until the first coordinate leaves its interval. */
static double leave(double x, double dx, double low, double high)
{
    double end = x + dx;
    if (end > high)
        return (high - x) / dx;
    return end < low ? (low - x) / dx : 1.0;
}

static double confine(const kiln_collide *c, const double *x, const double *dx)
{
    double least = 1.0;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        size_t v = c->surface.vertices.data[i];
        const kiln_box *box = &c->boxes.data[v];
        least = fmin(least, leave(x[3 * v], dx[3 * v], box->low.x, box->high.x));
        least = fmin(least, leave(x[3 * v + 1], dx[3 * v + 1], box->low.y, box->high.y));
        least = fmin(least, leave(x[3 * v + 2], dx[3 * v + 2], box->low.z, box->high.z));
    }
    return fmax(least, 0.0);
}

static bool is_inside(const kiln_collide *c, uint32_t v, kiln_vec3 at)
{
    return kiln_box_overlap((kiln_box){at, at}, c->boxes.data[v]);
}

static double repulsion_max_step(void *self, const double *x, const double *dx)
{
    kiln_collide *c = self;
    double room = confine(c, x, dx);
    for (size_t i = 0; i < c->surface.vertices.count && room < 1.0; i++) {
        uint32_t v = c->surface.vertices.data[i];
        if (!is_inside(c, v, kiln_v3_add(points(x)[v], points(dx)[v])))
            c->tight.data[v] = true;
    }
    if (room < 1.0)
        c->confined = true;
    if (room == 0.0)
        return 0.0;
    return fmin(room, detect(c, x, dx, KEPT));
}

/* Friction. */

static kiln_vec3 velocity_of(const kiln_collide *c, const kiln_rub *rub, const double *x)
{
    kiln_vec3 v = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++) {
        kiln_vec3 way = kiln_v3_sub(points(x)[rub->v[k]], points(c->origin)[rub->v[k]]);
        v = kiln_v3_madd(v, rub->weight[k] / c->tau, way);
    }
    return kiln_v3_madd(v, -kiln_v3_dot(v, rub->normal), rub->normal);
}

static double friction_value(void *self, const double *x)
{
    const kiln_collide *c = self;
    double sum = 0.0;
    for (size_t i = 0; i < c->rubs.count; i++) {
        const kiln_rub *rub = &c->rubs.data[i];
        double speed = kiln_v3_norm(velocity_of(c, rub, x));
        sum += c->options.friction * rub->load * c->tau * kiln_slip_at(speed, c->slip_speed).value;
    }
    return sum;
}

static void friction_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_collide *c = self;
    for (size_t i = 0; i < c->rubs.count; i++) {
        kiln_rub *rub = &c->rubs.data[i];
        kiln_vec3 v = velocity_of(c, rub, x);
        double secant = kiln_slip_at(kiln_v3_norm(v), c->slip_speed).secant;
        double weight = scale * c->options.friction * rub->load * secant;
        for (int k = 0; k < 4; k++)
            add_at(g, rub->v[k], weight * rub->weight[k], v);
        if (!H)
            continue;
        kiln_vec3 turn = kiln_slip_turn(&rub->memory, v, secant, c->slip_speed);
        kiln_vec3 along = kiln_v3_normalize(v);
        const double n[3] = {rub->normal.x, rub->normal.y, rub->normal.z};
        const double p[3] = {turn.x, turn.y, turn.z}, q[3] = {along.x, along.y, along.z};
        double m[3][3];
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
                m[r][s] =
                    weight / c->tau * ((r == s) - n[r] * n[s] - 0.5 * (p[r] * q[s] + q[r] * p[s]));
        add_blocks(H, rub->v, rub->weight, (const double(*)[3])m, true);
    }
}

/* What presses now; distances must have been measured. */
static kiln_status lag_friction(kiln_collide *c, kiln_error *error)
{
    c->rubs.count = 0;
    if (c->options.friction == 0.0)
        return KILN_OK;
    for (size_t w = 0; w < c->watched.count; w++) {
        size_t i = c->watched.data[w];
        if (!acts(c, i))
            continue;
        const kiln_pair_distance *at = &c->distance.data[i];
        kiln_rub rub = {.pair = (uint32_t)i, .normal = at->normal, .load = load_of(c, i)};
        memcpy(rub.v, pair_at(c, i)->v, sizeof rub.v);
        memcpy(rub.weight, at->weight, sizeof rub.weight);
        KILN_TRY(kiln_array_push(c->context, &c->rubs, rub, error));
    }
    return KILN_OK;
}

double kiln_collide_change(kiln_collide *c, const double *x)
{
    if (c->options.friction == 0.0)
        return 0.0;
    double change = 0.0, sum = 0.0;
    measure(c, x);
    for (size_t w = 0; w < c->watched.count; w++)
        sum += load_of(c, c->watched.data[w]);
    change = sum; /* of those that friction does not know */
    for (size_t i = 0; i < c->rubs.count; i++) {
        double load = load_of(c, c->rubs.data[i].pair);
        change += fabs(load - c->rubs.data[i].load) - load;
        sum += fmax(c->rubs.data[i].load - load, 0.0);
    }
    return sum > 0.0 ? change / sum : 0.0;
}

/* Setting up. */

void kiln_collide_init(kiln_collide *collide, kiln_context *context,
                       const kiln_contact_options *options, double slip_speed)
{
    *collide = (kiln_collide){
        .context = context,
        .options = *options,
        .thickness = options->thickness,
        .slip_speed = slip_speed,
        .surface = {.context = context},
        .found = {.context = context},
        .repulsion = {.name = "repulsion",
                      .self = collide,
                      .weight = 1.0,
                      .value = repulsion_value,
                      .add = repulsion_add,
                      .max_step = repulsion_max_step,
                      .cliques = repulsion_cliques},
        .friction = {.name = "rubbing",
                     .self = collide,
                     .weight = 1.0,
                     .value = friction_value,
                     .add = friction_add},
    };
}

void kiln_collide_free(kiln_collide *c)
{
    kiln_contact_surface_free(&c->surface);
    kiln_surface_pairs_free(&c->found);
    kiln_array_free(c->context, &c->modulus);
    kiln_array_free(c->context, &c->boxes);
    kiln_array_free(c->context, &c->room);
    kiln_array_free(c->context, &c->tight);
    kiln_array_free(c->context, &c->distance);
    kiln_array_free(c->context, &c->coupled);
    kiln_array_free(c->context, &c->watched);
    kiln_array_free(c->context, &c->measured);
    kiln_array_free(c->context, &c->scale);
    kiln_array_free(c->context, &c->least);
    kiln_array_free(c->context, &c->cliques);
    kiln_array_free(c->context, &c->wanted);
    kiln_array_free(c->context, &c->rubs);
}

size_t kiln_collide_bytes(const kiln_collide *c)
{
    return kiln_contact_surface_bytes(&c->surface) + kiln_surface_pairs_bytes(&c->found) +
           (c->modulus.capacity + c->scale.capacity + c->least.capacity + c->measured.capacity +
            c->room.capacity) *
               sizeof(double) +
           c->boxes.capacity * sizeof(kiln_box) +
           c->distance.capacity * sizeof(kiln_pair_distance) + c->coupled.capacity +
           c->tight.capacity +
           (c->cliques.capacity + c->wanted.capacity + c->watched.capacity) * sizeof(uint32_t) +
           c->rubs.capacity * sizeof(kiln_rub);
}

void kiln_collide_forget(kiln_collide *c)
{
    c->cliques.count = 0;
    c->repulsion.revision++;
}

/* Mean over the tets at each vertex. */
static kiln_status spread_modulus(kiln_collide *c, const double *modulus, kiln_error *error)
{
    const kiln_mesh *mesh = c->mesh;
    size_t slots = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(c->context, &c->modulus, slots, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->scale, slots, error)); /* first their counts */
    memset(c->modulus.data, 0, slots * sizeof(double));
    memset(c->scale.data, 0, slots * sizeof(double));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; kiln_tet_live(mesh, t) && k < 4; k++) {
            c->modulus.data[mesh->tet[t].v[k]] += modulus[t];
            c->scale.data[mesh->tet[t].v[k]] += 1.0;
        }
    for (size_t v = 0; v < slots; v++)
        if (c->scale.data[v] > 0.0)
            c->modulus.data[v] /= c->scale.data[v];
    return KILN_OK;
}

kiln_status kiln_collide_build(kiln_collide *c, const kiln_mesh *mesh, const double *modulus,
                               kiln_error *error)
{
    c->mesh = mesh;
    c->found.pairs.count = c->watched.count = c->rubs.count = 0;
    kiln_collide_forget(c);
    if (!kiln_collide_is_used(c))
        return KILN_OK;
    KILN_TRY(kiln_contact_surface_build(&c->surface, mesh, error));
    if (c->thickness == 0.0)
        c->thickness = THICKNESS * c->surface.mean_edge;
    size_t slots = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(c->context, &c->boxes, slots, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->room, slots, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->tight, slots, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->measured, 3 * slots, error));
    return spread_modulus(c, modulus, error);
}

/* Pairs for a step. */

static void place_boxes(kiln_collide *c, const double *x)
{
    const kiln_constraints *given = c->given;
    double longest = 0.0;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        kiln_vec3 begin = points(c->begin)[v], guess = points(c->guess)[v];
        kiln_box box = kiln_box_grow((kiln_box){begin, begin}, guess);
        box = kiln_box_grow(box, points(x)[v]);
        if (given->held[v] == 7 && kiln_v3_finite(given->target[v]))
            box = kiln_box_grow(box, given->target[v]);
        double way = kiln_v3_norm(kiln_v3_sub(guess, begin)),
               r = c->room.data[v] * (c->thickness + ROOM * way);
        longest = fmax(longest, way);
        c->boxes.data[v] = (kiln_box){kiln_v3_sub(box.low, kiln_v3(r, r, r)),
                                      kiln_v3_add(box.high, kiln_v3(r, r, r))};
    }
    c->watch = WATCH * (c->thickness + ROOM * longest);
}

static double side_modulus(const kiln_collide *c, const uint32_t *v, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < count; k++)
        sum += c->modulus.data[v[k]];
    return sum / count;
}

/* 1 for edges that cross at an angle. */
static double skewness(const kiln_surface_pair *pair, const kiln_vec3 *x)
{
    if (pair->split == 1)
        return 1.0;
    kiln_vec3 a = kiln_v3_sub(x[pair->v[1]], x[pair->v[0]]);
    kiln_vec3 b = kiln_v3_sub(x[pair->v[3]], x[pair->v[2]]);
    double sine2 = kiln_v3_norm2(kiln_v3_cross(a, b)), y;
    y = fmin(sine2 / (PARALLEL * kiln_v3_norm2(a) * kiln_v3_norm2(b)), 1.0);
    return fmax(y * (2.0 - y), LEAST_PARALLEL);
}

static int by_vertices(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    for (int k = 0; k < 4; k++)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

static bool has_clique(const kiln_collide *c, const uint32_t v[4])
{
    return c->cliques.count &&
           bsearch(v, c->cliques.data, c->cliques.count / 4, 4 * sizeof *v, by_vertices);
}

/* The pairs that are expected to act, in order. */
static kiln_status list_cliques(kiln_collide *c, size_t expected, kiln_error *error)
{
    c->wanted.count = 0;
    KILN_TRY(kiln_array_reserve(c->context, &c->wanted, 4 * expected, error));
    for (size_t i = 0; i < c->found.pairs.count; i++)
        for (int k = 0; c->coupled.data[i] && k < 4; k++)
            c->wanted.data[c->wanted.count++] = pair_at(c, i)->v[k];
    if (expected)
        qsort(c->wanted.data, expected, 4 * sizeof *c->wanted.data, by_vertices);
    return KILN_OK;
}

static bool is_same(const kiln_u32_array *a, const kiln_u32_array *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->data, b->data, a->count * sizeof *a->data) == 0);
}

/* Within a step the matrix keeps its pattern, and the solver its analysis, while the pairs that are
 * expected to act are among those it was made for and those not many more. A step begins with the
 * pattern of its own pairs, since a run that is resumed knows no others; the analysis is kept when
 * that is the pattern there was. */
static kiln_status couple(kiln_collide *c, bool begins, kiln_error *error)
{
    size_t expected = 0, known = 0;
    for (size_t i = 0; i < c->found.pairs.count; i++) {
        const kiln_surface_pair *pair = pair_at(c, i);
        bool near = c->distance.data[i].d < EXPECTED * pair->reach;
        c->coupled.data[i] = near;
        expected += near;
        known += near && has_clique(c, pair->v);
    }
    if (begins || known < expected || c->cliques.count / 4 > 4 * expected + 64) {
        KILN_TRY(list_cliques(c, expected, error));
        if (!is_same(&c->wanted, &c->cliques)) {
            kiln_u32_array swap = c->cliques;
            c->cliques = c->wanted;
            c->wanted = swap;
            c->repulsion.revision++;
        }
    }
    for (size_t i = 0; i < c->found.pairs.count; i++)
        c->coupled.data[i] = c->coupled.data[i] || has_clique(c, pair_at(c, i)->v);
    return KILN_OK;
}

static kiln_status make_room(kiln_collide *c, kiln_error *error)
{
    size_t count = c->found.pairs.count;
    KILN_TRY(kiln_array_reserve(c->context, &c->distance, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->coupled, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->watched, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->scale, count, error));
    return kiln_array_reserve(c->context, &c->least, kiln_chunk_count(count, GRAIN), error);
}

static kiln_status find_pairs(kiln_collide *c, const double *x, kiln_error *error)
{
    kiln_pair_rules rules = {.bodies = c->options.bodies,
                             .self = c->options.self,
                             .thickness = c->thickness,
                             .material_tells = c->options.material_tells,
                             .held = c->given->held};
    double began = kiln_wall_seconds();
    place_boxes(c, x);
    KILN_TRY(kiln_surface_pairs_find(&c->found, &c->surface, &rules, c->boxes.data, c->mesh->u,
                                     points(x), error));
    c->seconds += kiln_wall_seconds() - began;
    c->confined = false;
    memset(c->tight.data, 0, c->mesh->table[KILN_ON_VERTEX].used);
    return make_room(c, error);
}

/* Makes the pairs ready for a solve from x on. */
static kiln_status weigh_pairs(kiln_collide *c, const double *x, bool begins, kiln_error *error)
{
    for (size_t i = 0; i < c->found.pairs.count; i++) {
        const kiln_surface_pair *pair = pair_at(c, i);
        double modulus = fmin(side_modulus(c, pair->v, pair->split),
                              side_modulus(c, pair->v + pair->split, 4 - pair->split));
        c->scale.data[i] = c->options.stiffness * modulus * pair->area * skewness(pair, points(x));
    }
    measure_all(c, x);
    KILN_TRY(couple(c, begins, error));
    return lag_friction(c, error);
}

kiln_status kiln_collide_begin(kiln_collide *c, const kiln_collide_start *start, kiln_error *error)
{
    c->given = start->given;
    c->begin = start->x;
    c->guess = start->guess;
    c->origin = start->origin;
    c->tau = start->tau;
    c->seconds = 0.0;
    for (size_t v = 0; v < c->mesh->table[KILN_ON_VERTEX].used; v++)
        c->room.data[v] = 1.0;
    KILN_TRY(find_pairs(c, c->begin, error));
    return weigh_pairs(c, c->begin, true, error);
}

kiln_status kiln_collide_renew(kiln_collide *c, const double *x, kiln_error *error)
{
    bool enough = !c->confined;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        if (c->tight.data[v] || !is_inside(c, v, points(x)[v])) {
            c->room.data[v] *= 2.0;
            enough = false;
        }
    }
    if (!enough)
        KILN_TRY(find_pairs(c, x, error));
    return weigh_pairs(c, x, false, error);
}

bool kiln_collide_has_room(const kiln_collide *c, const double *x)
{
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        if (!is_inside(c, v, points(x)[v]))
            return false;
    }
    return true;
}

double kiln_collide_way(kiln_collide *c, const double *x, const double *to, double *scratch)
{
    size_t size = 3 * c->given->rows;
    for (size_t i = 0; i < size; i++)
        scratch[i] = to[i] - x[i];
    return fmin(confine(c, x, scratch), detect(c, x, scratch, KEPT));
}

bool kiln_collide_is_straight(kiln_collide *c, const double *x, double *scratch)
{
    for (size_t i = 0; i < 3 * c->given->rows; i++)
        scratch[i] = x[i] - c->begin[i];
    return detect(c, c->begin, scratch, 0.0) >= 1.0;
}

size_t kiln_collide_count(kiln_collide *c, const double *x)
{
    size_t count = 0;
    measure(c, x);
    for (size_t w = 0; w < c->watched.count; w++)
        count += acts(c, c->watched.data[w]);
    return count;
}

uint32_t kiln_collide_touching(kiln_collide *c, const double *x)
{
    measure(c, x);
    for (size_t w = 0; w < c->watched.count; w++) {
        size_t i = c->watched.data[w];
        if (!(c->distance.data[i].d > TOUCHING * pair_at(c, i)->reach))
            return pair_at(c, i)->v[0];
    }
    return KILN_NONE;
}

double kiln_collide_energy(kiln_collide *c, const double *x)
{
    return repulsion_value(c, x);
}

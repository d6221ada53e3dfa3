/* The pairs of a solve: the room of vertices, what may come near in it, how strongly it repels. */
#include "base/clock.h"
#include "base/parallel.h"
#include "step/collide_impl.h"

#include <stdlib.h>
#include <string.h>

/* Room of a vertex: thickness, and this part of its way. */
#define ROOM 0.5
/* Width of what is watched, in terms of the room of the vertex that has most. */
#define WATCH 0.3
/* Squared sine below which edges count less, down to LEAST_PARALLEL: where they are parallel their
 * distance has a kink. Vertices against faces repel there too. */
#define PARALLEL       0.03
#define LEAST_PARALLEL 1e-3

bool kiln_collide_is_inside(const kiln_collide *c, uint32_t v, kiln_vec3 at)
{
    return kiln_box_overlap((kiln_box){at, at}, c->boxes.data[v]);
}

bool kiln_collide_has_room(const kiln_collide *c, const double *x)
{
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        if (!kiln_collide_is_inside(c, v, kiln_collide_points(x)[v]))
            return false;
    }
    return true;
}

static void place_boxes(kiln_collide *c, const double *x)
{
    const kiln_constraints *given = c->given;
    double longest = 0.0;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        kiln_vec3 begin = kiln_collide_points(c->begin)[v],
                  guess = kiln_collide_points(c->guess)[v];
        kiln_box box = kiln_box_grow((kiln_box){begin, begin}, guess);
        box = kiln_box_grow(box, kiln_collide_points(x)[v]);
        if (given->held[v] == 7 && kiln_v3_finite(given->target[v]))
            box = kiln_box_grow(box, given->target[v]);
        double way = kiln_v3_norm(kiln_v3_sub(guess, begin)),
               r = c->room.data[v] * (c->options.thickness + ROOM * way);
        longest = fmax(longest, way);
        c->boxes.data[v] = (kiln_box){kiln_v3_sub(box.low, kiln_v3(r, r, r)),
                                      kiln_v3_add(box.high, kiln_v3(r, r, r))};
    }
    c->watch = WATCH * (c->options.thickness + ROOM * longest);
}

static kiln_status make_room(kiln_collide *c, kiln_error *error)
{
    size_t count = c->found.pairs.count;
    KILN_TRY(kiln_array_reserve(c->context, &c->distance, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->coupled, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->watched, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->scale, count, error));
    KILN_TRY(kiln_kept_values_reserve(&c->kept, c->context, 3 * c->given->rows, count, error));
    return kiln_array_reserve(c->context, &c->least, kiln_chunk_count(count, KILN_COLLIDE_GRAIN),
                              error);
}

static kiln_status find_pairs(kiln_collide *c, const double *x, kiln_error *error)
{
    kiln_pair_rules rules = {.bodies = c->options.bodies,
                             .self = c->options.self,
                             .thickness = c->options.thickness,
                             .material_tells = c->options.material_tells,
                             .held = c->given->held};
    double began = kiln_wall_seconds();
    place_boxes(c, x);
    KILN_TRY(kiln_surface_pairs_find(&c->found, &c->surface, &rules, c->boxes.data, c->mesh->u,
                                     kiln_collide_points(x), error));
    c->seconds += kiln_wall_seconds() - began;
    c->confined = false;
    memset(c->tight.data, 0, c->mesh->table[KILN_ON_VERTEX].used);
    return make_room(c, error);
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
            c->wanted.data[c->wanted.count++] = kiln_collide_pair(c, i)->v[k];
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
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        bool near = c->distance.data[i].d < KILN_COLLIDE_EXPECTED * pair->reach;
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
        c->coupled.data[i] = c->coupled.data[i] || has_clique(c, kiln_collide_pair(c, i)->v);
    return KILN_OK;
}

/* Makes the pairs ready for a solve from x on. */
static kiln_status weigh_pairs(kiln_collide *c, const double *x, bool begins, kiln_error *error)
{
    c->state++;
    for (size_t i = 0; i < c->found.pairs.count; i++) {
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        double modulus = fmin(side_modulus(c, pair->v, pair->split),
                              side_modulus(c, pair->v + pair->split, 4 - pair->split));
        c->scale.data[i] =
            c->options.stiffness * modulus * pair->area * skewness(pair, kiln_collide_points(x));
    }
    kiln_collide_measure_all(c, x);
    KILN_TRY(couple(c, begins, error));
    return kiln_collide_lag_friction(c, error);
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
        if (c->tight.data[v] || !kiln_collide_is_inside(c, v, kiln_collide_points(x)[v])) {
            c->room.data[v] *= 2.0;
            enough = false;
        }
    }
    if (!enough)
        KILN_TRY(find_pairs(c, x, error));
    return weigh_pairs(c, x, false, error);
}

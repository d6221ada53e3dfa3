/* The pairs of a solve: the room of vertices, what may come near in it, how strongly it repels. */
#include "base/clock.h"
#include "base/parallel.h"
#include "contact/repulsion.h"
#include "step/collide_impl.h"

#include <stdlib.h>
#include <string.h>

/* Of the thickness: room beside a way, in which no new pairs are needed. */
#define ROOM 0.5
enum { MOVER_GRAIN = 256 };
/* Squared sine below which edges count less, down to LEAST_PARALLEL: where they are parallel their
 * distance has a kink, at which a solve would not end if its force were more than the tolerance
 * (1e-3: cubes that meet face to face took 860 iterations for 12). Vertices against faces repel
 * there too. */
#define PARALLEL       0.03
#define LEAST_PARALLEL 1e-5
/* Of what edges counted when a solve began: where some count less by their angles of now, these are
 * taken again, after so many matrices, and so often. */
#define TURNED 0.5
enum { PATIENCE = 6, TURNS = 4 };

typedef struct movers_job {
    const kiln_collide *collide;
    const kiln_vec3 *x, *dx; /* dx may be NULL */
    double part;
    bool out[KILN_MAX_THREADS]; /* [worker] one is not in its box */
} movers_job;

static void room_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    movers_job *job = user;
    bool out = job->out[worker];
    for (size_t i = begin; i < end && !out; i++) {
        uint32_t v = kiln_collide_mover(job->collide, i);
        kiln_vec3 at = job->dx ? kiln_v3_add(job->x[v], job->dx[v]) : job->x[v];
        out = !kiln_box_overlap((kiln_box){at, at}, job->collide->boxes.data[v]);
    }
    job->out[worker] = out;
}

bool kiln_collide_has_room(const kiln_collide *c, const double *x, const double *dx)
{
    movers_job job = {
        .collide = c, .x = kiln_collide_points(x), .dx = dx ? kiln_collide_points(dx) : NULL};
    kiln_parallel_for(c->context, kiln_collide_mover_count(c), MOVER_GRAIN, room_chunk, &job);
    for (int w = 0; w < KILN_MAX_THREADS; w++)
        if (job.out[w])
            return false;
    return true;
}

static void box_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const movers_job *job = user;
    const kiln_collide *c = job->collide;
    double r = ROOM * c->options.thickness;
    for (size_t i = begin; i < end; i++) {
        uint32_t v = kiln_collide_mover(c, i);
        kiln_box box = {job->x[v], job->x[v]};
        if (job->dx)
            box = kiln_box_grow(box, kiln_v3_madd(job->x[v], job->part, job->dx[v]));
        c->boxes.data[v] = (kiln_box){kiln_v3_sub(box.low, kiln_v3(r, r, r)),
                                      kiln_v3_add(box.high, kiln_v3(r, r, r))};
    }
}

/* About the way of each vertex. */
static void place_boxes(kiln_collide *c, const double *x, const double *dx, double part)
{
    movers_job job = {.collide = c,
                      .x = kiln_collide_points(x),
                      .dx = dx ? kiln_collide_points(dx) : NULL,
                      .part = part};
    kiln_parallel_for(c->context, kiln_collide_mover_count(c), MOVER_GRAIN, box_chunk, &job);
}

void kiln_collide_stay(kiln_collide *c, const double *x)
{
    place_boxes(c, x, NULL, 0.0);
}

kiln_status kiln_collide_make_room(kiln_collide *c, size_t count, kiln_error *error)
{
    if (c->options.once)
        KILN_TRY(kiln_collide_once_room(c, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->found.pairs, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->parts, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->distance, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->counted, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->before, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->calm, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->acting, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->scale, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->rub, count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->coupled, count, error));
    return kiln_array_reserve(c->context, &c->push, 2 * count, error);
}

static kiln_status make_room(kiln_collide *c, kiln_error *error)
{
    size_t count = c->found.pairs.count;
    KILN_TRY(kiln_collide_make_room(c, count, error));
    KILN_TRY(kiln_kept_values_reserve(&c->kept, c->context, 3 * c->given->rows, count, error));
    KILN_TRY(kiln_kept_values_reserve(&c->totals, c->context, 3 * c->given->rows, 1, error));
    return kiln_array_reserve(c->context, &c->least, kiln_chunk_count(count, KILN_COLLIDE_GRAIN),
                              error);
}

static int by_vertices(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    for (int k = 0; k < 4; k++)
        if (a[k] != b[k])
            return a[k] < b[k] ? -1 : 1;
    return 0;
}

static int by_pair(const void *left, const void *right)
{
    const kiln_surface_pair *a = left, *b = right;
    int order = by_vertices(a->v, b->v); /* a vertex and a face may have those of two edges */
    return order ? order : (a->split > b->split) - (a->split < b->split);
}

/* They come last, whether they are found or not. */
static kiln_status add_begun(kiln_collide *c, kiln_error *error)
{
    size_t count = 0, all = c->found.pairs.count;
    kiln_surface_pair *pair = c->found.pairs.data;
    if (c->begun.count == 0)
        return KILN_OK;
    for (size_t i = 0; i < all; i++)
        if (!bsearch(&pair[i], c->begun.data, c->begun.count, sizeof *pair, by_pair))
            pair[count++] = pair[i];
    c->found.pairs.count = count;
    for (size_t i = 0; i < c->begun.count; i++)
        KILN_TRY(kiln_array_push(c->context, &c->found.pairs, c->begun.data[i], error));
    return KILN_OK;
}

kiln_pair_rules kiln_collide_rules(const kiln_collide *c)
{
    return (kiln_pair_rules){.bodies = c->options.bodies,
                             .self = c->options.self,
                             .table = c->options.pairs,
                             .thickness = c->options.thickness,
                             .clearance = c->options.clearance,
                             .begin = kiln_collide_points(c->start),
                             .material_tells = c->options.material_tells,
                             .held = c->given->held,
                             .walls = c->options.walls ? &c->walls : NULL,
                             .first_wall = c->first_wall,
                             .skin =
                                 1.7321 * ROOM * c->options.thickness}; /* the diagonal of a cube */
}

static kiln_status find_pairs(kiln_collide *c, const double *x, const double *dx, double part,
                              kiln_error *error)
{
    kiln_pair_rules rules = kiln_collide_rules(c);
    rules.way = dx ? kiln_collide_points(dx) : NULL;
    rules.part = part;
    c->state++;
    place_boxes(c, x, dx, part);
    KILN_TRY(kiln_surface_pairs_find(&c->found, &c->surface, &rules, c->boxes.data, c->mesh->u,
                                     kiln_collide_points(x), error));
    KILN_TRY(add_begun(c, error));
    KILN_TRY(make_room(c, error));
    c->about = dx ? c->about : c->found.pairs.count;
    return KILN_OK;
}

static kiln_status thin_pairs(kiln_collide *c, const double *x, kiln_error *error)
{
    kiln_pair_rules rules = kiln_collide_rules(c);
    size_t count = c->found.pairs.count - c->begun.count; /* those stay */
    c->state++;
    place_boxes(c, x, NULL, 0.0);
    KILN_TRY(kiln_surface_pairs_thin(&c->found, &rules, c->boxes.data, kiln_collide_points(x),
                                     &count, error));
    KILN_TRY(make_room(c, error));
    c->about = c->found.pairs.count;
    return KILN_OK;
}

/* A failure leaves no pairs. */
static bool is_done(kiln_collide *c, kiln_status status, double began)
{
    c->failure = status;
    if (status != KILN_OK)
        c->found.pairs.count = 0;
    c->seconds += kiln_wall_seconds() - began;
    return status == KILN_OK;
}

bool kiln_collide_find(kiln_collide *c, const double *x, const double *dx, double part)
{
    double began = kiln_wall_seconds();
    kiln_status status = c->failure ? c->failure : kiln_may_go_on(c->context, &c->trouble);
    if (status == KILN_OK) /* a way of a million pieces is left when nobody waits for it any more */
        status = find_pairs(c, x, dx, part, &c->trouble);
    return is_done(c, status, began);
}

bool kiln_collide_thin(kiln_collide *c, const double *x)
{
    double began = kiln_wall_seconds();
    return is_done(c, c->failure ? c->failure : thin_pairs(c, x, &c->trouble), began);
}

kiln_status kiln_collide_failure(const kiln_collide *c, kiln_error *error)
{
    if (c->failure != KILN_OK && error)
        *error = c->trouble;
    return c->failure;
}

/* Walls are as hard as can be. */
static double side_modulus(const kiln_collide *c, const uint32_t *v, uint32_t count)
{
    double sum = 0.0;
    if (kiln_collide_is_wall(c, v[0]))
        return INFINITY;
    for (uint32_t k = 0; k < count; k++)
        sum += c->modulus.data[v[k]];
    return sum / count;
}

double kiln_collide_skewness(uint32_t split, const kiln_vec3 p[4])
{
    if (split == 1)
        return 1.0;
    kiln_vec3 a = kiln_v3_sub(p[1], p[0]), b = kiln_v3_sub(p[3], p[2]);
    double sine2 = kiln_v3_norm2(kiln_v3_cross(a, b)), y;
    y = fmin(sine2 / (PARALLEL * kiln_v3_norm2(a) * kiln_v3_norm2(b)), 1.0);
    return fmax(y * (2.0 - y), LEAST_PARALLEL);
}

static double skewness_at(const kiln_surface_pair *pair, const kiln_vec3 *x)
{
    const kiln_vec3 p[4] = {x[pair->v[0]], x[pair->v[1]], x[pair->v[2]], x[pair->v[3]]};
    return kiln_collide_skewness(pair->split, p);
}

static double skewness(const kiln_collide *c, const kiln_surface_pair *pair)
{
    return skewness_at(pair, kiln_collide_points(c->begin.data));
}

/* From here a solve begins. */
static void begin_at(kiln_collide *c, const double *x)
{
    const kiln_vec3 *p = kiln_collide_points(x);
    const kiln_contact_surface *s = &c->surface;
    bool looked_at = c->options.walls || c->options.once;
    memcpy(c->begin.data, x, 3 * c->given->rows * sizeof(double));
    for (size_t i = 0; i < s->vertices.count; i++)
        c->facing.data[s->vertices.data[i]] = kiln_v3(0, 0, 0);
    for (size_t f = 0; f < s->faces.count && looked_at; f += 3) {
        const uint32_t *v = &s->faces.data[f];
        kiln_vec3 normal =
            kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]));
        for (int k = 0; k < 3; k++)
            c->facing.data[v[k]] =
                kiln_v3_madd(c->facing.data[v[k]], 1.0 / (6.0 * s->area.data[v[k]]), normal);
    }
    if (c->options.once)
        kiln_collide_find_rims(c);
}

/* The next measure, which is there, says what counts in the solve. */
static void weigh_from(kiln_collide *c, const double *x)
{
    begin_at(c, x);
    c->once.is_weighed = false;
    c->once.again = 0;
    c->matrices = c->turned = 0;
}

/* Edges that cross where a solve begins may be parallel where it ends, and then the place at which
 * they are nearest jumps from one end to the other: a kink that Newton goes to and fro about. */
static bool some_are_parallel(const kiln_collide *c, const double *x)
{
    for (size_t a = 0; a < c->acting.count; a++) {
        const kiln_surface_pair *pair = kiln_collide_pair(c, c->acting.data[a]);
        if (pair->split == 2 &&
            skewness_at(pair, kiln_collide_points(x)) < TURNED * skewness(c, pair))
            return true;
    }
    return false;
}

/* Before a matrix at x of a solve that takes long. */
static void turn_again(kiln_collide *c, const double *x)
{
    if (++c->matrices <= PATIENCE || c->turned >= TURNS || !some_are_parallel(c, x))
        return;
    c->matrices = 0;
    c->turned++;
    begin_at(c, x);
    c->state++;
    c->solve++;
    kiln_collide_measure(c, x);
}

static void couple_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    kiln_collide *c = user;
    for (size_t i = begin; i < end; i++) {
        const uint32_t *v = kiln_collide_pair(c, c->acting.data[i])->v;
        c->coupled.data[i] = c->cliques.count && bsearch(v, c->cliques.data, c->cliques.count / 4,
                                                         4 * sizeof *v, by_vertices);
    }
}

void kiln_collide_find_coupled(kiln_collide *c)
{
    if (c->coupled_measure == c->measures && c->coupled_revision == c->repulsion.revision)
        return;
    c->coupled_measure = c->measures;
    c->coupled_revision = c->repulsion.revision;
    kiln_parallel_for(c->context, c->acting.count, KILN_COLLIDE_FEW, couple_chunk, c);
}

/* Of cliques in order. */
static void keep_each_once(kiln_u32_array *cliques)
{
    uint32_t *row = cliques->data;
    size_t all = cliques->count / 4, count = 0;
    for (size_t i = 0; i < all; i++)
        if (count == 0 || by_vertices(row + 4 * i, row + 4 * (count - 1)) != 0)
            memmove(row + 4 * count++, row + 4 * i, 4 * sizeof *row);
    cliques->count = 4 * count;
}

/* Those that act, and those with friction unless a step begins: in order, each once. What may soon
 * act is left out: contacts that come need no blocks (newton.c, N8), and in a pile blocks for all
 * that is near make a factor take three times the operations. */
static kiln_status list_cliques(kiln_collide *c, bool begins, kiln_error *error)
{
    size_t acting = c->acting.count, rubbed = begins ? 0 : c->friction_contacts.count;
    KILN_TRY(kiln_array_reserve(c->context, &c->wanted, 4 * (acting + rubbed) + 4, error));
    uint32_t *row = c->wanted.data;
    for (size_t a = 0; a < acting; a++, row += 4)
        memcpy(row, kiln_collide_pair(c, c->acting.data[a])->v, 4 * sizeof *row);
    for (size_t i = 0; i < rubbed; i++, row += 4)
        memcpy(row, c->friction_contacts.data[i].v, 4 * sizeof *row);
    c->wanted.count = 4 * (acting + rubbed);
    if (c->wanted.count)
        qsort(c->wanted.data, acting + rubbed, 4 * sizeof *row, by_vertices);
    keep_each_once(&c->wanted);
    return KILN_OK;
}

static bool is_same(const kiln_u32_array *a, const kiln_u32_array *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->data, b->data, a->count * sizeof *a->data) == 0);
}

/* Within a step the matrix keeps its pattern, and the solver its analysis, while it has blocks for
 * the pairs that act. A step begins with the pattern of its own pairs, since a run that is resumed
 * knows no others; the analysis is kept when that is the pattern there was. */
static kiln_status couple(kiln_collide *c, bool begins, kiln_error *error)
{
    bool enough = !begins;
    kiln_collide_find_coupled(c);
    for (size_t i = 0; i < c->acting.count && enough; i++)
        enough = c->coupled.data[i];
    if (enough)
        return KILN_OK;
    KILN_TRY(list_cliques(c, begins, error));
    if (!is_same(&c->wanted, &c->cliques)) {
        kiln_u32_array swap = c->cliques;
        c->cliques = c->wanted;
        c->wanted = swap;
        c->repulsion.revision++;
    }
    return KILN_OK;
}

double kiln_collide_scale_of(const kiln_collide *c, size_t i)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    double modulus = kiln_collide_softer(c, side_modulus(c, pair->v, pair->split),
                                         side_modulus(c, pair->v + pair->split, 4 - pair->split));
    return c->hardness * c->options.stiffness * modulus * c->counted.data[i] * skewness(c, pair);
}

static double energy_of(const kiln_collide *c)
{
    double sum = 0.0;
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        double reach = kiln_collide_pair(c, i)->reach;
        sum += c->scale.data[i] * reach * kiln_repulsion_at(c->distance.data[i].d / reach).value;
    }
    return sum;
}

/* As at the begin of a solve there: what the last one had of angles and areas is of its own begin,
 * and stays. */
double kiln_collide_energy(kiln_collide *c, const double *x)
{
    const double *from = c->from; /* energies are those of distances, wherever they began */
    bool weighed = c->once.is_weighed;
    kiln_collide_measure(c, x);
    memcpy(c->at.data, c->begin.data, 3 * c->given->rows * sizeof(double));
    c->once.now = !c->once.now;
    c->once.is_weighed = false;
    c->from = NULL;
    begin_at(c, x);
    c->state++;
    kiln_collide_measure(c, x);
    double sum = energy_of(c);
    begin_at(c, c->at.data);
    c->from = from;
    c->once.is_weighed = weighed;
    c->once.now = !c->once.now;
    c->state++;
    return sum;
}

static kiln_status note_begun(kiln_collide *c, kiln_error *error)
{
    for (size_t i = 0; c->from && i < c->found.pairs.count; i++)
        if (c->distance.data[i].d < kiln_collide_pair(c, i)->reach)
            KILN_TRY(kiln_array_push(c->context, &c->begun, *kiln_collide_pair(c, i), error));
    if (c->begun.count)
        qsort(c->begun.data, c->begun.count, sizeof *c->begun.data, by_pair);
    c->state++;
    KILN_TRY(add_begun(c, error));
    kiln_collide_measure(c, c->begin.data);
    return KILN_OK;
}

kiln_status kiln_collide_begin(kiln_collide *c, const kiln_collide_start *start, kiln_error *error)
{
    c->given = start->given;
    c->start = start->x;
    c->origin = start->origin;
    c->tau = start->tau;
    c->from = start->over ? start->x : NULL;
    c->carried = start->carried;
    c->besides = start->besides;
    c->fresh = start->fresh;
    c->seconds = 0.0;
    c->failure = KILN_OK;
    c->solve++;
    c->found.grown = false;
    c->begun.count = 0;
    weigh_from(c, start->x);
    (void)kiln_collide_find(c, start->x, NULL, 0.0);
    KILN_TRY(kiln_collide_failure(c, error));
    kiln_collide_measure(c, start->x);
    KILN_TRY(note_begun(c, error));
    KILN_TRY(couple(c, true, error));
    return kiln_collide_lag_friction(c, error);
}

kiln_status kiln_collide_renew(kiln_collide *c, const double *x, kiln_error *error)
{
    weigh_from(c, x);
    c->state++;
    c->solve++;
    c->nearest = 1.0;
    kiln_collide_measure(c, x);
    KILN_TRY(kiln_collide_failure(c, error));
    return kiln_collide_lag_friction(c, error);
}

kiln_status kiln_collide_expect(void *self, const double *x, kiln_error *error)
{
    kiln_collide *c = self;
    kiln_collide_measure(c, x);
    if (c->options.once)
        kiln_collide_weigh_again(c, x);
    turn_again(c, x);
    if (c->options.adaptive)
        kiln_collide_look_harder(c, x);
    KILN_TRY(kiln_collide_failure(c, error));
    return couple(c, false, error);
}

/* Orders by nested dissection beside METIS's: time, and operations of the factor; and an order that
 * is repaired when the balls of a pile touch. */
#include "bench/bench.h"

#include "bench/bare.h"
#include "bench/meshes.h"
#include "mesh/build.h"
#include "solve/dissect.h"
#include "solve/elimination.h"

#include <math.h>
#include <stdio.h>

typedef struct order_work {
    kiln_context *context;
    kiln_bsr matrix;      /* pattern that is ordered */
    kiln_row_graph graph; /* of it */
    kiln_dissection base; /* what is repaired */
    kiln_dissection order;
    kiln_status status;
} order_work;

static void start(order_work *w, kiln_context *context)
{
    *w = (order_work){.context = context};
    kiln_bsr_init_blocks(&w->matrix, context, 1);
}

static void finish(order_work *w)
{
    kiln_dissection_free(w->context, &w->order);
    kiln_dissection_free(w->context, &w->base);
    kiln_row_graph_free(w->context, &w->graph);
    kiln_bsr_free(&w->matrix);
}

static kiln_status set_pattern(order_work *w, size_t rows, const kiln_cliques *cliques, size_t sets)
{
    kiln_row_graph_free(w->context, &w->graph);
    KILN_TRY(kiln_bsr_set_pattern(&w->matrix, rows, cliques, sets, NULL));
    return kiln_row_graph_make(&w->matrix, &w->graph, NULL);
}

static void run_dissect(void *user)
{
    order_work *w = user;
    kiln_dissection_free(w->context, &w->order);
    w->status = kiln_dissect(w->context, &w->graph, &w->order, NULL);
}

static void run_repair(void *user)
{
    order_work *w = user;
    kiln_dissection_free(w->context, &w->order);
    w->status = kiln_dissection_repair(w->context, &w->base, &w->graph, &w->order, NULL);
}

/* Sum of the squares of the column counts, in blocks; NaN when it cannot be counted. */
static double count_operations(const order_work *w, const uint32_t *order)
{
    double sum = 0.0;
    kiln_arena arena;
    kiln_elimination tree;
    kiln_arena_init(&arena, w->context);
    if (!order || kiln_elimination_build(&tree, &arena, &w->graph, order, NULL) != KILN_OK)
        sum = NAN;
    for (size_t i = 0; i < w->matrix.rows && !isnan(sum); i++)
        sum += (double)tree.column[i] * tree.column[i];
    kiln_arena_destroy(&arena);
    return sum;
}

/* Reports the time of what was found, and its operations beside those of METIS's order. */
static void report_order(kiln_bench *bench, const order_work *w, const char *name, double seconds,
                         double bar)
{
    char text[96];
    double metis = NAN, its = NAN, own = count_operations(w, w->order.order);
#ifndef KILN_SOLVER_MUMPS
    size_t bytes = w->matrix.rows * sizeof(uint32_t);
    uint32_t *order = kiln_resize(w->context, NULL, 0, bytes);
    if (order && kiln_bare_metis(&w->matrix, order, &metis))
        its = count_operations(w, order);
    kiln_release(w->context, order, bytes);
    snprintf(text, sizeof text, "METIS %.1f ms; operations over its", 1e3 * metis);
    kiln_bench_report_checked(bench, name, 1e3 * seconds, "ms", bar, 0, text, own / its, 1.1);
#else
    (void)metis, (void)its;
    snprintf(text, sizeof text, "%.3g operations", own);
    kiln_bench_report(bench, name, 1e3 * seconds, "ms", bar, 0, text);
#endif
}

/* Takes the mesh, which may be NULL. */
static void bench_order(kiln_bench *bench, kiln_context *context, const char *name, kiln_mesh *mesh,
                        double bar)
{
    order_work w;
    kiln_soup soup;
    start(&w, context);
    kiln_soup_init(&soup, context);
    w.status = mesh ? kiln_mesh_to_soup(mesh, &soup, NULL) : KILN_ERR_MEMORY;
    kiln_cliques tets = {.count = soup.tets.count, .size = 4};
    tets.row = tets.count ? soup.tets.data[0].v : NULL;
    if (w.status == KILN_OK)
        w.status = set_pattern(&w, soup.points.count, &tets, 1);
    if (w.status == KILN_OK) {
        double seconds = kiln_bench_time(bench, run_dissect, &w);
        report_order(bench, &w, name, seconds, bar);
    } else
        kiln_bench_report_failure(bench, name, "no mesh");
    finish(&w);
    kiln_soup_free(&soup);
    kiln_mesh_destroy(mesh);
}

/* A pile of 5 x 5 x 4 balls: each touches the next along an axis with the vertices that are
 * furthest out there. */
enum { ACROSS = 5, LAYERS = 4, BALLS = ACROSS * ACROSS * LAYERS, TOUCHING = 6 };

typedef struct pile {
    kiln_context *context;
    kiln_soup ball;
    kiln_u32_array tets;     /* [tet][4] */
    kiln_u32_array contacts; /* [contact][4]: a vertex of one, three of the other */
} pile;

static double along(kiln_vec3 x, int axis)
{
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

/* The points furthest out along an axis, in the sense of `sign`; the last place is for others. */
static void find_furthest(const pile *p, int axis, double sign, uint32_t out[TOUCHING + 1])
{
    const kiln_vec3 *x = p->ball.points.data;
    for (uint32_t i = 0; i < p->ball.points.count; i++) {
        size_t at = i < TOUCHING ? i : TOUCHING;
        for (; at > 0 && sign * along(x[i], axis) > sign * along(x[out[at - 1]], axis); at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
}

static kiln_status touch(pile *p, uint32_t a, uint32_t b, int axis)
{
    uint32_t n = (uint32_t)p->ball.points.count, from[TOUCHING + 1], to[TOUCHING + 1];
    find_furthest(p, axis, 1.0, from);
    find_furthest(p, axis, -1.0, to);
    for (uint32_t i = 0; i < TOUCHING; i++) {
        KILN_TRY(kiln_array_push(p->context, &p->contacts, a * n + from[i], NULL));
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t other = b * n + to[(i + k) % TOUCHING];
            KILN_TRY(kiln_array_push(p->context, &p->contacts, other, NULL));
        }
    }
    return KILN_OK;
}

static kiln_status add_ball(pile *p, uint32_t ball)
{
    static const uint32_t strides[] = {1, ACROSS, ACROSS * ACROSS},
                          sizes[] = {ACROSS, ACROSS, LAYERS};
    uint32_t first = ball * (uint32_t)p->ball.points.count;
    for (size_t t = 0; t < p->ball.tets.count; t++)
        for (int k = 0; k < 4; k++) {
            uint32_t vertex = first + p->ball.tets.data[t].v[k];
            KILN_TRY(kiln_array_push(p->context, &p->tets, vertex, NULL));
        }
    for (int axis = 0; axis < 3; axis++)
        if (ball / strides[axis] % sizes[axis] + 1 < sizes[axis])
            KILN_TRY(touch(p, ball, ball + strides[axis], axis));
    return KILN_OK;
}

/* The order of balls that do not touch, and the pattern of those that do. */
static kiln_status prepare_repair(order_work *w, pile *p)
{
    for (uint32_t b = 0; b < BALLS; b++)
        KILN_TRY(add_ball(p, b));
    const kiln_cliques cliques[] = {
        {.count = p->tets.count / 4, .size = 4, .row = p->tets.data},
        {.count = p->contacts.count / 4, .size = 4, .row = p->contacts.data}};
    size_t rows = BALLS * p->ball.points.count;
    KILN_TRY(set_pattern(w, rows, cliques, 1));
    KILN_TRY(kiln_dissect(w->context, &w->graph, &w->base, NULL));
    return set_pattern(w, rows, cliques, 2);
}

/* Takes the mesh, which may be NULL. */
static void bench_repair(kiln_bench *bench, kiln_context *context, kiln_mesh *ball)
{
    order_work w;
    pile p = {.context = context};
    start(&w, context);
    kiln_soup_init(&p.ball, context);
    w.status = ball ? kiln_mesh_to_soup(ball, &p.ball, NULL) : KILN_ERR_MEMORY;
    if (w.status == KILN_OK)
        w.status = prepare_repair(&w, &p);
    if (w.status == KILN_OK) {
        double repair = kiln_bench_time(bench, run_repair, &w);
        double repaired = count_operations(&w, w.order.order);
        double anew = kiln_bench_time(bench, run_dissect, &w);
        double ratio = repaired / count_operations(&w, w.order.order);
        kiln_bench_report_checked(bench, "repair, 100 balls that touch", 1e3 * repair, "ms", 0.0, 0,
                                  "operations over a new order's", ratio, 1.15);
        kiln_bench_report(bench, "repair, times faster than a new order", anew / repair, "x", 2.0,
                          1, "");
    } else
        kiln_bench_report_failure(bench, "repair, 100 balls that touch", "no pile");
    finish(&w);
    kiln_array_free(context, &p.tets);
    kiln_array_free(context, &p.contacts);
    kiln_soup_free(&p.ball);
    kiln_mesh_destroy(ball);
}

static kiln_mesh *shape_of(kiln_context *context, const char *shape, const char *a, const char *b)
{
    const char *settings[] = {a, b};
    kiln_mesh *mesh = NULL;
    kiln_status status = kiln_bench_shape(context, shape, b ? 2 : 1, settings, &mesh, NULL);
    return status == KILN_OK ? mesh : NULL;
}

void kiln_bench_dissect(kiln_bench *bench)
{
    kiln_context one = *kiln_bench_context(bench); /* CPU time of one thread is measured */
    one.threads = 1;
    one.pool = NULL;
    kiln_mesh *random = NULL;
    bench_order(bench, &one, "ball, 20k tets", shape_of(&one, "ball", "h=0.11", NULL), 10.0);
    bench_order(bench, &one, "ball, 98k tets", shape_of(&one, "ball", "h=0.065", NULL), 100.0);
    bench_order(bench, &one, "bar, 78k tets", shape_of(&one, "box", "n=6", "lx=60"), 100.0);
    if (kiln_bench_random_mesh(&one, 16000, 1, &random, NULL) != KILN_OK)
        random = NULL;
    bench_order(bench, &one, "random points, 103k tets", random, 100.0);
    bench_repair(bench, &one, shape_of(&one, "ball", "h=0.3", NULL));
}

/* Orders by nested dissection: what they promise for every graph, how sparse the factors are, and
 * orders that are repaired after edges were added. */
#include "fixtures.h"
#include "solve/dissect.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* A graph as pairs of vertices. */
typedef struct net {
    size_t count;
    kiln_u32_array pairs;
} net;

static void join(kiln_context *context, net *n, size_t a, size_t b)
{
    ck_assert_int_eq(kiln_array_push(context, &n->pairs, (uint32_t)a, NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_push(context, &n->pairs, (uint32_t)b, NULL), KILN_OK);
}

static kiln_row_graph graph_of(kiln_context *context, const kiln_cliques *cliques, size_t rows)
{
    kiln_bsr matrix;
    kiln_row_graph graph;
    kiln_bsr_init_blocks(&matrix, context, 1);
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, rows, cliques, 1, NULL), KILN_OK);
    ck_assert_int_eq(kiln_row_graph_make(&matrix, &graph, NULL), KILN_OK);
    kiln_bsr_free(&matrix);
    return graph;
}

static kiln_row_graph net_graph(kiln_context *context, const net *n)
{
    kiln_cliques cliques = {.count = n->pairs.count / 2, .size = 2, .row = n->pairs.data};
    return graph_of(context, &cliques, n->count);
}

static kiln_dissection dissect(kiln_context *context, const kiln_row_graph *graph)
{
    kiln_dissection out;
    ck_assert_int_eq(kiln_dissect(context, graph, &out, NULL), KILN_OK);
    return out;
}

/* Each vertex has one place, and no edge joins nodes of which neither is above the other. */
static void check(const kiln_row_graph *graph, const kiln_dissection *d)
{
    ck_assert_uint_eq(d->count, graph->rows);
    ck_assert_uint_ge(d->nodes, 1);
    uint32_t *node = malloc((graph->rows + 1) * sizeof *node);
    uint32_t *low = malloc(d->nodes * sizeof *low);
    memset(node, 0xFF, (graph->rows + 1) * sizeof *node);
    for (uint32_t k = 0; k < d->nodes; k++)
        low[k] = k;
    ck_assert_uint_eq(d->first[0], 0);
    ck_assert_uint_eq(d->first[d->nodes], d->count);
    ck_assert_uint_eq(d->parent[d->nodes - 1], d->nodes);
    for (uint32_t k = 0; k < d->nodes; k++) {
        ck_assert_uint_le(d->first[k], d->first[k + 1]);
        for (uint32_t p = d->first[k]; p < d->first[k + 1]; p++) {
            ck_assert_uint_lt(d->order[p], d->count);
            ck_assert_uint_eq(node[d->order[p]], UINT32_MAX);
            node[d->order[p]] = k;
        }
        if (k + 1 == d->nodes)
            continue;
        ck_assert_uint_gt(d->parent[k], k);
        ck_assert_uint_lt(d->parent[k], d->nodes);
        /* Postorder: the subtree that ends at k begins where the one before it ends. */
        if (low[k] < low[d->parent[k]])
            low[d->parent[k]] = low[k];
    }
    for (uint32_t k = 0; k + 1 < d->nodes; k++)
        ck_assert(k + 1 == d->parent[k] || low[k + 1] == k + 1 || low[k + 1] <= low[k]);
    for (uint32_t v = 0; v < graph->rows; v++)
        for (uint64_t e = graph->start[v]; e < graph->start[v + 1]; e++) {
            uint32_t a = node[v], b = node[graph->neighbour[e]];
            ck_assert_msg(a > b ? low[a] <= b : low[b] <= a, "edge %u - %u joins nodes %u and %u",
                          v, graph->neighbour[e], a, b);
        }
    free(node), free(low);
}

/* Sum of the squares of the column counts of the factor: rows of it are paths in the elimination
 * tree, which they also build. */
static double flops_of(const kiln_row_graph *graph, const uint32_t *order)
{
    size_t n = graph->rows;
    uint32_t *memory = malloc(4 * (n + 1) * sizeof *memory), *place = memory, *parent = place + n,
             *mark = parent + n, *count = mark + n;
    memset(parent, 0xFF, 2 * n * sizeof *parent);
    for (uint32_t i = 0; i < n; i++) {
        place[order[i]] = i;
        count[i] = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        mark[i] = i;
        for (uint64_t k = graph->start[order[i]]; k < graph->start[order[i] + 1]; k++)
            for (uint32_t j = place[graph->neighbour[k]]; j < i && mark[j] != i; j = parent[j]) {
                if (parent[j] == UINT32_MAX)
                    parent[j] = i;
                mark[j] = i;
                count[j]++;
            }
    }
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (double)count[i] * count[i];
    free(memory);
    return sum;
}

enum { FAMILIES = 14 };

static void random_net(kiln_context *context, net *n, size_t count, size_t pairs, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 3);
    n->count = count;
    for (size_t i = 0; i < pairs; i++) {
        uint32_t a = kiln_random_below(&random, (uint32_t)count);
        uint32_t b = kiln_random_below(&random, (uint32_t)count);
        if (a != b)
            join(context, n, a, b);
    }
}

static void grid_net(kiln_context *context, net *n, size_t nx, size_t ny, size_t nz)
{
    for (size_t v = 0; v < nx * ny * nz; v++) {
        size_t i = v % nx, j = v / nx % ny, k = v / nx / ny;
        if (i + 1 < nx)
            join(context, n, n->count + v, n->count + v + 1);
        if (j + 1 < ny)
            join(context, n, n->count + v, n->count + v + nx);
        if (k + 1 < nz)
            join(context, n, n->count + v, n->count + v + nx * ny);
    }
    n->count += nx * ny * nz;
}

static net family(kiln_context *context, int which)
{
    net n = {0};
    switch (which) {
    case 0: /* nothing */
        break;
    case 1:
        n.count = 1;
        break;
    case 2: /* rows without neighbours */
        n.count = 5000;
        break;
    case 3: /* a path */
        grid_net(context, &n, 20000, 1, 1);
        break;
    case 4: /* a star */
        n.count = 5000;
        for (size_t i = 0; i + 1 < n.count; i++)
            join(context, &n, n.count - 1, i);
        break;
    case 5: /* all with all */
        n.count = 300;
        for (size_t i = 0; i < n.count; i++)
            for (size_t j = 0; j < i; j++)
                join(context, &n, i, j);
        break;
    case 6:
        grid_net(context, &n, 14, 13, 12);
        break;
    case 7: /* many bodies, large and small, and rows without neighbours */
        for (size_t i = 0; i < 60; i++)
            grid_net(context, &n, 2 + i % 5, 3 + i % 4, 1 + i % 7);
        n.count += 200;
        break;
    case 8: /* a grid and rows that are coupled with all of it */
        grid_net(context, &n, 12, 12, 12);
        for (size_t d = 0; d < 3; d++, n.count++)
            for (size_t i = 0; i < 1728; i++)
                join(context, &n, n.count, i);
        break;
    case 9:
        random_net(context, &n, 2000, 3000, 1);
        break;
    case 10:
        random_net(context, &n, 1500, 15000, 2);
        break;
    case 11: /* nearly all with all */
        random_net(context, &n, 400, 60000, 3);
        break;
    case 12: /* a tree with many leaves */
        n.count = 6000;
        for (size_t i = 1; i < n.count; i++)
            join(context, &n, i, (i - 1) / 40);
        break;
    default: /* two cliques that share little */
        n.count = 400;
        for (size_t i = 0; i < 200; i++)
            for (size_t j = 0; j < i; j++) {
                join(context, &n, i, j);
                join(context, &n, 200 + i, 200 + j);
            }
        join(context, &n, 0, 200);
    }
    return n;
}

START_TEST(every_graph_has_a_valid_order_on_any_threads)
{
    kiln_dissection first = {0};
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        net n = family(context, _i);
        kiln_row_graph graph = net_graph(context, &n);
        kiln_dissection d = dissect(context, &graph);
        check(&graph, &d);
        if (threads == 1) {
            first = d;
            first.order = malloc((d.count + 1) * sizeof(uint32_t));
            first.first = malloc((2 * d.nodes + 1) * sizeof(uint32_t));
            if (d.count)
                memcpy(first.order, d.order, d.count * sizeof(uint32_t));
            memcpy(first.first, d.first, (d.nodes + 1) * sizeof(uint32_t));
            memcpy(first.first + d.nodes + 1, d.parent, d.nodes * sizeof(uint32_t));
        }
        ck_assert_uint_eq(d.nodes, first.nodes);
        if (d.count)
            ck_assert_mem_eq(d.order, first.order, d.count * sizeof(uint32_t));
        ck_assert_mem_eq(d.first, first.first, (d.nodes + 1) * sizeof(uint32_t));
        ck_assert_mem_eq(d.parent, first.first + d.nodes + 1, d.nodes * sizeof(uint32_t));
        kiln_dissection_free(context, &d);
        kiln_row_graph_free(context, &graph);
        kiln_array_free(context, &n.pairs);
        kiln_context_destroy(context);
    }
    free(first.order), free(first.first);
}
END_TEST

/* The graph with as many random edges as a share of its vertices, and some about one place. */
static void add_edges(kiln_context *context, net *n, double share, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 9);
    size_t edges = (size_t)(share * (double)n->count) + 1;
    for (size_t i = 0; i < edges && n->count > 1; i++) {
        uint32_t a = kiln_random_below(&random, (uint32_t)n->count);
        uint32_t b = i % 2 ? kiln_random_below(&random, (uint32_t)n->count)
                           : (uint32_t)(a + 1 + i % 50) % (uint32_t)n->count;
        if (a != b)
            join(context, n, a, b);
    }
}

START_TEST(a_repaired_order_is_valid_for_the_grown_graph)
{
    static const double shares[] = {0.0, 0.003, 0.05, 0.5};
    kiln_context *context = kiln_test_context(2);
    for (size_t s = 0; s < 4; s++) {
        net n = family(context, _i);
        kiln_row_graph graph = net_graph(context, &n);
        kiln_dissection base = dissect(context, &graph), repaired, again;
        if (s)
            add_edges(context, &n, shares[s], s);
        kiln_row_graph grown = net_graph(context, &n);
        ck_assert_int_eq(kiln_dissection_repair(context, &base, &grown, &repaired, NULL), KILN_OK);
        check(&grown, &repaired);
        ck_assert_int_eq(kiln_dissection_repair(context, &base, &grown, &again, NULL), KILN_OK);
        if (base.count)
            ck_assert_mem_eq(again.order, repaired.order, base.count * sizeof(uint32_t));
        if (s == 0 && base.count)
            ck_assert_mem_eq(base.order, repaired.order, base.count * sizeof(uint32_t));
        kiln_dissection_free(context, &base);
        kiln_dissection_free(context, &repaired);
        kiln_dissection_free(context, &again);
        kiln_row_graph_free(context, &graph);
        kiln_row_graph_free(context, &grown);
        kiln_array_free(context, &n.pairs);
    }
    kiln_context_destroy(context);
}
END_TEST

static kiln_row_graph mesh_graph(kiln_context *context, const char *shape, const char *settings)
{
    kiln_soup soup = kiln_test_soup(context, shape, settings);
    kiln_cliques cliques = {
        .count = soup.tets.count, .size = 4, .row = (const uint32_t *)soup.tets.data};
    kiln_row_graph graph = graph_of(context, &cliques, soup.points.count);
    kiln_soup_free(&soup);
    return graph;
}

/* Flops of the factor in the order of METIS (5.1.0 through CHOLMOD, as solver_cholmod.c calls it),
 * in blocks. */
static const struct {
    const char *shape, *settings;
    double metis;
} fills[] = {
    {"box", "n=9", 4.473e6},     {"box", "n=16", 1.283e8},    {"box", "n=3 lx=10 ly=10", 2.483e7},
    {"ball", "h=0.11", 1.080e8}, {"ball", "h=0.16", 1.314e7}, {"bowl", "h=0.06", 1.102e8}};
enum { FILLS = sizeof fills / sizeof *fills };

START_TEST(fill_is_that_of_metis)
{
    kiln_context *context = kiln_test_context(2);
    kiln_row_graph graph = mesh_graph(context, fills[_i].shape, fills[_i].settings);
    kiln_dissection d = dissect(context, &graph);
    check(&graph, &d);
    ck_assert_double_le(flops_of(&graph, d.order), 1.1 * fills[_i].metis);
    kiln_dissection_free(context, &d);
    kiln_row_graph_free(context, &graph);
    kiln_context_destroy(context);
}
END_TEST

/* Cubes of vertices, 3 x wide x wide of them, that touch where they meet with the `patch` x `patch`
 * vertices in the middle of a side, each vertex with up to five of the other. */
enum { SIDE = 7, CUBE = SIDE * SIDE * SIDE };

static void touch(kiln_context *context, net *n, size_t a, size_t b, size_t axis, size_t patch)
{
    static const size_t strides[] = {1, SIDE, SIDE * SIDE};
    static const int near[5][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    size_t s = strides[(axis + 1) % 3], t = strides[(axis + 2) % 3], low = (SIDE - patch) / 2;
    for (size_t i = low; i < low + patch; i++)
        for (size_t j = low; j < low + patch; j++)
            for (int k = 0; k < 5; k++) {
                size_t p = i + (size_t)near[k][0], q = j + (size_t)near[k][1];
                if (p >= low && p < low + patch && q >= low && q < low + patch)
                    join(context, n, a * CUBE + (SIDE - 1) * strides[axis] + i * s + j * t,
                         b * CUBE + p * s + q * t);
            }
}

static net cubes(kiln_context *context, size_t wide)
{
    net n = {0};
    for (size_t i = 0; i < 3 * wide * wide; i++)
        grid_net(context, &n, SIDE, SIDE, SIDE);
    return n;
}

static void touch_cubes(kiln_context *context, net *n, size_t wide, size_t patch)
{
    for (size_t i = 0; i < 3 * wide * wide; i++) {
        if (i % 3 < 2)
            touch(context, n, i, i + 1, 0, patch);
        if (i / 3 % wide + 1 < wide)
            touch(context, n, i, i + 3, 1, patch);
        if (i / 3 / wide + 1 < wide)
            touch(context, n, i, i + 3 * wide, 2, patch);
    }
}

/* Bodies that touch a little and over whole sides, few of them and many; a body that touches
 * itself. */
START_TEST(a_repaired_order_costs_little_more_than_a_new_one)
{
    static const size_t wide[] = {1, 3, 1, 3, 0}, patch[] = {2, 2, SIDE, SIDE, 0};
    kiln_context *context = kiln_test_context(2);
    net n = {0};
    if (wide[_i])
        n = cubes(context, wide[_i]);
    else
        grid_net(context, &n, 15, 15, 15);
    kiln_row_graph graph = net_graph(context, &n);
    kiln_dissection base = dissect(context, &graph), repaired;
    if (wide[_i])
        touch_cubes(context, &n, wide[_i], patch[_i]);
    else
        add_edges(context, &n, 0.02, 5);
    kiln_row_graph grown = net_graph(context, &n);
    ck_assert_int_eq(kiln_dissection_repair(context, &base, &grown, &repaired, NULL), KILN_OK);
    kiln_dissection fresh = dissect(context, &grown);
    check(&grown, &repaired);
    ck_assert_double_le(flops_of(&grown, repaired.order), 1.15 * flops_of(&grown, fresh.order));
    kiln_dissection_free(context, &base);
    kiln_dissection_free(context, &repaired);
    kiln_dissection_free(context, &fresh);
    kiln_row_graph_free(context, &graph);
    kiln_row_graph_free(context, &grown);
    kiln_array_free(context, &n.pairs);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    bool finished = false;
    for (uint64_t k = 1; !finished; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        net n = family(context, _i ? 7 : 6);
        kiln_row_graph graph = net_graph(context, &n);
        add_edges(context, &n, 0.05, 1);
        kiln_row_graph grown = net_graph(context, &n);
        kiln_dissection d = {0}, repaired = {0};
        heap.fail_at = heap.calls + k;
        kiln_status status = kiln_dissect(context, &graph, &d, NULL);
        if (status == KILN_OK)
            status = kiln_dissection_repair(context, &d, &grown, &repaired, NULL);
        finished = status == KILN_OK;
        if (!finished)
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
        kiln_dissection_free(context, &d);
        kiln_dissection_free(context, &repaired);
        kiln_row_graph_free(context, &graph);
        kiln_row_graph_free(context, &grown);
        kiln_array_free(context, &n.pairs);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        ck_assert_int_eq(heap.live_bytes, 0);
        ck_assert_uint_lt(k, 200);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("dissect");
    TCase *all = kiln_test_case(suite, "dissect");
    tcase_add_loop_test(all, every_graph_has_a_valid_order_on_any_threads, 0, FAMILIES);
    tcase_add_loop_test(all, a_repaired_order_is_valid_for_the_grown_graph, 0, FAMILIES);
    tcase_add_loop_test(all, fill_is_that_of_metis, 0, FILLS);
    tcase_add_loop_test(all, a_repaired_order_costs_little_more_than_a_new_one, 0, 5);
    tcase_add_loop_test(all, allocation_failures_are_reported, 0, 2);
    return suite;
}

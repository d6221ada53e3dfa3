/* The broad phase against all pairs, and the kernel of repulsion. */
#include "contact/repulsion.h"
#include "contact/surface_pairs.h"
#include "fixtures.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two bent boxes that come close, each vertex with a box of its own. */
static kiln_mesh *tangle(kiln_context *context, kiln_box *boxes, size_t room, double size)
{
    kiln_soup all = kiln_test_soup(context, "box", "lx=1 ly=0.3 lz=0.3 nx=5 ny=2 nz=2");
    kiln_soup other = kiln_test_soup(context, "box", "lx=0.3 ly=1 lz=0.3 nx=2 ny=5 nz=2");
    for (size_t i = 0; i < other.points.count; i++)
        other.points.data[i] = kiln_v3_add(other.points.data[i], kiln_v3(0.4, -0.3, 0.33));
    ck_assert_int_eq(kiln_soup_append(&all, &other, 0, NULL), KILN_OK);
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh = NULL;
    ck_assert_int_eq(kiln_mesh_build(context, &all, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&all);
    kiln_soup_free(&other);
    kiln_random random = kiln_random_start(3, 0);
    size_t used = mesh->table[KILN_ON_VERTEX].used;
    ck_assert_uint_le(used, room);
    for (uint32_t v = 0; v < used; v++) {
        kiln_vec3 r = kiln_v3(kiln_random_unit(&random), kiln_random_unit(&random),
                              kiln_random_unit(&random));
        boxes[v] =
            (kiln_box){kiln_v3_madd(mesh->x[v], -size, r), kiln_v3_madd(mesh->x[v], size, r)};
    }
    return mesh;
}

static const kiln_surface_pair *find(const kiln_surface_pairs *pairs,
                                     const kiln_surface_pair *wanted)
{
    for (size_t i = 0; i < pairs->pairs.count; i++)
        if (pairs->pairs.data[i].split == wanted->split &&
            memcmp(pairs->pairs.data[i].v, wanted->v, sizeof wanted->v) == 0)
            return &pairs->pairs.data[i];
    return NULL;
}

static bool shares(const kiln_surface_pair *pair)
{
    for (uint32_t i = 0; i < pair->split; i++)
        for (uint32_t j = pair->split; j < 4; j++)
            if (pair->v[i] == pair->v[j])
                return true;
    return false;
}

/* For random places within the boxes, every pair within reach is listed; with a clearance of the
 * bodies beyond that. */
START_TEST(test_complete)
{
    enum { ROOM = 400 };
    static const double clearance[2] = {0.03, 0.05};
    kiln_context *context = kiln_test_context(2);
    kiln_box boxes[ROOM];
    kiln_vec3 x[ROOM];
    kiln_mesh *mesh = tangle(context, boxes, ROOM, 0.03);
    kiln_contact_surface surface = {0};
    kiln_surface_pairs pairs = {0};
    ck_assert_int_eq(kiln_contact_surface_build(&surface, mesh, NULL), KILN_OK);
    kiln_pair_rules rules = {.bodies = true,
                             .self = _i % 2 == 0,
                             .thickness = 0.05,
                             .clearance = _i < 2 ? NULL : clearance,
                             .material_tells = true};
    ck_assert_int_eq(
        kiln_surface_pairs_find(&pairs, &surface, &rules, boxes, mesh->u, mesh->x, NULL), KILN_OK);
    kiln_random random = kiln_random_start(4, 0);
    size_t near = 0;
    for (int round = 0; round < 3; round++) {
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_box b = boxes[v];
            x[v] = kiln_v3(kiln_random_range(&random, b.low.x, b.high.x),
                           kiln_random_range(&random, b.low.y, b.high.y),
                           kiln_random_range(&random, b.low.z, b.high.z));
        }
        size_t vertices = surface.vertices.count, faces = surface.faces.count / 3;
        size_t edges = surface.edges.count / 2;
        for (size_t k = 0; k < vertices * faces + edges * edges; k++) {
            kiln_surface_pair pair = {.split = k < vertices * faces ? 1 : 2};
            if (pair.split == 1) {
                pair.v[0] = surface.vertices.data[k / faces];
                memcpy(pair.v + 1, &surface.faces.data[3 * (k % faces)], 3 * sizeof(uint32_t));
            } else {
                size_t a = (k - vertices * faces) / edges, b = (k - vertices * faces) % edges;
                if (b <= a)
                    continue;
                memcpy(pair.v, &surface.edges.data[2 * a], 2 * sizeof(uint32_t));
                memcpy(pair.v + 2, &surface.edges.data[2 * b], 2 * sizeof(uint32_t));
            }
            bool same = surface.body.data[pair.v[0]] == surface.body.data[pair.v[3]];
            double part = 1.0, kept = _i < 2 ? 0.0
                                             : 0.5 * (clearance[surface.body.data[pair.v[0]]] +
                                                      clearance[surface.body.data[pair.v[3]]]);
            if (same)
                part = fmin(1.0, 0.5 * kiln_surface_pair_distance(&pair, mesh->u).d /
                                     (rules.thickness + kept));
            pair.clearance = part * kept;
            if (shares(&pair) || (same && !rules.self) ||
                kiln_surface_pair_distance(&pair, x).d >= part * rules.thickness * (1 - 1e-12))
                continue;
            near++;
            const kiln_surface_pair *found = find(&pairs, &pair);
            ck_assert_msg(found != NULL, "%u %u %u %u", pair.v[0], pair.v[1], pair.v[2], pair.v[3]);
            ck_assert_double_eq_tol(found->clearance, pair.clearance, 1e-15);
        }
    }
    ck_assert_uint_gt(near, 20);
    kiln_surface_pairs_free(&pairs);
    kiln_contact_surface_free(&surface);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Pairs for a way, thinned out for its end, are those a search for the end finds, in its order; the
 * rest stays behind them. */
START_TEST(test_thinned)
{
    enum { ROOM = 400 };
    kiln_context *context = kiln_test_context(2);
    kiln_box around[ROOM], at_end[ROOM];
    kiln_vec3 end[ROOM], way[ROOM];
    kiln_mesh *mesh = tangle(context, around, ROOM, 0.03);
    kiln_contact_surface surface = {0};
    kiln_surface_pairs pairs = {0}, again = {0};
    ck_assert_int_eq(kiln_contact_surface_build(&surface, mesh, NULL), KILN_OK);
    kiln_vec3 r = kiln_v3(0.01, 0.01, 0.01);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        end[v] = around[v].high;
        way[v] = kiln_v3_sub(end[v], mesh->x[v]);
        at_end[v] = (kiln_box){kiln_v3_sub(end[v], r), kiln_v3_add(end[v], r)};
        around[v] = kiln_box_join(
            at_end[v], (kiln_box){kiln_v3_sub(mesh->x[v], r), kiln_v3_add(mesh->x[v], r)});
    }
    kiln_pair_rules place = {
        .bodies = true, .self = true, .thickness = 0.05, .material_tells = true, .skin = 0.017321};
    kiln_pair_rules whole = place;
    whole.way = way;
    whole.part = 1.0;
    ck_assert_int_eq(
        kiln_surface_pairs_find(&pairs, &surface, &whole, around, mesh->u, mesh->x, NULL), KILN_OK);
    ck_assert_int_eq(
        kiln_surface_pairs_find(&again, &surface, &whole, around, mesh->u, mesh->x, NULL), KILN_OK);
    ck_assert_int_eq(kiln_surface_pairs_find(&again, &surface, &place, at_end, mesh->u, end, NULL),
                     KILN_OK);
    kiln_surface_pair last = pairs.pairs.data[pairs.pairs.count - 1];
    size_t before = pairs.pairs.count, count = before - 1;
    ck_assert_int_eq(kiln_surface_pairs_thin(&pairs, &place, at_end, end, &count, NULL), KILN_OK);
    ck_assert_uint_gt(count, 100);
    ck_assert_uint_lt(count, before - 100);
    ck_assert_uint_eq(pairs.pairs.count, count + 1);
    ck_assert_mem_eq(&pairs.pairs.data[count], &last, sizeof last);
    ck_assert_uint_ge(again.pairs.count, count);
    ck_assert_uint_le(again.pairs.count, count + 1); /* the last may be there */
    for (size_t i = 0; i < count; i++) {
        const kiln_surface_pair *a = &pairs.pairs.data[i], *b = &again.pairs.data[i];
        ck_assert_mem_eq(a->v, b->v, sizeof a->v);
        ck_assert_uint_eq(a->split, b->split);
        ck_assert_double_eq(a->reach, b->reach);
    }
    kiln_surface_pairs_free(&pairs);
    kiln_surface_pairs_free(&again);
    kiln_contact_surface_free(&surface);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Thirds of the area, each once. */
START_TEST(test_areas)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=2 ly=1 lz=1 nx=4 ny=2 nz=2");
    kiln_contact_surface surface = {0};
    ck_assert_int_eq(kiln_contact_surface_build(&surface, mesh, NULL), KILN_OK);
    double by_vertex = 0.0, by_edge = 0.0;
    for (size_t i = 0; i < surface.vertices.count; i++)
        by_vertex += surface.area.data[surface.vertices.data[i]];
    for (size_t i = 0; i < surface.edge_area.count; i++)
        by_edge += surface.edge_area.data[i];
    ck_assert_double_eq_tol(by_vertex, 10.0, 1e-12);
    ck_assert_double_eq_tol(by_edge, 10.0, 1e-12);
    ck_assert_int_eq(
        (int)(surface.vertices.count - surface.edges.count / 2 + surface.faces.count / 3), 2);
    kiln_contact_surface_free(&surface);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(test_without_memory)
{
    enum { ROOM = 400 };
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_box boxes[ROOM];
    kiln_mesh *mesh = tangle(context, boxes, ROOM, 0.03);
    kiln_pair_rules rules = {.bodies = true, .self = true, .thickness = 0.05};
    int64_t live = heap.live_bytes;
    for (uint64_t more = 1, failed = 1; failed; more += 1 + more / 4) {
        kiln_contact_surface surface = {0};
        kiln_surface_pairs pairs = {0};
        heap.fail_at = heap.calls + more;
        kiln_status status = kiln_contact_surface_build(&surface, mesh, NULL);
        if (status == KILN_OK)
            status =
                kiln_surface_pairs_find(&pairs, &surface, &rules, boxes, mesh->u, mesh->x, NULL);
        heap.fail_at = 0;
        failed = status != KILN_OK;
        kiln_surface_pairs_free(&pairs);
        kiln_contact_surface_free(&surface);
        ck_assert_int_eq(heap.live_bytes, live);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A bar along x from 0 to 2, 0.2 high, folded upwards in its middle until its halves enclose 0.08
 * rad: what was its top is then the inside of a slit. */
static kiln_vec3 fold(kiln_vec3 p)
{
    double along = fabs(p.x - 1.0), side = p.x < 1.0 ? -1.0 : 1.0, below = 0.2 - p.z;
    if (along == 0.0)
        return kiln_v3(0, p.y, -below);
    return kiln_v3(side * (along * sin(0.04) + below * cos(0.04)), p.y,
                   along * cos(0.04) - below * sin(0.04));
}

/* Of pairs of a body whose material follows the world, least and largest reach, of their distance;
 * at the fold, if it is folded. */
static void find_reaches(const char *settings, bool folded, double thickness, double reach[2])
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", settings);
    for (size_t i = 0; folded && i < soup.points.count; i++)
        soup.points.data[i] = fold(soup.points.data[i]);
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh = NULL;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    size_t used = mesh->table[KILN_ON_VERTEX].used;
    kiln_box *boxes = malloc(used * sizeof *boxes);
    for (uint32_t v = 0; v < used; v++)
        boxes[v] = (kiln_box){mesh->x[v], mesh->x[v]};
    kiln_contact_surface surface = {0};
    kiln_surface_pairs pairs = {0};
    const kiln_pair_rules rules = {.self = true, .thickness = thickness};
    ck_assert_int_eq(kiln_contact_surface_build(&surface, mesh, NULL), KILN_OK);
    ck_assert_int_eq(
        kiln_surface_pairs_find(&pairs, &surface, &rules, boxes, mesh->u, mesh->x, NULL), KILN_OK);
    reach[0] = INFINITY;
    reach[1] = 0.0;
    for (size_t i = 0; i < pairs.pairs.count; i++) {
        const kiln_surface_pair *pair = &pairs.pairs.data[i];
        bool counts = !folded;
        for (int k = 0; k < 4; k++)
            counts |= mesh->x[pair->v[k]].x == 0.0;
        double part = pair->reach / kiln_surface_pair_distance(pair, mesh->x).d;
        reach[0] = counts ? fmin(reach[0], part) : reach[0];
        reach[1] = counts ? fmax(reach[1], part) : reach[1];
    }
    free(boxes);
    kiln_surface_pairs_free(&pairs);
    kiln_contact_surface_free(&surface);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}

/* Neighbours with air between them, at the bottom of a slit, repel; those with matter between them,
 * on both sides of a sheet, do not. */
START_TEST(test_air_between)
{
    double slit[2], sheet[2];
    find_reaches("lx=2 ly=0.3 lz=0.2 nx=8 ny=1 nz=1", true, 0.06, slit);
    find_reaches("lx=1 ly=1 lz=0.1 nx=4 ny=4 nz=1", false, 0.2, sheet);
    ck_assert_double_eq_tol(slit[0], 2.0, 1e-9);
    ck_assert_msg(sheet[1] <= 1.0, "%g of their distance", sheet[1]);
}
END_TEST

/* Validation C2: the gap at which a pressure is carried; derivatives by differences. */
START_TEST(test_repulsion)
{
    double low = 0.5, high = 1.0;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        if (-kiln_repulsion_at(middle).slope > 9.81e-3)
            low = middle;
        else
            high = middle;
    }
    ck_assert_double_eq_tol(low, 0.943906, 1e-6);
    for (double s = 0.05; s < 1.1; s += 0.05) {
        double h = 1e-5;
        kiln_repulsion b = kiln_repulsion_at(s), l = kiln_repulsion_at(s - h),
                       r = kiln_repulsion_at(s + h);
        ck_assert_double_eq_tol((r.value - l.value) / (2 * h), b.slope, 1e-6 * (1 + 1 / s));
        ck_assert_double_eq_tol((r.slope - l.slope) / (2 * h), b.curvature, 1e-4 / (s * s));
        ck_assert_double_ge(b.curvature, 0.0);
    }
    ck_assert(isinf(kiln_repulsion_at(0.0).value));
    ck_assert_double_eq(kiln_repulsion_at(1.0).value, 0.0);
}
END_TEST

/* Corners that closest points have a part of, by bits. */
static int corners_of(const kiln_pair_distance *at)
{
    int bits = 0;
    for (int k = 0; k < 4; k++)
        bits |= (at->weight[k] != 0.0) << k;
    return bits;
}

/* By differences of grad d; false: a corner comes in meanwhile. */
static bool difference(const kiln_surface_pair *pair, kiln_vec3 *x, double hessian[12][12])
{
    const double step = 1e-6;
    const kiln_pair_distance at = kiln_surface_pair_distance(pair, x);
    for (int j = 0; j < 12; j++)
        for (int side = -1; side <= 1; side += 2) {
            kiln_vec3 moved[4] = {x[0], x[1], x[2], x[3]};
            (&moved[j / 3].x)[j % 3] += side * step;
            kiln_pair_distance there = kiln_surface_pair_distance(pair, moved);
            if (corners_of(&there) != corners_of(&at))
                return false;
            for (int i = 0; i < 12; i++) {
                double slope = there.weight[i / 3] * (&there.normal.x)[i % 3];
                hessian[i][j] = (side > 0 ? hessian[i][j] : 0.0) + 0.5 * side * slope / step;
            }
        }
    return true;
}

/* Of vertices before faces, edges and corners, and of edges that cross: how the normal turns. */
START_TEST(test_turning)
{
    kiln_random random = kiln_random_start(11, 0);
    bool seen[2][16] = {{false}};
    for (int n = 0; n < 400; n++) {
        kiln_surface_pair pair = {.v = {0, 1, 2, 3}, .split = 1 + n % 2, .clearance = 0.01 * _i};
        kiln_vec3 x[4];
        double wanted[12][12], found[4][4][3][3];
        for (int i = 0; i < 12; i++)
            (&x[i / 3].x)[i % 3] = kiln_random_unit(&random);
        kiln_pair_distance at = kiln_surface_pair_distance(&pair, x);
        if (at.d < 0.1 || !difference(&pair, x, wanted))
            continue;
        seen[n % 2][corners_of(&at)] = true;
        ck_assert(kiln_surface_pair_turning(&pair, x, &at, found));
        double most = 1.0;
        for (int i = 0; i < 144; i++)
            most = fmax(most, fabs(wanted[i / 12][i % 12]));
        for (int i = 0; i < 12; i++)
            for (int j = i / 3 * 3; j < 12; j++)
                ck_assert_double_eq_tol(found[i / 3][j / 3][i % 3][j % 3], wanted[i][j],
                                        1e-5 * most * most);
    }
    ck_assert(seen[0][15] && seen[0][7] && seen[0][3] && seen[1][15] && seen[1][7] && seen[1][5]);
    kiln_vec3 along[4] = {{0, 0, 0}, {1, 0, 0}, {0.3, 1, 0}, {1.2, 1, 0}};
    kiln_surface_pair edges = {.v = {0, 1, 2, 3}, .split = 2};
    kiln_pair_distance level = {
        .d = 1, .normal = kiln_v3(0, -1, 0), .weight = {0.4, 0.6, -0.5, -0.5}};
    double none[4][4][3][3];
    ck_assert(!kiln_surface_pair_turning(&edges, along, &level, none));
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("pairs");
    TCase *tc = kiln_test_case(suite, "pairs");
    tcase_add_loop_test(tc, test_complete, 0, 4);
    tcase_add_test(tc, test_thinned);
    tcase_add_test(tc, test_areas);
    tcase_add_test(tc, test_without_memory);
    tcase_add_test(tc, test_air_between);
    tcase_add_test(tc, test_repulsion);
    tcase_add_loop_test(tc, test_turning, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}

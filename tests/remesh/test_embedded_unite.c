/* Fine surfaces of bodies that became one: one closed surface, without what lies inside. */
#include "base/random.h"
#include "fixtures.h"
#include "geom/triangle_tree.h"
#include "remesh/domain.h"
#include "remesh/embedded.h"
#include "remesh/embedded_unite.h"
#include "support.h"
#include "topology/edge_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3 };

static kiln_context *context;
static kiln_mesh *old, *fresh;
static kiln_embedded *list[MOST];
static uint32_t bodies[MOST] = {0, 1, 2};
static size_t count;
static double fine_volume;

typedef struct piece {
    const char *shape, *coarse, *fine;
    kiln_vec3 at;
} piece;

/* Turned about an axis that is none of the mesh's, and moved. */
static kiln_vec3 placed(kiln_vec3 p, kiln_vec3 at, double angle, kiln_vec3 far)
{
    p = kiln_v3_add(p, at);
    double c = cos(angle), s = sin(angle);
    kiln_vec3 q = {c * p.x - s * p.y, s * p.x + c * p.y, p.z};
    return kiln_v3_add(far, kiln_v3(q.x, c * q.y - s * q.z, s * q.y + c * q.z));
}

static double volume_of(const kiln_soup *soup)
{
    double sum = 0.0;
    const kiln_vec3 *p = soup->points.data, o = p[0];
    for (size_t t = 0; t < soup->triangles.count; t++) {
        const uint32_t *v = soup->triangles.data[t].v;
        sum += kiln_v3_triple(kiln_v3_sub(p[v[0]], o), kiln_v3_sub(p[v[1]], o),
                              kiln_v3_sub(p[v[2]], o)) /
               6.0;
    }
    return sum;
}

static kiln_soup shaped(const char *shape, const char *settings, const piece *of, double angle,
                        kiln_vec3 far)
{
    kiln_soup soup = kiln_test_soup(context, shape, settings);
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = soup.points.data[i];
        double turn = p.x / 6.0 * (2.0 * KILN_PI - 0.02);
        if (strcmp(shape, "box") == 0) /* a bar of 6 m becomes a ring that is open by a little */
            p = kiln_v3((2.0 - p.y) * cos(turn), (2.0 - p.y) * sin(turn), p.z);
        soup.points.data[i] = placed(p, of->at, angle, far);
    }
    return soup;
}

/* Part k is body k. */
static void name_bodies(kiln_mesh *mesh)
{
    for (uint32_t p = 0; p < mesh->parts.count; p++)
        mesh->parts.data[p].body = p;
}

static void begin(const piece *pieces, size_t number, double angle, kiln_vec3 far)
{
    kiln_error error;
    kiln_soup all;
    kiln_domain_options options = kiln_domain_default_options();
    context = kiln_test_context(2);
    kiln_soup_init(&all, context);
    count = number;
    for (size_t i = 0; i < number; i++) {
        kiln_soup soup = shaped(pieces[i].shape, pieces[i].coarse, &pieces[i], angle, far);
        ck_assert_int_eq(kiln_soup_append(&all, &soup, 0, NULL), KILN_OK);
        kiln_soup_free(&soup);
    }
    ck_assert_msg(kiln_mesh_build(context, &all, NULL, &old, NULL, &error) == KILN_OK, "%s",
                  error.message);
    kiln_soup_free(&all);
    ck_assert_uint_eq(old->parts.count, number);
    name_bodies(old);
    fine_volume = 0.0;
    for (uint32_t i = 0; i < number; i++) {
        list[i] = NULL;
        if (!pieces[i].fine) {
            fine_volume += old->parts.data[i].volume;
            continue;
        }
        kiln_soup soup = shaped(pieces[i].shape, pieces[i].fine, &pieces[i], angle, far);
        soup.tets.count = soup.tet_tags.count = 0;
        fine_volume += volume_of(&soup);
        ck_assert_int_eq(
            kiln_embedded_create(old, &soup, KILN_SPACE_MATERIAL, i, &list[i], NULL, NULL),
            KILN_OK);
        kiln_soup_free(&soup);
    }
    options.gap = 0.5;
    options.least = 0.1;
    ck_assert_msg(kiln_domain_remesh(old, &options, &fresh, NULL, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_ptr_nonnull(fresh);
    ck_assert_uint_eq(fresh->parts.count, 1);
    name_bodies(fresh);
}

static void end(void)
{
    for (size_t i = 0; i < count; i++)
        kiln_embedded_destroy(list[i]);
    kiln_mesh_destroy(old);
    kiln_mesh_destroy(fresh);
    kiln_context_destroy(context);
}

static kiln_soup soup_of(const kiln_embedded *e)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_embedded_to_soup(e, fresh, &soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_check(&soup, "surface", NULL), KILN_OK);
    return soup;
}

static uint32_t root_of(uint32_t *root, uint32_t v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

/* Closed, one piece; returns Euler's number. */
static long check_manifold(const kiln_soup *soup)
{
    kiln_edge_table table = {0};
    size_t used = 0, pieces = 0;
    uint32_t *root = calloc(soup->points.count, sizeof *root);
    for (uint32_t v = 0; v < soup->points.count; v++)
        root[v] = v;
    ck_assert_int_eq(
        kiln_edge_table_build(&table, context, soup->triangles.data, soup->triangles.count, NULL),
        KILN_OK);
    uint8_t *seen = calloc(soup->points.count, 1);
    for (size_t s = 0; s < 3 * soup->triangles.count; s++) {
        const uint32_t *v = soup->triangles.data[s / 3].v;
        uint32_t a = v[s % 3], b = v[(s + 1) % 3];
        const kiln_edge_slot *edge = kiln_edge_table_find(&table, a, b);
        ck_assert_uint_eq(edge->count, 2);
        ck_assert(!kiln_edge_is_turned(edge, soup->triangles.data));
        used += !seen[a];
        seen[a] = 1;
        a = root_of(root, a), b = root_of(root, b);
        root[a > b ? a : b] = a > b ? b : a;
    }
    for (uint32_t v = 0; v < soup->points.count; v++)
        pieces += seen[v] && root[v] == v;
    ck_assert_uint_eq(pieces, 1);
    kiln_edge_table_free(&table);
    free(root);
    free(seen);
    return (long)used - (long)soup->triangles.count / 2;
}

/* How far the deepest vertex is inside the new mesh, and the volume of that. */
static double deepest(const kiln_soup *soup, double *volume)
{
    const uint8_t member[MOST] = {1, 1, 1};
    kiln_triangle_array outline = {0};
    kiln_triangle_tree tree = {0};
    kiln_vec3 origin = fresh->x[0];
    double deep = 0.0;
    ck_assert_int_eq(kiln_outline_of(fresh, member, origin, &outline, NULL), KILN_OK);
    ck_assert_int_eq(kiln_triangle_tree_build(&tree, context, outline.data, outline.count, NULL),
                     KILN_OK);
    for (size_t i = 0; i < soup->points.count; i++) {
        double far;
        kiln_vec3 p = kiln_v3_sub(soup->points.data[i], origin);
        kiln_triangle_tree_closest(&tree, p, INFINITY, &far);
        if (kiln_triangle_tree_winding(&tree, p) > 0.5)
            deep = fmax(deep, far);
    }
    *volume = 0.0;
    for (size_t t = 0; t < outline.count; t++)
        *volume +=
            kiln_v3_triple(outline.data[t].p[0], outline.data[t].p[1], outline.data[t].p[2]) / 6;
    kiln_triangle_tree_destroy(&tree);
    kiln_array_free(context, &outline);
    return deep;
}

#define BALLS "radius=1 h=0.4", "radius=1 h=0.12"
static const struct {
    const char *name;
    size_t count;
    piece pieces[MOST];
    long euler;
} cases[] = {
    {"across a gap", 2, {{"ball", BALLS, {0, 0, 0}}, {"ball", BALLS, {2.03, 0, 0}}}, 2},
    {"lapping over", 2, {{"ball", BALLS, {0, 0, 0}}, {"ball", BALLS, {1.7, 0, 0}}}, 2},
    {"one has none",
     2,
     {{"ball", BALLS, {0, 0, 0}}, {"ball", "radius=1 h=0.4", NULL, {2.02, 0, 0}}},
     2},
    {"a row of three",
     3,
     {{"ball", BALLS, {0, 0, 0}}, {"ball", BALLS, {2.02, 0, 0}}, {"ball", BALLS, {4.0, 0.3, 0}}},
     2},
    {"a ring of three",
     3,
     {{"ball", BALLS, {0, 0, 0}}, {"ball", BALLS, {1.98, 0, 0}}, {"ball", BALLS, {0.99, 1.72, 0}}},
     0},
    {"ball and torus",
     2,
     {{"torus", "major=1.5 minor=0.5 h=0.3", "major=1.5 minor=0.5 h=0.12", {0, 0, 0}},
      {"ball", "radius=0.6 h=0.3", "radius=0.6 h=0.12", {1.5, 0, 1.05}}},
     0},
};
enum { CASES = sizeof cases / sizeof cases[0], WAYS = 3 };
static const struct {
    double angle;
    kiln_vec3 far;
} ways[WAYS] = {{0, {0, 0, 0}}, {0.7, {3, -5, 2}}, {1.9, {-4e5, 2e5, 1e5}}};

START_TEST(what_became_one_has_one_surface)
{
    int way = _i % WAYS, which = _i / WAYS;
    double volume;
    bool done = false;
    begin(cases[which].pieces, cases[which].count, ways[way].angle, ways[way].far);
    double coarse = 0.0;
    for (size_t p = 0; p < old->parts.count; p++)
        coarse += old->parts.data[p].volume;
    ck_assert_int_eq(kiln_embedded_unite(list, bodies, count, old, fresh, &done, NULL), KILN_OK);
    ck_assert_msg(done, "%s", cases[which].name);
    for (size_t i = 1; i < count; i++)
        ck_assert(!list[i] || kiln_embedded_vertices(list[i]) == 0);
    kiln_soup soup = soup_of(list[0]);
    long euler = check_manifold(&soup);
    double deep = deepest(&soup, &volume), got = volume_of(&soup);
    ck_assert_int_eq(euler, cases[which].euler);
    ck_assert_double_le(deep, 0.1); /* a quarter of an edge: where the bridge is drawn in */
    ck_assert_double_eq_tol(got / fine_volume, volume / coarse, 0.005);
    kiln_soup_free(&soup);
    end();
}
END_TEST

/* Lumps that lie anyhow, apart by a little or lapping over. */
START_TEST(however_they_lie)
{
    kiln_random random = kiln_random_start(15, (uint64_t)_i);
    kiln_vec3 way = {kiln_random_range(&random, -1, 1), kiln_random_range(&random, -1, 1),
                     kiln_random_range(&random, -1, 1)};
    way = kiln_v3_scale(way, kiln_random_range(&random, 1.75, 2.03) / kiln_v3_norm(way));
    const piece pieces[2] = {{"ball", BALLS, {0, 0, 0}}, {"ball", BALLS, way}};
    double volume;
    bool done = false;
    begin(pieces, 2, kiln_random_range(&random, 0, 6), kiln_v3(7, 8, 9));
    double coarse = old->parts.data[0].volume + old->parts.data[1].volume;
    ck_assert_int_eq(kiln_embedded_unite(list, bodies, count, old, fresh, &done, NULL), KILN_OK);
    ck_assert(done);
    kiln_soup soup = soup_of(list[0]);
    ck_assert_int_eq(check_manifold(&soup), 2);
    ck_assert_double_le(deepest(&soup, &volume), 0.1);
    ck_assert_double_eq_tol(volume_of(&soup) / fine_volume, volume / coarse, 0.005);
    kiln_soup_free(&soup);
    end();
}
END_TEST

/* A clasp whose ends have met: a ring. */
START_TEST(what_folds_onto_itself)
{
    const piece clasp = {"box", "lx=6 ny=3 nz=3 nx=18", "lx=6 ny=6 nz=6 nx=36", {0, 0, 0}};
    double volume;
    bool done = false;
    begin(&clasp, 1, 0.3, kiln_v3(0, 0, 0));
    ck_assert_int_eq(kiln_embedded_unite(list, bodies, count, old, fresh, &done, NULL), KILN_OK);
    ck_assert(done);
    kiln_soup soup = soup_of(list[0]);
    ck_assert_int_eq(check_manifold(&soup), 0);
    ck_assert_double_le(deepest(&soup, &volume), 0.2);
    ck_assert_double_eq_tol(volume_of(&soup) / fine_volume, volume / old->parts.data[0].volume,
                            0.005);
    kiln_soup_free(&soup);
    end();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("embedded surfaces that are united");
    TCase *all = kiln_test_case(suite, "unite");
    tcase_add_loop_test(all, what_became_one_has_one_surface, 0, CASES * WAYS);
    tcase_add_test(all, what_folds_onto_itself);
    tcase_add_loop_test(all, however_they_lie, 0, (int)kiln_test_rounds(8, 60));
    return suite;
}

#include "remesh/delaunay.h"

#include "geom/predicates.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

enum { CLOUD = 600 };

typedef struct cloud {
    size_t count;
    kiln_vec3 *points;
} cloud;

static cloud cloud_of(size_t count)
{
    return (cloud){count, malloc((count + 1) * sizeof(kiln_vec3))};
}

static cloud random_cloud(size_t count, uint64_t seed)
{
    cloud c = cloud_of(count);
    kiln_random random = kiln_random_start(seed, 0);
    for (size_t i = 0; i < count; i++) {
        double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
        c.points[i] = kiln_v3(x, y, kiln_random_unit(&random));
    }
    return c;
}

static cloud grid_cloud(size_t nx, size_t ny, size_t nz)
{
    cloud c = cloud_of(nx * ny * nz);
    for (size_t i = 0; i < c.count; i++)
        c.points[i] = kiln_v3((double)(i % nx), (double)(i / nx % ny), (double)(i / nx / ny));
    return c;
}

/* Half of them cospherical, the rest crowded at one corner with distances down to 1e-9. */
static cloud mixed_cloud(size_t count, uint64_t seed)
{
    cloud c = random_cloud(count, seed);
    for (size_t i = 0; i < count; i++) {
        if (i % 2)
            c.points[i] = kiln_v3_scale(c.points[i], pow(10.0, -(double)(i % 10)));
        else
            c.points[i] = kiln_v3((double)(i % 5) - 2.0, (double)(i / 5 % 3) - 1.0,
                                  (double)(i / 15 % 4) * 0.5);
    }
    return c;
}

static cloud sphere_cloud(size_t count)
{
    cloud c = random_cloud(count, 9);
    for (size_t i = 0; i < count; i++)
        c.points[i] = i ? kiln_v3_normalize(kiln_v3_sub(c.points[i], kiln_v3(0.5, 0.5, 0.5)))
                        : kiln_v3(0, 0, 0);
    return c;
}

static kiln_delaunay triangulate(kiln_context *context, cloud c)
{
    kiln_delaunay delaunay = {0};
    kiln_error error;
    ck_assert_msg(kiln_delaunay_build(&delaunay, context, c.points, c.count, &error) == KILN_OK,
                  "%s", error.message);
    return delaunay;
}

/* Counted, not asserted one by one: an assertion costs more than what it looks at. */
static void check_links(const kiln_delaunay *delaunay, cloud c)
{
    size_t inverted = 0, one_sided = 0, mismatched = 0;
    for (uint32_t t = 0; t < delaunay->tets.count; t++) {
        const kiln_tet *tet = &delaunay->tets.data[t];
        const kiln_vec3 *x = c.points;
        inverted += kiln_orient3d_sign(x[tet->v[0]], x[tet->v[1]], x[tet->v[2]], x[tet->v[3]]) != 1;
        for (uint32_t i = 0; i < 4; i++) {
            if (tet->n[i] == KILN_NONE)
                continue;
            const kiln_tet *other = &delaunay->tets.data[tet->n[i] / 4];
            one_sided += other->n[tet->n[i] % 4] != kiln_link_to(t, i);
            for (uint32_t k = 0; k < 4; k++)
                mismatched += (k != i) != (kiln_tet_corner(other, tet->v[k]) != 4);
        }
    }
    ck_assert_uint_eq(inverted, 0);
    ck_assert_uint_eq(one_sided, 0);
    ck_assert_uint_eq(mismatched, 0);
}

static void check_empty_spheres(const kiln_delaunay *delaunay, cloud c)
{
    size_t inside = 0;
    for (size_t t = 0; t < delaunay->tets.count; t++) {
        const uint32_t *v = delaunay->tets.data[t].v;
        for (size_t p = 0; p < c.count; p++)
            inside += kiln_insphere(c.points[v[0]], c.points[v[1]], c.points[v[2]], c.points[v[3]],
                                    c.points[p]) > 0.0;
    }
    ck_assert_uint_eq(inside, 0);
}

typedef struct hull {
    size_t faces;
    double volume;
} hull;

/* The faces without a neighbour must have all points on their inner side. */
static hull check_hull(const kiln_delaunay *delaunay, cloud c)
{
    hull h = {0};
    size_t beyond = 0;
    for (size_t t = 0; t < delaunay->tets.count; t++)
        for (int i = 0; i < 4; i++) {
            const kiln_tet *tet = &delaunay->tets.data[t];
            if (tet->n[i] != KILN_NONE)
                continue;
            const uint8_t *f = kiln_face_corner[i];
            kiln_vec3 a = c.points[tet->v[f[0]]], b = c.points[tet->v[f[1]]];
            kiln_vec3 d = c.points[tet->v[f[2]]];
            for (size_t p = 0; p < c.count; p++)
                beyond += kiln_orient3d_sign(a, b, d, c.points[p]) > 0;
            h.faces++;
            h.volume += kiln_v3_triple(a, b, d) / 6.0;
        }
    ck_assert_uint_eq(beyond, 0);
    return h;
}

static int compare_edges(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q;
}

static size_t count_edges(const kiln_delaunay *delaunay)
{
    size_t count = 6 * delaunay->tets.count, distinct = 0;
    uint64_t *edge = malloc(count * sizeof *edge);
    for (size_t i = 0; i < count; i++) {
        const uint32_t *v = delaunay->tets.data[i / 6].v;
        uint32_t a = v[kiln_edge_ends[i % 6][0]], b = v[kiln_edge_ends[i % 6][1]];
        edge[i] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    }
    qsort(edge, count, sizeof *edge, compare_edges);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || edge[i] != edge[i - 1];
    free(edge);
    return distinct;
}

/* Signed and exact properties, the hull, V - E + F - T = 1 of a ball, and the volume two ways. */
static void check_cloud(cloud c, size_t used)
{
    kiln_context *context = kiln_test_context(1);
    kiln_delaunay delaunay = triangulate(context, c);
    ck_assert_uint_eq(delaunay.duplicates, c.count - used);
    check_links(&delaunay, c);
    check_empty_spheres(&delaunay, c);
    hull h = check_hull(&delaunay, c);
    size_t faces = (4 * delaunay.tets.count + h.faces) / 2;
    ck_assert_int_eq(
        (long)used - (long)count_edges(&delaunay) + (long)faces - (long)delaunay.tets.count, 1);
    double volume = 0.0;
    for (size_t t = 0; t < delaunay.tets.count; t++) {
        const uint32_t *v = delaunay.tets.data[t].v;
        volume += kiln_tet_volume(c.points[v[0]], c.points[v[1]], c.points[v[2]], c.points[v[3]]);
    }
    ck_assert_double_eq_tol(volume, h.volume, 1e-12 * fabs(h.volume));
    kiln_delaunay_destroy(&delaunay);
    kiln_context_destroy(context);
    free(c.points);
}

START_TEST(random_points)
{
    for (uint64_t seed = 0; seed < kiln_test_rounds(3, 100); seed++)
        check_cloud(random_cloud(CLOUD, seed), CLOUD);
}
END_TEST

START_TEST(few_points)
{
    for (size_t count = 4; count < 12; count++)
        for (uint64_t seed = 0; seed < 20; seed++)
            check_cloud(random_cloud(count, seed), count);
}
END_TEST

START_TEST(cospherical_grids)
{
    check_cloud(grid_cloud(2, 2, 2), 8);
    check_cloud(grid_cloud(7, 8, 9), 504);
    check_cloud(grid_cloud(40, 3, 2), 240);
}
END_TEST

START_TEST(points_on_a_sphere)
{
    check_cloud(sphere_cloud(300), 300);
}
END_TEST

static size_t count_places(cloud c)
{
    size_t places = 0;
    for (size_t i = 0; i < c.count; i++) {
        size_t j = 0;
        while (memcmp(&c.points[j], &c.points[i], sizeof *c.points) != 0)
            j++;
        places += j == i;
    }
    return places;
}

START_TEST(crowded_and_repeated_points)
{
    cloud c = mixed_cloud(400, 3);
    check_cloud(c, count_places(c));
    c = random_cloud(100, 4);
    for (size_t i = 50; i < 100; i++)
        c.points[i] = c.points[i - 50];
    check_cloud(c, 50);
    c = grid_cloud(3, 3, 3);
    c.points[0] = kiln_v3(-0.0, 0.0, -0.0);
    c.points[26] = kiln_v3(0.0, -0.0, 0.0);
    check_cloud(c, 26);
}
END_TEST

static int compare_tets(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(kiln_soup_tet));
}

/* The tets by the ranks of their points in `name`, sorted; a set to compare. */
static kiln_soup_tet *tet_set(const kiln_delaunay *delaunay, const uint32_t *name)
{
    size_t count = delaunay->tets.count;
    kiln_soup_tet *set = malloc(count * sizeof *set);
    for (size_t t = 0; t < count; t++) {
        for (int i = 0; i < 4; i++)
            set[t].v[i] = name[delaunay->tets.data[t].v[i]];
        for (int i = 1; i < 4; i++)
            for (int j = i; j > 0 && set[t].v[j - 1] > set[t].v[j]; j--) {
                uint32_t swap = set[t].v[j];
                set[t].v[j] = set[t].v[j - 1];
                set[t].v[j - 1] = swap;
            }
    }
    qsort(set, count, sizeof *set, compare_tets);
    return set;
}

static void check_same_set(cloud a, const uint32_t *name_a, cloud b, const uint32_t *name_b)
{
    kiln_context *context = kiln_test_context(1);
    kiln_delaunay da = triangulate(context, a), db = triangulate(context, b);
    ck_assert_uint_eq(da.tets.count, db.tets.count);
    kiln_soup_tet *sa = tet_set(&da, name_a), *sb = tet_set(&db, name_b);
    ck_assert_int_eq(memcmp(sa, sb, da.tets.count * sizeof *sa), 0);
    free(sa);
    free(sb);
    kiln_delaunay_destroy(&da);
    kiln_delaunay_destroy(&db);
    kiln_context_destroy(context);
}

static void check_permutation(cloud c, uint64_t seed)
{
    cloud shuffled = cloud_of(c.count);
    uint32_t *own = malloc(c.count * sizeof *own), *name = malloc(c.count * sizeof *name);
    kiln_random random = kiln_random_start(seed, 1);
    for (uint32_t i = 0; i < c.count; i++) {
        uint32_t j = kiln_random_below(&random, i + 1);
        own[i] = i;
        name[i] = name[j];
        name[j] = i;
    }
    for (size_t i = 0; i < c.count; i++)
        shuffled.points[i] = c.points[name[i]];
    check_same_set(c, own, shuffled, name);
    free(own);
    free(name);
    free(shuffled.points);
    free(c.points);
}

START_TEST(order_of_the_points_does_not_matter)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        check_permutation(random_cloud(2000, seed), seed);
        check_permutation(grid_cloud(9, 8, 7), seed);
        check_permutation(sphere_cloud(500), seed);
    }
}
END_TEST

START_TEST(size_does_not_matter)
{
    const double scales[] = {0x1p-20, 0x1p20, 0x1p-200, 0x1p180};
    for (size_t k = 0; k < 4; k++) {
        cloud c = random_cloud(1000, 5), scaled = random_cloud(1000, 5);
        uint32_t name[1000];
        for (uint32_t i = 0; i < 1000; i++) {
            name[i] = i;
            scaled.points[i] = kiln_v3_scale(c.points[i], scales[k]);
        }
        check_same_set(c, name, scaled, name);
        free(c.points);
        free(scaled.points);
    }
}
END_TEST

static void check_refused(cloud c, const char *part)
{
    kiln_context *context = kiln_test_context(1);
    kiln_delaunay delaunay = {0};
    kiln_error error;
    ck_assert_int_eq(kiln_delaunay_build(&delaunay, context, c.points, c.count, &error),
                     KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    ck_assert_uint_eq(delaunay.tets.count, 0);
    kiln_delaunay_destroy(&delaunay);
    kiln_context_destroy(context);
    free(c.points);
}

START_TEST(flat_input_is_refused)
{
    check_refused(grid_cloud(0, 1, 1), "no points");
    check_refused(grid_cloud(1, 1, 1), "one place");
    check_refused(grid_cloud(9, 1, 1), "one line");
    check_refused(grid_cloud(9, 9, 1), "one plane");
    cloud c = random_cloud(50, 1);
    c.points[17].y = NAN;
    check_refused(c, "not finite");
}
END_TEST

START_TEST(failing_memory_leaves_nothing)
{
    cloud c = random_cloud(200, 8);
    for (uint64_t fail_at = 1;; fail_at++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        heap.fail_at = heap.calls + fail_at;
        kiln_delaunay delaunay = {0};
        kiln_status status = kiln_delaunay_build(&delaunay, context, c.points, c.count, NULL);
        kiln_delaunay_destroy(&delaunay);
        heap.fail_at = 0;
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
    }
    free(c.points);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("delaunay");
    TCase *tcase = kiln_test_case(suite, "delaunay");
    tcase_add_test(tcase, random_points);
    tcase_add_test(tcase, few_points);
    tcase_add_test(tcase, cospherical_grids);
    tcase_add_test(tcase, points_on_a_sphere);
    tcase_add_test(tcase, crowded_and_repeated_points);
    tcase_add_test(tcase, order_of_the_points_does_not_matter);
    tcase_add_test(tcase, size_does_not_matter);
    tcase_add_test(tcase, flat_input_is_refused);
    tcase_add_test(tcase, failing_memory_leaves_nothing);
    return suite;
}

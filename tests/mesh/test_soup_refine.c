/* Halving keeps the volume, the outline and the tags; slabs are prisms cut into tets that fit. */
#include "mesh/build.h"
#include "mesh/shapes.h"
#include "mesh/soup_refine.h"
#include "support.h"

#include <math.h>

static double volume_of(const kiln_soup *soup)
{
    double sum = 0.0;
    for (size_t t = 0; t < soup->tets.count; t++) {
        const kiln_vec3 *x = soup->points.data;
        const uint32_t *v = soup->tets.data[t].v;
        kiln_vec3 a = kiln_v3_sub(x[v[1]], x[v[0]]), b = kiln_v3_sub(x[v[2]], x[v[0]]);
        double six = kiln_v3_dot(kiln_v3_cross(a, b), kiln_v3_sub(x[v[3]], x[v[0]]));
        ck_assert_double_gt(six, 0.0);
        sum += six / 6.0;
    }
    return sum;
}

static kiln_mesh *build(const kiln_soup *soup)
{
    kiln_mesh *mesh;
    kiln_error error = {0};
    ck_assert_msg(kiln_mesh_build(soup->context, soup, NULL, &mesh, NULL, &error) == KILN_OK, "%s",
                  error.message);
    return mesh;
}

START_TEST(tets_are_halved)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    kiln_shape_values values;
    size_t count;
    const kiln_shape *shape, *const *shapes = kiln_shapes(&count);
    ck_assert_int_eq(kiln_shape_find(shapes, count, "box", &shape, NULL), KILN_OK);
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_shape_parse(shape, 0, NULL, &values, NULL), KILN_OK);
    ck_assert_int_eq(shape->generate(&values, &soup, NULL), KILN_OK);
    size_t tets = soup.tets.count, triangles = soup.triangles.count;
    ck_assert_int_eq(kiln_soup_halve(&soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_halve(&soup, NULL), KILN_OK);
    ck_assert_uint_eq(soup.tets.count, 64 * tets);
    ck_assert_uint_eq(soup.triangles.count, 16 * triangles);
    ck_assert_uint_eq(soup.triangle_tags.count, soup.triangles.count);
    ck_assert_double_eq_tol(volume_of(&soup), 1.0, 1e-11); /* 25k terms */
    kiln_mesh *mesh = build(&soup);
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_FACE), 16 * triangles);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) { /* patch 1 is -x */
        uint32_t at = mesh->face[f].at;
        bool on_side = true;
        for (int k = 0; k < 3; k++)
            on_side &= mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]].x == 0.0;
        ck_assert_int_eq(mesh->face[f].tag == 1, on_side);
    }
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* An L of triangles, numbered so that diagonals have to be agreed upon. */
START_TEST(triangles_are_drawn_out)
{
    static const kiln_vec3 points[] = {{0, 0, 3}, {2, 0, 3}, {1, 1, 3}, {2, 1, 3},
                                       {0, 2, 3}, {1, 2, 3}, {0, 1, 3}, {1, 0, 3}};
    static const kiln_soup_triangle triangles[] = {{{0, 7, 2}}, {{0, 2, 6}}, {{7, 1, 3}},
                                                   {{7, 3, 2}}, {{2, 5, 6}}, {{5, 4, 6}}};
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.points, points[i], NULL), KILN_OK);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(kiln_array_push(context, &soup.triangles, triangles[i], NULL), KILN_OK);
        ck_assert_int_eq(kiln_array_push(context, &soup.triangle_tags, i / 2, NULL), KILN_OK);
    }
    ck_assert(kiln_soup_is_flat(&soup));
    ck_assert_int_eq(kiln_soup_halve(&soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_draw_out(&soup, 0.5, NULL), KILN_OK);
    ck_assert(!kiln_soup_is_flat(&soup));
    ck_assert_uint_eq(soup.tets.count, 3 * 4 * 6);
    ck_assert_int_eq(soup.tet_tags.data[0], 0);
    ck_assert_int_eq(soup.tet_tags.data[3 * 4 * 6 - 1], 2);
    ck_assert_double_eq_tol(volume_of(&soup), 3.0 * 0.5, 1e-13);
    kiln_mesh *mesh = build(&soup);
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_FACE), 2 * 24 + 2 * 16);
    kiln_mesh_destroy(mesh);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("soup refine");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_test(all, tets_are_halved);
    tcase_add_test(all, triangles_are_drawn_out);
    return suite;
}

#include "fixtures.h"
#include "geom/box.h"
#include "geom/distance.h"
#include "remesh/begin_mesh.h"
#include "support.h"

#include <float.h>
#include <stdlib.h>

/* World positions that are affine in the material ones. */
static kiln_vec3 deform(kiln_vec3 u)
{
    return kiln_v3(1.5 * u.x + 0.25 * u.y + 3, u.y - 0.25 * u.z, 2 * u.z + 0.5 * u.x);
}

static kiln_mesh *box(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=5 ny=5 nz=5");
    kiln_test_jitter(mesh, 0.03, 2);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = deform(mesh->u[v]);
    return mesh;
}

static kiln_vec3 random_point(kiln_random *random, double low, double high)
{
    double x = kiln_random_range(random, low, high), y = kiln_random_range(random, low, high);
    return kiln_v3(x, y, kiln_random_range(random, low, high));
}

/* What a place says must hold for begin positions that the test kept itself. */
static void check_place(const kiln_mesh *mesh, const kiln_tet *tets, const kiln_vec3 *u,
                        kiln_vec3 point, const kiln_begin_place *place)
{
    const uint32_t *v = tets[place->tet].v;
    ck_assert_uint_ne(v[0], KILN_NONE);
    double sum = 0.0, least = 1.0;
    kiln_vec3 back = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        sum += place->weight[i];
        least = fmin(least, place->weight[i]);
        back = kiln_v3_madd(back, place->weight[i], u[v[i]]);
    }
    ck_assert_double_eq_tol(sum, 1.0, 1e-13);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(back, point)), 1e-12);
    ck_assert_msg(place->inside == (least >= -1e-12), "inside %d, least weight %g", place->inside,
                  least);
    kiln_vec3 x = kiln_begin_point(mesh, KILN_SPACE_WORLD, place);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(x, deform(point))), 1e-11);
}

static void change(kiln_mesh *mesh, kiln_random *random, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_txn_settle(&txn, kiln_test_change(&txn, random, 0.03, false));
    }
}

START_TEST(points_are_found_in_the_mesh_at_begin)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_random random = kiln_random_start(1, 1);
    change(mesh, &random, 300); /* free rows before the pass */
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = deform(mesh->u[v]);
    uint32_t used_tets = mesh->table[KILN_ON_TET].used;
    uint32_t used_vertices = mesh->table[KILN_ON_VERTEX].used;
    kiln_tet *tets = malloc(used_tets * sizeof *tets);
    kiln_vec3 *u = malloc(used_vertices * sizeof *u);
    memcpy(tets, mesh->tet, used_tets * sizeof *tets);
    memcpy(u, mesh->u, used_vertices * sizeof *u);
    for (int stage = 0; stage < 3; stage++) { /* live, archive without changes, with changes */
        if (stage == 1)
            ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
        if (stage == 2)
            change(mesh, &random, 2000);
        uint32_t hint = KILN_NONE;
        for (int i = 0; i < 2000; i++) {
            kiln_vec3 point = random_point(&random, 0.2, 0.8);
            kiln_begin_place place;
            if (i % 3 == 0)
                hint = kiln_random_below(&random, 2 * used_tets);
            kiln_begin_locate(mesh, KILN_SPACE_MATERIAL, point, hint, &place);
            ck_assert(place.inside);
            check_place(mesh, tets, u, point, &place);
            kiln_begin_place world;
            kiln_begin_locate(mesh, KILN_SPACE_WORLD, deform(point), place.tet, &world);
            ck_assert(world.inside);
            ck_assert_uint_le(world.visits, 3);
            hint = place.tet;
        }
    }
    kiln_archive_end(mesh);
    free(tets);
    free(u);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Corners, middles of edges and faces: on the border of several tets, inside each of them. */
START_TEST(points_between_tets_are_inside)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_random random = kiln_random_start(1, 2);
    for (int i = 0; i < 3000; i++) {
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        const uint32_t *v = mesh->tet[t].v;
        int corners = 1 + i % 3;
        kiln_vec3 point = {0, 0, 0};
        for (int k = 0; k < corners; k++)
            point = kiln_v3_madd(point, 1.0 / corners, mesh->u[v[k]]);
        kiln_begin_place place;
        kiln_begin_locate(mesh, KILN_SPACE_MATERIAL, point,
                          kiln_random_below(&random, mesh->table[KILN_ON_TET].used), &place);
        /* A rounded point of a surface face may be outside by its last bit. */
        if (corners == 1)
            ck_assert(place.inside);
        check_place(mesh, mesh->tet, mesh->u, point, &place);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static double nearest_by_looking_at_all(const kiln_mesh *mesh, kiln_vec3 point)
{
    double nearest = DBL_MAX;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 corner[4];
        for (int i = 0; i < 4; i++)
            corner[i] = mesh->u[mesh->tet[t].v[i]];
        nearest = fmin(nearest, kiln_closest_on_tet(point, corner).distance2);
    }
    return nearest;
}

/* Round a ring the walk meets the hole; the closest tet must be found all the same, and the weights
 * there give the point back. */
START_TEST(outside_the_closest_tet_extrapolates)
{
    kiln_context *context = kiln_test_context(1);
    const char *shape[][2] = {
        {"torus", ""}, {"box", "nx=3 ny=3 nz=3"}, {"ball", ""}, {"torus", "h=0.25"}};
    for (int s = 0; s < 4; s++) {
        kiln_mesh *mesh = kiln_test_mesh(context, shape[s][0], shape[s][1]);
        kiln_box around = kiln_box_empty();
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            around = kiln_box_grow(around, mesh->u[v]);
            mesh->x[v] = deform(mesh->u[v]);
        }
        kiln_random random = kiln_random_start(3, (uint64_t)s);
        for (int i = 0; i < (s == 3 ? 3000 : 600); i++) {
            kiln_vec3 size = kiln_v3_sub(around.high, around.low);
            kiln_vec3 r = random_point(&random, -0.05, 1.05);
            kiln_vec3 point =
                kiln_v3_add(around.low, kiln_v3(r.x * size.x, r.y * size.y, r.z * size.z));
            kiln_begin_place place;
            kiln_begin_locate(mesh, KILN_SPACE_MATERIAL, point,
                              kiln_random_below(&random, mesh->table[KILN_ON_TET].used), &place);
            check_place(mesh, mesh->tet, mesh->u, point, &place);
            kiln_vec3 corner[4];
            for (int k = 0; k < 4; k++)
                corner[k] = mesh->u[mesh->tet[place.tet].v[k]];
            double found = sqrt(kiln_closest_on_tet(point, corner).distance2);
            double nearest = sqrt(nearest_by_looking_at_all(mesh, point));
            ck_assert_msg(found <= nearest + 1e-12, "%s point %d: %g, nearest %g", shape[s][0], i,
                          found, nearest);
        }
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

/* Slivers and needles: a far point must not pass for inside because its volumes drown in
 * rounding. */
START_TEST(flat_tets_do_not_catch_far_points)
{
    kiln_context *context = kiln_test_context(1);
    const double flat = 0x1p-60;
    const kiln_vec3 point[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.25, 0.25, flat}, {0, 0, 1}};
    const kiln_soup_tet tet[] = {{{0, 1, 2, 3}}, {{0, 1, 3, 4}}, {{1, 2, 3, 4}}, {{2, 0, 3, 4}}};
    for (double scale = 1e-6; scale <= 1e6; scale *= 1e6) {
        kiln_vec3 scaled[5];
        for (int i = 0; i < 5; i++)
            scaled[i] = kiln_v3_scale(point[i], scale);
        kiln_mesh *mesh = kiln_test_mesh_of(context, 5, scaled, 4, tet, NULL, KILN_BUILD_STRICT);
        kiln_random random = kiln_random_start(5, 5);
        for (int i = 0; i < 300; i++) {
            kiln_vec3 p = random_point(&random, 0.01, 0.3);
            kiln_begin_place place;
            kiln_begin_locate(mesh, KILN_SPACE_MATERIAL, kiln_v3_scale(p, scale), 0, &place);
            ck_assert(place.inside);
            ck_assert_uint_ne(place.tet, 0);
        }
        /* In the flat tet itself: the middle of its edge from vertex 2 to 3. */
        kiln_vec3 middle = kiln_v3_lerp(scaled[2], scaled[3], 0.5), back = {0, 0, 0};
        kiln_begin_place place;
        kiln_begin_locate(mesh, KILN_SPACE_MATERIAL, middle, 0, &place);
        for (int i = 0; i < 4; i++)
            back = kiln_v3_madd(back, place.weight[i], scaled[mesh->tet[place.tet].v[i]]);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(back, middle)), 1e-9 * scale);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(an_empty_mesh_has_no_places)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = NULL;
    ck_assert_int_eq(kiln_mesh_create(context, &mesh, NULL), KILN_OK);
    kiln_begin_place place;
    kiln_begin_locate(mesh, KILN_SPACE_MATERIAL, kiln_v3(0, 0, 0), 0, &place);
    ck_assert_uint_eq(place.tet, KILN_NONE);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("begin_mesh");
    TCase *cases = kiln_test_case(suite, "locate");
    tcase_add_test(cases, points_are_found_in_the_mesh_at_begin);
    tcase_add_test(cases, points_between_tets_are_inside);
    tcase_add_test(cases, outside_the_closest_tet_extrapolates);
    tcase_add_test(cases, flat_tets_do_not_catch_far_points);
    tcase_add_test(cases, an_empty_mesh_has_no_places);
    return suite;
}

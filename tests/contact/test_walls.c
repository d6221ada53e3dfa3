#include "contact/walls.h"
#include "geom/distance.h"
#include "support.h"

/* Bodies about a place, a plane through it that is given by a point far away along it, and all of
 * that moved away from the origin. */
typedef struct far_plane {
    double along, away; /* m */
} far_plane;

static const far_plane far_planes[] = {{0, 0},     {1e3, 0},   {1e6, 0},  {1e9, 0},  {0, 1e6},
                                       {1e6, 1e6}, {1e9, 1e9}, {1e-6, 0}, {1e12, 0}, {0, 1e-3}};

/* The triangle that stands for it goes by below the bodies, as far as digits of the point say. */
START_TEST(planes_are_where_their_points_say)
{
    const far_plane *f = &far_planes[_i];
    kiln_context *context = kiln_test_context(1);
    kiln_error error = {0};
    kiln_vec3 normal = kiln_v3_normalize(kiln_v3(1, -2, 3));
    kiln_vec3 along = kiln_v3_normalize(kiln_v3_cross(normal, kiln_v3(0.3, 0.2, 1)));
    kiln_vec3 place = kiln_v3(0.6 * f->away, -0.5 * f->away, 0.7 * f->away), places[3];
    kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_PLANE,
                                 .normal = normal,
                                 .point = kiln_v3_madd(place, f->along, along)};
    kiln_obstacle *plane = NULL;
    kiln_walls walls = {0};
    const double depth = 0.01, size = 0.5;
    ck_assert_int_eq(kiln_obstacle_create(context, &shape, 0.0, &plane, &error), KILN_OK);
    ck_assert_int_eq(kiln_walls_build(&walls, context, &plane, 1, depth, 0.1 * depth, &error),
                     KILN_OK);
    ck_assert_uint_eq(walls.own.count, 3);
    kiln_vec3 half = kiln_v3(size, size, size);
    kiln_walls_place(&walls, (kiln_box){kiln_v3_sub(place, half), kiln_v3_add(place, half)}, false,
                     places);
    for (int i = 0; i < 3; i++) {
        double height = kiln_v3_dot(kiln_v3_sub(places[i], place), normal);
        double reach = kiln_v3_norm(kiln_v3_sub(places[i], place));
        ck_assert_double_eq_tol(height, -depth, 1e-15 * (4 * (f->along + f->away) + 1e3 * size));
        ck_assert_double_le(reach, 1e4 * size + 1e-15 * f->along);
    }
    kiln_walls_free(&walls);
    kiln_obstacle_destroy(plane);
    kiln_context_destroy(context);
}
END_TEST

static kiln_obstacle *make_roof(kiln_context *context, bool turned)
{
    const kiln_vec3 point[6] = {{-1, 0, 0}, {-1, 3, 0}, {0, 0, 1}, {0, 3, 1}, {1, 0, 0}, {1, 3, 0}};
    const uint32_t corner[4][3] = {{0, 2, 3}, {0, 3, 1}, {2, 4, 5}, {2, 5, 3}};
    kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_MESH};
    kiln_obstacle *roof;
    kiln_soup_init(&shape.surface, context);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(kiln_array_push(context, &shape.surface.points, point[i], NULL), KILN_OK);
    for (int t = 0; t < 4; t++) {
        const uint32_t *c = corner[t];
        kiln_soup_triangle one = {{c[0], c[turned ? 2 : 1], c[turned ? 1 : 2]}};
        ck_assert_int_eq(kiln_array_push(context, &shape.surface.triangles, one, NULL), KILN_OK);
    }
    ck_assert_int_eq(kiln_obstacle_create(context, &shape, 0.0, &roof, NULL), KILN_OK);
    return roof;
}

/* What a vertex at p counts before all faces: the nearest places of faces, and what hollows take
 * away. It looks at all of them alike, and is large. */
static double counts_at(const kiln_walls *walls, const kiln_vec3 *places, kiln_vec3 p, bool parts)
{
    double sum = 0.0;
    const kiln_wall_sight sight = {
        .walls = walls, .begin = places, .places = places, .p = p, .within = 10.0, .area = 0.0};
    for (uint32_t f = 0; f < walls->faces.count / 3; f++) {
        kiln_counts counts;
        kiln_walls_count(&sight, f, &counts);
        sum += counts.own;
        for (int k = 0; k < counts.parts && parts; k++)
            sum += counts.part[k].count;
    }
    return sum / 0.1; /* as little as it looks at them */
}

/* A ridge is one place from above, and two walls from below less what they have in common,
 * whichever way its triangles look; its edge and its rim stick out. */
START_TEST(a_sheet_is_hollow_on_the_other_side)
{
    kiln_context *context = kiln_test_context(1);
    kiln_obstacle *roof = make_roof(context, _i);
    kiln_walls walls = {0};
    kiln_vec3 places[6];
    ck_assert_int_eq(kiln_walls_build(&walls, context, &roof, 1, 0.1, 0.01, NULL), KILN_OK);
    ck_assert_uint_eq(walls.edges.count / 2, 6 + 1);
    ck_assert_uint_eq(walls.vertices.count, 6);
    kiln_walls_place(&walls, kiln_box_empty(), false, places);
    static const struct {
        kiln_vec3 p;
        double places;
    } rows[] = {{{0, 1.3, 1.1}, 1},
                {{0.05, 1.3, 1.2}, 1},
                {{0.5, 0.7, 0.6}, 1},
                {{0, 1.3, 0.9}, 2},
                {{0.1, 1.3, 0.7}, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double least = counts_at(&walls, places, rows[i].p, false);
        ck_assert_double_eq_tol(least, rows[i].places, 1e-9);
        ck_assert_double_eq_tol(counts_at(&walls, places, rows[i].p, true), 1.0, 1e-9);
    }
    kiln_walls_free(&walls);
    kiln_obstacle_destroy(roof);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("walls");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_loop_test(all, planes_are_where_their_points_say, 0,
                        (int)(sizeof far_planes / sizeof far_planes[0]));
    tcase_add_loop_test(all, a_sheet_is_hollow_on_the_other_side, 0, 2);
    suite_add_tcase(suite, all);
    return suite;
}

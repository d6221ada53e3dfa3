#include "base/parallel.h"
#include "contact/obstacle.h"
#include "fixtures.h"
#include "geom/box.h"
#include "support.h"

#include <string.h>

static kiln_vec3 random_in(kiln_random *random, double size)
{
    double x = kiln_random_range(random, -size, size), y = kiln_random_range(random, -size, size);
    return kiln_v3(x, y, kiln_random_range(random, -size, size));
}

static kiln_vec3 random_direction(kiln_random *random)
{
    for (;;) {
        kiln_vec3 d = random_in(random, 1);
        if (kiln_v3_norm2(d) > 0.01 && kiln_v3_norm2(d) < 1)
            return kiln_v3_normalize(d);
    }
}

/* About the axis by the angle (Rodrigues). */
static kiln_mat3 turn(kiln_vec3 axis, double angle)
{
    kiln_mat3 k = {{{0, -axis.z, axis.y}, {axis.z, 0, -axis.x}, {-axis.y, axis.x, 0}}};
    return kiln_m3_add(kiln_m3_add(kiln_m3_identity(), kiln_m3_scale(k, sin(angle))),
                       kiln_m3_scale(kiln_m3_mul(k, k), 1 - cos(angle)));
}

/* The shapes again, each as a function that is negative inside and zero on the surface. */
static double level(const kiln_obstacle_shape *s, kiln_vec3 p)
{
    kiln_vec3 d = kiln_v3_sub(p, s->point), e = kiln_v3_sub(s->end, s->point);
    double l = kiln_v3_norm(e), z = l > 0 ? kiln_v3_dot(d, e) / l : 0;
    double r = l > 0 ? kiln_v3_norm(kiln_v3_madd(d, -z / l, e)) : 0;
    switch (s->kind) {
    case KILN_OBSTACLE_PLANE:
        return kiln_v3_dot(d, s->normal);
    case KILN_OBSTACLE_SPHERE:
        return kiln_v3_norm(d) - s->radius;
    case KILN_OBSTACLE_CYLINDER:
        return fmax(r - s->radius, fmax(-z, z - l));
    case KILN_OBSTACLE_CAPSULE:
        return kiln_v3_norm(kiln_v3_madd(d, -fmin(fmax(z / l, 0), 1), e)) - s->radius;
    case KILN_OBSTACLE_BOX: {
        kiln_vec3 low = kiln_v3_sub(kiln_v3_min(s->point, s->end), p);
        kiln_vec3 high = kiln_v3_sub(p, kiln_v3_max(s->point, s->end));
        return fmax(fmax(fmax(low.x, high.x), fmax(low.y, high.y)), fmax(low.z, high.z));
    }
    case KILN_OBSTACLE_CONE:
        return fmax(-z, r / s->radius + z / l - 1);
    case KILN_OBSTACLE_TORUS: {
        double n = kiln_v3_norm(s->normal), h = kiln_v3_dot(d, s->normal) / n;
        double across = sqrt(kiln_v3_norm2(d) - h * h) - s->radius;
        return across * across + h * h - s->tube * s->tube;
    }
    default:
        return NAN;
    }
}

static const kiln_obstacle_shape shapes[] = {
    {.kind = KILN_OBSTACLE_PLANE, .point = {0.1, 0.2, -0.1}, .normal = {1, -2, 3}},
    {.kind = KILN_OBSTACLE_SPHERE, .point = {0.1, -0.2, 0.3}, .radius = 0.7},
    {.kind = KILN_OBSTACLE_CYLINDER,
     .point = {0.1, -0.5, 0},
     .end = {0.3, 0.4, 0.5},
     .radius = 0.4},
    {.kind = KILN_OBSTACLE_CYLINDER, .point = {0, 0, -0.1}, .end = {0, 0, 0.1}, .radius = 0.8},
    {.kind = KILN_OBSTACLE_CAPSULE, .point = {-0.4, 0, 0}, .end = {0.3, 0.4, 0.2}, .radius = 0.35},
    {.kind = KILN_OBSTACLE_BOX, .point = {-0.4, 0.5, -0.3}, .end = {0.6, -0.2, 0.7}},
    {.kind = KILN_OBSTACLE_CONE, .point = {0.1, 0, -0.4}, .end = {-0.1, 0.3, 0.5}, .radius = 0.6},
    {.kind = KILN_OBSTACLE_CONE, .point = {0, 0, 0}, .end = {0, 0.2, 0}, .radius = 0.9},
    {.kind = KILN_OBSTACLE_TORUS,
     .point = {0.1, 0, 0},
     .normal = {1, 1, 3},
     .radius = 0.6,
     .tube = 0.25},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static kiln_obstacle *make(kiln_context *context, kiln_obstacle_shape shape)
{
    kiln_obstacle *obstacle = NULL;
    kiln_error error = {0};
    kiln_status status = kiln_obstacle_create(context, &shape, 0.3, &obstacle, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    return obstacle;
}

static double distance(const kiln_obstacle *obstacle, kiln_vec3 at)
{
    kiln_vec3 normal, nearest;
    return kiln_obstacle_distance(obstacle, at, &normal, &nearest);
}

/* On the surface, between a point inside and one outside. */
static kiln_vec3 sample(const kiln_obstacle_shape *shape, kiln_random *random)
{
    kiln_vec3 in = random_in(random, 1.2), out = random_in(random, 1.2);
    while (level(shape, in) >= 0)
        in = random_in(random, 1.2);
    while (level(shape, out) <= 0)
        out = random_in(random, 1.2);
    for (int i = 0; i < 60; i++) {
        kiln_vec3 half = kiln_v3_lerp(in, out, 0.5);
        *(level(shape, half) < 0 ? &in : &out) = half;
    }
    return in;
}

/* The nearest point is on the surface, so the true distance is at most |d|; no sample of the
 * surface is nearer, so it is no less. */
START_TEST(distances_are_exact)
{
    enum { SAMPLES = 4000 };
    const kiln_obstacle_shape *shape = &shapes[_i];
    kiln_context *context = kiln_test_context(1);
    kiln_obstacle *obstacle = make(context, *shape);
    kiln_random random = kiln_random_start(1, (uint64_t)_i);
    static kiln_vec3 on[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        on[i] = sample(shape, &random);
        ck_assert_double_le(fabs(distance(obstacle, on[i])), 1e-14);
    }
    double closeness = 0;
    int inside = 0;
    for (int round = 0; round < 500; round++) {
        kiln_vec3 p = random_in(&random, 1.1), normal, nearest;
        double d = kiln_obstacle_distance(obstacle, p, &normal, &nearest), best = INFINITY;
        ck_assert_double_le(fabs(level(shape, nearest)), 1e-14);
        ck_assert_double_eq_tol(kiln_v3_norm(kiln_v3_sub(p, nearest)), fabs(d), 1e-14);
        ck_assert_double_eq_tol(kiln_v3_norm(normal), 1, 1e-14);
        kiln_vec3 back = kiln_v3_sub(kiln_v3_sub(p, nearest), kiln_v3_scale(normal, d));
        ck_assert_double_le(kiln_v3_norm(back), 1e-13);
        ck_assert((d < 0) == (level(shape, p) < 0));
        inside += d < 0;
        for (int i = 0; i < SAMPLES; i++)
            best = fmin(best, kiln_v3_norm(kiln_v3_sub(p, on[i])));
        ck_assert_double_ge(best, fabs(d) - 1e-14);
        closeness += (best - fabs(d)) / 500;
    }
    ck_assert_double_le(closeness, 0.03); /* the samples are dense enough to mean something */
    ck_assert_int_gt(inside, 5);
    kiln_obstacle_destroy(obstacle);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(normal_is_the_gradient)
{
    const double h = 1e-6;
    kiln_context *context = kiln_test_context(1);
    for (int inside_out = 0; inside_out < 2; inside_out++) {
        kiln_obstacle_shape shape = shapes[_i];
        shape.inside_out = inside_out;
        kiln_obstacle *obstacle = make(context, shape);
        kiln_random random = kiln_random_start(2, (uint64_t)_i);
        int smooth = 0;
        for (int round = 0; round < 500; round++) {
            kiln_vec3 p = random_in(&random, 1.1), normal, nearest, e = random_direction(&random);
            double d = kiln_obstacle_distance(obstacle, p, &normal, &nearest);
            ck_assert((d < 0) == ((level(&shape, p) < 0) != shape.inside_out));
            double ahead = distance(obstacle, kiln_v3_madd(p, h, e)) - d;
            double behind = d - distance(obstacle, kiln_v3_madd(p, -h, e));
            if (fabs(ahead - behind) > 1e-3 * h)
                continue; /* across a ridge of the distance */
            smooth++;
            ck_assert_double_eq_tol((ahead + behind) / (2 * h), kiln_v3_dot(e, normal), 1e-4);
        }
        ck_assert_int_gt(smooth, 480);
        kiln_obstacle_destroy(obstacle);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(distance_grows_no_faster_than_length)
{
    kiln_context *context = kiln_test_context(1);
    kiln_obstacle *obstacle = make(context, shapes[_i]);
    kiln_random random = kiln_random_start(3, (uint64_t)_i);
    for (int round = 0; round < 3000; round++) {
        kiln_vec3 p = random_in(&random, 1.5);
        double size = pow(10, kiln_random_range(&random, -8, 0));
        kiln_vec3 q = kiln_v3_add(p, random_in(&random, size));
        ck_assert_double_le(fabs(distance(obstacle, p) - distance(obstacle, q)),
                            kiln_v3_norm(kiln_v3_sub(p, q)) + 1e-15);
    }
    kiln_obstacle_destroy(obstacle);
    kiln_context_destroy(context);
}
END_TEST

/* Centres, axes and tips have many nearest points: one is given, whole and the same each time. */
START_TEST(places_with_many_nearest_points)
{
    kiln_context *context = kiln_test_context(1);
    for (int i = 0; i < SHAPES; i++) {
        kiln_obstacle *obstacle = make(context, shapes[i]);
        kiln_vec3 at[4] = {shapes[i].point, shapes[i].end,
                           kiln_v3_lerp(shapes[i].point, shapes[i].end, 0.5),
                           kiln_v3_lerp(shapes[i].point, shapes[i].end, 1.5)};
        for (int k = 0; k < 4; k++) {
            kiln_vec3 normal, nearest, again, there;
            double d = kiln_obstacle_distance(obstacle, at[k], &normal, &nearest);
            ck_assert_double_eq_tol(kiln_v3_norm(normal), 1, 1e-14);
            ck_assert_double_eq_tol(kiln_v3_norm(kiln_v3_sub(at[k], nearest)), fabs(d), 1e-14);
            ck_assert(kiln_obstacle_distance(obstacle, at[k], &again, &there) == d);
            ck_assert(!memcmp(&again, &normal, sizeof normal));
            ck_assert(!memcmp(&there, &nearest, sizeof nearest));
        }
        kiln_obstacle_destroy(obstacle);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(poses_move_it)
{
    kiln_context *context = kiln_test_context(1);
    kiln_random random = kiln_random_start(4, 0);
    for (int i = 0; i < SHAPES; i++) {
        kiln_obstacle *still = make(context, shapes[i]), *moved = make(context, shapes[i]);
        kiln_vec3 axis = random_direction(&random), shift = random_in(&random, 3);
        const double rate = 1.7, dt = 1e-5;
        kiln_vec3 linear = random_in(&random, 1);
        kiln_mat3 before = turn(axis, 0.8), after = turn(axis, 0.8 + rate * dt);
        kiln_pose pose = {before, shift, linear, kiln_v3_scale(axis, rate)};
        kiln_obstacle_set_pose(moved, &pose);
        for (int round = 0; round < 100; round++) {
            kiln_vec3 p = random_in(&random, 1.2), n[2], q[2];
            kiln_vec3 at = kiln_v3_add(kiln_m3_apply(before, p), shift);
            double own = kiln_obstacle_distance(still, p, &n[0], &q[0]);
            ck_assert_double_eq_tol(kiln_obstacle_distance(moved, at, &n[1], &q[1]), own, 1e-14);
            kiln_vec3 turned = kiln_m3_apply(before, n[0]);
            ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(turned, n[1])), 1e-9);
            turned = kiln_v3_add(kiln_m3_apply(before, q[0]), shift);
            ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(turned, q[1])), 1e-9);
            kiln_vec3 later = kiln_v3_madd(kiln_v3_add(kiln_m3_apply(after, p), shift), dt, linear);
            kiln_vec3 slip = kiln_v3_sub(kiln_v3_scale(kiln_v3_sub(later, at), 1 / dt),
                                         kiln_obstacle_velocity(moved, at));
            ck_assert_double_le(kiln_v3_norm(slip), 1e-4);
        }
        ck_assert_double_eq(kiln_obstacle_friction(moved), 0.3);
        kiln_obstacle_destroy(still);
        kiln_obstacle_destroy(moved);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bad_shapes_are_refused)
{
    const struct {
        kiln_obstacle_shape shape;
        double friction;
        const char *place, *words;
    } cases[] = {
        {{.kind = KILN_OBSTACLE_PLANE}, 0, "plane", "normal must be finite and not zero"},
        {{.kind = KILN_OBSTACLE_PLANE, .normal = {0, NAN, 1}}, 0, "plane", "normal must be finite"},
        {{.kind = KILN_OBSTACLE_PLANE, .normal = {0, 0, 1}, .point = {INFINITY, 0, 0}},
         0,
         "plane",
         "point must be finite"},
        {{.kind = KILN_OBSTACLE_SPHERE, .radius = -1},
         0,
         "sphere",
         "radius must be positive, got -1"},
        {{.kind = KILN_OBSTACLE_SPHERE, .radius = NAN}, 0, "sphere", "radius must be positive"},
        {{.kind = KILN_OBSTACLE_SPHERE, .radius = 1},
         -0.1,
         "sphere",
         "friction must not be negative"},
        {{.kind = KILN_OBSTACLE_SPHERE, .radius = 1},
         NAN,
         "sphere",
         "friction must not be negative"},
        {{.kind = KILN_OBSTACLE_CYLINDER, .radius = 1}, 0, "cylinder", "point and end must differ"},
        {{.kind = KILN_OBSTACLE_CAPSULE, .end = {0, 1, 0}},
         0,
         "capsule",
         "radius must be positive"},
        {{.kind = KILN_OBSTACLE_CAPSULE, .end = {0, NAN, 0}, .radius = 1},
         0,
         "capsule",
         "end must be finite"},
        {{.kind = KILN_OBSTACLE_BOX, .end = {1, 0, 1}}, 0, "box", "differ in x, y and z"},
        {{.kind = KILN_OBSTACLE_CONE, .radius = 1}, 0, "cone", "point and end must differ"},
        {{.kind = KILN_OBSTACLE_TORUS, .normal = {0, 0, 1}, .radius = 1, .tube = 1},
         0,
         "torus",
         "tube must be positive and below radius 1"},
        {{.kind = KILN_OBSTACLE_TORUS, .normal = {0, 0, 1}, .radius = 1},
         0,
         "torus",
         "tube must be positive"},
        {{.kind = KILN_OBSTACLE_TORUS, .radius = 1, .tube = 0.1}, 0, "torus", "normal must be"},
    };
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kiln_obstacle *obstacle = NULL;
        kiln_obstacle_shape shape = cases[i].shape;
        kiln_error error = {0};
        ck_assert_int_eq(
            kiln_obstacle_create(context, &shape, cases[i].friction, &obstacle, &error),
            KILN_ERR_INPUT);
        ck_assert_ptr_null(obstacle);
        ck_assert_str_eq(error.place, cases[i].place);
        ck_assert_msg(strstr(error.message, cases[i].words), "%zu: %s", i, error.message);
    }
    kiln_context_destroy(context);
}
END_TEST

static double signed_volume(const kiln_soup *soup)
{
    double volume = 0;
    for (size_t t = 0; t < soup->triangles.count; t++) {
        const uint32_t *v = soup->triangles.data[t].v;
        const kiln_vec3 *p = soup->points.data;
        volume += kiln_v3_triple(p[v[0]], p[v[1]], p[v[2]]) / 6;
    }
    return volume;
}

START_TEST(outlines_are_the_surface)
{
    const double pi = 3.14159265358979323846;
    kiln_context *context = kiln_test_context(1);
    for (int i = 0; i < 2 * SHAPES; i++) {
        kiln_obstacle_shape s = shapes[i / 2];
        s.inside_out = i % 2;
        kiln_obstacle *obstacle = make(context, s);
        double l = kiln_v3_norm(kiln_v3_sub(s.end, s.point)), r = s.radius, a = pi * r * r;
        kiln_vec3 e = kiln_v3_sub(s.end, s.point);
        const double expected[KILN_OBSTACLE_COUNT] = {
            [KILN_OBSTACLE_SPHERE] = 4 * a * r / 3,
            [KILN_OBSTACLE_CYLINDER] = a * l,
            [KILN_OBSTACLE_CAPSULE] = a * l + 4 * a * r / 3,
            [KILN_OBSTACLE_BOX] = fabs(e.x * e.y * e.z),
            [KILN_OBSTACLE_CONE] = a * l / 3,
            [KILN_OBSTACLE_TORUS] = 2 * pi * pi * r * s.tube * s.tube,
        };
        kiln_pose pose = {.rotation = turn(kiln_v3(0, 0.6, 0.8), 1.0), .shift = {1, 2, 3}};
        kiln_obstacle_set_pose(obstacle, &pose);
        kiln_soup soup;
        kiln_soup_init(&soup, context);
        /* Appends to what is there. */
        ck_assert_int_eq(kiln_array_push(context, &soup.points, kiln_v3(0, 0, 0), NULL), KILN_OK);
        ck_assert_int_eq(kiln_obstacle_outline(obstacle, kiln_v3(0, 0, 0), 4.0, &soup, NULL),
                         KILN_OK);
        ck_assert_int_eq(kiln_soup_check(&soup, "outline", NULL), KILN_OK);
        for (size_t k = 1; k < soup.points.count; k++)
            ck_assert_double_le(fabs(distance(obstacle, soup.points.data[k])), 1e-14);
        for (size_t t = 0; t < soup.triangles.count; t++) {
            const uint32_t *v = soup.triangles.data[t].v;
            const kiln_vec3 *p = soup.points.data;
            kiln_vec3 n =
                kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]));
            kiln_vec3 normal, nearest,
                middle = kiln_v3_scale(kiln_v3_add(p[v[0]], p[v[1]]), 1 / 3.0);
            kiln_obstacle_distance(obstacle, kiln_v3_madd(middle, 1 / 3.0, p[v[2]]), &normal,
                                   &nearest);
            ck_assert_double_gt(kiln_v3_dot(normal, kiln_v3_normalize(n)), 0.9);
        }
        if (s.kind == KILN_OBSTACLE_PLANE) {
            ck_assert_uint_eq(soup.triangles.count, 2);
            kiln_vec3 side = kiln_v3_sub(soup.points.data[2], soup.points.data[1]);
            ck_assert_double_eq_tol(kiln_v3_norm(side), 4.0, 1e-12);
        } else {
            double sign = s.inside_out ? -1 : 1;
            ck_assert_double_eq_tol(sign * signed_volume(&soup), expected[s.kind],
                                    0.01 * expected[s.kind]);
        }
        kiln_soup_free(&soup);
        kiln_obstacle_destroy(obstacle);
    }
    kiln_context_destroy(context);
}
END_TEST

/* Surface of a generated shape, tets dropped. */
static kiln_obstacle_shape mesh_shape(kiln_context *context, const char *shape,
                                      const char *settings)
{
    kiln_soup soup = kiln_test_soup(context, shape, settings);
    soup.tets.count = soup.tet_tags.count = 0;
    return (kiln_obstacle_shape){.kind = KILN_OBSTACLE_MESH, .surface = soup};
}

/* Winding number of the surface round a point, by the solid angles of its triangles. */
static double winding(const kiln_soup *soup, kiln_vec3 p)
{
    double sum = 0;
    for (size_t t = 0; t < soup->triangles.count; t++) {
        kiln_vec3 a[3];
        double n[3];
        for (int k = 0; k < 3; k++) {
            a[k] = kiln_v3_sub(soup->points.data[soup->triangles.data[t].v[k]], p);
            n[k] = kiln_v3_norm(a[k]);
        }
        sum += atan2(kiln_v3_triple(a[0], a[1], a[2]),
                     n[0] * n[1] * n[2] + kiln_v3_dot(a[0], a[1]) * n[2] +
                         kiln_v3_dot(a[1], a[2]) * n[0] + kiln_v3_dot(a[2], a[0]) * n[1]);
    }
    return sum / (2 * 3.14159265358979323846);
}

static kiln_soup copy_surface(kiln_context *context, const kiln_soup *soup)
{
    kiln_soup copy;
    kiln_soup_init(&copy, context);
    ck_assert_int_eq(kiln_soup_append(&copy, soup, 0, NULL), KILN_OK);
    return copy;
}

/* The mesh of a cube against the analytic box, with most points near faces, edges and vertices. */
START_TEST(mesh_cube_is_the_box)
{
    kiln_context *context = kiln_test_context(1);
    for (int turned = 0; turned < 2; turned++) {
        kiln_obstacle_shape cube = mesh_shape(context, "box", "nx=4 ny=3 nz=5");
        for (size_t t = 0; turned && t < cube.surface.triangles.count; t++) {
            uint32_t *v = cube.surface.triangles.data[t].v, swap = v[0];
            v[0] = v[1];
            v[1] = swap;
        }
        kiln_obstacle_shape box = {.kind = KILN_OBSTACLE_BOX,
                                   .point = cube.surface.points.data[0],
                                   .end = cube.surface.points.data[0]};
        for (size_t i = 0; i < cube.surface.points.count; i++) {
            box.point = kiln_v3_min(box.point, cube.surface.points.data[i]);
            box.end = kiln_v3_max(box.end, cube.surface.points.data[i]);
        }
        kiln_obstacle *mesh = make(context, cube), *exact = make(context, box);
        kiln_random random = kiln_random_start(6, 0);
        for (uint64_t round = 0; round < kiln_test_rounds(20000, 2000000); round++) {
            double near = pow(10, kiln_random_range(&random, -12, 0)), at[3];
            for (int k = 0; k < 3; k++) { /* on the grid or anywhere, then a little off */
                double low = k == 0 ? box.point.x : k == 1 ? box.point.y : box.point.z;
                double high = k == 0 ? box.end.x : k == 1 ? box.end.y : box.end.z;
                uint32_t choice = kiln_random_below(&random, 3);
                at[k] = choice == 0   ? low
                        : choice == 1 ? high
                                      : kiln_random_range(&random, low - 0.2, high + 0.2);
                at[k] += kiln_random_range(&random, -near, near);
            }
            kiln_vec3 p = {at[0], at[1], at[2]}, n[2], q[2];
            double d = kiln_obstacle_distance(mesh, p, &n[0], &q[0]);
            double e = kiln_obstacle_distance(exact, p, &n[1], &q[1]);
            ck_assert_double_eq_tol(d, e, 2e-15);
            ck_assert_double_eq_tol(kiln_v3_norm(kiln_v3_sub(p, q[0])), fabs(d), 2e-15);
            ck_assert_double_eq_tol(kiln_v3_norm(n[0]), 1, 1e-12);
            /* Outside, where the nearest point is one. Distances that agree to rounding leave the
             * direction the root of it. */
            if (e > 0)
                ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(n[0], n[1])), 5e-8 + 1e-13 / e);
        }
        kiln_obstacle_destroy(mesh);
        kiln_obstacle_destroy(exact);
    }
    kiln_context_destroy(context);
}
END_TEST

/* Hollows, spikes and needles: signs against the winding number, distances against all triangles.
 */
START_TEST(mesh_signs_are_those_of_the_winding_number)
{
    static const char *const kinds[][2] = {{"torus", ""}, {"ball", "h=0.3"}, {"bowl", ""}};
    kiln_context *context = kiln_test_context(1);
    for (int i = 0; i < 3; i++) {
        kiln_obstacle_shape shape = mesh_shape(context, kinds[i][0], kinds[i][1]);
        kiln_random random = kiln_random_start(7, (uint64_t)i);
        kiln_vec3 low = shape.surface.points.data[0], high = low;
        for (size_t k = 0; k < shape.surface.points.count; k++) {
            kiln_vec3 *p = &shape.surface.points.data[k];
            if (i == 1) /* a ball of spikes */
                *p = kiln_v3_scale(*p, kiln_random_range(&random, 0.3, 1.7));
            low = kiln_v3_min(low, *p);
            high = kiln_v3_max(high, *p);
        }
        kiln_soup surface = copy_surface(context, &shape.surface);
        kiln_obstacle *mesh = make(context, shape);
        for (uint64_t round = 0; round < kiln_test_rounds(1500, 100000); round++) {
            kiln_vec3 p = {kiln_random_range(&random, low.x, high.x),
                           kiln_random_range(&random, low.y, high.y),
                           kiln_random_range(&random, low.z, high.z)};
            if (round % 2) { /* near a vertex */
                double near = pow(10, kiln_random_range(&random, -6, -1));
                const uint32_t *v =
                    surface.triangles
                        .data[kiln_random_below(&random, (uint32_t)surface.triangles.count)]
                        .v;
                p = kiln_v3_add(surface.points.data[v[0]], random_in(&random, near));
            }
            double w = winding(&surface, p), d = distance(mesh, p);
            ck_assert_double_le(fabs(w - rint(w)), 1e-6);
            ck_assert_msg((d < 0) == (w > 0.5), "%s: %g at winding %g", kinds[i][0], d, w);
        }
        kiln_soup_free(&surface);
        kiln_obstacle_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

static void push_triangle(kiln_soup *soup, uint32_t a, uint32_t b, uint32_t c)
{
    kiln_soup_triangle t = {{a, b, c}};
    ck_assert_int_eq(kiln_array_push(soup->context, &soup->triangles, t, NULL), KILN_OK);
}

START_TEST(bad_meshes_are_refused)
{
    static const char *const words[] = {
        "has no triangles",   "a sheet has no inside",           "has 3 triangles instead of 2",
        "look to opposite",   "triangle 3 (from 0) has no area", "touch in point 0",
        "encloses no volume", "triangle 4 (from 0) has no area",
    };
    kiln_context *context = kiln_test_context(1);
    for (int i = 0; i < 8; i++) {
        kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_MESH, .inside_out = i == 1};
        kiln_soup *soup = &shape.surface;
        kiln_soup_init(soup, context);
        const kiln_vec3 point[8] = {{0, 0, 0}, {1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                                    {1, 1, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
        for (int k = 0; k < 8; k++)
            ck_assert_int_eq(kiln_array_push(context, &soup->points, point[k], NULL), KILN_OK);
        if (i > 0 && i != 6) {
            push_triangle(soup, 0, 2, 1);
            push_triangle(soup, 0, 1, 3);
            push_triangle(soup, 0, 3, 2);
        }
        if (i == 2 || i == 5 || i == 7)
            push_triangle(soup, 1, 2, 3);
        if (i == 2)
            push_triangle(soup, 1, 2, 4);
        if (i == 3)
            push_triangle(soup, 1, 3, 2);
        if (i == 4)
            push_triangle(soup, 1, 1, 2);
        if (i == 5) { /* a second tet across the first one's corner */
            push_triangle(soup, 0, 5, 6);
            push_triangle(soup, 0, 7, 5);
            push_triangle(soup, 0, 6, 7);
            push_triangle(soup, 5, 7, 6);
        }
        if (i == 6) {
            push_triangle(soup, 0, 1, 2);
            push_triangle(soup, 0, 2, 1);
        }
        if (i == 7) { /* a needle */
            soup->points.data[4] = kiln_v3(0.5, 1e-12, 0);
            push_triangle(soup, 0, 1, 4);
        }
        kiln_obstacle *obstacle = NULL;
        kiln_error error = {0};
        ck_assert_int_eq(kiln_obstacle_create(context, &shape, 0, &obstacle, &error),
                         KILN_ERR_INPUT);
        ck_assert_str_eq(error.place, "mesh");
        ck_assert_msg(strstr(error.message, words[i]), "%d: %s", i, error.message);
        kiln_soup_free(&shape.surface); /* still the caller's */
    }
    kiln_context_destroy(context);
}
END_TEST

/* An open surface has two sides: distances from it have no sign, and normals lead away. */
START_TEST(a_sheet_has_two_sides)
{
    static const struct {
        kiln_vec3 at, normal;
        double distance;
    } places[] = {{{0.2, 0.3, 0.5}, {0, 0, 1}, 0.5},     {{0.2, 0.3, -0.5}, {0, 0, -1}, 0.5},
                  {{0.5, 0.5, -1e-9}, {0, 0, -1}, 1e-9}, /* below the edge of both triangles */
                  {{0.3, 0.6, 0}, {0, 0, 1}, 0},         {{2, 0.5, 0}, {1, 0, 0}, 1},
                  {{4, 5, 0}, {0.6, 0.8, 0}, 5}};
    kiln_context *context = kiln_test_context(1);
    kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_MESH};
    kiln_obstacle *sheet;
    kiln_soup_init(&shape.surface, context);
    const kiln_vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(kiln_array_push(context, &shape.surface.points, corner[k], NULL), KILN_OK);
    push_triangle(&shape.surface, 0, 1, 2);
    push_triangle(&shape.surface, 0, 2, 3);
    ck_assert_int_eq(kiln_obstacle_create(context, &shape, 0, &sheet, NULL), KILN_OK);
    ck_assert(kiln_obstacle_is_sheet(sheet));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        kiln_vec3 normal, nearest;
        double d = kiln_obstacle_distance(sheet, places[i].at, &normal, &nearest);
        ck_assert_double_eq_tol(d, places[i].distance, 1e-15);
        ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(normal, places[i].normal)), 1e-6);
    }
    kiln_obstacle_destroy(sheet);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(mesh_outline_and_ownership)
{
    kiln_context *context = kiln_test_context(1);
    kiln_obstacle_shape shape = mesh_shape(context, "ball", "h=0.4");
    double volume = signed_volume(&shape.surface);
    kiln_obstacle *obstacle = NULL;
    ck_assert_int_eq(kiln_obstacle_create(context, &shape, 0, &obstacle, NULL), KILN_OK);
    ck_assert_uint_eq(shape.surface.points.count, 0); /* taken */
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_obstacle_outline(obstacle, kiln_v3(0, 0, 0), 1, &soup, NULL), KILN_OK);
    ck_assert_double_eq_tol(signed_volume(&soup), volume, 1e-13);
    kiln_soup_free(&soup);
    kiln_obstacle_destroy(obstacle);
    kiln_obstacle_destroy(NULL);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(out_of_memory)
{
    kiln_context *plain = kiln_test_context(1);
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {.fail_at = 0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_obstacle_shape shape = mesh_shape(plain, "box", "nx=2 ny=2 nz=2");
        heap.fail_at = heap.calls + fail;
        kiln_obstacle *obstacle = NULL;
        kiln_soup soup;
        kiln_soup_init(&soup, context);
        kiln_status status = kiln_obstacle_create(context, &shape, 0, &obstacle, NULL);
        if (status == KILN_OK)
            status = kiln_obstacle_outline(obstacle, kiln_v3(0, 0, 0), 1, &soup, NULL);
        heap.fail_at = 0;
        kiln_obstacle_destroy(obstacle);
        kiln_soup_free(&soup);
        kiln_soup_free(&shape.surface);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_uint_lt(fail, 200);
    }
    kiln_context_destroy(plain);
}
END_TEST

typedef struct query_job {
    const kiln_obstacle *obstacle;
    double *out;
} query_job;

static void query_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    query_job *job = user;
    kiln_random random = kiln_random_start(11, chunk);
    for (size_t i = begin; i < end; i++)
        job->out[i] = distance(job->obstacle, random_in(&random, 1));
}

START_TEST(queries_from_many_threads)
{
    enum { COUNT = 20000 };
    static double out[3][COUNT];
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_obstacle *obstacle = make(context, mesh_shape(context, "torus", ""));
        query_job job = {obstacle, out[threads - 1]};
        kiln_parallel_for(context, COUNT, 500, query_chunk, &job);
        ck_assert(!memcmp(out[threads - 1], out[0], sizeof out[0]));
        kiln_obstacle_destroy(obstacle);
        kiln_context_destroy(context);
    }
}
END_TEST

START_TEST(names)
{
#define EXPECT_NAME(kind, text, meaning) ck_assert_str_eq(kiln_obstacle_name(kind), text);
    KILN_OBSTACLE_TABLE(EXPECT_NAME)
#undef EXPECT_NAME
}
END_TEST

/* The least radius where it is convex, and across which direction; edges have one or two times the
 * scale; flat and hollow places none. Far from the origin as well. */
START_TEST(radii_are_those_of_the_shape)
{
    const double scale = 0.01, half = sqrt(0.5);
    const struct {
        kiln_obstacle_shape shape;
        kiln_vec3 at, across; /* zero: any */
        double radius, part;
    } cases[] = {
        {{.kind = KILN_OBSTACLE_SPHERE, .radius = 0.3}, {0, 0, 0.3}, {0, 0, 0}, 0.3, 0.001},
        {{.kind = KILN_OBSTACLE_SPHERE, .radius = 0.3, .inside_out = true},
         {0, 0, 0.3},
         {0, 0, 0},
         INFINITY,
         0},
        {{.kind = KILN_OBSTACLE_PLANE, .normal = {1, 2, 3}}, {0, 0, 0}, {0, 0, 0}, INFINITY, 0},
        {{.kind = KILN_OBSTACLE_CAPSULE, .end = {1, 1, 0}, .radius = 0.2},
         {0.5, 0.5, 0.2},
         {half, -half, 0},
         0.2,
         0.002},
        {{.kind = KILN_OBSTACLE_BOX, .end = {1, 1, 1}}, {0.5, 0.5, 1}, {0, 0, 0}, INFINITY, 0},
        {{.kind = KILN_OBSTACLE_BOX, .end = {1, 1, 1}}, {0.5, 1, 1}, {0, 0, 0}, 1.7 * scale, 0.3},
        {{.kind = KILN_OBSTACLE_TORUS, .normal = {0, 0, 1}, .radius = 0.5, .tube = 0.1},
         {0.6, 0, 0},
         {0, 0, 1},
         0.1,
         0.01},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int far = 0; far < 2; far++) {
            kiln_context *context = kiln_test_context(1);
            kiln_obstacle *obstacle = make(context, cases[i].shape);
            kiln_vec3 shift = far ? kiln_v3(3e3, -2e3, 1e3) : kiln_v3(0, 0, 0), across;
            kiln_pose pose = {.rotation = kiln_m3_identity(), .shift = shift};
            kiln_obstacle_set_pose(obstacle, &pose);
            double r =
                kiln_obstacle_radius(obstacle, kiln_v3_add(cases[i].at, shift), scale, &across);
            if (isinf(cases[i].radius))
                ck_assert_double_ge(r, 1e3);
            else
                ck_assert_double_eq_tol(r / cases[i].radius, 1.0, cases[i].part);
            double along = fabs(kiln_v3_dot(across, cases[i].across));
            ck_assert(kiln_v3_norm(cases[i].across) == 0.0 || along > 0.999);
            kiln_obstacle_destroy(obstacle);
            kiln_context_destroy(context);
        }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("obstacle");
    TCase *all = kiln_test_case(suite, "obstacle");
    tcase_add_loop_test(all, distances_are_exact, 0, SHAPES);
    tcase_add_loop_test(all, normal_is_the_gradient, 0, SHAPES);
    tcase_add_loop_test(all, distance_grows_no_faster_than_length, 0, SHAPES);
    tcase_add_test(all, places_with_many_nearest_points);
    tcase_add_test(all, poses_move_it);
    tcase_add_test(all, radii_are_those_of_the_shape);
    tcase_add_test(all, bad_shapes_are_refused);
    tcase_add_test(all, outlines_are_the_surface);
    tcase_add_test(all, mesh_cube_is_the_box);
    tcase_add_test(all, mesh_signs_are_those_of_the_winding_number);
    tcase_add_test(all, bad_meshes_are_refused);
    tcase_add_test(all, a_sheet_has_two_sides);
    tcase_add_test(all, mesh_outline_and_ownership);
    tcase_add_test(all, out_of_memory);
    tcase_add_test(all, queries_from_many_threads);
    tcase_add_test(all, names);
    return suite;
}

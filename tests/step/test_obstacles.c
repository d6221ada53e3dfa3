/* Bodies against obstacles, projection mode. */
#include "rig.h"

#define G 9.81

static void add_obstacle(rig *r, kiln_obstacle_shape shape, double friction)
{
    kiln_error error = {0};
    rig_check(kiln_obstacle_create(r->context, &shape, friction, &r->obstacles[r->obstacle_count],
                                   &error),
              &error);
    r->obstacle_count++;
}

static kiln_obstacle_shape plane(kiln_vec3 point, kiln_vec3 normal)
{
    return (kiln_obstacle_shape){.kind = KILN_OBSTACLE_PLANE, .point = point, .normal = normal};
}

static rig block(double friction, kiln_vec3 normal, kiln_integrator integrator)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=.4 ly=.4 lz=.1 nx=2 ny=2 nz=1");
    rig r = rig_of(context, mesh, rig_material("corotated", 1e6, 0.3, 1000), integrator);
    r.gravity = kiln_v3(0, 0, -G);
    add_obstacle(&r, plane(kiln_v3(0, 0, 0), normal), friction);
    return r;
}

/* Gravity turned instead of the plane: an incline of slope tan. */
static kiln_vec3 tilted(double slope)
{
    double c = 1 / sqrt(1 + slope * slope);
    return kiln_v3(G * slope * c, 0, -G * c);
}

static kiln_vec3 mean_v(const rig *r)
{
    kiln_motion_sums sums = rig_sums(r);
    return kiln_v3_scale(sums.momentum, 1 / sums.mass);
}

static void settle(rig *r, double h, int steps)
{
    for (int i = 0; i < steps; i++) {
        rig_step(r, h);
        for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(r)[v] = kiln_v3_scale(rig_v(r)[v], 0.5);
    }
}

/* Rests under its weight: no motion, no sinking, the plane carries the weight. Poisson's ratio is
 * zero so that it does not spread, which smooth friction would let creep. */
START_TEST(at_rest)
{
    for (int i = 0; i <= KILN_BDF2; i++) {
        rig r = block(0.5, kiln_v3(0, 0, 1), (kiln_integrator)i);
        kiln_lame_from_young(1e6, 0.0, &r.material.mu, &r.material.lambda);
        rig_build(&r);
        settle(&r, 0.01, 60);
        memset(rig_v(&r), 0, r.mesh->table[KILN_ON_VERTEX].used * sizeof(kiln_vec3));
        r.clock.h_before = 0.0;
        kiln_vec3 start = rig_sums(&r).centre;
        for (int k = 0; k < 40; k++) {
            rig_step(&r, 0.01);
            kiln_vec3 force = rig_sum(&r, kiln_solid_contact(r.solid));
            ck_assert_double_eq_tol(force.z, 16 * G, 1e-3 * 16 * G);
            ck_assert_double_eq_tol(force.x, 0, 1e-3 * 16 * G);
            ck_assert_int_eq(r.report.contacts, 9);
        }
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
            ck_assert_double_le(kiln_v3_norm(rig_v(&r)[v]), 1e-6);
            if (r.mesh->u[v].z == 0.0)
                ck_assert_double_eq_tol(r.mesh->x[v].z, 0.0, 1e-12);
        }
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(rig_sums(&r).centre, start)), 1e-7);
        rig_free(&r);
    }
}
END_TEST

/* Slides with v0 = 2 and slows down by mu g. */
START_TEST(sliding)
{
    for (int i = 0; i <= KILN_BDF2; i++) {
        rig r = block(0.3, kiln_v3(0, 0, 1), (kiln_integrator)i);
        rig_build(&r);
        settle(&r, 0.01, 40);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3(2, 0, 0);
        r.clock.h_before = 0.0;
        double x0 = rig_sums(&r).centre.x;
        for (int k = 0; k < 40; k++) {
            rig_step(&r, 0.01);
            /* Friction has a kink, Newton does not stumble over it. */
            ck_assert_int_le(r.report.newton.iterations, 25);
        }
        double rate = (2 - mean_v(&r).x) / 0.4;
        ck_assert_double_eq_tol(rate, 0.3 * G, 0.01 * 0.3 * G);
        ck_assert_double_eq_tol(mean_v(&r).z, 0.0, 5e-3); /* newmark's keeps swinging */
        /* C7: stops at .67958 m. */
        for (int k = 0; k < 32; k++)
            rig_step(&r, 0.01);
        ck_assert_double_le(fabs(mean_v(&r).x), 0.01); /* newmark sways on its stuck base */
        ck_assert_double_eq_tol(rig_sums(&r).centre.x - x0, 0.67958, 0.02 * 0.67958);
        rig_free(&r);
    }
}
END_TEST

/* The same by linear solves only. */
START_TEST(sliding_linearised)
{
    rig r = block(0.3, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    r.options.linearised = true;
    rig_build(&r);
    settle(&r, 0.01, 40);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(2, 0, 0);
    for (int k = 0; k < 40; k++)
        rig_step(&r, 0.01);
    ck_assert_double_eq_tol((2 - mean_v(&r).x) / 0.4, 0.3 * G, 0.01 * 0.3 * G);
    for (int k = 0; k < 40; k++)
        rig_step(&r, 0.01);
    ck_assert_double_le(fabs(mean_v(&r).x), 1e-3);
    rig_free(&r);
}
END_TEST

/* C6: sticks below the angle of friction, slides above it with g (sin - mu cos). */
START_TEST(incline)
{
    for (int slides = 0; slides < 2; slides++) {
        double slope = slides ? 0.6 : 0.45, mu = 0.5;
        rig r = block(mu, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
        rig_build(&r);
        r.gravity = tilted(0.0);
        settle(&r, 0.01, 40);
        r.gravity = tilted(slope);
        settle(&r, 0.01, 40);
        double v0 = mean_v(&r).x;
        for (int k = 0; k < 50; k++)
            rig_step(&r, 0.01);
        double rate = (mean_v(&r).x - v0) / 0.5;
        double angle = atan(slope), expected = G * (sin(angle) - mu * cos(angle));
        if (slides)
            ck_assert_double_eq_tol(rate, expected, 0.01 * expected);
        else
            ck_assert_double_le(fabs(mean_v(&r).x), 1e-5);
        rig_free(&r);
    }
}
END_TEST

static double energy(const rig *r)
{
    kiln_motion_sums sums = rig_sums(r);
    return sums.kinetic + r->report.e_elastic + sums.mass * G * sums.centre.z;
}

/* An elastic ball dropped on a plane comes up again, and never with more energy than it had. */
START_TEST(bouncing)
{
    for (int i = 0; i <= KILN_BDF2; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "ball", "radius=.1 h=.06");
        rig r =
            rig_of(context, mesh, rig_material("neo-hookean", 2e5, 0.3, 1000), (kiln_integrator)i);
        r.gravity = kiln_v3(0, 0, -G);
        add_obstacle(&r, plane(kiln_v3(0, 0, -0.15), kiln_v3(0, 0, 1)), 0.4);
        rig_build(&r);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3(0.3, 0, -1);
        double e0 = energy(&r), highest = -INFINITY, drop = -INFINITY;
        bool touched = false;
        for (int k = 0; k < 110; k++) {
            rig_step(&r, 0.004);
            touched = touched || r.report.contacts > 0;
            double e = energy(&r);
            ck_assert_double_le(e, e0 + 1e-3 * fabs(e0) + 1e-9);
            if (touched && r.report.contacts == 0)
                highest = fmax(highest, mean_v(&r).z);
            drop = fmax(drop, e0 - e);
        }
        ck_assert(touched);
        ck_assert_double_gt(highest, 0.3); /* it left the plane upward */
        if (getenv("KILN_TEST_REPORT"))
            printf("%s: bounce speed %.3f of 1.41, energy lost %.3f\n",
                   kiln_integrator_name((kiln_integrator)i), highest, drop / e0);
        rig_free(&r);
    }
}
END_TEST

/* validation.md C5: a bar against a wall. Contact lasts 2L/c, the wall feels rho c v, and the
 * energy never grows, by newmark neither (which explodes when contact forces count as
 * accelerations). */
START_TEST(c5_bar_impact)
{
    static const double rebound[] = {0.91, 0.97, 0.97};
    for (int i = 0; i <= KILN_BDF2; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh =
            kiln_test_mesh(context, "box", "lx=.025 ly=.025 lz=1 nx=1 ny=1 nz=40 pattern=mirrored");
        rig r = rig_of(context, mesh, rig_material("linear", 1e6, 0.0, 1000), (kiln_integrator)i);
        add_obstacle(&r, plane(kiln_v3(0, 0, 0), kiln_v3(0, 0, 1)), 0.0);
        rig_build(&r);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3(0, 0, -0.1);
        const double c = sqrt(1e6 / 1000), h = 0.25 * 0.025 / c, e0 = rig_sums(&r).kinetic;
        double last = 0, stress = 0, count = 0;
        for (int k = 0; k < 400; k++) {
            rig_step(&r, h);
            ck_assert_double_le(rig_sums(&r).kinetic + r.report.e_elastic, 1.001 * e0);
            double force = rig_sum(&r, kiln_solid_contact(r.solid)).z;
            last = force > 0 ? r.clock.time : last;
            if (r.clock.time > 0.015 && r.clock.time < 0.05) {
                stress += force / (0.025 * 0.025);
                count++;
            }
        }
        ck_assert_double_eq_tol(last, 63.25e-3, 0.02 * 63.25e-3);
        ck_assert_double_eq_tol(stress / count, 3162, 0.01 * 3162);
        ck_assert_double_eq_tol(mean_v(&r).z / 0.1, rebound[i], 0.01);
        rig_free(&r);
    }
}
END_TEST

/* Nothing gets inside, for every shape: a soft block falls on it. */
static void lies_outside(const rig *r, double depth)
{
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        if (r->mesh->vertex[v].flags & KILN_VERTEX_SURFACE)
            for (size_t o = 0; o < r->obstacle_count; o++) {
                kiln_vec3 normal, point;
                double d = kiln_obstacle_distance(r->obstacles[o], r->mesh->x[v], &normal, &point);
                if (d < -depth)
                    ck_abort_msg("t %g: vertex %u is inside by %g", r->clock.time, v, -d);
            }
}

static kiln_soup pyramid(kiln_context *context)
{
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    const kiln_vec3 points[] = {
        {-.3, -.3, -.5}, {.7, -.3, -.5}, {.7, .7, -.5}, {-.3, .7, -.5}, {.2, .2, -.05}};
    const uint32_t triangles[][3] = {{0, 2, 1}, {0, 3, 2}, {0, 1, 4},
                                     {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(kiln_array_push(context, &soup.points, points[i], NULL), KILN_OK);
    for (size_t i = 0; i < 6; i++) {
        kiln_soup_triangle t = {0};
        memcpy(t.v, triangles[i], sizeof t.v);
        ck_assert_int_eq(kiln_array_push(context, &soup.triangles, t, NULL), KILN_OK);
    }
    return soup;
}

START_TEST(every_shape)
{
    const kiln_obstacle_shape shapes[] = {
        plane(kiln_v3(0, 0, -0.05), kiln_v3(0.2, 0, 0.98)),
        {.kind = KILN_OBSTACLE_SPHERE, .point = {.2, .2, -.35}, .radius = 0.3},
        {.kind = KILN_OBSTACLE_CYLINDER,
         .point = {.2, -1, -.25},
         .end = {.2, 1, -.25},
         .radius = .2},
        {.kind = KILN_OBSTACLE_CAPSULE,
         .point = {.2, 0, -.25},
         .end = {.2, .4, -.25},
         .radius = .2},
        {.kind = KILN_OBSTACLE_BOX, .point = {.1, .1, -1}, .end = {.3, .3, -.05}},
        {.kind = KILN_OBSTACLE_CONE, .point = {.2, .2, -1}, .end = {.2, .2, -.05}, .radius = .8},
        {.kind = KILN_OBSTACLE_TORUS,
         .point = {.2, .2, -.1},
         .normal = {0, 0, 1},
         .radius = .15,
         .tube = .05},
        {.kind = KILN_OBSTACLE_MESH},
        {.kind = KILN_OBSTACLE_SPHERE, .point = {.2, .2, .1}, .radius = .45, .inside_out = true},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=.4 ly=.4 lz=.1 nx=4 ny=4 nz=1");
        rig r =
            rig_of(context, mesh, rig_material("neo-hookean", 3e4, 0.3, 1000), KILN_IMPLICIT_EULER);
        r.gravity = kiln_v3(0, 0, -G);
        kiln_obstacle_shape shape = shapes[i];
        if (shape.kind == KILN_OBSTACLE_MESH)
            shape.surface = pyramid(context);
        add_obstacle(&r, shape, 0.3);
        rig_build(&r);
        int touched = 0;
        for (int k = 0; k < 30; k++) {
            rig_step(&r, 0.01);
            lies_outside(&r, 1e-6);
            touched += r.report.contacts > 0;
        }
        if (touched < 5)
            ck_abort_msg("%s: touched in %d steps", kiln_obstacle_name(shape.kind), touched);
        rig_free(&r);
    }
}
END_TEST

/* A plane that comes up carries the block along; a turning one drags it by friction. */
static void lift(rig *r, kiln_solid *solid, double time, double load)
{
    (void)solid;
    (void)load;
    kiln_pose pose = {.rotation = kiln_m3_identity(),
                      .shift = {0, 0, r->parameter * time},
                      .linear = {0, 0, r->parameter}};
    kiln_obstacle_set_pose(r->obstacles[0], &pose);
}

static void drag(rig *r, kiln_solid *solid, double time, double load)
{
    (void)solid;
    (void)load;
    kiln_pose pose = {.rotation = kiln_m3_identity(),
                      .shift = {r->parameter * time, 0, 0},
                      .linear = {r->parameter, 0, 0}};
    kiln_obstacle_set_pose(r->obstacles[0], &pose);
}

START_TEST(moving_obstacle)
{
    rig r = block(0.5, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    r.set = lift;
    r.parameter = 0.5;
    rig_build(&r);
    for (int k = 0; k < 60; k++) {
        rig_step(&r, 0.01);
        lies_outside(&r, 1e-8);
    }
    ck_assert_double_eq_tol(mean_v(&r).z, 0.5, 0.02);
    rig_free(&r);

    rig s = block(0.5, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    s.set = drag;
    s.parameter = 0.0;
    rig_build(&s);
    settle(&s, 0.01, 30);
    s.parameter = 1.0;
    double early = 0;
    for (int k = 0; k < 60; k++) {
        rig_step(&s, 0.01);
        if (k == 9)
            early = mean_v(&s).x;
    }
    ck_assert_double_eq_tol(early, 0.5 * G * 0.1, 0.02 * 0.5 * G * 0.1);
    ck_assert_double_eq_tol(mean_v(&s).x, 1.0, 1e-3);
    rig_free(&s);
}
END_TEST

/* A press that comes to a stop: what it is pressed on is not lost and found again in every step,
 * so one linear solve is enough for each. */
static void press(rig *r, kiln_solid *solid, double time, double load)
{
    (void)solid;
    (void)load;
    double left = 1 - time / r->parameter;
    kiln_pose pose = {.rotation = kiln_m3_identity(),
                      .shift = {0, 0, 0.03 * (left * left - 1)},
                      .linear = {0, 0, -0.06 * left / r->parameter}};
    kiln_obstacle_set_pose(r->obstacles[1], &pose);
}

START_TEST(press_that_slows_down)
{
    rig r = block(0.0, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    add_obstacle(&r, plane(kiln_v3(0, 0, 0.1), kiln_v3(0, 0, -1)), 0.0);
    r.gravity = kiln_v3(0, 0, 0);
    r.set = press;
    r.parameter = 0.4;
    r.options.linearised = true;
    rig_build(&r);
    for (int k = 0; k < 40; k++) {
        rig_step(&r, 0.01);
        if (k < 8)
            continue;
        ck_assert_int_eq(r.report.contacts, 18);
        ck_assert_int_eq(r.report.newton.iterations, 1);
    }
    rig_free(&r);
}
END_TEST

/* A turntable takes the block along. */
static void turn(rig *r, kiln_solid *solid, double time, double load)
{
    (void)solid;
    (void)load;
    double c = cos(r->parameter * time), s = sin(r->parameter * time);
    kiln_vec3 axis = {0.2, 0.2, 0};
    kiln_pose pose = {.rotation = {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}}, .spin = {0, 0, 0}};
    pose.shift = kiln_v3_sub(axis, kiln_m3_apply(pose.rotation, axis));
    pose.spin.z = r->parameter;
    /* linear is the velocity of the point at `shift`. */
    pose.linear = kiln_v3_cross(pose.spin, kiln_v3_sub(pose.shift, axis));
    kiln_obstacle_set_pose(r->obstacles[0], &pose);
}

START_TEST(turntable)
{
    rig r = block(0.5, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    r.set = turn;
    r.parameter = 2.0;
    rig_build(&r);
    for (int k = 0; k < 80; k++)
        rig_step(&r, 0.005);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 arm = kiln_v3_sub(r.mesh->x[v], kiln_v3(0.2, 0.2, 0));
        kiln_vec3 expected = kiln_v3_cross(kiln_v3(0, 0, 2), arm);
        expected.z = 0;
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(rig_v(&r)[v], expected)), 0.02);
    }
    rig_free(&r);
}
END_TEST

/* Every allocation of a step with contacts fails once. */
START_TEST(out_of_memory)
{
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
        rig r =
            rig_of(context, mesh, rig_material("corotated", 1e6, 0.3, 1000), KILN_IMPLICIT_EULER);
        r.gravity = kiln_v3(0, 0, -G);
        add_obstacle(&r, plane(kiln_v3(0, 0, 0), kiln_v3(0, 0, 1)), 0.5);
        rig_build(&r);
        uint64_t before = kiln_mesh_hash(mesh);
        heap.fail_at = heap.calls + fail;
        kiln_driver driver = rig_driver(&r);
        kiln_error error = {0};
        kiln_status status = kiln_solid_step(r.solid, &driver, 0.01, &r.clock, &r.report, &error);
        bool reached = heap.calls >= heap.fail_at;
        heap.fail_at = 0;
        if (status != KILN_OK) {
            ck_assert_int_eq(status, KILN_ERR_MEMORY);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
            rig_step(&r, 0.01); /* and works when there is memory again */
        }
        ck_assert_int_eq(r.report.contacts, 4);
        rig_free(&r);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (!reached)
            break;
    }
}
END_TEST

/* Fast enough to cross a thin plate in one step; it does not. */
START_TEST(no_tunnelling)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=.4 ly=.4 lz=.4 nx=2 ny=2 nz=2");
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e6, 0.3, 1000), KILN_IMPLICIT_EULER);
    add_obstacle(&r,
                 (kiln_obstacle_shape){
                     .kind = KILN_OBSTACLE_BOX, .point = {-1, -1, -.12}, .end = {1, 1, -.1}},
                 0.0);
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0, 0, -20);
    for (int k = 0; k < 20; k++) {
        rig_step(&r, 0.01);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            ck_assert_double_ge(mesh->x[v].z, -0.1 - 1e-6);
    }
    rig_free(&r);
}
END_TEST

/* Pushed over the edge of a table it falls freely: the edge does not hold what has left it. */
START_TEST(over_the_edge)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=.1 ly=.1 lz=.1 nx=2 ny=2 nz=2");
    rig r = rig_of(context, mesh, rig_material("corotated", 1e6, 0.3, 1000), KILN_IMPLICIT_EULER);
    r.gravity = kiln_v3(0, 0, -G);
    add_obstacle(
        &r,
        (kiln_obstacle_shape){.kind = KILN_OBSTACLE_BOX, .point = {-1, -1, -1}, .end = {.12, 1, 0}},
        0.1);
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(4, 0, 0);
    double left = 0;
    for (int k = 0; k < 20; k++) {
        rig_step(&r, 0.005);
        lies_outside(&r, 1e-8);
        if (left == 0 && r.report.contacts == 0 && rig_sums(&r).centre.x > 0.17)
            left = r.clock.time;
    }
    /* It has gone 0.12 m in 0.03 s; from then on gravity alone acts. */
    ck_assert_double_gt(left, 0.0);
    ck_assert_double_le(left, 0.04);
    ck_assert_double_ge(mean_v(&r).x, 4 - 0.1 * G * 0.04 - 0.05);
    rig_free(&r);
}
END_TEST

/* In a corner of two planes vertices have two contacts; each plane carries its part. */
START_TEST(corner)
{
    rig r = block(0.0, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    add_obstacle(&r, plane(kiln_v3(0, 0, 0), kiln_v3(1, 0, 0)), 0.0);
    r.gravity = kiln_v3(-3, 0, -G);
    rig_build(&r);
    settle(&r, 0.01, 60);
    rig_step(&r, 0.01);
    kiln_vec3 force = rig_sum(&r, kiln_solid_contact(r.solid));
    ck_assert_double_eq_tol(force.x, 16 * 3, 1e-3 * 16 * 3);
    ck_assert_double_eq_tol(force.z, 16 * G, 1e-3 * 16 * G);
    lies_outside(&r, 1e-9);
    rig_free(&r);
}
END_TEST

/* Held vertices that an obstacle presses: both forces appear where they belong. */
static void guide(rig *r, kiln_solid *solid, double time, double load)
{
    (void)r;
    (void)time;
    (void)load;
    kiln_constraints *held = kiln_solid_constraints(solid);
    for (uint32_t v = 0; v < held->rows; v++) {
        held->held[v] = 1; /* x only */
        held->target[v] = kiln_solid_mesh(solid)->u[v];
    }
}

START_TEST(held_and_pressed)
{
    rig r = block(0.0, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    r.set = guide;
    r.gravity = kiln_v3(2, 0, -G);
    rig_build(&r);
    settle(&r, 0.01, 60);
    rig_step(&r, 0.01);
    kiln_vec3 contact = rig_sum(&r, kiln_solid_contact(r.solid));
    kiln_vec3 reaction = rig_sum(&r, kiln_solid_reaction(r.solid));
    ck_assert_double_eq_tol(contact.z, 16 * G, 1e-3 * 16 * G);
    ck_assert_double_eq_tol(contact.x, 0.0, 1e-9);
    ck_assert_double_eq_tol(reaction.x, -16 * 2, 1e-6);
    ck_assert_double_eq_tol(reaction.z, 0.0, 1e-6);
    rig_free(&r);
}
END_TEST

/* Momentum lost in an impact is the impulse that was reported, friction included. */
START_TEST(reported_impulse)
{
    rig r = block(0.3, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        r.mesh->x[v].z += 0.013;
        rig_v(&r)[v] = kiln_v3(2, 0, -1);
    }
    kiln_vec3 impulse = {0, 0, 0}, start = rig_sums(&r).momentum;
    for (int k = 0; k < 20; k++) {
        rig_step(&r, 0.005);
        impulse = kiln_v3_madd(impulse, 0.005, rig_sum(&r, kiln_solid_contact(r.solid)));
        impulse = kiln_v3_madd(impulse, 0.005 * 16, r.gravity);
    }
    kiln_vec3 change = kiln_v3_sub(rig_sums(&r).momentum, start);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(change, impulse)), 1e-6 * kiln_v3_norm(start));
    /* Coulomb: what is lost along is mu times what was lost into. */
    double normal = change.z + 16 * G * 0.1;
    ck_assert_double_eq_tol(-change.x / normal, 0.3, 0.01 * 0.3);
    rig_free(&r);
}
END_TEST

START_TEST(threads_give_the_same_bits)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        kiln_context *context = kiln_test_context(1 + k);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=.4 ly=.4 lz=.1 nx=16 ny=16 nz=1");
        rig r =
            rig_of(context, mesh, rig_material("corotated", 1e5, 0.3, 1000), KILN_IMPLICIT_EULER);
        r.gravity = kiln_v3(1, 0, -G);
        add_obstacle(&r,
                     (kiln_obstacle_shape){
                         .kind = KILN_OBSTACLE_SPHERE, .point = {.2, .2, -.3}, .radius = .3},
                     0.4);
        rig_build(&r);
        for (int i = 0; i < 4; i++)
            rig_step(&r, 0.01);
        ck_assert_int_gt(r.report.contacts, 0);
        hash[k] = kiln_mesh_hash(r.mesh);
        rig_free(&r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

/* What a checkpoint keeps is enough: a new solid on the same mesh goes on with the same bits. */
START_TEST(resumed)
{
    for (int i = 0; i <= KILN_BDF2; i++) {
        uint64_t hash[2];
        for (int k = 0; k < 2; k++) {
            rig r = block(0.3, kiln_v3(0, 0, 1), (kiln_integrator)i);
            r.gravity = kiln_v3(2, 1, -G);
            rig_build(&r);
            for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
                rig_v(&r)[v] = kiln_v3(1, 0, -0.5);
            for (int step = 0; step < 12; step++) {
                if (k && (step < 3 || step % 4 == 3)) {
                    kiln_solid_destroy(r.solid);
                    rig_build(&r);
                }
                rig_step(&r, 0.01);
            }
            ck_assert_int_gt(r.report.contacts, 0);
            hash[k] = kiln_mesh_hash(r.mesh);
            rig_free(&r);
        }
        ck_assert_uint_eq(hash[0], hash[1]);
    }
}
END_TEST

/* An impact that is too sudden is taken back, contacts and all. */
START_TEST(taken_back)
{
    rig r = block(0.3, kiln_v3(0, 0, 1), KILN_IMPLICIT_EULER);
    r.options.max_acceleration = 200;
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        r.mesh->x[v].z += 0.001;
        rig_v(&r)[v] = kiln_v3(1, 0, -3);
    }
    uint64_t before = kiln_mesh_hash(r.mesh);
    rig_try(&r, 0.01);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_ACCELERATION);
    ck_assert_uint_ne(r.report.element, KILN_NONE);
    ck_assert_uint_eq(kiln_mesh_hash(r.mesh), before);
    rig_free(&r);
}
END_TEST

/* A static block pressed on a plane by its weight. */
START_TEST(static_contact)
{
    rig r = block(0.3, kiln_v3(0, 0, 1), KILN_STATIC);
    r.set = guide;
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        r.mesh->x[v].z -= 0.001;
    kiln_error error = {0};
    kiln_driver driver = rig_driver(&r);
    rig_check(kiln_solid_equilibrium(r.solid, &driver, 2, &r.clock, &r.report, &error), &error);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_DONE);
    ck_assert_double_eq_tol(rig_sum(&r, kiln_solid_contact(r.solid)).z, 16 * G, 1e-3 * 16 * G);
    lies_outside(&r, 1e-8);
    rig_free(&r);
}
END_TEST

/* One that lies on it from the begin, and that nothing else holds. */
START_TEST(static_block_on_a_plane)
{
    static const double friction[] = {0.0, 0.3};
    for (int k = 0; k < 2; k++) {
        rig r = block(friction[k], kiln_v3(0, 0, 1), KILN_STATIC);
        rig_build(&r);
        kiln_error error = {0};
        kiln_driver driver = rig_driver(&r);
        rig_check(kiln_solid_equilibrium(r.solid, &driver, 1, &r.clock, &r.report, &error), &error);
        ck_assert_int_eq(r.report.outcome, KILN_STEP_DONE);
        ck_assert_double_eq_tol(rig_sum(&r, kiln_solid_contact(r.solid)).z, 16 * G, 1e-3 * 16 * G);
        lies_outside(&r, 1e-8);
        rig_free(&r);
    }
}
END_TEST

/* The height of the base is given: it starts at 0 and moves with `parameter`. */
static void lead_base(rig *r, kiln_solid *solid, double time, double load)
{
    (void)load;
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_constraints *held = kiln_solid_constraints(solid);
    for (uint32_t v = 0; v < held->rows; v++)
        if (mesh->u[v].z == 0.0) {
            held->held[v] = 4;
            held->target[v] = kiln_v3(0, 0, r->parameter * time);
        }
}

/* Obstacles do not move what is led, nor stop it, and do not press on it. */
START_TEST(led_into_an_obstacle)
{
    for (int i = 0; i <= KILN_BDF2; i++) {
        rig r = block(0.3, kiln_v3(0, 0, 1), (kiln_integrator)i);
        kiln_obstacle_destroy(r.obstacles[0]);
        r.obstacle_count = 0;
        add_obstacle(&r, plane(kiln_v3(0, 0, -0.02), kiln_v3(0, 0, 1)), 0.3);
        r.set = lead_base;
        r.parameter = -1.0;
        rig_build(&r);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3(0, 0, -1);
        for (int k = 1; k <= 8; k++) {
            rig_step(&r, 0.01);
            ck_assert_double_eq(kiln_v3_norm(rig_sum(&r, kiln_solid_contact(r.solid))), 0.0);
            for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
                if (r.mesh->u[v].z == 0.0) {
                    ck_assert_double_eq_tol(r.mesh->x[v].z, -r.clock.time, 1e-12);
                    ck_assert_double_eq_tol(rig_v(&r)[v].z, -1.0, 1e-9);
                }
        }
        rig_free(&r);
    }
}
END_TEST

/* A slope that meets a base which keeps its height stops it sideways. */
START_TEST(held_in_height_against_a_slope)
{
    for (int i = 0; i <= KILN_BDF2; i++) {
        rig r = block(0.0, kiln_v3(0, 0, 1), (kiln_integrator)i);
        kiln_obstacle_destroy(r.obstacles[0]);
        r.obstacle_count = 0;
        kiln_vec3 normal = kiln_v3_normalize(kiln_v3(1, 0, 0.5)), foot = kiln_v3(-0.05, 0, 0);
        add_obstacle(&r, plane(foot, normal), 0.3);
        r.set = lead_base;
        rig_build(&r);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3(-2, 0, 0);
        int touched = 0;
        for (int k = 1; k <= 8; k++) {
            rig_step(&r, 0.01);
            touched += r.report.contacts;
            for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
                if (r.mesh->u[v].z == 0.0) {
                    kiln_vec3 x = r.mesh->x[v];
                    ck_assert_double_eq_tol(x.z, 0.0, 1e-12);
                    ck_assert_double_eq_tol(rig_v(&r)[v].z, 0.0, 1e-9);
                    ck_assert_double_ge(kiln_v3_dot(normal, kiln_v3_sub(x, foot)), -1e-8);
                }
        }
        ck_assert_int_gt(touched, 0);
        rig_free(&r);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("obstacles");
    TCase *tests = kiln_test_case(suite, "obstacles");
    tcase_add_test(tests, at_rest);
    tcase_add_test(tests, sliding);
    tcase_add_test(tests, sliding_linearised);
    tcase_add_test(tests, incline);
    tcase_add_test(tests, bouncing);
    tcase_add_test(tests, c5_bar_impact);
    tcase_add_test(tests, every_shape);
    tcase_add_test(tests, moving_obstacle);
    tcase_add_test(tests, press_that_slows_down);
    tcase_add_test(tests, turntable);
    tcase_add_test(tests, out_of_memory);
    tcase_add_test(tests, no_tunnelling);
    tcase_add_test(tests, over_the_edge);
    tcase_add_test(tests, corner);
    tcase_add_test(tests, held_and_pressed);
    tcase_add_test(tests, reported_impulse);
    tcase_add_test(tests, threads_give_the_same_bits);
    tcase_add_test(tests, resumed);
    tcase_add_test(tests, taken_back);
    tcase_add_test(tests, static_contact);
    tcase_add_test(tests, static_block_on_a_plane);
    tcase_add_test(tests, led_into_an_obstacle);
    tcase_add_test(tests, held_in_height_against_a_slope);
    return suite;
}

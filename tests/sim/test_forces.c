/* What obstacles and holds do in a step: against weight, formulas and the change of momentum. */
#include "scenes.h"

#include <math.h>

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void begin(kiln_integrator integrator)
{
    scene_open(scene, "forces.lua", &heap);
    scene->solid.integrator = integrator;
    scene->solid.newton.tolerance = 1e-12;
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -9.81));
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
}

static void end(kiln_world *world)
{
    scene_close(scene, world, &heap);
}

static kiln_scene_obstacle *add_plane(kiln_vec3 point, kiln_vec3 normal, double friction)
{
    kiln_scene_obstacle plane = {
        .shape = {.kind = KILN_OBSTACLE_PLANE, .point = point, .normal = normal},
        .friction = friction,
        .motion = {.obstacle = -1}};
    snprintf(plane.name, sizeof plane.name, "obstacle%zu", scene->obstacles.count + 1);
    SCENE_PUSH(obstacles, plane);
    return &scene->obstacles.data[scene->obstacles.count - 1];
}

static kiln_wrench obstacle_wrench(const kiln_world *world, size_t row)
{
    kiln_wrench wrench;
    ck_assert(kiln_world_obstacle_wrench(world, row, &wrench));
    return wrench;
}

static kiln_wrench hold_wrench(const kiln_world *world, size_t row)
{
    kiln_wrench wrench;
    ck_assert(kiln_world_hold_wrench(world, row, &wrench));
    return wrench;
}

static void assert_near(kiln_vec3 a, kiln_vec3 b, double tolerance)
{
    double off = kiln_v3_norm(kiln_v3_sub(a, b));
    ck_assert_msg(off <= tolerance, "(%.12g %.12g %.12g), not (%.12g %.12g %.12g): off by %g", a.x,
                  a.y, a.z, b.x, b.y, b.z, off);
}

static const kiln_integrator moving[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};

static kiln_status to_and_fro(void *self, const kiln_circumstances *at, double *out, int components,
                              kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 0.1 * sin(10.0 * at->time);
    out[1] = out[2] = 0.0;
    return KILN_OK;
}

/* A block that falls on a rough plane and slides against a wall, another that is led and hangs by a
 * slanted direction as well: what obstacles, holds and gravity give is what momentum gains, in
 * every step, impacts among them. */
START_TEST(forces_are_what_momentum_gains)
{
    begin(moving[_i % 3]);
    scene->solid.mass = _i < 3 ? KILN_MASS_LUMPED : KILN_MASS_CONSISTENT;
    double weight = 9.81 * 1000 * (0.12 + 0.06);
    kiln_scene_body *faller = scene_body(scene, "box", "lx=1 ly=0.4 lz=0.3 nx=4 ny=2 nz=2");
    faller->velocity = kiln_quantity_vector(kiln_v3(2.0, 0.3, -1.0));
    for (size_t i = 0; i < faller->mesh.points.count; i++)
        faller->mesh.points.data[i].z += 0.1;
    kiln_scene_body *led = scene_body(scene, "box", "lx=1 ly=0.2 lz=0.3 nx=4 ny=1 nz=2");
    for (size_t i = 0; i < led->mesh.points.count; i++)
        led->mesh.points.data[i] = kiln_v3_add(led->mesh.points.data[i], kiln_v3(0, 5, 3));
    scene_hold(scene, scene_box(scene, kiln_v3(-1, 4, 0), kiln_v3(1e-9, 6, 9)), 7)->motion =
        (kiln_motion){.kind = KILN_MOTION_TRANSLATE,
                      .shift = {.evaluate = to_and_fro, .self = scene},
                      .obstacle = -1};
    kiln_mat3 turned = kiln_m3_transpose(kiln_m3_rotation(kiln_v3(0, 1, 0), 0.5));
    scene_hold(scene, scene_box(scene, kiln_v3(0.9, 4, 0), kiln_v3(2, 6, 9)), 1)->axes = turned;
    add_plane(kiln_v3(0, 0, 0), kiln_v3(0, 0, 1), 0.3);
    add_plane(kiln_v3(1.3, 0, 0), kiln_v3(-1, 0, 0.1), 0.1);
    kiln_world *world = scene_world(scene);
    kiln_stats before;
    kiln_world_measure(world, &before);
    double largest = 0.0, impact = 0.0;
    for (int i = 0; i < 40; i++) {
        kiln_stats now = scene_step(world, scene->duration);
        kiln_vec3 gain = {now.px - before.px, now.py - before.py, now.pz - before.pz};
        kiln_vec3 sum = {0, 0, -weight};
        for (size_t k = 0; k < 2; k++) {
            sum = kiln_v3_add(sum, obstacle_wrench(world, k).force);
            sum = kiln_v3_add(sum, hold_wrench(world, k).force);
        }
        largest = fmax(largest, kiln_v3_norm(sum));
        impact = fmax(impact, kiln_v3_norm(obstacle_wrench(world, 1).force));
        assert_near(sum, kiln_v3_scale(gain, 1.0 / now.dt), 1e-6 * weight);
        ck_assert_double_eq_tol(now.fz + now.rz - weight, sum.z, 1e-9 * weight);
        before = now;
    }
    ck_assert_double_gt(largest, weight);
    ck_assert_double_gt(impact, 100.0);
    end(world);
}
END_TEST

/* On a plane far from the origin, damped to rest: the plane's force is the weight, and its torque
 * about a point of the plane that of the weight. */
START_TEST(a_block_at_rest_weighs)
{
    begin(moving[_i]);
    double weight = 9.81 * 1000 * 0.125;
    scene->materials.data[0].base.damping_mass = 20.0;
    kiln_scene_body *block = scene_body(scene, "box", "lx=0.5 ly=0.5 lz=0.5 n=4");
    for (size_t i = 0; i < block->mesh.points.count; i++)
        block->mesh.points.data[i] =
            kiln_v3_add(block->mesh.points.data[i], kiln_v3(100.0, -50.0, 20.0));
    add_plane(kiln_v3(100.0, -50.0, 20.0), kiln_v3(0, 0, 1), 0.0);
    kiln_world *world = scene_world(scene);
    scene->duration = 9.0; /* under newmark drag alone brings it to rest */
    for (int i = 0; i < 600; i++)
        scene_step(world, scene->duration);
    kiln_wrench w = obstacle_wrench(world, 0);
    assert_near(w.place, kiln_v3(100.0, -50.0, 20.0), 1e-12);
    assert_near(w.force, kiln_v3(0, 0, weight), 1e-6 * weight);
    /* r x F with r = (1/4, 1/4, 0) */
    assert_near(w.torque, kiln_v3(0.25 * weight, -0.25 * weight, 0), 1e-4 * weight);
    end(world);
}
END_TEST

/* In a corner under a slanted gravity: the vertices of the edge lie on both planes, and each plane
 * has its own. */
START_TEST(obstacles_are_told_apart)
{
    begin(_i ? KILN_STATIC : KILN_IMPLICIT_EULER);
    scene->gravity = kiln_quantity_vector(kiln_v3(-3.0, 0, -9.0));
    scene->materials.data[0].base.damping_mass = 20.0;
    scene_body(scene, "box", "lx=0.5 ly=0.5 lz=0.5 n=3");
    add_plane(kiln_v3(0, 0, 0), kiln_v3(0, 0, 1), 0.0);
    add_plane(kiln_v3(0, 0, 0), kiln_v3(1, 0, 0), 0.0);
    if (_i) /* nothing else keeps it from sliding along y */
        scene_hold(scene, scene_box(scene, kiln_v3(-1, -1e-9, -1), kiln_v3(2, 1e-9, 2)), 2);
    kiln_world *world = scene_world(scene);
    for (int i = 0; i < (_i ? 1 : 200); i++)
        scene_step(world, _i ? 1.0 : 3.0);
    assert_near(obstacle_wrench(world, 0).force, kiln_v3(0, 0, 125 * 9.0), 1e-4);
    assert_near(obstacle_wrench(world, 1).force, kiln_v3(125 * 3.0, 0, 0), 1e-4);
    end(world);
}
END_TEST

/* A clamped bar at rest: the clamp bears the weight, and about the middle of its face the moment of
 * the weight where the bar hangs. Two holds on the same vertices share nothing: the first has it
 * all. */
START_TEST(a_clamp_bears_force_and_moment)
{
    begin(KILN_STATIC);
    scene_body(scene, "box", "lx=1 ly=0.25 lz=0.25 nx=6 ny=2 nz=2");
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 5);
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    double weight = 9.81 * 62.5;
    kiln_world *world = scene_world(scene);
    scene_step(world, 1.0);
    kiln_wrench one = hold_wrench(world, 0), two = hold_wrench(world, 1);
    assert_near(one.place, kiln_v3(0, 0.125, 0.125), 1e-12);
    assert_near(kiln_v3_add(one.force, two.force), kiln_v3(0, 0, weight), 1e-6 * weight);
    assert_near(kiln_v3(two.force.x, 0, two.force.z), kiln_v3(0, 0, 0), 1e-9 * weight);
    const double *mass = kiln_mass_lumped(kiln_solid_mass(kiln_world_solid(world)));
    const kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_vec3 moment = {0, 0, 0};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        moment = kiln_v3_add(moment, kiln_v3_cross(kiln_v3_sub(mesh->x[v], one.place),
                                                   kiln_v3(0, 0, 9.81 * mass[v])));
    assert_near(kiln_v3_add(one.torque, two.torque), moment, 1e-6 * weight);
    ck_assert_double_lt(moment.y, -0.3 * weight);
    end(world);
}
END_TEST

static kiln_status ever_faster(void *self, const kiln_circumstances *at, double *out,
                               int components, kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 2.0 * at->time * at->time;
    return KILN_OK;
}

/* A block that is wholly led round an axis: the torque about it turns the moment of inertia. With
 * implicit Euler the acceleration is the second difference of places on a circle. */
START_TEST(a_rotating_hold_has_the_torque_of_inertia)
{
    begin(KILN_IMPLICIT_EULER);
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, 0));
    scene_body(scene, "box", "lx=1 ly=0.25 lz=0.25 nx=6 ny=2 nz=2");
    kiln_vec3 centre = {3.0, 2.0, 0.0};
    scene_hold(scene, scene_slab(scene, -2, 2), 7)->motion =
        (kiln_motion){.kind = KILN_MOTION_ROTATE,
                      .angle = {.evaluate = ever_faster, .self = scene},
                      .centre = centre,
                      .axis = {0, 0, 1},
                      .obstacle = -1};
    kiln_world *world = scene_world(scene);
    const double *mass = kiln_mass_lumped(kiln_solid_mass(kiln_world_solid(world)));
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double inertia = 0.0, h = scene->pace.dt;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        inertia += mass[v] * (pow(mesh->x[v].x - centre.x, 2) + pow(mesh->x[v].y - centre.y, 2));
    for (int i = 0; i < 10; i++)
        scene_step(world, scene->duration);
    double now = 2.0 * 0.1 * 0.1, then = 2.0 * 0.09 * 0.09, first = 2.0 * 0.08 * 0.08;
    double turn = (2.0 * sin(now - then) - sin(now - first)) / (h * h);
    kiln_wrench w = hold_wrench(world, 0);
    assert_near(w.place, centre, 1e-12);
    ck_assert_double_eq_tol(w.torque.z, inertia * turn, 1e-7 * inertia);
    ck_assert_double_eq_tol(w.torque.z, 4.0 * inertia, 0.02 * inertia);
    end(world);
}
END_TEST

/* Before it begins and after it has ended a hold does nothing. */
START_TEST(a_hold_that_does_not_act_has_no_force)
{
    begin(KILN_IMPLICIT_EULER);
    scene_body(scene, "box", "lx=1 ly=0.25 lz=0.25 nx=3 ny=1 nz=1");
    kiln_scene_hold *hold = scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    hold->from = 0.02;
    hold->until = 0.04;
    kiln_world *world = scene_world(scene);
    kiln_wrench w;
    for (int i = 0; i < 6; i++) {
        scene_step(world, scene->duration);
        bool acts = kiln_world_hold_wrench(world, 0, &w);
        ck_assert_int_eq(acts, i == 2 || i == 3);
        ck_assert(acts ? w.force.z > 0.0 : isnan(w.force.z) && isnan(w.place.x));
    }
    end(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("forces");
    TCase *all = kiln_test_case(suite, "forces");
    tcase_add_loop_test(all, forces_are_what_momentum_gains, 0, 6);
    tcase_add_loop_test(all, a_block_at_rest_weighs, 0, 3);
    tcase_add_loop_test(all, obstacles_are_told_apart, 0, 2);
    tcase_add_test(all, a_clamp_bears_force_and_moment);
    tcase_add_test(all, a_rotating_hold_has_the_torque_of_inertia);
    tcase_add_test(all, a_hold_that_does_not_act_has_no_force);
    return suite;
}

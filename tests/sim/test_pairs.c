/* Friction and sight of single pairs: contact.pairs. */
#include "contact/clearance.h"
#include "scenes.h"
#include "sim/pairs.h"

#include <math.h>

#define G 9.81

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK};

static void begin(void)
{
    scene_open(scene, "pairs.lua", &heap);
    scene_material(scene, "neo-hookean", 1e6, 0.3, 1000);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = 0.01;
}

static void end(kiln_world *world)
{
    scene_close(scene, world, &heap);
}

static void add_pair(const char *a, const char *b, double friction, bool off)
{
    kiln_scene_pair pair = {.friction = friction, .off = off};
    snprintf(pair.said.path, sizeof pair.said.path, "contact.pairs[%zu]",
             scene->contact.pairs.count + 1);
    snprintf(pair.a, sizeof pair.a, "%s", a);
    snprintf(pair.b, sizeof pair.b, "%s", b);
    SCENE_PUSH(contact.pairs, pair);
}

static void add_block(kiln_vec3 at)
{
    kiln_scene_body *body = scene_body(scene, "box", "lx=0.2 ly=0.2 lz=0.1 nx=2 ny=2 nz=1");
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i] = kiln_v3_add(body->mesh.points.data[i], at);
}

static void add_plane(const char *name, double friction)
{
    kiln_scene_obstacle plane = {.shape = {.kind = KILN_OBSTACLE_PLANE, .normal = {0, 0, 1}},
                                 .friction = friction,
                                 .motion = {.obstacle = -1}};
    snprintf(plane.name, sizeof plane.name, "%s", name);
    SCENE_PUSH(obstacles, plane);
}

/* The mean place of a body's vertices. */
static kiln_vec3 middle(kiln_world *world, uint32_t body)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_vec3 sum = {0, 0, 0};
    double count = 0.0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (mesh->parts.data[mesh->info[mesh->vertex[v].tet].part].body == body) {
            sum = kiln_v3_add(sum, mesh->x[v]);
            count += 1.0;
        }
    return kiln_v3_scale(sum, 1.0 / count);
}

static void run_until(kiln_world *world, double time)
{
    kiln_world_get_state(world)->step = 1;
    while (kiln_world_get_state(world)->clock.time < time - 1e-9)
        scene_step(world, time);
}

/* Two blocks on one slope of tan 0.4, with friction 0.2 and 0.6: only the first slides, and as far
 * as Coulomb says. The slope is an obstacle, or a body that is held. */
START_TEST(one_of_two_slides)
{
    bool is_body = _i >= 3;
    double angle = atan(0.4), time = 0.3;
    begin();
    scene->solid.integrator = integrators[_i % 3];
    scene->gravity = kiln_quantity_vector(kiln_v3(G * sin(angle), 0, -G * cos(angle)));
    add_block(kiln_v3(0, 0, 0));
    add_block(kiln_v3(0, 0.5, 0));
    if (is_body) {
        kiln_scene_body *slope = scene_body(scene, "box", "lx=1 ly=1 lz=0.1 nx=4 ny=4 nz=1");
        for (size_t i = 0; i < slope->mesh.points.count; i++)
            slope->mesh.points.data[i] =
                kiln_v3_add(slope->mesh.points.data[i], kiln_v3(-0.1, -0.1, -0.10985));
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -9), kiln_v3(9, 9, -1e-3)), 7)->body = 2;
        scene->contact.friction = 0.6;
        add_pair("body3", "body1", 0.2, false);
    } else {
        add_plane("slope", 5.0);
        add_pair("m1", "slope", 0.6, false);
        add_pair("slope", "body1", 0.2, false);
    }
    kiln_world *world = scene_world(scene);
    kiln_vec3 start[2] = {middle(world, 0), middle(world, 1)};
    run_until(world, time);
    double slid = middle(world, 0).x - start[0].x, stuck = middle(world, 1).x - start[1].x;
    double wanted = 0.5 * G * (sin(angle) - 0.2 * cos(angle)) * time * time;
    /* Implicit Euler is ahead by h / t of the way, 0.033. */
    ck_assert_msg(fabs(slid / wanted - 1.0) < 0.06, "slid %g, not %g", slid, wanted);
    ck_assert_msg(fabs(stuck) < 0.01 * wanted, "slid %g of %g", stuck, wanted);
    end(world);
}
END_TEST

/* What begins in a body and above a floor that it does not see falls freely; they rest. */
START_TEST(who_sees_nothing_falls)
{
    begin();
    scene->solid.integrator = integrators[_i];
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -G));
    add_plane("floor", 0.3);
    add_block(kiln_v3(0, 0, 0));
    add_block(kiln_v3(0.03, 0.02, 0.07));
    add_pair("body1", "body2", NAN, true);
    add_pair("body2", "floor", NAN, true);
    kiln_world *world = scene_world(scene);
    kiln_vec3 start[2] = {middle(world, 0), middle(world, 1)};
    run_until(world, 0.25);
    double way = middle(world, 1).z - start[1].z;
    double free_way = -0.5 * G * 0.25 * (_i == 0 ? 0.26 : 0.25); /* implicit Euler's own */
    ck_assert_msg(fabs(way - free_way) < 1e-9, "%.12g, not %.12g", way, free_way);
    ck_assert_double_lt(fabs(middle(world, 0).z - start[0].z), 1e-3);
    ck_assert_double_lt(fabs(middle(world, 0).x - start[0].x), 1e-5);
    end(world);
}
END_TEST

/* Fast, so that ways of several edges are looked at; the third body stops the first, not the
 * second. */
START_TEST(who_is_not_seen_is_not_in_the_way)
{
    begin();
    add_block(kiln_v3(0, 0, 0.3));
    add_block(kiln_v3(1, 0, 0.3));
    kiln_scene_body *plate = scene_body(scene, "box", "lx=1.2 ly=0.2 lz=0.05 nx=6 ny=1 nz=1");
    scene->bodies.data[0].velocity = scene->bodies.data[1].velocity =
        kiln_quantity_vector(kiln_v3(0, 0, -40));
    scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -9), kiln_v3(9, 9, 0.06)), 7);
    (void)plate;
    add_pair("body3", "body2", NAN, true);
    kiln_world *world = scene_world(scene);
    run_until(world, 0.02);
    ck_assert_double_gt(middle(world, 0).z, 0.05);
    ck_assert_double_lt(fabs(middle(world, 1).z - (0.35 - 0.8)), 1e-9);
    end(world);
}
END_TEST

/* Without `bodies` (or both, before an obstacle) bodies begin in each other and pass, at any speed:
 * no step is taken back for it, and no check finds fault with it. */
START_TEST(bodies_that_see_none_pass)
{
    begin();
    scene->contact.bodies = false;
    scene->contact.self = _i == 1;
    if (_i == 0)
        add_plane("floor", 0.3);
    add_block(kiln_v3(0, 0, 0.3));
    add_block(kiln_v3(0.1, 0, 0.35));
    add_block(kiln_v3(0.8, 0, 0.3));
    scene->bodies.data[0].velocity = kiln_quantity_vector(kiln_v3(60, 0, 0));
    kiln_world *world = scene_world(scene);
    for (int i = 0; i < 2; i++) {
        kiln_stats stats = scene_step(world, 0.02);
        bool clear = false;
        ck_assert_double_eq(stats.rejected, 0);
        ck_assert_int_eq(kiln_solid_is_clear(kiln_world_solid(world), KILN_SINCE_EVER, false,
                                             &clear, NULL, NULL),
                         KILN_OK);
        ck_assert(clear);
    }
    ck_assert_double_eq_tol(middle(world, 0).x, 0.1 + 60 * 0.02, 1e-9);
    end(world);
}
END_TEST

static double friction_of(const kiln_pairs *pairs, uint32_t a, uint32_t b)
{
    double one = kiln_pair_rule_of_bodies(kiln_pairs_table(pairs), a, b)->friction;
    double other = kiln_pair_rule_of_bodies(kiln_pairs_table(pairs), b, a)->friction;
    ck_assert(one == other || (isnan(one) && isnan(other)));
    return one;
}

/* Names go before materials, later ones before earlier ones; the same rule both ways. */
START_TEST(the_closest_name_wins)
{
    kiln_pairs pairs;
    begin();
    add_block(kiln_v3(0, 0, 0));
    add_block(kiln_v3(1, 0, 0));
    add_block(kiln_v3(2, 0, 0));
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
    add_block(kiln_v3(3, 0, 0));
    add_plane("floor", 0.1);
    add_pair("body1", "body2", 0.9, false);
    add_pair("m1", "m1", NAN, true);
    add_pair("m1", "body4", 0.2, false);
    add_pair("body1", "m2", 0.3, false);
    add_pair("floor", "m2", 0.4, false);
    ck_assert_int_eq(kiln_pairs_build(&pairs, scene, NULL), KILN_OK);
    const kiln_pair_table *table = kiln_pairs_table(&pairs);
    ck_assert_double_eq(friction_of(&pairs, 0, 1), 0.9);
    ck_assert(kiln_bodies_meet(table, 0, 1));
    ck_assert(!kiln_bodies_meet(table, 0, 2) && !kiln_bodies_meet(table, 1, 2));
    ck_assert(!kiln_bodies_meet(table, 2, 2)); /* rubber on rubber is also one body on itself */
    ck_assert_double_eq(friction_of(&pairs, 1, 3), 0.2);
    ck_assert_double_eq(friction_of(&pairs, 0, 3), 0.3);
    ck_assert_double_eq(kiln_pair_rule_of_obstacle(table, 3, 0)->friction, 0.4);
    ck_assert(isnan(kiln_pair_rule_of_obstacle(table, 0, 0)->friction));
    ck_assert(isnan(friction_of(&pairs, 3, 3)) && kiln_bodies_meet(table, 3, 3));
    kiln_pairs_free(&pairs, scene->context);
    end(NULL);
}
END_TEST

START_TEST(memory_may_run_out)
{
    kiln_pairs pairs;
    begin();
    add_block(kiln_v3(0, 0, 0));
    add_block(kiln_v3(1, 0, 0));
    add_pair("body1", "body2", 0.9, false);
    long left = 0;
    kiln_status status;
    do {
        heap.fail_at = heap.calls + (uint64_t)++left;
        status = kiln_pairs_build(&pairs, scene, NULL);
        ck_assert(status == KILN_OK || (status == KILN_ERR_MEMORY && !kiln_pairs_table(&pairs)));
    } while (status != KILN_OK);
    heap.fail_at = 0;
    ck_assert_int_gt(left, 3);
    kiln_pairs_free(&pairs, scene->context);
    end(NULL);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("pairs");
    TCase *all = kiln_test_case(suite, "pairs");
    tcase_add_loop_test(all, one_of_two_slides, 0, 6);
    tcase_add_loop_test(all, who_sees_nothing_falls, 0, 3);
    tcase_add_test(all, who_is_not_seen_is_not_in_the_way);
    tcase_add_loop_test(all, bodies_that_see_none_pass, 0, 2);
    tcase_add_test(all, the_closest_name_wins);
    tcase_add_test(all, memory_may_run_out);
    return suite;
}

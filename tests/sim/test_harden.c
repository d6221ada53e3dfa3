/* Adaptive stiffness of contact: how near surfaces come, and what it keeps. */
#include "scenes.h"

#include <math.h>

#define THICKNESS 0.005

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK};

/* A block that hits a held one and a plane, at 5 m/s. */
static kiln_world *throw(kiln_integrator integrator, double stiffness, bool adaptive)
{
    scene_open(scene, "harden.lua", &heap);
    scene_material(scene, "neo-hookean", 1e6, 0.3, 1000);
    scene->solid.integrator = integrator;
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = THICKNESS;
    scene->contact.stiffness = stiffness;
    scene->contact.adaptive = adaptive;
    kiln_scene_body *block = scene_body(scene, "box", "lx=0.3 ly=0.3 lz=0.1 nx=3 ny=3 nz=1");
    block->velocity = kiln_quantity_vector(kiln_v3(0, 0, -5));
    for (size_t i = 0; i < block->mesh.points.count; i++)
        block->mesh.points.data[i].z += 0.02;
    kiln_scene_body *step = scene_body(scene, "box", "lx=0.1 ly=0.1 lz=0.2 nx=1 ny=1 nz=2");
    for (size_t i = 0; i < step->mesh.points.count; i++)
        step->mesh.points.data[i] =
            kiln_v3_add(step->mesh.points.data[i], kiln_v3(0.2, 0.1, -0.19));
    scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -9), kiln_v3(9, 9, -0.05)), 7)->body = 1;
    kiln_scene_obstacle plane = {
        .shape = {.kind = KILN_OBSTACLE_PLANE, .point = {0, 0, -0.02}, .normal = {0, 0, 1}},
        .motion = {.obstacle = -1}};
    kiln_scene_pair pair = {.friction = NAN, .off = true};
    snprintf(plane.name, sizeof plane.name, "floor");
    snprintf(pair.a, sizeof pair.a, "floor");
    snprintf(pair.b, sizeof pair.b, "body2");
    SCENE_PUSH(obstacles, plane);
    SCENE_PUSH(contact.pairs, pair);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    return world;
}

/* What the module keeps; NaN: nothing. */
static double hardness(kiln_world *world)
{
    const char *name = "";
    for (size_t row = 0; name; row++) {
        size_t size;
        const double *state = kiln_world_module_state(world, row, &name, &size);
        if (name && strcmp(name, "contact") == 0)
            return state ? *state : NAN;
    }
    return NAN;
}

/* The least gap of all steps over the thickness, and the largest hardness. */
static double fall(kiln_world *world, double *most)
{
    double least = INFINITY;
    *most = 1.0;
    while (kiln_world_get_state(world)->clock.time < 0.2 - 1e-9) {
        double gap = scene_step(world, 0.2).gap_min / THICKNESS;
        least = isnan(gap) ? least : fmin(least, gap);
        *most = fmax(*most, hardness(world));
    }
    return least;
}

START_TEST(gaps_stay)
{
    double most;
    kiln_world *world = throw(integrators[_i], 1e-5, true);
    double least = fall(world, &most);
    ck_assert_msg(least > 0.01, "%g", least);
    ck_assert_double_gt(most, 100.0);
    ck_assert_double_lt(hardness(world), most); /* they have parted */
    scene_close(scene, world, &heap);
    world = throw(integrators[_i], 1e-5, false);
    least = fall(world, &most);
    ck_assert_msg(least > 1e-3, "%g", least); /* it adapts before they are in contact */
    ck_assert_double_gt(most, 1.0);
    scene_close(scene, world, &heap);
}
END_TEST

/* Where the stiffness is good enough nothing changes. */
START_TEST(nothing_happens_without_need)
{
    uint64_t hash[2];
    double most;
    for (int adaptive = 0; adaptive < 2; adaptive++) {
        kiln_world *world = throw(integrators[_i], 10.0, adaptive);
        ck_assert_double_gt(fall(world, &most), 0.05);
        ck_assert_double_eq(most, 1.0);
        hash[adaptive] = kiln_mesh_hash(kiln_world_mesh(world));
        scene_close(scene, world, &heap);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

/* A cube of 1 mm that goes 80 of its lengths in a step and a cell in the shortest one, before a
 * held one: steps are halved on where nobody gave the shortest. */
START_TEST(what_is_too_fast_gets_shorter_steps)
{
    for (int by_preset = 0; by_preset < 2; by_preset++) {
        scene_open(scene, "fast.lua", &heap);
        scene->pace =
            (kiln_pace_limits){.dt = 1e-3, .dt_min = 1e-3, .by_preset = by_preset, .patience = 4};
        scene_material(scene, "neo-hookean", 2e7, 0.3, 8000);
        scene->solid.integrator = integrators[_i];
        scene->contact.bodies = true;
        scene->contact.thickness = 1e-5;
        kiln_scene_body *cube = scene_body(scene, "box", "lx=1e-3 ly=1e-3 lz=1e-3 n=1");
        cube->velocity = kiln_quantity_vector(kiln_v3(0, 0, -80));
        for (size_t i = 0; i < cube->mesh.points.count; i++)
            cube->mesh.points.data[i] =
                kiln_v3_add(cube->mesh.points.data[i], kiln_v3(2e-4, 1e-4, 1.2e-3));
        scene_body(scene, "box", "lx=1.5e-3 ly=1.5e-3 lz=1e-3 n=1");
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -9), kiln_v3(9, 9, 1e-6)), 7)->body = 1;
        kiln_world *world = scene_world(scene);
        kiln_world_get_state(world)->step = 1;
        kiln_stats stats;
        kiln_diagnosis diagnosis = {{0}};
        kiln_error error = {0};
        bool gave_up = false;
        while (!gave_up && kiln_world_get_state(world)->clock.time < 2e-3)
            ck_assert_int_eq(kiln_world_step(world, 2e-3, &stats, &gave_up, &diagnosis, &error),
                             KILN_OK);
        ck_assert_msg(gave_up == !by_preset, "%s", diagnosis.text);
        scene_close(scene, world, &heap);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("harden");
    TCase *all = kiln_test_case(suite, "harden");
    tcase_add_loop_test(all, gaps_stay, 0, 3);
    tcase_add_loop_test(all, what_is_too_fast_gets_shorter_steps, 0, 3);
    tcase_add_loop_test(all, nothing_happens_without_need, 0, 3);
    return suite;
}

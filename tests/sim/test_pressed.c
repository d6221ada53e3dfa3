/* Obstacles that are finer than the cells they press: sizes that follow, and what is said where
 * they do not. */
#include "scenes.h"

#include <math.h>

/* Of a step that is found again and again, with implicit Euler and BDF2: all to the last digits,
 * and without true Hessians, 36 and 47. */
static const int most_matrices[] = {33, 43};
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

/* Down until 0.2 s, there until 0.4 s, then away. */
static kiln_status lead(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    const double *unit = self, t = at->time;
    (void)components, (void)error;
    out[0] = out[1] = 0.0;
    out[2] = *unit * (t < 0.2 ? -0.2 * t : t < 0.4 ? -0.04 : -0.04 + 0.6 * (t - 0.4));
    return KILN_OK;
}

/* A pin of 8 mm that lies on a block with cells of 5 cm; `unit` is the length of what is a metre
 * here. */
static void draw(kiln_remesh_method method, double *unit)
{
    const double m = *unit;
    char settings[100];
    scene_open(scene, "pressed.lua", &heap);
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000 / (m * m));
    scene->solid.integrator = KILN_IMPLICIT_EULER;
    scene->contact.thickness = 0.001 * m;
    scene->pace = (kiln_pace_limits){.dt = 0.02, .dt_min = 1e-6, .patience = 4};
    scene->duration = 1.0;
    snprintf(settings, sizeof settings, "lx=%g ly=%g lz=%g n=2 nx=4 ny=2 nz=3", 0.2 * m, 0.1 * m,
             0.15 * m);
    scene_body(scene, "box", settings);
    scene_hold(scene, scene_box(scene, kiln_v3(-m, -m, -m), kiln_v3(m, m, 1e-6 * m)), 7);
    kiln_scene_obstacle pin = {.shape = {.kind = KILN_OBSTACLE_CAPSULE,
                                         .point = {0.12 * m, -0.1 * m, 0.158 * m},
                                         .end = {0.12 * m, 0.2 * m, 0.158 * m},
                                         .radius = 0.008 * m},
                               .motion = {.kind = KILN_MOTION_TRANSLATE,
                                          .shift = {.evaluate = lead, .self = unit},
                                          .obstacle = -1}};
    snprintf(pin.name, sizeof pin.name, "pin");
    SCENE_PUSH(obstacles, pin);
    scene->remesh.method = method;
    scene->remesh.follow = method == KILN_REMESH_LOCAL;
    scene->remesh.contact = method == KILN_REMESH_LOCAL ? 0.5 : 0.0;
}

static kiln_world *press(kiln_remesh_method method, double *unit)
{
    draw(method, unit);
    return scene_world(scene);
}

static void end(kiln_world *world)
{
    scene_close(scene, world, &heap);
}

static kiln_stats step_until(kiln_world *world, double time)
{
    kiln_stats stats = {0};
    while (kiln_world_get_state(world)->clock.time < time - 1e-9)
        stats = scene_step(world, time);
    return stats;
}

static uint32_t tets_of(kiln_world *world)
{
    return kiln_world_mesh(world)->table[KILN_ON_TET].live;
}

/* The force becomes that of fine cells, in any unit; what rests, pressed, keeps its mesh; what is
 * let go becomes coarse again. */
START_TEST(cells_follow_what_presses)
{
    double unit[2] = {1.0, 1e3}, force[2];
    uint32_t tets[2];
    kiln_world *fixed = press(KILN_REMESH_NONE, &unit[0]);
    double stiff = -step_until(fixed, 0.2).fz;
    end(fixed);
    for (int i = 0; i < 2; i++) {
        kiln_world *world = press(KILN_REMESH_LOCAL, &unit[i]);
        uint32_t start = tets_of(world);
        force[i] = -step_until(world, 0.2).fz / (unit[i] * unit[i]);
        tets[i] = tets_of(world);
        ck_assert_uint_gt(tets[i], 2 * start);
        kiln_test_audit(kiln_world_mesh(world));
        step_until(world, 0.36);
        uint32_t rested = tets_of(world);
        step_until(world, 0.4);
        ck_assert_uint_eq(tets_of(world), rested);
        step_until(world, 0.6);
        ck_assert_uint_lt(tets_of(world), tets[i] / 2 + start / 2);
        end(world);
    }
    ck_assert_double_lt(force[0], 0.9 * stiff);
    ck_assert_double_eq_tol(force[1] / force[0], 1.0, 0.02);
}
END_TEST

/* Nor does it depend on how many steps it takes: a step in which it goes in by 2.5 radii is made
 * on cells that have followed. (After the step they would store 1.8 times the energy.) */
START_TEST(cells_follow_within_the_step)
{
    static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2};
    double unit = 1.0, energy[2];
    for (int i = 0; i < 2; i++) {
        draw(KILN_REMESH_LOCAL, &unit);
        scene->solid.integrator = integrators[_i];
        scene->pace.dt = i ? 0.1 / 8 : 0.1;
        kiln_world *world = scene_world(scene);
        kiln_stats stats = step_until(world, 0.1);
        energy[i] = stats.e_elastic;
        if (i == 0)
            ck_assert_int_le(stats.newton, most_matrices[_i]);
        kiln_test_audit(kiln_world_mesh(world));
        end(world);
    }
    ck_assert_double_eq_tol(energy[0] / energy[1], 1.0, 0.1);
}
END_TEST

static void count_presses(void *user, kiln_log_level level, const char *message)
{
    if (level == KILN_LOG_WARNING && strstr(message, "presses cells"))
        ++*(int *)user;
    if (strstr(message, "undone"))
        *(int *)user += 100;
}

/* Once, and only where nothing makes them finer; no pass is undone for what presses. */
START_TEST(a_fixed_mesh_is_said)
{
    double unit = 1.0;
    for (int follows = 0; follows < 2; follows++) {
        int said = 0;
        kiln_world *world = press(follows ? KILN_REMESH_LOCAL : KILN_REMESH_NONE, &unit);
        kiln_context *context = kiln_world_mesh(world)->context;
        context->log = count_presses;
        context->log_user = &said;
        step_until(world, 0.2);
        ck_assert_int_eq(said, !follows);
        end(world);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("pressed");
    TCase *all = kiln_test_case(suite, "pressed");
    tcase_add_test(all, cells_follow_what_presses);
    tcase_add_loop_test(all, cells_follow_within_the_step, 0, 2);
    tcase_add_test(all, a_fixed_mesh_is_said);
    return suite;
}

/* Holds that lead matter into contact in long steps: they rest on the way and arrive. */
#include "scenes.h"

#include <math.h>

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void begin(double thickness)
{
    scene_open(scene, "led.lua", &heap);
    scene_material(scene, "neo-hookean", 1e5, 0.4, 1000);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = thickness;
    scene->pace = (kiln_pace_limits){.dt = 0.05, .dt_min = 0.05 / 1024, .patience = 4};
}

static uint32_t add_box(const char *settings, kiln_vec3 at)
{
    kiln_scene_body *body = scene_body(scene, "box", settings);
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i] = kiln_v3_add(body->mesh.points.data[i], at);
    return (uint32_t)scene->bodies.count - 1;
}

static kiln_scene_hold *hold_above(uint32_t body, double z)
{
    kiln_scene_hold *hold =
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, z), kiln_v3(9, 9, 9)), 7);
    hold->body = (int32_t)body;
    return hold;
}

/* rate (or the rate of minus z) times time */
static kiln_status by_rate(void *self, const kiln_circumstances *at, double *out, int components,
                           kiln_error *error)
{
    (void)error;
    for (int c = 0; c < components; c++)
        out[c] = 0.0;
    out[components - 1] = *(const double *)self * at->time;
    return KILN_OK;
}

/* A bar that is held turns by up to 86 degrees a step and sweeps a block along a floor. Before
 * holds could rest on their way 1 to 5 tries were taken back in each of these but the second. */
START_TEST(a_bar_sweeps_a_block)
{
    static const kiln_integrator how[] = {KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK};
    double rate = _i / 3 ? 30.0 : 12.0;
    begin(0.002);
    scene->solid.integrator = how[_i % 3];
    hold_above(add_box("lx=0.8 ly=0.8 lz=0.1 nx=6 ny=6 nz=1", kiln_v3(-0.4, -0.4, -0.105)), -9);
    add_box("lx=0.1 ly=0.1 lz=0.1 nx=3 ny=3 nz=3", kiln_v3(0.2, 0.06, 0));
    uint32_t bar = add_box("lx=0.6 ly=0.1 lz=0.1 nx=6 ny=1 nz=1", kiln_v3(-0.3, -0.05, 0));
    hold_above(bar, -9)->motion = (kiln_motion){.kind = KILN_MOTION_ROTATE,
                                                .angle = {.evaluate = by_rate, .self = &rate},
                                                .axis = {0, 0, 1},
                                                .obstacle = -1};
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    for (int i = 0; i < 6; i++)
        scene_step(world, 0.3);
    ck_assert_double_eq_tol(kiln_world_get_state(world)->clock.time, 0.3, 1e-9);
    ck_assert_uint_eq(kiln_world_get_state(world)->rejected, 0);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (mesh->parts.data[mesh->info[mesh->vertex[v].tet].part].body != bar)
            continue;
        kiln_vec3 place = kiln_m3_apply(kiln_m3_rotation(kiln_v3(0, 0, 1), rate * 0.3), mesh->u[v]);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(place, mesh->x[v])), 1e-12);
    }
    scene_close(scene, world, &heap);
}
END_TEST

/* The first step that fails for good says that a hold leads what cannot follow, which one, and
 * where that shows. */
static void ends_astray(const char *where)
{
    kiln_world *world = scene_world(scene);
    kiln_stats stats;
    kiln_diagnosis diagnosis = {{0}};
    kiln_error error = {0};
    bool gave_up = false;
    for (int i = 0; i < 200 && !gave_up; i++)
        ck_assert_int_eq(kiln_world_step(world, 0.2, &stats, &gave_up, &diagnosis, &error),
                         KILN_OK);
    ck_assert(gave_up);
    ck_assert_msg(strstr(diagnosis.text, "cannot reach their targets without inverting a tet or "
                                         "passing through a surface: press (led.lua:") &&
                      strstr(diagnosis.text, where),
                  "%s", diagnosis.text);
    scene_close(scene, world, &heap);
}

/* What of the body is at heights from `low` to `high`. */
static void lead_down(uint32_t body, double low, double high, const double *rate)
{
    kiln_scene_hold *hold =
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, low), kiln_v3(9, 9, high)), 7);
    hold->body = (int32_t)body;
    hold->motion = (kiln_motion){.kind = KILN_MOTION_TRANSLATE,
                                 .shift = {.evaluate = by_rate, .self = (void *)(uintptr_t)rate},
                                 .obstacle = -1};
    strcpy(hold->name, "press");
}

/* The top of a block is led through the body it stands on, which is held: that ends, and says why.
 */
START_TEST(what_cannot_be_reached_is_said)
{
    static const double rate = -5.0;
    begin(0.004);
    scene->solid.integrator = (kiln_integrator[]){KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK}[_i];
    hold_above(add_box("lx=0.3 ly=0.3 lz=0.1 nx=1 ny=1 nz=1", kiln_v3(-0.05, -0.05, -0.105)), -9);
    lead_down(add_box("lx=0.2 ly=0.2 lz=0.2 nx=2 ny=2 nz=2", kiln_v3(0, 0, 0)), 0.199, 9, &rate);
    ends_astray("is squeezed to ");
}
END_TEST

/* What it stands on is held below only, and Newton finds no end where all of it is flat. */
START_TEST(what_is_pressed_flat_is_said)
{
    static const double rate = -5.0;
    begin(0.004);
    scene->solid.integrator = (kiln_integrator[]){KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK}[_i];
    kiln_scene_hold *below =
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -9), kiln_v3(9, 9, -0.1)), 7);
    below->body =
        (int32_t)add_box("lx=0.3 ly=0.3 lz=0.1 nx=3 ny=3 nz=1", kiln_v3(-0.05, -0.05, -0.105));
    lead_down(add_box("lx=0.2 ly=0.2 lz=0.2 nx=2 ny=2 nz=2", kiln_v3(0, 0, 0)), 0.199, 9, &rate);
    ends_astray("is squeezed to ");
}
END_TEST

/* Held vertices against what else is held, an obstacle: the vertex that meets it is one of them. */
START_TEST(what_is_led_into_an_obstacle_is_said)
{
    static const double rate = -0.5;
    begin(0.004);
    uint32_t block = add_box("lx=0.2 ly=0.2 lz=0.2 nx=2 ny=2 nz=2", kiln_v3(0, 0, 0.01));
    lead_down(block, 0, 0.011, &rate);
    kiln_scene_obstacle plane = {.shape = {.kind = KILN_OBSTACLE_PLANE, .normal = {0, 0, 1}},
                                 .motion = {.obstacle = -1}};
    SCENE_PUSH(obstacles, plane);
    ends_astray("is led into a surface by it");
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("led");
    TCase *all = kiln_test_case(suite, "led");
    tcase_add_loop_test(all, a_bar_sweeps_a_block, 0, 6);
    tcase_add_loop_test(all, what_cannot_be_reached_is_said, 0, 3);
    tcase_add_loop_test(all, what_is_pressed_flat_is_said, 0, 3);
    tcase_add_test(all, what_is_led_into_an_obstacle_is_said);
    return suite;
}

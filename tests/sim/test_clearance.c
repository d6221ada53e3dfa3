/* The clearance of bodies: how far apart they rest, and who is refused. */
#include "scenes.h"

#include <math.h>

#define G         9.81
#define SHEET     "lx=0.2 ly=0.2 lz=0.02 nx=4 ny=4 nz=1"
#define THICKNESS 0.005
#define CLEARANCE 0.03

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK};

static void begin(void)
{
    scene_open(scene, "clearance.lua", &heap);
    scene_material(scene, "neo-hookean", 1e6, 0.3, 1000);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = THICKNESS;
}

static void end(kiln_world *world)
{
    scene_close(scene, world, &heap);
}

static void add_sheet(double z, double clearance)
{
    kiln_scene_body *body = scene_body(scene, "box", SHEET);
    body->clearance = clearance;
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i].z += z;
}

static void add_floor(void)
{
    kiln_scene_obstacle plane = {.shape = {.kind = KILN_OBSTACLE_PLANE, .normal = {0, 0, 1}},
                                 .motion = {.obstacle = -1}};
    snprintf(plane.name, sizeof plane.name, "floor");
    SCENE_PUSH(obstacles, plane);
}

static double lowest(kiln_world *world, uint32_t body, double sign)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double low = INFINITY;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (mesh->parts.data[mesh->info[mesh->vertex[v].tet].part].body == body)
            low = fmin(low, sign * mesh->x[v].z);
    return sign * low;
}

/* From the highest point of what is below. */
static double gap_below(kiln_world *world, uint32_t body)
{
    return lowest(world, body, 1.0) - (body ? lowest(world, body - 1, -1.0) : 0.0);
}

static void run_until(kiln_world *world, double time)
{
    kiln_world_get_state(world)->step = 1;
    while (kiln_world_get_state(world)->clock.time < time - 1e-9)
        scene_step(world, time);
}

/* Sheets fall on a floor and on each other: two of a kind lie the clearance apart, another one the
 * mean of both, the lowest half of its own above the floor. (Under newmark they bounce.) */
START_TEST(sheets_stack)
{
    begin();
    scene->solid.integrator = integrators[_i];
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -G));
    add_floor();
    add_sheet(0.5 * CLEARANCE + 1e-3, CLEARANCE);
    add_sheet(1.5 * CLEARANCE + 0.021 + THICKNESS, CLEARANCE);
    add_sheet(2.0 * CLEARANCE + 0.041 + 2 * THICKNESS, 0.0);
    kiln_world *world = scene_world(scene);
    run_until(world, 0.3);
    const double wanted[3] = {0.5 * CLEARANCE - THICKNESS, CLEARANCE, 0.5 * CLEARANCE};
    for (uint32_t b = 0; b < 3; b++) {
        double gap = gap_below(world, b) - wanted[b];
        bool bounces = integrators[_i] == KILN_NEWMARK;
        ck_assert_msg(gap > 0.4 * THICKNESS && (bounces || gap < 1.3 * THICKNESS), "%u: %g", b,
                      gap);
    }
    end(world);
}
END_TEST

/* What is thinner than its clearance does not push itself apart. */
START_TEST(a_sheet_at_rest_stays)
{
    begin();
    add_sheet(0.0, 0.1);
    kiln_world *world = scene_world(scene);
    const kiln_vec3 x = kiln_world_mesh(world)->x[7];
    run_until(world, 0.05);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(kiln_world_mesh(world)->x[7], x)), 1e-15);
    end(world);
}
END_TEST

/* A new mesh may take some of it: it is made good, gently. */
START_TEST(what_is_missing_comes_back)
{
    begin();
    add_sheet(0.0, CLEARANCE);
    add_sheet(0.02 + CLEARANCE + THICKNESS, CLEARANCE);
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (mesh->x[v].z > 0.03)
            mesh->x[v].z -= 2 * THICKNESS;
    ck_assert_double_lt(gap_below(world, 1), CLEARANCE);
    run_until(world, 0.3);
    double gap = gap_below(world, 1);
    ck_assert_msg(gap > CLEARANCE && gap < 4 * CLEARANCE, "%g", gap);
    end(world);
}
END_TEST

static void refuse(const char *message)
{
    kiln_world *world = NULL;
    kiln_error error;
    ck_assert_int_eq(kiln_world_create(scene, &world, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
    end(world);
}

START_TEST(who_begins_too_near_is_refused)
{
    begin();
    add_sheet(0.0, CLEARANCE);
    add_sheet(0.02 + 0.45 * CLEARANCE, 0.0);
    refuse("surfaces are nearer than their clearance to each other");
    begin();
    add_floor();
    add_sheet(0.4 * CLEARANCE - THICKNESS, CLEARANCE);
    refuse("is nearer to obstacle 'floor' at the start than half its clearance");
    begin();
    add_floor();
    scene->contact.obstacles = KILN_OBSTACLES_POINTS;
    add_sheet(1.0, CLEARANCE);
    refuse("a clearance needs obstacles that are surfaces");
    begin();
    scene->contact = kiln_contact_default_settings();
    add_sheet(1.0, CLEARANCE);
    refuse("a clearance needs contact");
}
END_TEST

START_TEST(no_more_than_the_body)
{
    kiln_error error;
    begin();
    add_sheet(0.0, 0.3);
    ck_assert_int_eq(kiln_scene_check(scene, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "must not be above the size") != NULL, "%s", error.message);
    end(NULL);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("clearance");
    TCase *all = kiln_test_case(suite, "clearance");
    tcase_add_loop_test(all, sheets_stack, 0, 3);
    tcase_add_test(all, a_sheet_at_rest_stays);
    tcase_add_test(all, what_is_missing_comes_back);
    tcase_add_test(all, who_begins_too_near_is_refused);
    tcase_add_test(all, no_more_than_the_body);
    return suite;
}

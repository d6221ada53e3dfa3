/* Open surfaces as obstacles: bodies are kept off both their sides. */
#include "scenes.h"

#include <math.h>

#define THICKNESS 0.01

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

/* A square of two triangles through the origin. */
static void add_sheet(void)
{
    const kiln_vec3 corner[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    kiln_scene_obstacle sheet = {.shape = {.kind = KILN_OBSTACLE_MESH}, .motion = {.obstacle = -1}};
    snprintf(sheet.name, sizeof sheet.name, "sheet");
    kiln_soup_init(&sheet.shape.surface, scene->context);
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(
            kiln_array_push(scene->context, &sheet.shape.surface.points, corner[k], NULL), KILN_OK);
    for (uint32_t t = 0; t < 2; t++) {
        kiln_soup_triangle one = {{0, 1 + t, 2 + t}};
        ck_assert_int_eq(kiln_array_push(scene->context, &sheet.shape.surface.triangles, one, NULL),
                         KILN_OK);
    }
    SCENE_PUSH(obstacles, sheet);
}

static void add_box(double z, double speed)
{
    kiln_scene_body *body = scene_body(scene, "box", "lx=0.2 ly=0.2 lz=0.1 nx=2 ny=2 nz=1");
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i] = kiln_v3_add(body->mesh.points.data[i], kiln_v3(0, 0, z));
    body->velocity = kiln_quantity_vector(kiln_v3(0, 0, speed));
}

static void begin(void)
{
    scene_open(scene, "sheet.lua", &heap);
    scene_material(scene, "neo-hookean", 2e5, 0.3, 1000);
    scene->contact.bodies = true;
    scene->contact.thickness = THICKNESS;
    add_sheet();
}

/* One box is thrown at it from above and one from below: neither gets through, both bounce. */
START_TEST(both_sides_keep_bodies_off)
{
    begin();
    scene->pace.dt = 2e-3;
    add_box(0.05, -3.0);
    add_box(-0.15, 3.0);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    double nearest = INFINITY;
    while (kiln_world_get_state(world)->clock.time < 0.1 - 1e-9) {
        kiln_stats stats = scene_step(world, 0.1);
        nearest = fmin(nearest, isnan(stats.gap_min) ? INFINITY : stats.gap_min);
    }
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_vec3 *v = (const kiln_vec3 *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    double up[2] = {0, 0};
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        uint32_t body = mesh->parts.data[mesh->info[mesh->vertex[i].tet].part].body;
        ck_assert_double_gt(body ? -mesh->x[i].z : mesh->x[i].z, 0.0);
        up[body] += v[i].z;
    }
    ck_assert_double_gt(up[0], 0.0);
    ck_assert_double_lt(up[1], 0.0);
    ck_assert_double_lt(nearest, THICKNESS);
    scene_close(scene, world, &heap);
}
END_TEST

/* Points that are put out of obstacles do not know on which side, nor does a body that begins
 * across it. */
START_TEST(a_sheet_has_no_inside)
{
    kiln_world *world = NULL;
    kiln_error error = {0};
    begin();
    scene->contact.obstacles = _i == 0 ? KILN_OBSTACLES_POINTS : KILN_OBSTACLES_AUTO;
    add_box(_i == 0 ? 0.05 : -0.03, 0.0);
    ck_assert_int_eq(kiln_world_create(scene, &world, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "'sheet' is an open surface") != NULL, "%s", error.message);
    scene_close(scene, NULL, &heap);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("sheet");
    TCase *all = kiln_test_case(suite, "sheet");
    tcase_add_test(all, both_sides_keep_bodies_off);
    tcase_add_loop_test(all, a_sheet_has_no_inside, 0, 2);
    return suite;
}

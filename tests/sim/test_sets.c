/* What the scene selects lives through remeshing: holds and loads on meshes that refine and coarsen
 * under them. */
#include "scenes.h"
#include "sim/world_impl.h"

#include <math.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

/* A bar of 1 x 0.25 x 0.25 m without gravity, remeshed to the sizes of `go_through`. */
static void begin(void)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, 2);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "bar.lua");
    scene->duration = 10.0;
    scene->pace = (kiln_pace_limits){.dt = 0.01, .dt_min = 1e-6, .patience = 4};
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
    scene_body(scene, "box", "lx=1 ly=0.25 lz=0.25 nx=6 ny=2 nz=2");
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.size = 0.1;
    scene->remesh.size_max = 1.0;
    scene->remesh.quality = 0.3;
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

/* A step at each of some sizes, `rounds` times; `look` is called after each. Least and most tets go
 * to `range`. */
static void go_through(kiln_world *world, int rounds, void (*look)(kiln_world *world),
                       uint32_t range[2])
{
    static const double sizes[] = {0.07, 0.2, 0.1, 0.4};
    const kiln_mesh *mesh = kiln_world_mesh(world);
    range[0] = UINT32_MAX, range[1] = 0;
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            scene->remesh.size = sizes[i];
            scene_step(world, scene->duration);
            kiln_test_audit(mesh);
            uint32_t tets = mesh->table[KILN_ON_TET].live;
            range[0] = tets < range[0] ? tets : range[0];
            range[1] = tets > range[1] ? tets : range[1];
            look(world);
        }
}

/* The hold has exactly the vertices that `inside` says, and knows where they began. */
static void expect_hold(const kiln_world *world, size_t row, bool (*inside)(kiln_vec3 u))
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_world_hold *hold = &world->holds[row];
    const kiln_vec3 *origin =
        (const kiln_vec3 *)kiln_mesh_field(mesh, KILN_ON_VERTEX, hold->origin)->data;
    size_t found = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        bool held = found < hold->vertices.count && hold->vertices.data[found] == v;
        kiln_vec3 u = mesh->u[v];
        ck_assert_msg(held == inside(u), "hold %zu: vertex %u at (%g, %g, %g) is %sheld", row, v,
                      u.x, u.y, u.z, held ? "" : "not ");
        found += held;
        if (held)
            ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(origin[v], u)), 1e-14);
    }
    ck_assert_uint_eq(found, hold->vertices.count);
    ck_assert_uint_gt(found, 0);
}

static bool at_left_end(kiln_vec3 u)
{
    return fabs(u.x) < 1e-12;
}

/* Two thirds of the upper side: a rim that no shape of the bar gives. */
static bool on_upper_patch(kiln_vec3 u)
{
    return fabs(u.z - 0.25) < 1e-12 && u.x > 1.0 / 3.0 - 1e-12;
}

static bool in_right_half(kiln_vec3 u)
{
    return u.x > 0.5 - 1e-12;
}

static bool on_lower_edge(kiln_vec3 u)
{
    return fabs(u.y) < 1e-12 && fabs(u.z) < 1e-12 && u.x > 1.0 / 3.0 - 1e-12 &&
           u.x < 2.0 / 3.0 + 1e-12;
}

static void look_at_patches(kiln_world *world)
{
    expect_hold(world, 0, at_left_end);
    expect_hold(world, 1, on_upper_patch);
}

static const double eps = 1e-9;

START_TEST(held_patches_keep_their_vertices)
{
    begin();
    scene_hold(scene, scene_slab(scene, -eps, eps), 7);
    scene_hold(scene, scene_box(scene, kiln_v3(1.0 / 3.0 - eps, -1, 0.25 - eps), kiln_v3(2, 1, 1)),
               4);
    kiln_world *world = scene_world(scene);
    uint32_t range[2];
    look_at_patches(world);
    go_through(world, 4, look_at_patches, range);
    ck_assert_uint_gt(range[1], 4 * range[0]);
    end(world);
}
END_TEST

static void look_at_volume(kiln_world *world)
{
    expect_hold(world, 0, in_right_half);
}

START_TEST(a_held_volume_keeps_its_vertices)
{
    begin();
    scene_hold(scene, scene_slab(scene, 0.5 - eps, 2.0), 7);
    kiln_world *world = scene_world(scene);
    uint32_t range[2];
    look_at_volume(world);
    go_through(world, 4, look_at_volume, range);
    ck_assert_uint_gt(range[1], 2 * range[0]);
    end(world);
}
END_TEST

static void look_at_edge(kiln_world *world)
{
    expect_hold(world, 0, on_lower_edge);
}

START_TEST(a_held_line_keeps_its_vertices)
{
    begin();
    scene_hold(
        scene,
        scene_box(scene, kiln_v3(1.0 / 3.0 - eps, -eps, -eps), kiln_v3(2.0 / 3.0 + eps, eps, eps)),
        7);
    kiln_world *world = scene_world(scene);
    uint32_t range[2];
    look_at_edge(world);
    go_through(world, 4, look_at_edge, range);
    end(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("sets");
    TCase *all = kiln_test_case(suite, "sets through remeshing");
    tcase_add_test(all, held_patches_keep_their_vertices);
    tcase_add_test(all, a_held_volume_keeps_its_vertices);
    tcase_add_test(all, a_held_line_keeps_its_vertices);
    return suite;
}

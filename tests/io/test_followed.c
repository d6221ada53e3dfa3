/* A world that follows its mesh has the bits of one that is built anew before every step. */
#include "io/scene.h"
#include "scenes.h"

#define DOUGH                                                                                      \
    "local dough = material { young = 3e4, poisson = 0.3, density = 1000,\n"                       \
    "    plastic = plastic { yield = 250, rate = 40 } }\n"                                         \
    "local soft = material { young = 1e4, poisson = 0.3, density = 1000,\n"                        \
    "    plastic = plastic { yield = 50, rate = 80 } }\n"
#define FALL "duration = 0.4, gravity = { 0, 0, -9.81 },\n"

/* Two balls merge while a block needs repairs; size control with several materials and a surface
 * that hangs in one; contact; nodal pressure and damping; world space under Newmark. */
static const char *const texts[] = {
    DOUGH "return scene {" FALL
          "bodies = { body { shape = shape.ball { radius = 0.1, h = 0.05 }, material = dough,\n"
          "        at = { 0, 0, 0.12 } },\n"
          "    body { shape = shape.ball { radius = 0.1, h = 0.05 }, material = dough,\n"
          "        at = { 0.03, 0, 0.35 }, velocity = { 0, 0, -1 } },\n"
          "    body { shape = shape.box { lx = 0.2, ly = 0.2, lz = 0.4, n = 4 }, material = soft,\n"
          "        at = { 2, 0, 0.02 }, velocity = { 0, 0, -2 } } },\n"
          "obstacles = { obstacle.plane { friction = 0.5 } }, step = { dt = 0.005 },\n"
          "remesh = remesh { method = 'global', quality = 0.3, merge = 0.02, condition = 1e6,\n"
          "    condition_change = 1e6 } }",
    DOUGH
    "return scene {" FALL
    "bodies = { body { shape = shape.box { lx = 1, ly = 0.3, lz = 0.3, n = 2 },\n"
    "    material = dough, surface = shape.box { lx = 1, ly = 0.3, lz = 0.3, n = 3 },\n"
    "    regions = { region { where = select.box { from = { 0.5, -1, -1 }, to = { 2, 1, 1 } },\n"
    "        material = soft } } } },\n"
    "holds = { hold { where = select.half_space { normal = { -1, 0, 0 } } } },\n"
    "step = { dt = 0.01, integrator = 'bdf2' },\n"
    "remesh = remesh { method = 'local', size = 0.14, strain = 30 } }",
    DOUGH
    "return scene {" FALL
    "bodies = { body { shape = shape.box { lx = 0.6, ly = 0.3, lz = 0.3, n = 2 },\n"
    "        material = dough },\n"
    "    body { shape = shape.box { lx = 0.2, ly = 0.2, lz = 0.2, n = 2 }, material = soft,\n"
    "        at = { 0.2, 0.05, 0.32 }, velocity = { 0, 0, -1 } } },\n"
    "obstacles = { obstacle.plane { point = { 0, 0, -0.01 } } },\n"
    "contact = contact { bodies = true, self = true, friction = 0.2 }, step = { dt = 0.01 },\n"
    "remesh = remesh { method = 'local', size = 0.12 } }",
    "local rubber = material { model = 'neo-hookean', young = 3e4, poisson = 0.48, density = "
    "1000,\n"
    "    nodal_pressure = 'on', damping_stiffness = 0.001, viscosity = 2 }\n"
    "return scene {" FALL
    "bodies = { body { shape = shape.box { lx = 1, ly = 0.3, lz = 0.3, n = 2 },\n"
    "    material = rubber } },\n"
    "holds = { hold { where = select.half_space { normal = { -1, 0, 0 } } } },\n"
    "step = { dt = 0.01, mass = 'consistent' },\n"
    "remesh = remesh { method = 'local', size = 0.13 } }",
    DOUGH "return scene {" FALL
          "bodies = { body { shape = shape.box { lx = 1, ly = 0.3, lz = 0.3, n = 2 },\n"
          "    material = dough } },\n"
          "holds = { hold { where = select.half_space { normal = { -1, 0, 0 } } } },\n"
          "step = { dt = 0.01, integrator = 'newmark' },\n"
          "remesh = remesh { method = 'local', space = 'world', size = 0.15, quality = 0.2 } }",
};

START_TEST(test_bits)
{
    const char *text = texts[_i];
    kiln_error error = {0};
    kiln_context *context = kiln_test_context(2);
    kiln_scene_options options = {.text = text, .text_size = strlen(text)};
    kiln_scene_file *file;
    ck_assert_msg(kiln_scene_file_load(context, "followed.lua", &options, &file, &error) == KILN_OK,
                  "%s", error.message);
    const kiln_scene *scene = kiln_scene_file_scene(file);
    kiln_world *follows = scene_world(scene), *anew = scene_world(scene);
    double changed = 0.0;
    for (uint64_t i = 0; i < kiln_test_rounds(12, 40); i++) {
        ck_assert_int_eq(kiln_world_renew(anew, NULL), KILN_OK);
        kiln_stats stats = scene_step(follows, scene->duration);
        scene_step(anew, scene->duration);
        ck_assert_msg(kiln_mesh_hash(kiln_world_mesh(follows)) ==
                          kiln_mesh_hash(kiln_world_mesh(anew)),
                      "scene %d, step %llu", _i, (unsigned long long)i + 1);
        kiln_test_audit(kiln_world_mesh(follows));
        changed += stats.changed;
    }
    ck_assert_double_gt(changed, 0.0);
    kiln_world_destroy(follows);
    kiln_world_destroy(anew);
    kiln_scene_file_destroy(file);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("derived data");
    TCase *tests = kiln_test_case(suite, "followed");
    tcase_add_loop_test(tests, test_bits, 0, sizeof texts / sizeof texts[0]);
    return suite;
}

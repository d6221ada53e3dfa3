/* Small scenes filled in directly, for tests of worlds, runs and checkpoints. */
#ifndef KILN_TESTS_SCENES_H
#define KILN_TESTS_SCENES_H

#include "fixtures.h"
#include "sim/run.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

#define SCENE_PUSH(list, item)                                                                     \
    ck_assert_int_eq(kiln_array_push(scene->context, &scene->list, (item), NULL), KILN_OK)

KILN_UNUSED static kiln_said kiln_scene_said(const char *path, int line)
{
    kiln_said said = {.line = line};
    snprintf(said.path, sizeof said.path, "%s", path);
    return said;
}

/* An empty scene of a second on a heap that is watched, in steps of 10 ms. */
KILN_UNUSED static void scene_open(kiln_scene *scene, const char *file, kiln_test_heap *heap)
{
    *heap = (kiln_test_heap){0};
    kiln_scene_init(scene, kiln_test_context_on(heap, 1));
    snprintf(scene->file, sizeof scene->file, "%s", file);
    scene->duration = 1.0;
    scene->pace = (kiln_pace_limits){.dt = 0.01, .dt_min = 1e-6, .patience = 4};
}

/* Nothing of it or of its world is left on the heap. */
KILN_UNUSED static void scene_close(kiln_scene *scene, kiln_world *world, kiln_test_heap *heap)
{
    kiln_context *context = scene->context;
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap->live_blocks, 0);
}

KILN_UNUSED static void scene_material(kiln_scene *scene, const char *model, double young,
                                       double poisson, double density)
{
    kiln_scene_material m = {.said = kiln_scene_said("materials[1]", 3)};
    ck_assert_int_eq(kiln_material_model_find(model, &m.base.model, NULL), KILN_OK);
    kiln_lame_from_young(young, poisson, &m.base.mu, &m.base.lambda);
    m.base.density = density;
    m.young = kiln_quantity_number(young);
    m.poisson = kiln_quantity_number(poisson);
    m.density = kiln_quantity_number(density);
    m.viscosity = kiln_quantity_number(0.0);
    snprintf(m.name, sizeof m.name, "m%zu", scene->materials.count + 1);
    SCENE_PUSH(materials, m);
}

/* A body of the last material. */
KILN_UNUSED static kiln_scene_body *scene_body(kiln_scene *scene, const char *shape,
                                               const char *settings)
{
    kiln_scene_body body = {.mesh = kiln_test_soup(scene->context, shape, settings),
                            .material = (uint32_t)scene->materials.count - 1,
                            .velocity = kiln_quantity_vector(kiln_v3(0, 0, 0)),
                            .position = {.constant = {NAN, NAN, NAN}}};
    snprintf(body.said.path, sizeof body.said.path, "bodies[%zu]", scene->bodies.count + 1);
    body.said.line = 10 + (int)scene->bodies.count;
    snprintf(body.name, sizeof body.name, "body%zu", scene->bodies.count + 1);
    SCENE_PUSH(bodies, body);
    return &scene->bodies.data[scene->bodies.count - 1];
}

KILN_UNUSED static kiln_picks scene_box(kiln_scene *scene, kiln_vec3 a, kiln_vec3 b)
{
    kiln_picks picks = {0};
    kiln_pick pick = {.selector = {.kind = KILN_SELECT_BOX, .a = a, .b = b}};
    ck_assert_int_eq(kiln_array_push(scene->context, &picks, pick, NULL), KILN_OK);
    return picks;
}

/* The slab of points with x between the limits. */
KILN_UNUSED static kiln_picks scene_slab(kiln_scene *scene, double low, double high)
{
    return scene_box(scene, kiln_v3(low, -100, -100), kiln_v3(high, 100, 100));
}

KILN_UNUSED static kiln_scene_hold *scene_hold(kiln_scene *scene, kiln_picks where, int components)
{
    kiln_scene_hold hold = {.body = -1,
                            .where = where,
                            .components = (uint8_t)components,
                            .until = INFINITY,
                            .motion = {.obstacle = -1}};
    snprintf(hold.said.path, sizeof hold.said.path, "holds[%zu]", scene->holds.count + 1);
    hold.said.line = 20 + (int)scene->holds.count;
    SCENE_PUSH(holds, hold);
    return &scene->holds.data[scene->holds.count - 1];
}

KILN_UNUSED static kiln_scene_load *scene_load(kiln_scene *scene, kiln_load_kind kind,
                                               kiln_picks where, kiln_vec3 amount)
{
    kiln_scene_load load = {.kind = kind,
                            .body = -1,
                            .where = where,
                            .amount = kiln_quantity_vector(amount),
                            .until = INFINITY};
    snprintf(load.said.path, sizeof load.said.path, "loads[%zu]", scene->loads.count + 1);
    load.said.line = 30 + (int)scene->loads.count;
    SCENE_PUSH(loads, load);
    return &scene->loads.data[scene->loads.count - 1];
}

/* A bar along x, clamped at x = 0, that begins to fall. */
KILN_UNUSED static void scene_cantilever(kiln_scene *scene, kiln_context *context)
{
    kiln_scene_init(scene, context);
    snprintf(scene->name, sizeof scene->name, "cantilever");
    snprintf(scene->file, sizeof scene->file, "cantilever.lua");
    scene->duration = 0.2;
    scene->pace = (kiln_pace_limits){.dt = 0.01, .dt_min = 1e-6, .patience = 4};
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -9.81));
    scene->output.frame = 0.05;
    scene->output.checkpoint = 0.03;
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
    scene_body(scene, "box", "lx=1 ly=0.25 lz=0.25 nx=6 ny=2 nz=2");
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
}

KILN_UNUSED static kiln_world *scene_world(const kiln_scene *scene)
{
    kiln_world *world = NULL;
    kiln_error error = {0};
    kiln_status status = kiln_world_create(scene, &world, &error);
    ck_assert_msg(status == KILN_OK, "%s:%lld: %s", error.place, error.line, error.message);
    return world;
}

KILN_UNUSED static kiln_stats scene_step(kiln_world *world, double stop)
{
    kiln_stats stats;
    bool gave_up = false;
    kiln_diagnosis diagnosis = {{0}};
    kiln_error error = {0};
    kiln_status status = kiln_world_step(world, stop, &stats, &gave_up, &diagnosis, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", error.place, error.message);
    ck_assert_msg(!gave_up, "%s", diagnosis.text);
    return stats;
}

/* Force of a hold in the last step, N. */
KILN_INLINE kiln_vec3 hold_force(const kiln_world *world, size_t hold)
{
    kiln_wrench wrench;
    kiln_world_hold_wrench(world, hold, &wrench);
    return wrench.force;
}

#endif

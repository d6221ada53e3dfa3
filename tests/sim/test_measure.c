/* What rows and frames say of flow and remeshing. */
#include "fem/plasticity.h"
#include "scenes.h"

#include <math.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void begin(void)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, 2);
    scene_cantilever(scene, context);
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

static void make_plastic(void)
{
    kiln_scene_material *m = &scene->materials.data[0];
    m->base.plastic = (kiln_plastic){.flows = true, .yield = 100.0, .rate = 20.0, .hardening = 0.5};
    scene->output.plastic_strain = scene->output.hardening = true;
}

/* Stretches along x, squeezes along the others, with this rate, 1/s. */
static kiln_status squeeze(void *self, const kiln_circumstances *at, double *out, int components,
                           kiln_error *error)
{
    (void)components, (void)error;
    double rate = *(const double *)self;
    out[0] = rate * at->world.x;
    out[1] = -0.5 * rate * at->world.y;
    out[2] = -0.5 * rate * at->world.z;
    return KILN_OK;
}

static void drive(double *rate)
{
    scene->velocity_field = (kiln_quantity){.evaluate = squeeze, .self = rate};
    scene->has_velocity_field = true;
    for (size_t i = 0; i < scene->holds.count; i++)
        kiln_array_free(context, &scene->holds.data[i].where);
    scene->holds.count = 0;
}

START_TEST(elastic_rows_are_silent_about_flow)
{
    begin();
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    kiln_stats stats = scene_step(world, 0.01);
    ck_assert(isnan(stats.flowed) && isnan(stats.changed) && isnan(stats.relax) &&
              isnan(stats.t_plastic) && isnan(stats.t_size) && isnan(stats.t_remesh) &&
              isnan(stats.t_transfer));
    ck_assert(stats.q_min == stats.q_world_min && stats.q_material_min > 0.0);
    end(world);
}
END_TEST

START_TEST(flow_is_counted_and_written)
{
    double rate = 2.0;
    begin();
    make_plastic();
    drive(&rate);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    double volume = 0.0625;
    kiln_stats stats;
    for (int i = 0; i < 4; i++)
        stats = scene_step(world, 1.0);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    size_t tets = mesh->table[KILN_ON_TET].used;
    ck_assert_double_eq(stats.flowed, (double)tets);
    ck_assert(stats.relax >= 0.0 && stats.t_plastic > 0.0 && isnan(stats.changed));
    ck_assert_double_le(fabs(stats.rest_volume / volume - 1.0), 1e-13);
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
    static const char *const names[] = {KILN_FIELD_PLASTIC_STRAIN, KILN_FIELD_HARDENING};
    for (int k = 0; k < 2; k++) {
        const kiln_field *kept = kiln_mesh_field(mesh, KILN_ON_TET, names[k]);
        const kiln_soup_field *on_tet = kiln_soup_find_field(&soup, KILN_ON_TET, names[k]);
        const kiln_soup_field *on_face = kiln_soup_find_field(&soup, KILN_ON_FACE, names[k]);
        for (uint32_t t = 0; t < tets; t++) {
            ck_assert_double_gt(on_tet->data.data[t], 0.0);
            ck_assert_double_eq(on_tet->data.data[t], kiln_field_value(kept, t, 0));
        }
        for (size_t f = 0; f < soup.triangles.count; f++)
            ck_assert_double_eq(on_face->data.data[f], on_tet->data.data[mesh->face[f].at / 4]);
    }
    kiln_soup_free(&soup);
    end(world);
}
END_TEST

START_TEST(what_cannot_flow_has_none)
{
    begin();
    scene->output.plastic_strain = true;
    kiln_world *world = scene_world(scene);
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
    const kiln_soup_field *strain = kiln_soup_find_field(&soup, KILN_ON_TET, "plastic_strain");
    for (size_t t = 0; t < soup.tets.count; t++)
        ck_assert_double_eq(strain->data.data[t], 0.0);
    ck_assert_ptr_null(kiln_soup_find_field(&soup, KILN_ON_TET, "hardening"));
    kiln_soup_free(&soup);
    end(world);
}
END_TEST

/* Stretched fourfold a tet is bad in the world; the material does not know. */
START_TEST(quality_is_that_of_the_space_that_is_meshed)
{
    double rate = 20.0;
    begin();
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.quality = 0.05;
    scene->pace.dt = 0.01;
    drive(&rate);
    kiln_world *world = scene_world(scene);
    kiln_stats stats;
    for (int i = 0; i < 7; i++)
        stats = scene_step(world, 1.0);
    ck_assert_double_lt(stats.q_world_min, 0.7 * stats.q_material_min);
    /* Times the part of the volume that is left in the world. */
    ck_assert_double_eq_tol(stats.q_min, stats.q_material_min, 1e-4);
    ck_assert_double_ge(stats.q_mean, stats.q_min);
    ck_assert_double_eq(stats.changed, 0.0);
    end(world);
}
END_TEST

START_TEST(sizes_are_part_of_the_quality_where_they_were_looked_at)
{
    double rate = 10.0;
    begin();
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.deformation = 0.15;
    scene->remesh.size_max = 0.5;
    scene->remesh.every = 2;
    drive(&rate);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    double changed = 0.0;
    int looked = 0;
    for (int i = 0; i < 8; i++) {
        stats = scene_step(world, 1.0);
        looked += !isnan(stats.q_min);
        changed += stats.changed;
        if (!isnan(stats.q_min))
            ck_assert_double_ge(stats.q_min, scene->remesh.quality);
        ck_assert(stats.q_material_min > 0.0 && stats.q_world_min > 0.0);
    }
    ck_assert_int_eq(looked, 4);
    ck_assert_double_gt(changed, 0.0);
    end(world);
}
END_TEST

/* A bar on a floor, remeshed while it is pressed: floor and hold carry it in every row. */
START_TEST(forces_outlive_the_mesh_of_their_step)
{
    begin();
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.size = 0.1;
    scene->output.reaction = scene->output.contact = true;
    kiln_scene_obstacle floor = {
        .shape = {.kind = KILN_OBSTACLE_PLANE, .point = {0, 0, -0.001}, .normal = {0, 0, 1}},
        .motion = {.obstacle = -1}};
    SCENE_PUSH(obstacles, floor);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    for (int i = 0; i < 12; i++) {
        kiln_stats stats = scene_step(world, 1.0);
        kiln_soup soup;
        ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
        const double *held = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "reaction")->data.data;
        const double *pressed = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "contact")->data.data;
        double rz = 0.0, fz = 0.0;
        for (size_t v = 0; v < soup.points.count; v++) {
            rz += held[3 * v + 2];
            fz += pressed[3 * v + 2];
        }
        ck_assert_double_eq_tol(rz, stats.rz, 1e-9);
        ck_assert_double_eq_tol(fz, stats.fz, 1e-9);
        ck_assert_double_ne(stats.rz, 0.0);
        ck_assert(i < 3 || stats.fz > 1.0);
        ck_assert(i > 0 || stats.changed > 0.0);
        kiln_soup_free(&soup);
    }
    end(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("measures");
    TCase *all = kiln_test_case(suite, "measures");
    tcase_add_test(all, elastic_rows_are_silent_about_flow);
    tcase_add_test(all, flow_is_counted_and_written);
    tcase_add_test(all, what_cannot_flow_has_none);
    tcase_add_test(all, quality_is_that_of_the_space_that_is_meshed);
    tcase_add_test(all, sizes_are_part_of_the_quality_where_they_were_looked_at);
    tcase_add_test(all, forces_outlive_the_mesh_of_their_step);
    return suite;
}

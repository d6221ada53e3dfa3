#include "fem/plasticity.h"
#include "scenes.h"

/* Flow as a world has it: functions, changes at a time, steps that flow inside. */

static const double rest = 1e-9;

/* A bar that is held at both ends, drawn out by a tenth. */
static kiln_status draw_out(void *self, const kiln_circumstances *at, double *out, int components,
                            kiln_error *error)
{
    (void)self, (void)error;
    ck_assert_int_eq(components, 3);
    out[0] = 1.1 * at->material.x, out[1] = at->material.y, out[2] = at->material.z;
    return KILN_OK;
}

static kiln_scene_material *start(kiln_scene *scene, kiln_context *context, kiln_plastic law)
{
    kiln_scene_init(scene, context);
    scene->duration = 0.1;
    scene->pace = (kiln_pace_limits){.dt = 0.01, .dt_min = 1e-6, .patience = 4};
    scene_material(scene, "neo-hookean-split", 1e5, 0.3, 1.0);
    kiln_scene_material *m = &scene->materials.data[0];
    m->base.plastic = law;
    m->base.plastic.flows = true;
    m->yield = kiln_quantity_number(law.yield);
    m->rate = kiln_quantity_number(law.rate);
    m->hardening = kiln_quantity_number(law.hardening);
    scene_body(scene, "box", "lx=1 ly=0.5 lz=0.5 nx=4 ny=2 nz=2");
    scene_hold(scene, scene_slab(scene, -rest, rest), 7);
    kiln_scene_hold *end = scene_hold(scene, scene_slab(scene, 1 - rest, 1 + rest), 7);
    end->motion.kind = KILN_MOTION_FOLLOW;
    end->motion.place = (kiln_quantity){.self = scene, .evaluate = draw_out};
    return m;
}

static double mean_strain(kiln_world *world)
{
    kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *strain = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        sum += kiln_field_value(strain, t, 0) / mesh->table[KILN_ON_TET].used;
    return sum;
}

/* Cornstarch: the higher the stress, the slower the flow. */
static kiln_status starch(void *self, const kiln_circumstances *at, double *out, int components,
                          kiln_error *error)
{
    (void)error, (void)components;
    double *most = self;
    *most = fmax(*most, at->stress);
    *out = at->stress > 3000.0 ? 0.0 : 5.0;
    return KILN_OK;
}

START_TEST(rate_may_depend_on_stress)
{
    kiln_context *context = kiln_test_context(2);
    double seen = 0.0, strain[2];
    for (int thick = 0; thick < 2; thick++) {
        kiln_scene scene;
        kiln_scene_material *m = start(&scene, context, (kiln_plastic){.yield = 100, .rate = 5});
        if (thick) {
            m->flow_varies = true;
            m->rate = (kiln_quantity){.self = &seen, .evaluate = starch};
        }
        kiln_world *world = scene_world(&scene);
        for (int i = 0; i < 10; i++)
            scene_step(world, scene.duration);
        strain[thick] = mean_strain(world);
        kiln_world_destroy(world);
        kiln_scene_free(&scene);
    }
    ck_assert_double_gt(seen, 3000.0); /* in the norm that yields: about E / 10 */
    ck_assert_double_lt(seen, 3e4);
    ck_assert_double_gt(strain[0], 0.01);
    ck_assert_double_lt(strain[1], 0.2 * strain[0]);
    kiln_context_destroy(context);
}
END_TEST

static kiln_status sets_at_half_time(void *self, const kiln_circumstances *at, double *out,
                                     int components, kiln_error *error)
{
    (void)self, (void)error, (void)components;
    *out = at->time < 0.05 - 1e-9 ? 100.0 : 1e9;
    return KILN_OK;
}

START_TEST(yield_may_change_at_a_time)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene scene;
    kiln_scene_material *m = start(&scene, context, (kiln_plastic){.yield = 100, .rate = 5});
    m->flow_varies = true;
    m->yield = (kiln_quantity){.self = &scene, .evaluate = sets_at_half_time};
    kiln_world *world = scene_world(&scene);
    double before = 0.0, strain = 0.0;
    for (int i = 0; i < 10; i++) {
        scene_step(world, scene.duration);
        strain = mean_strain(world);
        if (i < 4)
            ck_assert_double_gt(strain, before);
        else if (i > 4)
            ck_assert_double_eq(strain, before);
        before = strain;
    }
    ck_assert_double_gt(strain, 0.005);
    kiln_world_destroy(world);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
}
END_TEST

static kiln_status below_zero(void *self, const kiln_circumstances *at, double *out, int components,
                              kiln_error *error)
{
    (void)self, (void)at, (void)error, (void)components;
    *out = -1.0;
    return KILN_OK;
}

START_TEST(a_function_below_zero_is_an_error)
{
    kiln_context *context = kiln_test_context(1);
    kiln_scene scene;
    kiln_scene_material *m = start(&scene, context, (kiln_plastic){.yield = 100, .rate = 5});
    m->flow_varies = true;
    m->rate = (kiln_quantity){.self = &scene, .evaluate = below_zero};
    kiln_world *world = scene_world(&scene);
    kiln_stats stats;
    bool gave_up;
    kiln_diagnosis diagnosis;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_world_step(world, scene.duration, &stats, &gave_up, &diagnosis, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "must be 0 or more"));
    kiln_world_destroy(world);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
}
END_TEST

/* A metal drawn out in one step feels the forces of its yield stress, not of its stiffness, and the
 * elastic energy of the statistics is what is left. */
START_TEST(metal_flows_inside_a_step)
{
    kiln_context *context = kiln_test_context(1);
    double force[2], elastic[2];
    for (int plastic = 0; plastic < 2; plastic++) {
        kiln_scene scene;
        kiln_plastic law = {.instant = true, .norm = KILN_YIELD_MISES, .yield = 100};
        kiln_scene_material *m = start(&scene, context, law);
        m->base.plastic.flows = plastic;
        m->base.nodal_pressure = true;
        scene.pace.dt = scene.duration;
        kiln_world *world = scene_world(&scene);
        kiln_stats stats = scene_step(world, scene.duration);
        force[plastic] = fabs(hold_force(world, 1).x);
        elastic[plastic] = stats.e_elastic;
        kiln_world_destroy(world);
        kiln_scene_free(&scene);
    }
    double tension = sqrt(1.5) * 100 * 0.25; /* yield stress in tension times the area */
    ck_assert_double_gt(force[0], 50 * tension);
    ck_assert_double_lt(force[1], 2.5 * tension); /* ends that cannot contract add to it */
    ck_assert_double_gt(force[1], 0.5 * tension);
    ck_assert_double_lt(elastic[1], 0.01 * elastic[0]);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("flow");
    TCase *c = kiln_test_case(suite, "flow");
    tcase_add_test(c, rate_may_depend_on_stress);
    tcase_add_test(c, yield_may_change_at_a_time);
    tcase_add_test(c, a_function_below_zero_is_an_error);
    tcase_add_test(c, metal_flows_inside_a_step);
    return suite;
}

/* Matter that yields in a world: nothing drifts, and static steps end on the yield surface. */
#include "fem/plasticity.h"
#include "scenes.h"

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void begin(void)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, 1);
    kiln_scene_init(scene, context);
}

static void end(void)
{
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

static kiln_plastic *last_law(void)
{
    return &scene->materials.data[scene->materials.count - 1].base.plastic;
}

/* The end at x = 1 goes to and fro and round. */
static kiln_status knead(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components, (void)error;
    double t = at->time, turn = 0.4 * sin(5 * t);
    double y = at->material.y - 0.125, z = at->material.z - 0.125;
    out[0] = at->material.x + 0.25 * sin(8 * t);
    out[1] = 0.125 + y * cos(turn) - z * sin(turn);
    out[2] = 0.125 + y * sin(turn) + z * cos(turn);
    return KILN_OK;
}

static double rest_volume(const kiln_mesh *mesh)
{
    double sum = 0.0;
    kiln_offsets offsets = kiln_offsets_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            sum += offsets.rest_volume[t];
    return sum;
}

START_TEST(nothing_drifts_in_a_thousand_steps)
{
    scene_material(scene, "corotated", 1e5, 0.3, 1000);
    *last_law() = (kiln_plastic){.flows = true, .yield = 3e3, .rate = 30};
    scene_body(scene, "box", "lx=1 ly=0.25 lz=0.25 nx=3 ny=1 nz=1");
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    kiln_scene_hold *led = scene_hold(scene, scene_slab(scene, 1 - 1e-9, 1 + 1e-9), 7);
    led->motion.kind = KILN_MOTION_FOLLOW;
    led->motion.place = (kiln_quantity){.evaluate = knead};
    scene->pace = (kiln_pace_limits){.dt = 0.01, .dt_min = 1e-6, .patience = 4};
    scene->duration = 10;
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double volume = rest_volume(mesh), size = kiln_mesh_volume(mesh);
    int64_t bytes = 0;
    double flowed = 0.0;
    for (int step = 1; step <= 1000; step++) {
        kiln_stats stats = scene_step(world, 0.01 * step);
        flowed += stats.flowed;
        if (step % 50 == 0)
            kiln_test_audit(mesh);
        if (step == 100)
            bytes = heap.live_bytes;
    }
    ck_assert_double_gt(flowed, 5000);
    ck_assert_double_eq_tol(rest_volume(mesh), volume, 1e-12 * volume);
    ck_assert_double_eq_tol(mesh->parts.data[0].volume, kiln_mesh_volume(mesh), 1e-12 * size);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), size, 0.1 * size);
    ck_assert_int_eq(heap.live_bytes, bytes);
    kiln_world_destroy(world);
}
END_TEST

static kiln_status pull(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = at->material.x * (1.0 + 0.1 * at->time);
    out[1] = at->material.y;
    out[2] = at->material.z;
    return KILN_OK;
}

static void bar_to_pull(void)
{
    scene_body(scene, "box", "lx=1 ly=0.5 lz=0.5 nx=4 ny=2 nz=2");
    kiln_scene_hold *led = scene_hold(scene, scene_slab(scene, 1 - 1e-9, 1 + 1e-9), 1);
    led->motion.kind = KILN_MOTION_FOLLOW;
    led->motion.place = (kiln_quantity){.evaluate = pull};
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 1);
    scene_hold(scene, scene_box(scene, kiln_v3(-1, -1, -1), kiln_v3(2, 2, 1e-9)), 4);
    scene_hold(scene, scene_box(scene, kiln_v3(-1, -1, -1), kiln_v3(2, 1e-9, 2)), 2);
    scene->solid.integrator = KILN_STATIC;
    scene->duration = 1;
}

/* Uniaxial tension by ten times the strain of yield: P11 = yield in either norm. */
START_TEST(static_steps_end_on_the_yield_surface)
{
    for (int mises = 0; mises < 2; mises++) {
        begin();
        scene_material(scene, "corotated", 1e5, 0.3, 1000);
        *last_law() = (kiln_plastic){.flows = true,
                                     .instant = true,
                                     .norm = mises ? KILN_YIELD_MISES : KILN_YIELD_FROBENIUS,
                                     .yield = mises ? 1e3 * sqrt(2.0 / 3.0) : 1e3};
        bar_to_pull();
        kiln_world *world = scene_world(scene);
        const kiln_mesh *mesh = kiln_world_mesh(world);
        for (int step = 1; step <= 40; step++)
            scene_step(world, step / 40.0);
        size_t tets = mesh->table[KILN_ON_TET].used;
        double *stress = malloc(9 * tets * sizeof *stress);
        kiln_elements_output(kiln_solid_elements(kiln_world_solid(world)), &mesh->x[0].x,
                             KILN_OUTPUT_CAUCHY, stress);
        for (size_t t = 0; t < tets; t++) {
            /* Frobenius: the ratio of the deviator is renewed until it changes by 1e-3. */
            ck_assert_double_lt(stress[6 * t], 1e3 * 1.012);
            ck_assert_double_gt(stress[6 * t], 1e3 * (mises ? 0.99 : 0.9));
            ck_assert_double_lt(fabs(stress[6 * t + 1]) + fabs(stress[6 * t + 2]), 20.0);
        }
        /* The material has followed: all but the elastic hundredth is in u. */
        double longest = 0.0;
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            longest = fmax(longest, mesh->u[v].x);
        double shortest = longest;
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            shortest = fmin(shortest, mesh->u[v].x);
        ck_assert_double_eq_tol(longest - shortest, 1.1 / 1.01, 1e-3);
        free(stress);
        kiln_world_destroy(world);
        end();
    }
}
END_TEST

/* A rate law flows by the step's time, once, however often equilibrium is solved for. */
START_TEST(static_creep_takes_time)
{
    scene_material(scene, "corotated", 1e5, 0.3, 1000);
    *last_law() = (kiln_plastic){.flows = true, .yield = 0.0, .rate = 0.5};
    bar_to_pull();
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    scene_step(world, 1.0);
    const kiln_field *strain = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_PLASTIC_STRAIN);
    /* Half of the deviator of ln(1.1) along and ln(1 - 0.03) across. */
    double e = 2.0 / 3.0 * (log(1.1) - log(0.97));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert_double_eq_tol(kiln_field_value(strain, t, 0), 0.5 * e, 1e-9);
    kiln_world_destroy(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("drift and static flow");
    TCase *tc = kiln_test_case(suite, "flow");
    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, nothing_drifts_in_a_thousand_steps);
    tcase_add_test(tc, static_creep_takes_time);
    TCase *both = kiln_test_case(suite, "norms");
    tcase_add_test(both, static_steps_end_on_the_yield_surface);
    return suite;
}

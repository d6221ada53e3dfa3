/* Whole-domain remeshing inside a run, and bodies that merge by it. */
#include "fem/offset.h"
#include "geom/tet_quality.h"
#include "scenes.h"
#include "sim/world_impl.h"

#include <math.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

/* Matter like dough: it flows under nearly any load. */
static void begin(int threads)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, threads);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "dough.lua");
    scene->duration = 2.0;
    scene->pace = (kiln_pace_limits){.dt = 0.02, .dt_min = 1e-6, .patience = 4};
    scene->remesh.method = KILN_REMESH_GLOBAL;
}

static void dough(void)
{
    scene_material(scene, "corotated", 1e5, 0.4, 1000);
    scene->materials.data[scene->materials.count - 1].base.plastic =
        (kiln_plastic){.flows = true, .yield = 1e3, .rate = 20.0};
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

static double total(const kiln_mesh *mesh, const char *name)
{
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_TET, name);
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        sum += kiln_field_value(field, t, 0);
    return sum;
}

static double worst_quality(const kiln_mesh *mesh)
{
    double worst = 1.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *x = mesh->x;
        worst = fmin(worst, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
    }
    return worst;
}

/* The block's top is drawn along x at a speed of 3 m/s. */
static kiln_status draw(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 3.0 * at->time;
    out[1] = out[2] = 0.0;
    return KILN_OK;
}

static void sheared_block(const char *settings)
{
    dough();
    scene_body(scene, "box", settings);
    scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -1e-9), kiln_v3(9, 9, 1e-9)), 7);
    kiln_scene_hold *top =
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, 1 - 1e-9), kiln_v3(9, 9, 9)), 7);
    top->motion.kind = KILN_MOTION_TRANSLATE;
    top->motion.shift = (kiln_quantity){.evaluate = draw, .self = scene};
}

START_TEST(a_sheared_block_is_remeshed_and_keeps_its_matter)
{
    begin(2);
    sheared_block("nx=4 ny=4 nz=4");
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_world_state *state = kiln_world_get_state(world);
    double rest = total(mesh, KILN_FIELD_REST_VOLUME), mass = total(mesh, KILN_FIELD_MASS);
    double energy = INFINITY;
    uint64_t remeshes = 0;
    for (int i = 0; i < 60; i++) {
        kiln_stats stats = scene_step(world, scene->duration);
        if (state->remeshes > remeshes) {
            ck_assert_double_ge(worst_quality(mesh), 0.15);
            kiln_test_audit(mesh);
            /* Rest shapes are smeared a little, but nothing is wound up by it. */
            ck_assert_double_lt(kiln_solid_elastic_energy(kiln_world_solid(world), &mesh->x[0].x),
                                1.1 * energy);
        }
        remeshes = state->remeshes;
        energy = stats.e_elastic;
        ck_assert_double_eq_tol(total(mesh, KILN_FIELD_REST_VOLUME), rest, 1e-12 * rest);
        ck_assert_double_eq_tol(total(mesh, KILN_FIELD_MASS), mass, 1e-12 * mass);
        ck_assert(kiln_mesh_spaces_agree(mesh));
    }
    ck_assert_uint_ge(remeshes, 2);
    ck_assert_uint_lt(remeshes, 20);
    end(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("domain");
    TCase *cases = kiln_test_case(suite, "in a run");
    tcase_add_test(cases, a_sheared_block_is_remeshed_and_keeps_its_matter);
    return suite;
}

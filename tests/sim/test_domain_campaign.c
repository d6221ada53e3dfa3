/* Bodies that flow, remeshed as a whole again and again (VPF: 75 times in their longest run). */
#include "fem/offset.h"
#include "geom/predicates.h"
#include "geom/tet_quality.h"
#include "scenes.h"
#include "sim/world_impl.h"

#include <math.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void begin(void)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, 2);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "campaign.lua");
    scene->duration = 1e3;
    scene->pace = (kiln_pace_limits){.dt = 0.02, .dt_min = 1e-6, .patience = 4};
    scene->remesh.method = KILN_REMESH_GLOBAL;
    scene->remesh.merge = 0.0;
    scene->remesh.condition_change = 2.0;
    scene_material(scene, "corotated", 1e5, 0.49, 1000);
    scene->materials.data[0].base.nodal_pressure = true;
    scene->materials.data[0].base.plastic =
        (kiln_plastic){.flows = true, .yield = 1e3, .rate = 20.0};
}

/* To and fro: shear, twist, and bending with shear. */
static kiln_status shear(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 1.0 * sin(3.0 * at->time);
    out[1] = out[2] = 0.0;
    return KILN_OK;
}

static kiln_status twist(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 2.0 * sin(2.0 * at->time);
    return KILN_OK;
}

static kiln_status fold(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 1.5 * sin(2.0 * at->time);
    return KILN_OK;
}

/* A box whose sides are not told apart: their borders would be features for ever. */
static void plain_box(const char *settings)
{
    kiln_soup *mesh = &scene_body(scene, "box", settings)->mesh;
    for (size_t i = 0; i < mesh->triangle_tags.count; i++)
        mesh->triangle_tags.data[i] = 1;
}

/* A body with x = 0 held, and x = length led. */
static kiln_scene_hold *bar(const char *settings, double length)
{
    plain_box(settings);
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    return scene_hold(scene, scene_slab(scene, length - 1e-9, length + 1e-9), 7);
}

static void make(int kind)
{
    kiln_scene_hold *end;
    if (kind == 0) {
        plain_box("nx=4 ny=4 nz=4");
        scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, -1e-9), kiln_v3(9, 9, 1e-9)), 7);
        end = scene_hold(scene, scene_box(scene, kiln_v3(-9, -9, 1 - 1e-9), kiln_v3(9, 9, 9)), 7);
        end->motion.kind = KILN_MOTION_TRANSLATE;
        end->motion.shift = (kiln_quantity){.evaluate = shear, .self = scene};
        return;
    }
    end = bar("lx=2 ly=1 lz=1 nx=6 ny=3 nz=3", 2.0);
    end->motion.kind = KILN_MOTION_ROTATE;
    end->motion.axis = kind == 1 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
    end->motion.centre = kind == 1 ? kiln_v3(0, 0.5, 0.5) : kiln_v3(1.0, 0.5, 0.5);
    end->motion.angle = (kiln_quantity){.evaluate = kind == 1 ? twist : fold, .self = scene};
}

typedef struct survey {
    double quality, volume, rest, mass;
} survey;

static survey look(const kiln_mesh *mesh)
{
    survey s = {.quality = 1.0};
    const double *rest = kiln_offsets_of(mesh).rest_volume;
    const kiln_field *mass = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MASS);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *x = mesh->x;
        ck_assert_int_eq(kiln_orient3d_sign(x[v[0]], x[v[1]], x[v[2]], x[v[3]]), 1);
        s.quality = fmin(s.quality, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
        s.volume += kiln_mesh_tet_volume(mesh, t);
        s.rest += rest[t];
        s.mass += kiln_field_value(mass, t, 0);
    }
    return s;
}

START_TEST(flow_and_remeshes_keep_the_body)
{
    begin();
    make(_i);
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_world_state *state = kiln_world_get_state(world);
    const uint64_t wanted = kiln_test_rounds(3, 75);
    const survey start = look(mesh);
    uint64_t remeshes = 0;
    int64_t bytes = 0;
    double worst = 1.0, thinnest = 1.0, thickest = 1.0;
    uint32_t most = 0;
    while (remeshes < wanted && state->step < 200 * wanted) {
        scene_step(world, scene->duration);
        survey now = look(mesh);
        ck_assert_double_eq_tol(now.rest, start.rest, 1e-12 * start.rest);
        ck_assert_double_eq_tol(now.mass, start.mass, 1e-12 * start.mass);
        thinnest = fmin(thinnest, now.volume / start.volume);
        thickest = fmax(thickest, now.volume / start.volume);
        if (state->remeshes > remeshes) {
            worst = fmin(worst, now.quality);
            most = mesh->table[KILN_ON_TET].live > most ? mesh->table[KILN_ON_TET].live : most;
            if (remeshes % 10 == 0)
                kiln_test_audit(mesh);
        }
        if (remeshes < 3)
            bytes = heap.live_bytes;
        remeshes = state->remeshes;
    }
    if (wanted > 3)
        printf("kind %d: %llu remeshes in %llu steps, worst q %.3f, volume %.4f to %.4f, at most "
               "%u tets, %.2f to %.2f MB\n",
               _i, (unsigned long long)remeshes, (unsigned long long)state->step, worst, thinnest,
               thickest, most, 1e-6 * (double)bytes, 1e-6 * (double)heap.live_bytes);
    ck_assert_uint_ge(remeshes, wanted);
    ck_assert_double_ge(worst, 0.15);
    ck_assert_double_ge(thinnest, 0.99);
    ck_assert_double_le(thickest, 1.01);
    ck_assert_int_lt(heap.live_bytes, 2 * bytes);
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("domain_campaign");
    TCase *cases = kiln_test_case(suite, "campaign");
    tcase_add_loop_test(cases, flow_and_remeshes_keep_the_body, 0, 3);
    return suite;
}

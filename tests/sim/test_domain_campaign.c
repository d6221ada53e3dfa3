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

/* Motions to and fro that keep volumes: shear, and a swirl that folds. */
static kiln_status shear(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = 4.0 * cos(2.0 * at->time) * (at->world.z - 0.5);
    out[1] = out[2] = 0.0;
    return KILN_OK;
}

static kiln_status fold(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    double x = KILN_PI * at->world.x, z = KILN_PI * (at->world.z + 0.5), c = cos(2.0 * at->time);
    out[0] = c * sin(x) * cos(z);
    out[1] = 0.0;
    out[2] = -c * cos(x) * sin(z);
    return KILN_OK;
}

static void make(int kind)
{
    scene_body(scene, "box", kind == 0 ? "nx=5 ny=5 nz=5" : "lx=2 ly=1 lz=1 nx=8 ny=4 nz=4");
    scene->velocity_field = (kiln_quantity){.evaluate = kind == 0 ? shear : fold, .self = scene};
    scene->has_velocity_field = true;
    scene->velocity_until = INFINITY;
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
    uint32_t most = 0, poor = 0;
    while (remeshes < wanted && state->step < 200 * wanted) {
        scene_step(world, scene->duration);
        survey now = look(mesh);
        ck_assert_double_eq_tol(now.rest, start.rest, 1e-12 * start.rest);
        ck_assert_double_eq_tol(now.mass, start.mass, 1e-12 * start.mass);
        thinnest = fmin(thinnest, now.volume / start.volume);
        thickest = fmax(thickest, now.volume / start.volume);
        if (kiln_world_remeshes(world) > remeshes) {
            worst = fmin(worst, now.quality);
            poor += now.quality < 0.15;
            most = mesh->table[KILN_ON_TET].live > most ? mesh->table[KILN_ON_TET].live : most;
            if (remeshes % 10 == 0)
                kiln_test_audit(mesh);
        }
        if (remeshes < 3)
            bytes = heap.live_bytes;
        remeshes = kiln_world_remeshes(world);
    }
    if (wanted > 3)
        printf(
            "kind %d: %llu remeshes in %llu steps, worst q %.3f (%u times below 0.15), volume %.4f "
            "to %.4f, at most %u tets, %.2f to %.2f MB\n",
            _i, (unsigned long long)remeshes, (unsigned long long)state->step, worst, poor,
            thinnest, thickest, most, 1e-6 * (double)bytes, 1e-6 * (double)heap.live_bytes);
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
    tcase_add_loop_test(cases, flow_and_remeshes_keep_the_body, 0, 2);
    return suite;
}

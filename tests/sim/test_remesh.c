/* Remeshing inside a run. */
#include "fem/offset.h"
#include "scenes.h"

#include <math.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

/* Turns about the axis of the bar, faster towards its end: one turn in a second. */
static kiln_status twist(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components, (void)error;
    double rate = 2.0 * KILN_PI * at->world.x / 4.0;
    out[0] = 0.0;
    out[1] = -rate * (at->world.z - 0.5);
    out[2] = rate * (at->world.y - 0.5);
    return KILN_OK;
}

static void begin(int threads)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, threads);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "bar.lua");
    scene->duration = 2.0;
    scene->pace = (kiln_pace_limits){.dt = 0.02, .dt_min = 1e-6, .patience = 4};
    scene_material(scene, "corotated", 1e5, 0.3, 1000);
    scene->materials.data[0].base.damping_mass = 10.0;
    scene_body(scene, "box", "lx=4 ly=1 lz=1 n=2 pattern=mirrored");
    scene->velocity_field = (kiln_quantity){.evaluate = twist, .self = scene};
    scene->has_velocity_field = true;
    scene->velocity_until = 1.0;
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.strain = 8.0;
    scene->remesh.size_min = 0.1;
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

/* Refined while it is twisted, coarse again when it is back, and back it is. */
START_TEST(an_elastic_bar_refines_and_returns)
{
    begin(2);
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    uint32_t most = 0, start = mesh->table[KILN_ON_TET].live;
    double time = 0.0, spent[4] = {0};
    int steps = 0;
    while (time < scene->duration - 1e-9) {
        kiln_stats stats = scene_step(world, scene->duration);
        time = stats.time;
        steps++;
        most = mesh->table[KILN_ON_TET].live > most ? mesh->table[KILN_ON_TET].live : most;
        spent[0] += stats.t_step, spent[1] += stats.t_size, spent[2] += stats.t_remesh;
        spent[3] += stats.t_transfer;
        if (getenv("KILN_SHOW"))
            printf("%4d %.3f tets %5u q %.3f size %.4f remesh %.4f transfer %.4f step %.4f\n",
                   steps, time, mesh->table[KILN_ON_TET].live, stats.q_min, stats.t_size,
                   stats.t_remesh, stats.t_transfer, stats.t_step);
        kiln_test_audit(mesh);
    }
    printf("%u -> %u -> %u tets\n", start, most, mesh->table[KILN_ON_TET].live);
    end(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("remesh");
    TCase *all = kiln_test_case(suite, "remesh in a run");
    tcase_add_test(all, an_elastic_bar_refines_and_returns);
    return suite;
}

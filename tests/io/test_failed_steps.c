/* A step is one transaction. In scenes with plastic flow, remeshing, contact, obstacles, a surface
 * that hangs in a body and functions, the k-th allocation or the k-th call of a function fails:
 * mesh, clock and modules are those of the last accepted step to the bit, so is a checkpoint
 * written then, and the step made again has the bits of a run that was not disturbed.
 * `make soak` lets every one of them fail. */
#include "base/hash.h"
#include "io/checkpoint.h"
#include "scenes.h"

#include <stdlib.h>
#include <unistd.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;
static uint64_t calls, fail_at; /* of functions; 0: none fails */

typedef enum kind { LOCAL, LOCAL_IN_WORLD, GLOBAL, STATIC, NEWMARK, LOCAL_AT_ONCE, KINDS } kind;

static kiln_status fail_or(kiln_error *error)
{
    if (++calls == fail_at)
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "the function fails");
    return KILN_OK;
}

/* Softer where it is pressed, weaker to the right, a push that grows, a plane that comes. */
static kiln_status young(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components;
    out[0] = 1e5 / (1.0 + 1e-4 * at->stress);
    return fail_or(error);
}
static kiln_status yield(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components;
    out[0] = 400.0 - 100.0 * at->material.x;
    return fail_or(error);
}
static kiln_status push(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components;
    out[0] = 60.0 * at->time, out[1] = 30.0, out[2] = -20.0;
    return fail_or(error);
}
static kiln_status come(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components;
    out[0] = out[1] = 0.0, out[2] = 0.5 * at->time;
    return fail_or(error);
}

static void add_obstacle(void)
{
    kiln_scene_obstacle plane = {.said = kiln_scene_said("obstacles[1]", 40), .friction = 0.3};
    plane.shape = (kiln_obstacle_shape){
        .kind = KILN_OBSTACLE_PLANE, .point = kiln_v3(0, 0, -0.06), .normal = kiln_v3(0, 0, 1)};
    plane.motion = (kiln_motion){
        .kind = KILN_MOTION_TRANSLATE, .shift = {.evaluate = come, .self = scene}, .obstacle = -1};
    SCENE_PUSH(obstacles, plane);
}

static void add_matter(kind k)
{
    scene_material(scene, "corotated", 1e5, 0.3, 1000);
    kiln_scene_material *m = &scene->materials.data[0];
    m->young.evaluate = young;
    m->varies = true;
    m->base.damping_mass = 5.0;
    m->base.plastic = (kiln_plastic){.flows = true, .yield = 400, .rate = k == STATIC ? 0 : 20};
    m->base.plastic.instant = k == STATIC;
    m->yield = (kiln_quantity){.evaluate = yield};
    m->rate = kiln_quantity_number(m->base.plastic.rate);
    m->hardening = kiln_quantity_number(k == STATIC ? 1.0 : 0.0);
    m->flow_varies = true;
    kiln_scene_body *bar = scene_body(scene, "box", "lx=1 ly=0.5 lz=0.5 nx=4 ny=2 nz=2");
    bar->surface = kiln_test_soup(context, "box", "lx=1 ly=0.5 lz=0.5 nx=5 ny=3 nz=3");
    kiln_scene_body *lump = scene_body(scene, "box", "lx=0.4 ly=0.4 lz=0.4 n=2");
    for (size_t i = 0; i < lump->mesh.points.count; i++)
        lump->mesh.points.data[i] = kiln_v3_add(lump->mesh.points.data[i], kiln_v3(0.3, 0, 0.56));
    lump->velocity = kiln_quantity_vector(kiln_v3(0, 0, -0.4));
}

/* What the first body does to the second, which has friction with it of its own. */
static void add_pair(void)
{
    kiln_scene_probe probe = {.body = 1, .point = {NAN, NAN, NAN}, .with = 1};
    kiln_scene_pair pair = {.friction = 0.4};
    snprintf(pair.a, sizeof pair.a, "%s", scene->bodies.data[0].name);
    snprintf(pair.b, sizeof pair.b, "%s", scene->bodies.data[1].name);
    SCENE_PUSH(probes, probe);
    SCENE_PUSH(contact.pairs, pair);
}

static void begin(kind k)
{
    heap = (kiln_test_heap){0};
    calls = fail_at = 0;
    context = kiln_test_context_on(&heap, 1);
    kiln_scene_init(scene, context);
    snprintf(scene->file, sizeof scene->file, "failing.lua");
    scene->duration = 1.0;
    scene->pace = (kiln_pace_limits){.dt = 0.02, .dt_min = 1e-6, .patience = 4};
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -9.81));
    scene->solid.integrator = k == STATIC ? KILN_STATIC : k == NEWMARK ? KILN_NEWMARK : KILN_BDF2;
    add_matter(k);
    add_obstacle();
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    kiln_scene_hold *late = scene_hold(scene, scene_slab(scene, 1 - 1e-9, 1 + 1e-9), 2);
    late->from = 0.04, late->until = 0.08;
    kiln_scene_load *load =
        scene_load(scene, KILN_LOAD_FORCE, scene_slab(scene, 1 - 1e-9, 2), kiln_v3(0, 0, 0));
    load->amount.evaluate = push;
    scene->contact.bodies = scene->contact.self = k != GLOBAL;
    scene->contact.friction = 0.2;
    scene->contact.thickness = 0.02;
    scene->remesh.method = k == GLOBAL ? KILN_REMESH_GLOBAL : KILN_REMESH_LOCAL;
    scene->remesh.space = k == LOCAL_IN_WORLD ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
    scene->remesh.size = k == GLOBAL ? 0.0 : 0.2;
    scene->remesh.strain = k == GLOBAL ? 0.0 : 4.0;
    scene->remesh.condition = 1e6;
    scene->remesh.merge = 0.0;
    if (k == STATIC) { /* what nothing holds has no equilibrium */
        scene->obstacles.count = 0;
        kiln_soup_free(&scene->bodies.data[1].mesh);
        scene->bodies.count = 1;
        scene->contact.bodies = scene->contact.self = false;
    }
    scene->output.contact_pressure = scene->output.slip = true;
    scene->output.gap = k != STATIC && k != GLOBAL;
    if (k != STATIC)
        add_pair();
}

static void end(kiln_world *world)
{
    kiln_world_destroy(world);
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

/* Of all that the future depends on. */
static uint64_t world_hash(kiln_world *world)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    uint64_t hash = kiln_mesh_hash(mesh), fail = heap.fail_at;
    heap.fail_at = 0;
    hash = kiln_hash_add(kiln_hash_add(hash, mesh->revision), mesh->clock);
    const kiln_world_state *state = kiln_world_get_state(world);
    const double numbers[] = {
        state->clock.time,      state->clock.h_before, state->clock.surplus,
        state->pace.dt,         state->pace.good,      state->next_frame,
        state->next_checkpoint, (double)state->step,   (double)state->rejected};
    hash = kiln_hash_bytes(hash, numbers, sizeof numbers);
    const char *name = "";
    for (size_t row = 0; name; row++) {
        size_t size;
        const void *words = kiln_world_module_state(world, row, &name, &size);
        hash = kiln_hash_bytes(hash, words ? words : "", size);
    }
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_surface(world, 0, &soup, NULL), KILN_OK);
    for (size_t i = 0; i < soup.fields.count; i++)
        hash = kiln_hash_bytes(hash, soup.fields.data[i].data.data,
                               soup.fields.data[i].data.count * sizeof(double));
    kiln_soup_free(&soup);
    heap.fail_at = fail;
    return hash;
}

static uint64_t checkpoint_hash(kiln_world *world)
{
    static char text[] = "return scene {}", sets[] = "";
    const kiln_checkpoint_scene about = {text, sizeof text - 1, sets, 0};
    char path[] = "/tmp/kiln-failed-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    kiln_error error = {0};
    ck_assert_msg(kiln_checkpoint_write(world, &about, path, &error) == KILN_OK, "%s",
                  error.message);
    FILE *in = fopen(path, "rb");
    static char bytes[1 << 22];
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    unlink(path);
    ck_assert_uint_lt(size, sizeof bytes);
    return kiln_hash_bytes(0, bytes, size);
}

/* Steps before the one that is disturbed: it remeshes, and holds begin or end with it; or it is the
 * first that looks at the mesh. */
static int steps_before(kind k)
{
    return k == LOCAL_AT_ONCE ? 0 : 2;
}

static kiln_world *go_to_step(int steps)
{
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    for (int i = 0; i < steps; i++)
        scene_step(world, 0.02 * (i + 1));
    /* The next step is to remesh. */
    bool global = scene->remesh.method == KILN_REMESH_GLOBAL;
    scene->remesh.size = global ? 0.22 : 0.13;
    scene->remesh.condition = 1.001;
    scene->remesh.merge = 0.3;
    scene->remesh.quality = global ? 0.0 : 0.25;
    return world;
}

typedef struct undisturbed {
    uint64_t before, after, checkpoint; /* hashes */
    uint64_t allocations, calls;        /* in the step */
    uint64_t changed;                   /* tets, by remeshing */
} undisturbed;

static undisturbed run_undisturbed(kind k)
{
    begin(k);
    kiln_world *world = go_to_step(steps_before(k));
    undisturbed u = {.before = world_hash(world), .checkpoint = checkpoint_hash(world)};
    uint64_t blocks = heap.calls, asked = calls;
    kiln_stats stats = scene_step(world, 0.02 * (steps_before(k) + 1));
    u.allocations = heap.calls - blocks;
    u.calls = calls - asked;
    u.changed = (uint64_t)stats.changed;
    u.after = world_hash(world);
    end(world);
    return u;
}

static kiln_status step(kiln_world *world, double time)
{
    kiln_stats stats;
    bool gave_up = false;
    kiln_diagnosis diagnosis = {{0}};
    kiln_error error = {0};
    kiln_status status = kiln_world_step(world, time, &stats, &gave_up, &diagnosis, &error);
    ck_assert_msg(!gave_up, "%s", diagnosis.text);
    return status;
}

static void arm(uint64_t allocation, uint64_t call)
{
    heap.fail_at = allocation ? heap.calls + allocation : 0;
    fail_at = call ? calls + call : 0;
}

/* After the failure everything is as before it; made again the step is as if nothing had been. */
static void disturb(kiln_world *world, double time, const undisturbed *u, kiln_status expected,
                    const char *what, uint64_t k)
{
    kiln_status status = step(world, time);
    arm(0, 0);
    if (status == KILN_OK) { /* what failed was not needed */
        ck_assert_msg(world_hash(world) == u->after, "%s %llu: another result", what,
                      (unsigned long long)k);
        return;
    }
    ck_assert_int_eq(status, expected);
    ck_assert_msg(world_hash(world) == u->before, "%s %llu: not taken back", what,
                  (unsigned long long)k);
}

/* One in `stride` of the failures, each in a world of its own, so that none hides another. */
static void disturb_all(kind k, const undisturbed *u, bool memory, uint64_t stride)
{
    uint64_t count = memory ? u->allocations : u->calls;
    const char *what = memory ? "allocation" : "call";
    const int before = steps_before(k);
    const double time = 0.02 * (before + 1);
    begin(k);
    kiln_world *world = go_to_step(before);
    for (uint64_t n = 1; n <= count; n += stride) {
        arm(memory ? n : 0, memory ? 0 : n);
        disturb(world, time, u, memory ? KILN_ERR_MEMORY : KILN_ERR_INPUT, what, n);
        if (world_hash(world) == u->after) { /* gone on: begin again */
            end(world);
            begin(k);
            world = go_to_step(before);
        } else if (n / stride % 4 == 0) {
            ck_assert_uint_eq(checkpoint_hash(world), u->checkpoint);
            ck_assert_int_eq(step(world, time), KILN_OK);
            ck_assert_msg(world_hash(world) == u->after, "%s %llu: other bits when made again",
                          what, (unsigned long long)n);
            end(world);
            begin(k);
            world = go_to_step(before);
        }
    }
    end(world);
}

START_TEST(test_memory)
{
    undisturbed u = run_undisturbed((kind)_i);
    ck_assert_uint_gt(u.changed, 0);
    printf("SOAK kind %d: %llu allocations, %llu calls in the step\n", _i,
           (unsigned long long)u.allocations, (unsigned long long)u.calls);
    disturb_all((kind)_i, &u, true, kiln_test_rounds(1 + u.allocations / 40, 1));
}
END_TEST

START_TEST(test_functions)
{
    undisturbed u = run_undisturbed((kind)_i);
    ck_assert_uint_gt(u.calls, 0);
    disturb_all((kind)_i, &u, false, kiln_test_rounds(1 + u.calls / 25, 1));
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("failed steps");
    TCase *tests = kiln_test_case(suite, "failures");
    tcase_add_loop_test(tests, test_memory, 0, KINDS);
    tcase_add_loop_test(tests, test_functions, 0, KINDS);
    return suite;
}

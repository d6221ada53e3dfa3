#include "fixture.h"
#include "io/checkpoint.h"
#include "scenes.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene;
static folder scratch;
static char text[] = "return {} -- \xc3\xa4\n", sets[] = "a=1\nb=2\n";
static const kiln_checkpoint_scene about = {text, sizeof text - 1, sets, sizeof sets - 1};

static void begin(int threads)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, threads);
    scene_cantilever(&scene, context);
    scratch = make_folder();
}

static void end(void)
{
    remove_folder(&scratch);
    kiln_scene_free(&scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

static char *slurp_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void put_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void write_to(kiln_world *world, const char *path)
{
    kiln_error error = {0};
    kiln_status status = kiln_checkpoint_write(world, &about, path, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", error.place, error.message);
}

START_TEST(what_was_written_is_read_back)
{
    begin(2);
    char path[160];
    in_folder(&scratch, "a.h5", path);
    scene.solid.integrator = KILN_BDF2;
    kiln_world *world = scene_world(&scene);
    kiln_world_state *state = kiln_world_get_state(world);
    state->step = 1;
    for (int i = 0; i < 5; i++)
        scene_step(world, 0.05);
    state->next_frame = INFINITY;
    write_to(world, path);
    ck_assert_int_eq(kiln_world_renew(world, NULL), KILN_OK);

    kiln_checkpoint_scene found;
    ck_assert_int_eq(kiln_checkpoint_read_scene(context, path, &found, NULL), KILN_OK);
    ck_assert_uint_eq(found.text_size, about.text_size);
    ck_assert_int_eq(memcmp(found.text, text, about.text_size), 0);
    ck_assert_str_eq(found.sets, sets);
    kiln_checkpoint_scene_free(context, &found);

    kiln_world *twin = scene_world(&scene);
    kiln_error error = {0};
    kiln_status status = kiln_checkpoint_read(path, twin, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", error.place, error.message);
    const kiln_world_state *other = kiln_world_get_state(twin);
    ck_assert_int_eq(memcmp(&other->clock, &state->clock, sizeof state->clock), 0);
    ck_assert_double_eq(other->pace.dt, state->pace.dt);
    ck_assert_int_eq(other->pace.good, state->pace.good);
    ck_assert_uint_eq(other->step, 6);
    ck_assert(isinf(other->next_frame));
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)),
                          kiln_mesh_hash(kiln_world_mesh(twin)));
        scene_step(world, 0.1);
        scene_step(twin, 0.1);
    }
    kiln_world_destroy(twin);
    kiln_world_destroy(world);
    end();
}
END_TEST

/* The ball that hangs in the bar reaches out of it: vertices outside come back as well. */
START_TEST(surfaces_come_back_as_they_hung)
{
    begin(2);
    char path[160];
    in_folder(&scratch, "a.h5", path);
    kiln_soup *ball = &scene.bodies.data[0].surface;
    *ball = kiln_test_soup(context, "ball", "radius=0.2 h=0.1");
    ball->tets.count = ball->tet_tags.count = 0;
    kiln_world *world = scene_world(&scene), *twin = scene_world(&scene);
    for (int i = 0; i < 3; i++)
        scene_step(world, 0.05);
    write_to(world, path);
    kiln_error error = {0};
    kiln_status status = kiln_checkpoint_read(path, twin, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", error.place, error.message);
    kiln_soup a, b;
    ck_assert_int_eq(kiln_world_surface(world, 0, &a, NULL), KILN_OK);
    ck_assert_int_eq(kiln_world_surface(twin, 0, &b, NULL), KILN_OK);
    ck_assert_uint_eq(a.points.count, ball->points.count);
    ck_assert_mem_eq(a.points.data, b.points.data, a.points.count * sizeof *a.points.data);
    for (size_t i = 0; i < a.fields.count; i++)
        ck_assert_mem_eq(a.fields.data[i].data.data, b.fields.data[i].data.data,
                         a.fields.data[i].data.count * sizeof(double));
    kiln_soup_free(&a);
    kiln_soup_free(&b);
    kiln_world_destroy(twin);

    /* A surface with other vertices than the scene's is refused. */
    ball->points.count--;
    kiln_soup_triangle last = ball->triangles.data[0];
    for (size_t i = 0; i < ball->triangles.count; i++)
        for (int k = 0; k < 3; k++)
            if (ball->triangles.data[i].v[k] >= ball->points.count)
                ball->triangles.data[i] = last;
    twin = scene_world(&scene);
    ck_assert_int_eq(kiln_checkpoint_read(path, twin, &error), KILN_ERR_INPUT);
    ball->points.count++;
    kiln_world_destroy(twin);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(the_same_state_is_the_same_bytes)
{
    char *bytes[2];
    size_t size[2];
    for (int i = 0; i < 2; i++) {
        begin(1 + i);
        char path[160];
        in_folder(&scratch, "a.h5", path);
        kiln_world *world = scene_world(&scene);
        scene_step(world, 0.05);
        write_to(world, path);
        bytes[i] = slurp_file(path, &size[i]);
        kiln_world_destroy(world);
        end();
    }
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_int_eq(memcmp(bytes[0], bytes[1], size[0]), 0);
    free(bytes[0]);
    free(bytes[1]);
}
END_TEST

static kiln_status ramp(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self;
    (void)error;
    for (int c = 0; c < components; c++)
        out[c] = c == 2 && at->time > 0.02 ? 0.3 * (at->time - 0.02) : 0.0;
    return KILN_OK;
}

static kiln_status softening(void *self, const kiln_circumstances *at, double *out, int components,
                             kiln_error *error)
{
    (void)self;
    (void)components;
    (void)error;
    out[0] = 1e5 * (1.0 - at->time) / (1.0 + 1e-3 * at->stress + 0.1 * at->strain_rate);
    return KILN_OK;
}

/* Everything the future can depend on beside the mesh of the start. */
static void vary_scene(int variant)
{
    scene.solid.integrator = (kiln_integrator)(variant % KILN_STATIC);
    if (variant & 1) {
        kiln_scene_hold *late = scene_hold(&scene, scene_slab(&scene, 0.9, 1.1), 7);
        late->from = 0.02;
        late->until = 0.04;
        late->motion.kind = KILN_MOTION_TRANSLATE;
        late->motion.shift = (kiln_quantity){.self = &scene, .evaluate = ramp};
    }
    if (variant & 2) {
        scene.materials.data[0].young = (kiln_quantity){.self = &scene, .evaluate = softening};
        scene.materials.data[0].varies = true;
    }
    if (variant & 4) {
        kiln_scene_obstacle plane = {.shape = {.kind = KILN_OBSTACLE_PLANE,
                                               .normal = kiln_v3(0, 0, 1),
                                               .point = kiln_v3(0, 0, -0.001)},
                                     .friction = 0.4,
                                     .motion = {.obstacle = -1}};
        ck_assert_int_eq(kiln_array_push(context, &scene.obstacles, plane, NULL), KILN_OK);
    }
    if (variant & 16)
        scene.materials.data[0].base.plastic =
            (kiln_plastic){.flows = true, .yield = 500.0, .rate = 20.0, .hardening = 0.1};
    if (variant & (32 | 64)) {
        scene.remesh.method = KILN_REMESH_LOCAL;
        scene.remesh.space = variant & 64 ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
        scene.remesh.quality = 0.2;
        scene.remesh.strain = 2.0;
        scene.remesh.size_max = 0.5;
    }
    if (variant & 256) {
        kiln_array_free(context, &scene.holds.data[0].where);
        scene.holds.count = 0;
        scene.has_velocity_field = true;
        scene.velocity_field = (kiln_quantity){.self = &scene, .evaluate = ramp};
        scene.velocity_until = 0.03;
    }
    if (variant & 128) {
        scene.remesh.method = KILN_REMESH_GLOBAL;
        scene.remesh.condition = 1.5;
        scene.remesh.quality = 0.2;
    }
    if (variant & 512) { /* thrown at the plane, farther in a step than an edge; sizes are let be */
        kiln_array_free(context, &scene.holds.data[0].where);
        scene.holds.count = 0;
        scene.bodies.data[0].velocity = kiln_quantity_vector(kiln_v3(8.0, 3.0, -40.0));
        scene.bodies.data[0].spin = kiln_v3(2.0, -5.0, 3.0);
        scene.obstacles.data[0].shape.point = kiln_v3(0, 0, -1.3);
        scene.remesh.every = 1000000;
        scene.remesh.quality = 0.01;
    }
    if (variant & 8) {
        scene.materials.data[0].base.damping_mass = 0.5;
        scene.materials.data[0].base.damping_stiffness = 1e-3;
        scene.solid.mass = KILN_MASS_CONSISTENT;
        scene.solid.max_stretch = 0.01; /* steps are rejected now and then */
    }
}

/* One run goes on, renewed now and then; its twin is made anew from the file at each step. Returns
 * how often the number of tets changed. */
static int run_twins(int variant, int steps)
{
    begin(1 + variant % 2);
    vary_scene(variant);
    char path[160];
    in_folder(&scratch, "a.h5", path);
    kiln_world *world = scene_world(&scene), *twin = scene_world(&scene);
    int changes = 0;
    for (int i = 0; i < steps; i++) {
        uint32_t tets = kiln_world_mesh(world)->table[KILN_ON_TET].live;
        scene.remesh.size = i % 2 ? 0.25 : 0.12; /* where it remeshes */
        scene_step(world, scene.duration);
        scene_step(twin, scene.duration);
        changes += kiln_world_mesh(world)->table[KILN_ON_TET].live != tets;
        ck_assert_msg(kiln_mesh_hash(kiln_world_mesh(world)) ==
                          kiln_mesh_hash(kiln_world_mesh(twin)),
                      "variant %d, step %d", variant, i + 1);
        write_to(world, path);
        kiln_world_destroy(twin);
        twin = scene_world(&scene);
        kiln_error error = {0};
        kiln_status status = kiln_checkpoint_read(path, twin, &error);
        ck_assert_msg(status == KILN_OK, "%s", error.message);
        if (i % 2) /* renewing changes nothing */
            ck_assert_int_eq(kiln_world_renew(world, NULL), KILN_OK);
    }
    kiln_world_destroy(twin);
    kiln_world_destroy(world);
    end();
    return changes;
}

START_TEST(every_kind_of_state_is_kept)
{
    for (int variant = 0; variant < 16; variant++)
        ck_assert_int_eq(run_twins(variant, 8), 0);
}
END_TEST

START_TEST(matter_that_flows_is_kept)
{
    static const int variants[] = {16, 17, 18, 31, 256 | 16 | 6, 256 | 32 | 16 | 4};
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        run_twins(variants[i], 6);
}
END_TEST

/* Nor does the mesh have to change for what is derived from the material to be another. */
START_TEST(bodies_thrown_at_obstacles_are_kept)
{
    static const int variants[] = {512 | 64 | 4, 512 | 64 | 16 | 4, 512 | 16 | 6};
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++)
        run_twins(variants[i], 8);
}
END_TEST

START_TEST(meshes_that_change_are_kept)
{
    static const int variants[] = {32,     32 | 16 | 11, 32 | 16 | 6, 64 | 16 | 3,
                                   64 | 4, 128 | 16 | 1, 128 | 16 | 2};
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        bool global = variants[i] & 128; /* rests after a remesh */
        ck_assert_int_ge(run_twins(variants[i], 5), global ? 2 : 4);
    }
}
END_TEST

/* A damaged file is refused by both readers, and the world stays as it was. */
static void expect_refusal(const char *path, kiln_world *world, const char *words)
{
    kiln_error error = {0};
    kiln_checkpoint_scene found;
    uint64_t before = kiln_mesh_hash(kiln_world_mesh(world));
    ck_assert_int_eq(kiln_checkpoint_read_scene(context, path, &found, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_checkpoint_read(path, world, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, words) != NULL, "'%s' lacks '%s'", error.message, words);
    ck_assert_str_eq(error.place, path);
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), before);
}

START_TEST(damaged_files_are_refused)
{
    begin(1);
    char path[160];
    in_folder(&scratch, "a.h5", path);
    kiln_world *world = scene_world(&scene);
    write_to(world, path);
    size_t size;
    char *bytes = slurp_file(path, &size);
    uint64_t rounds = kiln_test_rounds(150, 5000);
    for (uint64_t i = 0; i < rounds; i++) {
        size_t length = i < 40 ? i * 17 : (size_t)((double)size * (double)i / (double)rounds);
        put_file(path, bytes, length);
        expect_refusal(path, world, length < 512 ? "not a Kiln checkpoint" : "not whole");
    }
    kiln_random random = kiln_random_start(1, 2);
    for (uint64_t i = 0; i < rounds; i++) {
        size_t at = kiln_random_u64(&random) % size;
        if (at >= 80 && at < 512)
            continue; /* nothing is there */
        char keep = bytes[at];
        bytes[at] = (char)(keep ^ (1 << kiln_random_below(&random, 8)));
        put_file(path, bytes, size);
        if (at < 40 || at >= 512) /* the version's text is not looked at */
            expect_refusal(path, world, "");
        bytes[at] = keep;
    }
    put_file(path, "hello", 5);
    expect_refusal(path, world, "not a Kiln checkpoint");
    put_file(path, bytes + 512, size - 512); /* HDF5, but not ours */
    expect_refusal(path, world, "not a Kiln checkpoint");
    bytes[16] = 9;
    put_file(path, bytes, size);
    expect_refusal(path, world, "another format");
    free(bytes);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(another_scene_is_refused)
{
    begin(1);
    char path[160];
    in_folder(&scratch, "a.h5", path);
    kiln_world *world = scene_world(&scene);
    write_to(world, path);
    kiln_world_destroy(world);
    kiln_error error = {0};

    scene.bodies.data[0].mesh.points.data[0].x -= 0.01; /* its mesh file has changed */
    world = scene_world(&scene);
    ck_assert_int_eq(kiln_checkpoint_read(path, world, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "mesh file") != NULL, "%s", error.message);
    kiln_world_destroy(world);

    scene.solid.integrator = KILN_NEWMARK; /* other fields */
    world = scene_world(&scene);
    ck_assert_int_eq(kiln_checkpoint_read(path, world, &error), KILN_ERR_INPUT);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(nan_is_never_written)
{
    begin(1);
    char path[160];
    in_folder(&scratch, "a.h5", path);
    put_file(path, "old", 3);
    kiln_world *world = scene_world(&scene);
    kiln_error error = {0};
    ((double *)kiln_mesh_field(kiln_world_mesh(world), KILN_ON_VERTEX, "v")->data)[4] = NAN;
    ck_assert_int_eq(kiln_checkpoint_write(world, &about, path, &error), KILN_ERR_STATE);
    ck_assert_msg(strstr(error.message, "'v'") != NULL, "%s", error.message);
    size_t size;
    char *bytes = slurp_file(path, &size);
    ck_assert_uint_eq(size, 3);
    free(bytes);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(memory_may_run_out)
{
    begin(1);
    char path[160];
    in_folder(&scratch, "a.h5", path);
    kiln_world *world = scene_world(&scene);
    write_to(world, path);
    for (uint64_t k = 1;; k++) {
        heap.fail_at = heap.calls + k;
        kiln_error error = {0};
        kiln_status status = kiln_checkpoint_write(world, &about, path, &error);
        heap.fail_at = 0;
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
    }
    kiln_world *twin = scene_world(&scene);
    for (uint64_t k = 1;; k++) {
        heap.fail_at = heap.calls + k;
        kiln_error error = {0};
        kiln_status status = kiln_checkpoint_read(path, twin, &error);
        heap.fail_at = 0;
        if (status == KILN_OK)
            break;
        ck_assert_msg(status == KILN_ERR_MEMORY, "%d %s", status, error.message);
    }
    kiln_world_destroy(twin);
    kiln_world_destroy(world);
    end();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *all = kiln_test_case(suite, "checkpoint");
    tcase_add_test(all, what_was_written_is_read_back);
    tcase_add_test(all, surfaces_come_back_as_they_hung);
    tcase_add_test(all, the_same_state_is_the_same_bytes);
    tcase_add_test(all, every_kind_of_state_is_kept);
    tcase_add_test(all, matter_that_flows_is_kept);
    tcase_add_test(all, bodies_thrown_at_obstacles_are_kept);
    tcase_add_test(all, meshes_that_change_are_kept);
    tcase_add_test(all, damaged_files_are_refused);
    tcase_add_test(all, another_scene_is_refused);
    tcase_add_test(all, nan_is_never_written);
    tcase_add_test(all, memory_may_run_out);
    return suite;
}

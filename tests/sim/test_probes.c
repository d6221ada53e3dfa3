/* The columns of probes.csv: names, bodies, points that go through remeshing. */
#include "scenes.h"

#include <math.h>

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void begin(void)
{
    scene_open(scene, "probes.lua", &heap);
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
}

static void end(kiln_world *world)
{
    scene_close(scene, world, &heap);
}

static void add_probe(const char *name, int32_t body, kiln_vec3 point)
{
    kiln_scene_probe probe = {.body = body, .point = point};
    snprintf(probe.name, sizeof probe.name, "%s", name);
    SCENE_PUSH(probes, probe);
}

static const kiln_vec3 whole = {NAN, NAN, NAN};

static double value(kiln_world *world, const char *name)
{
    double row[400];
    size_t count = kiln_world_probe_count(world);
    ck_assert_uint_le(count, 400);
    ck_assert_int_eq(kiln_world_probe(world, row, NULL), KILN_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kiln_world_probe_name(world, i), name) == 0)
            return row[i];
    ck_abort_msg("there is no %s", name);
    return NAN;
}

static kiln_vec3 vector(kiln_world *world, const char *name)
{
    double v[3];
    for (int k = 0; k < 3; k++) {
        char part[128];
        snprintf(part, sizeof part, "%s.%c", name, 'x' + k);
        v[k] = value(world, part);
    }
    return kiln_v3(v[0], v[1], v[2]);
}

static void assert_near(kiln_vec3 a, kiln_vec3 b, double tolerance)
{
    double off = kiln_v3_norm(kiln_v3_sub(a, b));
    ck_assert_msg(off <= tolerance, "(%.12g %.12g %.12g), not (%.12g %.12g %.12g): off by %g", a.x,
                  a.y, a.z, b.x, b.y, b.z, off);
}

static void shift_body(kiln_scene_body *body, kiln_vec3 by)
{
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i] = kiln_v3_add(body->mesh.points.data[i], by);
}

/* What bodies have is what they are made of, and together what stats.csv says. */
START_TEST(bodies_add_up)
{
    begin();
    scene->solid.mass = _i ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED;
    scene_body(scene, "box", "lx=1 ly=0.5 lz=0.5 nx=3 ny=2 nz=2")->velocity =
        kiln_quantity_vector(kiln_v3(1, 2, 3));
    scene_material(scene, "stable-neo-hookean", 2e5, 0.48, 500);
    scene->materials.data[1].base.nodal_pressure = true;
    kiln_scene_body *other = scene_body(scene, "ball", "radius=0.4 h=0.2");
    other->spin = kiln_v3(0, 0, 4);
    shift_body(other, kiln_v3(1e3, 2, 0));
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -9.81));
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    kiln_world *world = scene_world(scene);
    ck_assert_uint_eq(kiln_world_probe_count(world), 9 + 12 + 12);
    assert_near(vector(world, "body1.centre"), kiln_v3(0.5, 0.25, 0.25), 1e-12);
    assert_near(vector(world, "body2.centre"), kiln_v3(1e3, 2, 0), 1e-3);
    assert_near(vector(world, "body1.low"), kiln_v3(0, 0, 0), 0.0);
    assert_near(vector(world, "body1.high"), kiln_v3(1, 0.5, 0.5), 0.0);
    ck_assert(isnan(value(world, "hold1.force.z")));
    for (int i = 0; i < 5; i++) {
        kiln_stats stats = scene_step(world, scene->duration);
        double kinetic = value(world, "body1.e_kinetic") + value(world, "body2.e_kinetic");
        double elastic = value(world, "body1.e_elastic") + value(world, "body2.e_elastic");
        double volume = value(world, "body1.volume") + value(world, "body2.volume");
        ck_assert_double_eq_tol(kinetic, stats.e_kinetic, 1e-12 * kinetic);
        ck_assert_double_eq_tol(elastic, stats.e_elastic, 1e-9 * elastic);
        ck_assert_double_eq_tol(volume, stats.volume, 1e-12 * volume);
        ck_assert_double_gt(value(world, "body1.e_elastic"), 0.0);
        ck_assert_double_eq(value(world, "hold1.force.z"), stats.rz);
    }
    end(world);
}
END_TEST

/* Names that are none for a column, and names that are taken. */
START_TEST(columns_have_names_of_their_own)
{
    begin();
    snprintf(scene_body(scene, "box", "n=1")->name, KILN_NAME_SIZE, "a, \"b\"");
    snprintf(scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7)->name, KILN_NAME_SIZE, "a");
    snprintf(scene_hold(scene, scene_slab(scene, 0.9, 1.1), 7)->name, KILN_NAME_SIZE, "a");
    add_probe("", 0, whole);
    add_probe("hold2", -1, kiln_v3(0, 0, 0));
    add_probe("1+1", -1, kiln_v3(0, 0, 0));
    kiln_world *world = scene_world(scene);
    size_t count = kiln_world_probe_count(world);
    ck_assert_uint_eq(count, 2 * 9 + 12 + 2 * 6);
    ck_assert_str_eq(kiln_world_probe_name(world, 0), "a.place.x");
    ck_assert_str_eq(kiln_world_probe_name(world, 9), "hold2.place.x");
    ck_assert_str_eq(kiln_world_probe_name(world, 18), "a___b_.centre.x");
    ck_assert_str_eq(kiln_world_probe_name(world, 30), "point1.place.x");
    ck_assert_str_eq(kiln_world_probe_name(world, 36), "__1.place.x");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(kiln_world_probe_name(world, i), kiln_world_probe_name(world, k));
    end(world);
}
END_TEST

/* One turn a second about a line beside the block. */
static kiln_status whirl(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = -2.0 * KILN_PI * (at->world.y - 3.0);
    out[1] = 2.0 * KILN_PI * at->world.x;
    out[2] = 0.5 * at->world.z;
    return KILN_OK;
}

/* Points of a block that is turned and stretched while its mesh changes under them: the nearest to
 * what the scene says, and where the field carries them. */
START_TEST(points_go_through_remeshing)
{
    begin();
    scene_body(scene, "box", "lx=2 ly=1 lz=1 nx=4 ny=2 nz=2");
    scene->velocity_field = (kiln_quantity){.evaluate = whirl, .self = scene};
    scene->has_velocity_field = true;
    scene->remesh.method = _i ? KILN_REMESH_GLOBAL : KILN_REMESH_LOCAL;
    scene->materials.data[0].base.plastic =
        (kiln_plastic){.flows = _i == 1, .yield = 1e3, .rate = 20.0};
    scene->remesh.condition = 1.2; /* at once */
    scene->remesh.size = 0.3;
    add_probe("corner", 0, kiln_v3(2, 1, 1));
    add_probe("inside", -1, kiln_v3(0.9, 0.4, 0.3));
    add_probe("beyond", -1, kiln_v3(5, 0.5, 0.5));
    kiln_world *world = scene_world(scene);
    const kiln_vec3 start[3] = {{2, 1, 1}, {0.9, 0.4, 0.3}, {2, 0.5, 0.5}};
    const char *const names[3] = {"corner.place", "inside.place", "beyond.place"};
    const char *const speeds[3] = {"corner.velocity", "inside.velocity", "beyond.velocity"};
    for (int k = 0; k < 3; k++)
        assert_near(vector(world, names[k]), start[k], 1e-12);
    double changed = 0.0;
    for (int i = 0; i < 25; i++)
        changed += scene_step(world, scene->duration).changed;
    ck_assert_double_gt(changed, _i ? 0.0 : 50.0);
    double time = kiln_world_get_state(world)->clock.time, angle = 2.0 * KILN_PI * time;
    for (int k = 0; k < 3; k++) {
        kiln_vec3 arm = kiln_v3(start[k].x, start[k].y - 3.0, 0);
        kiln_vec3 there = kiln_m3_apply(kiln_m3_rotation(kiln_v3(0, 0, 1), angle), arm);
        there = kiln_v3_add(there, kiln_v3(0, 3.0, start[k].z * exp(0.5 * time)));
        /* The field is followed to second order in dt, new surfaces keep to their band. */
        assert_near(vector(world, names[k]), there, _i ? 0.05 : 0.01);
        double v[3];
        kiln_circumstances at = {.world = vector(world, names[k])};
        ck_assert_int_eq(whirl(NULL, &at, v, 3, NULL), KILN_OK);
        assert_near(vector(world, speeds[k]), kiln_v3(v[0], v[1], v[2]), 1.0);
    }
    end(world);
}
END_TEST

/* Two lumps that become one: the first has it all, the second no numbers of its own; a point of the
 * second goes on where it was. */
START_TEST(bodies_that_merge_have_the_numbers_of_the_first)
{
    begin();
    scene->materials.data[0].base.plastic =
        (kiln_plastic){.flows = true, .yield = 1e3, .rate = 20.0};
    scene->pace.dt = 0.02;
    scene->remesh.method = KILN_REMESH_GLOBAL;
    for (int i = 0; i < 2; i++) {
        kiln_scene_body *ball = scene_body(scene, "ball", "h=0.5");
        shift_body(ball, kiln_v3(i ? 1.2 : -1.2, 0, 0));
        ball->velocity = kiln_quantity_vector(kiln_v3(i ? -1.0 : 2.0, 0, 0));
    }
    add_probe("core", 1, kiln_v3(1.2, 0, 0));
    add_probe("", 0, whole);
    add_probe("", 1, whole);
    kiln_world *world = scene_world(scene);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_vec3 place = vector(world, "core.place");
    double volume = value(world, "body1.volume") + value(world, "body2.volume");
    for (int i = 0; i < 30 && mesh->parts.count == 2; i++) {
        ck_assert(!isnan(value(world, "body2.centre.x")));
        scene_step(world, scene->duration);
        kiln_vec3 now = vector(world, "core.place");
        ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(now, place)), 0.03 + 1e-3);
        place = now;
    }
    ck_assert_uint_eq(mesh->parts.count, 1);
    ck_assert(isnan(value(world, "body2.centre.x")) && isnan(value(world, "body2.volume")));
    ck_assert_double_eq_tol(value(world, "body1.volume"), volume, 0.1 * volume);
    ck_assert_double_gt(value(world, "body1.high.x"), 1.5);
    kiln_soup frame;
    ck_assert_int_eq(kiln_world_frame(world, &frame, NULL), KILN_OK);
    const double *body = kiln_soup_find_field(&frame, KILN_ON_TET, "body")->data.data;
    for (size_t t = 0; t < frame.tets.count; t++)
        ck_assert_double_eq(body[t], 1.0);
    kiln_soup_free(&frame);
    end(world);
}
END_TEST

/* A step that is taken back leaves points, and what holds did, as they were. */
START_TEST(a_step_that_is_taken_back_leaves_no_trace)
{
    begin();
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -9.81));
    scene_body(scene, "box", "lx=2 ly=1 lz=1 nx=4 ny=2 nz=2");
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.size = 0.3;
    add_probe("tip", -1, kiln_v3(2, 1, 1));
    add_probe("", 0, whole);
    kiln_world *world = scene_world(scene);
    double row[2][27];
    ck_assert_uint_eq(kiln_world_probe_count(world), 27);
    for (int i = 0; i < 3; i++)
        scene_step(world, scene->duration);
    ck_assert_int_eq(kiln_world_probe(world, row[0], NULL), KILN_OK);
    for (long k = 1; k < 400; k += 7) {
        kiln_stats stats;
        bool gave_up;
        kiln_diagnosis diagnosis;
        heap.fail_at = heap.calls + (uint64_t)k;
        kiln_status status =
            kiln_world_step(world, scene->duration, &stats, &gave_up, &diagnosis, NULL);
        heap.fail_at = 0;
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(kiln_world_probe(world, row[1], NULL), KILN_OK);
        for (int i = 0; i < 27; i++) /* energies of a single body are those of the step */
            if (i != 20)
                ck_assert_msg(row[0][i] == row[1][i], "%s: %.17g, not %.17g",
                              kiln_world_probe_name(world, (size_t)i), row[1][i], row[0][i]);
    }
    end(world);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("probes");
    TCase *all = kiln_test_case(suite, "probes");
    tcase_add_loop_test(all, bodies_add_up, 0, 2);
    tcase_add_test(all, columns_have_names_of_their_own);
    tcase_add_loop_test(all, points_go_through_remeshing, 0, 2);
    tcase_add_test(all, bodies_that_merge_have_the_numbers_of_the_first);
    tcase_add_test(all, a_step_that_is_taken_back_leaves_no_trace);
    return suite;
}

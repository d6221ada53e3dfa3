/* Remeshing by energy inside runs: what becomes of the energy of motion. */
#include "scenes.h"

#include <math.h>

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void open_scene(const char *file, double dt)
{
    scene_open(scene, file, &heap);
    scene->pace.dt = dt;
    scene->solid.integrator = KILN_NEWMARK;
    scene->remesh.method = KILN_REMESH_ENERGY;
}

static double energy_of(const kiln_stats *stats)
{
    return stats->e_kinetic + stats->e_elastic + (isnan(stats->e_contact) ? 0.0 : stats->e_contact);
}

/* A coarse ball along an axis that is turned from x. */
static void add_ball(double x, double speed, double h, double turn)
{
    const kiln_mat3 turned = kiln_m3_rotation(kiln_v3(0, 0, 1), turn);
    char shape[64];
    (void)snprintf(shape, sizeof shape, "radius=0.1 h=%g", h);
    kiln_scene_body *body = scene_body(scene, "ball", shape);
    for (size_t i = 0; i < body->mesh.points.count; i++) {
        kiln_vec3 *p = &body->mesh.points.data[i];
        *p = kiln_m3_apply(turned, kiln_v3_add(*p, kiln_v3(x, 0.01 * x, 0)));
    }
    body->velocity = kiln_quantity_vector(kiln_m3_apply(turned, kiln_v3(speed, 0, 0)));
}

/* Surfaces that are split where they are pressed repel each other with more energy than there was.
 * Once that went to light vertices between two balls, which then gained 6 % of theirs while they
 * parted and took up to 100 iterations a step. */
START_TEST(balls_part_with_no_more_than_they_had)
{
    open_scene("balls.lua", 0.003);
    scene->contact.bodies = scene->contact.self = true;
    scene->remesh.split = 4e-3;
    scene_material(scene, "neo-hookean", 1e5, 0.4, 1000);
    add_ball(-0.11, 1.0, 0.07, 0.0);
    add_ball(0.11, -0.5, 0.07, 0.0);
    kiln_world *world = scene_world(scene);
    double start = NAN, most = 0.0, least = INFINITY, after = 0.0, splits = 0.0;
    for (int step = 0; step < 28; step++) {
        kiln_stats stats = scene_step(world, scene->duration);
        double energy = energy_of(&stats);
        start = step == 0 ? energy : start;
        most = fmax(most, energy);
        after = energy < least ? 0.0 : fmax(after, energy - least);
        least = fmin(least, energy);
        splits += stats.splits;
        ck_assert_msg(stats.newton <= 20, "step %d: %g iterations", step, (double)stats.newton);
        ck_assert_double_eq(stats.rejected, 0.0);
    }
    ck_assert_double_gt(splits, 50.0);
    ck_assert_msg(most < 1.001 * start, "%g J of %g", most, start);
    ck_assert_msg(after < 0.002 * start, "%g J of %g came back", after, start);
    ck_assert_msg(least > 0.955 * start, "%g J of %g are left", least, start);
    scene_close(scene, world, &heap);
}
END_TEST

/* What pairs of coarse surfaces give too much in long steps is taken from what vibrates, however
 * much of that it is: a step by implicit Euler for it took five times as much, and such balls lost
 * 12 to 18 %. */
START_TEST(balls_from_anywhere_keep_theirs)
{
    static const struct {
        double h, split, turn;
    } views[] = {{0.07, 4e-3, 0.7}, {0.05, 1e-3, 0.7}, {0.05, 1e-3, 0.3}, {0.05, 1e-3, 1.1}};
    open_scene("balls.lua", 0.003);
    scene->contact.bodies = scene->contact.self = true;
    scene->remesh.split = views[_i].split;
    scene_material(scene, "neo-hookean", 1e5, 0.4, 1000);
    add_ball(-0.11, 1.0, views[_i].h, views[_i].turn);
    add_ball(0.11, -0.5, views[_i].h, views[_i].turn);
    kiln_world *world = scene_world(scene);
    double start = NAN, end = NAN;
    for (int step = 0; step < 28; step++) {
        kiln_stats stats = scene_step(world, scene->duration);
        end = energy_of(&stats);
        start = step == 0 ? end : start;
        ck_assert_msg(end < 1.001 * start, "%g J of %g", end, start);
    }
    ck_assert_msg(end > 0.955 * start, "%g J of %g are left", end, start);
    scene_close(scene, world, &heap);
}
END_TEST

static kiln_status bend(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = out[1] = 0.0;
    out[2] = 2.0 * at->material.x * at->material.x;
    return KILN_OK;
}

/* What the mesh was too stiff by: a bar that swings keeps 0.973 of its energy while it is refined,
 * 0.964 if what is made and moved begins on the chords of the old mesh, and 0.953 if what changes
 * take of the elastic part is not given back to the motion either. */
START_TEST(what_flips_and_moves_take_goes_back_to_what_swings)
{
    open_scene("swing.lua", 0.005);
    scene->remesh.split = 2e-3;
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
    kiln_scene_body *body = scene_body(scene, "box", "lx=1 ly=0.2 lz=0.2 nx=6 ny=2 nz=2");
    body->velocity = (kiln_quantity){.evaluate = bend, .self = scene};
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    kiln_world *world = scene_world(scene);
    double start = NAN, last = NAN, changes = 0.0;
    for (int step = 0; step < 80; step++) {
        kiln_stats stats = scene_step(world, scene->duration);
        last = energy_of(&stats);
        start = step == 0 ? last : start;
        changes += stats.flips + stats.moves;
    }
    ck_assert_double_gt(changes, 50.0);
    ck_assert_msg(last > 0.969 * start && last < start, "%g J of %g", last, start);
    scene_close(scene, world, &heap);
}
END_TEST

/* A bar that swings, its first steps: changes of a kind. */
static kiln_stats swing_for(int steps, double split, double part, double collapse_part)
{
    kiln_stats sum = {0};
    open_scene("swing.lua", 0.005);
    scene->remesh.split = split;
    scene->remesh.part = part;
    scene->remesh.collapse_part = collapse_part;
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
    kiln_scene_body *body = scene_body(scene, "box", "lx=1 ly=0.2 lz=0.2 nx=6 ny=2 nz=2");
    body->velocity = (kiln_quantity){.evaluate = bend, .self = scene};
    scene_hold(scene, scene_slab(scene, -1e-9, 1e-9), 7);
    kiln_world *world = scene_world(scene);
    for (int step = 0; step < steps; step++) {
        kiln_stats stats = scene_step(world, scene->duration);
        sum.splits += stats.splits;
        sum.collapses += stats.collapses;
    }
    scene_close(scene, world, &heap);
    return sum;
}

/* The less of the two is asked for. */
START_TEST(tolerances_may_be_parts_of_the_energy)
{
    ck_assert_double_eq(swing_for(6, 1e3, 0.0, 0.0).splits, 0.0);
    double parts = swing_for(6, 1e3, 1e-5, 0.0).splits;
    ck_assert_double_gt(parts, 10.0);
    ck_assert_double_eq(swing_for(6, 0.0, 1e-5, 0.0).splits, parts);
    ck_assert_double_eq(swing_for(6, 1e-12, 1e3, 0.0).splits, swing_for(6, 1e-12, 0.0, 0.0).splits);
}
END_TEST

START_TEST(in_motion_collapses_cost_what_splits_gain)
{
    double by_preset = swing_for(30, 2e-3, 0.0, 0.0).collapses;
    ck_assert_double_eq(by_preset, swing_for(30, 2e-3, 0.0, 1.0).collapses);
    ck_assert_double_gt(by_preset, swing_for(30, 2e-3, 0.0, 1e-2).collapses);
}
END_TEST

/* A bar that is bent by a blow and comes to rest: how many vertices it then has. */
static double rest(bool contact)
{
    kiln_stats stats = {0};
    open_scene("rest.lua", 0.02);
    scene->duration = 2.0;
    scene->solid.integrator = KILN_IMPLICIT_EULER;
    scene->remesh.split = 1e-4;
    scene->contact.bodies = scene->contact.self = contact;
    scene_material(scene, "neo-hookean", 1e5, 0.3, 1000);
    kiln_scene_body *body = scene_body(scene, "box", "lx=1 ly=0.2 lz=0.2 nx=6 ny=2 nz=2");
    body->velocity = (kiln_quantity){.evaluate = bend, .self = scene};
    kiln_world *world = scene_world(scene);
    for (int step = 0; step < 60; step++)
        stats = scene_step(world, scene->duration);
    scene_close(scene, world, &heap);
    return (double)stats.vertices;
}

/* A vertex that goes comes to the faces of the one that it becomes: that is no contact. Once it
 * was: 137 vertices stayed where there are 63 without contact. */
START_TEST(what_touches_nothing_may_go)
{
    double alone = rest(false), guarded = rest(true);
    ck_assert_msg(guarded < 1.4 * alone, "%g vertices, without contact %g", guarded, alone);
}
END_TEST

/* What rounding stores is no reason to split: bodies at rest had 40 times their tets after 20
 * steps. */
START_TEST(matter_at_rest_keeps_its_mesh)
{
    open_scene("rest.lua", 0.01);
    scene_material(scene, "neo-hookean", 1e7, 0.3, 1000);
    add_ball(-0.3, 0.0, 0.1, 0.4);
    add_ball(_i ? 3e5 : 0.3, 0.0, 0.1, 1.1);
    kiln_world *world = scene_world(scene);
    for (int step = 0; step < 8; step++) {
        kiln_stats stats = scene_step(world, scene->duration);
        ck_assert_double_eq(stats.splits, 0.0);
    }
    scene_close(scene, world, &heap);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("remesh_energy");
    TCase *cases = kiln_test_case(suite, "energy");
    tcase_add_test(cases, balls_part_with_no_more_than_they_had);
    tcase_add_loop_test(cases, balls_from_anywhere_keep_theirs, 0, 4);
    tcase_add_test(cases, what_flips_and_moves_take_goes_back_to_what_swings);
    tcase_add_test(cases, tolerances_may_be_parts_of_the_energy);
    tcase_add_test(cases, in_motion_collapses_cost_what_splits_gain);
    tcase_add_test(cases, what_touches_nothing_may_go);
    tcase_add_loop_test(cases, matter_at_rest_keeps_its_mesh, 0, 2);
    return suite;
}

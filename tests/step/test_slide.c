/* What slides with friction slides steadily (step/solid_slide.c). */
#include "energy_block.h"

#include "base/hash.h"

static const kiln_integrator integrators[] = {KILN_NEWMARK, KILN_BDF2, KILN_IMPLICIT_EULER};
enum { SURFACES, POINTS };

static void add_plane(rig *r, double height, double friction)
{
    kiln_error error = {0};
    kiln_obstacle_shape shape = {
        .kind = KILN_OBSTACLE_PLANE, .point = {0, 0, height}, .normal = {0, 0, 1}};
    rig_check(kiln_obstacle_create(r->context, &shape, friction, &r->obstacles[r->obstacle_count++],
                                   &error),
              &error);
}

/* Of validation's C6: on a slope of that tangent, friction 0.5. */
static rig laid_block(kiln_integrator integrator, double tangent, int how, int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=0.2 ly=0.2 lz=0.1 nx=4 ny=4 nz=2");
    double c = 1.0 / sqrt(1.0 + tangent * tangent);
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e6, 0.3, 1000), integrator);
    r.gravity = kiln_v3(9.81 * tangent * c, 0, -9.81 * c);
    r.options.friction_speed = 1e-3;
    r.options.contact.walls = how == SURFACES;
    r.options.contact.thickness = 1e-3;
    add_plane(&r, 0.0, 0.5);
    return r;
}

/* As it flies down the slope, m/s: the mean over the last tenth of a second. */
static double speed_of(rig *r, double h, double until)
{
    double way = 0.0, time = 0.0;
    while (r->clock.time < until - 0.5 * h) {
        rig_step(r, h);
        kiln_motion_sums sums = rig_sums(r);
        if (r->clock.time > until - 0.1) {
            way += h * sums.momentum.x / sums.mass;
            time += h;
        }
    }
    return way / time;
}

/* A stiff one creeps at 0.8586 mm/s; this one went at 20 to 100. */
START_TEST(a_block_creeps)
{
    rig r = laid_block(integrators[_i % 2], 0.49, _i / 2, 1);
    rig_build(&r);
    double h = _i % 2 ? 0.00125 : 0.0025;
    ck_assert_double_eq_tol(1e3 * speed_of(&r, h, 0.6), 0.8586, 0.02);
    double beta = rig_column(&r, "sliding")[0];
    ck_assert_double_gt(beta, 0.3);
    ck_assert_double_le(beta, 0.5);
    rig_free(&r);
}
END_TEST

START_TEST(it_flutters_if_it_is_let)
{
    rig r = laid_block(KILN_NEWMARK, 0.49, SURFACES, 1);
    r.options.contact.flutters = true;
    rig_build(&r);
    ck_assert_ptr_null(kiln_mesh_field(r.mesh, KILN_ON_VERTEX, "sliding"));
    ck_assert_double_gt(1e3 * speed_of(&r, 0.0025, 0.4), 5.0);
    rig_free(&r);
}
END_TEST

static uint64_t hash_of(kiln_integrator integrator, int threads, bool resumed)
{
    rig r = laid_block(integrator, 0.6, SURFACES, threads);
    rig_build(&r);
    for (int i = 0; i < 40; i++) {
        rig_step(&r, 0.001);
        if (resumed) {
            kiln_solid_destroy(r.solid);
            rig_build(&r);
        }
    }
    ck_assert_double_gt(rig_column(&r, "sliding")[0], 0.05);
    uint64_t hash = kiln_hash_bytes(kiln_mesh_hash(r.mesh), &r.clock, sizeof r.clock);
    rig_free(&r);
    return hash;
}

START_TEST(same_bits)
{
    uint64_t hash = hash_of(integrators[_i], 1, false);
    ck_assert_uint_eq(hash, hash_of(integrators[_i], 2, false));
    ck_assert_uint_eq(hash, hash_of(integrators[_i], 1, true));
}
END_TEST

/* What lies on a slope that is not steep sticks, and needs nothing. */
START_TEST(what_sticks_is_not_damped)
{
    rig r = laid_block(KILN_IMPLICIT_EULER, 0.2, SURFACES, 1);
    rig_build(&r);
    for (int i = 0; i < 60; i++)
        rig_step(&r, 0.005);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_double_eq(rig_column(&r, "sliding")[v], 0.0);
    rig_free(&r);
}
END_TEST

static double energy_of(const rig *r)
{
    return rig_sums(r).kinetic + kiln_solid_elastic_energy(r->solid, &r->mesh->x[0].x);
}

/* Off the ground it vibrates on, whatever it did before, and forgets it. */
START_TEST(what_flies_is_not_damped)
{
    rig r = laid_block(KILN_NEWMARK, 0.0, SURFACES, 1);
    r.gravity = kiln_v3(0, 0, 0);
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        rig_v(&r)[v] = kiln_v3(1.0, 0.1 * r.mesh->u[v].x, 1.0 + 2.0 * r.mesh->u[v].z);
        r.mesh->x[v].z += 0.1;
        rig_column(&r, "sliding")[v] = -0.5;
    }
    double begin = energy_of(&r);
    for (int i = 0; i < 200; i++)
        rig_step(&r, 0.002);
    ck_assert_double_eq_tol(energy_of(&r), begin, 1e-4 * begin);
    ck_assert_double_eq(rig_column(&r, "sliding")[0], 0.0);
    rig_free(&r);
}
END_TEST

/* Vertical speed with which a block leaves that flew onto the plane at a slant. */
static double bounce(bool flutters)
{
    rig r = laid_block(KILN_NEWMARK, 0.0, SURFACES, 1);
    r.gravity = kiln_v3(0, 0, 0);
    r.options.contact.flutters = flutters;
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(3, 0, -1);
    for (int i = 0; i < 120; i++)
        rig_step(&r, 0.00025);
    kiln_motion_sums sums = rig_sums(&r);
    rig_free(&r);
    return sums.momentum.z / sums.mass;
}

START_TEST(a_blow_keeps_its_bounce)
{
    double free = bounce(true);
    ck_assert_double_gt(free, 0.5);
    ck_assert_double_eq_tol(bounce(false), free, 0.02 * free);
}
END_TEST

/* Momentum, angular momentum: of a block that turns, vibrates and is damped, in the void. */
START_TEST(damping_moves_nothing)
{
    rig r = laid_block(integrators[_i], 0.0, SURFACES, 1);
    r.gravity = kiln_v3(0, 0, 0);
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = r.mesh->u[v];
        rig_v(&r)[v] = kiln_v3(1.0 - 20 * u.y, 20 * u.x, 1.0 + 5 * u.z * u.x);
        r.mesh->x[v].z += 0.1;
    }
    kiln_motion_sums begin = rig_sums(&r);
    double energy = energy_of(&r);
    for (int i = 0; i < 20; i++) {
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            rig_column(&r, "sliding")[v] = 0.5;
        rig_step(&r, 0.001);
    }
    kiln_motion_sums end = rig_sums(&r);
    kiln_vec3 p = kiln_v3_sub(end.momentum, begin.momentum);
    kiln_vec3 l = kiln_v3_sub(end.angular_momentum, begin.angular_momentum);
    ck_assert_double_le(kiln_v3_norm(p), 1e-9 * kiln_v3_norm(begin.momentum));
    ck_assert_double_le(kiln_v3_norm(l), 1e-6 * kiln_v3_norm(begin.angular_momentum));
    ck_assert_double_lt(energy_of(&r), energy);
    rig_free(&r);
}
END_TEST

/* Patches of remeshing by energy have the damping of the step. */
START_TEST(a_patch_is_damped_as_the_step)
{
    kiln_integrator integrator = integrators[_i % 3];
    kiln_material material = rig_material("neo-hookean", 1e5, 0.4, 1000);
    material.nodal_pressure = _i / 3;
    rig r = make_block_of(material, integrator, 1);
    ck_assert_int_eq(kiln_mesh_add_field(r.mesh, KILN_FIELD_STEADY, KILN_ON_TET, KILN_F64, 1,
                                         KILN_RULE_COPY, NULL),
                     KILN_OK);
    kiln_solid_destroy(r.solid);
    add_plane(&r, -10.0, 0.5);
    r.options.contact.walls = true;
    r.options.contact.thickness = 1e-3;
    rig_build(&r);
    rig_step(&r, 0.01);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        rig_column(&r, "sliding")[v] = 0.5;
    kiln_local_objective o = try_block(&r, 0.01);
    ck_assert(o.brief.steady && o.steady && o.steady[0] > 0.0);
    check_patch_of(&r, &o, inner_vertex(r.mesh), integrator != KILN_NEWMARK);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("slide");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, a_block_creeps, 0, 4);
    tcase_add_test(all, it_flutters_if_it_is_let);
    tcase_add_loop_test(all, same_bits, 0, 3);
    tcase_add_test(all, what_sticks_is_not_damped);
    tcase_add_test(all, what_flies_is_not_damped);
    tcase_add_test(all, a_blow_keeps_its_bounce);
    tcase_add_loop_test(all, damping_moves_nothing, 0, 3);
    tcase_add_loop_test(all, a_patch_is_damped_as_the_step, 0, 6);
    suite_add_tcase(suite, all);
    return suite;
}

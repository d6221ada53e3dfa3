/* No step makes energy, however violent the blow (step/solid_energy.c), and none that is led or
 * loaded is taken for one that does. */
#include "rig.h"

#include "base/hash.h"

typedef struct blow {
    double young, h, thickness, speed, along, friction;
    double turned; /* rad, about x */
    double least;  /* of the energy, kept under newmark */
} blow;

static kiln_obstacle *plane(kiln_context *context, double friction)
{
    kiln_obstacle *made = NULL;
    kiln_error error = {0};
    kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_PLANE, .normal = {0, 0, 1}};
    rig_check(kiln_obstacle_create(context, &shape, friction, &made, &error), &error);
    return made;
}

/* A cube of 0.1 m, 2 cm above a plane. Tolerance 0: the preset. */
static rig thrown(const blow *b, kiln_integrator integrator, double tolerance, int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=0.1 ly=0.1 lz=0.1 n=3");
    rig r = rig_of(context, mesh, rig_material("neo-hookean", b->young, 0.4, 1000), integrator);
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(1, 0.3, 0), b->turned);
    double low = INFINITY;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        mesh->x[v] = kiln_m3_apply(turn, mesh->u[v]);
        low = fmin(low, mesh->x[v].z);
    }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v].z += 0.02 - low;
    r.obstacles[r.obstacle_count++] = plane(context, b->friction);
    r.options.contact.walls = true;
    r.options.contact.thickness = b->thickness;
    r.options.newton.tolerance = tolerance;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(b->along, 0, -b->speed);
    return r;
}

static double energy_of(const rig *r)
{
    return rig_sums(r).kinetic + kiln_solid_elastic_energy(r->solid, &r->mesh->x[0].x) +
           r->report.e_contact;
}

/* Without judgement of steps newmark has 1.6, 1070, 1.02, 1.005, 5.1, 1.4 and 1.001 times its
 * energy, bdf2 1.6, 1, 1, 1, 1, 2.3 and 1.4. */
static const blow blows[] = {
    {1e9, 5e-3, 1e-4, 1, 0, 0, 0, 0.0},    {1e9, 5e-3, 1e-3, 1, 0, 0, 0.5, 0.0},
    {1e6, 5e-3, 1e-3, 1, 0, 0, 0, 0.98},   {1e6, 1e-3, 1e-3, 1, 0, 0, 0, 0.998},
    {1e6, 2e-2, 1e-3, 3, 3, 0.5, 0.35, 0}, {1e6, 1e-2, 1e-3, 100, 0, 0, 0, 0.0},
    {1e9, 1e-3, 1e-2, 10, 0, 0, 0, 0.998},
};
enum { BLOWS = sizeof blows / sizeof blows[0], STEPS = 25 };

START_TEST(never_gains)
{
    const blow *b = &blows[_i % BLOWS];
    kiln_integrator integrator = _i < BLOWS ? KILN_NEWMARK : KILN_BDF2;
    rig r = thrown(b, integrator, 0.0, 1);
    double begin = energy_of(&r), most = 0.0;
    for (int i = 0; i < STEPS || r.report.contacts > 0; i++) { /* until it has left */
        rig_step(&r, b->h);
        most = fmax(most, energy_of(&r));
    }
    if (most > 1.001 * begin)
        ck_abort_msg("%s, blow %d: %g times the energy", kiln_integrator_name(integrator),
                     _i % BLOWS, most / begin);
    if (integrator == KILN_NEWMARK)
        ck_assert_double_ge(energy_of(&r), b->least * begin);
    rig_free(&r);
}
END_TEST

/* Whatever was given back: what the plane is said to give is what momentum gains. */
START_TEST(says_the_force)
{
    const blow *b = &blows[_i % BLOWS];
    rig r = thrown(b, _i < BLOWS ? KILN_NEWMARK : KILN_BDF2, 1e-9, 1);
    kiln_vec3 kept = {0, 0, 0};
    for (int i = 0; i < STEPS; i++) {
        kiln_motion_sums before = rig_sums(&r);
        kiln_push force, torque;
        rig_step(&r, b->h);
        kiln_push_rule rule = kiln_solid_push_rule(r.solid);
        kiln_solid_obstacle_push(r.solid, 0, before.centre, &force, &torque);
        kiln_vec3 gave = kiln_v3_scale(kiln_push_mean(&rule, &force, &kept), b->h);
        kiln_vec3 gained = kiln_v3_sub(rig_sums(&r).momentum, before.momentum);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(gave, gained)), 1e-4 * b->speed);
    }
    rig_free(&r);
}
END_TEST

START_TEST(same_bits)
{
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; threads++) {
        rig r = thrown(&blows[_i], KILN_NEWMARK, 0.0, threads);
        for (int i = 0; i < 20; i++)
            rig_step(&r, blows[_i].h);
        hash[threads - 1] = kiln_hash_bytes(kiln_mesh_hash(r.mesh), &r.clock, sizeof r.clock);
        rig_free(&r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

/* Work that is done. */

enum { SHAKEN, PUSHED, PRESSED, HIT, LEGAL };

static void do_work(rig *r, kiln_solid *solid, double time, double load)
{
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_constraints *held = kiln_solid_constraints(solid);
    (void)load;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used && r->parameter == SHAKEN; v++)
        if (mesh->u[v].z > 0.099) {
            held->held[v] = 7;
            held->target[v] = kiln_v3_add(
                mesh->u[v], kiln_v3(0.05 * sin(30 * time), 0, 0.02 + 0.02 * sin(50 * time)));
        }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used && r->parameter == PUSHED; v++)
        kiln_loads_add_force(kiln_solid_loads(solid), v,
                             kiln_v3(0.5 * exp(-10 * time), 0, 0.2 * cos(40 * time)));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && r->parameter == PRESSED; f++)
        ck_assert_int_eq(
            kiln_loads_add_pressure(kiln_solid_loads(solid), f, 1e4 * cos(40 * time), NULL),
            KILN_OK);
    if (r->parameter == HIT) {
        kiln_pose pose = {.rotation = kiln_m3_identity(), .shift = {0, 0, time}};
        pose.linear = kiln_v3(0, 0, 1);
        kiln_obstacle_set_pose(r->obstacles[0], &pose);
        kiln_obstacle_set_begin(r->obstacles[0], kiln_m3_identity(), kiln_v3(0, 0, r->clock.time));
    }
}

START_TEST(work_is_no_gain)
{
    const blow still = {.young = 1e5, .thickness = 1e-3, .h = 1e-3, .friction = 0.3};
    rig r = thrown(&still, _i < LEGAL ? KILN_NEWMARK : KILN_BDF2, 0.0, 1);
    double most = 0.0;
    r.set = do_work;
    r.parameter = _i % LEGAL;
    for (int i = 0; i < 100; i++) {
        rig_step(&r, still.h);
        ck_assert_double_eq(r.report.energy_taken, 0.0);
        most = fmax(most, energy_of(&r));
    }
    ck_assert_double_gt(most, 1e-3);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy");
    TCase *tc = kiln_test_case(suite, "energy");
    tcase_add_loop_test(tc, never_gains, 0, 2 * BLOWS);
    tcase_add_loop_test(tc, says_the_force, 0, 2 * BLOWS);
    tcase_add_loop_test(tc, same_bits, 0, BLOWS);
    tcase_add_loop_test(tc, work_is_no_gain, 0, 2 * LEGAL);
    suite_add_tcase(suite, tc);
    return suite;
}

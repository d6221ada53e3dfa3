/* What walls take of vertices that tremble before them, and give back (step/solid_tremble.c). */
#include "rig.h"

#include "base/hash.h"

/* A bar of 1 m, c = 31.6 m/s, at the reach of a plane to which it flies at 0.1 m/s. */
static const double stress = 3162.28, area = 0.01, contact = 0.0632456;

static rig flying_bar(int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=0.1 ly=0.1 lz=1 nx=1 ny=1 nz=20");
    kiln_error error = {0};
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e6, 0.0, 1000), KILN_NEWMARK);
    kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_PLANE, .normal = {0, 0, 1}};
    rig_check(kiln_obstacle_create(context, &shape, 0.0, &r.obstacles[r.obstacle_count++], &error),
              &error);
    r.options.contact.walls = true;
    r.options.contact.thickness = 1e-4;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0, 0, -0.1);
    return r;
}

static double energy_of(const rig *r)
{
    return rig_sums(r).kinetic + kiln_solid_elastic_energy(r->solid, &r->mesh->x[0].x) +
           r->report.e_contact;
}

/* Over a step, from the momentum. */
static double step_force(rig *r, double h)
{
    double before = rig_sums(r).momentum.z;
    rig_step(r, h);
    return (rig_sums(r).momentum.z - before) / h;
}

/* It was 0 to 4 times the force that is expected, at any step; waves of a bar of 20 cells ripple by
 * 2 %. */
START_TEST(force_is_calm)
{
    double h = 4e-4 * pow(2.0, _i - 1);
    rig r = flying_bar(1);
    double begin = energy_of(&r), low = INFINITY, high = 0.0;
    while (r.clock.time < 1.2 * contact) {
        double force = step_force(&r, h) / (stress * area);
        ck_assert_double_le(energy_of(&r), 1.0005 * begin);
        if (r.clock.time < 0.25 * contact || r.clock.time > 0.75 * contact)
            continue;
        low = fmin(low, force);
        high = fmax(high, force);
    }
    ck_assert_double_ge(low, 0.96);
    ck_assert_double_le(high, 1.04);
    ck_assert_double_ge(energy_of(&r), 0.9995 * begin);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_double_eq(rig_column(&r, "wall_took")[v], 0.0);
    rig_free(&r);
}
END_TEST

static uint64_t hash_of(int threads, bool resumed)
{
    rig r = flying_bar(threads);
    while (r.clock.time < 1.1 * contact) {
        rig_step(&r, 4e-4);
        if (resumed) {
            kiln_solid_destroy(r.solid);
            rig_build(&r);
        }
    }
    uint64_t hash = kiln_hash_bytes(kiln_mesh_hash(r.mesh), &r.clock, sizeof r.clock);
    rig_free(&r);
    return hash;
}

START_TEST(same_bits)
{
    uint64_t hash = hash_of(1, false);
    ck_assert_uint_eq(hash, hash_of(2, false));
    ck_assert_uint_eq(hash, hash_of(1, true));
}
END_TEST

/* The energy of a bar that lay before a wall and leaves slowly; the wall took so much, J/kg. */
static double energy_of_leaving(double took)
{
    rig r = flying_bar(1);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        rig_v(&r)[v] = kiln_v3(0, 0, 1e-3);
        r.mesh->x[v].z -= 1e-5;
        rig_column(&r, "wall_took")[v] = took;
    }
    for (int i = 0; i < 100; i++)
        rig_step(&r, 4e-4);
    double energy = energy_of(&r);
    ck_assert_double_eq(rig_column(&r, "wall_took")[0], 0.0);
    rig_free(&r);
    return energy;
}

/* It gets no more than it leaves with, though the wall took the energy of a fall. */
START_TEST(rest_is_not_shaken)
{
    double alone = energy_of_leaving(0.0);
    ck_assert_double_lt(alone, 0.002);
    ck_assert_double_le(energy_of_leaving(0.005), 2.0 * alone);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("tremble");
    TCase *tc = kiln_test_case(suite, "tremble");
    tcase_add_loop_test(tc, force_is_calm, 0, 3);
    tcase_add_test(tc, same_bits);
    tcase_add_test(tc, rest_is_not_shaken);
    suite_add_tcase(suite, tc);
    return suite;
}

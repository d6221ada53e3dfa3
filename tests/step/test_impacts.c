/* Impacts on obstacles: what they take, give back and rub off. */
#include "rig.h"

#define G 9.81

static void add_plane(rig *r, kiln_vec3 point, kiln_vec3 normal, double friction)
{
    kiln_error error = {0};
    kiln_obstacle_shape shape = {.kind = KILN_OBSTACLE_PLANE, .point = point, .normal = normal};
    rig_check(kiln_obstacle_create(r->context, &shape, friction, &r->obstacles[r->obstacle_count],
                                   &error),
              &error);
    r->obstacle_count++;
}

static kiln_vec3 mean_v(const rig *r)
{
    kiln_motion_sums sums = rig_sums(r);
    return kiln_v3_scale(sums.momentum, 1 / sums.mass);
}

/* Frictionless impacts of elastic bodies: a block that lands flat, a ball that is squeezed. The
 * body may be turned with its plane, and all lengths and times be others. */
typedef struct impact {
    const char *shape, *arguments;
    double speed, h; /* m/s, s */
    double turn, size;
    kiln_integrator integrator;
    bool resumed; /* with a new solid for each step */
    kiln_mass_kind mass;
    kiln_mat3 posture; /* of the body on its plane; zero: as it is */
    double slant;      /* speed along the plane, of that to it */
    double young;      /* Pa; 0: 2e5 */
} impact;

typedef struct rebound {
    double end, most; /* energy, of that at the begin */
    uint64_t hash;
} rebound;

static rig impact_rig(const impact *i, int threads)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, i->shape, i->arguments);
    rig r = rig_of(context, mesh,
                   rig_material("neo-hookean", i->young > 0.0 ? i->young : 2e5, 0.3, 1000),
                   i->integrator);
    r.options.mass = i->mass;
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(0.6, 0.8, 0), i->turn);
    kiln_vec3 up = kiln_m3_apply(turn, kiln_v3(0, 0, 1)),
              along = kiln_m3_apply(turn, kiln_v3(1, 0, 0));
    if (kiln_m3_norm2(i->posture) > 0.0)
        turn = kiln_m3_mul(turn, i->posture);
    double low = INFINITY;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        mesh->u[v] = mesh->x[v] = kiln_v3_scale(kiln_m3_apply(turn, mesh->u[v]), i->size);
        low = fmin(low, kiln_v3_dot(mesh->u[v], up));
    }
    add_plane(&r, kiln_v3_scale(up, low - 2e-4 * i->size), up, 0.0);
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3_scale(kiln_v3_madd(up, -i->slant, along), -i->speed);
    return r;
}

static rebound run_impact(const impact *i, int threads)
{
    rig r = impact_rig(i, threads);
    double e0 = rig_sums(&r).kinetic, h = i->h * i->size;
    rebound result = {.most = 0.0};
    int flying = 0;
    for (bool touched = false; flying < 10;) {
        rig_step(&r, h);
        touched = touched || r.report.contacts > 0;
        flying = touched && r.report.contacts == 0 ? flying + 1 : 0;
        result.end = (rig_sums(&r).kinetic + r.report.e_elastic) / e0;
        result.most = fmax(result.most, result.end);
        ck_assert_double_lt(r.clock.time, 0.2 * i->size);
        if (i->resumed) {
            kiln_solid_destroy(r.solid);
            rig_build(&r);
        }
    }
    result.hash = kiln_mesh_hash(r.mesh);
    rig_free(&r);
    return result;
}

static const impact flat = {.shape = "box",
                            .arguments = "lx=.2 ly=.2 lz=.2 nx=3 ny=3 nz=3",
                            .speed = 1,
                            .h = 5e-4,
                            .size = 1,
                            .integrator = KILN_NEWMARK};
static const impact squeezed = {.shape = "ball",
                                .arguments = "radius=.1 h=.06",
                                .speed = 3,
                                .h = 5e-4,
                                .size = 1,
                                .integrator = KILN_NEWMARK};

/* What the vertices that touch lost (17 % and 7 %) comes back, and never more. */
START_TEST(impact_returns_energy)
{
    const impact *both[] = {&flat, &squeezed};
    for (size_t k = 0; k < 2; k++)
        for (int halved = 0; halved < 3; halved++) {
            impact i = *both[k];
            i.h = 1e-3 / (1 << halved);
            rebound newmark = run_impact(&i, 1);
            ck_assert_double_ge(newmark.end, 0.98);
            ck_assert_double_le(newmark.most, 1.0005);
            i.integrator = KILN_BDF2; /* damps besides, the less the shorter the step */
            rebound bdf2 = run_impact(&i, 1);
            ck_assert_double_ge(bdf2.end, halved == 2 ? 0.98 : 0.93);
            ck_assert_double_le(bdf2.most, 1.0005);
            i.integrator = KILN_IMPLICIT_EULER;
            ck_assert_double_le(run_impact(&i, 1).most, 1.0);
        }
}
END_TEST

/* The consistent mass moves what is about a vertex that is stopped; that comes back too. On a face,
 * an edge, a corner, askew, at a slant, stiff and soft; and never more. */
START_TEST(impact_with_consistent_mass)
{
    const kiln_mat3 edge = kiln_m3_rotation(kiln_v3(1, 0, 0), 0.785398163),
                    corner = kiln_m3_rotation(kiln_v3(0.787, 0.617, 0), 1.0),
                    askew = kiln_m3_rotation(kiln_v3(0.8, 0.6, 0), 0.21);
    const struct {
        impact what;
        kiln_mat3 posture;
        double slant, young, newmark, bdf2; /* of the energy, at least */
    } cases[] = {{flat, kiln_m3_identity(), 0, 2e5, 0.97, 0.95},
                 {flat, edge, 0, 2e5, 0.999, 0.99},
                 {flat, corner, 0, 2e5, 0.999, 0.99},
                 {flat, askew, 0, 2e5, 0.99, 0.97},
                 {flat, askew, 1.5, 2e5, 0.99, 0.97},
                 {squeezed, kiln_m3_identity(), 0, 2e5, 0.999, 0.98},
                 {squeezed, kiln_m3_identity(), 0, 5e6, 0.999, 0.96},
                 {squeezed, kiln_m3_identity(), 0, 6e4, 0.995, 0.98}};
    impact i = cases[_i].what;
    i.mass = KILN_MASS_CONSISTENT;
    i.posture = cases[_i].posture;
    i.slant = cases[_i].slant;
    i.young = cases[_i].young;
    i.integrator = KILN_NEWMARK;
    for (int halved = 0; halved < 2; halved++) {
        i.h = 1e-3 / (1 << halved);
        i.turn = halved ? 2.1 : 0.0;
        rebound newmark = run_impact(&i, 1);
        ck_assert_double_ge(newmark.end, cases[_i].newmark);
        ck_assert_double_le(newmark.most, 1.0002);
    }
    i.integrator = KILN_BDF2;
    rebound bdf2 = run_impact(&i, 1);
    ck_assert_double_ge(bdf2.end, cases[_i].bdf2);
    ck_assert_double_le(bdf2.most, 1.0002);
    i.integrator = KILN_IMPLICIT_EULER;
    ck_assert_double_le(run_impact(&i, 1).most, 1.0);
}
END_TEST

/* In every step the obstacle gives what momentum gains, in the first one too; what the mass matrix
 * moves about the contacts is its doing, nobody else's. */
START_TEST(impact_gives_momentum)
{
    impact i = _i & 1 ? flat : squeezed;
    i.mass = _i & 2 ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED;
    i.integrator = (kiln_integrator)(_i / 4);
    i.h = 2e-3; /* the first step meets the plane */
    i.posture = kiln_m3_rotation(kiln_v3(0.8, 0.6, 0), 0.2);
    i.slant = 0.7;
    rig r = impact_rig(&i, 1);
    kiln_vec3 kept = {0, 0, 0};
    kiln_motion_sums before = rig_sums(&r);
    for (int k = 0; k < 55; k++) {
        rig_step(&r, i.h);
        kiln_motion_sums now = rig_sums(&r);
        kiln_push force, torque;
        kiln_push_rule rule = kiln_solid_push_rule(r.solid);
        kiln_solid_obstacle_push(r.solid, 0, now.centre, &force, &torque);
        kiln_vec3 gave = kiln_v3_scale(kiln_push_mean(&rule, &force, &kept), i.h);
        kiln_vec3 off = kiln_v3_sub(kiln_v3_sub(now.momentum, before.momentum), gave);
        ck_assert_double_le(kiln_v3_norm(off), 1e-8 * now.mass * i.speed);
        before = now;
    }
    ck_assert_int_eq(r.report.contacts, 0);
    rig_free(&r);
}
END_TEST

START_TEST(impact_in_any_frame)
{
    rebound plain = run_impact(&flat, 1);
    for (int k = 0; k < 3; k++) {
        impact i = flat;
        i.turn = k == 0 ? 2.1 : 0.0;
        i.size = k == 1 ? 1e-3 : k == 2 ? 1e3 : 1.0;
        rebound other = run_impact(&i, 1);
        ck_assert_double_eq_tol(other.end, plain.end, 1e-4);
        ck_assert_double_le(other.most, 1.0005);
    }
    ck_assert_uint_eq(run_impact(&flat, 2).hash, plain.hash);
    impact consistent = flat;
    consistent.mass = KILN_MASS_CONSISTENT;
    ck_assert_uint_eq(run_impact(&consistent, 2).hash, run_impact(&consistent, 1).hash);
}
END_TEST

START_TEST(impact_resumed)
{
    for (int i = 0; i <= KILN_BDF2; i++) {
        impact whole = flat;
        whole.h = 2e-3;
        whole.integrator = (kiln_integrator)i;
        whole.mass = i == KILN_BDF2 ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED;
        impact parts = whole;
        parts.resumed = true;
        ck_assert_uint_eq(run_impact(&whole, 1).hash, run_impact(&parts, 1).hash);
    }
}
END_TEST

/* Bounce after bounce: none ends with more energy than it began with. */
START_TEST(bounces_lose_energy)
{
    for (int i = 0; i < 4; i++) {
        impact drop = squeezed;
        drop.integrator = i & 1 ? KILN_NEWMARK : KILN_BDF2;
        drop.mass = i & 2 ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED;
        rig r = impact_rig(&drop, 1);
        r.gravity = kiln_v3(0, 0, -10 * G);
        double flight = INFINITY;
        int bounces = 0;
        for (int k = 0, before = 0; k < 400; k++) {
            rig_step(&r, 1e-3);
            kiln_motion_sums sums = rig_sums(&r);
            double now = sums.kinetic + r.report.e_elastic;
            now += sums.mass * 10 * G * (sums.centre.z + 0.1);
            ck_assert_double_le(now, 1.001 * flight);
            bounces += r.report.contacts > 0 && before == 0;
            if (r.report.contacts == 0)
                flight = now;
            before = r.report.contacts;
        }
        ck_assert_int_ge(bounces, 3);
        rig_free(&r);
    }
}
END_TEST

/* What comes to rest stays: no vertex leaves any more, and nothing is thrown up. */
START_TEST(rest_after_impact)
{
    impact drop = flat;
    drop.mass = _i & 1 ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED;
    drop.integrator = (kiln_integrator)(_i / 2);
    drop.speed = 0.3;
    rig r = impact_rig(&drop, 1);
    r.material.damping_stiffness = 2e-3;
    r.material.damping_mass = 25.0;
    kiln_solid_destroy(r.solid);
    rig_build(&r);
    r.gravity = kiln_v3(0, 0, -G);
    for (int k = 0; k < 150; k++) {
        rig_step(&r, 2e-3);
        if (k >= 120)
            ck_assert_int_eq(r.report.contacts, 16);
    }
    kiln_motion_sums sums = rig_sums(&r);
    ck_assert_double_le(sqrt(2.0 * sums.kinetic / sums.mass), 2e-3);
    rig_free(&r);
}
END_TEST

/* A block that fell and came to rest is lifted: its base follows, and is not thrown up by what the
 * impact took long ago. */
static void lift_top(rig *r, kiln_solid *solid, double time, double load)
{
    (void)load;
    kiln_constraints *held = kiln_solid_constraints(solid);
    for (uint32_t v = 0; v < held->rows && r->parameter > 0.0; v++)
        if (r->mesh->u[v].z > 0.199) {
            held->held[v] = 4;
            held->target[v].z = r->mesh->x[v].z + 0.01 * (time - r->clock.time);
        }
}

START_TEST(lifted_after_rest)
{
    rig r = impact_rig(&flat, 1);
    r.gravity = kiln_v3(0, 0, -G);
    r.set = lift_top;
    for (int k = 0; k < 200; k++) {
        rig_step(&r, 1e-3);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3_scale(rig_v(&r)[v], 0.9);
    }
    ck_assert_int_eq(r.report.contacts, 16);
    r.parameter = 1.0;
    double fastest = 0.0;
    for (int k = 0; k < 400; k++) {
        rig_step(&r, 1e-3);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            fastest = fmax(fastest, fabs(rig_v(&r)[v].z));
    }
    ck_assert_int_eq(r.report.contacts, 0);
    ck_assert_double_le(fastest, 0.05);
    rig_free(&r);
}
END_TEST

/* Friction of an impact is that of what it takes and gives back: a block that flies in at a slant
 * and leaves again. */
START_TEST(impact_with_friction)
{
    static const kiln_integrator exact[] = {KILN_IMPLICIT_EULER, KILN_BDF2};
    for (size_t i = 0; i < 2; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=.4 ly=.4 lz=.1 nx=2 ny=2 nz=1");
        rig r = rig_of(context, mesh, rig_material("corotated", 1e6, 0.3, 1000), exact[i]);
        add_plane(&r, kiln_v3(0, 0, 0), kiln_v3(0, 0, 1), 0.3);
        rig_build(&r);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
            r.mesh->x[v].z += 0.001;
            rig_v(&r)[v] = kiln_v3(2, 0, -1);
        }
        kiln_vec3 start = mean_v(&r);
        for (int k = 0; k < 60; k++)
            rig_step(&r, 2.5e-4);
        ck_assert_int_eq(r.report.contacts, 0);
        kiln_vec3 change = kiln_v3_sub(mean_v(&r), start);
        ck_assert_double_eq_tol(-change.x / change.z, 0.3, 0.015 * 0.3);
        rig_free(&r);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("impacts");
    TCase *tests = kiln_test_case(suite, "impacts");
    tcase_add_test(tests, impact_returns_energy);
    tcase_add_loop_test(tests, impact_with_consistent_mass, 0, 8);
    tcase_add_loop_test(tests, impact_gives_momentum, 0, 12);
    tcase_add_loop_test(tests, rest_after_impact, 0, 6);
    tcase_add_test(tests, impact_in_any_frame);
    tcase_add_test(tests, impact_resumed);
    tcase_add_test(tests, bounces_lose_energy);
    tcase_add_test(tests, lifted_after_rest);
    tcase_add_test(tests, impact_with_friction);
    return suite;
}

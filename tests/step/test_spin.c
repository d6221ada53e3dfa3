/* Angular momentum of parts that nothing outside turns, and of those that something does. */
#include "rig.h"
#include "step/spin.h"

enum { INTEGRATORS = 3 };
static const kiln_integrator integrators[INTEGRATORS] = {KILN_IMPLICIT_EULER, KILN_NEWMARK,
                                                         KILN_BDF2};

static kiln_vec3 about_centre(const rig *r)
{
    kiln_motion_sums sums = rig_sums(r);
    return kiln_v3_sub(sums.angular_momentum, kiln_v3_cross(sums.centre, sums.momentum));
}

static double off(kiln_vec3 a, kiln_vec3 b)
{
    return kiln_v3_norm(kiln_v3_sub(a, b)) / kiln_v3_norm(b);
}

/* A box that tumbles and flies, `far` from the origin. */
static rig tumbling(kiln_integrator integrator, kiln_mass_kind mass, double far)
{
    const kiln_vec3 rate = {2, 6, 1}, place = {far, -far, 2 * far};
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=0.6 ly=0.4 lz=0.2 n=1");
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e5, 0.3, 1000), integrator);
    r.options.mass = mass;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = mesh->u[v] = kiln_v3_add(mesh->u[v], place);
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] =
            kiln_v3_add(kiln_v3_cross(rate, kiln_v3_sub(mesh->x[v], place)), kiln_v3(3, 0.5, -1));
    return r;
}

/* Uniform gravity has no torque, and a pressure on all of the surface that is there at once. */
static void press_all(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    for (uint32_t f = 0; f < r->mesh->table[KILN_ON_FACE].used; f++)
        ck_assert_int_eq(
            kiln_loads_add_pressure(kiln_solid_loads(solid), f, load * r->parameter, NULL),
            KILN_OK);
}

START_TEST(test_sudden_pressure)
{
    kiln_mass_kind mass = _i % 2 ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED;
    rig r = tumbling(integrators[_i / 2], mass, _i % 2 ? 100.0 : 0.0);
    r.gravity = kiln_v3(1, 2, -9.81);
    r.set = press_all;
    r.parameter = 0.3e5;
    kiln_vec3 first = about_centre(&r);
    for (int i = 0; i < 20; i++)
        rig_step(&r, 0.01);
    double drift = off(about_centre(&r), first);
    ck_assert_msg(drift < 1e-9, "%g", drift);
    rig_free(&r);
}
END_TEST

/* Two forces that stay as they are, a couple while the box turns. */
static void pull_apart(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    kiln_loads_add_force(kiln_solid_loads(solid), 0, kiln_v3(0, r->parameter * load, 0));
    kiln_loads_add_force(kiln_solid_loads(solid), 7, kiln_v3(0, -r->parameter * load, 0));
}

static kiln_vec3 couple(const rig *r)
{
    return kiln_v3_cross(kiln_v3_sub(r->mesh->x[0], r->mesh->x[7]), kiln_v3(0, r->parameter, 0));
}

/* Angular momentum gains what the integrator's formula makes of the torque. */
START_TEST(test_known_torque)
{
    const double h = 0.005;
    kiln_integrator integrator = integrators[_i];
    rig r = tumbling(integrator, KILN_MASS_LUMPED, 0.0);
    r.set = pull_apart;
    r.parameter = 20.0;
    kiln_vec3 L[3], torque[2] = {couple(&r), couple(&r)};
    L[0] = L[1] = L[2] = about_centre(&r);
    for (int i = 0; i < 20; i++) {
        rig_step(&r, h);
        L[0] = L[1], L[1] = L[2], L[2] = about_centre(&r);
        torque[0] = torque[1], torque[1] = couple(&r);
        kiln_vec3 should = kiln_v3_madd(L[1], h, torque[1]);
        if (integrator == KILN_NEWMARK)
            should = kiln_v3_madd(L[1], 0.5 * h, kiln_v3_add(torque[0], torque[1]));
        if (integrator == KILN_BDF2) {
            kiln_vec3 past = kiln_v3_scale(kiln_v3_sub(L[1], L[0]), 1.0 / 3.0);
            should = kiln_v3_madd(kiln_v3_add(L[1], past), 2.0 * h / 3.0, torque[1]);
        }
        if (integrator != KILN_BDF2 || i > 0)
            ck_assert_msg(off(L[2], should) < 1e-9, "step %d: %g", i, off(L[2], should));
    }
    ck_assert_double_gt(kiln_v3_norm(torque[1]), 0.1); /* or nothing was asked */
    rig_free(&r);
}
END_TEST

/* Drag of the motion itself (alpha) takes L as it takes momentum. */
START_TEST(test_drag)
{
    const double alpha = 2.0, h = 0.002;
    kiln_integrator integrator = integrators[_i];
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=0.6 ly=0.4 lz=0.2 n=1");
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e6, 0.3, 1000), integrator);
    r.material.damping_mass = alpha;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3_add(kiln_v3_cross(kiln_v3(2, 6, 1), mesh->x[v]), kiln_v3(1, 0, 0));
    kiln_vec3 L = about_centre(&r), P = rig_sums(&r).momentum;
    for (int i = 0; i < 100; i++)
        rig_step(&r, h);
    kiln_vec3 left = kiln_v3_scale(about_centre(&r), P.x / rig_sums(&r).momentum.x);
    ck_assert_msg(off(left, L) < 1e-4, "%g", off(left, L));
    rig_free(&r);
}
END_TEST

/* Two of a kind, each turned about its corner, the second moved. */
static kiln_mesh *two_boxes(kiln_context *context, const char *settings, const kiln_mat3 turn[2],
                            kiln_vec3 apart)
{
    kiln_soup all;
    kiln_error error = {0};
    kiln_mesh *mesh = NULL;
    kiln_build_options options = kiln_build_default_options();
    kiln_soup_init(&all, context);
    for (int i = 0; i < 2; i++) {
        kiln_soup one = kiln_test_soup(context, "box", settings);
        for (size_t p = 0; p < one.points.count; p++)
            one.points.data[p] = kiln_v3_madd(kiln_m3_apply(turn[i], one.points.data[p]), i, apart);
        rig_check(kiln_soup_append(&all, &one, 0, &error), &error);
        kiln_soup_free(&one);
    }
    rig_check(kiln_mesh_build(context, &all, &options, &mesh, NULL, &error), &error);
    kiln_soup_free(&all);
    return mesh;
}

/* Two cubes that meet askew. */
static rig meeting(kiln_integrator integrator, double friction, kiln_vec3 *first_P)
{
    static const uint32_t pairs[1][2] = {{0, 1}};
    const kiln_mat3 turn[2] = {kiln_m3_rotation(kiln_v3(0, 1, 1), 0.01),
                               kiln_m3_rotation(kiln_v3(0, 1, 1), 0.31)};
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh =
        two_boxes(context, "lx=1 ly=1 lz=1 nx=2 ny=2 nz=2", turn, kiln_v3(0.4, 0.2, 1.4));
    rig r = rig_of(context, mesh, rig_material("stable-neo-hookean", 1e5, 0.3, 1000), integrator);
    r.options.contact.bodies = true;
    r.options.contact.thickness = 0.02;
    r.options.contact.friction = friction;
    r.options.newton.tolerance = 1e-12;
    r.options.watch.pairs = pairs;
    r.options.watch.pair_count = 1;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = mesh->info[mesh->vertex[v].tet].part ? kiln_v3(0, 0, -2) : kiln_v3(1, 0, 2);
    *first_P = rig_sums(&r).momentum;
    return r;
}

static kiln_vec3 momentum_of(const rig *r, uint32_t part)
{
    const double *mass = kiln_mass_lumped(kiln_solid_mass(r->solid));
    kiln_vec3 sum = {0, 0, 0};
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        if (r->mesh->info[r->mesh->vertex[v].tet].part == part)
            sum = kiln_v3_madd(sum, mass[v], rig_v(r)[v]);
    return sum;
}

/* Angular momentum of both stays through the blow and after, and what the pair's force says is
 * what each gets of momentum. */
START_TEST(test_blow)
{
    const double h = 0.005;
    kiln_vec3 P, kept = {0, 0, 0};
    rig r = meeting(integrators[_i / 2], _i % 2 ? 0.5 : 0.0, &P);
    kiln_vec3 L = about_centre(&r), before = momentum_of(&r, 0);
    double push = 0.0, unknown = 0.0;
    for (int i = 0; i < 80; i++) {
        rig_step(&r, h);
        kiln_push_rule rule = kiln_solid_push_rule(r.solid);
        kiln_vec3 mean = kiln_push_mean(&rule, &kiln_solid_pair_push(r.solid, 0)->force, &kept);
        kiln_vec3 now = momentum_of(&r, 0), gained = kiln_v3_sub(now, before);
        before = now;
        push = fmax(push, kiln_v3_norm(gained));
        unknown = fmax(unknown, kiln_v3_norm(kiln_v3_madd(gained, -h, mean)));
        ck_assert_msg(off(about_centre(&r), L) < 1e-9, "t %g: %g", r.clock.time,
                      off(about_centre(&r), L));
    }
    ck_assert_double_gt(push, 10.0);
    ck_assert_msg(unknown < 1e-7 * push, "%g of %g", unknown, push);
    ck_assert_double_lt(off(rig_sums(&r).momentum, P), 1e-10);
    rig_free(&r);
}
END_TEST

/* Two needles that meet along their edges, and have left each other when the first step ends: bdf2
 * makes it in two stages, and what one got of the other in the first is theirs in the second. */
START_TEST(test_blow_in_a_first_step)
{
    const kiln_mat3 turn = kiln_m3_rotation(kiln_v3(1, 0, 0), 0.25 * 3.14159265358979323846);
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_boxes(context, "lx=1 ly=0.01 lz=0.01 nx=20 ny=1 nz=1",
                                (const kiln_mat3[2]){turn, turn}, kiln_v3(0.3, 0, 0.02115));
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e6, 0.3, 1000), KILN_BDF2);
    r.options.contact.bodies = true;
    r.options.contact.thickness = 1e-3;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0, 0, mesh->info[mesh->vertex[v].tet].part ? -2 : 2);
    kiln_vec3 L = about_centre(&r), P = momentum_of(&r, 0);
    rig_step(&r, 0.02);
    ck_assert_double_gt(kiln_v3_norm(kiln_v3_sub(momentum_of(&r, 0), P)), 0.1 * kiln_v3_norm(P));
    ck_assert_msg(off(about_centre(&r), L) < 1e-9, "%g", off(about_centre(&r), L));
    rig_free(&r);
}
END_TEST

/* Islands are trees of parts; whatever order they are joined in, momentum that goes round adds up.
 */
START_TEST(test_flow_along_a_chain)
{
    kiln_soup all, one;
    kiln_error error = {0};
    kiln_context *context = kiln_test_context(1);
    kiln_soup_init(&all, context);
    for (int i = 0; i < 4; i++) {
        one = kiln_test_soup(context, "box", "n=1");
        for (size_t p = 0; p < one.points.count; p++)
            one.points.data[p].x += 1.5 * i;
        rig_check(kiln_soup_append(&all, &one, 0, &error), &error);
        kiln_soup_free(&one);
    }
    kiln_mesh *mesh = NULL;
    kiln_build_options options = kiln_build_default_options();
    rig_check(kiln_mesh_build(context, &all, &options, &mesh, NULL, &error), &error);
    kiln_soup_free(&all);
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e5, 0.3, 1000), KILN_NEWMARK);
    rig_build(&r);
    kiln_spin spin = {.context = context};
    rig_check(kiln_spin_build(&spin, mesh, kiln_solid_mass(r.solid), &error), &error);
    const double *x = &mesh->x[0].x;
    double *v = rig_column(&r, "v");
    uint32_t at[4];
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        at[kiln_spin_part_of(&spin, i)] = i;
    kiln_spin_begin(&spin, x);
    kiln_spin_join(&spin, at[2], at[3]);
    kiln_spin_join(&spin, at[1], at[0]);
    kiln_spin_join(&spin, at[1], at[2]);
    kiln_spin_join(&spin, at[0], at[3]);
    ck_assert(kiln_spin_settle(&spin));
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        rig_v(&r)[i] = kiln_v3_cross(kiln_v3(0, 0, 2), mesh->x[i]); /* wanted: half of it */
    kiln_spin_want_motion(&spin, 0.5, x, v);
    kiln_vec3 P[4], L = about_centre(&r);
    for (uint32_t p = 0; p < 4; p++)
        P[p] = momentum_of(&r, p);
    kiln_spin_turn(&spin, x, v, false);
    kiln_spin_find_flow(&spin);
    ck_assert_double_lt(off(kiln_v3_scale(about_centre(&r), 2.0), L), 1e-12);
    for (uint32_t p = 0; p < 4; p++) {
        kiln_vec3 gain = kiln_v3_sub(momentum_of(&r, p), P[p]);
        gain = kiln_v3_sub(gain, spin.parts.data[p].flow);
        for (uint32_t q = 0; q < 4; q++)
            if (spin.parts.data[q].parent == p)
                gain = kiln_v3_add(gain, spin.parts.data[q].flow);
        ck_assert_double_lt(kiln_v3_norm(gain), 1e-9 * kiln_v3_norm(P[3]));
    }
    kiln_spin_free(&spin);
    rig_free(&r);
}
END_TEST

/* What is held in one vertex is left to what holds it: it has the velocity it is led with. */
static void lead_corner(rig *r, kiln_solid *solid, double time, double load)
{
    (void)load;
    kiln_constraints *held = kiln_solid_constraints(solid);
    held->held[0] = 7;
    held->target[0] = kiln_v3_add(r->mesh->u[0], kiln_v3(3 * time, 0.5 * time, -time));
}

START_TEST(test_held)
{
    rig r = tumbling(integrators[_i], KILN_MASS_LUMPED, 0.0);
    r.set = lead_corner;
    for (int i = 0; i < 10; i++)
        rig_step(&r, 0.005);
    kiln_vec3 led = {3, 0.5, -1};
    ck_assert_double_lt(off(rig_v(&r)[0], led), _i == 2 ? 0.2 : 1e-9);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("spin");
    TCase *tc = kiln_test_case(suite, "spin");
    tcase_add_loop_test(tc, test_sudden_pressure, 0, 2 * INTEGRATORS);
    tcase_add_loop_test(tc, test_known_torque, 0, INTEGRATORS);
    tcase_add_loop_test(tc, test_drag, 0, INTEGRATORS);
    tcase_add_loop_test(tc, test_blow, 0, 2 * INTEGRATORS);
    tcase_add_test(tc, test_blow_in_a_first_step);
    tcase_add_test(tc, test_flow_along_a_chain);
    tcase_add_loop_test(tc, test_held, 0, INTEGRATORS);
    suite_add_tcase(suite, tc);
    return suite;
}

/* validation.md E9, E10 and free fall. */
#include "rig.h"

#define PI 3.14159265358979323846

/* One tet of linear material whose apex alone is free: sideways it is a spring with
 * omega^2 = k / m = (mu V) / (rho V / 4), and that motion never inverts the tet. */
static void hold_base(rig *r, kiln_solid *solid, double time, double load)
{
    (void)r;
    (void)time;
    (void)load;
    kiln_constraints *held = kiln_solid_constraints(solid);
    for (uint32_t v = 0; v < 3; v++) {
        held->held[v] = 7;
        held->target[v] = kiln_solid_mesh(solid)->u[v];
    }
}

static rig oscillator(kiln_integrator integrator)
{
    const kiln_vec3 point[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const kiln_soup_tet tet = {{0, 1, 2, 3}};
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh_of(context, 4, point, 1, &tet, NULL, KILN_BUILD_STRICT);
    kiln_material material = rig_material("linear", 1.0, 0.3, 4.0);
    material.mu = 4.0 * PI * PI;
    material.lambda = material.mu;
    rig r = rig_of(context, mesh, material, integrator);
    r.set = hold_base;
    rig_build(&r);
    r.mesh->x[3].x = 1.0; /* x0 = 1 */
    return r;
}

typedef struct swing {
    double error, energy; /* sqrt((x-1)^2 + (v/w)^2), E / E0 */
} swing;

static void give_history(rig *r, double h)
{
    double w = 2.0 * PI;
    if (r->options.integrator != KILN_BDF2)
        return;
    memcpy(rig_column(r, "x_before"), r->mesh->u, 4 * sizeof(kiln_vec3));
    rig_column(r, "x_before")[9] = cos(w * h);
    rig_column(r, "v_before")[9] = w * sin(w * h);
    r->clock.h_before = h;
}

static swing swing_to(const rig *r, double t)
{
    double w = 2.0 * PI, x = r->mesh->x[3].x, v = rig_v(r)[3].x;
    double dx = x - cos(w * t), dv = v / w + sin(w * t);
    return (swing){sqrt(dx * dx + dv * dv), x * x + v * v / (w * w)};
}

static swing run_oscillator(kiln_integrator integrator, int steps)
{
    rig r = oscillator(integrator);
    double h = 1.0 / steps;
    give_history(&r, h);
    for (int i = 0; i < steps; i++)
        rig_step(&r, h);
    swing result = swing_to(&r, 1.0);
    rig_free(&r);
    return result;
}

START_TEST(e9_oscillator)
{
    static const struct {
        kiln_integrator integrator;
        double error, energy, order, tolerance;
    } rows[] = {
        {KILN_IMPLICIT_EULER, 0.178968, 0.674349, 0.93, 0.01},
        {KILN_NEWMARK, 2.06586e-3, 1.0, 2.0, 0.03},
        {KILN_BDF2, 8.19145e-3, 0.999243, 2.0, 0.03},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        swing coarse = run_oscillator(rows[i].integrator, 100);
        swing fine = run_oscillator(rows[i].integrator, 200);
        ck_assert_double_eq_tol(coarse.error, rows[i].error, 1e-4 * rows[i].error);
        ck_assert_double_eq_tol(coarse.energy, rows[i].energy, 1e-4 * rows[i].energy);
        ck_assert_double_eq_tol(log2(coarse.error / fine.error), rows[i].order, rows[i].tolerance);
    }
}
END_TEST

START_TEST(e9_energy_of_implicit_euler)
{
    double w = 2.0 * PI, dt = 0.01;
    double energy = run_oscillator(KILN_IMPLICIT_EULER, 100).energy;
    ck_assert_double_eq_tol(energy / pow(1.0 + w * w * dt * dt, -100.0), 1.0, 1e-10);
    ck_assert_double_eq_tol(run_oscillator(KILN_NEWMARK, 100).energy, 1.0, 1e-10);
}
END_TEST

/* Without a history: the first step is as good as those after it, and so is a new start later. */
static swing run_from_nothing(kiln_integrator integrator, int steps, int forget)
{
    rig r = oscillator(integrator);
    for (int i = 0; i < steps; i++) {
        if (forget && i % forget == 0)
            r.clock.h_before = 0.0;
        rig_step(&r, 1.0 / steps);
    }
    swing result = swing_to(&r, 1.0);
    rig_free(&r);
    return result;
}

static double first_step_error(double h, double damping)
{
    rig r = oscillator(KILN_BDF2);
    r.material.damping_mass = damping;
    rig_check(kiln_solid_rebuild(r.solid, &r.material, NULL), NULL);
    rig_step(&r, h);
    double w0 = 2.0 * PI, w = sqrt(w0 * w0 - damping * damping / 4), d = damping / 2;
    double x = exp(-d * h) * (cos(w * h) + d / w * sin(w * h));
    double v = -exp(-d * h) * w0 * w0 / w * sin(w * h);
    double dx = r.mesh->x[3].x - x, dv = (rig_v(&r)[3].x - v) / w0;
    rig_free(&r);
    return sqrt(dx * dx + dv * dv);
}

START_TEST(bdf2_starts_at_second_order)
{
    for (int damped = 0; damped < 2; damped++) { /* one step errs by h^3 */
        double d = damped ? 3.0 : 0.0;
        ck_assert_double_eq_tol(log2(first_step_error(0.004, d) / first_step_error(0.002, d)), 3.0,
                                0.05);
    }
    swing exact = run_oscillator(KILN_BDF2, 50), own = run_from_nothing(KILN_BDF2, 50, 0);
    ck_assert_double_eq_tol(own.energy, exact.energy, 1e-3); /* was 0.971 of 0.994 */
    ck_assert_double_le(own.error, 1.05 * exact.error);
    for (int forget = 0; forget <= 10; forget += 5) {
        double coarse = run_from_nothing(KILN_BDF2, 100, forget).error;
        double fine = run_from_nothing(KILN_BDF2, 200, forget).error;
        ck_assert_double_eq_tol(log2(coarse / fine), 2.0, 0.05);
        ck_assert_double_le(coarse, 1.05 * run_oscillator(KILN_BDF2, 100).error);
    }
}
END_TEST

/* Far stiffer than the step resolves: the start damps, as bdf2 itself does. */
START_TEST(bdf2_starts_stiff)
{
    rig r = oscillator(KILN_BDF2);
    rig_step(&r, 100.0);
    ck_assert_double_le(fabs(r.mesh->x[3].x), 1e-3);
    ck_assert_double_le(fabs(rig_v(&r)[3].x), 1e-2 * 2.0 * PI);
    rig_free(&r);
}
END_TEST

/* What leads a vertex leads it through both stages of the first step: even motion at once, other
 * motion from the second step on. */
static void lead_apex(rig *r, kiln_solid *solid, double time, double load)
{
    hold_base(r, solid, time, load);
    kiln_constraints *held = kiln_solid_constraints(solid);
    held->held[3] = 7;
    held->target[3] = kiln_v3(0.5 * r->parameter * time * time + 0.1 * time, 0, 1);
}

START_TEST(bdf2_starts_led)
{
    for (int rate = 0; rate < 2; rate++) {
        rig r = oscillator(KILN_BDF2);
        r.set = lead_apex;
        r.parameter = rate;
        r.mesh->x[3].x = 0.0;
        rig_step(&r, 0.1);
        ck_assert_double_eq_tol(rig_v(&r)[3].x, 0.1 + 0.1 * rate, rate ? 0.04 : 1e-14);
        rig_step(&r, 0.05);
        ck_assert_double_eq_tol(rig_v(&r)[3].x, 0.1 + 0.15 * rate, 1e-14);
        rig_free(&r);
    }
}
END_TEST

/* Steps that change by up to 1.5 from one to the next, all scaled together: still second order,
 * also without a history to start from. */
static double run_unequal(int steps)
{
    rig r = oscillator(KILN_BDF2);
    double t = 0.0;
    for (int i = 0; i < steps; i++) {
        double next = (double)(i + 1) / steps;
        double end = next + 0.08 * sin(2.0 * PI * next); /* smooth, ends at 1 */
        rig_step(&r, end - t);
        t = end;
    }
    double error = swing_to(&r, t).error;
    rig_free(&r);
    return error;
}

START_TEST(bdf2_with_unequal_steps)
{
    double coarse = run_unequal(200), fine = run_unequal(400);
    ck_assert_double_eq_tol(log2(coarse / fine), 2.0, 0.05);
    /* A sudden change to half the step and back does not spoil it. */
    double error[2];
    for (int k = 0; k < 2; k++) {
        rig r = oscillator(KILN_BDF2);
        double h = 0.01 / (k + 1), t = 0.0;
        give_history(&r, h);
        for (int i = 0; i < 50 * (k + 1); i++) {
            double length = i % 4 < 2 ? h : h / 2;
            rig_step(&r, length);
            t += length;
        }
        error[k] = swing_to(&r, t).error;
        rig_free(&r);
    }
    ck_assert_double_eq_tol(log2(error[0] / error[1]), 2.0, 0.1);
}
END_TEST

/* Free fall of a block, n steps: closed form of implicit Euler, exact for newmark and bdf2. Both
 * kinds of mass. */
START_TEST(free_fall)
{
    const double g = 9.81, h = 0.01;
    const int steps = 100;
    const double expected[] = {-g * h * h * steps * (steps + 1) / 2, -g / 2, -g / 2};
    for (int kind = 0; kind < 2; kind++)
        for (int integrator = 0; integrator < KILN_STATIC; integrator++) {
            kiln_context *context = kiln_test_context(1);
            kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
            rig r = rig_of(context, mesh, rig_material("corotated", 1e5, 0.3, 1000),
                           (kiln_integrator)integrator);
            r.options.mass = (kiln_mass_kind)kind;
            r.gravity = kiln_v3(0, 0, -g);
            rig_build(&r);
            for (int i = 0; i < steps; i++)
                rig_step(&r, h);
            for (uint32_t i = 0; i < 27; i++) {
                kiln_vec3 moved = kiln_v3_sub(r.mesh->x[i], r.mesh->u[i]);
                ck_assert_double_eq_tol(moved.z, expected[integrator], 1e-9);
                ck_assert_double_eq_tol(moved.x, 0.0, 1e-9);
            }
            rig_free(&r);
        }
}
END_TEST

typedef struct drift {
    double momentum, angular; /* largest change, relative */
    double last_angular;      /* L_end / L_0 */
} drift;

/* E10: a spinning block that flies. */
static drift spin_block(kiln_integrator integrator, bool linearised, const char *model)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=.5 lz=.25 nx=4 ny=2 nz=1");
    rig r = rig_of(context, mesh, rig_material(model, 1e6, 0.3, 1000), integrator);
    r.options.linearised = linearised;
    r.options.newton.tolerance = 1e-10;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 arm = kiln_v3_sub(mesh->x[v], kiln_v3(0.5, 0.25, 0.125));
        rig_v(&r)[v] = kiln_v3_add(kiln_v3(3, -2, 1), kiln_v3_cross(kiln_v3(1, 2, 8), arm));
    }
    kiln_motion_sums start = rig_sums(&r);
    drift d = {0};
    /* About the centre of mass: the origin's share is P x c. */
    double size = 0.0;
    for (int i = 0; i <= 200; i++) {
        kiln_motion_sums now = rig_sums(&r);
        kiln_vec3 spin = kiln_v3_sub(now.angular_momentum, kiln_v3_cross(now.centre, now.momentum));
        kiln_vec3 spin0 =
            kiln_v3_sub(start.angular_momentum, kiln_v3_cross(start.centre, start.momentum));
        size = kiln_v3_norm(spin0);
        d.momentum = fmax(d.momentum, kiln_v3_norm(kiln_v3_sub(now.momentum, start.momentum)) /
                                          kiln_v3_norm(start.momentum));
        d.angular = fmax(d.angular, kiln_v3_norm(kiln_v3_sub(spin, spin0)) / size);
        d.last_angular = kiln_v3_norm(spin) / size;
        if (i < 200)
            rig_step(&r, 0.002);
    }
    rig_free(&r);
    return d;
}

START_TEST(e10_momentum)
{
    drift newmark = spin_block(KILN_NEWMARK, false, "neo-hookean");
    ck_assert_double_le(newmark.momentum, 1e-10);
    ck_assert_double_le(newmark.angular, 1e-11);
    drift euler = spin_block(KILN_IMPLICIT_EULER, false, "neo-hookean");
    ck_assert_double_le(euler.momentum, 1e-10);
    ck_assert_double_le(euler.angular, 1e-11);
    drift bdf2 = spin_block(KILN_BDF2, false, "neo-hookean");
    ck_assert_double_le(bdf2.momentum, 1e-10);
    ck_assert_double_le(bdf2.angular, 1e-11);
    drift linearised = spin_block(KILN_NEWMARK, true, "corotated");
    ck_assert_double_le(linearised.momentum, 1e-10);
    if (getenv("KILN_TEST_REPORT"))
        printf(
            "L drift: newmark %.2e, implicit Euler to %.4f, bdf2 %.2e, linearised newmark %.2e\n",
            newmark.angular, euler.last_angular, bdf2.angular, linearised.angular);
}
END_TEST

START_TEST(names)
{
    for (int i = 0; i < KILN_INTEGRATOR_COUNT; i++) {
        kiln_integrator found = KILN_INTEGRATOR_COUNT;
        const char *name = kiln_integrator_name((kiln_integrator)i);
        ck_assert_int_eq(kiln_integrator_find(name, &found, NULL), KILN_OK);
        ck_assert_int_eq(found, i);
        ck_assert_ptr_nonnull(kiln_integrator_help(found));
    }
    kiln_integrator none;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_integrator_find("euler", &none, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "implicit-euler"));
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("integrators");
    TCase *tests = kiln_test_case(suite, "integrators");
    tcase_add_test(tests, names);
    tcase_add_test(tests, e9_oscillator);
    tcase_add_test(tests, e9_energy_of_implicit_euler);
    tcase_add_test(tests, bdf2_starts_at_second_order);
    tcase_add_test(tests, bdf2_starts_stiff);
    tcase_add_test(tests, bdf2_starts_led);
    tcase_add_test(tests, bdf2_with_unequal_steps);
    tcase_add_test(tests, free_fall);
    tcase_add_test(tests, e10_momentum);
    return suite;
}

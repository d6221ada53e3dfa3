/* Steps that are taken back, and what pace makes of them. */
#include "rig.h"

#include "step/pace.h"

static rig block(const char *model, double young, kiln_integrator integrator)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    rig r = rig_of(context, mesh, rig_material(model, young, 0.3, 1000), integrator);
    r.gravity = kiln_v3(0, 0, -9.81);
    return r;
}

static void start_moving(rig *r)
{
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 x = r->mesh->x[v];
        rig_v(r)[v] = kiln_v3(sin(3 * x.y), x.z * x.x, -0.2 * x.x);
    }
}

/* A step of length h is refused with this outcome; nothing of the state changes, and the run goes
 * on as if it had not been tried. */
static void refused(rig *r, double h, kiln_step_outcome outcome)
{
    uint64_t before = kiln_mesh_hash(r->mesh);
    kiln_solid_clock clock = r->clock;
    rig_try(r, h);
    if (r->report.outcome != outcome)
        ck_abort_msg("%s: %s instead of %s", kiln_integrator_name(r->options.integrator),
                     kiln_step_outcome_text(r->report.outcome), kiln_step_outcome_text(outcome));
    ck_assert_uint_eq(kiln_mesh_hash(r->mesh), before);
    ck_assert_double_eq(r->clock.time, clock.time);
    ck_assert_double_eq(r->clock.h_before, clock.h_before);
}

typedef enum trouble { NEWTON, INVERTED, NOT_FINITE, STRETCH, ACCELERATION, NONE } trouble;

static void make_trouble(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    (void)load;
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_constraints *held = kiln_solid_constraints(solid);
    if (r->parameter == INVERTED || r->parameter == NEWTON) /* through the opposite side */
        for (uint32_t v = 0; v < held->rows; v++)
            if (mesh->u[v].x < 1e-9 || mesh->u[v].x > 1 - 1e-9) {
                held->held[v] = 7;
                held->target[v] = mesh->u[v];
                held->target[v].x *= -2.0;
            }
    if (r->parameter == NOT_FINITE)
        kiln_loads_add_force(kiln_solid_loads(solid), 3, kiln_v3(0, NAN, 0));
    if (r->parameter == STRETCH || r->parameter == ACCELERATION) /* pulled up and down */
        for (uint32_t v = 0; v < held->rows; v++)
            kiln_loads_add_force(kiln_solid_loads(solid), v,
                                 kiln_v3(0, 0, 2e5 * (mesh->u[v].z - 0.5)));
}

static uint64_t run_with(kiln_integrator integrator, trouble what, const char *model,
                         kiln_step_outcome outcome)
{
    rig r = block(model, 1e5, integrator);
    r.set = make_trouble;
    r.options.max_stretch = what == STRETCH ? 0.3 : 0.0;
    r.options.max_acceleration = what == ACCELERATION ? 100.0 : 0.0;
    r.parameter = NONE;
    rig_build(&r);
    start_moving(&r);
    for (int i = 0; i < 5; i++) {
        if (outcome != KILN_STEP_DONE && i > 1) {
            r.parameter = what;
            refused(&r, 0.02, outcome);
            r.parameter = NONE;
        }
        rig_step(&r, 0.005);
    }
    uint64_t hash = kiln_mesh_hash(r.mesh);
    kiln_test_audit(r.mesh);
    rig_free(&r);
    return hash;
}

START_TEST(taken_back)
{
    static const struct {
        trouble what;
        const char *model;
        kiln_step_outcome outcome;
    } rows[] = {
        {NEWTON, "neo-hookean", KILN_STEP_NEWTON},
        {INVERTED, "stable-neo-hookean", KILN_STEP_INVERTED},
        {NOT_FINITE, "corotated", KILN_STEP_NEWTON},
        {STRETCH, "corotated", KILN_STEP_STRETCH},
        {ACCELERATION, "corotated", KILN_STEP_ACCELERATION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int integrator = 0; integrator < KILN_STATIC; integrator++)
            ck_assert_uint_eq(
                run_with((kiln_integrator)integrator, rows[i].what, rows[i].model, rows[i].outcome),
                run_with((kiln_integrator)integrator, rows[i].what, rows[i].model, KILN_STEP_DONE));
}
END_TEST

/* The linearised step has nobody who looks at the result but the checks. */
START_TEST(not_finite_velocity)
{
    rig r = block("linear", 1e5, KILN_IMPLICIT_EULER);
    r.options.linearised = true;
    rig_build(&r);
    rig_v(&r)[4].y = NAN;
    rig_try(&r, 0.01);
    ck_assert_int_ne(r.report.outcome, KILN_STEP_DONE);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert(kiln_v3_finite(r.mesh->x[v]));
    rig_free(&r);
}
END_TEST

/* A stiff barrier material thrown about with a dt far too large: halving finds a length that
 * works, doubling brings it back, and the body is whole at the end. */
START_TEST(recovers)
{
    rig r = block("neo-hookean", 1e7, KILN_IMPLICIT_EULER);
    r.options.max_stretch = 0.2;
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 x = r.mesh->x[v]; /* 60 m/s against each other */
        rig_v(&r)[v] = kiln_v3(x.x > 0.5 ? -60 : 60, 30 * sin(9 * x.z), 0);
    }
    kiln_pace_limits limits = {.dt = 0.1, .dt_min = 1e-7, .patience = 3};
    kiln_pace pace;
    kiln_pace_init(&pace, &limits);
    double shortest = INFINITY;
    int rejected = 0;
    for (int i = 0; i < 400 && r.clock.time < 0.2; i++) {
        double h = kiln_pace_length(&pace, r.clock.time, 0.2);
        rig_try(&r, h);
        if (r.report.outcome == KILN_STEP_DONE) {
            kiln_pace_accept(&pace, &limits, h, 0.0);
            shortest = fmin(shortest, h);
        } else {
            ck_assert(kiln_pace_reject(&pace, &limits, h, 0.0));
            rejected++;
        }
    }
    ck_assert_double_eq(r.clock.time, 0.2);
    ck_assert_int_gt(rejected, 0);
    ck_assert_double_lt(shortest, 0.02);
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* A block that falls a thousand times as fast as it should and is drawn out at `rate` (1/s), in one
 * step of 0.02 s. */
static kiln_step_outcome drawn(kiln_integrator integrator, double young, double rate, bool flows,
                               double least_step)
{
    rig r = block("corotated", young, integrator);
    r.gravity = kiln_v3(0, 9810, 0);
    r.material.plastic = (kiln_plastic){.flows = flows, .yield = 1e12, .rate = 1};
    r.options.least_step = least_step;
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0, 0, rate * (r.mesh->x[v].z - 0.5));
    rig_try(&r, 0.02);
    kiln_step_outcome outcome = r.report.outcome;
    rig_free(&r);
    return outcome;
}

/* VPF 5: drastic changes of a tet shorten the step where matter flows, without a word in the scene.
 * Stiff matter that flies together by more than its length and is stopped within the step looks as
 * before. They end no run, and a body that moves as a whole is not held up. */
START_TEST(limits_where_matter_flows)
{
    static const struct {
        double young, rate;
        kiln_step_outcome outcome;
    } rows[] = {
        {1e2, 40, KILN_STEP_STRETCH},
        {1e10, -60, KILN_STEP_ACCELERATION},
        {1e5, 5, KILN_STEP_DONE},
    };
    for (int i = 0; i < KILN_STATIC; i++)
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            kiln_integrator by = (kiln_integrator)i;
            double young = rows[k].young, rate = rows[k].rate;
            ck_assert_int_eq(drawn(by, young, rate, true, 0.0), rows[k].outcome);
            ck_assert_int_eq(drawn(by, young, rate, true, 0.02), KILN_STEP_DONE);
            ck_assert_int_eq(drawn(by, young, rate, false, 0.0), KILN_STEP_DONE);
        }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("rejected");
    TCase *tests = kiln_test_case(suite, "rejected");
    tcase_add_test(tests, taken_back);
    tcase_add_test(tests, not_finite_velocity);
    tcase_add_test(tests, recovers);
    tcase_add_test(tests, limits_where_matter_flows);
    return suite;
}

#include "rig.h"

#include "step/pace.h"

static rig make_bar(int threads, const char *cells, const char *model, kiln_integrator integrator)
{
    char settings[80];
    snprintf(settings, sizeof settings, "lx=1 ly=.1 lz=.1 %s pattern=mirrored", cells);
    kiln_context *context = kiln_test_context(threads);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", settings);
    return rig_of(context, mesh, rig_material(model, 1e6, 0.3, 1000), integrator);
}

static rig bar(const char *model, kiln_integrator integrator)
{
    return make_bar(1, "nx=8 ny=1 nz=1", model, integrator);
}

/* KM(2) of validation.md. */
static rig fine_bar(int threads, const char *model, kiln_integrator integrator)
{
    return make_bar(threads, "nx=20 ny=2 nz=2", model, integrator);
}

static void clamp_root(rig *r, kiln_solid *solid, double time, double load)
{
    (void)r;
    (void)time;
    (void)load;
    rig_clamp(solid, 1e-9);
}

/* Tip shear spread over the end face, a dead load: validation E4 on KM(2). */
static void load_tip(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    rig_clamp(solid, 1e-9);
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        bool tip = true;
        for (int k = 0; k < 3; k++)
            tip = tip && mesh->u[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]].x > 1 - 1e-9;
        if (tip)
            kiln_loads_add_traction(kiln_solid_loads(solid), f,
                                    kiln_v3(0, 0, load * r->parameter / 0.01), KILN_SPACE_MATERIAL);
    }
}

static kiln_vec3 tip_move(const rig *r)
{
    kiln_vec3 sum = {0, 0, 0};
    double count = 0;
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        if (r->mesh->u[v].x > 1 - 1e-9) {
            sum = kiln_v3_add(sum, kiln_v3_sub(r->mesh->x[v], r->mesh->u[v]));
            count++;
        }
    return kiln_v3_scale(sum, 1 / count);
}

/* alpha = P L^2 / EI = 3: P = 3 * 1e6 * 1e-4/12 = 25 N. */
START_TEST(static_elastica)
{
    rig r = fine_bar(1, "neo-hookean", KILN_STATIC);
    r.set = load_tip;
    r.parameter = 25.0;
    rig_build(&r);
    kiln_error error = {0};
    kiln_driver driver = rig_driver(&r);
    rig_check(kiln_solid_equilibrium(r.solid, &driver, 4, &r.clock, &r.report, &error), &error);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_DONE);
    ck_assert_double_eq_tol(tip_move(&r).z, 0.4705, 0.005 * 0.4705);
    ck_assert_double_eq_tol(1 + tip_move(&r).x, 0.8582, 0.005 * 0.8582);
    kiln_vec3 reaction = rig_sum(&r, kiln_solid_reaction(r.solid));
    ck_assert_double_eq_tol(reaction.z, -25.0, 1e-5);
    ck_assert_double_eq_tol(reaction.x, 0.0, 1e-5);
    ck_assert_double_gt(r.report.e_elastic, 0.0);
    const double *force = kiln_loads_force(kiln_solid_loads(r.solid));
    double work = 0.0;
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        work += force[3 * v + 2] * r.mesh->x[v].z;
    ck_assert_double_eq_tol(r.report.work_loads, -work, 1e-9 * work);
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* Weight that nothing carries: far enough away its forces are lost in rounding, which is no rest.
 */
START_TEST(static_floating_body_has_no_equilibrium)
{
    rig r = bar("stable-neo-hookean", KILN_STATIC);
    r.gravity = kiln_v3(0, 0, -9.81);
    rig_build(&r);
    uint64_t before = kiln_mesh_hash(r.mesh);
    kiln_error error = {0};
    kiln_driver driver = rig_driver(&r);
    rig_check(kiln_solid_equilibrium(r.solid, &driver, 1, &r.clock, &r.report, &error), &error);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_ADRIFT);
    ck_assert_int_eq(r.report.newton.iterations, 0);
    ck_assert_double_eq_tol(r.report.drift.z, -1.0, 1e-12);
    ck_assert_uint_eq(kiln_mesh_hash(r.mesh), before);
    rig_free(&r);
}
END_TEST

/* The root along one direction, which `parameter` turns from x to y; or loads that cancel. */
static void guide_root(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    (void)load;
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_constraints *held = kiln_solid_constraints(solid);
    kiln_held along = {.count = 1, .axis = {{cos(r->parameter), sin(r->parameter), 0}}};
    for (uint32_t v = 0; v < held->rows; v++)
        if (kiln_vertex_live(mesh, v) && mesh->u[v].x < 1e-9) {
            along.place[0] = kiln_v3_dot(along.axis[0], mesh->u[v]);
            ck_assert_int_eq(kiln_constraints_set_held(held, v, &along, NULL), KILN_OK);
        }
}

static void pull_apart(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    kiln_mesh *mesh = r->mesh;
    double first = 0, last = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        first += mesh->u[v].x < 1e-9;
        last += mesh->u[v].x > 1 - 1e-9;
    }
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        double share = mesh->u[v].x < 1e-9       ? -load / first
                       : mesh->u[v].x > 1 - 1e-9 ? load / last
                                                 : 0.0;
        kiln_loads_add_force(kiln_solid_loads(solid), v, kiln_v3(share, 0, 0));
    }
}

/* What holds leave free is refused before anything is solved, also in axes that are turned; what
 * is pushed only where it is held, and what loads pull apart, is not. */
START_TEST(static_bodies_are_held_or_balanced)
{
    static const struct {
        kiln_vec3 gravity, drift;
        double turn;
    } cases[] = {{{0, 0, -9.81}, {0, 0, -1}, 0.0},
                 {{3, 4, 0}, {0, 1, 0}, 0.0},
                 {{3, 4, 0}, {-0.28 * 0.6, 0.28 * 0.8, 0}, 0.6435011087932844 /* cos 0.8 */},
                 {{3, 0, 0}, {0, 0, 0}, 0.0}};
    for (size_t i = 0; i < 4; i++) {
        rig r = bar("corotated", KILN_STATIC);
        r.gravity = cases[i].gravity;
        r.set = guide_root;
        r.parameter = cases[i].turn;
        rig_build(&r);
        kiln_error error = {0};
        kiln_driver driver = rig_driver(&r);
        rig_check(kiln_solid_equilibrium(r.solid, &driver, 1, &r.clock, &r.report, &error), &error);
        double size = kiln_v3_norm(cases[i].drift);
        ck_assert_int_eq(r.report.outcome, size > 0.0 ? KILN_STEP_ADRIFT : KILN_STEP_DONE);
        for (int k = 0; k < 3 && size > 0.0; k++)
            ck_assert_double_eq_tol((&r.report.drift.x)[k], (&cases[i].drift.x)[k] / size, 1e-9);
        rig_free(&r);
    }
    rig r = bar("corotated", KILN_STATIC);
    r.set = pull_apart;
    rig_build(&r);
    kiln_error error = {0};
    kiln_driver driver = rig_driver(&r);
    rig_check(kiln_solid_equilibrium(r.solid, &driver, 1, &r.clock, &r.report, &error), &error);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_DONE);
    rig_free(&r);
}
END_TEST

/* Pressure follows the surface: a cube on its symmetry planes shrinks until its Cauchy stress is
 * minus the pressure. */
static void press(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_constraints *held = kiln_solid_constraints(solid);
    for (uint32_t v = 0; v < held->rows; v++) {
        kiln_vec3 u = mesh->u[v];
        held->held[v] = (uint8_t)((u.x == 0) | (u.y == 0) << 1 | (u.z == 0) << 2);
        held->target[v] = u;
    }
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        ck_assert_int_eq(
            kiln_loads_add_pressure(kiln_solid_loads(solid), f, load * r->parameter, NULL),
            KILN_OK);
}

START_TEST(static_pressure)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e5, 0.3, 1000), KILN_STATIC);
    r.set = press;
    r.parameter = 5e4;
    rig_build(&r);
    kiln_error error = {0};
    kiln_driver driver = rig_driver(&r);
    rig_check(kiln_solid_equilibrium(r.solid, &driver, 3, &r.clock, &r.report, &error), &error);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_DONE);
    double s = r.mesh->x[26].x, J = s * s * s;
    double stress = (r.material.mu * (s * s - 1) + r.material.lambda * log(J)) / J;
    ck_assert_double_eq_tol(stress, -5e4, 1e-6 * 5e4);
    for (uint32_t v = 0; v < 27; v++)
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(r.mesh->x[v], kiln_v3_scale(r.mesh->u[v], s))),
                            1e-8);
    rig_free(&r);
}
END_TEST

/* The free end drawn together to one point and through it, which turns tets inside out: taken back
 * as a whole. */
static void crush(rig *r, kiln_solid *solid, double time, double load)
{
    (void)r;
    (void)time;
    rig_clamp(solid, 1e-9);
    kiln_constraints *held = kiln_solid_constraints(solid);
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    for (uint32_t v = 0; v < held->rows; v++)
        if (mesh->u[v].x > 1 - 1e-9) {
            held->held[v] = 7;
            held->target[v] = kiln_v3_lerp(mesh->u[v], kiln_v3(1, 0.05, 0.05), 1.5 * load);
        }
}

START_TEST(static_failure_is_taken_back)
{
    rig r = make_bar(1, "nx=2 ny=1 nz=1", "neo-hookean", KILN_STATIC);
    r.set = crush;
    r.options.newton.max_iterations = 20;
    rig_build(&r);
    uint64_t before = kiln_mesh_hash(r.mesh);
    kiln_error error = {0};
    kiln_driver driver = rig_driver(&r);
    rig_check(kiln_solid_equilibrium(r.solid, &driver, 2, &r.clock, &r.report, &error), &error);
    ck_assert_int_ne(r.report.outcome, KILN_STEP_DONE);
    ck_assert_uint_eq(kiln_mesh_hash(r.mesh), before);
    rig_free(&r);
}
END_TEST

/* Ends led far in one step: shifted by five lengths and turned by 50 degrees about x. */
static void lead_ends(rig *r, kiln_solid *solid, double time, double load)
{
    (void)load;
    kiln_constraints *held = kiln_solid_constraints(solid);
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    double angle = r->parameter * time, c = cos(angle), s = sin(angle);
    for (uint32_t v = 0; v < held->rows; v++) {
        kiln_vec3 u = mesh->u[v];
        bool far = u.x > 1 - 1e-9;
        if (!far && u.x > 1e-9)
            continue;
        double y = u.y - 0.05, z = u.z - 0.05;
        held->held[v] = 7;
        held->target[v] = far ? kiln_v3(u.x + 5 * time, 0.05 + c * y - s * z, 0.05 + s * y + c * z)
                              : kiln_v3(u.x + 5 * time, u.y, u.z);
    }
}

START_TEST(held_vertices_move_far)
{
    static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2,
                                                  KILN_STATIC};
    for (size_t i = 0; i < 4; i++) {
        rig r = bar("neo-hookean", integrators[i]);
        r.set = lead_ends;
        r.parameter = 50.0 * 3.14159265358979 / 180.0;
        rig_build(&r);
        rig_step(&r, 1.0);
        kiln_constraints *held = kiln_solid_constraints(r.solid);
        for (uint32_t v = 0; v < held->rows; v++)
            if (held->held[v])
                ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(r.mesh->x[v], held->target[v])), 1e-9);
        /* Both ends pull or twist by the same. */
        if (integrators[i] == KILN_STATIC) {
            kiln_vec3 sum = rig_sum(&r, kiln_solid_reaction(r.solid));
            ck_assert_double_le(kiln_v3_norm(sum), 1e-6);
        }
        kiln_test_audit(r.mesh);
        rig_free(&r);
    }
}
END_TEST

/* Led at constant speed from rest: newmark's velocity of the led vertices must not swing. */
static void lead_at_speed(rig *r, kiln_solid *solid, double time, double load)
{
    (void)r;
    (void)load;
    kiln_constraints *held = kiln_solid_constraints(solid);
    const kiln_mesh *mesh = kiln_solid_mesh(solid);
    for (uint32_t v = 0; v < held->rows; v++)
        if (mesh->u[v].x < 1e-9) {
            held->held[v] = 2;
            held->target[v] = kiln_v3(0, mesh->u[v].y + 0.3 * time, 0);
        }
}

START_TEST(led_velocity)
{
    for (int i = 0; i < KILN_STATIC; i++) {
        rig r = bar("corotated", (kiln_integrator)i);
        r.set = lead_at_speed;
        rig_build(&r);
        for (int step = 0; step < 7; step++)
            rig_step(&r, 0.01);
        kiln_constraints *held = kiln_solid_constraints(r.solid);
        for (uint32_t v = 0; v < held->rows; v++)
            if (held->held[v])
                ck_assert_double_eq_tol(rig_v(&r)[v].y, 0.3, 1e-9);
        rig_free(&r);
    }
}
END_TEST

/* Hangs from its root until 0.05 s, then falls: its momentum grows by the impulse of gravity. */
static void let_go(rig *r, kiln_solid *solid, double time, double load)
{
    if (time < 0.05)
        clamp_root(r, solid, time, load);
}

START_TEST(release)
{
    rig r = bar("corotated", KILN_IMPLICIT_EULER);
    r.set = let_go;
    r.gravity = kiln_v3(0, 0, -9.81);
    rig_build(&r);
    for (int i = 0; i < 4; i++) {
        rig_step(&r, 0.01);
        /* What holds the root carries the weight that does not accelerate. */
        ck_assert_double_gt(rig_sum(&r, kiln_solid_reaction(r.solid)).z, 0.0);
    }
    kiln_vec3 before = rig_sums(&r).momentum;
    for (int i = 0; i < 10; i++) {
        rig_step(&r, 0.01);
        ck_assert_double_le(kiln_v3_norm(rig_sum(&r, kiln_solid_reaction(r.solid))), 1e-8);
    }
    kiln_vec3 gained = kiln_v3_sub(rig_sums(&r).momentum, before);
    ck_assert_double_eq_tol(gained.z, -9.81 * 10.0 * 0.1, 1e-7);
    rig_free(&r);
}
END_TEST

/* Momentum balance with a reaction: P grows by h (weight + reaction), each step. */
START_TEST(reactions_balance)
{
    rig r = bar("neo-hookean", KILN_IMPLICIT_EULER);
    r.set = clamp_root;
    r.gravity = kiln_v3(1, 0.5, -9.81);
    rig_build(&r);
    for (int i = 0; i < 5; i++) {
        kiln_motion_sums old = rig_sums(&r);
        rig_step(&r, 0.01);
        kiln_motion_sums new = rig_sums(&r);
        kiln_vec3 rate = kiln_v3_scale(kiln_v3_sub(new.momentum, old.momentum), 1 / 0.01);
        kiln_vec3 force =
            kiln_v3_madd(rig_sum(&r, kiln_solid_reaction(r.solid)), new.mass, r.gravity);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(rate, force)), 1e-5 * new.mass * 9.81);
    }
    rig_free(&r);
}
END_TEST

START_TEST(linearised_is_one_solve)
{
    rig r = bar("corotated", KILN_IMPLICIT_EULER);
    r.options.linearised = true;
    r.set = clamp_root;
    r.gravity = kiln_v3(0, 0, -9.81);
    rig_build(&r);
    for (int i = 0; i < 5; i++) {
        rig_step(&r, 0.01);
        ck_assert_int_eq(r.report.newton.iterations, 1);
        ck_assert_int_eq(r.report.newton.line_searches, 0);
        ck_assert_int_eq(r.report.newton.outcome, KILN_NEWTON_LINEARISED);
    }
    rig_free(&r);
    /* For the linear material it is the whole answer. */
    double tip[2];
    for (int k = 0; k < 2; k++) {
        rig s = bar("linear", KILN_IMPLICIT_EULER);
        s.options.linearised = k == 1;
        s.set = clamp_root;
        s.gravity = kiln_v3(0, 0, -9.81);
        rig_build(&s);
        for (int i = 0; i < 5; i++)
            rig_step(&s, 0.01);
        tip[k] = tip_move(&s).z;
        rig_free(&s);
    }
    ck_assert_double_eq_tol(tip[0], tip[1], 1e-10 * fabs(tip[0]));
}
END_TEST

static uint64_t run_hash(int threads, const char *model, kiln_integrator integrator)
{
    rig r = fine_bar(threads, model, integrator);
    r.set = clamp_root;
    r.gravity = kiln_v3(0, 1, -9.81);
    r.material.damping_mass = 0.1;
    r.material.damping_stiffness = 1e-3;
    r.material.nodal_pressure = integrator == KILN_BDF2;
    rig_build(&r);
    for (int i = 0; i < 4; i++)
        rig_step(&r, 0.01 + 0.002 * i);
    uint64_t hash = kiln_mesh_hash(r.mesh);
    rig_free(&r);
    return hash;
}

START_TEST(threads_give_the_same_bits)
{
    static const char *models[] = {"corotated", "neo-hookean", "stable-neo-hookean"};
    for (int i = 0; i < KILN_STATIC; i++)
        ck_assert_uint_eq(run_hash(1, models[i], (kiln_integrator)i),
                          run_hash(2, models[i], (kiln_integrator)i));
}
END_TEST

/* A resumed run has no caches. */
START_TEST(forgetting_changes_nothing)
{
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        rig r = bar("neo-hookean", KILN_BDF2);
        r.set = clamp_root;
        r.gravity = kiln_v3(0, 0, -9.81);
        rig_build(&r);
        for (int i = 0; i < 6; i++) {
            if (k && i == 3) {
                kiln_solid_forget(r.solid);
                ck_assert_int_eq(kiln_solid_rebuild(r.solid, NULL, NULL), KILN_OK);
            }
            rig_step(&r, 0.01);
        }
        hash[k] = kiln_mesh_hash(r.mesh);
        rig_free(&r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

/* Rayleigh damping in proportion to the mass: a free body's velocity decays, exactly as its
 * integrator has it. */
START_TEST(damped_flight)
{
    const double alpha = 3.0, h = 0.01;
    for (int i = 0; i < KILN_STATIC; i++) {
        rig r = bar("neo-hookean", (kiln_integrator)i);
        r.material.damping_mass = alpha;
        rig_build(&r);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3(2, 0, 1);
        double v = 2, v_m = 2;
        for (int k = 0; k < 20; k++) {
            rig_step(&r, h);
            double stage = 1 + (1 - sqrt(0.5)) * h * alpha; /* of bdf2's first step */
            double next = i == KILN_NEWMARK ? v * (1 - alpha * h / 2) / (1 + alpha * h / 2)
                          : i != KILN_BDF2  ? v / (1 + alpha * h)
                          : k > 0           ? (4 * v - v_m) / 3 / (1 + 2 * h / 3 * alpha)
                                            : ((1 + sqrt(2)) * v / stage - sqrt(2) * v) / stage;
            v_m = v, v = next;
        }
        ck_assert_double_eq_tol(rig_v(&r)[5].x, v, 1e-9);
        ck_assert_double_eq_tol(rig_v(&r)[7].z, v / 2, 1e-9);
        rig_free(&r);
    }
}
END_TEST

/* The energy of the nodal pressure counts. */
START_TEST(nodal_pressure_steps)
{
    rig r = bar("neo-hookean", KILN_IMPLICIT_EULER);
    r.material = rig_material("neo-hookean", 1e6, 0.49, 1000);
    r.material.nodal_pressure = true;
    r.set = clamp_root;
    r.gravity = kiln_v3(0, 0, -9.81);
    rig_build(&r);
    double before = 0.0;
    for (int i = 0; i < 5; i++) {
        rig_step(&r, 0.02);
        ck_assert_double_gt(r.report.e_elastic, before);
        before = r.report.e_elastic;
    }
    kiln_vec3 reaction = rig_sum(&r, kiln_solid_reaction(r.solid));
    ck_assert(kiln_v3_finite(reaction));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

static kiln_status refuse(void *self, kiln_solid *solid, double time, double load,
                          kiln_error *error)
{
    (void)self;
    (void)solid;
    (void)load;
    return kiln_fail(error, KILN_ERR_INPUT, "scene.lua", 7, -1, "no value at %g", time);
}

START_TEST(errors)
{
    rig r = bar("corotated", KILN_IMPLICIT_EULER);
    rig_build(&r);
    uint64_t before = kiln_mesh_hash(r.mesh);
    kiln_error error = {0};
    kiln_driver bad = {.set = refuse};
    ck_assert_int_eq(kiln_solid_step(r.solid, &bad, 0.01, &r.clock, &r.report, &error),
                     KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, 7);
    ck_assert_double_eq(r.clock.time, 0.0);
    const double lengths[] = {0.0, -1.0, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(kiln_solid_step(r.solid, NULL, lengths[i], &r.clock, &r.report, &error),
                         KILN_ERR_INPUT);
    ck_assert_uint_eq(kiln_mesh_hash(r.mesh), before);
    /* Without a driver: no loads, nothing held. */
    ck_assert_int_eq(kiln_solid_step(r.solid, NULL, 0.01, &r.clock, &r.report, &error), KILN_OK);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_DONE);
    /* A material that is not there, a field name that is taken. */
    kiln_field *material = kiln_mesh_field(r.mesh, KILN_ON_TET, "material");
    ((uint32_t *)(void *)material->data)[5] = 3;
    ck_assert_int_eq(kiln_solid_rebuild(r.solid, NULL, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "tet 5"));
    rig_free(&r);

    rig s = bar("corotated", KILN_IMPLICIT_EULER);
    ck_assert_int_eq(
        kiln_mesh_add_field(s.mesh, "v", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_INTERPOLATE, NULL),
        KILN_OK);
    ck_assert_int_eq(
        kiln_solid_create(s.mesh, &s.options, &s.material, 1, NULL, 0, &s.solid, &error),
        KILN_ERR_INPUT);
    rig_free(&s);
}
END_TEST

/* Every allocation of making and stepping fails once: a status, no leak, and a step that failed
 * leaves the mesh as it was. */
START_TEST(out_of_memory)
{
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
        rig r = rig_of(context, mesh, rig_material("corotated", 1e6, 0.3, 1000), KILN_NEWMARK);
        r.gravity = kiln_v3(0, 0, -1);
        heap.fail_at = heap.calls + fail;
        kiln_driver driver = rig_driver(&r);
        kiln_error error = {0};
        kiln_status status =
            kiln_solid_create(mesh, &r.options, &r.material, 1, NULL, 0, &r.solid, &error);
        if (status == KILN_OK) {
            uint64_t before = kiln_mesh_hash(mesh);
            status = kiln_solid_step(r.solid, &driver, 0.01, &r.clock, &r.report, &error);
            if (status != KILN_OK)
                ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
        }
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        bool reached = heap.calls >= heap.fail_at;
        heap.fail_at = 0;
        rig_free(&r);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (!reached)
            break;
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("solid");
    TCase *tests = kiln_test_case(suite, "solid");
    tcase_add_test(tests, static_elastica);
    tcase_add_test(tests, static_floating_body_has_no_equilibrium);
    tcase_add_test(tests, static_bodies_are_held_or_balanced);
    tcase_add_test(tests, static_pressure);
    tcase_add_test(tests, static_failure_is_taken_back);
    tcase_add_test(tests, held_vertices_move_far);
    tcase_add_test(tests, led_velocity);
    tcase_add_test(tests, release);
    tcase_add_test(tests, reactions_balance);
    tcase_add_test(tests, linearised_is_one_solve);
    tcase_add_test(tests, threads_give_the_same_bits);
    tcase_add_test(tests, forgetting_changes_nothing);
    tcase_add_test(tests, damped_flight);
    tcase_add_test(tests, nodal_pressure_steps);
    tcase_add_test(tests, errors);
    tcase_add_test(tests, out_of_memory);
    return suite;
}

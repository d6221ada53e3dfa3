/* E3, E9 and E10: frequencies, integrators, momentum. */
#include "validation/trial.h"

#include "base/random.h"
#include "solve/newton.h"

#include <stdio.h>
#include <string.h>

/* The lowest mode of a world's body at rest, by inverse iteration with the stiffness and mass the
 * steps use. Components named by `held` [vertex slot] (bits, along the rows of `axes`) are fixed.
 */
typedef struct mode {
    double omega;         /* rad per unit of the scene's time */
    kiln_f64_array shape; /* [vertex slot][3], largest entry 1 */
} mode;

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

typedef struct eigen_problem {
    kiln_bsr K;
    kiln_constraints constraints;
    kiln_solver *solver;
    kiln_f64_array work; /* four vectors */
    size_t n;            /* numbers in a vector */
} eigen_problem;

static kiln_status hold(kiln_constraints *constraints, uint32_t rows, const uint8_t *held,
                        const kiln_mat3 *axes, kiln_error *error)
{
    KILN_TRY(kiln_constraints_reset(constraints, rows, error));
    memcpy(constraints->held, held, rows);
    for (uint32_t i = 0; i < rows; i++) {
        kiln_constraint_frame frame = {i, *axes};
        if (held[i] != 0 && held[i] != 7)
            KILN_TRY(kiln_array_push(constraints->context, &constraints->frames, frame, error));
    }
    return KILN_OK;
}

static kiln_status assemble(eigen_problem *p, kiln_context *context, kiln_solid *solid,
                            const uint8_t *held, const kiln_mat3 *axes, kiln_error *error)
{
    kiln_mesh *mesh = kiln_solid_mesh(solid);
    kiln_term *term = kiln_elements_term(kiln_solid_elements(solid));
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_cliques cliques = term->cliques(term->self);
    kiln_solve_outcome outcome;
    p->n = 3 * (size_t)rows;
    KILN_TRY(kiln_array_reserve(context, &p->work, 4 * p->n, error));
    memset(p->work.data, 0, 4 * p->n * sizeof *p->work.data);
    KILN_TRY(kiln_bsr_set_pattern(&p->K, rows, &cliques, 1, error));
    if (term->attach)
        KILN_TRY(term->attach(term->self, &p->K, error));
    term->add(term->self, &mesh->x[0].x, 1.0, p->work.data, &p->K);
    KILN_TRY(hold(&p->constraints, rows, held, axes, error));
    kiln_constraints_apply(&p->constraints, &p->K, 1.0);
    kiln_solver_options options = kiln_solver_default_options();
    KILN_TRY(kiln_solver_create(context, &options, &p->solver, error));
    KILN_TRY(kiln_solver_factor(p->solver, &p->K, &outcome, error));
    return outcome == KILN_SOLVE_OK
               ? KILN_OK
               : kiln_fail(error, KILN_ERR_STATE, "stiffness", 0, -1, "is not positive definite");
}

static kiln_status iterate(eigen_problem *p, const kiln_mass *mass, mode *out, kiln_error *error)
{
    double *v = p->work.data, *mv = v + p->n, *w = mv + p->n, *mw = w + p->n;
    kiln_random random = kiln_random_start(3, 0);
    kiln_solve_outcome outcome;
    double before = 0.0, lambda = 1.0;
    for (size_t i = 0; i < p->n; i++)
        v[i] = kiln_random_range(&random, -1, 1);
    kiln_constraints_project(&p->constraints, v);
    for (int k = 0; k < 2000 && fabs(lambda - before) > 1e-13 * lambda; k++) {
        kiln_mass_multiply(mass, v, mv);
        kiln_constraints_project(&p->constraints, mv);
        KILN_TRY(kiln_solver_solve(p->solver, mv, w, &outcome, error));
        if (outcome != KILN_SOLVE_OK)
            return kiln_fail(error, KILN_ERR_STATE, "inverse iteration", 0, -1,
                             "step %d could not be solved", k);
        kiln_mass_multiply(mass, w, mw);
        before = lambda;
        lambda = dot(w, mv, p->n) / dot(w, mw, p->n);
        double largest = 0.0;
        for (size_t i = 0; i < p->n; i++)
            largest = fabs(w[i]) > fabs(largest) ? w[i] : largest;
        for (size_t i = 0; i < p->n; i++)
            v[i] = w[i] / largest;
    }
    out->omega = sqrt(lambda);
    KILN_TRY(kiln_array_reserve(p->K.context, &out->shape, p->n, error));
    memcpy(out->shape.data, v, p->n * sizeof *v);
    out->shape.count = p->n;
    return KILN_OK;
}

static kiln_status lowest_mode(kiln_context *context, kiln_world *world, const uint8_t *held,
                               const kiln_mat3 *axes, mode *out, kiln_error *error)
{
    eigen_problem p = {0};
    kiln_solid *solid = kiln_world_solid(world);
    kiln_bsr_init(&p.K, context);
    kiln_constraints_init(&p.constraints, context);
    kiln_status status = assemble(&p, context, solid, held, axes, error);
    if (status == KILN_OK)
        status = iterate(&p, kiln_solid_mass(solid), out, error);
    kiln_solver_destroy(p.solver);
    kiln_constraints_free(&p.constraints);
    kiln_bsr_free(&p.K);
    kiln_array_free(context, &p.work);
    return status;
}

static kiln_status bar(kiln_trial *trial, int n, double poisson, kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "linear", 1e6, poisson, 1000, error));
    return kiln_trial_box(trial, kiln_v3(1, 0.1, 0.1), (int[]){10 * n, n, n}, "mirrored", error);
}

/* Root clamped; `sideways` also holds plain y and z everywhere. */
static kiln_status bar_mode(kiln_trial *trial, kiln_world *world, bool sideways, mode *out,
                            kiln_error *error)
{
    kiln_mesh *mesh = kiln_world_mesh(world);
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    uint8_t *held = kiln_resize(trial->context, NULL, 0, rows);
    if (!held)
        return kiln_fail_memory(error, rows);
    for (uint32_t i = 0; i < rows; i++) {
        kiln_vec3 u = kiln_trial_vector_back(trial, mesh->u[i], 1, 0, 0);
        held[i] = u.x < 1e-9 ? 7 : sideways ? 6 : 0;
    }
    kiln_mat3 axes = kiln_m3_transpose(trial->view->rotation); /* as kiln_trial_hold has them */
    kiln_status status = lowest_mode(trial->context, world, held, &axes, out, error);
    kiln_release(trial->context, held, rows);
    return status;
}

static kiln_status measure_bending(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    mode m = {0};
    kiln_status status = bar_mode(trial, world, false, &m, error);
    *(double *)trial->user = m.omega * kiln_trial_number(trial, 1.0, 0, 0, 1) / (2 * KILN_PI);
    kiln_array_free(trial->context, &m.shape);
    return status;
}

kiln_status kiln_validate_E3(kiln_validation *validation, kiln_error *error)
{
    static const struct {
        int n;
        kiln_mass_kind mass;
        double golden;
        const char *name;
    } goldens[] = {{4, KILN_MASS_LUMPED, 0.550067, "KM(4), lumped"},
                   {4, KILN_MASS_CONSISTENT, 0.550330, "KM(4), consistent"},
                   {2, KILN_MASS_LUMPED, 0.651078, "KM(2), lumped"}};
    for (size_t v = 0; kiln_view_at(v); v++)
        for (int i = 0; i < 3; i++) {
            kiln_trial trial;
            double frequency = NAN;
            kiln_trial_begin(&trial, kiln_validation_context(validation), kiln_view_at(v));
            trial.scene.solid.integrator = KILN_IMPLICIT_EULER;
            trial.scene.solid.mass = goldens[i].mass;
            trial.user = &frequency;
            kiln_status status = bar(&trial, goldens[i].n, 0.3, error);
            if (status == KILN_OK)
                status = kiln_trial_build(&trial, measure_bending, error);
            kiln_trial_end(&trial);
            KILN_TRY(status);
            kiln_validation_report(
                validation, frequency, kiln_near_relative(goldens[i].golden, 1e-5),
                "%s, %s: first bending frequency, Hz", goldens[i].name, kiln_view_at(v)->name);
        }
    return KILN_OK;
}

/* E9. The exact solution x = cos(2 pi t) of an oscillator of period 1; what a step of each
 * integrator makes of it after 1/dt steps is a number of its own. */
static const struct {
    kiln_integrator integrator;
    double error, energy; /* at dt = .01; energy over the first */
    double least_order, most_order;
} integrators[] = {{KILN_IMPLICIT_EULER, 0.178968, 0.674349, 0.92, 1.0},
                   {KILN_NEWMARK, 2.06586e-3, 1.0, 1.97, 2.03},
                   {KILN_BDF2, 8.19145e-3, 0.999243, 1.97, 2.03}};

typedef struct swing {
    double dt;                                                  /* of the period */
    double period;                                              /* plain s */
    bool alone;                                                 /* bdf2 gets no history */
    kiln_vec3 (*shape)(const struct swing *swing, kiln_vec3 u); /* displacement at the start */
    kiln_f64_array mode; /* bar: plain u of the nodes and shape along x, [node][4] */
    double x, v;         /* amplitude and its rate times period / 2 pi, at the end */
} swing;

static kiln_vec3 place_swing(const void *user, kiln_vec3 u, double time)
{
    const swing *s = user;
    (void)time;
    return kiln_v3_add(u, s->shape(s, u));
}

/* The state one step before the start, which bdf2 goes on from. */
static kiln_status give_history(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    const swing *s = trial->user;
    kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_field *x = kiln_mesh_field(mesh, KILN_ON_VERTEX, "x_before");
    kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v_before");
    double omega = 2 * KILN_PI / s->period, h = s->dt * s->period;
    if (!x || !v)
        return kiln_fail(error, KILN_ERR_STATE, "bdf2", 0, -1, "has no history fields");
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        kiln_vec3 u = kiln_trial_vector_back(trial, mesh->u[i], 1, 0, 0), d = s->shape(s, u);
        ((kiln_vec3 *)x->data)[i] =
            kiln_trial_vector(trial, kiln_v3_madd(u, cos(omega * h), d), 1, 0, 0);
        ((kiln_vec3 *)v->data)[i] =
            kiln_trial_vector(trial, kiln_v3_scale(d, omega * sin(omega * h)), 1, 0, -1);
    }
    kiln_world_get_state(world)->clock.h_before = kiln_trial_number(trial, h, 0, 0, 1);
    return KILN_OK;
}

static kiln_status run_swing(kiln_trial *trial, swing *s, kiln_integrator integrator,
                             kiln_error *error)
{
    double h = kiln_trial_number(trial, s->dt * s->period, 0, 0, 1);
    kiln_trial_map start = {trial, place_swing, s, 1, 0, 0};
    trial->user = s;
    trial->scene.solid.integrator = integrator;
    trial->scene.pace.dt = h;
    trial->scene.pace.dt_min = 1e-3 * h;
    trial->scene.duration = kiln_trial_number(trial, s->period, 0, 0, 1);
    trial->scene.bodies.data[0].position = kiln_trial_quantity(&start);
    trial->prepare = integrator == KILN_BDF2 && !s->alone ? give_history : NULL;
    KILN_TRY(kiln_trial_run(trial, error));
    /* Least squares on the shape; the nodes weigh the same, which a pure mode allows. */
    const kiln_vec3 *v = kiln_trial_field(trial, "v");
    double norm = 0.0;
    s->x = s->v = 0.0;
    for (size_t i = 0; v && i < trial->result.points.count; i++) {
        kiln_vec3 u = kiln_trial_u(trial, i), d = s->shape(s, u);
        norm += kiln_v3_norm2(d);
        s->x += kiln_v3_dot(d, kiln_v3_sub(kiln_trial_x(trial, i), u));
        s->v += kiln_v3_dot(d, v[i]) * s->period / (2 * KILN_PI);
    }
    s->x /= norm;
    s->v /= norm;
    return KILN_OK;
}

/* A tet of which one vertex is free along x: k = mu V, m = rho V / 4 (lumped). */
static kiln_vec3 tip_shape(const swing *s, kiln_vec3 u)
{
    (void)s;
    return kiln_v3(u.z > 0.5 ? 1.0 : 0.0, 0, 0);
}

static kiln_status one_tet(kiln_trial *trial, kiln_error *error)
{
    static const kiln_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    kiln_soup soup;
    kiln_picks where;
    kiln_status status = KILN_OK;
    /* omega^2 = 4 mu / rho = (2 pi)^2 */
    KILN_TRY(kiln_trial_material(trial, "linear", 2 * KILN_PI * KILN_PI, 0.0, 1.0, error));
    kiln_soup_init(&soup, trial->context);
    for (int i = 0; i < 4 && status == KILN_OK; i++)
        status = kiln_array_push(trial->context, &soup.points, corners[i], error);
    if (status == KILN_OK)
        status =
            kiln_array_push(trial->context, &soup.tets, ((kiln_soup_tet){{0, 1, 2, 3}}), error);
    if (status != KILN_OK) {
        kiln_soup_free(&soup);
        return status;
    }
    KILN_TRY(kiln_trial_body(trial, &soup, error));
    for (int i = 0; i < 4; i++) {
        KILN_TRY(kiln_trial_pick_ball(trial, corners[i], 0.1, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, i < 3 ? 7 : 6, NULL, error));
    }
    return KILN_OK;
}

static kiln_status swing_tet(kiln_validation *validation, const kiln_view *view,
                             kiln_integrator integrator, double dt, swing *s, kiln_error *error)
{
    kiln_trial trial;
    *s = (swing){.dt = dt, .period = 1.0, .shape = tip_shape, .alone = s->alone};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_status status = one_tet(&trial, error);
    if (status == KILN_OK)
        status = run_swing(&trial, s, integrator, error);
    kiln_trial_end(&trial);
    return status;
}

static double swing_error(const swing *s)
{
    return sqrt((s->x - 1) * (s->x - 1) + s->v * s->v);
}

static double swing_energy(const swing *s)
{
    return s->x * s->x + s->v * s->v;
}

static kiln_vec3 bar_shape(const swing *s, kiln_vec3 u)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < s->mode.count / 4; i++) {
        const double *node = s->mode.data + 4 * i;
        double off = kiln_v3_norm2(kiln_v3_sub(kiln_v3(node[0], node[1], node[2]), u));
        if (off < least) {
            least = off;
            best = i;
        }
    }
    return kiln_v3(1e-3 * s->mode.data[4 * best + 3], 0, 0);
}

static kiln_status keep_axial_mode(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    swing *s = trial->user;
    kiln_mesh *mesh = kiln_world_mesh(world);
    mode m = {0};
    kiln_status status = bar_mode(trial, world, true, &m, error);
    for (uint32_t i = 0; status == KILN_OK && i < mesh->table[KILN_ON_VERTEX].used; i++) {
        const double *d = m.shape.data + 3 * (size_t)i;
        kiln_vec3 u = kiln_trial_vector_back(trial, mesh->u[i], 1, 0, 0);
        kiln_vec3 along = kiln_trial_vector_back(trial, kiln_v3(d[0], d[1], d[2]), 0, 0, 0);
        const double node[4] = {u.x, u.y, u.z, along.x};
        for (int c = 0; c < 4 && status == KILN_OK; c++)
            status = kiln_array_push(trial->context, &s->mode, node[c], error);
    }
    s->period = 2 * KILN_PI / (m.omega * kiln_trial_number(trial, 1.0, 0, 0, 1));
    kiln_array_free(trial->context, &m.shape);
    return status;
}

/* The axial mode of the bar swings as the oscillator does, with the period of the mesh's mode. */
static kiln_status swing_bar(kiln_validation *validation, const kiln_view *view,
                             kiln_integrator integrator, swing *s, kiln_error *error)
{
    kiln_trial trial;
    kiln_picks where;
    *s = (swing){.dt = 0.01, .shape = bar_shape};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = KILN_IMPLICIT_EULER;
    trial.user = s;
    kiln_status status = bar(&trial, 2, 0.0, error);
    if (status == KILN_OK)
        status = kiln_trial_build(&trial, keep_axial_mode, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_all(&trial, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &where, 6, NULL, error);
    if (status == KILN_OK)
        status = kiln_trial_pick_patch(&trial, 1, &where, error);
    if (status == KILN_OK)
        status = kiln_trial_hold(&trial, &where, 1, NULL, error);
    if (status == KILN_OK)
        status = run_swing(&trial, s, integrator, error);
    kiln_array_free(trial.context, &s->mode);
    kiln_trial_end(&trial);
    return status;
}

/* Without a history bdf2 does as well as with an exact one. */
static kiln_status swing_alone(kiln_validation *validation, kiln_error *error)
{
    const double dt[2] = {0.02, 0.01};
    swing alone[2] = {{.alone = true}, {.alone = true}}, given = {.alone = false};
    for (int i = 0; i < 2; i++)
        KILN_TRY(swing_tet(validation, kiln_view_at(0), KILN_BDF2, dt[i], &alone[i], error));
    KILN_TRY(swing_tet(validation, kiln_view_at(0), KILN_BDF2, dt[0], &given, error));
    kiln_validation_report(validation, swing_energy(&alone[0]),
                           kiln_near(swing_energy(&given), 1e-3),
                           "bdf2 without a history, dt = .02: energy over the first");
    kiln_validation_report(validation, swing_error(&alone[0]) / swing_error(&given),
                           kiln_at_most(1.05), "the same: error over that with a history");
    kiln_validation_report(validation, log2(swing_error(&alone[0]) / swing_error(&alone[1])),
                           kiln_between(1.95, 2.05), "the same: order at dt = .01");
    return KILN_OK;
}

kiln_status kiln_validate_E9(kiln_validation *validation, kiln_error *error)
{
    swing s = {.alone = false}, half = {.alone = false};
    for (int i = 0; i < 3; i++) {
        const char *name = kiln_integrator_name(integrators[i].integrator);
        for (size_t v = 0; kiln_view_at(v); v++) {
            const char *view = kiln_view_at(v)->name;
            KILN_TRY(
                swing_tet(validation, kiln_view_at(v), integrators[i].integrator, 0.01, &s, error));
            kiln_validation_report(validation, swing_error(&s),
                                   kiln_near_relative(integrators[i].error, 1e-4),
                                   "%s, %s: error after a period", name, view);
            kiln_validation_report(validation, swing_energy(&s),
                                   kiln_near(integrators[i].energy, 1e-4),
                                   "%s, %s: energy over the first", name, view);
            KILN_TRY(swing_bar(validation, kiln_view_at(v), integrators[i].integrator, &s, error));
            kiln_validation_report(validation, swing_error(&s),
                                   kiln_near_relative(integrators[i].error, 1e-4),
                                   "%s, %s, axial mode of a bar: error", name, view);
        }
        KILN_TRY(
            swing_tet(validation, kiln_view_at(0), integrators[i].integrator, 0.01, &s, error));
        KILN_TRY(
            swing_tet(validation, kiln_view_at(0), integrators[i].integrator, 0.005, &half, error));
        double low = integrators[i].least_order, high = integrators[i].most_order;
        kiln_validation_report(validation, log2(swing_error(&s) / swing_error(&half)),
                               kiln_between(low, high), "%s: order at dt = .005", name);
        if (integrators[i].integrator == KILN_IMPLICIT_EULER) {
            double exact = pow(1 + pow(2 * KILN_PI * 0.01, 2), -100);
            kiln_validation_report(validation, swing_energy(&s), kiln_near_relative(exact, 1e-8),
                                   "%s: energy is (1 + w^2 dt^2)^-N", name);
        }
    }
    return swing_alone(validation, error);
}

/* E10. Momentum of a block that flies and spins, from the nodes and velocities of each frame. */
typedef struct flight {
    kiln_vec3 first_P, first_L;
    double P_off, L_off; /* largest, relative */
    double L_last;       /* |L| of the frame before, relative to the first */
    double L_gain;       /* largest growth of |L| from frame to frame, relative */
    int frames;
} flight;

static void weigh_frame(kiln_trial *trial)
{
    flight *f = trial->user;
    const kiln_vec3 *v = kiln_trial_field(trial, "v");
    kiln_vec3 P = {0, 0, 0}, L = {0, 0, 0}, centre = {0, 0, 0};
    double mass = 0.0;
    for (size_t t = 0; v && t < trial->result.tets.count; t++) {
        double volume;
        kiln_trial_gradient(trial, t, &volume);
        for (int c = 0; c < 4; c++) {
            uint32_t i = trial->result.tets.data[t].v[c];
            double m = 1000 * volume / 4;
            kiln_vec3 p = kiln_v3_scale(v[i], m);
            P = kiln_v3_add(P, p);
            L = kiln_v3_add(L, kiln_v3_cross(kiln_trial_x(trial, i), p));
            centre = kiln_v3_madd(centre, m, kiln_trial_x(trial, i));
            mass += m;
        }
    }
    /* About the centre of mass: what spins, apart from what flies. */
    L = kiln_v3_sub(L, kiln_v3_scale(kiln_v3_cross(centre, P), 1.0 / mass));
    if (f->frames++ == 0) {
        f->first_P = P;
        f->first_L = L;
        f->L_last = 1.0;
        return;
    }
    double l = kiln_v3_norm(L) / kiln_v3_norm(f->first_L);
    f->P_off = fmax(f->P_off, kiln_v3_norm(kiln_v3_sub(P, f->first_P)) / kiln_v3_norm(f->first_P));
    f->L_off = fmax(f->L_off, kiln_v3_norm(kiln_v3_sub(L, f->first_L)) / kiln_v3_norm(f->first_L));
    f->L_gain = fmax(f->L_gain, l - f->L_last);
    f->L_last = l;
}

static kiln_status fly(kiln_validation *validation, const kiln_view *view,
                       kiln_integrator integrator, const char *model, bool linearised, flight *f,
                       kiln_error *error)
{
    kiln_trial trial;
    *f = (flight){0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.scene.solid.integrator = integrator;
    trial.scene.solid.linearised = linearised;
    trial.scene.pace.dt = trial.scene.output.frame = kiln_trial_number(&trial, 0.005, 0, 0, 1);
    trial.scene.pace.dt_min = 1e-6 * trial.scene.pace.dt;
    trial.scene.duration = 200 * trial.scene.pace.dt;
    trial.on_frame = weigh_frame;
    trial.user = f;
    kiln_status status = kiln_trial_material(&trial, model, 1e5, 0.3, 1000, error);
    if (status == KILN_OK)
        status =
            kiln_trial_box(&trial, kiln_v3(0.8, 0.4, 0.2), (int[]){8, 4, 2}, "mirrored", error);
    if (status == KILN_OK) {
        kiln_scene_body *body = &trial.scene.bodies.data[0];
        body->velocity =
            kiln_quantity_vector(kiln_trial_vector(&trial, kiln_v3(1.5, -0.5, 0.7), 1, 0, -1));
        body->spin = kiln_trial_vector(&trial, kiln_v3(1, 2, 4), 0, 0, -1);
        status = kiln_trial_run(&trial, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_E10(kiln_validation *validation, kiln_error *error)
{
    flight f;
    for (size_t v = 0; kiln_view_at(v); v++) {
        const kiln_view *view = kiln_view_at(v);
        KILN_TRY(fly(validation, view, KILN_NEWMARK, "neo-hookean", false, &f, error));
        kiln_validation_report(validation, f.P_off, kiln_at_most(1e-10), "newmark, %s: drift of P",
                               view->name);
        kiln_validation_report(validation, f.L_off, kiln_at_most(1e-3), "newmark, %s: drift of L",
                               view->name);
        KILN_TRY(fly(validation, view, KILN_IMPLICIT_EULER, "neo-hookean", false, &f, error));
        kiln_validation_report(validation, f.P_off, kiln_at_most(1e-10),
                               "implicit-euler, %s: drift of P", view->name);
        kiln_validation_report(validation, f.L_gain, kiln_at_most(1e-12),
                               "implicit-euler, %s: largest growth of |L|", view->name);
        KILN_TRY(fly(validation, view, KILN_IMPLICIT_EULER, "corotated", true, &f, error));
        kiln_validation_report(validation, f.P_off, kiln_at_most(1e-10),
                               "linearised corotated, %s: drift of P", view->name);
        kiln_validation_report(validation, f.L_off, kiln_unbound(),
                               "linearised corotated, %s: drift of L", view->name);
    }
    return KILN_OK;
}

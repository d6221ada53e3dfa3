#include "base/assert.h"
#include "base/parallel.h"
#include "fem/yield_surfaces.h"
#include "mesh/rewind.h"
#include "mesh/txn.h"
#include "step/solid_impl.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 512 };

/* Asking the driver. */

kiln_status kiln_solid_drive(kiln_solid *solid, const kiln_driver *driver, double time, double load,
                             kiln_error *error)
{
    const kiln_mesh *mesh = solid->mesh;
    const kiln_pose still = {.rotation = kiln_m3_identity()};
    KILN_TRY(kiln_constraints_reset(&solid->given, solid->all, error));
    KILN_TRY(kiln_loads_reset(solid->loads, mesh, error));
    for (size_t o = 0; o < solid->obstacles.count; o++)
        kiln_obstacle_set_pose(solid->obstacles.data[o], &still);
    if (driver && driver->set)
        KILN_TRY(driver->set(driver->self, solid, time, load, error));
    for (uint32_t v = 0; v < solid->rows; v++)
        if (!kiln_vertex_live(mesh, v)) {
            solid->given.held[v] = 7;
            solid->given.target[v] = mesh->x[v];
        }
    memset(solid->given.held + solid->rows, 7,
           solid->all - solid->rows); /* where: when it begins */
    return KILN_OK;
}

/* Sums over the history. */

typedef struct combination {
    const kiln_attempt *trial;
    const double *weight;
    double *out;
} combination;

static void combine_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const combination *c = user;
    for (size_t i = begin; i < end; i++)
        c->out[i] = c->weight[0] * c->trial->history[0][i];
    for (int k = 1; k < KILN_HISTORY_COUNT; k++)
        if (c->weight[k] != 0.0)
            for (size_t i = begin; i < end; i++)
                c->out[i] += c->weight[k] * c->trial->history[k][i];
}

static void combine(const kiln_attempt *t, const double *weight, double *out)
{
    combination c = {t, weight, out};
    kiln_parallel_for(t->solid->context, 3 * t->solid->rows, 3 * GRAIN, combine_chunk, &c);
}

/* Velocities. */

static void rates_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const kiln_attempt *t = user;
    kiln_solid *s = t->solid;
    double per_tau = t->scheme.scale > 0.0 ? 1.0 / t->scheme.tau : 0.0;
    const double *x = s->x.data;
    for (size_t i = begin; i < end; i++)
        s->rate.data[i] = (x[i] - s->origin.data[i]) * per_tau;
    if (t->integrator != KILN_NEWMARK)
        return;
    double per_scale = 1.0 / t->scheme.scale, per_h = 1.0 / t->h;
    const double *x_n = t->history[KILN_HISTORY_X], *v_n = t->history[KILN_HISTORY_V];
    /* Minus backward differences, see find_rates. */
    for (size_t i = begin; i < end; i++) {
        double v = (x[i] - x_n[i]) * per_h;
        s->rate2.data[i] = (x[i] - s->centre.data[i]) * per_scale - (v - v_n[i]) * per_h;
        s->rate.data[i] -= v;
    }
}

static void backward_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const kiln_attempt *t = user;
    kiln_solid *s = t->solid;
    double per_h = 1.0 / t->h;
    const double *x_n = t->history[KILN_HISTORY_X], *v_n = t->history[KILN_HISTORY_V];
    for (size_t i = begin; i < end; i++) {
        double v = (s->x.data[i] - x_n[i]) * per_h;
        s->rate.data[i] += v;
        s->rate2.data[i] += (v - v_n[i]) * per_h;
    }
}

/* Only what is free of a rate; `taken` is the force that took the rest, times `per_h`. */
static void project_rate(kiln_solid *s, double *rate, double per_h, double *taken)
{
    const double *mass = kiln_mass_lumped(s->mass);
    kiln_constraints given = kiln_solid_given(s);
    memcpy(taken, rate, 3 * s->rows * sizeof *taken);
    kiln_constraints_project(&given, rate);
    for (size_t i = 0; i < 3 * s->rows; i++)
        taken[i] = mass[i / 3] * per_h * (rate[i] - taken[i]);
}

/* What brief terms gave to the accelerations is taken out again, as a force on what is held too. */
static kiln_status forget_brief(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    size_t size = 3 * s->rows;
    if (s->lasting == s->terms.count)
        return KILN_OK;
    kiln_attempt_gradient(t, s->lasting, s->terms.count, s->x.data, s->brief.data);
    for (size_t i = 0; i < size; i++)
        s->kick.data[i] -= s->brief.data[i];
    memset(s->relief.data, 0, size * sizeof(double));
    kiln_constraints given = kiln_solid_given(s);
    KILN_TRY(kiln_mass_follow(s->mass, &given, s->relief.data, s->brief.data, error));
    for (size_t i = 0; i < size; i++) {
        s->kick.data[i] += s->brief.data[i];
        s->rate2.data[i] += s->relief.data[i];
    }
    return KILN_OK;
}

/* Newmark's velocity of a vertex that is led swings about the right one for ever, so along held
 * directions backward differences are taken instead. */
static kiln_status find_rates(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    size_t size = 3 * s->rows;
    kiln_parallel_for(s->context, size, 3 * GRAIN, rates_chunk, t);
    if (t->integrator == KILN_NEWMARK) {
        project_rate(s, s->rate.data, 1.0 / t->h, s->hit.data);
        project_rate(s, s->rate2.data, 1.0, s->kick.data);
        kiln_parallel_for(s->context, size, 3 * GRAIN, backward_chunk, t);
        KILN_TRY(forget_brief(t, error));
    }
    kiln_constraints given = kiln_solid_given(s);
    if (s->liquid.used)
        KILN_TRY(
            kiln_liquid_give_back(&s->liquid, s->x.data, s->mass, &given, s->rate.data, error));
    if (!s->touch.obstacle_count || t->scheme.scale == 0.0)
        return KILN_OK;
    return kiln_touch_stop(&s->touch, s->rate.data,
                           t->integrator == KILN_NEWMARK ? s->rate2.data : NULL, s->contact.data,
                           error);
}

/* The columns that an accepted step rewrites, and when it has them. */
static kiln_status save_columns(const kiln_attempt *t, kiln_error *error)
{
    bool newmark = t->integrator == KILN_NEWMARK, bdf2 = t->integrator == KILN_BDF2;
    bool obstacles = t->solid->touch.obstacle_count > 0, met = kiln_solid_contact_met(t->solid);
    const struct {
        const char *name;
        bool used;
        kiln_save how;
    } columns[] = {{".x", true, KILN_SAVE_ALL},
                   {"v", true, KILN_SAVE_ALL},
                   {"a", newmark, KILN_SAVE_ALL},
                   {"x_before", bdf2, KILN_SAVE_ALL},
                   {"v_before", bdf2, KILN_SAVE_ALL},
                   {"contact_with", obstacles, KILN_SAVE_COPY},
                   {"contact_load", obstacles, KILN_SAVE_COPY},
                   {"contact_kept", obstacles, KILN_SAVE_COPY},
                   {"contact_push", obstacles, KILN_SAVE_COPY},
                   {"contact_met", met, KILN_SAVE_COPY},
                   {KILN_FIELD_LIQUID_PRESSURE, t->solid->liquid.used, KILN_SAVE_ALL},
                   {"wall_took", kiln_attempt_trembles(t), KILN_SAVE_COPY},
                   {"sliding", kiln_solid_damps_sliding(t->solid), KILN_SAVE_COPY}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (columns[i].used)
            KILN_TRY(kiln_rewind_save(t->solid->mesh, KILN_ON_VERTEX, columns[i].name,
                                      columns[i].how, error));
    return KILN_OK;
}

/* The only place where a try reaches the mesh. */
static kiln_status accept(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    size_t bytes = 3 * s->rows * sizeof(double);
    KILN_ASSERT_OP(kiln_txn_depth(s->mesh), ==, 0);
    KILN_TRY(save_columns(t, error));
    if (t->integrator == KILN_BDF2) { /* where saving has put the old columns aside, from there */
        const double *x = t->history[KILN_HISTORY_X], *v = t->history[KILN_HISTORY_V];
        bool cut = s->touch.is_cut;
        memcpy(kiln_solid_column(s, "x_before"), cut ? s->touch.past_x.data : x, bytes);
        memcpy(kiln_solid_column(s, "v_before"), cut ? s->touch.past_v.data : v, bytes);
    }
    if (t->integrator == KILN_NEWMARK)
        memcpy(kiln_solid_column(s, "a"), s->rate2.data, bytes);
    memcpy(kiln_solid_column(s, "v"), s->rate.data, bytes);
    memcpy(s->mesh->x, s->x.data, bytes);
    if (s->liquid.used)
        kiln_liquid_keep(&s->liquid, s->x.data, kiln_solid_column(s, KILN_FIELD_LIQUID_PRESSURE));
    if (s->touch.obstacle_count) {
        kiln_touch_remember(
            &s->touch, kiln_solid_contact_with(s), kiln_solid_column(s, "contact_load"),
            kiln_solid_column(s, "contact_kept"), kiln_solid_column(s, "contact_push"));
    }
    if (kiln_solid_contact_met(s) && t->scheme.scale > 0.0)
        kiln_spin_remember(&s->spin, kiln_solid_contact_met(s));
    if (kiln_attempt_trembles(t))
        kiln_attempt_remember_tremble(t);
    KILN_TRY(kiln_attempt_remember_sliding(t, error));
    s->mesh->revision++;
    return KILN_OK;
}

static void sum_up(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    kiln_solid_watch(s, t->h, t->report);
    t->report->e_elastic = kiln_solid_elastic_energy(s, s->x.data);
    t->report->work_loads = kiln_loads_potential(s->loads, s->x.data);
}

static bool meets_obstacles(const kiln_attempt *t)
{
    return t->solid->touch.obstacle_count && t->scheme.scale > 0.0;
}

static kiln_push_rule push_rule(const kiln_attempt *t)
{
    if (t->scheme.scale == 0.0)
        return (kiln_push_rule){.share = 1.0};
    return (kiln_push_rule){.share = t->scheme.scale / (t->scheme.tau * t->h),
                            .first = t->first,
                            .by_left = t->integrator == KILN_NEWMARK,
                            .staged = t->solid->touch.staged};
}

static void forget_forces(kiln_solid *s)
{
    kiln_f64_array *forces[] = {&s->contact, &s->hit, &s->kick, &s->cut};
    for (size_t i = 0; i < sizeof forces / sizeof forces[0]; i++)
        if (forces[i]->data)
            memset(forces[i]->data, 0, 3 * s->rows * sizeof(double));
}

/* Places at the end, and the velocities there. */
static kiln_status move(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    combine(t, t->scheme.origin, s->origin.data);
    combine(t, t->scheme.centre, s->centre.data);
    KILN_TRY(kiln_attempt_begin_sliding(t, error));
    KILN_TRY(kiln_attempt_list_terms(t, error));
    forget_forces(s);
    KILN_TRY(kiln_attempt_begin(t, error));
    if (t->report->outcome == KILN_STEP_DONE)
        KILN_TRY(kiln_attempt_find_drift(t, kiln_solid_begin(s), false, error));
    if (t->report->outcome == KILN_STEP_DONE)
        KILN_TRY(kiln_attempt_solve(t, error));
    if (t->report->outcome == KILN_STEP_NEWTON)
        KILN_TRY(kiln_attempt_find_drift(t, s->x.data, true, error));
    if (t->report->outcome == KILN_STEP_DONE)
        KILN_TRY(kiln_attempt_settle(t, error));
    t->report->contact_seconds += s->collide.seconds;
    if (t->report->outcome != KILN_STEP_DONE)
        return KILN_OK;
    s->rule = push_rule(t);
    KILN_TRY(find_rates(t, error));
    if (kiln_attempt_trembles(t))
        kiln_attempt_settle_tremble(t);
    KILN_TRY(kiln_attempt_keep_spin(t, error));
    return meets_obstacles(t) ? kiln_touch_cut(&s->touch, s->x.data, s->rate.data, error) : KILN_OK;
}

static kiln_status give_back(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    return meets_obstacles(t) ? kiln_touch_return(&s->touch, s->mesh, s->x.data, s->rate.data,
                                                  s->contact.data, error)
                              : KILN_OK;
}

/* Everything between the driver's word and the verdict. */
static kiln_status attempt(kiln_attempt *t, kiln_error *error)
{
    KILN_TRY(move(t, error));
    if (t->report->outcome == KILN_STEP_DONE)
        KILN_TRY(give_back(t, error));
    if (t->report->outcome == KILN_STEP_DONE)
        kiln_attempt_check(t);
    if (t->report->outcome != KILN_STEP_DONE)
        return KILN_OK;
    KILN_TRY(kiln_attempt_judge_energy(t, error));
    if (t->makes_energy || t->solid->tentative)
        return KILN_OK;
    sum_up(t);
    KILN_TRY(kiln_solid_watch_presses(t->solid, error));
    KILN_TRY(kiln_attempt_review(t, error));
    return t->report->outcome == KILN_STEP_DONE ? accept(t, error) : KILN_OK;
}

/* Parts that press each other in the first stage have momentum of each other in the second, whether
 * they still touch then or not. */
static kiln_status remember_met(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    if (!kiln_solid_contact_met(s))
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(s->mesh, KILN_ON_VERTEX, "contact_met", KILN_SAVE_COPY, error));
    kiln_spin_remember(&s->spin, kiln_solid_contact_met(s));
    return KILN_OK;
}

/* What a first step of two stages begins with; the end decides whether the step is a good one. */
static kiln_status first_stage(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    size_t bytes = 3 * s->rows * sizeof(double);
    KILN_TRY(move(t, error));
    memcpy(s->stage_x.data, s->x.data, bytes);
    memcpy(s->stage_v.data, s->rate.data, bytes);
    memcpy(s->start_force.data, s->reaction.data, 3 * s->all * sizeof(double));
    for (size_t i = 0; i < 3 * s->rows && s->touch.obstacle_count; i++)
        s->start_force.data[i] += s->hit.data[i];
    if (t->report->outcome == KILN_STEP_DONE) {
        kiln_solid_watch_pairs(s, t->h, true);
        KILN_TRY(remember_met(t, error));
    }
    return kiln_touch_end_stage(&s->touch, error);
}

static void set_history(kiln_attempt *t)
{
    const kiln_solid *s = t->solid;
    t->history[KILN_HISTORY_X] = kiln_solid_positions(s);
    t->history[KILN_HISTORY_V] = kiln_solid_column(s, "v");
    if (t->integrator == KILN_NEWMARK)
        t->history[KILN_HISTORY_A] = kiln_solid_column(s, "a");
    if (t->integrator == KILN_BDF2) {
        t->history[KILN_HISTORY_X_BEFORE] = kiln_solid_column(s, "x_before");
        t->history[KILN_HISTORY_V_BEFORE] = kiln_solid_column(s, "v_before");
    }
}

/* Newmark's first step: M a = f, with what holds and loads at its begin. */

typedef struct dead_force {
    const double *gradient;
    size_t size;
    kiln_term *elements;
} dead_force;

/* The consistent mass couples what the elements do, and leaves it to them to say so. */
static kiln_cliques dead_cliques(void *self)
{
    const dead_force *f = self;
    return f->elements->cliques(f->elements->self);
}

static double dead_value(void *self, const double *x)
{
    const dead_force *f = self;
    double sum = 0.0;
    for (size_t i = 0; i < f->size; i++)
        sum += f->gradient[i] * x[i];
    return sum;
}

static double dead_delta(void *self, const double *x0, const double *x1)
{
    const dead_force *f = self;
    double sum = 0.0;
    for (size_t i = 0; i < f->size; i++)
        sum += f->gradient[i] * (x1[i] - x0[i]);
    return sum;
}

static void dead_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    (void)x;
    (void)H;
    const dead_force *f = self;
    for (size_t i = 0; i < f->size; i++)
        g[i] += scale * f->gradient[i];
}

/* Both kinds of mass through the same solve. */
static kiln_status solve_for_acceleration(kiln_solid *s, double *a, kiln_error *error)
{
    dead_force force = {s->rate.data, 3 * s->all, kiln_elements_term(s->elements)};
    kiln_term dead = {.name = "force",
                      .self = &force,
                      .weight = 1.0,
                      .value = dead_value,
                      .delta = dead_delta,
                      .add = dead_add,
                      .cliques = s->options.mass == KILN_MASS_CONSISTENT ? dead_cliques : NULL,
                      .revision = force.elements->revision};
    memset(a, 0, force.size * sizeof *a);
    memset(s->centre.data, 0, force.size * sizeof *a);
    kiln_term *inertia = kiln_mass_inertia(s->mass, s->centre.data);
    inertia->weight = 1.0;
    kiln_term *terms[] = {inertia, &dead};
    memset(s->given.target, 0, s->all * sizeof *s->given.target);
    kiln_newton_options options = {.tolerance = 1.0, .length = 1.0, .max_iterations = 1};
    kiln_newton_report report = {0};
    KILN_TRY(kiln_newton_minimise(s->newton, &options, terms, 2, &s->given, a, &report, error));
    if (!kiln_newton_succeeded(report.outcome))
        memset(a, 0, force.size * sizeof *a); /* not finite: the step itself will say so */
    return KILN_OK;
}

static kiln_status start_acceleration(kiln_attempt *t, const kiln_driver *driver, double time,
                                      kiln_error *error)
{
    kiln_solid *s = t->solid;
    KILN_TRY(kiln_solid_drive(s, driver, time, 1.0, error));
    const double *x = t->history[KILN_HISTORY_X];
    s->touch.contacts.count = 0; /* those of a try before */
    KILN_TRY(kiln_attempt_list_terms(t, error));
    kiln_attempt_renew_lagged(t, x, NULL);
    kiln_attempt_gradient(t, 1, s->lasting, x, s->rate.data); /* without inertia, the first */
    KILN_TRY(solve_for_acceleration(s, s->start_a.data, error));
    kiln_mass_multiply(s->mass, s->start_a.data, s->start_force.data);
    for (size_t i = 0; i < 3 * s->rows; i++)
        s->start_force.data[i] += s->rate.data[i];
    t->history[KILN_HISTORY_A] = s->start_a.data;
    if (s->touch.obstacle_count == 0)
        return KILN_OK;
    kiln_touch_start start = kiln_attempt_touch_start(t);
    start.holds.kick = s->start_force.data;
    return kiln_touch_support(&s->touch, &start, s->start_a.data, error);
}

/* `what` with all that depends on time as it is then. */
static kiln_status try_until(kiln_attempt *t, const kiln_driver *driver, double time,
                             kiln_status (*what)(kiln_attempt *t, kiln_error *error),
                             kiln_error *error)
{
    kiln_solid *s = t->solid;
    KILN_TRY(kiln_solid_drive(s, driver, time, 1.0, error));
    KILN_TRY(kiln_yield_surfaces_begin(s->elements, s->mesh, error));
    kiln_status status = what(t, error);
    kiln_yield_surfaces_end(s->elements);
    return status;
}

static kiln_status take_stage(kiln_attempt *t, const kiln_driver *driver, double time, double h,
                              kiln_error *error)
{
    kiln_attempt stage = *t;
    stage.scheme = kiln_integrator_scheme(KILN_IMPLICIT_EULER, h, 0.0);
    stage.h = h;
    stage.staging = true;
    t->history[KILN_HISTORY_X_BEFORE] = t->solid->stage_x.data;
    t->history[KILN_HISTORY_V_BEFORE] = t->solid->stage_v.data;
    return try_until(&stage, driver, time + h, first_stage, error);
}

/* The first stage has met an obstacle: two stages see the blow at once, bdf2 sees a push as much
 * too late when it ends as when it begins, and the sum would gain energy. Or the step did. */
static void go_by_euler(kiln_attempt *t)
{
    t->scheme = kiln_integrator_scheme(KILN_IMPLICIT_EULER, t->h, 0.0);
    t->solid->touch.is_cut = t->solid->touch.staged = false;
    t->solid->went_by_euler = true;
    set_history(t);
}

static bool makes_energy(const kiln_attempt *t)
{
    return t->makes_energy && t->report->outcome == KILN_STEP_DONE;
}

kiln_status kiln_solid_step(kiln_solid *solid, const kiln_driver *driver, double h,
                            kiln_solid_clock *clock, kiln_step_report *report, kiln_error *error)
{
    kiln_integrator integrator = solid->options.integrator;
    if (!(h > 0.0) || !isfinite(h))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "a step of %g s", h);
    *report = (kiln_step_report){.outcome = KILN_STEP_DONE, .element = KILN_NONE};
    kiln_attempt t = {.solid = solid,
                      .scheme = kiln_integrator_scheme(integrator, h, clock->h_before),
                      .integrator = integrator,
                      .h = h,
                      .first = clock->h_before == 0.0,
                      .time = {driver, clock->time, clock->h_before},
                      .surplus = clock->surplus,
                      .hardness = solid->collide.hardness,
                      .report = report};
    set_history(&t);
    solid->walls_stay = solid->went_by_euler = solid->collide.firm = false;
    solid->touch.is_cut = false;
    solid->touch.staged = false;
    if (integrator == KILN_NEWMARK && clock->h_before == 0.0)
        KILN_TRY(start_acceleration(&t, driver, clock->time, error));
    else if (integrator == KILN_NEWMARK && kiln_solid_has_changed(solid))
        KILN_TRY(try_until(&t, driver, clock->time, kiln_attempt_recall, error));
    double stage = kiln_integrator_stage(integrator, h, clock->h_before);
    if (stage > 0.0)
        KILN_TRY(take_stage(&t, driver, clock->time, stage, error));
    if (stage > 0.0 && solid->touch.is_cut)
        go_by_euler(&t);
    if (report->outcome == KILN_STEP_DONE)
        KILN_TRY(try_until(&t, driver, clock->time + h, attempt, error));
    if (makes_energy(&t) && kiln_collide_soften(&solid->collide, t.hardness))
        KILN_TRY(try_until(&t, driver, clock->time + h, attempt, error));
    if (makes_energy(&t)) {
        go_by_euler(&t);
        t.damped = true;
        KILN_TRY(try_until(&t, driver, clock->time + h, attempt, error));
    }
    if (report->outcome == KILN_STEP_DONE)
        *clock = (kiln_solid_clock){.time = clock->time + h, .h_before = h, .surplus = t.surplus};
    return KILN_OK;
}

kiln_status kiln_solid_try(kiln_solid *solid, const kiln_driver *driver, double h,
                           const kiln_solid_clock *clock, kiln_step_report *report,
                           const kiln_vec3 **places, kiln_error *error)
{
    kiln_solid_clock passing = *clock;
    kiln_integrator own = solid->options.integrator;
    solid->tentative = true;
    solid->tried_from = NAN;
    solid->options.integrator = kiln_solid_tries_by(solid, clock);
    kiln_status status = kiln_solid_step(solid, driver, h, &passing, report, error);
    solid->options.integrator = own;
    solid->tentative = false;
    *places = (const kiln_vec3 *)(const void *)solid->x.data;
    return status;
}

/* Load stepping. */

/* Of an increment, below which a load that matter that flows does not bear is not divided: nearer
 * than this to a limit load nothing is known any better. */
#define FLOW_LEAST_PART (1.0 / 32.0)
/* Of an increment that failed: from so near its end is tried again. Where that is beyond a limit
 * load it fails from anywhere, and each failure takes all iterations there are. */
#define TRIED_AGAIN 0.25

/* How a load is increased: all of it is 1. */
typedef struct load_course {
    double wanted, least; /* increments: the first, and those that are not divided */
    double load;          /* that is borne */
    double increment;     /* to be tried */
    double failed, from;  /* the least load that was not borne, and the one it was tried from */
    bool flows;
} load_course;

static load_course begin_course(int steps, bool flows)
{
    double wanted = 1.0 / (steps > 0 ? steps : 1);
    return (load_course){.wanted = wanted,
                         .least = flows ? FLOW_LEAST_PART * wanted : 1e-4,
                         .increment = wanted,
                         .failed = INFINITY,
                         .flows = flows};
}

/* The last increment ends at 1 exactly, without a sliver before it. */
static double next_load(const load_course *c)
{
    double next = c->load + c->increment;
    return next > 1.0 - 0.5e-4 ? 1.0 : next;
}

static void note_borne(load_course *c, double load)
{
    c->load = load;
    c->increment = fmin(c->wanted, 2.0 * c->increment);
    if (load >= c->failed)
        c->failed = INFINITY;
    double left = c->failed - load;
    if (c->flows && c->increment >= left)
        c->increment = left <= TRIED_AGAIN * (c->failed - c->from) ? left : 0.5 * left;
}

static void note_failed(load_course *c, double load)
{
    if (c->flows && load <= c->failed) {
        c->failed = load;
        c->from = c->load;
    }
    c->increment *= 0.5;
}

static kiln_status increase_load(kiln_solid *solid, const kiln_driver *driver, int steps,
                                 double time, kiln_step_report *report, kiln_error *error)
{
    load_course course = begin_course(steps, kiln_yield_surfaces_are_used(solid->elements));
    solid->walls_stay = false;
    while (course.load < 1.0 && course.increment >= course.least) {
        double next = next_load(&course);
        *report = (kiln_step_report){.outcome = KILN_STEP_DONE,
                                     .element = KILN_NONE,
                                     .newton = report->newton,
                                     .contact_seconds = report->contact_seconds};
        kiln_attempt t = {.solid = solid,
                          .scheme = kiln_integrator_scheme(KILN_STATIC, 1.0, 0.0),
                          .integrator = KILN_STATIC,
                          .h = 1.0,
                          .report = report};
        set_history(&t);
        KILN_TRY(kiln_solid_drive(solid, driver, time, next, error));
        KILN_TRY(attempt(&t, error));
        if (report->outcome == KILN_STEP_ADRIFT)
            return KILN_OK; /* what nothing holds drifts under any part of the load */
        if (report->outcome == KILN_STEP_DONE) {
            note_borne(&course, next);
            solid->walls_stay = true;
        } else {
            note_failed(&course, next);
        }
    }
    if (course.load < 1.0 && course.flows &&
        (report->outcome == KILN_STEP_NEWTON || report->outcome == KILN_STEP_DONE))
        report->outcome = KILN_STEP_LIMIT;
    return KILN_OK;
}

static kiln_status find_equilibrium(kiln_solid *solid, const kiln_driver *driver, int steps,
                                    double time, kiln_step_report *report, kiln_error *error)
{
    KILN_TRY(kiln_yield_surfaces_begin(solid->elements, solid->mesh, error));
    kiln_status status = increase_load(solid, driver, steps, time, report, error);
    kiln_yield_surfaces_end(solid->elements);
    return status;
}

/* Increments are written to the mesh as they are found: a step of its own, unless the caller has
 * begun one, takes them back when the whole load cannot be reached. */
kiln_status kiln_solid_equilibrium(kiln_solid *solid, const kiln_driver *driver, int steps,
                                   const kiln_solid_clock *clock, kiln_step_report *report,
                                   kiln_error *error)
{
    bool own = !kiln_rewind_active(solid->mesh);
    *report = (kiln_step_report){.outcome = KILN_STEP_DONE, .element = KILN_NONE};
    if (own)
        KILN_TRY(kiln_rewind_begin(solid->mesh, error));
    kiln_status status = find_equilibrium(solid, driver, steps, clock->time, report, error);
    if (own && status == KILN_OK && report->outcome == KILN_STEP_DONE)
        kiln_rewind_end(solid->mesh);
    else if (own)
        kiln_rewind_back(solid->mesh);
    return status;
}

/* As a stepper. */

static kiln_status course_advance(void *self, const kiln_interval *interval,
                                  kiln_step_report *report, kiln_error *error)
{
    const kiln_solid_course *c = self;
    if (c->solid->options.integrator != KILN_STATIC)
        return kiln_solid_step(c->solid, &c->driver, interval->end - interval->begin, c->clock,
                               report, error);
    c->clock->time = interval->end;
    return kiln_solid_equilibrium(c->solid, &c->driver, interval->parts, c->clock, report, error);
}

static kiln_status course_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    const kiln_solid_course *c = self;
    return kiln_solid_update(c->solid, changes, error);
}

static kiln_status course_renew(void *self, kiln_error *error)
{
    const kiln_solid_course *c = self;
    kiln_solid_forget(c->solid);
    return kiln_solid_rebuild(c->solid, NULL, error);
}

kiln_stepper kiln_solid_stepper(kiln_solid_course *course)
{
    return (kiln_stepper){.self = course,
                          .advance = course_advance,
                          .mesh_changed = course_changed,
                          .renew = course_renew};
}

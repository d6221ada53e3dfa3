/* Energy that a step makes from nothing. Newmark and bdf2 keep that of linear motion, but what
 * meets within a step, or deforms far in one, can leave with more than it had.
 *
 * The account of a run is its surplus: what kinetic energy, elastic energy and that of repulsion
 * have gained over all steps beyond the work of loads and of what is led. What was lost may come
 * back (bdf2 sees a push late when it begins and when it ends), up to what there is. A step that
 * would leave more than MOST_SURPLUS
 *   E1 gives it back from what vibrates, which changes no part's momentum; where that is too little
 *   E2 from what contact gave, as if its push had been a little other; where that would be a push
 *      of another size
 *   E3 is taken again by implicit Euler, whose end newmark and bdf2 go on from. That gains only
 *      where things pass each other within the step and are pushed along (4 % at ways longer than
 *      a body): then it is refused, and shorter ones are tried.
 * Shorter steps at once would be more exact, and no cure: what is stiff trembles at any length.
 * Implicit Euler itself is judged where surfaces push: what turns gains by it, once (spin.h). */
#include "step/solid_impl.h"

#include <math.h>
#include <string.h>

/* Of the energy at play: what a run may have more than it began with. */
#define MOST_SURPLUS 2e-4
#define LEAST_GAIN   1e-6 /* and what a step is not blamed for, whatever the account */
/* Of the energy of vibration, and of what contact gave: what may be taken of it in a step. */
#define MOST_VIBRATION 0.5
#define MOST_BLOW      0.1
/* Where the mesh follows the step: implicit Euler would take several times as much, and judge the
 * mesh by where that ends. */
#define MOST_FOLLOWED 1.0

typedef struct energy_change {
    double before;  /* J, at the begin */
    double gain;    /* J, beyond the work of loads and holds */
    double at_play; /* J, at the begin or the end, whichever is more */
    double left;    /* J, at the end */
    double noise;   /* J, that Newton's tolerance leaves */
} energy_change;

static double kinetic(const kiln_solid *s, const double *x, const double *v)
{
    return kiln_mass_sums(s->mass, x, v).kinetic;
}

static double way_of(const kiln_solid *s, size_t row)
{
    const double *x = s->x.data + 3 * row, *begin = kiln_solid_begin(s) + 3 * row;
    return kiln_v3_norm(kiln_v3(x[0] - begin[0], x[1] - begin[1], x[2] - begin[2]));
}

/* Of what leads vertices and walls, J, by the force at the end; *doubt: of what sign it may be. */
static double work_of_holds(const kiln_solid *s, double *doubt)
{
    const double *begin = kiln_solid_begin(s);
    double sum = 0.0;
    for (size_t v = 0; v < s->all; v++) {
        double work = 0.0;
        if (!s->given.held[v])
            continue;
        for (size_t i = 3 * v; i < 3 * v + 3; i++)
            work += s->reaction.data[i] * (s->x.data[i] - begin[i]);
        sum += work;
        *doubt += fabs(work);
    }
    return sum;
}

/* The force of what leads was another one on the way: as large as momentum says, perhaps. */

static void note_led(kiln_solid *s, uint32_t vertex, double way)
{
    kiln_spin_part *part = &s->spin.parts.data[kiln_spin_part_of(&s->spin, vertex)];
    part->led = fmax(part->led, way);
}

static void note_pressed(void *user, const uint32_t v[4], const kiln_vec3 force[4])
{
    kiln_solid *s = user;
    bool first = v[0] < s->rows, last = v[3] < s->rows;
    (void)force;
    for (int k = 0; k < 4 && first != last; k++)
        if (v[k] >= s->rows)
            note_led(s, v[first ? 0 : 3], way_of(s, v[k]));
}

/* How far, with all that press each other. */
static double find_led(kiln_solid *s)
{
    kiln_spin_part *parts = s->spin.parts.data;
    size_t count = s->spin.parts.count;
    double most = 0.0;
    for (size_t p = 0; p < count; p++)
        parts[p].led = 0.0;
    for (uint32_t v = 0; v < s->rows; v++)
        if (s->given.held[v] && kiln_vertex_live(s->mesh, v))
            note_led(s, v, way_of(s, v));
    kiln_collide_visit_forces(&s->collide, s->x.data, note_pressed, s);
    for (uint32_t p = 0; p < count; p++) {
        kiln_spin_part *island = &parts[kiln_spin_island_of(&s->spin, p)];
        island->led = fmax(island->led, parts[p].led);
        most = fmax(most, island->led);
    }
    for (uint32_t p = 0; p < count; p++)
        parts[p].led = parts[kiln_spin_island_of(&s->spin, p)].led;
    return most;
}

static double doubt_of_holds(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    const double *mass = kiln_mass_lumped(s->mass), *v = s->rate.data;
    const double *before = t->history[KILN_HISTORY_V];
    double sum = 0.0;
    if (find_led(s) == 0.0)
        return 0.0;
    for (uint32_t i = 0; i < s->rows; i++) {
        kiln_vec3 change = kiln_v3(v[3 * i] - before[3 * i], v[3 * i + 1] - before[3 * i + 1],
                                   v[3 * i + 2] - before[3 * i + 2]);
        if (kiln_vertex_live(s->mesh, i))
            sum += s->spin.parts.data[kiln_spin_part_of(&s->spin, i)].led * mass[i] *
                   kiln_v3_norm(change) / t->h;
    }
    return sum;
}

static double work_of_loads(const kiln_solid *s)
{
    const double *begin = kiln_solid_begin(s);
    double sum = kiln_term_delta(kiln_loads_term(s->loads), begin, s->x.data);
    for (size_t i = 0; i < s->more.count; i++)
        sum += kiln_term_delta(s->more.data[i], begin, s->x.data);
    if (s->liquid.used) { /* what volume is given back does work */
        sum += kiln_term_delta(&s->liquid.pressure, begin, s->x.data);
        sum += kiln_term_delta(&s->liquid.gravity, begin, s->x.data);
    }
    return -sum;
}

/* A gain that may be work is none; a loss counts, since an integrator that sees a push late when
 * it begins sees it late when it ends. */
static void leave_doubt(energy_change *change, double doubt)
{
    if (change->gain > 0.0)
        change->gain = fmax(change->gain - doubt, 0.0);
}

static energy_change change_of(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    const double *x = kiln_solid_begin(s);
    double doubt = doubt_of_holds(t);
    double work = work_of_loads(s) + work_of_holds(s, &doubt);
    double before = kinetic(s, x, t->history[KILN_HISTORY_V]) + kiln_solid_elastic_energy(s, x) +
                    t->contact_before;
    double after = kinetic(s, s->x.data, s->rate.data) + kiln_solid_elastic_energy(s, s->x.data) +
                   t->report->e_contact;
    double speed = kiln_attempt_tolerance(t) / t->h;
    double mass = kiln_mass_sums(s->mass, x, s->rate.data).mass;
    energy_change change = {.before = before,
                            .gain = after - before - work,
                            .at_play = fmax(before, after),
                            .left = after,
                            .noise = 0.5 * mass * speed * speed};
    leave_doubt(&change, doubt);
    return change;
}

static bool is_too_much(const energy_change *change, double surplus)
{
    return change->gain > LEAST_GAIN * change->at_play + change->noise &&
           surplus + change->gain > MOST_SURPLUS * change->at_play;
}

/* Loads that were others before, as the integrator remembers them. */

static void find_load(kiln_solid *s, double *force)
{
    kiln_term *loads = kiln_loads_term(s->loads);
    memset(force, 0, 3 * s->all * sizeof *force);
    loads->lag(loads->self, s->x.data);
    loads->add(loads->self, s->x.data, -1.0, force, NULL);
}

static double work_between(const kiln_solid *s, const double *force, const double *other)
{
    const double *begin = kiln_solid_begin(s);
    double sum = 0.0;
    for (size_t i = 0; i < 3 * s->rows; i++)
        sum += fabs((force[i] - other[i]) * (s->x.data[i] - begin[i]));
    return sum;
}

/* The driver is asked, so only where it matters. */
static kiln_status doubt_of_loads(kiln_attempt *t, double *doubt, kiln_error *error)
{
    kiln_solid *s = t->solid;
    const kiln_course_of_time *time = &t->time;
    double *now = s->centre.data, *then = s->guess.data;
    int moments = t->integrator == KILN_BDF2 && time->h_before > 0.0 ? 2 : 1;
    *doubt = 0.0;
    find_load(s, now);
    for (int i = 0; i < moments; i++) {
        KILN_TRY(kiln_solid_drive(s, time->driver, time->begin - i * time->h_before, 1.0, error));
        find_load(s, then);
        *doubt += work_between(s, now, then);
    }
    KILN_TRY(kiln_solid_drive(s, time->driver, time->begin + t->h, 1.0, error));
    find_load(s, now);
    return KILN_OK;
}

/* E1, E2 */

/* Velocities get less by `part` of `what` [vertex slot][3]. */
static void take(kiln_solid *s, double part, const double *what)
{
    for (size_t i = 0; i < 3 * s->rows; i++)
        s->rate.data[i] -= part * what[i];
}

static bool take_vibration(kiln_solid *s, double energy)
{
    double *what = s->centre.data;
    kiln_spin_rigid(&s->spin, s->x.data, s->rate.data, what);
    for (size_t i = 0; i < 3 * s->rows; i++)
        what[i] = s->given.held[i / 3] ? 0.0 : s->rate.data[i] - what[i];
    double part = energy / kinetic(s, s->x.data, what);
    if (!(part < (s->tentative || s->start_at ? MOST_FOLLOWED : MOST_VIBRATION)))
        return false;
    take(s, 1.0 - sqrt(1.0 - part), what);
    return true;
}

/* What contact gave to velocities in this step, m/s. */
static kiln_status find_blow(kiln_attempt *t, double *blow, kiln_error *error)
{
    kiln_solid *s = t->solid;
    kiln_constraints given = kiln_solid_given(s);
    size_t first = s->lasting;
    while (s->terms.data[first] != &s->collide.repulsion)
        first++;
    kiln_attempt_gradient(t, first, s->terms.count, s->x.data, s->guess.data);
    memset(blow, 0, 3 * s->rows * sizeof *blow);
    KILN_TRY(kiln_mass_follow(s->mass, &given, blow, s->guess.data, error));
    for (size_t i = 0; i < 3 * s->rows; i++)
        blow[i] *= -t->scheme.scale / t->scheme.tau;
    return KILN_OK;
}

/* A blow that throws back by a little less, or stops by a little more: by that part kinetic energy
 * changes by part^2 own - part slope. What others are told of the force is that of the new one. */
static kiln_status take_blow(kiln_attempt *t, double energy, bool *taken, kiln_error *error)
{
    kiln_solid *s = t->solid;
    double *blow = s->centre.data;
    KILN_TRY(find_blow(t, blow, error));
    double whole = kinetic(s, s->x.data, s->rate.data), own = kinetic(s, s->x.data, blow);
    take(s, 1.0, blow);
    double slope = whole + own - kinetic(s, s->x.data, s->rate.data);
    take(s, -1.0, blow);
    double root = slope * slope - 4.0 * own * energy;
    double part = root >= 0.0 ? 2.0 * energy / (fabs(slope) + sqrt(root)) : INFINITY;
    *taken = part < MOST_BLOW;
    if (!*taken)
        return KILN_OK;
    part = copysign(part, slope);
    take(s, part, blow);
    s->collide.repulsion.weight *= 1.0 - part;
    for (size_t i = 3 * s->rows; i < 3 * s->all; i++)
        s->reaction.data[i] *= 1.0 - part;
    return KILN_OK;
}

static kiln_status take_back(kiln_attempt *t, double energy, bool *taken, kiln_error *error)
{
    *taken = take_vibration(t->solid, energy);
    return *taken ? KILN_OK : take_blow(t, energy, taken, error);
}

static bool by_euler(const kiln_attempt *t)
{
    return t->damped || t->integrator == KILN_IMPLICIT_EULER;
}

static kiln_status mend(kiln_attempt *t, energy_change *change, kiln_error *error)
{
    double doubt;
    bool taken;
    KILN_TRY(doubt_of_loads(t, &doubt, error));
    leave_doubt(change, doubt);
    if (!is_too_much(change, t->surplus))
        return KILN_OK;
    KILN_TRY(take_back(t, t->surplus + change->gain, &taken, error));
    t->report->energy_taken = t->surplus + change->gain;
    t->makes_energy = !taken && (!by_euler(t) || t->h > t->solid->options.least_step);
    if (taken)
        change->gain = -t->surplus;
    return KILN_OK;
}

/* Obstacles that are met by points do work when they put vertices on themselves. */
static bool is_judged(const kiln_attempt *t)
{
    const kiln_solid *s = t->solid;
    if (t->scheme.scale == 0.0 || !kiln_collide_is_used(&s->collide) || s->touch.obstacle_count > 0)
        return false;
    return t->integrator != KILN_IMPLICIT_EULER || t->contact_before > 0.0 ||
           t->report->e_contact > 0.0;
}

/* Where the mesh has become another one since the step was tried: what its begin has more is a
 * gain, too. Without that the account would forgive steps what changes of surfaces that press each
 * other brought and the steps took away again. And what is lost by the change, which is energy that
 * the old mesh was too stiff by, does not come back: only what the try has lost may. Under newmark
 * nothing that was lost on another mesh does: its pairs would give more than they took. */
static void account_for_mesh(kiln_attempt *t, energy_change *change)
{
    kiln_solid *s = t->solid;
    if (s->tentative) {
        s->tried_from = change->before;
        s->tried_gain = change->gain;
    } else if (s->start_at && !isnan(s->tried_from)) {
        double gain = change->gain + change->before - s->tried_from;
        change->gain = fmax(gain, fmin(s->tried_gain, 0.0));
        if (t->scheme.impulses && kiln_solid_has_changed(s))
            t->surplus = fmax(t->surplus, 0.0);
    }
}

/* Where implicit Euler makes energy there is nothing left but a shorter step. */
kiln_status kiln_attempt_judge_energy(kiln_attempt *t, kiln_error *error)
{
    t->makes_energy = false;
    if (!is_judged(t))
        return KILN_OK;
    energy_change change = change_of(t);
    account_for_mesh(t, &change);
    if (is_too_much(&change, t->surplus))
        KILN_TRY(mend(t, &change, error));
    if (!t->makes_energy)
        t->surplus = fmax(t->surplus + change.gain, -change.left);
    else if (by_euler(t))
        t->report->outcome = KILN_STEP_ENERGY;
    return KILN_OK;
}

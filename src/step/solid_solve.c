/* Solving one try of a step: its terms, Newton, obstacles and other surfaces in the way. */
#include "base/clock.h"
#include "fem/yield_surfaces.h"
#include "step/solid_impl.h"

#include <math.h>
#include <string.h>

enum {
    MOST_PASSES = 8, /* solves of a step while contacts change */
    MOST_STATIC_PASSES = 30,
    MOST_LAGS = 30, /* solves of a step while forces that follow change */
    /* In static steps while matter flows: where there is an equilibrium half of them find it, and
     * beyond a limit load all that there are would be spent. */
    MOST_FLOW_ITERATIONS = 20,
    STATIC_CORRECTIONS = 16, /* matter that flows or turns goes far */
    CONTACT_CORRECTIONS = 8, /* what touches becomes soft along, and stiff across */
    /* Solves again while the forces that press surfaces together change; and where a blow has made
     * quite others of them. */
    MOST_LAGGED = 3,
    MOST_LAGGED_FAR = 20,
    MOST_RISES = 2, /* of the change in a row: it goes in circles */
};
/* Normal forces that changed by more make another pass worth it, in a step with motion. */
#define LOAD_TOLERANCE       0.02
#define LOAD_FAR             0.04 /* and after MOST_LAGGED of them */
#define LINEARISED_TOLERANCE 0.01 /* where the speeds that friction knows change too */
#define MOVING_LAG_TOLERANCE 1e-6 /* far below the error of a step with motion */
/* Where Newton ends among surfaces, unless it is said: lengths a second, and of the thickness. */
#define CONTACT_SPEED 1e-5
#define CONTACT_PART  1e-3
/* Of its first step, where a solve ends while the surfaces of flow are about to change: their
 * ratios follow the stresses, which are known long before the last digits of x. */
#define ROUGH_PART 0.1
/* Of the thickness, where a solve ends whose step may be refused (kiln_solid_review): what presses
 * and how far is known by then. */
#define REVIEWED_PART 0.3

/* Terms. */

enum { OWN_TERMS = 12 };

kiln_status kiln_attempt_list_terms(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    KILN_TRY(kiln_array_reserve(s->context, &s->terms, OWN_TERMS + s->more.count, error));
    kiln_term **terms = s->terms.data;
    size_t count = 0;
    if (t->scheme.scale > 0.0) {
        kiln_term *inertia = kiln_mass_inertia(s->mass, s->centre.data);
        inertia->weight = 1.0 / t->scheme.scale;
        terms[count++] = inertia;
    }
    terms[count++] = kiln_elements_term(s->elements);
    if (kiln_nodal_pressure_is_used(s->pressure))
        terms[count++] = kiln_nodal_pressure_term(s->pressure);
    if (s->liquid.used && s->liquid.bubbles.used) /* among what has no torque */
        terms[count++] = &s->liquid.inner;
    terms[count++] = kiln_loads_term(s->loads);
    if (s->liquid.used) {
        terms[count++] = &s->liquid.pressure;
        terms[count++] = &s->liquid.gravity;
        terms[count++] = kiln_surface_energy_term(s->liquid.surface);
    }
    if (kiln_touch_has_friction(&s->touch))
        terms[count++] = &s->touch.friction;
    for (size_t i = 0; i < s->more.count; i++)
        terms[count++] = s->more.data[i];
    s->lasting = count;
    if (t->scheme.scale > 0.0 && kiln_damping_is_used(s->damping))
        terms[count++] = kiln_damping_term(s->damping);
    if (kiln_collide_is_used(&s->collide)) {
        terms[count++] = &s->collide.repulsion;
        if (kiln_collide_rubs(&s->collide))
            terms[count++] = &s->collide.friction;
    }
    for (size_t i = s->lasting; i < count; i++)
        terms[i]->weight = t->scheme.impulses ? 2.0 : 1.0;
    s->terms.count = count;
    return KILN_OK;
}

const double *kiln_attempt_brief_origin(const kiln_attempt *t)
{
    return t->scheme.impulses ? t->history[KILN_HISTORY_X] : t->solid->origin.data;
}

double kiln_attempt_brief_tau(const kiln_attempt *t)
{
    return t->scheme.impulses ? t->h : t->scheme.tau;
}

void kiln_attempt_gradient(const kiln_attempt *t, size_t first, size_t end, const double *x,
                           double *g)
{
    memset(g, 0, 3 * t->solid->all * sizeof *g);
    kiln_term *const *terms = t->solid->terms.data;
    for (size_t i = first; i < end; i++)
        terms[i]->add(terms[i]->self, x, terms[i]->weight, g, NULL);
}

double kiln_attempt_renew_lagged(const kiln_attempt *t, const double *x, const kiln_term **worst)
{
    kiln_term *const *terms = t->solid->terms.data;
    double most = 0.0;
    for (size_t i = 0; i < t->solid->terms.count; i++) {
        double change = terms[i]->lag ? terms[i]->lag(terms[i]->self, x) : 0.0;
        if (worst && change > most)
            *worst = terms[i];
        most = fmax(most, change);
    }
    return most;
}

/* Solving. */

static double preset_tolerance(const kiln_attempt *t, double length)
{
    const kiln_solid *s = t->solid;
    double fine = kiln_newton_default_options().tolerance;
    if (!kiln_collide_is_used(&s->collide) || t->scheme.scale == 0.0)
        return fine;
    double most = fmin(CONTACT_SPEED * t->h * length, CONTACT_PART * s->collide.options.thickness);
    return fmax(fine, most / length);
}

static double length_of(const kiln_solid *s)
{
    return s->options.newton.length > 0.0 ? s->options.newton.length : s->length;
}

static double tolerance_of(const kiln_attempt *t)
{
    double given = t->solid->options.newton.tolerance;
    return given > 0.0 ? given : preset_tolerance(t, length_of(t->solid));
}

double kiln_attempt_tolerance(const kiln_attempt *t)
{
    return tolerance_of(t) * length_of(t->solid);
}

/* As exact as `least`, m, or as asked for where that is less. */
static kiln_status run_newton(kiln_attempt *t, const kiln_constraints *constraints, bool linear,
                              double least, bool *succeeded, kiln_error *error)
{
    kiln_solid *s = t->solid;
    kiln_newton_options options = s->options.newton;
    options.length = length_of(s);
    options.tolerance = fmax(tolerance_of(t), least / options.length);
    if (t->integrator == KILN_STATIC)
        options.corrections = STATIC_CORRECTIONS;
    else if (kiln_collide_is_used(&s->collide))
        options.corrections = CONTACT_CORRECTIONS;
    if (t->integrator == KILN_STATIC)
        options.farthest = KILN_STATIC_FARTHEST * s->length;
    options.balanced = t->integrator != KILN_STATIC;
    if (t->integrator == KILN_STATIC && kiln_yield_surfaces_are_used(s->elements) &&
        options.max_iterations > MOST_FLOW_ITERATIONS)
        options.max_iterations = MOST_FLOW_ITERATIONS;
    if (t->rough) {
        options.relative = ROUGH_PART;
        options.corrections = STATIC_CORRECTIONS;
        options.renew_lagged = true;
    }
    if (linear) {
        options.max_iterations = 1;
        options.line_search = false;
    } else if (s->options.linearised) { /* as exact as contact needs */
        options.tolerance =
            fmax(options.tolerance,
                 LINEARISED_TOLERANCE * s->collide.options.thickness / options.length);
    }
    kiln_newton_report one = {0};
    KILN_TRY(kiln_newton_minimise(s->newton, &options, s->terms.data, s->terms.count, constraints,
                                  s->x.data, &one, error));
    kiln_newton_report_add(&t->report->newton, &one);
    *succeeded = kiln_newton_succeeded(one.outcome);
    return KILN_OK;
}

/* One linear step, if nothing is in its way: no surface within reach of another at either end. */
static kiln_status step_freely(kiln_attempt *t, const kiln_constraints *constraints, bool *stepped,
                               kiln_error *error)
{
    kiln_solid *s = t->solid;
    const double *begin = kiln_solid_begin(s);
    *stepped = false;
    if (kiln_collide_count(&s->collide, begin) > 0)
        return KILN_OK;
    KILN_TRY(run_newton(t, constraints, true, 0.0, stepped, error));
    *stepped = *stepped && kiln_collide_way(&s->collide, begin, s->x.data, s->rate.data) >= 1.0 &&
               kiln_collide_count(&s->collide, s->x.data) == 0;
    if (!*stepped)
        memcpy(s->x.data, begin, 3 * s->all * sizeof(double));
    return kiln_collide_failure(&s->collide, error);
}

/* The normal forces that friction had, beside those that turn out. */
typedef struct lagging {
    int passes, rises;
    double change;
} lagging;

static bool has_settled(lagging *l, double change)
{
    l->rises = l->passes > MOST_LAGGED && change > l->change ? l->rises + 1 : 0;
    l->change = change;
    l->passes++;
    if (l->passes <= MOST_LAGGED)
        return change <= LOAD_TOLERANCE;
    return change <= LOAD_FAR || l->passes > MOST_LAGGED_FAR || l->rises >= MOST_RISES;
}

/* A first, rough solve, of whose end is asked whether the step will be refused: its outcome. */
static kiln_status look_roughly(kiln_attempt *t, const kiln_constraints *constraints,
                                kiln_error *error)
{
    kiln_solid *s = t->solid;
    const kiln_solid_review *review = &s->review;
    bool succeeded;
    if (!review->look || !review->may_refuse(review->self) || s->tentative || t->staging ||
        s->options.linearised)
        return KILN_OK;
    KILN_TRY(kiln_collide_renew(&s->collide, s->x.data, error));
    KILN_TRY(run_newton(t, constraints, false, REVIEWED_PART * s->collide.options.thickness,
                        &succeeded, error));
    KILN_TRY(kiln_collide_failure(&s->collide, error));
    if (!succeeded) {
        t->report->outcome = KILN_STEP_NEWTON;
        return KILN_OK;
    }
    KILN_TRY(kiln_solid_watch_presses(s, error));
    return kiln_attempt_review(t, error);
}

/* Newton among other surfaces: again when friction had normal forces that turn out to be others. */
static kiln_status minimise_apart(kiln_attempt *t, const kiln_constraints *constraints,
                                  kiln_error *error)
{
    kiln_solid *s = t->solid;
    lagging lagged = {0};
    bool done = false;
    if (s->options.linearised)
        KILN_TRY(step_freely(t, constraints, &done, error));
    KILN_TRY(look_roughly(t, constraints, error));
    while (!done && t->report->outcome == KILN_STEP_DONE) {
        bool succeeded;
        KILN_TRY(kiln_collide_renew(&s->collide, s->x.data, error));
        KILN_TRY(run_newton(t, constraints, false, 0.0, &succeeded, error));
        KILN_TRY(kiln_collide_failure(&s->collide, error));
        if (!succeeded) {
            t->report->outcome = KILN_STEP_NEWTON;
            return KILN_OK;
        }
        done = !kiln_collide_must_harden(&s->collide, s->x.data) &&
               has_settled(&lagged, kiln_collide_change(&s->collide, s->x.data));
    }
    return KILN_OK;
}

static kiln_status minimise(kiln_attempt *t, const kiln_constraints *constraints, kiln_error *error)
{
    kiln_solid *s = t->solid;
    if (kiln_collide_is_used(&s->collide))
        return minimise_apart(t, constraints, error);
    bool succeeded;
    KILN_TRY(run_newton(t, constraints, s->options.linearised, 0.0, &succeeded, error));
    if (!succeeded)
        t->report->outcome = KILN_STEP_NEWTON;
    return KILN_OK;
}

/* held = gradient minus its free part: the force of the constraints. */
static void find_reactions(kiln_attempt *t, const kiln_constraints *constraints)
{
    kiln_solid *s = t->solid;
    size_t size = 3 * s->all;
    kiln_attempt_gradient(t, 0, s->terms.count, s->x.data, s->reaction.data);
    memcpy(s->rate.data, s->reaction.data, size * sizeof(double));
    kiln_constraints_project(constraints, s->rate.data);
    for (size_t i = 0; i < size; i++)
        s->reaction.data[i] -= s->rate.data[i];
}

static kiln_status solve_with_obstacles(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    bool moving = t->scheme.scale > 0.0;
    int most = moving ? MOST_PASSES : MOST_STATIC_PASSES;
    double tolerance = !moving                 ? s->options.lag_tolerance
                       : s->options.linearised ? LINEARISED_TOLERANCE
                                               : LOAD_TOLERANCE;
    for (int pass = 0; pass < most; pass++) {
        double began = kiln_wall_seconds(), change;
        t->settled = false;
        if (s->liquid.used)
            kiln_liquid_meet(&s->liquid, &s->touch);
        KILN_TRY(kiln_touch_constrain(&s->touch, &s->active, error));
        if (s->liquid.used)
            kiln_liquid_wet(&s->liquid, &s->touch, kiln_solid_positions(s));
        t->report->contact_seconds += kiln_wall_seconds() - began;
        if (s->options.linearised)
            memcpy(s->x.data, kiln_solid_positions(s), 3 * s->rows * sizeof(double));
        KILN_TRY(minimise(t, &s->active, error));
        if (t->report->outcome != KILN_STEP_DONE)
            return KILN_OK;
        find_reactions(t, &s->active);
        began = kiln_wall_seconds();
        bool changed;
        KILN_TRY(kiln_touch_judge(&s->touch, s->x.data, s->reaction.data, s->contact.data, &change,
                                  &changed, error));
        t->report->contact_seconds += kiln_wall_seconds() - began;
        t->settled = !changed;
        if (!changed && change <= tolerance)
            return KILN_OK;
    }
    return KILN_OK;
}

static kiln_status solve_once(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    if (s->touch.obstacle_count)
        return solve_with_obstacles(t, error);
    if (s->options.linearised)
        memcpy(s->x.data, kiln_solid_begin(s), 3 * s->all * sizeof(double));
    KILN_TRY(minimise(t, &s->given, error));
    if (t->report->outcome == KILN_STEP_DONE)
        find_reactions(t, &s->given);
    return KILN_OK;
}

/* The objective without what is known only where the solve has begun: friction, damping. */
static double value_at(const kiln_attempt *t, const double *x)
{
    kiln_solid *s = t->solid;
    kiln_term *repulsion = &s->collide.repulsion;
    double sum = repulsion->weight * repulsion->value(repulsion->self, x);
    for (size_t i = 0; i < s->lasting; i++)
        sum += s->terms.data[i]->weight * s->terms.data[i]->value(s->terms.data[i]->self, x);
    return sum;
}

/* Newmark keeps the speeds across at which bodies that lie on each other tremble: what presses in
 * one step hardly does so in the next, and both ends are near the begin. Where the way that the
 * velocities say ends higher than it begins that is where to start (a card house took 15 matrices a
 * step, now 3). */
static bool begin_is_lower(const kiln_attempt *t)
{
    const kiln_solid *s = t->solid;
    if (!t->scheme.impulses || !kiln_collide_rubs(&s->collide) || s->touch.obstacle_count ||
        s->liquid.used)
        return false;
    double begin = value_at(t, kiln_solid_begin(s)), end = value_at(t, s->x.data);
    return !(end <= begin);
}

/* Where Newton starts: as far as the velocities carry, which saves an iteration of three in smooth
 * motion; where a tet would not survive that, at the begin. */
static void guess(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    size_t size = 3 * s->rows;
    const double *x = kiln_solid_begin(s), *v = t->history[KILN_HISTORY_V];
    if (s->start_at && !t->staging) {
        memcpy(s->x.data, s->start_at, size * sizeof(double));
        if (s->all > s->rows) /* which is where walls have gone to */
            memcpy(s->x.data + size, s->guess.data + size, (3 * s->all - size) * sizeof(double));
        return;
    }
    bool moving = t->scheme.scale > 0.0 && !s->options.linearised;
    double part = 1.0;
    if (moving && kiln_collide_is_used(&s->collide))
        part = kiln_collide_way(&s->collide, x, s->guess.data, s->rate.data);
    if (moving) {
        for (size_t i = 0; i < size; i++)
            s->x.data[i] = x[i] + part * t->h * v[i];
        for (size_t i = size; i < 3 * s->all; i++)
            s->x.data[i] = x[i] + part * (s->guess.data[i] - x[i]);
    }
    uint32_t first;
    if (!moving || kiln_elements_inverted(s->elements, s->x.data, &first) > 0 || begin_is_lower(t))
        memcpy(s->x.data, x, 3 * s->all * sizeof(double));
}

/* Again with what is held through a solve (forces that follow, surfaces of flow) as it is at the
 * end of the last one, until that changes nothing more. */
kiln_status kiln_attempt_solve(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    int most = s->options.max_lags ? s->options.max_lags : MOST_LAGS;
    double tolerance = s->options.lag_tolerance;
    if (t->scheme.scale > 0.0)
        tolerance = fmax(tolerance, MOVING_LAG_TOLERANCE);
    guess(t);
    kiln_attempt_renew_lagged(t, s->x.data, NULL);
    t->rough = kiln_yield_surfaces_follow(s->elements);
    for (t->report->lags = 1;; t->report->lags++) {
        const kiln_term *worst = NULL;
        KILN_TRY(solve_once(t, error));
        if (t->report->outcome != KILN_STEP_DONE || s->options.linearised)
            return KILN_OK;
        if (kiln_attempt_renew_lagged(t, s->x.data, &worst) <= tolerance) {
            if (!t->rough)
                return KILN_OK;
            t->rough = false;
        } else if (t->report->lags >= most) {
            t->report->outcome = worst == kiln_elements_term(s->elements) ? KILN_STEP_UNSETTLED
                                                                          : KILN_STEP_FOLLOWING;
            return KILN_OK;
        }
    }
}

kiln_touch_start kiln_attempt_touch_start(const kiln_attempt *t)
{
    const kiln_solid *s = t->solid;
    return (kiln_touch_start){
        .given = &s->given,
        .x = t->history[KILN_HISTORY_X],
        .v = t->history[KILN_HISTORY_V],
        .h = t->scheme.scale > 0.0 ? t->h : 0.0,
        .origin = s->origin.data,
        .tau = t->scheme.tau,
        .with = kiln_solid_contact_with(s),
        .load = kiln_solid_column(s, "contact_load"),
        .kept = kiln_solid_column(s, "contact_kept"),
        .push = kiln_solid_column(s, "contact_push"),
        .matter = s->mass,
        .holds = {s->hit.data, s->kick.data, s->cut.data},
        .per_scale = t->scheme.scale > 0.0 ? 1.0 / t->scheme.scale : 0.0,
        .liquid = kiln_liquid_touches(&s->liquid),
    };
}

static kiln_status begin_contact(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    if (s->touch.obstacle_count == 0)
        return KILN_OK;
    kiln_touch_start start = kiln_attempt_touch_start(t);
    double began = kiln_wall_seconds();
    s->touch.liquid = start.liquid;
    if (s->liquid.used)
        kiln_liquid_lean(&s->liquid, &s->touch, &start);
    KILN_TRY(kiln_touch_begin(&s->touch, &start, error));
    t->report->contact_seconds += kiln_wall_seconds() - began;
    return KILN_OK;
}

/* Walls at the begin and at the end of the step, and what their velocity is seen by. */
static void place_walls(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    size_t first = 3 * s->rows;
    double *begin = s->begin.data + first, *end = s->guess.data + first;
    double part = t->scheme.scale > 0.0 ? kiln_attempt_brief_tau(t) / t->h : 1.0;
    const double *x = t->history[KILN_HISTORY_X];
    kiln_box about = kiln_collide_extent(&s->collide, kiln_box_empty(), x);
    about = kiln_collide_extent(&s->collide, about, s->guess.data);
    memcpy(s->begin.data, x, first * sizeof(double));
    kiln_collide_place_walls(&s->collide, about, false, end);
    kiln_collide_place_walls(&s->collide, about, !s->walls_stay, begin);
    memcpy(s->given.target + s->rows, end, (3 * s->all - first) * sizeof(double));
    for (size_t i = first; i < 3 * s->all; i++)
        s->origin.data[i] = end[i - first] - part * (end[i - first] - begin[i - first]);
}

/* Where the mesh is another than that of the try before (kiln_solid_start_at). */
static kiln_status find_fresh(kiln_attempt *t, kiln_collide_start *start, kiln_error *error)
{
    kiln_solid *s = t->solid;
    const kiln_mesh *mesh = s->mesh;
    if (!s->start_at || !start->over)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(s->context, &s->fresh, s->rows, error));
    memset(s->fresh.data, 0, s->rows);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        if (!kiln_face_live(mesh, f) || mesh->info[at / 4].changed <= s->since)
            continue;
        for (int k = 0; k < 3; k++)
            s->fresh.data[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]] = 1;
    }
    start->fresh = s->fresh.data;
    return KILN_OK;
}

/* Pairs of surfaces. Refuses to start from surfaces that touch. */
kiln_status kiln_attempt_begin_surfaces(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    if (!kiln_collide_is_used(&s->collide))
        return KILN_OK;
    const double *x = t->history[KILN_HISTORY_X], *v = t->history[KILN_HISTORY_V];
    double h = t->scheme.scale > 0.0 ? t->h : 0.0;
    for (size_t i = 0; i < 3 * s->rows; i++)
        s->guess.data[i] = x[i] + h * v[i];
    if (s->all > s->rows)
        place_walls(t);
    if (t->scheme.scale > 0.0) {
        double haste = kiln_collide_haste(&s->collide, kiln_solid_begin(s), s->guess.data);
        t->report->haste = fmax(t->report->haste, haste);
    }
    bool trembles = kiln_attempt_trembles(t);
    if (trembles)
        kiln_attempt_find_tremble(t);
    kiln_collide_start start = {.given = &s->given,
                                .x = kiln_solid_begin(s),
                                .origin = t->scheme.impulses ? kiln_solid_begin(s) : s->origin.data,
                                .tau = kiln_attempt_brief_tau(t),
                                .over = t->scheme.impulses,
                                .carried = trembles ? s->carried.data : NULL,
                                .besides = s->besides.data};
    KILN_TRY(find_fresh(t, &start, error));
    KILN_TRY(kiln_collide_begin(&s->collide, &start, error));
    t->contact_before =
        kiln_collide_energy(&s->collide, kiln_solid_begin(s)) * t->hardness / s->collide.hardness;
    uint32_t vertex = kiln_collide_touching(&s->collide, kiln_solid_begin(s));
    if (vertex == KILN_NONE)
        vertex = kiln_collide_behind_plane(&s->collide, kiln_solid_begin(s));
    if (vertex != KILN_NONE) {
        t->report->outcome = KILN_STEP_CROSSING;
        t->report->element = vertex;
    }
    return KILN_OK;
}

/* What is still inside obstacles is put on them; not through another surface. */
kiln_status kiln_attempt_settle(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    bool among = kiln_collide_is_used(&s->collide);
    if (among)
        memcpy(s->guess.data, s->x.data, 3 * s->all * sizeof(double));
    if (s->touch.obstacle_count)
        KILN_TRY(kiln_touch_project(&s->touch, t->settled, s->x.data, error));
    if (!among)
        return KILN_OK;
    bool free = kiln_collide_way(&s->collide, s->guess.data, s->x.data, s->rate.data) >= 1.0;
    uint32_t vertex = kiln_collide_touching(&s->collide, s->x.data);
    if (free && vertex == KILN_NONE)
        KILN_TRY(kiln_collide_behind(&s->collide, kiln_solid_begin(s), s->x.data, !t->staging,
                                     &vertex, error));
    if (free && vertex == KILN_NONE)
        vertex = kiln_collide_behind_plane(&s->collide, s->x.data);
    if (!free || vertex != KILN_NONE) {
        t->report->outcome = KILN_STEP_CROSSING;
        t->report->element = vertex;
        return KILN_OK;
    }
    t->report->e_contact = kiln_collide_energy(&s->collide, s->x.data);
    return kiln_collide_failure(&s->collide, error);
}

/* Of the history's weights in the formula for velocities those of places sum to 1, and a_n and v_m
 * have none. */
static void begin_damping(const kiln_attempt *t)
{
    const double *weight = t->scheme.origin;
    kiln_damping_start start = {.x_n = t->history[KILN_HISTORY_X],
                                .before = t->history[KILN_HISTORY_X_BEFORE],
                                .v_n = t->history[KILN_HISTORY_V],
                                .origin = kiln_attempt_brief_origin(t),
                                .before_weight = weight[KILN_HISTORY_X_BEFORE],
                                .rate_weight = t->scheme.impulses ? 0 : weight[KILN_HISTORY_V],
                                .tau = kiln_attempt_brief_tau(t),
                                .means = t->scheme.impulses};
    if (kiln_damping_is_used(t->solid->damping))
        kiln_damping_begin(t->solid->damping, &start);
}

static void begin_liquid(const kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    const double usual = s->options.usual_step;
    const kiln_liquid_start start = {.x = kiln_solid_positions(s),
                                     .mass = s->tet_mass.data,
                                     .viscosity = kiln_damping_viscosity(s->damping),
                                     .centre = s->centre.data,
                                     .scale = t->scheme.scale,
                                     .tau = t->scheme.tau,
                                     .recover = usual > 0.0 ? fmin(1.0, t->h / usual) : 1.0,
                                     .acceleration = kiln_loads_acceleration(s->loads),
                                     .given = &s->given};
    kiln_liquid_begin(&s->liquid, &start);
}

kiln_status kiln_attempt_begin(kiln_attempt *t, kiln_error *error)
{
    if (t->scheme.scale > 0.0)
        begin_damping(t);
    if (t->solid->liquid.used)
        begin_liquid(t);
    KILN_TRY(begin_contact(t, error));
    return kiln_attempt_begin_surfaces(t, error);
}

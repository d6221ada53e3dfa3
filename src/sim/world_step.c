/* A step is one transaction: begin, then commit or roll back; nothing in between is kept half. */
#include "base/clock.h"
#include "mesh/rewind.h"
#include "sim/world_impl.h"

#include <math.h>
#include <string.h>

static kiln_status begin_step(kiln_world *world, kiln_error *error)
{
    const char *name;
    size_t total = sizeof world->state, size;
    for (size_t m = 0; world->modules[m]; m++, total += size)
        kiln_world_module_state(world, m, &name, &size);
    KILN_TRY(kiln_array_reserve(world->context, &world->kept, total, error));
    char *to = world->kept.data;
    memcpy(to, &world->state, sizeof world->state);
    to += sizeof world->state;
    for (size_t m = 0; world->modules[m]; m++, to += size) {
        const void *state = kiln_world_module_state(world, m, &name, &size);
        if (size)
            memcpy(to, state, size);
    }
    KILN_TRY(kiln_rewind_begin(world->mesh, error));
    world->tries++;
    return KILN_OK;
}

/* `derived`: what is derived may be of the state that is gone. */
static void take_step_back(kiln_world *world, bool derived)
{
    const char *from = world->kept.data, *name;
    size_t size;
    kiln_rewind_back(world->mesh);
    memcpy(&world->state, from, sizeof world->state);
    from += sizeof world->state;
    for (size_t m = 0; world->modules[m]; m++, from += size) {
        void *state = kiln_world_module_state(world, m, &name, &size);
        if (size)
            memcpy(state, from, size);
        if (world->self[m] && world->modules[m]->step_back)
            world->modules[m]->step_back(world->self[m]);
    }
    world->stale |= derived;
}

/* Whatever happens in a step. */
static kiln_status make_step(kiln_world *world, double stop, double h, bool *found,
                             kiln_error *error)
{
    kiln_world_state *state = &world->state;
    kiln_moment *moment = &world->moment;
    double begin = state->clock.time;
    *moment = (kiln_moment){begin, begin, !world->moves && state->step <= 1};
    kiln_interval interval = {begin, begin + h, world->scene->load_steps};
    KILN_EACH_MODULE(world, before_step, moment, error)
    KILN_TRY(kiln_steppers_advance(world->steppers, world->stepper_count, &interval, &world->report,
                                   error));
    if (world->report.outcome != KILN_STEP_DONE)
        return KILN_OK;
    *found = true;
    kiln_pace_accept(&state->pace, &world->scene->pace, h, world->report.strained);
    /* begin + (stop - begin) may miss it by a rounding. */
    if (fabs(state->clock.time - stop) <= kiln_world_tolerance(world))
        state->clock.time = stop;
    moment->end = state->clock.time;
    for (size_t m = 0; world->modules[m] && world->report.outcome == KILN_STEP_DONE; m++)
        if (world->self[m] && world->modules[m]->after_step)
            KILN_TRY(world->modules[m]->after_step(world->self[m], moment, error));
    return kiln_may_go_on(world->context, error); /* or something has ended before its end */
}

/* What could not be computed of this step may be of a shorter one: an outcome like others, deep as
 * it was found. Bad input, memory and a caller who stops are errors. */
static kiln_status judge(kiln_world *world, kiln_status status, const kiln_error *trouble,
                         kiln_error *error)
{
    if (status == KILN_ERR_NUMERIC) {
        world->report.outcome = KILN_STEP_NUMERIC;
        world->report.element = KILN_NONE;
        world->trouble = *trouble;
        return KILN_OK;
    }
    if (status != KILN_OK && error)
        *error = *trouble;
    return status;
}

static kiln_status try_step(kiln_world *world, double stop, double h, kiln_error *error)
{
    bool found = false;
    kiln_error trouble = {0};
    KILN_TRY(begin_step(world, error));
    kiln_status status = make_step(world, stop, h, &found, &trouble);
    found |= status != KILN_OK;
    status = judge(world, status, &trouble, error);
    if (status == KILN_OK && world->report.outcome == KILN_STEP_DONE)
        kiln_rewind_end(world->mesh);
    else
        take_step_back(world, found);
    return status;
}

static double next_event(const kiln_world *world, double time)
{
    for (size_t i = 0; i < world->events.count; i++)
        if (world->events.data[i] > time + kiln_world_tolerance(world))
            return world->events.data[i];
    return INFINITY;
}

/* What goes farther than that in a step that failed may have been too fast for it. */
#define HASTY 1.0

/* How short steps may become after one of that length failed. */
static kiln_pace_limits limits_after(const kiln_world *world, double h)
{
    kiln_pace_limits limits = world->scene->pace;
    if (limits.by_preset && world->report.haste > HASTY &&
        0.5 * h > KILN_SHORTEST_TRY * world->scene->duration)
        limits.dt_min = fmin(limits.dt_min, 0.5 * h);
    return limits;
}

static double longest_step(const kiln_world *world)
{
    double longest = INFINITY;
    for (size_t m = 0; world->modules[m]; m++)
        if (world->self[m] && world->modules[m]->longest_step)
            longest = fmin(longest, world->modules[m]->longest_step(world->self[m]));
    return longest;
}

/* Tries of a step, ever shorter, until one is made or none is left; *rejected counts those taken
 * back. */
static kiln_status make_some_step(kiln_world *world, double stop, kiln_step_report *sum,
                                  double *rejected, bool *gave_up, kiln_diagnosis *diagnosis,
                                  kiln_error *error)
{
    kiln_world_state *state = &world->state;
    double begin = state->clock.time;
    double longest = fmax(longest_step(world), world->scene->pace.dt_min);
    for (;; ++*rejected) {
        const kiln_pace pace = {.dt = fmin(state->pace.dt, longest)};
        double h = world->moves ? kiln_pace_length(&pace, begin, stop) : stop - begin;
        KILN_TRY(kiln_world_ready(world, error));
        KILN_TRY(try_step(world, stop, h, error));
        kiln_step_report_add(sum, &world->report);
        if (world->report.outcome == KILN_STEP_DONE)
            return KILN_OK;
        state->rejected++;
        char outcome[160];
        kiln_log(world->context, KILN_LOG_INFO, "after %.6g s: a step of %.3g s is taken back: %s",
                 begin, h, kiln_world_outcome_text(world, outcome, sizeof outcome));
        double strained = world->report.strained > 1.0 ? world->report.strained : 0.0;
        const kiln_pace_limits limits = limits_after(world, h);
        *gave_up = !world->moves || !kiln_pace_reject(&state->pace, &limits, h, strained);
        if (*gave_up) {
            kiln_world_diagnose(world, h, diagnosis);
            return KILN_OK;
        }
    }
}

kiln_status kiln_world_step(kiln_world *world, double stop, kiln_stats *stats, bool *gave_up,
                            kiln_diagnosis *diagnosis, kiln_error *error)
{
    kiln_world_state *state = &world->state;
    const kiln_world_state before = *state;
    double started = kiln_wall_seconds(), begin = state->clock.time, rejected = 0.0;
    double event = next_event(world, begin);
    kiln_step_report sum = {0};
    stop = event < stop - kiln_world_tolerance(world) ? event : stop;
    *gave_up = false;
    kiln_status status = make_some_step(world, stop, &sum, &rejected, gave_up, diagnosis, error);
    if (status != KILN_OK || *gave_up) { /* as if nothing had been tried */
        *state = before;
        kiln_world_ready(world, NULL); /* or later, if there is no memory for it now */
        return status;
    }
    world->report = sum;
    state->step = state->step > 0 ? state->step : 1;
    kiln_world_measure(world, stats);
    state->step++;
    stats->dt = state->clock.time - begin;
    stats->rejected = rejected;
    stats->t_step = kiln_wall_seconds() - started;
    if (sum.energy_taken > 0.0)
        kiln_log(world->context, KILN_LOG_INFO,
                 "step %.0f at %.6g s: made %.3g J from nothing, which was given back", stats->step,
                 stats->time, sum.energy_taken);
    return KILN_OK;
}

kiln_status kiln_world_settle(kiln_world *world, kiln_error *error)
{
    kiln_interval interval = {world->moment.begin, world->moment.end, 1};
    kiln_step_report again;
    KILN_TRY(
        kiln_steppers_advance(world->steppers, world->stepper_count, &interval, &again, error));
    kiln_step_report_add(&world->report, &again);
    return KILN_OK;
}

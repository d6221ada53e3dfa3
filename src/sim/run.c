#include "sim/run.h"

#include "base/clock.h"
#include "contact/clearance.h"
#include "mesh/audit.h"

/* Seconds of the wall clock between checkpoints where the scene does not say. */
enum { CHECKPOINT_SECONDS = 60 };

typedef struct runner {
    kiln_world *world;
    kiln_world_state *state;
    const kiln_scene *scene;
    const kiln_run_output *output;
    double until;
    double moment;     /* times closer than this are the same */
    double last_frame; /* s, when the last frame was written; NaN: none by this run */
    double checkpoint; /* wall clock of the last one */
    double io;         /* s spent writing since the last row */
    bool moved;        /* something was done that is not in the last checkpoint */
} runner;

/* The first multiple of the interval that is still to come; the next moment where they are closer
 * than the clock can tell. The quotient is rounded, so its neighbours are looked at too. */
static double next_multiple(const runner *r, double interval)
{
    if (!(interval > 0.0))
        return INFINITY;
    double now = r->state->clock.time + r->moment, n = floor(now / interval);
    for (int i = -1; i <= 1; i++)
        if ((n + i) * interval > now)
            return (n + i) * interval;
    return now;
}

static kiln_status write_frame(runner *r, kiln_error *error)
{
    double started = kiln_wall_seconds();
    r->last_frame = r->state->clock.time;
    r->state->next_frame = next_multiple(r, r->scene->output.frame);
    if (r->output->frame)
        KILN_TRY(r->output->frame(r->output->self, r->world, error));
    r->state->frame++;
    r->io += kiln_wall_seconds() - started;
    return KILN_OK;
}

static kiln_status write_row(runner *r, kiln_stats *stats, kiln_error *error)
{
    stats->t_io = r->io;
    r->io = 0.0;
    double started = kiln_wall_seconds();
    if (r->output->stats)
        KILN_TRY(r->output->stats(r->output->self, stats, error));
    if (r->output->probes)
        KILN_TRY(r->output->probes(r->output->self, r->world, stats, error));
    r->io += kiln_wall_seconds() - started;
    if (r->output->progress)
        r->output->progress(r->output->self, r->world, stats);
    return KILN_OK;
}

/* The state that is written is the one to go on from, its own number included. */
static kiln_status write_checkpoint(runner *r, kiln_error *error)
{
    if (!r->output->checkpoint)
        return KILN_OK;
    double started = kiln_wall_seconds();
    r->state->next_checkpoint = next_multiple(r, r->scene->output.checkpoint);
    r->state->checkpoint++;
    kiln_status status = r->output->checkpoint(r->output->self, r->world, error);
    if (status != KILN_OK) {
        r->state->checkpoint--;
        return status;
    }
    KILN_TRY(kiln_world_renew(r->world, error));
    r->checkpoint = kiln_wall_seconds();
    r->io += r->checkpoint - started;
    return KILN_OK;
}

static bool checkpoint_is_due(const runner *r)
{
    if (r->scene->output.checkpoint > 0.0)
        return r->state->clock.time >= r->state->next_checkpoint - r->moment;
    return kiln_wall_seconds() - r->checkpoint >= CHECKPOINT_SECONDS;
}

static kiln_status audit(const runner *r, kiln_error *error)
{
    kiln_audit_report report;
    bool clear;
    KILN_TRY(kiln_mesh_audit(kiln_world_mesh(r->world), &report, error));
    KILN_TRY(kiln_solid_is_clear(kiln_world_solid(r->world), KILN_SINCE_EVER, false, &clear, NULL,
                                 error));
    if (!report.invariant && !clear)
        return kiln_fail(
            error, KILN_ERR_STATE, NULL, 0, -1,
            "audit after step %llu: surfaces pass through each other, by exact signs, or "
            "are nearer than a thousandth of contact.thickness",
            (unsigned long long)r->state->step - 1);
    if (!report.invariant)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "audit after step %llu: %s: %s",
                     (unsigned long long)r->state->step - 1, report.invariant, report.message);
}

/* The row and the frame of the start, unless this run was resumed: then the next frame and the next
 * checkpoint are those of the scene as it is now, which for the same scene are those it had. */
static kiln_status begin(runner *r, kiln_error *error)
{
    if (r->state->step == 0) {
        r->moved = true;
        kiln_stats stats;
        kiln_world_measure(r->world, &stats);
        KILN_TRY(write_row(r, &stats, error));
        r->state->step = 1;
        KILN_TRY(write_frame(r, error));
        r->state->next_checkpoint = next_multiple(r, r->scene->output.checkpoint);
        return KILN_OK;
    }
    r->state->next_frame = next_multiple(r, r->scene->output.frame);
    r->state->next_checkpoint = next_multiple(r, r->scene->output.checkpoint);
    return r->output->changed ? write_checkpoint(r, error) : KILN_OK;
}

static kiln_status after_step(runner *r, kiln_stats *stats, kiln_error *error)
{
    if (r->output->audit)
        KILN_TRY(audit(r, error));
    KILN_TRY(write_row(r, stats, error));
    if (r->state->clock.time >= r->state->next_frame - r->moment)
        KILN_TRY(write_frame(r, error));
    return KILN_OK;
}

static bool stop_is_asked(const runner *r)
{
    return r->output->stop && r->output->stop(r->output->self);
}

/* A static scene of no duration is one equilibrium. */
static bool is_over(const runner *r)
{
    bool still = !kiln_integrator_moves(r->scene->solid.integrator);
    return r->state->clock.time >= r->until - r->moment && !(still && r->state->step <= 1);
}

static kiln_status advance(runner *r, kiln_run_end *end, kiln_diagnosis *diagnosis,
                           kiln_error *error)
{
    *end = KILN_RUN_DONE;
    while (!is_over(r)) {
        if (stop_is_asked(r)) {
            *end = KILN_RUN_STOPPED;
            return KILN_OK;
        }
        double stop = r->until;
        if (r->state->next_frame < stop - r->moment)
            stop = r->state->next_frame;
        kiln_stats stats;
        bool gave_up;
        kiln_status status = kiln_world_step(r->world, stop, &stats, &gave_up, diagnosis, error);
        if (status != KILN_OK && kiln_context_is_abandoned(kiln_world_mesh(r->world)->context)) {
            *end = KILN_RUN_STOPPED; /* at the step before */
            return KILN_OK;
        }
        if (status != KILN_OK && r->moved) /* the last step that was made is kept */
            write_checkpoint(r, NULL);
        KILN_TRY(status);
        r->moved = true;
        if (gave_up) {
            *end = KILN_RUN_GAVE_UP;
            return KILN_OK;
        }
        KILN_TRY(after_step(r, &stats, error));
        if (checkpoint_is_due(r) && !is_over(r))
            KILN_TRY(write_checkpoint(r, error));
    }
    return KILN_OK;
}

/* The end is seen, even between two frames; a run that was stopped goes on as if it had not been.
 */
static kiln_status finish(runner *r, kiln_run_end end, kiln_error *error)
{
    if (!r->moved)
        return KILN_OK;
    bool shown = fabs(r->state->clock.time - r->last_frame) <= r->moment;
    if (end != KILN_RUN_STOPPED && !shown)
        KILN_TRY(write_frame(r, error));
    return write_checkpoint(r, error);
}

kiln_status kiln_run(kiln_world *world, double until, const kiln_run_output *output,
                     kiln_run_end *end, kiln_diagnosis *diagnosis, kiln_error *error)
{
    const kiln_scene *scene = kiln_world_scene(world);
    runner r = {.world = world,
                .state = kiln_world_get_state(world),
                .scene = scene,
                .output = output,
                .until = until,
                .moment = kiln_scene_moment(scene),
                .last_frame = NAN,
                .checkpoint = kiln_wall_seconds()};
    KILN_TRY(begin(&r, error));
    KILN_TRY(advance(&r, end, diagnosis, error));
    return finish(&r, *end, error);
}

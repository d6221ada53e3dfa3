#include "app/progress.h"

#include "base/clock.h"
#include "io/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Seconds between lines, and between signs of life inside a step. */
static const double line_pause = 0.1, plain_pause = 1.0, plain_heartbeat = 10.0;

double kiln_progress_seconds(const kiln_progress *progress)
{
    return kiln_wall_seconds() - progress->started;
}

static void clock_text(double seconds, char *text, size_t size)
{
    if (!isfinite(seconds) || seconds > 359999.0) {
        snprintf(text, size, "--:--");
        return;
    }
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
}

/* Wall clock that is left if simulated time goes on at the pace so far. */
static double time_left(const kiln_progress *p)
{
    double done = p->stats.time - p->start_time;
    return done > 0.0 ? (p->until - p->stats.time) * (kiln_wall_seconds() - p->started) / done
                      : NAN;
}

static void print_numbers(const kiln_progress *p)
{
    char left[32];
    const kiln_stats *s = &p->stats;
    clock_text(time_left(p), left, sizeof left);
    printf("step %.0f  t %.4g of %.4g s", s->step, s->time, p->until);
    if (isfinite(s->dt))
        printf("  dt %.3g", s->dt);
    printf("  %.0f tets", s->tets);
    if (isfinite(s->q_min))
        printf("  q %.3f", s->q_min);
    if (isfinite(s->newton))
        printf("  newton %.0f  linear %.0f", s->newton, s->linear);
    printf("  ETA %s", left);
}

static void print_line(kiln_progress *p, double in_step)
{
    if (p->kind == KILN_PROGRESS_LINE)
        printf("\r\033[K");
    if (p->has_stats)
        print_numbers(p);
    if (in_step > 0.0)
        printf("%sstep %.0f takes %.0f s so far", p->has_stats ? "  " : "",
               p->has_stats ? p->stats.step + 1 : 1, in_step);
    if (p->kind == KILN_PROGRESS_PLAIN)
        printf("\n");
    p->line_open = p->kind == KILN_PROGRESS_LINE;
    p->shown = kiln_wall_seconds();
    fflush(stdout);
}

/* One object a line, so that scripts can read while the run goes on. */
static kiln_json begin_event(const char *event)
{
    kiln_json json = kiln_json_line_to_stream(stdout);
    kiln_json_object(&json, NULL);
    kiln_json_text(&json, "event", event);
    return json;
}

static void print_json(const kiln_stats *stats)
{
    kiln_json json = begin_event("step");
#define JSON_CELL(name) kiln_json_number(&json, #name, stats->name);
    KILN_STATS_TABLE(JSON_CELL)
#undef JSON_CELL
    kiln_json_end(&json);
    fflush(stdout);
}

static void beat(kiln_progress *p)
{
    double now = kiln_wall_seconds(), in_step = now - p->step_began;
    if (p->kind == KILN_PROGRESS_LINE && in_step >= 1.0)
        print_line(p, in_step);
    if (in_step < plain_heartbeat || now - p->shown < plain_heartbeat)
        return;
    if (p->kind == KILN_PROGRESS_PLAIN)
        print_line(p, in_step);
    if (p->kind == KILN_PROGRESS_JSON) {
        kiln_json json = begin_event("heartbeat");
        kiln_json_number(&json, "step", p->has_stats ? p->stats.step + 1 : 1);
        kiln_json_number(&json, "seconds", in_step);
        kiln_json_end(&json);
        p->shown = now;
        fflush(stdout);
    }
}

static void *tick(void *argument)
{
    kiln_progress *p = argument;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&p->wake, &p->lock, &until);
        if (!p->over)
            beat(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

void kiln_progress_begin(kiln_progress *progress, kiln_progress_kind kind, double start_time,
                         double until)
{
    *progress = (kiln_progress){.kind = kind, .until = until, .start_time = start_time};
    progress->started = progress->step_began = progress->shown = kiln_wall_seconds();
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->wake, NULL);
    /* Without the thread there are no signs of life inside a step; nothing else is missing. */
    progress->ticking =
        kind != KILN_PROGRESS_QUIET && pthread_create(&progress->ticker, NULL, tick, progress) == 0;
}

static void finish_line(kiln_progress *p)
{
    if (p->line_open)
        printf("\n");
    p->line_open = false;
}

void kiln_progress_end(kiln_progress *progress)
{
    pthread_mutex_lock(&progress->lock);
    progress->over = true;
    pthread_cond_signal(&progress->wake);
    pthread_mutex_unlock(&progress->lock);
    if (progress->ticking)
        pthread_join(progress->ticker, NULL);
    finish_line(progress);
    fflush(stdout);
    pthread_cond_destroy(&progress->wake);
    pthread_mutex_destroy(&progress->lock);
}

void kiln_progress_step(kiln_progress *progress, const kiln_stats *stats)
{
    pthread_mutex_lock(&progress->lock);
    double now = kiln_wall_seconds();
    progress->stats = *stats;
    progress->has_stats = true;
    progress->step_began = now;
    bool last = stats->time >= progress->until;
    double pause = progress->kind == KILN_PROGRESS_LINE ? line_pause : plain_pause;
    if (progress->kind == KILN_PROGRESS_JSON)
        print_json(stats);
    else if (progress->kind != KILN_PROGRESS_QUIET && (last || now - progress->shown >= pause))
        print_line(progress, 0.0);
    pthread_mutex_unlock(&progress->lock);
}

void kiln_progress_say(kiln_progress *progress, const char *event, const char *key,
                       const char *text, bool json_only)
{
    pthread_mutex_lock(&progress->lock);
    if (progress->kind == KILN_PROGRESS_JSON) {
        kiln_json json = begin_event(event);
        kiln_json_text(&json, key, text);
        kiln_json_end(&json);
    } else if (progress->kind != KILN_PROGRESS_QUIET && !json_only) {
        finish_line(progress);
        printf("%s\n", text);
    }
    fflush(stdout);
    pthread_mutex_unlock(&progress->lock);
}

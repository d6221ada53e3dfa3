/* The linear systems of liquids: iterations at any size and viscosity, and closed containers. */
#include "validation/trial.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* The slowest wave of a tank 1 m long and 0.5 m deep. */
static kiln_vec3 wave(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    (void)time;
    double omega = sqrt(9.81 * PI * tanh(0.5 * PI)), size = 0.01 * omega / sinh(0.5 * PI);
    return kiln_v3(-size * sin(PI * u.x) * cosh(PI * u.z), 0,
                   size * cos(PI * u.x) * sinh(PI * u.z));
}

typedef struct tank {
    int n;            /* cells along it */
    double viscosity; /* Pa s */
    bool sticks;      /* at its walls; else it slips along them */
    int walls;        /* 5: all but the top, 6: closed */
    /* Plain places of the first wall; NULL: it stays. */
    kiln_vec3 (*moved)(const void *user, kiln_vec3 u, double time);
    double iterations; /* results: a solve; */
    double volume;     /* off the first, of it */
} tank;

static kiln_status watch(kiln_trial *trial, kiln_world *world, kiln_error *error)
{
    tank *out = trial->user;
    kiln_stats stats = {.time = 0.0};
    double newton = 0.0, linear = 0.0, first = 0.0;
    while (stats.time < trial->scene.duration * (1 - 1e-9)) {
        KILN_TRY(kiln_trial_step(trial, world, &stats, error));
        newton += (double)stats.newton;
        linear += (double)stats.linear;
        first = first > 0.0 ? first : stats.rest_volume;
        out->volume = fmax(out->volume, fabs(stats.volume / first - 1.0));
    }
    out->iterations = linear / newton;
    return KILN_OK;
}

static kiln_status hold_tank(kiln_trial *trial, kiln_trial_map *map, kiln_error *error)
{
    const tank *t = trial->user;
    for (int patch = 1; patch <= t->walls; patch++) {
        kiln_picks where;
        KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, t->sticks ? 7 : 1 << (patch - 1) / 2,
                                 patch == 1 && t->moved ? map : NULL, error));
    }
    return KILN_OK;
}

static kiln_status run_tank(kiln_validation *validation, const kiln_view *view, tank *t,
                            kiln_error *error)
{
    kiln_trial trial;
    const int cells[3] = {t->n, t->n / 4, t->n / 2};
    kiln_trial_map speed = {.place = wave, .l = 1, .t = -1}, place = {.place = t->moved, .l = 1};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    speed.trial = place.trial = &trial;
    trial.user = t;
    trial.scene.solid.integrator = KILN_BDF2;
    trial.scene.pace.dt = kiln_trial_number(&trial, 0.01, 0, 0, 1);
    trial.scene.pace.dt_min = 0.25 * trial.scene.pace.dt;
    trial.scene.duration = kiln_trial_number(&trial, 0.02, 0, 0, 1);
    trial.scene.gravity =
        kiln_quantity_vector(kiln_trial_vector(&trial, kiln_v3(0, 0, -9.81), 1, 0, -2));
    kiln_status status = kiln_trial_liquid(&trial, 1000, t->viscosity, 0, error);
    if (status == KILN_OK)
        status = kiln_trial_box(&trial, kiln_v3(1, 0.25, 0.5), cells, "mirrored", error);
    if (status == KILN_OK)
        status = hold_tank(&trial, &place, error);
    if (status == KILN_OK) {
        if (t->walls == 5)
            trial.scene.bodies.data[0].velocity = kiln_trial_quantity(&speed);
        status = kiln_trial_build(&trial, watch, error);
    }
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_saddle(kiln_validation *validation, kiln_error *error)
{
    static const double viscosities[] = {0, 1, 100, 1e4};
    static const int n[] = {12, 24, 40};
    static const char *const names[] = {"walls that it slips along", "walls that it sticks to"};
    const int sizes = kiln_validation_is_brief(validation) ? 2 : 3;
    for (int walls = 0; walls < 2; walls++)
        for (size_t k = 0; k < sizeof viscosities / sizeof *viscosities; k++) {
            double last = 0.0;
            for (int i = 0; i < sizes; i++) {
                tank t = {.n = n[i], .viscosity = viscosities[k], .sticks = walls, .walls = 5};
                KILN_TRY(run_tank(validation, kiln_view_at(0), &t, error));
                kiln_validation_report(validation, t.iterations, kiln_at_most(30),
                                       "%s, %g Pa s, %d tets: iterations a solve", names[walls],
                                       t.viscosity, 6 * t.n * (t.n / 4) * (t.n / 2));
                if (i == 2) /* at 1,296 tets there is little that is not wall */
                    kiln_validation_report(validation, t.iterations / last, kiln_at_most(1.1),
                                           "%s, %g Pa s: of those at 10368 tets", names[walls],
                                           t.viscosity);
                last = t.iterations;
            }
        }
    return KILN_OK;
}

/* A wall that closes in by a tenth a second. */
static kiln_vec3 press(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    return kiln_v3(u.x + 0.1 * time, u.y, u.z);
}

kiln_status kiln_validate_closed(kiln_validation *validation, kiln_error *error)
{
    static const double viscosities[] = {0, 1e4};
    for (size_t row = 0; kiln_view_at(row); row++)
        for (int k = 0; k < 2; k++) {
            tank still = {.n = 8, .viscosity = viscosities[k], .walls = 6}, pressed = still;
            KILN_TRY(run_tank(validation, kiln_view_at(row), &still, error));
            kiln_validation_report(validation, still.volume, kiln_at_most(1e-10),
                                   "%s, %g Pa s: volume off in a closed box",
                                   kiln_view_at(row)->name, viscosities[k]);
            pressed.moved = press;
            kiln_error refusal = {0};
            kiln_status status = run_tank(validation, kiln_view_at(row), &pressed, &refusal);
            bool told = status != KILN_OK && strstr(refusal.message, "cannot be kept");
            kiln_validation_report(validation, told, kiln_near(1.0, 0.0),
                                   "%s, %g Pa s: a wall that closes it in is refused, and why",
                                   kiln_view_at(row)->name, viscosities[k]);
            pressed.walls = 5;
            pressed.volume = 0.0;
            KILN_TRY(run_tank(validation, kiln_view_at(row), &pressed, error));
            kiln_validation_report(validation, pressed.volume, kiln_at_most(1e-6),
                                   "%s, %g Pa s: volume off where the top is free",
                                   kiln_view_at(row)->name, viscosities[k]);
        }
    return KILN_OK;
}

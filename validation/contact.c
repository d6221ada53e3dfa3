/* Bodies that press, hit and rub obstacles, which are surfaces (validation.md C2, C5 to C8, C11):
 * gaps from the nodes of a frame, the rest from momentum and forces of every step. */
#include "validation/thrown.h"

#include <math.h>
#include <stdio.h>

static const double gravity = 9.81;
static const kiln_integrator moving[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};

/* Under newmark steps of other lengths too. */
static const double lengths[] = {1.0, 0.5, 2.0};
static const char *const length_names[] = {"", ", dt / 2", ", 2 dt"};

static int lengths_of(kiln_integrator integrator)
{
    return integrator == KILN_NEWMARK ? 3 : 1;
}

static size_t views_of(const kiln_validation *validation)
{
    return kiln_validation_is_brief(validation) ? 1 : SIZE_MAX;
}

/* C2: what p / kappa = 9.81e-3 leaves of the thickness. */

static const double side = 0.2, layer = 0.002, modulus = 1e5, squeeze = 9.81e-3, gap = 0.943906;

/* How far the vertices below are off it, at most. */
static void look_below(kiln_trial *trial)
{
    double *off = trial->user;
    *off = 0.0;
    for (size_t i = 0; i < trial->result.points.count; i++)
        if (kiln_trial_u(trial, i).z <= 0.0)
            *off = fmax(*off, fabs(1.0 + kiln_trial_x(trial, i).z / layer - gap));
}

/* Poisson's ratio is 0 and nothing moves sideways: one column beside the other. */
static kiln_status press(kiln_trial *trial, const char *body, const char *slab, kiln_error *error)
{
    kiln_picks all, top;
    char settings[100];
    snprintf(settings, sizeof settings, "lx=%g ly=%g lz=%g %s", side, side, side, body);
    trial->scene.contact.thickness = kiln_trial_number(trial, layer, 1, 0, 0);
    KILN_TRY(kiln_trial_material(trial, "linear", modulus, 0.0, 1000, error));
    KILN_TRY(kiln_trial_shape(trial, "box", settings,
                              kiln_v3(-0.5 * side, -0.5 * side, -0.03 * layer), error));
    KILN_TRY(kiln_trial_pick_all(trial, &all, error));
    KILN_TRY(kiln_trial_hold(trial, &all, 3, NULL, error));
    KILN_TRY(kiln_trial_pick_patch(trial, 6, &top, error));
    KILN_TRY(kiln_trial_load(trial, KILN_LOAD_TRACTION, &top,
                             kiln_quantity_vector(kiln_trial_vector(
                                 trial, kiln_v3(0, 0, -squeeze * modulus), -1, 1, -2)),
                             error));
    return slab ? kiln_trial_slab(trial, slab, -layer, 0.0, error)
                : kiln_trial_plane(trial, 0.0, 0.0, error);
}

static kiln_status report_gap(kiln_validation *validation, const kiln_view *view, const char *body,
                              const char *slab, kiln_error *error)
{
    kiln_trial trial;
    double off = NAN;
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    trial.user = &off;
    trial.on_frame = look_below;
    kiln_status status = press(&trial, body, slab, error);
    if (status == KILN_OK)
        status = kiln_trial_run(&trial, error);
    kiln_trial_end(&trial);
    KILN_TRY(status);
    kiln_validation_report(validation, off, kiln_at_most(1e-4),
                           "block %s over %s%s, %s: gap below, off %g of the thickness by", body,
                           slab ? "slab " : "a plane", slab ? slab : "", view->name, gap);
    return KILN_OK;
}

kiln_status kiln_validate_C2(kiln_validation *validation, kiln_error *error)
{
    static const char *const bodies[] = {"n=6", "n=6 pattern=mirrored", "n=9"};
    static const char *const slabs[] = {NULL, "lz=0.1 nx=1 ny=1 nz=1", "lz=0.1 nx=8 ny=8 nz=1",
                                        "lz=0.1 nx=29 ny=31 nz=1 pattern=mirrored"};
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++)
        for (int b = 0; b < 3; b++)
            for (int s = 0; s < 4; s++)
                KILN_TRY(report_gap(validation, kiln_view_at(v), bodies[b], slabs[s], error));
    return KILN_OK;
}

static const kiln_moment *last_of(const kiln_moments *moments)
{
    return &moments->data[moments->count - 1];
}

/* C5 */

typedef struct blow {
    double begin, end; /* s, of the force; after its first end the bar rings */
    double stress;     /* mean in the middle half, Pa */
    double rebound;    /* of the speed */
    double most, last; /* energy over that at the begin */
} blow;

/* Bdf2 remembers: a twentieth of the force that is expected is none. Under newmark nothing damps
 * the end of the bar: it lets go and comes back, and the last of that is the end. */
static blow blow_of(const kiln_moments *moments, double area, double speed, double stress,
                    double expected)
{
    const double none = 0.05 * stress * area;
    blow b = {.begin = NAN, .end = NAN, .rebound = last_of(moments)->velocity.z / speed};
    double impulse = 0.0, time = 0.0;
    for (size_t i = 1; i < moments->count; i++) {
        const kiln_moment *m = &moments->data[i];
        if (m->force.z > none && isnan(b.begin))
            b.begin = m->time - m->h;
        if (m->force.z > none && m->time < b.begin + 1.5 * expected)
            b.end = m->time;
        b.last = m->energy / moments->data[0].energy;
        b.most = fmax(b.most, b.last);
    }
    for (size_t i = 1; i < moments->count; i++) {
        const kiln_moment *m = &moments->data[i];
        double part = (m->time - b.begin) / (b.end - b.begin);
        if (part < 0.25 || part > 0.75)
            continue;
        impulse += m->h * m->force.z;
        time += m->h;
    }
    b.stress = impulse / (time * area);
    return b;
}

static kiln_status strike(kiln_validation *validation, const kiln_view *view, int i, int length,
                          kiln_error *error)
{
    /* Rebound and energy of the first and the last are those of a code in one dimension. */
    static const double rebound[3] = {0.91, 1.0, 0.97}, kept[3] = {0.85, 1.0, 0.97};
    const double c = sqrt(1e6 / 1000), contact = 2.0 / c;
    const char *name = kiln_integrator_name(moving[i]), *dt = length_names[length];
    kiln_moments moments;
    kiln_thrown bar = {.integrator = moving[i],
                       .dt = lengths[length] * 0.25 * 0.025 / c,
                       .duration = 0.09,
                       .shape = "box",
                       .settings = "lx=0.1 ly=0.1 lz=1 nx=1 ny=1 nz=40",
                       .young = 1e6,
                       .density = 1000,
                       .velocity = {0, 0, -0.1},
                       .thickness = 1e-4};
    kiln_status status = kiln_throw(validation, view, &bar, &moments, error);
    blow b = {0};
    if (status == KILN_OK)
        b = blow_of(&moments, 0.01, 0.1, 3162.28, contact);
    kiln_array_free(kiln_validation_context(validation), &moments);
    KILN_TRY(status);
    kiln_validation_report(validation, 1e3 * (b.end - b.begin),
                           kiln_near_relative(1e3 * contact, 0.03), "%s%s, %s: time of contact, ms",
                           name, dt, view->name);
    kiln_validation_report(validation, b.stress, kiln_near_relative(3162.28, 0.01),
                           "%s%s, %s: stress at the wall, Pa", name, dt, view->name);
    kiln_validation_report(validation, b.rebound, kiln_near(rebound[i], 0.03), "%s%s, %s: rebound",
                           name, dt, view->name);
    kiln_validation_report(validation, b.last, kiln_near(kept[i], 0.03),
                           "%s%s, %s: energy that is left", name, dt, view->name);
    kiln_validation_report(validation, b.most, kiln_at_most(1.001), "%s%s, %s: most energy", name,
                           dt, view->name);
    return KILN_OK;
}

kiln_status kiln_validate_C5(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < lengths_of(moving[i]); k++)
                KILN_TRY(strike(validation, kiln_view_at(v), i, k, error));
    return KILN_OK;
}

/* C6, C7 */

static kiln_thrown laid_block(kiln_integrator integrator, double tangent)
{
    double c = 1.0 / sqrt(1.0 + tangent * tangent);
    return (kiln_thrown){.integrator = integrator,
                         .dt = 0.002,
                         .duration = 1.0,
                         .shape = "box",
                         .settings = "lx=0.2 ly=0.2 lz=0.1 n=2",
                         .young = 1e6,
                         .poisson = 0.3,
                         .density = 1000,
                         .gravity = {gravity * tangent * c, 0, -gravity * c},
                         .thickness = 0.001};
}

/* Over the second half. */
static kiln_status creep(kiln_validation *validation, const kiln_view *view, kiln_integrator how,
                         double dt, double tangent, double viscosity, double *speed,
                         double *acceleration, kiln_error *error)
{
    kiln_moments moments;
    kiln_thrown block = laid_block(how, tangent);
    block.dt = dt;
    block.friction = 0.5;
    block.slip_speed = 1e-3;
    block.viscosity = viscosity;
    kiln_status status = kiln_throw(validation, view, &block, &moments, error);
    if (status == KILN_OK) {
        const kiln_moment *a = &moments.data[moments.count / 2], *b = last_of(&moments);
        *speed = (b->centre.x - a->centre.x) / (b->time - a->time);
        *acceleration = (b->velocity.x - a->velocity.x) / (b->time - a->time);
    }
    kiln_array_free(kiln_validation_context(validation), &moments);
    return status;
}

static kiln_status lay(kiln_validation *validation, const kiln_view *view, kiln_integrator how,
                       int length, double viscosity, kiln_error *error)
{
    double slides = gravity * (0.51 - 0.5) / sqrt(1 + 0.51 * 0.51), speed, acceleration;
    double dt = lengths[length] * 0.005;
    const char *name = kiln_integrator_name(how), *step = length_names[length];
    KILN_TRY(creep(validation, view, how, dt, 0.49, viscosity, &speed, &acceleration, error));
    kiln_validation_report(validation, 1e3 * speed, kiln_near_relative(0.858579, 0.01),
                           "%s%s, viscosity %g Pa s, %s: creep at tan 0.49, mm/s", name, step,
                           viscosity, view->name);
    KILN_TRY(creep(validation, view, how, dt, 0.51, viscosity, &speed, &acceleration, error));
    kiln_validation_report(validation, acceleration, kiln_near_relative(slides, 0.01),
                           "%s%s, viscosity %g Pa s, %s: acceleration at tan 0.51, m/s^2", name,
                           step, viscosity, view->name);
    return KILN_OK;
}

/* The answers are those of a block that does not vibrate. One that slides without viscosity is
 * unstable (docs/contact.md, What to know) but for the damping of what slides. */
kiln_status kiln_validate_C6(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++) {
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < lengths_of(moving[i]); k++)
                KILN_TRY(lay(validation, kiln_view_at(v), moving[i], k, 1000, error));
        for (int i = 0; i < 3 && !brief; i++)
            for (int k = 0; k < lengths_of(moving[i]); k++)
                KILN_TRY(lay(validation, kiln_view_at(v), moving[i], k, 0, error));
    }
    return KILN_OK;
}

typedef struct course {
    double way;
    double slow; /* when a hundredth of 2 m/s is left first */
    double most; /* when 99 % of the way are behind it: speeds ring, places hardly */
} course;

static kiln_status slide(kiln_validation *validation, const kiln_view *view,
                         const kiln_thrown *block, course *c, kiln_error *error)
{
    kiln_moments moments;
    kiln_status status = kiln_throw(validation, view, block, &moments, error);
    *c = (course){NAN, NAN, NAN};
    if (status == KILN_OK)
        c->way = last_of(&moments)->centre.x - moments.data[0].centre.x;
    for (size_t i = 0; status == KILN_OK && i < moments.count; i++) {
        const kiln_moment *m = &moments.data[i];
        if (isnan(c->slow) && m->velocity.x < 0.02)
            c->slow = m->time;
        if (isnan(c->most) && m->centre.x - moments.data[0].centre.x >= 0.99 * c->way)
            c->most = m->time;
    }
    kiln_array_free(kiln_validation_context(validation), &moments);
    return status;
}

static kiln_status throw_along(kiln_validation *validation, const kiln_view *view,
                               kiln_integrator how, int length, double viscosity, kiln_error *error)
{
    const char *name = kiln_integrator_name(how);
    char with[40];
    course c;
    kiln_thrown block = laid_block(how, 0.0);
    block.dt *= lengths[length];
    block.viscosity = viscosity;
    block.duration = 0.75;
    block.velocity = kiln_v3(2, 0, 0);
    block.friction = 0.3;
    if (viscosity > 0.0)
        snprintf(with, sizeof with, "%s, viscosity %g Pa s", length_names[length], viscosity);
    else
        snprintf(with, sizeof with, "%s", length_names[length]);
    KILN_TRY(slide(validation, view, &block, &c, error));
    kiln_validation_report(validation, c.way, kiln_near_relative(0.67958, 0.01),
                           "%s%s, %s: way of a block thrown at 2 m/s, m", name, with, view->name);
    kiln_validation_report(validation, c.slow, kiln_near_relative(0.67278, 0.01),
                           "%s%s, %s: a hundredth of its speed is left after, s", name, with,
                           view->name);
    kiln_validation_report(validation, c.most, kiln_near_relative(0.61162, 0.01),
                           "%s%s, %s: 99 %% of it after, s", name, with, view->name);
    return KILN_OK;
}

/* As in C6: with viscosity under newmark too. */
kiln_status kiln_validate_C7(kiln_validation *validation, kiln_error *error)
{
    bool brief = kiln_validation_is_brief(validation);
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++)
        for (int i = 0; i < (brief ? 1 : 3); i++) {
            const char *name = kiln_integrator_name(moving[i]), *view = kiln_view_at(v)->name;
            course c;
            for (int k = 0; k < lengths_of(moving[i]); k++)
                KILN_TRY(throw_along(validation, kiln_view_at(v), moving[i], k, 0.0, error));
            for (int k = 0; k < 3 && moving[i] == KILN_NEWMARK; k++)
                KILN_TRY(throw_along(validation, kiln_view_at(v), moving[i], k, 1000, error));
            if (brief)
                continue;
            kiln_thrown block = laid_block(moving[i], 1 / sqrt(3.0));
            block.duration = 2.0;
            block.friction = 0.2;
            KILN_TRY(slide(validation, kiln_view_at(v), &block, &c, error));
            kiln_validation_report(validation, c.way, kiln_near_relative(6.4117, 0.01),
                                   "%s, %s: way down a slope of 30 degrees in 2 s, m", name, view);
        }
    return KILN_OK;
}

/* C8 */

kiln_status kiln_validate_C8(kiln_validation *validation, kiln_error *error)
{
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++)
        for (int i = 0; i < 2; i++) {
            kiln_moments moments;
            kiln_thrown block = laid_block(KILN_IMPLICIT_EULER, 0.0);
            block.settings = "lx=0.2 ly=0.2 lz=0.1 n=3";
            block.viscosity = 1000;
            block.dt = 0.005;
            block.place = kiln_v3(-0.4, -0.33, 0);
            block.velocity = kiln_v3(0.7, 0.37, 0);
            block.slab = i ? "lx=1.6 ly=1.6 lz=0.1 nx=8 ny=8 nz=1 pattern=mirrored"
                           : "lx=1.6 ly=1.6 lz=0.1 nx=8 ny=8 nz=1";
            kiln_status status = kiln_throw(validation, kiln_view_at(v), &block, &moments, error);
            double low = INFINITY, high = -INFINITY, off = 0.0;
            const kiln_vec3 first = block.velocity;
            for (size_t k = 0; status == KILN_OK && k < moments.count; k++) {
                const kiln_moment *m = &moments.data[k];
                off = fmax(off, hypot(m->velocity.x - first.x, m->velocity.y - first.y));
                if (m->time < 0.4)
                    continue;
                low = fmin(low, m->force.z);
                high = fmax(high, m->force.z);
            }
            kiln_array_free(kiln_validation_context(validation), &moments);
            KILN_TRY(status);
            const char *name = i ? "mirrored" : "one way", *view = kiln_view_at(v)->name;
            double weight = 0.2 * 0.2 * 0.1 * 1000 * gravity;
            kiln_validation_report(validation, (high - low) / weight, kiln_at_most(0.02),
                                   "8 x 8 cells cut %s, %s: ripple of the force, of the weight",
                                   name, view);
            kiln_validation_report(validation, off / kiln_v3_norm(first), kiln_at_most(1e-6),
                                   "8 x 8 cells cut %s, %s: change of the velocity along, relative",
                                   name, view);
        }
    return KILN_OK;
}

/* C11 */

static kiln_status rub(kiln_validation *validation, const kiln_view *view, kiln_thrown *body,
                       double *ratio, kiln_error *error)
{
    kiln_moments moments;
    kiln_status status = kiln_throw(validation, view, body, &moments, error);
    if (status == KILN_OK) {
        kiln_vec3 gain = kiln_v3_sub(last_of(&moments)->velocity, moments.data[0].velocity);
        *ratio = hypot(gain.x, gain.y) / gain.z;
    }
    kiln_array_free(kiln_validation_context(validation), &moments);
    return status;
}

kiln_status kiln_validate_C11(kiln_validation *validation, kiln_error *error)
{
    static const char *const shapes[] = {"box", "ball"};
    static const char *const settings[] = {"lx=0.2 ly=0.2 lz=0.2 n=3", "radius=0.1 h=0.05"};
    bool brief = kiln_validation_is_brief(validation);
    for (size_t v = 0; v < views_of(validation) && kiln_view_at(v); v++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 4; k++) {
                if (brief && k % 2)
                    continue;
                kiln_thrown body = {.integrator = moving[i],
                                    .dt = k % 2 ? 0.0005 : 0.002,
                                    .duration = 0.1,
                                    .shape = shapes[k / 2],
                                    .settings = settings[k / 2],
                                    .young = 1e5,
                                    .poisson = 0.3,
                                    .density = 1000,
                                    .place = {0, 0, k / 2 ? 0.105 : 0.005},
                                    .velocity = {3, 0, -1},
                                    .thickness = 0.002,
                                    .friction = 0.3};
                double ratio;
                KILN_TRY(rub(validation, kiln_view_at(v), &body, &ratio, error));
                kiln_validation_report(validation, ratio, kiln_near_relative(0.3, 0.01),
                                       "%s, %s, dt %g ms, %s: impulse along over across",
                                       shapes[k / 2], kiln_integrator_name(moving[i]),
                                       1e3 * body.dt, kiln_view_at(v)->name);
            }
    return KILN_OK;
}

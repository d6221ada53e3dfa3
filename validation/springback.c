/* P4: a bar is bent far past yield by turning its ends, let go, and keeps part of the bend. Static
 * steps: in each the matter flows until it is in equilibrium on its yield surface (sim/world.c), so
 * that speed, damping and mass have no part in the answer. */
#include "validation/trial.h"

#include <string.h>

/* The loading takes this many steps; twice as many change the answers by less than 1e-3. */
enum { STEPS = 10 };

static const double young = 1e6, poisson = 0.3, yield_stress = 5e3;
static const double height = 0.1, length = 1.0, bend = 0.4; /* m; the bend is 4 kappa_y, 1/m */

typedef struct bar {
    kiln_soup start; /* points only: which is which once the material moves */
    int frames;
    double curvature[2]; /* bent, let go; 1/m */
    double moment;       /* N m */
} bar;

/* Sections stay plane and turn about the middle of the bar. */
static kiln_vec3 place_bent(const void *user, kiln_vec3 u, double time)
{
    (void)user;
    double angle = bend * time * (u.x - 0.5 * length), up = u.z - 0.5 * height;
    if (angle == 0.0)
        return u;
    double radius = 1.0 / (bend * time);
    return kiln_v3(0.5 * length + (radius - up) * sin(angle), u.y,
                   0.5 * height + radius - (radius - up) * cos(angle));
}

/* By how much the section that began at x is turned. */
static double section_turn(const kiln_trial *trial, const bar *b, double x)
{
    double dx = 0.0, dz = 0.0, mean[2] = {0, 0}, points = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < b->start.points.count; i++) {
            kiln_vec3 u = b->start.points.data[i], now = kiln_trial_x(trial, i);
            if (fabs(u.x - x) > 1e-6)
                continue;
            double up = u.z - 0.5 * height;
            dx += up * (now.x - mean[0]), dz += up * (now.z - mean[1]);
            if (pass == 0)
                mean[0] += now.x, mean[1] += now.z, points += 1.0;
        }
        if (pass == 0)
            mean[0] /= points, mean[1] /= points, dx = dz = 0.0;
    }
    return atan2(-dx, dz);
}

/* Slope of the turn over the inner half of the length, by least squares. */
static double curvature(const kiln_trial *trial, const bar *b)
{
    enum { STATIONS = 10 };
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i <= STATIONS; i++) {
        double s = length * (0.25 + 0.5 * i / STATIONS);
        sum += (s - 0.5 * length) * section_turn(trial, b, s);
        squares += (s - 0.5 * length) * (s - 0.5 * length);
    }
    return sum / squares;
}

/* Of what holds the end at x = length, about the middle of that end. */
static double end_moment(const kiln_trial *trial, const bar *b)
{
    const kiln_vec3 *force = kiln_trial_field(trial, "reaction");
    kiln_vec3 centre = place_bent(NULL, kiln_v3(length, 0.5 * height, 0.5 * height), 1.0);
    double sum = force ? 0.0 : NAN;
    for (size_t i = 0; force && i < b->start.points.count; i++)
        if (b->start.points.data[i].x > length - 1e-6) {
            kiln_vec3 arm = kiln_v3_sub(kiln_trial_x(trial, i), centre);
            sum += arm.x * force[i].z - arm.z * force[i].x;
        }
    return sum;
}

static void look(kiln_trial *trial)
{
    bar *b = trial->user;
    if (b->frames == 0)
        for (size_t i = 0; i < trial->result.points.count; i++)
            (void)kiln_array_push(trial->context, &b->start.points, kiln_trial_u(trial, i), NULL);
    if (b->frames == STEPS) {
        b->curvature[0] = curvature(trial, b);
        b->moment = end_moment(trial, b);
    }
    if (b->frames == STEPS + 1)
        b->curvature[1] = curvature(trial, b);
    b->frames++;
}

/* A section that turns by `angle` about y: only along its normal, so that it may grow narrower as
 * the bar's sides do. Held in all directions the ends would not be in uniaxial stress, and in a
 * norm that counts pressure they yield first. */
static kiln_status turn_end(kiln_trial *trial, int patch, int step, kiln_trial_map *map,
                            kiln_error *error)
{
    double angle = bend * (step + 1) / STEPS * (patch == 1 ? -0.5 : 0.5) * length;
    kiln_mat3 axes = {{{cos(angle), 0, sin(angle)}, {0, 1, 0}, {-sin(angle), 0, cos(angle)}}};
    kiln_picks where;
    KILN_TRY(kiln_trial_pick_patch(trial, patch, &where, error));
    KILN_TRY(kiln_trial_hold(trial, &where, 1, map, error));
    kiln_scene_hold *hold = &trial->scene.holds.data[trial->scene.holds.count - 1];
    hold->axes = kiln_m3_mul(axes, hold->axes);
    hold->from = kiln_trial_number(trial, (double)step / STEPS, 0, 0, 1);
    hold->until = kiln_trial_number(trial, (step + 1.0) / STEPS, 0, 0, 1);
    return KILN_OK;
}

/* The ends are led until the bend is whole. The middle is held where it is, so that the bar does
 * not float: while it is bent in the directions that its ends leave free, then in all. */
static kiln_status hold_bar(kiln_trial *trial, kiln_trial_map *map, kiln_error *error)
{
    static const struct {
        kiln_vec3 at;
        int components;
        bool always;
    } pins[] = {{{0.5, 0.05, 0.05}, 6, true},
                {{0.5, 0.05, 0.1}, 2, true},
                {{0.5, 0.05, 0.05}, 1, false},
                {{0.5, 0.05, 0.1}, 1, false},
                {{0.5, 0.1, 0.05}, 1, false}};
    kiln_picks where;
    for (int step = 0; step < STEPS; step++)
        for (int patch = 1; patch <= 2; patch++)
            KILN_TRY(turn_end(trial, patch, step, map, error));
    for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++) {
        KILN_TRY(kiln_trial_pick_ball(trial, pins[i].at, 1e-3, &where, error));
        KILN_TRY(kiln_trial_hold(trial, &where, pins[i].components, NULL, error));
        if (!pins[i].always)
            trial->scene.holds.data[trial->scene.holds.count - 1].from =
                kiln_trial_number(trial, 1.0, 0, 0, 1);
    }
    return KILN_OK;
}

static kiln_status bend_bar(kiln_trial *trial, int n, kiln_yield_norm norm, kiln_trial_map *map,
                            kiln_error *error)
{
    KILN_TRY(kiln_trial_material(trial, "corotated", young, poisson, 1000, error));
    double threshold = norm == KILN_YIELD_MISES ? sqrt(2.0 / 3.0) * yield_stress : yield_stress;
    trial->scene.materials.data[0].base.plastic =
        (kiln_plastic){.flows = true,
                       .instant = true,
                       .norm = norm,
                       .yield = kiln_trial_number(trial, threshold, -1, 1, -2)};
    KILN_TRY(kiln_trial_box(trial, kiln_v3(length, height, height), (int[]){10 * n, n, n},
                            "mirrored", error));
    KILN_TRY(hold_bar(trial, map, error));
    trial->scene.output.frame = kiln_trial_number(trial, 1.0 / STEPS, 0, 0, 1);
    trial->scene.duration = kiln_trial_number(trial, 1.0 + 1.0 / STEPS, 0, 0, 1);
    trial->scene.solid.newton.tolerance = 1e-9; /* of many solves; flow settles to 1e-3 */
    trial->on_frame = look;
    return kiln_trial_run(trial, error);
}

static kiln_status measure(kiln_validation *validation, const kiln_view *view, int n,
                           kiln_yield_norm norm, double tolerance, kiln_error *error)
{
    const double left = 0.6328125; /* 1 - 3/2 q (1 - q^2 / 3), q = kappa_y / kappa = 1/4 */
    const char *name = norm == KILN_YIELD_MISES ? "mises" : "frobenius";
    kiln_trial trial;
    bar b = {.frames = 0};
    kiln_trial_begin(&trial, kiln_validation_context(validation), view);
    kiln_soup_init(&b.start, trial.context);
    trial.user = &b;
    kiln_trial_map map = {&trial, place_bent, NULL, 1, 0, 0};
    kiln_status status = bend_bar(&trial, n, norm, &map, error);
    if (status == KILN_OK) {
        double my = yield_stress * height * height * height / 6.0;
        kiln_validation_report(
            validation, b.curvature[1] / b.curvature[0], kiln_near_relative(left, tolerance),
            "KM(%d), %s, %s: bend that stays, of the whole", n, name, view->name);
        /* Of the reference code; theory has 1.469, P1 tets are too stiff. */
        double moment = n == 4 ? 1.587 : 1.524;
        kiln_validation_report(validation, b.moment / my, kiln_near_relative(moment, 0.03),
                               "KM(%d), %s, %s: moment over that of first yield", n, name,
                               view->name);
    }
    kiln_soup_free(&b.start);
    kiln_trial_end(&trial);
    return status;
}

kiln_status kiln_validate_P4(kiln_validation *validation, kiln_error *error)
{
    if (kiln_validation_is_brief(validation))
        return measure(validation, kiln_view_at(0), 4, KILN_YIELD_MISES, 0.08, error);
    for (const kiln_view *view = kiln_view_at(0); view;
         view = kiln_view_at((size_t)(view - kiln_view_at(0)) + 1))
        KILN_TRY(measure(validation, view, 4, KILN_YIELD_MISES, 0.08, error));
    KILN_TRY(measure(validation, kiln_view_at(0), 4, KILN_YIELD_FROBENIUS, 0.08, error));
    KILN_TRY(measure(validation, kiln_view_at(0), 8, KILN_YIELD_MISES, 0.03, error));
    return measure(validation, kiln_view_at(0), 8, KILN_YIELD_FROBENIUS, 0.03, error);
}

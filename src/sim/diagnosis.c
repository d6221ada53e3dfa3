/* Why a step could not be made, in words, with what to try. */
#include "geom/svd3.h"
#include "sim/world_impl.h"

#include <math.h>
#include <stdio.h>

/* Of its length: matter that is squeezed to less has no more way to give. What is pressed without
 * end fails at 2e-6 to 2e-3 of it (seven scenes, three of them in tests/sim/test_led.c). */
#define SQUEEZED 0.1

/* A hold that leads what it holds where it cannot go, and a place where that shows. */
typedef struct led_astray {
    const kiln_scene_hold *hold; /* NULL: none does */
    uint32_t vertex;             /* that shows it */
    double length;               /* of what is squeezed there, of the whole; 1: nothing is */
} led_astray;

static bool leads(const kiln_world *world, const kiln_scene_hold *hold)
{
    double now = world->state.clock.time;
    return hold->motion.kind != KILN_MOTION_STILL && now >= hold->from && now < hold->until;
}

/* The hold that leads the vertex nearest to v: that may be v itself. */
static const kiln_scene_hold *nearest_lead(const kiln_world *world, uint32_t v, double *distance)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_scene_hold *nearest = NULL;
    *distance = INFINITY;
    for (size_t h = 0; h < world->scene->holds.count; h++) {
        const kiln_scene_hold *hold = &world->scene->holds.data[h];
        const kiln_u32_array *held = kiln_world_held(world, h);
        for (size_t i = 0; leads(world, hold) && i < held->count; i++) {
            double away = kiln_v3_norm(kiln_v3_sub(mesh->x[held->data[i]], mesh->x[v]));
            nearest = away < *distance ? hold : nearest;
            *distance = fmin(away, *distance);
        }
    }
    return nearest;
}

static double least_stretch(const kiln_mesh *mesh, uint32_t t)
{
    const uint32_t *v = mesh->tet[t].v;
    kiln_vec3 x[3], u[3];
    for (int k = 0; k < 3; k++) {
        x[k] = kiln_v3_sub(mesh->x[v[k + 1]], mesh->x[v[0]]);
        u[k] = kiln_v3_sub(mesh->u[v[k + 1]], mesh->u[v[0]]);
    }
    kiln_mat3 rest = kiln_m3_inverse(kiln_m3_columns(u[0], u[1], u[2]));
    return kiln_svd3_decompose(kiln_m3_mul(kiln_m3_columns(x[0], x[1], x[2]), rest)).s[2];
}

static bool may_be_led_astray(kiln_step_outcome outcome)
{
    return outcome == KILN_STEP_CROSSING || outcome == KILN_STEP_INVERTED ||
           outcome == KILN_STEP_NEWTON;
}

/* Newton says that held vertices cannot arrive only where they are still on their way. Where they
 * press ever harder, in ever shorter steps, they arrive, and what fails is the matter between. */
static led_astray find_led_astray(const kiln_world *world)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_step_report *report = &world->report;
    led_astray found = {.vertex = KILN_NONE, .length = 1.0};
    double away;
    if (!world->moves || !may_be_led_astray(report->outcome))
        return found;
    if (report->outcome == KILN_STEP_CROSSING && report->element != KILN_NONE) {
        const kiln_scene_hold *hold = nearest_lead(world, report->element, &away);
        if (hold && away == 0.0)
            return (led_astray){.hold = hold, .vertex = report->element, .length = 1.0};
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double length = kiln_tet_live(mesh, t) ? least_stretch(mesh, t) : 1.0;
        if (length < found.length) {
            found.length = length;
            found.vertex = mesh->tet[t].v[0];
        }
    }
    if (found.length < SQUEEZED)
        found.hold = nearest_lead(world, found.vertex, &away);
    return found;
}

/* Without holds it is an obstacle that keeps vertices where they must not be. */
static const char *newton_text(const kiln_world *world, kiln_newton_outcome outcome)
{
    return outcome == KILN_NEWTON_BLOCKED && world->scene->holds.count == 0
               ? "vertices that an obstacle holds cannot stay on it without inverting a tet"
               : kiln_newton_outcome_text(outcome);
}

/* The same where it was Newton, or nothing of these. */
static const char *newton_advice(const kiln_world *world)
{
    switch (world->report.newton.outcome) {
    case KILN_NEWTON_BLOCKED:
        return world->scene->holds.count == 0
                   ? "the body cannot bear what presses it on the obstacle: try a stiffer or "
                     "lighter material, slower motion, or a finer mesh there"
                   : "held vertices are sent where the body cannot follow: try slower motion, or "
                     "other holds";
    case KILN_NEWTON_ITERATIONS:
        if (world->state.clock.time == 0.0 && world->moves)
            return "nothing has moved yet: look for numbers that are far too large or small "
                   "(gravity, loads, stiffness, contact.thickness); otherwise try more Newton "
                   "iterations or a looser tolerance";
        return world->moves ? "try more Newton iterations or a looser tolerance"
                            : "try more load_steps or Newton iterations; is every body held?";
    case KILN_NEWTON_NOT_FINITE:
        return "is a body crushed to nothing, or sent into an obstacle? Try slower motion";
    case KILN_NEWTON_CLOSED:
        return "holds close a space all round whose volume they change: leave a surface free, or "
               "move them so that it stays what it is";
    case KILN_NEWTON_SOLVER:
        return "is every body held, or has it mass (a static body that floats has no equilibrium)?";
    default:
        if (world->state.clock.time == 0.0)
            return "nothing has moved yet: look for numbers that are far too large or small "
                   "(gravity, loads, stiffness, contact.thickness), or a softer start";
        return "try a smaller dt_min, a finer mesh or a softer load";
    }
}

/* What to try, by what failed. */
static const char *advice(const kiln_world *world)
{
    const kiln_step_report *report = &world->report;
    if (kiln_scene_has_liquid(world->scene))
        return world->scene->remesh.method == KILN_REMESH_NONE
                   ? "liquid that flows needs remesh = \"local\""
                   : "try shorter steps, a finer mesh or more viscosity; waves that break, "
                     "splashes and fast impacts are beyond what liquid does today";
    switch (report->outcome) {
    case KILN_STEP_INVERTED:
        if (world->scene->holds.count > 0)
            return "do holds turn it inside out or crush it? Otherwise try a finer mesh there, "
                   "slower motion, a material that cannot be inverted (neo-hookean), or "
                   "tolerate_inverted";
        return "try a finer mesh there, slower motion, a material that cannot be inverted "
               "(neo-hookean), or tolerate_inverted";
    case KILN_STEP_NOT_FINITE:
        return "look for absurd parameters or forces";
    case KILN_STEP_STRETCH:
        return "try a larger max_stretch or slower motion";
    case KILN_STEP_ACCELERATION:
        return "try a larger max_acceleration or a softer start";
    case KILN_STEP_CROSSING:
        if (!world->moves)
            return "does a body lie on obstacles without friction, and nothing holds it? Then it "
                   "has no place of its own: hold it, or give them friction. Otherwise try more "
                   "load_steps";
        return "do surfaces touch from the start? Leave a gap, or try slower motion or a larger "
               "thickness";
    case KILN_STEP_UNSETTLED:
        return "try less load, smaller steps of it, or hardening";
    case KILN_STEP_FOLLOWING:
        return "is the pressure more than the body can bear? Try smaller steps, or more lags";
    case KILN_STEP_LIMIT:
        return "beyond its limit load it moves on: try less load, hardening, holds that lead it, "
               "more frames, or an integrator with time";
    case KILN_STEP_ADRIFT:
        return "is every body held, or do its loads cancel?";
    default:
        return newton_advice(world);
    }
}

const char *kiln_world_outcome_text(const kiln_world *world, char *buffer, size_t size)
{
    const kiln_step_report *report = &world->report;
    const char *text = kiln_step_outcome_text(report->outcome);
    bool told = report->outcome == KILN_STEP_NUMERIC;
    snprintf(buffer, size, "%s%s%.100s", text, told ? ": " : "",
             told ? world->trouble.message : "");
    return buffer;
}

/* Of a unit vector. */
static double without_rounding(double component)
{
    return fabs(component) < 1e-6 ? 0.0 : component;
}

static const char *body_of(const kiln_world *world, uint32_t vertex)
{
    const kiln_mesh *mesh = world->mesh;
    uint32_t part = mesh->info[mesh->vertex[vertex].tet].part;
    return world->scene->bodies.data[mesh->parts.data[part].body].name;
}

static void tell_astray(const kiln_world *world, const led_astray *astray, char *text, size_t size)
{
    const kiln_scene_hold *hold = astray->hold;
    kiln_vec3 p = world->mesh->x[astray->vertex];
    char what[80] = "is led into a surface by it";
    if (astray->length < SQUEEZED)
        snprintf(what, sizeof what, "is squeezed to %.2g of its length", astray->length);
    snprintf(text, size,
             ": %s: %.60s (%.60s:%d) leads them on, and body '%.40s' %s, near (%.4g, %.4g, %.4g); "
             "lead them less far, or let something give way",
             kiln_newton_outcome_text(KILN_NEWTON_BLOCKED),
             hold->name[0] ? hold->name : hold->said.path, world->scene->file, hold->said.line,
             body_of(world, astray->vertex), what, p.x, p.y, p.z);
}

/* Where it failed, why as far as Newton knows, and what to try. */
static void tell_failure(const kiln_world *world, char *text, size_t size)
{
    const kiln_step_report *report = &world->report;
    const kiln_mesh *mesh = world->mesh;
    char where[160] = "", newton[120] = "";
    bool vertex = kiln_step_outcome_where(report->outcome) == KILN_ON_VERTEX;
    if (report->element != KILN_NONE) {
        uint32_t v = vertex ? report->element : mesh->tet[report->element].v[0];
        kiln_vec3 p = mesh->x[v];
        snprintf(where, sizeof where, " (%s %u of body '%.40s', near (%.4g, %.4g, %.4g))",
                 vertex ? "vertex" : "tet", report->element, body_of(world, v), p.x, p.y, p.z);
    }
    kiln_vec3 to = report->drift;
    if (report->outcome == KILN_STEP_ADRIFT && kiln_v3_norm2(to) > 0.0)
        snprintf(newton, sizeof newton,
                 ": nothing holds it against moving along (%.3g, %.3g, %.3g)",
                 without_rounding(to.x), without_rounding(to.y), without_rounding(to.z));
    if (report->outcome == KILN_STEP_NEWTON)
        snprintf(newton, sizeof newton, ": %s", newton_text(world, report->newton.outcome));
    snprintf(text, size, "%s%s; %s", newton, where, advice(world));
}

void kiln_world_diagnose(const kiln_world *world, double tried, kiln_diagnosis *diagnosis)
{
    char length[60] = "the load could not be applied in smaller parts", outcome[160], why[480];
    const led_astray astray = find_led_astray(world);
    if (astray.hold)
        tell_astray(world, &astray, why, sizeof why);
    else
        tell_failure(world, why, sizeof why);
    if (world->moves)
        snprintf(length, sizeof length, "a step of %.3g s, the shortest allowed, failed", tried);
    snprintf(diagnosis->text, sizeof diagnosis->text, "gave up at %.6g s: %s: %s%s",
             world->state.clock.time, length,
             kiln_world_outcome_text(world, outcome, sizeof outcome), why);
}

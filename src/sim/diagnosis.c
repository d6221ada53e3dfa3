/* Why a step could not be made, in words, with what to try. */
#include "sim/world_impl.h"

#include <math.h>
#include <stdio.h>

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

void kiln_world_diagnose(const kiln_world *world, double tried, kiln_diagnosis *diagnosis)
{
    const kiln_step_report *report = &world->report;
    const kiln_mesh *mesh = world->mesh;
    char where[160] = "", newton[120] = "", outcome[160];
    bool vertex = kiln_step_outcome_where(report->outcome) == KILN_ON_VERTEX;
    if (report->element != KILN_NONE) {
        uint32_t v = vertex ? report->element : mesh->tet[report->element].v[0];
        uint32_t t = vertex ? mesh->vertex[v].tet : report->element;
        kiln_vec3 p = mesh->x[v];
        snprintf(where, sizeof where, " (%s %u of body '%.40s', near (%.4g, %.4g, %.4g))",
                 vertex ? "vertex" : "tet", report->element,
                 world->scene->bodies.data[mesh->parts.data[mesh->info[t].part].body].name, p.x,
                 p.y, p.z);
    }
    kiln_vec3 to = report->drift;
    if (report->outcome == KILN_STEP_ADRIFT && kiln_v3_norm2(to) > 0.0)
        snprintf(newton, sizeof newton,
                 ": nothing holds it against moving along (%.3g, %.3g, %.3g)",
                 without_rounding(to.x), without_rounding(to.y), without_rounding(to.z));
    if (report->outcome == KILN_STEP_NEWTON)
        snprintf(newton, sizeof newton, ": %s", newton_text(world, report->newton.outcome));
    char length[60] = "the load could not be applied in smaller parts";
    if (world->moves)
        snprintf(length, sizeof length, "a step of %.3g s, the shortest allowed, failed", tried);
    snprintf(diagnosis->text, sizeof diagnosis->text, "gave up at %.6g s: %s: %s%s%s; %s",
             world->state.clock.time, length,
             kiln_world_outcome_text(world, outcome, sizeof outcome), newton, where, advice(world));
}

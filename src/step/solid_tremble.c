/* Vertices that tremble before walls, under newmark. A force over the step that gives back all it
 * took (kiln_repulsion_over) throws back each vertex that hits a wall, and again while the body
 * lies there: it trembles for ever at the frequency of the grid, and the force with it. The force
 * of the end takes that, and from the bounce of the whole body too. So
 *   T1 the force is a mean of both, by how much of a vertex's motion is a bounce: a body that flies
 *      carries it to the wall as a rigid one would, and what it does besides trembles;
 *   T2 what that takes is noted by part ("wall_took", J/kg; negative once it has left), and a part
 *      that leaves gets it back in its vibration, which changes neither its momentum nor its
 *      angular momentum: in a step no more than doubles that, and in all no more than it leaves
 *      with, so that what lay at rest is not shaken.
 * Given back at once it would reach matter that the blow has not, and press: a bar that hits a wall
 * had 1 % more stress there. */
#include "step/solid_impl.h"

#include <math.h>
#include <string.h>

/* Of the energy of a part's vibration: its velocities are doubled. */
#define MOST_GIVEN 3.0

static kiln_part_tremble *tremble_of(const kiln_solid *s, uint32_t vertex)
{
    return &s->tremble.data[kiln_spin_part_of(&s->spin, vertex)];
}

/* Velocities v at x, less what is rigid of them. */
static void take_apart(kiln_solid *s, const double *x, const double *v, double *rigid, double *rest)
{
    kiln_spin_rigid(&s->spin, x, v, rigid);
    for (size_t i = 0; i < 3 * s->rows; i++)
        rest[i] = s->given.held[i / 3] ? 0.0 : v[i] - rigid[i];
}

void kiln_attempt_find_tremble(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    take_apart(s, t->history[KILN_HISTORY_X], t->history[KILN_HISTORY_V], s->carried.data,
               s->besides.data);
    for (size_t i = 3 * s->rows; i < 3 * s->all; i++) {
        s->carried.data[i] = (s->guess.data[i] - s->begin.data[i]) / t->h;
        s->besides.data[i] = 0.0;
    }
}

static void note_touch(void *user, const kiln_wall_touch *touch)
{
    kiln_part_tremble *part = tremble_of(user, touch->vertex);
    part->took += touch->lost;
    part->parting = fmin(part->parting, touch->parting);
    part->touched = true;
    part->near = part->near || touch->near;
}

/* True: a part leaves walls that took something, or has left them and is owed. */
static bool find_touches(kiln_solid *s)
{
    const double *took = kiln_solid_column(s, "wall_took"), *mass = kiln_mass_lumped(s->mass);
    bool leaves = false;
    for (size_t p = 0; p < s->spin.parts.count; p++)
        s->tremble.data[p] = (kiln_part_tremble){.parting = INFINITY};
    for (uint32_t v = 0; v < s->rows; v++)
        if (kiln_vertex_live(s->mesh, v))
            *(took[v] < 0.0 ? &tremble_of(s, v)->owed : &tremble_of(s, v)->took) +=
                mass[v] * fabs(took[v]);
    kiln_collide_visit_walls(&s->collide, s->x.data, note_touch, s);
    for (size_t p = 0; p < s->spin.parts.count; p++) {
        kiln_part_tremble *part = &s->tremble.data[p];
        if (part->touched) { /* it has come again */
            part->took += part->owed;
            part->owed = 0.0;
        }
        leaves = leaves || part->owed > 0.0 || (part->touched && !part->near && part->took > 0.0);
    }
    return leaves;
}

/* Of velocities `rest`, by part. */
static void find_shaken(kiln_solid *s, const double *rest, double *momentum)
{
    kiln_mass_multiply(s->mass, rest, momentum);
    for (uint32_t v = 0; v < s->rows; v++)
        for (size_t i = 3 * (size_t)v; kiln_vertex_live(s->mesh, v) && i < 3 * (size_t)v + 3; i++)
            tremble_of(s, v)->shaken += 0.5 * rest[i] * momentum[i];
}

/* T2. A vertex that is thrown back may leave with its wall still before the body: then it comes
 * again. */
static void give_back(kiln_part_tremble *part, double mass)
{
    if (part->touched && !part->near && part->parting > 0.0) {
        part->owed = fmin(part->took, 0.5 * mass * part->parting * part->parting);
        part->took = 0.0;
    }
    if (!(part->owed > 0.0) || !(part->shaken > 0.0))
        return;
    double given = fmin(part->owed, MOST_GIVEN * part->shaken);
    part->more = sqrt(1.0 + given / part->shaken) - 1.0;
    part->owed -= given;
}

void kiln_attempt_settle_tremble(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    double *rest = s->centre.data;
    if (!find_touches(s))
        return;
    take_apart(s, s->x.data, s->rate.data, s->guess.data, rest);
    find_shaken(s, rest, s->brief.data);
    for (size_t p = 0; p < s->spin.parts.count; p++)
        give_back(&s->tremble.data[p], s->spin.parts.data[p].mass);
    for (uint32_t v = 0; v < s->rows; v++)
        for (size_t i = 3 * (size_t)v; kiln_vertex_live(s->mesh, v) && i < 3 * (size_t)v + 3; i++)
            s->rate.data[i] += tremble_of(s, v)->more * rest[i];
}

void kiln_attempt_remember_tremble(const kiln_attempt *t)
{
    const kiln_solid *s = t->solid;
    double *took = kiln_solid_column(s, "wall_took");
    for (uint32_t v = 0; v < s->rows; v++)
        if (kiln_vertex_live(s->mesh, v)) {
            uint32_t part = kiln_spin_part_of(&s->spin, v);
            const kiln_part_tremble *own = &s->tremble.data[part];
            took[v] = (own->took - own->owed) / s->spin.parts.data[part].mass;
        }
}

/* Angular momentum of a step: what is asked of it, and of whom (spin.h). */
#include "mesh/rewind.h"
#include "step/solid_impl.h"

#include <string.h>

static void note_joint(void *user, const uint32_t v[4], const kiln_vec3 force[4])
{
    kiln_solid *s = user;
    bool first = v[0] < s->rows, last = v[3] < s->rows; /* no walls */
    if (kiln_v3_norm2(force[0]) + kiln_v3_norm2(force[1]) + kiln_v3_norm2(force[2]) == 0.0)
        return;
    if (first && last)
        kiln_spin_join(&s->spin, v[0], v[3]);
    else
        s->spin.parts.data[kiln_spin_part_of(&s->spin, v[first ? 0 : 3])].turned = true;
}

/* By holds and obstacles; and who presses whom. */
static bool find_islands(kiln_attempt *t)
{
    kiln_solid *s = t->solid;
    kiln_spin *spin = &s->spin;
    kiln_spin_begin(spin, t->history[KILN_HISTORY_X]);
    for (uint32_t v = 0; v < s->rows; v++)
        if (s->given.held[v] && kiln_vertex_live(s->mesh, v))
            spin->parts.data[kiln_spin_part_of(spin, v)].turned = true;
    for (size_t i = 0; i < s->touch.contacts.count; i++)
        spin->parts.data[kiln_spin_part_of(spin, s->touch.contacts.data[i].vertex)].turned = true;
    if (kiln_collide_is_used(&s->collide))
        kiln_collide_visit_forces(&s->collide, s->x.data, note_joint, s);
    return kiln_spin_settle(spin);
}

/* The torque of loads, and of terms that others gave; [row][3] of forces is where inertia pulled
 * to, which nobody asks for any more. Minus the gradient. */
static void want_loads(kiln_attempt *t, double weight)
{
    kiln_solid *s = t->solid;
    size_t first = 0;
    while (s->terms.data[first] != kiln_loads_term(s->loads))
        first++;
    kiln_attempt_gradient(t, first, s->lasting, s->x.data, s->centre.data);
    kiln_spin_want_torque(&s->spin, -weight, s->x.data, NULL, s->centre.data);
}

static bool has_drag(const kiln_solid *s)
{
    bool any = false;
    for (size_t i = 0; i < s->materials.count; i++)
        any |= s->materials.data[i].damping_mass > 0.0;
    return any;
}

/* What resists strain has no torque where it acts; under newmark that is the mean shape. */
static void want_drag(kiln_attempt *t, double weight)
{
    kiln_solid *s = t->solid;
    const double *begin = t->scheme.impulses ? t->history[KILN_HISTORY_X] : NULL;
    if (!has_drag(s))
        return;
    kiln_attempt_gradient(t, s->lasting, s->lasting + 1, s->x.data, s->centre.data);
    kiln_spin_want_torque(&s->spin, -weight, s->x.data, begin, s->centre.data);
}

/* The integrator's formula for velocities, v = sum of (centre - origin) / tau of the history, and
 * scale / tau a. */
static void want_motion(kiln_attempt *t)
{
    static const int places[KILN_HISTORY_COUNT] = {
        [KILN_HISTORY_V] = KILN_HISTORY_X,
        [KILN_HISTORY_A] = KILN_HISTORY_X,
        [KILN_HISTORY_V_BEFORE] = KILN_HISTORY_X_BEFORE,
    };
    static const int rates[] = {KILN_HISTORY_V, KILN_HISTORY_A, KILN_HISTORY_V_BEFORE};
    const kiln_scheme *by = &t->scheme;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        int k = rates[i];
        double weight = (by->centre[k] - by->origin[k]) / by->tau;
        if (weight != 0.0)
            kiln_spin_want_motion(&t->solid->spin, weight, t->history[places[k]], t->history[k]);
    }
    want_loads(t, by->scale / by->tau);
    want_drag(t, by->scale / by->tau);
}

/* First in the islands there are, so that what is wrong within one stays there; then in what they
 * were part of, where that still pushes. */
static kiln_status keep_velocities(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    const uint32_t *met = kiln_solid_contact_met(s);
    bool again = false;
    want_motion(t);
    kiln_spin_turn(&s->spin, s->x.data, s->rate.data, false);
    kiln_spin_find_flow(&s->spin);
    if (met)
        KILN_TRY(kiln_spin_recall(&s->spin, met, &again, error));
    if (!again || !kiln_spin_settle(&s->spin))
        return KILN_OK;
    want_motion(t);
    kiln_spin_turn(&s->spin, s->x.data, s->rate.data, false);
    kiln_spin_find_flow(&s->spin);
    return KILN_OK;
}

kiln_status kiln_attempt_keep_spin(kiln_attempt *t, kiln_error *error)
{
    kiln_solid *s = t->solid;
    if (t->scheme.scale == 0.0 || s->options.linearised || !find_islands(t))
        return KILN_OK;
    KILN_TRY(keep_velocities(t, error));
    if (t->integrator != KILN_NEWMARK)
        return KILN_OK;
    /* What is between parts is brief, and nothing of it may be left, as Newton's tolerance does. */
    kiln_spin_part_ways(&s->spin);
    want_loads(t, 1.0);
    kiln_spin_turn(&s->spin, s->x.data, s->rate2.data, true);
    return KILN_OK;
}

static bool looks_back(const kiln_solid *s)
{
    return s->options.integrator == KILN_BDF2 && !s->options.linearised;
}

kiln_status kiln_solid_note_past(kiln_solid *s, kiln_error *error)
{
    if (!looks_back(s))
        return KILN_OK;
    return kiln_spin_note(&s->spin, kiln_solid_column(s, "x_before"),
                          kiln_solid_column(s, "v_before"), error);
}

void kiln_solid_restore_past(kiln_solid *s)
{
    if (looks_back(s))
        kiln_spin_give_back(&s->spin, kiln_solid_column(s, "x_before"),
                            kiln_solid_column(s, "v_before"));
}

/* Of one moment: places and velocities by name. */
static kiln_status shift_moment(kiln_solid *s, const kiln_vec3 *shift, double part,
                                const char *places, const char *velocities, kiln_error *error)
{
    kiln_mesh *mesh = s->mesh;
    bool now = strcmp(places, ".x") == 0;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, places, KILN_SAVE_COPY, error));
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, velocities, KILN_SAVE_COPY, error));
    double *x = now ? &mesh->x[0].x : kiln_solid_column(s, places);
    double *v = kiln_solid_column(s, velocities);
    KILN_TRY(kiln_spin_note(&s->spin, x, v, error));
    for (size_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        for (int c = 0; c < 3; c++)
            x[3 * i + c] += part * (&shift[i].x)[c];
    kiln_spin_give_back(&s->spin, x, v);
    return KILN_OK;
}

/* How far all may go among other surfaces: all of the way, or half as far as nothing meets. */
static double way_among(kiln_solid *s, const kiln_vec3 *shift)
{
    if (!kiln_collide_is_used(&s->collide))
        return 1.0;
    memcpy(s->guess.data, s->x.data, 3 * s->all * sizeof(double));
    for (size_t i = 0; i < s->mesh->table[KILN_ON_VERTEX].used; i++)
        for (int c = 0; c < 3; c++)
            s->guess.data[3 * i + c] += (&shift[i].x)[c];
    double way = kiln_collide_way(&s->collide, s->x.data, s->guess.data, s->rate.data);
    return way < 1.0 ? 0.5 * way : 1.0;
}

kiln_status kiln_solid_shift(kiln_solid *s, const kiln_vec3 *shift, kiln_error *error)
{
    double part = way_among(s, shift);
    KILN_TRY(kiln_collide_failure(&s->collide, error));
    KILN_TRY(shift_moment(s, shift, part, ".x", "v", error));
    return looks_back(s) ? shift_moment(s, shift, part, "x_before", "v_before", error) : KILN_OK;
}

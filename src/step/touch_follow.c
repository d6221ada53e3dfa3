/* How matter follows what obstacles do to vertices at once.
 *
 * Velocities change by M^-1 times impulses at the contacts: of all changes that bring the contacts
 * to the velocities wanted the one that is least in the norm of M. A consistent mass so moves what
 * is about a contact too, a lumped one does not.
 *
 * F1. Momentum and angular momentum change by what obstacles and holds give, exactly.
 * F2. An impulse j changes the energy by j times the mean of the velocities before and after of the
 *     vertex it acts on, whatever follows; stopping always takes some. */
#include "solve/vectors.h"
#include "step/touch_impl.h"

#include <string.h>

kiln_status kiln_touch_hold(kiln_touch *touch, kiln_error *error)
{
    return kiln_touch_constrain(touch, &touch->planes, error);
}

void kiln_touch_begin_change(kiln_touch *touch)
{
    size_t bytes = 3 * touch->given->rows * sizeof(double);
    memset(touch->change.data, 0, bytes);
    memset(touch->impulse.data, 0, bytes);
    for (size_t i = 0; i < touch->contacts.count; i++)
        touch->contacts.data[i].rub = kiln_v3(0, 0, 0);
}

kiln_status kiln_touch_follow(kiln_touch *touch, kiln_error *error)
{
    double *impulse = touch->impulse.data;
    for (size_t i = 0; i < touch->contacts.count; i++)
        kiln_touch_add(impulse, touch->contacts.data[i].vertex, touch->contacts.data[i].rub);
    KILN_TRY(kiln_mass_follow(touch->matter, &touch->planes, touch->change.data, impulse, error));
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_touch_add(impulse, c->vertex, kiln_v3_scale(c->rub, -1.0));
    }
    kiln_touch_share(touch, impulse);
    return KILN_OK;
}

void kiln_touch_add_rest(const kiln_touch *touch, double scale, double *given)
{
    for (uint32_t v = 0; v < touch->given->rows; v++)
        if (touch->given->held[v])
            kiln_touch_add(given, v, kiln_v3_scale(kiln_touch_at(touch->impulse.data, v), scale));
}

/* Friction of what presses the vertex at once; where the solve has pressed too much, with friction
 * of it, some of both is taken back. Is there any? */
static bool rub(kiln_touch *touch, const double *v)
{
    bool any = false;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        double friction = kiln_obstacle_friction(touch->obstacles[c->obstacle]);
        if (!c->active || c->share == 0.0 || friction == 0.0)
            continue;
        kiln_vec3 along = kiln_touch_along_plane(touch, c, kiln_touch_at(v, c->vertex));
        double speed = kiln_v3_norm(along), loss = friction * fmax(c->part, -touch->tau * c->load);
        if (loss == 0.0 || (loss < 0.0 && speed <= touch->slip_speed))
            continue; /* it sticks: friction was not all used */
        double all = kiln_mass_diagonal(touch->matter, c->vertex);
        double lost = speed * all > loss ? loss / speed : all;
        kiln_vec3 drag = kiln_touch_free_part(touch, c->vertex, kiln_v3_scale(along, -lost));
        c->rub = kiln_v3_madd(drag, -kiln_v3_dot(drag, c->axis), c->axis); /* in the plane */
        any = true;
    }
    return any;
}

static kiln_status change(kiln_touch *touch, bool forget, double *v, double *contact,
                          kiln_error *error)
{
    double per_h = 1.0 / touch->h;
    size_t size = 3 * touch->given->rows;
    KILN_TRY(kiln_touch_follow(touch, error));
    kiln_vector_combine(touch->context, 1.0, v, 1.0, touch->change.data, v, size);
    kiln_touch_add_rest(touch, per_h, touch->holds.hit);
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        kiln_vec3 got = kiln_v3_madd(c->rub, c->part, c->normal);
        c->impulse = kiln_v3_add(c->impulse, got);
        kiln_touch_add(contact, c->vertex, kiln_v3_scale(got, per_h));
        if (forget)
            c->cut = kiln_v3_madd(c->cut, -per_h, got);
    }
    if (forget) {
        kiln_touch_shift_past(touch);
        kiln_touch_add_rest(touch, -per_h, touch->holds.cut);
    }
    return KILN_OK;
}

kiln_status kiln_touch_hit(kiln_touch *touch, bool forget, double *v, double *contact,
                           kiln_error *error)
{
    KILN_TRY(change(touch, forget, v, contact, error));
    kiln_touch_begin_change(touch);
    return rub(touch, v) ? change(touch, forget, v, contact, error) : KILN_OK;
}

void kiln_touch_begin_past(kiln_touch *touch)
{
    size_t bytes = 3 * touch->given->rows * sizeof(double);
    memcpy(touch->past_x.data, touch->begin, bytes);
    memcpy(touch->past_v.data, touch->begin_v, bytes);
    touch->is_cut = true;
}

void kiln_touch_shift_past(kiln_touch *touch)
{
    size_t size = 3 * touch->given->rows;
    double *x = touch->past_x.data, *v = touch->past_v.data;
    kiln_vector_combine(touch->context, 1.0, x, -touch->h, touch->change.data, x, size);
    kiln_vector_combine(touch->context, 1.0, v, 1.0, touch->change.data, v, size);
}

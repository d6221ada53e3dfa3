/* Friction on obstacles as a term (slip.h): v is relative to the obstacle. */
#include "step/touch_impl.h"

#include <math.h>

kiln_vec3 kiln_touch_along_plane(const kiln_touch *touch, const kiln_touch_contact *c, kiln_vec3 v)
{
    v = kiln_v3_sub(v, kiln_obstacle_velocity(touch->obstacles[c->obstacle], c->point));
    return kiln_v3_madd(v, -kiln_v3_dot(v, c->normal), c->normal);
}

kiln_vec3 kiln_touch_slip_velocity(const kiln_touch *touch, const kiln_touch_contact *c,
                                   const double *x)
{
    kiln_vec3 way =
        kiln_v3_sub(kiln_touch_at(x, c->vertex), kiln_touch_at(touch->origin, c->vertex));
    return kiln_touch_along_plane(touch, c, kiln_v3_scale(way, 1.0 / touch->tau));
}

/* Of the mass of a vertex over the time of the step, what sticks it to an obstacle. */
static const double STICK = 1e6;
/* Of the area of a vertex, what is wet inside the line where liquid ends. */
static const double ALL_WET = 0.99;

/* N s/m, of liquid. */
static double drag_of(const kiln_touch *touch, const kiln_touch_contact *c)
{
    const kiln_wetting *wetting = kiln_obstacle_wetting(touch->obstacles[c->obstacle]);
    if (!touch->liquid.wet || !(touch->liquid.wet[c->vertex] > 0.0))
        return 0.0;
    double wet = touch->liquid.wet[c->vertex], drag = wetting->drag * wet;
    if (wetting->no_slip && wet >= ALL_WET * touch->liquid.area[c->vertex])
        drag += STICK * touch->mass[c->vertex] / touch->tau;
    return drag;
}

typedef struct sliding {
    double weight; /* mu N, 0: none */
    double drag;   /* N s/m, likewise */
    kiln_vec3 v;   /* along the plane, m/s */
    double value;  /* f(|v|) */
    double secant; /* f'(|v|) / |v| */
} sliding;

static sliding sliding_of(const kiln_touch *touch, const kiln_touch_contact *c, const double *x)
{
    sliding s = {.weight = 0.0};
    if (!c->active)
        return s;
    double e = touch->slip_speed;
    s.weight = kiln_obstacle_friction(touch->obstacles[c->obstacle]) * fmax(c->load, 0.0);
    s.drag = drag_of(touch, c);
    if (s.weight == 0.0 && s.drag == 0.0)
        return s;
    s.v = kiln_touch_slip_velocity(touch, c, x);
    double speed = kiln_v3_norm(s.v);
    kiln_slip law = kiln_slip_at(touch->linearised ? c->slip : speed, e);
    s.secant = law.secant;
    s.value = touch->linearised ? 0.5 * s.secant * speed * speed : law.value;
    return s;
}

kiln_vec3 kiln_touch_friction_force(const kiln_touch *touch, const kiln_touch_contact *c,
                                    const double *x)
{
    sliding s = sliding_of(touch, c, x);
    return kiln_v3_scale(s.v, -(s.weight * s.secant + s.drag));
}

static double friction_value(void *self, const double *x)
{
    const kiln_touch *touch = self;
    double sum = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        sliding s = sliding_of(touch, &touch->contacts.data[i], x);
        sum += touch->tau * (s.weight * s.value + 0.5 * s.drag * kiln_v3_norm2(s.v));
    }
    return sum;
}

static double friction_delta(void *self, const double *x0, const double *x1)
{
    const kiln_touch *touch = self;
    double sum = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        sliding before = sliding_of(touch, &touch->contacts.data[i], x0);
        sliding after = sliding_of(touch, &touch->contacts.data[i], x1);
        sum += touch->tau * (after.weight * (after.value - before.value) +
                             0.5 * after.drag * (kiln_v3_norm2(after.v) - kiln_v3_norm2(before.v)));
    }
    return sum;
}

static void add_block(kiln_bsr *H, const kiln_touch_contact *c, double weight, kiln_vec3 a,
                      kiln_vec3 b)
{
    const double n[3] = {c->normal.x, c->normal.y, c->normal.z};
    const double p[3] = {a.x, a.y, a.z}, q[3] = {b.x, b.y, b.z};
    size_t stride;
    double *block = kiln_bsr_at(H, c->vertex, H->start[c->vertex], &stride);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            block[i * stride + j] +=
                weight * ((i == j) - n[i] * n[j] - 0.5 * (p[i] * q[j] + q[i] * p[j]));
}

static void friction_hessian(const kiln_touch *touch, kiln_touch_contact *c, const sliding *s,
                             double weight, kiln_bsr *H)
{
    kiln_vec3 turn = kiln_slip_turn(&c->memory, s->v, s->secant, touch->slip_speed);
    add_block(H, c, weight * s->secant / touch->tau, turn, kiln_v3_normalize(s->v));
}

static void friction_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    const kiln_touch *touch = self;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        sliding s = sliding_of(touch, c, x);
        if (s.weight == 0.0 && s.drag == 0.0)
            continue;
        double weight = scale * s.weight;
        const kiln_vec3 none = {0, 0, 0};
        kiln_touch_add(g, c->vertex, kiln_v3_scale(s.v, weight * s.secant + scale * s.drag));
        if (H && s.drag > 0.0)
            add_block(H, c, scale * s.drag / touch->tau, none, none);
        if (H && touch->linearised)
            add_block(H, c, weight * s.secant / touch->tau, none, none);
        else if (H && s.weight > 0.0)
            friction_hessian(touch, c, &s, weight, H);
    }
}

void kiln_touch_visit_rubbing(const kiln_touch *touch, const double *x, kiln_visit_touching *visit,
                              void *user)
{
    for (size_t i = 0; i < touch->contacts.count; i++) {
        const kiln_touch_contact *c = &touch->contacts.data[i];
        double friction = kiln_obstacle_friction(touch->obstacles[c->obstacle]);
        if (c->active && c->load > 0.0 && friction > 0.0)
            visit(user, c, friction, kiln_v3_norm(kiln_touch_slip_velocity(touch, c, x)));
    }
}

kiln_term kiln_touch_friction_term(kiln_touch *touch)
{
    return (kiln_term){.name = "friction",
                       .self = touch,
                       .weight = 1.0,
                       .value = friction_value,
                       .delta = friction_delta,
                       .add = friction_add};
}

double kiln_touch_renew_friction(kiln_touch *touch, const double *x)
{
    double change = 0.0, sum = 0.0;
    for (size_t i = 0; i < touch->contacts.count; i++) {
        kiln_touch_contact *c = &touch->contacts.data[i];
        double mu = kiln_obstacle_friction(touch->obstacles[c->obstacle]);
        change += mu * fabs(c->load - c->load_before);
        sum += mu * c->load;
        if (touch->linearised && c->active) {
            double slip = kiln_v3_norm(kiln_touch_slip_velocity(touch, c, x));
            double most = fmax(fmax(slip, c->slip), touch->slip_speed);
            change += mu * c->load * fabs(slip - c->slip) / most;
            c->slip = slip;
        }
    }
    return change > 0.0 ? change / fmax(sum, change) : 0.0;
}

bool kiln_touch_has_friction(const kiln_touch *touch)
{
    for (size_t o = 0; o < touch->obstacle_count; o++) {
        const kiln_wetting *wetting = kiln_obstacle_wetting(touch->obstacles[o]);
        if (kiln_obstacle_friction(touch->obstacles[o]) > 0.0 || wetting->drag > 0.0 ||
            wetting->no_slip)
            return true;
    }
    return false;
}

#include "validation/watch.h"

#include "geom/box.h"
#include "geom/distance.h"
#include "geom/triangle_overlap.h"

#include <math.h>
#include <string.h>

typedef struct piece {
    kiln_vec3 p[3];
    kiln_box box;
    int body;
} piece;

static piece piece_of(const kiln_trial *trial, const kiln_soup_field *body, size_t row)
{
    piece r = {.body = (int)body->data.data[row]};
    for (int k = 0; k < 3; k++)
        r.p[k] = kiln_trial_x(trial, trial->result.triangles.data[row].v[k]);
    r.box = kiln_box_of(r.p, 3);
    return r;
}

static double apart(double low_a, double high_a, double low_b, double high_b)
{
    return fmax(0.0, fmax(low_a - high_b, low_b - high_a));
}

static double box_distance(const kiln_box *a, const kiln_box *b)
{
    return kiln_v3_norm(kiln_v3(apart(a->low.x, a->high.x, b->low.x, b->high.x),
                                apart(a->low.y, a->high.y, b->low.y, b->high.y),
                                apart(a->low.z, a->high.z, b->low.z, b->high.z)));
}

static void compare(kiln_watch *watch, const kiln_soup *soup, const piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const piece *a = &pieces[i], *b = &pieces[j];
            double far = box_distance(&a->box, &b->box);
            if (far == 0.0)
                watch->crossings += kiln_triangle_overlap_shared(a->p, soup->triangles.data[i].v,
                                                                 b->p, soup->triangles.data[j].v) !=
                                    KILN_OVERLAP_DISJOINT;
            if (a->body != b->body && far < watch->nearest)
                watch->nearest =
                    fmin(watch->nearest, sqrt(kiln_closest_triangles(a->p, b->p).distance2));
        }
}

static kiln_status look_at_surfaces(kiln_watch *watch, const kiln_trial *trial, kiln_error *error)
{
    const kiln_soup *soup = &trial->result;
    const kiln_soup_field *body = kiln_soup_find_field(soup, KILN_ON_FACE, "body");
    size_t count = soup->triangles.count, bytes = count * sizeof(piece);
    piece *pieces = kiln_resize(trial->context, NULL, 0, bytes);
    if (!pieces)
        return kiln_fail_memory(error, bytes);
    for (size_t i = 0; i < count; i++)
        pieces[i] = piece_of(trial, body, i);
    compare(watch, soup, pieces, count);
    kiln_release(trial->context, pieces, bytes);
    for (size_t i = 0; i < soup->points.count; i++)
        watch->crossings += !(soup->points.data[i].z > watch->floor);
    return KILN_OK;
}

/* W = mu/2 (I1 - 3) - mu ln J + lambda/2 ln^2 J */
static double elastic(const kiln_material *m, kiln_mat3 F)
{
    double log_j = log(kiln_m3_det(F));
    return 0.5 * m->mu * (kiln_m3_norm2(F) - 3.0) - m->mu * log_j + 0.5 * m->lambda * log_j * log_j;
}

typedef struct sum {
    double mass, low, high;
    kiln_vec3 moment, momentum;
} sum;

/* Energy but for that of contact, and what bodies do as a whole. */
static double add_up(kiln_watch *watch, const kiln_trial *trial, sum bodies[KILN_WATCHED_BODIES])
{
    const kiln_soup *soup = &trial->result;
    const kiln_soup_field *whose = kiln_soup_find_field(soup, KILN_ON_TET, "body");
    const kiln_vec3 *v = kiln_trial_field(trial, "v");
    double energy = 0.0;
    for (int b = 0; b < KILN_WATCHED_BODIES; b++)
        bodies[b] = (sum){.low = INFINITY, .high = -INFINITY};
    for (size_t t = 0; t < soup->tets.count; t++) {
        size_t body = (size_t)whose->data.data[t] - 1;
        const kiln_material *material =
            &trial->scene.materials.data[trial->scene.bodies.data[body].material].base;
        sum *s = &bodies[body];
        double volume;
        kiln_mat3 F = kiln_trial_gradient(trial, t, &volume);
        energy += volume * elastic(material, F) / kiln_trial_number(trial, 1.0, -1, 1, -2);
        double mass = 0.25 * volume * material->density / kiln_trial_number(trial, 1.0, -3, 1, 0);
        for (int k = 0; k < 4; k++) {
            uint32_t at = soup->tets.data[t].v[k];
            kiln_vec3 x = kiln_trial_x(trial, at);
            energy += mass * (0.5 * kiln_v3_norm2(v[at]) - kiln_v3_dot(watch->gravity, x));
            s->mass += mass;
            s->moment = kiln_v3_madd(s->moment, mass, x);
            s->momentum = kiln_v3_madd(s->momentum, mass, v[at]);
            s->low = fmin(s->low, x.z);
            s->high = fmax(s->high, x.z);
        }
    }
    return energy;
}

/* What is no number stays. */
static void lift(double *most, double value)
{
    if (!(value <= *most) && !isnan(*most))
        *most = value;
}

static kiln_status look(kiln_trial *trial, const kiln_stats *stats, kiln_error *error)
{
    kiln_watch *watch = trial->user;
    sum bodies[KILN_WATCHED_BODIES];
    double energy = add_up(watch, trial, bodies);
    if (isfinite(stats->e_contact))
        energy += stats->e_contact / kiln_trial_number(trial, 1.0, 2, 1, -2);
    watch->steps = (size_t)stats->step;
    watch->time = stats->time / kiln_trial_number(trial, 1.0, 0, 0, 1);
    watch->start = watch->steps == 0 ? energy : watch->start;
    lift(&watch->above, energy - watch->start);
    lift(&watch->rise, energy - watch->least);
    watch->least = fmin(watch->least, energy);
    watch->weight = 0.0;
    kiln_vec3 momentum = {0, 0, 0};
    for (size_t b = 0; b < trial->scene.bodies.count; b++) {
        momentum = kiln_v3_add(momentum, bodies[b].momentum);
        watch->weight += bodies[b].mass * kiln_v3_norm(watch->gravity);
        watch->last[b] = kiln_v3_scale(bodies[b].moment, 1.0 / bodies[b].mass);
        watch->velocity[b] = kiln_v3_scale(bodies[b].momentum, 1.0 / bodies[b].mass);
        watch->height[b] = bodies[b].high - bodies[b].low;
    }
    if (watch->steps == 0) {
        memcpy(watch->first, watch->last, sizeof watch->first);
        watch->momentum = momentum;
    }
    lift(&watch->drift, kiln_v3_norm(kiln_v3_sub(momentum, watch->momentum)));
    if (watch->step)
        watch->step(watch, stats);
    return look_at_surfaces(watch, trial, error);
}

static bool is_alone(const kiln_watch *watch, const kiln_scene *scene)
{
    return kiln_v3_norm(watch->gravity) == 0.0 && scene->holds.count == 0 &&
           scene->loads.count == 0 && scene->obstacles.count == 0;
}

kiln_status kiln_watch_run(kiln_watch *watch, kiln_trial *trial, kiln_error *error)
{
    watch->steps = watch->crossings = 0;
    watch->time = watch->above = watch->rise = 0.0;
    watch->drift = is_alone(watch, &trial->scene) ? 0.0 : NAN;
    watch->nearest = watch->least = INFINITY;
    trial->user = watch;
    trial->on_step = look;
    double end = trial->scene.duration / kiln_trial_number(trial, 1.0, 0, 0, 1);
    kiln_status status = kiln_trial_run(trial, error);
    bool gave_up = status == KILN_ERR_STATE && watch->time < end * (1 - 1e-9);
    return gave_up ? KILN_OK : status;
}

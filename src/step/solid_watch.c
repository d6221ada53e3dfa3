/* What is kept of contact for those who look at it: after a try that is good, before it reaches the
 * mesh, since speeds are those from where the step began. */
#include "step/collide_impl.h"
#include "step/solid_impl.h"

#include <math.h>
#include <string.h>

/* Nothing is near. */
static void clear_columns(kiln_solid *s)
{
    for (size_t v = 0; v < s->rows; v++) {
        s->load.data[v] = s->slip.data[v] = 0.0;
        s->gap.data[v] = s->options.contact.thickness;
    }
}

kiln_status kiln_solid_watch_room(kiln_solid *s, kiln_error *error)
{
    size_t pairs = s->options.watch.pair_count;
    KILN_TRY(kiln_array_reserve(s->context, &s->pair_pushes, pairs, error));
    for (size_t i = 0; i < pairs; i++)
        s->pair_pushes.data[i] = (kiln_pair_push){0};
    if (!s->options.watch.columns)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(s->context, &s->load, s->rows, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->gap, s->rows, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->slip, s->rows, error));
    clear_columns(s);
    return KILN_OK;
}

void kiln_solid_watch_free(kiln_solid *s)
{
    kiln_array_free(s->context, &s->pair_pushes);
    kiln_array_free(s->context, &s->load);
    kiln_array_free(s->context, &s->gap);
    kiln_array_free(s->context, &s->slip);
    kiln_array_free(s->context, &s->presses);
}

/* A point of the body where the step begins, which both stages of a first step have. */
static kiln_vec3 point_of(const kiln_solid *s, uint32_t body)
{
    const kiln_contact_surface *surface = &s->collide.surface;
    for (size_t i = 0; i < surface->vertices.count; i++)
        if (surface->body.data[surface->vertices.data[i]] == body)
            return s->mesh->x[surface->vertices.data[i]];
    return kiln_v3(0, 0, 0);
}

/* What the first of two bodies got of the second's momentum when islands were turned (spin.h), N
 * over a step of length h; it acts where they touch. */
static void note_turn(const kiln_solid *s, const uint32_t body[2], double h, kiln_vec3 about,
                      kiln_vec3 *force, kiln_vec3 *torque)
{
    *force = *torque = kiln_v3(0, 0, 0);
    for (size_t p = 0; p < s->spin.parts.count; p++) {
        const kiln_spin_part *part = &s->spin.parts.data[p];
        if (part->parent == KILN_NONE)
            continue;
        uint32_t own = s->mesh->parts.data[p].body;
        uint32_t other = s->mesh->parts.data[part->parent].body;
        double sign = own == body[0] && other == body[1]   ? 1.0
                      : own == body[1] && other == body[0] ? -1.0
                                                           : 0.0;
        const double *x = s->x.data + 3 * (size_t)part->joint;
        kiln_vec3 arm = kiln_v3_sub(kiln_v3(x[0], x[1], x[2]), about);
        kiln_vec3 push = kiln_v3_scale(part->flow, sign / h);
        *force = kiln_v3_add(*force, push);
        *torque = kiln_v3_add(*torque, kiln_v3_cross(arm, push));
    }
}

/* To newmark contact is brief, and leaves nothing to the next step (as in wall_push). */
static void note_pair(kiln_solid *s, size_t i, double h, bool stage)
{
    const uint32_t *body = s->options.watch.pairs[i];
    kiln_pair_push *push = &s->pair_pushes.data[i];
    kiln_vec3 force, torque, turn, turn_torque;
    push->about = point_of(s, body[0]);
    kiln_collide_between(&s->collide, s->x.data, body[0], body[1], push->about, &force, &torque);
    note_turn(s, body, h, push->about, &turn, &turn_torque);
    force = kiln_v3_scale(force, s->collide.repulsion.weight);
    torque = kiln_v3_scale(torque, s->collide.repulsion.weight);
    if (stage) {
        push->force = (kiln_push){.before = kiln_v3_add(force, turn)};
        push->torque = (kiln_push){.before = kiln_v3_add(torque, turn_torque)};
        return;
    }
    push->force.hit = turn;
    push->torque.hit = turn_torque;
    if (s->rule.by_left)
        push->force.before = push->torque.before = kiln_v3(0, 0, 0);
    else if (!s->rule.staged) {
        push->force.before = force;
        push->torque.before = torque;
    }
    push->force.end = force;
    push->torque.end = torque;
}

void kiln_solid_watch_pairs(kiln_solid *s, double h, bool stage)
{
    for (size_t i = 0; i < s->options.watch.pair_count && kiln_collide_is_used(&s->collide); i++)
        note_pair(s, i, h, stage);
}

/* Of obstacles that are met by points: what is held is on them. */
static void add_touch(kiln_solid *s)
{
    for (size_t i = 0; i < s->touch.contacts.count; i++) {
        const kiln_touch_contact *c = &s->touch.contacts.data[i];
        if (!c->active)
            continue;
        s->load.data[c->vertex] += fmax(kiln_v3_dot(c->force, c->normal), 0.0);
        s->gap.data[c->vertex] = 0.0;
    }
}

static void fill_columns(kiln_solid *s)
{
    const kiln_contact_columns out = {s->load.data, s->gap.data, s->slip.data};
    clear_columns(s);
    if (kiln_collide_is_used(&s->collide))
        kiln_collide_columns(&s->collide, s->x.data, &out);
    add_touch(s);
}

/* One side of a pair, which has the vertices from `begin` to `end`; nothing of a wall. */
static kiln_press press_of(const kiln_solid *s, size_t i, int begin, int end)
{
    const kiln_collide *c = &s->collide;
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    const kiln_vec3 *x = kiln_collide_points(s->x.data);
    uint32_t other = pair->v[begin == 0 ? end : 0];
    kiln_press press = {.obstacle = KILN_NONE};
    double modulus = 0.0;
    for (int k = 0; k < 3; k++) {
        press.v[k] = begin + k < end ? pair->v[begin + k] : KILN_NONE;
        if (press.v[k] == KILN_NONE)
            continue;
        press.weight[k] = fabs(c->distance.data[i].weight[begin + k]);
        press.at = kiln_v3_madd(press.at, press.weight[k], x[press.v[k]]);
        press.area += c->surface.area.data[press.v[k]];
        modulus += press.weight[k] * c->modulus.data[press.v[k]];
    }
    press.square = modulus > 0.0 ? kiln_collide_load(c, i) / modulus : 0.0;
    if (kiln_collide_is_wall(c, other))
        press.obstacle = c->walls.obstacle.data[other - c->first_wall];
    return press;
}

static kiln_status list_pairs(kiln_solid *s, kiln_error *error)
{
    kiln_collide *c = &s->collide;
    kiln_collide_measure(c, s->x.data);
    KILN_TRY(kiln_array_reserve(s->context, &s->presses, 2 * c->acting.count, error));
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const kiln_surface_pair *pair = kiln_collide_pair(c, i);
        int split = (int)pair->split;
        if (!kiln_collide_is_wall(c, pair->v[0]))
            s->presses.data[s->presses.count++] = press_of(s, i, 0, split);
        if (!kiln_collide_is_wall(c, pair->v[3]))
            s->presses.data[s->presses.count++] = press_of(s, i, split, 4);
    }
    return KILN_OK;
}

kiln_status kiln_solid_watch_presses(kiln_solid *s, kiln_error *error)
{
    s->presses.count = 0;
    if (!s->options.watch.presses || !kiln_collide_is_used(&s->collide))
        return KILN_OK;
    return list_pairs(s, error);
}

const kiln_press *kiln_solid_presses(const kiln_solid *s, size_t *count)
{
    *count = s->presses.count;
    return s->presses.data;
}

static int count_pressed(const kiln_solid *s)
{
    int count = 0;
    for (const double *f = s->contact.data; f < s->contact.data + 3 * s->rows; f += 3)
        count += f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0;
    return count;
}

kiln_status kiln_attempt_review(kiln_attempt *t, kiln_error *error)
{
    const kiln_solid *s = t->solid;
    bool refused = false;
    if (s->review.look)
        KILN_TRY(s->review.look(s->review.self, (const kiln_vec3 *)(const void *)s->x.data,
                                &refused, error));
    if (refused)
        t->report->outcome = KILN_STEP_COARSE;
    return KILN_OK;
}

kiln_status kiln_solid_watch_start(kiln_solid *s, const kiln_driver *driver, double time,
                                   double *energy, double *gap, kiln_error *error)
{
    const double *x = &s->mesh->x[0].x;
    *energy = *gap = NAN;
    if (!kiln_collide_is_used(&s->collide))
        return KILN_OK;
    KILN_TRY(kiln_solid_drive(s, driver, time, 1.0, error));
    if (s->all > s->rows) {
        kiln_box about = kiln_collide_extent(&s->collide, kiln_box_empty(), x);
        memcpy(s->begin.data, x, 3 * s->rows * sizeof *x);
        kiln_collide_place_walls(&s->collide, about, false, s->begin.data + 3 * s->rows);
    }
    const double *begin = kiln_solid_begin(s);
    const kiln_collide_start start = {.given = &s->given, .x = begin, .origin = begin, .tau = 1.0};
    KILN_TRY(kiln_collide_begin(&s->collide, &start, error));
    *energy = kiln_collide_energy(&s->collide, begin);
    *gap = kiln_collide_gap(&s->collide, begin);
    kiln_collide_forget(&s->collide);
    return kiln_collide_failure(&s->collide, error);
}

void kiln_solid_watch(kiln_solid *s, double h, kiln_step_report *report)
{
    report->contacts = (int)kiln_touch_count(&s->touch);
    report->gap = NAN;
    report->nearest = 1.0;
    if (kiln_collide_is_used(&s->collide)) {
        report->gap = kiln_collide_gap(&s->collide, s->x.data);
        report->nearest = kiln_collide_nearest(&s->collide, s->x.data);
        if (s->all > s->rows) {
            kiln_collide_forces(&s->collide, s->x.data, true, s->contact.data);
            report->contacts += count_pressed(s);
        }
        kiln_collide_forces(&s->collide, s->x.data, false, s->contact.data);
    }
    kiln_solid_watch_pairs(s, h, false);
    if (s->options.watch.columns)
        fill_columns(s);
}

kiln_contact_columns kiln_solid_contact_columns(const kiln_solid *s)
{
    return (kiln_contact_columns){s->load.data, s->gap.data, s->slip.data};
}

const kiln_pair_push *kiln_solid_pair_push(const kiln_solid *s, size_t pair)
{
    return &s->pair_pushes.data[pair];
}

kiln_contact_sizes kiln_solid_contact_sizes(const kiln_solid *solid)
{
    const kiln_collide *collide = &solid->collide;
    kiln_contact_sizes sizes = {.friction_speed = solid->touch.slip_speed};
    if (!kiln_collide_is_used(collide))
        return solid->obstacles.count > 0 ? sizes : (kiln_contact_sizes){0};
    sizes.thickness = collide->options.thickness;
    sizes.friction_speed = collide->slip_speed;
    for (uint32_t t = 0; t < solid->mesh->table[KILN_ON_TET].used; t++) {
        double modulus = kiln_tet_live(solid->mesh, t) ? solid->modulus.data[t] : INFINITY;
        if (isinf(modulus))
            continue;
        bool first = sizes.stiffest == 0.0;
        sizes.softest = first ? modulus : fmin(sizes.softest, modulus);
        sizes.stiffest = fmax(sizes.stiffest, modulus);
    }
    return sizes;
}

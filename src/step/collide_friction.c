/* Friction between bodies and with walls as a term (slip.h), with the normal forces of the solve
 * before. */
#include "base/parallel.h"
#include "step/collide_impl.h"

#include <stdlib.h>
#include <string.h>

/* a x as a matrix. */
static kiln_mat3 cross_with(kiln_vec3 a)
{
    return kiln_m3_columns(kiln_v3(0, a.z, -a.y), kiln_v3(-a.z, 0, a.x), kiln_v3(a.y, -a.x, 0));
}

/* Velocities of the closest points, which are `apart`, differ by w . v; a pair that turns as a
 * whole has such a difference and does not slip. So what the mean rotation of its vertices makes of
 * it is taken away, and the forces have no moment. */
static void find_levers(const kiln_vec3 x[4], const double weight[4], kiln_vec3 apart,
                        kiln_mat3 lever[4])
{
    kiln_vec3 centre = kiln_v3(0, 0, 0), arm[4];
    double size = 0.0;
    kiln_mat3 inertia = kiln_m3_scale(kiln_m3_identity(), 0.0);
    for (int k = 0; k < 4; k++)
        centre = kiln_v3_madd(centre, 0.25, x[k]);
    for (int k = 0; k < 4; k++) {
        arm[k] = kiln_v3_sub(x[k], centre);
        size += kiln_v3_norm2(arm[k]);
        kiln_mat3 turn = cross_with(arm[k]);
        inertia = kiln_m3_add(inertia, kiln_m3_mul(kiln_m3_transpose(turn), turn));
    }
    inertia = kiln_m3_add(inertia, kiln_m3_diagonal(1e-12 * size, 1e-12 * size, 1e-12 * size));
    kiln_mat3 by_turn = kiln_m3_mul(cross_with(apart), kiln_m3_inverse(inertia));
    for (int k = 0; k < 4; k++)
        lever[k] = kiln_m3_add(kiln_m3_diagonal(weight[k], weight[k], weight[k]),
                               kiln_m3_mul(by_turn, cross_with(arm[k])));
}

static kiln_vec3 velocity_of(const kiln_collide *c, const kiln_friction_contact *contact,
                             const double *x)
{
    kiln_vec3 v = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++) {
        kiln_vec3 way = kiln_v3_sub(kiln_collide_points(x)[contact->v[k]],
                                    kiln_collide_points(c->origin)[contact->v[k]]);
        v = kiln_v3_madd(v, 1.0 / c->tau, kiln_m3_apply(contact->lever[k], way));
    }
    return kiln_v3_madd(v, -kiln_v3_dot(v, contact->normal), contact->normal);
}

static double slip_value(const kiln_collide *c, const kiln_friction_contact *contact,
                         const double *x)
{
    return kiln_slip_at(kiln_v3_norm(velocity_of(c, contact, x)), c->slip_speed).value;
}

typedef struct rub_job {
    kiln_collide *collide;
    const double *from, *to; /* from may be NULL */
    double scale;
    bool stiff;
} rub_job;

static void rub_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const rub_job *job = user;
    const kiln_collide *c = job->collide;
    for (size_t i = begin; i < end; i++) {
        const kiln_friction_contact *contact = &c->friction_contacts.data[i];
        double before = job->from ? slip_value(c, contact, job->from) : 0.0;
        c->rubbing.data[i].weight =
            contact->friction * contact->load * c->tau * (slip_value(c, contact, job->to) - before);
    }
}

/* Of all contacts the energy at `to`, less that at `from`. */
static double friction_between(kiln_collide *c, const double *from, const double *to)
{
    rub_job job = {.collide = c, .from = from, .to = to};
    double sum = 0.0;
    kiln_parallel_for(c->context, c->friction_contacts.count, KILN_COLLIDE_GRAIN, rub_chunk, &job);
    for (size_t i = 0; i < c->friction_contacts.count; i++)
        sum += c->rubbing.data[i].weight;
    return sum;
}

static double friction_value(void *self, const double *x)
{
    return friction_between(self, NULL, x);
}

static double friction_delta(void *self, const double *x0, const double *x1)
{
    return friction_between(self, x0, x1);
}

static void pull_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const rub_job *job = user;
    kiln_collide *c = job->collide;
    for (size_t i = begin; i < end; i++) {
        kiln_friction_contact *contact = &c->friction_contacts.data[i];
        kiln_vec3 v = velocity_of(c, contact, job->to);
        double secant = kiln_slip_at(kiln_v3_norm(v), c->slip_speed).secant;
        double weight = job->scale * contact->friction * contact->load * secant;
        kiln_rubbing *out = &c->rubbing.data[i];
        out->velocity = v;
        out->weight = weight;
        if (!job->stiff)
            continue;
        kiln_vec3 turn = kiln_slip_turn(&contact->memory, v, secant, c->slip_speed);
        kiln_vec3 along = kiln_v3_normalize(v);
        const double n[3] = {contact->normal.x, contact->normal.y, contact->normal.z};
        const double p[3] = {turn.x, turn.y, turn.z}, q[3] = {along.x, along.y, along.z};
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
                out->stiffness.m[r][s] =
                    weight / c->tau * ((r == s) - n[r] * n[s] - 0.5 * (p[r] * q[s] + q[r] * p[s]));
    }
}

static void add_blocks(const kiln_friction_contact *contact, kiln_mat3 m, const kiln_row_band *rows)
{
    const uint32_t *v = contact->v;
    for (int k = 0; k < 4; k++) {
        kiln_mat3 left = kiln_m3_mul(kiln_m3_transpose(contact->lever[k]), m);
        for (int l = k; l < 4; l++)
            if (kiln_collide_has_row(rows, v[k] < v[l] ? v[k] : v[l]))
                kiln_bsr_add(rows->H, v[k], v[l],
                             (const double(*)[3])kiln_m3_mul(left, contact->lever[l]).m);
    }
}

static void add_pulls(const void *user, const kiln_row_band *rows)
{
    const kiln_collide *c = user;
    for (size_t i = 0; i < c->friction_contacts.count; i++) {
        const kiln_friction_contact *contact = &c->friction_contacts.data[i];
        const kiln_rubbing *rubbing = &c->rubbing.data[i];
        if (!kiln_collide_has_any(rows, contact->v))
            continue;
        for (int k = 0; k < 4; k++)
            if (kiln_collide_has_row(rows, contact->v[k]))
                kiln_collide_add_at(
                    rows->g, contact->v[k], rubbing->weight,
                    kiln_m3_apply(kiln_m3_transpose(contact->lever[k]), rubbing->velocity));
        if (rows->H)
            add_blocks(contact, rubbing->stiffness, rows);
    }
}

static void friction_add(void *self, const double *x, double scale, double *g, kiln_bsr *H)
{
    kiln_collide *c = self;
    rub_job job = {.collide = c, .to = x, .scale = scale, .stiff = H != NULL};
    size_t count = c->friction_contacts.count;
    kiln_parallel_for(c->context, count, KILN_COLLIDE_GRAIN, pull_chunk, &job);
    kiln_collide_scatter(c, count, add_pulls, c, g, H);
    for (size_t i = 0; i < count && H; i++)
        c->friction_contacts.data[i].stiffness =
            kiln_m3_scale(c->rubbing.data[i].stiffness, 1.0 / scale);
}

static void friction_note(void *self, const double *x)
{
    kiln_collide *c = self;
    rub_job job = {.collide = c, .to = x, .scale = 1.0, .stiff = true};
    size_t count = c->friction_contacts.count;
    kiln_parallel_for(c->context, count, KILN_COLLIDE_GRAIN, pull_chunk, &job);
    for (size_t i = 0; i < count; i++) {
        kiln_friction_contact *contact = &c->friction_contacts.data[i];
        contact->change =
            kiln_m3_add(c->rubbing.data[i].stiffness, kiln_m3_scale(contact->stiffness, -1.0));
    }
}

static void noted_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const rub_job *job = user;
    kiln_collide *c = job->collide;
    for (size_t i = begin; i < end; i++) {
        const kiln_friction_contact *contact = &c->friction_contacts.data[i];
        kiln_vec3 slip = kiln_v3(0, 0, 0);
        for (int k = 0; k < 4; k++)
            slip = kiln_v3_add(slip, kiln_m3_apply(contact->lever[k],
                                                   kiln_collide_points(job->to)[contact->v[k]]));
        c->rubbing.data[i].velocity = kiln_m3_apply(contact->change, slip);
        c->rubbing.data[i].weight = job->scale;
    }
}

static void friction_add_noted(void *self, double scale, const double *v, double *out)
{
    kiln_collide *c = self;
    rub_job job = {.collide = c, .to = v, .scale = scale};
    size_t count = c->friction_contacts.count;
    kiln_parallel_for(c->context, count, KILN_COLLIDE_GRAIN, noted_chunk, &job);
    kiln_collide_scatter(c, count, add_pulls, c, out, NULL);
}

static int by_vertices(const void *left, const void *right)
{
    const kiln_friction_contact *a = left, *b = right;
    for (int k = 0; k < 4; k++)
        if (a->v[k] != b->v[k])
            return a->v[k] < b->v[k] ? -1 : 1;
    return 0;
}

/* NULL: friction does not know it. */
static const kiln_friction_contact *find_contact(const kiln_collide *c, const uint32_t v[4])
{
    kiln_friction_contact key;
    memcpy(key.v, v, sizeof key.v);
    return c->friction_contacts.count ? bsearch(&key, c->friction_contacts.data,
                                                c->friction_contacts.count, sizeof key, by_vertices)
                                      : NULL;
}

/* The wall of a pair, by any point of it; KILN_NONE: it has none. */
static uint32_t wall_of(const kiln_collide *c, size_t i)
{
    const uint32_t *v = kiln_collide_pair(c, i)->v;
    uint32_t row = kiln_collide_is_wall(c, v[0]) ? v[0] : v[3];
    return kiln_collide_is_wall(c, row) ? row - c->first_wall : KILN_NONE;
}

double kiln_collide_friction_of_kind(const kiln_collide *c, const kiln_pair_kind *kind)
{
    const kiln_pair_table *table = c->options.pairs;
    const kiln_pair_rule *rule = kind->wall
                                     ? kiln_pair_rule_of_obstacle(table, kind->body, kind->other)
                                     : kiln_pair_rule_of_bodies(table, kind->body, kind->other);
    if (rule && !isnan(rule->friction))
        return rule->friction;
    return kind->wall ? kiln_obstacle_friction(c->walls.obstacles[kind->other])
                      : c->options.friction;
}

double kiln_collide_friction_of(const kiln_collide *c, size_t i)
{
    const uint32_t *v = kiln_collide_pair(c, i)->v, *body = c->surface.body.data;
    uint32_t wall = wall_of(c, i);
    kiln_pair_kind kind = {.wall = wall != KILN_NONE};
    kind.body = body[kiln_collide_is_wall(c, v[0]) ? v[3] : v[0]];
    kind.other = kind.wall ? c->walls.obstacle.data[wall] : body[v[3]];
    return kiln_collide_friction_of_kind(c, &kind);
}

static bool some_pair_rubs(const kiln_pair_table *table)
{
    size_t count = table ? (size_t)table->kinds * table->kinds : 0;
    for (size_t i = 0; i < count; i++)
        if (table->rules[i].friction > 0.0)
            return true;
    return false;
}

bool kiln_collide_rubs(const kiln_collide *c)
{
    bool rubs = (c->options.bodies || c->options.self) && c->options.friction > 0.0;
    for (size_t i = 0; c->options.walls && i < c->walls.obstacle_count && !rubs; i++)
        rubs = kiln_obstacle_friction(c->walls.obstacles[i]) > 0.0;
    return rubs || some_pair_rubs(c->options.pairs);
}

void kiln_collide_visit_rubbing(const kiln_collide *c, const double *x, kiln_visit_rubbing *visit,
                                void *user)
{
    for (size_t i = 0; i < c->friction_contacts.count; i++) {
        const kiln_friction_contact *contact = &c->friction_contacts.data[i];
        visit(user, contact, kiln_v3_norm(velocity_of(c, contact, x)));
    }
}

/* Walls take any moment, and are not turned by what rubs on them. */
static void find_levers_of(const kiln_collide *c, size_t i, kiln_mat3 lever[4])
{
    const kiln_pair_distance *at = &c->distance.data[i];
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    kiln_vec3 x[4];
    if (wall_of(c, i) != KILN_NONE) {
        for (int k = 0; k < 4; k++)
            lever[k] = kiln_m3_diagonal(at->weight[k], at->weight[k], at->weight[k]);
        return;
    }
    for (int k = 0; k < 4; k++)
        x[k] = kiln_collide_points(c->measured.data)[pair->v[k]];
    find_levers(x, at->weight, kiln_v3_scale(at->normal, at->d + pair->clearance), lever);
}

static kiln_friction_contact contact_of(const kiln_collide *c, size_t i)
{
    kiln_friction_contact contact = {.normal = c->distance.data[i].normal,
                                     .load = kiln_collide_pressure(c, i),
                                     .friction = c->rub.data[i]};
    memcpy(contact.v, kiln_collide_pair(c, i)->v, sizeof contact.v);
    find_levers_of(c, i, contact.lever);
    return contact;
}

static void contact_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    kiln_collide *c = user;
    for (size_t k = begin; k < end; k++)
        c->friction_contacts.data[k] = contact_of(c, c->rubbed.data[k]);
}

/* Parts of pairs make the pair's load another. */
static bool rubs_at(const kiln_collide *c, size_t i)
{
    return c->rub.data[i] != 0.0 && i < c->found.pairs.count;
}

kiln_status kiln_collide_lag_friction(kiln_collide *c, kiln_error *error)
{
    c->friction_contacts.count = c->rubbed.count = 0;
    if (!kiln_collide_rubs(c))
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(c->context, &c->rubbed, c->acting.count, error));
    for (size_t a = 0; a < c->acting.count; a++)
        if (rubs_at(c, c->acting.data[a]))
            c->rubbed.data[c->rubbed.count++] = c->acting.data[a];
    KILN_TRY(kiln_array_reserve(c->context, &c->rubbing, c->rubbed.count, error));
    KILN_TRY(kiln_array_reserve(c->context, &c->friction_contacts, c->rubbed.count, error));
    kiln_parallel_for(c->context, c->rubbed.count, KILN_COLLIDE_FEW, contact_chunk, c);
    c->friction_contacts.count = c->rubbed.count;
    if (c->friction_contacts.count)
        qsort(c->friction_contacts.data, c->friction_contacts.count,
              sizeof *c->friction_contacts.data, by_vertices);
    return KILN_OK;
}

/* Also of what friction knows and no longer presses. */
double kiln_collide_change(kiln_collide *c, const double *x)
{
    double change = 0.0, sum = 0.0;
    if (!kiln_collide_rubs(c))
        return 0.0;
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->friction_contacts.count; i++)
        change += c->friction_contacts.data[i].load;
    sum = change;
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        double load = rubs_at(c, i) ? kiln_collide_pressure(c, i) : 0.0;
        if (load == 0.0)
            continue;
        const kiln_friction_contact *known = find_contact(c, kiln_collide_pair(c, i)->v);
        double before = known ? known->load : 0.0;
        change += fabs(load - before) - before;
        sum += fmax(load - before, 0.0);
    }
    return sum > 0.0 ? change / sum : 0.0;
}

/* Minus what the terms' gradients have at vertices of pairs with a wall. */
double kiln_collide_slip(const kiln_collide *c, size_t i, const double *x)
{
    kiln_friction_contact contact = contact_of(c, i);
    return kiln_v3_norm(velocity_of(c, &contact, x));
}

void kiln_collide_rub(const kiln_collide *c, const kiln_friction_contact *contact, const double *x,
                      kiln_vec3 force[4])
{
    kiln_vec3 v = velocity_of(c, contact, x);
    double secant = kiln_slip_at(kiln_v3_norm(v), c->slip_speed).secant;
    for (int k = 0; k < 4; k++)
        force[k] = kiln_v3_scale(kiln_m3_apply(kiln_m3_transpose(contact->lever[k]), v),
                                 -contact->friction * contact->load * secant);
}

kiln_term kiln_collide_friction_term(kiln_collide *c)
{
    return (kiln_term){.name = "friction between bodies",
                       .self = c,
                       .weight = 1.0,
                       .value = friction_value,
                       .delta = friction_delta,
                       .add = friction_add,
                       .note = friction_note,
                       .add_noted = friction_add_noted};
}

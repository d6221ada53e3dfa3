/* What contact does at the end of a step, for outputs: forces by vertex and between bodies, how
 * hard, how near and how fast along each other surfaces are. */
#include "step/collide_impl.h"

/* Of the pairs, then of friction. */
void kiln_collide_visit_forces(kiln_collide *c, const double *x, kiln_see_forces *see, void *user)
{
    kiln_vec3 force[4];
    kiln_collide_measure(c, x);
    for (size_t a = 0; a < c->acting.count; a++) {
        size_t i = c->acting.data[a];
        const kiln_pair_distance *at = &c->distance.data[i];
        double load = kiln_collide_load(c, i);
        for (int k = 0; k < 4; k++)
            force[k] = kiln_v3_scale(at->normal, load * at->weight[k]);
        see(user, kiln_collide_pair(c, i)->v, force);
    }
    for (size_t i = 0; i < c->friction_contacts.count; i++) {
        kiln_collide_rub(c, &c->friction_contacts.data[i], x, force);
        see(user, c->friction_contacts.data[i].v, force);
    }
}

typedef struct vertex_sum {
    const kiln_collide *collide;
    bool walls;
    double *force;
} vertex_sum;

static void add_to_vertices(void *user, const uint32_t v[4], const kiln_vec3 force[4])
{
    const vertex_sum *sum = user;
    const kiln_collide *c = sum->collide;
    if ((kiln_collide_is_wall(c, v[0]) || kiln_collide_is_wall(c, v[3])) != sum->walls)
        return;
    for (int k = 0; k < 4; k++)
        if (!kiln_collide_is_wall(c, v[k]))
            kiln_collide_add_at(sum->force, v[k], 1.0, force[k]);
}

void kiln_collide_forces(kiln_collide *c, const double *x, bool walls, double *force)
{
    vertex_sum sum = {c, walls, force};
    kiln_collide_visit_forces(c, x, add_to_vertices, &sum);
}

typedef struct body_sum {
    const kiln_collide *collide;
    const kiln_vec3 *x;
    uint32_t body, other;
    kiln_vec3 about, force, torque;
} body_sum;

/* Sides of a pair are of one body each. */
static void add_to_body(void *user, const uint32_t v[4], const kiln_vec3 force[4])
{
    body_sum *sum = user;
    const uint32_t *body = sum->collide->surface.body.data;
    if (kiln_collide_is_wall(sum->collide, v[0]) || kiln_collide_is_wall(sum->collide, v[3]))
        return;
    bool first = body[v[0]] == sum->body;
    if (body[v[first ? 3 : 0]] != sum->other || body[v[first ? 0 : 3]] != sum->body)
        return;
    for (int k = 0; k < 4; k++) {
        if (body[v[k]] != sum->body)
            continue;
        kiln_vec3 arm = kiln_v3_sub(sum->x[v[k]], sum->about);
        sum->force = kiln_v3_add(sum->force, force[k]);
        sum->torque = kiln_v3_add(sum->torque, kiln_v3_cross(arm, force[k]));
    }
}

void kiln_collide_between(kiln_collide *c, const double *x, uint32_t body, uint32_t other,
                          kiln_vec3 about, kiln_vec3 *force, kiln_vec3 *torque)
{
    body_sum sum = {
        .collide = c, .x = kiln_collide_points(x), .body = body, .other = other, .about = about};
    kiln_collide_visit_forces(c, x, add_to_body, &sum);
    *force = sum.force;
    *torque = sum.torque;
}

static bool is_near(const kiln_collide *c, size_t i)
{
    return c->distance.data[i].d < kiln_collide_pair(c, i)->reach;
}

double kiln_collide_gap(kiln_collide *c, const double *x)
{
    double least = INFINITY;
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->found.pairs.count; i++)
        if (is_near(c, i))
            least = fmin(least, c->distance.data[i].d);
    return isinf(least) ? NAN : least;
}

/* Slip is first the sum of load times speed. */
static void add_pair(const kiln_collide *c, size_t i, const double *x,
                     const kiln_contact_columns *out)
{
    const kiln_surface_pair *pair = kiln_collide_pair(c, i);
    const kiln_pair_distance *at = &c->distance.data[i];
    if (pair->split == 1 && !kiln_collide_is_wall(c, pair->v[0]))
        out->gap[pair->v[0]] = fmin(out->gap[pair->v[0]], at->d);
    if (!kiln_collide_acts(c, i))
        return;
    double load = kiln_collide_load(c, i), speed = kiln_collide_slip(c, i, x);
    for (int k = 0; k < 4; k++)
        if (!kiln_collide_is_wall(c, pair->v[k])) {
            out->load[pair->v[k]] += load * fabs(at->weight[k]);
            out->slip[pair->v[k]] += load * fabs(at->weight[k]) * speed;
        }
}

/* What is between two faces of a hollow is counted by both. */
static void add_part(const kiln_collide *c, size_t i, const kiln_contact_columns *out)
{
    const uint32_t *v = kiln_collide_pair(c, i)->v;
    for (int k = 0; k < 4; k++)
        if (!kiln_collide_is_wall(c, v[k]))
            out->load[v[k]] += kiln_collide_load(c, i) * fabs(c->distance.data[i].weight[k]);
}

void kiln_collide_columns(kiln_collide *c, const double *x, const kiln_contact_columns *out)
{
    kiln_collide_measure(c, x);
    for (size_t i = 0; i < c->found.pairs.count; i++)
        if (is_near(c, i))
            add_pair(c, i, x, out);
    for (size_t k = 0; k < c->part_of.count; k++)
        add_part(c, c->found.pairs.count + k, out);
    for (size_t v = 0; v < c->first_wall; v++)
        if (out->load[v] > 0.0)
            out->slip[v] /= out->load[v];
}

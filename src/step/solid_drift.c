/* Static bodies that nothing keeps from drifting away. A part of the mesh whose holds leave it a
 * direction to move in as a whole has an equilibrium only if forces along it cancel, or if
 * something is in its way. Loads are dead along a shift: what is not in balance there at the begin
 * is not in balance anywhere, under any part of the load. Newton would find that out by moving it
 * farther and farther with a matrix that has only rounding along the motion.
 *
 * Turns that are free are not looked at: a pendulum has its place. Nor are drifts that modules'
 * terms or obstacles that hold points may stop. */
#include "geom/sym3.h"
#include "step/solid_impl.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Of the forces of loads on a part, which cancel to this when their sum is rounding. */
#define BALANCED 1e-6
/* Of the load along it, when a solve has failed: contact that bears more may be on the way. */
#define UNBORNE 0.5
/* Of held directions, as squares of cosines: what rounding leaves of a free one. */
#define HELD 1e-10

typedef struct part_forces {
    kiln_sym3 held;    /* sum of d d' over the directions d that are held */
    kiln_vec3 load;    /* of loads alone, N */
    kiln_vec3 all;     /* of all terms, */
    kiln_vec3 contact; /* and of those that are brief */
    double size;       /* sum of the sizes of loads */
    uint32_t vertex;   /* one of it */
} part_forces;

static uint32_t part_at(const kiln_mesh *mesh, uint32_t vertex)
{
    return mesh->info[mesh->vertex[vertex].tet].part;
}

static void add_held(const kiln_solid *s, uint32_t vertex, kiln_sym3 *sum)
{
    kiln_held held = kiln_constraints_held(&s->given, vertex);
    for (int i = 0; i < held.count; i++) {
        kiln_vec3 d = held.axis[i];
        *sum = kiln_sym3_madd(
            *sum, 1.0,
            (kiln_sym3){d.x * d.x, d.y * d.y, d.z * d.z, d.y * d.z, d.x * d.z, d.x * d.y});
    }
}

/* Adds minus the gradients of some terms to what `where` is in a part. */
static void add_forces(kiln_attempt *t, const double *x, size_t first, size_t end, size_t where,
                       part_forces *parts)
{
    kiln_solid *s = t->solid;
    double *g = s->rate.data;
    kiln_attempt_gradient(t, first, end, x, g);
    for (uint32_t v = 0; v < s->rows; v++) {
        if (!kiln_vertex_live(s->mesh, v))
            continue;
        part_forces *part = &parts[part_at(s->mesh, v)];
        kiln_vec3 *sum = (kiln_vec3 *)(void *)((char *)part + where),
                  force = {-g[3 * v], -g[3 * v + 1], -g[3 * v + 2]};
        *sum = kiln_v3_add(*sum, force);
        if (where == offsetof(part_forces, load))
            part->size += kiln_v3_norm(force);
    }
}

static size_t place_of_loads(const kiln_solid *s)
{
    size_t i = 0;
    while (s->terms.data[i] != kiln_loads_term(s->loads))
        i++;
    return i;
}

static void find_forces(kiln_attempt *t, const double *x, part_forces *parts)
{
    kiln_solid *s = t->solid;
    size_t loads = place_of_loads(s);
    for (uint32_t v = 0; v < s->rows; v++)
        if (kiln_vertex_live(s->mesh, v)) {
            part_forces *part = &parts[part_at(s->mesh, v)];
            part->vertex = v;
            add_held(s, v, &part->held);
        }
    add_forces(t, x, loads, loads + 1, offsetof(part_forces, load), parts);
    add_forces(t, x, 0, s->terms.count, offsetof(part_forces, all), parts);
    add_forces(t, x, s->lasting, s->terms.count, offsetof(part_forces, contact), parts);
}

/* What of a vector is along directions that nothing holds. */
static kiln_vec3 free_part(const part_forces *part, kiln_vec3 v)
{
    kiln_eigen3 axes = kiln_sym3_eigen(part->held);
    kiln_vec3 out = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        kiln_vec3 axis = kiln_v3(axes.vectors.m[0][i], axes.vectors.m[1][i], axes.vectors.m[2][i]);
        if (fabs(axes.values[i]) <= HELD)
            out = kiln_v3_madd(out, kiln_v3_dot(axis, v), axis);
    }
    return out;
}

/* Whether the part may go that way as far as one cares to look. */
static bool is_open(kiln_attempt *t, const double *x, uint32_t part, kiln_vec3 way)
{
    kiln_solid *s = t->solid;
    double *dx = s->rate.data, far = KILN_STATIC_FARTHEST * s->length / kiln_v3_norm(way);
    if (!kiln_collide_is_used(&s->collide))
        return true;
    memset(dx, 0, 3 * s->all * sizeof *dx);
    for (uint32_t v = 0; v < s->rows; v++)
        if (kiln_vertex_live(s->mesh, v) && part_at(s->mesh, v) == part)
            for (int i = 0; i < 3; i++)
                dx[3 * v + (uint32_t)i] = far * (&way.x)[i];
    return s->collide.repulsion.max_step(s->collide.repulsion.self, x, dx) >= 1.0;
}

/* Along what pushes it, or what is left of that beside what it lies on. */
static bool drifts(kiln_attempt *t, const double *x, uint32_t number, const part_forces *part,
                   bool failed, kiln_vec3 *way)
{
    double least = BALANCED * part->size, contact = kiln_v3_norm(part->contact);
    *way = free_part(part, part->all);
    if (contact > least) {
        kiln_vec3 normal = kiln_v3_scale(part->contact, 1.0 / contact);
        *way = free_part(part, kiln_v3_madd(*way, -kiln_v3_dot(*way, normal), normal));
    }
    double push = kiln_v3_norm(*way), load = kiln_v3_dot(*way, part->load) / push;
    return push > least && load > least && (!failed || push > UNBORNE * load) &&
           is_open(t, x, number, *way);
}

static bool may_be_stopped(const kiln_solid *s)
{
    return s->more.count > 0 || s->touch.obstacle_count > 0;
}

kiln_status kiln_attempt_find_drift(kiln_attempt *t, const double *x, bool failed,
                                    kiln_error *error)
{
    kiln_solid *s = t->solid;
    size_t count = s->mesh->parts.count, bytes = count * sizeof(part_forces);
    if (t->integrator != KILN_STATIC || count == 0 || may_be_stopped(s))
        return KILN_OK;
    part_forces *parts = kiln_resize(s->context, NULL, 0, bytes);
    if (!parts)
        return kiln_fail_memory(error, bytes);
    memset(parts, 0, bytes);
    find_forces(t, x, parts);
    for (uint32_t p = 0; p < count; p++) {
        kiln_vec3 way;
        if (parts[p].size > 0.0 && drifts(t, x, p, &parts[p], failed, &way)) {
            t->report->outcome = KILN_STEP_ADRIFT;
            t->report->element = parts[p].vertex;
            t->report->drift = kiln_v3_scale(way, 1.0 / kiln_v3_norm(way));
            break;
        }
    }
    kiln_release(s->context, parts, bytes);
    return kiln_collide_failure(&s->collide, error);
}

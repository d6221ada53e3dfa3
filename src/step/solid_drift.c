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
#include <string.h>

/* Of the forces of loads on a part, which cancel to this when their sum is rounding. */
#define BALANCED 1e-6
/* Of the load along it, when a solve has failed: contact that bears more may be on the way. */
#define UNBORNE 0.5
/* Of held directions, as squares of cosines: what rounding leaves of a free one. */
#define HELD 1e-10

enum force_kind { OF_LOADS, OF_ALL, OF_CONTACT, FORCE_KINDS };

typedef struct part_forces {
    kiln_mat3 free;               /* projects on the directions that nothing holds */
    kiln_vec3 force[FORCE_KINDS]; /* N, of all its vertices */
    double size;                  /* sum of the sizes of loads */
    uint32_t vertex;              /* one of it */
    bool is_free;                 /* there are such directions */
} part_forces;

static uint32_t part_at(const kiln_mesh *mesh, uint32_t vertex)
{
    return mesh->info[mesh->vertex[vertex].tet].part;
}

/* `sum` += d d' over the directions d in which a vertex is held. */
static void add_held(const kiln_solid *s, uint32_t vertex, kiln_mat3 *sum)
{
    kiln_held held = kiln_constraints_held(&s->given, vertex);
    for (int i = 0; i < held.count; i++)
        for (int k = 0; k < 9; k++)
            sum->m[k / 3][k % 3] += (&held.axis[i].x)[k / 3] * (&held.axis[i].x)[k % 3];
}

static void find_free(part_forces *part)
{
    kiln_eigen3 axes = kiln_sym3_eigen(kiln_sym3_from_mat3(part->free));
    part->free = (kiln_mat3){{{0}}};
    for (int i = 0; i < 3; i++)
        if (fabs(axes.values[i]) <= HELD) {
            part->is_free = true;
            for (int k = 0; k < 9; k++)
                part->free.m[k / 3][k % 3] += axes.vectors.m[k / 3][i] * axes.vectors.m[k % 3][i];
        }
}

/* Whether any part is free. */
static bool find_parts(const kiln_solid *s, part_forces *parts)
{
    bool any = false;
    for (uint32_t v = 0; v < s->rows; v++)
        if (kiln_vertex_live(s->mesh, v)) {
            part_forces *part = &parts[part_at(s->mesh, v)];
            part->vertex = v;
            add_held(s, v, &part->free);
        }
    for (size_t p = 0; p < s->mesh->parts.count; p++) {
        find_free(&parts[p]);
        any |= parts[p].is_free;
    }
    return any;
}

/* Minus the gradients of some terms. */
static void add_forces(kiln_attempt *t, const double *x, size_t first, size_t end,
                       enum force_kind kind, part_forces *parts)
{
    kiln_solid *s = t->solid;
    const double *g = s->rate.data;
    kiln_attempt_gradient(t, first, end, x, s->rate.data);
    for (uint32_t v = 0; v < s->rows; v++)
        if (kiln_vertex_live(s->mesh, v)) {
            part_forces *part = &parts[part_at(s->mesh, v)];
            kiln_vec3 force = {-g[3 * v], -g[3 * v + 1], -g[3 * v + 2]};
            part->force[kind] = kiln_v3_add(part->force[kind], force);
            part->size += kind == OF_LOADS ? kiln_v3_norm(force) : 0.0;
        }
}

static void find_forces(kiln_attempt *t, const double *x, part_forces *parts)
{
    const kiln_solid *s = t->solid;
    size_t loads = 0;
    while (s->terms.data[loads] != kiln_loads_term(s->loads))
        loads++;
    add_forces(t, x, loads, loads + 1, OF_LOADS, parts);
    add_forces(t, x, 0, s->terms.count, OF_ALL, parts);
    add_forces(t, x, s->lasting, s->terms.count, OF_CONTACT, parts);
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
    double least = BALANCED * part->size, contact = kiln_v3_norm(part->force[OF_CONTACT]);
    *way = kiln_m3_apply(part->free, part->force[OF_ALL]);
    if (contact > least) {
        kiln_vec3 normal = kiln_v3_scale(part->force[OF_CONTACT], 1.0 / contact);
        kiln_vec3 along = kiln_v3_madd(*way, -kiln_v3_dot(*way, normal), normal);
        *way = kiln_m3_apply(part->free, along);
    }
    double push = kiln_v3_norm(*way), load = kiln_v3_dot(*way, part->force[OF_LOADS]) / push;
    return push > least && load > least && (!failed || push > UNBORNE * load) &&
           is_open(t, x, number, *way);
}

/* Of the first part that does, to the report. */
static void look(kiln_attempt *t, const double *x, const part_forces *parts, bool failed)
{
    for (uint32_t p = 0; p < t->solid->mesh->parts.count; p++) {
        kiln_vec3 way;
        if (parts[p].is_free && drifts(t, x, p, &parts[p], failed, &way)) {
            t->report->outcome = KILN_STEP_ADRIFT;
            t->report->element = parts[p].vertex;
            t->report->drift = kiln_v3_scale(way, 1.0 / kiln_v3_norm(way));
            return;
        }
    }
}

kiln_status kiln_attempt_find_drift(kiln_attempt *t, const double *x, bool failed,
                                    kiln_error *error)
{
    kiln_solid *s = t->solid;
    size_t count = s->mesh->parts.count, bytes = count * sizeof(part_forces);
    bool may_be_stopped = s->more.count > 0 || s->touch.obstacle_count > 0;
    if (t->integrator != KILN_STATIC || count == 0 || may_be_stopped)
        return KILN_OK;
    part_forces *parts = kiln_resize(s->context, NULL, 0, bytes);
    if (!parts)
        return kiln_fail_memory(error, bytes);
    memset(parts, 0, bytes);
    if (find_parts(s, parts)) {
        find_forces(t, x, parts);
        look(t, x, parts, failed);
    }
    kiln_release(s->context, parts, bytes);
    return kiln_collide_failure(&s->collide, error);
}

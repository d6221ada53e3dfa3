/* L2 projection of vertex fields (ITR eq. 6-7), as a change of the interpolated values.
 *
 * With f1 the old field and f2 the interpolated one, the change d solves M d = r, where M is the
 * consistent mass matrix of the new mesh and r_a = sum over overlaps of the integral of
 * rho phi_a (f1 - f2), from the exact moments of the overlaps. r lives on the changed tets only,
 * and is zero where interpolation is exact (nested splits). Where a new tet lies outside the old
 * domain the old field counts as the interpolated one.
 *
 * Conjugate gradients with the diagonal of M reach one ring of vertices farther per iteration, so
 * the rows are gathered as they are needed. Scaled by its diagonal M has eigenvalues between 1/2
 * and 5/2 whatever the mesh (Wathen, 1987): a few dozen iterations. Each iterate lowers the
 * residual below the interpolation's, and the sum of r - M d is the error of the integral.
 *
 * Safe: of a field that holds positions, the corners of a tet that d would invert keep their
 * interpolated values and the rest is solved again. d = 0 stays admissible, so the residual still
 * never exceeds that of interpolation. Contacts are not looked at here. */
#include "geom/predicates.h"
#include "geom/sym3.h"
#include "mesh/journal.h"
#include "remesh/transfer_impl.h"

#include <string.h>

enum { MOST_ITERATIONS = 200 };
/* Of the integral of the field's size over the changed tets. */
static const double RESIDUAL = 1e-15;

/* The vertices and tets within reach, in order of discovery. */
typedef struct patch {
    const kiln_transfer_job *job;
    kiln_context *context;
    kiln_walker walker;
    kiln_idset vertex_number, tet_number;
    kiln_u32_array vertices, tets; /* rows */
    kiln_u32_array corners;        /* [tet][4] vertex indices */
    kiln_f64_array mass;           /* [tet] kg */
    kiln_f64_array diagonal;       /* [vertex], of expanded ones */
    kiln_f64_array work;           /* [vertex][VECTORS] */
    kiln_f64_array result;         /* [vertex][component] */
    size_t expanded;               /* vertices whose tets are all in */
    kiln_u32_array held;           /* [vertex] 1: keeps its interpolated values */
} patch;

enum { RIGHT, CHANGE, DIRECTION, PRODUCT, VECTORS };

static kiln_status add_vertex(patch *p, uint32_t row, uint32_t *index, kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(&p->vertex_number, row);
    if (slot->epoch == p->vertex_number.epoch) {
        *index = slot->value;
        return KILN_OK;
    }
    *index = (uint32_t)p->vertices.count;
    kiln_idset_add(&p->vertex_number, slot, row, *index);
    KILN_TRY(kiln_array_push(p->context, &p->vertices, row, error));
    KILN_TRY(kiln_array_push(p->context, &p->diagonal, 0.0, error));
    KILN_TRY(kiln_array_push(p->context, &p->held, 0, error));
    for (int k = 0; k < VECTORS; k++)
        KILN_TRY(kiln_array_push(p->context, &p->work, 0.0, error));
    if (2 * (size_t)p->vertex_number.members >= p->vertex_number.slots.count)
        KILN_TRY(kiln_idset_grow(p->context, &p->vertex_number, error));
    return KILN_OK;
}

static double *at(const patch *p, size_t vertex, int vector)
{
    return &p->work.data[vertex * VECTORS + (size_t)vector];
}

static kiln_status add_tet(patch *p, uint32_t tet, kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(&p->tet_number, tet);
    if (slot->epoch == p->tet_number.epoch)
        return KILN_OK;
    kiln_idset_add(&p->tet_number, slot, tet, 0);
    KILN_TRY(kiln_array_push(p->context, &p->tets, tet, error));
    double mass = kiln_transfer_target_mass(p->job, tet);
    KILN_TRY(kiln_array_push(p->context, &p->mass, mass, error));
    for (int i = 0; i < 4; i++) {
        uint32_t index;
        KILN_TRY(add_vertex(p, p->job->to->tet[tet].v[i], &index, error));
        KILN_TRY(kiln_array_push(p->context, &p->corners, index, error));
        p->diagonal.data[index] += 0.1 * mass;
    }
    if (2 * (size_t)p->tet_number.members >= p->tet_number.slots.count)
        KILN_TRY(kiln_idset_grow(p->context, &p->tet_number, error));
    return KILN_OK;
}

/* All tets at the vertices known so far, and so the next ring of vertices. */
static kiln_status expand(patch *p, kiln_error *error)
{
    for (size_t end = p->vertices.count; p->expanded < end; p->expanded++) {
        KILN_TRY(kiln_star(p->job->to, p->vertices.data[p->expanded], &p->walker, error));
        for (size_t i = 0; i < p->walker.tets.count; i++)
            KILN_TRY(add_tet(p, p->walker.tets.data[i], error));
    }
    return KILN_OK;
}

/* PRODUCT = M DIRECTION; consistent mass: m/20 (1 + delta_ab). */
static void multiply(patch *p)
{
    for (size_t i = 0; i < p->vertices.count; i++)
        *at(p, i, PRODUCT) = 0.0;
    for (size_t t = 0; t < p->tets.count; t++) {
        const uint32_t *v = &p->corners.data[4 * t];
        double x[4], sum = 0.0;
        for (int i = 0; i < 4; i++)
            sum += x[i] = *at(p, v[i], DIRECTION);
        for (int i = 0; i < 4; i++)
            *at(p, v[i], PRODUCT) += p->mass.data[t] * 0.05 * (sum + x[i]);
    }
    for (size_t i = 0; i < p->vertices.count; i++)
        if (p->held.data[i])
            *at(p, i, PRODUCT) = 0.0;
}

static double residual_sum(const patch *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->expanded; i++)
        sum += fabs(*at(p, i, RIGHT));
    return sum;
}

static double preconditioned(const patch *p, size_t i)
{
    return p->diagonal.data[i] > 0.0 ? *at(p, i, RIGHT) / p->diagonal.data[i] : 0.0;
}

/* From RIGHT and CHANGE = 0 to CHANGE = M^-1 RIGHT; RIGHT becomes what is left. */
static kiln_status solve(patch *p, double enough, uint32_t *iterations, kiln_error *error)
{
    double rz = 0.0;
    KILN_TRY(expand(p, error));
    for (size_t i = 0; i < p->vertices.count; i++) {
        *at(p, i, DIRECTION) = i < p->expanded ? preconditioned(p, i) : 0.0;
        rz += *at(p, i, RIGHT) * *at(p, i, DIRECTION);
    }
    for (*iterations = 0; *iterations < MOST_ITERATIONS && residual_sum(p) > enough;
         ++*iterations) {
        multiply(p);
        double curvature = 0.0;
        for (size_t i = 0; i < p->expanded; i++)
            curvature += *at(p, i, DIRECTION) * *at(p, i, PRODUCT);
        if (!(curvature > 0.0))
            break;
        double step = rz / curvature, next = 0.0;
        for (size_t i = 0; i < p->vertices.count; i++) {
            *at(p, i, CHANGE) += step * *at(p, i, DIRECTION);
            *at(p, i, RIGHT) -= step * *at(p, i, PRODUCT);
        }
        KILN_TRY(expand(p, error)); /* diagonals of all that RIGHT has reached */
        for (size_t i = 0; i < p->expanded; i++)
            next += *at(p, i, RIGHT) * preconditioned(p, i);
        for (size_t i = 0; i < p->expanded; i++)
            *at(p, i, DIRECTION) = preconditioned(p, i) + next / rz * *at(p, i, DIRECTION);
        rz = next;
    }
    return KILN_OK;
}

/* Integral of phi_a times the linear function d0 + h.y over a body with these moments, where phi_a
 * = a0 + g.y. */
static double integrate(const kiln_moments *m, double a0, kiln_vec3 g, double d0, kiln_vec3 h)
{
    kiln_sym3 second = {m->second[0], m->second[1], m->second[2],
                        m->second[3], m->second[4], m->second[5]};
    return a0 * d0 * m->volume +
           kiln_v3_dot(kiln_v3_add(kiln_v3_scale(h, a0), kiln_v3_scale(g, d0)), m->first) +
           kiln_v3_dot(g, kiln_sym3_apply(second, h));
}

static void old_values(const kiln_transfer_job *job, const kiln_transfer_field *field,
                       const kiln_transfer_tet *source, uint32_t c, double value[4])
{
    const uint32_t *v = kiln_begin_tet(&job->view, source->tet)->v;
    for (int i = 0; i < 4; i++)
        memcpy(&value[i], (const char *)kiln_begin_row(&field->from, v[i]) + 8 * c, 8);
}

/* RIGHT for one component; returns the size of the field on the changed tets. */
static double set_right(patch *p, const kiln_transfer_field *field, uint32_t c)
{
    const kiln_transfer_job *job = p->job;
    double size = 0.0;
    for (size_t t = 0; t < job->targets.count; t++) {
        const kiln_transfer_tet *target = &job->targets.data[t];
        const uint32_t *v = job->to->tet[target->tet].v;
        double mass = kiln_transfer_target_mass(job, target->tet), now[4], largest = 0.0;
        double overlapped = 0.0;
        kiln_vec3 g[4];
        for (int i = 0; i < 4; i++) {
            double hat[4] = {i == 0, i == 1, i == 2, i == 3};
            g[i] = kiln_transfer_gradient(target->corner, hat);
            now[i] = ((const double *)kiln_transfer_row(field, v[i]))[c];
            largest = fmax(largest, fabs(now[i]));
        }
        size += mass * largest;
        kiln_vec3 slope = kiln_transfer_gradient(target->corner, now);
        for (uint32_t k = job->first.data[t]; k < job->first.data[t + 1]; k++)
            overlapped += job->moments.data[k].volume;
        /* Where sources lie over each other each counts its part. */
        double density = mass / fmax(target->volume, overlapped);
        for (uint32_t k = job->first.data[t]; k < job->first.data[t + 1]; k++) {
            const kiln_transfer_tet *source = &job->sources.data[job->overlaps.data[k].source];
            double old[4];
            old_values(job, field, source, c, old);
            kiln_vec3 old_slope = kiln_transfer_gradient(source->corner, old);
            kiln_vec3 shift = kiln_v3_sub(target->corner[0], source->corner[0]);
            double d0 = old[0] + kiln_v3_dot(old_slope, shift) - now[0];
            kiln_vec3 h = kiln_v3_sub(old_slope, slope);
            for (int i = 0; i < 4; i++) {
                uint32_t index = kiln_idset_at(&p->vertex_number, v[i])->value;
                *at(p, index, RIGHT) +=
                    density * integrate(&job->moments.data[k], i == 0, g[i], d0, h);
            }
        }
    }
    return size;
}

static kiln_status solve_component(patch *p, const kiln_transfer_field *field, uint32_t c,
                                   kiln_error *error)
{
    uint32_t iterations, components = field->to->components;
    memset(p->work.data, 0, p->work.count * sizeof(double));
    double size = set_right(p, field, c);
    for (size_t i = 0; i < p->vertices.count; i++)
        if (p->held.data[i])
            *at(p, i, RIGHT) = 0.0;
    KILN_TRY(solve(p, RESIDUAL * size, &iterations, error));
    if (iterations > p->job->report->project_iterations)
        p->job->report->project_iterations = iterations;
    size_t wanted = p->vertices.count * components;
    KILN_TRY(kiln_array_reserve(p->context, &p->result, wanted, error));
    for (; p->result.count < wanted; p->result.count++)
        p->result.data[p->result.count] = 0.0;
    for (size_t i = 0; i < p->vertices.count; i++)
        p->result.data[i * components + c] = *at(p, i, CHANGE);
    return KILN_OK;
}

static kiln_vec3 position(const patch *p, const kiln_transfer_field *field, uint32_t index,
                          bool changed)
{
    const double *value = (const double *)kiln_transfer_row(field, p->vertices.data[index]);
    const double *d = &p->result.data[3 * (size_t)index];
    return changed ? kiln_v3(value[0] + d[0], value[1] + d[1], value[2] + d[2])
                   : kiln_v3(value[0], value[1], value[2]);
}

/* Holds the corners of tets that the change would invert; returns how many were free. */
static size_t hold_inverted(patch *p, const kiln_transfer_field *field)
{
    size_t more = 0;
    for (size_t t = 0; t < p->tets.count; t++) {
        const uint32_t *v = &p->corners.data[4 * t];
        kiln_vec3 before[4], after[4];
        for (int i = 0; i < 4; i++) {
            before[i] = position(p, field, v[i], false);
            after[i] = position(p, field, v[i], true);
        }
        if (kiln_orient3d_sign(before[0], before[1], before[2], before[3]) <= 0 ||
            kiln_orient3d_sign(after[0], after[1], after[2], after[3]) > 0)
            continue;
        for (int i = 0; i < 4; i++) {
            more += !p->held.data[v[i]];
            p->held.data[v[i]] = 1;
        }
    }
    return more;
}

static kiln_status write_result(patch *p, const kiln_transfer_field *field, kiln_error *error)
{
    kiln_mesh *mesh = p->job->to;
    uint32_t components = field->to->components;
    KILN_TRY(kiln_journal_reserve(mesh, p->vertices.count, 0, 0, 0, error));
    for (size_t i = 0; i < p->vertices.count; i++) {
        double *value = (double *)kiln_transfer_row(field, p->vertices.data[i]);
        bool changes = false;
        for (uint32_t c = 0; c < components; c++)
            changes |= value[c] + p->result.data[i * components + c] != value[c];
        if (!changes)
            continue;
        kiln_journal_row(mesh, KILN_ON_VERTEX, p->vertices.data[i]);
        for (uint32_t c = 0; c < components; c++)
            value[c] += p->result.data[i * components + c];
    }
    return KILN_OK;
}

static kiln_status project_field(patch *p, const kiln_transfer_field *field, kiln_error *error)
{
    const char *positions = p->job->options.positions;
    bool safe = positions && field->to->components == 3 && strcmp(field->to->name, positions) == 0;
    memset(p->held.data, 0, p->held.count * sizeof(uint32_t));
    do {
        p->result.count = 0;
        for (uint32_t c = 0; c < field->to->components; c++)
            KILN_TRY(solve_component(p, field, c, error));
    } while (safe && hold_inverted(p, field) > 0);
    for (size_t i = 0; i < p->vertices.count; i++)
        p->job->report->held += p->held.data[i];
    return write_result(p, field, error);
}

static kiln_status project_fields(kiln_transfer_job *job, patch *p, kiln_error *error)
{
    KILN_TRY(kiln_idset_clear(job->context, &p->vertex_number, 256, error));
    KILN_TRY(kiln_idset_clear(job->context, &p->tet_number, 256, error));
    for (size_t t = 0; t < job->targets.count; t++)
        KILN_TRY(add_tet(p, job->targets.data[t].tet, error));
    for (size_t f = 0; f < job->fields[KILN_ON_VERTEX].count; f++) {
        const kiln_field *to = job->fields[KILN_ON_VERTEX].data[f].to;
        if (to->rule != KILN_RULE_PROJECT || to->type != KILN_F64)
            continue;
        KILN_TRY(project_field(p, &job->fields[KILN_ON_VERTEX].data[f], error));
        kiln_transfer_refresh(job);
    }
    return KILN_OK;
}

kiln_status kiln_transfer_project(kiln_transfer_job *job, kiln_error *error)
{
    if (job->targets.count == 0)
        return KILN_OK;
    patch p = {.job = job, .context = job->context};
    kiln_walker_init(&p.walker, job->context);
    kiln_status status = project_fields(job, &p, error);
    kiln_walker_free(&p.walker);
    kiln_array_free(p.context, &p.vertex_number.slots);
    kiln_array_free(p.context, &p.tet_number.slots);
    kiln_array_free(p.context, &p.vertices);
    kiln_array_free(p.context, &p.tets);
    kiln_array_free(p.context, &p.corners);
    kiln_array_free(p.context, &p.mass);
    kiln_array_free(p.context, &p.diagonal);
    kiln_array_free(p.context, &p.work);
    kiln_array_free(p.context, &p.result);
    kiln_array_free(p.context, &p.held);
    return status;
}

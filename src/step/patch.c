#include "step/patch.h"

#include "fem/offset.h"

#include <math.h>
#include <string.h>

enum { MOST_HALVINGS = 16 };
#define ARMIJO 1e-4

void kiln_patch_init(kiln_patch *patch, kiln_context *context)
{
    *patch = (kiln_patch){.context = context};
    kiln_walker_init(&patch->walker, context);
}

void kiln_patch_free(kiln_patch *patch)
{
    kiln_context *context = patch->context;
    kiln_walker_free(&patch->walker);
    kiln_array_free(context, &patch->row_of.slots);
    kiln_array_free(context, &patch->seen.slots);
    kiln_array_free(context, &patch->vertex);
    kiln_array_free(context, &patch->tets);
    kiln_array_free(context, &patch->x);
    kiln_array_free(context, &patch->centre);
    kiln_array_free(context, &patch->force);
    kiln_array_free(context, &patch->held);
    kiln_array_free(context, &patch->tried);
    kiln_array_free(context, &patch->value);
    kiln_array_free(context, &patch->g);
    kiln_array_free(context, &patch->step);
    kiln_array_free(context, &patch->H);
}

/* The objective. */

static void *column(const kiln_mesh *mesh, kiln_where where, const char *name)
{
    const kiln_field *field = kiln_mesh_field(mesh, where, name);
    return field ? (void *)field->data : NULL;
}

void kiln_objective_look(kiln_local_objective *objective)
{
    static const char *const names[KILN_HISTORY_COUNT] = {NULL, "v", "a", "x_before", "v_before"};
    kiln_local_objective *o = objective;
    const kiln_mesh *mesh = o->mesh;
    o->end = column(mesh, KILN_ON_VERTEX, KILN_FIELD_END);
    o->held = column(mesh, KILN_ON_VERTEX, KILN_FIELD_HELD);
    o->points = column(mesh, KILN_ON_VERTEX, KILN_FIELD_POINTS);
    o->traction = column(mesh, KILN_ON_FACE, KILN_FIELD_TRACTION);
    o->material = column(mesh, KILN_ON_TET, "material");
    o->mass = column(mesh, KILN_ON_TET, "mass");
    o->lame = column(mesh, KILN_ON_TET, "lame");
    o->offset = kiln_offsets_of(mesh).shape;
    o->rest_volume = kiln_offsets_of(mesh).rest_volume;
    o->history[KILN_HISTORY_X] = mesh->x;
    for (int k = 1; k < KILN_HISTORY_COUNT; k++)
        o->history[k] = column(mesh, KILN_ON_VERTEX, names[k]);
}

kiln_vec3 kiln_objective_centre(const kiln_local_objective *objective, uint32_t vertex)
{
    const double *weight = objective->scheme.centre;
    kiln_vec3 sum = kiln_v3_scale(objective->history[KILN_HISTORY_X][vertex], weight[0]);
    for (int k = 1; k < KILN_HISTORY_COUNT; k++)
        if (weight[k] != 0.0)
            sum = kiln_v3_madd(sum, weight[k], objective->history[k][vertex]);
    return sum;
}

/* Gradients of the shape functions at rest, where `rest` of its volume is at rest. */
static bool form(const kiln_local_objective *o, const kiln_vec3 u[4], uint32_t of, double rest,
                 kiln_patch_tet *out)
{
    kiln_mat3 B = kiln_m3_inverse(
        kiln_m3_columns(kiln_v3_sub(u[1], u[0]), kiln_v3_sub(u[2], u[0]), kiln_v3_sub(u[3], u[0])));
    double volume = kiln_tet_volume(u[0], u[1], u[2], u[3]);
    out->material = &o->materials[o->material[of]];
    out->mu = o->lame ? o->lame[of][0] : out->material->mu;
    out->lambda = o->lame ? o->lame[of][1] : out->material->lambda;
    out->volume = o->offset ? rest : volume;
    if (o->offset && (rest != volume || !kiln_offset_is_identity(&o->offset[of])))
        B = kiln_m3_mul(B, kiln_offset_map(&o->offset[of], volume, rest));
    out->gradient[0] = kiln_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        out->gradient[k + 1] = kiln_v3(B.m[k][0], B.m[k][1], B.m[k][2]);
        out->gradient[0] = kiln_v3_sub(out->gradient[0], out->gradient[k + 1]);
    }
    return volume > 0.0 && out->volume > 0.0 && isfinite(kiln_m3_norm2(B));
}

bool kiln_patch_form(const kiln_local_objective *objective, uint32_t tet, kiln_patch_tet *out)
{
    const kiln_local_objective *o = objective;
    const uint32_t *v = o->mesh->tet[tet].v;
    const kiln_vec3 u[4] = {o->mesh->u[v[0]], o->mesh->u[v[1]], o->mesh->u[v[2]], o->mesh->u[v[3]]};
    bool formed = form(o, u, tet, o->rest_volume ? o->rest_volume[tet] : 0.0, out);
    out->mass =
        o->mass ? o->mass[tet] : kiln_mesh_tet_volume(o->mesh, tet) * out->material->density;
    return formed;
}

bool kiln_patch_form_new(const kiln_local_objective *objective, const kiln_vec3 u[4],
                         uint32_t parent, kiln_patch_tet *out)
{
    const kiln_local_objective *o = objective;
    double part = kiln_tet_volume(u[0], u[1], u[2], u[3]) / kiln_mesh_tet_volume(o->mesh, parent);
    bool formed = form(o, u, parent, o->rest_volume ? part * o->rest_volume[parent] : 0.0, out);
    out->mass = o->mass ? part * o->mass[parent]
                        : part * kiln_mesh_tet_volume(o->mesh, parent) * out->material->density;
    return formed;
}

kiln_mat3 kiln_patch_tet_deformation(const kiln_patch_tet *tet, const kiln_vec3 x[4])
{
    kiln_mat3 F = {{{0}}};
    for (int a = 1; a < 4; a++) {
        kiln_vec3 d = kiln_v3_sub(x[a], x[0]), n = tet->gradient[a];
        const double row[3] = {d.x, d.y, d.z}, col[3] = {n.x, n.y, n.z};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                F.m[i][j] += row[i] * col[j];
    }
    return F;
}

/* Of the consistent mass: m / 40 (sum of squares + square of the sum), over the scale. */
static double inertia(const kiln_local_objective *o, const kiln_patch_tet *tet,
                      const kiln_vec3 x[4], const kiln_vec3 centre[4])
{
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    double squares = 0.0;
    for (int a = 0; a < 4; a++) {
        kiln_vec3 r = kiln_v3_sub(x[a], centre[a]);
        squares += kiln_v3_norm2(r);
        sum = kiln_v3_add(sum, r);
    }
    return tet->mass / (40.0 * o->scheme.scale) * (squares + kiln_v3_norm2(sum));
}

double kiln_patch_tet_value(const kiln_local_objective *objective, const kiln_patch_tet *tet,
                            const kiln_vec3 x[4], const kiln_vec3 centre[4])
{
    const kiln_local_objective *o = objective;
    kiln_mat3 F = kiln_patch_tet_deformation(tet, x);
    if (o->mesh->world_policy == KILN_WORLD_REJECT && !(kiln_m3_det(F) > 0.0))
        return INFINITY;
    double value = tet->volume * tet->material->model->energy(tet->mu, tet->lambda, &F);
    for (int a = 0; a < 4; a++)
        value -= 0.25 * tet->mass * kiln_v3_dot(o->acceleration, x[a]);
    return o->scheme.scale > 0.0 ? value + inertia(o, tet, x, centre) : value;
}

static void add_inertia_slopes(const kiln_local_objective *o, const kiln_patch_tet *tet,
                               const kiln_vec3 x[4], const kiln_vec3 centre[4], kiln_vec3 g[4])
{
    kiln_vec3 r[4], sum = kiln_v3(0, 0, 0);
    double weight = tet->mass / (20.0 * o->scheme.scale);
    for (int a = 0; a < 4; a++) {
        r[a] = kiln_v3_sub(x[a], centre[a]);
        sum = kiln_v3_add(sum, r[a]);
    }
    for (int a = 0; a < 4; a++)
        g[a] = kiln_v3_madd(g[a], weight, kiln_v3_add(r[a], sum));
}

static void gradient(const kiln_local_objective *o, const kiln_patch_tet *tet, const kiln_mat3 *F,
                     const kiln_vec3 x[4], const kiln_vec3 centre[4], kiln_vec3 g[4])
{
    kiln_mat3 P;
    kiln_material_stress(tet->material->model, tet->mu, tet->lambda, F, &P);
    for (int a = 0; a < 4; a++) {
        g[a] = kiln_v3_scale(kiln_m3_apply(P, tet->gradient[a]), tet->volume);
        g[a] = kiln_v3_madd(g[a], -0.25 * tet->mass, o->acceleration);
    }
    if (o->scheme.scale > 0.0)
        add_inertia_slopes(o, tet, x, centre, g);
}

/* Block (a, b) of the elastic Hessian: V N_a . H . N_b. */
static void elastic_block(const kiln_patch_tet *tet, double H[9][9], int a, int b, double out[3][3])
{
    const kiln_vec3 p = tet->gradient[a], q = tet->gradient[b];
    const double na[3] = {p.x, p.y, p.z}, nb[3] = {q.x, q.y, q.z};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double sum = 0.0;
            for (int j = 0; j < 3; j++)
                for (int l = 0; l < 3; l++)
                    sum += na[j] * H[3 * i + j][3 * k + l] * nb[l];
            out[i][k] = tet->volume * sum;
        }
}

static double inertia_weight(const kiln_local_objective *o, const kiln_patch_tet *tet)
{
    return o->scheme.scale > 0.0 ? tet->mass / (20.0 * o->scheme.scale) : 0.0;
}

void kiln_patch_tet_slopes(const kiln_patch_tet *tet, const kiln_vec3 x[4], kiln_vec3 g[4],
                           kiln_mat3 H[4])
{
    double full[9][9];
    kiln_mat3 F = kiln_patch_tet_deformation(tet, x), P;
    kiln_material_stress(tet->material->model, tet->mu, tet->lambda, &F, &P);
    kiln_material_hessian(tet->material->model, tet->mu, tet->lambda, 0.0, &F, true, full);
    for (int a = 0; a < 4; a++) {
        g[a] = kiln_v3_scale(kiln_m3_apply(P, tet->gradient[a]), tet->volume);
        elastic_block(tet, full, a, a, H[a].m);
    }
}

kiln_vec3 kiln_objective_pull(const kiln_local_objective *objective, uint32_t tet, int face)
{
    const kiln_tet *of = &objective->mesh->tet[tet];
    if (!objective->traction || !kiln_link_is_surface(of->n[face]))
        return kiln_v3(0, 0, 0);
    const kiln_vec3 *u = objective->mesh->u;
    const uint8_t *c = kiln_face_corner[face];
    kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(u[of->v[c[1]]], u[of->v[c[0]]]),
                                kiln_v3_sub(u[of->v[c[2]]], u[of->v[c[0]]]));
    return kiln_v3_scale(objective->traction[of->n[face] - KILN_LINK_SURFACE],
                         0.5 * kiln_v3_norm(n));
}

static double pulled(const kiln_local_objective *o, uint32_t t, const kiln_vec3 x[4])
{
    double sum = 0.0;
    for (int f = 0; f < 4 && o->traction; f++)
        for (int k = 0; k < 3; k++)
            sum += kiln_v3_dot(kiln_objective_pull(o, t, f), x[kiln_face_corner[f][k]]);
    return sum / 3.0;
}

double kiln_patch_sum(const kiln_local_objective *objective, const uint32_t *tets, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        kiln_patch_tet tet;
        kiln_vec3 x[4], centre[4];
        const uint32_t *v = objective->mesh->tet[tets[i]].v;
        if (!kiln_patch_form(objective, tets[i], &tet))
            return INFINITY;
        for (int a = 0; a < 4; a++) {
            x[a] = objective->end[v[a]];
            centre[a] =
                objective->scheme.scale > 0.0 ? kiln_objective_centre(objective, v[a]) : x[a];
        }
        sum += kiln_patch_tet_value(objective, &tet, x, centre) - pulled(objective, tets[i], x);
    }
    return sum;
}

/* Gathering. */

static kiln_status add_row(kiln_patch *p, const kiln_local_objective *o, uint32_t vertex,
                           uint32_t *row, kiln_error *error)
{
    if (2 * (p->row_of.members + 1) > p->row_of.slots.count)
        KILN_TRY(kiln_idset_grow(p->context, &p->row_of, error));
    kiln_idset_slot *slot = kiln_idset_at(&p->row_of, vertex);
    if (slot->epoch == p->row_of.epoch) {
        *row = slot->value;
        return KILN_OK;
    }
    *row = (uint32_t)p->vertex.count;
    kiln_idset_add(&p->row_of, slot, vertex, *row);
    kiln_vec3 x = o->end[vertex];
    kiln_vec3 centre = o->scheme.scale > 0.0 ? kiln_objective_centre(o, vertex) : x;
    KILN_TRY(kiln_array_push(p->context, &p->x, x, error));
    KILN_TRY(kiln_array_push(p->context, &p->centre, centre, error));
    kiln_vec3 force = o->points ? o->points[vertex] : kiln_v3(0, 0, 0);
    KILN_TRY(kiln_array_push(p->context, &p->force, force, error));
    KILN_TRY(
        kiln_array_push(p->context, &p->held, (uint8_t)(o->held ? o->held[vertex] : 0), error));
    return kiln_array_push(p->context, &p->vertex, vertex, error);
}

/* Loads on its faces: a third to each corner. */
static void add_pulls(kiln_patch *p, const kiln_local_objective *o, uint32_t t,
                      const uint32_t row[4])
{
    for (int f = 0; f < 4 && o->traction; f++) {
        kiln_vec3 pull = kiln_v3_scale(kiln_objective_pull(o, t, f), 1.0 / 3.0);
        for (int k = 0; k < 3; k++) {
            kiln_vec3 *force = &p->force.data[row[kiln_face_corner[f][k]]];
            *force = kiln_v3_add(*force, pull);
        }
    }
}

static kiln_status add_tet(kiln_patch *p, const kiln_local_objective *o, uint32_t t,
                           kiln_error *error)
{
    kiln_patch_tet tet;
    kiln_vec3 x[4], centre[4];
    if (2 * (p->seen.members + 1) > p->seen.slots.count)
        KILN_TRY(kiln_idset_grow(p->context, &p->seen, error));
    kiln_idset_slot *slot = kiln_idset_at(&p->seen, t);
    if (slot->epoch == p->seen.epoch)
        return KILN_OK;
    kiln_idset_add(&p->seen, slot, t, 0);
    if (!kiln_patch_form(o, t, &tet))
        return KILN_OK;
    for (int a = 0; a < 4; a++)
        KILN_TRY(add_row(p, o, o->mesh->tet[t].v[a], &tet.row[a], error));
    for (int a = 0; a < 4; a++) {
        x[a] = p->x.data[tet.row[a]];
        centre[a] = p->centre.data[tet.row[a]];
    }
    add_pulls(p, o, t, tet.row);
    tet.value = kiln_patch_tet_value(o, &tet, x, centre);
    return kiln_array_push(p->context, &p->tets, tet, error);
}

kiln_status kiln_patch_gather(kiln_patch *patch, const kiln_local_objective *objective,
                              const uint32_t *vertices, size_t count, kiln_error *error)
{
    kiln_patch *p = patch;
    p->vertex.count = p->tets.count = p->x.count = p->centre.count = p->force.count = 0;
    p->held.count = 0;
    KILN_TRY(kiln_idset_clear(p->context, &p->row_of, 4 * count, error));
    KILN_TRY(kiln_idset_clear(p->context, &p->seen, 16 * count, error));
    for (size_t i = 0; i < count; i++) {
        uint32_t row;
        KILN_TRY(add_row(p, objective, vertices[i], &row, error));
    }
    p->free = p->vertex.count;
    for (size_t i = 0; i < p->free; i++) {
        KILN_TRY(kiln_star(objective->mesh, p->vertex.data[i], &p->walker, error));
        for (size_t k = 0; k < p->walker.tets.count; k++)
            KILN_TRY(add_tet(p, objective, p->walker.tets.data[k], error));
    }
    size_t n = 3 * p->free;
    KILN_TRY(kiln_array_reserve(p->context, &p->tried, p->vertex.count, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->value, p->tets.count, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->g, n, error));
    KILN_TRY(kiln_array_reserve(p->context, &p->step, n, error));
    return kiln_array_reserve(p->context, &p->H, n * n, error);
}

/* Newton. */

static void add_blocks(kiln_patch *p, const kiln_local_objective *o, const kiln_patch_tet *tet,
                       const kiln_mat3 *F)
{
    double H[9][9], weight = inertia_weight(o, tet);
    size_t n = 3 * p->free;
    kiln_material_hessian(tet->material->model, tet->mu, tet->lambda, 0.0, F, true, H);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            double block[3][3];
            size_t r = tet->row[a], c = tet->row[b];
            if (r >= p->free || c > r) /* the lower triangle */
                continue;
            elastic_block(tet, H, a, b, block);
            for (int i = 0; i < 3; i++) {
                block[i][i] += weight * (a == b ? 2.0 : 1.0);
                for (int k = 0; k < 3; k++)
                    p->H.data[(3 * r + i) * n + 3 * c + k] += block[i][k];
            }
        }
}

static void assemble(kiln_patch *p, const kiln_local_objective *o)
{
    size_t n = 3 * p->free;
    memset(p->g.data, 0, n * sizeof(double));
    memset(p->H.data, 0, n * n * sizeof(double));
    for (size_t i = 0; i < p->tets.count; i++) {
        const kiln_patch_tet *tet = &p->tets.data[i];
        kiln_vec3 x[4], centre[4], g[4];
        for (int a = 0; a < 4; a++) {
            x[a] = p->x.data[tet->row[a]];
            centre[a] = p->centre.data[tet->row[a]];
        }
        kiln_mat3 F = kiln_patch_tet_deformation(tet, x);
        gradient(o, tet, &F, x, centre, g);
        for (int a = 0; a < 4; a++)
            if (tet->row[a] < p->free) {
                double *at = p->g.data + 3 * tet->row[a];
                at[0] += g[a].x, at[1] += g[a].y, at[2] += g[a].z;
            }
        add_blocks(p, o, tet, &F);
    }
    for (size_t r = 0; r < p->free; r++) {
        double *at = p->g.data + 3 * r;
        kiln_vec3 f = p->force.data[r];
        at[0] -= f.x, at[1] -= f.y, at[2] -= f.z;
    }
}

/* Rows and columns of what is held become those of the unit matrix. */
static void hold(kiln_patch *p)
{
    size_t n = 3 * p->free;
    for (size_t i = 0; i < n; i++) {
        if (!(p->held.data[i / 3] >> (i % 3) & 1))
            continue;
        p->g.data[i] = 0.0;
        for (size_t k = 0; k < i; k++)
            p->H.data[i * n + k] = 0.0;
        for (size_t k = i + 1; k < n; k++)
            p->H.data[k * n + i] = 0.0;
        p->H.data[i * n + i] = 1.0;
    }
}

/* In place, lower triangle; false: not positive definite. */
static bool factor(double *H, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double *row = H + i * n;
        for (size_t k = 0; k <= i; k++) {
            const double *other = H + k * n;
            double sum = row[k];
            for (size_t j = 0; j < k; j++)
                sum -= row[j] * other[j];
            if (k < i)
                row[k] = sum / other[k];
            else if (sum > 0.0 && isfinite(sum))
                row[i] = sqrt(sum);
            else
                return false;
        }
    }
    return true;
}

static void solve(const double *L, size_t n, const double *g, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double sum = -g[i];
        for (size_t k = 0; k < i; k++)
            sum -= L[i * n + k] * out[k];
        out[i] = sum / L[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        out[i] /= L[i * n + i];
        for (size_t k = 0; k < i; k++)
            out[k] -= L[i * n + k] * out[i];
    }
}

/* At x + part * step: by how much the objective changes. */
static double try_step(kiln_patch *p, const kiln_local_objective *o, double part)
{
    double change = 0.0;
    memcpy(p->tried.data, p->x.data, p->vertex.count * sizeof *p->x.data);
    for (size_t r = 0; r < p->free; r++) {
        const double *d = p->step.data + 3 * r;
        kiln_vec3 by = kiln_v3_scale(kiln_v3(d[0], d[1], d[2]), part);
        p->tried.data[r] = kiln_v3_add(p->x.data[r], by);
        change -= kiln_v3_dot(p->force.data[r], kiln_v3_sub(p->tried.data[r], p->x.data[r]));
    }
    for (size_t i = 0; i < p->tets.count; i++) {
        const kiln_patch_tet *tet = &p->tets.data[i];
        kiln_vec3 x[4], centre[4];
        for (int a = 0; a < 4; a++) {
            x[a] = p->tried.data[tet->row[a]];
            centre[a] = p->centre.data[tet->row[a]];
        }
        p->value.data[i] = kiln_patch_tet_value(o, tet, x, centre);
        change += p->value.data[i] - tet->value;
    }
    return change;
}

static void take_step(kiln_patch *p)
{
    memcpy(p->x.data, p->tried.data, p->free * sizeof *p->x.data);
    for (size_t i = 0; i < p->tets.count; i++)
        p->tets.data[i].value = p->value.data[i];
}

/* One iteration: its change of the objective, 0: none is found; the length of the full step. */
static double iterate(kiln_patch *p, const kiln_local_objective *o, double *length)
{
    size_t n = 3 * p->free;
    double slope = 0.0, part = 1.0;
    *length = 0.0;
    assemble(p, o);
    hold(p);
    if (!factor(p->H.data, n))
        return 0.0;
    solve(p->H.data, n, p->g.data, p->step.data);
    for (size_t i = 0; i < n; i++) {
        slope += p->g.data[i] * p->step.data[i];
        *length = fmax(*length, fabs(p->step.data[i]));
    }
    for (int halvings = 0; halvings < MOST_HALVINGS; halvings++, part *= 0.5) {
        double change = try_step(p, o, part);
        if (change <= ARMIJO * part * slope) {
            take_step(p);
            return change;
        }
    }
    return 0.0;
}

double kiln_patch_relax(kiln_patch *patch, const kiln_local_objective *objective, int iterations,
                        double tolerance)
{
    double sum = 0.0;
    for (int i = 0; i < iterations; i++) {
        double length, change = iterate(patch, objective, &length);
        sum += change;
        if (change == 0.0 || length <= tolerance)
            break;
    }
    return -sum;
}

kiln_verdict kiln_patch_store(const kiln_patch *patch, kiln_mesh *mesh, kiln_txn *txn)
{
    const kiln_field *end = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_END);
    for (size_t r = 0; r < patch->free; r++) {
        kiln_verdict verdict =
            kiln_txn_write(txn, KILN_ON_VERTEX, end, patch->vertex.data[r], &patch->x.data[r]);
        if (verdict != KILN_ACCEPTED)
            return verdict;
    }
    return KILN_ACCEPTED;
}

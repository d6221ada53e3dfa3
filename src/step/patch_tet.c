/* The objective's columns, and single tets of it: their shape, their matter, their sums. */
#include "fem/offset.h"
#include "fem/yield_surfaces.h"
#include "step/nodes.h"
#include "step/patch_impl.h"

#include <math.h>
#include <string.h>

enum { LANES = KILN_ELEMENT_LANES };
/* Rest volumes and loads are shared out by overlaps, which are right to rounding. */
#define SAME_PART 1e-10

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
    o->axis = column(mesh, KILN_ON_VERTEX, KILN_FIELD_AXIS);
    o->points = column(mesh, KILN_ON_VERTEX, KILN_FIELD_POINTS);
    o->bulk = column(mesh, KILN_ON_TET, KILN_FIELD_BULK);
    o->traction = column(mesh, KILN_ON_FACE, KILN_FIELD_TRACTION);
    o->pressure = column(mesh, KILN_ON_FACE, KILN_FIELD_PRESSURE);
    o->material = column(mesh, KILN_ON_TET, "material");
    o->density = column(mesh, KILN_ON_TET, KILN_FIELD_EVENLY);
    o->lame = column(mesh, KILN_ON_TET, KILN_FIELD_STIFFNESS);
    o->viscosity = column(mesh, KILN_ON_TET, KILN_FIELD_VISCOSITY);
    o->steady = o->brief.steady ? column(mesh, KILN_ON_TET, KILN_FIELD_STEADY) : NULL;
    o->offset = kiln_offsets_of(mesh).shape;
    o->rest = column(mesh, KILN_ON_TET, KILN_FIELD_REST);
    o->yield = column(mesh, KILN_ON_TET, KILN_FIELD_YIELD);
    o->hardening = column(mesh, KILN_ON_TET, KILN_FIELD_HARDENING);
    o->history[KILN_HISTORY_X] = mesh->x;
    for (int k = 1; k < KILN_HISTORY_COUNT; k++)
        o->history[k] = column(mesh, KILN_ON_VERTEX, names[k]);
}

kiln_tie kiln_objective_tie(const kiln_local_objective *objective, uint32_t vertex)
{
    const kiln_local_objective *o = objective;
    kiln_tie tie = {.bits = o->held ? o->held[vertex] : 0};
    if (o->axis)
        tie.axis = o->axis[vertex];
    return tie;
}

static kiln_vec3 combine(const kiln_local_objective *o, const double *weight, uint32_t vertex)
{
    kiln_vec3 sum = kiln_v3_scale(o->history[KILN_HISTORY_X][vertex], weight[0]);
    for (int k = 1; k < KILN_HISTORY_COUNT; k++)
        if (weight[k] != 0.0)
            sum = kiln_v3_madd(sum, weight[k], o->history[k][vertex]);
    return sum;
}

kiln_vec3 kiln_objective_centre(const kiln_local_objective *objective, uint32_t vertex)
{
    return combine(objective, objective->scheme.centre, vertex);
}

kiln_vec3 kiln_objective_origin(const kiln_local_objective *objective, uint32_t vertex)
{
    return objective->scheme.impulses ? objective->history[KILN_HISTORY_X][vertex]
                                      : combine(objective, objective->scheme.origin, vertex);
}

kiln_patch_corner kiln_objective_corner(const kiln_local_objective *objective, uint32_t vertex)
{
    const kiln_local_objective *o = objective;
    const kiln_vec3 *const *history = o->history;
    kiln_patch_corner corner = {.x = o->end[vertex]};
    corner.centre = o->scheme.scale > 0.0 ? kiln_objective_centre(o, vertex) : corner.x;
    if (!o->brief.any)
        return corner;
    corner.origin = kiln_objective_origin(o, vertex);
    corner.begin = history[KILN_HISTORY_X][vertex];
    if (history[KILN_HISTORY_X_BEFORE])
        corner.before = history[KILN_HISTORY_X_BEFORE][vertex];
    if (history[KILN_HISTORY_V])
        corner.rate = history[KILN_HISTORY_V][vertex];
    return corner;
}

kiln_patch_corner kiln_patch_corner_mean(const kiln_patch_corner *of, const double *weight,
                                         int count)
{
    kiln_patch_corner mean = {0};
    for (int i = 0; i < count; i++) {
        mean.x = kiln_v3_madd(mean.x, weight[i], of[i].x);
        mean.centre = kiln_v3_madd(mean.centre, weight[i], of[i].centre);
        mean.origin = kiln_v3_madd(mean.origin, weight[i], of[i].origin);
        mean.begin = kiln_v3_madd(mean.begin, weight[i], of[i].begin);
        mean.before = kiln_v3_madd(mean.before, weight[i], of[i].before);
        mean.rate = kiln_v3_madd(mean.rate, weight[i], of[i].rate);
    }
    return mean;
}

bool kiln_patch_form_corners(const kiln_local_objective *objective, const kiln_vec3 u[4],
                             uint32_t of, kiln_patch_tet *out)
{
    const kiln_local_objective *o = objective;
    kiln_mat3 B = kiln_m3_inverse(
        kiln_m3_columns(kiln_v3_sub(u[1], u[0]), kiln_v3_sub(u[2], u[0]), kiln_v3_sub(u[3], u[0])));
    double volume = fabs(kiln_tet_volume(u[0], u[1], u[2], u[3])); /* corners in any order */
    out->material = &o->materials[o->material[of]];
    out->mu = o->lame ? o->lame[of][0] : out->material->mu;
    out->lambda = o->lame ? o->lame[of][1] : out->material->lambda;
    out->viscosity = o->viscosity ? o->viscosity[of] : out->material->viscosity;
    out->steady = o->steady ? o->steady[of] : 0.0;
    out->yield[0] = o->yield ? o->yield[of][0] : KILN_NEVER_YIELDS;
    out->yield[1] = o->yield ? o->yield[of][1] : 0.0;
    out->mass = volume * (o->density ? o->density[of] : out->material->density);
    out->dead = kiln_v3_scale(o->acceleration, out->mass);
    if (o->bulk)
        out->dead = kiln_v3_madd(out->dead, volume, o->bulk[of]);
    out->volume = o->offset ? volume * o->rest[of] : volume;
    if (o->offset && (out->volume != volume || !kiln_offset_is_identity(&o->offset[of])))
        B = kiln_m3_mul(B, kiln_offset_map(&o->offset[of], volume, out->volume));
    out->gradient[0] = kiln_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        out->gradient[k + 1] = kiln_v3(B.m[k][0], B.m[k][1], B.m[k][2]);
        out->gradient[0] = kiln_v3_sub(out->gradient[0], out->gradient[k + 1]);
    }
    return volume > 0.0 && out->volume > 0.0 && isfinite(kiln_m3_norm2(B));
}

bool kiln_patch_form(const kiln_local_objective *objective, uint32_t tet, kiln_patch_tet *out)
{
    const kiln_mesh *mesh = objective->mesh;
    const uint32_t *v = mesh->tet[tet].v;
    const kiln_vec3 u[4] = {mesh->u[v[0]], mesh->u[v[1]], mesh->u[v[2]], mesh->u[v[3]]};
    return kiln_patch_form_corners(objective, u, tet, out);
}

double kiln_objective_stored(const kiln_local_objective *objective)
{
    const kiln_mesh *mesh = objective->mesh;
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used;) {
        kiln_patch_tet tets[LANES];
        kiln_patch_corner corner[LANES][4];
        double energy[LANES];
        size_t count = 0;
        for (; t < mesh->table[KILN_ON_TET].used && count < LANES; t++) {
            if (!kiln_tet_live(mesh, t) || !kiln_patch_form(objective, t, &tets[count]))
                continue;
            for (int a = 0; a < 4; a++)
                corner[count][a].x = objective->end[mesh->tet[t].v[a]];
            count++;
        }
        kiln_patch_tets_energies(mesh->context, tets, (const kiln_patch_corner(*)[4])corner, count,
                                 energy);
        for (size_t i = 0; i < count; i++)
            sum += energy[i];
    }
    return sum + kiln_objective_nodal(objective);
}

/* What the two have been through. */
static bool is_same(const kiln_local_objective *o, uint32_t a, uint32_t b)
{
    return memcmp(&o->offset[a], &o->offset[b], sizeof *o->offset) == 0 &&
           fabs(o->rest[a] - o->rest[b]) <= SAME_PART * o->rest[a] &&
           (!o->hardening || o->hardening[a] == o->hardening[b]);
}

static bool is_pulled_alike(const kiln_local_objective *o, uint32_t a, uint32_t b)
{
    return kiln_v3_norm(kiln_v3_sub(o->bulk[a], o->bulk[b])) <=
           SAME_PART * kiln_v3_norm(o->bulk[a]);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= SAME_PART * fabs(a);
}

/* Of one material: what a function has made another from tet to tet. */
static bool is_made_alike(const kiln_local_objective *o, uint32_t a, uint32_t b)
{
    return (!o->density || is_near(o->density[a], o->density[b])) &&
           (!o->viscosity || is_near(o->viscosity[a], o->viscosity[b])) &&
           (!o->steady || is_near(o->steady[a], o->steady[b])) &&
           (!o->lame ||
            (is_near(o->lame[a][0], o->lame[b][0]) && is_near(o->lame[a][1], o->lame[b][1])));
}

bool kiln_objective_is_alike(const kiln_local_objective *objective, const uint32_t *tets,
                             size_t count)
{
    const kiln_local_objective *o = objective;
    for (size_t i = 1; i < count; i++) {
        size_t first = 0;
        while (o->material[tets[first]] != o->material[tets[i]])
            first++;
        if ((o->offset && !is_same(o, tets[0], tets[i])) ||
            (o->bulk && !is_pulled_alike(o, tets[0], tets[i])) ||
            !is_made_alike(o, tets[first], tets[i]))
            return false;
    }
    return true;
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

double kiln_objective_drag(const kiln_local_objective *objective, const kiln_material *material)
{
    const kiln_local_objective *o = objective;
    return o->brief.any ? o->brief.weight * material->damping_mass / o->brief.tau : 0.0;
}

/* Of the consistent mass: m / 40 (sum of squares + square of the sum). */
static double square(double mass, const kiln_vec3 r[4])
{
    kiln_vec3 sum = kiln_v3(0, 0, 0);
    double squares = 0.0;
    for (int a = 0; a < 4; a++) {
        squares += kiln_v3_norm2(r[a]);
        sum = kiln_v3_add(sum, r[a]);
    }
    return mass / 40.0 * (squares + kiln_v3_norm2(sum));
}

double kiln_patch_tet_other(const kiln_local_objective *objective, const kiln_patch_tet *tet,
                            const kiln_patch_corner corner[4])
{
    const kiln_local_objective *o = objective;
    double value = 0.0, drag = kiln_objective_drag(o, tet->material);
    kiln_vec3 off[4];
    for (int a = 0; a < 4; a++) {
        value -= 0.25 * kiln_v3_dot(tet->dead, corner[a].x);
        off[a] = kiln_v3_sub(corner[a].x, corner[a].centre);
    }
    if (o->scheme.scale > 0.0)
        value += square(tet->mass, off) / o->scheme.scale;
    for (int a = 0; a < 4 && drag > 0.0; a++)
        off[a] = kiln_v3_sub(corner[a].x, corner[a].origin);
    return drag > 0.0 ? value + drag * square(tet->mass, off) : value;
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

double kiln_objective_pressure(const kiln_local_objective *objective, uint32_t tet, int face)
{
    kiln_link link = objective->mesh->tet[tet].n[face];
    return objective->pressure && kiln_link_is_surface(link)
               ? objective->pressure[link - KILN_LINK_SURFACE]
               : 0.0;
}

/* p V of the cones over its faces. */
static double loaded(const kiln_local_objective *o, uint32_t t, const kiln_patch_corner corner[4])
{
    double sum = 0.0;
    for (int f = 0; f < 4 && o->pressure; f++) {
        double pressure = kiln_objective_pressure(o, t, f);
        kiln_vec3 r[3];
        if (pressure == 0.0)
            continue;
        for (int k = 0; k < 3; k++)
            r[k] = kiln_v3_sub(corner[kiln_face_corner[f][k]].x, o->apex);
        sum += pressure / 6.0 * kiln_v3_dot(r[0], kiln_v3_cross(r[1], r[2]));
    }
    return sum;
}

static double pulled(const kiln_local_objective *o, uint32_t t, const kiln_patch_corner corner[4])
{
    double sum = 0.0;
    for (int f = 0; f < 4 && o->traction; f++)
        for (int k = 0; k < 3; k++)
            sum += kiln_v3_dot(kiln_objective_pull(o, t, f), corner[kiln_face_corner[f][k]].x);
    return sum / 3.0;
}

void kiln_patch_values_inside(const kiln_local_objective *objective, const uint32_t *tets,
                              size_t count, double *value)
{
    const kiln_local_objective *o = objective;
    kiln_patch_tet form_of[LANES];
    kiln_patch_corner corner[LANES][4];
    size_t from[LANES], formed = 0;
    for (size_t i = 0; i < count; i++) {
        value[i] = INFINITY;
        for (int a = 0; a < 4; a++)
            corner[formed][a] = kiln_objective_corner(o, o->mesh->tet[tets[i]].v[a]);
        from[formed] = i;
        formed += kiln_patch_form(o, tets[i], &form_of[formed]);
        if (formed == LANES || (i + 1 == count && formed > 0)) {
            double of[LANES];
            kiln_patch_tets_values(o, form_of, (const kiln_patch_corner(*)[4])corner, formed, of);
            for (size_t k = 0; k < formed; k++)
                value[from[k]] = of[k];
            formed = 0;
        }
    }
}

static double sum_of(const kiln_local_objective *o, const uint32_t *tets, size_t count, bool faces)
{
    double sum = 0.0;
    for (size_t from = 0; from < count; from += LANES) {
        kiln_patch_tet form_of[LANES];
        kiln_patch_corner corner[LANES][4];
        size_t some = count - from < LANES ? count - from : LANES;
        for (size_t i = 0; i < some; i++) {
            const uint32_t *v = o->mesh->tet[tets[from + i]].v;
            if (!kiln_patch_form(o, tets[from + i], &form_of[i]))
                return INFINITY;
            for (int a = 0; a < 4; a++)
                corner[i][a] = kiln_objective_corner(o, v[a]);
            if (faces)
                sum += loaded(o, tets[from + i], corner[i]) - pulled(o, tets[from + i], corner[i]);
        }
        sum += kiln_patch_tets_value(o, form_of, (const kiln_patch_corner(*)[4])corner, some);
    }
    return sum;
}

double kiln_patch_sum(const kiln_local_objective *objective, const uint32_t *tets, size_t count)
{
    return sum_of(objective, tets, count, true);
}

double kiln_patch_sum_inside(const kiln_local_objective *objective, const uint32_t *tets,
                             size_t count)
{
    return sum_of(objective, tets, count, false);
}

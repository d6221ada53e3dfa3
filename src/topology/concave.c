#include "topology/concave.h"

#include <math.h>

enum { TERMS = 5 }; /* of a quadric over its tangent plane: xx, xy, yy, x, y */

/* Of the diagonal, added to it: the normal equations of points on a line have no solution. */
static const double LEAST_PIVOT = 1e-9;

static double inner_angle(const kiln_mesh *mesh, uint32_t tet, uint32_t a, uint32_t b)
{
    const uint32_t *v = mesh->tet[tet].v;
    uint32_t at = kiln_tet_corner(&mesh->tet[tet], a), to = kiln_tet_corner(&mesh->tet[tet], b);
    kiln_vec3 way[2], along = kiln_v3_normalize(kiln_v3_sub(mesh->x[v[to]], mesh->x[v[at]]));
    int sides = 0;
    for (uint32_t k = 0; k < 4; k++) {
        if (k == at || k == to)
            continue;
        kiln_vec3 r = kiln_v3_sub(mesh->x[v[k]], mesh->x[v[at]]);
        way[sides++] = kiln_v3_madd(r, -kiln_v3_dot(r, along), along);
    }
    return atan2(kiln_v3_norm(kiln_v3_cross(way[0], way[1])), kiln_v3_dot(way[0], way[1]));
}

double kiln_air_angle(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b)
{
    enum { ROOM = 64 };
    uint32_t entries[ROOM], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    kiln_ring ring = kiln_edge_ring(mesh, tet, corner_a, corner_b, entries, ROOM);
    if (ring.closed || ring.count > ROOM) /* with that many tets there is no air left */
        return ring.closed ? 2.0 * KILN_PI : 0.0;
    double sum = 0.0;
    for (uint32_t i = 0; i < ring.count; i++)
        sum += inner_angle(mesh, entries[i] / 4, a, b);
    return fmax(2.0 * KILN_PI - sum, 0.0);
}

typedef struct fit {
    kiln_vec3 at, normal, across[2];
    double m[TERMS][TERMS], r[TERMS];
    double edges; /* sum of lengths of the first ring */
    uint32_t near, points;
} fit;

static kiln_status add_vertex(kiln_context *context, kiln_idset *set, uint32_t vertex, bool *is_new,
                              kiln_error *error)
{
    kiln_idset_slot *slot = kiln_idset_at(set, vertex);
    *is_new = slot->epoch != set->epoch;
    if (!*is_new)
        return KILN_OK;
    kiln_idset_add(set, slot, vertex, 0);
    return 2 * (size_t)set->members < set->slots.count ? KILN_OK
                                                       : kiln_idset_grow(context, set, error);
}

static void add_point(fit *f, kiln_vec3 p, double scale)
{
    kiln_vec3 r = kiln_v3_scale(kiln_v3_sub(p, f->at), 1.0 / scale);
    double x = kiln_v3_dot(r, f->across[0]), y = kiln_v3_dot(r, f->across[1]);
    double z = kiln_v3_dot(r, f->normal), term[TERMS] = {x * x, x * y, y * y, x, y};
    double weight = 1.0 / (1.0 + x * x + y * y);
    for (int i = 0; i < TERMS; i++) {
        for (int j = 0; j < TERMS; j++)
            f->m[i][j] += weight * term[i] * term[j];
        f->r[i] += weight * term[i] * z;
    }
    f->points++;
}

/* Solves m a = r by elimination: m is positive definite. */
static bool solve(fit *f, double a[TERMS])
{
    for (int i = 0; i < TERMS; i++) {
        f->m[i][i] *= 1.0 + LEAST_PIVOT;
        double pivot = f->m[i][i];
        if (!(pivot > LEAST_PIVOT))
            return false;
        for (int j = i + 1; j < TERMS; j++) {
            double factor = f->m[j][i] / pivot;
            for (int k = i; k < TERMS; k++)
                f->m[j][k] -= factor * f->m[i][k];
            f->r[j] -= factor * f->r[i];
        }
    }
    for (int i = TERMS - 1; i >= 0; i--) {
        a[i] = f->r[i];
        for (int k = i + 1; k < TERMS; k++)
            a[i] -= f->m[i][k] * a[k];
        a[i] /= f->m[i][i];
    }
    return true;
}

/* Normal and mean edge of the surface at the vertex whose star is in the walker. */
static void find_frame(fit *f, const kiln_mesh *mesh, uint32_t vertex, const kiln_walker *walker)
{
    f->normal = kiln_v3(0, 0, 0);
    f->at = mesh->x[vertex];
    for (size_t i = 0; i < 4 * walker->tets.count; i++) {
        uint32_t tet = walker->tets.data[i / 4], face = (uint32_t)(i % 4);
        const kiln_tet *record = &mesh->tet[tet];
        if (!kiln_link_is_surface(record->n[face]) || record->v[face] == vertex)
            continue;
        kiln_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            uint32_t v = record->v[kiln_face_corner[face][k]];
            p[k] = mesh->x[v];
            if (v != vertex) {
                f->edges += kiln_v3_norm(kiln_v3_sub(mesh->x[v], f->at));
                f->near++;
            }
        }
        f->normal =
            kiln_v3_add(f->normal, kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    }
    f->normal = kiln_v3_normalize(f->normal);
    kiln_vec3 n = f->normal;
    kiln_vec3 aside = fabs(n.x) < 0.6 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
    f->across[0] = kiln_v3_normalize(kiln_v3_cross(n, aside));
    f->across[1] = kiln_v3_cross(n, f->across[0]);
}

/* The surface vertices of the faces at `vertex`, into `far`; those that are new into the fit. */
static kiln_status add_ring(fit *f, const kiln_mesh *mesh, uint32_t vertex, double scale,
                            kiln_walker *walker, kiln_idset *far, kiln_u32_array *list,
                            kiln_error *error)
{
    KILN_TRY(kiln_star(mesh, vertex, walker, error));
    for (size_t i = 0; i < 4 * walker->tets.count; i++) {
        const kiln_tet *record = &mesh->tet[walker->tets.data[i / 4]];
        if (!kiln_link_is_surface(record->n[i % 4]) || record->v[i % 4] == vertex)
            continue;
        for (int k = 0; k < 3; k++) {
            uint32_t v = record->v[kiln_face_corner[i % 4][k]];
            bool is_new;
            KILN_TRY(add_vertex(walker->context, far, v, &is_new, error));
            if (!is_new)
                continue;
            add_point(f, mesh->x[v], scale);
            if (list)
                KILN_TRY(kiln_array_push(walker->context, list, v, error));
        }
    }
    return KILN_OK;
}

static kiln_status fit_about(fit *f, const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                             kiln_idset *far, kiln_u32_array *ring, kiln_error *error)
{
    bool is_new;
    KILN_TRY(kiln_star(mesh, vertex, walker, error));
    find_frame(f, mesh, vertex, walker);
    double scale = f->near ? f->edges / f->near : 1.0;
    KILN_TRY(kiln_idset_clear(walker->context, far, 64, error));
    KILN_TRY(add_vertex(walker->context, far, vertex, &is_new, error));
    KILN_TRY(add_ring(f, mesh, vertex, scale, walker, far, ring, error));
    for (size_t i = 0; i < ring->count; i++)
        KILN_TRY(add_ring(f, mesh, ring->data[i], scale, walker, far, NULL, error));
    return KILN_OK;
}

kiln_status kiln_least_curvature(const kiln_mesh *mesh, uint32_t vertex, kiln_walker *walker,
                                 kiln_idset *far, double *curvature, double *edge,
                                 kiln_error *error)
{
    fit f = {0};
    kiln_u32_array ring = {0};
    double a[TERMS];
    kiln_status status = fit_about(&f, mesh, vertex, walker, far, &ring, error);
    kiln_array_free(walker->context, &ring);
    *edge = f.near ? f.edges / f.near : 0.0;
    *curvature = 0.0;
    if (status != KILN_OK || f.points < TERMS + 1 || !solve(&f, a))
        return status;
    /* Towards the air is up: what is hollow has second derivatives above 0. */
    double most = a[0] + a[2] + sqrt((a[0] - a[2]) * (a[0] - a[2]) + a[1] * a[1]);
    *curvature = -most / *edge;
    return KILN_OK;
}

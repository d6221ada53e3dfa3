/* Sizes along ridges that matter bends. A vertex with two feature edges says by how much its ridge
 * turns there, in the world. */
#include "remesh/sizing_impl.h"

#include <string.h>

typedef struct ridge_vertex {
    uint32_t other[2];
    uint32_t edges; /* feature edges; more or fewer than two: a corner, or none */
} ridge_vertex;

static void add_neighbour(ridge_vertex *v, uint32_t other)
{
    if (v->edges < 2)
        v->other[v->edges] = other;
    v->edges++;
}

static void add_face(const kiln_mesh *mesh, uint32_t at, ridge_vertex *ridge)
{
    const uint8_t *corner = kiln_face_corner[at % 4];
    for (int k = 0; k < 3; k++) {
        uint32_t i = corner[k], j = corner[(k + 1) % 3];
        uint32_t a = mesh->tet[at / 4].v[i], b = mesh->tet[at / 4].v[j];
        uint32_t mark = KILN_MARK_FEATURE_EDGE + kiln_edge_of[i][j];
        if (a > b || !(mesh->info[at / 4].marks >> mark & 1)) /* the face beyond has b before a */
            continue;
        add_neighbour(&ridge[a], b);
        add_neighbour(&ridge[b], a);
    }
}

typedef struct bend {
    kiln_vec3 along; /* from one neighbour to the other */
    double turn;     /* radians */
    double length;   /* of both edges */
} bend;

static bend bend_at(const kiln_vec3 *p, uint32_t v, const ridge_vertex *ridge)
{
    kiln_vec3 a = kiln_v3_sub(p[v], p[ridge->other[0]]), b = kiln_v3_sub(p[ridge->other[1]], p[v]);
    return (bend){kiln_v3_add(a, b), atan2(kiln_v3_norm(kiln_v3_cross(a, b)), kiln_v3_dot(a, b)),
                  kiln_v3_norm(a) + kiln_v3_norm(b)};
}

/* Only along the ridge: sizes across it are those of other sources. */
static kiln_sym3 metric_along(kiln_vec3 direction, double h, double across)
{
    kiln_vec3 d = kiln_v3_normalize(direction);
    kiln_vec3 e = kiln_v3_normalize(kiln_v3_cross(d, fabs(d.x) < 0.5   ? kiln_v3(1, 0, 0)
                                                     : fabs(d.y) < 0.5 ? kiln_v3(0, 1, 0)
                                                                       : kiln_v3(0, 0, 1)));
    kiln_mat3 axes = kiln_m3_columns(d, e, kiln_v3_cross(d, e));
    return kiln_metric_from_directions(&axes, (double[]){h, across, across});
}

/* In the world, 1/m. */
static double curvature_at(const kiln_mesh *mesh, uint32_t v, const ridge_vertex *ridge)
{
    bend b = bend_at(mesh->x, v, ridge);
    return b.length > 0.0 ? 2.0 * b.turn / b.length : 0.0;
}

static void find_ridges(const kiln_mesh *mesh, ridge_vertex *ridge)
{
    memset(ridge, 0, mesh->table[KILN_ON_VERTEX].used * sizeof *ridge);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        if (kiln_face_live(mesh, f))
            add_face(mesh, mesh->face[f].at, ridge);
}

kiln_status kiln_ridge_curvatures(const kiln_mesh *mesh, double *curvature, kiln_error *error)
{
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    size_t bytes = (rows + 1) * sizeof(ridge_vertex);
    ridge_vertex *ridge = kiln_resize(mesh->context, NULL, 0, bytes);
    if (!ridge)
        return kiln_fail_memory(error, bytes);
    find_ridges(mesh, ridge);
    for (uint32_t v = 0; v < rows; v++)
        curvature[v] = ridge[v].edges == 2 ? curvature_at(mesh, v, &ridge[v]) : 0.0;
    kiln_release(mesh->context, ridge, bytes);
    return KILN_OK;
}

static void add_vertex(kiln_sizing *s, const kiln_ridge_sizing *o, uint32_t v,
                       const ridge_vertex *ridge)
{
    bend world = bend_at(s->mesh->x, v, ridge), here = bend_at(s->point, v, ridge);
    double curvature = curvature_at(s->mesh, v, ridge) - o->bent[v], h = o->start[v];
    if (!(curvature > 0.0) || !(kiln_v3_norm2(here.along) > 0.0)) /* a fold has no direction */
        return;
    double wished = fmax(o->turn / curvature, h / o->most), scale = here.length / world.length;
    if (wished >= h)
        return;
    kiln_sym3 m = metric_along(here.along, scale * wished, 2.0 * fmax(scale, 1.0) * h);
    kiln_sizing_combine(s, v, &m);
}

kiln_status kiln_sizing_add_ridges(kiln_sizing *sizing, const kiln_ridge_sizing *options,
                                   kiln_error *error)
{
    size_t rows = sizing->vertex_rows;
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    ridge_vertex *ridge = kiln_sizing_room(sizing, ridge_vertex, rows);
    if (!ridge)
        return kiln_fail_memory(error, rows * sizeof *ridge);
    find_ridges(sizing->mesh, ridge);
    for (uint32_t v = 0; v < rows; v++)
        if (ridge[v].edges == 2)
            add_vertex(sizing, options, v, &ridge[v]);
    kiln_arena_release(&sizing->arena, mark);
    return KILN_OK;
}

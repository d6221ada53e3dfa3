/* Sizes from the curvature of the surface. The curvature tensor of a vertex is that of
 * Cohen-Steiner and Morvan (2003): the sum over the edges in a neighbourhood of angle * length * e
 * e', divided by the area, whose eigenvectors in the surface are the principal directions
 * exchanged. The neighbourhood is the faces of the vertex and, to even out the mesh, of its
 * neighbours. */
#include "remesh/sizing_impl.h"

#include <string.h>

typedef struct vertex_curvature {
    kiln_sym3 tensor; /* times area */
    kiln_vec3 normal; /* times area */
    double area;
} vertex_curvature;

/* Edges of the surface at a vertex, each twice. */
typedef struct vertex_edges {
    double count, length;
} vertex_edges;

typedef struct curvature_job {
    kiln_sizing *sizing;
    const kiln_curvature_sizing *options;
    const kiln_chord_sizing *chords; /* in place of the options' */
    const kiln_bend_sizing *bends;   /* in place of both, in the world */
    const kiln_shell_sizing *shells; /* in place of all */
    double *largest;                 /* [vertex] curvatures, in place of metrics */
    const kiln_vec3 *point;          /* [vertex] where the surface is looked at */
    vertex_curvature *own, *spread;  /* [vertex] */
    vertex_edges *edges;             /* [vertex], for chords */
} curvature_job;

static kiln_vec3 area_vector(const curvature_job *job, const uint32_t c[3])
{
    kiln_vec3 a = kiln_v3_sub(job->point[c[1]], job->point[c[0]]);
    kiln_vec3 b = kiln_v3_sub(job->point[c[2]], job->point[c[0]]);
    return kiln_v3_scale(kiln_v3_cross(a, b), 0.5);
}

static void face_corners(const kiln_sizing *s, uint32_t at, uint32_t c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = s->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

/* The surface face across the edge from corner i to corner j of the tet, going round from face
 * `at`: packed tet*4+face. */
static uint32_t across(const kiln_sizing *s, uint32_t at, uint32_t a, uint32_t b)
{
    uint32_t t = at / 4, from = at % 4;
    for (;;) {
        const kiln_tet *tet = &s->tet[t];
        uint32_t exit = 0;
        while (exit == from || tet->v[exit] == a || tet->v[exit] == b)
            exit++;
        if (kiln_link_is_surface(tet->n[exit]))
            return t * 4 + exit;
        uint32_t link = tet->n[exit];
        t = link / 4;
        from = link % 4;
    }
}

/* Half of the edge's tensor to each end. The angle is positive where the surface is convex; only
 * its size counts. */
static void add_edge(curvature_job *job, uint32_t at, uint32_t a, uint32_t b)
{
    const kiln_sizing *s = job->sizing;
    uint32_t other[3], mine[3];
    face_corners(s, at, mine);
    face_corners(s, across(s, at, a, b), other);
    kiln_vec3 n = kiln_v3_normalize(area_vector(job, mine));
    kiln_vec3 m = kiln_v3_normalize(area_vector(job, other));
    kiln_vec3 e = kiln_v3_sub(job->point[b], job->point[a]);
    double length = kiln_v3_norm(e);
    double sine = kiln_v3_dot(kiln_v3_cross(n, m), e) / length, cosine = kiln_v3_dot(n, m);
    double weight = 0.5 * atan2(sine, cosine) / length;
    kiln_sym3 outer = {e.x * e.x, e.y * e.y, e.z * e.z, e.y * e.z, e.x * e.z, e.x * e.y};
    job->own[a].tensor = kiln_sym3_madd(job->own[a].tensor, weight, outer);
    job->own[b].tensor = kiln_sym3_madd(job->own[b].tensor, weight, outer);
}

static void add_length(curvature_job *job, uint32_t a, uint32_t b)
{
    const kiln_vec3 *point = job->point;
    double length = kiln_v3_norm(kiln_v3_sub(point[b], point[a]));
    for (int end = 0; end < 2; end++) {
        job->edges[end ? a : b].count++;
        job->edges[end ? a : b].length += length;
    }
}

static void add_face(curvature_job *job, uint32_t at)
{
    const kiln_mesh *mesh = job->sizing->mesh;
    uint32_t c[3];
    face_corners(job->sizing, at, c);
    kiln_vec3 area = area_vector(job, c);
    for (int k = 0; k < 3; k++) {
        vertex_curvature *v = &job->own[c[k]];
        v->area += kiln_v3_norm(area) / 3.0;
        v->normal = kiln_v3_madd(v->normal, 1.0 / 3.0, area);
        uint32_t a = c[k], b = c[(k + 1) % 3];
        if (job->chords)
            add_length(job, a, b);
        const uint8_t *corner = kiln_face_corner[at % 4];
        uint32_t edge = kiln_edge_of[corner[k]][corner[(k + 1) % 3]];
        bool feature = mesh->info[at / 4].marks >> (KILN_MARK_FEATURE_EDGE + edge) & 1;
        if (a < b && !feature) /* its face beyond has b before a */
            add_edge(job, at, a, b);
    }
}

/* Own sums plus those of the neighbours in the surface, each as often as faces join them. */
static void spread_face(curvature_job *job, uint32_t at)
{
    uint32_t c[3];
    face_corners(job->sizing, at, c);
    for (int k = 0; k < 3; k++) {
        vertex_curvature *to = &job->spread[c[k]];
        for (int j = 0; j < 3; j++) {
            const vertex_curvature *from = &job->own[c[j]];
            to->tensor = kiln_sym3_madd(to->tensor, 1.0, from->tensor);
            to->area += from->area;
            if (j == k)
                to->normal = from->normal;
        }
    }
}

static double size_for(const kiln_curvature_sizing *o, double curvature)
{
    double h = o->turn / (curvature > 0.0 ? curvature : 1e-300);
    h = h > o->h_min ? h : o->h_min;
    return h < o->h_max ? h : o->h_max;
}

/* The directions, the normal's place among them, and how strongly the surface bends along each. */
typedef struct bending {
    kiln_mat3 directions;
    int normal;
    double curvature[3]; /* along the normal: the larger of the two */
} bending;

static bending bending_of(const vertex_curvature *v)
{
    kiln_eigen3 e = kiln_sym3_eigen(kiln_sym3_scale(v->tensor, 1.0 / v->area));
    kiln_vec3 n = kiln_v3_normalize(v->normal);
    bending b = {.directions = e.vectors};
    double along[3];
    for (int i = 0; i < 3; i++)
        along[i] =
            fabs(n.x * e.vectors.m[0][i] + n.y * e.vectors.m[1][i] + n.z * e.vectors.m[2][i]);
    for (int i = 1; i < 3; i++)
        b.normal = along[i] > along[b.normal] ? i : b.normal;
    int p = (b.normal + 1) % 3, q = (b.normal + 2) % 3;
    b.curvature[p] = fabs(e.values[q]), b.curvature[q] = fabs(e.values[p]); /* exchanged */
    b.curvature[b.normal] = fmax(b.curvature[p], b.curvature[q]);
    return b;
}

static kiln_sym3 vertex_metric(const kiln_curvature_sizing *o, const vertex_curvature *v)
{
    bending b = bending_of(v);
    if (!o->stretched)
        return kiln_metric_from_size(size_for(o, b.curvature[b.normal]));
    double sizes[3];
    for (int i = 0; i < 3; i++)
        sizes[i] = size_for(o, b.curvature[i]);
    return kiln_metric_from_directions(&b.directions, sizes);
}

/* The middle of a regular triangle of edge h is h^2 k / 6 inside the arc, and those of now are
 * that of their edge. Edges become up to 1.4 times as long as they are asked to be: what then
 * leaves the band is refused, one by one. */
static double chord_size(const kiln_chord_sizing *o, const vertex_curvature *v, double edge)
{
    bending b = bending_of(v);
    double sag = fmax(o->least, o->of_edge * edge);
    return sqrt(edge * edge + 6.0 * sag / fmax(b.curvature[b.normal], 1e-300));
}

static void combine_bend(const curvature_job *job, uint32_t v)
{
    const kiln_bend_sizing *o = job->bends;
    bending b = bending_of(&job->spread[v]);
    double sizes[3], h = o->start[v], finest = h;
    for (int i = 0; i < 3; i++) {
        double curvature = i == b.normal ? 0.0 : b.curvature[i] - o->bent[v];
        sizes[i] = curvature > 0.0 ? fmin(fmax(o->turn / curvature, h / o->most), h) : h;
        finest = fmin(finest, sizes[i]);
    }
    if (finest >= h)
        return;
    for (int i = 0; i < 3; i++)
        sizes[i] = fmin(sizes[i], o->ratio * finest);
    kiln_sym3 m =
        kiln_sizing_pull_back(job->sizing, v, kiln_metric_from_directions(&b.directions, sizes));
    kiln_sizing_combine(job->sizing, v, &m);
}

/* The middle of an edge of length h is h^2 k / 8 off an arc. What is round itself, as a needle,
 * has at least six edges round it. */
static void combine_shell(const curvature_job *job, uint32_t v)
{
    const kiln_shell_sizing *o = job->shells;
    bending b = bending_of(&job->spread[v]);
    double sizes[3], most = o->most[v];
    if (!(o->thickness[v] > 0.0))
        return;
    for (int i = 0; i < 3; i++) {
        double curvature = i == b.normal ? 0.0 : b.curvature[i];
        curvature = fmax(curvature, 1e-300);
        sizes[i] =
            fmin(most, fmin(1.0 / curvature, sqrt(8.0 * o->sag * o->thickness[v] / curvature)));
    }
    kiln_sym3 m = kiln_metric_from_directions(&b.directions, sizes);
    kiln_sizing_combine(job->sizing, v, &m);
}

static void combine_size(const curvature_job *job, uint32_t v)
{
    const vertex_curvature *at = &job->spread[v];
    const vertex_edges *edges = job->chords ? &job->edges[v] : NULL;
    double h = edges ? chord_size(job->chords, at, edges->length / edges->count) : 0.0;
    if (edges && h >= job->chords->h_max) /* flat: no word, not even one of rounding */
        return;
    kiln_sym3 m = edges ? kiln_metric_from_size(h) : vertex_metric(job->options, at);
    kiln_sizing_combine(job->sizing, v, &m);
}

static void metric_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    curvature_job *job = user;
    (void)chunk, (void)worker;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        if (!(job->spread[v].area > 0.0))
            continue;
        if (job->largest) {
            bending b = bending_of(&job->spread[v]);
            job->largest[v] = b.curvature[b.normal];
        } else if (job->bends) {
            combine_bend(job, v);
        } else if (job->shells) {
            combine_shell(job, v);
        } else {
            combine_size(job, v);
        }
    }
}

static kiln_status add_bent(curvature_job *job, kiln_error *error)
{
    kiln_sizing *sizing = job->sizing;
    size_t rows = sizing->vertex_rows;
    kiln_arena_mark mark = kiln_arena_set_mark(&sizing->arena);
    job->own = kiln_sizing_zeros(sizing, vertex_curvature, rows);
    job->spread = kiln_sizing_zeros(sizing, vertex_curvature, rows);
    if (job->chords)
        job->edges = kiln_sizing_zeros(sizing, vertex_edges, rows);
    kiln_status status = KILN_OK;
    if (job->own && job->spread && (job->edges || !job->chords)) {
        const kiln_mesh *mesh = sizing->mesh;
        uint32_t faces = mesh->table[KILN_ON_FACE].used;
        for (uint32_t f = 0; f < faces; f++)
            if (kiln_face_live(mesh, f))
                add_face(job, mesh->face[f].at);
        for (uint32_t f = 0; f < faces; f++)
            if (kiln_face_live(mesh, f))
                spread_face(job, mesh->face[f].at);
        kiln_parallel_for(sizing->context, rows, KILN_SIZING_GRAIN, metric_chunk, job);
        sizing->sources++;
    } else {
        status = kiln_fail_memory(error, rows * sizeof *job->own);
    }
    kiln_arena_release(&sizing->arena, mark);
    return status;
}

kiln_status kiln_sizing_add_curvature(kiln_sizing *sizing, const kiln_curvature_sizing *options,
                                      kiln_error *error)
{
    KILN_TRY(kiln_sizing_check_size(options->turn, "turn", error));
    KILN_TRY(kiln_sizing_check_size(options->h_min, "smallest size", error));
    KILN_TRY(kiln_sizing_check_size(options->h_max, "largest size", error));
    return add_bent(&(curvature_job){.sizing = sizing, .options = options, .point = sizing->point},
                    error);
}

kiln_status kiln_sizing_add_chords(kiln_sizing *sizing, const kiln_chord_sizing *options,
                                   kiln_error *error)
{
    KILN_TRY(kiln_sizing_check_size(options->h_max, "largest size", error));
    return add_bent(&(curvature_job){.sizing = sizing, .chords = options, .point = sizing->point},
                    error);
}

kiln_status kiln_sizing_add_bends(kiln_sizing *sizing, const kiln_bend_sizing *options,
                                  kiln_error *error)
{
    KILN_TRY(kiln_sizing_need_stars(sizing, error));
    return add_bent(&(curvature_job){.sizing = sizing, .bends = options, .point = sizing->mesh->x},
                    error);
}

kiln_status kiln_sizing_add_shells(kiln_sizing *sizing, const kiln_shell_sizing *options,
                                   kiln_error *error)
{
    return add_bent(&(curvature_job){.sizing = sizing, .shells = options, .point = sizing->point},
                    error);
}

kiln_status kiln_sizing_curvatures(kiln_sizing *sizing, double *curvature, kiln_error *error)
{
    return add_bent(
        &(curvature_job){.sizing = sizing, .largest = curvature, .point = sizing->point}, error);
}

kiln_status kiln_surface_curvatures(const kiln_mesh *mesh, double *curvature, kiln_error *error)
{
    kiln_sizing *sizing;
    memset(curvature, 0, mesh->table[KILN_ON_VERTEX].used * sizeof *curvature);
    KILN_TRY(kiln_sizing_create(mesh, KILN_SPACE_WORLD, &sizing, error));
    curvature_job job = {.sizing = sizing, .largest = curvature, .point = mesh->x};
    kiln_status status = add_bent(&job, error);
    kiln_sizing_destroy(sizing);
    return status;
}

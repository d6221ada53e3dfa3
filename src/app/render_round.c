#include "app/render_round.h"

#include "base/parallel.h"

#include <string.h>

enum { CUTS = 4, POINTS = (CUTS + 1) * (CUTS + 2) / 2, PIECES = CUTS * CUTS };
/* Cosine between the mean normal of a vertex and its faces below which it is sharp. */
static const double SHARP = 0.8;
enum { CALMED = 2 }; /* times that normals are */

/* One triangle's patch: corners, their normals (0 where sharp) and the inner control point. */
typedef struct patch {
    kiln_vec3 p[3], n[3], inner;
    uint32_t v[3];
} patch;

typedef struct rounding {
    const kiln_render_mesh *from;
    kiln_render_mesh *to;
    const kiln_vec3 *normal; /* [vertex] */
} rounding;

static kiln_vec3 load(const float *p)
{
    return kiln_v3(p[0], p[1], p[2]);
}

static void store(float *to, kiln_vec3 p)
{
    to[0] = (float)p.x;
    to[1] = (float)p.y;
    to[2] = (float)p.z;
}

/* The control point a third of the way from a to b: in the plane across the normal at a. */
static kiln_vec3 control(kiln_vec3 a, kiln_vec3 b, kiln_vec3 normal)
{
    kiln_vec3 way = kiln_v3_sub(b, a);
    kiln_vec3 third = kiln_v3_madd(a, 1.0 / 3.0, way);
    return kiln_v3_madd(third, -kiln_v3_dot(way, normal) / 3.0, normal);
}

/* The same bits from both sides: always from the lower vertex on. */
static kiln_vec3 on_edge(const patch *t, int i, int j, double s)
{
    if (t->v[i] > t->v[j]) {
        int swap = i;
        i = j;
        j = swap;
        s = 1.0 - s;
    }
    kiln_vec3 a = t->p[i], b = t->p[j];
    kiln_vec3 c = control(a, b, t->n[i]), d = control(b, a, t->n[j]);
    double r = 1.0 - s;
    kiln_vec3 out = kiln_v3_scale(a, r * r * r);
    out = kiln_v3_madd(out, 3.0 * r * r * s, c);
    out = kiln_v3_madd(out, 3.0 * r * s * s, d);
    return kiln_v3_madd(out, s * s * s, b);
}

static void find_inner(patch *t)
{
    kiln_vec3 edges = {0, 0, 0}, corners = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3;
        edges = kiln_v3_madd(edges, 1.0 / 6.0, control(t->p[k], t->p[l], t->n[k]));
        edges = kiln_v3_madd(edges, 1.0 / 6.0, control(t->p[l], t->p[k], t->n[l]));
        corners = kiln_v3_madd(corners, 1.0 / 3.0, t->p[k]);
    }
    t->inner = kiln_v3_madd(kiln_v3_scale(edges, 1.5), -0.5, corners);
}

static kiln_vec3 place(const patch *t, const double w[3])
{
    for (int k = 0; k < 3; k++)
        if (w[k] == 0.0)
            return on_edge(t, (k + 1) % 3, (k + 2) % 3, w[(k + 2) % 3]);
    kiln_vec3 out = kiln_v3_scale(t->inner, 6.0 * w[0] * w[1] * w[2]);
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3;
        out = kiln_v3_madd(out, w[k] * w[k] * w[k], t->p[k]);
        out = kiln_v3_madd(out, 3.0 * w[k] * w[k] * w[l], control(t->p[k], t->p[l], t->n[k]));
        out = kiln_v3_madd(out, 3.0 * w[l] * w[l] * w[k], control(t->p[l], t->p[k], t->n[l]));
    }
    return out;
}

/* Rows from corner 0 on: row r has r + 1 points. */
static uint32_t number(int row, int column)
{
    return (uint32_t)(row * (row + 1) / 2 + column);
}

static void put_piece(const rounding *job, size_t triangle, size_t piece, const uint32_t local[3],
                      const kiln_vec3 *normal, const double (*weight)[3])
{
    size_t at = triangle * PIECES + piece;
    const float *value = job->from->value[triangle];
    for (int k = 0; k < 3; k++) {
        const double *w = weight[local[k]];
        job->to->corner[at][k] = (uint32_t)(triangle * POINTS) + local[k];
        store(job->to->normal[at][k], normal[local[k]]);
        job->to->value[at][k] = (float)(w[0] * value[0] + w[1] * value[1] + w[2] * value[2]);
        job->to->across[at][k] = UINT32_MAX;
    }
    job->to->paint[at] = job->from->paint[triangle];
}

static void round_triangle(const rounding *job, size_t triangle)
{
    const kiln_render_mesh *m = job->from;
    kiln_vec3 normal[POINTS], corner[3];
    double weight[POINTS][3];
    patch t;
    for (int k = 0; k < 3; k++) {
        t.v[k] = m->corner[triangle][k];
        t.p[k] = load(m->position[t.v[k]]);
        t.n[k] = job->normal[t.v[k]];
        corner[k] = kiln_v3_norm2(t.n[k]) > 0.0 ? t.n[k] : load(m->normal[triangle][k]);
    }
    find_inner(&t);
    for (int row = 0; row <= CUTS; row++)
        for (int column = 0; column <= row; column++) {
            uint32_t i = number(row, column);
            const double w[3] = {(double)(CUTS - row) / CUTS, (double)(row - column) / CUTS,
                                 (double)column / CUTS};
            kiln_vec3 n = kiln_v3_scale(corner[0], w[0]);
            n = kiln_v3_madd(kiln_v3_madd(n, w[1], corner[1]), w[2], corner[2]);
            normal[i] = kiln_v3_normalize(n);
            memcpy(weight[i], w, sizeof w);
            store(job->to->position[triangle * POINTS + i], place(&t, w));
        }
    size_t piece = 0;
    for (int row = 0; row < CUTS; row++)
        for (int column = 0; column <= row; column++) {
            const uint32_t up[3] = {number(row, column), number(row + 1, column),
                                    number(row + 1, column + 1)};
            put_piece(job, triangle, piece++, up, normal, (const double(*)[3])weight);
            const uint32_t down[3] = {number(row, column), number(row + 1, column + 1),
                                      number(row, column + 1)};
            if (column < row)
                put_piece(job, triangle, piece++, down, normal, (const double(*)[3])weight);
        }
}

static void round_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        round_triangle(user, i);
}

static kiln_vec3 face_normal(const kiln_render_mesh *m, size_t triangle)
{
    return kiln_render_mesh_at(m, triangle, 0.0, 0.0).face_normal;
}

/* Mean normals of the bodies' vertices; 0 where one is sharp. */
static void find_normals(const kiln_render_mesh *m, kiln_vec3 *normal)
{
    memset(normal, 0, m->vertex_count * sizeof *normal);
    for (size_t i = 0; i < 3 * m->body_triangles; i++) {
        kiln_vec3 *sum = &normal[m->corner[i / 3][i % 3]];
        const uint32_t *c = m->corner[i / 3];
        kiln_vec3 a = load(m->position[c[0]]), b = load(m->position[c[1]]);
        *sum = kiln_v3_add(
            *sum, kiln_v3_cross(kiln_v3_sub(b, a), kiln_v3_sub(load(m->position[c[2]]), a)));
    }
    for (size_t v = 0; v < m->body_vertices; v++)
        normal[v] = kiln_v3_normalize(normal[v]);
}

static void find_sharp(const kiln_render_mesh *m, const kiln_vec3 *mean, kiln_vec3 *normal)
{
    memcpy(normal, mean, m->vertex_count * sizeof *normal);
    for (size_t i = 0; i < 3 * m->body_triangles; i++) {
        uint32_t v = m->corner[i / 3][i % 3];
        if (kiln_v3_dot(mean[v], face_normal(m, i / 3)) < SHARP)
            normal[v] = kiln_v3(0, 0, 0);
    }
}

/* Normals that jump from vertex to vertex make the border of what is thrown back inside ragged:
 * each becomes the mean of its own and of what is around it. Sharp ones stay and are not asked. */
static void calm(const kiln_render_mesh *m, kiln_vec3 *sum, kiln_vec3 *normal)
{
    memset(sum, 0, m->body_vertices * sizeof *sum);
    for (size_t i = 0; i < 3 * m->body_triangles; i++) {
        uint32_t v = m->corner[i / 3][i % 3], w = m->corner[i / 3][(i + 1) % 3];
        sum[v] = kiln_v3_add(sum[v], normal[w]);
        sum[w] = kiln_v3_add(sum[w], normal[v]);
    }
    for (size_t v = 0; v < m->body_vertices; v++)
        if (kiln_v3_norm2(normal[v]) > 0.0 && kiln_v3_norm2(sum[v]) > 0.0)
            normal[v] = kiln_v3_normalize(kiln_v3_add(normal[v], kiln_v3_normalize(sum[v])));
}

static kiln_status make_room(kiln_render_mesh *to, kiln_error *error)
{
    size_t count = to->triangle_count;
    to->position = kiln_arena_alloc(to->arena, (to->vertex_count + 2) * sizeof(float[3]));
    to->corner = kiln_arena_alloc(to->arena, count * sizeof *to->corner);
    to->normal = kiln_arena_alloc(to->arena, count * sizeof *to->normal);
    to->across = kiln_arena_alloc(to->arena, count * sizeof *to->across);
    to->value = kiln_arena_alloc(to->arena, count * sizeof *to->value);
    to->paint = kiln_arena_alloc(to->arena, count);
    if (!to->position || !to->corner || !to->normal || !to->across || !to->value || !to->paint)
        return kiln_fail_memory(error, count * sizeof *to->normal);
    return KILN_OK;
}

/* Scenery, behind the bodies. */
static void keep_rest(const kiln_render_mesh *from, kiln_render_mesh *to)
{
    size_t rest = from->triangle_count - from->body_triangles, first = to->body_triangles;
    size_t old = from->body_triangles, shift = to->body_vertices - from->body_vertices;
    memcpy(to->position + to->body_vertices, from->position + from->body_vertices,
           (from->vertex_count - from->body_vertices) * sizeof *to->position);
    memcpy(to->normal + first, from->normal + old, rest * sizeof *to->normal);
    memcpy(to->value + first, from->value + old, rest * sizeof *to->value);
    memcpy(to->paint + first, from->paint + old, rest);
    memset(to->across + first, 0xff, rest * sizeof *to->across);
    for (size_t i = 0; i < 3 * rest; i++)
        to->corner[first + i / 3][i % 3] = (uint32_t)(from->corner[old + i / 3][i % 3] + shift);
}

kiln_status kiln_render_round(kiln_render_mesh *mesh, kiln_error *error)
{
    const kiln_render_mesh from = *mesh;
    kiln_render_mesh to = from;
    size_t scenery = from.triangle_count - from.body_triangles;
    to.body_triangles = from.body_triangles * PIECES;
    to.triangle_count = to.body_triangles + scenery;
    to.body_vertices = from.body_triangles * POINTS;
    to.vertex_count = to.body_vertices + from.vertex_count - from.body_vertices;
    KILN_TRY(make_room(&to, error));
    kiln_vec3 *mean = kiln_arena_array(from.arena, kiln_vec3, from.vertex_count + 1);
    kiln_vec3 *normal = kiln_arena_array(from.arena, kiln_vec3, from.vertex_count + 1);
    if (!mean || !normal)
        return kiln_fail_memory(error, from.vertex_count * sizeof *mean);
    find_normals(&from, mean);
    find_sharp(&from, mean, normal);
    for (int i = 0; i < CALMED; i++)
        calm(&from, mean, normal);
    rounding job = {&from, &to, normal};
    kiln_parallel_for(from.arena->context, from.body_triangles, 1024, round_chunk, &job);
    keep_rest(&from, &to);
    *mesh = to;
    return KILN_OK;
}

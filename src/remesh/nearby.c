#include "remesh/nearby.h"

#include "base/parallel.h"
#include "geom/distance.h"
#include "geom/triangle_overlap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRAIN = 256 };
static const double FACING = -0.5; /* cosine between the normals of the two sides, at most */

typedef struct search {
    const kiln_mesh *mesh;
    const kiln_vec3 *x;
    double gap;
    kiln_u32_array faces;   /* of the candidates, the items of `tree` */
    kiln_vec3 *normal;      /* [item] */
    kiln_vec3 *mean_normal; /* [vertex] sum of those at it, zero off the candidates' surface */
    double *size;           /* [vertex] mean length of the surface edges there */
    uint32_t *first, *at;   /* [vertex + 1] into the items at each vertex */
    uint32_t *other;        /* [vertex] part that faces it, KILN_NONE */
    uint32_t *close;        /* [vertex] another part that is close */
    uint32_t *seen;         /* [vertex] the item that faces it */
    kiln_bvh tree;
} search;

static void corners(const search *s, uint32_t item, uint32_t v[3])
{
    uint32_t at = s->mesh->face[s->faces.data[item]].at;
    for (int k = 0; k < 3; k++)
        v[k] = s->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

static uint32_t part_of(const search *s, uint32_t item)
{
    return s->mesh->info[s->mesh->face[s->faces.data[item]].at / 4].part;
}

static kiln_status list_faces(search *s, const uint8_t *candidate, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        if (kiln_face_live(mesh, f) && candidate[mesh->info[mesh->face[f].at / 4].part])
            KILN_TRY(kiln_array_push(mesh->context, &s->faces, f, error));
    return KILN_OK;
}

/* One block for all rows by vertex and item. */
static size_t block_size(const search *s)
{
    size_t vertices = s->mesh->table[KILN_ON_VERTEX].used, items = s->faces.count;
    return (items + vertices) * sizeof(kiln_vec3) + vertices * sizeof(double) +
           (4 * vertices + 3 * items + 2) * sizeof(uint32_t);
}

static void measure(search *s, kiln_box *boxes)
{
    size_t vertices = s->mesh->table[KILN_ON_VERTEX].used;
    for (uint32_t i = 0; i < s->faces.count; i++) {
        uint32_t v[3];
        corners(s, i, v);
        kiln_vec3 p[3] = {s->x[v[0]], s->x[v[1]], s->x[v[2]]};
        boxes[i] = kiln_box_of(p, 3);
        s->normal[i] =
            kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
        for (int k = 0; k < 3; k++) {
            s->mean_normal[v[k]] = kiln_v3_add(s->mean_normal[v[k]], s->normal[i]);
            s->size[v[k]] += kiln_v3_norm(kiln_v3_sub(p[k], p[(k + 1) % 3]));
            s->first[v[k] + 1]++;
        }
    }
    for (size_t v = 0; v < vertices; v++) {
        s->size[v] /= s->first[v + 1] ? s->first[v + 1] : 1;
        s->first[v + 1] += s->first[v];
    }
    for (uint32_t i = 0; i < s->faces.count; i++) {
        uint32_t v[3];
        corners(s, i, v);
        for (int k = 0; k < 3; k++)
            s->at[s->first[v[k]]++] = i;
    }
    memmove(s->first + 1, s->first, vertices * sizeof *s->first);
    s->first[0] = 0;
}

/* The vertex the present query is about. */
typedef struct query {
    const search *s;
    uint32_t vertex, part;
    kiln_vec3 normal;
} query;

/* Is a corner of the face joined to the vertex by a surface edge, or the vertex itself? */
static bool is_next_to(const query *q, uint32_t item)
{
    uint32_t v[3], w[3];
    corners(q->s, item, v);
    for (uint32_t i = q->s->first[q->vertex]; i < q->s->first[q->vertex + 1]; i++) {
        corners(q->s, q->s->at[i], w);
        for (int k = 0; k < 9; k++)
            if (v[k / 3] == w[k % 3])
                return true;
    }
    return false;
}

static double distance2_across(void *user, uint32_t item, kiln_vec3 p)
{
    const query *q = user;
    if (!(kiln_v3_dot(q->s->normal[item], q->normal) < FACING))
        return INFINITY;
    uint32_t v[3];
    corners(q->s, item, v);
    kiln_vec3 triangle[3] = {q->s->x[v[0]], q->s->x[v[1]], q->s->x[v[2]]};
    kiln_closest_point closest = kiln_closest_on_triangle(p, triangle);
    /* Bodies may overlap a little; one part against itself must have a gap in between, or it is
     * the far side of something thin. */
    if (part_of(q->s, item) == q->part &&
        (kiln_v3_dot(closest.offset, q->normal) >= 0.0 || is_next_to(q, item)))
        return INFINITY;
    return closest.distance2;
}

static double distance2_to_others(void *user, uint32_t item, kiln_vec3 p)
{
    const query *q = user;
    if (part_of(q->s, item) == q->part)
        return INFINITY;
    uint32_t v[3];
    corners(q->s, item, v);
    kiln_vec3 triangle[3] = {q->s->x[v[0]], q->s->x[v[1]], q->s->x[v[2]]};
    return kiln_triangle_distance2(p, triangle);
}

static void look_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    search *s = user;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        s->other[v] = s->close[v] = s->seen[v] = KILN_NONE;
        if (s->first[v] == s->first[v + 1])
            continue;
        double limit = s->gap * s->size[v];
        query q = {s, v, part_of(s, s->at[s->first[v]]), kiln_v3_normalize(s->mean_normal[v])};
        uint32_t item =
            kiln_bvh_closest(&s->tree, s->x[v], limit * limit, distance2_across, &q, NULL);
        if (item != KILN_BVH_NONE)
            s->other[v] = part_of(s, s->seen[v] = item);
        item = kiln_bvh_closest(&s->tree, s->x[v], limit * limit, distance2_to_others, &q, NULL);
        if (item != KILN_BVH_NONE)
            s->close[v] = part_of(s, item);
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const kiln_bvh_pair *p = a, *q = b;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

static kiln_status list_pairs(const search *s, const uint32_t *other, kiln_bvh_pair_array *pairs,
                              kiln_error *error)
{
    for (uint32_t v = 0; v < s->mesh->table[KILN_ON_VERTEX].used; v++) {
        if (other[v] == KILN_NONE)
            continue;
        uint32_t a = part_of(s, s->at[s->first[v]]), b = other[v];
        kiln_bvh_pair pair = {a < b ? a : b, a < b ? b : a};
        KILN_TRY(kiln_array_push(s->mesh->context, pairs, pair, error));
    }
    if (pairs->count == 0)
        return KILN_OK;
    qsort(pairs->data, pairs->count, sizeof *pairs->data, compare_pairs);
    size_t distinct = 1;
    for (size_t i = 1; i < pairs->count; i++)
        if (compare_pairs(&pairs->data[i], &pairs->data[distinct - 1]) != 0)
            pairs->data[distinct++] = pairs->data[i];
    pairs->count = distinct;
    return KILN_OK;
}

static kiln_status list_sights(const search *s, kiln_nearby *out, kiln_error *error)
{
    for (uint32_t v = 0; v < s->mesh->table[KILN_ON_VERTEX].used; v++) {
        if (s->seen[v] == KILN_NONE)
            continue;
        uint32_t w[3];
        corners(s, s->seen[v], w);
        const kiln_vec3 triangle[3] = {s->x[w[0]], s->x[w[1]], s->x[w[2]]};
        kiln_facing sight = {v, s->faces.data[s->seen[v]],
                             sqrt(kiln_triangle_distance2(s->x[v], triangle)) / s->size[v]};
        KILN_TRY(kiln_array_push(s->mesh->context, &out->sights, sight, error));
    }
    return KILN_OK;
}

/* Pairs of parts whose surfaces pass through each other. */
typedef struct crossing {
    const search *s;
    kiln_bvh_pair_array *out;
    kiln_status status;
    kiln_error *error;
} crossing;

static bool visit_pairs(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    crossing *c = user;
    for (size_t i = 0; i < count && c->status == KILN_OK; i++) {
        uint32_t a = part_of(c->s, pairs[i].a), b = part_of(c->s, pairs[i].b), v[3], w[3];
        if (a == b)
            continue;
        corners(c->s, pairs[i].a, v);
        corners(c->s, pairs[i].b, w);
        const kiln_vec3 *x = c->s->x;
        if (kiln_triangle_overlap((const kiln_vec3[3]){x[v[0]], x[v[1]], x[v[2]]},
                                  (const kiln_vec3[3]){x[w[0]], x[w[1]], x[w[2]]}) <
            KILN_OVERLAP_CROSS)
            continue;
        kiln_bvh_pair pair = {a < b ? a : b, a < b ? b : a};
        c->status = kiln_array_push(c->s->mesh->context, c->out, pair, c->error);
    }
    return c->status == KILN_OK;
}

/* Bodies that are far into each other have no sides that face each other near by. */
static kiln_status find_crossing(search *s, kiln_bvh_pair_array *out, kiln_error *error)
{
    kiln_context *context = s->mesh->context;
    kiln_u32_array own = {0};
    KILN_TRY(kiln_array_reserve(context, &own, 3 * s->faces.count, error));
    for (uint32_t i = 0; i < s->faces.count; i++)
        corners(s, i, own.data + 3 * (size_t)i);
    kiln_status status = kiln_bvh_set_vertices(&s->tree, own.data, 3, error);
    kiln_array_free(context, &own);
    KILN_TRY(status);
    crossing c = {.s = s, .out = out, .error = error};
    kiln_bvh_visit_self_overlap(&s->tree, visit_pairs, &c);
    return c.status;
}

static kiln_status look(search *s, kiln_nearby *out, kiln_error *error)
{
    kiln_context *context = s->mesh->context;
    size_t vertices = s->mesh->table[KILN_ON_VERTEX].used, items = s->faces.count;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(context, &boxes, items, error));
    measure(s, boxes.data);
    kiln_status status = kiln_bvh_build(&s->tree, context, boxes.data, items, error);
    kiln_array_free(context, &boxes);
    KILN_TRY(status);
    kiln_parallel_for(context, vertices, GRAIN, look_chunk, s);
    KILN_TRY(find_crossing(s, &out->facing, error));
    KILN_TRY(list_sights(s, out, error));
    KILN_TRY(list_pairs(s, s->other, &out->facing, error));
    return list_pairs(s, s->close, &out->close, error);
}

void kiln_nearby_free(kiln_context *context, kiln_nearby *nearby)
{
    kiln_array_free(context, &nearby->sights);
    kiln_array_free(context, &nearby->facing);
    kiln_array_free(context, &nearby->close);
}

kiln_status kiln_nearby_find(const kiln_mesh *mesh, kiln_space space, double gap,
                             const uint8_t *candidate, kiln_nearby *out, kiln_error *error)
{
    kiln_context *context = mesh->context;
    search s = {.mesh = mesh, .x = kiln_mesh_positions(mesh, space), .gap = gap};
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    out->sights.count = out->facing.count = out->close.count = 0;
    kiln_status status = list_faces(&s, candidate, error);
    if (status == KILN_OK && s.faces.count > 0) {
        s.normal = kiln_resize(context, NULL, 0, block_size(&s));
        if (s.normal) {
            memset(s.normal, 0, block_size(&s));
            s.mean_normal = s.normal + s.faces.count;
            s.size = (double *)(void *)(s.mean_normal + vertices);
            s.first = (uint32_t *)(void *)(s.size + vertices);
            s.other = s.first + vertices + 1;
            s.close = s.other + vertices;
            s.seen = s.close + vertices;
            s.at = s.seen + vertices;
            status = look(&s, out, error);
            kiln_release(context, s.normal, block_size(&s));
        } else {
            status = kiln_fail_memory(error, block_size(&s));
        }
    }
    kiln_bvh_destroy(&s.tree);
    kiln_array_free(context, &s.faces);
    return status;
}

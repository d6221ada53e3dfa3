#include "mesh/soup_refine.h"

#include "geom/predicates.h"
#include "mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

typedef KILN_ARRAY_OF(uint64_t)
edge_array;

static uint64_t edge_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static int by_key(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* All edges once, ascending. */
static kiln_status list_edges(const kiln_soup *soup, edge_array *edges, kiln_error *error)
{
    size_t most = 6 * soup->tets.count + 3 * soup->triangles.count, kept = 0;
    KILN_TRY(kiln_array_reserve(soup->context, edges, most, error));
    for (size_t t = 0; t < soup->tets.count; t++)
        for (int e = 0; e < 6; e++)
            edges->data[edges->count++] = edge_key(soup->tets.data[t].v[kiln_edge_ends[e][0]],
                                                   soup->tets.data[t].v[kiln_edge_ends[e][1]]);
    for (size_t t = 0; t < soup->triangles.count; t++)
        for (int k = 0; k < 3; k++)
            edges->data[edges->count++] =
                edge_key(soup->triangles.data[t].v[k], soup->triangles.data[t].v[(k + 1) % 3]);
    if (edges->count > 0)
        qsort(edges->data, edges->count, sizeof *edges->data, by_key);
    for (size_t i = 0; i < edges->count; i++)
        if (i == 0 || edges->data[i] != edges->data[kept - 1])
            edges->data[kept++] = edges->data[i];
    edges->count = kept;
    return KILN_OK;
}

typedef struct halving {
    kiln_soup *soup;
    edge_array edges;
    uint32_t first; /* number of the first new point */
} halving;

static uint32_t middle(const halving *h, uint32_t a, uint32_t b)
{
    uint64_t key = edge_key(a, b);
    const uint64_t *at =
        bsearch(&key, h->edges.data, h->edges.count, sizeof *h->edges.data, by_key);
    return h->first + (uint32_t)(at - h->edges.data);
}

/* Positively oriented, whatever order the corners come in. */
static kiln_soup_tet positive(const kiln_vec3 *x, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    bool turned = kiln_orient3d_sign(x[a], x[b], x[c], x[d]) < 0;
    return turned ? (kiln_soup_tet){{b, a, c, d}} : (kiln_soup_tet){{a, b, c, d}};
}

static void split_tet(const halving *h, const uint32_t v[4], kiln_soup_tet out[8])
{
    static const int rings[3][4][2] = {{{0, 2}, {0, 3}, {1, 3}, {1, 2}},
                                       {{0, 1}, {0, 3}, {2, 3}, {1, 2}},
                                       {{0, 1}, {0, 2}, {2, 3}, {1, 3}}};
    const kiln_vec3 *x = h->soup->points.data;
    uint32_t m[4][4], r[4];
    int best = 0;
    double shortest = INFINITY;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            m[i][j] = i == j ? v[i] : middle(h, v[i], v[j]);
    for (int i = 0; i < 4; i++)
        out[i] = positive(x, m[i][0], m[i][1], m[i][2], m[i][3]);
    for (int d = 0; d < 3; d++) { /* between the middles of 0-(d+1) and the opposite edge */
        int i = d == 0 ? 2 : 1, j = d == 2 ? 2 : 3;
        double length = kiln_v3_norm2(kiln_v3_sub(x[m[0][d + 1]], x[m[i][j]]));
        if (length < shortest) {
            shortest = length;
            best = d;
        }
    }
    for (int k = 0; k < 4; k++)
        r[k] = m[rings[best][k][0]][rings[best][k][1]];
    uint32_t a = m[0][best + 1], b = m[best == 0 ? 2 : 1][best == 2 ? 2 : 3];
    for (int k = 0; k < 4; k++)
        out[4 + k] = positive(x, a, b, r[k], r[(k + 1) % 4]);
}

static void split_triangle(const halving *h, const uint32_t v[3], kiln_soup_triangle out[4])
{
    uint32_t m[3];
    for (int k = 0; k < 3; k++)
        m[k] = middle(h, v[k], v[(k + 1) % 3]);
    for (int k = 0; k < 3; k++)
        out[k] = (kiln_soup_triangle){{v[k], m[k], m[(k + 2) % 3]}};
    out[3] = (kiln_soup_triangle){{m[0], m[1], m[2]}};
}

static void forget_rest(kiln_soup *soup)
{
    for (size_t i = 0; i < soup->fields.count; i++)
        kiln_array_free(soup->context, &soup->fields.data[i].data);
    soup->fields.count = 0;
    soup->edges.count = soup->edge_tags.count = 0;
    soup->ridges.count = soup->required_edges.count = soup->required_triangles.count = 0;
    soup->triangle_regions.count = 0;
    kiln_array_free(soup->context, &soup->point_tags); /* empty: all zero */
}

/* From the last to the first, so that nothing is overwritten before it is read. */
static kiln_status split_all(halving *h, kiln_error *error)
{
    kiln_soup *s = h->soup;
    size_t tets = s->tets.count, triangles = s->triangles.count;
    KILN_TRY(kiln_array_reserve(s->context, &s->tets, 8 * tets, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->triangles, 4 * triangles, error));
    if (s->tet_tags.count > 0)
        KILN_TRY(kiln_array_reserve(s->context, &s->tet_tags, 8 * tets, error));
    if (s->triangle_tags.count > 0)
        KILN_TRY(kiln_array_reserve(s->context, &s->triangle_tags, 4 * triangles, error));
    for (size_t t = tets; t-- > 0;) {
        kiln_soup_tet old = s->tets.data[t];
        split_tet(h, old.v, s->tets.data + 8 * t);
        for (int k = 7; k >= 0 && s->tet_tags.count > 0; k--)
            s->tet_tags.data[8 * t + (size_t)k] = s->tet_tags.data[t];
    }
    for (size_t t = triangles; t-- > 0;) {
        kiln_soup_triangle old = s->triangles.data[t];
        split_triangle(h, old.v, s->triangles.data + 4 * t);
        for (int k = 3; k >= 0 && s->triangle_tags.count > 0; k--)
            s->triangle_tags.data[4 * t + (size_t)k] = s->triangle_tags.data[t];
    }
    s->tets.count = 8 * tets;
    s->triangles.count = 4 * triangles;
    s->tet_tags.count *= 8;
    s->triangle_tags.count *= 4;
    return KILN_OK;
}

kiln_status kiln_soup_halve(kiln_soup *soup, kiln_error *error)
{
    halving h = {.soup = soup, .first = (uint32_t)soup->points.count};
    kiln_status status = list_edges(soup, &h.edges, error);
    size_t points = soup->points.count + h.edges.count;
    if (status == KILN_OK && (points > UINT32_MAX / 2 || soup->tets.count > UINT32_MAX / 16))
        status = kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "there would be too many tets");
    if (status == KILN_OK)
        status = kiln_array_reserve(soup->context, &soup->points, points, error);
    for (size_t e = 0; e < h.edges.count && status == KILN_OK; e++) {
        uint32_t a = (uint32_t)(h.edges.data[e] >> 32), b = (uint32_t)h.edges.data[e];
        soup->points.data[soup->points.count++] =
            kiln_v3_lerp(soup->points.data[a], soup->points.data[b], 0.5);
    }
    if (status == KILN_OK)
        status = split_all(&h, error);
    if (status == KILN_OK)
        forget_rest(soup);
    kiln_array_free(soup->context, &h.edges);
    return status;
}

/* Diagonals of the walls go from the lower number below to the higher one above: both prisms of a
 * wall agree on it. */
static void split_prism(const kiln_vec3 *x, const uint32_t *corners, uint32_t up,
                        kiln_soup_tet out[3])
{
    uint32_t v[3] = {corners[0], corners[1], corners[2]};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (v[k] > v[k + 1]) {
                uint32_t kept = v[k];
                v[k] = v[k + 1];
                v[k + 1] = kept;
            }
    out[0] = positive(x, v[0], v[0] + up, v[1] + up, v[2] + up);
    out[1] = positive(x, v[0], v[1], v[1] + up, v[2] + up);
    out[2] = positive(x, v[0], v[1], v[2], v[2] + up);
}

kiln_status kiln_soup_draw_out(kiln_soup *s, double depth, kiln_error *error)
{
    size_t points = s->points.count, triangles = s->triangles.count;
    bool tagged = s->triangle_tags.count > 0;
    KILN_TRY(kiln_array_reserve(s->context, &s->points, 2 * points, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->tets, 3 * triangles, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->tet_tags, tagged ? 3 * triangles : 0, error));
    for (size_t i = 0; i < points; i++) {
        kiln_vec3 p = s->points.data[i];
        s->points.data[points + i] = kiln_v3(p.x, p.y, p.z + depth);
    }
    for (size_t t = 0; t < triangles; t++) {
        split_prism(s->points.data, s->triangles.data[t].v, (uint32_t)points, s->tets.data + 3 * t);
        for (size_t k = 0; k < 3 && tagged; k++)
            s->tet_tags.data[3 * t + k] = s->triangle_tags.data[t];
    }
    s->points.count = 2 * points;
    s->tets.count = 3 * triangles;
    s->tet_tags.count = tagged ? 3 * triangles : 0;
    s->triangles.count = s->triangle_tags.count = 0;
    s->corners.count = s->required_points.count = 0;
    forget_rest(s);
    return KILN_OK;
}

bool kiln_soup_is_flat(const kiln_soup *soup)
{
    for (size_t i = 1; i < soup->points.count; i++)
        if (soup->points.data[i].z != soup->points.data[0].z)
            return false;
    return soup->triangles.count > 0 && soup->tets.count == 0;
}

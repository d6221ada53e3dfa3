#include "contact/surface_links.h"

#include "mesh/mesh.h"

#include <stdlib.h>

/* Weights below this are those of a point on the edge, or at the vertex: what lies exactly above an
 * edge must be seen there from both its faces. */
#define TIE 1e-9

static int by_key(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Rows of [2]: both ends, the lower in the high half; then 3 face + side. */
static kiln_status list_sides(kiln_surface_links *l, kiln_context *context,
                              const kiln_u32_array *faces, kiln_error *error)
{
    l->sides.count = 0;
    KILN_TRY(kiln_array_reserve(context, &l->sides, 2 * faces->count + 2, error));
    for (size_t i = 0; i < faces->count; i++) {
        uint64_t a = faces->data[i], b = faces->data[i % 3 == 2 ? i - 2 : i + 1];
        l->sides.data[l->sides.count++] = a < b ? a << 32 | b : b << 32 | a;
        l->sides.data[l->sides.count++] = i;
    }
    if (faces->count)
        qsort(l->sides.data, faces->count, 2 * sizeof *l->sides.data, by_key);
    return KILN_OK;
}

static uint32_t corner_opposite(const kiln_u32_array *faces, uint64_t side)
{
    return faces->data[side % 3 == 0 ? side + 2 : side - 1];
}

/* The sides of one edge begin at row *i, which becomes that of the next. */
static size_t next_edge(const kiln_surface_links *l, size_t *i)
{
    size_t begin = *i, rows = l->sides.count / 2;
    while (*i < rows && l->sides.data[2 * *i] == l->sides.data[2 * begin])
        ++*i;
    return *i - begin;
}

static kiln_status link_faces(kiln_surface_links *l, kiln_context *context,
                              const kiln_u32_array *faces, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &l->across, faces->count + 1, error));
    l->across.count = faces->count;
    for (size_t i = 0, first = 0; i < faces->count; first = i) {
        size_t count = next_edge(l, &i);
        for (size_t k = 0; k < count; k++) {
            uint64_t side = l->sides.data[2 * (first + k) + 1];
            uint64_t other = l->sides.data[2 * (first + (count == 2 ? 1 - k : 0)) + 1];
            l->across.data[side] = count == 2 ? corner_opposite(faces, other) : KILN_NONE;
        }
    }
    return KILN_OK;
}

static kiln_status link_vertices(kiln_surface_links *l, kiln_context *context,
                                 const kiln_u32_array *faces, size_t vertices, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &l->faces_at, vertices + 1, error));
    KILN_TRY(kiln_array_reserve(context, &l->ring_start, vertices + 2, error));
    KILN_TRY(kiln_array_reserve(context, &l->ring, 2 * faces->count + 1, error));
    uint32_t *start = l->ring_start.data;
    for (size_t v = 0; v <= vertices; v++)
        l->faces_at.data[v] = start[v] = start[v + 1] = 0;
    for (size_t i = 0; i < faces->count; i++)
        l->faces_at.data[faces->data[i]]++;
    for (size_t i = 0, first = 0; i < faces->count; first = i) {
        (void)next_edge(l, &i);
        start[(l->sides.data[2 * first] >> 32) + 2]++;
        start[(uint32_t)l->sides.data[2 * first] + 2]++;
    }
    for (size_t v = 2; v < vertices + 2; v++)
        start[v] += start[v - 1];
    for (size_t i = 0, first = 0; i < faces->count; first = i) {
        (void)next_edge(l, &i);
        uint32_t a = (uint32_t)(l->sides.data[2 * first] >> 32);
        uint32_t b = (uint32_t)l->sides.data[2 * first];
        l->ring.data[start[a + 1]++] = b;
        l->ring.data[start[b + 1]++] = a;
    }
    l->faces_at.count = vertices;
    l->ring_start.count = vertices + 1;
    l->ring.count = start[vertices];
    return KILN_OK;
}

kiln_status kiln_surface_links_build(kiln_surface_links *links, kiln_context *context,
                                     const kiln_u32_array *faces, size_t vertices,
                                     kiln_error *error)
{
    KILN_TRY(list_sides(links, context, faces, error));
    KILN_TRY(link_faces(links, context, faces, error));
    return link_vertices(links, context, faces, vertices, error);
}

void kiln_surface_links_free(kiln_surface_links *links, kiln_context *context)
{
    kiln_array_free(context, &links->across);
    kiln_array_free(context, &links->ring);
    kiln_array_free(context, &links->ring_start);
    kiln_array_free(context, &links->faces_at);
    kiln_array_free(context, &links->sides);
}

size_t kiln_surface_links_bytes(const kiln_surface_links *l)
{
    return (l->across.capacity + l->ring.capacity + l->ring_start.capacity + l->faces_at.capacity) *
               sizeof(uint32_t) +
           l->sides.capacity * sizeof(uint64_t);
}

/* No edge at the vertex leads nearer to p. */
static bool is_nearest_vertex(const kiln_linked *s, uint32_t vertex, kiln_vec3 p,
                              const uint32_t self[2])
{
    const kiln_surface_links *l = s->links;
    kiln_vec3 to = kiln_v3_sub(p, s->x[vertex]);
    for (uint32_t i = l->ring_start.data[vertex]; i < l->ring_start.data[vertex + 1]; i++) {
        uint32_t end = l->ring.data[i];
        kiln_vec3 edge = kiln_v3_sub(s->x[end], s->x[vertex]);
        if (end != self[0] && end != self[1] && kiln_v3_dot(to, edge) > TIE * kiln_v3_norm2(edge))
            return false;
    }
    return true;
}

/* The face beyond the edge from a to b, whose third corner is c, is not nearer to p. */
static bool is_nearest_edge(const kiln_linked *s, uint32_t a, uint32_t b, uint32_t c, kiln_vec3 p)
{
    kiln_vec3 from = s->x[a], edge = kiln_v3_sub(s->x[b], from), in = kiln_v3_sub(s->x[c], from);
    in = kiln_v3_madd(in, -kiln_v3_dot(in, edge) / kiln_v3_norm2(edge), edge);
    return !(kiln_v3_dot(kiln_v3_sub(p, from), in) > TIE * kiln_v3_norm2(in));
}

double kiln_face_share(const kiln_linked *s, uint32_t face, const double weight[3], kiln_vec3 p,
                       uint32_t self)
{
    const uint32_t *v = s->faces + 3 * (size_t)face;
    for (size_t k = 0; k < 3; k++)
        if (weight[k] >= 1.0 - 2.0 * TIE)
            return is_nearest_vertex(s, v[k], p, (uint32_t[2]){self, self})
                       ? 1.0 / s->links->faces_at.data[v[k]]
                       : 0.0;
    for (size_t k = 0; k < 3; k++) {
        uint32_t beyond = s->links->across.data[3 * (size_t)face + k];
        if (weight[(k + 2) % 3] > TIE || beyond == KILN_NONE || beyond == self)
            continue;
        return is_nearest_edge(s, v[k], v[(k + 1) % 3], beyond, p) ? 0.5 : 0.0;
    }
    return 1.0;
}

double kiln_edge_share(const kiln_linked *s, const uint32_t ends[2], const double weight[2],
                       kiln_vec3 p, const uint32_t self[2], const uint32_t *sharing)
{
    for (int k = 0; k < 2; k++)
        if (weight[k] >= 1.0 - TIE)
            return is_nearest_vertex(s, ends[k], p, self) ? 1.0 / sharing[ends[k]] : 0.0;
    return 1.0;
}

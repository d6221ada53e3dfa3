/* Patches of a surface, told apart by the angle between triangles. */
#include "topology/edge_table.h"
#include "topology/surface_mend.h"

typedef struct patches {
    kiln_soup *s;
    kiln_u32_array
        parent; /* [triangle] of the union-find forest: the lowest of its patch is root */
} patches;

static uint32_t root_of(patches *p, uint32_t i)
{
    while (p->parent.data[i] != i)
        i = p->parent.data[i] = p->parent.data[p->parent.data[i]];
    return i;
}

static kiln_vec3 normal_of(const kiln_soup *s, uint32_t triangle)
{
    const uint32_t *v = s->triangles.data[triangle].v;
    const kiln_vec3 *p = s->points.data;
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]])));
}

static bool is_one_patch(const patches *p, const kiln_edge_slot *edge, double least_cosine)
{
    uint32_t a = edge->side[0] / 3, b = edge->side[1] / 3;
    const kiln_soup *s = p->s;
    if (s->triangle_tags.count && s->triangle_tags.data[a] != s->triangle_tags.data[b])
        return false;
    double cosine = kiln_v3_dot(normal_of(s, a), normal_of(s, b));
    return (kiln_edge_is_turned(edge, s->triangles.data) ? -cosine : cosine) >= least_cosine;
}

static void unite(patches *p, const kiln_edge_table *edges, double angle)
{
    for (size_t i = 0; i < p->parent.count; i++)
        p->parent.data[i] = (uint32_t)i;
    for (size_t i = 0; i < edges->size; i++) {
        const kiln_edge_slot *edge = &edges->slots[i];
        if (edge->count != 2 || !is_one_patch(p, edge, cos(angle)))
            continue;
        uint32_t a = root_of(p, edge->side[0] / 3), b = root_of(p, edge->side[1] / 3);
        p->parent.data[a < b ? b : a] = a < b ? a : b;
    }
}

static kiln_status tag(patches *p, double angle, size_t *count, kiln_error *error)
{
    kiln_soup *s = p->s;
    kiln_edge_table edges = {0};
    KILN_TRY(kiln_array_reserve(s->context, &p->parent, s->triangles.count, error));
    KILN_TRY(kiln_array_reserve(s->context, &s->triangle_tags, s->triangles.count, error));
    KILN_TRY(
        kiln_edge_table_build(&edges, s->context, s->triangles.data, s->triangles.count, error));
    p->parent.count = s->triangles.count;
    unite(p, &edges, angle);
    kiln_edge_table_free(&edges);
    s->triangle_tags.count = s->triangles.count;
    *count = 0;
    for (size_t i = 0; i < s->triangles.count; i++) {
        uint32_t root = root_of(p, (uint32_t)i); /* never after i, so it has its tag by now */
        s->triangle_tags.data[i] = root == i ? (int32_t)++ * count : s->triangle_tags.data[root];
    }
    return KILN_OK;
}

kiln_status kiln_surface_tag_patches(kiln_soup *surface, double angle, size_t *count,
                                     kiln_error *error)
{
    patches p = {.s = surface};
    kiln_status status = tag(&p, angle, count, error);
    kiln_array_free(surface->context, &p.parent);
    return status;
}

/* What is wrong with a surface or with the tets inside it, and where. */
#include "geom/bvh.h"
#include "geom/tet_quality.h"
#include "geom/triangle_overlap.h"
#include "geom/triangle_tree.h"
#include "io/fill_impl.h"

#include <math.h>

typedef struct crossing {
    const kiln_soup *surface;
    kiln_bvh_pair pair;
    bool found;
} crossing;

static bool crosses(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    crossing *c = user;
    for (size_t i = 0; i < count && !c->found; i++) {
        const uint32_t *v = c->surface->triangles.data[pairs[i].a].v;
        const uint32_t *w = c->surface->triangles.data[pairs[i].b].v;
        kiln_vec3 p[3], q[3];
        for (int k = 0; k < 3; k++) {
            p[k] = c->surface->points.data[v[k]];
            q[k] = c->surface->points.data[w[k]];
        }
        c->found = kiln_triangle_overlap_shared(p, v, q, w) != KILN_OVERLAP_DISJOINT;
        c->pair = pairs[i];
    }
    return !c->found;
}

/* TetGen answers a surface that meets itself by crashing. This finds the place, exactly, after the
 * fact: surfaces that are fine do not pay for it. */
kiln_status kiln_fill_find_crossing(const kiln_soup *surface, const uint32_t *from,
                                    const char *place, kiln_error *error)
{
    size_t count = surface->triangles.count;
    kiln_box *boxes = kiln_resize(surface->context, NULL, 0, count * sizeof *boxes);
    if (!boxes)
        return kiln_fail_memory(error, count * sizeof *boxes);
    for (size_t i = 0; i < 3 * count; i++) {
        kiln_box box = i % 3 ? boxes[i / 3] : kiln_box_empty();
        uint32_t v = surface->triangles.data[i / 3].v[i % 3];
        boxes[i / 3] = kiln_box_grow(box, surface->points.data[v]);
    }
    kiln_bvh bvh = {0};
    kiln_status status = kiln_bvh_build(&bvh, surface->context, boxes, count, error);
    kiln_release(surface->context, boxes, count * sizeof *boxes);
    crossing c = {.surface = surface};
    if (status == KILN_OK)
        kiln_bvh_visit_self_overlap(&bvh, crosses, &c);
    kiln_bvh_destroy(&bvh);
    if (!c.found)
        return status;
    const uint32_t *v = surface->triangles.data[c.pair.a].v;
    const kiln_vec3 *p = surface->points.data;
    kiln_vec3 middle =
        kiln_v3_scale(kiln_v3_add(p[v[0]], kiln_v3_add(p[v[1]], p[v[2]])), 1.0 / 3.0);
    return kiln_fail(
        error, KILN_ERR_INPUT, place, 0, -1,
        "the surface crosses or touches itself: triangles %u and %u, near (%g, %g, %g)",
        (from ? from[c.pair.a] : c.pair.a) + 1, (from ? from[c.pair.b] : c.pair.b) + 1, middle.x,
        middle.y, middle.z);
}

static double smallest_angle(const kiln_triangle *t)
{
    double least = KILN_PI;
    for (int k = 0; k < 3; k++) {
        kiln_vec3 u = kiln_v3_sub(t->p[(k + 1) % 3], t->p[k]);
        kiln_vec3 v = kiln_v3_sub(t->p[(k + 2) % 3], t->p[k]);
        least = fmin(least, atan2(kiln_v3_norm(kiln_v3_cross(u, v)), kiln_v3_dot(u, v)));
    }
    return least * 180.0 / KILN_PI;
}

/* Thickness of the body through p along the normal of the nearest triangle, its longest edge and
 * its smallest angle. */
static void look_around(const kiln_triangle_tree *tree, kiln_vec3 p, double size,
                        kiln_fill_report *report)
{
    enum { HITS = 64 };
    double part[HITS], off, before = 0.0, after = 1.0;
    uint32_t near = kiln_triangle_tree_closest(tree, p, INFINITY, &off);
    const kiln_triangle *t = &tree->triangle[near];
    kiln_vec3 normal = kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(t->p[1], t->p[0]), kiln_v3_sub(t->p[2], t->p[0])));
    size_t hits = kiln_triangle_tree_meets(tree, kiln_v3_madd(p, -size, normal),
                                           kiln_v3_madd(p, size, normal), HITS, part);
    for (size_t i = 0; i < hits && hits <= HITS; i++) {
        if (part[i] <= 0.5)
            before = fmax(before, part[i]);
        else
            after = fmin(after, part[i]);
    }
    report->thickness = 2.0 * size * (after - before);
    report->triangle_there = near;
    report->edge_there = 0.0;
    for (int k = 0; k < 3; k++)
        report->edge_there =
            fmax(report->edge_there, kiln_v3_norm(kiln_v3_sub(t->p[k], t->p[(k + 1) % 3])));
    report->angle_there = smallest_angle(t);
}

kiln_status kiln_fill_judge(const kiln_soup *surface, const uint32_t *from, const kiln_soup *filled,
                            kiln_fill_report *report, kiln_error *error)
{
    const kiln_vec3 *p = filled->points.data;
    size_t count = surface->triangles.count;
    report->worst = INFINITY;
    for (size_t i = 0; i < filled->tets.count; i++) {
        const uint32_t *v = filled->tets.data[i].v;
        double q = kiln_tet_quality(&p[v[0]], &p[v[1]], &p[v[2]], &p[v[3]]);
        if (q >= report->worst)
            continue;
        kiln_vec3 sum = kiln_v3_add(kiln_v3_add(p[v[0]], p[v[1]]), kiln_v3_add(p[v[2]], p[v[3]]));
        report->worst = q;
        report->worst_at = kiln_v3_scale(sum, 0.25);
    }
    if (report->worst >= KILN_FILL_POOR || count == 0)
        return KILN_OK;
    kiln_triangle *corners = kiln_resize(surface->context, NULL, 0, count * sizeof *corners);
    if (!corners)
        return kiln_fail_memory(error, count * sizeof *corners);
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < 3 * count; i++) {
        corners[i / 3].p[i % 3] = surface->points.data[surface->triangles.data[i / 3].v[i % 3]];
        box = kiln_box_grow(box, corners[i / 3].p[i % 3]);
    }
    kiln_triangle_tree tree;
    kiln_status status = kiln_triangle_tree_build(&tree, surface->context, corners, count, error);
    kiln_release(surface->context, corners, count * sizeof *corners);
    KILN_TRY(status);
    look_around(&tree, report->worst_at, kiln_v3_norm(kiln_v3_sub(box.high, box.low)), report);
    report->triangle_there = from[report->triangle_there];
    kiln_triangle_tree_destroy(&tree);
    return KILN_OK;
}

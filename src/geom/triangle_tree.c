#include "geom/triangle_tree.h"

#include "geom/distance.h"

#include <string.h>

/* A group counts as far when its distance is this many times its radius (Barill et al. use 2 with
 * an order more). */
#define FAR 3.0
/* Likewise one triangle. */
#define FAR_ONE 4.0

static kiln_vec3 area_normal(const kiln_triangle *t)
{
    return kiln_v3_scale(
        kiln_v3_cross(kiln_v3_sub(t->p[1], t->p[0]), kiln_v3_sub(t->p[2], t->p[0])), 0.5);
}

static kiln_vec3 centroid(const kiln_triangle *t)
{
    return kiln_v3_scale(kiln_v3_add(t->p[0], kiln_v3_add(t->p[1], t->p[2])), 1.0 / 3.0);
}

static kiln_speck speck_of(const kiln_triangle *t)
{
    kiln_speck s = {.centre = centroid(t), .normal = area_normal(t)};
    for (int k = 0; k < 3; k++)
        s.radius = fmax(s.radius, kiln_v3_norm(kiln_v3_sub(t->p[k], s.centre)));
    return s;
}

/* The items below a group of a level are consecutive in the order of the tree. */
static void gather(const kiln_triangle_tree *tree, size_t first, size_t end, kiln_dipole *out)
{
    kiln_dipole d = {0};
    kiln_vec3 weighted = {0, 0, 0}, plain = {0, 0, 0};
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        if (tree->bvh.item[i] == KILN_BVH_NONE)
            continue;
        const kiln_triangle *t = &tree->triangle[tree->bvh.item[i]];
        kiln_vec3 normal = area_normal(t), middle = centroid(t);
        double area = kiln_v3_norm(normal);
        d.area += area;
        d.normal = kiln_v3_add(d.normal, normal);
        weighted = kiln_v3_madd(weighted, area, middle);
        plain = kiln_v3_add(plain, middle);
        count++;
    }
    if (d.area > 0.0)
        d.centre = kiln_v3_scale(weighted, 1.0 / d.area);
    else if (count > 0)
        d.centre = kiln_v3_scale(plain, 1.0 / (double)count);
    double radius2 = 0.0;
    for (size_t i = first; i < end; i++) {
        if (tree->bvh.item[i] == KILN_BVH_NONE)
            continue;
        const kiln_triangle *t = &tree->triangle[tree->bvh.item[i]];
        kiln_vec3 normal = area_normal(t), off = kiln_v3_sub(centroid(t), d.centre);
        const double o[3] = {off.x, off.y, off.z}, n[3] = {normal.x, normal.y, normal.z};
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                d.moment.m[r][c] += o[r] * n[c];
        for (int k = 0; k < 3; k++)
            radius2 = fmax(radius2, kiln_v3_norm2(kiln_v3_sub(t->p[k], d.centre)));
    }
    d.radius = sqrt(radius2);
    *out = d;
}

static kiln_status build_dipoles(kiln_triangle_tree *tree, kiln_error *error)
{
    size_t lanes = tree->bvh.levels > 0 ? tree->bvh.groups[0] * KILN_BVH_WIDTH : 0;
    size_t below = KILN_BVH_WIDTH;
    for (int level = 0; level < tree->bvh.levels; level++, below *= KILN_BVH_WIDTH) {
        size_t groups = tree->bvh.groups[level];
        tree->dipole[level] =
            kiln_resize(tree->context, NULL, 0, groups * sizeof *tree->dipole[level]);
        if (!tree->dipole[level])
            return kiln_fail_memory(error, groups * sizeof *tree->dipole[level]);
        for (size_t g = 0; g < groups; g++) {
            size_t end = (g + 1) * below < lanes ? (g + 1) * below : lanes;
            gather(tree, g * below, end, &tree->dipole[level][g]);
        }
    }
    return KILN_OK;
}

static kiln_status build(kiln_triangle_tree *tree, const kiln_triangle *triangles, size_t count,
                         kiln_error *error)
{
    kiln_box *boxes = kiln_resize(tree->context, NULL, 0, (count + 1) * sizeof *boxes);
    tree->triangle = kiln_resize(tree->context, NULL, 0, (count + 1) * sizeof *triangles);
    tree->speck = kiln_resize(tree->context, NULL, 0, (count + 1) * sizeof *tree->speck);
    bool room = boxes && tree->triangle && tree->speck;
    kiln_status status = room ? KILN_OK : kiln_fail_memory(error, count * sizeof *triangles);
    for (size_t i = 0; i < count && status == KILN_OK; i++) {
        for (int k = 0; k < 3 && status == KILN_OK; k++)
            if (!kiln_v3_finite(triangles[i].p[k]))
                status = kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                                   "triangle %zu has a coordinate that is not finite", i + 1);
        tree->triangle[i] = triangles[i];
        tree->speck[i] = speck_of(&triangles[i]);
        boxes[i] = kiln_box_of(triangles[i].p, 3);
    }
    if (status == KILN_OK)
        status = kiln_bvh_build(&tree->bvh, tree->context, boxes, count, error);
    kiln_release(tree->context, boxes, (count + 1) * sizeof *boxes);
    return status == KILN_OK ? build_dipoles(tree, error) : status;
}

kiln_status kiln_triangle_tree_build(kiln_triangle_tree *tree, kiln_context *context,
                                     const kiln_triangle *triangles, size_t count,
                                     kiln_error *error)
{
    *tree = (kiln_triangle_tree){.context = context, .count = count};
    kiln_status status = build(tree, triangles, count, error);
    if (status != KILN_OK)
        kiln_triangle_tree_destroy(tree);
    return status;
}

void kiln_triangle_tree_destroy(kiln_triangle_tree *tree)
{
    if (!tree->context)
        return;
    for (int level = 0; level < KILN_BVH_LEVELS; level++)
        if (tree->dipole[level])
            kiln_release(tree->context, tree->dipole[level],
                         tree->bvh.groups[level] * sizeof *tree->dipole[level]);
    kiln_release(tree->context, tree->triangle, (tree->count + 1) * sizeof *tree->triangle);
    kiln_release(tree->context, tree->speck, (tree->count + 1) * sizeof *tree->speck);
    kiln_bvh_destroy(&tree->bvh);
    *tree = (kiln_triangle_tree){0};
}

/* Van Oosterom and Strackee 1983. */
double kiln_triangle_winding(const kiln_triangle *triangle, kiln_vec3 p)
{
    kiln_vec3 a = kiln_v3_sub(triangle->p[0], p), b = kiln_v3_sub(triangle->p[1], p);
    kiln_vec3 c = kiln_v3_sub(triangle->p[2], p);
    double la = kiln_v3_norm(a), lb = kiln_v3_norm(b), lc = kiln_v3_norm(c);
    double det = kiln_v3_triple(a, b, c);
    double sum =
        la * lb * lc + kiln_v3_dot(a, b) * lc + kiln_v3_dot(b, c) * la + kiln_v3_dot(c, a) * lb;
    return det == 0.0 ? 0.0 : atan2(det, sum) / (2.0 * KILN_PI);
}

/* Of the potential 1/(4 pi r): gradient along the summed normal, Hessian with the moments. */
static double dipole_winding(const kiln_dipole *d, kiln_vec3 to, double r2)
{
    double r = sqrt(r2), r3 = r2 * r;
    const double x[3] = {to.x, to.y, to.z};
    double first = kiln_v3_dot(to, d->normal) / r3, trace = 0.0, along = 0.0;
    for (int i = 0; i < 3; i++) {
        trace += d->moment.m[i][i];
        for (int j = 0; j < 3; j++)
            along += x[i] * d->moment.m[i][j] * x[j];
    }
    return (first + (trace - 3.0 * along / r2) / r3) / (4.0 * KILN_PI);
}

static double item_winding(const kiln_triangle_tree *tree, uint32_t item, kiln_vec3 p)
{
    const kiln_speck *s = &tree->speck[item];
    kiln_vec3 to = kiln_v3_sub(s->centre, p);
    double r2 = kiln_v3_norm2(to);
    if (r2 <= FAR_ONE * FAR_ONE * s->radius * s->radius)
        return kiln_triangle_winding(&tree->triangle[item], p);
    return kiln_v3_dot(to, s->normal) / (4.0 * KILN_PI * r2 * sqrt(r2));
}

typedef struct waiting {
    size_t group;
    int level;
} waiting;

double kiln_triangle_tree_winding(const kiln_triangle_tree *tree, kiln_vec3 p)
{
    waiting stack[KILN_BVH_WIDTH * KILN_BVH_LEVELS];
    int count = 0;
    double sum = 0.0;
    if (tree->bvh.count > 0)
        stack[count++] = (waiting){0, tree->bvh.levels - 1};
    while (count > 0) {
        waiting at = stack[--count];
        const kiln_dipole *d = &tree->dipole[at.level][at.group];
        kiln_vec3 to = kiln_v3_sub(d->centre, p);
        double r2 = kiln_v3_norm2(to);
        if (r2 > FAR * FAR * d->radius * d->radius) {
            sum += dipole_winding(d, to, r2);
            continue;
        }
        for (size_t k = 0; k < KILN_BVH_WIDTH; k++) {
            size_t child = at.group * KILN_BVH_WIDTH + k;
            if (at.level > 0 && child < tree->bvh.groups[at.level - 1])
                stack[count++] = (waiting){child, at.level - 1};
            else if (at.level == 0 && tree->bvh.item[child] != KILN_BVH_NONE)
                sum += item_winding(tree, tree->bvh.item[child], p);
        }
    }
    return sum;
}

static double distance2(void *user, uint32_t item, kiln_vec3 p)
{
    const kiln_triangle_tree *tree = user;
    return kiln_triangle_distance2(p, tree->triangle[item].p);
}

uint32_t kiln_triangle_tree_closest(const kiln_triangle_tree *tree, kiln_vec3 p, double limit,
                                    double *distance)
{
    double best2;
    uint32_t item =
        kiln_bvh_closest(&tree->bvh, p, limit * limit, distance2, (void *)(uintptr_t)tree, &best2);
    *distance = INFINITY;
    if (item != KILN_BVH_NONE)
        *distance = sqrt(kiln_closest_on_triangle(p, tree->triangle[item].p).distance2);
    return item;
}

typedef struct meeting {
    const kiln_triangle_tree *tree;
    kiln_vec3 a, along;
    size_t most, count;
    double *parts;
} meeting;

static bool meet(void *user, uint32_t item)
{
    meeting *m = user;
    const kiln_triangle *t = &m->tree->triangle[item];
    kiln_vec3 u = kiln_v3_sub(t->p[1], t->p[0]), v = kiln_v3_sub(t->p[2], t->p[0]);
    kiln_vec3 from = kiln_v3_sub(m->a, t->p[0]), cross = kiln_v3_cross(m->along, v);
    double det = kiln_v3_dot(u, cross);
    if (det == 0.0)
        return true;
    kiln_vec3 other = kiln_v3_cross(from, u);
    double s = kiln_v3_dot(from, cross) / det, r = kiln_v3_dot(m->along, other) / det;
    double part = kiln_v3_dot(v, other) / det;
    if (!(s >= 0.0 && r >= 0.0 && s + r <= 1.0 && part >= 0.0 && part <= 1.0))
        return true;
    if (m->count++ < m->most) {
        size_t at = m->count - 1;
        for (; at > 0 && m->parts[at - 1] > part; at--)
            m->parts[at] = m->parts[at - 1];
        m->parts[at] = part;
    }
    return true;
}

size_t kiln_triangle_tree_meets(const kiln_triangle_tree *tree, kiln_vec3 a, kiln_vec3 b,
                                size_t most, double *parts)
{
    meeting m = {.tree = tree, .a = a, .along = kiln_v3_sub(b, a), .most = most, .parts = parts};
    kiln_bvh_query_box(&tree->bvh, (kiln_box){kiln_v3_min(a, b), kiln_v3_max(a, b)}, meet, &m);
    return m.count;
}

#include "contact/obstacle_impl.h"

/* Exact signed distances, outside and inside. */

kiln_obstacle_hit kiln_obstacle_to_plane(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    const kiln_obstacle_shape *s = &obstacle->shape;
    double d = kiln_v3_dot(kiln_v3_sub(p, s->point), s->normal);
    return (kiln_obstacle_hit){d, s->normal, kiln_v3_madd(p, -d, s->normal)};
}

/* Of the ball about `centre`; in the centre itself the nearest point lies along `choice`. */
static kiln_obstacle_hit to_ball(kiln_vec3 p, kiln_vec3 centre, double radius, kiln_vec3 choice)
{
    kiln_vec3 d = kiln_v3_sub(p, centre);
    double r = kiln_v3_norm(d);
    kiln_vec3 n = r > 0.0 ? kiln_v3_scale(d, 1.0 / r) : choice;
    return (kiln_obstacle_hit){r - radius, n, kiln_v3_madd(centre, radius, n)};
}

kiln_obstacle_hit kiln_obstacle_to_sphere(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    return to_ball(p, obstacle->shape.point, obstacle->shape.radius, obstacle->axis);
}

kiln_obstacle_hit kiln_obstacle_to_capsule(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    double t = kiln_v3_dot(kiln_v3_sub(p, obstacle->shape.point), obstacle->axis);
    t = t < 0.0 ? 0.0 : t > obstacle->length ? obstacle->length : t;
    return to_ball(p, kiln_v3_madd(obstacle->shape.point, t, obstacle->axis),
                   obstacle->shape.radius, obstacle->side);
}

kiln_obstacle_hit kiln_obstacle_to_box(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    const double at[3] = {p.x, p.y, p.z};
    const double low[3] = {obstacle->shape.point.x, obstacle->shape.point.y,
                           obstacle->shape.point.z};
    const double high[3] = {obstacle->shape.end.x, obstacle->shape.end.y, obstacle->shape.end.z};
    double out[3], near[3], deepest = -INFINITY, n[3] = {0};
    int face = 0;
    for (int k = 0; k < 3; k++) {
        double above = at[k] - high[k], below = low[k] - at[k];
        double depth = above > below ? above : below;
        out[k] = above > 0.0 ? above : below > 0.0 ? -below : 0.0;
        near[k] = above > 0.0 ? high[k] : below > 0.0 ? low[k] : at[k];
        if (depth > deepest) {
            deepest = depth;
            face = k;
        }
    }
    kiln_vec3 offset = {out[0], out[1], out[2]};
    double distance = kiln_v3_norm(offset);
    if (distance > 0.0)
        return (kiln_obstacle_hit){distance, kiln_v3_scale(offset, 1.0 / distance),
                                   kiln_v3(near[0], near[1], near[2])};
    bool above = at[face] - high[face] > low[face] - at[face];
    n[face] = above ? 1.0 : -1.0;
    near[face] = above ? high[face] : low[face];
    return (kiln_obstacle_hit){deepest, kiln_v3(n[0], n[1], n[2]),
                               kiln_v3(near[0], near[1], near[2])};
}

/* Solids of revolution: the half plane (r, z) through the axis and p, in which the outline is a
 * convex chain of points from the axis round to the axis. The nearest point lies in it. */
typedef struct plane_point {
    double r, z;
} plane_point;

typedef struct plane_hit {
    double distance;
    plane_point normal, nearest;
} plane_hit;

/* `n` is the outward normal and `depth` the distance along it from the line of the segment. */
static plane_hit to_segment(plane_point p, plane_point a, plane_point b, plane_point n,
                            double depth)
{
    double er = b.r - a.r, ez = b.z - a.z;
    double t = ((p.r - a.r) * er + (p.z - a.z) * ez) / (er * er + ez * ez);
    if (t > 0.0 && t < 1.0)
        return (plane_hit){fabs(depth), n, {p.r - depth * n.r, p.z - depth * n.z}};
    plane_point q = t >= 1.0 ? b : a;
    double dr = p.r - q.r, dz = p.z - q.z, d = sqrt(dr * dr + dz * dz);
    return (plane_hit){d, d > 0.0 ? (plane_point){dr / d, dz / d} : n, q};
}

/* Outside it is the nearest of the segments; inside a convex outline the nearest of their lines. */
static plane_hit to_profile(plane_point p, const plane_point *chain, int count)
{
    plane_hit outside = {.distance = INFINITY}, inside = {.distance = -INFINITY};
    for (int i = 0; i + 1 < count; i++) {
        plane_point a = chain[i], b = chain[i + 1];
        double er = b.r - a.r, ez = b.z - a.z, e = sqrt(er * er + ez * ez);
        plane_point n = {ez / e, -er / e};
        double depth = (p.r - a.r) * n.r + (p.z - a.z) * n.z;
        if (depth > inside.distance)
            inside = (plane_hit){depth, n, {p.r - depth * n.r, p.z - depth * n.z}};
        plane_hit hit = to_segment(p, a, b, n, depth);
        if (hit.distance < outside.distance)
            outside = hit;
    }
    return inside.distance > 0.0 ? outside : inside;
}

/* d = z axis + r across. Across is made perpendicular twice: near the axis the first difference is
 * mostly rounding, and where it is nothing else the side is taken. */
static kiln_vec3 split_across(const kiln_obstacle *o, kiln_vec3 d, double *z, double *r)
{
    *z = kiln_v3_dot(d, o->axis);
    kiln_vec3 across = kiln_v3_madd(d, -*z, o->axis);
    across = kiln_v3_madd(across, -kiln_v3_dot(across, o->axis), o->axis);
    *r = kiln_v3_norm(across);
    if (!(*r > 1e-16 * fabs(*z)))
        return o->side;
    return kiln_v3_scale(across, 1.0 / *r);
}

static kiln_obstacle_hit to_revolved(const kiln_obstacle *o, kiln_vec3 p, const plane_point *chain,
                                     int count)
{
    plane_point at;
    kiln_vec3 across = split_across(o, kiln_v3_sub(p, o->shape.point), &at.z, &at.r);
    plane_hit hit = to_profile(at, chain, count);
    kiln_vec3 normal = kiln_v3_madd(kiln_v3_scale(across, hit.normal.r), hit.normal.z, o->axis);
    kiln_vec3 nearest = kiln_v3_madd(o->shape.point, hit.nearest.r, across);
    return (kiln_obstacle_hit){hit.distance, normal, kiln_v3_madd(nearest, hit.nearest.z, o->axis)};
}

kiln_obstacle_hit kiln_obstacle_to_cylinder(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    double r = obstacle->shape.radius, l = obstacle->length;
    const plane_point chain[4] = {{0, 0}, {r, 0}, {r, l}, {0, l}};
    return to_revolved(obstacle, p, chain, 4);
}

kiln_obstacle_hit kiln_obstacle_to_cone(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    const plane_point chain[3] = {{0, 0}, {obstacle->shape.radius, 0}, {0, obstacle->length}};
    return to_revolved(obstacle, p, chain, 3);
}

kiln_obstacle_hit kiln_obstacle_to_torus(const kiln_obstacle *obstacle, kiln_vec3 p)
{
    const kiln_obstacle_shape *s = &obstacle->shape;
    double z, r;
    kiln_vec3 across = split_across(obstacle, kiln_v3_sub(p, s->point), &z, &r);
    return to_ball(p, kiln_v3_madd(s->point, s->radius, across), s->tube, s->normal);
}

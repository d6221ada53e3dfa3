#include "contact/obstacle_impl.h"

#include <string.h>

/* What a shape must have. */
enum { NEEDS_NORMAL = 1, NEEDS_RADIUS = 2, NEEDS_END = 4, NEEDS_TUBE = 8, NEEDS_CORNERS = 16 };

static const struct {
    const char *name;
    kiln_obstacle_distance_to distance;
    unsigned needs;
} rows[KILN_OBSTACLE_COUNT] = {
    [KILN_OBSTACLE_PLANE] = {"plane", kiln_obstacle_to_plane, NEEDS_NORMAL},
    [KILN_OBSTACLE_SPHERE] = {"sphere", kiln_obstacle_to_sphere, NEEDS_RADIUS},
    [KILN_OBSTACLE_CYLINDER] = {"cylinder", kiln_obstacle_to_cylinder, NEEDS_RADIUS | NEEDS_END},
    [KILN_OBSTACLE_CAPSULE] = {"capsule", kiln_obstacle_to_capsule, NEEDS_RADIUS | NEEDS_END},
    [KILN_OBSTACLE_BOX] = {"box", kiln_obstacle_to_box, NEEDS_CORNERS},
    [KILN_OBSTACLE_CONE] = {"cone", kiln_obstacle_to_cone, NEEDS_RADIUS | NEEDS_END},
    [KILN_OBSTACLE_TORUS] = {"torus", kiln_obstacle_to_torus,
                             NEEDS_NORMAL | NEEDS_RADIUS | NEEDS_TUBE},
    [KILN_OBSTACLE_MESH] = {"mesh", kiln_obstacle_to_mesh, 0},
};

const char *kiln_obstacle_name(kiln_obstacle_kind kind)
{
    return rows[kind].name;
}

static kiln_status check_points(const kiln_obstacle_shape *s, unsigned needs, kiln_error *error)
{
    const char *name = rows[s->kind].name;
    kiln_vec3 d = kiln_v3_sub(s->end, s->point);
    if (!kiln_v3_finite(s->point))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "point must be finite, got %g %g %g",
                         s->point.x, s->point.y, s->point.z);
    if ((needs & (NEEDS_END | NEEDS_CORNERS)) && !kiln_v3_finite(d))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "end must be finite, got %g %g %g",
                         s->end.x, s->end.y, s->end.z);
    double length = kiln_v3_norm(d);
    if ((needs & NEEDS_END) && !(length > 0.0 && isfinite(length)))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "point and end must differ, both are %g %g %g", s->end.x, s->end.y,
                         s->end.z);
    if ((needs & NEEDS_CORNERS) && (d.x == 0.0 || d.y == 0.0 || d.z == 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "point and end must differ in x, y and z; they differ by %g %g %g", d.x,
                         d.y, d.z);
    return KILN_OK;
}

static kiln_status check_sizes(const kiln_obstacle_shape *s, unsigned needs, kiln_error *error)
{
    const char *name = rows[s->kind].name;
    double n = kiln_v3_norm(s->normal);
    if ((needs & NEEDS_NORMAL) && !(isfinite(n) && n > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "normal must be finite and not zero, got %g %g %g", s->normal.x,
                         s->normal.y, s->normal.z);
    if ((needs & NEEDS_RADIUS) && !(isfinite(s->radius) && s->radius > 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1, "radius must be positive, got %g m",
                         s->radius);
    if ((needs & NEEDS_TUBE) && !(s->tube > 0.0 && s->tube < s->radius))
        return kiln_fail(error, KILN_ERR_INPUT, name, 0, -1,
                         "tube must be positive and below radius %g m, got %g m", s->radius,
                         s->tube);
    return KILN_OK;
}

/* The shapes are round about their axis: any two directions across it will do. */
static void set_axes(kiln_obstacle *o)
{
    kiln_vec3 a = {0, 0, 1};
    unsigned needs = rows[o->shape.kind].needs;
    if (needs & NEEDS_NORMAL)
        a = o->shape.normal = kiln_v3_normalize(o->shape.normal);
    if (needs & NEEDS_END) {
        a = kiln_v3_sub(o->shape.end, o->shape.point);
        o->length = kiln_v3_norm(a);
        a = kiln_v3_scale(a, 1.0 / o->length);
    }
    kiln_vec3 least = fabs(a.x) <= fabs(a.y) && fabs(a.x) <= fabs(a.z) ? kiln_v3(1, 0, 0)
                      : fabs(a.y) <= fabs(a.z)                         ? kiln_v3(0, 1, 0)
                                                                       : kiln_v3(0, 0, 1);
    o->axis = a;
    o->side = kiln_v3_normalize(kiln_v3_cross(least, a));
    o->third = kiln_v3_cross(a, o->side);
}

kiln_status kiln_obstacle_create(kiln_context *context, kiln_obstacle_shape *take_shape,
                                 double friction, kiln_obstacle **out, kiln_error *error)
{
    KILN_TRY(check_points(take_shape, rows[take_shape->kind].needs, error));
    KILN_TRY(check_sizes(take_shape, rows[take_shape->kind].needs, error));
    if (!(isfinite(friction) && friction >= 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, rows[take_shape->kind].name, 0, -1,
                         "friction must not be negative, got %g", friction);
    kiln_obstacle_mesh mesh = {0};
    if (take_shape->kind == KILN_OBSTACLE_MESH)
        KILN_TRY(kiln_obstacle_mesh_build(context, &take_shape->surface, &mesh, error));
    if (mesh.open && take_shape->inside_out) {
        kiln_obstacle_mesh_free(context, &mesh);
        return kiln_fail(error, KILN_ERR_INPUT, "mesh", 0, -1,
                         "inside_out needs a closed surface: a sheet has no inside");
    }
    kiln_obstacle *o = kiln_resize(context, NULL, 0, sizeof *o);
    if (!o) {
        kiln_obstacle_mesh_free(context, &mesh);
        return kiln_fail_memory(error, sizeof *o);
    }
    *o = (kiln_obstacle){
        .context = context,
        .shape = *take_shape,
        .friction = friction,
        .wetting = {.angle = KILN_PI},
        .pose = {.rotation = kiln_m3_identity()},
        .begin_rotation = kiln_m3_identity(),
        .mesh = mesh,
    };
    take_shape->surface = (kiln_soup){.context = take_shape->surface.context};
    if (o->shape.kind == KILN_OBSTACLE_BOX) {
        o->shape.point = kiln_v3_min(take_shape->point, take_shape->end);
        o->shape.end = kiln_v3_max(take_shape->point, take_shape->end);
    }
    set_axes(o);
    *out = o;
    return KILN_OK;
}

void kiln_obstacle_destroy(kiln_obstacle *obstacle)
{
    if (!obstacle)
        return;
    kiln_obstacle_mesh_free(obstacle->context, &obstacle->mesh);
    if (obstacle->shape.surface.context)
        kiln_soup_free(&obstacle->shape.surface);
    kiln_release(obstacle->context, obstacle, sizeof *obstacle);
}

void kiln_obstacle_set_pose(kiln_obstacle *obstacle, const kiln_pose *pose)
{
    obstacle->pose = *pose;
    kiln_obstacle_set_begin(obstacle, pose->rotation, pose->shift);
}

void kiln_obstacle_set_begin(kiln_obstacle *obstacle, kiln_mat3 rotation, kiln_vec3 shift)
{
    obstacle->begin_rotation = rotation;
    obstacle->begin_shift = shift;
}

kiln_vec3 kiln_obstacle_place(const kiln_obstacle *obstacle, kiln_vec3 own, bool at_begin)
{
    const kiln_obstacle *o = obstacle;
    return at_begin ? kiln_v3_add(kiln_m3_apply(o->begin_rotation, own), o->begin_shift)
                    : kiln_v3_add(kiln_m3_apply(o->pose.rotation, own), o->pose.shift);
}

kiln_vec3 kiln_obstacle_own(const kiln_obstacle *obstacle, kiln_vec3 place)
{
    const kiln_pose *pose = &obstacle->pose;
    return kiln_m3_apply(kiln_m3_transpose(pose->rotation), kiln_v3_sub(place, pose->shift));
}

void kiln_obstacle_axes(const kiln_obstacle *obstacle, kiln_vec3 *axis, kiln_vec3 *side,
                        kiln_vec3 *third)
{
    *axis = obstacle->axis;
    *side = obstacle->side;
    *third = obstacle->third;
}

const kiln_obstacle_shape *kiln_obstacle_shape_of(const kiln_obstacle *obstacle)
{
    return &obstacle->shape;
}

bool kiln_obstacle_is_sheet(const kiln_obstacle *obstacle)
{
    return obstacle->mesh.open;
}

double kiln_obstacle_friction(const kiln_obstacle *obstacle)
{
    return obstacle->friction;
}

void kiln_obstacle_set_wetting(kiln_obstacle *obstacle, const kiln_wetting *wetting)
{
    obstacle->wetting = *wetting;
}

const kiln_wetting *kiln_obstacle_wetting(const kiln_obstacle *obstacle)
{
    return &obstacle->wetting;
}

double kiln_obstacle_distance(const kiln_obstacle *obstacle, kiln_vec3 at, kiln_vec3 *normal,
                              kiln_vec3 *nearest)
{
    const kiln_pose *pose = &obstacle->pose;
    kiln_vec3 p = kiln_m3_apply(kiln_m3_transpose(pose->rotation), kiln_v3_sub(at, pose->shift));
    kiln_obstacle_hit hit = rows[obstacle->shape.kind].distance(obstacle, p);
    double sign = obstacle->shape.inside_out ? -1.0 : 1.0;
    *normal = kiln_v3_scale(kiln_m3_apply(pose->rotation, hit.normal), sign);
    *nearest = kiln_v3_add(kiln_m3_apply(pose->rotation, hit.nearest), pose->shift);
    return sign * hit.distance;
}

/* By how much the normal turns along t, 1/m. */
static kiln_vec3 turn_along(const kiln_obstacle *obstacle, kiln_vec3 at, kiln_vec3 t, double scale)
{
    kiln_vec3 ahead, behind, foot;
    kiln_obstacle_distance(obstacle, kiln_v3_madd(at, scale, t), &ahead, &foot);
    kiln_obstacle_distance(obstacle, kiln_v3_madd(at, -scale, t), &behind, &foot);
    return kiln_v3_scale(kiln_v3_sub(ahead, behind), 0.5 / scale);
}

/* The larger curvature from those along t[0] and t[1], which become the directions of both. */
static double bend_most(const kiln_obstacle *obstacle, kiln_vec3 at, double scale, kiln_vec3 t[2])
{
    kiln_vec3 a = turn_along(obstacle, at, t[0], scale), b = turn_along(obstacle, at, t[1], scale);
    double aa = kiln_v3_dot(a, t[0]), bb = kiln_v3_dot(b, t[1]);
    double ab = 0.5 * (kiln_v3_dot(a, t[1]) + kiln_v3_dot(b, t[0]));
    double angle = 0.5 * atan2(2.0 * ab, aa - bb), c = cos(angle), s = sin(angle);
    kiln_vec3 first = kiln_v3_add(kiln_v3_scale(t[0], c), kiln_v3_scale(t[1], s));
    t[1] = kiln_v3_sub(kiln_v3_scale(t[1], c), kiln_v3_scale(t[0], s));
    t[0] = first;
    return 0.5 * (aa + bb) + sqrt(0.25 * (aa - bb) * (aa - bb) + ab * ab);
}

/* Twice: across an edge the normal jumps however one goes, so that the first directions are rough.
 */
double kiln_obstacle_radius(const kiln_obstacle *obstacle, kiln_vec3 at, double scale,
                            kiln_vec3 *across)
{
    kiln_vec3 n, foot, t[2];
    kiln_obstacle_distance(obstacle, at, &n, &foot);
    const kiln_vec3 axis = fabs(n.x) < 0.6 ? kiln_v3(1, 0, 0) : kiln_v3(0, 1, 0);
    t[0] = kiln_v3_normalize(kiln_v3_cross(n, axis));
    t[1] = kiln_v3_cross(n, t[0]);
    bend_most(obstacle, at, scale, t);
    double most = bend_most(obstacle, at, scale, t);
    *across = t[0];
    return most * scale > KILN_OBSTACLE_FLAT ? 1.0 / most : INFINITY;
}

kiln_vec3 kiln_obstacle_velocity(const kiln_obstacle *obstacle, kiln_vec3 at)
{
    const kiln_pose *pose = &obstacle->pose;
    return kiln_v3_add(pose->linear, kiln_v3_cross(pose->spin, kiln_v3_sub(at, pose->shift)));
}

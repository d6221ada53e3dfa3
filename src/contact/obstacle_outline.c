#include "contact/obstacle_impl.h"

/* Pictures only: chords of this many sides to a full turn. */
enum { TURN = 48, ARC = TURN / 4 };
static const double PI = 3.14159265358979323846;

/* Triangles in the obstacle's own coordinates. */
typedef struct outline {
    const kiln_obstacle *obstacle;
    kiln_soup soup;
    kiln_error *error;
} outline;

static kiln_status add_point(outline *o, kiln_vec3 p)
{
    return kiln_array_push(o->soup.context, &o->soup.points, p, o->error);
}

static kiln_status add_triangle(outline *o, size_t a, size_t b, size_t c)
{
    kiln_soup_triangle t = {{(uint32_t)a, (uint32_t)b, (uint32_t)c}};
    if (a == b || b == c || c == a)
        return KILN_OK;
    return kiln_array_push(o->soup.context, &o->soup.triangles, t, o->error);
}

static kiln_status add_quad(outline *o, size_t a, size_t b, size_t c, size_t d)
{
    KILN_TRY(add_triangle(o, a, b, c));
    return add_triangle(o, a, c, d);
}

typedef struct profile_point {
    double r, z;
} profile_point;

/* Turns a chain of (r, z), counter-clockwise with the axis on its left, about the axis. Points on
 * the axis (r = 0) become one. */
static kiln_status lathe(outline *o, const profile_point *chain, size_t count, bool closed)
{
    const kiln_obstacle *b = o->obstacle;
    size_t first[4 * TURN], sides[4 * TURN];
    for (size_t i = 0; i < count; i++) {
        first[i] = o->soup.points.count;
        sides[i] = chain[i].r > 0.0 ? TURN : 1;
        for (size_t k = 0; k < sides[i]; k++) {
            double angle = 2.0 * PI * (double)k / TURN;
            kiln_vec3 p = kiln_v3_madd(b->shape.point, chain[i].z, b->axis);
            p = kiln_v3_madd(p, chain[i].r * cos(angle), b->side);
            KILN_TRY(add_point(o, kiln_v3_madd(p, chain[i].r * sin(angle), b->third)));
        }
    }
    for (size_t i = 0; i + 1 < count + closed; i++) {
        size_t j = (i + 1) % count;
        for (size_t k = 0; k < TURN; k++) {
            size_t next = (k + 1) % TURN;
            KILN_TRY(add_quad(o, first[i] + k % sides[i], first[i] + next % sides[i],
                              first[j] + next % sides[j], first[j] + k % sides[j]));
        }
    }
    return KILN_OK;
}

/* Quarter circles from pole to pole, pulled apart by `length`. */
static kiln_status lathe_round(outline *o, double radius, double length)
{
    profile_point chain[2 * ARC + 2];
    size_t count = 0;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i <= ARC; i++) {
            double angle = PI / 2.0 * ((double)i / ARC + half - 1.0);
            bool pole = half ? i == ARC : i == 0;
            if (half && i == 0 && length == 0.0)
                continue;
            chain[count++] = (profile_point){pole ? 0.0 : radius * cos(angle),
                                             radius * sin(angle) + (half ? length : 0.0)};
        }
    return lathe(o, chain, count, false);
}

static kiln_status outline_sphere(outline *o)
{
    return lathe_round(o, o->obstacle->shape.radius, 0.0);
}

static kiln_status outline_capsule(outline *o)
{
    return lathe_round(o, o->obstacle->shape.radius, o->obstacle->length);
}

static kiln_status outline_cylinder(outline *o)
{
    double r = o->obstacle->shape.radius, l = o->obstacle->length;
    const profile_point chain[4] = {{0, 0}, {r, 0}, {r, l}, {0, l}};
    return lathe(o, chain, 4, false);
}

static kiln_status outline_cone(outline *o)
{
    const profile_point chain[3] = {
        {0, 0}, {o->obstacle->shape.radius, 0}, {0, o->obstacle->length}};
    return lathe(o, chain, 3, false);
}

static kiln_status outline_torus(outline *o)
{
    const kiln_obstacle_shape *s = &o->obstacle->shape;
    profile_point chain[TURN];
    for (int i = 0; i < TURN; i++)
        chain[i] = (profile_point){s->radius + s->tube * cos(2.0 * PI * i / TURN),
                                   s->tube * sin(2.0 * PI * i / TURN)};
    return lathe(o, chain, TURN, true);
}

static kiln_status outline_box(outline *o)
{
    static const uint8_t side[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    kiln_vec3 a = o->obstacle->shape.point, b = o->obstacle->shape.end;
    for (int i = 0; i < 8; i++)
        KILN_TRY(add_point(o, kiln_v3(i & 1 ? b.x : a.x, i & 2 ? b.y : a.y, i & 4 ? b.z : a.z)));
    for (int i = 0; i < 6; i++)
        KILN_TRY(add_quad(o, side[i][0], side[i][1], side[i][2], side[i][3]));
    return KILN_OK;
}

static kiln_status outline_mesh(outline *o)
{
    const kiln_soup *surface = &o->obstacle->shape.surface;
    for (size_t i = 0; i < surface->points.count; i++)
        KILN_TRY(add_point(o, surface->points.data[i]));
    for (size_t t = 0; t < surface->triangles.count; t++) {
        const uint32_t *v = surface->triangles.data[t].v;
        KILN_TRY(add_triangle(o, v[0], v[1], v[2]));
    }
    return KILN_OK;
}

/* `centre` and `extent` are the plane's alone. */
static kiln_status outline_plane(outline *o, kiln_vec3 centre, double extent)
{
    const kiln_obstacle *b = o->obstacle;
    double height = kiln_v3_dot(kiln_v3_sub(centre, b->shape.point), b->axis);
    kiln_vec3 foot = kiln_v3_madd(centre, -height, b->axis);
    static const double corner[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    for (int i = 0; i < 4; i++) {
        kiln_vec3 p = kiln_v3_madd(foot, extent * corner[i][0], b->side);
        KILN_TRY(add_point(o, kiln_v3_madd(p, extent * corner[i][1], b->third)));
    }
    return add_quad(o, 0, 1, 2, 3);
}

static kiln_status (*const rows[KILN_OBSTACLE_COUNT])(outline *) = {
    [KILN_OBSTACLE_SPHERE] = outline_sphere,   [KILN_OBSTACLE_CYLINDER] = outline_cylinder,
    [KILN_OBSTACLE_CAPSULE] = outline_capsule, [KILN_OBSTACLE_BOX] = outline_box,
    [KILN_OBSTACLE_CONE] = outline_cone,       [KILN_OBSTACLE_TORUS] = outline_torus,
    [KILN_OBSTACLE_MESH] = outline_mesh,
};

/* To world coordinates, and inward where bodies are kept inside. */
static void place_outline(outline *o)
{
    const kiln_pose *pose = &o->obstacle->pose;
    for (size_t i = 0; i < o->soup.points.count; i++)
        o->soup.points.data[i] =
            kiln_v3_add(kiln_m3_apply(pose->rotation, o->soup.points.data[i]), pose->shift);
    if (!o->obstacle->shape.inside_out)
        return;
    for (size_t i = 0; i < o->soup.triangles.count; i++) {
        uint32_t *v = o->soup.triangles.data[i].v, swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
}

kiln_status kiln_obstacle_outline(const kiln_obstacle *obstacle, kiln_vec3 centre, double extent,
                                  kiln_soup *soup, kiln_error *error)
{
    outline o = {.obstacle = obstacle, .error = error};
    kiln_soup_init(&o.soup, soup->context);
    const kiln_pose *pose = &obstacle->pose;
    kiln_vec3 own =
        kiln_m3_apply(kiln_m3_transpose(pose->rotation), kiln_v3_sub(centre, pose->shift));
    kiln_status status = obstacle->shape.kind == KILN_OBSTACLE_PLANE
                             ? outline_plane(&o, own, extent)
                             : rows[obstacle->shape.kind](&o);
    place_outline(&o);
    if (status == KILN_OK)
        status = kiln_soup_append(soup, &o.soup, 0, error);
    kiln_soup_free(&o.soup);
    return status;
}

#include "contact/obstacle_impl.h"

/* Sides to a full turn, which is a multiple of the least. */
enum { LEAST_TURN = 16, MOST_TURN = 256, PICTURE_TURN = 48 };
static const double PI = 3.14159265358979323846;
/* Of what a shape has in depth, taken off it at most. */
#define DEEPEST 0.5

/* Triangles in the obstacle's own coordinates. */
typedef struct outline {
    const kiln_obstacle *obstacle;
    kiln_obstacle_shape shape; /* the obstacle's, less what is taken off; borrowed */
    double length;             /* of it, from point to end */
    int turn;                  /* sides */
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

/* Sides of a ring: fewer where it is narrow, so that no triangle is a needle. */
static size_t sides_of(const outline *o, double r, double widest)
{
    size_t sides = (size_t)o->turn;
    if (r <= 0.0)
        return 1;
    while (sides > LEAST_TURN / 2 && 2.0 * r < 1.0001 * widest) {
        sides /= 2;
        r *= 2.0;
    }
    return sides;
}

static kiln_status add_ring(outline *o, profile_point at, size_t sides)
{
    const kiln_obstacle *b = o->obstacle;
    for (size_t k = 0; k < sides; k++) {
        double angle = 2.0 * PI * (double)k / (double)sides;
        kiln_vec3 p = kiln_v3_madd(o->shape.point, at.z, b->axis);
        p = kiln_v3_madd(p, at.r * cos(angle), b->side);
        KILN_TRY(add_point(o, kiln_v3_madd(p, at.r * sin(angle), b->third)));
    }
    return KILN_OK;
}

/* Triangles between two rings, given by their first points and numbers of sides. */
static kiln_status add_strip(outline *o, const size_t first[2], const size_t sides[2])
{
    size_t at[2] = {0, 0}, last[2] = {sides[0] > 1 ? sides[0] : 0, sides[1] > 1 ? sides[1] : 0};
    while (at[0] < last[0] || at[1] < last[1]) {
        bool lower = at[1] == last[1] ||
                     (at[0] < last[0] && (at[0] + 1) * sides[1] <= (at[1] + 1) * sides[0]);
        size_t a = first[0] + at[0] % sides[0], b = first[1] + at[1] % sides[1];
        size_t next = lower ? first[0] + (at[0] + 1) % sides[0] : first[1] + (at[1] + 1) % sides[1];
        KILN_TRY(add_triangle(o, a, next, b));
        at[lower ? 0 : 1]++;
    }
    return KILN_OK;
}

/* Turns a chain of (r, z), counter-clockwise with the axis on its left, about the axis. Points on
 * the axis (r = 0) become one. */
static kiln_status lathe(outline *o, const profile_point *chain, size_t count, bool closed)
{
    size_t first[MOST_TURN + 2], sides[MOST_TURN + 2];
    double widest = 0.0;
    for (size_t i = 0; i < count; i++)
        widest = fmax(widest, chain[i].r);
    for (size_t i = 0; i < count; i++) {
        first[i] = o->soup.points.count;
        sides[i] = sides_of(o, chain[i].r, widest);
        KILN_TRY(add_ring(o, chain[i], sides[i]));
    }
    for (size_t i = 0; i + 1 < count + closed; i++) {
        size_t j = (i + 1) % count;
        KILN_TRY(add_strip(o, (size_t[2]){first[i], first[j]}, (size_t[2]){sides[i], sides[j]}));
    }
    return KILN_OK;
}

/* Quarter circles from pole to pole, pulled apart by `length`. */
static kiln_status lathe_round(outline *o, double radius, double length)
{
    profile_point chain[MOST_TURN / 2 + 2];
    size_t count = 0;
    int arc = o->turn / 4;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i <= arc; i++) {
            double angle = PI / 2.0 * ((double)i / arc + half - 1.0);
            bool pole = half ? i == arc : i == 0;
            if (half && i == 0 && length == 0.0)
                continue;
            chain[count++] = (profile_point){pole ? 0.0 : radius * cos(angle),
                                             radius * sin(angle) + (half ? length : 0.0)};
        }
    return lathe(o, chain, count, false);
}

static kiln_status outline_sphere(outline *o)
{
    return lathe_round(o, o->shape.radius, 0.0);
}

static kiln_status outline_capsule(outline *o)
{
    return lathe_round(o, o->shape.radius, o->length);
}

static kiln_status outline_cylinder(outline *o)
{
    double r = o->shape.radius, l = o->length;
    const profile_point chain[4] = {{0, 0}, {r, 0}, {r, l}, {0, l}};
    return lathe(o, chain, 4, false);
}

static kiln_status outline_cone(outline *o)
{
    const profile_point chain[3] = {{0, 0}, {o->shape.radius, 0}, {0, o->length}};
    return lathe(o, chain, 3, false);
}

static kiln_status outline_torus(outline *o)
{
    profile_point chain[MOST_TURN];
    for (int i = 0; i < o->turn; i++)
        chain[i] = (profile_point){o->shape.radius + o->shape.tube * cos(2.0 * PI * i / o->turn),
                                   o->shape.tube * sin(2.0 * PI * i / o->turn)};
    return lathe(o, chain, (size_t)o->turn, true);
}

static kiln_status outline_box(outline *o)
{
    static const uint8_t side[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    kiln_vec3 a = o->shape.point, b = o->shape.end;
    for (int i = 0; i < 8; i++)
        KILN_TRY(add_point(o, kiln_v3(i & 1 ? b.x : a.x, i & 2 ? b.y : a.y, i & 4 ? b.z : a.z)));
    for (int i = 0; i < 6; i++)
        KILN_TRY(add_quad(o, side[i][0], side[i][1], side[i][2], side[i][3]));
    return KILN_OK;
}

static kiln_status outline_mesh(outline *o)
{
    const kiln_soup *surface = &o->shape.surface;
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
    double height = kiln_v3_dot(kiln_v3_sub(centre, o->shape.point), b->axis);
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

/* The shape with a layer of `depth` (negative: added) taken off, or as much of it as there is. */
static void take_off(outline *o, double depth)
{
    kiln_obstacle_shape *s = &o->shape;
    kiln_vec3 size = kiln_v3_sub(s->end, s->point), axis = o->obstacle->axis;
    double sine, d;
    switch (s->kind) {
    case KILN_OBSTACLE_PLANE:
        s->point = kiln_v3_madd(s->point, -depth, axis);
        break;
    case KILN_OBSTACLE_SPHERE:
    case KILN_OBSTACLE_CAPSULE:
        s->radius -= fmin(depth, DEEPEST * s->radius);
        break;
    case KILN_OBSTACLE_TORUS:
        s->tube = fmin(s->tube - fmin(depth, DEEPEST * s->tube), 0.5 * (s->radius + s->tube));
        break;
    case KILN_OBSTACLE_CYLINDER:
        d = fmin(depth, DEEPEST * fmin(s->radius, 0.5 * o->length));
        s->radius -= d;
        s->point = kiln_v3_madd(s->point, d, axis);
        o->length -= 2.0 * d;
        break;
    case KILN_OBSTACLE_BOX:
        d = fmin(depth, DEEPEST * 0.5 * fmin(size.x, fmin(size.y, size.z)));
        s->point = kiln_v3_add(s->point, kiln_v3(d, d, d));
        s->end = kiln_v3_sub(s->end, kiln_v3(d, d, d));
        break;
    case KILN_OBSTACLE_CONE: /* its base rises, its tip sinks as its sides move in */
        sine = s->radius / sqrt(s->radius * s->radius + o->length * o->length);
        d = fmin(depth, DEEPEST * o->length / (1.0 + 1.0 / sine));
        s->point = kiln_v3_madd(s->point, d, axis);
        s->radius *= 1.0 - d * (1.0 + 1.0 / sine) / o->length;
        o->length -= d * (1.0 + 1.0 / sine);
        break;
    case KILN_OBSTACLE_MESH:
    case KILN_OBSTACLE_COUNT:
        break;
    }
}

/* Of its widest arc. */
static double widest(const kiln_obstacle_shape *shape)
{
    return shape->kind == KILN_OBSTACLE_TORUS ? shape->radius + shape->tube : shape->radius;
}

/* Sides of which none is farther than `chord` from the arc. */
static int turn_for(const kiln_obstacle_shape *shape, double chord)
{
    double radius = widest(shape);
    double angle = chord < radius ? acos(1.0 - chord / radius) : PI;
    double times = ceil(PI / fmax(angle, PI / MOST_TURN) / LEAST_TURN);
    return (int)fmin(LEAST_TURN * fmax(times, 1.0), MOST_TURN);
}

double kiln_obstacle_skin_error(const kiln_obstacle *obstacle, double chord)
{
    const kiln_obstacle_shape *shape = &obstacle->shape;
    bool flat = shape->kind == KILN_OBSTACLE_PLANE || shape->kind == KILN_OBSTACLE_BOX ||
                shape->kind == KILN_OBSTACLE_MESH;
    double half = sin(0.5 * PI / turn_for(shape, chord));
    return flat ? 0.0 : 2.0 * widest(shape) * half * half;
}

static void turn_round(kiln_soup *soup)
{
    for (size_t i = 0; i < soup->triangles.count; i++) {
        uint32_t *v = soup->triangles.data[i].v, swap = v[1];
        v[1] = v[2];
        v[2] = swap;
    }
}

/* `centre` and `extent` are the plane's alone. */
static kiln_status outline_shape(outline *o, kiln_vec3 centre, double extent)
{
    KILN_TRY(o->shape.kind == KILN_OBSTACLE_PLANE ? outline_plane(o, centre, extent)
                                                  : rows[o->shape.kind](o));
    if (o->shape.inside_out)
        turn_round(&o->soup);
    return KILN_OK;
}

kiln_status kiln_obstacle_outline(const kiln_obstacle *obstacle, kiln_vec3 centre, double extent,
                                  kiln_soup *soup, kiln_error *error)
{
    outline o = {.obstacle = obstacle,
                 .shape = obstacle->shape,
                 .length = obstacle->length,
                 .turn = PICTURE_TURN,
                 .error = error};
    kiln_soup_init(&o.soup, soup->context);
    const kiln_pose *pose = &obstacle->pose;
    kiln_vec3 own =
        kiln_m3_apply(kiln_m3_transpose(pose->rotation), kiln_v3_sub(centre, pose->shift));
    kiln_status status = outline_shape(&o, own, extent);
    for (size_t i = 0; i < o.soup.points.count; i++)
        o.soup.points.data[i] =
            kiln_v3_add(kiln_m3_apply(pose->rotation, o.soup.points.data[i]), pose->shift);
    if (status == KILN_OK)
        status = kiln_soup_append(soup, &o.soup, 0, error);
    kiln_soup_free(&o.soup);
    return status;
}

kiln_status kiln_obstacle_skin(const kiln_obstacle *obstacle, double depth, double chord,
                               kiln_soup *soup, kiln_error *error)
{
    outline o = {.obstacle = obstacle,
                 .shape = obstacle->shape,
                 .length = obstacle->length,
                 .turn = turn_for(&obstacle->shape, chord),
                 .error = error};
    kiln_soup_init(&o.soup, soup->context);
    take_off(&o, obstacle->shape.inside_out ? -depth : depth);
    kiln_status status = outline_shape(&o, o.shape.point, 1.0);
    if (status == KILN_OK)
        status = kiln_soup_append(soup, &o.soup, 0, error);
    kiln_soup_free(&o.soup);
    return status;
}

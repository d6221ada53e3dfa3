#include "contact/walls.h"

#include "mesh/mesh.h"

#include <stdlib.h>

/* Sine of the angle by which faces must turn away from each other for their edge to stick out. */
#define FLAT 1e-6
/* A vertex counts with this part of its area, though it be on an edge. */
#define LEAST_FACING 0.1
/* Sizes of the bodies that a plane reaches. */
#define PLANE_REACH 4.0

/* Twice the area along the normal. */
static kiln_vec3 normal_of(const kiln_walls *w, size_t face)
{
    const uint32_t *v = &w->faces.data[3 * face];
    return kiln_v3_cross(kiln_v3_sub(w->own.data[v[1]], w->own.data[v[0]]),
                         kiln_v3_sub(w->own.data[v[2]], w->own.data[v[0]]));
}

static bool is_of_plane(const kiln_walls *w, uint32_t point)
{
    return kiln_obstacle_shape_of(w->obstacles[w->obstacle.data[point]])->kind ==
           KILN_OBSTACLE_PLANE;
}

static bool is_of_sheet(const kiln_walls *w, uint32_t point)
{
    return kiln_obstacle_is_sheet(w->obstacles[w->obstacle.data[point]]);
}

/* A side of a face: 3 times the face and the corner it begins at. */
static size_t corner_after(size_t side)
{
    return side % 3 == 2 ? side - 2 : side + 1;
}
static size_t corner_opposite(size_t side)
{
    return side % 3 == 0 ? side + 2 : side - 1;
}

typedef struct face_side {
    uint32_t v[2]; /* ascending */
    uint32_t side;
} face_side;
typedef KILN_ARRAY_OF(face_side)
face_side_array;

static int by_edge(const void *left, const void *right)
{
    const face_side *a = left, *b = right;
    if (a->v[0] != b->v[0])
        return a->v[0] < b->v[0] ? -1 : 1;
    if (a->v[1] != b->v[1])
        return a->v[1] < b->v[1] ? -1 : 1;
    return (a->side > b->side) - (a->side < b->side);
}

static kiln_status list_sides(const kiln_walls *w, face_side_array *sides, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(w->context, sides, w->faces.count, error));
    for (size_t i = 0; i < w->faces.count; i++) {
        uint32_t a = w->faces.data[i], b = w->faces.data[corner_after(i)];
        sides->data[sides->count++] = (face_side){{a < b ? a : b, a < b ? b : a}, (uint32_t)i};
    }
    if (sides->count)
        qsort(sides->data, sides->count, sizeof *sides->data, by_edge);
    return KILN_OK;
}

/* Sine of the angle by which the second face is above the plane of the first: less than zero where
 * their edge sticks out. Without two faces it does. */
static double rise_at(const kiln_walls *w, const face_side *side, size_t count)
{
    if (count != 2)
        return -1.0;
    kiln_vec3 n = normal_of(w, side[0].side / 3);
    kiln_vec3 to = kiln_v3_sub(w->own.data[w->faces.data[corner_opposite(side[1].side)]],
                               w->own.data[side[0].v[0]]);
    return kiln_v3_dot(n, to) / (kiln_v3_norm(n) * kiln_v3_norm(to));
}

/* The first `count` sides are those of one edge. */
static kiln_status list_edge(kiln_walls *w, const face_side *side, size_t count, kiln_error *error)
{
    double rise = rise_at(w, side, count), area = 0.0;
    for (size_t k = 0; k < count; k++)
        area += kiln_v3_norm(normal_of(w, side[k].side / 3)) / 6.0;
    if (count == 2 && is_of_sheet(w, side->v[0]))
        rise = -fabs(rise); /* an edge that is hollow from the front sticks out behind */
    if (count == 2 && rise <= FLAT) {
        w->beyond.data[side[0].side] = side[1].side;
        w->beyond.data[side[1].side] = side[0].side;
    }
    if (is_of_plane(w, side->v[0]) || !(rise < -FLAT))
        return KILN_OK;
    for (size_t k = 0; k < count; k++)
        w->sharp.data[side[k].side / 3]++;
    KILN_TRY(kiln_array_push(w->context, &w->edges, side->v[0], error));
    KILN_TRY(kiln_array_push(w->context, &w->edges, side->v[1], error));
    return kiln_array_push(w->context, &w->edge_area, area, error);
}

static kiln_status list_edges(kiln_walls *w, face_side_array *sides, kiln_error *error)
{
    KILN_TRY(list_sides(w, sides, error));
    KILN_TRY(kiln_array_reserve(w->context, &w->beyond, w->faces.count + 1, error));
    KILN_TRY(kiln_array_reserve(w->context, &w->sharp, w->faces.count / 3 + 1, error));
    w->beyond.count = w->faces.count;
    w->sharp.count = w->faces.count / 3;
    for (size_t i = 0; i < w->faces.count; i++)
        w->beyond.data[i] = KILN_NONE;
    for (size_t i = 0; i < w->sharp.count; i++)
        w->sharp.data[i] = 0;
    for (size_t i = 0, next; i < sides->count; i = next) {
        const uint32_t *v = sides->data[i].v;
        for (next = i + 1; next < sides->count && sides->data[next].v[0] == v[0] &&
                           sides->data[next].v[1] == v[1];)
            next++;
        KILN_TRY(list_edge(w, &sides->data[i], next - i, error));
    }
    return KILN_OK;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Ends of edges that stick out. */
static kiln_status list_vertices(kiln_walls *w, kiln_error *error)
{
    size_t all = w->edges.count;
    KILN_TRY(kiln_array_reserve(w->context, &w->vertices, all, error));
    for (size_t i = 0; i < all; i++)
        w->vertices.data[i] = w->edges.data[i];
    if (all)
        qsort(w->vertices.data, all, sizeof *w->vertices.data, by_number);
    w->vertices.count = 0;
    for (size_t i = 0; i < all; i++)
        if (i == 0 || w->vertices.data[i] != w->vertices.data[w->vertices.count - 1])
            w->vertices.data[w->vertices.count++] = w->vertices.data[i];
    return KILN_OK;
}

/* Areas of points, and of the faces of each obstacle in the mean. */
static kiln_status measure(kiln_walls *w, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(w->context, &w->area, w->own.count + 1, error));
    KILN_TRY(kiln_array_reserve(w->context, &w->face_area, w->obstacle_count + 1, error));
    KILN_TRY(kiln_array_reserve(w->context, &w->face_count, w->obstacle_count + 1, error));
    for (size_t i = 0; i < w->own.count; i++)
        w->area.data[i] = 0.0;
    for (size_t i = 0; i < w->obstacle_count; i++)
        w->face_area.data[i] = w->face_count.data[i] = 0;
    for (size_t f = 0; f < w->faces.count; f += 3) {
        const uint32_t *v = &w->faces.data[f];
        uint32_t obstacle = w->obstacle.data[v[0]];
        double area = 0.5 * kiln_v3_norm(normal_of(w, f / 3));
        w->face_area.data[obstacle] += is_of_plane(w, v[0]) ? INFINITY : area;
        w->face_count.data[obstacle]++;
        for (size_t k = 0; k < 3; k++)
            w->area.data[v[k]] += area / 3.0;
    }
    for (size_t i = 0; i < w->obstacle_count; i++)
        w->face_area.data[i] /= w->face_count.data[i];
    return KILN_OK;
}

static kiln_status add_skin(kiln_walls *w, uint32_t number, const kiln_soup *skin,
                            kiln_error *error)
{
    uint32_t first = (uint32_t)w->own.count;
    for (size_t i = 0; i < skin->points.count; i++) {
        KILN_TRY(kiln_array_push(w->context, &w->own, skin->points.data[i], error));
        KILN_TRY(kiln_array_push(w->context, &w->obstacle, number, error));
    }
    for (size_t t = 0; t < skin->triangles.count; t++)
        for (int k = 0; k < 3; k++)
            KILN_TRY(kiln_array_push(w->context, &w->faces, first + skin->triangles.data[t].v[k],
                                     error));
    return KILN_OK;
}

/* A triangle that has the plane's square in it. */
static kiln_status add_plane(kiln_walls *w, uint32_t number, const kiln_soup *square,
                             kiln_error *error)
{
    const kiln_vec3 *p = square->points.data;
    kiln_soup one = *square;
    kiln_vec3 corner[3] = {p[0], kiln_v3_madd(p[0], 2.0, kiln_v3_sub(p[1], p[0])),
                           kiln_v3_madd(p[0], 2.0, kiln_v3_sub(p[3], p[0]))};
    kiln_soup_triangle triangle = square->triangles.data[0];
    bool turned = triangle.v[1] != 1; /* as inside out turns the square */
    kiln_soup_triangle whole = {{0, turned ? 2 : 1, turned ? 1 : 2}};
    one.points.data = corner;
    one.points.count = 3;
    one.triangles.data = &whole;
    one.triangles.count = 1;
    return add_skin(w, number, &one, error);
}

static kiln_status add_obstacle(kiln_walls *w, uint32_t number, double depth, double chord,
                                kiln_error *error)
{
    kiln_soup skin;
    kiln_soup_init(&skin, w->context);
    kiln_status status = kiln_obstacle_skin(w->obstacles[number], depth, chord, &skin, error);
    bool plane = kiln_obstacle_shape_of(w->obstacles[number])->kind == KILN_OBSTACLE_PLANE;
    if (status == KILN_OK)
        status = plane ? add_plane(w, number, &skin, error) : add_skin(w, number, &skin, error);
    kiln_soup_free(&skin);
    return status;
}

static kiln_status build(kiln_walls *w, double depth, double chord, kiln_error *error)
{
    for (size_t i = 0; i < w->obstacle_count; i++)
        KILN_TRY(add_obstacle(w, (uint32_t)i, depth, chord, error));
    KILN_TRY(measure(w, error));
    KILN_TRY(kiln_fans_build(&w->fans, w->context, &w->faces, w->own.count, error));
    face_side_array sides = {0};
    kiln_status status = list_edges(w, &sides, error);
    kiln_array_free(w->context, &sides);
    return status == KILN_OK ? list_vertices(w, error) : status;
}

kiln_status kiln_walls_build(kiln_walls *walls, kiln_context *context,
                             kiln_obstacle *const *obstacles, size_t count, double depth,
                             double chord, kiln_error *error)
{
    kiln_walls_free(walls);
    *walls = (kiln_walls){.context = context, .obstacles = obstacles, .obstacle_count = count};
    kiln_status status = build(walls, depth, chord, error);
    if (status != KILN_OK)
        kiln_walls_free(walls);
    return status;
}

void kiln_walls_free(kiln_walls *w)
{
    kiln_array_free(w->context, &w->own);
    kiln_array_free(w->context, &w->obstacle);
    kiln_array_free(w->context, &w->vertices);
    kiln_array_free(w->context, &w->edges);
    kiln_array_free(w->context, &w->faces);
    kiln_array_free(w->context, &w->area);
    kiln_array_free(w->context, &w->edge_area);
    kiln_array_free(w->context, &w->face_area);
    kiln_array_free(w->context, &w->face_count);
    kiln_array_free(w->context, &w->sharp);
    kiln_array_free(w->context, &w->beyond);
    kiln_fans_free(&w->fans, w->context);
}

/* Three points of the plane about the place below the middle of the box. Directions are the
 * plane's own: those between the points that it is given by have lost what digits these have far
 * from the origin, and where bodies are they would be off by that times the way. */
static void spread(const kiln_walls *w, size_t first, kiln_box about, kiln_vec3 p[3])
{
    const kiln_obstacle *o = w->obstacles[w->obstacle.data[first]];
    kiln_vec3 n, a, b;
    kiln_obstacle_axes(o, &n, &a, &b);
    kiln_vec3 middle = kiln_obstacle_own(o, kiln_v3_lerp(about.low, about.high, 0.5));
    double height = kiln_v3_dot(kiln_v3_sub(middle, w->own.data[first]), n);
    kiln_vec3 foot = kiln_v3_madd(middle, -height, n);
    double reach = PLANE_REACH * kiln_v3_norm(kiln_v3_sub(about.high, about.low));
    p[0] = kiln_v3_madd(kiln_v3_madd(foot, -reach, a), -reach, b);
    p[1] = kiln_v3_madd(p[0], 4.0 * reach, a);
    p[2] = kiln_v3_madd(p[0], 4.0 * reach, b);
}

void kiln_walls_place(const kiln_walls *w, kiln_box about, bool at_begin, kiln_vec3 *places)
{
    kiln_vec3 plane[3];
    for (size_t i = 0; i < w->own.count; i++) {
        bool wide = is_of_plane(w, (uint32_t)i);
        for (size_t k = 0; k < (wide ? 3 : 1); k++)
            plane[k] = w->own.data[i + k];
        if (wide)
            spread(w, i, about, plane);
        for (size_t k = 0; k < (wide ? 3 : 1); k++)
            places[i + k] =
                kiln_obstacle_place(w->obstacles[w->obstacle.data[i]], plane[k], at_begin);
        i += wide ? 2 : 0;
    }
}

/* The part of the vertex's area that looks at a face. A sheet looks to both sides. */
static double facing(const kiln_wall_sight *s, uint32_t face)
{
    const uint32_t *v = &s->walls->faces.data[3 * (size_t)face];
    kiln_vec3 p = s->begin[v[0]];
    kiln_vec3 normal = kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(s->begin[v[1]], p), kiln_v3_sub(s->begin[v[2]], p)));
    double along = -kiln_v3_dot(s->facing, normal);
    return fmax(is_of_sheet(s->walls, v[0]) ? fabs(along) : along, LEAST_FACING);
}

/* To multiples of 2^-44, so that sums of a few are exact. */
static double rounded(double x)
{
    return (x + 384.0) - 384.0;
}

static double share_of(const void *user, uint32_t vertex, uint32_t face)
{
    (void)vertex;
    const kiln_wall_sight *s = user;
    const kiln_walls *w = s->walls;
    double before = w->face_area.data[w->obstacle.data[w->faces.data[3 * (size_t)face]]];
    double left = 1.0 - 0.25 * w->sharp.data[face] * fmin(s->area / before, 1.0);
    return rounded(left * facing(s, face));
}

void kiln_walls_count(const kiln_wall_sight *s, uint32_t face, kiln_counts *out)
{
    const kiln_sight sight = {
        .surface = {&s->walls->fans, s->walls->faces.data, s->walls->beyond.data},
        .x = s->places,
        .from = s->from,
        .p = s->p,
        .began = s->began,
        .within = s->within,
        .share = share_of,
        .user = s};
    kiln_sight_count(&sight, 0, face, out);
}

size_t kiln_walls_bytes(const kiln_walls *w)
{
    return w->own.capacity * sizeof(kiln_vec3) +
           (w->obstacle.capacity + w->vertices.capacity + w->edges.capacity + w->faces.capacity) *
               sizeof(uint32_t) +
           (w->face_count.capacity + w->beyond.capacity + w->sharp.capacity) * sizeof(uint32_t) +
           kiln_fans_bytes(&w->fans) +
           (w->area.capacity + w->edge_area.capacity + w->face_area.capacity) * sizeof(double);
}

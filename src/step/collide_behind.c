/* Newton's way is free of crossings, but when a step is long it may lead round something that no
 * velocity leads round: the minimum of the objective may lie behind it. What counts is the way of a
 * vertex as the other sees it, who may be the one that moves, and the way of the points of a wall
 * as that of a body's. A body sees it from its mean motion: what its faces do beside that is how it
 * gives way, and a sheet that takes up a bullet is not in its way. */
#include "geom/distance.h"
#include "geom/predicates.h"
#include "step/collide_impl.h"

#include <string.h>

/* Of the shortest edge, which is how thin something is: shorter ways lead round nothing. */
#define FAST 2.0
/* Of the vertices of a part: more of them do not get behind something by a turn or by giving way,
 * and bodies that meet need not do so with most of their length. What is pressed at the end may
 * have made another give way. Walls do not, and forces are those of the end: a vertex that is not
 * pressed has gone round what it met as if that were not there. But a few vertices cut a corner in
 * a turn, and who is held goes where the scene leads it, pressed or not. */
#define PART      0.25
#define PART_FREE 0.1 /* of it not pressed, or behind walls */

/* Of a vertex: what bars its way, and whether it is pressed at the end. */
#define BY_BODY 1
#define BY_WALL 2
#define PRESSED 4

typedef struct probe {
    const kiln_collide *collide;
    const kiln_vec3 *begin, *end;  /* [row] of the step */
    uint32_t row;                  /* KILN_NONE: the centre of a part */
    kiln_vec3 from, to;            /* of it */
    double extent;                 /* of what is asked for, m: smaller ones bar nothing */
    uint32_t part, body, obstacle; /* of the row: the last of a wall's, else KILN_NONE */
    uint32_t crossed;              /* a vertex of a face that it crossed, last */
    /* Which way through the other its way leads, as that was and as it is: sums over the faces that
     * it crosses of their normals at the begin, those where it goes in turned round. Who is in the
     * pocket of a sheet that gave way has its sides in the way too, but from behind. */
    kiln_vec3 through_was, through_is;
} probe;

/* Of the part of a vertex. */
static kiln_vec3 mean_way(const kiln_collide *c, uint32_t vertex)
{
    return c->mean_way.data[c->surface.part.data[vertex]].way;
}

/* Exact signs; what is met at an edge or a vertex counts. 0: no; 1: along the normal, -1: against.
 */
static int crosses(kiln_vec3 from, kiln_vec3 to, const kiln_vec3 face[3])
{
    kiln_vec3 a = face[0], b = face[1], c = face[2];
    double first = kiln_orient3d(a, b, c, from), last = kiln_orient3d(a, b, c, to);
    if (!(first > 0 && last < 0) && !(first < 0 && last > 0))
        return 0;
    double s[3] = {kiln_orient3d(from, to, a, b), kiln_orient3d(from, to, b, c),
                   kiln_orient3d(from, to, c, a)};
    bool hit = (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
    return !hit ? 0 : first < 0 ? 1 : -1;
}

/* How far the face of a wall has gone in the step where it is nearest to p, its corners at x. */
static kiln_vec3 way_of_wall(const probe *p, const kiln_vec3 x[3], const uint32_t v[3],
                             kiln_vec3 place)
{
    kiln_closest_point near = kiln_closest_on_triangle(place, x);
    kiln_vec3 way = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        way = kiln_v3_madd(way, near.weight[k], kiln_v3_sub(p->end[v[k]], p->begin[v[k]]));
    return way;
}

/* Two that are held go where the scene leads them. */
static bool are_held(const probe *p, const uint32_t v[3])
{
    const uint8_t *held = p->collide->given->held;
    return held && p->row != KILN_NONE && held[p->row] == 7 && held[v[0]] == 7 && held[v[1]] == 7 &&
           held[v[2]] == 7;
}

static void look(probe *p, const uint32_t v[3])
{
    if (are_held(p, v))
        return;
    kiln_vec3 from = p->from, to = p->to;
    const kiln_vec3 was[3] = {p->begin[v[0]], p->begin[v[1]], p->begin[v[2]]};
    const kiln_vec3 is[3] = {p->end[v[0]], p->end[v[1]], p->end[v[2]]};
    bool wall = kiln_collide_is_wall(p->collide, v[0]);
    kiln_vec3 mean = wall ? kiln_v3(0, 0, 0) : mean_way(p->collide, v[0]);
    int sign_was = crosses(from, kiln_v3_sub(to, wall ? way_of_wall(p, was, v, from) : mean), was),
        sign_is = crosses(kiln_v3_add(from, wall ? way_of_wall(p, is, v, to) : mean), to, is);
    if (sign_was == 0 && sign_is == 0)
        return;
    kiln_vec3 normal = kiln_v3_cross(kiln_v3_sub(was[1], was[0]), kiln_v3_sub(was[2], was[0]));
    normal = kiln_v3_scale(normal, 1.0 / kiln_v3_norm(normal));
    p->through_was = kiln_v3_madd(p->through_was, sign_was, normal);
    p->through_is = kiln_v3_madd(p->through_is, sign_is, normal);
    p->crossed = v[0];
}

static bool visit_face(void *user, uint32_t face)
{
    probe *p = user;
    const kiln_collide *c = p->collide;
    const uint32_t *v = &c->surface.faces.data[3 * (size_t)face];
    const kiln_contact_surface *surface = &c->surface;
    const kiln_contact_options *o = &c->options;
    uint32_t body = surface->body.data[v[0]];
    bool meets = p->obstacle != KILN_NONE
                     ? kiln_body_meets_obstacle(o->pairs, body, p->obstacle)
                     : surface->part.data[v[0]] != p->part &&
                           c->mean_way.data[surface->part.data[v[0]]].extent >= p->extent &&
                           (body == p->body ? o->self : o->bodies) &&
                           kiln_bodies_meet(o->pairs, p->body, body);
    if (meets)
        look(p, v);
    return true;
}

/* Planes are asked for by themselves, and for every vertex (kiln_collide_behind_plane). */
static bool is_plane(const kiln_collide *c, uint32_t obstacle)
{
    return isinf(c->walls.face_area.data[obstacle]);
}

static bool visit_wall(void *user, uint32_t face)
{
    probe *p = user;
    const uint32_t *own = &p->collide->walls.faces.data[3 * (size_t)face];
    uint32_t first = p->collide->first_wall, obstacle = p->collide->walls.obstacle.data[own[0]];
    if (!is_plane(p->collide, obstacle) && p->collide->extent.data[obstacle] >= p->extent &&
        kiln_body_meets_obstacle(p->collide->options.pairs, p->body, obstacle))
        look(p, (uint32_t[3]){first + own[0], first + own[1], first + own[2]});
    return true;
}

static probe probe_of_row(const kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end,
                          uint32_t row)
{
    return (probe){.collide = c,
                   .begin = begin,
                   .end = end,
                   .row = row,
                   .from = begin[row],
                   .to = end[row],
                   .obstacle = KILN_NONE};
}

/* Whether its way is barred by faces of another part, or of walls, from begin to end. */
static bool is_barred(probe *p)
{
    const kiln_vec3 way[2] = {p->from, p->to};
    const kiln_surface_pairs *found = &p->collide->found;
    kiln_bvh_query_box(&found->face_tree, kiln_box_of(way, 2), visit_face, p);
    if (p->obstacle == KILN_NONE && p->collide->walls.faces.count)
        kiln_bvh_query_box(&found->wall_face_tree, kiln_box_of(way, 2), visit_wall, p);
    return kiln_v3_dot(p->through_was, p->through_is) > 0.0;
}

static kiln_status find_mean_ways(kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end,
                                  kiln_error *error)
{
    const kiln_u32_array *vertices = &c->surface.vertices, *part = &c->surface.part;
    c->mean_way.count = 0;
    for (size_t i = 0; i < vertices->count; i++)
        while (c->mean_way.count <= part->data[vertices->data[i]])
            KILN_TRY(kiln_array_push(c->context, &c->mean_way, ((kiln_mean_way){0}), error));
    for (size_t i = 0; i < vertices->count; i++) {
        uint32_t v = vertices->data[i];
        kiln_mean_way *of = &c->mean_way.data[part->data[v]];
        of->way = kiln_v3_add(of->way, kiln_v3_sub(end[v], begin[v]));
        of->vertices++;
    }
    for (size_t p = 0; p < c->mean_way.count; p++) {
        kiln_mean_way *of = &c->mean_way.data[p];
        if (of->vertices)
            of->way = kiln_v3_scale(of->way, 1.0 / (double)of->vertices);
    }
    return KILN_OK;
}

static kiln_vec3 mean_of(const kiln_collide *c, const kiln_vec3 *x, uint32_t part)
{
    kiln_vec3 sum = {0, 0, 0};
    for (size_t i = 0; i < c->surface.vertices.count; i++)
        if (c->surface.part.data[c->surface.vertices.data[i]] == part)
            sum = kiln_v3_add(sum, x[c->surface.vertices.data[i]]);
    return kiln_v3_scale(sum, 1.0 / (double)c->mean_way.data[part].vertices);
}

static double diagonal(kiln_box box)
{
    return kiln_v3_norm(kiln_v3_sub(box.high, box.low));
}

/* Of parts and of obstacles, whose points lie together. */
static kiln_status find_extents(kiln_collide *c, const kiln_vec3 *begin, kiln_error *error)
{
    const kiln_u32_array *vertices = &c->surface.vertices, *obstacle = &c->walls.obstacle;
    for (size_t p = 0; p < c->mean_way.count; p++)
        c->mean_way.data[p].box = kiln_box_empty();
    for (size_t i = 0; i < vertices->count; i++) {
        kiln_mean_way *of = &c->mean_way.data[c->surface.part.data[vertices->data[i]]];
        of->box = kiln_box_grow(of->box, begin[vertices->data[i]]);
    }
    for (size_t p = 0; p < c->mean_way.count; p++)
        c->mean_way.data[p].extent = diagonal(c->mean_way.data[p].box);
    KILN_TRY(kiln_array_reserve(c->context, &c->extent, c->walls.obstacle_count + 1, error));
    for (size_t i = 0; i < obstacle->count;) {
        kiln_box box = kiln_box_empty();
        uint32_t o = obstacle->data[i];
        for (; i < obstacle->count && obstacle->data[i] == o; i++)
            box = kiln_box_grow(box, begin[c->first_wall + i]);
        c->extent.data[o] = diagonal(box);
    }
    return KILN_OK;
}

static void mark_pressed(kiln_collide *c, const double *end)
{
    kiln_collide_measure(c, end);
    for (size_t a = 0; a < c->acting.count; a++) {
        const uint32_t *v = kiln_collide_pair(c, c->acting.data[a])->v;
        for (int k = 0; k < 4; k++)
            if (!kiln_collide_is_wall(c, v[k])) {
                c->mean_way.data[c->surface.part.data[v[k]]].pressed = true;
                c->behind.data[v[k]] = PRESSED;
            }
    }
}

static bool is_led(const kiln_collide *c, uint32_t vertex)
{
    return c->given->held && c->given->held[vertex] == 7;
}

static bool are_many(size_t behind, double part, size_t all)
{
    return (double)behind > part * (double)all;
}

/* All places of a face seen from what goes these ways. */
static kiln_box swept(const kiln_vec3 *begin, const kiln_vec3 *end, const uint32_t v[3],
                      kiln_box way)
{
    kiln_box was = kiln_box_empty(), is = was;
    for (int k = 0; k < 3; k++) {
        was = kiln_box_grow(was, begin[v[k]]);
        is = kiln_box_grow(is, end[v[k]]);
    }
    way = kiln_box_grow(way, kiln_v3(0, 0, 0));
    return kiln_box_join((kiln_box){kiln_v3_add(was.low, way.low), kiln_v3_add(was.high, way.high)},
                         (kiln_box){kiln_v3_sub(is.low, way.high), kiln_v3_sub(is.high, way.low)});
}

static kiln_status place_faces(kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end,
                               kiln_error *error)
{
    const kiln_u32_array *faces = &c->surface.faces;
    KILN_TRY(kiln_array_reserve(c->context, &c->found.boxes, faces->count / 3 + 1, error));
    for (size_t f = 0; f < faces->count / 3; f++) {
        const uint32_t *v = &faces->data[3 * f];
        const kiln_vec3 way[1] = {mean_way(c, v[0])};
        c->found.boxes.data[f] = swept(begin, end, v, kiln_box_of(way, 1));
    }
    return kiln_bvh_refit(&c->found.face_tree, c->found.boxes.data, error);
}

/* `begin` and `end` [point]. Any of the face's corners may go as any other does. */
static kiln_status place_walls(kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end,
                               kiln_error *error)
{
    const kiln_u32_array *faces = &c->walls.faces;
    if (faces->count == 0)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(c->context, &c->found.boxes, faces->count / 3 + 1, error));
    for (size_t f = 0; f < faces->count / 3; f++) {
        const uint32_t *v = &faces->data[3 * f];
        kiln_vec3 way[3];
        for (int k = 0; k < 3; k++)
            way[k] = kiln_v3_sub(end[v[k]], begin[v[k]]);
        c->found.boxes.data[f] = swept(begin, end, v, kiln_box_of(way, 3));
    }
    return kiln_bvh_refit(&c->found.wall_face_tree, c->found.boxes.data, error);
}

/* What the fastest are apart from each other in their ways, at least. */
static double spread(const kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end)
{
    kiln_box ways = kiln_box_empty();
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        ways = kiln_box_grow(ways, kiln_v3_sub(end[v], begin[v]));
    }
    for (size_t i = 0; i < c->walls.own.count; i++) {
        size_t row = c->first_wall + i;
        if (!is_plane(c, c->walls.obstacle.data[i]))
            ways = kiln_box_grow(ways, kiln_v3_sub(end[row], begin[row]));
    }
    return kiln_v3_norm(kiln_v3_sub(ways.high, ways.low));
}

/* Whether the middle of the vertex's part got behind something that is as large as the part: then
 * that is where the part is, however few of its vertices say so. What is larger than the other
 * folds about it, and its middle is nowhere. */
static bool is_centre_behind(const kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end,
                             uint32_t vertex)
{
    uint32_t part = c->surface.part.data[vertex];
    probe p = {.collide = c,
               .begin = begin,
               .end = end,
               .row = KILN_NONE,
               .from = mean_of(c, begin, part),
               .to = mean_of(c, end, part),
               .extent = c->mean_way.data[part].extent,
               .part = part,
               .body = c->surface.body.data[vertex],
               .obstacle = KILN_NONE};
    return !is_led(c, vertex) && is_barred(&p);
}

/* A vertex of the first part much of which is behind, KILN_NONE: there is none. Each part once. */
static uint32_t judge(kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end)
{
    const kiln_u32_array *vertices = &c->surface.vertices, *part = &c->surface.part;
    for (size_t i = 0; i < vertices->count; i++) {
        size_t all = 0, behind = 0, freely = 0;
        uint32_t first = vertices->data[i];
        if (!(c->behind.data[first] & ~PRESSED))
            continue;
        for (size_t k = i; k < vertices->count; k++) {
            uint32_t v = vertices->data[k];
            if (part->data[v] != part->data[first])
                continue;
            uint8_t is = c->behind.data[v];
            all++;
            behind += (is & ~PRESSED) != 0;
            freely += (is & BY_WALL) || (is == BY_BODY && !is_led(c, v));
            c->behind.data[v] = 0;
        }
        for (size_t k = 0; k < i; k++)
            all += part->data[vertices->data[k]] == part->data[first];
        if (are_many(behind, PART, all) || are_many(freely, PART_FREE, all) ||
            is_centre_behind(c, begin, end, first))
            return first;
    }
    return KILN_NONE;
}

static uint32_t find_part(kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end)
{
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        probe p = probe_of_row(c, begin, end, v);
        p.part = c->surface.part.data[v];
        p.body = c->surface.body.data[v];
        if (is_barred(&p))
            c->behind.data[v] |= kiln_collide_is_wall(c, p.crossed) ? BY_WALL : BY_BODY;
    }
    return judge(c, begin, end);
}

/* A vertex of what an obstacle has got round with many of its points; they lie together. */
static uint32_t find_wall(const kiln_collide *c, const kiln_vec3 *begin, const kiln_vec3 *end)
{
    const kiln_u32_array *obstacle = &c->walls.obstacle;
    size_t all = 0, behind = 0;
    uint32_t crossed = KILN_NONE;
    for (size_t i = 0; i < obstacle->count; i++) {
        if (i == 0 || obstacle->data[i] != obstacle->data[i - 1])
            all = behind = 0;
        if (is_plane(c, obstacle->data[i]))
            continue;
        probe p = probe_of_row(c, begin, end, c->first_wall + (uint32_t)i);
        p.obstacle = obstacle->data[i];
        all++;
        if (is_barred(&p)) {
            behind++;
            crossed = p.crossed;
        }
        bool last = i + 1 == obstacle->count || obstacle->data[i + 1] != obstacle->data[i];
        if (last && behind > 0) {
            bool pressed =
                is_led(c, crossed) || c->mean_way.data[c->surface.part.data[crossed]].pressed;
            if (are_many(behind, pressed ? PART : PART_FREE, all))
                return crossed;
        }
    }
    return KILN_NONE;
}

double kiln_collide_haste(const kiln_collide *c, const double *begin, const double *end)
{
    if (c->surface.faces.count == 0)
        return 0.0;
    return spread(c, kiln_collide_points(begin), kiln_collide_points(end)) /
           fmin(c->shortest, c->options.thickness);
}

kiln_status kiln_collide_behind(kiln_collide *c, const double *begin, const double *end, bool stays,
                                uint32_t *vertex, kiln_error *error)
{
    const kiln_vec3 *from = kiln_collide_points(begin), *to = kiln_collide_points(end);
    *vertex = KILN_NONE;
    if (c->surface.faces.count == 0 || spread(c, from, to) <= FAST * c->shortest)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(c->context, &c->behind, c->first_wall, error));
    memset(c->behind.data, 0, c->first_wall);
    KILN_TRY(find_mean_ways(c, from, to, error));
    KILN_TRY(find_extents(c, from, error));
    if (stays)
        mark_pressed(c, end);
    KILN_TRY(place_faces(c, from, to, error));
    KILN_TRY(place_walls(c, from + c->first_wall, to + c->first_wall, error));
    *vertex = find_part(c, from, to);
    if (*vertex == KILN_NONE)
        *vertex = find_wall(c, from, to);
    return KILN_OK;
}

uint32_t kiln_collide_behind_plane(const kiln_collide *c, const double *x)
{
    const kiln_vec3 *at = kiln_collide_points(x), *wall = at + c->first_wall;
    for (size_t f = 0; f < c->walls.faces.count / 3; f++) {
        const uint32_t *v = &c->walls.faces.data[3 * f];
        uint32_t obstacle = c->walls.obstacle.data[v[0]];
        if (!is_plane(c, obstacle))
            continue;
        for (size_t i = 0; i < c->surface.vertices.count; i++) {
            uint32_t own = c->surface.vertices.data[i];
            if (kiln_body_meets_obstacle(c->options.pairs, c->surface.body.data[own], obstacle) &&
                !(kiln_orient3d(wall[v[0]], wall[v[1]], wall[v[2]], at[own]) > 0.0))
                return own;
        }
    }
    return KILN_NONE;
}

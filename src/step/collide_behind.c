/* Newton's way is free of crossings, but when a step is long it may lead round something that no
 * velocity leads round: the minimum of the objective may lie behind it. */
#include "geom/predicates.h"
#include "step/collide_impl.h"

/* Of the stride: shorter ways lead round nothing. */
#define FAST 2.0

typedef struct probe {
    const kiln_collide *collide;
    const kiln_vec3 *x; /* of the faces */
    kiln_vec3 from, to;
    uint32_t part, body;
    bool hit;
} probe;

/* Exact signs; what is met at an edge or a vertex counts. */
static bool crosses(const probe *p, const uint32_t v[3])
{
    kiln_vec3 a = p->x[v[0]], b = p->x[v[1]], c = p->x[v[2]];
    double below = kiln_orient3d(a, b, c, p->from), above = kiln_orient3d(a, b, c, p->to);
    if (!(below > 0 && above < 0) && !(below < 0 && above > 0))
        return false;
    double s[3] = {kiln_orient3d(p->from, p->to, a, b), kiln_orient3d(p->from, p->to, b, c),
                   kiln_orient3d(p->from, p->to, c, a)};
    return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
}

static bool visit_face(void *user, uint32_t face)
{
    probe *p = user;
    const uint32_t *v = &p->collide->surface.faces.data[3 * (size_t)face];
    const kiln_contact_surface *surface = &p->collide->surface;
    const kiln_contact_options *o = &p->collide->options;
    uint32_t body = surface->body.data[v[0]];
    p->hit = surface->part.data[v[0]] != p->part && (body == p->body ? o->self : o->bodies) &&
             kiln_bodies_meet(o->pairs, p->body, body) && crosses(p, v);
    return !p->hit;
}

static bool visit_wall(void *user, uint32_t face)
{
    probe *p = user;
    const uint32_t *own = &p->collide->walls.faces.data[3 * (size_t)face];
    uint32_t first = p->collide->first_wall;
    p->hit = kiln_body_meets_obstacle(p->collide->options.pairs, p->body,
                                      p->collide->walls.obstacle.data[own[0]]) &&
             crosses(p, (uint32_t[3]){first + own[0], first + own[1], first + own[2]});
    return !p->hit;
}

/* Marks vertices whose straight way crosses a wall or a face of another part, with those at x. */
static void mark(kiln_collide *c, const double *x, const double *begin, const double *end,
                 uint8_t bit)
{
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        probe p = {.collide = c,
                   .x = kiln_collide_points(x),
                   .from = kiln_collide_points(begin)[v],
                   .to = kiln_collide_points(end)[v],
                   .part = c->surface.part.data[v],
                   .body = c->surface.body.data[v]};
        const kiln_vec3 way[2] = {p.from, p.to};
        kiln_bvh_query_box(&c->found.face_tree, kiln_box_of(way, 2), visit_face, &p);
        if (!p.hit && c->walls.faces.count)
            kiln_bvh_query_box(&c->found.wall_face_tree, kiln_box_of(way, 2), visit_wall, &p);
        c->behind.data[i] |= p.hit ? bit : 0;
    }
}

static kiln_status place_tree(kiln_collide *c, kiln_bvh *tree, const kiln_u32_array *faces,
                              const kiln_vec3 *x, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(c->context, &c->found.boxes, faces->count / 3 + 1, error));
    for (size_t f = 0; f < faces->count / 3; f++) {
        kiln_vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = x[faces->data[3 * f + (size_t)k]];
        c->found.boxes.data[f] = kiln_box_of(p, 3);
    }
    return kiln_bvh_refit(tree, c->found.boxes.data, error);
}

static kiln_status place_faces(kiln_collide *c, const double *x, kiln_error *error)
{
    const kiln_vec3 *points = kiln_collide_points(x);
    KILN_TRY(place_tree(c, &c->found.face_tree, &c->surface.faces, points, error));
    if (c->walls.faces.count == 0)
        return KILN_OK;
    return place_tree(c, &c->found.wall_face_tree, &c->walls.faces, points + c->first_wall, error);
}

static double longest(const kiln_collide *c, const double *begin, const double *end)
{
    double most = 0.0;
    for (size_t i = 0; i < c->surface.vertices.count; i++) {
        uint32_t v = c->surface.vertices.data[i];
        most = fmax(most, kiln_v3_norm2(kiln_v3_sub(kiln_collide_points(end)[v],
                                                    kiln_collide_points(begin)[v])));
    }
    return sqrt(most);
}

/* A vertex of the first part most of which is behind, KILN_NONE: there is none. Each part once. */
static uint32_t judge(kiln_collide *c)
{
    const kiln_u32_array *vertices = &c->surface.vertices, *part = &c->surface.part;
    for (size_t i = 0; i < vertices->count; i++) {
        size_t all = 0, behind = 0;
        if (c->behind.data[i] != 3)
            continue;
        for (size_t k = 0; k < vertices->count; k++)
            if (part->data[vertices->data[k]] == part->data[vertices->data[i]]) {
                all++;
                behind += c->behind.data[k] == 3;
                c->behind.data[k] = 0;
            }
        if (2 * behind > all)
            return vertices->data[i];
    }
    return KILN_NONE;
}

kiln_status kiln_collide_behind(kiln_collide *c, const double *begin, const double *end,
                                uint32_t *vertex, kiln_error *error)
{
    *vertex = KILN_NONE;
    if (c->surface.faces.count == 0 || longest(c, begin, end) <= FAST * c->stride)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(c->context, &c->behind, c->surface.vertices.count, error));
    for (size_t i = 0; i < c->surface.vertices.count; i++)
        c->behind.data[i] = 0;
    KILN_TRY(place_faces(c, begin, error));
    mark(c, begin, begin, end, 1);
    KILN_TRY(place_faces(c, end, error));
    mark(c, end, begin, end, 2);
    *vertex = judge(c);
    return KILN_OK;
}

uint32_t kiln_collide_behind_plane(const kiln_collide *c, const double *x)
{
    const kiln_vec3 *at = kiln_collide_points(x), *wall = at + c->first_wall;
    for (size_t f = 0; f < c->walls.faces.count / 3; f++) {
        const uint32_t *v = &c->walls.faces.data[3 * f];
        uint32_t obstacle = c->walls.obstacle.data[v[0]];
        if (!isinf(c->walls.face_area.data[obstacle]))
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

#include "contact/keep_out.h"

#include "geom/distance.h"
#include "geom/triangle_overlap.h"

#include <math.h>

/* Of the distance there was: so that rounding refuses no split. */
static const double LESS = 0.999;

/* A change of a surface: triangles that go and come. */
typedef struct change {
    const kiln_keep_out *guard;
    uint32_t body;
    const kiln_vec3 (*old)[3], (*fresh)[3];
    size_t old_count, fresh_count;
} change;

/* How near a triangle of a body comes; no farther than the first `least`. */
typedef struct nearness {
    const change *change;
    const kiln_vec3 *p; /* [3] */
    double least2;      /* m^2; negative: they cross */
} nearness;

static bool meets(const kiln_keep_out *g, uint32_t body, const kiln_guarded *other)
{
    if (other->obstacle != KILN_NONE)
        return kiln_body_meets_obstacle(g->rules.table, body, other->obstacle);
    return body == other->body
               ? g->rules.self
               : g->rules.bodies && kiln_bodies_meet(g->rules.table, body, other->body);
}

static bool shares_corner(const kiln_vec3 (*p)[3], size_t count, const kiln_vec3 other[3])
{
    for (size_t i = 0; i < 9 * count; i++) {
        const kiln_vec3 *a = &p[i / 9][i % 9 / 3], *b = &other[i % 3];
        if (a->x == b->x && a->y == b->y && a->z == b->z)
            return true;
    }
    return false;
}

/* A triangle that is looked for. */
typedef struct sought {
    const kiln_keep_out *guard;
    const kiln_vec3 *p; /* [3] */
    bool found;
} sought;

static bool is_corner(const kiln_vec3 p[3], kiln_vec3 q)
{
    for (int k = 0; k < 3; k++)
        if (p[k].x == q.x && p[k].y == q.y && p[k].z == q.z)
            return true;
    return false;
}

static bool compare(void *user, uint32_t item)
{
    sought *s = user;
    const kiln_guarded *other = &s->guard->triangles.data[item];
    s->found = other->obstacle == KILN_NONE && is_corner(other->p, s->p[0]) &&
               is_corner(other->p, s->p[1]) && is_corner(other->p, s->p[2]);
    return !s->found;
}

bool kiln_keep_out_stood(const void *guard, const kiln_vec3 p[3])
{
    sought s = {.guard = guard, .p = p};
    if (s.guard->mesh)
        kiln_bvh_query_box(&s.guard->tree, kiln_box_of(p, 3), compare, &s);
    return s.found;
}

static bool visit(void *user, uint32_t item)
{
    nearness *n = user;
    const change *c = n->change;
    const kiln_guarded *other = &c->guard->triangles.data[item];
    bool own = other->obstacle == KILN_NONE && other->body == c->body;
    if (!meets(c->guard, c->body, other) ||
        (own && (shares_corner(c->old, c->old_count, other->p) ||
                 shares_corner(c->fresh, c->fresh_count, other->p))))
        return true;
    if (kiln_triangle_overlap(n->p, other->p) >= KILN_OVERLAP_CROSS)
        n->least2 = -1.0;
    else if (!own)
        n->least2 = fmin(n->least2, kiln_closest_triangles(n->p, other->p).distance2);
    return n->least2 >= 0.0;
}

static double nearest2(const change *c, const kiln_vec3 (*p)[3], size_t count, double least2)
{
    for (size_t i = 0; i < count && least2 >= 0.0; i++) {
        nearness n = {c, p[i], least2};
        double reach = sqrt(least2);
        kiln_box box = kiln_box_of(p[i], 3);
        box.low = kiln_v3_sub(box.low, kiln_v3(reach, reach, reach));
        box.high = kiln_v3_add(box.high, kiln_v3(reach, reach, reach));
        kiln_bvh_query_box(&c->guard->tree, box, visit, &n);
        least2 = n.least2;
    }
    return least2;
}

static bool is_shut(const kiln_keep_out *g, const kiln_vec3 (*p)[3], size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < g->shut.count; k++)
            if (kiln_box_overlap(kiln_box_of(p[i], 3), g->shut.data[k]))
                return true;
    return false;
}

static bool allows(const void *self, uint32_t vertex, const kiln_vec3 (*old)[3], size_t old_count,
                   const kiln_vec3 (*fresh)[3], size_t fresh_count)
{
    const kiln_keep_out *g = self;
    const kiln_mesh *mesh = g->mesh;
    double gap2 = g->rules.gap * g->rules.gap;
    const change c = {.guard = g,
                      .body = mesh->parts.data[mesh->info[mesh->vertex[vertex].tet].part].body,
                      .old = old,
                      .fresh = fresh,
                      .old_count = old_count,
                      .fresh_count = fresh_count};
    if (is_shut(g, old, old_count) || is_shut(g, fresh, fresh_count))
        return false;
    double after2 = nearest2(&c, fresh, fresh_count, gap2);
    return after2 >= gap2 || (after2 >= 0.0 && after2 >= LESS * nearest2(&c, old, old_count, gap2));
}

static kiln_status add_walls(kiln_keep_out *g, kiln_error *error)
{
    const kiln_walls *walls = g->rules.walls;
    kiln_context *context = g->mesh->context;
    KILN_ARRAY_OF(kiln_vec3)
    places = {0};
    if (!walls || walls->faces.count == 0)
        return KILN_OK;
    kiln_box about = kiln_box_empty();
    for (uint32_t v = 0; v < g->mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(g->mesh, v))
            about = kiln_box_grow(about, g->mesh->x[v]);
    KILN_TRY(kiln_array_reserve(context, &places, walls->own.count, error));
    kiln_walls_place(walls, about, g->rules.at_begin, places.data);
    kiln_status status = KILN_OK;
    for (size_t f = 0; f < walls->faces.count && status == KILN_OK; f += 3) {
        const uint32_t *v = &walls->faces.data[f];
        kiln_guarded wall = {{places.data[v[0]], places.data[v[1]], places.data[v[2]]},
                             KILN_NONE,
                             walls->obstacle.data[v[0]]};
        status = kiln_array_push(context, &g->triangles, wall, error);
    }
    kiln_array_free(context, &places);
    return status;
}

static kiln_status add_bodies(kiln_keep_out *g, kiln_error *error)
{
    const kiln_mesh *mesh = g->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        kiln_guarded face = {.body = mesh->parts.data[mesh->info[at / 4].part].body,
                             .obstacle = KILN_NONE};
        for (int k = 0; k < 3; k++)
            face.p[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
        KILN_TRY(kiln_array_push(mesh->context, &g->triangles, face, error));
    }
    return KILN_OK;
}

static kiln_status grow_tree(kiln_keep_out *g, kiln_error *error)
{
    kiln_context *context = g->mesh->context;
    size_t count = g->triangles.count;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(context, &boxes, count + 1, error));
    for (size_t i = 0; i < count; i++)
        boxes.data[i] = kiln_box_of(g->triangles.data[i].p, 3);
    kiln_status status = kiln_bvh_build(&g->tree, context, boxes.data, count, error);
    kiln_array_free(context, &boxes);
    return status;
}

kiln_status kiln_keep_out_begin(kiln_keep_out *g, const kiln_mesh *mesh,
                                const kiln_keep_out_rules *rules, kiln_error *error)
{
    *g = (kiln_keep_out){.mesh = mesh, .rules = *rules, .guard = {g, allows}};
    kiln_status status = add_walls(g, error);
    if (status == KILN_OK && (rules->bodies || rules->self))
        status = add_bodies(g, error);
    if (status == KILN_OK)
        status = grow_tree(g, error);
    if (status != KILN_OK)
        kiln_keep_out_end(g);
    return status;
}

void kiln_keep_out_end(kiln_keep_out *g)
{
    if (!g->mesh)
        return;
    kiln_array_free(g->mesh->context, &g->triangles);
    kiln_array_free(g->mesh->context, &g->shut);
    kiln_bvh_destroy(&g->tree);
    g->mesh = NULL;
}

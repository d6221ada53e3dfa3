#include "contact/clearance.h"

#include "geom/bvh.h"
#include "geom/distance.h"
#include "geom/triangle_overlap.h"

typedef struct search {
    const kiln_mesh *mesh;
    kiln_u32_array faces; /* live records */
    const kiln_clearance_rules *rules;
    kiln_clearance *out;
    const kiln_walls *walls; /* NULL: the mesh against itself */
    const kiln_vec3 *places; /* [point] of theirs */
    kiln_status status;
    kiln_error *error;
} search;

static void corners_of(const search *s, uint32_t face, uint32_t v[3], kiln_vec3 p[3])
{
    uint32_t at = s->mesh->face[face].at;
    for (int k = 0; k < 3; k++) {
        v[k] = s->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        p[k] = s->mesh->x[v[k]];
    }
}

static bool is_new(const search *s, uint32_t face)
{
    uint32_t since = s->rules->since, tet = s->mesh->face[face].at / 4;
    if (s->rules->made)
        return s->rules->made[tet];
    return since == KILN_SINCE_EVER || s->mesh->info[tet].changed > since;
}

static uint32_t body_of(const search *s, uint32_t face)
{
    return s->mesh->parts.data[s->mesh->info[s->mesh->face[face].at / 4].part].body;
}

static double clearance_of(const search *s, uint32_t face)
{
    return s->rules->clearance ? s->rules->clearance[body_of(s, face)] : 0.0;
}

/* Of two bodies. Within one what is near in the material may be as near as it likes. */
static double gap_between(const search *s, uint32_t a, uint32_t b)
{
    double gap = s->rules->gap;
    return body_of(s, a) == body_of(s, b) ? gap
                                          : gap + 0.5 * (clearance_of(s, a) + clearance_of(s, b));
}

static bool share_vertex(const uint32_t a[3], const uint32_t b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] == b[0] || a[i] == b[1] || a[i] == b[2])
            return true;
    return false;
}

static bool are_clear(const search *s, uint32_t a, uint32_t b)
{
    uint32_t va[3], vb[3];
    kiln_vec3 pa[3], pb[3];
    corners_of(s, a, va, pa);
    corners_of(s, b, vb, pb);
    if (kiln_triangle_overlap_shared(pa, va, pb, vb) >= KILN_OVERLAP_CROSS)
        return false;
    double gap = gap_between(s, a, b);
    return share_vertex(va, vb) || kiln_closest_triangles(pa, pb).distance2 > gap * gap;
}

static bool stood(const search *s, uint32_t face)
{
    uint32_t v[3];
    kiln_vec3 p[3];
    if (!s->rules->stood)
        return false;
    corners_of(s, face, v, p);
    return s->rules->stood(s->rules->before, p);
}

static bool may_meet(const search *s, uint32_t a, uint32_t b)
{
    uint32_t first = body_of(s, a), second = body_of(s, b);
    return (is_new(s, a) || is_new(s, b)) &&
           !(first == second ? s->rules->between : s->rules->within) &&
           kiln_bodies_meet(s->rules->table, first, second);
}

static void note(search *s, uint32_t face)
{
    uint32_t v[3];
    kiln_vec3 p[3];
    if (!s->rules->where || s->status != KILN_OK)
        return;
    corners_of(s, face, v, p);
    s->status = kiln_array_push(s->mesh->context, s->rules->where, kiln_box_of(p, 3), s->error);
}

static bool judge_pairs(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    search *s = user;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = s->faces.data[pairs[i].a], b = s->faces.data[pairs[i].b];
        if (!may_meet(s, a, b) || are_clear(s, a, b) || (stood(s, a) && stood(s, b)))
            continue;
        note(s, a);
        note(s, b);
        if (s->out->pairs++ == 0) {
            s->out->face[0] = a;
            s->out->face[1] = b;
        }
    }
    return s->status == KILN_OK;
}

/* Boxes are larger by half the clearance, and by half the gap or all of it. */
static kiln_status grow_tree(search *s, double part, kiln_bvh *tree, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    size_t live = mesh->table[KILN_ON_FACE].live;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(mesh->context, &s->faces, live + 1, error)); /* freed by caller */
    KILN_TRY(kiln_array_reserve(mesh->context, &boxes, live + 1, error));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[3];
        kiln_vec3 p[3];
        if (!kiln_face_live(mesh, f))
            continue;
        corners_of(s, f, v, p);
        kiln_box box = kiln_box_of(p, 3);
        double r = part * s->rules->gap + 0.5 * clearance_of(s, f);
        boxes.data[s->faces.count] = (kiln_box){kiln_v3_sub(box.low, kiln_v3(r, r, r)),
                                                kiln_v3_add(box.high, kiln_v3(r, r, r))};
        s->faces.data[s->faces.count++] = f;
    }
    kiln_status status = kiln_bvh_build(tree, mesh->context, boxes.data, s->faces.count, error);
    kiln_array_free(mesh->context, &boxes);
    return status;
}

kiln_status kiln_contact_clearance(const kiln_mesh *mesh, const kiln_clearance_rules *rules,
                                   kiln_clearance *out, kiln_error *error)
{
    search s = {.mesh = mesh, .rules = rules, .out = out, .error = error};
    kiln_bvh tree = {0};
    *out = (kiln_clearance){.face = {KILN_NONE, KILN_NONE}};
    kiln_status status = grow_tree(&s, 0.5, &tree, error);
    if (status == KILN_OK) {
        kiln_bvh_visit_self_overlap(&tree, judge_pairs, &s);
        kiln_bvh_destroy(&tree);
        status = s.status;
    }
    kiln_array_free(mesh->context, &s.faces);
    return status;
}

static void wall_corners(const search *s, uint32_t face, kiln_vec3 p[3])
{
    for (size_t k = 0; k < 3; k++)
        p[k] = s->places[s->walls->faces.data[3 * (size_t)face + k]];
}

static bool meets_wall(const search *s, uint32_t face, uint32_t wall)
{
    uint32_t point = s->walls->faces.data[3 * (size_t)wall];
    return kiln_body_meets_obstacle(s->rules->table, body_of(s, face),
                                    s->walls->obstacle.data[point]);
}

static void judge_walls(search *s, const kiln_bvh_pair_array *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t v[3], face = s->faces.data[pairs->data[i].a];
        kiln_vec3 p[3], wall[3];
        if (!is_new(s, face) || !meets_wall(s, face, pairs->data[i].b))
            continue;
        corners_of(s, face, v, p);
        wall_corners(s, pairs->data[i].b, wall);
        double gap = s->rules->gap + 0.5 * clearance_of(s, face);
        if ((kiln_triangle_overlap(p, wall) < KILN_OVERLAP_CROSS &&
             kiln_closest_triangles(p, wall).distance2 > gap * gap) ||
            stood(s, face))
            continue;
        note(s, face);
        if (s->out->pairs++ == 0) {
            s->out->face[0] = face;
            s->out->face[1] = pairs->data[i].b;
        }
    }
}

static kiln_status meet_walls(search *s, const kiln_bvh *tree, kiln_error *error)
{
    kiln_context *context = s->mesh->context;
    size_t count = s->walls->faces.count / 3;
    kiln_bvh wall_tree = {0};
    kiln_bvh_pair_array pairs = {0};
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    KILN_TRY(kiln_array_reserve(context, &boxes, count + 1, error));
    for (uint32_t f = 0; f < count; f++) {
        kiln_vec3 p[3];
        wall_corners(s, f, p);
        boxes.data[f] = kiln_box_of(p, 3);
    }
    kiln_status status = kiln_bvh_build(&wall_tree, context, boxes.data, count, error);
    if (status == KILN_OK)
        status = kiln_bvh_pair_overlap(tree, &wall_tree, &pairs, error);
    if (status == KILN_OK)
        judge_walls(s, &pairs);
    if (status == KILN_OK)
        status = s->status;
    kiln_bvh_destroy(&wall_tree);
    kiln_array_free(context, &pairs);
    kiln_array_free(context, &boxes);
    return status;
}

static kiln_box extent_of(const kiln_mesh *mesh)
{
    kiln_box box = kiln_box_empty();
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            box = kiln_box_grow(box, mesh->x[v]);
    return box;
}

kiln_status kiln_wall_clearance(const kiln_mesh *mesh, const kiln_clearance_rules *rules,
                                const kiln_walls *walls, kiln_clearance *out, kiln_error *error)
{
    search s = {.mesh = mesh, .rules = rules, .out = out, .walls = walls, .error = error};
    kiln_bvh tree = {0};
    KILN_ARRAY_OF(kiln_vec3)
    places = {0};
    *out = (kiln_clearance){.face = {KILN_NONE, KILN_NONE}};
    KILN_TRY(kiln_array_reserve(mesh->context, &places, walls->own.count + 1, error));
    kiln_walls_place(walls, extent_of(mesh), rules->at_begin, places.data);
    s.places = places.data;
    kiln_status status = grow_tree(&s, 1.0, &tree, error); /* those of walls are as they are */
    if (status == KILN_OK)
        status = meet_walls(&s, &tree, error);
    kiln_bvh_destroy(&tree);
    kiln_array_free(mesh->context, &s.faces);
    kiln_array_free(mesh->context, &places);
    return status;
}

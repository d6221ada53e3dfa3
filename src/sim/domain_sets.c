#include "sim/domain_sets.h"

#include "geom/bvh.h"
#include "geom/distance.h"
#include "sim/sets.h"

#include <math.h>
#include <string.h>

/* A new face lies on old ones that look the same way by this cosine, when its centre and corners
 * are as near to them as this part of its longest edge. */
static const double NEAR = 0.15, ALIKE = 0.7;

typedef struct old_face {
    kiln_vec3 p[3], normal;
} old_face;

/* The old faces that are in some set. */
typedef struct skin {
    KILN_ARRAY_OF(old_face)
    faces;
    kiln_u32_array rows; /* of the old mesh */
    kiln_bvh tree;
    kiln_vec3 normal; /* of the new face that is asked for */
} skin;

static old_face look_up(const kiln_mesh *mesh, uint32_t face)
{
    old_face f;
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        f.p[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
    f.normal =
        kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(f.p[1], f.p[0]), kiln_v3_sub(f.p[2], f.p[0])));
    return f;
}

static kiln_status grow_tree(skin *s, const kiln_mesh *old, const kiln_field *sets,
                             kiln_error *error)
{
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    const uint64_t *bits = (const uint64_t *)(const void *)sets->data;
    kiln_status status = KILN_OK;
    for (uint32_t f = 0; f < old->table[KILN_ON_FACE].used && status == KILN_OK; f++) {
        if (!kiln_face_live(old, f) ||
            !kiln_set_any(bits + (size_t)f * sets->components, sets->components))
            continue;
        old_face face = look_up(old, f);
        status = kiln_array_push(old->context, &s->faces, face, error);
        if (status == KILN_OK)
            status = kiln_array_push(old->context, &s->rows, f, error);
        if (status == KILN_OK)
            status = kiln_array_push(old->context, &boxes, kiln_box_of(face.p, 3), error);
    }
    if (status == KILN_OK)
        status = kiln_bvh_build(&s->tree, old->context, boxes.data, boxes.count, error);
    kiln_array_free(old->context, &boxes);
    return status;
}

static double distance2_if_alike(void *user, uint32_t item, kiln_vec3 p)
{
    const skin *s = user;
    const old_face *face = &s->faces.data[item];
    return kiln_v3_dot(face->normal, s->normal) < ALIKE
               ? INFINITY
               : kiln_closest_on_triangle(p, face->p).distance2;
}

/* The row of the old face that the middle of the new one lies on; KILN_NONE. */
static uint32_t row_below(skin *s, const old_face *face)
{
    const kiln_vec3 *p = face->p;
    kiln_vec3 centre = kiln_v3_scale(kiln_v3_add(kiln_v3_add(p[0], p[1]), p[2]), 1.0 / 3.0);
    const kiln_vec3 asked[4] = {p[0], p[1], p[2], centre};
    double longest2 = 0.0;
    for (int k = 0; k < 3; k++)
        longest2 = fmax(longest2, kiln_v3_norm2(kiln_v3_sub(p[k], p[(k + 1) % 3])));
    uint32_t item = 0;
    s->normal = face->normal;
    for (int k = 0; k < 4 && item != KILN_BVH_NONE; k++)
        item = kiln_bvh_closest(&s->tree, asked[k], NEAR * NEAR * longest2, distance2_if_alike, s,
                                NULL);
    return item == KILN_BVH_NONE ? KILN_NONE : s->rows.data[item];
}

/* What all vertices of holds remember, in one list for all of them. */
typedef struct places {
    const kiln_vec3 *from; /* [vertex] of the old mesh */
    kiln_vec3 *to;         /* of the new */
} places;
typedef KILN_ARRAY_OF(places)
places_list;

static kiln_status add_places(const kiln_mesh *old, const kiln_mesh *fresh, const char *name,
                              places_list *out, kiln_error *error)
{
    const kiln_field *from = kiln_mesh_field(old, KILN_ON_VERTEX, name);
    const kiln_field *to = kiln_mesh_field(fresh, KILN_ON_VERTEX, name);
    if (!from)
        return KILN_OK;
    places p = {(const kiln_vec3 *)(const void *)from->data, (kiln_vec3 *)(void *)to->data};
    for (size_t i = 0; i < out->count; i++)
        if (out->data[i].from == p.from)
            return KILN_OK;
    return kiln_array_push(old->context, out, p, error);
}

static kiln_status list_places(const kiln_scene *scene, const kiln_mesh *old,
                               const kiln_mesh *fresh, places_list *out, kiln_error *error)
{
    KILN_TRY(add_places(old, fresh, KILN_FIELD_START, out, error));
    for (size_t h = 0; h < scene->holds.count; h++) {
        char name[KILN_HOLD_NAME];
        kiln_hold_name_origin(scene, h, name);
        KILN_TRY(add_places(old, fresh, name, out, error));
    }
    return KILN_OK;
}

static kiln_mat3 edges_of(const kiln_vec3 *at, const uint32_t v[4])
{
    return kiln_m3_columns(kiln_v3_sub(at[v[1]], at[v[0]]), kiln_v3_sub(at[v[2]], at[v[0]]),
                           kiln_v3_sub(at[v[3]], at[v[0]]));
}

/* As if the matter of an old tet went on to where the vertex is. */
static void catch_vertex(const kiln_mesh *old, uint32_t tet, kiln_mesh *fresh, uint32_t vertex,
                         const places_list *all)
{
    const uint32_t *v = old->tet[tet].v;
    kiln_mat3 inverse = kiln_m3_inverse(edges_of(old->x, v));
    kiln_vec3 weights = kiln_m3_apply(inverse, kiln_v3_sub(fresh->x[vertex], old->x[v[0]]));
    for (size_t i = 0; i < all->count; i++) {
        const kiln_vec3 *from = all->data[i].from;
        all->data[i].to[vertex] =
            kiln_v3_add(from[v[0]], kiln_m3_apply(edges_of(from, v), weights));
    }
}

static void keep_sets(const kiln_mesh *old, kiln_mesh *fresh, skin *s, const places_list *all)
{
    const kiln_field *from = kiln_mesh_field(old, KILN_ON_FACE, KILN_FIELD_SETS);
    const kiln_field *to = kiln_mesh_field(fresh, KILN_ON_FACE, KILN_FIELD_SETS);
    for (uint32_t f = 0; f < fresh->table[KILN_ON_FACE].used; f++) {
        char *bits = to->data + (size_t)f * to->stride;
        if (!kiln_face_live(fresh, f) ||
            !kiln_set_any((const uint64_t *)(const void *)bits, to->components))
            continue;
        old_face face = look_up(fresh, f);
        uint32_t row = row_below(s, &face), at = fresh->face[f].at;
        memset(bits, 0, to->stride);
        if (row == KILN_NONE)
            continue;
        memcpy(bits, from->data + (size_t)row * from->stride, to->stride);
        for (int k = 0; k < 3; k++)
            catch_vertex(old, old->face[row].at / 4, fresh,
                         fresh->tet[at / 4].v[kiln_face_corner[at % 4][k]], all);
    }
}

kiln_status kiln_domain_keep_sets(const kiln_scene *scene, const kiln_mesh *old, kiln_mesh *fresh,
                                  kiln_error *error)
{
    const kiln_field *sets = kiln_mesh_field(old, KILN_ON_FACE, KILN_FIELD_SETS);
    skin s = {0};
    places_list all = {0};
    if (!sets || sets->components == 0)
        return KILN_OK;
    kiln_status status = grow_tree(&s, old, sets, error);
    if (status == KILN_OK)
        status = list_places(scene, old, fresh, &all, error);
    if (status == KILN_OK)
        keep_sets(old, fresh, &s, &all);
    kiln_bvh_destroy(&s.tree);
    kiln_array_free(old->context, &s.faces);
    kiln_array_free(old->context, &s.rows);
    kiln_array_free(old->context, &all);
    return status;
}

static void or_bits(const kiln_mesh *mesh, kiln_where where, uint64_t *all)
{
    const kiln_field *sets = kiln_mesh_field(mesh, where, KILN_FIELD_SETS);
    const uint64_t *bits = sets ? (const uint64_t *)(const void *)sets->data : NULL;
    for (size_t i = 0; bits && i < (size_t)mesh->table[where].used * sets->components; i++)
        all[i % sets->components] |= bits[i];
}

kiln_status kiln_domain_lost_set(const kiln_scene *scene, const kiln_mesh *old,
                                 const kiln_mesh *fresh, size_t *lost, kiln_error *error)
{
    size_t words = kiln_set_words(scene);
    KILN_ARRAY_OF(uint64_t)
    had = {0};
    *lost = KILN_NONE;
    KILN_TRY(kiln_array_reserve(old->context, &had, 2 * words + 1, error));
    memset(had.data, 0, 2 * words * sizeof(uint64_t));
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        or_bits(old, (kiln_where)where, had.data);
        or_bits(fresh, (kiln_where)where, had.data + words);
    }
    for (size_t s = 0; s < kiln_set_count(scene) && *lost == KILN_NONE; s++)
        if (kiln_set_has(had.data, s) && !kiln_set_has(had.data + words, s))
            *lost = s;
    kiln_array_free(old->context, &had);
    return KILN_OK;
}

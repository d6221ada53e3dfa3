#include "topology/crossing.h"
#include "geom/bvh.h"
#include "geom/triangle_overlap.h"

typedef struct search {
    const kiln_mesh *mesh;
    const kiln_vec3 *points;
    kiln_u32_array faces; /* live records */
    const kiln_among *among;
    kiln_crossing *out;
} search;

static void corners_of(const search *s, uint32_t face, uint32_t v[3], kiln_vec3 p[3])
{
    uint32_t at = s->mesh->face[face].at;
    for (int k = 0; k < 3; k++) {
        v[k] = s->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        p[k] = s->points[v[k]];
    }
}

static kiln_vec3 normal_of(const kiln_vec3 p[3])
{
    return kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0]));
}

/* Faces that lie on each other and look the same way have matter behind them twice; those of two
 * bodies side by side look at each other. */
static bool is_overlap(kiln_overlap how, const kiln_vec3 pa[3], const kiln_vec3 pb[3])
{
    return how == KILN_OVERLAP_CROSS ||
           (how == KILN_OVERLAP_COPLANAR && kiln_v3_dot(normal_of(pa), normal_of(pb)) > 0.0);
}

static uint32_t part_of(const kiln_mesh *mesh, uint32_t face)
{
    return mesh->info[mesh->face[face].at / 4].part;
}

static void count_pair(uint32_t a, uint32_t b, size_t *count, uint32_t first[2])
{
    if ((*count)++ > 0)
        return;
    first[0] = a;
    first[1] = b;
}

static bool judge_pairs(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    search *s = user;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = s->faces.data[pairs[i].a], b = s->faces.data[pairs[i].b], va[3], vb[3];
        kiln_vec3 pa[3], pb[3];
        if (!kiln_tets_meet(s->among, s->mesh, s->mesh->face[a].at / 4, s->mesh->face[b].at / 4))
            continue;
        corners_of(s, a, va, pa);
        corners_of(s, b, vb, pb);
        kiln_overlap how = kiln_triangle_overlap_shared(pa, va, pb, vb);
        if (is_overlap(how, pa, pb))
            count_pair(a, b, &s->out->pairs, s->out->face);
        else if (how != KILN_OVERLAP_DISJOINT && part_of(s->mesh, a) != part_of(s->mesh, b))
            count_pair(a, b, &s->out->touching, s->out->touching_face);
    }
    return s->out->pairs < KILN_CROSSING_MOST;
}

static kiln_status collect(search *s, kiln_bvh *tree, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    kiln_status status =
        kiln_array_reserve(mesh->context, &s->faces, mesh->table[KILN_ON_FACE].live + 1, error);
    if (status == KILN_OK)
        status =
            kiln_array_reserve(mesh->context, &boxes, mesh->table[KILN_ON_FACE].live + 1, error);
    for (uint32_t f = 0; status == KILN_OK && f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[3];
        kiln_vec3 p[3];
        if (!kiln_face_live(mesh, f))
            continue;
        corners_of(s, f, v, p);
        kiln_box box = kiln_box_grow(kiln_box_empty(), p[0]);
        boxes.data[s->faces.count] = kiln_box_grow(kiln_box_grow(box, p[1]), p[2]);
        s->faces.data[s->faces.count++] = f;
    }
    if (status == KILN_OK)
        status = kiln_bvh_build(tree, mesh->context, boxes.data, s->faces.count, error);
    kiln_array_free(mesh->context, &boxes);
    return status;
}

kiln_status kiln_surface_find_crossing(const kiln_mesh *mesh, kiln_space space, kiln_crossing *out,
                                       kiln_error *error)
{
    return kiln_surface_find_crossing_among(mesh, space, NULL, out, error);
}

kiln_status kiln_surface_find_crossing_among(const kiln_mesh *mesh, kiln_space space,
                                             const kiln_among *among, kiln_crossing *out,
                                             kiln_error *error)
{
    search s = {
        .mesh = mesh, .points = kiln_mesh_positions(mesh, space), .among = among, .out = out};
    kiln_bvh tree = {0};
    *out = (kiln_crossing){.face = {KILN_NONE, KILN_NONE}, .touching_face = {KILN_NONE, KILN_NONE}};
    kiln_status status = collect(&s, &tree, error);
    if (status == KILN_OK) {
        kiln_bvh_visit_self_overlap(&tree, judge_pairs, &s);
        kiln_bvh_destroy(&tree);
    }
    kiln_array_free(mesh->context, &s.faces);
    return status;
}

#include "topology/immersed.h"

#include "geom/bvh.h"
#include "geom/tet_location.h"
#include "mesh/parts.h"

/* How far behind the face, of the way to the middle of its tet: farther than rounding, nearer than
 * anything else that could be there. */
static const double BEHIND = 1e-6;

typedef struct search {
    const kiln_mesh *mesh;
    const kiln_vec3 *points;
    kiln_u32_array tets; /* live ones, by item of the tree */
    kiln_vec3 point;
    uint32_t part;
    const kiln_among *among;
    kiln_immersed *out;
} search;

static void corners_of(const search *s, uint32_t tet, kiln_vec3 p[4])
{
    for (int k = 0; k < 4; k++)
        p[k] = s->points[s->mesh->tet[tet].v[k]];
}

static bool look_in(void *user, uint32_t item)
{
    search *s = user;
    uint32_t tet = s->tets.data[item];
    kiln_vec3 p[4];
    if (s->mesh->info[tet].part == s->part ||
        !kiln_tets_meet(s->among, s->mesh, s->out->tet[0], tet))
        return true;
    corners_of(s, tet, p);
    if (kiln_tet_locate(p, s->point).place == KILN_TET_OUTSIDE)
        return true;
    s->out->tet[1] = tet;
    s->out->found = true;
    return false;
}

static kiln_vec3 point_behind(const search *s, uint32_t at)
{
    kiln_vec3 p[4];
    corners_of(s, at / 4, p);
    kiln_vec3 opposite = p[at % 4], sum = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        sum = kiln_v3_add(sum, p[kiln_face_corner[at % 4][k]]);
    kiln_vec3 centre = kiln_v3_scale(sum, 1.0 / 3.0);
    return kiln_v3_madd(centre, 0.25 * BEHIND, kiln_v3_sub(opposite, centre));
}

static void look_behind_faces(search *s, const kiln_bvh *tree)
{
    const kiln_mesh *mesh = s->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && !s->out->found; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at;
        s->point = point_behind(s, at);
        s->part = mesh->info[at / 4].part;
        s->out->tet[0] = at / 4;
        kiln_bvh_query_box(tree, (kiln_box){s->point, s->point}, look_in, s);
    }
}

static kiln_status collect(search *s, kiln_bvh *tree, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    kiln_context *context = mesh->context;
    size_t count = mesh->table[KILN_ON_TET].live;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    kiln_status status = kiln_array_reserve(context, &s->tets, count, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &boxes, count, error);
    for (uint32_t t = 0; status == KILN_OK && t < mesh->table[KILN_ON_TET].used; t++) {
        kiln_vec3 p[4];
        if (!kiln_tet_live(mesh, t))
            continue;
        corners_of(s, t, p);
        boxes.data[s->tets.count] = kiln_box_of(p, 4);
        s->tets.data[s->tets.count++] = t;
    }
    if (status == KILN_OK)
        status = kiln_bvh_build(tree, context, boxes.data, s->tets.count, error);
    kiln_array_free(context, &boxes);
    return status;
}

kiln_status kiln_parts_find_immersed(const kiln_mesh *mesh, kiln_space space,
                                     const kiln_among *among, kiln_immersed *out, kiln_error *error)
{
    search s = {
        .mesh = mesh, .points = kiln_mesh_positions(mesh, space), .among = among, .out = out};
    kiln_bvh tree = {0};
    *out = (kiln_immersed){.found = false};
    if (kiln_part_count(mesh) < 2)
        return KILN_OK;
    kiln_status status = collect(&s, &tree, error);
    if (status == KILN_OK)
        look_behind_faces(&s, &tree);
    kiln_bvh_destroy(&tree);
    kiln_array_free(mesh->context, &s.tets);
    return status;
}

typedef struct swallowing {
    kiln_vec3 corner[4];
    const kiln_vec3 *points;
    uint32_t tet;
    kiln_swallowed *out;
} swallowing;

static bool look_at_point(void *user, uint32_t item)
{
    swallowing *s = user;
    if (kiln_tet_locate(s->corner, s->points[item]).place == KILN_TET_OUTSIDE ||
        !s->out->counts(s->out->user, s->tet, item))
        return true;
    s->out->tet = s->tet;
    s->out->point = item;
    return false;
}

kiln_status kiln_mesh_find_swallowed(const kiln_mesh *mesh, kiln_space space,
                                     const kiln_vec3 *points, size_t count, kiln_swallowed *out,
                                     kiln_error *error)
{
    const kiln_vec3 *x = kiln_mesh_positions(mesh, space);
    swallowing s = {.points = points, .out = out};
    kiln_bvh tree = {0};
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    out->tet = out->point = KILN_NONE;
    KILN_TRY(kiln_array_reserve(mesh->context, &boxes, count + 1, error));
    for (size_t i = 0; i < count; i++)
        boxes.data[i] = (kiln_box){points[i], points[i]};
    kiln_status status = kiln_bvh_build(&tree, mesh->context, boxes.data, count, error);
    for (uint32_t t = 0; status == KILN_OK && count > 0 && t < mesh->table[KILN_ON_TET].used &&
                         out->tet == KILN_NONE;
         t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 4; k++)
            s.corner[k] = x[mesh->tet[t].v[k]];
        s.tet = t;
        kiln_bvh_query_box(&tree, kiln_box_of(s.corner, 4), look_at_point, &s);
    }
    kiln_bvh_destroy(&tree);
    kiln_array_free(mesh->context, &boxes);
    return status;
}

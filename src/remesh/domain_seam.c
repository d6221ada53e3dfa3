/* Where bodies became one, the new surface is what whole tets happened to be: teeth, pits and
 * spikes along the seam. It is smoothed there, as matter that grows together does: vertices go to
 * the middle of their neighbours along the surface, and local operators keep the tets good. The
 * same is done round tets that cannot be made good as it is: edges and corners of two bodies that
 * are nearly in one place hold what lies between. */
#include "remesh/domain_impl.h"
#include "remesh/surface.h"

#include "geom/distance.h"
#include "geom/tet_quality.h"
#include "remesh/improve.h"
#include "remesh/remesher.h"
#include "topology/features.h"

#include <string.h>

/* A face is of the old outline when some of it is as near as that part of the size, and looks the
 * same way by that cosine. */
static const double NEAR = 0.15, ALIKE = 0.85;
static const double REACH = 1.0; /* sizes round such a face, where all is smoothed */
/* Of the way to the middle, in turns, less towards the end of the reach: teeth go, what is as long
 * as several edges stays (Taubin 1995). */
static const double STEP[2] = {0.5, -0.4};
static const double FLOOR = 0.12; /* no tet falls below, until it is repaired */
enum { ROUNDS = 3, STEPS = 8 };

typedef struct seam {
    kiln_domain *domain;
    kiln_mesh *mesh;
    KILN_ARRAY_OF(kiln_vec3)
    centres; /* of the faces that are not of the old outline, and of bad tets */
    kiln_f64_array reach;
    double farthest; /* of them */
    kiln_bvh tree;
    KILN_ARRAY_OF(kiln_vec3)
    sum; /* [vertex] of its neighbours along the surface */
    kiln_u32_array count;
} seam;

typedef struct likeness {
    const kiln_domain *domain;
    kiln_vec3 normal;
} likeness;

static double distance2_if_alike(void *user, uint32_t item, kiln_vec3 p)
{
    const likeness *l = user;
    const kiln_piece *piece = &l->domain->pieces.data[item];
    if (kiln_v3_dot(kiln_piece_normal(piece), l->normal) < ALIKE)
        return INFINITY;
    return kiln_closest_on_triangle(p, piece->p).distance2;
}

static const uint32_t *corners_of(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    return v;
}

static kiln_vec3 centre_of(const seam *s, uint32_t face)
{
    const kiln_vec3 *x = kiln_mesh_positions(s->mesh, s->domain->options.space);
    uint32_t v[3];
    corners_of(s->mesh, face, v);
    return kiln_v3_scale(kiln_v3_add(kiln_v3_add(x[v[0]], x[v[1]]), x[v[2]]), 1.0 / 3.0);
}

static kiln_status note(seam *s, kiln_vec3 centre, double size, kiln_error *error)
{
    s->farthest = fmax(s->farthest, REACH * size);
    KILN_TRY(kiln_array_push(s->domain->context, &s->reach, REACH * size, error));
    return kiln_array_push(s->domain->context, &s->centres, centre, error);
}

/* Notes the face if it is new. */
static kiln_status look_at(seam *s, uint32_t face, kiln_error *error)
{
    const kiln_domain *domain = s->domain;
    const kiln_vec3 *x = kiln_mesh_positions(s->mesh, domain->options.space);
    uint32_t v[3];
    corners_of(s->mesh, face, v);
    kiln_piece piece = {.p = {x[v[0]], x[v[1]], x[v[2]]}};
    kiln_vec3 centre = centre_of(s, face);
    likeness l = {domain, kiln_piece_normal(&piece)};
    double size;
    KILN_TRY(kiln_domain_size(domain, centre, &size, error));
    if (kiln_bvh_closest(&domain->outline, centre, NEAR * NEAR * size * size, distance2_if_alike,
                         &l, NULL) != KILN_BVH_NONE)
        return KILN_OK;
    return note(s, centre, size, error);
}

/* Notes the tet if it is bad. */
static kiln_status look_at_tet(seam *s, uint32_t tet, kiln_error *error)
{
    const kiln_vec3 *x = kiln_mesh_positions(s->mesh, s->domain->options.space);
    const uint32_t *v = s->mesh->tet[tet].v;
    double size;
    if (kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]) >= s->domain->options.least)
        return KILN_OK;
    kiln_vec3 pair = kiln_v3_add(x[v[0]], x[v[1]]), other = kiln_v3_add(x[v[2]], x[v[3]]);
    kiln_vec3 centre = kiln_v3_scale(kiln_v3_add(pair, other), 0.25);
    KILN_TRY(kiln_domain_size(s->domain, centre, &size, error));
    return note(s, centre, size, error);
}

static kiln_status find_seam(seam *s, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        if (kiln_face_live(mesh, f))
            KILN_TRY(look_at(s, f, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            KILN_TRY(look_at_tet(s, t, error));
    KILN_TRY(kiln_array_reserve(mesh->context, &boxes, s->centres.count, error));
    for (size_t i = 0; i < s->centres.count; i++)
        boxes.data[i] = (kiln_box){s->centres.data[i], s->centres.data[i]};
    kiln_status status =
        kiln_bvh_build(&s->tree, mesh->context, boxes.data, s->centres.count, error);
    kiln_array_free(mesh->context, &boxes);
    return status;
}

/* Squares of distances in reaches. */
static double reaches2(void *user, uint32_t item, kiln_vec3 p)
{
    const seam *s = user;
    double scale = s->farthest / s->reach.data[item];
    return kiln_v3_norm2(kiln_v3_sub(p, s->centres.data[item])) * scale * scale;
}

/* 1 on the seam, 0 from the end of its reach on. */
static double weight_at(seam *s, kiln_vec3 p)
{
    double far2, limit2 = s->farthest * s->farthest;
    if (kiln_bvh_closest(&s->tree, p, limit2, reaches2, s, &far2) == KILN_BVH_NONE)
        return 0.0;
    return 1.0 - far2 / limit2;
}

static bool on_seam(const kiln_mesh *mesh, uint32_t face, uint32_t other, void *user)
{
    (void)mesh;
    seam *s = user;
    return weight_at(s, centre_of(s, face)) > 0.0 && weight_at(s, centre_of(s, other)) > 0.0;
}

/* An edge that ran where another body is now is none. */
static kiln_status forget_features(seam *s, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(s->mesh);
    if (txn.depth == 0)
        return kiln_txn_fail(KILN_REFUSED_MEMORY, error);
    kiln_verdict verdict = kiln_txn_settle(
        &txn, kiln_features_forget(&txn, s->domain->options.space, KILN_PI, on_seam, s));
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

static void sum_neighbours(seam *s)
{
    const kiln_mesh *mesh = s->mesh;
    const kiln_vec3 *x = kiln_mesh_positions(mesh, s->domain->options.space);
    uint32_t used = mesh->table[KILN_ON_VERTEX].used, v[3];
    memset(s->sum.data, 0, used * sizeof *s->sum.data);
    memset(s->count.data, 0, used * sizeof *s->count.data);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        corners_of(mesh, f, v);
        for (int k = 0; k < 3; k++)
            for (int i = 1; i < 3; i++) {
                s->sum.data[v[k]] = kiln_v3_add(s->sum.data[v[k]], x[v[(k + i) % 3]]);
                s->count.data[v[k]]++;
            }
    }
}

static void smooth_once(seam *s, kiln_remesher *remesher, double step)
{
    const kiln_mesh *mesh = s->mesh;
    sum_neighbours(s);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        const kiln_vertex_side *side = &remesher->side.data[v];
        if (!kiln_vertex_live(mesh, v) || s->count.data[v] == 0 || side->freedom != KILN_ON_SURFACE)
            continue;
        kiln_place place = {.side = *side};
        kiln_vec3 p = kiln_mesh_positions(mesh, s->domain->options.space)[v];
        double weight = weight_at(s, p);
        if (weight <= 0.0)
            continue;
        kiln_vec3 middle = kiln_v3_scale(s->sum.data[v], 1.0 / s->count.data[v]);
        p = kiln_v3_lerp(p, middle, step * weight);
        if (!kiln_surface_has_room(remesher, v, p))
            continue;
        kiln_remesher_locate(remesher, p, &place);
        kiln_remesher_move_above(remesher, v, &place, FLOOR);
    }
}

static kiln_status smooth(seam *s, kiln_error *error)
{
    kiln_remesher remesher;
    kiln_remesh_options how = kiln_remesh_default_options();
    uint32_t used = s->mesh->table[KILN_ON_VERTEX].used;
    how.space = s->domain->options.space;
    KILN_TRY(kiln_array_reserve(s->mesh->context, &s->sum, used, error));
    KILN_TRY(kiln_array_reserve(s->mesh->context, &s->count, used, error));
    KILN_TRY(kiln_remesher_begin(s->mesh, &how, &remesher, error));
    for (int i = 0; i < STEPS; i++)
        smooth_once(s, &remesher, STEP[i % 2]);
    bool failed = remesher.workspace.failed;
    kiln_remesher_end(&remesher);
    return failed ? kiln_fail_memory(error, 0) : KILN_OK;
}

static kiln_status smooth_and_repair(seam *s, kiln_error *error)
{
    KILN_TRY(find_seam(s, error));
    if (s->centres.count > 0)
        KILN_TRY(forget_features(s, error));
    for (int round = 0; round < ROUNDS && s->centres.count > 0; round++) {
        KILN_TRY(smooth(s, error));
        KILN_TRY(kiln_domain_repair(s->domain, s->mesh, error));
    }
    return KILN_OK;
}

kiln_status kiln_domain_smooth_seam(kiln_domain *domain, kiln_mesh *mesh, kiln_error *error)
{
    seam s = {.domain = domain, .mesh = mesh};
    kiln_status status = smooth_and_repair(&s, error);
    kiln_bvh_destroy(&s.tree);
    kiln_array_free(mesh->context, &s.centres);
    kiln_array_free(mesh->context, &s.reach);
    kiln_array_free(mesh->context, &s.sum);
    kiln_array_free(mesh->context, &s.count);
    return status;
}

#include "sim/held_tets.h"

#include "geom/tet_quality.h"
#include "sim/domain_groups.h"
#include "topology/features.h"

/* Of the longest edge of such a tet, round its middle. */
static const double REACH = 1.0;

typedef struct place {
    kiln_vec3 centre;
    double reach2;
} place;

typedef struct releasing {
    KILN_ARRAY_OF(place)
    held;
} releasing;

static bool is_held(const kiln_mesh *mesh, uint32_t t)
{
    const uint32_t feature = KILN_VERTEX_FEATURE | KILN_VERTEX_CORNER;
    for (int i = 0; i < 4; i++)
        if (!(mesh->vertex[mesh->tet[t].v[i]].flags & feature))
            return false;
    return true;
}

static place place_of(const kiln_mesh *mesh, uint32_t t)
{
    const uint32_t *v = mesh->tet[t].v;
    const kiln_vec3 *x = mesh->x;
    kiln_vec3 pair = kiln_v3_add(x[v[0]], x[v[1]]), other = kiln_v3_add(x[v[2]], x[v[3]]);
    place p = {.centre = kiln_v3_scale(kiln_v3_add(pair, other), 0.25)};
    for (int e = 0; e < 6; e++) {
        kiln_vec3 way = kiln_v3_sub(x[v[kiln_edge_ends[e][1]]], x[v[kiln_edge_ends[e][0]]]);
        p.reach2 = fmax(p.reach2, REACH * REACH * kiln_v3_norm2(way));
    }
    return p;
}

static kiln_status find_held(const kiln_world *world, double quality, releasing *r,
                             kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *x = mesh->x;
    const uint32_t *material = kiln_world_material_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t) && is_held(mesh, t) &&
            world->scene->materials.data[material[t]].base.plastic.flows &&
            kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]) < quality)
            KILN_TRY(kiln_array_push(world->context, &r->held, place_of(mesh, t), error));
    }
    return KILN_OK;
}

static bool is_near(const releasing *r, const kiln_mesh *mesh, uint32_t face)
{
    const uint32_t at = mesh->face[face].at, *v = mesh->tet[at / 4].v;
    const uint8_t *c = kiln_face_corner[at % 4];
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(mesh->x[v[c[0]]], mesh->x[v[c[1]]]), mesh->x[v[c[2]]]);
    for (size_t i = 0; i < r->held.count; i++) {
        kiln_vec3 way = kiln_v3_sub(kiln_v3_scale(sum, 1.0 / 3.0), r->held.data[i].centre);
        if (kiln_v3_norm2(way) < r->held.data[i].reach2)
            return true;
    }
    return false;
}

static bool may_go(const kiln_mesh *mesh, uint32_t face, uint32_t other, void *user)
{
    return kiln_domain_same_patch(mesh, face, other, NULL) && is_near(user, mesh, face) &&
           is_near(user, mesh, other);
}

static kiln_status forget(kiln_world *world, releasing *r, kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(world->mesh);
    kiln_verdict verdict = txn.depth
                               ? kiln_txn_settle(&txn, kiln_features_forget(&txn, KILN_SPACE_WORLD,
                                                                            KILN_PI, may_go, r))
                               : KILN_REFUSED_MEMORY;
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

kiln_status kiln_release_held_tets(kiln_world *world, double quality, size_t *released,
                                   kiln_error *error)
{
    releasing r = {0};
    kiln_status status = find_held(world, quality, &r, error);
    if (status == KILN_OK && r.held.count > 0)
        status = forget(world, &r, error);
    *released = r.held.count;
    kiln_array_free(world->context, &r.held);
    return status;
}

/* The module that lets necks of liquid break (remesh.pinch). One that has become so thin that a
 * single face lies across it, whose edges are all on the surface and shorter than the scene says,
 * opens there, and both ends draw back by part of an edge. Mass, rest volume and momentum are those
 * of tets, which stay the same ones. */
#include "mesh/classify.h"
#include "mesh/walk.h"
#include "sim/world_impl.h"
#include "topology/open.h"
#include "topology/repair.h"

#include <string.h>

/* Tets that each side must have: a neck has a body at both of its ends, an ear of the surface
 * has not. */
enum { LEAST = 24, HALVINGS = 6 };
/* Of the way to the vertices behind, how far an end draws back. */
static const double BACK = 0.4;

typedef struct pinch {
    kiln_world *world;
    kiln_walker walker;
    kiln_u32_array faces; /* tet*4+face, to open */
    kiln_changes changes;
    struct {
        double edge; /* m, the mean one at the start */
    } state;
} pinch;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    double sum = 0.0, count = 0.0;
    if (!(world->scene->remesh.pinch > 0.0) || !kiln_scene_has_liquid(world->scene))
        return KILN_OK;
    pinch *p = kiln_module_make(world, sizeof *p, self, error);
    if (!p)
        return KILN_ERR_MEMORY;
    p->world = world;
    kiln_walker_init(&p->walker, world->context);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6; e++, count += 1.0)
            sum += kiln_v3_norm(kiln_v3_sub(mesh->x[mesh->tet[t].v[kiln_edge_ends[e][0]]],
                                            mesh->x[mesh->tet[t].v[kiln_edge_ends[e][1]]]));
    p->state.edge = sum / count;
    return KILN_OK;
}

static void destroy(void *self)
{
    pinch *p = self;
    kiln_walker_free(&p->walker);
    kiln_array_free(p->world->context, &p->faces);
    kiln_changes_free(p->world->context, &p->changes);
}

static bool is_liquid(const pinch *p, uint32_t tet)
{
    return p->world->materials[kiln_world_material_of(p->world->mesh)[tet]].liquid;
}

/* Whether the edges of a face are all of the surface, and short. */
static bool is_thin(const pinch *p, uint32_t tet, uint32_t face)
{
    const kiln_mesh *mesh = p->world->mesh;
    const uint32_t *v = mesh->tet[tet].v;
    double limit = p->world->scene->remesh.pinch * p->state.edge;
    for (int k = 0; k < 3; k++) {
        uint32_t a = kiln_face_corner[face][k], b = kiln_face_corner[face][(k + 1) % 3];
        if (!(mesh->vertex[v[a]].flags & KILN_VERTEX_SURFACE) ||
            kiln_v3_norm2(kiln_v3_sub(mesh->x[v[a]], mesh->x[v[b]])) > limit * limit)
            return false;
    }
    for (int k = 0; k < 3; k++)
        if (kiln_edge_ring(mesh, tet, kiln_face_corner[face][k],
                           kiln_face_corner[face][(k + 1) % 3], NULL, 0)
                .closed)
            return false;
    return true;
}

static bool is_among(const uint32_t *list, size_t count, uint32_t tet)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == tet)
            return true;
    return false;
}

/* Whether there are enough tets behind a face of a tet, not through the face. */
static bool has_body(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    uint32_t list[LEAST] = {tet};
    size_t count = 1;
    for (size_t i = 0; i < count && count < LEAST; i++)
        for (uint32_t k = 0; k < 4 && count < LEAST; k++) {
            kiln_link link = mesh->tet[list[i]].n[k];
            if (kiln_link_is_surface(link) || (list[i] == tet && k == face) ||
                is_among(list, count, link / 4))
                continue;
            list[count++] = link / 4;
        }
    return count == LEAST;
}

/* Necks that have a vertex in common break one after the other. */
static bool is_apart(const pinch *p, uint32_t tet, uint32_t face)
{
    const kiln_mesh *mesh = p->world->mesh;
    for (size_t i = 0; i < p->faces.count; i++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                if (mesh->tet[tet].v[kiln_face_corner[face][k]] ==
                    mesh->tet[p->faces.data[i] / 4].v[kiln_face_corner[p->faces.data[i] % 4][l]])
                    return false;
    return true;
}

static kiln_status find_necks(pinch *p, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    p->faces.count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t k = 0; k < 4 && kiln_tet_live(mesh, t) && is_liquid(p, t); k++) {
            kiln_link link = mesh->tet[t].n[k];
            if (kiln_link_is_surface(link) || link / 4 < t || !is_thin(p, t, k) ||
                !has_body(mesh, t, k) || !has_body(mesh, link / 4, link % 4) || !is_apart(p, t, k))
                continue;
            KILN_TRY(kiln_array_push(p->world->context, &p->faces, kiln_link_to(t, k), error));
        }
    return KILN_OK;
}

/* The patch that the neck's surface belongs to. */
static int32_t tag_beside(const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    uint32_t ring[1];
    kiln_edge_ring(mesh, tet, kiln_face_corner[face][0], kiln_face_corner[face][1], ring, 1);
    for (uint32_t k = 0; k < 4; k++) {
        kiln_link link = mesh->tet[ring[0] / 4].n[k];
        if (kiln_link_is_surface(link))
            return mesh->face[link - KILN_LINK_SURFACE].tag;
    }
    return 0;
}

/* From the middle of an end to the vertices behind it. */
static kiln_status find_way_back(pinch *p, const uint32_t end[3], kiln_vec3 *way, kiln_error *error)
{
    const kiln_mesh *mesh = p->world->mesh;
    kiln_vec3 sum = {0, 0, 0}, middle = {0, 0, 0};
    double count = 0.0;
    for (int k = 0; k < 3; k++) {
        KILN_TRY(kiln_star(mesh, end[k], &p->walker, error));
        middle = kiln_v3_madd(middle, 1.0 / 3.0, mesh->x[end[k]]);
        for (size_t i = 0; i < p->walker.tets.count; i++)
            for (int c = 0; c < 4; c++) {
                uint32_t v = mesh->tet[p->walker.tets.data[i]].v[c];
                if (v == end[0] || v == end[1] || v == end[2])
                    continue;
                sum = kiln_v3_add(sum, mesh->x[v]);
                count += 1.0;
            }
    }
    *way = kiln_v3_sub(kiln_v3_scale(sum, 1.0 / count), middle);
    return KILN_OK;
}

/* Places that are remembered go along. */
static kiln_verdict move_end(kiln_txn *txn, const uint32_t end[3], kiln_vec3 way)
{
    static const char *const names[] = {"x_before", "looked_at"};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int k = 0; k < 3 && verdict == KILN_ACCEPTED; k++) {
        kiln_vec3 to = kiln_v3_add(txn->mesh->x[end[k]], way);
        verdict = kiln_txn_move_vertex(txn, end[k], to, to);
        for (int f = 0; f < 2 && verdict == KILN_ACCEPTED; f++) {
            const kiln_field *field = kiln_mesh_field(txn->mesh, KILN_ON_VERTEX, names[f]);
            if (!field)
                continue;
            kiln_vec3 back =
                kiln_v3_add(((const kiln_vec3 *)(const void *)field->data)[end[k]], way);
            verdict = kiln_txn_write(txn, KILN_ON_VERTEX, field, end[k], &back);
        }
    }
    return verdict;
}

/* As far as its tets allow. */
static kiln_verdict draw_back(pinch *p, kiln_txn *txn, kiln_link at)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_vec3 way;
    uint32_t end[3];
    for (int k = 0; k < 3; k++)
        end[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    if (find_way_back(p, end, &way, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = KILN_ACCEPTED;
    double part = BACK;
    for (int i = 0; i < HALVINGS; i++, part *= 0.5) {
        kiln_txn inner = kiln_txn_begin(txn->mesh);
        if (!inner.depth)
            return KILN_REFUSED_MEMORY;
        verdict = kiln_txn_settle(&inner, move_end(&inner, end, kiln_v3_scale(way, part)));
        if (verdict == KILN_ACCEPTED || verdict == KILN_REFUSED_MEMORY)
            break;
    }
    return verdict;
}

/* Undone where an end cannot draw back: it will another time. */
static kiln_verdict break_neck(pinch *p, kiln_txn *txn, kiln_link at)
{
    kiln_link across = txn->mesh->tet[at / 4].n[at % 4];
    int32_t tag = tag_beside(txn->mesh, at / 4, at % 4);
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = kiln_open_faces(&inner, &at, 1, tag, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(&inner, tag, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = draw_back(p, &inner, at);
    if (verdict == KILN_ACCEPTED)
        verdict = draw_back(p, &inner, across);
    return kiln_txn_settle(&inner, verdict);
}

static kiln_verdict break_all(pinch *p, kiln_txn *txn, size_t *broken)
{
    for (size_t i = 0; i < p->faces.count; i++) {
        kiln_verdict verdict = break_neck(p, txn, p->faces.data[i]);
        if (verdict == KILN_REFUSED_MEMORY)
            return verdict;
        *broken += verdict == KILN_ACCEPTED;
    }
    return KILN_ACCEPTED;
}

static kiln_status change_mesh(pinch *p, kiln_error *error)
{
    kiln_world *world = p->world;
    size_t broken = 0;
    kiln_changes_start(&p->changes, world->mesh);
    KILN_TRY(kiln_archive_begin(world->mesh, error));
    kiln_txn txn = kiln_txn_begin(world->mesh);
    kiln_verdict verdict = txn.depth ? break_all(p, &txn, &broken) : KILN_REFUSED_MEMORY;
    if (txn.depth)
        verdict = kiln_txn_settle(&txn, verdict);
    if (verdict != KILN_ACCEPTED)
        return kiln_txn_fail(verdict, error);
    KILN_TRY(kiln_world_carry(world, NULL, error));
    KILN_TRY(kiln_changes_note_pass(&p->changes, world->mesh, error));
    kiln_archive_end(world->mesh);
    KILN_TRY(kiln_changes_close(&p->changes, world->mesh, error));
    if (broken == 0)
        return KILN_OK;
    kiln_log(world->context, KILN_LOG_INFO, "%zu necks of liquid break at %.6g s", broken,
             world->state.clock.time);
    KILN_TRY(kiln_mesh_classify(world->mesh, kiln_world_ridge_angle(world), error));
    return kiln_world_changed(world, &p->changes, error);
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    pinch *p = self;
    (void)moment;
    KILN_TRY(find_necks(p, error));
    return p->faces.count > 0 ? change_mesh(p, error) : KILN_OK;
}

static void *state(void *self, size_t *size)
{
    pinch *p = self;
    *size = sizeof p->state;
    return &p->state;
}

const kiln_module kiln_module_pinch = {.name = "pinch",
                                       .create = create,
                                       .destroy = destroy,
                                       .after_step = after_step,
                                       .state = state};

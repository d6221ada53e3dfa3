#include "topology/split.h"
#include "topology/cavity_list.h"

#include <string.h>

/* Does the face opposite corner f contain all of these vertices? */
static bool face_has(const kiln_tet *tet, uint32_t f, const uint32_t *vertices, int count)
{
    for (int i = 0; i < count; i++)
        if (tet->v[f] == vertices[i])
            return false;
    return true;
}

/* Marks a piece shares with the whole: the split edge's own (when an edge is split) and those of
 * the faces that contain the split corners. Those of edges and faces that survive whole are handed
 * on by the primitive. */
static uint32_t piece_marks(const kiln_mesh *mesh, uint32_t tet, const uint32_t *corners, int count)
{
    uint32_t marks = mesh->info[tet].marks, kept = 0;
    const kiln_tet *record = &mesh->tet[tet];
    if (count == 2) {
        uint32_t e =
            kiln_edge_of[kiln_tet_corner(record, corners[0])][kiln_tet_corner(record, corners[1])];
        kept |= marks & (1u << (KILN_MARK_FEATURE_EDGE + e) | 1u << (KILN_MARK_REQUIRED_EDGE + e));
    }
    for (uint32_t f = 0; f < 4; f++)
        if (face_has(record, f, corners, count))
            kept |=
                marks & (1u << (KILN_MARK_REQUIRED_FACE + f) | 1u << (KILN_MARK_SPLIT_FACE + f));
    return kept;
}

/* The new tet `index`, made from `tet` with corner positions kept, goes on having the surface faces
 * that contain these vertices of `tet`. */
static void keep_surface(kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t tet,
                         const uint32_t *vertices, int count, uint32_t index)
{
    const kiln_tet *record = &mesh->tet[tet];
    for (uint32_t f = 0; f < 4; f++) {
        if (!kiln_link_is_surface(record->n[f]) || !face_has(record, f, vertices, count))
            continue;
        kiln_cavity_list_keep(list, mesh, index, f, record->n[f] - KILN_LINK_SURFACE);
    }
}

/* All tets that have the corners, into the list. */
static kiln_verdict gather_old(kiln_cavity_list *list, const kiln_mesh *mesh,
                               const kiln_split *split)
{
    if (kiln_edge_tets(mesh, split->parent[0], split->parent[1], &list->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < list->walker.tets.count; i++) {
        const kiln_tet *tet = &mesh->tet[list->walker.tets.data[i]];
        bool has_all = true;
        for (int k = 2; k < split->count; k++)
            has_all &= kiln_tet_corner(tet, split->parent[k]) < 4;
        if (has_all)
            kiln_cavity_list_old(list, list->walker.tets.data[i]);
    }
    return KILN_ACCEPTED;
}

static void add_children(kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t tet,
                         const kiln_split *split)
{
    const kiln_tet *record = &mesh->tet[tet];
    uint32_t marks = piece_marks(mesh, tet, split->parent, split->count);
    for (int i = split->count - 1; i >= 0; i--) {
        kiln_new_tet child = {
            .parent = tet, .slot = i == split->count - 1 ? tet : KILN_NONE, .marks = marks};
        memcpy(child.v, record->v, sizeof child.v);
        child.v[kiln_tet_corner(record, split->parent[i])] = split->vertex;
        uint32_t index = kiln_cavity_list_new(list, child);
        keep_surface(list, mesh, tet, split->parent, split->count, index);
    }
}

static kiln_vec3 weighted(const kiln_vec3 *position, const kiln_split *split)
{
    kiln_vec3 sum = {0};
    for (int i = 0; i < split->count; i++)
        sum = kiln_v3_madd(sum, split->weight[i], position[split->parent[i]]);
    return sum;
}

static kiln_verdict make_children(kiln_cavity_list *list, kiln_txn *txn, kiln_split *split)
{
    kiln_mesh *mesh = txn->mesh;
    split->vertex = kiln_txn_add_vertex(txn, weighted(mesh->u, split), weighted(mesh->x, split),
                                        split->parent, split->weight, split->count);
    if (split->vertex == KILN_NONE)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = gather_old(list, mesh, split);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    for (size_t i = 0; i < list->old.count; i++)
        add_children(list, mesh, list->old.data[i], split);
    return kiln_cavity_list_replace(list, txn, KILN_CAVITY_ANY);
}

kiln_verdict kiln_split_at(kiln_txn *txn, uint32_t tet, const uint32_t *corners, int count,
                           const double *weights, kiln_split *split)
{
    kiln_mesh *mesh = txn->mesh;
    *split = (kiln_split){.count = count};
    for (int i = 0; i < count; i++) {
        split->parent[i] = mesh->tet[tet].v[corners[i]];
        split->weight[i] = weights[i];
    }
    bool on_feature =
        count == 2 &&
        (mesh->info[tet].marks >> (KILN_MARK_FEATURE_EDGE + kiln_edge_of[corners[0]][corners[1]])) &
            1;
    kiln_txn inner = kiln_txn_begin(mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    kiln_cavity_list list;
    kiln_cavity_list_init(&list, mesh->context);
    kiln_verdict verdict = make_children(&list, &inner, split);
    if (verdict == KILN_ACCEPTED && on_feature)
        verdict = kiln_txn_set_vertex(&inner, split->vertex, KILN_VERTEX_FEATURE, 0);
    kiln_cavity_list_free(&list);
    return kiln_txn_settle(&inner, verdict);
}

kiln_verdict kiln_split_middle(kiln_txn *txn, uint32_t tet, const uint32_t *corners, int count,
                               kiln_split *split)
{
    double weights[4];
    for (int i = 0; i < count; i++)
        weights[i] = 1.0 / count;
    return kiln_split_at(txn, tet, corners, count, weights, split);
}

/* Puts the last corner back into the child that lacks it. */
static void add_parent(kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t tet,
                       const kiln_split *split)
{
    const kiln_tet *record = &mesh->tet[tet];
    uint32_t piece[4] = {split->vertex};
    for (int k = 0; k + 1 < split->count; k++)
        piece[k + 1] = split->parent[k];
    kiln_new_tet parent = {
        .parent = tet, .slot = tet, .marks = piece_marks(mesh, tet, piece, split->count)};
    memcpy(parent.v, record->v, sizeof parent.v);
    parent.v[kiln_tet_corner(record, split->vertex)] = split->parent[split->count - 1];
    uint32_t index = kiln_cavity_list_new(list, parent);
    keep_surface(list, mesh, tet, piece, split->count, index);
}

/* The restored tet of which `tet` is a piece: they share all corners but the split vertex. */
static uint32_t find_heir(const kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t tet)
{
    for (uint32_t i = 0; i < list->fresh.count; i++) {
        int shared = 0;
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 4; c++)
                shared += list->fresh.data[i].v[c] == mesh->tet[tet].v[k];
        if (shared == 3)
            return i;
    }
    return KILN_NONE;
}

static kiln_verdict restore_parents(kiln_cavity_list *list, kiln_txn *txn, const kiln_split *split)
{
    const kiln_mesh *mesh = txn->mesh;
    if (kiln_star(mesh, split->vertex, &list->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < list->walker.tets.count; i++) {
        uint32_t tet = list->walker.tets.data[i];
        int present = 0;
        for (int k = 0; k < split->count; k++)
            present += kiln_tet_corner(&mesh->tet[tet], split->parent[k]) < 4;
        if (present != split->count - 1)
            return KILN_REFUSED_DECLARATION;
        kiln_cavity_list_old(list, tet);
        if (kiln_tet_corner(&mesh->tet[tet], split->parent[split->count - 1]) == 4)
            add_parent(list, mesh, tet, split);
    }
    if (list->old.count != list->fresh.count * (size_t)split->count)
        return KILN_REFUSED_DECLARATION;
    for (size_t i = 0; i < list->old.count; i++) {
        uint32_t heir = find_heir(list, mesh, list->old.data[i]);
        if (heir == KILN_NONE)
            return KILN_REFUSED_DECLARATION;
        kiln_cavity_list_heir(list, heir);
    }
    return kiln_cavity_list_replace(list, txn, KILN_CAVITY_ANY);
}

kiln_verdict kiln_unsplit(kiln_txn *txn, const kiln_split *split)
{
    const kiln_mesh *mesh = txn->mesh;
    if (split->vertex >= mesh->table[KILN_ON_VERTEX].used || !kiln_vertex_live(mesh, split->vertex))
        return KILN_REFUSED_DEAD;
    kiln_cavity_list list;
    kiln_cavity_list_init(&list, mesh->context);
    kiln_verdict verdict = restore_parents(&list, txn, split);
    kiln_cavity_list_free(&list);
    return verdict;
}

#include "topology/weld.h"
#include "mesh/journal.h"
#include "topology/cavity_list.h"

#include <string.h>

static double volume_of(const kiln_mesh *mesh, const uint32_t *tets, size_t count)
{
    double volume = 0.0;
    for (size_t i = 0; i < count; i++)
        volume += kiln_mesh_tet_volume(mesh, tets[i]);
    return volume;
}

/* Conserved vertex fields of `from` go to `to` for the share given, added to what is there. */
static void move_conserved(kiln_mesh *mesh, uint32_t from, uint32_t to, double share)
{
    kiln_table *table = &mesh->table[KILN_ON_VERTEX];
    for (size_t i = 0; i < table->fields.count; i++) {
        kiln_field *field = &table->fields.data[i];
        if (field->core || field->rule != KILN_RULE_CONSERVE)
            continue;
        double *source = (double *)(field->data + (size_t)from * field->stride);
        double *target = (double *)(field->data + (size_t)to * field->stride);
        for (uint32_t c = 0; c < field->components; c++) {
            double moved = share * source[c];
            source[c] -= moved;
            target[c] += moved;
        }
    }
}

static uint32_t copy_vertex(kiln_txn *txn, uint32_t vertex, double share)
{
    kiln_mesh *mesh = txn->mesh;
    const double one = 1.0;
    uint32_t copy = kiln_txn_add_vertex(txn, mesh->u[vertex], mesh->x[vertex], &vertex, &one, 1);
    if (copy == KILN_NONE || kiln_journal_reserve(mesh, 1, 0, 0, 1, NULL) != KILN_OK)
        return KILN_NONE;
    kiln_journal_row(mesh, KILN_ON_VERTEX, vertex);
    if (mesh->vertex[vertex].twin == 0)
        mesh->vertex[vertex].twin = mesh->next_twin++;
    kiln_table *table = &mesh->table[KILN_ON_VERTEX];
    for (size_t i = 0; i < table->fields.count; i++) {
        kiln_field *field = &table->fields.data[i];
        if (!field->core && field->rule != KILN_RULE_CONSERVE)
            memcpy(field->data + (size_t)copy * field->stride,
                   field->data + (size_t)vertex * field->stride, field->stride);
    }
    move_conserved(mesh, vertex, copy, share);
    kiln_vertex_info *info = &mesh->vertex[copy];
    const kiln_vertex_info *source = &mesh->vertex[vertex];
    info->flags |= source->flags & ~(uint32_t)KILN_VERTEX_LISTED;
    info->tag = source->tag;
    info->twin = source->twin;
    return copy;
}

/* The tets with `from` replaced by `to`, corner by corner and slot by slot. */
static void add_retargeted(kiln_cavity_list *list, const kiln_mesh *mesh, uint32_t tet,
                           uint32_t from, uint32_t to)
{
    kiln_new_tet fresh = {.parent = tet, .slot = tet, .marks = mesh->info[tet].marks};
    memcpy(fresh.v, mesh->tet[tet].v, sizeof fresh.v);
    fresh.v[kiln_tet_corner(&mesh->tet[tet], from)] = to;
    kiln_cavity_list_old(list, tet);
    kiln_cavity_list_new(list, fresh);
}

/* Outside faces at the vertex: surface ones stay surface, others open. */
static kiln_verdict declare_faces(kiln_cavity_list *list, kiln_txn *txn, uint32_t vertex,
                                  int32_t tag)
{
    kiln_mesh *mesh = txn->mesh;
    if (kiln_cavity_list_index(list) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (uint32_t i = 0; i < list->old.count; i++) {
        uint32_t tet = list->old.data[i];
        for (uint32_t f = 0; f < 4; f++) {
            kiln_link link = mesh->tet[tet].n[f];
            if (mesh->tet[tet].v[f] == vertex)
                continue;
            if (kiln_link_is_surface(link)) {
                kiln_cavity_list_keep(list, mesh, i, f, link - KILN_LINK_SURFACE);
                continue;
            }
            if (kiln_idset_has(&list->old_set, link / 4))
                continue;
            uint32_t twin = mesh->next_twin++;
            const uint32_t split = 1u << KILN_MARK_SPLIT_FACE;
            list->fresh.data[i].marks &= ~(split << f);
            kiln_verdict verdict = kiln_txn_mark_tet(txn, link / 4, 0, split << link % 4);
            if (verdict != KILN_ACCEPTED)
                return verdict;
            kiln_cavity_list_surface(
                list, (kiln_new_face){
                          .tet = i, .face = f, .tag = tag, .parent = KILN_NONE, .twin = twin});
            kiln_cavity_list_opened(list,
                                    (kiln_open_face){.outside = link, .tag = tag, .twin = twin});
        }
    }
    return KILN_ACCEPTED;
}

kiln_verdict kiln_vertex_duplicate(kiln_txn *txn, uint32_t vertex, const uint32_t *tets,
                                   uint32_t count, int32_t tag, uint32_t *copy)
{
    kiln_mesh *mesh = txn->mesh;
    kiln_txn inner = kiln_txn_begin(mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    kiln_cavity_list list;
    kiln_cavity_list_init(&list, mesh->context);
    kiln_verdict verdict = KILN_REFUSED_MEMORY;
    if (kiln_star(mesh, vertex, &list.walker, NULL) == KILN_OK) {
        double whole = volume_of(mesh, list.walker.tets.data, list.walker.tets.count);
        *copy = copy_vertex(&inner, vertex, volume_of(mesh, tets, count) / whole);
        if (*copy != KILN_NONE) {
            for (uint32_t i = 0; i < count; i++)
                add_retargeted(&list, mesh, tets[i], vertex, *copy);
            verdict = list.failed ? KILN_REFUSED_MEMORY : declare_faces(&list, &inner, vertex, tag);
        }
    }
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_cavity_list_replace(&list, &inner, KILN_CAVITY_ANY);
    kiln_cavity_list_free(&list);
    return kiln_txn_settle(&inner, verdict);
}

static kiln_verdict weld(kiln_cavity_list *list, kiln_txn *txn, uint32_t a, uint32_t b)
{
    kiln_mesh *mesh = txn->mesh;
    if (kiln_star(mesh, a, &list->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    double weight[2] = {volume_of(mesh, list->walker.tets.data, list->walker.tets.count), 0.0};
    if (kiln_star(mesh, b, &list->walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    weight[1] = volume_of(mesh, list->walker.tets.data, list->walker.tets.count);
    for (size_t i = 0; i < list->walker.tets.count; i++) {
        if (kiln_tet_corner(&mesh->tet[list->walker.tets.data[i]], a) < 4)
            return KILN_REFUSED_REPEATED;
        add_retargeted(list, mesh, list->walker.tets.data[i], b, a);
    }
    if (list->failed)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = declare_faces(list, txn, b, 0); /* none opens: the star is whole */
    if (verdict != KILN_ACCEPTED)
        return verdict;
    if (kiln_journal_reserve(mesh, 2, 0, 0, 0, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_journal_row(mesh, KILN_ON_VERTEX, a);
    kiln_journal_row(mesh, KILN_ON_VERTEX, b);
    /* Put a's conserved amounts aside in b while the average zeroes them. */
    move_conserved(mesh, a, b, 1.0);
    const uint32_t both[2] = {a, b};
    double total = weight[0] + weight[1];
    weight[0] /= total;
    weight[1] /= total;
    kiln_table_combine(&mesh->table[KILN_ON_VERTEX], a, both, weight, 2);
    move_conserved(mesh, b, a, 1.0);
    mesh->vertex[a].flags |=
        mesh->vertex[b].flags & (KILN_VERTEX_FEATURE | KILN_VERTEX_CORNER | KILN_VERTEX_REQUIRED);
    mesh->vertex[b].flags &= ~(uint32_t)(KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER);
    return kiln_cavity_list_replace(list, txn, KILN_CAVITY_ANY);
}

kiln_verdict kiln_vertex_weld(kiln_txn *txn, uint32_t a, uint32_t b)
{
    if (a == b)
        return KILN_REFUSED_REPEATED;
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    kiln_cavity_list list;
    kiln_cavity_list_init(&list, txn->mesh->context);
    kiln_verdict verdict = weld(&list, &inner, a, b);
    kiln_cavity_list_free(&list);
    return kiln_txn_settle(&inner, verdict);
}

/* Marks of the glued face and its edges hold on both sides from now on. */
static kiln_verdict agree_on_marks(kiln_txn *txn, uint32_t at, uint32_t other)
{
    const kiln_mesh *mesh = txn->mesh;
    const kiln_tet *tet = &mesh->tet[at / 4], *their = &mesh->tet[other / 4];
    kiln_verdict verdict = KILN_ACCEPTED;
    uint32_t ours = mesh->info[at / 4].marks, theirs = mesh->info[other / 4].marks;
    for (int shift = KILN_MARK_REQUIRED_FACE; shift <= KILN_MARK_SPLIT_FACE; shift += 4)
        if (((ours >> (shift + (int)(at % 4))) ^ (theirs >> (shift + (int)(other % 4)))) & 1)
            verdict = kiln_txn_mark_face(txn, at / 4, at % 4, shift, true);
    for (int side = 0; side < 3 && verdict == KILN_ACCEPTED; side++) {
        uint32_t a = kiln_face_corner[at % 4][side], b = kiln_face_corner[at % 4][(side + 1) % 3];
        uint32_t mine = kiln_edge_of[a][b];
        uint32_t its =
            kiln_edge_of[kiln_tet_corner(their, tet->v[a])][kiln_tet_corner(their, tet->v[b])];
        for (int shift = 0; shift <= KILN_MARK_REQUIRED_EDGE && verdict == KILN_ACCEPTED;
             shift += KILN_MARK_REQUIRED_EDGE)
            if (((mesh->info[at / 4].marks >> (shift + (int)mine)) ^
                 (mesh->info[other / 4].marks >> (shift + (int)its))) &
                1)
                verdict = kiln_txn_mark_edge(txn, at / 4, mine, shift, true);
    }
    return verdict;
}

kiln_verdict kiln_face_glue(kiln_txn *txn, uint32_t face_a, uint32_t face_b)
{
    kiln_mesh *mesh = txn->mesh;
    uint32_t used = mesh->table[KILN_ON_FACE].used;
    if (face_a >= used || face_b >= used || !kiln_face_live(mesh, face_a) ||
        !kiln_face_live(mesh, face_b))
        return KILN_REFUSED_DEAD;
    uint32_t at = mesh->face[face_a].at, other = mesh->face[face_b].at, tet = at / 4;
    kiln_new_tet fresh = {.parent = tet, .slot = tet, .marks = mesh->info[tet].marks};
    memcpy(fresh.v, mesh->tet[tet].v, sizeof fresh.v);
    const kiln_glue_face glued = {.tet = 0, .face = at % 4, .outside = other};
    kiln_txn inner = kiln_txn_begin(mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    kiln_cavity cavity = {.old = &tet,
                          .old_count = 1,
                          .fresh = &fresh,
                          .fresh_count = 1,
                          .glued = &glued,
                          .glued_count = 1,
                          .flags = KILN_CAVITY_ANY};
    kiln_verdict verdict = kiln_replace(&inner, &cavity, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = agree_on_marks(&inner, at, other);
    return kiln_txn_settle(&inner, verdict);
}

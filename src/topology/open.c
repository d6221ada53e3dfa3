/* Faces to be opened carry KILN_MARK_SPLIT_FACE until they are; splits hand the mark to the pieces.
 * Whatever happens to the tets, the faces still to be opened are the marked ones in the stars of
 * the vertices concerned. */
#include "topology/open.h"
#include "mesh/walk.h"
#include "topology/split.h"
#include "topology/weld.h"

#include <stdlib.h>

typedef struct opener {
    kiln_context *context;
    kiln_walker walker;
    kiln_u32_array class_of, members, vertices, left;
    int32_t tag;
    bool out_of_memory;
    kiln_open_report report;
} opener;

static void opener_free(opener *o)
{
    kiln_walker_free(&o->walker);
    kiln_array_free(o->context, &o->class_of);
    kiln_array_free(o->context, &o->members);
    kiln_array_free(o->context, &o->vertices);
    kiln_array_free(o->context, &o->left);
}

/* One copy per class but the first. Classes are found anew after each copy: fewer by one each. */
static kiln_verdict separate_star(opener *o, kiln_txn *txn, uint32_t vertex)
{
    for (;;) {
        uint32_t classes, copy;
        if (kiln_star_classes(txn->mesh, vertex, true, &o->walker, &o->class_of, &classes, NULL) !=
            KILN_OK)
            return KILN_REFUSED_MEMORY;
        if (classes <= 1)
            return KILN_ACCEPTED;
        o->members.count = 0;
        for (size_t i = 0; i < o->class_of.count; i++)
            if (o->class_of.data[i] == classes - 1 &&
                kiln_array_push(o->context, &o->members, o->walker.tets.data[i], NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
        kiln_verdict verdict = kiln_vertex_duplicate(txn, vertex, o->members.data,
                                                     (uint32_t)o->members.count, o->tag, &copy);
        if (verdict != KILN_ACCEPTED)
            return verdict;
        o->report.copies++;
        if (kiln_array_push(o->context, &o->vertices, copy, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
    }
}

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static void sort_unique(kiln_u32_array *list)
{
    if (list->count == 0)
        return;
    qsort(list->data, list->count, sizeof *list->data, ascending);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || list->data[kept - 1] != list->data[i])
            list->data[kept++] = list->data[i];
    list->count = kept;
}

/* Marked faces in the stars of the vertices concerned, each by its lower name, into `left`. */
static kiln_verdict find_left(opener *o, const kiln_mesh *mesh)
{
    o->left.count = 0;
    sort_unique(&o->vertices);
    for (size_t i = 0; i < o->vertices.count; i++) {
        if (!kiln_vertex_live(mesh, o->vertices.data[i]))
            continue;
        if (kiln_star(mesh, o->vertices.data[i], &o->walker, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        for (size_t j = 0; j < o->walker.tets.count; j++) {
            uint32_t tet = o->walker.tets.data[j];
            for (uint32_t f = 0; f < 4; f++) {
                uint32_t at = kiln_link_to(tet, f);
                if ((mesh->info[tet].marks >> (KILN_MARK_SPLIT_FACE + f)) & 1 &&
                    at < mesh->tet[tet].n[f] &&
                    kiln_array_push(o->context, &o->left, at, NULL) != KILN_OK)
                    return KILN_REFUSED_MEMORY;
            }
        }
    }
    sort_unique(&o->left);
    return KILN_ACCEPTED;
}

/* Do the marked faces divide the tets round the edge into more than one group? A closed ring is
 * divided by two of them, an open one by one. */
static bool ring_is_divided(opener *o, const kiln_mesh *mesh, uint32_t tet, uint32_t a, uint32_t b)
{
    kiln_u32_array *entries = &o->members;
    kiln_ring ring = kiln_edge_ring(mesh, tet, a, b, entries->data, (uint32_t)entries->capacity);
    if (ring.count > entries->capacity) {
        if (kiln_array_reserve(o->context, entries, ring.count, NULL) != KILN_OK) {
            o->out_of_memory = true;
            return false;
        }
        kiln_edge_ring(mesh, tet, a, b, entries->data, ring.count);
    }
    uint32_t marked = 0;
    for (uint32_t i = 0; i < ring.count; i++)
        marked += (mesh->info[entries->data[i] / 4].marks >>
                   (KILN_MARK_SPLIT_FACE + entries->data[i] % 4)) &
                  1;
    return ring.closed ? marked >= 2 : marked >= 1;
}

/* The first edge, by vertex pair, of a face left whose ring the set divides; false when none. */
static bool find_divided_edge(opener *o, const kiln_mesh *mesh, uint32_t *tet, uint32_t corners[2])
{
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < o->left.count; i++)
        for (int side = 0; side < 3; side++) {
            uint32_t at = o->left.data[i];
            uint32_t a = kiln_face_corner[at % 4][side];
            uint32_t b = kiln_face_corner[at % 4][(side + 1) % 3];
            uint64_t va = mesh->tet[at / 4].v[a], vb = mesh->tet[at / 4].v[b];
            uint64_t name = va < vb ? va << 32 | vb : vb << 32 | va;
            if (name >= best || !ring_is_divided(o, mesh, at / 4, a, b))
                continue;
            best = name;
            *tet = at / 4;
            corners[0] = a;
            corners[1] = b;
        }
    return best != UINT64_MAX;
}

static kiln_verdict split_and_separate(opener *o, kiln_txn *txn, uint32_t tet,
                                       const uint32_t *corners, int count)
{
    kiln_split split;
    kiln_verdict verdict = kiln_split_middle(txn, tet, corners, count, &split);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    if (kiln_array_push(o->context, &o->vertices, split.vertex, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    return separate_star(o, txn, split.vertex);
}

static kiln_verdict open_marked(opener *o, kiln_txn *txn)
{
    kiln_mesh *mesh = txn->mesh;
    kiln_verdict verdict;
    sort_unique(&o->vertices);
    size_t first_count = o->vertices.count;
    for (size_t i = 0; i < first_count; i++)
        if ((verdict = separate_star(o, txn, o->vertices.data[i])) != KILN_ACCEPTED)
            return verdict;
    for (;;) {
        if ((verdict = find_left(o, mesh)) != KILN_ACCEPTED)
            return verdict;
        if (o->left.count == 0)
            return KILN_ACCEPTED;
        uint32_t tet, corners[3];
        bool divided = find_divided_edge(o, mesh, &tet, corners);
        if (o->out_of_memory)
            return KILN_REFUSED_MEMORY;
        if (divided) {
            o->report.edges_split++;
            verdict = split_and_separate(o, txn, tet, corners, 2);
        } else {
            tet = o->left.data[0] / 4;
            for (int k = 0; k < 3; k++)
                corners[k] = kiln_face_corner[o->left.data[0] % 4][k];
            o->report.faces_split++;
            verdict = split_and_separate(o, txn, tet, corners, 3);
        }
        if (verdict != KILN_ACCEPTED)
            return verdict;
    }
}

static kiln_verdict mark_all(opener *o, kiln_txn *txn, const uint32_t *faces, size_t count)
{
    kiln_mesh *mesh = txn->mesh;
    for (size_t i = 0; i < count; i++) {
        uint32_t tet = faces[i] / 4, f = faces[i] % 4;
        if (tet >= mesh->table[KILN_ON_TET].used || !kiln_tet_live(mesh, tet) ||
            kiln_link_is_surface(mesh->tet[tet].n[f]))
            return KILN_REFUSED_DECLARATION;
        kiln_verdict verdict = kiln_txn_mark_face(txn, tet, f, KILN_MARK_SPLIT_FACE, true);
        if (verdict != KILN_ACCEPTED)
            return verdict;
        for (int k = 0; k < 3; k++)
            if (kiln_array_push(o->context, &o->vertices, mesh->tet[tet].v[kiln_face_corner[f][k]],
                                NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
    }
    return KILN_ACCEPTED;
}

kiln_verdict kiln_open_faces(kiln_txn *txn, const uint32_t *faces, size_t count, int32_t tag,
                             kiln_open_report *report)
{
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    opener o = {.context = txn->mesh->context, .tag = tag};
    kiln_walker_init(&o.walker, o.context);
    kiln_verdict verdict = mark_all(&o, &inner, faces, count);
    if (verdict == KILN_ACCEPTED)
        verdict = open_marked(&o, &inner);
    if (report)
        *report = o.report;
    opener_free(&o);
    return kiln_txn_settle(&inner, verdict);
}

kiln_verdict kiln_open_vertex(kiln_txn *txn, uint32_t vertex, int32_t tag, uint32_t *copies)
{
    opener o = {.context = txn->mesh->context, .tag = tag};
    kiln_walker_init(&o.walker, o.context);
    kiln_verdict verdict = separate_star(&o, txn, vertex);
    *copies = o.report.copies;
    opener_free(&o);
    return verdict;
}

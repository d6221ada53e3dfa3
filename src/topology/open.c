/* Faces to be opened carry KILN_MARK_SPLIT_FACE until they are; splits hand the mark to the pieces.
 * Whatever happens to the tets, the faces still to be opened are the marked ones in the stars of
 * the vertices concerned. */
#include "topology/open.h"
#include "mesh/walk.h"
#include "topology/split.h"
#include "topology/weld.h"

#include <math.h>
#include <stdlib.h>

/* Of the length of an edge, how far sides are from each other that have parted. */
static const double APART = 1e-3;

/* A face left, by its lower name, and the edge of it that a ring is divided at (0: none). */
typedef struct open_choice {
    uint64_t edge;
    uint32_t face;
} open_choice;
typedef KILN_ARRAY_OF(open_choice)
open_heap;

typedef struct opener {
    kiln_context *context;
    kiln_walker walker;
    kiln_u32_array class_of, members, vertices;
    open_heap edges, faces; /* what may be next, the lowest on top */
    kiln_idset noted;
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
    kiln_array_free(o->context, &o->edges);
    kiln_array_free(o->context, &o->faces);
    kiln_array_free(o->context, &o->noted.slots);
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

static bool is_marked(const kiln_mesh *mesh, uint32_t at)
{
    return (mesh->info[at / 4].marks >> (KILN_MARK_SPLIT_FACE + at % 4)) & 1;
}

/* A face by the lower of its two names. */
static uint32_t face_name(const kiln_mesh *mesh, uint32_t at)
{
    kiln_link link = mesh->tet[at / 4].n[at % 4];
    return link < at ? link : at;
}

static uint64_t edge_name(uint64_t a, uint64_t b)
{
    return a < b ? a << 32 | b : b << 32 | a;
}

/* By edge, then by face. */
static bool comes_before(open_choice a, open_choice b)
{
    return a.edge != b.edge ? a.edge < b.edge : a.face < b.face;
}

static kiln_verdict push(opener *o, open_heap *heap, open_choice choice)
{
    if (kiln_array_push(o->context, heap, choice, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    size_t at = heap->count - 1;
    for (size_t up; at > 0 && comes_before(choice, heap->data[up = (at - 1) / 2]); at = up)
        heap->data[at] = heap->data[up];
    heap->data[at] = choice;
    return KILN_ACCEPTED;
}

static void pop(open_heap *heap)
{
    open_choice last = heap->data[--heap->count];
    size_t at = 0;
    for (size_t down; (down = 2 * at + 1) < heap->count; at = down) {
        if (down + 1 < heap->count && comes_before(heap->data[down + 1], heap->data[down]))
            down++;
        if (!comes_before(heap->data[down], last))
            break;
        heap->data[at] = heap->data[down];
    }
    heap->data[at] = last;
}

/* Do the marked faces divide the tets round the edge of two corners into more than one group? A
 * closed ring is divided by two of them, an open one by one. *lowest gets the lowest of them. */
static bool ring_is_divided(opener *o, const kiln_mesh *mesh, uint32_t tet, uint32_t a, uint32_t b,
                            uint32_t *lowest)
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
    *lowest = KILN_NONE;
    for (uint32_t i = 0; i < ring.count; i++) {
        if (!is_marked(mesh, entries->data[i]))
            continue;
        uint32_t name = face_name(mesh, entries->data[i]);
        *lowest = name < *lowest ? name : *lowest;
        marked++;
    }
    return ring.closed ? marked >= 2 : marked >= 1;
}

/* What there is to do at a tet that changed: its marked faces, and edges whose rings are divided,
 * each by its lowest face. Choices that something else has made void stay in the heaps until they
 * are looked at. */
static kiln_verdict note_tet(opener *o, const kiln_mesh *mesh, uint32_t tet)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t f = 0; f < 4 && verdict == KILN_ACCEPTED; f++) {
        uint32_t at = kiln_link_to(tet, f);
        if (is_marked(mesh, at))
            verdict = push(o, &o->faces, (open_choice){0, face_name(mesh, at)});
    }
    for (int e = 0; e < 6 && verdict == KILN_ACCEPTED; e++) {
        uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1], lowest;
        if (!ring_is_divided(o, mesh, tet, a, b, &lowest))
            continue;
        const uint32_t *v = mesh->tet[tet].v;
        verdict = push(o, &o->edges, (open_choice){edge_name(v[a], v[b]), lowest});
    }
    return o->out_of_memory ? KILN_REFUSED_MEMORY : verdict;
}

/* All that a split and the copies of its vertex changed is in the stars of these, which are the
 * vertices from `first` on. */
static kiln_verdict note_stars(opener *o, const kiln_mesh *mesh, size_t first)
{
    if (kiln_idset_clear(o->context, &o->noted, 0, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = first; i < o->vertices.count; i++) {
        if (!kiln_vertex_live(mesh, o->vertices.data[i]))
            continue;
        if (kiln_star(mesh, o->vertices.data[i], &o->walker, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        for (size_t j = 0; j < o->walker.tets.count; j++) {
            kiln_idset_slot *slot = kiln_idset_at(&o->noted, o->walker.tets.data[j]);
            if (slot->epoch == o->noted.epoch)
                continue;
            kiln_idset_add(&o->noted, slot, o->walker.tets.data[j], 0);
            if (2 * (size_t)o->noted.members >= o->noted.slots.count &&
                kiln_idset_grow(o->context, &o->noted, NULL) != KILN_OK)
                return KILN_REFUSED_MEMORY;
            kiln_verdict verdict = note_tet(o, mesh, o->walker.tets.data[j]);
            if (verdict != KILN_ACCEPTED)
                return verdict;
        }
    }
    return KILN_ACCEPTED;
}

/* Is the face, by its lower name, still to be opened? */
static bool is_left(const kiln_mesh *mesh, uint32_t face)
{
    return kiln_tet_live(mesh, face / 4) && is_marked(mesh, face) &&
           face < mesh->tet[face / 4].n[face % 4];
}

/* The corners of the choice's edge in the tet of its face, in the face's order; false when the face
 * has no such edge or its ring is not divided any more. */
static bool still_divided(opener *o, const kiln_mesh *mesh, open_choice choice, uint32_t corners[2])
{
    uint32_t tet = choice.face / 4, lowest;
    for (int side = 0; side < 3; side++) {
        corners[0] = kiln_face_corner[choice.face % 4][side];
        corners[1] = kiln_face_corner[choice.face % 4][(side + 1) % 3];
        if (edge_name(mesh->tet[tet].v[corners[0]], mesh->tet[tet].v[corners[1]]) == choice.edge)
            return ring_is_divided(o, mesh, tet, corners[0], corners[1], &lowest);
    }
    return false;
}

/* The first edge, by vertex pair, of a face left whose ring the set divides; false when none. */
static bool find_divided_edge(opener *o, const kiln_mesh *mesh, uint32_t *tet, uint32_t corners[2])
{
    for (; o->edges.count > 0; pop(&o->edges)) {
        *tet = o->edges.data[0].face / 4;
        if (is_left(mesh, o->edges.data[0].face) &&
            still_divided(o, mesh, o->edges.data[0], corners))
            return true;
        if (o->out_of_memory)
            return false;
    }
    return false;
}

/* The first face left; false when none. */
static bool find_face(opener *o, const kiln_mesh *mesh, uint32_t *tet, uint32_t corners[3])
{
    while (o->faces.count > 0 && !is_left(mesh, o->faces.data[0].face))
        pop(&o->faces);
    if (o->faces.count == 0)
        return false;
    uint32_t at = o->faces.data[0].face;
    *tet = at / 4;
    for (int k = 0; k < 3; k++)
        corners[k] = kiln_face_corner[at % 4][k];
    return true;
}

static kiln_verdict split_and_separate(opener *o, kiln_txn *txn, uint32_t tet,
                                       const uint32_t *corners, int count)
{
    kiln_split split;
    size_t first = o->vertices.count;
    kiln_verdict verdict = kiln_split_middle(txn, tet, corners, count, &split);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    if (kiln_array_push(o->context, &o->vertices, split.vertex, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    verdict = separate_star(o, txn, split.vertex);
    return verdict == KILN_ACCEPTED ? note_stars(o, txn->mesh, first) : verdict;
}

static kiln_verdict open_marked(opener *o, kiln_txn *txn)
{
    kiln_verdict verdict;
    sort_unique(&o->vertices);
    size_t first_count = o->vertices.count;
    for (size_t i = 0; i < first_count; i++)
        if ((verdict = separate_star(o, txn, o->vertices.data[i])) != KILN_ACCEPTED)
            return verdict;
    verdict = note_stars(o, txn->mesh, 0);
    while (verdict == KILN_ACCEPTED) {
        uint32_t tet, corners[3];
        bool divided = find_divided_edge(o, txn->mesh, &tet, corners);
        if (o->out_of_memory)
            return KILN_REFUSED_MEMORY;
        if (!divided && !find_face(o, txn->mesh, &tet, corners))
            return KILN_ACCEPTED;
        o->report.edges_split += divided;
        o->report.faces_split += !divided;
        verdict = split_and_separate(o, txn, tet, corners, divided ? 2 : 3);
    }
    return verdict;
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

typedef struct side {
    uint32_t twin, face;
} side;

typedef KILN_ARRAY_OF(side)
side_array;

static int by_twin(const void *p, const void *q)
{
    const side *a = p, *b = q;
    if (a->twin != b->twin)
        return a->twin < b->twin ? -1 : 1;
    return (a->face > b->face) - (a->face < b->face);
}

static kiln_vec3 middle_of(const kiln_mesh *mesh, uint32_t face, double *edge)
{
    uint32_t at = mesh->face[face].at;
    kiln_vec3 x[3];
    for (int k = 0; k < 3; k++)
        x[k] = mesh->x[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
    *edge = kiln_v3_norm(kiln_v3_sub(x[1], x[0]));
    return kiln_v3_scale(kiln_v3_add(kiln_v3_add(x[0], x[1]), x[2]), 1.0 / 3.0);
}

static bool are_apart(const kiln_mesh *mesh, uint32_t a, uint32_t b)
{
    double edge, other;
    kiln_vec3 way = kiln_v3_sub(middle_of(mesh, a, &edge), middle_of(mesh, b, &other));
    return kiln_v3_norm(way) > APART * fmax(edge, other);
}

/* A side that was divided has left its number to all its pieces. */
static bool has_parted(const kiln_mesh *mesh, const side_array *sides, size_t i)
{
    const side *all = sides->data;
    size_t first = i, end = i + 1;
    while (first > 0 && all[first - 1].twin == all[i].twin)
        first--;
    while (end < sides->count && all[end].twin == all[i].twin)
        end++;
    for (size_t j = first; j < end; j++)
        if (j != i && !are_apart(mesh, all[i].face, all[j].face))
            return false;
    return true;
}

kiln_verdict kiln_open_part(kiln_txn *txn)
{
    const kiln_mesh *mesh = txn->mesh;
    side_array sides = {0};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && verdict == KILN_ACCEPTED; f++)
        if (kiln_face_live(mesh, f) && mesh->face[f].twin != 0 &&
            kiln_array_push(mesh->context, &sides, ((side){mesh->face[f].twin, f}), NULL) !=
                KILN_OK)
            verdict = KILN_REFUSED_MEMORY;
    if (sides.count)
        qsort(sides.data, sides.count, sizeof *sides.data, by_twin);
    for (size_t i = 0; i < sides.count && verdict == KILN_ACCEPTED; i++)
        if (has_parted(mesh, &sides, i))
            verdict = kiln_txn_part_face(txn, sides.data[i].face);
    kiln_array_free(mesh->context, &sides);
    return verdict;
}

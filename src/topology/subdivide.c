#include "topology/subdivide.h"

#include "mesh/walk.h"

#include <stdlib.h>

typedef struct long_edge {
    uint32_t a, b; /* vertices, a < b */
    double length; /* squared, in the world */
} long_edge;

typedef struct subdivision {
    kiln_mesh *mesh;
    const uint8_t *may;
    KILN_ARRAY_OF(uint8_t)
    outside; /* [vertex slot] on the surface */
    KILN_ARRAY_OF(long_edge)
    edges;
    kiln_u32_array ring;
} subdivision;

static int compare(const void *left, const void *right)
{
    const long_edge *p = left, *q = right;
    if (p->length != q->length)
        return p->length > q->length ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

static kiln_status find_outside(subdivision *s, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(mesh->context, &s->outside, rows + 1, error));
    for (size_t v = 0; v < rows; v++)
        s->outside.data[v] = 0;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int k = 0; k < 3 && kiln_face_live(mesh, f); k++) {
            uint32_t at = mesh->face[f].at;
            s->outside.data[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]] = 1;
        }
    return KILN_OK;
}

/* Whether an edge lies inside and all of its tets may be divided. */
static kiln_status is_inner(subdivision *s, uint32_t tet, int edge, bool *inner, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    uint32_t a = kiln_edge_ends[edge][0], b = kiln_edge_ends[edge][1];
    uint32_t marked =
        1u << (KILN_MARK_FEATURE_EDGE + edge) | 1u << (KILN_MARK_REQUIRED_EDGE + edge);
    kiln_ring ring = kiln_edge_ring(mesh, tet, a, b, NULL, 0);
    *inner = ring.closed && !(mesh->info[tet].marks & marked);
    if (!*inner)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(mesh->context, &s->ring, ring.count, error));
    kiln_edge_ring(mesh, tet, a, b, s->ring.data, ring.count);
    for (uint32_t i = 0; i < ring.count; i++)
        *inner &= s->may[s->ring.data[i] / 4] != 0;
    return KILN_OK;
}

static kiln_status list_edges(subdivision *s, kiln_error *error)
{
    const kiln_mesh *mesh = s->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6 && kiln_tet_live(mesh, t) && s->may[t]; e++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[e][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[e][1]];
            bool inner = false;
            if (s->outside.data[a] && s->outside.data[b] &&
                kiln_edge_is_own(mesh, t, kiln_edge_ends[e][0], kiln_edge_ends[e][1]))
                KILN_TRY(is_inner(s, t, e, &inner, error));
            const long_edge edge = {a < b ? a : b, a < b ? b : a,
                                    kiln_v3_norm2(kiln_v3_sub(mesh->x[b], mesh->x[a]))};
            if (inner)
                KILN_TRY(kiln_array_push(mesh->context, &s->edges, edge, error));
        }
    if (s->edges.count)
        qsort(s->edges.data, s->edges.count, sizeof *s->edges.data, compare);
    return KILN_OK;
}

static kiln_verdict keep(kiln_mesh *mesh, kiln_splits *splits, kiln_split split)
{
    return kiln_array_push(mesh->context, splits, split, NULL) == KILN_OK ? KILN_ACCEPTED
                                                                          : KILN_REFUSED_MEMORY;
}

/* What is refused for another reason than memory (a flat tet) stays as it is. */
static kiln_verdict split(kiln_txn *txn, uint32_t tet, const uint32_t *corners, int count,
                          kiln_splits *splits)
{
    kiln_split made;
    kiln_verdict verdict = kiln_split_middle(txn, tet, corners, count, &made);
    if (verdict == KILN_ACCEPTED)
        return keep(txn->mesh, splits, made);
    return verdict == KILN_REFUSED_MEMORY ? verdict : KILN_ACCEPTED;
}

static kiln_verdict split_edges(const subdivision *s, kiln_txn *txn, kiln_walker *walker,
                                kiln_splits *splits)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    for (size_t i = 0; i < s->edges.count && verdict == KILN_ACCEPTED; i++) {
        const long_edge *edge = &s->edges.data[i];
        if (kiln_edge_tets(s->mesh, edge->a, edge->b, walker, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        uint32_t tet = walker->tets.data[0];
        const uint32_t corners[2] = {kiln_tet_corner(&s->mesh->tet[tet], edge->a),
                                     kiln_tet_corner(&s->mesh->tet[tet], edge->b)};
        verdict = split(txn, tet, corners, 2, splits);
    }
    return verdict;
}

/* Those that edges have not divided: what a split makes has a corner inside. */
static kiln_verdict split_tets(const subdivision *s, kiln_txn *txn, uint32_t vertices,
                               uint32_t tets, kiln_splits *splits)
{
    static const uint32_t corners[4] = {0, 1, 2, 3};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t t = 0; t < tets && verdict == KILN_ACCEPTED; t++) {
        bool outside = kiln_tet_live(s->mesh, t) && s->may[t];
        for (int k = 0; k < 4 && outside; k++) {
            uint32_t v = s->mesh->tet[t].v[k];
            outside = v < vertices && s->outside.data[v];
        }
        if (outside)
            verdict = split(txn, t, corners, 4, splits);
    }
    return verdict;
}

static kiln_status divide(subdivision *s, kiln_splits *splits, kiln_error *error)
{
    kiln_mesh *mesh = s->mesh;
    uint32_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    kiln_walker walker;
    kiln_txn txn = kiln_txn_begin(mesh);
    if (!txn.depth)
        return kiln_txn_fail(KILN_REFUSED_MEMORY, error);
    kiln_walker_init(&walker, mesh->context);
    kiln_verdict verdict = split_edges(s, &txn, &walker, splits);
    if (verdict == KILN_ACCEPTED)
        verdict = split_tets(s, &txn, vertices, tets, splits);
    kiln_walker_free(&walker);
    verdict = kiln_txn_settle(&txn, verdict);
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

kiln_status kiln_subdivide(kiln_mesh *mesh, const uint8_t *may, kiln_splits *splits,
                           kiln_error *error)
{
    subdivision s = {.mesh = mesh, .may = may};
    size_t before = splits->count;
    kiln_status status = find_outside(&s, error);
    if (status == KILN_OK)
        status = list_edges(&s, error);
    if (status == KILN_OK)
        status = divide(&s, splits, error);
    if (status != KILN_OK)
        splits->count = before;
    kiln_array_free(mesh->context, &s.outside);
    kiln_array_free(mesh->context, &s.edges);
    kiln_array_free(mesh->context, &s.ring);
    return status;
}

kiln_status kiln_undo_subdivision(kiln_mesh *mesh, kiln_splits *splits, size_t *left,
                                  kiln_error *error)
{
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = txn.depth ? KILN_ACCEPTED : KILN_REFUSED_MEMORY;
    *left = 0;
    if (!txn.depth)
        return kiln_txn_fail(verdict, error);
    while (splits->count > 0 && verdict == KILN_ACCEPTED) {
        verdict = kiln_unsplit(&txn, &splits->data[--splits->count]);
        *left += verdict != KILN_ACCEPTED;
        if (verdict != KILN_REFUSED_MEMORY)
            verdict = KILN_ACCEPTED;
    }
    splits->count = 0;
    verdict = kiln_txn_settle(&txn, verdict);
    return verdict == KILN_ACCEPTED ? KILN_OK : kiln_txn_fail(verdict, error);
}

#include "topology/features.h"
#include "mesh/classify.h"
#include "mesh/walk.h"

#include <math.h>
#include <string.h>

enum { MOST_PRUNED = 8 };

typedef struct forgetting {
    kiln_txn *txn;
    const kiln_mesh *mesh;
    const kiln_vec3 *place;
    kiln_same_patch same;
    void *user;
    double cosine;
    KILN_ARRAY_OF(uint8_t)
    degree; /* [vertex] feature edges there */
} forgetting;

/* An edge of a surface face, as seen from its tet. */
typedef struct surface_edge {
    uint32_t face, tet, edge, v[2], across; /* across: the face beyond it */
    bool feature, fixed;                    /* fixed: stays whatever it looks like */
} surface_edge;

/* The i-th of the three edges of each face. */
static surface_edge edge_of(const forgetting *g, uint32_t i)
{
    const kiln_mesh *mesh = g->mesh;
    surface_edge e = {.face = i / 3, .across = KILN_NONE};
    if (!kiln_face_live(mesh, e.face))
        return e;
    const uint8_t *c = kiln_face_corner[mesh->face[e.face].at % 4];
    uint32_t a = c[i % 3], b = c[(i + 1) % 3];
    e.tet = mesh->face[e.face].at / 4;
    e.edge = kiln_edge_of[a][b];
    e.v[0] = mesh->tet[e.tet].v[a];
    e.v[1] = mesh->tet[e.tet].v[b];
    uint32_t marks = mesh->info[e.tet].marks;
    e.feature = marks >> (KILN_MARK_FEATURE_EDGE + e.edge) & 1;
    if (!e.feature)
        return e;
    e.across = kiln_surface_across(mesh, e.face, e.v[0], e.v[1]);
    e.fixed = (marks >> (KILN_MARK_REQUIRED_EDGE + e.edge) & 1) ||
              !g->same(mesh, e.face, e.across, g->user);
    return e;
}

static kiln_vec3 face_normal(const forgetting *g, uint32_t face)
{
    const uint32_t at = g->mesh->face[face].at, *v = g->mesh->tet[at / 4].v;
    const uint8_t *c = kiln_face_corner[at % 4];
    kiln_vec3 a = g->place[v[c[0]]];
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(g->place[v[c[1]]], a), kiln_v3_sub(g->place[v[c[2]]], a)));
}

static kiln_verdict forget(const forgetting *g, const surface_edge *e)
{
    return kiln_txn_mark_edge(g->txn, e->tet, e->edge, KILN_MARK_FEATURE_EDGE, false);
}

static kiln_verdict forget_blunt(const forgetting *g)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    uint32_t count = 3 * g->mesh->table[KILN_ON_FACE].used;
    for (uint32_t i = 0; i < count && verdict == KILN_ACCEPTED; i++) {
        surface_edge e = edge_of(g, i);
        if (e.feature && !e.fixed &&
            kiln_v3_dot(face_normal(g, e.face), face_normal(g, e.across)) > g->cosine)
            verdict = forget(g, &e);
    }
    return verdict;
}

static void count_features(const forgetting *g)
{
    memset(g->degree.data, 0, g->mesh->table[KILN_ON_VERTEX].used);
    for (uint32_t i = 0; i < 3 * g->mesh->table[KILN_ON_FACE].used; i++) {
        surface_edge e = edge_of(g, i);
        for (int k = 0; k < 2 && e.feature && e.face < e.across; k++)
            g->degree.data[e.v[k]] += g->degree.data[e.v[k]] < UINT8_MAX;
    }
}

/* Features that end amid a surface are folds, not edges. */
static kiln_verdict forget_ends(const forgetting *g)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    uint32_t count = 3 * g->mesh->table[KILN_ON_FACE].used;
    bool any = true;
    for (int pass = 0; pass < MOST_PRUNED && any; pass++) {
        any = false;
        count_features(g);
        for (uint32_t i = 0; i < count && verdict == KILN_ACCEPTED; i++) {
            surface_edge e = edge_of(g, i);
            if (!e.feature || e.fixed || (g->degree.data[e.v[0]] > 1 && g->degree.data[e.v[1]] > 1))
                continue;
            verdict = forget(g, &e);
            any = true;
        }
    }
    return verdict;
}

/* Corners are kept by classification, so they go before it. */
static kiln_verdict find_flags(const forgetting *g)
{
    kiln_verdict verdict = KILN_ACCEPTED;
    for (uint32_t v = 0; v < g->mesh->table[KILN_ON_VERTEX].used; v++)
        if (verdict == KILN_ACCEPTED && g->mesh->vertex[v].flags & KILN_VERTEX_CORNER)
            verdict = kiln_txn_set_vertex(g->txn, v, 0, KILN_VERTEX_CORNER);
    if (verdict != KILN_ACCEPTED)
        return verdict;
    /* Nothing turns by more than a half turn: no edge becomes a feature by its angle. */
    return kiln_mesh_classify(g->txn->mesh, KILN_PI, NULL) == KILN_OK ? KILN_ACCEPTED
                                                                      : KILN_REFUSED_MEMORY;
}

kiln_verdict kiln_features_forget(kiln_txn *txn, kiln_space space, double blunt,
                                  kiln_same_patch same, void *user)
{
    kiln_mesh *mesh = txn->mesh;
    forgetting g = {.txn = txn,
                    .mesh = mesh,
                    .place = kiln_mesh_positions(mesh, space),
                    .same = same,
                    .user = user,
                    .cosine = cos(blunt)};
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    if (kiln_array_reserve(mesh->context, &g.degree, vertices + 1, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = forget_blunt(&g);
    if (verdict == KILN_ACCEPTED)
        verdict = forget_ends(&g);
    if (verdict == KILN_ACCEPTED)
        verdict = find_flags(&g);
    kiln_array_free(mesh->context, &g.degree);
    return verdict;
}

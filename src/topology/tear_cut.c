#include "topology/tear_cut.h"

#include "geom/tet_quality.h"
#include "topology/concave.h"
#include "topology/split.h"

#include <math.h>

/* Air at the tip of a slit has less than this, radians. */
static const double TIP = KILN_PI / 3.0;
/* Of an edge: a plane that crosses it nearer to an end goes through that. */
static const double SNAP = 0.15;
/* Cosine of the angle between the pull and the normal of an existing face that stands in. */
static const double ASTRAY = 0.5;

/* A tet that is cut. */
typedef struct cutting {
    const kiln_tear_knife *knife;
    uint32_t tet, snaps; /* a bit for each edge */
    uint32_t v[4];
    kiln_vec3 along, x[4];
    uint32_t in_plane[4]; /* vertices */
    int in_plane_count;
    double worst; /* quality of what is divided */
} cutting;

static uint32_t count_marked(const kiln_mesh *mesh, const uint32_t *entries, uint32_t count)
{
    uint32_t marked = 0;
    for (uint32_t i = 0; i < count; i++)
        marked += (mesh->info[entries[i] / 4].marks >> (KILN_MARK_SPLIT_FACE + entries[i] % 4)) & 1;
    return marked;
}

/* Marked faces about an edge; *closed: no surface there. False where there are too many tets. */
static bool look_round(const kiln_mesh *mesh, uint32_t tet, uint32_t a, uint32_t b,
                       uint32_t *marked, bool *closed)
{
    uint32_t entries[KILN_TEAR_RING];
    kiln_ring ring = kiln_edge_ring(mesh, tet, a, b, entries, KILN_TEAR_RING);
    if (ring.count > KILN_TEAR_RING)
        return false;
    *marked = count_marked(mesh, entries, ring.count);
    *closed = ring.closed;
    return true;
}

bool kiln_tear_ends_at(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b,
                       bool at_surface)
{
    uint32_t marked;
    bool closed;
    return look_round(mesh, tet, corner_a, corner_b, &marked, &closed) && closed == !at_surface &&
           marked == 1;
}

uint32_t kiln_tear_snap_edges(const kiln_mesh *mesh, uint32_t tet)
{
    uint32_t snaps = 0, marked;
    for (int e = 0; e < 6; e++) {
        uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
        bool closed;
        if (!look_round(mesh, tet, a, b, &marked, &closed))
            continue;
        if (closed ? marked == 1 : marked == 0 && kiln_air_angle(mesh, tet, a, b) < TIP)
            snaps |= 1u << e;
    }
    return snaps;
}

bool kiln_tear_is_beside(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->info[tet].marks >> KILN_MARK_SPLIT_FACE & 0xFu;
}

/* Off the edge of a and b, straight. */
static kiln_vec3 off_edge(kiln_vec3 p, kiln_vec3 a, kiln_vec3 along)
{
    kiln_vec3 r = kiln_v3_sub(p, a);
    return kiln_v3_madd(r, -kiln_v3_dot(r, along), along);
}

bool kiln_tear_goes_on(const kiln_mesh *mesh, uint32_t tet, uint32_t a, uint32_t b,
                       kiln_vec3 normal)
{
    uint32_t entries[KILN_TEAR_RING], ends[2], i = kiln_tet_corner(&mesh->tet[tet], a);
    uint32_t j = kiln_tet_corner(&mesh->tet[tet], b), count = 0;
    kiln_ring ring = kiln_edge_ring(mesh, tet, i, j, entries, KILN_TEAR_RING);
    if (ring.count > KILN_TEAR_RING)
        return false;
    kiln_vec3 edge = kiln_v3_normalize(kiln_v3_sub(mesh->x[b], mesh->x[a]));
    kiln_vec3 n = kiln_v3_madd(normal, -kiln_v3_dot(normal, edge), edge), out = {0, 0, 0};
    for (uint32_t k = 0; k < ring.count; k++)
        if (count_marked(mesh, &entries[k], 1))
            for (int c = 0; c < 3; c++) {
                const uint32_t *v = mesh->tet[entries[k] / 4].v;
                uint32_t third = v[kiln_face_corner[entries[k] % 4][c]];
                if (third != a && third != b)
                    out = kiln_v3_scale(off_edge(mesh->x[third], mesh->x[a], edge), -1.0);
            }
    for (uint32_t k = 0; k < 4; k++)
        if (k != i && k != j)
            ends[count++] = mesh->tet[tet].v[k];
    double d[2] = {kiln_v3_dot(off_edge(mesh->x[ends[0]], mesh->x[a], edge), n),
                   kiln_v3_dot(off_edge(mesh->x[ends[1]], mesh->x[a], edge), n)};
    if (!(d[0] * d[1] <= 0.0) || d[0] == d[1])
        return false;
    kiln_vec3 meets = kiln_v3_lerp(mesh->x[ends[0]], mesh->x[ends[1]], d[0] / (d[0] - d[1]));
    return kiln_v3_dot(off_edge(meets, mesh->x[a], edge), out) > 0.0;
}

static bool may_cut(const kiln_tear_knife *knife, const kiln_mesh *mesh, uint32_t tet)
{
    return !knife->may || knife->may(knife->user, mesh, tet);
}

static double quality_of(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_quality(&mesh->x[v[0]], &mesh->x[v[1]], &mesh->x[v[2]], &mesh->x[v[3]]);
}

/* Faces of a tet that are open, or will be. */
static int faces_gone(const kiln_mesh *mesh, uint32_t tet)
{
    int gone = 0;
    for (uint32_t f = 0; f < 4; f++)
        gone += kiln_link_is_surface(mesh->tet[tet].n[f]) ||
                (mesh->info[tet].marks >> (KILN_MARK_SPLIT_FACE + f) & 1);
    return gone;
}

/* No tet is to be left alone. */
static bool may_open(const cutting *c, const kiln_mesh *mesh, uint32_t tet, uint32_t face)
{
    kiln_link link = mesh->tet[tet].n[face];
    return !kiln_link_is_surface(link) && !kiln_link_is_interface(mesh, tet, link) &&
           !(mesh->info[tet].marks >> (KILN_MARK_SPLIT_FACE + face) & 1) &&
           may_cut(c->knife, mesh, tet) && may_cut(c->knife, mesh, link / 4) &&
           faces_gone(mesh, tet) < 3 && faces_gone(mesh, link / 4) < 3;
}

static kiln_verdict mark(kiln_txn *txn, const cutting *c, uint32_t tet, uint32_t face,
                         kiln_tear_cut *cut)
{
    if (!may_open(c, txn->mesh, tet, face))
        return KILN_REFUSED_JUDGED;
    for (int k = 0; k < 3; k++)
        cut->face[cut->faces][k] = txn->mesh->tet[tet].v[kiln_face_corner[face][k]];
    cut->faces++;
    return kiln_txn_mark_face(txn, tet, face, KILN_MARK_SPLIT_FACE, true);
}

/* Divides the edge of two vertices at the part t of the way from a to b. */
static kiln_verdict divide(cutting *c, kiln_txn *txn, uint32_t a, uint32_t b, double t)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_walker *walker = c->knife->walker;
    if (kiln_edge_tets(mesh, a, b, walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < walker->tets.count; i++) {
        if (!may_cut(c->knife, mesh, walker->tets.data[i]))
            return KILN_REFUSED_JUDGED;
        c->worst = fmin(c->worst, quality_of(mesh, walker->tets.data[i]));
    }
    uint32_t tet = walker->tets.data[0];
    const uint32_t corners[2] = {kiln_tet_corner(&mesh->tet[tet], a),
                                 kiln_tet_corner(&mesh->tet[tet], b)};
    const double weights[2] = {1.0 - t, t};
    kiln_split split;
    kiln_verdict verdict = kiln_split_at(txn, tet, corners, 2, weights, &split);
    if (verdict == KILN_ACCEPTED)
        c->in_plane[c->in_plane_count++] = split.vertex;
    return verdict;
}

/* A face of these vertices, if there is one. */
static kiln_verdict mark_triple(cutting *c, kiln_txn *txn, const uint32_t v[3], kiln_tear_cut *cut)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_walker *walker = c->knife->walker;
    if (kiln_edge_tets(mesh, v[0], v[1], walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    for (size_t i = 0; i < walker->tets.count; i++) {
        uint32_t tet = walker->tets.data[i];
        if (kiln_tet_corner(&mesh->tet[tet], v[2]) == 4)
            continue;
        for (uint32_t f = 0; f < 4; f++) {
            uint32_t far = mesh->tet[tet].v[f];
            if (far != v[0] && far != v[1] && far != v[2])
                return mark(txn, c, tet, f, cut);
        }
    }
    return KILN_ACCEPTED;
}

static kiln_verdict mark_in_plane(cutting *c, kiln_txn *txn, kiln_tear_cut *cut)
{
    static const int triple[4][3] = {{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}};
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int i = 0; i < (c->in_plane_count == 4 ? 4 : 1) && verdict == KILN_ACCEPTED; i++) {
        const uint32_t v[3] = {c->in_plane[triple[i][0]], c->in_plane[triple[i][1]],
                               c->in_plane[triple[i][2]]};
        verdict = cut->faces < 2 ? mark_triple(c, txn, v, cut) : KILN_ACCEPTED;
    }
    return verdict == KILN_ACCEPTED && cut->faces == 0 ? KILN_REFUSED_JUDGED : verdict;
}

/* No tet about a vertex that was made is worse than asked for, or than the worst there was. */
static kiln_verdict judge(const cutting *c, const kiln_mesh *mesh, int old)
{
    double least = fmin(c->knife->quality, c->worst);
    for (int i = old; i < c->in_plane_count; i++) {
        if (kiln_star(mesh, c->in_plane[i], c->knife->walker, NULL) != KILN_OK)
            return KILN_REFUSED_MEMORY;
        for (size_t k = 0; k < c->knife->walker->tets.count; k++)
            if (quality_of(mesh, c->knife->walker->tets.data[k]) < least)
                return KILN_REFUSED_JUDGED;
    }
    return KILN_ACCEPTED;
}

typedef struct crossing {
    uint32_t a, b;
    double t, length;
} crossing;

static bool comes_before(const crossing *p, const crossing *q)
{
    if (p->length != q->length)
        return p->length > q->length;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

/* Edges that the plane crosses, the longest first. d: distances of the corners from it, 0 for those
 * in it, among which those come that it passes near to. */
static int find_crossings(const cutting *c, double d[4], crossing found[4])
{
    bool near[4] = {0};
    int count = 0;
    for (int e = 0; e < 6; e++) {
        int i = kiln_edge_ends[e][0], j = kiln_edge_ends[e][1];
        if (!(d[i] * d[j] < 0.0))
            continue;
        double t = d[i] / (d[i] - d[j]);
        near[i] |= t < SNAP;
        near[j] |= t > 1.0 - SNAP;
    }
    for (int i = 0; i < 4; i++)
        d[i] = near[i] ? 0.0 : d[i];
    for (int e = 0; e < 6; e++) {
        int i = kiln_edge_ends[e][0], j = kiln_edge_ends[e][1];
        if (!(d[i] * d[j] < 0.0))
            continue;
        if (c->v[i] > c->v[j]) { /* the same point whatever the order of corners */
            int swap = i;
            i = j;
            j = swap;
        }
        crossing one = {c->v[i], c->v[j], d[i] / (d[i] - d[j]),
                        kiln_v3_norm2(kiln_v3_sub(c->x[j], c->x[i]))};
        int at = count++;
        for (; at > 0 && comes_before(&one, &found[at - 1]); at--)
            found[at] = found[at - 1];
        found[at] = one;
    }
    return count;
}

/* Along the plane; `fixed`: corners that are in it. */
static kiln_verdict cut_along(cutting *c, kiln_txn *txn, uint32_t fixed, kiln_tear_cut *cut)
{
    double d[4], size = 0.0;
    crossing found[4];
    for (int i = 0; i < 4; i++) {
        d[i] = fixed >> i & 1 ? 0.0 : kiln_v3_dot(kiln_v3_sub(c->x[i], cut->origin), cut->normal);
        size = fmax(size, fabs(d[i]));
    }
    if (!(size > 0.0))
        return KILN_REFUSED_JUDGED;
    int crossings = find_crossings(c, d, found);
    c->in_plane_count = 0;
    for (int i = 0; i < 4; i++)
        if (d[i] == 0.0)
            c->in_plane[c->in_plane_count++] = c->v[i];
    int old = c->in_plane_count;
    if (old + crossings < 3 || old + crossings > 4)
        return KILN_REFUSED_JUDGED;
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int i = 0; i < crossings && verdict == KILN_ACCEPTED; i++)
        verdict = divide(c, txn, found[i].a, found[i].b, found[i].t);
    if (verdict == KILN_ACCEPTED)
        verdict = judge(c, txn->mesh, old);
    return verdict == KILN_ACCEPTED ? mark_in_plane(c, txn, cut) : verdict;
}

static kiln_verdict try_plane(cutting *c, kiln_txn *txn, kiln_tear_cut *cut)
{
    uint32_t fixed = 0;
    cut->faces = 0;
    cut->origin = kiln_tet_centre(txn->mesh, c->tet, txn->mesh->x);
    cut->normal = c->along;
    for (int e = 0; e < 6; e++)
        if (c->snaps >> e & 1) {
            int a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
            kiln_vec3 edge = kiln_v3_normalize(kiln_v3_sub(c->x[b], c->x[a]));
            fixed = 1u << a | 1u << b;
            cut->origin = c->x[a];
            cut->normal = kiln_v3_madd(c->along, -kiln_v3_dot(c->along, edge), edge);
        }
    if (kiln_v3_norm(cut->normal) < ASTRAY)
        return KILN_REFUSED_JUDGED;
    cut->normal = kiln_v3_normalize(cut->normal);
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    return kiln_txn_settle(&inner, cut_along(c, &inner, fixed, cut));
}

static kiln_vec3 normal_of(const cutting *c, int face)
{
    const uint8_t *k = kiln_face_corner[face];
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(c->x[k[1]], c->x[k[0]]), kiln_v3_sub(c->x[k[2]], c->x[k[0]])));
}

/* Snap edges that one of two faces has, a bit for each edge. */
static uint32_t edges_on(const cutting *c, int f, int g)
{
    uint32_t on = 0;
    for (int e = 0; e < 6; e++) {
        int a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
        if ((a != f && b != f) || (a != g && b != g))
            on |= 1u << e;
    }
    return on & c->snaps;
}

static int bits(uint32_t word)
{
    int count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

/* The face, or the two where `pairs`, with most of the snap edges, at least one where there are
 * some; of those the ones most across the pull. */
static kiln_verdict take_faces(cutting *c, kiln_txn *txn, bool pairs, kiln_tear_cut *cut)
{
    int best[2] = {-1, -1};
    double best_value = 0.0;
    for (int f = 0; f < 4; f++)
        for (int g = 0; g <= (pairs ? f : 0); g++) {
            int other = pairs ? g : f;
            double across = 0.5 * (fabs(kiln_v3_dot(normal_of(c, f), c->along)) +
                                   fabs(kiln_v3_dot(normal_of(c, other), c->along)));
            double value = bits(edges_on(c, f, other)) + across - (f != other ? 0.5 : 0.0);
            if (across < ASTRAY || (c->snaps && !edges_on(c, f, other)) ||
                !may_open(c, txn->mesh, c->tet, (uint32_t)f) ||
                !may_open(c, txn->mesh, c->tet, (uint32_t)other) || value <= best_value)
                continue;
            best[0] = f;
            best[1] = other;
            best_value = value;
        }
    if (best[0] < 0)
        return KILN_REFUSED_JUDGED;
    cut->faces = 0;
    cut->origin = c->x[(best[0] + 1) % 4];
    cut->normal = normal_of(c, best[0]);
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = mark(&inner, c, c->tet, (uint32_t)best[0], cut);
    if (verdict == KILN_ACCEPTED && best[1] != best[0])
        verdict = mark(&inner, c, c->tet, (uint32_t)best[1], cut);
    return kiln_txn_settle(&inner, verdict);
}

static cutting start(const kiln_tear_knife *knife, const kiln_mesh *mesh, uint32_t tet,
                     kiln_vec3 along)
{
    cutting c = {.knife = knife, .tet = tet, .along = along, .worst = 1.0};
    c.snaps = kiln_tear_snap_edges(mesh, tet);
    for (int i = 0; i < 4; i++) {
        c.v[i] = mesh->tet[tet].v[i];
        c.x[i] = mesh->x[c.v[i]];
    }
    return c;
}

kiln_verdict kiln_tear_cut_tet(kiln_txn *txn, const kiln_tear_knife *knife, uint32_t tet,
                               kiln_vec3 along, kiln_tear_cut *cut)
{
    cutting c = start(knife, txn->mesh, tet, along);
    *cut = (kiln_tear_cut){.faces = 0};
    if (kiln_tear_is_beside(txn->mesh, tet) || !may_cut(knife, txn->mesh, tet))
        return KILN_REFUSED_JUDGED;
    if (bits(c.snaps) >= 2)
        return take_faces(&c, txn, true, cut);
    kiln_verdict verdict = try_plane(&c, txn, cut);
    if (verdict == KILN_ACCEPTED || verdict == KILN_REFUSED_MEMORY)
        return verdict;
    return take_faces(&c, txn, false, cut);
}

kiln_verdict kiln_tear_cut_on(kiln_txn *txn, const kiln_tear_knife *knife, uint32_t tet,
                              kiln_vec3 origin, kiln_vec3 normal, kiln_tear_cut *cut)
{
    cutting c = start(knife, txn->mesh, tet, normal);
    uint32_t fixed = 0;
    *cut = (kiln_tear_cut){.origin = origin, .normal = normal};
    if (kiln_tear_is_beside(txn->mesh, tet) || !may_cut(knife, txn->mesh, tet))
        return KILN_REFUSED_JUDGED;
    for (int i = 0; i < 4; i++)
        if (kiln_idset_has(knife->in_plane, c.v[i]))
            fixed |= 1u << i;
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (!inner.depth)
        return KILN_REFUSED_MEMORY;
    kiln_verdict verdict = fixed == 15 ? KILN_REFUSED_JUDGED : cut_along(&c, &inner, fixed, cut);
    verdict = kiln_txn_settle(&inner, verdict);
    if (verdict == KILN_ACCEPTED || verdict == KILN_REFUSED_MEMORY)
        return verdict;
    return take_faces(&c, txn, bits(c.snaps) > 1, cut);
}

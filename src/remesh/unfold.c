#include "remesh/unfold.h"

#include "mesh/walk.h"
#include "remesh/edge_removal.h"

#include <stdlib.h>

/* An edge of the surface, and what its flip would take from the sum of folds. */
typedef struct fold_edge {
    double gain;
    uint32_t a, b; /* in the order in which `face` has them */
    uint32_t face;
} fold_edge;

typedef struct unfold_work {
    kiln_remesher *remesher;
    const kiln_unfold_options *options;
    double cosine; /* of options->fold */
    KILN_ARRAY_OF(fold_edge)
    queue;
} unfold_work;

kiln_unfold_options kiln_unfold_default_options(void)
{
    return (kiln_unfold_options){.fold = 0.09, .gain = 0.1, .least = 0.15};
}

static void corners_of(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
}

static kiln_vec3 normal_of(const kiln_mesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    const kiln_vec3 *x = mesh->x;
    return kiln_v3_normalize(kiln_v3_cross(kiln_v3_sub(x[b], x[a]), kiln_v3_sub(x[c], x[a])));
}

static kiln_vec3 face_normal(const kiln_mesh *mesh, uint32_t face)
{
    uint32_t v[3];
    corners_of(mesh, face, v);
    return normal_of(mesh, v[0], v[1], v[2]);
}

static bool is_feature(const kiln_mesh *mesh, uint32_t face, uint32_t a, uint32_t b)
{
    uint32_t t = mesh->face[face].at / 4;
    const kiln_tet *tet = &mesh->tet[t];
    return kiln_edge_is_marked(mesh, t,
                               kiln_edge_of[kiln_tet_corner(tet, a)][kiln_tet_corner(tet, b)]);
}

static double length_of(const kiln_mesh *mesh, uint32_t a, uint32_t b)
{
    return kiln_v3_norm(kiln_v3_sub(mesh->x[b], mesh->x[a]));
}

static uint32_t third_of(const kiln_mesh *mesh, uint32_t face, uint32_t a, uint32_t b)
{
    uint32_t v[3];
    corners_of(mesh, face, v);
    return v[0] != a && v[0] != b ? v[0] : v[1] != a && v[1] != b ? v[1] : v[2];
}

/* The two faces at an edge (a, b, c) and (b, a, d), seen from outside, and what they become. */
typedef struct hinge {
    uint32_t a, b, c, d;
    uint32_t face[2];
    kiln_vec3 old[2], fresh[2]; /* normals; of (c, d, b) and (d, c, a) */
} hinge;

static hinge hinge_at(const kiln_mesh *mesh, uint32_t face, uint32_t a, uint32_t b)
{
    hinge h = {.a = a, .b = b, .face = {face, kiln_surface_across(mesh, face, a, b)}};
    h.c = third_of(mesh, h.face[0], a, b);
    h.d = third_of(mesh, h.face[1], a, b);
    h.old[0] = normal_of(mesh, a, b, h.c);
    h.old[1] = normal_of(mesh, b, a, h.d);
    return h;
}

/* How much a fold counts, from the normals of its faces. 1 - cos alone grows ever more slowly from
 * a right angle on, and would leave one edge with most of what a valley turns by. */
static double bent(kiln_vec3 n, kiln_vec3 m)
{
    static const double SHARP = 2.0;
    double c = 1.0 - kiln_v3_dot(n, m);
    return c * (1.0 + SHARP * c);
}

/* What the edge between p and q adds to the sums before and after: the face beyond stays, that on
 * this side has one normal or the other. */
static void add_outer(const kiln_mesh *mesh, uint32_t face, uint32_t p, uint32_t q, kiln_vec3 old,
                      kiln_vec3 fresh, double sum[2])
{
    if (is_feature(mesh, face, p, q))
        return;
    kiln_vec3 beyond = face_normal(mesh, kiln_surface_across(mesh, face, p, q));
    double length = length_of(mesh, p, q);
    sum[0] += length * bent(old, beyond);
    sum[1] += length * bent(fresh, beyond);
}

/* What a flip of the hinge takes from the sum; 0 where that is not worth it. */
static double gain_of(const unfold_work *w, hinge *h)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    h->fresh[0] = normal_of(mesh, h->c, h->d, h->b);
    h->fresh[1] = normal_of(mesh, h->d, h->c, h->a);
    double sum[2] = {length_of(mesh, h->a, h->b) * bent(h->old[0], h->old[1]),
                     length_of(mesh, h->c, h->d) * bent(h->fresh[0], h->fresh[1])};
    add_outer(mesh, h->face[0], h->b, h->c, h->old[0], h->fresh[0], sum);
    add_outer(mesh, h->face[0], h->c, h->a, h->old[0], h->fresh[1], sum);
    add_outer(mesh, h->face[1], h->a, h->d, h->old[1], h->fresh[1], sum);
    add_outer(mesh, h->face[1], h->d, h->b, h->old[1], h->fresh[0], sum);
    double gain = sum[0] - sum[1];
    return gain > w->options->gain * sum[0] ? gain : 0.0;
}

static double look_at(const unfold_work *w, uint32_t face, uint32_t a, uint32_t b)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    if (is_feature(mesh, face, a, b))
        return 0.0;
    hinge h = hinge_at(mesh, face, a, b);
    return kiln_v3_dot(h.old[0], h.old[1]) < w->cosine ? gain_of(w, &h) : 0.0;
}

static int by_gain(const void *x, const void *y)
{
    const fold_edge *p = x, *q = y;
    if (p->gain != q->gain)
        return p->gain > q->gain ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p->b == q->b ? 0 : p->b < q->b ? -1 : 1;
}

static kiln_status collect(unfold_work *w, kiln_error *error)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t v[3];
        if (!kiln_face_live(mesh, f))
            continue;
        corners_of(mesh, f, v);
        for (int k = 0; k < 3; k++) {
            uint32_t a = v[k], b = v[(k + 1) % 3];
            double gain = a < b ? look_at(w, f, a, b) : 0.0; /* the face beyond has b before a */
            if (gain > 0.0)
                KILN_TRY(kiln_array_push(w->remesher->context, &w->queue,
                                         ((fold_edge){gain, a, b, f}), error));
        }
    }
    if (w->queue.count > 0)
        qsort(w->queue.data, w->queue.count, sizeof *w->queue.data, by_gain);
    return KILN_OK;
}

/* Faces that flips before have changed are others now. */
static bool still_there(const kiln_mesh *mesh, const fold_edge *edge)
{
    uint32_t v[3];
    if (!kiln_face_live(mesh, edge->face))
        return false;
    corners_of(mesh, edge->face, v);
    for (int k = 0; k < 3; k++)
        if (v[k] == edge->a && v[(k + 1) % 3] == edge->b)
            return true;
    return false;
}

static bool flip(unfold_work *w, const fold_edge *edge)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    uint32_t t = r->mesh->face[edge->face].at / 4;
    const kiln_tet *tet = &r->mesh->tet[t];
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    bool made = kiln_edge_removal_propose(r, &r->workspace, t, kiln_tet_corner(tet, edge->a),
                                          kiln_tet_corner(tet, edge->b), &proposal) &&
                kiln_remesher_apply(r, &proposal) == KILN_ACCEPTED;
    kiln_arena_release(&r->workspace.arena, mark);
    return made;
}

static kiln_status sweep(unfold_work *w, size_t *flips, kiln_error *error)
{
    kiln_remesher *r = w->remesher;
    for (size_t i = 0; i < w->queue.count && !r->workspace.failed; i++) {
        const fold_edge *edge = &w->queue.data[i];
        if (still_there(r->mesh, edge) && look_at(w, edge->face, edge->a, edge->b) > 0.0)
            *flips += flip(w, edge);
    }
    return r->workspace.failed ? kiln_fail_memory(error, 0) : KILN_OK;
}

kiln_status kiln_unfold(kiln_remesher *remesher, const kiln_unfold_options *options, size_t *flips,
                        kiln_error *error)
{
    size_t own = 0;
    unfold_work w = {remesher, options, cos(options->fold), {0}};
    const kiln_judge office = remesher->judge;
    remesher->judge.gain = -INFINITY;
    remesher->judge.least = options->least;
    remesher->judge.unfolds = true;
    kiln_status status = collect(&w, error);
    if (status == KILN_OK)
        status = sweep(&w, &own, error);
    remesher->judge = office;
    kiln_array_free(remesher->context, &w.queue);
    if (flips)
        *flips = own;
    return status;
}

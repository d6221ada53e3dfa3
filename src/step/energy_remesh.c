#include "step/energy_remesh.h"

#include "base/parallel.h"
#include "geom/predicates.h"
#include "remesh/contract.h"
#include "remesh/edge_removal.h"
#include "remesh/insert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    RING_ROOM = 64,
    FIRST_ITERATIONS = 1, /* before a trial is judged */
    MORE_ITERATIONS = 8,  /* for what is kept */
    PREDICT_GRAIN = 64,
};
/* The rest of the patch adds to what the new vertex gains alone: predictions below this part of
 * what is asked for are not tried. */
#define HOPE 0.25
/* A candidate whose gain has fallen below this part of what it was queued with waits its turn. */
#define STALE 0.5

typedef struct candidate {
    double gain;
    uint32_t a, b; /* a < b */
} candidate;

typedef struct energy_pass {
    kiln_remesher *remesher;
    kiln_local_objective *objective;
    const kiln_energy_options *options;
    kiln_energy_report *report;
    kiln_patch patch;
    KILN_ARRAY_OF(candidate)
    heap;
    kiln_u32_array depth;  /* [vertex] */
    kiln_u32_array around; /* scratch: vertices */
    kiln_idset seen;
    kiln_walker walker;
    kiln_status status;
    kiln_error *error;

    /* Of the trial under way. */
    struct {
        double before; /* J, of the tets that go */
        double least;  /* J, what it must gain */
        double gained;
        uint32_t parent[4];
        double weight[4];
        int parents;
    } trial;
} energy_pass;

/* Prediction. */

typedef struct slopes {
    kiln_patch_tet form;
    kiln_vec3 x[4], centre[4], g[4];
    kiln_mat3 H[4];
    bool formed;
} slopes;

static void find_slopes(const kiln_local_objective *o, uint32_t t, slopes *s)
{
    const uint32_t *v = o->mesh->tet[t].v;
    s->formed = kiln_patch_form(o, t, &s->form);
    if (!s->formed)
        return;
    for (int k = 0; k < 4; k++) {
        s->x[k] = o->end[v[k]];
        s->centre[k] = o->scheme.scale > 0.0 ? kiln_objective_centre(o, v[k]) : s->x[k];
    }
    kiln_patch_tet_slopes(&s->form, s->x, s->g, s->H);
}

/* What one tet gives to gradient and Hessian by y: both halves of the split have the new vertex in
 * the place of an end, with twice the slope. */
static void add_slopes(const kiln_local_objective *o, uint32_t t, const slopes *s, int a, int b,
                       kiln_vec3 *g, kiln_mat3 *H)
{
    double mass = s->form.mass;
    *g = kiln_v3_add(*g, kiln_v3_add(s->g[a], s->g[b]));
    *g = kiln_v3_madd(*g, -0.25 * mass, o->acceleration);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            H->m[i][k] += 2.0 * (s->H[a].m[i][k] + s->H[b].m[i][k]);
    for (int f = 0; f < 4 && o->traction; f++)
        if (f != a && f != b)
            *g = kiln_v3_madd(*g, -1.0 / 3.0, kiln_objective_pull(o, t, f));
    if (!(o->scheme.scale > 0.0))
        return;
    kiln_vec3 r[4], sum = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++) {
        r[k] = kiln_v3_sub(s->x[k], s->centre[k]);
        sum = kiln_v3_add(sum, r[k]);
    }
    /* (ra + 2 rm + rc + rd) + (rb + 2 rm + rc + rd), rm the mean of ra and rb */
    kiln_vec3 ends = kiln_v3_add(r[a], r[b]);
    kiln_vec3 both = kiln_v3_add(kiln_v3_scale(sum, 2.0), ends);
    *g = kiln_v3_madd(*g, mass / (40.0 * o->scheme.scale), both);
    for (int i = 0; i < 3; i++)
        H->m[i][i] += mass / (10.0 * o->scheme.scale);
}

/* g' H^-1 g / 2 over what is free. */
static double gain_of(kiln_vec3 g, kiln_mat3 H, uint32_t held)
{
    double *at[3] = {&g.x, &g.y, &g.z};
    for (int i = 0; i < 3; i++)
        if (held >> i & 1) {
            for (int k = 0; k < 3; k++)
                H.m[i][k] = H.m[k][i] = 0.0;
            H.m[i][i] = 1.0;
            *at[i] = 0.0;
        }
    double det = kiln_m3_det(H);
    if (!(det > 0.0) || !isfinite(det))
        return 0.0;
    double gain = 0.5 * kiln_v3_dot(g, kiln_m3_apply(kiln_m3_inverse(H), g));
    return gain > 0.0 ? gain : 0.0;
}

static uint32_t held_by_both(const kiln_local_objective *o, uint32_t a, uint32_t b)
{
    return o->held ? o->held[a] & o->held[b] & 7 : 0;
}

double kiln_energy_predict(const kiln_local_objective *objective, uint32_t tet, uint32_t corner_a,
                           uint32_t corner_b)
{
    const kiln_mesh *mesh = objective->mesh;
    uint32_t ring[RING_ROOM], a = mesh->tet[tet].v[corner_a], b = mesh->tet[tet].v[corner_b];
    uint32_t count = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, RING_ROOM).count;
    kiln_vec3 g = kiln_v3(0, 0, 0);
    kiln_mat3 H = {{{0}}};
    for (uint32_t i = 0; i < count && i < RING_ROOM; i++) {
        slopes s;
        uint32_t t = ring[i] / 4;
        find_slopes(objective, t, &s);
        if (!s.formed)
            return 0.0;
        add_slopes(objective, t, &s, (int)kiln_tet_corner(&mesh->tet[t], a),
                   (int)kiln_tet_corner(&mesh->tet[t], b), &g, &H);
    }
    return count > RING_ROOM ? 0.0 : gain_of(g, H, held_by_both(objective, a, b));
}

/* The queue: largest gain first. */

static bool comes_before(const candidate *p, const candidate *q)
{
    if (p->gain != q->gain)
        return p->gain > q->gain;
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void push(energy_pass *w, candidate c)
{
    kiln_status status = kiln_array_push(w->remesher->context, &w->heap, c, w->error);
    if (status != KILN_OK) {
        w->status = status;
        return;
    }
    candidate *heap = w->heap.data;
    size_t i = w->heap.count - 1;
    for (; i > 0 && comes_before(&c, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = c;
}

static candidate pop(energy_pass *w)
{
    candidate *heap = w->heap.data, top = heap[0], last = heap[--w->heap.count];
    size_t count = w->heap.count, i = 0;
    while (2 * i + 1 < count) {
        size_t child = 2 * i + 1;
        if (child + 1 < count && comes_before(&heap[child + 1], &heap[child]))
            child++;
        if (comes_before(&last, &heap[child]))
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (count > 0)
        heap[i] = last;
    return top;
}

static bool is_worth_trying(const energy_pass *w, uint32_t a, uint32_t b, double gain)
{
    const kiln_vec3 *u = w->remesher->mesh->u;
    const uint32_t *depth = w->depth.data;
    uint32_t deepest = depth[a] > depth[b] ? depth[a] : depth[b];
    return gain >= HOPE * w->options->split && deepest < (uint32_t)w->options->depth &&
           kiln_v3_norm(kiln_v3_sub(u[a], u[b])) >= 2.0 * w->options->finest;
}

/* All edges, each by the lowest tet that has it. */
typedef struct edge_gains {
    double of[6];
} edge_gains;
typedef struct survey {
    const energy_pass *w;
    const slopes *of; /* [tet] */
    edge_gains *gain;
} survey;

static void slopes_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *s = user;
    const kiln_local_objective *o = s->w->objective;
    for (size_t t = begin; t < end; t++)
        if (kiln_tet_live(o->mesh, t))
            find_slopes(o, (uint32_t)t, (slopes *)&s->of[t]);
}

static double predict_with(const survey *s, uint32_t t, int k)
{
    const kiln_local_objective *o = s->w->objective;
    const kiln_mesh *mesh = o->mesh;
    uint32_t ring[RING_ROOM], ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
    uint32_t a = mesh->tet[t].v[ca], b = mesh->tet[t].v[cb];
    uint32_t count = kiln_edge_ring(mesh, t, ca, cb, ring, RING_ROOM).count;
    kiln_vec3 g = kiln_v3(0, 0, 0);
    kiln_mat3 H = {{{0}}};
    for (uint32_t i = 0; i < count && i < RING_ROOM; i++)
        if (ring[i] / 4 < t || !s->of[ring[i] / 4].formed)
            return 0.0;
    for (uint32_t i = 0; i < count && i < RING_ROOM; i++) {
        const kiln_tet *tet = &mesh->tet[ring[i] / 4];
        add_slopes(o, ring[i] / 4, &s->of[ring[i] / 4], (int)kiln_tet_corner(tet, a),
                   (int)kiln_tet_corner(tet, b), &g, &H);
    }
    return count > RING_ROOM ? 0.0 : gain_of(g, H, held_by_both(o, a, b));
}

static void predict_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const survey *s = user;
    for (size_t t = begin; t < end; t++)
        for (int k = 0; k < 6; k++)
            s->gain[t].of[k] = kiln_tet_live(s->w->objective->mesh, t)
                                ? predict_with(s, (uint32_t)t, k)
                                : 0.0;
}

static kiln_status queue_all(energy_pass *w, kiln_error *error)
{
    kiln_context *context = w->remesher->context;
    const kiln_mesh *mesh = w->remesher->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    KILN_ARRAY_OF(slopes) of = {0};
    KILN_ARRAY_OF(edge_gains) gain = {0};
    kiln_status status = kiln_array_reserve(context, &of, tets, error);
    if (status == KILN_OK)
        status = kiln_array_reserve(context, &gain, tets, error);
    if (status == KILN_OK) {
        survey s = {w, of.data, gain.data};
        kiln_parallel_for(context, tets, PREDICT_GRAIN, slopes_chunk, &s);
        kiln_parallel_for(context, tets, PREDICT_GRAIN, predict_chunk, &s);
        for (size_t t = 0; t < tets; t++)
            for (int k = 0; k < 6; k++) {
                uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
                uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
                if (gain.data[t].of[k] > 0.0 && is_worth_trying(w, a, b, gain.data[t].of[k]))
                    push(w, (candidate){gain.data[t].of[k], a < b ? a : b, a < b ? b : a});
            }
        status = w->status;
    }
    kiln_array_free(context, &of);
    kiln_array_free(context, &gain);
    return status;
}

/* Trials. */

/* The vertices of the tets at these vertices, without repetition. */
static kiln_status list_around(energy_pass *w, const uint32_t *vertices, size_t count)
{
    kiln_context *context = w->remesher->context;
    const kiln_mesh *mesh = w->remesher->mesh;
    w->around.count = 0;
    KILN_TRY(kiln_idset_clear(context, &w->seen, 64, w->error));
    for (size_t i = 0; i < count; i++) {
        KILN_TRY(kiln_star(mesh, vertices[i], &w->walker, w->error));
        for (size_t t = 0; t < w->walker.tets.count; t++)
            for (int k = 0; k < 4; k++) {
                uint32_t v = mesh->tet[w->walker.tets.data[t]].v[k];
                if (2 * (w->seen.members + 1) > w->seen.slots.count)
                    KILN_TRY(kiln_idset_grow(context, &w->seen, w->error));
                kiln_idset_slot *slot = kiln_idset_at(&w->seen, v);
                if (slot->epoch == w->seen.epoch)
                    continue;
                kiln_idset_add(&w->seen, slot, v, 0);
                KILN_TRY(kiln_array_push(context, &w->around, v, w->error));
            }
    }
    return KILN_OK;
}

/* E2 at the end of the step. */
static bool all_positive(const energy_pass *w)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    const kiln_vec3 *x = w->objective->end;
    for (size_t i = 0; i < w->patch.free; i++) {
        if (kiln_star(mesh, w->patch.vertex.data[i], (kiln_walker *)&w->walker, NULL) != KILN_OK)
            return false;
        for (size_t t = 0; t < w->walker.tets.count; t++) {
            const uint32_t *v = mesh->tet[w->walker.tets.data[t]].v;
            if (!(kiln_orient3d(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) > 0.0))
                return false;
        }
    }
    return true;
}

/* The new vertex begins on the straight line between those it comes from. */
static kiln_verdict place_end(energy_pass *w, uint32_t vertex, kiln_txn *txn)
{
    kiln_vec3 at = kiln_v3(0, 0, 0);
    for (int i = 0; i < w->trial.parents; i++)
        at = kiln_v3_madd(at, w->trial.weight[i], w->objective->end[w->trial.parent[i]]);
    const kiln_field *end = kiln_mesh_field(w->remesher->mesh, KILN_ON_VERTEX, KILN_FIELD_END);
    return kiln_txn_write(txn, KILN_ON_VERTEX, end, vertex, &at);
}

static bool settle_patch(energy_pass *w, const uint32_t *middle, size_t count, double change,
                         kiln_txn *txn)
{
    kiln_local_objective *o = w->objective;
    double tolerance = w->options->tolerance;
    w->status = list_around(w, middle, count);
    if (w->status == KILN_OK)
        w->status = kiln_patch_gather(&w->patch, o, w->around.data, w->around.count, w->error);
    if (w->status != KILN_OK)
        return false;
    double gained = change + kiln_patch_relax(&w->patch, o, FIRST_ITERATIONS, tolerance);
    if (!(gained > w->trial.least))
        return false;
    gained += kiln_patch_relax(&w->patch, o, MORE_ITERATIONS, tolerance);
    w->trial.gained = gained;
    return kiln_patch_store(&w->patch, w->remesher->mesh, txn) == KILN_ACCEPTED && all_positive(w);
}

static bool keeps(void *self, kiln_remesher *remesher, const kiln_change *change)
{
    energy_pass *w = self;
    kiln_txn txn = kiln_txn_begin(remesher->mesh);
    if (txn.depth == 0)
        return false;
    bool kept = true;
    kiln_objective_look(w->objective);
    if (change->vertex != KILN_NONE && w->trial.parents > 0)
        kept = place_end(w, change->vertex, &txn) == KILN_ACCEPTED;
    double after = kiln_patch_sum(w->objective, remesher->changed.data, remesher->changed.count);
    double gain = w->trial.before - after;
    kept = kept && isfinite(gain);
    if (kept) {
        uint32_t middle[8];
        size_t count = 0;
        if (change->vertex != KILN_NONE)
            middle[count++] = change->vertex;
        for (int i = 0; i < w->trial.parents && count < 8; i++)
            if (kiln_vertex_live(remesher->mesh, w->trial.parent[i]))
                middle[count++] = w->trial.parent[i];
        kept = settle_patch(w, middle, count, gain, &txn);
    }
    kiln_txn_settle(&txn, kept ? KILN_ACCEPTED : KILN_REFUSED_JUDGED);
    return kept;
}

/* A tet that has the edge, and its corners there. */
static bool find_edge(energy_pass *w, uint32_t a, uint32_t b, uint32_t *tet, uint32_t corner[2])
{
    const kiln_mesh *mesh = w->remesher->mesh;
    if (!kiln_vertex_live(mesh, a) || !kiln_vertex_live(mesh, b) ||
        kiln_edge_tets(mesh, a, b, &w->walker, NULL) != KILN_OK || w->walker.tets.count == 0)
        return false;
    *tet = w->walker.tets.data[0];
    corner[0] = kiln_tet_corner(&mesh->tet[*tet], a);
    corner[1] = kiln_tet_corner(&mesh->tet[*tet], b);
    return true;
}

static bool try_proposal(energy_pass *w, const kiln_proposal *proposal, double least,
                         kiln_energy_count *count)
{
    count->trials++;
    kiln_objective_look(w->objective);
    w->trial.before = kiln_patch_sum(w->objective, proposal->old, proposal->old_count);
    w->trial.least = least;
    if (kiln_remesher_apply(w->remesher, proposal) != KILN_ACCEPTED)
        return false;
    kiln_objective_look(w->objective);
    count->taken++;
    count->gained += w->trial.gained;
    return true;
}

/* Splits. */

static kiln_status note_depth(energy_pass *w, uint32_t vertex, uint32_t a, uint32_t b)
{
    KILN_TRY(kiln_array_reserve(w->remesher->context, &w->depth, (size_t)vertex + 1, w->error));
    while (w->depth.count <= vertex)
        w->depth.data[w->depth.count++] = 0;
    uint32_t *depth = w->depth.data;
    depth[vertex] = 1 + (depth[a] > depth[b] ? depth[a] : depth[b]);
    return KILN_OK;
}

/* Edges of the tets that were made. */
static void queue_around(energy_pass *w, uint32_t vertex)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    w->status = kiln_star(mesh, vertex, &w->walker, w->error);
    for (size_t i = 0; i < w->walker.tets.count && w->status == KILN_OK; i++) {
        uint32_t t = w->walker.tets.data[i], own = kiln_tet_corner(&mesh->tet[t], vertex);
        for (int k = 0; k < 6; k++) {
            uint32_t ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
            uint32_t a = mesh->tet[t].v[ca], b = mesh->tet[t].v[cb];
            /* Edges at the vertex come several times: the queue bears twins, of which the second
             * is found to be split already. */
            if (ca != own && cb != own && a > b)
                continue;
            double gain = kiln_energy_predict(w->objective, t, ca, cb);
            if (is_worth_trying(w, a, b, gain))
                push(w, (candidate){gain, a < b ? a : b, a < b ? b : a});
        }
    }
}

static void try_split(energy_pass *w, candidate c)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    uint32_t tet, corner[2];
    if (!find_edge(w, c.a, c.b, &tet, corner))
        return;
    double gain = kiln_energy_predict(w->objective, tet, corner[0], corner[1]);
    if (!is_worth_trying(w, c.a, c.b, gain))
        return;
    if (gain < STALE * c.gain) {
        push(w, (candidate){gain, c.a, c.b});
        return;
    }
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    w->trial.parents = 2;
    w->trial.parent[0] = c.a, w->trial.parent[1] = c.b;
    w->trial.weight[0] = w->trial.weight[1] = 0.5;
    bool taken = kiln_split_propose(r, &r->workspace, tet, corner, 2, &proposal) &&
                 try_proposal(w, &proposal, w->options->split, &w->report->splits);
    kiln_arena_release(&r->workspace.arena, mark);
    if (!taken || w->status != KILN_OK)
        return;
    w->report->predicted += gain;
    uint32_t vertex = r->vertex_made;
    w->status = note_depth(w, vertex, c.a, c.b);
    if (w->status == KILN_OK)
        queue_around(w, vertex);
}

static bool has_room(const energy_pass *w)
{
    return w->options->most_tets == 0 ||
           w->remesher->mesh->table[KILN_ON_TET].live < w->options->most_tets;
}

static kiln_status refine(energy_pass *w, kiln_error *error)
{
    KILN_TRY(queue_all(w, error));
    while (w->heap.count > 0 && w->status == KILN_OK && has_room(w)) {
        KILN_TRY(kiln_may_go_on(w->remesher->context, error));
        try_split(w, pop(w));
    }
    return w->status;
}

static kiln_judge judge_of(energy_pass *w)
{
    return (kiln_judge){.name = "energy",
                        .self = w,
                        .gain = -INFINITY,
                        .least = w->options->quality,
                        .edge = {0.0, INFINITY},
                        .keeps = keeps};
}

static kiln_status begin(energy_pass *w, kiln_error *error)
{
    kiln_context *context = w->remesher->context;
    size_t vertices = w->remesher->mesh->table[KILN_ON_VERTEX].used;
    kiln_patch_init(&w->patch, context);
    kiln_walker_init(&w->walker, context);
    KILN_TRY(kiln_array_reserve(context, &w->depth, vertices, error));
    w->depth.count = vertices;
    memset(w->depth.data, 0, vertices * sizeof(uint32_t));
    kiln_objective_look(w->objective);
    return KILN_OK;
}

static void end(energy_pass *w)
{
    kiln_context *context = w->remesher->context;
    kiln_patch_free(&w->patch);
    kiln_walker_free(&w->walker);
    kiln_array_free(context, &w->heap);
    kiln_array_free(context, &w->depth);
    kiln_array_free(context, &w->around);
    kiln_array_free(context, &w->seen.slots);
}

kiln_status kiln_energy_remesh(kiln_remesher *remesher, kiln_local_objective *objective,
                               const kiln_energy_options *options, kiln_energy_report *report,
                               kiln_error *error)
{
    energy_pass w = {.remesher = remesher,
                     .objective = objective,
                     .options = options,
                     .report = report,
                     .error = error};
    kiln_judge before = remesher->judge;
    *report = (kiln_energy_report){0};
    remesher->judge = judge_of(&w);
    kiln_status status = begin(&w, error);
    if (status == KILN_OK)
        status = refine(&w, error);
    remesher->judge = before;
    end(&w);
    if (status == KILN_OK && remesher->workspace.failed)
        return kiln_fail_memory(error, 0);
    return status;
}

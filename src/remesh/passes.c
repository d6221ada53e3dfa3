/* Most attempts fail, so most of the time goes into proposals, which only read. A large set is
 * worked through in batches: proposals for the whole batch are made on all threads, then applied in
 * the order of the set; one whose tets have changed meanwhile is made anew. Batches depend on the
 * set alone, so the result is the same for any number of threads. */
#include "remesh/passes.h"
#include "base/parallel.h"
#include "remesh/edge_removal.h"
#include "remesh/face_removal.h"
#include "remesh/smooth.h"
#include "remesh/space.h"

#include <stdlib.h>

enum {
    SMALL_SET = 256, /* up to here proposals are made one by one: neighbours would void them */
    BATCH = 1024,
    BATCHES = 64,    /* of vertices at least, so that few of one are neighbours ... */
    SMALL_BATCH = 8, /* ... unless that leaves fewer in each: then one by one */
    GRAIN = 16,
    SMOOTH_GRAIN = 4 /* smoothing a vertex costs several removals */
};

void kiln_set_add(kiln_remesher *remesher, kiln_u32_array *set, const uint32_t *tets, size_t count)
{
    if (kiln_array_reserve(remesher->context, set, set->count + count, NULL) != KILN_OK) {
        remesher->workspace.failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        set->data[set->count++] = tets[i];
}

/* Drops dead and repeated tets. */
static void tidy(kiln_remesher *remesher, kiln_u32_array *set)
{
    kiln_idset *seen = &remesher->workspace.walker.seen;
    if (kiln_idset_clear(remesher->context, seen, set->count, NULL) != KILN_OK) {
        remesher->workspace.failed = true;
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        uint32_t tet = set->data[i];
        kiln_idset_slot *slot = kiln_idset_at(seen, tet);
        if (slot->epoch == seen->epoch || !kiln_tet_live(remesher->mesh, tet))
            continue;
        kiln_idset_add(seen, slot, tet, 0);
        set->data[kept++] = tet;
    }
    set->count = kept;
}

void kiln_set_below(kiln_remesher *remesher, kiln_u32_array *set, double target, uint32_t since)
{
    const kiln_mesh *mesh = remesher->mesh;
    set->count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (remesher->quality.data[t] < target && mesh->info[t].changed >= since)
            kiln_set_add(remesher, set, &t, 1);
}

static void add_changed(kiln_remesher *remesher, kiln_u32_array *set)
{
    kiln_set_add(remesher, set, remesher->changed.data, remesher->changed.count);
}

static bool worth_trying(const kiln_remesher *remesher, uint32_t tet, double target)
{
    return remesher->quality.data[tet] < target &&
           !(remesher->mesh->info[tet].marks & KILN_MARK_LOCKED);
}

/* The first of an operator family's proposals for a tet. */
typedef bool (*propose_function)(const kiln_remesher *remesher, kiln_workspace *workspace,
                                 uint32_t tet, const kiln_pass_limits *limits, kiln_proposal *out);

static bool propose_flip(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                         const kiln_pass_limits *limits, kiln_proposal *out)
{
    (void)limits;
    for (int e = 0; e < 6; e++) {
        workspace->attempts[KILN_OP_EDGE_REMOVAL]++;
        if (kiln_edge_removal_propose(remesher, workspace, tet, kiln_edge_ends[e][0],
                                      kiln_edge_ends[e][1], out))
            return true;
    }
    for (uint32_t f = 0; f < 4; f++) {
        workspace->attempts[KILN_OP_FACE_REMOVAL]++;
        if (kiln_face_removal_propose(remesher, workspace, tet, f, out))
            return true;
    }
    return false;
}

/* The shortest edge of a tet, where it is much shorter than the others. */
static int short_edge(const kiln_remesher *remesher, uint32_t tet, double ratio)
{
    const kiln_vec3 *p = kiln_points_of_tet(remesher, tet);
    const uint32_t *v = remesher->mesh->tet[tet].v;
    double length[6], sum = 0.0;
    int shortest = 0;
    for (int e = 0; e < 6; e++) {
        length[e] =
            kiln_v3_norm(kiln_v3_sub(p[v[kiln_edge_ends[e][0]]], p[v[kiln_edge_ends[e][1]]]));
        sum += length[e];
        shortest = length[e] < length[shortest] ? e : shortest;
    }
    return length[shortest] < ratio * (sum - length[shortest]) / 5.0 ? shortest : -1;
}

/* Mean distance of a vertex to the others of its tets. */
static double mean_edge_at(const kiln_remesher *remesher, kiln_workspace *workspace,
                           uint32_t vertex)
{
    const kiln_vec3 *p = kiln_points_of_vertex(remesher, vertex);
    double sum = 0.0;
    if (kiln_star(remesher->mesh, vertex, &workspace->walker, NULL) != KILN_OK) {
        workspace->failed = true;
        return 0.0;
    }
    const kiln_u32_array *star = &workspace->walker.tets;
    for (size_t i = 0; i < star->count; i++)
        for (int k = 0; k < 4; k++)
            sum += kiln_v3_norm(kiln_v3_sub(p[remesher->mesh->tet[star->data[i]].v[k]], p[vertex]));
    return sum / (3.0 * (double)star->count);
}

/* Whether the shortest edge of a tet is short among those round it, not only beside a long one. */
static bool is_crowded(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                       double ratio)
{
    const kiln_vec3 *p = kiln_points_of_tet(remesher, tet);
    int e = short_edge(remesher, tet, ratio);
    if (e < 0)
        return false;
    const uint32_t *v = remesher->mesh->tet[tet].v;
    uint32_t a = v[kiln_edge_ends[e][0]], b = v[kiln_edge_ends[e][1]];
    double mean = fmin(mean_edge_at(remesher, workspace, a), mean_edge_at(remesher, workspace, b));
    return kiln_v3_norm(kiln_v3_sub(p[a], p[b])) < ratio * mean;
}

static bool propose_contraction(const kiln_remesher *remesher, kiln_workspace *workspace,
                                uint32_t tet, const kiln_pass_limits *pass, kiln_proposal *out)
{
    const kiln_contraction_limits limits = kiln_contraction_improving();
    if (pass->short_edge > 0.0 && !is_crowded(remesher, workspace, tet, pass->short_edge))
        return false;
    return kiln_contraction_propose(remesher, workspace, tet, &limits, out);
}

typedef struct tet_batch {
    const kiln_remesher *remesher;
    const uint32_t *tets;
    kiln_proposal *proposal;
    bool *found;
    const kiln_pass_limits *limits;
    propose_function propose;
} tet_batch;

static void propose_tets(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    tet_batch *batch = user;
    kiln_workspace *workspace = &batch->remesher->workers[worker];
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        batch->proposal[i] = (kiln_proposal){0};
        batch->found[i] = worth_trying(batch->remesher, batch->tets[i], batch->limits->target) &&
                          batch->propose(batch->remesher, workspace, batch->tets[i], batch->limits,
                                         &batch->proposal[i]);
    }
}

/* Proposes and applies at once. */
static bool change_tet(kiln_remesher *remesher, uint32_t tet, const kiln_pass_limits *limits,
                       propose_function propose)
{
    kiln_proposal proposal = {0};
    kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
    bool done = worth_trying(remesher, tet, limits->target) &&
                propose(remesher, &remesher->workspace, tet, limits, &proposal) &&
                kiln_remesher_apply(remesher, &proposal) == KILN_ACCEPTED;
    kiln_arena_release(&remesher->workspace.arena, scratch);
    remesher->successes[proposal.kind] += done;
    return done;
}

static bool change_batched(kiln_remesher *remesher, const tet_batch *batch, size_t i)
{
    if (!batch->found[i])
        return false;
    if (!kiln_proposal_fresh(remesher, &batch->proposal[i]))
        return change_tet(remesher, batch->tets[i], batch->limits, batch->propose);
    bool done = kiln_remesher_apply(remesher, &batch->proposal[i]) == KILN_ACCEPTED;
    remesher->successes[batch->proposal[i].kind] += done;
    return done;
}

static void gather_failures(kiln_remesher *remesher)
{
    for (int w = 0; w < remesher->context->threads; w++)
        remesher->workspace.failed |= remesher->workers[w].failed;
}

static void release_workers(kiln_remesher *remesher, kiln_arena_mark *mark)
{
    for (int w = 0; w < remesher->context->threads; w++)
        kiln_arena_release(&remesher->workers[w].arena, mark[w]);
    gather_failures(remesher);
}

static void mark_workers(const kiln_remesher *remesher, kiln_arena_mark *mark)
{
    for (int w = 0; w < remesher->context->threads; w++)
        mark[w] = kiln_arena_set_mark(&remesher->workers[w].arena);
}

/* What a change may be followed by, e.g. smoothing the vertex it made. */
typedef void (*follow_function)(kiln_remesher *remesher, kiln_u32_array *set);

static uint32_t run_batch(kiln_remesher *remesher, kiln_u32_array *set, size_t first, size_t count,
                          tet_batch *batch, follow_function follow)
{
    kiln_arena_mark mark[KILN_MAX_THREADS];
    uint32_t changes = 0;
    mark_workers(remesher, mark);
    batch->tets = set->data + first;
    kiln_parallel_for(remesher->context, count, GRAIN, propose_tets, batch);
    for (size_t i = 0; i < count; i++) {
        batch->tets = set->data + first; /* the set may have grown */
        if (!change_batched(remesher, batch, i))
            continue;
        add_changed(remesher, set);
        if (follow)
            follow(remesher, set);
        changes++;
    }
    release_workers(remesher, mark);
    return changes;
}

static uint32_t run_pass(kiln_remesher *remesher, kiln_u32_array *set,
                         const kiln_pass_limits *limits, propose_function propose,
                         follow_function follow)
{
    kiln_arena *arena = &remesher->workspace.arena;
    kiln_arena_mark scratch = kiln_arena_set_mark(arena);
    tet_batch batch = {.remesher = remesher,
                       .proposal = kiln_arena_array(arena, kiln_proposal, BATCH),
                       .found = kiln_arena_array(arena, bool, BATCH),
                       .limits = limits,
                       .propose = propose};
    bool room = batch.proposal && batch.found;
    uint32_t changes = 0;
    size_t at = 0;
    while (at < set->count) {
        size_t left = set->count - at, count = left < BATCH ? left : BATCH;
        if (room && left > SMALL_SET) {
            changes += run_batch(remesher, set, at, count, &batch, follow);
            at += count;
        } else if (change_tet(remesher, set->data[at++], limits, propose)) {
            add_changed(remesher, set);
            if (follow)
                follow(remesher, set);
            changes++;
        }
    }
    remesher->workspace.failed |= !room;
    kiln_arena_release(arena, scratch);
    tidy(remesher, set);
    return changes;
}

uint32_t kiln_flip_pass(kiln_remesher *remesher, kiln_u32_array *set,
                        const kiln_pass_limits *limits)
{
    return run_pass(remesher, set, limits, propose_flip, NULL);
}

static const kiln_pass_limits no_limits = {
    .target = INFINITY, .enough = INFINITY, .least = -INFINITY};

bool kiln_flip_tet(kiln_remesher *remesher, uint32_t tet)
{
    return change_tet(remesher, tet, &no_limits, propose_flip);
}

static bool smooth(kiln_remesher *remesher, uint32_t vertex, const kiln_pass_limits *limits)
{
    kiln_smoothing smoothing;
    kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
    bool done =
        kiln_smoothing_propose(remesher, &remesher->workspace, vertex, limits->enough, &smoothing);
    kiln_arena_release(&remesher->workspace.arena, scratch);
    done = done && kiln_remesher_move(remesher, vertex, &smoothing.place) == KILN_ACCEPTED;
    remesher->workspace.attempts[KILN_OP_SMOOTHING]++;
    remesher->successes[KILN_OP_SMOOTHING] += done;
    return done;
}

bool kiln_smooth_vertex(kiln_remesher *remesher, uint32_t vertex, double enough)
{
    const kiln_pass_limits limits = {.enough = enough, .least = -INFINITY};
    return smooth(remesher, vertex, &limits);
}

static bool propose_thinning(const kiln_remesher *remesher, kiln_workspace *workspace, uint32_t tet,
                             const kiln_pass_limits *pass, kiln_proposal *out)
{
    const kiln_contraction_limits limits = kiln_contraction_improving();
    int e = short_edge(remesher, tet, pass->ratio);
    if (e < 0)
        return false;
    workspace->attempts[KILN_OP_EDGE_CONTRACTION]++;
    return kiln_edge_contraction_propose(remesher, workspace, tet, kiln_edge_ends[e][0],
                                         kiln_edge_ends[e][1], &limits, out);
}

/* What a contraction has left round its vertex is put right by smoothing it (DLR Listing 1), as far
 * as that gains whatever the contraction was for. */
static void smooth_made(kiln_remesher *remesher, kiln_u32_array *set)
{
    const kiln_judge office = remesher->judge;
    uint32_t vertex = remesher->vertex_made;
    remesher->judge = kiln_remesher_judge(remesher);
    if (vertex != KILN_NONE && smooth(remesher, vertex, &no_limits))
        add_changed(remesher, set);
    remesher->judge = office;
}

/* The judge in office asks for no less than `least`. Returns what it was, to be put back. */
static kiln_judge raise_least(kiln_remesher *remesher, double least)
{
    kiln_judge office = remesher->judge;
    remesher->judge.least = fmax(office.least, least);
    return office;
}

uint32_t kiln_thin_pass(kiln_remesher *remesher, kiln_u32_array *set, double ratio, double least)
{
    const kiln_pass_limits limits = {.target = INFINITY, .ratio = ratio};
    const kiln_judge office = raise_least(remesher, least);
    remesher->judge.gain = -INFINITY;
    remesher->judge.edge[0] = 0.0;
    remesher->judge.edge[1] = INFINITY;
    uint32_t changes = run_pass(remesher, set, &limits, propose_thinning, smooth_made);
    remesher->judge = office;
    return changes;
}

uint32_t kiln_contract_pass(kiln_remesher *remesher, kiln_u32_array *set,
                            const kiln_pass_limits *limits)
{
    const kiln_judge office = raise_least(remesher, limits->least);
    uint32_t changes = run_pass(remesher, set, limits, propose_contraction, smooth_made);
    remesher->judge = office;
    return changes;
}

/* The movable vertices of the set's tets below `target`, each once, in memory of the arena. */
static uint32_t *vertices_of(kiln_remesher *remesher, const kiln_u32_array *set, double target,
                             size_t *count)
{
    kiln_idset *seen = &remesher->workspace.walker.seen;
    uint32_t *vertices = kiln_arena_array(&remesher->workspace.arena, uint32_t, 4 * set->count);
    *count = 0;
    if (!vertices || kiln_idset_clear(remesher->context, seen, 4 * set->count, NULL) != KILN_OK) {
        remesher->workspace.failed = true;
        return NULL;
    }
    for (size_t i = 0; i < set->count; i++)
        for (int k = 0; k < 4 && worth_trying(remesher, set->data[i], target); k++) {
            uint32_t vertex = remesher->mesh->tet[set->data[i]].v[k];
            kiln_idset_slot *slot = kiln_idset_at(seen, vertex);
            if (slot->epoch == seen->epoch)
                continue;
            kiln_idset_add(seen, slot, vertex, 0);
            if (remesher->side.data[vertex].freedom != KILN_FIXED)
                vertices[(*count)++] = vertex;
        }
    return vertices;
}

typedef struct vertex_batch {
    const kiln_remesher *remesher;
    const uint32_t *vertices;
    size_t count, stride; /* vertices in all, and of one batch */
    kiln_smoothing *smoothing;
    bool *found;
    size_t first;
    const kiln_pass_limits *limits;
} vertex_batch;

/* Vertices of one batch are taken from all over the list, so that few of them are neighbours. */
static uint32_t nth_vertex(const vertex_batch *batch, size_t n)
{
    size_t columns = batch->stride, rows = (batch->count + columns - 1) / columns;
    size_t column = n % columns, row = n / columns, at = column * rows + row;
    return at < batch->count ? batch->vertices[at] : KILN_NONE;
}

static void propose_vertices(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    vertex_batch *batch = user;
    kiln_workspace *workspace = &batch->remesher->workers[worker];
    (void)chunk;
    for (size_t i = begin; i < end; i++) {
        uint32_t vertex = nth_vertex(batch, batch->first + i);
        kiln_arena_mark scratch = kiln_arena_set_mark(&workspace->arena);
        batch->found[i] = vertex != KILN_NONE &&
                          kiln_smoothing_propose(batch->remesher, workspace, vertex,
                                                 batch->limits->enough, &batch->smoothing[i]);
        workspace->attempts[KILN_OP_SMOOTHING] += vertex != KILN_NONE;
        kiln_arena_release(&workspace->arena, scratch);
    }
}

/* Whether the star of a vertex is as it was when a place was proposed for it. */
static bool star_is_fresh(kiln_remesher *remesher, uint32_t vertex, uint32_t stamp)
{
    kiln_walker *walker = &remesher->workspace.walker;
    if (kiln_star(remesher->mesh, vertex, walker, NULL) != KILN_OK)
        return false;
    for (size_t i = 0; i < walker->tets.count; i++)
        if (remesher->mesh->info[walker->tets.data[i]].changed > stamp)
            return false;
    return true;
}

static bool move_batched(kiln_remesher *remesher, const vertex_batch *batch, size_t i)
{
    if (!batch->found[i])
        return false;
    uint32_t vertex = nth_vertex(batch, batch->first + i);
    if (!star_is_fresh(remesher, vertex, batch->smoothing[i].stamp))
        return smooth(remesher, vertex, batch->limits);
    bool done = kiln_remesher_move(remesher, vertex, &batch->smoothing[i].place) == KILN_ACCEPTED;
    remesher->successes[KILN_OP_SMOOTHING] += done;
    return done;
}

static uint32_t smooth_batches(kiln_remesher *remesher, kiln_u32_array *set, vertex_batch *batch)
{
    uint32_t changes = 0;
    size_t rows = (batch->count + batch->stride - 1) / batch->stride;
    for (size_t row = 0; row < rows; row++) {
        batch->first = row * batch->stride;
        kiln_parallel_for(remesher->context, batch->stride, SMOOTH_GRAIN, propose_vertices, batch);
        for (size_t i = 0; i < batch->stride; i++)
            if (move_batched(remesher, batch, i)) {
                add_changed(remesher, set);
                changes++;
            }
    }
    gather_failures(remesher);
    return changes;
}

uint32_t kiln_smooth_pass(kiln_remesher *remesher, kiln_u32_array *set,
                          const kiln_pass_limits *limits)
{
    kiln_arena *arena = &remesher->workspace.arena;
    kiln_arena_mark scratch = kiln_arena_set_mark(arena);
    vertex_batch batch = {.remesher = remesher, .limits = limits};
    const kiln_judge office = raise_least(remesher, limits->least);
    uint32_t changes = 0;
    batch.vertices = vertices_of(remesher, set, limits->target, &batch.count);
    batch.stride = batch.count / BATCHES < BATCH ? batch.count / BATCHES : BATCH;
    if (batch.stride >= SMALL_BATCH) {
        batch.smoothing = kiln_arena_array(arena, kiln_smoothing, batch.stride);
        batch.found = kiln_arena_array(arena, bool, batch.stride);
    }
    if (batch.smoothing && batch.found)
        changes = smooth_batches(remesher, set, &batch);
    else
        for (size_t i = 0; i < batch.count; i++)
            if (smooth(remesher, batch.vertices[i], limits)) {
                add_changed(remesher, set);
                changes++;
            }
    remesher->judge = office;
    kiln_arena_release(arena, scratch);
    tidy(remesher, set);
    return changes;
}

typedef struct ranked_tet {
    double quality;
    uint32_t tet;
} ranked_tet;

static int by_quality(const void *a, const void *b)
{
    const ranked_tet *p = a, *q = b;
    return p->quality != q->quality ? (p->quality > q->quality) - (p->quality < q->quality)
                                    : (p->tet > q->tet) - (p->tet < q->tet);
}

/* The tets of a set below the target, worst first, in memory of the arena. */
static ranked_tet *rank(kiln_remesher *remesher, const kiln_u32_array *set, double target,
                        size_t *count)
{
    ranked_tet *ranked = kiln_arena_array(&remesher->workspace.arena, ranked_tet, set->count);
    remesher->workspace.failed |= !ranked;
    *count = 0;
    for (size_t i = 0; ranked && i < set->count; i++)
        if (worth_trying(remesher, set->data[i], target))
            ranked[(*count)++] = (ranked_tet){remesher->quality.data[set->data[i]], set->data[i]};
    if (*count > 0)
        qsort(ranked, *count, sizeof *ranked, by_quality);
    return ranked;
}

void kiln_set_rank(kiln_remesher *remesher, kiln_u32_array *set)
{
    size_t count;
    kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
    const ranked_tet *ranked = rank(remesher, set, INFINITY, &count);
    set->count = ranked ? count : set->count;
    for (size_t i = 0; i < count; i++)
        set->data[i] = ranked[i].tet;
    kiln_arena_release(&remesher->workspace.arena, scratch);
}

uint32_t kiln_insert_pass(kiln_remesher *remesher, kiln_u32_array *set,
                          const kiln_pass_limits *limits, const kiln_insertion_effort *effort)
{
    uint32_t changes = 0;
    size_t count;
    kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
    const ranked_tet *ranked = rank(remesher, set, limits->target, &count);
    for (size_t i = 0; i < count && !kiln_remesher_is_spent(remesher); i++) {
        /* A tet that changed meanwhile was dealt with by the insertion that changed it. */
        if (remesher->quality.data[ranked[i].tet] != ranked[i].quality)
            continue;
        bool done = kiln_insertion_compound(remesher, ranked[i].tet, effort);
        remesher->workspace.attempts[KILN_OP_INSERTION]++;
        remesher->successes[KILN_OP_INSERTION] += done;
        if (done)
            add_changed(remesher, set);
        changes += done;
    }
    kiln_arena_release(&remesher->workspace.arena, scratch);
    tidy(remesher, set);
    return changes;
}

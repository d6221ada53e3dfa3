#include "remesh/size_control.h"

#include "remesh/contract.h"
#include "remesh/edge_removal.h"
#include "remesh/insert.h"
#include "remesh/passes.h"
#include "remesh/sizing.h"
#include "remesh/space.h"
#include "remesh/tried.h"

#include <stdlib.h>

/* Of the shortest length, down to which an edge may wait. */
static const double SPARED = 0.8;

/* An edge to be split or contracted: shortest first, or longest first by the negative length. */
typedef struct queued_edge {
    double key;
    uint32_t a, b; /* a < b */
    uint32_t tet;  /* had it when it was queued */
} queued_edge;

typedef struct size_work {
    kiln_remesher *remesher;
    const kiln_size_options *options;
    kiln_size_report *report;
    KILN_ARRAY_OF(queued_edge)
    queue; /* sorted, or a heap while splitting */
    KILN_ARRAY_OF(uint8_t)
    born;                     /* [vertex] made in this call (S2) */
    kiln_u32_array failed[2]; /* [kiln_size_change] ends of edges it failed for; with `wait` */
    kiln_status status;
    kiln_error *error;
} size_work;

kiln_size_options kiln_size_default_options(void)
{
    return (kiln_size_options){.longest = sqrt(2.0),
                               .shortest = sqrt(0.5),
                               .split_floor = 0.70,
                               .contract_ceiling = 1.3,
                               .worst = 0.05,
                               .sweeps = 3,
                               .enough = 0.01,
                               .surface = 0.15};
}

/* The length of an edge in the metrics of its ends; where the field has functions that are asked
 * directly, that of its two halves, so that what lies between the ends counts. */
static double edge_length(const kiln_remesher *remesher, uint32_t a, uint32_t b)
{
    const kiln_vec3 *p = kiln_points_of_edge(remesher, a, b);
    const kiln_sym3 *metric = remesher->metric.data, *at_a = &metric[a], *at_b = &metric[b];
    kiln_vec3 e = kiln_v3_sub(p[b], p[a]);
    double length = kiln_metric_edge_length(at_a, at_b, e);
    if (!kiln_sizing_is_direct(remesher->options.sizing))
        return length;
    uint32_t hint = remesher->side.data[a].hint;
    kiln_sym3 middle =
        kiln_sizing_at(remesher->options.sizing, kiln_v3_lerp(p[a], p[b], 0.5), &hint);
    return 0.5 *
           (kiln_metric_edge_length(at_a, &middle, e) + kiln_metric_edge_length(&middle, at_b, e));
}

static int compare(const void *x, const void *y)
{
    const queued_edge *p = x, *q = y;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    if (p->b != q->b)
        return p->b < q->b ? -1 : 1;
    return p->tet == q->tet ? 0 : p->tet < q->tet ? -1 : 1;
}

static bool same_edge(const queued_edge *p, const queued_edge *q)
{
    return p->a == q->a && p->b == q->b;
}

static bool note(size_work *w, double key, uint32_t a, uint32_t b, uint32_t tet)
{
    queued_edge edge = {key, a < b ? a : b, a < b ? b : a, tet};
    w->status = kiln_array_push(w->remesher->context, &w->queue, edge, w->error);
    return w->status == KILN_OK;
}

/* A live tet that has both vertices; KILN_NONE when the edge is gone. */
static uint32_t find_edge(size_work *w, const queued_edge *edge)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    uint32_t t = edge->tet;
    if (kiln_tet_live(mesh, t) && kiln_tet_corner(&mesh->tet[t], edge->a) < 4 &&
        kiln_tet_corner(&mesh->tet[t], edge->b) < 4)
        return t;
    if (!kiln_vertex_live(mesh, edge->a) || !kiln_vertex_live(mesh, edge->b))
        return KILN_NONE;
    kiln_walker *walker = &w->remesher->workspace.walker;
    w->status = kiln_edge_tets(mesh, edge->a, edge->b, walker, w->error);
    return w->status == KILN_OK && walker->tets.count ? walker->tets.data[0] : KILN_NONE;
}

static bool has_flowed(const size_work *w, uint32_t vertex)
{
    return kiln_remesher_flowed(w->remesher, vertex) >= w->options->flowed;
}

/* Edges beyond a bound, each once, in order of key. sense +1: shorter than the bound, -1: longer.
 */
static kiln_status collect(size_work *w, double bound, double sense)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    w->queue.count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        for (int k = 0; k < 6; k++) {
            uint32_t a = v[kiln_edge_ends[k][0]], b = v[kiln_edge_ends[k][1]];
            double key = sense * edge_length(w->remesher, a < b ? a : b, a < b ? b : a);
            if (key < sense * bound && has_flowed(w, a) && has_flowed(w, b) &&
                !note(w, key, a, b, t))
                return w->status;
        }
    }
    if (w->queue.count > 0)
        qsort(w->queue.data, w->queue.count, sizeof *w->queue.data, compare);
    size_t kept = 0;
    for (size_t i = 0; i < w->queue.count; i++)
        if (kept == 0 || !same_edge(&w->queue.data[kept - 1], &w->queue.data[i]))
            w->queue.data[kept++] = w->queue.data[i];
    w->queue.count = kept;
    return KILN_OK;
}

/* Number of edges, by Euler's formula up to the characteristic of the domain. */
static double edge_count(const kiln_mesh *mesh)
{
    return mesh->table[KILN_ON_VERTEX].live + mesh->table[KILN_ON_TET].live +
           0.5 * mesh->table[KILN_ON_FACE].live;
}

static bool is_born(const size_work *w, uint32_t vertex)
{
    return vertex < w->born.count && w->born.data[vertex];
}

static void note_birth(size_work *w, uint32_t vertex)
{
    w->status = kiln_array_reserve(w->remesher->context, &w->born, vertex + 1, w->error);
    if (w->status != KILN_OK)
        return;
    while (w->born.count <= vertex)
        w->born.data[w->born.count++] = 0;
    w->born.data[vertex] = 1;
}

kiln_size_wait *kiln_size_waits(const kiln_mesh *mesh, const kiln_size_options *options)
{
    const char *name = options->wait;
    kiln_field *field = name ? kiln_mesh_field(mesh, KILN_ON_VERTEX, name) : NULL;
    return field ? (kiln_size_wait *)(void *)field->data : NULL;
}

void kiln_size_pass_time(kiln_mesh *mesh, const kiln_size_options *options)
{
    kiln_size_wait *wait = kiln_size_waits(mesh, options);
    for (uint32_t v = 0; wait && v < mesh->table[KILN_ON_VERTEX].used; v++)
        for (int change = 0; change < 2; change++)
            wait[v][change] -= wait[v][change] > 0;
}

static bool is_waiting(const size_work *w, kiln_size_change change, uint32_t a, uint32_t b)
{
    const kiln_size_wait *wait = kiln_size_waits(w->remesher->mesh, w->options);
    const kiln_tried *tried = kiln_tried_of(w->remesher->mesh, w->options->tried);
    return (wait && wait[a][change] > 0 && wait[b][change] > 0) ||
           kiln_tried_enough(tried, KILN_TRIED_SIZE, (const uint32_t[]){a, b}, 2);
}

static void note_failure(size_work *w, kiln_size_change change, const queued_edge *edge)
{
    kiln_u32_array *failed = &w->failed[change];
    if (!w->options->wait || w->status != KILN_OK)
        return;
    w->status = kiln_array_push(w->remesher->context, failed, edge->a, w->error);
    if (w->status == KILN_OK)
        w->status = kiln_array_push(w->remesher->context, failed, edge->b, w->error);
}

static void begin_waiting(size_work *w, kiln_size_change change)
{
    kiln_size_wait *wait = kiln_size_waits(w->remesher->mesh, w->options);
    const kiln_u32_array *failed = &w->failed[change];
    for (size_t i = 0; wait && i < failed->count; i++)
        if (kiln_vertex_live(w->remesher->mesh, failed->data[i]))
            wait[failed->data[i]][change] = KILN_SIZE_WAIT;
}

/* Worst quality of the tets at either end. */
static double worst_of_stars(size_work *w, uint32_t a, uint32_t b)
{
    kiln_walker *walker = &w->remesher->workspace.walker;
    double worst = INFINITY;
    for (int end = 0; end < 2 && w->status == KILN_OK; end++) {
        w->status = kiln_star(w->remesher->mesh, end ? b : a, walker, w->error);
        double q = kiln_remesher_worst(w->remesher, walker->tets.data, walker->tets.count);
        worst = q < worst ? q : worst;
    }
    return worst;
}

static bool apply(size_work *w, const kiln_proposal *proposal)
{
    return kiln_remesher_apply(w->remesher, proposal) == KILN_ACCEPTED;
}

/* False when memory has run out, here or in a proposal, or nobody waits for it any more. */
static bool goes_on(size_work *w)
{
    if (w->status == KILN_OK)
        w->status = kiln_may_go_on(w->remesher->context, w->error);
    if (w->status == KILN_OK && w->remesher->workspace.failed)
        w->status = kiln_fail_memory(w->error, 0);
    return w->status == KILN_OK;
}

/* The judge in office with the figures of a size change: no gain, but nothing at or below `worst`.
 */
static void instruct(size_work *w, double worst, double shortest, double longest)
{
    kiln_judge *judge = &w->remesher->judge;
    judge->gain = -INFINITY;
    judge->least = worst;
    judge->edge[0] = shortest;
    judge->edge[1] = longest;
    judge->strict = shortest > 0.0;
}

static bool try_contraction(size_work *w, const queued_edge *edge, uint32_t tet)
{
    kiln_remesher *r = w->remesher;
    const kiln_tet *record = &r->mesh->tet[tet];
    const kiln_contraction_limits limits = {.surface = w->options->surface};
    kiln_proposal proposal;
    uint32_t a = kiln_tet_corner(record, edge->a), b = kiln_tet_corner(record, edge->b);
    instruct(w, w->options->worst, 0.0, w->options->contract_ceiling);
    bool found = kiln_edge_contraction_propose(r, &r->workspace, tet, a, b, &limits, &proposal);
    if (!found && !r->workspace.failed) {
        double worst = worst_of_stars(w, edge->a, edge->b);
        if (worst >= w->options->worst || w->status != KILN_OK)
            return false;
        r->judge.least = worst > 0.0 ? worst : 0.0;
        found = kiln_edge_contraction_propose(r, &r->workspace, tet, a, b, &limits, &proposal);
    }
    return found && apply(w, &proposal);
}

static kiln_vec3 way_of(const kiln_size_options *options, uint32_t v)
{
    return v < options->ways ? options->way[v] : kiln_v3(0, 0, 0);
}

bool kiln_size_may_wait(const kiln_mesh *mesh, const kiln_size_options *options, uint32_t a,
                        uint32_t b, double length)
{
    double least = SPARED * options->shortest;
    if (!options->way || length < least)
        return false;
    kiln_vec3 now = kiln_v3_sub(mesh->x[b], mesh->x[a]);
    kiln_vec3 then = kiln_v3_add(now, kiln_v3_sub(way_of(options, b), way_of(options, a)));
    return length * kiln_v3_norm(then) >= least * kiln_v3_norm(now);
}

/* Shortest first. Edges that contractions make are looked at in the next sweep. */
static kiln_status contract_sweep(size_work *w, size_t *changes)
{
    kiln_remesher *r = w->remesher;
    KILN_TRY(collect(w, w->options->shortest, 1.0));
    for (size_t i = 0; i < w->queue.count && goes_on(w); i++) {
        const queued_edge *edge = &w->queue.data[i];
        if (is_born(w, edge->a) || is_born(w, edge->b) ||
            is_waiting(w, KILN_SIZE_CONTRACT, edge->a, edge->b))
            continue;
        uint32_t tet = find_edge(w, edge);
        if (tet == KILN_NONE || edge_length(r, edge->a, edge->b) >= w->options->shortest ||
            kiln_size_may_wait(r->mesh, w->options, edge->a, edge->b,
                               edge_length(r, edge->a, edge->b)))
            continue;
        kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
        w->report->contract_attempts++;
        if (try_contraction(w, edge, tet)) {
            w->report->contractions++;
            ++*changes;
        } else {
            note_failure(w, KILN_SIZE_CONTRACT, edge);
        }
        kiln_arena_release(&r->workspace.arena, mark);
    }
    return goes_on(w) ? KILN_OK : w->status;
}

static void sift_up(queued_edge *heap, size_t i)
{
    while (i > 0 && compare(&heap[i], &heap[(i - 1) / 2]) < 0) {
        queued_edge swap = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = swap;
        i = (i - 1) / 2;
    }
}

static queued_edge pop(size_work *w)
{
    queued_edge *heap = w->queue.data, top = heap[0];
    size_t count = --w->queue.count, i = 0;
    heap[0] = heap[count];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= count)
            return top;
        if (child + 1 < count && compare(&heap[child + 1], &heap[child]) < 0)
            child++;
        if (compare(&heap[i], &heap[child]) <= 0)
            return top;
        queued_edge swap = heap[i];
        heap[i] = heap[child];
        heap[child] = swap;
        i = child;
    }
}

/* Is an edge of a proposal one of the tets that go? */
static bool was_there(const kiln_mesh *mesh, const kiln_proposal *p, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < p->old_count; i++)
        if (kiln_tet_corner(&mesh->tet[p->old[i]], a) < 4 &&
            kiln_tet_corner(&mesh->tet[p->old[i]], b) < 4)
            return true;
    return false;
}

/* Whether all edges that a proposal makes fit, or are much shorter than the one it takes out. A
 * diagonal that is exchanged for another of the same length is no gain: in a run what the exchange
 * does to the forces would soon make the old one look better, and so on for ever. */
static bool shortens(const size_work *w, const kiln_proposal *p, double length)
{
    static const double MUCH = 0.9;
    const kiln_remesher *r = w->remesher;
    double bound = fmax(MUCH * length, w->options->longest);
    for (uint32_t i = 0; i < p->fresh_count; i++)
        for (int k = 0; k < 6; k++) {
            const uint32_t *v = p->fresh[i].v;
            uint32_t a = v[kiln_edge_ends[k][0]], b = v[kiln_edge_ends[k][1]];
            if (kiln_remesher_edge_length(r, NULL, a, b) > bound && !was_there(r->mesh, p, a, b))
                return false;
        }
    return true;
}

/* A long edge whose middle is too close to another vertex is better taken out, where that makes the
 * tets better and what comes in its place is shorter. */
static bool try_removal(size_work *w, const queued_edge *edge, uint32_t tet,
                        const uint32_t corner[2])
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    r->judge = kiln_remesher_judge(r);
    r->judge.edge[0] = w->options->split_floor;
    r->judge.edge[1] = w->options->longest;
    return kiln_edge_removal_propose(r, &r->workspace, tet, corner[0], corner[1], &proposal) &&
           shortens(w, &proposal, edge_length(r, edge->a, edge->b)) && apply(w, &proposal);
}

/* With a cavity chosen by quality, where that fails the bare split. Every cavity joins the new
 * vertex to all that the bare split does, so that tells at once where an edge would be too short.
 */
static bool try_split(size_work *w, const queued_edge *edge, uint32_t tet)
{
    kiln_remesher *r = w->remesher;
    const kiln_tet *record = &r->mesh->tet[tet];
    const uint32_t corner[2] = {kiln_tet_corner(record, edge->a), kiln_tet_corner(record, edge->b)};
    const kiln_insertion_limits limits = {.depth = 3};
    kiln_proposal bare, best;
    instruct(w, -INFINITY, w->options->split_floor, INFINITY);
    if (!kiln_split_propose(r, &r->workspace, tet, corner, 2, &bare))
        return try_removal(w, edge, tet, corner);
    r->judge.least = bare.before < w->options->worst ? bare.before : w->options->worst;
    if (kiln_insertion_propose(r, &r->workspace, tet, corner, 2, &limits, &best) && apply(w, &best))
        return true;
    return w->status == KILN_OK && kiln_judge_figures(r, &bare) && apply(w, &bare);
}

/* Queues the long edges of the tets just made. */
static void queue_made(size_work *w)
{
    const kiln_remesher *r = w->remesher;
    for (size_t i = 0; i < r->changed.count && w->status == KILN_OK; i++) {
        uint32_t t = r->changed.data[i];
        const uint32_t *v = r->mesh->tet[t].v;
        for (int k = 0; k < 6; k++) {
            uint32_t a = v[kiln_edge_ends[k][0]], b = v[kiln_edge_ends[k][1]];
            double length = edge_length(r, a < b ? a : b, a < b ? b : a);
            if (length > w->options->longest && note(w, -length, a, b, t))
                sift_up(w->queue.data, w->queue.count - 1);
        }
    }
}

/* Longest first; the halves of very long edges come back to the queue. */
static kiln_status split_sweep(size_work *w, size_t *changes)
{
    kiln_remesher *r = w->remesher;
    queued_edge last = {.a = KILN_NONE, .b = KILN_NONE};
    KILN_TRY(collect(w, w->options->longest, -1.0)); /* in order: a heap */
    while (w->queue.count > 0 && goes_on(w)) {
        queued_edge edge = pop(w);
        size_t tets = r->mesh->table[KILN_ON_TET].live;
        if (w->options->most_tets && tets >= w->options->most_tets)
            break;
        if (is_waiting(w, KILN_SIZE_SPLIT, edge.a, edge.b))
            continue;
        uint32_t tet = same_edge(&edge, &last) ? KILN_NONE : find_edge(w, &edge);
        if (tet == KILN_NONE || edge_length(r, edge.a, edge.b) <= w->options->longest)
            continue;
        last = edge;
        kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
        w->report->split_attempts++;
        if (try_split(w, &edge, tet)) {
            bool split = r->vertex_made != KILN_NONE;
            w->report->splits += split;
            w->report->removals += !split;
            ++*changes;
            if (split)
                note_birth(w, r->vertex_made);
            queue_made(w);
        } else {
            note_failure(w, KILN_SIZE_SPLIT, &edge);
        }
        kiln_arena_release(&r->workspace.arena, mark);
    }
    return goes_on(w) ? KILN_OK : w->status;
}

static kiln_status run_sweeps(size_work *w)
{
    const kiln_size_options *options = w->options;
    for (uint32_t sweep = 0; sweep < options->sweeps; sweep++) {
        size_t changes = 0;
        KILN_TRY(contract_sweep(w, &changes));
        KILN_TRY(split_sweep(w, &changes));
        w->report->sweeps = sweep + 1;
        if ((double)changes <= options->enough * edge_count(w->remesher->mesh))
            break;
    }
    return KILN_OK;
}

kiln_status kiln_size_control(kiln_remesher *remesher, const kiln_size_options *options,
                              kiln_size_report *report, kiln_error *error)
{
    kiln_size_options usual = kiln_size_default_options();
    kiln_size_report own;
    size_work w = {.remesher = remesher,
                   .options = options ? options : &usual,
                   .report = report ? report : &own,
                   .status = KILN_OK,
                   .error = error};
    *w.report = (kiln_size_report){0};
    if (!remesher->options.sizing)
        return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1, "size control needs a sizing field");
    const kiln_judge office = remesher->judge;
    kiln_size_pass_time(remesher->mesh, w.options);
    kiln_status status = run_sweeps(&w);
    begin_waiting(&w, KILN_SIZE_CONTRACT);
    begin_waiting(&w, KILN_SIZE_SPLIT);
    remesher->judge = office;
    w.report->edges = edge_count(remesher->mesh);
    kiln_array_free(remesher->context, &w.queue);
    kiln_array_free(remesher->context, &w.born);
    kiln_array_free(remesher->context, &w.failed[0]);
    kiln_array_free(remesher->context, &w.failed[1]);
    return status;
}

/* Is this tet the lowest of those that have the edge of its two corners? */
static bool is_lowest(const kiln_mesh *mesh, uint32_t tet, uint32_t a, uint32_t b)
{
    enum { ROOM = 256 };
    uint32_t ring[ROOM];
    kiln_ring shape = kiln_edge_ring(mesh, tet, a, b, ring, ROOM);
    for (uint32_t i = 0; i < shape.count && i < ROOM; i++)
        if (ring[i] / 4 < tet)
            return false;
    return true;
}

void kiln_size_survey(const kiln_remesher *remesher, const kiln_size_options *options,
                      kiln_edge_survey *survey)
{
    const kiln_mesh *mesh = remesher->mesh;
    double sum = 0.0;
    *survey = (kiln_edge_survey){.least = INFINITY};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 6; k++) {
            uint32_t i = kiln_edge_ends[k][0], j = kiln_edge_ends[k][1];
            if (!is_lowest(mesh, t, i, j))
                continue;
            double l = edge_length(remesher, mesh->tet[t].v[i], mesh->tet[t].v[j]);
            survey->edges++;
            survey->too_long += l > options->longest;
            survey->too_short += l < options->shortest;
            survey->fitting += l >= 0.6 && l <= 1.7;
            survey->least = l < survey->least ? l : survey->least;
            survey->most = l > survey->most ? l : survey->most;
            sum += log(l);
        }
    }
    survey->mean = survey->edges ? exp(sum / (double)survey->edges) : 0.0;
}

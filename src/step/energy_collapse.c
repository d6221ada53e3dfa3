/* Collapses: what splits have made goes again where it gains nothing any more. A vertex goes to the
 * place of the neighbour from which its star is filled with the least energy: that undoes a split,
 * whatever has been flipped and moved round it since. */
#include "base/parallel.h"
#include "remesh/contract.h"
#include "step/energy_impl.h"

#include <math.h>

enum { GRAIN = 64, STAR_ROOM = 128 };
/* Of the edges of the start: matter is not meshed coarser than it began. */
#define SMALL 0.6
/* Times what a collapse may cost: what costs more before anything has moved is not tried. */
#define HOPE 4.0

/* What leaves the surface where it is, exactly. */
static const kiln_contraction_limits limits = {.surface = 1.0, .goes = true};

/* A vertex that may go, and its tets. */
typedef struct leaver {
    uint32_t vertex, tet[STAR_ROOM], corner[STAR_ROOM]; /* its corner there */
    uint32_t count;
    double before;     /* J, of the tets, */
    double begin;      /* and what they store at the step's begin */
    double shape, end; /* the worst of them, in the material and at the end of the step */
    uint32_t to[STAR_ROOM];
    double cost[STAR_ROOM]; /* J, of going there, before anything has moved */
    uint32_t ways;
} leaver;

/* J, of a vertex that is worth a try. */
static double most_of(const kiln_energy_pass *w)
{
    return HOPE * w->options->collapse;
}

static const double *sizes_of(const kiln_energy_pass *w)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, w->options->sizes);
    return (const double *)(const void *)field->data;
}

static bool is_small(const kiln_mesh *mesh, const double *size, uint32_t a, uint32_t b)
{
    double length = kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b]));
    return length < SMALL * fmin(size[a], size[b]);
}

/* Holds are of places: only what is held alike may become one. */
static bool is_held_alike(const kiln_energy_pass *w, uint32_t a, uint32_t b)
{
    return kiln_tie_is_same(kiln_objective_tie(w->objective, a),
                            kiln_objective_tie(w->objective, b));
}

/* What is on a wall or a curve stays there. */
static bool is_on_same(const kiln_mesh *mesh, uint32_t vertex, uint32_t other)
{
    uint32_t on = mesh->vertex[vertex].flags &
                  (KILN_VERTEX_SURFACE | KILN_VERTEX_INTERFACE | KILN_VERTEX_FEATURE);
    return (mesh->vertex[other].flags & on) == on;
}

static void list_ways(const kiln_energy_pass *w, leaver *l)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    const double *size = sizes_of(w);
    l->ways = 0;
    for (uint32_t i = 0; i < 4 * l->count && l->ways < STAR_ROOM; i++) {
        uint32_t other = mesh->tet[l->tet[i / 4]].v[i % 4], known = 0;
        while (known < l->ways && l->to[known] != other)
            known++;
        if (known == l->ways && other != l->vertex && is_small(mesh, size, l->vertex, other) &&
            is_on_same(mesh, l->vertex, other) && is_held_alike(w, l->vertex, other))
            l->to[l->ways++] = other;
    }
}

/* Whether the vertex may go at all; no costs yet. */
static bool gather(const kiln_energy_pass *w, kiln_walker *walker, uint32_t vertex, leaver *l)
{
    const kiln_remesher *r = w->remesher;
    const kiln_mesh *mesh = r->mesh;
    if (!kiln_vertex_live(mesh, vertex) ||
        mesh->vertex[vertex].flags & (KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER) ||
        r->side.data[vertex].freedom == KILN_FIXED ||
        kiln_star(mesh, vertex, walker, NULL) != KILN_OK || walker->tets.count > STAR_ROOM)
        return false;
    l->vertex = vertex;
    l->count = (uint32_t)walker->tets.count;
    for (uint32_t i = 0; i < l->count; i++) {
        l->tet[i] = walker->tets.data[i];
        l->corner[i] = kiln_tet_corner(&mesh->tet[l->tet[i]], vertex);
    }
    list_ways(w, l);
    return l->ways > 0;
}

/* E2, and the shapes that the judge will ask for. */
static bool is_legal(const kiln_energy_pass *w, const leaver *l, const uint32_t v[4], uint32_t of)
{
    const kiln_remesher *r = w->remesher;
    const kiln_vec3 *x = w->objective->end;
    kiln_space space = kiln_remesher_space(r, of);
    double score = kiln_remesher_score_in(r, space, NULL, v);
    if (!(score > 0.0) || !kiln_energy_keeps_shape(w, l->shape, score) ||
        !kiln_remesher_valid_elsewhere(r, space, NULL, v))
        return false;
    double end = kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]);
    return end > 0.0 && kiln_energy_ends_well(w, l->end, end);
}

/* J, with the star filled from one of its vertices; INFINITY: it cannot be. */
static double cost_of(const kiln_energy_pass *w, kiln_walker *walker, const leaver *l, uint32_t to)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    uint32_t old[STAR_ROOM];
    kiln_new_tet fresh[STAR_ROOM];
    kiln_proposal proposal = {.old = old, .old_count = l->count, .fresh = fresh};
    double drag;
    for (uint32_t i = 0; i < l->count; i++) {
        const kiln_tet *tet = &mesh->tet[l->tet[i]];
        kiln_new_tet *next = &fresh[proposal.fresh_count];
        old[i] = l->tet[i];
        if (kiln_tet_corner(tet, to) < 4)
            continue;
        *next = (kiln_new_tet){.v = {tet->v[0], tet->v[1], tet->v[2], tet->v[3]},
                               .parent = l->tet[i],
                               .slot = KILN_NONE};
        next->v[l->corner[i]] = to;
        if (!is_legal(w, l, next->v, l->tet[i]))
            return INFINITY;
        proposal.fresh_count++;
    }
    double cost = -kiln_energy_gain(w->objective, walker, &proposal, l->before, -most_of(w), &drag);
    if (!(cost < most_of(w)))
        return cost;
    double rise = kiln_energy_begin(w->objective, fresh, proposal.fresh_count) - l->begin;
    return rise >= -w->options->collapse ? cost + fmax(rise, 0.0) : INFINITY;
}

/* Returns the least. */
static double find_costs(const kiln_energy_pass *w, kiln_walker *walker, leaver *l)
{
    const kiln_remesher *r = w->remesher;
    const kiln_vec3 *x = w->objective->end;
    double least = INFINITY;
    l->before = kiln_patch_sum_inside(w->objective, l->tet, l->count);
    l->shape = l->end = INFINITY;
    kiln_new_tet old[STAR_ROOM];
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t *v = r->mesh->tet[l->tet[i]].v;
        old[i] = (kiln_new_tet){.v = {v[0], v[1], v[2], v[3]}, .parent = l->tet[i]};
        l->shape = fmin(l->shape, r->quality.data[l->tet[i]]);
        l->end = fmin(l->end, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
    }
    l->begin = kiln_energy_begin(w->objective, old, l->count);
    for (uint32_t i = 0; i < l->ways; i++) {
        l->cost[i] = cost_of(w, walker, l, l->to[i]);
        least = fmin(least, l->cost[i]);
    }
    return least;
}

static bool propose(kiln_energy_pass *w, uint32_t vertex, uint32_t to, kiln_proposal *out)
{
    kiln_remesher *r = w->remesher;
    uint32_t tet, corner[2];
    return kiln_energy_find_edge(w, vertex, to, &tet, corner) &&
           kiln_edge_contraction_propose(r, &r->workspace, tet, corner[0], corner[1], &limits, out);
}

/* True: it was tried, for good or in vain. */
static bool try_way(kiln_energy_pass *w, uint32_t vertex, uint32_t to)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    bool legal = propose(w, vertex, to, &proposal);
    if (legal) {
        w->trial = (kiln_energy_trial){.least = -w->options->collapse,
                                       .keeps_begin = true,
                                       .parent = {to},
                                       .weight = {1.0},
                                       .parents = 1,
                                       .middle = {vertex, to},
                                       .middles = 2,
                                       .may_rest = true};
        w->trial.drag = kiln_energy_drag(w->objective, &proposal);
        kiln_energy_try(w, &proposal, &w->report->collapses);
    }
    kiln_arena_release(&r->workspace.arena, mark);
    return legal;
}

/* The cheapest way that is legal. */
static void collapse(kiln_energy_pass *w, uint32_t vertex)
{
    leaver l;
    if (!gather(w, &w->walker, vertex, &l))
        return;
    double least = find_costs(w, &w->node_walker, &l);
    for (uint32_t tries = 0; tries < l.ways && w->status == KILN_OK; tries++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < l.ways; i++)
            best = l.cost[i] < l.cost[best] ? i : best;
        if (!(l.cost[best] < most_of(w)) || try_way(w, vertex, l.to[best]))
            break;
        l.cost[best] = INFINITY;
    }
    if (w->status == KILN_OK && kiln_vertex_live(w->remesher->mesh, vertex))
        kiln_energy_note_needed(w, vertex, least, most_of(w));
}

/* All vertices, on all threads: what each would cost. */
typedef struct collapse_survey {
    const kiln_energy_pass *w;
    double *cost; /* J, [vertex] */
} collapse_survey;

static void survey_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const collapse_survey *s = user;
    const kiln_energy_pass *w = s->w;
    kiln_walker *walker = &w->remesher->workers[worker].walker;
    for (uint32_t v = (uint32_t)begin; v < end; v++) {
        leaver l;
        s->cost[v] = INFINITY;
        if (kiln_energy_is_needed(w, v) || !gather(w, walker, v, &l))
            continue;
        s->cost[v] = find_costs(w, walker, &l);
        if (!(s->cost[v] < most_of(w)))
            kiln_energy_note_needed(w, v, s->cost[v], most_of(w));
    }
}

void kiln_energy_collapse(kiln_energy_pass *pass)
{
    kiln_context *context = pass->remesher->context;
    size_t vertices = pass->remesher->mesh->table[KILN_ON_VERTEX].used;
    kiln_f64_array cost = {0};
    if (!pass->options->sizes)
        return;
    pass->heap.count = 0;
    pass->status = kiln_energy_stamp(pass);
    if (pass->status == KILN_OK)
        pass->status = kiln_array_reserve(context, &cost, vertices, pass->error);
    if (pass->status == KILN_OK) {
        collapse_survey survey = {pass, cost.data};
        kiln_parallel_for(context, vertices, GRAIN, survey_chunk, &survey);
        for (uint32_t v = 0; v < vertices; v++)
            if (cost.data[v] < most_of(pass))
                kiln_energy_push(pass, (kiln_energy_candidate){-cost.data[v], v, v});
    }
    for (pass->left = pass->budget;
         pass->status == KILN_OK && pass->heap.count > 0 && pass->left > 0; pass->left--) {
        pass->status = kiln_may_go_on(context, pass->error);
        if (pass->status == KILN_OK)
            collapse(pass, kiln_energy_pop(pass).a);
    }
    kiln_array_free(context, &cost);
}

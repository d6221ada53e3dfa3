/* Collapses: what splits have made goes again where it gains nothing any more. */
#include "base/parallel.h"
#include "remesh/contract.h"
#include "step/energy_impl.h"

#include <math.h>

enum { GRAIN = 64 };
/* Of the edges of the start: matter is not meshed coarser than it began. */
#define SMALL 0.6
/* Times what a collapse may cost: with more spread than that it is not tried. */
#define HOPE 8.0

/* What leaves the surface where it is, exactly. */
static const kiln_contraction_limits limits = {.surface = 1.0};

/* What removing the vertex costs is known only by a solve; the spread of the deformation over its
 * star, by which a mesh without it is in error, tells whether that is worth a try. */
static double spread_of(const kiln_local_objective *o, const kiln_u32_array *star)
{
    kiln_mat3 mean = {{{0}}};
    double volume = 0.0, squares = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < star->count; i++) {
            kiln_patch_tet tet;
            kiln_vec3 x[4];
            const uint32_t *v = o->mesh->tet[star->data[i]].v;
            if (!kiln_patch_form(o, star->data[i], &tet))
                return INFINITY;
            for (int k = 0; k < 4; k++)
                x[k] = o->end[v[k]];
            kiln_mat3 F = kiln_patch_tet_deformation(&tet, x);
            if (pass == 0) {
                mean = kiln_m3_add(mean, kiln_m3_scale(F, tet.volume));
                volume += tet.volume;
            } else {
                kiln_mat3 off = kiln_m3_add(F, kiln_m3_scale(mean, -1.0 / volume));
                squares += tet.volume * tet.mu * kiln_m3_norm2(off);
            }
        }
    return squares;
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

static bool try_collapse(kiln_energy_pass *w, uint32_t tet, uint32_t ca, uint32_t cb)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    uint32_t a = r->mesh->tet[tet].v[ca], b = r->mesh->tet[tet].v[cb];
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    bool taken = false;
    if (kiln_edge_contraction_propose(r, &r->workspace, tet, ca, cb, &limits, &proposal) &&
        kiln_objective_is_alike(w->objective, proposal.old, proposal.old_count)) {
        w->trial = (kiln_energy_trial){.least = -w->options->collapse,
                                       .parents = proposal.parents,
                                       .middle = {a, b},
                                       .middles = 2,
                                       .may_rest = true};
        for (int i = 0; i < proposal.parents; i++) {
            w->trial.parent[i] = proposal.parent[i];
            w->trial.weight[i] = proposal.weight[i];
        }
        taken = kiln_energy_try(w, &proposal, &w->report->collapses);
    }
    kiln_arena_release(&r->workspace.arena, mark);
    return taken;
}

/* The shortest edge at the vertex that may go. */
static void collapse_at(kiln_energy_pass *w, uint32_t vertex)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    const double *size = sizes_of(w);
    uint32_t tet = KILN_NONE, ca = 0, cb = 0;
    double shortest = INFINITY;
    for (size_t i = 0; i < w->walker.tets.count; i++) {
        uint32_t t = w->walker.tets.data[i], own = kiln_tet_corner(&mesh->tet[t], vertex);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t other = mesh->tet[t].v[k];
            double length = kiln_v3_norm(kiln_v3_sub(mesh->u[other], mesh->u[vertex]));
            if (k == own || length >= shortest || !is_small(mesh, size, vertex, other) ||
                !is_held_alike(w, vertex, other))
                continue;
            shortest = length;
            tet = t, ca = own, cb = k;
        }
    }
    if (tet != KILN_NONE)
        try_collapse(w, tet, ca, cb);
}

/* Whether an edge at the vertex may go, and it is worth a try. */
static bool is_worth(const kiln_energy_pass *w, uint32_t vertex, kiln_walker *walker)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    if (!kiln_vertex_live(mesh, vertex) ||
        mesh->vertex[vertex].flags & (KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER) ||
        kiln_star(mesh, vertex, walker, NULL) != KILN_OK)
        return false;
    const double *size = sizes_of(w);
    bool small = false;
    for (size_t i = 0; i < 4 * walker->tets.count && !small; i++) {
        uint32_t other = mesh->tet[walker->tets.data[i / 4]].v[i % 4];
        small = other != vertex && is_small(mesh, size, vertex, other);
    }
    return small && spread_of(w->objective, &walker->tets) < HOPE * w->options->collapse;
}

typedef struct collapse_survey {
    const kiln_energy_pass *w;
    uint8_t *worth; /* [vertex] */
} collapse_survey;

static void survey_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const collapse_survey *s = user;
    kiln_walker *walker = &s->w->remesher->workers[worker].walker;
    for (size_t v = begin; v < end; v++)
        s->worth[v] = is_worth(s->w, (uint32_t)v, walker);
}

void kiln_energy_collapse(kiln_energy_pass *pass)
{
    kiln_context *context = pass->remesher->context;
    size_t vertices = pass->remesher->mesh->table[KILN_ON_VERTEX].used;
    KILN_ARRAY_OF(uint8_t)
    worth = {0};
    if (!pass->options->sizes)
        return;
    pass->status = kiln_array_reserve(context, &worth, vertices, pass->error);
    if (pass->status == KILN_OK) {
        collapse_survey survey = {pass, worth.data};
        kiln_parallel_for(context, vertices, GRAIN, survey_chunk, &survey);
    }
    for (uint32_t v = 0; v < vertices && pass->status == KILN_OK; v++) {
        if (v % GRAIN == 0)
            pass->status = kiln_may_go_on(context, pass->error);
        /* Others may have gone since. */
        if (pass->status == KILN_OK && worth.data[v] && is_worth(pass, v, &pass->walker))
            collapse_at(pass, v);
    }
    kiln_array_free(context, &worth);
}

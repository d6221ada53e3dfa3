/* Collapses: what splits have made goes again where it gains nothing any more. */
#include "remesh/contract.h"
#include "step/energy_impl.h"

#include <math.h>

/* Of the edges of the start: matter is not meshed coarser than it began. */
#define SMALL 0.6
/* Times what a collapse may cost: with more spread than that it is not tried. */
#define HOPE 8.0

/* What leaves the surface where it is, exactly. */
static const kiln_contraction_limits limits = {.surface = 1.0};

/* What removing the vertex costs is known only by a solve; the spread of the deformation over its
 * star, by which a mesh without it is in error, tells whether that is worth a try. */
static double spread_at(kiln_energy_pass *w, uint32_t vertex)
{
    const kiln_local_objective *o = w->objective;
    kiln_mat3 mean = {{{0}}};
    double volume = 0.0, squares = 0.0;
    if (kiln_star(o->mesh, vertex, &w->walker, w->error) != KILN_OK)
        return INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < w->walker.tets.count; i++) {
            kiln_patch_tet tet;
            kiln_vec3 x[4];
            const uint32_t *v = o->mesh->tet[w->walker.tets.data[i]].v;
            if (!kiln_patch_form(o, w->walker.tets.data[i], &tet))
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

static bool is_small(const kiln_energy_pass *w, uint32_t a, uint32_t b)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, w->options->sizes);
    const double *size = (const double *)(const void *)field->data;
    double length = kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b]));
    return length < SMALL * fmin(size[a], size[b]);
}

/* Holds are of places: only what is held alike may become one. */
static bool is_held_alike(const kiln_energy_pass *w, uint32_t a, uint32_t b)
{
    return !w->objective->held || w->objective->held[a] == w->objective->held[b];
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
    uint32_t tet = KILN_NONE, ca = 0, cb = 0;
    double shortest = INFINITY;
    for (size_t i = 0; i < w->walker.tets.count; i++) {
        uint32_t t = w->walker.tets.data[i], own = kiln_tet_corner(&mesh->tet[t], vertex);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t other = mesh->tet[t].v[k];
            double length = kiln_v3_norm(kiln_v3_sub(mesh->u[other], mesh->u[vertex]));
            if (k == own || length >= shortest || !is_small(w, vertex, other) ||
                !is_held_alike(w, vertex, other))
                continue;
            shortest = length;
            tet = t, ca = own, cb = k;
        }
    }
    if (tet != KILN_NONE)
        try_collapse(w, tet, ca, cb);
}

void kiln_energy_collapse(kiln_energy_pass *pass)
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    if (!pass->options->sizes)
        return;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used && pass->status == KILN_OK; v++) {
        if (v % 64 == 0)
            pass->status = kiln_may_go_on(pass->remesher->context, pass->error);
        if (pass->status != KILN_OK || !kiln_vertex_live(mesh, v) ||
            mesh->vertex[v].flags & (KILN_VERTEX_REQUIRED | KILN_VERTEX_CORNER))
            continue;
        if (spread_at(pass, v) < HOPE * pass->options->collapse)
            collapse_at(pass, v);
    }
}

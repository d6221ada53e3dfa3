/* Flips: other tets between the same vertices, where the energy falls. They cost no unknowns, and
 * are what lets refinement get away from the mesh it began with (ITR fig. 12). */
#include "base/parallel.h"
#include "remesh/edge_removal.h"
#include "remesh/face_removal.h"
#include "step/energy_impl.h"

#include <math.h>

enum { GRAIN = 64 };
/* Of what a split must gain: less is not worth the change. And of that: what is gained before
 * anything has moved, without which what moves then hardly makes up for it. */
#define LEAST_PART 0.1
#define AT_ONCE    0.25

/* J by which the objective falls at once; loads on faces are left to the trial. All vertices are
 * there already. */
static double gain_of(const kiln_local_objective *o, const kiln_proposal *proposal)
{
    if (!kiln_objective_is_alike(o, proposal->old, proposal->old_count))
        return -INFINITY;
    double gain = kiln_patch_sum(o, proposal->old, proposal->old_count);
    for (uint32_t from = 0; from < proposal->fresh_count; from += KILN_ELEMENT_LANES) {
        kiln_patch_tet tet[KILN_ELEMENT_LANES];
        kiln_patch_corner corner[KILN_ELEMENT_LANES][4];
        uint32_t some = proposal->fresh_count - from;
        some = some < KILN_ELEMENT_LANES ? some : KILN_ELEMENT_LANES;
        for (uint32_t i = 0; i < some; i++) {
            const kiln_new_tet *fresh = &proposal->fresh[from + i];
            kiln_vec3 u[4];
            for (int k = 0; k < 4; k++) {
                u[k] = o->mesh->u[fresh->v[k]];
                corner[i][k] = kiln_objective_corner(o, fresh->v[k]);
            }
            if (fresh->parent == KILN_NONE ||
                !kiln_patch_form_corners(o, u, fresh->parent, &tet[i]))
                return -INFINITY;
        }
        gain -= kiln_patch_tets_value(o, tet, (const kiln_patch_corner(*)[4])corner, some);
    }
    return gain;
}

typedef struct flip_gains {
    double of[6];
} flip_gains;

typedef struct flip_survey {
    const kiln_energy_pass *w;
    flip_gains *gain; /* [tet] */
} flip_survey;

/* The edge belongs to the lowest tet that has it. */
static bool is_own(const kiln_mesh *mesh, uint32_t t, int k)
{
    uint32_t ring[KILN_ENERGY_RING];
    uint32_t count =
        kiln_edge_ring(mesh, t, kiln_edge_ends[k][0], kiln_edge_ends[k][1], ring, KILN_ENERGY_RING)
            .count;
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++)
        if (ring[i] / 4 < t)
            return false;
    return count <= KILN_ENERGY_RING;
}

static void survey_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const flip_survey *s = user;
    const kiln_remesher *r = s->w->remesher;
    kiln_workspace *workspace = &r->workers[worker];
    for (size_t t = begin; t < end; t++)
        for (int k = 0; k < 6; k++) {
            double *gain = &s->gain[t].of[k];
            kiln_proposal proposal;
            *gain = 0.0;
            if (!kiln_tet_live(r->mesh, t) || !is_own(r->mesh, (uint32_t)t, k))
                continue;
            kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
            if (kiln_edge_removal_propose(r, workspace, (uint32_t)t, kiln_edge_ends[k][0],
                                          kiln_edge_ends[k][1], &proposal))
                *gain = gain_of(s->w->objective, &proposal);
            kiln_arena_release(&workspace->arena, mark);
        }
}

static void try_flip(kiln_energy_pass *w, kiln_energy_candidate c, double least)
{
    kiln_remesher *r = w->remesher;
    kiln_proposal proposal;
    uint32_t tet, corner[2];
    if (!kiln_energy_find_edge(w, c.a, c.b, &tet, corner))
        return;
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    w->trial = (kiln_energy_trial){
        .least = least, .middle = {c.a, c.b}, .middles = 2, .may_rest = true};
    if (kiln_edge_removal_propose(r, &r->workspace, tet, corner[0], corner[1], &proposal) &&
        gain_of(w->objective, &proposal) > AT_ONCE * least)
        kiln_energy_try(w, &proposal, &w->report->flips);
    kiln_arena_release(&r->workspace.arena, mark);
}

/* Faces that go for an edge between the vertices on their sides. */

/* The face belongs to the lower of its tets. */
static bool propose_face(const kiln_energy_pass *w, kiln_workspace *workspace, uint32_t t,
                         uint32_t face, kiln_proposal *out)
{
    const kiln_remesher *r = w->remesher;
    kiln_link link = r->mesh->tet[t].n[face];
    return !kiln_link_is_surface(link) && t < link / 4 &&
           kiln_face_removal_propose(r, workspace, t, face, out);
}

static void survey_faces(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    const flip_survey *s = user;
    const kiln_remesher *r = s->w->remesher;
    kiln_workspace *workspace = &r->workers[worker];
    for (size_t t = begin; t < end; t++)
        for (uint32_t f = 0; f < 4; f++) {
            double *gain = &s->gain[t].of[f];
            kiln_proposal proposal;
            *gain = 0.0;
            if (!kiln_tet_live(r->mesh, t))
                continue;
            kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
            if (propose_face(s->w, workspace, (uint32_t)t, f, &proposal))
                *gain = gain_of(s->w->objective, &proposal);
            kiln_arena_release(&workspace->arena, mark);
        }
}

/* `c` is a tet and its face, as they were at `since`. */
static void try_face(kiln_energy_pass *w, kiln_energy_candidate c, uint32_t since, double least)
{
    kiln_remesher *r = w->remesher;
    const kiln_mesh *mesh = r->mesh;
    kiln_proposal proposal;
    if (!kiln_tet_live(mesh, c.a) || mesh->info[c.a].changed > since)
        return;
    kiln_link link = mesh->tet[c.a].n[c.b];
    kiln_arena_mark mark = kiln_arena_set_mark(&r->workspace.arena);
    w->trial = (kiln_energy_trial){
        .least = least,
        .middle = {mesh->tet[c.a].v[c.b],
                   kiln_link_is_surface(link) ? KILN_NONE : mesh->tet[link / 4].v[link % 4]},
        .middles = 2,
        .may_rest = true};
    if (propose_face(w, &r->workspace, c.a, c.b, &proposal) &&
        gain_of(w->objective, &proposal) > AT_ONCE * least)
        w->report->faces += kiln_energy_try(w, &proposal, &w->report->flips);
    kiln_arena_release(&r->workspace.arena, mark);
}

/* What every edge, or every face, would gain by itself, and the queue of those that gain enough. */
static void flip_edges(kiln_energy_pass *w, flip_gains *gain, double least)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    flip_survey s = {w, gain};
    w->heap.count = 0;
    kiln_parallel_for(w->remesher->context, tets, GRAIN, survey_chunk, &s);
    for (size_t t = 0; t < tets; t++)
        for (int k = 0; k < 6; k++)
            if (gain[t].of[k] > AT_ONCE * least) {
                uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
                uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
                kiln_energy_push(
                    w, (kiln_energy_candidate){gain[t].of[k], a < b ? a : b, a < b ? b : a});
            }
    for (w->left = w->budget; w->status == KILN_OK && w->heap.count > 0 && w->left > 0; w->left--)
        try_flip(w, kiln_energy_pop(w), least);
}

static void flip_faces(kiln_energy_pass *w, flip_gains *gain, double least)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used;
    uint32_t since = mesh->clock;
    flip_survey s = {w, gain};
    w->heap.count = 0;
    kiln_parallel_for(w->remesher->context, tets, GRAIN, survey_faces, &s);
    for (uint32_t t = 0; t < tets; t++)
        for (uint32_t f = 0; f < 4; f++)
            if (gain[t].of[f] > AT_ONCE * least)
                kiln_energy_push(w, (kiln_energy_candidate){gain[t].of[f], t, f});
    for (w->left = w->budget; w->status == KILN_OK && w->heap.count > 0 && w->left > 0; w->left--)
        try_face(w, kiln_energy_pop(w), since, least);
}

void kiln_energy_flip(kiln_energy_pass *pass)
{
    kiln_context *context = pass->remesher->context;
    const kiln_mesh *mesh = pass->remesher->mesh;
    double least = LEAST_PART * pass->options->split;
    void (*const sweep[])(kiln_energy_pass *, flip_gains *, double) = {flip_edges, flip_faces};
    KILN_ARRAY_OF(flip_gains)
    gain = {0};
    for (int i = 0; i < 2 && pass->status == KILN_OK; i++) {
        pass->status =
            kiln_array_reserve(context, &gain, mesh->table[KILN_ON_TET].used, pass->error);
        if (pass->status == KILN_OK)
            sweep[i](pass, gain.data, least);
    }
    kiln_array_free(context, &gain);
}

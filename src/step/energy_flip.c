/* Flips: other tets between the same vertices, where the energy falls. They cost no unknowns, and
 * are what lets refinement get away from the mesh it began with (ITR fig. 12). */
#include "base/parallel.h"
#include "remesh/edge_removal.h"
#include "remesh/face_removal.h"
#include "step/energy_impl.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 64 };
/* Of what a split must gain: less is not worth the change. And of that: what is gained before
 * anything has moved, without which what moves then hardly makes up for it. */
#define LEAST_PART 0.1
#define AT_ONCE    0.25

typedef struct flip_gains {
    double of[6];
} flip_gains;

static double gain_now(kiln_energy_pass *w, const kiln_proposal *proposal)
{
    double before = kiln_patch_sum_inside(w->objective, proposal->old, proposal->old_count);
    return kiln_energy_gain(w->objective, &w->node_walker, proposal, before, 0.0, &w->trial.drag);
}

/* What is known of a tet's flips (energy_vain.c). */
typedef enum flatness { STIRRED, FLAT, WORTH } flatness;

typedef struct flip_survey {
    kiln_energy_pass *w;
    kiln_energy_flips kind;
    double least;     /* J, at once */
    flip_gains *gain; /* [tet] */
    double *value;    /* J, [tet], NAN: nobody has asked */
    uint8_t *flat;    /* [tet] flatness */
    double *best;     /* J, [tet] that something there gains at once */
    uint8_t *stirred; /* [vertex] some tet there is */
} flip_survey;

static double value_of(const flip_survey *s, const kiln_proposal *proposal)
{
    const kiln_local_objective *o = s->w->objective;
    double sum = 0.0;
    for (uint32_t i = 0; i < proposal->old_count; i++) {
        double known = s->value[proposal->old[i]];
        sum += isnan(known) ? kiln_patch_sum_inside(o, &proposal->old[i], 1) : known;
    }
    return sum;
}

/* J, at once. What gains enough and does not end well is no more than nearly worth it: the shapes
 * may be others before anything else is. */
static double gain_of(const flip_survey *s, kiln_walker *walker, const kiln_proposal *proposal)
{
    double drag, gain = kiln_energy_gain(s->w->objective, walker, proposal, value_of(s, proposal),
                                         0.0, &drag);
    return gain > s->least && !kiln_energy_flip_ends_well(s->w, proposal) ? s->least : gain;
}

/* Whether the edge is to be looked at for this tet: it belongs to the lowest that has it. */
static bool is_own(const flip_survey *s, uint32_t t, int k)
{
    const kiln_mesh *mesh = s->w->remesher->mesh;
    uint32_t ring[KILN_ENERGY_RING], ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
    if (!s->stirred[mesh->tet[t].v[ca]] || !s->stirred[mesh->tet[t].v[cb]] ||
        !kiln_edge_is_own(mesh, t, ca, cb))
        return false;
    uint32_t count = kiln_edge_ring(mesh, t, ca, cb, ring, KILN_ENERGY_RING).count;
    bool stirred = false;
    for (uint32_t i = 0; i < count && i < KILN_ENERGY_RING; i++)
        stirred |= s->flat[ring[i] / 4] == STIRRED;
    return stirred && count <= KILN_ENERGY_RING;
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
            if (!kiln_tet_live(r->mesh, t) || !is_own(s, (uint32_t)t, k))
                continue;
            kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
            if (kiln_edge_removal_propose(r, workspace, (uint32_t)t, kiln_edge_ends[k][0],
                                          kiln_edge_ends[k][1], &proposal))
                *gain = gain_of(s, &workspace->walker, &proposal);
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
    w->trial =
        (kiln_energy_trial){.least = least, .middle = {c.a, c.b}, .middles = 2, .may_rest = true};
    if (kiln_edge_removal_propose(r, &r->workspace, tet, corner[0], corner[1], &proposal) &&
        gain_now(w, &proposal) > AT_ONCE * least && kiln_energy_flip_ends_well(w, &proposal))
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

static bool is_face_stirred(const flip_survey *s, uint32_t t, uint32_t face)
{
    kiln_link link = s->w->remesher->mesh->tet[t].n[face];
    return s->flat[t] == STIRRED || (!kiln_link_is_surface(link) && s->flat[link / 4] == STIRRED);
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
            if (!kiln_tet_live(r->mesh, t) || !is_face_stirred(s, (uint32_t)t, f))
                continue;
            kiln_arena_mark mark = kiln_arena_set_mark(&workspace->arena);
            if (propose_face(s->w, workspace, (uint32_t)t, f, &proposal))
                *gain = gain_of(s, &workspace->walker, &proposal);
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
        gain_now(w, &proposal) > AT_ONCE * least && kiln_energy_flip_ends_well(w, &proposal))
        w->report->faces += kiln_energy_try(w, &proposal, &w->report->flips);
    kiln_arena_release(&r->workspace.arena, mark);
}

/* What has been looked at in vain. */
static void begin_survey(flip_survey *s)
{
    const kiln_mesh *mesh = s->w->remesher->mesh;
    memset(s->stirred, 0, mesh->table[KILN_ON_VERTEX].used);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        s->flat[t] = !kiln_tet_live(mesh, t) || kiln_energy_is_flat(s->w, t, s->kind);
        s->best[t] = 0.0;
        for (int k = 0; k < 4 && s->flat[t] == STIRRED; k++)
            s->stirred[mesh->tet[t].v[k]] = 1;
    }
}

/* All tets that a flip of something stirred may take. */
static void value_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    const flip_survey *s = user;
    const kiln_local_objective *o = s->w->objective;
    uint32_t tets[GRAIN];
    double value[GRAIN];
    size_t count = 0;
    for (uint32_t t = (uint32_t)begin; t < end; t++) {
        bool counts = false;
        for (int k = 0; k < 4 && kiln_tet_live(o->mesh, t); k++)
            counts |= s->stirred[o->mesh->tet[t].v[k]];
        s->value[t] = NAN;
        if (counts)
            tets[count++] = t;
        if (count == GRAIN || t + 1 == end) {
            kiln_patch_values_inside(o, tets, count, value);
            for (size_t i = 0; i < count; i++)
                s->value[tets[i]] = value[i];
            count = 0;
        }
    }
}

/* What has now been. */
static void end_survey(const flip_survey *s)
{
    const kiln_mesh *mesh = s->w->remesher->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (s->flat[t] == STIRRED)
            kiln_energy_note_flat(s->w, t, s->kind, s->best[t], s->least);
}

/* What every edge, or every face, would gain by itself, and the queue of those that gain enough. */
static void note_gain(flip_survey *s, uint32_t t, double gain)
{
    s->best[t] = fmax(s->best[t], gain);
    if (gain >= s->least)
        s->flat[t] = WORTH;
}

static void queue_edge(flip_survey *s, uint32_t t, int k)
{
    const kiln_mesh *mesh = s->w->remesher->mesh;
    uint32_t ring[KILN_ENERGY_RING], ca = kiln_edge_ends[k][0], cb = kiln_edge_ends[k][1];
    uint32_t a = mesh->tet[t].v[ca], b = mesh->tet[t].v[cb];
    double gain = s->gain[t].of[k];
    uint32_t count = kiln_edge_ring(mesh, t, ca, cb, ring, KILN_ENERGY_RING).count;
    for (uint32_t i = 0; i < count; i++)
        note_gain(s, ring[i] / 4, gain);
    if (gain > s->least)
        kiln_energy_push(s->w, (kiln_energy_candidate){gain, a < b ? a : b, a < b ? b : a});
}

static void queue_face(flip_survey *s, uint32_t t, int face)
{
    double gain = s->gain[t].of[face];
    note_gain(s, t, gain);
    note_gain(s, s->w->remesher->mesh->tet[t].n[face] / 4, gain);
    if (gain > s->least)
        kiln_energy_push(s->w, (kiln_energy_candidate){gain, t, (uint32_t)face});
}

static void queue_all(flip_survey *s, kiln_chunk_body chunk, int count,
                      void (*queue)(flip_survey *, uint32_t, int))
{
    size_t tets = s->w->remesher->mesh->table[KILN_ON_TET].used;
    s->w->heap.count = 0;
    begin_survey(s);
    kiln_parallel_for(s->w->remesher->context, tets, GRAIN, value_chunk, s);
    kiln_parallel_for(s->w->remesher->context, tets, GRAIN, chunk, s);
    for (uint32_t t = 0; t < tets; t++)
        for (int k = 0; k < count; k++)
            if (s->gain[t].of[k] > 0.0)
                queue(s, t, k);
    end_survey(s);
}

static void flip_edges(kiln_energy_pass *w, flip_survey *s, double least)
{
    queue_all(s, survey_chunk, 6, queue_edge);
    for (w->left = w->budget; w->status == KILN_OK && w->heap.count > 0 && w->left > 0; w->left--)
        try_flip(w, kiln_energy_pop(w), least);
}

static void flip_faces(kiln_energy_pass *w, flip_survey *s, double least)
{
    uint32_t since = w->remesher->mesh->clock;
    queue_all(s, survey_faces, 4, queue_face);
    for (w->left = w->budget; w->status == KILN_OK && w->heap.count > 0 && w->left > 0; w->left--)
        try_face(w, kiln_energy_pop(w), since, least);
}

void kiln_energy_flip(kiln_energy_pass *pass)
{
    kiln_context *context = pass->remesher->context;
    const kiln_mesh *mesh = pass->remesher->mesh;
    double least = LEAST_PART * pass->options->split;
    void (*const sweep[])(kiln_energy_pass *, flip_survey *, double) = {flip_edges, flip_faces};
    KILN_ARRAY_OF(flip_gains)
    gain = {0};
    KILN_ARRAY_OF(uint8_t)
    flat = {0}, stirred = {0};
    kiln_f64_array value = {0}, best = {0};
    for (int i = 0; i < 2 && pass->status == KILN_OK; i++) {
        size_t tets = mesh->table[KILN_ON_TET].used, vertices = mesh->table[KILN_ON_VERTEX].used;
        pass->status = kiln_array_reserve(context, &gain, tets, pass->error);
        if (pass->status == KILN_OK)
            pass->status = kiln_array_reserve(context, &value, tets, pass->error);
        if (pass->status == KILN_OK)
            pass->status = kiln_array_reserve(context, &best, tets, pass->error);
        if (pass->status == KILN_OK)
            pass->status = kiln_array_reserve(context, &flat, tets, pass->error);
        if (pass->status == KILN_OK)
            pass->status = kiln_array_reserve(context, &stirred, vertices, pass->error);
        flip_survey s = {.w = pass,
                         .kind = (kiln_energy_flips)i,
                         .least = AT_ONCE * least,
                         .gain = gain.data,
                         .value = value.data,
                         .flat = flat.data,
                         .best = best.data,
                         .stirred = stirred.data};
        if (pass->status == KILN_OK)
            sweep[i](pass, &s, least);
    }
    kiln_array_free(context, &gain);
    kiln_array_free(context, &value);
    kiln_array_free(context, &best);
    kiln_array_free(context, &flat);
    kiln_array_free(context, &stirred);
}

/* A change in a transaction, judged when what is round it has come to rest. */
#include "geom/predicates.h"
#include "step/energy_impl.h"

#include <math.h>
#include <string.h>

/* Of what a split must gain: patches are at rest when an iteration gains less. The whole is solved
 * again after all. */
#define ENOUGH 0.05
enum {
    FIRST_ITERATIONS = 1, /* before a trial is judged */
    MORE_ITERATIONS = 8,  /* for what is kept */
};

kiln_status kiln_energy_list_around(kiln_energy_pass *pass, const uint32_t *vertices, size_t count)
{
    kiln_energy_pass *w = pass;
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
static bool all_positive(const kiln_energy_pass *w, const uint32_t *tets, size_t count)
{
    const kiln_mesh *mesh = w->remesher->mesh;
    const kiln_vec3 *x = w->objective->end;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *v = mesh->tet[tets[i]].v;
        if (kiln_tet_live(mesh, tets[i]) &&
            !(kiln_orient3d(x[v[0]], x[v[1]], x[v[2]], x[v[3]]) > 0.0))
            return false;
    }
    return true;
}

/* What a change has made. */
static bool ends_well(const kiln_energy_pass *w)
{
    const kiln_u32_array *made = (const kiln_u32_array *)(const void *)&w->remesher->changed;
    return all_positive(w, made->data, made->count) &&
           kiln_energy_ends_well(w, w->trial.shape,
                                 kiln_energy_end_shape(w, made->data, made->count));
}

/* The places of a patch. What lives of its tets, and of those that were made, is all that they can
 * turn inside out. */
static bool store(kiln_energy_pass *w, const kiln_patch *patch, uint32_t made, kiln_txn *txn)
{
    return kiln_patch_store(patch, w->remesher->mesh, made, txn) == KILN_ACCEPTED &&
           all_positive(w, patch->tets.data, patch->tets.count) && ends_well(w);
}

static kiln_vec3 place_of_end(const kiln_energy_pass *w)
{
    kiln_vec3 at = kiln_v3(0, 0, 0);
    for (int i = 0; i < w->trial.parents; i++)
        at = kiln_v3_madd(at, w->trial.weight[i], w->objective->end[w->trial.parent[i]]);
    return at;
}

/* The new vertex begins on the straight line between those it comes from. */
static kiln_verdict place_end(kiln_energy_pass *w, uint32_t vertex, kiln_txn *txn)
{
    kiln_vec3 at = place_of_end(w);
    const kiln_field *end = kiln_mesh_field(w->remesher->mesh, KILN_ON_VERTEX, KILN_FIELD_END);
    return kiln_txn_write(txn, KILN_ON_VERTEX, end, vertex, &at);
}

/* The vertices that are free. */
static kiln_status list_free(kiln_energy_pass *w, uint32_t vertex)
{
    uint32_t middle[5];
    size_t count = 0;
    if (vertex != KILN_NONE)
        middle[count++] = vertex;
    for (int i = 0; i < w->trial.middles; i++)
        if (kiln_vertex_live(w->remesher->mesh, w->trial.middle[i]))
            middle[count++] = w->trial.middle[i];
    return kiln_energy_list_around(w, middle, count);
}

/* A vertex that is made where something is near is repelled as soon as it is there: a split that
 * gains most may begin by costing more, and what repels it is no quadratic, so that an iteration
 * says little of the next one. As long as the rest of them, if they gained as much as the last,
 * would make up for it they go on. */
static double relax_near(kiln_patch *patch, const kiln_local_objective *o, double gained,
                         double least, double enough, double tolerance)
{
    double last = INFINITY;
    for (int left = MORE_ITERATIONS; gained <= least && gained + left * last > least; left--) {
        last = kiln_patch_relax(patch, o, 1, enough, tolerance);
        gained += last;
    }
    return gained;
}

/* J, of what is near. */
static double rubbed(const kiln_patch *patch)
{
    double sum = 0.0;
    for (size_t i = patch->near.pairs.count; i < kiln_vicinity_count(&patch->near); i++)
        sum += patch->near_value.data[i];
    return sum;
}

/* Friction is of forces as a change has left them, which may be a thousand times those at rest:
 * what it falls by on the way there is no gain. */
double kiln_energy_relax(const kiln_energy_pass *pass, kiln_patch *patch, double change,
                         double least)
{
    const kiln_local_objective *o = pass->objective;
    double enough = ENOUGH * pass->options->split, tolerance = pass->options->tolerance;
    double begin = rubbed(patch);
    double gained = change + kiln_patch_relax(patch, o, FIRST_ITERATIONS, enough, tolerance);
    if (kiln_vicinity_count(&patch->near) > 0)
        gained = relax_near(patch, o, gained, least, enough, tolerance);
    if (gained - fmax(begin - rubbed(patch), 0.0) > least)
        gained += kiln_patch_relax(patch, o, MORE_ITERATIONS, enough, tolerance);
    return gained - fmax(begin - rubbed(patch), 0.0);
}

/* Contact. */

static bool is_outer(const kiln_energy_pass *w, uint32_t vertex)
{
    return w->remesher->mesh->vertex[vertex].flags & KILN_VERTEX_SURFACE;
}

/* The vertices of the surface among those of the tets that go: their faces are all that a change
 * makes others. */
static kiln_status list_changing(kiln_energy_pass *w, const uint32_t *tets, size_t count)
{
    kiln_context *context = w->remesher->context;
    w->changing.count = 0;
    if (!w->objective->surface)
        return KILN_OK;
    KILN_TRY(kiln_idset_clear(context, &w->seen, 4 * count, w->error));
    for (size_t i = 0; i < 4 * count; i++) {
        uint32_t v = w->remesher->mesh->tet[tets[i / 4]].v[i % 4];
        kiln_idset_slot *slot = kiln_idset_at(&w->seen, v);
        if (!is_outer(w, v) || slot->epoch == w->seen.epoch)
            continue;
        kiln_idset_add(&w->seen, slot, v, 0);
        KILN_TRY(kiln_array_push(context, &w->changing, v, w->error));
    }
    return KILN_OK;
}

/* J, what these vertices are repelled with. */
static double repelled(kiln_energy_pass *w)
{
    const kiln_local_objective *o = w->objective;
    if (!o->surface || w->changing.count == 0) {
        kiln_vicinity_clear(&w->vicinity);
        return 0.0;
    }
    w->status = kiln_vicinity_gather(&w->vicinity, o->surface, o, w->changing.data,
                                     w->changing.count, NULL, 0.0, w->error);
    return w->status == KILN_OK ? kiln_vicinity_sum(&w->vicinity, o->surface, o) : INFINITY;
}

/* After the change: those that are left, and the one that is made. */
static double repelled_after(kiln_energy_pass *w, uint32_t vertex)
{
    size_t count = 0;
    if (!w->objective->surface)
        return 0.0;
    bool has = vertex == KILN_NONE || !is_outer(w, vertex);
    for (size_t i = 0; i < w->changing.count; i++) {
        uint32_t v = w->changing.data[i];
        has |= v == vertex;
        if (kiln_vertex_live(w->remesher->mesh, v))
            w->changing.data[count++] = v;
    }
    w->changing.count = count;
    if (!has)
        w->status = kiln_array_push(w->remesher->context, &w->changing, vertex, w->error);
    return w->status == KILN_OK ? repelled(w) : INFINITY;
}

/* Faces turn over an edge where the surface is bent, and fold where vertices go: those there are
 * now go through nothing, and are no nearer to anything than others were, or than this. */
#define KEPT 0.25
static bool is_clear(kiln_energy_pass *w)
{
    const kiln_local_objective *o = w->objective;
    return !o->surface || (kiln_vicinity_nearest(&w->vicinity) * KILN_VICINITY_SURELY >=
                               fmin(w->trial.nearest, KEPT) &&
                           kiln_vicinity_is_clear(&w->vicinity, o->surface, o));
}

/* Whether a vertex of the surface can go to where it will be; others can. One that becomes another
 * meets the faces of that at the end of its way, whatever else is there. */
static bool can_go(kiln_energy_pass *w, const uint32_t *vertices, size_t count)
{
    const kiln_local_objective *o = w->objective;
    uint32_t outer[2];
    size_t outers = 0;
    for (size_t i = 0; i < count; i++)
        if (is_outer(w, vertices[i]))
            outer[outers++] = vertices[i];
    if (outers > 0 && w->trial.parents == 1)
        outer[outers++] = w->trial.parent[0];
    return !o->surface || outers == 0 ||
           kiln_vicinity_sweep(&w->vicinity, o->surface, o, outer, outers, place_of_end(w),
                               w->error);
}

/* What is repelled before the change; false: others are in its way. */
static bool looks_round(kiln_energy_pass *w, const uint32_t *tets, size_t tet_count,
                        const uint32_t *goes, size_t go_count)
{
    w->status = list_changing(w, tets, tet_count);
    if (w->status != KILN_OK || !can_go(w, goes, go_count))
        return false;
    w->trial.before += repelled(w);
    w->trial.nearest = kiln_vicinity_nearest(&w->vicinity);
    return w->status == KILN_OK;
}

/* The faces round a patch, or (NULL) at what the change has touched, are others now. */
static kiln_status tell_surface(kiln_energy_pass *w, const kiln_patch *patch)
{
    kiln_local_objective *o = w->objective;
    if (!o->surface)
        return KILN_OK;
    if (!patch)
        return kiln_vicinity_surface_tell(o->surface, o, &w->walker, w->changing.data,
                                          w->changing.count, w->error);
    size_t first = patch->splits;
    if (patch->splits)
        KILN_TRY(kiln_vicinity_surface_tell(o->surface, o, &w->walker, &w->remesher->vertex_made, 1,
                                            w->error));
    return kiln_vicinity_surface_tell(o->surface, o, &w->walker, patch->vertex.data + first,
                                      patch->free - first, w->error);
}

/* `change` is what the objective falls by before anything has moved. */
static bool settle_patch(kiln_energy_pass *w, uint32_t vertex, double change, kiln_txn *txn)
{
    kiln_local_objective *o = w->objective;
    w->status = list_free(w, vertex);
    if (w->status == KILN_OK)
        w->status = kiln_patch_gather(&w->patch, o, w->around.data, w->around.count, w->error);
    if (w->status != KILN_OK)
        return false;
    w->trial.gained = kiln_energy_relax(w, &w->patch, change, w->trial.least);
    return w->trial.gained > w->trial.least && store(w, &w->patch, vertex, txn);
}

/* Of the tets, and of the nodes that they have a part in. */
static double value_of(kiln_energy_pass *w, const uint32_t *tets, size_t count)
{
    return kiln_patch_sum(w->objective, tets, count) +
           kiln_nodes_sum(w->objective, &w->node_walker, tets, count);
}

static double stored_at_begin(const kiln_energy_pass *w, const uint32_t *tets, size_t count)
{
    const kiln_local_objective *o = w->objective;
    kiln_new_tet some[KILN_ELEMENT_LANES];
    double sum = 0.0;
    for (size_t from = 0; from < count; from += KILN_ELEMENT_LANES) {
        size_t batch = count - from < KILN_ELEMENT_LANES ? count - from : KILN_ELEMENT_LANES;
        for (size_t i = 0; i < batch; i++) {
            some[i] = (kiln_new_tet){.parent = tets[from + i]};
            memcpy(some[i].v, o->mesh->tet[tets[from + i]].v, sizeof some[i].v);
        }
        sum += kiln_energy_begin(o, some, batch);
    }
    return sum;
}

/* The state that the step begins with is carried over, and where it stores more on other tets that
 * is energy from nothing, which stays in what moves: it must be gained, too. False: it
 * stores less, which is lost, than a collapse may take of it. */
static bool ask_for_rise(kiln_energy_pass *w)
{
    const kiln_remesher *r = w->remesher;
    w->trial.rise = stored_at_begin(w, r->changed.data, r->changed.count) - w->trial.begin;
    w->trial.least += fmax(w->trial.rise, 0.0);
    return !w->trial.keeps_begin || w->trial.rise >= -w->options->collapse;
}

/* Of the new vertex, what all its parents have; bits the mesh inherits, axes it does not. */
static bool tie(kiln_energy_pass *w, uint32_t vertex, const uint32_t *parent, int parents,
                kiln_txn *txn)
{
    const kiln_local_objective *o = w->objective;
    const kiln_mesh *mesh = w->remesher->mesh;
    if (!o->axis || vertex == KILN_NONE || parents == 0)
        return true;
    kiln_tie held = kiln_objective_tie(o, parent[0]);
    for (int i = 1; i < parents; i++)
        held = kiln_tie_common(held, kiln_objective_tie(o, parent[i]));
    const kiln_field *bits = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_HELD);
    const kiln_field *axis = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_AXIS);
    return kiln_txn_write(txn, KILN_ON_VERTEX, bits, vertex, &held.bits) == KILN_ACCEPTED &&
           kiln_txn_write(txn, KILN_ON_VERTEX, axis, vertex, &held.axis) == KILN_ACCEPTED;
}

/* One that moves stays held as it was. */
static bool tie_made(kiln_energy_pass *w, const kiln_change *change, kiln_txn *txn)
{
    return change->kind == KILN_OP_SMOOTHING ||
           tie(w, change->vertex, w->trial.parent, w->trial.parents, txn);
}

static bool settles(kiln_energy_pass *w, const kiln_change *change, kiln_txn *txn)
{
    const kiln_u32_array *made = (const kiln_u32_array *)(const void *)&w->remesher->changed;
    if (change->vertex != KILN_NONE && w->trial.parents > 0 &&
        (place_end(w, change->vertex, txn) != KILN_ACCEPTED || !tie_made(w, change, txn)))
        return false;
    if (!ask_for_rise(w))
        return false;
    double gain = w->trial.before - w->trial.drag - value_of(w, made->data, made->count) -
                  repelled_after(w, change->vertex);
    if (w->status != KILN_OK || !isfinite(gain) || !is_clear(w))
        return false;
    w->trial.rests = w->trial.may_rest && gain > w->trial.least;
    if (!w->trial.rests)
        return settle_patch(w, change->vertex, gain, txn);
    w->trial.gained = gain;
    return ends_well(w);
}

/* J3 of judge.h. */
static bool keeps(void *self, kiln_remesher *remesher, const kiln_change *change)
{
    kiln_energy_pass *w = self;
    kiln_txn txn = kiln_txn_begin(remesher->mesh);
    if (txn.depth == 0)
        return false;
    kiln_energy_look(w);
    const kiln_energy_slot *judged = w->trial.judged;
    const uint32_t ends[2] = {judged ? judged->edge.a : 0, judged ? judged->edge.b : 0};
    bool kept = judged ? tie(w, change->vertex, ends, 2, &txn) &&
                             store(w, &judged->patch, change->vertex, &txn)
                       : settles(w, change, &txn);
    kiln_txn_settle(&txn, kept ? KILN_ACCEPTED : KILN_REFUSED_JUDGED);
    return kept;
}

/* J2 */
static bool keeps_shape(void *self, const kiln_remesher *remesher, const kiln_proposal *proposal)
{
    (void)remesher;
    return kiln_energy_keeps_shape(self, proposal->before, proposal->after);
}

void kiln_energy_look(kiln_energy_pass *pass)
{
    const kiln_field *vain = kiln_mesh_field(pass->remesher->mesh, KILN_ON_TET, KILN_FIELD_VAIN);
    const kiln_field *still =
        kiln_mesh_field(pass->remesher->mesh, KILN_ON_VERTEX, KILN_FIELD_STILL);
    const kiln_field *needed =
        kiln_mesh_field(pass->remesher->mesh, KILN_ON_VERTEX, KILN_FIELD_NEEDED);
    const kiln_field *flat = kiln_mesh_field(pass->remesher->mesh, KILN_ON_TET, KILN_FIELD_FLAT);
    pass->flat = flat ? (kiln_energy_flat(*)[KILN_ENERGY_FLIPS])(void *)flat->data : NULL;
    pass->vain = vain ? (double *)(void *)vain->data : NULL;
    pass->still = still ? (double *)(void *)still->data : NULL;
    pass->needed = needed ? (double *)(void *)needed->data : NULL;
    kiln_objective_look(pass->objective);
}

kiln_judge kiln_energy_judge(kiln_energy_pass *pass)
{
    return (kiln_judge){.name = "energy",
                        .self = pass,
                        .gain = -INFINITY,
                        .least = 0.0,
                        .edge = {0.0, INFINITY},
                        .may = keeps_shape,
                        .keeps = keeps};
}

bool kiln_energy_find_edge(kiln_energy_pass *pass, uint32_t a, uint32_t b, uint32_t *tet,
                           uint32_t corner[2])
{
    const kiln_mesh *mesh = pass->remesher->mesh;
    if (!kiln_vertex_live(mesh, a) || !kiln_vertex_live(mesh, b) ||
        kiln_edge_tets(mesh, a, b, &pass->walker, NULL) != KILN_OK || pass->walker.tets.count == 0)
        return false;
    *tet = pass->walker.tets.data[0];
    corner[0] = kiln_tet_corner(&mesh->tet[*tet], a);
    corner[1] = kiln_tet_corner(&mesh->tet[*tet], b);
    return true;
}

static bool conclude(kiln_energy_pass *w, kiln_verdict verdict, kiln_energy_count *count)
{
    const kiln_patch *patch = w->trial.judged  ? &w->trial.judged->patch
                              : w->trial.rests ? NULL
                                               : &w->patch;
    kiln_energy_look(w);
    if (verdict != KILN_ACCEPTED)
        return false;
    if (patch)
        kiln_energy_forget(w, patch->tets.data, patch->tets.count);
    kiln_energy_forget(w, w->remesher->changed.data, w->remesher->changed.count);
    if (w->options->lost && w->remesher->changed.count > 0)
        w->options->lost[w->remesher->mesh->info[w->remesher->changed.data[0]].part] -=
            w->trial.rise;
    count->taken++;
    count->gained += w->trial.gained + w->trial.drag; /* by which the objective falls */
    w->status = tell_surface(w, patch);
    return w->status == KILN_OK;
}

bool kiln_energy_make(kiln_energy_pass *pass, const kiln_proposal *proposal,
                      kiln_energy_count *count)
{
    pass->trial.shape = kiln_energy_end_shape(pass, proposal->old, proposal->old_count);
    if (!pass->trial.judged) {
        pass->objective->apex =
            pass->objective
                ->end[proposal->gone_count > 0 ? proposal->gone[0]
                                               : pass->remesher->mesh->tet[proposal->old[0]].v[0]];
        pass->trial.before = value_of(pass, proposal->old, proposal->old_count);
        pass->trial.begin = stored_at_begin(pass, proposal->old, proposal->old_count);
        if (!looks_round(pass, proposal->old, proposal->old_count, proposal->gone,
                         proposal->gone_count))
            return false;
    }
    if (!conclude(pass, kiln_remesher_apply(pass->remesher, proposal), count))
        return false;
    for (size_t i = 0; i < pass->remesher->changed.count; i++)
        kiln_energy_stir(pass, pass->remesher->mesh->tet[pass->remesher->changed.data[i]].v, 4);
    return true;
}

bool kiln_energy_try(kiln_energy_pass *pass, const kiln_proposal *proposal,
                     kiln_energy_count *count)
{
    count->trials++;
    return kiln_energy_make(pass, proposal, count);
}

bool kiln_energy_try_move(kiln_energy_pass *pass, uint32_t vertex, const kiln_place *place,
                          kiln_energy_count *count)
{
    count->trials++;
    pass->status = kiln_star(pass->remesher->mesh, vertex, &pass->walker, pass->error);
    if (pass->status != KILN_OK)
        return false;
    const kiln_u32_array *star = &pass->walker.tets;
    pass->trial.shape = kiln_energy_end_shape(pass, star->data, star->count);
    pass->objective->apex = pass->objective->end[vertex];
    pass->trial.before = value_of(pass, star->data, star->count);
    pass->trial.begin = stored_at_begin(pass, star->data, star->count);
    /* One inside makes no face another. */
    if (!looks_round(pass, star->data, is_outer(pass, vertex) ? star->count : 0, &vertex, 1))
        return false;
    bool moved = conclude(pass, kiln_remesher_move(pass->remesher, vertex, place), count);
    kiln_energy_stir(pass, &vertex, moved);
    return moved;
}

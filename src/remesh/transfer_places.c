/* Where the new and moved vertices were: old vertices and weights for each. */
#include "base/parallel.h"
#include "geom/distance.h"
#include "remesh/transfer_impl.h"

#include <string.h>

/* A point counts as held by a tet from this distance on, relative to the tet; see kiln_begin_place.
 */
static const double HELD = 0x1p-40;

typedef struct placing {
    kiln_transfer_job *job;
    const uint32_t *hint;    /* [vertex of the job] tet of the old mesh */
    kiln_begin_place *place; /* [vertex of the job] */
} placing;

static void take_corners(const kiln_begin_view *view, uint32_t tet, const double weight[4],
                         double share, kiln_vertex_source *source)
{
    const uint32_t *v = kiln_begin_tet(view, tet)->v;
    for (int i = 0; i < 4; i++) {
        source->row[source->count] = v[i];
        source->weight[source->count++] = share * weight[i];
    }
}

static void place_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const placing *p = user;
    kiln_transfer_job *job = p->job;
    for (size_t i = begin; i < end; i++) {
        kiln_vertex_source *source = &job->vertices.data[i];
        kiln_vec3 at = kiln_mesh_positions(job->to, job->space)[source->vertex];
        kiln_begin_place *place = &p->place[i];
        if (p->hint[i] == KILN_NONE) {
            *place = (kiln_begin_place){.tet = KILN_NONE};
            continue;
        }
        kiln_begin_locate_in(&job->view, at, p->hint[i], place);
        kiln_begin_tame(&job->view, at, place);
        source->count = 0;
        take_corners(&job->view, place->tet, place->weight, 1.0, source);
    }
}

/* A tet at the vertex at the begin, if it was there and in the same body: its number may have been
 * freed and given out again. */
static uint32_t begin_anchor(const kiln_transfer_job *job, const kiln_begin_column *infos,
                             uint32_t vertex, uint32_t body)
{
    if (vertex >= infos->rows)
        return KILN_NONE;
    const kiln_vertex_info *info = kiln_begin_row(infos, vertex);
    if (info->flags & KILN_VERTEX_DEAD || info->tet == KILN_NONE)
        return KILN_NONE;
    uint32_t part = kiln_begin_info(&job->view, info->tet)->part;
    uint32_t begin_body = kiln_begin_parts(job->from, NULL)[part].body;
    for (size_t i = 0; i < job->options.merged_count; i++)
        if (job->options.merged[i].from == begin_body)
            begin_body = job->options.merged[i].into;
    return begin_body == body ? info->tet : KILN_NONE;
}

/* The nearest begin-of-pass vertex among a vertex and its neighbours, by whose tet the walk starts.
 * A number that was freed and given out again was somewhere else, so the vertex's own is one
 * candidate of several. */
static kiln_status hint_for(const kiln_transfer_job *job, const kiln_begin_column *infos,
                            uint32_t vertex, kiln_walker *walker, uint32_t *hint, kiln_error *error)
{
    const kiln_mesh *mesh = job->to;
    uint32_t body = mesh->parts.data[mesh->info[mesh->vertex[vertex].tet].part].body;
    double nearest = INFINITY;
    KILN_TRY(kiln_star(mesh, vertex, walker, error));
    for (size_t k = 0; k < 4 * walker->tets.count; k++) {
        uint32_t w = mesh->tet[walker->tets.data[k / 4]].v[k % 4];
        uint32_t anchor = begin_anchor(job, infos, w, body);
        if (anchor == KILN_NONE)
            continue;
        kiln_vec3 away = kiln_v3_sub(kiln_begin_position(&job->view, w),
                                     kiln_mesh_positions(mesh, job->space)[vertex]);
        if (kiln_v3_norm2(away) < nearest) {
            nearest = kiln_v3_norm2(away);
            *hint = anchor;
        }
    }
    return KILN_OK;
}

/* New vertices in the middle of new ones learn from neighbours that have a hint, round by round. */
static kiln_status find_hints(kiln_transfer_job *job, uint32_t *hint, kiln_walker *walker,
                              kiln_idset *number, kiln_error *error)
{
    const kiln_mesh *mesh = job->to;
    kiln_begin_column infos = kiln_begin_column_of(job->from, KILN_ON_VERTEX, 2);
    size_t count = job->vertices.count;
    bool open = false;
    KILN_TRY(kiln_idset_clear(job->context, number, count, error));
    for (size_t i = 0; i < count; i++) {
        uint32_t v = job->vertices.data[i].vertex;
        kiln_idset_add(number, kiln_idset_at(number, v), v, (uint32_t)i);
        hint[i] = KILN_NONE;
        if (mesh->vertex[v].tet != KILN_NONE)
            KILN_TRY(hint_for(job, &infos, v, walker, &hint[i], error));
        open |= hint[i] == KILN_NONE;
    }
    for (bool progress = true; progress && open;) {
        progress = open = false;
        for (size_t i = 0; i < count; i++) {
            uint32_t v = job->vertices.data[i].vertex;
            if (hint[i] != KILN_NONE || mesh->vertex[v].tet == KILN_NONE)
                continue;
            KILN_TRY(kiln_star(mesh, v, walker, error));
            for (size_t k = 0; hint[i] == KILN_NONE && k < 4 * walker->tets.count; k++) {
                uint32_t w = mesh->tet[walker->tets.data[k / 4]].v[k % 4];
                const kiln_idset_slot *slot = kiln_idset_at(number, w);
                if (slot->epoch == number->epoch)
                    hint[i] = hint[slot->value];
            }
            progress |= hint[i] != KILN_NONE;
            open |= hint[i] == KILN_NONE;
        }
    }
    return KILN_OK;
}

static kiln_status place_with(kiln_transfer_job *job, uint32_t *hint, kiln_begin_place *place,
                              kiln_error *error)
{
    kiln_walker walker;
    kiln_idset number = {0};
    kiln_walker_init(&walker, job->context);
    kiln_status status = find_hints(job, hint, &walker, &number, error);
    kiln_walker_free(&walker);
    kiln_array_free(job->context, &number.slots);
    KILN_TRY(status);
    placing p = {job, hint, place};
    kiln_parallel_for(job->context, job->vertices.count, KILN_TRANSFER_GRAIN, place_chunk, &p);
    for (size_t i = 0; i < job->vertices.count; i++) {
        job->report->outside += !place[i].inside;
        job->report->visits += place[i].visits;
    }
    return KILN_OK;
}

kiln_status kiln_transfer_place_pass(kiln_transfer_job *job, kiln_error *error)
{
    size_t count = job->vertices.count + 1;
    uint32_t *hint = kiln_resize(job->context, NULL, 0, count * sizeof *hint);
    kiln_begin_place *place = kiln_resize(job->context, NULL, 0, count * sizeof *place);
    kiln_status status = hint && place ? place_with(job, hint, place, error)
                                       : kiln_fail_memory(error, count * sizeof *place);
    kiln_release(job->context, hint, count * sizeof *hint);
    kiln_release(job->context, place, count * sizeof *place);
    return status;
}

/* Tets of up to two parts that hold a point; of each part the first one. */
typedef struct holders {
    const kiln_transfer_job *job;
    kiln_vec3 at;
    uint32_t count, tet[2], part[2];
    double weight[2][4];
    uint32_t visits;
} holders;

static bool look_inside(void *user, uint32_t item)
{
    holders *h = user;
    const kiln_transfer_tet *source = &h->job->sources.data[item];
    uint32_t part = kiln_begin_info(&h->job->view, source->tet)->part;
    h->visits++;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->part[i] == part && h->tet[i] <= source->tet)
            return true;
    kiln_closest_point closest = kiln_closest_on_tet(h->at, source->corner);
    double size2 = 0.0;
    for (int i = 0; i < 4; i++)
        size2 = fmax(size2, kiln_v3_norm2(kiln_v3_sub(source->corner[i], h->at)));
    if (closest.distance2 > HELD * HELD * size2)
        return true;
    uint32_t i = 0;
    while (i < h->count && h->part[i] != part)
        i++;
    if (i == 2)
        return true;
    h->count = i == h->count ? i + 1 : h->count;
    h->tet[i] = source->tet;
    h->part[i] = part;
    memcpy(h->weight[i], closest.weight, sizeof closest.weight);
    return true;
}

static double distance2_to_source(void *user, uint32_t item, kiln_vec3 point)
{
    const kiln_transfer_job *job = user;
    return kiln_closest_on_tet(point, job->sources.data[item].corner).distance2;
}

/* VPF 4.3: the nearest point of the old mesh, its surface that is. */
static void take_nearest(kiln_transfer_job *job, kiln_vec3 at, kiln_vertex_source *source)
{
    uint32_t item =
        kiln_bvh_closest(&job->source_tree, at, INFINITY, distance2_to_source, job, NULL);
    if (item == KILN_BVH_NONE)
        return;
    const kiln_transfer_tet *tet = &job->sources.data[item];
    kiln_closest_point closest = kiln_closest_on_tet(at, tet->corner);
    take_corners(&job->view, tet->tet, closest.weight, 1.0, source);
}

static void place_in_tree(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const placing *p = user;
    kiln_transfer_job *job = p->job;
    for (size_t i = begin; i < end; i++) {
        kiln_vertex_source *source = &job->vertices.data[i];
        holders h = {.job = job, .at = kiln_mesh_positions(job->to, job->space)[source->vertex]};
        kiln_bvh_query_box(&job->source_tree, (kiln_box){h.at, h.at}, look_inside, &h);
        source->count = 0;
        for (uint32_t k = 0; k < h.count; k++)
            take_corners(&job->view, h.tet[k], h.weight[k], 1.0 / h.count, source);
        if (h.count == 0)
            take_nearest(job, h.at, source);
        p->place[i] = (kiln_begin_place){.visits = h.visits, .inside = h.count > 0};
    }
}

kiln_status kiln_transfer_place_all(kiln_transfer_job *job, kiln_error *error)
{
    size_t bytes = (job->vertices.count + 1) * sizeof(kiln_begin_place);
    kiln_begin_place *place = kiln_resize(job->context, NULL, 0, bytes);
    if (!place)
        return kiln_fail_memory(error, bytes);
    placing p = {job, NULL, place};
    kiln_parallel_for(job->context, job->vertices.count, KILN_TRANSFER_GRAIN, place_in_tree, &p);
    for (size_t i = 0; i < job->vertices.count; i++) {
        job->report->outside += !place[i].inside;
        job->report->visits += place[i].visits;
    }
    kiln_release(job->context, place, bytes);
    return KILN_OK;
}

typedef struct heir_search {
    const kiln_transfer_job *job;
    uint32_t cluster;
} heir_search;

static double distance2_to_target(void *user, uint32_t item, kiln_vec3 point)
{
    const heir_search *search = user;
    const kiln_transfer_tet *target = &search->job->targets.data[item];
    return target->cluster == search->cluster ? kiln_closest_on_tet(point, target->corner).distance2
                                              : INFINITY;
}

static void find_heir_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    kiln_transfer_job *job = user;
    for (size_t i = begin; i < end; i++) {
        kiln_vertex_gone *gone = &job->gone.data[i];
        heir_search search = {job, gone->cluster};
        uint32_t item = kiln_bvh_closest(&job->target_tree, gone->at, INFINITY, distance2_to_target,
                                         &search, NULL);
        gone->heir = item == KILN_BVH_NONE ? KILN_NONE : item;
        if (gone->heir == KILN_NONE)
            continue;
        kiln_closest_point closest = kiln_closest_on_tet(gone->at, job->targets.data[item].corner);
        memcpy(gone->weight, closest.weight, sizeof gone->weight);
    }
}

void kiln_transfer_find_heirs(kiln_transfer_job *job)
{
    kiln_parallel_for(job->context, job->gone.count, KILN_TRANSFER_GRAIN, find_heir_chunk, job);
}

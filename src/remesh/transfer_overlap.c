/* Overlap volumes of the tets that came with those that went.
 *
 * Candidates come from the two box trees in batches; a batch is clipped in parallel and what
 * overlaps is kept. At the end overlaps are sorted by target, so results do not depend on the
 * order of the search. */
#include "base/parallel.h"
#include "geom/distance.h"
#include "remesh/transfer_impl.h"

#include <float.h>
#include <string.h>

enum { BATCH = 1 << 12, CLIP_GRAIN = 512 };

/* Clipping leaves volumes of rounding size between neighbours, which are none. A real overlap this
 * small against both tets changes no mean by more. */
static const double DUST = 1e-12;

typedef struct clip_result {
    kiln_moments moments; /* volume 0: none */
    bool same;            /* both tets have the same corners */
} clip_result;

typedef struct gathering {
    kiln_transfer_job *job;
    kiln_bvh_pair *batch; /* [BATCH] */
    clip_result *result;  /* [BATCH] */
    size_t count;
    kiln_clip_tet *source, *target; /* [source], [target] */
    KILN_ARRAY_OF(kiln_overlap)
    found;
    KILN_ARRAY_OF(kiln_moments)
    moments;           /* [found], when the job needs them */
    uint32_t *same_as; /* [target] source with the same corners, or KILN_NONE */
    uint32_t *taken;   /* [source] target with the same corners, or KILN_NONE */
    kiln_status status;
    kiln_error *error;
} gathering;

static kiln_status build_tree(kiln_context *context, const kiln_transfer_tet *tets, size_t count,
                              kiln_bvh *tree, kiln_error *error)
{
    kiln_box *boxes = kiln_resize(context, NULL, 0, (count + 1) * sizeof *boxes);
    if (!boxes)
        return kiln_fail_memory(error, (count + 1) * sizeof *boxes);
    for (size_t i = 0; i < count; i++)
        boxes[i] = kiln_box_of(tets[i].corner, 4);
    kiln_status status = kiln_bvh_build(tree, context, boxes, count, error);
    kiln_release(context, boxes, (count + 1) * sizeof *boxes);
    return status;
}

static bool same_point(kiln_vec3 a, kiln_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool same_corners(const kiln_vec3 a[4], const kiln_vec3 b[4])
{
    for (int i = 0; i < 4; i++) {
        int j = 0;
        while (j < 4 && !same_point(a[i], b[j]))
            j++;
        if (j == 4)
            return false;
    }
    return true;
}

static clip_result clip(const gathering *g, uint32_t source, uint32_t target)
{
    const kiln_transfer_job *job = g->job;
    const kiln_clip_tet *a = &g->source[source], *b = &g->target[target];
    clip_result r = {.same = false};
    if (a->det > 0.0 && b->det > 0.0 && kiln_clip_apart(job->context->isa, a, b))
        return r;
    const kiln_transfer_tet *s = &job->sources.data[source], *t = &job->targets.data[target];
    r.same = same_corners(s->corner, t->corner);
    r.moments = r.same ? kiln_tet_moments(t->corner, t->corner[0], job->degree)
                       : kiln_clip_overlap(a, b, t->corner[0], job->degree);
    if (!r.same && r.moments.volume <= DUST * s->volume && r.moments.volume <= DUST * t->volume)
        r.moments.volume = 0.0;
    return r;
}

static void clip_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    gathering *g = user;
    for (size_t i = begin; i < end; i++)
        g->result[i] = clip(g, g->batch[i].a, g->batch[i].b);
}

static kiln_status clip_batch(gathering *g)
{
    kiln_context *context = g->job->context;
    kiln_parallel_for(context, g->count, CLIP_GRAIN, clip_chunk, g);
    g->job->report->candidates += g->count;
    for (size_t i = 0; i < g->count; i++) {
        const clip_result *r = &g->result[i];
        kiln_overlap overlap = {g->batch[i].a, g->batch[i].b, r->moments.volume};
        if (r->same && g->same_as[overlap.target] == KILN_NONE &&
            g->taken[overlap.source] == KILN_NONE) {
            g->same_as[overlap.target] = overlap.source;
            g->taken[overlap.source] = overlap.target;
        }
        if (r->moments.volume == 0.0 && !r->same)
            continue;
        KILN_TRY(kiln_array_push(context, &g->found, overlap, g->error));
        if (g->job->degree != KILN_MOMENT_VOLUME)
            KILN_TRY(kiln_array_push(context, &g->moments, r->moments, g->error));
    }
    g->count = 0;
    return KILN_OK;
}

static bool take_pairs(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    gathering *g = user;
    const kiln_transfer_job *job = g->job;
    for (size_t i = 0; i < count; i++) {
        if (!kiln_transfer_compatible(&job->sources.data[pairs[i].a],
                                      &job->targets.data[pairs[i].b]))
            continue;
        g->batch[g->count++] = pairs[i];
        if (g->count == BATCH)
            g->status = clip_batch(g);
        if (g->status != KILN_OK)
            return false;
    }
    return true;
}

/* A tet with an exact counterpart has no other pairs. */
static bool belongs(const gathering *g, const kiln_overlap *overlap)
{
    uint32_t source = g->same_as[overlap->target], target = g->taken[overlap->source];
    return (source == KILN_NONE || source == overlap->source) &&
           (target == KILN_NONE || target == overlap->target);
}

static void sort_by_source(kiln_transfer_job *job, uint32_t begin, uint32_t end)
{
    kiln_overlap *overlap = job->overlaps.data;
    kiln_moments *moments = job->moments.count ? job->moments.data : NULL;
    for (uint32_t i = begin + 1; i < end; i++) {
        for (uint32_t k = i; k > begin && overlap[k - 1].source > overlap[k].source; k--) {
            kiln_overlap other = overlap[k];
            overlap[k] = overlap[k - 1];
            overlap[k - 1] = other;
            if (moments) {
                kiln_moments held = moments[k];
                moments[k] = moments[k - 1];
                moments[k - 1] = held;
            }
        }
    }
}

/* Counting sort by target, then the few of each target by source. */
static kiln_status sort_overlaps(kiln_transfer_job *job, gathering *g, kiln_error *error)
{
    kiln_context *context = job->context;
    bool full = job->degree != KILN_MOMENT_VOLUME;
    size_t targets = job->targets.count;
    KILN_TRY(kiln_array_reserve(context, &job->first, targets + 2, error));
    uint32_t *first = job->first.data;
    memset(first, 0, (targets + 2) * sizeof *first);
    size_t kept = 0;
    for (size_t i = 0; i < g->found.count; i++) {
        if (!belongs(g, &g->found.data[i]))
            continue;
        first[g->found.data[i].target + 2]++;
        kept++;
    }
    if (kept >= KILN_NONE)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "more than 2^32 overlaps");
    for (size_t t = 2; t < targets + 2; t++)
        first[t] += first[t - 1];
    KILN_TRY(kiln_array_reserve(context, &job->overlaps, kept, error));
    if (full)
        KILN_TRY(kiln_array_reserve(context, &job->moments, kept, error));
    job->overlaps.count = kept;
    job->moments.count = full ? kept : 0;
    job->first.count = targets + 1;
    for (size_t i = 0; i < g->found.count; i++) {
        const kiln_overlap *overlap = &g->found.data[i];
        if (!belongs(g, overlap))
            continue;
        uint32_t at = first[overlap->target + 1]++;
        job->overlaps.data[at] = *overlap;
        if (full)
            job->moments.data[at] = g->moments.data[i];
    }
    for (size_t t = 0; t < targets; t++)
        sort_by_source(job, first[t], first[t + 1]);
    return KILN_OK;
}

typedef struct nearest_search {
    const kiln_transfer_tet *tets, *like;
} nearest_search;

static double distance2_to(void *user, uint32_t item, kiln_vec3 point)
{
    const nearest_search *search = user;
    const kiln_transfer_tet *tet = &search->tets[item];
    if (!kiln_transfer_compatible(tet, search->like))
        return INFINITY;
    return kiln_closest_on_tet(point, tet->corner).distance2;
}

/* The compatible source or target nearest to a point, or KILN_NONE. */
static uint32_t nearest_tet(const kiln_transfer_job *job, bool among_targets,
                            const kiln_transfer_tet *like, kiln_vec3 point)
{
    nearest_search search = {among_targets ? job->targets.data : job->sources.data, like};
    uint32_t item = kiln_bvh_closest(among_targets ? &job->target_tree : &job->source_tree, point,
                                     INFINITY, distance2_to, &search, NULL);
    return item == KILN_BVH_NONE ? KILN_NONE : item;
}

/* A target outside the old domain takes part in the nearest source by its own volume, so that it
 * has values and a share of the amounts. Its moments stay zero: the old field says nothing there.
 */
static kiln_status place_stray_targets(gathering *g)
{
    kiln_transfer_job *job = g->job;
    uint8_t *met = kiln_resize(job->context, NULL, 0, job->targets.count + 1);
    if (!met)
        return kiln_fail_memory(g->error, job->targets.count + 1);
    memset(met, 0, job->targets.count + 1);
    for (size_t i = 0; i < g->found.count; i++)
        if (belongs(g, &g->found.data[i]))
            met[g->found.data[i].target] = 1;
    kiln_status status = KILN_OK;
    for (uint32_t t = 0; t < job->targets.count && status == KILN_OK; t++) {
        const kiln_transfer_tet *target = &job->targets.data[t];
        if (met[t])
            continue;
        uint32_t source = nearest_tet(job, false, target, kiln_transfer_centroid(target->corner));
        if (source == KILN_NONE)
            continue;
        kiln_overlap overlap = {source, t, fmax(target->volume, DBL_MIN)};
        g->taken[source] = KILN_NONE;
        job->report->stray_targets++;
        status = kiln_array_push(job->context, &g->found, overlap, g->error);
        if (status == KILN_OK && job->degree != KILN_MOMENT_VOLUME)
            status = kiln_array_push(job->context, &g->moments, (kiln_moments){0}, g->error);
    }
    kiln_release(job->context, met, job->targets.count + 1);
    return status;
}

/* A live tet of the pass that shared a face with the source and did not change. */
static uint32_t unchanged_neighbour(const kiln_transfer_job *job, const kiln_transfer_tet *source)
{
    const kiln_mesh *mesh = job->to;
    const kiln_tet *tet = kiln_begin_tet(&job->view, source->tet);
    for (int f = 0; f < 4; f++) {
        if (kiln_link_is_surface(tet->n[f]))
            continue;
        uint32_t other = tet->n[f] / 4;
        if (kiln_tet_live(mesh, other) && mesh->info[other].region == source->region &&
            mesh->info[other].changed == kiln_begin_info(&job->view, other)->changed)
            return other;
    }
    return KILN_NONE;
}

static kiln_status place_stray_sources(kiln_transfer_job *job, kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(job->context, &job->covered, job->sources.count, error));
    job->covered.count = job->sources.count;
    for (size_t i = 0; i < job->sources.count; i++)
        job->covered.data[i] = 0.0;
    for (size_t i = 0; i < job->overlaps.count; i++)
        job->covered.data[job->overlaps.data[i].source] += job->overlaps.data[i].volume;
    for (uint32_t s = 0; s < job->sources.count; s++) {
        const kiln_transfer_tet *source = &job->sources.data[s];
        if (job->covered.data[s] > 0.0)
            continue;
        uint32_t to = nearest_tet(job, true, source, kiln_transfer_centroid(source->corner));
        if (to != KILN_NONE) {
            kiln_bvh_pair stray = {s, to};
            KILN_TRY(kiln_array_push(job->context, &job->strays, stray, error));
            job->report->stray_sources++;
            continue;
        }
        to = job->pass ? unchanged_neighbour(job, source) : KILN_NONE;
        job->report->lost_sources += to == KILN_NONE;
        if (to != KILN_NONE) {
            kiln_bvh_pair heir = {s, to};
            KILN_TRY(kiln_array_push(job->context, &job->heirs, heir, error));
            job->report->stray_sources++;
        }
    }
    return KILN_OK;
}

static kiln_status gather(gathering *g, kiln_error *error)
{
    kiln_transfer_job *job = g->job;
    memset(g->same_as, 0xFF, job->targets.count * sizeof *g->same_as);
    memset(g->taken, 0xFF, job->sources.count * sizeof *g->taken);
    kiln_bvh_visit_pair_overlap(&job->source_tree, &job->target_tree, take_pairs, g);
    KILN_TRY(g->status);
    KILN_TRY(clip_batch(g));
    for (size_t t = 0; t < job->targets.count; t++)
        job->report->kept += g->same_as[t] != KILN_NONE;
    KILN_TRY(place_stray_targets(g));
    KILN_TRY(sort_overlaps(job, g, error));
    job->report->pairs = job->overlaps.count;
    return place_stray_sources(job, error);
}

kiln_status kiln_transfer_plant_trees(kiln_transfer_job *job, kiln_error *error)
{
    kiln_context *context = job->context;
    KILN_TRY(build_tree(context, job->sources.data, job->sources.count, &job->source_tree, error));
    return build_tree(context, job->targets.data, job->targets.count, &job->target_tree, error);
}

static void prepare_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const gathering *g = user;
    size_t sources = g->job->sources.count;
    for (size_t i = begin; i < end; i++)
        kiln_clip_tet_init(&g->source[i], i < sources ? g->job->sources.data[i].corner
                                                      : g->job->targets.data[i - sources].corner);
}

kiln_status kiln_transfer_find_overlaps(kiln_transfer_job *job, kiln_error *error)
{
    kiln_context *context = job->context;
    size_t sources = job->sources.count, targets = job->targets.count;
    size_t ready_size = (sources + targets) * sizeof(kiln_clip_tet);
    size_t same_size = (targets + 1) * sizeof(uint32_t),
           taken_size = (sources + 1) * sizeof(uint32_t);
    gathering g = {.job = job, .error = error};
    g.batch = kiln_resize(context, NULL, 0, BATCH * sizeof *g.batch);
    g.result = kiln_resize(context, NULL, 0, BATCH * sizeof *g.result);
    g.source = kiln_resize(context, NULL, 0, ready_size);
    g.target = g.source + sources;
    g.same_as = kiln_resize(context, NULL, 0, same_size);
    g.taken = kiln_resize(context, NULL, 0, taken_size);
    kiln_status status = KILN_OK;
    if (g.batch && g.result && g.source && g.same_as && g.taken) {
        kiln_parallel_for(context, sources + targets, KILN_TRANSFER_GRAIN, prepare_chunk, &g);
        status = gather(&g, error);
    } else {
        status = kiln_fail_memory(error, BATCH * sizeof *g.result + ready_size);
    }
    kiln_release(context, g.batch, BATCH * sizeof *g.batch);
    kiln_release(context, g.result, BATCH * sizeof *g.result);
    kiln_release(context, g.source, ready_size);
    kiln_release(context, g.same_as, same_size);
    kiln_release(context, g.taken, taken_size);
    kiln_array_free(context, &g.found);
    kiln_array_free(context, &g.moments);
    return status;
}

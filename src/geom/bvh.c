#include "geom/bvh.h"

#include "base/assert.h"
#include "base/parallel.h"
#include "geom/bvh_kernel.h"
#include "geom/curve_order.h"

#include <string.h>

enum { BOX_GRAIN = 1 << 13, GROUP_GRAIN = 1 << 10, SEARCH_GRAIN = 16, FEW_CHUNKS = 8 };
/* Bits an axis of the sorting curve: 1024 cells a side tell apart what a leaf can. */
enum { ORDER_BITS = 10, ORDER_BITS_LARGE = 13, LARGE = 1 << 20 };

/* Memory: one block for all groups, one for the items, one for the vertices. */
static size_t total_groups(const kiln_bvh *bvh)
{
    size_t total = 0;
    for (int l = 0; l < bvh->levels; l++)
        total += bvh->groups[l];
    return total;
}

static size_t vertex_bytes(const kiln_bvh *bvh, int arity)
{
    return bvh->groups[0] * (size_t)arity * KILN_BVH_WIDTH * sizeof(uint32_t);
}

static void drop_vertices(kiln_bvh *bvh)
{
    kiln_release(bvh->context, bvh->vertex, vertex_bytes(bvh, bvh->arity));
    bvh->vertex = NULL;
    bvh->arity = 0;
}

void kiln_bvh_destroy(kiln_bvh *bvh)
{
    if (bvh->context) {
        kiln_context *context = bvh->context;
        kiln_release(context, bvh->level[0], total_groups(bvh) * sizeof(kiln_bvh_group));
        kiln_release(context, bvh->item, vertex_bytes(bvh, 1));
        drop_vertices(bvh);
    }
    *bvh = (kiln_bvh){0};
}

static kiln_status allocate(kiln_bvh *bvh, kiln_context *context, size_t count, kiln_error *error)
{
    bvh->context = context;
    bvh->count = count;
    size_t lanes = count;
    do {
        lanes = (lanes + KILN_BVH_WIDTH - 1) / KILN_BVH_WIDTH;
        bvh->groups[bvh->levels++] = lanes;
    } while (lanes > 1);
    size_t bytes = total_groups(bvh) * sizeof(kiln_bvh_group);
    bvh->level[0] = kiln_resize(context, NULL, 0, bytes);
    bvh->item = kiln_resize(context, NULL, 0, vertex_bytes(bvh, 1));
    if (!bvh->level[0] || !bvh->item)
        return kiln_fail_memory(error, bytes);
    for (int l = 1; l < bvh->levels; l++)
        bvh->level[l] = bvh->level[l - 1] + bvh->groups[l - 1];
    return KILN_OK;
}

typedef struct build_job {
    kiln_bvh *bvh;
    const kiln_box *boxes;
    kiln_vec3 *centre; /* NULL in a refit */
    kiln_box *bounds;  /* per chunk; low > high tells of a bad box */
    int level;
} build_job;

static void bound_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    build_job *job = user;
    kiln_box all = kiln_box_empty();
    double finite = 0.0;
    bool good = true;
    for (size_t i = begin; i < end; i++) {
        kiln_box b = job->boxes[i];
        all = kiln_box_join(all, b);
        good &= b.low.x <= b.high.x && b.low.y <= b.high.y && b.low.z <= b.high.z;
        kiln_vec3 c = kiln_v3_madd(kiln_v3_scale(b.low, 0.5), 0.5, b.high);
        finite += 0.0 * (c.x + c.y + c.z);
        if (job->centre)
            job->centre[i] = c;
    }
    job->bounds[chunk] = good && finite == 0.0 ? all : kiln_box_empty();
}

static kiln_status name_bad_box(const kiln_box *boxes, size_t count, kiln_error *error)
{
    for (size_t i = 0; i < count; i++) {
        kiln_box b = boxes[i];
        if (!kiln_v3_finite(b.low) || !kiln_v3_finite(b.high) || b.low.x > b.high.x ||
            b.low.y > b.high.y || b.low.z > b.high.z)
            return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                             "box %zu is not finite or has low > high", i);
    }
    return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1, "boxes are too large to be added up");
}

static kiln_status fit_frame(build_job *job, kiln_error *error)
{
    kiln_bvh *bvh = job->bvh;
    kiln_box few[FEW_CHUNKS]; /* small trees are refitted side by side: they ask for no memory */
    size_t chunks = kiln_chunk_count(bvh->count, BOX_GRAIN), bytes = chunks * sizeof *job->bounds;
    job->bounds = chunks <= FEW_CHUNKS ? few : kiln_resize(bvh->context, NULL, 0, bytes);
    if (!job->bounds)
        return kiln_fail_memory(error, bytes);
    kiln_parallel_for(bvh->context, bvh->count, BOX_GRAIN, bound_chunk, job);
    kiln_box all = kiln_box_empty();
    bool good = true;
    for (size_t c = 0; c < chunks; c++) {
        good &= job->bounds[c].low.x <= job->bounds[c].high.x;
        all = kiln_box_join(all, job->bounds[c]);
    }
    if (job->bounds != few)
        kiln_release(bvh->context, job->bounds, bytes);
    if (!good)
        return name_bad_box(job->boxes, bvh->count, error);
    kiln_vec3 size = kiln_v3_sub(all.high, all.low);
    double largest = size.x > size.y ? size.x : size.y;
    bvh->origin = all.low;
    largest = largest > size.z ? largest : size.z;
    bvh->slack = largest <= FLT_MAX ? 0x1p-23 * largest : INFINITY;
    return KILN_OK;
}

static void fill_lane(kiln_bvh_group *group, int k, kiln_box b, kiln_vec3 origin)
{
    group->low[0][k] = (float)(b.low.x - origin.x);
    group->low[1][k] = (float)(b.low.y - origin.y);
    group->low[2][k] = (float)(b.low.z - origin.z);
    group->high[0][k] = (float)(b.high.x - origin.x);
    group->high[1][k] = (float)(b.high.y - origin.y);
    group->high[2][k] = (float)(b.high.z - origin.z);
}

/* Where boxes reach beyond what a float holds. */
static void stop_lane(kiln_bvh_group *group, int k)
{
    for (int j = 0; j < 3; j++) {
        group->low[j][k] = kiln_bvh_coordinate(group->low[j][k]);
        group->high[j][k] = kiln_bvh_coordinate(group->high[j][k]);
    }
}

static void fill_leaves(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    build_job *job = user;
    kiln_bvh *bvh = job->bvh;
    bool large = bvh->slack == INFINITY;
    for (size_t g = begin; g < end; g++) {
        kiln_bvh_group *group = &bvh->level[0][g];
        for (int k = 0; k < KILN_BVH_WIDTH; k++) {
            uint32_t item = bvh->item[g * KILN_BVH_WIDTH + (size_t)k];
            kiln_box b = kiln_box_empty();
            if (item != KILN_BVH_NONE)
                b = job->boxes[item];
            fill_lane(group, k, b, bvh->origin);
            if (large && item != KILN_BVH_NONE)
                stop_lane(group, k);
        }
    }
}

static float lowest(const float v[8])
{
    float m = v[0];
    for (int i = 1; i < 8; i++)
        m = v[i] < m ? v[i] : m;
    return m;
}

static float highest(const float v[8])
{
    float m = v[0];
    for (int i = 1; i < 8; i++)
        m = v[i] > m ? v[i] : m;
    return m;
}

static void fill_level(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    build_job *job = user;
    const kiln_bvh *bvh = job->bvh;
    for (size_t g = begin; g < end; g++)
        for (size_t k = 0; k < KILN_BVH_WIDTH; k++) {
            size_t child = g * KILN_BVH_WIDTH + k;
            bool used = child < bvh->groups[job->level - 1];
            const kiln_bvh_group *from = &bvh->level[job->level - 1][used ? child : 0];
            kiln_bvh_group *to = &bvh->level[job->level][g];
            for (int j = 0; j < 3; j++) {
                to->low[j][k] = used ? lowest(from->low[j]) : INFINITY;
                to->high[j][k] = used ? highest(from->high[j]) : -INFINITY;
            }
        }
}

static void fill_boxes(build_job *job)
{
    kiln_bvh *bvh = job->bvh;
    kiln_parallel_for(bvh->context, bvh->groups[0], GROUP_GRAIN, fill_leaves, job);
    for (job->level = 1; job->level < bvh->levels; job->level++)
        kiln_parallel_for(bvh->context, bvh->groups[job->level], GROUP_GRAIN, fill_level, job);
}

static kiln_status build_tree(build_job *job, kiln_error *error)
{
    kiln_bvh *bvh = job->bvh;
    KILN_TRY(fit_frame(job, error));
    for (size_t i = bvh->count; i < bvh->groups[0] * KILN_BVH_WIDTH; i++)
        bvh->item[i] = KILN_BVH_NONE;
    int bits = bvh->count < LARGE ? ORDER_BITS : ORDER_BITS_LARGE;
    KILN_TRY(kiln_curve_order(bvh->context, job->centre, bvh->count, bits, bvh->item, error));
    fill_boxes(job);
    return KILN_OK;
}

kiln_status kiln_bvh_build(kiln_bvh *bvh, kiln_context *context, const kiln_box *boxes,
                           size_t count, kiln_error *error)
{
    /* A tree of the same size, as each step builds one, keeps its memory: fresh pages cost as much
     * as the sort. */
    bool fits = bvh->context == context && bvh->count == count;
    if (!fits)
        kiln_bvh_destroy(bvh);
    else
        drop_vertices(bvh);
    if (count >= KILN_BVH_NONE)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "%zu boxes are too many", count);
    bvh->context = context;
    if (count == 0)
        return KILN_OK;
    kiln_status status = fits ? KILN_OK : allocate(bvh, context, count, error);
    build_job job = {bvh, boxes, NULL, NULL, 0};
    if (status == KILN_OK) {
        job.centre = kiln_resize(context, NULL, 0, count * sizeof *job.centre);
        status = job.centre ? build_tree(&job, error)
                            : kiln_fail_memory(error, count * sizeof *job.centre);
    }
    if (job.centre)
        kiln_release(context, job.centre, count * sizeof *job.centre);
    if (status != KILN_OK)
        kiln_bvh_destroy(bvh);
    return status;
}

kiln_status kiln_bvh_refit(kiln_bvh *bvh, const kiln_box *boxes, kiln_error *error)
{
    if (bvh->count == 0)
        return KILN_OK;
    build_job job = {bvh, boxes, NULL, NULL, 0};
    KILN_TRY(fit_frame(&job, error));
    fill_boxes(&job);
    return KILN_OK;
}

kiln_status kiln_bvh_set_vertices(kiln_bvh *bvh, const uint32_t *vertices, int arity,
                                  kiln_error *error)
{
    KILN_ASSERT(arity >= 1 && arity <= KILN_BVH_ARITY);
    if (bvh->count == 0)
        return KILN_OK;
    size_t bytes = vertex_bytes(bvh, arity);
    uint32_t *made = kiln_resize(bvh->context, NULL, 0, bytes);
    if (!made)
        return kiln_fail_memory(error, bytes);
    drop_vertices(bvh);
    bvh->vertex = made;
    bvh->arity = arity;
    for (size_t g = 0; g < bvh->groups[0]; g++)
        for (size_t k = 0; k < KILN_BVH_WIDTH; k++) {
            uint32_t item = bvh->item[g * KILN_BVH_WIDTH + k];
            for (size_t j = 0; j < (size_t)arity; j++)
                made[(g * (size_t)arity + j) * KILN_BVH_WIDTH + k] =
                    item == KILN_BVH_NONE ? 0 : vertices[item * (size_t)arity + j];
        }
    return KILN_OK;
}

/* Overlap searches. Each worker appends to its own list; a chunk remembers where its pairs are, and
 * the lists are put together in the order of the chunks. */
typedef void (*overlap_range)(const kiln_bvh *a, const kiln_bvh *b, size_t begin, size_t end,
                              kiln_bvh_output *out);
static const overlap_range OVERLAP[KILN_ISA_COUNT] = KILN_SIMD_TABLE(kiln_bvh_overlap_range);

typedef struct pair_list {
    kiln_context *context;
    kiln_bvh_pair_array pairs;
    bool failed;
} pair_list;

typedef struct pair_run {
    size_t begin, count;
    int worker;
} pair_run;

typedef struct overlap_job {
    const kiln_bvh *a, *b;
    pair_list list[KILN_MAX_THREADS];
    pair_run *run;
} overlap_job;

static bool append_pairs(void *user, const kiln_bvh_pair *pairs, size_t count)
{
    pair_list *list = user;
    size_t total = list->pairs.count + count;
    if (kiln_array_reserve(list->context, &list->pairs, total, NULL) != KILN_OK) {
        list->failed = true;
        return false;
    }
    memcpy(list->pairs.data + list->pairs.count, pairs, count * sizeof *pairs);
    list->pairs.count = total;
    return true;
}

static void search_range(const kiln_bvh *a, const kiln_bvh *b, size_t begin, size_t end,
                         kiln_bvh_pair_sink sink, void *user)
{
    kiln_bvh_output out;
    out.flush = sink;
    out.user = user;
    out.count = 0;
    out.stopped = false;
    OVERLAP[b->context->isa](a, b, begin, end, &out);
    if (out.count > 0 && !out.stopped)
        sink(user, out.batch, out.count);
}

static void search_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    overlap_job *job = user;
    pair_list *list = &job->list[worker];
    size_t before = list->pairs.count;
    if (!list->failed)
        search_range(job->a, job->b, begin, end, append_pairs, list);
    job->run[chunk] = (pair_run){before, list->pairs.count - before, worker};
}

static kiln_status gather_pairs(overlap_job *job, size_t chunks, kiln_bvh_pair_array *pairs,
                                kiln_error *error)
{
    size_t total = pairs->count;
    for (size_t c = 0; c < chunks; c++)
        total += job->run[c].count;
    for (int w = 0; w < KILN_MAX_THREADS; w++)
        if (job->list[w].failed)
            return kiln_fail_memory(error, total * sizeof *pairs->data);
    KILN_TRY(kiln_array_reserve(job->b->context, pairs, total, error));
    for (size_t c = 0; c < chunks; c++) {
        const pair_run *run = &job->run[c];
        if (run->count == 0)
            continue;
        memcpy(pairs->data + pairs->count, job->list[run->worker].pairs.data + run->begin,
               run->count * sizeof *pairs->data);
        pairs->count += run->count;
    }
    return KILN_OK;
}

kiln_status kiln_bvh_pair_overlap(const kiln_bvh *a, const kiln_bvh *b, kiln_bvh_pair_array *pairs,
                                  kiln_error *error)
{
    if (a->count == 0 || b->count == 0)
        return KILN_OK;
    kiln_context *context = b->context;
    size_t chunks = kiln_chunk_count(a->groups[0], SEARCH_GRAIN);
    overlap_job job = {.a = a, .b = b};
    for (int w = 0; w < KILN_MAX_THREADS; w++)
        job.list[w].context = context;
    job.run = kiln_resize(context, NULL, 0, chunks * sizeof *job.run);
    if (!job.run)
        return kiln_fail_memory(error, chunks * sizeof *job.run);
    kiln_parallel_for(context, a->groups[0], SEARCH_GRAIN, search_chunk, &job);
    kiln_status status = gather_pairs(&job, chunks, pairs, error);
    for (int w = 0; w < KILN_MAX_THREADS; w++)
        kiln_array_free(context, &job.list[w].pairs);
    kiln_release(context, job.run, chunks * sizeof *job.run);
    return status;
}

kiln_status kiln_bvh_self_overlap(const kiln_bvh *bvh, kiln_bvh_pair_array *pairs,
                                  kiln_error *error)
{
    return kiln_bvh_pair_overlap(bvh, bvh, pairs, error);
}

void kiln_bvh_visit_pair_overlap(const kiln_bvh *a, const kiln_bvh *b, kiln_bvh_pair_sink sink,
                                 void *user)
{
    if (a->count > 0 && b->count > 0)
        search_range(a, b, 0, a->groups[0], sink, user);
}

void kiln_bvh_visit_self_overlap(const kiln_bvh *bvh, kiln_bvh_pair_sink sink, void *user)
{
    kiln_bvh_visit_pair_overlap(bvh, bvh, sink, user);
}

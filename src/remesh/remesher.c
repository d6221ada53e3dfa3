#include "remesh/remesher.h"
#include "base/parallel.h"
#include "geom/box.h"
#include "remesh/bend.h"
#include "remesh/sizing.h"
#include "remesh/space.h"
#include "remesh/surface.h"

const char *kiln_operator_name(kiln_operator kind)
{
    static const char *const names[KILN_OP_COUNT] = {
#define OPERATOR_NAME(name, text) text,
        KILN_OPERATOR_TABLE(OPERATOR_NAME)
#undef OPERATOR_NAME
    };
    return names[kind];
}

kiln_remesh_options kiln_remesh_default_options(void)
{
    return (kiln_remesh_options){.measure = KILN_MEASURE_QUALITY,
                                 .space = KILN_SPACE_MATERIAL,
                                 .surface = KILN_SURFACE_QUADRIC,
                                 .edge_limit = {0.5, 2.0},
                                 .band = 1.0};
}

void kiln_workspace_init(kiln_workspace *workspace, kiln_context *context)
{
    *workspace = (kiln_workspace){0};
    kiln_walker_init(&workspace->walker, context);
    kiln_arena_init(&workspace->arena, context);
}

void kiln_workspace_free(kiln_workspace *workspace)
{
    kiln_walker_free(&workspace->walker);
    kiln_arena_destroy(&workspace->arena);
}

static void score_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    kiln_remesher *remesher = user;
    const kiln_mesh *mesh = remesher->mesh;
    (void)chunk;
    (void)worker;
    for (size_t t = begin; t < end; t++)
        remesher->quality.data[t] = kiln_tet_live(mesh, (uint32_t)t)
                                        ? kiln_remesher_score_tet(remesher, (uint32_t)t)
                                        : INFINITY;
}

static kiln_status create_workers(kiln_remesher *remesher, kiln_error *error)
{
    size_t bytes = (size_t)remesher->context->threads * sizeof *remesher->workers;
    remesher->workers = kiln_resize(remesher->context, NULL, 0, bytes);
    if (!remesher->workers)
        return kiln_fail_memory(error, bytes);
    for (int i = 0; i < remesher->context->threads; i++)
        kiln_workspace_init(&remesher->workers[i], remesher->context);
    return KILN_OK;
}

static void destroy_workers(kiln_remesher *remesher)
{
    kiln_context *context = remesher->context;
    for (int i = 0; remesher->workers && i < context->threads; i++)
        kiln_workspace_free(&remesher->workers[i]);
    kiln_release(context, remesher->workers, (size_t)context->threads * sizeof *remesher->workers);
    remesher->workers = NULL;
}

kiln_operator_count kiln_remesher_count(const kiln_remesher *remesher, kiln_operator kind)
{
    kiln_operator_count count = {remesher->workspace.attempts[kind], remesher->successes[kind]};
    for (int i = 0; i < remesher->context->threads; i++)
        count.attempts += remesher->workers[i].attempts[kind];
    return count;
}

uint64_t kiln_remesher_effort(const kiln_remesher *remesher)
{
    static const uint64_t price[KILN_OP_COUNT] = {
        [KILN_OP_SMOOTHING] = 10,       [KILN_OP_EDGE_REMOVAL] = 1,
        [KILN_OP_FACE_REMOVAL] = 1,     [KILN_OP_INSERTION] = 100,
        [KILN_OP_EDGE_CONTRACTION] = 2, [KILN_OP_FACE_CONTRACTION] = 2,
        [KILN_OP_TET_CONTRACTION] = 2,  [KILN_OP_SPLIT] = 10,
    };
    uint64_t sum = 0;
    for (int k = 0; k < KILN_OP_COUNT; k++)
        sum += price[k] * kiln_remesher_count(remesher, (kiln_operator)k).attempts;
    return sum;
}

bool kiln_remesher_is_spent(const kiln_remesher *remesher)
{
    return kiln_context_is_abandoned(remesher->context) ||
           (remesher->effort_end && kiln_remesher_effort(remesher) >= remesher->effort_end);
}

kiln_judge kiln_remesher_judge(const kiln_remesher *remesher)
{
    const kiln_judge *judge = remesher->options.judge;
    return judge ? *judge : kiln_judge_quality(&remesher->options);
}

double kiln_remesher_flowed(const kiln_remesher *remesher, uint32_t vertex)
{
    const double *flowed = remesher->options.flowed;
    return flowed ? flowed[remesher->side.data[vertex].hint] : 0.0;
}

bool kiln_remesher_has_flowed(const kiln_remesher *remesher, uint32_t vertex)
{
    static const double LEAST = 0.1;
    return kiln_remesher_flowed(remesher, vertex) > LEAST;
}

static kiln_status begin_pass(kiln_remesher *remesher, kiln_error *error)
{
    kiln_mesh *mesh = remesher->mesh;
    enum { GRAIN = 4096 };
    KILN_TRY(create_workers(remesher, error));
    KILN_TRY(kiln_remesher_reserve(remesher, 0, 0, error));
    KILN_TRY(kiln_surface_create(remesher, error));
    if (remesher->mixed)
        kiln_space_classify(remesher);
    if (remesher->options.bend_elsewhere && !remesher->one_space && !remesher->mixed &&
        remesher->options.space == KILN_SPACE_MATERIAL)
        KILN_TRY(kiln_bend_create(remesher, error));
    for (uint32_t v = 0; remesher->options.sizing && v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            remesher->metric.data[v] = kiln_sizing_at_vertex(remesher->options.sizing, v);
    kiln_parallel_for(remesher->context, mesh->table[KILN_ON_TET].used, GRAIN, score_chunk,
                      remesher);
    return KILN_OK;
}

kiln_status kiln_remesh_in_range(const kiln_mesh *mesh, kiln_space space, kiln_error *error)
{
    static const double SMALLEST = 1e-50, LARGEST = 1e50;
    const kiln_vec3 *x = kiln_mesh_positions(mesh, space);
    kiln_box box = kiln_box_empty();
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v))
            box = kiln_box_grow(box, x[v]);
    kiln_vec3 extent = kiln_v3_sub(box.high, box.low),
              far = kiln_v3_max(kiln_v3_scale(box.low, -1.0), box.high);
    double size = fmax(extent.x, fmax(extent.y, extent.z));
    double reach = fmax(far.x, fmax(far.y, far.z));
    if (mesh->table[KILN_ON_VERTEX].live == 0 || (size >= SMALLEST && reach <= LARGEST))
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, "the mesh", 0, -1,
                     "is %g m large with coordinates up to %g m; must be at least %g m and at most "
                     "%g m: change the unit",
                     size, reach, SMALLEST, LARGEST);
}

kiln_status kiln_remesher_begin(kiln_mesh *mesh, const kiln_remesh_options *options,
                                kiln_remesher *out, kiln_error *error)
{
    *out = (kiln_remesher){.context = mesh->context,
                           .mesh = mesh,
                           .options = *options,
                           .one_space = kiln_mesh_spaces_agree(mesh),
                           .vertex_made = KILN_NONE};
    out->judge = kiln_remesher_judge(out);
    KILN_TRY(kiln_space_find(out, error));
    KILN_TRY(kiln_remesh_in_range(mesh, out->options.space, error));
    if (out->mixed)
        KILN_TRY(kiln_remesh_in_range(mesh, KILN_SPACE_WORLD, error));
    kiln_workspace_init(&out->workspace, mesh->context);
    KILN_TRY(kiln_archive_begin(mesh, error));
    kiln_status status = begin_pass(out, error);
    if (status != KILN_OK)
        kiln_remesher_end(out);
    return status;
}

static void free_remesher(kiln_remesher *remesher)
{
    kiln_context *context = remesher->context;
    kiln_surface_destroy(remesher);
    kiln_array_free(context, &remesher->quality);
    kiln_array_free(context, &remesher->side);
    kiln_array_free(context, &remesher->metric);
    kiln_array_free(context, &remesher->gradient);
    kiln_array_free(context, &remesher->quality_log);
    kiln_array_free(context, &remesher->side_log);
    kiln_array_free(context, &remesher->changed);
    kiln_workspace_free(&remesher->workspace);
    destroy_workers(remesher);
}

void kiln_remesher_end(kiln_remesher *remesher)
{
    free_remesher(remesher);
    kiln_archive_end(remesher->mesh);
}

void kiln_remesher_abandon(kiln_remesher *remesher)
{
    free_remesher(remesher);
    kiln_archive_rollback(remesher->mesh);
}

kiln_pass_mark kiln_remesher_mark(kiln_remesher *remesher)
{
    if (kiln_txn_depth(remesher->mesh) == 0)
        remesher->quality_log.count = remesher->side_log.count = 0;
    kiln_pass_mark mark = {kiln_txn_begin(remesher->mesh), remesher->quality_log.count,
                           remesher->side_log.count};
    remesher->workspace.failed |= mark.txn.depth == 0;
    return mark;
}

static void undo_columns(kiln_remesher *remesher, const kiln_pass_mark *mark)
{
    while (remesher->quality_log.count > mark->qualities) {
        const kiln_quality_entry *entry =
            &remesher->quality_log.data[--remesher->quality_log.count];
        remesher->quality.data[entry->tet] = entry->quality;
    }
    while (remesher->side_log.count > mark->sides) {
        const kiln_side_entry *entry = &remesher->side_log.data[--remesher->side_log.count];
        remesher->side.data[entry->vertex] = entry->side;
        if (remesher->options.sizing)
            remesher->metric.data[entry->vertex] = entry->metric;
    }
}

kiln_verdict kiln_remesher_keep(kiln_remesher *remesher, kiln_pass_mark *mark)
{
    kiln_verdict verdict = kiln_txn_commit(&mark->txn);
    remesher->workspace.failed |= verdict == KILN_REFUSED_MEMORY;
    if (verdict != KILN_ACCEPTED)
        kiln_remesher_undo(remesher, mark);
    return verdict;
}

void kiln_remesher_undo(kiln_remesher *remesher, kiln_pass_mark *mark)
{
    kiln_txn_rollback(&mark->txn);
    undo_columns(remesher, mark);
}

kiln_status kiln_remesher_reserve(kiln_remesher *remesher, size_t vertices, size_t tets,
                                  kiln_error *error)
{
    const kiln_table *table = remesher->mesh->table;
    kiln_context *context = remesher->context;
    size_t tet_rows = table[KILN_ON_TET].used + tets;
    size_t vertex_rows = table[KILN_ON_VERTEX].used + vertices;
    KILN_TRY(kiln_array_reserve(context, &remesher->quality, tet_rows, error));
    while (remesher->quality.count < tet_rows)
        remesher->quality.data[remesher->quality.count++] = INFINITY;
    KILN_TRY(kiln_array_reserve(context, &remesher->side, vertex_rows, error));
    if (remesher->options.sizing)
        KILN_TRY(kiln_array_reserve(context, &remesher->metric, vertex_rows, error));
    KILN_TRY(kiln_array_reserve(context, &remesher->quality_log,
                                remesher->quality_log.count + 2 * tets, error));
    KILN_TRY(kiln_array_reserve(context, &remesher->side_log, remesher->side_log.count + vertices,
                                error));
    return kiln_array_reserve(context, &remesher->changed, tets, error);
}

void kiln_remesher_set_quality(kiln_remesher *remesher, uint32_t tet, double quality)
{
    remesher->quality_log.data[remesher->quality_log.count++] =
        (kiln_quality_entry){tet, remesher->quality.data[tet]};
    remesher->quality.data[tet] = quality;
}

void kiln_remesher_set_side(kiln_remesher *remesher, uint32_t vertex, const kiln_place *place)
{
    kiln_side_entry entry = {.vertex = vertex, .side = remesher->side.data[vertex]};
    remesher->side.data[vertex] = place->side;
    if (remesher->options.sizing) {
        entry.metric = remesher->metric.data[vertex];
        remesher->metric.data[vertex] = place->metric;
    }
    remesher->side_log.data[remesher->side_log.count++] = entry;
}

double kiln_remesher_worst(const kiln_remesher *remesher, const uint32_t *tets, size_t count)
{
    double worst = INFINITY;
    for (size_t i = 0; i < count; i++)
        worst = remesher->quality.data[tets[i]] < worst ? remesher->quality.data[tets[i]] : worst;
    return worst;
}

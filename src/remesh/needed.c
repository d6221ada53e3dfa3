#include "remesh/needed.h"

#include "base/parallel.h"
#include "remesh/sizing.h"
#include "remesh/space.h"
#include "remesh/tried.h"
#include "remesh/vain.h"

enum { GRAIN = 512 };

typedef struct look {
    kiln_remesher pass; /* not begun: what scores and lengths need */
    bool sized;
    const kiln_vec3 *points; /* where all edges are measured; NULL: each in its space */
    double shortest, longest, goal;
    const kiln_size_wait *wait; /* [vertex] or NULL */
    const kiln_improve_options *improve;
    const kiln_size_options *size;
    const kiln_vain *vain;                        /* [tet] or NULL */
    const kiln_tried *sized_often, *mended_often; /* [vertex] or NULL */
    kiln_f64_array worst;                         /* [chunk] -INFINITY: something is to be done */
} look;

static void metric_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    look *l = user;
    (void)chunk, (void)worker;
    for (uint32_t v = (uint32_t)begin; v < end; v++)
        if (kiln_vertex_live(l->pass.mesh, v))
            l->pass.metric.data[v] = kiln_sizing_at_vertex(l->pass.options.sizing, v);
}

/* The length of an edge is between those that it has in the metrics of its ends, and only where
 * these are on both sides of a bound it has to be known. */
static bool fits(const look *l, uint32_t a, uint32_t b)
{
    const kiln_vec3 *p = l->points ? l->points : kiln_points_of_edge(&l->pass, a, b);
    const kiln_sym3 *metric = l->pass.metric.data;
    kiln_vec3 e = kiln_v3_sub(p[b], p[a]);
    double at_a = kiln_metric_length2(&metric[a], e), at_b = kiln_metric_length2(&metric[b], e);
    double low = l->shortest * l->shortest, high = l->longest * l->longest;
    if (at_a > low && at_b > low && at_a < high && at_b < high)
        return true;
    double length = kiln_metric_edge_length(&metric[a], &metric[b], e);
    if (length >= l->shortest && length <= l->longest)
        return true;
    kiln_size_change change = length < l->shortest ? KILN_SIZE_CONTRACT : KILN_SIZE_SPLIT;
    bool waits =
        l->wait && l->wait[a][change] > 1 && l->wait[b][change] > 1; /* still in this call */
    waits |=
        change == KILN_SIZE_CONTRACT && kiln_size_may_wait(l->pass.mesh, l->size, a, b, length);
    return waits || kiln_tried_enough(l->sized_often, KILN_TRIED_SIZE, (const uint32_t[]){a, b}, 2);
}

static void tet_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    look *l = user;
    const kiln_mesh *mesh = l->pass.mesh;
    double worst = INFINITY;
    (void)worker;
    for (uint32_t t = (uint32_t)begin; t < end && worst > -INFINITY; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        double score = kiln_remesher_score_tet(&l->pass, t);
        bool fine = !(score < l->goal) || kiln_improve_may_wait(mesh, l->improve, t, score) ||
                    kiln_vain_is_hopeless(mesh, l->vain, t, score) ||
                    kiln_tried_enough(l->mended_often, KILN_TRIED_REPAIR, v, 4);
        for (int k = 0; k < 6 && fine && l->sized; k++) {
            uint32_t a = v[kiln_edge_ends[k][0]], b = v[kiln_edge_ends[k][1]];
            fine = fits(l, a < b ? a : b, a < b ? b : a); /* the same bits from every tet */
        }
        worst = !fine ? -INFINITY : score < worst ? score : worst;
    }
    l->worst.data[chunk] = worst;
}

static kiln_status prepare(look *l, kiln_error *error)
{
    kiln_context *context = l->pass.context;
    const kiln_table *table = l->pass.mesh->table;
    size_t vertices = table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(context, &l->worst,
                                kiln_chunk_count(table[KILN_ON_TET].used, GRAIN), error));
    KILN_TRY(kiln_space_find(&l->pass, error));
    if (l->pass.mixed) {
        KILN_TRY(kiln_array_reserve(context, &l->pass.side, vertices, error));
        kiln_space_classify(&l->pass);
    }
    l->points = l->pass.mixed ? NULL : kiln_remesher_points(&l->pass);
    if (!l->pass.options.sizing)
        return KILN_OK;
    KILN_TRY(kiln_array_reserve(context, &l->pass.metric, vertices, error));
    kiln_parallel_for(context, vertices, GRAIN, metric_chunk, l);
    return KILN_OK;
}

kiln_status kiln_remesh_needed(kiln_mesh *mesh, const kiln_remesh_options *options,
                               const kiln_size_options *size, const kiln_improve_options *improve,
                               bool *needed, double *worst, kiln_error *error)
{
    *worst = 0.0;
    *needed = size && options->sizing && kiln_sizing_is_direct(options->sizing);
    if (*needed)
        return KILN_OK;
    look l = {.pass = {.context = mesh->context,
                       .mesh = mesh,
                       .options = *options,
                       .one_space = kiln_mesh_spaces_agree(mesh)},
              .sized = size && options->sizing,
              .goal = improve->goal,
              .improve = improve,
              .size = size,
              .vain = kiln_vain_of(mesh, improve->vain),
              .mended_often = kiln_tried_of(mesh, improve->tried)};
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    if (l.sized) {
        bool full = size->most_tets && mesh->table[KILN_ON_TET].live >= size->most_tets;
        l.shortest = size->shortest;
        l.longest = full ? INFINITY : size->longest;
        l.wait = kiln_size_waits(mesh, size);
        l.sized_often = kiln_tried_of(mesh, size->tried);
    }
    kiln_status status = prepare(&l, error);
    if (status == KILN_OK) {
        *worst = INFINITY;
        kiln_parallel_for(mesh->context, tets, GRAIN, tet_chunk, &l);
        for (size_t i = 0; i < kiln_chunk_count(tets, GRAIN); i++)
            *worst = l.worst.data[i] < *worst ? l.worst.data[i] : *worst;
        *needed = *worst == -INFINITY;
        if (l.sized && !*needed)
            kiln_size_pass_time(mesh, size);
    }
    kiln_array_free(mesh->context, &l.worst);
    kiln_array_free(mesh->context, &l.pass.metric);
    kiln_array_free(mesh->context, &l.pass.side);
    return status;
}

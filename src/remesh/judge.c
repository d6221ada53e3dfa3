#include "remesh/judge.h"
#include "remesh/proposal.h"

#include <stdlib.h>

kiln_judge kiln_judge_quality(const kiln_remesh_options *options)
{
    kiln_judge judge = {
        .name = "quality", .gain = KILN_LEAST_GAIN, .least = -INFINITY, .edge = {0.0, INFINITY}};
    if (options->sizing) {
        judge.edge[0] = options->edge_limit[0];
        judge.edge[1] = options->edge_limit[1];
    }
    return judge;
}

typedef struct edge_range {
    double shortest, longest;
} edge_range;

static void count_edge(edge_range *range, double length)
{
    range->shortest = length < range->shortest ? length : range->shortest;
    range->longest = length > range->longest ? length : range->longest;
}

static void count_edges(const kiln_remesher *remesher, const kiln_place *place, const uint32_t v[4],
                        edge_range *range)
{
    for (int e = 0; e < 6; e++)
        count_edge(range, kiln_remesher_edge_length(remesher, place, v[kiln_edge_ends[e][0]],
                                                    v[kiln_edge_ends[e][1]]));
}

static uint32_t corner_of(const uint32_t v[4], uint32_t vertex)
{
    uint32_t corner = 0;
    while (corner < 4 && v[corner] != vertex)
        corner++;
    return corner;
}

/* Edges at the new vertex only: the others of an insertion are edges of what goes. */
static void count_edges_made(const kiln_remesher *remesher, const kiln_proposal *proposal,
                             const uint32_t v[4], edge_range *range)
{
    uint32_t corner = corner_of(v, KILN_PROPOSED);
    for (uint32_t k = 0; k < 4 && corner < 4; k++)
        if (k != corner)
            count_edge(range,
                       kiln_remesher_edge_length(remesher, &proposal->place, v[k], KILN_PROPOSED));
}

/* New edges stay within the limits, or within what the tets that go had. */
static bool range_stays(const kiln_remesher *remesher, const kiln_proposal *proposal)
{
    const kiln_judge *judge = &remesher->judge;
    edge_range old = {judge->edge[0], judge->edge[1]}, fresh = {INFINITY, 0.0};
    for (uint32_t i = 0; i < proposal->fresh_count; i++)
        if (proposal->has_place)
            count_edges_made(remesher, proposal, proposal->fresh[i].v, &fresh);
        else
            count_edges(remesher, NULL, proposal->fresh[i].v, &fresh);
    if (fresh.shortest >= old.shortest && fresh.longest <= old.longest)
        return true;
    for (uint32_t i = 0; i < proposal->old_count && !judge->strict; i++)
        count_edges(remesher, NULL, remesher->mesh->tet[proposal->old[i]].v, &old);
    return fresh.shortest >= old.shortest && fresh.longest <= old.longest;
}

/* Do two vertices have one of the old tets in common? */
static bool had_edge(const kiln_mesh *mesh, const kiln_proposal *p, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < p->old_count; i++)
        if (kiln_tet_corner(&mesh->tet[p->old[i]], a) < 4 &&
            kiln_tet_corner(&mesh->tet[p->old[i]], b) < 4)
            return true;
    return false;
}

/* Whether a vertex that goes had an edge to `end` that was as far beyond the limits. */
static bool was_beyond(const kiln_remesher *remesher, const kiln_proposal *p, uint32_t end,
                       double length)
{
    for (uint32_t g = 0; g < p->gone_count && !remesher->judge.strict; g++) {
        if (!had_edge(remesher->mesh, p, p->gone[g], end))
            continue;
        double old = kiln_remesher_edge_length(remesher, &p->place, p->gone[g], end);
        if (length > remesher->judge.edge[1] ? old >= length : old <= length)
            return true;
    }
    return false;
}

/* Edges of the merged vertex, which is KILN_PROPOSED still. */
static bool merged_edges_fit(const kiln_remesher *remesher, const kiln_proposal *p)
{
    const double *edge = remesher->judge.edge;
    for (uint32_t i = 0; i < p->fresh_count; i++) {
        const uint32_t *v = p->fresh[i].v;
        uint32_t corner = corner_of(v, KILN_PROPOSED);
        for (uint32_t k = 0; k < 4 && corner < 4; k++) {
            if (k == corner)
                continue;
            double length = kiln_remesher_edge_length(remesher, &p->place, KILN_PROPOSED, v[k]);
            if ((length < edge[0] || length > edge[1]) && !was_beyond(remesher, p, v[k], length))
                return false;
        }
    }
    return true;
}

bool kiln_judge_figures(const kiln_remesher *remesher, const kiln_proposal *proposal)
{
    const kiln_judge *judge = &remesher->judge;
    if (!(proposal->after > kiln_judge_floor(judge, proposal->before)))
        return false;
    if (judge->edge[0] <= 0.0 && judge->edge[1] == INFINITY)
        return true;
    return proposal->gone_count ? merged_edges_fit(remesher, proposal)
                                : range_stays(remesher, proposal);
}

bool kiln_judge_may(const kiln_remesher *remesher, const kiln_proposal *proposal)
{
    const kiln_judge *judge = &remesher->judge;
    return !judge->may || judge->may(judge->self, remesher, proposal);
}

bool kiln_judge_keeps(kiln_remesher *remesher, const kiln_change *change)
{
    const kiln_judge *judge = &remesher->judge;
    return !judge->keeps || judge->keeps(judge->self, remesher, change);
}

static int ascending(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

bool kiln_judge_prefers(const kiln_judge *judge, double *before, double *after, size_t count)
{
    size_t k = 0;
    if (count > 0) {
        qsort(before, count, sizeof *before, ascending);
        qsort(after, count, sizeof *after, ascending);
    }
    while (k < count && before[k] == after[k])
        k++;
    return judge->gain == -INFINITY || (k < count && after[k] > before[k] + judge->gain);
}

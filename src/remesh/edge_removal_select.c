#include "remesh/edge_removal_select.h"

typedef struct edge_range {
    double shortest, longest;
} edge_range;

static void count_edges(const kiln_remesher *remesher, const uint32_t v[4], edge_range *range)
{
    for (int e = 0; e < 6; e++) {
        double length = kiln_remesher_edge_length(remesher, NULL, v[kiln_edge_ends[e][0]],
                                                  v[kiln_edge_ends[e][1]]);
        range->shortest = length < range->shortest ? length : range->shortest;
        range->longest = length > range->longest ? length : range->longest;
    }
}

/* New edges stay within options.edge_limit, or within what the tets that go had. */
static bool lengths_stay(const kiln_remesher *remesher, const kiln_proposal *proposal)
{
    const double *limit = remesher->options.edge_limit;
    edge_range old = {limit[0], limit[1]}, fresh = {INFINITY, 0.0};
    for (uint32_t i = 0; i < proposal->old_count; i++)
        count_edges(remesher, remesher->mesh->tet[proposal->old[i]].v, &old);
    for (uint32_t i = 0; i < proposal->fresh_count; i++)
        count_edges(remesher, proposal->fresh[i].v, &fresh);
    return fresh.shortest >= old.shortest && fresh.longest <= old.longest;
}

bool kiln_proposal_score(const kiln_remesher *remesher, kiln_workspace *workspace,
                         kiln_proposal *proposal)
{
    proposal->quality = kiln_arena_array(&workspace->arena, double, proposal->fresh_count);
    if (!proposal->quality)
        return kiln_workspace_fail(workspace);
    proposal->after = INFINITY;
    for (uint32_t i = 0; i < proposal->fresh_count; i++) {
        double quality = kiln_remesher_score(remesher, NULL, proposal->fresh[i].v);
        proposal->quality[i] = quality;
        proposal->after = quality < proposal->after ? quality : proposal->after;
    }
    return proposal->after > kiln_gain_floor(proposal->before) &&
           (!remesher->options.sizing || lengths_stay(remesher, proposal));
}

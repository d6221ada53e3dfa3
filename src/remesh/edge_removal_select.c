#include "remesh/edge_removal_select.h"

bool kiln_proposal_score(const kiln_remesher *remesher, kiln_workspace *workspace,
                         kiln_proposal *proposal)
{
    proposal->quality = kiln_arena_array(&workspace->arena, double, proposal->fresh_count);
    if (!proposal->quality)
        return kiln_workspace_fail(workspace);
    proposal->after = INFINITY;
    for (uint32_t i = 0; i < proposal->fresh_count; i++) {
        const kiln_new_tet *fresh = &proposal->fresh[i];
        kiln_space space = kiln_remesher_space(remesher, fresh->parent);
        double quality = kiln_remesher_score_in(remesher, space, NULL, fresh->v);
        proposal->quality[i] = quality;
        proposal->after = quality < proposal->after ? quality : proposal->after;
    }
    return kiln_judge_figures(remesher, proposal);
}

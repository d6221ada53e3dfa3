#include "remesh/mean.h"
#include "remesh/proposal.h"

static double gain_of_move(const kiln_remesher *remesher, const kiln_proposal *p)
{
    double gain = 0.0;
    for (uint32_t i = 0; i < p->old_count; i++) {
        const kiln_tet *tet = &remesher->mesh->tet[p->old[i]];
        uint32_t v[4] = {tet->v[0], tet->v[1], tet->v[2], tet->v[3]};
        v[kiln_tet_corner(tet, p->moved)] = KILN_PROPOSED;
        gain += kiln_remesher_score_in(remesher, kiln_remesher_space(remesher, p->old[i]),
                                       &p->place, v) -
                remesher->quality.data[p->old[i]];
    }
    return gain;
}

static double gain_of_exchange(const kiln_remesher *remesher, const kiln_proposal *p, double level)
{
    double gain = level * ((double)p->old_count - (double)p->fresh_count);
    for (uint32_t i = 0; i < p->old_count; i++)
        gain -= remesher->quality.data[p->old[i]];
    for (uint32_t i = 0; i < p->fresh_count; i++)
        gain += p->quality[i];
    return gain;
}

static bool raises_mean(void *self, const kiln_remesher *remesher, const kiln_proposal *proposal)
{
    const double *level = self;
    double gain = proposal->kind == KILN_OP_SMOOTHING
                      ? gain_of_move(remesher, proposal)
                      : gain_of_exchange(remesher, proposal, *level);
    return gain > KILN_LEAST_GAIN;
}

kiln_judge kiln_judge_mean(const kiln_judge *office, double *level, double least, double spared)
{
    kiln_judge judge = *office;
    judge.name = "mean";
    judge.self = level;
    judge.gain = -INFINITY;
    judge.least = least;
    judge.spared = spared;
    judge.sums = true;
    judge.may = raises_mean;
    return judge;
}

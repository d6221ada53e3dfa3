/* The mean of all scores, once the worst is as good as it gets. */
#ifndef KILN_REMESH_MEAN_H
#define KILN_REMESH_MEAN_H

#include "remesh/judge.h"

/* A judge that has changes made which raise the mean: those that come have, each less *level, a
 * larger sum than those that go. With the mean of the mesh as level that is when it rises, whether
 * tets become more or fewer. Nothing becomes worse than `least`, and what was worse than `spared`
 * becomes no worse at all. The limits on edges are those of `office`. `level` is borrowed. */
kiln_judge kiln_judge_mean(const kiln_judge *office, double *level, double least, double spared);

#endif

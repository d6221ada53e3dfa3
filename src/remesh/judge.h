/* Whether a change is worth making. Operators propose what is legal and best by the score; the
 * judge in office (remesher->judge) says what of it is to be done. It speaks at three moments:
 *
 *   J1  figures: what scores and lengths alone decide. Operators search with the floor, so that
 *       most refusals cost no more than a bound on one score.
 *   J2  may: of a complete proposal, before anything is changed. Asked on all threads: it reads
 *       only, and its answer depends on the mesh and the proposal alone. Parts of compounds are
 *       asked for as well.
 *   J3  keeps: of the change, inside the transaction it was made in. Serial; it may look at the
 *       changed mesh and change more of it in transactions of its own, as long as
 *       remesher->changed names all tets made or reshaped afterwards. Refused changes are rolled
 *       back bit by bit. What is made only as part of a compound is not asked for; the compound is.
 *
 * A judge is a value: who wants other figures for a while copies it and changes them. */
#ifndef KILN_REMESH_JUDGE_H
#define KILN_REMESH_JUDGE_H

#include "base/platform.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct kiln_remesher;
struct kiln_remesh_options;
struct kiln_proposal;
struct kiln_change;

/* What an operator must gain to be worth a change: scores are of order one, and ties must not be
 * traded for ever. */
#define KILN_LEAST_GAIN 1e-6

typedef struct kiln_judge {
    const char *name;
    void *self;     /* borrowed */
    double gain;    /* the worst new tet is better than the worst old one, and than nothing, by more
                       than this; -INFINITY: need not be */
    double least;   /* and better than this */
    double spared;  /* where no gain is asked for: the worst old one, too, if it is below this */
    double edge[2]; /* new edges are no shorter and no longer than these, in the metric if there is
                       one; or than what goes was (contractions: the edge to the same vertex) */
    bool strict;    /* whatever goes was */
    bool sums;      /* smoothing climbs the sum of scores; the worst is a limit alone */
    bool unfolds;   /* flips are asked for that bend the surface less (remesh/unfold.h) */
    bool (*may)(void *self, const struct kiln_remesher *remesher,
                const struct kiln_proposal *proposal); /* NULL: always */
    bool (*keeps)(void *self, struct kiln_remesher *remesher,
                  const struct kiln_change *change); /* NULL: always */
} kiln_judge;

/* Quality: a gain in the worst score, edges within options->edge_limit where there is a metric. */
kiln_judge kiln_judge_quality(const struct kiln_remesh_options *options);

/* What scores must exceed where the worst that goes is `before`. */
KILN_INLINE double kiln_judge_floor(const kiln_judge *judge, double before)
{
    double floor = (before > 0.0 ? before : 0.0) + judge->gain;
    if (before < judge->spared)
        floor = before;
    return floor > judge->least ? floor : judge->least;
}

/* J1 of a proposal with `before` and `after`; J2, of one that is complete. */
bool kiln_judge_figures(const struct kiln_remesher *remesher, const struct kiln_proposal *proposal);
bool kiln_judge_may(const struct kiln_remesher *remesher, const struct kiln_proposal *proposal);
/* J3. */
bool kiln_judge_keeps(struct kiln_remesher *remesher, const struct kiln_change *change);

/* Of a compound: whether the scores of all it touched, each list sorted by this, have gained, worst
 * first. */
bool kiln_judge_prefers(const kiln_judge *judge, double *before, double *after, size_t count);

#endif

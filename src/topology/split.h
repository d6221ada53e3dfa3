/* Splitting an edge, face or tet at a given point, and taking the split back. */
#ifndef KILN_TOPOLOGY_SPLIT_H
#define KILN_TOPOLOGY_SPLIT_H

#include "mesh/replace.h"

/* The parent record of a split: enough to undo it later, in another transaction (locking
 * subdivision), as long as no other operator has touched the star of `vertex`. */
typedef struct kiln_split {
    uint32_t vertex;    /* the new one */
    uint32_t parent[4]; /* corners of what was split */
    double weight[4];   /* barycentric weights of the point */
    int count;          /* 2 edge, 3 face, 4 tet */
} kiln_split;

/* Splits the edge, face or tet spanned by 2, 3 or 4 corners of `tet` at the point with these
 * weights (sum 1, all positive; the point is computed in a fixed order in both spaces). Every tet T
 * that has all the corners becomes one child per corner c: T with c replaced by the new vertex. The
 * child that loses the last corner keeps T's number. */
kiln_verdict kiln_split_at(kiln_txn *txn, uint32_t tet, const uint32_t *corners, int count,
                           const double *weights, kiln_split *split);

/* The same at the midpoint or centroid. */
kiln_verdict kiln_split_middle(kiln_txn *txn, uint32_t tet, const uint32_t *corners, int count,
                               kiln_split *split);

/* Takes a split back: numbers, order of corners and adjacency as before it; conserved fields are
 * summed, so what moved through the children stays in. KILN_REFUSED_DECLARATION when the star of
 * the vertex is no longer what the split made. */
kiln_verdict kiln_unsplit(kiln_txn *txn, const kiln_split *split);

#endif

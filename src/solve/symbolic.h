/* What the Cholesky factor of a pattern will look like, in block rows: the tree of its supernodes.
 *
 * A supernode owns `width` columns, one after the other, whose rows below are the same: `rows`
 * further ones. Its front is both; what is left of it after the elimination of its own is added to
 * the front of its parent, where its rows are a subset. Nodes are numbered such that children come
 * before parents and subtrees are contiguous. */
#ifndef KILN_SOLVE_SYMBOLIC_H
#define KILN_SOLVE_SYMBOLIC_H

#include "solve/elimination.h"
#include "solve/solver.h"

typedef struct kiln_supernode {
    uint32_t first, width;   /* places it owns */
    uint32_t rows;           /* below them */
    uint32_t parent;         /* KILN_NO_PLACE: a root */
    uint32_t child, sibling; /* its first child, and its parent's next; ascending */
    uint64_t row;            /* of its first row in symbolic.row and relative */
    uint64_t entry, entries; /* blocks of the matrix, in symbolic.entry */
} kiln_supernode;

/* A block of the matrix that is added to a front: as it is, or turned over. */
typedef struct kiln_front_entry {
    uint64_t block;       /* number in the matrix, and */
    uint32_t matrix_row;  /* whose it is there */
    uint32_t row, column; /* in the front, in blocks */
    bool turned;
} kiln_front_entry;

typedef struct kiln_symbolic {
    kiln_context *context;
    size_t rows;     /* block rows of the matrix */
    uint32_t *place; /* [row] of the matrix: when it is eliminated */
    uint32_t *order; /* [place] row */
    size_t count;    /* of supernodes */
    kiln_supernode *node;
    uint32_t *row;      /* [rows of all nodes] places, ascending in each */
    uint32_t *relative; /* the same in the parent's front, in blocks */
    size_t row_count;
    kiln_front_entry *entry; /* [blocks of the matrix] */
    size_t entry_count;
} kiln_symbolic;

/* `graph` is that of the matrix. `order` [place]: a row for each place; rows may be eliminated in
 * another order that fills the factor as much. The tree is one thread's: `aside` (NULL: nothing) is
 * done beside it. */
kiln_status kiln_symbolic_build(kiln_symbolic *out, kiln_context *context, const kiln_bsr *matrix,
                                const kiln_row_graph *graph, const uint32_t *order,
                                kiln_solver_aside *aside, kiln_error *error);
void kiln_symbolic_free(kiln_symbolic *symbolic);
size_t kiln_symbolic_bytes(const kiln_symbolic *symbolic);

#endif

/* Inside of the mass: how it is made, and how it is used. */
#ifndef KILN_FEM_MASS_IMPL_H
#define KILN_FEM_MASS_IMPL_H

#include "fem/mass.h"

enum { KILN_MASS_GRAIN = 256, KILN_MASS_SUMS = 11 }; /* vertices of a chunk; sums of each */

/* Entries of a row. */
typedef struct kiln_mass_row {
    uint32_t begin, end;
} kiln_mass_row;

/* The consistent matrix is kept as scalars in compressed rows, both triangles, columns ascending:
 * a row of M v is then one gather, and the upper part of a row merges with a row of a kiln_bsr.
 * After updates rows lie in any order, with entries between them that are nobody's. */
struct kiln_mass {
    kiln_context *context;
    kiln_mass_kind kind;
    size_t rows;
    kiln_f64_array lumped;  /* [vertex slot] */
    kiln_f64_array partial; /* [chunk] of the sums */
    KILN_ARRAY_OF(kiln_mass_row)
    row;                   /* [vertex slot], consistent only, as what follows */
    kiln_u32_array column; /* [entry] */
    kiln_f64_array value;  /* [entry] */
    size_t compact;        /* entries when it was built */
    const double *centre;
    kiln_term inertia;
    /* Of kiln_mass_follow. */
    kiln_f64_array inverse;                  /* [vertex slot] of the diagonal */
    kiln_f64_array left, scaled, way, along; /* [vertex slot][3] */
};

#endif

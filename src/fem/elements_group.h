/* Elements some batches at a time with the singular values of their F, for what looks at every tet
 * after a step: columns of frames, plastic flow. */
#ifndef KILN_FEM_ELEMENTS_GROUP_H
#define KILN_FEM_ELEMENTS_GROUP_H

#include "fem/elements_impl.h"

enum { KILN_GROUP_BATCHES = 8, KILN_GROUP_SIZE = KILN_GROUP_BATCHES * KILN_ELEMENT_LANES };

/* [component][element of the group]; F = U diag(s) V' as in svd3.h. Of linear matter
 * that flows within steps, and to which turns are strains, sym F in place of F: U = V. */
typedef struct kiln_element_group {
    double F[9][KILN_GROUP_SIZE], u[9][KILN_GROUP_SIZE], s[3][KILN_GROUP_SIZE],
        v[9][KILN_GROUP_SIZE];
} kiln_element_group;

/* Batches first to first + batches - 1, of one chunk and at most KILN_GROUP_BATCHES, at x. Padding
 * is decomposed like the tet whose geometry it has. */
void kiln_elements_decompose_group(const kiln_elements *elements, const double *x, size_t first,
                                   size_t batches, kiln_element_group *group);

/* Of an element number: lambda as the material has it, also with nodal pressure. */
KILN_INLINE void kiln_elements_lame(const kiln_elements *elements, const kiln_material *material,
                                    size_t number, double *mu, double *lambda)
{
    *mu = material->mu;
    *lambda = material->lambda;
    if (elements->lame.count > 0) {
        const double *lame =
            elements->lame.data + 2 * KILN_ELEMENT_LANES * (number / KILN_ELEMENT_LANES);
        *mu = lame[number % KILN_ELEMENT_LANES];
        *lambda = lame[KILN_ELEMENT_LANES + number % KILN_ELEMENT_LANES];
    }
}

#endif

/* What the batched loops of a material look like; one set per instruction set. */
#ifndef KILN_FEM_ELEMENT_KERNELS_H
#define KILN_FEM_ELEMENT_KERNELS_H

#include "fem/elements_impl.h"

struct kiln_damper;
struct kiln_damper_rates;

/* The batches of one chunk. */
typedef struct kiln_element_span {
    const kiln_element_batch *batch; /* [batches] */
    const uint32_t *vertex;          /* [batch][8][4] */
    size_t batches;
    double mu, lambda;      /* of all, unless */
    const double *lame;     /* [batch][2][8] is given */
    bool shape;             /* W_shape: lambda = shape_lambda mu instead */
    double shape_lambda;    /* of the model */
    const double *pressure; /* [batch][8] for the Hessian; NULL: none */
    const double *yield;    /* [batch][2][8] threshold and growth; NULL: elastic */
    const kiln_material *material;
    bool exact; /* the Hessian as it is, not its PSD part */
} kiln_element_span;

typedef struct kiln_element_kernels {
    /* INFINITY where a tet of a barrier material is inverted. `each` [batch][8]: of the tets, 0 for
     * padding. */
    double (*energy)(const kiln_element_span *span, const double *x, double *each);
    void (*gradient)(const kiln_element_span *span, const double *x, double scale, double *g);
    /* PSD Hessian (or exact) into H and, unless it is NULL, the gradient into g. */
    void (*hessian)(const kiln_element_span *span, const double *x, double scale, double *g,
                    kiln_bsr *H);
    /* Dampers [batch] at x, all but their past; NULL: those of the material without flow. */
    void (*dampers)(const kiln_element_span *span, const double *x,
                    const struct kiln_damper_rates *rates, struct kiln_damper *out);
} kiln_element_kernels;

/* `flowing`: inside a step, whose spans have surfaces where the material flows at once. */
const kiln_element_kernels *kiln_element_kernels_of(const kiln_material *material, kiln_isa isa,
                                                    bool flowing);

/* Declares the three sets of a model and the table that its row names. */
#define KILN_ELEMENT_KERNELS(model)                                                                \
    extern const kiln_element_kernels kiln_kernels_##model##_scalar, kiln_kernels_##model##_avx2,  \
        kiln_kernels_##model##_avx512;                                                             \
    static const kiln_element_kernels *const kernels[KILN_ISA_COUNT] = {                           \
        &kiln_kernels_##model##_scalar, &kiln_kernels_##model##_avx2,                              \
        &kiln_kernels_##model##_avx512}

#endif

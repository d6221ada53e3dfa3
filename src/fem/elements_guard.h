/* Loops that do not depend on the material's energy, over the batches of a span. */
#ifndef KILN_FEM_ELEMENTS_GUARD_H
#define KILN_FEM_ELEMENTS_GUARD_H

#include "fem/element_kernels.h"

/* Span of a chunk; its pressures are NULL without nodal pressure. */
kiln_element_span kiln_elements_span(const kiln_elements *elements, size_t chunk);

/* kiln_elements_stretch of the span. */
KILN_SIMD_DECLARE(double, kiln_elements_stretch_span, const kiln_element_span *span,
                  const double *x, const double *y);
/* theta [batch][8], and g += scale * sum weight V dtheta/dx with weight [batch][8]. */
KILN_SIMD_DECLARE(void, kiln_elements_dilation_span, const kiln_element_span *span,
                  kiln_dilation dilation, const double *x, double *theta);
KILN_SIMD_DECLARE(void, kiln_elements_add_dilation_span, const kiln_element_span *span,
                  kiln_dilation dilation, const double *x, const double *weight, double scale,
                  double *g);

#endif

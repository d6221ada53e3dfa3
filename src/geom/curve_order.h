/* Order of points along the Hilbert curve: neighbours on the curve are neighbours in space, so
 * arrays sorted this way are kind to caches and to trees built over them. */
#ifndef KILN_GEOM_CURVE_ORDER_H
#define KILN_GEOM_CURVE_ORDER_H

#include "base/context.h"
#include "geom/vec3.h"

/* Orientation tables of the curve, two levels (six key bits) a step. Fill once, use read-only. */
typedef struct kiln_curve {
    uint16_t step[24][64]; /* [state][x1 x0 y1 y0 z1 z0]: key bits * 32 + next state */
    uint8_t single[24][8]; /* [state][x y z]: key bits * 32 + next state */
} kiln_curve;

void kiln_curve_init(kiln_curve *curve);

/* Position on the curve through the 2^bits cube of cells, bits <= 21; cell coordinates are below
 * 2^bits. A bijection onto 0 .. 2^(3 bits) - 1; consecutive positions share a cell face, and the
 * leading 3k bits are the position on the curve of the coarser 2^k cube. */
uint64_t kiln_curve_key(const kiln_curve *curve, uint32_t x, uint32_t y, uint32_t z, int bits);

/* Sorts by the bits low_bit .. high_bit-1 of the values, keeping the order of equals. `scratch`
 * has room for as many values. Same result for any number of threads. */
void kiln_radix_sort(kiln_context *context, uint64_t *values, uint64_t *scratch, size_t count,
                     int low_bit, int high_bit);

/* order[rank] = index of the point of that rank. The cells divide a cube around all points in
 * 2^min(bits, (64 - log2 count)/3) a side (13 bits for ten million points); points of one cell keep
 * their order. 21 is the finest; fewer bits sort faster. KILN_ERR_INPUT for a point that is not
 * finite, KILN_ERR_LIMIT above 2^32-1 points. */
kiln_status kiln_curve_order(kiln_context *context, const kiln_vec3 *points, size_t count, int bits,
                             uint32_t *order, kiln_error *error);

#endif

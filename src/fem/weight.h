/* The weight of matter that has one density throughout, as liquids do.
 *
 * Tets keep their mass, and equations keep the volume about vertices (ring_volume.h), not that of
 * each tet: with m_t a as its weight a tet that has become small is denser than its neighbours, and
 * sinks among them. Water at rest gained energy from that without end. The weight of matter of one
 * density is that of the space it fills,
 *     -sum rho V_t(x) a . (x_t - c),   x_t the centre of a tet,
 * and moving a vertex within it changes nothing. This term is the difference to -sum m_t a . x_t,
 * which loads have. Equations beside it see the pressure less rho a . (x - c), which is a constant
 * at rest. */
#ifndef KILN_FEM_WEIGHT_H
#define KILN_FEM_WEIGHT_H

#include "fem/ring_volume.h"
#include "solve/term.h"

typedef struct kiln_weight {
    const kiln_ring_volume *rings; /* borrowed, as all here */
    const kiln_mesh *mesh;
    const double *mass;     /* [tet slot] kg */
    const double *density;  /* [tet slot] kg/m^3; 0: its weight is that of its mass */
    const double *centre;   /* [part][3] c, m */
    const uint64_t *blocks; /* [entry][4] of the rings in a matrix (kiln_ring_volume_find_blocks) */
    kiln_vec3 acceleration; /* m/s^2 */
    bool exact;             /* the Hessian, which has no sign, is wanted */
} kiln_weight;

/* At x; less that at `from`, unless that is NULL, tet by tet. J. */
double kiln_weight_value(const kiln_weight *weight, const double *from, const double *x);
void kiln_weight_add(const kiln_weight *weight, const double *x, double scale, double *g,
                     kiln_bsr *H);

#endif

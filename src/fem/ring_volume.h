/* Volume about vertices: R_i = sum V_t / 4 over the tets at i that keep theirs, as one equation for
 * each vertex (solve/equations.h): R_i(x) is what it should be. Rings have a row for every vertex
 * slot; where no tet keeps its volume there is no equation. Rings have room for what their loops
 * need: not two at a time.
 *
 * Equal order for places and pressures is not stable. `stabilise` adds what Dohrmann and Bochev
 * (2004) do: each tet lets go of the part of the pressure that is not constant in it,
 *     C = a_t V_t ((1 + delta_ij) / 20 - 1 / 16),   a_t = alpha / (viscosity + rho l_t^2 / h),
 * which leaves the sum of volumes alone. Applied to the pressure less its hydrostatic part, so that
 * rest stays rest (liquids-algorithms 1). */
#ifndef KILN_FEM_RING_VOLUME_H
#define KILN_FEM_RING_VOLUME_H

#include "mesh/mesh.h"
#include "solve/equations.h"

enum { KILN_RING_PART = 14 }; /* room of a tet in `part` */

typedef struct kiln_ring_volume {
    kiln_context *context; /* borrowed */
    size_t rows;
    KILN_ARRAY_OF(uint64_t)
    first;              /* [rows + 1] */
    kiln_u32_array tet; /* [entry] tet slot * 4 + corner, ascending in a row */
    KILN_ARRAY_OF(uint16_t)
    place;                 /* [entry][4] of the tet's corners in the ring */
    kiln_u32_array kept;   /* [kept tet] tet slots, ascending */
    kiln_u32_array corner; /* [kept tet][4] cliques */
    kiln_f64_array part;   /* of loops over rows: [tet slot], [4][3] or all of its room */
    kiln_equations equations;
} kiln_ring_volume;

void kiln_ring_volume_init(kiln_ring_volume *rings, kiln_context *context);
void kiln_ring_volume_free(kiln_ring_volume *rings);
/* For that many rows, of which the first are the vertex slots. `keeps` [tet slot]: not 0 where a
 * tet keeps its volume. KILN_ERR_LIMIT: a ring of more than 65535
 * vertices. On failure there are no equations. */
kiln_status kiln_ring_volume_build(kiln_ring_volume *rings, const kiln_mesh *mesh, size_t rows,
                                   const uint8_t *keeps, kiln_error *error);

/* R at x [row][3]; less R at `from`, unless that is NULL, tet by tet. */
void kiln_ring_volume_find(const kiln_ring_volume *rings, const kiln_mesh *mesh, const double *from,
                           const double *x, double *out);
/* g += scale times the gradient of p . R at x. */
void kiln_ring_volume_add_gradient(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                   const double *x, const double *p, double scale, double *g);
/* The volume of a tet at x, and in g its gradient at the corners, each a third of the area of the
 * face opposite; and its Hessian between two of them, times `factor`, to a block of H. */
double kiln_ring_volume_gradients(const kiln_tet *tet, const double *x, double g[4][3]);
void kiln_ring_volume_add_edge(const kiln_mesh *mesh, uint32_t tet, uint32_t own, uint32_t other,
                               const double *x, double factor, uint32_t row, uint64_t block,
                               kiln_bsr *H);
/* H += scale times the Hessian of p . R, which is of no sign; `blocks` [entry][4] are its places
 * there, UINT64_MAX before a row, found by the second for a pattern that has them. */
void kiln_ring_volume_add_hessian(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                  const double *x, const double *p, double scale,
                                  const uint64_t *blocks, kiln_bsr *H);
void kiln_ring_volume_find_blocks(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                  const kiln_bsr *H, uint64_t *blocks);
/* J at x. */
void kiln_ring_volume_linearise(kiln_ring_volume *rings, const kiln_mesh *mesh, const double *x);
/* C of `give` [tet slot], a_t V_t; and 1 where there is no equation. */
void kiln_ring_volume_stabilise(kiln_ring_volume *rings, const double *give);
/* out += C p of the potential that each tet has by itself, p = density [tet slot] field . x. */
void kiln_ring_volume_add_hydrostatic(const kiln_ring_volume *rings, const kiln_mesh *mesh,
                                      const double *give, const double *density, kiln_vec3 field,
                                      const double *x, double *out);

#endif

/* The gradient of a vector field of the vertices, smoothed: a plane through the values of all
 * vertices within two edges, by weighted least squares (SLI 7.1; liquids-algorithms 7). Gradients
 * of tets vary wildly from one to the next. */
#ifndef KILN_FEM_SMOOTH_GRADIENT_H
#define KILN_FEM_SMOOTH_GRADIENT_H

#include "fem/vertex_stars.h"
#include "mesh/idset.h"

typedef struct kiln_smooth_gradient {
    kiln_vertex_stars stars;
    const uint8_t *of;   /* [tet slot] not 0: counts; borrowed */
    kiln_f64_array mass; /* [vertex slot] kg, of the tets that count */
    kiln_idset seen;     /* scratch, as is the list */
    kiln_u32_array list;
} kiln_smooth_gradient;

/* For the mesh as it is. mass [tet slot], kg. Zero-initialise; freed by the call below even where
 * it fails. */
kiln_status kiln_smooth_gradient_begin(kiln_smooth_gradient *s, const kiln_mesh *mesh,
                                       const uint8_t *of, const double *mass, kiln_error *error);
void kiln_smooth_gradient_free(kiln_smooth_gradient *s, kiln_context *context);

/* Row a, column b: of component a along axis b, in the world, at a vertex of tets that count. Exact
 * for fields that are linear, but for 1e-6 of them. Where there are fewer than eight vertices, or
 * these in a plane, the mean of the tets at the vertex. */
kiln_status kiln_smooth_gradient_at(kiln_smooth_gradient *s, const kiln_mesh *mesh,
                                    const kiln_vec3 *value, uint32_t vertex, kiln_mat3 *gradient,
                                    kiln_error *error);

/* Of one tet, as it is. */
kiln_mat3 kiln_tet_gradient(const kiln_mesh *mesh, const kiln_vec3 *value, uint32_t tet);

#endif

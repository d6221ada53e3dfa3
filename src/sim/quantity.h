/* Numbers and vectors of a scene that are constant or a function of time, place and state. */
#ifndef KILN_SIM_QUANTITY_H
#define KILN_SIM_QUANTITY_H

#include "base/error.h"
#include "geom/vec3.h"

/* What a function may look at. Quantities that do not apply are 0. */
typedef struct kiln_circumstances {
    double time;        /* s */
    kiln_vec3 material; /* u, m */
    kiln_vec3 world;    /* x, m */
    double stress;      /* von Mises, Pa */
    double strain_rate; /* Frobenius norm of the rate of deformation, 1/s */
    double temperature; /* K */
} kiln_circumstances;

/* A number, vector or matrix that is constant or a function. Functions are called on one thread, in
 * a fixed order. Results that are not finite numbers are errors that name the place in the scene.
 */
typedef struct kiln_quantity {
    double constant[3];
    void *self; /* NULL together with `evaluate`: constant */
    kiln_status (*evaluate)(void *self, const kiln_circumstances *at, double *out, int components,
                            kiln_error *error);
} kiln_quantity;

kiln_quantity kiln_quantity_number(double value);
kiln_quantity kiln_quantity_vector(kiln_vec3 value);
kiln_status kiln_quantity_get(const kiln_quantity *quantity, const kiln_circumstances *at,
                              double *out, int components, kiln_error *error);

#endif

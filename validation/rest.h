/* The shape a body has when it is left to itself, and how far it is from another one. */
#ifndef KILN_VALIDATION_REST_H
#define KILN_VALIDATION_REST_H

#include "sim/world.h"

/* The world's mesh goes to its equilibrium without holds, loads and flow, by a static solve with
 * six unknowns of three vertices held: they stop rigid motion and bear nothing. `stiffness`
 * [material] multiplies the moduli, NULL: as they are; where it is tiny the others come to rest as
 * if cut off. Of one body that hangs together; the world must not be stepped after it. */
kiln_status kiln_rest_solve(kiln_world *world, const double *stiffness, kiln_error *error);

/* Internal energy of the mesh as it is, corotated materials, from coordinates, offsets and the
 * scene's moduli, J. */
double kiln_rest_energy(kiln_world *world);

typedef struct kiln_rigid {
    kiln_mat3 rotation;
    kiln_vec3 shift;
    double rms; /* of |to - (rotation from + shift)|, m */
} kiln_rigid;

/* The motion that carries `from` to `to` best. */
kiln_rigid kiln_rigid_fit(const kiln_vec3 *from, const kiln_vec3 *to, size_t count);

#endif

/* Mass of the vertices, lumped (a quarter of each tet) or consistent, and the inertia term. */
#ifndef KILN_FEM_MASS_H
#define KILN_FEM_MASS_H

#include "mesh/changes.h"
#include "solve/constraints.h"
#include "solve/term.h"

/* Consistent is the only one that treats the corners of a tet alike and has its inertia: a body
 * weighs and turns the same on every mesh of it. AUTO is for options: who makes a mass chooses. */
typedef enum kiln_mass_kind {
    KILN_MASS_LUMPED,
    KILN_MASS_CONSISTENT,
    KILN_MASS_AUTO
} kiln_mass_kind;

typedef struct kiln_mass kiln_mass;

kiln_status kiln_mass_create(kiln_context *context, kiln_mass **out, kiln_error *error);
void kiln_mass_destroy(kiln_mass *mass); /* NULL allowed */
/* `tet_mass` [tet slot], kg. */
kiln_status kiln_mass_build(kiln_mass *mass, const kiln_mesh *mesh, kiln_mass_kind kind,
                            const double *tet_mass, kiln_error *error);
/* The bits of a build of the same kind, where only the changed tets have other masses. After a
 * failure there is no mass. */
kiln_status kiln_mass_update(kiln_mass *mass, const kiln_mesh *mesh, const double *tet_mass,
                             const kiln_changes *changes, kiln_error *error);

kiln_mass_kind kiln_mass_kind_of(const kiln_mass *mass); /* of the last build */
const double *kiln_mass_lumped(const kiln_mass *mass);   /* [vertex slot], for either kind, kg */
/* out = M v, [vertex slot][3]; parallel, same bits for any number of threads. */
void kiln_mass_multiply(const kiln_mass *mass, const double *v, double *out);

double kiln_mass_diagonal(const kiln_mass *mass, uint32_t row); /* kg */
/* How matter follows when some of it is moved at once. `change` [vertex slot][3] (m/s) has what the
 * held components change by, zero in the others; those are set so that M change is `impulse` (N s)
 * there. Returns M change in `impulse`: in the held components it is what moved them. */
kiln_status kiln_mass_follow(kiln_mass *mass, const kiln_constraints *held, double *change,
                             double *impulse, kiln_error *error);

/* 1/2 (x - centre)' M (x - centre): the step sets `centre` and the term's weight. Borrowed. */
kiln_term *kiln_mass_inertia(kiln_mass *mass, const double *centre);

typedef struct kiln_motion_sums {
    double mass, kinetic;       /* kg, J */
    kiln_vec3 momentum;         /* kg m/s */
    kiln_vec3 angular_momentum; /* about the origin, kg m^2/s */
    kiln_vec3 centre;           /* of mass, m */
} kiln_motion_sums;
kiln_motion_sums kiln_mass_sums(const kiln_mass *mass, const double *x, const double *v);

size_t kiln_mass_bytes(const kiln_mass *mass);

#endif

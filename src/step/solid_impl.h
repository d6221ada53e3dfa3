/* The inside of kiln_solid, shared by solid.c (what exists) and solid_step.c (what happens). */
#ifndef KILN_STEP_SOLID_IMPL_H
#define KILN_STEP_SOLID_IMPL_H

#include "fem/damping.h"
#include "fem/nodal_pressure.h"
#include "step/solid.h"
#include "step/touch.h"

struct kiln_solid {
    kiln_context *context;
    kiln_mesh *mesh; /* borrowed */
    kiln_solid_options options;
    KILN_ARRAY_OF(kiln_material)
    materials;
    KILN_ARRAY_OF(kiln_obstacle *)
    obstacles;
    kiln_elements *elements;
    kiln_mass *mass;
    kiln_nodal_pressure *pressure;
    kiln_damping *damping;
    kiln_loads *loads;
    kiln_newton *newton;
    kiln_constraints given;  /* what the driver holds, and dead rows */
    kiln_constraints active; /* with the obstacles */
    kiln_touch touch;
    size_t rows;   /* vertex slots */
    double length; /* diagonal of the bounding box in u, m */

    /* [vertex slot][3]. The mesh itself is written only when a step is accepted. */
    kiln_f64_array x, centre, origin;
    kiln_f64_array rate;    /* gradient of the objective, then velocities at the end */
    kiln_f64_array rate2;   /* accelerations at the end, newmark only */
    kiln_f64_array start_a; /* newmark: acceleration at the first step's begin */
    kiln_f64_array reaction, contact;
};

KILN_INLINE double *kiln_solid_column(const kiln_solid *solid, const char *name)
{
    kiln_field *field = kiln_mesh_field(solid->mesh, KILN_ON_VERTEX, name);
    return field ? (double *)(void *)field->data : NULL;
}
/* Only with obstacles. */
KILN_INLINE uint32_t *kiln_solid_contact_with(const kiln_solid *solid)
{
    kiln_field *field = kiln_mesh_field(solid->mesh, KILN_ON_VERTEX, "contact_with");
    return (uint32_t *)(void *)field->data;
}

#endif

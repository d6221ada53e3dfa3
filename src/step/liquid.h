/* Liquid among the bodies of a step: tets of materials that say `liquid` keep their volume about
 * each vertex, resist with their viscosity alone and pull together along their surface.
 *
 * Pressure is the multiplier of that (solve/equality.h), the vertex field "liquid_pressure" (Pa,
 * rule interpolate) of the mesh, where the next step starts from. What volume a
 * vertex is to have is what it has, drawn towards the rest volumes of its part of the mesh by a
 * quarter of the difference in a step: what remeshing changes comes back, momentum untouched. */
#ifndef KILN_STEP_LIQUID_H
#define KILN_STEP_LIQUID_H

#include "fem/bubble.h"
#include "fem/material.h"
#include "fem/ring_volume.h"
#include "fem/surface_energy.h"
#include "fem/weight.h"
#include "solve/equality.h"
#include "step/touch.h"

#define KILN_FIELD_LIQUID_PRESSURE "liquid_pressure"
/* Of surface faces, u32: not 0 where the liquid goes on beyond, and nothing pulls it together. */
#define KILN_FIELD_THROUGH "through"

/* What is liquid of a part of the mesh. */
typedef struct kiln_liquid_part {
    double volume, rest, mass; /* m^3: what it has, and what it should have; kg */
    double least, most;        /* kg/m^3, of what it is made of */
} kiln_liquid_part;

typedef struct kiln_liquid {
    kiln_context *context;
    const kiln_mesh *mesh; /* borrowed */
    bool used, mixed;      /* some tet is liquid; another is not */
    KILN_ARRAY_OF(uint8_t)
    keeps, rule, bubbly; /* [tet slot] is liquid; kiln_pressure_rule; has a bubble */
    kiln_ring_volume rings;
    kiln_bubbles bubbles;
    kiln_surface_energy *surface;
    kiln_equality equality;
    kiln_term pressure; /* p . R */
    kiln_term inner;    /* of bubbles, where some tet has one */
    kiln_term gravity;  /* of the weight */
    kiln_weight weight;
    kiln_f64_array uniform;  /* [tet slot] kg/m^3 of parts that have one density; 0: of others */
    kiln_f64_array centre;   /* [part][3] m */
    kiln_tense_links within; /* with solids of its own body that it wets */
    kiln_f64_array tension;  /* [face slot] N/m, with air, */
    kiln_f64_array dry;      /* as holds leave it, */
    kiln_f64_array gamma;    /* and as it is in the pass */
    /* [vertex slot] Of its faces of liquid (kiln_touch_liquid), and the first of its contacts. */
    kiln_f64_array area, wet, pull, above;
    kiln_u32_array contact, towards;
    kiln_f64_array viscosity; /* [tet slot] Pa s */
    kiln_f64_array made;      /* [tet slot] kg/m^3, of what it is made of */
    kiln_f64_array give;      /* [tet slot] part of each in C */
    kiln_f64_array density;   /* [tet slot] kg/m^3, of parts that have several; 0: of others */
    kiln_f64_array p;         /* [row] less the pressure, Pa */
    kiln_f64_array goal;      /* [row] m^3 */
    KILN_ARRAY_OF(kiln_liquid_part)
    parts;                          /* [part] */
    kiln_f64_array found;           /* [row] scratch */
    kiln_f64_array impulse, change; /* [row][3] of bubbles, scratch */
    bool stiff;                     /* the matrix is (solve/saddle.h) */
    KILN_ARRAY_OF(uint64_t)
    blocks;                 /* of the rings in Newton's matrix */
    bool exact;             /* the Hessian is wanted as it is */
    kiln_vec3 acceleration; /* of gravity */
} kiln_liquid;

kiln_status kiln_liquid_init(kiln_liquid *liquid, kiln_context *context, kiln_error *error);
void kiln_liquid_free(kiln_liquid *liquid);
/* Anew for the mesh as it is; `rows` of the solve, `material_of` [tet slot]. */
kiln_status kiln_liquid_build(kiln_liquid *liquid, const kiln_mesh *mesh, size_t rows,
                              const kiln_material *materials, const uint32_t *material_of,
                              kiln_error *error);

typedef struct kiln_liquid_start {
    const double *x;               /* [row][3] at the begin */
    const double *mass;            /* [tet slot] kg */
    const double *viscosity;       /* [tet slot] Pa s; NULL: the materials' */
    const double *centre;          /* [row][3] m, where inertia pulls to; borrowed for the try */
    double scale, tau;             /* of the integrator: s^2, s */
    double recover;                /* of what a step brings back of lost volume: 1 in usual steps */
    kiln_vec3 acceleration;        /* m/s^2, of all matter */
    const kiln_constraints *given; /* what is held: faces on walls have no tension */
} kiln_liquid_start;
/* A try begins, with the pressure that the mesh has. */
void kiln_liquid_begin(kiln_liquid *liquid, const kiln_liquid_start *start);
void kiln_liquid_begin_wet(kiln_liquid *liquid, const double *x);
/* Where the line comes further along obstacles: vertices of faces that lean towards one which they
 * touch elsewhere, and those that were on their way there, come nearer as fast as tension moves
 * matter of their size. */
void kiln_liquid_lean(kiln_liquid *liquid, const kiln_touch *touch, const kiln_touch_start *start);
/* Contacts have changed: no tet is to be flat on an obstacle. */
void kiln_liquid_meet(kiln_liquid *liquid, kiln_touch *touch);
/* Then faces all of whose corners are held by one obstacle are wet: there the energy of their area
 * is that of liquid and obstacle less that of the obstacle alone, -gamma cos(angle) by Young's law.
 * The angle itself follows from that. x are the places contacts were found at. */
void kiln_liquid_wet(kiln_liquid *liquid, const kiln_touch *touch, const double *x);
/* What obstacles know of it; NULLs where there is none. */
kiln_touch_liquid kiln_liquid_touches(const kiln_liquid *liquid);
/* Velocities v [row][3] of a step that was found get what bubbles have of its momentum: what of
 * their motion vertices can have (the nearest by mass), as far as `given` leaves them free. */
kiln_status kiln_liquid_give_back(kiln_liquid *liquid, const double *x, kiln_mass *mass,
                                  const kiln_constraints *given, double *v, kiln_error *error);
/* Its pressure to the column, at the places it ends at. */
void kiln_liquid_keep(const kiln_liquid *liquid, const double *x, double *pressure);

#endif

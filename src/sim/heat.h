/* Heat in a world: shared by heat.c (the module), heat_settings.c, heat_loads.c (what the scene
 * says) and heat_contact.c (what touches). */
#ifndef KILN_SIM_HEAT_H
#define KILN_SIM_HEAT_H

#include "contact/surface_pairs.h"
#include "fem/thermal_stress.h"
#include "sim/boundary.h"

typedef struct kiln_heat_settings {
    kiln_said said;
    kiln_quantity temperature; /* K, of bodies at the start */
    kiln_quantity air;         /* K */
    double film;               /* W/(m^2 K), between surfaces and air */
    double contact;            /* W/(m^2 K), between bodies that touch */
    int scheme;                /* kiln_heat_scheme */
    bool compression;          /* warms what can expand */
    double plastic_work;       /* the part of it that becomes heat */
} kiln_heat_settings;

extern const kiln_schema kiln_heat_schema;

typedef struct kiln_world_heat {
    kiln_world *world;
    const kiln_heat_settings *settings;
    kiln_heat *heat;
    kiln_thermal *thermal;                    /* [material] */
    kiln_thermal_stress *stress;              /* NULL: nothing expands */
    bool varies;                              /* some conductivity is a function */
    bool works;                               /* flow makes heat */
    bool bends;                               /* heat is no straight line in temperature */
    kiln_f64_array mass, conductivity, mises; /* [tet slot]; mass where the mesh has none */
    KILN_ARRAY_OF(uint8_t)
    shut;                  /* [face slot] something else than air is there */
    kiln_u32_array matter; /* [part] a material whose heat is that of all of it; KILN_NONE: none */
    kiln_contact_surface surface;
    kiln_surface_pairs pairs;
    KILN_ARRAY_OF(kiln_box)
    boxes;                   /* [vertex slot] */
    kiln_u32_array nearest;  /* [vertex slot] the pair, or KILN_NONE */
    kiln_heat_report report; /* of the last step */
} kiln_world_heat;

/* heat_loads.c: what flows in a step that ends at `end`. */
kiln_status kiln_world_heat_load(kiln_world_heat *h, double begin, double end, kiln_error *error);

/* heat_contact.c: bodies that touch, as they are. */
kiln_status kiln_world_heat_join(kiln_world_heat *h, kiln_error *error);
void kiln_world_heat_free_contact(kiln_world_heat *h);

#endif

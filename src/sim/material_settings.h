/* What bodies are made of: the scene's materials, with plasticity. */
#ifndef KILN_SIM_MATERIAL_SETTINGS_H
#define KILN_SIM_MATERIAL_SETTINGS_H

#include "base/schema.h"
#include "fem/heat.h"
#include "fem/material.h"
#include "sim/quantity.h"

/* What heat does in it. */
typedef struct kiln_thermal_settings {
    bool conducts; /* false: the scene does not say */
    bool melts;    /* `melting` was given */
    kiln_thermal base;
    kiln_quantity conductivity; /* W/(m K); in place of base's where it is a function */
    double expansion;           /* 1/K, of lengths */
    double reference;           /* K, where it has no stress; NaN: that of the start */
} kiln_thermal_settings;

/* A material with parameters that may be functions; `base.mu` and `base.lambda` are used where
 * young and poisson are constant. */
typedef struct kiln_scene_material {
    kiln_said said;
    char name[KILN_NAME_SIZE];
    kiln_material base;
    kiln_quantity young, poisson, density, viscosity;
    bool varies; /* young, poisson or viscosity is a function: evaluated tet by tet, each step */
    /* In place of base.plastic's numbers where one of them is a function, likewise. Of their
     * circumstances, `stress` is in the norm that yields. */
    kiln_quantity yield, rate, hardening;
    bool flow_varies;
    kiln_thermal_settings thermal;
    uint32_t melt; /* the liquid that it becomes, from 1; 0: it stays what it is */
} kiln_scene_material;

/* In the words of scenes, from which a kiln_scene_material is made (kiln_schema.finish). */
typedef struct kiln_plastic_settings {
    kiln_plastic plastic;
    int flow; /* by rate, instant */
    kiln_quantity yield, rate, hardening;
    double yield_stress, hardening_modulus; /* Pa; in place of yield and hardening */
    bool by_modulus;
} kiln_plastic_settings;

typedef struct kiln_liquid_settings {
    bool liquid;
    double surface_tension; /* N/m */
    int pressure;           /* kiln_pressure_rule */
} kiln_liquid_settings;

typedef struct kiln_material_settings {
    kiln_scene_material material;
    kiln_plastic_settings plastic;
    kiln_liquid_settings liquid;
    uint32_t melt; /* position */
    int model;
    int nodal_pressure; /* auto, on, off */
} kiln_material_settings;

extern const kiln_schema kiln_material_schema; /* kiln_material_settings */
extern const kiln_schema kiln_plastic_schema;  /* kiln_plastic_settings */
extern const kiln_schema kiln_liquid_schema;   /* kiln_liquid_settings */
extern const kiln_schema kiln_thermal_schema;  /* kiln_thermal_settings */

#endif

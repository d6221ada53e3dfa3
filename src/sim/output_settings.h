/* What is written, and when: the scene's `output`. */
#ifndef KILN_SIM_OUTPUT_SETTINGS_H
#define KILN_SIM_OUTPUT_SETTINGS_H

#include "base/schema.h"
#include "fem/elements.h"

typedef struct kiln_scene_output {
    double frame;      /* s between frames; 0: only first and last */
    double checkpoint; /* s of simulated time between checkpoints; 0: by wall clock, 60 s */
    uint32_t fields;   /* bit per kiln_element_output */
    bool velocity, material_position, reaction, contact; /* vertex fields */
    bool obstacles;                                      /* surfaces beside the frames */
    bool triangles;                                      /* of the surface, beside the tets */
    bool displacement;                                   /* vertex field */
    bool quality;                                        /* tet field */
    bool plastic_strain, hardening;                      /* tet fields */
    bool contact_pressure, gap, slip;                    /* vertex fields */
    bool temperature;                                    /* vertex field, where there is one */
} kiln_scene_output;

kiln_scene_output kiln_output_default_settings(void);
extern const kiln_schema kiln_output_schema;

/* Columns that frames may have, in the order of the scene's words: the name, NULL past the last,
 * and what it is. */
const char *kiln_output_field_name(int row);
const char *kiln_output_field_meaning(int row);

#endif

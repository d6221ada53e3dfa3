/* One declaration per model file; the table is in materials.c. */
#ifndef KILN_FEM_MATERIAL_MODELS_H
#define KILN_FEM_MATERIAL_MODELS_H

#include "fem/principal.h"

extern const kiln_material_model kiln_material_linear;
extern const kiln_material_model kiln_material_corotated;
extern const kiln_material_model kiln_material_fixed_corotated;
extern const kiln_material_model kiln_material_neo_hookean;
extern const kiln_material_model kiln_material_stable_neo_hookean;
extern const kiln_material_model kiln_material_neo_hookean_split;
extern const kiln_material_model kiln_material_stvk;

#endif

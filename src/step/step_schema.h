/* What scenes may say about steps: each schema is for the options struct of the same name. */
#ifndef KILN_STEP_STEP_SCHEMA_H
#define KILN_STEP_STEP_SCHEMA_H

#include "base/schema.h"

extern const kiln_schema kiln_pace_schema;   /* kiln_pace_limits */
extern const kiln_schema kiln_solid_schema;  /* kiln_solid_options */
extern const kiln_schema kiln_newton_schema; /* kiln_newton_options of a solid step */
extern const kiln_schema kiln_solver_schema; /* kiln_solver_options */

#endif

/* The rows of a mesh that a selection names. */
#ifndef KILN_SIM_PICK_H
#define KILN_SIM_PICK_H

#include "sim/scene.h"

/* Replaces the contents of `out`, ascending. No nodes: everything. */
kiln_status kiln_picks_select(const kiln_mesh *mesh, kiln_where where, const kiln_picks *picks,
                              kiln_u32_array *out, kiln_error *error);

#endif

/* What is known about tets whose repair came to nothing, so that the steps of a run do not try the
 * same again and again: a tet below the goal is hopeless while its surroundings are those of the
 * last attempt and it has not become much worse since.
 *
 * The memory is a tet field of two doubles under the rule none (a new tet has not been tried): the
 * score after the attempt, 0 for none, and the mesh clock then. It is saved, taken back and resumed
 * with the mesh. */
#ifndef KILN_REMESH_VAIN_H
#define KILN_REMESH_VAIN_H

#include "mesh/mesh.h"

typedef struct kiln_vain {
    double score, clock;
} kiln_vain;

/* Adds the field. */
kiln_status kiln_vain_add(kiln_mesh *mesh, const char *name, kiln_error *error);
/* The column, or NULL: no name or no such field. Valid until the mesh changes. */
kiln_vain *kiln_vain_of(const kiln_mesh *mesh, const char *name);

/* Whether to leave a tet with this score alone. False with `vain` NULL. */
bool kiln_vain_is_hopeless(const kiln_mesh *mesh, const kiln_vain *vain, uint32_t tet,
                           double score);

#endif

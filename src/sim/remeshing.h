/* What the modules of remeshing share. */
#ifndef KILN_SIM_REMESHING_H
#define KILN_SIM_REMESHING_H

#include "sim/world_impl.h"
#include "step/energy_remesh.h"

#define KILN_FIELD_START_SIZE "start_size" /* mean edge of the start, by vertex, m */

/* The vertex field above, and its mean. */
kiln_status kiln_remesh_note_sizes(kiln_world *world, double *mean, kiln_error *error);

/* "energy": the quality below which nothing is made, and below which it is repaired. One and the
 * same: repairs know nothing of energy, and would take away what was made for it. A part of
 * what the scene asks for, or of the median at the start: in plates thinner than their edges all
 * tets are flat, and neither splits nor repairs make better ones. */
kiln_status kiln_remesh_note_shape(const kiln_world *world, double *least, kiln_error *error);

/* A column of the mesh that passes write to, in which they remember what was tried in vain. */
typedef struct kiln_memory_column {
    kiln_where where;
    const char *name; /* one that is not there is passed over */
} kiln_memory_column;
typedef KILN_ARRAY_OF(uint8_t)
kiln_memory;
/* A pass that is undone leaves the mesh as it was, and what is known of it with it. */
kiln_status kiln_remesh_keep_memory(const kiln_mesh *mesh, const kiln_memory_column *columns,
                                    int count, kiln_memory *kept, kiln_error *error);
void kiln_remesh_restore_memory(const kiln_mesh *mesh, const kiln_memory_column *columns, int count,
                                const kiln_memory *kept);

/* What remeshing did in a step. */
typedef struct kiln_remesh_work {
    size_t changed; /* tets of the step's mesh that it took or reshaped */
    double worst;   /* quality after it, where and how it was asked for; 0: not looked at */
    double size_seconds, remesh_seconds, transfer_seconds;
} kiln_remesh_work;
/* Added to the row. */
void kiln_remesh_measure(const kiln_remesh_work *work, kiln_stats *stats);
void kiln_remesh_measure_energy(const kiln_energy_report *report, kiln_stats *stats);

/* Of tets, where bodies may merge: the body whose matter they are. */
#define KILN_FIELD_BODY "body"

#endif

/* The noise of a surface that has no shape of its own, such as that of liquid.
 *
 * Nothing but inertia and what little damping integrators have stands against waves as short as an
 * edge: what remeshing and the mesh itself put there stays, adds up and becomes spikes. Here volume
 * flows along the edges of the surface, from where it bends more to where it bends less (surface
 * diffusion, which takes the fourth power of the wave number), but only for what the curvature
 * differs by beyond what a surface does that the mesh can show. So volume is kept edge by edge,
 * smooth surfaces are left alone to the bit, and the energy of weight and tension can only fall.
 * Velocities and masses stay, and with them momentum. */
#ifndef KILN_REMESH_FAIR_H
#define KILN_REMESH_FAIR_H

#include "mesh/mesh.h"

typedef struct kiln_fair_options {
    const uint8_t *open; /* [face slot] not 0: may be smoothed */
    /* The part of a direction in which a vertex of an open face may go. */
    kiln_vec3 (*may_go)(const void *user, uint32_t vertex, kiln_vec3 direction);
    const void *user;
    /* Radians more than a surface may turn by, below which nothing is done: 0 fairs for ever, by
     * less and less. */
    double least;
} kiln_fair_options;

/* Where the vertices are to go in the world, by how much: shift[vertex slot] has what they are to
 * go anyway, and gets the rest, 0 nearly everywhere. No tet loses more than half of its volume by
 * it. *moved: how many do. */
kiln_status kiln_fair(const kiln_mesh *mesh, const kiln_fair_options *options, kiln_vec3 *shift,
                      size_t *moved, kiln_error *error);

#endif

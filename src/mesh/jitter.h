/* Makes a generated mesh irregular: boxes are so regular that few flips are possible in them, and
 * that errors cancel. */
#ifndef KILN_MESH_JITTER_H
#define KILN_MESH_JITTER_H

#include "mesh/txn.h"

/* Moves every interior vertex by up to `size` along each axis, in both spaces, where its tets stay
 * positive. One transaction. */
kiln_verdict kiln_mesh_jitter(kiln_mesh *mesh, double size, uint64_t seed);

#endif

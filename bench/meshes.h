/* Irregular meshes to measure on: a box flatters everything that walks. */
#ifndef KILN_BENCH_MESHES_H
#define KILN_BENCH_MESHES_H

#include "mesh/mesh.h"

/* Delaunay tets of the corners of the unit cube and random points in it: about 6.4 tets a point. */
kiln_status kiln_bench_random_mesh(kiln_context *context, uint32_t points, uint64_t seed,
                                   kiln_mesh **out, kiln_error *error);

/* A row of the shapes table, e.g. "ball", with its settings, built. */
kiln_status kiln_bench_shape(kiln_context *context, const char *name, int settings,
                             const char *const *setting, kiln_mesh **out, kiln_error *error);

#endif

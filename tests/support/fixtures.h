/* Meshes that several test programs share, built from the generators. */
#ifndef KILN_TESTS_FIXTURES_H
#define KILN_TESTS_FIXTURES_H

#include "base/random.h"
#include "mesh/audit.h"
#include "mesh/build.h"
#include "mesh/replace.h"
#include "mesh/surface.h"

/* A row of the shapes table, e.g. ("box", "nx=3 ny=3 nz=3"); fails the test. */
kiln_soup kiln_test_soup(kiln_context *context, const char *shape, const char *settings);
/* The same built, strict. */
kiln_mesh *kiln_test_mesh(kiln_context *context, const char *shape, const char *settings);

/* From literal points and tets; regions may be NULL. */
kiln_mesh *kiln_test_mesh_of(kiln_context *context, size_t points, const kiln_vec3 *point,
                             size_t tets, const kiln_soup_tet *tet, const int32_t *region,
                             kiln_build_policy policy);

/* kiln_mesh_jitter, which must succeed. */
void kiln_test_jitter(kiln_mesh *mesh, double size, uint64_t seed);

/* Takes a tet out; what it leaves open becomes surface with tag 7. */
kiln_verdict kiln_test_remove_tet(kiln_txn *txn, uint32_t tet);

/* One attempt at a random flip, split, vertex move (up to `size` each way) or, when `holes`,
 * removal. Often refused. */
kiln_verdict kiln_test_change(kiln_txn *txn, kiln_random *random, double size, bool holes);

/* Fails the test with the audit's message when an invariant is broken. */
void kiln_test_audit(const kiln_mesh *mesh);

/* kiln_mesh_surface_topology, which must succeed. */
kiln_surface_topology kiln_test_surface_of(const kiln_mesh *mesh);

#endif

/* Meshes for the cases, and the figures that several of them take from one. */
#ifndef KILN_MEASURE_FIXTURE_H
#define KILN_MEASURE_FIXTURE_H

#include "mesh/mesh.h"

/* A generated shape with settings separated by spaces, e.g. ("box", "n=3 pattern=mirrored"); what
 * has no '=' belongs to the setting before. The soup is initialised here, and empty on failure. */
kiln_status kiln_fixture_soup(kiln_context *context, const char *shape, const char *settings,
                              kiln_soup *soup, kiln_error *error);
/* The same built, strict, and its interior vertices moved by up to `jitter` (m) along each axis. */
kiln_status kiln_fixture_mesh(kiln_context *context, const char *shape, const char *settings,
                              double jitter, kiln_mesh **mesh, kiln_error *error);

/* Sum over the live tets in u, in extended precision. */
long double kiln_fixture_volume(const kiln_mesh *mesh);
/* Live tets that are not positive in u or in x, by the exact predicate. */
size_t kiln_fixture_non_positive(const kiln_mesh *mesh);

#endif

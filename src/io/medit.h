/* Medit .mesh and .meshb (meshes), .sol and .solb (fields for a mesh). */
#ifndef KILN_IO_MEDIT_H
#define KILN_IO_MEDIT_H

#include "io/format.h"

kiln_status kiln_medit_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
kiln_status kiln_medit_write(kiln_context *context, const char *path, kiln_encoding encoding,
                             const kiln_soup *soup, kiln_error *error);
/* Binary in a given version, 2 to 4; kiln_medit_write takes the lowest that can hold the mesh. */
kiln_status kiln_medit_write_version(kiln_context *context, const char *path, int version,
                                     const kiln_soup *soup, kiln_error *error);
bool kiln_medit_sniff(kiln_text start);

/* Adds fields "sol1", "sol2", ... to a soup that has its points, triangles and tets. Symmetric
 * tensors change from Medit's order (xx xy yy xz yz zz) to the soup's. */
kiln_status kiln_sol_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
/* Writes the fields with 1, 3, 6 or 9 components, without their names; others are left out with a
 * warning. */
kiln_status kiln_sol_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error);

#endif

/* Gmsh .msh 2.2 and 4.1, text and binary. Tags are physical groups (0: none); a point's tag is that
 * of a point element on it. Corners, ridges and required items have no place in the format. */
#ifndef KILN_IO_GMSH_H
#define KILN_IO_GMSH_H

#include "io/format.h"

bool kiln_gmsh_sniff(kiln_text start);
kiln_status kiln_gmsh_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
/* Binary unless text is asked for. */
kiln_status kiln_gmsh_write_22(kiln_context *context, const char *path, kiln_encoding encoding,
                               const kiln_soup *soup, kiln_error *error);
kiln_status kiln_gmsh_write_41(kiln_context *context, const char *path, kiln_encoding encoding,
                               const kiln_soup *soup, kiln_error *error);

#endif

/* From a soup to a mesh under the policies of the public API (kiln/kiln.h): building, and cutting
 * what is not manifold when asked to. */
#ifndef KILN_TOPOLOGY_IMPORT_H
#define KILN_TOPOLOGY_IMPORT_H

#include "mesh/soup.h"

/* `options` and `report` may be NULL; `place` is the file's name for messages and may be too. The
 * rows of the mesh have no gaps. */
kiln_status kiln_mesh_import(kiln_context *context, const kiln_soup *soup, const char *place,
                             const kiln_mesh_options *options, kiln_mesh **out,
                             kiln_mesh_report *report, kiln_error *error);

/* A warning for each thing that was done to the input. */
void kiln_mesh_report_log(kiln_context *context, const char *place, const kiln_mesh_report *report);

#endif

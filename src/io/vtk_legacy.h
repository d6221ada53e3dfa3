/* Legacy VTK files (.vtk), versions 2 to 5, text and binary, unstructured grids. Read only. */
#ifndef KILN_IO_VTK_LEGACY_H
#define KILN_IO_VTK_LEGACY_H

#include "io/format.h"

kiln_status kiln_vtk_legacy_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
bool kiln_vtk_legacy_sniff(kiln_text start);

#endif

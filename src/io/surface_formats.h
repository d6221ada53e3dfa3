/* Surface formats: triangles without tets. Writers take the triangles a soup lists
 * and the points on them (all points when there are no tets). */
#ifndef KILN_IO_SURFACE_FORMATS_H
#define KILN_IO_SURFACE_FORMATS_H

#include "io/format.h"

/* Points are welded by their exact coordinates; facets with two equal corners are left out. Binary
 * files hold 32-bit floats: coordinates are rounded when written. */
kiln_status kiln_stl_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
kiln_status kiln_stl_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error);
bool kiln_stl_sniff(kiln_text start);

/* v and f lines, indices from 1 or negative; groups, normals, materials are passed over. */
kiln_status kiln_obj_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
kiln_status kiln_obj_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error);

/* Text and both binaries; unknown elements and properties are passed over. Doubles, tags as the
 * face property "tag", and material positions (the vertex field "u") as u_x, u_y, u_z. */
kiln_status kiln_ply_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
kiln_status kiln_ply_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error);
bool kiln_ply_sniff(kiln_text start);

/* OFF, COFF, NOFF, CNOFF in text; colours and normals are passed over. */
kiln_status kiln_off_read(kiln_source *source, kiln_soup *soup, kiln_error *error);
kiln_status kiln_off_write(kiln_context *context, const char *path, kiln_encoding encoding,
                           const kiln_soup *soup, kiln_error *error);
bool kiln_off_sniff(kiln_text start);

#endif

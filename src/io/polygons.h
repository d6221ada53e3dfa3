/* What the surface formats share: polygons cut into triangles, points welded by their coordinates,
 * and the surface of a soup. */
#ifndef KILN_IO_POLYGONS_H
#define KILN_IO_POLYGONS_H

#include "io/source.h"
#include "mesh/soup.h"
#include "io/format.h"
#include "io/sink.h"

/* Triangles of a polygon with corners v[count] (count >= 3, numbers of points that exist) appended
 * to the soup. Cut by ears in the plane of its mean normal, so corners may point inward; a polygon
 * too crooked for that becomes a fan. Tags get `tag` for each triangle. */
kiln_status kiln_polygon_split(kiln_soup *soup, const uint32_t *v, size_t count, int32_t tag,
                               kiln_error *error);

/* Points found again by their exact coordinates (-0 counts as 0), numbered as first seen. */
typedef struct kiln_weld {
    kiln_soup *soup;
    kiln_u32_array slots; /* UINT32_MAX: free */
} kiln_weld;

kiln_status kiln_weld_point(kiln_weld *weld, kiln_vec3 p, uint32_t *index, kiln_error *error);
void kiln_weld_free(kiln_weld *weld);

/* What a surface file is to hold, in `out` (initialised here, freed by the caller on success): the
 * triangles with their tags, and the points with their material positions ("u"); of a soup with
 * tets only the points on triangles. An error when there are no triangles. */
kiln_status kiln_surface_extract(const kiln_soup *soup, const char *path, kiln_soup *out,
                                 kiln_error *error);

/* Extracts the surface, lets `put` write it, commits. */
typedef void (*kiln_surface_put)(kiln_sink *sink, const kiln_soup *surface, kiln_encoding encoding);
kiln_status kiln_surface_write(kiln_context *context, const char *path, kiln_encoding encoding,
                               const kiln_soup *soup, kiln_surface_put put, kiln_error *error);

/* `before` and the numbers of the corners, of which the first point has `first`; no end of line. */
void kiln_surface_put_triangle(kiln_sink *sink, const char *before, const uint32_t v[3],
                               uint32_t first);
/* A line for each point, then one for each triangle. */
void kiln_surface_put_lines(kiln_sink *sink, const kiln_soup *surface, const char *before_point,
                            const char *before_triangle, uint32_t first);

#endif

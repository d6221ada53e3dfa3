/* Which way the triangles of a broken surface look, and where it is open.
 *
 * Triangles that share an edge, or have edges whose ends lie within a tolerance of each other, are
 * turned to agree; the pieces that result look outward by the volume they enclose, a piece inside
 * another inward (a cavity), and pieces that enclose next to nothing as the winding numbers of the
 * others say. */
#ifndef KILN_TOPOLOGY_SURFACE_ORIENT_H
#define KILN_TOPOLOGY_SURFACE_ORIENT_H

#include "mesh/soup.h"

typedef struct kiln_orient_report {
    size_t pieces;
    size_t turned;     /* triangles */
    size_t cavities;   /* pieces that lie in another */
    size_t open_edges; /* that no other lies on */
} kiln_orient_report;

/* Turns triangles in place. */
kiln_status kiln_surface_orient(kiln_soup *surface, double tolerance, kiln_orient_report *report,
                                kiln_error *error);

#endif

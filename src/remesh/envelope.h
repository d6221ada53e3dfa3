/* Tets for a surface that cannot be filled exactly: one that is open by gaps, crosses itself, has
 * pieces on top of each other. Generalised winding numbers say what is inside
 * (geom/triangle_tree.h), and the boundary of the result stays within a stated distance of the
 * surface.
 *
 * A lattice of tets is bisected where the surface is (its longest edges first, so that shapes
 * repeat) until what cuts it is within the distance; its nodes near the surface are put on it, the
 * rest is cut along it (isosurface stuffing, Labelle and Shewchuk 2007), and the improver does the
 * rest with the surface held. Where the surface has a hole wider than the distance the boundary
 * spans it, where the winding number is 1/2: there it is within the distance of that, not of the
 * surface. */
#ifndef KILN_REMESH_ENVELOPE_H
#define KILN_REMESH_ENVELOPE_H

#include "mesh/soup.h"

/* Presets, parts of the diagonal of the bounding box. */
#define KILN_ENVELOPE_OF_SIZE      (1.0 / 200.0)
#define KILN_ENVELOPE_EDGE_OF_SIZE (1.0 / 20.0)
enum { KILN_ENVELOPE_MOST_TETS = 2000000 };

typedef struct kiln_envelope_options {
    double distance;  /* m; 0: the preset */
    double size;      /* m, longest edges wanted; 0: the preset */
    size_t most_tets; /* of the lattice; 0: KILN_ENVELOPE_MOST_TETS */
    kiln_vec3 origin; /* m, added to places in messages */
} kiln_envelope_options;

typedef struct kiln_envelope_report {
    double distance, size; /* m, as taken */
    double outward;        /* m, farthest that the boundary is from the surface where it is there */
    double backward;       /* m, and the surface from the boundary where it is one */
    double spanned;        /* part of the boundary that spans holes */
    double widest;         /* m, its farthest point from the surface */
    double hidden;         /* part of the surface that is inside, or has nothing behind it */
    bool kept;             /* the boundary is within the distance, all of it */
    size_t pieces, turned; /* of the surface: topology/surface_orient.h */
    size_t cavities, open_edges;
    size_t parts;  /* of the result; more than pieces where what is thin was lost between them */
    size_t specks; /* places smaller than the distance that were filled or left out */
    size_t tets;
    double worst_before, worst; /* quality of the cut lattice, of the result */
} kiln_envelope_report;

/* `out` (initialised, empty) gets points, tets (tag 1) and surface triangles with the tags of what
 * they lie on. The surface is best near the origin. KILN_ERR_LIMIT: the distance or the size asks
 * for too many tets; KILN_ERR_INPUT: nothing is inside. On failure `out` is empty. */
kiln_status kiln_envelope_fill(const kiln_soup *surface, const char *place,
                               const kiln_envelope_options *options, kiln_soup *out,
                               kiln_envelope_report *report, kiln_error *error);

#endif

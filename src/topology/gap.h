/* Filling the gap between two sheets of surface that face each other: what is a gap becomes tets
 * that hang together with those on both sides, and nothing else changes (SLI 7.2;
 * liquids-algorithms 8, "Bridge before overlap").
 *
 * Both sheets, seen along the direction between them, are triangulations of one plane. Each is the
 * lower hull of heights over its vertices (near |p|^2, a little off where an edge is not
 * Delaunay's), and the tets between them are the mixed subdivision of the two: a face and the
 * vertex over there whose cell its gradient lies in, both ways, and two edges whose duals cross. It
 * needs no new vertices, matches the faces of both sides, and where the sheets meet in a crease
 * tets with a vertex twice just fall away. */
#ifndef KILN_TOPOLOGY_GAP_H
#define KILN_TOPOLOGY_GAP_H

#include "mesh/replace.h"

typedef struct kiln_gap {
    uint32_t vertex, face; /* of the surface: where they face each other */
    const uint8_t *near;   /* [vertex slot] not 0: faces something as near */
    double part;           /* of the edges there: what is wider is no gap */
    double most_area;      /* of that of the faces that go, what comes before the gap is closed */
} kiln_gap;

typedef struct kiln_gap_report {
    uint32_t tets;
    double volume;             /* m^3, of them */
    double covered, uncovered; /* m^2, of faces that went and that came */
} kiln_gap_report;

/* Fills the gap, and draws together what is across it from each other. KILN_REFUSED_JUDGED where
 * there is nothing to fill, too much surface would come, or room would be shut in. The vertices of
 * the sheets that were looked at are added to `seen` (may be NULL). All or nothing. */
kiln_verdict kiln_gap_fill(kiln_txn *txn, const kiln_gap *gap, kiln_u32_array *seen,
                           kiln_gap_report *report);

#endif

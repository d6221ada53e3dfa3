/* From a soup to a mesh and back. */
#ifndef KILN_MESH_BUILD_H
#define KILN_MESH_BUILD_H

#include "mesh/mesh.h"

typedef enum kiln_build_policy {
    KILN_BUILD_STRICT, /* any defect is an error that names the element and the rule */
    KILN_BUILD_REPAIR, /* mends what has one sensible meaning, refuses the rest (topology/repair.h
                          cuts non-manifold vertices and edges afterwards) */
    KILN_BUILD_SURVEY  /* builds what it can, for inspection only: the mesh may break M3-M5 */
} kiln_build_policy;

/* One row per defect: name in reports, rule. */
#define KILN_DEFECT_TABLE(X)                                                                       \
    X(KILN_DEFECT_REPEATED_CORNER, "repeated_corner", "a tet needs four different vertices")       \
    X(KILN_DEFECT_DUPLICATE, "duplicate", "a tet may be given once only")                          \
    X(KILN_DEFECT_FLAT, "flat", "a tet must have volume")                                          \
    X(KILN_DEFECT_INVERTED, "inverted", "a tet must be positively oriented")                       \
    X(KILN_DEFECT_CROWDED_FACE, "crowded_face", "a face has at most two tets")                     \
    X(KILN_DEFECT_SAME_SIDE, "same_side", "two tets of a face must lie on different sides")        \
    X(KILN_DEFECT_SPLIT_VERTEX, "non_manifold_vertex",                                             \
      "the tets at a vertex must hang together through faces, its surface be one sheet")           \
    X(KILN_DEFECT_SPLIT_EDGE, "non_manifold_edge", "the tets round an edge must be one fan")       \
    X(KILN_DEFECT_LOOSE_VERTEX, "loose_vertex", "a point should be used by a tet")                 \
    X(KILN_DEFECT_LOOSE_TRIANGLE, "loose_triangle", "a triangle should be a face of a tet")        \
    X(KILN_DEFECT_LOOSE_EDGE, "loose_edge", "an edge should be an edge of a tet")

typedef enum kiln_defect {
#define KILN_DEFECT_ENUM(name, text, rule) name,
    KILN_DEFECT_TABLE(KILN_DEFECT_ENUM)
#undef KILN_DEFECT_ENUM
        KILN_DEFECT_COUNT
} kiln_defect;

const char *kiln_defect_name(kiln_defect defect);
const char *kiln_defect_rule(kiln_defect defect);

typedef struct kiln_build_report {
    size_t count[KILN_DEFECT_COUNT];
    size_t first[KILN_DEFECT_COUNT]; /* soup number of the first one, counted from 0 */
    bool reversed;                   /* all tets came with the other orientation; turned */
    size_t interior_triangles;       /* listed triangles inside the mesh */
} kiln_build_report;

typedef struct kiln_build_options {
    kiln_build_policy policy;
    double feature_angle; /* surface edges that turn by more are features; radians */
    const char *place;    /* for messages: the file's name; may be NULL */
} kiln_build_options;

kiln_build_options kiln_build_default_options(void);

/* Loose points, triangles and edges are left out and reported under every policy. A tet or flat tet
 * that is left out (repair, survey) is reported too. Fields come along (interpolate on vertices,
 * average on tets, copy on faces); a point field "u" with 3 components gives the material
 * positions. */
kiln_status kiln_mesh_build(kiln_context *context, const kiln_soup *soup,
                            const kiln_build_options *options, kiln_mesh **out,
                            kiln_build_report *report, kiln_error *error);

/* Live tets in order of number, points in order of number: x as coordinates, "u" as a field where
 * it differs, surface triangles with tags, feature edges as ridges, corners, required entities. */
kiln_status kiln_mesh_to_soup(const kiln_mesh *mesh, kiln_soup *soup, kiln_error *error);

#endif

/* Selections: sets of vertices, tets or surface faces as ascending arrays of row numbers. Live rows
 * only; valid until the mesh changes. The same for any number of threads. */
#ifndef KILN_MESH_SELECT_H
#define KILN_MESH_SELECT_H

#include "mesh/mesh.h"

/* One row per predicate: name, name in scenes, what it looks at, what it means. A predicate looks
 * at points, vertices, tets or surface faces. Points and vertices decide for tets and faces by the
 * selector's reach. A tet decides for its surface faces, and for a vertex if any of its tets does;
 * a face decides for its tet and vertices in the same way. */
#define KILN_SELECT_TABLE(X)                                                                       \
    X(KILN_SELECT_ALL, "all", POINT, "everything")                                                 \
    X(KILN_SELECT_BOX, "box", POINT, "between the corners a and b, borders included")              \
    X(KILN_SELECT_SPHERE, "sphere", POINT, "within `radius` of a")                                 \
    X(KILN_SELECT_HALF_SPACE, "half-space", POINT, "on or beyond the plane through a, along b")    \
    X(KILN_SELECT_CYLINDER, "cylinder", POINT, "within `radius` of the axis from a to b")          \
    X(KILN_SELECT_NEAREST, "nearest", POINT,                                                       \
      "the `number` nearest to a, no farther than `radius`")                                       \
    X(KILN_SELECT_SURFACE, "surface", VERTEX, "on the surface")                                    \
    X(KILN_SELECT_INTERFACE, "interface", VERTEX, "between regions")                               \
    X(KILN_SELECT_FEATURE, "feature", VERTEX, "on a feature edge")                                 \
    X(KILN_SELECT_CORNER, "corner", VERTEX, "where features meet, end or turn")                    \
    X(KILN_SELECT_REQUIRED, "required", VERTEX, "must neither move nor vanish")                    \
    X(KILN_SELECT_REGION, "region", TET, "region `number`")                                        \
    X(KILN_SELECT_PART, "part", TET, "part `number`")                                              \
    X(KILN_SELECT_BODY, "body", TET, "a part of body `number`")                                    \
    X(KILN_SELECT_PATCH, "patch", FACE, "surface tag `number`")

typedef enum kiln_select_kind {
#define KILN_SELECT_ENUM(name, text, looks_at, meaning) name,
    KILN_SELECT_TABLE(KILN_SELECT_ENUM)
#undef KILN_SELECT_ENUM
        KILN_SELECT_COUNT
} kiln_select_kind;

/* How much of a tet or face must answer to a predicate on points or vertices. */
typedef enum kiln_reach {
    KILN_REACH_CENTRE, /* its centre; for a predicate on vertices: all corners */
    KILN_REACH_ALL,    /* all corners */
    KILN_REACH_ANY     /* one corner */
} kiln_reach;

typedef struct kiln_selector {
    kiln_select_kind kind;
    kiln_space space;
    kiln_reach reach; /* `nearest` always goes by the centre */
    kiln_vec3 a, b;   /* m */
    double radius;    /* m; 0 for `nearest`: any distance */
    int64_t number;
} kiln_selector;

/* Names in scenes; parsing says whether there is such a row. */
const char *kiln_select_name(kiln_select_kind kind);
bool kiln_select_parse(const char *name, kiln_select_kind *kind);

/* The results below go to `out`, whose contents they replace; it may be one of the operands. It
 * stays as it is on failure. */

/* KILN_ERR_INPUT for a shape without extent or with numbers that are not finite. `nearest` breaks
 * ties by row number. */
kiln_status kiln_select(const kiln_mesh *mesh, kiln_where where, const kiln_selector *selector,
                        kiln_u32_array *out, kiln_error *error);

typedef enum kiln_select_operation {
    KILN_SELECT_AND,
    KILN_SELECT_OR,
    KILN_SELECT_MINUS
} kiln_select_operation;
kiln_status kiln_select_combine(kiln_context *context, kiln_select_operation operation,
                                const kiln_u32_array *a, const kiln_u32_array *b,
                                kiln_u32_array *out, kiln_error *error);
/* The live rows that are not in `a`. */
kiln_status kiln_select_not(const kiln_mesh *mesh, kiln_where where, const kiln_u32_array *a,
                            kiln_u32_array *out, kiln_error *error);

/* Tets and faces to their vertices; vertices to the tets or faces with all of their corners (any:
 * one of them) in the set; tets to their surface faces, faces to their tets. */
kiln_status kiln_select_convert(const kiln_mesh *mesh, kiln_where from, const kiln_u32_array *rows,
                                kiln_where to, kiln_reach reach, kiln_u32_array *out,
                                kiln_error *error);

#endif

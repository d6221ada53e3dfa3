/* A mesh as files know it: numbered points, tets, triangles and edges with integer tags, marks and
 * named fields, with no promise that they fit together. Readers and generators produce it, writers
 * consume it, mesh/build.h turns it into a mesh. */
#ifndef KILN_MESH_SOUP_H
#define KILN_MESH_SOUP_H

#include "base/array.h"
#include "geom/vec3.h"

typedef struct kiln_soup_tet {
    uint32_t v[4];
} kiln_soup_tet;
typedef struct kiln_soup_triangle {
    uint32_t v[3];
} kiln_soup_triangle;
typedef struct kiln_soup_edge {
    uint32_t v[2];
} kiln_soup_edge;

/* data[item][component], as many items as there are points, tets or listed triangles. Six
 * components are a symmetric tensor xx yy zz xy yz xz (VTK's order), nine a tensor row by row. */
typedef struct kiln_soup_field {
    char name[KILN_NAME_SIZE];
    kiln_where where;
    uint32_t components;
    bool whole; /* numbers of things: files may hold them as integers */
    kiln_f64_array data;
} kiln_soup_field;

typedef struct kiln_soup {
    kiln_context *context; /* borrowed */
    KILN_ARRAY_OF(kiln_vec3)
    points;
    KILN_ARRAY_OF(kiln_soup_tet)
    tets;
    KILN_ARRAY_OF(kiln_soup_triangle)
    triangles;
    KILN_ARRAY_OF(kiln_soup_edge)
    edges;
    /* Tags ("references" in Medit, physical groups in Gmsh): either empty, which means all zero, or
     * one per item. */
    KILN_ARRAY_OF(int32_t)
    point_tags;
    KILN_ARRAY_OF(int32_t)
    tet_tags;
    KILN_ARRAY_OF(int32_t)
    triangle_tags;
    KILN_ARRAY_OF(int32_t)
    triangle_regions; /* of the tets behind, for viewers of frames; written, never read */
    KILN_ARRAY_OF(int32_t)
    edge_tags;
    /* Marks: lists of item numbers, in file order. */
    kiln_u32_array corners;         /* points */
    kiln_u32_array required_points; /* must not move or vanish */
    kiln_u32_array ridges;          /* edges */
    kiln_u32_array required_edges;
    kiln_u32_array required_triangles;
    KILN_ARRAY_OF(kiln_soup_field)
    fields;
} kiln_soup;

void kiln_soup_init(kiln_soup *soup, kiln_context *context);
void kiln_soup_free(kiln_soup *soup); /* leaves an empty soup */

/* A new zero field of the right size for the points, tets or triangles present now. */
kiln_status kiln_soup_add_field(kiln_soup *soup, const char *name, kiln_where where,
                                uint32_t components, kiln_soup_field **out, kiln_error *error);
const kiln_soup_field *kiln_soup_find_field(const kiln_soup *soup, kiln_where where,
                                            const char *name);

/* How many items a field of this kind has. */
size_t kiln_soup_count(const kiln_soup *soup, kiln_where where);

/* What every reader must establish before it hands a soup on: finite coordinates, indices in range,
 * tags, marks and fields of the right length. `place` is the file's name. */
kiln_status kiln_soup_check(const kiln_soup *soup, const char *place, kiln_error *error);

/* Appends `other` (points renumbered, tets given `tag_offset` more). Fields that only one of the
 * two has are filled with zero. */
kiln_status kiln_soup_append(kiln_soup *soup, const kiln_soup *other, int32_t tag_offset,
                             kiln_error *error);

#endif

/* The outside of a set of tets taken from a soup, which may be defective: faces are matched by
 * their three vertices, no adjacency is assumed. (A built mesh knows its surface; this is for what
 * need not be one: a file under inspection, or the tets on one side of a clip plane.) */
#ifndef KILN_APP_SKIN_H
#define KILN_APP_SKIN_H

#include "mesh/soup.h"

#include <stdbool.h>

/* Corners in the order that points outwards when the tet is positive. */
typedef struct kiln_skin_face {
    uint32_t v[3];
    uint32_t tet;
    bool cut; /* inside the whole: the tet on the other side was not chosen */
} kiln_skin_face;

/* Tets around each vertex: items[start[v] .. start[v+1]], ascending. Tets that name a vertex twice
 * are left out. */
typedef struct kiln_incidence {
    kiln_context *context; /* borrowed */
    uint32_t *start;       /* [vertices + 1] */
    uint32_t *items;
    size_t vertices, item_count;
} kiln_incidence;

kiln_status kiln_incidence_create(const kiln_soup *soup, kiln_incidence *out, kiln_error *error);
void kiln_incidence_destroy(kiln_incidence *incidence);

/* A tet face found at its smallest vertex v: the other two in order, packed as tet * 4 + face. */
typedef struct kiln_found_face {
    uint32_t middle, largest;
    uint64_t packed;
} kiln_found_face;
typedef KILN_ARRAY_OF(kiln_found_face)
kiln_found_face_array;

/* All faces whose smallest vertex is v, equal ones next to each other, then by `packed`. */
kiln_status kiln_incidence_faces(const kiln_soup *soup, const kiln_incidence *incidence, uint32_t v,
                                 kiln_found_face_array *out, kiln_error *error);

/* The i-th face of a tet (the one opposite corner i), outwards for a positive tet. */
void kiln_soup_tet_face(const kiln_soup_tet *tet, int i, uint32_t v[3]);
bool kiln_soup_tet_repeats(const kiln_soup_tet *tet);

typedef KILN_ARRAY_OF(kiln_skin_face)
kiln_skin;

/* Faces that belong to exactly one of the tets that `kept` [tet] chooses (NULL: all). Free with
 * kiln_array_free. */
kiln_status kiln_skin_collect(const kiln_soup *soup, const uint8_t *kept, kiln_skin *out,
                              kiln_error *error);

/* The number of an item, or the length of its vector: what pictures and tables show of a field. */
double kiln_soup_field_size(const kiln_soup_field *field, size_t item);

#endif

/* The edges of a set of triangles: how many triangles each has, and which. */
#ifndef KILN_TOPOLOGY_EDGE_TABLE_H
#define KILN_TOPOLOGY_EDGE_TABLE_H

#include "mesh/soup.h"

typedef struct kiln_edge_slot {
    uint32_t low, high; /* its ends */
    uint32_t count;     /* triangles; 0: a free slot */
    uint32_t side[2];   /* the first two: 3 * triangle + k, for the edge from corner k to k + 1 */
} kiln_edge_slot;

/* Zero-initialise. */
typedef struct kiln_edge_table {
    kiln_context *context;
    kiln_edge_slot *slots;
    size_t size; /* a power of two */
} kiln_edge_table;

/* Triangles with two equal corners are passed over. May be called again. */
kiln_status kiln_edge_table_build(kiln_edge_table *table, kiln_context *context,
                                  const kiln_soup_triangle *triangles, size_t count,
                                  kiln_error *error);
void kiln_edge_table_free(kiln_edge_table *table);

/* Never NULL for an edge of the triangles; its count is 0 for any other pair. */
const kiln_edge_slot *kiln_edge_table_find(const kiln_edge_table *table, uint32_t a, uint32_t b);

/* Do both of an edge's two triangles run along it the same way, so that one is turned? */
bool kiln_edge_is_turned(const kiln_edge_slot *edge, const kiln_soup_triangle *triangles);

#endif

/* A small set of vertices that has an end of every edge. */
#ifndef KILN_SOLVE_DISSECT_COVER_H
#define KILN_SOLVE_DISSECT_COVER_H

#include "base/context.h"

/* Words of scratch. */
size_t kiln_cover_words(size_t vertices, size_t edges);
/* Ends of edges are below `vertices`; edges may be there twice. chosen[vertex] is 0 or 1. */
void kiln_cover_edges(uint32_t vertices, size_t edges, const uint32_t (*edge)[2], uint32_t *scratch,
                      uint8_t *chosen);

#endif

/* Which bodies are looked at together; `meet` is the same both ways. NULL in its place: all. */
#ifndef KILN_TOPOLOGY_AMONG_H
#define KILN_TOPOLOGY_AMONG_H

#include "mesh/mesh.h"

typedef struct kiln_among {
    bool (*meet)(const void *self, uint32_t a, uint32_t b);
    const void *self;
} kiln_among;

KILN_INLINE bool kiln_tets_meet(const kiln_among *among, const kiln_mesh *mesh, uint32_t a,
                                uint32_t b)
{
    return !among || among->meet(among->self, mesh->parts.data[mesh->info[a].part].body,
                                 mesh->parts.data[mesh->info[b].part].body);
}

#endif

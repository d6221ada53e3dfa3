#include "mesh/jitter.h"

#include "base/random.h"

kiln_verdict kiln_mesh_jitter(kiln_mesh *mesh, double size, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 99);
    kiln_txn txn = kiln_txn_begin(mesh);
    if (txn.depth == 0)
        return KILN_REFUSED_MEMORY;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (mesh->vertex[v].flags & (KILN_VERTEX_SURFACE | KILN_VERTEX_DEAD))
            continue;
        double x = kiln_random_range(&random, -size, size);
        double y = kiln_random_range(&random, -size, size);
        kiln_vec3 step = kiln_v3(x, y, kiln_random_range(&random, -size, size));
        kiln_verdict verdict = kiln_txn_move_vertex(&txn, v, kiln_v3_add(mesh->u[v], step),
                                                    kiln_v3_add(mesh->x[v], step));
        if (verdict == KILN_REFUSED_MEMORY)
            return kiln_txn_settle(&txn, verdict);
    }
    return kiln_txn_settle(&txn, KILN_ACCEPTED);
}

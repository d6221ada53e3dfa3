#include "topology/nudge.h"

#include "geom/tet_quality.h"

#include <math.h>

static double worst_of(const kiln_mesh *mesh, const kiln_walker *walker)
{
    double worst = 1.0;
    for (size_t i = 0; i < walker->tets.count; i++) {
        const uint32_t *v = mesh->tet[walker->tets.data[i]].v;
        const kiln_vec3 *x = mesh->x;
        worst = fmin(worst, kiln_tet_quality(&x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
    }
    return worst;
}

kiln_verdict kiln_nudge(kiln_txn *txn, kiln_walker *walker, uint32_t vertex, kiln_vec3 to,
                        double part, double quality)
{
    const kiln_mesh *mesh = txn->mesh;
    kiln_vec3 way = kiln_v3_sub(to, mesh->x[vertex]);
    if (kiln_v3_norm2(way) == 0.0 || mesh->vertex[vertex].flags & KILN_VERTEX_REQUIRED)
        return KILN_ACCEPTED;
    if (kiln_star(mesh, vertex, walker, NULL) != KILN_OK)
        return KILN_REFUSED_MEMORY;
    double before = worst_of(mesh, walker);
    kiln_txn inner = kiln_txn_begin(txn->mesh);
    if (inner.depth == 0)
        return KILN_REFUSED_MEMORY;
    if (part < 1.0)
        to = kiln_v3_madd(mesh->x[vertex], part, way);
    kiln_verdict verdict = kiln_txn_move_vertex(&inner, vertex, to, to);
    if (verdict == KILN_ACCEPTED && worst_of(mesh, walker) < fmin(before, quality))
        verdict = KILN_REFUSED_JUDGED;
    verdict = kiln_txn_settle(&inner, verdict);
    return verdict == KILN_REFUSED_MEMORY ? verdict : KILN_ACCEPTED;
}

#include "remesh/reshaped.h"

#include "base/parallel.h"
#include "mesh/walk.h"

#include <stdatomic.h>

enum { GRAIN = 1024 };

typedef struct comparison {
    const kiln_mesh *mesh;
    const kiln_vec3 *then;
    double part;
    atomic_bool found;
} comparison;

static bool differs(double a, double b, double part)
{
    return !(fabs(a - b) <= part * fabs(b)); /* not a number: it does */
}

static void take_edges(const kiln_vec3 *p, const uint32_t v[4], kiln_vec3 edge[6])
{
    for (int k = 0; k < 3; k++)
        edge[k] = kiln_v3_sub(p[v[k + 1]], p[v[0]]);
    edge[3] = kiln_v3_sub(edge[1], edge[0]);
    edge[4] = kiln_v3_sub(edge[2], edge[1]);
    edge[5] = kiln_v3_sub(edge[0], edge[2]);
}

static bool tet_differs(const comparison *c, const uint32_t v[4])
{
    kiln_vec3 now[6], then[6];
    take_edges(c->mesh->x, v, now);
    take_edges(c->then, v, then);
    bool other = differs(kiln_v3_dot(now[0], kiln_v3_cross(now[1], now[2])),
                         kiln_v3_dot(then[0], kiln_v3_cross(then[1], then[2])), c->part);
    for (int k = 0; k < 6; k++) /* squares change twice as much */
        other |= differs(kiln_v3_norm2(now[k]), kiln_v3_norm2(then[k]), 2.0 * c->part);
    return other;
}

static void compare_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk, (void)worker;
    comparison *c = user;
    if (atomic_load_explicit(&c->found, memory_order_relaxed))
        return;
    for (uint32_t t = (uint32_t)begin; t < end; t++)
        if (kiln_tet_live(c->mesh, t) && tet_differs(c, c->mesh->tet[t].v)) {
            atomic_store_explicit(&c->found, true, memory_order_relaxed);
            return;
        }
}

bool kiln_reshaped(const kiln_mesh *mesh, const kiln_vec3 *then, double part)
{
    comparison c = {.mesh = mesh, .then = then, .part = part};
    kiln_parallel_for(mesh->context, mesh->table[KILN_ON_TET].used, GRAIN, compare_chunk, &c);
    return c.found;
}

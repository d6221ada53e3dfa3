#include "remesh/measured.h"

#include <math.h>

double kiln_tet_volume_in(const kiln_mesh *mesh, kiln_space space, uint32_t tet)
{
    const kiln_vec3 *x = kiln_mesh_positions(mesh, space);
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_volume(x[v[0]], x[v[1]], x[v[2]], x[v[3]]);
}

double kiln_volume_in(const kiln_mesh *mesh, kiln_space space)
{
    double volume = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        volume += kiln_tet_live(mesh, t) ? kiln_tet_volume_in(mesh, space, t) : 0.0;
    return volume;
}

double kiln_worst_in(const kiln_mesh *mesh, kiln_space space, kiln_measure measure)
{
    const kiln_vec3 *x = kiln_mesh_positions(mesh, space);
    double worst = INFINITY;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_tet_live(mesh, t))
            worst = fmin(worst, kiln_tet_measure(measure, &x[v[0]], &x[v[1]], &x[v[2]], &x[v[3]]));
    }
    return worst;
}

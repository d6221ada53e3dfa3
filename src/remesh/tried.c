#include "remesh/tried.h"

#include "base/array.h"
#include "mesh/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

kiln_status kiln_tried_add(kiln_mesh *mesh, const char *name, kiln_error *error)
{
    return kiln_mesh_add_field(mesh, name, KILN_ON_VERTEX, KILN_F64, KILN_TRIED_AIMS,
                               KILN_RULE_INTERPOLATE, error);
}

kiln_tried *kiln_tried_of(const kiln_mesh *mesh, const char *name)
{
    kiln_field *field = name ? kiln_mesh_field(mesh, KILN_ON_VERTEX, name) : NULL;
    return field ? (kiln_tried *)(void *)field->data : NULL;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

kiln_status kiln_tried_list(const kiln_mesh *mesh, uint32_t since, kiln_u32_array *vertices,
                            kiln_error *error)
{
    vertices->count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t) && mesh->info[t].changed > since; k++)
            KILN_TRY(kiln_array_push(mesh->context, vertices, mesh->tet[t].v[k], error));
    size_t kept = 0;
    if (vertices->count > 0)
        qsort(vertices->data, vertices->count, sizeof *vertices->data, ascending);
    for (size_t i = 0; i < vertices->count; i++)
        if (kept == 0 || vertices->data[kept - 1] != vertices->data[i])
            vertices->data[kept++] = vertices->data[i];
    vertices->count = kept;
    return KILN_OK;
}

void kiln_tried_note(const kiln_mesh *mesh, kiln_tried *tried, kiln_tried_for aim,
                     const kiln_u32_array *vertices, const kiln_size_wait *wait)
{
    size_t next = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        bool changed = next < vertices->count && vertices->data[next] == v;
        bool failed = wait && (wait[v][0] == KILN_SIZE_WAIT || wait[v][1] == KILN_SIZE_WAIT);
        next += changed;
        tried[v][aim] = fmin(fmax(tried[v][aim], 0.0) + (changed || failed), KILN_TRIED_MOST);
    }
}

static bool is_fresh(const kiln_tried tried)
{
    return tried[KILN_TRIED_SIZE] == 0.0 && tried[KILN_TRIED_REPAIR] == 0.0;
}

/* Of an edge, by squares of its length. */
static double strain(kiln_vec3 now, kiln_vec3 then)
{
    double was = kiln_v3_norm2(then);
    return was > 0.0 ? 0.5 * fabs(kiln_v3_norm2(now) - was) / was : 0.0;
}

kiln_status kiln_tried_forget(const kiln_mesh *mesh, kiln_tried *tried, const kiln_vec3 *then,
                              kiln_f64_array *scratch, kiln_error *error)
{
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(mesh->context, scratch, vertices, error));
    double *most = scratch->data; /* [vertex] strain of its edges */
    memset(most, 0, vertices * sizeof *most);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 6 && kiln_tet_live(mesh, t); k++) {
            uint32_t a = mesh->tet[t].v[kiln_edge_ends[k][0]];
            uint32_t b = mesh->tet[t].v[kiln_edge_ends[k][1]];
            if (is_fresh(tried[a]) && is_fresh(tried[b]))
                continue;
            double e = strain(kiln_v3_sub(mesh->x[b], mesh->x[a]), kiln_v3_sub(then[b], then[a]));
            most[a] = fmax(most[a], e);
            most[b] = fmax(most[b], e);
        }
    for (size_t v = 0; v < vertices; v++)
        for (int aim = 0; aim < KILN_TRIED_AIMS; aim++)
            tried[v][aim] = fmax(0.0, tried[v][aim] - most[v] / KILN_TRIED_STRAIN);
    return KILN_OK;
}

bool kiln_tried_enough(const kiln_tried *tried, kiln_tried_for aim, const uint32_t *vertices,
                       int count)
{
    for (int k = 0; k < count && tried; k++)
        if (!(tried[vertices[k]][aim] > KILN_TRIED_MOST - 1.0))
            return false;
    return tried != NULL;
}

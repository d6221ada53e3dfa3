#include "fem/vertex_stars.h"

#include <string.h>

static kiln_status make_room(kiln_vertex_stars *s, kiln_context *context, size_t rows, size_t tets,
                             kiln_error *error)
{
    KILN_TRY(kiln_array_reserve(context, &s->corner, 4 * tets + 1, error));
    KILN_TRY(kiln_array_reserve(context, &s->first, rows + 1, error));
    return kiln_array_reserve(context, &s->tet, 4 * tets + 1, error);
}

kiln_status kiln_vertex_stars_build(kiln_vertex_stars *s, const kiln_mesh *mesh, kiln_error *error)
{
    size_t rows = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    s->rows = s->tets = 0;
    KILN_TRY(make_room(s, mesh->context, rows, tets, error));
    uint64_t *first = s->first.data;
    memset(first, 0, (rows + 1) * sizeof *first);
    for (uint32_t t = 0; t < tets; t++)
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t v = kiln_tet_live(mesh, t) ? mesh->tet[t].v[k] : KILN_NONE;
            s->corner.data[4 * t + k] = v;
            if (v != KILN_NONE)
                first[v + 1]++;
        }
    for (size_t i = 0; i < rows; i++)
        first[i + 1] += first[i];
    for (uint32_t at = 0; at < 4 * tets; at++)
        if (s->corner.data[at] != KILN_NONE)
            s->tet.data[first[s->corner.data[at]]++] = at;
    memmove(first + 1, first, rows * sizeof *first);
    first[0] = 0;
    s->rows = rows;
    s->tets = tets;
    return KILN_OK;
}

void kiln_vertex_stars_free(kiln_vertex_stars *s, kiln_context *context)
{
    kiln_array_free(context, &s->corner);
    kiln_array_free(context, &s->first);
    kiln_array_free(context, &s->tet);
}

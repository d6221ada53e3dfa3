/* What a user of the library reads of a mesh (kiln/kiln.h). Rows in use have gaps after changes;
 * users see the live ones, numbered in order, as files do (to_soup.c). */
#include "geom/tet_quality.h"
#include "mesh/mesh.h"

#include <string.h>

enum { BATCH = 256 };

/* Those that return no status are asked of nothing, and of what there is none of, in vain. */
static bool has_rows(const kiln_mesh *mesh, kiln_where where)
{
    return mesh && (unsigned)where < KILN_WHERE_COUNT;
}

size_t kiln_mesh_count(const kiln_mesh *mesh, kiln_where where)
{
    return has_rows(mesh, where) ? mesh->table[where].live : 0;
}

void kiln_mesh_copy_positions(const kiln_mesh *mesh, kiln_space space, double *positions)
{
    if (!mesh || !positions)
        return;
    const kiln_vec3 *from = kiln_mesh_positions(mesh, space);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v)) {
            memcpy(positions, &from[v], sizeof *from);
            positions += 3;
        }
}

/* Number of each vertex among the live ones: a pointer to be released with release_ranks, NULL when
 * it would be the identity. */
static kiln_status vertex_ranks(const kiln_mesh *mesh, uint32_t **out, kiln_error *error)
{
    const kiln_table *table = &mesh->table[KILN_ON_VERTEX];
    *out = NULL;
    if (table->live == table->used)
        return KILN_OK;
    size_t size = (size_t)table->used * sizeof **out;
    uint32_t *rank = kiln_resize(mesh->context, NULL, 0, size), next = 0;
    if (!rank)
        return kiln_fail_memory(error, size);
    for (uint32_t v = 0; v < table->used; v++)
        rank[v] = kiln_vertex_live(mesh, v) ? next++ : KILN_NONE;
    *out = rank;
    return KILN_OK;
}

static void release_ranks(const kiln_mesh *mesh, uint32_t *rank)
{
    if (rank)
        kiln_release(mesh->context, rank, mesh->table[KILN_ON_VERTEX].used * sizeof *rank);
}

kiln_status kiln_mesh_copy_tets(const kiln_mesh *mesh, uint32_t *tets, kiln_error *error)
{
    uint32_t *rank;
    KILN_TRY(kiln_need(mesh, "mesh", error));
    KILN_TRY(kiln_need(tets, "tets", error));
    KILN_TRY(vertex_ranks(mesh, &rank, error));
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++) {
            uint32_t v = mesh->tet[t].v[k];
            *tets++ = rank ? rank[v] : v;
        }
    release_ranks(mesh, rank);
    return KILN_OK;
}

kiln_status kiln_mesh_copy_triangles(const kiln_mesh *mesh, uint32_t *triangles, kiln_error *error)
{
    uint32_t *rank;
    KILN_TRY(kiln_need(mesh, "mesh", error));
    KILN_TRY(kiln_need(triangles, "triangles", error));
    KILN_TRY(vertex_ranks(mesh, &rank, error));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        for (int k = 0; k < 3 && kiln_face_live(mesh, f); k++) {
            uint32_t at = mesh->face[f].at;
            uint32_t v = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
            *triangles++ = rank ? rank[v] : v;
        }
    release_ranks(mesh, rank);
    return KILN_OK;
}

void kiln_mesh_copy_tags(const kiln_mesh *mesh, kiln_where where, int32_t *tags)
{
    if (!has_rows(mesh, where) || !tags)
        return;
    for (uint32_t row = 0; row < mesh->table[where].used; row++)
        if (kiln_row_live(mesh, where, row))
            *tags++ = where == KILN_ON_VERTEX ? mesh->vertex[row].tag
                      : where == KILN_ON_TET  ? mesh->info[row].region
                                              : mesh->face[row].tag;
}

/* Qualities of the next live tets from *row on, BATCH at most; returns how many. */
static size_t next_qualities(const kiln_mesh *mesh, kiln_space space, uint32_t *row,
                             double quality[BATCH])
{
    uint32_t ids[BATCH];
    size_t count = 0;
    for (; *row < mesh->table[KILN_ON_TET].used && count < BATCH; (*row)++)
        if (kiln_tet_live(mesh, *row))
            ids[count++] = *row;
    kiln_tet_quality_batch(mesh->context->isa, count, ids, mesh->tet[0].v, sizeof(kiln_tet),
                           kiln_mesh_positions(mesh, space), quality);
    return count;
}

void kiln_mesh_copy_quality(const kiln_mesh *mesh, kiln_space space, double *quality)
{
    if (!mesh || !quality)
        return;
    double batch[BATCH];
    uint32_t row = 0;
    for (size_t count; (count = next_qualities(mesh, space, &row, batch)) > 0; quality += count)
        memcpy(quality, batch, count * sizeof *batch);
}

void kiln_mesh_quality(const kiln_mesh *mesh, kiln_space space, double *min, double *mean)
{
    double batch[BATCH], least = 1.0, sum = 0.0;
    uint32_t row = 0;
    if (!mesh || !min || !mean)
        return;
    for (size_t count; (count = next_qualities(mesh, space, &row, batch)) > 0;)
        for (size_t i = 0; i < count; i++) {
            least = batch[i] < least ? batch[i] : least;
            sum += batch[i];
        }
    *min = least;
    *mean = mesh->table[KILN_ON_TET].live ? sum / mesh->table[KILN_ON_TET].live : 1.0;
}

#include "contact/surface_vertices.h"

kiln_status kiln_surface_vertices_build(kiln_u32_array *vertices, const kiln_mesh *mesh,
                                        kiln_error *error)
{
    vertices->count = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_on_surface(mesh, v))
            KILN_TRY(kiln_array_push(mesh->context, vertices, v, error));
    return KILN_OK;
}

/* Leaves out what is among `rows` or past the end. */
static void thin(kiln_u32_array *vertices, const kiln_mesh *mesh, const kiln_u32_array *rows)
{
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < vertices->count; i++) {
        uint32_t v = vertices->data[i];
        while (next < rows->count && rows->data[next] < v)
            next++;
        bool other = next < rows->count && rows->data[next] == v;
        if (!other && v < mesh->table[KILN_ON_VERTEX].used)
            vertices->data[kept++] = v;
    }
    vertices->count = kept;
}

kiln_status kiln_surface_vertices_update(kiln_u32_array *vertices, const kiln_mesh *mesh,
                                         const kiln_u32_array *rows, kiln_error *error)
{
    size_t more = 0;
    for (size_t i = 0; i < rows->count; i++)
        more += kiln_vertex_on_surface(mesh, rows->data[i]);
    KILN_TRY(kiln_array_reserve(mesh->context, vertices, vertices->count + more, error));
    thin(vertices, mesh, rows);
    size_t old = vertices->count, place = old + more;
    vertices->count = place;
    for (size_t i = rows->count; i-- > 0;) {
        if (!kiln_vertex_on_surface(mesh, rows->data[i]))
            continue;
        while (old > 0 && vertices->data[old - 1] > rows->data[i])
            vertices->data[--place] = vertices->data[--old];
        vertices->data[--place] = rows->data[i];
    }
    return KILN_OK;
}

#include "contact/surface_vertices.h"

#include "mesh/row_list.h"

kiln_status kiln_surface_vertices_build(kiln_u32_array *vertices, const kiln_mesh *mesh,
                                        kiln_error *error)
{
    vertices->count = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_on_surface(mesh, v))
            KILN_TRY(kiln_array_push(mesh->context, vertices, v, error));
    return KILN_OK;
}

kiln_status kiln_surface_vertices_update(kiln_u32_array *vertices, const kiln_mesh *mesh,
                                         const kiln_u32_array *rows, kiln_error *error)
{
    kiln_u32_array members = {0};
    kiln_status status = kiln_array_reserve(mesh->context, &members, rows->count, error);
    for (size_t i = 0; status == KILN_OK && i < rows->count; i++)
        if (kiln_vertex_on_surface(mesh, rows->data[i]))
            members.data[members.count++] = rows->data[i];
    if (status == KILN_OK)
        status = kiln_row_list_follow(mesh->context, vertices, rows, &members,
                                      mesh->table[KILN_ON_VERTEX].used, error);
    kiln_array_free(mesh->context, &members);
    return status;
}

/* Surfaces in scenes: of obstacles, and those that hang in bodies. */
#include "io/scene_reader.h"
#include "mesh/build.h"

#include <string.h>

/* Numbers the points that triangles have, in the order of the file; the others get UINT32_MAX. */
static kiln_status take_points(const kiln_soup *from, uint32_t *now, kiln_soup *to,
                               kiln_error *error)
{
    memset(now, 0xff, from->points.count * sizeof *now);
    for (size_t i = 0; i < from->triangles.count; i++)
        for (int k = 0; k < 3; k++)
            now[from->triangles.data[i].v[k]] = 0;
    for (size_t i = 0; i < from->points.count; i++) {
        if (now[i] == UINT32_MAX)
            continue;
        now[i] = (uint32_t)to->points.count;
        KILN_TRY(kiln_array_push(from->context, &to->points, from->points.data[i], error));
    }
    return KILN_OK;
}

static kiln_status take_triangles(const kiln_soup *from, uint32_t *now, kiln_soup *to,
                                  kiln_error *error)
{
    KILN_TRY(take_points(from, now, to, error));
    for (size_t i = 0; i < from->triangles.count; i++) {
        kiln_soup_triangle triangle = from->triangles.data[i];
        for (int k = 0; k < 3; k++)
            triangle.v[k] = now[triangle.v[k]];
        KILN_TRY(kiln_array_push(from->context, &to->triangles, triangle, error));
    }
    return KILN_OK;
}

/* Triangles, the points they have, and their material positions. */
static kiln_status copy_triangles(const kiln_soup *from, kiln_soup *to, kiln_error *error)
{
    const kiln_soup_field *u = kiln_soup_find_field(from, KILN_ON_VERTEX, "u");
    kiln_soup_field *material = NULL;
    kiln_u32_array now = {0};
    KILN_TRY(kiln_array_reserve(from->context, &now, from->points.count, error));
    kiln_status status = take_triangles(from, now.data, to, error);
    if (status == KILN_OK && u && u->components == 3)
        status = kiln_soup_add_field(to, "u", KILN_ON_VERTEX, 3, &material, error);
    for (size_t i = 0; material && i < from->points.count; i++)
        if (now.data[i] != UINT32_MAX)
            memcpy(material->data.data + 3 * (size_t)now.data[i], u->data.data + 3 * i,
                   3 * sizeof(double));
    kiln_array_free(from->context, &now);
    return status;
}

/* Tets with the triangles of their whole surface. */
static kiln_status skin(kiln_soup *soup, kiln_error *error)
{
    kiln_build_options options = kiln_build_default_options();
    kiln_build_report report;
    kiln_mesh *mesh;
    KILN_TRY(kiln_mesh_build(soup->context, soup, &options, &mesh, &report, error));
    kiln_soup_free(soup);
    kiln_status status = kiln_mesh_to_soup(mesh, soup, error);
    kiln_mesh_destroy(mesh);
    return status;
}

kiln_status kiln_scene_keep_surface(const scene_reader *r, kiln_soup *soup)
{
    kiln_soup surface;
    kiln_error inner = {0};
    kiln_status status = soup->tets.count > 0 ? skin(soup, &inner) : KILN_OK;
    kiln_soup_init(&surface, soup->context);
    if (status == KILN_OK)
        status = copy_triangles(soup, &surface, &inner);
    if (status != KILN_OK) {
        kiln_soup_free(&surface);
        return kiln_scene_wrap(r, status, &inner);
    }
    kiln_soup_free(soup);
    *soup = surface;
    return KILN_OK;
}

/* Of a file only its path counts: nothing is filled. */
static kiln_status read_file(scene_reader *r, kiln_soup *soup)
{
    const scene_object *object = &kiln_scene_object_file;
    scene_file_draft draft;
    object->start(&draft);
    KILN_TRY(kiln_scene_read_object(r, object, &draft));
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->rows[i].key, "path") != 0 && kiln_scene_is_given(r, object->rows[i].key))
            return kiln_scene_fail_key(r, object->rows[i].key, "a surface is not filled with tets");
    return kiln_scene_read_mesh(r, draft.path, soup);
}

kiln_status kiln_scene_read_surface(scene_reader *r, void *field)
{
    kiln_soup *soup = field;
    scene_spot spot = {r->path_size, r->line};
    int kind;
    KILN_TRY(kiln_scene_expect(r, SCENE_IS_SHAPE, &kind));
    const kiln_shape *shape = kiln_generator_at((size_t)kind);
    KILN_TRY(shape ? kiln_scene_read_generated(r, shape, soup) : read_file(r, soup));
    KILN_TRY(kiln_scene_keep_surface(r, soup));
    if (soup->triangles.count == 0)
        return kiln_scene_fail(r, "has no triangles");
    kiln_scene_leave(r, spot);
    return KILN_OK;
}

/* Surfaces in scenes: of obstacles, and those that hang in bodies. */
#include "io/polygons.h"
#include "io/scene_reader.h"
#include "mesh/build.h"

#include <string.h>

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
    if (status == KILN_OK)
        status = kiln_surface_extract(soup, "", &surface, &inner);
    if (status != KILN_OK)
        return kiln_scene_wrap(r, status, &inner);
    kiln_soup_free(soup);
    *soup = surface;
    return KILN_OK;
}

/* Of a file only its path counts: nothing is filled. */
static kiln_status read_file(scene_reader *r, kiln_soup *soup)
{
    const kiln_schema *object = &kiln_shape_file_schema;
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

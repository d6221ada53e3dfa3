/* Meshes from files and shapes, and to files (kiln/kiln.h). */
#include "io/fill.h"
#include "io/format.h"
#include "mesh/build.h"
#include "topology/import.h"

static kiln_status fill(const kiln_soup *surface, const char *path,
                        const kiln_mesh_options *options, kiln_soup *out, kiln_error *error)
{
    if (!options->fill)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "holds a surface and no tets; ask for it to be filled "
                         "(kiln_mesh_options.fill, kiln mesh fill)");
    if (!(options->fill_edge >= 0.0))
        return kiln_fail(error, KILN_ERR_INPUT, "fill_edge", 0, -1, "must not be negative, got %g",
                         options->fill_edge);
    kiln_fill_options filling = kiln_fill_default_options();
    filling.max_edge = options->fill_edge;
    kiln_fill_report report;
    KILN_TRY(kiln_fill_surface(surface, path, &filling, out, &report, error));
    kiln_fill_report_log(surface->context, path, &report);
    return KILN_OK;
}

kiln_status kiln_mesh_load(kiln_context *context, const char *path,
                           const kiln_mesh_options *options, kiln_mesh **out,
                           kiln_mesh_report *report, kiln_error *error)
{
    KILN_TRY(kiln_need(context, "context", error));
    KILN_TRY(kiln_need(path, "path", error));
    KILN_TRY(kiln_need(out, "out", error));
    kiln_mesh_options chosen = options ? *options : kiln_mesh_default_options();
    const kiln_format_options format = {.format = chosen.format};
    kiln_mesh_report done;
    kiln_soup soup, filled;
    kiln_soup_init(&soup, context);
    kiln_soup_init(&filled, context);
    KILN_TRY(kiln_soup_read(context, path, &format, &soup, error));
    bool surface = soup.tets.count == 0 && soup.triangles.count > 0;
    kiln_status status = surface ? fill(&soup, path, &chosen, &filled, error) : KILN_OK;
    if (status == KILN_OK)
        status =
            kiln_mesh_import(context, surface ? &filled : &soup, path, &chosen, out, &done, error);
    kiln_soup_free(&soup);
    kiln_soup_free(&filled);
    KILN_TRY(status);
    kiln_mesh_report_log(context, path, &done);
    if (report)
        *report = done;
    return KILN_OK;
}

kiln_status kiln_mesh_generate(kiln_context *context, const char *shape, size_t setting_count,
                               const char *const *settings, kiln_mesh **out, kiln_error *error)
{
    const kiln_shape *row;
    KILN_TRY(kiln_need(context, "context", error));
    KILN_TRY(kiln_need(shape, "shape", error));
    KILN_TRY(kiln_need_texts(settings, setting_count, "settings", error));
    KILN_TRY(kiln_need(out, "out", error));
    KILN_TRY(kiln_generator_find(shape, &row, error));
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    KILN_TRY(kiln_shape_make(row, setting_count, settings, &soup, error));
    kiln_status status = kiln_mesh_import(context, &soup, shape, NULL, out, NULL, error);
    kiln_soup_free(&soup);
    return status;
}

kiln_status kiln_mesh_save(const kiln_mesh *mesh, const char *path,
                           const kiln_format_options *options, kiln_error *error)
{
    kiln_soup soup;
    KILN_TRY(kiln_need(mesh, "mesh", error));
    KILN_TRY(kiln_need(path, "path", error));
    KILN_TRY(kiln_mesh_to_soup(mesh, &soup, error));
    kiln_status status = kiln_soup_write(mesh->context, path, options, &soup, error);
    kiln_soup_free(&soup);
    return status;
}

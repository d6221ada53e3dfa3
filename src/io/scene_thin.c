/* Bodies of files that are plates or needles: tets as long as asked for, and so many across. */
#include "io/scene_reader.h"
#include "mesh/build.h"
#include "remesh/domain.h"

static kiln_status make(kiln_context *context, const char *place, const kiln_domain_options *how,
                        const kiln_mesh *mesh, kiln_soup *soup, kiln_error *error)
{
    kiln_domain_report report;
    kiln_mesh *made;
    KILN_TRY(kiln_domain_remesh(mesh, how, &made, &report, error));
    if (!made)
        return kiln_fail(error, KILN_ERR_INPUT, place, 0, -1,
                         "layers: the new mesh would be worse than the old: quality %.2g, and it "
                         "was %.2g; volume %.6g, and it was %.6g",
                         report.worst_after, report.worst_before, report.volume_after,
                         report.volume_before);
    kiln_log(context, KILN_LOG_INFO, "%s: %u tets become %u, %s", place,
             mesh->table[KILN_ON_TET].live, made->table[KILN_ON_TET].live,
             report.stretched ? "stretched along what is thin" : "for nothing of it is thin");
    kiln_soup_free(soup);
    kiln_soup_init(soup, context);
    kiln_status status = kiln_mesh_to_soup(made, soup, error);
    kiln_mesh_destroy(made);
    return status;
}

kiln_status kiln_scene_stretch(kiln_context *context, const char *place, uint32_t layers,
                               double size, kiln_soup *soup, kiln_error *error)
{
    kiln_build_options options = kiln_build_default_options();
    kiln_build_report report;
    kiln_mesh *mesh;
    kiln_domain_options how = kiln_domain_default_options();
    options.place = place;
    how.thin = KILN_THIN_ALWAYS;
    how.layers = layers;
    how.size = size;
    KILN_TRY(kiln_mesh_build(context, soup, &options, &mesh, &report, error));
    kiln_status status = make(context, place, &how, mesh, soup, error);
    kiln_mesh_destroy(mesh);
    return status;
}

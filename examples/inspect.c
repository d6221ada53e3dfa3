/* Reads a mesh file, mends what can be mended, prints what is in it, and writes it with the quality
 * of every tet as a field.
 *
 *     inspect ball.mesh ball.vtu */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const kiln_error *error)
{
    char text[800];
    fprintf(stderr, "inspect: %s\n", kiln_error_format(error, text, sizeof text));
    return 2;
}

static void print_mesh(const kiln_mesh *mesh, const kiln_mesh_report *report)
{
    double worst, mean;
    kiln_mesh_quality(mesh, KILN_SPACE_MATERIAL, &worst, &mean);
    printf("vertices %zu\n", kiln_mesh_count(mesh, KILN_ON_VERTEX));
    printf("tets %zu\n", kiln_mesh_count(mesh, KILN_ON_TET));
    printf("surface triangles %zu\n", kiln_mesh_count(mesh, KILN_ON_FACE));
    printf("parts %u\n", kiln_part_count(mesh));
    printf("volume %.6f m^3\n", kiln_mesh_volume(mesh));
    printf("quality worst %.4f mean %.4f\n", worst, mean);
    printf("mended %zu turned, %zu dropped, %zu vertices split\n", report->tets_turned,
           report->tets_dropped, report->vertices_split);
}

static kiln_status add_quality(kiln_mesh *mesh, kiln_error *error)
{
    double *quality = malloc(kiln_mesh_count(mesh, KILN_ON_TET) * sizeof *quality);
    if (!quality)
        return KILN_ERR_MEMORY;
    kiln_mesh_copy_quality(mesh, KILN_SPACE_MATERIAL, quality);
    kiln_status status = kiln_mesh_set_field(mesh, KILN_ON_TET, "quality", 1, quality, error);
    free(quality);
    return status;
}

static kiln_status run(kiln_context *context, const char *in, const char *out, kiln_error *error)
{
    kiln_mesh_options options = kiln_mesh_default_options();
    options.policy = KILN_MESH_REPAIR;
    kiln_mesh *mesh;
    kiln_mesh_report report;
    kiln_status status = kiln_mesh_load(context, in, &options, &mesh, &report, error);
    if (status != KILN_OK)
        return status;
    print_mesh(mesh, &report);
    status = add_quality(mesh, error);
    if (status == KILN_OK)
        status = kiln_mesh_save(mesh, out, NULL, error);
    kiln_mesh_destroy(mesh);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: inspect IN OUT\n", stderr);
        return 2;
    }
    kiln_error error = {KILN_ERR_MEMORY, "", 0, -1, "out of memory"};
    kiln_context *context;
    if (kiln_context_create(NULL, &context, &error) != KILN_OK)
        return fail(&error);
    kiln_status status = run(context, argv[1], argv[2], &error);
    kiln_context_destroy(context);
    return status == KILN_OK ? 0 : fail(&error);
}

/* Two tets from arrays in memory, checked, and their surface copied out. */
#include <kiln/kiln.h>

#include <stdio.h>

int main(void)
{
    const double points[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    const uint32_t tets[2][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}};
    const int32_t regions[2] = {10, 20};
    const kiln_mesh_arrays arrays = {
        .point_count = 5, .points = points[0], .tet_count = 2, .tets = tets[0], .regions = regions};
    char text[800];
    kiln_error error;
    kiln_context *context;
    if (kiln_context_create(NULL, &context, &error) != KILN_OK)
        return 1;

    kiln_mesh *mesh = NULL;
    uint32_t triangles[6][3]; /* two tets that share a face have six outside */
    kiln_audit_report audit;
    kiln_status status = kiln_mesh_from_arrays(context, &arrays, NULL, &mesh, NULL, &error);
    if (status == KILN_OK)
        status = kiln_mesh_audit(mesh, &audit, &error);
    if (status == KILN_OK)
        status = kiln_mesh_copy_triangles(mesh, triangles[0], &error);
    if (status == KILN_OK) {
        printf("volume %.6f m^3, audit %s\n", kiln_mesh_volume(mesh),
               audit.invariant ? audit.message : "fine");
        for (size_t i = 0; i < kiln_mesh_count(mesh, KILN_ON_FACE); i++)
            printf("triangle %u %u %u\n", triangles[i][0], triangles[i][1], triangles[i][2]);
    } else {
        fprintf(stderr, "arrays: %s\n", kiln_error_format(&error, text, sizeof text));
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return status == KILN_OK ? 0 : 1;
}

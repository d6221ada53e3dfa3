/* Reads a mesh, makes its bad tets better and writes it.
 *
 *     improve bad.mesh good.mesh 0.4         tets below 0.4 only
 *     improve bad.mesh best.mesh             all of them, as good as they will go */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>

static kiln_status improve(kiln_mesh *mesh, const char *goal, kiln_error *error)
{
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh_improve_report report;
    if (goal)
        options.goal = strtod(goal, NULL);
    else
        options.aggressive = true;
    kiln_status status = kiln_mesh_improve(mesh, &options, &report, error);
    if (status != KILN_OK)
        return status;
    printf("tets below %.2f: %zu are left\n", options.goal, report.below_goal);
    printf("the worst tet is %s, the volume has changed by %.1f %%\n",
           report.worst_after > report.worst_before ? "better" : "as it was",
           100 * report.volume_change);
    return KILN_OK;
}

int main(int argc, char **argv)
{
    char text[800];
    kiln_error error;
    kiln_context *context = NULL;
    kiln_mesh *mesh = NULL;
    if (argc < 3 || argc > 4) {
        fputs("usage: improve IN OUT [GOAL]\n", stderr);
        return 2;
    }
    kiln_status status = kiln_context_create(NULL, &context, &error);
    if (status == KILN_OK)
        status = kiln_mesh_load(context, argv[1], NULL, &mesh, NULL, &error);
    if (status == KILN_OK)
        status = improve(mesh, argc > 3 ? argv[3] : NULL, &error);
    if (status == KILN_OK)
        status = kiln_mesh_save(mesh, argv[2], NULL, &error);
    if (status != KILN_OK)
        fprintf(stderr, "improve: %s\n", kiln_error_format(&error, text, sizeof text));
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return status == KILN_OK ? 0 : 2;
}

/* Runs a scene step by step, prints how high its bodies reach, and writes the last state.
 *
 *     simulate drop.lua end.vtu */
#include <kiln/kiln.h>

#include <stdio.h>
#include <stdlib.h>

/* Highest vertex, m. */
static double highest(const kiln_mesh *mesh)
{
    size_t count = kiln_mesh_count(mesh, KILN_ON_VERTEX);
    double(*x)[3] = malloc(count * sizeof *x), top = -1e300;
    if (!x)
        return top;
    kiln_mesh_copy_positions(mesh, KILN_SPACE_WORLD, x[0]);
    for (size_t i = 0; i < count; i++)
        top = x[i][2] > top ? x[i][2] : top;
    free(x);
    return top;
}

static kiln_status run(kiln_simulation *simulation, const char *out, kiln_error *error)
{
    double end = kiln_simulation_duration(simulation), next = 0;
    while (kiln_simulation_time(simulation) < end) {
        kiln_status status = kiln_simulation_step(simulation, end, error);
        if (status != KILN_OK)
            return status;
        if (kiln_simulation_time(simulation) >= next) {
            printf("t = %.2f s: top at %.3f m\n", kiln_simulation_time(simulation),
                   highest(kiln_simulation_mesh(simulation)));
            next += end / 5;
        }
    }
    return kiln_simulation_save_frame(simulation, out, error);
}

int main(int argc, char **argv)
{
    char text[800];
    kiln_error error;
    kiln_context *context = NULL;
    kiln_simulation *simulation = NULL;
    if (argc != 3) {
        fputs("usage: simulate SCENE.lua OUT.vtu\n", stderr);
        return 2;
    }
    kiln_status status = kiln_context_create(NULL, &context, &error);
    if (status == KILN_OK)
        status = kiln_simulation_load(context, argv[1], NULL, &simulation, &error);
    if (status == KILN_OK)
        status = run(simulation, argv[2], &error);
    if (status != KILN_OK)
        fprintf(stderr, "simulate: %s\n", kiln_error_format(&error, text, sizeof text));
    kiln_simulation_destroy(simulation);
    kiln_context_destroy(context);
    return status == KILN_OK ? 0 : 2;
}

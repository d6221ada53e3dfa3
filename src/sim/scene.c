#include "sim/scene.h"

#include <string.h>

kiln_quantity kiln_quantity_number(double value)
{
    return (kiln_quantity){.constant = {value, 0.0, 0.0}};
}

kiln_quantity kiln_quantity_vector(kiln_vec3 value)
{
    return (kiln_quantity){.constant = {value.x, value.y, value.z}};
}

kiln_status kiln_quantity_get(const kiln_quantity *quantity, const kiln_circumstances *at,
                              double *out, int components, kiln_error *error)
{
    if (quantity->evaluate)
        return quantity->evaluate(quantity->self, at, out, components, error);
    memcpy(out, quantity->constant, (size_t)components * sizeof *out);
    return KILN_OK;
}

void kiln_scene_init(kiln_scene *scene, kiln_context *context)
{
    *scene = (kiln_scene){.context = context};
    scene->solid = kiln_solid_default_options();
    scene->solid.newton.length = 0.0;
    scene->load_steps = 1;
    scene->pace = (kiln_pace_limits){.dt = 0.01, .dt_min = 0.01 / 1024.0, .patience = 8};
    scene->output.frame = 0.04;
    scene->output.fields = 1u << KILN_OUTPUT_MISES;
    scene->output.velocity = true;
    scene->output.material_position = true;
    scene->output.obstacles = true;
}

void kiln_scene_free(kiln_scene *scene)
{
    kiln_context *context = scene->context;
    for (size_t i = 0; i < scene->bodies.count; i++) {
        kiln_scene_body *body = &scene->bodies.data[i];
        for (size_t k = 0; k < body->regions.count; k++)
            kiln_array_free(context, &body->regions.data[k].where);
        kiln_array_free(context, &body->regions);
        kiln_soup_free(&body->mesh);
    }
    for (size_t i = 0; i < scene->holds.count; i++)
        kiln_array_free(context, &scene->holds.data[i].where);
    for (size_t i = 0; i < scene->loads.count; i++)
        kiln_array_free(context, &scene->loads.data[i].where);
    for (size_t i = 0; i < scene->obstacles.count; i++)
        kiln_soup_free(&scene->obstacles.data[i].shape.surface);
    kiln_array_free(context, &scene->materials);
    kiln_array_free(context, &scene->bodies);
    kiln_array_free(context, &scene->holds);
    kiln_array_free(context, &scene->loads);
    kiln_array_free(context, &scene->obstacles);
}

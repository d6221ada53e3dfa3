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
    scene->remesh = (kiln_scene_remesh){.space = KILN_SPACE_MATERIAL,
                                        .quality = 0.15,
                                        .every = 1,
                                        .gradation = 1.5,
                                        .condition = 12.0,
                                        .condition_change = 3.0,
                                        .merge = 0.3};
    scene->contact.stiffness = 1.0;
    scene->velocity_until = INFINITY;
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
        kiln_soup_free(&body->surface);
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

static kiln_status try_motion(const kiln_motion *motion, const kiln_circumstances *at,
                              kiln_error *error)
{
    double out[3];
    KILN_TRY(kiln_quantity_get(&motion->shift, at, out, 3, error));
    KILN_TRY(kiln_quantity_get(&motion->angle, at, out, 1, error));
    return kiln_quantity_get(&motion->place, at, out, 3, error);
}

static kiln_status try_material(const kiln_scene_material *material, const kiln_circumstances *at,
                                kiln_error *error)
{
    double out[3];
    KILN_TRY(kiln_quantity_get(&material->young, at, out, 1, error));
    KILN_TRY(kiln_quantity_get(&material->poisson, at, out, 1, error));
    KILN_TRY(kiln_quantity_get(&material->density, at, out, 1, error));
    KILN_TRY(kiln_quantity_get(&material->viscosity, at, out, 1, error));
    KILN_TRY(kiln_quantity_get(&material->yield, at, out, 1, error));
    KILN_TRY(kiln_quantity_get(&material->rate, at, out, 1, error));
    return kiln_quantity_get(&material->hardening, at, out, 1, error);
}

static kiln_circumstances inside(const kiln_scene *scene, int32_t body, double time)
{
    kiln_circumstances at = {.time = time};
    size_t row = body < 0 ? 0 : (size_t)body;
    if (row < scene->bodies.count && scene->bodies.data[row].mesh.points.count > 0)
        at.material = at.world = scene->bodies.data[row].mesh.points.data[0];
    return at;
}

static kiln_status try_at(const kiln_scene *scene, double time, kiln_error *error)
{
    kiln_circumstances at = inside(scene, -1, time);
    double out[3];
    KILN_TRY(kiln_quantity_get(&scene->gravity, &at, out, 3, error));
    KILN_TRY(kiln_quantity_get(&scene->velocity_field, &at, out, 3, error));
    for (size_t i = 0; i < scene->materials.count; i++)
        KILN_TRY(try_material(&scene->materials.data[i], &at, error));
    for (size_t i = 0; i < scene->obstacles.count; i++)
        KILN_TRY(try_motion(&scene->obstacles.data[i].motion, &at, error));
    for (size_t i = 0; i < scene->holds.count; i++) {
        at = inside(scene, scene->holds.data[i].body, time);
        KILN_TRY(try_motion(&scene->holds.data[i].motion, &at, error));
    }
    for (size_t i = 0; i < scene->loads.count; i++) {
        const kiln_scene_load *load = &scene->loads.data[i];
        at = inside(scene, load->body, time);
        KILN_TRY(kiln_quantity_get(&load->amount, &at, out,
                                   load->kind == KILN_LOAD_PRESSURE ? 1 : 3, error));
    }
    return KILN_OK;
}

kiln_status kiln_scene_try(const kiln_scene *scene, kiln_error *error)
{
    double out[3];
    for (size_t i = 0; i < scene->bodies.count; i++) {
        kiln_circumstances at = inside(scene, (int32_t)i, 0.0);
        KILN_TRY(kiln_quantity_get(&scene->bodies.data[i].velocity, &at, out, 3, error));
        KILN_TRY(kiln_quantity_get(&scene->bodies.data[i].position, &at, out, 3, error));
    }
    for (int k = 0; k <= 2; k++)
        KILN_TRY(try_at(scene, 0.5 * k * scene->duration, error));
    return KILN_OK;
}

#include "sim/scene.h"

#include "geom/box.h"
#include "step/step_schema.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

void kiln_scene_init(kiln_scene *scene, kiln_context *context)
{
    *scene = (kiln_scene){.context = context,
                          .load_steps = 1,
                          .velocity_until = INFINITY,
                          .remesh = kiln_remesh_default_settings(),
                          .contact = kiln_contact_default_settings(),
                          .output = kiln_output_default_settings()};
    kiln_solid_schema.start(&scene->solid);
    kiln_pace_schema.start(&scene->pace);
}

/* A list of structs, whatever their type. */
typedef KILN_ARRAY_OF(char)
struct_list;

static void free_settings(kiln_context *context, const kiln_schema *schema, void *settings);

static void free_list(kiln_context *context, const kiln_schema *schema, struct_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_settings(context, schema, list->data + i * schema->size);
    kiln_release(context, list->data, list->capacity * schema->size);
    *list = (struct_list){0};
}

/* What the struct owns by its schema. */
static void free_settings(kiln_context *context, const kiln_schema *schema, void *settings)
{
    for (size_t i = 0; i < schema->count; i++) {
        const kiln_schema_row *row = &schema->rows[i];
        void *field = (char *)settings + row->offset;
        if (row->type == KILN_VALUE_SELECTION)
            kiln_array_free(context, (kiln_picks *)field);
        else if (row->type == KILN_VALUE_LIST)
            free_list(context, row->schema, field);
        else if (row->schema)
            free_settings(context, row->schema, field);
    }
}

static void free_blocks(kiln_scene *scene)
{
    for (size_t i = 0; i < scene->blocks.count; i++) {
        kiln_scene_block *block = &scene->blocks.data[i];
        free_settings(scene->context, block->schema, block->settings);
        kiln_release(scene->context, block->settings, block->schema->size);
    }
    kiln_array_free(scene->context, &scene->blocks);
}

void kiln_scene_free(kiln_scene *scene)
{
    kiln_context *context = scene->context;
    for (size_t i = 0; i < scene->bodies.count; i++) {
        kiln_scene_body *body = &scene->bodies.data[i];
        for (size_t k = 0; k < body->regions.count; k++)
            kiln_array_free(context, &body->regions.data[k].where);
        kiln_array_free(context, &body->regions);
        for (size_t k = 0; k < body->patches.count; k++)
            kiln_array_free(context, &body->patches.data[k].where);
        kiln_array_free(context, &body->patches);
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
    kiln_array_free(context, &scene->probes);
    kiln_array_free(context, &scene->contact.pairs);
    free_blocks(scene);
}

const void *kiln_scene_settings(const kiln_scene *scene, const kiln_schema *schema)
{
    for (size_t i = 0; i < scene->blocks.count; i++)
        if (scene->blocks.data[i].schema == schema)
            return scene->blocks.data[i].settings;
    return NULL;
}

kiln_status kiln_scene_add_settings(kiln_scene *scene, const kiln_schema *schema, void **out,
                                    kiln_error *error)
{
    kiln_context *context = scene->context;
    KILN_TRY(kiln_array_reserve(context, &scene->blocks, scene->blocks.count + 1, error));
    void *settings = kiln_resize(context, NULL, 0, schema->size);
    if (!settings)
        return kiln_fail_memory(error, schema->size);
    memset(settings, 0, schema->size);
    schema->start(settings);
    scene->blocks.data[scene->blocks.count++] = (kiln_scene_block){schema, settings};
    *out = settings;
    return KILN_OK;
}

/* In the material: a body may begin elsewhere, but not in another order of size. */
static kiln_box box_of_body(const kiln_scene_body *body)
{
    kiln_box box = kiln_box_empty();
    for (size_t k = 0; k < body->mesh.points.count; k++)
        box = kiln_box_grow(box, body->mesh.points.data[k]);
    return box;
}

/* Numbers have 16 digits. Sizes of a body that it may lie from the origin, where six are left for
 * its shape; and the part of it that a layer must have, where seven are left for what is in it. */
#define FARTHEST 1e10
#define THINNEST 1e-9

static kiln_status check_place(const kiln_scene *scene, size_t b, double size, kiln_vec3 corner,
                               kiln_error *error)
{
    const kiln_scene_body *body = &scene->bodies.data[b];
    double away = hypot(hypot(corner.x, corner.y), corner.z);
    char place[32];
    if (!(away > FARTHEST * size))
        return KILN_OK;
    snprintf(place, sizeof place, "bodies[%zu].at", b + 1);
    return kiln_fail(error, KILN_ERR_INPUT, place, body->said.line, -1,
                     "body '%s' is %g m from the origin and %g m in size: numbers have no digits "
                     "left for its shape beyond %g sizes",
                     body->name, away, size, FARTHEST);
}

static kiln_status check_thickness(const kiln_scene *scene, size_t b, double size,
                                   kiln_error *error)
{
    double thickness = scene->contact.thickness;
    bool thick = thickness > size, thin = thickness > 0.0 && thickness < THINNEST * size;
    if (!thick && !thin)
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, "contact.thickness", scene->contact.said.line, -1,
                     "must not be %s the size of body '%s', %g m, got %g",
                     thick ? "above" : "below a thousand millionth of", scene->bodies.data[b].name,
                     size, thickness);
}

static kiln_status check_clearance(const kiln_scene_body *body, double size, kiln_error *error)
{
    if (!(body->clearance > size))
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_INPUT, body->said.path, body->said.line, -1,
                     "clearance must not be above the size of the body, %g m, got %g", size,
                     body->clearance);
}

/* How far from the origin the numbers are that say where the surface of an obstacle is. */
static double farthest_number(const kiln_obstacle_shape *shape)
{
    double far = fmax(kiln_v3_norm(shape->point), kiln_v3_norm(shape->end));
    for (size_t i = 0; i < shape->surface.points.count; i++)
        far = fmax(far, kiln_v3_norm(shape->surface.points.data[i]));
    return fmax(far, fmax(shape->radius, shape->tube));
}

static kiln_status check_obstacles(const kiln_scene *scene, double size, kiln_error *error)
{
    for (size_t i = 0; i < scene->obstacles.count; i++) {
        const kiln_scene_obstacle *obstacle = &scene->obstacles.data[i];
        double far = farthest_number(&obstacle->shape);
        if (far > FARTHEST * size)
            return kiln_fail(
                error, KILN_ERR_INPUT, obstacle->said.path, obstacle->said.line, -1,
                "obstacle '%s' has places or sizes of %g m, and the bodies are %g m in "
                "size: numbers have no digits left for its surface beyond %g sizes",
                obstacle->name, far, size, FARTHEST);
    }
    return KILN_OK;
}

/* What patches (step/patch.h) know nothing of: their energy would not be the step's. */
static const char *beyond_energy(const kiln_scene *scene)
{
    if (scene->obstacles.count > 0 && scene->contact.obstacles == KILN_OBSTACLES_POINTS)
        return "obstacles that hold points (contact.obstacles)";
    if (scene->contact.weights == KILN_WEIGHTS_ONCE)
        return "surfaces that count once (contact.weights)";
    if (scene->has_velocity_field)
        return "a velocity field";
    for (size_t i = 0; i < scene->materials.count; i++) {
        const kiln_scene_material *m = &scene->materials.data[i];
        if (m->flow_varies)
            return "yield, rate or hardening that are functions";
        if (m->base.nodal_pressure && m->base.damping_stiffness > 0.0)
            return "damping of nodal pressure (damping.stiffness)";
    }
    for (size_t i = 0; i < scene->bodies.count; i++)
        if (scene->bodies.data[i].tolerate_inverted)
            return "bodies that tolerate inverted tets";
    return NULL;
}

static kiln_status check_energy(const kiln_scene *scene, kiln_error *error)
{
    const char *beyond = beyond_energy(scene);
    if (scene->remesh.method != KILN_REMESH_ENERGY || !beyond)
        return KILN_OK;
    return kiln_fail_setting(error, "remesh.method", "\"energy\" does not know of %s yet", beyond);
}

bool kiln_scene_has_liquid(const kiln_scene *scene)
{
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].base.liquid)
            return true;
    return false;
}

void kiln_scene_preset(kiln_scene *scene)
{
    if (kiln_scene_has_liquid(scene))
        kiln_remesh_preset_liquid(&scene->remesh);
}

/* What liquid cannot be together with. */
static kiln_status check_liquid(const kiln_scene *scene, kiln_error *error)
{
    const kiln_solid_options *solid = &scene->solid;
    if (!kiln_scene_has_liquid(scene))
        return KILN_OK;
    if (solid->integrator != KILN_IMPLICIT_EULER && solid->integrator != KILN_BDF2)
        return kiln_fail_setting(error, "step.integrator",
                                 "liquid flows by \"implicit-euler\" or \"bdf2\", got \"%s\"",
                                 kiln_integrator_name(solid->integrator));
    if (solid->linearised)
        return kiln_fail_setting(error, "step.linearised",
                                 "liquid needs more than one iteration a step");
    if (scene->remesh.method == KILN_REMESH_ENERGY || scene->remesh.method == KILN_REMESH_GLOBAL)
        return kiln_fail_setting(error, "remesh.method", "liquid is remeshed by \"local\" only");
    return KILN_OK;
}

kiln_status kiln_scene_check(const kiln_scene *scene, kiln_error *error)
{
    double largest = 0.0;
    KILN_TRY(kiln_remesh_check(&scene->remesh, error));
    KILN_TRY(check_energy(scene, error));
    KILN_TRY(check_liquid(scene, error));
    for (size_t b = 0; b < scene->bodies.count; b++) {
        kiln_box box = box_of_body(&scene->bodies.data[b]);
        double size = kiln_v3_norm(kiln_v3_sub(box.high, box.low));
        if (scene->bodies.data[b].mesh.points.count == 0)
            continue;
        KILN_TRY(check_thickness(scene, b, size, error));
        KILN_TRY(check_clearance(&scene->bodies.data[b], size, error));
        KILN_TRY(check_place(scene, b, size, box.low, error));
        largest = fmax(largest, size);
    }
    return largest > 0.0 ? check_obstacles(scene, largest, error) : KILN_OK;
}

double kiln_scene_moment(const kiln_scene *scene)
{
    double shortest = fmin(scene->pace.dt, scene->duration);
    if (scene->output.frame > 0.0)
        shortest = fmin(shortest, scene->output.frame);
    return fmax(1e-9 * shortest, 4.0 * DBL_EPSILON * scene->duration);
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
    KILN_TRY(kiln_quantity_get(&material->thermal.conductivity, at, out, 1, error));
    return kiln_quantity_get(&material->hardening, at, out, 1, error);
}

static kiln_status try_settings(const kiln_schema *schema, const void *settings,
                                const kiln_circumstances *at, kiln_error *error);

static kiln_status try_list(const kiln_schema *schema, const struct_list *list,
                            const kiln_circumstances *at, kiln_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        KILN_TRY(try_settings(schema, list->data + i * schema->size, at, error));
    return KILN_OK;
}

/* The functions of a struct, by its schema. */
static kiln_status try_settings(const kiln_schema *schema, const void *settings,
                                const kiln_circumstances *at, kiln_error *error)
{
    for (size_t i = 0; i < schema->count; i++) {
        const kiln_schema_row *row = &schema->rows[i];
        const void *field = (const char *)settings + row->offset;
        double out[3];
        if (row->type == KILN_VALUE_AMOUNT || row->type == KILN_VALUE_FIELD)
            KILN_TRY(
                kiln_quantity_get(field, at, out, row->type == KILN_VALUE_AMOUNT ? 1 : 3, error));
        else if (row->type == KILN_VALUE_LIST)
            KILN_TRY(try_list(row->schema, field, at, error));
        else if (row->schema)
            KILN_TRY(try_settings(row->schema, field, at, error));
    }
    return KILN_OK;
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
    for (size_t i = 0; i < scene->blocks.count; i++)
        KILN_TRY(
            try_settings(scene->blocks.data[i].schema, scene->blocks.data[i].settings, &at, error));
    for (size_t i = 0; i < scene->materials.count; i++)
        KILN_TRY(try_material(&scene->materials.data[i], &at, error));
    for (size_t i = 0; i < scene->obstacles.count; i++) {
        KILN_TRY(try_motion(&scene->obstacles.data[i].motion, &at, error));
        KILN_TRY(kiln_quantity_get(&scene->obstacles.data[i].temperature, &at, out, 1, error));
    }
    for (size_t i = 0; i < scene->holds.count; i++) {
        at = inside(scene, scene->holds.data[i].body, time);
        KILN_TRY(try_motion(&scene->holds.data[i].motion, &at, error));
    }
    for (size_t i = 0; i < scene->loads.count; i++) {
        const kiln_scene_load *load = &scene->loads.data[i];
        at = inside(scene, load->body, time);
        bool number = load->kind == KILN_LOAD_PRESSURE || load->kind >= KILN_LOAD_HEAT;
        KILN_TRY(kiln_quantity_get(&load->amount, &at, out, number ? 1 : 3, error));
        KILN_TRY(kiln_quantity_get(&load->outside, &at, out, 1, error));
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
        KILN_TRY(kiln_quantity_get(&scene->bodies.data[i].temperature, &at, out, 1, error));
    }
    for (int k = 0; k <= 2; k++)
        KILN_TRY(try_at(scene, 0.5 * k * scene->duration, error));
    return KILN_OK;
}

kiln_mass_kind kiln_scene_mass(const kiln_scene *scene)
{
    if (scene->solid.mass != KILN_MASS_AUTO)
        return scene->solid.mass;
    return scene->remesh.method == KILN_REMESH_NONE && !kiln_scene_has_liquid(scene)
               ? KILN_MASS_LUMPED
               : KILN_MASS_CONSISTENT;
}

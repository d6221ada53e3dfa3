/* What is seen of a world: frames. */
#include "base/parallel.h"
#include "fem/plasticity.h"
#include "geom/tet_quality.h"
#include "sim/world_impl.h"

#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 16384 };

const char *kiln_element_output_name(kiln_element_output what)
{
    static const char *const names[KILN_OUTPUT_COUNT] = {[KILN_OUTPUT_F] = "deformation",
                                                         [KILN_OUTPUT_CAUCHY] = "stress",
                                                         [KILN_OUTPUT_MISES] = "mises",
                                                         [KILN_OUTPUT_PRESSURE] = "pressure",
                                                         [KILN_OUTPUT_ENERGY] = "energy"};
    return names[what];
}

typedef struct frame_job {
    const kiln_mesh *mesh;
    kiln_soup *soup;
} frame_job;

static void copy_tets(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const frame_job *job = user;
    for (size_t t = begin; t < end; t++) {
        memcpy(job->soup->tets.data[t].v, job->mesh->tet[t].v, sizeof job->mesh->tet[t].v);
        job->soup->tet_tags.data[t] = job->mesh->info[t].region;
    }
}

static void copy_triangles(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    const frame_job *job = user;
    for (size_t f = begin; f < end; f++) {
        uint32_t at = job->mesh->face[f].at;
        for (int k = 0; k < 3; k++)
            job->soup->triangles.data[f].v[k] =
                job->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        job->soup->triangle_tags.data[f] = job->mesh->face[f].tag;
        job->soup->triangle_regions.data[f] = job->mesh->info[at / 4].region;
    }
}

static size_t face_count(const kiln_world *world)
{
    return world->scene->output.triangles ? world->mesh->table[KILN_ON_FACE].used : 0;
}

static kiln_status add_geometry(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    size_t faces = face_count(world);
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, vertices, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tets, tets, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tet_tags, tets, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangles, faces, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangle_tags, faces, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangle_regions, faces, error));
    memcpy(soup->points.data, mesh->x, vertices * sizeof(kiln_vec3));
    soup->points.count = vertices;
    soup->tets.count = soup->tet_tags.count = tets;
    soup->triangles.count = soup->triangle_tags.count = soup->triangle_regions.count = faces;
    frame_job job = {mesh, soup};
    kiln_parallel_for(soup->context, tets, GRAIN, copy_tets, &job);
    kiln_parallel_for(soup->context, faces, GRAIN, copy_triangles, &job);
    return KILN_OK;
}

/* The field of the frame before, to be overwritten, or a new one. */
static kiln_status take_field(kiln_soup *soup, const char *name, kiln_where where,
                              uint32_t components, kiln_soup_field **out, kiln_error *error)
{
    for (size_t i = 0; i < soup->fields.count; i++) {
        kiln_soup_field *field = &soup->fields.data[i];
        if (field->where == where && strcmp(field->name, name) == 0) {
            *out = field;
            return KILN_OK;
        }
    }
    return kiln_soup_add_field(soup, name, where, components, out, error);
}

static kiln_status add_vertex_field(kiln_soup *soup, const char *name, const double *values,
                                    kiln_error *error)
{
    kiln_soup_field *field;
    KILN_TRY(take_field(soup, name, KILN_ON_VERTEX, 3, &field, error));
    size_t size = field->data.count * sizeof(double);
    if (values)
        memcpy(field->data.data, values, size);
    else
        memset(field->data.data, 0, size);
    return KILN_OK;
}

/* Triangles are cells beside the tets; without a value of their own viewers would colour the
 * surface with zero. */
static kiln_status add_tets_to_faces(const kiln_world *world, kiln_soup *soup, const char *name,
                                     uint32_t n, kiln_error *error)
{
    kiln_soup_field *field;
    if (soup->triangles.count == 0)
        return KILN_OK;
    KILN_TRY(take_field(soup, name, KILN_ON_FACE, n, &field, error));
    const double *tets = kiln_soup_find_field(soup, KILN_ON_TET, name)->data.data;
    for (size_t f = 0; f < soup->triangles.count; f++)
        memcpy(field->data.data + n * f, tets + n * (size_t)(world->mesh->face[f].at / 4),
               n * sizeof(double));
    return KILN_OK;
}

static kiln_status add_element_field(const kiln_world *world, kiln_soup *soup,
                                     kiln_element_output what, kiln_error *error)
{
    const char *name = kiln_element_output_name(what);
    uint32_t n = kiln_element_output_components(what);
    kiln_soup_field *field;
    KILN_TRY(take_field(soup, name, KILN_ON_TET, n, &field, error));
    kiln_elements_output(kiln_solid_elements(world->solid), &world->mesh->x[0].x, what,
                         field->data.data);
    return add_tets_to_faces(world, soup, name, n, error);
}

/* A number per tet that the mesh keeps; zero where it keeps none. */
static kiln_status add_kept_field(const kiln_world *world, kiln_soup *soup, const char *name,
                                  kiln_error *error)
{
    const kiln_field *kept = kiln_mesh_field(world->mesh, KILN_ON_TET, name);
    kiln_soup_field *field;
    KILN_TRY(take_field(soup, name, KILN_ON_TET, 1, &field, error));
    for (uint32_t t = 0; t < soup->tets.count; t++)
        field->data.data[t] = kept ? kiln_field_value(kept, t, 0) : 0.0;
    return add_tets_to_faces(world, soup, name, 1, error);
}

/* Whose a tet is: the number of its body in the scene, from 1. */
static kiln_status add_bodies(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_soup_field *field;
    KILN_TRY(take_field(soup, "body", KILN_ON_TET, 1, &field, error));
    for (size_t t = 0; t < soup->tets.count; t++)
        field->data.data[t] = mesh->parts.data[mesh->info[t].part].body + 1.0;
    KILN_TRY(add_tets_to_faces(world, soup, "body", 1, error));
    for (size_t i = 0; i < soup->fields.count; i++)
        soup->fields.data[i].whole |= strcmp(soup->fields.data[i].name, "body") == 0;
    return KILN_OK;
}

/* 1 where it is liquid, where matter melts and freezes. */
static kiln_status add_phases(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const uint32_t *material = kiln_world_material_of(world->mesh);
    kiln_soup_field *field;
    if (!world->melts)
        return KILN_OK;
    KILN_TRY(take_field(soup, "liquid", KILN_ON_TET, 1, &field, error));
    for (size_t t = 0; t < soup->tets.count; t++)
        field->data.data[t] = world->materials[material[t]].liquid;
    return add_tets_to_faces(world, soup, "liquid", 1, error);
}

static kiln_status add_quality(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_soup_field *field;
    KILN_TRY(take_field(soup, "quality", KILN_ON_TET, 1, &field, error));
    kiln_tet_quality_batch(mesh->context->isa, soup->tets.count, NULL, mesh->tet[0].v,
                           sizeof(kiln_tet), mesh->x, field->data.data);
    return add_tets_to_faces(world, soup, "quality", 1, error);
}

/* What the step has left by vertex; `without` a step. */
static kiln_status add_number(const kiln_world *world, kiln_soup *soup, const char *name,
                              const char *kept, double without, kiln_error *error)
{
    const double *values =
        world->state.step > 1 ? kiln_world_column(world, KILN_ON_VERTEX, kept) : NULL;
    kiln_soup_field *field;
    KILN_TRY(take_field(soup, name, KILN_ON_VERTEX, 1, &field, error));
    for (size_t v = 0; v < soup->points.count; v++)
        field->data.data[v] = values ? values[v] : without;
    return KILN_OK;
}

static kiln_status add_temperature(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const double *values = kiln_world_column(world, KILN_ON_VERTEX, KILN_FIELD_TEMPERATURE);
    kiln_soup_field *field;
    if (!world->scene->output.temperature || !values)
        return KILN_OK;
    KILN_TRY(take_field(soup, KILN_FIELD_TEMPERATURE, KILN_ON_VERTEX, 1, &field, error));
    memcpy(field->data.data, values, soup->points.count * sizeof *values);
    return KILN_OK;
}

/* By a third of the faces at the vertex as they are; remeshing keeps forces, not pressures. */
static kiln_status add_contact_pressure(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_f64_array area = {0};
    size_t count = soup->points.count;
    KILN_TRY(add_number(world, soup, "contact_pressure", KILN_FIELD_NORMAL, 0.0, error));
    KILN_TRY(kiln_array_reserve(soup->context, &area, count + 1, error));
    memset(area.data, 0, count * sizeof(double));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at, v[3];
        for (int k = 0; k < 3; k++)
            v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        kiln_vec3 twice = kiln_v3_cross(kiln_v3_sub(mesh->x[v[1]], mesh->x[v[0]]),
                                        kiln_v3_sub(mesh->x[v[2]], mesh->x[v[0]]));
        for (int k = 0; k < 3; k++)
            area.data[v[k]] += kiln_v3_norm(twice) / 6.0;
    }
    double *values = kiln_soup_find_field(soup, KILN_ON_VERTEX, "contact_pressure")->data.data;
    for (size_t v = 0; v < count; v++)
        values[v] = area.data[v] > 0.0 ? values[v] / area.data[v] : 0.0;
    kiln_array_free(soup->context, &area);
    return KILN_OK;
}

static kiln_status add_contact(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_scene_output *output = &world->scene->output;
    if (output->contact_pressure)
        KILN_TRY(add_contact_pressure(world, soup, error));
    if (output->gap)
        KILN_TRY(add_number(world, soup, "gap", KILN_FIELD_GAP, world->options.contact.thickness,
                            error));
    return output->slip ? add_number(world, soup, "slip", KILN_FIELD_SLIP, 0.0, error) : KILN_OK;
}

/* From the material of the start: u itself follows what flows. */
static kiln_status add_displacement(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_vec3 *start = kiln_world_starts(world);
    kiln_soup_field *field;
    KILN_TRY(take_field(soup, "displacement", KILN_ON_VERTEX, 3, &field, error));
    for (size_t v = 0; v < soup->points.count; v++) {
        kiln_vec3 way = kiln_v3_sub(world->mesh->x[v], start[v]);
        memcpy(field->data.data + 3 * v, &way, sizeof way);
    }
    return KILN_OK;
}

typedef struct finite_job {
    const double *values;
    atomic_bool bad;
} finite_job;

static void check_chunk(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)chunk;
    (void)worker;
    finite_job *job = user;
    /* x - x is 0 or NaN; a sum of those vectorises. */
    double sum = 0.0;
    for (size_t i = begin; i < end; i++)
        sum += job->values[i] - job->values[i];
    if (sum != 0.0)
        atomic_store(&job->bad, true);
}

static kiln_status check_finite(const kiln_soup *soup, const char *name, const double *values,
                                size_t count, kiln_error *error)
{
    finite_job job = {.values = values};
    atomic_init(&job.bad, false);
    kiln_parallel_for(soup->context, count, GRAIN, check_chunk, &job);
    if (!atomic_load(&job.bad))
        return KILN_OK;
    return kiln_fail(error, KILN_ERR_STATE, NULL, 0, -1,
                     "the frame is not written: '%s' has a value that is not finite", name);
}

static kiln_status fill_frame(kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_scene_output *output = &world->scene->output;
    const kiln_mesh *mesh = world->mesh;
    bool stepped = world->state.step > 1;
    KILN_TRY(add_geometry(world, soup, error));
    if (output->material_position)
        KILN_TRY(add_vertex_field(soup, "u", &mesh->u[0].x, error));
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    if (output->velocity && v)
        KILN_TRY(add_vertex_field(soup, "v", (const double *)v->data, error));
    if (output->reaction)
        KILN_TRY(
            add_vertex_field(soup, "reaction", stepped ? kiln_world_reaction(world) : NULL, error));
    if (output->contact)
        KILN_TRY(
            add_vertex_field(soup, "contact", stepped ? kiln_world_contact(world) : NULL, error));
    KILN_TRY(add_contact(world, soup, error));
    KILN_TRY(add_temperature(world, soup, error));
    if (output->displacement)
        KILN_TRY(add_displacement(world, soup, error));
    KILN_TRY(add_bodies(world, soup, error));
    KILN_TRY(add_phases(world, soup, error));
    if (output->quality)
        KILN_TRY(add_quality(world, soup, error));
    for (int k = 0; k < KILN_OUTPUT_COUNT; k++)
        if (output->fields >> k & 1)
            KILN_TRY(add_element_field(world, soup, (kiln_element_output)k, error));
    if (output->plastic_strain)
        KILN_TRY(add_kept_field(world, soup, KILN_FIELD_PLASTIC_STRAIN, error));
    if (output->hardening)
        KILN_TRY(add_kept_field(world, soup, KILN_FIELD_HARDENING, error));
    KILN_TRY(
        check_finite(soup, "position", &soup->points.data[0].x, 3 * soup->points.count, error));
    for (size_t i = 0; i < soup->fields.count; i++)
        KILN_TRY(check_finite(soup, soup->fields.data[i].name, soup->fields.data[i].data.data,
                              soup->fields.data[i].data.count, error));
    return KILN_OK;
}

kiln_status kiln_world_frame(kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    kiln_soup_init(soup, world->context);
    return kiln_world_refill_frame(world, soup, error);
}

kiln_status kiln_world_refill_frame(kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_table *table = world->mesh->table;
    if (soup->points.count != table[KILN_ON_VERTEX].used ||
        soup->tets.count != table[KILN_ON_TET].used || soup->triangles.count != face_count(world))
        kiln_soup_free(soup);
    kiln_status status = kiln_world_ready(world, error);
    if (status == KILN_OK)
        status = fill_frame(world, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

/* What is seen of a world: a row of statistics, a frame, forces. */
#include "sim/world_impl.h"

#include "base/parallel.h"
#include "geom/tet_quality.h"

#include <string.h>

enum { GRAIN = 16384 };

const char *kiln_stats_name(size_t column)
{
    static const char *const names[] = {
#define STATS_NAME(name) #name,
        KILN_STATS_TABLE(STATS_NAME)
#undef STATS_NAME
    };
    return column < sizeof names / sizeof names[0] ? names[column] : NULL;
}

const char *kiln_element_output_name(kiln_element_output what)
{
    static const char *const names[KILN_OUTPUT_COUNT] = {[KILN_OUTPUT_F] = "deformation",
                                                         [KILN_OUTPUT_CAUCHY] = "stress",
                                                         [KILN_OUTPUT_MISES] = "mises",
                                                         [KILN_OUTPUT_PRESSURE] = "pressure",
                                                         [KILN_OUTPUT_ENERGY] = "energy"};
    return names[what];
}

/* Sums over tets, chunk by chunk so that threads do not matter. */
typedef struct tet_sum {
    double volume, rest_volume;
    double quality[2], least[2]; /* [kiln_space] sum, worst */
} tet_sum;

typedef struct tet_sums {
    const kiln_world *world;
    kiln_offsets offsets;
    double *quality; /* [tet] scratch */
    tet_sum *chunk;
} tet_sums;

static void sum_quality(const tet_sums *s, kiln_space space, size_t begin, size_t end, tet_sum *sum)
{
    const kiln_mesh *mesh = s->world->mesh;
    kiln_tet_quality_batch(mesh->context->isa, end - begin, NULL, mesh->tet[begin].v,
                           sizeof(kiln_tet), kiln_mesh_positions(mesh, space), s->quality + begin);
    sum->quality[space] = 0.0;
    sum->least[space] = INFINITY;
    for (size_t t = begin; t < end; t++) {
        sum->quality[space] += s->quality[t];
        sum->least[space] = fmin(sum->least[space], s->quality[t]);
    }
}

static void sum_tets(void *user, size_t chunk, size_t begin, size_t end, int worker)
{
    (void)worker;
    const tet_sums *s = user;
    const kiln_mesh *mesh = s->world->mesh;
    const double *rest = s->offsets.rest_volume;
    tet_sum *sum = &s->chunk[chunk];
    sum->volume = sum->rest_volume = 0.0;
    for (size_t t = begin; t < end; t++) {
        const uint32_t *v = mesh->tet[t].v;
        sum->volume += kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
        sum->rest_volume += rest ? rest[t] : kiln_mesh_tet_volume(mesh, (uint32_t)t);
    }
    sum_quality(s, KILN_SPACE_MATERIAL, begin, end, sum);
    sum_quality(s, KILN_SPACE_WORLD, begin, end, sum);
}

/* What the mesher was asked for is known where it looked; elsewhere, when it goes by shape alone,
 * that is the quality in its space. */
static double asked_quality(const kiln_world *world, const double least[2])
{
    const kiln_scene_remesh *remesh = &world->scene->remesh;
    bool local = remesh->method == KILN_REMESH_LOCAL;
    if (world->evolution.worst != 0.0)
        return world->evolution.worst;
    if (local && kiln_remesh_is_sized(remesh) && world->state.step > 0)
        return NAN;
    return least[local ? remesh->space : KILN_SPACE_WORLD];
}

/* Rows are compact: nothing in a world frees any without closing ranks. */
static void measure_tets(kiln_world *world, kiln_stats *stats)
{
    uint32_t tets = world->mesh->table[KILN_ON_TET].used;
    size_t chunks = kiln_chunk_count(tets, GRAIN), size = chunks * sizeof(tet_sum);
    tet_sums sums = {.world = world,
                     .offsets = kiln_offsets_of(world->mesh),
                     .quality = world->quality.data,
                     .chunk = kiln_resize(world->context, NULL, 0, size)};
    if (!sums.chunk)
        return;
    kiln_parallel_for(world->context, tets, GRAIN, sum_tets, &sums);
    const kiln_scene_remesh *remesh = &world->scene->remesh;
    kiln_space space = remesh->method == KILN_REMESH_LOCAL ? remesh->space : KILN_SPACE_WORLD;
    double least[2] = {INFINITY, INFINITY};
    stats->volume = stats->rest_volume = stats->q_mean = 0.0;
    for (size_t c = 0; c < chunks; c++) {
        stats->volume += sums.chunk[c].volume;
        stats->rest_volume += sums.chunk[c].rest_volume;
        stats->q_mean += sums.chunk[c].quality[space] / tets;
        for (int k = 0; k < 2; k++)
            least[k] = fmin(least[k], sums.chunk[c].least[k]);
    }
    stats->q_min = asked_quality(world, least);
    stats->q_material_min = least[KILN_SPACE_MATERIAL];
    stats->q_world_min = least[KILN_SPACE_WORLD];
    kiln_release(world->context, sums.chunk, size);
}

static void measure_motion(const kiln_world *world, kiln_stats *stats)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    if (!v || world->scene->solid.integrator == KILN_STATIC)
        return;
    kiln_motion_sums sums =
        kiln_mass_sums(kiln_solid_mass(world->solid), &mesh->x[0].x, (const double *)v->data);
    stats->px = sums.momentum.x;
    stats->py = sums.momentum.y;
    stats->pz = sums.momentum.z;
    stats->lx = sums.angular_momentum.x;
    stats->ly = sums.angular_momentum.y;
    stats->lz = sums.angular_momentum.z;
    stats->e_kinetic = sums.kinetic;
}

/* Forces are known of the mesh that the step was made with. Where it may change afterwards they go
 * along as fields. */
kiln_status kiln_world_add_forces(kiln_world *world, kiln_error *error)
{
    KILN_TRY(kiln_mesh_add_field(world->mesh, KILN_FIELD_REACTION, KILN_ON_VERTEX, KILN_F64, 3,
                                 KILN_RULE_CONSERVE, error));
    return kiln_mesh_add_field(world->mesh, KILN_FIELD_CONTACT, KILN_ON_VERTEX, KILN_F64, 3,
                               KILN_RULE_CONSERVE, error);
}

static double *kept_force(const kiln_world *world, const char *name)
{
    kiln_field *field = kiln_mesh_field(world->mesh, KILN_ON_VERTEX, name);
    return field ? (double *)(void *)field->data : NULL;
}

void kiln_world_keep_forces(kiln_world *world)
{
    size_t size = world->mesh->table[KILN_ON_VERTEX].used * sizeof(kiln_vec3);
    double *reaction = kept_force(world, KILN_FIELD_REACTION);
    double *contact = kept_force(world, KILN_FIELD_CONTACT);
    if (reaction)
        memcpy(reaction, kiln_solid_reaction(world->solid), size);
    if (contact)
        memcpy(contact, kiln_solid_contact(world->solid), size);
}

static const double *reaction_of(const kiln_world *world)
{
    const double *kept = kept_force(world, KILN_FIELD_REACTION);
    return kept ? kept : kiln_solid_reaction(world->solid);
}

static const double *contact_of(const kiln_world *world)
{
    const double *kept = kept_force(world, KILN_FIELD_CONTACT);
    return kept ? kept : kiln_solid_contact(world->solid);
}

static kiln_vec3 total(const double *force, size_t vertices)
{
    kiln_vec3 sum = {0, 0, 0};
    for (size_t v = 0; force && v < vertices; v++)
        sum = kiln_v3_add(sum, kiln_v3(force[3 * v], force[3 * v + 1], force[3 * v + 2]));
    return sum;
}

static void measure_step(const kiln_world *world, kiln_stats *stats)
{
    const kiln_step_report *report = &world->report;
    size_t vertices = world->mesh->table[KILN_ON_VERTEX].used;
    stats->e_elastic = report->e_elastic;
    stats->e_load = report->work_loads;
    stats->newton = report->newton.iterations;
    stats->linear = report->newton.linear_iterations;
    stats->t_assemble = report->newton.assemble_seconds;
    stats->t_factor = report->newton.factor_seconds;
    stats->t_solve = report->newton.solve_seconds;
    stats->rejected = 0.0;
    if (world->scene->holds.count > 0) {
        kiln_vec3 r = total(reaction_of(world), vertices);
        stats->rx = r.x;
        stats->ry = r.y;
        stats->rz = r.z;
    }
    if (world->scene->contact.bodies || world->scene->contact.self) {
        stats->e_contact = report->e_contact;
        stats->t_contact = report->contact_seconds;
    }
    if (world->scene->obstacles.count > 0) {
        kiln_vec3 f = total(contact_of(world), vertices);
        stats->t_contact = report->contact_seconds;
        stats->contacts = report->contacts;
        stats->fx = f.x;
        stats->fy = f.y;
        stats->fz = f.z;
    }
}

static void measure_evolution(const kiln_world *world, kiln_stats *stats)
{
    const kiln_evolution *evolution = &world->evolution;
    if (world->yields) {
        stats->flowed = (double)evolution->flow.flowed;
        stats->t_plastic = evolution->plastic_seconds;
        if (!kiln_world_in_world_space(world->scene))
            stats->relax = evolution->relax.iterations;
    }
    if (world->scene->remesh.method != KILN_REMESH_NONE) {
        stats->changed = (double)evolution->changed;
        stats->t_size = evolution->size_seconds;
        stats->t_remesh = evolution->remesh_seconds;
        stats->t_transfer = evolution->transfer_seconds;
    }
}

void kiln_world_measure(kiln_world *world, kiln_stats *stats)
{
    const kiln_mesh *mesh = world->mesh;
#define STATS_NAN(name) stats->name = NAN;
    KILN_STATS_TABLE(STATS_NAN)
#undef STATS_NAN
    stats->step = (double)world->state.step;
    stats->time = world->state.clock.time;
    stats->vertices = mesh->table[KILN_ON_VERTEX].live;
    stats->tets = mesh->table[KILN_ON_TET].live;
    measure_tets(world, stats);
    measure_motion(world, stats);
    if (world->state.step > 0) {
        measure_step(world, stats);
        measure_evolution(world, stats);
    } else {
        stats->e_elastic = kiln_solid_elastic_energy(world->solid, &mesh->x[0].x);
    }
}

size_t kiln_world_hold_size(const kiln_world *world, size_t hold)
{
    return world->holds[hold].vertices.count;
}

size_t kiln_world_load_size(const kiln_world *world, size_t load)
{
    return world->loads[load].rows.count;
}

kiln_vec3 kiln_world_hold_force(const kiln_world *world, size_t hold)
{
    const double *reaction = reaction_of(world);
    const kiln_u32_array *vertices = &world->holds[hold].vertices;
    kiln_vec3 sum = {0, 0, 0};
    for (size_t i = 0; reaction && i < vertices->count; i++) {
        const double *f = reaction + 3 * (size_t)vertices->data[i];
        sum = kiln_v3_add(sum, kiln_v3(f[0], f[1], f[2]));
    }
    return sum;
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
    }
}

static kiln_status add_geometry(const kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    size_t vertices = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    size_t faces = mesh->table[KILN_ON_FACE].used;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, vertices, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tets, tets, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->tet_tags, tets, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangles, faces, error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->triangle_tags, faces, error));
    memcpy(soup->points.data, mesh->x, vertices * sizeof(kiln_vec3));
    soup->points.count = vertices;
    soup->tets.count = soup->tet_tags.count = tets;
    soup->triangles.count = soup->triangle_tags.count = faces;
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
        KILN_TRY(add_vertex_field(soup, "reaction", stepped ? reaction_of(world) : NULL, error));
    if (output->contact)
        KILN_TRY(add_vertex_field(soup, "contact", stepped ? contact_of(world) : NULL, error));
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
        soup->tets.count != table[KILN_ON_TET].used ||
        soup->triangles.count != table[KILN_ON_FACE].used)
        kiln_soup_free(soup);
    kiln_status status = fill_frame(world, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

static kiln_status outline_all(kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    kiln_vec3 low = mesh->x[0], high = mesh->x[0];
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->x[v];
        low = kiln_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    kiln_vec3 centre = kiln_v3_lerp(low, high, 0.5);
    double extent = 2.0 * kiln_v3_norm(kiln_v3_sub(high, low));
    for (size_t i = 0; i < world->scene->obstacles.count; i++) {
        KILN_TRY(kiln_obstacle_outline(world->obstacles[i], centre, extent, soup, error));
        KILN_TRY(
            kiln_array_reserve(soup->context, &soup->triangle_tags, soup->triangles.count, error));
        while (soup->triangle_tags.count < soup->triangles.count)
            soup->triangle_tags.data[soup->triangle_tags.count++] = (int32_t)i + 1;
    }
    return KILN_OK;
}

kiln_status kiln_world_obstacle_surfaces(kiln_world *world, kiln_soup *soup, kiln_error *error)
{
    kiln_soup_init(soup, world->context);
    kiln_status status = outline_all(world, soup, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

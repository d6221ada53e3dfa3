/* From the bodies of a scene to one mesh that can be simulated. */
#include "geom/predicates.h"
#include "mesh/build.h"
#include "mesh/classify.h"
#include "mesh/reorder.h"
#include "remesh/facets.h"
#include "sim/contact_sizes.h"
#include "sim/pick.h"
#include "sim/world_impl.h"
#include "step/step_schema.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

kiln_status kiln_said_fail(const kiln_scene *scene, const kiln_said *said, kiln_error *error,
                           const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return kiln_fail(error, KILN_ERR_INPUT, scene->file, said->line, -1, "%s%s%s", said->path,
                     said->path[0] ? ": " : "", message);
}

kiln_status kiln_said_wrap(const kiln_scene *scene, const kiln_said *said, kiln_status status,
                           kiln_error *error)
{
    if (status != KILN_ERR_INPUT || !error || error->place[0])
        return status;
    char message[sizeof error->message];
    snprintf(message, sizeof message, "%s", error->message);
    return kiln_said_fail(scene, said, error, "%s", message);
}

static const kiln_soup_field *material_positions(const kiln_soup *mesh)
{
    const kiln_soup_field *u = kiln_soup_find_field(mesh, KILN_ON_VERTEX, "u");
    return u && u->components == 3 ? u : NULL;
}

static void drop_fields(kiln_soup *soup)
{
    for (size_t i = 0; i < soup->fields.count; i++)
        kiln_array_free(soup->context, &soup->fields.data[i].data);
    soup->fields.count = 0;
}

/* All bodies in one soup, at their material positions and without fields: what a file knew about
 * another run (its stresses, its velocities) is not the start of this one. */
static kiln_status join_bodies(const kiln_scene *scene, kiln_soup *all, kiln_error *error)
{
    for (size_t b = 0; b < scene->bodies.count; b++) {
        const kiln_scene_body *body = &scene->bodies.data[b];
        size_t first = all->points.count;
        KILN_TRY(
            kiln_said_wrap(scene, &body->said, kiln_soup_check(&body->mesh, NULL, error), error));
        KILN_TRY(kiln_soup_append(all, &body->mesh, 0, error));
        const kiln_soup_field *u = material_positions(&body->mesh);
        if (u && u->data.count > 0)
            memcpy(all->points.data + first, u->data.data, u->data.count * sizeof(double));
    }
    drop_fields(all);
    return KILN_OK;
}

/* The joint build failed: which body is it? Building each alone says, and counts its elements as
 * the file does. */
static kiln_status blame_body(const kiln_scene *scene, kiln_status status, kiln_error *error)
{
    for (size_t b = 0; b < scene->bodies.count; b++) {
        const kiln_scene_body *body = &scene->bodies.data[b];
        kiln_mesh *mesh = NULL;
        kiln_status alone = kiln_mesh_build(scene->context, &body->mesh, NULL, &mesh, NULL, error);
        kiln_mesh_destroy(mesh);
        if (alone == KILN_ERR_INPUT && error) {
            size_t used = strlen(error->message);
            snprintf(error->message + used, sizeof error->message - used,
                     "; of what a file says, repair = true of shape.file mends what it can");
        }
        if (alone != KILN_OK)
            return kiln_said_wrap(scene, &body->said, alone, error);
    }
    return status;
}

/* World positions in the order of the joint soup's points, which are those of the vertices but for
 * points that no tet uses. */
static kiln_status place_vertices(kiln_world *world, const kiln_soup *all, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    kiln_mesh *mesh = world->mesh;
    kiln_u32_array used = {0};
    KILN_TRY(kiln_array_reserve(world->context, &used, all->points.count + 1, error));
    memset(used.data, 0, all->points.count * sizeof(uint32_t));
    for (size_t t = 0; t < all->tets.count; t++)
        for (int k = 0; k < 4; k++)
            used.data[all->tets.data[t].v[k]] = 1;
    size_t point = 0;
    uint32_t vertex = 0;
    kiln_status status = KILN_OK;
    for (size_t b = 0; b < scene->bodies.count && status == KILN_OK; b++) {
        const kiln_scene_body *body = &scene->bodies.data[b];
        bool moved = body->position.evaluate || !isnan(body->position.constant[0]);
        for (size_t i = 0; i < body->mesh.points.count && status == KILN_OK; i++, point++) {
            if (!used.data[point])
                continue;
            kiln_vec3 x = body->mesh.points.data[i];
            if (moved) {
                double out[3];
                kiln_circumstances at = {.material = mesh->u[vertex], .world = x};
                status = kiln_quantity_get(&body->position, &at, out, 3, error);
                x = kiln_v3(out[0], out[1], out[2]);
            }
            mesh->x[vertex++] = x;
        }
    }
    kiln_array_free(world->context, &used);
    return status;
}

/* Bodies in the order of their tets: each part belongs to the body of its lowest tet. */
static void number_bodies(kiln_world *world)
{
    const kiln_scene *scene = world->scene;
    kiln_mesh *mesh = world->mesh;
    uint32_t tet = 0;
    for (uint32_t b = 0; b < scene->bodies.count; b++)
        for (size_t i = 0; i < scene->bodies.data[b].mesh.tets.count; i++)
            mesh->parts.data[mesh->info[tet++].part].body = b;
}

static uint32_t body_of(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->parts.data[mesh->info[tet].part].body;
}

static kiln_status apply_region(kiln_world *world, uint32_t body, size_t row, int32_t fresh,
                                const int32_t *file_tag, uint32_t *material, kiln_error *error)
{
    const kiln_scene_region *region = &world->scene->bodies.data[body].regions.data[row];
    kiln_mesh *mesh = world->mesh;
    size_t found = 0;
    if (region->tag >= 0) {
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            if (body_of(mesh, t) == body && file_tag[t] == region->tag) {
                mesh->info[t].region = region->tag;
                material[t] = region->material;
                found++;
            }
        if (found == 0)
            return kiln_said_fail(world->scene, &region->said, error,
                                  "no tet of body '%s' has the tag %d",
                                  world->scene->bodies.data[body].name, region->tag);
        return KILN_OK;
    }
    kiln_u32_array tets = {0};
    kiln_status status =
        kiln_world_select(world, KILN_ON_TET, (int32_t)body, &region->where, &tets, error);
    for (size_t i = 0; i < tets.count && status == KILN_OK; i++) {
        mesh->info[tets.data[i]].region = fresh;
        material[tets.data[i]] = region->material;
    }
    found = tets.count;
    kiln_array_free(world->context, &tets);
    if (status == KILN_OK && found == 0)
        return kiln_said_fail(world->scene, &region->said, error, "selects no tet");
    return kiln_said_wrap(world->scene, &region->said, status, error);
}

/* What keeps its mesh needs no facets. */
static kiln_status find_features(kiln_world *world, kiln_error *error)
{
    double angle = kiln_world_ridge_angle(world);
    return world->scene->remesh.method == KILN_REMESH_NONE
               ? kiln_mesh_classify(world->mesh, angle, error)
               : kiln_mark_facets(world->mesh, angle, error);
}

/* A solid and its melt are one region, the lowest that one of them has: their border goes where
 * temperature says, and as an interface it would be a wall to remeshing. Liquid between a plate and
 * what melts on it gets thinner than any cell, and its tets could not go. */
static void join_regions(kiln_mesh *mesh, const uint32_t *material, uint32_t solid, uint32_t melt)
{
    int32_t lowest = INT32_MAX;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if ((material[t] == solid || material[t] == melt) && mesh->info[t].region < lowest)
            lowest = mesh->info[t].region;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (material[t] == solid || material[t] == melt)
            mesh->info[t].region = lowest;
}

/* Materials of all tets. Tets keep the tags of their files as regions; those a selection chooses
 * get numbers above all of them, so that material borders are interfaces of the mesh. */
static kiln_status apply_regions(kiln_world *world, const int32_t *file_tag, uint32_t *material,
                                 kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    kiln_mesh *mesh = world->mesh;
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    int32_t fresh = 0;
    for (uint32_t t = 0; t < tets; t++) {
        material[t] = scene->bodies.data[body_of(mesh, t)].material;
        fresh = file_tag[t] > fresh && file_tag[t] < INT32_MAX / 2 ? file_tag[t] : fresh;
    }
    for (uint32_t b = 0; b < scene->bodies.count; b++)
        for (size_t r = 0; r < scene->bodies.data[b].regions.count; r++)
            KILN_TRY(apply_region(world, b, r, ++fresh, file_tag, material, error));
    for (size_t i = 0; i < scene->materials.count; i++)
        if (scene->materials.data[i].melt != 0)
            join_regions(mesh, material, (uint32_t)i, scene->materials.data[i].melt - 1);
    return find_features(world, error);
}

static kiln_status assign_materials(kiln_world *world, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    KILN_TRY(kiln_mesh_add_field(mesh, KILN_FIELD_MATERIAL, KILN_ON_TET, KILN_U32, 1,
                                 KILN_RULE_COPY, error));
    uint32_t *material = (uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_MATERIAL)->data;
    size_t size = (size_t)tets * sizeof(int32_t);
    int32_t *file_tag = kiln_resize(world->context, NULL, 0, size);
    if (!file_tag)
        return kiln_fail_memory(error, size);
    for (uint32_t t = 0; t < tets; t++)
        file_tag[t] = mesh->info[t].region;
    kiln_status status = apply_regions(world, file_tag, material, error);
    kiln_release(world->context, file_tag, size);
    return status;
}

static kiln_status apply_patch(kiln_world *world, uint32_t body, const kiln_scene_patch *patch,
                               kiln_error *error)
{
    kiln_u32_array faces = {0};
    kiln_status status =
        kiln_world_select(world, KILN_ON_FACE, (int32_t)body, &patch->where, &faces, error);
    for (size_t i = 0; i < faces.count && status == KILN_OK; i++)
        world->mesh->face[faces.data[i]].tag = patch->tag;
    kiln_array_free(world->context, &faces);
    return kiln_said_wrap(world->scene, &patch->said, status, error);
}

/* One that no face answers to is no mistake: what is to be held there will say so. */
static kiln_status apply_patches(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    for (uint32_t b = 0; b < scene->bodies.count; b++)
        for (size_t p = 0; p < scene->bodies.data[b].patches.count; p++)
            KILN_TRY(apply_patch(world, b, &scene->bodies.data[b].patches.data[p], error));
    return KILN_OK;
}

/* Exact signs in the world, but for bodies that may be inverted. */
static kiln_status check_signs(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    kiln_mesh *mesh = world->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (kiln_orient3d_sign(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]) > 0)
            continue;
        const kiln_scene_body *body = &scene->bodies.data[body_of(mesh, t)];
        if (!body->tolerate_inverted)
            return kiln_said_fail(scene, &body->said, error,
                                  "%s an inverted or flat tet at (%g, %g, %g): mend the "
                                  "start positions, or say tolerate_inverted if the material can "
                                  "bear it",
                                  world->state.step > 0 ? "has" : "starts with", mesh->x[v[0]].x,
                                  mesh->x[v[0]].y, mesh->x[v[0]].z);
    }
    mesh->world_policy = KILN_WORLD_REJECT;
    for (size_t b = 0; b < scene->bodies.count; b++)
        if (scene->bodies.data[b].tolerate_inverted)
            mesh->world_policy = KILN_WORLD_TOLERATE;
    return KILN_OK;
}

/* How large the model is, and whether it can be. */
static kiln_status check_places(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    const kiln_mesh *mesh = world->mesh;
    kiln_vec3 low = mesh->x[0], high = mesh->x[0];
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->x[v];
        if (!kiln_v3_finite(p))
            return kiln_fail(error, KILN_ERR_INPUT, scene->file, 0, -1,
                             "a start position is not a finite number");
        low = kiln_v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = kiln_v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    world->size = kiln_v3_norm(kiln_v3_sub(high, low));
    return check_signs(world, error);
}

kiln_status kiln_world_build_mesh(kiln_world *world, kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    if (scene->bodies.count == 0)
        return kiln_fail(error, KILN_ERR_INPUT, scene->file, 0, -1, "there are no bodies");
    kiln_soup all;
    kiln_build_options building = kiln_build_default_options();
    building.feature_angle = kiln_world_ridge_angle(world);
    kiln_soup_init(&all, world->context);
    kiln_status status = join_bodies(scene, &all, error);
    if (status == KILN_OK) {
        status = kiln_mesh_build(world->context, &all, &building, &world->mesh, NULL, error);
        if (status != KILN_OK)
            status = blame_body(scene, status, error);
    }
    if (status == KILN_OK)
        status = place_vertices(world, &all, error);
    kiln_soup_free(&all);
    KILN_TRY(status);
    number_bodies(world);
    /* Neighbours in space become neighbours in memory, whatever order the files had. */
    KILN_TRY(kiln_mesh_reorder(world->mesh, KILN_SPACE_MATERIAL, NULL, error));
    KILN_TRY(check_places(world, error));
    KILN_TRY(apply_patches(world, error));
    return assign_materials(world, error);
}

/* The rows a selection names, within a body (-1: all). No nodes: everything. */
kiln_status kiln_world_select(const kiln_world *world, kiln_where where, int32_t body,
                              const kiln_picks *picks, kiln_u32_array *out, kiln_error *error)
{
    KILN_TRY(kiln_picks_select(world->mesh, where, picks, out, error));
    if (body < 0)
        return KILN_OK;
    const kiln_selector limit = {.kind = KILN_SELECT_BODY, .number = body};
    kiln_u32_array inside = {0};
    kiln_status status = kiln_select(world->mesh, where, &limit, &inside, error);
    if (status == KILN_OK)
        status = kiln_select_combine(world->context, KILN_SELECT_AND, out, &inside, out, error);
    kiln_array_free(world->context, &inside);
    return status;
}

/* Centres of mass of the bodies, for their spin. */
static kiln_status body_centres(const kiln_world *world, kiln_vec3 *centre, kiln_error *error)
{
    const kiln_mesh *mesh = world->mesh;
    size_t bodies = world->scene->bodies.count;
    const uint32_t *material = kiln_world_material_of(mesh);
    const kiln_field *density = kiln_mesh_field(mesh, KILN_ON_TET, KILN_FIELD_DENSITY);
    kiln_f64_array mass = {0};
    KILN_TRY(kiln_array_reserve(world->context, &mass, bodies, error));
    memset(mass.data, 0, bodies * sizeof(double));
    memset(centre, 0, bodies * sizeof *centre);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        double m =
            kiln_mesh_tet_volume(mesh, t) *
            (density ? kiln_field_value(density, t, 0) : world->materials[material[t]].density);
        kiln_vec3 sum = kiln_v3_add(kiln_v3_add(mesh->x[v[0]], mesh->x[v[1]]),
                                    kiln_v3_add(mesh->x[v[2]], mesh->x[v[3]]));
        uint32_t b = body_of(mesh, t);
        mass.data[b] += m;
        centre[b] = kiln_v3_madd(centre[b], 0.25 * m, sum);
    }
    for (size_t b = 0; b < bodies; b++)
        centre[b] = kiln_v3_scale(centre[b], mass.data[b] > 0.0 ? 1.0 / mass.data[b] : 0.0);
    kiln_array_free(world->context, &mass);
    return KILN_OK;
}

/* Sizes of everything that a step may carry a body at the start: what is faster is a mistake. */
#define FARTHEST 1e6

static double speed_of(kiln_vec3 v)
{
    return hypot(hypot(v.x, v.y), v.z); /* its square may be beyond all numbers */
}

static kiln_status check_speed(const kiln_world *world, const kiln_scene_body *body, kiln_vec3 way,
                               kiln_vec3 turn, kiln_error *error)
{
    double dt = world->scene->pace.dt, speed = speed_of(kiln_v3_add(way, turn));
    if (speed * dt <= FARTHEST * world->size)
        return KILN_OK;
    kiln_said said = body->said;
    size_t length = strlen(said.path);
    snprintf(said.path + length, sizeof said.path - length, ".%s",
             speed_of(turn) > speed_of(way) ? "spin" : "velocity");
    return kiln_said_fail(
        world->scene, &said, error,
        "body '%s' is too fast with %g m/s: in a step of %g s it may go at most a "
        "million times the size of all bodies, which is %g m",
        body->name, speed, dt, world->size);
}

static kiln_status set_velocities(kiln_world *world, const kiln_vec3 *centre, kiln_error *error)
{
    kiln_mesh *mesh = world->mesh;
    kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    if (!world->moves)
        return KILN_OK;
    kiln_vec3 *velocity = (kiln_vec3 *)field->data;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        uint32_t b = body_of(mesh, mesh->vertex[i].tet);
        const kiln_scene_body *body = &world->scene->bodies.data[b];
        kiln_circumstances at = {.material = mesh->u[i], .world = mesh->x[i]};
        double out[3];
        KILN_TRY(kiln_quantity_get(&body->velocity, &at, out, 3, error));
        kiln_vec3 way = kiln_v3(out[0], out[1], out[2]);
        kiln_vec3 turn = kiln_v3_cross(body->spin, kiln_v3_sub(mesh->x[i], centre[b]));
        KILN_TRY(check_speed(world, body, way, turn, error));
        velocity[i] = kiln_v3_add(way, turn);
    }
    return KILN_OK;
}

kiln_status kiln_world_set_motion(kiln_world *world, kiln_error *error)
{
    size_t size = world->scene->bodies.count * sizeof(kiln_vec3);
    kiln_vec3 *centre = kiln_resize(world->context, NULL, 0, size);
    if (!centre)
        return kiln_fail_memory(error, size);
    kiln_status status = body_centres(world, centre, error);
    if (status == KILN_OK)
        status = set_velocities(world, centre, error);
    kiln_release(world->context, centre, size);
    return status;
}

/* An energy that is infinite at the start cannot be minimised from there. */
static kiln_status check_energy(kiln_world *world, kiln_error *error)
{
    if (isfinite(kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x)))
        return KILN_OK;
    uint32_t first = KILN_NONE;
    kiln_elements_inverted(kiln_solid_elements(world->solid), &world->mesh->x[0].x, &first);
    kiln_vec3 at =
        first == KILN_NONE ? kiln_v3(0, 0, 0) : world->mesh->x[world->mesh->tet[first].v[0]];
    return kiln_fail(error, KILN_ERR_INPUT, world->scene->file, 0, -1,
                     "the elastic energy is not finite at %s; look at the tet near (%g, %g, "
                     "%g): its material cannot bear inversion",
                     world->state.step > 0 ? "this moment" : "the start", at.x, at.y, at.z);
}

typedef struct depths {
    double least, most; /* of the vertices on the surface of a body inside an obstacle, m */
    kiln_vec3 deepest;
} depths;

static void find_depths(const kiln_world *world, size_t obstacle, depths *of_body)
{
    const kiln_mesh *mesh = world->mesh;
    for (size_t b = 0; b < world->scene->bodies.count; b++)
        of_body[b] = (depths){.least = INFINITY, .most = -INFINITY};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v) || !(mesh->vertex[v].flags & KILN_VERTEX_SURFACE))
            continue;
        kiln_vec3 normal, point;
        depths *d = &of_body[body_of(mesh, mesh->vertex[v].tet)];
        double depth =
            -kiln_obstacle_distance(world->obstacles[obstacle], mesh->x[v], &normal, &point);
        d->least = fmin(d->least, depth);
        if (depth > d->most) {
            d->most = depth;
            d->deepest = mesh->x[v];
        }
    }
}

/* A step takes a body out of an obstacle it starts in, however fast that is: rarely what was meant.
 * One that lies inside as a whole would be pressed flat against the obstacle's surface. Depths of
 * less than a thousandth of the way across everything are taken for rounding. */
static kiln_status judge_depths(const kiln_world *world, size_t obstacle, const depths *of_body,
                                kiln_error *error)
{
    const kiln_scene *scene = world->scene;
    const kiln_scene_obstacle *said = &scene->obstacles.data[obstacle];
    for (size_t b = 0; b < scene->bodies.count; b++) {
        const kiln_scene_body *body = &scene->bodies.data[b];
        const depths *d = &of_body[b];
        if (!(d->most > 1e-3 * world->size))
            continue;
        if (d->least > 0.0 && !scene->has_velocity_field)
            return kiln_said_fail(scene, &body->said, error,
                                  "body '%s' lies wholly inside obstacle '%s' (%s) at the start, "
                                  "at (%.4g, %.4g, %.4g) by %.3g m: obstacles keep bodies out, "
                                  "so one of the two must be elsewhere",
                                  body->name, said->name, said->said.path, d->deepest.x,
                                  d->deepest.y, d->deepest.z, d->most);
        kiln_log(world->context, KILN_LOG_WARNING,
                 "body '%s' starts %.3g m inside obstacle '%s', at (%.4g, %.4g, %.4g): it will be "
                 "thrown out",
                 body->name, d->most, said->name, d->deepest.x, d->deepest.y, d->deepest.z);
    }
    return KILN_OK;
}

static kiln_status check_obstacles(const kiln_world *world, kiln_error *error)
{
    KILN_ARRAY_OF(depths)
    of_body = {0};
    KILN_TRY(kiln_array_reserve(world->context, &of_body, world->scene->bodies.count, error));
    kiln_status status = KILN_OK;
    for (size_t o = 0; o < world->obstacle_count && status == KILN_OK; o++) {
        find_depths(world, o, of_body.data);
        status = judge_depths(world, o, of_body.data, error);
    }
    kiln_array_free(world->context, &of_body);
    return status;
}

/* A step that nobody gave is cut to a short duration in silence. */
static void warn_of_long_steps(const kiln_world *world)
{
    const kiln_scene *scene = world->scene;
    kiln_pace_limits preset;
    kiln_pace_schema.start(&preset);
    if (world->moves && scene->pace.dt > scene->duration && scene->pace.dt != preset.dt)
        kiln_log(world->context, KILN_LOG_WARNING,
                 "step.dt = %g s is longer than the duration, %g s: no step is", scene->pace.dt,
                 scene->duration);
}

kiln_status kiln_world_check_start(kiln_world *world, kiln_error *error)
{
    warn_of_long_steps(world);
    kiln_contact_tell_small(world);
    KILN_TRY(check_energy(world, error));
    return world->moves ? check_obstacles(world, error) : KILN_OK;
}

kiln_status kiln_world_check_now(kiln_world *world, kiln_error *error)
{
    KILN_TRY(check_signs(world, error));
    return check_energy(world, error);
}

static bool same_columns(const kiln_mesh *a, const kiln_mesh *b)
{
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        const kiln_table *left = &a->table[where], *right = &b->table[where];
        if (left->fields.count != right->fields.count)
            return false;
        for (size_t i = 0; i < left->fields.count; i++) {
            const kiln_field *f = &left->fields.data[i], *g = &right->fields.data[i];
            if (strcmp(f->name, g->name) != 0 || f->type != g->type || f->rule != g->rule ||
                f->components != g->components || f->stride != g->stride)
                return false;
        }
    }
    return true;
}

/* All but where things are and how they move. Where matter flows, its material moves too. */
static bool same_body(const kiln_world *world, const kiln_mesh *b)
{
    const kiln_mesh *a = world->mesh;
    const size_t vertices = a->table[KILN_ON_VERTEX].used, tets = a->table[KILN_ON_TET].used;
    const size_t faces = a->table[KILN_ON_FACE].used;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        if (a->table[where].used != b->table[where].used)
            return false;
    if (a->parts.count != b->parts.count)
        return false;
    for (size_t p = 0; p < a->parts.count; p++)
        if (a->parts.data[p].body != b->parts.data[p].body)
            return false;
    return (world->flows || memcmp(a->u, b->u, vertices * sizeof *a->u) == 0) &&
           memcmp(a->vertex, b->vertex, vertices * sizeof *a->vertex) == 0 &&
           memcmp(a->tet, b->tet, tets * sizeof *a->tet) == 0 &&
           memcmp(a->info, b->info, tets * sizeof *a->info) == 0 &&
           memcmp(a->face, b->face, faces * sizeof *a->face) == 0;
}

/* A mesh that was changed in the run can be any of the scene's matter. */
static bool fits_scene(const kiln_world *world, const kiln_mesh *mesh)
{
    const kiln_scene *scene = world->scene;
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        if (mesh->table[where].used == 0 || mesh->table[where].live != mesh->table[where].used)
            return false;
    for (size_t p = 0; p < mesh->parts.count; p++)
        if (mesh->parts.data[p].tets > 0 && mesh->parts.data[p].body >= scene->bodies.count)
            return false;
    const uint32_t *material = kiln_world_material_of(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (material[t] >= scene->materials.count)
            return false;
    return true;
}

kiln_status kiln_world_check_mesh(const kiln_world *world, const kiln_mesh *mesh, kiln_error *error)
{
    if (!same_columns(world->mesh, mesh))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "its fields are not those this scene has; was it written by another "
                         "version or another scene?");
    if (!fits_scene(world, mesh) || (!world->remeshes && !same_body(world, mesh)))
        return kiln_fail(error, KILN_ERR_INPUT, NULL, 0, -1,
                         "its mesh is not one this scene makes; has a mesh file changed?");
    return KILN_OK;
}

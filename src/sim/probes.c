/* The module of probes.csv: what people look for in a run, a row a step. Obstacles, holds and pairs
 * of bodies, with what they do (forces.c); bodies, with where they are and their energies; points
 * of the material, which hang in tets as fine surfaces do (remesh/embedded.h) and go through every
 * change of the mesh. */
#include "fem/offset.h"
#include "geom/box.h"
#include "geom/distance.h"
#include "remesh/embedded.h"
#include "sim/world_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BODIES = 16 /* without being asked for */, NAME_SIZE = 2 * KILN_NAME_SIZE + 16 };

typedef enum thing_kind { OBSTACLE, HOLD, BODY, POINT, PAIR, KIND_COUNT } thing_kind;

static const char *const wrench_columns[] = {"place.x",  "place.y", "place.z",  "force.x",
                                             "force.y",  "force.z", "torque.x", "torque.y",
                                             "torque.z", NULL};
static const char *const body_columns[] = {"centre.x",  "centre.y",  "centre.z", "low.x",  "low.y",
                                           "low.z",     "high.x",    "high.y",   "high.z", "volume",
                                           "e_kinetic", "e_elastic", NULL};
static const char *const point_columns[] = {"place.x",    "place.y",    "place.z", "velocity.x",
                                            "velocity.y", "velocity.z", NULL};
static const struct {
    const char *name;
    const char *const *columns;
} kinds[KIND_COUNT] = {[OBSTACLE] = {"obstacle", wrench_columns},
                       [HOLD] = {"hold", wrench_columns},
                       [BODY] = {"body", body_columns},
                       [POINT] = {"point", point_columns},
                       [PAIR] = {"pair", wrench_columns}};

/* One that has columns, which begin with its name. */
typedef struct thing {
    thing_kind kind;
    uint32_t row; /* obstacle, hold, body; point among the points, pair among the pairs */
    char name[NAME_SIZE];
} thing;

typedef struct column {
    char name[NAME_SIZE + 16];
} column;

typedef struct body_sums {
    double mass, volume, kinetic, elastic;
    kiln_vec3 base, moment; /* a vertex of it; kg m from there */
    kiln_box box;
} body_sums;

/* How a point hangs, in the words of a module's state. */
typedef struct hung {
    kiln_vec3 u;
    double tet, weight[4];
} hung;

typedef struct probes {
    kiln_world *world;
    KILN_ARRAY_OF(thing)
    things;
    KILN_ARRAY_OF(column)
    columns;
    KILN_ARRAY_OF(body_sums)
    bodies; /* [scene->bodies.count] */
    kiln_f64_array momentum, energy;
    KILN_ARRAY_OF(hung)
    points;
    kiln_embedded *embedded; /* the points, while the mesh changes; NULL: there are none */
    bool astray;             /* it is to be hung as `points` say */
} probes;

/* Names. */

/* A name that is none for a column gives way to one that is. */
static void clean_name(char *name)
{
    for (unsigned char *c = (unsigned char *)name; *c; c++)
        if (*c < 128 && !isalnum(*c) && *c != '_' && *c != '-')
            *c = '_';
    if (!isalpha((unsigned char)name[0]) && (unsigned char)name[0] < 128)
        name[0] = '_';
}

static bool is_taken(const probes *p, const char *name)
{
    for (size_t i = 0; i < p->things.count; i++)
        if (strcmp(p->things.data[i].name, name) == 0)
            return true;
    return false;
}

/* As the scene calls it; without a name, or with one that an earlier thing has, by its number. */
static kiln_status add_thing(probes *p, thing_kind kind, uint32_t row, const char *said,
                             kiln_error *error)
{
    thing t = {.kind = kind, .row = row};
    snprintf(t.name, sizeof t.name, "%s", said);
    if (said[0])
        clean_name(t.name);
    if (!said[0] || is_taken(p, t.name))
        snprintf(t.name, sizeof t.name, "%s%u", kinds[kind].name, (unsigned)row + 1);
    while (is_taken(p, t.name) && strlen(t.name) + 1 < sizeof t.name)
        strcat(t.name, "_");
    KILN_TRY(kiln_array_push(p->world->context, &p->things, t, error));
    for (const char *const *part = kinds[kind].columns; *part; part++) {
        column c;
        snprintf(c.name, sizeof c.name, "%s.%s", t.name, *part);
        KILN_TRY(kiln_array_push(p->world->context, &p->columns, c, error));
    }
    return KILN_OK;
}

static bool is_point(const kiln_scene_probe *probe)
{
    return isfinite(probe->point.x);
}

/* Those the scene asks for; if it asks for none, the first. */
static kiln_status list_bodies(probes *p, kiln_error *error)
{
    const kiln_scene *scene = p->world->scene;
    bool asked = false;
    for (size_t i = 0; i < scene->probes.count; i++) {
        const kiln_scene_probe *probe = &scene->probes.data[i];
        if (is_point(probe) || probe->with > 0)
            continue;
        const char *name = probe->name[0] ? probe->name : scene->bodies.data[probe->body].name;
        KILN_TRY(add_thing(p, BODY, (uint32_t)probe->body, name, error));
        asked = true;
    }
    for (uint32_t i = 0; !asked && i < scene->bodies.count && i < MOST_BODIES; i++)
        KILN_TRY(add_thing(p, BODY, i, scene->bodies.data[i].name, error));
    return KILN_OK;
}

static kiln_status list_pairs(probes *p, kiln_error *error)
{
    const kiln_scene *scene = p->world->scene;
    uint32_t pair = 0;
    for (size_t i = 0; i < scene->probes.count; i++) {
        const kiln_scene_probe *probe = &scene->probes.data[i];
        char name[NAME_SIZE];
        if (probe->with == 0)
            continue;
        snprintf(name, sizeof name, "%s-%s", scene->bodies.data[probe->body].name,
                 scene->bodies.data[probe->with - 1].name);
        KILN_TRY(add_thing(p, PAIR, pair++, probe->name[0] ? probe->name : name, error));
    }
    return KILN_OK;
}

static kiln_status list_things(probes *p, kiln_error *error)
{
    const kiln_world *world = p->world;
    const kiln_scene *scene = world->scene;
    bool forces = kiln_world_module(world, &kiln_module_forces) != NULL;
    for (uint32_t i = 0; forces && i < world->obstacle_count; i++)
        KILN_TRY(add_thing(p, OBSTACLE, i, scene->obstacles.data[i].name, error));
    bool holds = forces && kiln_world_module(world, &kiln_module_boundary);
    for (uint32_t i = 0; holds && i < scene->holds.count; i++)
        KILN_TRY(add_thing(p, HOLD, i, scene->holds.data[i].name, error));
    KILN_TRY(list_bodies(p, error));
    uint32_t point = 0;
    for (size_t i = 0; i < scene->probes.count; i++)
        if (is_point(&scene->probes.data[i]))
            KILN_TRY(add_thing(p, POINT, point++, scene->probes.data[i].name, error));
    return forces ? list_pairs(p, error) : KILN_OK;
}

/* Points. */

static uint32_t body_of(const kiln_mesh *mesh, uint32_t tet)
{
    return mesh->parts.data[mesh->info[tet].part].body;
}

/* The place in the material of a body (-1: of any) that is closest. */
static kiln_vec3 closest_place(const kiln_mesh *mesh, int32_t body, kiln_vec3 point)
{
    double least = INFINITY;
    kiln_vec3 best = point;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used && least > 0.0; t++) {
        if (!kiln_tet_live(mesh, t) || (body >= 0 && body_of(mesh, t) != (uint32_t)body))
            continue;
        kiln_vec3 corner[4];
        kiln_box box = kiln_box_empty();
        for (int i = 0; i < 4; i++) {
            corner[i] = mesh->u[mesh->tet[t].v[i]];
            box = kiln_box_grow(box, corner[i]);
        }
        kiln_vec3 clamped = kiln_v3_max(box.low, kiln_v3_min(point, box.high));
        if (kiln_v3_norm2(kiln_v3_sub(clamped, point)) >= least)
            continue;
        kiln_closest_point found = kiln_closest_on_tet(point, corner);
        if (found.distance2 < least) {
            least = found.distance2;
            best = kiln_v3_sub(point, found.offset);
        }
    }
    return best;
}

static kiln_status find_points(const probes *p, kiln_soup *soup, kiln_error *error)
{
    const kiln_scene *scene = p->world->scene;
    for (size_t i = 0; i < scene->probes.count; i++) {
        const kiln_scene_probe *probe = &scene->probes.data[i];
        if (!is_point(probe))
            continue;
        kiln_vec3 place = closest_place(p->world->mesh, probe->body, probe->point);
        KILN_TRY(kiln_array_push(soup->context, &soup->points, place, error));
    }
    return KILN_OK;
}

/* points = how they hang. */
static kiln_status note_points(probes *p, kiln_error *error)
{
    static const struct {
        const char *name;
        size_t offset, size;
    } columns[] = {{"u", offsetof(hung, u), sizeof(kiln_vec3)},
                   {"hung_in", offsetof(hung, tet), sizeof(double)},
                   {"hung_weights", offsetof(hung, weight), 4 * sizeof(double)}};
    kiln_soup soup;
    kiln_soup_init(&soup, p->world->context);
    kiln_status status = kiln_embedded_to_soup(p->embedded, p->world->mesh, &soup, error);
    for (size_t k = 0; k < 3 && status == KILN_OK; k++) {
        const char *from =
            (const char *)kiln_soup_find_field(&soup, KILN_ON_VERTEX, columns[k].name)->data.data;
        for (size_t i = 0; i < p->points.count; i++)
            memcpy((char *)&p->points.data[i] + columns[k].offset, from + i * columns[k].size,
                   columns[k].size);
    }
    kiln_soup_free(&soup);
    return status;
}

static kiln_status fill_hung(const probes *p, kiln_soup *soup, kiln_error *error)
{
    size_t count = p->points.count;
    kiln_soup_field *u, *tet, *weights;
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, count, error));
    soup->points.count = count;
    for (size_t i = 0; i < count; i++)
        soup->points.data[i] = p->points.data[i].u;
    KILN_TRY(kiln_soup_add_field(soup, "u", KILN_ON_VERTEX, 3, &u, error));
    memcpy(u->data.data, soup->points.data, count * sizeof(kiln_vec3));
    KILN_TRY(kiln_soup_add_field(soup, "hung_in", KILN_ON_VERTEX, 1, &tet, error));
    for (size_t i = 0; i < count; i++)
        tet->data.data[i] = p->points.data[i].tet;
    KILN_TRY(kiln_soup_add_field(soup, "hung_weights", KILN_ON_VERTEX, 4, &weights, error));
    for (size_t i = 0; i < count; i++)
        memcpy(weights->data.data + 4 * i, p->points.data[i].weight, 4 * sizeof(double));
    return KILN_OK;
}

/* They hang as `points` say. */
static kiln_status hang_points(probes *p, kiln_error *error)
{
    kiln_soup soup;
    kiln_soup_init(&soup, p->world->context);
    kiln_status status = fill_hung(p, &soup, error);
    if (status == KILN_OK)
        status = kiln_embedded_restore(p->embedded, p->world->mesh, &soup, error);
    kiln_soup_free(&soup);
    p->astray = status != KILN_OK;
    return status;
}

static kiln_status make_points(probes *p, kiln_error *error)
{
    kiln_soup soup;
    kiln_soup_init(&soup, p->world->context);
    kiln_status status = find_points(p, &soup, error);
    size_t count = soup.points.count;
    if (status == KILN_OK && count > 0)
        status = kiln_embedded_create(p->world->mesh, &soup, KILN_SPACE_MATERIAL, KILN_NONE,
                                      &p->embedded, NULL, error);
    kiln_soup_free(&soup);
    KILN_TRY(status);
    KILN_TRY(kiln_array_reserve(p->world->context, &p->points, count, error));
    p->points.count = count;
    return count ? note_points(p, error) : KILN_OK;
}

/* The module. */

/* Frames with displacements look at the start for as long as the run lasts. */
static void plan(kiln_world *world)
{
    world->asks_for_place |= world->scene->output.displacement;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    probes *p = kiln_module_make(world, sizeof *p, self, error);
    if (!p)
        return KILN_ERR_MEMORY;
    p->world = world;
    KILN_TRY(list_things(p, error));
    return make_points(p, error);
}

static void destroy(void *self)
{
    probes *p = self;
    kiln_context *context = p->world->context;
    kiln_array_free(context, &p->things);
    kiln_array_free(context, &p->columns);
    kiln_array_free(context, &p->bodies);
    kiln_array_free(context, &p->momentum);
    kiln_array_free(context, &p->energy);
    kiln_array_free(context, &p->points);
    kiln_embedded_destroy(p->embedded);
}

static kiln_status before_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)moment;
    probes *p = self;
    return p->embedded && p->astray ? hang_points(p, error) : KILN_OK;
}

static void step_back(void *self)
{
    ((probes *)self)->astray = true;
}

static kiln_status material_moves(void *self, kiln_error *error)
{
    probes *p = self;
    return p->embedded ? kiln_embedded_note(p->embedded, p->world->mesh, error) : KILN_OK;
}

static kiln_status material_moved(void *self, kiln_error *error)
{
    probes *p = self;
    if (!p->embedded)
        return KILN_OK;
    KILN_TRY(kiln_embedded_rebase(p->embedded, p->world->mesh, error));
    return note_points(p, error);
}

/* As fine surfaces do (surfaces.c). What they hang in is noted when the rows are final. */
static kiln_status carry(void *self, const kiln_mesh *to, kiln_error *error)
{
    const probes *p = self;
    const kiln_mesh *mesh = p->world->mesh;
    if (!p->embedded)
        return KILN_OK;
    return to ? kiln_embedded_move(p->embedded, mesh, to, KILN_SPACE_WORLD, NULL, error)
              : kiln_embedded_rehang(p->embedded, mesh, NULL, error);
}

/* All is built anew after a checkpoint, in it and from it, and must go on with the same bits. */
static kiln_status mesh_changed(void *self, const kiln_changes *changes, kiln_error *error)
{
    probes *p = self;
    const kiln_mesh *mesh = p->world->mesh;
    if (!p->embedded)
        return KILN_OK;
    if (p->world->stale) {
        p->astray = true;
        return KILN_OK;
    }
    if (changes->renumbered)
        KILN_TRY(kiln_embedded_renumber(p->embedded, mesh, changes->renumbered, error));
    else if (!changes->all)
        KILN_TRY(kiln_embedded_follow_rows(p->embedded, mesh, &changes->moved[KILN_ON_TET], error));
    return note_points(p, error);
}

static void *state(void *self, size_t *size)
{
    const probes *p = self;
    *size = p->points.count * sizeof *p->points.data;
    return *size ? p->points.data : NULL;
}

const kiln_module kiln_module_probes = {.name = "probes",
                                        .plan = plan,
                                        .create = create,
                                        .destroy = destroy,
                                        .before_step = before_step,
                                        .step_back = step_back,
                                        .material_moves = material_moves,
                                        .material_moved = material_moved,
                                        .carry = carry,
                                        .mesh_changed = mesh_changed,
                                        .state = state};

/* Bodies. */

static void sum_vertices(probes *p, const double *v)
{
    const kiln_mesh *mesh = p->world->mesh;
    const double *mass = kiln_mass_lumped(kiln_solid_mass(p->world->solid));
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        if (mesh->vertex[i].tet == KILN_NONE)
            continue;
        body_sums *sum = &p->bodies.data[body_of(mesh, mesh->vertex[i].tet)];
        if (sum->mass == 0.0)
            sum->base = mesh->x[i];
        sum->mass += mass[i];
        sum->moment = kiln_v3_madd(sum->moment, mass[i], kiln_v3_sub(mesh->x[i], sum->base));
        sum->box = kiln_box_grow(sum->box, mesh->x[i]);
        for (size_t k = 3 * (size_t)i; v && k < 3 * (size_t)i + 3; k++)
            sum->kinetic += 0.5 * v[k] * p->momentum.data[k];
    }
}

static void sum_tets(probes *p)
{
    const kiln_mesh *mesh = p->world->mesh;
    kiln_offsets offsets = kiln_offsets_of(p->world->mesh);
    bool several = p->energy.count > 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        body_sums *sum = &p->bodies.data[body_of(mesh, t)];
        sum->volume += kiln_tet_volume(mesh->x[v[0]], mesh->x[v[1]], mesh->x[v[2]], mesh->x[v[3]]);
        if (several)
            sum->elastic +=
                p->energy.data[t] *
                (offsets.rest_volume ? offsets.rest_volume[t] : kiln_mesh_tet_volume(mesh, t));
    }
}

/* Energies of tets, unless there is one body, which has what the step found. */
static kiln_status find_energies(probes *p, kiln_error *error)
{
    kiln_world *world = p->world;
    size_t tets = world->mesh->table[KILN_ON_TET].used;
    p->energy.count = 0;
    if (world->scene->bodies.count == 1) {
        p->bodies.data[0].elastic =
            world->state.step > 0 ? world->report.e_elastic
                                  : kiln_solid_elastic_energy(world->solid, &world->mesh->x[0].x);
        return KILN_OK;
    }
    KILN_TRY(kiln_array_reserve(world->context, &p->energy, tets, error));
    p->energy.count = tets;
    kiln_elements_output(kiln_solid_elements(world->solid), &world->mesh->x[0].x,
                         KILN_OUTPUT_ENERGY, p->energy.data);
    return KILN_OK;
}

static kiln_status sum_bodies(probes *p, kiln_error *error)
{
    kiln_world *world = p->world;
    size_t bodies = world->scene->bodies.count;
    const double *v = world->moves ? kiln_world_column(world, KILN_ON_VERTEX, "v") : NULL;
    KILN_TRY(kiln_array_reserve(world->context, &p->bodies, bodies, error));
    p->bodies.count = bodies;
    for (size_t i = 0; i < bodies; i++)
        p->bodies.data[i] = (body_sums){.box = kiln_box_empty()};
    KILN_TRY(kiln_array_reserve(world->context, &p->momentum,
                                3 * (size_t)world->mesh->table[KILN_ON_VERTEX].used, error));
    if (v)
        kiln_mass_multiply(kiln_solid_mass(world->solid), v, p->momentum.data);
    KILN_TRY(find_energies(p, error));
    sum_vertices(p, v);
    sum_tets(p);
    return KILN_OK;
}

/* Values. */

static double *put(double *out, kiln_vec3 a)
{
    *out++ = a.x;
    *out++ = a.y;
    *out++ = a.z;
    return out;
}

static double *put_wrench(const kiln_world *world, const thing *t, double *out)
{
    kiln_wrench w;
    if (t->kind == OBSTACLE)
        kiln_world_obstacle_wrench(world, t->row, &w);
    else if (t->kind == PAIR)
        kiln_world_pair_wrench(world, t->row, &w);
    else
        kiln_world_hold_wrench(world, t->row, &w);
    return put(put(put(out, w.place), w.force), w.torque);
}

/* A body that has become part of another has no numbers of its own. */
static double *put_body(const kiln_world *world, const body_sums *sum, double *out)
{
    if (!(sum->mass > 0.0)) {
        for (int i = 0; i < 12; i++)
            *out++ = NAN;
        return out;
    }
    out = put(out, kiln_v3_madd(sum->base, 1.0 / sum->mass, sum->moment));
    out = put(put(out, sum->box.low), sum->box.high);
    *out++ = sum->volume;
    *out++ = world->moves ? sum->kinetic : NAN;
    *out++ = sum->elastic;
    return out;
}

static double *put_point(const kiln_world *world, const hung *point, double *out)
{
    const kiln_mesh *mesh = world->mesh;
    const kiln_vec3 *v = (const kiln_vec3 *)(void *)kiln_world_column(world, KILN_ON_VERTEX, "v");
    kiln_vec3 place = {0, 0, 0}, velocity = {0, 0, 0};
    if (!(point->tet >= 0.0 && point->tet < mesh->table[KILN_ON_TET].used)) {
        place = kiln_v3(NAN, NAN, NAN); /* of a bad checkpoint; the next step refuses it */
        return put(put(out, place), place);
    }
    const uint32_t *corner = mesh->tet[(uint32_t)point->tet].v;
    for (int i = 0; i < 4; i++) {
        place = kiln_v3_madd(place, point->weight[i], mesh->x[corner[i]]);
        if (v)
            velocity = kiln_v3_madd(velocity, point->weight[i], v[corner[i]]);
    }
    return put(put(out, place), velocity);
}

size_t kiln_world_probe_count(const kiln_world *world)
{
    const probes *p = kiln_world_module(world, &kiln_module_probes);
    return p ? p->columns.count : 0;
}

const char *kiln_world_probe_name(const kiln_world *world, size_t row)
{
    const probes *p = kiln_world_module(world, &kiln_module_probes);
    return p->columns.data[row].name;
}

kiln_status kiln_world_probe(kiln_world *world, double *out, kiln_error *error)
{
    probes *p = kiln_world_module(world, &kiln_module_probes);
    bool bodies = false;
    for (size_t i = 0; p && i < p->things.count; i++)
        bodies |= p->things.data[i].kind == BODY;
    if (bodies)
        KILN_TRY(sum_bodies(p, error));
    for (size_t i = 0; p && i < p->things.count; i++) {
        const thing *t = &p->things.data[i];
        out = t->kind == BODY    ? put_body(world, &p->bodies.data[t->row], out)
              : t->kind == POINT ? put_point(world, &p->points.data[t->row], out)
                                 : put_wrench(world, t, out);
    }
    return KILN_OK;
}

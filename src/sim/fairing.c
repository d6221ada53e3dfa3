/* The module that keeps the surface of liquid smooth: after a step the noise of its surface is
 * taken out (remesh/fair.h), before the material follows and the mesh is looked at. */
#include "mesh/walk.h"
#include "remesh/fair.h"
#include "sim/world_impl.h"

#include <math.h>
#include <string.h>

/* Of a unit normal, what may be free of it at a wall. */
static const double HELD_ACROSS = 1e-6;

/* Cosine from which two normals are of one wall; of the length of an edge, how far off it its other
 * end is to be, at least, and how far it is put back in a step. */
static const double SAME_WALL = 0.9, WITHIN = 0.05, MOST_BACK = 0.1;

/* Of the length of an edge, how far off an obstacle that it wets a vertex of liquid may be and
 * still be put on it. */
static const double SEAT = 0.05;

typedef struct wall_normals {
    kiln_vec3 normal[3];
    int count;
} wall_normals;

typedef struct fairing {
    kiln_world *world;
    KILN_ARRAY_OF(uint8_t)
    open;
    KILN_ARRAY_OF(kiln_vec3)
    shift;
    KILN_ARRAY_OF(wall_normals)
    walls; /* [vertex slot] */
    KILN_ARRAY_OF(uint8_t)
    solid; /* [vertex slot] has a tet that is not liquid */
} fairing;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!kiln_scene_has_liquid(world->scene) || !world->remeshes)
        return KILN_OK;
    fairing *f = kiln_module_make(world, sizeof *f, self, error);
    if (!f)
        return KILN_ERR_MEMORY;
    f->world = world;
    return KILN_OK;
}

static void destroy(void *self)
{
    fairing *f = self;
    kiln_array_free(f->world->context, &f->open);
    kiln_array_free(f->world->context, &f->shift);
    kiln_array_free(f->world->context, &f->walls);
    kiln_array_free(f->world->context, &f->solid);
}

/* What holds and obstacles leave of a direction. What touches an obstacle stays: where the surface
 * ends there is up to the step; and what is solid, too, which would be strained. */
static kiln_vec3 may_go(const void *user, uint32_t vertex, kiln_vec3 direction)
{
    const fairing *f = user;
    const kiln_world *world = f->world;
    if (f->solid.data[vertex])
        return kiln_v3(0, 0, 0);
    const double *contact = kiln_solid_contact(world->solid) + 3 * (size_t)vertex;
    if (contact[0] != 0.0 || contact[1] != 0.0 || contact[2] != 0.0)
        return kiln_v3(0, 0, 0);
    const kiln_held held = kiln_constraints_held(kiln_solid_constraints(world->solid), vertex);
    return kiln_held_free_part(&held, direction);
}

/* Whether holds keep a vertex from going along a direction. */
static bool is_held_along(const kiln_world *world, uint32_t vertex, kiln_vec3 n)
{
    const kiln_held held = kiln_constraints_held(kiln_solid_constraints(world->solid), vertex);
    return kiln_v3_norm(kiln_held_free_part(&held, n)) <= HELD_ACROSS;
}

static kiln_vec3 face_normal(const kiln_mesh *mesh, uint32_t face, uint32_t v[3])
{
    const kiln_vec3 *x = mesh->x;
    uint32_t at = mesh->face[face].at;
    for (int k = 0; k < 3; k++)
        v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]])));
}

/* Faces of liquid that can leave their plane. */
static bool is_open(const fairing *f, const uint32_t *material, uint32_t face)
{
    const kiln_world *world = f->world;
    const kiln_mesh *mesh = world->mesh;
    if (!kiln_face_live(mesh, face))
        return false;
    uint32_t v[3];
    if (!world->materials[material[mesh->face[face].at / 4]].liquid)
        return false;
    kiln_vec3 n = face_normal(mesh, face, v);
    for (int k = 0; k < 3; k++)
        if (kiln_v3_norm(may_go(f, v[k], n)) > HELD_ACROSS)
            return true;
    return false;
}

static kiln_status find_solid(fairing *f, kiln_error *error)
{
    const kiln_mesh *mesh = f->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(f->world->context, &f->solid, rows + 1, error));
    memset(f->solid.data, 0, rows);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            f->solid.data[mesh->tet[t].v[k]] |= !f->world->materials[material[t]].liquid;
    return KILN_OK;
}

static kiln_status find_open(fairing *f, kiln_error *error)
{
    const kiln_mesh *mesh = f->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    size_t faces = mesh->table[KILN_ON_FACE].used;
    KILN_TRY(kiln_array_reserve(f->world->context, &f->open, faces + 1, error));
    for (uint32_t face = 0; face < faces; face++)
        f->open.data[face] = is_open(f, material, face);
    return KILN_OK;
}

/* Normals of the walls at a vertex, outwards. */
static void note_walls(const fairing *f)
{
    const kiln_mesh *mesh = f->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    memset(f->walls.data, 0, mesh->table[KILN_ON_VERTEX].used * sizeof *f->walls.data);
    for (uint32_t face = 0; face < mesh->table[KILN_ON_FACE].used; face++) {
        uint32_t v[3];
        if (!kiln_face_live(mesh, face) || f->open.data[face] ||
            !f->world->materials[material[mesh->face[face].at / 4]].liquid)
            continue;
        kiln_vec3 n = face_normal(mesh, face, v);
        for (int k = 0; k < 3; k++) {
            wall_normals *at = &f->walls.data[v[k]];
            bool known = !is_held_along(f->world, v[k], n);
            for (int i = 0; i < at->count; i++)
                known |= kiln_v3_dot(at->normal[i], n) > SAME_WALL;
            if (!known && at->count < 3)
                at->normal[at->count++] = n;
        }
    }
}

/* Nothing but its corners keeps the surface on this side of a wall. A vertex that comes to lie
 * beyond it is put back, to where an edge to the wall has some way off it. */
static void stay_within(const fairing *f)
{
    const kiln_mesh *mesh = f->world->mesh;
    for (uint32_t face = 0; face < mesh->table[KILN_ON_FACE].used; face++) {
        uint32_t v[3];
        if (!kiln_face_live(mesh, face) || !f->open.data[face])
            continue;
        face_normal(mesh, face, v);
        for (int i = 0; i < 9; i++) { /* corner a at a wall, corner b off it */
            uint32_t a = v[i / 3], b = v[i % 3];
            for (int w = 0; w < f->walls.data[a].count && a != b; w++) {
                kiln_vec3 n = f->walls.data[a].normal[w];
                if (is_held_along(f->world, b, n))
                    continue;
                kiln_vec3 way = kiln_v3_sub(mesh->x[b], mesh->x[a]);
                double length = kiln_v3_norm(way), off = kiln_v3_dot(way, n) + WITHIN * length;
                double back = fmin(off, MOST_BACK * length);
                back -= fmax(0.0, -kiln_v3_dot(f->shift.data[b], n)); /* on its way already */
                if (back > 0.0)
                    f->shift.data[b] = kiln_v3_madd(f->shift.data[b], -back, n);
            }
        }
    }
}

static double shortest_edge(const kiln_mesh *mesh, uint32_t vertex)
{
    double least = INFINITY;
    const kiln_tet *tet = &mesh->tet[mesh->vertex[vertex].tet];
    for (int k = 0; k < 4; k++)
        if (tet->v[k] != vertex)
            least = fmin(least, kiln_v3_norm2(kiln_v3_sub(mesh->x[tet->v[k]], mesh->x[vertex])));
    return sqrt(least);
}

/* What is on an obstacle that it wets lies on it to rounding: remeshing keeps what is flat, and
 * makes bent what is off by more. */
static void sit(const fairing *f)
{
    const kiln_world *world = f->world;
    const kiln_mesh *mesh = world->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "contact_with");
    const uint32_t *with = field ? (const uint32_t *)(const void *)field->data : NULL;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used && with; v++) {
        if (!kiln_vertex_live(mesh, v) || !with[v] ||
            !(world->scene->obstacles.data[with[v] - 1].contact_angle < 180.0))
            continue;
        kiln_vec3 normal, nearest;
        double gap =
            kiln_obstacle_distance(world->obstacles[with[v] - 1], mesh->x[v], &normal, &nearest);
        if (gap != 0.0 && fabs(gap) <= SEAT * shortest_edge(mesh, v))
            f->shift.data[v] = kiln_v3_sub(nearest, mesh->x[v]);
    }
}

/* Not farther into obstacles than they are. */
static void keep_out(const fairing *f)
{
    const kiln_world *world = f->world;
    const kiln_mesh *mesh = world->mesh;
    for (size_t o = 0; o < world->obstacle_count; o++)
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_vec3 normal, point, *shift = &f->shift.data[v];
            if (kiln_v3_norm2(*shift) == 0.0)
                continue;
            double now = kiln_obstacle_distance(world->obstacles[o], mesh->x[v], &normal, &point);
            double then = kiln_obstacle_distance(world->obstacles[o],
                                                 kiln_v3_add(mesh->x[v], *shift), &normal, &point);
            if (then < fmin(now, 0.0))
                *shift = kiln_v3(0, 0, 0);
        }
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    fairing *f = self;
    kiln_world *world = f->world;
    size_t moved;
    (void)moment;
    KILN_TRY(find_solid(f, error));
    KILN_TRY(find_open(f, error));
    size_t rows = world->mesh->table[KILN_ON_VERTEX].used;
    KILN_TRY(kiln_array_reserve(world->context, &f->shift, rows + 1, error));
    KILN_TRY(kiln_array_reserve(world->context, &f->walls, rows + 1, error));
    memset(f->shift.data, 0, rows * sizeof *f->shift.data);
    note_walls(f);
    stay_within(f);
    sit(f);
    const kiln_fair_options options = {f->open.data, may_go, f, 0.0};
    KILN_TRY(kiln_fair(world->mesh, &options, f->shift.data, &moved, error));
    if (moved == 0)
        return KILN_OK;
    keep_out(f);
    return kiln_solid_shift(world->solid, f->shift.data, error);
}

const kiln_module kiln_module_fairing = {
    .name = "fairing", .create = create, .destroy = destroy, .after_step = after_step};

/* The module of the lines on liquid: after each step that where it ends on an obstacle that it wets
 * is drawn anew on the mesh, as a feature that remeshing keeps to and may divide. Liquid has no
 * other edges but those at its walls: what is sharp (the rim it began with, where it tore, a crest)
 * is round in a moment, and as a feature would stay there and hold its vertices for ever. What
 * remeshing makes off the obstacle is not on it. */
#include "mesh/classify.h"
#include "mesh/rewind.h"
#include "mesh/walk.h"
#include "sim/world_impl.h"

#include <math.h>
#include <string.h>

/* Of the length of its faces, how far off an obstacle a vertex may be that is on it: some hover by
 * a tenth (step/liquid_wet.c). */
static const double OFF = 0.15;

typedef struct waterline {
    kiln_world *world;
    KILN_ARRAY_OF(uint8_t)
    smooth;               /* [vertex slot] */
    kiln_u32_array sheet; /* [face slot] obstacle + 1 */
    kiln_f64_array area;  /* [vertex slot] a third of that of its faces */
} waterline;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!kiln_scene_has_liquid(world->scene) || !world->remeshes)
        return KILN_OK;
    waterline *w = kiln_module_make(world, sizeof *w, self, error);
    if (!w)
        return KILN_ERR_MEMORY;
    w->world = world;
    return KILN_OK;
}

static void destroy(void *self)
{
    waterline *w = self;
    kiln_array_free(w->world->context, &w->smooth);
    kiln_array_free(w->world->context, &w->sheet);
    kiln_array_free(w->world->context, &w->area);
}

/* Of liquid alone. */
static void find_smooth(const waterline *w)
{
    const kiln_mesh *mesh = w->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        w->smooth.data[v] = kiln_vertex_live(mesh, v);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            if (!w->world->materials[material[t]].liquid)
                w->smooth.data[mesh->tet[t].v[k]] = 0;
}

/* By what the scene says. */
static void leave_held(const waterline *w)
{
    const kiln_constraints *given = kiln_solid_constraints(w->world->solid);
    for (uint32_t v = 0; v < w->world->mesh->table[KILN_ON_VERTEX].used; v++)
        if (given->held[v])
            w->smooth.data[v] = 0;
}

static void find_sheets(const waterline *w)
{
    const kiln_mesh *mesh = w->world->mesh;
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "contact_with");
    const uint32_t *with = field ? (const uint32_t *)(const void *)field->data : NULL;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        w->sheet.data[f] = 0;
        if (!with || !kiln_face_live(mesh, f))
            continue;
        uint32_t at = mesh->face[f].at, on[3];
        for (int k = 0; k < 3; k++)
            on[k] = with[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
        if (on[0] == on[1] && on[1] == on[2] && on[0] &&
            w->world->scene->obstacles.data[on[0] - 1].contact_angle < 180.0)
            w->sheet.data[f] = on[0];
    }
}

static void find_areas(const waterline *w)
{
    const kiln_mesh *mesh = w->world->mesh;
    const kiln_vec3 *x = mesh->x;
    memset(w->area.data, 0, mesh->table[KILN_ON_VERTEX].used * sizeof *w->area.data);
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at, v[3];
        if (!kiln_face_live(mesh, f))
            continue;
        for (int k = 0; k < 3; k++)
            v[k] = mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
        double area = kiln_v3_norm(
            kiln_v3_cross(kiln_v3_sub(x[v[1]], x[v[0]]), kiln_v3_sub(x[v[2]], x[v[0]])));
        for (int k = 0; k < 3; k++)
            w->area.data[v[k]] += area / 6.0;
    }
}

/* A vertex takes its record of contact from the heaviest of those it is made of. One on an edge
 * that rises from the line would be drawn down to the obstacle, through the tets below it. */
static kiln_status carry(void *self, const kiln_mesh *to, kiln_error *error)
{
    waterline *w = self;
    kiln_world *world = w->world;
    kiln_mesh *mesh = world->mesh;
    kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, "contact_with");
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    if (to || !field)
        return KILN_OK;
    KILN_TRY(kiln_rewind_save(mesh, KILN_ON_VERTEX, "contact_with", KILN_SAVE_COPY, error));
    KILN_TRY(kiln_array_reserve(world->context, &w->area, rows + 1, error));
    KILN_TRY(kiln_array_reserve(world->context, &w->smooth, rows + 1, error));
    find_areas(w);
    find_smooth(w);
    uint32_t *with = (uint32_t *)(void *)field->data;
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 normal, nearest;
        if (w->smooth.data[v] && with[v] &&
            world->scene->obstacles.data[with[v] - 1].contact_angle < 180.0 &&
            kiln_obstacle_distance(world->obstacles[with[v] - 1], mesh->x[v], &normal, &nearest) >
                OFF * sqrt(w->area.data[v]))
            with[v] = 0;
    }
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    waterline *w = self;
    kiln_mesh *mesh = w->world->mesh;
    (void)moment;
    KILN_TRY(kiln_array_reserve(w->world->context, &w->smooth, mesh->table[KILN_ON_VERTEX].used + 1,
                                error));
    KILN_TRY(kiln_array_reserve(w->world->context, &w->sheet, mesh->table[KILN_ON_FACE].used + 1,
                                error));
    find_smooth(w);
    leave_held(w);
    find_sheets(w);
    return kiln_mesh_draw_lines(mesh, w->smooth.data, w->sheet.data, error);
}

const kiln_module kiln_module_waterline = {.name = "waterline",
                                           .create = create,
                                           .destroy = destroy,
                                           .after_step = after_step,
                                           .carry = carry};

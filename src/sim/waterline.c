/* The module of the line where liquid ends on an obstacle that it wets: after each step it is drawn
 * anew on the mesh, as a feature that remeshing keeps to and may divide. Liquid has no other edges
 * but those at its walls. */
#include "mesh/classify.h"
#include "mesh/walk.h"
#include "sim/world_impl.h"

#include <string.h>

typedef struct waterline {
    kiln_world *world;
    KILN_ARRAY_OF(uint8_t)
    smooth;               /* [vertex slot] */
    kiln_u32_array sheet; /* [face slot] obstacle + 1 */
} waterline;

static bool has_wetting(const kiln_scene *scene)
{
    for (size_t o = 0; o < scene->obstacles.count; o++)
        if (scene->obstacles.data[o].contact_angle < 180.0)
            return true;
    return false;
}

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    if (!kiln_scene_has_liquid(world->scene) || !world->remeshes || !has_wetting(world->scene))
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
}

/* Of liquid alone, and held by nothing that the scene says. */
static void find_smooth(const waterline *w)
{
    const kiln_mesh *mesh = w->world->mesh;
    const uint32_t *material = kiln_world_material_of(mesh);
    const kiln_constraints *given = kiln_solid_constraints(w->world->solid);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        w->smooth.data[v] = kiln_vertex_live(mesh, v) && !given->held[v];
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 4 && kiln_tet_live(mesh, t); k++)
            if (!w->world->materials[material[t]].liquid)
                w->smooth.data[mesh->tet[t].v[k]] = 0;
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
    find_sheets(w);
    return kiln_mesh_draw_lines(mesh, w->smooth.data, w->sheet.data, error);
}

const kiln_module kiln_module_waterline = {
    .name = "waterline", .create = create, .destroy = destroy, .after_step = after_step};

#include "geom/distance.h"
#include "remesh/embedded_impl.h"

#include <math.h>
#include <string.h>

void kiln_shore_free(kiln_shore *shore)
{
    if (!shore->mesh)
        return;
    kiln_bvh_destroy(&shore->tree);
    kiln_array_free(shore->mesh->context, &shore->tets);
}

static void corners_of(const kiln_shore *shore, uint32_t item, kiln_vec3 corner[4])
{
    const uint32_t *v = shore->mesh->tet[shore->tets.data[item]].v;
    for (int i = 0; i < 4; i++)
        corner[i] = shore->positions[v[i]];
}

/* A tet with two faces in the surface is there twice, which does no harm. */
kiln_status kiln_shore_build(kiln_shore *shore, const kiln_mesh *mesh, kiln_space space,
                             kiln_error *error)
{
    kiln_context *context = mesh->context;
    KILN_ARRAY_OF(kiln_box)
    boxes = {0};
    *shore = (kiln_shore){.mesh = mesh, .positions = kiln_mesh_positions(mesh, space)};
    uint32_t faces = mesh->table[KILN_ON_FACE].live;
    KILN_TRY(kiln_array_reserve(context, &shore->tets, faces, error));
    KILN_TRY(kiln_array_reserve(context, &boxes, faces, error));
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        if (!kiln_face_live(mesh, f))
            continue;
        kiln_vec3 corner[4];
        shore->tets.data[shore->tets.count++] = mesh->face[f].at / 4;
        corners_of(shore, (uint32_t)boxes.count, corner);
        boxes.data[boxes.count++] = kiln_box_of(corner, 4);
    }
    kiln_status status = kiln_bvh_build(&shore->tree, context, boxes.data, boxes.count, error);
    kiln_array_free(context, &boxes);
    return status;
}

typedef struct question {
    const kiln_shore *shore;
    uint32_t body;
} question;

static double distance2_to(void *user, uint32_t item, kiln_vec3 point)
{
    const question *q = user;
    kiln_vec3 corner[4];
    if (kiln_embedded_body(q->shore->mesh, q->shore->tets.data[item]) != q->body)
        return INFINITY;
    corners_of(q->shore, item, corner);
    return kiln_closest_on_tet(point, corner).distance2;
}

void kiln_shore_settle(const kiln_shore *shore, kiln_vec3 point, uint32_t body,
                       kiln_begin_place *place)
{
    if (place->inside)
        return;
    question q = {shore, body};
    uint32_t item = kiln_bvh_closest(&shore->tree, point, INFINITY, distance2_to, &q, NULL);
    if (item != KILN_BVH_NONE)
        place->tet = shore->tets.data[item];
    kiln_vec3 corner[4];
    for (int i = 0; i < 4; i++)
        corner[i] = shore->positions[shore->mesh->tet[place->tet].v[i]];
    memcpy(place->weight, kiln_closest_on_tet(point, corner).weight, sizeof place->weight);
}

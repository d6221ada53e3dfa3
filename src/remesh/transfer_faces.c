/* Fields of surface faces between two meshes: from the nearest old face; amounts go from each old
 * face to its nearest new one. */
#include "geom/distance.h"
#include "mesh/journal.h"
#include "remesh/transfer_impl.h"

#include <string.h>

typedef struct skin_face {
    kiln_vec3 corner[3];
    uint32_t row;
} skin_face;

typedef struct skin {
    KILN_ARRAY_OF(skin_face)
    faces;
    kiln_bvh tree;
} skin;

static kiln_status add_face(kiln_context *context, skin *s, const kiln_vec3 corner[4], uint32_t row,
                            uint32_t face, kiln_error *error)
{
    skin_face f = {.row = row};
    for (int i = 0; i < 3; i++)
        f.corner[i] = corner[kiln_face_corner[face][i]];
    return kiln_array_push(context, &s->faces, f, error);
}

static kiln_status plant(kiln_context *context, skin *s, kiln_error *error)
{
    size_t count = s->faces.count, bytes = (count + 1) * sizeof(kiln_box);
    kiln_box *boxes = kiln_resize(context, NULL, 0, bytes);
    if (!boxes)
        return kiln_fail_memory(error, bytes);
    for (size_t i = 0; i < count; i++)
        boxes[i] = kiln_box_of(s->faces.data[i].corner, 3);
    kiln_status status = kiln_bvh_build(&s->tree, context, boxes, count, error);
    kiln_release(context, boxes, bytes);
    return status;
}

static kiln_status collect(const kiln_transfer_job *job, skin *before, skin *after,
                           kiln_error *error)
{
    kiln_begin_column faces = kiln_begin_column_of(job->from, KILN_ON_FACE, 0);
    kiln_vec3 corner[4];
    for (uint32_t row = 0; row < faces.rows; row++) {
        uint32_t at = ((const kiln_face *)kiln_begin_row(&faces, row))->at;
        if (at == KILN_NONE)
            continue;
        kiln_begin_corners(&job->view, kiln_begin_tet(&job->view, at / 4), corner);
        KILN_TRY(add_face(job->context, before, corner, row, at % 4, error));
    }
    const kiln_vec3 *positions = kiln_mesh_positions(job->to, job->space);
    for (uint32_t row = 0; row < job->to->table[KILN_ON_FACE].used; row++) {
        if (!kiln_face_live(job->to, row))
            continue;
        uint32_t at = job->to->face[row].at;
        for (int i = 0; i < 4; i++)
            corner[i] = positions[job->to->tet[at / 4].v[i]];
        KILN_TRY(add_face(job->context, after, corner, row, at % 4, error));
    }
    KILN_TRY(plant(job->context, before, error));
    return plant(job->context, after, error);
}

static double distance2_to(void *user, uint32_t item, kiln_vec3 point)
{
    const skin *s = user;
    return kiln_closest_on_triangle(point, s->faces.data[item].corner).distance2;
}

static uint32_t nearest_row(skin *s, const skin_face *face)
{
    kiln_vec3 sum = kiln_v3_add(kiln_v3_add(face->corner[0], face->corner[1]), face->corner[2]);
    uint32_t item =
        kiln_bvh_closest(&s->tree, kiln_v3_scale(sum, 1.0 / 3.0), INFINITY, distance2_to, s, NULL);
    return item == KILN_BVH_NONE ? KILN_NONE : s->faces.data[item].row;
}

static bool is_amount(const kiln_transfer_field *field)
{
    return field->to->rule == KILN_RULE_CONSERVE && field->to->type == KILN_F64;
}

static void take_values(const kiln_transfer_job *job, skin *before, const skin *after)
{
    for (size_t i = 0; i < after->faces.count; i++) {
        uint32_t row = after->faces.data[i].row, old = nearest_row(before, &after->faces.data[i]);
        for (size_t f = 0; old != KILN_NONE && f < job->fields[KILN_ON_FACE].count; f++) {
            const kiln_transfer_field *field = &job->fields[KILN_ON_FACE].data[f];
            if (is_amount(field))
                memset(kiln_transfer_row(field, row), 0, field->to->stride);
            else
                memcpy(kiln_transfer_row(field, row), kiln_begin_row(&field->from, old),
                       field->to->stride);
        }
    }
}

static void give_amounts(const kiln_transfer_job *job, const skin *before, skin *after)
{
    for (size_t i = 0; i < before->faces.count; i++) {
        uint32_t row = nearest_row(after, &before->faces.data[i]);
        for (size_t f = 0; row != KILN_NONE && f < job->fields[KILN_ON_FACE].count; f++) {
            const kiln_transfer_field *field = &job->fields[KILN_ON_FACE].data[f];
            const char *amounts = kiln_begin_row(&field->from, before->faces.data[i].row);
            for (uint32_t c = 0; is_amount(field) && c < field->to->components; c++) {
                double amount;
                memcpy(&amount, amounts + 8 * c, sizeof amount);
                ((double *)kiln_transfer_row(field, row))[c] += amount;
            }
        }
    }
}

kiln_status kiln_transfer_faces(kiln_transfer_job *job, kiln_error *error)
{
    if (job->fields[KILN_ON_FACE].count == 0)
        return KILN_OK;
    skin before = {0}, after = {0};
    kiln_status status = collect(job, &before, &after, error);
    if (status == KILN_OK)
        status = kiln_journal_reserve(job->to, 0, 0, after.faces.count, 0, error);
    if (status == KILN_OK) {
        for (size_t i = 0; i < after.faces.count; i++)
            kiln_journal_row(job->to, KILN_ON_FACE, after.faces.data[i].row);
        take_values(job, &before, &after);
        give_amounts(job, &before, &after);
    }
    kiln_array_free(job->context, &before.faces);
    kiln_array_free(job->context, &after.faces);
    kiln_bvh_destroy(&before.tree);
    kiln_bvh_destroy(&after.tree);
    return status;
}

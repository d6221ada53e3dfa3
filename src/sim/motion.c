#include "sim/motion.h"

kiln_status kiln_quantity_vector_at(const kiln_quantity *quantity, const kiln_circumstances *at,
                                    kiln_vec3 *out, kiln_error *error)
{
    double v[3];
    KILN_TRY(kiln_quantity_get(quantity, at, v, 3, error));
    *out = kiln_v3(v[0], v[1], v[2]);
    return KILN_OK;
}

kiln_status kiln_motion_at(const kiln_motion *motion, double time, kiln_rigid *out,
                           kiln_error *error)
{
    *out = (kiln_rigid){.rotation = kiln_m3_identity()};
    kiln_circumstances at = {.time = time};
    if (motion->kind == KILN_MOTION_TRANSLATE || motion->kind == KILN_MOTION_ROTATE)
        KILN_TRY(kiln_quantity_vector_at(&motion->shift, &at, &out->shift, error));
    if (motion->kind == KILN_MOTION_ROTATE) {
        KILN_TRY(kiln_quantity_get(&motion->angle, &at, &out->angle, 1, error));
        out->rotation = kiln_m3_rotation(motion->axis, out->angle);
        out->centre = motion->centre;
    }
    return KILN_OK;
}

kiln_vec3 kiln_rigid_apply(const kiln_rigid *r, kiln_vec3 p)
{
    return kiln_v3_add(kiln_m3_apply(r->rotation, kiln_v3_sub(p, r->centre)),
                       kiln_v3_add(r->centre, r->shift));
}

kiln_vec3 kiln_rigid_undo(const kiln_rigid *r, kiln_vec3 p)
{
    kiln_vec3 q = kiln_v3_sub(kiln_v3_sub(p, r->shift), r->centre);
    return kiln_v3_add(kiln_m3_apply(kiln_m3_transpose(r->rotation), q), r->centre);
}

kiln_status kiln_motion_of_obstacle(const kiln_scene_obstacle *obstacle, double time,
                                    kiln_rigid *out, kiln_error *error)
{
    KILN_TRY(kiln_motion_at(&obstacle->motion, time, out, error));
    if (obstacle->motion.kind != KILN_MOTION_FOLLOW)
        return KILN_OK;
    kiln_circumstances at = {.time = time, .material = obstacle->shape.point};
    kiln_vec3 place;
    KILN_TRY(kiln_quantity_vector_at(&obstacle->motion.place, &at, &place, error));
    out->shift = kiln_v3_sub(place, obstacle->shape.point);
    return KILN_OK;
}

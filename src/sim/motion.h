/* Motions that the scene prescribes: of obstacles and of what is held. */
#ifndef KILN_SIM_MOTION_H
#define KILN_SIM_MOTION_H

#include "sim/scene.h"

kiln_status kiln_quantity_vector_at(const kiln_quantity *quantity, const kiln_circumstances *at,
                                    kiln_vec3 *out, kiln_error *error);

/* A rigid motion: x -> rotation (x - centre) + centre + shift. */
typedef struct kiln_rigid {
    kiln_mat3 rotation;
    kiln_vec3 centre, shift;
    double angle;
} kiln_rigid;

kiln_status kiln_motion_at(const kiln_motion *motion, double time, kiln_rigid *out,
                           kiln_error *error);
/* An obstacle that follows a function has its own reference point at that place. */
kiln_status kiln_motion_of_obstacle(const kiln_scene_obstacle *obstacle, double time,
                                    kiln_rigid *out, kiln_error *error);
kiln_vec3 kiln_rigid_apply(const kiln_rigid *rigid, kiln_vec3 p);
kiln_vec3 kiln_rigid_undo(const kiln_rigid *rigid, kiln_vec3 p);

#endif

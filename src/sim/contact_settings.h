/* Bodies against each other and themselves: the scene's `contact`. */
#ifndef KILN_SIM_CONTACT_SETTINGS_H
#define KILN_SIM_CONTACT_SETTINGS_H

#include "base/array.h"
#include "base/schema.h"

/* What of a body keeps off obstacles. */
typedef enum kiln_obstacle_mode {
    KILN_OBSTACLES_AUTO,
    KILN_OBSTACLES_SURFACES, /* all of its surface, as off other bodies */
    KILN_OBSTACLES_POINTS    /* its vertices, which are put on the obstacle */
} kiln_obstacle_mode;

/* What pairs of two bodies count. */
typedef enum kiln_contact_weights {
    KILN_WEIGHTS_AREA, /* each its area */
    KILN_WEIGHTS_ONCE  /* together each place of a surface once */
} kiln_contact_weights;

/* What holds for two bodies, a body and an obstacle, or what is made of two materials. */
typedef struct kiln_scene_pair {
    kiln_said said;
    char a[KILN_NAME_SIZE], b[KILN_NAME_SIZE];
    double friction; /* NaN: as without the pair */
    bool off;        /* they pass through each other */
} kiln_scene_pair;

/* Bodies against each other and themselves, by repulsion and continuous detection (VPF 5). */
typedef struct kiln_scene_contact {
    kiln_said said;
    bool bodies, self;
    kiln_obstacle_mode obstacles;
    double thickness; /* m; 0: preset (sim/contact_sizes.h) */
    double stiffness; /* of the repulsion, relative to the bodies': 1 */
    kiln_contact_weights weights;
    bool adaptive; /* more than that where surfaces are pressed very near to each other */
    double friction;
    bool steady; /* what slides with friction is damped: no flutter */
    KILN_ARRAY_OF(kiln_scene_pair)
    pairs; /* owned by the scene; sim/pairs.h says what they mean together */
} kiln_scene_contact;

kiln_scene_contact kiln_contact_default_settings(void); /* bodies pass through each other */
extern const kiln_schema kiln_contact_schema, kiln_pair_schema;

#endif

/* Bodies against each other and themselves: the scene's `contact`. */
#ifndef KILN_SIM_CONTACT_SETTINGS_H
#define KILN_SIM_CONTACT_SETTINGS_H

#include "base/schema.h"

/* What of a body keeps off obstacles. */
typedef enum kiln_obstacle_mode {
    KILN_OBSTACLES_AUTO,
    KILN_OBSTACLES_SURFACES, /* all of its surface, as off other bodies */
    KILN_OBSTACLES_POINTS    /* its vertices, which are put on the obstacle */
} kiln_obstacle_mode;

/* Bodies against each other and themselves, by repulsion and continuous detection (VPF 5). */
typedef struct kiln_scene_contact {
    kiln_said said;
    bool bodies, self;
    kiln_obstacle_mode obstacles;
    double thickness; /* m; 0: a tenth of the mean edge of the bodies' meshes */
    double stiffness; /* of the repulsion, relative to the bodies': 1 */
    double friction;
} kiln_scene_contact;

kiln_scene_contact kiln_contact_default_settings(void); /* bodies pass through each other */
extern const kiln_schema kiln_contact_schema;

#endif

/* How matter looks that light goes through: water, honey, glass. A ray is bent where it enters and
 * leaves (Snell), part of it is thrown back (Fresnel), and what is on its way inside takes its
 * colour away (Beer). It ends at the sky, the ground or an obstacle. */
#ifndef KILN_APP_RENDER_LOOK_H
#define KILN_APP_RENDER_LOOK_H

#include "app/render_camera.h"
#include "app/render_trace.h"

typedef struct kiln_look {
    const char *name;
    double index;    /* of refraction */
    kiln_rgb absorb; /* per unit of the picture (half of what is shown), not per metre: a drop of 1
                        mm is to look like water as a lake does */
    float shade;     /* of its shadow on the ground: what it keeps back */
} kiln_look;

/* By its name; NULL: clay, which light does not go through. */
kiln_status kiln_look_find(const char *name, const kiln_look **out, kiln_error *error);

/* What rays end at. */
typedef struct kiln_look_stage {
    const kiln_look *look;
    const kiln_render_mesh *mesh;
    const kiln_tracer *tracer;
    const kiln_camera *camera;
    int height;           /* pixels */
    bool ground;          /* there is one, at the mesh's floor */
    kiln_rgb top, bottom; /* of the backdrop */
    kiln_vec3 key;        /* towards the key light, unit */
} kiln_look_stage;

/* Light from a place behind which a body was hit along a direction, which is what the eye receives;
 * `hit` is of a triangle of a body. */
kiln_rgb kiln_look_through(const kiln_look_stage *stage, kiln_vec3 from, kiln_vec3 direction,
                           const kiln_hit *hit);
/* Of the key light that comes to a place: 1 where nothing is in its way. */
float kiln_look_lit(const kiln_look_stage *stage, kiln_vec3 from, kiln_vec3 to_light);

#endif

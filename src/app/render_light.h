/* Light arriving at the surface and at the ground, sample by sample. Each pixel keeps what hit the
 * mesh and what hit the ground apart, and light apart from colour, so that the light can be
 * smoothed (render_filter.h) without blurring colours, edges or outlines. */
#ifndef KILN_APP_RENDER_LIGHT_H
#define KILN_APP_RENDER_LIGHT_H

#include "app/render_camera.h"
#include "app/render_look.h"

typedef struct kiln_light_pixel {
    float coverage;  /* share of samples that hit the mesh */
    kiln_rgb albedo; /* mean over those, edges drawn in */
    float light[5];  /* key light, sky light (r, g, b), gloss: means over those */
    float normal[3], position[3];
    float clear;    /* share of samples that hit bodies which light goes through */
    kiln_rgb seen;  /* there */
    float ground;   /* share of samples that hit the ground */
    float openness; /* light there, 1: nothing in the way */
} kiln_light_pixel;

typedef struct kiln_light_job {
    const kiln_render_mesh *mesh;
    const kiln_tracer *tracer;
    const kiln_camera *camera;
    int width, height, samples;
    bool edges, ground;
    const kiln_look *look;    /* of bodies; NULL: clay */
    kiln_rgb top, bottom;     /* of the backdrop */
    float edge_width;         /* pixels */
    float (*screen)[2];       /* [vertex] place in the picture */
    uint8_t *outline;         /* [triangle] bit k: nothing of the mesh is seen beyond its edge k */
    kiln_light_pixel *pixels; /* [height][width] */
} kiln_light_job;

void kiln_light_render(kiln_context *context, kiln_light_job *job);

/* What the eye receives for filtered light on a colour, before tone mapping. */
kiln_rgb kiln_light_shade(kiln_rgb albedo, const float light[5]);

#endif

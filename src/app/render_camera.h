/* A perspective camera that frames what it is shown. */
#ifndef KILN_APP_RENDER_CAMERA_H
#define KILN_APP_RENDER_CAMERA_H

#include "geom/vec3.h"

#include <stddef.h>

typedef struct kiln_camera {
    kiln_vec3 eye, forward, right, up;
    double center_x, center_y; /* pixel on the optical axis */
    double scale;              /* tangent per pixel */
} kiln_camera;

/* The smallest distance from which all points added are seen, found without keeping them. */
typedef struct kiln_camera_fit {
    kiln_camera camera;
    double across, along;            /* tangents of the frame inside its margin */
    double right, left, top, bottom; /* see render_camera.c */
} kiln_camera_fit;

kiln_camera_fit kiln_camera_fit_begin(double azimuth, double elevation, double frame_width,
                                      double height);
void kiln_camera_fit_add(kiln_camera_fit *fit, kiln_vec3 point);
/* At least one point must have been added. */
kiln_camera kiln_camera_fit_end(const kiln_camera_fit *fit);

/* Looks from (azimuth, elevation) so that all points fit the left `frame_width` by `height` pixels
 * with a margin, as large as they can be. */
kiln_camera kiln_camera_frame(const float (*points)[3], size_t count, double azimuth,
                              double elevation, double frame_width, double height);

/* Direction of the ray through a place in the picture, not normalised; its forward part is 1. */
kiln_vec3 kiln_camera_ray(const kiln_camera *camera, double x, double y);

/* Place of a point in the picture. It must be in front of the camera. */
void kiln_camera_project(const kiln_camera *camera, kiln_vec3 point, double *x, double *y);

#endif

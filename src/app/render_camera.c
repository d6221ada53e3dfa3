#include "app/render_camera.h"

static const double half_height_tangent = 0.21; /* a long lens: 24 degrees, little distortion */
static const double margin = 0.08;              /* of the frame, on every side */
static const double degree = 0.017453292519943295;

kiln_camera_fit kiln_camera_fit_begin(double azimuth, double elevation, double frame_width,
                                      double height)
{
    double a = azimuth * degree, e = elevation * degree;
    kiln_vec3 back = kiln_v3(cos(e) * cos(a), cos(e) * sin(a), sin(e));
    kiln_camera camera = {.forward = kiln_v3_scale(back, -1.0),
                          .right = kiln_v3(-sin(a), cos(a), 0.0),
                          .center_x = 0.5 * frame_width,
                          .center_y = 0.5 * height,
                          .scale = half_height_tangent / (0.5 * height)};
    camera.up = kiln_v3_cross(camera.right, camera.forward);
    double inner = 1.0 - 2.0 * margin;
    return (kiln_camera_fit){.camera = camera,
                             .across = inner * camera.scale * 0.5 * frame_width,
                             .along = inner * half_height_tangent,
                             .right = -HUGE_VAL,
                             .left = -HUGE_VAL,
                             .top = -HUGE_VAL,
                             .bottom = -HUGE_VAL};
}

/* Along one axis of the frame points at (s, depth) fit |s - eye_s| <= t (depth - eye_depth): the
 * largest s - t depth and -s - t depth fix where the eye is centred, and how far back it must be at
 * least. */
void kiln_camera_fit_add(kiln_camera_fit *fit, kiln_vec3 point)
{
    double depth = kiln_v3_dot(point, fit->camera.forward);
    double s = kiln_v3_dot(point, fit->camera.right), t = kiln_v3_dot(point, fit->camera.up);
    fit->right = fmax(fit->right, s - fit->across * depth);
    fit->left = fmax(fit->left, -s - fit->across * depth);
    fit->top = fmax(fit->top, t - fit->along * depth);
    fit->bottom = fmax(fit->bottom, -t - fit->along * depth);
}

kiln_camera kiln_camera_fit_end(const kiln_camera_fit *fit)
{
    kiln_camera camera = fit->camera;
    double depth = fmin(-(fit->right + fit->left) / (2 * fit->across),
                        -(fit->top + fit->bottom) / (2 * fit->along));
    camera.eye = kiln_v3_scale(camera.forward, depth);
    camera.eye = kiln_v3_madd(camera.eye, 0.5 * (fit->right - fit->left), camera.right);
    camera.eye = kiln_v3_madd(camera.eye, 0.5 * (fit->top - fit->bottom), camera.up);
    return camera;
}

kiln_camera kiln_camera_frame(const float (*points)[3], size_t count, double azimuth,
                              double elevation, double frame_width, double height)
{
    kiln_camera_fit fit = kiln_camera_fit_begin(azimuth, elevation, frame_width, height);
    for (size_t i = 0; i < count; i++)
        kiln_camera_fit_add(&fit, kiln_v3(points[i][0], points[i][1], points[i][2]));
    return kiln_camera_fit_end(&fit);
}

kiln_vec3 kiln_camera_ray(const kiln_camera *camera, double x, double y)
{
    kiln_vec3 d =
        kiln_v3_madd(camera->forward, (x - camera->center_x) * camera->scale, camera->right);
    return kiln_v3_madd(d, (camera->center_y - y) * camera->scale, camera->up);
}

void kiln_camera_project(const kiln_camera *camera, kiln_vec3 point, double *x, double *y)
{
    kiln_vec3 d = kiln_v3_sub(point, camera->eye);
    double depth = kiln_v3_dot(d, camera->forward) * camera->scale;
    *x = camera->center_x + kiln_v3_dot(d, camera->right) / depth;
    *y = camera->center_y - kiln_v3_dot(d, camera->up) / depth;
}

#include "app/render_camera.h"

static const double half_height_tangent = 0.21; /* a long lens: 24 degrees, little distortion */
static const double margin = 0.08;              /* of the frame, on every side */
static const double degree = 0.017453292519943295;

/* One axis of the frame: points at (s, depth) fit |s - eye_s| <= t (depth - eye_depth). The two
 * binding points fix where the eye is centred, and how far back it must be at least. */
typedef struct fit {
    double right, left; /* max of s - t depth, and of -s - t depth */
} fit;

static void fit_add(fit *f, double s, double depth, double t)
{
    f->right = fmax(f->right, s - t * depth);
    f->left = fmax(f->left, -s - t * depth);
}

kiln_camera kiln_camera_frame(const float (*points)[3], size_t count, double azimuth,
                              double elevation, double frame_width, double height)
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
    double tx = inner * camera.scale * 0.5 * frame_width, ty = inner * half_height_tangent;
    fit across = {-HUGE_VAL, -HUGE_VAL}, along = across;
    for (size_t i = 0; i < count; i++) {
        kiln_vec3 p = kiln_v3(points[i][0], points[i][1], points[i][2]);
        double depth = kiln_v3_dot(p, camera.forward);
        fit_add(&across, kiln_v3_dot(p, camera.right), depth, tx);
        fit_add(&along, kiln_v3_dot(p, camera.up), depth, ty);
    }
    double depth =
        fmin(-(across.right + across.left) / (2 * tx), -(along.right + along.left) / (2 * ty));
    camera.eye = kiln_v3_scale(camera.forward, depth);
    camera.eye = kiln_v3_madd(camera.eye, 0.5 * (across.right - across.left), camera.right);
    camera.eye = kiln_v3_madd(camera.eye, 0.5 * (along.right - along.left), camera.up);
    return camera;
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

/* A physical case, run as a user would run it and seen in the frame of reference the case is
 * written in. validation.md asks that every answer also holds rotated, renumbered and in other
 * units: a case is written once, in plain coordinates and SI; a view turns what goes into the
 * scene, and the trial turns what the run wrote back, so that one checker serves all views. */
#ifndef KILN_VALIDATION_TRIAL_H
#define KILN_VALIDATION_TRIAL_H

#include "sim/run.h"
#include "validation/validation.h"

typedef struct kiln_view {
    const char *name;
    kiln_mat3 rotation;
    double length, mass, time; /* of one plain metre, kilogram, second in the units of the scene */
    uint64_t shuffle;          /* seed of new numbers for points and tets; 0: as they are */
} kiln_view;

/* plain, rotated, renumbered, rescaled; NULL past the last. */
const kiln_view *kiln_view_at(size_t row);

typedef struct kiln_trial {
    kiln_context *context;
    const kiln_view *view;
    kiln_scene scene;
    kiln_soup result; /* last frame as read back from its file, in the plain frame and SI */
    /* Called before the first step, e.g. to give bdf2 a history; NULL: nothing to do. */
    kiln_status (*prepare)(struct kiln_trial *trial, kiln_world *world, kiln_error *error);
    /* With each frame read back into `result`; NULL: only the last is. */
    void (*on_frame)(struct kiln_trial *trial);
    /* Likewise with the begin and every step that was made, between frames too, and its statistics
     * in the units of the scene. */
    kiln_status (*on_step)(struct kiln_trial *trial, const kiln_stats *stats, kiln_error *error);
    void *user;
    kiln_pressure_rule pressure; /* of liquids that are added */
    char folder[256];
} kiln_trial;

void kiln_trial_begin(kiln_trial *trial, kiln_context *context, const kiln_view *view);
void kiln_trial_end(kiln_trial *trial);

/* Plain to the scene's frame: a number of dimension length^l mass^m time^t, and vectors. */
double kiln_trial_number(const kiln_trial *trial, double value, int l, int m, int t);
kiln_vec3 kiln_trial_vector(const kiln_trial *trial, kiln_vec3 value, int l, int m, int t);
kiln_vec3 kiln_trial_vector_back(const kiln_trial *trial, kiln_vec3 value, int l, int m, int t);

kiln_status kiln_trial_material(kiln_trial *trial, const char *model, double young, double poisson,
                                double density, kiln_error *error);
/* kg/m^3, Pa s, N/m; the names of kiln_pressure_rule. */
extern const char *const kiln_trial_pressures[3];
kiln_status kiln_trial_liquid(kiln_trial *trial, double density, double viscosity,
                              double surface_tension, kiln_error *error);
/* Takes the plain mesh; its material is the last one added. */
kiln_status kiln_trial_body(kiln_trial *trial, kiln_soup *take_mesh, kiln_error *error);
/* A box of nx x ny x nz cells from the origin; patches 1 -x, 2 +x, 3 -y, 4 +y, 5 -z, 6 +z. */
kiln_status kiln_trial_box(kiln_trial *trial, kiln_vec3 size, const int cells[3],
                           const char *pattern, kiln_error *error);

/* Selections: a patch of the surface, a ball about a plain point, what is not above a plain height,
 * all vertices of the surface. */
kiln_status kiln_trial_pick_patch(kiln_trial *trial, int patch, kiln_picks *out, kiln_error *error);
kiln_status kiln_trial_pick_ball(kiln_trial *trial, kiln_vec3 centre, double radius,
                                 kiln_picks *out, kiln_error *error);
kiln_status kiln_trial_pick_below(kiln_trial *trial, double height, kiln_picks *out,
                                  kiln_error *error);
kiln_status kiln_trial_pick_surface(kiln_trial *trial, kiln_picks *out, kiln_error *error);
kiln_status kiln_trial_pick_all(kiln_trial *trial, kiln_picks *out, kiln_error *error);

/* Plain place of a vertex from its plain material position. `user` must outlive the run. */
typedef struct kiln_trial_map {
    const kiln_trial *trial;
    kiln_vec3 (*place)(const void *user, kiln_vec3 u, double time);
    const void *user;
    int l, m, t; /* dimension of the result; a place has 1, 0, 0 */
} kiln_trial_map;
kiln_quantity kiln_trial_quantity(kiln_trial_map *map);

/* Holds the components (bits x 1, y 2, z 4, of the plain axes); `map` NULL: where they are. Takes
 * the picks. */
kiln_status kiln_trial_hold(kiln_trial *trial, kiln_picks *take_where, int components,
                            kiln_trial_map *map, kiln_error *error);
/* Plain amount: N/m^2 for tractions, N/m^3 for body loads. Takes the picks. */
kiln_status kiln_trial_load(kiln_trial *trial, kiln_load_kind kind, kiln_picks *take_where,
                            kiln_quantity amount, kiln_error *error);

/* So many steps of dt seconds; gravity along -z, m/s^2. */
void kiln_trial_set_steps(kiln_trial *trial, kiln_integrator integrator, double dt, int steps);
void kiln_trial_set_gravity(kiln_trial *trial, double g);
/* Slip at the walls of a box: patches 1 to 5, all but the top. */
kiln_status kiln_trial_hold_walls(kiln_trial *trial, kiln_error *error);

/* Makes the world and hands it to `use` instead of running it. */
kiln_status kiln_trial_build(kiln_trial *trial,
                             kiln_status (*use)(kiln_trial *trial, kiln_world *world,
                                                kiln_error *error),
                             kiln_error *error);

/* One step of it towards the scene's duration; giving up is an error with its diagnosis. */
kiln_status kiln_trial_step(const kiln_trial *trial, kiln_world *world, kiln_stats *stats,
                            kiln_error *error);

/* Runs to the scene's duration. A run that gives up is an error with its diagnosis. */
kiln_status kiln_trial_run(kiln_trial *trial, kiln_error *error);

/* Of the result: plain material and world position of a point, a point field by name (NULL: none),
 * deformation gradient and material volume of a tet. */
kiln_vec3 kiln_trial_u(const kiln_trial *trial, size_t point);
kiln_vec3 kiln_trial_x(const kiln_trial *trial, size_t point);
const kiln_vec3 *kiln_trial_field(const kiln_trial *trial, const char *name);
kiln_mat3 kiln_trial_gradient(const kiln_trial *trial, size_t tet, double *volume);

/* Area-weighted mean over the result's faces with that tag of f(point), faces by material area. */
kiln_vec3 kiln_trial_patch_mean(const kiln_trial *trial, int patch);

#endif

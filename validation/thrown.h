/* A body thrown or laid on an obstacle, looked at after every step: what the cases of contact have
 * in common. */
#ifndef KILN_VALIDATION_THROWN_H
#define KILN_VALIDATION_THROWN_H

#include "validation/trial.h"

/* In SI and plain axes. The obstacle is solid below z = 0. */
typedef struct kiln_thrown {
    kiln_integrator integrator;
    double dt, duration;
    const char *shape, *settings; /* measure/fixture.h */
    double young, poisson, density, viscosity;
    kiln_vec3 place, velocity, gravity;
    double thickness, friction;
    double slip_speed; /* 0: the preset */
    const char *slab;  /* settings of a box about the z axis whose surface is it; NULL: a plane */
} kiln_thrown;

typedef struct kiln_moment {
    double time, h, energy;
    kiln_vec3 centre, velocity; /* of the mass */
    kiln_vec3 force;            /* of the obstacle, mean over the step before */
} kiln_moment;
typedef KILN_ARRAY_OF(kiln_moment)
kiln_moments;

/* Obstacles: below the plane z = height, and the surface of a box whose top is there. */
kiln_status kiln_trial_plane(kiln_trial *trial, double height, double friction, kiln_error *error);
kiln_status kiln_trial_slab(kiln_trial *trial, const char *settings, double height, double friction,
                            kiln_error *error);
/* A generated body at a plain place; turned about its origin before. */
kiln_status kiln_trial_shape(kiln_trial *trial, const char *shape, const char *settings,
                             kiln_vec3 place, kiln_error *error);
kiln_status kiln_trial_turned_shape(kiln_trial *trial, const char *shape, const char *settings,
                                    kiln_mat3 turn, kiln_vec3 place, kiln_error *error);
/* The begin, and every step until the scene's end; density in kg/m^3. Appends to `moments`. */
kiln_status kiln_trial_follow(const kiln_trial *trial, kiln_world *world, double density,
                              kiln_moments *moments, kiln_error *error);

/* All of it; the moments are the caller's to free. */
kiln_status kiln_throw(kiln_validation *validation, const kiln_view *view, const kiln_thrown *what,
                       kiln_moments *moments, kiln_error *error);

#endif

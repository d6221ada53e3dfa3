/* A scene as the simulation takes it: bodies with their meshes already made, materials, what is
 * held, loads, obstacles, solver and output settings. io/scene reads it from Lua; programs and
 * tests may fill it directly. SI units.
 *
 * Names are owned copies; the meshes (soups) belong to the scene; functions are borrowed from
 * whoever made them (the Lua state) and must outlive it. */
#ifndef KILN_SIM_SCENE_H
#define KILN_SIM_SCENE_H

#include "contact/obstacle.h"
#include "fem/material.h"
#include "mesh/select.h"
#include "step/pace.h"
#include "step/solid.h"

/* What a function may look at. Quantities that do not apply are 0. */
typedef struct kiln_circumstances {
    double time;        /* s */
    kiln_vec3 material; /* u, m */
    kiln_vec3 world;    /* x, m */
    double stress;      /* von Mises, Pa */
    double strain_rate; /* Frobenius norm of the rate of deformation, 1/s */
    double temperature; /* K */
} kiln_circumstances;

/* A number, vector or matrix that is constant or a function. Functions are called on one thread, in
 * a fixed order. Results that are not finite numbers are errors that name the place in the scene.
 */
typedef struct kiln_quantity {
    double constant[3];
    void *self; /* NULL together with `evaluate`: constant */
    kiln_status (*evaluate)(void *self, const kiln_circumstances *at, double *out, int components,
                            kiln_error *error);
} kiln_quantity;

kiln_quantity kiln_quantity_number(double value);
kiln_quantity kiln_quantity_vector(kiln_vec3 value);
kiln_status kiln_quantity_get(const kiln_quantity *quantity, const kiln_circumstances *at,
                              double *out, int components, kiln_error *error);

/* A selection: a tree in an array, root last. Points are looked at in material space at the start
 * of the run unless the selector says otherwise. */
typedef enum kiln_pick_kind {
    KILN_PICK_SELECTOR,
    KILN_PICK_AND,
    KILN_PICK_OR,
    KILN_PICK_MINUS,
    KILN_PICK_NOT
} kiln_pick_kind;
typedef struct kiln_pick {
    kiln_pick_kind kind;
    kiln_selector selector;
    uint32_t a, b; /* operands: earlier nodes */
} kiln_pick;
typedef KILN_ARRAY_OF(kiln_pick)
kiln_picks;

/* Where in the scene text something was said, for messages that come later: "bodies[2].material",
 * file and line. */
typedef struct kiln_said {
    char path[96];
    int line;
} kiln_said;

/* A material with parameters that may be functions; `base.mu` and `base.lambda` are used where
 * young and poisson are constant. */
typedef struct kiln_scene_material {
    kiln_said said;
    char name[KILN_NAME_SIZE];
    kiln_material base;
    kiln_quantity young, poisson, density, viscosity;
    bool varies; /* young, poisson or viscosity is a function: evaluated tet by tet, each step */
    /* In place of base.plastic's numbers where one of them is a function, likewise. Of their
     * circumstances, `stress` is in the norm that yields. */
    kiln_quantity yield, rate, hardening;
    bool flow_varies;
} kiln_scene_material;

typedef struct kiln_scene_region {
    kiln_said said;
    kiln_picks where;  /* tets of the body; empty with tag >= 0: those with the file's tag */
    int32_t tag;       /* -1: by `where` */
    uint32_t material; /* index */
} kiln_scene_region;

typedef struct kiln_scene_body {
    kiln_said said;
    char name[KILN_NAME_SIZE];
    kiln_soup mesh; /* placed: material coordinates */
    uint32_t material;
    KILN_ARRAY_OF(kiln_scene_region)
    regions;                /* later ones win */
    kiln_quantity velocity; /* at the start; function of position allowed */
    kiln_vec3 spin;         /* rad/s about the body's centre of mass, added to velocity */
    kiln_quantity position; /* world position from material position; constant NaN: the same */
    bool tolerate_inverted; /* may start with inverted tets; no step is refused for having some */
    kiln_soup surface; /* fine triangles that hang in the body, material coordinates; none: empty */
} kiln_scene_body;

/* How held vertices move. Places are relative to where the vertex was at `from`. */
typedef enum kiln_motion_kind {
    KILN_MOTION_STILL,
    KILN_MOTION_TRANSLATE, /* by `shift`(t) */
    KILN_MOTION_ROTATE,    /* by `angle`(t) about `axis` through `centre`, then `shift`(t) */
    KILN_MOTION_FOLLOW     /* to `place`(t, u), or along with an obstacle */
} kiln_motion_kind;

typedef struct kiln_motion {
    kiln_motion_kind kind;
    kiln_quantity shift, angle, place;
    kiln_vec3 centre, axis;
    int32_t obstacle; /* follow: index, -1: by `place` */
} kiln_motion;

typedef struct kiln_scene_hold {
    kiln_said said;
    char name[KILN_NAME_SIZE];
    int32_t body; /* -1: all */
    kiln_picks where;
    uint8_t components; /* bits x 1, y 2, z 4 */
    kiln_mat3 axes; /* rows: the directions x, y, z mean here, orthonormal; all zero: the world's */
    kiln_motion motion;
    double from, until; /* s; until INFINITY: never released */
} kiln_scene_hold;

typedef enum kiln_load_kind {
    KILN_LOAD_FORCE,    /* total force, shared equally by the vertices, N */
    KILN_LOAD_TRACTION, /* dead, per material area of the faces, N/m^2 */
    KILN_LOAD_PRESSURE, /* follower, Pa */
    KILN_LOAD_BODY      /* per volume of the tets, N/m^3 */
} kiln_load_kind;

typedef struct kiln_scene_load {
    kiln_said said;
    kiln_load_kind kind;
    int32_t body;
    kiln_picks where;
    kiln_quantity amount;
    double from, until;
} kiln_scene_load;

typedef struct kiln_scene_obstacle {
    kiln_said said;
    char name[KILN_NAME_SIZE];
    kiln_obstacle_shape shape;
    double friction;
    kiln_motion motion;
} kiln_scene_obstacle;

typedef enum kiln_remesh_method {
    KILN_REMESH_NONE,
    KILN_REMESH_LOCAL, /* repairs of bad tets, splits and contractions (DLR) */
    KILN_REMESH_GLOBAL /* a new mesh for all when the old has become bad; bodies that touch merge
                          (VPF) */
} kiln_remesh_method;

/* How the mesh follows. Sources of sizes that are not 0 are intersected. */
typedef struct kiln_scene_remesh {
    kiln_said said;
    kiln_remesh_method method;
    kiln_space space; /* the space that is meshed. World: u = x, all history is in the offsets;
                         always with KILN_REMESH_GLOBAL */
    double quality;   /* tets below are repaired: 0.15 */
    int every; /* steps between looks where sizes are asked for: 1. Where none are, bad tets are
                  repaired in the step they become so */

    double size;               /* edges in the material, m */
    double deformation;        /* edges in the world, m (F'F / h^2) */
    double strain;             /* kappa of DLR eq. 7, 1/m: finer where the deformation changes */
    bool strain_printed;       /* the equation as printed */
    double curvature;          /* radians by which an edge along the surface may turn */
    double size_min, size_max; /* m; 0: none, of the start mesh's mean edge */
    bool isotropic;            /* of a metric only the finest size counts */
    double gradation;          /* ratio of sizes one edge apart: 1.5; 0: any */
    double most_tets;          /* no splits beyond; 0: no limit */

    double condition;        /* global: remesh when the worst basis matrix passes it: 12 */
    double condition_change; /* or has become worse by this factor since the last time: 3 */
    double merge; /* global: surfaces closer than this part of the size there become one: 0.3 */
} kiln_scene_remesh;

/* Bodies against each other and themselves, by repulsion and continuous detection (VPF 5). */
typedef struct kiln_scene_contact {
    kiln_said said;
    bool bodies, self;
    double thickness; /* m; 0: a tenth of the mean edge of the bodies' meshes */
    double stiffness; /* of the repulsion, relative to the bodies': 1 */
    double friction;
} kiln_scene_contact;

typedef struct kiln_scene_output {
    double frame;      /* s between frames; 0: only first and last */
    double checkpoint; /* s of simulated time between checkpoints; 0: by wall clock, 60 s */
    uint32_t fields;   /* bit per kiln_element_output */
    bool velocity, material_position, reaction, contact; /* vertex fields */
    bool obstacles;                                      /* surfaces beside the frames */
    bool plastic_strain, hardening;                      /* tet fields */
} kiln_scene_output;

typedef struct kiln_scene {
    kiln_context *context; /* borrowed */
    char name[KILN_NAME_SIZE];
    char file[256]; /* for messages */
    double duration;
    kiln_solid_options solid;
    int load_steps; /* static */
    kiln_pace_limits pace;
    kiln_quantity gravity;
    kiln_quantity velocity_field; /* NULL function and zero constant: none. Moves every vertex */
    bool has_velocity_field;
    double velocity_until; /* s, of the field; INFINITY: never released */
    KILN_ARRAY_OF(kiln_scene_material)
    materials;
    KILN_ARRAY_OF(kiln_scene_body)
    bodies;
    KILN_ARRAY_OF(kiln_scene_hold)
    holds;
    KILN_ARRAY_OF(kiln_scene_load)
    loads;
    KILN_ARRAY_OF(kiln_scene_obstacle)
    obstacles;
    kiln_scene_remesh remesh;
    kiln_scene_contact contact;
    kiln_scene_output output;
} kiln_scene;

void kiln_scene_init(kiln_scene *scene, kiln_context *context); /* defaults */
void kiln_scene_free(kiln_scene *scene);

/* Calls every function of the scene at the begin, the middle and the end of its time, at a point of
 * the body it belongs to: what is wrong with them at once, and not after hours. */
kiln_status kiln_scene_try(const kiln_scene *scene, kiln_error *error);

#endif

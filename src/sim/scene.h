/* A scene as the simulation takes it: bodies with their meshes already made, materials, what is
 * held, loads, obstacles, solver and output settings. io/scene reads it from Lua; programs and
 * tests may fill it directly. SI units.
 *
 * Names are owned copies; the meshes (soups) belong to the scene; functions are borrowed from
 * whoever made them (the Lua state) and must outlive it. */
#ifndef KILN_SIM_SCENE_H
#define KILN_SIM_SCENE_H

#include "contact/obstacle.h"
#include "mesh/select.h"
#include "sim/contact_settings.h"
#include "sim/material_settings.h"
#include "sim/output_settings.h"
#include "sim/remesh_settings.h"
#include "step/pace.h"
#include "step/solid.h"

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

typedef struct kiln_scene_region {
    kiln_said said;
    kiln_picks where;  /* tets of the body; empty with tag >= 0: those with the file's tag */
    int32_t tag;       /* -1: by `where` */
    uint32_t material; /* index */
} kiln_scene_region;

/* Surface faces that get a tag, whatever the file says. */
typedef struct kiln_scene_patch {
    kiln_said said;
    kiln_picks where; /* faces of the body; empty: all */
    int32_t tag;
} kiln_scene_patch;

typedef struct kiln_scene_body {
    kiln_said said;
    char name[KILN_NAME_SIZE];
    kiln_soup mesh; /* placed: material coordinates */
    uint32_t material;
    KILN_ARRAY_OF(kiln_scene_region)
    regions; /* later ones win */
    KILN_ARRAY_OF(kiln_scene_patch)
    patches;                   /* later ones win */
    kiln_quantity velocity;    /* at the start; function of position allowed */
    kiln_vec3 spin;            /* rad/s about the body's centre of mass, added to velocity */
    kiln_quantity temperature; /* K, at the start; constant NaN: the scene's */
    kiln_quantity position;    /* world position from material position; constant NaN: the same */
    bool tolerate_inverted; /* may start with inverted tets; no step is refused for having some */
    double clearance;  /* m, what its surface keeps from others beside the contact's thickness */
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
    KILN_LOAD_BODY,     /* per volume of the tets, N/m^3 */
    /* Those from here on are of heat. */
    KILN_LOAD_HEAT,       /* per volume of the tets, W/m^3 */
    KILN_LOAD_FLUX,       /* into the faces, per area, W/m^2 */
    KILN_LOAD_FILM,       /* between the faces and what is at `outside`, W/(m^2 K) */
    KILN_LOAD_TEMPERATURE /* of the vertices, K */
} kiln_load_kind;

typedef struct kiln_scene_load {
    kiln_said said;
    kiln_load_kind kind;
    int32_t body;
    kiln_picks where;
    kiln_quantity amount;
    kiln_quantity outside; /* film: K */
    double from, until;
} kiln_scene_load;

typedef struct kiln_scene_obstacle {
    kiln_said said;
    char name[KILN_NAME_SIZE];
    kiln_obstacle_shape shape;
    double friction;
    double contact_angle; /* degrees; kiln_wetting */
    double drag;
    bool no_slip;
    kiln_quantity temperature; /* K; constant NaN: takes and gives no heat */
    double conductance;        /* W/(m^2 K), where it is touched */
    kiln_motion motion;
} kiln_scene_obstacle;

/* What is looked at in every step: a body as a whole, a point of the material, or what a body does
 * to another. */
typedef struct kiln_scene_probe {
    kiln_said said;
    char name[KILN_NAME_SIZE]; /* "": by its body, or its number */
    int32_t body;              /* -1: of any body; points only */
    kiln_vec3 point;           /* material place, m; NaN: the body as a whole */
    uint32_t with;             /* in place of both what another body, counted from 1, does to it */
} kiln_scene_probe;

/* Settings of a module that the scene knows only by its schema. */
typedef struct kiln_scene_block {
    const kiln_schema *schema; /* borrowed */
    void *settings;            /* schema->size bytes */
} kiln_scene_block;

/* Of the duration: no step is shorter, so that the clock can tell one from the next. */
#define KILN_SHORTEST_TRY 1e-15

/* Made of what its steppers and modules own, each with a schema beside it; scene_schema.c puts them
 * together. */
typedef struct kiln_scene {
    kiln_context *context; /* borrowed */
    char name[KILN_NAME_SIZE];
    char file[256]; /* for messages */
    double duration;
    bool goes_on; /* from a state of before: where surfaces are at the start does not matter */
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
    KILN_ARRAY_OF(kiln_scene_probe)
    probes;
    kiln_scene_remesh remesh;
    kiln_scene_contact contact;
    kiln_scene_output output;
    KILN_ARRAY_OF(kiln_scene_block)
    blocks; /* of modules that have no member here */
    /* Those the world is made of (sim/module.h), ended by NULL; borrowed. NULL: Kiln's own. */
    const struct kiln_module *const *modules;
} kiln_scene;

void kiln_scene_init(kiln_scene *scene, kiln_context *context); /* defaults */
void kiln_scene_free(kiln_scene *scene);

/* Settings of a module, by its schema (sim/scene_schema.h): NULL when the scene does not speak of
 * it. */
const void *kiln_scene_settings(const kiln_scene *scene, const kiln_schema *schema);
/* Adds them, with their presets, owned by the scene; there are none yet. What rows of the schema
 * own (selections) belongs to the scene too. */
kiln_status kiln_scene_add_settings(kiln_scene *scene, const kiln_schema *schema, void **out,
                                    kiln_error *error);

/* What is wrong between the parts of a complete scene. As kiln_schema.finish says it, the key from
 * the scene on ("contact.thickness"), and the line where that is known. */
kiln_status kiln_scene_check(const kiln_scene *scene, kiln_error *error);

/* The mass matrix the scene means. Where the mesh changes it is the consistent one, whose inertia
 * does not depend on the mesh. */
kiln_mass_kind kiln_scene_mass(const kiln_scene *scene);
bool kiln_scene_has_liquid(const kiln_scene *scene);
/* What is preset by what the scene is about, where it is silent: liquid is remeshed, in the world.
 */
void kiln_scene_preset(kiln_scene *scene);

/* Times of the scene closer than this are the same, s: far below a step and what is between two
 * frames, but not below what the clock can tell apart. */
double kiln_scene_moment(const kiln_scene *scene);

/* Calls every function of the scene at the begin, the middle and the end of its time, at a point of
 * the body it belongs to: what is wrong with them at once, and not after hours. */
kiln_status kiln_scene_try(const kiln_scene *scene, kiln_error *error);

#endif

/* What may be in a scene: one row per key. The rows drive reading (scene_reader.h), the errors
 * about unknown keys, wrong types and values out of range, and docs/scene.md (scene_reference.c).
 */
#ifndef KILN_IO_SCENE_SCHEMA_H
#define KILN_IO_SCENE_SCHEMA_H

#include "io/fill.h"
#include "io/scene_language.h"
#include "sim/scene.h"

struct scene_reader;

/* What the value is in Lua, and what it becomes at `offset` of the object's struct. */
typedef enum scene_type {
    SCENE_NUMBER, /* double, finite */
    SCENE_WHOLE,  /* int */
    SCENE_LONG,   /* int64_t */
    SCENE_FLAG,   /* bool */
    SCENE_NAME,   /* char[KILN_NAME_SIZE] */
    SCENE_PATH,   /* const char *, the scene's own copy */
    SCENE_CHOICE, /* int: position among the choices */
    SCENE_WORD,   /* const char *: the choice itself */
    SCENE_VECTOR, /* kiln_vec3 */
    SCENE_AMOUNT, /* kiln_quantity of one number: a number or a function */
    SCENE_FIELD,  /* kiln_quantity of three: a vector or a function */
    SCENE_OTHER   /* what `read` makes of it */
} scene_type;

/* Limits of every number in the value. */
typedef struct scene_bounds {
    double low, high;
    bool low_open, high_open; /* the limit itself is outside */
} scene_bounds;

#define SCENE_ANY                                                                                  \
    {                                                                                              \
        -INFINITY, INFINITY, true, true                                                            \
    }
#define SCENE_POSITIVE                                                                             \
    {                                                                                              \
        0.0, INFINITY, true, true                                                                  \
    }
#define SCENE_NOT_NEG                                                                              \
    {                                                                                              \
        0.0, INFINITY, false, true                                                                 \
    }
#define SCENE_WITHIN(low, high)                                                                    \
    {                                                                                              \
        (low), (high), false, false                                                                \
    }
#define SCENE_BETWEEN(low, high)                                                                   \
    {                                                                                              \
        (low), (high), true, true                                                                  \
    }

/* What a function is called with: t in s; u, x the material and world place, with x, y, z and
 * [1], [2], [3]; c a table of all that is known. */
typedef enum scene_signature {
    SCENE_OF_TIME,           /* f(t) */
    SCENE_OF_TIME_AND_PLACE, /* f(t, u) */
    SCENE_OF_TIME_AND_WORLD, /* f(t, x) */
    SCENE_OF_PLACE,          /* f(u) */
    SCENE_OF_CIRCUMSTANCES   /* f(c) */
} scene_signature;
const char *kiln_scene_signature_text(scene_signature signature);

typedef struct scene_row {
    const char *key;
    scene_type type;
    size_t offset;
    scene_bounds bounds;
    const char *unit; /* NULL: none */
    const char
        *preset; /* NULL: what the object starts with; "": must be given; or how it is made */
    const char *meaning;
    scene_signature signature;
    const char *(*choices)(int row); /* NULL past the last */
    const char *what;                /* SCENE_OTHER: what it is, in the reference and in errors */
    /* SCENE_OTHER: reads the value at the top of the stack, and leaves it there. */
    kiln_status (*read)(struct scene_reader *reader, void *field);
} scene_row;

typedef struct scene_object {
    const char *name; /* "body", "motion.rotate", "step.newton" */
    const char *about;
    const scene_row *rows;
    size_t count, size;          /* rows; bytes of the struct */
    void (*start)(void *target); /* presets; NULL: zero */
} scene_object;

/* All objects but the generated shapes, in the order of the reference; NULL past the last. */
const scene_object *kiln_scene_object_at(size_t row);

extern const scene_object kiln_scene_object_scene, kiln_scene_object_step, kiln_scene_object_newton,
    kiln_scene_object_solver, kiln_scene_object_output, kiln_scene_object_material,
    kiln_scene_object_body, kiln_scene_object_region, kiln_scene_object_turn,
    kiln_scene_object_hold, kiln_scene_object_file, kiln_scene_object_plastic,
    kiln_scene_object_remesh, kiln_scene_object_contact;
extern const scene_object kiln_scene_objects_select[KILN_SELECT_COUNT], kiln_scene_objects_motion[],
    kiln_scene_objects_load[], kiln_scene_objects_obstacle[KILN_OBSTACLE_COUNT];

/* Columns that frames may have: `output.fields`. */
const char *kiln_scene_output_field(int row);
const char *kiln_scene_output_meaning(int row);
void kiln_scene_output_ask(kiln_scene_output *output, int row);

/* Structs of objects that become something else when they are complete. */
typedef struct scene_turn {
    kiln_vec3 axis;
    double angle, degrees; /* NaN: not given */
} scene_turn;

typedef struct scene_place {
    kiln_vec3 at, scale;
    scene_turn turn;
} scene_place;

typedef struct scene_plastic_draft {
    kiln_plastic plastic;
    int flow; /* by rate, instant */
    kiln_quantity yield, rate, hardening;
    double yield_stress, hardening_modulus; /* Pa; in place of yield and hardening */
    bool by_modulus;
} scene_plastic_draft;

typedef struct scene_material_draft {
    kiln_scene_material material;
    scene_plastic_draft plastic;
    int model;
    int nodal_pressure; /* auto, on, off */
} scene_material_draft;

typedef struct scene_body_draft {
    kiln_scene_body body; /* owns what it has */
    scene_place place;
} scene_body_draft;

typedef struct scene_obstacle_draft {
    kiln_scene_obstacle obstacle; /* owns what it has */
    scene_place place;
    const char *file;
} scene_obstacle_draft;

typedef struct scene_hold_draft {
    kiln_scene_hold hold; /* owns what it has */
    scene_turn turn;
} scene_hold_draft;

typedef struct scene_file_draft {
    const char *path;
    kiln_fill_options fill;
} scene_file_draft;

#endif

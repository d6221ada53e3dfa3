/* Settings as data: a schema says for each key of a table what it may be and where in a struct it
 * goes. It stands beside the module that owns the struct; whoever reads settings from a text
 * (io/scene_reader.h), or writes their reference (io/scene_reference.c), only interprets it. */
#ifndef KILN_BASE_SCHEMA_H
#define KILN_BASE_SCHEMA_H

#include "base/error.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scene_reader;

/* What the value is in the text, and what it becomes at `offset` of the schema's struct. */
typedef enum kiln_value_type {
    KILN_VALUE_NUMBER,    /* double, finite */
    KILN_VALUE_WHOLE,     /* int */
    KILN_VALUE_LONG,      /* int64_t */
    KILN_VALUE_FLAG,      /* bool */
    KILN_VALUE_NAME,      /* char[KILN_NAME_SIZE] */
    KILN_VALUE_PATH,      /* const char *, the text's own copy: as long as it is being read */
    KILN_VALUE_CHOICE,    /* int: position among the choices */
    KILN_VALUE_WORD,      /* const char *: the choice itself */
    KILN_VALUE_NAMES,     /* uint32_t: a list of choices, a bit for each that is named */
    KILN_VALUE_VECTOR,    /* kiln_vec3 */
    KILN_VALUE_AMOUNT,    /* kiln_quantity of one number: a number or a function */
    KILN_VALUE_FIELD,     /* kiln_quantity of three: a vector or a function */
    KILN_VALUE_SELECTION, /* kiln_picks; whoever owns the struct frees them */
    KILN_VALUE_MATERIAL,  /* uint32_t: position among the scene's materials */
    KILN_VALUE_TABLE,     /* a struct with the row's schema: a table inside this one */
    KILN_VALUE_LIST, /* KILN_ARRAY_OF such structs, which whoever owns it frees: a list of tables */
    KILN_VALUE_PART, /* a struct with the row's schema, whose keys are keys of this table */
    KILN_VALUE_OTHER /* what `read` makes of it */
} kiln_value_type;

/* Sizes a number of a scene may have: squares and volumes of such lengths, times their stiffness,
 * are still doubles with all their digits, and the lengths themselves are floats. */
#define KILN_LARGEST  1e30
#define KILN_SMALLEST 1e-30

/* Limits of every number in the value. Whatever they are, no number is larger than KILN_LARGEST;
 * one that may not be negative is 0 or at least KILN_SMALLEST. */
typedef struct kiln_bounds {
    double low, high;
    bool low_open, high_open; /* the limit itself is outside */
} kiln_bounds;

#define KILN_ANY_NUMBER                                                                            \
    {                                                                                              \
        -INFINITY, INFINITY, true, true                                                            \
    }
#define KILN_POSITIVE                                                                              \
    {                                                                                              \
        0.0, INFINITY, true, true                                                                  \
    }
#define KILN_NOT_NEGATIVE                                                                          \
    {                                                                                              \
        0.0, INFINITY, false, true                                                                 \
    }
#define KILN_WITHIN(low, high)                                                                     \
    {                                                                                              \
        (low), (high), false, false                                                                \
    }
#define KILN_BETWEEN(low, high)                                                                    \
    {                                                                                              \
        (low), (high), true, true                                                                  \
    }

bool kiln_bounds_hold(const kiln_bounds *bounds, double value);
/* "positive", "from 0 to 1": what a number must be. Returns `buffer`. */
const char *kiln_bounds_text(const kiln_bounds *bounds, char *buffer, size_t size);
/* The same for a value that does not hold: the rule it breaks. */
const char *kiln_bounds_broken(const kiln_bounds *bounds, double value, char *buffer, size_t size);
/* Whether only its size is wrong: what is smaller than KILN_SMALLEST and may be 0. */
bool kiln_bounds_vanishes(const kiln_bounds *bounds, double value);

/* What a function is called with: t in s; u, x the material and world place; c all that is known.
 */
typedef enum kiln_signature {
    KILN_OF_TIME,           /* f(t) */
    KILN_OF_TIME_AND_PLACE, /* f(t, u) */
    KILN_OF_TIME_AND_WORLD, /* f(t, x) */
    KILN_OF_PLACE,          /* f(u) */
    KILN_OF_CIRCUMSTANCES   /* f(c) */
} kiln_signature;
const char *kiln_signature_text(kiln_signature signature);

typedef struct kiln_schema kiln_schema;

typedef struct kiln_schema_row {
    const char *key; /* NULL: a part */
    kiln_value_type type;
    size_t offset;
    kiln_bounds bounds;
    const char *unit; /* NULL: none */
    const char
        *preset; /* NULL: what the struct starts with; "": must be given; or how it is made */
    const char *meaning;
    kiln_signature signature;
    const char *(*choices)(int row); /* NULL past the last */
    const kiln_schema *schema;       /* of tables, lists and parts */
    /* Others: what it is, in the reference. Tables: what must stand there, in errors. */
    const char *what;
    /* Others: what only the reader of a whole scene can understand. */
    kiln_status (*read)(struct scene_reader *reader, void *field);
} kiln_schema_row;

/* Which rows of a schema the text had. Bits of parts are not set: they have their own. */
typedef struct kiln_given {
    const kiln_schema *schema;
    uint64_t rows;
} kiln_given;

bool kiln_is_given(const kiln_given *given, const char *key);

struct kiln_schema {
    const char *name; /* "body", "motion.rotate", "step.newton" */
    const char *about;
    const kiln_schema_row *rows;
    size_t count, size; /* rows, at most 64; bytes of the struct */
    /* Presets of what is not said in a table that is there. */
    void (*start)(void *settings);
    /* After all rows: what keys mean together, and what they may not be together
     * (kiln_fail_setting). NULL: nothing to do. */
    kiln_status (*finish)(void *settings, const kiln_given *given, kiln_error *error);
    bool has_said;     /* the struct begins with a kiln_said */
    bool may_be_first; /* a text in place of the table is the value of the first row */
    /* What `false` in place of the table means; `true` is a table without keys. NULL: neither may
     * stand there. */
    void (*off)(void *settings);
};

/* KILN_ERR_INPUT with the key as the error's place; NULL: the table as a whole is wrong. The reader
 * adds file, line and path. */
kiln_status kiln_fail_setting(kiln_error *error, const char *key, const char *format, ...)
    KILN_PRINTF(3, 4);

#define KILN_SCHEMA_ROWS(list) .rows = list, .count = sizeof list / sizeof list[0]

/* Where in the text something was said, for messages that come later: "bodies[2].material" and the
 * line. */
typedef struct kiln_said {
    char path[96];
    int line;
} kiln_said;

#endif

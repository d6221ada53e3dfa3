/* Generated meshes. Each shape is one row {name, help, parameters, function}; the command line and
 * its help are made from the rows. Lengths are in metres. Tets are positive, surface triangles look
 * outward and carry the number of their patch (named in the row), all tets have tag 1. */
#ifndef KILN_MESH_SHAPES_H
#define KILN_MESH_SHAPES_H

#include "mesh/soup.h"

enum { KILN_SHAPE_PARAMS = 12 };

typedef enum kiln_param_kind {
    KILN_PARAM_NUMBER,
    KILN_PARAM_COUNT,  /* whole number */
    KILN_PARAM_CHOICE, /* one of `choices`, its position is the value */
    KILN_PARAM_TEXT
} kiln_param_kind;

typedef struct kiln_shape_param {
    const char *name;
    kiln_param_kind kind;
    double preset, low, high; /* preset of a choice: its position; unused for texts */
    const char *text;         /* choices "a|b|c", or the preset text */
    const char *help;
} kiln_shape_param;

/* In the order of the row's parameters. Texts are borrowed from the settings or the row. */
typedef struct kiln_shape_values {
    double number[KILN_SHAPE_PARAMS];
    const char *text[KILN_SHAPE_PARAMS];
} kiln_shape_values;

typedef struct kiln_shape {
    const char *name;
    const char *help;
    const char *patches; /* what the triangle tags mean */
    const kiln_shape_param *params;
    size_t param_count;
    /* Fills an empty soup; on failure the caller frees what is in it. */
    kiln_status (*generate)(const kiln_shape_values *values, kiln_soup *soup, kiln_error *error);
} kiln_shape;

/* The shapes there are. */
const kiln_shape *const *kiln_shapes(size_t *count);

/* Settings are "name=value"; what is not set keeps its preset. An unknown name is answered with the
 * nearest known one, a value out of range with the rule. */
kiln_status kiln_shape_parse(const kiln_shape *shape, size_t count, const char *const *settings,
                             kiln_shape_values *values, kiln_error *error);

/* The row of that name among `shapes`; an error naming the nearest when there is none. */
kiln_status kiln_shape_find(const kiln_shape *const *shapes, size_t count, const char *name,
                            const kiln_shape **out, kiln_error *error);

/* Parse and generate into an initialised, empty soup, which stays empty on failure. */
kiln_status kiln_shape_make(const kiln_shape *shape, size_t count, const char *const *settings,
                            kiln_soup *soup, kiln_error *error);

#endif

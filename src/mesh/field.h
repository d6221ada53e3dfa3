/* Fields: named columns of the mesh's three tables (vertices, tets, surface faces).
 *
 * A module registers the columns it owns and says by a transfer rule what becomes of the values
 * when the mesh changes under them. The mesh knows the rules, not the physics. */
#ifndef KILN_MESH_FIELD_H
#define KILN_MESH_FIELD_H

#include "base/array.h"
#include "mesh/soup.h"

#include <stdbool.h>

/* One row per rule: enum name, scene name, meaning. */
#define KILN_RULE_TABLE(X)                                                                         \
    X(KILN_RULE_INTERPOLATE, "interpolate", "value of the old field at the new point")             \
    X(KILN_RULE_AVERAGE, "average", "overlap-weighted mean of the old values")                     \
    X(KILN_RULE_CONSERVE, "conserve", "extensive: shared out by overlap, totals kept")             \
    X(KILN_RULE_MOMENTUM, "momentum", "velocity that keeps the linear momentum of its mass")       \
    X(KILN_RULE_SPD_LOG, "spd-log", "kiln_sym3, positive definite: mean of logarithms")            \
    X(KILN_RULE_PROJECT, "project", "safe L2 projection")                                          \
    X(KILN_RULE_INHERIT, "inherit", "bits that all parents have")                                  \
    X(KILN_RULE_COPY, "copy", "value of the (heaviest) parent")                                    \
    X(KILN_RULE_DIRECT, "direct", "written by the operator, else the parent's")                    \
    X(KILN_RULE_RECOMPUTE, "recompute", "owner computes it anew; zero until then")                 \
    X(KILN_RULE_NONE, "none", "written by the operator, else zero")

typedef enum kiln_rule {
#define KILN_RULE_ENUM(name, text, meaning) name,
    KILN_RULE_TABLE(KILN_RULE_ENUM)
#undef KILN_RULE_ENUM
        KILN_RULE_COUNT
} kiln_rule;

const char *kiln_rule_name(kiln_rule rule);
/* Of fields that come without one: interpolate on vertices, average on tets, copy on faces. */
kiln_rule kiln_rule_default(kiln_where where);

typedef enum kiln_type { KILN_F64, KILN_U32, KILN_I32, KILN_U64, KILN_TYPE_COUNT } kiln_type;

size_t kiln_type_size(kiln_type type);

enum { KILN_FIELD_COMPONENTS = 256 }; /* at most */

typedef struct kiln_field {
    char name[KILN_NAME_SIZE];
    kiln_type type;
    kiln_rule rule;
    uint32_t components;
    uint32_t stride; /* bytes per row */
    bool core;       /* belongs to the mesh itself; the rules below do not touch it */
    char *data;      /* [row][component] */
    char *grown;     /* only while the table grows */
} kiln_field;

/* As a double, whatever the type; not for core columns. */
double kiln_field_value(const kiln_field *field, uint32_t row, uint32_t component);

/* Rows in use and free ones; free rows form a LIFO list threaded through a core column. */
typedef struct kiln_table {
    uint32_t used;     /* rows ever given out since the last compaction */
    uint32_t live;     /* rows that hold something */
    uint32_t free;     /* first free row or KILN_NONE */
    uint32_t capacity; /* of every column */
    uint32_t row_size; /* bytes of all columns */
    KILN_ARRAY_OF(kiln_field)
    fields;
} kiln_table;

/* All columns get room for `wanted` rows; new bytes are zero. All or nothing. */
kiln_status kiln_table_reserve(kiln_context *context, kiln_table *table, size_t wanted,
                               kiln_error *error);
kiln_status kiln_table_add_field(kiln_context *context, kiln_table *table, const kiln_field *field,
                                 kiln_error *error);
void kiln_table_free(kiln_context *context, kiln_table *table);

/* row[to] = weights-combination of rows from[0..count), by each field's rule. Core columns are left
 * alone. Conserve fields become zero: whoever knows the volumes shares them out. */
void kiln_table_combine(kiln_table *table, uint32_t to, const uint32_t *from, const double *weight,
                        int count);

#endif

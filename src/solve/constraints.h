/* Which unknowns are held, and where they go. Held components are taken out of the linear systems
 * (unit rows), so that the pattern stays the same while vertices are held and let go. */
#ifndef KILN_SOLVE_CONSTRAINTS_H
#define KILN_SOLVE_CONSTRAINTS_H

#include "solve/bsr.h"

typedef struct kiln_constraint_frame {
    uint32_t row;
    kiln_mat3 axes; /* rows are the three directions, orthonormal, right-handed */
} kiln_constraint_frame;

typedef struct kiln_constraints {
    kiln_context *context; /* borrowed */
    uint32_t block;        /* components of a row, as in kiln_bsr */
    size_t rows;
    uint8_t *held; /* [row] bit c: component c (along axis c of the row's frame) is held */
    union {
        kiln_vec3 *target; /* [row] place the held components go to; the others are not looked at */
        double *goal;      /* [row][n] the same, for blocks of any size */
    };
    KILN_ARRAY_OF(kiln_constraint_frame)
    frames; /* of blocks of 3: rows with axes of their own, ascending; all others have x, y, z */
} kiln_constraints;

void kiln_constraints_init(kiln_constraints *constraints, kiln_context *context); /* of 3 */
void kiln_constraints_init_blocks(kiln_constraints *constraints, kiln_context *context,
                                  uint32_t block);
void kiln_constraints_free(kiln_constraints *constraints);
/* Room for that many rows; nothing is held. */
kiln_status kiln_constraints_reset(kiln_constraints *constraints, size_t rows, kiln_error *error);

/* Axes of the row, or NULL when they are x, y, z. */
const kiln_mat3 *kiln_constraints_frame(const kiln_constraints *constraints, uint32_t row);

/* Directions in which one row is held, orthonormal, and the coordinate it goes to along each. */
typedef struct kiln_held {
    int count;
    kiln_vec3 axis[3];
    double place[3];
} kiln_held;

kiln_held kiln_constraints_held(const kiln_constraints *constraints, uint32_t row);
/* The row is held like this and no other way. Cheap when rows come in ascending order. On failure
 * unchanged. */
kiln_status kiln_constraints_set_held(kiln_constraints *constraints, uint32_t row,
                                      const kiln_held *held, kiln_error *error);

/* One more condition, axis . x = place (unit axis), by the part of the axis that is free of the
 * directions held. Returns the length of that part; when it is below `least` the others hold the
 * axis already: nothing is added, 0 is returned. *gap (may be NULL) is by how much the others
 * then miss the place; 0 otherwise. */
double kiln_held_add(kiln_held *held, kiln_vec3 axis, double place, double least, double *gap);
/* The part of a direction in which the row may move. */
kiln_vec3 kiln_held_free_part(const kiln_held *held, kiln_vec3 direction);

typedef struct kiln_hold {
    int components;        /* bit c: along axis c */
    const kiln_mat3 *axes; /* rows are the directions; NULL: x, y, z */
    kiln_vec3 target;
    double tolerance; /* m */
} kiln_hold;

/* Holds the row in this way as well. *agrees: no direction that was held already is asked to go to
 * a place that differs by more than the tolerance. Rows that are held by one hold in world axes
 * need no frame. */
kiln_status kiln_constraints_hold(kiln_constraints *constraints, uint32_t row,
                                  const kiln_hold *hold, bool *agrees, kiln_error *error);

/* Vector to the target in the held components, zero in the others: [row][n] in world axes. */
void kiln_constraints_gap(const kiln_constraints *constraints, const double *x, double *gap);
/* Part of `g` along free components; in place, world axes. */
void kiln_constraints_project(const kiln_constraints *constraints, double *g);
void kiln_constraints_project_rows(const kiln_constraints *constraints, double *g, size_t begin,
                                   size_t end);
/* A becomes the matrix of the free components with unit rows (times `scale`) for the held ones. For
 * a row with a frame the block row and column are those of A in world axes projected to its free
 * directions; the solution of A dx = projected g is then zero along held directions. */
void kiln_constraints_apply(const kiln_constraints *constraints, kiln_bsr *matrix, double scale);

#endif

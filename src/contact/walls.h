/* Obstacles as surfaces: the triangles that bodies keep off, in the same way as off each other.
 *
 * The surface lies `depth` inside the obstacle, so that what repels at that distance begins to do
 * so where the obstacle begins: a body may start on it, and rests on it. A mesh is taken as it is,
 * since what is thin has no inside to speak of.
 *
 * A plane is one triangle, made anew for each step below the bodies and much larger than they are;
 * nothing but vertices can run into it. Of the other shapes edges and vertices take part that stick
 * out: what runs into a flat or a hollow place does so with a vertex of its own.
 *
 * Such a vertex is near all faces around its foot, and counts once, as before bodies that count
 * once (contact/sight.h): a sum over faces less edges plus points, each term of which has a
 * continuous gradient. So the sum over a flat or round wall does not depend on how it is divided,
 * and neither it nor its force jumps where the vertex slides over edges. At an edge where it is
 * hollow a wall ends and another begins, which counts by itself.
 *
 * A sheet (an open mesh) has two sides: what sticks out on one of them is hollow on the other. It
 * ends nowhere but at its rim, and in its hollows counts what both sides do less what they have in
 * common: by sides of the vertex that would jump. */
#ifndef KILN_CONTACT_WALLS_H
#define KILN_CONTACT_WALLS_H

#include "base/array.h"
#include "contact/obstacle.h"
#include "contact/sight.h"
#include "geom/box.h"

/* Zero-initialise. Points are numbered from 0. */
typedef struct kiln_walls {
    kiln_context *context;
    kiln_obstacle *const *obstacles; /* borrowed */
    size_t obstacle_count;
    KILN_ARRAY_OF(kiln_vec3)
    own;                       /* [point] in the coordinates of its obstacle */
    kiln_u32_array obstacle;   /* [point] whose it is */
    kiln_u32_array vertices;   /* points that stick out */
    kiln_u32_array edges;      /* [edge][2] likewise */
    kiln_u32_array faces;      /* [face][3] outward */
    kiln_f64_array area;       /* [point] a third of the faces at it, m^2 */
    kiln_f64_array edge_area;  /* [edge] likewise */
    kiln_f64_array face_area;  /* [obstacle] of its faces, mean; planes: infinite */
    kiln_u32_array face_count; /* [obstacle] */
    kiln_u32_array sharp;      /* [face] how many of its edges stick out */
    /* [face][3] what is beyond the edge from corner k to k + 1: 3 times a face and its own k; where
     * faces are hollow to each other, and where there is not one, KILN_NONE. */
    kiln_u32_array beyond;
    kiln_fans fans; /* faces at each point */
} kiln_walls;

/* Of all obstacles, borrowed. Chords are off arcs by `chord` at most. On failure there are none. */
kiln_status kiln_walls_build(kiln_walls *walls, kiln_context *context,
                             kiln_obstacle *const *obstacles, size_t count, double depth,
                             double chord, kiln_error *error);
void kiln_walls_free(kiln_walls *walls);

/* World places [point] at the end of the step, or at its begin. Planes are below `about`, the box
 * of all that moves in it. */
void kiln_walls_place(const kiln_walls *walls, kiln_box about, bool at_begin, kiln_vec3 *places);

/* A vertex before walls. */
typedef struct kiln_wall_sight {
    const kiln_walls *walls;
    const kiln_vec3 *begin;         /* [point] where the solve began */
    const kiln_vec3 *places, *from; /* [point] of kiln_sight, as the next; from may be NULL */
    kiln_vec3 p, began;
    double within;
    double area;      /* m^2, of the vertex in the material */
    kiln_vec3 facing; /* of its faces as a vector where the solve began, over `area` */
} kiln_wall_sight;

/* The parts of `area` that a face of a wall counts by. Of it that part presses which looks at the
 * face: the sides of a block do not. Where walls have as many edges and vertices that stick out as
 * the body has, each answers for its part; where they are flat the body's vertices do alone. */
void kiln_walls_count(const kiln_wall_sight *sight, uint32_t face, kiln_counts *out);
size_t kiln_walls_bytes(const kiln_walls *walls);

#endif

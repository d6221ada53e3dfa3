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
 * Such a vertex is near all faces around its foot, and counts once: the nearest point of a face
 * counts only where it is nearest of all around it, and is shared by the faces that have it in
 * common. So the sum over a flat or round wall does not depend on how it is divided. Beyond an edge
 * where it is hollow another wall begins, which counts by itself: there the nearest points of both
 * are apart, and one that vanished would take its energy with it.
 *
 * A sheet (an open mesh) has two sides: what sticks out on one of them is hollow on the other. */
#ifndef KILN_CONTACT_WALLS_H
#define KILN_CONTACT_WALLS_H

#include "base/array.h"
#include "contact/obstacle.h"
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
    /* [face][3] of sheets: 1 where what is beyond is hollow from the front, -1 from behind, and
     * counts by itself there; else 0. */
    KILN_ARRAY_OF(int8_t)
    rises;
} kiln_walls;

/* Of all obstacles, borrowed. Chords are off arcs by `chord` at most. On failure there are none. */
kiln_status kiln_walls_build(kiln_walls *walls, kiln_context *context,
                             kiln_obstacle *const *obstacles, size_t count, double depth,
                             double chord, kiln_error *error);
void kiln_walls_free(kiln_walls *walls);

/* World places [point] at the end of the step, or at its begin. Planes are below `about`, the box
 * of all that moves in it. */
void kiln_walls_place(const kiln_walls *walls, kiln_box about, bool at_begin, kiln_vec3 *places);
/* The part of 1 by which the nearest point on `face`, with these weights of its corners, counts for
 * a vertex at p; with the points at `places`. */
double kiln_walls_share(const kiln_walls *walls, const kiln_vec3 *places, uint32_t face,
                        const double weight[3], kiln_vec3 p);
size_t kiln_walls_bytes(const kiln_walls *walls);

#endif

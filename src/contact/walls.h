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
 * Such a vertex is near all faces around its foot, and counts once (contact/sight.h). */
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
    kiln_f64_array sharp;      /* [face] how far its edges stick out (contact/sight.h), mean */
    kiln_f64_array out;        /* [point] the farthest that an edge at it does */
    kiln_fans fans;            /* faces at each point */
} kiln_walls;

/* Of all obstacles, borrowed. Chords are off arcs by `chord` at most. On failure there are none. */
kiln_status kiln_walls_build(kiln_walls *walls, kiln_context *context,
                             kiln_obstacle *const *obstacles, size_t count, double depth,
                             double chord, kiln_error *error);
void kiln_walls_free(kiln_walls *walls);

/* World places [point] at the end of the step, or at its begin. Planes are below `about`, the box
 * of all that moves in it. */
void kiln_walls_place(const kiln_walls *walls, kiln_box about, bool at_begin, kiln_vec3 *places);
size_t kiln_walls_bytes(const kiln_walls *walls);

#endif

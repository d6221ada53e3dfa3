/* Obstacles: rigid shapes that bodies run into. A shape is one row {name, help, parameters,
 * distance}; a pose moves it. */
#ifndef KILN_CONTACT_OBSTACLE_H
#define KILN_CONTACT_OBSTACLE_H

#include "mesh/soup.h"

#include <stdbool.h>

/* One row per shape: enum, scene name, meaning. Lengths in m, in the obstacle's own coordinates. */
#define KILN_OBSTACLE_TABLE(X)                                                                     \
    X(KILN_OBSTACLE_PLANE, "plane", "solid below the plane through `point` with `normal`")         \
    X(KILN_OBSTACLE_SPHERE, "sphere", "`radius` about `point`")                                    \
    X(KILN_OBSTACLE_CYLINDER, "cylinder",                                                          \
      "`radius` about the axis from `point` to `end`, flat caps")                                  \
    X(KILN_OBSTACLE_CAPSULE, "capsule", "`radius` about the segment from `point` to `end`")        \
    X(KILN_OBSTACLE_BOX, "box", "between the corners `point` and `end`")                           \
    X(KILN_OBSTACLE_CONE, "cone", "base of `radius` at `point`, tip at `end`")                     \
    X(KILN_OBSTACLE_TORUS, "torus",                                                                \
      "`radius` of the ring about `point`, across `normal`, tube `tube`")                          \
    X(KILN_OBSTACLE_MESH, "mesh", "triangle mesh: closed, or a sheet with two sides")

typedef enum kiln_obstacle_kind {
#define KILN_OBSTACLE_ENUM(name, text, meaning) name,
    KILN_OBSTACLE_TABLE(KILN_OBSTACLE_ENUM)
#undef KILN_OBSTACLE_ENUM
        KILN_OBSTACLE_COUNT
} kiln_obstacle_kind;

const char *kiln_obstacle_name(kiln_obstacle_kind kind);

typedef struct kiln_obstacle_shape {
    kiln_obstacle_kind kind;
    bool inside_out; /* bodies are kept inside instead */
    kiln_vec3 point, end, normal;
    double radius, tube;
    kiln_soup surface; /* mesh only: points and triangles; owned */
} kiln_obstacle_shape;

/* World position of own point p: rotation * p + shift. Velocity of the point at world place q:
 * linear + spin x (q - shift). */
typedef struct kiln_pose {
    kiln_mat3 rotation;
    kiln_vec3 shift;
    kiln_vec3 linear, spin; /* m/s, rad/s */
} kiln_pose;

typedef struct kiln_obstacle kiln_obstacle;

/* Checks the shape (KILN_ERR_INPUT: no extent, not finite, a mesh that branches) and takes its
 * surface, which stays the caller's on failure. The pose is the identity. */
kiln_status kiln_obstacle_create(kiln_context *context, kiln_obstacle_shape *take_shape,
                                 double friction, kiln_obstacle **out, kiln_error *error);
void kiln_obstacle_destroy(kiln_obstacle *obstacle); /* NULL allowed */
/* Where it is at the end of a step; it has not moved in it. */
void kiln_obstacle_set_pose(kiln_obstacle *obstacle, const kiln_pose *pose);
/* Where it was at its begin, if it has. */
void kiln_obstacle_set_begin(kiln_obstacle *obstacle, kiln_mat3 rotation, kiln_vec3 shift);
double kiln_obstacle_friction(const kiln_obstacle *obstacle);

/* What it is to liquid. */
typedef struct kiln_wetting {
    double angle; /* radians, at which a surface of liquid meets it, measured in the liquid; pi: it
                     is not wetted */
    double drag;  /* Pa s/m: force per area against what slides along it, per speed */
    bool no_slip; /* nothing slides along it but the line where liquid ends */
} kiln_wetting;
/* Before it is set: not wetted, without drag. */
void kiln_obstacle_set_wetting(kiln_obstacle *obstacle, const kiln_wetting *wetting);
const kiln_wetting *kiln_obstacle_wetting(const kiln_obstacle *obstacle);
/* An open mesh: bodies keep off both its sides, and nothing is inside. */
bool kiln_obstacle_is_sheet(const kiln_obstacle *obstacle);

/* Signed distance of a world point (negative: inside the obstacle), the outward unit normal and the
 * nearest point on its surface. Thread-safe. Exact sign for meshes by solid angle or pseudonormals;
 * at places with several nearest points one is chosen, the same each time. */
double kiln_obstacle_distance(const kiln_obstacle *obstacle, kiln_vec3 at, kiln_vec3 *normal,
                              kiln_vec3 *nearest);
/* Radians by which what counts as flat may turn over the scale it is looked at. */
#define KILN_OBSTACLE_FLAT 1e-6
/* How sharply it bends about a place on its surface, looked at over `scale`, m: the least radius,
 * INFINITY where it is flat or hollow, and the direction in which it bends so. Edges and tips have
 * about the scale, and are seen from as far. Thread-safe. */
double kiln_obstacle_radius(const kiln_obstacle *obstacle, kiln_vec3 at, double scale,
                            kiln_vec3 *across);
kiln_vec3 kiln_obstacle_velocity(const kiln_obstacle *obstacle, kiln_vec3 at);

/* Triangles of its surface in world space, for pictures and frames, outward (towards where bodies
 * may be); a plane as a square with sides of `extent` about `centre`. Appends to `soup`. */
kiln_status kiln_obstacle_outline(const kiln_obstacle *obstacle, kiln_vec3 centre, double extent,
                                  kiln_soup *soup, kiln_error *error);

/* Triangles in its own coordinates, less a layer of `depth` (as much of it as there is; none of a
 * mesh), outward as above; chords off arcs by `chord` at most, and by what 256 sides leave. A plane
 * is a square about its point with sides of 1 m. Appends to `soup`. */
kiln_status kiln_obstacle_skin(const kiln_obstacle *obstacle, double depth, double chord,
                               kiln_soup *soup, kiln_error *error);
/* What the chords of that skin are off arcs by, m; 0 of shapes that have none. */
double kiln_obstacle_skin_error(const kiln_obstacle *obstacle, double chord);
/* World place of an own point at the end of the step, and at its begin. */
kiln_vec3 kiln_obstacle_place(const kiln_obstacle *obstacle, kiln_vec3 own, bool at_begin);
/* Own coordinates of a world place at the end of the step. */
kiln_vec3 kiln_obstacle_own(const kiln_obstacle *obstacle, kiln_vec3 place);
/* Own unit vectors, right-handed: along the normal or from point to end, and two across it, along
 * which a plane's square lies. */
void kiln_obstacle_axes(const kiln_obstacle *obstacle, kiln_vec3 *axis, kiln_vec3 *side,
                        kiln_vec3 *third);
const kiln_obstacle_shape *kiln_obstacle_shape_of(const kiln_obstacle *obstacle);

#endif

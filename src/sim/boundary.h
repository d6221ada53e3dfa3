/* Boundary conditions: what the scene holds and loads, shared by boundary.c (the module), sets.c,
 * patches.c, holds.c and loads.c. */
#ifndef KILN_SIM_BOUNDARY_H
#define KILN_SIM_BOUNDARY_H

#include "sim/world_impl.h"

/* The vertices of a hold, and the vertex field with the places its ways begin at: those of the
 * start, or for a hold that begins later those where it caught them. */
enum { KILN_HOLD_NAME = 24 };

typedef struct kiln_hold_set {
    kiln_u32_array vertices; /* ascending */
    char origin[KILN_HOLD_NAME];
    bool late;
    int flat;        /* bit c: along axis c they all began at one level: a wall */
    double level[3]; /* m */
} kiln_hold_set;

typedef struct kiln_load_set {
    kiln_u32_array rows; /* vertices, faces or tets, ascending */
    char amount[24];     /* body: the tet field of m^3 of the start that it acts on */
    double area;         /* traction: m^2 of the start that it acts on */
} kiln_load_set;

typedef struct kiln_boundary {
    kiln_world *world;
    kiln_hold_set *holds; /* [scene->holds.count] */
    kiln_load_set *loads; /* [scene->loads.count] */
    bool volumes;         /* some tet is in a set */
    bool released;        /* some set has ended with this step */
} kiln_boundary;

/* sets.c: holds and loads as fields of the mesh. Written once from the lists of the start,
 * refreshed (marks where they are missing, then lists) after any change of the mesh. Those that end
 * at `now` are released. */
kiln_status kiln_boundary_write_sets(kiln_boundary *b, kiln_error *error);
kiln_status kiln_boundary_refresh_sets(kiln_boundary *b, const kiln_changes *changes,
                                       kiln_error *error);
kiln_status kiln_boundary_release_sets(kiln_boundary *b, double now, kiln_error *error);
/* [row][word], bit s of them: of set s, holds before loads. */
uint64_t *kiln_boundary_bits(const kiln_mesh *mesh, kiln_where where);
/* How many corners a face (3) or tet (4) has, and which. */
int kiln_boundary_corners(const kiln_mesh *mesh, kiln_where where, uint32_t row, uint32_t v[4]);

/* patches.c: bits of faces or tets from those of vertices. */
kiln_status kiln_boundary_gather(const kiln_mesh *mesh, kiln_where where, size_t words,
                                 kiln_error *error);

/* holds.c. */
/* The vertex field of the places where a hold has caught its vertices. */
void kiln_hold_name_origin(const kiln_scene *scene, size_t row, char name[KILN_HOLD_NAME]);
kiln_status kiln_boundary_make_hold(kiln_boundary *b, size_t row, kiln_error *error);
/* Vertices that remeshing has made at walls begin at their level, to rounding: they are
 * interpolated from vertices which are not all at the wall, and what is off by a millionth is no
 * longer flat. */
kiln_status kiln_boundary_level(const kiln_boundary *b, kiln_error *error);
/* Those that begin at `now` catch their vertices. */
kiln_status kiln_boundary_catch(kiln_boundary *b, double now, kiln_error *error);
/* Liquid flows past what is held: where it is, not where it was at the start, is what new vertices
 * of a hold that stands still are interpolated from. After a step. */
kiln_status kiln_boundary_pass_by(kiln_boundary *b, kiln_error *error);
kiln_status kiln_boundary_hold(const kiln_boundary *b, const kiln_drive *drive, kiln_error *error);
/* What a hold does in a step, with torques about `place`: the point that it turns about, or the
 * middle of its vertices' box. */
typedef struct kiln_hold_push {
    bool acts;
    kiln_vec3 place;
    kiln_push force, torque;
} kiln_hold_push;
/* out[hold], after the step was found. A direction of a vertex that several hold is the first
 * one's. */
kiln_status kiln_boundary_push(const kiln_boundary *b, const kiln_moment *moment,
                               kiln_hold_push *out, kiln_error *error);
/* Contradictions that can be seen at the start. */
kiln_status kiln_boundary_check_holds(const kiln_boundary *b, kiln_error *error);

/* loads.c. */
kiln_status kiln_boundary_make_load(kiln_boundary *b, size_t row, kiln_error *error);
kiln_status kiln_boundary_load(const kiln_boundary *b, const kiln_drive *drive, kiln_error *error);
kiln_vec3 kiln_face_centre(const kiln_mesh *mesh, uint32_t face, const kiln_vec3 *positions);
kiln_where kiln_load_where(kiln_load_kind kind);                     /* what it acts on */
double kiln_boundary_load_area(const kiln_boundary *b, size_t load); /* of its faces in u, m^2 */

#endif

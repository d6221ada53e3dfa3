/* What the files of obstacle.h share. All places here are in the obstacle's own coordinates. */
#ifndef KILN_CONTACT_OBSTACLE_IMPL_H
#define KILN_CONTACT_OBSTACLE_IMPL_H

#include "contact/obstacle.h"
#include "geom/bvh.h"

/* A triangle with the angle-weighted pseudonormals of its features (Baerentzen and Aanaes 2005):
 * the sign of a distance is that of offset . normal of the feature that is nearest. */
typedef struct kiln_obstacle_triangle {
    kiln_vec3 corner[3];
    kiln_vec3 face_normal;
    kiln_vec3 edge_normal[3]; /* of the edge opposite corner i */
    kiln_vec3 vertex_normal[3];
} kiln_obstacle_triangle;

typedef struct kiln_obstacle_mesh {
    kiln_obstacle_triangle *triangle;
    size_t count;
    bool open; /* a sheet: it has a rim, and no normals but those of faces */
    kiln_bvh tree;
} kiln_obstacle_mesh;

struct kiln_obstacle {
    kiln_context *context;
    kiln_obstacle_shape shape; /* box: `point` low, `end` high; normal of length 1 */
    double friction;
    kiln_wetting wetting;
    kiln_pose pose;
    kiln_mat3 begin_rotation;
    kiln_vec3 begin_shift;
    kiln_vec3 axis, side, third; /* right-handed; axis along point-end or normal */
    double length;               /* from point to end */
    kiln_obstacle_mesh mesh;
};

/* A nearest point of the surface and the outward unit normal: the gradient of the distance. */
typedef struct kiln_obstacle_hit {
    double distance;
    kiln_vec3 normal, nearest;
} kiln_obstacle_hit;

/* One function per shape, in the order of the table. */
typedef kiln_obstacle_hit (*kiln_obstacle_distance_to)(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_plane(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_sphere(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_cylinder(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_capsule(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_box(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_cone(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_torus(const kiln_obstacle *obstacle, kiln_vec3 p);
kiln_obstacle_hit kiln_obstacle_to_mesh(const kiln_obstacle *obstacle, kiln_vec3 p);

/* Normals and tree of a surface; KILN_ERR_INPUT names the rule it breaks. A closed surface whose
 * triangles look inward is turned. */
kiln_status kiln_obstacle_mesh_build(kiln_context *context, kiln_soup *surface,
                                     kiln_obstacle_mesh *mesh, kiln_error *error);
void kiln_obstacle_mesh_free(kiln_context *context, kiln_obstacle_mesh *mesh);

#endif

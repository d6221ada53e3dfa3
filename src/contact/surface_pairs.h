/* Broad phase: the pairs of a vertex and a face, and of two edges, that may come near each other
 * while every vertex stays in a box of its own; of bodies, and of bodies and walls.
 *
 * Pairs that share a vertex are left out. The rest of the same part of a body, when they are near
 * in the material already, get half of their distance there for reach and clearance together:
 * neighbours do not repel each other because they are neighbours, yet cannot pass through each
 * other. Where the material follows the world that would let the sides of a crease close for ever,
 * by half in each step: neighbours that look at each other across air repel as others do. */
#ifndef KILN_CONTACT_SURFACE_PAIRS_H
#define KILN_CONTACT_SURFACE_PAIRS_H

#include "contact/contact_surface.h"
#include "contact/pair_table.h"
#include "contact/walls.h"
#include "geom/bvh.h"
#include "geom/distance.h"

typedef struct kiln_surface_pair {
    uint32_t v[4];    /* vertex and face, or edge and edge */
    uint32_t split;   /* vertices of the first side: 1 or 2 */
    double reach;     /* m, they repel below this distance, which is measured */
    double clearance; /* m, from there: they keep this much in any case */
    uint32_t face;    /* of a vertex and a face: its number on its side */
    /* m^2 that the pair stands for: vertex A / 4, edges (A + A') / 4. Of walls no more counts than
     * of what is before them; a vertex before one has A, of which it counts as much as
     * kiln_walls_count says. */
    double area;
} kiln_surface_pair;

/* Closest points as they are at x [vertex slot][3]. */
typedef struct kiln_pair_distance {
    double d;         /* m, beyond the clearance */
    kiln_vec3 normal; /* from the second side's point to the first's; unit, zero where they touch */
    double weight[4]; /* of the vertices, negative on the second side: their sum is zero and
                         grad d = weight[k] normal at v[k] */
} kiln_pair_distance;

kiln_pair_distance kiln_surface_pair_distance(const kiln_surface_pair *pair, const kiln_vec3 *x);
/* How grad d turns with the vertices: the Hessian of d by blocks [k][l], those with k <= l, of what
 * was found at x. False: edges are parallel or a face is a line, and it has none. */
bool kiln_surface_pair_turning(const kiln_surface_pair *pair, const kiln_vec3 *x,
                               const kiln_pair_distance *at, double hessian[4][4][3][3]);

typedef struct kiln_pair_rules {
    bool bodies, self;            /* bodies against each other, against themselves */
    const kiln_pair_table *table; /* those that meet; NULL: all */
    double thickness;             /* m */
    /* [body] m, kept beside the thickness: between two the mean of theirs, before a wall half of
     * it; NULL: none */
    const double *clearance;
    /* [row] where the step begins: pairs that are nearer than their clearance there (it is another
     * than before, or the mesh is) have what there is; NULL: nobody knows. */
    const kiln_vec3 *begin;
    /* Distances in the material say what is near in it. Otherwise (material follows the world) only
     * neighbours in the mesh are. */
    bool material_tells;
    const uint8_t *held;     /* [row] 7: moves by itself; pairs of such are left out */
    const kiln_walls *walls; /* NULL: none. Their points are the rows from `first_wall` on */
    uint32_t first_wall;
    /* How vertices stay in their boxes, where that is known: within `skin` of a place on the way
     * from x to x + part way [vertex slot], all at the same part of it. NULL: anyhow. */
    const kiln_vec3 *way;
    double part, skin;
} kiln_pair_rules;

/* Who meets in a pair. */
typedef struct kiln_pair_kind {
    uint32_t body, other; /* bodies, or a body and an obstacle: */
    bool wall;
    bool one_part; /* of a body: its material says what is near in it */
} kiln_pair_kind;

/* Whether they see each other. */
bool kiln_pair_meets(const kiln_pair_rules *rules, const kiln_pair_kind *kind);
/* m, what they keep beside their reach. Within a part whose material has no memory nothing is kept,
 * since nobody knows what was nearer from the start. */
double kiln_pair_clearance(const kiln_pair_rules *rules, const kiln_pair_kind *kind);
/* The reach of two that are so far apart in the material of their part; both it and their clearance
 * are less by the same part. */
double kiln_pair_reach(const kiln_pair_rules *rules, double clearance, double apart);
/* Zero-initialise. Trees and lists, kept between searches. */
typedef struct kiln_surface_pairs {
    kiln_context *context;
    kiln_bvh vertex_tree, edge_tree, face_tree;
    kiln_bvh wall_vertex_tree, wall_edge_tree, wall_face_tree;
    bool grown; /* the trees are of this surface; false: the next search makes them anew */
    KILN_ARRAY_OF(kiln_box)
    boxes;
    kiln_bvh_pair_array found;
    KILN_ARRAY_OF(kiln_vec3)
    normal;               /* [vertex slot] outwards in the material, where that has no memory */
    size_t meetings;      /* of boxes in the last search */
    kiln_f64_array reach; /* [found] 0: cannot come near */
    KILN_ARRAY_OF(size_t)
    kept; /* [chunk] how many can, then where the first of them goes */
    KILN_ARRAY_OF(kiln_surface_pair)
    pairs; /* vertex and face first; in an order that depends on nothing but the input */
} kiln_surface_pairs;

/* All pairs that can come within their reach while each vertex is in its box (`boxes` [row], those
 * of surface vertices and walls are looked at). `u` [vertex slot] and `x` [row] are where they are
 * in the material and now, x in the boxes. Trees that are grown only follow, so the order of the
 * pairs depends on where they grew. */
kiln_status kiln_surface_pairs_find(kiln_surface_pairs *pairs, const kiln_contact_surface *surface,
                                    const kiln_pair_rules *rules, const kiln_box *boxes,
                                    const kiln_vec3 *u, const kiln_vec3 *x, kiln_error *error);
/* Of the first *count pairs, which were found for boxes about these, those that a search with these
 * would find: in their order, the rest after them. `rules` without a way; the trees stay. */
kiln_status kiln_surface_pairs_thin(kiln_surface_pairs *pairs, const kiln_pair_rules *rules,
                                    const kiln_box *boxes, const kiln_vec3 *x, size_t *count,
                                    kiln_error *error);
/* Whether a vertex and a face of bodies have all of the reach and the clearance that others have:
 * they are not near in the material, nor nearer than the clearance where the step begins. */
bool kiln_surface_pair_is_whole(const kiln_contact_surface *surface, const kiln_pair_rules *rules,
                                const kiln_vec3 *u, uint32_t vertex, const uint32_t face[3]);
void kiln_surface_pairs_free(kiln_surface_pairs *pairs);
size_t kiln_surface_pairs_bytes(const kiln_surface_pairs *pairs);

#endif

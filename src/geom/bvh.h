/* Tree of boxes over any items: triangles, edges, tets, swept boxes.
 *
 * Items are sorted along the Hilbert curve and taken eight at a time, the groups again eight at a
 * time, and so on: the tree has no pointers, its build is a sort, and a refit is one sweep. Boxes
 * are kept in float relative to the low corner of the whole set. Rounding is monotone and
 * comparisons are closed, so no overlap is ever missed; boxes apart by less than 2^-22 of the
 * distance to that corner may be reported. Coordinates beyond what a float holds stop at its
 * largest number: unused lanes are infinite, and nothing else ever is, so that no search can take
 * one for an item. Results are in a fixed order, the same for any number of threads and any
 * instruction set. */
#ifndef KILN_GEOM_BVH_H
#define KILN_GEOM_BVH_H

#include "base/array.h"
#include "geom/box.h"

#include <float.h>

enum { KILN_BVH_WIDTH = 8, KILN_BVH_LEVELS = 12, KILN_BVH_ARITY = 4 };
#define KILN_BVH_NONE UINT32_MAX

/* Eight boxes; unused lanes are empty (low infinite, high minus infinite). */
typedef struct kiln_bvh_group {
    float low[3][KILN_BVH_WIDTH], high[3][KILN_BVH_WIDTH];
} kiln_bvh_group;

/* Zero-initialise. Level 0 holds the items; lane k of group g on level l is group 8g+k of level
 * l-1; the last level has one group. */
typedef struct kiln_bvh {
    kiln_context *context;
    size_t count;
    int levels; /* 0 when empty */
    size_t groups[KILN_BVH_LEVELS];
    kiln_bvh_group *level[KILN_BVH_LEVELS];
    uint32_t *item;   /* [group][8]: item in each lane of level 0, KILN_BVH_NONE in unused ones */
    uint32_t *vertex; /* [group][arity][8], NULL without adjacency */
    int arity;
    kiln_vec3 origin;
    double slack; /* bound on the error of a float coordinate; infinite when some had to stop */
} kiln_bvh;

/* The float for a coordinate of the tree or of a query; monotone, never infinite. */
KILN_INLINE float kiln_bvh_coordinate(double x)
{
    return x > FLT_MAX ? FLT_MAX : x < -FLT_MAX ? -FLT_MAX : (float)x;
}

/* `boxes` are read, not kept. May be called again on the same tree. KILN_ERR_INPUT names the first
 * box that is not finite or has low > high; zero-size boxes are fine. On failure the tree is
 * empty. */
kiln_status kiln_bvh_build(kiln_bvh *bvh, kiln_context *context, const kiln_box *boxes,
                           size_t count, kiln_error *error);
void kiln_bvh_destroy(kiln_bvh *bvh);

/* Vertices of the items, [item][arity], arity 1..4: from now on the overlap searches leave out
 * pairs that share one. Copied; survives a refit, not a build. */
kiln_status kiln_bvh_set_vertices(kiln_bvh *bvh, const uint32_t *vertices, int arity,
                                  kiln_error *error);

/* New boxes for the same items. The order stays, so queries slow down as items wander off. On
 * failure the tree is unchanged. */
kiln_status kiln_bvh_refit(kiln_bvh *bvh, const kiln_box *boxes, kiln_error *error);

typedef struct kiln_bvh_pair {
    uint32_t a, b;
} kiln_bvh_pair;
typedef KILN_ARRAY_OF(kiln_bvh_pair)
kiln_bvh_pair_array;

/* Appends all pairs of items whose boxes overlap, a < b, in parallel. */
kiln_status kiln_bvh_self_overlap(const kiln_bvh *bvh, kiln_bvh_pair_array *pairs,
                                  kiln_error *error);
/* Appends all overlapping pairs of an item of `a` with one of `b`; boxes apart by less than 2^-20
 * of the extent of both sets may be reported. If both have vertices, pairs that share one are
 * left out. The same tree twice is a self-overlap. */
kiln_status kiln_bvh_pair_overlap(const kiln_bvh *a, const kiln_bvh *b, kiln_bvh_pair_array *pairs,
                                  kiln_error *error);

/* Receives pairs in batches, on the calling thread; returning false ends the search. */
typedef bool (*kiln_bvh_pair_sink)(void *user, const kiln_bvh_pair *pairs, size_t count);
void kiln_bvh_visit_self_overlap(const kiln_bvh *bvh, kiln_bvh_pair_sink sink, void *user);
void kiln_bvh_visit_pair_overlap(const kiln_bvh *a, const kiln_bvh *b, kiln_bvh_pair_sink sink,
                                 void *user);

/* Calls `visit` for each item whose box overlaps; returning false ends the search. */
typedef bool (*kiln_bvh_visit)(void *user, uint32_t item);
void kiln_bvh_query_box(const kiln_bvh *bvh, kiln_box box, kiln_bvh_visit visit, void *user);

/* The item nearest to a point, by `distance2` (squared, as exact as the caller likes, at least
 * the squared distance to the item's box; infinite: not this one); ties go to the lower item.
 * Nothing farther than sqrt(limit2) is looked at. KILN_BVH_NONE if there is none; `best2` (may be
 * NULL) gets its squared distance. */
typedef double (*kiln_bvh_distance2)(void *user, uint32_t item, kiln_vec3 point);
uint32_t kiln_bvh_closest(const kiln_bvh *bvh, kiln_vec3 point, double limit2,
                          kiln_bvh_distance2 distance2, void *user, double *best2);

#endif

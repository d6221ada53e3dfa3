/* The parts of remesh/envelope.h. */
#ifndef KILN_REMESH_ENVELOPE_IMPL_H
#define KILN_REMESH_ENVELOPE_IMPL_H

#include "geom/triangle_tree.h"
#include "remesh/envelope.h"

/* Part of the distance that the boundary between nodes of the lattice keeps to, and the boundary
 * once nodes were put on the surface; the rest is the improver's. */
#define KILN_ENVELOPE_TARGET     0.6
#define KILN_ENVELOPE_CUT_TARGET 0.8
/* Part of what is asked for that is taken as the distance: it is measured at points, and between
 * them the boundary may be a little farther. */
#define KILN_ENVELOPE_MARGIN 0.95

typedef struct kiln_envelope_node {
    int32_t c[3];  /* in units of the lattice: exact, so that lengths compare exactly */
    bool on;       /* put on the surface */
    double inside; /* winding number - 1/2 */
    kiln_vec3 at;
} kiln_envelope_node;

typedef struct kiln_envelope_tet {
    uint32_t v[4];
    uint32_t looked; /* known to be fine as it is */
} kiln_envelope_tet;

/* A point of the surface with its normal. */
typedef struct kiln_envelope_sample {
    kiln_vec3 at, normal;
    bool boundary; /* inside on one side and outside on the other */
} kiln_envelope_sample;

/* Where edges between inside and outside cross the boundary: found once, asked for often. */
typedef struct kiln_envelope_crossings {
    uint64_t *keys; /* [slot] ends, the lower in the high half; 0: free */
    double *parts;  /* of the way from the lower to the higher */
    size_t size, count;
} kiln_envelope_crossings;

typedef struct kiln_envelope {
    kiln_context *context;
    const char *place; /* for messages */
    kiln_vec3 origin;  /* likewise */
    kiln_triangle_tree surface;
    double distance, size; /* m */
    size_t most_tets;
    double unit; /* m */
    kiln_vec3 low;
    KILN_ARRAY_OF(kiln_envelope_node)
    nodes;
    KILN_ARRAY_OF(kiln_envelope_tet)
    tets;
    KILN_ARRAY_OF(kiln_envelope_sample)
    samples;
    kiln_envelope_crossings crossings;
} kiln_envelope;

/* Edges of a tet by corners. */
extern const uint8_t kiln_envelope_edges[6][2];

/* The lattice, fine enough everywhere. */
kiln_status kiln_envelope_lay(kiln_envelope *e, kiln_error *error);
/* Bisects the tets with mark[tet], and what must go with them. */
kiln_status kiln_envelope_bisect(kiln_envelope *e, const uint8_t *mark, kiln_error *error);
kiln_status kiln_envelope_too_many(const kiln_envelope *e, double tets, kiln_error *error);
/* Square of the longest edge, in units. */
int64_t kiln_envelope_longest2(const kiln_envelope *e, const kiln_envelope_tet *tet, int *edge);

/* Finds the crossings of all edges between inside and outside. To be called after the lattice or
 * what is inside has changed. */
kiln_status kiln_envelope_cross(kiln_envelope *e, kiln_error *error);
void kiln_envelope_forget_crossings(kiln_envelope *e);
/* Where the boundary of the inside meets the edge, as part of the way from a to b: one of their
 * nodes is inside, the other is not. The same point from both ends. */
double kiln_envelope_crossing(const kiln_envelope *e, uint32_t a, uint32_t b);

/* Samples of the surface. */
kiln_status kiln_envelope_sample_surface(kiln_envelope *e, kiln_error *error);

/* Is a point of a boundary with this normal within `distance` of the surface, or of where the
 * winding number is 1/2? `off`: how far it is from the surface. */
bool kiln_envelope_is_near(const kiln_envelope *e, kiln_vec3 p, kiln_vec3 normal, double distance,
                           double *off);

/* Isolated groups of nodes smaller than the distance go to the other side. */
kiln_status kiln_envelope_clean(kiln_envelope *e, size_t *specks, kiln_error *error);

/* How many parts the tets are in; 0 when out of memory. */
size_t kiln_envelope_count_parts(const kiln_soup *tets);
/* The part inside as a soup of tets, with nodes put on the surface or not. */
kiln_status kiln_envelope_cut(kiln_envelope *e, bool snap, kiln_soup *out, kiln_error *error);

/* Distances of the triangles of a result, into the report; kept is set. */
kiln_status kiln_envelope_measure(const kiln_envelope *e, const kiln_soup *result,
                                  kiln_envelope_report *report, kiln_error *error);
/* Samples that are a boundary and farther than `distance` from the triangles get far[sample]. */
kiln_status kiln_envelope_far_samples(const kiln_envelope *e, const kiln_triangle *triangles,
                                      size_t count, double distance, uint8_t *far, double *farthest,
                                      kiln_error *error);
/* Boxes of the triangles of a result that stray by more than `distance`, and of samples that it
 * misses by more. */
typedef KILN_ARRAY_OF(kiln_box)
kiln_box_array;
typedef struct kiln_envelope_places {
    kiln_box_array triangles, samples;
} kiln_envelope_places;
kiln_status kiln_envelope_strays(const kiln_envelope *e, const kiln_soup *result, double distance,
                                 kiln_envelope_places *out, kiln_error *error);
/* Bisects the tets there that are not as small as they get: at triangles those that the boundary
 * cuts, at samples any. Whether there were any. */
kiln_status kiln_envelope_refine_at(kiln_envelope *e, const kiln_envelope_places *places,
                                    bool *refined, kiln_error *error);
/* The boundary as it is now, without nodes put on the surface. */
typedef KILN_ARRAY_OF(kiln_triangle)
kiln_triangle_array;
kiln_status kiln_envelope_outline(const kiln_envelope *e, kiln_triangle_array *out,
                                  kiln_error *error);
/* The one or two triangles in which the boundary cuts a tet; how many. */
int kiln_envelope_cut_triangles(const kiln_envelope *e, const kiln_envelope_tet *tet,
                                kiln_triangle out[2]);

#endif

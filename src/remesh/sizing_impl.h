/* What the files of the sizing field share. */
#ifndef KILN_REMESH_SIZING_IMPL_H
#define KILN_REMESH_SIZING_IMPL_H

#include "base/arena.h"
#include "base/array.h"
#include "base/parallel.h"
#include "geom/bvh.h"
#include "remesh/sizing.h"

enum { KILN_SIZING_GRAIN = 512, KILN_SIZING_FUNCTIONS = 4 };

/* Tets of each vertex: tets[first[v] .. first[v + 1]), ascending. */
typedef struct kiln_sizing_stars {
    uint32_t *first, *tets;
    uint32_t largest; /* number of tets in the largest */
} kiln_sizing_stars;

struct kiln_sizing {
    kiln_context *context;
    kiln_arena arena;      /* everything below; what sources release waits for the next */
    const kiln_mesh *mesh; /* until finished */
    kiln_space space;
    uint32_t vertex_rows, tet_rows, first_tet;
    kiln_vec3 *point;        /* [vertex] */
    kiln_tet *tet;           /* [tet] */
    kiln_sym3 *metric;       /* [vertex]; all zero: none yet. Logarithms once finished */
    kiln_sizing_stars stars; /* first is NULL until a source needs them */
    struct {
        kiln_sizing_function function;
        void *user;
    } direct[KILN_SIZING_FUNCTIONS]; /* asked at lookups */
    int directs, sources;
    bool by_functions;         /* they alone: the vertices are not asked */
    kiln_metric_bounds bounds; /* of what the functions say */
    bool constant;
    kiln_sym3 constant_metric;
};

/* Builds sizing->stars unless they are there: before a mark is set. */
kiln_status kiln_sizing_need_stars(kiln_sizing *sizing, kiln_error *error);

/* Takes over the functions of another field whose metrics it has at its vertices. */
void kiln_sizing_adopt(kiln_sizing *sizing, const kiln_sizing *from);

/* Intersects a metric with that of a vertex. */
void kiln_sizing_combine(kiln_sizing *sizing, uint32_t vertex, const kiln_sym3 *metric);
/* Every vertex, or only those with a flag, gets the mean by volume of the logarithms of its tets,
 * or of those among them that go first; needs the stars. */
void kiln_sizing_combine_tets(kiln_sizing *sizing, const uint8_t *only, const uint8_t *first,
                              const kiln_sym3 *log_metric);

/* Every metric at most `growth` coarser per unit of length than its neighbours allow; vertices
 * without one get what is allowed. */
kiln_status kiln_sizing_gradate(kiln_sizing *sizing, double growth, kiln_error *error);

/* The larger curvature of the surface where the field is, [vertex] 1/m; those off it stay as they
 * are. */
kiln_status kiln_sizing_curvatures(kiln_sizing *sizing, double *curvature, kiln_error *error);

/* sizing_find.c: lookups in a body of any shape, whatever the hint. */
typedef struct kiln_sizing_index {
    const kiln_sizing *sizing;
    kiln_bvh tree;
    kiln_u32_array tets; /* [item] */
} kiln_sizing_index;
kiln_status kiln_sizing_index_build(const kiln_sizing *sizing, kiln_sizing_index *index,
                                    kiln_error *error);
void kiln_sizing_index_free(kiln_sizing_index *index);
/* As kiln_sizing_at. */
kiln_sym3 kiln_sizing_find(const kiln_sizing_index *index, kiln_vec3 p, uint32_t *hint);

KILN_INLINE bool kiln_sizing_live(const kiln_sizing *sizing, uint32_t tet)
{
    return sizing->tet[tet].v[0] != KILN_NONE;
}
/* Dw Dm^-1 (DLR eq. 1 without the plastic offset), and F'F. */
kiln_mat3 kiln_sizing_gradient(const kiln_mesh *mesh, const uint32_t v[4]);
KILN_INLINE kiln_sym3 kiln_sizing_squared(const kiln_mat3 *f)
{
    return kiln_sym3_from_mat3(kiln_m3_mul(kiln_m3_transpose(*f), *f));
}
/* A metric of the world at a vertex as the space of the field sees it; needs the stars. */
kiln_sym3 kiln_sizing_pull_back(const kiln_sizing *sizing, uint32_t vertex, kiln_sym3 world);
/* An error unless the field is in material space. */
kiln_status kiln_sizing_check_space(const kiln_sizing *sizing, const char *what, kiln_error *error);
/* An error unless h is positive and finite. */
kiln_status kiln_sizing_check_size(double h, const char *what, kiln_error *error);

/* Array from the arena, as it comes or filled with zeros; NULL when out of memory. */
#define kiln_sizing_room(sizing, T, count)  kiln_arena_array(&(sizing)->arena, T, (count) + 1)
#define kiln_sizing_zeros(sizing, T, count) ((T *)kiln_sizing_cleared((sizing), (count), sizeof(T)))
void *kiln_sizing_cleared(kiln_sizing *sizing, size_t count, size_t size);

#endif

/* What the files of the sizing field share. */
#ifndef KILN_REMESH_SIZING_IMPL_H
#define KILN_REMESH_SIZING_IMPL_H

#include "base/array.h"
#include "base/parallel.h"
#include "remesh/sizing.h"

enum { KILN_SIZING_GRAIN = 512, KILN_SIZING_FUNCTIONS = 4 };

struct kiln_sizing {
    kiln_context *context;
    const kiln_mesh *mesh; /* until finished */
    kiln_space space;
    uint32_t vertex_rows, tet_rows, first_tet;
    kiln_vec3 *point;  /* [vertex] */
    kiln_tet *tet;     /* [tet] */
    kiln_sym3 *metric; /* [vertex]; all zero: none yet. Logarithms once finished */
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

/* Tets of each vertex: tets[first[v] .. first[v + 1]), ascending. */
typedef struct kiln_sizing_stars {
    uint32_t *first, *tets;
    size_t rows, links;
} kiln_sizing_stars;
kiln_status kiln_sizing_stars_create(const kiln_sizing *sizing, kiln_sizing_stars *stars,
                                     kiln_error *error);
void kiln_sizing_stars_free(const kiln_sizing *sizing, kiln_sizing_stars *stars);

/* Takes over the functions of another field whose metrics it has at its vertices. */
void kiln_sizing_adopt(kiln_sizing *sizing, const kiln_sizing *from);

/* Intersects a metric with that of a vertex. */
void kiln_sizing_combine(kiln_sizing *sizing, uint32_t vertex, const kiln_sym3 *metric);
/* Every vertex gets the mean by volume of the logarithms of its tets. */
void kiln_sizing_combine_tets(kiln_sizing *sizing, const kiln_sizing_stars *stars,
                              const kiln_sym3 *log_metric);

/* Every metric at most `growth` coarser per unit of length than its neighbours allow; vertices
 * without one get what is allowed. */
kiln_status kiln_sizing_gradate(kiln_sizing *sizing, double growth, kiln_error *error);

KILN_INLINE bool kiln_sizing_live(const kiln_sizing *sizing, uint32_t tet)
{
    return sizing->tet[tet].v[0] != KILN_NONE;
}
/* An error unless h is positive and finite. */
kiln_status kiln_sizing_check_size(double h, const char *what, kiln_error *error);

/* Zero-filled array from the context; NULL when out of memory. */
void *kiln_sizing_alloc(const kiln_sizing *sizing, size_t count, size_t size);
void kiln_sizing_free(const kiln_sizing *sizing, void *block, size_t count, size_t size);

#endif

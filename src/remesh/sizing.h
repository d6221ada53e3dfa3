/* A sizing field: the metric that the mesher is asked for at every point.
 *
 * It lives on the vertices of the mesh it was made of, which it copies, and is interpolated by its
 * logarithm; a lookup walks from a hint, so that it costs a few tet visits. Sources are added one
 * after the other, each intersected with what is there; then the field is finished: limits,
 * gradation, logarithms. From then on it does not change and may be read from several threads.
 *
 *     kiln_sizing *sizing;
 *     KILN_TRY(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, error));
 *     KILN_TRY(kiln_sizing_add_size(sizing, 0.1, error));
 *     KILN_TRY(kiln_sizing_add_world(sizing, 0.2, error));
 *     KILN_TRY(kiln_sizing_finish(sizing, &(kiln_sizing_limits){.ratio = 1.3}, error));
 *
 * Everything is relative to the sizes asked for; no length is built in. */
#ifndef KILN_REMESH_SIZING_H
#define KILN_REMESH_SIZING_H

#include "mesh/mesh.h"
#include "remesh/metric.h"

typedef struct kiln_sizing kiln_sizing;

/* Of the mesh as it is now, with positions in the given space. The mesh is borrowed until the field
 * is finished. */
kiln_status kiln_sizing_create(const kiln_mesh *mesh, kiln_space space, kiln_sizing **out,
                               kiln_error *error);
void kiln_sizing_destroy(kiln_sizing *sizing); /* NULL: nothing */
/* Begins another field in the memory of one: who makes a field every step need not ask for memory
 * every step. Of whatever mesh; after an error it may be renewed again or destroyed. */
kiln_status kiln_sizing_renew(kiln_sizing *sizing, const kiln_mesh *mesh, kiln_space space,
                              kiln_error *error);

/* Edges of h metres everywhere. */
kiln_status kiln_sizing_add_size(kiln_sizing *sizing, double h, kiln_error *error);

/* One value for each vertex row: 1 component, the size in metres; or 6, a metric in the order of
 * files (Medit): xx, xy, yy, xz, yz, zz. Rows of dead vertices are not looked at; `rows` must be
 * those of the mesh. A metric that is not positive definite is refused. */
kiln_status kiln_sizing_add_values(kiln_sizing *sizing, const double *values, size_t rows,
                                   int components, kiln_error *error);

/* M(p). Sampled at the vertices, or (direct) asked at every lookup as well, which needs a function
 * that may be called from several threads; its metric must be positive definite. */
typedef kiln_sym3 (*kiln_sizing_function)(void *user, kiln_vec3 p);
kiln_status kiln_sizing_add_function(kiln_sizing *sizing, kiln_sizing_function function, void *user,
                                     bool direct, kiln_error *error);

/* Edges of h metres in world space, F'F / h^2: for a field in material space. */
kiln_status kiln_sizing_add_world(kiln_sizing *sizing, double h, kiln_error *error);

/* A metric of the world for each vertex, 1/m^2; all zero: none. Those around have what these allow
 * by a gradation of their own, as in kiln_sizing_limits, along lengths of the world. */
kiln_status kiln_sizing_add_world_metrics(kiln_sizing *sizing, const kiln_sym3 *world, double ratio,
                                          kiln_error *error);

/* Edges as long in the world as they were at the start, and finer where matter has flowed: F'F
 * finer(e)^2 / h^2 with the equivalent plastic strain e. In world space without F, but for tets
 * that count at rest: with G = F F' up to a factor lengths are those of rest, G^-1 / h^2, and
 * vertices that have such tets go by them alone. */
typedef struct kiln_stretch_sizing {
    const double *start;     /* [vertex] h, m */
    const double *flowed;    /* [tet] e; NULL: nothing has */
    double rate, most;       /* finer(e) = 1 + rate e, at most this */
    const uint8_t *at_rest;  /* [tet] counts at rest; NULL: none does */
    const kiln_sym3 *offset; /* [tet] G of those */
} kiln_stretch_sizing;
kiln_status kiln_sizing_add_stretch(kiln_sizing *sizing, const kiln_stretch_sizing *options,
                                    kiln_error *error);

/* Ridges of the surface that matter bends: no edge along them turns in the world by more than an
 * angle. Along the ridge only, at vertices that have sizes from other sources. */
typedef struct kiln_ridge_sizing {
    double turn;         /* radians an edge */
    const double *start; /* [vertex] m in the world: no word where that is finer */
    const double *bent;  /* [vertex] 1/m: curvatures that ridges have anyway */
    double most;         /* at most this much finer than start */
} kiln_ridge_sizing;
kiln_status kiln_sizing_add_ridges(kiln_sizing *sizing, const kiln_ridge_sizing *options,
                                   kiln_error *error);

/* Surfaces that matter bends, in or out: no edge across a bend turns in the world by more than an
 * angle. Sizes along it are longer by a ratio, inside those of other sources and by gradation. */
typedef struct kiln_bend_sizing {
    double turn;         /* radians an edge */
    const double *start; /* [vertex] m in the world: no word where that is finer */
    const double *bent;  /* [vertex] 1/m: curvature the surface has anyway */
    double most;         /* at most this much finer than start */
    double ratio;        /* of sizes along and across a bend, at most */
} kiln_bend_sizing;
kiln_status kiln_sizing_add_bends(kiln_sizing *sizing, const kiln_bend_sizing *options,
                                  kiln_error *error);

/* The larger curvature of the surface in the world, [vertex] 1/m; 0 off it. Features do not count.
 */
kiln_status kiln_surface_curvatures(const kiln_mesh *mesh, double *curvature, kiln_error *error);

/* Curvatures of ridges in the world, [vertex] 1/m; 0 off them and where they meet or end. */
kiln_status kiln_ridge_curvatures(const kiln_mesh *mesh, double *curvature, kiln_error *error);

/* After all sources: where they ask for more than about this many tets, sizes become coarser by one
 * factor, but nowhere coarser than `coarsest` [vertex], m. `edge`: the length in the metric that
 * edges will have in the mean, 1 where size control keeps to its usual bounds. */
kiln_status kiln_sizing_fit(kiln_sizing *sizing, const double *coarsest, double edge, double tets,
                            kiln_error *error);

/* Finer where the deformation changes from tet to tet (DLR eq. 7). As printed that is no gradient,
 * since the norms are 1 where nothing changes; it is kept as `printed`. The default takes 1 off
 * them, so that a uniform deformation asks for h_max. */
typedef struct kiln_strain_sizing {
    double accuracy; /* kappa, 1/m: larger is finer */
    double h_max;    /* m; size where there is no gradient */
    bool printed;
    const double *gradient; /* [tet][9] in place of Dw Dm^-1, where matter has flowed; needed in
                               world space; NULL: none */
} kiln_strain_sizing;
kiln_status kiln_sizing_add_strain(kiln_sizing *sizing, const kiln_strain_sizing *options,
                                   kiln_error *error);

/* Edges that turn by no more than an angle along the surface; feature edges do not count. Vertices
 * inside get theirs by gradation or from other sources. */
typedef struct kiln_curvature_sizing {
    double turn;         /* radians an edge */
    double h_min, h_max; /* m */
    bool stretched;      /* along a ridge as long as it is straight; else the finer size only */
} kiln_curvature_sizing;
kiln_status kiln_sizing_add_curvature(kiln_sizing *sizing, const kiln_curvature_sizing *options,
                                      kiln_error *error);

/* Edges along the surface whose chords stay within `least`, or that part of the local edge, of what
 * bends there; nowhere shorter than the mesh has them. */
typedef struct kiln_chord_sizing {
    double least;   /* m */
    double of_edge; /* part */
    double h_max;   /* m */
} kiln_chord_sizing;
kiln_status kiln_sizing_add_chords(kiln_sizing *sizing, const kiln_chord_sizing *options,
                                   kiln_error *error);

/* Walls of some thickness: edges along them no longer than keeps their middles within a part of it
 * where they bend; longer where they do not, up to `most`. */
typedef struct kiln_shell_sizing {
    const double *thickness; /* [vertex] m; 0: no wall, no word */
    const double *most;      /* [vertex] m */
    double sag;              /* part of the thickness */
} kiln_shell_sizing;
kiln_status kiln_sizing_add_shells(kiln_sizing *sizing, const kiln_shell_sizing *options,
                                   kiln_error *error);

/* Plates and needles: tets along them as long as asked for, and across them a number of layers
 * where they are thinner than half of that (sizing_thin.c). A size for every vertex; to be finished
 * in the same way as others. */
typedef struct kiln_thin_sizing {
    double size;     /* m along the body; 0: as long as the edges there are, with as many tets */
    uint32_t layers; /* of tets across; 0: 1 */
    double sag;      /* part of its thickness that an edge along a wall may leave its middle by */
} kiln_thin_sizing;
typedef struct kiln_thin_report {
    size_t vertices;  /* where it is thin */
    double thickness; /* m, the least of those; infinite: none */
    double tets;      /* of the mesh, or as many as the size asks for without bends */
    double isotropic; /* tets that sizes would ask for that are as small in all directions */
} kiln_thin_report;
kiln_status kiln_sizing_add_thin(kiln_sizing *sizing, const kiln_thin_sizing *options,
                                 kiln_thin_report *report, kiln_error *error);

/* 0: no such limit. The ratio is that of sizes one edge apart, above 1 (1.3 is usual). */
typedef struct kiln_sizing_limits {
    kiln_metric_bounds bounds;
    double ratio;
} kiln_sizing_limits;
/* Refused where a vertex has no size from any source nor from a neighbour by gradation, and there
 * is no h_max. */
kiln_status kiln_sizing_finish(kiln_sizing *sizing, const kiln_sizing_limits *limits,
                               kiln_error *error);

/* About how many tets a finished field asks for. */
double kiln_sizing_tets(const kiln_sizing *sizing);

/* Where a point is in the mesh of the field; outside, the nearest place in the tet where the walk
 * ended, so that the metric never extrapolates. */
typedef struct kiln_sizing_place {
    uint32_t tet, visits;
    double weight[4]; /* none negative, sum 1 */
} kiln_sizing_place;
kiln_sizing_place kiln_sizing_locate(const kiln_sizing *sizing, kiln_vec3 p, uint32_t hint);

/* The metric at p, finished fields only. *hint: a tet of the mesh near p (any number will do, at
 * the price of a walk); it becomes the one found. */
kiln_sym3 kiln_sizing_at(const kiln_sizing *sizing, kiln_vec3 p, uint32_t *hint);
/* The same where the vertices of the tet that holds p and the weights are known. */
kiln_sym3 kiln_sizing_in(const kiln_sizing *sizing, kiln_vec3 p, const uint32_t v[4],
                         const double weight[4]);
/* At a vertex of the mesh the field was made of. */
kiln_sym3 kiln_sizing_at_vertex(const kiln_sizing *sizing, uint32_t vertex);

/* The same everywhere? Then *metric is what lookups return. */
bool kiln_sizing_is_constant(const kiln_sizing *sizing, kiln_sym3 *metric);

/* Are there functions that lookups ask? Then the field between two points is not known from them.
 */
bool kiln_sizing_is_direct(const kiln_sizing *sizing);

/* The field carried over to a mesh that was remeshed since (hints: a tet of the old mesh for each
 * vertex row, or NULL): a new finished field with the same functions. */
kiln_status kiln_sizing_carry(const kiln_sizing *sizing, const kiln_mesh *mesh,
                              const uint32_t *hints, kiln_sizing **out, kiln_error *error);

/* The same, but at no vertex and in no direction more than `factor` finer than the mesh is there:
 * the next step of a mesh on its way to a field that is far from it. *arrived: the target is
 * nowhere farther than one more such step, and the field is the target itself. */
kiln_status kiln_sizing_approach(const kiln_sizing *target, const kiln_mesh *mesh, double factor,
                                 kiln_sizing **out, bool *arrived, kiln_error *error);

#endif

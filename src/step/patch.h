/* A piece of a step's objective: some vertices are free, all others stay where they are.
 *
 * Remeshing inside a step (energy_remesh.h) asks of every change that it tries by how much the
 * objective falls when what is round it has found its new rest (ITR 3.6). The objective is that of
 * the whole step (solid_solve.c) without what a patch does not touch, so differences of the two are
 * the same.
 *
 *   P1  The places that count are those at the end of the step, the vertex field KILN_FIELD_END;
 *       mesh->x and the other columns of state are the step's begin, of which inertia is made.
 *   P2  What is asked for is a difference, summed tet by tet: gains may be 1e-14 of the whole.
 *   P3  A patch holds numbers, not rows of the mesh: it lives until the mesh changes. */
#ifndef KILN_STEP_PATCH_H
#define KILN_STEP_PATCH_H

#include "fem/damping_impl.h"
#include "geom/sym3.h"
#include "mesh/idset.h"
#include "mesh/txn.h"
#include "mesh/walk.h"
#include "step/integrator.h"
#include "step/tie.h"
#include "step/vicinity.h"

#define KILN_FIELD_END    "step_end"   /* vertex, 3 doubles, rule direct: m */
#define KILN_FIELD_HELD   "step_held"  /* vertex, bits of tie.h, rule inherit */
#define KILN_FIELD_AXIS   "step_axis"  /* vertex, 3 doubles, rule none: the axis of turned ones */
#define KILN_FIELD_POINTS "step_force" /* vertex, 3 doubles, rule none: N at single vertices */
#define KILN_FIELD_TRACTION                                                                        \
    "step_traction" /* face, 3 doubles, rule copy: N/m^2 of the material                           \
                     */

#define KILN_FIELD_PRESSURE                                                                        \
    "step_pressure" /* face, double, rule copy: Pa that follow it, inward                          \
                     */

/* Tet, double, rule copy: kg/m^3 of the material, the mean of a part and its material. The masses
 * of single tets are shares of what they were made of, no even density: a change of the mesh would
 * gain by what it makes heavier. */
#define KILN_FIELD_EVENLY "step_density"

/* Tet, rule copy: threshold and growth of the yield surface of the step (flow_potential.h), Pa,
 * KILN_NEVER_YIELDS: elastic; and the rest volume over that in the material, where the mesh has
 * offsets. As densities they stay what they are when the mesh changes. */
#define KILN_FIELD_YIELD "step_yield" /* 2 doubles */
#define KILN_FIELD_REST  "step_rest"  /* double */
#define KILN_FIELD_BULK  "step_bulk"  /* 3 doubles: N/m^3 of the material */
/* And where they are functions, asked for tet by tet: mu and lambda, Pa; Pa s. */
#define KILN_FIELD_STIFFNESS "step_stiffness" /* 2 doubles */
#define KILN_FIELD_VISCOSITY "step_viscosity" /* double */
#define KILN_FIELD_STEADY    "step_steady"    /* double: s, damping of what slides */

/* What the objective is made of, besides the columns of the mesh. */
typedef struct kiln_local_objective {
    kiln_mesh *mesh;                /* borrowed */
    const kiln_material *materials; /* borrowed, by the tet field "material" */
    size_t material_count;
    kiln_scheme scheme;             /* scale 0: no inertia */
    kiln_vec3 acceleration;         /* of dead loads, m/s^2 */
    kiln_vicinity_surface *surface; /* contact; NULL: none. Borrowed */
    bool nodal;                     /* some material has nodal pressure (nodes.h) */
    struct {
        double tau, weight; /* s; of forces that resist (integrator.h) */
        bool any;           /* some material has them, or something slides: */
        bool steady;        /* and is damped for it */
    } brief;

    /* Columns, looked up by kiln_objective_look whenever the mesh may have grown. */
    kiln_vec3 *end;
    const kiln_vec3 *history[KILN_HISTORY_COUNT], *traction, *points, *bulk;
    const kiln_vec3 *axis; /* NULL: nothing is held along turned axes */
    const uint32_t *held, *material;
    const double *density, (*lame)[2], *viscosity; /* NULL: the materials' */
    const double *steady;                          /* beside damping_stiffness; NULL: none */
    const double *pressure;                        /* NULL: none */
    kiln_vec3 apex;           /* of the cones over faces with pressure, m: see below */
    const double (*yield)[2]; /* NULL: elastic */
    const double *rest, *hardening;
    const kiln_sym3 *offset; /* NULL: none; else there is `rest` */
} kiln_local_objective;

void kiln_objective_look(kiln_local_objective *objective);

/* One tet: its rest shape, its matter. */
typedef struct kiln_patch_tet {
    kiln_vec3 gradient[4]; /* of the shape functions in rest space, 1/m */
    double volume, mass;   /* at rest, m^3; kg */
    const kiln_material *material;
    double mu, lambda, viscosity, steady;
    double yield[2]; /* threshold and growth, Pa */
    kiln_vec3 dead;  /* N, of loads on all of it */
} kiln_patch_tet;

/* How a vertex is held. */
kiln_tie kiln_objective_tie(const kiln_local_objective *objective, uint32_t vertex);

/* What a vertex brings to the tets at it. */
typedef struct kiln_patch_corner {
    kiln_vec3 x, centre;                   /* at the end of the step; of inertia */
    kiln_vec3 origin, begin, before, rate; /* of damping, where there is any: m, and m/s */
} kiln_patch_corner;
kiln_patch_corner kiln_objective_corner(const kiln_local_objective *objective, uint32_t vertex);
kiln_patch_corner kiln_patch_corner_mean(const kiln_patch_corner *of, const double *weight,
                                         int count);

/* What tets bring to a node of the nodal pressure (nodes.h): sums over them. */
typedef struct kiln_node {
    double weight, dilation; /* m^3: of their rest volumes V, and of V theta */
    double mu, lambda;       /* J: of V times them */
} kiln_node;

/* A face that pressure follows (fem/loads.h). */
typedef struct kiln_patch_face {
    uint32_t row[3]; /* outward */
    double pressure;
} kiln_patch_face;

/* Batches of one material (fem/elements_impl.h). */
typedef struct kiln_patch_span {
    size_t first, count; /* batches */
    const kiln_material *material;
} kiln_patch_span;

/* Nodal pressure of a patch: nodes are rows within a material, number row * materials + material.
 * Empty without it. */
typedef struct kiln_patch_pressure {
    size_t materials;
    kiln_u32_array beyond; /* vertices of tets that are not of the patch and count in its nodes */
    KILN_ARRAY_OF(kiln_node)
    others, nodes;       /* [node] of those tets; of all, but for the dilations of the patch's */
    kiln_f64_array mean; /* [batch][8] theta, and then the mean of U' over the nodes of the tet */
    kiln_f64_array amount, value, tried_value, slope, curvature; /* [node] m^3; J; J; Pa; Pa/m^3 */
    kiln_u32_array first, lane; /* [row + 1], and the lanes at each row */
    KILN_ARRAY_OF(kiln_vec3)
    gradient, sum;       /* [batch][8][4] V dtheta by the corners; [row] of a node, zero between */
    kiln_u32_array star; /* scratch: the rows of a node's tets */
    KILN_ARRAY_OF(uint8_t)
    listed;         /* [row] in it */
    double at_once; /* J by which the energy of nodes falls by a split, before anything moves */
} kiln_patch_pressure;

typedef struct kiln_patch {
    kiln_context *context;
    kiln_walker walker;
    kiln_idset row_of;     /* vertex -> row */
    kiln_idset seen;       /* tets */
    kiln_u32_array vertex; /* [row], KILN_NONE: one that is not there yet */
    bool splits;           /* the edge of rows 1 and 2, by row 0 in its middle */
    size_t free;           /* rows before this are */
    KILN_ARRAY_OF(kiln_vec3)
    u, x, centre, force, tried; /* [row] m; m; m; N; m */
    KILN_ARRAY_OF(kiln_vec3)
    origin, begin, before, rate; /* [row], as corners have them */
    KILN_ARRAY_OF(kiln_tie)
    held;                      /* [row] */
    kiln_u32_array tets, rows; /* [tet], [tet][4] ascending */
    kiln_f64_array order;      /* [tet] 1 or -1: that of the rows is odd */
    KILN_ARRAY_OF(kiln_element_batch)
    batches;
    KILN_ARRAY_OF(kiln_patch_span)
    spans;
    kiln_u32_array lanes;       /* [batch][8][4] rows */
    kiln_f64_array lame, yield; /* [batch][2][8] */
    kiln_f64_array mass, turn;  /* [batch][8]: kg, sign of the order */
    KILN_ARRAY_OF(kiln_vec3)
    dead;                /* [batch][8] N */
    kiln_f64_array drag; /* [batch][8] 1/s^2, of the mass */
    KILN_ARRAY_OF(kiln_damper)
    dampers;                           /* [batch] of spans that have them */
    kiln_f64_array aside;              /* [row][3] N, where resistance is that of means */
    kiln_f64_array value, tried_value; /* [batch][8] J, at x and at `tried` */
    kiln_f64_array g, step;            /* [row][3] */
    kiln_bsr H;                        /* all blocks of the upper triangle between free rows */
    KILN_ARRAY_OF(uint64_t)
    start;
    kiln_f64_array blocks;
    kiln_f64_array L, right; /* the factor of patch_factor.c, and room for its solves */
    bool shapeless;          /* some tet has no shape: nothing can be said */
    kiln_patch_pressure pressure;
    KILN_ARRAY_OF(kiln_patch_face)
    loaded;
    kiln_vicinity near; /* what its surface meets, with a row for each that is free */
    kiln_f64_array near_value, near_tried; /* J, as `value` */
    /* Of one that splits, which knows nothing of others: it is among them. */
    bool touches;
} kiln_patch;

void kiln_patch_init(kiln_patch *patch, kiln_context *context);
void kiln_patch_free(kiln_patch *patch);

/* A tet of the mesh; false: it has no shape. */
bool kiln_patch_form(const kiln_local_objective *objective, uint32_t tet, kiln_patch_tet *out);
/* One with these corners, in any order, of the matter of `of`: need not be there. */
bool kiln_patch_form_corners(const kiln_local_objective *objective, const kiln_vec3 u[4],
                             uint32_t of, kiln_patch_tet *out);
/* Whether what these have been through, and the load on them, is the same, so that it does not
 * matter which of them a new tet has its matter of. */
bool kiln_objective_is_alike(const kiln_local_objective *objective, const uint32_t *tets,
                             size_t count);
/* Of the drag that resists motion itself, over its mass, 1/s^2. */
double kiln_objective_drag(const kiln_local_objective *objective, const kiln_material *material);
/* Inertia, drag and dead loads of one. */
double kiln_patch_tet_other(const kiln_local_objective *objective, const kiln_patch_tet *tet,
                            const kiln_patch_corner corner[4]);
/* Sum over many [count][4], with their elastic energies, what resists their strain, and without the
 * loads on their faces; INFINITY where one is turned inside out. */
double kiln_patch_tets_value(const kiln_local_objective *objective, const kiln_patch_tet *tets,
                             const kiln_patch_corner (*corner)[4], size_t count);
/* The same one by one, of up to eight. */
void kiln_patch_tets_values(const kiln_local_objective *objective, const kiln_patch_tet *tets,
                            const kiln_patch_corner (*corner)[4], size_t count, double *value);
/* Of many [count][4]: gradients of their elastic energies, and of what resists their strain, by the
 * corners, and the diagonal blocks of the Hessians' PSD parts. Eight at a time where neighbours are
 * of one material. */
void kiln_patch_tets_slopes(const kiln_local_objective *objective, const kiln_patch_tet *tets,
                            const kiln_patch_corner (*corner)[4], size_t count, kiln_vec3 (*g)[4],
                            kiln_mat3 (*H)[4]);
/* Their elastic energies, J; INFINITY where a material with a barrier is turned inside out. */
void kiln_patch_tets_energies(const kiln_context *context, const kiln_patch_tet *tets,
                              const kiln_patch_corner (*corner)[4], size_t count, double *energy);
kiln_mat3 kiln_patch_tet_deformation(const kiln_patch_tet *tet, const kiln_vec3 x[4]);
/* What pulls at a surface face of a tet, N; zero: it is none, or nothing does. */
kiln_vec3 kiln_objective_pull(const kiln_local_objective *objective, uint32_t tet, int face);
/* Pressure on it, Pa; 0: none. */
double kiln_objective_pressure(const kiln_local_objective *objective, uint32_t tet, int face);
kiln_vec3 kiln_objective_centre(const kiln_local_objective *objective, uint32_t vertex);
/* Where brief forces measure velocities from. */
kiln_vec3 kiln_objective_origin(const kiln_local_objective *objective, uint32_t vertex);
/* Elastic energy at the end of the step, with what flow has taken in it, J. */
double kiln_objective_stored(const kiln_local_objective *objective);
/* Sum over tets of the mesh as they are, with the loads on their faces. Of pressure that is p V of
 * the cones over them: differences are those of the volume between two surfaces with the same rim,
 * whatever the apex, or with rims that differ by triangles that have it for a corner. */
double kiln_patch_sum(const kiln_local_objective *objective, const uint32_t *tets, size_t count);
/* Without the loads on their faces. */
double kiln_patch_sum_inside(const kiln_local_objective *objective, const uint32_t *tets,
                             size_t count);
/* The same tet by tet, as sums over one are. */
void kiln_patch_values_inside(const kiln_local_objective *objective, const uint32_t *tets,
                              size_t count, double *value);

/* The tets at these vertices, which are free as far as nothing holds them. */
kiln_status kiln_patch_gather(kiln_patch *patch, const kiln_local_objective *objective,
                              const uint32_t *vertices, size_t count, kiln_error *error);
/* The same with the edge split that is not, at a vertex which is free too: places, rest and mass
 * are those that a split gives. Lists and reserves; kiln_patch_fill, which allocates nothing, does
 * the rest. It touches if something repels it; and if others are where it has come to, which is
 * looked for last, as few splits are worth it. */
kiln_status kiln_patch_list_split(kiln_patch *patch, const kiln_local_objective *objective,
                                  const uint32_t end[2], const uint32_t *vertices, size_t count,
                                  kiln_error *error);
kiln_status kiln_patch_look_split(kiln_patch *patch, const kiln_local_objective *objective,
                                  kiln_error *error);
void kiln_patch_fill(kiln_patch *patch, const kiln_local_objective *objective);
/* Newton, at most `iterations` of it, until one gains less than `enough` (J) or nothing moves by
 * more than `tolerance` (m). Returns by how much the objective fell, J. */
double kiln_patch_relax(kiln_patch *patch, const kiln_local_objective *objective, int iterations,
                        double enough, double tolerance);
/* The places found, to the mesh; `made` is the vertex that was not there. */
kiln_verdict kiln_patch_store(const kiln_patch *patch, kiln_mesh *mesh, uint32_t made,
                              kiln_txn *txn);

#endif

/* Contact round some vertices of a mesh that changes while it is looked at (energy_remesh.h): which
 * pairs of surfaces they are in, what those repel with, and how far they may go.
 *
 *   N1  Pairs and energies are those of the step (collide.h), with the angles between edges, and
 *       how surfaces face walls, as they are where the pairs were gathered.
 *   N2  All pairs that a gathered vertex is in are there while each stays within `room` of its
 *       place. Ways are certified as there.
 *   N3  The surface is known as of the last change that was told: faces that changed since the tree
 *       grew are in a list beside it, and when that is long the tree grows anew. */
#ifndef KILN_STEP_VICINITY_H
#define KILN_STEP_VICINITY_H

#include "mesh/walk.h"
#include "step/collide.h"

/* Beyond rounding. */
#define KILN_VICINITY_SURELY (1.0 + 1e-9)

struct kiln_local_objective;

/* An edge of the surface whose middle is pressed: by what a vertex there would take over. */
typedef struct kiln_pressed_edge {
    uint64_t ends;
    kiln_vec3 force; /* N */
} kiln_pressed_edge;

/* What all gatherings of a pass share. Zero-initialise. */
typedef struct kiln_vicinity_surface {
    kiln_context *context;
    const kiln_collide *collide; /* its rules, walls and hardness, not its pairs; borrowed */
    const kiln_vec3 *places; /* [row] at the end of the step, walls too; borrowed, as the next */
    const kiln_vec3 *walls;  /* [point] of them */
    const kiln_vec3 *wall_origin, *wall_begin; /* where velocities, and ways, are measured from */
    double weight, tau;                        /* of brief forces (integrator.h); s */
    bool over;                                 /* forces are over the step (kiln_repulsion_over) */
    double typical;                            /* m^2, a face of the bodies */
    double most;                               /* m, the largest clearance */
    kiln_f64_array area, modulus;              /* [vertex slot] m^2, Pa, of the surface */
    KILN_ARRAY_OF(kiln_pressed_edge)
    pressed; /* by their ends, at the step's end; and */
    KILN_ARRAY_OF(uint8_t)
    repelled;             /* [vertex slot of the begin] whether something is in its reach */
    kiln_bvh tree;        /* of faces as they were when it grew, */
    kiln_u32_array grown; /* [item] their records, */
    kiln_u32_array fresh; /* and records of what has changed since, with */
    KILN_ARRAY_OF(kiln_box)
    fresh_boxes;
    kiln_bvh wall_points, wall_edges, wall_faces;
    KILN_ARRAY_OF(kiln_box)
    boxes; /* scratch */
} kiln_vicinity_surface;

/* Of the mesh as it is, at the end of the step. The fields up to `over` are given. */
kiln_status kiln_vicinity_surface_begin(kiln_vicinity_surface *surface,
                                        const struct kiln_local_objective *objective,
                                        kiln_error *error);
void kiln_vicinity_surface_end(kiln_vicinity_surface *surface);
/* The faces at these vertices have become others, or are elsewhere. */
kiln_status kiln_vicinity_surface_tell(kiln_vicinity_surface *surface,
                                       const struct kiln_local_objective *objective,
                                       kiln_walker *walker, const uint32_t *vertices, size_t count,
                                       kiln_error *error);

/* Young's, of a tet. */
double kiln_vicinity_modulus(const struct kiln_local_objective *objective, uint32_t tet);

/* Part of the begin (vicinity_pressed.c). */
kiln_status kiln_vicinity_list_pressed(kiln_vicinity_surface *surface, kiln_error *error);
/* N, what presses the middle of an edge, as of the begin of the pass. */
kiln_vec3 kiln_vicinity_pressed(const kiln_vicinity_surface *surface, uint32_t a, uint32_t b);

/* Whether it was within the reach of something then; what was made since was not. */
KILN_INLINE bool kiln_vicinity_is_repelled(const kiln_vicinity_surface *surface, uint32_t vertex)
{
    return vertex < surface->repelled.count && surface->repelled.data[vertex];
}

/* One side of a pair that may be: one to three rows. */
typedef struct kiln_vicinity_item {
    uint32_t row[3];
    uint32_t number; /* of a wall's face */
    double area;     /* m^2 it stands for */
    bool own, wall;  /* something of it may move; it is a wall's */
    kiln_box box;
} kiln_vicinity_item;
typedef KILN_ARRAY_OF(kiln_vicinity_item)
kiln_vicinity_items;

/* An item along an axis. */
typedef struct kiln_vicinity_span {
    double low, high;
    uint32_t item;
    bool own, first; /* of the first of two lists */
} kiln_vicinity_span;

/* What a pair does: its energy has this slope and curvature along the normal. */
typedef struct kiln_vicinity_push {
    const uint32_t *row; /* [4]; those from `free` on stay */
    const double *weight;
    kiln_vec3 normal;
    double slope, curvature; /* N, N/m */
} kiln_vicinity_push;

/* What rubs: the normal force there was. */
typedef struct kiln_vicinity_rub {
    uint32_t pair;
    double load; /* N, times the coefficient */
    double weight[4];
    kiln_vec3 along[2]; /* tangents */
} kiln_vicinity_rub;

/* Zero-initialise but for the context. */
typedef struct kiln_vicinity {
    kiln_context *context;
    kiln_walker walker;
    kiln_idset rows, faces; /* vertex, or point of a wall, -> row; records */
    kiln_u32_array vertex;  /* [row] slot, or that of a wall's point */
    size_t free;            /* rows before this may move */
    KILN_ARRAY_OF(kiln_vec3)
    x, place, facing;             /* [row]; [row] where it was gathered; [free row] */
    kiln_f64_array area, modulus; /* [row] of bodies */
    kiln_vicinity_items points, edges, triangles;
    KILN_ARRAY_OF(kiln_surface_pair)
    pairs;                 /* of rows */
    kiln_f64_array scale;  /* [pair] N */
    kiln_f64_array before; /* [pair] m, with `over` */
    kiln_f64_array apart;  /* [pair] m, beyond the clearance, where it was gathered */
    KILN_ARRAY_OF(kiln_vicinity_rub)
    rubs;
    KILN_ARRAY_OF(kiln_vicinity_span)
    spans;       /* scratch */
    double room; /* m */
} kiln_vicinity;

void kiln_vicinity_init(kiln_vicinity *near, kiln_context *context);
void kiln_vicinity_free(kiln_vicinity *near);
/* Of nothing. */
void kiln_vicinity_clear(kiln_vicinity *near);

/* Rows 0 to count - 1 are these vertices, at `x` [row] (NULL: at the end of the step). Friction is
 * of the forces at the end of the step. */
kiln_status kiln_vicinity_gather(kiln_vicinity *near, const kiln_vicinity_surface *surface,
                                 const struct kiln_local_objective *objective,
                                 const uint32_t *vertices, size_t count, const kiln_vec3 *x,
                                 double room, kiln_error *error);

/* Energies, J: kiln_vicinity_count of them, with the free rows at x. */
KILN_INLINE size_t kiln_vicinity_count(const kiln_vicinity *near)
{
    return near->pairs.count + near->rubs.count;
}
void kiln_vicinity_values(kiln_vicinity *near, const kiln_vicinity_surface *surface,
                          const struct kiln_local_objective *objective, const kiln_vec3 *x,
                          double *value);
/* Where it was gathered, without friction. */
double kiln_vicinity_sum(kiln_vicinity *near, const kiln_vicinity_surface *surface,
                         const struct kiln_local_objective *objective);
/* m, no farther apart, beyond their clearance, than a pair is: it costs far less than to say how
 * far. */
double kiln_vicinity_least_apart(const kiln_vicinity *near, size_t pair);
/* There: the least distance of a pair, of its reach. */
double kiln_vicinity_nearest(const kiln_vicinity *near);
/* N, what a pair presses with at its distance, at the end of the step; not negative. */
double kiln_vicinity_load(const kiln_vicinity *near, const kiln_vicinity_surface *surface,
                          const struct kiln_local_objective *objective, size_t pair,
                          const kiln_pair_distance *at);
typedef void kiln_vicinity_see(void *user, const kiln_vicinity_push *push);
void kiln_vicinity_visit(kiln_vicinity *near, const kiln_vicinity_surface *surface,
                         const struct kiln_local_objective *objective, const kiln_vec3 *x,
                         kiln_vicinity_see *see, void *user);
/* The part of a step [free row] from x that is free; *in_room: and it ends in the room. A step that
 * does not goes as far as the room. */
double kiln_vicinity_way(kiln_vicinity *near, const kiln_vec3 *x, const kiln_vec3 *step,
                         bool *in_room);
/* Whether one or two vertices of the surface, which become one, can go straight to a place with all
 * their faces. */
bool kiln_vicinity_sweep(kiln_vicinity *near, const kiln_vicinity_surface *surface,
                         const struct kiln_local_objective *objective, const uint32_t *vertices,
                         size_t count, kiln_vec3 to, kiln_error *error);
/* Whether no face of the vertices goes through another one, by exact signs, where they were
 * gathered. */
bool kiln_vicinity_is_clear(kiln_vicinity *near, const kiln_vicinity_surface *surface,
                            const struct kiln_local_objective *objective);

#endif

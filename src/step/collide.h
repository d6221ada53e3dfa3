/* Bodies against each other, against themselves and against walls (contact/walls.h) within one
 * step: repulsion as a term of the objective, continuous detection as the limit of every Newton
 * step (VPF 5 after Bridson et al. 2002, made implicit as in Li et al. 2020).
 *
 * Invariants:
 * C1 Where forces are asked for the pairs are complete: every surface vertex has a box about the
 *    way that was last certified, and pairs outside the list cannot come within reach while all
 *    vertices are in theirs. Who looks elsewhere finds new ones first.
 * C2 Every point on the way from the begin of the step to its end is certified by detection with
 *    the separation KEPT of the distance before; so an end without contact of surfaces follows from
 *    a begin without. A long way is certified piece by piece, each no longer than an edge, so
 *    that what is looked at depends on what is there and not on speed.
 * C3 Nothing gets in one step behind what stood in its way (kiln_collide_behind).
 * C4 Memory that ran out is remembered until somebody can say so (kiln_collide_failure).
 * C5 Everything is in the order of the pairs, which depends on the surface only.
 *
 * The energy of a pair becomes infinite with its distance, so what presses two surfaces together
 * never has the last word over detection. A later barrier replaces kiln_repulsion_at and the
 * weights; pairs, boxes and detection stay. */
#ifndef KILN_STEP_COLLIDE_H
#define KILN_STEP_COLLIDE_H

#include "contact/sight.h"
#include "contact/surface_pairs.h"
#include "solve/kept_values.h"
#include "solve/constraints.h"
#include "solve/term.h"
#include "step/slip.h"

/* Of the thickness: by how much chords may be off the arcs of obstacles; what is nearer is contact.
 */
#define KILN_COLLIDE_CHORD    0.1
#define KILN_COLLIDE_TOUCHING 1e-6

typedef struct kiln_contact_options {
    bool bodies, self;   /* against each other, against themselves */
    bool walls;          /* and against obstacles, as surfaces; without all three nothing happens */
    double thickness;    /* m, positive: surfaces nearer than this repel */
    double stiffness;    /* times Young's modulus: pressure scale of the repulsion */
    double liquid;       /* Pa, what stands for the modulus where liquid meets liquid */
    bool adaptive;       /* more than that where it is pressed too near (collide_harden.c) */
    bool once;           /* between bodies each place counts once (collide_once.c) */
    double friction;     /* Coulomb's coefficient, of bodies; obstacles have their own */
    bool material_tells; /* surface_pairs.h; false when the material follows the world */
    const double *clearance; /* [body] m, kept beside the thickness (surface_pairs.h); NULL: none.
                                Borrowed */
    const kiln_pair_table *pairs; /* what holds for single pairs instead; NULL: nothing. Borrowed */
    bool flutters;                /* what slides with friction is not damped (solid_slide.c) */
} kiln_contact_options;

/* The Hessian of a pair's repulsion along its normal: stiffness * a a', a = weight[k] normal. */
typedef struct kiln_stiff_pair {
    uint32_t v[4];
    double weight[4];
    kiln_vec3 normal;
    double stiffness; /* N/m */
} kiln_stiff_pair;

/* What friction keeps of a pair during a solve. */
typedef struct kiln_friction_contact {
    uint32_t v[4];
    kiln_mat3 lever[4]; /* the pair slips by the sum of these times velocities */
    kiln_vec3 normal;
    double load;     /* N */
    double friction; /* coefficient */
    kiln_slip_memory memory;
    kiln_mat3 stiffness, change; /* of the last matrix, N/m; and by how much it is another now */
} kiln_friction_contact;

/* What it does at a place. */
typedef struct kiln_rubbing {
    kiln_vec3 velocity; /* slip */
    double weight;      /* N s/m: the force is that times the slip */
    kiln_mat3 stiffness;
} kiln_rubbing;

/* What a vertex shows of a body: its part of b. */
typedef struct kiln_seen_body {
    uint32_t body, next; /* the next of the vertex, or KILN_NONE */
    double shown;
} kiln_seen_body;

/* What weights depend on, as it was when they were taken. */
typedef struct kiln_lag {
    kiln_f64_array x;    /* [row][3] where that was */
    kiln_f64_array felt; /* [vertex slot] 1 - the least distance over the reach, or 0: where the
                            solve began */
    kiln_u32_array head; /* [vertex slot] the first of what it shows, or KILN_NONE, in */
    KILN_ARRAY_OF(kiln_seen_body)
    seen;
} kiln_lag;

/* What is known where places count once (collide_once.c). */
typedef struct kiln_collide_once {
    kiln_fans fans;      /* faces at each vertex slot */
    kiln_f64_array cell; /* [body] m, edge of a square of two of its faces in u, mean; then room */
    KILN_ARRAY_OF(kiln_vec3)
    normal;                  /* [face] where the solve began, */
    kiln_f64_array edge_rim; /* [face][3] 0 to 1: how far its edges stick out there, */
    kiln_f64_array rim;      /* [vertex slot] and the most of those at a vertex */
    kiln_lag lag[2];         /* the weights', and room for others: */
    int now;                 /* which is which */
    bool is_weighed;         /* else the next measure is where weights are taken */
    int again;               /* how often they were taken again in this solve */
    kiln_f64_array crossing; /* [pair] of edges: by how much they count */
} kiln_collide_once;

/* Of a part in a step: the mean over the vertices of its surface. */
typedef struct kiln_mean_way {
    kiln_vec3 way;
    size_t vertices;
    kiln_box box;
    double extent; /* its diagonal, m */
    bool pressed;  /* by something at the end */
} kiln_mean_way;

typedef struct kiln_collide {
    kiln_context *context;
    const kiln_mesh *mesh; /* borrowed */
    kiln_contact_options options;
    double slip_speed; /* m/s */
    double hardness;   /* times the stiffness; 1 unless it adapts */
    bool adapts;       /* options.adaptive, or steps have failed */
    bool firm;         /* it stays as it is in this step: to become harder made energy */
    double nearest;    /* of the pairs at the last matrix but one of this solve, of their reach */
    int matrices;      /* in this solve, since angles between edges were taken */
    int turned;        /* how often they were taken again */
    kiln_contact_surface surface;
    kiln_walls walls;
    kiln_collide_once once;
    uint32_t first_wall; /* rows of x: vertex slots, then the points of the walls, which are held */
    kiln_surface_pairs found;
    kiln_f64_array modulus; /* [vertex slot] Pa, mean of the tets at a surface vertex, 0 elsewhere;
                               count 0: not built */
    KILN_ARRAY_OF(kiln_box)
    boxes;                /* [row] */
    kiln_f64_array begin; /* [row][3] where the solve began, and */
    KILN_ARRAY_OF(kiln_vec3)
    facing; /* [vertex slot] area vector of the faces at it there, over their area in u */
    kiln_f64_array at; /* [row][3] where a piece of a way begins */
    double stride;     /* m, of such a piece at most */
    double shortest;   /* m, edge of the surface in the material */
    size_t about;      /* pairs that were found about a place, last */
    KILN_ARRAY_OF(kiln_surface_pair)
    begun; /* those that acted at the begin of the step, where forces are over it: in order. They
              push until its end, and are the last of the pairs */
    KILN_ARRAY_OF(kiln_pair_distance)
    distance;               /* [pair] of the last evaluation, */
    kiln_f64_array counted; /* m^2 by which they count there; 0 where they do not act. Once: N,
                               less than 0 where something was counted twice */
    KILN_ARRAY_OF(uint8_t)
    parts;                   /* [acting pair] how many it has (collide_count.c) */
    kiln_u32_array part_of;  /* [part] the pair, ascending */
    kiln_u32_array acting;   /* those that do, ascending; of them [pair] */
    kiln_f64_array scale;    /* N, stiffness times modulus times area, with the angle between edges
                                where the solve began; */
    kiln_f64_array rub;      /* Coulomb's coefficient; */
    kiln_f64_array before;   /* m, the distance at the begin of the step, where asked for, */
    kiln_f64_array calm;     /* and how much of the force before a wall takes what trembles */
    kiln_f64_array measured; /* [row][3] where that was, */
    uint64_t measured_state; /* and of which pairs */
    uint64_t measures;       /* how many there were */
    KILN_ARRAY_OF(uint8_t)
    coupled; /* [acting] the matrix has its blocks: of which measure and */
    uint64_t coupled_measure, coupled_revision; /* which cliques */
    kiln_f64_array push;                        /* [acting][2] N and N/m: scratch of an assembly */
    KILN_ARRAY_OF(uint8_t)
    behind; /* [vertex slot] what bars its way, as it was and as it is, and whether it is pressed */
    KILN_ARRAY_OF(kiln_mean_way)
    mean_way;               /* [part] */
    kiln_f64_array extent;  /* [obstacle] diagonals of their boxes, m */
    kiln_f64_array least;   /* [chunk] of a max_step */
    kiln_u32_array cliques; /* [clique][4], ascending */
    kiln_u32_array wanted;  /* those to be, for comparison */
    KILN_ARRAY_OF(kiln_friction_contact)
    friction_contacts;
    KILN_ARRAY_OF(kiln_rubbing)
    rubbing;               /* [friction contact] scratch of an assembly */
    kiln_u32_array rubbed; /* pairs that act and rub */
    KILN_ARRAY_OF(kiln_stiff_pair)
    stiff; /* what repulsion gave to the last matrix, stiffness negative, and what it is now */
    size_t stiff_given; /* of these, those of the matrix */
    KILN_ARRAY_OF(kiln_vec3)
    noted; /* [stiff] scratch of what they do */
    kiln_term repulsion, friction;
    bool near, exact;        /* of repulsion: the true Hessian is asked for, and given (term.h) */
    kiln_kept_values kept;   /* energies [pair] of the last two x */
    kiln_kept_values totals; /* their sums, which last when the pairs are found anew */
    uint64_t state;          /* changes with the pairs and their scale */
    uint64_t solve;          /* changes with the scale: with every solve */
    kiln_status failure;     /* of a search nobody could be told about yet, and */
    kiln_error trouble;      /* what it was */
    double seconds;          /* in this step, of searches, distances and detection */

    /* Of this step; borrowed. */
    const kiln_constraints *given;
    const double *start; /* [row][3] where it begins */
    const double *origin;
    double tau;
    const double *from; /* [row][3] forces are those over the step from there; NULL: at its end */
    const double *carried, *besides; /* of kiln_collide_start */
    const uint8_t *fresh;
} kiln_collide;

/* The obstacles are borrowed. */
void kiln_collide_init(kiln_collide *collide, kiln_context *context,
                       const kiln_contact_options *options, double slip_speed,
                       kiln_obstacle *const *obstacles, size_t obstacle_count);
void kiln_collide_free(kiln_collide *collide);
KILN_INLINE bool kiln_collide_is_used(const kiln_collide *collide)
{
    return collide->options.bodies || collide->options.self || collide->options.walls;
}
/* Rows of x: those of the mesh, and of walls. */
KILN_INLINE size_t kiln_collide_rows(const kiln_collide *collide, size_t slots)
{
    return slots + collide->walls.own.count;
}
bool kiln_collide_rubs(const kiln_collide *collide); /* something has friction */
/* At the end of a solve, x: what friction knew, and how fast it slips there, m/s. */
typedef void kiln_visit_rubbing(void *user, const kiln_friction_contact *contact, double speed);
void kiln_collide_visit_rubbing(const kiln_collide *collide, const double *x,
                                kiln_visit_rubbing *visit, void *user);

/* Where there are none yet: they do not depend on the mesh. */
kiln_status kiln_collide_build_walls(kiln_collide *collide, kiln_error *error);
/* From the whole mesh. `modulus` [tet slot], Pa. */
kiln_status kiln_collide_build(kiln_collide *collide, const kiln_mesh *mesh, const double *modulus,
                               kiln_error *error);
/* The same bits from what has changed since; tets that have not must have the modulus they had. */
kiln_status kiln_collide_update(kiln_collide *collide, const kiln_mesh *mesh, const double *modulus,
                                const kiln_changes *changes, kiln_error *error);
/* The same bits where nothing but the material's places has changed. */
void kiln_collide_reform(kiln_collide *collide);
void kiln_collide_forget(kiln_collide *collide); /* what a resumed run does not have */

/* Where walls are at the begin of a step and at its end, [point]; what moves in it is in `about`.
 */
void kiln_collide_place_walls(const kiln_collide *collide, kiln_box about, bool at_begin,
                              double *places);
/* The box of the bodies' surface at x [vertex slot][3], and about what `box` is already. */
kiln_box kiln_collide_extent(const kiln_collide *collide, kiln_box box, const double *x);

typedef struct kiln_collide_start {
    const kiln_constraints *given; /* what is held without obstacles, and walls */
    const double *x;               /* begin of the step, [row][3] */
    const double *origin;          /* velocity at the end is (x - origin) / tau */
    double tau;
    bool over; /* forces do as much work as their energy changes by (kiln_repulsion_over) */
    /* With `over`: velocities at the begin as far as parts are rigid, and the rest, [row][3]; NULL:
     * there are no walls. */
    const double *carried, *besides;
    /* With `over`: vertices of faces that the mesh did not have when the step before ended,
     * [vertex slot]. What they repel they did not press before, so there is nothing to give back:
     * their forces are those at the end. NULL: there are none. */
    const uint8_t *fresh;
} kiln_collide_start;

/* Pairs and friction for a step. */
kiln_status kiln_collide_begin(kiln_collide *collide, const kiln_collide_start *start,
                               kiln_error *error);
/* For a solve from x on: angles between edges, and the normal forces of friction, are those at x.
 */
kiln_status kiln_collide_renew(kiln_collide *collide, const double *x, kiln_error *error);
/* Of what acts at x, the least distance over its reach; 1: nothing does. */
double kiln_collide_nearest(kiln_collide *collide, const double *x);
/* At the end of a solve: whether it must be made again, since surfaces were pressed too near and
 * repel each other more from now on. */
bool kiln_collide_must_harden(kiln_collide *collide, const double *x);
/* Back to the hardness at the begin of the step, if that was less, and no more than it. */
bool kiln_collide_soften(kiln_collide *collide, double hardness);
/* The hardness for the step after one that ended as near as that. */
double kiln_collide_eased(double hardness, double nearest);
/* After solves, values and ways: whether one of them ran out of memory. */
kiln_status kiln_collide_failure(const kiln_collide *collide, kiln_error *error);

/* Largest part of the way from x to `to` that detection allows; 1: all. */
double kiln_collide_way(kiln_collide *collide, const double *x, const double *to, double *scratch);
/* Whether much of a part, or its middle, or much of an obstacle, is at the end of a long step
 * behind a surface that stood in its way, as that surface sees it, at the begin and at the end,
 * from the same side; less is much where nothing presses it then, or an obstacle stood there, or
 * the step goes on from there (not `stays`). A vertex of a body there in *vertex, else KILN_NONE.
 */
kiln_status kiln_collide_behind(kiln_collide *collide, const double *begin, const double *end,
                                bool stays, uint32_t *vertex, kiln_error *error);
/* What the fastest surfaces are apart from each other in their ways, over the thickness or the
 * shortest edge, whichever is less. */
double kiln_collide_haste(const kiln_collide *collide, const double *begin, const double *end);
/* Pairs within reach at x. */
size_t kiln_collide_count(kiln_collide *collide, const double *x);
/* By how much the normal forces at x differ from those friction has, relative to their sum. */
double kiln_collide_change(kiln_collide *collide, const double *x);
/* A vertex of a pair that is as good as in contact at x, KILN_NONE: there is none. */
uint32_t kiln_collide_touching(kiln_collide *collide, const double *x);

/* Of repulsion, J: a function of x alone. */
double kiln_collide_energy(kiln_collide *collide, const double *x);
/* What walls did over the step that ends at x, to each vertex that was before one or is. */
typedef struct kiln_wall_touch {
    uint32_t vertex;
    double lost;    /* J, taken of its trembling */
    double parting; /* m/s, how fast the body as a rigid one carries it away */
    bool near;      /* at the end, within reach */
} kiln_wall_touch;
typedef void kiln_see_touch(void *user, const kiln_wall_touch *touch);
void kiln_collide_visit_walls(kiln_collide *collide, const double *x, kiln_see_touch *see,
                              void *user);
/* All forces of contact at x, N, each of four that have no sum; the first and the last of the four
 * rows are on either side. */
typedef void kiln_see_forces(void *user, const uint32_t v[4], const kiln_vec3 force[4]);
void kiln_collide_visit_forces(kiln_collide *collide, const double *x, kiln_see_forces *see,
                               void *user);
/* What walls, or bodies, press vertices with at x, friction included; N, added to [vertex
 * slot][3]. */
void kiln_collide_forces(kiln_collide *collide, const double *x, bool walls, double *force);
/* What one body does to another likewise; torque about a point. */
void kiln_collide_between(kiln_collide *collide, const double *x, uint32_t body, uint32_t other,
                          kiln_vec3 about, kiln_vec3 *force, kiln_vec3 *torque);
/* The least distance of what is within reach at x, m; NaN: nothing is. */
double kiln_collide_gap(kiln_collide *collide, const double *x);
/* [vertex slot] */
typedef struct kiln_contact_columns {
    double *load; /* N, what presses along normals, without friction */
    double *gap; /* m, to the nearest other surface that the vertex repels, at most the thickness */
    double *slip; /* m/s, along the other surface where something presses; mean by load. Static: m,
                     the way of the last increment */
} kiln_contact_columns;
/* From columns of nothing near: no load, no slip, gaps of the thickness. */
void kiln_collide_columns(kiln_collide *collide, const double *x, const kiln_contact_columns *out);
/* A vertex that is behind a plane at x, KILN_NONE: there is none. */
uint32_t kiln_collide_behind_plane(const kiln_collide *collide, const double *x);
size_t kiln_collide_bytes(const kiln_collide *collide);

#endif

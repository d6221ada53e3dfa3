/* Angular momentum of parts that move freely.
 *
 * An integrator's formula for velocities, v = sum w_k v_k + s a, is linear in what it remembers, so
 * momentum follows it as a whole. Angular momentum does not: it is made of places and velocities of
 * one moment, and sum x x M v of the formula mixes moments. Here the same formula is asked of it,
 *     L = sum w_k L_k + s T,   L_k = sum (x_k - c_k) x M v_k,
 * with T the torque of what acts from outside at the end, and velocities get the least change (in
 * the norm of M) that makes it true and leaves momentum alone: a rotation v += w x (x - c).
 *
 * Parts that press each other are an island and turn as one, since what is wrong lies between them:
 * so a pair that sticks does not slip by it. What a part of an island gains of momentum, another
 * loses; `flow` is that, along a tree of the contacts.
 *
 * A part that is held, or touches an obstacle, or is made of what takes turns for strain (`linear`)
 * is left as it is, and so is its island. */
#ifndef KILN_STEP_SPIN_H
#define KILN_STEP_SPIN_H

#include "fem/mass.h"

typedef struct kiln_spin_sums {
    kiln_vec3 sum, moment; /* of a vector, about the part's point */
    kiln_vec3 first;       /* of the mass about that */
    kiln_mat3 second;      /* likewise, where they are asked for */
} kiln_spin_sums;

typedef struct kiln_spin_part {
    uint32_t begin, end; /* its rows */
    uint32_t piece;      /* its first; all to that of the next part */
    bool stiff;          /* takes turns for strain */
    bool turned;         /* from outside, in this step */
    bool acts;           /* presses another part */
    double led;          /* m in this step, of what leads it fastest (solid_energy.c) */
    double mass;         /* kg */
    kiln_vec3 point;     /* near it, where moments are taken about */
    kiln_spin_sums now;
    uint32_t parent; /* in the tree of its island; KILN_NONE: the root */
    uint32_t joint;  /* a vertex where it touches that */
    uint32_t root;
    kiln_vec3 flow; /* N s, what it and all below it get from the parent by the correction */
    /* Of a root: of its island. */
    bool free;
    kiln_vec3 wanted, push; /* L and P that are missing */
    kiln_vec3 centre;       /* from its point */
    kiln_vec3 rate, shift;  /* rad/s, m/s: what gives them */
    uint32_t left;          /* steps of memory */
    double all;             /* kg */
    kiln_mat3 second;       /* moments of the mass about the centre */
} kiln_spin_part;

typedef struct kiln_spin_piece {
    uint32_t part, begin, end;
    kiln_spin_sums now;
} kiln_spin_piece;

/* Of a part, through a change of its mesh. */
typedef struct kiln_spin_noted {
    kiln_vec3 centre, moment;
    bool free;
} kiln_spin_noted;

typedef struct kiln_spin {
    kiln_context *context;
    const kiln_mesh *mesh; /* borrowed */
    const kiln_mass *mass; /* borrowed */
    kiln_u32_array rows;   /* live vertices, part by part */
    kiln_u32_array first;  /* [label] part */
    KILN_ARRAY_OF(kiln_spin_part)
    parts; /* [part] */
    KILN_ARRAY_OF(kiln_spin_piece)
    pieces; /* of parts, for loops over their rows */
    KILN_ARRAY_OF(kiln_spin_noted)
    noted;                        /* [part]; none: nothing was */
    kiln_f64_array arm, momentum; /* [vertex slot][3] */
} kiln_spin;

void kiln_spin_free(kiln_spin *spin);
size_t kiln_spin_bytes(const kiln_spin *spin);
/* From the whole mesh. */
kiln_status kiln_spin_build(kiln_spin *spin, const kiln_mesh *mesh, const kiln_mass *mass,
                            kiln_error *error);

/* A step begins at x [vertex slot][3]: every part is an island. */
void kiln_spin_begin(kiln_spin *spin, const double *x);
uint32_t kiln_spin_part_of(const kiln_spin *spin, uint32_t vertex);
/* The part that stands for all that are joined with this one. */
uint32_t kiln_spin_island_of(const kiln_spin *spin, uint32_t part);
/* The parts of two vertices press each other. */
void kiln_spin_join(kiln_spin *spin, uint32_t vertex, uint32_t other);
/* Once all are joined; false: no island is free. */
bool kiln_spin_settle(kiln_spin *spin);
/* Integrators that look back (bdf2) let parts push each other for some steps after they parted: a
 * third as much in each. So islands are remembered, in a word by vertex. Free islands that were one
 * become one again, where there are any; settle anew. After a step that is accepted remember. */
kiln_status kiln_spin_recall(kiln_spin *spin, const uint32_t *met, bool *any, kiln_error *error);
void kiln_spin_remember(kiln_spin *spin, uint32_t *met);
/* From now on every part is an island again, and free unless it is turned itself. */
void kiln_spin_part_ways(kiln_spin *spin);

/* The angular momentum that is wanted grows by `weight` times that of velocities (or, with
 * accelerations, their torque) v at x, */
void kiln_spin_want_motion(kiln_spin *spin, double weight, const double *x, const double *v);
/* and by the torque of forces; at the mean of x and `other`, unless that is NULL. */
void kiln_spin_want_torque(kiln_spin *spin, double weight, const double *x, const double *other,
                           const double *force);
/* Gives v at x what is wanted, after which nothing is; of momentum only if it `moves`. */
void kiln_spin_turn(kiln_spin *spin, const double *x, double *v, bool moves);
/* What each part does as a rigid body, with the momentum and the angular momentum of v at x. Who
 * presses whom stays known, islands do not. */
void kiln_spin_rigid(kiln_spin *spin, const double *x, const double *v, double *rigid);
/* Adds the momentum that parts of an island have exchanged by that. */
void kiln_spin_find_flow(kiln_spin *spin);

/* Places and velocities of a moment that are carried to another mesh, each for itself, do not keep
 * their centre and angular momentum. These are noted after a step, for every part that nothing
 * turns, and given back once the spin is built of the new mesh. */
kiln_status kiln_spin_note(kiln_spin *spin, const double *x, const double *v, kiln_error *error);
void kiln_spin_give_back(kiln_spin *spin, double *x, double *v);

#endif

/* Vertices of the surface against obstacles, within one step (projection mode, VPF 5 made
 * implicit).
 *
 * A contact keeps its vertex on the tangent plane of an obstacle as that is at the end of the step;
 * the plane is held by the constraints of the solve, friction is a term with the normal force of
 * the pass before. A pass solves, then lets go of contacts that would have to pull, adds vertices
 * that got inside and moves planes that do not fit any more. What is still inside after the last
 * pass is put on the surface.
 *
 * Invariants: contacts are ordered by vertex, then obstacle, each pair once. Everything here is in
 * the order of the vertices, so it does not depend on the threads. */
#ifndef KILN_STEP_TOUCH_H
#define KILN_STEP_TOUCH_H

#include "contact/obstacle.h"
#include "fem/mass.h"
#include "mesh/changes.h"
#include "mesh/walk.h"
#include "solve/constraints.h"
#include "solve/term.h"
#include "step/push.h"
#include "step/slip.h"

typedef struct kiln_touch_contact {
    uint32_t vertex, obstacle;
    kiln_vec3 normal, point; /* plane: normal . (x - point) = 0 */
    kiln_vec3 axis;          /* direction that is held for it, part of the normal free of others */
    double share;            /* normal . axis; 0: not held, the others at the vertex do */
    double load;             /* normal force as last known, N; not negative */
    double load_before;      /* what friction had in the pass that is judged */
    double slip;             /* linearised: speed along the plane as last known, m/s */
    kiln_slip_memory memory;
    bool active;
    bool kept;   /* came back after it was let go: stays until the end of the step */
    int renewed; /* how often its plane was moved */
    double part; /* of what acts on the vertex at once: along the normal, N s */
    double lost; /* energy that meeting the obstacle took, J */

    /* Of a vertex that left (touch_return.c); not active. */
    bool leaving;
    double budget;  /* energy to be given, J; less than 0: taken back */
    double carried; /* N s, what the step before still did to it in this one */
    double speed;   /* away from the obstacle, m/s: without a push, */
    double to;      /* with it, */
    double least, most;

    /* What the obstacle did to the vertex. */
    kiln_vec3 force;   /* N, at the end of the step: normal, friction, leftovers put out */
    kiln_vec3 impulse; /* N s, by which velocities were changed at once */
    kiln_vec3 kick;    /* N, by which accelerations were */
    kiln_vec3 cut;     /* N, see kiln_push */
    kiln_vec3 rub;     /* N s, friction of `part` */
    double seen;       /* N, what the next step sees of it along the normal */
} kiln_touch_contact;

typedef struct kiln_touch_push_at {
    uint32_t vertex, obstacle;
    kiln_vec3 force; /* N */
} kiln_touch_push_at;

/* [vertex slot][3], N: what obstacles make of the forces that hold (kiln_push). Added to. */
typedef struct kiln_touch_holds {
    double *hit, *kick, *cut; /* kick: newmark only, cut: bdf2 only; otherwise NULL */
} kiln_touch_holds;

/* What liquid there is among the vertices, for obstacles that it wets. Borrowed arrays [vertex
 * slot]; all 0 where there is none. */
typedef struct kiln_touch_liquid {
    const double *area;    /* m^2, a third of its faces of liquid, */
    const double *wet;     /* and of those of them that lie on obstacles */
    const double *tension; /* N/m */
    const double *above;   /* m off obstacles, where it stays that far off at the end of the step */
    /* Where its line comes to vertices before they are on the obstacle: that obstacle + 1. */
    const uint32_t *towards;
} kiln_touch_liquid;

typedef struct kiln_touch {
    kiln_context *context;
    kiln_obstacle *const *obstacles; /* borrowed */
    size_t obstacle_count;
    double slack;      /* m, inside by less is no contact */
    double slip_speed; /* m/s, friction grows up to here */
    /* Friction in proportion to the velocity, with the factor of the pass before. One linear solve
     * cannot find out whether a vertex sticks or slides: at the begin of a step all stick. */
    bool linearised;
    double recover;         /* s in which vertices that begin inside are led out; 0: at once */
    kiln_f64_array sunk;    /* [vertex slot] m, how far inside each may be at the end of the step,
                               less than 0: how far above; count 0: not built */
    kiln_f64_array kept;    /* [vertex slot] m/s, at the end of the step */
    kiln_u32_array surface; /* vertices */
    KILN_ARRAY_OF(uint8_t)
    flag; /* [place in surface] */
    KILN_ARRAY_OF(uint8_t)
    held; /* [vertex slot] by a contact, at the end */
    /* [vertex slot][3]. Where vertices were at the begin of the step, and how fast, as steps to
     * come are to see it: impacts have cut them off from their past. With `looks_back` only, and
     * if `is_cut`. */
    kiln_f64_array past_x, past_v;
    bool looks_back, is_cut;
    bool by_left; /* newmark: a step sees the force that the one before has left (kiln_push) */
    kiln_f64_array change, impulse; /* [vertex slot][3], of kiln_mass_follow */
    kiln_constraints planes;        /* what is held while matter follows */
    bool staged;                    /* the step has had a first stage: */
    KILN_ARRAY_OF(kiln_touch_push_at)
    stage; /* what obstacles did there */
    kiln_walker walker;
    KILN_ARRAY_OF(kiln_touch_contact)
    contacts;
    kiln_term friction;

    /* Of this step; borrowed. */
    const kiln_constraints *given;
    const double *begin, *begin_v, *origin, *mass;
    kiln_mass *matter;
    kiln_touch_holds holds;
    double h, tau, per_scale;
    const uint32_t *with;
    const double *load, *kept_before, *push_before;
    kiln_touch_liquid liquid; /* NULLs: none */
} kiln_touch;

void kiln_touch_init(kiln_touch *touch, kiln_context *context, kiln_obstacle *const *obstacles,
                     size_t obstacle_count);
void kiln_touch_free(kiln_touch *touch);
/* From the whole mesh. `length` is the size of the model. */
kiln_status kiln_touch_build(kiln_touch *touch, const kiln_mesh *mesh, double length,
                             kiln_error *error);
/* The same from what has changed since. */
kiln_status kiln_touch_update(kiln_touch *touch, const kiln_mesh *mesh, double length,
                              const kiln_changes *changes, kiln_error *error);
/* After the size of the model alone has changed. */
void kiln_touch_measure(kiln_touch *touch, double length);

typedef struct kiln_touch_start {
    const kiln_constraints *given; /* what is held without obstacles */
    const double *x, *v;           /* begin of the step, [vertex slot][3] */
    double h;
    const double *origin; /* velocity at the end is (x - origin) / tau */
    double tau;
    const uint32_t *with; /* [vertex slot] obstacle + 1 touched at the end of the step before */
    const double *load;   /* [vertex slot] its normal force, N */
    const double *kept;   /* [vertex slot] speed of which it took the energy, m/s */
    const double *push;   /* [vertex slot] what this step still sees of its push, N */
    kiln_mass *matter;
    kiln_touch_holds holds;
    double per_scale; /* 1/s^2, of inertia; 0: none */
    kiln_touch_liquid liquid;
} kiln_touch_start;

/* Contacts to begin the first pass with: those of the step before and vertices whose velocity
 * would carry them inside, also through. */
kiln_status kiln_touch_begin(kiln_touch *touch, const kiln_touch_start *start, kiln_error *error);

/* active = given with the contacts held. */
kiln_status kiln_touch_constrain(kiln_touch *touch, kiln_constraints *active, kiln_error *error);

/* After a pass that ended at x. `held` [vertex slot][3] is the force of all constraints; the part
 * of the obstacles is moved to `contact` (set, friction included). *change is by how much
 * normal forces changed relative to their sum (0 without friction). *changed: another set or other
 * planes, so another pass is needed. */
kiln_status kiln_touch_judge(kiln_touch *touch, const double *x, double *held, double *contact,
                             double *change, bool *changed, kiln_error *error);

/* Vertices still inside are put on the surface, as far as what is given lets them. `settled`: the
 * last judgement changed nothing, so only contacts can be; otherwise others are looked for and
 * become contacts. */
kiln_status kiln_touch_project(kiln_touch *touch, bool settled, double *x, kiln_error *error);

/* Velocities at the end: no motion through obstacles, the change is an inelastic impact with
 * Coulomb friction (Irving et al. 2004), in the directions that nothing given holds; matter follows
 * as its mass makes it (kiln_mass_follow). Adds what that takes to `contact`. `a` may be NULL. */
kiln_status kiln_touch_stop(kiln_touch *touch, double *v, double *a, double *contact,
                            kiln_error *error);

/* Sets the pasts of vertices that were free at the begin and now touch: a straight way that ends
 * as they do, x and v, and others follow. Without that, integrators that look back (bdf2) carry on
 * with an impact for some steps. */
kiln_status kiln_touch_cut(kiln_touch *touch, const double *x, const double *v, kiln_error *error);

/* Ends the first stage of a step of two: notes the forces. */
kiln_status kiln_touch_end_stage(kiln_touch *touch, kiln_error *error);

/* What impacts take is kept for the vertex, and given back to velocities of vertices that leave
 * (touch_return.c). Adds what that takes to `contact`. */
kiln_status kiln_touch_return(kiln_touch *touch, const kiln_mesh *mesh, const double *x, double *v,
                              double *contact, kiln_error *error);

/* Accelerations at the begin of a run: vertices that lie on an obstacle do not accelerate into it,
 * and are slowed down by friction where they slide. Adds to `kick` of what holds. */
kiln_status kiln_touch_support(kiln_touch *touch, const kiln_touch_start *start, double *a,
                               kiln_error *error);

/* What an obstacle gives to the momentum of the bodies (step/push.h), and to their angular momentum
 * about a point; vertices at x. */
void kiln_touch_push(const kiln_touch *touch, uint32_t obstacle, const double *x, kiln_vec3 about,
                     kiln_push *force, kiln_push *torque);

/* For the next step. */
void kiln_touch_remember(const kiln_touch *touch, uint32_t *with, double *load, double *kept,
                         double *push);
/* Some obstacle has, or drag; asked for once a step, because the list of terms decides about the
 * matrix. */
bool kiln_touch_has_friction(const kiln_touch *touch);
/* At the end of a solve, x: what rubs on obstacles, and how fast it slips there, m/s. */
typedef void kiln_visit_touching(void *user, const kiln_touch_contact *contact, double friction,
                                 double speed);
void kiln_touch_visit_rubbing(const kiln_touch *touch, const double *x, kiln_visit_touching *visit,
                              void *user);
size_t kiln_touch_count(const kiln_touch *touch);
size_t kiln_touch_bytes(const kiln_touch *touch);

#endif

/* A step of the solid bodies of a mesh: state, the terms of its energy, boundary conditions,
 * obstacles, Newton.
 *
 * State is vertex fields of the mesh, so it goes through remeshing and checkpoints: "v" (m/s, rule
 * momentum), "a" (m/s^2) for newmark, "x_before", "v_before" for bdf2, and with obstacles
 * "contact_with" (obstacle + 1), "contact_load" (its normal force, N), from which friction starts,
 * "contact_kept" (m/s) and "contact_push" (N, both of touch_return.c), with bdf2 and bodies that
 * meet "contact_met" (spin.h), with newmark and walls "wall_took" (J/kg, solid_tremble.c), with
 * friction "sliding" (solid_slide.c); plus the scalars in kiln_solid_clock. Who gives "a" or
 * x_before and v_before at the start sets clock.h_before too. The tet field "material" (u32, rule
 * copy) indexes the materials; a tet field "density" (kg/m^3), where there is one, takes the place
 * of their densities, and a tet field "mass" (kg, rule conserve) that of both.
 *
 * A step: the driver sets what depends on time; obstacles find vertices that would enter and hold
 * them on their tangent plane with lagged Coulomb friction (projection mode, VPF 5 made implicit);
 * Newton; leftovers projected; velocities, and their angular momentum (spin.h); checks (finite,
 * adrift, inverted, acceleration, stretch). A rejected step leaves the mesh as it was, bit for bit.
 * With `contact` no surface passes through another on the way (collide.h); a linearised step then
 * takes as many iterations as it needs while surfaces repel each other. */
#ifndef KILN_STEP_SOLID_H
#define KILN_STEP_SOLID_H

#include "contact/keep_out.h"
#include "contact/obstacle.h"
#include "fem/elements.h"
#include "fem/loads.h"
#include "fem/mass.h"
#include "solve/newton.h"
#include "step/collide.h"
#include "step/integrator.h"
#include "step/patch.h"
#include "step/push.h"
#include "step/stepper.h"

/* What is kept of contact in every step for those who look at it. */
typedef struct kiln_contact_watch {
    bool columns;               /* load, gap and slip of vertices */
    bool presses;               /* places where surfaces are pressed */
    const uint32_t (*pairs)[2]; /* bodies: what the second does to the first; borrowed */
    size_t pair_count;
} kiln_contact_watch;

/* VPF 5: matter that flows forgets what a step too long did to it. Larger than in steps that are
 * short enough to look right (1.1 to 1.5 where dough falls on a floor). */
#define KILN_FLOW_STRETCH 0.5

typedef struct kiln_solid_options {
    kiln_integrator integrator;
    bool linearised; /* one Newton iteration, no line search */
    kiln_mass_kind mass;
    /* Length 0: the diagonal of the mesh's bounding box. Tolerance 0: 1e-9 of it; with surfaces in
     * contact, 1e-5 of it in a second, and a thousandth of the thickness at most. */
    kiln_newton_options newton;
    kiln_solver_options solver;
    int max_lags;         /* solves of a step while forces that follow change; 0: 30 */
    double lag_tolerance; /* by which part of themselves they may; 1e-6 or more with motion */
    double max_stretch;   /* reject when a stretch of a tet changes by a larger part (0.2: from 1 to
                             1.2) in a step; 0: KILN_FLOW_STRETCH if matter flows, else never */
    double max_acceleration; /* reject when a vertex's velocity changes by more, m/s^2; 0: if matter
                                flows when those of an edge change by its length in a step */
    double least_step;       /* s: one no longer is not refused for energy that it makes, nor by
                                limits that nobody gave */
    double usual_step;     /* s: what is done by the step is done by as much in one of this length,
                              and by less in shorter ones; 0: by as much in all */
    double recover;        /* s in which vertices that begin inside an obstacle are led out; 0: at
                              once */
    double friction_speed; /* below this tangential speed friction sticks smoothly, m/s; 0: of
                              surfaces a thousandth of the length in a second, of points 1e-5 */
    kiln_contact_options contact; /* of bodies with each other and themselves */
    kiln_contact_watch watch;
} kiln_solid_options;

kiln_solid_options kiln_solid_default_options(void);

typedef struct kiln_solid kiln_solid;

/* What depends on time, asked for at the end of each step that is tried; before that newmark's
 * first step asks for its begin, and bdf2's for the end of its first stage. `load` runs from 0 to 1
 * in static solves and is 1 otherwise. Held vertices, loads and poses are reset before the call. */
typedef struct kiln_driver {
    void *self;
    kiln_status (*set)(void *self, kiln_solid *solid, double time, double load, kiln_error *error);
} kiln_driver;

/* Adds the state fields the integrator needs where they are missing. Mesh and obstacles are
 * borrowed; materials are copied. */
kiln_status kiln_solid_create(kiln_mesh *mesh, const kiln_solid_options *options,
                              const kiln_material *materials, size_t material_count,
                              kiln_obstacle *const *obstacles, size_t obstacle_count,
                              kiln_solid **out, kiln_error *error);
void kiln_solid_destroy(kiln_solid *solid); /* NULL allowed */
/* After the mesh has changed: the bits that a rebuild gives, without its cost. After a failure the
 * solid must be rebuilt. */
kiln_status kiln_solid_update(kiln_solid *solid, const kiln_changes *changes, kiln_error *error);
/* Around a local change of the mesh: what bdf2 remembers of the step before keeps its angular
 * momentum. Note it after the step, restore it after the update. */
kiln_status kiln_solid_note_past(kiln_solid *solid, kiln_error *error);
void kiln_solid_restore_past(kiln_solid *solid);
/* After a step, vertices are put elsewhere by shift [vertex slot]: parts that nothing turns keep
 * their centre, momentum and angular momentum, those of the step before as well. By a part of it
 * where surfaces would meet. */
kiln_status kiln_solid_shift(kiln_solid *solid, const kiln_vec3 *shift, kiln_error *error);
/* The same without knowing what changed; or materials have (NULL: as they are). */
kiln_status kiln_solid_rebuild(kiln_solid *solid, const kiln_material *materials,
                               kiln_error *error);
/* After plastic offsets or material positions have changed, and nothing else. */
kiln_status kiln_solid_reform(kiln_solid *solid, kiln_error *error);
void kiln_solid_forget(kiln_solid *solid); /* caches, as a resumed run has none */

/* Viscosities [tet slot] in place of the materials', Pa s; borrowed. Takes effect with a rebuild;
 * drivers may change them. */
void kiln_solid_set_viscosity(kiln_solid *solid, const double *viscosity);
void kiln_solid_set_least_volume(kiln_solid *solid, double volume); /* damping.h; of every step */
/* Likewise Lame parameters, Pa. */
void kiln_solid_set_lame(kiln_solid *solid, const double *mu, const double *lambda);

/* How many times its stiffness contact has, part of the state, for whoever keeps it between steps;
 * and whether it adapts before surfaces are in contact, if it is not `adaptive` anyway. */
void kiln_solid_set_hardness(kiln_solid *solid, double hardness, bool adapts);
double kiln_solid_hardness(const kiln_solid *solid);
/* What contact measures by, given or preset; all 0 where nothing can meet. */
typedef struct kiln_contact_sizes {
    double thickness;         /* m; 0: obstacles are met by points and nothing else is */
    double friction_speed;    /* m/s */
    double softest, stiffest; /* Pa, the moduli that stiffness is in parts of; 0: only liquid */
} kiln_contact_sizes;
kiln_contact_sizes kiln_solid_contact_sizes(const kiln_solid *solid);

/* For drivers. */
kiln_constraints *kiln_solid_constraints(kiln_solid *solid);
kiln_loads *kiln_solid_loads(kiln_solid *solid);
kiln_elements *kiln_solid_elements(kiln_solid *solid);
kiln_mass *kiln_solid_mass(kiln_solid *solid);
kiln_mesh *kiln_solid_mesh(kiln_solid *solid);

/* Scalars that belong to the state. Checkpoints keep them. */
typedef struct kiln_solid_clock {
    double time;     /* s */
    double h_before; /* length of the step before, 0: none (bdf2 and newmark start anew) */
    double surplus;  /* J, energy that steps made from nothing; negative: lost (solid_energy.c) */
} kiln_solid_clock;

/* From clock->time to clock->time + h. Bad input of the driver (its functions) is an error;
 * numerical trouble is the report's outcome. Neither leaves a trace but for lack of memory, where
 * only a step that can be taken back (mesh/rewind.h) does. */
kiln_status kiln_solid_step(kiln_solid *solid, const kiln_driver *driver, double h,
                            kiln_solid_clock *clock, kiln_step_report *report, kiln_error *error);

/* The same, without reaching the mesh: the places found are in `places` [vertex slot], valid until
 * the solid is asked for anything else; the clock stays. */
kiln_status kiln_solid_try(kiln_solid *solid, const kiln_driver *driver, double h,
                           const kiln_solid_clock *clock, kiln_step_report *report,
                           const kiln_vec3 **places, kiln_error *error);
/* Where Newton starts in the steps to come, [vertex slot], borrowed; NULL: as far as velocities
 * carry. No tet may be inverted there. Steps that were tried began on another mesh, unless `since`
 * is the clock of this one: faces of tets made after that have pressed nothing yet, and newmark's
 * accelerations are looked at. */
void kiln_solid_start_at(kiln_solid *solid, const kiln_vec3 *places, uint32_t since);
/* Asked of each step that is found, before it reaches the mesh; `places` [vertex slot] are those of
 * its end. *refused: its outcome is KILN_STEP_COARSE, which is for who asked to deal with. As long
 * as it `may_refuse` it is asked before, too, of one that is found roughly: most that are refused
 * need not be found to the last digits. */
typedef struct kiln_solid_review {
    void *self; /* borrowed */
    bool (*may_refuse)(const void *self);
    kiln_status (*look)(void *self, const kiln_vec3 *places, bool *refused, kiln_error *error);
} kiln_solid_review;
void kiln_solid_set_review(kiln_solid *solid, kiln_solid_review review);
/* What is minimised by a step of length h, for patches of it (patch.h); its columns are to be
 * looked up. After the step was tried. */
void kiln_solid_objective(const kiln_solid *solid, double h, const kiln_solid_clock *clock,
                          kiln_local_objective *out);
/* The columns of it that tell what matter has been through (KILN_FIELD_YIELD, KILN_FIELD_REST),
 * where the mesh has them. */
void kiln_solid_fill_matter(const kiln_solid *solid);
/* Its contact, if there is any (false: there is none), after the step was tried; `out` is to be
 * begun (vicinity.h) and lasts until the solid is asked for anything else. */
bool kiln_solid_surface(const kiln_solid *solid, double h, const kiln_local_objective *objective,
                        kiln_vicinity_surface *out);
/* m, within which places of a step are found. */
double kiln_solid_tolerance(const kiln_solid *solid, double h);

/* Equilibrium at clock->time by load stepping: from load 0 to 1 in at least `steps` increments,
 * halved where Newton fails, down to 1e-4 of the whole. */
kiln_status kiln_solid_equilibrium(kiln_solid *solid, const kiln_driver *driver, int steps,
                                   const kiln_solid_clock *clock, kiln_step_report *report,
                                   kiln_error *error);

/* The solid's way through time, as a stepper. */
typedef struct kiln_solid_course {
    kiln_solid *solid;       /* borrowed */
    kiln_driver driver;      /* of each interval */
    kiln_solid_clock *clock; /* borrowed */
} kiln_solid_course;
kiln_stepper kiln_solid_stepper(kiln_solid_course *course);

/* One more part of the energy, after the solid's own and in the order they came; borrowed. */
kiln_status kiln_solid_add_term(kiln_solid *solid, kiln_term *term, kiln_error *error);

/* After remeshing, before the rebuild: whether faces made since the mesh's clock was `since`
 * (contact/clearance.h) keep out of all others by a thousandth of the thickness; of walls as they
 * are at the end of the step that was tried last, or at its begin. True without contact. What
 * the guard of the pass knows as it was is no fault, and it gets the places that are; NULL: none.
 */
kiln_status kiln_solid_is_clear(const kiln_solid *solid, uint32_t since, bool at_begin, bool *clear,
                                kiln_keep_out *guard, kiln_error *error);

/* The same of a mesh that may become the solid's, and of its tets with made[tet] set; walls are not
 * looked at. */
kiln_status kiln_solid_find_near(const kiln_solid *solid, const kiln_mesh *mesh,
                                 const uint8_t *made, kiln_clearance *out, kiln_error *error);

/* For a pass of remeshing: what its surfaces are to keep out of (contact/keep_out.h), nothing
 * without contact. To be ended in any case. */
kiln_status kiln_solid_keep_out(const kiln_solid *solid, bool at_begin, kiln_keep_out *guard,
                                kiln_error *error);

/* Forces of the last step [vertex slot][3], N: what holds the held vertices (reaction) and what
 * obstacles and other surfaces press with (contact). Valid until the next step. */
const double *kiln_solid_reaction(const kiln_solid *solid);
/* What holds do of impacts on obstacles besides, N over the step; NULL: nothing. */
const double *kiln_solid_hit(const kiln_solid *solid);
const double *kiln_solid_contact(const kiln_solid *solid);

/* What gave the bodies momentum in the last step: an obstacle (force and torque about a point), and
 * what holds a vertex; how the step weighs them. Valid as those above. */
kiln_push_rule kiln_solid_push_rule(const kiln_solid *solid);
void kiln_solid_obstacle_push(const kiln_solid *solid, uint32_t obstacle, kiln_vec3 about,
                              kiln_push *force, kiln_push *torque);
kiln_push kiln_solid_held_push(const kiln_solid *solid, uint32_t vertex);

/* Contact of bodies and walls as they are at `time`, before the first step: J, and the least
 * distance within reach as in the report. NaN: there is no contact of surfaces. */
kiln_status kiln_solid_watch_start(kiln_solid *solid, const kiln_driver *driver, double time,
                                   double *energy, double *gap, kiln_error *error);

/* What was watched, of the last step. */
kiln_contact_columns kiln_solid_contact_columns(const kiln_solid *solid);
typedef struct kiln_pair_push {
    kiln_push force, torque;
    kiln_vec3 about; /* m, what the torque is about */
} kiln_pair_push;
const kiln_pair_push *kiln_solid_pair_push(const kiln_solid *solid, size_t pair);

/* A place where the surface of a body is pressed: on a vertex, an edge or a face of it. */
typedef struct kiln_press {
    uint32_t v[3];     /* KILN_NONE where there are fewer */
    double weight[3];  /* sum 1, of those that are */
    kiln_vec3 at;      /* m */
    double square;     /* m^2, the load along the normal over Young's modulus */
    double area;       /* m^2 of the surface that the vertices stand for, in the material */
    uint32_t obstacle; /* that presses; KILN_NONE: another body, or another place of the same */
} kiln_press;
/* Of the last step, if they are watched; obstacles as surfaces. */
const kiln_press *kiln_solid_presses(const kiln_solid *solid, size_t *count);

/* Of strained matter, with the volumetric part of the nodal pressure, J. */
double kiln_solid_strain_energy(kiln_solid *solid, const double *x);
/* That, and of surfaces of liquid. On a new mesh only a step knows which of those are walls. */
double kiln_solid_elastic_energy(kiln_solid *solid, const double *x);

size_t kiln_solid_bytes(const kiln_solid *solid); /* without mesh and factor */

#endif

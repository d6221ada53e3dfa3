/* The inside of kiln_solid, shared by solid.c (what exists), solid_step.c (what happens) and
 * solid_solve.c (how it is found). */
#ifndef KILN_STEP_SOLID_IMPL_H
#define KILN_STEP_SOLID_IMPL_H

#include "fem/damping.h"
#include "fem/nodal_pressure.h"
#include "step/liquid.h"
#include "step/solid.h"
#include "step/spin.h"
#include "step/touch.h"

/* What trembles of a part, and what walls have taken of that (solid_tremble.c). */
typedef struct kiln_part_tremble {
    double took;    /* J, since the part came to them; at the end of the step */
    double owed;    /* J, of that, to a part that has left */
    double shaken;  /* J, kinetic, beside its rigid motion */
    double parting; /* m/s, of what was near a wall in this step, the least */
    bool touched, near;
    double more; /* of the velocities of that, when it leaves */
} kiln_part_tremble;

/* What rubs of a part, and how it has slid (solid_slide.c). */
typedef struct kiln_part_slide {
    double before;        /* its coefficient at the begin of the step */
    bool lay;             /* and whether something with friction pressed it */
    double volume;        /* m^3 in the material */
    double crossed;       /* m^3 s/m: of the tets, volume over the speed of sound */
    double load, slipped; /* N, of what has friction: across, and what slips of that along */
} kiln_part_slide;

struct kiln_solid {
    kiln_context *context;
    kiln_mesh *mesh; /* borrowed */
    kiln_solid_options options;
    KILN_ARRAY_OF(kiln_material)
    materials;
    KILN_ARRAY_OF(kiln_obstacle *)
    obstacles;
    kiln_elements *elements;
    kiln_mass *mass;
    kiln_nodal_pressure *pressure;
    kiln_damping *damping;
    kiln_loads *loads;
    kiln_newton *newton;
    kiln_constraints given;  /* what the driver holds, and dead rows */
    kiln_constraints active; /* with the obstacles */
    kiln_touch touch;
    kiln_collide collide;
    kiln_spin spin;
    kiln_liquid liquid;
    KILN_ARRAY_OF(kiln_term *)
    more, terms;               /* those of others; all of the try there is */
    size_t lasting;            /* terms before the brief ones: damping, contact between surfaces */
    const double *mu, *lambda; /* [tet slot] borrowed; NULL: the materials' */
    struct {
        const double *density, *mass; /* tet fields while tets are weighed; NULL: none */
    } fields;
    kiln_f64_array tet_mass, modulus; /* [tet slot] kg; Pa, with contact only */
    size_t rows;                      /* vertex slots */
    size_t all;                       /* rows of the solve: those, then points of walls, held */
    double length;                    /* diagonal of the bounding box in u, m */
    bool flows;                       /* some of its matter */

    /* [row][3]. The mesh itself is written only when a step, or an
     * increment of a static load, is accepted. */
    kiln_f64_array x, centre, origin;
    kiln_f64_array rate;          /* gradient of the objective, then velocities at the end */
    kiln_f64_array rate2;         /* accelerations at the end, newmark only */
    kiln_f64_array brief, relief; /* newmark: gradient of brief terms, and its acceleration */
    kiln_f64_array start_a; /* newmark: acceleration at the begin, of the first step and where the
                               mesh has changed */
    kiln_f64_array stage_x, stage_v; /* bdf2: end of the first step's first stage */
    kiln_f64_array reaction, contact;
    kiln_f64_array start_force;    /* of what is held, N, in the first step: newmark's at its begin,
                                      bdf2's in the first stage */
    kiln_f64_array hit, kick, cut; /* of what is held, N (kiln_push): newmark and with obstacles;
                                      newmark; bdf2 with obstacles */
    KILN_ARRAY_OF(kiln_pair_push)
    pair_pushes;                    /* [pair that is watched] */
    kiln_f64_array load, gap, slip; /* [row] kiln_contact_columns, if watched */
    KILN_ARRAY_OF(kiln_press)
    presses;                   /* if watched */
    kiln_push_rule rule;       /* of the last step */
    kiln_f64_array guess;      /* where velocities carry; with contact only */
    kiln_f64_array begin;      /* where the step begins, with walls */
    const kiln_vec3 *start_at; /* kiln_solid_start_at, */
    uint32_t since;            /* and the mesh's clock before it became another */
    KILN_ARRAY_OF(uint8_t)
    fresh;              /* [vertex slot] of such faces */
    double tried_from;  /* J at the begin of the last step that was tried; NAN: not looked at */
    double tried_gain;  /* J that it had more at the end */
    bool went_by_euler; /* the last step, whatever the integrator is */
    bool tentative;     /* a step is tried, not made */
    kiln_solid_review review; /* of what is made; look NULL: none */
    bool walls_stay;          /* at the end of the increment before, static */
    /* Newmark with walls (solid_tremble.c): velocities at the begin as far as parts are rigid, and
     * the rest. */
    kiln_f64_array carried, besides;
    KILN_ARRAY_OF(kiln_part_tremble)
    tremble; /* [part] */
    KILN_ARRAY_OF(kiln_part_slide)
    slide;                 /* [part]; with the column "sliding" only */
    kiln_f64_array steady; /* [tet slot] s, damping of what slides in this try; count 0: none */
};

/* Where a solve begins, [row][3]. */
KILN_INLINE const double *kiln_solid_begin(const kiln_solid *solid)
{
    return solid->all > solid->rows ? solid->begin.data : &solid->mesh->x[0].x;
}
/* The mesh is another than that of the try before. */
KILN_INLINE bool kiln_solid_has_changed(const kiln_solid *solid)
{
    return solid->start_at && solid->mesh->clock != solid->since;
}
/* What holds the mesh alone. */
KILN_INLINE kiln_constraints kiln_solid_given(const kiln_solid *solid)
{
    kiln_constraints own = solid->given;
    own.rows = solid->rows;
    return own;
}

KILN_INLINE double *kiln_solid_column(const kiln_solid *solid, const char *name)
{
    kiln_field *field = kiln_mesh_field(solid->mesh, KILN_ON_VERTEX, name);
    return field ? (double *)(void *)field->data : NULL;
}
/* Only with obstacles. */
KILN_INLINE uint32_t *kiln_solid_contact_with(const kiln_solid *solid)
{
    kiln_field *field = kiln_mesh_field(solid->mesh, KILN_ON_VERTEX, "contact_with");
    return (uint32_t *)(void *)field->data;
}

/* Only with bdf2 and bodies that meet (spin.h); else NULL. */
KILN_INLINE uint32_t *kiln_solid_contact_met(const kiln_solid *solid)
{
    kiln_field *field = kiln_mesh_field(solid->mesh, KILN_ON_VERTEX, "contact_met");
    return field ? (uint32_t *)(void *)field->data : NULL;
}

KILN_INLINE const double *kiln_solid_positions(const kiln_solid *solid)
{
    return &solid->mesh->x[0].x;
}

/* When a step begins, who is asked what depends on time, and how long the step before was. */
typedef struct kiln_course_of_time {
    const kiln_driver *driver; /* may be NULL */
    double begin, h_before;    /* s */
} kiln_course_of_time;

/* One try. Nothing of it reaches the mesh before accept. */
typedef struct kiln_attempt {
    kiln_solid *solid;
    kiln_scheme scheme;
    kiln_integrator integrator;
    double h;
    const double *history[KILN_HISTORY_COUNT]; /* [vertex slot][3] */
    kiln_step_report *report;
    bool first;   /* no step before it is remembered */
    bool staging; /* is the first stage of a step of two */
    bool settled; /* the last pass left the contacts as they were */
    bool rough;   /* what is lagged will be another: a solve need not be exact */
    kiln_course_of_time time;
    double hardness;       /* of contact at the begin of the step, and */
    double contact_before; /* J, its energy there, however hard it became in a try */
    double surplus;        /* J, of the clock at its begin, then at its end */
    bool makes_energy;     /* is not accepted for that, and */
    bool damped;           /* taken again by implicit Euler (solid_energy.c) */
} kiln_attempt;

/* Asks the driver. */
kiln_status kiln_solid_drive(kiln_solid *solid, const kiln_driver *driver, double time, double load,
                             kiln_error *error);

/* solid_energy.c: of a try that is good, before it is accepted. */
kiln_status kiln_attempt_judge_energy(kiln_attempt *t, kiln_error *error);

/* solid_check.c: whether the try may be taken, in its report. */
void kiln_attempt_check(kiln_attempt *t);

/* solid_watch.c: contact of a try of length h that is good, before it is accepted. */
kiln_status kiln_solid_watch_room(kiln_solid *solid, kiln_error *error);
void kiln_solid_watch_free(kiln_solid *solid);
kiln_integrator kiln_solid_tries_by(const kiln_solid *solid, const kiln_solid_clock *clock);
void kiln_solid_watch_pairs(kiln_solid *solid, double h, bool stage); /* stage: the first of two */
void kiln_solid_watch(kiln_solid *solid, double h, kiln_step_report *report);
kiln_status kiln_solid_watch_presses(kiln_solid *solid, kiln_error *error);
/* Whether who reviews steps refuses this one: its outcome. */
kiln_status kiln_attempt_review(kiln_attempt *attempt, kiln_error *error);

/* solid_tremble.c: what is rigid of the motion that a try begins with, */
void kiln_attempt_find_tremble(kiln_attempt *t);
/* what walls have taken of velocities that are known, and give back to what leaves them, */
void kiln_attempt_settle_tremble(kiln_attempt *t);
/* and what is remembered of a try that is accepted; both with `trembles` only. */
void kiln_attempt_remember_tremble(const kiln_attempt *t);
KILN_INLINE bool kiln_attempt_trembles(const kiln_attempt *t)
{
    return t->scheme.impulses && t->solid->all > t->solid->rows;
}

/* solid_slide.c: whether what slides is damped at all; */
bool kiln_solid_damps_sliding(const kiln_solid *solid);
/* by how much, in this try; before its terms are listed. */
kiln_status kiln_attempt_begin_sliding(kiln_attempt *t, kiln_error *error);
/* What slides at the end of a try that is accepted, for the steps to come. */
kiln_status kiln_attempt_remember_sliding(kiln_attempt *t, kiln_error *error);

/* solid_recall.c: newmark's acceleration, where the mesh has changed since the step was tried; in
 * the history. */
kiln_status kiln_attempt_recall(kiln_attempt *t, kiln_error *error);

/* solid_spin.c: angular momentum of a try whose velocities are known. */
kiln_status kiln_attempt_keep_spin(kiln_attempt *t, kiln_error *error);

/* solid_solve.c. */
kiln_status kiln_attempt_list_terms(kiln_attempt *t, kiln_error *error);
/* g = gradient of the terms from number `first` to before `end`. */
void kiln_attempt_gradient(const kiln_attempt *t, size_t first, size_t end, const double *x,
                           double *g);
/* Speed as brief forces see it is (x - origin) / tau. */
const double *kiln_attempt_brief_origin(const kiln_attempt *t);
double kiln_attempt_brief_tau(const kiln_attempt *t);
/* By how much that changed what is lagged, and the term of the largest change (NULL: nobody asks).
 */
double kiln_attempt_renew_lagged(const kiln_attempt *t, const double *x, const kiln_term **worst);
kiln_touch_start kiln_attempt_touch_start(const kiln_attempt *t); /* with obstacles */
/* Damping, liquid, obstacles and pairs of surfaces for the step; the outcome says when surfaces
 * touch already. */
kiln_status kiln_attempt_begin(kiln_attempt *t, kiln_error *error);
kiln_status kiln_attempt_begin_surfaces(kiln_attempt *t, kiln_error *error);
double kiln_attempt_tolerance(const kiln_attempt *t); /* m, of places */
kiln_status kiln_attempt_solve(kiln_attempt *t, kiln_error *error);
/* Lengths of the model that a load may move it by, static; what nothing stops within them is on its
 * way to nowhere. */
#define KILN_STATIC_FARTHEST 1e3
/* solid_drift.c: a static try has the outcome adrift where a part of the mesh has no equilibrium
 * because nothing holds it; at its begin, or where a solve has failed. */
kiln_status kiln_attempt_find_drift(kiln_attempt *t, const double *x, bool failed,
                                    kiln_error *error);
/* Leftovers in obstacles, and whether the way to the end is free. */
kiln_status kiln_attempt_settle(kiln_attempt *t, kiln_error *error);

#endif

/* What the files of the module of local remeshing share. */
#ifndef KILN_SIM_REMESH_LOCAL_IMPL_H
#define KILN_SIM_REMESH_LOCAL_IMPL_H

#include "remesh/size_control.h"
#include "remesh/sizing.h"
#include "remesh/tried.h"
#include "sim/remeshing.h"

#define KILN_FIELD_SIZE_WAIT   "size_wait"
#define KILN_FIELD_TRIED       "tried"
#define KILN_FIELD_START_BENT  "start_bent"  /* curvature of ridges at the start, 1/m */
#define KILN_FIELD_START_ROUND "start_round" /* and of the surface */

enum { KILN_LOCAL_WISHES = 8 };

typedef struct kiln_local_state {
    double start_size;    /* m, mean edge of the mesh the scene made */
    double start_tets;    /* how many it had */
    double least_shape;   /* quality that repairs are asked for */
    double volume_gained; /* m^3 of rest volume by remeshing curved surfaces */
    double locality;      /* of the rows when they were last put in order */
    double displaced;     /* rows that came or moved since it was last measured, part of all */
    uint64_t crossed;     /* the last pass was undone: surfaces crossed */
    uint64_t nearing;     /* it split edges where something presses: sizes are not there yet */
    double missed_since;  /* s; the goal was missed by all looks from then on, */
    uint64_t missed;      /* which were this many */
    uint64_t missed_said; /* and that was told */
    uint64_t missed_tets; /* tets that missed it after the last pass */
    uint64_t missed_ever; /* looks that found it missed */
    double missed_worst;  /* and the worst of them found this */
    double last_worst;    /* what the last look found, or what came of it; 0: nobody looked */
    double wishes[KILN_LOCAL_WISHES]; /* that the last look went by */
} kiln_local_state;

/* Of a vertex, for the line where liquid ends on a solid of its body (remesh_line.c). */
typedef struct kiln_line_vertex {
    kiln_vec3 pull;          /* N, of faces and interfaces */
    kiln_vec3 normal[2];     /* of the solid, on its dry and on its wet side, */
    kiln_vec3 dry, along;    /* to the former, and along the line; none of unit length */
    kiln_vec3 way;           /* m, that it is to slide */
    double length;           /* m of the line that is its own */
    double tension, density; /* of the liquid */
    uint32_t edges;          /* of the line; 0: not on one */
} kiln_line_vertex;

/* Of a vertex of parts made of several bodies (remesh_seams.c). */
typedef struct kiln_seam_vertex {
    kiln_vec3 area;      /* m^2, of its faces, twice, outwards */
    double size;         /* m^2, likewise */
    double volume, rest; /* m^3, of its tets */
    uint32_t body;       /* of its tets, plus 1 */
    uint8_t ring;        /* 1: they are of several; 2, 3, ...: beside; 0: far off */
    bool sharp;          /* an edge there turns outwards by much */
    bool moved;          /* in this pass */
} kiln_seam_vertex;

typedef struct kiln_seams {
    KILN_ARRAY_OF(uint8_t)
    open; /* [face slot] may be faired */
    KILN_ARRAY_OF(kiln_vec3)
    shift; /* [vertex slot] in the next pass */
    KILN_ARRAY_OF(kiln_seam_vertex)
    at; /* [vertex slot] */
} kiln_seams;

typedef struct kiln_local {
    kiln_world *world;
    const kiln_scene_remesh *settings;
    kiln_local_state state;
    kiln_sizing *sizing;      /* of the last step that asked for one, for its memory */
    kiln_f64_array gradients; /* [tet slot][9] F, for sizes */
    kiln_f64_array flowed;    /* [tet slot] plastic strain when the pass began */
    KILN_ARRAY_OF(kiln_vec3)
    way; /* [vertex slot] of liquid, what it is about to go (kiln_improve_options); none: empty */
    KILN_ARRAY_OF(uint8_t)
    at_rest; /* [tet slot] solid beside liquid: what counts is its shape at rest; none: empty */
    KILN_ARRAY_OF(kiln_line_vertex)
    line; /* [vertex slot] where there are lines */
    kiln_seams seams;
    kiln_f64_array load; /* [vertex] scratch of what presses, and */
    KILN_ARRAY_OF(kiln_sym3)
    pressed; /* [vertex] what it asks for */
    KILN_ARRAY_OF(kiln_sym3)
    thin;                                  /* [vertex] what liquid asks for that is to break */
    kiln_f64_array bent;                   /* [vertex] curvature that is let be; scratch */
    kiln_u32_array tried[KILN_TRIED_AIMS]; /* vertices of what this pass has made, by its aim */
    kiln_f64_array strains;                /* [vertex slot] since the last look; scratch */
    kiln_changes changes;
    kiln_memory kept;      /* what was known of tries in vain, before the pass */
    kiln_remesh_work work; /* of the last step */
    kiln_stepper inner;    /* that remesh_within.c is around */
    KILN_ARRAY_OF(kiln_vec3)
    begin;           /* [vertex] places at the begin of a step, while its end is looked at */
    int rounds;      /* of passes that this step may still make within it */
    bool within;     /* this is one of them: the mesh is that of the step's begin */
    bool changed;    /* in this try of a step: what is derived is of another mesh */
    bool led;        /* a velocity field leads the matter in this step */
    bool is_pressed; /* what presses asked for sizes in this step */
    bool slides;     /* a line does, in this step */
    bool fairs;      /* seams are faired in its pass */
    bool growth_said;
} kiln_local;

/* remesh_local_sizes.c: sizes from what goes on. */

/* Whether there are any. Whole-domain remeshes have sizes of their own. */
bool kiln_local_is_sized(const kiln_local *l);
/* m^3: of a tet with edges of two thirds of the shortest that may be asked for. */
double kiln_local_resolved(const kiln_local *l);
/* Nothing is said about sizes: they are the program's own. */
bool kiln_local_follows_alone(const kiln_local *l);
/* Sizes are given, and surfaces that have flowed keep their shape. */
bool kiln_local_keeps_bends(const kiln_local *l);
kiln_size_options kiln_local_size_options(const kiln_local *l);
/* l->is_pressed and what that asks for, of the mesh as it is. */
kiln_status kiln_local_find_pressed(kiln_local *l, kiln_error *error);
/* l->sizing likewise, and that too. */
kiln_status kiln_local_make_sizing(kiln_local *l, kiln_error *error);
/* Sizes that need many more tets than there are, and no word about how many may be: what no machine
 * holds is refused before it begins. */
kiln_status kiln_local_look_at_growth(kiln_local *l, kiln_error *error);

/* remesh_line.c: l->slides, and where to; and then, in a pass. */
kiln_status kiln_local_find_line(kiln_local *l, kiln_error *error);
void kiln_local_slide_line(const kiln_local *l, kiln_remesher *remesher);

/* remesh_seams.c: l->fairs, and where to; and then, in a pass. */
kiln_status kiln_local_find_seams(kiln_local *l, kiln_error *error);
void kiln_local_fair_seams(kiln_local *l, kiln_remesher *remesher);
/* After fields are carried over: matter that has flowed along the surface is no denser for it. */
kiln_status kiln_local_settle_seams(const kiln_local *l, kiln_error *error);

/* A pass by l->sizing on the mesh of the step's begin; l->work.changed says what came of it. */
kiln_status kiln_local_remesh_within(kiln_local *l, kiln_error *error);
/* remesh_within.c: cells follow what presses before a step is taken. For `start`. */
void kiln_local_follow_within(kiln_local *l);

#endif

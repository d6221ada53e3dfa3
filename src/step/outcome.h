/* What came of a step: a numerical outcome, not an error. */
#ifndef KILN_STEP_OUTCOME_H
#define KILN_STEP_OUTCOME_H

#include "mesh/mesh.h"
#include "solve/newton.h"

/* With what the report's `element` is a slot of. */
#define KILN_STEP_OUTCOME_TABLE(X)                                                                 \
    X(KILN_STEP_DONE, KILN_ON_TET, "done")                                                         \
    X(KILN_STEP_NEWTON, KILN_ON_TET, "Newton failed")                                              \
    X(KILN_STEP_INVERTED, KILN_ON_TET, "a tet is inverted")                                        \
    X(KILN_STEP_NOT_FINITE, KILN_ON_VERTEX, "NaN or infinity in the result")                       \
    X(KILN_STEP_STRETCH, KILN_ON_TET, "a tet is stretched too much in one step")                   \
    X(KILN_STEP_CRUSHED, KILN_ON_TET, "a tet of liquid is crushed in one step")                    \
    X(KILN_STEP_ACCELERATION, KILN_ON_VERTEX, "a vertex is accelerated too much in one step")      \
    X(KILN_STEP_ADRIFT, KILN_ON_VERTEX, "no equilibrium: a body drifts away")                      \
    X(KILN_STEP_CROSSING, KILN_ON_VERTEX, "surfaces touch or would pass through each other")       \
    X(KILN_STEP_UNSETTLED, KILN_ON_TET, "plastic flow does not come to rest")                      \
    X(KILN_STEP_FOLLOWING, KILN_ON_VERTEX, "forces that follow the surface do not settle")         \
    X(KILN_STEP_ENERGY, KILN_ON_VERTEX, "contact makes energy from nothing")                       \
    X(KILN_STEP_LIMIT, KILN_ON_TET, "no equilibrium: matter that flows does not bear this load")   \
    X(KILN_STEP_COARSE, KILN_ON_VERTEX, "another mesh is asked for")                               \
    X(KILN_STEP_HEAT, KILN_ON_VERTEX, "temperatures were not found")                               \
    X(KILN_STEP_NUMERIC, KILN_ON_TET, "a numerical failure")

typedef enum kiln_step_outcome {
#define KILN_STEP_OUTCOME_ENUM(name, where, text) name,
    KILN_STEP_OUTCOME_TABLE(KILN_STEP_OUTCOME_ENUM)
#undef KILN_STEP_OUTCOME_ENUM
} kiln_step_outcome;

const char *kiln_step_outcome_text(kiln_step_outcome outcome);
kiln_where kiln_step_outcome_where(kiln_step_outcome outcome);

typedef struct kiln_step_report {
    kiln_step_outcome outcome;
    uint32_t element;          /* slot the outcome is about (see the table), KILN_NONE */
    kiln_vec3 drift;           /* adrift: where to, a unit vector; zero: not known */
    kiln_newton_report newton; /* sums over all solves of the step */
    int lags, contacts;        /* solves until forces settled; vertices held by obstacles */
    double e_elastic;          /* J, at the end */
    double e_contact;          /* of repulsion between surfaces, J, at the end */
    double work_loads;         /* potential of the loads (fem/loads.h), J */
    double nearest;            /* the same over the reach of the pair; 1: none is */
    double gap;                /* m, the least between surfaces at the end; NaN: none is near */
    double strained; /* the part that was used of limits that grow with the step (stretch, and
                        jolts where nobody gave others); more than 1: too much; 0: none are */
    double haste; /* by how many times what contact resolves (the thickness, or the shortest edge)
                     surfaces go against each other in the step if nothing meets; 0: no contact */
    double energy_taken; /* J, that the step made from nothing and had to give back */
    double contact_seconds;
} kiln_step_report;

/* The work of both; all else is that of `one`. */
void kiln_step_report_add(kiln_step_report *sum, const kiln_step_report *one);

#endif

#include "step/step_schema.h"

#include "step/pace.h"
#include "step/solid.h"

static void start_pace(void *settings)
{
    *(kiln_pace_limits *)settings =
        (kiln_pace_limits){.dt = 0.01, .dt_min = 0.01 / 1024.0, .patience = 8};
}

static kiln_status finish_pace(void *settings, const kiln_given *given, kiln_error *error)
{
    kiln_pace_limits *pace = settings;
    if (!kiln_is_given(given, "dt_min"))
        pace->dt_min = 0.0; /* whoever knows how steps are cut says it */
    if (pace->dt_min > pace->dt)
        return kiln_fail_setting(error, "dt_min", "must not be longer than dt, %g s, got %g",
                                 pace->dt, pace->dt_min);
    return KILN_OK;
}

#define PACE(member) offsetof(kiln_pace_limits, member)
static const kiln_schema_row pace_rows[] = {
    {"dt", KILN_VALUE_NUMBER, PACE(dt), KILN_POSITIVE, "s", NULL,
     .meaning = "length of a step; halved while steps fail, then doubled back"},
    {"dt_min", KILN_VALUE_NUMBER, PACE(dt_min), KILN_POSITIVE, "s",
     "1/1024 of the longest step; less for what is too fast",
     .meaning =
         "a step of this length that fails ends the run; the longest step is dt, or the frame "
         "interval or the duration if those are shorter"},
    {"patience", KILN_VALUE_WHOLE, PACE(patience), KILN_WITHIN(1, 1000000), NULL, NULL,
     .meaning =
         "good steps before a halved dt is doubled; a quarter of them before it is doubled again, "
         "and where max_stretch cut it"},
};
const kiln_schema kiln_pace_schema = {
    .name = "step",
    .about = "The lengths of steps.",
    KILN_SCHEMA_ROWS(pace_rows),
    .size = sizeof(kiln_pace_limits),
    .start = start_pace,
    .finish = finish_pace,
};

/* Newton's tolerance is relative to the mesh, not to a metre. */
static void start_solid(void *settings)
{
    kiln_solid_options *options = settings;
    *options = kiln_solid_default_options();
    options->newton.length = 0.0;
}

static void start_newton(void *settings)
{
    kiln_solid_options options;
    start_solid(&options);
    *(kiln_newton_options *)settings = options.newton;
}

static void start_solver(void *settings)
{
    *(kiln_solver_options *)settings = kiln_solver_default_options();
}

#define NEWTON(member) offsetof(kiln_newton_options, member)
static const kiln_schema_row newton_rows[] = {
    {"tolerance", KILN_VALUE_NUMBER, NEWTON(tolerance), KILN_WITHIN(0, 0.999), NULL, NULL,
     .meaning =
         "done when no coordinate moves by more than this part of the model's size; 0: 1e-9. "
         "With motion and contact 0 is 1e-5 in a second (1e-5 m/s for a model of 1 m), and "
         "a thousandth of contact.thickness at most"},
    {"iterations", KILN_VALUE_WHOLE, NEWTON(max_iterations), KILN_WITHIN(1, 1000000), NULL, NULL,
     .meaning = "more than this many fail the step"},
    {"line_search", KILN_VALUE_FLAG, NEWTON(line_search),
     .meaning = "shorten steps until the energy falls"},
    {"length", KILN_VALUE_NUMBER, NEWTON(length), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "the model's size for the tolerance; 0: the diagonal of its bounding box, or those "
                "of its bodies together where that is less"},
};
const kiln_schema kiln_newton_schema = {
    .name = "step.newton",
    .about = "The search for the minimum of a step's energy.",
    KILN_SCHEMA_ROWS(newton_rows),
    .size = sizeof(kiln_newton_options),
    .start = start_newton,
};

static const char *precision_name(int row)
{
    static const char *const names[] = {"mixed", "double", NULL};
    return names[row];
}

static const char *backend_name(int row)
{
    static const char *const names[] = {"auto",   "multifrontal", "cholmod", "mumps",
                                        "pcg-ic", "pcg-jacobi",   NULL};
    return names[row];
}

#define SOLVER(member) offsetof(kiln_solver_options, member)
static const kiln_schema_row solver_rows[] = {
    {"backend", KILN_VALUE_WORD, SOLVER(backend), .choices = backend_name,
     .meaning = "auto chooses by size and memory"},
    {"tolerance", KILN_VALUE_NUMBER, SOLVER(tolerance), KILN_BETWEEN(0, 1), NULL, NULL,
     .meaning = "iterative back ends: residual relative to the right side"},
    {"iterations", KILN_VALUE_WHOLE, SOLVER(max_iterations), KILN_WITHIN(1, 100000000), NULL, NULL,
     .meaning = "iterative back ends: give up after this many"},
    {"memory", KILN_VALUE_LONG, SOLVER(memory), KILN_WITHIN(0, 1e15), "bytes", NULL,
     .meaning = "a factor that takes more makes auto iterate; 0: half of the machine's"},
    {"blas_threads", KILN_VALUE_WHOLE, SOLVER(blas_threads), KILN_WITHIN(1, 1024), NULL, NULL,
     .meaning = "more than 1 gives up the same bits on any number of threads"},
    {"precision", KILN_VALUE_WORD, SOLVER(precision), .choices = precision_name,
     .meaning = "mixed: the multifrontal factor is of single precision where bodies in motion "
                "touch, unless that is too little for the matrix; double: never"},
};
const kiln_schema kiln_solver_schema = {
    .name = "step.solver",
    .about = "Linear systems.",
    KILN_SCHEMA_ROWS(solver_rows),
    .size = sizeof(kiln_solver_options),
    .start = start_solver,
};

static const char *integrator_name(int row)
{
    return row < KILN_INTEGRATOR_COUNT ? kiln_integrator_name((kiln_integrator)row) : NULL;
}

static const char *mass_name(int row)
{
    static const char *const names[] = {"lumped", "consistent", "auto", NULL};
    return names[row];
}

#define SOLID(member) offsetof(kiln_solid_options, member)
static const kiln_schema_row solid_rows[] = {
    {"integrator", KILN_VALUE_CHOICE, SOLID(integrator), .choices = integrator_name,
     .meaning = "implicit-euler damps, newmark keeps energy, bdf2 is in between; static looks for "
                "rest at each time"},
    {"linearised", KILN_VALUE_FLAG, SOLID(linearised),
     .meaning = "one linear solve a step, without looking for the minimum: fast, less exact, for "
                "small rotations: it brakes what turns, with damping or viscosity much"},
    {"mass", KILN_VALUE_CHOICE, SOLID(mass), .choices = mass_name,
     .meaning = "mass matrix; consistent keeps a body's inertia when its mesh changes, lumped does "
                "not. auto: consistent with remeshing, else lumped"},
    {"max_stretch", KILN_VALUE_NUMBER, SOLID(max_stretch), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "a step that changes a stretch of a tet by more than this part (0.2: a fifth) is "
                "taken back; 0: 0.5 where matter flows, down to dt_min, else never"},
    {"max_acceleration", KILN_VALUE_NUMBER, SOLID(max_acceleration), KILN_NOT_NEGATIVE, "m/s^2",
     NULL,
     .meaning = "a step that changes a velocity faster is taken back; 0: where matter flows, down "
                "to dt_min, one that has the ends of an edge move against each other by its length "
                "more than before; else never"},
    {"friction_speed", KILN_VALUE_NUMBER, SOLID(friction_speed), KILN_NOT_NEGATIVE, "m/s", NULL,
     .meaning =
         "slower than this, friction sticks smoothly; 0: a thousandth of the model's size in "
         "a second (1e-5 of it where obstacles hold points)"},
    {"lags", KILN_VALUE_WHOLE, SOLID(max_lags), KILN_WITHIN(0, 10000), NULL, NULL,
     .meaning =
         "solves of a step, at most, while forces that follow a surface change by it; 0: 30"},
    {"lag_tolerance", KILN_VALUE_NUMBER, SOLID(lag_tolerance), KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning =
         "they have settled when they change less than this, relatively; with motion 1e-6 is "
         "enough"},
    {"newton", KILN_VALUE_TABLE, SOLID(newton), .schema = &kiln_newton_schema, .preset = "as below",
     .meaning = "the search for the minimum"},
    {"solver", KILN_VALUE_TABLE, SOLID(solver), .schema = &kiln_solver_schema, .preset = "as below",
     .meaning = "the linear systems in it"},
};
const kiln_schema kiln_solid_schema = {
    .name = "step",
    .about = "The step of solids.",
    KILN_SCHEMA_ROWS(solid_rows),
    .size = sizeof(kiln_solid_options),
    .start = start_solid,
};

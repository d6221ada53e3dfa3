/* The world's inside, for its modules. */
#ifndef KILN_SIM_WORLD_IMPL_H
#define KILN_SIM_WORLD_IMPL_H

#include "sim/module.h"
#include "topology/among.h"

enum { KILN_STEPPER_ROOM = 4 };

struct kiln_world {
    kiln_context *context;   /* borrowed */
    const kiln_scene *scene; /* borrowed */
    kiln_mesh *mesh;
    kiln_material *materials; /* [scene->materials.count] */
    kiln_world_state state;
    kiln_moment moment;      /* of the step that is being made */
    kiln_step_report report; /* of the last step */
    kiln_error trouble;      /* with the outcome KILN_STEP_NUMERIC: what failed */
    kiln_solid *solid;
    kiln_solid_course course;
    kiln_stepper steppers[KILN_STEPPER_ROOM];
    size_t stepper_count, solid_at;    /* which of them is the solid's */
    kiln_f64_array events;             /* times that steps have to meet, ascending */
    const kiln_module *const *modules; /* ended by NULL */
    void *self[KILN_MODULE_ROOM];      /* of each, as `create` made it */
    size_t self_size[KILN_MODULE_ROOM];
    KILN_ARRAY_OF(char)
    kept;           /* state of the modules at the begin of the step */
    uint64_t tries; /* of steps, so far */
    bool stale;     /* a step was taken back: what is derived is to be built anew */
    double size;    /* diagonal of the start's bounding box, m */

    /* Facts that `plan` states, and `create` of contact and obstacles. */
    kiln_solid_options options; /* of the solid */
    kiln_obstacle **obstacles;  /* of the module; obstacle_count */
    size_t obstacle_count;
    bool moves;          /* false: a series of equilibria */
    bool flows;          /* some matter yields */
    bool melts;          /* some becomes liquid, or solid again */
    bool remeshes;       /* the mesh may change */
    kiln_space space;    /* that is meshed; world: u = x, and all history is in the offsets */
    bool asks_for_place; /* some function looks at material positions after the start */
};

/* Calls a hook of every module that is there, in their order; returns at the first failure. */
#define KILN_EACH_MODULE(world, hook, ...)                                                         \
    for (size_t m_ = 0; (world)->modules[m_]; m_++)                                                \
        if ((world)->self[m_] && (world)->modules[m_]->hook)                                       \
            KILN_TRY((world)->modules[m_]->hook((world)->self[m_], __VA_ARGS__));

/* Zeroed memory for a module, which becomes *self at once, so that `destroy` frees what a failed
 * `create` leaves; the world frees the memory itself. NULL with the error filled. */
void *kiln_module_make(kiln_world *world, size_t size, void **self, kiln_error *error);

/* Two times are the same moment when they differ by less: rounding must not make slivers of steps.
 */
double kiln_world_tolerance(const kiln_world *world);
/* Whether what lasts from .. until acts in a step. Steps stop at both, so that they lie inside or
 * outside. */
bool kiln_world_acts(const kiln_world *world, double from, double until, double begin, double end);
/* Steps are to meet this time. */
kiln_status kiln_world_add_event(kiln_world *world, double time, kiln_error *error);

/* The material positions of the start, [vertex slot]: what functions of the scene look at. */
const kiln_vec3 *kiln_world_starts(const kiln_world *world);
/* Where tet t is and what goes on in it, at the time of the clock; stress is left 0. */
kiln_circumstances kiln_world_circumstances(const kiln_world *world, uint32_t t);

/* One more kind of matter, after those there are; for `start`. */
kiln_status kiln_world_add_stepper(kiln_world *world, const kiln_stepper *stepper,
                                   kiln_error *error);
/* The same before those there are: what they need from it is there when they run. */
kiln_status kiln_world_put_stepper_first(kiln_world *world, const kiln_stepper *stepper,
                                         kiln_error *error);
/* In the place of the solid's own, which it may ask in its turn; returns that. */
kiln_stepper kiln_world_wrap_solid(kiln_world *world, const kiln_stepper *stepper);

/* After the mesh has changed, inside a step: modules, then steppers. */
kiln_status kiln_world_changed(kiln_world *world, const kiln_changes *changes, kiln_error *error);
kiln_status kiln_world_material_moves(kiln_world *world, kiln_error *error);
kiln_status kiln_world_material_moved(kiln_world *world, kiln_error *error);
kiln_status kiln_world_carry(kiln_world *world, const kiln_mesh *to, kiln_error *error);
/* A static world looks for equilibrium once more, at the time of the moment. The outcome and the
 * work go to world->report. */
kiln_status kiln_world_settle(kiln_world *world, kiln_error *error);
/* Builds anew what a step that was taken back has left behind. */
kiln_status kiln_world_ready(kiln_world *world, kiln_error *error);

/* KILN_ERR_INPUT that names the place in the scene: "file:line: path: message". */
kiln_status kiln_said_fail(const kiln_scene *scene, const kiln_said *said, kiln_error *error,
                           const char *format, ...) KILN_PRINTF(4, 5);
/* Puts the place in front of an error that does not know it. Returns `status`. */
kiln_status kiln_said_wrap(const kiln_scene *scene, const kiln_said *said, kiln_status status,
                           kiln_error *error);

/* assemble.c: one mesh from the bodies of the scene. */
kiln_status kiln_world_build_mesh(kiln_world *world, kiln_error *error);
kiln_status kiln_world_check_start(kiln_world *world,
                                   kiln_error *error); /* once there is a solid */
/* What is checked at the start, of the bodies as they are now in a run whose scene has changed. */
kiln_status kiln_world_check_now(kiln_world *world, kiln_error *error);
kiln_status kiln_world_set_motion(kiln_world *world, kiln_error *error); /* velocities */
kiln_status kiln_world_select(const kiln_world *world, kiln_where where, int32_t body,
                              const kiln_picks *picks, kiln_u32_array *out, kiln_error *error);
/* Whether a mesh may be that of this world's scene: same fields, bodies and materials, and where
 * nothing remeshes the same tets. */
kiln_status kiln_world_check_mesh(const kiln_world *world, const kiln_mesh *mesh,
                                  kiln_error *error);

/* contact.c: repulsion keeps surfaces on the side where they are, so they must not cross. */
kiln_status kiln_world_check_surfaces(const kiln_world *world, kiln_error *error);
kiln_among kiln_world_among(const kiln_world *world); /* the bodies that see each other */

/* forces.c: of the last step, [vertex slot][3], N. */
const double *kiln_world_reaction(const kiln_world *world);
const double *kiln_world_contact(const kiln_world *world);
/* Likewise [vertex slot], if the scene asks for one of them: N, m, m/s (kiln_contact_columns). */
#define KILN_FIELD_NORMAL "contact_normal"
#define KILN_FIELD_GAP    "contact_gap"
#define KILN_FIELD_SLIP   "contact_slip"

/* boundary.c: the vertices of a hold, ascending. */
const kiln_u32_array *kiln_world_held(const kiln_world *world, size_t hold);

/* diagnosis.c. What came of the last step, in words. */
const char *kiln_world_outcome_text(const kiln_world *world, char *buffer, size_t size);
void kiln_world_diagnose(const kiln_world *world, double tried, kiln_diagnosis *diagnosis);

/* Radians: edges of the surface that turn by more are features. */
KILN_INLINE double kiln_world_ridge_angle(const kiln_world *world)
{
    return world->scene->remesh.ridge_angle * (KILN_PI / 180.0);
}

KILN_INLINE double *kiln_world_column(const kiln_world *world, kiln_where where, const char *name)
{
    const kiln_field *field = kiln_mesh_field(world->mesh, where, name);
    return field ? (double *)(void *)field->data : NULL;
}
KILN_INLINE const uint32_t *kiln_world_material_of(const kiln_mesh *mesh) /* [tet slot] */
{
    return (const uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "material")->data;
}

#define KILN_FIELD_MASS        "mass"
#define KILN_FIELD_EVEN        "mass_even" /* kg by shares alone; transfers change `mass` besides */
#define KILN_FIELD_MATERIAL    "material"
#define KILN_FIELD_DENSITY     "density"
#define KILN_FIELD_LAME        "lame"
#define KILN_FIELD_SETS        "sets"
#define KILN_FIELD_TEMPERATURE "temperature"   /* K, by vertex */
#define KILN_FIELD_HEAT_COMES  "heat_to_come"  /* J, by tet, that the next step gives it */
#define KILN_FIELD_REFERENCE   "temperature_0" /* K, by vertex, at which there is no stress */
#define KILN_FIELD_START       "u_start"       /* u of the start, for functions */

#endif

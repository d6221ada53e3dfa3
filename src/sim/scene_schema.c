#include "sim/scene_schema.h"

#include "step/step_schema.h"

enum { MOST_FRAMES = 1000000 };
/* Parts of the duration; the clock tells 2e-16 of it apart. */
#define SHORTEST_STEP 1e-11

#define SCENE(member) offsetof(kiln_scene, member)

static void start_step(void *settings)
{
    kiln_scene *scene = settings;
    kiln_solid_schema.start(&scene->solid);
    kiln_pace_schema.start(&scene->pace);
    scene->load_steps = 1;
}

static const kiln_schema_row step_rows[] = {
    {.type = KILN_VALUE_PART, .offset = SCENE(pace), .schema = &kiln_pace_schema},
    {.type = KILN_VALUE_PART, .offset = SCENE(solid), .schema = &kiln_solid_schema},
    {"load_steps", KILN_VALUE_WHOLE, SCENE(load_steps), KILN_WITHIN(1, 1000000), NULL, NULL,
     .meaning = "static: parts in which loads and holds are applied"},
};
const kiln_schema kiln_step_schema = {
    .name = "step",
    .about = "How time goes on.",
    KILN_SCHEMA_ROWS(step_rows),
    .size = sizeof(kiln_scene),
    .start = start_step,
};

static void start_scene(void *settings)
{
    kiln_scene_init(settings, NULL);
}

static kiln_status check_frames(const kiln_scene *scene, kiln_error *error)
{
    double frame = scene->output.frame, duration = scene->duration;
    if (frame == 0.0)
        return KILN_OK;
    if (frame > duration && frame != kiln_output_default_settings().frame)
        return kiln_fail_setting(error, "output.frame",
                                 "must not be longer than the duration, %g s, got %g", duration,
                                 frame);
    if (duration / frame > MOST_FRAMES)
        return kiln_fail_setting(error, "output.frame",
                                 "must be 0 or at least a millionth of the duration, %g s, got %g",
                                 duration, frame);
    return KILN_OK;
}

/* Steps that the clock can count: a time plus its step must be another time. */
static kiln_status check_steps(const kiln_scene *scene, kiln_error *error)
{
    const kiln_pace_limits *pace = &scene->pace;
    double duration = scene->duration;
    if (!kiln_integrator_moves(scene->solid.integrator))
        return KILN_OK;
    if (pace->dt < SHORTEST_STEP * duration)
        return kiln_fail_setting(error, "step.dt",
                                 "must be at least %g of the duration, %g s, got %g", SHORTEST_STEP,
                                 duration, pace->dt);
    if (pace->dt_min < KILN_SHORTEST_TRY * duration)
        return kiln_fail_setting(error, "step.dt_min",
                                 "must be at least %g of the duration, %g s, got %g",
                                 KILN_SHORTEST_TRY, duration, pace->dt_min);
    return KILN_OK;
}

/* Frames and the end cut what is longer: a step that is to be halved ten times starts there. */
static double longest_step(const kiln_scene *scene)
{
    double frame = scene->output.frame > 0.0
                       ? fmax(scene->output.frame, scene->duration / MOST_FRAMES)
                       : INFINITY;
    return fmin(fmin(scene->pace.dt, scene->duration), frame);
}

static kiln_status finish_scene(void *settings, const kiln_given *given, kiln_error *error)
{
    kiln_scene *scene = settings;
    const double *v = scene->velocity_field.constant;
    if (!kiln_is_given(given, "duration") && !kiln_integrator_moves(scene->solid.integrator))
        scene->duration = 1.0;
    else if (!kiln_is_given(given, "duration"))
        return kiln_fail_setting(error, "duration", "must be given: how long to simulate, in s");
    scene->has_velocity_field =
        scene->velocity_field.evaluate || v[0] != 0.0 || v[1] != 0.0 || v[2] != 0.0;
    if (isfinite(scene->velocity_until) && !scene->has_velocity_field)
        return kiln_fail_setting(error, "velocity_until", "there is no velocity_field to end");
    if (scene->pace.dt_min == 0.0 || !kiln_is_given(given, "step")) {
        scene->pace.dt_min = longest_step(scene) / 1024.0;
        scene->pace.by_preset = true;
    }
    KILN_TRY(check_steps(scene, error));
    return check_frames(scene, error);
}

static const kiln_schema_row scene_rows[] = {
    {"name", KILN_VALUE_NAME, SCENE(name), .preset = "the file's name",
     .meaning = "what the run is called"},
    {"duration", KILN_VALUE_NUMBER, SCENE(duration), KILN_POSITIVE, "s", "must be given; static: 1",
     .meaning = "how long to simulate"},
    {"gravity", KILN_VALUE_FIELD, SCENE(gravity), KILN_ANY_NUMBER, "m/s^2", NULL,
     .meaning = "acceleration of everything", .signature = KILN_OF_TIME},
    {"velocity_field", KILN_VALUE_FIELD, SCENE(velocity_field), KILN_ANY_NUMBER, "m/s", "none",
     .meaning = "moves every vertex by this, whatever the forces; excludes holds",
     .signature = KILN_OF_TIME_AND_WORLD},
    {"velocity_until", KILN_VALUE_NUMBER, SCENE(velocity_until), KILN_POSITIVE, "s", "never",
     .meaning = "ends the velocity field at this time; from then on forces move the bodies"},
    {"step", KILN_VALUE_TABLE, 0, .schema = &kiln_step_schema, .preset = "as below",
     .meaning = "how time goes on"},
    {"output", KILN_VALUE_TABLE, SCENE(output), .schema = &kiln_output_schema, .preset = "as below",
     .meaning = "what is written, and when"},
    {"remesh", KILN_VALUE_TABLE, SCENE(remesh), .schema = &kiln_remesh_schema,
     .preset = "none; of liquid \"local\"", .meaning = "how the mesh follows what it carries"},
    {"contact", KILN_VALUE_TABLE, SCENE(contact), .schema = &kiln_contact_schema, .preset = "none",
     .meaning = "bodies against each other and themselves"},
};
const kiln_schema kiln_scene_schema = {
    .name = "scene",
    .about = "What a file returns: `return scene { ... }`.",
    KILN_SCHEMA_ROWS(scene_rows),
    .size = sizeof(kiln_scene),
    .start = start_scene,
    .finish = finish_scene,
};

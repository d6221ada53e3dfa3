/* The module of docs/modules.md: wind on surface faces. */
#include "sim/world_impl.h"

/* Settings: a table `wind` in scenes. */

typedef struct wind_settings {
    kiln_said said;
    kiln_quantity velocity; /* of the air, m/s */
    double density;         /* of the air, kg/m^3 */
    double drag;
} wind_settings;

static void start_settings(void *settings)
{
    *(wind_settings *)settings = (wind_settings){.density = 1.2, .drag = 1.0};
}

static const kiln_schema_row wind_rows[] = {
    {"velocity", KILN_VALUE_FIELD, offsetof(wind_settings, velocity), KILN_ANY_NUMBER, "m/s", "",
     .meaning = "of the air", .signature = KILN_OF_TIME_AND_WORLD},
    {"density", KILN_VALUE_NUMBER, offsetof(wind_settings, density), KILN_POSITIVE, "kg/m^3", NULL,
     .meaning = "of the air"},
    {"drag", KILN_VALUE_NUMBER, offsetof(wind_settings, drag), KILN_WITHIN(0, 10), NULL, NULL,
     .meaning = "part of the dynamic pressure that acts on faces the air blows against"},
};
static const kiln_schema wind_schema = {.name = "wind",
                                        .about = "Air that pushes surfaces.",
                                        KILN_SCHEMA_ROWS(wind_rows),
                                        .size = sizeof(wind_settings),
                                        .start = start_settings,
                                        .has_said = true};

/* The module. */

typedef struct wind {
    kiln_world *world;
    const wind_settings *settings;
    kiln_vec3 force;   /* of the step that is tried, N */
    kiln_vec3 impulse; /* given so far, N s: what no field keeps */
} wind;

static kiln_status create(kiln_world *world, void **self, kiln_error *error)
{
    const wind_settings *settings = kiln_scene_settings(world->scene, &wind_schema);
    if (!settings)
        return KILN_OK;
    wind *w = kiln_module_make(world, sizeof *w, self, error);
    if (!w)
        return KILN_ERR_MEMORY;
    w->world = world;
    w->settings = settings;
    return KILN_OK;
}

/* Dynamic pressure of the air that meets the face, along its normal. */
static kiln_status blow(wind *w, const kiln_drive *drive, uint32_t face, kiln_error *error)
{
    const kiln_mesh *mesh = w->world->mesh;
    const uint32_t at = mesh->face[face].at, *v = mesh->tet[at / 4].v;
    const uint8_t *c = kiln_face_corner[at % 4];
    const kiln_vec3 *x = mesh->x;
    const kiln_vec3 *moves = (kiln_vec3 *)kiln_world_column(w->world, KILN_ON_VERTEX, "v");
    kiln_vec3 a = x[v[c[0]]], centre = a, velocity = moves[v[c[0]]];
    for (int k = 1; k < 3; k++) {
        centre = kiln_v3_add(centre, x[v[c[k]]]);
        velocity = kiln_v3_add(velocity, moves[v[c[k]]]);
    }
    kiln_vec3 area =
        kiln_v3_scale(kiln_v3_cross(kiln_v3_sub(x[v[c[1]]], a), kiln_v3_sub(x[v[c[2]]], a)), 0.5);
    kiln_circumstances here = {.time = drive->time, .world = kiln_v3_scale(centre, 1.0 / 3.0)};
    double air[3];
    KILN_TRY(kiln_quantity_get(&w->settings->velocity, &here, air, 3, error));
    kiln_vec3 normal = kiln_v3_normalize(area);
    kiln_vec3 meets = kiln_v3_madd(kiln_v3(air[0], air[1], air[2]), -1.0 / 3.0, velocity);
    double speed = -kiln_v3_dot(meets, normal);
    if (speed <= 0.0)
        return KILN_OK;
    double pressure = 0.5 * w->settings->density * w->settings->drag * speed * speed * drive->share;
    kiln_loads_add_traction(kiln_solid_loads(drive->solid), face, kiln_v3_scale(normal, -pressure),
                            KILN_SPACE_WORLD);
    w->force = kiln_v3_madd(w->force, -pressure, area);
    return KILN_OK;
}

static kiln_status drive(void *self, const kiln_drive *drive, kiln_error *error)
{
    wind *w = self;
    w->force = kiln_v3(0, 0, 0);
    for (uint32_t f = 0; f < w->world->mesh->table[KILN_ON_FACE].used; f++)
        KILN_TRY(
            kiln_said_wrap(w->world->scene, &w->settings->said, blow(w, drive, f, error), error));
    return KILN_OK;
}

static kiln_status after_step(void *self, const kiln_moment *moment, kiln_error *error)
{
    (void)error;
    wind *w = self;
    w->impulse = kiln_v3_madd(w->impulse, moment->end - moment->begin, w->force);
    return KILN_OK;
}

static void *state(void *self, size_t *size)
{
    wind *w = self;
    *size = sizeof w->impulse;
    return &w->impulse;
}

static const kiln_module wind_module = {.name = "wind",
                                        .schema = &wind_schema,
                                        .create = create,
                                        .drive = drive,
                                        .after_step = after_step,
                                        .state = state};

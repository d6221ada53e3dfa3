/* The rows of holds, motions, loads, obstacles and selections. */
#include "io/scene_reader.h"

static void start_hold(void *target)
{
    *(scene_hold_draft *)target = (scene_hold_draft){
        .hold = {.body = -1, .components = 7, .motion = {.obstacle = -1}, .until = INFINITY},
        .turn = {{0, 0, 1}, NAN, NAN}};
}

#define FROM_ROW(type, member)                                                                     \
    {                                                                                              \
        "from", KILN_VALUE_NUMBER, offsetof(type, member), KILN_NOT_NEGATIVE, "s", NULL,           \
            .meaning = "begins at this time"                                                       \
    }
#define TILL_ROW(type, member)                                                                     \
    {                                                                                              \
        "till", KILN_VALUE_NUMBER, offsetof(type, member), KILN_POSITIVE, "s", "never",            \
            .meaning = "ends at this time"                                                         \
    }
#define BODY_ROW(object, member_)                                                                  \
    {                                                                                              \
        .key = "body", .type = KILN_VALUE_OTHER, .offset = offsetof(object, member_),              \
        .preset = "all", .meaning = "only of this body", .what = "name of a body",                 \
        .read = kiln_scene_read_body_name                                                          \
    }
#define WHERE_ROW(object, member_, text)                                                           \
    {                                                                                              \
        .key = "where", .type = KILN_VALUE_SELECTION, .offset = offsetof(object, member_),         \
        .preset = "everything", .meaning = text                                                    \
    }

static const kiln_schema_row hold_rows[] = {
    {"name", KILN_VALUE_NAME, offsetof(scene_hold_draft, hold.name), .preset = "none",
     .meaning = "for messages, lists and the columns of probes.csv"},
    BODY_ROW(scene_hold_draft, hold.body),
    WHERE_ROW(scene_hold_draft, hold.where, "the vertices"),
    {"components", KILN_VALUE_OTHER, offsetof(scene_hold_draft, hold.components),
     .preset = "\"xyz\"", .meaning = "directions that are held, the others are free",
     .what = "text of letters x, y, z", .read = kiln_scene_read_components},
    {"turn", KILN_VALUE_TABLE, offsetof(scene_hold_draft, turn), .schema = &kiln_turn_schema,
     .preset = "none", .meaning = "turns the directions that x, y, z mean in `components`",
     .what = SCENE_TURN_FORM},
    {"motion", KILN_VALUE_OTHER, offsetof(scene_hold_draft, hold.motion),
     .preset = "motion.still {}",
     .meaning = "how the vertices are led, from where they are at `from`",
     .what = "[motion](#motion)", .read = kiln_scene_read_motion},
    FROM_ROW(scene_hold_draft, hold.from),
    TILL_ROW(scene_hold_draft, hold.until),
};
const kiln_schema kiln_hold_schema = {
    .name = "hold",
    .about = "Vertices that are held, or led along a motion, and released at `till`.",
    KILN_SCHEMA_ROWS(hold_rows),
    .size = sizeof(scene_hold_draft),
    .start = start_hold,
    .has_said = true,
};

static void start_probe(void *target)
{
    *(kiln_scene_probe *)target = (kiln_scene_probe){.body = -1, .point = {NAN, NAN, NAN}};
}

static kiln_status finish_probe(void *settings, const kiln_given *given, kiln_error *error)
{
    const kiln_scene_probe *probe = settings;
    bool body = kiln_is_given(given, "body"), point = kiln_is_given(given, "point");
    if (probe->with > 0 && (!body || point))
        return kiln_fail_setting(error, "with", "must have a body beside it, and no point");
    if (probe->with > 0 && probe->with == (uint32_t)probe->body + 1)
        return kiln_fail_setting(error, "with", "must be another body than body");
    if (body || point)
        return KILN_OK;
    return kiln_fail_setting(error, NULL, "must have a body or a point, got none");
}

static const kiln_schema_row probe_rows[] = {
    {"name", KILN_VALUE_NAME, offsetof(kiln_scene_probe, name),
     .preset = "the body's; point1, point2, ...; both bodies'",
     .meaning = "what its columns begin with"},
    BODY_ROW(kiln_scene_probe, body),
    {"point", KILN_VALUE_VECTOR, offsetof(kiln_scene_probe, point), KILN_ANY_NUMBER, "m", "none",
     .meaning = "place in the material: the nearest point of the body (of any, without one) is "
                "followed; without it the body as a whole is"},
    {"with", KILN_VALUE_OTHER, offsetof(kiln_scene_probe, with), .preset = "none",
     .meaning = "another body: what this one does to `body` by contact, force and torque about "
                "the centre of `body`",
     .what = "name of a body", .read = kiln_scene_read_other_body},
};
const kiln_schema kiln_probe_schema = {
    .name = "probe",
    .about = "What a row of probes.csv says in every step: a body's centre, extent, volume and "
             "energies, where a point is and how fast, or what bodies do to each other. See "
             "results.md.",
    KILN_SCHEMA_ROWS(probe_rows),
    .size = sizeof(kiln_scene_probe),
    .start = start_probe,
    .finish = finish_probe,
    .has_said = true,
};

static void start_motion(void *target)
{
    *(kiln_motion *)target =
        (kiln_motion){.axis = {0, 0, 1}, .obstacle = -1, .place = {.constant = {NAN, NAN, NAN}}};
}

static kiln_status finish_motion(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    kiln_motion *motion = settings;
    if (motion->kind == KILN_MOTION_ROTATE && !(kiln_v3_norm(motion->axis) > 0.0))
        return kiln_fail_setting(error, "axis", "must have a length, got {0, 0, 0}");
    bool has_place = motion->place.evaluate || isfinite(motion->place.constant[0]);
    if (motion->kind == KILN_MOTION_FOLLOW && has_place == (motion->obstacle >= 0))
        return kiln_fail_setting(error, NULL, "must have either a place or an obstacle, got %s",
                                 has_place ? "both" : "none");
    if (!has_place)
        motion->place = kiln_quantity_number(0.0);
    return KILN_OK;
}

static const kiln_schema_row translate_rows[] = {
    {"shift", KILN_VALUE_FIELD, offsetof(kiln_motion, shift), KILN_ANY_NUMBER, "m", "",
     .meaning = "how far from where it began", .signature = KILN_OF_TIME},
};
static const kiln_schema_row rotate_rows[] = {
    {"angle", KILN_VALUE_AMOUNT, offsetof(kiln_motion, angle), KILN_ANY_NUMBER, "rad", "",
     .meaning = "how far it has turned", .signature = KILN_OF_TIME},
    {"axis", KILN_VALUE_VECTOR, offsetof(kiln_motion, axis), KILN_ANY_NUMBER, NULL, NULL,
     .meaning = "direction; any length"},
    {"centre", KILN_VALUE_VECTOR, offsetof(kiln_motion, centre), KILN_ANY_NUMBER, "m", NULL,
     .meaning = "a point that the axis goes through"},
    {"shift", KILN_VALUE_FIELD, offsetof(kiln_motion, shift), KILN_ANY_NUMBER, "m", NULL,
     .meaning = "how far it has moved as well, after turning", .signature = KILN_OF_TIME},
};
static const kiln_schema_row follow_rows[] = {
    {"place", KILN_VALUE_FIELD, offsetof(kiln_motion, place), KILN_ANY_NUMBER, "m", "none",
     .meaning = "where material point u is at time t (this or `obstacle`)",
     .signature = KILN_OF_TIME_AND_PLACE},
    {"obstacle", KILN_VALUE_OTHER, offsetof(kiln_motion, obstacle), .preset = "none",
     .meaning = "goes along with this obstacle", .what = "name of an obstacle",
     .read = kiln_scene_read_obstacle_name},
};
#define MOTION .size = sizeof(kiln_motion), .start = start_motion, .finish = finish_motion
const kiln_schema kiln_motion_schemas[] = {
    {"motion.still", "Does not move.", NULL, 0, MOTION},
    {"motion.translate", "Moves without turning.", KILN_SCHEMA_ROWS(translate_rows), MOTION},
    {"motion.rotate", "Turns about an axis.", KILN_SCHEMA_ROWS(rotate_rows), MOTION},
    {"motion.follow", "Goes wherever a function says, or along with an obstacle.",
     KILN_SCHEMA_ROWS(follow_rows), MOTION},
};

static void start_load(void *target)
{
    *(kiln_scene_load *)target =
        (kiln_scene_load){.body = -1, .until = INFINITY, .outside = kiln_quantity_number(0.0)};
}

#define LOAD_ROWS(type, unit, what, text)                                                          \
    {                                                                                              \
        BODY_ROW(kiln_scene_load, body), WHERE_ROW(kiln_scene_load, where, what),                  \
            {"amount",                                                                             \
             type,                                                                                 \
             offsetof(kiln_scene_load, amount),                                                    \
             KILN_ANY_NUMBER,                                                                      \
             unit,                                                                                 \
             "",                                                                                   \
             .meaning = text,                                                                      \
             .signature = KILN_OF_TIME_AND_PLACE},                                                 \
            FROM_ROW(kiln_scene_load, from), TILL_ROW(kiln_scene_load, until),                     \
    }
static const kiln_schema_row force_rows[] = LOAD_ROWS(
    KILN_VALUE_FIELD, "N", "the vertices",
    "the whole force, shared equally by the vertices; a function is asked for each vertex, "
    "which gets its share of what it says there");
static const kiln_schema_row traction_rows[] =
    LOAD_ROWS(KILN_VALUE_FIELD, "N/m^2", "the faces", "force per material area");
static const kiln_schema_row pressure_rows[] =
    LOAD_ROWS(KILN_VALUE_AMOUNT, "Pa", "the faces", "pressure; positive presses inward");
static const kiln_schema_row body_force_rows[] =
    LOAD_ROWS(KILN_VALUE_FIELD, "N/m^3", "the tets", "force per volume");
static const kiln_schema_row heat_rows[] =
    LOAD_ROWS(KILN_VALUE_AMOUNT, "W/m^3", "the tets", "heat per volume of the start");
static const kiln_schema_row flux_rows[] =
    LOAD_ROWS(KILN_VALUE_AMOUNT, "W/m^2", "the faces", "heat that flows in, per area");
static const kiln_schema_row held_temperature_rows[] =
    LOAD_ROWS(KILN_VALUE_AMOUNT, "K", "the vertices", "the temperature they have");
static const kiln_schema_row film_rows[] = {
    BODY_ROW(kiln_scene_load, body),
    WHERE_ROW(kiln_scene_load, where, "the faces"),
    {"amount", KILN_VALUE_AMOUNT, offsetof(kiln_scene_load, amount), KILN_NOT_NEGATIVE, "W/(m^2 K)",
     "", .meaning = "heat transfer coefficient", .signature = KILN_OF_TIME_AND_PLACE},
    {"outside", KILN_VALUE_AMOUNT, offsetof(kiln_scene_load, outside), KILN_NOT_NEGATIVE, "K", "",
     .meaning = "temperature beyond the faces", .signature = KILN_OF_TIME_AND_PLACE},
    FROM_ROW(kiln_scene_load, from),
    TILL_ROW(kiln_scene_load, until)};
#define LOAD .size = sizeof(kiln_scene_load), .start = start_load, .has_said = true
const kiln_schema kiln_load_schemas[] = {
    {"load.force", "A force on vertices.", KILN_SCHEMA_ROWS(force_rows), LOAD},
    {"load.traction", "A force on faces that keeps its direction.", KILN_SCHEMA_ROWS(traction_rows),
     LOAD},
    {"load.pressure", "A pressure on faces that turns with them.", KILN_SCHEMA_ROWS(pressure_rows),
     LOAD},
    {"load.body", "A force on the volume.", KILN_SCHEMA_ROWS(body_force_rows), LOAD},
    {"load.heat", "A source of heat in the volume.", KILN_SCHEMA_ROWS(heat_rows), LOAD},
    {"load.flux", "Heat that flows in through faces.", KILN_SCHEMA_ROWS(flux_rows), LOAD},
    {"load.film", "Faces that air, water or a plate heats or cools, in place of the scene's air.",
     KILN_SCHEMA_ROWS(film_rows), LOAD},
    {"load.temperature", "Vertices that have a temperature.",
     KILN_SCHEMA_ROWS(held_temperature_rows), LOAD},
};

static void start_obstacle(void *target)
{
    *(scene_obstacle_draft *)target =
        (scene_obstacle_draft){.obstacle = {.shape = {.normal = {0, 0, 1}, .end = {0, 0, 1}},
                                            .contact_angle = 180.0,
                                            .temperature = kiln_quantity_number(NAN),
                                            .motion = {.obstacle = -1}},
                               .place = {.scale = {1, 1, 1}, .turn = {{0, 0, 1}, NAN, NAN}}};
}

#define SHAPE(member) offsetof(scene_obstacle_draft, obstacle.shape.member)
#define OBSTACLE_ROWS                                                                              \
    {"name", KILN_VALUE_NAME, offsetof(scene_obstacle_draft, obstacle.name),                       \
     .preset = "obstacle1, obstacle2, ...",                                                        \
     .meaning = "other parts of the scene call it by this"},                                       \
        {"friction",                                                                               \
         KILN_VALUE_NUMBER,                                                                        \
         offsetof(scene_obstacle_draft, obstacle.friction),                                        \
         KILN_NOT_NEGATIVE,                                                                        \
         NULL,                                                                                     \
         NULL,                                                                                     \
         .meaning = "Coulomb's coefficient"},                                                      \
        {"contact_angle",                                                                          \
         KILN_VALUE_NUMBER,                                                                        \
         offsetof(scene_obstacle_draft, obstacle.contact_angle),                                   \
         KILN_WITHIN(0, 180),                                                                      \
         "degrees",                                                                                \
         NULL,                                                                                     \
         .meaning = "at which a surface of liquid meets it, measured in the liquid; 180: it is "   \
                    "not wetted"},                                                                 \
        {"drag",                                                                                   \
         KILN_VALUE_NUMBER,                                                                        \
         offsetof(scene_obstacle_draft, obstacle.drag),                                            \
         KILN_NOT_NEGATIVE,                                                                        \
         "Pa s/m",                                                                                 \
         NULL,                                                                                     \
         .meaning = "resistance to liquid that slides along it, force per area and speed"},        \
        {"no_slip", KILN_VALUE_FLAG, offsetof(scene_obstacle_draft, obstacle.no_slip),             \
         .meaning = "liquid sticks to it; the line where it ends still moves"},                    \
        {"temperature",                                                                            \
         KILN_VALUE_AMOUNT,                                                                        \
         offsetof(scene_obstacle_draft, obstacle.temperature),                                     \
         KILN_NOT_NEGATIVE,                                                                        \
         "K",                                                                                      \
         "none",                                                                                   \
         .meaning = "it heats or cools what touches it; in scenes with `heat`",                    \
         .signature = KILN_OF_TIME},                                                               \
        {"conductance",                                                                            \
         KILN_VALUE_NUMBER,                                                                        \
         offsetof(scene_obstacle_draft, obstacle.conductance),                                     \
         KILN_NOT_NEGATIVE,                                                                        \
         "W/(m^2 K)",                                                                              \
         NULL,                                                                                     \
         .meaning = "of heat through what touches it"},                                            \
        {"inside_out", KILN_VALUE_FLAG, SHAPE(inside_out),                                         \
         .meaning = "bodies are kept inside instead of outside"},                                  \
    {                                                                                              \
        .key = "motion", .type = KILN_VALUE_OTHER,                                                 \
        .offset = offsetof(scene_obstacle_draft, obstacle.motion), .preset = "motion.still {}",    \
        .meaning = "how it moves", .what = "[motion](#motion)", .read = kiln_scene_read_motion     \
    }
#define POINT_ROW(key_, member, preset_, text)                                                     \
    {                                                                                              \
        key_, KILN_VALUE_VECTOR, SHAPE(member), KILN_ANY_NUMBER, "m", preset_, .meaning = text     \
    }
#define RADIUS_ROW(text)                                                                           \
    {                                                                                              \
        "radius", KILN_VALUE_NUMBER, SHAPE(radius), KILN_POSITIVE, "m", "", .meaning = text        \
    }

static const kiln_schema_row plane_rows[] = {POINT_ROW("point", point, NULL, "on the plane"),
                                             {"normal", KILN_VALUE_VECTOR, SHAPE(normal),
                                              KILN_ANY_NUMBER, NULL, NULL,
                                              .meaning = "where bodies may be; any length"},
                                             OBSTACLE_ROWS};
static const kiln_schema_row sphere_rows[] = {POINT_ROW("centre", point, NULL, "centre"),
                                              RADIUS_ROW("radius"), OBSTACLE_ROWS};
static const kiln_schema_row cylinder_rows[] = {POINT_ROW("from", point, "", "end of the axis"),
                                                POINT_ROW("to", end, "", "other end of the axis"),
                                                RADIUS_ROW("radius"), OBSTACLE_ROWS};
static const kiln_schema_row box_rows[] = {POINT_ROW("from", point, "", "a corner"),
                                           POINT_ROW("to", end, "", "the opposite corner"),
                                           OBSTACLE_ROWS};
static const kiln_schema_row cone_rows[] = {POINT_ROW("from", point, "", "centre of the base"),
                                            POINT_ROW("to", end, "", "tip"),
                                            RADIUS_ROW("radius of the base"), OBSTACLE_ROWS};
static const kiln_schema_row torus_rows[] = {
    POINT_ROW("centre", point, NULL, "centre"),
    {"normal", KILN_VALUE_VECTOR, SHAPE(normal), KILN_ANY_NUMBER, NULL, NULL,
     .meaning = "direction of the axis; any length"},
    RADIUS_ROW("radius of the ring in the middle of the tube"),
    {"tube", KILN_VALUE_NUMBER, SHAPE(tube), KILN_POSITIVE, "m", "",
     .meaning = "radius of the tube"},
    OBSTACLE_ROWS};
static const kiln_schema_row mesh_rows[] = {
    {"path", KILN_VALUE_PATH, offsetof(scene_obstacle_draft, file), .preset = "none",
     .meaning = "the file, from the scene's folder; of tets the surface is taken (this or "
                "`shape`)"},
    {"shape", KILN_VALUE_OTHER, SHAPE(surface), .preset = "none",
     .meaning = "the surface of this shape, such as stairs from shape.polygon",
     .what = "[shape](#shape)", .read = kiln_scene_read_surface},
    {"at", KILN_VALUE_VECTOR, offsetof(scene_obstacle_draft, place.at), KILN_ANY_NUMBER, "m", NULL,
     .meaning = "where its origin goes"},
    {"turn", KILN_VALUE_TABLE, offsetof(scene_obstacle_draft, place.turn),
     .schema = &kiln_turn_schema, .preset = "none", .meaning = "about its origin",
     .what = SCENE_TURN_FORM},
    {"scale", KILN_VALUE_OTHER, offsetof(scene_obstacle_draft, place.scale), .preset = "1",
     .meaning = "before it is turned", .what = "number or {x, y, z}, positive",
     .read = kiln_scene_read_scale},
    OBSTACLE_ROWS};

#define OBSTACLE(name_, about_, list_)                                                             \
    {                                                                                              \
        name_, about_, KILN_SCHEMA_ROWS(list_), .size = sizeof(scene_obstacle_draft),              \
                                                .start = start_obstacle, .has_said = true          \
    }
const kiln_schema kiln_obstacle_schemas[KILN_OBSTACLE_COUNT] = {
    [KILN_OBSTACLE_PLANE] = OBSTACLE("obstacle.plane", "Solid below a plane.", plane_rows),
    [KILN_OBSTACLE_SPHERE] = OBSTACLE("obstacle.sphere", "A sphere.", sphere_rows),
    [KILN_OBSTACLE_CYLINDER] =
        OBSTACLE("obstacle.cylinder", "A cylinder with flat ends.", cylinder_rows),
    [KILN_OBSTACLE_CAPSULE] =
        OBSTACLE("obstacle.capsule", "A cylinder with round ends.", cylinder_rows),
    [KILN_OBSTACLE_BOX] = OBSTACLE("obstacle.box", "A box along the axes.", box_rows),
    [KILN_OBSTACLE_CONE] = OBSTACLE("obstacle.cone", "A cone.", cone_rows),
    [KILN_OBSTACLE_TORUS] = OBSTACLE("obstacle.torus", "A ring.", torus_rows),
    [KILN_OBSTACLE_MESH] =
        OBSTACLE("obstacle.mesh",
                 "A surface from a file, or that of a shape: closed, or a sheet, which is met on "
                 "both sides.",
                 mesh_rows),
};

static const char *space_name(int row)
{
    static const char *const names[] = {"material", "world", NULL};
    return names[row];
}

static const char *reach_name(int row)
{
    static const char *const names[] = {"centre", "all", "any", NULL};
    return names[row];
}

#define PICK(member) offsetof(kiln_selector, member)
#define REACH_ROW                                                                                  \
    {                                                                                              \
        .key = "reach", .type = KILN_VALUE_CHOICE, .offset = PICK(reach), .choices = reach_name,   \
        .meaning = "what of a tet or face must be inside: its centre, all corners, or any"         \
    }
#define SPACE_ROW                                                                                  \
    {                                                                                              \
        .key = "space", .type = KILN_VALUE_CHOICE, .offset = PICK(space), .choices = space_name,   \
        .meaning = "whether material or world positions are looked at"                             \
    }
#define PICK_POINT(key_, member, preset_, text)                                                    \
    {                                                                                              \
        key_, KILN_VALUE_VECTOR, PICK(member), KILN_ANY_NUMBER, "m", preset_, .meaning = text      \
    }
#define PICK_RADIUS                                                                                \
    {                                                                                              \
        "radius", KILN_VALUE_NUMBER, PICK(radius), KILN_POSITIVE, "m", "", .meaning = "radius"     \
    }
#define PICK_NUMBER(key_, low, text)                                                               \
    {                                                                                              \
        key_, KILN_VALUE_LONG, PICK(number), KILN_WITHIN(low, 2147483647), NULL, "",               \
            .meaning = text                                                                        \
    }

static const kiln_schema_row pick_box_rows[] = {PICK_POINT("from", a, "", "a corner"),
                                                PICK_POINT("to", b, "", "the opposite corner"),
                                                REACH_ROW, SPACE_ROW};
static const kiln_schema_row pick_sphere_rows[] = {PICK_POINT("centre", a, NULL, "centre"),
                                                   PICK_RADIUS, REACH_ROW, SPACE_ROW};
static const kiln_schema_row pick_half_rows[] = {PICK_POINT("point", a, NULL, "on the border"),
                                                 {"normal", KILN_VALUE_VECTOR, PICK(b),
                                                  KILN_ANY_NUMBER, NULL, "",
                                                  .meaning = "into the half that is chosen"},
                                                 REACH_ROW,
                                                 SPACE_ROW};
static const kiln_schema_row pick_cylinder_rows[] = {
    PICK_POINT("from", a, "", "end of the axis"), PICK_POINT("to", b, "", "other end of the axis"),
    PICK_RADIUS, REACH_ROW, SPACE_ROW};
static const kiln_schema_row pick_nearest_rows[] = {
    PICK_POINT("to", a, "", "nearest to this point"),
    {"count", KILN_VALUE_LONG, PICK(number), KILN_WITHIN(1, 2147483647), NULL, NULL,
     .meaning = "how many"},
    {"within", KILN_VALUE_NUMBER, PICK(radius), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "no farther than this; 0: any distance"},
    SPACE_ROW};
static const kiln_schema_row pick_mark_rows[] = {REACH_ROW};
static const kiln_schema_row pick_region_rows[] = {PICK_NUMBER("tag", 0, "the mesh file's tag")};
static const kiln_schema_row pick_part_rows[] = {
    PICK_NUMBER("number", 0, "connected part, counted from 0")};
static const kiln_schema_row pick_body_rows[] = {
    {"name", KILN_VALUE_OTHER, PICK(number), .preset = "", .meaning = "the body",
     .what = "name of a body", .read = kiln_scene_read_body_number}};
static const kiln_schema_row pick_patch_rows[] = {
    PICK_NUMBER("tag", -2147483648.0, "tag of surface triangles; see the patches of each shape")};

static void start_selector(void *target)
{
    *(kiln_selector *)target = (kiln_selector){.number = 1};
}

static kiln_status finish_selector(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    const kiln_selector *s = settings;
    kiln_vec3 d = kiln_v3_sub(s->b, s->a);
    if (s->kind == KILN_SELECT_BOX && !(d.x >= 0.0 && d.y >= 0.0 && d.z >= 0.0))
        return kiln_fail_setting(
            error, NULL,
            "from must not be beyond to in any direction, got {%g, %g, %g} and "
            "{%g, %g, %g}",
            s->a.x, s->a.y, s->a.z, s->b.x, s->b.y, s->b.z);
    if (s->kind == KILN_SELECT_CYLINDER && !(kiln_v3_norm(d) > 0.0))
        return kiln_fail_setting(error, NULL, "from and to must be different points");
    if (s->kind == KILN_SELECT_HALF_SPACE && !(kiln_v3_norm(s->b) > 0.0))
        return kiln_fail_setting(error, "normal", "must have a length, got {0, 0, 0}");
    return KILN_OK;
}

#define SELECT(name_, about_, list_)                                                               \
    {                                                                                              \
        name_, about_, KILN_SCHEMA_ROWS(list_), .size = sizeof(kiln_selector),                     \
                                                .start = start_selector, .finish = finish_selector \
    }
const kiln_schema kiln_select_schemas[KILN_SELECT_COUNT] = {
    [KILN_SELECT_ALL] = {"select.all", "Everything.", NULL, 0, sizeof(kiln_selector),
                         .start = start_selector},
    [KILN_SELECT_BOX] = SELECT("select.box", "Inside a box, borders included.", pick_box_rows),
    [KILN_SELECT_SPHERE] = SELECT("select.sphere", "Inside a sphere.", pick_sphere_rows),
    [KILN_SELECT_HALF_SPACE] = SELECT("select.half_space", "On or beyond a plane.", pick_half_rows),
    [KILN_SELECT_CYLINDER] = SELECT("select.cylinder", "Inside a cylinder.", pick_cylinder_rows),
    [KILN_SELECT_NEAREST] = SELECT("select.nearest", "The nearest to a point.", pick_nearest_rows),
    [KILN_SELECT_SURFACE] = SELECT("select.surface", "On the surface.", pick_mark_rows),
    [KILN_SELECT_INTERFACE] = SELECT("select.interface", "Between regions.", pick_mark_rows),
    [KILN_SELECT_FEATURE] = SELECT("select.feature", "On an edge of the shape.", pick_mark_rows),
    [KILN_SELECT_CORNER] =
        SELECT("select.corner", "Where edges of the shape meet, end or turn.", pick_mark_rows),
    [KILN_SELECT_REQUIRED] =
        SELECT("select.required", "Marked as required in the mesh file.", pick_mark_rows),
    [KILN_SELECT_REGION] = SELECT("select.region", "Tets with a tag.", pick_region_rows),
    [KILN_SELECT_PART] = SELECT("select.part", "A connected part.", pick_part_rows),
    [KILN_SELECT_BODY] = SELECT("select.body", "A body.", pick_body_rows),
    [KILN_SELECT_PATCH] = SELECT("select.patch", "Surface triangles with a tag.", pick_patch_rows),
};

/* The rows of holds, motions, loads, obstacles and selections. */
#include "io/scene_reader.h"

#include <math.h>

#define ROWS(list)       list, sizeof list / sizeof list[0]
#define IN(type, member) offsetof(type, member)

static void start_hold(void *target)
{
    *(scene_hold_draft *)target = (scene_hold_draft){
        .hold = {.body = -1, .components = 7, .motion = {.obstacle = -1}, .until = INFINITY},
        .turn = {{0, 0, 1}, NAN, NAN}};
}

#define FROM_ROW(type, member)                                                                     \
    {                                                                                              \
        "from", SCENE_NUMBER, IN(type, member), SCENE_NOT_NEG, "s", NULL,                          \
            .meaning = "begins at this time"                                                       \
    }
#define TILL_ROW(type, member)                                                                     \
    {                                                                                              \
        "till", SCENE_NUMBER, IN(type, member), SCENE_POSITIVE, "s", "never",                      \
            .meaning = "ends at this time"                                                         \
    }
#define BODY_ROW(object, member_)                                                                  \
    {                                                                                              \
        .key = "body", .type = SCENE_OTHER, .offset = IN(object, member_), .preset = "all",        \
        .meaning = "only of this body", .what = "name of a body",                                  \
        .read = kiln_scene_read_body_name                                                          \
    }
#define WHERE_ROW(object, member_, text)                                                           \
    {                                                                                              \
        .key = "where", .type = SCENE_OTHER, .offset = IN(object, member_),                        \
        .preset = "everything", .meaning = text, .what = "[selection](#select)",                   \
        .read = kiln_scene_read_picks                                                              \
    }

static const scene_row hold_rows[] = {
    {"name", SCENE_NAME, IN(scene_hold_draft, hold.name), .preset = "none",
     .meaning = "for messages and lists"},
    BODY_ROW(scene_hold_draft, hold.body),
    WHERE_ROW(scene_hold_draft, hold.where, "the vertices"),
    {"components", SCENE_OTHER, IN(scene_hold_draft, hold.components), .preset = "\"xyz\"",
     .meaning = "directions that are held, the others are free", .what = "text of letters x, y, z",
     .read = kiln_scene_read_components},
    {"turn", SCENE_OTHER, IN(scene_hold_draft, turn), .preset = "none",
     .meaning = "turns the directions that x, y, z mean in `components`",
     .what = "table [turn](#turn)", .read = kiln_scene_read_turn},
    {"motion", SCENE_OTHER, IN(scene_hold_draft, hold.motion), .preset = "motion.still {}",
     .meaning = "how the vertices are led, from where they are at `from`",
     .what = "[motion](#motion)", .read = kiln_scene_read_motion},
    FROM_ROW(scene_hold_draft, hold.from),
    TILL_ROW(scene_hold_draft, hold.until),
};
const scene_object kiln_scene_object_hold = {
    "hold", "Vertices that are held, or led along a motion, and released at `till`.",
    ROWS(hold_rows), sizeof(scene_hold_draft), start_hold};

static void start_motion(void *target)
{
    *(kiln_motion *)target = (kiln_motion){.axis = {0, 0, 1}, .obstacle = -1};
}

static const scene_row translate_rows[] = {
    {"shift", SCENE_FIELD, IN(kiln_motion, shift), SCENE_ANY, "m", "",
     .meaning = "how far from where it began", .signature = SCENE_OF_TIME},
};
static const scene_row rotate_rows[] = {
    {"angle", SCENE_AMOUNT, IN(kiln_motion, angle), SCENE_ANY, "rad", "",
     .meaning = "how far it has turned", .signature = SCENE_OF_TIME},
    {"axis", SCENE_VECTOR, IN(kiln_motion, axis), SCENE_ANY, NULL, NULL,
     .meaning = "direction; any length"},
    {"centre", SCENE_VECTOR, IN(kiln_motion, centre), SCENE_ANY, "m", NULL,
     .meaning = "a point that the axis goes through"},
    {"shift", SCENE_FIELD, IN(kiln_motion, shift), SCENE_ANY, "m", NULL,
     .meaning = "how far it has moved as well, after turning", .signature = SCENE_OF_TIME},
};
static const scene_row follow_rows[] = {
    {"place", SCENE_FIELD, IN(kiln_motion, place), SCENE_ANY, "m", "none",
     .meaning = "where material point u is at time t (this or `obstacle`)",
     .signature = SCENE_OF_TIME_AND_PLACE},
    {"obstacle", SCENE_OTHER, IN(kiln_motion, obstacle), .preset = "none",
     .meaning = "goes along with this obstacle", .what = "name of an obstacle",
     .read = kiln_scene_read_obstacle_name},
};
const scene_object kiln_scene_objects_motion[] = {
    {"motion.still", "Does not move.", NULL, 0, sizeof(kiln_motion), start_motion},
    {"motion.translate", "Moves without turning.", ROWS(translate_rows), sizeof(kiln_motion),
     start_motion},
    {"motion.rotate", "Turns about an axis.", ROWS(rotate_rows), sizeof(kiln_motion), start_motion},
    {"motion.follow", "Goes wherever a function says, or along with an obstacle.",
     ROWS(follow_rows), sizeof(kiln_motion), start_motion},
};

static void start_load(void *target)
{
    *(kiln_scene_load *)target = (kiln_scene_load){.body = -1, .until = INFINITY};
}

#define LOAD_ROWS(type, unit, what, text)                                                          \
    {                                                                                              \
        BODY_ROW(kiln_scene_load, body), WHERE_ROW(kiln_scene_load, where, what),                  \
            {"amount",                                                                             \
             type,                                                                                 \
             IN(kiln_scene_load, amount),                                                          \
             SCENE_ANY,                                                                            \
             unit,                                                                                 \
             "",                                                                                   \
             .meaning = text,                                                                      \
             .signature = SCENE_OF_TIME_AND_PLACE},                                                \
            FROM_ROW(kiln_scene_load, from), TILL_ROW(kiln_scene_load, until),                     \
    }
static const scene_row force_rows[] = LOAD_ROWS(
    SCENE_FIELD, "N", "the vertices",
    "the whole force, shared equally by the vertices; a function is asked for each vertex, "
    "which gets its share of what it says there");
static const scene_row traction_rows[] =
    LOAD_ROWS(SCENE_FIELD, "N/m^2", "the faces", "force per material area");
static const scene_row pressure_rows[] =
    LOAD_ROWS(SCENE_AMOUNT, "Pa", "the faces", "pressure; positive presses inward");
static const scene_row body_force_rows[] =
    LOAD_ROWS(SCENE_FIELD, "N/m^3", "the tets", "force per volume");
const scene_object kiln_scene_objects_load[] = {
    {"load.force", "A force on vertices.", ROWS(force_rows), sizeof(kiln_scene_load), start_load},
    {"load.traction", "A force on faces that keeps its direction.", ROWS(traction_rows),
     sizeof(kiln_scene_load), start_load},
    {"load.pressure", "A pressure on faces that turns with them.", ROWS(pressure_rows),
     sizeof(kiln_scene_load), start_load},
    {"load.body", "A force on the volume.", ROWS(body_force_rows), sizeof(kiln_scene_load),
     start_load},
};

static void start_obstacle(void *target)
{
    *(scene_obstacle_draft *)target = (scene_obstacle_draft){
        .obstacle = {.shape = {.normal = {0, 0, 1}, .end = {0, 0, 1}}, .motion = {.obstacle = -1}},
        .place = {.scale = {1, 1, 1}, .turn = {{0, 0, 1}, NAN, NAN}}};
}

#define SHAPE(member) IN(scene_obstacle_draft, obstacle.shape.member)
#define OBSTACLE_ROWS                                                                              \
    {"name", SCENE_NAME, IN(scene_obstacle_draft, obstacle.name),                                  \
     .preset = "obstacle1, obstacle2, ...",                                                        \
     .meaning = "other parts of the scene call it by this"},                                       \
        {"friction", SCENE_NUMBER, IN(scene_obstacle_draft, obstacle.friction), SCENE_NOT_NEG,     \
         NULL,       NULL,         .meaning = "Coulomb's coefficient"},                            \
        {"inside_out", SCENE_FLAG, SHAPE(inside_out),                                              \
         .meaning = "bodies are kept inside instead of outside"},                                  \
    {                                                                                              \
        .key = "motion", .type = SCENE_OTHER, .offset = IN(scene_obstacle_draft, obstacle.motion), \
        .preset = "motion.still {}", .meaning = "how it moves", .what = "[motion](#motion)",       \
        .read = kiln_scene_read_motion                                                             \
    }
#define POINT_ROW(key_, member, preset_, text)                                                     \
    {                                                                                              \
        key_, SCENE_VECTOR, SHAPE(member), SCENE_ANY, "m", preset_, .meaning = text                \
    }
#define RADIUS_ROW(text)                                                                           \
    {                                                                                              \
        "radius", SCENE_NUMBER, SHAPE(radius), SCENE_POSITIVE, "m", "", .meaning = text            \
    }

static const scene_row plane_rows[] = {POINT_ROW("point", point, NULL, "on the plane"),
                                       {"normal", SCENE_VECTOR, SHAPE(normal), SCENE_ANY, NULL,
                                        NULL, .meaning = "where bodies may be; any length"},
                                       OBSTACLE_ROWS};
static const scene_row sphere_rows[] = {POINT_ROW("centre", point, NULL, "centre"),
                                        RADIUS_ROW("radius"), OBSTACLE_ROWS};
static const scene_row cylinder_rows[] = {POINT_ROW("from", point, "", "end of the axis"),
                                          POINT_ROW("to", end, "", "other end of the axis"),
                                          RADIUS_ROW("radius"), OBSTACLE_ROWS};
static const scene_row box_rows[] = {POINT_ROW("from", point, "", "a corner"),
                                     POINT_ROW("to", end, "", "the opposite corner"),
                                     OBSTACLE_ROWS};
static const scene_row cone_rows[] = {POINT_ROW("from", point, "", "centre of the base"),
                                      POINT_ROW("to", end, "", "tip"),
                                      RADIUS_ROW("radius of the base"), OBSTACLE_ROWS};
static const scene_row torus_rows[] = {
    POINT_ROW("centre", point, NULL, "centre"),
    {"normal", SCENE_VECTOR, SHAPE(normal), SCENE_ANY, NULL, NULL,
     .meaning = "direction of the axis; any length"},
    RADIUS_ROW("radius of the ring in the middle of the tube"),
    {"tube", SCENE_NUMBER, SHAPE(tube), SCENE_POSITIVE, "m", "", .meaning = "radius of the tube"},
    OBSTACLE_ROWS};
static const scene_row mesh_rows[] = {
    {"path", SCENE_PATH, IN(scene_obstacle_draft, file), .preset = "none",
     .meaning = "the file, from the scene's folder; of tets the surface is taken (this or "
                "`shape`)"},
    {"shape", SCENE_OTHER, SHAPE(surface), .preset = "none",
     .meaning = "the surface of this shape, such as stairs from shape.polygon",
     .what = "[shape](#shape)", .read = kiln_scene_read_surface},
    {"at", SCENE_VECTOR, IN(scene_obstacle_draft, place.at), SCENE_ANY, "m", NULL,
     .meaning = "where its origin goes"},
    {"turn", SCENE_OTHER, IN(scene_obstacle_draft, place.turn), .preset = "none",
     .meaning = "about its origin", .what = "table [turn](#turn)", .read = kiln_scene_read_turn},
    {"scale", SCENE_OTHER, IN(scene_obstacle_draft, place.scale), .preset = "1",
     .meaning = "before it is turned", .what = "number or {x, y, z}, positive",
     .read = kiln_scene_read_scale},
    OBSTACLE_ROWS};

#define OBSTACLE(name, about, rows)                                                                \
    {                                                                                              \
        name, about, ROWS(rows), sizeof(scene_obstacle_draft), start_obstacle                      \
    }
const scene_object kiln_scene_objects_obstacle[KILN_OBSTACLE_COUNT] = {
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
        OBSTACLE("obstacle.mesh", "A closed surface from a file, or that of a shape.", mesh_rows),
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

#define PICK(member) IN(kiln_selector, member)
#define REACH_ROW                                                                                  \
    {                                                                                              \
        .key = "reach", .type = SCENE_CHOICE, .offset = PICK(reach), .choices = reach_name,        \
        .meaning = "what of a tet or face must be inside: its centre, all corners, or any"         \
    }
#define SPACE_ROW                                                                                  \
    {                                                                                              \
        .key = "space", .type = SCENE_CHOICE, .offset = PICK(space), .choices = space_name,        \
        .meaning = "whether material or world positions are looked at"                             \
    }
#define PICK_POINT(key_, member, preset_, text)                                                    \
    {                                                                                              \
        key_, SCENE_VECTOR, PICK(member), SCENE_ANY, "m", preset_, .meaning = text                 \
    }
#define PICK_RADIUS                                                                                \
    {                                                                                              \
        "radius", SCENE_NUMBER, PICK(radius), SCENE_POSITIVE, "m", "", .meaning = "radius"         \
    }
#define PICK_NUMBER(key_, low, text)                                                               \
    {                                                                                              \
        key_, SCENE_LONG, PICK(number), SCENE_WITHIN(low, 2147483647), NULL, "", .meaning = text   \
    }

static const scene_row pick_box_rows[] = {PICK_POINT("from", a, "", "a corner"),
                                          PICK_POINT("to", b, "", "the opposite corner"), REACH_ROW,
                                          SPACE_ROW};
static const scene_row pick_sphere_rows[] = {PICK_POINT("centre", a, NULL, "centre"), PICK_RADIUS,
                                             REACH_ROW, SPACE_ROW};
static const scene_row pick_half_rows[] = {PICK_POINT("point", a, NULL, "on the border"),
                                           {"normal", SCENE_VECTOR, PICK(b), SCENE_ANY, NULL, "",
                                            .meaning = "into the half that is chosen"},
                                           REACH_ROW,
                                           SPACE_ROW};
static const scene_row pick_cylinder_rows[] = {PICK_POINT("from", a, "", "end of the axis"),
                                               PICK_POINT("to", b, "", "other end of the axis"),
                                               PICK_RADIUS, REACH_ROW, SPACE_ROW};
static const scene_row pick_nearest_rows[] = {
    PICK_POINT("to", a, "", "nearest to this point"),
    {"count", SCENE_LONG, PICK(number), SCENE_WITHIN(1, 2147483647), NULL, NULL,
     .meaning = "how many"},
    {"within", SCENE_NUMBER, PICK(radius), SCENE_NOT_NEG, "m", NULL,
     .meaning = "no farther than this; 0: any distance"},
    SPACE_ROW};
static const scene_row pick_mark_rows[] = {REACH_ROW};
static const scene_row pick_region_rows[] = {PICK_NUMBER("tag", 0, "the mesh file's tag")};
static const scene_row pick_part_rows[] = {
    PICK_NUMBER("number", 0, "connected part, counted from 0")};
static const scene_row pick_body_rows[] = {{"name", SCENE_OTHER, PICK(number), .preset = "",
                                            .meaning = "the body", .what = "name of a body",
                                            .read = kiln_scene_read_body_number}};
static const scene_row pick_patch_rows[] = {
    PICK_NUMBER("tag", -2147483648.0, "tag of surface triangles; see the patches of each shape")};

static void start_selector(void *target)
{
    *(kiln_selector *)target = (kiln_selector){.number = 1};
}

#define SELECT(name, about, rows)                                                                  \
    {                                                                                              \
        name, about, ROWS(rows), sizeof(kiln_selector), start_selector                             \
    }
const scene_object kiln_scene_objects_select[KILN_SELECT_COUNT] = {
    [KILN_SELECT_ALL] = {"select.all", "Everything.", NULL, 0, sizeof(kiln_selector),
                         start_selector},
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

/* The rows of bodies and their shapes; scene_schema_things.c has the rest. */
#include "io/scene_schema.h"

#include "io/scene_reader.h"
#include "step/step_schema.h"

static void start_scene(void *target)
{
    kiln_scene_init(target, NULL);
}

static const kiln_schema_row scene_rows[] = {
    {.type = KILN_VALUE_PART, .schema = &kiln_scene_schema},
    {"bodies", KILN_VALUE_OTHER, .preset = "", .meaning = "what moves; at least one",
     .what = "list of [body](#body)", .read = kiln_scene_read_bodies},
    {"obstacles", KILN_VALUE_OTHER, .preset = "none",
     .meaning = "rigid things that bodies run into", .what = "list of [obstacle](#obstacle)",
     .read = kiln_scene_read_obstacles},
    {"holds", KILN_VALUE_OTHER, .preset = "none", .meaning = "vertices that are held or led",
     .what = "list of [hold](#hold)", .read = kiln_scene_read_holds},
    {"loads", KILN_VALUE_OTHER, .preset = "none", .meaning = "forces from outside",
     .what = "list of [load](#load)", .read = kiln_scene_read_loads},
    {"probes", KILN_VALUE_OTHER, .preset = "every body, up to 16",
     .meaning = "bodies and points that probes.csv follows, beside obstacles and holds",
     .what = "list of [probe](#probe)", .read = kiln_scene_read_probes},
};
const kiln_schema kiln_scene_file_schema = {
    .name = "scene",
    .about = "What a file returns: `return scene { ... }`.",
    KILN_SCHEMA_ROWS(scene_rows),
    .size = sizeof(kiln_scene),
    .start = start_scene,
};

static scene_place start_place(void)
{
    return (scene_place){.scale = {1, 1, 1}, .turn = {{0, 0, 1}, NAN, NAN}};
}

static void start_body(void *target)
{
    *(scene_body_draft *)target =
        (scene_body_draft){.body = {.position = {.constant = {NAN, NAN, NAN}},
                                    .temperature = kiln_quantity_number(NAN)},
                           .place = start_place()};
}

static const kiln_schema_row body_rows[] = {
    {"name", KILN_VALUE_NAME, offsetof(scene_body_draft, body.name), .preset = "body1, body2, ...",
     .meaning = "other parts of the scene call it by this"},
    {"material", KILN_VALUE_MATERIAL, offsetof(scene_body_draft, body.material), .preset = "",
     .meaning = "of all that no region claims"},
    {"at", KILN_VALUE_VECTOR, offsetof(scene_body_draft, place.at), KILN_ANY_NUMBER, "m", NULL,
     .meaning = "where the shape's origin goes"},
    {"turn", KILN_VALUE_TABLE, offsetof(scene_body_draft, place.turn), .schema = &kiln_turn_schema,
     .preset = "none",
     .meaning =
         "about the shape's origin (a corner of a box, the middle of a ball; of a file the origin "
         "of its coordinates: what lies away from it is swung), before it is moved to `at`",
     .what = SCENE_TURN_FORM},
    {"scale", KILN_VALUE_OTHER, offsetof(scene_body_draft, place.scale), .preset = "1",
     .meaning = "of the shape, before it is turned", .what = "number or {x, y, z}, positive",
     .read = kiln_scene_read_scale},
    {"velocity", KILN_VALUE_FIELD, offsetof(scene_body_draft, body.velocity), KILN_ANY_NUMBER,
     "m/s", NULL, .meaning = "at the start", .signature = KILN_OF_PLACE},
    {"spin", KILN_VALUE_VECTOR, offsetof(scene_body_draft, body.spin), KILN_ANY_NUMBER, "rad/s",
     NULL, .meaning = "at the start, about the centre of mass, added to the velocity"},
    {"position", KILN_VALUE_FIELD, offsetof(scene_body_draft, body.position), KILN_ANY_NUMBER, "m",
     "where it is made",
     .meaning = "where material point u is at the start: a body that starts bent or stretched",
     .signature = KILN_OF_PLACE},
    {"temperature", KILN_VALUE_AMOUNT, offsetof(scene_body_draft, body.temperature),
     KILN_NOT_NEGATIVE, "K", "heat.temperature", .meaning = "at the start, in scenes with `heat`",
     .signature = KILN_OF_PLACE},
    {"tolerate_inverted", KILN_VALUE_FLAG, offsetof(scene_body_draft, body.tolerate_inverted),
     .meaning = "tets may be inverted, at the start and during the run, if the material can bear "
                "it; said of one body, no step is refused for those of the others either"},
    {"clearance", KILN_VALUE_NUMBER, offsetof(scene_body_draft, body.clearance), KILN_NOT_NEGATIVE,
     "m", NULL,
     .meaning = "what its surface keeps from others, beside `contact.thickness`: two bodies keep "
                "the mean of theirs, a body half of its own from obstacles, so that sheets stack "
                "with a visible thickness"},
    {"regions", KILN_VALUE_OTHER, offsetof(scene_body_draft, body.regions), .preset = "none",
     .meaning = "parts with materials of their own; later ones win",
     .what = "list of [region](#region)", .read = kiln_scene_read_regions},
    {"patches", KILN_VALUE_OTHER, offsetof(scene_body_draft, body.patches), .preset = "none",
     .meaning = "surface faces with tags of their own, for `select.patch`; later ones win",
     .what = "list of [patch](#patch)", .read = kiln_scene_read_patches},
    {"shape", KILN_VALUE_OTHER, offsetof(scene_body_draft, body.mesh), .preset = "",
     .meaning = "its tets", .what = "[shape](#shape)", .read = kiln_scene_read_shape},
    {"surface", KILN_VALUE_OTHER, offsetof(scene_body_draft, body.surface), .preset = "none",
     .meaning = "fine triangles that hang in the body and are written beside the frames: the "
                "surface of a shape, or a file's, placed as the body is",
     .what = "[shape](#shape)", .read = kiln_scene_read_surface},
};
const kiln_schema kiln_body_schema = {
    .name = "body",
    .about =
        "A deformable body. Its shape is scaled, then turned, then moved to `at`: these are its "
        "material coordinates, which selections look at.",
    KILN_SCHEMA_ROWS(body_rows),
    .size = sizeof(scene_body_draft),
    .start = start_body,
    .has_said = true,
};

static void start_region(void *target)
{
    *(kiln_scene_region *)target = (kiln_scene_region){.tag = -1};
}

static kiln_status finish_region(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    const kiln_scene_region *region = settings;
    if ((region->tag >= 0) == (region->where.count > 0))
        return kiln_fail_setting(error, NULL, "must have either a tag or where, got %s",
                                 region->tag >= 0 ? "both" : "none");
    return KILN_OK;
}

static const kiln_schema_row region_rows[] = {
    {"tag", KILN_VALUE_WHOLE, offsetof(kiln_scene_region, tag), KILN_WITHIN(0, 2147483647), NULL,
     "none", .meaning = "the tets that have this tag in the mesh file (this or `where`)"},
    {"where", KILN_VALUE_SELECTION, offsetof(kiln_scene_region, where), .preset = "none",
     .meaning = "the tets that this chooses"},
    {"material", KILN_VALUE_MATERIAL, offsetof(kiln_scene_region, material), .preset = "",
     .meaning = "what it is made of"},
};
const kiln_schema kiln_region_schema = {
    .name = "region",
    .about = "A part of a body with a material of its own.",
    KILN_SCHEMA_ROWS(region_rows),
    .size = sizeof(kiln_scene_region),
    .start = start_region,
    .finish = finish_region,
    .has_said = true,
};

static void start_patch(void *target)
{
    *(kiln_scene_patch *)target = (kiln_scene_patch){.tag = 0};
}

static const kiln_schema_row patch_rows[] = {
    {"tag", KILN_VALUE_WHOLE, offsetof(kiln_scene_patch, tag),
     KILN_WITHIN(-2147483648.0, 2147483647), NULL, "", .meaning = "what the faces are tagged with"},
    {"where", KILN_VALUE_SELECTION, offsetof(kiln_scene_patch, where), .preset = "everything",
     .meaning = "the faces"},
};
const kiln_schema kiln_patch_schema = {
    .name = "patch",
    .about = "Surface faces of a body that get a tag, in place of the mesh file's or the shape's.",
    KILN_SCHEMA_ROWS(patch_rows),
    .size = sizeof(kiln_scene_patch),
    .start = start_patch,
    .has_said = true,
};

static void start_turn(void *target)
{
    *(scene_turn *)target = start_place().turn;
}

static kiln_status finish_turn(void *settings, const kiln_given *given, kiln_error *error)
{
    (void)given;
    const scene_turn *turn = settings;
    if (isnan(turn->angle) == isnan(turn->degrees))
        return kiln_fail_setting(error, NULL, "must have either an angle or degrees, got %s",
                                 isnan(turn->angle) ? "none" : "both");
    if (!(kiln_v3_norm(turn->axis) > 0.0))
        return kiln_fail_setting(error, "axis", "must have a length, got {0, 0, 0}");
    return KILN_OK;
}

static const kiln_schema_row turn_rows[] = {
    {"axis", KILN_VALUE_VECTOR, offsetof(scene_turn, axis), KILN_ANY_NUMBER, NULL, NULL,
     .meaning = "direction to turn about; any length"},
    {"angle", KILN_VALUE_NUMBER, offsetof(scene_turn, angle), KILN_ANY_NUMBER, "rad", "none",
     .meaning = "counter-clockwise, looking against the axis (this or `degrees`)"},
    {"degrees", KILN_VALUE_NUMBER, offsetof(scene_turn, degrees), KILN_ANY_NUMBER, "degrees",
     "none", .meaning = "the same in degrees"},
};
const kiln_schema kiln_turn_schema = {
    .name = "turn",
    .about = "A rotation.",
    KILN_SCHEMA_ROWS(turn_rows),
    .size = sizeof(scene_turn),
    .start = start_turn,
    .finish = finish_turn,
};

static void start_file(void *target)
{
    *(scene_file_draft *)target = (scene_file_draft){.fill = kiln_fill_default_options()};
}

static const kiln_schema_row file_rows[] = {
    {"path", KILN_VALUE_PATH, offsetof(scene_file_draft, path), .preset = "",
     .meaning = "the mesh file, from the scene's folder: Medit, Gmsh, TetGen, VTK, or a surface as "
                "STL, OBJ, PLY, OFF"},
    {"repair", KILN_VALUE_FLAG, offsetof(scene_file_draft, repair),
     .meaning =
         "tets: mend what has one sensible meaning, with a warning: tets that are turned or "
         "given twice; vertices and edges where pieces merely touch are cut and moved apart"},
    {"refine", KILN_VALUE_WHOLE, offsetof(scene_file_draft, refine), KILN_WITHIN(0, 10), NULL, NULL,
     .meaning = "how often every edge is halved: 8 tets for one, or 4 triangles"},
    {"slab", KILN_VALUE_NUMBER, offsetof(scene_file_draft, slab), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "triangles in a plane of constant z are drawn out by this, for plane problems; 0: "
                "they are not"},
    {"h", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.size), KILN_NOT_NEGATIVE, "m", NULL,
     .meaning = "surfaces, and tets that get `layers`: length of edges, inside and on the surface; "
                "0: as they are"},
    {"layers", KILN_VALUE_WHOLE, offsetof(scene_file_draft, layers), KILN_WITHIN(0, 1000), NULL,
     NULL,
     .meaning = "plates and needles get new tets, stretched along them, this many across; 0: they "
                "have what the file or the filling gave them"},
    {"weld", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.weld), KILN_NOT_NEGATIVE, "m",
     "1e-5 of the size, on open edges",
     .meaning = "surfaces: points closer than this are one; triangles given twice or without area "
                "are dropped and edges with corners on them cut in any case, with a warning"},
    {"envelope", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.envelope), KILN_NOT_NEGATIVE,
     "m", NULL,
     .meaning = "surfaces: what is within this distance of it is meant, for those that are open or "
                "broken; 0: it is filled exactly, or within 1/200 of its size where it crosses "
                "itself"},
    {"exact", KILN_VALUE_FLAG, offsetof(scene_file_draft, fill.exact),
     .meaning = "surfaces: one that crosses itself is refused"},
    {"regions", KILN_VALUE_FLAG, offsetof(scene_file_draft, fill.regions),
     .meaning = "surfaces: a shell in a shell is a region of its own, not a cavity"},
    {"patch_angle", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.patch_angle),
     KILN_WITHIN(0, 180), "degrees", NULL,
     .meaning = "surfaces: patches are numbered from 1, apart where it turns by more; 0: they have "
                "the file's tags"},
    {"max_edge", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.max_edge), KILN_NOT_NEGATIVE,
     "m", NULL, .meaning = "surfaces: length of edges inside alone; 0: as the surface has it"},
    {"radius_edge", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.radius_edge),
     KILN_NOT_NEGATIVE, NULL, NULL,
     .meaning = "surfaces: TetGen's bound on circumradius by shortest edge; 0: none"},
    {"min_dihedral", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.min_dihedral),
     KILN_WITHIN(0, 60), "degrees", NULL, .meaning = "surfaces: smallest angle asked for; 0: none"},
    {"keep_surface", KILN_VALUE_FLAG, offsetof(scene_file_draft, fill.keep_surface),
     .meaning = "surfaces: no new points on it"},
    {"seconds", KILN_VALUE_NUMBER, offsetof(scene_file_draft, fill.seconds), KILN_NOT_NEGATIVE, "s",
     NULL, .meaning = "surfaces: time limit of the filling; 0: none"},
};
const kiln_schema kiln_shape_file_schema = {
    .name = "shape.file",
    .about = "A mesh from a file. A surface is mended and filled with tets (docs/meshes.md).",
    KILN_SCHEMA_ROWS(file_rows),
    .size = sizeof(scene_file_draft),
    .start = start_file,
};

const kiln_schema *kiln_scene_schema_at(size_t row)
{
    static const kiln_schema *const first[] = {
        &kiln_scene_file_schema, &kiln_step_schema,    &kiln_newton_schema,     &kiln_solver_schema,
        &kiln_output_schema,     &kiln_remesh_schema,  &kiln_contact_schema,    &kiln_pair_schema,
        &kiln_body_schema,       &kiln_turn_schema,    &kiln_region_schema,     &kiln_patch_schema,
        &kiln_material_schema,   &kiln_plastic_schema, &kiln_shape_file_schema, &kiln_hold_schema,
        &kiln_probe_schema,      &kiln_liquid_schema,  &kiln_thermal_schema};
    const size_t single = sizeof first / sizeof first[0];
    if (row < single)
        return first[row];
    row -= single;
    if (row < 4)
        return &kiln_motion_schemas[row];
    row -= 4;
    if (row <= KILN_LOAD_TEMPERATURE)
        return &kiln_load_schemas[row];
    row -= KILN_LOAD_TEMPERATURE + 1;
    if (row < KILN_OBSTACLE_COUNT)
        return &kiln_obstacle_schemas[row];
    row -= KILN_OBSTACLE_COUNT;
    return row < KILN_SELECT_COUNT ? &kiln_select_schemas[row] : NULL;
}

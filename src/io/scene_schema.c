/* The rows of scene, step, output, bodies and materials; scene_schema_evolve.c and
 * scene_schema_things.c have the rest. */
#include "io/scene_schema.h"

#include "io/scene_reader.h"

#include <math.h>
#include <string.h>

#define ROWS(list)       list, sizeof list / sizeof list[0]
#define IN(type, member) offsetof(type, member)

const char *kiln_scene_signature_text(scene_signature signature)
{
    static const char *const text[] = {"f(t)", "f(t, u)", "f(t, x)", "f(u)", "f(c)"};
    return text[signature];
}

static const char *integrator_name(int row)
{
    return row < KILN_INTEGRATOR_COUNT ? kiln_integrator_name((kiln_integrator)row) : NULL;
}

static const char *mass_name(int row)
{
    static const char *const names[] = {"lumped", "consistent", NULL};
    return names[row];
}

static const char *backend_name(int row)
{
    static const char *const names[] = {"auto", "cholmod", "mumps", "pcg-ic", "pcg-jacobi", NULL};
    return names[row];
}

static const char *model_name(int row)
{
    const kiln_material_model *model = kiln_material_model_at((size_t)row);
    return model ? model->name : NULL;
}

static void start_scene(void *target)
{
    kiln_scene_init(target, NULL);
}

static const scene_row scene_rows[] = {
    {"name", SCENE_NAME, IN(kiln_scene, name), .preset = "the file's name",
     .meaning = "what the run is called"},
    {"duration", SCENE_NUMBER, IN(kiln_scene, duration), SCENE_POSITIVE, "s",
     "must be given; static: 1", .meaning = "how long to simulate"},
    {"gravity", SCENE_FIELD, IN(kiln_scene, gravity), SCENE_ANY, "m/s^2", NULL,
     .meaning = "acceleration of everything", .signature = SCENE_OF_TIME},
    {"velocity_field", SCENE_FIELD, IN(kiln_scene, velocity_field), SCENE_ANY, "m/s", "none",
     .meaning = "moves every vertex by this, whatever the forces; excludes holds",
     .signature = SCENE_OF_TIME_AND_WORLD},
    {"velocity_until", SCENE_NUMBER, IN(kiln_scene, velocity_until), SCENE_POSITIVE, "s", "never",
     .meaning = "ends the velocity field at this time; from then on forces move the bodies"},
    {"step", SCENE_OTHER, .preset = "as below", .meaning = "how time goes on",
     .what = "table [step](#step)", .read = kiln_scene_read_step},
    {"output", SCENE_OTHER, .preset = "as below", .meaning = "what is written, and when",
     .what = "table [output](#output)", .read = kiln_scene_read_output},
    {"remesh", SCENE_OTHER, .preset = "none", .meaning = "how the mesh follows what it carries",
     .what = "table [remesh](#remesh), or only its `method`", .read = kiln_scene_read_remesh},
    {"contact", SCENE_OTHER, .preset = "none",
     .meaning = "bodies against each other and themselves", .what = "table [contact](#contact)",
     .read = kiln_scene_read_contact},
    {"bodies", SCENE_OTHER, .preset = "", .meaning = "what moves; at least one",
     .what = "list of [body](#body)", .read = kiln_scene_read_bodies},
    {"obstacles", SCENE_OTHER, .preset = "none", .meaning = "rigid things that bodies run into",
     .what = "list of [obstacle](#obstacle)", .read = kiln_scene_read_obstacles},
    {"holds", SCENE_OTHER, .preset = "none", .meaning = "vertices that are held or led",
     .what = "list of [hold](#hold)", .read = kiln_scene_read_holds},
    {"loads", SCENE_OTHER, .preset = "none", .meaning = "forces from outside",
     .what = "list of [load](#load)", .read = kiln_scene_read_loads},
};
const scene_object kiln_scene_object_scene = {"scene",
                                              "What a file returns: `return scene { ... }`.",
                                              ROWS(scene_rows), sizeof(kiln_scene), start_scene};

static const scene_row step_rows[] = {
    {"integrator", SCENE_CHOICE, IN(kiln_scene, solid.integrator), .choices = integrator_name,
     .meaning = "implicit-euler damps, newmark keeps energy, bdf2 is in between; static looks for "
                "rest at each time"},
    {"dt", SCENE_NUMBER, IN(kiln_scene, pace.dt), SCENE_POSITIVE, "s", NULL,
     .meaning = "length of a step; halved while steps fail, then doubled back"},
    {"dt_min", SCENE_NUMBER, IN(kiln_scene, pace.dt_min), SCENE_POSITIVE, "s", "dt / 1024",
     .meaning = "a step of this length that fails ends the run"},
    {"patience", SCENE_WHOLE, IN(kiln_scene, pace.patience), SCENE_WITHIN(1, 1000000), NULL, NULL,
     .meaning = "good steps before a halved dt is doubled"},
    {"linearised", SCENE_FLAG, IN(kiln_scene, solid.linearised),
     .meaning = "one linear solve a step, without looking for the minimum: fast, less exact"},
    {"mass", SCENE_CHOICE, IN(kiln_scene, solid.mass), .choices = mass_name,
     .meaning = "mass matrix"},
    {"max_stretch", SCENE_NUMBER, IN(kiln_scene, solid.max_stretch), SCENE_NOT_NEG, NULL, NULL,
     .meaning = "a step that changes a stretch of a tet by more than this part (0.2: a fifth) is "
                "taken back; 0: never"},
    {"max_acceleration", SCENE_NUMBER, IN(kiln_scene, solid.max_acceleration), SCENE_NOT_NEG,
     "m/s^2", NULL, .meaning = "a step that changes a velocity faster is taken back; 0: never"},
    {"friction_speed", SCENE_NUMBER, IN(kiln_scene, solid.friction_speed), SCENE_POSITIVE, "m/s",
     NULL, .meaning = "slower than this, friction sticks smoothly"},
    {"lags", SCENE_WHOLE, IN(kiln_scene, solid.max_lags), SCENE_WITHIN(0, 10000), NULL, NULL,
     .meaning = "renewals of friction and other lagged forces in a step; 0: 1, static 30"},
    {"lag_tolerance", SCENE_NUMBER, IN(kiln_scene, solid.lag_tolerance), SCENE_NOT_NEG, NULL, NULL,
     .meaning = "static: no more renewals when they change less than this, relatively"},
    {"load_steps", SCENE_WHOLE, IN(kiln_scene, load_steps), SCENE_WITHIN(1, 1000000), NULL, NULL,
     .meaning = "static: parts in which loads and holds are applied"},
    {"newton", SCENE_OTHER, .preset = "as below", .meaning = "the search for the minimum",
     .what = "table [step.newton](#stepnewton)", .read = kiln_scene_read_newton},
    {"solver", SCENE_OTHER, .preset = "as below", .meaning = "the linear systems in it",
     .what = "table [step.solver](#stepsolver)", .read = kiln_scene_read_solver},
};
const scene_object kiln_scene_object_step = {"step", "How time goes on.", ROWS(step_rows),
                                             sizeof(kiln_scene), start_scene};

static const scene_row newton_rows[] = {
    {"tolerance", SCENE_NUMBER, IN(kiln_scene, solid.newton.tolerance), SCENE_BETWEEN(0, 1), NULL,
     NULL, .meaning = "done when no coordinate moves by more than this part of the model's size"},
    {"iterations", SCENE_WHOLE, IN(kiln_scene, solid.newton.max_iterations),
     SCENE_WITHIN(1, 1000000), NULL, NULL, .meaning = "more than this many fail the step"},
    {"line_search", SCENE_FLAG, IN(kiln_scene, solid.newton.line_search),
     .meaning = "shorten steps until the energy falls"},
    {"length", SCENE_NUMBER, IN(kiln_scene, solid.newton.length), SCENE_NOT_NEG, "m", NULL,
     .meaning = "the model's size for the tolerance; 0: the diagonal of its bounding box"},
};
const scene_object kiln_scene_object_newton = {"step.newton",
                                               "The search for the minimum of a step's energy.",
                                               ROWS(newton_rows), sizeof(kiln_scene), start_scene};

static const scene_row solver_rows[] = {
    {"backend", SCENE_WORD, IN(kiln_scene, solid.solver.backend), .choices = backend_name,
     .meaning = "auto chooses by size and memory"},
    {"tolerance", SCENE_NUMBER, IN(kiln_scene, solid.solver.tolerance), SCENE_BETWEEN(0, 1), NULL,
     NULL, .meaning = "iterative back ends: residual relative to the right side"},
    {"iterations", SCENE_WHOLE, IN(kiln_scene, solid.solver.max_iterations),
     SCENE_WITHIN(1, 100000000), NULL, NULL,
     .meaning = "iterative back ends: give up after this many"},
    {"memory", SCENE_LONG, IN(kiln_scene, solid.solver.memory), SCENE_WITHIN(0, 1e15), "bytes",
     NULL, .meaning = "a factor that takes more makes auto iterate; 0: half of the machine's"},
    {"blas_threads", SCENE_WHOLE, IN(kiln_scene, solid.solver.blas_threads), SCENE_WITHIN(1, 1024),
     NULL, NULL, .meaning = "more than 1 gives up the same bits on any number of threads"},
};
const scene_object kiln_scene_object_solver = {"step.solver", "Linear systems.", ROWS(solver_rows),
                                               sizeof(kiln_scene), start_scene};

static const scene_row output_rows[] = {
    {"frame", SCENE_NUMBER, IN(kiln_scene, output.frame), SCENE_NOT_NEG, "s", NULL,
     .meaning = "time between frames, met exactly; 0: only the first and the last"},
    {"checkpoint", SCENE_NUMBER, IN(kiln_scene, output.checkpoint), SCENE_NOT_NEG, "s", NULL,
     .meaning = "simulated time between checkpoints; 0: one a minute by the clock on the wall"},
    {"fields", SCENE_OTHER, .preset = "{\"mises\", \"velocity\", \"material\"}",
     .meaning = "columns of the frames, see below", .what = "list of names",
     .read = kiln_scene_read_fields},
    {"obstacles", SCENE_FLAG, IN(kiln_scene, output.obstacles),
     .meaning = "obstacles as surfaces beside the frames"},
};
const scene_object kiln_scene_object_output = {"output", "What is written, and when.",
                                               ROWS(output_rows), sizeof(kiln_scene), start_scene};

static const struct {
    const char *name, *meaning;
} fields[] = {
    {"deformation", "deformation gradient F, 9 numbers, by tet"},
    {"stress", "Cauchy stress xx yy zz xy yz xz, Pa, by tet"},
    {"mises", "von Mises stress, Pa, by tet"},
    {"pressure", "minus the mean of the Cauchy stress, Pa, by tet"},
    {"energy", "elastic energy, J per rest volume, by tet"},
    {"velocity", "v, m/s, by vertex"},
    {"material", "material position u, m, by vertex"},
    {"reaction", "what holds the held vertices, N, by vertex"},
    {"contact", "what obstacles press with, N, by vertex"},
    {"plastic_strain", "equivalent plastic strain, by tet"},
    {"hardening", "what the hardening law has added up, Pa (work) or Pa s (stress), by tet"},
    {NULL, NULL},
};

const char *kiln_scene_output_field(int row)
{
    return fields[row].name;
}

const char *kiln_scene_output_meaning(int row)
{
    return fields[row].meaning;
}

void kiln_scene_output_ask(kiln_scene_output *output, int row)
{
    bool *flag[] = {&output->velocity, &output->material_position, &output->reaction,
                    &output->contact,  &output->plastic_strain,    &output->hardening};
    if (row < KILN_OUTPUT_COUNT)
        output->fields |= 1u << row;
    else
        *flag[row - KILN_OUTPUT_COUNT] = true;
}

static const char *nodal_pressure_name(int row)
{
    static const char *const names[] = {"auto", "on", "off"};
    return row < 3 ? names[row] : NULL;
}

static void start_material(void *target)
{
    scene_material_draft *draft = target;
    *draft = (scene_material_draft){.material = {.young = kiln_quantity_number(0.0),
                                                 .poisson = kiln_quantity_number(0.3),
                                                 .density = kiln_quantity_number(1000.0),
                                                 .viscosity = kiln_quantity_number(0.0)}};
    kiln_scene_object_plastic.start(&draft->plastic);
    for (int i = 0; model_name(i); i++)
        if (strcmp(model_name(i), "stable-neo-hookean") == 0)
            draft->model = i;
}

static const scene_row material_rows[] = {
    {"name", SCENE_NAME, IN(scene_material_draft, material.name), .preset = "the model's",
     .meaning = "for messages and lists"},
    {"model", SCENE_CHOICE, IN(scene_material_draft, model), .choices = model_name,
     .meaning = "the elastic energy"},
    {"young", SCENE_AMOUNT, IN(scene_material_draft, material.young), SCENE_POSITIVE, "Pa", "",
     .meaning = "Young's modulus", .signature = SCENE_OF_CIRCUMSTANCES},
    {"poisson", SCENE_AMOUNT, IN(scene_material_draft, material.poisson), SCENE_BETWEEN(-1, 0.5),
     NULL, NULL, .meaning = "Poisson's ratio; 0.5 would be incompressible",
     .signature = SCENE_OF_CIRCUMSTANCES},
    {"density", SCENE_AMOUNT, IN(scene_material_draft, material.density), SCENE_POSITIVE, "kg/m^3",
     NULL, .meaning = "mass per rest volume; a function is asked once, at the start",
     .signature = SCENE_OF_CIRCUMSTANCES},
    {"damping_mass", SCENE_NUMBER, IN(scene_material_draft, material.base.damping_mass),
     SCENE_NOT_NEG, "1/s", NULL, .meaning = "Rayleigh damping by mass: slows everything down"},
    {"damping_stiffness", SCENE_NUMBER, IN(scene_material_draft, material.base.damping_stiffness),
     SCENE_NOT_NEG, "s", NULL, .meaning = "Rayleigh damping by stiffness: takes out vibration"},
    {"viscosity", SCENE_AMOUNT, IN(scene_material_draft, material.viscosity), SCENE_NOT_NEG, "Pa s",
     NULL, .meaning = "shear viscosity", .signature = SCENE_OF_CIRCUMSTANCES},
    {"plastic", SCENE_OTHER, IN(scene_material_draft, plastic), .preset = "none: elastic",
     .meaning = "when it yields and how it flows then; with the linear model for small rotations "
                "only",
     .what = "table [plastic](#plastic)", .read = kiln_scene_read_plastic},
    {"nodal_pressure", SCENE_CHOICE, IN(scene_material_draft, nodal_pressure),
     .choices = nodal_pressure_name,
     .meaning =
         "average the pressure around vertices, against locking when poisson nears 0.5 or flow "
         "keeps volumes; auto: when it is above 0.45, or plastic in the norm mises"},
};
const scene_object kiln_scene_object_material = {
    "material", "What a body is made of. One material may be given to several bodies and regions.",
    ROWS(material_rows), sizeof(scene_material_draft), start_material};

static scene_place start_place(void)
{
    return (scene_place){.scale = {1, 1, 1}, .turn = {{0, 0, 1}, NAN, NAN}};
}

static void start_body(void *target)
{
    *(scene_body_draft *)target = (scene_body_draft){
        .body = {.position = {.constant = {NAN, NAN, NAN}}}, .place = start_place()};
}

static const scene_row body_rows[] = {
    {"name", SCENE_NAME, IN(scene_body_draft, body.name), .preset = "body1, body2, ...",
     .meaning = "other parts of the scene call it by this"},
    {"material", SCENE_OTHER, IN(scene_body_draft, body.material), .preset = "",
     .meaning = "of all that no region claims", .what = "[material](#material)",
     .read = kiln_scene_read_material},
    {"at", SCENE_VECTOR, IN(scene_body_draft, place.at), SCENE_ANY, "m", NULL,
     .meaning = "where the shape's origin goes"},
    {"turn", SCENE_OTHER, IN(scene_body_draft, place.turn), .preset = "none",
     .meaning = "about the shape's origin", .what = "table [turn](#turn)",
     .read = kiln_scene_read_turn},
    {"scale", SCENE_OTHER, IN(scene_body_draft, place.scale), .preset = "1",
     .meaning = "of the shape, before it is turned", .what = "number or {x, y, z}, positive",
     .read = kiln_scene_read_scale},
    {"velocity", SCENE_FIELD, IN(scene_body_draft, body.velocity), SCENE_ANY, "m/s", NULL,
     .meaning = "at the start", .signature = SCENE_OF_PLACE},
    {"spin", SCENE_VECTOR, IN(scene_body_draft, body.spin), SCENE_ANY, "rad/s", NULL,
     .meaning = "at the start, about the centre of mass, added to the velocity"},
    {"position", SCENE_FIELD, IN(scene_body_draft, body.position), SCENE_ANY, "m",
     "where it is made",
     .meaning = "where material point u is at the start: a body that starts bent or stretched",
     .signature = SCENE_OF_PLACE},
    {"tolerate_inverted", SCENE_FLAG, IN(scene_body_draft, body.tolerate_inverted),
     .meaning = "tets may be inverted, at the start and during the run, if the material can bear "
                "it; said of one body, no step is refused for those of the others either"},
    {"regions", SCENE_OTHER, IN(scene_body_draft, body.regions), .preset = "none",
     .meaning = "parts with materials of their own; later ones win",
     .what = "list of [region](#region)", .read = kiln_scene_read_regions},
    {"shape", SCENE_OTHER, IN(scene_body_draft, body.mesh), .preset = "", .meaning = "its tets",
     .what = "[shape](#shape)", .read = kiln_scene_read_shape},
    {"surface", SCENE_OTHER, IN(scene_body_draft, body.surface), .preset = "none",
     .meaning = "fine triangles that hang in the body and are written beside the frames: the "
                "surface of a shape, or a file's, placed as the body is",
     .what = "[shape](#shape)", .read = kiln_scene_read_surface},
};
const scene_object kiln_scene_object_body = {
    "body",
    "A deformable body. Its shape is scaled, then turned, then moved to `at`: these are its "
    "material coordinates, which selections look at.",
    ROWS(body_rows), sizeof(scene_body_draft), start_body};

static void start_region(void *target)
{
    *(kiln_scene_region *)target = (kiln_scene_region){.tag = -1};
}

static const scene_row region_rows[] = {
    {"tag", SCENE_WHOLE, IN(kiln_scene_region, tag), SCENE_WITHIN(0, 2147483647), NULL, "none",
     .meaning = "the tets that have this tag in the mesh file (this or `where`)"},
    {"where", SCENE_OTHER, IN(kiln_scene_region, where), .preset = "none",
     .meaning = "the tets that this chooses", .what = "[selection](#select)",
     .read = kiln_scene_read_picks},
    {"material", SCENE_OTHER, IN(kiln_scene_region, material), .preset = "",
     .meaning = "what it is made of", .what = "[material](#material)",
     .read = kiln_scene_read_material},
};
const scene_object kiln_scene_object_region = {
    "region", "A part of a body with a material of its own.", ROWS(region_rows),
    sizeof(kiln_scene_region), start_region};

static void start_turn(void *target)
{
    *(scene_turn *)target = start_place().turn;
}

static const scene_row turn_rows[] = {
    {"axis", SCENE_VECTOR, IN(scene_turn, axis), SCENE_ANY, NULL, NULL,
     .meaning = "direction to turn about; any length"},
    {"angle", SCENE_NUMBER, IN(scene_turn, angle), SCENE_ANY, "rad", "none",
     .meaning = "counter-clockwise, looking against the axis (this or `degrees`)"},
    {"degrees", SCENE_NUMBER, IN(scene_turn, degrees), SCENE_ANY, "degrees", "none",
     .meaning = "the same in degrees"},
};
const scene_object kiln_scene_object_turn = {"turn", "A rotation.", ROWS(turn_rows),
                                             sizeof(scene_turn), start_turn};

static void start_file(void *target)
{
    *(scene_file_draft *)target = (scene_file_draft){.fill = kiln_fill_default_options()};
}

static const scene_row file_rows[] = {
    {"path", SCENE_PATH, IN(scene_file_draft, path), .preset = "",
     .meaning = "the mesh file, from the scene's folder: Medit, Gmsh, TetGen, VTK, or a surface as "
                "STL, OBJ, PLY, OFF"},
    {"max_edge", SCENE_NUMBER, IN(scene_file_draft, fill.max_edge), SCENE_NOT_NEG, "m", NULL,
     .meaning = "surfaces: length of edges inside; 0: as the surface has it"},
    {"radius_edge", SCENE_NUMBER, IN(scene_file_draft, fill.radius_edge), SCENE_NOT_NEG, NULL, NULL,
     .meaning = "surfaces: TetGen's bound on circumradius by shortest edge; 0: none"},
    {"min_dihedral", SCENE_NUMBER, IN(scene_file_draft, fill.min_dihedral), SCENE_WITHIN(0, 60),
     "degrees", NULL, .meaning = "surfaces: smallest angle asked for; 0: none"},
    {"keep_surface", SCENE_FLAG, IN(scene_file_draft, fill.keep_surface),
     .meaning = "surfaces: no new points on it"},
    {"seconds", SCENE_NUMBER, IN(scene_file_draft, fill.seconds), SCENE_NOT_NEG, "s", NULL,
     .meaning = "surfaces: time limit of the filling; 0: none"},
};
const scene_object kiln_scene_object_file = {
    "shape.file", "A mesh from a file. A surface is filled with tets by TetGen.", ROWS(file_rows),
    sizeof(scene_file_draft), start_file};

const scene_object *kiln_scene_object_at(size_t row)
{
    static const scene_object *const first[] = {
        &kiln_scene_object_scene,   &kiln_scene_object_step,     &kiln_scene_object_newton,
        &kiln_scene_object_solver,  &kiln_scene_object_output,   &kiln_scene_object_remesh,
        &kiln_scene_object_contact, &kiln_scene_object_body,     &kiln_scene_object_turn,
        &kiln_scene_object_region,  &kiln_scene_object_material, &kiln_scene_object_plastic,
        &kiln_scene_object_file,    &kiln_scene_object_hold};
    const size_t single = sizeof first / sizeof first[0];
    if (row < single)
        return first[row];
    row -= single;
    if (row < 4)
        return &kiln_scene_objects_motion[row];
    if (row < 8)
        return &kiln_scene_objects_load[row - 4];
    if (row < 8 + KILN_OBSTACLE_COUNT)
        return &kiln_scene_objects_obstacle[row - 8];
    row -= 8 + KILN_OBSTACLE_COUNT;
    return row < KILN_SELECT_COUNT ? &kiln_scene_objects_select[row] : NULL;
}

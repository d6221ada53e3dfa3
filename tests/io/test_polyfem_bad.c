/* Scenes of PolyFEM that are wrong, or ask for what is not there: named, with their place. */
#include "polyfem_texts.h"

#define RHS(text)  WITH(", \"boundary_conditions\": {\"rhs\": [\"" text "\"]}")
#define BODY(more) "{\"geometry\": {\"mesh\": \"cube.mesh\"" more "}, " MATERIAL ", " TIME "}"

/* What is refused, and the words that say so. */
static const struct {
    const char *text, *words;
} refusals[] = {
    {"{\n\"geometry\": 1\n", "s.json:3: column 1: a comma or } must stand here"},
    {"{}", "s.json:1: column 1: materials must be given"},
    {"{" MATERIAL "}", "geometry must have a mesh that is no obstacle"},
    {WITH(",\n  \"contact\": {\"foo\": 1}"), "s.json:2: column 22: contact/foo: unknown key, not "
                                             "supported"},
    {WITH(", \"contact\": {\"dhut\": 1}"), "contact/dhut: unknown key, not supported; did you mean "
                                           "'dhat'?"},
    {WITH(", \"solver\": {\"contact\": {\"CCD\": {\"tolerence\": 1}}}"),
     "solver/contact/CCD/tolerence: unknown key, not supported; did you mean 'tolerance'?"},
    {WITH(", \"solver\": {\"contact\": {\"CCD\": {\"quick\": 1}}}"),
     "solver/contact/CCD/quick: unknown key, not supported"},
    {WITH(", \"solver\": {\"nonlinear\": {\"x_dleta\": 1}}"),
     "solver/nonlinear/x_dleta: unknown key, not supported; did you mean 'x_delta'?"},
    {WITH(", \"solver\": {\"augmented_lagrangian\": {\"intial_weight\": 1}}"),
     "solver/augmented_lagrangian/intial_weight: unknown key, not supported; did you mean "
     "'initial_weight'?"},
    {WITH(", \"conatct\": {}"), "conatct: unknown key, not supported; did you mean 'contact'?"},
    {WITH(", \"contact\": {\"periodic\": true}"), "contact/periodic: not supported"},
    {WITH(", \"contact\": {\"enabled\": true, \"collision_mesh\": {\"mesh\": \"a\"}}"),
     "contact/collision_mesh: not supported"},
    {WITH(", \"contact\": {\"adhesion\": {\"adhesion_enabled\": true}}"),
     "contact/adhesion/adhesion_enabled: not supported"},
    {WITH(", \"contact\": {\"enabled\": 1}"), "contact/enabled: must be true or false, got 1"},
    {WITH(", \"contact\": {\"dhat\": -1}"), "contact/dhat: must be positive, got -1"},
    {WITH(", \"contact\": []"), "contact: must be an object, got a list"},
    {WITH(", \"space\": {\"discr_order\": 2}"),
     "space/discr_order: not supported: only 1 is, got 2"},
    {WITH(", \"units\": {\"length\": \"mm\"}"),
     "units/length: not supported: only \"m\" is, got \"mm\""},
    {WITH(", \"preset_problem\": {\"type\": \"Walk\"}"), "preset_problem: not supported"},
    {WITH(", \"root_path\": \"/a\""), "root_path: not supported"},
    {WITH(", \"patch\": []"), "patch: patches what `common` has"},
    {WITH(", \"common\": \"none.json\""), "common: there is no file"},
    {WITH(", \"common\": 3"), "common: must be the name of a file"},
    {WITH(", \"solver\": {\"rayleigh_damping\": [{\"form\": \"elasticity\"}]}"),
     "solver/rayleigh_damping: not supported"},
    {WITH(", \"solver\": {\"contact\": {\"barrier_stiffness\": \"x\"}}, \"contact\": {\"enabled\": "
          "true}"),
     "solver/contact/barrier_stiffness: must be a number, got \"x\""},
    {WITH(", \"boundary_conditions\": {\"pressure_boundary\": [{\"id\": 1, \"value\": 2}]}"),
     "boundary_conditions/pressure_boundary: not supported"},
    {WITH(", \"boundary_conditions\": {\"dirichlet_boundary\": [\"bc.txt\"]}"),
     "boundary_conditions/dirichlet_boundary/0: must be an object with an id and a value"},
    {WITH(", \"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 1}]}"),
     "boundary_conditions/dirichlet_boundary/0: must have a value"},
    {WITH(", \"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 1, \"value\": [0], "
          "\"time_reference\": [1]}]}"),
     "dirichlet_boundary/0/time_reference: not supported"},
    {WITH(", \"boundary_conditions\": {\"rhs\": [\"x\"]}"),
     "boundary_conditions/rhs: may depend on t only"},
    {WITH(", \"initial_conditions\": {\"acceleration\": [{\"id\": 1, \"value\": [1]}]}"),
     "initial_conditions/acceleration: not supported"},
    {"{\"geometry\": {\"mesh\": \"cube.mesh\"}, " MATERIAL ", " TIME
     ", \"initial_conditions\": {\"velocity\": [{\"id\": 2, \"value\": [1]}]}}",
     "initial_conditions/velocity/0: not supported for a part of a mesh only"},
    {RHS("2 +"), "rhs/0: a number, a name or a parenthesis must stand at character 4 of \"2 +\""},
    {RHS("foo(t)"), "rhs/0: unknown name 'foo'"},
    {RHS("sqr(t)"), "did you mean 'sqrt'?"},
    {RHS("min(t)"), "there must be a comma and another argument"},
    {RHS("(t"), "there must be a closing parenthesis"},
    {RHS("t t"), "an operator must stand at character 3"},
    {RHS("1, 2"), "an operator must stand at character 2"},
    {RHS("1/0"), "is no finite number"},
    {RHS("os.exit()"), "unknown name 'os'"},
    {RHS("((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))"),
     "too deep"},
    {BODY(", \"n_refs\": -1"), "geometry/0/n_refs: must be from 0 to 10"},
    {BODY(", \"extract\": \"edges\""), "extract \"edges\" is not supported"},
    {BODY(", \"type\": \"mesh_sequence\""), "type \"mesh_sequence\" is not supported"},
    {BODY(", \"point_selection\": 1"), "geometry/0/point_selection: not supported"},
    {BODY(", \"transformation\": {\"scale\": -1}"), "transformation/scale: must make all three "
                                                    "sides positive, got a factor of -1"},
    {BODY(", \"transformation\": {\"dimensions\": [1, 1]}"), "dimensions: must make all three"},
    {BODY(", \"transformation\": {\"rotation\": [1, 2], \"rotation_mode\": \"abc\"}"),
     "geometry/0/transformation/rotation: the mode must be"},
    {BODY(", \"surface_selection\": \"ids.txt\""),
     "surface_selection/0: must be an id or an object "
     "with one; ids in files are not supported"},
    {BODY(", \"surface_selection\": {\"id\": 1, \"box\": [[0, 0], [1, 1]]}"),
     "must be two corners of three numbers"},
    {BODY(", \"surface_selection\": {\"id\": 1, \"axis\": \"w\", \"position\": 0}"),
     "axis: must be x, y or z"},
    {BODY(", \"volume_selection\": {\"box\": [[0, 0, 0], [1, 1, 1]]}"), "must have an id"},
    {"{\"geometry\": {\"mesh\": \"no.msh\"}, " MATERIAL ", " TIME "}",
     "geometry/0/mesh: there is no file no.msh"},
    {"{\"geometry\": {\"mesh\": \"s.txt\"}, " MATERIAL ", " TIME "}", "geometry/0/mesh: "},
    {"{\"geometry\": ["
     "{\"mesh\": \"square.obj\"}, {\"mesh\": \"cube.mesh\"}], " MATERIAL ", " TIME "}",
     "geometry/1/mesh: must be triangles in a plane, as the first mesh is"},
    {"{" GEOMETRY ", " TIME ", \"materials\": [{\"id\": 9, \"type\": \"NeoHookean\", \"E\": 1, "
     "\"nu\": 0.3}]}",
     "geometry/0: no material has the id 1 of its volume"},
    {"{" GEOMETRY ", " TIME ", \"materials\": {\"type\": \"MooneyRivlin\", \"c1\": 1}}",
     "materials/0/c1: unknown key"},
    {"{" GEOMETRY ", " TIME ", \"materials\": {\"type\": \"MooneyRivlin\"}}",
     "materials/0: type \"MooneyRivlin\" is not supported"},
    {"{" GEOMETRY ", " TIME ", \"materials\": {\"type\": \"NeoHookean\", \"E\": -1, \"nu\": 0.3}}",
     "materials/0/E: E must be positive, got -1"},
    {"{" GEOMETRY ", " TIME ", \"materials\": {\"type\": \"NeoHookean\", \"E\": 1, \"nu\": 0.5}}",
     "materials/0/nu: nu must be"},
    {"{" GEOMETRY ", " TIME ", \"materials\": {\"type\": \"NeoHookean\", \"E\": 1, \"nu\": 0.3, "
     "\"phi\": 1}}",
     "materials/0/phi: not supported"},
    {"{" GEOMETRY ", " MATERIAL ", \"time\": {\"tend\": 1}}",
     "time: must have two of tend, dt and time_steps"},
    {"{" GEOMETRY ", " MATERIAL ", \"time\": {\"tend\": 1, \"dt\": 0.1, \"integrator\": \"BDF3\"}}",
     "time/integrator: BDF3 is not supported"},
    {"{" GEOMETRY ", " MATERIAL
     ", \"time\": {\"tend\": 1, \"dt\": 0.1, \"integrator\": {\"type\": \"ImplicitNewmark\", "
     "\"beta\": 0.3}}}",
     "time/integrator/beta: not supported: only 0.25 is, got 0.3"},
    {"{\"geometry\": [{\"mesh\": \"cube.mesh\"}, {\"mesh\": \"cube.mesh\", \"is_obstacle\": true, "
     "\"surface_selection\": 1}], " MATERIAL ", " TIME ", \"contact\": {\"enabled\": true}, "
     "\"boundary_conditions\": {\"obstacle_displacements\": {\"id\": 1, \"value\": [\"x\"]}}}",
     "obstacle_displacements/0/value: of an obstacle may depend on t only"},
};

START_TEST(what_is_not_supported_is_named)
{
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    char said[900];
    put_file("s.txt", "no mesh");
    kiln_status status = load_text(refusals[_i].text, &file, &error);
    ck_assert_msg(status == KILN_ERR_INPUT, "%s", refusals[_i].text);
    kiln_error_format(&error, said, sizeof said);
    ck_assert_msg(strstr(said, refusals[_i].words), "%s:\n'%s' lacks\n'%s'", refusals[_i].text,
                  said, refusals[_i].words);
    ck_assert_ptr_nonnull(strstr(error.place, "s.json"));
}
END_TEST

/* What Lua finds wrong has the line of the JSON: in the scene, and while it runs. */
START_TEST(later_errors_have_lines_too)
{
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    ck_assert_int_eq(load_text("{\"geometry\":\n[\n{\"mesh\": \"cube.mesh\"}],\n" MATERIAL ",\n"
                               "\"contact\": {\"enabled\": true, \"dhat\": 100},\n" TIME "}",
                               &file, &error),
                     KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, 5);
    ck_assert_ptr_nonnull(strstr(error.message, "contact.thickness"));
    file = load(WITH(",\n\n \"boundary_conditions\": {\n  \"rhs\": [\"1/(t - 1)\"]}"));
    ck_assert_int_eq(kiln_scene_try(kiln_scene_file_scene(file), &error), KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, 4);
    ck_assert_ptr_nonnull(strstr(error.message, "gravity"));
    kiln_scene_file_destroy(file);
}
END_TEST

static const char rich[] = WITH(
    ", \"contact\": {\"enabled\": true, \"friction_coefficient\": 0.5}, \"boundary_conditions\": "
    "{\"rhs\": [0, \"9.81*min(t, 1)\", 0], \"dirichlet_boundary\": [{\"id\": 2, \"value\": "
    "[\"x*cos(t) - x\", 0, 0], \"interpolation\": {\"type\": \"linear\"}}]}, \"solver\": "
    "{\"nonlinear\": {\"x_delta\": 1e-3}}, \"initial_conditions\": {\"velocity\": [{\"id\": "
    "\"all\", \"value\": [1, 2, 3]}]}");

/* Bytes changed at random: a scene or an error with a message, and nothing left behind. */
START_TEST(any_text_is_a_scene_or_an_error)
{
    static const char letters[] = "{}[]\",:0123456789.eE-+*/^()xyzt\\ ";
    kiln_random random = kiln_random_start(11, 3);
    uint64_t rounds = kiln_test_rounds(600, 100000);
    for (uint64_t i = 0; i < rounds; i++) {
        char text[sizeof rich];
        kiln_scene_file *file = NULL;
        kiln_error error = {0};
        memcpy(text, rich, sizeof rich);
        for (uint64_t k = kiln_random_u64(&random) % 3; k < 3; k++)
            text[kiln_random_u64(&random) % (sizeof rich - 1)] =
                letters[kiln_random_u64(&random) % (sizeof letters - 1)];
        logged[0] = 0;
        if (load_text(text, &file, &error) == KILN_OK)
            kiln_scene_try(kiln_scene_file_scene(file), &error);
        else
            ck_assert_msg(error.message[0] && error.place[0], "%s", text);
        kiln_scene_file_destroy(file);
    }
}
END_TEST

/* The k-th allocation fails: an error, and nothing left behind. */
START_TEST(memory_may_run_out_anywhere)
{
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t fail_at = 1; status == KILN_ERR_MEMORY; fail_at += 1 + fail_at / 20) {
        kiln_test_heap heap = {.fail_at = 0};
        kiln_context *poor = kiln_test_context_on(&heap, 1), *rich_one = context;
        kiln_scene_file *file = NULL;
        kiln_error error = {0};
        heap.calls = 0;
        heap.fail_at = fail_at;
        context = poor;
        status = load_text(rich, &file, &error);
        kiln_scene_file_destroy(file);
        context = rich_one;
        kiln_context_destroy(poor);
        ck_assert_int_eq(heap.live_bytes, 0);
    }
    ck_assert_int_eq(status, KILN_OK);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("bad polyfem");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(all, open_folder, leave_folder);
    tcase_add_loop_test(all, what_is_not_supported_is_named, 0,
                        (int)(sizeof refusals / sizeof refusals[0]));
    tcase_add_test(all, later_errors_have_lines_too);
    tcase_add_test(all, any_text_is_a_scene_or_an_error);
    tcase_add_test(all, memory_may_run_out_anywhere);
    return suite;
}

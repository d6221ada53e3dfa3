/* Scenes of PolyFEM: what each key becomes, what is refused by name and place, and formulas. */
#include "io/polyfem.h"
#include "io/polyfem_keys.h"
#include "io/scene.h"
#include "sim/world.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static kiln_context *context;
static char folder[64], logged[8192];

static void note(void *user, kiln_log_level level, const char *message)
{
    (void)user;
    size_t used = strlen(logged);
    snprintf(logged + used, sizeof logged - used, "%d %s\n", (int)level, message);
}

static void put_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* The cube from 0 to 1 of six tets, with tags 1 and 2, and one that hangs at another by a vertex.
 */
static const char cube[] =
    "MeshVersionFormatted 2\nDimension 3\nVertices 8\n"
    "0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 0\n0 0 1 0\n1 0 1 0\n0 1 1 0\n1 1 1 0\n"
    "Tetrahedra 6\n1 2 4 8 1\n1 4 3 8 1\n1 3 7 8 1\n1 7 5 8 2\n1 5 6 8 2\n"
    "1 6 2 8 2\nEnd\n";
static const char hanging[] = "MeshVersionFormatted 2\nDimension 3\nVertices 7\n"
                              "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n-1 0 0 0\n0 -1 0 0\n0 0 -1 0\n"
                              "Tetrahedra 2\n1 2 3 4 0\n1 5 7 6 0\nEnd\n";
static const char square[] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";
static const char sheet[] = "v -5 7 5\nv 5 7 5\nv -5 7 -5\nv 5 7 -5\nf 2 3 1\nf 2 4 3\n";

static void open_folder(void)
{
    context = kiln_test_context(1);
    context->log = note;
    logged[0] = 0;
    snprintf(folder, sizeof folder, "/tmp/kiln-polyfem-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    put_file("cube.mesh", cube);
    put_file("hanging.mesh", hanging);
    put_file("square.obj", square);
    put_file("sheet.obj", sheet);
}

static void leave_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    kiln_context_destroy(context);
}

static kiln_status load_text(const char *text, kiln_scene_file **file, kiln_error *error)
{
    char path[100];
    kiln_scene_options options = {.text = text, .text_size = strlen(text)};
    snprintf(path, sizeof path, "%s/s.json", folder);
    return kiln_scene_file_load(context, path, &options, file, error);
}

static kiln_scene_file *load(const char *text)
{
    kiln_scene_file *file = NULL;
    kiln_error error = {0};
    char said[900];
    kiln_status status = load_text(text, &file, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, said, sizeof said));
    return file;
}

#define MATERIAL   "\"materials\": {\"type\": \"NeoHookean\", \"E\": 1e5, \"nu\": 0.3, \"rho\": 900}"
#define GEOMETRY   "\"geometry\": [{\"mesh\": \"cube.mesh\"}]"
#define TIME       "\"time\": {\"tend\": 2, \"dt\": 0.1}"
#define WITH(more) "{" GEOMETRY ", " MATERIAL ", " TIME more "}"

static void assert_vector(kiln_vec3 v, double x, double y, double z)
{
    ck_assert_msg(fabs(v.x - x) < 1e-12 && fabs(v.y - y) < 1e-12 && fabs(v.z - z) < 1e-12,
                  "(%g, %g, %g) is not (%g, %g, %g)", v.x, v.y, v.z, x, y, z);
}

static kiln_box box_of(const kiln_soup *soup)
{
    kiln_box box = kiln_box_empty();
    for (size_t i = 0; i < soup->points.count; i++)
        box = kiln_box_grow(box, soup->points.data[i]);
    return box;
}

START_TEST(settings_are_translated)
{
    kiln_scene_file *file =
        load(WITH(", \"contact\": {\"enabled\": true, \"dhat\": 2e-3, \"epsv\": 5e-3, "
                  "\"friction_coefficient\": 0.25, \"use_convergent_formulation\": true},"
                  "\"solver\": {\"contact\": {\"barrier_stiffness\": 1e4}, \"nonlinear\": "
                  "{\"x_delta\": 1e-3, "
                  "\"max_iterations\": 77}, \"advanced\": {\"lump_mass_matrix\": true}},"
                  "\"boundary_conditions\": {\"rhs\": [0, 9.81, 1]},"
                  "\"output\": {\"paraview\": {\"skip_frame\": 2, \"volume\": true}}"));
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_double_eq(s->duration, 2.0);
    ck_assert_double_eq(s->pace.dt, 0.1);
    ck_assert_double_eq(s->output.frame, 0.2);
    ck_assert_int_eq(s->solid.integrator, KILN_IMPLICIT_EULER);
    ck_assert_int_eq(kiln_scene_mass(s), KILN_MASS_LUMPED);
    ck_assert_double_eq_tol(s->solid.newton.tolerance, 1e-4, 1e-18);
    ck_assert_double_eq(s->solid.newton.length, 1.0);
    ck_assert_int_eq(s->solid.newton.max_iterations, 77);
    ck_assert_double_eq(s->contact.thickness, 2e-3);
    ck_assert_double_eq(s->contact.friction, 0.25);
    ck_assert_double_eq_tol(s->contact.stiffness, 8.0 * 1e4 / 1e5, 1e-15);
    ck_assert_double_eq(s->solid.friction_speed, 5e-3);
    ck_assert_double_eq(s->gravity.constant[1], -9.81);
    ck_assert_double_eq(s->gravity.constant[2], -1.0);
    const kiln_scene_material *m = &s->materials.data[0];
    ck_assert_str_eq(m->base.model->name, "neo-hookean");
    ck_assert_double_eq(m->young.constant[0], 1e5);
    ck_assert_double_eq(m->poisson.constant[0], 0.3);
    ck_assert_double_eq(m->density.constant[0], 900.0);
    ck_assert_ptr_nonnull(strstr(logged, "output/paraview/volume"));
    kiln_scene_file_destroy(file);
}
END_TEST

static const struct {
    const char *time;
    kiln_integrator integrator;
    double duration, dt;
} times[] = {
    {"{\"tend\": 1, \"dt\": 0.1, \"integrator\": \"ImplicitNewmark\"}", KILN_NEWMARK, 1, 0.1},
    {"{\"tend\": 1, \"time_steps\": 4, \"integrator\": \"BDF2\"}", KILN_BDF2, 1, 0.25},
    {"{\"dt\": 0.5, \"time_steps\": 4, \"integrator\": {\"type\": \"BDF\", \"steps\": 2}}",
     KILN_BDF2, 2, 0.5},
    {"{\"tend\": 1, \"dt\": 0.1, \"integrator\": {\"type\": \"BDF\"}}", KILN_IMPLICIT_EULER, 1,
     0.1},
    {"{\"t0\": 1, \"tend\": 3, \"dt\": 0.1}", KILN_IMPLICIT_EULER, 2, 0.1},
    {"{\"tend\": 1, \"dt\": 0.1, \"quasistatic\": true}", KILN_STATIC, 1, 0.1},
    {"null", KILN_STATIC, 1, 1},
};

START_TEST(times_are_translated)
{
    char text[400];
    snprintf(text, sizeof text, "{" GEOMETRY ", " MATERIAL ", \"time\": %s}", times[_i].time);
    kiln_scene_file *file = load(text);
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_int_eq(s->solid.integrator, times[_i].integrator);
    ck_assert_double_eq_tol(s->duration, times[_i].duration, 1e-14);
    ck_assert_double_eq_tol(s->pace.dt, times[_i].dt, 1e-14);
    kiln_scene_file_destroy(file);
}
END_TEST

/* Where the cube's box is afterwards. */
static const struct {
    const char *how;
    double low[3], high[3];
} places[] = {
    {"{}", {0, 0, 0}, {1, 1, 1}},
    {"{\"scale\": 2, \"translation\": [1, 2, 3]}", {1, 2, 3}, {3, 4, 5}},
    {"{\"scale\": [1, 2, 3]}", {0, 0, 0}, {1, 2, 3}},
    {"{\"dimensions\": [4, 5, 6], \"translation\": [1]}", {1, 0, 0}, {5, 5, 6}},
    {"{\"scale\": [1, 2, 3], \"rotation\": [0, 0, 90]}", {-2, 0, 0}, {0, 1, 3}},
    {"{\"scale\": [1, 2, 3], \"rotation\": [90, 90, 0]}", {0, -3, -1}, {2, 0, 0}},
    {"{\"scale\": [1, 2, 3], \"rotation\": [90, 90, 0], \"rotation_mode\": \"yx\"}",
     {0, 0, 0},
     {3, 1, 2}},
    {"{\"scale\": [1, 2, 3], \"rotation\": [90, 0, 0, 5], \"rotation_mode\": \"axis_angle\"}",
     {-2, 0, 0},
     {0, 1, 3}},
    {"{\"scale\": [1, 2, 3], \"rotation\": [0, 0, 1, 1], \"rotation_mode\": \"quaternion\"}",
     {-2, 0, 0},
     {0, 1, 3}},
    {"{\"scale\": [1, 2, 3], \"rotation\": [0, 0, 90], \"rotation_mode\": \"rotation_vector\"}",
     {-2, 0, 0},
     {0, 1, 3}},
    {"{\"scale\": [1, 2, 3], \"rotation\": 90, \"rotation_mode\": \"z\"}", {-2, 0, 0}, {0, 1, 3}},
};

START_TEST(meshes_are_placed)
{
    char text[600];
    snprintf(text, sizeof text,
             "{\"geometry\": {\"mesh\": \"cube.mesh\", \"transformation\": %s}, " MATERIAL ", " TIME
             "}",
             places[_i].how);
    kiln_scene_file *file = load(text);
    kiln_box box = box_of(&kiln_scene_file_scene(file)->bodies.data[0].mesh);
    const double *l = places[_i].low, *h = places[_i].high;
    assert_vector(box.low, l[0], l[1], l[2]);
    assert_vector(box.high, h[0], h[1], h[2]);
    kiln_scene_file_destroy(file);
}
END_TEST

START_TEST(meshes_are_normalised_and_copied)
{
    kiln_scene_file *file =
        load("{\"geometry\": {\"type\": \"mesh_array\", \"mesh\": \"cube.mesh\", \"advanced\": "
             "{\"normalize_mesh\": true}, \"transformation\": {\"dimensions\": [2, 1, 0.5], "
             "\"translation\": [0, 0, 7]}, \"array\": {\"offset\": 1.5, \"size\": [2, 1, 3], "
             "\"relative\": true}}, " MATERIAL ", " TIME "}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_uint_eq(s->bodies.count, 6);
    kiln_box last = box_of(&s->bodies.data[5].mesh);
    assert_vector(last.low, 3, 0, 8.5);
    assert_vector(last.high, 5, 1, 9);
    kiln_scene_file_destroy(file);
}
END_TEST

static size_t held(const kiln_world *world, size_t hold)
{
    return kiln_world_hold_size(world, hold);
}

/* Sides of the box by their numbers: four corners each, and where none is there is no hold. */
START_TEST(surfaces_are_held_by_their_ids)
{
    kiln_world *world;
    kiln_error error = {0};
    kiln_scene_file *file = load(
        "{\"geometry\": {\"mesh\": \"cube.mesh\", \"surface_selection\": {\"threshold\": 0.01, "
        "\"id_offset\": 10}, \"transformation\": {\"scale\": [3, 2, 1]}}, " MATERIAL ", " TIME ","
        "\"boundary_conditions\": {\"dirichlet_boundary\": ["
        "{\"id\": 11, \"value\": [0, 0, 0]},"
        "{\"id\": 13, \"value\": [\"t\", 0, 0], \"dimension\": [true, false, true]},"
        "{\"id\": 40, \"value\": [0, 0, 0]}],"
        "\"neumann_boundary\": [{\"id\": [14, 16], \"value\": [0, \"2*x*t\", 0]}]}}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_int_eq(kiln_world_create(s, &world, &error), KILN_OK);
    ck_assert_uint_eq(s->holds.count, 2);
    ck_assert_uint_eq(held(world, 0), 4);
    ck_assert_int_eq(s->holds.data[0].motion.kind, KILN_MOTION_STILL);
    ck_assert_uint_eq(held(world, 1), 4);
    ck_assert_int_eq(s->holds.data[1].motion.kind, KILN_MOTION_TRANSLATE);
    ck_assert_int_eq(s->holds.data[1].components, 5);
    ck_assert_int_eq(s->loads.data[0].kind, KILN_LOAD_TRACTION);
    ck_assert_uint_eq(kiln_world_load_size(world, 0), 4);
    kiln_circumstances at = {.time = 3.0, .material = {2, 0, 0}};
    double out[3];
    ck_assert_int_eq(kiln_quantity_get(&s->loads.data[0].amount, &at, out, 3, &error), KILN_OK);
    ck_assert_double_eq(out[1], 12.0);
    ck_assert_ptr_nonnull(strstr(logged, "dirichlet_boundary/2: no face"));
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
}
END_TEST

/* The first selection that has a place gives the id; material by id; file tags where none has. */
START_TEST(volumes_have_materials_by_their_ids)
{
    kiln_world *world;
    kiln_error error = {0};
    kiln_scene_file *file =
        load("{\"geometry\": [{\"mesh\": \"cube.mesh\", \"volume_selection\": ["
             "{\"id\": 7, \"box\": [[0, 0, 0], [1, 1, 0.3]], \"relative\": true}]}],"
             "\"materials\": [{\"id\": 2, \"type\": \"SaintVenant\", \"E\": 2, \"nu\": 0.1},"
             "{\"id\": [1, 5], \"type\": \"LinearElasticity\", \"lambda\": 2, \"mu\": 1},"
             "{\"id\": 7, \"type\": \"FixedCorotational\", \"E\": \"1+x\", \"nu\": 0.2, \"rho\": "
             "3}]," TIME "}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_int_eq(kiln_world_create(s, &world, &error), KILN_OK);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const kiln_field *material = kiln_mesh_field(mesh, KILN_ON_TET, "material");
    size_t count[3] = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        count[(int)kiln_field_value(material, t, 0)]++;
    ck_assert_uint_eq(s->materials.count, 3);
    for (size_t i = 0; i < 3; i++) { /* three tets with tag 2, of those with 1 two are low */
        const kiln_scene_material *m = &s->materials.data[i];
        const char *model = m->base.model->name;
        bool linear = strcmp(model, "linear") == 0;
        ck_assert_uint_eq(count[i], linear ? 1 : strcmp(model, "stvk") == 0 ? 3 : 2);
        if (linear)
            ck_assert_double_eq_tol(m->young.constant[0], 1.0 * (3 * 2 + 2 * 1) / 3.0, 1e-14);
    }
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
}
END_TEST

START_TEST(starts_and_motions_depend_on_place)
{
    kiln_error error = {0};
    double out[3];
    kiln_scene_file *file = load(
        "{\"geometry\": {\"mesh\": \"cube.mesh\", \"volume_selection\": 1, \"surface_selection\": "
        "4}," MATERIAL ", \"time\": {\"t0\": 2, \"tend\": 4, \"dt\": 0.1},"
        "\"initial_conditions\": {\"velocity\": [{\"id\": 1, \"value\": [67, 0]}], \"solution\": "
        "[{\"id\": 1, \"value\": [\"0.1*y\", 0, \"t\"]}]},"
        "\"boundary_conditions\": {\"dirichlet_boundary\": {\"id\": 4, \"value\": [\"x*t\", 1, 0], "
        "\"interpolation\": {\"type\": \"piecewise_linear\", \"points\": [2, 3, 5], \"values\": "
        "[0, 1, 5], \"extend\": \"repeat\"}}}}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    const kiln_scene_body *body = &s->bodies.data[0];
    kiln_circumstances at = {.material = {2, 3, 4}};
    ck_assert_double_eq(body->velocity.constant[0], 67.0);
    ck_assert_double_eq(body->velocity.constant[2], 0.0);
    ck_assert_int_eq(kiln_quantity_get(&body->position, &at, out, 3, &error), KILN_OK);
    assert_vector(kiln_v3(out[0], out[1], out[2]), 2.3, 3, 6);
    at.time = 2.0; /* PolyFEM's 4: half way from 1 to 5 */
    ck_assert_int_eq(s->holds.data[0].motion.kind, KILN_MOTION_FOLLOW);
    ck_assert_int_eq(kiln_quantity_get(&s->holds.data[0].motion.place, &at, out, 3, &error),
                     KILN_OK);
    assert_vector(kiln_v3(out[0], out[1], out[2]), 2 + 2 * 4 * 3, 3 + 3, 4);
    at.time = 3.5; /* 5.5: 2.5 again */
    ck_assert_int_eq(kiln_quantity_get(&s->holds.data[0].motion.place, &at, out, 3, &error),
                     KILN_OK);
    assert_vector(kiln_v3(out[0], out[1], out[2]), 2 + 2 * 5.5 * 0.5, 3.5, 4);
    kiln_scene_file_destroy(file);
}
END_TEST

START_TEST(obstacles_are_translated)
{
    kiln_error error = {0};
    double out[3];
    kiln_scene_file *file =
        load("{\"geometry\": [{\"mesh\": \"cube.mesh\"},"
             "{\"mesh\": \"cube.mesh\", \"is_obstacle\": true, \"surface_selection\": 3, "
             "\"transformation\": {\"translation\": [0, -2, 0]}},"
             "{\"type\": \"ground\", \"height\": -3, \"is_obstacle\": true},"
             "{\"type\": \"plane\", \"point\": [5, 0, 0], \"normal\": [-1, 0, 0], \"is_obstacle\": "
             "true},"
             "{\"mesh\": \"sheet.obj\", \"is_obstacle\": true, \"transformation\": "
             "{\"dimensions\": [4, 0,"
             " 4], \"rotation\": [0, 0, 90], \"translation\": [-0.5, 0, 0]}},"
             "{\"mesh\": \"none.obj\", \"is_obstacle\": true, \"enabled\": false}]," MATERIAL
             ", " TIME ", \"contact\": {\"enabled\": true, \"friction_coefficient\": 0.5},"
             "\"boundary_conditions\": {\"obstacle_displacements\": [{\"id\": 3, \"value\": [0, "
             "\"smooth_abs(t - 1, 5)\", 0]}]}}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_uint_eq(s->obstacles.count, 4);
    const kiln_scene_obstacle *o = s->obstacles.data;
    ck_assert_int_eq(o[0].shape.kind, KILN_OBSTACLE_MESH);
    ck_assert_double_eq(o[0].friction, 0.5);
    kiln_circumstances at = {.time = 1.75};
    ck_assert_int_eq(kiln_quantity_get(&o[0].motion.shift, &at, out, 3, &error), KILN_OK);
    ck_assert_double_eq_tol(out[1], tanh(5 * 0.75) * 0.75, 1e-15);
    ck_assert_int_eq(o[1].shape.kind, KILN_OBSTACLE_PLANE);
    assert_vector(o[1].shape.point, 0, -3, 0);
    assert_vector(o[1].shape.normal, 0, 1, 0);
    assert_vector(o[2].shape.normal, -1, 0, 0);
    /* flat at y = 7 in the file, flattened to y = 0, turned to x = 0 and moved */
    assert_vector(o[3].shape.normal, 1, 0, 0);
    ck_assert_double_eq_tol(o[3].shape.point.x, -0.5, 1e-12);
    ck_assert_ptr_nonnull(strstr(logged, "plane without an edge"));
    kiln_scene_file_destroy(file);
}
END_TEST

/* Without contact there are none, and no friction. */
START_TEST(without_contact_there_are_no_obstacles)
{
    kiln_scene_file *file =
        load("{\"geometry\": [{\"mesh\": \"cube.mesh\"}, {\"type\": \"ground\", \"height\": -3, "
             "\"is_obstacle\": true}]," MATERIAL ", " TIME
             ", \"contact\": {\"friction_coefficient\": 0.5}}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_uint_eq(s->obstacles.count, 0);
    ck_assert(!s->contact.bodies && !s->contact.self);
    ck_assert_ptr_nonnull(strstr(logged, "left out: contact is not enabled"));
    kiln_scene_file_destroy(file);
}
END_TEST

/* Plane strain with PolyFEM's lambda; every vertex keeps its z; above and below has no id. */
START_TEST(plane_problems_are_slabs)
{
    kiln_world *world;
    kiln_error error = {0};
    kiln_scene_file *file = load(
        "{\"geometry\": {\"mesh\": \"square.obj\", \"n_refs\": 1, \"surface_selection\": "
        "{\"threshold\": 1e-3}, \"transformation\": {\"dimensions\": [4, 4], \"rotation\": 90}},"
        "\"materials\": {\"type\": \"NeoHookean\", \"E\": 100, \"nu\": 0.4}, " TIME ","
        "\"boundary_conditions\": {\"rhs\": [0, 9.81], \"dirichlet_boundary\": [{\"id\": 1, "
        "\"value\": [0, 0]}, {\"id\": 7, \"value\": [0, 0]}]}}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    const kiln_soup *mesh = &s->bodies.data[0].mesh;
    ck_assert_uint_eq(mesh->tets.count, 3 * 4 * 2);
    kiln_box box = box_of(mesh);
    ck_assert_double_eq_tol(box.low.x, -4.0, 1e-12);
    ck_assert_double_eq_tol(box.high.y, 4.0, 1e-12);
    double E = s->materials.data[0].young.constant[0],
           nu = s->materials.data[0].poisson.constant[0];
    ck_assert_double_eq_tol(E * nu / ((1 + nu) * (1 - 2 * nu)), 0.4 * 100 / (1 - 0.16), 1e-12);
    ck_assert_double_eq_tol(E / (2 * (1 + nu)), 100 / 2.8, 1e-12);
    ck_assert_msg(kiln_world_create(s, &world, &error) == KILN_OK, "%s", error.message);
    ck_assert_uint_eq(s->holds.count, 2); /* no face has the rest's id */
    ck_assert_uint_eq(held(world, 0), 6);
    ck_assert_int_eq(s->holds.data[1].components, 4);
    ck_assert_uint_eq(held(world, 1), 18);
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
}
END_TEST

START_TEST(meshes_that_hang_by_a_vertex_are_mended)
{
    kiln_world *world;
    kiln_error error = {0};
    kiln_scene_file *file = load("{\"geometry\": {\"mesh\": \"hanging.mesh\"}, " MATERIAL ", " TIME
                                 ", \"contact\": {\"enabled\": true}}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_uint_eq(s->bodies.data[0].mesh.points.count, 8);
    ck_assert_int_eq(kiln_world_create(s, &world, &error), KILN_OK);
    ck_assert_ptr_nonnull(strstr(logged, "to be mended"));
    kiln_world_destroy(world);
    kiln_scene_file_destroy(file);
}
END_TEST

/* Formulas as tinyexpr reads them, at t = 2. */
static const struct {
    const char *text;
    double value;
} formulas[] = {
    {"1", 1},
    {"-2^2", 4},
    {"2^3^2", 64},
    {"2^-1", 0.5},
    {"1 - - 1", 2},
    {"-t^2", 4},
    {"0-t^2", -4},
    {"8/4/2", 1},
    {"7 - 2 - 1", 4},
    {"2 + 3*4 % 5", 4},
    {"7 % 4 * 2", 6},
    {"-7 % 4", -3},
    {"(1 + t)*3", 9},
    {"2e3 + .5", 2000.5},
    {"100000000000 * 100000000000 * t", 2e22},
    {"sin(pi/6)", 0.5},
    {"sin pi / 2", 0},
    {"cos(0)^2", 1},
    {"sqrt t", 1.4142135623730951},
    {"atan2(1, 1)", 0.78539816339744828},
    {"pow(t, 3)", 8},
    {"-pow(2, 2)^2", 16},
    {"ln(e)", 1},
    {"log(1000)", 3},
    {"log10(100)", 2},
    {"exp(0)", 1},
    {"floor(-1.5) * ceil(1.2)", -4},
    {"floor(3e9) * floor(9e9) * floor(9e9)", 2.43e29},
    {"abs(-t)", 2},
    {"min(t, 3) + max(t, 3)", 5},
    {"if(t - 2, 5, 6)", 5},
    {"if(t - 3, 5, 6)", 6},
    {"compare(1, t)", 1},
    {"sign(-t) + sign(0)", -1},
    {"deg2rad(180)", 3.1415926535897931},
    {"rotate_2D_x(1, 2, pi/2)", -2},
    {"rotate_2D_y(1, 2, pi/2)", 1},
    {"smooth_abs(-0.001, 5)", 4.9999583337500e-06},
    {"smoothstep(0.5)", 0.5},
    {"half_smoothstep(1)", 1},
    {"tanh(0.5)", 0.46211715726000976},
    {"tanh(-40)", -1},
    {"sinh(1) + cosh(1)", 2.7182818284590451},
    {"sinh(0.001)", 0.0010000001666666750},
};

START_TEST(formulas_mean_what_they_mean_there)
{
    char text[400];
    kiln_error error = {0};
    kiln_circumstances at = {.time = 2.0};
    double out[3];
    snprintf(text, sizeof text, WITH(", \"boundary_conditions\": {\"rhs\": [\"%s\", \"0*t\"]}"),
             formulas[_i].text);
    kiln_scene_file *file = load(text);
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_int_eq(kiln_quantity_get(&s->gravity, &at, out, 3, &error), KILN_OK);
    ck_assert_msg(fabs(out[0] + formulas[_i].value) <= 4e-16 * (1 + fabs(formulas[_i].value)),
                  "%s: %.17g is not %.17g", formulas[_i].text, -out[0], formulas[_i].value);
    kiln_scene_file_destroy(file);
}
END_TEST

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
    {"{\"geometry\": [{\"mesh\": \"cube.mesh\"}, {\"mesh\": \"sheet.obj\", \"is_obstacle\": true, "
     "\"transformation\": {\"translation\": [0, -6.5, 0]}}], " MATERIAL ", " TIME
     ", \"contact\": {\"enabled\": true}}",
     "geometry/1: a flat obstacle with bodies on both sides is not supported"},
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

/* Includes, from the folder of the file that says so; its own keys win, patches come last. */
START_TEST(files_are_included)
{
    char command[200];
    snprintf(command, sizeof command, "mkdir '%s/sub'", folder);
    ck_assert_int_eq(system(command), 0);
    put_file("sub/base.json", "{\"common\": \"../root.json\", \"time\": {\"dt\": 0.5}}");
    put_file("root.json", "{" GEOMETRY ", " MATERIAL ", \"time\": {\"tend\": 3, \"dt\": 0.1}, "
                          "\"contact\": {\"enabled\": true, \"dhat\": 0.5}}");
    kiln_scene_file *file =
        load("{\"common\": \"sub/base.json\", \"contact\": {\"dhat\": 0.25}, \"patch\": [{\"op\": "
             "\"replace\", \"path\": \"/materials/E\", \"value\": 5}]}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_double_eq(s->duration, 3.0);
    ck_assert_double_eq(s->pace.dt, 0.5);
    ck_assert_double_eq(s->contact.thickness, 0.25);
    ck_assert_double_eq(s->materials.data[0].young.constant[0], 5.0);
    kiln_scene_file_destroy(file);
    put_file("sub/base.json", "{\"common\": \"../s.json\"}");
    put_file("s.json", "{\"common\": \"sub/base.json\"}");
    kiln_error error = {0};
    ck_assert_int_eq(load_text("{\"common\": \"sub/base.json\"}", &file, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "include each other without end"));
}
END_TEST

/* The text that is kept is a scene of its own: Lua that gives the same scene. */
START_TEST(the_translation_is_a_scene)
{
    kiln_scene_file *file = load(WITH("")), *again = NULL;
    size_t size, size_again;
    const char *text = kiln_scene_file_text(file, &size);
    char path[100];
    kiln_scene_options options = {.text = text, .text_size = size};
    snprintf(path, sizeof path, "%s/s.json", folder);
    ck_assert_int_eq(kiln_scene_file_load(context, path, &options, &again, NULL), KILN_OK);
    const char *text_again = kiln_scene_file_text(again, &size_again);
    ck_assert(size == size_again && memcmp(text, text_again, size) == 0);
    put_file("s.json", WITH(""));
    ck_assert(kiln_scene_file_has_text(context, path, text, size));
    put_file("s.json", WITH(", \"contact\": {\"enabled\": true}"));
    ck_assert(!kiln_scene_file_has_text(context, path, text, size));
    kiln_scene_file_destroy(file);
    kiln_scene_file_destroy(again);
}
END_TEST

START_TEST(settings_from_outside_work)
{
    const char *sets[] = {"bodies[1].material.young=7", "step.integrator=newmark", "duration=9"};
    char path[100];
    kiln_scene_file *file = NULL;
    kiln_scene_options options = {
        .text = WITH(""), .text_size = strlen(WITH("")), .sets = sets, .set_count = 3};
    snprintf(path, sizeof path, "%s/s.json", folder);
    ck_assert_int_eq(kiln_scene_file_load(context, path, &options, &file, NULL), KILN_OK);
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_double_eq(s->materials.data[0].young.constant[0], 7.0);
    ck_assert_int_eq(s->solid.integrator, KILN_NEWMARK);
    ck_assert_double_eq(s->duration, 9.0);
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

/* The page names every key of the table. */
START_TEST(the_page_has_all_keys)
{
    static char page[1 << 17];
    FILE *file = fopen(KILN_SOURCE_DIR "/docs/polyfem.md", "rb");
    ck_assert_ptr_nonnull(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    const polyfem_key *key;
    for (size_t i = 0; (key = kiln_polyfem_key_at(i)); i++) {
        const char *slash = strrchr(key->path, '/');
        char word[100];
        snprintf(word, sizeof word, "`%s`", slash ? slash + 1 : key->path);
        ck_assert_msg(strcmp(word, "`*`") == 0 || strstr(page, word), "docs/polyfem.md lacks %s",
                      key->path);
    }
}
END_TEST

#define COUNT(list) (int)(sizeof list / sizeof list[0])

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("polyfem");
    TCase *all = kiln_test_case(suite, "all");
    tcase_add_checked_fixture(all, open_folder, leave_folder);
    tcase_add_test(all, settings_are_translated);
    tcase_add_loop_test(all, times_are_translated, 0, COUNT(times));
    tcase_add_loop_test(all, meshes_are_placed, 0, COUNT(places));
    tcase_add_test(all, meshes_are_normalised_and_copied);
    tcase_add_test(all, surfaces_are_held_by_their_ids);
    tcase_add_test(all, volumes_have_materials_by_their_ids);
    tcase_add_test(all, starts_and_motions_depend_on_place);
    tcase_add_test(all, obstacles_are_translated);
    tcase_add_test(all, without_contact_there_are_no_obstacles);
    tcase_add_test(all, plane_problems_are_slabs);
    tcase_add_test(all, meshes_that_hang_by_a_vertex_are_mended);
    tcase_add_loop_test(all, formulas_mean_what_they_mean_there, 0, COUNT(formulas));
    tcase_add_loop_test(all, what_is_not_supported_is_named, 0, COUNT(refusals));
    tcase_add_test(all, later_errors_have_lines_too);
    tcase_add_test(all, files_are_included);
    tcase_add_test(all, the_translation_is_a_scene);
    tcase_add_test(all, settings_from_outside_work);
    tcase_add_test(all, any_text_is_a_scene_or_an_error);
    tcase_add_test(all, memory_may_run_out_anywhere);
    tcase_add_test(all, the_page_has_all_keys);
    return suite;
}

/* Scenes of PolyFEM: what each key becomes, and formulas. */
#include "io/polyfem_keys.h"
#include "polyfem_texts.h"
#include "sim/world.h"

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
    ck_assert_int_eq(s->contact.weights, KILN_WEIGHTS_AREA);
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

/* The convergent formulation in one word, and in those of newer scenes. */
START_TEST(places_may_count_once)
{
    static const struct {
        const char *said;
        kiln_contact_weights weights;
    } rows[] = {
        {"", KILN_WEIGHTS_AREA},
        {", \"use_area_weighting\": true", KILN_WEIGHTS_AREA},
        {", \"use_improved_max_operator\": true", KILN_WEIGHTS_ONCE},
        {", \"use_convergent_formulation\": true", KILN_WEIGHTS_AREA},
    };
    char text[2048];
    snprintf(text, sizeof text, WITH(", \"contact\": {\"enabled\": true%s}"), rows[_i].said);
    kiln_scene_file *file = load(text);
    ck_assert_int_eq(kiln_scene_file_scene(file)->contact.weights, rows[_i].weights);
    kiln_scene_file_destroy(file);
}
END_TEST

/* Joules where the file gives them, parts of the energy where it gives none. */
START_TEST(tolerances_of_remeshing_are_parts_or_joules)
{
    static const struct {
        const char *said;
        double split, collapse;
    } rows[] = {
        {"", 0.0, 0.0},
        {", \"split\": {\"acceptance_tolerance\": 0.1}", 0.1, 1e-8},
        {", \"collapse\": {\"acceptance_tolerance\": -1e-6}", 0.0, 1e-6},
    };
    char text[2048];
    snprintf(text, sizeof text, WITH(", \"space\": {\"remesh\": {\"enabled\": true%s}}"),
             rows[_i].said);
    kiln_scene_file *file = load(text);
    const kiln_scene *scene = kiln_scene_file_scene(file);
    ck_assert_int_eq(scene->remesh.method, KILN_REMESH_ENERGY);
    ck_assert_double_eq(scene->remesh.split, rows[_i].split);
    ck_assert_double_eq(scene->remesh.collapse, rows[_i].collapse);
    kiln_scene_file_destroy(file);
}
END_TEST

START_TEST(stiffness_may_be_adaptive)
{
    kiln_scene_file *file = load(WITH(", \"contact\": {\"enabled\": true}, "
                                      "\"solver\": {\"contact\": {\"barrier_stiffness\": "
                                      "\"adaptive\"}}"));
    const kiln_scene_contact *contact = &kiln_scene_file_scene(file)->contact;
    ck_assert(contact->adaptive);
    ck_assert_double_eq(contact->stiffness, 1.0);
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

/* A plane has one side: with bodies on both a flat sheet is met as what it is. */
START_TEST(a_sheet_between_bodies_has_two_sides)
{
    kiln_scene_file *file = load(
        "{\"geometry\": [{\"mesh\": \"cube.mesh\"}, {\"mesh\": \"sheet.obj\", "
        "\"is_obstacle\": true, \"transformation\": {\"translation\": [0, -6.5, 0]}}], " MATERIAL
        ", " TIME ", \"contact\": {\"enabled\": true}}");
    const kiln_scene *s = kiln_scene_file_scene(file);
    ck_assert_uint_eq(s->obstacles.count, 1);
    ck_assert_int_eq(s->obstacles.data[0].shape.kind, KILN_OBSTACLE_MESH);
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

/* A square pulled along x: in the plane PolyFEM's lambda is that of plane stress. */
START_TEST(a_square_is_pulled)
{
    char path[100];
    kiln_simulation *simulation;
    kiln_error error = {0};
    put_file("s.json",
             "{\"geometry\": {\"mesh\": \"square.obj\", \"n_refs\": 2, \"transformation\": "
             "{\"dimensions\": [1, 1], \"translation\": [0, 7]}, \"surface_selection\": "
             "{\"threshold\": 1e-3}}, \"materials\": {\"type\": \"LinearElasticity\", \"E\": 100, "
             "\"nu\": 0.3}, \"boundary_conditions\": {\"dirichlet_boundary\": [{\"id\": 1, "
             "\"value\": [0, 0], \"dimension\": [true, false]}, {\"id\": 2, \"value\": [0, 0], "
             "\"dimension\": [false, true]}], \"neumann_boundary\": {\"id\": 3, \"value\": [1]}}}");
    snprintf(path, sizeof path, "%s/s.json", folder);
    ck_assert_msg(kiln_simulation_load(context, path, NULL, &simulation, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_int_eq(kiln_simulation_step(simulation, 1.0, &error), KILN_OK);
    const kiln_mesh *mesh = kiln_simulation_mesh(simulation);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v], x = mesh->x[v];
        assert_vector(x, u.x * 1.01, u.y - (u.y - 7.0) * 0.003, u.z);
    }
    kiln_simulation_destroy(simulation);
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

/* Lua has 200 locals and 200 levels: scenes have more. */
START_TEST(many_and_deep_things_are_translated)
{
    static char text[1 << 18];
    char *at = text;
    at += sprintf(at, "{" GEOMETRY ", " TIME ", \"materials\": [");
    for (int i = 0; i < 300; i++)
        at += sprintf(at, "%s{\"id\": %d, \"type\": \"NeoHookean\", \"E\": %d, \"nu\": 0.3}",
                      i ? "," : "", 300 - i, i + 1);
    at += sprintf(at, "], \"boundary_conditions\": {\"neumann_boundary\": [");
    for (int i = 0; i < 300; i++)
        at += sprintf(at,
                      "%s{\"id\": \"all\", \"value\": [%d], \"interpolation\": {\"type\": "
                      "\"linear\"}}",
                      i ? "," : "", i + 1);
    at += sprintf(at, "], \"rhs\": [\"");
    for (int i = 0; i < 12; i++)
        at += sprintf(at, "2^(1 + 2 * -sin(-t %% ");
    at += sprintf(at, "1");
    for (int i = 0; i < 12; i++)
        at += sprintf(at, "))");
    sprintf(at, "\"]}}");
    kiln_scene_file *file = load(text);
    kiln_error error = {0};
    ck_assert_uint_eq(kiln_scene_file_scene(file)->loads.count, 300);
    ck_assert_int_eq(kiln_scene_try(kiln_scene_file_scene(file), &error), KILN_OK);
    kiln_scene_file_destroy(file);
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
    tcase_add_test(all, stiffness_may_be_adaptive);
    tcase_add_loop_test(all, places_may_count_once, 0, 4);
    tcase_add_loop_test(all, tolerances_of_remeshing_are_parts_or_joules, 0, 3);
    tcase_add_loop_test(all, times_are_translated, 0, COUNT(times));
    tcase_add_loop_test(all, meshes_are_placed, 0, COUNT(places));
    tcase_add_test(all, meshes_are_normalised_and_copied);
    tcase_add_test(all, surfaces_are_held_by_their_ids);
    tcase_add_test(all, volumes_have_materials_by_their_ids);
    tcase_add_test(all, starts_and_motions_depend_on_place);
    tcase_add_test(all, obstacles_are_translated);
    tcase_add_test(all, a_sheet_between_bodies_has_two_sides);
    tcase_add_test(all, without_contact_there_are_no_obstacles);
    tcase_add_test(all, plane_problems_are_slabs);
    tcase_add_test(all, a_square_is_pulled);
    tcase_add_test(all, meshes_that_hang_by_a_vertex_are_mended);
    tcase_add_loop_test(all, formulas_mean_what_they_mean_there, 0, COUNT(formulas));
    tcase_add_test(all, files_are_included);
    tcase_add_test(all, many_and_deep_things_are_translated);
    tcase_add_test(all, the_translation_is_a_scene);
    tcase_add_test(all, settings_from_outside_work);
    tcase_add_test(all, the_page_has_all_keys);
    return suite;
}

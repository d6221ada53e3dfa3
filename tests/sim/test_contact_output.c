/* What frames and rows say of contact: forces that balance momentum, pressure, gap, slip. */
#include "scenes.h"
#include "fem/mass.h"

#include <math.h>

#define G         9.81
#define THICKNESS 0.01

static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK};

static void begin(void)
{
    scene_open(scene, "contact_output.lua", &heap);
    scene_material(scene, "neo-hookean", 2e5, 0.3, 1000);
    scene->contact.bodies = scene->contact.self = true;
    scene->contact.thickness = THICKNESS;
    scene->output.contact = scene->output.contact_pressure = true;
    scene->output.gap = scene->output.slip = true;
}

static void end(kiln_world *world)
{
    scene_close(scene, world, &heap);
}

static kiln_scene_body *add_body(const char *shape, const char *settings, kiln_vec3 at)
{
    kiln_scene_body *body = scene_body(scene, shape, settings);
    for (size_t i = 0; i < body->mesh.points.count; i++)
        body->mesh.points.data[i] = kiln_v3_add(body->mesh.points.data[i], at);
    return body;
}

static void add_plane(double friction)
{
    kiln_scene_obstacle plane = {.shape = {.kind = KILN_OBSTACLE_PLANE, .normal = {0, 0, 1}},
                                 .friction = friction,
                                 .motion = {.obstacle = -1}};
    SCENE_PUSH(obstacles, plane);
}

static void add_probe(const char *name, int32_t body, uint32_t with)
{
    kiln_scene_probe probe = {.body = body, .point = {NAN, NAN, NAN}, .with = with};
    snprintf(probe.name, sizeof probe.name, "%s", name);
    SCENE_PUSH(probes, probe);
}

static double value(kiln_world *world, const char *name)
{
    double row[400];
    size_t count = kiln_world_probe_count(world);
    ck_assert_uint_le(count, 400);
    ck_assert_int_eq(kiln_world_probe(world, row, NULL), KILN_OK);
    for (size_t i = 0; i < count; i++)
        if (strcmp(kiln_world_probe_name(world, i), name) == 0)
            return row[i];
    ck_abort_msg("there is no %s", name);
    return NAN;
}

static kiln_vec3 vector(kiln_world *world, const char *thing, const char *what)
{
    double v[3];
    for (int k = 0; k < 3; k++) {
        char part[128];
        snprintf(part, sizeof part, "%s.%s.%c", thing, what, 'x' + k);
        v[k] = value(world, part);
    }
    return kiln_v3(v[0], v[1], v[2]);
}

static bool is_of(const kiln_mesh *mesh, uint32_t v, uint32_t body)
{
    return mesh->parts.data[mesh->info[mesh->vertex[v].tet].part].body == body;
}

static kiln_vec3 momentum(kiln_world *world, uint32_t body)
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *mass = kiln_mass_lumped(kiln_solid_mass(kiln_world_solid(world)));
    const kiln_vec3 *v =
        (const kiln_vec3 *)(const void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    kiln_vec3 sum = {0, 0, 0};
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++)
        if (is_of(mesh, i, body))
            sum = kiln_v3_madd(sum, mass[i], v[i]);
    return sum;
}

static const double *field(const kiln_soup *soup, const char *name)
{
    const kiln_soup_field *found = kiln_soup_find_field(soup, KILN_ON_VERTEX, name);
    ck_assert_msg(found != NULL, "no field %s", name);
    return found->data.data;
}

static kiln_vec3 sum_of_contact(const kiln_soup *soup)
{
    const kiln_vec3 *force = (const kiln_vec3 *)(const void *)field(soup, "contact");
    kiln_vec3 sum = {0, 0, 0};
    for (size_t v = 0; v < soup->points.count; v++)
        sum = kiln_v3_add(sum, force[v]);
    return sum;
}

static void assert_small(kiln_vec3 v, double limit, const char *what)
{
    ck_assert_msg(kiln_v3_norm(v) <= limit, "%s: %g, not below %g", what, kiln_v3_norm(v), limit);
}

/* Two free bodies that meet obliquely, with friction: action and reaction, and what they do is the
 * change of momentum of each, in every step. */
START_TEST(forces_between_bodies_are_their_change_of_momentum)
{
    begin();
    bool rubs = _i < 3;
    scene->solid.integrator = integrators[_i % 3];
    scene->solid.newton.tolerance = 1e-12;
    scene->contact.friction = rubs ? 0.3 : 0.0;
    scene->pace.dt = 0.004;
    add_body("box", "lx=0.2 ly=0.2 lz=0.2 nx=2 ny=2 nz=2", kiln_v3(0, 0, 0))->velocity =
        kiln_quantity_vector(kiln_v3(0.2, 0.5, 2));
    add_body("box", "lx=0.3 ly=0.2 lz=0.1 nx=3 ny=2 nz=1", kiln_v3(-0.05, 0.05, 0.215));
    add_probe("", 0, 2);
    add_probe("back", 1, 1);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    double most = 0.0;
    bool turns = _i % 3 != 1; /* bdf2 remembers torques about places of before */
    for (int i = 0; i < 20; i++) {
        kiln_vec3 before = momentum(world, 0);
        kiln_stats stats = scene_step(world, 1.0);
        kiln_vec3 force = vector(world, "body1-body2", "force");
        kiln_vec3 back = vector(world, "back", "force");
        double size = kiln_v3_norm(force), weak = 1e-12 * (size + most);
        most = fmax(most, size);
        assert_small(kiln_v3_add(force, back), weak, "action and reaction");
        kiln_vec3 gained = kiln_v3_sub(momentum(world, 0), before);
        assert_small(kiln_v3_madd(gained, -stats.dt, force), 1e-7 * (stats.dt * most + 1e-3),
                     "momentum");
        kiln_vec3 arm =
            kiln_v3_sub(vector(world, "body1-body2", "place"), vector(world, "back", "place"));
        kiln_vec3 turn =
            kiln_v3_add(vector(world, "body1-body2", "torque"), vector(world, "back", "torque"));
        if (turns) /* friction has no moment where it was lagged */
            assert_small(kiln_v3_add(turn, kiln_v3_cross(arm, force)), (rubs ? 1e-4 : 1e-10) * most,
                         "moment");
        kiln_soup soup;
        ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
        assert_small(sum_of_contact(&soup), weak, "sum over vertices");
        kiln_soup_free(&soup);
    }
    ck_assert_double_gt(most, 100.0);
    end(world);
}
END_TEST

/* A third of the faces at each vertex, m^2. */
static void find_areas(const kiln_soup *soup, double *area)
{
    memset(area, 0, soup->points.count * sizeof *area);
    for (size_t f = 0; f < soup->triangles.count; f++) {
        const uint32_t *v = soup->triangles.data[f].v;
        const kiln_vec3 *p = soup->points.data;
        kiln_vec3 twice =
            kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]]));
        for (int k = 0; k < 3; k++)
            area[v[k]] += kiln_v3_norm(twice) / 6.0;
    }
}

/* A block that lies on a plane: what it presses with is its weight, and its gap that to the wall a
 * thickness below the plane. As points it lies on the plane itself. */
START_TEST(pressure_carries_the_weight)
{
    enum { ROOM = 200 };
    double area[ROOM], carried = 0.0, weight = 1000 * 0.2 * 0.2 * 0.1 * G, least = INFINITY;
    bool points = _i == 3;
    begin();
    scene->solid.integrator = integrators[_i % 3];
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, -G));
    scene->contact.obstacles = points ? KILN_OBSTACLES_POINTS : KILN_OBSTACLES_SURFACES;
    scene->materials.data[0].viscosity = kiln_quantity_number(200.0);
    scene->materials.data[0].base.viscosity = 200.0;
    add_body("box", "lx=0.2 ly=0.2 lz=0.1 nx=3 ny=2 nz=1", kiln_v3(0, 0, -3e-4));
    add_plane(0.0);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    kiln_stats stats = {0};
    while (kiln_world_get_state(world)->clock.time < 0.6 - 1e-9)
        stats = scene_step(world, 0.6);
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
    ck_assert_uint_le(soup.points.count, ROOM);
    find_areas(&soup, area);
    const double *pressure = field(&soup, "contact_pressure"), *gap = field(&soup, "gap");
    for (size_t v = 0; v < soup.points.count; v++) {
        double z = soup.points.data[v].z, off = points ? 0.0 : z + THICKNESS;
        carried += pressure[v] * area[v];
        ck_assert_double_eq_tol(gap[v], z > 0.01 ? THICKNESS : fmin(off, THICKNESS), 1e-12);
        ck_assert(z < 0.01 || pressure[v] == 0.0);
        least = fmin(least, gap[v]);
    }
    ck_assert_double_eq_tol(carried, sum_of_contact(&soup).z, 1e-9 * weight);
    ck_assert_double_eq_tol(carried, weight, 5e-3 * weight);
    ck_assert(points || (least < THICKNESS && fabs(least - stats.gap_min) < 1e-12));
    kiln_soup_free(&soup);
    end(world);
}
END_TEST

/* On a slope of tan 0.4 a block of friction 0.2 slips as fast as it moves, one of 0.6 sticks. */
START_TEST(slip_is_how_fast_it_slides)
{
    begin();
    scene->solid.integrator = integrators[_i];
    scene->solid.friction_speed = 1e-3;
    scene->gravity = kiln_quantity_vector(kiln_v3(G * sin(atan(0.4)), 0, -G * cos(atan(0.4))));
    add_body("box", "lx=0.2 ly=0.2 lz=0.1 nx=2 ny=2 nz=1", kiln_v3(0, 0, 0));
    add_body("box", "lx=0.2 ly=0.2 lz=0.1 nx=2 ny=2 nz=1", kiln_v3(0, 0.5, 0));
    add_plane(0.6);
    kiln_scene_pair pair = {.a = "body1", .friction = 0.2};
    snprintf(scene->obstacles.data[0].name, KILN_NAME_SIZE, "slope");
    snprintf(pair.b, sizeof pair.b, "slope");
    SCENE_PUSH(contact.pairs, pair);
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    while (kiln_world_get_state(world)->clock.time < 0.3 - 1e-9)
        scene_step(world, 0.3);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    double speed = momentum(world, 0).x / (1000 * 0.2 * 0.2 * 0.1);
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
    const double *slip = field(&soup, "slip"), *pressure = field(&soup, "contact_pressure");
    int slides = 0, sticks = 0;
    for (uint32_t v = 0; v < soup.points.count; v++) {
        ck_assert(pressure[v] > 0.0 || slip[v] == 0.0);
        if (pressure[v] == 0.0)
            continue;
        bool first = is_of(mesh, v, 0);
        ck_assert_msg(first ? fabs(slip[v] - speed) < 0.05 * speed : slip[v] < 1e-3, "%g of %g",
                      slip[v], speed);
        slides += first;
        sticks += !first;
    }
    ck_assert_int_ge(slides, 3);
    ck_assert_int_ge(sticks, 3);
    ck_assert_double_gt(speed, 0.4);
    kiln_soup_free(&soup);
    end(world);
}
END_TEST

/* The row of the start has the energy that bodies begin with: what the first, short, step knows as
 * its own, and what they are pushed apart with. */
START_TEST(the_start_has_the_energy_of_contact)
{
    kiln_stats start, first;
    double all = 0.0;
    begin();
    scene->pace.dt = 1e-7;
    add_body("box", "lx=0.2 ly=0.2 lz=0.1 nx=2 ny=2 nz=1", kiln_v3(0, 0, _i ? -4e-3 : 0));
    if (_i)
        add_plane(0.0); /* the layer lies inside it */
    else
        add_body("box", "lx=0.2 ly=0.2 lz=0.1 nx=2 ny=2 nz=1", kiln_v3(0.01, 0, 0.105));
    kiln_world *world = scene_world(scene);
    kiln_world_measure(world, &start);
    ck_assert_double_eq_tol(start.gap_min, _i ? 0.006 : 0.005, 1e-12);
    ck_assert_double_gt(start.e_contact, 0.0);
    kiln_world_get_state(world)->step = 1;
    first = scene_step(world, 1.0);
    all = first.e_kinetic + first.e_elastic + first.e_contact;
    ck_assert_double_eq_tol(first.e_contact, start.e_contact, 1e-6 * start.e_contact);
    ck_assert_double_le(all, start.e_contact * (1.0 + 1e-9));
    end(world);
}
END_TEST

/* Without contact there is no gap to speak of. */
START_TEST(a_gap_needs_contact)
{
    kiln_world *world = NULL;
    kiln_error error = {0};
    begin();
    scene->contact.bodies = scene->contact.self = false;
    add_body("box", "nx=1 ny=1 nz=1", kiln_v3(0, 0, 0));
    ck_assert_int_eq(kiln_world_create(scene, &world, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "output.fields: gap needs contact") != NULL, "%s",
                  error.message);
    end(NULL);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("contact output");
    TCase *all = kiln_test_case(suite, "contact output");
    tcase_add_loop_test(all, forces_between_bodies_are_their_change_of_momentum, 0, 6);
    tcase_add_loop_test(all, pressure_carries_the_weight, 0, 4);
    tcase_add_loop_test(all, slip_is_how_fast_it_slides, 0, 3);
    tcase_add_loop_test(all, the_start_has_the_energy_of_contact, 0, 2);
    tcase_add_test(all, a_gap_needs_contact);
    return suite;
}

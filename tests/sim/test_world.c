#include "scenes.h"

#include <math.h>

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, *const scene = &scene_here;

static void begin(void)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, 2);
    scene_cantilever(scene, context);
}

static void end(void)
{
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

/* The world must be refused with all of these words and the place. */
static void expect_refusal(int line, const char *path, const char *words)
{
    kiln_world *world = NULL;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_world_create(scene, &world, &error), KILN_ERR_INPUT);
    ck_assert_ptr_null(world);
    ck_assert_msg(strcmp(error.place, "cantilever.lua") == 0, "place '%s'", error.place);
    ck_assert_msg(error.line == line, "line %lld: %s", error.line, error.message);
    ck_assert_msg(strncmp(error.message, path, strlen(path)) == 0, "'%s' is not about '%s'",
                  error.message, path);
    ck_assert_msg(strstr(error.message, words) != NULL, "'%s' lacks '%s'", error.message, words);
}

START_TEST(bodies_become_one_mesh)
{
    begin();
    kiln_scene_body *second = scene_body(scene, "box", "n=2");
    for (size_t i = 0; i < second->mesh.points.count; i++)
        second->mesh.points.data[i].z += 5.0;
    second->velocity = kiln_quantity_vector(kiln_v3(1, 2, 3));
    second->spin = kiln_v3(0, 0, 2);
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    kiln_test_audit(mesh);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 6 * 24 + 6 * 8);
    ck_assert_uint_eq(mesh->parts.count, 2);
    const kiln_vec3 *v = (const kiln_vec3 *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "v")->data;
    for (uint32_t i = 0; i < mesh->table[KILN_ON_VERTEX].used; i++) {
        uint32_t body = mesh->parts.data[mesh->info[mesh->vertex[i].tet].part].body;
        ck_assert_uint_eq(body, mesh->u[i].z > 2.0);
        kiln_vec3 arm = kiln_v3_sub(mesh->x[i], kiln_v3(0.5, 0.5, 5.5));
        kiln_vec3 wanted = body ? kiln_v3(1 - 2 * arm.y, 2 + 2 * arm.x, 3) : kiln_v3(0, 0, 0);
        ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(v[i], wanted)), 1e-12);
    }
    kiln_stats stats;
    kiln_world_measure(world, &stats);
    ck_assert_double_eq_tol(stats.rest_volume, 1.0625, 1e-12);
    ck_assert_double_eq_tol(stats.volume, 1.0625, 1e-12);
    ck_assert_double_eq_tol(stats.px, 1000, 1e-9);
    ck_assert_double_eq_tol(stats.pz, 3000, 1e-9);
    ck_assert(isnan(stats.dt) && isnan(stats.t_step) && isnan(stats.e_contact));
    kiln_world_destroy(world);
    end();
}
END_TEST

static uint32_t count_material(const kiln_mesh *mesh, uint32_t material, int32_t *region)
{
    const uint32_t *of = (const uint32_t *)kiln_mesh_field(mesh, KILN_ON_TET, "material")->data;
    uint32_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (of[t] == material) {
            *region = mesh->info[t].region;
            count++;
        }
    return count;
}

START_TEST(regions_by_tag_and_by_selection)
{
    begin();
    scene_material(scene, "corotated", 1e6, 0.3, 500);
    scene_material(scene, "stvk", 1e6, 0.3, 500);
    kiln_scene_body *body = &scene->bodies.data[0];
    for (size_t t = 0; t < 24; t++)
        body->mesh.tet_tags.data[t] = 4;
    kiln_scene_region by_tag = {
        .said = kiln_scene_said("bodies[1].regions[1]", 12), .tag = 4, .material = 1};
    kiln_scene_region by_place = {.said = kiln_scene_said("bodies[1].regions[2]", 13),
                                  .tag = -1,
                                  .material = 2,
                                  .where = scene_slab(scene, 0.7, 2.0)};
    ck_assert_int_eq(kiln_array_push(context, &body->regions, by_tag, NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_push(context, &body->regions, by_place, NULL), KILN_OK);
    kiln_world *world = scene_world(scene);
    int32_t region[3];
    uint32_t tagged = count_material(kiln_world_mesh(world), 1, &region[1]);
    uint32_t placed = count_material(kiln_world_mesh(world), 2, &region[2]);
    uint32_t rest = count_material(kiln_world_mesh(world), 0, &region[0]);
    ck_assert_uint_eq(tagged + placed + rest, 144);
    ck_assert(tagged > 0 && tagged <= 24 && placed > 24);
    ck_assert_int_eq(region[0], 1);
    ck_assert_int_eq(region[1], 4);
    ck_assert_int_gt(region[2], 4);
    kiln_test_audit(kiln_world_mesh(world)); /* interfaces are flagged as such */
    kiln_world_destroy(world);
    body->regions.data[0].tag = 9;
    expect_refusal(12, "bodies[1].regions[1]", "no tet of body 'body1' has the tag 9");
    body->regions.data[0].tag = 4;
    body->regions.data[1].where.data[0].selector.a.x = 1.5;
    expect_refusal(13, "bodies[1].regions[2]", "selects no tet");
    end();
}
END_TEST

START_TEST(selections_are_trees)
{
    begin();
    /* (all of x < 0.1 or x > 0.9) minus (not the surface) */
    kiln_picks *where = &scene->holds.data[0].where;
    kiln_pick rows[] = {
        {.kind = KILN_PICK_SELECTOR, .selector = where->data[0].selector},
        {.kind = KILN_PICK_SELECTOR,
         .selector = {.kind = KILN_SELECT_BOX, .a = kiln_v3(0.9, -9, -9), .b = kiln_v3(2, 9, 9)}},
        {.kind = KILN_PICK_OR, .a = 0, .b = 1},
        {.kind = KILN_PICK_SELECTOR, .selector = {.kind = KILN_SELECT_SURFACE}},
        {.kind = KILN_PICK_NOT, .a = 3},
        {.kind = KILN_PICK_MINUS, .a = 2, .b = 4}};
    where->count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_int_eq(kiln_array_push(context, where, rows[i], NULL), KILN_OK);
    kiln_world *world = scene_world(scene);
    scene_step(world, 0.01);
    const kiln_constraints *c = kiln_solid_constraints(kiln_world_solid(world));
    uint32_t held = 0;
    for (uint32_t v = 0; v < kiln_world_mesh(world)->table[KILN_ON_VERTEX].used; v++)
        held += c->held[v] == 7;
    ck_assert_uint_eq(held, 18);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(bad_scenes_are_refused_with_their_place)
{
    begin();
    scene->holds.data[0].where.data[0].selector.b.x = -1e-10;
    scene->holds.data[0].where.data[0].selector.a.x = -1.0;
    expect_refusal(20, "holds[1]", "selects no vertex");
    end();

    begin();
    scene_load(scene, KILN_LOAD_TRACTION, scene_slab(scene, 0.13, 0.14), kiln_v3(1, 0, 0));
    expect_refusal(30, "loads[1]", "selects no surface face");
    end();

    begin(); /* inverted start */
    scene->bodies.data[0].mesh.points.data[1].x += 0.9;
    expect_refusal(10, "bodies[1]", "inverted");
    end();

    begin(); /* no volume */
    for (size_t i = 0; i < scene->bodies.data[0].mesh.points.count; i++)
        scene->bodies.data[0].mesh.points.data[i].z = 0.0;
    expect_refusal(10, "bodies[1]", "a tet must have volume");
    end();

    begin(); /* the second body is to blame */
    scene_body(scene, "box", "n=1")->mesh.tets.data[0].v[1] = 0;
    expect_refusal(11, "bodies[2]", "four different vertices");
    end();

    begin(); /* not a number */
    scene->bodies.data[0].mesh.points.data[3].y = NAN;
    expect_refusal(10, "bodies[1]", "finite");
    end();

    begin(); /* two places for the same vertices */
    kiln_scene_hold *pull = scene_hold(scene, scene_slab(scene, -0.1, 0.3), 1);
    pull->motion.kind = KILN_MOTION_TRANSLATE;
    pull->motion.shift = kiln_quantity_vector(kiln_v3(0.1, 0, 0));
    expect_refusal(21, "holds[2]", "contradicts holds[1]");
    end();
}
END_TEST

/* Linear in time along x. */
static kiln_status ramp(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)error;
    for (int c = 0; c < components; c++)
        out[c] = c == 0 ? *(const double *)self * at->time : 0.0;
    return KILN_OK;
}

START_TEST(holds_that_agree_are_no_contradiction)
{
    begin();
    double rate = 0.1;
    kiln_quantity shift = {.self = &rate, .evaluate = ramp};
    scene->holds.data[0].motion.kind = KILN_MOTION_TRANSLATE;
    scene->holds.data[0].motion.shift = shift;
    kiln_scene_hold *same = scene_hold(scene, scene_slab(scene, -0.1, 0.3), 1);
    same->motion = scene->holds.data[0].motion;
    kiln_world *world = scene_world(scene);
    kiln_world_destroy(world);
    double other = 0.2; /* the same at the start, not later */
    scene->holds.data[1].motion.shift.self = &other;
    expect_refusal(21, "holds[2]", "contradicts holds[1]");
    end();
}
END_TEST

START_TEST(later_holds_catch_and_release)
{
    begin();
    double rate = 0.5;
    kiln_scene_hold *late = scene_hold(scene, scene_slab(scene, 1 - 1e-9, 1 + 1e-9), 7);
    late->from = 0.05;
    late->until = 0.1;
    late->motion.kind = KILN_MOTION_TRANSLATE;
    late->motion.shift = (kiln_quantity){.self = &rate, .evaluate = ramp};
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    uint32_t tip = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (mesh->u[v].x == 1.0 && mesh->u[v].y == 0.0 && mesh->u[v].z == 0.0)
            tip = v;
    double time = 0.0;
    while (time < 0.05)
        time = scene_step(world, 0.17).time;
    ck_assert_double_eq(time, 0.05); /* met, though no frame is there */
    kiln_vec3 caught = mesh->x[tip];
    ck_assert_double_lt(caught.z, -1e-3);
    while (time < 0.1) {
        time = scene_step(world, 0.17).time;
        kiln_vec3 wanted = kiln_v3_add(caught, kiln_v3(rate * time, 0, 0));
        ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(mesh->x[tip], wanted)), 1e-9);
    }
    ck_assert_double_eq(time, 0.1);
    kiln_vec3 released = mesh->x[tip];
    scene_step(world, 0.17);
    ck_assert_double_gt(fabs(mesh->x[tip].z - released.z), 1e-7);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(a_later_contradiction_is_an_error_when_it_comes)
{
    begin();
    kiln_scene_hold *late = scene_hold(scene, scene_slab(scene, -0.1, 0.3), 4);
    late->from = 0.02;
    late->motion.kind = KILN_MOTION_TRANSLATE;
    late->motion.shift = kiln_quantity_vector(kiln_v3(0, 0, 0.01));
    kiln_world *world = scene_world(scene);
    scene_step(world, 0.1);
    scene_step(world, 0.1);
    uint64_t before = kiln_mesh_hash(kiln_world_mesh(world));
    kiln_stats stats;
    bool gave_up;
    kiln_diagnosis diagnosis;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_world_step(world, 0.1, &stats, &gave_up, &diagnosis, &error),
                     KILN_ERR_INPUT);
    ck_assert_int_eq(error.line, 21);
    ck_assert_msg(strstr(error.message, "holds[2]: contradicts holds[1]") != NULL, "%s",
                  error.message);
    /* The places it caught are all that is new. */
    kiln_vec3 *caught =
        (kiln_vec3 *)kiln_mesh_field(kiln_world_mesh(world), KILN_ON_VERTEX, "hold2")->data;
    memset(caught, 0, kiln_world_mesh(world)->table[KILN_ON_VERTEX].used * sizeof *caught);
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), before);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(rotation_and_axes_of_their_own)
{
    begin();
    kiln_scene_hold *turn = scene_hold(scene, scene_slab(scene, 1 - 1e-9, 1 + 1e-9), 7);
    double rate = 2.0;
    turn->motion.kind = KILN_MOTION_ROTATE;
    turn->motion.angle = (kiln_quantity){.self = &rate, .evaluate = ramp};
    turn->motion.axis = kiln_v3(3, 0, 0);
    turn->motion.centre = kiln_v3(0, 0.125, 0.125);
    /* Middle slab: held along the diagonal of y and z only. */
    kiln_scene_hold *slide = scene_hold(scene, scene_slab(scene, 0.5 - 1e-9, 0.5 + 1e-9), 2);
    double s = sqrt(0.5);
    slide->axes = (kiln_mat3){{{1, 0, 0}, {0, s, s}, {0, -s, s}}};
    kiln_world *world = scene_world(scene);
    kiln_mesh *mesh = kiln_world_mesh(world);
    double time = 0.0;
    while (time < 0.05)
        time = scene_step(world, 0.05).time;
    size_t turned = 0, slid = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v], x = mesh->x[v];
        double c = cos(rate * time), d = sin(rate * time), y = u.y - 0.125, z = u.z - 0.125;
        if (u.x == 1.0) {
            turned++;
            ck_assert_double_eq_tol(x.y, 0.125 + c * y - d * z, 1e-10);
            ck_assert_double_eq_tol(x.z, 0.125 + d * y + c * z, 1e-10);
        }
        if (u.x == 0.5) {
            slid++;
            ck_assert_double_eq_tol(x.y + x.z, u.y + u.z, 1e-10);
        }
    }
    ck_assert(turned == 9 && slid == 9);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(loads_add_up)
{
    static const struct {
        kiln_load_kind kind;
        double amount, total;
    } rows[] = {{KILN_LOAD_FORCE, 3.0, 3.0},
                {KILN_LOAD_TRACTION, 16.0, 1.0},
                {KILN_LOAD_BODY, 16.0, 16.0 / 16 / 6}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin();
        scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, 0));
        double low = rows[i].kind == KILN_LOAD_BODY ? 5.0 / 6 - 1e-9 : 1 - 1e-9;
        kiln_scene_load *load = scene_load(scene, rows[i].kind, scene_slab(scene, low, 2),
                                           kiln_v3(0, 0, rows[i].amount));
        load->where.data[0].selector.reach = KILN_REACH_ALL;
        kiln_world *world = scene_world(scene);
        scene_step(world, 0.01);
        const double *f = kiln_loads_force(kiln_solid_loads(kiln_world_solid(world)));
        double total = 0.0;
        for (uint32_t v = 0; v < kiln_world_mesh(world)->table[KILN_ON_VERTEX].used; v++)
            total += f[3 * v + 2];
        ck_assert_msg(fabs(total - rows[i].total) < 1e-12, "row %zu: %.17g", i, total);
        kiln_world_destroy(world);
        end();
    }
}
END_TEST

START_TEST(static_scenes_find_equilibrium)
{
    begin();
    scene->solid.integrator = KILN_STATIC;
    scene->duration = 0.0;
    scene->load_steps = 4;
    kiln_world *world = scene_world(scene);
    kiln_stats stats = scene_step(world, 0.0);
    ck_assert_double_eq(stats.time, 0.0);
    ck_assert(isnan(stats.e_kinetic) && isnan(stats.px));
    ck_assert_double_eq_tol(stats.rz, 0.0625 * 1000 * 9.81, 1e-3);
    kiln_vec3 force = hold_force(world, 0);
    ck_assert_double_eq_tol(force.z, stats.rz, 1e-9);
    kiln_world_destroy(world);
    end();
}
END_TEST

/* Softer as time goes on, and where x is large. */
static kiln_status softening(void *self, const kiln_circumstances *at, double *out, int components,
                             kiln_error *error)
{
    (void)error;
    (void)components;
    ++*(uint64_t *)self;
    out[0] = 1e5 * (1.0 - 0.4 * at->material.x) * (1.0 - at->time) / (1.0 + 1e-6 * at->stress);
    return KILN_OK;
}

START_TEST(stiffness_may_be_a_function)
{
    begin();
    uint64_t calls = 0;
    scene->materials.data[0].young = (kiln_quantity){.self = &calls, .evaluate = softening};
    scene->materials.data[0].varies = true;
    kiln_world *world = scene_world(scene);
    calls = 0;
    scene_step(world, 0.01);
    ck_assert_uint_eq(calls, 144);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *lame = (const double *)kiln_mesh_field(mesh, KILN_ON_TET, "lame")->data;
    double least = INFINITY, most = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        least = fmin(least, lame[2 * t]);
        most = fmax(most, lame[2 * t]);
    }
    ck_assert_double_gt(most, 1.4 * least);
    kiln_world_destroy(world);
    end();
}
END_TEST

static kiln_status even_density(void *self, const kiln_circumstances *at, double *out,
                                int components, kiln_error *error)
{
    (void)at, (void)components, (void)error;
    out[0] = *(const double *)self;
    return KILN_OK;
}

/* Damping by mass is that of the mass there is, whoever says how dense it is. */
START_TEST(mass_damping_knows_density_that_is_a_function)
{
    for (int kind = 0; kind < 2; kind++) {
        double left[2], density = 1000.0;
        for (int function = 0; function < 2; function++) {
            begin();
            kiln_array_free(context, &scene->holds.data[0].where);
            scene->holds.count = 0;
            scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, 0));
            scene->solid.mass = kind ? KILN_MASS_CONSISTENT : KILN_MASS_LUMPED;
            scene->bodies.data[0].velocity = kiln_quantity_vector(kiln_v3(1, 0, 0));
            kiln_scene_material *material = &scene->materials.data[0];
            material->base.damping_mass = 20.0;
            if (function) {
                material->density = (kiln_quantity){.self = &density, .evaluate = even_density};
                material->base.density = 0.0;
            }
            kiln_world *world = scene_world(scene);
            left[function] = scene_step(world, 0.01).px;
            ck_assert_int_eq(kiln_world_renew(world, NULL), KILN_OK);
            left[function] = scene_step(world, 0.02).px;
            kiln_world_destroy(world);
            end();
        }
        /* Implicit Euler: v / (1 + alpha h) a step. */
        ck_assert_double_eq_tol(left[0], 62.5 / (1.2 * 1.2), 1e-6);
        ck_assert_double_eq_tol(left[1], left[0], 1e-9);
    }
}
END_TEST

/* Thinner where it is sheared fast; all alike where `self` says how thick. */
static kiln_status thinning(void *self, const kiln_circumstances *at, double *out, int components,
                            kiln_error *error)
{
    (void)components, (void)error;
    out[0] = self ? *(const double *)self : 1e3 / (1.0 + at->strain_rate);
    return KILN_OK;
}

START_TEST(viscosity_may_be_a_function)
{
    double eta = 500.0, tip[4], negative = -1.0;
    for (int how = 0; how < 4;
         how++) { /* none, a number, a function that says the same, thinning */
        begin();
        kiln_scene_material *material = &scene->materials.data[0];
        if (how == 1)
            material->base.viscosity = eta;
        if (how > 1) {
            material->viscosity =
                (kiln_quantity){.self = how == 2 ? &eta : NULL, .evaluate = thinning};
            material->varies = true;
        }
        kiln_world *world = scene_world(scene);
        for (int k = 1; k <= 6; k++) {
            scene_step(world, 0.01 * k);
            if (k == 3)
                ck_assert_int_eq(kiln_world_renew(world, NULL), KILN_OK);
        }
        tip[how] = 0.0;
        for (uint32_t v = 0; v < kiln_world_mesh(world)->table[KILN_ON_VERTEX].used; v++)
            tip[how] += kiln_world_mesh(world)->x[v].z;
        kiln_world_destroy(world);
        end();
    }
    ck_assert_double_gt(tip[1] - tip[0], 1e-3); /* slower */
    ck_assert_double_eq_tol(tip[2], tip[1], 1e-9);
    ck_assert(tip[3] > tip[1]);
    begin();
    scene->materials.data[0].viscosity = (kiln_quantity){.self = &negative, .evaluate = thinning};
    scene->materials.data[0].varies = true;
    expect_refusal(3, "materials[1]", "viscosity must be 0 or more: got -1");
    end();
}
END_TEST

/* Round the z axis through the middle: exact for a rotation to fourth order. */
static kiln_status whirl(void *self, const kiln_circumstances *at, double *out, int components,
                         kiln_error *error)
{
    (void)self;
    (void)components;
    (void)error;
    out[0] = -(at->world.y - 0.125);
    out[1] = at->world.x - 0.5;
    out[2] = 0.0;
    return KILN_OK;
}

START_TEST(a_velocity_field_moves_every_vertex)
{
    begin();
    kiln_array_free(context, &scene->holds.data[0].where);
    scene->holds.count = 0;
    scene->velocity_field.evaluate = whirl;
    scene->velocity_field.self = scene;
    scene->has_velocity_field = true;
    scene->pace.dt = 0.1;
    kiln_world *world = scene_world(scene);
    double time = 0.0;
    while (time < 1.0)
        time = scene_step(world, 1.0).time;
    const kiln_mesh *mesh = kiln_world_mesh(world);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        double x = mesh->u[v].x - 0.5, y = mesh->u[v].y - 0.125, c = cos(1.0), s = sin(1.0);
        ck_assert_double_eq_tol(mesh->x[v].x, 0.5 + c * x - s * y, 1e-6);
        ck_assert_double_eq_tol(mesh->x[v].y, 0.125 + s * x + c * y, 1e-6);
    }
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(a_step_that_is_far_too_long_is_halved)
{
    begin();
    scene->pace = (kiln_pace_limits){.dt = 0.1, .dt_min = 1e-7, .patience = 2};
    scene->solid.max_stretch = 0.02;
    scene->bodies.data[0].velocity = kiln_quantity_vector(kiln_v3(0, 0, 2));
    kiln_world *world = scene_world(scene);
    kiln_stats stats = scene_step(world, 0.2);
    ck_assert_double_gt(stats.rejected, 0);
    ck_assert_double_lt(stats.dt, 0.1);
    ck_assert_double_eq(stats.step, 1);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(giving_up_says_why_and_where)
{
    begin();
    scene->pace = (kiln_pace_limits){.dt = 0.1, .dt_min = 0.05, .patience = 2};
    scene->solid.max_stretch = 1e-4;
    scene->bodies.data[0].velocity = kiln_quantity_vector(kiln_v3(0, 0, 20));
    kiln_world *world = scene_world(scene);
    uint64_t before = kiln_mesh_hash(kiln_world_mesh(world));
    kiln_stats stats;
    bool gave_up = false;
    kiln_diagnosis diagnosis;
    ck_assert_int_eq(kiln_world_step(world, 0.2, &stats, &gave_up, &diagnosis, NULL), KILN_OK);
    ck_assert(gave_up);
    ck_assert_msg(strstr(diagnosis.text, "stretch") && strstr(diagnosis.text, "max_stretch") &&
                      strstr(diagnosis.text, "(tet ") && strstr(diagnosis.text, "body 'body1'"),
                  "%s", diagnosis.text);
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), before);
    ck_assert_double_eq(kiln_world_get_state(world)->clock.time, 0.0);
    kiln_world_destroy(world);
    end();
}
END_TEST

/* So far in so short a time that the speed is no number, for one corner. */
static kiln_status leap(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    bool far = at->time > 0.0 && at->material.x + at->material.y + at->material.z == 3.0;
    out[0] = far ? 1e307 : at->material.x;
    out[1] = at->material.y;
    out[2] = at->material.z;
    return KILN_OK;
}

/* A vertex, not a tet of that number; here there are more vertices than tets. */
/* A blow from 0.02 s on. */
static kiln_status blow(void *self, const kiln_circumstances *at, double *out, int components,
                        kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = out[1] = 0.0;
    out[2] = at->time > 0.02 ? -1e9 : -1.0;
    return KILN_OK;
}

/* What a step that could not be made leaves: forces, pace and counts of the one before it. */
START_TEST(giving_up_leaves_the_last_step)
{
    begin();
    scene->solid.max_acceleration = 1e4;
    scene->pace.dt_min = 0.002;
    scene_load(scene, KILN_LOAD_FORCE, scene_slab(scene, 0.9, 2), kiln_v3(0, 0, 0))->amount =
        (kiln_quantity){.evaluate = blow, .self = scene};
    kiln_world *world = scene_world(scene);
    scene_step(world, 0.01);
    scene_step(world, 0.02);
    kiln_vec3 force = hold_force(world, 0);
    kiln_world_state before = *kiln_world_get_state(world);
    const kiln_world_state *state = kiln_world_get_state(world);
    uint64_t hash = kiln_mesh_hash(kiln_world_mesh(world));
    kiln_stats stats;
    bool gave_up = false;
    kiln_diagnosis diagnosis;
    ck_assert_int_eq(kiln_world_step(world, 0.1, &stats, &gave_up, &diagnosis, NULL), KILN_OK);
    ck_assert(gave_up);
    kiln_vec3 after = hold_force(world, 0);
    ck_assert_mem_eq(&after, &force, sizeof force);
    ck_assert_double_gt(kiln_v3_norm(force), 0.0);
    ck_assert_double_eq(state->pace.dt, before.pace.dt);
    ck_assert_uint_eq(state->rejected, before.rejected);
    ck_assert_uint_eq(kiln_mesh_hash(kiln_world_mesh(world)), hash);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(giving_up_names_the_vertex_that_is_not_finite)
{
    begin();
    kiln_array_free(context, &scene->holds.data[0].where);
    scene->holds.count = 0;
    kiln_soup_free(&scene->bodies.data[0].mesh);
    scene->bodies.data[0].mesh = kiln_test_soup(context, "box", "n=1");
    kiln_scene_hold *hold = scene_hold(scene, scene_slab(scene, -1, 2), 7);
    hold->motion.kind = KILN_MOTION_FOLLOW;
    hold->motion.place = (kiln_quantity){.self = scene, .evaluate = leap};
    kiln_array_free(context, &scene->materials);
    scene_material(scene, "linear", 1e-300, 0.0, 1e-300);
    scene->solid.linearised = true;
    scene->pace.dt_min = 0.01;
    kiln_world *world = scene_world(scene);
    kiln_stats stats;
    bool gave_up = false;
    kiln_diagnosis diagnosis;
    ck_assert_int_eq(kiln_world_step(world, 0.01, &stats, &gave_up, &diagnosis, NULL), KILN_OK);
    ck_assert(gave_up);
    ck_assert_msg(strstr(diagnosis.text, "NaN or infinity in the result (vertex ") &&
                      strstr(diagnosis.text, "near (1, 1, 1)"),
                  "%s", diagnosis.text);
    kiln_world_destroy(world);
    end();
}
END_TEST

/* A force that is a function is asked for where each vertex is. */
static kiln_status growing_force(void *self, const kiln_circumstances *at, double *out,
                                 int components, kiln_error *error)
{
    (void)self, (void)components, (void)error;
    out[0] = out[1] = 0.0;
    out[2] = 6.0 * at->material.y;
    return KILN_OK;
}

START_TEST(forces_know_the_place)
{
    begin();
    scene->gravity = kiln_quantity_vector(kiln_v3(0, 0, 0));
    kiln_scene_load *load =
        scene_load(scene, KILN_LOAD_FORCE, scene_slab(scene, 1 - 1e-9, 2), kiln_v3(0, 0, 0));
    load->amount = (kiln_quantity){.self = scene, .evaluate = growing_force};
    kiln_world *world = scene_world(scene);
    scene_step(world, 0.01);
    const kiln_mesh *mesh = kiln_world_mesh(world);
    const double *f = kiln_loads_force(kiln_solid_loads(kiln_world_solid(world)));
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_double_eq_tol(f[3 * v + 2], mesh->u[v].x == 1.0 ? 6.0 / 9 * mesh->u[v].y : 0.0,
                                1e-12);
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(frames_carry_what_was_asked_for)
{
    begin();
    scene->output.fields = (1u << KILN_OUTPUT_COUNT) - 1;
    scene->output.reaction = scene->output.contact = true;
    kiln_world *world = scene_world(scene);
    kiln_world_get_state(world)->step = 1;
    scene_step(world, 0.01);
    kiln_soup soup;
    ck_assert_int_eq(kiln_world_frame(world, &soup, NULL), KILN_OK);
    static const struct {
        const char *name;
        kiln_where where;
        uint32_t components;
    } rows[] = {{"u", KILN_ON_VERTEX, 3},        {"v", KILN_ON_VERTEX, 3},
                {"reaction", KILN_ON_VERTEX, 3}, {"contact", KILN_ON_VERTEX, 3},
                {"deformation", KILN_ON_TET, 9}, {"stress", KILN_ON_TET, 6},
                {"mises", KILN_ON_TET, 1},       {"pressure", KILN_ON_TET, 1},
                {"energy", KILN_ON_TET, 1},      {"mises", KILN_ON_FACE, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const kiln_soup_field *field = kiln_soup_find_field(&soup, rows[i].where, rows[i].name);
        ck_assert_msg(field && field->components == rows[i].components, "%s", rows[i].name);
    }
    ck_assert_uint_eq(soup.tets.count, 144);
    ck_assert_int_eq(soup.tet_tags.data[0], 1);
    const double *reaction = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "reaction")->data.data;
    double total = 0.0;
    for (size_t i = 0; i < soup.points.count; i++)
        total += reaction[3 * i + 2];
    ck_assert_double_gt(total, 0.0);
    kiln_soup_free(&soup);
    kiln_world_mesh(world)->x[3].y = NAN;
    kiln_error error;
    ck_assert_int_eq(kiln_world_frame(world, &soup, &error), KILN_ERR_STATE);
    ck_assert_ptr_nonnull(strstr(error.message, "not finite"));
    kiln_world_destroy(world);
    end();
}
END_TEST

START_TEST(columns_are_as_documented)
{
    static const char fixed[] =
        "step,time,dt,vertices,tets,q_min,volume,rest_volume,px,py,pz,lx,ly,lz,e_kinetic,e_elastic,"
        "e_contact,newton,linear,t_step,t_assemble,t_factor,t_solve,t_contact,t_plastic,t_size,"
        "t_remesh,t_transfer,t_io,";
    char names[600] = "";
    for (size_t i = 0; kiln_stats_name(i); i++) {
        strcat(names, kiln_stats_name(i));
        strcat(names, ",");
    }
    ck_assert_int_eq(strncmp(names, fixed, strlen(fixed)), 0);
}
END_TEST

START_TEST(memory_may_run_out_anywhere)
{
    uint64_t needed = 0;
    for (uint64_t k = 0;; k += kiln_test_rounds(7, 1)) {
        begin();
        heap.fail_at = 0;
        kiln_world *world = NULL;
        kiln_error error;
        uint64_t start = heap.calls;
        heap.fail_at = k ? start + k : 0;
        kiln_status status = kiln_world_create(scene, &world, &error);
        heap.fail_at = 0;
        if (k == 0)
            needed = heap.calls - start;
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        kiln_world_destroy(status == KILN_OK ? world : NULL);
        end();
        if (k > needed)
            break;
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("world");
    TCase *all = kiln_test_case(suite, "world");
    tcase_add_test(all, bodies_become_one_mesh);
    tcase_add_test(all, giving_up_leaves_the_last_step);
    tcase_add_test(all, regions_by_tag_and_by_selection);
    tcase_add_test(all, selections_are_trees);
    tcase_add_test(all, bad_scenes_are_refused_with_their_place);
    tcase_add_test(all, holds_that_agree_are_no_contradiction);
    tcase_add_test(all, later_holds_catch_and_release);
    tcase_add_test(all, a_later_contradiction_is_an_error_when_it_comes);
    tcase_add_test(all, rotation_and_axes_of_their_own);
    tcase_add_test(all, loads_add_up);
    tcase_add_test(all, static_scenes_find_equilibrium);
    tcase_add_test(all, stiffness_may_be_a_function);
    tcase_add_test(all, viscosity_may_be_a_function);
    tcase_add_test(all, mass_damping_knows_density_that_is_a_function);
    tcase_add_test(all, a_velocity_field_moves_every_vertex);
    tcase_add_test(all, a_step_that_is_far_too_long_is_halved);
    tcase_add_test(all, giving_up_says_why_and_where);
    tcase_add_test(all, giving_up_names_the_vertex_that_is_not_finite);
    tcase_add_test(all, forces_know_the_place);
    tcase_add_test(all, frames_carry_what_was_asked_for);
    tcase_add_test(all, columns_are_as_documented);
    tcase_add_test(all, memory_may_run_out_anywhere);
    return suite;
}

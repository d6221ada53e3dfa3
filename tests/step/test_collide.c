/* Bodies against each other and themselves: after every step the surface is free of crossings by
 * the exact test. */
#include "rig.h"
#include "step/solid_impl.h"
#include "topology/crossing.h"

#define G 9.81

typedef struct piece {
    const char *shape, *settings;
    kiln_vec3 turn_axis;
    double turn; /* rad */
    kiln_vec3 place, velocity;
} piece;

static kiln_mesh *put_together(kiln_context *context, const piece *pieces, size_t count)
{
    kiln_soup all;
    kiln_error error = {0};
    kiln_soup_init(&all, context);
    for (size_t i = 0; i < count; i++) {
        kiln_soup one = kiln_test_soup(context, pieces[i].shape, pieces[i].settings);
        kiln_mat3 turn = pieces[i].turn != 0.0
                             ? kiln_m3_rotation(pieces[i].turn_axis, pieces[i].turn)
                             : kiln_m3_identity();
        for (size_t p = 0; p < one.points.count; p++)
            one.points.data[p] =
                kiln_v3_add(kiln_m3_apply(turn, one.points.data[p]), pieces[i].place);
        rig_check(kiln_soup_append(&all, &one, 0, &error), &error);
        kiln_soup_free(&one);
    }
    kiln_mesh *mesh = NULL;
    kiln_build_options options = kiln_build_default_options();
    rig_check(kiln_mesh_build(context, &all, &options, &mesh, NULL, &error), &error);
    kiln_soup_free(&all);
    return mesh;
}

/* Parts are numbered in the order of the pieces. */
static void set_velocities(rig *r, const piece *pieces)
{
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        uint32_t part = r->mesh->info[r->mesh->vertex[v].tet].part;
        rig_v(r)[v] = pieces[part].velocity;
    }
}

static double mean_surface_edge(const kiln_mesh *mesh)
{
    kiln_contact_surface surface = {0};
    ck_assert_int_eq(kiln_contact_surface_build(&surface, mesh, NULL), KILN_OK);
    double sum = 0.0;
    size_t edges = surface.edges.count / 2;
    for (size_t e = 0; e < edges; e++) {
        const uint32_t *v = &surface.edges.data[2 * e];
        sum += kiln_v3_norm(kiln_v3_sub(mesh->u[v[0]], mesh->u[v[1]]));
    }
    kiln_contact_surface_free(&surface);
    return sum / (double)edges;
}

static rig collide_rig(int threads, const piece *pieces, size_t count, double young)
{
    kiln_context *context = kiln_test_context(threads);
    rig r = rig_of(context, put_together(context, pieces, count),
                   rig_material("stable-neo-hookean", young, 0.3, 1000), KILN_IMPLICIT_EULER);
    r.options.contact.bodies = r.options.contact.self = true;
    r.options.contact.thickness = 0.1 * mean_surface_edge(r.mesh);
    return r;
}

static void add_floor(rig *r, double z, double friction)
{
    kiln_error error = {0};
    kiln_obstacle_shape floor = {
        .kind = KILN_OBSTACLE_PLANE, .point = {0, 0, z}, .normal = {0, 0, 1}};
    rig_check(kiln_obstacle_create(r->context, &floor, friction, &r->obstacles[r->obstacle_count++],
                                   &error),
              &error);
}

static void assert_no_crossing(const rig *r)
{
    kiln_crossing crossing;
    kiln_error error = {0};
    rig_check(kiln_surface_find_crossing(r->mesh, KILN_SPACE_WORLD, &crossing, &error), &error);
    ck_assert_msg(crossing.pairs == 0, "t %g: %zu crossings", r->clock.time, crossing.pairs);
}

/* As the world does: halves the step until it is accepted. Returns the energy that is left. */
static double advance(rig *r, double h)
{
    for (double stop = r->clock.time + h, tried = h; r->clock.time < stop - 1e-12;) {
        rig_try(r, fmin(tried, stop - r->clock.time));
        if (r->report.outcome != KILN_STEP_DONE) {
            tried *= 0.5;
            ck_assert_msg(tried > 1e-7, "t %g: %s, %s", r->clock.time,
                          kiln_step_outcome_text(r->report.outcome),
                          kiln_newton_outcome_text(r->report.newton.outcome));
        }
        assert_no_crossing(r);
    }
    return rig_sums(r).kinetic + r->report.e_elastic + r->report.e_contact + r->report.work_loads;
}

static double lowest(const rig *r, uint32_t part)
{
    double low = INFINITY;
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        if (r->mesh->info[r->mesh->vertex[v].tet].part == part)
            low = fmin(low, r->mesh->x[v].z);
    return low;
}

#define CUBE "lx=1 ly=1 lz=1 nx=2 ny=2 nz=2"

/* Two cubes meet in free flight: momentum of both kinds stays, energy does not grow, they part. */
START_TEST(test_head_on)
{
    const piece pieces[] = {{"box", CUBE, .place = {0, 0, 0}, .velocity = {0.5, 0, 0.5}},
                            {"box", CUBE, {0, 1, 1}, 0.3, {0.1, 0.2, 1.4}, {0, 0, -1}}};
    rig r = collide_rig(1, pieces, 2, 1e5);
    rig_build(&r);
    set_velocities(&r, pieces);
    kiln_motion_sums before = rig_sums(&r);
    double energy = before.kinetic, pressed = 0.0;
    for (int i = 0; i < 60; i++) {
        double now = advance(&r, 0.02);
        ck_assert_double_le(now, energy * (1 + 1e-9));
        energy = now;
        pressed = fmax(pressed, r.report.e_contact);
    }
    kiln_motion_sums after = rig_sums(&r);
    ck_assert_double_gt(pressed, 0.0);
    double scale = before.mass;
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(after.momentum, before.momentum)), 1e-8 * scale);
    ck_assert_double_gt(lowest(&r, 1) - lowest(&r, 0), 1.05); /* bounced off */
    rig_free(&r);
}
END_TEST

/* Three cubes fall on a floor and each other and come to rest one on the other. */
START_TEST(test_stack)
{
    const piece pieces[] = {{"box", CUBE, .place = {0, 0, 0.02}},
                            {"box", CUBE, .place = {0, 0, 1.12}},
                            {"box", CUBE, {0, 0, 1}, 0.4, {0.2, -0.1, 2.25}, {0, 0, 0}}};
    rig r = collide_rig(1, pieces, 3, 1e6);
    r.gravity = kiln_v3(0, 0, -G);
    r.options.contact.friction = 0.3;
    add_floor(&r, 0.0, 0.3);
    rig_build(&r);
    for (int i = 0; i < 40; i++)
        advance(&r, 0.035);
    double thickness = 0.1;
    for (uint32_t part = 0; part < 3; part++) {
        double low = lowest(&r, part);
        ck_assert_double_gt(low, part - 0.12);
        ck_assert_double_lt(low, part + part * thickness + 0.02);
    }
    ck_assert_double_lt(rig_sums(&r).kinetic, 1e-2 * rig_sums(&r).mass);
    rig_free(&r);
}
END_TEST

/* A small fast body never gets through a thin plate, whatever the step. */
START_TEST(test_no_tunnelling)
{
    static const double steps[] = {0.1, 0.02, 0.004};
    const piece pieces[] = {{"box", "lx=1 ly=1 lz=0.05 nx=4 ny=4 nz=1", .place = {0, 0, 0}},
                            {"box",
                             "lx=0.1 ly=0.1 lz=0.1 nx=1 ny=1 nz=1",
                             {1, 2, 3},
                             1,
                             {0.47, 0.46, 0.4},
                             {0, 0, -50}}};
    rig r = collide_rig(1, pieces, 2, 1e6);
    r.options.contact.thickness = 0.005;
    rig_build(&r);
    set_velocities(&r, pieces);
    for (double h = steps[_i]; r.clock.time < 0.012;) {
        rig_try(&r, h);
        h *= r.report.outcome == KILN_STEP_DONE ? 1.0 : 0.5;
        ck_assert_double_gt(h, 1e-6);
        assert_no_crossing(&r);
    }
    /* Above the plate's middle vertices, in the plate's own frame: on the side it came from. */
    kiln_vec3 plate = {0, 0, 0}, body = {0, 0, 0};
    double plates = 0, bodies = 0;
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++) {
        bool is_body = r.mesh->info[r.mesh->vertex[v].tet].part == 1;
        if (is_body) {
            body = kiln_v3_add(body, r.mesh->x[v]);
            bodies++;
        } else if (hypot(r.mesh->u[v].x - 0.5, r.mesh->u[v].y - 0.5) < 0.2) {
            plate = kiln_v3_add(plate, r.mesh->x[v]);
            plates++;
        }
    }
    ck_assert_double_gt(body.z / bodies, plate.z / plates);
    rig_free(&r);
}
END_TEST

/* Bars that cross at right angles, edge first: no vertex of one is ever near a face of the other.
 */
START_TEST(test_edges)
{
    double quarter = KILN_PI / 4;
    const piece pieces[] = {
        {"box", "lx=1 ly=0.1 lz=0.1 nx=4 ny=1 nz=1", {1, 0, 0}, quarter, {-0.55, 0, 0}, {0, 0, 1}},
        {"box",
         "lx=0.1 ly=1 lz=0.1 nx=1 ny=4 nz=1",
         {0, 1, 0},
         quarter,
         {0, -0.43, 0.35},
         {0, 0, -1}}};
    rig r = collide_rig(1, pieces, 2, 1e6);
    r.options.contact.thickness = 0.01;
    rig_build(&r);
    set_velocities(&r, pieces);
    double pressed = 0.0;
    for (int i = 0; i < 30; i++) {
        advance(&r, 0.02);
        pressed = fmax(pressed, r.report.e_contact);
    }
    ck_assert_double_gt(pressed, 0.0);
    rig_free(&r);
}
END_TEST

/* A bar on a floor, held at its left end; the right one is led over in half a turn, and the upper
 * half sinks onto the lower one. */
static void fold(rig *r, kiln_solid *solid, double time, double load)
{
    (void)load;
    kiln_constraints *given = kiln_solid_constraints(solid);
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(0, 1, 0), -fmin(time, 1.0) * KILN_PI);
    kiln_vec3 pivot = kiln_v3(1.0, 0.0, 0.15);
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = r->mesh->u[v];
        if (u.x > 1e-9 && u.x < 2.0 - 1e-9)
            continue;
        given->held[v] = 7;
        given->target[v] =
            u.x < 1.0 ? u : kiln_v3_add(kiln_m3_apply(turn, kiln_v3_sub(u, pivot)), pivot);
    }
}

START_TEST(test_fold)
{
    const piece pieces[] = {{"box", "lx=2 ly=0.1 lz=0.1 nx=20 ny=1 nz=1", .place = {0, 0, 0}}};
    rig r = collide_rig(1, pieces, 1, 5e4);
    r.options.contact.thickness = 0.02;
    r.set = fold;
    r.gravity = kiln_v3(0, 0, -G);
    add_floor(&r, 0.0, 0.0);
    rig_build(&r);
    double pressed = 0.0;
    for (int i = 0; i < 15; i++) {
        advance(&r, 0.09);
        pressed = fmax(pressed, r.report.e_contact);
    }
    ck_assert_double_gt(pressed, 0.0);
    rig_free(&r);
}
END_TEST

/* At rest nothing repels: neither neighbours nor the two sides of what is thinner than the
 * thickness. */
START_TEST(test_rest)
{
    const piece pieces[] = {{"box", "lx=1 ly=1 lz=0.02 nx=5 ny=5 nz=1", .place = {0, 0, 0}}};
    rig r = collide_rig(1, pieces, 1, 1e5);
    r.options.contact.thickness = 0.1;
    rig_build(&r);
    for (int i = 0; i < 3; i++)
        rig_step(&r, 0.1);
    ck_assert_double_eq(r.report.e_contact, 0.0);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(r.mesh->x[v], r.mesh->u[v])), 1e-15);
    rig_free(&r);
}
END_TEST

/* One iteration a step in free flight, as many as it takes in contact. */
START_TEST(test_linearised)
{
    const piece pieces[] = {{"box", CUBE, .place = {0, 0, 0}, .velocity = {0, 0, 0}},
                            {"box", CUBE, .place = {0.3, 0.2, 1.25}, .velocity = {0, 0, -2}}};
    rig r = collide_rig(1, pieces, 2, 1e5);
    r.material = rig_material("corotated", 1e5, 0.3, 1000);
    r.options.linearised = true;
    rig_build(&r);
    set_velocities(&r, pieces);
    rig_step(&r, 0.001);
    ck_assert_int_eq(r.report.newton.iterations, 1);
    kiln_vec3 momentum = rig_sums(&r).momentum;
    double pressed = 0.0;
    for (int i = 0; i < 40; i++) {
        advance(&r, 0.02);
        pressed = fmax(pressed, r.report.e_contact);
    }
    ck_assert_double_gt(pressed, 0.0);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(rig_sums(&r).momentum, momentum)), 1e-3 * 2000);
    rig_free(&r);
}
END_TEST

/* Friction between bodies: a block on a tilted block stays below the angle of friction and slides
 * above it. */
START_TEST(test_friction)
{
    double slope = _i ? 0.4 : 0.2, mu = 0.3;
    const piece pieces[] = {
        {"box", "lx=3 ly=1 lz=0.3 nx=6 ny=2 nz=1", .place = {0, 0, 0}},
        {"box", "lx=.4 ly=.4 lz=.2 nx=1 ny=1 nz=1", .place = {0.4, 0.3, 0.325}}};
    rig r = collide_rig(1, pieces, 2, 1e6);
    r.options.contact.thickness = 0.03;
    r.options.contact.friction = mu;
    r.options.friction_speed = 1e-3;
    double c = 1 / sqrt(1 + slope * slope);
    r.gravity = kiln_v3(G * slope * c, 0, -G * c);
    add_floor(&r, 0.0, 100.0);
    rig_build(&r);
    for (int i = 0; i < 20; i++) {
        advance(&r, 0.02);
        for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
            rig_v(&r)[v] = kiln_v3_scale(rig_v(&r)[v], i < 10 ? 0.2 : 1.0);
    }
    double speed = 0.0, count = 0.0;
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        if (r.mesh->info[r.mesh->vertex[v].tet].part == 1) {
            speed += rig_v(&r)[v].x;
            count++;
        }
    speed /= count;
    double free_fall = 10 * 0.02 * G * c * (slope - mu);
    if (_i) {
        ck_assert_double_gt(speed, 0.7 * free_fall);
        ck_assert_double_lt(speed, 1.3 * free_fall);
    } else {
        ck_assert_double_lt(fabs(speed), 0.01);
    }
    rig_free(&r);
}
END_TEST

/* The most pairs that act at once in *contacts. */
static uint64_t hash_after_fall(const piece *pieces, size_t count, kiln_integrator integrator,
                                int threads, size_t *contacts)
{
    rig r = collide_rig(threads, pieces, count, 1e5);
    r.options.integrator = integrator;
    r.options.contact.walls = true;
    r.options.contact.friction = 0.2;
    r.gravity = kiln_v3(0, 0, -G);
    add_floor(&r, 0.0, 0.5);
    rig_build(&r);
    set_velocities(&r, pieces);
    for (uint64_t i = 0; i < kiln_test_rounds(5, 8); i++) {
        advance(&r, 0.02);
        size_t count_now = r.solid->collide.acting.count;
        *contacts = count_now > *contacts ? count_now : *contacts;
    }
    uint64_t hash = kiln_mesh_hash(r.mesh);
    rig_free(&r);
    return hash;
}

/* A blow at a slant: normal forces are others in each pass until friction has found those that
 * stay, and what is left of the momentum obeys Coulomb. Four passes are off by 7.6, 1.2 and 4 %. */
START_TEST(test_blow_with_friction)
{
    static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK};
    const piece pieces[] = {{"cylinder", "radius=0.05 height=0.06 h=0.03", .place = {0, 0, 5e-4},
                             .velocity = {6, 2, -1}}};
    rig r = collide_rig(1, pieces, 1, 1e6);
    r.options.integrator = integrators[_i];
    r.options.contact.walls = true;
    add_floor(&r, 0.0, 0.8);
    rig_build(&r);
    set_velocities(&r, pieces);
    kiln_vec3 before = rig_sums(&r).momentum;
    for (int i = 0; i < 20; i++)
        advance(&r, 4e-3);
    kiln_vec3 gained = kiln_v3_sub(rig_sums(&r).momentum, before);
    ck_assert_double_gt(gained.z, 0.0);
    ck_assert_double_eq_tol(hypot(gained.x, gained.y) / gained.z, 0.8, 0.01 * 0.8);
    rig_free(&r);
}
END_TEST

/* A pile, and mats that fall onto each other: enough contacts for all threads. */
START_TEST(test_threads)
{
    const char *block = "lx=1 ly=1 lz=1 nx=8 ny=8 nz=2";
    const piece pile[] = {{"box", block, .place = {0, 0, 0.03}, .velocity = {0, 0, -1}},
                          {"box", CUBE, {1, 2, 0}, 0.5, {0.1, 0.2, 1.6}, {0, 0, -3}}};
    const char *mat = "lx=2 ly=2 lz=.1 nx=12 ny=12 nz=1";
    const piece mats[] = {{"box", mat, .place = {0, 0, 0.03}, .velocity = {0, 0, -1}},
                          {"box", mat, {0, 0, 1}, 0.7, {0.7, -0.6, 0.2}, {0, 0, -3}}};
    const piece *pieces = _i % 2 ? mats : pile;
    kiln_integrator integrator = _i / 2 ? KILN_NEWMARK : KILN_IMPLICIT_EULER;
    size_t contacts = 0;
    uint64_t hash = hash_after_fall(pieces, 2, integrator, 1, &contacts);
    ck_assert_uint_gt(contacts, _i % 2 ? 512 : 64);
    for (int threads = 2; threads <= 3; threads++)
        ck_assert_uint_eq(hash, hash_after_fall(pieces, 2, integrator, threads, &contacts));
}
END_TEST

/* What touches from the start cannot be told apart: refused by name, not by a crash. */
START_TEST(test_touching_start)
{
    const piece pieces[] = {{"box", CUBE, .place = {0, 0, 0}}, {"box", CUBE, .place = {0, 0, 1}}};
    rig r = collide_rig(1, pieces, 2, 1e5);
    rig_build(&r);
    rig_try(&r, 0.01);
    ck_assert_int_eq(r.report.outcome, KILN_STEP_CROSSING);
    rig_free(&r);
}
END_TEST

/* Gradient and Hessian of repulsion and friction against differences of value and gradient. */
START_TEST(test_derivatives)
{
    const piece pieces[] = {{"box", "nx=1 ny=1 nz=1", .place = {0, 0, 0}},
                            {"box", "nx=1 ny=1 nz=1", {1, 2, 3}, 0.7, {0.3, 0.6, 1.38}, {0, 0, 0}}};
    rig r = collide_rig(1, pieces, 2, 1.0);
    r.options.contact.thickness = 0.3;
    r.options.contact.friction = 0.5;
    r.options.contact.self = false;
    enum { ROWS = 16 };
    size_t rows = r.mesh->table[KILN_ON_VERTEX].used;
    ck_assert_uint_eq(rows, ROWS);
    double *x = &r.mesh->x[0].x, g[3 * ROWS] = {0}, forward[3 * ROWS], modulus[12], way[3 * ROWS];
    for (int t = 0; t < 12; t++)
        modulus[t] = 1.0;
    for (size_t i = 0; i < 3 * rows; i++)
        way[i] = x[i] + 0.01 * sin(7.0 * (double)i); /* where velocities start from */
    kiln_collide c;
    kiln_error error = {0};
    kiln_constraints given;
    kiln_constraints_init(&given, r.context);
    rig_check(kiln_constraints_reset(&given, rows, &error), &error);
    kiln_collide_init(&c, r.context, &r.options.contact, 1e-3, NULL, 0);
    rig_check(kiln_collide_build(&c, r.mesh, modulus, &error), &error);
    kiln_collide_start start = {.given = &given, .x = x, .origin = way, .tau = 0.1};
    rig_check(kiln_collide_begin(&c, &start, &error), &error);
    ck_assert_uint_gt(kiln_collide_count(&c, x), 0);
    kiln_term *terms[] = {&c.repulsion, &c.friction};
    for (int t = 0; t < 2; t++) {
        memset(g, 0, sizeof g);
        terms[t]->add(&c, x, 1.0, g, NULL);
        double most = 0.0, h = 1e-6;
        for (size_t i = 0; i < 3 * rows; i++)
            most = fmax(most, fabs(g[i]));
        ck_assert_double_gt(most, 0.0);
        for (size_t i = 0; i < 3 * rows; i++) {
            double kept = x[i];
            x[i] = kept + h;
            double up = terms[t]->value(&c, x);
            x[i] = kept - h;
            double down = terms[t]->value(&c, x);
            x[i] = kept;
            ck_assert_double_eq_tol((up - down) / (2 * h), g[i], 1e-6 * most);
        }
    }
    /* No net force, no net torque. */
    kiln_vec3 sum = {0, 0, 0}, torque = {0, 0, 0};
    double all = 0.0;
    memset(forward, 0, sizeof forward);
    c.repulsion.add(&c, x, 1.0, forward, NULL);
    for (size_t v = 0; v < rows; v++) {
        kiln_vec3 f = kiln_v3(forward[3 * v], forward[3 * v + 1], forward[3 * v + 2]);
        sum = kiln_v3_add(sum, f);
        all += kiln_v3_norm(f);
        torque = kiln_v3_add(torque, kiln_v3_cross(r.mesh->x[v], f));
    }
    ck_assert_double_lt(kiln_v3_norm(sum), 1e-14 * all);
    ck_assert_double_lt(kiln_v3_norm(torque), 1e-13 * all);
    kiln_collide_free(&c);
    kiln_constraints_free(&given);
    rig_free(&r);
}
END_TEST

/* H v of what a term adds at x. */
static void multiply_by(kiln_term *term, const double *x, kiln_bsr *H, const double *v, double *out)
{
    double g[3 * 16] = {0};
    kiln_bsr_clear(H);
    term->add(term->self, x, 1.0, g, H);
    ck_assert_int_eq(kiln_bsr_multiply(H, v, out, NULL), KILN_OK);
}

/* What is noted is the Hessian there less the one of the last matrix. */
START_TEST(test_notes)
{
    const piece pieces[] = {{"box", "nx=1 ny=1 nz=1", .place = {0, 0, 0}},
                            {"box", "nx=1 ny=1 nz=1", {1, 2, 3}, 0.7, {0.3, 0.6, 1.38}, {0, 0, 0}}};
    rig r = collide_rig(1, pieces, 2, 1.0);
    r.options.contact.thickness = 0.3;
    r.options.contact.friction = 0.5;
    r.options.contact.self = false;
    enum { SIZE = 3 * 16 };
    double *x = &r.mesh->x[0].x, modulus[12], origin[SIZE], to[SIZE], v[SIZE];
    for (int t = 0; t < 12; t++)
        modulus[t] = 1.0;
    for (int i = 0; i < SIZE; i++) {
        origin[i] = x[i] + 0.01 * sin(7.0 * i);
        to[i] = x[i] + 0.01 * sin(5.0 * i);
        v[i] = cos(3.0 * i);
    }
    kiln_collide c;
    kiln_constraints given;
    kiln_bsr H;
    kiln_bsr_init(&H, r.context);
    kiln_constraints_init(&given, r.context);
    ck_assert_int_eq(kiln_constraints_reset(&given, SIZE / 3, NULL), KILN_OK);
    kiln_collide_init(&c, r.context, &r.options.contact, 1e-3, NULL, 0);
    ck_assert_int_eq(kiln_collide_build(&c, r.mesh, modulus, NULL), KILN_OK);
    kiln_collide_start start = {.given = &given, .x = x, .origin = origin, .tau = 0.1};
    ck_assert_int_eq(kiln_collide_begin(&c, &start, NULL), KILN_OK);
    kiln_cliques cliques = c.repulsion.cliques(&c);
    ck_assert_int_eq(kiln_bsr_set_pattern(&H, SIZE / 3, &cliques, 1, NULL), KILN_OK);
    kiln_term *terms[] = {&c.repulsion, &c.friction};
    for (int t = 0; t < 2; t++) {
        double before[SIZE], after[SIZE], noted[SIZE] = {0}, most = 0.0;
        multiply_by(terms[t], x, &H, v, before);
        terms[t]->note(&c, to);
        terms[t]->add_noted(&c, 2.0, v, noted);
        for (size_t i = 0; i < c.friction_contacts.count; i++)
            c.friction_contacts.data[i].memory = (kiln_slip_memory){0};
        multiply_by(terms[t], x, &H, v, after); /* memory is as it was */
        multiply_by(terms[t], to, &H, v, after);
        for (int i = 0; i < SIZE; i++)
            most = fmax(most, fabs(after[i] - before[i]));
        ck_assert_double_gt(most, 0.0);
        for (int i = 0; i < SIZE; i++)
            ck_assert_double_eq_tol(noted[i], 2.0 * (after[i] - before[i]), 1e-10 * most);
    }
    kiln_collide_free(&c);
    kiln_constraints_free(&given);
    kiln_bsr_free(&H);
    rig_free(&r);
}
END_TEST

static void shift(double *dx, const rig *r, uint32_t part, kiln_vec3 by)
{
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        if (r->mesh->info[r->mesh->vertex[v].tet].part == part)
            ((kiln_vec3 *)(void *)dx)[v] = by;
}

/* What is looked at depends on what is near the way, not on how long it is: another solve from the
 * same place does not search again, bodies that fly together bring no pairs however fast, one that
 * flies at another is stopped before it, and values are right wherever they are asked for. */
START_TEST(test_pairs_follow_the_way)
{
    const piece pieces[] = {{"box", CUBE, .place = {0, 0, 0}},
                            {"box", CUBE, {0, 0, 1}, 0.4, {0.2, -0.1, 1.3}, {0, 0, 0}}};
    rig r = collide_rig(1, pieces, 2, 1.0);
    r.options.contact.thickness = 0.05;
    enum { ROWS = 54 };
    double *x = &r.mesh->x[0].x, dx[3 * ROWS] = {0}, modulus[512];
    ck_assert_uint_eq(r.mesh->table[KILN_ON_VERTEX].used, ROWS);
    for (int t = 0; t < 512; t++)
        modulus[t] = 1.0;
    kiln_collide c;
    kiln_error error = {0};
    kiln_constraints given;
    kiln_constraints_init(&given, r.context);
    rig_check(kiln_constraints_reset(&given, ROWS, &error), &error);
    kiln_collide_init(&c, r.context, &r.options.contact, 1e-3, NULL, 0);
    rig_check(kiln_collide_build(&c, r.mesh, modulus, &error), &error);
    kiln_collide_start start = {.given = &given, .x = x, .origin = x, .tau = 0.1};
    rig_check(kiln_collide_begin(&c, &start, &error), &error);
    size_t pairs = c.found.pairs.count;
    for (int i = 0; i < 5; i++)
        rig_check(kiln_collide_renew(&c, x, &error), &error);
    ck_assert_uint_eq(c.found.pairs.count, pairs);

    shift(dx, &r, 0, kiln_v3(300, 200, 100));
    shift(dx, &r, 1, kiln_v3(300, 200, 100));
    ck_assert_double_eq(c.repulsion.max_step(&c, x, dx), 1.0);
    ck_assert_uint_le(c.found.pairs.count, pairs + 20);

    shift(dx, &r, 0, kiln_v3(0, 0, 0));
    shift(dx, &r, 1, kiln_v3(0, 0, -300)); /* the gap is 0.3 */
    double step = c.repulsion.max_step(&c, x, dx);
    ck_assert_double_lt(step, 0.3 / 300);
    ck_assert_double_gt(step, 0.8 * 0.3 / 300);
    for (size_t i = 0; i < 3 * ROWS; i++)
        x[i] += step * dx[i];
    double found = c.repulsion.value(&c, x);
    rig_check(kiln_collide_begin(&c, &start, &error), &error);
    ck_assert_double_gt(found, 0.0);
    ck_assert_double_eq_tol(c.repulsion.value(&c, x), found, 1e-12 * found);
    ck_assert_uint_le(c.found.pairs.count, 20 * kiln_collide_count(&c, x));

    kiln_context_abandon(r.context); /* a long way is not gone to its end then */
    shift(dx, &r, 1, kiln_v3(0, 0, 1e6));
    ck_assert_double_eq(c.repulsion.max_step(&c, x, dx), 0.0);
    ck_assert_int_eq(kiln_collide_failure(&c, &error), KILN_ERR_STATE);
    kiln_collide_free(&c);
    kiln_constraints_free(&given);
    rig_free(&r);
}
END_TEST

/* Two cubes head on, without friction: what they have afterwards is no more than before. (With
 * contact forces by Newmark's own rule 1.4 to 6 times as much.) */
START_TEST(test_energy_is_not_gained)
{
    static const kiln_integrator integrators[] = {KILN_NEWMARK, KILN_BDF2, KILN_IMPLICIT_EULER};
    static const double steps[] = {0.001, 0.004, 0.016};
    const piece pieces[] = {{"box", CUBE, .place = {0, 0, 0}, .velocity = {0, 0, 2}},
                            {"box", CUBE, {1, 0, 0}, 0.4, {0.2, -0.1, 1.6}, {0, 0, -2}}};
    rig r = collide_rig(1, pieces, 2, 1e5);
    r.options.integrator = integrators[_i % 3];
    double h = steps[_i / 3], begin, most = 0.0;
    rig_build(&r);
    set_velocities(&r, pieces);
    begin = rig_sums(&r).kinetic;
    for (double t = 0.0; t < 0.6; t += h) {
        rig_step(&r, h);
        most = fmax(most, rig_sums(&r).kinetic + r.report.e_elastic + r.report.e_contact);
    }
    ck_assert_double_le(most, 1.001 * begin);
    rig_free(&r);
}
END_TEST

/* Whatever allocation fails: an error or a rejected step, nothing lost, nothing written. */
START_TEST(test_without_memory)
{
    const piece pieces[] = {{"box", "nx=1 ny=1 nz=1", .place = {0, 0, 0}},
                            {"box", "nx=1 ny=1 nz=1", .place = {0.1, 0.2, 1.05}}};
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    rig r = {.context = context, .mesh = put_together(context, pieces, 2)};
    r.material = rig_material("stable-neo-hookean", 1e5, 0.3, 1000);
    r.options = kiln_solid_default_options();
    r.options.contact = (kiln_contact_options){
        .bodies = true, .self = true, .stiffness = 1.0, .friction = 0.3, .thickness = 0.1};
    bool failed = true;
    for (uint64_t more = 1; failed; more += 1 + more / 6) {
        kiln_error error = {0};
        kiln_solid_clock clock = {0};
        kiln_step_report report;
        kiln_solid *solid = NULL;
        heap.fail_at = heap.calls + more;
        kiln_status status =
            kiln_solid_create(r.mesh, &r.options, &r.material, 1, NULL, 0, &solid, &error);
        if (status == KILN_OK)
            status = kiln_solid_step(solid, NULL, 0.01, &clock, &report, &error);
        failed = heap.calls >= heap.fail_at;
        heap.fail_at = 0;
        if (!failed)
            ck_assert_int_eq(status, KILN_OK);
        kiln_solid_destroy(solid);
    }
    rig_free(&r);
    ck_assert_int_eq(heap.live_bytes, 0);
}
END_TEST

START_TEST(test_thickness_is_asked_for)
{
    const piece pieces[] = {{"box", CUBE, .place = {0, 0, 0}}};
    rig r = collide_rig(1, pieces, 1, 1e5);
    r.options.contact.thickness = 0.0;
    kiln_error error = {0};
    ck_assert_int_eq(
        kiln_solid_create(r.mesh, &r.options, &r.material, 1, NULL, 0, &r.solid, &error),
        KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "positive"));
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("collide");
    TCase *tc = kiln_test_case(suite, "collide");
    tcase_add_test(tc, test_head_on);
    tcase_add_test(tc, test_stack);
    tcase_add_loop_test(tc, test_no_tunnelling, 0, 3);
    tcase_add_test(tc, test_edges);
    tcase_add_test(tc, test_fold);
    tcase_add_test(tc, test_rest);
    tcase_add_test(tc, test_linearised);
    tcase_add_loop_test(tc, test_friction, 0, 2);
    tcase_add_loop_test(tc, test_blow_with_friction, 0, 3);
    tcase_add_loop_test(tc, test_threads, 0, 4);
    tcase_add_test(tc, test_touching_start);
    tcase_add_test(tc, test_derivatives);
    tcase_add_test(tc, test_notes);
    tcase_add_test(tc, test_pairs_follow_the_way);
    tcase_add_loop_test(tc, test_energy_is_not_gained, 0, 9);
    tcase_add_test(tc, test_thickness_is_asked_for);
    tcase_add_test(tc, test_without_memory);
    suite_add_tcase(suite, tc);
    return suite;
}

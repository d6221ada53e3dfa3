/* A change of the mesh in flight leaves every body its momentum, angular momentum, centre of mass
 * and inertia, and no more energy than it had. What the change does is told from what the step does
 * by a twin that makes the same step and keeps its mesh. */
#include "scenes.h"
#include "sim/world_impl.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BODIES = 4 };

static kiln_context *context;
static kiln_test_heap heap;
static kiln_scene scene_here, still, *const scene = &scene_here;

static void begin(int threads)
{
    heap = (kiln_test_heap){0};
    context = kiln_test_context_on(&heap, threads);
    kiln_scene_init(scene, context);
    scene->duration = 2.0;
    scene->pace = (kiln_pace_limits){.dt = 0.005, .dt_min = 1e-6, .patience = 4};
}

static void end(void)
{
    kiln_scene_free(scene);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}

/* Of matter spread evenly in each tet, with velocities linear there. */
typedef struct sums {
    long double mass, energy, first[3], momentum[3], angular[3], inertia;
} sums;

static void cross(const long double a[3], const long double b[3], long double factor,
                  long double out[3])
{
    for (int c = 0; c < 3; c++)
        out[c] += factor * (a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3]);
}

static void add_tet(const kiln_mesh *mesh, uint32_t t, kiln_vec3 about, sums *s)
{
    const kiln_field *v = kiln_mesh_field(mesh, KILN_ON_VERTEX, "v");
    long double m = kiln_field_value(kiln_mesh_field(mesh, KILN_ON_TET, "mass"), t, 0);
    long double at[5][3] = {{0}}, speed[5][3] = {{0}}; /* the last: their sum */
    for (int k = 0; k < 4; k++) {
        uint32_t vertex = mesh->tet[t].v[k];
        at[k][0] = (long double)mesh->x[vertex].x - about.x;
        at[k][1] = (long double)mesh->x[vertex].y - about.y;
        at[k][2] = (long double)mesh->x[vertex].z - about.z;
        for (int c = 0; c < 3; c++) {
            speed[k][c] = kiln_field_value(v, vertex, (uint32_t)c);
            at[4][c] += at[k][c];
            speed[4][c] += speed[k][c];
        }
    }
    s->mass += m;
    for (int k = 0; k < 5; k++) {
        cross(at[k], speed[k], m / 20, s->angular);
        for (int c = 0; c < 3; c++) {
            s->energy += m / 40 * speed[k][c] * speed[k][c];
            s->inertia += m / 20 * at[k][c] * at[k][c];
        }
    }
    for (int c = 0; c < 3; c++) {
        s->first[c] += m / 4 * at[4][c];
        s->momentum[c] += m / 4 * speed[4][c];
    }
}

static void sum_up(kiln_world *world, const kiln_vec3 *about, bool apart, sums out[MOST_BODIES])
{
    const kiln_mesh *mesh = kiln_world_mesh(world);
    memset(out, 0, MOST_BODIES * sizeof *out);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        uint32_t body = apart ? mesh->parts.data[mesh->info[t].part].body : 0;
        ck_assert_uint_lt(body, MOST_BODIES);
        add_tet(mesh, t, about[body], &out[body]);
    }
}

static double off(const long double a[3], const long double b[3])
{
    return (double)sqrtl((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                         (a[2] - b[2]) * (a[2] - b[2]));
}

static double size_of(const long double a[3])
{
    return off(a, (const long double[3]){0});
}

typedef struct bounds {
    double exact;  /* P, L and the centre, relative */
    double energy; /* least part of the kinetic energy that stays */
} bounds;

/* About the old centre, and P against the speed of what moves. */
static void compare(const sums *was, const sums *is, bounds b)
{
    double size = sqrt((double)(was->inertia / was->mass));
    double speed = sqrt(2.0 * (double)(was->energy / was->mass)), mass = (double)was->mass;
    ck_assert_double_eq_tol((double)is->mass, mass, 1e-12 * mass);
    ck_assert_double_le(off(is->momentum, was->momentum), b.exact * mass * speed);
    ck_assert_double_le(off(is->angular, was->angular), b.exact * mass * size * speed);
    ck_assert_double_le(off(is->first, was->first), b.exact * mass * size);
    ck_assert_double_eq_tol((double)is->inertia, (double)was->inertia,
                            1e-10 * (double)was->inertia);
    ck_assert_double_le((double)(is->energy / was->energy), 1.0 + 1e-12);
    ck_assert_double_ge((double)(is->energy / was->energy), b.energy);
}

static void centres(kiln_world *world, bool apart, kiln_vec3 at[MOST_BODIES])
{
    sums s[MOST_BODIES];
    kiln_vec3 near[MOST_BODIES];
    for (int i = 0; i < MOST_BODIES; i++)
        near[i] = kiln_world_mesh(world)->x[0];
    sum_up(world, near, apart, s);
    for (int i = 0; i < MOST_BODIES; i++) {
        at[i] = near[i];
        if (s[i].mass > 0)
            at[i] = kiln_v3_add(near[i], kiln_v3((double)(s[i].first[0] / s[i].mass),
                                                 (double)(s[i].first[1] / s[i].mass),
                                                 (double)(s[i].first[2] / s[i].mass)));
    }
}

/* What the rows of statistics say is the same, by the mass that the step uses. */
static void compare_rows(const kiln_stats *was, const kiln_stats *is, double exact)
{
    const long double p[2][3] = {{was->px, was->py, was->pz}, {is->px, is->py, is->pz}};
    const long double l[2][3] = {{was->lx, was->ly, was->lz}, {is->lx, is->ly, is->lz}};
    ck_assert_double_gt(size_of(l[0]), 0.0);
    ck_assert_double_le(off(p[1], p[0]), exact * size_of(p[0]));
    ck_assert_double_le(off(l[1], l[0]), exact * size_of(l[0]));
    ck_assert_double_le(is->e_kinetic, was->e_kinetic * (1.0 + 1e-12));
}

/* Steps both until one's mesh changes, and compares. Returns the step. */
static int compare_change(kiln_world *world, kiln_world *twin, int most, bool apart, bounds b)
{
    kiln_vec3 at[MOST_BODIES];
    sums was[MOST_BODIES], is[MOST_BODIES];
    double dt = scene->pace.dt;
    uint32_t tets = kiln_world_mesh(twin)->table[KILN_ON_TET].live;
    /* Every world looks at its mesh in the first step. */
    kiln_world_get_state(world)->step = kiln_world_get_state(twin)->step = 1;
    for (int step = 1; step <= most; step++) {
        kiln_stats stats = scene_step(world, step * dt);
        kiln_stats kept = scene_step(twin, step * dt);
        ck_assert(!(kept.changed > 0.0) && kept.tets == tets);
        if (!(stats.changed > 0.0))
            continue;
        centres(twin, apart, at);
        sum_up(twin, at, apart, was);
        sum_up(world, at, apart, is);
        for (int i = 0; i < MOST_BODIES; i++)
            if (was[i].mass > 0)
                compare(&was[i], &is[i], b);
        compare_rows(&kept, &stats, b.exact);
        return step;
    }
    ck_abort_msg("the mesh has not changed");
    return 0;
}

/* How a scene is laid out: the same but for rounding. */
typedef struct layout {
    double scale, away; /* of lengths; how far, in sizes */
    kiln_vec3 axis;     /* it is turned about */
    double exact;
} layout;

static const layout layouts[] = {{1, 0, {0, 0, 1}, 1e-10},
                                 {1, 0, {0.6, 0.64, 0.48}, 1e-10},
                                 {1e-3, 10, {0, 0.6, 0.8}, 1e-10},
                                 {1e3, 10, {1, 0, 0}, 1e-10},
                                 /* places are known to 1e-10 sizes there */
                                 {1, 1e6, {0.6, 0.64, 0.48}, 1e-8}};

static void place(kiln_scene_body *body, const layout *l, kiln_vec3 offset, kiln_vec3 spin,
                  kiln_vec3 velocity)
{
    kiln_mat3 turn = kiln_m3_rotation(l->axis, 1.1);
    for (size_t i = 0; i < body->mesh.points.count; i++) {
        kiln_vec3 *p = &body->mesh.points.data[i];
        *p = kiln_m3_apply(turn, kiln_v3_scale(kiln_v3_add(*p, offset), l->scale));
        *p = kiln_v3_add(*p, kiln_v3_scale(kiln_v3(1, -1, 0.5), l->away * l->scale));
    }
    body->spin = kiln_m3_apply(turn, spin);
    velocity = kiln_m3_apply(turn, kiln_v3_scale(velocity, l->scale));
    body->velocity = kiln_quantity_vector(velocity);
}

static void rubber(const layout *l)
{
    scene_material(scene, "neo-hookean", 1e5 * l->scale * l->scale, 0.3, 1000);
}

static void dough(const layout *l)
{
    double unit = l->scale * l->scale;
    scene_material(scene, "corotated", 2e4 * unit, 0.3, 1000);
    scene->materials.data[scene->materials.count - 1].base.plastic =
        (kiln_plastic){.flows = true, .yield = 300 * unit, .rate = 50};
}

static void free_worlds(kiln_world *a, kiln_world *b)
{
    kiln_world_destroy(a);
    kiln_world_destroy(b);
}

/* Two blocks that spin and fly apart, refined from 162 tets each to more than 1000 in one step. */
static void spinning_blocks(const layout *l, const char *mesh, double size)
{
    kiln_vec3 spin = {2, -3, 8};
    rubber(l);
    place(scene_body(scene, "box", mesh), l, kiln_v3(0, 0, 0), spin, kiln_v3(3, 2, -1));
    place(scene_body(scene, "box", mesh), l, kiln_v3(2, 1, 0), kiln_v3(1, 4, 0), kiln_v3(-1, 0, 2));
    scene->remesh.method = KILN_REMESH_LOCAL;
    scene->remesh.size = size * l->scale;
    scene->remesh.size_max = scene->remesh.size;
}

/* A world looks at its scene as it goes: the twin has one of its own, which shares its lists. */
static kiln_world *twin_that_stays(void)
{
    still = *scene;
    still.remesh.every = 1000000;
    still.remesh.condition = still.remesh.condition_change = 1e9;
    still.remesh.merge = 0.0;
    return scene_world(&still);
}

START_TEST(a_block_refined_in_flight)
{
    static const kiln_integrator integrators[] = {KILN_NEWMARK, KILN_BDF2, KILN_IMPLICIT_EULER};
    const layout *l = &layouts[_i % 5];
    begin(1 + _i % 2);
    spinning_blocks(l, "lx=0.6 ly=0.6 lz=0.4 nx=3 ny=3 nz=3", 0.1);
    scene->solid.integrator = integrators[_i / 5];
    scene->remesh.every = 8;
    kiln_scene_obstacle floor = {.shape = {.kind = KILN_OBSTACLE_PLANE,
                                           .point = {0, 0, -1e6 * l->scale},
                                           .normal = {0, 0, 1}},
                                 .motion = {.obstacle = -1}}; /* far below: nobody gets there */
    SCENE_PUSH(obstacles, floor);
    kiln_world *world = scene_world(scene), *twin = twin_that_stays();
    ck_assert_uint_eq(kiln_world_mesh(world)->table[KILN_ON_TET].live, 2 * 162);
    compare_change(world, twin, 9, true, (bounds){l->exact, 0.97});
    ck_assert_uint_gt(kiln_world_mesh(world)->table[KILN_ON_TET].live, 2 * 800);
    free_worlds(world, twin);
    end();
}
END_TEST

/* And the other way; a coarse mesh cannot swing as the fine one did. */
START_TEST(a_block_coarsened_in_flight)
{
    const layout *l = &layouts[_i];
    begin(2);
    spinning_blocks(l, "lx=0.6 ly=0.6 lz=0.4 nx=8 ny=8 nz=5", 0.2);
    scene->remesh.every = 8;
    kiln_world *world = scene_world(scene), *twin = twin_that_stays();
    size_t tets = kiln_world_mesh(world)->table[KILN_ON_TET].live;
    compare_change(world, twin, 9, true, (bounds){l->exact, 0.99});
    ck_assert_uint_lt(kiln_world_mesh(world)->table[KILN_ON_TET].live, tets / 2);
    free_worlds(world, twin);
    end();
}
END_TEST

/* The step after begins with what was carried over, places and velocities of the step before
 * included: it loses nothing. */
START_TEST(the_next_step_goes_on)
{
    static const kiln_integrator integrators[] = {KILN_NEWMARK, KILN_BDF2, KILN_IMPLICIT_EULER};
    begin(1);
    spinning_blocks(&layouts[0], "lx=0.6 ly=0.6 lz=0.4 nx=3 ny=3 nz=3", 0.1);
    scene->solid.integrator = integrators[_i];
    scene->remesh.every = 8;
    kiln_world *world = scene_world(scene), *twin = twin_that_stays();
    int step = compare_change(world, twin, 9, true, (bounds){1e-10, 0.97});
    kiln_vec3 origin[MOST_BODIES] = {{0}};
    sums before[MOST_BODIES], own[MOST_BODIES], other[MOST_BODIES];
    sum_up(twin, origin, true, before);
    scene_step(world, (step + 1) * scene->pace.dt);
    scene_step(twin, (step + 1) * scene->pace.dt);
    sum_up(world, origin, true, own);
    sum_up(twin, origin, true, other);
    for (int i = 0; i < 2; i++) {
        double scale = size_of(before[i].angular);
        ck_assert_double_le(off(own[i].momentum, before[i].momentum),
                            1e-10 * size_of(before[i].momentum));
        ck_assert_double_le(off(own[i].angular, before[i].angular), 1e-10 * scale);
        double mass = (double)before[i].mass, size = sqrt((double)before[i].inertia / mass);
        ck_assert_double_le(off(own[i].first, other[i].first), 1e-6 * mass * size);
    }
    free_worlds(world, twin);
    end();
}
END_TEST

/* A bar that bends, yields and tumbles. */
static kiln_status bending(void *self, const kiln_circumstances *at, double *out, int components,
                           kiln_error *error)
{
    (void)components, (void)error;
    const layout *l = self;
    kiln_vec3 u = kiln_v3_sub(at->material, kiln_v3_scale(kiln_v3(1, -1, 0.5), l->away * l->scale));
    out[0] = 0.3 * l->scale;
    out[1] = 0.2 * l->scale;
    out[2] = 2.0 * l->scale * sin(6.0 * u.x / l->scale);
    return KILN_OK;
}

START_TEST(a_bar_that_flows_remeshed_whole)
{
    layout l = layouts[_i];
    begin(1 + _i % 2);
    dough(&l);
    kiln_scene_body *bar = scene_body(scene, "box", "lx=1.2 ly=0.3 lz=0.3 nx=12 ny=3 nz=3");
    place(bar, &l, kiln_v3(0, 0, 0), kiln_v3(0, 1, 6), kiln_v3(0, 0, 0));
    bar->velocity = (kiln_quantity){.evaluate = bending, .self = &l};
    scene->solid.integrator = KILN_NEWMARK;
    scene->pace.dt = 0.01;
    scene->remesh.method = KILN_REMESH_GLOBAL;
    scene->remesh.quality = 1e-6; /* no repairs in between */
    scene->remesh.condition = 3;
    scene->remesh.condition_change = 1.5;
    kiln_world *world = scene_world(scene), *twin = twin_that_stays();
    compare_change(world, twin, 20, true, (bounds){l.exact, 0.97});
    ck_assert_uint_eq(kiln_world_remeshes(world), 1);
    free_worlds(world, twin);
    end();
}
END_TEST

/* Two balls that meet off their centres. What they lose where they become one is heat. */
START_TEST(balls_that_merge)
{
    const layout *l = &layouts[_i];
    begin(1 + _i % 2);
    dough(l);
    const char *ball = "radius=0.2 h=0.09";
    place(scene_body(scene, "ball", ball), l, kiln_v3(0, 0, 0), kiln_v3(0, 0, 3),
          kiln_v3(1, 0.5, 0));
    place(scene_body(scene, "ball", ball), l, kiln_v3(0.397, 0.07, 0), kiln_v3(0, 0, 0),
          kiln_v3(-1, 0, 0.2));
    scene->solid.integrator = KILN_NEWMARK;
    scene->pace.dt = 0.01;
    scene->remesh.method = KILN_REMESH_GLOBAL;
    scene->remesh.quality = 1e-6;
    kiln_world *world = scene_world(scene), *twin = twin_that_stays();
    compare_change(world, twin, 40, false, (bounds){l->exact, 0.95});
    ck_assert_uint_eq(kiln_world_mesh(world)->parts.count, 1);
    free_worlds(world, twin);
    end();
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("momentum");
    TCase *cases = kiln_test_case(suite, "change");
    tcase_add_loop_test(cases, a_block_refined_in_flight, 0, 15);
    tcase_add_loop_test(cases, a_block_coarsened_in_flight, 0, 5);
    tcase_add_loop_test(cases, the_next_step_goes_on, 0, 3);
    tcase_add_loop_test(cases, a_bar_that_flows_remeshed_whole, 0, 5);
    tcase_add_loop_test(cases, balls_that_merge, 0, 5);
    return suite;
}

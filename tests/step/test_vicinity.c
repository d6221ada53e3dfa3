/* Contact round some vertices: it is that of the step, its forces are the slopes of its energies,
 * and remeshing among surfaces gains what it says and crosses nothing. */
#include "energy_rig.h"

#include "step/solid_impl.h"
#include "topology/crossing.h"

enum { MOST = 4096 };

/* A block that has fallen on another, turned by some degrees, which lies on a floor or on a ball.
 */
static kiln_mesh *two_blocks(kiln_context *context)
{
    kiln_soup all;
    kiln_error error = {0};
    kiln_mesh *mesh = NULL;
    kiln_build_options options = kiln_build_default_options();
    kiln_soup_init(&all, context);
    for (int i = 0; i < 2; i++) {
        kiln_soup one = kiln_test_soup(context, "box", "lx=.4 ly=.4 lz=.2 nx=3 ny=3 nz=2");
        kiln_mat3 turn = kiln_m3_rotation(kiln_v3(0, 0, 1), 0.4 * i);
        for (size_t p = 0; p < one.points.count; p++)
            one.points.data[p] = kiln_v3_add(kiln_m3_apply(turn, one.points.data[p]),
                                             kiln_v3(0.05 * i, 0, 0.004 + 0.204 * i));
        rig_check(kiln_soup_append(&all, &one, 0, &error), &error);
        kiln_soup_free(&one);
    }
    rig_check(kiln_mesh_build(context, &all, &options, &mesh, NULL, &error), &error);
    kiln_soup_free(&all);
    return mesh;
}

static kiln_obstacle_shape ground_of(int number)
{
    static const kiln_obstacle_shape grounds[] = {
        {.kind = KILN_OBSTACLE_PLANE, .point = {0, 0, 0}, .normal = {0, 0, 1}},
        {.kind = KILN_OBSTACLE_SPHERE, .point = {0.2, 0.2, -0.5}, .radius = 0.5}};
    return grounds[number];
}

static rig make_rig(kiln_mesh *mesh, kiln_integrator integrator, kiln_obstacle_shape shape,
                    double thickness, double friction)
{
    kiln_context *context = mesh->context;
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e5, 0.3, 1000), integrator);
    kiln_error error = {0};
    add_fields(r.mesh);
    r.options.mass = KILN_MASS_CONSISTENT;
    r.options.contact = (kiln_contact_options){.bodies = true,
                                               .self = true,
                                               .walls = true,
                                               .thickness = thickness,
                                               .stiffness = 1.0,
                                               .friction = friction,
                                               .material_tells = true};
    r.gravity = kiln_v3(0, 0, -9.81);
    rig_check(
        kiln_obstacle_create(context, &shape, friction, &r.obstacles[r.obstacle_count++], &error),
        &error);
    rig_build(&r);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0.05, 0, -0.5);
    return r;
}

static rig make_blocks(kiln_integrator integrator, int ground, double friction)
{
    return make_rig(two_blocks(kiln_test_context(1)), integrator, ground_of(ground), 0.01,
                    friction);
}

/* Some steps, and one that is tried: its objective, with contact. */
static kiln_local_objective try_blocks(rig *r, double h, kiln_vicinity_surface *surface)
{
    kiln_driver driver = rig_driver(r);
    const kiln_vec3 *places;
    kiln_error error = {0};
    kiln_local_objective o;
    for (int i = 0; i < 12; i++)
        rig_step(r, h);
    rig_check(kiln_solid_try(r->solid, &driver, h, &r->clock, &r->report, &places, &error), &error);
    ck_assert_int_eq(r->report.outcome, KILN_STEP_DONE);
    memcpy(end_of(r->mesh), places, r->mesh->table[KILN_ON_VERTEX].used * sizeof *places);
    kiln_solid_objective(r->solid, h, &r->clock, &o);
    ck_assert(kiln_solid_surface(r->solid, h, &o, surface));
    o.surface = surface;
    kiln_objective_look(&o);
    rig_check(kiln_vicinity_surface_begin(surface, &o, &error), &error);
    return o;
}

static size_t list_surface(const kiln_mesh *mesh, uint32_t *vertices)
{
    size_t count = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_SURFACE)
            vertices[count++] = v;
    return count;
}

/* J, all of contact, without friction. */
static double all_contact(const kiln_local_objective *o)
{
    uint32_t vertices[MOST];
    kiln_vicinity near;
    kiln_vicinity_init(&near, o->surface->context);
    size_t count = list_surface(o->mesh, vertices);
    ck_assert_int_eq(kiln_vicinity_gather(&near, o->surface, o, vertices, count, NULL, 0.0, NULL),
                     KILN_OK);
    double sum = kiln_vicinity_sum(&near, o->surface, o);
    kiln_vicinity_free(&near);
    return sum;
}

START_TEST(all_of_it_is_the_contact_of_the_step)
{
    static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2};
    kiln_vicinity_surface surface;
    rig r = make_blocks(integrators[_i % 2], _i / 2, 0.0);
    kiln_local_objective o = try_blocks(&r, 0.0025, &surface);
    ck_assert_double_gt(r.report.e_contact, 0.0);
    ck_assert_double_eq_tol(all_contact(&o), r.report.e_contact, 1e-9 * r.report.e_contact);
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

/* Vertices that a trial has made are not told of: all that is said of them is found in gathering.
 */
START_TEST(what_may_move_need_not_be_told)
{
    kiln_vicinity_surface surface;
    rig r = make_blocks(KILN_IMPLICIT_EULER, 0, 0.0);
    kiln_local_objective o = try_blocks(&r, 0.0025, &surface);
    double sum = all_contact(&o);
    size_t told = surface.area.count;
    for (size_t i = 0; i < told; i++)
        surface.area.data[i] = surface.modulus.data[i] = NAN;
    surface.area.count = 0;
    ck_assert_double_eq_tol(all_contact(&o), sum, 1e-12 * sum);
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

/* Faces are where their vertices are gathered: through what is near, or before it. */
START_TEST(faces_that_cross_are_seen)
{
    kiln_vicinity_surface surface;
    rig r = make_blocks(KILN_IMPLICIT_EULER, 0, 0.0);
    kiln_local_objective o = try_blocks(&r, 0.0025, &surface);
    kiln_vicinity near;
    uint32_t vertices[MOST];
    kiln_vicinity_init(&near, r.context);
    size_t count = list_surface(r.mesh, vertices);
    for (size_t i = 0; i < count; i++)
        for (int down = 0; down < 2; down++) {
            kiln_vec3 x = o.end[vertices[i]];
            bool low = x.z < 0.1;
            x.z -= down ? 0.15 : 0.0; /* those into the floor */
            rig_check(kiln_vicinity_gather(&near, &surface, &o, &vertices[i], 1, &x, 0.0, NULL),
                      NULL);
            bool clear = kiln_vicinity_is_clear(&near, &surface, &o);
            ck_assert(down || clear);
            ck_assert(!down || !low || !clear);
            ck_assert(down || kiln_vicinity_nearest(&near) > 0.0);
        }
    kiln_vicinity_free(&near);
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

typedef struct slopes {
    const kiln_vicinity *near;
    kiln_vec3 g[MOST];
} slopes;

static void add_slope(void *user, const kiln_vicinity_push *push)
{
    slopes *s = user;
    for (int k = 0; k < 4; k++)
        if (push->row[k] < s->near->free)
            s->g[push->row[k]] =
                kiln_v3_madd(s->g[push->row[k]], push->slope * push->weight[k], push->normal);
}

static double value_at(kiln_vicinity *near, const kiln_local_objective *o, const kiln_vec3 *x)
{
    double value[MOST], sum = 0.0;
    ck_assert_uint_le(kiln_vicinity_count(near), MOST);
    kiln_vicinity_values(near, o->surface, o, x, value);
    for (size_t i = 0; i < kiln_vicinity_count(near); i++)
        sum += value[i];
    return sum;
}

/* All integrators, with and without friction. */
START_TEST(forces_are_slopes)
{
    static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_BDF2, KILN_NEWMARK};
    kiln_vicinity_surface surface;
    rig r = make_blocks(integrators[_i % 3], _i / 3 % 2, _i < 6 ? 0.0 : 0.3);
    kiln_local_objective o = try_blocks(&r, 0.0025, &surface);
    uint32_t vertices[MOST];
    kiln_vec3 x[MOST];
    static slopes s;
    kiln_vicinity near;
    kiln_vicinity_init(&near, r.context);
    size_t all = list_surface(r.mesh, vertices), count = 0;
    for (size_t i = 0; i < all; i += 2)
        vertices[count++] = vertices[i];
    ck_assert_int_eq(kiln_vicinity_gather(&near, &surface, &o, vertices, count, NULL, 1e-3, NULL),
                     KILN_OK);
    s = (slopes){.near = &near};
    for (size_t i = 0; i < count; i++)
        x[i] = kiln_v3_add(o.end[vertices[i]],
                           kiln_v3(1e-5 * sin((double)i), 1e-5 * cos((double)i), 2e-5));
    kiln_vicinity_visit(&near, &surface, &o, x, add_slope, &s);
    double largest = 0.0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, kiln_v3_norm(s.g[i]));
    ck_assert_double_gt(largest, 0.1);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            const double e = 1e-7;
            double *at = &x[i].x + k, here = *at;
            *at = here + e;
            double ahead = value_at(&near, &o, x);
            *at = here - e;
            double back = value_at(&near, &o, x);
            *at = here;
            ck_assert_double_eq_tol((ahead - back) / (2.0 * e), (&s.g[i].x)[k], 1e-4 * largest);
        }
    kiln_vicinity_free(&near);
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

/* J, what rubs with the rows at x. */
static double rubbed_at(kiln_vicinity *near, const kiln_local_objective *o, const kiln_vec3 *x)
{
    double value[MOST], sum = 0.0;
    ck_assert_uint_le(kiln_vicinity_count(near), MOST);
    kiln_vicinity_values(near, o->surface, o, x, value);
    for (size_t i = near->pairs.count; i < kiln_vicinity_count(near); i++)
        sum += value[i];
    return sum;
}

/* What is near is looked for again when a patch has gone far, say where something repels it most:
 * friction stays that of the end of the step, or it would gain when it goes back. */
START_TEST(friction_knows_no_ways)
{
    kiln_vicinity_surface surface;
    rig r = make_blocks(KILN_IMPLICIT_EULER, _i, 0.3);
    kiln_local_objective o = try_blocks(&r, 0.0025, &surface);
    uint32_t vertices[MOST];
    kiln_vec3 x[MOST];
    kiln_vicinity near;
    kiln_vicinity_init(&near, r.context);
    size_t count = list_surface(r.mesh, vertices);
    rig_check(kiln_vicinity_gather(&near, &surface, &o, vertices, count, NULL, 0.01, NULL), NULL);
    double part = 0.999 * kiln_vicinity_nearest(&near) * 0.01;
    for (size_t i = 0; i < count; i++)
        x[i] = kiln_v3_add(o.end[vertices[i]], kiln_v3(0, 0, -part));
    double rubbed = rubbed_at(&near, &o, x);
    rig_check(kiln_vicinity_gather(&near, &surface, &o, vertices, count, x, 0.01, NULL), NULL);
    ck_assert_double_lt(kiln_vicinity_nearest(&near), 0.01);
    ck_assert_double_gt(rubbed, 0.0);
    ck_assert_double_eq_tol(rubbed_at(&near, &o, x), rubbed, 1e-3 * rubbed);
    kiln_vicinity_free(&near);
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

static double lowest_of(const kiln_mesh *mesh)
{
    double lowest = INFINITY;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        lowest = fmin(lowest, mesh->x[v].z);
    return lowest;
}

/* Splits among what is near but does not repel are judged as if nothing were, and are right as long
 * as they have stayed out of its reach. */
START_TEST(what_does_not_repel_lets_splits_be)
{
    kiln_vicinity_surface surface;
    rig r = make_blocks(KILN_IMPLICIT_EULER, 0, 0.0);
    kiln_local_objective o = try_blocks(&r, 0.0025, &surface);
    kiln_error error = {0};
    kiln_patch patch;
    kiln_patch_init(&patch, r.context);
    const double lowest = lowest_of(r.mesh), thickness = 0.01, gap = _i == 0 ? 0.006 : -0.004;
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        o.end[v] =
            kiln_v3_add(r.mesh->x[v], kiln_v3(0, 0, surface.walls[0].z + thickness + gap - lowest));
    size_t looked = 0;
    for (uint32_t t = 0; t < r.mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = r.mesh->tet[t].v;
        if (fmax(r.mesh->x[v[0]].z, r.mesh->x[v[1]].z) > lowest + 0.002)
            continue;
        looked++;
        rig_check(kiln_patch_list_split(&patch, &o, v, v, 2, &error), &error);
        for (int far = 0; far <= 1; far++) {
            for (size_t i = 0; i < patch.free; i++)
                patch.x.data[i].z -= far * (gap + 0.002);
            rig_check(kiln_patch_look_split(&patch, &o, &error), &error);
            ck_assert_int_eq(patch.touches, _i == 1 || far);
        }
    }
    ck_assert_uint_gt(looked, 3);
    kiln_patch_free(&patch);
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

static double whole(const kiln_local_objective *o)
{
    static uint32_t tets[1 << 16];
    uint32_t count = 0;
    for (uint32_t t = 0; t < o->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(o->mesh, t))
            tets[count++] = t;
    return kiln_patch_sum(o, tets, count);
}

/* Changes of the mesh among surfaces: the objective falls by what they say, nothing crosses
 * anything at the end of the step. */
START_TEST(remeshing_keeps_out)
{
    kiln_vicinity_surface surface;
    const double friction = _i < 3 ? 0.0 : 0.9;
    rig r = make_blocks(_i == 2 ? KILN_BDF2 : KILN_IMPLICIT_EULER, _i % 2, friction);
    kiln_local_objective o = try_blocks(&r, 0.0025, &surface);
    double before = whole(&o) + all_contact(&o);
    kiln_remesher remesher;
    kiln_energy_report report;
    kiln_error error = {0};
    kiln_remesh_options pass = kiln_remesh_default_options();
    pass.surface = KILN_SURFACE_KEEP;
    kiln_energy_options options = {
        .split = 1e-4, .collapse = 1e-6, .quality = 0.05, .depth = 2, .tolerance = 1e-9};
    rig_check(kiln_remesher_begin(r.mesh, &pass, &remesher, &error), &error);
    rig_check(kiln_energy_remesh(&remesher, &o, &options, &report, &error), &error);
    kiln_remesher_end(&remesher);
    kiln_objective_look(&o);
    double gained =
        report.splits.gained + report.flips.gained + report.moves.gained + report.collapses.gained;
    double fell = before - whole(&o) - all_contact(&o);
    ck_assert_uint_gt(report.splits.taken, 20);
    /* Angles between edges count as they were where patches were gathered; and what friction falls
     * by is no gain. */
    ck_assert_double_gt(fell, 0.98 * gained);
    ck_assert(friction > 0.0 || fell < 1.05 * gained);
    ck_assert_double_gt(fell, (double)report.splits.taken * options.split);
    kiln_test_audit(r.mesh);
    memcpy(r.mesh->x, o.end, r.mesh->table[KILN_ON_VERTEX].used * sizeof *o.end);
    kiln_crossing crossing;
    rig_check(kiln_surface_find_crossing(r.mesh, KILN_SPACE_WORLD, &crossing, &error), &error);
    ck_assert_uint_eq(crossing.pairs, 0);
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

static bool has_vertex_at(const kiln_mesh *mesh, kiln_vec3 u)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v) && kiln_v3_norm(kiln_v3_sub(mesh->u[v], u)) < 0.03)
            return true;
    return false;
}

/* A block lies on a ball, which presses two of its faces from the middle of their common edge. When
 * that is split, their other edges are; but a vertex there is repelled as soon as it is there, by
 * more than it gains in a first iteration. */
START_TEST(where_edges_are_pressed_they_are_split)
{
    kiln_vicinity_surface surface;
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=.6 ly=.6 lz=.4 nx=3 ny=3 nz=2");
    rig r = make_rig(mesh, KILN_IMPLICIT_EULER,
                     (kiln_obstacle_shape){
                         .kind = KILN_OBSTACLE_SPHERE, .point = {0.3, 0.3, -0.3004}, .radius = 0.3},
                     1e-3, 0.0);
    kiln_local_objective o = try_blocks(&r, 0.05, &surface);
    kiln_remesher remesher;
    kiln_energy_report report;
    kiln_error error = {0};
    kiln_remesh_options pass = kiln_remesh_default_options();
    pass.surface = KILN_SURFACE_KEEP;
    kiln_energy_options options = {.split = 1e-2, .quality = 0.05, .depth = 3, .tolerance = 1e-9};
    rig_check(kiln_remesher_begin(mesh, &pass, &remesher, &error), &error);
    rig_check(kiln_energy_remesh(&remesher, &o, &options, &report, &error), &error);
    kiln_remesher_end(&remesher);
    const kiln_vec3 middles[] = {
        {0.3, 0.3, 0}, {0.2, 0.3, 0}, {0.4, 0.3, 0}, {0.3, 0.2, 0}, {0.3, 0.4, 0}};
    for (int i = 0; i < 5; i++)
        ck_assert(has_vertex_at(mesh, middles[i]));
    kiln_vicinity_surface_end(&surface);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("vicinity");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, all_of_it_is_the_contact_of_the_step, 0, 4);
    tcase_add_test(all, what_may_move_need_not_be_told);
    tcase_add_test(all, faces_that_cross_are_seen);
    tcase_add_loop_test(all, forces_are_slopes, 0, 12);
    tcase_add_loop_test(all, friction_knows_no_ways, 0, 2);
    tcase_add_loop_test(all, what_does_not_repel_lets_splits_be, 0, 2);
    tcase_add_loop_test(all, remeshing_keeps_out, 0, 5);
    tcase_add_test(all, where_edges_are_pressed_they_are_split);
    suite_add_tcase(suite, all);
    return suite;
}

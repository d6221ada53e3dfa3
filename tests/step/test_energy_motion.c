/* Remeshing by energy of what moves: it is judged by what the step minimised, makes no shapes that
 * the end of the step cannot bear, and no energy at its begin. */
#include "energy_block.h"

#include "geom/tet_quality.h"

/* A stiff cube that falls on a plane edge first: newmark makes energy of such blows, and is helped
 * out by implicit Euler (solid_energy.c). */
static rig make_thrown(void)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=0.1 ly=0.1 lz=0.1 n=3");
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(1, 0.3, 0), 0.5);
    kiln_obstacle_shape plane = {
        .kind = KILN_OBSTACLE_PLANE, .point = {0, 0, -0.06}, .normal = {0, 0, 1}};
    kiln_error error = {0};
    add_fields(mesh);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v] = kiln_m3_apply(turn, mesh->u[v]);
    rig r = rig_of(context, mesh, rig_material("neo-hookean", 1e9, 0.4, 1000), KILN_NEWMARK);
    rig_check(kiln_obstacle_create(context, &plane, 0.0, &r.obstacles[r.obstacle_count++], &error),
              &error);
    r.options.mass = KILN_MASS_CONSISTENT;
    r.options.contact.walls = true;
    r.options.contact.thickness = 1e-3;
    r.options.newton.tolerance = 1e-9;
    rig_build(&r);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0, 0, -1);
    return r;
}

START_TEST(it_is_judged_by_what_was_minimised)
{
    rig r = make_thrown();
    uint32_t vertex = inner_vertex(r.mesh), by_euler = 0;
    kiln_patch patch;
    kiln_patch_init(&patch, r.context);
    rig_step(&r, 5e-3);
    for (int i = 0; i < 25; i++) {
        kiln_local_objective o = try_block(&r, 5e-3);
        by_euler += !o.scheme.impulses;
        ck_assert_int_eq(kiln_patch_gather(&patch, &o, &vertex, 1, NULL), KILN_OK);
        kiln_patch_relax(&patch, &o, 5, 0.0, 0.0);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(patch.x.data[0], o.end[vertex])), 1e-9);
        rig_step(&r, 5e-3);
    }
    ck_assert_uint_gt(by_euler, 0);
    kiln_patch_free(&patch);
    rig_free(&r);
}
END_TEST

/* A block that is folded at the step's begin, and at its end bent a little, or pressed flat. */
static kiln_local_objective press_block(rig *r, bool flat)
{
    kiln_local_objective o;
    kiln_mesh *mesh = r->mesh;
    uint32_t *held =
        (uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_HELD)->data;
    kiln_solid_objective(r->solid, 10.0, &r->clock, &o);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] =
            kiln_v3(u.x + 0.1 * u.z, u.y + 0.03 * sin(25 * u.x), u.z + 0.05 * sin(20 * u.x));
        end_of(mesh)[v] =
            flat ? kiln_v3(u.x + 0.1 * u.y * u.y, u.y, u.z * (0.15 + 0.1 * sin(8 * u.x)))
                 : kiln_v3(u.x + 0.1 * u.y * u.y, u.y, u.z + 0.1 * u.x * u.x);
        held[v] = mesh->vertex[v].flags & KILN_VERTEX_SURFACE ? 7 : 0;
    }
    kiln_objective_look(&o);
    return o;
}

static double worst_end(const kiln_local_objective *o)
{
    double worst = 1.0;
    for (uint32_t t = 0; t < o->mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = o->mesh->tet[t].v;
        if (kiln_tet_live(o->mesh, t))
            worst = fmin(worst, kiln_tet_quality(&o->end[v[0]], &o->end[v[1]], &o->end[v[2]],
                                                 &o->end[v[3]]));
    }
    return worst;
}

/* What the matter stores at the step's begin. */
static double stored_at_begin(kiln_local_objective *o)
{
    kiln_vec3 *end = o->end;
    o->end = o->mesh->x;
    double stored = kiln_objective_stored(o);
    o->end = end;
    return stored;
}

START_TEST(no_shape_becomes_worse_at_the_end)
{
    rig r = make_block_of(rig_material("neo-hookean", 1e5, 0.3, 1000), KILN_IMPLICIT_EULER, 1);
    kiln_local_objective o = press_block(&r, true);
    kiln_energy_options options = options_of(0.01 * best_prediction(&o));
    double shape = worst_end(&o);
    options.quality = 0.1;
    ck_assert_uint_gt(remesh(&r, &o, &options).flips.taken, 0);
    ck_assert_double_ge(worst_end(&o), 0.8 * fmin(shape, options.quality));
    rig_free(&r);
}
END_TEST

START_TEST(the_begin_stores_no_more_than_is_gained)
{
    rig r = make_block_of(rig_material("neo-hookean", 1e5, 0.3, 1000), KILN_IMPLICIT_EULER, 1);
    kiln_local_objective o = press_block(&r, false);
    kiln_energy_options options = options_of(0.01 * best_prediction(&o));
    double stored = stored_at_begin(&o);
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.flips.taken + report.moves.taken, 0);
    ck_assert_double_le(stored_at_begin(&o) - stored, report.flips.gained + report.moves.gained);
    rig_free(&r);
}
END_TEST

/* By the place of a vertex along a way, J/m. */
static double slope_at(kiln_local_objective *o, uint32_t vertex, kiln_vec3 at, kiln_vec3 way)
{
    const double d = 1e-6;
    kiln_vec3 *x = &o->mesh->x[vertex], there = *x;
    *x = kiln_v3_madd(at, d, way);
    double ahead = stored_at_begin(o);
    *x = kiln_v3_madd(at, -d, way);
    double back = stored_at_begin(o);
    *x = there;
    return fabs(ahead - back) / (2.0 * d);
}

/* Vertices that are made or moved in a block that is bent and at rest: on the chords of the old
 * mesh forces draw at them, where they are set to nearly none do, and what is stored less is told.
 */
START_TEST(what_is_made_begins_where_forces_leave_it)
{
    rig r = make_block_of(rig_material("neo-hookean", 1e5, 0.3, 1000), KILN_IMPLICIT_EULER, 1);
    kiln_local_objective o = press_block(&r, false);
    kiln_mesh *mesh = r.mesh;
    double lost = 0.0, chords = 0.0, settled = 0.0;
    ck_assert_int_eq(kiln_mesh_add_field(mesh, KILN_FIELD_SETTLED, KILN_ON_VERTEX, KILN_F64, 3,
                                         KILN_RULE_NONE, NULL),
                     KILN_OK);
    o.acceleration = kiln_v3(0, 0, 0);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        mesh->x[v] = end_of(mesh)[v];
        rig_v(&r)[v] = kiln_v3(0, 0, 0);
    }
    kiln_solid_fill_matter(r.solid);
    kiln_objective_look(&o);
    kiln_energy_options options = options_of(0.01 * best_prediction(&o));
    options.lost = &lost;
    options.settles = true;
    double before = stored_at_begin(&o);
    ck_assert_uint_gt(remesh(&r, &o, &options).splits.taken, 20);
    ck_assert_double_eq_tol(before - stored_at_begin(&o), lost, 1e-9 * before);
    const kiln_field *field = kiln_mesh_field(mesh, KILN_ON_VERTEX, KILN_FIELD_SETTLED);
    const kiln_vec3 *shift = (const kiln_vec3 *)(const void *)field->data;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v) || kiln_v3_norm(shift[v]) == 0.0)
            continue;
        kiln_vec3 way = kiln_v3_normalize(shift[v]);
        chords += slope_at(&o, v, kiln_v3_sub(mesh->x[v], shift[v]), way);
        settled += slope_at(&o, v, mesh->x[v], way);
    }
    ck_assert_double_gt(chords, 0.0);
    ck_assert_msg(settled < 0.15 * chords, "%g N, on the chords %g", settled, chords);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy motion");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, it_is_judged_by_what_was_minimised);
    tcase_add_test(all, no_shape_becomes_worse_at_the_end);
    tcase_add_test(all, the_begin_stores_no_more_than_is_gained);
    tcase_add_test(all, what_is_made_begins_where_forces_leave_it);
    suite_add_tcase(suite, all);
    return suite;
}

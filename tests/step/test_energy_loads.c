/* Remeshing by energy under pressure that follows the surface: its force is in the patches, and the
 * volume between surfaces in what is gained. */
#include "energy_block.h"

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};

/* On all faces, or on those on one side. */
static void press(rig *r, kiln_solid *solid, double time, double load)
{
    (void)time;
    const kiln_mesh *mesh = r->mesh;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++) {
        uint32_t at = mesh->face[f].at;
        double y = INFINITY;
        for (int k = 0; k < 3; k++)
            y = fmin(y, mesh->u[mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]].y);
        if (r->parameter == 0.0 || y > 0.3 - 1e-9)
            ck_assert_int_eq(
                kiln_loads_add_pressure(kiln_solid_loads(solid), f, 1.5e4 * load, NULL), KILN_OK);
    }
}

/* After a step, since first ones may have a history of their own. */
static rig make_pressed(kiln_integrator integrator, bool open, int threads)
{
    rig r = make_block_of(rig_material("neo-hookean", 1e5, 0.3, 1000), integrator, threads);
    ck_assert_int_eq(kiln_mesh_add_field(r.mesh, KILN_FIELD_PRESSURE, KILN_ON_FACE, KILN_F64, 1,
                                         KILN_RULE_COPY, NULL),
                     KILN_OK);
    r.set = press;
    r.parameter = open;
    rig_step(&r, 0.01);
    return r;
}

static uint32_t vertex_at(const kiln_mesh *mesh, kiln_vec3 place)
{
    uint32_t nearest = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_v3_norm(kiln_v3_sub(mesh->u[v], place)) <
            kiln_v3_norm(kiln_v3_sub(mesh->u[nearest], place)))
            nearest = v;
    return nearest;
}

/* Inside what is pressed, where the rim of a patch stays, the volume is a potential. */
START_TEST(a_patch_is_pressed_as_the_step_is)
{
    rig r = make_pressed(integrators[_i / 2], _i % 2, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    o.apex = kiln_v3(0.3, 0.1, 0.2);
    check_patch_of(&r, &o, vertex_at(r.mesh, kiln_v3(0.5, 0.3, 0.15)), true);
    check_patch_of(&r, &o, inner_vertex(r.mesh), true);
    check_patch_of(&r, &o, vertex_at(r.mesh, kiln_v3(0.5, 0.3, 0.3)), _i % 2 == 0);
    rig_free(&r);
}
END_TEST

/* Where the surface is closed it is the work p V of the whole. */
START_TEST(what_is_kept_gains)
{
    rig r = make_pressed(integrators[_i / 2], _i % 2, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 10);
    ck_assert_uint_gt(report.flips.taken + report.moves.taken, 0);
    ck_assert_double_gt(report.splits.gained, (double)report.splits.taken * options.split);
    o.apex = kiln_v3(0, 0, 0);
    if (_i % 2 == 0)
        ck_assert_double_eq_tol(before - whole(&o), gained_by(&report), 1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* The prediction knows of the force: without it these edges would promise what they do not keep. */
START_TEST(a_prediction_is_what_is_gained)
{
    rig r = make_pressed(KILN_IMPLICIT_EULER, true, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_double_ge(report.splits.gained, 0.9 * report.predicted);
    ck_assert_double_le(report.splits.gained, 4.0 * report.predicted);
    rig_free(&r);
}
END_TEST

/* Which flips are tried does not depend on where loads on faces have their energy from. */
START_TEST(what_is_tried_knows_no_apex)
{
    uint64_t hash[2];
    for (int far = 0; far < 2; far++) {
        rig r = make_pressed(KILN_IMPLICIT_EULER, false, 1);
        kiln_local_objective o = try_block(&r, 0.01);
        kiln_energy_options options = options_of(1e-4 * best_prediction(&o));
        options.most_tets = 1;
        o.apex = kiln_v3(0, far, far);
        kiln_energy_report report = remesh(&r, &o, &options);
        ck_assert_uint_gt(report.flips.taken, 0);
        hash[far] = kiln_mesh_hash(r.mesh);
        rig_free(&r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

START_TEST(threads_change_nothing)
{
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; threads++) {
        rig r = make_pressed(KILN_IMPLICIT_EULER, true, threads);
        kiln_local_objective o = try_block(&r, 0.01);
        kiln_energy_options options = options_of(0.03 * best_prediction(&o));
        ck_assert_uint_gt(remesh(&r, &o, &options).splits.taken, 20);
        hash[threads - 1] = kiln_mesh_hash(r.mesh);
        rig_free(&r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy loads");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, a_patch_is_pressed_as_the_step_is, 0, 6);
    tcase_add_loop_test(all, what_is_kept_gains, 0, 6);
    tcase_add_test(all, a_prediction_is_what_is_gained);
    tcase_add_test(all, what_is_tried_knows_no_apex);
    tcase_add_test(all, threads_change_nothing);
    suite_add_tcase(suite, all);
    return suite;
}

/* Remeshing by energy where pressure is averaged at the nodes: patches have the energy of the step,
 * and what is gained is what the whole has lost. */
#include "energy_block.h"

static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};
static const char *const models[] = {"neo-hookean", "corotated", "stvk", "linear",
                                     "fixed-corotated"};

static kiln_material nodal(const char *model)
{
    kiln_material material = rig_material(model, 1e5, 0.49, 1000);
    material.nodal_pressure = true;
    return material;
}

/* After a step, since first ones may have a history of their own. */
static rig make_nodal(const char *model, kiln_integrator integrator, int threads)
{
    rig r = make_block_of(nodal(model), integrator, threads);
    rig_step(&r, 0.01);
    return r;
}

START_TEST(a_patch_is_pressed_as_the_step_is)
{
    rig r = make_nodal(models[_i % 5], integrators[_i % 3], 1);
    kiln_local_objective o = try_block(&r, 0.01);
    ck_assert(o.nodal);
    check_patch_of(&r, &o, inner_vertex(r.mesh), true);
    check_patch_of(&r, &o, 0, true);
    rig_free(&r);
}
END_TEST

START_TEST(what_is_kept_gains)
{
    rig r = make_nodal(models[_i % 5], integrators[_i % 3], 1);
    kiln_local_objective o = try_block(&r, 0.01);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 10);
    ck_assert_uint_gt(report.splits.trials, report.splits.taken);
    ck_assert_uint_gt(report.flips.taken + report.moves.taken, 0);
    ck_assert_double_gt(report.splits.gained, (double)report.splits.taken * options.split);
    ck_assert_double_eq_tol(before - whole(&o), gained_by(&report), 1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* On quadratic matter it is what the new vertex gains; its surroundings only add to it. */
START_TEST(a_prediction_is_a_lower_bound)
{
    rig r = make_nodal("linear", KILN_IMPLICIT_EULER, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 10);
    ck_assert_double_ge(report.splits.gained, (1.0 - 1e-6) * report.predicted);
    ck_assert_double_le(report.splits.gained, 4.0 * report.predicted);
    rig_free(&r);
}
END_TEST

/* A block of two regions, one beyond the middle. */
static kiln_mesh *two_regions(kiln_context *context)
{
    kiln_mesh *box = kiln_test_mesh(context, "box", "lx=1 ly=.3 lz=.3 nx=6 ny=2 nz=2");
    uint32_t tets = box->table[KILN_ON_TET].used;
    kiln_soup_tet tet[256];
    int32_t region[256];
    ck_assert_uint_le(tets, 256);
    for (uint32_t t = 0; t < tets; t++) {
        double sum = 0.0;
        for (int k = 0; k < 4; k++) {
            tet[t].v[k] = box->tet[t].v[k];
            sum += 0.25 * box->u[tet[t].v[k]].x;
        }
        region[t] = sum > 0.5;
    }
    kiln_mesh *mesh = kiln_test_mesh_of(context, box->table[KILN_ON_VERTEX].used, box->u, tets, tet,
                                        region, KILN_BUILD_STRICT);
    kiln_mesh_destroy(box);
    return mesh;
}

/* Two materials: averages stay inside one. */
static rig make_two(bool both)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_regions(context);
    kiln_material materials[2] = {nodal("neo-hookean"), nodal("corotated")};
    materials[1].nodal_pressure = both;
    materials[1].mu *= 0.3;
    add_fields(mesh);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "material", KILN_ON_TET, KILN_U32, 1, KILN_RULE_COPY, NULL),
        KILN_OK);
    uint32_t *of = (uint32_t *)(void *)kiln_mesh_field(mesh, KILN_ON_TET, "material")->data;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        of[t] = (uint32_t)mesh->info[t].region;
    rig r = rig_of(context, mesh, materials[0], KILN_IMPLICIT_EULER);
    kiln_error error = {0};
    r.options.mass = KILN_MASS_CONSISTENT;
    r.gravity = kiln_v3(0, 0, -9.81);
    rig_check(kiln_solid_create(mesh, &r.options, materials, 2, NULL, 0, &r.solid, &error), &error);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        rig_v(&r)[v] = kiln_v3(0, 0.2 * mesh->u[v].x, 0.5 * sin(3 * mesh->u[v].x));
    return r;
}

START_TEST(materials_have_nodes_of_their_own)
{
    rig r = make_two(_i == 0);
    kiln_local_objective o = try_block(&r, 0.01);
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        if (fabs(r.mesh->u[v].x - 0.5) < 1e-9)
            check_patch_of(&r, &o, v, true);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 10);
    ck_assert_double_eq_tol(before - whole(&o), gained_by(&report), 1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* What was split where much happens goes again when little is asked for. */
START_TEST(what_collapses_costs_no_more)
{
    rig r = make_nodal("neo-hookean", KILN_IMPLICIT_EULER, 1);
    ck_assert_int_eq(
        kiln_mesh_add_field(r.mesh, "sizes", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_DIRECT, NULL),
        KILN_OK);
    kiln_local_objective o = try_block(&r, 0.01);
    kiln_energy_options options = options_of(0.05 * best_prediction(&o));
    remesh(&r, &o, &options);
    double *size = (double *)(void *)kiln_mesh_field(r.mesh, KILN_ON_VERTEX, "sizes")->data;
    for (uint32_t v = 0; v < r.mesh->table[KILN_ON_VERTEX].used; v++)
        size[v] = 1.0;
    double before = whole(&o);
    options.split *= 1e3;
    options.collapse = 0.05 * options.split;
    options.sizes = "sizes";
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.collapses.taken, 10);
    ck_assert_double_gt(report.collapses.gained,
                        -(double)report.collapses.taken * options.collapse);
    ck_assert_double_eq_tol(before - whole(&o), gained_by(&report), 1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* Matter that flows in the norm of Mises has nodal pressure by preset. */
START_TEST(what_has_flowed_is_pressed_too)
{
    kiln_material material = nodal(_i == 0 ? "neo-hookean" : _i == 1 ? "corotated" : "linear");
    material.plastic = (kiln_plastic){.flows = true,
                                      .instant = true,
                                      .norm = KILN_YIELD_MISES,
                                      .law = KILN_HARDENING_WORK,
                                      .yield = 300.0,
                                      .hardening = 0.05};
    rig r = make_block_of(material, KILN_IMPLICIT_EULER, 1);
    kiln_flow_report flow = {0};
    kiln_error error = {0};
    rig_step(&r, 0.01);
    rig_check(
        kiln_plastic_update(kiln_solid_elements(r.solid), r.mesh, NULL, 0.01, NULL, &flow, &error),
        &error);
    rig_check(kiln_solid_reform(r.solid, &error), &error);
    ck_assert_uint_gt(flow.flowed, 20);
    kiln_local_objective o = try_block(&r, 0.01);
    check_patch_of(&r, &o, inner_vertex(r.mesh), true);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 0);
    ck_assert_double_eq_tol(before - whole(&o), gained_by(&report), 1e-9 * fabs(before));
    rig_free(&r);
}
END_TEST

START_TEST(threads_change_nothing)
{
    uint64_t hash[3];
    for (int threads = 1; threads <= 3; threads++) {
        rig r = make_nodal("neo-hookean", KILN_IMPLICIT_EULER, threads);
        kiln_local_objective o = try_block(&r, 0.01);
        kiln_energy_options options = options_of(0.03 * best_prediction(&o));
        ck_assert_uint_gt(remesh(&r, &o, &options).splits.taken, 30);
        hash[threads - 1] = kiln_mesh_hash(r.mesh);
        rig_free(&r);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
}
END_TEST

START_TEST(what_is_rejected_leaves_every_bit)
{
    rig r = make_nodal("neo-hookean", KILN_IMPLICIT_EULER, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    check_rejected(&r, &o);
    rig_free(&r);
}
END_TEST

/* Matter that deforms alike everywhere has one pressure, whatever the mesh. */
START_TEST(uniform_strain_is_left_alone)
{
    rig r = make_block_of(nodal("neo-hookean"), KILN_STATIC, 1);
    check_uniform(&r);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy nodal");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, a_patch_is_pressed_as_the_step_is, 0, 15);
    tcase_add_loop_test(all, what_is_kept_gains, 0, 15);
    tcase_add_test(all, a_prediction_is_a_lower_bound);
    tcase_add_loop_test(all, materials_have_nodes_of_their_own, 0, 2);
    tcase_add_test(all, what_collapses_costs_no_more);
    tcase_add_loop_test(all, what_has_flowed_is_pressed_too, 0, 3);
    tcase_add_test(all, threads_change_nothing);
    tcase_add_test(all, what_is_rejected_leaves_every_bit);
    tcase_add_test(all, uniform_strain_is_left_alone);
    suite_add_tcase(suite, all);
    return suite;
}

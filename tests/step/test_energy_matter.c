/* Remeshing by energy of matter whose parameters are functions: patches have those of the step, and
 * what differs from tet to tet is split and not mixed. */
#include "energy_block.h"

enum { SMOOTH, STEPPED };
static const kiln_integrator integrators[] = {KILN_IMPLICIT_EULER, KILN_NEWMARK, KILN_BDF2};

static double mu[4096], lambda[4096], viscosity[4096];

static double stiffness_at(const kiln_mesh *mesh, uint32_t tet, int kind)
{
    double x = 0.0;
    for (int k = 0; k < 4; k++)
        x += 0.25 * mesh->u[mesh->tet[tet].v[k]].x;
    return kind == SMOOTH ? exp(1.5 * x) : x > 0.5 ? 3.0 : 1.0;
}

static void set_matter(const rig *r, int kind, bool viscous)
{
    for (uint32_t t = 0; t < r->mesh->table[KILN_ON_TET].used; t++) {
        double by = stiffness_at(r->mesh, t, kind);
        mu[t] = by * r->material.mu;
        lambda[t] = by * r->material.lambda;
        viscosity[t] = viscous ? 1e3 * by : 0.0;
    }
    kiln_solid_set_lame(r->solid, mu, lambda);
    kiln_solid_set_viscosity(r->solid, viscosity);
    kiln_error error = {0};
    rig_check(kiln_solid_rebuild(r->solid, NULL, &error), &error);
}

/* After a step, since first ones may have a history of their own. */
static rig make_varied(kiln_integrator integrator, int kind, bool nodal, bool viscous, int threads)
{
    kiln_material material = rig_material("neo-hookean", 1e5, 0.4, 1000);
    material.nodal_pressure = nodal;
    rig r = make_block_of(material, integrator, threads);
    ck_assert_int_eq(kiln_mesh_add_field(r.mesh, KILN_FIELD_STIFFNESS, KILN_ON_TET, KILN_F64, 2,
                                         KILN_RULE_COPY, NULL),
                     KILN_OK);
    ck_assert_int_eq(kiln_mesh_add_field(r.mesh, KILN_FIELD_VISCOSITY, KILN_ON_TET, KILN_F64, 1,
                                         KILN_RULE_COPY, NULL),
                     KILN_OK);
    set_matter(&r, kind, viscous);
    rig_step(&r, 0.01);
    return r;
}

START_TEST(a_patch_is_made_of_what_the_step_is)
{
    kiln_integrator integrator = integrators[_i % 3];
    bool nodal = _i / 3 % 2, viscous = _i / 6 % 2;
    rig r = make_varied(integrator, SMOOTH, nodal, viscous, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    check_patch_of(&r, &o, inner_vertex(r.mesh), integrator != KILN_NEWMARK || !viscous);
    rig_free(&r);
}
END_TEST

START_TEST(what_is_kept_gains)
{
    kiln_integrator integrator = integrators[_i % 3];
    bool nodal = _i / 3 % 2, viscous = _i / 6 % 2;
    rig r = make_varied(integrator, SMOOTH, nodal, viscous, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    double before = whole(&o);
    kiln_energy_options options = options_of(0.1 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.splits.taken, 10);
    ck_assert_double_gt(report.splits.gained, (double)report.splits.taken * options.split);
    if (integrator != KILN_NEWMARK || !viscous)
        ck_assert_double_eq_tol(before - whole(&o), gained_by(&report), 1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* Volume of what is as stiff as this. */
static double volume_of(const kiln_local_objective *o, double stiffness)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < o->mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(o->mesh, t) && o->lame[t][0] == stiffness)
            sum += kiln_mesh_tet_volume(o->mesh, t);
    return sum;
}

/* Soft matter in the place of stiff would gain by itself: each keeps its volume. */
START_TEST(what_differs_is_not_mixed)
{
    rig r = make_varied(KILN_IMPLICIT_EULER, STEPPED, false, false, 1);
    kiln_local_objective o = try_block(&r, 0.01);
    double volume = volume_of(&o, 3.0 * r.material.mu);
    kiln_energy_options options = options_of(0.05 * best_prediction(&o));
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.flips.taken + report.moves.taken, 0);
    ck_assert_double_eq_tol(volume_of(&o, 3.0 * r.material.mu), volume, 1e-12);
    rig_free(&r);
}
END_TEST

START_TEST(threads_change_nothing)
{
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; threads++) {
        rig r = make_varied(KILN_IMPLICIT_EULER, SMOOTH, true, true, threads);
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
    Suite *suite = suite_create("energy matter");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, a_patch_is_made_of_what_the_step_is, 0, 12);
    tcase_add_loop_test(all, what_is_kept_gains, 0, 12);
    tcase_add_test(all, what_differs_is_not_mixed);
    tcase_add_test(all, threads_change_nothing);
    suite_add_tcase(suite, all);
    return suite;
}

/* Collapses judged by energy: what has been split goes again where nothing is gained by it any
 * more, whatever was flipped and moved since; what is needed stays, and waits. */
#include "energy_block.h"

#include "geom/tet_quality.h"

static double *sizes_of(const kiln_mesh *mesh)
{
    return (double *)(void *)kiln_mesh_field(mesh, KILN_ON_VERTEX, "sizes")->data;
}

/* A bent block, split, flipped and moved some rounds long. */
static rig make_fine(kiln_local_objective *o, kiln_energy_options *options, uint32_t *start)
{
    rig r = make_block_of(rig_material("neo-hookean", 1e5, 0.3, 1000), KILN_IMPLICIT_EULER, 1);
    ck_assert_int_eq(
        kiln_mesh_add_field(r.mesh, "sizes", KILN_ON_VERTEX, KILN_F64, 1, KILN_RULE_DIRECT, NULL),
        KILN_OK);
    *start = r.mesh->table[KILN_ON_VERTEX].live;
    for (uint32_t v = 0; v < *start; v++)
        sizes_of(r.mesh)[v] = 0.2;
    *o = try_block(&r, 0.01);
    *options = options_of(0.02 * best_prediction(o));
    for (int i = 0; i < 3; i++)
        remesh(&r, o, options);
    ck_assert_uint_gt(r.mesh->table[KILN_ON_VERTEX].live, 3 * *start);
    options->sizes = "sizes";
    return r;
}

/* As it is when it has come to rest, turned. */
static void straighten(const rig *r, kiln_local_objective *o)
{
    const kiln_mat3 R = {{{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}}};
    o->scheme.scale = 0.0;
    o->acceleration = kiln_v3(0, 0, 0);
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        end_of(r->mesh)[v] = kiln_m3_apply(R, r->mesh->u[v]);
}

static double volume_of(const kiln_mesh *mesh)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        sum += kiln_tet_live(mesh, t) ? kiln_mesh_tet_volume(mesh, t) : 0.0;
    return sum;
}

/* Nine of ten go, those on the surface too, which stays where it is. */
START_TEST(what_gains_nothing_goes)
{
    kiln_local_objective o;
    kiln_energy_options options;
    uint32_t start;
    rig r = make_fine(&o, &options, &start);
    straighten(&r, &o);
    uint32_t fine = r.mesh->table[KILN_ON_VERTEX].live;
    double volume = volume_of(r.mesh);
    uint64_t taken = 1, trials = 0;
    for (int i = 0; i < 20 && taken > 0; i++) {
        kiln_energy_report report = remesh(&r, &o, &options);
        taken = report.collapses.taken;
        trials += report.collapses.trials;
        ck_assert_uint_eq(report.splits.taken, 0);
    }
    uint32_t left = r.mesh->table[KILN_ON_VERTEX].live;
    ck_assert_uint_lt(10 * left, 9 * start + fine);
    ck_assert_uint_le(trials, 2 * (fine - left));
    ck_assert_double_eq_tol(volume_of(r.mesh), volume, 1e-12 * volume);
    ck_assert_double_lt(whole(&o), 1e-6 * options.split);
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* Each costs no more than it may, the whole no more than is reported. Five of six that are tried
 * go: the neighbour that the star is filled from is the one by which it costs least. */
START_TEST(what_goes_costs_little)
{
    kiln_local_objective o;
    kiln_energy_options options;
    uint32_t start;
    rig r = make_fine(&o, &options, &start);
    options.split *= 1e2;
    options.collapse = 0.02 * options.split;
    double before = whole(&o);
    kiln_energy_report report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.collapses.taken, 300);
    ck_assert_uint_lt(10 * report.collapses.trials, 12 * report.collapses.taken);
    ck_assert_double_gt(report.collapses.gained,
                        -(double)report.collapses.taken * options.collapse);
    ck_assert_double_eq_tol(before - whole(&o), gained_by(&report), 1e-9 * fabs(before));
    kiln_test_audit(r.mesh);
    rig_free(&r);
}
END_TEST

/* What could not be spared is not looked at again, until the deformation has become more even. */
START_TEST(what_is_needed_waits)
{
    kiln_local_objective o;
    kiln_energy_options options;
    uint32_t start;
    rig r = make_fine(&o, &options, &start);
    kiln_energy_report report;
    for (int i = 0; i < 40; i++)
        report = remesh(&r, &o, &options);
    ck_assert_uint_eq(report.collapses.trials, 0);
    straighten(&r, &o);
    report = remesh(&r, &o, &options);
    ck_assert_uint_gt(report.collapses.taken, 20);
    rig_free(&r);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("energy collapse");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, what_gains_nothing_goes);
    tcase_add_test(all, what_goes_costs_little);
    tcase_add_test(all, what_is_needed_waits);
    suite_add_tcase(suite, all);
    return suite;
}

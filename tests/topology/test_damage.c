#include "fixtures.h"
#include "geom/tet_quality.h"
#include "mesh/classify.h"
#include "support.h"
#include "topology/damage.h"

#include <math.h>

static kiln_mesh *two_regions(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=6 pattern=bcc");
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double x = 0.0;
        for (int k = 0; k < 4; k++)
            x += 0.25 * mesh->u[mesh->tet[t].v[k]].x;
        ck_assert_int_eq(kiln_txn_set_region(&txn, t, x > 0.5), KILN_ACCEPTED);
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_mesh_classify(mesh, kiln_build_default_options().feature_angle, NULL),
                     KILN_OK);
    return mesh;
}

static double quality_of(const kiln_mesh *mesh, uint32_t tet)
{
    const uint32_t *v = mesh->tet[tet].v;
    return kiln_tet_quality(&mesh->u[v[0]], &mesh->u[v[1]], &mesh->u[v[2]], &mesh->u[v[3]]);
}

static void check_damage(kiln_mesh *mesh, const kiln_damage_report *report, size_t wanted)
{
    size_t listed = 0;
    ck_assert_uint_ge(report->tets.count, wanted);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        double q = quality_of(mesh, t);
        bool bad = listed < report->tets.count && report->tets.data[listed] == t;
        listed += bad;
        ck_assert_msg(bad ? q >= 1e-3 && q <= 0.1 : q >= 0.15, "tet %u: %g, listed %d", t, q, bad);
    }
    ck_assert_uint_eq(listed, report->tets.count);
    kiln_test_audit(mesh);
}

START_TEST(every_kind_everywhere)
{
    for (int clustered = 0; clustered < 2; clustered++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = two_regions(context);
        double volume = kiln_mesh_volume(mesh);
        kiln_damage_options options = kiln_damage_default_options();
        options.fraction = 0.1;
        options.clustered = clustered;
        options.seed = 5;
        uint32_t tets = mesh->table[KILN_ON_TET].live;
        kiln_damage_report report;
        ck_assert_int_eq(kiln_mesh_damage(mesh, &options, &report, NULL), KILN_OK);
        check_damage(mesh, &report, tets / 10);
        for (int i = 0; i < KILN_DAMAGE_KINDS; i++)
            ck_assert_msg(report.kind[i] > 4, "%s: %zu", kiln_damage_name(i), report.kind[i]);
        for (int i = 0; i < KILN_DAMAGE_WHERES; i++)
            ck_assert_msg(report.where[i] > 4, "where %d: %zu", i, report.where[i]);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12);
        kiln_damage_report_free(context, &report);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

START_TEST(one_kind_in_one_place)
{
    for (uint32_t kind = 0; kind < KILN_DAMAGE_KINDS; kind++)
        for (uint32_t where = 0; where < KILN_DAMAGE_WHERES; where++) {
            kiln_context *context = kiln_test_context(1);
            kiln_mesh *mesh = two_regions(context);
            kiln_damage_options options = kiln_damage_default_options();
            options.kinds = 1u << kind;
            options.where = 1u << where;
            options.fraction = 0.005;
            kiln_damage_report report;
            ck_assert_int_eq(kiln_mesh_damage(mesh, &options, &report, NULL), KILN_OK);
            check_damage(mesh, &report, 1);
            ck_assert_uint_eq(report.kind[kind], report.tets.count);
            ck_assert_uint_eq(report.where[where], report.tets.count);
            kiln_damage_report_free(context, &report);
            kiln_mesh_destroy(mesh);
            kiln_context_destroy(context);
        }
}
END_TEST

START_TEST(memory_runs_out)
{
    uint64_t calls = 1;
    bool done = false;
    for (uint64_t fail = 1; !done; fail += 1 + fail / 8) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=2");
        calls = heap.calls;
        heap.fail_at = calls + fail;
        kiln_damage_options options = kiln_damage_default_options();
        options.fraction = 0.2;
        kiln_damage_report report;
        done = kiln_mesh_damage(mesh, &options, &report, NULL) == KILN_OK;
        heap.fail_at = 0;
        kiln_test_audit(mesh);
        kiln_damage_report_free(context, &report);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("damage");
    TCase *all = kiln_test_case(suite, "damage");
    tcase_add_test(all, every_kind_everywhere);
    tcase_add_test(all, one_kind_in_one_place);
    tcase_add_test(all, memory_runs_out);
    return suite;
}

/* Dynamic repair is local (issue 4): all damage repaired, little else changed. */
#include "fixtures.h"
#include "irregular.h"
#include "remesh/improve.h"
#include "support.h"
#include "topology/damage.h"

/* A number for the four places of a tet, whatever their order. */
static uint64_t places_of(const kiln_mesh *mesh, uint32_t tet)
{
    uint64_t sum = 0;
    for (int k = 0; k < 4; k++)
        sum += kiln_hash_mix(kiln_hash_bytes(1, &mesh->u[mesh->tet[tet].v[k]], sizeof(kiln_vec3)));
    return sum;
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* Of all live tets, ascending. */
static uint64_t *all_places(const kiln_mesh *mesh, size_t *count)
{
    uint64_t *places = malloc(mesh->table[KILN_ON_TET].live * sizeof *places);
    *count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            places[(*count)++] = places_of(mesh, t);
    qsort(places, *count, sizeof *places, compare_u64);
    return places;
}

/* How many of the first list do not occur in the second. */
static size_t count_missing(const uint64_t *a, size_t na, const uint64_t *b, size_t nb)
{
    size_t missing = 0, j = 0;
    for (size_t i = 0; i < na; i++) {
        while (j < nb && b[j] < a[i])
            j++;
        missing += j == nb || b[j] != a[i];
    }
    return missing;
}

/* Damages and repairs; at most `most` tets may change for each that was damaged. Every figure is
 * counted here, not taken from the report. */
static void check_repair(kiln_mesh *mesh, const kiln_damage_options *damage, size_t most)
{
    kiln_context *context = mesh->context;
    kiln_damage_report damaged;
    ck_assert_int_eq(kiln_mesh_damage(mesh, damage, &damaged, NULL), KILN_OK);
    ck_assert_uint_gt(damaged.tets.count, 0);
    const kiln_test_shape shape = kiln_test_shape_of(mesh);
    size_t before_count, after_count;
    uint64_t *before = all_places(mesh, &before_count);
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    ck_assert_int_eq(kiln_dynamic_improve(&remesher, &improve, &report, NULL), KILN_OK);
    kiln_remesher_end(&remesher);
    uint64_t *after = all_places(mesh, &after_count);
    size_t changed = count_missing(before, before_count, after, after_count);
    ck_assert_uint_ge(report.changed, changed); /* rows: one may have come back in another */
    ck_assert_msg(changed <= most * damaged.tets.count, "%zu changed for %zu", changed,
                  damaged.tets.count);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        if (!kiln_tet_live(mesh, t))
            continue;
        double q = kiln_tet_quality(&mesh->u[v[0]], &mesh->u[v[1]], &mesh->u[v[2]], &mesh->u[v[3]]);
        ck_assert_msg(q >= 0.15, "tet %u is left with %g", t, q);
    }
    kiln_test_audit(mesh);
    const kiln_test_shape now = kiln_test_shape_of(mesh);
    /* What a pass may do to the volume (remesh/surface_allows.c). */
    const double budget = 1e-3 + 2 * 0.09 / (double)before_count;
    ck_assert_uint_eq(now.corners, shape.corners);
    for (int i = 0; i < KILN_TEST_KEYS; i++) {
        ck_assert_double_eq_tol(now.volume[i], shape.volume[i], budget * shape.volume[i] + 1e-12);
        ck_assert_int_eq(now.euler[i], shape.euler[i]);
    }
    free(before);
    free(after);
    kiln_damage_report_free(context, &damaged);
}

START_TEST(layered_boxes)
{
    for (uint64_t seed = 0; seed < kiln_test_rounds(6, 60); seed++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_layered_box(context, 0.02, seed);
        kiln_damage_options damage = kiln_damage_default_options();
        damage.fraction = seed % 3 == 0 ? 0.1 : 0.02;
        damage.clustered = seed % 2;
        damage.seed = seed;
        check_repair(mesh, &damage, 12);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

START_TEST(one_kind_at_a_time)
{
    for (uint32_t kind = 0; kind < KILN_DAMAGE_KINDS; kind++)
        for (uint32_t where = 0; where < KILN_DAMAGE_WHERES; where++) {
            kiln_context *context = kiln_test_context(1);
            kiln_mesh *mesh = kiln_test_layered_box(context, 0.02, kind);
            kiln_damage_options damage = kiln_damage_default_options();
            damage.kinds = 1u << kind;
            damage.where = 1u << where;
            damage.fraction = 0.02;
            /* A cap or sliver at a wall is a vertex too close to it: its whole star moves. */
            check_repair(mesh, &damage, 24);
            kiln_mesh_destroy(mesh);
            kiln_context_destroy(context);
        }
}
END_TEST

/* Round surfaces, where faces may not move far. */
START_TEST(curved_shapes)
{
    static const char *const shape[][2] = {
        {"ball", "h=0.25"}, {"torus", "h=0.2"}, {"cylinder", "h=0.15"}, {"bowl", "h=0.25"}};
    for (uint64_t i = 0; i < kiln_test_rounds(4, 40); i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, shape[i % 4][0], shape[i % 4][1]);
        kiln_damage_options damage = kiln_damage_default_options();
        damage.fraction = 0.03;
        damage.clustered = i / 4 % 2;
        damage.seed = i;
        check_repair(mesh, &damage, 12);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Tets that repairs of one pass with this goal leave changed. */
static size_t repair_for(kiln_mesh *mesh, double goal, double worth)
{
    const kiln_remesh_options options = kiln_remesh_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher remesher;
    improve.goal = goal;
    improve.effort = 100000;
    improve.worth = worth;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    ck_assert_int_eq(kiln_dynamic_improve(&remesher, &improve, &report, NULL), KILN_OK);
    ck_assert_double_ge(report.worst_after, report.worst_before);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
    return report.changed;
}

/* What misses a goal that is out of reach and gains less than it is worth leaves no trace, to the
 * bit, where the same with any gain changes the mesh. Sweeps, which such a goal begins with, have
 * come to their end before. */
START_TEST(little_gains_are_taken_back)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_random_mesh(context, 12, 5);
    int passes = 0;
    while (repair_for(mesh, 0.95, 1.0) > 0)
        ck_assert_int_lt(++passes, 1000);
    uint64_t before = kiln_mesh_hash(mesh);
    ck_assert_uint_eq(repair_for(mesh, 0.95, 1.0), 0);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    ck_assert_uint_gt(repair_for(mesh, 0.95, 0.0), 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A goal within reach is reached as ever. */
START_TEST(what_reaches_the_goal_is_kept)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_layered_box(context, 0.02, 3);
    kiln_damage_options damage = kiln_damage_default_options();
    kiln_damage_report damaged;
    damage.fraction = 0.01;
    ck_assert_int_eq(kiln_mesh_damage(mesh, &damage, &damaged, NULL), KILN_OK);
    ck_assert_uint_gt(repair_for(mesh, 0.15, 1.0), 0);
    ck_assert_uint_eq(repair_for(mesh, 0.15, 1.0), 0); /* nothing was left */
    kiln_damage_report_free(context, &damaged);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("repair");
    TCase *all = kiln_test_case(suite, "repair");
    tcase_add_test(all, layered_boxes);
    tcase_add_test(all, one_kind_at_a_time);
    tcase_add_test(all, curved_shapes);
    tcase_add_test(all, little_gains_are_taken_back);
    tcase_add_test(all, what_reaches_the_goal_is_kept);
    return suite;
}

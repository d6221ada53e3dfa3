#include "insertion.h"
#include "remesh/delaunay.h"

/* A Delaunay mesh of random points in a cube. */
static kiln_mesh *random_mesh(kiln_context *context, size_t count, uint64_t seed, double size)
{
    kiln_random random = kiln_random_start(seed, 0);
    kiln_vec3 *point = malloc(count * sizeof *point);
    kiln_delaunay delaunay = {0};
    for (size_t i = 0; i < count; i++) {
        double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
        point[i] = kiln_v3(x, y, kiln_random_unit(&random));
        if (i < 8)
            point[i] = kiln_v3(i & 1, i >> 1 & 1, i >> 2 & 1);
        point[i] = kiln_v3_scale(point[i], size);
    }
    ck_assert_int_eq(kiln_delaunay_build(&delaunay, context, point, count, NULL), KILN_OK);
    kiln_soup_tet *tet = malloc(delaunay.tets.count * sizeof *tet);
    for (size_t i = 0; i < delaunay.tets.count; i++)
        memcpy(tet[i].v, delaunay.tets.data[i].v, sizeof tet[i].v);
    kiln_mesh *mesh =
        kiln_test_mesh_of(context, count, point, delaunay.tets.count, tet, NULL, KILN_BUILD_STRICT);
    kiln_delaunay_destroy(&delaunay);
    free(point);
    free(tet);
    return mesh;
}

typedef struct snapshot {
    kiln_tet *tet;
    double *quality, *sorted;
    uint32_t rows;
} snapshot;

static snapshot take_snapshot(const kiln_remesher *remesher)
{
    uint32_t rows = remesher->mesh->table[KILN_ON_TET].used;
    snapshot s = {.rows = rows};
    s.tet = malloc(rows * sizeof *s.tet);
    s.quality = malloc(rows * sizeof *s.quality);
    s.sorted = malloc(rows * sizeof *s.sorted);
    memcpy(s.tet, remesher->mesh->tet, rows * sizeof *s.tet);
    memcpy(s.quality, remesher->quality.data, rows * sizeof *s.quality);
    memcpy(s.sorted, s.quality, rows * sizeof *s.sorted);
    qsort(s.sorted, rows, sizeof *s.sorted, ascending);
    return s;
}

static void free_snapshot(snapshot *s)
{
    free(s->tet);
    free(s->quality);
    free(s->sorted);
}

/* The sorted vector of the whole mesh is better, and `changed` names every live tet that is not as
 * it was. */
static void check_success(const kiln_remesher *remesher, const snapshot *before)
{
    snapshot after = take_snapshot(remesher);
    uint32_t k = 0;
    while (k < before->rows && k < after.rows && before->sorted[k] == after.sorted[k])
        k++;
    ck_assert_uint_lt(k, before->rows);
    ck_assert_double_gt(after.sorted[k], before->sorted[k]);
    for (uint32_t t = 0; t < after.rows; t++) {
        bool same = t < before->rows && before->quality[t] == after.quality[t] &&
                    memcmp(before->tet[t].v, after.tet[t].v, sizeof after.tet[t].v) == 0;
        bool listed = false;
        for (size_t i = 0; i < remesher->changed.count; i++)
            listed |= remesher->changed.data[i] == t;
        if (kiln_tet_live(remesher->mesh, t))
            ck_assert_msg(same || listed, "tet %u", t);
        else
            ck_assert_msg(!listed, "dead tet %u", t);
    }
    free_snapshot(&after);
}

static uint32_t run_compounds(kiln_remesher *remesher, uint64_t seed, uint64_t rounds,
                              const kiln_insertion_effort *effort)
{
    kiln_mesh *mesh = remesher->mesh;
    kiln_random random = kiln_random_start(seed, 0);
    kiln_walker walker;
    uint32_t done = 0;
    kiln_walker_init(&walker, mesh->context);
    for (uint64_t round = 0; round < rounds; round++) {
        uint32_t tet = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        if (!kiln_tet_live(mesh, tet))
            continue;
        snapshot before = take_snapshot(remesher);
        uint64_t hash = kiln_mesh_hash(mesh), columns = columns_hash(remesher);
        bool undo = round % 2;
        kiln_pass_mark mark = {0};
        if (undo)
            mark = kiln_remesher_mark(remesher);
        bool better = kiln_insertion_compound(remesher, tet, effort);
        if (better) {
            check_success(remesher, &before);
            if (!undo)
                check_changed(remesher, &walker);
        }
        done += better;
        if (undo)
            kiln_remesher_undo(remesher, &mark);
        if (undo || !better) {
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
            ck_assert_uint_eq(columns_hash(remesher), columns);
        }
        free_snapshot(&before);
    }
    kiln_walker_free(&walker);
    kiln_test_audit(mesh);
    check_columns(remesher);
    return done;
}

START_TEST(compounds_improve_or_leave_everything_as_it_was)
{
    kiln_context *context = kiln_test_context(1);
    for (int hard = 0; hard < 2; hard++) {
        kiln_mesh *mesh = random_mesh(context, 100, 4, 1);
        kiln_remesher remesher = begin_usual(mesh);
        uint32_t done = run_compounds(&remesher, 21, kiln_test_rounds(hard ? 40 : 80, 20000),
                                      hard ? &kiln_insertion_hard : &kiln_insertion_usual);
        ck_assert_uint_gt(done, 10);
        kiln_remesher_end(&remesher);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(compounds_with_metric_and_in_two_spaces)
{
    kiln_context *context = kiln_test_context(1);
    for (int with_metric = 0; with_metric < 2; with_metric++) {
        kiln_mesh *mesh = two_regions(context);
        kiln_sizing *sizing = NULL;
        kiln_remesh_options options = kiln_remesh_default_options();
        if (with_metric)
            options.sizing = sizing = stretched_sizing(mesh);
        else
            bend(mesh);
        double volume[2] = {region_volume(mesh, 1), region_volume(mesh, 2)};
        double features = feature_length(mesh);
        kiln_remesher remesher = begin(mesh, &options);
        uint32_t done =
            run_compounds(&remesher, 22, kiln_test_rounds(60, 5000), &kiln_insertion_usual);
        ck_assert_uint_gt(done, 3);
        kiln_remesher_end(&remesher);
        for (int r = 0; r < 2; r++)
            ck_assert_double_eq_tol(region_volume(mesh, r + 1), volume[r], 1e-12);
        ck_assert_double_eq_tol(feature_length(mesh), features, 1e-12);
        kiln_sizing_destroy(sizing);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

/* Cavities go on along the surface, and vertices of it are swallowed, but it stays a ball. */
START_TEST(compounds_keep_a_curved_surface)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.3");
    kiln_test_jitter(mesh, 0.02, 6);
    double volume = kiln_mesh_volume(mesh);
    kiln_remesher remesher = begin_usual(mesh);
    uint32_t done = run_compounds(&remesher, 23, kiln_test_rounds(60, 3000), &kiln_insertion_usual);
    ck_assert_uint_gt(done, 5);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1.1e-3 * volume);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_SURFACE)
            ck_assert_double_eq_tol(kiln_v3_norm(mesh->u[v]), 1.0, 0.06);
    kiln_remesher_end(&remesher);
    ck_assert_int_eq(kiln_test_surface_of(mesh).euler, 2);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Powers of two scale without rounding, so nothing may come out differently. */
START_TEST(size_does_not_matter)
{
    kiln_context *context = kiln_test_context(1);
    const double size[3] = {1.0, 0x1p-20, 0x1p20};
    uint64_t result[3];
    for (int i = 0; i < 3; i++) {
        kiln_mesh *mesh = random_mesh(context, 60, 5, size[i]);
        kiln_remesher remesher = begin_usual(mesh);
        uint32_t done = 0;
        for (uint32_t t = 0; t < 100; t++)
            if (kiln_tet_live(mesh, t))
                done += kiln_insertion_compound(&remesher, t, &kiln_insertion_usual);
        ck_assert_uint_gt(done, 10);
        result[i] = done;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            uint64_t bits;
            memcpy(&bits, &remesher.quality.data[t], sizeof bits);
            result[i] = kiln_hash_add(result[i], bits);
        }
        kiln_remesher_end(&remesher);
        kiln_mesh_destroy(mesh);
    }
    ck_assert_uint_eq(result[1], result[0]);
    ck_assert_uint_eq(result[2], result[0]);
    kiln_context_destroy(context);
}
END_TEST

/* Test 10 of the design: with the surface as it is, no flip, contraction or move of the Kuhn cube
 * is legal; a vertex in the middle gives the 12 tets of test 9. */
START_TEST(where_only_insertion_helps)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < 6; t++)
        for (uint32_t f = 0; f < 4; f++)
            if (kiln_link_is_surface(mesh->tet[t].n[f]))
                kiln_txn_mark_face(&txn, t, f, KILN_MARK_REQUIRED_FACE, true);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_remesher remesher = begin_usual(mesh);
    ck_assert(kiln_insertion_compound(&remesher, 0, &kiln_insertion_usual));
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 12);
    ck_assert_uint_eq(mesh->table[KILN_ON_VERTEX].live, 9);
    ck_assert_double_eq_tol(worst_of(&remesher), 0.6336, 5e-5);
    ck_assert_uint_eq(remesher.changed.count, 12);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(compounds_survive_running_out_of_memory)
{
    uint64_t failures = 0;
    for (uint64_t k = 0;; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = random_mesh(context, 40, 4, 1);
        kiln_remesher remesher = begin_usual(mesh);
        snapshot before = take_snapshot(&remesher);
        heap.fail_at = heap.calls + 1 + k;
        for (uint32_t t = 0; t < 12; t++)
            if (kiln_tet_live(mesh, t))
                kiln_insertion_compound(&remesher, t, &kiln_insertion_usual);
        bool failed = heap.calls >= heap.fail_at;
        heap.fail_at = 0;
        check_columns(&remesher);
        ck_assert_double_ge(worst_of(&remesher), before.sorted[0]);
        free_snapshot(&before);
        kiln_remesher_end(&remesher);
        kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        failures += failed;
        if (!failed)
            break;
    }
    ck_assert_uint_gt(failures, 2);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("insert_compound");
    TCase *all = kiln_test_case(suite, "insert_compound");
    tcase_add_test(all, compounds_improve_or_leave_everything_as_it_was);
    tcase_add_test(all, compounds_with_metric_and_in_two_spaces);
    tcase_add_test(all, compounds_keep_a_curved_surface);
    tcase_add_test(all, size_does_not_matter);
    tcase_add_test(all, where_only_insertion_helps);
    tcase_add_test(all, compounds_survive_running_out_of_memory);
    return suite;
}

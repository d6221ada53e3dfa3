/* Random refinement and coarsening, alone and among other operators. */
#include "geom/predicates.h"
#include "mesh/reorder.h"
#include "refined.h"
#include "remesh/flip.h"

#include <stdio.h>

/* A cube with everything that has to come back: regions, tags, features, required entities, world
 * positions of their own, fields of every rule. */
static kiln_mesh *rich_mesh(kiln_context *context, const char *settings, bool regions, double scale)
{
    kiln_soup soup = kiln_test_soup(context, "box", settings);
    for (size_t i = 0; i < soup.points.count; i++)
        soup.points.data[i] = kiln_v3_scale(soup.points.data[i], scale);
    ck_assert_uint_eq(soup.tet_tags.count, soup.tets.count);
    for (size_t i = 0; i < soup.tets.count && regions; i++) {
        double x = 0;
        for (int k = 0; k < 4; k++)
            x += soup.points.data[soup.tets.data[i].v[k]].x / 4;
        soup.tet_tags.data[i] = x < scale / 2 ? 3 : 4;
    }
    for (size_t i = 0; i < soup.triangles.count; i += 5)
        ck_assert_int_eq(kiln_array_push(context, &soup.required_triangles, (uint32_t)i, NULL),
                         KILN_OK);
    kiln_mesh *mesh = NULL;
    kiln_error error = {0};
    kiln_build_options options = kiln_build_default_options();
    ck_assert_msg(kiln_mesh_build(context, &soup, &options, &mesh, NULL, &error) == KILN_OK, "%s",
                  error.message);
    kiln_soup_free(&soup);
    static const char *const names[3] = {"at vertices", "in tets", "on faces"};
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_f64_array values = {0};
        kiln_random random = kiln_random_start(3, (uint64_t)where);
        for (uint32_t i = 0; i < 2 * mesh->table[where].live; i++)
            ck_assert_int_eq(
                kiln_array_push(context, &values, kiln_random_range(&random, -1, 1), NULL),
                KILN_OK);
        ck_assert_int_eq(
            kiln_mesh_set_field(mesh, (kiln_where)where, names[where], 2, values.data, &error),
            KILN_OK);
        kiln_array_free(context, &values);
    }
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "mass", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, &error),
        KILN_OK);
    kiln_field *mass = kiln_mesh_field(mesh, KILN_ON_TET, "mass");
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ((double *)mass->data)[t] = 1.0 + t;
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t += 7) {
        kiln_txn_mark_edge(&txn, t, t % 6, KILN_MARK_REQUIRED_EDGE, true);
        kiln_txn_mark_edge(&txn, t, (t + 2) % 6, KILN_MARK_FEATURE_EDGE, true);
        kiln_txn_mark_face(&txn, t, t % 4, KILN_MARK_REQUIRED_FACE, true);
    }
    kiln_txn_mark_tet(&txn, 3, KILN_MARK_WORLD, 0);
    kiln_txn_set_vertex(&txn, 0, KILN_VERTEX_REQUIRED, 0);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] = kiln_v3(1.3 * u.x + 0.2 * u.y, 0.9 * u.y + 0.1 * u.x * u.z / scale, u.z);
    }
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f += 3)
        mesh->face[f].twin = f + 1;
    kiln_test_audit(mesh);
    return mesh;
}

static uint32_t random_tet(const kiln_mesh *mesh, kiln_random *random)
{
    for (;;) {
        uint32_t t = kiln_random_below(random, mesh->table[KILN_ON_TET].used);
        if (kiln_tet_live(mesh, t))
            return t;
    }
}

/* Undoes at random until nothing is refined. */
static void undo_at_random(kiln_refiner *refiner, kiln_mesh *mesh, kiln_random *random)
{
    for (bool refined = true; refined;) {
        bool undone = false;
        refined = false;
        for (uint32_t i = 0; i < mesh->table[KILN_ON_TET].live; i++) {
            uint32_t t = random_tet(mesh, random);
            if (kiln_refine_generation(refiner, t) > 0)
                undone |= try_change(refiner, mesh, t, kiln_refine_undo) == KILN_ACCEPTED;
        }
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            if (!kiln_tet_live(mesh, t) || kiln_refine_generation(refiner, t) == 0)
                continue;
            refined = true;
            /* A sweep now and then, or the last few would take for ever to be hit upon. */
            if (!undone)
                undone |= try_change(refiner, mesh, t, kiln_refine_undo) == KILN_ACCEPTED;
        }
        ck_assert_msg(!refined || undone, "stuck");
    }
}

/* Mixed steps and undoings, with audits; refused ones must leave the mesh as it was. */
static uint64_t wander(kiln_refiner *refiner, kiln_mesh *mesh, kiln_random *random, uint64_t steps,
                       uint32_t goal, uint32_t most)
{
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    uint64_t done = 0;
    for (uint64_t i = 0; i < steps; i++) {
        uint32_t t = random_tet(mesh, random);
        bool up = kiln_random_below(random, 2) && mesh->table[KILN_ON_TET].live < most;
        if (up && kiln_refine_generation(refiner, t) >= goal)
            continue;
        bool looks = i % 64 == 0;
        uint64_t before = looks ? kiln_mesh_hash(mesh) : 0;
        kiln_verdict verdict =
            try_change(refiner, mesh, t, up ? kiln_refine_step : kiln_refine_undo);
        done += verdict == KILN_ACCEPTED;
        ck_assert_msg(!up || verdict == KILN_ACCEPTED, "a step is refused: %s",
                      kiln_verdict_reason(verdict));
        if (verdict != KILN_ACCEPTED && looks)
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
        if (i % 16 == 0) {
            kiln_audit_report report = {0};
            t = random_tet(mesh, random);
            ck_assert_int_eq(kiln_mesh_audit_tet(mesh, t, &walker, &report, NULL), KILN_OK);
            ck_assert_msg(!report.invariant, "%s: %s", report.invariant, report.message);
        }
        if (i % 1000 == 999)
            kiln_test_audit(mesh);
    }
    kiln_walker_free(&walker);
    return done;
}

static uint64_t check_reversal(const char *settings, bool regions, double scale, uint64_t seed,
                               uint64_t steps)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = rich_mesh(context, settings, regions, scale);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    double volume = kiln_mesh_volume(mesh);
    kiln_random random = kiln_random_start(seed, 1);
    uint64_t done = 0;
    for (int time = 0; time < 2; time++) {
        done += wander(refiner, mesh, &random, steps, 12, 4000);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12 * volume);
        kiln_test_audit(mesh);
        undo_at_random(refiner, mesh, &random);
        kiln_test_audit(mesh);
        compare_picture(mesh, &before);
    }
    kiln_refiner_destroy(refiner);
    drop_picture(&before);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return done;
}

START_TEST(comes_back_from_anywhere)
{
    uint64_t runs = kiln_test_rounds(2, 60), done = 0;
    for (uint64_t seed = 0; seed < runs; seed++) {
        done += check_reversal("nx=2 ny=2 nz=2", false, 1.0, seed, 1500);
        done += check_reversal("nx=2 ny=2 nz=2", true, 1e6, seed, 1500);
        done += check_reversal("nx=2 ny=1 nz=1 pattern=bcc", true, 1e-6, seed, 1500);
    }
    printf("SOAK %llu refinements and coarsenings, all reversed\n", (unsigned long long)done);
}
END_TEST

/* Undoes wherever it is possible. */
static void undo_all(kiln_refiner *refiner, kiln_mesh *mesh)
{
    for (bool undone = true; undone;) {
        undone = false;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            if (kiln_tet_live(mesh, t) && kiln_refine_generation(refiner, t) > 0)
                undone |= try_change(refiner, mesh, t, kiln_refine_undo) == KILN_ACCEPTED;
    }
}

static void audit_some(const kiln_mesh *mesh, kiln_walker *walker, kiln_random *random)
{
    kiln_audit_report report = {0};
    uint32_t t = random_tet(mesh, random);
    ck_assert_int_eq(kiln_mesh_audit_tet(mesh, t, walker, &report, NULL), KILN_OK);
    ck_assert_msg(!report.invariant, "%s: %s", report.invariant, report.message);
}

/* Steps, undoings and changes by others in one transaction after the other, some rolled back. */
static uint64_t mingle(kiln_refiner *refiner, kiln_mesh *mesh, kiln_random *random, uint64_t steps,
                       uint32_t others, bool holes)
{
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    uint64_t done = 0;
    for (uint64_t i = 0; i < steps; i++) {
        bool back = kiln_random_below(random, 8) == 0;
        uint64_t before = back ? kiln_mesh_hash(mesh) : 0;
        kiln_txn txn = kiln_txn_begin(mesh);
        for (int k = 0; k < 3; k++) {
            uint32_t t = random_tet(mesh, random), what = kiln_random_below(random, 100);
            bool full = mesh->table[KILN_ON_TET].live > 3000;
            kiln_txn inner = kiln_txn_begin(mesh);
            kiln_verdict verdict = what < others ? kiln_test_change(&inner, random, 1e-3, holes)
                                   : what % 2 == 0 || full ? kiln_refine_undo(refiner, &inner, t)
                                                           : kiln_refine_step(refiner, &inner, t);
            done += kiln_txn_settle(&inner, verdict) == KILN_ACCEPTED;
        }
        if (back)
            kiln_txn_rollback(&txn);
        else
            kiln_txn_settle(&txn, KILN_ACCEPTED);
        if (back)
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
        if (i % 8 == 0)
            audit_some(mesh, &walker, random);
        if (i % 1000 == 999)
            kiln_test_audit(mesh);
    }
    kiln_walker_free(&walker);
    return done;
}

/* Among other operators: sound at every moment; what comes back is what was there; what is left is
 * a mesh like any other once it is declared initial. */
static uint64_t check_among_others(uint64_t seed, uint64_t steps, uint32_t others, size_t *restored)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = rich_mesh(context, "nx=2 ny=2 nz=2", seed % 2, 1.0);
    kiln_refiner *refiner = refiner_on(mesh);
    kiln_random random = kiln_random_start(seed, 2);
    uint32_t rows = mesh->table[KILN_ON_TET].used;
    kiln_tet *before = malloc(rows * sizeof *before);
    memcpy(before, mesh->tet, rows * sizeof *before);
    uint64_t done = mingle(refiner, mesh, &random, steps, others, seed % 3 == 2);
    undo_all(refiner, mesh);
    kiln_test_audit(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || kiln_refine_generation(refiner, t) != 0)
            continue;
        ck_assert_uint_lt(t, rows);
        ck_assert_int_eq(memcmp(before[t].v, mesh->tet[t].v, sizeof before[t].v), 0);
        ++*restored;
    }
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_refine_rebase(refiner, &txn, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
    picture rebased = take_picture(mesh);
    kiln_refine_report report;
    uint32_t some[2] = {random_tet(mesh, &random), random_tet(mesh, &random)};
    ck_assert_int_eq(kiln_refine_tets(refiner, some, 2, 5, &report, NULL), KILN_OK);
    undo_at_random(refiner, mesh, &random);
    compare_picture(mesh, &rebased);
    drop_picture(&rebased);
    free(before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return done;
}

START_TEST(stays_sound_among_other_operators)
{
    uint64_t runs = kiln_test_rounds(8, 800), done = 0;
    size_t restored = 0;
    for (uint64_t seed = 0; seed < runs; seed++)
        done += check_among_others(seed, 300, seed % 4 < 2 ? 1 : 30, &restored);
    ck_assert_uint_gt(restored, 0);
    printf("SOAK %llu refinements, coarsenings, flips, splits, moves and holes mixed\n",
           (unsigned long long)done);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("refine_campaign");
    TCase *all = kiln_test_case(suite, "campaign");
    tcase_add_test(all, comes_back_from_anywhere);
    tcase_add_test(all, stays_sound_among_other_operators);
    return suite;
}

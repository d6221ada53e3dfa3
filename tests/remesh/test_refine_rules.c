/* What the refinement must refuse, keep and leave alone. */
#include "mesh/reorder.h"
#include "refined.h"
#include "remesh/flip.h"
#include "remesh/refine_file.h"
#include "remesh/transfer.h"
#include "topology/open.h"

static kiln_mesh *box(kiln_context *context)
{
    return kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
}

static uint32_t centre_of(const kiln_mesh *mesh)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (mesh->u[v].x == .5 && mesh->u[v].y == .5 && mesh->u[v].z == .5)
            return v;
    ck_abort_msg("no centre");
}

/* A tet as four places in its order, so that numbers do not matter. */
typedef struct placed_tet {
    kiln_vec3 corner[4];
    uint64_t word;
} placed_tet;

static int compare_placed(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(placed_tet));
}

static placed_tet *placed_tets(const kiln_refiner *refiner, const kiln_mesh *mesh, bool in_order)
{
    placed_tet *all = calloc(mesh->table[KILN_ON_TET].live, sizeof *all);
    size_t count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        for (int k = 0; k < 4; k++)
            all[count].corner[k] = mesh->u[mesh->tet[t].v[k]];
        for (int i = 0; i < 3 && !in_order; i++)
            for (int j = 0; j < 3 - i; j++)
                if (memcmp(&all[count].corner[j], &all[count].corner[j + 1], sizeof(kiln_vec3)) >
                    0) {
                    kiln_vec3 swap = all[count].corner[j];
                    all[count].corner[j] = all[count].corner[j + 1];
                    all[count].corner[j + 1] = swap;
                }
        all[count++].word = kiln_refine_generation(refiner, t);
    }
    qsort(all, count, sizeof *all, compare_placed);
    return all;
}

/* Two stars, in turn, alternating, or one request: the same tets at the same places. */
START_TEST(the_order_of_requests_does_not_matter)
{
    kiln_context *context = kiln_test_context(1);
    placed_tet *first = NULL;
    for (int way = 0; way < 4; way++) {
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
        kiln_test_jitter(mesh, 0.01, 5);
        kiln_refiner *refiner = refiner_on(mesh);
        uint32_t at[2] = {62, 31};
        kiln_refine_report report;
        for (uint32_t g = way == 2 ? 1 : 7; g <= 7; g++)
            for (int i = 0; i < 2 && way < 3; i++)
                refine_star(refiner, at[way == 1 ? 1 - i : i], g);
        if (way == 3)
            ck_assert_int_eq(kiln_refine_stars(refiner, at, 2, 7, &report, NULL), KILN_OK);
        expect_counts(mesh, 1092, 269);
        placed_tet *now = placed_tets(refiner, mesh, false);
        if (first)
            ck_assert_int_eq(memcmp(first, now, 1092 * sizeof *now), 0);
        if (way == 0)
            first = now;
        else
            free(now);
        kiln_refiner_destroy(refiner);
        kiln_mesh_destroy(mesh);
    }
    free(first);
    kiln_context_destroy(context);
}
END_TEST

/* Two tets whose apexes' line pierces the plane of their face at the barycentric coordinates given;
 * refined all over, did they need a point in the face? */
static bool needs_a_point(double b0, double b1, bool in_world)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 face[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    double x = b1, y = 1 - b0 - b1;
    kiln_vec3 p[5] = {face[0], face[1], face[2], {x, y, 1}, {x, y, -1}};
    const kiln_vec3 good[2] = {{.3, .3, 1}, {.3, .3, -1}};
    const kiln_soup_tet tets[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};
    if (in_world)
        memcpy(p + 3, good, sizeof good);
    kiln_mesh *mesh = kiln_test_mesh_of(context, 5, p, 2, tets, NULL, KILN_BUILD_STRICT);
    if (in_world) {
        mesh->x[3] = kiln_v3(x, y, 1);
        mesh->x[4] = kiln_v3(x, y, -1);
    }
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    refine_all(refiner, mesh, 5);
    kiln_test_audit(mesh);
    uint32_t tets_now = mesh->table[KILN_ON_TET].live;
    ck_assert(tets_now == 58 || tets_now == 64);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    compare_picture(mesh, &before);
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    return tets_now == 64;
}

/* B holds while every coordinate is above -1, D at a corner while it is below 5/3. */
START_TEST(faces_whose_flip_fails_get_a_point)
{
    for (int world = 0; world < 2; world++) {
        ck_assert(!needs_a_point(-0.99, 1, world));
        ck_assert(needs_a_point(-1.01, 1, world));
        ck_assert(!needs_a_point(1, -0.99, world));
        ck_assert(needs_a_point(1, -1.01, world));
        ck_assert(!needs_a_point(1.66, -.33, world));
        ck_assert(needs_a_point(1.67, -.335, world));
        ck_assert(!needs_a_point(-.33, 1.66, world));
        ck_assert(needs_a_point(-.335, 1.67, world));
    }
}
END_TEST

/* Refused undoing changes nothing. */
START_TEST(undoing_waits_for_what_is_finer)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    refine_star(refiner, centre_of(mesh), 7);
    uint64_t hash = kiln_mesh_hash(mesh);
    int refused[5] = {0}, done = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        uint32_t g = kiln_refine_generation(refiner, t);
        kiln_txn txn = kiln_txn_begin(mesh);
        kiln_verdict verdict = kiln_refine_undo(refiner, &txn, t);
        if (verdict == KILN_ACCEPTED)
            done++;
        else
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        refused[g % 5] += verdict != KILN_ACCEPTED;
        kiln_txn_rollback(&txn);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    }
    ck_assert_int_gt(done, 0);
    ck_assert_int_gt(refused[0], 0);
    ck_assert_int_gt(refused[1], 0);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(locked_tets_hold_on)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    refine_all(refiner, mesh, 5);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_mark_tet(&txn, 500, KILN_MARK_LOCKED, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_refine_report report = coarsen_all(refiner);
    ck_assert_uint_gt(report.blocked, 0);
    ck_assert_int_eq(report.first_refusal, KILN_REFUSED_LOCKED);
    ck_assert(kiln_tet_live(mesh, 500));
    ck_assert_uint_gt(mesh->table[KILN_ON_TET].live, 48);
    ck_assert_uint_lt(mesh->table[KILN_ON_TET].live, 400);
    kiln_test_audit(mesh);
    /* Nor can it be refined with its neighbours; all of the request is taken back. */
    uint64_t hash = kiln_mesh_hash(mesh);
    txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = KILN_ACCEPTED;
    for (int i = 0; i < 5 && verdict == KILN_ACCEPTED; i++)
        verdict = kiln_refine_step(refiner, &txn, 500);
    ck_assert_int_eq(verdict, KILN_REFUSED_LOCKED);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_mark_tet(&txn, 500, 0, KILN_MARK_LOCKED), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    coarsen_all(refiner);
    compare_picture(mesh, &before);
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A flip of a tet in the middle of a refined mesh. */
static void flip_one(kiln_mesh *mesh, uint32_t made[3])
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4 && kiln_tet_live(mesh, t); f++) {
            kiln_txn txn = kiln_txn_begin(mesh);
            if (kiln_txn_settle(&txn, kiln_flip_23(&txn, t, f, made)) == KILN_ACCEPTED)
                return;
        }
    ck_abort_msg("nothing can be flipped");
}

START_TEST(what_others_make_is_foreign)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    uint32_t made[3];
    refine_all(refiner, mesh, 5);
    flip_one(mesh, made);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(kiln_refine_generation(refiner, made[i]), KILN_NONE);
        ck_assert_int_eq(try_change(refiner, mesh, made[i], kiln_refine_step), KILN_REFUSED_LOCKED);
        ck_assert_int_eq(try_change(refiner, mesh, made[i], kiln_refine_undo), KILN_REFUSED_LOCKED);
    }
    coarsen_all(refiner);
    kiln_test_audit(mesh);
    for (int i = 0; i < 3; i++)
        ck_assert(kiln_tet_live(mesh, made[i]));
    ck_assert_uint_gt(mesh->table[KILN_ON_TET].live, 48);
    ck_assert_uint_lt(mesh->table[KILN_ON_TET].live, 400);
    /* Part of a refined neighbourhood: not adopted. All of it declared initial: as good as new. */
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_refine_adopt(refiner, &txn), KILN_ACCEPTED);
    ck_assert_uint_eq(kiln_refine_generation(refiner, made[0]), KILN_NONE);
    ck_assert_int_eq(kiln_refine_rebase(refiner, &txn, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
    picture before = take_picture(mesh);
    refine_all(refiner, mesh, 7);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    compare_picture(mesh, &before);
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static double centre_x(const kiln_mesh *mesh, uint32_t tet)
{
    double x = 0;
    for (int k = 0; k < 4; k++)
        x += mesh->u[mesh->tet[tet].v[k]].x / 4;
    return x;
}

/* A crack through a refined mesh, along faces between two regions: what it touched stays, the
 * layers of tets beyond its own come back, and rebased the rest is as good as new. */
START_TEST(a_crack_holds_on_to_its_own_layers)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=2 nz=2");
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert_int_eq(kiln_txn_set_region(&txn, t, centre_x(mesh, t) < 0.5 ? 1 : 2),
                         KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_refiner *refiner = refiner_on(mesh);
    refine_all(refiner, mesh, 5);
    kiln_u32_array faces = {0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t f = 0; f < 4 && kiln_tet_live(mesh, t); f++)
            if (mesh->info[t].region == 1 && kiln_link_is_interface(mesh, t, mesh->tet[t].n[f]))
                ck_assert_int_eq(kiln_array_push(context, &faces, kiln_link_to(t, f), NULL),
                                 KILN_OK);
    ck_assert_uint_eq(faces.count, 72);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_open_faces(&txn, faces.data, faces.count, 7, NULL), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    coarsen_all(refiner);
    kiln_test_audit(mesh);
    uint32_t initial = 0, outer = 0, inner = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        bool beyond = fabs(centre_x(mesh, t) - 0.5) > 0.25;
        initial += beyond && kiln_refine_generation(refiner, t) == 0;
        outer += beyond;
        inner += !beyond;
    }
    ck_assert_uint_eq(initial, 48);
    ck_assert_uint_eq(outer, 48);
    ck_assert_uint_gt(inner, 48);
    ck_assert_uint_lt(inner, 1104);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), 1, 1e-12);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_refine_rebase(refiner, &txn, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
    picture before = take_picture(mesh);
    refine_all(refiner, mesh, 3);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    compare_picture(mesh, &before);
    drop_picture(&before);
    kiln_array_free(context, &faces);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Where nothing is refined, what others made counts as initial at the next request. */
START_TEST(foreign_tets_among_initial_ones_are_adopted)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    uint32_t made[3];
    kiln_test_jitter(mesh, 0.05, 1);
    flip_one(mesh, made);
    ck_assert_uint_eq(kiln_refine_generation(refiner, made[0]), KILN_NONE);
    refine_all(refiner, mesh, 5);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ck_assert(!kiln_tet_live(mesh, t) || kiln_refine_generation(refiner, t) == 0);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(moved_and_forgotten_tets_stay)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    refine_all(refiner, mesh, 3);
    uint32_t vertex = mesh->table[KILN_ON_VERTEX].used - 1;
    kiln_vec3 at = mesh->u[vertex], to = at;
    to.x += 1e-9;
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_move_vertex(&txn, vertex, to, to), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_uint_gt(coarsen_all(refiner).blocked, 0);
    ck_assert(kiln_vertex_live(mesh, vertex));
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_move_vertex(&txn, vertex, at, at), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    compare_picture(mesh, &before);
    /* World positions are free to move. */
    refine_all(refiner, mesh, 5);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->x[v].x += 0.1 * mesh->x[v].y;
    uint32_t some[2] = {7, 700};
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_refine_forget(refiner, &txn, some, 2), KILN_ACCEPTED);
    ck_assert_uint_eq(kiln_refine_generation(refiner, 7), KILN_NONE);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_refine_generation(refiner, 7), 5);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_refine_forget(refiner, &txn, some, 2), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    coarsen_all(refiner);
    ck_assert(kiln_tet_live(mesh, 7) && kiln_tet_live(mesh, 700));
    kiln_test_audit(mesh);
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Numbers may change between refining and coarsening; the order in the tets is what counts. */
START_TEST(renumbering_does_not_matter)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    placed_tet *before = placed_tets(refiner, mesh, true);
    refine_star(refiner, centre_of(mesh), 12);
    ck_assert_int_eq(kiln_mesh_reorder(mesh, KILN_SPACE_MATERIAL, NULL, NULL), KILN_OK);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    expect_counts(mesh, 48, 27);
    placed_tet *after = placed_tets(refiner, mesh, true);
    ck_assert_int_eq(memcmp(before, after, 48 * sizeof *after), 0);
    free(before);
    free(after);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static bool larger_than(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    return kiln_tet_longest_edge(mesh, tet) > *(double *)user;
}

static bool by_chance(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    (void)user;
    uint64_t hash = 0;
    for (int k = 0; k < 4; k++)
        hash ^= kiln_hash_bytes(0, &mesh->u[mesh->tet[tet].v[k]], sizeof *mesh->u);
    return kiln_hash_mix(hash) % 8 != 0;
}

static bool left_half(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    (void)user;
    double x = 0;
    for (int k = 0; k < 4; k++)
        x += mesh->u[mesh->tet[tet].v[k]].x / 4;
    return x < 0.5;
}

/* Coarsening takes something away, but none of the tets that are not chosen. */
static void expect_unwilling_stay(kiln_refiner *refiner, const kiln_mesh *mesh,
                                  kiln_refine_choice choice)
{
    uint32_t most = mesh->table[KILN_ON_TET].live, used = mesh->table[KILN_ON_TET].used;
    kiln_refine_report report;
    kiln_tet *fine = malloc(used * sizeof *fine);
    uint8_t *stays = calloc(used, 1);
    memcpy(fine, mesh->tet, used * sizeof *fine);
    for (uint32_t t = 0; t < used; t++)
        stays[t] = kiln_tet_live(mesh, t) && !choice.wants(choice.user, mesh, t);
    ck_assert_int_eq(kiln_coarsen_where(refiner, choice, 0, &report, NULL), KILN_OK);
    ck_assert_uint_gt(report.steps, 0);
    ck_assert_uint_ne(mesh->table[KILN_ON_TET].live, most);
    for (uint32_t t = 0; t < used; t++)
        ck_assert(!stays[t] || memcmp(fine[t].v, mesh->tet[t].v, sizeof fine[t].v) == 0);
    free(fine);
    free(stays);
}

START_TEST(choices_and_goals)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    kiln_refine_report report;
    double size = 0.35;
    kiln_refine_choice large = {larger_than, &size};
    ck_assert_int_eq(kiln_refine_where(refiner, large, 8, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.blocked, 0);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            ck_assert_double_le(kiln_tet_longest_edge(mesh, t), size);
    expect_unwilling_stay(refiner, mesh, (kiln_refine_choice){left_half, NULL});
    ck_assert_uint_gt(kiln_refine_highest(refiner), 0);
    coarsen_all(refiner);
    for (uint32_t goal = 1; goal <= 5; goal++) {
        refine_all(refiner, mesh, goal);
        expect_unwilling_stay(refiner, mesh, (kiln_refine_choice){by_chance, NULL});
        coarsen_all(refiner);
    }
    /* A goal is reached by all that overlaps the tets asked for, and by little else. */
    coarsen_all(refiner);
    uint32_t tet = 5;
    double volume = kiln_mesh_tet_volume(mesh, tet), reached = 0;
    ck_assert_int_eq(kiln_refine_tets(refiner, &tet, 1, 10, &report, NULL), KILN_OK);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && kiln_refine_generation(refiner, t) >= 10)
            reached += kiln_mesh_tet_volume(mesh, t);
    ck_assert_double_ge(reached, volume * (1 - 1e-12));
    ck_assert_double_le(reached, 0.1);
    ck_assert_int_eq(kiln_coarsen_where(refiner, (kiln_refine_choice){0}, 5, &report, NULL),
                     KILN_OK);
    ck_assert_uint_eq(kiln_refine_highest(refiner), 5);
    coarsen_all(refiner);
    compare_picture(mesh, &before);
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A request inside a transaction goes with it. */
START_TEST(requests_roll_back_with_their_transaction)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    kiln_refiner *refiner = refiner_on(mesh);
    refine_star(refiner, centre_of(mesh), 6);
    uint64_t hash = kiln_mesh_hash(mesh);
    kiln_txn txn = kiln_txn_begin(mesh);
    refine_all(refiner, mesh, 7);
    ck_assert_uint_gt(mesh->table[KILN_ON_TET].live, 1104);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    txn = kiln_txn_begin(mesh);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    expect_counts(mesh, 48, 27);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static void expect_density(const kiln_mesh *mesh, double density)
{
    const kiln_field *mass = kiln_mesh_field(mesh, KILN_ON_TET, "mass");
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            ck_assert_double_eq_tol(kiln_field_value(mass, t, 0) / kiln_mesh_tet_volume(mesh, t),
                                    density, 1e-10);
}

/* In passes, fields go over by their rules: a uniform density stays uniform both ways, and the
 * words are left alone. */
START_TEST(passes_transfer_fields)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "mass", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, NULL),
        KILN_OK);
    kiln_field *mass = kiln_mesh_field(mesh, KILN_ON_TET, "mass");
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        ((double *)mass->data)[t] = 3 * kiln_mesh_tet_volume(mesh, t);
    kiln_refiner *refiner = refiner_on(mesh);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    refine_star(refiner, centre_of(mesh), 7);
    ck_assert_int_eq(kiln_transfer(mesh, NULL, NULL, NULL), KILN_OK);
    kiln_archive_end(mesh);
    expect_counts(mesh, 420, 103);
    expect_density(mesh, 3);
    ck_assert_int_eq(kiln_archive_begin(mesh, NULL), KILN_OK);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    ck_assert_int_eq(kiln_transfer(mesh, NULL, NULL, NULL), KILN_OK);
    kiln_archive_end(mesh);
    expect_counts(mesh, 48, 27);
    expect_density(mesh, 3);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* World tets that are inside out are tolerated but never added to. */
START_TEST(inverted_world_tets_do_not_spread)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = box(context);
    mesh->world_policy = KILN_WORLD_TOLERATE;
    uint32_t centre = centre_of(mesh);
    mesh->x[centre] = kiln_v3(1.2, .5, .5);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    kiln_refine_report report;
    kiln_refine_choice everything = {0};
    ck_assert_int_eq(kiln_refine_where(refiner, everything, 1, &report, NULL), KILN_OK);
    kiln_test_audit(mesh);
    ck_assert_uint_gt(report.steps, 0);
    coarsen_all(refiner);
    kiln_test_audit(mesh);
    if (mesh->table[KILN_ON_TET].live == 48)
        compare_picture(mesh, &before);
    drop_picture(&before);
    kiln_refiner_destroy(refiner);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Words that lie are not believed: whatever happens, the mesh stays sound. */
START_TEST(wrong_words_do_no_harm)
{
    kiln_random random = kiln_random_start(9, 0);
    uint64_t rounds = kiln_test_rounds(20, 2000);
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = box(context);
        kiln_refiner *refiner = refiner_on(mesh);
        refine_star(refiner, centre_of(mesh), 7);
        ck_assert_int_eq(kiln_mesh_compact(mesh, NULL, NULL), KILN_OK);
        kiln_refine_words words = {0};
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            kiln_refine_word word = kiln_refine_word_of(refiner, t);
            if (kiln_random_below(&random, 4) == 0)
                word ^= UINT64_C(1) << kiln_random_below(&random, 24);
            if (kiln_random_below(&random, 8) == 0)
                word = kiln_refine_word_of(
                    refiner, kiln_random_below(&random, mesh->table[KILN_ON_TET].used));
            if (kiln_random_below(&random, 64) == 0)
                word = kiln_random_u64(&random);
            ck_assert_int_eq(kiln_array_push(context, &words, word, NULL), KILN_OK);
        }
        ck_assert_int_eq(kiln_refiner_set_words(refiner, &words, NULL), KILN_OK);
        kiln_refine_report report;
        coarsen_all(refiner);
        kiln_test_audit(mesh);
        kiln_refine_choice everything = {0};
        ck_assert_int_eq(kiln_refine_where(refiner, everything, 1, &report, NULL), KILN_OK);
        kiln_test_audit(mesh);
        coarsen_all(refiner);
        kiln_test_audit(mesh);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), 1, 1e-9);
        kiln_array_free(context, &words);
        kiln_refiner_destroy(refiner);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* Allocations of a request fail, every one of them in a soak: an error, and a sound mesh that can
 * be coarsened. */
START_TEST(survives_want_of_memory)
{
    uint64_t failures = 0;
    for (uint64_t fail_at = 1;; fail_at += 1 + kiln_test_rounds(fail_at / 24, 0)) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
        kiln_refiner *refiner = NULL;
        kiln_refine_report report;
        kiln_refine_choice everything = {0};
        heap.fail_at = heap.calls + fail_at;
        kiln_status status = kiln_refiner_create(mesh, &refiner, NULL);
        if (status == KILN_OK)
            status = kiln_refine_where(refiner, everything, 1, &report, NULL);
        bool refined = status == KILN_OK;
        if (status == KILN_OK)
            status = kiln_coarsen_where(refiner, everything, 0, &report, NULL);
        heap.fail_at = 0;
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        kiln_test_audit(mesh);
        failures += status != KILN_OK;
        if (refiner) {
            coarsen_all(refiner);
            expect_counts(mesh, 6, 8);
        }
        kiln_refiner_destroy(refiner);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        if (refined && status == KILN_OK)
            break;
    }
    ck_assert_uint_gt(failures, 20);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("refine_rules");
    TCase *all = kiln_test_case(suite, "rules");
    tcase_add_test(all, the_order_of_requests_does_not_matter);
    tcase_add_test(all, faces_whose_flip_fails_get_a_point);
    tcase_add_test(all, undoing_waits_for_what_is_finer);
    tcase_add_test(all, locked_tets_hold_on);
    tcase_add_test(all, what_others_make_is_foreign);
    tcase_add_test(all, a_crack_holds_on_to_its_own_layers);
    tcase_add_test(all, foreign_tets_among_initial_ones_are_adopted);
    tcase_add_test(all, moved_and_forgotten_tets_stay);
    tcase_add_test(all, renumbering_does_not_matter);
    tcase_add_test(all, choices_and_goals);
    tcase_add_test(all, requests_roll_back_with_their_transaction);
    tcase_add_test(all, passes_transfer_fields);
    tcase_add_test(all, inverted_world_tets_do_not_spread);
    tcase_add_test(all, wrong_words_do_no_harm);
    tcase_add_test(all, survives_want_of_memory);
    return suite;
}

/* The primitive by itself: every reason to refuse, slot inheritance, large rings, policies. */
#include "fixtures.h"
#include "mesh/parts.h"
#include "mesh/replace.h"
#include "support.h"

#include <math.h>
#include <string.h>

/* Two tets on a face, apexes 3 (above) and 4 (below). */
static kiln_mesh *two_tets(kiln_context *context, const int32_t *regions)
{
    const kiln_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.3, .3, 1}, {.3, .3, -1}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};
    return kiln_test_mesh_of(context, 5, p, 2, t, regions, KILN_BUILD_STRICT);
}

static const uint32_t both[2] = {0, 1};

/* The 2-3 flip of two_tets. */
static const kiln_new_tet flipped[3] = {{{4, 3, 0, 1}, 0, KILN_NONE, 0},
                                        {{4, 3, 1, 2}, 0, KILN_NONE, 0},
                                        {{4, 3, 2, 0}, 0, KILN_NONE, 0}};

static kiln_cavity flip(void)
{
    return (kiln_cavity){.old = both, .old_count = 2, .fresh = flipped, .fresh_count = 3};
}

/* Tries the cavity: the verdict must be this one, and nothing may have changed. */
static void expect(kiln_mesh *mesh, const kiln_cavity *cavity, kiln_verdict wanted)
{
    uint64_t before = kiln_mesh_hash(mesh);
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_verdict verdict = kiln_replace(&txn, cavity, NULL);
    ck_assert_msg(verdict == wanted, "wanted '%s', got '%s'", kiln_verdict_reason(wanted),
                  kiln_verdict_reason(verdict));
    if (verdict != KILN_ACCEPTED)
        ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
}

START_TEST(bad_sets_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_tets(context, NULL);
    kiln_cavity cavity = flip();
    expect(mesh, &cavity, KILN_ACCEPTED);

    const uint32_t twice[2] = {0, 0}, absent[2] = {0, 7};
    cavity.old = twice;
    expect(mesh, &cavity, KILN_REFUSED_REPEATED);
    cavity.old = absent;
    expect(mesh, &cavity, KILN_REFUSED_DEAD);

    kiln_new_tet fresh[3];
    cavity = flip();
    cavity.fresh = fresh;
    memcpy(fresh, flipped, sizeof fresh);
    fresh[1].v[2] = 99;
    expect(mesh, &cavity, KILN_REFUSED_DEAD);
    memcpy(fresh, flipped, sizeof fresh);
    fresh[1].v[0] = 3, fresh[1].v[1] = 4;
    expect(mesh, &cavity, KILN_REFUSED_INVERTED);
    memcpy(fresh, flipped, sizeof fresh);
    fresh[1].v[1] = 4; /* a corner twice has no volume */
    expect(mesh, &cavity, KILN_REFUSED_INVERTED);
    memcpy(fresh, flipped, sizeof fresh);
    fresh[0].slot = fresh[1].slot = 0;
    expect(mesh, &cavity, KILN_REFUSED_REPEATED);
    fresh[0].slot = 5;
    expect(mesh, &cavity, KILN_REFUSED_DECLARATION);
    memcpy(fresh, flipped, sizeof fresh);
    memcpy(fresh[2].v, fresh[1].v, sizeof fresh[2].v); /* the same tet twice */
    expect(mesh, &cavity, KILN_REFUSED_OVERLAP);
    cavity = flip();
    cavity.fresh_count = 2; /* leaves faces of R without a counterpart */
    expect(mesh, &cavity, KILN_REFUSED_UNDECLARED);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bad_declarations_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_tets(context, NULL);
    /* Peel the upper tet: its outside faces go, the lower one's face is uncovered. */
    const uint32_t upper = 0;
    const kiln_open_face uncovered = {.outside = mesh->tet[0].n[3], .tag = 6};
    kiln_cavity cavity = {.old = &upper,
                          .old_count = 1,
                          .opened = &uncovered,
                          .opened_count = 1,
                          .flags = KILN_CAVITY_SURFACE | KILN_CAVITY_FEATURES};
    expect(mesh, &cavity, KILN_ACCEPTED);
    cavity.flags = KILN_CAVITY_FEATURES; /* the surface may not go */
    expect(mesh, &cavity, KILN_REFUSED_UNDECLARED);
    cavity.flags = KILN_CAVITY_SURFACE; /* nor the edges of the apex */
    expect(mesh, &cavity, KILN_REFUSED_FEATURE);
    const kiln_open_face elsewhere = {.outside = mesh->tet[0].n[3] ^ 1, .tag = 6};
    cavity.opened = &elsewhere;
    expect(mesh, &cavity, KILN_REFUSED_DECLARATION);

    /* A matched face is not free to be declared. */
    kiln_cavity declared = flip();
    const kiln_new_face surface = {.tet = 0, .face = 0, .parent = KILN_NONE};
    declared.surface = &surface;
    declared.surface_count = 1;
    expect(mesh, &declared, KILN_REFUSED_DECLARATION);
    const kiln_glue_face glued = {.tet = 0, .face = 0, .outside = 2};
    declared = flip();
    declared.glued = &glued;
    declared.glued_count = 1;
    expect(mesh, &declared, KILN_REFUSED_DECLARATION);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(constraints_are_kept)
{
    kiln_context *context = kiln_test_context(1);
    const int32_t regions[2] = {1, 2};
    kiln_mesh *mesh = two_tets(context, regions);
    kiln_cavity cavity = flip();
    expect(mesh, &cavity, KILN_REFUSED_REGION);
    cavity.flags = KILN_CAVITY_REGIONS; /* the outside still has the lower region */
    expect(mesh, &cavity, KILN_REFUSED_REGION);
    kiln_mesh_destroy(mesh);

    mesh = two_tets(context, NULL);
    cavity = flip();
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_mark_face(&txn, 0, 3, KILN_MARK_REQUIRED_FACE, true), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    expect(mesh, &cavity, KILN_REFUSED_REQUIRED);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_mark_face(&txn, 0, 3, KILN_MARK_REQUIRED_FACE, false), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_mark_tet(&txn, 1, KILN_MARK_LOCKED, 0), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    expect(mesh, &cavity, KILN_REFUSED_LOCKED);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* In the world the lower apex lies above the face, so one tet is inverted there. */
START_TEST(world_policies)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_tets(context, NULL);
    kiln_cavity cavity = flip();
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_move_vertex(&txn, 4, mesh->u[4], kiln_v3(.3, .3, .5)),
                     KILN_REFUSED_INVERTED_WORLD);
    kiln_txn_rollback(&txn);
    mesh->x[4] = kiln_v3(.3, .3, .5);
    expect(mesh, &cavity, KILN_ACCEPTED); /* round the apexes' edge all is positive again */
    mesh->x[4] = kiln_v3(.3, .3, 1.5);
    expect(mesh, &cavity, KILN_REFUSED_INVERTED_WORLD);
    mesh->world_policy = KILN_WORLD_TOLERATE; /* one inverted tet, but three would be */
    expect(mesh, &cavity, KILN_REFUSED_INVERTED_WORLD);
    txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_txn_move_vertex(&txn, 4, mesh->u[4], kiln_v3(.3, .3, 1.2)),
                     KILN_ACCEPTED); /* less inverted than before */
    ck_assert_int_eq(kiln_txn_move_vertex(&txn, 4, mesh->u[4], kiln_v3(.3, .3, 1.3)),
                     KILN_REFUSED_INVERTED_WORLD);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* All tets round an edge trisected as one cavity: in-place cells become the middle and keep slot
 * and order of corners (fracture-algorithms 9.1 and 9.5). */
START_TEST(a_ring_of_64_is_trisected)
{
    enum { RING = 64 };
    kiln_context *context = kiln_test_context(1);
    kiln_vec3 p[RING + 2] = {{0, 0, 0}, {0, 0, 1}};
    kiln_soup_tet t[RING];
    for (uint32_t i = 0; i < RING; i++) {
        double angle = 2 * 3.14159265358979323846 * i / RING;
        p[i + 2] = kiln_v3(cos(angle), sin(angle), 0.5);
        t[i] = (kiln_soup_tet){{0, i + 2, (i + 1) % RING + 2, 1}};
    }
    kiln_mesh *mesh = kiln_test_mesh_of(context, RING + 2, p, RING, t, NULL, KILN_BUILD_STRICT);
    uint64_t before = kiln_mesh_hash(mesh);
    double volume = kiln_mesh_volume(mesh);
    for (int round = 0; round < 2; round++) {
        kiln_txn txn = kiln_txn_begin(mesh);
        const uint32_t ends[2] = {0, 1};
        const double low[2] = {2.0 / 3, 1.0 / 3}, high[2] = {1.0 / 3, 2.0 / 3};
        kiln_vec3 a = {0, 0, 1.0 / 3}, b = {0, 0, 2.0 / 3};
        uint32_t pa = kiln_txn_add_vertex(&txn, a, a, ends, low, 2);
        uint32_t pb = kiln_txn_add_vertex(&txn, b, b, ends, high, 2);
        uint32_t old[RING], made[3 * RING];
        kiln_new_tet fresh[3 * RING];
        for (uint32_t i = 0; i < RING; i++) {
            const uint32_t *v = mesh->tet[i].v;
            old[i] = i;
            fresh[3 * i] = (kiln_new_tet){{pa, v[1], v[2], pb}, i, i, 0};
            fresh[3 * i + 1] = (kiln_new_tet){{v[0], v[1], v[2], pa}, i, KILN_NONE, 0};
            fresh[3 * i + 2] = (kiln_new_tet){{pb, v[1], v[2], v[3]}, i, KILN_NONE, 0};
        }
        kiln_cavity cavity = {
            .old = old, .old_count = RING, .fresh = fresh, .fresh_count = 3 * RING};
        ck_assert_int_eq(kiln_replace(&txn, &cavity, made), KILN_ACCEPTED);
        for (uint32_t i = 0; i < RING; i++) {
            ck_assert_uint_eq(made[3 * i], i);
            ck_assert_uint_eq(mesh->tet[i].v[0], pa);
            ck_assert_uint_eq(mesh->tet[i].v[3], pb);
        }
        if (round == 0) {
            kiln_txn_rollback(&txn);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
        } else {
            ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
        }
    }
    kiln_test_audit(mesh);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 3 * RING);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-14);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(words_of_a_body_are_rebased)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                            {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{4, 5, 6, 7}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 8, p, 2, t, NULL, KILN_BUILD_STRICT);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "word", KILN_ON_TET, KILN_U64, 1, KILN_RULE_NONE, NULL), KILN_OK);
    const kiln_field *word = kiln_mesh_field(mesh, KILN_ON_TET, "word");
    ((uint64_t *)word->data)[0] = ((uint64_t *)word->data)[1] = 77;
    uint64_t before = kiln_mesh_hash(mesh), zero = 0;
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(
        kiln_txn_fill_body(&txn, mesh->parts.data[mesh->info[1].part].body, word, &zero),
        KILN_ACCEPTED);
    ck_assert_uint_eq(((uint64_t *)word->data)[0], 77);
    ck_assert_uint_eq(((uint64_t *)word->data)[1], 0);
    kiln_txn_rollback(&txn);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("replace");
    TCase *all = kiln_test_case(suite, "replace");
    tcase_add_test(all, bad_sets_are_refused);
    tcase_add_test(all, bad_declarations_are_refused);
    tcase_add_test(all, constraints_are_kept);
    tcase_add_test(all, world_policies);
    tcase_add_test(all, a_ring_of_64_is_trisected);
    tcase_add_test(all, words_of_a_body_are_rebased);
    return suite;
}

/* Random replacements of every kind in nested transactions, committed or rolled back: after each
 * the new tets are audited locally, after a rollback the hash must be the old one, at times the
 * whole mesh is audited. 100,000 replacements in make test, 10 million in make soak. */
#include "fixtures.h"
#include "mesh/parts.h"
#include "mesh/walk.h"
#include "remesh/flip.h"
#include "support.h"
#include "topology/layer.h"
#include "topology/open.h"
#include "topology/repair.h"
#include "topology/split.h"
#include "topology/weld.h"

#include <stdio.h>
#include <string.h>

/* Ten legs with a random stream each: Check cannot time a test of more than 2147 s. */
enum { MOST_TETS = 900, SPLITS = 64, LEGS = 10 };

typedef enum action {
    FLIP_23,
    FLIP_32,
    FLIP_22,
    SPLIT,
    UNSPLIT,
    OPEN,
    CLOSE,
    LAYER,
    BRIDGE,
    REMOVE,
    MOVE,
    REGION,
    WRITE,
    ACTIONS
} action;

static const char *const action_names[ACTIONS] = {"2-3",  "3-2",    "2-2",   "split",  "unsplit",
                                                  "open", "close",  "layer", "bridge", "remove",
                                                  "move", "region", "write"};

typedef struct campaign {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_random random;
    kiln_walker walker;
    kiln_split splits[SPLITS];
    uint32_t split_count;
    uint64_t done[ACTIONS], refused[ACTIONS];
    uint64_t rollbacks, commits, refused_commits, replacements, rebuilt;
} campaign;

static uint32_t below(campaign *c, uint32_t n)
{
    return kiln_random_below(&c->random, n);
}

static uint32_t random_row(campaign *c, kiln_where where)
{
    for (;;) {
        uint32_t row = below(c, c->mesh->table[where].used);
        if (kiln_row_live(c->mesh, where, row))
            return row;
    }
}

static void start_mesh(campaign *c)
{
    if (c->mesh)
        kiln_mesh_destroy(c->mesh);
    c->mesh = kiln_test_mesh(c->context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(c->mesh, 0.04, 3 + c->rebuilt++);
    kiln_mesh *mesh = c->mesh;
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "mass", KILN_ON_TET, KILN_F64, 1, KILN_RULE_CONSERVE, NULL),
        KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "word", KILN_ON_TET, KILN_U64, 1, KILN_RULE_NONE, NULL), KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "v", KILN_ON_VERTEX, KILN_F64, 3, KILN_RULE_MOMENTUM, NULL),
        KILN_OK);
    ck_assert_int_eq(
        kiln_mesh_add_field(mesh, "wet", KILN_ON_FACE, KILN_I32, 1, KILN_RULE_COPY, NULL), KILN_OK);
    kiln_txn txn = kiln_txn_begin(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        double mass = kiln_mesh_tet_volume(mesh, t);
        kiln_txn_write(&txn, KILN_ON_TET, kiln_mesh_field(mesh, KILN_ON_TET, "mass"), t, &mass);
        kiln_vec3 u = mesh->u[mesh->tet[t].v[0]];
        if (u.x + u.y < 0.9)
            kiln_txn_set_region(&txn, t, 2);
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    c->split_count = 0;
}

static kiln_verdict split_something(campaign *c, kiln_txn *txn)
{
    uint32_t t = random_row(c, KILN_ON_TET), corners[4] = {0, 1, 2, 3};
    int count = 2 + (int)below(c, 3);
    for (uint32_t i = 3; i > 0; i--) {
        uint32_t j = below(c, i + 1), swap = corners[i];
        corners[i] = corners[j];
        corners[j] = swap;
    }
    kiln_split split;
    kiln_verdict verdict = kiln_split_middle(txn, t, corners, count, &split);
    if (verdict == KILN_ACCEPTED)
        c->splits[c->split_count++ % SPLITS] = split;
    return verdict;
}

/* A split in the log may have been rolled back or built over since: then it must be refused. */
static kiln_verdict unsplit_something(campaign *c, kiln_txn *txn)
{
    if (c->split_count == 0)
        return KILN_REFUSED_DEAD;
    uint32_t known = c->split_count < SPLITS ? c->split_count : SPLITS;
    return kiln_unsplit(txn, &c->splits[below(c, known)]);
}

static kiln_verdict open_something(campaign *c, kiln_txn *txn)
{
    uint32_t faces[3], count = 0, t = random_row(c, KILN_ON_TET), wanted = 1 + below(c, 3);
    for (uint32_t f = 0; f < 4 && count < wanted; f++)
        if (!kiln_link_is_surface(c->mesh->tet[t].n[f]))
            faces[count++] = kiln_link_to(t, f);
    if (count == 0)
        return KILN_REFUSED_DECLARATION;
    kiln_verdict verdict = kiln_open_faces(txn, faces, count, 7, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(txn, 7, NULL);
    return verdict;
}

/* Welds a crack face back to its twin and glues it. */
static kiln_verdict close_something(campaign *c, kiln_txn *txn)
{
    kiln_mesh *mesh = c->mesh;
    uint32_t face = random_row(c, KILN_ON_FACE), twin = KILN_NONE, v[3], w[3];
    if (mesh->face[face].twin == 0)
        return KILN_REFUSED_DECLARATION;
    for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used; f++)
        if (f != face && kiln_face_live(mesh, f) && mesh->face[f].twin == mesh->face[face].twin)
            twin = f;
    if (twin == KILN_NONE)
        return KILN_REFUSED_DECLARATION;
    for (int k = 0; k < 3; k++) {
        uint32_t a = mesh->face[face].at, b = mesh->face[twin].at;
        v[k] = mesh->tet[a / 4].v[kiln_face_corner[a % 4][k]];
        w[k] = mesh->tet[b / 4].v[kiln_face_corner[b % 4][k]];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (v[i] != w[j] && memcmp(&mesh->u[v[i]], &mesh->u[w[j]], sizeof(kiln_vec3)) == 0) {
                kiln_verdict verdict = kiln_vertex_weld(txn, v[i], w[j]);
                if (verdict != KILN_ACCEPTED)
                    return verdict;
            }
    kiln_verdict verdict = kiln_face_glue(txn, face, twin);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(txn, 8, NULL);
    return verdict;
}

static void outward(void *user, const kiln_mesh *mesh, uint32_t vertex, kiln_vec3 *u, kiln_vec3 *x)
{
    (void)mesh;
    (void)vertex;
    const kiln_vec3 *by = user;
    *u = kiln_v3_add(*u, *by);
    *x = kiln_v3_add(*x, *by);
}

static kiln_vec3 face_normal(const kiln_mesh *mesh, uint32_t face)
{
    uint32_t at = mesh->face[face].at;
    const uint32_t *v = mesh->tet[at / 4].v;
    const uint8_t *k = kiln_face_corner[at % 4];
    kiln_vec3 a = mesh->u[v[k[0]]];
    return kiln_v3_normalize(
        kiln_v3_cross(kiln_v3_sub(mesh->u[v[k[1]]], a), kiln_v3_sub(mesh->u[v[k[2]]], a)));
}

static kiln_verdict add_layer(campaign *c, kiln_txn *txn)
{
    uint32_t face = random_row(c, KILN_ON_FACE);
    kiln_vec3 by = kiln_v3_scale(face_normal(c->mesh, face), 0.05);
    return kiln_layer_add(txn, &face, 1, outward, &by, 5);
}

static kiln_verdict bridge_something(campaign *c, kiln_txn *txn)
{
    return kiln_bridge_faces(txn, random_row(c, KILN_ON_FACE), random_row(c, KILN_ON_FACE), 6);
}

static bool is_chosen(void *user, const kiln_mesh *mesh, uint32_t tet)
{
    (void)mesh;
    return tet == *(uint32_t *)user;
}

static kiln_verdict remove_something(campaign *c, kiln_txn *txn)
{
    uint32_t t = random_row(c, KILN_ON_TET);
    kiln_verdict verdict = kiln_tets_remove(txn, is_chosen, &t, 9, NULL);
    if (verdict == KILN_ACCEPTED)
        verdict = kiln_manifold_repair(txn, 9, NULL);
    return verdict;
}

static kiln_verdict move_something(campaign *c, kiln_txn *txn)
{
    uint32_t v = random_row(c, KILN_ON_VERTEX);
    kiln_vec3 to = c->mesh->u[v];
    to.x += kiln_random_range(&c->random, -0.01, 0.01);
    to.y += kiln_random_range(&c->random, -0.01, 0.01);
    return kiln_txn_move_vertex(txn, v, to, to);
}

static kiln_verdict act(campaign *c, kiln_txn *txn, action what)
{
    kiln_mesh *mesh = c->mesh;
    uint32_t made[3], t = random_row(c, KILN_ON_TET), a = below(c, 4);
    uint32_t b = (a + 1 + below(c, 3)) % 4;
    switch (what) {
    case FLIP_23:
        return kiln_flip_23(txn, t, a, made);
    case FLIP_32:
        return kiln_flip_32(txn, t, a, b, made);
    case FLIP_22:
        return kiln_flip_22(txn, t, a, b, made);
    case SPLIT:
        return mesh->table[KILN_ON_TET].live < MOST_TETS ? split_something(c, txn)
                                                         : KILN_REFUSED_DECLARATION;
    case UNSPLIT:
        return unsplit_something(c, txn);
    case OPEN:
        return open_something(c, txn);
    case CLOSE:
        return close_something(c, txn);
    case LAYER:
        return add_layer(c, txn);
    case BRIDGE:
        return bridge_something(c, txn);
    case REMOVE:
        return remove_something(c, txn);
    case MOVE:
        return move_something(c, txn);
    case REGION:
        return kiln_txn_set_region(txn, t, (int32_t)below(c, 3));
    default: {
        uint64_t word = kiln_random_u64(&c->random);
        return kiln_txn_write(txn, KILN_ON_TET, kiln_mesh_field(mesh, KILN_ON_TET, "word"), t,
                              &word);
    }
    }
}

/* Tets made since the clock stood at `since`. */
static void audit_new(campaign *c, uint32_t since, bool committed)
{
    kiln_mesh *mesh = c->mesh;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t) || mesh->info[t].changed <= since)
            continue;
        kiln_audit_report report = {0};
        if (committed)
            ck_assert_int_eq(kiln_mesh_audit_tet(mesh, t, &c->walker, &report, NULL), KILN_OK);
        else
            kiln_mesh_audit_links(mesh, t, &report);
        if (report.invariant)
            ck_abort_msg("%s: %s", report.invariant, report.message);
    }
}

/* Chosen so that the flips dominate and the mesh neither dies nor explodes. */
static action choose(campaign *c)
{
    static const uint8_t weight[ACTIONS] = {30, 30, 8, 6, 8, 3, 3, 1, 2, 3, 8, 2, 3};
    uint32_t total = 0;
    for (int i = 0; i < ACTIONS; i++)
        total += weight[i];
    uint32_t at = below(c, total);
    int i = 0;
    while (at >= weight[i])
        at -= weight[i++];
    return (action)i;
}

/* One level of nesting: some actions, perhaps a deeper level, then commit or rollback. */
static void play(campaign *c, int depth)
{
    kiln_mesh *mesh = c->mesh;
    bool undo = below(c, 3) == 0;
    uint64_t before = undo ? kiln_mesh_hash(mesh) : 0;
    uint32_t clock = mesh->clock;
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_uint_eq(txn.depth, (uint32_t)depth);
    uint32_t actions = 1 + below(c, 6);
    for (uint32_t i = 0; i < actions; i++) {
        if (depth < 4 && below(c, 5) == 0) {
            play(c, depth + 1);
            continue;
        }
        action what = choose(c);
        uint32_t start = mesh->clock;
        kiln_txn inner = kiln_txn_begin(mesh);
        kiln_verdict verdict = kiln_txn_settle(&inner, act(c, &inner, what));
        c->replacements += mesh->clock - start;
        if (verdict == KILN_ACCEPTED) {
            c->done[what]++;
            audit_new(c, start, false);
        } else {
            c->refused[what]++;
        }
    }
    if (!undo) {
        kiln_verdict verdict = kiln_txn_commit(&txn);
        if (verdict == KILN_ACCEPTED) {
            c->commits++;
            if (depth == 1)
                audit_new(c, clock, true);
            return;
        }
        ck_assert_int_eq(verdict, KILN_REFUSED_NON_MANIFOLD);
        c->refused_commits++;
        kiln_txn_rollback(&txn);
        return;
    }
    kiln_txn_rollback(&txn);
    c->rollbacks++;
    if (kiln_mesh_hash(mesh) != before)
        ck_abort_msg("rollback at depth %d left another mesh", depth);
}

START_TEST(every_kind_of_replacement)
{
    campaign c = {.context = kiln_test_context(1),
                  .random = kiln_random_start(2026, 11 + (uint64_t)_i)};
    kiln_walker_init(&c.walker, c.context);
    start_mesh(&c);
    uint64_t wanted = kiln_test_rounds(100000, 10000000) / LEGS, audited = 0;
    while (c.replacements < wanted) {
        play(&c, 1);
        if (c.replacements / 10000 != audited) {
            audited = c.replacements / 10000;
            kiln_test_audit(c.mesh);
            uint64_t hash = kiln_mesh_hash(c.mesh);
            ck_assert_uint_eq(kiln_mesh_hash(c.mesh), hash);
            if (c.mesh->table[KILN_ON_TET].live > MOST_TETS ||
                c.mesh->table[KILN_ON_TET].live < 100 || audited % 5 == 0)
                start_mesh(&c);
        }
    }
    kiln_test_audit(c.mesh);
    printf("SOAK %llu replacements, %llu commits, %llu rollbacks (hash equal each time), "
           "%llu commits refused, %llu meshes\n",
           (unsigned long long)c.replacements, (unsigned long long)c.commits,
           (unsigned long long)c.rollbacks, (unsigned long long)c.refused_commits,
           (unsigned long long)c.rebuilt);
    for (int i = 0; i < ACTIONS; i++)
        printf("campaign: %-8s %9llu done %9llu refused\n", action_names[i],
               (unsigned long long)c.done[i], (unsigned long long)c.refused[i]);
    fflush(stdout);
    for (int i = 0; i < ACTIONS; i++)
        ck_assert_msg(c.done[i] > 10, "%s was done %llu times only", action_names[i],
                      (unsigned long long)c.done[i]);
    kiln_walker_free(&c.walker);
    kiln_mesh_destroy(c.mesh);
    kiln_context_destroy(c.context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("campaign");
    tcase_add_loop_test(kiln_test_case(suite, "campaign"), every_kind_of_replacement, 0, LEGS);
    return suite;
}

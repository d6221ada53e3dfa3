/* Random attempts of every operator on meshes of every kind: whatever is accepted, the mesh stays
 * valid in both spaces, nothing that must be kept is lost, and what is undone was never there. */
#include "fixtures.h"
#include "irregular.h"
#include "kiln/kiln.h"
#include "remesh/contract.h"
#include "remesh/edge_removal.h"
#include "remesh/face_removal.h"
#include "remesh/insert.h"
#include "remesh/sizing.h"
#include "remesh/smooth.h"
#include "support.h"

#include <math.h>
#include <stdio.h>

enum { FULL_AUDIT = 10000, PASS = 20000 };

typedef struct campaign {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_sizing *sizing; /* or NULL */
    kiln_surface_mode surface;
    bool flat;   /* nothing of the shape may change */
    double size; /* of the model */
    kiln_remesher r;
    kiln_random random;
    kiln_walker walker;
    kiln_idset seen;
    kiln_test_shape shape;
    kiln_vec3 *required;     /* places of required vertices at the begin, by number */
    uint32_t tets, vertices; /* at the begin */
    uint64_t attempts[KILN_OP_COUNT], done[KILN_OP_COUNT], undone;
} campaign;

static void begin_pass(campaign *c)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    options.surface = c->surface;
    options.sizing = c->sizing;
    ck_assert_int_eq(kiln_remesher_begin(c->mesh, &options, &c->r, NULL), KILN_OK);
}

static void start(campaign *c, kiln_context *context, kiln_mesh *mesh, uint64_t seed)
{
    c->context = context;
    c->mesh = mesh;
    c->random = kiln_random_start(seed, 17);
    c->tets = mesh->table[KILN_ON_TET].live;
    c->vertices = mesh->table[KILN_ON_VERTEX].used;
    kiln_walker_init(&c->walker, context);
    kiln_txn txn = kiln_txn_begin(mesh);
    c->required = malloc(c->vertices * sizeof *c->required);
    for (uint32_t v = 0; v < c->vertices; v++) {
        c->required[v] = mesh->u[v];
        if (v % 37 == 5)
            ck_assert_int_eq(kiln_txn_set_vertex(&txn, v, KILN_VERTEX_REQUIRED, 0), KILN_ACCEPTED);
    }
    for (uint32_t t = 11; t < mesh->table[KILN_ON_TET].used; t += 97) {
        kiln_txn_mark_tet(&txn, t, t % 2 ? KILN_MARK_LOCKED : 0, 0);
        kiln_txn_mark_edge(&txn, t, t % 6, KILN_MARK_REQUIRED_EDGE, t % 3 == 0);
        kiln_txn_mark_face(&txn, t, t % 4, KILN_MARK_REQUIRED_FACE, t % 5 == 0);
    }
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    c->shape = kiln_test_shape_of(mesh);
    begin_pass(c);
}

static void finish(campaign *c)
{
    kiln_remesher_end(&c->r);
    kiln_test_audit(c->mesh);
    free(c->required);
    kiln_walker_free(&c->walker);
    kiln_array_free(c->context, &c->seen.slots);
    kiln_sizing_destroy(c->sizing);
    kiln_mesh_destroy(c->mesh);
    kiln_context_destroy(c->context);
}

/* What is kept however the surface may change. */
static void check_kept(const campaign *c)
{
    const kiln_mesh *mesh = c->mesh;
    const kiln_test_shape now = kiln_test_shape_of(mesh);
    for (uint32_t v = 5; v < c->vertices; v += 37) {
        ck_assert_msg(kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_REQUIRED,
                      "required vertex %u is gone", v);
        ck_assert(memcmp(&mesh->u[v], &c->required[v], sizeof mesh->u[v]) == 0);
    }
    if (c->flat) {
        kiln_test_same_shape(&now, &c->shape, c->size, 1e-12);
        return;
    }
    ck_assert_uint_eq(now.corners, c->shape.corners);
    ck_assert_uint_eq(now.required, c->shape.required);
    double all = 0.0, was = 0.0;
    for (int i = 0; i < KILN_TEST_KEYS; i++) {
        ck_assert_int_eq(now.euler[i], c->shape.euler[i]);
        ck_assert_msg((now.area[i] > 0.0) == (c->shape.area[i] > 0.0), "patch %d", i);
        ck_assert_msg((now.volume[i] > 0.0) == (c->shape.volume[i] > 0.0), "region %d", i);
        all += now.volume[i];
        was += c->shape.volume[i];
    }
    ck_assert_double_eq_tol(all, was, 0.02 * was);
    ck_assert_double_eq_tol(now.features, c->shape.features, 0.02 * c->shape.features + 1e-12);
}

static void check_columns(const campaign *c)
{
    for (uint32_t t = 0; t < c->mesh->table[KILN_ON_TET].used; t++) {
        double expected = kiln_tet_live(c->mesh, t)
                              ? kiln_remesher_score(&c->r, NULL, c->mesh->tet[t].v)
                              : INFINITY;
        if (c->r.quality.data[t] != expected) /* an assertion writes to a file every time */
            ck_abort_msg("tet %u: %.17g, not %.17g", t, c->r.quality.data[t], expected);
    }
}

static void check_report(const kiln_audit_report *report)
{
    if (report->invariant)
        ck_abort_msg("%s: %s", report->invariant, report->message);
}

/* Links and signs of every tet that changed, and the stars of all their corners, each once. */
static void audit_changed(campaign *c)
{
    const kiln_mesh *mesh = c->mesh;
    kiln_idset *seen = &c->seen;
    ck_assert_int_eq(kiln_idset_clear(c->context, seen, 4 * c->r.changed.count, NULL), KILN_OK);
    for (size_t i = 0; i < c->r.changed.count; i++) {
        uint32_t t = c->r.changed.data[i], fresh = 0;
        kiln_audit_report report = {0};
        kiln_mesh_audit_links(mesh, t, &report);
        check_report(&report);
        for (int k = 0; k < 4; k++) {
            kiln_idset_slot *slot = kiln_idset_at(seen, mesh->tet[t].v[k]);
            if (slot->epoch == seen->epoch)
                continue;
            kiln_idset_add(seen, slot, mesh->tet[t].v[k], 0);
            fresh++;
        }
        if (fresh == 0)
            continue;
        if (kiln_mesh_audit_tet(mesh, t, &c->walker, &report, NULL) != KILN_OK)
            ck_abort_msg("no memory");
        check_report(&report);
    }
}

static bool propose(campaign *c, kiln_operator kind, uint32_t t, kiln_proposal *out)
{
    kiln_remesher *r = &c->r;
    kiln_workspace *workspace = &r->workspace;
    uint32_t order[4] = {0, 1, 2, 3};
    for (uint32_t i = 3; i > 0; i--) {
        uint32_t j = kiln_random_below(&c->random, i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    const kiln_contraction_limits limits = kiln_contraction_improving();
    bool gain = kiln_random_below(&c->random, 2);
    const kiln_insertion_limits insertion = {.depth = 2,
                                             .may_swallow = kiln_random_below(&c->random, 2)};
    int corners = 2 + (int)kiln_random_below(&c->random, 3);
    r->judge = kiln_remesher_judge(r);
    if (kind != KILN_OP_EDGE_REMOVAL && kind != KILN_OP_FACE_REMOVAL) {
        bool bare = kind == KILN_OP_SPLIT, may_lose = bare || kind == KILN_OP_INSERTION || !gain;
        r->judge.gain = may_lose ? -INFINITY : KILN_LEAST_GAIN;
        r->judge.least = bare ? -INFINITY : 0.01;
        r->judge.edge[0] = 0.0;
        r->judge.edge[1] = INFINITY;
    }
    switch (kind) {
    case KILN_OP_EDGE_REMOVAL:
        return kiln_edge_removal_propose(r, workspace, t, order[0], order[1], out);
    case KILN_OP_FACE_REMOVAL:
        return kiln_face_removal_propose(r, workspace, t, order[0], out);
    case KILN_OP_INSERTION:
        return kiln_insertion_propose(r, workspace, t, order, corners, &insertion, out);
    case KILN_OP_SPLIT:
        return kiln_split_propose(r, workspace, t, order, corners, out);
    case KILN_OP_EDGE_CONTRACTION:
        return kiln_edge_contraction_propose(r, workspace, t, order[0], order[1], &limits, out);
    case KILN_OP_FACE_CONTRACTION:
        return kiln_face_contraction_propose(r, workspace, t, order[0], order[1], order[2], &limits,
                                             out);
    default:
        return kiln_tet_contraction_propose(r, workspace, t, order[0], &limits, out);
    }
}

static kiln_verdict smooth(campaign *c, uint32_t vertex)
{
    kiln_smoothing smoothing;
    c->r.judge = kiln_remesher_judge(&c->r);
    if (!kiln_smoothing_propose(&c->r, &c->r.workspace, vertex, INFINITY, &smoothing))
        return KILN_REFUSED_DECLARATION;
    return kiln_remesher_move(&c->r, vertex, &smoothing.place);
}

/* Keeps the number of tets near that at the begin. */
static kiln_operator choose(campaign *c)
{
    kiln_operator kind = kiln_random_below(&c->random, KILN_OP_COUNT);
    uint32_t live = c->mesh->table[KILN_ON_TET].live;
    bool grows = kind == KILN_OP_SPLIT || kind == KILN_OP_INSERTION;
    if (grows && live > 3 * (uint64_t)c->tets / 2)
        return KILN_OP_EDGE_CONTRACTION;
    if (kind == KILN_OP_EDGE_CONTRACTION && live < 3 * (uint64_t)c->tets / 4)
        return KILN_OP_SPLIT;
    return kind;
}

static bool attempt(campaign *c)
{
    kiln_mesh *mesh = c->mesh;
    uint32_t t;
    do
        t = kiln_random_below(&c->random, mesh->table[KILN_ON_TET].used);
    while (!kiln_tet_live(mesh, t));
    kiln_operator kind = choose(c);
    kiln_arena_mark scratch = kiln_arena_set_mark(&c->r.workspace.arena);
    kiln_proposal proposal = {0};
    kiln_verdict verdict = KILN_REFUSED_DECLARATION;
    c->attempts[kind]++;
    if (kind == KILN_OP_SMOOTHING)
        verdict = smooth(c, mesh->tet[t].v[kiln_random_below(&c->random, 4)]);
    else if (propose(c, kind, t, &proposal))
        verdict = kiln_remesher_apply(&c->r, &proposal);
    kiln_arena_release(&c->r.workspace.arena, scratch);
    if (verdict == KILN_REFUSED_MEMORY || c->r.workspace.failed)
        ck_abort_msg("no memory");
    c->done[kind] += verdict == KILN_ACCEPTED;
    return verdict == KILN_ACCEPTED;
}

/* Some attempts in one transaction that is taken back. */
static void attempt_and_undo(campaign *c)
{
    uint64_t hash = kiln_mesh_hash(c->mesh), columns = kiln_test_columns_hash(&c->r);
    kiln_pass_mark mark = kiln_remesher_mark(&c->r);
    for (int i = 0; i < 20; i++)
        c->undone += attempt(c);
    kiln_remesher_undo(&c->r, &mark);
    ck_assert_uint_eq(kiln_mesh_hash(c->mesh), hash);
    ck_assert_uint_eq(kiln_test_columns_hash(&c->r), columns);
}

static void run(campaign *c, uint64_t attempts)
{
    for (uint64_t i = 1; i <= attempts; i++) {
        if (attempt(c))
            audit_changed(c);
        if (i % 500 == 0)
            attempt_and_undo(c);
        if (i % FULL_AUDIT == 0 || i == attempts) {
            kiln_test_audit(c->mesh);
            check_kept(c);
            check_columns(c);
        }
        /* What a curved surface gives in one pass is limited; over many passes it adds up. */
        if (i % PASS == 0 && c->flat) {
            kiln_remesher_end(&c->r);
            begin_pass(c);
        }
    }
    uint64_t done = 0;
    for (int k = 0; k < KILN_OP_COUNT; k++)
        done += c->done[k];
    printf("SOAK %llu attempts, %llu changes, %llu undone (hash equal each time)\n",
           (unsigned long long)attempts, (unsigned long long)done, (unsigned long long)c->undone);
    for (int k = 0; k < KILN_OP_COUNT; k++)
        ck_assert_msg(c->attempts[k] > attempts / 1000 && c->done[k] > 0, "%s: %llu of %llu",
                      kiln_operator_name(k), (unsigned long long)c->done[k],
                      (unsigned long long)c->attempts[k]);
    ck_assert_uint_gt(c->undone, 0);
}

/* One in a hundred of the 10 million is made in every test run. */
static uint64_t share(uint64_t percent)
{
    return kiln_test_rounds(1000 * percent, 100000 * percent);
}

START_TEST(layers_in_two_spaces)
{
    campaign c = {.flat = true, .size = 1.0, .surface = KILN_SURFACE_QUADRIC};
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_layered_box(context, 0.05, 1);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] = kiln_v3(1.5 * u.x + 0.2 * u.y * u.y, u.y, u.z - 0.3 * u.x * u.y);
    }
    start(&c, context, mesh, 1);
    run(&c, share(25));
    finish(&c);
}
END_TEST

START_TEST(random_points)
{
    campaign c = {.flat = true, .size = 1.0, .surface = KILN_SURFACE_KEEP};
    kiln_context *context = kiln_test_context(1);
    start(&c, context, kiln_test_random_mesh(context, 150, 5), 2);
    run(&c, share(25));
    finish(&c);
}
END_TEST

START_TEST(curved_surfaces)
{
    static const char *const shape[][2] = {{"cylinder", "h=0.2"}, {"bowl", "h=0.3"}};
    for (int i = 0; i < 2; i++) {
        campaign c = {.size = 2.0, .surface = i ? KILN_SURFACE_SMOOTH : KILN_SURFACE_QUADRIC};
        kiln_context *context = kiln_test_context(1);
        start(&c, context, kiln_test_mesh(context, shape[i][0], shape[i][1]), 3);
        run(&c, share(10));
        finish(&c);
    }
}
END_TEST

static kiln_sym3 stretched(void *user, kiln_vec3 p)
{
    (void)user;
    double h = 0.1 + 0.2 * p.x;
    return (kiln_sym3){.xx = 1 / (h * h), .yy = 9 / (h * h), .zz = 25.0};
}

START_TEST(metric)
{
    campaign c = {.flat = true, .size = 1.0, .surface = KILN_SURFACE_QUADRIC};
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_layered_box(context, 0.05, 4);
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &c.sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_function(c.sizing, stretched, NULL, false, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(c.sizing, &(kiln_sizing_limits){.ratio = 1.5}, NULL),
                     KILN_OK);
    start(&c, context, mesh, 4);
    run(&c, share(15));
    finish(&c);
}
END_TEST

START_TEST(real_meshes)
{
    static const char *const files[] = {"remesh/bartwist.mesh", "remesh/spot.mesh"};
    for (int i = 0; i < 2; i++) {
        char path[512];
        campaign c = {.size = 1.0, .surface = KILN_SURFACE_QUADRIC};
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh;
        if (!kiln_test_data(files[i], path, sizeof path))
            continue;
        ck_assert_int_eq(kiln_mesh_load(context, path, NULL, &mesh, NULL, NULL), KILN_OK);
        start(&c, context, mesh, 5);
        run(&c, kiln_test_rounds(7500, 750000));
        finish(&c);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("campaign");
    tcase_add_test(kiln_test_case(suite, "layers"), layers_in_two_spaces);
    tcase_add_test(kiln_test_case(suite, "random"), random_points);
    tcase_add_test(kiln_test_case(suite, "curved"), curved_surfaces);
    tcase_add_test(kiln_test_case(suite, "metric"), metric);
    tcase_add_test(kiln_test_case(suite, "real"), real_meshes);
    return suite;
}

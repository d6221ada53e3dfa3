#include "insertion.h"
#include "remesh/cavity.h"
#include "remesh/insert.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static const kiln_insertion_limits deep = {.depth = 3, .may_swallow = true};

/* Corners of the edge of two vertices in some tet that has both. */
static uint32_t find_edge(const kiln_mesh *mesh, uint32_t a, uint32_t b, uint32_t corner[2])
{
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        corner[0] = kiln_tet_corner(&mesh->tet[t], a);
        corner[1] = kiln_tet_corner(&mesh->tet[t], b);
        if (corner[0] < 4 && corner[1] < 4)
            return t;
    }
    return KILN_NONE;
}

static uint32_t vertex_at(const kiln_mesh *mesh, double x, double y, double z)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_vertex_live(mesh, v) &&
            kiln_v3_norm(kiln_v3_sub(mesh->u[v], kiln_v3(x, y, z))) < 1e-12)
            return v;
    ck_abort_msg("no vertex at %g %g %g", x, y, z);
    return KILN_NONE;
}

/* Test 9 of the design: 6 tets of 0.6120 become 12 of 0.6336. */
START_TEST(diagonal_of_the_kuhn_cube)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 6);
    kiln_remesher remesher = begin_usual(mesh);
    ck_assert_double_eq_tol(worst_of(&remesher), 0.6120, 5e-5);
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t b = 0; b < a; b++) {
            uint32_t corner[2], tet = find_edge(mesh, a, b, corner);
            if (tet == KILN_NONE ||
                kiln_v3_norm(kiln_v3_sub(mesh->u[a], mesh->u[b])) < 1.7 * (1 - 1e-9))
                continue;
            kiln_proposal proposal;
            ck_assert(kiln_insertion_propose(&remesher, &remesher.workspace, tet, corner, 2, &deep,
                                             &proposal));
            ck_assert_double_eq_tol(proposal.before, 0.6120, 5e-5);
            ck_assert_double_eq_tol(proposal.after, 0.6336, 5e-5);
            ck_assert_int_eq(kiln_remesher_apply(&remesher, &proposal), KILN_ACCEPTED);
        }
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 12);
    ck_assert_double_eq_tol(worst_of(&remesher), 0.6336, 5e-5);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Sorted scores that a choice leaves; the rest of `out` is INFINITY. */
static void outcome(const kiln_dig *dig, uint32_t in, double out[70])
{
    int count = 0;
    for (uint32_t i = 0; i < dig->count; i++) {
        const kiln_dig_node *node = &dig->node[i];
        if (!(in >> i & 1)) {
            out[count++] = node->own;
            continue;
        }
        for (int k = 0; k < 4; k++)
            if (node->seen >> k & 1 &&
                (node->child[k] == KILN_DIG_OUTSIDE || !(in >> node->child[k] & 1)))
                out[count++] = node->weight[k];
    }
    while (count < 70)
        out[count++] = INFINITY;
    qsort(out, 70, sizeof *out, ascending);
}

static bool is_closed(const kiln_dig *dig, uint32_t in)
{
    if (~in & ((1u << dig->seeds) - 1))
        return false;
    for (uint32_t i = 0; i < dig->count; i++)
        for (int p = 0; p < dig->node[i].parents; p++)
            if (in >> i & 1 && !(in >> dig->node[i].parent[p] & 1))
                return false;
    return true;
}

static void random_graph(kiln_random *random, kiln_dig *dig)
{
    memset(dig, 0, sizeof *dig);
    dig->count = 2 + kiln_random_below(random, 13);
    dig->seeds = 1 + kiln_random_below(random, dig->count > 4 ? 4 : dig->count);
    for (uint32_t i = 0; i < dig->count; i++) {
        kiln_dig_node *node = &dig->node[i];
        node->own = kiln_random_unit(random);
        node->seen = 15;
        uint32_t parents = i < dig->seeds ? 0 : 1 + kiln_random_below(random, 3);
        for (uint32_t p = 0; p < parents; p++) {
            uint32_t from = kiln_random_below(random, i), face = kiln_random_below(random, 4);
            if (dig->node[from].child[face] != KILN_DIG_OUTSIDE)
                continue;
            dig->node[from].child[face] = (uint16_t)i;
            node->parent[node->parents++] = (uint16_t)from;
        }
        for (int k = 0; k < 4; k++) {
            node->child[k] = KILN_DIG_OUTSIDE;
            node->weight[k] = kiln_random_unit(random);
        }
    }
}

START_TEST(choice_is_the_best_closed_set)
{
    kiln_random random = kiln_random_start(11, 0);
    static kiln_dig dig;
    uint64_t larger = 0;
    for (uint64_t round = 0; round < kiln_test_rounds(400, 20000); round++) {
        random_graph(&random, &dig);
        double best[70], tried[70], chosen[70];
        bool first = true;
        for (uint32_t in = 0; in < 1u << dig.count; in++) {
            if (!is_closed(&dig, in))
                continue;
            outcome(&dig, in, tried);
            int k = 0;
            while (!first && k < 69 && tried[k] == best[k])
                k++;
            if (first || tried[k] > best[k])
                memcpy(best, tried, sizeof best);
            first = false;
        }
        kiln_dig_choose(&dig);
        uint32_t in = 0, members = 0;
        for (uint32_t i = 0; i < dig.count; i++) {
            in |= (uint32_t)dig.node[i].in << i;
            members += dig.node[i].in;
        }
        ck_assert(is_closed(&dig, in));
        larger += members > dig.seeds && members < dig.count;
        outcome(&dig, in, chosen);
        ck_assert_msg(memcmp(chosen, best, sizeof best) == 0, "round %llu",
                      (unsigned long long)round);
    }
    ck_assert_uint_gt(larger, 100);
}
END_TEST

/* What a random campaign has done. */
typedef struct campaign {
    uint32_t done[5];    /* by number of corners */
    uint32_t on_surface; /* new vertices there */
    uint32_t on_feature; /* ... or there */
    uint32_t at_wall;    /* on interfaces */
    uint32_t swallowed;  /* vertices */
    uint32_t reached;    /* cavities beyond the seeds */
    uint32_t undone;
} campaign;

static bool attempt(kiln_remesher *remesher, kiln_random *random, bool bare,
                    const kiln_insertion_limits *limits, kiln_proposal *proposal)
{
    kiln_mesh *mesh = remesher->mesh;
    uint32_t tet, corner[4] = {0, 1, 2, 3};
    remesher->judge.gain = -INFINITY;
    bool at_surface = kiln_random_below(random, 3) == 0, wanted;
    do {
        tet = kiln_random_below(random, mesh->table[KILN_ON_TET].used);
        wanted = kiln_tet_live(mesh, tet) && !at_surface;
        for (int f = 0; f < 4 && kiln_tet_live(mesh, tet); f++)
            wanted |= kiln_link_is_surface(mesh->tet[tet].n[f]);
    } while (!wanted);
    int corners = 2 + (int)kiln_random_below(random, 3);
    for (uint32_t i = 4; i > 1; i--) {
        uint32_t j = kiln_random_below(random, i), swap = corner[i - 1];
        corner[i - 1] = corner[j];
        corner[j] = swap;
    }
    return bare ? kiln_split_propose(remesher, &remesher->workspace, tet, corner, corners, proposal)
                : kiln_insertion_propose(remesher, &remesher->workspace, tet, corner, corners,
                                         limits, proposal);
}

static void note(const kiln_remesher *remesher, const kiln_proposal *proposal, uint32_t vertices,
                 campaign *c)
{
    const kiln_mesh *mesh = remesher->mesh;
    uint32_t flags = mesh->vertex[remesher->vertex_made].flags;
    c->done[proposal->parents]++;
    c->on_surface += flags & KILN_VERTEX_SURFACE ? 1 : 0;
    c->on_feature += flags & KILN_VERTEX_FEATURE ? 1 : 0;
    c->at_wall += flags & KILN_VERTEX_INTERFACE ? 1 : 0;
    c->swallowed += vertices + 1 - mesh->table[KILN_ON_VERTEX].live;
    c->reached += proposal->fresh_count != (uint32_t)proposal->parents * proposal->old_count;
}

static campaign run(kiln_remesher *remesher, uint64_t seed, uint64_t rounds,
                    const kiln_insertion_limits *limits)
{
    campaign c;
    memset(&c, 0, sizeof c);
    kiln_mesh *mesh = remesher->mesh;
    kiln_random random = kiln_random_start(seed, 0);
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    for (uint64_t round = 0; round < rounds; round++) {
        kiln_proposal proposal;
        kiln_arena_mark scratch = kiln_arena_set_mark(&remesher->workspace.arena);
        bool undo = round % 4 == 0, bare = round % 8 == 1;
        uint32_t vertices = mesh->table[KILN_ON_VERTEX].live;
        uint64_t before = undo ? kiln_mesh_hash(mesh) : 0, columns = columns_hash(remesher);
        if (attempt(remesher, &random, bare, limits, &proposal)) {
            kiln_pass_mark mark = kiln_remesher_mark(remesher);
            kiln_verdict verdict = kiln_remesher_apply(remesher, &proposal);
            ck_assert_msg(verdict == KILN_ACCEPTED, "%s", kiln_verdict_reason(verdict));
            double after =
                kiln_remesher_worst(remesher, remesher->changed.data, remesher->changed.count);
            ck_assert(after == proposal.after);
            if (undo) {
                kiln_remesher_undo(remesher, &mark);
                ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
                ck_assert_uint_eq(columns_hash(remesher), columns);
                c.undone++;
            } else {
                ck_assert_int_eq(kiln_remesher_keep(remesher, &mark), KILN_ACCEPTED);
                note(remesher, &proposal, vertices, &c);
                check_changed(remesher, &walker);
            }
        }
        kiln_arena_release(&remesher->workspace.arena, scratch);
        if (round % 128 == 0)
            kiln_test_audit(mesh);
    }
    kiln_walker_free(&walker);
    kiln_test_audit(mesh);
    check_columns(remesher);
    return c;
}

START_TEST(random_insertions_keep_the_mesh)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_regions(context);
    double volume[2] = {region_volume(mesh, 1), region_volume(mesh, 2)};
    double features = feature_length(mesh);
    ck_assert_double_eq_tol(features, 16.0, 1e-12);
    kiln_remesher remesher = begin_usual(mesh);
    campaign c = run(&remesher, 5, kiln_test_rounds(1000, 20000), &deep);
    kiln_remesher_end(&remesher);
    for (int r = 0; r < 2; r++)
        ck_assert_double_eq_tol(region_volume(mesh, r + 1), volume[r], 1e-12);
    ck_assert_double_eq_tol(feature_length(mesh), features, 1e-12);
    for (int k = 2; k <= 4; k++)
        ck_assert_uint_gt(c.done[k], 50);
    ck_assert_uint_gt(c.on_surface, 20);
    ck_assert_uint_gt(c.on_feature, 5);
    ck_assert_uint_gt(c.at_wall, 5);
    ck_assert_uint_gt(c.reached, 50);
    ck_assert_uint_gt(c.undone, 50);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* The surface of a ball is curved: what is inserted in it goes out onto the ball. */
START_TEST(vertices_go_onto_a_curved_surface)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "");
    kiln_remesher remesher = begin_usual(mesh);
    double volume = kiln_mesh_volume(mesh);
    kiln_random random = kiln_random_start(12, 0);
    uint32_t made = 0, out = 0;
    for (int round = 0; round < 800; round++) {
        kiln_proposal proposal;
        kiln_arena_mark scratch = kiln_arena_set_mark(&remesher.workspace.arena);
        if (attempt(&remesher, &random, round % 2, &deep, &proposal) && proposal.surface_count) {
            kiln_vec3 straight = kiln_v3(0, 0, 0);
            for (int i = 0; i < proposal.parents; i++)
                straight = kiln_v3_madd(straight, proposal.weight[i], mesh->u[proposal.parent[i]]);
            ck_assert_int_eq(kiln_remesher_apply(&remesher, &proposal), KILN_ACCEPTED);
            made++;
            double depth = 1.0 - kiln_v3_norm(mesh->u[remesher.vertex_made]);
            ck_assert_double_le(fabs(depth), 1.0 - kiln_v3_norm(straight) + 1e-12);
            out += fabs(depth) < 0.5 * (1.0 - kiln_v3_norm(straight));
        }
        kiln_arena_release(&remesher.workspace.arena, scratch);
    }
    ck_assert_uint_gt(made, 30);
    /* Not all: the volume of a pass has a budget. */
    ck_assert_uint_gt(out, 30);
    ck_assert_double_gt(kiln_mesh_volume(mesh), volume);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(both_spaces_stay_positive)
{
    kiln_context *context = kiln_test_context(1);
    for (int space = 0; space < 2; space++) {
        kiln_mesh *mesh = two_regions(context);
        bend(mesh);
        kiln_test_audit(mesh);
        kiln_remesh_options options = kiln_remesh_default_options();
        options.space = space ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
        kiln_remesher remesher = begin(mesh, &options);
        ck_assert(!remesher.one_space);
        campaign c = run(&remesher, 6, kiln_test_rounds(300, 5000), &deep);
        kiln_remesher_end(&remesher);
        for (int k = 2; k <= 4; k++)
            ck_assert_uint_gt(c.done[k], 10);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(with_a_metric)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_regions(context);
    kiln_sizing *sizing = stretched_sizing(mesh);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    kiln_remesher remesher = begin(mesh, &options);
    /* The first edges are at most 2 long in it and the second half of them 1. */
    const kiln_insertion_limits limits = {.depth = 3};
    remesher.judge.edge[0] = 0.4;
    remesher.judge.strict = true;
    campaign c = run(&remesher, 7, kiln_test_rounds(300, 5000), &limits);
    ck_assert_uint_gt(c.done[2] + c.done[3] + c.done[4], 30);
    ck_assert_uint_eq(c.swallowed, 0);
    kiln_remesher_end(&remesher);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Edges are one long and their halves 0.5: too short for a limit of 0.6, unless it was so before.
 */
START_TEST(lengths_stay_within_limits)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    uint32_t corner[2],
        tet = find_edge(mesh, vertex_at(mesh, 0.5, 0.5, 0.5), vertex_at(mesh, 0.5, 0.5, 0), corner);
    kiln_remesh_options options = kiln_remesh_default_options();
    const double size[2] = {0.5, 2.0};
    for (int i = 0; i < 2; i++) {
        kiln_sizing *sizing;
        kiln_proposal proposal;
        ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
        ck_assert_int_eq(kiln_sizing_add_size(sizing, size[i], NULL), KILN_OK);
        ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){.ratio = 0}, NULL),
                         KILN_OK);
        options.sizing = sizing;
        options.edge_limit[0] = 0.6;
        kiln_remesher remesher = begin(mesh, &options);
        kiln_workspace *work = &remesher.workspace;
        const kiln_insertion_limits limits = {0};
        remesher.judge.gain = -INFINITY;
        ck_assert(!kiln_insertion_propose(&remesher, work, tet, corner, 2, &limits, &proposal));
        /* In the coarse metric edges of a quarter were there: halves of those are too short. */
        remesher.judge.edge[0] = i == 0 ? 0.49 : 0.12;
        ck_assert(kiln_insertion_propose(&remesher, work, tet, corner, 2, &limits, &proposal));
        remesher.judge.edge[0] = 0.1;
        remesher.judge.edge[1] = 0.01;
        ck_assert(kiln_insertion_propose(&remesher, work, tet, corner, 2, &limits, &proposal));
        kiln_remesher_end(&remesher);
        kiln_sizing_destroy(sizing);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Vertices that are not free nor on a flat facet, as they are at the begin of the pass. */
static uint32_t count_kept(const kiln_remesher *remesher, const kiln_vec3 *was, const bool *kept)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < 4000 && v < remesher->mesh->table[KILN_ON_VERTEX].used; v++)
        count += kept[v] && memcmp(&was[v], &remesher->mesh->u[v], sizeof *was) == 0;
    return count;
}

START_TEST(vertices_are_swallowed_only_where_that_is_permitted)
{
    kiln_context *context = kiln_test_context(1);
    /* The last time all of the surface is crack, of which the other side would have to follow. */
    for (int may = 0; may < 3; may++) {
        kiln_mesh *mesh = two_regions(context);
        for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && may == 2; f++)
            mesh->face[f].twin = f + 1;
        kiln_remesher remesher = begin_usual(mesh);
        kiln_vec3 was[4000];
        bool kept[4000] = {false};
        uint32_t used = mesh->table[KILN_ON_VERTEX].used, must_stay = 0, surface = 0, after = 0;
        ck_assert_uint_lt(used, 4000);
        memcpy(was, mesh->u, used * sizeof *was);
        for (uint32_t v = 0; v < used; v++) {
            uint32_t freedom = remesher.side.data[v].freedom, flags = mesh->vertex[v].flags;
            kept[v] = (freedom != KILN_FREE && freedom != KILN_ON_PLANE) ||
                      flags & (KILN_VERTEX_INTERFACE | KILN_VERTEX_FEATURE);
            must_stay += kept[v];
            surface += flags & KILN_VERTEX_SURFACE;
        }
        kiln_insertion_limits limits = deep;
        limits.may_swallow = may;
        campaign c = run(&remesher, 8, kiln_test_rounds(600, 3000), &limits);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
            after += kiln_vertex_live(mesh, v) && mesh->vertex[v].flags & KILN_VERTEX_SURFACE;
        ck_assert_uint_gt(must_stay, 30);
        ck_assert_uint_eq(count_kept(&remesher, was, kept), must_stay);
        if (may == 0)
            ck_assert_uint_eq(c.swallowed, 0);
        else
            ck_assert_uint_gt(c.swallowed, 3);
        if (may == 1)
            ck_assert_uint_lt(after, surface + c.on_surface);
        else
            ck_assert_uint_eq(after, surface + c.on_surface);
        kiln_remesher_end(&remesher);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(what_is_required_or_locked_stays)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    uint32_t middle = vertex_at(mesh, 0.5, 0.5, 0.5), corner[2], whole[4] = {0, 1, 2, 3};
    uint32_t end = vertex_at(mesh, 0, 0, 0), tet = find_edge(mesh, middle, end, corner);
    kiln_proposal proposal;
    ck_assert_uint_ne(tet, KILN_NONE);
    kiln_remesher remesher = begin_usual(mesh);
    kiln_workspace *work = &remesher.workspace;
    remesher.judge.gain = -INFINITY;
    ck_assert(kiln_split_propose(&remesher, work, tet, corner, 2, &proposal));
    kiln_txn txn = kiln_txn_begin(mesh);
    kiln_txn_mark_edge(&txn, tet, kiln_edge_of[corner[0]][corner[1]], KILN_MARK_REQUIRED_EDGE,
                       true);
    ck_assert(!kiln_split_propose(&remesher, work, tet, corner, 2, &proposal));
    /* The tet can still be split: the edge survives. */
    ck_assert(kiln_split_propose(&remesher, work, tet, whole, 4, &proposal));
    kiln_txn_mark_face(&txn, tet, corner[0], KILN_MARK_REQUIRED_FACE, true);
    ck_assert(kiln_split_propose(&remesher, work, tet, whole, 4, &proposal));
    uint32_t face[3] = {(corner[0] + 1) % 4, (corner[0] + 2) % 4, (corner[0] + 3) % 4};
    ck_assert(!kiln_split_propose(&remesher, work, tet, face, 3, &proposal));
    kiln_txn_mark_tet(&txn, tet, KILN_MARK_LOCKED, 0);
    ck_assert(!kiln_split_propose(&remesher, work, tet, whole, 4, &proposal));
    kiln_txn_rollback(&txn);
    kiln_remesher_end(&remesher);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(running_out_of_memory_is_survived)
{
    uint64_t refusals = 0;
    for (uint64_t k = 0;; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
        kiln_remesher remesher = begin_usual(mesh);
        kiln_random random = kiln_random_start(9, 0);
        uint64_t before = kiln_mesh_hash(mesh);
        heap.fail_at = heap.calls + 1 + k;
        kiln_proposal proposal;
        bool found = attempt(&remesher, &random, false, &deep, &proposal);
        bool done = found && kiln_remesher_apply(&remesher, &proposal) == KILN_ACCEPTED;
        ck_assert(found || remesher.workspace.failed);
        if (!done)
            ck_assert_uint_eq(kiln_mesh_hash(mesh), before);
        bool failed = heap.calls >= heap.fail_at;
        heap.fail_at = 0;
        kiln_remesher_end(&remesher);
        kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        refusals += !done;
        if (done && !failed)
            break;
    }
    ck_assert_uint_gt(refusals, 2);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("insert");
    TCase *all = kiln_test_case(suite, "insert");
    tcase_add_test(all, diagonal_of_the_kuhn_cube);
    tcase_add_test(all, choice_is_the_best_closed_set);
    tcase_add_test(all, random_insertions_keep_the_mesh);
    tcase_add_test(all, vertices_go_onto_a_curved_surface);
    tcase_add_test(all, both_spaces_stay_positive);
    tcase_add_test(all, with_a_metric);
    tcase_add_test(all, lengths_stay_within_limits);
    tcase_add_test(all, vertices_are_swallowed_only_where_that_is_permitted);
    tcase_add_test(all, what_is_required_or_locked_stays);
    tcase_add_test(all, running_out_of_memory_is_survived);
    return suite;
}

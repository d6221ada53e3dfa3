#include "fixtures.h"
#include "irregular.h"
#include "remesh/contract.h"
#include "remesh/insert.h"
#include "remesh/link_condition.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pass {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_remesher r;
} pass;

static void begin(pass *p, kiln_context *context, kiln_mesh *mesh)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    p->context = context;
    p->mesh = mesh;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &p->r, NULL), KILN_OK);
}

/* Whether contractions must gain, and what they must leave. */
static void judge_by(kiln_remesher *r, bool gain, double least)
{
    r->judge = kiln_remesher_judge(r);
    r->judge.gain = gain ? KILN_LEAST_GAIN : -INFINITY;
    r->judge.least = least;
}

static void end(pass *p)
{
    kiln_remesher_end(&p->r);
    kiln_test_audit(p->mesh);
    kiln_mesh_destroy(p->mesh);
    kiln_context_destroy(p->context);
}

/* V - E + F - T of the tets. */
static int64_t euler_of(const kiln_mesh *mesh)
{
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    int64_t euler = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        if (!kiln_vertex_live(mesh, v))
            continue;
        euler++;
        ck_assert_int_eq(kiln_star(mesh, v, &walker, NULL), KILN_OK);
        kiln_idset_clear(mesh->context, &walker.link, 3 * walker.tets.count, NULL);
        for (size_t i = 0; i < walker.tets.count; i++)
            for (int k = 0; k < 4; k++) {
                uint32_t other = mesh->tet[walker.tets.data[i]].v[k];
                kiln_idset_slot *slot = kiln_idset_at(&walker.link, other);
                if (other <= v || slot->epoch == walker.link.epoch)
                    continue;
                kiln_idset_add(&walker.link, slot, other, 0);
                euler--;
            }
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int f = 0; f < 4 && kiln_tet_live(mesh, t); f++)
            euler += (mesh->tet[t].n[f] > t * 4 + (uint32_t)f) - (f == 0);
    kiln_walker_free(&walker);
    return euler;
}

static void check_cache(const pass *p)
{
    for (size_t i = 0; i < p->r.changed.count; i++) {
        uint32_t t = p->r.changed.data[i];
        ck_assert_double_eq(p->r.quality.data[t],
                            kiln_remesher_score(&p->r, NULL, p->mesh->tet[t].v));
    }
}

/* Contracts random edges: those that may go by quality alone, and those that gain. */
START_TEST(random_edges_inside)
{
    pass p;
    kiln_context *context = kiln_test_context(1);
    begin(&p, context, kiln_test_random_mesh(context, 300, 3));
    kiln_mesh *mesh = p.mesh;
    const double volume = kiln_mesh_volume(mesh);
    const int64_t euler = euler_of(mesh);
    ck_assert_int_eq(euler, 1);
    kiln_random random = kiln_random_start(4, 0);
    kiln_contraction_limits limits = kiln_contraction_improving();
    int done[2] = {0, 0}, met = 0;
    for (int i = 0; i < 6000; i++) {
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        uint32_t a = kiln_random_below(&random, 4), b = (a + 1 + kiln_random_below(&random, 3)) % 4;
        if (!kiln_tet_live(mesh, t))
            continue;
        bool gain = i % 20 != 0;
        kiln_proposal proposal;
        kiln_arena_mark scratch = kiln_arena_set_mark(&p.r.workspace.arena);
        uint32_t ring = kiln_edge_ring(mesh, t, a, b, NULL, 0).count;
        judge_by(&p.r, gain, 0.0);
        limits.goes = i % 7 == 0;
        if (!kiln_edge_contraction_propose(&p.r, &p.r.workspace, t, a, b, &limits, &proposal))
            continue;
        if (limits.goes) { /* the first to the second, and to no other place */
            ck_assert(!proposal.has_place && proposal.gone_count == 1);
            ck_assert_uint_eq(proposal.gone[0], mesh->tet[t].v[a]);
        }
        double before = kiln_remesher_worst(&p.r, proposal.old, proposal.old_count);
        ck_assert_double_eq(before, proposal.before);
        uint64_t hash = kiln_mesh_hash(mesh), columns = kiln_test_columns_hash(&p.r);
        uint32_t tets = mesh->table[KILN_ON_TET].live, points = mesh->table[KILN_ON_VERTEX].live;
        kiln_pass_mark mark = kiln_remesher_mark(&p.r);
        ck_assert_int_eq(kiln_remesher_apply(&p.r, &proposal), KILN_ACCEPTED);
        check_cache(&p);
        double after = kiln_remesher_worst(&p.r, p.r.changed.data, p.r.changed.count);
        ck_assert_double_eq(after, proposal.after);
        ck_assert(!gain || after > before);
        ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, tets - ring);
        ck_assert_uint_eq(mesh->table[KILN_ON_VERTEX].live, points - 1);
        if (i % 3 == 0) {
            kiln_remesher_undo(&p.r, &mark);
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
            ck_assert_uint_eq(kiln_test_columns_hash(&p.r), columns);
        } else {
            ck_assert_int_eq(kiln_remesher_keep(&p.r, &mark), KILN_ACCEPTED);
            met += proposal.has_place;
            done[gain]++;
            if (done[gain] % 16 == 1) {
                kiln_test_audit(mesh);
                ck_assert_int_eq(euler_of(mesh), euler);
            }
        }
        kiln_arena_release(&p.r.workspace.arena, scratch);
    }
    ck_assert_int_gt(done[0], 5);
    ck_assert_int_gt(done[1], 20);
    ck_assert_int_gt(met, 0);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12);
    end(&p);
}
END_TEST

/* Simplices of a link: corners ascending, KILN_NONE behind. */
typedef struct simplex {
    uint32_t v[3];
} simplex;
typedef struct link_set {
    simplex item[4000];
    size_t count;
} link_set;
enum { GHOST = 0xFFFFFFF0u };

static bool has(const link_set *set, const simplex *s)
{
    for (size_t i = 0; i < set->count; i++)
        if (memcmp(&set->item[i], s, sizeof *s) == 0)
            return true;
    return false;
}

static void add_simplex(link_set *set, simplex s)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (s.v[j] > s.v[j + 1]) {
                uint32_t swap = s.v[j];
                s.v[j] = s.v[j + 1];
                s.v[j + 1] = swap;
            }
    if (!has(set, &s))
        set->item[set->count++] = s;
}

/* All faces of what is left of four corners when those of the set's own simplex are taken out. */
static void add_cell(link_set *set, const uint32_t corner[4], uint32_t a, uint32_t b)
{
    uint32_t rest[4], count = 0, found = 0;
    for (int k = 0; k < 4; k++)
        if (corner[k] == a || corner[k] == b)
            found++;
        else
            rest[count++] = corner[k];
    if (found != (b == KILN_NONE ? 1u : 2u))
        return;
    for (uint32_t mask = 1; mask < 1u << count; mask++) {
        simplex s = {{KILN_NONE, KILN_NONE, KILN_NONE}};
        int n = 0;
        for (uint32_t k = 0; k < count; k++)
            if (mask >> k & 1)
                s.v[n++] = rest[k];
        add_simplex(set, s);
    }
}

static void link_of(const kiln_mesh *mesh, uint32_t a, uint32_t b, link_set *set)
{
    set->count = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        add_cell(set, mesh->tet[t].v, a, b);
        for (int f = 0; f < 4; f++)
            if (kiln_link_is_surface(mesh->tet[t].n[f])) {
                const uint8_t *c = kiln_face_corner[f];
                const uint32_t cell[4] = {mesh->tet[t].v[c[0]], mesh->tet[t].v[c[1]],
                                          mesh->tet[t].v[c[2]], GHOST};
                add_cell(set, cell, a, b);
            }
    }
}

/* The condition by its definition. */
static bool links_agree(const kiln_mesh *mesh, uint32_t a, uint32_t b)
{
    static link_set of_a, of_b, of_edge;
    link_of(mesh, a, KILN_NONE, &of_a);
    link_of(mesh, b, KILN_NONE, &of_b);
    link_of(mesh, a, b, &of_edge);
    size_t common = 0;
    for (size_t i = 0; i < of_a.count; i++)
        common += has(&of_b, &of_a.item[i]);
    return common == of_edge.count;
}

static bool condition(const kiln_mesh *mesh, uint32_t tet, uint32_t corner_a, uint32_t corner_b)
{
    kiln_walker walker;
    kiln_walker_init(&walker, mesh->context);
    uint32_t ring[KILN_LONGEST_RING], star[2][200], count[2];
    kiln_ring shape = kiln_edge_ring(mesh, tet, corner_a, corner_b, ring, KILN_LONGEST_RING);
    uint32_t end[2] = {mesh->tet[tet].v[corner_a], mesh->tet[tet].v[corner_b]};
    for (int e = 0; e < 2; e++) {
        ck_assert_int_eq(kiln_star(mesh, end[e], &walker, NULL), KILN_OK);
        count[e] = 0;
        for (size_t i = 0; i < walker.tets.count; i++)
            star[e][count[e]++] = walker.tets.data[i];
    }
    for (uint32_t i = 0; i < shape.count; i++)
        ring[i] /= 4;
    kiln_edge_stars stars = {.a = end[0],
                             .b = end[1],
                             .star_a = star[0],
                             .star_b = star[1],
                             .ring = ring,
                             .count_a = count[0],
                             .count_b = count[1],
                             .ring_count = shape.count,
                             .closed = shape.closed};
    bool failed = false, holds = kiln_link_condition(mesh, &walker, &stars, &failed);
    ck_assert(!failed);
    kiln_walker_free(&walker);
    return holds;
}

static void check_conditions(kiln_mesh *mesh, uint64_t attempts, int *holds, int *fails)
{
    kiln_random random = kiln_random_start(8, 0);
    for (uint64_t i = 0; i < attempts; i++) {
        uint32_t t = kiln_random_below(&random, mesh->table[KILN_ON_TET].used);
        uint32_t a = kiln_random_below(&random, 4), b = (a + 1 + kiln_random_below(&random, 3)) % 4;
        if (!kiln_tet_live(mesh, t))
            continue;
        bool expected = links_agree(mesh, mesh->tet[t].v[a], mesh->tet[t].v[b]);
        ck_assert_int_eq(condition(mesh, t, a, b), expected);
        *holds += expected;
        *fails += !expected;
    }
}

START_TEST(link_condition_is_what_it_says)
{
    static const char *const boxes[] = {"nx=1 ny=1 nz=1", "nx=3 ny=3 nz=1", "nx=2 ny=2 nz=2",
                                        "nx=4 ny=1 nz=1"};
    kiln_context *context = kiln_test_context(1);
    int holds = 0, fails = 0;
    for (int i = 0; i < 4; i++) {
        kiln_mesh *mesh = kiln_test_mesh(context, "box", boxes[i]);
        check_conditions(mesh, kiln_test_rounds(60, 600), &holds, &fails);
        kiln_mesh_destroy(mesh);
    }
    for (uint64_t seed = 0; seed < 6; seed++) {
        kiln_mesh *mesh = kiln_test_random_mesh(context, 6 + 10 * (uint32_t)seed, seed);
        check_conditions(mesh, kiln_test_rounds(60, 600), &holds, &fails);
        kiln_mesh_destroy(mesh);
    }
    ck_assert_int_gt(holds, 20);
    ck_assert_int_gt(fails, 20);
    kiln_context_destroy(context);
}
END_TEST

/* Test 11: what must be refused whatever the quality. */
START_TEST(refusals)
{
    const kiln_contraction_limits any = {.surface = -INFINITY};
    kiln_proposal proposal;
    pass p;
    /* A single tet, with a fixed and with a free surface. */
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 corner[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {.2, .2, 1}, {.3, .3, -1}};
    const kiln_soup_tet one = {{0, 1, 2, 3}};
    begin(&p, context, kiln_test_mesh_of(context, 4, corner, 1, &one, NULL, KILN_BUILD_STRICT));
    judge_by(&p.r, false, -INFINITY);
    for (uint32_t v = 0; v < 4; v++) {
        p.mesh->vertex[v].flags &= ~(uint32_t)KILN_VERTEX_CORNER;
        p.r.side.data[v].freedom = KILN_ON_SURFACE;
    }
    for (uint32_t a = 0; a < 4; a++)
        for (uint32_t b = 0; b < 4; b++)
            if (a != b) {
                ck_assert(
                    !kiln_edge_contraction_propose(&p.r, &p.r.workspace, 0, a, b, &any, &proposal));
                ck_assert(!condition(p.mesh, 0, a, b));
            }
    kiln_remesher_end(&p.r);
    kiln_mesh_destroy(p.mesh);

    /* Three tets round an edge: the triangle of the others is no face. */
    const kiln_soup_tet three[3] = {{{4, 3, 0, 1}}, {{4, 3, 1, 2}}, {{4, 3, 2, 0}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 5, corner, 3, three, NULL, KILN_BUILD_STRICT);
    const kiln_tet *tet = &mesh->tet[0];
    ck_assert(!condition(mesh, 0, kiln_tet_corner(tet, 0), kiln_tet_corner(tet, 1)));
    ck_assert(condition(mesh, 0, kiln_tet_corner(tet, 0), kiln_tet_corner(tet, 3)));
    kiln_mesh_destroy(mesh);

    /* A slab of one layer: no edge from the lower to the upper side may go. */
    mesh = kiln_test_mesh(context, "box", "nx=6 ny=6 nz=1 lz=0.2");
    kiln_test_jitter(mesh, 0.02, 1);
    begin(&p, context, mesh);
    judge_by(&p.r, false, -INFINITY);
    int through = 0, along = 0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6; e++) {
            uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
            bool proposed =
                kiln_edge_contraction_propose(&p.r, &p.r.workspace, t, a, b, &any, &proposal);
            bool across = mesh->u[mesh->tet[t].v[a]].z != mesh->u[mesh->tet[t].v[b]].z;
            ck_assert(!(across && proposed));
            through += across;
            along += proposed;
        }
    ck_assert_int_gt(through, 100);
    ck_assert_int_gt(along, 100);
    end(&p);
}
END_TEST

/* Test 10: a cap on the surface, height 0.05, is peeled off. */
START_TEST(cap_is_peeled)
{
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (int i = 0; i < 3; i++) {
        const double s = scales[i], h = 0.8660254037844386 * s;
        const kiln_vec3 point[5] = {
            {s, 0, 0}, {-0.5 * s, h, 0}, {-0.5 * s, -h, 0}, {0, 0, 0.05 * s}, {0, 0, 1.2 * s}};
        const kiln_soup_tet tet[4] = {
            {{0, 1, 2, 3}}, {{0, 1, 3, 4}}, {{1, 2, 3, 4}}, {{2, 0, 3, 4}}};
        kiln_context *context = kiln_test_context(1);
        pass p;
        begin(&p, context, kiln_test_mesh_of(context, 5, point, 4, tet, NULL, KILN_BUILD_STRICT));
        ck_assert_double_eq_tol(p.r.quality.data[0], 0.0582, 5e-5);
        ck_assert_double_eq_tol(p.r.quality.data[1], 0.5126, 5e-5);
        double volume = kiln_mesh_volume(p.mesh);
        kiln_contraction_limits limits = kiln_contraction_improving();
        kiln_proposal proposal;
        ck_assert(kiln_tet_contraction_propose(
            &p.r, &p.r.workspace, 0, kiln_tet_corner(&p.mesh->tet[0], 3), &limits, &proposal));
        ck_assert_double_eq_tol(proposal.after, 0.5281, 5e-5);
        ck_assert_int_eq(kiln_remesher_apply(&p.r, &proposal), KILN_ACCEPTED);
        check_cache(&p);
        ck_assert_uint_eq(p.mesh->table[KILN_ON_TET].live, 3);
        ck_assert_uint_eq(p.mesh->table[KILN_ON_VERTEX].live, 5);
        ck_assert_double_eq_tol(kiln_mesh_volume(p.mesh), volume, 1e-12 * volume);
        end(&p);
    }
}
END_TEST

typedef struct outcome {
    int done[3], surface[3], regions[3], features[3], met[3];
} outcome;

/* One attempt of a random kind; what it did is checked and sometimes undone. */
static void attempt(pass *p, kiln_random *random, bool gain, outcome *tally)
{
    kiln_mesh *mesh = p->mesh;
    uint32_t t = kiln_random_below(random, mesh->table[KILN_ON_TET].used);
    uint32_t a = kiln_random_below(random, 4), b = (a + 1 + kiln_random_below(random, 3)) % 4, c;
    do
        c = kiln_random_below(random, 4);
    while (c == a || c == b);
    if (!kiln_tet_live(mesh, t))
        return;
    const kiln_contraction_limits limits = kiln_contraction_improving();
    judge_by(&p->r, gain, 1e-4);
    kiln_proposal proposal;
    int kind = (int)kiln_random_below(random, 3);
    kiln_ring ring = kiln_edge_ring(mesh, t, a, b, NULL, 0);
    bool on_surface = kiln_link_is_surface(mesh->tet[t].n[a]);
    bool side_on_surface = kiln_link_is_surface(mesh->tet[t].n[6 - a - b - c]);
    if (!(kind == 0
              ? kiln_edge_contraction_propose(&p->r, &p->r.workspace, t, a, b, &limits, &proposal)
          : kind == 1
              ? kiln_face_contraction_propose(&p->r, &p->r.workspace, t, a, b, c, &limits,
                                              &proposal)
              : kiln_tet_contraction_propose(&p->r, &p->r.workspace, t, a, &limits, &proposal)))
        return;
    uint64_t hash = kiln_mesh_hash(mesh), columns = kiln_test_columns_hash(&p->r);
    int64_t tets = mesh->table[KILN_ON_TET].live;
    int64_t n = ring.count;
    int64_t expected = kind == 0   ? -n
                       : kind == 1 ? n - (side_on_surface ? 2 : 4)
                                   : (on_surface ? -1 : 1);
    kiln_pass_mark mark = kiln_remesher_mark(&p->r);
    kiln_verdict verdict = kiln_remesher_apply(&p->r, &proposal);
    ck_assert_msg(verdict == KILN_ACCEPTED, "kind %d: %s", kind, kiln_verdict_reason(verdict));
    check_cache(p);
    ck_assert_int_eq((int64_t)mesh->table[KILN_ON_TET].live - tets, expected);
    if (kiln_random_below(random, 3) == 0) {
        kiln_remesher_undo(&p->r, &mark);
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        ck_assert_uint_eq(kiln_test_columns_hash(&p->r), columns);
        return;
    }
    ck_assert_int_eq(kiln_remesher_keep(&p->r, &mark), KILN_ACCEPTED);
    tally->done[kind]++;
    tally->surface[kind] += (proposal.flags & KILN_CAVITY_SURFACE) != 0;
    tally->regions[kind] += (proposal.flags & KILN_CAVITY_REGIONS) != 0;
    tally->features[kind] += (proposal.flags & KILN_CAVITY_FEATURES) != 0;
    tally->met[kind] += proposal.has_place;
}

/* How many of a mesh's edges, faces and tets can be contracted, at a scale. */
static void count_found(double scale, uint32_t found[KILN_OP_COUNT])
{
    pass p;
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_layered_box(context, 0.05, 3);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        mesh->u[v] = mesh->x[v] = kiln_v3_scale(mesh->u[v], scale);
    begin(&p, context, mesh);
    kiln_contraction_limits limits = kiln_contraction_improving();
    memset(found, 0, KILN_OP_COUNT * sizeof *found);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (uint32_t a = 0; a < 4; a++)
            for (uint32_t b = 0; b < 4; b++) {
                kiln_arena_mark scratch = kiln_arena_set_mark(&p.r.workspace.arena);
                kiln_proposal proposal;
                uint32_t c = 0;
                while (c == a || c == b)
                    c++;
                found[KILN_OP_TET_CONTRACTION] +=
                    kiln_tet_contraction_propose(&p.r, &p.r.workspace, t, a, &limits, &proposal);
                found[KILN_OP_EDGE_CONTRACTION] +=
                    a != b && kiln_edge_contraction_propose(&p.r, &p.r.workspace, t, a, b, &limits,
                                                            &proposal);
                found[KILN_OP_FACE_CONTRACTION] +=
                    a != b && kiln_face_contraction_propose(&p.r, &p.r.workspace, t, a, b, c,
                                                            &limits, &proposal);
                kiln_arena_release(&p.r.workspace.arena, scratch);
            }
    kiln_remesher_end(&p.r);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}

START_TEST(every_scale)
{
    uint32_t here[KILN_OP_COUNT], there[KILN_OP_COUNT];
    count_found(1.0, here);
    for (int k = KILN_OP_EDGE_CONTRACTION; k <= KILN_OP_TET_CONTRACTION; k++)
        ck_assert_uint_gt(here[k], 10);
    for (int i = 0; i < 2; i++) {
        count_found(i ? 0x1p-20 : 0x1p20, there);
        for (int k = KILN_OP_EDGE_CONTRACTION; k <= KILN_OP_TET_CONTRACTION; k++)
            ck_assert_uint_eq(here[k], there[k]);
    }
}
END_TEST

static double longest_at(const kiln_mesh *mesh, uint32_t vertex, const uint32_t *tets, size_t count)
{
    double longest = 0.0;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++) {
            kiln_vec3 e = kiln_v3_sub(mesh->u[mesh->tet[tets[i]].v[k]], mesh->u[vertex]);
            longest = fmax(longest, kiln_v3_norm(e));
        }
    return longest;
}

/* Size control: no edge beyond the limit, where there was none. */
START_TEST(length_is_limited)
{
    pass p;
    kiln_context *context = kiln_test_context(1);
    begin(&p, context, kiln_test_random_mesh(context, 200, 6));
    const kiln_contraction_limits limits = {0};
    const double longest = 0.35;
    int limited = 0, found = 0;
    for (uint32_t t = 0; t < p.mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6; e++) {
            kiln_arena_mark scratch = kiln_arena_set_mark(&p.r.workspace.arena);
            kiln_proposal proposal;
            judge_by(&p.r, false, 0.01);
            uint32_t a = kiln_edge_ends[e][0], b = kiln_edge_ends[e][1];
            bool may =
                kiln_edge_contraction_propose(&p.r, &p.r.workspace, t, a, b, &limits, &proposal);
            p.r.judge.edge[1] = longest;
            if (kiln_edge_contraction_propose(&p.r, &p.r.workspace, t, a, b, &limits, &proposal)) {
                ck_assert(may);
                found++;
                double before = 0.0;
                for (int k = 0; k < 2; k++) {
                    uint32_t end = p.mesh->tet[t].v[k ? a : b];
                    ck_assert_int_eq(kiln_star(p.mesh, end, &p.r.workspace.walker, NULL), KILN_OK);
                    const kiln_u32_array *star = &p.r.workspace.walker.tets;
                    before = fmax(before, longest_at(p.mesh, end, star->data, star->count));
                }
                uint32_t survivor = KILN_NONE;
                if (!proposal.has_place)
                    for (int k = 0; k < 2; k++) {
                        uint32_t end = p.mesh->tet[t].v[k ? a : b];
                        for (int i = 0; i < 4; i++)
                            survivor = proposal.fresh[0].v[i] == end ? end : survivor;
                    }
                kiln_pass_mark mark = kiln_remesher_mark(&p.r);
                ck_assert_int_eq(kiln_remesher_apply(&p.r, &proposal), KILN_ACCEPTED);
                uint32_t merged = proposal.has_place ? p.r.vertex_made : survivor;
                double after = longest_at(p.mesh, merged, p.r.changed.data, p.r.changed.count);
                ck_assert_double_le(after, fmax(before, longest));
                kiln_remesher_undo(&p.r, &mark);
            } else {
                limited += may;
            }
            kiln_arena_release(&p.r.workspace.arena, scratch);
        }
    ck_assert_int_gt(found, 50);
    ck_assert_int_gt(limited, 50);
    end(&p);
}
END_TEST

/* Without memory nothing is proposed, the workspace says so, and later it works again. */
START_TEST(memory_runs_out)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    pass p;
    begin(&p, context, kiln_test_layered_box(context, 0.05, 3));
    kiln_contraction_limits limits = kiln_contraction_improving();
    uint32_t found[2] = {0, 0}, failed = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t t = 0; t < p.mesh->table[KILN_ON_TET].used; t++) {
            kiln_workspace workspace;
            kiln_workspace_init(&workspace, context);
            /* From the next allocation on, or from the second. */
            heap.fail_at = round == 0 ? heap.calls + 1 + t % 2 : 0;
            kiln_proposal proposal;
            found[round] += kiln_contraction_propose(&p.r, &workspace, t, &limits, &proposal);
            failed += workspace.failed;
            heap.fail_at = 0;
            kiln_workspace_free(&workspace);
        }
    ck_assert_uint_gt(failed, 10);
    ck_assert_uint_gt(found[1], 10);
    ck_assert_uint_lt(found[0], found[1]);
    kiln_test_audit(p.mesh);
    end(&p);
    ck_assert_int_eq(heap.live_bytes, 0);
}
END_TEST

/* The ends of an edge may have been named the other way round, which rounds differently. */
static bool same(const kiln_proposal *a, const kiln_proposal *b)
{
    return a->old_count == b->old_count && a->before == b->before &&
           fabs(a->after - b->after) < 1e-12;
}

/* Whether the proposal is what a single contraction proposes. For edges it must be the first; `any`
 * says whether there is one at all. */
static bool proposed_alone(pass *p, uint32_t t, const kiln_contraction_limits *limits,
                           const kiln_proposal *proposal, bool *any)
{
    kiln_remesher *r = &p->r;
    kiln_proposal one;
    bool found = false;
    *any = false;
    for (int e = 0; e < 6 && !*any; e++) {
        *any = kiln_edge_contraction_propose(r, &r->workspace, t, kiln_edge_ends[e][0],
                                             kiln_edge_ends[e][1], limits, &one);
        found = *any && proposal && same(proposal, &one);
    }
    for (int e = 0; e < 6 && proposal && !*any; e++)
        for (uint32_t c = 0; c < 4; c++)
            found |= c != kiln_edge_ends[e][0] && c != kiln_edge_ends[e][1] &&
                     kiln_face_contraction_propose(r, &r->workspace, t, kiln_edge_ends[e][0],
                                                   kiln_edge_ends[e][1], c, limits, &one) &&
                     same(proposal, &one);
    for (uint32_t d = 0; d < 4 && proposal && !*any; d++)
        found |= kiln_tet_contraction_propose(r, &r->workspace, t, d, limits, &one) &&
                 same(proposal, &one);
    return found;
}

/* All contractions of a tet with shared stars are what they are one by one. */
START_TEST(shared_stars_change_nothing)
{
    pass p;
    kiln_context *context = kiln_test_context(1);
    begin(&p, context, kiln_test_random_mesh(context, 150, 9));
    kiln_contraction_limits limits = kiln_contraction_improving();
    uint32_t found[KILN_OP_COUNT] = {0}, none = 0;
    for (int high = 0; high < 2; high++)
        for (uint32_t t = 0; t < p.mesh->table[KILN_ON_TET].used; t++) {
            judge_by(&p.r, true, high ? 0.2 : 0.0);
            kiln_arena_mark scratch = kiln_arena_set_mark(&p.r.workspace.arena);
            kiln_proposal all;
            bool edges, done = kiln_contraction_propose(&p.r, &p.r.workspace, t, &limits, &all);
            ck_assert(proposed_alone(&p, t, &limits, done ? &all : NULL, &edges) == done);
            ck_assert(!edges || (done && all.kind == KILN_OP_EDGE_CONTRACTION));
            if (done)
                found[all.kind]++;
            none += !done;
            kiln_arena_release(&p.r.workspace.arena, scratch);
        }
    ck_assert_uint_gt(found[KILN_OP_EDGE_CONTRACTION], 100);
    ck_assert_uint_gt(found[KILN_OP_FACE_CONTRACTION], 10);
    ck_assert_uint_gt(found[KILN_OP_TET_CONTRACTION], 3);
    ck_assert_uint_gt(none, 100);
    end(&p);
}
END_TEST

/* A tet is split by a vertex close to one of its faces, or of its edges: caps and slivers that a
 * contraction can take away. */
static void add_flat_tets(pass *p, kiln_random *random)
{
    kiln_mesh *mesh = p->mesh;
    uint32_t t = kiln_random_below(random, mesh->table[KILN_ON_TET].used);
    if (!kiln_tet_live(mesh, t))
        return;
    const kiln_tet tet = mesh->tet[t];
    double weight[4], sum = 0.0;
    for (int k = 0; k < 4; k++)
        sum += weight[k] = kiln_random_below(random, 2) ? 0.02 : 1.0;
    kiln_vec3 u = {0, 0, 0}, x = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        u = kiln_v3_madd(u, weight[k] / sum, mesh->u[tet.v[k]]);
        x = kiln_v3_madd(x, weight[k] / sum, mesh->x[tet.v[k]]);
    }
    kiln_proposal proposal;
    const uint32_t corner[4] = {0, 1, 2, 3};
    judge_by(&p->r, false, -INFINITY);
    if (!kiln_split_propose(&p->r, &p->r.workspace, t, corner, 4, &proposal))
        return;
    proposal.place.u = u;
    proposal.place.x = x;
    proposal.quality = NULL;
    kiln_remesher_apply(&p->r, &proposal);
}

/* Boxes of several regions: whatever is contracted, nothing of the shape is lost. */
START_TEST(boxes_keep_their_shape)
{
    outcome all = {0};
    for (uint64_t seed = 0; seed < 6; seed++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_layered_box(context, 0.05, seed);
        if (seed % 2)
            for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
                mesh->x[v] = kiln_v3(1.5 * mesh->u[v].x + 0.2 * mesh->u[v].y, mesh->u[v].y,
                                     mesh->u[v].z - 0.3 * mesh->u[v].x);
        const kiln_test_shape shape = kiln_test_shape_of(mesh);
        pass p;
        begin(&p, context, mesh);
        kiln_random random = kiln_random_start(seed, 5);
        for (uint64_t i = 0; i < kiln_test_rounds(1500, 8000); i++) {
            kiln_arena_mark scratch = kiln_arena_set_mark(&p.r.workspace.arena);
            attempt(&p, &random, i % 4 != 0, &all);
            if (i % 2 == 0)
                add_flat_tets(&p, &random);
            kiln_arena_release(&p.r.workspace.arena, scratch);
            if (i % 100 != 0)
                continue;
            kiln_test_audit(mesh);
            const kiln_test_shape now = kiln_test_shape_of(mesh);
            kiln_test_same_shape(&now, &shape, 1.0, 1e-11);
        }
        end(&p);
    }
    for (int kind = 0; kind < 3; kind++) {
        ck_assert_int_gt(all.done[kind], 20);
        ck_assert_int_gt(all.surface[kind], 5);
        ck_assert_int_gt(all.regions[kind], 5);
        ck_assert_int_gt(all.met[kind], 5);
    }
    ck_assert_int_gt(all.features[0], 5);
    ck_assert_int_gt(all.features[1], 5);
}
END_TEST

/* One side of a crack must not lose faces that the other keeps. */
START_TEST(crack_faces_stay)
{
    const kiln_contraction_limits limits = kiln_contraction_improving();
    for (int crack = 0; crack < 2; crack++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=4");
        for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && crack; f++)
            mesh->face[f].twin = f + 1;
        uint32_t faces = mesh->table[KILN_ON_FACE].live, changes = 0;
        pass p;
        begin(&p, context, mesh);
        judge_by(&p.r, false, 0.0);
        for (uint32_t i = 0; i < 6 * mesh->table[KILN_ON_TET].used; i++) {
            const uint8_t *ends = kiln_edge_ends[i % 6];
            kiln_proposal proposal;
            kiln_arena_mark mark = kiln_arena_set_mark(&p.r.workspace.arena);
            changes += kiln_tet_live(mesh, i / 6) &&
                       kiln_edge_contraction_propose(&p.r, &p.r.workspace, i / 6, ends[0], ends[1],
                                                     &limits, &proposal) &&
                       kiln_remesher_apply(&p.r, &proposal) == KILN_ACCEPTED;
            kiln_arena_release(&p.r.workspace.arena, mark);
        }
        ck_assert_uint_gt(changes, 0);
        if (crack)
            ck_assert_uint_eq(mesh->table[KILN_ON_FACE].live, faces);
        else
            ck_assert_uint_lt(mesh->table[KILN_ON_FACE].live, faces);
        for (uint32_t f = 0; f < mesh->table[KILN_ON_FACE].used && crack; f++)
            ck_assert_uint_ne(mesh->face[f].twin, 0);
        end(&p);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("contract");
    TCase *all = kiln_test_case(suite, "edges");
    tcase_add_test(all, random_edges_inside);
    tcase_add_test(all, link_condition_is_what_it_says);
    tcase_add_test(all, refusals);
    TCase *more = kiln_test_case(suite, "faces and tets");
    tcase_add_test(more, cap_is_peeled);
    tcase_add_test(more, boxes_keep_their_shape);
    tcase_add_test(more, shared_stars_change_nothing);
    tcase_add_test(more, every_scale);
    tcase_add_test(more, length_is_limited);
    tcase_add_test(more, memory_runs_out);
    tcase_add_test(more, crack_faces_stay);
    return suite;
}

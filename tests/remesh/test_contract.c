#include "fixtures.h"
#include "remesh/contract.h"
#include "remesh/delaunay.h"
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

static void end(pass *p)
{
    kiln_remesher_end(&p->r);
    kiln_test_audit(p->mesh);
    kiln_mesh_destroy(p->mesh);
    kiln_context_destroy(p->context);
}

/* Delaunay tets of the corners of the unit cube and random points inside. */
static kiln_mesh *random_mesh(kiln_context *context, uint32_t inside, uint64_t seed)
{
    kiln_random random = kiln_random_start(seed, 1);
    uint32_t count = inside + 8;
    kiln_vec3 *point = malloc(count * sizeof *point);
    for (uint32_t i = 0; i < count; i++) {
        double x = kiln_random_unit(&random), y = kiln_random_unit(&random);
        point[i] =
            i < 8 ? kiln_v3(i & 1, i >> 1 & 1, i >> 2) : kiln_v3(x, y, kiln_random_unit(&random));
    }
    kiln_delaunay delaunay = {0};
    ck_assert_int_eq(kiln_delaunay_build(&delaunay, context, point, count, NULL), KILN_OK);
    kiln_soup_tet *tet = malloc(delaunay.tets.count * sizeof *tet);
    for (size_t i = 0; i < delaunay.tets.count; i++)
        memcpy(tet[i].v, delaunay.tets.data[i].v, sizeof tet[i].v);
    kiln_mesh *mesh =
        kiln_test_mesh_of(context, count, point, delaunay.tets.count, tet, NULL, KILN_BUILD_STRICT);
    kiln_delaunay_destroy(&delaunay);
    free(tet);
    free(point);
    return mesh;
}

static uint64_t columns_hash(const kiln_remesher *r)
{
    uint64_t hash = kiln_hash_bytes(1, r->quality.data,
                                    r->mesh->table[KILN_ON_TET].used * sizeof *r->quality.data);
    for (uint32_t v = 0; v < r->mesh->table[KILN_ON_VERTEX].used; v++)
        hash = kiln_hash_add(kiln_hash_bytes(hash, &r->side.data[v].begin, sizeof(kiln_vec3)),
                             r->side.data[v].freedom);
    return hash;
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
    begin(&p, context, random_mesh(context, 300, 3));
    kiln_mesh *mesh = p.mesh;
    const double volume = kiln_mesh_volume(mesh);
    const int64_t euler = euler_of(mesh);
    ck_assert_int_eq(euler, 1);
    kiln_random random = kiln_random_start(4, 0);
    kiln_contraction_limits gaining = kiln_contraction_improving();
    kiln_contraction_limits any = {.worst = 0.0, .longest = INFINITY, .surface = 0.15};
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
        if (!kiln_edge_contraction_propose(&p.r, &p.r.workspace, t, a, b, gain ? &gaining : &any,
                                           &proposal))
            continue;
        double before = kiln_remesher_worst(&p.r, proposal.old, proposal.old_count);
        ck_assert_double_eq(before, proposal.before);
        uint64_t hash = kiln_mesh_hash(mesh), columns = columns_hash(&p.r);
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
            ck_assert_uint_eq(columns_hash(&p.r), columns);
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

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("contract");
    TCase *all = kiln_test_case(suite, "edges");
    tcase_add_test(all, random_edges_inside);
    return suite;
}

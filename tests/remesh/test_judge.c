/* Judges other than quality, put in without touching an operator. */
#include "fixtures.h"
#include "irregular.h"
#include "mesh/reorder.h"
#include "remesh/edge_removal.h"
#include "remesh/improve.h"
#include "remesh/proposal.h"
#include "support.h"

static double volume_at(const kiln_remesher *r, const kiln_place *place, const uint32_t v[4])
{
    kiln_vec3 p[4];
    for (int k = 0; k < 4; k++)
        p[k] = v[k] == KILN_PROPOSED ? place->u : r->mesh->u[v[k]];
    return kiln_tet_volume(p[0], p[1], p[2], p[3]);
}

/* Score times volume, summed over what goes and over what comes. */
static double weight_old(const kiln_remesher *r, const kiln_proposal *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->old_count; i++)
        sum += r->quality.data[p->old[i]] * volume_at(r, NULL, r->mesh->tet[p->old[i]].v);
    return sum;
}

static double weight_fresh(const kiln_remesher *r, const kiln_proposal *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->fresh_count; i++)
        sum += kiln_remesher_score(r, &p->place, p->fresh[i].v) *
               volume_at(r, &p->place, p->fresh[i].v);
    for (uint32_t i = 0; i < p->old_count && p->kind == KILN_OP_SMOOTHING; i++) {
        kiln_tet tet = r->mesh->tet[p->old[i]];
        tet.v[kiln_tet_corner(&tet, p->moved)] = KILN_PROPOSED;
        sum += kiln_remesher_score(r, &p->place, tet.v) * volume_at(r, &p->place, tet.v);
    }
    return sum;
}

static bool mean_may(void *self, const kiln_remesher *r, const kiln_proposal *p)
{
    (void)self;
    return weight_fresh(r, p) >= weight_old(r, p);
}

static double weighted_mean(const kiln_mesh *mesh)
{
    double sum = 0.0, volume = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        if (!kiln_tet_live(mesh, t))
            continue;
        const uint32_t *v = mesh->tet[t].v;
        double V = kiln_mesh_tet_volume(mesh, t);
        sum += V * kiln_tet_quality(&mesh->u[v[0]], &mesh->u[v[1]], &mesh->u[v[2]], &mesh->u[v[3]]);
        volume += V;
    }
    return sum / volume;
}

static kiln_improve_report improve(kiln_mesh *mesh, const kiln_judge *judge)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_improve_options improve = kiln_improve_default_options();
    kiln_improve_report report;
    kiln_remesher r;
    options.judge = judge;
    improve.goal = 0.2;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    ck_assert_int_eq(kiln_dynamic_improve(&r, &improve, &report, NULL), KILN_OK);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t))
            ck_assert_double_eq(r.quality.data[t], kiln_remesher_score(&r, NULL, mesh->tet[t].v));
    kiln_remesher_end(&r);
    kiln_test_audit(mesh);
    return report;
}

static kiln_judge usual(void)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    return kiln_judge_quality(&options);
}

/* The cube's surface is flat, so its volume stays, and with no proposal that lowers the mean it
 * cannot fall. */
START_TEST(before_the_change)
{
    uint64_t hash[3];
    for (int run = 0; run < 3; run++) {
        kiln_context *context = kiln_test_context(run == 1 ? 2 : 1);
        kiln_mesh *mesh = kiln_test_random_mesh(context, 60, 3);
        kiln_judge judge = usual();
        judge.may = mean_may;
        double before = weighted_mean(mesh);
        kiln_improve_report report = improve(mesh, run < 2 ? &judge : NULL);
        ck_assert_uint_gt(report.changed, 20);
        ck_assert_uint_lt(report.bad_after, report.bad_before / 2);
        if (run < 2)
            ck_assert_double_gt(weighted_mean(mesh), before - 1e-12);
        hash[run] = kiln_mesh_hash(mesh);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert(hash[0] == hash[1]);
    ck_assert(hash[0] != hash[2]);
}
END_TEST

typedef struct turns {
    uint32_t asked, compounds, period; /* every period-th is kept; 0: none */
} turns;

static bool kept_in_turn(void *self, kiln_remesher *r, const kiln_change *change)
{
    turns *t = self;
    ck_assert_uint_gt(kiln_txn_depth(r->mesh), 0);
    ck_assert_uint_gt(r->changed.count, 0);
    ck_assert_uint_gt(change->before_count, 0);
    bool any = false;
    for (size_t i = 0; i < change->before_count; i++)
        any |= change->before[i].quality < INFINITY;
    ck_assert(any);
    for (size_t i = 0; i < r->changed.count; i++) {
        uint32_t tet = r->changed.data[i];
        ck_assert(kiln_tet_live(r->mesh, tet));
        ck_assert_double_eq(r->quality.data[tet],
                            kiln_remesher_score(r, NULL, r->mesh->tet[tet].v));
    }
    t->compounds += change->compound;
    return t->asked++, t->period && t->asked % t->period == 0;
}

START_TEST(after_the_change)
{
    uint64_t hash[4];
    for (int run = 0; run < 4; run++) {
        kiln_context *context = kiln_test_context(run == 1 ? 2 : 1);
        kiln_mesh *mesh = kiln_test_random_mesh(context, 60, 3);
        turns t = {.period = run == 2 ? 0 : run == 3 ? 1 : 2};
        kiln_judge judge = usual();
        judge.keeps = kept_in_turn;
        judge.self = &t;
        uint64_t before = kiln_mesh_hash(mesh);
        kiln_improve_report report = improve(mesh, &judge);
        hash[run] = kiln_mesh_hash(mesh);
        ck_assert_uint_gt(t.asked, 100);
        ck_assert_uint_gt(t.compounds, 0);
        if (t.period)
            ck_assert_uint_gt(report.changed, 20);
        else
            ck_assert(hash[run] == before && report.changed == 0);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_random_mesh(context, 60, 3);
    improve(mesh, NULL);
    ck_assert(hash[0] == hash[1]);
    ck_assert(hash[3] == kiln_mesh_hash(mesh)); /* one that keeps everything is as good as none */
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* One refused change, mesh and columns. */
START_TEST(refused_leaves_every_bit)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_random_mesh(context, 100, 5);
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher r;
    uint32_t refused = 0;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    turns none = {0};
    r.judge.keeps = kept_in_turn;
    r.judge.self = &none;
    uint64_t hash = kiln_mesh_hash(mesh), columns = kiln_test_columns_hash(&r);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int e = 0; e < 6; e++) {
            kiln_proposal proposal;
            kiln_arena_mark scratch = kiln_arena_set_mark(&r.workspace.arena);
            if (kiln_edge_removal_propose(&r, &r.workspace, t, kiln_edge_ends[e][0],
                                          kiln_edge_ends[e][1], &proposal)) {
                ck_assert_int_eq(kiln_remesher_apply(&r, &proposal), KILN_REFUSED_JUDGED);
                refused++;
            }
            kiln_arena_release(&r.workspace.arena, scratch);
        }
    ck_assert_uint_gt(refused, 10);
    ck_assert(hash == kiln_mesh_hash(mesh) && columns == kiln_test_columns_hash(&r));
    kiln_remesher_end(&r);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* What a judge asks that wants no gain is found where quality finds nothing. */
START_TEST(figures_are_the_judges)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_random_mesh(context, 100, 5);
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher r;
    uint32_t found[2] = {0, 0};
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    for (int lenient = 0; lenient < 2; lenient++) {
        r.judge.gain = lenient ? -INFINITY : KILN_LEAST_GAIN;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
            for (int e = 0; e < 6; e++) {
                kiln_proposal proposal;
                kiln_arena_mark scratch = kiln_arena_set_mark(&r.workspace.arena);
                if (kiln_edge_removal_propose(&r, &r.workspace, t, kiln_edge_ends[e][0],
                                              kiln_edge_ends[e][1], &proposal)) {
                    found[lenient]++;
                    ck_assert(lenient || proposal.after > proposal.before + KILN_LEAST_GAIN);
                    ck_assert_double_gt(proposal.after, 0.0);
                }
                kiln_arena_release(&r.workspace.arena, scratch);
            }
    }
    ck_assert_uint_gt(found[1], 2 * found[0]);
    kiln_remesher_end(&r);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("judge");
    TCase *all = kiln_test_case(suite, "judges");
    tcase_add_test(all, before_the_change);
    tcase_add_test(all, after_the_change);
    tcase_add_test(all, refused_leaves_every_bit);
    tcase_add_test(all, figures_are_the_judges);
    return suite;
}

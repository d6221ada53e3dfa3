/* The core of a pass: scores, proposals by hand, and columns that follow rollbacks. */
#include "fixtures.h"
#include "remesh/proposal.h"
#include "remesh/sizing.h"
#include "support.h"

#include <string.h>

/* Two tets on a triangle; a 2-3 flip is a gain where the apexes are near. */
static kiln_mesh *bipyramid(kiln_context *context, double height)
{
    const double s = 0.8660254037844386;
    const kiln_vec3 p[5] = {
        {1, 0, 0}, {-0.5, s, 0}, {-0.5, -s, 0}, {0, 0, height}, {0, 0, -height}};
    const kiln_soup_tet t[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};
    return kiln_test_mesh_of(context, 5, p, 2, t, NULL, KILN_BUILD_STRICT);
}

static kiln_proposal flip_23(kiln_new_tet fresh[3], uint32_t old[2])
{
    for (uint32_t i = 0; i < 3; i++)
        fresh[i] = (kiln_new_tet){.v = {4, 3, i, (i + 1) % 3}, .parent = i % 2, .slot = KILN_NONE};
    old[0] = 0;
    old[1] = 1;
    return (kiln_proposal){
        .kind = KILN_OP_FACE_REMOVAL, .old = old, .old_count = 2, .fresh = fresh, .fresh_count = 3};
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

START_TEST(a_proposal_becomes_a_change_and_is_undone)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = bipyramid(context, 0.4);
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher r;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    ck_assert_double_eq_tol(kiln_remesher_worst(&r, (uint32_t[]){0, 1}, 2), 0.4512, 5e-5);
    kiln_new_tet fresh[3];
    uint32_t old[2];
    kiln_proposal proposal = flip_23(fresh, old);
    uint64_t hash = kiln_mesh_hash(mesh), columns = columns_hash(&r);

    kiln_pass_mark mark = kiln_remesher_mark(&r);
    ck_assert_int_eq(kiln_remesher_apply(&r, &proposal), KILN_ACCEPTED);
    ck_assert_uint_eq(r.changed.count, 3);
    ck_assert_double_eq_tol(kiln_remesher_worst(&r, r.changed.data, 3), 0.5571, 5e-5);
    kiln_remesher_undo(&r, &mark);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    ck_assert_uint_eq(columns_hash(&r), columns);

    proposal.stamp = mesh->clock;
    ck_assert(kiln_proposal_fresh(&r, &proposal));
    ck_assert_int_eq(kiln_remesher_apply(&r, &proposal), KILN_ACCEPTED);
    ck_assert(!kiln_proposal_fresh(&r, &proposal));
    kiln_remesher_end(&r);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A tet split in four by hand: the proposed vertex gets a number, a side and fields. */
START_TEST(a_proposed_vertex_is_made)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = bipyramid(context, 0.4);
    for (int v = 0; v < 5; v++)
        mesh->x[v].x = 3.0 * mesh->u[v].x + 1.0;
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher r;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
    ck_assert(!r.one_space);
    kiln_new_tet fresh[4];
    uint32_t old[1] = {0};
    kiln_proposal proposal = {.kind = KILN_OP_SPLIT,
                              .old = old,
                              .old_count = 1,
                              .fresh = fresh,
                              .fresh_count = 4,
                              .has_place = true,
                              .parents = 4};
    kiln_vec3 p = kiln_v3(0, 0, 0);
    for (int k = 0; k < 4; k++) {
        proposal.parent[k] = mesh->tet[0].v[k];
        proposal.weight[k] = 0.25;
        p = kiln_v3_madd(p, 0.25, mesh->u[mesh->tet[0].v[k]]);
        fresh[k] = (kiln_new_tet){.parent = 0, .slot = KILN_NONE};
        memcpy(fresh[k].v, mesh->tet[0].v, sizeof fresh[k].v);
        fresh[k].v[k] = KILN_PROPOSED;
    }
    proposal.place.side.hint = 0;
    kiln_remesher_locate(&r, p, &proposal.place);
    ck_assert_double_eq_tol(proposal.place.x.x, 3.0 * p.x + 1.0, 1e-14);
    double expected = kiln_remesher_score(&r, &proposal.place, fresh[2].v);
    ck_assert(kiln_remesher_valid_elsewhere(&r, r.options.space, &proposal.place, fresh[2].v));
    ck_assert_int_eq(kiln_remesher_apply(&r, &proposal), KILN_ACCEPTED);
    ck_assert_uint_eq(r.vertex_made, 5);
    ck_assert_double_eq(r.quality.data[r.changed.data[2]], expected);
    ck_assert_uint_eq(r.side.data[5].freedom, KILN_FREE);

    /* And moved: the star's scores follow. */
    kiln_place place = {.side = r.side.data[5]};
    kiln_remesher_locate(&r, kiln_v3_madd(p, 0.1, kiln_v3(0.1, 0.2, 0)), &place);
    ck_assert_int_eq(kiln_remesher_move(&r, 5, &place), KILN_ACCEPTED);
    ck_assert_uint_eq(r.changed.count, 4);
    for (int k = 0; k < 4; k++)
        ck_assert_double_eq(r.quality.data[r.changed.data[k]],
                            kiln_remesher_score(&r, NULL, mesh->tet[r.changed.data[k]].v));
    /* Out of the star: refused, nothing changed. */
    uint64_t hash = kiln_mesh_hash(mesh), columns = columns_hash(&r);
    place.u = kiln_v3(0, 0, 9);
    ck_assert_int_eq(kiln_remesher_move(&r, 5, &place), KILN_REFUSED_INVERTED);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    ck_assert_uint_eq(columns_hash(&r), columns);
    kiln_remesher_end(&r);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A metric that asks for what a stretched tet is makes it as good as the regular one. */
START_TEST(scores_are_taken_in_the_metric)
{
    kiln_context *context = kiln_test_context(1);
    const double s = 0.8660254037844386;
    const kiln_vec3 p[4] = {{0, 0, 0}, {10, 0, 0}, {5, s, 0}, {5, s / 3, 0.816496580927726}};
    const kiln_soup_tet t[1] = {{{0, 1, 2, 3}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 4, p, 1, t, NULL, KILN_BUILD_STRICT);
    double values[4][6];
    for (int v = 0; v < 4; v++)
        memcpy(values[v], (double[]){0.01, 0, 1, 0, 0, 1}, sizeof values[v]);
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_values(sizing, values[0], 4, 6, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){0}, NULL), KILN_OK);
    for (int measure = KILN_MEASURE_QUALITY; measure <= KILN_MEASURE_VOLUME_LENGTH; measure++) {
        kiln_remesh_options options = kiln_remesh_default_options();
        options.sizing = sizing;
        options.measure = (kiln_measure)measure;
        kiln_remesher r;
        ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
        ck_assert_double_eq_tol(r.quality.data[0],
                                measure == KILN_MEASURE_MIN_SINE ? 0.9428090415820634 : 1.0, 1e-12);
        kiln_remesher_end(&r);
    }
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* With both_shapes the metric has no part in scores, and the worse of two spaces counts. */
START_TEST(shapes_of_both_spaces)
{
    kiln_context *context = kiln_test_context(1);
    const double s = 0.8660254037844386;
    const kiln_vec3 p[4] = {{0, 0, 0}, {1, 0, 0}, {0.5, s, 0}, {0.5, s / 3, 0.816496580927726}};
    const kiln_soup_tet t[1] = {{{0, 1, 2, 3}}};
    kiln_mesh *mesh = kiln_test_mesh_of(context, 4, p, 1, t, NULL, KILN_BUILD_STRICT);
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.3, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){0}, NULL), KILN_OK);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    options.both_shapes = true;
    for (int flat = 0; flat < 3; flat++) { /* in neither space, the material, the world */
        for (int v = 0; v < 4; v++) {
            mesh->u[v] = kiln_v3(p[v].x, p[v].y, p[v].z * (flat == 1 ? 0.2 : 1.0));
            mesh->x[v] = kiln_v3(p[v].x, p[v].y, p[v].z * (flat == 2 ? 0.2 : 1.0));
        }
        const kiln_vec3 *x = flat == 1 ? mesh->u : mesh->x;
        kiln_remesher r;
        ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &r, NULL), KILN_OK);
        double expected = kiln_tet_measure(KILN_MEASURE_QUALITY, &x[0], &x[1], &x[2], &x[3]);
        ck_assert_double_eq_tol(r.quality.data[0], expected, 1e-12);
        ck_assert(flat == 0 || expected < 0.5);
        kiln_remesher_end(&r);
    }
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    for (uint64_t fail_at = 1;; fail_at++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = bipyramid(context, 0.4);
        kiln_remesh_options options = kiln_remesh_default_options();
        kiln_remesher r;
        heap.fail_at = heap.calls + fail_at;
        uint64_t hash = kiln_mesh_hash(mesh);
        kiln_status status = kiln_remesher_begin(mesh, &options, &r, NULL);
        kiln_verdict verdict = KILN_REFUSED_MEMORY;
        if (status == KILN_OK) {
            kiln_new_tet fresh[3];
            uint32_t old[2];
            kiln_proposal proposal = flip_23(fresh, old);
            verdict = kiln_remesher_apply(&r, &proposal);
            kiln_remesher_end(&r);
        }
        if (verdict != KILN_ACCEPTED)
            ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
        if (verdict == KILN_ACCEPTED)
            break;
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("remesher");
    TCase *core = kiln_test_case(suite, "core");
    tcase_add_test(core, a_proposal_becomes_a_change_and_is_undone);
    tcase_add_test(core, a_proposed_vertex_is_made);
    tcase_add_test(core, scores_are_taken_in_the_metric);
    tcase_add_test(core, shapes_of_both_spaces);
    tcase_add_test(core, every_allocation_may_fail);
    return suite;
}

/* The contact surface from changes against the one from the whole mesh: the same bits. */
#include "contact/contact_surface.h"
#include "mesh_diff.h"

#define SAME(a, b, field)                                                                          \
    do {                                                                                           \
        ck_assert_uint_eq((a)->field.count, (b)->field.count);                                     \
        if ((a)->field.count)                                                                      \
            ck_assert_mem_eq((a)->field.data, (b)->field.data,                                     \
                             (a)->field.count * sizeof *(a)->field.data);                          \
    } while (0)

static void check_same(const kiln_contact_surface *a, const kiln_contact_surface *b)
{
    SAME(a, b, vertices);
    SAME(a, b, faces);
    SAME(a, b, area);
    SAME(a, b, body);
    SAME(a, b, part);
    SAME(a, b, edges);
    SAME(a, b, edge_area);
    SAME(a, b, near_start);
    SAME(a, b, near);
}

static kiln_mesh *two_balls(kiln_context *context)
{
    kiln_soup all = kiln_test_soup(context, "ball", "radius=1 h=0.35");
    kiln_soup other = kiln_test_soup(context, "ball", "radius=0.5 h=0.2");
    for (size_t i = 0; i < other.points.count; i++)
        other.points.data[i].x += 2.0;
    ck_assert_int_eq(kiln_soup_append(&all, &other, 0, NULL), KILN_OK);
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh = NULL;
    ck_assert_int_eq(kiln_mesh_build(context, &all, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&all);
    kiln_soup_free(&other);
    return mesh;
}

typedef struct tally {
    size_t to_surface, gone;
} tally;

static void count_changes(const mesh_note *before, const kiln_contact_surface *old,
                          const kiln_mesh *mesh, tally *seen)
{
    size_t used = mesh->table[KILN_ON_VERTEX].used;
    seen->gone += used < before->rows[KILN_ON_VERTEX];
    for (size_t i = 0, next = 0; i < used && i < before->rows[KILN_ON_VERTEX]; i++) {
        while (next < old->vertices.count && old->vertices.data[next] < i)
            next++;
        bool was = next < old->vertices.count && old->vertices.data[next] == i;
        bool same = memcmp(&before->u[i], &mesh->u[i], sizeof *mesh->u) == 0;
        seen->to_surface += same && !was && mesh->vertex[i].flags & KILN_VERTEX_SURFACE;
    }
}

/* With lists that are as short as can be, and with rows in them for nothing. */
START_TEST(updates_are_builds)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_balls(context);
    kiln_random random = kiln_random_start(5, (uint64_t)_i);
    kiln_contact_surface kept = {0}, built = {0};
    kiln_changes changes = {0};
    mesh_splits splits = {0};
    tally seen = {0};
    kiln_changes_start(&changes, mesh);
    ck_assert_int_eq(kiln_contact_surface_build(&kept, mesh, NULL), KILN_OK);
    for (uint64_t round = 0; round < kiln_test_rounds(60, 600); round++) {
        mesh_note before = mesh_note_take(mesh);
        mesh_wear(mesh, &random, &splits, 1 + (int)kiln_random_below(&random, 30), 0.03, round % 2);
        mesh_diff(&before, mesh, &random, _i ? 50 : 0, &changes);
        count_changes(&before, &kept, mesh, &seen);
        ck_assert_int_eq(kiln_contact_surface_update(&kept, mesh, &changes, NULL), KILN_OK);
        ck_assert_int_eq(kiln_contact_surface_build(&built, mesh, NULL), KILN_OK);
        check_same(&kept, &built);
        mesh_note_free(&before);
        if (mesh->table[KILN_ON_TET].used < 200) { /* eaten up */
            kiln_mesh_destroy(mesh);
            mesh = two_balls(context);
            splits = (mesh_splits){0};
            changes.all = true;
            ck_assert_int_eq(kiln_contact_surface_update(&kept, mesh, &changes, NULL), KILN_OK);
        }
    }
    ck_assert_uint_gt(seen.to_surface, 20);
    ck_assert_uint_gt(seen.gone, 0);
    kiln_changes_free(context, &changes);
    kiln_contact_surface_free(&kept);
    kiln_contact_surface_free(&built);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* As plastic flow does it: everything elsewhere, nothing else. */
START_TEST(areas_follow_the_material)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = two_balls(context);
    kiln_contact_surface kept = {0}, built = {0};
    ck_assert_int_eq(kiln_contact_surface_build(&kept, mesh, NULL), KILN_OK);
    double before = kept.area.data[kept.vertices.data[0]];
    size_t vertices = mesh->table[KILN_ON_VERTEX].used;
    kiln_vec3 *u = malloc(vertices * sizeof *u);
    for (size_t v = 0; v < vertices; v++)
        u[v] = kiln_v3(1.1 * mesh->u[v].x, mesh->u[v].y + 0.2 * mesh->u[v].x, 0.9 * mesh->u[v].z);
    ck_assert_int_eq(kiln_mesh_place(mesh, u, NULL), KILN_OK);
    kiln_contact_surface_measure(&kept, mesh);
    ck_assert_int_eq(kiln_contact_surface_build(&built, mesh, NULL), KILN_OK);
    check_same(&kept, &built);
    ck_assert_double_ne(kept.area.data[kept.vertices.data[0]], before);
    free(u);
    kiln_contact_surface_free(&kept);
    kiln_contact_surface_free(&built);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(without_memory_it_is_empty)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = two_balls(context);
    kiln_random random = kiln_random_start(6, 0);
    kiln_contact_surface kept = {0}, built = {0};
    kiln_changes changes = {0};
    mesh_splits splits = {0};
    ck_assert_int_eq(kiln_contact_surface_build(&kept, mesh, NULL), KILN_OK);
    bool failed = true;
    for (uint64_t k = 1; failed; k++) {
        mesh_note before = mesh_note_take(mesh);
        mesh_wear(mesh, &random, &splits, 10, 0.03, false);
        mesh_diff(&before, mesh, &random, 0, &changes);
        mesh_note_free(&before);
        heap.fail_at = heap.calls + k;
        failed = kiln_contact_surface_update(&kept, mesh, &changes, NULL) != KILN_OK;
        heap.fail_at = 0;
        if (failed) {
            ck_assert_uint_eq(kept.vertices.count + kept.faces.count + kept.edges.count, 0);
            ck_assert_int_eq(kiln_contact_surface_update(&kept, mesh, &changes, NULL), KILN_OK);
        }
        ck_assert_int_eq(kiln_contact_surface_build(&built, mesh, NULL), KILN_OK);
        check_same(&kept, &built);
        ck_assert_uint_lt(k, 1000);
    }
    kiln_changes_free(context, &changes);
    kiln_contact_surface_free(&kept);
    kiln_contact_surface_free(&built);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("surface_update");
    TCase *all = kiln_test_case(suite, "surface_update");
    tcase_add_loop_test(all, updates_are_builds, 0, 2);
    tcase_add_test(all, areas_follow_the_material);
    tcase_add_test(all, without_memory_it_is_empty);
    return suite;
}

/* Meshes from arrays: what strict refuses, what repair mends, and what it says it did. */
#include "fixtures.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double corner[9][3] = {{0, 0, 0},  {1, 0, 0},  {0, 1, 0},   {0, 0, 1},  {-1, 0, 0},
                                    {0, -1, 0}, {0, 0, -1}, {-1, -1, 0}, {0, -1, -1}};

typedef struct import_case {
    const char *what;
    uint32_t tets[12];
    size_t count;
    const char *words;       /* of the strict refusal; NULL: accepted */
    bool mended;             /* by repair */
    kiln_mesh_report report; /* of repair, or of strict when that accepts */
} import_case;

static const import_case cases[] = {
    {"one tet", {0, 1, 2, 3}, 1, NULL, true, {0}},
    {"the other convention", {0, 2, 1, 3, 1, 2, 0, 6}, 2, NULL, true, {.tets_turned = 2}},
    {"one turned",
     {0, 1, 2, 3, 0, 1, 2, 6},
     2,
     "tet 2: a tet must be positively oriented",
     true,
     {.tets_turned = 1}},
    {"given twice",
     {0, 1, 2, 3, 1, 2, 0, 3},
     2,
     "tet 2: a tet may be given once only",
     true,
     {.tets_dropped = 1}},
    {"a corner twice",
     {0, 1, 2, 3, 0, 1, 1, 6},
     2,
     "tet 2: a tet needs four different vertices",
     true,
     {.tets_dropped = 1}},
    {"two that touch in a vertex",
     {0, 1, 2, 3, 0, 5, 4, 6},
     2,
     "vertex 1: the tets at a vertex must hang together",
     true,
     {.vertices_split = 1}},
    {"two that touch in an edge",
     {0, 1, 2, 3, 0, 3, 7, 5},
     2,
     "vertex 1: the tets at a vertex must hang together",
     true,
     {.vertices_split = 2}},
    {"flat", {0, 1, 2, 3, 0, 1, 2, 5}, 2, "tet 2: a tet must have volume", false, {0}},
    {"none", {0}, 0, "there are no tets", false, {0}},
    {"out of range", {0, 1, 2, 9}, 1, "tetrahedron 1 names number 10", false, {0}},
};

static size_t corners_used(const import_case *c)
{
    bool used[10] = {0};
    size_t count = 0;
    for (size_t t = 0; t < c->count; t++) {
        const uint32_t *v = c->tets + 4 * t;
        bool twice = false;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++)
                twice |= v[i] == v[j];
        for (int i = 0; i < 4 && !twice; i++)
            used[v[i]] = true;
    }
    for (int i = 0; i < 9; i++)
        count += used[i];
    return count;
}

START_TEST(policies)
{
    kiln_context *context = kiln_test_context(1);
    const import_case *c = &cases[_i];
    const kiln_mesh_arrays arrays = {
        .point_count = 9, .points = corner[0], .tet_count = c->count, .tets = c->tets};
    kiln_mesh_options options = kiln_mesh_default_options();
    for (int policy = KILN_MESH_STRICT; policy <= KILN_MESH_REPAIR; policy++) {
        kiln_mesh *mesh = NULL;
        kiln_mesh_report report = {.tunnels = 99};
        kiln_error error = {0};
        options.policy = (kiln_mesh_policy)policy;
        kiln_status status =
            kiln_mesh_from_arrays(context, &arrays, &options, &mesh, &report, &error);
        if (policy == KILN_MESH_STRICT ? c->words != NULL : !c->mended) {
            ck_assert_int_eq(status, KILN_ERR_INPUT);
            ck_assert_msg(strstr(error.message, c->words), "%s: %s", c->what, error.message);
            ck_assert_ptr_null(mesh);
            ck_assert_uint_eq(report.tunnels, 99);
            continue;
        }
        ck_assert_msg(status == KILN_OK, "%s: %s", c->what, error.message);
        kiln_mesh_report wanted = c->report;
        wanted.points_unused = 9 - corners_used(c);
        ck_assert_msg(memcmp(&report, &wanted, sizeof report) == 0,
                      "%s: turned %zu dropped %zu vertices %zu edges %zu unused %zu", c->what,
                      report.tets_turned, report.tets_dropped, report.vertices_split,
                      report.edges_split, report.points_unused);
        kiln_test_audit(mesh);
        ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_TET), c->count - report.tets_dropped);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

/* A box of 4^3 cells without the two cells in its middle that touch in a vertex only. */
START_TEST(touching_voids_get_a_tunnel)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *box = kiln_test_mesh(context, "box", "n=4");
    size_t points = kiln_mesh_count(box, KILN_ON_VERTEX), tets = kiln_mesh_count(box, KILN_ON_TET);
    double *x = malloc(points * 3 * sizeof *x), low = HUGE_VAL;
    uint32_t *tet = malloc(tets * 4 * sizeof *tet);
    kiln_mesh_copy_positions(box, KILN_SPACE_MATERIAL, x);
    ck_assert_int_eq(kiln_mesh_copy_tets(box, tet, NULL), KILN_OK);
    for (size_t i = 0; i < 3 * points; i++)
        low = fmin(low, x[i]);
    size_t kept = 0;
    for (size_t t = 0; t < tets; t++) {
        int cell[3];
        for (int axis = 0; axis < 3; axis++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += x[3 * tet[4 * t + k] + axis];
            cell[axis] = (int)floor((0.25 * sum - low) * 4.0);
        }
        bool out = cell[0] == cell[1] && cell[1] == cell[2] && (cell[0] == 1 || cell[0] == 2);
        if (!out)
            memmove(tet + 4 * kept++, tet + 4 * t, 4 * sizeof *tet);
    }
    ck_assert_uint_eq(kept, tets - 12);
    const kiln_mesh_arrays arrays = {
        .point_count = points, .points = x, .tet_count = kept, .tets = tet};
    kiln_mesh_options options = kiln_mesh_default_options();
    options.policy = KILN_MESH_REPAIR;
    options.opened_tag = 42;
    kiln_mesh *mesh = NULL;
    kiln_mesh_report report;
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, NULL, &mesh, NULL, NULL),
                     KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, &options, &mesh, &report, NULL),
                     KILN_OK);
    ck_assert_uint_eq(report.tunnels, 1);
    kiln_test_audit(mesh);
    size_t faces = kiln_mesh_count(mesh, KILN_ON_FACE), opened = 0;
    int32_t *tag = malloc(faces * sizeof *tag);
    kiln_mesh_copy_tags(mesh, KILN_ON_FACE, tag);
    for (size_t f = 0; f < faces; f++)
        opened += tag[f] == 42;
    ck_assert_uint_ge(opened, 2);
    for (int where = 0; where < KILN_WHERE_COUNT; where++)
        ck_assert_uint_eq(mesh->table[where].live, mesh->table[where].used);
    free(tag);
    free(x);
    free(tet);
    kiln_mesh_destroy(mesh);
    kiln_mesh_destroy(box);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(everything_is_taken_over)
{
    kiln_context *context = kiln_test_context(1);
    const uint32_t tets[8] = {0, 1, 2, 3, 1, 0, 2, 6}, triangles[9] = {3, 2, 1, 0, 1, 2, 4, 5, 6};
    const int32_t regions[2] = {5, -6}, tags[3] = {8, 9, 10};
    double material[9][3];
    for (int i = 0; i < 27; i++)
        material[i / 3][i % 3] = 2 * corner[i / 3][i % 3];
    const kiln_mesh_arrays arrays = {.point_count = 9,
                                     .points = corner[0],
                                     .material = material[0],
                                     .tet_count = 2,
                                     .tets = tets,
                                     .regions = regions,
                                     .triangle_count = 3,
                                     .triangles = triangles,
                                     .triangle_tags = tags};
    kiln_mesh *mesh = NULL;
    kiln_mesh_report report;
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, NULL, &mesh, &report, NULL), KILN_OK);
    ck_assert_uint_eq(report.triangles_inside, 1);
    ck_assert_uint_eq(report.triangles_unused, 1);
    ck_assert_double_eq_tol(kiln_mesh_volume(mesh), 8.0 / 3.0, 1e-15);
    double world[15], rest[15];
    int32_t region[2], tag[6];
    kiln_mesh_copy_positions(mesh, KILN_SPACE_WORLD, world);
    kiln_mesh_copy_positions(mesh, KILN_SPACE_MATERIAL, rest);
    ck_assert_double_eq(world[3], 1);
    ck_assert_double_eq(rest[3], 2);
    kiln_mesh_copy_tags(mesh, KILN_ON_TET, region);
    ck_assert_int_eq(region[0], 5);
    ck_assert_int_eq(region[1], -6);
    kiln_mesh_copy_tags(mesh, KILN_ON_FACE, tag);
    int tagged = 0;
    for (int f = 0; f < 6; f++)
        tagged += tag[f];
    ck_assert_int_eq(tagged, 8);
    ck_assert_ptr_null(kiln_mesh_field_name(mesh, KILN_ON_VERTEX, 0));
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = NULL;
    kiln_mesh_arrays arrays = {
        .point_count = 9, .points = corner[0], .tet_count = 1, .tets = cases[0].tets};
    kiln_mesh_options options = kiln_mesh_default_options();
    options.feature_angle = NAN;
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, &options, &mesh, NULL, NULL),
                     KILN_ERR_INPUT);
    options = kiln_mesh_default_options();
    options.policy = (kiln_mesh_policy)2;
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, &options, &mesh, NULL, NULL),
                     KILN_ERR_INPUT);
    arrays.tet_count = (size_t)1 << 40;
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, NULL, &mesh, NULL, NULL),
                     KILN_ERR_LIMIT);
    double far[9][3];
    memcpy(far, corner, sizeof far);
    far[2][1] = INFINITY;
    arrays.tet_count = 1;
    arrays.points = far[0];
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, NULL, &mesh, NULL, NULL),
                     KILN_ERR_INPUT);
    far[2][1] = 1e300;
    kiln_error error;
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, NULL, &mesh, NULL, &error),
                     KILN_ERR_INPUT);
    ck_assert_str_eq(
        error.message,
        "point 3 must be at most 1e+30 m from 0, is at (0, 1e+300, 0): change the unit");
    arrays.points = corner[0];
    arrays.material = far[0];
    ck_assert_int_eq(kiln_mesh_from_arrays(context, &arrays, NULL, &mesh, NULL, NULL),
                     KILN_ERR_INPUT);
    ck_assert_ptr_null(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(allocations_may_fail)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    const kiln_mesh_arrays arrays = {
        .point_count = 9, .points = corner[0], .tet_count = 2, .tets = cases[5].tets};
    kiln_mesh_options options = kiln_mesh_default_options();
    options.policy = KILN_MESH_REPAIR;
    int64_t before = heap.live_blocks;
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t k = 1; status != KILN_OK; k++) {
        kiln_mesh *mesh = NULL;
        heap.fail_at = heap.calls + k;
        status = kiln_mesh_from_arrays(context, &arrays, &options, &mesh, NULL, NULL);
        heap.fail_at = 0;
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        kiln_mesh_destroy(mesh);
        ck_assert_int_eq(heap.live_blocks, before);
    }
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("import");
    TCase *all = kiln_test_case(suite, "import");
    tcase_add_loop_test(all, policies, 0, (int)(sizeof cases / sizeof cases[0]));
    tcase_add_test(all, touching_voids_get_a_tunnel);
    tcase_add_test(all, everything_is_taken_over);
    tcase_add_test(all, nonsense_is_refused);
    tcase_add_test(all, allocations_may_fail);
    return suite;
}

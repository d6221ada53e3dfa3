/* The counts of the five-state refinement, worked out by hand. */
#include "refined.h"
#include "remesh/refine_file.h"

static const kiln_vec3 regular[5] = {
    {1, 1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, 1}, {5.0 / 3, 5.0 / 3, -5.0 / 3}};
/* The second tet lies across the face of corners 0, 1, 2. */
static const kiln_soup_tet pair[2] = {{{0, 1, 2, 3}}, {{0, 2, 1, 4}}};

static kiln_mesh *tets_of(kiln_context *context, int count, bool interface)
{
    const int32_t region[2] = {1, 2};
    kiln_vec3 a = kiln_v3_sub(regular[1], regular[0]), b = kiln_v3_sub(regular[2], regular[0]),
              c = kiln_v3_sub(regular[3], regular[0]);
    kiln_soup_tet tet[2] = {pair[0], pair[1]};
    if (kiln_v3_dot(kiln_v3_cross(a, b), c) < 0)
        for (int i = 0; i < 2; i++) {
            uint32_t swap = tet[i].v[0];
            tet[i].v[0] = tet[i].v[1];
            tet[i].v[1] = swap;
        }
    return kiln_test_mesh_of(context, 3 + (size_t)count, regular, (size_t)count, tet,
                             interface ? region : NULL, KILN_BUILD_STRICT);
}

/* Tets and vertices after each generation. */
typedef struct expectation {
    uint32_t tets, vertices;
} expectation;

static void check_global(kiln_mesh *mesh, const expectation *expected, uint32_t generations)
{
    double volume = kiln_mesh_volume(mesh);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    for (uint32_t g = 0; g < generations; g++) {
        refine_all(refiner, mesh, g + 1);
        expect_counts(mesh, expected[g].tets, expected[g].vertices);
        kiln_test_audit(mesh);
        ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume, 1e-12 * volume);
    }
    coarsen_all(refiner);
    kiln_test_audit(mesh);
    compare_picture(mesh, &before);
    kiln_refiner_destroy(refiner);
    drop_picture(&before);
}

START_TEST(counts_after_global_steps)
{
    kiln_context *context = kiln_test_context(1);
    static const expectation one[10] = {{4, 5},    {12, 9},   {36, 21},   {36, 21},   {32, 21},
                                        {128, 53}, {246, 89}, {738, 229}, {876, 229}, {748, 229}};
    static const expectation two[5] = {{8, 7}, {21, 13}, {63, 31}, {66, 31}, {58, 31}};
    static const expectation faced[5] = {{8, 7}, {24, 14}, {72, 32}, {72, 32}, {64, 32}};
    static const expectation cube[5] = {
        {192, 75}, {360, 123}, {1080, 319}, {1296, 319}, {1104, 319}};
    kiln_mesh *mesh = tets_of(context, 1, false);
    check_global(mesh, one, 10);
    kiln_mesh_destroy(mesh);
    mesh = tets_of(context, 2, false);
    check_global(mesh, two, 5);
    kiln_mesh_destroy(mesh);
    mesh = tets_of(context, 2, true);
    check_global(mesh, faced, 5);
    kiln_mesh_destroy(mesh);
    mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    check_global(mesh, cube, 5);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static uint32_t vertex_at(const kiln_mesh *mesh, kiln_vec3 u)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++)
        if (kiln_v3_norm(kiln_v3_sub(mesh->u[v], u)) < 1e-9)
            return v;
    ck_abort_msg("there is no vertex at %g %g %g", u.x, u.y, u.z);
}

static void check_local(kiln_mesh *mesh, uint32_t vertex, const expectation *expected,
                        uint32_t generations)
{
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    for (uint32_t g = 0; g < generations; g++) {
        refine_star(refiner, vertex, g + 1);
        expect_counts(mesh, expected[g].tets, expected[g].vertices);
        kiln_test_audit(mesh);
    }
    coarsen_all(refiner);
    compare_picture(mesh, &before);
    kiln_refiner_destroy(refiner);
    drop_picture(&before);
    kiln_mesh_destroy(mesh);
}

START_TEST(counts_after_local_steps)
{
    kiln_context *context = kiln_test_context(1);
    static const expectation apex[5] = {{5, 6}, {11, 9}, {23, 15}, {23, 15}, {22, 15}};
    static const expectation shared[5] = {{8, 7}, {17, 11}, {37, 19}, {38, 19}, {36, 19}};
    static const expectation corner[10] = {{66, 33},  {84, 39},  {132, 53}, {138, 53}, {132, 53},
                                           {150, 59}, {168, 65}, {216, 79}, {222, 79}, {216, 79}};
    static const expectation centre[10] = {{120, 51},  {156, 51},  {300, 79},  {336, 79},
                                           {312, 79},  {384, 103}, {420, 103}, {564, 131},
                                           {600, 131}, {576, 131}};
    static const expectation inside[5] = {
        {456, 149}, {492, 149}, {636, 177}, {672, 177}, {648, 177}};
    check_local(tets_of(context, 2, false), 3, apex, 5);
    check_local(tets_of(context, 2, false), 0, shared, 5);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    check_local(mesh, vertex_at(mesh, kiln_v3(0, 0, 0)), corner, 10);
    mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    check_local(mesh, vertex_at(mesh, kiln_v3(.5, .5, .5)), centre, 10);
    mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    check_local(mesh, vertex_at(mesh, kiln_v3(.5, .5, .5)), inside, 5);
    kiln_context_destroy(context);
}
END_TEST

/* All the cycles that a word holds, round one corner. */
START_TEST(eight_cycles_and_no_more)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = tets_of(context, 1, false);
    kiln_refiner *refiner = refiner_on(mesh);
    picture before = take_picture(mesh);
    refine_star(refiner, 0, KILN_REFINE_LAST);
    expect_counts(mesh, 161, 84);
    kiln_test_audit(mesh);
    uint64_t hash = kiln_mesh_hash(mesh);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t) && kiln_refine_generation(refiner, t) == KILN_REFINE_LAST)
            ck_assert_int_eq(try_change(refiner, mesh, t, kiln_refine_step), KILN_REFUSED_LOCKED);
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_refine_report report;
    kiln_error error = {0};
    ck_assert_int_eq(kiln_refine_tets(refiner, NULL, 0, KILN_REFINE_LAST + 1, &report, &error),
                     KILN_ERR_INPUT);
    ck_assert_uint_eq(coarsen_all(refiner).blocked, 0);
    compare_picture(mesh, &before);
    kiln_refiner_destroy(refiner);
    drop_picture(&before);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static bool same_bytes(const void *a, const void *b, size_t count, size_t size)
{
    return count == 0 || memcmp(a, b, count * size) == 0;
}

static void compare_soups(const kiln_soup *a, const kiln_soup *b)
{
    ck_assert_uint_eq(a->points.count, b->points.count);
    ck_assert_uint_eq(a->tets.count, b->tets.count);
    ck_assert_uint_eq(a->triangles.count, b->triangles.count);
    ck_assert_uint_eq(a->edges.count, b->edges.count);
    ck_assert_uint_eq(a->required_triangles.count, b->required_triangles.count);
    ck_assert_uint_eq(a->fields.count, b->fields.count);
    ck_assert(same_bytes(a->points.data, b->points.data, a->points.count, sizeof *a->points.data));
    ck_assert(same_bytes(a->tets.data, b->tets.data, a->tets.count, sizeof *a->tets.data));
    ck_assert(same_bytes(a->triangles.data, b->triangles.data, a->triangles.count,
                         sizeof *a->triangles.data));
    ck_assert(same_bytes(a->triangle_tags.data, b->triangle_tags.data, a->triangle_tags.count,
                         sizeof *a->triangle_tags.data));
    ck_assert(same_bytes(a->required_triangles.data, b->required_triangles.data,
                         a->required_triangles.count, sizeof(uint32_t)));
    ck_assert(same_bytes(a->edges.data, b->edges.data, a->edges.count, sizeof *a->edges.data));
    for (size_t f = 0; f < a->fields.count; f++) {
        ck_assert_str_eq(a->fields.data[f].name, b->fields.data[f].name);
        ck_assert(same_bytes(a->fields.data[f].data.data, b->fields.data[f].data.data,
                             a->fields.data[f].data.count, sizeof(double)));
    }
}

/* The mesh a soup makes, with the words that the soup holds. */
static kiln_refiner *read_soup(kiln_context *context, kiln_soup *soup, kiln_mesh **mesh)
{
    kiln_refine_words words = {0};
    ck_assert_int_eq(kiln_refine_words_from_soup(soup, "test", &words, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_build(context, soup, NULL, mesh, NULL, NULL), KILN_OK);
    kiln_refiner *refiner = refiner_on(*mesh);
    if (words.count > 0)
        ck_assert_int_eq(kiln_refiner_set_words(refiner, &words, NULL), KILN_OK);
    kiln_array_free(context, &words);
    return refiner;
}

/* A mesh with fields and world positions of its own, refined, written, read, coarsened. */
START_TEST(soups_keep_what_is_needed)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup = kiln_test_soup(context, "box", "nx=2 ny=2 nz=2"), initial, refined, back;
    for (uint32_t i = 0; i < soup.triangles.count; i += 4)
        ck_assert_int_eq(kiln_array_push(context, &soup.required_triangles, i, NULL), KILN_OK);
    for (int where = 0; where < KILN_WHERE_COUNT; where++) {
        kiln_soup_field *field;
        ck_assert_int_eq(kiln_soup_add_field(&soup, "some", (kiln_where)where, 2, &field, NULL),
                         KILN_OK);
        for (size_t i = 0; i < field->data.count; i++)
            field->data.data[i] = 1.0 / (double)(i + 3);
    }
    kiln_soup_field *material;
    ck_assert_int_eq(kiln_soup_add_field(&soup, "u", KILN_ON_VERTEX, 3, &material, NULL), KILN_OK);
    for (size_t i = 0; i < soup.points.count; i++) {
        memcpy(material->data.data + 3 * i, &soup.points.data[i], sizeof(kiln_vec3));
        soup.points.data[i].x *= 1.1 + 0.1 * soup.points.data[i].z;
    }
    kiln_mesh *mesh, *again;
    kiln_refiner *refiner = read_soup(context, &soup, &mesh);
    ck_assert_int_eq(kiln_refine_to_soup(refiner, &initial, NULL), KILN_OK);
    ck_assert_ptr_null(kiln_soup_find_field(&initial, KILN_ON_TET, KILN_REFINE_FIELD));
    refine_all(refiner, mesh, 7);
    ck_assert_int_eq(kiln_refine_to_soup(refiner, &refined, NULL), KILN_OK);
    ck_assert_ptr_nonnull(kiln_soup_find_field(&refined, KILN_ON_TET, KILN_REFINE_FIELD));
    kiln_refiner *second = read_soup(context, &refined, &again);
    ck_assert_uint_eq(kiln_refine_highest(second), kiln_refine_highest(refiner));
    ck_assert_uint_eq(coarsen_all(second).blocked, 0);
    ck_assert_int_eq(kiln_refine_to_soup(second, &back, NULL), KILN_OK);
    compare_soups(&initial, &back);
    kiln_soup_free(&soup);
    kiln_soup_free(&initial);
    kiln_soup_free(&refined);
    kiln_soup_free(&back);
    kiln_refiner_destroy(refiner);
    kiln_refiner_destroy(second);
    kiln_mesh_destroy(mesh);
    kiln_mesh_destroy(again);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(fields_that_hold_no_words_are_refused)
{
    static const double bad[] = {-1, 0.5, 4194304};
    kiln_context *context = kiln_test_context(1);
    for (int kind = 0; kind < 4; kind++) {
        kiln_soup soup = kiln_test_soup(context, "box", "nx=1 ny=1 nz=1");
        kiln_soup_field *field;
        kiln_refine_words words = {0};
        kiln_error error = {0};
        ck_assert_int_eq(kiln_soup_add_field(&soup, KILN_REFINE_FIELD, KILN_ON_TET,
                                             kind == 3 ? 1 : 3, &field, NULL),
                         KILN_OK);
        if (kind < 3)
            field->data.data[7] = bad[kind];
        ck_assert_int_eq(kiln_refine_words_from_soup(&soup, "file.vtu", &words, &error),
                         KILN_ERR_INPUT);
        ck_assert_msg(strstr(error.message, kind == 3 ? "3 components" : "tet 2"), "%s",
                      error.message);
        kiln_array_free(context, &words);
        kiln_soup_free(&soup);
    }
    /* Nor a field of another kind in the mesh itself. */
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    double values[6] = {0};
    kiln_refiner *refiner = NULL;
    ck_assert_int_eq(kiln_mesh_set_field(mesh, KILN_ON_TET, KILN_REFINE_FIELD, 1, values, NULL),
                     KILN_OK);
    ck_assert_int_eq(kiln_refiner_create(mesh, &refiner, NULL), KILN_ERR_INPUT);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("refine");
    TCase *all = kiln_test_case(suite, "refine");
    tcase_add_test(all, counts_after_global_steps);
    tcase_add_test(all, counts_after_local_steps);
    tcase_add_test(all, eight_cycles_and_no_more);
    tcase_add_test(all, soups_keep_what_is_needed);
    tcase_add_test(all, fields_that_hold_no_words_are_refused);
    return suite;
}

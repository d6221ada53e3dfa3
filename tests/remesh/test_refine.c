/* The counts are those of the design (fracture-algorithms.md section 1). */
#include "refined.h"

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

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("refine");
    TCase *all = kiln_test_case(suite, "refine");
    tcase_add_test(all, counts_after_global_steps);
    return suite;
}

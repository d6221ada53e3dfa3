#include "remesh/volumes.h"

#include "fixtures.h"
#include "support.h"

static kiln_mesh *ball_with_core(kiln_context *context)
{
    kiln_soup soup = kiln_test_soup(context, "ball", "h=0.25");
    for (size_t t = 0; t < soup.tets.count; t++) {
        double far = 0.0;
        for (int i = 0; i < 4; i++)
            far = fmax(far, kiln_v3_norm(soup.points.data[soup.tets.data[t].v[i]]));
        soup.tet_tags.data[t] = far < 0.7 ? 2 : 1;
    }
    kiln_build_options options = kiln_build_default_options();
    kiln_mesh *mesh;
    ck_assert_int_eq(kiln_mesh_build(context, &soup, &options, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    return mesh;
}

static void restore(kiln_mesh *mesh, const kiln_volumes *noted)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    kiln_remesher remesher;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    ck_assert_int_eq(kiln_volumes_restore(&remesher, noted, 0.3, NULL), KILN_OK);
    kiln_remesher_end(&remesher);
    kiln_test_audit(mesh);
}

/* Each region gets what it is to have, through the surface and through the interface. */
START_TEST(regions_get_the_volume_asked_for)
{
    const double part[][2] = {{1.002, 1.0}, {1.0, 0.996}, {0.998, 1.004}, {1.0, 1.0}};
    for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
        kiln_context *context = kiln_test_context(1);
        kiln_mesh *mesh = ball_with_core(context);
        kiln_volumes noted = {0}, now = {0};
        ck_assert_int_eq(kiln_volumes_note(mesh, KILN_SPACE_WORLD, &noted, NULL), KILN_OK);
        ck_assert_uint_eq(noted.count, 2);
        ck_assert_int_eq(noted.data[0].region, 1);
        for (int i = 0; i < 2; i++)
            noted.data[i].volume *= part[k][i];
        restore(mesh, &noted);
        ck_assert_int_eq(kiln_volumes_note(mesh, KILN_SPACE_WORLD, &now, NULL), KILN_OK);
        for (int i = 0; i < 2; i++)
            ck_assert_double_eq_tol(now.data[i].volume, noted.data[i].volume,
                                    1e-9 * noted.data[i].volume);
        kiln_array_free(context, &noted);
        kiln_array_free(context, &now);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
}
END_TEST

/* A box has no curved side: whatever is asked for, it stays as it is. */
START_TEST(flat_sides_stay)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    kiln_volumes noted = {0}, now = {0};
    ck_assert_int_eq(kiln_volumes_note(mesh, KILN_SPACE_WORLD, &noted, NULL), KILN_OK);
    double was = noted.data[0].volume;
    noted.data[0].volume *= 1.01;
    restore(mesh, &noted);
    ck_assert_int_eq(kiln_volumes_note(mesh, KILN_SPACE_WORLD, &now, NULL), KILN_OK);
    ck_assert_double_eq(now.data[0].volume, was);
    kiln_array_free(context, &noted);
    kiln_array_free(context, &now);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("volumes");
    TCase *all = kiln_test_case(suite, "volumes");
    tcase_add_test(all, regions_get_the_volume_asked_for);
    tcase_add_test(all, flat_sides_stay);
    return suite;
}

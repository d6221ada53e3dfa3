/* Meshes from files and shapes and back, through the public functions. */
#include "fixture.h"

#include <string.h>

static kiln_mesh *generate(kiln_context *context, const char *shape, const char *setting)
{
    kiln_mesh *mesh = NULL;
    kiln_error error = {0};
    kiln_status status =
        kiln_mesh_generate(context, shape, setting ? 1 : 0, &setting, &mesh, &error);
    ck_assert_msg(status == KILN_OK, "%s: %s", shape, error.message);
    return mesh;
}

static void check_audit(const kiln_mesh *mesh)
{
    kiln_audit_report report;
    ck_assert_int_eq(kiln_mesh_audit(mesh, &report, NULL), KILN_OK);
    ck_assert_msg(!report.invariant, "%s", report.message);
}

START_TEST(every_shape_is_a_mesh)
{
    static const char *const shapes[][2] = {
        {"box", "pattern=bcc"}, {"ball", NULL},      {"cylinder", NULL},
        {"cone", NULL},         {"bowl", NULL},      {"torus", NULL},
        {"polygon", "h=0.3"},   {"text", "text=Ki"}, {"random", "points=300"}};
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        kiln_mesh *mesh = generate(context, shapes[i][0], shapes[i][1]);
        check_audit(mesh);
        ck_assert_double_gt(kiln_mesh_volume(mesh), 0);
        kiln_mesh_destroy(mesh);
    }
    kiln_mesh *mesh = NULL;
    kiln_error error;
    ck_assert_int_eq(kiln_mesh_generate(context, "bal", 0, NULL, &mesh, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "ball"));
    ck_assert_ptr_null(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Binary files keep every bit and the order of everything, so the hash is the same. */
START_TEST(saved_and_loaded)
{
    static const struct {
        const char *name;
        bool fields;
    } files[] = {{"a.meshb", false}, {"a.msh", true}, {"a.vtu", true}};
    kiln_context *context = kiln_test_context(1);
    folder where = make_folder();
    char path[160];
    for (size_t i = 0; i < 3; i++) {
        kiln_mesh *mesh = generate(context, "torus", "h=0.3"), *again = NULL;
        size_t tets = kiln_mesh_count(mesh, KILN_ON_TET);
        double *quality = malloc(tets * sizeof *quality), *read = malloc(tets * sizeof *read);
        kiln_mesh_copy_quality(mesh, KILN_SPACE_MATERIAL, quality);
        if (files[i].fields)
            ck_assert_int_eq(kiln_mesh_set_field(mesh, KILN_ON_TET, "q", 1, quality, NULL),
                             KILN_OK);
        in_folder(&where, files[i].name, path);
        ck_assert_int_eq(kiln_mesh_save(mesh, path, NULL, NULL), KILN_OK);
        kiln_mesh_report report;
        ck_assert_int_eq(kiln_mesh_load(context, path, NULL, &again, &report, NULL), KILN_OK);
        const kiln_mesh_report nothing = {0};
        ck_assert_int_eq(memcmp(&report, &nothing, sizeof report), 0);
        check_audit(again);
        ck_assert_msg(kiln_mesh_hash(again) == kiln_mesh_hash(mesh), "%s", files[i].name);
        if (files[i].fields) {
            ck_assert_int_eq(kiln_mesh_get_field(again, KILN_ON_TET, "q", read, NULL), KILN_OK);
            ck_assert_int_eq(memcmp(read, quality, tets * sizeof *read), 0);
        }
        free(quality);
        free(read);
        kiln_mesh_destroy(mesh);
        kiln_mesh_destroy(again);
    }
    remove_folder(&where);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(options_of_files)
{
    kiln_context *context = kiln_test_context(1);
    folder where = make_folder();
    char path[160];
    kiln_mesh *mesh = generate(context, "box", "n=2"), *again = NULL;
    kiln_error error;
    in_folder(&where, "box.dat", path);
    ck_assert_int_eq(kiln_mesh_save(mesh, path, NULL, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(files_in(&where), 0);
    kiln_format_options options = kiln_format_default_options();
    options.format = "vtu";
    options.encoding = KILN_ENCODING_ASCII;
    ck_assert_int_eq(kiln_mesh_save(mesh, path, &options, NULL), KILN_OK);
    size_t size;
    char *bytes = file_bytes(path, &size);
    ck_assert_int_eq(strncmp(bytes, "<?xml", 5), 0);
    ck_assert_ptr_null(memchr(bytes, 0, size));
    free(bytes);
    kiln_mesh_options loading = kiln_mesh_default_options();
    loading.format = "medit";
    ck_assert_int_eq(kiln_mesh_load(context, path, &loading, &again, NULL, &error), KILN_ERR_INPUT);
    ck_assert_str_eq(error.place, path);
    ck_assert_ptr_null(again);
    loading.format = "vtu";
    ck_assert_int_eq(kiln_mesh_load(context, path, &loading, &again, NULL, NULL), KILN_OK);
    ck_assert_uint_eq(kiln_mesh_count(again, KILN_ON_TET), 48);
    kiln_mesh_destroy(again);
    in_folder(&where, "absent.mesh", path);
    ck_assert_int_eq(kiln_mesh_load(context, path, NULL, &again, NULL, NULL), KILN_ERR_IO);
    kiln_mesh_destroy(mesh);
    remove_folder(&where);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(surfaces_are_filled_when_asked)
{
    kiln_context *context = kiln_test_context(1);
    folder where = make_folder();
    char path[160];
    kiln_mesh *mesh = generate(context, "ball", "h=0.5"), *again = NULL;
    kiln_error error;
    in_folder(&where, "ball.ply", path);
    ck_assert_int_eq(kiln_mesh_save(mesh, path, NULL, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_load(context, path, NULL, &again, NULL, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "holds a surface and no tets"));
    kiln_mesh_options options = kiln_mesh_default_options();
    options.fill = true;
    options.fill_edge = -1;
    ck_assert_int_eq(kiln_mesh_load(context, path, &options, &again, NULL, &error), KILN_ERR_INPUT);
    options.fill_edge = 0.3;
    ck_assert_int_eq(kiln_mesh_load(context, path, &options, &again, NULL, &error), KILN_OK);
    check_audit(again);
    ck_assert_double_eq_tol(kiln_mesh_volume(again), kiln_mesh_volume(mesh), 1e-9);
    ck_assert_uint_gt(kiln_mesh_count(again, KILN_ON_TET), kiln_mesh_count(mesh, KILN_ON_TET));
    kiln_mesh_destroy(again);
    kiln_mesh_destroy(mesh);
    remove_folder(&where);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(broken_files_are_mended_when_asked)
{
    static const char text[] = "MeshVersionFormatted 2\nDimension 3\nVertices 8\n"
                               "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n-1 0 0 0\n0 -1 0 0\n0 0 -1 0\n"
                               "9 9 9 0\nTetrahedra 3\n1 2 3 4 1\n1 5 6 7 2\n1 2 3 4 1\nEnd\n";
    kiln_context *context = kiln_test_context(1);
    folder where = make_folder();
    char path[160];
    FILE *file = fopen(in_folder(&where, "bad.mesh", path), "w");
    fputs(text, file);
    fclose(file);
    kiln_mesh *mesh = NULL;
    kiln_error error;
    kiln_mesh_report report;
    kiln_mesh_options options = kiln_mesh_default_options();
    ck_assert_int_eq(kiln_mesh_load(context, path, &options, &mesh, &report, &error),
                     KILN_ERR_INPUT);
    ck_assert_str_eq(error.place, path);
    options.policy = KILN_MESH_REPAIR;
    kiln_status status = kiln_mesh_load(context, path, &options, &mesh, &report, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    ck_assert_uint_eq(report.tets_dropped, 1);
    ck_assert_uint_eq(report.tets_turned, 1);
    ck_assert_uint_eq(report.vertices_split, 1);
    ck_assert_uint_eq(report.points_unused, 1);
    check_audit(mesh);
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_VERTEX), 8);
    ck_assert_uint_eq(kiln_part_count(mesh), 2);
    kiln_mesh_destroy(mesh);
    remove_folder(&where);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(allocations_may_fail)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    folder where = make_folder();
    char path[160], copy[160];
    in_folder(&where, "a.vtu", path);
    in_folder(&where, "b.vtu", copy);
    kiln_mesh *mesh = generate(context, "box", "n=1");
    ck_assert_int_eq(kiln_mesh_save(mesh, path, NULL, NULL), KILN_OK);
    kiln_mesh_destroy(mesh);
    int64_t before = heap.live_blocks;
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t k = 1; status != KILN_OK; k++) {
        mesh = NULL;
        heap.fail_at = heap.calls + k;
        status = kiln_mesh_load(context, path, NULL, &mesh, NULL, NULL);
        if (status == KILN_OK)
            status = kiln_mesh_save(mesh, copy, NULL, NULL);
        heap.fail_at = 0;
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        ck_assert_int_eq(files_in(&where), status == KILN_OK ? 2 : 1);
        kiln_mesh_destroy(mesh);
        ck_assert_int_eq(heap.live_blocks, before);
    }
    remove_folder(&where);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("mesh_file");
    TCase *all = kiln_test_case(suite, "mesh_file");
    tcase_add_test(all, every_shape_is_a_mesh);
    tcase_add_test(all, saved_and_loaded);
    tcase_add_test(all, options_of_files);
    tcase_add_test(all, surfaces_are_filled_when_asked);
    tcase_add_test(all, broken_files_are_mended_when_asked);
    tcase_add_test(all, allocations_may_fail);
    return suite;
}

#include "hostile.h"
#include "mesh/shapes.h"

/* The surface of a ball of 12, 42 or more points. */
static void ball_surface(kiln_context *context, const char *h, kiln_soup *surface)
{
    kiln_soup ball;
    size_t count;
    const char *const settings[] = {h};
    kiln_soup_init(&ball, context);
    kiln_soup_init(surface, context);
    ck_assert_int_eq(kiln_shape_make(kiln_shapes(&count)[1], 1, settings, &ball, NULL), KILN_OK);
    for (size_t i = 0; i < ball.points.count; i++)
        ck_assert_int_eq(kiln_array_push(context, &surface->points, ball.points.data[i], NULL),
                         KILN_OK);
    for (size_t i = 0; i < ball.triangles.count; i++) {
        ck_assert_int_eq(
            kiln_array_push(context, &surface->triangles, ball.triangles.data[i], NULL), KILN_OK);
        ck_assert_int_eq(
            kiln_array_push(context, &surface->triangle_tags, (int32_t)(i % 5) - 1, NULL), KILN_OK);
    }
    kiln_soup_free(&ball);
}

static const struct form {
    const char *format, *file;
    kiln_encoding encoding;
    bool tags, welded, floats;
    size_t tail; /* bytes at the end of a file that can be missed */
} forms[] = {
    {"ply", "a.ply", KILN_ENCODING_ASCII, true, false, false, 3},
    {"ply", "a.ply", KILN_ENCODING_BINARY, true, false, false, 0},
    {"obj", "a.obj", KILN_ENCODING_ANY, false, false, false, SIZE_MAX / 2},
    {"off", "a.off", KILN_ENCODING_ANY, false, false, false, 3},
    {"stl", "a.stl", KILN_ENCODING_ASCII, false, true, false, 6},
    {"stl", "a.stl", KILN_ENCODING_BINARY, false, true, true, 0},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static kiln_vec3 corner(const kiln_soup *soup, size_t triangle, int k)
{
    return soup->points.data[soup->triangles.data[triangle].v[k]];
}

START_TEST(surfaces_round_trip)
{
    const struct form *form = &forms[_i];
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    kiln_soup soup, back;
    kiln_error error;
    ball_surface(context, "h=0.3", &soup);
    in_folder(&scratch, form->file, path);
    kiln_format_options options = {form->format, form->encoding};
    ck_assert_int_eq(kiln_soup_write(context, path, &options, &soup, &error), KILN_OK);
    kiln_soup_init(&back, context);
    kiln_status status = kiln_soup_read(context, path, NULL, &back, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    ck_assert_uint_eq(back.triangles.count, soup.triangles.count);
    for (size_t i = 0; i < soup.triangles.count; i++)
        for (int k = 0; k < 3; k++) {
            kiln_vec3 a = corner(&soup, i, k), b = corner(&back, i, k);
            if (form->floats)
                a = kiln_v3((float)a.x, (float)a.y, (float)a.z);
            ck_assert(a.x == b.x && a.y == b.y && a.z == b.z);
        }
    if (form->welded) { /* Euler: a sphere again, not single triangles */
        ck_assert_uint_eq(back.points.count, soup.triangles.count / 2 + 2);
    } else {
        kiln_soup *a = &soup, *b = &back;
        ASSERT_SAME_LIST(points);
        ASSERT_SAME_LIST(triangles);
        if (form->tags)
            ASSERT_SAME_LIST(triangle_tags);
    }
    kiln_soup_free(&soup);
    kiln_soup_free(&back);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(ply_keeps_material_positions)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    kiln_soup soup, back;
    kiln_soup_field *u;
    kiln_error error;
    ball_surface(context, "h=0.3", &soup);
    ck_assert_int_eq(kiln_soup_add_field(&soup, "u", KILN_ON_VERTEX, 3, &u, NULL), KILN_OK);
    for (size_t i = 0; i < u->data.count; i++)
        u->data.data[i] = 1.0 / (double)(i + 1);
    in_folder(&scratch, "a.ply", path);
    kiln_format_options options = {"ply", _i ? KILN_ENCODING_ASCII : KILN_ENCODING_BINARY};
    ck_assert_int_eq(kiln_soup_write(context, path, &options, &soup, &error), KILN_OK);
    kiln_soup_init(&back, context);
    kiln_status status = kiln_soup_read(context, path, NULL, &back, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    kiln_soup *a = &soup, *b = &back;
    ASSERT_SAME_LIST(points);
    ASSERT_SAME_LIST(triangles);
    const kiln_soup_field *found = kiln_soup_find_field(&back, KILN_ON_VERTEX, "u");
    ck_assert(found && found->components == 3);
    ck_assert_mem_eq(found->data.data, u->data.data, u->data.count * sizeof(double));
    kiln_soup_free(&soup);
    kiln_soup_free(&back);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(surfaces_survive_hostile_files)
{
    const struct form *form = &forms[_i];
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    kiln_soup soup;
    size_t size;
    ball_surface(context, "h=1", &soup);
    in_folder(&scratch, form->file, path);
    kiln_format_options options = {form->format, form->encoding};
    ck_assert_int_eq(kiln_soup_write(context, path, &options, &soup, NULL), KILN_OK);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    char *bytes = file_bytes(path, &size);
    check_cuts(form->format, bytes, size, form->tail);
    check_damage(form->format, bytes, size, kiln_test_rounds(1500, 300000));
    free(bytes);
    check_read_failures(path);
    check_write_failures(form->format, form->encoding);
    remove_folder(&scratch);
}
END_TEST

static kiln_status read_string(kiln_context *context, const char *format, const char *text,
                               size_t size, kiln_soup *soup, kiln_error *error)
{
    kiln_source source;
    kiln_source_from_memory(&source, context, "memory", text, size);
    kiln_soup_init(soup, context);
    kiln_status status = kiln_soup_read_source(kiln_format_by_name(format), &source, soup, error);
    kiln_source_close(&source);
    return status;
}

#define SQUARE "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"
#define PLY_HEAD(format, vertices, faces)                                                          \
    "ply\nformat " format " 1.0\ncomment c\nelement vertex " vertices                              \
    "\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n"                 \
    "element face " faces "\nproperty list uchar int vertex_indices\nproperty list uchar float "   \
    "texcoord\nelement edge 1\nproperty int a\nend_header\n"

/* Things other programs write. */
static const struct {
    const char *format, *text;
    size_t points, triangles;
} foreign[] = {
    {"obj",
     "# c\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0 0.5 0.5 0.5 # colour\nv 0 1 0\n"
     "vt 0 0\nvn 0 0 1\ng x\nusemtl m\ns off\nf 1/1/1 2/1/1 3/1/1 4/1/1\nf -4//1 -3//1 \\\n -1//1\n"
     "l 1 2\n",
     4, 3},
    {"obj", "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n", 3, 1},
    {"off", "OFF\n# c\n4 2 0 # counts\n" SQUARE "4 0 1 2 3 255 0 0\n3 0 1 2 1.0 0.5 0.5 # red\n", 4,
     3},
    {"off", "COFF 4 1 0\n0 0 0 255 0 0 255\n1 0 0 0 0 0 0\n1 1 0 0 0 0 0\n0 1 0 0 0 0 0\n4 0 1 2 3",
     4, 2},
    {"off", "4 2\n" SQUARE "2 0 1\n3 0 1 2\n", 4, 1},
    {"stl",
     "solid a b\nfacet normal nan nan nan\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n vertex 0 1 "
     "-0\nendloop\nendfacet\nendsolid a b\nSOLID\nFACET NORMAL 0 0 1 OUTER LOOP VERTEX 0 0 0 "
     "VERTEX 1e0 0 0 VERTEX 1 0 0 ENDLOOP ENDFACET ENDSOLID\n",
     3, 1},
    {"ply",
     PLY_HEAD("ascii", "4", "1") "0 0 0 1\n1 0 0 1\n1 1 0 1\n0 1 0 1\n4 0 1 2 3 2 0.5 0.5\n7\n", 4,
     2},
};

START_TEST(foreign_files_are_read)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    kiln_error error;
    kiln_status status = read_string(context, foreign[_i].format, foreign[_i].text,
                                     strlen(foreign[_i].text), &soup, &error);
    ck_assert_msg(status == KILN_OK, "line %lld: %s", error.line, error.message);
    ck_assert_uint_eq(soup.points.count, foreign[_i].points);
    ck_assert_uint_eq(soup.triangles.count, foreign[_i].triangles);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

/* A C-shaped polygon: a fan would cover its gap. */
START_TEST(polygons_may_point_inward)
{
    static const char text[] = "OFF\n8 1 0\n0 0 1\n3 0 1\n3 1 1\n1 1 1\n1 2 1\n3 2 1\n3 3 1\n0 3 "
                               "1\n8 0 1 2 3 4 5 6 7\n";
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    ck_assert_int_eq(read_string(context, "off", text, sizeof text - 1, &soup, NULL), KILN_OK);
    ck_assert_uint_eq(soup.triangles.count, 6);
    double area = 0;
    for (size_t i = 0; i < soup.triangles.count; i++) {
        kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(corner(&soup, i, 1), corner(&soup, i, 0)),
                                    kiln_v3_sub(corner(&soup, i, 2), corner(&soup, i, 0)));
        ck_assert_double_gt(n.z, 0);
        area += n.z / 2;
    }
    ck_assert_double_eq_tol(area, 7, 1e-14);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

static size_t put_big(char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (char)(value >> 8 * (3 - i));
    return 4;
}

START_TEST(ply_large_end_first)
{
    char file[1024];
    static const char head[] = PLY_HEAD("binary_big_endian", "3", "1");
    static const float xyz[9] = {0, 0, 0, 1.5f, 0, 0, 0, 1, 0};
    size_t at = sizeof head - 1;
    memcpy(file, head, at);
    for (int i = 0; i < 9; i++) {
        uint32_t bits;
        memcpy(&bits, &xyz[i], 4);
        at += put_big(file + at, bits);
        if (i % 3 == 2)
            file[at++] = 77;
    }
    file[at++] = 3;
    for (uint32_t i = 0; i < 3; i++)
        at += put_big(file + at, i);
    file[at++] = 1;
    at += put_big(file + at, 0);
    at += put_big(file + at, 9);
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    ck_assert_int_eq(read_string(context, "ply", file, at, &soup, NULL), KILN_OK);
    ck_assert_double_eq(soup.points.data[1].x, 1.5);
    ck_assert_uint_eq(soup.triangles.data[0].v[2], 2);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
    check_cuts("ply", file, at, 0);
}
END_TEST

static const bad_text bad_texts[] = {
    {"obj", "", 0, "no vertices"},
    {"obj", "v 0 0\n", 1, "2 coordinates"},
    {"obj", "v 0 0\nv 1 0 0\n", 1, "2 coordinates"},
    {"obj", "v 0 nan 0\n", 1, "finite"},
    {"obj", "v 0 0 0\nf 1 1 2\n", 2, "names vertex 2, but there are only 1 so far"},
    {"obj", "v 0 0 0\nf 1 1 0\n", 2, "names vertex 0"},
    {"obj", "v 0 0 0\nf 1 1 -2\n", 2, "names vertex -2"},
    {"obj", "v 0 0 0\nf 1 1\n", 2, "2 corners"},
    {"obj", "v 0 0 0\nf 1 x 1\n", 2, "integer"},
    {"obj", "v 0 0 0\nhello\n", 2, "'hello' is no statement"},
    {"off", "", 1, "empty"},
    {"off", "PLY\n", 1, "expected OFF"},
    {"off", "OFF BINARY\n", 0, "binary OFF"},
    {"off", "OFF\n4000000000 1 0\n0 0 0\n", 2, "announced"},
    {"off", "OFF\n1 4000000000 0\n0 0 0\n", 2, "announced"},
    {"off", "OFF\n99999999999999999999 1 0\n0 0 0\n", 2, "must be"},
    {"off", "OFF\n1 1 0\n0 0 inf\n3 0 0 0\n", 3, "finite"},
    {"off", "OFF\n1 1 0\n0 0 0\n3 0 0 1\n", 4, "vertex number is 1"},
    {"off", "OFF\n1 1 0\n0 0 0\n2000000000 0 0 0\n", 4, "announced"},
    {"stl", "", 1, "neither text"},
    {"stl", "solid\n", 2, "ends before 'endsolid'"},
    {"stl", "solid\nfacet normal 0 0\n", 0, "normal"},
    {"stl", "solid\nfacet normal 0 0 0 outer loop vertex 0 0 inf\n", 2, "finite"},
    {"stl", "solid\nhello\n", 2, "'facet' or 'endsolid'"},
    {"ply", "", 1, "expected 'ply'"},
    {"ply", "ply\nelement vertex 1\nend_header\n", 0, "no format"},
    {"ply", "ply\nformat binary 1.0\n", 2, "unknown format 'binary'"},
    {"ply", "ply\nformat ascii 1.0\nproperty int x\n", 3, "before any element"},
    {"ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty long x\n", 4, "unknown type 'long'"},
    {"ply", "ply\nformat ascii 1.0\nelement vertex -1\n", 3, "must be"},
    {"ply", "ply\nformat ascii 1.0\nhello\n", 3, "'hello' is not known"},
    {"ply", "ply\nformat ascii 1.0\nelement vertex 0\nend_header\n", 0, "no points"},
    {"ply", "ply\nformat ascii 1.0\nelement face 0\nend_header\n", 0, "no element vertex"},
    {"ply", PLY_HEAD("ascii", "4000000000", "1") "0 0 0 0\n", 0, "announced"},
    {"ply", PLY_HEAD("ascii", "1", "1") "0 0 0 0\n3 0 0 1 0\n7\n", 0, "names vertex 1"},
    {"ply", PLY_HEAD("ascii", "1", "1") "0 0 0 0\n3 0 0 -1 0\n7\n", 0, "names vertex"},
    {"ply", PLY_HEAD("ascii", "1", "1") "0 0 0 0\n2 0 0 0\n7\n", 0, "2 corners"},
    {"ply", PLY_HEAD("ascii", "1", "1") "0 0 0 0\n-3 0 0 0\n7\n", 0, "negative length"},
    {"ply", PLY_HEAD("ascii", "1", "1") "0 0 0 0\n4000000000 0 0 0\n7\n", 0, "announced"},
    {"ply", PLY_HEAD("ascii", "1", "1") "0 nan 0 0\n3 0 0 0 0\n7\n", 0, "finite"},
    {"ply",
     "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float u_x\nproperty "
     "float u_y\nproperty float u_z\nend_header\n0 0 inf 0\n",
     9, "finite"},
};

START_TEST(bad_texts_are_explained)
{
    check_bad_text(&bad_texts[_i]);
}
END_TEST

START_TEST(stl_counts_that_lie)
{
    static const uint32_t counts[] = {2, 4000000000u, UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        char file[84 + 50] = {0};
        kiln_error error = {0};
        memcpy(file + 80, &counts[i], 4);
        ck_assert_int_eq(read_limited("stl", file, sizeof file, &error), KILN_ERR_INPUT);
        ck_assert_int_eq(error.byte, 84);
        uint32_t one = 1, nan = 0x7fc00000;
        memcpy(file + 80, &one, 4);
        memcpy(file + 84 + 12 + 4 * i, &nan, 4);
        ck_assert_int_eq(read_limited("stl", file, sizeof file, &error), KILN_ERR_INPUT);
        ck_assert_ptr_nonnull(strstr(error.message, "not finite"));
    }
}
END_TEST

/* Of a solid only the points on the surface are written. */
START_TEST(solids_leave_their_inside_out)
{
    const struct form *form = &forms[_i];
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    kiln_soup ball, back;
    size_t count;
    kiln_soup_init(&ball, context);
    ck_assert_int_eq(kiln_shape_make(kiln_shapes(&count)[1], 0, NULL, &ball, NULL), KILN_OK);
    in_folder(&scratch, form->file, path);
    kiln_format_options options = {form->format, form->encoding};
    ck_assert_int_eq(kiln_soup_write(context, path, &options, &ball, NULL), KILN_OK);
    kiln_soup_init(&back, context);
    ck_assert_int_eq(kiln_soup_read(context, path, NULL, &back, NULL), KILN_OK);
    ck_assert_uint_eq(back.triangles.count, ball.triangles.count);
    ck_assert_uint_eq(back.points.count, ball.triangles.count / 2 + 2);
    for (size_t i = 0; i < back.points.count; i++)
        ck_assert_double_eq_tol(kiln_v3_norm(back.points.data[i]), 1, 1e-6);
    kiln_soup_free(&ball);
    kiln_soup_free(&back);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(soups_without_surface_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    kiln_soup soup;
    fixture_mesh(&soup, context);
    soup.triangles.count = soup.triangle_tags.count = 0;
    for (int i = 0; i < FORMS; i++) {
        kiln_error error;
        in_folder(&scratch, forms[i].file, path);
        ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, &error), KILN_ERR_INPUT);
        ck_assert_int_eq(files_in(&scratch), 0);
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("surfaces");
    TCase *all = kiln_test_case(suite, "surfaces");
    tcase_add_loop_test(all, surfaces_round_trip, 0, FORMS);
    tcase_add_loop_test(all, ply_keeps_material_positions, 0, 2);
    tcase_add_loop_test(all, solids_leave_their_inside_out, 0, FORMS);
    tcase_add_loop_test(all, surfaces_survive_hostile_files, 0, FORMS);
    tcase_add_loop_test(all, foreign_files_are_read, 0, sizeof foreign / sizeof foreign[0]);
    tcase_add_test(all, polygons_may_point_inward);
    tcase_add_test(all, ply_large_end_first);
    tcase_add_loop_test(all, bad_texts_are_explained, 0, sizeof bad_texts / sizeof bad_texts[0]);
    tcase_add_test(all, stl_counts_that_lie);
    tcase_add_test(all, soups_without_surface_are_refused);
    return suite;
}

/* Every format: the shared files, round trips, byte orders and versions, numbering, failing
 * allocations. */
#include "fixture.h"
#include "io/medit.h"
#include "io/tetgen.h"

static const struct form {
    const char *format, *file;
    kiln_encoding encoding;
    int keeps;
} forms[] = {
    {"medit", "a.mesh", KILN_ENCODING_ANY, KEEPS_MARKS},
    {"medit", "a.meshb", KILN_ENCODING_ANY, KEEPS_MARKS},
    {"gmsh22", "a.msh", KILN_ENCODING_ASCII, KEEPS_FIELDS},
    {"gmsh22", "a.msh", KILN_ENCODING_BINARY, KEEPS_FIELDS},
    {"gmsh", "a.msh", KILN_ENCODING_ASCII, KEEPS_FIELDS},
    {"gmsh", "a.msh", KILN_ENCODING_BINARY, KEEPS_FIELDS},
    {"tetgen", "a.node", KILN_ENCODING_ANY, 0},
    {"tetgen", "a.ele", KILN_ENCODING_ASCII, 0},
};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

static void fill_fixture(kiln_soup *soup, kiln_context *context)
{
    fixture_mesh(soup, context);
    fixture_marks(soup);
    fixture_fields(soup);
}

START_TEST(shared_files_have_their_counts)
{
    static const struct {
        const char *name;
        size_t points, tets;
    } files[] = {
        {"itr/beam.msh", 484, 1740},          {"itr/sphere1K.msh", 1760, 6851},
        {"itr/spike.msh", 75, 145},           {"itr/monkey10k_u.msh", 2956, 10051},
        {"itr/roller5k.msh", 1654, 5695},     {"itr/cube.msh", 8, 6},
        {"remesh/rand10k.mesh", 1800, 10401}, {"remesh/sphere.mesh", 2085, 9934},
        {"remesh/bartwist.mesh", 1812, 7345}, {"remesh/spot.mesh", 3655, 12577},
    };
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[512], text[800];
        kiln_soup soup;
        kiln_error error;
        if (!kiln_test_data(files[i].name, path, sizeof path))
            continue;
        kiln_soup_init(&soup, context);
        kiln_status status = kiln_soup_read(context, path, NULL, &soup, &error);
        ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
        ck_assert_uint_eq(soup.tets.count, files[i].tets);
        ck_assert_uint_eq(soup.points.count, files[i].points);
        kiln_soup_free(&soup);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(round_trips_are_exact)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    folder scratch = make_folder();
    kiln_soup soup, back;
    char path[160], text[800];
    kiln_error error;
    fill_fixture(&soup, context);
    for (int i = 0; i < FORM_COUNT; i++) {
        kiln_format_options options = {forms[i].format, forms[i].encoding};
        in_folder(&scratch, forms[i].file, path);
        kiln_status status = kiln_soup_write(context, path, &options, &soup, &error);
        ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
        kiln_soup_init(&back, context);
        status = kiln_soup_read(context, path, NULL, &back, &error);
        ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
        assert_same_soup(&soup, &back, forms[i].keeps);
        kiln_soup_free(&back);
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

START_TEST(untagged_meshes_stay_untagged)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup soup, back;
    char path[160];
    fixture_mesh(&soup, context);
    soup.point_tags.count = soup.tet_tags.count = 0;
    soup.triangle_tags.count = soup.edge_tags.count = 0;
    for (int i = 0; i < FORM_COUNT; i++) {
        kiln_format_options options = {forms[i].format, forms[i].encoding};
        in_folder(&scratch, forms[i].file, path);
        ck_assert_int_eq(kiln_soup_write(context, path, &options, &soup, NULL), KILN_OK);
        kiln_soup_init(&back, context);
        ck_assert_int_eq(kiln_soup_read(context, path, NULL, &back, NULL), KILN_OK);
        assert_same_mesh(&soup, &back);
        kiln_soup_free(&back);
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(points_alone_round_trip)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup cloud, *soup = &cloud, back;
    char path[160];
    kiln_soup_init(soup, context);
    kiln_vec3 point = {1, 2, 3};
    FIXTURE_PUSH(points, point);
    for (int i = 0; i < FORM_COUNT; i++) {
        kiln_format_options options = {forms[i].format, forms[i].encoding};
        in_folder(&scratch, forms[i].file, path);
        ck_assert_int_eq(kiln_soup_write(context, path, &options, soup, NULL), KILN_OK);
        kiln_soup_init(&back, context);
        ck_assert_int_eq(kiln_soup_read(context, path, NULL, &back, NULL), KILN_OK);
        assert_same_mesh(soup, &back);
        kiln_soup_free(&back);
    }
    kiln_soup_free(soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

static kiln_status read_memory(kiln_context *context, const char *format, const void *bytes,
                               size_t size, kiln_soup *soup, kiln_error *error)
{
    kiln_source source;
    kiln_source_from_memory(&source, context, "memory", bytes, size);
    kiln_soup_init(soup, context);
    kiln_status status = kiln_soup_read_source(kiln_format_by_name(format), &source, soup, error);
    kiln_source_close(&source);
    return status;
}

static void swap_bytes(char *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        char held = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = held;
    }
}

/* Numbers of a binary file turned round one after the other: "4" 32 bits, "8" 64 bits, "." a byte
 * of text; a group in brackets is repeated as often as the last number read says. */
static const char *swap_along(char *bytes, size_t *at, const char *plan, uint64_t *last)
{
    for (; *plan && *plan != ']'; plan++) {
        if (*plan == '(') {
            uint64_t times = *last;
            const char *inner = plan + 1, *after = inner;
            for (uint64_t i = 0; i < times; i++)
                after = swap_along(bytes, at, inner, last);
            while (*after != ']')
                after++;
            plan = after;
        } else if (*plan == '.') {
            ++*at;
        } else {
            size_t size = (size_t)(*plan - '0');
            *last = 0;
            memcpy(last, bytes + *at, size);
            swap_bytes(bytes + *at, size);
            *at += size;
        }
    }
    return plan;
}

START_TEST(medit_versions_and_byte_orders)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup soup, back;
    char path[160], text[800];
    kiln_error error;
    fixture_mesh(&soup, context);
    in_folder(&scratch, "a.meshb", path);
    for (int version = 2; version <= 4; version++) {
        ck_assert_int_eq(kiln_medit_write_version(context, path, version, &soup, NULL), KILN_OK);
        size_t size, at = 0;
        uint64_t last = 0;
        char *bytes = file_bytes(path, &size);
        ck_assert_int_eq(read_memory(context, "medit", bytes, size, &back, NULL), KILN_OK);
        assert_same_mesh(&soup, &back);
        kiln_soup_free(&back);
        /* Header, dimension, vertices, tets, triangles, edges, end. */
        swap_along(bytes, &at,
                   version == 2   ? "44"
                                    "444"
                                    "444(8884]"
                                    "444(44444]"
                                    "444(4444]"
                                    "444(444]"
                                    "44"
                   : version == 3 ? "44"
                                    "484"
                                    "484(8884]"
                                    "484(44444]"
                                    "484(4444]"
                                    "484(444]"
                                    "48"
                                  : "44"
                                    "484"
                                    "488(8888]"
                                    "488(88888]"
                                    "488(8888]"
                                    "488(888]"
                                    "48",
                   &last);
        ck_assert_uint_eq(at, size);
        kiln_status status = read_memory(context, "medit", bytes, size, &back, &error);
        ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
        assert_same_mesh(&soup, &back);
        kiln_soup_free(&back);
        free(bytes);
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(medit_version_1_has_floats)
{
    const uint32_t words[] = {1, 1,          3,          20,         3, 4,  48,
                              1, 0x3fc00000, 0xbe800000, 0x41200000, 9, 54, 0};
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    ck_assert_int_eq(read_memory(context, "medit", words, sizeof words, &soup, NULL), KILN_OK);
    ck_assert_uint_eq(soup.points.count, 1);
    ck_assert_double_eq(soup.points.data[0].x, 1.5);
    ck_assert_double_eq(soup.points.data[0].y, -0.25);
    ck_assert_double_eq(soup.points.data[0].z, 10.0);
    ck_assert_int_eq(soup.point_tags.data[0], 9);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(medit_skips_what_it_does_not_know)
{
    static const char text[] = "MeshVersionFormatted 2 # a comment\nDimension\n3\n"
                               "Normals\n2\n0 0 1\n1e-3 0 -1\nTangents 1\n 1 0 0\n"
                               "Vertices\r\n4\r\n0 0 0 1\r\n1 0 0 1\r\n0 1 0 1\r\n0 0 1 1\r\n"
                               "Hexahedra 1\n1 1 1 1 1 1 1 1 0\n"
                               "Tetrahedra 1 1 2 3 4 5\nSubDomain 1 1 1 1 1\nRidges 0\nEnd";
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    ck_assert_int_eq(read_memory(context, "medit", text, sizeof text - 1, &soup, NULL), KILN_OK);
    ck_assert_uint_eq(soup.points.count, 4);
    ck_assert_uint_eq(soup.tets.count, 1);
    ck_assert_int_eq(soup.tet_tags.data[0], 5);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(gmsh_other_byte_order)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup soup, back;
    char path[160], text[800];
    kiln_error error;
    fixture_mesh(&soup, context);
    soup.point_tags.count = 0;
    in_folder(&scratch, "a.msh", path);
    for (int i = 0; i < 2; i++) {
        kiln_format_options options = {i ? "gmsh" : "gmsh22", KILN_ENCODING_BINARY};
        ck_assert_int_eq(kiln_soup_write(context, path, &options, &soup, NULL), KILN_OK);
        size_t size, at;
        uint64_t last = 0;
        char *bytes = file_bytes(path, &size);
        at = strlen("$MeshFormat\n2.2 1 8\n");
        swap_along(bytes, &at, "4", &last);
        if (i == 0) {
            at = (size_t)(strstr(bytes + at, "$Nodes\n") - bytes) + strlen("$Nodes\n30\n");
            last = FIXTURE_POINTS;
            swap_along(bytes, &at, "(4888]", &last);
            at += strlen("\n$EndNodes\n$Elements\n43\n");
            last = 0;
            static const struct {
                uint64_t count;
                const char *each;
            } blocks[] = {{FIXTURE_EDGES, "(44444]"},
                          {FIXTURE_TRIANGLES, "(444444]"},
                          {FIXTURE_TETS, "(4444444]"}};
            for (int k = 0; k < 3; k++) {
                swap_along(bytes, &at, "444", &last);
                last = blocks[k].count;
                swap_along(bytes, &at, blocks[k].each, &last);
            }
            ck_assert_uint_eq(at, size - strlen("\n$EndElements\n"));
        } else {
            at = (size_t)(strstr(bytes + at, "$Entities\n") - bytes) + strlen("$Entities\n");
            uint64_t counts[4];
            memcpy(counts, bytes + at, sizeof counts);
            swap_along(bytes, &at, "8888", &last);
            for (uint64_t k = 0; k < counts[1] + counts[2] + counts[3]; k++)
                swap_along(bytes, &at, "48888888(4]8", &last);
            at += strlen("\n$EndEntities\n$Nodes\n");
            swap_along(bytes, &at, "88884448(8]", &last);
            last = FIXTURE_POINTS;
            swap_along(bytes, &at, "(888]", &last);
            at += strlen("\n$EndNodes\n$Elements\n");
            uint64_t blocks;
            memcpy(&blocks, bytes + at, sizeof blocks);
            swap_along(bytes, &at, "8888", &last);
            for (uint64_t k = 0; k < blocks; k++) {
                uint32_t type;
                memcpy(&type, bytes + at + 8, sizeof type);
                swap_along(bytes, &at,
                           type == 4   ? "4448(88888]"
                           : type == 2 ? "4448(8888]"
                                       : "4448(888]",
                           &last);
            }
            ck_assert_uint_eq(at, size - strlen("\n$EndElements\n"));
        }
        kiln_status status = read_memory(context, "gmsh", bytes, size, &back, &error);
        ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
        assert_same_mesh(&soup, &back);
        kiln_soup_free(&back);
        free(bytes);
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(gmsh_numbers_may_be_sparse)
{
    static const char text2[] =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 4 \"rock "
        "$\"\n$EndPhysicalNames\n"
        "$Nodes\n4\n1000000000 0 0 0\n7 1 0 0\n9 0 1 0\n8 0 0 1\n$EndNodes\n"
        "$Elements\n4\n90 4 3 4 1 0 1000000000 7 9 8\n17 2 2 6 2 7 9 8\n5 5 2 0 0 7 7 7 7 8 8 8 8\n"
        "18 15 2 3 1 9\n$EndElements\n"
        "$ElementData\n1\n\"heat\"\n1\n0\n4\n0\n1\n3\n0\n90 2.5\n17 3.5\n5 1\n$EndElementData\n"
        "$NodeData\n1\nbare name\n0\n3\n0\n1\n1\n8 1.25\n$EndNodeData\n";
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    kiln_error error;
    char message[800];
    kiln_status status = read_memory(context, "gmsh", text2, sizeof text2 - 1, &soup, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, message, sizeof message));
    static const uint32_t tet[4] = {0, 1, 2, 3}, triangle[3] = {1, 2, 3};
    ck_assert_int_eq(memcmp(soup.tets.data[0].v, tet, sizeof tet), 0);
    ck_assert_int_eq(memcmp(soup.triangles.data[0].v, triangle, sizeof triangle), 0);
    ck_assert_int_eq(soup.tet_tags.data[0], 4);
    ck_assert_int_eq(soup.triangle_tags.data[0], 6);
    ck_assert_int_eq(soup.point_tags.data[2], 3);
    ck_assert_double_eq(kiln_soup_find_field(&soup, KILN_ON_TET, "heat")->data.data[0], 2.5);
    ck_assert_double_eq(kiln_soup_find_field(&soup, KILN_ON_FACE, "heat")->data.data[0], 3.5);
    const kiln_soup_field *bare = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "bare name");
    ck_assert_ptr_nonnull(bare);
    ck_assert_double_eq(bare->data.data[3], 1.25);
    ck_assert_double_eq(bare->data.data[0], 0.0);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(gmsh_41_uses_entities_and_parameters)
{
    static const char text[] =
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
        "$Entities\n1 0 1 2\n5 0 0 0 1 11\n2 0 0 0 1 1 1 0 0\n1 0 0 0 1 1 1 2 33 34 1 -2\n"
        "9 0 0 0 1 1 1 0 0\n$EndEntities\n"
        "$Nodes\n2 4 1 40\n2 2 1 3\n40\n20\n30\n0 0 0 .1 .2\n1 0 0 .1 .2\n0 1 0 .1 .2\n"
        "3 1 0 1\n1\n0 0 1\n$EndNodes\n"
        "$Elements\n3 3 1 3\n3 1 4 1\n1 40 20 30 1\n3 9 4 1\n2 40 20 30 1\n0 5 15 1\n3 30\n"
        "$EndElements\n";
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    kiln_error error;
    char message[800];
    kiln_status status = read_memory(context, "gmsh", text, sizeof text - 1, &soup, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, message, sizeof message));
    static const uint32_t tet[4] = {0, 1, 2, 3};
    ck_assert_uint_eq(soup.tets.count, 2);
    ck_assert_int_eq(memcmp(soup.tets.data[0].v, tet, sizeof tet), 0);
    ck_assert_int_eq(soup.tet_tags.data[0], 33);
    ck_assert_int_eq(soup.tet_tags.data[1], 0);
    ck_assert_int_eq(soup.point_tags.data[2], 11);
    ck_assert_double_eq(soup.points.data[3].z, 1.0);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(tetgen_numbers_attributes_and_markers)
{
    static const char node[] =
        "# made by hand\n4 3 2 1\n\n0  0 0 0  1.5 2.5  7\n1 1 0 0  3 4  0 # x\n"
        "2 0 1 0  5 6 0\n3 0 0 1  7 8 -1\n";
    static const char ele[] = "1 4 1\n0  0 1 2 3  12\n";
    static const char face[] = "2 1\n0  0 1 2  5 0 -1\n1  1 2 3  6 0 -1\n";
    kiln_context *context = kiln_test_context(1);
    kiln_source sources[3];
    kiln_source_from_memory(&sources[0], context, "a.node", node, sizeof node - 1);
    kiln_source_from_memory(&sources[1], context, "a.ele", ele, sizeof ele - 1);
    kiln_source_from_memory(&sources[2], context, "a.face", face, sizeof face - 1);
    kiln_source *parts[KILN_TETGEN_PARTS] = {&sources[0], &sources[1], &sources[2], NULL};
    kiln_soup soup, back;
    kiln_error error;
    char text[800];
    kiln_soup_init(&soup, context);
    kiln_status status = kiln_tetgen_read_parts(parts, &soup, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
    ck_assert_uint_eq(soup.tets.data[0].v[3], 3);
    ck_assert_int_eq(soup.tet_tags.data[0], 12);
    ck_assert_int_eq(soup.point_tags.data[3], -1);
    ck_assert_int_eq(soup.triangle_tags.data[1], 6);
    const kiln_soup_field *field = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "attributes");
    ck_assert_uint_eq(field->components, 2);
    ck_assert_double_eq(field->data.data[7], 8.0);
    ck_assert_uint_eq(soup.fields.count, 1);

    folder scratch = make_folder();
    char path[160];
    static const char *const names[] = {"b.node", "b.ele", "b.face"};
    ck_assert_int_eq(
        kiln_soup_write(context, in_folder(&scratch, "b.node", path), NULL, &soup, NULL), KILN_OK);
    for (int i = 0; i < 3; i++) {
        kiln_soup_init(&back, context);
        in_folder(&scratch, names[i], path);
        ck_assert_int_eq(kiln_soup_read(context, path, NULL, &back, NULL), KILN_OK);
        assert_same_soup(&soup, &back, KEEPS_FIELDS);
        kiln_soup_free(&back);
    }
    remove_folder(&scratch);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(sol_keeps_fields_and_tensor_order)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup soup, back;
    char path[160], text[800];
    kiln_error error;
    static const char *const names[] = {"a.sol", "a.solb"};
    fixture_mesh(&soup, context);
    fixture_fields(&soup);
    /* Sections come in Medit's order. */
    kiln_soup_field last = soup.fields.data[5];
    soup.fields.data[5] = soup.fields.data[4];
    soup.fields.data[4] = soup.fields.data[3];
    soup.fields.data[3] = last;
    for (int i = 0; i < 2; i++) {
        in_folder(&scratch, names[i], path);
        ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, NULL), KILN_OK);
        fixture_mesh(&back, context);
        kiln_status status = kiln_soup_read_fields(context, path, NULL, &back, &error);
        ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
        assert_same_fields(&soup, &back, false);
        kiln_soup_free(&back);
        kiln_soup_init(&back, context);
        ck_assert_int_eq(kiln_soup_read(context, path, NULL, &back, &error), KILN_ERR_INPUT);
        ck_assert_int_eq(kiln_soup_read_fields(context, path, NULL, &back, &error), KILN_ERR_INPUT);
        ck_assert_ptr_nonnull(strstr(error.message, "the mesh has 0"));
        ck_assert_int_eq(kiln_soup_write(context, path, NULL, &back, &error), KILN_ERR_INPUT);
        ck_assert_ptr_nonnull(strstr(error.message, "no fields"));
    }
    kiln_soup_free(&soup);

    static const char tensor[] = "MeshVersionFormatted 2\nDimension 3\nSolAtVertices\n1\n2 3 1\n"
                                 "1 2 3 4 5 6 7\nEnd\n";
    kiln_source source;
    kiln_soup *one = &back;
    kiln_soup_init(one, context);
    ck_assert_int_eq(kiln_array_push(context, &one->points, ((kiln_vec3){0, 0, 0}), NULL), KILN_OK);
    kiln_source_from_memory(&source, context, "t.sol", tensor, sizeof tensor - 1);
    ck_assert_int_eq(kiln_sol_read(&source, one, NULL), KILN_OK);
    /* xx xy yy xz yz zz = 1 2 3 4 5 6 */
    static const double wanted[6] = {1, 3, 6, 2, 5, 4};
    ck_assert_int_eq(memcmp(one->fields.data[0].data.data, wanted, sizeof wanted), 0);
    ck_assert_double_eq(one->fields.data[1].data.data[0], 7.0);
    kiln_soup_free(one);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(failed_allocations_leave_nothing)
{
    kiln_context *plain = kiln_test_context(1);
    folder scratch = make_folder(), empty = make_folder();
    char path[160], other[160];
    kiln_soup soup;
    fill_fixture(&soup, plain);
    for (int i = 0; i < FORM_COUNT; i++) {
        kiln_format_options options = {forms[i].format, forms[i].encoding};
        in_folder(&scratch, forms[i].file, path);
        in_folder(&empty, forms[i].file, other);
        ck_assert_int_eq(kiln_soup_write(plain, path, &options, &soup, NULL), KILN_OK);
        kiln_status status = KILN_ERR_MEMORY;
        for (uint64_t k = 1; status != KILN_OK; k++) {
            kiln_test_heap heap = {0};
            kiln_context *context = kiln_test_context_on(&heap, 1);
            kiln_soup back;
            kiln_soup_init(&back, context);
            heap.fail_at = heap.calls + k;
            status = kiln_soup_read(context, path, NULL, &back, NULL);
            ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
            ck_assert(status == KILN_OK || back.points.data == NULL);
            kiln_soup_free(&back);
            kiln_context_destroy(context);
            ck_assert_int_eq(heap.live_blocks, 0);
            ck_assert_int_eq(heap.live_bytes, 0);
        }
        status = KILN_ERR_MEMORY;
        for (uint64_t k = 1; status != KILN_OK; k++) {
            kiln_test_heap heap = {0};
            kiln_context *context = kiln_test_context_on(&heap, 1);
            heap.fail_at = heap.calls + k;
            status = kiln_soup_write(context, other, &options, &soup, NULL);
            ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
            ck_assert(status == KILN_OK || files_in(&empty) == 0);
            kiln_context_destroy(context);
            ck_assert_int_eq(heap.live_blocks, 0);
        }
        remove_folder(&empty);
        empty = make_folder();
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    remove_folder(&empty);
    kiln_context_destroy(plain);
}
END_TEST

START_TEST(failed_allocations_in_fields)
{
    kiln_context *plain = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    kiln_soup soup;
    fill_fixture(&soup, plain);
    in_folder(&scratch, "a.sol", path);
    ck_assert_int_eq(kiln_soup_write(plain, path, NULL, &soup, NULL), KILN_OK);
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t k = 1; status != KILN_OK; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_soup back;
        fixture_mesh(&back, context);
        heap.fail_at = heap.calls + k;
        status = kiln_soup_read_fields(context, path, NULL, &back, NULL);
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        ck_assert(status == KILN_OK || back.fields.count == 0);
        kiln_soup_free(&back);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(plain);
}
END_TEST

START_TEST(formats_are_found)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup soup, back;
    kiln_error error;
    char path[160];
    ck_assert_str_eq(kiln_format_by_path("x/y.MESHB")->name, "medit");
    ck_assert_ptr_null(kiln_format_by_path("x.y/z"));
    ck_assert_ptr_null(kiln_format_at(1000));
    fixture_mesh(&soup, context);
    in_folder(&scratch, "a.xyz", path);
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, ".xyz"));
    ck_assert_ptr_nonnull(strstr(error.message, ".meshb"));
    static const char *const known[] = {"medit", "gmsh", "gmsh22"};
    for (int i = 0; i < 3; i++) {
        kiln_format_options options = {known[i], KILN_ENCODING_BINARY};
        ck_assert_int_eq(kiln_soup_write(context, path, &options, &soup, NULL), KILN_OK);
        kiln_soup_init(&back, context);
        ck_assert_int_eq(kiln_soup_read(context, path, NULL, &back, NULL), KILN_OK);
        assert_same_mesh(&soup, &back);
        kiln_soup_free(&back);
    }
    kiln_format_options wrong = {"tetgen", KILN_ENCODING_BINARY};
    ck_assert_int_eq(kiln_soup_write(context, path, &wrong, &soup, &error), KILN_ERR_UNSUPPORTED);
    wrong.format = "dwg";
    ck_assert_int_eq(kiln_soup_write(context, path, &wrong, &soup, &error), KILN_ERR_INPUT);
    kiln_soup_init(&back, context);
    ck_assert_int_eq(kiln_soup_read(context, path, &wrong, &back, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_soup_read(context, "/nowhere/a.mesh", NULL, &back, &error), KILN_ERR_IO);
    ck_assert_int_eq(kiln_soup_read(context, "/tmp", NULL, &back, &error), KILN_ERR_IO);
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("formats");
    TCase *all = kiln_test_case(suite, "formats");
    tcase_add_test(all, shared_files_have_their_counts);
    tcase_add_test(all, round_trips_are_exact);
    tcase_add_test(all, untagged_meshes_stay_untagged);
    tcase_add_test(all, points_alone_round_trip);
    tcase_add_test(all, medit_versions_and_byte_orders);
    tcase_add_test(all, medit_version_1_has_floats);
    tcase_add_test(all, medit_skips_what_it_does_not_know);
    tcase_add_test(all, gmsh_other_byte_order);
    tcase_add_test(all, gmsh_numbers_may_be_sparse);
    tcase_add_test(all, gmsh_41_uses_entities_and_parameters);
    tcase_add_test(all, tetgen_numbers_attributes_and_markers);
    tcase_add_test(all, sol_keeps_fields_and_tensor_order);
    tcase_add_test(all, failed_allocations_leave_nothing);
    tcase_add_test(all, failed_allocations_in_fields);
    tcase_add_test(all, formats_are_found);
    return suite;
}

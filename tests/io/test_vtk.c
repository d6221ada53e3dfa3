#include "fixtures.h"
#include "hostile.h"
#include "io/vtu.h"
#include "mesh/shapes.h"

#include <unistd.h>

static void fill_fixture(kiln_soup *soup, kiln_context *context)
{
    fixture_mesh(soup, context);
    fixture_marks(soup);
    fixture_fields(soup);
}

static void read_file(kiln_context *context, const char *path, kiln_soup *soup)
{
    kiln_error error;
    char text[1024];
    kiln_soup_init(soup, context);
    kiln_status status = kiln_soup_read(context, path, NULL, soup, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
}

static void read_text(kiln_context *context, const char *format, const void *bytes, size_t size,
                      kiln_soup *soup)
{
    kiln_error error;
    char text[1024];
    kiln_source source;
    kiln_source_from_memory(&source, context, "memory", bytes, size);
    kiln_soup_init(soup, context);
    kiln_status status = kiln_soup_read_source(kiln_format_by_name(format), &source, soup, &error);
    ck_assert_msg(status == KILN_OK, "%s", kiln_error_format(&error, text, sizeof text));
    kiln_source_close(&source);
}

/* All 4 places, plain and packed, 32- and 64-bit heads, small blocks and large. */
static kiln_vtu_layout layout_number(int i)
{
    return (kiln_vtu_layout){.place = (kiln_vtu_place)(i % 4),
                             .compressed = i / 4 % 2,
                             .narrow = i / 8 % 2,
                             .block_size = i / 16 ? 104 : 0};
}
enum { LAYOUTS = 32 };

START_TEST(vtu_layouts_round_trip)
{
    kiln_context *context = kiln_test_context(2);
    folder scratch = make_folder();
    char path[160];
    kiln_soup soup, back;
    fill_fixture(&soup, context);
    in_folder(&scratch, "a.vtu", path);
    for (int i = 0; i < LAYOUTS; i++) {
        kiln_vtu_layout layout = layout_number(i);
        ck_assert_int_eq(kiln_vtu_write_as(context, path, &layout, &soup, NULL), KILN_OK);
        read_file(context, path, &back);
        assert_same_soup(&soup, &back, KEEPS_MARKS | KEEPS_FIELDS);
        kiln_soup_free(&back);
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(vtu_special_soups_round_trip)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160];
    in_folder(&scratch, "a.vtu", path);
    for (int which = 1; which < 4; which++)
        for (int i = 0; i < LAYOUTS; i++) {
            kiln_soup soup, back;
            kiln_soup_field *field;
            kiln_soup_init(&soup, context);
            if (which == 1) { /* points alone */
                kiln_vec3 p = {1, 2, 3};
                ck_assert_int_eq(kiln_array_push(context, &soup.points, p, NULL), KILN_OK);
            } else if (which >= 2) {
                fixture_mesh(&soup, context);
                soup.point_tags.count = soup.tet_tags.count = 0;
                soup.triangle_tags.count = soup.edge_tags.count = 0;
            }
            if (which == 3) { /* one name in all three places, and one that XML must escape */
                for (int where = 0; where < 3; where++) {
                    kiln_soup_add_field(&soup, "a<b&\"c\">", (kiln_where)where, 2, &field, NULL);
                    field->data.data[1] = 1.5 + where;
                }
            }
            kiln_vtu_layout layout = layout_number(i);
            ck_assert_int_eq(kiln_vtu_write_as(context, path, &layout, &soup, NULL), KILN_OK);
            read_file(context, path, &back);
            assert_same_soup(&soup, &back, KEEPS_MARKS | KEEPS_FIELDS);
            kiln_soup_free(&soup);
            kiln_soup_free(&back);
        }
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(vtu_bytes_do_not_depend_on_threads)
{
    folder scratch = make_folder();
    char path[160], *bytes[3];
    size_t size[3];
    in_folder(&scratch, "a.vtu", path);
    for (int threads = 1; threads <= 3; threads++) {
        kiln_context *context = kiln_test_context(threads);
        kiln_soup soup;
        size_t count;
        kiln_soup_init(&soup, context);
        ck_assert_int_eq(kiln_shape_make(kiln_shapes(&count)[1], 0, NULL, &soup, NULL), KILN_OK);
        kiln_vtu_layout layout = {KILN_VTU_APPENDED_RAW, true, false, 1024};
        ck_assert_int_eq(kiln_vtu_write_as(context, path, &layout, &soup, NULL), KILN_OK);
        bytes[threads - 1] = file_bytes(path, &size[threads - 1]);
        kiln_soup_free(&soup);
        kiln_context_destroy(context);
    }
    for (int i = 1; i < 3; i++) {
        ck_assert_uint_eq(size[i], size[0]);
        ck_assert_int_eq(memcmp(bytes[i], bytes[0], size[0]), 0);
        free(bytes[i]);
    }
    free(bytes[0]);
    remove_folder(&scratch);
}
END_TEST

#define HEAD "<VTKFile type='UnstructuredGrid' version=\"0.1\" byte_order=\"LittleEndian\">"
#define POINTS4                                                                                    \
    "<Points><DataArray type=\"Float32\" NumberOfComponents='3'>0 0 0 1 0 0 0 1 0\n0 0 1"          \
    "</DataArray></Points>"
#define CELLS(connectivity, offsets, types)                                                        \
    "<Cells><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">" connectivity        \
    "</DataArray><DataArray type=\"Int8\" Name=\"offsets\">" offsets                               \
    "</DataArray><DataArray type=\"UInt8\" Name=\"types\">" types "</DataArray></Cells>"
#define PIECE(points, cells) "<Piece NumberOfPoints=\"" points "\" NumberOfCells=\"" cells "\">"
#define TAIL                 "</UnstructuredGrid></VTKFile>"

START_TEST(vtu_from_others)
{
    static const char text[] =
        "<?xml version=\"1.0\"?>\n<!-- <VTKFile type=\"no\"> -->\n" HEAD
        "<UnstructuredGrid><FieldData><DataArray type=\"String\" Name=\"n\" NumberOfTuples=\"1\">"
        "72 0</DataArray></FieldData>\n" PIECE("4", "4") POINTS4 CELLS(
            "0 1 2 3  0 1 2  3  2 3", "4 7 8 10",
            "10 5 1 3") "<CellData Scalars='w'><DataArray type=\"Float64\" Name=\"w\">1 2 3 "
                        "nan</DataArray>"
                        "<DataArray type=\"Int16\" Name=\"region\">-7 8 9 "
                        "10</DataArray></CellData></Piece>" PIECE("0", "0") "</Piece>" PIECE("4",
                                                                                             "1")
                            POINTS4 CELLS(
                                "3 2 1 0", "4",
                                "10") "<PointData><DataArray type=\"UInt16\" Name=\"k\" "
                                      "NumberOfComponents=\"2\">1 2 3 4 5 6 7 65535</DataArray>"
                                      "</PointData></Piece>" TAIL;
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    read_text(context, "vtu", text, sizeof text - 1, &soup);
    ck_assert_uint_eq(soup.points.count, 8);
    ck_assert_uint_eq(soup.tets.count, 2);
    ck_assert_uint_eq(soup.triangles.count, 1);
    ck_assert_uint_eq(soup.edges.count, 1);
    ck_assert_uint_eq(soup.tets.data[1].v[0], 7);
    ck_assert_uint_eq(soup.edges.data[0].v[1], 3);
    ck_assert_int_eq(soup.tet_tags.data[0], -7);
    ck_assert_int_eq(soup.tet_tags.data[1], 0);
    ck_assert_int_eq(soup.triangle_tags.data[0], 8);
    ck_assert_int_eq(soup.edge_tags.data[0], 10);
    const kiln_soup_field *w = kiln_soup_find_field(&soup, KILN_ON_FACE, "w");
    ck_assert_double_eq(w->data.data[0], 2);
    const kiln_soup_field *k = kiln_soup_find_field(&soup, KILN_ON_VERTEX, "k");
    ck_assert_double_eq(k->data.data[0], 0);
    ck_assert_double_eq(k->data.data[15], 65535);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

static void put_big(char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (char)(value >> 8 * (bytes - 1 - i));
}

static void put_big_f32(char *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    put_big(out, bits, 4);
}

/* Tags of tets and of triangles in arrays of their own; names of the stress; an array "patch" that
 * is someone else's stays a field, and "region" alone is for all, as before. */
START_TEST(vtu_tells_patches_from_regions)
{
    kiln_context *context = kiln_test_context(1);
    char path[300], text[6000];
    kiln_soup soup = kiln_test_soup(context, "box", "n=1"), back;
    kiln_soup_field *stress;
    ck_assert_int_eq(kiln_soup_add_field(&soup, "stress", KILN_ON_TET, 6, &stress, NULL), KILN_OK);
    snprintf(path, sizeof path, "/tmp/kiln-patch-%ld.vtu", (long)getpid());
    ck_assert_int_eq(kiln_vtu_write(context, path, KILN_ENCODING_BINARY, &soup, NULL), KILN_OK);
    FILE *file = fopen(path, "rb");
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    ck_assert_ptr_nonnull(strstr(text, "Name=\"patch\""));
    ck_assert_ptr_nonnull(strstr(text, "ComponentName0=\"xx\" ComponentName1=\"yy\" "
                                       "ComponentName2=\"zz\" ComponentName3=\"xy\" "
                                       "ComponentName4=\"yz\" ComponentName5=\"xz\""));
    kiln_soup_init(&back, context);
    ck_assert_int_eq(kiln_soup_read(context, path, NULL, &back, NULL), KILN_OK);
    ck_assert_uint_eq(back.triangle_tags.count, soup.triangles.count);
    for (size_t i = 0; i < soup.triangles.count; i++)
        ck_assert_int_eq(back.triangle_tags.data[i], soup.triangle_tags.data[i]);
    for (size_t i = 0; i < soup.tets.count; i++)
        ck_assert_int_eq(back.tet_tags.data[i], soup.tet_tags.data[i]);
    ck_assert_ptr_null(kiln_soup_find_field(&back, KILN_ON_FACE, "patch"));
    kiln_soup_free(&back);
    kiln_soup_free(&soup);
    unlink(path);

    static const char others[] = HEAD "<UnstructuredGrid>" PIECE("4", "2")
        POINTS4 CELLS("0 1 2 3  0 1 2", "4 7",
                      "10 5") "<CellData><DataArray type=\"Int32\" Name=\"patch\">3 4</DataArray>"
                              "<DataArray type=\"Int32\" Name=\"region\">5 6</DataArray></CellData>"
                              "</Piece>" TAIL;
    read_text(context, "vtu", others, sizeof others - 1, &back);
    ck_assert_int_eq(back.triangle_tags.data[0], 6);
    ck_assert_double_eq(kiln_soup_find_field(&back, KILN_ON_TET, "patch")->data.data[0], 3.0);
    kiln_soup_free(&back);
    kiln_context_destroy(context);
}
END_TEST

/* Numbers of things are bytes in the file where they fit, and come back as they were. */
START_TEST(vtu_numbers_of_things)
{
    static const struct {
        int32_t tag;
        double body;
        const char *region, *bodies;
    } cases[] = {{255, 7, "UInt8", "UInt8"},
                 {256, 255, "Int32", "UInt8"},
                 {-1, 256, "Int32", "Float64"},
                 {INT32_MIN, -1, "Int32", "Float64"}};
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    char path[160], text[6000], wanted[80];
    in_folder(&scratch, "a.vtu", path);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        kiln_soup soup = kiln_test_soup(context, "box", "n=2"), back;
        kiln_soup_field *body;
        ck_assert_int_eq(kiln_soup_add_field(&soup, "body", KILN_ON_TET, 1, &body, NULL), KILN_OK);
        body->whole = true;
        soup.tet_tags.data[soup.tets.count - 1] = cases[c].tag;
        body->data.data[3] = cases[c].body;
        ck_assert_int_eq(kiln_vtu_write(context, path, KILN_ENCODING_BINARY, &soup, NULL), KILN_OK);
        FILE *file = fopen(path, "rb");
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        snprintf(wanted, sizeof wanted, "type=\"%s\" Name=\"region\"", cases[c].region);
        ck_assert_ptr_nonnull(strstr(text, wanted));
        snprintf(wanted, sizeof wanted, "type=\"%s\" Name=\"body\"", cases[c].bodies);
        ck_assert_ptr_nonnull(strstr(text, wanted));
        read_file(context, path, &back);
        assert_same_soup(&soup, &back, KEEPS_MARKS | KEEPS_FIELDS);
        kiln_soup_free(&back);
        kiln_soup_free(&soup);
    }
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(vtu_large_end_first)
{
    static const char head[] =
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"BigEndian\"><UnstructuredGrid>"
        "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"><Points>"
        "<DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/>"
        "</Points><Cells>"
        "<DataArray type=\"Int64\" Name=\"connectivity\" format=\"appended\" offset=\"52\"/>"
        "<DataArray type=\"UInt16\" Name=\"offsets\" format=\"appended\" offset=\"88\"/>"
        "<DataArray type=\"UInt8\" Name=\"types\" format=\"appended\" offset=\"94\"/>"
        "</Cells></Piece></UnstructuredGrid><AppendedData encoding=\"raw\">_";
    char file[sizeof head - 1 + 99], *at = file + sizeof head - 1;
    memcpy(file, head, sizeof head - 1);
    put_big(at, 48, 4);
    for (int i = 0; i < 12; i++)
        put_big_f32(at + 4 + 4 * i, i % 4 == 3 ? 1.5f : 0.0f);
    put_big(at + 52, 32, 4);
    for (int i = 0; i < 4; i++)
        put_big(at + 56 + 8 * i, (uint64_t)i, 8);
    put_big(at + 88, 2, 4);
    put_big(at + 92, 4, 2);
    put_big(at + 94, 1, 4);
    at[98] = 10;
    kiln_context *context = kiln_test_context(1);
    kiln_soup soup;
    read_text(context, "vtu", file, sizeof file, &soup);
    ck_assert_uint_eq(soup.tets.data[0].v[3], 3);
    ck_assert_double_eq(soup.points.data[1].x, 1.5);
    kiln_soup_free(&soup);
    kiln_context_destroy(context);
}
END_TEST

#define GRID(piece) HEAD "<UnstructuredGrid>" piece TAIL
#define VTK         "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"

static const bad_text bad_texts[] = {
    {"vtu", "", 1, "ends"},
    {"vtu", "hello", 1, "ends"},
    {"vtu", "<a/>", 1, "expected <VTKFile"},
    {"vtu", "<VTKFile type=\"PolyData\">", 1, "only UnstructuredGrid"},
    {"vtu", "<VTKFile type=\"UnstructuredGrid\" byte_order=\"Middle\">", 1, "byte_order"},
    {"vtu", "<VTKFile type=\"UnstructuredGrid\" header_type=\"Int\">", 1, "header_type"},
    {"vtu", "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkLZ4DataCompressor\">", 0, "LZ4"},
    {"vtu", "<VTKFile type=UnstructuredGrid>", 1, "quoted"},
    {"vtu", "<VTKFile type=\"UnstructuredGrid>", 1, "does not end"},
    {"vtu", GRID("<Points><DataArray type=\"Int8\"/></Points>"), 1, "before <Piece>"},
    {"vtu", GRID(PIECE("4", "0") "</Piece>"), 1, "no points"},
    {"vtu", GRID(PIECE("x", "0") "</Piece>"), 1, "must be a count"},
    {"vtu", GRID(PIECE("4294967295", "0") POINTS4 "</Piece>"), 1, "more than can be numbered"},
    {"vtu", GRID(PIECE("99999999999999999999999", "0") POINTS4 "</Piece>"), 1, "must be a count"},
    {"vtu", GRID(PIECE("4000000000", "0") POINTS4 "</Piece>"), 1, "more numbers than"},
    {"vtu", GRID(PIECE("5", "0") POINTS4 "</Piece>"), 2, "expected a number"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 "</Piece>"), 2, "lacks connectivity"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 CELLS("0 1 2 4", "4", "10") "</Piece>"), 0,
     "names point 4, but there are only 4"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 CELLS("0 1 2 -1", "4", "10") "</Piece>"), 0, "point -1"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 CELLS("0 1 2 3", "-4", "10") "</Piece>"), 0, "negative"},
    {"vtu", GRID(PIECE("4", "2") POINTS4 CELLS("0 1 2 3", "4 3", "10 5") "</Piece>"), 0, "ends at"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 CELLS("0 1 2 3", "3", "10") "</Piece>"), 0,
     "a tetrahedron with 3 points"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 CELLS("0 1 2 3 0 1 2 3", "8", "12") "</Piece>"), 0,
     "a hexahedron (type 12)"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 CELLS("0 1 2 3", "4", "24") "</Piece>"), 0, "higher"},
    {"vtu", GRID(PIECE("4", "1") POINTS4 CELLS("0 1 2 x", "4", "10") "</Piece>"), 2, "integer"},
    {"vtu",
     GRID(PIECE("1", "0") "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\">0 inf 0"
                          "</DataArray></Points></Piece>"),
     0, "not finite"},
    {"vtu",
     GRID(PIECE("1", "0") "<Points><DataArray type=\"Float64\" NumberOfComponents=\"2\">0 0"
                          "</DataArray></Points></Piece>"),
     1, "3 components"},
    {"vtu",
     GRID(PIECE("1", "0") "<Points><DataArray type=\"Float80\" NumberOfComponents=\"3\">0 0 0"
                          "</DataArray></Points></Piece>"),
     1, "unknown type"},
    {"vtu",
     GRID(PIECE("1", "0") "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" "
                          "format=\"appended\" offset=\"0\"/></Points></Piece>"),
     1, "outside the appended data"},
    {"vtu",
     GRID(PIECE("1", "0") "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" "
                          "format=\"binary\">GAAAAAAA</DataArray></Points></Piece>"),
     1, "ends inside"},
    {"vtu",
     GRID(PIECE("1", "0") "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" "
                          "format=\"binary\">FAAAAAAA</DataArray></Points></Piece>"),
     1, "size in bytes"},
    {"vtk", "", 1, "expected '# vtk"},
    {"vtk", "# vtk DataFile Version 3.0\nt\nTEXT\n", 3, "ASCII or BINARY"},
    {"vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", 0, "POLYDATA"},
    {"vtk", VTK, 5, "before its POINTS"},
    {"vtk", VTK "POINTS 1 float\n0 0\n", 7, "expected a number"},
    {"vtk", VTK "POINTS 4000000000 float\n0 0 0\n", 5, "more than can be numbered"},
    {"vtk", VTK "POINTS 400000 float\n0 0 0\n", 5, "announced"},
    {"vtk", VTK "POINTS 1 quad\n0 0 0\n", 5, "unknown type 'quad'"},
    {"vtk", VTK "POINTS 1 float\n0 nan 0\n", 0, "not finite"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nCELLS 1 5\n4 0 0 0 0\n", 9, "before its CELL_TYPES"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nCELLS 2 5\n4 0 0 0 0\nCELL_TYPES 2\n10 10\n", 0,
     "beyond the list"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nCELLS 9 5\n4 0 0 0 0\nCELL_TYPES 9\n10 10\n", 0,
     "do not fit"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nCELLS 1 5\n4 0 0 0 1\nCELL_TYPES 1\n10\n", 0, "point 1"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nCELLS 1 5\n4 0 0 0 0\nCELL_TYPES 2\n10 10\n", 9,
     "2 cell types for 1"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nCELL_TYPES 1\n10\n", 7, "after POINTS, CELLS"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nPOINT_DATA 2\n", 7, "data for 2 items"},
    {"vtk", VTK "POINTS 1 float\n0 0 0\nWHAT\n", 7, "'WHAT' is not known"},
};

START_TEST(bad_texts_are_explained)
{
    check_bad_text(&bad_texts[_i]);
}
END_TEST

/* Heads of binary arrays that lie, in a file with 8-byte heads and zlib. */
START_TEST(vtu_block_lists_that_lie)
{
    static const char head[] =
        "<VTKFile type=\"UnstructuredGrid\" header_type=\"UInt64\" "
        "compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid>"
        "<Piece NumberOfPoints=\"1000\" NumberOfCells=\"0\"><Points>"
        "<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/>"
        "</Points></Piece></UnstructuredGrid><AppendedData encoding=\"raw\">_";
    static const uint64_t lists[][5] = {
        {0, 0, 0, 0, 0},
        {1, 24000, 0, 8, 0},
        {1, 24000, 0, UINT64_MAX, 0},
        {1, 24000, 0, 1 << 20, 0},
        {UINT64_MAX, 24000, 0, 8, 0},
        {(uint64_t)1 << 61, 24000, 0, 8, 0},
        {2, 24000, 0, 8, 0},
        {2, 12000, 0, 4, 4},
        {1, 0, 0, 8, 0},
        {1, 12000, 24000, 8, 0},
        {(uint64_t)1 << 32, (uint64_t)1 << 32, 24000, 8, 0},
        {1, UINT64_MAX, 24000, 8, 0},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char file[sizeof head - 1 + sizeof lists[0] + 8];
        memset(file, 0x55, sizeof file);
        memcpy(file, head, sizeof head - 1);
        memcpy(file + sizeof head - 1, lists[i], sizeof lists[i]);
        kiln_error error = {0};
        ck_assert_int_eq(read_limited("vtu", file, sizeof file, &error), KILN_ERR_INPUT);
        ck_assert_int_ge(error.byte, 0);
    }
}
END_TEST

/* Samples of all layouts in memory. */
static char *sample(int layout_index, size_t *size)
{
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup soup;
    char path[160];
    fill_fixture(&soup, context);
    kiln_vtu_layout layout = layout_number(layout_index);
    in_folder(&scratch, "a.vtu", path);
    ck_assert_int_eq(kiln_vtu_write_as(context, path, &layout, &soup, NULL), KILN_OK);
    char *bytes = file_bytes(path, size);
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
    return bytes;
}

START_TEST(vtu_cut_at_every_byte)
{
    static const int which[] = {0, 1, 2, 3, 4, 5, 6, 20, 22};
    size_t size;
    char *bytes = sample(which[_i], &size);
    bool appended = which[_i] % 4 < 2;
    check_cuts("vtu", bytes, size, appended ? strlen("==\n</AppendedData>\n</VTKFile>\n") : 1);
    check_damage("vtu", bytes, size, kiln_test_rounds(1000, 200000));
    free(bytes);
}
END_TEST

START_TEST(vtu_allocations_may_fail)
{
    folder scratch = make_folder();
    char path[160];
    in_folder(&scratch, "a.vtu", path);
    for (int i = 0; i < 7; i++) {
        kiln_context *context = kiln_test_context(1);
        kiln_soup soup;
        fill_fixture(&soup, context);
        kiln_vtu_layout layout = layout_number(i);
        ck_assert_int_eq(kiln_vtu_write_as(context, path, &layout, &soup, NULL), KILN_OK);
        kiln_soup_free(&soup);
        kiln_context_destroy(context);
        check_read_failures(path);
    }
    check_write_failures("vtu", KILN_ENCODING_ANY);
    check_write_failures("vtu", KILN_ENCODING_ASCII);
    remove_folder(&scratch);
}
END_TEST

/* The same grid in the forms legacy files come in. */
#define LEGACY_POINTS "POINTS 5 double\n0 0 0 1 0 0\n0 1 0 0 0 1 0.5 0.25 1e-3\n"
#define LEGACY_OLD    "CELLS 4 14\n4 0 1 2 3\n3 0 1 2\n1 4\n2 3 4\n\nCELL_TYPES 4\n10 5 1 3\n"
#define LEGACY_NEW                                                                                 \
    "CELLS 5 10\nOFFSETS vtktypeint64\n0 4 7 8 10\nCONNECTIVITY vtktypeint64\n0 1 2 3 0 1 2 4 3 "  \
    "4\nCELL_TYPES 4\n10\n5\n1\n3\n"
#define LEGACY_DATA                                                                                \
    "CELL_DATA 4\nSCALARS region int 1\nLOOKUP_TABLE default\n5 6 7 8\nSCALARS w float\n"          \
    "LOOKUP_TABLE t\n0.5 1.5 2.5 3.5\nLOOKUP_TABLE t 1\n0 0 0 1\nPOINT_DATA 5\n"                   \
    "VECTORS a%20b float\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\nMETADATA\nINFORMATION 0\n\n"        \
    "FIELD FieldData 2\nk 2 5 long\n0 1 2 3 4 5 6 7 8 9\nother 1 3 float\n1 2 3\n"

static void check_legacy(const kiln_soup *soup, bool data)
{
    ck_assert_uint_eq(soup->points.count, 5);
    ck_assert_double_eq(soup->points.data[4].z, 1e-3);
    ck_assert_uint_eq(soup->tets.count, 1);
    ck_assert_uint_eq(soup->tets.data[0].v[3], 3);
    ck_assert_uint_eq(soup->triangles.count, 1);
    ck_assert_uint_eq(soup->edges.count, 1);
    ck_assert_uint_eq(soup->edges.data[0].v[1], 4);
    if (!data)
        return;
    ck_assert_int_eq(soup->tet_tags.data[0], 5);
    ck_assert_int_eq(soup->edge_tags.data[0], 8);
    ck_assert_double_eq(kiln_soup_find_field(soup, KILN_ON_FACE, "w")->data.data[0], 1.5);
    ck_assert_double_eq(kiln_soup_find_field(soup, KILN_ON_VERTEX, "a b")->data.data[14], 15);
    ck_assert_double_eq(kiln_soup_find_field(soup, KILN_ON_VERTEX, "k")->data.data[9], 9);
    ck_assert_ptr_null(kiln_soup_find_field(soup, KILN_ON_VERTEX, "other"));
}

static const char *const legacy_texts[] = {
    VTK LEGACY_POINTS LEGACY_OLD LEGACY_DATA,
    "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n" LEGACY_POINTS LEGACY_NEW
        LEGACY_DATA,
    "# vtk DataFile Version 2.0\r\nt\r\nASCII\r\nDATASET UNSTRUCTURED_GRID\r\n" LEGACY_POINTS
        LEGACY_OLD LEGACY_DATA,
};

START_TEST(legacy_texts_are_read)
{
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < 3; i++) {
        kiln_soup soup;
        const char *text = legacy_texts[i];
        read_text(context, "vtk", text, strlen(text), &soup);
        check_legacy(&soup, true);
        kiln_soup_free(&soup);
        check_damage("vtk", text, strlen(text), kiln_test_rounds(1000, 200000));
        for (size_t cut = 0; cut < strlen(text); cut++) {
            kiln_error error;
            ck_assert_int_ne(read_limited("vtk", text, cut, &error), KILN_ERR_MEMORY);
        }
    }
    kiln_context_destroy(context);
}
END_TEST

static size_t append(char *file, size_t at, const char *text)
{
    memcpy(file + at, text, strlen(text));
    return at + strlen(text);
}

START_TEST(legacy_binaries_are_read)
{
    static const double xyz[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5, 0.25, 1e-3};
    static const uint32_t cells[14] = {4, 0, 1, 2, 3, 3, 0, 1, 2, 1, 4, 2, 3, 4};
    static const uint32_t types[4] = {10, 5, 1, 3};
    static const uint64_t offsets[5] = {0, 4, 7, 8, 10}, list[10] = {0, 1, 2, 3, 0, 1, 2, 4, 3, 4};
    kiln_context *context = kiln_test_context(1);
    for (int version = 3; version <= 5; version += 2) {
        char file[1024];
        size_t at = append(file, 0,
                           "# vtk DataFile Version 3.0\nt\nBINARY\n"
                           "DATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n");
        for (int i = 0; i < 15; i++, at += 8) {
            uint64_t bits;
            memcpy(&bits, &xyz[i], 8);
            put_big(file + at, bits, 8);
        }
        if (version == 3) {
            at = append(file, at, "\nCELLS 4 14\n");
            for (int i = 0; i < 14; i++, at += 4)
                put_big(file + at, cells[i], 4);
        } else {
            at = append(file, at, "\nCELLS 5 10\nOFFSETS vtktypeint64\n");
            for (int i = 0; i < 5; i++, at += 8)
                put_big(file + at, offsets[i], 8);
            at = append(file, at, "\nCONNECTIVITY vtktypeint64\n");
            for (int i = 0; i < 10; i++, at += 8)
                put_big(file + at, list[i], 8);
        }
        at = append(file, at, "\nCELL_TYPES 4\n");
        for (int i = 0; i < 4; i++, at += 4)
            put_big(file + at, types[i], 4);
        kiln_soup soup;
        read_text(context, "vtk", file, at, &soup);
        check_legacy(&soup, false);
        kiln_soup_free(&soup);
        check_damage("vtk", file, at, kiln_test_rounds(1000, 200000));
        /* Cut before the types it is no grid; a cut grid of points alone cannot be told. */
        for (size_t cut = 0; cut < at; cut++) {
            kiln_error error;
            kiln_status status = read_limited("vtk", file, cut, &error);
            ck_assert_int_ne(status, KILN_ERR_MEMORY);
            if (cut > 230 && version == 3)
                ck_assert_int_ne(status, KILN_OK);
        }
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(legacy_allocations_may_fail)
{
    folder scratch = make_folder();
    char path[160];
    in_folder(&scratch, "a.vtk", path);
    for (size_t i = 0; i < 3; i++) {
        FILE *file = fopen(path, "wb");
        fwrite(legacy_texts[i], 1, strlen(legacy_texts[i]), file);
        fclose(file);
        check_read_failures(path);
    }
    remove_folder(&scratch);
}
END_TEST

/* Numbers that cannot be packed are stored; what can be is packed, in the same file. */
START_TEST(noise_is_stored)
{
    kiln_context *context = kiln_test_context(2);
    folder scratch = make_folder();
    kiln_soup soup, found;
    kiln_soup_init(&soup, context);
    kiln_soup_init(&found, context);
    kiln_random random = kiln_random_start(8, 1);
    enum { POINTS = 60000 };
    for (int i = 0; i < POINTS; i++) {
        kiln_vec3 p = {kiln_random_unit(&random), kiln_random_unit(&random) * 1e-3,
                       kiln_random_unit(&random) * 1e3};
        ck_assert_int_eq(kiln_array_push(context, &soup.points, p, NULL), KILN_OK);
    }
    for (uint32_t i = 0; i + 3 < POINTS; i += 4) {
        kiln_soup_tet t = {{i, i + 1, i + 2, i + 3}};
        ck_assert_int_eq(kiln_array_push(context, &soup.tets, t, NULL), KILN_OK);
    }
    kiln_soup_field *zero;
    ck_assert_int_eq(kiln_soup_add_field(&soup, "zero", KILN_ON_VERTEX, 3, &zero, NULL), KILN_OK);
    char path[160];
    in_folder(&scratch, "a.vtu", path);
    ck_assert_int_eq(kiln_vtu_write(context, path, KILN_ENCODING_BINARY, &soup, NULL), KILN_OK);
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    long size = ftell(file), raw = POINTS * 24;
    fclose(file);
    ck_assert_int_gt(size, raw);
    ck_assert_int_lt(size, raw + raw / 4);
    ck_assert_int_eq(kiln_soup_read(context, path, NULL, &found, NULL), KILN_OK);
    ck_assert_uint_eq(found.points.count, POINTS);
    ck_assert_int_eq(memcmp(found.points.data, soup.points.data, (size_t)raw), 0);
    const double *values = kiln_soup_find_field(&found, KILN_ON_VERTEX, "zero")->data.data;
    for (int i = 0; i < 3 * POINTS; i++)
        ck_assert(values[i] == 0.0);
    kiln_soup_free(&soup);
    kiln_soup_free(&found);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("vtk");
    TCase *all = kiln_test_case(suite, "vtk");
    tcase_add_test(all, vtu_layouts_round_trip);
    tcase_add_test(all, vtu_special_soups_round_trip);
    tcase_add_test(all, vtu_bytes_do_not_depend_on_threads);
    tcase_add_test(all, vtu_from_others);
    tcase_add_test(all, vtu_tells_patches_from_regions);
    tcase_add_test(all, vtu_numbers_of_things);
    tcase_add_test(all, vtu_large_end_first);
    tcase_add_loop_test(all, bad_texts_are_explained, 0, sizeof bad_texts / sizeof bad_texts[0]);
    tcase_add_test(all, vtu_block_lists_that_lie);
    tcase_add_loop_test(all, vtu_cut_at_every_byte, 0, 9);
    tcase_add_test(all, vtu_allocations_may_fail);
    tcase_add_test(all, legacy_texts_are_read);
    tcase_add_test(all, legacy_binaries_are_read);
    tcase_add_test(all, legacy_allocations_may_fail);
    tcase_add_test(all, noise_is_stored);
    return suite;
}

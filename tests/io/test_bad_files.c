/* Files that are broken, cut short or lie: a clear error with a place, never a crash, a leak or a
 * huge allocation. */
#include "fixture.h"
#include "io/medit.h"
#include "io/tetgen.h"

/* Fails every allocation beyond a limit, so that believing a lie shows. */
typedef struct small_heap {
    size_t limit;
    size_t live;
    bool exceeded;
} small_heap;

static void *resize_small(void *user, void *block, size_t old_size, size_t new_size)
{
    small_heap *heap = user;
    heap->live -= old_size;
    heap->live += new_size;
    heap->exceeded |= new_size > heap->limit;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static kiln_context *small_context(small_heap *heap)
{
    *heap = (small_heap){.limit = 1 << 20};
    kiln_context_options options = kiln_context_default_options();
    options.allocator = (kiln_allocator){resize_small, heap};
    options.threads = 1;
    kiln_context *context = NULL;
    ck_assert_int_eq(kiln_context_create(&options, &context, NULL), KILN_OK);
    return context;
}

/* Reads a copy of exactly `size` bytes. Checks what every outcome must fulfil. */
static kiln_status read_copy(const char *format, const void *bytes, size_t size, kiln_error *error)
{
    small_heap heap;
    kiln_context *context = small_context(&heap);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    kiln_source source;
    kiln_soup soup;
    kiln_source_from_memory(&source, context, "bad", copy, size);
    kiln_status status;
    if (strcmp(format, "sol") == 0) {
        fixture_mesh(&soup, context);
        status = kiln_sol_read(&source, &soup, error);
    } else {
        kiln_soup_init(&soup, context);
        status = kiln_soup_read_source(kiln_format_by_name(format), &source, &soup, error);
        ck_assert(status == KILN_OK || soup.points.data == NULL);
    }
    kiln_soup_free(&soup);
    kiln_source_close(&source);
    free(copy);
    kiln_context_destroy(context);
    ck_assert_uint_eq(heap.live, 0);
    ck_assert_msg(!heap.exceeded, "a large block was asked for a file of %zu bytes", size);
    if (status != KILN_OK) {
        ck_assert_int_eq(status, error->status);
        ck_assert_str_eq(error->place, "bad");
        ck_assert(error->message[0]);
    }
    return status;
}

#define GMSH2  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define GMSH4  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define MEDIT  "MeshVersionFormatted 2\nDimension 3\n"
#define NODES2 "$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n"
#define NODES4 "$Nodes\n1 2 1 2\n3 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n"

static const struct bad {
    const char *format, *text;
    int line;
    const char *message;
} bad_texts[] = {
    {"medit", "", 1, "empty"},
    {"medit", "   \n\n", 3, "empty"},
    {"medit", "garbage", 1, "MeshVersionFormatted"},
    {"medit", "MeshVersionFormatted 9\n", 1, "version"},
    {"medit", "MeshVersionFormatted two\n", 1, "integer"},
    {"medit", "MeshVersionFormatted 2\nDimension 2\n", 2, "dimension is 2"},
    {"medit", MEDIT "Vertices\n4000000000\n0 0 0 0\nEnd\n", 4, "announced"},
    {"medit", MEDIT "Vertices\n99999999999999999999\n0 0 0 0\nEnd\n", 4, "99999999999999999999"},
    {"medit", MEDIT "Vertices\n-1\nEnd\n", 4, "-1"},
    {"medit", MEDIT "Vertices\n1\n0 nan 0 0\nEnd\n", 5, "finite"},
    {"medit", MEDIT "Vertices\n1\n0 1e999 0 0\nEnd\n", 5, "finite"},
    {"medit", MEDIT "Vertices\n1\n0 0 zero 0\nEnd\n", 5, "'zero'"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 1.5\nEnd\n", 5, "integer"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 5000000000\nEnd\n", 5, "5000000000"},
    {"medit", MEDIT "Vertices\n2\n0 0 0 0\nEnd     \n", 6, "'End'"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\nVertices\n1\n0 0 0 0\nEnd\n", 6, "second"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\nTetrahedra\n1\n1 1 1 2 0\nEnd\n", 8, "1 to 1"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\nTetrahedra\n1\n1 1 1 0 0\nEnd\n", 8, "1 to 1"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\nTetrahedra\n1\n1 1 1 -4 0\nEnd\n", 8, "-4"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\nTetrahedra\n90000000\n1 1 1 1 0\nEnd\n", 7, "announced"},
    {"medit", MEDIT "Tetrahedra\n1\n1 1 1 7 0\nVertices\n1\n0 0 0 0\nEnd\n", 0, "only 1"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\nRidges\n1\n1\nEnd\n", 0, "only 0"},
    {"medit", MEDIT "TetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 0\nEnd\n", 3, "quadratic"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\n77\nEnd\n", 6, "keyword"},
    {"medit", MEDIT "Vertices\n1\n0 0 0 0\n", 6, "'End'"},
    {"medit", MEDIT "End\n", 3, "no points"},
    {"gmsh", "", 1, "empty"},
    {"gmsh", "hello\n", 1, "section"},
    {"gmsh", "$Nodes\n0\n$EndNodes\n", 2, "$MeshFormat"},
    {"gmsh", "$MeshFormat\n4.0 0 8\n$EndMeshFormat\n", 2, "version 4.0"},
    {"gmsh", "$MeshFormat\n1 0 8\n$EndMeshFormat\n", 2, "version 1"},
    {"gmsh", "$MeshFormat\n2.2 0 4\n$EndMeshFormat\n", 2, "data size"},
    {"gmsh", "$MeshFormat\n2.2 2 8\n$EndMeshFormat\n", 2, "file type"},
    {"gmsh", GMSH2 "$Nodes\n1\n", 6, "announced"},
    {"gmsh", GMSH2 "$Nodes\n4000000000\n1 0 0 0\n$EndNodes\n", 6, "announced"},
    {"gmsh", GMSH2 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", 7, "two nodes"},
    {"gmsh", GMSH2 "$Nodes\n1\n-1 0 0 0\n$EndNodes\n", 6, "negative"},
    {"gmsh", GMSH2 "$Nodes\n1\n1 0 inf 0\n$EndNodes\n", 6, "finite"},
    {"gmsh", GMSH2 "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n", 7, "$EndNodes"},
    {"gmsh", GMSH2 "$Elements\n0\n$EndElements\n", 5, "before $Nodes"},
    {"gmsh", GMSH2 NODES2, 9, "no $Elements"},
    {"gmsh", GMSH2 NODES2 NODES2, 10, "second $Nodes"},
    {"gmsh", GMSH2 NODES2 "$Elements\n1\n1 4 2 0 0 1 2 1 3\n$EndElements\n", 11, "node 3"},
    {"gmsh", GMSH2 NODES2 "$Elements\n1\n1 4 2 0 0 1 2 1 -3\n$EndElements\n", 11, "-3"},
    {"gmsh", GMSH2 NODES2 "$Elements\n1\n1 11 0 1 1 1 1 1 1 1 1 1 1\n$EndElements\n", 11,
     "higher order"},
    {"gmsh", GMSH2 NODES2 "$Elements\n1\n1 999 0 1 1\n$EndElements\n", 11, "type 999"},
    {"gmsh", GMSH2 NODES2 "$Elements\n1\n1 4 -1 1 1 1 1\n$EndElements\n", 11, "number of tags"},
    {"gmsh", GMSH2 NODES2 "$Elements\n99999999\n1 4 0 1 1 1 1\n$EndElements\n", 11, "announced"},
    {"gmsh",
     GMSH2 NODES2 "$Elements\n0\n$EndElements\n$NodeData\n1\n\"t\"\n1\n0\n3\n0\n1\n1\n5 "
                  "1\n$EndNodeData\n",
     21, "node 5"},
    {"gmsh",
     GMSH2 NODES2 "$Elements\n0\n$EndElements\n$NodeData\n1\n\"t\"\n1\n0\n3\n0\n1\n1\n1 "
                  "nan\n$EndNodeData\n",
     21, "finite"},
    {"gmsh",
     GMSH2 NODES2 "$Elements\n0\n$EndElements\n$NodeData\n1\n\"t\"\n1\n0\n3\n0\n0\n1\n1 "
                  "1\n$EndNodeData\n",
     21, "components"},
    {"gmsh",
     GMSH2 NODES2 "$Elements\n0\n$EndElements\n$NodeData\n1\n\"t\"\n1\n0\n3\n0\n1\n77777\n1 "
                  "1\n$EndNodeData\n",
     21, "announced"},
    {"gmsh", GMSH2 "$Strange\nunknown\n", 5, "no $EndStrange"},
    {"gmsh", GMSH4 "$Nodes\n1 4000000000 1 2\n3 1 0 2\n$EndNodes\n", 5, "announced"},
    {"gmsh", GMSH4 "$Nodes\n1 2 1 2\n3 1 0 3\n1\n2\n3\n0 0 0\n0 0 0\n0 0 0\n$EndNodes\n", 6,
     "block"},
    {"gmsh", GMSH4 "$Nodes\n1 2 1 2\n3 1 0 1\n1\n0 0 0\n$EndNodes\n", 8, "missing"},
    {"gmsh", GMSH4 "$Nodes\n1 1 1 2\n7 1 0 1\n1\n0 0 0\n$EndNodes\n", 6, "head"},
    {"gmsh", GMSH4 "$Entities\n99999999 0 0 0\n$EndEntities\n", 5, "announced"},
    {"gmsh", GMSH4 NODES4 "$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 1 9\n$EndElements\n", 15, "node 9"},
    {"gmsh", GMSH4 NODES4 "$Elements\n1 1 1 1\n3 1 4 2\n1 1 2 1 1\n$EndElements\n", 14, "block"},
    {"gmsh", GMSH4 NODES4 "$Elements\n1 1 1 1\n3 1 11 1\n1 1\n$EndElements\n", 14, "higher"},
    {"gmsh", GMSH4 NODES4 "$Elements\n1 2 1 1\n3 1 4 1\n1 1 2 1 1\n$EndElements\n", 15, "missing"},
    {"gmsh", GMSH4 NODES4 "$Elements\n77777777 1 1 1\n3 1 4 1\n1 1 2 1 1\n$EndElements\n", 13,
     "announced"},
    {"tetgen", "", 1, "ends"},
    {"tetgen", "points\n", 1, "integer"},
    {"tetgen", "1 2 0 0\n1 0 0\n", 2, "dimension is 2"},
    {"tetgen", "4000000000 3 0 0\n1 0 0 0\n", 2, "announced"},
    {"tetgen", "1 3 0 0\n5 0 0 0\n", 2, "first point"},
    {"tetgen", "2 3 0 0\n1 0 0 0\n1 0 0 0\n", 3, "number 1 where 2"},
    {"tetgen", "1 3 0 0\n1 0 0 inf\n", 2, "finite"},
    {"tetgen", "1 3 1 1\n1 0 0 0 3\n", 3, "marker"},
    {"tetgen", "1 3 0 -4\n1 0 0 0 3\n", 1, "-4"},
    {"sol", MEDIT "SolAtVertices\n29\n1 1\n0\nEnd\n", 4, "mesh has 30"},
    {"sol", MEDIT "SolAtVertices\n30\n0\nEnd\n", 5, "number of fields"},
    {"sol", MEDIT "SolAtVertices\n30\n1 5\nEnd\n", 5, "type"},
    {"sol", MEDIT "SolAtVertices\n30\n1 1\n1 2 3\nEnd\n", 5, "announced"},
    {"sol", MEDIT "SolAtVertices\n4000000000\n1 1\n1 2 3\nEnd\n", 4, "mesh has 30"},
};

START_TEST(bad_texts_are_explained)
{
    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        kiln_error error;
        char text[800];
        const struct bad *bad = &bad_texts[i];
        kiln_status status = read_copy(bad->format, bad->text, strlen(bad->text), &error);
        ck_assert_msg(status == KILN_ERR_INPUT, "%s case %zu: status %d", bad->format, i, status);
        kiln_error_format(&error, text, sizeof text);
        ck_assert_msg(error.line == bad->line, "line %d expected: %s", bad->line, text);
        ck_assert_msg(strstr(error.message, bad->message) != NULL, "'%s' expected: %s",
                      bad->message, text);
    }
}
END_TEST

/* Small binary Medit files, as 32-bit words. */
START_TEST(bad_binaries_are_explained)
{
    static const struct {
        uint32_t words[20];
        size_t count;
        long long byte;
        const char *message;
    } bad[] = {
        {{1, 7}, 2, 4, "version 7"},
        {{1, 0}, 2, 4, "version 0"},
        {{1, 2}, 2, 8, "keyword"},
        {{1, 2, 3, 20, 2, 54, 0}, 7, 20, "dimension is 2"},
        {{1, 2, 3, 900, 3, 54, 0}, 7, 8, "byte 900"},
        {{1, 2, 3, 4, 3, 54, 0}, 7, 8, "byte 4"},
        {{1, 2, 3, 0, 3, 54, 0}, 7, 20, "End"},
        {{1, 2, 3, 16, 3, 54, 0}, 7, 20, "runs into"},
        {{1, 2, 3, 20, 3, 4, 40, 4000000000u, 0, 0, 0}, 11, 32, "announced"},
        {{1, 2, 3, 20, 3, 8, 40, 100000, 0, 0, 0}, 11, 32, "announced"},
        {{1, 2, 3, 20, 3, 4, 60, 1, 0, 0x7ff80000, 0, 0, 0, 0, 0, 54, 0}, 17, 32, "not finite"},
        {{1, 2, 3, 20, 3, 8, 52, 1, 0, 1, 1, 1, 0, 54, 0}, 15, 32, "number 0"},
        {{1, 2, 3, 20, 3, 30, 52, 1, 0, 1, 1, 1, 0, 54, 0}, 15, 28, "quadratic"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        kiln_error error;
        char text[800];
        kiln_status status = read_copy("medit", bad[i].words, 4 * bad[i].count, &error);
        ck_assert_msg(status == KILN_ERR_INPUT, "case %zu: status %d", i, status);
        kiln_error_format(&error, text, sizeof text);
        ck_assert_msg(error.byte == bad[i].byte, "byte %lld expected: %s", bad[i].byte, text);
        ck_assert_msg(strstr(error.message, bad[i].message) != NULL, "'%s' expected: %s",
                      bad[i].message, text);
    }
    /* 64-bit counts that no multiplication survives. */
    static const uint64_t claims[] = {UINT64_MAX, (uint64_t)1 << 63, (uint64_t)1 << 61,
                                      (uint64_t)1 << 32, UINT32_MAX};
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++)
        for (uint32_t code = 4; code <= 17; code++) {
            uint32_t words[16] = {1, 4, 3, 24, 0, 3, code, 64, 0};
            kiln_error error;
            memcpy(&words[9], &claims[i], 8);
            bool known = code != 11 && code != 12 && code != 7 && code != 9 && code != 10;
            kiln_status status = read_copy("medit", words, sizeof words, &error);
            ck_assert_int_eq(status, KILN_ERR_INPUT);
            ck_assert(!known || error.byte == 44);
        }
}
END_TEST

/* Files of each form made from a soup, in memory. */
typedef struct sample {
    const char *format;
    char *bytes;
    size_t size;
    size_t complete; /* shortest length that may be read without an error */
} sample;

enum { SAMPLES = 8 };

static void make_samples(sample *samples, bool fields)
{
    static const struct {
        const char *format, *file;
        kiln_encoding encoding;
        size_t tail; /* bytes at the end that can be missed */
    } forms[SAMPLES] = {
        {"medit", "a.mesh", KILN_ENCODING_ASCII, 1},  {"medit", "a.meshb", KILN_ENCODING_BINARY, 4},
        {"gmsh22", "a.msh", KILN_ENCODING_ASCII, 1},  {"gmsh22", "a.msh", KILN_ENCODING_BINARY, 1},
        {"gmsh", "a.msh", KILN_ENCODING_ASCII, 1},    {"gmsh", "a.msh", KILN_ENCODING_BINARY, 1},
        {"tetgen", "a.node", KILN_ENCODING_ASCII, 0}, {"sol", "a.sol", KILN_ENCODING_ASCII, 1},
    };
    kiln_context *context = kiln_test_context(1);
    folder scratch = make_folder();
    kiln_soup soup;
    char path[160];
    fixture_mesh(&soup, context);
    for (int i = 0; i < SAMPLES; i++) {
        bool sol = strcmp(forms[i].format, "sol") == 0;
        if ((fields || sol) && soup.fields.count == 0)
            fixture_fields(&soup);
        kiln_format_options options = {forms[i].format, forms[i].encoding};
        in_folder(&scratch, forms[i].file, path);
        ck_assert_int_eq(kiln_soup_write(context, path, &options, &soup, NULL), KILN_OK);
        samples[i].format = forms[i].format;
        samples[i].bytes = file_bytes(path, &samples[i].size);
        samples[i].complete = samples[i].size - forms[i].tail;
    }
    kiln_soup_free(&soup);
    remove_folder(&scratch);
    kiln_context_destroy(context);
}

START_TEST(cut_files_are_refused_at_every_byte)
{
    sample samples[SAMPLES];
    make_samples(samples, false);
    for (int i = 0; i < SAMPLES; i++) {
        for (size_t size = 0; size <= samples[i].size; size++) {
            kiln_error error;
            char text[800];
            kiln_status status = read_copy(samples[i].format, samples[i].bytes, size, &error);
            if (size == samples[i].size) {
                ck_assert_int_eq(status, KILN_OK);
            } else if (status == KILN_OK) {
                ck_assert_msg(size >= samples[i].complete,
                              "%s (sample %d) accepted with %zu of %zu bytes", samples[i].format, i,
                              size, samples[i].size);
            } else {
                kiln_error_format(&error, text, sizeof text);
                ck_assert_msg(error.line > 0 || error.byte >= 0, "no place: %s", text);
            }
        }
        free(samples[i].bytes);
    }
}
END_TEST

START_TEST(damaged_bytes_do_no_harm)
{
    sample samples[SAMPLES];
    make_samples(samples, true);
    kiln_random random = kiln_random_start(77, 0);
    uint64_t rounds = kiln_test_rounds(3000, 1000000);
    for (int i = 0; i < SAMPLES; i++) {
        size_t size = samples[i].size;
        char *damaged = malloc(size);
        for (uint64_t k = 0; k < rounds; k++) {
            memcpy(damaged, samples[i].bytes, size);
            int hits = 1 + (int)below(&random, 3);
            for (int h = 0; h < hits; h++) {
                size_t at = kiln_random_u64(&random) % size;
                uint64_t bits = kiln_random_u64(&random);
                damaged[at] = (char)(h % 2 ? bits : bits % 2 ? 0xFF : '9');
            }
            kiln_error error;
            read_copy(samples[i].format, damaged, size - below(&random, 2) * (size / 3), &error);
        }
        free(damaged);
        free(samples[i].bytes);
    }
}
END_TEST

/* Element numbers that wrap round in 64 bits, with a field that looks them up. */
START_TEST(negative_element_numbers_are_refused)
{
    static const char head[] = "$MeshFormat\n2.2 1 8\n\1\0\0\0\n$EndMeshFormat\n$Nodes\n1\n";
    static const char tail[] = "\n$EndElements\n$ElementData\n1\n\"t\"\n1\n0\n3\n0\n1\n0\n\n"
                               "$EndElementData\n";
    static const uint32_t block[] = {4, 2, 0, 5, 1, 1, 1, 1, UINT32_MAX, 1, 1, 1, 1};
    const uint32_t node = 1;
    const double zero[3] = {0, 0, 0};
    char bytes[512];
    size_t size = 0;
    kiln_error error;
#define ADD(data, count) (memcpy(bytes + size, (data), (count)), size += (count))
    ADD(head, sizeof head - 1);
    ADD(&node, sizeof node);
    ADD(zero, sizeof zero);
    ADD("\n$EndNodes\n$Elements\n2\n", 23);
    ADD(block, sizeof block);
    ADD(tail, sizeof tail - 1);
#undef ADD
    ck_assert_int_eq(read_copy("gmsh", bytes, size, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "number -1") != NULL, "%s", error.message);
}
END_TEST

START_TEST(tetgen_parts_must_fit)
{
    static const struct {
        const char *ele, *face;
        int line;
        const char *place, *message;
    } bad[] = {
        {"1 4 0\n1 1 1 1 3\n", NULL, 2, "a.ele", "1 to 2"},
        {"1 4 0\n1 0 1 1 2\n", NULL, 2, "a.ele", "1 to 2"},
        {"1 10 0\n1 1 1 1 2\n", NULL, 2, "a.ele", "10 nodes"},
        {"80000000 4 0\n1 1 1 1 2\n", NULL, 2, "a.ele", "announced"},
        {"1 4 900\n1 1 1 1 2\n", NULL, 2, "a.ele", "announced"},
        {"2 4 0\n1 1 1 1 2\n1 1 1 1 2\n", NULL, 3, "a.ele", "where 2"},
        {NULL, "1 1\n1 1 2 2\n", 3, "a.face", "ends"},
        {NULL, "1 1\n1 1 2 2 x\n", 2, "a.face", "'x'"},
        {NULL, "1 0\n1 1 2 77\n", 2, "a.face", "77"},
    };
    static const char node[] = "2 3 0 0\n1 0 0 0\n2 1 0 0\n";
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        small_heap heap;
        kiln_context *context = small_context(&heap);
        kiln_source sources[3], *parts[KILN_TETGEN_PARTS] = {&sources[0]};
        kiln_error error;
        kiln_soup soup;
        kiln_soup_init(&soup, context);
        kiln_source_from_memory(&sources[0], context, "a.node", node, sizeof node - 1);
        if (bad[i].ele) {
            kiln_source_from_memory(&sources[1], context, "a.ele", bad[i].ele, strlen(bad[i].ele));
            parts[KILN_TETGEN_ELE] = &sources[1];
        }
        if (bad[i].face) {
            kiln_source_from_memory(&sources[2], context, "a.face", bad[i].face,
                                    strlen(bad[i].face));
            parts[KILN_TETGEN_FACE] = &sources[2];
        }
        ck_assert_int_eq(kiln_tetgen_read_parts(parts, &soup, &error), KILN_ERR_INPUT);
        ck_assert_str_eq(error.place, bad[i].place);
        ck_assert_msg(strstr(error.message, bad[i].message) != NULL, "'%s' expected: %s",
                      bad[i].message, error.message);
        ck_assert_int_eq(error.line, bad[i].line);
        kiln_soup_free(&soup);
        kiln_context_destroy(context);
        ck_assert(!heap.exceeded);
        ck_assert_uint_eq(heap.live, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("bad files");
    TCase *all = kiln_test_case(suite, "bad files");
    tcase_add_test(all, bad_texts_are_explained);
    tcase_add_test(all, bad_binaries_are_explained);
    tcase_add_test(all, cut_files_are_refused_at_every_byte);
    tcase_add_test(all, damaged_bytes_do_no_harm);
    tcase_add_test(all, negative_element_numbers_are_refused);
    tcase_add_test(all, tetgen_parts_must_fit);
    return suite;
}

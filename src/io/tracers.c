#include "io/tracers.h"

#include "io/sink.h"
#include "io/source.h"

/* The arrays of the file, in order: raw, each after its length in bytes. */
static const struct {
    const char *open, *name;
    int components;
    const char *type;
} arrays[] = {{"<Points>", "Points", 3, "Float64"},
              {"<PointData>", "velocity", 3, "Float64"},
              {"", "age", 1, "Float64"},
              {"", "number", 1, "Int64"},
              {"<Verts>", "connectivity", 1, "Int64"},
              {"", "offsets", 1, "Int64"}};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static void put_head(kiln_sink *sink, size_t count)
{
    static const char *const close[ARRAYS] = {"</Points>", "", "", "</PointData>", "", "</Verts>"};
    uint64_t offset = 0;
    kiln_sink_text(sink, "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
                         "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n");
    kiln_sink_format(sink, "<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\">\n", count, count);
    for (int a = 0; a < ARRAYS; a++) {
        kiln_sink_format(sink,
                         "%s<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                         "format=\"appended\" offset=\"%llu\"/>%s\n",
                         arrays[a].open, arrays[a].type, arrays[a].name, arrays[a].components,
                         (unsigned long long)offset, close[a]);
        offset += 8 + 8 * (uint64_t)arrays[a].components * count;
    }
    kiln_sink_text(sink, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
}

static void put_vector(kiln_sink *sink, kiln_vec3 v)
{
    kiln_sink_f64(sink, v.x);
    kiln_sink_f64(sink, v.y);
    kiln_sink_f64(sink, v.z);
}

static void put_row(kiln_sink *sink, int array, size_t row, const kiln_tracer_place *one)
{
    switch (array) {
    case 0:
        put_vector(sink, one->x);
        break;
    case 1:
        put_vector(sink, one->velocity);
        break;
    case 2:
        kiln_sink_f64(sink, one->age);
        break;
    case 3:
        kiln_sink_u64(sink, one->number);
        break;
    default: /* each point is a cell of its own */
        kiln_sink_u64(sink, array == 4 ? row : row + 1);
    }
}

kiln_status kiln_tracers_write(kiln_context *context, const char *path, const kiln_world *world,
                               kiln_error *error)
{
    kiln_sink sink;
    size_t count = kiln_world_tracer_count(world);
    KILN_TRY(kiln_sink_open(&sink, context, path, error));
    put_head(&sink, count);
    for (int a = 0; a < ARRAYS; a++) {
        kiln_sink_u64(&sink, 8 * (uint64_t)arrays[a].components * count);
        for (size_t i = 0; i < count; i++) {
            const kiln_tracer_place one = kiln_world_tracer(world, i);
            put_row(&sink, a, i, &one);
        }
    }
    kiln_sink_text(&sink, "\n</AppendedData>\n</VTKFile>\n");
    return kiln_sink_commit(&sink, error);
}

/* Behind the next `word`; false where there is none. */
static bool skip_past(kiln_source *source, const char *word)
{
    size_t size = strlen(word);
    for (; kiln_source_left(source) >= size; source->at++)
        if (memcmp(source->at, word, size) == 0) {
            source->at += size;
            return true;
        }
    return false;
}

static kiln_status read_vectors(kiln_source *source, uint64_t count, double *out, kiln_error *error)
{
    uint64_t bytes;
    KILN_TRY(kiln_source_u64(source, "length of an array", &bytes, error));
    KILN_TRY(kiln_source_claim(source, count, 24, "points", error));
    if (bytes != 24 * count)
        return kiln_source_fail(source, error, "an array has another length than there are points");
    for (uint64_t i = 0; i < 3 * count; i++, source->at += 8)
        out[i] = kiln_load_f64(source->at, source->swap);
    return KILN_OK;
}

static kiln_status read_points(kiln_source *source, kiln_soup *soup, kiln_error *error)
{
    uint64_t count = 0;
    kiln_soup_field *velocity;
    if (!skip_past(source, "NumberOfPoints=\""))
        return kiln_source_fail(source, error, "has no points as 'kiln run' writes them");
    for (; source->at < source->end && *source->at >= '0' && *source->at <= '9' && count < 1u << 31;
         source->at++)
        count = 10 * count + (uint64_t)(*source->at - '0');
    if (!skip_past(source, "encoding=\"raw\"") || !skip_past(source, "_"))
        return kiln_source_fail(source, error, "has no data as 'kiln run' writes them");
    source->binary = true;
    source->swap = !kiln_is_little_endian();
    KILN_TRY(kiln_source_claim(source, count, 48, "points", error));
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, count + 1, error));
    KILN_TRY(read_vectors(source, count, &soup->points.data[0].x, error));
    soup->points.count = count;
    KILN_TRY(kiln_soup_add_field(soup, "v", KILN_ON_VERTEX, 3, &velocity, error));
    return read_vectors(source, count, velocity->data.data, error);
}

kiln_status kiln_tracers_read(kiln_context *context, const char *path, kiln_soup *soup,
                              kiln_error *error)
{
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, context, path, error));
    kiln_status status = read_points(&source, soup, error);
    kiln_source_close(&source);
    return status;
}

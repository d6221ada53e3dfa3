#include "io/vtk_data.h"

#include <math.h>

kiln_vtk_type_info kiln_vtk_type_about(kiln_vtk_type type)
{
    static const kiln_vtk_type_info table[] = {
#define KILN_VTK_ROW(name, vtu, legacy, bytes) {vtu, legacy, bytes},
        KILN_VTK_TYPES(KILN_VTK_ROW)
#undef KILN_VTK_ROW
    };
    return table[type];
}

kiln_status kiln_vtk_values_allocate(kiln_context *context, kiln_vtk_values *values,
                                     kiln_vtk_type type, size_t count, kiln_error *error)
{
    size_t size = count * kiln_vtk_type_about(type).size;
    char *block = kiln_resize(context, NULL, 0, size ? size : 1);
    if (!block)
        return kiln_fail_memory(error, size);
    *values = (kiln_vtk_values){type, false, block, count, block, size ? size : 1};
    return KILN_OK;
}

void kiln_vtk_values_free(kiln_context *context, kiln_vtk_values *values)
{
    kiln_release(context, values->block, values->block_size);
    *values = (kiln_vtk_values){0};
}

static uint16_t load_u16(const char *bytes, bool swap)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return swap ? (uint16_t)(value << 8 | value >> 8) : value;
}

static int64_t whole(double x)
{
    return x == floor(x) && fabs(x) < 0x1p62 ? (int64_t)x : INT64_MIN;
}

/* The loop for one type; `load` sees p, the address of a number. */
#define CONVERT(bytes_each, load)                                                                  \
    for (size_t i = 0; i < count; i++) {                                                           \
        const char *p = values->bytes + (first + i) * (bytes_each);                                \
        out[i] = load;                                                                             \
    }                                                                                              \
    break

void kiln_vtk_to_f64(const kiln_vtk_values *values, size_t first, size_t count, double *out)
{
    bool swap = values->swap;
    switch (values->type) {
    case KILN_VTK_I8:
        CONVERT(1, (double)*(const signed char *)p);
    case KILN_VTK_U8:
        CONVERT(1, (double)*(const unsigned char *)p);
    case KILN_VTK_I16:
        CONVERT(2, (double)(int16_t)load_u16(p, swap));
    case KILN_VTK_U16:
        CONVERT(2, (double)load_u16(p, swap));
    case KILN_VTK_I32:
        CONVERT(4, (double)(int32_t)kiln_load_u32(p, swap));
    case KILN_VTK_U32:
        CONVERT(4, (double)kiln_load_u32(p, swap));
    case KILN_VTK_I64:
        CONVERT(8, (double)(int64_t)kiln_load_u64(p, swap));
    case KILN_VTK_U64:
        CONVERT(8, (double)kiln_load_u64(p, swap));
    case KILN_VTK_F32:
        CONVERT(4, (double)kiln_load_f32(p, swap));
    default:
        CONVERT(8, kiln_load_f64(p, swap));
    }
}

void kiln_vtk_to_i64(const kiln_vtk_values *values, size_t first, size_t count, int64_t *out)
{
    bool swap = values->swap;
    switch (values->type) {
    case KILN_VTK_I8:
        CONVERT(1, *(const signed char *)p);
    case KILN_VTK_U8:
        CONVERT(1, *(const unsigned char *)p);
    case KILN_VTK_I16:
        CONVERT(2, (int16_t)load_u16(p, swap));
    case KILN_VTK_U16:
        CONVERT(2, load_u16(p, swap));
    case KILN_VTK_I32:
        CONVERT(4, (int32_t)kiln_load_u32(p, swap));
    case KILN_VTK_U32:
        CONVERT(4, kiln_load_u32(p, swap));
    case KILN_VTK_I64:
        CONVERT(8, (int64_t)kiln_load_u64(p, swap));
    case KILN_VTK_U64:
        CONVERT(8,
                kiln_load_u64(p, swap) > INT64_MAX ? INT64_MIN : (int64_t)kiln_load_u64(p, swap));
    case KILN_VTK_F32:
        CONVERT(4, whole((double)kiln_load_f32(p, swap)));
    default:
        CONVERT(8, whole(kiln_load_f64(p, swap)));
    }
}

kiln_status kiln_vtk_add_points(kiln_soup *soup, const kiln_vtk_values *values,
                                kiln_vtk_piece *piece, kiln_error *error)
{
    size_t base = soup->points.count, count = values->count / 3;
    piece->point_base = base;
    piece->point_count = count;
    if (base + count >= UINT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, NULL, 0, -1, "too many points");
    KILN_TRY(kiln_array_reserve(soup->context, &soup->points, base + count, error));
    if (count)
        kiln_vtk_to_f64(values, 0, 3 * count, &soup->points.data[base].x);
    soup->points.count = base + count;
    return KILN_OK;
}

static const char *cell_name(int64_t type)
{
    static const char *const names[] = {
        "an empty cell", "a vertex", "a poly-vertex", "a line",  "a polyline",
        "a triangle",    "a strip",  "a polygon",     "a pixel", "a quadrilateral",
        "a tetrahedron", "a voxel",  "a hexahedron",  "a prism", "a pyramid",
    };
    return type >= 0 && type < 15 ? names[type] : "a cell of higher order or unknown type";
}

/* Kind and number of vertices of a cell type; -1: not held by a soup. */
static int cell_kind(int64_t type, int *width)
{
    switch (type) {
    case 10:
        *width = 4;
        return 0;
    case 5:
        *width = 3;
        return 1;
    case 3:
        *width = 2;
        return 2;
    case 1:
        *width = 1;
        return KILN_VTK_IGNORED;
    default:
        return -1;
    }
}

static kiln_status add_cell(kiln_vtk_cells *cells, const kiln_source *source, kiln_soup *soup,
                            size_t cell, int64_t type, size_t size, const uint32_t v[4],
                            kiln_error *error)
{
    int width = 0, kind = cell_kind(type, &width);
    if (kind < 0)
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, source->name, 0, -1,
                         "cell %zu is %s (type %lld): only tetrahedra, triangles, lines and "
                         "vertices are read",
                         cell + 1, cell_name(type), (long long)type);
    if (size != (size_t)width)
        return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1,
                         "cell %zu is %s with %zu points", cell + 1, cell_name(type), size);
    kiln_context *context = soup->context;
    KILN_TRY(kiln_array_push(context, &cells->kinds, (uint8_t)kind, error));
    switch (kind) {
    case 0:
        return kiln_array_push(context, &soup->tets, ((kiln_soup_tet){{v[0], v[1], v[2], v[3]}}),
                               error);
    case 1:
        return kiln_array_push(context, &soup->triangles,
                               ((kiln_soup_triangle){{v[0], v[1], v[2]}}), error);
    case 2:
        return kiln_array_push(context, &soup->edges, ((kiln_soup_edge){{v[0], v[1]}}), error);
    default:
        return KILN_OK;
    }
}

enum { BATCH = 256 };

/* Vertices of one cell, checked and renumbered. */
static kiln_status cell_vertices(const kiln_source *source, const kiln_vtk_values *connectivity,
                                 const kiln_vtk_piece *piece, size_t cell, int64_t begin,
                                 size_t size, uint32_t v[4], kiln_error *error)
{
    int64_t index[4];
    size_t used = size < 4 ? size : 4;
    kiln_vtk_to_i64(connectivity, (size_t)begin, used, index);
    for (size_t i = 0; i < used; i++) {
        if (index[i] < 0 || (uint64_t)index[i] >= piece->point_count)
            return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1,
                             "cell %zu names point %lld, but there are only %zu (from 0)", cell + 1,
                             (long long)index[i], piece->point_count);
        v[i] = (uint32_t)(piece->point_base + (uint64_t)index[i]);
    }
    return KILN_OK;
}

kiln_status kiln_vtk_add_cells(kiln_vtk_cells *cells, const kiln_source *source, kiln_soup *soup,
                               const kiln_vtk_values *types, const kiln_vtk_values *ends,
                               const kiln_vtk_values *connectivity, kiln_vtk_piece *piece,
                               kiln_error *error)
{
    size_t count = types->count;
    piece->cell_base = cells->kinds.count;
    piece->cell_count = count;
    piece->base[0] = soup->tets.count;
    piece->base[1] = soup->triangles.count;
    piece->base[2] = soup->edges.count;
    if (cells->kinds.count + count >= UINT32_MAX)
        return kiln_fail(error, KILN_ERR_LIMIT, source->name, 0, -1, "too many cells");
    int64_t type[BATCH], end[BATCH], begin = 0;
    for (size_t first = 0; first < count; first += BATCH) {
        size_t batch = count - first < BATCH ? count - first : BATCH;
        kiln_vtk_to_i64(types, first, batch, type);
        kiln_vtk_to_i64(ends, first, batch, end);
        for (size_t i = 0; i < batch; i++) {
            if (end[i] < begin || (uint64_t)end[i] > connectivity->count)
                return kiln_fail(error, KILN_ERR_INPUT, source->name, 0, -1,
                                 "cell %zu ends at %lld of %zu point numbers", first + i + 1,
                                 (long long)end[i], connectivity->count);
            uint32_t v[4] = {0};
            size_t size = (size_t)(end[i] - begin);
            KILN_TRY(cell_vertices(source, connectivity, piece, first + i, begin, size, v, error));
            KILN_TRY(add_cell(cells, source, soup, first + i, type[i], size, v, error));
            begin = end[i];
        }
    }
    return KILN_OK;
}

static kiln_status get_field(kiln_soup *soup, kiln_text name, kiln_where where, uint32_t components,
                             kiln_soup_field **out, kiln_error *error)
{
    char text[KILN_NAME_SIZE];
    size_t size = name.size < sizeof text - 1 ? name.size : sizeof text - 1;
    memcpy(text, name.data, size);
    text[size] = '\0';
    for (size_t i = 0; i < soup->fields.count; i++) {
        kiln_soup_field *field = &soup->fields.data[i];
        if (field->where == where && field->components == components &&
            strcmp(field->name, text) == 0) {
            *out = field;
            return KILN_OK;
        }
    }
    return kiln_soup_add_field(soup, text, where, components, out, error);
}

static bool means_tags(kiln_text name, const kiln_vtk_values *values, uint32_t components)
{
    return components == 1 && kiln_vtk_type_is_integer(values->type) &&
           (kiln_text_is(name, "region") || kiln_text_is(name, "medit:ref") ||
            kiln_text_is(name, "gmsh:physical"));
}

/* As our writer tells tags of triangles and edges from those of tets, which come before. */
static bool means_patches(kiln_text name, const kiln_vtk_values *values, uint32_t components,
                          kiln_where only)
{
    return components == 1 && kiln_vtk_type_is_integer(values->type) && only == KILN_ON_FACE &&
           kiln_text_is(name, "patch");
}

/* Tags in 32 bits; what does not fit is cut off like a conversion in C would. */
static int32_t tag_at(const kiln_vtk_values *values, size_t i)
{
    int64_t tag;
    kiln_vtk_to_i64(values, i, 1, &tag);
    return (int32_t)(uint32_t)(uint64_t)tag;
}

/* Room for a tag per item, the new ones zero. */
#define FILL_TAGS(soup, tags, items)                                                               \
    do {                                                                                           \
        KILN_TRY(kiln_array_reserve((soup)->context, (tags), (items), error));                     \
        while ((tags)->count < (items))                                                            \
            (tags)->data[(tags)->count++] = 0;                                                     \
    } while (0)

kiln_status kiln_vtk_add_point_data(kiln_soup *soup, kiln_text name, const kiln_vtk_values *values,
                                    uint32_t components, const kiln_vtk_piece *piece,
                                    kiln_error *error)
{
    if (piece->point_count == 0)
        return KILN_OK;
    if (means_tags(name, values, components)) {
        FILL_TAGS(soup, &soup->point_tags, soup->points.count);
        for (size_t i = 0; i < piece->point_count; i++)
            soup->point_tags.data[piece->point_base + i] = tag_at(values, i);
        return KILN_OK;
    }
    kiln_soup_field *field = NULL;
    KILN_TRY(get_field(soup, name, KILN_ON_VERTEX, components, &field, error));
    kiln_vtk_to_f64(values, 0, values->count, field->data.data + piece->point_base * components);
    return KILN_OK;
}

static kiln_status add_cell_tags(const kiln_vtk_cells *cells, kiln_soup *soup,
                                 const kiln_vtk_values *values, const kiln_vtk_piece *piece,
                                 bool patches, kiln_error *error)
{
    if (!patches)
        FILL_TAGS(soup, &soup->tet_tags, soup->tets.count);
    FILL_TAGS(soup, &soup->triangle_tags, soup->triangles.count);
    FILL_TAGS(soup, &soup->edge_tags, soup->edges.count);
    int32_t *tags[3] = {soup->tet_tags.data, soup->triangle_tags.data, soup->edge_tags.data};
    size_t at[3] = {piece->base[0], piece->base[1], piece->base[2]};
    for (size_t i = 0; i < piece->cell_count; i++) {
        int kind = cells->kinds.data[piece->cell_base + i];
        if (kind != KILN_VTK_IGNORED && !(patches && kind == 0))
            tags[kind][at[kind]++] = tag_at(values, i);
    }
    return KILN_OK;
}

kiln_status kiln_vtk_add_cell_data(const kiln_vtk_cells *cells, kiln_soup *soup, kiln_text name,
                                   const kiln_vtk_values *values, uint32_t components,
                                   const kiln_vtk_piece *piece, kiln_where only, kiln_error *error)
{
    if (means_tags(name, values, components))
        return add_cell_tags(cells, soup, values, piece, false, error);
    if (means_patches(name, values, components, only))
        return add_cell_tags(cells, soup, values, piece, true, error);
    static const kiln_where places[2] = {KILN_ON_TET, KILN_ON_FACE};
    for (int kind = 0; kind < 2; kind++) {
        kiln_where where = places[kind];
        if ((only != KILN_WHERE_COUNT && only != where) || kiln_soup_count(soup, where) == 0)
            continue;
        kiln_soup_field *field = NULL;
        KILN_TRY(get_field(soup, name, where, components, &field, error));
        double *out = field->data.data + piece->base[kind] * components;
        for (size_t i = 0; i < piece->cell_count; i++)
            if (cells->kinds.data[piece->cell_base + i] == kind) {
                kiln_vtk_to_f64(values, i * components, components, out);
                out += components;
            }
    }
    return KILN_OK;
}

/* The size stands before the block, since zlib does not give it back. */
enum { HEADER = 64 };

void *kiln_zlib_allocate(void *context, unsigned items, unsigned size)
{
    size_t total = (size_t)items * size + HEADER;
    char *block = kiln_resize(context, NULL, 0, total);
    if (!block)
        return NULL;
    memcpy(block, &total, sizeof total);
    return block + HEADER;
}

void kiln_zlib_release(void *context, void *block)
{
    if (!block)
        return;
    size_t total;
    memcpy(&total, (char *)block - HEADER, sizeof total);
    kiln_release(context, (char *)block - HEADER, total);
}

#include "io/format.h"
#include "io/gmsh.h"
#include "io/items.h"
#include "io/medit.h"
#include "io/surface_formats.h"
#include "io/tetgen.h"
#include "io/vtk_legacy.h"
#include "io/vtu.h"

#include <stdio.h>

/* Ends with an empty row. */
static const kiln_format formats[] = {
    {"medit", ".mesh .meshb", "Medit mesh, text or binary", kiln_medit_read, kiln_medit_write,
     kiln_medit_sniff, KILN_FORMAT_TETS | KILN_FORMAT_ASCII | KILN_FORMAT_BINARY},
    {"gmsh", ".msh", "Gmsh mesh 4.1 (reads 2.2 too)", kiln_gmsh_read, kiln_gmsh_write_41,
     kiln_gmsh_sniff,
     KILN_FORMAT_TETS | KILN_FORMAT_ASCII | KILN_FORMAT_BINARY | KILN_FORMAT_FIELDS},
    {"gmsh22", ".msh2", "Gmsh mesh 2.2", kiln_gmsh_read, kiln_gmsh_write_22, NULL,
     KILN_FORMAT_TETS | KILN_FORMAT_ASCII | KILN_FORMAT_BINARY | KILN_FORMAT_FIELDS},
    {"tetgen", ".node .ele .face .edge", "TetGen, all four files", kiln_tetgen_read,
     kiln_tetgen_write, NULL, KILN_FORMAT_TETS | KILN_FORMAT_ASCII},
    {"sol", ".sol .solb", "Medit fields", kiln_sol_read, kiln_sol_write, NULL,
     KILN_FORMAT_ASCII | KILN_FORMAT_BINARY | KILN_FORMAT_FIELDS | KILN_FORMAT_PARTIAL},
    {"vtu", ".vtu", "VTK XML grid, text or packed", kiln_vtu_read, kiln_vtu_write, kiln_vtu_sniff,
     KILN_FORMAT_TETS | KILN_FORMAT_ASCII | KILN_FORMAT_BINARY | KILN_FORMAT_FIELDS},
    {"vtk", ".vtk", "VTK legacy grid (read only)", kiln_vtk_legacy_read, NULL,
     kiln_vtk_legacy_sniff, KILN_FORMAT_TETS | KILN_FORMAT_FIELDS},
    {"ply", ".ply", "PLY surface", kiln_ply_read, kiln_ply_write, kiln_ply_sniff,
     KILN_FORMAT_ASCII | KILN_FORMAT_BINARY},
    {"obj", ".obj", "OBJ surface", kiln_obj_read, kiln_obj_write, NULL, KILN_FORMAT_ASCII},
    {"off", ".off", "OFF surface", kiln_off_read, kiln_off_write, kiln_off_sniff,
     KILN_FORMAT_ASCII},
    {"stl", ".stl", "STL surface (binary: 32-bit floats)", kiln_stl_read, kiln_stl_write,
     kiln_stl_sniff, KILN_FORMAT_ASCII | KILN_FORMAT_BINARY},
    {0}};

kiln_format_options kiln_format_default_options(void)
{
    return (kiln_format_options){.encoding = KILN_ENCODING_ANY};
}

const kiln_format *kiln_format_at(size_t row)
{
    size_t rows = sizeof formats / sizeof formats[0] - 1;
    return row + 1 <= rows ? &formats[row] : NULL;
}

const kiln_format *kiln_format_by_name(const char *name)
{
    for (size_t i = 0; formats[i].name; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

static kiln_text extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot ? (kiln_text){dot, strlen(dot)} : (kiln_text){path, 0};
}

static bool has_extension(const kiln_format *format, kiln_text extension)
{
    char one[16];
    for (const char *at = format->extensions; *at;) {
        size_t size = strcspn(at, " ");
        if (size < sizeof one) {
            memcpy(one, at, size);
            one[size] = 0;
            if (kiln_text_is_nocase(extension, one))
                return true;
        }
        at += size + (at[size] == ' ');
    }
    return false;
}

const kiln_format *kiln_format_by_path(const char *path)
{
    kiln_text extension = extension_of(path);
    for (size_t i = 0; formats[i].name; i++)
        if (extension.size && has_extension(&formats[i], extension))
            return &formats[i];
    return NULL;
}

/* "medit (.mesh .meshb), ..." of the formats that can do it. */
static void list_formats(bool writing, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; formats[i].name && used < size; i++)
        if (writing ? formats[i].write != NULL : formats[i].read != NULL)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s (%s)", used ? ", " : "",
                                     formats[i].name, formats[i].extensions);
}

static kiln_status fail_unknown(const char *path, const char *name, bool writing, kiln_error *error)
{
    char known[400];
    list_formats(writing, known, sizeof known);
    if (name)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "no format '%.40s' that can be %s; known: %s", name,
                         writing ? "written" : "read", known);
    kiln_text extension = extension_of(path);
    const kiln_format *format = kiln_format_by_path(path);
    if (format)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "%s files can only be %s; known: %s",
                         format->name, writing ? "read" : "written", known);
    if (extension.size == 0)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "the name ends in none of the known ways: %s", known);
    return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                     "cannot tell the format from '%.20s'; known: %s", extension.data, known);
}

kiln_encoding kiln_encoding_of(kiln_encoding asked, const char *path, const char *suffix)
{
    size_t size = strlen(path), length = strlen(suffix);
    if (asked != KILN_ENCODING_ANY)
        return asked;
    return size >= length && strcmp(path + size - length, suffix) == 0 ? KILN_ENCODING_BINARY
                                                                       : KILN_ENCODING_ASCII;
}

static const kiln_format *sniff(const kiln_source *source)
{
    kiln_text start = {source->begin, (size_t)(source->end - source->begin)};
    for (size_t i = 0; formats[i].name; i++)
        if (formats[i].sniff && formats[i].read && formats[i].sniff(start))
            return &formats[i];
    return NULL;
}

kiln_status kiln_soup_read_source(const kiln_format *format, kiln_source *source, kiln_soup *soup,
                                  kiln_error *error)
{
    kiln_status status = format->read(source, soup, error);
    if (status == KILN_OK && soup->points.count == 0)
        status = kiln_source_fail(source, error, "the file holds no points");
    if (status == KILN_OK)
        kiln_items_drop_zero_tags(soup);
    if (status == KILN_OK)
        status = kiln_soup_check(soup, source->name, error);
    if (status != KILN_OK)
        kiln_soup_free(soup);
    return status;
}

kiln_status kiln_soup_read(kiln_context *context, const char *path,
                           const kiln_format_options *options, kiln_soup *soup, kiln_error *error)
{
    const char *name = options ? options->format : NULL;
    const kiln_format *format = name ? kiln_format_by_name(name) : kiln_format_by_path(path);
    if (name && (!format || !format->read))
        return fail_unknown(path, name, false, error);
    if (format && format->flags & KILN_FORMAT_PARTIAL)
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1,
                         "holds fields for a mesh in another file, no mesh");
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, context, path, error));
    if (!format || !format->read)
        format = sniff(&source);
    kiln_status status = format ? kiln_soup_read_source(format, &source, soup, error)
                                : fail_unknown(path, NULL, false, error);
    kiln_source_close(&source);
    return status;
}

kiln_status kiln_soup_read_fields(kiln_context *context, const char *path,
                                  const kiln_format_options *options, kiln_soup *soup,
                                  kiln_error *error)
{
    const char *name = options ? options->format : NULL;
    const kiln_format *format = name ? kiln_format_by_name(name) : kiln_format_by_path(path);
    if (!format || !format->read || !(format->flags & KILN_FORMAT_PARTIAL))
        return kiln_fail(error, KILN_ERR_INPUT, path, 0, -1, "is no file of fields (.sol, .solb)");
    kiln_source source;
    KILN_TRY(kiln_source_open(&source, context, path, error));
    size_t fields = soup->fields.count;
    kiln_status status = format->read(&source, soup, error);
    while (status != KILN_OK && soup->fields.count > fields) {
        kiln_array_free(context, &soup->fields.data[soup->fields.count - 1].data);
        soup->fields.count--;
    }
    kiln_source_close(&source);
    return status;
}

kiln_status kiln_soup_write(kiln_context *context, const char *path,
                            const kiln_format_options *options, const kiln_soup *soup,
                            kiln_error *error)
{
    const char *name = options ? options->format : NULL;
    kiln_encoding encoding = options ? options->encoding : KILN_ENCODING_ANY;
    const kiln_format *format = name ? kiln_format_by_name(name) : kiln_format_by_path(path);
    if (!format || !format->write)
        return fail_unknown(path, name, true, error);
    bool possible = encoding == KILN_ENCODING_ANY ||
                    (encoding == KILN_ENCODING_ASCII && format->flags & KILN_FORMAT_ASCII) ||
                    (encoding == KILN_ENCODING_BINARY && format->flags & KILN_FORMAT_BINARY);
    if (!possible)
        return kiln_fail(error, KILN_ERR_UNSUPPORTED, path, 0, -1, "%s has no %s form",
                         format->name, encoding == KILN_ENCODING_ASCII ? "text" : "binary");
    return format->write(context, path, encoding, soup, error);
}

/* Every format that can be written and read, in text and in binary: a mesh with fields goes out and
 * comes back. Surface formats take the surface alone, corner by corner because some of them have no
 * numbered points. */
#include "base/random.h"
#include "io/format.h"
#include "measure/fixture.h"
#include "mesh/build.h"
#include "validation/validation.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct comparison {
    double difference; /* largest; infinity when the counts differ */
    uint64_t hash[2];  /* of everything that was compared */
} comparison;

static void compare_bytes(comparison *c, const void *a, size_t a_size, const void *b, size_t b_size)
{
    c->hash[0] = kiln_hash_bytes(kiln_hash_add(c->hash[0], a_size), a, a_size);
    c->hash[1] = kiln_hash_bytes(kiln_hash_add(c->hash[1], b_size), b, b_size);
}

static void compare_numbers(comparison *c, const double *a, size_t a_count, const double *b,
                            size_t b_count)
{
    compare_bytes(c, a, a_count * sizeof *a, b, b_count * sizeof *b);
    if (a_count != b_count)
        c->difference = INFINITY;
    for (size_t i = 0; i < a_count && i < b_count; i++) {
        double off = fabs(a[i] - b[i]);
        c->difference = off > c->difference || isnan(off) ? off : c->difference;
    }
}

#define COMPARE_LIST(list)                                                                         \
    compare_bytes(c, a->list.data, a->list.count * sizeof *a->list.data, b->list.data,             \
                  b->list.count * sizeof *b->list.data)

static void compare_fields(comparison *c, const kiln_soup *a, const kiln_soup *b)
{
    for (size_t i = 0; i < a->fields.count; i++) {
        const kiln_soup_field *f = &a->fields.data[i], *g = NULL;
        /* One field a place: .sol has no names. */
        for (size_t k = 0; k < b->fields.count; k++)
            if (b->fields.data[k].where == f->where)
                g = &b->fields.data[k];
        compare_numbers(c, f->data.data, f->data.count, g ? g->data.data : NULL,
                        g ? g->data.count : 0);
    }
}

static void compare_meshes(comparison *c, const kiln_soup *a, const kiln_soup *b)
{
    compare_numbers(c, &a->points.data[0].x, 3 * a->points.count, &b->points.data[0].x,
                    3 * b->points.count);
    COMPARE_LIST(tets);
    COMPARE_LIST(triangles);
    COMPARE_LIST(edges);
    COMPARE_LIST(tet_tags);
    COMPARE_LIST(triangle_tags);
    COMPARE_LIST(edge_tags);
}

/* Volatile because GCC 12 forgets the rounding where it vectorises double -> float -> double. */
static double nearest_float(double value)
{
    volatile float narrow = (float)value;
    return narrow;
}

/* Corners of the triangles; those of `a` rounded to 32 bits first when the file has no more. */
static void compare_surfaces(comparison *c, const kiln_soup *a, const kiln_soup *b, bool floats)
{
    size_t count = a->triangles.count;
    if (b->triangles.count != count)
        c->difference = INFINITY;
    for (size_t i = 0; i < 3 * count && b->triangles.count == count; i++) {
        kiln_vec3 p = a->points.data[a->triangles.data[i / 3].v[i % 3]];
        kiln_vec3 q = b->points.data[b->triangles.data[i / 3].v[i % 3]];
        double from[3] = {p.x, p.y, p.z}, to[3] = {q.x, q.y, q.z};
        for (int k = 0; k < 3 && floats; k++)
            from[k] = nearest_float(from[k]);
        compare_numbers(c, from, 3, to, 3);
    }
}

/* A jittered ball with numbers of every size in its fields. */
static kiln_status make_soup(kiln_context *context, kiln_soup *soup, kiln_error *error)
{
    static const struct {
        const char *name;
        kiln_where where;
        uint32_t components;
    } fields[] = {
        {"velocity", KILN_ON_VERTEX, 3}, {"stress", KILN_ON_TET, 6}, {"heat", KILN_ON_FACE, 1}};
    kiln_mesh *mesh;
    KILN_TRY(kiln_fixture_mesh(context, "ball", "h=0.25", 0.02, &mesh, error));
    kiln_status status = kiln_mesh_to_soup(mesh, soup, error);
    kiln_mesh_destroy(mesh);
    kiln_random random = kiln_random_start(61, 0);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0] && status == KILN_OK; i++) {
        kiln_soup_field *field;
        status = kiln_soup_add_field(soup, fields[i].name, fields[i].where, fields[i].components,
                                     &field, error);
        for (size_t k = 0; status == KILN_OK && k < field->data.count; k++)
            field->data.data[k] = kiln_random_range(&random, -1, 1) *
                                  pow(10.0, kiln_random_range(&random, -300, 300));
    }
    return status;
}

/* A file of fields alone is read onto the mesh it belongs to. */
static kiln_status check_partial(kiln_context *context, const char *path,
                                 const kiln_format_options *options, const kiln_soup *soup,
                                 comparison *c, kiln_error *error)
{
    kiln_soup bare;
    kiln_soup_init(&bare, context);
    kiln_status status = kiln_soup_append(&bare, soup, 0, error);
    for (size_t i = 0; i < bare.fields.count; i++)
        kiln_array_free(context, &bare.fields.data[i].data);
    bare.fields.count = 0;
    if (status == KILN_OK)
        status = kiln_soup_read_fields(context, path, options, &bare, error);
    if (status == KILN_OK)
        compare_fields(c, soup, &bare);
    kiln_soup_free(&bare);
    return status;
}

static kiln_status check_form(kiln_validation *validation, const kiln_format *format,
                              kiln_encoding encoding, const char *path, const kiln_soup *soup,
                              kiln_error *error)
{
    kiln_context *context = kiln_validation_context(validation);
    kiln_format_options options = {format->name, encoding};
    comparison c = {0};
    kiln_soup back;
    kiln_soup_init(&back, context);
    bool binary = encoding == KILN_ENCODING_BINARY;
    bool floats = binary && strcmp(format->name, "stl") == 0;
    kiln_status status = kiln_soup_write(context, path, &options, soup, error);
    if (status == KILN_OK && (format->flags & KILN_FORMAT_PARTIAL)) {
        status = check_partial(context, path, &options, soup, &c, error);
    } else if (status == KILN_OK) {
        status = kiln_soup_read(context, path, &options, &back, error);
        if (status == KILN_OK && (format->flags & KILN_FORMAT_TETS))
            compare_meshes(&c, soup, &back);
        if (status == KILN_OK && !(format->flags & KILN_FORMAT_TETS))
            compare_surfaces(&c, soup, &back, floats);
        if (status == KILN_OK && (format->flags & KILN_FORMAT_FIELDS))
            compare_fields(&c, soup, &back);
    }
    kiln_soup_free(&back);
    KILN_TRY(status);
    const char *form = floats ? "binary, against 32-bit floats" : binary ? "binary" : "text";
    kiln_validation_report(validation, c.difference, kiln_exactly(0), "%s, %s: largest difference",
                           format->name, form);
    kiln_validation_report(validation, c.hash[0] != c.hash[1], kiln_exactly(0),
                           "%s, %s: hashes that differ", format->name, form);
    return KILN_OK;
}

static kiln_status check_formats(kiln_validation *validation, const char *folder,
                                 const kiln_soup *soup, kiln_error *error)
{
    const kiln_format *format;
    for (size_t row = 0; (format = kiln_format_at(row)); row++) {
        char path[512];
        snprintf(path, sizeof path, "%s/mesh%.*s", folder, (int)strcspn(format->extensions, " "),
                 format->extensions);
        if (!format->read || !format->write)
            continue;
        if (format->flags & KILN_FORMAT_ASCII)
            KILN_TRY(check_form(validation, format, KILN_ENCODING_ASCII, path, soup, error));
        if (format->flags & KILN_FORMAT_BINARY)
            KILN_TRY(check_form(validation, format, KILN_ENCODING_BINARY, path, soup, error));
    }
    return KILN_OK;
}

static void remove_folder(const char *folder)
{
    DIR *all = opendir(folder);
    if (!all)
        return;
    for (struct dirent *one; (one = readdir(all));) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        if (strncmp(one->d_name, "mesh.", 5) == 0)
            unlink(path);
    }
    closedir(all);
    rmdir(folder);
}

kiln_status kiln_validate_files(kiln_validation *validation, kiln_error *error)
{
    char folder[256];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/kiln-validate-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return kiln_fail(error, KILN_ERR_IO, folder, 0, -1, "cannot make the folder: %s",
                         strerror(errno));
    kiln_soup soup;
    kiln_soup_init(&soup, kiln_validation_context(validation));
    kiln_status status = make_soup(kiln_validation_context(validation), &soup, error);
    if (status == KILN_OK)
        status = check_formats(validation, folder, &soup, error);
    kiln_soup_free(&soup);
    remove_folder(folder);
    return status;
}

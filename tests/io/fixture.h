/* A small soup with everything in it, comparison bit by bit, and scratch folders. */
#ifndef KILN_TESTS_IO_FIXTURE_H
#define KILN_TESTS_IO_FIXTURE_H

#include "io/format.h"
#include "support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXTURE_POINTS = 30, FIXTURE_TETS = 20, FIXTURE_TRIANGLES = 15, FIXTURE_EDGES = 8 };

/* What of a soup a format keeps. */
enum { KEEPS_MARKS = 1, KEEPS_FIELDS = 2 };

KILN_UNUSED static uint32_t below(kiln_random *random, uint32_t n)
{
    return (uint32_t)(kiln_random_u64(random) % n);
}

#define FIXTURE_PUSH(list, item)                                                                   \
    ck_assert_int_eq(kiln_array_push(soup->context, &soup->list, (item), NULL), KILN_OK)

KILN_UNUSED static void add_field(kiln_soup *soup, const char *name, kiln_where where,
                                  uint32_t components, kiln_random *random)
{
    kiln_soup_field *field;
    ck_assert_int_eq(kiln_soup_add_field(soup, name, where, components, &field, NULL), KILN_OK);
    for (size_t i = 0; i < field->data.count; i++)
        field->data.data[i] = (kiln_random_unit(random) - 0.5) * (i % 3 ? 1.0 : 1e-200);
}

KILN_UNUSED static void fixture_mesh(kiln_soup *soup, kiln_context *context)
{
    static const int32_t odd_tags[] = {0, 7, 7, -3, 0, 2147483647, -2147483647 - 1, 1};
    static const double odd_values[] = {-0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308,
                                        1e-7, 123456};
    kiln_random random = kiln_random_start(5, 0);
    kiln_soup_init(soup, context);
    for (uint32_t i = 0; i < FIXTURE_POINTS; i++) {
        kiln_vec3 p = {kiln_random_unit(&random), odd_values[i % 6],
                       kiln_random_unit(&random) * 1e3};
        FIXTURE_PUSH(points, p);
        FIXTURE_PUSH(point_tags, odd_tags[i % 8]);
    }
    for (uint32_t i = 0; i < FIXTURE_TETS; i++) {
        kiln_soup_tet t = {{below(&random, 30), below(&random, 30), below(&random, 30), 29}};
        FIXTURE_PUSH(tets, t);
        FIXTURE_PUSH(tet_tags, odd_tags[(i / 2) % 8]);
    }
    for (uint32_t i = 0; i < FIXTURE_TRIANGLES; i++) {
        kiln_soup_triangle t = {{below(&random, 30), 0, below(&random, 30)}};
        FIXTURE_PUSH(triangles, t);
        FIXTURE_PUSH(triangle_tags, odd_tags[(i / 3) % 8]);
    }
    for (uint32_t i = 0; i < FIXTURE_EDGES; i++) {
        kiln_soup_edge e = {{below(&random, 30), i}};
        FIXTURE_PUSH(edges, e);
        FIXTURE_PUSH(edge_tags, odd_tags[i % 8]);
    }
}

KILN_UNUSED static void fixture_marks(kiln_soup *soup)
{
    FIXTURE_PUSH(corners, 4);
    FIXTURE_PUSH(corners, 0);
    FIXTURE_PUSH(required_points, 29);
    FIXTURE_PUSH(ridges, 7);
    FIXTURE_PUSH(ridges, 1);
    FIXTURE_PUSH(required_edges, 0);
    FIXTURE_PUSH(required_triangles, 14);
}

KILN_UNUSED static void fixture_fields(kiln_soup *soup)
{
    kiln_random random = kiln_random_start(6, 0);
    add_field(soup, "speed", KILN_ON_VERTEX, 1, &random);
    add_field(soup, "a vector", KILN_ON_VERTEX, 3, &random);
    add_field(soup, "metric", KILN_ON_VERTEX, 6, &random);
    add_field(soup, "stress", KILN_ON_TET, 9, &random);
    add_field(soup, "heat", KILN_ON_TET, 1, &random);
    add_field(soup, "traction", KILN_ON_FACE, 3, &random);
}

#define ASSERT_SAME_LIST(list)                                                                     \
    do {                                                                                           \
        ck_assert_msg(a->list.count == b->list.count, #list ": %zu and %zu", a->list.count,        \
                      b->list.count);                                                              \
        ck_assert_msg(a->list.count == 0 || memcmp(a->list.data, b->list.data,                     \
                                                   a->list.count * sizeof *a->list.data) == 0,     \
                      #list " differ");                                                            \
    } while (0)

KILN_UNUSED static void assert_same_mesh(const kiln_soup *a, const kiln_soup *b)
{
    ASSERT_SAME_LIST(points);
    ASSERT_SAME_LIST(tets);
    ASSERT_SAME_LIST(triangles);
    ASSERT_SAME_LIST(edges);
    ASSERT_SAME_LIST(point_tags);
    ASSERT_SAME_LIST(tet_tags);
    ASSERT_SAME_LIST(triangle_tags);
    ASSERT_SAME_LIST(edge_tags);
}

KILN_UNUSED static void assert_same_fields(const kiln_soup *a, const kiln_soup *b, bool names)
{
    ck_assert_uint_eq(a->fields.count, b->fields.count);
    for (size_t i = 0; i < a->fields.count; i++) {
        const kiln_soup_field *f = &a->fields.data[i], *g = &b->fields.data[i];
        ck_assert_int_eq(f->where, g->where);
        ck_assert_uint_eq(f->components, g->components);
        if (names)
            ck_assert_str_eq(f->name, g->name);
        ck_assert_uint_eq(f->data.count, g->data.count);
        ck_assert_int_eq(memcmp(f->data.data, g->data.data, f->data.count * sizeof(double)), 0);
    }
}

KILN_UNUSED static void assert_same_soup(const kiln_soup *a, const kiln_soup *b, int keeps)
{
    assert_same_mesh(a, b);
    if (keeps & KEEPS_MARKS) {
        ASSERT_SAME_LIST(corners);
        ASSERT_SAME_LIST(required_points);
        ASSERT_SAME_LIST(ridges);
        ASSERT_SAME_LIST(required_edges);
        ASSERT_SAME_LIST(required_triangles);
    }
    if (keeps & KEEPS_FIELDS)
        assert_same_fields(a, b, true);
}

typedef struct folder {
    char path[64];
} folder;

KILN_UNUSED static folder make_folder(void)
{
    folder made;
    snprintf(made.path, sizeof made.path, "/tmp/kiln-io-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(made.path));
    return made;
}

KILN_UNUSED static const char *in_folder(const folder *where, const char *name, char path[160])
{
    snprintf(path, 160, "%s/%s", where->path, name);
    return path;
}

KILN_UNUSED static int files_in(const folder *where)
{
    DIR *all = opendir(where->path);
    ck_assert_ptr_nonnull(all);
    int count = 0;
    for (struct dirent *one; (one = readdir(all));)
        count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

KILN_UNUSED static void remove_folder(const folder *where)
{
    DIR *all = opendir(where->path);
    ck_assert_ptr_nonnull(all);
    char path[400];
    for (struct dirent *one; (one = readdir(all));) {
        snprintf(path, sizeof path, "%s/%s", where->path, one->d_name);
        if (one->d_name[0] != '.')
            unlink(path);
    }
    closedir(all);
    rmdir(where->path);
}

/* The bytes of a file in a block of exactly their size, so that a read past the end is seen. */
KILN_UNUSED static char *file_bytes(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size ? *size : 1);
    ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

#endif

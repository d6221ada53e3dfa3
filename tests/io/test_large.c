/* File -> mesh -> audit -> file, in a process of its own whose address space is limited: 10 million
 * tets in 4 GiB when soaking, fewer otherwise. */
#include "io/format.h"
#include "mesh/audit.h"
#include "mesh/build.h"
#include "mesh/shapes.h"
#include "support.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void make_file(kiln_context *context, const char *path, unsigned cells)
{
    char text[3][24];
    const char *settings[3] = {text[0], text[1], text[2]};
    for (int i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "n%c=%u", "xyz"[i], cells);
    size_t count;
    const kiln_shape *const *shapes = kiln_shapes(&count);
    const kiln_shape *box = NULL;
    kiln_soup soup;
    kiln_soup_init(&soup, context);
    ck_assert_int_eq(kiln_shape_find(shapes, count, "box", &box, NULL), KILN_OK);
    ck_assert_int_eq(kiln_shape_make(box, 3, settings, &soup, NULL), KILN_OK);
    ck_assert_int_eq(kiln_soup_write(context, path, NULL, &soup, NULL), KILN_OK);
    kiln_soup_free(&soup);
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void read_audit_write(kiln_context *context, const char *path, const char *copy,
                             size_t wanted)
{
    kiln_soup soup;
    kiln_mesh *mesh = NULL;
    kiln_error error = {0};
    kiln_soup_init(&soup, context);
    ck_assert_msg(kiln_soup_read(context, path, NULL, &soup, &error) == KILN_OK, "%s",
                  error.message);
    ck_assert_msg(kiln_mesh_build(context, &soup, NULL, &mesh, NULL, &error) == KILN_OK, "%s",
                  error.message);
    kiln_soup_free(&soup);
    ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, wanted);
    ck_assert_uint_le(kiln_mesh_bytes(mesh), 120 * wanted);
    kiln_audit_report report;
    ck_assert_int_eq(kiln_mesh_audit(mesh, &report, &error), KILN_OK);
    ck_assert_msg(!report.invariant, "%s: %s", report.invariant, report.message);
    ck_assert_int_eq(kiln_mesh_to_soup(mesh, &soup, &error), KILN_OK);
    ck_assert_msg(kiln_soup_write(context, copy, NULL, &soup, &error) == KILN_OK, "%s",
                  error.message);
    kiln_soup_free(&soup);
    printf("SOAK %zu tets: file, mesh, audit, file at %.2f GiB, %.1f bytes a tet in the mesh\n",
           wanted, (double)peak_kib() / (1 << 20), (double)kiln_mesh_bytes(mesh) / (double)wanted);
    fflush(stdout);
    kiln_mesh_destroy(mesh);
}

/* Each in a process of its own (Check forks), so that generating does not count. */
static char path[2][64];

static void name_files(void)
{
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "/tmp/kiln-large-%ld-%d.msh", (long)getppid(), i);
}

START_TEST(write_the_file)
{
    kiln_context *context = kiln_test_context(2);
    name_files();
    make_file(context, path[0], (unsigned)kiln_test_rounds(24, 119));
    kiln_context_destroy(context);
}
END_TEST

START_TEST(large_meshes_fit)
{
    unsigned cells = (unsigned)kiln_test_rounds(24, 119);
    name_files();
#ifndef KILN_SANITIZED /* whose shadow memory wants terabytes of addresses */
    struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
#endif
    kiln_context *context = kiln_test_context(2);
    read_audit_write(context, path[0], path[1], (size_t)6 * cells * cells * cells);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(remove_the_files)
{
    name_files();
    ck_assert_int_eq(unlink(path[0]), 0);
    ck_assert_int_eq(unlink(path[1]), 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("large");
    TCase *all = kiln_test_case(suite, "large");
    tcase_add_test(all, write_the_file);
    tcase_add_test(all, large_meshes_fit);
    tcase_add_test(all, remove_the_files);
    return suite;
}

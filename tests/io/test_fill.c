#include "fixture.h"
#include "io/fill.h"
#include "io/format.h"
#include "io/process.h"
#include "topology/import.h"

#include <sys/stat.h>

static void make_shape(kiln_context *context, const char *name, const char *setting,
                       kiln_soup *soup)
{
    const kiln_shape *shape = NULL;
    kiln_error error;
    kiln_soup_init(soup, context);
    ck_assert_int_eq(kiln_generator_find(name, &shape, NULL), KILN_OK);
    kiln_status status = kiln_shape_make(shape, setting ? 1 : 0, &setting, soup, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
}

static double tet_volume(const kiln_soup *s)
{
    double volume = 0;
    for (size_t i = 0; i < s->tets.count; i++) {
        const uint32_t *v = s->tets.data[i].v;
        const kiln_vec3 *p = s->points.data;
        double one = kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
        ck_assert_double_gt(one, 0);
        volume += one;
    }
    return volume;
}

/* A folder for the temporary files, so that what is left behind can be seen. */
static folder watch_temporary(void)
{
    folder made = make_folder();
    setenv("TMPDIR", made.path, 1);
    return made;
}

START_TEST(surfaces_are_filled)
{
    static const char *const shapes[][2] = {
        {"ball", "h=0.4"}, {"box", "n=3"}, {"torus", "h=0.3"}, {"polygon", "h=0.3"}};
    kiln_context *context = kiln_test_context(1);
    folder temporary = watch_temporary();
    for (size_t i = 0; i < 4; i++)
        for (int keep = 0; keep < 2; keep++) {
            kiln_soup solid, filled;
            kiln_error error = {0};
            make_shape(context, shapes[i][0], shapes[i][1], &solid);
            double volume = tet_volume(&solid);
            solid.tets.count = solid.tet_tags.count = 0;
            kiln_soup_init(&filled, context);
            kiln_fill_options options = kiln_fill_default_options();
            options.keep_surface = keep;
            kiln_status status = kiln_fill_surface(&solid, "s", &options, &filled, NULL, &error);
            ck_assert_msg(status == KILN_OK, "%s: %s", shapes[i][0], error.message);
            ck_assert_double_eq_tol(tet_volume(&filled), volume, 1e-9 * volume);
            ck_assert_int_eq(kiln_surface_is_closed(&filled, false, "f", NULL), KILN_OK);
            if (keep)
                ck_assert_uint_eq(filled.triangles.count, solid.triangles.count);
            /* Tags keep their area, and triangles look outward. */
            kiln_vec3 area[2][16] = {0};
            double enclosed = 0;
            for (int which = 0; which < 2; which++) {
                const kiln_soup *s = which ? &filled : &solid;
                for (size_t t = 0; t < s->triangles.count; t++) {
                    const uint32_t *v = s->triangles.data[t].v;
                    kiln_vec3 a = s->points.data[v[0]];
                    kiln_vec3 n = kiln_v3_cross(kiln_v3_sub(s->points.data[v[1]], a),
                                                kiln_v3_sub(s->points.data[v[2]], a));
                    kiln_vec3 *sum = &area[which][s->triangle_tags.data[t] & 15];
                    *sum = kiln_v3_add(*sum, n);
                    enclosed += which ? kiln_v3_dot(a, n) / 6 : 0;
                }
            }
            ck_assert_double_eq_tol(enclosed, volume, 1e-9 * volume);
            for (int tag = 0; tag < 16; tag++)
                ck_assert_double_lt(kiln_v3_norm(kiln_v3_sub(area[0][tag], area[1][tag])), 1e-9);
            ck_assert_int_eq(files_in(&temporary), 0);
            kiln_soup_free(&solid);
            kiln_soup_free(&filled);
        }
    remove_folder(&temporary);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(sizes_are_followed)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box, coarse, fine;
    make_shape(context, "box", "n=2", &box);
    kiln_fill_options options = kiln_fill_default_options();
    kiln_soup_init(&coarse, context);
    kiln_soup_init(&fine, context);
    options.keep_surface = false;
    ck_assert_int_eq(kiln_fill_surface(&box, "b", &options, &coarse, NULL, NULL), KILN_OK);
    options.max_edge = 0.1;
    ck_assert_int_eq(kiln_fill_surface(&box, "b", &options, &fine, NULL, NULL), KILN_OK);
    ck_assert_uint_gt(fine.tets.count, 6 * sqrt(2.0) / 1e-3);
    ck_assert_uint_lt(coarse.tets.count, 500);
    kiln_soup_free(&box);
    kiln_soup_free(&coarse);
    kiln_soup_free(&fine);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(surfaces_that_cannot_be_filled)
{
    kiln_context *context = kiln_test_context(1);
    folder temporary = watch_temporary();
    kiln_fill_options options = kiln_fill_default_options();
    kiln_soup box, inner, out;
    kiln_error error;
    make_shape(context, "box", "n=1", &box);
    kiln_soup_init(&out, context);

    box.triangles.count--;
    box.triangle_tags.count--;
    ck_assert_int_eq(kiln_fill_surface(&box, "open.stl", &options, &out, NULL, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "not closed: the edge from ("));
    ck_assert_ptr_nonnull(strstr(error.message, "belongs to 1 triangle"));
    ck_assert_str_eq(error.place, "open.stl");
    box.triangles.count++;
    box.triangle_tags.count++;

    ck_assert_ptr_nonnull(strstr(error.message, "envelope"));

    /* A triangle with two equal corners is dropped, and its hole is left. */
    uint32_t keep = box.triangles.data[0].v[1];
    box.triangles.data[0].v[1] = box.triangles.data[0].v[0];
    ck_assert_int_eq(kiln_fill_surface(&box, "s", &options, &out, NULL, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "not closed"));
    box.triangles.data[0].v[1] = 99;
    ck_assert_int_eq(kiln_fill_surface(&box, "s", &options, &out, NULL, &error), KILN_ERR_INPUT);
    box.triangles.data[0].v[1] = keep;

    /* Tolerances as large as the surface. */
    options.weld = 1;
    ck_assert_int_eq(kiln_fill_surface(&box, "s", &options, &out, NULL, &error), KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "too much"));
    options = kiln_fill_default_options();

    /* Two that cross, where that is not to be. */
    make_shape(context, "box", "n=1", &inner);
    for (size_t i = 0; i < inner.points.count; i++)
        inner.points.data[i] = kiln_v3_madd(kiln_v3(0.8, 0.3, 0.3), 0.4, inner.points.data[i]);
    ck_assert_int_eq(kiln_soup_append(&box, &inner, 0, NULL), KILN_OK);
    options.exact = true;
    ck_assert_int_eq(kiln_fill_surface(&box, "s", &options, &out, NULL, &error), KILN_ERR_INPUT);
    ck_assert_msg(strstr(error.message, "crosses or touches itself"), "%s", error.message);
    ck_assert_str_eq(error.place, "s");

    /* Folded flat: closed, and nothing inside. */
    for (size_t i = 0; i < box.points.count; i++)
        box.points.data[i].z = 0.0;
    ck_assert_int_eq(kiln_fill_surface(&box, "s", &options, &out, NULL, &error), KILN_ERR_INPUT);

    box.triangles.count = 0;
    box.triangle_tags.count = 0;
    ck_assert_int_eq(kiln_fill_surface(&box, "s", &options, &out, NULL, &error), KILN_ERR_INPUT);
    ck_assert_uint_eq(out.points.count, 0);
    ck_assert_int_eq(files_in(&temporary), 0);
    kiln_soup_free(&box);
    kiln_soup_free(&inner);
    remove_folder(&temporary);
    kiln_context_destroy(context);
}
END_TEST

static kiln_soup fill_it(const kiln_soup *surface, const kiln_fill_options *options,
                         kiln_fill_report *report)
{
    kiln_soup out;
    kiln_error error = {0};
    kiln_soup_init(&out, surface->context);
    kiln_status status = kiln_fill_surface(surface, "s", options, &out, report, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    return out;
}

/* Every surface of the shared data becomes a mesh; what had to be done to it is told. */
START_TEST(files_of_people_are_filled)
{
    static const struct {
        const char *file;
        double volume, within; /* relative */
    } rows[] = {{"fill/nested.stl", 4.15274 - 0.50588, 1e-5},
                {"fill/dup.obj", 4.15274, 1e-5},
                {"fill/soup_noise.stl", 4.15274, 1e-5},
                {"fill/tjunction.stl", 1.0, 1e-12},
                {"fill/selfx.stl", 6.87, 0.02}};
    kiln_context *context = kiln_test_context(2);
    folder temporary = watch_temporary();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int move = 0; move < 4; move++) {
            char path[512];
            kiln_soup surface;
            kiln_fill_report report;
            kiln_fill_options options = kiln_fill_default_options();
            const double scale = move == 2 ? 1e-3 : move == 3 ? 1e3 : 1;
            if (!kiln_test_data(rows[i].file, path, sizeof path))
                continue;
            if (i == 4 && move > 0)
                continue; /* test_envelope.c has these */
            kiln_soup_init(&surface, context);
            ck_assert_int_eq(kiln_soup_read(context, path, NULL, &surface, NULL), KILN_OK);
            for (size_t k = 0; k < surface.points.count; k++) {
                kiln_vec3 p = kiln_v3_scale(surface.points.data[k], scale);
                kiln_vec3 off = {2e6, -1e6, 3e6};
                surface.points.data[k] = move == 1 ? kiln_v3_add(p, off) : p;
            }
            kiln_soup out = fill_it(&surface, &options, &report);
            double volume = tet_volume(&out) / (scale * scale * scale);
            double within = fmax(rows[i].within, move == 1 ? 1e-7 : 0);
            ck_assert_msg(fabs(volume / rows[i].volume - 1) < within, "%s: %.9g", rows[i].file,
                          volume);
            ck_assert_double_gt(report.worst, 0.05);
            ck_assert_uint_eq(report.cavities, i == 0);
            ck_assert_uint_eq(report.mend.double_dropped, i == 1 ? 10 : 0);
            ck_assert_uint_eq(report.mend.points_welded > 0, i == 2);
            ck_assert_uint_eq(report.mend.edges_cut, i == 3);
            ck_assert_int_eq(report.enveloped, i == 4);
            ck_assert_int_eq(report.crossing[0] != 0, i == 4);
            ck_assert_int_eq(files_in(&temporary), 0);
            kiln_soup_free(&surface);
            kiln_soup_free(&out);
        }
    remove_folder(&temporary);
    kiln_context_destroy(context);
}
END_TEST

/* A box in a box in a box: parity, or a region for each; facing either way. */
START_TEST(shells_in_shells)
{
    kiln_context *context = kiln_test_context(1);
    folder temporary = watch_temporary();
    for (int turn = 0; turn < 4; turn++) {
        kiln_soup all, shell;
        kiln_fill_report report;
        kiln_fill_options options = kiln_fill_default_options();
        kiln_soup_init(&all, context);
        for (int depth = 0; depth < 3; depth++) {
            make_shape(context, "box", "n=2", &shell);
            shell.tets.count = shell.tet_tags.count = 0;
            double low = 0.15 * depth;
            for (size_t i = 0; i < shell.points.count; i++)
                shell.points.data[i] =
                    kiln_v3_madd(kiln_v3(low, low, low), 1 - 2 * low, shell.points.data[i]);
            for (size_t i = 0; i < shell.triangles.count && turn >> depth & 1; i++) {
                uint32_t *v = shell.triangles.data[i].v, keep = v[0];
                v[0] = v[1];
                v[1] = keep;
            }
            ck_assert_int_eq(kiln_soup_append(&all, &shell, 0, NULL), KILN_OK);
            kiln_soup_free(&shell);
        }
        const double v[3] = {1, 0.343, 0.064};
        kiln_soup out = fill_it(&all, &options, &report);
        ck_assert_double_eq_tol(tet_volume(&out), v[0] - v[1] + v[2], 1e-9);
        ck_assert_uint_eq(report.cavities, 1);
        kiln_soup_free(&out);
        options.regions = true;
        out = fill_it(&all, &options, &report);
        ck_assert_uint_eq(report.regions, 3);
        ck_assert_double_eq_tol(tet_volume(&out), v[0], 1e-9);
        double of[4] = {0};
        for (size_t t = 0; t < out.tets.count; t++) {
            const uint32_t *c = out.tets.data[t].v;
            const kiln_vec3 *p = out.points.data;
            of[out.tet_tags.data[t]] += kiln_tet_volume(p[c[0]], p[c[1]], p[c[2]], p[c[3]]);
        }
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq_tol(of[k + 1], v[k] - (k < 2 ? v[k + 1] : 0), 1e-9);
        kiln_soup_free(&out);
        kiln_soup_free(&all);
    }
    remove_folder(&temporary);
    kiln_context_destroy(context);
}
END_TEST

/* Two boxes that share an edge, or a corner, or neither: two solids all the same, and it is told.
 */
START_TEST(bodies_that_touch_are_separated)
{
    static const kiln_vec3 beside[] = {{1, 1, 0}, {1, 1, 1}, {1.5, 0, 0}};
    kiln_context *context = kiln_test_context(1);
    folder temporary = watch_temporary();
    for (int i = 0; i < 6; i++) {
        kiln_soup all, other;
        kiln_fill_report report;
        kiln_fill_options options = kiln_fill_default_options();
        kiln_mesh *mesh;
        options.size = i < 3 ? 0 : 0.4;
        make_shape(context, "box", "n=2", &all);
        make_shape(context, "box", "n=2", &other);
        for (size_t k = 0; k < other.points.count; k++)
            other.points.data[k] = kiln_v3_add(other.points.data[k], beside[i % 3]);
        ck_assert_int_eq(kiln_soup_append(&all, &other, 0, NULL), KILN_OK);
        all.tets.count = all.tet_tags.count = 0;
        kiln_soup out = fill_it(&all, &options, &report);
        ck_assert_int_eq(report.separated > 0, i % 3 < 2);
        ck_assert_double_eq_tol(tet_volume(&out), 2, 1e-9);
        ck_assert_int_eq(kiln_mesh_import(context, &out, "strict", NULL, &mesh, NULL, NULL),
                         KILN_OK);
        kiln_mesh_destroy(mesh);
        kiln_soup_free(&out);
        kiln_soup_free(&all);
        kiln_soup_free(&other);
    }
    remove_folder(&temporary);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(sizes_and_patches_are_made)
{
    kiln_context *context = kiln_test_context(1);
    folder temporary = watch_temporary();
    kiln_soup box;
    kiln_fill_report report;
    kiln_fill_options options = kiln_fill_default_options();
    make_shape(context, "box", "n=1", &box);
    box.triangle_tags.count = 0;
    options.size = 0.15;
    options.patch_angle = 30;
    kiln_soup out = fill_it(&box, &options, &report);
    double edges = 0, area[7] = {0};
    ck_assert_uint_eq(report.patches, 6);
    for (size_t i = 0; i < out.triangles.count; i++) {
        const uint32_t *v = out.triangles.data[i].v;
        const kiln_vec3 *p = out.points.data;
        kiln_vec3 a = kiln_v3_sub(p[v[1]], p[v[0]]), b = kiln_v3_sub(p[v[2]], p[v[0]]);
        edges += kiln_v3_norm(a) / (double)out.triangles.count;
        area[out.triangle_tags.data[i]] += 0.5 * kiln_v3_norm(kiln_v3_cross(a, b));
    }
    ck_assert_double_gt(edges, 0.1);
    ck_assert_double_lt(edges, 0.2);
    for (int k = 1; k < 7; k++)
        ck_assert_double_eq_tol(area[k], 1, 1e-9);
    ck_assert_double_eq_tol(tet_volume(&out), 1, 1e-9);
    kiln_soup_free(&out);
    kiln_soup_free(&box);
    remove_folder(&temporary);
    kiln_context_destroy(context);
}
END_TEST

static void note(void *user, kiln_log_level level, const char *message)
{
    (void)level;
    snprintf(user, 600, "%s", message);
}

/* A sheet that is a millionth thick: filled, and said what caps it. */
START_TEST(poor_results_are_told)
{
    char said[600] = "";
    kiln_context *context = kiln_test_context(1);
    folder temporary = watch_temporary();
    kiln_soup box;
    kiln_fill_report report;
    kiln_fill_options options = kiln_fill_default_options();
    make_shape(context, "box", "n=1", &box);
    for (size_t i = 0; i < box.points.count; i++)
        box.points.data[i].z *= 1e-6;
    kiln_soup out = fill_it(&box, &options, &report);
    ck_assert_double_lt(report.worst, 1e-3);
    ck_assert_double_eq_tol(report.thickness, 1e-6, 1e-8);
    context->log = note;
    context->log_user = said;
    kiln_fill_report_log(context, "s", &report);
    ck_assert_msg(strstr(said, "worst tet has a quality of"), "%s", said);
    ck_assert_msg(strstr(said, "the body is 1e-06 thick there"), "%s", said);
    context->log = NULL;
    kiln_soup_free(&out);
    kiln_soup_free(&box);
    remove_folder(&temporary);
    kiln_context_destroy(context);
}
END_TEST

static void write_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    chmod(path, 0700);
}

START_TEST(programs_that_fail)
{
    static const struct {
        const char *script, *message;
        kiln_status status;
    } cases[] = {
        {NULL, "apt-get install tetgen", KILN_ERR_UNSUPPORTED},
        {"#!/bin/sh\necho out of luck >&2\nexit 3\n", "failed with exit code 3: out of luck",
         KILN_ERR_IO},
        {"#!/bin/sh\nkill -SEGV $$\n", "stopped by signal 11", KILN_ERR_IO},
        {"#!/bin/sh\nexec sleep 60\n", "took longer than 0.3 seconds", KILN_ERR_LIMIT},
        {"#!/bin/sh\nexit 0\n", "cannot open", KILN_ERR_IO},
        {"#!/bin/sh\nd=$(dirname $2)\nprintf '4 3 0 0\\n0 0 0 0\\n1 1 0 0\\n2 0 1 0\\n3 0 0 1\\n' "
         "> "
         "$d/in.1.node\necho 0 4 0 > $d/in.1.ele\n",
         "made no tets", KILN_ERR_INPUT},
        {"#!/bin/sh\nd=$(dirname $2)\nprintf '4 3 0 0\\n0 0 0 0\\n1 1 0 0\\n2 0 1 0\\n3 0 0 1\\n' "
         "> "
         "$d/in.1.node\nprintf '1 4 0\\n0 0 1 2 9\\n' > $d/in.1.ele\n",
         "", KILN_ERR_INPUT},
    };
    kiln_context *context = kiln_test_context(1);
    folder temporary = watch_temporary(), scripts = make_folder();
    kiln_soup box, out;
    char path[160];
    make_shape(context, "box", "n=1", &box);
    in_folder(&scripts, "program", path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kiln_error error = {0};
        kiln_fill_options options = kiln_fill_default_options();
        options.seconds = i == 3 ? 0.3 : 20;
        options.program = path;
        if (cases[i].script)
            write_script(path, cases[i].script);
        kiln_soup_init(&out, context);
        kiln_status status = kiln_fill_surface(&box, "s", &options, &out, NULL, &error);
        ck_assert_msg(status == cases[i].status, "case %zu: %d %s", i, status, error.message);
        ck_assert_msg(strstr(error.message, cases[i].message) != NULL, "case %zu: %s", i,
                      error.message);
        ck_assert_uint_eq(out.points.count, 0);
        ck_assert_int_eq(files_in(&temporary), 0);
    }
    kiln_soup_free(&box);
    remove_folder(&temporary);
    remove_folder(&scripts);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(temporary_folder_cannot_be_made)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box, out;
    kiln_error error;
    make_shape(context, "box", "n=1", &box);
    kiln_soup_init(&out, context);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    kiln_fill_options options = kiln_fill_default_options();
    ck_assert_int_eq(kiln_fill_surface(&box, "s", &options, &out, NULL, &error), KILN_ERR_IO);
    kiln_soup_free(&box);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(allocations_may_fail)
{
    folder temporary = watch_temporary();
    kiln_status status = KILN_ERR_MEMORY;
    for (uint64_t k = 1; status != KILN_OK; k++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_soup box, out;
        make_shape(context, "box", "n=1", &box);
        kiln_soup_init(&out, context);
        heap.fail_at = heap.calls + k;
        kiln_fill_options options = kiln_fill_default_options();
        status = kiln_fill_surface(&box, "s", &options, &out, NULL, NULL);
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        ck_assert_int_eq(files_in(&temporary), 0);
        kiln_soup_free(&box);
        kiln_soup_free(&out);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
    remove_folder(&temporary);
}
END_TEST

START_TEST(random_cubes_are_whole)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup a, b, c;
    make_shape(context, "random", "points=8", &a);
    ck_assert_uint_eq(a.points.count, 8);
    ck_assert_double_eq_tol(tet_volume(&a), 1, 1e-12);
    kiln_soup_free(&a);
    make_shape(context, "random", "points=500", &a);
    make_shape(context, "random", "points=500", &b);
    make_shape(context, "random", "seed=2", &c);
    ck_assert_uint_eq(a.points.count, 500);
    ck_assert_double_eq_tol(tet_volume(&a), 1, 1e-12);
    ck_assert_int_eq(kiln_surface_is_closed(&a, false, "a", NULL), KILN_OK);
    int tags[7] = {0};
    for (size_t i = 0; i < a.triangles.count; i++)
        tags[a.triangle_tags.data[i]]++;
    ck_assert_int_eq(tags[0], 0);
    for (int i = 1; i <= 6; i++)
        ck_assert_int_gt(tags[i], 20);
    assert_same_mesh(&a, &b);
    ck_assert(c.points.data[100].x != a.points.data[100].x);
    kiln_soup_free(&a);
    kiln_soup_free(&b);
    kiln_soup_free(&c);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("fill");
    TCase *all = kiln_test_case(suite, "fill");
    tcase_add_test(all, surfaces_are_filled);
    tcase_add_test(all, sizes_are_followed);
    tcase_add_test(all, surfaces_that_cannot_be_filled);
    tcase_add_test(all, files_of_people_are_filled);
    tcase_add_test(all, shells_in_shells);
    tcase_add_test(all, bodies_that_touch_are_separated);
    tcase_add_test(all, sizes_and_patches_are_made);
    tcase_add_test(all, poor_results_are_told);
    tcase_add_test(all, programs_that_fail);
    tcase_add_test(all, temporary_folder_cannot_be_made);
    tcase_add_test(all, allocations_may_fail);
    tcase_add_test(all, random_cubes_are_whole);
    return suite;
}

/* Envelopes of surfaces broken at random: always a mesh, always within the distance. 30 of them in
 * make test, 200 and finer ones in make soak. */
#include "base/hash.h"
#include "broken.h"
#include "fixtures.h"
#include "geom/distance.h"
#include "geom/tet_quality.h"
#include "remesh/envelope.h"
#include "support.h"
#include "topology/surface_mend.h"

#include <stdio.h>

static double distance_to(const kiln_soup *s, kiln_vec3 p)
{
    double best2 = INFINITY;
    for (size_t i = 0; i < s->triangles.count; i++) {
        const uint32_t *v = s->triangles.data[i].v;
        kiln_vec3 t[3] = {s->points.data[v[0]], s->points.data[v[1]], s->points.data[v[2]]};
        best2 = fmin(best2, kiln_triangle_distance2(p, t));
    }
    return sqrt(best2);
}

/* A valid manifold mesh, as tets and as a surface. */
static void check_mesh(kiln_context *context, const kiln_soup *out)
{
    kiln_mesh *mesh;
    kiln_error error = {0};
    kiln_build_options strict = kiln_build_default_options();
    kiln_build_report report;
    kiln_status status = kiln_mesh_build(context, out, &strict, &mesh, &report, &error);
    ck_assert_msg(status == KILN_OK, "%s", error.message);
    kiln_test_audit(mesh);
    kiln_mesh_destroy(mesh);
}

typedef struct tally {
    size_t tets, spanning;
    double worst, of_distance;
} tally;

/* By an arithmetic of its own: middles of the boundary's triangles against all of the surface. What
 * is farther spans a hole, and no more of the boundary does than the report says. */
static void check_distance(const kiln_soup *surface, const kiln_soup *out,
                           const kiln_envelope_report *report, tally *sum)
{
    double area = 0, far = 0;
    for (size_t i = 0; i < out->triangles.count; i++) {
        const uint32_t *v = out->triangles.data[i].v;
        const kiln_vec3 *p = out->points.data;
        kiln_vec3 middle =
            kiln_v3_scale(kiln_v3_add(kiln_v3_add(p[v[0]], p[v[1]]), p[v[2]]), 1.0 / 3);
        double own = kiln_v3_norm(
            kiln_v3_cross(kiln_v3_sub(p[v[1]], p[v[0]]), kiln_v3_sub(p[v[2]], p[v[0]])));
        double off = distance_to(surface, middle);
        area += own;
        far += off > report->distance ? own : 0;
        ck_assert_double_le(off, fmax(report->distance, report->widest) * (1 + 1e-9));
    }
    /* A triangle counts whole by its middle here, by its points there. */
    ck_assert_double_le(far / area, 2 * report->spanned + 0.01);
    sum->of_distance = fmax(sum->of_distance, report->outward / report->distance);
    sum->spanning += report->spanned > 0;
}

START_TEST(broken_surfaces_are_filled)
{
    uint64_t count = kiln_test_rounds(30, 200);
    double part = count > 30 ? 1.0 / 100 : 1.0 / 40;
    tally sum = {.worst = 1};
    for (uint64_t seed = 0; seed < count; seed++) {
        kiln_context *context = kiln_test_context(2);
        kiln_soup surface = kiln_test_broken(context, seed), out;
        kiln_envelope_report report;
        kiln_error error = {0};
        kiln_envelope_options options = {.distance = part * kiln_surface_diagonal(&surface),
                                         .size = 5 * part * kiln_surface_diagonal(&surface)};
        kiln_soup_init(&out, context);
        kiln_status status = kiln_envelope_fill(&surface, "s", &options, &out, &report, &error);
        ck_assert_msg(status == KILN_OK, "seed %d: %s", (int)seed, error.message);
        ck_assert_msg(report.kept, "seed %d: %g of %g", (int)seed, report.outward, report.distance);
        ck_assert_double_le(report.outward, report.distance);
        check_mesh(context, &out);
        check_distance(&surface, &out, &report, &sum);
        sum.tets += out.tets.count;
        sum.worst = fmin(sum.worst, report.worst);
        ck_assert_msg(report.worst > 0.01, "seed %d: q %g", (int)seed, report.worst);
        kiln_soup_free(&surface);
        kiln_soup_free(&out);
        kiln_context_destroy(context);
    }
    printf("SOAK %d broken surfaces: %zu tets in all, worst q %.3g, at most %.4f of the distance, "
           "%zu span holes\n",
           (int)count, sum.tets, sum.worst, sum.of_distance, sum.spanning);
}
END_TEST

static uint64_t hash_of(const kiln_soup *s)
{
    uint64_t hash = kiln_hash_bytes(0, s->points.data, s->points.count * sizeof *s->points.data);
    return kiln_hash_bytes(hash, s->tets.data, s->tets.count * sizeof *s->tets.data);
}

static uint64_t fill_with(int threads, uint64_t seed, double scale)
{
    kiln_context *context = kiln_test_context(threads);
    kiln_soup surface = kiln_test_broken(context, seed), out;
    kiln_envelope_report report;
    for (size_t i = 0; i < surface.points.count; i++)
        surface.points.data[i] = kiln_v3_scale(surface.points.data[i], scale);
    kiln_envelope_options options = {.distance = kiln_surface_diagonal(&surface) / 40,
                                     .size = kiln_surface_diagonal(&surface) / 8};
    kiln_soup_init(&out, context);
    ck_assert_int_eq(kiln_envelope_fill(&surface, "s", &options, &out, &report, NULL), KILN_OK);
    ck_assert(report.kept);
    for (size_t i = 0; i < out.points.count; i++)
        out.points.data[i] = kiln_v3_scale(out.points.data[i], 1 / scale);
    uint64_t hash = hash_of(&out);
    kiln_soup_free(&surface);
    kiln_soup_free(&out);
    kiln_context_destroy(context);
    return hash;
}

START_TEST(threads_and_units_do_not_matter)
{
    for (uint64_t seed = 3; seed < 6; seed++) {
        uint64_t one = fill_with(1, seed, 1);
        ck_assert_uint_eq(one, fill_with(2, seed, 1));
        ck_assert_uint_eq(one, fill_with(2, seed, 0x1p-10)); /* powers of two: to the bit */
        ck_assert_uint_eq(one, fill_with(2, seed, 0x1p10));
    }
}
END_TEST

/* Volume of a body whose surface is whole: as near as its distance allows. */
START_TEST(volumes_are_right)
{
    static const struct {
        const char *shape, *settings;
        double volume;
    } rows[] = {{"ball", "radius=1 h=0.2", 4.06},
                {"box", "n=3", 1.0},
                {"torus", "major=1 minor=0.4 h=0.2", 3.0}};
    kiln_context *context = kiln_test_context(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kiln_soup solid = kiln_test_soup(context, rows[i].shape, rows[i].settings), out;
        kiln_envelope_report report;
        double before = 0, after = 0;
        kiln_test_turn(&solid, i);
        for (size_t t = 0; t < solid.tets.count; t++) {
            const uint32_t *v = solid.tets.data[t].v;
            const kiln_vec3 *p = solid.points.data;
            before += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
        }
        kiln_envelope_options options = {.distance = kiln_surface_diagonal(&solid) / 100};
        kiln_soup_init(&out, context);
        ck_assert_int_eq(kiln_envelope_fill(&solid, "s", &options, &out, &report, NULL), KILN_OK);
        for (size_t t = 0; t < out.tets.count; t++) {
            const uint32_t *v = out.tets.data[t].v;
            const kiln_vec3 *p = out.points.data;
            after += kiln_tet_volume(p[v[0]], p[v[1]], p[v[2]], p[v[3]]);
        }
        ck_assert_msg(fabs(after / before - 1) < 0.02, "%s: %g of %g", rows[i].shape, after,
                      before);
        ck_assert_double_le(report.outward, report.distance);
        ck_assert_double_le(report.backward, report.distance);
        ck_assert_double_eq(report.spanned, 0);
        ck_assert_double_gt(report.worst, 0.1);
        kiln_soup_free(&solid);
        kiln_soup_free(&out);
    }
    kiln_context_destroy(context);
}
END_TEST

/* A neck that is too thin for the envelope is lost, and the parts it held together are counted. */
START_TEST(parts_are_counted)
{
    kiln_context *context = kiln_test_context(1);
    for (int thin = 0; thin < 2; thin++) {
        kiln_soup solid = kiln_test_soup(context, "cylinder", "radius=0.5 height=3 h=0.25"), out;
        kiln_envelope_report report;
        double low = INFINITY;
        for (size_t i = 0; i < solid.points.count; i++)
            low = fmin(low, solid.points.data[i].z);
        for (size_t i = 0; i < solid.points.count && thin; i++) {
            kiln_vec3 *p = &solid.points.data[i];
            double part = fabs(p->z - low - 1.5) < 0.6 ? 0.004 : 1.0;
            *p = kiln_v3(part * p->x, part * p->y, p->z);
        }
        kiln_envelope_options options = {.distance = 0.05};
        kiln_soup_init(&out, context);
        ck_assert_int_eq(kiln_envelope_fill(&solid, "s", &options, &out, &report, NULL), KILN_OK);
        ck_assert_uint_eq(report.pieces, 1);
        ck_assert_uint_eq(report.parts, 1 + thin);
        kiln_soup_free(&solid);
        kiln_soup_free(&out);
    }
    kiln_context_destroy(context);
}
END_TEST

START_TEST(what_cannot_be_meant)
{
    kiln_context *context = kiln_test_context(1);
    kiln_soup box = kiln_test_soup(context, "box", "n=2"), out;
    kiln_envelope_report report;
    kiln_error error;
    kiln_soup_init(&out, context);
    /* Too fine for so few tets: said, with both figures. */
    kiln_test_turn(&box, 1);
    kiln_envelope_options options = {.distance = 1e-3, .most_tets = 20000};
    ck_assert_int_eq(kiln_envelope_fill(&box, "s", &options, &out, &report, &error),
                     KILN_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(error.message, "an envelope of 0.001"));
    ck_assert_uint_eq(out.tets.count, 0);
    /* One triangle has no inside. */
    box.triangles.count = box.triangle_tags.count = 1;
    options = (kiln_envelope_options){.distance = 0.01};
    ck_assert_int_eq(kiln_envelope_fill(&box, "s", &options, &out, &report, &error),
                     KILN_ERR_INPUT);
    ck_assert_ptr_nonnull(strstr(error.message, "nothing is inside, near ("));
    box.triangles.count = box.triangle_tags.count = 0;
    ck_assert_int_eq(kiln_envelope_fill(&box, "s", &options, &out, &report, &error),
                     KILN_ERR_INPUT);
    kiln_soup_free(&box);
    kiln_context_destroy(context);
}
END_TEST

/* Every allocation fails once, or every hundredth in a quick run. */
START_TEST(allocations_may_fail)
{
    kiln_status status = KILN_ERR_MEMORY;
    uint64_t step = kiln_test_rounds(97, 11);
    for (uint64_t k = 1; status != KILN_OK; k += step) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_soup box = kiln_test_soup(context, "box", "n=1"), out;
        kiln_envelope_report report;
        kiln_envelope_options options = {.distance = 0.15, .size = 0.6};
        kiln_soup_init(&out, context);
        heap.fail_at = heap.calls + k;
        status = kiln_envelope_fill(&box, "s", &options, &out, &report, NULL);
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        kiln_soup_free(&box);
        kiln_soup_free(&out);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_blocks, 0);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("envelope");
    TCase *all = kiln_test_case(suite, "envelope");
    tcase_add_test(all, broken_surfaces_are_filled);
    tcase_add_test(all, threads_and_units_do_not_matter);
    tcase_add_test(all, volumes_are_right);
    tcase_add_test(all, parts_are_counted);
    tcase_add_test(all, what_cannot_be_meant);
    tcase_add_test(all, allocations_may_fail);
    return suite;
}

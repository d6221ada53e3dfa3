/* kiln_mesh_improve as a user of the library calls it. */
#include "fixtures.h"
#include "base/random.h"
#include "geom/predicates.h"
#include "geom/tet_quality.h"
#include "remesh/facets.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>

static kiln_mesh *bad_box(kiln_context *context)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(mesh, 0.11, 3);
    return mesh;
}

static double worst_of(const kiln_mesh *mesh)
{
    double worst, mean;
    kiln_mesh_quality(mesh, KILN_SPACE_MATERIAL, &worst, &mean);
    return worst;
}

static kiln_mesh_improve_report improve(kiln_mesh *mesh, const kiln_mesh_improve_options *options)
{
    kiln_mesh_improve_report report;
    kiln_error error;
    char text[800];
    ck_assert_msg(kiln_mesh_improve(mesh, options, &report, &error) == KILN_OK, "%s",
                  kiln_error_format(&error, text, sizeof text));
    kiln_test_audit(mesh);
    ck_assert_uint_eq(report.tets_after, kiln_mesh_count(mesh, KILN_ON_TET));
    return report;
}

START_TEST(goal_and_aggressive)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh *mesh = bad_box(context);
    double before = worst_of(mesh);
    ck_assert_double_lt(before, 0.3);
    options.goal = 0.3;
    kiln_mesh_improve_report goal = improve(mesh, &options);
    ck_assert_double_eq_tol(goal.worst_before, before, 1e-14);
    ck_assert_double_eq_tol(goal.worst_after, worst_of(mesh), 1e-14);
    ck_assert_double_ge(goal.worst_after, 0.3);
    ck_assert_uint_eq(goal.below_goal, 0);
    ck_assert_double_lt(goal.of_band, 1e-9);
    ck_assert_double_lt(fabs(goal.volume_change), 1e-12);

    options.aggressive = true;
    kiln_mesh_improve_report best = improve(mesh, &options);
    ck_assert_double_gt(best.worst_after, goal.worst_after);
    ck_assert_double_lt(best.of_band, 1e-9);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Each measure is the one that is raised, and reported. */
START_TEST(measures)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    double seen[3];
    for (int m = 0; m < 3; m++) {
        kiln_mesh *mesh = bad_box(context);
        options.measure = (kiln_measure)m;
        options.goal = 0.35;
        kiln_mesh_improve_report report = improve(mesh, &options);
        ck_assert_double_ge(report.worst_after, 0.35);
        seen[m] = report.worst_before;
        kiln_mesh_destroy(mesh);
    }
    ck_assert_double_ne(seen[0], seen[1]);
    ck_assert_double_ne(seen[0], seen[2]);
    kiln_context_destroy(context);
}
END_TEST

/* keep leaves the vertices of a curved surface where they are; quadric may move them, within the
 * band. */
START_TEST(surface_modes)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh_improve_report report[3];
    options.aggressive = true;
    for (int m = 0; m < 3; m++) {
        kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.5");
        kiln_test_jitter(mesh, 0.1, 5);
        options.surface = (kiln_surface_mode)m;
        report[m] = improve(mesh, &options);
        ck_assert_double_gt(report[m].worst_after, report[m].worst_before);
        ck_assert_double_le(report[m].of_band, 1.0);
        kiln_mesh_destroy(mesh);
    }
    ck_assert_double_lt(report[KILN_SURFACE_KEEP].of_band, 1e-9);
    ck_assert_double_gt(report[KILN_SURFACE_QUADRIC].hausdorff, 0.0);
    kiln_context_destroy(context);
}
END_TEST

/* A size given makes the mesh as fine as asked for, fields, regions and tags come along. */
/* A box with a roof of two flat halves that turn by 23 degrees, `far` away. */
static kiln_mesh *roof(kiln_context *context, double far)
{
    const double slope = 0.2;
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=6 ny=6 nz=6");
    kiln_test_jitter(mesh, 0.05, 7);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->u[v];
        p.z *= 1.0 + slope * (0.5 - fabs(p.x - 0.5));
        mesh->u[v] = mesh->x[v] = kiln_v3_add(p, kiln_v3(far, far, far));
    }
    return mesh;
}

static bool is_on_crease(const kiln_mesh *mesh, uint32_t v, double far)
{
    kiln_vec3 p = mesh->u[v];
    return fabs(p.x - far - 0.5) < 1e-6 && fabs(p.z - far - 1.1) < 1e-6;
}

/* A crease between two flat facets is one at any angle, near the origin and far from it; a ball has
 * none. */
START_TEST(creases_between_facets)
{
    kiln_context *context = kiln_test_context(1);
    const double far[] = {0.0, 1e6};
    for (int i = 0; i < 2; i++) {
        kiln_mesh *mesh = roof(context, far[i]);
        size_t on_crease = 0;
        ck_assert_int_eq(kiln_mark_facets(mesh, KILN_PI, NULL), KILN_OK);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            bool crease = is_on_crease(mesh, v, far[i]);
            on_crease += crease;
            if (crease)
                ck_assert(mesh->vertex[v].flags & KILN_VERTEX_FEATURE);
        }
        ck_assert_uint_eq(on_crease, 7);
        kiln_test_audit(mesh);
        kiln_mesh_destroy(mesh);
    }
    kiln_mesh *ball = kiln_test_mesh(context, "ball", "h=0.3");
    ck_assert_int_eq(kiln_mark_facets(ball, KILN_PI, NULL), KILN_OK);
    for (uint32_t v = 0; v < ball->table[KILN_ON_VERTEX].used; v++)
        ck_assert(!(ball->vertex[v].flags & KILN_VERTEX_FEATURE));
    kiln_mesh_destroy(ball);
    kiln_context_destroy(context);
}
END_TEST

/* So the surface of a polyhedron stays, whatever freedom it has, and ends no worse for it. */
START_TEST(polyhedra_stay)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh_improve_report report[2];
    options.aggressive = true;
    for (int m = 0; m < 2; m++) {
        kiln_mesh *mesh = roof(context, 0.0);
        options.surface = m ? KILN_SURFACE_QUADRIC : KILN_SURFACE_KEEP;
        report[m] = improve(mesh, &options);
        ck_assert_double_lt(report[m].hausdorff, 1e-9);
        kiln_mesh_destroy(mesh);
    }
    ck_assert_double_ge(report[1].worst_after, report[0].worst_after);
    kiln_context_destroy(context);
}
END_TEST

/* The mean rises with the worst, and a second run has nothing left to do. */
START_TEST(mean_and_second_run)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.35");
    kiln_test_jitter(mesh, 0.1, 5);
    options.aggressive = true;
    kiln_mesh_improve_report first = improve(mesh, &options);
    ck_assert_double_gt(first.worst_after, 0.5);
    ck_assert_double_gt(first.mean_after, 0.78);
    ck_assert_double_gt(first.mean_after, first.mean_before);
    kiln_mesh_improve_report second = improve(mesh, &options);
    ck_assert_double_ge(second.worst_after, first.worst_after);
    ck_assert_double_lt(second.worst_after, first.worst_after + 1e-3);
    ck_assert_double_lt(second.mean_after, first.mean_after + 1e-3);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Where the surface keeps tets poor, vertices inside raise the mean. */
START_TEST(vertices_raise_mean)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh *mesh = kiln_test_mesh(context, "torus", "major=1 minor=0.25 h=0.22");
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        mesh->u[v].x *= 3.0;
        mesh->x[v] = mesh->u[v];
    }
    options.aggressive = true;
    options.surface = KILN_SURFACE_KEEP;
    kiln_mesh_improve_report report = improve(mesh, &options);
    ck_assert_double_gt(report.worst_after, 0.35);
    ck_assert_double_gt(report.mean_after, 0.738);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* The smallest sine is best where it is what counts. */
START_TEST(measures_win_by_themselves)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    double sine[2];
    options.aggressive = true;
    for (int m = 0; m < 2; m++) {
        kiln_mesh *mesh = bad_box(context);
        options.measure = m ? KILN_MEASURE_MIN_SINE : KILN_MEASURE_QUALITY;
        improve(mesh, &options);
        sine[m] = INFINITY;
        for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
            const uint32_t *v = mesh->tet[t].v;
            sine[m] = fmin(sine[m], kiln_tet_min_sine(&mesh->u[v[0]], &mesh->u[v[1]],
                                                      &mesh->u[v[2]], &mesh->u[v[3]]));
        }
        kiln_mesh_destroy(mesh);
    }
    ck_assert_double_ge(sine[1], sine[0]);
    kiln_context_destroy(context);
}
END_TEST

/* A plate that is much thinner than its edges are long asks for more tets than anyone wants. */
START_TEST(thin_bodies_end)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lz=0.002 nx=12 ny=12 nz=1");
    options.goal = 0.3;
    kiln_mesh_improve_report report = improve(mesh, &options);
    ck_assert_double_ge(report.worst_after, report.worst_before);
    ck_assert_uint_le(report.tets_after, 4 * report.tets_before);
    ck_assert_uint_gt(report.below_goal, 0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(size_fields_and_tags)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    size_t tets = kiln_mesh_count(mesh, KILN_ON_TET);
    double x[64][3], f[64];
    ck_assert_uint_eq(kiln_mesh_count(mesh, KILN_ON_VERTEX), 64);
    kiln_mesh_copy_positions(mesh, KILN_SPACE_WORLD, x[0]);
    for (int i = 0; i < 64; i++)
        f[i] = 1 + 2 * x[i][0] - x[i][2];
    ck_assert_int_eq(kiln_mesh_set_field(mesh, KILN_ON_VERTEX, "f", 1, f, NULL), KILN_OK);
    options.size = 0.18;
    for (int aggressive = 0; aggressive < 2; aggressive++) {
        options.aggressive = aggressive;
        kiln_mesh_improve_report report = improve(mesh, &options);
        ck_assert_uint_gt(report.tets_after, 3 * tets);
        ck_assert_uint_lt(report.tets_after, 20 * tets);
        ck_assert_double_lt(report.of_band, 1e-9);
    }
    size_t count = kiln_mesh_count(mesh, KILN_ON_VERTEX);
    size_t faces = kiln_mesh_count(mesh, KILN_ON_FACE);
    double *p = malloc(count * 3 * sizeof *p), *g = malloc(count * sizeof *g);
    int32_t *tag = malloc(faces * sizeof *tag), seen = 0;
    kiln_mesh_copy_positions(mesh, KILN_SPACE_WORLD, p);
    ck_assert_int_eq(kiln_mesh_get_field(mesh, KILN_ON_VERTEX, "f", g, NULL), KILN_OK);
    for (size_t i = 0; i < count; i++)
        ck_assert_double_eq_tol(g[i], 1 + 2 * p[3 * i] - p[3 * i + 2], 1e-9);
    kiln_mesh_copy_tags(mesh, KILN_ON_FACE, tag);
    for (size_t i = 0; i < faces; i++)
        seen |= 1 << tag[i];
    ck_assert_int_eq(seen, 0x7e);
    free(p);
    free(g);
    free(tag);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A mesh of a shape, turned, scaled and moved away. */
static kiln_mesh *elsewhere(kiln_context *context, const char *shape, const char *settings,
                            double scale, double away)
{
    kiln_soup soup = kiln_test_soup(context, shape, settings);
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(1, 2, 3), 0.7);
    kiln_vec3 shift = kiln_v3(away, -2 * away, away / 3);
    kiln_mesh *mesh;
    for (size_t i = 0; i < soup.points.count; i++) {
        kiln_vec3 p = kiln_m3_apply(turn, soup.points.data[i]);
        soup.points.data[i] = kiln_v3_scale(kiln_v3_add(p, shift), scale);
    }
    ck_assert_int_eq(kiln_mesh_build(context, &soup, NULL, &mesh, NULL, NULL), KILN_OK);
    kiln_soup_free(&soup);
    return mesh;
}

/* Sizes take several passes, which together keep to the band of the surface they were given. */
/* A turned box whose middle vertex is nearly on a face. */
static kiln_mesh *flattened_box(kiln_context *context, kiln_random *random)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    const kiln_mat3 turn = kiln_m3_rotation(kiln_v3(1, 2, 3), kiln_random_range(random, 0, 3));
    kiln_vec3 middle = {kiln_random_range(random, 0, 2e-16), kiln_random_range(random, 0.3, 0.7),
                        kiln_random_range(random, 0.3, 0.7)};
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        bool inside = kiln_v3_norm(kiln_v3_sub(mesh->u[v], kiln_v3(0.5, 0.5, 0.5))) < 1e-6;
        mesh->u[v] = mesh->x[v] = kiln_m3_apply(turn, inside ? middle : mesh->u[v]);
    }
    return mesh;
}

/* Whether all tets are positive, one or more by so little that their rounded volume is not. */
static bool is_flat_by_rounding(const kiln_mesh *mesh)
{
    bool flat = false;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        const uint32_t *v = mesh->tet[t].v;
        const kiln_vec3 *u = mesh->u;
        if (kiln_orient3d_sign(u[v[0]], u[v[1]], u[v[2]], u[v[3]]) <= 0)
            return false;
        flat = flat || kiln_tet_volume(u[v[0]], u[v[1]], u[v[2]], u[v[3]]) <= 0.0;
    }
    return flat;
}

/* Such as TetGen leaves on flat faces that are turned: they imply no size. */
START_TEST(sizes_take_flat_tets)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_random random = kiln_random_start(5, 0);
    int tried = 0;
    options.size = 0.3;
    for (int i = 0; i < 2000 && tried < 6; i++) {
        kiln_mesh *mesh = flattened_box(context, &random);
        if (is_flat_by_rounding(mesh)) {
            ck_assert_double_gt(improve(mesh, &options).worst_after, 0.15);
            tried++;
        }
        kiln_mesh_destroy(mesh);
    }
    ck_assert_int_eq(tried, 6);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(sizes_keep_to_the_band)
{
    static const struct {
        const char *shape, *settings;
        double size;
    } shapes[] = {{"ball", "h=0.4", 1.2},
                  {"cylinder", "h=0.2", 0.6},
                  {"cone", "h=0.15", 0.4},
                  {"bowl", "h=0.15", 0.4}};
    static const double scale[] = {1, 1e-3, 1e3}, away[] = {0, 0, 50};
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    for (int i = 0; i < 12; i++) {
        const double unit = scale[i % 3];
        kiln_mesh *mesh =
            elsewhere(context, shapes[i / 3].shape, shapes[i / 3].settings, unit, away[i % 3]);
        options.size = shapes[i / 3].size * unit;
        options.aggressive = i % 3 == 1;
        kiln_mesh_improve_report report = improve(mesh, &options);
        ck_assert_uint_lt(report.tets_after, report.tets_before);
        ck_assert_msg(report.of_band <= 1.0, "%s, unit %g: %g bands", shapes[i / 3].shape, unit,
                      report.of_band);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

/* Where the band allows no longer edges, none are asked for: nothing is spoilt on the way there. */
START_TEST(sizes_out_of_reach_cost_no_quality)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh *mesh = elsewhere(context, "cylinder", "h=0.2", 1, 0);
    options.goal = 0.5;
    options.size = 0.9;
    kiln_mesh_improve_report report = improve(mesh, &options);
    ck_assert_uint_lt(report.tets_after, 0.7 * report.tets_before);
    ck_assert_double_ge(report.worst_after, 0.5);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static bool stop_at_once(void *user, size_t tets, double worst)
{
    ++*(int *)user;
    ck_assert_uint_gt(tets, 0);
    ck_assert_double_le(worst, 1.0);
    return false;
}

START_TEST(stops_when_told)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh *mesh = bad_box(context);
    int calls = 0;
    options.aggressive = true;
    options.progress = stop_at_once;
    options.user = &calls;
    kiln_mesh_improve_report report = improve(mesh, &options);
    ck_assert(report.stopped);
    ck_assert_int_gt(calls, 0);
    ck_assert_double_ge(report.worst_after, report.worst_before);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bad_options_change_nothing)
{
    static const struct {
        kiln_mesh_improve_options options;
        const char *place;
    } cases[] = {{{.goal = 0.0}, "goal"},
                 {{.goal = 1.0}, "goal"},
                 {{.goal = NAN}, "goal"},
                 {{.goal = 0.2, .size = -1.0}, "size"},
                 {{.goal = 0.2, .size = INFINITY}, "size"},
                 {{.goal = 0.2, .size = 1e300}, "size"},
                 {{.goal = 0.2, .size = 1e-300}, "size"},
                 {{.goal = 0.2, .measure = (kiln_measure)3}, "measure or surface"},
                 {{.goal = 0.2, .surface = (kiln_surface_mode)3}, "measure or surface"}};
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = bad_box(context);
    uint64_t hash = kiln_mesh_hash(mesh);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln_error error;
        ck_assert_int_eq(kiln_mesh_improve(mesh, &cases[i].options, NULL, &error), KILN_ERR_INPUT);
        ck_assert_str_eq(error.place, cases[i].place);
    }
    ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Wherever memory runs out the mesh stays valid, and nothing leaks. */
START_TEST(out_of_memory)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh_improve_options options = kiln_mesh_improve_default_options();
    kiln_mesh_improve_report report;
    options.goal = 0.3;
    kiln_status status = KILN_ERR_MEMORY;
    uint64_t refused = 0;
    for (uint64_t n = 1; status != KILN_OK; n += 1 + n / 16) {
        kiln_mesh *mesh = bad_box(context);
        heap.fail_at = heap.calls + n;
        status = kiln_mesh_improve(mesh, &options, n % 2 ? &report : NULL, NULL);
        heap.fail_at = 0;
        kiln_test_audit(mesh);
        ck_assert(status == KILN_OK || status == KILN_ERR_MEMORY);
        refused += status != KILN_OK;
        kiln_mesh_destroy(mesh);
    }
    ck_assert_uint_gt(refused, 10);
    kiln_context_destroy(context);
    ck_assert_int_eq(heap.live_blocks, 0);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("mesh_improve");
    TCase *all = kiln_test_case(suite, "mesh_improve");
    tcase_add_test(all, goal_and_aggressive);
    tcase_add_test(all, measures);
    tcase_add_test(all, surface_modes);
    tcase_add_test(all, creases_between_facets);
    tcase_add_test(all, polyhedra_stay);
    tcase_add_test(all, mean_and_second_run);
    tcase_add_test(all, vertices_raise_mean);
    tcase_add_test(all, measures_win_by_themselves);
    tcase_add_test(all, thin_bodies_end);
    tcase_add_test(all, size_fields_and_tags);
    tcase_add_test(all, sizes_take_flat_tets);
    tcase_add_test(all, sizes_keep_to_the_band);
    tcase_add_test(all, sizes_out_of_reach_cost_no_quality);
    tcase_add_test(all, stops_when_told);
    tcase_add_test(all, bad_options_change_nothing);
    tcase_add_test(all, out_of_memory);
    return suite;
}

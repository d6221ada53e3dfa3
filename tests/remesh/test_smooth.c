#include "fixtures.h"
#include "geom/distance.h"
#include "remesh/proposal.h"
#include "remesh/sizing.h"
#include "remesh/smooth.h"
#include "remesh/smooth_climb.h"
#include "remesh/surface.h"
#include "support.h"

static const kiln_measure measures[3] = {KILN_MEASURE_QUALITY, KILN_MEASURE_MIN_SINE,
                                         KILN_MEASURE_VOLUME_LENGTH};

static kiln_vec3 random_point(kiln_random *random, double size)
{
    double x = kiln_random_range(random, -size, size), y = kiln_random_range(random, -size, size);
    return kiln_v3(x, y, kiln_random_range(random, -size, size));
}

static kiln_remesher begin(kiln_mesh *mesh, kiln_measure measure, kiln_surface_mode mode)
{
    kiln_remesh_options options = kiln_remesh_default_options();
    options.surface = mode;
    options.measure = measure;
    kiln_remesher remesher;
    kiln_error error = {0};
    ck_assert_msg(kiln_remesher_begin(mesh, &options, &remesher, &error) == KILN_OK, "%s",
                  error.message);
    return remesher;
}

/* Values against those of whole tets and gradients against differences, in every instruction set
 * and also where the volume vanishes. */
START_TEST(gradients_are_right)
{
    kiln_random random = kiln_random_start(1, 0);
    enum { TETS = 11 };
    for (int round = 0; round < 60; round++) {
        kiln_measure measure = measures[round % 3];
        for (int isa = 0; isa <= (int)kiln_isa_best(); isa++) {
            _Alignas(64) char memory[65536];
            ck_assert_uint_le(kiln_star_record_bytes(measure, TETS), sizeof memory);
            kiln_star_record star = kiln_star_record_in(memory, (kiln_isa)isa, measure, TETS);
            const kiln_vec3 *corner[3 * 16];
            kiln_vec3 y[TETS][3], x = random_point(&random, 0.3);
            for (int t = 0; t < TETS; t++) {
                for (int k = 0; k < 3; k++)
                    y[t][k] = random_point(&random, 1);
                if (t == 3) { /* x in the plane of the face */
                    y[t][2] = kiln_v3_add(kiln_v3_lerp(y[t][0], y[t][1], 0.4),
                                          kiln_v3_scale(kiln_v3_sub(x, y[t][0]), 0.7));
                }
                for (int k = 0; k < 3; k++)
                    corner[3 * t + k] = &y[t][k];
            }
            kiln_star_frame frame = {.unit = 1.0};
            kiln_star_record_fill(&star, &frame, corner);
            double least = kiln_star_gradients(&star, x), expected = INFINITY;
            for (int t = 0; t < TETS; t++)
                expected =
                    fmin(expected, kiln_tet_measure(measure, &x, &y[t][0], &y[t][1], &y[t][2]));
            /* The least sine is that of det times the least factor: the sign decides which. */
            if (measure != KILN_MEASURE_MIN_SINE)
                ck_assert_double_eq_tol(least, expected, 1e-12);
            kiln_vec3 g[6 * TETS];
            for (size_t i = 0; i < star.functions; i++)
                g[i] = kiln_v3(star.gradient[0][i], star.gradient[1][i], star.gradient[2][i]);
            const double step = 1e-6;
            for (int k = 0; k < 3; k++) {
                double plus[6 * TETS];
                kiln_vec3 axis = kiln_v3(k == 0, k == 1, k == 2);
                kiln_star_values(&star, kiln_v3_madd(x, step, axis));
                memcpy(plus, star.value, star.functions * sizeof *plus);
                kiln_star_values(&star, kiln_v3_madd(x, -step, axis));
                for (size_t i = 0; i < star.functions; i++) {
                    double slope = (plus[i] - star.value[i]) / (2 * step);
                    ck_assert_double_eq_tol(kiln_v3_dot(g[i], axis), slope,
                                            2e-7 * (1 + kiln_v3_norm(g[i])));
                }
            }
        }
    }
}
END_TEST

/* alpha - beta Q of planes and lines. */
START_TEST(quadric_gradient_is_right)
{
    kiln_random random = kiln_random_start(2, 0);
    for (int round = 0; round < 100; round++) {
        kiln_quadric q = {.origin = random_point(&random, 1)};
        kiln_vec3 axis = kiln_v3_normalize(random_point(&random, 1)), p = random_point(&random, 1);
        bool line = round % 2;
        kiln_quadric_set(&q, axis, 7.0, line);
        ck_assert_double_eq_tol(kiln_quadric_weight(&q, line), 7.0, 1e-12);
        kiln_vec3 d = kiln_v3_sub(p, q.origin), g = kiln_quadric_gradient(&q, p);
        double along = kiln_v3_dot(d, axis);
        double distance2 = line ? kiln_v3_norm2(d) - along * along : along * along;
        ck_assert_double_eq_tol(kiln_quadric_value(&q, p), 7.0 * distance2, 1e-12);
        for (int k = 0; k < 3; k++) {
            kiln_vec3 e = kiln_v3(1e-5 * (k == 0), 1e-5 * (k == 1), 1e-5 * (k == 2));
            double slope = (kiln_quadric_value(&q, kiln_v3_add(p, e)) -
                            kiln_quadric_value(&q, kiln_v3_sub(p, e))) /
                           2e-5;
            ck_assert_double_eq_tol(slope, (&g.x)[k], 1e-8);
        }
    }
}
END_TEST

/* No point of the hull is nearer: the condition that decides, and every triple gives no less. */
START_TEST(least_norm_is_least)
{
    kiln_random random = kiln_random_start(3, 0);
    for (int round = 0; round < 3000; round++) {
        kiln_vec3 p[12], shift = random_point(&random, 1.5);
        size_t count = 1 + kiln_random_below(&random, 12);
        for (size_t i = 0; i < count; i++) {
            p[i] = kiln_v3_add(random_point(&random, 1), shift);
            if (round % 3 == 0) /* in a plane, on a line */
                p[i].z = 0.2;
            if (round % 6 == 0)
                p[i].y = -0.1;
            if (i > 0 && round % 5 == 0)
                p[i] = kiln_v3_madd(p[i - 1], 1e-9, p[i]);
        }
        kiln_vec3 least = kiln_least_norm(p, count);
        double norm2 = kiln_v3_norm2(least), brute = INFINITY;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j <= i; j++)
                for (size_t k = 0; k <= j; k++) {
                    const kiln_vec3 t[3] = {p[i], p[j], p[k]};
                    double d2 = kiln_closest_on_triangle(kiln_v3(0, 0, 0), t).distance2;
                    brute = fmin(brute, d2);
                }
        if (norm2 > 0) {
            ck_assert_double_eq_tol(sqrt(norm2), sqrt(brute), 1e-7);
            for (size_t i = 0; i < count; i++)
                ck_assert_double_gt(kiln_v3_dot(p[i], least), norm2 * (1 - 1e-6) - 1e-9);
        }
    }
}
END_TEST

/* A vertex joined to the faces of a closed surface. */
static kiln_mesh *star_mesh(kiln_context *context, const kiln_vec3 *hull, size_t count,
                            kiln_vec3 centre, double near2, double scale)
{
    kiln_vec3 p[16];
    kiln_soup_tet tets[64];
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        p[i] = kiln_v3_scale(hull[i], scale);
    p[count] = kiln_v3_scale(centre, scale);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            for (uint32_t k = 0; k < j; k++) {
                bool face = kiln_distance2_points(hull[i], hull[j]) < near2 &&
                            kiln_distance2_points(hull[j], hull[k]) < near2 &&
                            kiln_distance2_points(hull[k], hull[i]) < near2;
                double volume = kiln_v3_triple(hull[i], hull[j], hull[k]);
                if (!face || fabs(volume) < 1e-9)
                    continue;
                uint32_t c = (uint32_t)count;
                tets[made++] =
                    volume < 0 ? (kiln_soup_tet){{i, j, k, c}} : (kiln_soup_tet){{j, i, k, c}};
            }
    return kiln_test_mesh_of(context, count + 1, p, made, tets, NULL, KILN_BUILD_REPAIR);
}

/* Smooths one vertex until nothing is gained; returns the worst of its star. */
static double smooth_fully(kiln_remesher *remesher, uint32_t vertex)
{
    kiln_smoothing s = {0};
    for (int i = 0; i < 40; i++) {
        if (!kiln_smoothing_propose(remesher, &remesher->workspace, vertex, INFINITY, &s))
            break;
        double before = s.before;
        ck_assert_double_gt(s.after, before);
        ck_assert_int_eq(kiln_remesher_move(remesher, vertex, &s.place), KILN_ACCEPTED);
        double worst =
            kiln_remesher_worst(remesher, remesher->changed.data, remesher->changed.count);
        ck_assert_double_eq_tol(worst, s.after, 1e-12);
    }
    ck_assert_int_eq(kiln_star(remesher->mesh, vertex, &remesher->workspace.walker, NULL), KILN_OK);
    return kiln_remesher_worst(remesher, remesher->workspace.walker.tets.data,
                               remesher->workspace.walker.tets.count);
}

/* remesher-algorithms 11.8, at three scales. */
START_TEST(stars_reach_their_optimum)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 octahedron[6] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                     {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    kiln_vec3 icosahedron[12];
    double golden = 0.5 * (1 + sqrt(5.0)), size = 1.90 / sqrt(1 + golden * golden);
    for (int i = 0; i < 12; i++) {
        double a = i & 1 ? size : -size, b = (i & 2 ? golden : -golden) * size;
        icosahedron[i] = i < 4 ? kiln_v3(0, a, b) : i < 8 ? kiln_v3(a, b, 0) : kiln_v3(b, 0, a);
    }
    for (int i = 0; i < 3; i++) {
        double scale = (double[3]){1e-6, 1, 1e6}[i];
        kiln_mesh *mesh = star_mesh(context, octahedron, 6, kiln_v3(0.3, 0.2, -0.1), 2.1, scale);
        ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 8);
        kiln_remesher remesher = begin(mesh, KILN_MEASURE_QUALITY, KILN_SURFACE_QUADRIC);
        ck_assert_double_eq_tol(
            kiln_remesher_worst(&remesher, (uint32_t[8]){0, 1, 2, 3, 4, 5, 6, 7}, 8), 0.3186, 5e-5);
        ck_assert_double_eq_tol(smooth_fully(&remesher, 6), 0.7364, 5e-5);
        ck_assert_double_lt(kiln_v3_norm(mesh->u[6]), 1e-3 * scale);
        kiln_remesher_end(&remesher);
        kiln_mesh_destroy(mesh);

        mesh =
            star_mesh(context, icosahedron, 12, kiln_v3(0.5, 0.3, 0.2), 4.1 * size * size, scale);
        ck_assert_uint_eq(mesh->table[KILN_ON_TET].live, 20);
        remesher = begin(mesh, KILN_MEASURE_QUALITY, KILN_SURFACE_QUADRIC);
        ck_assert_double_eq_tol(smooth_fully(&remesher, 12), 0.9952, 1e-4);
        kiln_remesher_end(&remesher);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

static kiln_sym3 tenth_along_x(void *user, kiln_vec3 p)
{
    (void)user;
    (void)p;
    return (kiln_sym3){0.01, 1, 1, 0, 0, 0.02}; /* sheared a little as well */
}

/* What is regular in the metric L L' is found regular: the octahedron mapped by L'^-1. */
START_TEST(a_metric_is_respected)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 octahedron[6] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                     {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    kiln_mesh *mesh = star_mesh(context, octahedron, 6, kiln_v3(0.3, 0.2, -0.1), 2.1, 1);
    for (uint32_t v = 0; v < 7; v++) {
        kiln_vec3 u = mesh->u[v];
        double y = u.y / sqrt(1 - 0.04);
        mesh->u[v] = mesh->x[v] = kiln_v3(10 * (u.x - 0.2 * y), y, u.z);
    }
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_function(sizing, tenth_along_x, NULL, false, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_finish(sizing, &(kiln_sizing_limits){.ratio = 0}, NULL), KILN_OK);
    kiln_remesh_options options = kiln_remesh_default_options();
    options.sizing = sizing;
    kiln_remesher remesher;
    ck_assert_int_eq(kiln_remesher_begin(mesh, &options, &remesher, NULL), KILN_OK);
    ck_assert_double_eq_tol(smooth_fully(&remesher, 6), 0.7364, 5e-5);
    ck_assert_double_lt(kiln_v3_norm(mesh->u[6]), 1e-2);
    kiln_remesher_end(&remesher);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* The middle of a flat base stays in it to the bit. */
START_TEST(a_base_vertex_stays_in_its_plane)
{
    kiln_context *context = kiln_test_context(1);
    const kiln_vec3 p[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0.3, 0.2, 0}};
    const kiln_soup_tet t[4] = {{{0, 2, 4, 5}}, {{2, 1, 4, 5}}, {{1, 3, 4, 5}}, {{3, 0, 4, 5}}};
    for (int mode = 0; mode < 3; mode++) {
        kiln_mesh *mesh = kiln_test_mesh_of(context, 6, p, 4, t, NULL, KILN_BUILD_REPAIR);
        kiln_remesher remesher = begin(mesh, KILN_MEASURE_QUALITY, (kiln_surface_mode)mode);
        ck_assert_int_eq(remesher.side.data[5].freedom, KILN_ON_PLANE);
        ck_assert_double_eq_tol(smooth_fully(&remesher, 5), 0.7364, 5e-5);
        ck_assert_double_eq(mesh->u[5].z, 0.0);
        kiln_remesher_end(&remesher);
        kiln_mesh_destroy(mesh);
    }
    kiln_context_destroy(context);
}
END_TEST

typedef struct sweep_result {
    double before, after;
    uint32_t moved;
} sweep_result;

/* One pass over all vertices; each move is audited by what it promised. */
static sweep_result sweep(kiln_remesher *remesher, double target)
{
    kiln_mesh *mesh = remesher->mesh;
    sweep_result result = {INFINITY, INFINITY, 0};
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        result.before = fmin(result.before, remesher->quality.data[t]);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_smoothing s;
        if (!kiln_smoothing_propose(remesher, &remesher->workspace, v, target, &s))
            continue;
        ck_assert_double_ge(s.after, s.before + KILN_LEAST_GAIN);
        ck_assert_int_eq(kiln_remesher_move(remesher, v, &s.place), KILN_ACCEPTED);
        result.moved++;
    }
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        if (kiln_tet_live(mesh, t)) {
            ck_assert_double_eq(remesher->quality.data[t],
                                kiln_remesher_score(remesher, NULL, mesh->tet[t].v));
            result.after = fmin(result.after, remesher->quality.data[t]);
        }
    return result;
}

/* Shaken meshes become better in every measure and mode, flat and curved. */
START_TEST(passes_improve_shaken_meshes)
{
    kiln_context *context = kiln_test_context(1);
    const char *const shapes[4][2] = {
        {"box", "n=4"}, {"ball", "h=0.3"}, {"cylinder", "h=0.25"}, {"torus", "h=0.25"}};
    for (int shape = 0; shape < 4; shape++)
        for (int m = 0; m < 3; m++)
            for (int mode = 0; mode < 3; mode++) {
                kiln_mesh *mesh = kiln_test_mesh(context, shapes[shape][0], shapes[shape][1]);
                kiln_test_jitter(mesh, 0.06, 5);
                double volume = kiln_mesh_volume(mesh);
                kiln_remesher remesher = begin(mesh, measures[m], (kiln_surface_mode)mode);
                uint64_t hash = kiln_mesh_hash(mesh);
                kiln_pass_mark mark = kiln_remesher_mark(&remesher);
                sweep(&remesher, INFINITY);
                kiln_remesher_undo(&remesher, &mark);
                ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
                sweep_result first = sweep(&remesher, INFINITY), last = first;
                for (int i = 0; i < 3; i++)
                    last = sweep(&remesher, INFINITY);
                ck_assert_uint_gt(first.moved, 10);
                ck_assert_double_gt(last.after, first.before + (mode == 0 ? 0.0 : 0.05));
                kiln_test_audit(mesh);
                bool exact = mode == KILN_SURFACE_KEEP || shape == 0;
                ck_assert_double_eq_tol(kiln_mesh_volume(mesh), volume,
                                        (exact ? 1e-12 : 3e-3) * volume);
                kiln_remesher_end(&remesher);
                kiln_mesh_destroy(mesh);
            }
    kiln_context_destroy(context);
}
END_TEST

/* With another shape in the world, every tet stays positive there. */
START_TEST(both_spaces_stay_valid)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.25");
    kiln_test_jitter(mesh, 0.05, 8);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        double c = cos(1.5 * u.z), s = sin(1.5 * u.z);
        mesh->x[v] = kiln_v3(c * u.x - s * u.y, s * u.x + c * u.y, 2.5 * u.z);
    }
    kiln_test_audit(mesh);
    kiln_remesher remesher = begin(mesh, KILN_MEASURE_QUALITY, KILN_SURFACE_QUADRIC);
    ck_assert(!remesher.one_space);
    sweep_result r = sweep(&remesher, INFINITY);
    for (int i = 0; i < 3; i++)
        sweep(&remesher, INFINITY);
    ck_assert_uint_gt(r.moved, 50);
    kiln_test_audit(mesh);
    kiln_remesher_end(&remesher);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A goal that is reached ends the climb; a fixed vertex is not tried. */
START_TEST(stops_at_the_target)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=4");
    kiln_test_jitter(mesh, 0.08, 5);
    kiln_remesher remesher = begin(mesh, KILN_MEASURE_QUALITY, KILN_SURFACE_KEEP);
    uint32_t tried = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_smoothing low, full;
        bool found = kiln_smoothing_propose(&remesher, &remesher.workspace, v, INFINITY, &full);
        ck_assert(!found || remesher.side.data[v].freedom != KILN_FIXED);
        if (!found)
            continue;
        double target = 0.9 * full.before + 0.1 * full.after;
        ck_assert(kiln_smoothing_propose(&remesher, &remesher.workspace, v, target, &low));
        ck_assert_double_ge(low.after, target - 1e-12);
        ck_assert(!kiln_smoothing_propose(&remesher, &remesher.workspace, v, full.before, &low));
        tried++;
    }
    ck_assert_uint_gt(tried, 30);
    kiln_remesher_end(&remesher);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Without memory nothing is proposed, and the workspace says why. */
START_TEST(out_of_memory_is_reported)
{
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        kiln_mesh *mesh = kiln_test_mesh(context, "box", "n=3");
        kiln_test_jitter(mesh, 0.1, 5);
        kiln_remesher remesher = begin(mesh, KILN_MEASURE_QUALITY, KILN_SURFACE_KEEP);
        uint64_t hash = kiln_mesh_hash(mesh);
        heap.fail_at = heap.calls + fail;
        uint32_t found = 0;
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_smoothing s;
            found += kiln_smoothing_propose(&remesher, &remesher.workspace, v, INFINITY, &s);
        }
        bool failed = remesher.workspace.failed;
        ck_assert_uint_eq(kiln_mesh_hash(mesh), hash);
        ck_assert(failed || found > 0);
        kiln_remesher_end(&remesher);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (!failed)
            break;
        ck_assert_uint_lt(fail, 20);
    }
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("smooth");
    TCase *tests = kiln_test_case(suite, "smooth");
    tcase_add_test(tests, gradients_are_right);
    tcase_add_test(tests, quadric_gradient_is_right);
    tcase_add_test(tests, least_norm_is_least);
    tcase_add_test(tests, stars_reach_their_optimum);
    tcase_add_test(tests, a_metric_is_respected);
    tcase_add_test(tests, a_base_vertex_stays_in_its_plane);
    tcase_add_test(tests, passes_improve_shaken_meshes);
    tcase_add_test(tests, both_spaces_stay_valid);
    tcase_add_test(tests, stops_at_the_target);
    tcase_add_test(tests, out_of_memory_is_reported);
    return suite;
}

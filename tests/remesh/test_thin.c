/* Plates, needles, angles and tubes: how thick they are, which tets that asks for, and that these
 * are had, in any position. */
#include "fixtures.h"
#include "mesh/reorder.h"
#include "remesh/domain.h"
#include "remesh/improve_sized.h"
#include "remesh/measured.h"
#include "remesh/shape_change.h"
#include "support.h"

/* Where a body is and how large. */
typedef struct position {
    double scale, away;
    bool turned;
} position;
static const position positions[] = {
    {1, 0, false}, {1, 0, true}, {1, 1e6, true}, {1e-3, 0, true}, {1e3, 1, true}};

static kiln_mat3 turn_of(const position *at)
{
    /* A rotation by 2, 2, 1 of 3 in rows: no axis stays. */
    static const kiln_mat3 turned = {
        {{2.0 / 3, -1.0 / 3, 2.0 / 3}, {2.0 / 3, 2.0 / 3, -1.0 / 3}, {-1.0 / 3, 2.0 / 3, 2.0 / 3}}};
    return at->turned ? turned : kiln_m3_identity();
}

static void place(kiln_mesh *mesh, const position *at)
{
    kiln_mat3 turn = turn_of(at);
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = kiln_m3_apply(turn, kiln_v3_scale(mesh->x[v], at->scale));
        double away = at->away * at->scale;
        mesh->x[v] = mesh->u[v] = kiln_v3_add(p, kiln_v3(0.6 * away, -0.7 * away, 0.4 * away));
    }
}

static kiln_mesh *body(kiln_context *context, const char *settings, const position *at)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", settings);
    place(mesh, at);
    return mesh;
}

static kiln_sizing *field_of(const kiln_mesh *mesh, kiln_thin_mode mode, double size,
                             kiln_thin_report *report)
{
    const kiln_thin_request request = {mode, {.size = size}};
    kiln_sizing *field;
    ck_assert_int_eq(kiln_thin_field(mesh, KILN_SPACE_WORLD, &request, &field, report, NULL),
                     KILN_OK);
    return field;
}

static double size_along(kiln_sym3 m, kiln_vec3 n)
{
    return 1.0 / sqrt(kiln_v3_dot(n, kiln_sym3_apply(m, n)));
}

/* Sizes in the middle of a body, along the axes it had before it was turned. */
static void sizes_in_the_middle(const kiln_sizing *field, const kiln_mesh *mesh, const position *at,
                                double out[3])
{
    kiln_mat3 turn = turn_of(at);
    kiln_vec3 middle = {0};
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used, hint = 0;
    for (uint32_t v = 0; v < rows; v++)
        middle = kiln_v3_madd(middle, 1.0 / rows, mesh->x[v]);
    kiln_sym3 m = kiln_sizing_at(field, middle, &hint);
    for (int k = 0; k < 3; k++)
        out[k] = size_along(m, kiln_v3(turn.m[0][k], turn.m[1][k], turn.m[2][k])) / at->scale;
}

/* A layer of regular tets is 0.816 of their edges high. */
START_TEST(a_plate_has_one_direction)
{
    const position *at = &positions[_i];
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = body(context, "lx=1 ly=1 lz=0.001 nx=12 ny=12 nz=1", at);
    kiln_thin_report report;
    kiln_sizing *field = field_of(mesh, KILN_THIN_AUTO, 0.0, &report);
    double sizes[3];
    ck_assert_ptr_nonnull(field);
    ck_assert_double_eq_tol(report.thickness / at->scale, 0.001, 1e-6);
    sizes_in_the_middle(field, mesh, at, sizes);
    ck_assert_double_eq_tol(sizes[2], 0.001 / 0.8165, 2e-6);
    for (int k = 0; k < 2; k++) {
        ck_assert_double_gt(sizes[k], 0.06);
        ck_assert_double_lt(sizes[k], 0.14);
    }
    kiln_sizing_destroy(field);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_needle_has_two)
{
    const position *at = &positions[_i];
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = body(context, "lx=1 ly=0.002 lz=0.001 nx=20 ny=1 nz=1", at);
    kiln_thin_report report;
    kiln_sizing *field = field_of(mesh, KILN_THIN_ALWAYS, 0.1 * at->scale, &report);
    double sizes[3];
    ck_assert_ptr_nonnull(field);
    sizes_in_the_middle(field, mesh, at, sizes);
    ck_assert_double_eq_tol(sizes[0], 0.1, 1e-4);
    ck_assert_double_eq_tol(sizes[1], 0.002 / 0.8165, 1e-4);
    ck_assert_double_eq_tol(sizes[2], 0.001 / 0.8165, 1e-4);
    kiln_sizing_destroy(field);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Nor where tets that are as long as thick would do. */
START_TEST(thick_bodies_are_none)
{
    kiln_context *context = kiln_test_context(2);
    kiln_thin_report report;
    kiln_mesh *cube = kiln_test_mesh(context, "box", "n=4");
    ck_assert_ptr_null(field_of(cube, KILN_THIN_ALWAYS, 0.0, &report));
    ck_assert_uint_eq(report.vertices, 0);
    kiln_mesh *bar = kiln_test_mesh(context, "box", "lx=1 ly=0.1 lz=0.1 nx=3 ny=2 nz=2");
    ck_assert_ptr_null(field_of(bar, KILN_THIN_AUTO, 0.0, &report));
    ck_assert_uint_gt(report.vertices, 0);
    ck_assert_ptr_null(field_of(bar, KILN_THIN_NEVER, 0.0, &report));
    kiln_mesh_destroy(cube);
    kiln_mesh_destroy(bar);
    kiln_context_destroy(context);
}
END_TEST

static void expect_good(const kiln_mesh *mesh, const kiln_domain_options *options, double least,
                        double growth)
{
    kiln_mesh *made;
    kiln_domain_report report;
    ck_assert_int_eq(kiln_domain_remesh(mesh, options, &made, &report, NULL), KILN_OK);
    ck_assert_ptr_nonnull(made);
    kiln_test_audit(made);
    ck_assert(report.stretched);
    ck_assert_double_ge(report.worst_after, least);
    ck_assert_double_ge(report.mean_after, report.mean_before);
    ck_assert_uint_le(made->table[KILN_ON_TET].live,
                      (size_t)(growth * (double)mesh->table[KILN_ON_TET].live));
    ck_assert_double_eq_tol(report.volume_after / report.volume_before, 1.0, 2e-4);
    kiln_mesh_destroy(made);
}

/* Without the metric this ends at q 0.05 with more than three times the tets. */
START_TEST(a_plate_is_made_anew)
{
    const position *at = &positions[_i];
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = body(context, "lx=1 ly=1 lz=0.001 nx=12 ny=12 nz=1", at);
    kiln_domain_options options = kiln_domain_default_options();
    options.thin = KILN_THIN_AUTO;
    expect_good(mesh, &options, 0.3, 2.0);
    options.layers = 2;
    expect_good(mesh, &options, 0.3, 8.0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A sheet of cells bent round the z axis, whole or a half. */
static kiln_mesh *tube(kiln_context *context, double turn)
{
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=0.5 lz=0.001 nx=32 ny=10 nz=1");
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 p = mesh->x[v];
        double r = 0.1 + p.z, a = turn * p.x;
        mesh->x[v] = mesh->u[v] = kiln_v3(r * cos(a), r * sin(a), p.y);
    }
    return mesh;
}

/* A lookup goes straight and ends at the wall that is in the way. */
START_TEST(fields_are_carried_round_corners)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = tube(context, 6.0);
    kiln_thin_report report;
    kiln_sizing *field = field_of(mesh, KILN_THIN_AUTO, 0.0, &report), *carried;
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    ck_assert_ptr_nonnull(field);
    kiln_u32_array hints = {0};
    ck_assert_int_eq(kiln_array_reserve(context, &hints, rows, NULL), KILN_OK);
    for (uint32_t v = 0; v < rows; v++)
        hints.data[v] = v % 2 ? 0 : mesh->table[KILN_ON_TET].used - 1;
    ck_assert_int_eq(kiln_sizing_carry(field, mesh, hints.data, &carried, NULL), KILN_OK);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_sym3 a = kiln_sizing_at_vertex(field, v), b = kiln_sizing_at_vertex(carried, v);
        double size = a.xx + a.yy + a.zz;
        ck_assert_double_eq_tol(a.xx, b.xx, 1e-6 * size);
        ck_assert_double_eq_tol(a.xy, b.xy, 1e-6 * size);
        ck_assert_double_eq_tol(a.yy, b.yy, 1e-6 * size);
    }
    kiln_array_free(context, &hints);
    kiln_sizing_destroy(carried);
    kiln_sizing_destroy(field);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(a_tube_is_made_anew)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = tube(context, 6.0);
    kiln_domain_options options = kiln_domain_default_options();
    options.thin = KILN_THIN_AUTO;
    place(mesh, &positions[_i]);
    expect_good(mesh, &options, 0.2, 4.0);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* 40 wedges of three tets, 1:100. */
static kiln_mesh *coin(kiln_context *context)
{
    enum { SIDES = 40 };
    kiln_vec3 p[2 * SIDES + 2] = {{0, 0, 0}, {0, 0, 0.01}};
    kiln_soup_tet t[3 * SIDES];
    for (uint32_t i = 0; i < SIDES; i++) {
        double angle = 2 * KILN_PI * i / SIDES;
        uint32_t a = 2 + 2 * i, b = 2 + 2 * ((i + 1) % SIDES);
        p[a] = kiln_v3(cos(angle), sin(angle), 0);
        p[a + 1] = kiln_v3(cos(angle), sin(angle), 0.01);
        t[3 * i] = (kiln_soup_tet){{0, a, b, b + 1}};
        t[3 * i + 1] = (kiln_soup_tet){{0, a, b + 1, a + 1}};
        t[3 * i + 2] = (kiln_soup_tet){{0, a + 1, b + 1, 1}};
    }
    return kiln_test_mesh_of(context, 2 * SIDES + 2, p, 3 * SIDES, t, NULL, KILN_BUILD_STRICT);
}

/* Along a coin longer edges are asked for than it has, and its rim keeps to the band of those there
 * were. */
START_TEST(stretched_tets_keep_to_the_band)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = coin(context);
    place(mesh, &positions[1]);
    kiln_improve_request request = {.remesh = kiln_remesh_default_options(),
                                    .improve = kiln_improve_default_options(),
                                    .stretched = true,
                                    .keep_sizes = true,
                                    .whole = true};
    kiln_improve_report done;
    kiln_adapt_report adapted;
    kiln_thin_report report;
    kiln_mesh_shape before = {0}, after = {0};
    kiln_shape_change change;
    kiln_sizing *field = field_of(mesh, KILN_THIN_ALWAYS, 0.0, &report);
    ck_assert_ptr_nonnull(field);
    ck_assert_int_eq(kiln_mesh_shape_take(mesh, KILN_SPACE_WORLD, &before, NULL), KILN_OK);
    ck_assert_int_eq(kiln_improve_sized(mesh, &request, field, &done, &adapted, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mesh_shape_take(mesh, KILN_SPACE_WORLD, &after, NULL), KILN_OK);
    ck_assert_int_eq(kiln_shape_compare(context, &before, &after, &change, NULL), KILN_OK);
    ck_assert_double_gt(done.worst_after, done.worst_before);
    ck_assert_msg(change.of_band <= 1.0, "%g bands", change.of_band);
    kiln_mesh_shape_free(context, &before);
    kiln_mesh_shape_free(context, &after);
    kiln_sizing_destroy(field);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    const int count = sizeof positions / sizeof positions[0];
    Suite *suite = suite_create("thin");
    TCase *all = kiln_test_case(suite, "thin");
    tcase_add_loop_test(all, a_plate_has_one_direction, 0, count);
    tcase_add_loop_test(all, a_needle_has_two, 0, count);
    tcase_add_test(all, thick_bodies_are_none);
    tcase_add_loop_test(all, a_plate_is_made_anew, 0, count);
    tcase_add_test(all, fields_are_carried_round_corners);
    tcase_add_loop_test(all, a_tube_is_made_anew, 0, count);
    tcase_add_test(all, stretched_tets_keep_to_the_band);
    return suite;
}

#include "remesh/sizing.h"

#include "base/random.h"
#include "fixtures.h"
#include "geom/svd3.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double size_along(kiln_sym3 m, kiln_vec3 direction)
{
    return 1.0 / kiln_metric_length(&m, kiln_v3_normalize(direction));
}

static kiln_sizing *create(const kiln_mesh *mesh)
{
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL), KILN_OK);
    return sizing;
}

static void finish(kiln_sizing *sizing, double ratio)
{
    kiln_sizing_limits limits = {.ratio = ratio};
    ck_assert_int_eq(kiln_sizing_finish(sizing, &limits, NULL), KILN_OK);
}

/* Sets x = F u + a bend of each vertex. */
static void deform(kiln_mesh *mesh, kiln_mat3 f, double bend)
{
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] = kiln_m3_apply(f, kiln_v3(u.x, u.y, u.z * (1.0 + bend * u.z)));
    }
}

START_TEST(uniform_size_is_constant)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.5, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.25, NULL), KILN_OK);
    finish(sizing, 1.3);
    kiln_sym3 m;
    uint32_t hint = KILN_NONE;
    ck_assert(kiln_sizing_is_constant(sizing, &m));
    ck_assert_double_eq(m.xx, 16.0);
    ck_assert_double_eq(kiln_sizing_at(sizing, kiln_v3(3, 4, 5), &hint).yy, 16.0);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Sizes that are geometric along x are reproduced exactly by interpolating logarithms, from any
 * hint; the point found is in the tet. */
START_TEST(values_are_interpolated_by_logarithm)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(mesh, 0.05, 3);
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    double *values = malloc(rows * 6 * sizeof *values);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v];
        double m[6] = {exp(u.x), 0, exp(2 * u.y), 0, 0, exp(3 * u.z + 1)};
        memcpy(values + 6 * v, m, sizeof m);
    }
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_values(sizing, values, rows, 6, NULL), KILN_OK);
    finish(sizing, 0);
    kiln_random r = kiln_random_start(1, 1);
    uint64_t visits = 0;
    for (int n = 0; n < 3000; n++) {
        kiln_vec3 p = {kiln_random_unit(&r), kiln_random_unit(&r), kiln_random_unit(&r)};
        uint32_t hint = n % 7 ? kiln_random_below(&r, tets) : KILN_NONE;
        kiln_sizing_place place = kiln_sizing_locate(sizing, p, hint);
        visits += place.visits;
        kiln_vec3 q = {0};
        for (int k = 0; k < 4; k++)
            q = kiln_v3_madd(q, place.weight[k], mesh->u[mesh->tet[place.tet].v[k]]);
        ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(p, q)), 1e-12);
        kiln_sym3 m = kiln_sizing_at(sizing, p, &hint);
        ck_assert_uint_eq(hint, place.tet);
        ck_assert_double_eq_tol(m.xx, exp(p.x), 1e-10);
        ck_assert_double_eq_tol(m.yy, exp(2 * p.y), 1e-10);
        ck_assert_double_eq_tol(m.zz, exp(3 * p.z + 1), 1e-10);
    }
    ck_assert_uint_lt(visits, 20 * 3000); /* a walk from anywhere */
    /* Outside: what is at the surface, never extrapolated. */
    uint32_t hint = 0;
    kiln_sym3 m = kiln_sizing_at(sizing, kiln_v3(0.5, 0.5, 9.0), &hint);
    ck_assert_double_ge(m.zz, exp(1.0) * (1 - 1e-9));
    ck_assert_double_le(m.zz, exp(4.0) * (1 + 1e-9));
    for (uint32_t v = 0; v < rows; v++) {
        m = kiln_sizing_at_vertex(sizing, v);
        ck_assert_double_eq_tol(m.zz, values[6 * v + 5], 1e-12 * m.zz);
    }
    kiln_sizing_destroy(sizing);
    free(values);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(bad_values_are_refused)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=1 ny=1 nz=1");
    kiln_sizing *sizing = create(mesh);
    kiln_error error;
    double sizes[8] = {1, 1, 1, 1, 1, 0, 1, 1}, metrics[48] = {0};
    ck_assert_int_eq(kiln_sizing_add_values(sizing, sizes, 8, 1, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_sizing_add_values(sizing, sizes, 7, 1, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_sizing_add_values(sizing, metrics, 8, 6, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, -1.0, &error), KILN_ERR_INPUT);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, INFINITY, &error), KILN_ERR_INPUT);
    kiln_sizing_destroy(sizing);
    sizing = create(mesh); /* nothing says how large */
    ck_assert_int_eq(kiln_sizing_finish(sizing, NULL, &error), KILN_ERR_INPUT);
    kiln_sizing_limits limits = {.bounds = {.h_max = 2.0}};
    ck_assert_int_eq(kiln_sizing_finish(sizing, &limits, &error), KILN_OK);
    ck_assert_double_eq(kiln_sizing_at_vertex(sizing, 0).xx, 0.25);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Stretched by 4 along x and turned: a quarter of h along the old x. */
START_TEST(world_length)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    kiln_mat3 f =
        kiln_m3_mul(kiln_m3_rotation(kiln_v3(1, 2, 3), 1.0), kiln_m3_diagonal(4.0, 0.5, 1.0));
    deform(mesh, f, 0.0);
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_world(sizing, 0.2, NULL), KILN_OK);
    finish(sizing, 0);
    uint32_t hint = 0;
    kiln_sym3 m = kiln_sizing_at(sizing, kiln_v3(0.3, 0.4, 0.6), &hint);
    ck_assert_double_eq_tol(size_along(m, kiln_v3(1, 0, 0)), 0.05, 1e-12);
    ck_assert_double_eq_tol(size_along(m, kiln_v3(0, 1, 0)), 0.4, 1e-12);
    ck_assert_double_eq_tol(size_along(m, kiln_v3(0, 0, 1)), 0.2, 1e-12);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Tets that count at rest have the lengths they have there; vertices that share them with others go
 * by them alone. */
START_TEST(lengths_at_rest)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=2 nz=2 lx=2");
    size_t rows = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    double *start = malloc(rows * sizeof *start);
    uint8_t *at_rest = calloc(tets, 1);
    kiln_sym3 *offset = calloc(tets, sizeof *offset);
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(1, 2, 3), 1.0);
    /* Drawn out by 2 along the first axis of the turn; times any factor. */
    kiln_mat3 F = kiln_m3_mul(turn, kiln_m3_diagonal(2.0, sqrt(0.5), sqrt(0.5)));
    for (size_t v = 0; v < rows; v++)
        start[v] = 0.3;
    for (uint32_t t = 0; t < tets; t++) {
        at_rest[t] = true;
        for (int k = 0; k < 4; k++)
            at_rest[t] &= mesh->u[mesh->tet[t].v[k]].x <= 1.0;
        offset[t] = kiln_sym3_scale(kiln_sym3_from_mat3(kiln_m3_mul(F, kiln_m3_transpose(F))), 7.0);
    }
    const kiln_stretch_sizing stretch = {
        .start = start, .most = 1.0, .at_rest = at_rest, .offset = offset};
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, KILN_SPACE_WORLD, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_stretch(sizing, &stretch, NULL), KILN_OK);
    finish(sizing, 0);
    for (uint32_t v = 0; v < rows; v++) {
        bool rests = mesh->x[v].x <= 1.0;
        kiln_sym3 m = kiln_sizing_at_vertex(sizing, v);
        kiln_vec3 along = kiln_m3_apply(turn, kiln_v3(1, 0, 0));
        kiln_vec3 across = kiln_m3_apply(turn, kiln_v3(0, 1, 0));
        ck_assert_double_eq_tol(size_along(m, along), rests ? 0.6 : 0.3, 1e-12);
        ck_assert_double_eq_tol(size_along(m, across), rests ? 0.3 * sqrt(0.5) : 0.3, 1e-12);
    }
    free(start), free(at_rest), free(offset);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A uniform stretch has no gradient and asks for h_max; the printed formula asks for more. A bend
 * along z asks for finer edges along z than across. */
/* Of one vertex: its own size in the world, which is half of that in a material stretched by two;
 * around it grows by its own gradation, as far as the others. */
START_TEST(metrics_of_the_world)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=8 ny=2 nz=2 lx=4");
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_sym3 *world = calloc(rows, sizeof *world);
    deform(mesh, kiln_m3_scale(kiln_m3_identity(), 2.0), 0.0);
    for (uint32_t v = 0; v < rows; v++)
        if (kiln_v3_norm(mesh->u[v]) == 0.0)
            world[v] = kiln_metric_from_size(0.1);
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.5, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_world_metrics(sizing, world, 1.3, NULL), KILN_OK);
    finish(sizing, 0.0);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v];
        uint32_t hint = KILN_NONE;
        double h = size_along(kiln_sizing_at(sizing, u, &hint), kiln_v3(1, 0, 0));
        if (u.y == 0.0 && u.z == 0.0)
            ck_assert_double_eq_tol(h, fmin(0.05 + log(1.3) * u.x, 0.5), 1e-9);
    }
    free(world);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Matter that is drawn out where it is asked for fine edges does not hand its flatness on: where
 * matter is as it was, sizes are the same along and across. */
START_TEST(metrics_of_the_world_grow_there)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=8 ny=2 nz=2 lx=4");
    size_t rows = mesh->table[KILN_ON_VERTEX].used;
    kiln_sym3 *world = calloc(rows, sizeof *world);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v];
        mesh->x[v] = kiln_v3(u.x, (u.x < 0.75 ? 10.0 : 1.0) * u.y, u.z);
        if (u.x == 0.0)
            world[v] = kiln_metric_from_size(0.1);
    }
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, 10.0, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_world_metrics(sizing, world, 1.3, NULL), KILN_OK);
    finish(sizing, 0.0);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v];
        uint32_t hint = KILN_NONE;
        if (u.x < 1.5 || u.y > 0.0 || u.z > 0.0)
            continue;
        kiln_sym3 m = kiln_sizing_at(sizing, u, &hint);
        double h = 0.1 + log(1.3) * u.x;
        ck_assert_double_eq_tol(size_along(m, kiln_v3(1, 0, 0)), h, 1e-9);
        ck_assert_double_eq_tol(size_along(m, kiln_v3(0, 1, 0)), h, 1e-9);
    }
    free(world);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(strain_gradient)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    kiln_strain_sizing options = {.accuracy = 2.0, .h_max = 3.0};
    uint32_t hint = 0;
    deform(mesh, kiln_m3_diagonal(5.0, 0.3, 1.0), 0.0);
    for (int printed = 0; printed < 2; printed++) {
        kiln_sizing *sizing = create(mesh);
        options.printed = printed;
        ck_assert_int_eq(kiln_sizing_add_strain(sizing, &options, NULL), KILN_OK);
        finish(sizing, 0);
        double size =
            size_along(kiln_sizing_at(sizing, kiln_v3(.5, .5, .5), &hint), kiln_v3(1, 0, 0));
        if (printed)
            ck_assert_double_lt(size, 1.0);
        else
            ck_assert_double_eq_tol(size, 3.0, 1e-6);
        kiln_sizing_destroy(sizing);
    }
    options.printed = false;
    deform(mesh, kiln_m3_identity(), 2.0);
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_strain(sizing, &options, NULL), KILN_OK);
    finish(sizing, 0);
    kiln_sym3 m = kiln_sizing_at(sizing, kiln_v3(.5, .5, .5), &hint);
    double along = size_along(m, kiln_v3(0, 0, 1)), across = size_along(m, kiln_v3(1, 0, 0));
    ck_assert_double_lt(along, 1.5);
    ck_assert_double_gt(across, 1.15 * along);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* DLR eq. 7 tet by tet and pair by pair, as printed in the paper but for what is taken off. */
static kiln_sym3 strain_metric(const kiln_mesh *mesh, const kiln_mat3 *f, uint32_t s,
                               const kiln_strain_sizing *options)
{
    kiln_sym3 sum = {0};
    double count = 0.0;
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++) {
        bool shared = false;
        for (int k = 0; k < 4; k++)
            shared = shared || kiln_tet_corner(&mesh->tet[s], mesh->tet[t].v[k]) < 4;
        if (!shared || t == s)
            continue;
        kiln_svd3 svd = kiln_svd3_decompose(kiln_m3_mul(f[s], kiln_m3_inverse(f[t])));
        double norm = fmax(svd.s[0], 1.0 / fabs(svd.s[2]));
        kiln_vec3 d = {0};
        for (int k = 0; k < 4; k++)
            d = kiln_v3_madd(kiln_v3_madd(d, 0.25, mesh->u[mesh->tet[t].v[k]]), -0.25,
                             mesh->u[mesh->tet[s].v[k]]);
        double weight = (norm - (options->printed ? 0.0 : 1.0)) / pow(kiln_v3_norm(d), 3.0);
        kiln_sym3 outer = {d.x * d.x, d.y * d.y, d.z * d.z, d.y * d.z, d.x * d.z, d.x * d.y};
        sum = kiln_sym3_madd(sum, weight, outer);
        count++;
    }
    kiln_metric_bounds bounds = {.h_max = options->h_max};
    return kiln_metric_bound(kiln_sym3_scale(sum, options->accuracy / count), &bounds);
}

static double norm_of(kiln_sym3 m)
{
    return sqrt(m.xx * m.xx + m.yy * m.yy + m.zz * m.zz +
                2.0 * (m.yz * m.yz + m.xz * m.xz + m.xy * m.xy));
}

static void check_strain(const kiln_mesh *mesh, const kiln_mat3 *f, double size,
                         const kiln_strain_sizing *options)
{
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used, tets = mesh->table[KILN_ON_TET].used;
    kiln_sym3 *expected = calloc(rows, sizeof *expected);
    double *volume = calloc(rows, sizeof *volume);
    for (uint32_t t = 0; t < tets; t++) {
        kiln_sym3 m = kiln_sym3_log(strain_metric(mesh, f, t, options));
        for (int k = 0; k < 4; k++) {
            uint32_t v = mesh->tet[t].v[k];
            expected[v] = kiln_sym3_madd(expected[v], kiln_mesh_tet_volume(mesh, t), m);
            volume[v] += kiln_mesh_tet_volume(mesh, t);
        }
    }
    kiln_sizing *sizing = create(mesh);
    if (size > 0.0)
        ck_assert_int_eq(kiln_sizing_add_size(sizing, size, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_strain(sizing, options, NULL), KILN_OK);
    finish(sizing, 0);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_sym3 m = kiln_sym3_exp(kiln_sym3_scale(expected[v], 1.0 / volume[v]));
        m = size > 0.0 ? kiln_metric_intersect(kiln_metric_from_size(size), m) : m;
        kiln_sym3 off = kiln_sym3_madd(kiln_sizing_at_vertex(sizing, v), -1.0, m);
        ck_assert_double_le(norm_of(off), 1e-7 * norm_of(m));
    }
    kiln_sizing_destroy(sizing);
    free(volume);
    free(expected);
}

/* Batched, on every instruction set, with pairs shared and tets left out that cannot matter: the
 * same as one by one. Deformations from nearly none to violent, turned, and one tet in ten
 * inverted; with no size before, one that hides the strain, and one that hides it in part. */
START_TEST(strain_gradient_is_that_of_the_pairs)
{
    kiln_context *context = kiln_test_context(2);
    kiln_isa isa = (kiln_isa)_i, best = context->isa;
    context->isa = isa < best ? isa : best;
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=3 ny=3 nz=3");
    kiln_test_jitter(mesh, 0.05, 7);
    uint32_t tets = mesh->table[KILN_ON_TET].used;
    kiln_mat3 *f = malloc(tets * sizeof *f);
    const double violence[4] = {1e-5, 1e-2, 0.3, 0.9}, sizes[3] = {0.0, 0.2, 1e-3};
    kiln_mat3 turn = kiln_m3_rotation(kiln_v3(1, 2, 3), 2.0), stretch = kiln_m3_diagonal(3, 1, .5);
    for (int i = 0; i < 24; i++) {
        kiln_random r = kiln_random_start(5, (uint64_t)i);
        for (uint32_t t = 0; t < tets; t++) {
            kiln_mat3 random;
            for (int k = 0; k < 9; k++)
                random.m[k / 3][k % 3] = kiln_random_range(&r, -1.0, 1.0) * violence[i % 4];
            f[t] = kiln_m3_mul(kiln_m3_add(kiln_m3_identity(), random), stretch);
            f[t] = kiln_m3_mul(turn, f[t]);
            if (i % 4 == 3 && t % 10 == 0)
                f[t] = kiln_m3_mul(f[t], kiln_m3_diagonal(-1, 1, 1));
        }
        kiln_strain_sizing options = {.accuracy = i % 4 < 1 ? 1e4 : 5.0,
                                      .h_max = 0.7,
                                      .printed = i >= 12,
                                      .gradient = &f[0].m[0][0]};
        check_strain(mesh, f, sizes[i / 4 % 3], &options);
    }
    free(f);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(curvature_of_a_ball_and_a_cylinder)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "ball", "radius=2 h=0.4");
    kiln_curvature_sizing options = {.turn = 0.3, .h_min = 0.01, .h_max = 50.0};
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_curvature(sizing, &options, NULL), KILN_OK);
    finish(sizing, 1.5);
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    for (uint32_t v = 0; v < rows; v++) {
        double h = size_along(kiln_sizing_at_vertex(sizing, v), kiln_v3(1, 0, 0));
        if (mesh->vertex[v].flags & KILN_VERTEX_SURFACE)
            ck_assert_double_eq_tol(h, 0.6, 0.12);
        else
            ck_assert(h > 0.6 * 0.8 && h < 50.0); /* by gradation from the surface */
    }
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);

    mesh = kiln_test_mesh(context, "cylinder", "radius=1 height=4 h=0.25");
    options.stretched = true;
    sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_curvature(sizing, &options, NULL), KILN_OK);
    finish(sizing, 1.5);
    kiln_vec3 low = mesh->u[0], high = low;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        low = kiln_v3(fmin(low.x, mesh->u[v].x), fmin(low.y, mesh->u[v].y),
                      fmin(low.z, mesh->u[v].z));
        high = kiln_v3(fmax(high.x, mesh->u[v].x), fmax(high.y, mesh->u[v].y),
                       fmax(high.z, mesh->u[v].z));
    }
    /* The axis is the long one; half way up, along it and round it. */
    kiln_vec3 span = kiln_v3_sub(high, low);
    kiln_vec3 axis = span.x > 3   ? kiln_v3(1, 0, 0)
                     : span.y > 3 ? kiln_v3(0, 1, 0)
                                  : kiln_v3(0, 0, 1);
    kiln_vec3 middle = kiln_v3_lerp(low, high, 0.5);
    int tried = 0;
    for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_vec3 d = kiln_v3_sub(mesh->u[v], middle);
        double up = kiln_v3_dot(d, axis);
        kiln_vec3 radial = kiln_v3_madd(d, -up, axis);
        if (fabs(up) > 1.0 || kiln_v3_norm(radial) < 0.999)
            continue;
        kiln_sym3 m = kiln_sizing_at_vertex(sizing, v);
        ck_assert_double_eq_tol(size_along(m, kiln_v3_cross(axis, radial)), 0.3, 0.09);
        ck_assert_double_gt(size_along(m, axis), 0.9);
        tried++;
    }
    ck_assert_int_gt(tried, 20);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A square bar, its ridges along x, twisted by an angle a metre and laid obliquely far away: along
 * its ridges sizes are those of the helix, in the world and in the material, across as they were;
 * a bar that is only laid there has no other word. */
START_TEST(ridges_that_bend)
{
    const double twist[] = {0.0, 3.0, 20.0};
    double rate = twist[_i / 2];
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=0.2 lz=0.2 nx=60 ny=2 nz=2");
    kiln_mat3 lie = kiln_m3_rotation(kiln_v3_normalize(kiln_v3(1, 2, 3)), 1.1);
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v];
        double y = u.y - 0.1, z = u.z - 0.1, c = cos(rate * u.x), s = sin(rate * u.x);
        kiln_vec3 x = kiln_m3_apply(lie, kiln_v3(u.x, c * y - s * z, s * y + c * z));
        mesh->x[v] = kiln_v3_add(x, kiln_v3(1000, -500, 2000));
    }
    kiln_space space = _i % 2 ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
    double start[1000], bent[1000] = {0}, h = 0.1, turn = 0.2;
    ck_assert_uint_lt(rows, 1000);
    for (uint32_t v = 0; v < rows; v++)
        start[v] = h;
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, space, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, h, NULL), KILN_OK);
    kiln_ridge_sizing ridges = {turn, start, bent, 8.0};
    ck_assert_int_eq(kiln_sizing_add_ridges(sizing, &ridges, NULL), KILN_OK);
    finish(sizing, 0.0);
    double r = 0.1 * sqrt(2.0), stretch = sqrt(1.0 + rate * rate * r * r);
    double arc = turn * stretch * stretch / (rate * rate * r); /* turn / curvature */
    double wished = fmin(arc, h) / (space == KILN_SPACE_MATERIAL && arc < h ? stretch : 1.0);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v];
        bool on = fabs(fabs(u.y - 0.1) - 0.1) < 1e-9 && fabs(fabs(u.z - 0.1) - 0.1) < 1e-9;
        if (u.x < 0.1 || u.x > 0.9)
            continue;
        double y = u.y - 0.1, z = u.z - 0.1, c = cos(rate * u.x), s = sin(rate * u.x);
        kiln_vec3 along = kiln_v3(1, rate * (-s * y - c * z), rate * (c * y - s * z));
        along = space == KILN_SPACE_WORLD ? kiln_m3_apply(lie, along) : kiln_v3(1, 0, 0);
        kiln_sym3 m = kiln_sizing_at_vertex(sizing, v);
        ck_assert_double_eq_tol(size_along(m, along), on ? wished : h, 0.01 * h);
        kiln_vec3 across = kiln_v3_cross(along, kiln_v3(0.3, -0.5, 0.7));
        ck_assert_double_eq_tol(size_along(m, across), h, 1e-3 * h);
    }
    ck_assert(rate < 10.0 || wished < 0.5 * h);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* A slab bent into a valley along y, x = u + a u.x^2 ez, laid obliquely far away: across it, edges
 * turn by the angle, along it they are as long as the ratio allows. Where it was that round at the
 * start there is no word. */
START_TEST(surfaces_that_bend)
{
    const double a = 2.0, turn = 0.2, h = 0.3, ratio = 2.0;
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "lx=1 ly=1 lz=0.1 nx=40 ny=10 nz=1");
    kiln_mat3 lie = kiln_m3_rotation(kiln_v3_normalize(kiln_v3(1, 2, 3)), 1.1);
    uint32_t rows = mesh->table[KILN_ON_VERTEX].used;
    double start[2000], round[2000] = {0}, now[2000];
    ck_assert_uint_lt(rows, 2000);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v];
        kiln_vec3 x = kiln_v3(u.x, u.y, u.z + a * (u.x - 0.5) * (u.x - 0.5));
        mesh->x[v] = kiln_v3_add(kiln_m3_apply(lie, x), kiln_v3(1000, -500, 2000));
        start[v] = h;
    }
    kiln_space space = _i % 2 ? KILN_SPACE_WORLD : KILN_SPACE_MATERIAL;
    ck_assert_int_eq(kiln_surface_curvatures(mesh, now, NULL), KILN_OK);
    kiln_bend_sizing bends = {turn, start, _i / 2 ? now : round, 8.0, ratio};
    kiln_sizing *sizing;
    ck_assert_int_eq(kiln_sizing_create(mesh, space, &sizing, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_size(sizing, h, NULL), KILN_OK);
    ck_assert_int_eq(kiln_sizing_add_bends(sizing, &bends, NULL), KILN_OK);
    finish(sizing, 0.0);
    double wished = turn / (2.0 * a);
    for (uint32_t v = 0; v < rows; v++) {
        kiln_vec3 u = mesh->u[v], x = kiln_v3(1, 0, 0), y = kiln_v3(0, 1, 0);
        if (fabs(u.x - 0.5) > 0.03 || fabs(u.y - 0.5) > 0.3)
            continue;
        kiln_sym3 m = kiln_sizing_at_vertex(sizing, v);
        x = space == KILN_SPACE_WORLD ? kiln_m3_apply(lie, x) : x;
        y = space == KILN_SPACE_WORLD ? kiln_m3_apply(lie, y) : y;
        ck_assert_double_eq_tol(now[v], 2.0 * a, 0.05 * 2.0 * a);
        ck_assert_double_eq_tol(size_along(m, x), _i / 2 ? h : wished, 0.06 * h);
        ck_assert_double_eq_tol(size_along(m, y), _i / 2 ? h : ratio * wished, 0.06 * h);
    }
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* 1e-3 thin along z at the plane z = 0, 0.1 along x and y there; coarse elsewhere. */
static kiln_sym3 layer(void *user, kiln_vec3 p)
{
    double scale = *(const double *)user;
    if (p.z > 0.01 * scale)
        return kiln_metric_from_size(10.0 * scale);
    return (kiln_sym3){
        1e2 / (scale * scale), 1e2 / (scale * scale), 1e6 / (scale * scale), 0, 0, 0};
}

/* The field obeys its ratio along every edge, and what gradation makes keeps the stretch of the
 * metric it comes from. At any scale. */
START_TEST(gradation_keeps_anisotropy)
{
    const double scales[3] = {1.0, 1e-6, 1e6};
    double scale = scales[_i];
    kiln_context *context = kiln_test_context(2);
    char settings[160];
    snprintf(settings, sizeof settings, "nx=4 ny=4 nz=40 lx=%g ly=%g lz=%g", scale, scale, scale);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", settings);
    kiln_sizing *sizing = create(mesh);
    ck_assert_int_eq(kiln_sizing_add_function(sizing, layer, &scale, false, NULL), KILN_OK);
    finish(sizing, 1.5);
    for (uint32_t t = 0; t < mesh->table[KILN_ON_TET].used; t++)
        for (int k = 0; k < 12; k++) {
            uint32_t a = mesh->tet[t].v[k / 3], b = mesh->tet[t].v[(k / 3 + 1 + k % 3) % 4];
            kiln_vec3 e = kiln_v3_sub(mesh->u[b], mesh->u[a]);
            kiln_sym3 from = kiln_sizing_at_vertex(sizing, a),
                      to = kiln_sizing_at_vertex(sizing, b);
            kiln_sym3 grown = kiln_metric_grow(&from, e, log(1.5));
            grown = kiln_sym3_scale(grown, 1.0 - 1e-9);
            ck_assert(kiln_metric_covers(&to, &grown));
        }
    uint32_t hint = 0;
    kiln_sym3 m = kiln_sizing_at(sizing, kiln_v3(0.5 * scale, 0.5 * scale, 0.2 * scale), &hint);
    double thin = size_along(m, kiln_v3(0, 0, 1)), wide = size_along(m, kiln_v3(1, 0, 0));
    /* h grows by ln 1.5 per unit of distance from the layer, and wide with it. */
    ck_assert_double_gt(thin, 0.05 * scale);
    ck_assert_double_lt(thin, 0.09 * scale);
    ck_assert_double_gt(wide, 5.0 * scale);
    kiln_sizing_destroy(sizing);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Asked at lookups, a function is exact between the vertices too, alone or with other sources. */
START_TEST(functions_asked_directly)
{
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=2 ny=2 nz=2");
    double scale = 1.0;
    for (int with = 0; with < 2; with++) {
        kiln_sizing *sizing = create(mesh);
        ck_assert_int_eq(kiln_sizing_add_function(sizing, layer, &scale, true, NULL), KILN_OK);
        if (with)
            ck_assert_int_eq(kiln_sizing_add_size(sizing, 0.05, NULL), KILN_OK);
        finish(sizing, 0);
        uint32_t hint = 0;
        kiln_sym3 m = kiln_sizing_at(sizing, kiln_v3(.4, .3, .009), &hint);
        ck_assert_double_eq_tol(size_along(m, kiln_v3(0, 0, 1)), 1e-3, 1e-12);
        ck_assert_double_eq_tol(size_along(m, kiln_v3(1, 0, 0)), with ? 0.05 : 0.1, 1e-12);
        m = kiln_sizing_at(sizing, kiln_v3(.4, .3, .4), &hint);
        /* the vertices at z = 0 know the layer: only the function itself is sharp */
        if (!with)
            ck_assert_double_eq_tol(size_along(m, kiln_v3(0, 0, 1)), 10.0, 1e-9);
        kiln_sizing *carried;
        ck_assert_int_eq(kiln_sizing_carry(sizing, mesh, NULL, &carried, NULL), KILN_OK);
        kiln_sym3 again = kiln_sizing_at(carried, kiln_v3(.4, .3, .4), &hint);
        ck_assert_double_eq_tol(again.zz, m.zz, 1e-9 * m.zz);
        kiln_sizing_destroy(carried);
        kiln_sizing_destroy(sizing);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

/* Far from the mesh the field is held back to `factor` finer than the mesh; within reach it is the
 * target. */
START_TEST(approaching)
{
    kiln_context *context = kiln_test_context(2);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=4 ny=4 nz=4");
    static const double sizes[3] = {0.01, 0.14, 0.5};
    for (int i = 0; i < 3; i++) {
        kiln_sizing *target = create(mesh), *step;
        bool arrived;
        uint32_t hint = 0;
        ck_assert_int_eq(kiln_sizing_add_size(target, sizes[i], NULL), KILN_OK);
        finish(target, 0);
        ck_assert_int_eq(kiln_sizing_approach(target, mesh, 2.0, &step, &arrived, NULL), KILN_OK);
        double h = size_along(kiln_sizing_at(step, kiln_v3(.5, .5, .5), &hint), kiln_v3(1, 0, 0));
        ck_assert_int_eq(arrived, i > 0);
        if (arrived)
            ck_assert_double_eq_tol(h, sizes[i], 1e-12);
        else /* half the edges of a cell, 0.25 to 0.43 */
            ck_assert(h > 0.1 && h < 0.25);
        kiln_sizing_destroy(step);
        kiln_sizing_destroy(target);
    }
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

static kiln_sizing *everything(kiln_mesh *mesh)
{
    kiln_sizing *sizing;
    double scale = 1.0;
    kiln_strain_sizing strain = {.accuracy = 2.0, .h_max = 3.0};
    kiln_curvature_sizing curvature = {.turn = 0.3, .h_min = 0.01, .h_max = 5.0};
    kiln_sizing_limits limits = {.bounds = {.h_min = 1e-3}, .ratio = 1.4};
    kiln_status status = kiln_sizing_create(mesh, KILN_SPACE_MATERIAL, &sizing, NULL);
    if (status != KILN_OK)
        return NULL;
    if (kiln_sizing_add_function(sizing, layer, &scale, false, NULL) != KILN_OK ||
        kiln_sizing_add_world(sizing, 0.4, NULL) != KILN_OK ||
        kiln_sizing_add_strain(sizing, &strain, NULL) != KILN_OK ||
        kiln_sizing_add_curvature(sizing, &curvature, NULL) != KILN_OK ||
        kiln_sizing_finish(sizing, &limits, NULL) != KILN_OK) {
        kiln_sizing_destroy(sizing);
        return NULL;
    }
    return sizing;
}

START_TEST(the_same_bits_for_any_number_of_threads)
{
    uint64_t hash[3] = {0};
    const int threads[3] = {1, 2, 8};
    for (int i = 0; i < 3; i++) {
        kiln_context *context = kiln_test_context(threads[i]);
        kiln_mesh *mesh = kiln_test_mesh(context, "ball", "h=0.2");
        deform(mesh, kiln_m3_diagonal(2, 1, 1), 0.3);
        kiln_sizing *sizing = everything(mesh);
        ck_assert_ptr_nonnull(sizing);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_sym3 m = kiln_sizing_at_vertex(sizing, v);
            hash[i] = kiln_hash_bytes(hash[i], &m, sizeof m);
        }
        kiln_sizing_destroy(sizing);
        kiln_mesh_destroy(mesh);
        kiln_context_destroy(context);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_eq(hash[0], hash[2]);
}
END_TEST

/* In the memory of another field, of a smaller mesh or a larger one: the same, and once there was
 * room for the largest no memory is asked for. */
START_TEST(renewed_fields)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    static const char *const settings[3] = {"nx=4 ny=4 nz=4", "nx=2 ny=2 nz=2", "nx=3 ny=3 nz=4"};
    kiln_sizing *renewed = NULL;
    for (int i = 0; i < 3; i++) {
        kiln_mesh *mesh = kiln_test_mesh(context, "box", settings[i]);
        deform(mesh, kiln_m3_identity(), 2.0);
        kiln_strain_sizing strain = {.accuracy = 2.0, .h_max = 3.0};
        kiln_sizing *fresh = create(mesh);
        ck_assert_int_eq(kiln_sizing_add_strain(fresh, &strain, NULL), KILN_OK);
        finish(fresh, 1.3);
        uint64_t calls = heap.calls;
        if (renewed)
            ck_assert_int_eq(kiln_sizing_renew(renewed, mesh, KILN_SPACE_MATERIAL, NULL), KILN_OK);
        else
            renewed = create(mesh);
        ck_assert_int_eq(kiln_sizing_add_strain(renewed, &strain, NULL), KILN_OK);
        finish(renewed, 1.3);
        if (i > 0)
            ck_assert_uint_eq(heap.calls, calls);
        for (uint32_t v = 0; v < mesh->table[KILN_ON_VERTEX].used; v++) {
            kiln_sym3 a = kiln_sizing_at_vertex(fresh, v), b = kiln_sizing_at_vertex(renewed, v);
            ck_assert_mem_eq(&a, &b, sizeof a);
        }
        kiln_sizing_destroy(fresh);
        kiln_mesh_destroy(mesh);
    }
    kiln_sizing_destroy(renewed);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(out_of_memory)
{
    kiln_test_heap heap = {0};
    kiln_context *context = kiln_test_context_on(&heap, 1);
    kiln_mesh *mesh = kiln_test_mesh(context, "box", "nx=6 ny=6 nz=6");
    uint64_t start = heap.calls;
    int64_t bytes = heap.live_bytes;
    kiln_sizing *sizing = everything(mesh);
    ck_assert_ptr_nonnull(sizing);
    uint64_t calls = heap.calls - start;
    kiln_sizing_destroy(sizing);
    ck_assert_int_eq(heap.live_bytes, bytes);
    ck_assert_uint_ge(calls, 2); /* the field, and blocks of its arena */
    for (uint64_t i = 1; i <= calls; i++) {
        heap.fail_at = heap.calls + i;
        ck_assert_ptr_null(everything(mesh));
        ck_assert_int_eq(heap.live_bytes, bytes);
    }
    heap.fail_at = 0;
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("sizing");
    TCase *all = kiln_test_case(suite, "sizing");
    tcase_add_test(all, uniform_size_is_constant);
    tcase_add_test(all, values_are_interpolated_by_logarithm);
    tcase_add_test(all, bad_values_are_refused);
    tcase_add_test(all, world_length);
    tcase_add_test(all, lengths_at_rest);
    tcase_add_test(all, metrics_of_the_world);
    tcase_add_test(all, metrics_of_the_world_grow_there);
    tcase_add_test(all, strain_gradient);
    tcase_add_loop_test(all, strain_gradient_is_that_of_the_pairs, 0, KILN_ISA_COUNT);
    tcase_add_test(all, curvature_of_a_ball_and_a_cylinder);
    tcase_add_loop_test(all, ridges_that_bend, 0, 6);
    tcase_add_loop_test(all, surfaces_that_bend, 0, 4);
    tcase_add_loop_test(all, gradation_keeps_anisotropy, 0, 3);
    tcase_add_test(all, functions_asked_directly);
    tcase_add_test(all, approaching);
    tcase_add_test(all, the_same_bits_for_any_number_of_threads);
    tcase_add_test(all, renewed_fields);
    tcase_add_test(all, out_of_memory);
    return suite;
}

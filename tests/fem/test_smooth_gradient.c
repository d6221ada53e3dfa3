/* Smoothed gradients: exact for linear fields, far less noisy than those of tets. */
#include "fem/smooth_gradient.h"
#include "fixtures.h"
#include "support.h"

#include <math.h>

typedef struct field_case {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_smooth_gradient smooth;
    KILN_ARRAY_OF(uint8_t)
    of;
    kiln_f64_array mass;
    KILN_ARRAY_OF(kiln_vec3)
    value;
} field_case;

static const kiln_mat3 slope = {{{1, 2, 3}, {-4, 5, 6}, {7, -8, 9}}};

/* A box, `scale` m large and `far` away; the field is linear there but for `noise` of itself. */
static void begin(field_case *c, double scale, double far, double noise)
{
    kiln_random random = kiln_random_start(7, 1);
    *c = (field_case){.context = kiln_test_context(1)};
    c->mesh = kiln_test_mesh(c->context, "box", "nx=4 ny=4 nz=4");
    kiln_test_jitter(c->mesh, 0.04, 3);
    kiln_mesh *mesh = c->mesh;
    size_t tets = mesh->table[KILN_ON_TET].used, rows = mesh->table[KILN_ON_VERTEX].used;
    ck_assert_int_eq(kiln_array_reserve(c->context, &c->of, tets, NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_reserve(c->context, &c->mass, tets, NULL), KILN_OK);
    ck_assert_int_eq(kiln_array_reserve(c->context, &c->value, rows, NULL), KILN_OK);
    for (size_t v = 0; v < rows; v++) {
        kiln_vec3 r = mesh->u[v];
        c->value.data[v] = kiln_v3_madd(kiln_m3_apply(slope, r), noise,
                                        kiln_v3(kiln_random_range(&random, -1, 1),
                                                kiln_random_range(&random, -1, 1),
                                                kiln_random_range(&random, -1, 1)));
        mesh->x[v] = kiln_v3_madd(kiln_v3(far, -far, far), scale, r);
    }
    for (uint32_t t = 0; t < tets; t++) {
        c->of.data[t] = 1;
        c->mass.data[t] = kiln_mesh_tet_volume(mesh, t);
    }
    ck_assert_int_eq(kiln_smooth_gradient_begin(&c->smooth, mesh, c->of.data, c->mass.data, NULL),
                     KILN_OK);
}

static void end(field_case *c)
{
    kiln_smooth_gradient_free(&c->smooth, c->context);
    kiln_array_free(c->context, &c->of);
    kiln_array_free(c->context, &c->mass);
    kiln_array_free(c->context, &c->value);
    kiln_mesh_destroy(c->mesh);
    kiln_context_destroy(c->context);
}

static double off(kiln_mat3 g, double scale)
{
    return sqrt(kiln_m3_norm2(kiln_m3_add(kiln_m3_scale(g, scale), kiln_m3_scale(slope, -1.0))) /
                kiln_m3_norm2(slope));
}

/* Root of the mean square over all vertices, and over all tets as they are. */
static void find_errors(field_case *c, double scale, double *smooth, double *raw)
{
    size_t rows = c->mesh->table[KILN_ON_VERTEX].used, tets = c->mesh->table[KILN_ON_TET].used;
    *smooth = *raw = 0.0;
    for (uint32_t v = 0; v < rows; v++) {
        kiln_mat3 g;
        ck_assert_int_eq(kiln_smooth_gradient_at(&c->smooth, c->mesh, c->value.data, v, &g, NULL),
                         KILN_OK);
        *smooth += off(g, scale) * off(g, scale) / (double)rows;
    }
    for (uint32_t t = 0; t < tets; t++) {
        double one = off(kiln_tet_gradient(c->mesh, c->value.data, t), scale);
        *raw += one * one / (double)tets;
    }
    *smooth = sqrt(*smooth);
    *raw = sqrt(*raw);
}

START_TEST(linear_fields_are_exact)
{
    static const double scales[] = {1, 1e-3, 1e3, 1};
    field_case c;
    double smooth, raw;
    begin(&c, scales[_i], _i == 3 ? 1e6 : 0, 0);
    find_errors(&c, scales[_i], &smooth, &raw);
    ck_assert_double_le(smooth, 1e-4);
    ck_assert_double_le(raw, _i == 3 ? 1e-8 : 1e-12);
    end(&c);
}
END_TEST

START_TEST(noise_is_taken_out)
{
    field_case c;
    double smooth, raw;
    begin(&c, 1, 0, 0.1);
    find_errors(&c, 1, &smooth, &raw);
    ck_assert_double_gt(raw, 0.01);
    ck_assert_double_lt(smooth, raw / 3);
    end(&c);
}
END_TEST

/* What does not count is not looked at. */
START_TEST(other_matter_does_not_count)
{
    field_case c;
    begin(&c, 1, 0, 0);
    for (uint32_t t = 0; t < c.mesh->table[KILN_ON_TET].used; t++)
        c.of.data[t] = kiln_tet_centre(c.mesh, t, c.mesh->u).x < 0.5;
    for (uint32_t v = 0; v < c.mesh->table[KILN_ON_VERTEX].used; v++)
        if (c.mesh->u[v].x > 0.6)
            c.value.data[v] = kiln_v3(1e6, 1e6, 1e6);
    ck_assert_int_eq(kiln_smooth_gradient_begin(&c.smooth, c.mesh, c.of.data, c.mass.data, NULL),
                     KILN_OK);
    for (uint32_t v = 0; v < c.mesh->table[KILN_ON_VERTEX].used; v++) {
        kiln_mat3 g;
        if (c.mesh->u[v].x > 0.4)
            continue;
        ck_assert_int_eq(kiln_smooth_gradient_at(&c.smooth, c.mesh, c.value.data, v, &g, NULL),
                         KILN_OK);
        ck_assert_double_le(off(g, 1), 1e-4);
    }
    end(&c);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("smooth_gradient");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_loop_test(c, linear_fields_are_exact, 0, 4);
    tcase_add_test(c, noise_is_taken_out);
    tcase_add_test(c, other_matter_does_not_count);
    return suite;
}

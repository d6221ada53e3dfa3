#include "fem/mass.h"
#include "fixtures.h"
#include "support.h"

#include <math.h>
#include <string.h>

static const double density = 7.0;

typedef struct setting {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_mass *mass;
    size_t rows;
    double *tet_mass, *x, *v;
} setting;

static setting open_setting(int threads, const char *size, kiln_mass_kind kind)
{
    setting s = {.context = kiln_test_context(threads)};
    s.mesh = kiln_test_mesh(s.context, "box", size);
    kiln_test_jitter(s.mesh, 0.05, 3);
    s.rows = s.mesh->table[KILN_ON_VERTEX].used;
    uint32_t tets = s.mesh->table[KILN_ON_TET].used;
    s.tet_mass = calloc(tets, sizeof(double));
    for (uint32_t t = 0; t < tets; t++)
        s.tet_mass[t] = density * kiln_mesh_tet_volume(s.mesh, t);
    s.x = calloc(3 * s.rows, sizeof(double));
    s.v = calloc(3 * s.rows, sizeof(double));
    kiln_random random = kiln_random_start(5, 0);
    memcpy(s.x, s.mesh->x, 3 * s.rows * sizeof(double));
    for (size_t i = 0; i < 3 * s.rows; i++)
        s.v[i] = kiln_random_range(&random, -1, 1);
    ck_assert_int_eq(kiln_mass_create(s.context, &s.mass, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mass_build(s.mass, s.mesh, kind, s.tet_mass, NULL), KILN_OK);
    return s;
}

static void close_setting(setting *s)
{
    free(s->tet_mass);
    free(s->x);
    free(s->v);
    kiln_mass_destroy(s->mass);
    kiln_mesh_destroy(s->mesh);
    kiln_context_destroy(s->context);
}

/* M v tet by tet from the element matrix rho V / 20 (1 + delta_ij). */
static void reference_product(const setting *s, const double *v, double *out)
{
    memset(out, 0, 3 * s->rows * sizeof(double));
    for (uint32_t t = 0; t < s->mesh->table[KILN_ON_TET].used; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 3; k++)
                    out[3 * s->mesh->tet[t].v[i] + k] +=
                        s->tet_mass[t] / 20.0 * (1 + (i == j)) * v[3 * s->mesh->tet[t].v[j] + k];
}

START_TEST(total_is_density_times_volume)
{
    for (int kind = 0; kind < 2; kind++) {
        setting s = open_setting(1, "nx=3 ny=2 nz=4", (kiln_mass_kind)kind);
        double total = 0;
        for (size_t i = 0; i < s.rows; i++)
            total += kiln_mass_lumped(s.mass)[i];
        double volume = kiln_mesh_volume(s.mesh);
        ck_assert_double_eq_tol(total, density * volume, 1e-12 * total);
        /* Row sums of either matrix are the lumped masses. */
        double *ones = malloc(3 * s.rows * sizeof(double)),
               *out = malloc(3 * s.rows * sizeof(double));
        for (size_t i = 0; i < 3 * s.rows; i++)
            ones[i] = 1.0;
        kiln_mass_multiply(s.mass, ones, out);
        for (size_t i = 0; i < 3 * s.rows; i++)
            ck_assert_double_eq_tol(out[i], kiln_mass_lumped(s.mass)[i / 3], 1e-13 * total);
        free(ones);
        free(out);
        close_setting(&s);
    }
}
END_TEST

START_TEST(consistent_is_the_sum_of_tets)
{
    setting s = open_setting(2, "nx=3 ny=3 nz=3 pattern=mirrored", KILN_MASS_CONSISTENT);
    double *out = malloc(3 * s.rows * sizeof(double)),
           *expected = malloc(3 * s.rows * sizeof(double));
    kiln_mass_multiply(s.mass, s.v, out);
    reference_product(&s, s.v, expected);
    for (size_t i = 0; i < 3 * s.rows; i++)
        ck_assert_double_eq_tol(out[i], expected[i], 1e-14 * density);
    free(out);
    free(expected);
    close_setting(&s);
}
END_TEST

/* A rigid motion, whose sums are known; the consistent matrix integrates the kinetic energy of a
 * linear field exactly, so it gives the body's inertia. */
START_TEST(sums_of_a_rigid_motion)
{
    setting s = open_setting(2, "nx=3 ny=2 nz=4", KILN_MASS_CONSISTENT);
    kiln_vec3 spin = {0.3, -0.7, 1.1}, linear = {2, 0.5, -1}, low = s.mesh->x[0], high = low;
    for (size_t i = 0; i < s.rows; i++) {
        kiln_vec3 at = s.mesh->x[i];
        low = kiln_v3(fmin(low.x, at.x), fmin(low.y, at.y), fmin(low.z, at.z));
        high = kiln_v3(fmax(high.x, at.x), fmax(high.y, at.y), fmax(high.z, at.z));
        kiln_vec3 v = kiln_v3_add(linear, kiln_v3_cross(spin, at));
        memcpy(s.v + 3 * i, &v, sizeof v);
    }
    kiln_vec3 d = kiln_v3_sub(high, low), c = kiln_v3_lerp(low, high, 0.5);
    double m = density * d.x * d.y * d.z;
    kiln_vec3 inertia = {m / 12 * (d.y * d.y + d.z * d.z), m / 12 * (d.x * d.x + d.z * d.z),
                         m / 12 * (d.x * d.x + d.y * d.y)};
    kiln_vec3 vc = kiln_v3_add(linear, kiln_v3_cross(spin, c));
    kiln_vec3 own = {inertia.x * spin.x, inertia.y * spin.y, inertia.z * spin.z};
    kiln_vec3 l = kiln_v3_add(own, kiln_v3_scale(kiln_v3_cross(c, vc), m));
    kiln_motion_sums sums = kiln_mass_sums(s.mass, s.x, s.v);
    ck_assert_double_eq_tol(sums.mass, m, 1e-12 * m);
    ck_assert_double_eq_tol(sums.kinetic, 0.5 * (m * kiln_v3_norm2(vc) + kiln_v3_dot(spin, own)),
                            1e-12 * m);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(sums.centre, c)), 1e-12);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(sums.momentum, kiln_v3_scale(vc, m))), 1e-12 * m);
    ck_assert_double_le(kiln_v3_norm(kiln_v3_sub(sums.angular_momentum, l)), 1e-12 * m);
    close_setting(&s);
}
END_TEST

START_TEST(dead_rows_have_no_mass)
{
    const kiln_vec3 point[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    const kiln_soup_tet tet[2] = {{{0, 1, 2, 3}}, {{4, 2, 1, 3}}};
    kiln_context *context = kiln_test_context(1);
    kiln_mesh *mesh = kiln_test_mesh_of(context, 5, point, 2, tet, NULL, KILN_BUILD_STRICT);
    kiln_txn txn = kiln_txn_begin(mesh);
    ck_assert_int_eq(kiln_test_remove_tet(&txn, 1), KILN_ACCEPTED);
    ck_assert_int_eq(kiln_txn_commit(&txn), KILN_ACCEPTED);
    ck_assert(!kiln_vertex_live(mesh, 4));
    kiln_mass *mass;
    const double tet_mass[2] = {2.0, NAN};
    double v[15], out[15];
    for (int i = 0; i < 15; i++)
        v[i] = i < 12 ? 1.0 : NAN;
    ck_assert_int_eq(kiln_mass_create(context, &mass, NULL), KILN_OK);
    ck_assert_int_eq(kiln_mass_build(mass, mesh, KILN_MASS_CONSISTENT, tet_mass, NULL), KILN_OK);
    kiln_mass_multiply(mass, v, out);
    for (int i = 0; i < 15; i++)
        ck_assert_double_eq_tol(out[i], i < 12 ? 0.5 : 0.0, 1e-15);
    kiln_mass_destroy(mass);
    kiln_mesh_destroy(mesh);
    kiln_context_destroy(context);
}
END_TEST

START_TEST(same_bits_on_any_threads)
{
    double value[3][2], momentum[3][2];
    double *gradient[3][2];
    for (int threads = 1; threads <= 3; threads++)
        for (int kind = 0; kind < 2; kind++) {
            setting s = open_setting(threads, "nx=17 ny=17 nz=17", (kiln_mass_kind)kind);
            double *g = calloc(3 * s.rows, sizeof(double));
            kiln_term *term = kiln_mass_inertia(s.mass, s.v);
            value[threads - 1][kind] = term->value(term->self, s.x);
            term->add(term->self, s.x, 0.7, g, NULL);
            gradient[threads - 1][kind] = g;
            momentum[threads - 1][kind] = kiln_mass_sums(s.mass, s.x, s.v).angular_momentum.y;
            ck_assert(value[threads - 1][kind] == value[0][kind]);
            ck_assert(momentum[threads - 1][kind] == momentum[0][kind]);
            ck_assert(!memcmp(g, gradient[0][kind], 3 * s.rows * sizeof(double)));
            close_setting(&s);
        }
    for (int i = 0; i < 6; i++)
        free(gradient[i / 2][i % 2]);
}
END_TEST

START_TEST(out_of_memory)
{
    setting s = open_setting(1, "nx=3 ny=3 nz=3", KILN_MASS_LUMPED);
    for (uint64_t fail = 1;; fail++) {
        kiln_test_heap heap = {.fail_at = 0};
        kiln_context *context = kiln_test_context_on(&heap, 1);
        heap.fail_at = heap.calls + fail;
        kiln_mass *mass = NULL;
        kiln_status status = kiln_mass_create(context, &mass, NULL);
        if (status == KILN_OK)
            status = kiln_mass_build(mass, s.mesh, KILN_MASS_CONSISTENT, s.tet_mass, NULL);
        kiln_mass_destroy(mass);
        heap.fail_at = 0;
        kiln_context_destroy(context);
        ck_assert_int_eq(heap.live_bytes, 0);
        if (status == KILN_OK)
            break;
        ck_assert_int_eq(status, KILN_ERR_MEMORY);
        ck_assert_uint_lt(fail, 100);
    }
    close_setting(&s);
}
END_TEST

/* Held components change as they are told, impulses are at them and at what is pushed, and nobody
 * else moves with a lumped mass. */
static void check_follow(setting *s, kiln_constraints *held, kiln_mass_kind kind)
{
    size_t size = 3 * s->rows;
    double *change = calloc(size, sizeof(double)), *impulse = calloc(size, sizeof(double)),
           *wanted = calloc(size, sizeof(double)), *rest = calloc(size, sizeof(double));
    memcpy(wanted, s->v, size * sizeof(double));
    kiln_constraints_project(held, wanted);
    for (size_t i = 0; i < size; i++)
        change[i] = s->v[i] - wanted[i]; /* the held part */
    memcpy(wanted, change, size * sizeof(double));
    impulse[3 * 7] = 2.5; /* free */
    ck_assert_int_eq(kiln_mass_follow(s->mass, held, change, impulse, NULL), KILN_OK);
    kiln_mass_multiply(s->mass, change, rest);
    for (size_t i = 0; i < size; i++)
        ck_assert_double_eq(rest[i], impulse[i]);
    rest[3 * 7] -= 2.5;
    kiln_constraints_project(held, rest);
    double moved = 0.0;
    for (size_t i = 0; i < size; i++) {
        ck_assert_double_le(fabs(rest[i]), 1e-12);
        moved += fabs(change[i] - wanted[i]);
        rest[i] = change[i] - wanted[i];
    }
    if (kind == KILN_MASS_LUMPED)
        ck_assert_double_eq_tol(moved, 2.5 / kiln_mass_lumped(s->mass)[7], 1e-12 * moved);
    kiln_constraints_project(held, rest); /* only what is free has followed */
    for (size_t i = 0; i < size; i++)
        moved -= fabs(rest[i]);
    ck_assert_double_le(fabs(moved), 1e-10);
    free(change), free(impulse), free(wanted), free(rest);
}

START_TEST(matter_follows)
{
    setting s = open_setting(1, "nx=3 ny=2 nz=4", (kiln_mass_kind)_i);
    kiln_constraints held;
    kiln_constraints_init(&held, s.context);
    ck_assert_int_eq(kiln_constraints_reset(&held, s.rows, NULL), KILN_OK);
    const kiln_held slanted = {1, {{0.6, 0, 0.8}}, {0}};
    ck_assert_int_eq(kiln_constraints_set_held(&held, 2, &slanted, NULL), KILN_OK);
    ck_assert_int_eq(kiln_constraints_set_held(&held, 5, &slanted, NULL), KILN_OK);
    held.held[11] = 7;
    held.held[12] = 2;
    check_follow(&s, &held, (kiln_mass_kind)_i);
    kiln_constraints_free(&held);
    close_setting(&s);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("mass");
    TCase *all = kiln_test_case(suite, "mass");
    tcase_add_test(all, total_is_density_times_volume);
    tcase_add_test(all, consistent_is_the_sum_of_tets);
    tcase_add_test(all, sums_of_a_rigid_motion);
    tcase_add_test(all, dead_rows_have_no_mass);
    tcase_add_test(all, same_bits_on_any_threads);
    tcase_add_test(all, out_of_memory);
    tcase_add_loop_test(all, matter_follows, 0, 2);
    return suite;
}

/* Surface tension: values, gradients, the PSD part in closed form, bits on two threads. */
#include "fem/surface_energy.h"
#include "fixtures.h"
#include "geom/jacobi3.h"
#include "solve/vectors.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_surface_energy *energy;
    kiln_term *term;
    double *x;
    size_t size;
} fixture;

static const kiln_tense_links none;

static void build(fixture *f, double gamma)
{
    size_t faces = f->mesh->table[KILN_ON_FACE].used;
    double *of_face = calloc(faces, sizeof *of_face);
    for (size_t i = 0; i < faces; i++)
        of_face[i] = gamma;
    ck_assert_int_eq(kiln_surface_energy_build(f->energy, f->mesh, of_face, &none, NULL), KILN_OK);
    free(of_face);
}

static fixture make(const char *shape, const char *settings, double gamma, int threads)
{
    fixture f = {.context = kiln_test_context(threads)};
    f.mesh = kiln_test_mesh(f.context, shape, settings);
    ck_assert_int_eq(kiln_surface_energy_create(f.context, &f.energy, NULL), KILN_OK);
    build(&f, gamma);
    f.term = kiln_surface_energy_term(f.energy);
    f.size = 3 * f.mesh->table[KILN_ON_VERTEX].used;
    f.x = malloc(f.size * sizeof *f.x);
    memcpy(f.x, f.mesh->x, f.size * sizeof *f.x);
    return f;
}

static void drop(fixture *f)
{
    free(f->x);
    kiln_surface_energy_destroy(f->energy);
    kiln_mesh_destroy(f->mesh);
    kiln_context_destroy(f->context);
}

START_TEST(a_box_has_its_area)
{
    fixture f = make("box", "nx=2 ny=3 nz=2", 2.0, 1);
    double before = f.term->value(f.term->self, f.x);
    for (size_t i = 0; i < f.size; i++)
        f.x[i] *= 3.0;
    ck_assert_double_eq_tol(f.term->value(f.term->self, f.x), 9.0 * before, 1e-12 * before);
    ck_assert_double_eq_tol(f.term->delta(f.term->self, &f.mesh->x[0].x, f.x), 8.0 * before,
                            1e-12 * before);
    drop(&f);
}
END_TEST

/* The gradient by differences, and none along rigid motions. */
START_TEST(forces_are_the_gradient)
{
    fixture f = make("ball", "radius=1 h=0.5", 0.07, 1);
    double *g = calloc(f.size, sizeof *g), *other = malloc(f.size * sizeof *other);
    double sum[3] = {0};
    f.term->add(f.term->self, f.x, 1.0, g, NULL);
    for (size_t i = 0; i < f.size; i++)
        sum[i % 3] += g[i];
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(sum[c], 0.0, 1e-15);
    for (size_t i = 0; i < f.size; i += 7) {
        const double step = 1e-5;
        memcpy(other, f.x, f.size * sizeof *other);
        other[i] += step;
        double up = f.term->delta(f.term->self, f.x, other);
        other[i] -= 2.0 * step;
        double down = f.term->delta(f.term->self, f.x, other);
        ck_assert_double_eq_tol(g[i], (up - down) / (2.0 * step), 1e-10);
    }
    free(g);
    free(other);
    drop(&f);
}
END_TEST

/* A face inside counts as those of the surface do, whatever becomes of theirs. */
START_TEST(faces_within_count)
{
    fixture f = make("box", "nx=2 ny=2 nz=2", 1.0, 1);
    size_t faces = f.mesh->table[KILN_ON_FACE].used;
    double *of_face = calloc(faces, sizeof *of_face);
    uint32_t at = 0;
    while (kiln_link_is_surface(f.mesh->tet[at / 4].n[at % 4]))
        at++;
    kiln_tense_link face = {at, -0.25};
    const kiln_tense_links within = {.data = &face, .count = 1, .capacity = 1};
    ck_assert_int_eq(kiln_surface_energy_build(f.energy, f.mesh, of_face, &within, NULL), KILN_OK);
    kiln_surface_energy_set(f.energy, of_face);
    const kiln_vec3 *x = (const kiln_vec3 *)(const void *)f.x;
    kiln_vec3 p[3];
    for (int k = 0; k < 3; k++)
        p[k] = x[f.mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]]];
    double area =
        0.5 * kiln_v3_norm(kiln_v3_cross(kiln_v3_sub(p[1], p[0]), kiln_v3_sub(p[2], p[0])));
    ck_assert_double_eq_tol(f.term->value(f.term->self, f.x), -0.25 * area, 1e-15);
    free(of_face);
    drop(&f);
}
END_TEST

/* One tet with tension on one face only: its Hessian is 9 x 9. */
static void hessian_of(fixture *f, double gamma, bool exact, double H[9][9], uint32_t v[3])
{
    size_t faces = f->mesh->table[KILN_ON_FACE].used;
    double of_face[4] = {0};
    ck_assert_uint_eq(faces, 4);
    of_face[0] = gamma;
    ck_assert_int_eq(kiln_surface_energy_build(f->energy, f->mesh, of_face, &none, NULL), KILN_OK);
    uint32_t at = f->mesh->face[0].at;
    for (int k = 0; k < 3; k++)
        v[k] = f->mesh->tet[at / 4].v[kiln_face_corner[at % 4][k]];
    const uint32_t rows[4] = {0, 1, 2, 3};
    const kiln_cliques all = {.count = 1, .size = 4, .row = rows};
    kiln_bsr matrix;
    kiln_bsr_init(&matrix, f->context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&matrix, 4, &all, 1, NULL), KILN_OK);
    ck_assert_int_eq(f->term->attach(f->term->self, &matrix, NULL), KILN_OK);
    double g[12] = {0};
    ck_assert(f->term->set_exact(f->term->self, exact));
    f->term->add(f->term->self, f->x, 1.0, g, &matrix);
    f->term->set_exact(f->term->self, false);
    for (int i = 0; i < 9; i++) {
        double unit[12] = {0}, out[12];
        unit[3 * v[i / 3] + i % 3] = 1.0;
        ck_assert_int_eq(kiln_bsr_multiply(&matrix, unit, out, NULL), KILN_OK);
        for (int j = 0; j < 9; j++)
            H[i][j] = out[3 * v[j / 3] + j % 3];
    }
    kiln_bsr_free(&matrix);
}

/* Eigenvalues of a symmetric matrix of 9 by Jacobi's rotations; V holds the vectors by columns. */
static void eigen9(double A[9][9], double V[9][9])
{
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            V[i][j] = i == j;
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < 9; p++)
            for (int q = p + 1; q < 9; q++) {
                if (fabs(A[p][q]) < 1e-300)
                    continue;
                double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
                double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 9; k++) {
                    double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b;
                    A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 9; k++) {
                    double a = A[p][k], b = A[q][k], v = V[k][p], w = V[k][q];
                    A[p][k] = c * a - s * b;
                    A[q][k] = s * a + c * b;
                    V[k][p] = c * v - s * w;
                    V[k][q] = s * v + c * w;
                }
            }
}

/* The true one by differences; the closed form is what clamping the eigenvalues of the true Hessian
 * gives. */
static void compare_with_clamped(double gamma)
{
    const kiln_vec3 point[4] = {{0.1, 0, 0}, {1, 0.2, 0}, {0.3, 1.1, 0.1}, {0.2, 0.3, 0.9}};
    const kiln_soup_tet tet = {{0, 1, 2, 3}};
    fixture f = {.context = kiln_test_context(1)};
    f.mesh = kiln_test_mesh_of(f.context, 4, point, 1, &tet, NULL, KILN_BUILD_STRICT);
    ck_assert_int_eq(kiln_surface_energy_create(f.context, &f.energy, NULL), KILN_OK);
    f.term = kiln_surface_energy_term(f.energy);
    f.size = 12;
    f.x = malloc(f.size * sizeof *f.x);
    memcpy(f.x, f.mesh->x, f.size * sizeof *f.x);
    double H[9][9], true_one[9][9], V[9][9], clamped[9][9] = {{0}};
    uint32_t v[3];
    hessian_of(&f, gamma, true, H, v);
    const double step = 1e-5;
    for (int i = 0; i < 9; i++) {
        double up[12] = {0}, down[12] = {0}, *x = &f.x[3 * v[i / 3] + i % 3], at = *x;
        *x = at + step;
        f.term->add(f.term->self, f.x, 1.0, up, NULL);
        *x = at - step;
        f.term->add(f.term->self, f.x, 1.0, down, NULL);
        *x = at;
        for (int j = 0; j < 9; j++)
            true_one[i][j] = (up[3 * v[j / 3] + j % 3] - down[3 * v[j / 3] + j % 3]) / (2.0 * step);
    }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            ck_assert_double_eq_tol(H[i][j], true_one[i][j], 1e-8 * fabs(gamma));
    hessian_of(&f, gamma, false, H, v);
    eigen9(true_one, V);
    int in_plane = 0;
    for (int k = 0; k < 9; k++) {
        double value = true_one[k][k] / fabs(gamma);
        in_plane += fabs(fabs(value) - sqrt(0.75)) < 1e-6;
        for (int i = 0; i < 9 && true_one[k][k] > 0.0; i++)
            for (int j = 0; j < 9; j++)
                clamped[i][j] += true_one[k][k] * V[i][k] * V[j][k];
    }
    ck_assert_int_ge(in_plane, 4);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            ck_assert_double_eq_tol(H[i][j], clamped[i][j], 1e-8 * fabs(gamma));
    drop(&f);
}

START_TEST(the_positive_part_has_a_closed_form)
{
    compare_with_clamped(1.0);
    compare_with_clamped(-0.3);
}
END_TEST

START_TEST(two_threads_give_the_same_bits)
{
    double *g[2];
    for (int i = 0; i < 2; i++) {
        fixture f = make("ball", "radius=1 h=0.15", 0.07, i + 1);
        g[i] = calloc(f.size + 1, sizeof(double));
        f.term->add(f.term->self, f.x, 1.0, g[i], NULL);
        g[i][f.size] = f.term->value(f.term->self, f.x);
        if (i == 1)
            ck_assert_mem_eq(g[0], g[1], (f.size + 1) * sizeof(double));
        drop(&f);
    }
    free(g[0]);
    free(g[1]);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("surface energy");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, a_box_has_its_area);
    tcase_add_test(c, faces_within_count);
    tcase_add_test(c, forces_are_the_gradient);
    tcase_add_test(c, the_positive_part_has_a_closed_form);
    tcase_add_test(c, two_threads_give_the_same_bits);
    return suite;
}

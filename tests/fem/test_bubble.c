/* Bubbles of tets: their integrals, the derivatives of what is condensed, what they leave alone. */
#include "fem/bubble.h"
#include "fixtures.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Integrals over the unit tet of a polynomial of the barycentric coordinates, by the nodes of a
 * product of three Gauss rules in collapsed coordinates: exact to degree 15. */
static double integrate(double (*f)(const double l[4], int), int which)
{
    static const double node[9] = {
        -0.9681602395076261, -0.8360311073266358, -0.6133714327005904, -0.3242534234038089, 0.0,
        0.3242534234038089,  0.6133714327005904,  0.8360311073266358,  0.9681602395076261};
    static const double weight[9] = {0.0812743883615744, 0.1806481606948574, 0.2606106964029354,
                                     0.3123470770400029, 0.3302393550012598, 0.3123470770400029,
                                     0.2606106964029354, 0.1806481606948574, 0.0812743883615744};
    double sum = 0.0;
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            for (int k = 0; k < 9; k++) {
                double a = 0.5 * (1 + node[i]), b = 0.5 * (1 + node[j]), c = 0.5 * (1 + node[k]);
                double l[4] = {a, b * (1 - a), c * (1 - b) * (1 - a), 0};
                l[3] = 1 - l[0] - l[1] - l[2];
                sum += weight[i] * weight[j] * weight[k] / 8 * (1 - a) * (1 - a) * (1 - b) *
                       f(l, which);
            }
    return 6.0 * sum; /* of unit volume */
}

static double bubble(const double l[4])
{
    return 256.0 * l[0] * l[1] * l[2] * l[3];
}

/* db / dl_i dot db / dl_j for which = 4 i + j; 16: b, 17: b l_0, 18: b^2. */
static double integrand(const double l[4], int which)
{
    double d[4];
    for (int i = 0; i < 4; i++) {
        d[i] = 256.0;
        for (int j = 0; j < 4; j++)
            d[i] *= j == i ? 1.0 : l[j];
    }
    switch (which) {
    case 16:
        return bubble(l);
    case 17:
        return bubble(l) * l[0];
    case 18:
        return bubble(l) * bubble(l);
    default:
        return d[which / 4] * d[which % 4];
    }
}

/* liquids-algorithms 13, test 4. */
START_TEST(integrals_are_exact)
{
    ck_assert_double_eq_tol(integrate(integrand, 16), KILN_BUBBLE_MEAN, 1e-14);
    ck_assert_double_eq_tol(integrate(integrand, 17), KILN_BUBBLE_CORNER, 1e-14);
    ck_assert_double_eq_tol(integrate(integrand, 18), KILN_BUBBLE_SQUARE, 1e-14);
    /* int grad b grad b' = sum_ij D_ij g_i g_j', and the g_i sum up to 0: what all D_ij have in
     * common is nothing. */
    double same = integrate(integrand, 0), other = integrate(integrand, 1);
    ck_assert_double_eq_tol(same - other, KILN_BUBBLE_GRADIENT, 1e-12);
}
END_TEST

typedef struct fixture {
    kiln_context *context;
    kiln_mesh *mesh;
    kiln_ring_volume rings;
    kiln_bubbles bubbles;
    size_t rows, size;
    double *centre, *p, *x;
    uint64_t *blocks;
    kiln_bsr H;
} fixture;

static void make(fixture *f, double viscosity, kiln_vec3 weight, int threads)
{
    *f = (fixture){.context = kiln_test_context(threads)};
    f->mesh = kiln_test_mesh(f->context, "ball", "radius=1 h=0.5");
    size_t tets = f->mesh->table[KILN_ON_TET].used;
    uint8_t *keeps = malloc(tets);
    memset(keeps, 1, tets);
    f->rows = f->mesh->table[KILN_ON_VERTEX].used;
    f->size = 3 * f->rows;
    f->centre = malloc(f->size * sizeof *f->centre);
    f->x = malloc(f->size * sizeof *f->x);
    f->p = malloc(f->rows * sizeof *f->p);
    const double *at = &f->mesh->x[0].x;
    for (size_t i = 0; i < f->size; i++) {
        f->centre[i] = at[i] + 0.01 * cos((double)i);
        f->x[i] = at[i] + 0.02 * sin((double)i);
    }
    for (size_t i = 0; i < f->rows; i++)
        f->p[i] = cos(3.0 * (double)i);
    kiln_ring_volume_init(&f->rings, f->context);
    kiln_bubbles_init(&f->bubbles, f->context);
    ck_assert_int_eq(kiln_ring_volume_build(&f->rings, f->mesh, f->rows, keeps, NULL), KILN_OK);
    ck_assert_int_eq(kiln_bubbles_build(&f->bubbles, &f->rings, f->mesh, keeps, NULL), KILN_OK);
    kiln_bubbles_begin(&f->bubbles, f->centre, 0.3, 0.5);
    for (uint32_t t = 0; t < tets; t++)
        kiln_bubbles_set(&f->bubbles, t, 0.01 + 0.001 * (t % 5), viscosity, at, weight);
    free(keeps);
    double *give = calloc(tets, sizeof *give);
    kiln_ring_volume_stabilise(&f->rings, give);
    kiln_bubbles_add_give(&f->bubbles, &f->rings.equations.give);
    free(give);
    const kiln_cliques cliques = {
        .count = f->rings.corner.count / 4, .size = 4, .row = f->rings.corner.data};
    kiln_bsr_init(&f->H, f->context);
    ck_assert_int_eq(kiln_bsr_set_pattern(&f->H, f->rows, &cliques, 1, NULL), KILN_OK);
    f->blocks = malloc(4 * f->rings.first.data[f->rows] * sizeof *f->blocks);
    kiln_ring_volume_find_blocks(&f->rings, f->mesh, &f->H, f->blocks);
}

static void drop(fixture *f)
{
    kiln_bsr_free(&f->H);
    kiln_bubbles_free(&f->bubbles);
    kiln_ring_volume_free(&f->rings);
    kiln_mesh_destroy(f->mesh);
    kiln_context_destroy(f->context);
    free(f->centre);
    free(f->x);
    free(f->p);
    free(f->blocks);
}

/* The energy, its gradient, its Hessian: each the change of the one before. */
START_TEST(derivatives)
{
    fixture f;
    make(&f, 0.2, kiln_v3(1, 2, -9.81), 1);
    double *g = calloc(f.size, sizeof *g), *then = calloc(f.size, sizeof *g);
    double *dx = malloc(f.size * sizeof *dx), *to = malloc(f.size * sizeof *to);
    double *Hv = malloc(f.size * sizeof *Hv), slope = 0.0;
    for (size_t i = 0; i < f.size; i++) {
        dx[i] = sin(5.0 * (double)i);
        to[i] = f.x[i] + 1e-3 * dx[i];
    }
    kiln_bubbles_add(&f.bubbles, f.p, f.x, 2.0, f.blocks, g, &f.H);
    kiln_bubbles_add(&f.bubbles, f.p, to, 2.0, f.blocks, then, NULL);
    ck_assert_int_eq(kiln_bsr_multiply(&f.H, dx, Hv, NULL), KILN_OK);
    for (size_t i = 0; i < f.size; i++) {
        ck_assert_double_eq_tol(then[i] - g[i], 1e-3 * Hv[i], 1e-14);
        slope += 0.5e-3 * (g[i] + then[i]) * dx[i]; /* it is quadratic */
    }
    double change = kiln_bubbles_value(&f.bubbles, f.p, f.x, to);
    ck_assert_double_eq_tol(2.0 * change, slope, 1e-12 * fabs(slope));
    ck_assert_double_eq_tol(change,
                            kiln_bubbles_value(&f.bubbles, f.p, NULL, to) -
                                kiln_bubbles_value(&f.bubbles, f.p, NULL, f.x),
                            1e-11 * fabs(kiln_bubbles_value(&f.bubbles, f.p, NULL, f.x)));
    free(g);
    free(then);
    free(dx);
    free(to);
    free(Hv);
    drop(&f);
}
END_TEST

/* The equations are the derivative by p: of the gradient J, of themselves less C. */
START_TEST(equations)
{
    fixture f;
    make(&f, 0.2, kiln_v3(1, 2, -9.81), 1);
    double *q = malloc(f.rows * sizeof *q), *dp = malloc(f.rows * sizeof *dp);
    double *e = calloc(f.rows, sizeof *e), *Cp = malloc(f.rows * sizeof *Cp);
    double *g = calloc(f.size, sizeof *g), *then = calloc(f.size, sizeof *g);
    double slope = 0.0;
    for (size_t i = 0; i < f.rows; i++) {
        dp[i] = sin(2.0 * (double)i);
        q[i] = f.p[i] + 1e-3 * dp[i];
    }
    kiln_equations_clear(&f.rings.equations);
    kiln_bubbles_add_give(&f.bubbles, &f.rings.equations.give);
    kiln_bubbles_linearise(&f.bubbles, &f.rings.equations, f.x, e);
    kiln_bubbles_add(&f.bubbles, f.p, f.x, 1.0, f.blocks, g, NULL);
    kiln_equations_add_transposed(&f.rings.equations, dp, 1e-3, g);
    kiln_bubbles_add(&f.bubbles, q, f.x, 1.0, f.blocks, then, NULL);
    for (size_t i = 0; i < f.size; i++)
        ck_assert_double_eq_tol(then[i], g[i], 1e-14);
    for (size_t i = 0; i < f.rows; i++) /* at the mean of the two, as it is quadratic */
        q[i] = f.p[i] + 0.5e-3 * dp[i];
    ck_assert_int_eq(kiln_bsr_multiply(&f.rings.equations.give, q, Cp, NULL), KILN_OK);
    for (size_t i = 0; i < f.rows; i++) {
        slope -= 1e-3 * dp[i] * (Cp[i] + e[i]);
        q[i] = f.p[i] + 1e-3 * dp[i];
    }
    double change = kiln_bubbles_value(&f.bubbles, q, NULL, f.x) -
                    kiln_bubbles_value(&f.bubbles, f.p, NULL, f.x);
    ck_assert_double_eq_tol(change, slope, 1e-9 * fabs(slope));
    free(q);
    free(dp);
    free(e);
    free(Cp);
    free(g);
    free(then);
    drop(&f);
}
END_TEST

/* Of the sum of volumes nothing changes, and momentum is what the corners have less. */
START_TEST(sums)
{
    fixture f;
    make(&f, 0.2, kiln_v3(1, 2, -9.81), 1);
    double *one = malloc(f.rows * sizeof *one), *out = malloc(f.rows * sizeof *out);
    double *e = calloc(f.rows, sizeof *e), *columns = calloc(f.size, sizeof *columns);
    double *g = calloc(f.size, sizeof *g), *momentum = calloc(f.size, sizeof *g), sum = 0.0;
    for (size_t i = 0; i < f.rows; i++)
        one[i] = 1.0;
    kiln_equations_clear(&f.rings.equations);
    kiln_bubbles_add_give(&f.bubbles, &f.rings.equations.give);
    ck_assert_int_eq(kiln_bsr_multiply(&f.rings.equations.give, one, out, NULL), KILN_OK);
    kiln_bubbles_linearise(&f.bubbles, &f.rings.equations, f.x, e);
    kiln_equations_add_transposed(&f.rings.equations, one, 1.0, columns);
    for (size_t i = 0; i < f.rows; i++) {
        ck_assert_double_eq_tol(out[i], 0.0, 1e-14);
        sum += e[i];
    }
    ck_assert_double_eq_tol(sum, 0.0, 1e-14);
    kiln_bubbles_add(&f.bubbles, f.p, f.x, 1.0, f.blocks, g, NULL);
    kiln_bubbles_add_momentum(&f.bubbles, f.p, f.x, momentum);
    for (size_t i = 0; i < f.size; i++) {
        ck_assert_double_eq_tol(columns[i], 0.0, 1e-14);
        ck_assert_double_eq_tol(g[i] * 0.3 / 0.5, momentum[i], 1e-15);
    }
    free(one);
    free(out);
    free(e);
    free(columns);
    free(g);
    free(momentum);
    drop(&f);
}
END_TEST

/* At rest under its weight a tet has no bubble: the pressure bears it. */
START_TEST(rest_stays_rest)
{
    const kiln_vec3 weight = {1, 2, -9.81};
    fixture f;
    make(&f, 0.0, weight, 1);
    double *g = calloc(f.size, sizeof *g), *e = calloc(f.rows, sizeof *e);
    double *Cp = malloc(f.rows * sizeof *Cp);
    const double *at = &f.mesh->x[0].x;
    for (uint32_t t = 0; t < f.mesh->table[KILN_ON_TET].used; t++) {
        double volume[4][3];
        kiln_bubbles_set(&f.bubbles, t,
                         1000.0 * kiln_ring_volume_gradients(&f.mesh->tet[t], at, volume), 0.0, at,
                         weight);
    }
    for (size_t i = 0; i < f.rows; i++) /* less the pressure */
        f.p[i] = -1000.0 * kiln_v3_dot(weight, f.mesh->x[i]);
    memcpy(f.centre, at, f.size * sizeof *at);
    kiln_equations_clear(&f.rings.equations);
    kiln_bubbles_add_give(&f.bubbles, &f.rings.equations.give);
    kiln_bubbles_linearise(&f.bubbles, &f.rings.equations, at, e);
    ck_assert_int_eq(kiln_bsr_multiply(&f.rings.equations.give, f.p, Cp, NULL), KILN_OK);
    kiln_bubbles_add(&f.bubbles, f.p, at, 1.0, f.blocks, g, NULL);
    for (size_t i = 0; i < f.size; i++)
        ck_assert_double_eq_tol(g[i], 0.0, 1e-10);
    for (size_t i = 0; i < f.rows; i++)
        ck_assert_double_eq_tol(e[i] + Cp[i], 0.0, 1e-13);
    free(g);
    free(e);
    free(Cp);
    drop(&f);
}
END_TEST

/* The same bits on two threads. */
START_TEST(threads)
{
    fixture f, two;
    make(&f, 0.2, kiln_v3(1, 2, 3), 1);
    make(&two, 0.2, kiln_v3(1, 2, 3), 2);
    double *g = calloc(f.size, sizeof *g), *other = calloc(f.size, sizeof *g);
    kiln_bubbles_add(&f.bubbles, f.p, f.x, 1.0, f.blocks, g, &f.H);
    kiln_bubbles_add(&two.bubbles, two.p, two.x, 1.0, two.blocks, other, &two.H);
    ck_assert_mem_eq(g, other, f.size * sizeof *g);
    free(g);
    free(other);
    drop(&f);
    drop(&two);
}
END_TEST

Suite *kiln_test_suite(void)
{
    Suite *suite = suite_create("bubbles");
    TCase *c = kiln_test_case(suite, "all");
    tcase_add_test(c, integrals_are_exact);
    tcase_add_test(c, derivatives);
    tcase_add_test(c, equations);
    tcase_add_test(c, sums);
    tcase_add_test(c, rest_stays_rest);
    tcase_add_test(c, threads);
    return suite;
}
